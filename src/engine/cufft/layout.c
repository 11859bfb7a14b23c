/* Chooses the passes of a transform: groups of dimensions, the batch loop of each plan, and the
 * loops over executions. */
#include "engine/cufft/layout.h"

#include <stdlib.h>
#include <string.h>

#include "support/error.h"

/* Lines are gathered if they would take so many executions, each of fewer bytes than this:
 * launching an execution then takes longer than two more passes over its data in memory (an
 * estimate: 2.5 us against 3 TB/s). */
enum { MANY_EXECUTIONS = 8, SMALL_EXECUTION = 2 << 20 };

/* What is still to be mapped to one pass: dimensions, of which the last has the smallest stride
 * and, for real kinds, is the halved one; everything else is a loop. */
typedef struct group {
    weft_transform_kind kind;
    int dims, loops;
    weft_dimension dim[WEFT_MAX_RANK], loop[WEFT_AXES + WEFT_MAX_RANK];
} group;

static int64_t side_stride(const weft_dimension *d, bool output) {
    return output ? d->out_stride : d->in_stride;
}

static bool is_halved(weft_transform_kind kind, bool output) {
    return kind == (output ? WEFT_TRANSFORM_R2C : WEFT_TRANSFORM_C2R);
}

static bool is_real(weft_transform_kind kind, bool output) {
    return kind == (output ? WEFT_TRANSFORM_C2R : WEFT_TRANSFORM_R2C);
}

/* The number of elements of dimension d on one side. */
static int64_t side_extent(const group *g, int d, bool output) {
    int64_t n = g->dim[d].n;
    return d == g->dims - 1 && is_halved(g->kind, output) ? n / 2 + 1 : n;
}

static weft_status check_strides(const weft_dimension *d) {
    if (d->in_stride > 0 && d->out_stride > 0) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "cuFFT engine: strides %lld and %lld, but cuFFT takes positive ones only; "
                     "choose another engine",
                     (long long)d->in_stride, (long long)d->out_stride);
}

/* ---- groups ---- */

/* Reads a transform, without the dimensions and loops of one element. */
static weft_status read_group(const weft_transform *t, group *g) {
    *g = (group){.kind = t->kind};
    for (int d = 0; d < t->dims; d++) {
        bool halved = t->kind != WEFT_TRANSFORM_C2C && d == t->dims - 1;
        if (t->dim[d].n == 1 && !halved) continue;
        g->dim[g->dims] = t->dim[d];
        if (t->dim[d].n == 1) g->dim[g->dims].in_stride = g->dim[g->dims].out_stride = 1;
        WEFT_TRY(check_strides(&g->dim[g->dims++]));
    }
    for (int l = 0; l < t->loops; l++) {
        if (t->loop[l].n == 1) continue;
        WEFT_TRY(check_strides(&t->loop[l]));
        g->loop[g->loops++] = t->loop[l];
    }
    return WEFT_SUCCESS;
}

/* Sorts the dimensions by stride, the largest first; the halved dimension stays last. */
static void sort_dimensions(group *g) {
    int movable = g->kind == WEFT_TRANSFORM_C2C ? g->dims : g->dims - 1;
    for (int i = 1; i < movable; i++)
        for (int j = i; j > 0 && g->dim[j].in_stride > g->dim[j - 1].in_stride; j--) {
            weft_dimension faster = g->dim[j - 1];
            g->dim[j - 1] = g->dim[j];
            g->dim[j] = faster;
        }
}

/* Whether the stride of each dimension is a whole number of rows of the next one, on both sides. */
static bool is_nested(const group *g) {
    if (g->dims > WEFT_CUFFT_RANK) return false;
    /* Complex-to-real plans with a last dimension of 1 give wrong numbers (cuFFT 12.0). */
    if (g->kind == WEFT_TRANSFORM_C2R && g->dims > 1 && g->dim[g->dims - 1].n == 1) return false;
    for (int side = 0; side < 2; side++)
        for (int d = g->dims - 1; d > 0; d--) {
            int64_t outer = side_stride(&g->dim[d - 1], side),
                    inner = side_stride(&g->dim[d], side);
            if (outer % inner != 0 || outer / inner < side_extent(g, d, side)) return false;
        }
    return true;
}

/* Joins loops that one stride covers on both sides. */
static void merge_loops(group *g) {
    for (int a = 0; a < g->loops; a++)
        for (int b = 0; b < g->loops; b++) {
            const weft_dimension *outer = &g->loop[a], *inner = &g->loop[b];
            if (a == b || outer->in_stride != inner->n * inner->in_stride ||
                outer->out_stride != inner->n * inner->out_stride)
                continue;
            g->loop[b].n *= outer->n;
            g->loop[a] = g->loop[--g->loops];
            a = -1; /* once more from the beginning */
            break;
        }
}

/* ---- passes ---- */

/* Whether executions would begin at odd offsets of real data, if loop `batch` were in the plan. */
static bool begins_odd(const group *g, int batch) {
    for (int l = 0; l < g->loops; l++)
        for (int side = 0; side < 2 && l != batch; side++)
            if (is_real(g->kind, side) && side_stride(&g->loop[l], side) % 2 != 0) return true;
    return false;
}

/*
 * Chooses the loop in the plan: the one that leaves the fewest executions. Strided lines had better
 * have their neighbours in the same plan, or every access would fetch more than it needs, so a loop
 * over neighbours counts as if it were longer.
 */
static int choose_batch(const group *g) {
    const int64_t neighbours_count_for = 16;
    int best = -1;
    int64_t most = 0;
    const weft_dimension *line = &g->dim[g->dims - 1];
    bool strided = line->in_stride > 1 || line->out_stride > 1;
    for (int l = 0; l < g->loops; l++) {
        int64_t worth = g->loop[l].n;
        if (strided && (g->loop[l].in_stride == 1 || g->loop[l].out_stride == 1))
            worth *= neighbours_count_for;
        if (begins_odd(g, l) || worth <= most) continue;
        most = worth;
        best = l;
    }
    return best;
}

/* Makes a pass of what the group holds; false if it must be padded first. */
static bool make_pass(group *g, weft_cufft_array from, weft_cufft_array to, weft_cufft_pass *pass) {
    merge_loops(g);
    int batch = choose_batch(g);
    if (batch < 0 && begins_odd(g, -1)) return false;
    *pass = (weft_cufft_pass){.kind = g->kind, .from = from, .to = to, .rank = g->dims, .batch = 1};
    for (int d = 0; d < g->dims; d++) {
        pass->n[d] = g->dim[d].n;
        pass->in_embed[d] =
            d == 0 ? side_extent(g, 0, false) : g->dim[d - 1].in_stride / g->dim[d].in_stride;
        pass->out_embed[d] =
            d == 0 ? side_extent(g, 0, true) : g->dim[d - 1].out_stride / g->dim[d].out_stride;
    }
    pass->in_stride = g->dim[g->dims - 1].in_stride;
    pass->out_stride = g->dim[g->dims - 1].out_stride;
    pass->in_distance = side_extent(g, 0, false) * g->dim[0].in_stride;
    pass->out_distance = side_extent(g, 0, true) * g->dim[0].out_stride;
    for (int l = 0; l < g->loops; l++) {
        if (l != batch) {
            pass->loop[pass->loops++] = g->loop[l];
            continue;
        }
        pass->batch = g->loop[l].n;
        pass->in_distance = g->loop[l].in_stride;
        pass->out_distance = g->loop[l].out_stride;
    }
    return true;
}

/* The group of the last dimension alone, with the other dimensions as loops. */
static group last_alone(const group *g) {
    group last = *g;
    last.dims = 1;
    last.dim[0] = g->dim[g->dims - 1];
    for (int d = 0; d < g->dims - 1; d++) last.loop[last.loops++] = g->dim[d];
    return last;
}

/* The complex group of all dimensions except the last, in place in the array of one side. */
static group others_in_place(const group *g, bool output) {
    group others = *g;
    others.kind = WEFT_TRANSFORM_C2C;
    others.dims--;
    int64_t n =
        g->kind == WEFT_TRANSFORM_C2C ? g->dim[g->dims - 1].n : g->dim[g->dims - 1].n / 2 + 1;
    if (n > 1) {
        others.loop[others.loops] = g->dim[g->dims - 1];
        others.loop[others.loops++].n = n;
    }
    for (int d = 0; d < others.dims; d++)
        others.dim[d].in_stride = others.dim[d].out_stride = side_stride(&g->dim[d], output);
    for (int l = 0; l < others.loops; l++)
        others.loop[l].in_stride = others.loop[l].out_stride = side_stride(&others.loop[l], output);
    return others;
}

/* Adds the passes of a complex group, which never needs padding. Dimensions that do not nest become
 * passes in place, one at a time. */
static void add_complex(weft_cufft_layout *layout, group *g, weft_cufft_array from,
                        weft_cufft_array to) {
    while (g->dims > 0) {
        sort_dimensions(g);
        if (is_nested(g)) {
            make_pass(g, from, to, &layout->pass[layout->passes++]);
            return;
        }
        group last = last_alone(g);
        *g = others_in_place(g, to != from);
        make_pass(&last, from, to, &layout->pass[layout->passes++]);
        from = to;
    }
}

/* ---- copies around the passes ---- */

/* The view of one side of a transform, and the number of elements of memory that it spans. */
static weft_view side_view(const group *g, bool output, int64_t *reach) {
    weft_view view = {.axes = g->loops + g->dims};
    *reach = 1;
    for (int a = 0; a < view.axes; a++) {
        const weft_dimension *axis = a < g->loops ? &g->loop[a] : &g->dim[a - g->loops];
        view.n[a] = a < g->loops ? axis->n : side_extent(g, a - g->loops, output);
        view.stride[a] = side_stride(axis, output);
        *reach += (view.n[a] - 1) * view.stride[a];
    }
    return view;
}

/* The view of a real side's elements in dense rows of even length. */
static weft_view padded_view(const weft_view *real, int64_t *elements) {
    weft_view view = *real;
    int64_t step = 1;
    for (int a = view.axes - 1; a >= 0; a--) {
        view.stride[a] = step;
        step *= a == view.axes - 1 ? (view.n[a] + 1) / 2 * 2 : view.n[a];
    }
    *elements = step;
    view.offset = 0;
    return view;
}

/* Changes the group so that its real side has rows of even length, in an array of the plan's. */
static void pad(weft_cufft_layout *layout, group *g, weft_precision precision) {
    const bool output = g->kind == WEFT_TRANSFORM_C2R;
    const size_t number = weft_number_bytes(precision);
    int64_t reach;
    weft_view real = side_view(g, output, &reach);
    weft_view padded = padded_view(&real, &layout->gathered_numbers);
    layout->gather = !output;
    layout->scatter = output;
    layout->gather_copy = weft_copy_between(&real, &padded, number);
    layout->scatter_copy = weft_copy_between(&padded, &real, number);
    for (int a = 0; a < real.axes; a++) {
        weft_dimension *axis = a < g->loops ? &g->loop[a] : &g->dim[a - g->loops];
        *(output ? &axis->out_stride : &axis->in_stride) = padded.stride[a];
    }
}

/* ---- lines in many small executions ---- */

static int64_t lines_of(const group *g) {
    int64_t lines = 1;
    for (int l = 0; l < g->loops; l++) lines *= g->loop[l].n;
    return lines;
}

static bool is_worth_gathering(const group *g, size_t element) {
    int batch = g->dims == 1 && g->loops > 1 ? choose_batch(g) : -1;
    if (batch < 0) return false;
    int64_t lines = lines_of(g), together = g->loop[batch].n;
    return lines / together >= MANY_EXECUTIONS &&
           g->dim[0].n * together * (int64_t)element < SMALL_EXECUTION;
}

/* Gathers all lines into one batch, which is transformed in place. Lines are contiguous if they are
 * so in the input, and otherwise interleaved. Loops are packed in their order in the input, so that
 * the copies have long rows. */
static void gather_lines(weft_cufft_layout *layout, group *g, size_t element) {
    weft_dimension *line = &g->dim[0];
    int64_t reach, lines = lines_of(g), step = 1;
    for (int i = 1; i < g->loops; i++)
        for (int j = i; j > 0 && g->loop[j].in_stride > g->loop[j - 1].in_stride; j--) {
            weft_dimension faster = g->loop[j - 1];
            g->loop[j - 1] = g->loop[j];
            g->loop[j] = faster;
        }
    bool dense = line->in_stride < g->loop[g->loops - 1].in_stride;
    weft_view in = side_view(g, false, &reach), out = side_view(g, true, &reach), packed = in;
    int last = packed.axes - 1; /* the line's own axis */
    packed.stride[last] = dense ? 1 : lines;
    if (dense) step = line->n;
    for (int a = last - 1; a >= 0; step *= packed.n[a--]) packed.stride[a] = step;
    layout->gather = layout->scatter = true;
    layout->gather_copy = weft_copy_between(&in, &packed, element);
    layout->scatter_copy = weft_copy_between(&packed, &out, element);
    layout->gathered_numbers = 2 * lines * line->n;
    line->in_stride = line->out_stride = packed.stride[last];
    g->loops = 1;
    g->loop[0] = (weft_dimension){lines, dense ? line->n : 1, dense ? line->n : 1};
}

/* Adds the passes of a real group: one pass if it nests, otherwise a pass for the last dimension
 * alone and those of the others. */
static void add_real(weft_cufft_layout *layout, const group *g, weft_cufft_array from,
                     weft_precision precision) {
    const bool inverse = g->kind == WEFT_TRANSFORM_C2R;
    group line = *g, others = others_in_place(g, !inverse);
    sort_dimensions(&line);
    bool split = !is_nested(&line);
    if (split) line = last_alone(g);
    if (split && inverse) add_complex(layout, &others, from, from);
    weft_cufft_array to = WEFT_CUFFT_OUT;
    weft_cufft_pass *pass = &layout->pass[layout->passes++];
    weft_cufft_array source = from;
    group trial = line;
    if (!make_pass(&trial, from, to, pass)) {
        pad(layout, &line, precision);
        *(inverse ? &to : &source) = WEFT_CUFFT_GATHERED;
        make_pass(&line, source, to, pass);
    }
    if (split && !inverse) add_complex(layout, &others, WEFT_CUFFT_OUT, WEFT_CUFFT_OUT);
}

weft_status weft_cufft_lay_out(const weft_transform *t, weft_cufft_layout *layout) {
    group g;
    int64_t reach;
    memset(layout, 0, sizeof *layout);
    WEFT_TRY(read_group(t, &g));
    if (g.loops + g.dims > WEFT_AXES)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "cuFFT engine: %d loops and dimensions, of at most %d", g.loops + g.dims,
                         WEFT_AXES);
    size_t element = 2 * weft_number_bytes(t->precision);
    if (g.dims == 0) {
        weft_view in = side_view(&g, false, &reach), out = side_view(&g, true, &reach);
        layout->whole = !t->in_place;
        layout->whole_copy = weft_copy_between(&in, &out, element);
        return WEFT_SUCCESS;
    }
    if (t->kind == WEFT_TRANSFORM_C2C) {
        merge_loops(&g);
        const bool gathered = is_worth_gathering(&g, element);
        if (gathered) gather_lines(layout, &g, element);
        add_complex(layout, &g, gathered ? WEFT_CUFFT_GATHERED : WEFT_CUFFT_IN,
                    gathered ? WEFT_CUFFT_GATHERED : WEFT_CUFFT_OUT);
        return WEFT_SUCCESS;
    }
    layout->keep = t->kind == WEFT_TRANSFORM_C2R && !t->destroy_input;
    if (layout->keep) {
        weft_view in = side_view(&g, false, &layout->kept_elements);
        layout->keep_copy = weft_copy_between(&in, &in, element);
    }
    add_real(layout, &g, layout->keep ? WEFT_CUFFT_KEPT : WEFT_CUFFT_IN, t->precision);
    return WEFT_SUCCESS;
}
