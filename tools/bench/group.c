/* Host, cores, MPI and engines, as the ranks themselves see them. */
#include "bench/group.h"

#include "io/agreement.h"
#include "support/error.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_CPUS = 8192 };

/* Where a rank runs; sent as bytes. */
typedef struct seat {
    bench_host host;
    char cpus[192];
} seat;

/* "0-1,4": the cores that this process may use; "" where the system does not tell. */
static void list_cpus(char *text, size_t capacity) {
    cpu_set_t *set = CPU_ALLOC(MOST_CPUS);
    size_t bytes = CPU_ALLOC_SIZE(MOST_CPUS), length = 0;
    text[0] = '\0';
    if (set && sched_getaffinity(0, bytes, set) == 0) {
        for (int first = 0; first < MOST_CPUS && length < capacity; first++) {
            int last = first;
            if (!CPU_ISSET_S((size_t)first, bytes, set)) continue;
            while (last + 1 < MOST_CPUS && CPU_ISSET_S((size_t)last + 1, bytes, set)) last++;
            length += (size_t)snprintf(text + length, capacity - length,
                                       last > first ? "%s%d-%d" : "%s%d", length > 0 ? "," : "",
                                       first, last);
            first = last;
        }
    }
    CPU_FREE(set);
}

static seat own_seat(void) {
    seat mine = {{0}, {0}};
    char name[MPI_MAX_PROCESSOR_NAME];
    int length;
    if (MPI_Get_processor_name(name, &length) == MPI_SUCCESS)
        snprintf(mine.host, sizeof mine.host, "%.*s", (int)sizeof mine.host - 1, name);
    list_cpus(mine.cpus, sizeof mine.cpus);
    return mine;
}

/* "Open MPI v4.1.4": what comes before the first comma or line end. */
static json_t *mpi_version(void) {
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(version, &length);
    version[strcspn(version, ",\n")] = '\0';
    size_t kept = 0;
    for (const char *c = version; *c != '\0'; c++) { /* tabs, and the spaces that go with them */
        char now = *c;
        if (now == '\t') now = ' ';
        if (now != ' ' || (kept > 0 && version[kept - 1] != ' ')) version[kept++] = now;
    }
    return json_stringn(version, kept);
}

static json_t *engine_versions(void) {
    json_t *versions = json_pack("{s:s}", "weft", weft_version());
    for (int e = WEFT_ENGINE_AUTO + 1; strcmp(weft_engine_name((weft_engine)e), "?") != 0; e++) {
        const char *description = NULL;
        if (weft_engine_probe((weft_engine)e, &description) != WEFT_SUCCESS || !description)
            continue;
        json_object_set_new(versions, weft_engine_name((weft_engine)e), json_string(description));
    }
    return versions;
}

static json_t *describe(const seat *seats, int ranks) {
    char now[32];
    time_t seconds = time(NULL);
    struct tm utc;
    strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&seconds, &utc));
    json_t *binding = json_array();
    for (int r = 0; r < ranks; r++)
        json_array_append_new(binding, json_pack("{s:i, s:s, s:s}", "rank", r, "host",
                                                 seats[r].host, "cpus", seats[r].cpus));
    return json_pack("{s:s, s:i, s:o, s:s, s:o, s:o}", "type", "group", "ranks", ranks, "mpi",
                     mpi_version(), "time", now, "binding", binding, "versions", engine_versions());
}

static int count_ranks_here(MPI_Comm comm) {
    MPI_Comm here;
    int ranks = 1;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_size(here, &ranks);
    MPI_Comm_free(&here);
    return ranks;
}

weft_status bench_group_describe(bench_run *run, json_t **line) {
    const command_world *world = run->world;
    bool keeper = world->rank == 0;
    seat mine = own_seat();
    seat *seats = keeper ? calloc((size_t)world->ranks, sizeof *seats) : NULL;
    if (keeper) run->hosts = calloc((size_t)world->ranks, sizeof *run->hosts);
    weft_status status = weft_array_agree(
        world->comm, !keeper || (seats && run->hosts)
                         ? WEFT_SUCCESS
                         : weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory to describe the ranks"));
    if (status == WEFT_SUCCESS) {
        MPI_Gather(&mine, (int)sizeof mine, MPI_BYTE, seats, (int)sizeof mine, MPI_BYTE, 0,
                   world->comm);
        for (int r = 0; keeper && r < world->ranks; r++)
            memcpy(run->hosts[r], seats[r].host, sizeof seats[r].host);
        if (keeper) *line = describe(seats, world->ranks);
        run->ranks_here = count_ranks_here(world->comm);
    }
    free(seats);
    return status;
}
