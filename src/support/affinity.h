/* Where a device sits in this machine: for binding ranks near their GPUs. */
#ifndef WEFT_SUPPORT_AFFINITY_H
#define WEFT_SUPPORT_AFFINITY_H

#include <stdbool.h>

typedef struct weft_affinity {
    int numa;         /* logical number of the NUMA node; -1: unknown */
    int first, cores; /* logical numbers of its cores; of the machine's where it is unknown */
    char network[64]; /* the network interface or card nearest to it; "" if there is none */
} weft_affinity;

/* Of the PCI device with this address ("0000:19:00.0"). False where hwloc does not know the device
 * or is not in this build; then of the whole machine. Looks at the machine anew at each call (tens
 * of ms). */
bool weft_affinity_of_pci(const char *address, weft_affinity *affinity);

#endif
