/*
 * From decomposition and variant to a chain of segments.
 *
 * The table: each row says, for a problem of `rank` axes split over a grid of `grid_axes`
 * dimensions, which axis each redistribution completes and which it splits instead, and which axes
 * are transformed before it. The variant is one rule on memory orders (realigned_order). Everything
 * else follows.
 */
#include "plan/strategy.h"

#include "support/axis.h"
#include "support/error.h"

#include <string.h>

/* One row of the table, worked out for a rank and a grid. Redistribution k gathers the axis that
 * grid dimension grid_axes-1-k splits and splits axis `splits[k]` over it instead. */
typedef struct strategy {
    int splits[WEFT_MAX_RANK];
    int first_pass[WEFT_MAX_RANK]; /* axes transformed before the first redistribution, in order */
    int first_count;
} strategy;

/* Axes 0..g-1 are split at first; the later axes are transformed last to first, but axis `first`
 * before them (-1: none); redistribution k gathers axis g-1-k and splits its right neighbour. A
 * slab 2D-1D is the pencil with one grid dimension. */
static strategy pencil_row(int rank, int grid_axes, int first) {
    strategy row = {.first_count = rank - grid_axes};
    for (int i = 0; i < row.first_count; i++) row.first_pass[i] = rank - 1 - i;
    for (int i = row.first_count - 1; i > 0; i--) {
        if (row.first_pass[i] != first) continue;
        row.first_pass[i] = row.first_pass[i - 1];
        row.first_pass[i - 1] = first;
    }
    for (int k = 0; k < grid_axes; k++) row.splits[k] = grid_axes - k;
    return row;
}

/* One axis is transformed and then split instead of axis 0; all others follow. */
static strategy slab_row(int axis) {
    return (strategy){.splits = {axis}, .first_pass = {axis}, .first_count = 1};
}

/* The axis that is halved by name, or -1. The last Fourier axis goes first anyway. */
static int named_axis(const weft_chain_request *request) {
    const bool named =
        request->halved >= 0 && request->types.forward[request->halved] == WEFT_AXIS_REAL;
    return named ? request->halved : -1;
}

/* One Fourier axis is transformed and then split, and before it, in the same pass, the halved one:
 * a half spectrum cannot be split along another Fourier axis before it is made, since row ky would
 * need row -ky of another rank to come back. */
static strategy halved_slab_row(int halved, int axis) {
    return (strategy){.splits = {axis}, .first_pass = {halved, axis}, .first_count = 2};
}

static strategy table(const weft_chain_request *request) {
    const int rank = request->rank, grid_axes = request->grid_axes, halved = request->halved;
    const int named = named_axis(request);
    if (grid_axes == 0)
        return pencil_row(rank, 0, named); /* one rank, one axis: nothing to split */
    switch (request->decomposition) {
    case WEFT_SLAB_1D2D:
        if (named > 0 && named < rank - 1 && weft_axis_is_fourier(request->types.forward[rank - 1]))
            return halved_slab_row(named, rank - 1);
        return slab_row(rank - 1);
    case WEFT_SLAB_Y_ZX:
        if (halved > 1 && weft_axis_is_fourier(request->types.forward[1]))
            return halved_slab_row(halved, 1);
        return slab_row(1);
    default:
        return pencil_row(rank, grid_axes, named);
    }
}

static void natural_order(const weft_chain_request *request, int *order) {
    const int first = request->members_last ? 0 : 1; /* the first axis' place; the batch's is 0 */
    order[request->members_last ? request->rank : 0] = request->rank;
    for (int a = 0; a < request->rank; a++) order[a + first] = a;
}

/* The axis that is split next goes slowest, so that each partner's part is one contiguous run; the
 * axis that is transformed next goes last, so that it is contiguous on arrival; the rest keep their
 * natural order. */
static void realigned_order(int rank, int slowest, int contiguous, int *order) {
    int place = 0;
    order[place++] = slowest;
    if (contiguous != rank) order[place++] = rank;
    for (int a = 0; a < rank; a++)
        if (a != slowest && a != contiguous) order[place++] = a;
    order[place] = contiguous;
}

/* Extents of the array when the axes in `done` are transformed and the others are not. */
static void set_extents(const weft_chain_request *request, int direction, const bool *done,
                        weft_distribution *d) {
    d->axes = request->rank + 1;
    for (int a = 0; a < request->rank; a++) {
        const int64_t stored = request->points.stored[direction][a],
                      points = request->points.spectrum[a];
        d->n[a] = done[a]       ? (a == request->halved ? points / 2 + 1 : points)
                  : stored == 0 ? request->points.n[a]
                                : stored;
    }
    d->n[request->rank] = request->members[direction];
}

static weft_distribution distribution_of(const weft_chain_request *request, int direction,
                                         const bool *done, const int *split_by) {
    weft_distribution d = {.grid_axes = request->grid_axes};
    set_extents(request, direction, done, &d);
    memcpy(d.grid, request->grid, (size_t)request->grid_axes * sizeof d.grid[0]);
    memcpy(d.split_by, split_by, sizeof d.split_by);
    return d;
}

/* Axes not yet transformed that are whole now, last to first. */
static void remaining_axes(int rank, const bool *done, const int *split_by, weft_segment *segment) {
    for (int a = rank - 1; a >= 0; a--)
        if (!done[a] && split_by[a] < 0) segment->axis[segment->transforms++] = a;
}

static void set_order(weft_segment *segment, int direction, int space, const int *order) {
    memcpy(segment->order[direction][space], order, sizeof segment->order[direction][space]);
}

/* A segment without transforms that holds explicit boxes: the caller's bricks. */
static weft_segment brick_segment(const weft_chain_request *request, bool spectral,
                                  const weft_region *boxes, const int *order) {
    weft_segment segment = {.transforms = 0};
    bool done[WEFT_MAX_RANK];
    for (int a = 0; a < WEFT_MAX_RANK; a++) done[a] = spectral;
    for (int direction = 0; direction < 2; direction++)
        for (int space = 0; space < 2; space++) {
            set_extents(request, direction, done, &segment.side[direction][space]);
            segment.side[direction][space].boxes = boxes;
            set_order(&segment, direction, space, order);
        }
    return segment;
}

static bool boxes_match(const weft_distribution *distribution, const weft_region *boxes,
                        int ranks) {
    for (int r = 0; r < ranks; r++) {
        weft_region box = weft_distribution_box(distribution, r);
        bool empty = weft_region_elements(&box) == 0 && weft_region_elements(&boxes[r]) == 0;
        if (!empty && !weft_region_equal(&box, &boxes[r])) return false;
    }
    return true;
}

/* Drops redistributions inside groups of one rank: their segments join. */
static void join_lonely_groups(weft_chain *chain) {
    for (int k = 0; k + 1 < chain->segments;) {
        if (chain->group[k] < 0 || chain->grid[chain->group[k]] > 1) {
            k++;
            continue;
        }
        weft_segment *here = &chain->segment[k], *next = here + 1;
        for (int i = 0; i < next->transforms; i++) here->axis[here->transforms++] = next->axis[i];
        for (int direction = 0; direction < 2; direction++) {
            here->side[direction][WEFT_OUTPUT] = next->side[direction][WEFT_OUTPUT];
            set_order(here, direction, WEFT_OUTPUT, next->order[direction][WEFT_OUTPUT]);
        }
        int after = chain->segments - k - 2;
        memmove(next, next + 1, (size_t)after * sizeof *next);
        memmove(&chain->group[k], &chain->group[k + 1], (size_t)after * sizeof chain->group[0]);
        memmove(&chain->method[k], &chain->method[k + 1], (size_t)after * sizeof chain->method[0]);
        chain->segments--;
    }
}

static void build_inner(const weft_chain_request *request, weft_chain *chain) {
    int rank = request->rank, grid_axes = request->grid_axes;
    strategy row = table(request);
    int split_by[WEFT_AXES];
    bool done[WEFT_MAX_RANK] = {false};
    for (int a = 0; a < WEFT_AXES; a++) split_by[a] = a < grid_axes ? a : -1;

    chain->segments = grid_axes + 1;
    for (int s = 0; s <= grid_axes; s++) {
        weft_segment *segment = &chain->segment[s];
        *segment = (weft_segment){.transforms = 0};
        if (s > 0) { /* redistribution s-1: gather axis g, split row.splits over the same ranks */
            int g = grid_axes - s;
            split_by[g] = -1;
            split_by[row.splits[s - 1]] = g;
            chain->group[s - 1] = g;
            chain->method[s - 1] = s - 1;
        }
        if (s == 0) {
            segment->transforms = row.first_count;
            memcpy(segment->axis, row.first_pass, sizeof row.first_pass);
        } else {
            remaining_axes(rank, done, split_by, segment);
        }
        for (int direction = 0; direction < 2; direction++)
            segment->side[direction][WEFT_INPUT] =
                distribution_of(request, direction, done, split_by);
        for (int i = 0; i < segment->transforms; i++) done[segment->axis[i]] = true;
        for (int direction = 0; direction < 2; direction++)
            segment->side[direction][WEFT_OUTPUT] =
                distribution_of(request, direction, done, split_by);
        for (int i = 0; i < 4; i++) natural_order(request, segment->order[i / 2][i % 2]);
    }
    if (request->variant != WEFT_REALIGNED) return;
    for (int s = 0; s < grid_axes; s++) {
        weft_segment *here = &chain->segment[s], *next = here + 1;
        int gathered = grid_axes - 1 - s, order[WEFT_AXES];
        realigned_order(rank, row.splits[s], next->axis[0], order);
        set_order(here, WEFT_FORWARD, WEFT_OUTPUT, order);
        set_order(next, WEFT_FORWARD, WEFT_INPUT, order);
        realigned_order(rank, gathered, here->axis[here->transforms - 1], order);
        set_order(next, WEFT_INVERSE, WEFT_INPUT, order);
        set_order(here, WEFT_INVERSE, WEFT_OUTPUT, order);
    }
}

/* Extents of a line's array, whose columns are transformed or not. */
static void set_line_extents(const weft_chain_request *request, int direction, bool columns,
                             weft_distribution *d) {
    const int64_t stored = request->points.stored[direction][0];
    memcpy(d->n, request->points.n, 2 * sizeof *d->n);
    if (columns && request->halved == 0) d->n[0] = d->n[0] / 2 + 1;
    if (!columns && stored > 0) d->n[0] = stored;
    d->n[2] = request->members[direction];
}

/* A line over several ranks. Its rows are split, and nothing is done with them; columns are split,
 * and transformed; rows of that are split, and transformed; columns of that are split, whose
 * elements are neighbours in the spectrum. A scattered line ends before that. */
static void build_line(const weft_chain_request *request, weft_chain *chain) {
    static const struct { int split, transformed; } row[] = {{0, -1}, {1, 0}, {0, 1}, {1, -1}};
    static const int last_order[WEFT_AXES] = {2, 1, 0};
    const bool realigned = request->variant == WEFT_REALIGNED, in_order = !request->line.scattered;
    int across[WEFT_AXES], along[WEFT_AXES]; /* memory orders with axis 1, or axis 0, slowest */
    realigned_order(2, 1, 0, across);
    realigned_order(2, 0, 1, along);
    chain->segments = weft_line_exchanges(&request->line) + 1;
    for (int s = 0; s < chain->segments; s++) {
        weft_segment *segment = &chain->segment[s];
        for (int end = 0; end < 4; end++) {
            const int direction = end / 2, space = end % 2;
            const bool columns = s > 1 || (s == 1 && space == WEFT_OUTPUT);
            const bool spectrum = in_order && (s == 3 || (s == 2 && space == WEFT_OUTPUT));
            weft_distribution *d = &segment->side[direction][space];
            *d = (weft_distribution){.axes = 3, .grid_axes = 1, .grid = {request->grid[0]}};
            for (int a = 0; a < WEFT_AXES; a++) d->split_by[a] = a == row[s].split ? 0 : -1;
            set_line_extents(request, direction, columns, d);
            if (spectrum)
                d->n[1] =
                    weft_line_rows(&request->line, request->points.n[0], request->points.n[1]);
            natural_order(request, segment->order[direction][space]);
            if (s == 3) set_order(segment, direction, space, last_order);
        }
        if (row[s].transformed >= 0) segment->axis[segment->transforms++] = row[s].transformed;
        chain->group[s] = 0;
        chain->method[s] = s;
    }
    for (int direction = 0; direction < 2 && realigned; direction++) {
        set_order(&chain->segment[1], direction, WEFT_INPUT, along);
        set_order(&chain->segment[1], direction, WEFT_OUTPUT,
                  direction == WEFT_FORWARD ? along : across);
        set_order(&chain->segment[2], direction, WEFT_INPUT,
                  direction == WEFT_FORWARD ? along : across);
        if (in_order) set_order(&chain->segment[2], direction, WEFT_OUTPUT, across);
    }
}

/* Puts the caller's bricks at one end: as the end segment's own memory order where the boxes are
 * the same on every rank, else as a segment of their own, one redistribution away. */
static void add_input_brick(const weft_chain_request *request, weft_chain *chain) {
    int natural[WEFT_AXES];
    natural_order(request, natural);
    const int *order = request->order[WEFT_INPUT] ? request->order[WEFT_INPUT] : natural;
    if (boxes_match(&chain->segment[0].side[WEFT_FORWARD][WEFT_INPUT], request->boxes[WEFT_INPUT],
                    request->ranks)) {
        for (int direction = 0; direction < 2; direction++)
            set_order(&chain->segment[0], direction, WEFT_INPUT, order);
        return;
    }
    memmove(&chain->segment[1], &chain->segment[0],
            (size_t)chain->segments * sizeof chain->segment[0]);
    memmove(&chain->group[1], &chain->group[0], (size_t)chain->segments * sizeof chain->group[0]);
    memmove(&chain->method[1], &chain->method[0],
            (size_t)chain->segments * sizeof chain->method[0]);
    chain->segment[0] = brick_segment(request, false, request->boxes[WEFT_INPUT], order);
    chain->group[0] = -1;
    chain->method[0] = 0;
    chain->segments++;
}

static void add_output_brick(const weft_chain_request *request, weft_chain *chain) {
    int natural[WEFT_AXES], last = chain->segments - 1;
    natural_order(request, natural);
    const int *order = request->order[WEFT_OUTPUT] ? request->order[WEFT_OUTPUT] : natural;
    if (boxes_match(&chain->segment[last].side[WEFT_FORWARD][WEFT_OUTPUT],
                    request->boxes[WEFT_OUTPUT], request->ranks)) {
        for (int direction = 0; direction < 2; direction++)
            set_order(&chain->segment[last], direction, WEFT_OUTPUT, order);
        return;
    }
    chain->segment[last + 1] = brick_segment(request, true, request->boxes[WEFT_OUTPUT], order);
    chain->group[last] = -1;
    chain->method[last] = request->grid_axes > 0 ? request->grid_axes - 1 : 0;
    chain->segments++;
}

/* Data is complex once a Fourier axis is transformed, so the halved one must not come later. */
static weft_status check_halved(const weft_chain *chain) {
    for (int s = 0; s < chain->segments && weft_chain_is_real(chain, s); s++) {
        bool fourier = false, halved = false;
        for (int i = 0; i < chain->segment[s].transforms; i++) {
            const int a = chain->segment[s].axis[i];
            fourier = fourier || weft_axis_is_fourier(chain->types.forward[a]);
            halved = halved || a == chain->halved;
        }
        if (fourier && !halved)
            return weft_fail(WEFT_ERROR_UNSUPPORTED,
                             "problem.axis[%d] is WEFT_AXIS_REAL, but this decomposition splits "
                             "that axis while others are transformed; choose another axis or "
                             "options.decomposition, or one process",
                             chain->halved);
        if (halved) break;
    }
    return WEFT_SUCCESS;
}

weft_axis weft_chain_type(const weft_chain *chain, weft_direction direction, int axis,
                          int64_t member) {
    const weft_parity *p = &chain->types.parity;
    const unsigned turned = p->turned[direction][axis];
    const bool aligned = p->turned[WEFT_FORWARD][axis] || p->turned[WEFT_INVERSE][axis];
    weft_axis type = chain->types.forward[axis];
    if (aligned)
        type = weft_axis_of_parity(type, turned >> member % chain->types.fields[direction] & 1);
    return direction == WEFT_INVERSE ? weft_axis_inverse(type) : type;
}

bool weft_chain_types_differ(const weft_chain *chain, weft_direction direction, int axis) {
    const unsigned turned = chain->types.parity.turned[direction][axis];
    return turned != 0 && turned != (1u << chain->types.fields[direction]) - 1;
}

weft_status weft_chain_build(const weft_chain_request *request, weft_chain *chain) {
    memset(chain, 0, sizeof *chain);
    chain->axes = request->rank + 1;
    memcpy(chain->n, request->points.n, (size_t)request->rank * sizeof chain->n[0]);
    chain->n[request->rank] = request->members[WEFT_FORWARD];
    memcpy(chain->spectrum, request->points.spectrum,
           (size_t)request->rank * sizeof *chain->spectrum);
    chain->real = request->real;
    chain->halved = request->halved;
    chain->types = request->types;
    chain->ranks = request->ranks;
    chain->grid_axes = request->grid_axes;
    memcpy(chain->grid, request->grid, (size_t)request->grid_axes * sizeof chain->grid[0]);
    chain->line = request->line;
    if (request->line.points > 0) {
        build_line(request, chain);
        return WEFT_SUCCESS;
    }
    build_inner(request, chain);
    join_lonely_groups(chain);
    if (request->boxes[WEFT_INPUT]) add_input_brick(request, chain);
    if (request->boxes[WEFT_OUTPUT]) add_output_brick(request, chain);
    return chain->halved >= 0 ? check_halved(chain) : WEFT_SUCCESS;
}

bool weft_chain_is_real(const weft_chain *chain, int s) {
    if (chain->line.points > 0) return chain->line.real && s < 2;
    for (int before = 0; before < s; before++)
        for (int i = 0; i < chain->segment[before].transforms; i++)
            if (chain->segment[before].axis[i] == chain->halved) return false;
    return chain->real;
}

/* Product of the grid extents after dimension g: the rank stride of that coordinate. */
static int grid_stride(const weft_chain *chain, int g) {
    int stride = 1;
    for (int i = g + 1; i < chain->grid_axes; i++) stride *= chain->grid[i];
    return stride;
}

void weft_chain_group(const weft_chain *chain, int redistribution, int rank, int *color, int *key,
                      int *size) {
    int g = chain->group[redistribution];
    if (g < 0) {
        *color = 0;
        *key = rank;
        *size = chain->ranks;
        return;
    }
    int stride = grid_stride(chain, g);
    *key = rank / stride % chain->grid[g];
    *color = rank - *key * stride;
    *size = chain->grid[g];
}

int weft_chain_member(const weft_chain *chain, int redistribution, int rank, int member) {
    int g = chain->group[redistribution];
    if (g < 0) return member;
    int stride = grid_stride(chain, g), key = rank / stride % chain->grid[g];
    return rank + (member - key) * stride;
}
