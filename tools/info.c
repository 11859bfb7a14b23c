/* weft info: what this build has and what this machine offers. */
#include "affinity.h"
#include "launch.h"
#include "options.h"
#include "support/error.h"
#include "support/topology.h"

#ifdef WEFT_HAVE_HDF5
#include <hdf5.h>
#ifdef WEFT_ALONE
#define HDF5_KIND "serial"
#else
#define HDF5_KIND "parallel"
#endif
#endif
#include <string.h>

typedef struct info_options {
    bool affinity;
    const char *rankfile;
} info_options;

static weft_status set_affinity(void *target, const char *value) {
    (void)value;
    ((info_options *)target)->affinity = true;
    return WEFT_SUCCESS;
}

static weft_status set_rankfile(void *target, const char *value) {
    ((info_options *)target)->affinity = true;
    ((info_options *)target)->rankfile = value;
    return WEFT_SUCCESS;
}

static const option_flag info_flags[] = {
    {"affinity", NULL, "which GPU, cores and network card each rank of this node should use",
     set_affinity},
    {"rankfile", "FILE", "the same as a rankfile for Open MPI; default: printed", set_rankfile},
    {NULL, NULL, NULL, NULL}};

/* Prints what is there, or else, where `absent`, what is not. */
static void print_probe(const char *what, const char *name, weft_status status,
                        const char *description, bool absent) {
    if (status == WEFT_SUCCESS && !absent)
        printf("%s %-10s %s\n", what, name, description != NULL ? description : "available");
    if (status != WEFT_SUCCESS && absent)
        printf("absent  %s %s: %s\n", what, name, weft_last_error(NULL));
}

/* Those that need a library. */
static void print_exchanges(bool absent) {
    for (int e = WEFT_P2P_SYNC; strcmp(weft_exchange_name((weft_exchange)e), "?") != 0; e++) {
        const char *description = NULL;
        weft_status status = weft_exchange_probe((weft_exchange)e, &description);
        if (status != WEFT_SUCCESS || description != NULL)
            print_probe("exchange", weft_exchange_name((weft_exchange)e), status, description,
                        absent);
    }
}

static void print_engines_and_devices(bool absent) {
    for (int e = WEFT_ENGINE_AUTO + 1; strcmp(weft_engine_name((weft_engine)e), "?") != 0; e++) {
        const char *description = NULL;
        weft_status status = weft_engine_probe((weft_engine)e, &description);
        print_probe(absent ? "engine" : "engine ", weft_engine_name((weft_engine)e), status,
                    description, absent);
    }
    for (int d = WEFT_HOST; strcmp(weft_device_name((weft_device)d), "?") != 0; d++) {
        const char *description = NULL;
        weft_status status = weft_device_probe((weft_device)d, &description);
        print_probe(absent ? "device" : "device ", weft_device_name((weft_device)d), status,
                    description, absent);
    }
}

static void print_mpi(const command_world *world) {
    static const struct {
        int level;
        const char *name;
    } levels[] = {{MPI_THREAD_SINGLE, "single"},
                  {MPI_THREAD_FUNNELED, "funneled"},
                  {MPI_THREAD_SERIALIZED, "serialized"},
                  {MPI_THREAD_MULTIPLE, "multiple"}};
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, provided, major, minor;
    MPI_Get_library_version(version, &length);
#ifdef WEFT_ALONE
    printf("mpi     %s, which is one process\n", version);
    return;
#endif
    version[strcspn(version, ",\n")] = '\0';
    for (char *c = version; *c != '\0'; c++)
        if (*c == '\t') *c = ' ';
    MPI_Get_version(&major, &minor);
    MPI_Query_thread(&provided);
    printf("mpi     %s (standard %d.%d), ", version, major, minor);
    for (size_t l = 0; l < sizeof levels / sizeof *levels; l++)
        if (levels[l].level == provided) printf("threads %s, ", levels[l].name);
    printf("%d process%s\n", world->ranks, world->ranks > 1 ? "es" : "");
}

/* Of rank 0, which is how each rank that is bound as it is sees the machine. */
static void print_topology(void) {
    const weft_topology *topology = weft_topology_get();
    printf("cores   %d for this process\n", topology->cores);
    printf("caches  L1 %zu KiB, L2 %zu KiB of each core, last level %zu KiB shared by %d\n",
           topology->l1 >> 10, topology->l2 >> 10, topology->last_level >> 10,
           topology->last_level_shared);
}

static void print_info(const command_world *world) {
    printf("weft    %s\n", weft_version());
    print_engines_and_devices(false);
    print_exchanges(false);
    print_mpi(world);
#ifdef WEFT_HAVE_HDF5
    unsigned major, minor, release;
    H5get_libversion(&major, &minor, &release);
    printf("hdf5    %u.%u.%u, %s\n", major, minor, release, HDF5_KIND);
#else
    printf("hdf5    not in this build\n");
#endif
    print_topology();
    print_engines_and_devices(true);
    print_exchanges(true);
}

static int info_main(int argc, char **argv, int ranks) {
    shared_options shared = {.ranks = ranks};
    info_options flags = {0};
    parsed_arguments parsed = {0};
    command_world world = {.ranks = 1};
    weft_status status = options_parse(&info_command, argc, argv, &shared, &flags, &parsed);
    if (status == WEFT_SUCCESS && parsed.helped) return 0;
    if (status == WEFT_SUCCESS) status = launch_ranks(shared.ranks, 1, launch_arguments);
    if (status == WEFT_SUCCESS) status = world_join(&world, shared.ranks, true);
    if (status == WEFT_SUCCESS && world.rank == 0 && !flags.affinity) print_info(&world);
    if (status == WEFT_SUCCESS && world.rank == 0 && flags.affinity)
        status = print_affinity(world.ranks > 1 ? world.ranks : 0, flags.rankfile);
    return world_leave(&world, status);
}

const subcommand info_command = {
    .name = "info",
    .arguments = "",
    .summary =
        "Lists the engines and devices of this build, and the cores and caches of this machine.",
    .examples = "weft info\n"
                "weft --ranks 8 info --rankfile ranks.txt",
    .flags = info_flags,
    .run = info_main,
};
