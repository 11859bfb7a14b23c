/*
 * Asks hwloc, then the C library, and assumes small values for the rest. From hwloc only caches and
 * cores are used, and only from the system's own tables, since its other sources visit every core.
 */
#include "support/topology.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#ifdef WEFT_HWLOC
#include <hwloc.h>
#endif

enum { SMALL_L1 = 32 << 10, SMALL_L2 = 256 << 10, SMALL_LAST_LEVEL_PER_CORE = 1 << 20 };

static pthread_once_t looked_up = PTHREAD_ONCE_INIT;
static weft_topology topology;

#ifdef WEFT_HWLOC
static void keep_smaller(size_t *kept, size_t bytes) {
    if (bytes > 0 && (*kept == 0 || bytes < *kept)) *kept = bytes;
}

/* The last cache above one core; caches of unknown size are ignored. */
static hwloc_obj_t last_cache(hwloc_obj_t core) {
    hwloc_obj_t last = NULL;
    for (hwloc_obj_t above = core->parent; above; above = above->parent)
        if (hwloc_obj_type_is_dcache(above->type) && above->attr->cache.size > 0) last = above;
    return last;
}

/* Adds the caches above one core. */
static void add_caches(hwloc_topology_t machine, hwloc_obj_t core, weft_topology *found) {
    size_t last = 0;
    int last_shared = 0;
    for (hwloc_obj_t above = core->parent; above; above = above->parent) {
        if (!hwloc_obj_type_is_dcache(above->type) || above->attr->cache.size == 0) continue;
        last = (size_t)above->attr->cache.size;
        last_shared =
            hwloc_get_nbobjs_inside_cpuset_by_type(machine, above->cpuset, HWLOC_OBJ_CORE);
        if (last_shared < 1) last_shared = 1;
        if (above->type == HWLOC_OBJ_L1CACHE) keep_smaller(&found->l1, last / (size_t)last_shared);
        if (above->type == HWLOC_OBJ_L2CACHE) keep_smaller(&found->l2, last / (size_t)last_shared);
    }
    if (last == 0) return;
    if (found->last_level > 0 &&
        found->last_level / (size_t)found->last_level_shared <= last / (size_t)last_shared)
        return;
    found->last_level = last;
    found->last_level_shared = last_shared;
}

static void add_cores(hwloc_topology_t machine, weft_topology *found) {
    hwloc_bitmap_t mine = hwloc_bitmap_alloc();
    if (!mine) return;
    if (hwloc_get_cpubind(machine, mine, HWLOC_CPUBIND_PROCESS) != 0 || hwloc_bitmap_iszero(mine))
        hwloc_bitmap_copy(mine, hwloc_topology_get_allowed_cpuset(machine));
    hwloc_obj_t core = NULL, counted = NULL, counted_of_mine = NULL;
    while ((core = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_CORE, core)) != NULL) {
        hwloc_obj_t last = last_cache(core); /* cores that share one follow each other */
        if (last && last != counted) found->last_levels_of_machine++;
        counted = last;
        if (!hwloc_bitmap_intersects(core->cpuset, mine)) continue;
        if (last && last != counted_of_mine) found->last_levels++;
        counted_of_mine = last;
        found->cores++;
        add_caches(machine, core, found);
    }
    hwloc_bitmap_free(mine);
}

static void ask_hwloc(weft_topology *found) {
    hwloc_topology_t machine;
    if (hwloc_topology_init(&machine) != 0) return;
    hwloc_topology_set_all_types_filter(machine, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_type_filter(machine, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
    hwloc_topology_set_cache_types_filter(machine, HWLOC_TYPE_FILTER_KEEP_ALL);
    /* Cores that a container or a job keeps from this process still share its caches. */
    hwloc_topology_set_flags(machine, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    hwloc_topology_set_components(machine, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
    if (hwloc_topology_load(machine) == 0) add_cores(machine, found);
    hwloc_topology_destroy(machine);
}
#endif

/* The size of a cache by sysconf, or 0. */
static size_t cache_of(int name) {
    long bytes = sysconf(name);
    return bytes > 0 ? (size_t)bytes : 0;
}

static size_t first_known(size_t a, size_t b, size_t c) {
    return a > 0 ? a : b > 0 ? b : c;
}

static int processors_online(void) {
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

static int processors_of_this_process(void) {
    cpu_set_t mine;
    CPU_ZERO(&mine);
    /* sched_getaffinity fails if there are more cores than a cpu_set_t can hold. */
    bool known = sched_getaffinity(0, sizeof mine, &mine) == 0 && CPU_COUNT(&mine) > 0;
    return known ? CPU_COUNT(&mine) : processors_online();
}

static void look_up(void) {
    weft_topology found = {0};
#ifdef WEFT_HWLOC
    ask_hwloc(&found);
#endif
    if (found.cores == 0) found.cores = processors_of_this_process();
    found.l1 = first_known(found.l1, cache_of(_SC_LEVEL1_DCACHE_SIZE), SMALL_L1);
    found.l2 = first_known(found.l2, cache_of(_SC_LEVEL2_CACHE_SIZE), SMALL_L2);
    if (found.last_level == 0) { /* sysconf would add up those of all sockets */
        found.last_level_shared = processors_online();
        found.last_level = (size_t)found.last_level_shared * SMALL_LAST_LEVEL_PER_CORE;
        if (found.last_level < found.l2) found.last_level = found.l2;
        found.last_levels = found.last_levels_of_machine = 1;
    }
    topology = found;
}

const weft_topology *weft_topology_get(void) {
    pthread_once(&looked_up, look_up);
    return &topology;
}

static int divided_up(int64_t a, int64_t b) {
    return (int)((a + b - 1) / b);
}

int weft_topology_sharers(const weft_topology *t, int threads, int processes) {
    const int mine = t->last_levels, cores = divided_up(t->cores, mine);
    if (cores < t->last_level_shared) {
        const int room = t->last_level_shared / cores;
        return divided_up(threads, mine) * (processes < room ? processes : room);
    }
    const int beside = divided_up((int64_t)processes * mine, t->last_levels_of_machine);
    return divided_up((int64_t)beside * threads, mine);
}
