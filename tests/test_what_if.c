/* Forecasts: the study's formulas of slabs and pencils fall out of the model, levels of links
 * count, and what cannot be is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "exec/what_if.h"
#include "support/error.h"

#include <math.h>
#include <string.h>

enum { NUMBER_BYTES = 8 }; /* the study's s */

/* A machine whose network takes all of the time. */
static weft_machine network(double bandwidth, double latency) {
    weft_machine machine = weft_machine_default;
    weft_machine_rates *r = &machine.rate;
    for (int i = 0; i < WEFT_MACHINE_SIZES; i++) {
        r->copy[i] = r->contiguous[i] = r->halved[i] = r->strided[i] = r->realigned[i] = 1e18;
        r->bandwidth[i] = bandwidth;
    }
    for (int i = 0; i < 2 * WEFT_LENGTH_CLASSES; i++)
        r->flops[i / WEFT_LENGTH_CLASSES][i % WEFT_LENGTH_CLASSES] =
            r->flops_across[i / WEFT_LENGTH_CLASSES][i % WEFT_LENGTH_CLASSES] = 1e18;
    r->latency = latency;
    r->signal = 0;
    return machine;
}

static weft_forecast forecast(const weft_machine *machine, int64_t n, int ranks,
                              const weft_options *options) {
    const weft_problem problem = {.rank = 3, .n = {n, n, n}, .kind = WEFT_C2C};
    const weft_what_if question = {&problem, options, machine, ranks};
    weft_forecast f;
    assert_int_equal(weft_forecast_best(&question, &f), WEFT_SUCCESS);
    assert_true(fabs(f.transforms + f.copies + f.exchanges - f.seconds) <= 1e-9 * f.seconds);
    return f;
}

static double slab(const weft_machine *machine, int64_t n, int ranks) {
    const weft_options options = {.decomposition = WEFT_SLAB_2D1D, .exchange = {WEFT_P2P_SYNC}};
    return forecast(machine, n, ranks, &options).seconds;
}

static double pencil(const weft_machine *machine, int64_t n, int p1, int p2) {
    const weft_options options = {
        .decomposition = WEFT_PENCIL, .grid = {p1, p2}, .exchange = {WEFT_P2P_SYNC}};
    return forecast(machine, n, p1 * p2, &options).seconds;
}

/* One all-to-all among p of P ranks: p - 1 messages, each of 2 s N^3 / (P p) bytes. */
static double exchange(double n, double all, double p, double bandwidth, double latency) {
    return (p - 1) * (2 * NUMBER_BYTES * n * n * n / (all * p * bandwidth) + latency);
}

static bool near(double a, double b, double off) {
    return fabs(a / b - 1) < off;
}

static void a_slab_and_a_pencil_take_what_the_study_says(void **state) {
    (void)state;
    static const double latencies[] = {0, 1e-6, 1e-3};
    static const int sides[] = {2, 4, 8, 16};
    for (size_t l = 0; l < sizeof latencies / sizeof latencies[0]; l++)
        for (size_t k = 0; k < sizeof sides / sizeof sides[0]; k++) {
            const double bandwidth = 3e9, latency = latencies[l];
            const int p1 = sides[k], p2 = 2 * sides[k], all = p1 * p2;
            const weft_machine machine = network(bandwidth, latency);
            assert_true(
                near(slab(&machine, 512, all), exchange(512, all, all, bandwidth, latency), 1e-5));
            assert_true(near(pencil(&machine, 512, p1, p2),
                             exchange(512, all, p2, bandwidth, latency) +
                                 exchange(512, all, p1, bandwidth, latency),
                             1e-5));
        }
}

static void a_pencil_of_2_by_2_takes_four_thirds_of_a_slab_where_bytes_count(void **state) {
    (void)state;
    const weft_machine machine = network(1e9, 0);
    for (int64_t n = 64; n <= 2048; n *= 2)
        assert_true(near(pencil(&machine, n, 2, 2) / slab(&machine, n, 4), 4. / 3, 1e-5));
}

/* The latency from which on a pencil over side x side ranks is faster than a slab, by a sweep. */
static double crossover(int64_t n, int side, double bandwidth, double first) {
    for (double latency = first; latency < 1; latency *= 1.02) {
        const weft_machine machine = network(bandwidth, latency);
        if (pencil(&machine, n, side, side) < slab(&machine, n, side * side)) return latency;
    }
    return INFINITY;
}

/* P^2 / N^3 > 2 s / (L B): latency outweighs the bytes that a pencil sends twice. */
static void pencils_win_from_the_latency_that_the_study_says(void **state) {
    (void)state;
    static const struct {
        int64_t n;
        int side;
        double bandwidth, off; /* the formula is that of many ranks */
    } cases[] = {{256, 16, 1e9, 0.05}, {512, 16, 1e10, 0.05}, {64, 8, 1e9, 0.25}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const double all = cases[i].side * cases[i].side, n = (double)cases[i].n;
        const double expected = 2 * NUMBER_BYTES * n * n * n / (all * all * cases[i].bandwidth);
        const double found = crossover(cases[i].n, cases[i].side, cases[i].bandwidth, expected / 2);
        assert_true(found > expected / 1.9 && near(found, expected, cases[i].off));
    }
}

/* Four ranks of a node, of which two have a link of their own. */
static void messages_take_the_links_of_their_level(void **state) {
    (void)state;
    weft_machine machine = network(1e9, 1e-3);
    machine.network =
        (weft_machine_network){.ranks = {2, 4}, .bandwidth = {16e9, 4e9}, .latency = {1e-6, 1e-5}};
    assert_int_equal(weft_machine_node_ranks(&machine), 4);
    const double each = 2 * NUMBER_BYTES * 256. * 256 * 256 / 64; /* a message of 8 ranks */
    const double expected = each / 16e9 + 1e-6 + 2 * (each / 4e9 + 1e-5) + 4 * (each / 1e9 + 1e-3);
    assert_true(near(slab(&machine, 256, 8), expected, 1e-5));
    /* Rows of a pencil within a node, columns between two. */
    const double row = 4 * each / 2 * 1, column = 4 * each;
    assert_true(near(pencil(&machine, 256, 2, 4),
                     row / 16e9 + 1e-6 + 2 * (row / 4e9 + 1e-5) + column / 1e9 + 1e-3, 1e-5));
}

/* By the closed formula, too, which chooses among grids: rows of four are those of a node. */
static void grids_are_chosen_by_the_levels(void **state) {
    (void)state;
    weft_machine machine = network(1e8, 1e-5);
    const weft_options options = {.decomposition = WEFT_PENCIL, .exchange = {WEFT_P2P_SYNC}};
    machine.network = (weft_machine_network){.ranks = {4}, .bandwidth = {1e12}};
    const weft_forecast f = forecast(&machine, 256, 64, &options);
    assert_int_equal(f.candidate.grid[1], 4);
    assert_int_equal(f.messages, 15 + 3);
}

static void ranks_of_a_node_read_each_others_memory(void **state) {
    (void)state;
    weft_machine machine = network(1e9, 1e-5);
    const weft_options options = {.decomposition = WEFT_SLAB_2D1D};
    machine.network = (weft_machine_network){.ranks = {8}, .bandwidth = {1e10}};
    assert_int_equal(forecast(&machine, 64, 8, &options).candidate.exchange[0], WEFT_PEER);
    assert_int_not_equal(forecast(&machine, 64, 16, &options).candidate.exchange[0], WEFT_PEER);
}

/* A GPU of 1 TB/s, whose memory is read and written three times by r2c of three axes, and links. */
static void devices_that_are_not_here_are_predicted(void **state) {
    (void)state;
    weft_machine machine = network(1e9, 0);
    const weft_options options = {.device = WEFT_CUDA};
    machine.device = (weft_machine_device){.memory = 1e12, .to_device = 1e10, .from_device = 1e10};
    const double bytes = 2 * NUMBER_BYTES * 256. * 256 * 256;
    assert_true(near(forecast(&machine, 256, 1, &options).seconds, 6 * bytes / 1e12, 0.01));
    machine.network = (weft_machine_network){.ranks = {2}, .bandwidth = {1e11}};
    const weft_forecast pair = forecast(&machine, 256, 2, &options);
    assert_true(near(pair.exchanges, bytes / 4 / 1e11, 0.05));
    assert_true(near(pair.seconds, 3 * bytes / 1e12 + bytes / 4 / 1e11, 0.05));
}

static void what_cannot_be_is_refused(void **state) {
    (void)state;
    static const struct {
        weft_options options;
        const char *said;
    } cases[] = {{{.exchange = {WEFT_NCCL}}, "nccl needs GPUs"},
                 {{.device = WEFT_OPENCL, .device_aware = WEFT_AWARE}, "device opencl"},
                 {{.decomposition = WEFT_PENCIL, .grid = {3, 3}}, "grid"}};
    const weft_problem problem = {.rank = 3, .n = {8, 8, 8}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const weft_what_if question = {&problem, &cases[i].options, &weft_machine_default, 4};
        weft_forecast f = {.messages = 77};
        assert_int_not_equal(weft_forecast_best(&question, &f), WEFT_SUCCESS);
        if (!strstr(weft_thread_error(), cases[i].said)) fail_msg("%s", weft_thread_error());
        assert_int_equal(f.messages, 77); /* nothing was set */
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slab_and_a_pencil_take_what_the_study_says),
        cmocka_unit_test(a_pencil_of_2_by_2_takes_four_thirds_of_a_slab_where_bytes_count),
        cmocka_unit_test(pencils_win_from_the_latency_that_the_study_says),
        cmocka_unit_test(messages_take_the_links_of_their_level),
        cmocka_unit_test(grids_are_chosen_by_the_levels),
        cmocka_unit_test(ranks_of_a_node_read_each_others_memory),
        cmocka_unit_test(devices_that_are_not_here_are_predicted),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
