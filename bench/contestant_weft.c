/*
 * weft as a contestant: a configuration in words becomes options, and a plan.
 */
#include "contestant.h"

#include <stdlib.h>
#include <string.h>

static int read_exchanges(char *word, weft_options *options) {
    int count = 0;
    char *rest = NULL;
    for (char *name = strtok_r(word, "+", &rest); name; name = strtok_r(NULL, "+", &rest)) {
        int found = 0;
        for (int e = WEFT_P2P_SYNC; e <= WEFT_PEER; e++) {
            if (strcmp(name, weft_exchange_name((weft_exchange)e)) != 0) continue;
            options->exchange[count] = (weft_exchange)e;
            found = 1;
        }
        if (!found || ++count == WEFT_MAX_RANK) return 0;
    }
    return count > 0;
}

static int read_word(char *word, weft_options *options, int *natural) {
    char rest;
    if (strcmp(word, "auto") == 0) return 1;
    if (strcmp(word, "natural") == 0) return *natural = 1;
    for (int d = WEFT_SLAB_2D1D; d <= WEFT_BRICK; d++) {
        if (strcmp(word, weft_decomposition_name((weft_decomposition)d)) != 0) continue;
        options->decomposition = (weft_decomposition)d;
        return 1;
    }
    for (int v = WEFT_DEFAULT; v <= WEFT_REALIGNED; v++) {
        if (strcmp(word, weft_variant_name((weft_variant)v)) != 0) continue;
        options->variant = (weft_variant)v;
        return 1;
    }
    for (int e = WEFT_ENGINE_NATIVE; e <= WEFT_ENGINE_REFERENCE; e++) {
        if (strcmp(word, weft_engine_name((weft_engine)e)) != 0) continue;
        options->engine = (weft_engine)e;
        return 1;
    }
    if (sscanf(word, "%dx%d%c", &options->grid[0], &options->grid[1], &rest) == 2) return 1;
    return read_exchanges(word, options);
}

int contestant_weft_options(const char *config, weft_options *options, int *natural) {
    char copy[96], *rest = NULL;
    *natural = 0;
    if (strlen(config) >= sizeof copy) return 0;
    strcpy(copy, config);
    for (char *word = strtok_r(copy, ":", &rest); word; word = strtok_r(NULL, ":", &rest)) {
        if (!read_word(word, options, natural)) return 0;
    }
    return 1;
}

static void run(contestant *self, void *in, void *out) {
    if (weft_execute(self->state, WEFT_FORWARD, in, out) == WEFT_SUCCESS) return;
    fprintf(stderr, "weft %s: %s\n", self->config, weft_last_error(NULL));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void close_plan(contestant *self) {
    weft_plan plan = self->state;
    weft_plan_destroy(&plan);
}

/* The result split along axis 0 as the input is: what FFTW-MPI calls natural order. */
static weft_brick natural_brick(const bench_case *c) {
    int64_t share = c->n[0] / c->ranks, more = c->n[0] % c->ranks;
    weft_brick brick = {.box = {.n = {share + (c->rank < more), c->n[1], bench_last(c)}}};
    brick.box.lo[0] = share * c->rank + (c->rank < more ? c->rank : more);
    for (int a = 3; a < WEFT_MAX_RANK; a++) brick.box.n[a] = 1;
    return brick;
}

static bench_share share_of(weft_plan plan, weft_space space, int rank) {
    weft_box box;
    weft_plan_box(plan, space, rank, &box);
    return (bench_share){.lo = {box.lo[0], box.lo[1], box.lo[2]},
                         .n = {box.n[0], box.n[1], box.n[2]},
                         .order = {0, 1, 2},
                         .pitch = box.n[2]};
}

int contestant_weft_open(const bench_case *c, weft_context ctx, const char *config,
                         contestant *self) {
    weft_options options = {.effort = c->effort};
    int natural = 0;
    if (!contestant_weft_options(config, &options, &natural)) {
        if (c->rank == 0) fprintf(stderr, "weft %s: a word means nothing\n", config);
        return 0;
    }
    weft_brick output = natural_brick(c);
    weft_problem problem = {.rank = 3,
                            .n = {c->n[0], c->n[1], c->n[2]},
                            .kind = c->kind,
                            .output = natural ? &output : NULL};
    weft_plan plan = NULL;
    if (weft_plan_create(ctx, &problem, &options, &plan) != WEFT_SUCCESS) {
        if (c->rank == 0) fprintf(stderr, "weft %s: %s\n", config, weft_last_error(ctx));
        return 0;
    }
    *self = (contestant){.library = "weft", .run = run, .close = close_plan, .state = plan};
    snprintf(self->version, sizeof self->version, "%s", weft_version());
    snprintf(self->config, sizeof self->config, "%s", config);
    weft_plan_bytes(plan, WEFT_INPUT, &self->in_bytes);
    weft_plan_bytes(plan, WEFT_OUTPUT, &self->out_bytes);
    self->in = share_of(plan, WEFT_INPUT, c->rank);
    self->out = share_of(plan, WEFT_OUTPUT, c->rank);
    return 1;
}
