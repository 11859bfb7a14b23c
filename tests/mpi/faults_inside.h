/* What the files of faults.h share. */
#ifndef WEFT_TESTS_FAULTS_INSIDE_H
#define WEFT_TESTS_FAULTS_INSIDE_H

#include "mpi/faults.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/stat.h>

enum {
    FAULT_HELD_MEMORY,
    FAULT_HELD_MAPPED,
    FAULT_HELD_FILES,
    FAULT_HELD_THREADS,
    FAULT_HELD_TYPES,
    FAULT_HELD_COMMUNICATORS,
    FAULT_HELD_DEVICE,
    FAULT_HELD
};
extern atomic_llong fault_held[FAULT_HELD];

/* Counts a call; whether this one fails. */
bool fault_now(fault_kind kind, const char *function);

#endif
