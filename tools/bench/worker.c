/* Joins files, ranks and problems. */
#include "bench/worker.h"

#include "bench/block.h"
#include "bench/ceilings.h"
#include "bench/group.h"
#include "bench/request.h"
#include "bench/validation.h"
#include "bench/verdict.h"
#include "record.h"

#include "io/agreement.h"
#include "support/clock.h"
#include "support/error.h"

#include <stdlib.h>

/* Several transforms at once are a matter of one process. */
static bool fits(const bench_problem *p) {
    return p->ranks == 1 || (p->batch == 1 && !p->strided);
}

static void skip_all(bench_run *run, const bench_request *request) {
    for (int i = 0; run->table && i < request->contestants; i++) {
        bench_entrant e = {.cell = request->cell[i], .contestant = {.problem = &request->problem}};
        bench_entrant_leave(&e, weft_fail(WEFT_ERROR_UNSUPPORTED,
                                          "batches and strides are measured on one process"));
        bench_verdict_left(run->table, &e);
    }
}

static weft_status run_request(bench_run *run, const bench_request *request) {
    if (fits(&request->problem))
        return request->validate ? bench_validation_run(run, request)
                                 : bench_blocks_run(run, request);
    skip_all(run, request);
    return WEFT_SUCCESS;
}

static weft_status open_table(bench_run *run, const bench_requests *requests) {
    json_t *line = NULL;
    WEFT_TRY(bench_group_describe(run, &line));
    weft_status status = WEFT_SUCCESS;
    if (run->world->rank == 0) {
        status = bench_table_open(requests->table, requests->journal, &run->table);
        if (status == WEFT_SUCCESS) {
            bench_table_note(run->table, line);
            bench_table_write(run->table);
            status = bench_table_status(run->table);
        } else {
            json_decref(line);
        }
    }
    return weft_array_agree(run->world->comm, status);
}

/* Messages between all pairs: connections and MPI's own buffers are not what a plan takes. */
static void connect_all(const command_world *world) {
    const int count = 1 << 16;
    size_t bytes = (size_t)count * (size_t)world->ranks;
    char *send = calloc(1, bytes), *receive = calloc(1, bytes);
    int room = send && receive, all = 0;
    MPI_Allreduce(&room, &all, 1, MPI_INT, MPI_LAND, world->comm);
    if (all) MPI_Alltoall(send, count, MPI_CHAR, receive, count, MPI_CHAR, world->comm);
    free(send);
    free(receive);
}

static weft_status run_all(bench_run *run, const bench_requests *requests) {
    WEFT_TRY(open_table(run, requests));
    connect_all(run->world);
    run->since = weft_clock();
    for (int i = 0; i < requests->count; i++) WEFT_TRY(run_request(run, &requests->request[i]));
    if (!run->table) return WEFT_SUCCESS;
    bench_table_write(run->table);
    return bench_table_status(run->table);
}

/* Rank 0 writes. The front end joins the files of several groups. */
static weft_status measure_ceilings(const command_world *world, const bench_requests *requests) {
    json_t *measured = NULL;
    WEFT_TRY(bench_ceilings(world, requests->threads, &measured));
    return world->rank == 0 ? record_write_json(requests->ceilings, RECORD_TIME_DIGITS, measured)
                            : WEFT_SUCCESS;
}

weft_status bench_worker(const command_world *world, const char *path, bool *sound) {
    bench_requests requests;
    bench_run run = {.world = world, .sound = true};
    weft_status status = bench_requests_read(world, path, &requests);
    run.block = requests.first_block;
    if (status == WEFT_SUCCESS)
        status =
            weft_array_agree(world->comm, requests.ceilings ? measure_ceilings(world, &requests)
                                                            : run_all(&run, &requests));
    *sound = run.sound;
    bench_table_close(run.table);
    bench_buffers_release(&run.buffers);
    free(run.hosts);
    bench_requests_release(&requests);
    return status;
}
