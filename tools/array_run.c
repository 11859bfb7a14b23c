/* From a file through a plan to another file: the parts that do not ask what the plan computes. */
#include "array_run.h"

#include "interrupt.h"
#include "io/agreement.h"
#include "memory.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>
#include <weft/weft_mpi.h>

weft_element array_run_element(weft_precision precision, bool complex) {
    if (precision == WEFT_SINGLE) return complex ? WEFT_ELEMENT_C8 : WEFT_ELEMENT_F4;
    return complex ? WEFT_ELEMENT_C16 : WEFT_ELEMENT_F8;
}

int64_t array_run_box_bytes(const weft_box *box, int rank, weft_element element) {
    int64_t bytes = (int64_t)weft_element_bytes(element);
    for (int a = 0; a < rank; a++) bytes *= box->n[a];
    return bytes;
}

weft_status array_run_buffer(const array_run *run, size_t bytes, void **buffer) {
    if (posix_memalign(buffer, 64, bytes > 0 ? bytes : 64) == 0) return WEFT_SUCCESS;
    *buffer = NULL;
    return weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                     "rank %d: no memory for a buffer of %zu bytes; use more processes",
                     run->world->rank, bytes);
}

/* ---- the beginning ---- */

weft_status array_run_join(const shared_options *shared, command_world *world) {
    WEFT_TRY(launch_ranks(shared->ranks, shared->plan.threads, launch_arguments));
    return world_join(world, shared->ranks, options_use_streams(shared));
}

/* The report and the trace, which rank 0 writes at the end. */
static weft_status check_other_files(const array_run *run) {
    weft_status status = WEFT_SUCCESS;
    if (run->world->rank == 0) {
        status = record_check_path(run->shared->report);
        if (status == WEFT_SUCCESS) status = record_check_path(run->shared->trace);
    }
    return weft_array_agree(run->world->comm, status);
}

weft_status array_run_open(array_run *run, const weft_array_info *raw) {
    record_start(&run->record, run->world);
    WEFT_TRY(check_other_files(run));
    WEFT_TRY(weft_array_open(run->world->comm, run->record.input, raw, &run->input));
    run->record.input_info = *weft_array_describe(run->input);
    return WEFT_SUCCESS;
}

/* ---- the plan ---- */

weft_options array_run_options(const array_run *run) {
    weft_options options = run->shared->plan;
    options.location = WEFT_LOCATION_HOST;
    options.placement = WEFT_OUT_OF_PLACE;
    options.trace = run->shared->trace != NULL;
    return options;
}

weft_status array_run_create_context(array_run *run, double bytes) {
    MPI_Comm comm = run->world->comm;
    run->available = memory_available("", true);
    WEFT_TRY(memory_check(run->world, bytes, run->available));
    /* Of files that are mapped each process does tiles of its own, with a plan of its own. */
    MPI_Comm together = run->stream.maps ? MPI_COMM_SELF : comm;
    const weft_status status = weft_mpi_context_create(together, NULL, &run->context);
    /* What lies on a device between passes is lost with the process. */
    if (status == WEFT_SUCCESS && file_stream_keeps(&run->stream))
        weft_context_leave_on_host(run->context);
    return weft_array_agree(comm, status);
}

/* The arrays of this rank, and what its plan holds on the host. */
static double bytes_of_this_rank(const array_run *run) {
    weft_memory plan = {0};
    bool on_host = run->shared->plan.device == WEFT_HOST;
    if (weft_plan_memory(run->record.plan, &plan) != WEFT_SUCCESS) return 0.0;
    const double arrays = run->stream.maps ? 0 : (double)run->in_bytes + (double)run->out_bytes;
    return arrays + (double)(on_host ? plan.total : plan.page_locked + plan.tables);
}

weft_status array_run_allocate(array_run *run, weft_space from, weft_space to, double further) {
    weft_plan plan = run->record.plan;
    const int rank = run->stream.maps ? 0 : run->world->rank; /* in the plan */
    WEFT_TRY(weft_plan_box(plan, from, rank, &run->in_box));
    WEFT_TRY(weft_plan_box(plan, to, rank, &run->out_box));
    WEFT_TRY(weft_plan_bytes(plan, from, &run->in_bytes));
    WEFT_TRY(weft_plan_bytes(plan, to, &run->out_bytes));
    WEFT_TRY(memory_check(run->world, bytes_of_this_rank(run) + further, run->available));
    if (run->stream.maps) return WEFT_SUCCESS;
    weft_status status = array_run_buffer(run, run->in_bytes, &run->in);
    if (status == WEFT_SUCCESS) status = array_run_buffer(run, run->out_bytes, &run->out);
    return weft_array_agree(run->world->comm, status);
}

/* ---- the steps ---- */

/* Rank 0 creates the file, and must know of it before a signal ends the process. */
weft_status array_run_create_file(MPI_Comm comm, const char *name, const weft_array_info *info,
                                  const weft_array_creation *how, weft_array **array) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0) interrupt_waits();
    weft_status status = weft_array_create(comm, name, info, how, array);
    if (rank == 0) interrupt_goes_on();
    return status;
}

weft_status array_run_create_output(array_run *run) {
    WEFT_TRY(file_stream_find(run));
    const weft_array_creation how = {.made = run->stream.resumed ? NULL : interrupt_removes,
                                     .mapped = run->stream.maps,
                                     .kept = file_stream_keeps(&run->stream),
                                     .resumed = run->stream.resumed};
    return array_run_create_file(run->world->comm, run->record.output, &run->record.output_info,
                                 &how, &run->output);
}

static weft_status map_both(array_run *run) {
    interrupt_tells();
    WEFT_TRY(weft_array_map(run->input, run->in_bytes, &run->in));
    return weft_array_map(run->output, run->out_bytes, &run->out);
}

weft_status array_run_read(array_run *run, weft_element wanted) {
    const weft_array_info *info = &run->record.input_info;
    if (run->stream.maps) return weft_array_agree(run->world->comm, map_both(run));
    progress_stage(&run->progress, "reading",
                   array_run_box_bytes(&run->in_box, info->rank, info->element));
    weft_array_count(run->input, &run->progress.done);
    record_begin(&run->record, RECORD_READ);
    weft_status status = weft_array_read(run->input, &run->in_box, wanted, run->in);
    record_end(&run->record, RECORD_READ);
    return status;
}

weft_status array_run_execute(array_run *run, weft_direction direction, const char *doing) {
    int64_t copied;
    WEFT_TRY(file_stream_begin(run, direction, &copied));
    progress_stage(&run->progress, doing, copied);
    record_begin(&run->record, RECORD_EXECUTE);
    WEFT_TRY(file_stream_execute(run, direction));
    record_end(&run->record, RECORD_EXECUTE);
    return WEFT_SUCCESS;
}

weft_status array_run_write(array_run *run) {
    const weft_array_info *info = &run->record.output_info;
    progress_stage(&run->progress, "writing",
                   array_run_box_bytes(&run->out_box, info->rank, info->element));
    weft_array_count(run->output, &run->progress.done);
    record_begin(&run->record, RECORD_WRITE);
    weft_status status = WEFT_SUCCESS;
    if (!run->stream.maps) status = weft_array_write(run->output, &run->out_box, run->out);
    status = weft_array_commit(&run->output, status);
    interrupt_removes(NULL);
    if (status == WEFT_SUCCESS) file_stream_forget(run);
    record_end(&run->record, RECORD_WRITE);
    return status;
}

/* ---- the end ---- */

/* Summary, report and trace; rank 0 writes them. */
static weft_status tell(array_run *run) {
    const shared_options *shared = run->shared;
    weft_status status = record_gather(&run->record, run->world);
    if (run->world->rank == 0) {
        if (status == WEFT_SUCCESS && !shared->quiet)
            status = record_print(&run->record, run->world);
        if (status == WEFT_SUCCESS && shared->report != NULL)
            status = record_report(&run->record, run->world, shared->report);
        if (status == WEFT_SUCCESS && shared->trace != NULL)
            status = record_trace(&run->record, run->world, shared->trace);
    }
    return weft_array_agree(run->world->comm, status);
}

static void release(array_run *run) {
    char sentence[1024];
    snprintf(sentence, sizeof sentence, "%s", weft_thread_error());
    weft_array_close(&run->input);
    weft_array_close(&run->output);
    /* Launchers end the other processes of a run that failed: they have nothing to add. */
    interrupt_removes(NULL);
    if (!run->stream.maps) {
        free(run->in);
        free(run->out);
    }
    file_stream_release(run);
    record_release(&run->record);
    weft_plan_destroy(&run->record.plan);
    weft_context_destroy(&run->context);
    weft_thread_error_set(sentence);
}

int array_run_do(array_run *run, weft_status (*work)(void *argument), void *argument) {
    const bool speaks = run->world->rank == 0;
    progress_begin(&run->progress, speaks && !run->shared->quiet, speaks && run->shared->progress);
    weft_status status = work(argument);
    progress_end(&run->progress);
    if (status == WEFT_SUCCESS) status = tell(run);
    release(run);
    return world_leave(run->world, status);
}

void array_run_describe_field(const array_run *run, weft_convolution_problem *p) {
    const weft_array_info *info = &run->record.input_info;
    const bool single = weft_element_single(info->element);
    p->rank = info->rank;
    memcpy(p->n, info->n, sizeof p->n);
    p->kind = weft_element_complex(info->element) ? WEFT_C2C : WEFT_R2C;
    p->precision = run->shared->precision_given ? run->shared->precision
                   : single                     ? WEFT_SINGLE
                                                : WEFT_DOUBLE;
}
