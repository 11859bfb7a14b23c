/*
 * Ticks: as seconds they are those of the system's clock, whatever counts them and whichever thread
 * reads them; and so are the timings of an execution that counts nothing else.
 */
#include "exec/plan.h"
#include "one_context.h"
#include "support/clock.h"
#include "support/recorder.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TICKERS = 2, THREADS = 4, READINGS = 20000, TRIES = 200 };

/* What this machine has; and what stands in for it where the processor has no steady counter. */
static void find_tickers(weft_ticker ticker[TICKERS]) {
    ticker[0] = weft_ticker_find();
    ticker[1] = WEFT_TICKER_SYSTEM;
}

static void sleep_for(double seconds) {
    const struct timespec pause = {0, (long)(seconds * 1e9)};
    nanosleep(&pause, NULL);
}

/* Whether ticks and the system's clock agree on some 50 ms. Now and then something else has the
 * core between the readings of the two: then another time. */
static bool agrees_with_the_system(weft_ticker ticker) {
    for (int i = 0; i < TRIES; i++) {
        const double begin = weft_clock();
        const uint64_t first = weft_ticks(ticker);
        sleep_for(0.05);
        const double seconds = weft_clock() - begin;
        const double counted = weft_ticks_seconds(ticker, weft_ticks(ticker) - first);
        if (fabs(counted - seconds) <= 1e-3 * seconds) return true;
    }
    return false;
}

static void seconds_are_those_of_the_system(void **state) {
    (void)state;
    weft_ticker ticker[TICKERS];
    find_tickers(ticker);
    for (int t = 0; t < TICKERS; t++) assert_true(agrees_with_the_system(ticker[t]));
}

/* ---- several threads ---- */

typedef struct reader {
    weft_ticker ticker;
    _Atomic uint64_t *latest; /* that any thread has read */
    uint64_t early; /* the most ticks that a later reading of another thread was less by */
    bool backwards; /* a later one of this thread was less */
    bool agrees;
} reader;

static void *read_ticks(void *argument) {
    reader *r = argument;
    uint64_t before = 0;
    for (int i = 0; i < READINGS; i++) {
        const uint64_t seen = atomic_load(r->latest), now = weft_ticks(r->ticker);
        if (now < before) r->backwards = true;
        if (now < seen && seen - now > r->early) r->early = seen - now;
        before = now;
        atomic_store(r->latest, now);
    }
    r->agrees = agrees_with_the_system(r->ticker);
    return NULL;
}

/* The processor may read its counter while the load before is still on its way, some us at worst.
 */
static void ticks_grow_from_thread_to_thread(void **state) {
    (void)state;
    weft_ticker ticker[TICKERS];
    find_tickers(ticker);
    for (int t = 0; t < TICKERS; t++) {
        _Atomic uint64_t latest = 0;
        pthread_t thread[THREADS];
        reader r[THREADS];
        for (int i = 0; i < THREADS; i++) {
            r[i] = (reader){.ticker = ticker[t], .latest = &latest};
            assert_int_equal(pthread_create(&thread[i], NULL, read_ticks, &r[i]), 0);
        }
        for (int i = 0; i < THREADS; i++) {
            pthread_join(thread[i], NULL);
            assert_false(r[i].backwards);
            assert_true(weft_ticks_seconds(ticker[t], r[i].early) < 5e-5);
            assert_true(r[i].agrees);
        }
    }
}

/* ---- executions ---- */

static void an_execution_begun_after_a_single_one_tells_its_own_sums(void **state) {
    (void)state;
    weft_recorder r = {.ticker = weft_ticker_find()};
    weft_record_single(&r, weft_ticks(r.ticker));
    weft_recorder_start(&r);
    const double begin = weft_clock();
    sleep_for(0.002);
    weft_record(&r, WEFT_PHASE_LOCAL, WEFT_NO_PARTNER, begin);
    weft_timings t = weft_recorder_timings(&r);
    assert_true(t.local >= 0.002 && t.fft == 0);
    weft_record_single(&r, weft_ticks(r.ticker));
    t = weft_recorder_timings(&r);
    assert_true(t.local == 0 && t.fft == t.total && t.total < 0.002);
}

/* Whether the timings of a call are those seen from outside of it: a call takes longer from there,
 * and, unless something else has had the core, not by much. What is outside of the two readings
 * takes some microseconds where a sanitizer watches it. */
static bool tells_its_time(weft_plan plan, const void *in, void *out) {
    const double outside = 1e-5;
    for (int i = 0; i < TRIES; i++) {
        weft_timings t;
        const double begin = weft_clock();
        assert_int_equal(weft_execute(plan, WEFT_FORWARD, in, out), WEFT_SUCCESS);
        const double seconds = weft_clock() - begin;
        assert_int_equal(weft_plan_timings(plan, &t), WEFT_SUCCESS);
        assert_true(t.total <= seconds * 1.001 + 1e-6);
        assert_true(t.fft == t.total && t.local == 0 && t.copy == 0 && t.messages_sent == 0);
        if (t.total >= seconds * 0.99 - outside) return true;
    }
    return false;
}

static void a_call_that_is_one_transform_tells_its_time(void **state) {
    (void)state;
    static const int64_t lengths[] = {2, 64, 1 << 16};
    weft_ticker ticker[TICKERS];
    find_tickers(ticker);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        const weft_problem problem = {.rank = 1, .n = {lengths[i]}, .kind = WEFT_C2C};
        const size_t bytes = (size_t)lengths[i] * 2 * sizeof(double);
        void *in = calloc(1, bytes), *out = calloc(1, bytes);
        weft_plan plan = NULL;
        assert_true(in && out);
        assert_int_equal(weft_plan_create(ctx, &problem, NULL, &plan), WEFT_SUCCESS);
        assert_non_null(plan->arguments[WEFT_FORWARD].single[0]);
        assert_non_null(plan->arguments[WEFT_INVERSE].single[1]);
        for (int t = 0; t < TICKERS; t++) {
            plan->recorder.ticker = ticker[t];
            assert_true(tells_its_time(plan, in, out));
        }
        weft_plan_destroy(&plan);
        free(in);
        free(out);
    }
}

/* Of calls that take little longer than reading the clock one in 16 is timed, of others each. */
static void of_brief_calls_some_are_timed(void **state) {
    (void)state;
    enum { CALLS = 40, FOR_EACH_TIMED = 16 };
    static const int64_t lengths[] = {64, 1024, 1025};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        const weft_problem problem = {.rank = 1, .n = {lengths[i]}, .kind = WEFT_C2C};
        static double in[2 * 1025], out[2 * 1025];
        weft_plan plan = NULL;
        assert_int_equal(weft_plan_create(ctx, &problem, NULL, &plan), WEFT_SUCCESS);
        for (int call = 0; call < CALLS; call++) {
            const bool timed = lengths[i] > 1024 || call % FOR_EACH_TIMED == 0;
            plan->recorder.ticks = UINT64_MAX;
            assert_int_equal(weft_execute(plan, WEFT_FORWARD, in, out), WEFT_SUCCESS);
            assert_int_equal(plan->recorder.ticks != UINT64_MAX, timed);
            plan->recorder.ticks = UINT64_MAX;
            assert_int_equal(weft_execute(plan, WEFT_INVERSE, out, out), WEFT_SUCCESS);
            assert_int_equal(plan->recorder.ticks != UINT64_MAX, timed);
        }
        for (int call = 0; call < CALLS; call++) { /* who asks is told */
            weft_timings t;
            assert_int_equal(weft_plan_timings(plan, &t), WEFT_SUCCESS);
            plan->recorder.ticks = UINT64_MAX;
            assert_int_equal(weft_execute(plan, WEFT_FORWARD, in, out), WEFT_SUCCESS);
            assert_true(plan->recorder.ticks != UINT64_MAX);
        }
        weft_plan_destroy(&plan);
    }
}

/* Those that are not timed take another way to the transform. */
static void calls_that_are_not_timed_give_the_same_bits(void **state) {
    (void)state;
    enum { LONGEST = 1000, CALLS = 20 };
    static const int64_t lengths[] = {1, 2, 15, 16, 17, 31, 64, 128, 200, LONGEST};
    static double in[2 * LONGEST + 2], out[2 * LONGEST + 2], first[2 * LONGEST + 2];
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        for (int variant = 0; variant < 12; variant++) {
            const weft_direction direction = variant % 2 ? WEFT_INVERSE : WEFT_FORWARD;
            const weft_problem problem = {.rank = 1,
                                          .n = {lengths[i]},
                                          .kind = variant / 2 % 2 ? WEFT_R2C : WEFT_C2C,
                                          .precision = variant / 4 == 1 ? WEFT_SINGLE : WEFT_DOUBLE,
                                          .norm = WEFT_NORM_ORTHO};
            void *result = variant / 4 == 2 ? in : out; /* in place */
            weft_plan plan = NULL;
            assert_int_equal(weft_plan_create(ctx, &problem, NULL, &plan), WEFT_SUCCESS);
            for (int call = 0; call < CALLS; call++) {
                memset(out, 0x55, sizeof out);
                for (int k = 0; k < 2 * LONGEST + 2; k++) in[k] = cos(k * k);
                assert_int_equal(weft_execute(plan, direction, in, result), WEFT_SUCCESS);
                if (call == 0) memcpy(first, result, sizeof first);
                assert_memory_equal(first, result, sizeof first);
            }
            weft_plan_destroy(&plan);
        }
}

static void a_traced_call_of_one_transform_has_its_span(void **state) {
    (void)state;
    const weft_problem problem = {.rank = 1, .n = {64}, .kind = WEFT_C2C};
    const weft_options options = {.trace = 1};
    static double in[128], out[128];
    const weft_span *span;
    int spans;
    weft_plan plan = NULL;
    assert_int_equal(weft_plan_create(ctx, &problem, &options, &plan), WEFT_SUCCESS);
    assert_int_equal(weft_execute(plan, WEFT_FORWARD, in, out), WEFT_SUCCESS);
    assert_int_equal(weft_plan_trace(plan, &span, &spans), WEFT_SUCCESS);
    assert_int_equal(spans, 1);
    assert_int_equal(span[0].phase, WEFT_PHASE_FFT);
    weft_plan_destroy(&plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seconds_are_those_of_the_system),
        cmocka_unit_test(ticks_grow_from_thread_to_thread),
        cmocka_unit_test(an_execution_begun_after_a_single_one_tells_its_own_sums),
        cmocka_unit_test(a_call_that_is_one_transform_tells_its_time),
        cmocka_unit_test(of_brief_calls_some_are_timed),
        cmocka_unit_test(calls_that_are_not_timed_give_the_same_bits),
        cmocka_unit_test(a_traced_call_of_one_transform_has_its_span),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
