/*
 * The ceilings of a machine, one part after the other, as a JSON object:
 *
 *   {"date": "2026-11-21T11:00:00Z", "host": "...", "cpu": "...", "bytes counted": "read +
 * written", "runs": [{"ranks": 2, "threads": 1, "nodes": 1, "memory": {...}, "compute": {...},
 *              "network": {...}, "host_link": {...}}]}
 *
 * Memory and compute are rates of all ranks and threads of a node together (the slowest node's).
 * There is no network of one rank, and no host link without a CUDA device. A file that has several
 * numbers of ranks is made by appending to "runs".
 */
#include "bench/ceilings.h"

#include "bench/ceilings_parts.h"
#include "io/agreement.h"
#include "support/clock.h"
#include "support/error.h"
#include "support/processor.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LEAST_REPETITIONS = 3, MOST_REPETITIONS = 100 };

weft_status ceilings_mpi_failed(const char *call, int code) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    return weft_fail(WEFT_ERROR_TRANSPORT, "ceilings: %.60s failed: %s", call, text);
}

weft_status ceilings_wait(const ceilings_group *group) {
    const struct timespec nap = {.tv_nsec = 1000000};
    MPI_Request request;
    int done = 0;
    CEILINGS_MPI(MPI_Ibarrier(group->world->comm, &request));
    for (;;) {
        CEILINGS_MPI(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
        if (done) return WEFT_SUCCESS;
        nanosleep(&nap, NULL);
    }
}

weft_status ceilings_best_time(const ceilings_group *group, ceilings_work function, void *argument,
                               double budget, double *seconds) {
    MPI_Comm comm = group->world->comm;
    double begun = weft_clock();
    int more = 1;
    for (int r = 0; more; r++) {
        double start, end, first, last, slowest;
        CEILINGS_MPI(MPI_Barrier(comm));
        ceilings_team_run(group->team, function, argument, &start, &end);
        CEILINGS_MPI(MPI_Allreduce(&start, &first, 1, MPI_DOUBLE, MPI_MIN, group->node));
        CEILINGS_MPI(MPI_Allreduce(&end, &last, 1, MPI_DOUBLE, MPI_MAX, group->node));
        double mine = last - first;
        CEILINGS_MPI(MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, comm));
        if (r == 0 || slowest < *seconds) *seconds = slowest;
        more = r + 1 < LEAST_REPETITIONS ||
               (r + 1 < MOST_REPETITIONS && weft_clock() - begun < budget);
        CEILINGS_MPI(MPI_Bcast(&more, 1, MPI_INT, 0, comm));
    }
    return WEFT_SUCCESS;
}

/* Finds out who shares a node with whom. */
static weft_status form_group(ceilings_group *group, int *nodes) {
    const command_world *world = group->world;
    int leader = world->rank, far, first_node, leads;
    CEILINGS_MPI(MPI_Comm_split_type(world->comm, MPI_COMM_TYPE_SHARED, world->rank, MPI_INFO_NULL,
                                     &group->node));
    CEILINGS_MPI(MPI_Comm_size(group->node, &group->node_ranks));
    CEILINGS_MPI(MPI_Bcast(&leader, 1, MPI_INT, 0, group->node)); /* the lowest rank of the node */
    first_node = leader == 0;
    far = first_node ? world->ranks : world->rank;
    leads = leader == world->rank;
    CEILINGS_MPI(MPI_Allreduce(&far, &group->far_rank, 1, MPI_INT, MPI_MIN, world->comm));
    CEILINGS_MPI(MPI_Allreduce(&leads, nodes, 1, MPI_INT, MPI_SUM, world->comm));
    group->one_node = group->far_rank == world->ranks;
    if (group->one_node) group->far_rank = 1;
    return WEFT_SUCCESS;
}

typedef weft_status (*part_function)(const ceilings_group *group, json_t **part);

/* Measures a part and adds it to `run`, where there is something to tell: on rank 0. */
static weft_status add_part(const ceilings_group *group, json_t *run, const char *name,
                            part_function measure_part) {
    json_t *part = NULL;
    weft_status status = measure_part(group, &part);
    if (status == WEFT_SUCCESS && part) json_object_set(run, name, part);
    json_decref(part);
    return status;
}

static weft_status measure(const ceilings_group *group, json_t *run) {
    WEFT_TRY(add_part(group, run, "memory", ceilings_memory));
    WEFT_TRY(add_part(group, run, "compute", ceilings_compute));
    if (group->world->ranks > 1) WEFT_TRY(add_part(group, run, "network", ceilings_network));
    return add_part(group, run, "host_link", ceilings_host_link);
}

/* Takes over `run`. */
static json_t *with_machine(json_t *run) {
    char date[32] = "", host[256] = "", cpu[256];
    time_t now = time(NULL);
    struct tm parts;
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &parts));
    gethostname(host, sizeof host - 1);
    weft_processor_name(cpu, sizeof cpu);
    return json_pack("{s:s, s:s, s:s, s:s, s:[o]}", "date", date, "host", host, "cpu", cpu,
                     "bytes counted", "read + written", "runs", run);
}

weft_status bench_ceilings(const command_world *world, int threads, json_t **ceilings) {
    ceilings_group group = {.world = world, .node = MPI_COMM_NULL};
    int nodes = 0;
    WEFT_TRY(form_group(&group, &nodes));
    weft_status status = ceilings_team_create(threads, &group.team);
    status = weft_array_agree(world->comm, status);
    json_t *run = NULL;
    if (world->rank == 0 && status == WEFT_SUCCESS)
        run =
            json_pack("{s:i, s:i, s:i}", "ranks", world->ranks, "threads", threads, "nodes", nodes);
    if (status == WEFT_SUCCESS) status = measure(&group, run);
    ceilings_team_destroy(&group.team);
    MPI_Comm_free(&group.node);
    if (status != WEFT_SUCCESS) {
        json_decref(run);
        return status;
    }
    *ceilings = world->rank == 0 ? with_machine(run) : NULL;
    return WEFT_SUCCESS;
}
