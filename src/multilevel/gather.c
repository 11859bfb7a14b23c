/*
 * Sources around boxes: every rank sends each other one those of its points that lie in the box
 * around that one's. Both find the list of them from the boxes, so nothing but values travels.
 */
#include "multilevel/multilevel.h"

#include "support/error.h"

#include <stdlib.h>
#include <string.h>

enum { X, Y, Z };

static int64_t floor_of(int64_t a, int64_t b) {
    return a / b - (a % b < 0);
}

/* Part i of what a rank owns that lies in a box, whose coordinates the part gets; false behind the
 * last one. The box may reach over several periods. */
static bool find_part(const weft_gathering *g, const weft_region *own, const weft_region *box,
                      int64_t i, weft_region *part) {
    weft_region moved = *own;
    for (int a = WEFT_LATTICE_AXES - 1; a >= 0; a--) {
        const int64_t first = floor_of(box->lo[a], g->period[a]);
        const int64_t last = floor_of(box->lo[a] + box->n[a] - 1, g->period[a]);
        const int64_t count = last - first + 1;
        if (count <= 0) return false;
        moved.lo[a] += (first + i % count) * g->period[a];
        i /= count;
    }
    *part = weft_region_intersect(&moved, box);
    return i == 0;
}

static int64_t size_of(void *argument, int from, int to) {
    const weft_gathering *g = argument;
    weft_region part;
    int64_t points = 0;
    for (int64_t i = 0; find_part(g, &g->boxes[from].own, &g->boxes[to].around, i, &part); i++)
        points += weft_region_elements(&part);
    return points * g->numbers;
}

weft_status weft_gathering_create(weft_transport *transport, bool single, int fields, int parts,
                                  const int64_t *period, weft_lattice_boxes *boxes,
                                  weft_gathering *g) {
    const weft_status status =
        boxes ? WEFT_SUCCESS : weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a list of boxes");
    *g = (weft_gathering){.numbers = fields * parts, .fields = fields, .boxes = boxes};
    memcpy(g->period, period, sizeof g->period);
    return weft_packets_create(transport, single ? sizeof(float) : sizeof(double), status, size_of,
                               g, &g->packets);
}

void weft_gathering_destroy(weft_gathering *g) {
    weft_packets_destroy(&g->packets);
    free(g->boxes);
    *g = (weft_gathering){.boxes = NULL};
}

/* ---- running ---- */

/* Copies numbers between the message at `at` and a row of an array. */
static void move_row(const weft_gathering *g, bool pack, int64_t at, int64_t count, double *row) {
    const bool single = g->packets.element_bytes == sizeof(float);
    double *wide = pack ? g->packets.out : g->packets.in;
    float *narrow = pack ? g->packets.out : g->packets.in;
    if (!single && pack)
        memcpy(wide + at, row, (size_t)count * sizeof *row);
    else if (!single)
        memcpy(row, wide + at, (size_t)count * sizeof *row);
    else if (pack)
        for (int64_t i = 0; i < count; i++) narrow[at + i] = (float)row[i];
    else
        for (int64_t i = 0; i < count; i++) row[i] = (double)narrow[at + i];
}

/* Copies a part of an array to the message, or from it; returns where the next one goes. Parts do
 * not wrap around in the array's box. */
static int64_t move_part(const weft_gathering *g, bool pack, const weft_region *part,
                         const weft_region *box, int64_t at, double *array) {
    const int parts = g->numbers / g->fields;
    int64_t lo[WEFT_LATTICE_AXES];
    for (int a = 0; a < WEFT_LATTICE_AXES; a++)
        lo[a] = weft_lattice_place(part->lo[a], box->lo[a], box->n[a], g->period[a]);
    for (int f = 0; f < g->fields; f++)
        for (int64_t x = 0; x < part->n[X]; x++)
            for (int64_t y = 0; y < part->n[Y]; y++, at += part->n[Z] * parts)
                move_row(g, pack, at, part->n[Z] * parts,
                         array +
                             (((f * box->n[X] + lo[X] + x) * box->n[Y] + lo[Y] + y) * box->n[Z] +
                              lo[Z]) *
                                 parts);
    return at;
}

static void pack_for(const weft_gathering *g, int to, const double *own) {
    const weft_region *mine = &g->boxes[g->packets.transport->rank].own;
    const weft_region *box = &g->boxes[to].around;
    weft_region part;
    int64_t at = g->packets.send[to].offset;
    if (g->packets.send[to].count == 0) return;
    for (int64_t i = 0; find_part(g, mine, box, i, &part); i++) {
        if (weft_region_elements(&part) == 0) continue;
        /* In coordinates of the period that the rank's own box lies in. */
        for (int a = 0; a < WEFT_LATTICE_AXES; a++)
            part.lo[a] -= floor_of(part.lo[a], g->period[a]) * g->period[a];
        at = move_part(g, true, &part, mine, at, (double *)(uintptr_t)own);
    }
}

static void unpack_from(const weft_gathering *g, int from, double *around) {
    const weft_region *box = &g->boxes[g->packets.transport->rank].around;
    weft_region part;
    int64_t at = g->packets.receive[from].offset;
    if (g->packets.receive[from].count == 0) return;
    for (int64_t i = 0; find_part(g, &g->boxes[from].own, box, i, &part); i++)
        if (weft_region_elements(&part) > 0) at = move_part(g, false, &part, box, at, around);
}

static void copy_own(const weft_gathering *g, const double *own, double *around) {
    const weft_lattice_boxes *b = &g->boxes[g->packets.transport->rank];
    const int64_t of_own = weft_region_elements(&b->own) * g->numbers / g->fields;
    const int64_t of_around = weft_region_elements(&b->around) * g->numbers / g->fields;
    weft_region part;
    for (int64_t i = 0; find_part(g, &b->own, &b->around, i, &part); i++) {
        if (weft_region_elements(&part) == 0) continue;
        weft_region home = b->own;
        for (int a = 0; a < WEFT_LATTICE_AXES; a++)
            home.lo[a] += floor_of(part.lo[a], g->period[a]) * g->period[a];
        for (int f = 0; f < g->fields; f++)
            weft_lattice_copy(g->period, g->period, g->numbers / g->fields, &part, &home,
                              own + f * of_own, &b->around, around + f * of_around);
    }
}

weft_status weft_gathering_run(const weft_gathering *g, const double *own, double *around,
                               weft_recorder *recorder) {
    const int ranks = g->packets.transport->size;
    double begin = weft_clock();
    for (int r = 0; r < ranks; r++) pack_for(g, r, own);
    begin = weft_record(recorder, WEFT_PHASE_PACK, WEFT_NO_PARTNER, begin);
    const weft_status status = weft_packets_exchange(&g->packets, recorder, &begin);
    copy_own(g, own, around);
    for (int r = 0; r < ranks && status == WEFT_SUCCESS; r++) unpack_from(g, r, around);
    weft_record(recorder, WEFT_PHASE_UNPACK, WEFT_NO_PARTNER, begin);
    return status;
}
