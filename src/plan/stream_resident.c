/* What stays on the device between passes of a streamed schedule: as much of the array as there is
 * room for beside the slots. It is an array of its own in the third workspace, which has the first
 * indices along one axis. Elements of a tile that have them are copied from and to there, not over
 * the link. */
#include "plan/stream.h"

#include "support/least.h"

#include <string.h>

/* Bytes of the room beside the slots of the plan's schedules and what engines need. For those a
 * quarter of it is left free, but no more than a gigabyte or, where that is more, a third of the
 * slots: what they need grows with tiles, not with the room. */
static int64_t room_beside_slots(const weft_schedule_request *request) {
    enum { GIGABYTE = 1 << 30 };
    const int64_t room = request->room, slots = request->held.slots[0] + request->held.slots[1];
    if (slots == 0) return 0;
    return room - slots - weft_least(room / 4, slots / 3 > GIGABYTE ? slots / 3 : GIGABYTE);
}

/* Bytes of an element of the array behind a pass. */
static int64_t element_bytes(const weft_schedule *schedule, const weft_streamed_pass *pass) {
    return schedule->step[pass->last].src_bytes / weft_view_elements(&pass->tile_after);
}

/* The next pass over the array that the pass leaves; NULL: there is none, or an exchange lies in
 * between. */
static weft_streamed_pass *next_pass(const weft_streaming *stream, weft_streamed_pass *pass) {
    weft_streamed_pass *next = pass + 1;
    return next < stream->pass + stream->passes && pass->last + 1 == next->first ? next : NULL;
}

/* The axis that most tiles share out; -1: the pass has one tile. */
static int axis_of_tiles(const weft_streamed_pass *pass) {
    int found = -1;
    for (int a = 0; a < pass->before.axes; a++) {
        const int64_t tiles = weft_streamed_tiles_along(pass, a);
        if (tiles > 1 && (found < 0 || tiles > weft_streamed_tiles_along(pass, found))) found = a;
    }
    return found;
}

/* The first n indices of an array along an axis, as an array of its own, in the order of the whole
 * one and without room between rows. */
static weft_view first_indices(const weft_view *whole, int axis, int64_t n) {
    weft_view part = *whole;
    part.n[axis] = n;
    for (int a = 0; a < whole->axes; a++) {
        part.stride[a] = 1;
        for (int b = 0; b < whole->axes; b++)
            if (whole->stride[b] < whole->stride[a]) part.stride[a] *= part.n[b];
    }
    return part;
}

static bool lie_alike(const weft_view *a, const weft_view *b) {
    const size_t bytes = (size_t)a->axes * sizeof(int64_t);
    return memcmp(a->n, b->n, bytes) == 0 && memcmp(a->stride, b->stride, bytes) == 0;
}

void weft_stream_keep_resident(const weft_schedule_request *request, weft_schedule *schedule) {
    weft_streaming *stream = &schedule->stream;
    weft_resident *resident = &stream->resident;
    weft_streamed_pass *end = stream->pass + stream->passes, *first = stream->pass;
    while (first < end && !next_pass(stream, first)) first++;
    if (first == end) return;
    const weft_view *whole = &first->after;
    const int64_t element = element_bytes(schedule, first);
    resident->axis = axis_of_tiles(first + 1);
    if (resident->axis < 0) return;
    const int64_t n = whole->n[resident->axis],
                  one = weft_view_elements(whole) / n * element; /* bytes of one index */
    resident->n = weft_least(n, room_beside_slots(request) / one);
    if (resident->n <= 0) return;
    resident->view = first_indices(whole, resident->axis, resident->n);
    schedule->workspaces = 3;
    weft_schedule_need(schedule, WEFT_BUFFER_RESIDENT, resident->n * one);
    for (weft_streamed_pass *pass = first; pass < end; pass++) {
        weft_streamed_pass *next = next_pass(stream, pass);
        if (!next || !lie_alike(&pass->after, whole) || element_bytes(schedule, pass) != element)
            continue;
        pass->stores_resident = next->loads_resident = true;
    }
}
