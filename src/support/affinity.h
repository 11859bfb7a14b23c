/* Where a device sits in this machine: for binding ranks near their GPUs. */
#ifndef WEFT_SUPPORT_AFFINITY_H
#define WEFT_SUPPORT_AFFINITY_H

#include <stdbool.h>

typedef struct weft_affinity {
    int numa;         /* logical number of the NUMA node; -1: unknown */
    int first, cores; /* logical numbers of its cores; of the machine's where it is unknown */
    char network[64]; /* the network interface or card nearest to it; "" if there is none */
} weft_affinity;

/* Gets the affinity of the PCI device with this address ("0000:19:00.0"). Returns false, with the
 * affinity of the whole machine, if hwloc does not know the device or is not in this build. Each
 * call examines the machine anew (tens of ms). */
bool weft_affinity_of_pci(const char *address, weft_affinity *affinity);

#endif
