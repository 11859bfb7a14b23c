/*
 * Command line, input and signature of a benchmark case: see case.h.
 */
#include "case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] = "usage: %s --shape N0xN1xN2 [--kind r2c|c2c] [--effort "
                            "estimate|measure|patient] [--iterations N]\n"
                            "          [--together N] [CONFIG ...]\n"
                            "CONFIG: words joined by ':', e.g. "
                            "pencil:2x2:realigned:p2p-streams+a2a-sync, slab-2d1d:natural, auto\n";

static int one_of(const char *word, const char *const *names, int count) {
    for (int i = 0; i < count; i++) {
        if (strcmp(word, names[i]) == 0) return i;
    }
    return -1;
}

/* Takes one flag and its value; returns whether both are understood. */
static int take_flag(bench_case *c, const char *flag, const char *value) {
    static const char *const kinds[] = {"c2c", "r2c"};
    static const char *const efforts[] = {"estimate", "measure", "patient"};
    int choice = 0;
    char rest;
    if (strcmp(flag, "--shape") == 0) {
        long long n[3];
        if (sscanf(value, "%lldx%lldx%lld%c", &n[0], &n[1], &n[2], &rest) != 3) return 0;
        for (int a = 0; a < 3; a++) c->n[a] = n[a];
    } else if (strcmp(flag, "--kind") == 0) {
        choice = one_of(value, kinds, 2);
        c->kind = choice == 1 ? WEFT_R2C : WEFT_C2C;
    } else if (strcmp(flag, "--effort") == 0) {
        choice = one_of(value, efforts, 3);
        c->effort = (weft_effort)choice;
    } else if (strcmp(flag, "--iterations") == 0) {
        c->iterations = atoi(value);
    } else if (strcmp(flag, "--together") == 0) {
        c->together = atoi(value);
    } else {
        return 0;
    }
    return choice >= 0;
}

int bench_case_read(int argc, char **argv, bench_case *c) {
    *c = (bench_case){.kind = WEFT_R2C, .effort = WEFT_MEASURE, .iterations = 10, .together = 8};
    MPI_Comm_rank(MPI_COMM_WORLD, &c->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &c->ranks);
    int valid = 1;
    for (int i = 1; i < argc && valid; i++) {
        if (strncmp(argv[i], "--", 2) == 0) {
            valid = i + 1 < argc && take_flag(c, argv[i], argv[i + 1]);
            i++;
        } else if (c->configs < BENCH_CONFIGS) {
            c->config[c->configs++] = argv[i];
        }
    }
    valid =
        valid && c->n[0] > 0 && c->n[1] > 0 && c->n[2] > 0 && c->iterations > 0 && c->together > 0;
    if (!valid && c->rank == 0) fprintf(stderr, usage, argv[0]);
    return valid ? 0 : 2;
}

int64_t bench_last(const bench_case *c) {
    return c->kind == WEFT_R2C ? c->n[2] / 2 + 1 : c->n[2];
}

/* A number in [-0.5, 0.5) for every index: a 64-bit mix (Steele, Lea, Flood 2014, SplitMix64). */
static double noise(uint64_t index) {
    uint64_t z = (index + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53 - 0.5;
}

/* The global index, the same in every memory order, of local element (i, j, k) of a share. */
static uint64_t global_index(const bench_share *s, int64_t i, int64_t j, int64_t k) {
    int64_t at[3];
    at[s->order[0]] = i + s->lo[s->order[0]];
    at[s->order[1]] = j + s->lo[s->order[1]];
    at[s->order[2]] = k + s->lo[s->order[2]];
    return (uint64_t)((at[0] << 42) + (at[1] << 21) + at[2]);
}

void bench_fill(const bench_case *c, const bench_share *s, void *in) {
    double *value = in;
    int64_t n0 = s->n[s->order[0]], n1 = s->n[s->order[1]], n2 = s->n[s->order[2]];
    for (int64_t i = 0; i < n0; i++) {
        for (int64_t j = 0; j < n1; j++) {
            for (int64_t k = 0; k < n2; k++) {
                int64_t to = (i * n1 + j) * s->pitch + k;
                uint64_t index = global_index(s, i, j, k);
                if (c->kind == WEFT_R2C) {
                    value[to] = noise(index);
                } else {
                    value[2 * to] = noise(index);
                    value[2 * to + 1] = noise(~index);
                }
            }
        }
    }
}

bench_signature bench_sign(const bench_share *s, const void *out) {
    const double *value = out;
    double sum[3] = {0};
    int64_t n0 = s->n[s->order[0]], n1 = s->n[s->order[1]], n2 = s->n[s->order[2]];
    for (int64_t i = 0; i < n0; i++) {
        for (int64_t j = 0; j < n1; j++) {
            const double *row = value + 2 * (i * n1 + j) * s->pitch;
            for (int64_t k = 0; k < n2; k++) {
                double weight = noise(global_index(s, i, j, k));
                sum[0] += row[2 * k] * row[2 * k] + row[2 * k + 1] * row[2 * k + 1];
                sum[1] += row[2 * k] * weight;
                sum[2] += row[2 * k + 1] * weight;
            }
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, sum, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return (bench_signature){.power = sum[0], .weighted = {sum[1], sum[2]}};
}

int bench_agree(const bench_signature *a, const bench_signature *b) {
    double scale = sqrt(a->power); /* random weights: the sums are of this size */
    return fabs(a->power - b->power) <= 1e-9 * a->power &&
           fabs(a->weighted[0] - b->weighted[0]) <= 1e-9 * scale &&
           fabs(a->weighted[1] - b->weighted[1]) <= 1e-9 * scale;
}
