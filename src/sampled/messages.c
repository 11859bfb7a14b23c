/*
 * The samples that ranks send each other: of each level of its tree a rank sends to each other one
 * the lattice points that interpolation needs in the points of that rank's box which the level
 * serves. Both find the list of them from the boxes, so nothing but values travels.
 */
#include "sampled/sampled.h"

#include "plan/agreement.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>

static const int64_t every_point[WEFT_TREE_AXES] = {1, 1, 1};

/* The boxes of lattice points that travel for a shell. */
static int travelling(const weft_tree *tree, const weft_tree_shell *shell, weft_region *nodes,
                      weft_region parts[WEFT_TREE_PARTS]) {
    const weft_region idle = weft_tree_idle(tree, shell->level, &shell->outer, &shell->inner);
    *nodes = weft_tree_nodes(tree, shell->level, &shell->outer);
    if (weft_region_elements(&shell->outer) == 0) return 0;
    return weft_tree_subtract(nodes, &idle, parts);
}

/* Also finds the most nodes of a shell that this rank receives. */
static int64_t size_of(void *argument, int from, int to) {
    weft_sampled *s = argument;
    int64_t *most = &s->messages.most_nodes;
    const weft_tree tree = weft_sampled_tree(s, s->source[from].n);
    weft_region nodes, parts[WEFT_TREE_PARTS];
    weft_tree_shell shell;
    int64_t elements = 0;
    if (weft_region_elements(&s->source[from]) == 0) return 0;
    for (int i = 0;
         weft_tree_find_shell(&tree, s->source[from].lo, every_point, &s->target[to], i, &shell);
         i++) {
        const int count = travelling(&tree, &shell, &nodes, parts);
        const int64_t all = weft_region_elements(&nodes);
        for (int k = 0; k < count; k++) elements += weft_region_elements(&parts[k]);
        if (count > 0 && to == s->transport->rank && all > *most) *most = all;
    }
    return elements * s->made * s->parts;
}

weft_status weft_sample_messages_create(weft_sampled *s) {
    weft_sample_messages *m = &s->messages;
    weft_status status =
        weft_packets_create(s->transport, weft_number_bytes(s->convolved->problem.precision),
                            WEFT_SUCCESS, size_of, s, &m->packets);
    const int64_t scratch = m->most_nodes * s->made * s->parts;
    m->scratch = calloc((size_t)scratch + 1, sizeof *m->scratch);
    if (!m->scratch)
        weft_keep(&status, weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for %lld samples",
                                     (long long)scratch));
    s->bytes += weft_packets_bytes(&m->packets) + (size_t)scratch * sizeof *m->scratch;
    return status;
}

void weft_sample_messages_destroy(weft_sampled *s) {
    weft_packets_destroy(&s->messages.packets);
    free(s->messages.scratch);
}

/* ---- running ---- */

static void put(const double *from, int64_t count, bool single, void *message, int64_t at) {
    if (!single) {
        memcpy((double *)message + at, from, (size_t)count * sizeof *from);
        return;
    }
    for (int64_t i = 0; i < count; i++) ((float *)message)[at + i] = (float)from[i];
}

static void take(const void *message, int64_t at, int64_t count, bool single, double *to) {
    if (!single) {
        memcpy(to, (const double *)message + at, (size_t)count * sizeof *to);
        return;
    }
    for (int64_t i = 0; i < count; i++) to[i] = ((const float *)message)[at + i];
}

/* Packs a box of lattice points of this rank's tree; returns where the next one goes. */
static int64_t pack(const weft_sampled *s, int level, const weft_region *nodes, int64_t at) {
    const weft_tree_level *l = &s->tree.level[level];
    const bool single = s->convolved->problem.precision == WEFT_SINGLE;
    int64_t first[WEFT_TREE_AXES];
    for (int a = 0; a < WEFT_TREE_AXES; a++)
        first[a] =
            nodes->lo[a] - weft_tree_first(&s->tree, level, a, s->source[s->transport->rank].lo[a]);
    for (int f = 0; f < s->made; f++)
        for (int64_t x = 0; x < nodes->n[0]; x++)
            for (int64_t y = 0; y < nodes->n[1]; y++) {
                const int64_t row =
                    (f * l->n[0] + weft_modulo(first[0] + x, l->period[0])) * l->n[1] +
                    weft_modulo(first[1] + y, l->period[1]);
                for (int64_t z = 0, run; z < nodes->n[2]; z += run, at += run * s->parts) {
                    const int64_t start = weft_modulo(first[2] + z, l->period[2]);
                    run = l->n[2] - start < nodes->n[2] - z ? l->n[2] - start : nodes->n[2] - z;
                    put(s->array.values[level] + (row * l->n[2] + start) * s->parts, run * s->parts,
                        single, s->messages.packets.out, at);
                }
            }
    return at;
}

static void pack_for(const weft_sampled *s, int to) {
    weft_region nodes, parts[WEFT_TREE_PARTS];
    weft_tree_shell shell;
    int64_t at = s->messages.packets.send[to].offset;
    if (s->messages.packets.send[to].count == 0) return;
    for (int i = 0; weft_tree_find_shell(&s->tree, s->source[s->transport->rank].lo, every_point,
                                         &s->target[to], i, &shell);
         i++) {
        const int count = travelling(&s->tree, &shell, &nodes, parts);
        for (int k = 0; k < count; k++) at = pack(s, shell.level, &parts[k], at);
    }
}

/* Unpacks a box of lattice points to its place among those of a shell. */
static int64_t unpack(const weft_sampled *s, const weft_region *part, const weft_region *nodes,
                      int64_t at) {
    const bool single = s->convolved->problem.precision == WEFT_SINGLE;
    const int64_t numbers = part->n[2] * s->parts;
    for (int f = 0; f < s->made; f++)
        for (int64_t x = 0; x < part->n[0]; x++)
            for (int64_t y = 0; y < part->n[1]; y++, at += numbers) {
                const int64_t row =
                    (f * nodes->n[0] + part->lo[0] - nodes->lo[0] + x) * nodes->n[1] + part->lo[1] -
                    nodes->lo[1] + y;
                take(s->messages.packets.in, at, numbers, single,
                     s->messages.scratch +
                         (row * nodes->n[2] + part->lo[2] - nodes->lo[2]) * s->parts);
            }
    return at;
}

static void add_from(const weft_sampled *s, int from) {
    const weft_region *target = &s->target[s->transport->rank];
    const weft_tree tree = weft_sampled_tree(s, s->source[from].n);
    weft_region nodes, parts[WEFT_TREE_PARTS];
    weft_tree_shell shell;
    int64_t at = s->messages.packets.receive[from].offset;
    if (s->messages.packets.receive[from].count == 0) return;
    for (int i = 0; weft_tree_find_shell(&tree, s->source[from].lo, every_point, target, i, &shell);
         i++) {
        weft_lattice lattice = {.value = s->messages.scratch};
        const int count = travelling(&tree, &shell, &nodes, parts);
        for (int k = 0; k < count; k++) at = unpack(s, &parts[k], &nodes, at);
        for (int a = 0; a < WEFT_TREE_AXES; a++) {
            lattice.lo[a] = nodes.lo[a];
            lattice.n[a] = lattice.period[a] = nodes.n[a];
        }
        if (count > 0)
            weft_interpolation_add_shell(s->interpolation, &tree, &shell, &lattice, every_point,
                                         target, s->array.sum);
    }
}

weft_status weft_sample_messages_run(weft_sampled *s, weft_recorder *recorder) {
    const int ranks = s->transport->size;
    if (ranks == 1) return WEFT_SUCCESS;
    double begin = weft_clock();
    for (int r = 0; r < ranks; r++) pack_for(s, r);
    begin = weft_record(recorder, WEFT_PHASE_PACK, WEFT_NO_PARTNER, begin);
    WEFT_TRY(weft_packets_exchange(&s->messages.packets, recorder, &begin));
    for (int r = 0; r < ranks; r++) add_from(s, r);
    weft_record(recorder, WEFT_PHASE_UNPACK, WEFT_NO_PARTNER, begin);
    return WEFT_SUCCESS;
}
