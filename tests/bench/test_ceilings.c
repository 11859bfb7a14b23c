/*
 * The measured ceilings on any number of ranks: the JSON is complete, rates are those of a machine,
 * and no cache can hold what memory was measured with. How fast the machine is, is not asserted.
 */
#include "bench/ceilings.h"
#include "bench/cuda_libraries.h"
#include "support/error.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static command_world world = {.joined = true, .comm = MPI_COMM_WORLD};
static json_t *document, *run;
static int failures;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "rank %d: %s:%d: %s (last error: %s)\n", world.rank, __func__,         \
                    __LINE__, #condition, weft_thread_error());                                    \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

static double number(const json_t *object, const char *name) {
    return json_number_value(json_object_get(object, name));
}

static bool is_rate(double rate) {
    return rate > 1e5 && rate < 1e16;
}

static void the_document_says_where_and_when(void) {
    const char *date = json_string_value(json_object_get(document, "date"));
    CHECK(date && strlen(date) == 20 && date[10] == 'T' && date[19] == 'Z');
    CHECK(json_string_length(json_object_get(document, "host")) > 0);
    CHECK(json_string_length(json_object_get(document, "cpu")) > 0);
    CHECK(json_string_length(json_object_get(document, "bytes counted")) > 0);
    CHECK(json_array_size(json_object_get(document, "runs")) == 1);
    CHECK(number(run, "ranks") == world.ranks);
    CHECK(number(run, "threads") == 2);
    CHECK(number(run, "nodes") >= 1);
}

static void memory_is_measured_with_arrays_beyond_every_cache(void) {
    static const char *const names[] = {"copy", "copy_streaming", "read", "update", "triad"};
    const json_t *huge = json_object_get(run, "memory");
    const json_t *ordinary = json_object_get(huge, "ordinary_pages");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        CHECK(is_rate(number(huge, names[i])));
        CHECK(is_rate(number(ordinary, names[i])));
    }
    double cache = (double)sysconf(_SC_LEVEL3_CACHE_SIZE), array = number(huge, "array_bytes");
    CHECK(array > 4 * cache || array > 0x1p28);
    CHECK(array <= 0x1p30 / 3);
}

static void both_precisions_are_computed_with_named_instructions(void) {
    const json_t *compute = json_object_get(run, "compute");
    CHECK(is_rate(number(compute, "double")));
    CHECK(is_rate(number(compute, "single")));
    CHECK(json_string_length(json_object_get(compute, "instructions")) > 0);
}

static void check_rates_by_size(const json_t *list, double first, size_t least) {
    CHECK(json_array_size(list) >= least);
    double before = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *pair = json_array_get(list, i);
        double bytes = json_number_value(json_array_get(pair, 0));
        CHECK(i > 0 || bytes == first);
        CHECK(bytes > before);
        CHECK(is_rate(json_number_value(json_array_get(pair, 1))));
        before = bytes;
    }
}

static void there_is_a_network_where_there_are_two_ranks(void) {
    const json_t *network = json_object_get(run, "network");
    CHECK((network != NULL) == (world.ranks > 1));
    if (network == NULL) return;
    CHECK(number(network, "latency") > 0 && number(network, "latency") < 1);
    CHECK(is_rate(number(network, "both_ways")));
    check_rates_by_size(json_object_get(network, "bandwidth"), 1024, 9);
    check_rates_by_size(json_object_get(network, "alltoall"), 1024, 3);
}

static void there_is_a_host_link_where_there_is_a_device(void) {
    const json_t *link = json_object_get(run, "host_link");
    CHECK((link != NULL) == (cuda_runtime_open() != NULL));
    if (link == NULL) return;
    CHECK(json_string_length(json_object_get(link, "device")) > 0);
    CHECK(is_rate(number(link, "to_device")) && is_rate(number(link, "to_host")));
    CHECK(is_rate(number(link, "both_ways")) && is_rate(number(link, "device_copy")));
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world.comm, &world.rank);
    MPI_Comm_size(world.comm, &world.ranks);
    MPI_Comm_set_errhandler(world.comm, MPI_ERRORS_RETURN);
    CHECK(bench_ceilings(&world, 2, &document) == WEFT_SUCCESS);
    CHECK((document != NULL) == (world.rank == 0));
    if (document != NULL) {
        run = json_array_get(json_object_get(document, "runs"), 0);
        the_document_says_where_and_when();
        memory_is_measured_with_arrays_beyond_every_cache();
        both_precisions_are_computed_with_named_instructions();
        there_is_a_network_where_there_are_two_ranks();
        there_is_a_host_link_where_there_is_a_device();
        json_decref(document);
    }
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, world.comm);
    MPI_Finalize();
    return failures != 0;
}
