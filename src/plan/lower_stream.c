/* From the passes of a streamed schedule to tasks: for each tile a copy to the device, what is done
 * there, and a copy back, each kind on a lane of its own. What stays on the device between passes
 * is copied there; between ranks, tiles are copied from and to the blocks of exchanges. */
#include "plan/lowering.h"

#include "support/error.h"
#include "support/least.h"
#include "support/recorder.h"

enum { LANE_TO_DEVICE = WEFT_LANE_LINK, LANE_TO_HOST = WEFT_LANE_LINK + 1 };

/* Where the lowering is: between two exchanges, or before the first one, or behind the last one. */
typedef struct lowering {
    const weft_schedule *schedule;
    weft_exchange_lowering arriving, leaving;
    int departed; /* tiles of the exchange `leaving` that have departed in the list */
    int slot;     /* that the next tile of a pass has */
    weft_tasks *tasks;
} lowering;

/* Where a tile begins in the whole array, and how many indices it has, along each axis. */
typedef struct tile_box {
    int64_t lo[WEFT_AXES], n[WEFT_AXES];
} tile_box;

/* The next axis to the outside in memory, of those that tiles share out: that of the smallest
 * stride above `stride`, or -1. */
static int next_outer(const weft_streamed_pass *pass, int64_t stride) {
    int found = -1;
    for (int a = 0; a < pass->before.axes; a++)
        if (weft_streamed_tiles_along(pass, a) > 1 && pass->before.stride[a] > stride &&
            (found < 0 || pass->before.stride[a] < pass->before.stride[found]))
            found = a;
    return found;
}

/* Tile number k in the order in which tiles lie in memory. */
static tile_box find_tile(const weft_streamed_pass *pass, int64_t k) {
    tile_box box;
    for (int a = 0; a < pass->before.axes; a++) {
        box.lo[a] = 0;
        box.n[a] = -1; /* all of it, which the halved axis has another number of on either side */
    }
    for (int a = next_outer(pass, 0); a >= 0; a = next_outer(pass, pass->before.stride[a])) {
        const int64_t most = a == pass->axis ? pass->thickness : 1,
                      tiles = weft_streamed_tiles_along(pass, a);
        box.lo[a] = k % tiles * most;
        box.n[a] = pass->before.n[a] - box.lo[a];
        if (box.n[a] > most) box.n[a] = most;
        k /= tiles;
    }
    return box;
}

/* The elements of a box in a view of an array whose first element is at `origin` of the whole one.
 */
static weft_view restrict_view(const weft_view *view, const tile_box *box, const int64_t *origin) {
    weft_view part = *view;
    for (int a = 0; a < view->axes; a++) {
        if (box->n[a] < 0) continue;
        part.offset += (box->lo[a] - origin[a]) * view->stride[a];
        part.n[a] = box->n[a];
    }
    return part;
}

static int lane(const lowering *l, int of_its_own) {
    return l->schedule->stream.one_after_another ? WEFT_LANE_COMPUTE : of_its_own;
}

/* Where the slot begins in a workspace. */
static int64_t slot_of(const lowering *l, int buffer) {
    return l->slot * l->schedule->stream.slot_bytes[buffer - WEFT_BUFFER_WORKSPACE];
}

static weft_task task_of(int step, int tile, weft_task_kind kind, int lane, weft_phase phase) {
    return (weft_task){.kind = kind,
                       .lane = lane,
                       .step = step,
                       .phase = phase,
                       .partner = WEFT_NO_PARTNER,
                       .tile = tile,
                       .after = -1};
}

/* Of a tile of an array that lies as `whole`, what stays on the device, or the rest. */
static tile_box part_of_tile(const weft_resident *resident, const weft_view *whole,
                             const tile_box *tile, bool stays) {
    const int a = resident->axis;
    const int64_t n = tile->n[a] < 0 ? whole->n[a] : tile->n[a];
    const int64_t here = weft_least(n, resident->n > tile->lo[a] ? resident->n - tile->lo[a] : 0);
    tile_box part = *tile;
    part.n[a] = stays ? here : n - here;
    if (!stays) part.lo[a] += here;
    return part;
}

/* Copies part of a tile between its slot and the array on the host or, of what stays on the device,
 * the array there: on the compute lane, so that those of the link go on. */
static void add_copy(lowering *l, const weft_streamed_pass *pass, int tile, const tile_box *box,
                     const tile_box *part, bool loads, bool stays) {
    static const int64_t beginning[WEFT_AXES] = {0};
    const int number = loads ? pass->first : pass->last;
    const weft_step *step = &l->schedule->step[number];
    const weft_view *in_slot = loads ? &pass->tile_before : &pass->tile_after;
    const weft_view *whole = stays   ? &l->schedule->stream.resident.view
                             : loads ? &pass->before
                                     : &pass->after;
    const size_t element = (size_t)(step->src_bytes / weft_view_elements(in_slot));
    const int buffer = loads ? step->dst : step->src;
    const weft_access slot = {.buffer = buffer,
                              .element_bytes = element,
                              .base = slot_of(l, buffer),
                              .view = restrict_view(in_slot, part, box->lo)};
    const weft_access array = {.buffer = stays   ? WEFT_BUFFER_RESIDENT
                                         : loads ? step->src
                                                 : step->dst,
                               .element_bytes = element,
                               .view = restrict_view(whole, part, beginning)};
    const int on = stays ? WEFT_LANE_COMPUTE : lane(l, loads ? LANE_TO_DEVICE : LANE_TO_HOST);
    weft_tasks_add_copy(l->tasks, task_of(number, tile, WEFT_TASK_COPY, on, WEFT_PHASE_COPY),
                        stays   ? WEFT_DEVICE_TO_DEVICE
                        : loads ? WEFT_HOST_TO_DEVICE
                                : WEFT_DEVICE_TO_HOST,
                        loads ? array : slot, loads ? slot : array);
}

/* The indices that a block of the array has, of which `view` is the part. */
static tile_box box_of_block(const weft_view *array, const weft_view *view) {
    tile_box box;
    bool found[WEFT_AXES] = {false};
    int64_t rest = view->offset - array->offset;
    for (int i = 0; i < array->axes; i++) { /* the slowest axis first */
        int slowest = -1;
        for (int a = 0; a < array->axes; a++)
            if (!found[a] && (slowest < 0 || array->stride[a] > array->stride[slowest]))
                slowest = a;
        found[slowest] = true;
        box.lo[slowest] = array->n[slowest] > 1 ? rest / array->stride[slowest] : 0;
        box.n[slowest] = view->n[slowest];
        rest -= box.lo[slowest] * array->stride[slowest];
    }
    return box;
}

/* Cuts `lo` and `n` down to the indices that a tile has, if it shares out the axis. */
static void cut(int64_t *lo, int64_t *n, const tile_box *tile, int a) {
    if (tile->n[a] < 0) return;
    const int64_t end = *lo + *n, tile_end = tile->lo[a] + tile->n[a];
    if (*lo < tile->lo[a]) *lo = tile->lo[a];
    *n = (end < tile_end ? end : tile_end) - *lo;
}

/* A block that a pass copies its tiles from or to: where it lies in the array of the pass, and
 * where it lies indeed. */
typedef struct block_place {
    const weft_view *in_array;
    weft_access access;
} block_place;

/* The block of a member of the exchange before the pass: in its array, or as it arrived. */
static block_place loaded_block(const weft_exchange_lowering *x, const weft_exchange_tile *tile,
                                int member) {
    const weft_redistribution *g = &tile->geometry;
    const weft_block *block = &g->receive[member];
    const bool arrived = x->receive >= 0;
    return (block_place){&block->view,
                         {.buffer = arrived           ? x->receive
                                    : member == g->me ? x->src
                                                      : x->partners.first_buffer + member,
                          .element_bytes = g->element_bytes,
                          .base = arrived ? tile->receive_base : 0,
                          .view = arrived ? block->packed : block->origin}};
}

/* The block for a member of the exchange behind the pass, as it leaves. This rank's own goes where
 * others arrive. */
static block_place stored_block(const weft_exchange_lowering *x, const weft_exchange_tile *tile,
                                int member) {
    const weft_redistribution *g = &tile->geometry;
    const bool own = member == g->me;
    return (block_place){&g->send[member].view,
                         {.buffer = own ? x->receive : x->send,
                          .element_bytes = g->element_bytes,
                          .base = own ? tile->receive_base : tile->send_base,
                          .view = own ? g->receive[member].packed : g->send[member].packed}};
}

/* Copies what a tile has of a block from there to its slot (`loads`), or to there. */
static void add_copy_of_block(lowering *l, const weft_streamed_pass *pass, int tile,
                              const tile_box *box, bool loads, const block_place *place) {
    const int number = loads ? pass->first : pass->last;
    const weft_step *step = &l->schedule->step[number];
    const int buffer = loads ? step->dst : step->src;
    const tile_box whole = box_of_block(loads ? &pass->before : &pass->after, place->in_array);
    weft_access block = place->access;
    weft_access slot = {
        .buffer = buffer,
        .element_bytes = block.element_bytes,
        .base = slot_of(l, buffer),
        .view = restrict_view(loads ? &pass->tile_before : &pass->tile_after, box, box->lo)};
    for (int a = 0; a < slot.view.axes; a++) {
        int64_t lo = whole.lo[a], n = whole.n[a];
        cut(&lo, &n, box, a);
        if (n <= 0) return;
        block.view.offset += (lo - whole.lo[a]) * block.view.stride[a];
        slot.view.offset += (lo - (box->n[a] < 0 ? 0 : box->lo[a])) * slot.view.stride[a];
        block.view.n[a] = slot.view.n[a] = n;
    }
    weft_tasks_add_copy(l->tasks,
                        task_of(number, tile, WEFT_TASK_COPY,
                                lane(l, loads ? LANE_TO_DEVICE : LANE_TO_HOST), WEFT_PHASE_COPY),
                        loads ? WEFT_HOST_TO_DEVICE : WEFT_DEVICE_TO_HOST, loads ? block : slot,
                        loads ? slot : block);
}

/* A tile from the blocks that the exchange before the pass left, or to those that the one behind it
 * sends, this rank's own first. */
static void add_copies_of_blocks(lowering *l, const weft_streamed_pass *pass, int tile,
                                 const tile_box *box, bool loads) {
    const weft_exchange_lowering *x = loads ? &l->arriving : &l->leaving;
    for (int k = 0; k < x->tiles; k++) {
        const weft_redistribution *g = &x->tile[k].geometry;
        for (int i = 0; i < g->members; i++) {
            const int member = (g->me + i) % g->members;
            const block_place place =
                loads ? loaded_block(x, &x->tile[k], member) : stored_block(x, &x->tile[k], member);
            if ((loads ? g->receive : g->send)[member].elements > 0)
                add_copy_of_block(l, pass, tile, box, loads, &place);
        }
    }
}

/* A tile to its slot (`loads`) or from there, by one copy or by one for each place that has a part.
 */
static void add_copies(lowering *l, const weft_streamed_pass *pass, int tile, const tile_box *box,
                       bool loads) {
    const weft_resident *resident = &l->schedule->stream.resident;
    const weft_view *whole = loads ? &pass->before : &pass->after;
    if ((loads ? pass->loads_blocks : pass->stores_blocks) >= 0) {
        add_copies_of_blocks(l, pass, tile, box, loads);
        return;
    }
    if (!(loads ? pass->loads_resident : pass->stores_resident)) {
        add_copy(l, pass, tile, box, box, loads, false);
        return;
    }
    for (int stays = 0; stays < 2; stays++) {
        const tile_box part = part_of_tile(resident, whole, box, stays);
        add_copy(l, pass, tile, box, &part, loads, stays);
    }
}

/* All of a slot. */
static weft_access access_of_slot(const lowering *l, int buffer, bool writes) {
    const int64_t bytes = l->schedule->stream.slot_bytes[buffer - WEFT_BUFFER_WORKSPACE];
    return (weft_access){.buffer = buffer,
                         .writes = writes,
                         .element_bytes = 1,
                         .base = slot_of(l, buffer),
                         .view = {.axes = 1, .n = {bytes}, .stride = {1}}};
}

static void add_slots(lowering *l, const weft_step *step) {
    weft_tasks_access(l->tasks, access_of_slot(l, step->src, true));
    weft_tasks_access(l->tasks, access_of_slot(l, step->dst, true));
}

/* What is done to elements wherever they are. Behind a tile of fewer indices than others it works
 * on what nobody looks at. */
static void add_pointwise(lowering *l, int number, int tile) {
    weft_tasks_add(l->tasks,
                   task_of(number, tile, WEFT_TASK_POINTWISE, WEFT_LANE_COMPUTE, WEFT_PHASE_LOCAL));
    add_slots(l, &l->schedule->step[number]);
}

static void add_transform(lowering *l, const weft_streamed_pass *pass, int number, int tile,
                          const tile_box *box) {
    const weft_step *step = &l->schedule->step[number];
    const bool tiled = pass->thickness > 1;
    weft_task task = task_of(number, tile, WEFT_TASK_FFT, WEFT_LANE_COMPUTE, WEFT_PHASE_FFT);
    task.as.fft = (weft_fft_task){.first = tiled ? box->lo[pass->axis] : 0,
                                  .n = tiled ? box->n[pass->axis] : 0,
                                  .src = step->src,
                                  .dst = step->dst,
                                  .in_offset = slot_of(l, step->src),
                                  .out_offset = slot_of(l, step->dst)};
    weft_tasks_add(l->tasks, task);
    add_slots(l, step);
}

/* How many indices along an axis are complete, from the first one on, behind so many tiles of the
 * pass: those of the tiles along the outermost of the axes that tiles share out, and all at the
 * end.
 */
static int64_t complete(const weft_streamed_pass *pass, int64_t tiles, int axis) {
    const int64_t all = weft_streamed_tiles(pass), along = weft_streamed_tiles_along(pass, axis);
    const int64_t most = axis == pass->axis ? pass->thickness : 1;
    if (tiles == all) return pass->after.n[axis];
    if (pass->backwards || along < 2 || next_outer(pass, pass->before.stride[axis]) >= 0) return 0;
    return tiles / (all / along) * most;
}

/* One behind the last index along an axis that a tile of the exchange sends. */
static int64_t end_of_tile(const weft_streamed_pass *pass, const weft_exchange_tile *tile,
                           int axis) {
    int64_t end = 0;
    for (int m = 0; m < tile->geometry.members; m++) {
        const weft_block *block = &tile->geometry.send[m];
        const tile_box box = box_of_block(&pass->after, &block->view);
        if (block->elements > 0 && box.lo[axis] + box.n[axis] > end)
            end = box.lo[axis] + box.n[axis];
    }
    return end;
}

/* Tiles of the next exchange depart behind the tiles of the pass that complete them, unless the
 * exchange stores where the pass is still to load. */
static void add_departures(lowering *l, const weft_streamed_pass *pass, int64_t tiles) {
    weft_exchange_lowering *x = &l->leaving;
    const int axis = x->produced_axis;
    if (x->tiles < 2 || x->receive == l->schedule->step[pass->first].src) return;
    const weft_exchange_ops *method = l->schedule->step[x->step].as.exchange.method;
    while (x->tile && l->departed < x->tiles &&
           end_of_tile(pass, &x->tile[l->departed], axis) <= complete(pass, tiles, axis))
        method->depart(x, &x->tile[l->departed++], l->tasks);
}

/* The tasks of a pass, and behind each of its tiles the departure of those tiles of the next
 * exchange that are complete then. */
static void add_pass(lowering *l, const weft_streamed_pass *pass) {
    const int64_t tiles = weft_streamed_tiles(pass);
    for (int64_t i = 0; i < tiles && l->tasks->status == WEFT_SUCCESS; i++) {
        const int64_t k = pass->backwards ? tiles - 1 - i : i;
        const tile_box box = find_tile(pass, k);
        add_copies(l, pass, (int)i, &box, true);
        for (int s = pass->first + 1; s < pass->last; s++)
            if (l->schedule->step[s].kind == WEFT_STEP_POINTWISE)
                add_pointwise(l, s, (int)i);
            else
                add_transform(l, pass, s, (int)i, &box);
        add_copies(l, pass, (int)i, &box, false);
        l->slot = (l->slot + 1) % l->schedule->stream.slots;
        add_departures(l, pass, i + 1);
    }
}

/* ---- passes and exchanges ---- */

/* The exchange behind a pass. Blocks that are packed leave as the pass copies them from the device,
 * and the next one copies its tiles from where they arrive: nothing is left to pack or to unpack.
 */
static weft_status begin_exchange(weft_lowering *l, int number, weft_exchange_lowering *x) {
    WEFT_TRY(weft_lowering_begin_exchange(l, number, x));
    x->memory = WEFT_EXCHANGE_ON_HOST;
    x->lane = WEFT_LANE_NETWORK;
    for (int k = 0; k < x->tiles; k++)
        x->tile[k].geometry.pack = x->tile[k].geometry.unpack = false;
    return WEFT_SUCCESS;
}

static bool is_exchange(const weft_step *step) {
    return step && step->kind == WEFT_STEP_EXCHANGE;
}

/* What has not departed behind tiles of the pass departs behind it. A rank without data has no pass
 * before the exchange that began it. */
static weft_status pass_exchange(weft_lowering *l, int number, lowering *s) {
    const weft_exchange_ops *method = l->schedule->step[number].as.exchange.method;
    weft_lowering_finish_exchange(l, &s->arriving);
    if (!s->leaving.tile) WEFT_TRY(begin_exchange(l, number, &s->leaving));
    for (; s->departed < s->leaving.tiles; s->departed++)
        method->depart(&s->leaving, &s->leaving.tile[s->departed], s->tasks);
    for (int k = 0; k < s->leaving.tiles; k++)
        method->arrive(&s->leaving, &s->leaving.tile[k], s->tasks);
    s->arriving = s->leaving;
    s->leaving = (weft_exchange_lowering){0};
    s->departed = 0;
    return s->tasks->status;
}

/* An exchange begins before the pass in front of it, whose tiles go to its blocks. */
static weft_status add_streamed(weft_lowering *l, lowering *s) {
    const weft_streamed_pass *pass = l->schedule->stream.pass;
    for (int i = 0; i < l->schedule->steps;) {
        if (is_exchange(weft_lowering_step(l, i))) {
            WEFT_TRY(pass_exchange(l, i++, s));
            continue;
        }
        if (is_exchange(weft_lowering_step(l, pass->last + 1)))
            WEFT_TRY(begin_exchange(l, pass->last + 1, &s->leaving));
        add_pass(s, pass);
        i = pass++->last + 1;
    }
    weft_lowering_finish_exchange(l, &s->arriving);
    return s->tasks->status;
}

weft_status weft_lowering_add_streamed(weft_lowering *l) {
    lowering s = {.schedule = l->schedule, .tasks = &l->out->tasks};
    const weft_status status = add_streamed(l, &s);
    weft_lowering_end_exchange(&s.arriving);
    weft_lowering_end_exchange(&s.leaving);
    return status;
}
