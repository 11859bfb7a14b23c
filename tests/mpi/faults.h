/*
 * Faults on demand, for tests: calls of libweft's own objects to the system, to MPI and to devices
 * are counted, and one of them fails. The program is linked with the libraries' static versions and
 * with --wrap for each of the functions (faults.cmake), so that what MPI and other libraries call
 * themselves is left alone.
 *
 * A call that concerns this process alone fails before it has done anything. A call that other
 * ranks take part in has been made when its failure is returned: what another rank would wait for
 * in MPI itself no library can mend.
 */
#ifndef WEFT_TESTS_FAULTS_H
#define WEFT_TESTS_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum fault_kind {
    FAULT_MEMORY, /* allocations */
    FAULT_SYSTEM, /* files, mappings, threads */
    FAULT_MPI,
    FAULT_DEVICE,
    FAULT_DRIVER, /* of CUDA */
    FAULT_KINDS
} fault_kind;

extern const char *const fault_kind_names[FAULT_KINDS];

/* From now on calls of all kinds are counted, and the k-th (from 1) of `kind` fails; 0: none. */
void faults_begin(fault_kind kind, int64_t k);
void faults_end(void);

/* How many calls there were between begin and end; whether one has failed, and which. */
int64_t faults_count(fault_kind kind);
bool faults_fired(const char **function);

/* What libweft's objects hold at this moment. */
typedef struct fault_balance {
    int64_t allocations, mapped_bytes, files, threads, datatypes, communicators, device_objects;
} fault_balance;
fault_balance faults_balance(void);

#endif
