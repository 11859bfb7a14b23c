/*
 * Whole plans with ranks as threads of one process: every exchange method on the host and on the
 * simulated device, with all their queues and sender threads in sight of the thread sanitizer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "exec/plan.h"
#include "support/error.h"
#include "thread_transport.h"

#include <complex.h>
#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const weft_exchange methods[] = {WEFT_P2P_SYNC, WEFT_P2P_STREAMS, WEFT_P2P_TYPE,
                                        WEFT_A2A_SYNC, WEFT_A2A_TYPE,    WEFT_PEER};

typedef struct setting {
    weft_problem problem;
    weft_options options;
    weft_status expected; /* of weft_plan_create */
    int threads_before;   /* threads of the process */
    pthread_mutex_t lock;
    int bad;
} setting;

static void count_bad(setting *s, bool bad) {
    pthread_mutex_lock(&s->lock);
    s->bad += bad;
    pthread_mutex_unlock(&s->lock);
}

/* A plane wave in, one spike out, and back. */
static double complex wave(const int64_t *n, int64_t x, int64_t y, int64_t z) {
    double turns = 2.0 * (double)x / (double)n[0] + 1.0 * (double)y / (double)n[1] +
                   1.0 * (double)z / (double)n[2];
    return cexp(6.283185307179586 * turns * I);
}

/* The spans of the calling thread add up to the phases, and all lie within the execution. */
static bool trace_agrees(weft_plan plan) {
    const weft_span *span;
    weft_timings t;
    int count;
    double fft = 0, unpack = 0, first = INFINITY, last = 0;
    if (weft_plan_trace(plan, &span, &count) != WEFT_SUCCESS) return false;
    if (weft_plan_timings(plan, &t) != WEFT_SUCCESS) return false;
    for (int i = 0; i < count; i++) {
        if (!(span[i].begin <= span[i].end)) return false;
        if (span[i].phase == WEFT_PHASE_FFT) fft += span[i].end - span[i].begin;
        if (span[i].phase == WEFT_PHASE_UNPACK) unpack += span[i].end - span[i].begin;
        first = fmin(first, span[i].begin);
        last = fmax(last, span[i].end);
    }
    bool messages = t.messages_sent == 0 || (0 < t.first_message && t.first_message < t.total);
    return count > 0 && messages && t.last_message <= t.total && last - first <= t.total &&
           fabs(fft - t.fft) < 1e-9 && fabs(unpack - t.unpack) < 1e-9;
}

static void one_rank(void *argument, weft_transport *transport) {
    setting *s = argument;
    weft_context ctx = NULL;
    weft_plan plan = NULL;
    weft_box box;
    size_t bytes[2];
    int rank = transport->rank;
    const int64_t *n = s->problem.n;
    weft_status status = weft_context_over_transport(transport, NULL, &ctx);
    if (status == WEFT_SUCCESS) status = weft_plan_create(ctx, &s->problem, &s->options, &plan);
    count_bad(s, status != WEFT_SUCCESS);
    if (status != WEFT_SUCCESS) {
        weft_context_destroy(&ctx);
        return;
    }
    weft_plan_box(plan, WEFT_INPUT, rank, &box);
    weft_plan_bytes(plan, WEFT_INPUT, &bytes[0]);
    weft_plan_bytes(plan, WEFT_OUTPUT, &bytes[1]);
    double complex *in = malloc(bytes[0] + 16), *out = malloc(bytes[1] + 16);
    int64_t i = 0;
    for (int64_t x = 0; x < box.n[0]; x++)
        for (int64_t y = 0; y < box.n[1]; y++)
            for (int64_t z = 0; z < box.n[2]; z++)
                in[i++] = wave(n, x + box.lo[0], y + box.lo[1], z + box.lo[2]);
    double points = (double)(n[0] * n[1] * n[2]);
    for (int repeat = 0; repeat < 2; repeat++) {
        count_bad(s, weft_execute(plan, WEFT_FORWARD, in, out) != WEFT_SUCCESS);
        count_bad(s, !trace_agrees(plan));
        weft_plan_box(plan, WEFT_OUTPUT, rank, &box);
        i = 0;
        for (int64_t x = 0; x < box.n[0]; x++)
            for (int64_t y = 0; y < box.n[1]; y++)
                for (int64_t z = 0; z < box.n[2]; z++) {
                    bool spike = x + box.lo[0] == 2 && y + box.lo[1] == 1 && z + box.lo[2] == 1;
                    count_bad(s, cabs(out[i++] - (spike ? points : 0)) > 1e-14 * points);
                }
        count_bad(s, weft_execute(plan, WEFT_INVERSE, out, in) != WEFT_SUCCESS);
    }
    weft_plan_box(plan, WEFT_INPUT, rank, &box);
    i = 0;
    for (int64_t x = 0; x < box.n[0]; x++)
        for (int64_t y = 0; y < box.n[1]; y++)
            for (int64_t z = 0; z < box.n[2]; z++) {
                double complex want = wave(n, x + box.lo[0], y + box.lo[1], z + box.lo[2]);
                count_bad(s, cabs(in[i++] - want) > 1e-13);
            }
    free(in);
    free(out);
    weft_plan_destroy(&plan);
    weft_context_destroy(&ctx);
}

/* Two partners: a pack on each of two queues, and two sends on the sender's row. */
static void look_at_rows(void *argument, weft_transport *transport) {
    setting *s = argument;
    weft_context ctx = NULL;
    weft_plan plan = NULL;
    const weft_span *span;
    size_t bytes = 0;
    int count = 0, packs[3] = {0}, sends = 0;
    count_bad(s, weft_context_over_transport(transport, NULL, &ctx) != WEFT_SUCCESS);
    count_bad(s, weft_plan_create(ctx, &s->problem, &s->options, &plan) != WEFT_SUCCESS);
    weft_plan_bytes(plan, WEFT_OUTPUT, &bytes);
    void *out = malloc(bytes + 16);
    weft_plan_bytes(plan, WEFT_INPUT, &bytes);
    void *in = calloc(1, bytes + 16);
    count_bad(s, weft_execute(plan, WEFT_FORWARD, in, out) != WEFT_SUCCESS);
    count_bad(s, weft_plan_trace(plan, &span, &count) != WEFT_SUCCESS);
    for (int i = 0; i < count; i++) {
        if (span[i].phase == WEFT_PHASE_PACK && span[i].queue >= 1 && span[i].queue <= 2)
            packs[span[i].queue]++;
        sends += span[i].queue == WEFT_SENDER_QUEUE;
    }
    count_bad(s, packs[1] != 1 || packs[2] != 1 || sends != 2);
    free(in);
    free(out);
    weft_plan_destroy(&plan);
    weft_context_destroy(&ctx);
}

/* The forward transform of a plane wave of this height gives a spike of that height. */
static void run_wave(setting *s, weft_plan plan, double height, bool in_place) {
    const int64_t *n = s->problem.n;
    weft_box box;
    size_t bytes[2];
    weft_recorder recorder = {.spans = NULL};
    int rank = plan->transport->rank;
    weft_plan_bytes(plan, WEFT_INPUT, &bytes[0]);
    weft_plan_bytes(plan, WEFT_OUTPUT, &bytes[1]);
    size_t most = bytes[0] > bytes[1] ? bytes[0] : bytes[1];
    double complex *in = malloc(most + 16), *out = in_place ? in : malloc(bytes[1] + 16);
    weft_plan_box(plan, WEFT_INPUT, rank, &box);
    int64_t i = 0;
    for (int64_t x = 0; x < box.n[0]; x++)
        for (int64_t y = 0; y < box.n[1]; y++)
            for (int64_t z = 0; z < box.n[2]; z++)
                in[i++] = height * wave(n, x + box.lo[0], y + box.lo[1], z + box.lo[2]);
    count_bad(s, weft_build_run(plan->build, WEFT_FORWARD, in_place, in, out, &recorder) !=
                     WEFT_SUCCESS);
    weft_plan_box(plan, WEFT_OUTPUT, rank, &box);
    double points = (double)(n[0] * n[1] * n[2]);
    i = 0;
    for (int64_t x = 0; x < box.n[0]; x++)
        for (int64_t y = 0; y < box.n[1]; y++)
            for (int64_t z = 0; z < box.n[2]; z++) {
                bool spike = x + box.lo[0] == 2 && y + box.lo[1] == 1 && z + box.lo[2] == 1;
                count_bad(s,
                          cabs(out[i++] - (spike ? height * points : 0)) > 1e-14 * height * points);
            }
    if (!in_place) free(out);
    free(in);
}

/* Without weft_execute and its agreement nothing but the flags keeps the ranks in step. They dawdle
 * in turn, and differ in placement. */
static void run_out_of_step(void *argument, weft_transport *transport) {
    setting *s = argument;
    weft_context ctx = NULL;
    weft_plan plan = NULL;
    count_bad(s, weft_context_over_transport(transport, NULL, &ctx) != WEFT_SUCCESS);
    count_bad(s, weft_plan_create(ctx, &s->problem, &s->options, &plan) != WEFT_SUCCESS);
    int rank = plan->transport->rank, size = plan->transport->size;
    for (int run = 0; run < 24; run++) {
        if (run % size == rank) usleep(500);
        run_wave(s, plan, 1 + run, (run / 2 + rank) % 2);
    }
    weft_plan_destroy(&plan);
    weft_context_destroy(&ctx);
}

static weft_status fail_to_execute(weft_engine_plan *plan, const weft_device_handle *device,
                                   weft_queue *queue, const void *in, void *out) {
    (void)plan, (void)device, (void)queue, (void)in, (void)out;
    return weft_fail(WEFT_ERROR_ENGINE, "injected");
}

/* Rank 1's engine fails in one execution; the others come to an end, and the next one is right. */
static void fail_once(void *argument, weft_transport *transport) {
    setting *s = argument;
    weft_context ctx = NULL;
    weft_plan plan = NULL;
    size_t bytes;
    count_bad(s, weft_context_over_transport(transport, NULL, &ctx) != WEFT_SUCCESS);
    count_bad(s, weft_plan_create(ctx, &s->problem, &s->options, &plan) != WEFT_SUCCESS);
    const weft_engine_ops *engine = plan->build->candidate.engine;
    weft_engine_ops failing = *engine;
    failing.execute = fail_to_execute;
    weft_plan_bytes(plan, WEFT_INPUT, &bytes);
    void *in = calloc(1, bytes + 16);
    weft_plan_bytes(plan, WEFT_OUTPUT, &bytes);
    void *out = calloc(1, bytes + 16);
    if (plan->transport->rank == 1) plan->build->candidate.engine = &failing;
    weft_status status = weft_execute(plan, WEFT_FORWARD, in, out);
    count_bad(s, (status != WEFT_SUCCESS) != (plan->transport->rank == 1));
    plan->build->candidate.engine = engine;
    run_wave(s, plan, 1, false);
    free(in);
    free(out);
    weft_plan_destroy(&plan);
    weft_context_destroy(&ctx);
}

static void create_only(void *argument, weft_transport *transport) {
    setting *s = argument;
    weft_context ctx = NULL;
    weft_plan plan = NULL;
    count_bad(s, weft_context_over_transport(transport, NULL, &ctx) != WEFT_SUCCESS);
    count_bad(s, weft_plan_create(ctx, &s->problem, &s->options, &plan) != s->expected);
    if (s->expected != WEFT_SUCCESS) count_bad(s, strstr(weft_last_error(ctx), "p2p-sync") == NULL);
    weft_plan_destroy(&plan);
    weft_context_destroy(&ctx);
}

static void halve(const weft_operator_run *run, void *argument) {
    (void)argument;
    for (int64_t i = 0; i < run->count; i++) ((double complex *)run->data)[i] /= 2;
}

/* Nothing in all, but work on every element. */
static const weft_operator there_and_back[] = {
    {.kind = WEFT_OPERATOR_FUNCTION, .function = halve},
    {.kind = WEFT_OPERATOR_TABLE, .table = {(const double[7]){2, 2, 2, 2, 2, 2, 2}}}};

static void run_all(weft_device device, weft_awareness aware, int ranks) {
    for (size_t method = 0; method < sizeof methods / sizeof methods[0]; method++)
        for (int variant = WEFT_DEFAULT; variant <= WEFT_REALIGNED; variant++)
            for (int pencil = 0; pencil < 4; pencil++) {
                const weft_operators operators = {there_and_back, pencil / 2 ? 2 : 0};
                setting s = {
                    .problem = {.rank = 3,
                                .n = {7, 6, 5},
                                .norm = WEFT_NORM_BACKWARD,
                                .load = operators,
                                .spectral = operators,
                                .store = operators},
                    .options = {.decomposition = pencil % 2 ? WEFT_PENCIL : WEFT_SLAB_1D2D,
                                .grid = {pencil % 2 ? 2 : ranks, pencil % 2 ? ranks / 2 : 0},
                                .chunks = pencil / 2 ? 3 : 0,
                                .variant = (weft_variant)variant,
                                .exchange = {methods[method]},
                                .engine = WEFT_ENGINE_REFERENCE,
                                .device = device,
                                .location = WEFT_LOCATION_HOST,
                                .device_aware = aware,
                                .threads = 1,
                                .trace = 1}};
                pthread_mutex_init(&s.lock, NULL);
                thread_ranks_run(ranks, one_rank, &s);
                assert_int_equal(s.bad, 0);
                pthread_mutex_destroy(&s.lock);
            }
}

static void every_method_works_on_the_host(void **state) {
    (void)state;
    run_all(WEFT_HOST, WEFT_AWARENESS_AUTO, 2);
    run_all(WEFT_HOST, WEFT_AWARENESS_AUTO, 6);
}

static void every_method_works_staged_on_the_host(void **state) {
    (void)state;
    run_all(WEFT_HOST, WEFT_STAGED, 4);
}

static void every_method_works_on_the_simulated_device(void **state) {
    (void)state;
    run_all(WEFT_SIMULATED, WEFT_AWARENESS_AUTO, 4);
}

static void packs_of_p2p_streams_have_rows_of_their_own(void **state) {
    (void)state;
    setting s = {.problem = {.rank = 3, .n = {7, 6, 5}},
                 .options = {.decomposition = WEFT_SLAB_2D1D,
                             .exchange = {WEFT_P2P_STREAMS},
                             .engine = WEFT_ENGINE_REFERENCE,
                             .trace = 1}};
    pthread_mutex_init(&s.lock, NULL);
    thread_ranks_run(3, look_at_rows, &s);
    assert_int_equal(s.bad, 0);
    pthread_mutex_destroy(&s.lock);
}

static setting peer_setting(int p1, int p2, weft_exchange second) {
    return (setting){.problem = {.rank = 3, .n = {7, 6, 5}},
                     .options = {.decomposition = WEFT_PENCIL,
                                 .grid = {p1, p2},
                                 .exchange = {WEFT_PEER, second},
                                 .engine = WEFT_ENGINE_REFERENCE}};
}

static void check_on_nodes(setting s, int ranks, int ranks_per_node,
                           void (*body)(void *argument, weft_transport *transport)) {
    pthread_mutex_init(&s.lock, NULL);
    thread_ranks_run_on_nodes(ranks, ranks_per_node, body, &s);
    assert_int_equal(s.bad, 0);
    pthread_mutex_destroy(&s.lock);
}

static void peer_waits_for_readers_before_it_writes(void **state) {
    (void)state;
    static const weft_exchange second[] = {WEFT_PEER, WEFT_A2A_SYNC, WEFT_P2P_TYPE};
    for (int variant = WEFT_DEFAULT; variant <= WEFT_REALIGNED; variant++)
        for (int i = 0; i < 3; i++) {
            setting s = peer_setting(2, 2, second[i]);
            s.options.variant = (weft_variant)variant;
            check_on_nodes(s, 4, 0, run_out_of_step);
        }
    check_on_nodes(peer_setting(1, 8, WEFT_PEER), 8, 0, run_out_of_step); /* ranks without data */
}

static void a_failure_on_one_rank_leaves_no_peer_waiting(void **state) {
    (void)state;
    check_on_nodes(peer_setting(3, 1, WEFT_PEER), 3, 0, fail_once);
    check_on_nodes(peer_setting(2, 2, WEFT_PEER), 4, 0, fail_once);
}

static void peer_between_nodes_is_refused_on_all_ranks(void **state) {
    (void)state;
    setting s = peer_setting(2, 2, WEFT_PEER);
    s.expected = WEFT_ERROR_UNSUPPORTED;
    check_on_nodes(s, 4, 2, create_only);
    s = peer_setting(2, 2, WEFT_A2A_SYNC); /* rows on a node, columns across */
    check_on_nodes(s, 4, 2, run_out_of_step);
    s = peer_setting(2, 2, WEFT_EXCHANGE_AUTO);
    s.options.exchange[0] = WEFT_EXCHANGE_AUTO;
    check_on_nodes(s, 4, 2, run_out_of_step);
    check_on_nodes(s, 4, 1, run_out_of_step);
}

static void peer_reads_what_devices_lend(void **state) {
    (void)state;
    for (int variant = WEFT_DEFAULT; variant <= WEFT_REALIGNED; variant++)
        for (int i = 0; i < 2; i++) {
            setting s = peer_setting(2, 2, i ? WEFT_A2A_SYNC : WEFT_PEER);
            s.options.device = WEFT_SIMULATED;
            s.options.location = WEFT_LOCATION_HOST;
            s.options.variant = (weft_variant)variant;
            s.options.chunks = 1 + variant;
            check_on_nodes(s, 4, 0, run_out_of_step);
        }
}

/* Threads of this process. */
static int count_threads(void) {
    int threads = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (const struct dirent *entry; tasks && (entry = readdir(tasks)) != NULL;)
        threads += entry->d_name[0] != '.';
    if (tasks) closedir(tasks);
    return threads;
}

/* Of a rank: its own, four queues that pack, the sender, and the queue for parts. */
enum { MOST_THREADS = 7 };

/* All threads of all ranks, while nobody begins or ends. */
static void look_at_threads(setting *s, weft_plan plan, int most_of_rank) {
    weft_transport *t = plan->transport;
    t->ops->barrier(t);
    const int threads = count_threads();
    if (threads > s->threads_before + t->size * most_of_rank) {
        count_bad(s, true);
        if (t->rank == 0) fprintf(stderr, "%d threads of %d ranks\n", threads, t->size);
    }
    t->ops->barrier(t);
}

static void exchange_with_few_threads(void *argument, weft_transport *transport) {
    setting *s = argument;
    weft_context ctx = NULL;
    weft_plan plan = NULL;
    weft_box box;
    size_t bytes = 0;
    count_bad(s, weft_context_over_transport(transport, NULL, &ctx) != WEFT_SUCCESS);
    count_bad(s, weft_plan_create(ctx, &s->problem, &s->options, &plan) != WEFT_SUCCESS);
    look_at_threads(s, plan, MOST_THREADS);
    run_wave(s, plan, 3, false);
    run_wave(s, plan, 5, true);
    look_at_threads(s, plan, MOST_THREADS);
    weft_plan_bytes(plan, WEFT_INPUT, &bytes);
    weft_plan_box(plan, WEFT_INPUT, plan->transport->rank, &box);
    double *data = calloc(1, bytes + 16);
    const size_t numbers = 2 * (size_t)(box.n[0] * box.n[1] * box.n[2]);
    for (size_t i = 0; i < numbers; i++) data[i] = (double)i;
    count_bad(s, weft_execute(plan, WEFT_CONVOLVE, data, data) != WEFT_SUCCESS);
    for (size_t i = 0; i < numbers; i++) count_bad(s, fabs(data[i] - (double)i) > 1e-9 * 2048);
    look_at_threads(s, plan, MOST_THREADS);
    free(data);
    weft_plan_destroy(&plan);
    weft_context_destroy(&ctx);
}

static void p2p_streams_takes_few_threads_however_many_partners_and_exchanges(void **state) {
    (void)state;
    setting s = {.threads_before = count_threads(),
                 .problem = {.rank = 3, .n = {32, 32, 2}, .norm = WEFT_NORM_BACKWARD},
                 .options = {.decomposition = WEFT_SLAB_2D1D,
                             .exchange = {WEFT_P2P_STREAMS},
                             .engine = WEFT_ENGINE_REFERENCE,
                             .chunks = 2,
                             .convolve = 1}};
    check_on_nodes(s, 32, 0, exchange_with_few_threads);
    s.problem.n[0] = s.problem.n[1] = 12; /* two exchanges each way */
    s.options.decomposition = WEFT_PENCIL;
    s.options.grid[0] = 4, s.options.grid[1] = 3;
    s.options.exchange[1] = WEFT_P2P_STREAMS;
    s.options.chunks = 3;
    check_on_nodes(s, 12, 0, exchange_with_few_threads);
}

enum { TEAM = 8 };

/* A team for each of two queues, and one for the rank itself. */
static void count_threads_of_teams(void *argument, weft_transport *transport) {
    enum { QUEUES = 2, SENDER = 1 };
    const int most = TEAM + QUEUES * (TEAM / QUEUES) + SENDER;
    setting *s = argument;
    weft_context ctx = NULL;
    weft_plan plan = NULL;
    size_t bytes[2] = {0};
    count_bad(s, weft_context_over_transport(transport, NULL, &ctx) != WEFT_SUCCESS);
    count_bad(s, weft_plan_create(ctx, &s->problem, &s->options, &plan) != WEFT_SUCCESS);
    weft_plan_bytes(plan, WEFT_INPUT, &bytes[0]);
    weft_plan_bytes(plan, WEFT_OUTPUT, &bytes[1]);
    void *in = calloc(1, bytes[0]), *out = malloc(bytes[1]);
    count_bad(s, weft_execute(plan, WEFT_FORWARD, in, out) != WEFT_SUCCESS);
    look_at_threads(s, plan, most);
    free(in);
    free(out);
    weft_plan_destroy(&plan);
    weft_context_destroy(&ctx);
}

static void queues_on_the_host_share_the_threads_of_their_rank(void **state) {
    (void)state;
    setting s = {.threads_before = count_threads(),
                 .problem = {.rank = 3, .n = {96, 96, 128}},
                 .options = {.decomposition = WEFT_SLAB_2D1D,
                             .exchange = {WEFT_P2P_STREAMS},
                             .engine = WEFT_ENGINE_IDENTITY,
                             .threads = TEAM}};
    check_on_nodes(s, 3, 0, count_threads_of_teams);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_works_on_the_host),
        cmocka_unit_test(every_method_works_staged_on_the_host),
        cmocka_unit_test(every_method_works_on_the_simulated_device),
        cmocka_unit_test(peer_waits_for_readers_before_it_writes),
        cmocka_unit_test(a_failure_on_one_rank_leaves_no_peer_waiting),
        cmocka_unit_test(peer_between_nodes_is_refused_on_all_ranks),
        cmocka_unit_test(peer_reads_what_devices_lend),
        cmocka_unit_test(packs_of_p2p_streams_have_rows_of_their_own),
        cmocka_unit_test(p2p_streams_takes_few_threads_however_many_partners_and_exchanges),
        cmocka_unit_test(queues_on_the_host_share_the_threads_of_their_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
