/* Kinds that need no geometry: a voxel's place alone tells its label. Laminates, checkerboards, and
 * random voxels. */
#include "microstructure/kind.h"
#include "microstructure/random.h"
#include "support/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WRONG(...) weft_fail(WEFT_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

/* Shares of `total` by the fractions, which must sum to 1 but for what decimals leave open: phase p
 * has what is before end[p] and not before end[p - 1]. */
static weft_status share_out(const microstructure_request *r, double total,
                             double end[MICROSTRUCTURE_FRACTIONS]) {
    double sum = 0;
    if (r->fractions < 1)
        return WRONG("give the phases' --fractions, such as 0.1,0.9; they sum to 1");
    for (int p = 0; p < r->fractions; p++) {
        sum += r->fraction[p];
        end[p] = sum;
    }
    if (sum < 0.999999 || sum > 1.000001)
        return WRONG("--fractions: they sum to %g; give fractions that sum to 1", sum);
    for (int p = 0; p < r->fractions; p++) end[p] *= total / sum;
    end[r->fractions - 1] = total;
    return WEFT_SUCCESS;
}

static uint16_t phase_of(const microstructure_request *r, const double *end, double place) {
    int phase = 0;
    while (phase < r->fractions - 1 && place >= end[phase]) phase++;
    return (uint16_t)phase;
}

/* ---- laminate: layers normal to an axis, one behind the other, `periods` times ---- */

typedef struct laminate {
    double end[MICROSTRUCTURE_FRACTIONS]; /* in voxels, times periods */
} laminate;

static weft_status make_laminate(microstructure *made) {
    microstructure_request *r = &made->request;
    const int64_t n = r->n[r->axis];
    if (!(r->given & MICROSTRUCTURE_HAS_PERIODS)) r->periods = 1;
    laminate *state = malloc(sizeof *state);
    if (state == NULL) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for layers");
    made->state = state;
    WEFT_TRY(share_out(r, (double)n, state->end));
    if (r->periods > n / r->fractions)
        return WRONG(
            "--periods %lld: axis %d has %lld voxels, fewer than %lld times %d layers; ask "
            "for fewer",
            (long long)r->periods, r->axis, (long long)n, (long long)r->periods, r->fractions);
    made->labels = r->fractions;
    snprintf(made->note, sizeof made->note, "%lld layers normal to axis %d",
             (long long)(r->periods * r->fractions), r->axis);
    return WEFT_SUCCESS;
}

/* The centre of voxel i lies at (i + 1/2) periods / n periods. Twice n of that modulo 2 n is a
 * whole number, so nothing is rounded before the comparison. */
static bool fill_laminate(const microstructure *made, const microstructure_box *block,
                          uint16_t *labels) {
    const microstructure_request *r = &made->request;
    const laminate *state = made->state;
    const int64_t n = r->n[r->axis];
    uint16_t layer[MICROSTRUCTURE_BLOCK];
    for (int64_t i = 0; i < block->n[r->axis]; i++) {
        const int64_t twice = (2 * (block->lo[r->axis] + i) + 1) % (2 * n) * r->periods % (2 * n);
        layer[i] = phase_of(r, state->end, 0.5 * (double)twice);
    }
    int64_t index[3];
    for (index[0] = 0; index[0] < block->n[0]; index[0]++)
        for (index[1] = 0; index[1] < block->n[1]; index[1]++)
            for (index[2] = 0; index[2] < block->n[2]; index[2]++)
                *labels++ = layer[index[r->axis]];
    return true;
}

const microstructure_maker microstructure_laminate = {
    .kind = {"laminate",
             MICROSTRUCTURE_HAS_AXIS | MICROSTRUCTURE_HAS_FRACTIONS | MICROSTRUCTURE_HAS_PERIODS},
    .make = make_laminate,
    .fill = fill_laminate,
    .release = free,
};

/* ---- checkerboard: cells of two phases, along all axes or all but one ---- */

static bool alternates(const microstructure_request *r, int axis) {
    const bool constant = (r->given & MICROSTRUCTURE_HAS_AXIS) && axis == r->axis;
    return r->n[axis] > 1 && !constant;
}

static weft_status make_checkerboard(microstructure *made) {
    const microstructure_request *r = &made->request;
    int axes = 0;
    if (!(r->given & MICROSTRUCTURE_HAS_CELL))
        return WRONG("checkerboard: give the edge of a --cell");
    for (int a = 0; a < 3; a++) {
        if (!alternates(r, a)) continue;
        axes++;
        if (r->cell > r->n[a] / 2 || r->n[a] % (2 * r->cell) != 0)
            return WRONG("--cell %lld: axis %d has %lld voxels, which are not pairs of such cells, "
                         "as a periodic board needs; give an edge so that twice it divides %lld",
                         (long long)r->cell, a, (long long)r->n[a], (long long)r->n[a]);
    }
    if (axes == 0) return WRONG("checkerboard: no axis is left along which cells alternate");
    made->labels = 2;
    snprintf(made->note, sizeof made->note, "cells of edge %lld along %d ax%s", (long long)r->cell,
             axes, axes > 1 ? "es" : "is");
    return WEFT_SUCCESS;
}

static bool fill_checkerboard(const microstructure *made, const microstructure_box *block,
                              uint16_t *labels) {
    const microstructure_request *r = &made->request;
    uint16_t parity[3][MICROSTRUCTURE_BLOCK];
    for (int a = 0; a < 3; a++)
        for (int64_t i = 0; i < block->n[a]; i++)
            parity[a][i] = (uint16_t)(alternates(r, a) ? (block->lo[a] + i) / r->cell % 2 : 0);
    for (int64_t i = 0; i < block->n[0]; i++)
        for (int64_t j = 0; j < block->n[1]; j++)
            for (int64_t k = 0; k < block->n[2]; k++)
                *labels++ = parity[0][i] ^ parity[1][j] ^ parity[2][k];
    return true;
}

const microstructure_maker microstructure_checkerboard = {
    .kind = {"checkerboard", MICROSTRUCTURE_HAS_AXIS | MICROSTRUCTURE_HAS_CELL},
    .make = make_checkerboard,
    .fill = fill_checkerboard,
};

/* ---- voxels: each voxel by itself, with exactly the fractions ---- */

/* A permutation of 0 to `voxels` - 1, which the seed chooses: the voxels that it takes to the first
 * numbers have the first phase. It is a Feistel network on numbers of twice `bits` bits, repeated
 * until the number is one of the voxels (Black and Rogaway, "Ciphers with arbitrary finite
 * domains", CT-RSA 2002). */
typedef struct shuffle {
    uint64_t voxels, mask;
    int bits;
    uint64_t key[6];
    double end[MICROSTRUCTURE_FRACTIONS];
} shuffle;

static weft_status make_voxels(microstructure *made) {
    const microstructure_request *r = &made->request;
    uint64_t random = random_stream(r->seed, RANDOM_VOXELS);
    shuffle *state = calloc(1, sizeof *state);
    if (state == NULL) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for voxels");
    made->state = state;
    state->voxels = (uint64_t)(r->n[0] * r->n[1] * r->n[2]);
    WEFT_TRY(share_out(r, (double)state->voxels, state->end));
    for (int p = 0; p < r->fractions; p++) state->end[p] = (double)(int64_t)(state->end[p] + 0.5);
    state->bits = 1;
    while (state->bits < 31 && UINT64_C(1) << (2 * state->bits) < state->voxels) state->bits++;
    state->mask = (UINT64_C(1) << state->bits) - 1;
    for (size_t k = 0; k < sizeof state->key / sizeof *state->key; k++)
        state->key[k] = random_next(&random);
    made->labels = r->fractions;
    snprintf(made->note, sizeof made->note, "random voxels");
    return WEFT_SUCCESS;
}

static uint64_t permute(const shuffle *s, uint64_t number) {
    do {
        uint64_t left = number >> s->bits, right = number & s->mask;
        for (size_t k = 0; k < sizeof s->key / sizeof *s->key; k++) {
            const uint64_t mixed = left ^ (random_mix(right + s->key[k]) & s->mask);
            left = right;
            right = mixed;
        }
        number = left << s->bits | right;
    } while (number >= s->voxels);
    return number;
}

static bool fill_voxels(const microstructure *made, const microstructure_box *block,
                        uint16_t *labels) {
    const microstructure_request *r = &made->request;
    const shuffle *s = made->state;
    for (int64_t i = 0; i < block->n[0]; i++) {
        for (int64_t j = 0; j < block->n[1]; j++) {
            const int64_t row = (block->lo[0] + i) * r->n[1] + block->lo[1] + j;
            const int64_t first = row * r->n[2] + block->lo[2];
            for (int64_t k = 0; k < block->n[2]; k++)
                *labels++ = phase_of(r, s->end, (double)permute(s, (uint64_t)(first + k)));
        }
    }
    return true;
}

const microstructure_maker microstructure_voxels = {
    .kind = {"voxels", MICROSTRUCTURE_HAS_FRACTIONS | MICROSTRUCTURE_HAS_SEED},
    .make = make_voxels,
    .fill = fill_voxels,
    .release = free,
};
