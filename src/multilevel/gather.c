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

static int64_t count_numbers(const weft_gathering *g, int from, int to) {
    weft_region part;
    int64_t points = 0;
    if (from == to) return 0;
    for (int64_t i = 0; find_part(g, &g->boxes[from].own, &g->boxes[to].around, i, &part); i++)
        points += weft_region_elements(&part);
    return points * g->numbers;
}

static size_t number_bytes(const weft_gathering *g) {
    return g->single ? sizeof(float) : sizeof(double);
}

static weft_status allocate(weft_gathering *g) {
    g->out = malloc((size_t)g->sent * number_bytes(g) + 1);
    g->in = malloc((size_t)g->received * number_bytes(g) + 1);
    if (g->out && g->in) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for messages of %lld numbers",
                     (long long)(g->sent + g->received));
}

weft_status weft_gathering_create(weft_transport *transport, bool single, int fields, int parts,
                                  const int64_t *period, weft_lattice_boxes *boxes,
                                  weft_gathering *g) {
    const int ranks = transport->size, rank = transport->rank;
    weft_status status = WEFT_SUCCESS;
    *g = (weft_gathering){.transport = transport,
                          .single = single,
                          .numbers = fields * parts,
                          .fields = fields,
                          .boxes = boxes};
    memcpy(g->period, period, sizeof g->period);
    g->send = calloc((size_t)ranks, sizeof *g->send);
    g->receive = calloc((size_t)ranks, sizeof *g->receive);
    if (!boxes || !g->send || !g->receive)
        status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a list of messages");
    for (int r = 0; r < ranks && status == WEFT_SUCCESS; r++) {
        g->send[r] = (weft_run){g->sent, count_numbers(g, rank, r)};
        g->receive[r] = (weft_run){g->received, count_numbers(g, r, rank)};
        g->sent += g->send[r].count;
        g->received += g->receive[r].count;
        g->messages += g->send[r].count > 0;
    }
    if (status == WEFT_SUCCESS) status = allocate(g);
    if (ranks == 1) return status;
    const bool well = status == WEFT_SUCCESS;
    weft_keep(&status, transport->ops->alltoall_create(transport, well ? g->send : NULL,
                                                       well ? g->receive : NULL, number_bytes(g),
                                                       &g->alltoall));
    return status;
}

void weft_gathering_destroy(weft_gathering *g) {
    if (g->alltoall) g->transport->ops->alltoall_destroy(g->transport, g->alltoall);
    free(g->boxes);
    free(g->send);
    free(g->receive);
    free(g->out);
    free(g->in);
    *g = (weft_gathering){.transport = NULL};
}

size_t weft_gathering_bytes(const weft_gathering *g) {
    return (size_t)(g->sent + g->received) * number_bytes(g);
}

/* ---- running ---- */

/* Copies numbers between the message at `at` and a row of an array. */
static void move_row(const weft_gathering *g, bool pack, int64_t at, int64_t count, double *row) {
    double *wide = pack ? g->out : g->in;
    float *narrow = pack ? g->out : g->in;
    if (!g->single && pack)
        memcpy(wide + at, row, (size_t)count * sizeof *row);
    else if (!g->single)
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
    const weft_region *mine = &g->boxes[g->transport->rank].own;
    const weft_region *box = &g->boxes[to].around;
    weft_region part;
    int64_t at = g->send[to].offset;
    if (g->send[to].count == 0) return;
    for (int64_t i = 0; find_part(g, mine, box, i, &part); i++) {
        if (weft_region_elements(&part) == 0) continue;
        /* In coordinates of the period that the rank's own box lies in. */
        for (int a = 0; a < WEFT_LATTICE_AXES; a++)
            part.lo[a] -= floor_of(part.lo[a], g->period[a]) * g->period[a];
        at = move_part(g, true, &part, mine, at, (double *)(uintptr_t)own);
    }
}

static void unpack_from(const weft_gathering *g, int from, double *around) {
    const weft_region *box = &g->boxes[g->transport->rank].around;
    weft_region part;
    int64_t at = g->receive[from].offset;
    if (g->receive[from].count == 0) return;
    for (int64_t i = 0; find_part(g, &g->boxes[from].own, box, i, &part); i++)
        if (weft_region_elements(&part) > 0) at = move_part(g, false, &part, box, at, around);
}

static void copy_own(const weft_gathering *g, const double *own, double *around) {
    const weft_lattice_boxes *b = &g->boxes[g->transport->rank];
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
    const int ranks = g->transport->size;
    weft_status status = WEFT_SUCCESS;
    double begin = weft_clock();
    for (int r = 0; r < ranks; r++) pack_for(g, r, own);
    begin = weft_record(recorder, WEFT_PHASE_PACK, WEFT_NO_PARTNER, begin);
    if (ranks > 1) {
        status = g->transport->ops->alltoall(g->transport, g->alltoall, g->out, g->in);
        begin = weft_record(recorder, WEFT_PHASE_EXCHANGE, WEFT_NO_PARTNER, begin);
    }
    copy_own(g, own, around);
    for (int r = 0; r < ranks && status == WEFT_SUCCESS; r++) unpack_from(g, r, around);
    weft_record(recorder, WEFT_PHASE_UNPACK, WEFT_NO_PARTNER, begin);
    recorder->timings.bytes_sent += g->sent * (int64_t)number_bytes(g);
    recorder->timings.messages_sent += g->messages;
    return status;
}
