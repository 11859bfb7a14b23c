/* Asks hwloc, with its view of PCI devices. */
#include "support/affinity.h"

#include "support/topology.h"

#include <stdio.h>

#ifdef WEFT_HWLOC
#include <hwloc.h>

/* Logical numbers of the cores in a set: they follow each other where the set is a NUMA node. */
static void count_cores(hwloc_topology_t machine, hwloc_const_cpuset_t set, weft_affinity *out) {
    hwloc_obj_t core = hwloc_get_next_obj_inside_cpuset_by_type(machine, set, HWLOC_OBJ_CORE, NULL);
    out->first = core ? (int)core->logical_index : 0;
    out->cores = hwloc_get_nbobjs_inside_cpuset_by_type(machine, set, HWLOC_OBJ_CORE);
}

/* How many levels above a device the first object is that holds the other, too. */
static int distance(hwloc_obj_t device, hwloc_obj_t other) {
    int levels = 0;
    for (hwloc_obj_t a = device; a; a = a->parent, levels++)
        for (hwloc_obj_t b = other; b; b = b->parent)
            if (a == b) return levels;
    return levels;
}

static void find_network(hwloc_topology_t machine, hwloc_obj_t device, weft_affinity *out) {
    int nearest = -1;
    hwloc_obj_t os = NULL;
    while ((os = hwloc_get_next_osdev(machine, os)) != NULL) {
        const int type = (int)os->attr->osdev.type;
        if (type != HWLOC_OBJ_OSDEV_NETWORK && type != HWLOC_OBJ_OSDEV_OPENFABRICS) continue;
        /* A network card appears as an interface and as a verbs device; at equal distance, the
         * verbs device is preferred. */
        int remoteness = 2 * distance(device, os) - (type == HWLOC_OBJ_OSDEV_OPENFABRICS);
        if (nearest >= 0 && remoteness >= nearest) continue;
        nearest = remoteness;
        snprintf(out->network, sizeof out->network, "%s", os->name ? os->name : "");
    }
}

static bool find(hwloc_topology_t machine, const char *address, weft_affinity *out) {
    hwloc_obj_t device = hwloc_get_pcidev_by_busidstring(machine, address);
    count_cores(machine, hwloc_topology_get_allowed_cpuset(machine), out);
    if (!device) return false;
    find_network(machine, device, out);
    hwloc_obj_t above = hwloc_get_non_io_ancestor_obj(machine, device), node = NULL;
    while ((node = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_NUMANODE, node)) != NULL) {
        if (!above->cpuset || !hwloc_bitmap_isincluded(above->cpuset, node->cpuset)) continue;
        out->numa = (int)node->logical_index;
        count_cores(machine, node->cpuset, out);
        break;
    }
    return true;
}
#endif

bool weft_affinity_of_pci(const char *address, weft_affinity *out) {
    bool found = false;
    *out = (weft_affinity){.numa = -1, .cores = weft_topology_get()->cores};
#ifdef WEFT_HWLOC
    hwloc_topology_t machine;
    if (hwloc_topology_init(&machine) != 0) return false;
    hwloc_topology_set_io_types_filter(machine, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    if (hwloc_topology_load(machine) == 0) found = find(machine, address, out);
    hwloc_topology_destroy(machine);
#else
    (void)address;
#endif
    return found;
}
