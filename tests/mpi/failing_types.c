/*
 * Datatypes of long runs, of which each call to make one fails once: nothing leaks, and nothing is
 * freed that was never made. All ranks take part in making an all-to-all, whoever fails. No data is
 * moved. Started on 2 ranks.
 */
#include "exec/context.h"
#include "mpi/faults.h"
#include "transport/mpi/mpi.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int rank, size, failures;
static weft_context ctx;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "rank %d: %s:%d: %s\n", rank, __func__, __LINE__, #condition);         \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

static const int64_t beyond_int = (int64_t)5 << 30;

static bool holds_as_much_as(fault_balance before) {
    const fault_balance now = faults_balance();
    return memcmp(&now, &before, sizeof now) == 0;
}

/* How many calls of a kind `make` has made; the k-th of them failed, if k > 0. */
static int64_t with_fault(fault_kind kind, int64_t k, bool (*make)(void)) {
    const fault_balance before = faults_balance();
    faults_begin(kind, k);
    const bool well = make();
    faults_end();
    CHECK(well == (k == 0));
    CHECK(faults_fired(NULL) == (k > 0));
    CHECK(holds_as_much_as(before));
    return faults_count(kind);
}

/* Runs of elements that are no run of bytes. */
static bool make_long_run(void) {
    MPI_Datatype type;
    int code = weft_mpi_element_type(8, &type);
    if (!code) code = weft_mpi_repeat(beyond_int + 3, 24, &type);
    if (code) CHECK(type == MPI_DATATYPE_NULL);
    if (!code) MPI_Type_free(&type);
    return code == 0;
}

static void a_long_run_that_cannot_be_made_leaves_nothing(void) {
    const int64_t calls = with_fault(FAULT_MPI, 0, make_long_run);
    CHECK(calls >= 5);
    for (int64_t k = 1; k <= calls; k++) with_fault(FAULT_MPI, k, make_long_run);
}

static bool make_message(void) {
    const int order[] = {0, 1};
    const weft_view view = {.axes = 2, .n = {3, beyond_int}, .stride = {3 * beyond_int, 2}};
    weft_message *message = NULL;
    weft_transport *t = ctx->transport;
    const weft_status status = t->ops->message_create(t, &view, order, 8, &message);
    t->ops->message_destroy(t, message);
    return status == WEFT_SUCCESS;
}

static void a_message_that_cannot_be_made_frees_no_type_that_was_never_made(void) {
    for (int kind = 0; kind < FAULT_KINDS; kind++) {
        const int64_t calls = with_fault((fault_kind)kind, 0, make_message);
        for (int64_t k = 1; k <= calls; k++) with_fault((fault_kind)kind, k, make_message);
    }
}

static weft_status make_alltoall(int64_t offset) {
    weft_run run[2][8] = {{{0, 0}}};
    weft_alltoall *all = NULL;
    weft_transport *t = ctx->transport;
    for (int m = 0; m < size; m++)
        if (m != rank) run[0][m] = run[1][m] = (weft_run){offset, 3};
    const weft_status status = t->ops->alltoall_create(t, run[0], run[1], 8, &all);
    t->ops->alltoall_destroy(t, all);
    return status;
}

/* Far runs become datatypes; near ones do not. */
static void all_ranks_take_part_in_an_all_to_all_whoever_fails(void) {
    for (int far = 0; far < 2; far++)
        for (int kind = 0; kind < FAULT_KINDS; kind++)
            for (int r = 0; r < size; r++) {
                int64_t calls = 1; /* those of a run without a fault, of which there is one more */
                for (int64_t k = 0; k <= calls; k++) {
                    const fault_balance before = faults_balance();
                    faults_begin((fault_kind)kind, r == rank ? k : 0);
                    const weft_status status = make_alltoall(far ? beyond_int : 5);
                    faults_end();
                    if (k == 0) calls = faults_count((fault_kind)kind);
                    MPI_Bcast(&calls, 1, MPI_INT64_T, r, MPI_COMM_WORLD);
                    CHECK((status == WEFT_SUCCESS) == (r != rank || k == 0));
                    CHECK(holds_as_much_as(before));
                }
            }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* that of datatypes */
    alarm(60);
    CHECK(weft_mpi_context_create(MPI_COMM_WORLD, NULL, &ctx) == WEFT_SUCCESS);
    a_long_run_that_cannot_be_made_leaves_nothing();
    a_message_that_cannot_be_made_frees_no_type_that_was_never_made();
    all_ranks_take_part_in_an_all_to_all_whoever_fails();
    weft_context_destroy(&ctx);
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("failing types: %d ranks, %d failed checks\n", size, failures);
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
}
