/* A problem, a strategy and the schedules that come of them, for the tests of schedules. */
#ifndef WEFT_TESTS_SCHEDULE_SETTING_H
#define WEFT_TESTS_SCHEDULE_SETTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "plan/planner.h"

#include <stdlib.h>
#include <string.h>

typedef struct setting {
    weft_call call;
    weft_planner planner;
    weft_candidate candidate;
    weft_chain chain;
    weft_schedule schedule;
} setting;

static inline setting *make(weft_kind kind, weft_decomposition decomposition, weft_variant variant,
                            weft_exchange method, int p1, int p2) {
    setting *s = calloc(1, sizeof *s);
    weft_problem problem = {.rank = 3, .n = {64, 48, 40}, .kind = kind};
    weft_options options = {.decomposition = decomposition, .grid = {p1, p2}};
    assert_int_equal(weft_call_read(&problem, &options, NULL, p1 * (p2 ? p2 : 1), &s->call),
                     WEFT_SUCCESS);
    s->planner = (weft_planner){.call = &s->call, .ranks = p1 * (p2 ? p2 : 1)};
    s->candidate = (weft_candidate){.decomposition = decomposition,
                                    .variant = variant,
                                    .grid_axes = p2 ? 2 : 1,
                                    .grid = {p1, p2}};
    for (int i = 0; i < WEFT_MAX_RANK; i++) s->candidate.exchange[i] = method;
    assert_int_equal(weft_planner_chain(&s->planner, &s->candidate, &s->chain), WEFT_SUCCESS);
    return s;
}

static inline void schedule(setting *s, int rank, weft_direction direction, bool in_place) {
    assert_int_equal(weft_planner_schedule(&s->planner, &s->candidate, &s->chain, rank, direction,
                                           in_place, (weft_held){0}, &s->schedule),
                     WEFT_SUCCESS);
}

static const weft_exchange methods[] = {WEFT_P2P_SYNC, WEFT_P2P_STREAMS, WEFT_P2P_TYPE,
                                        WEFT_A2A_SYNC, WEFT_A2A_TYPE,    WEFT_NCCL,
                                        WEFT_PEER};

#define EACH(table, name) for (size_t name = 0; name < sizeof(table) / sizeof((table)[0]); name++)

/* The engine of the host that takes pieces. */
static inline void let_transforms_take_pieces(setting *s) {
    s->candidate.engine = weft_engine_find(WEFT_ENGINE_NATIVE);
    s->candidate.device = weft_device_find(WEFT_HOST);
}

/* Number `number` of a kind; NULL: there are not so many. */
static inline const weft_step *step_of(const weft_schedule *schedule, weft_step_kind kind,
                                       int number) {
    for (int k = 0; k < schedule->steps; k++)
        if (schedule->step[k].kind == kind && number-- == 0) return &schedule->step[k];
    return NULL;
}

static inline const weft_exchange_step *exchange_of(const weft_schedule *schedule, int number) {
    return &step_of(schedule, WEFT_STEP_EXCHANGE, number)->as.exchange;
}

static inline const weft_fft_step *fft_of(const weft_schedule *schedule, int number) {
    return &step_of(schedule, WEFT_STEP_FFT, number)->as.fft;
}

static inline bool is_read_by_partners(const weft_exchange_step *x) {
    return x->method->carrier == WEFT_CARRIED_BY_READERS;
}

#endif
