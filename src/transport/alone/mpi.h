/*
 * What the command and its parts call of MPI, for builds without MPI: one process, alone in every
 * communicator. A collective call copies what a rank would have got from itself; nothing is sent.
 */
#ifndef WEFT_TRANSPORT_ALONE_MPI_H
#define WEFT_TRANSPORT_ALONE_MPI_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define WEFT_ALONE 1 /* there is no MPI */

typedef int MPI_Comm;
typedef int MPI_Fint;
typedef int MPI_Info;
typedef int MPI_Op;
typedef int MPI_Errhandler;
typedef int MPI_Request;
typedef size_t MPI_Datatype; /* the bytes of one element */

enum { MPI_SUCCESS = 0 };
enum { MPI_COMM_NULL, MPI_COMM_WORLD, MPI_COMM_SELF };
enum { MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE };
enum { MPI_SUM, MPI_MIN, MPI_MAX, MPI_LAND };
enum { MPI_INFO_NULL, MPI_ERRORS_RETURN = 0, MPI_COMM_TYPE_SHARED = 0 };
enum { MPI_MAX_LIBRARY_VERSION_STRING = 64 };

#define MPI_BYTE ((MPI_Datatype)1)
#define MPI_CHAR ((MPI_Datatype)1)
#define MPI_INT (sizeof(int))
#define MPI_LONG_LONG (sizeof(long long))
#define MPI_INT64_T ((MPI_Datatype)8)
#define MPI_UINT64_T ((MPI_Datatype)8)
#define MPI_DOUBLE (sizeof(double))
#define MPI_FLOAT (sizeof(float))
#define MPI_STATUS_IGNORE NULL
#define MPI_IN_PLACE NULL /* nothing else gives NULL to read from */

static inline int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    (void)argc, (void)argv;
    *provided = required;
    return MPI_SUCCESS;
}

static inline int MPI_Finalize(void) {
    return MPI_SUCCESS;
}

static inline int MPI_Query_thread(int *provided) {
    *provided = MPI_THREAD_MULTIPLE;
    return MPI_SUCCESS;
}

static inline int MPI_Get_library_version(char *version, int *length) {
    *length = snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING, "not in this build");
    return MPI_SUCCESS;
}

static inline int MPI_Get_version(int *major, int *minor) {
    *major = *minor = 0;
    return MPI_SUCCESS;
}

static inline int MPI_Comm_rank(MPI_Comm comm, int *rank) {
    (void)comm;
    *rank = 0;
    return MPI_SUCCESS;
}

static inline int MPI_Comm_size(MPI_Comm comm, int *size) {
    (void)comm;
    *size = 1;
    return MPI_SUCCESS;
}

static inline int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler) {
    (void)comm, (void)handler;
    return MPI_SUCCESS;
}

static inline int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info,
                                      MPI_Comm *part) {
    (void)type, (void)key, (void)info;
    *part = comm;
    return MPI_SUCCESS;
}

static inline int MPI_Comm_free(MPI_Comm *comm) {
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

static inline int MPI_Barrier(MPI_Comm comm) {
    (void)comm;
    return MPI_SUCCESS;
}

static inline int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    (void)data, (void)count, (void)type, (void)root, (void)comm;
    return MPI_SUCCESS;
}

static inline int MPI_Ibcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm,
                             MPI_Request *request) {
    *request = 0;
    return MPI_Bcast(data, count, type, root, comm);
}

static inline int MPI_Test(MPI_Request *request, int *done, void *status) {
    (void)request, (void)status;
    *done = 1;
    return MPI_SUCCESS;
}

static inline int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
                                MPI_Comm comm) {
    (void)op, (void)comm;
    if (from != MPI_IN_PLACE && count > 0) memcpy(to, from, (size_t)count * type);
    return MPI_SUCCESS;
}

static inline int MPI_Reduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
                             int root, MPI_Comm comm) {
    (void)root;
    return MPI_Allreduce(from, to, count, type, op, comm);
}

static inline int MPI_Gather(const void *from, int count, MPI_Datatype type, void *to, int room,
                             MPI_Datatype to_type, int root, MPI_Comm comm) {
    (void)room, (void)to_type, (void)root;
    return MPI_Allreduce(from, to, count, type, MPI_SUM, comm);
}

static inline int MPI_Gatherv(const void *from, int count, MPI_Datatype type, void *to,
                              const int *counts, const int *begins, MPI_Datatype to_type, int root,
                              MPI_Comm comm) {
    (void)counts, (void)root;
    return MPI_Allreduce(from, (char *)to + (size_t)begins[0] * to_type, count, type, MPI_SUM,
                         comm);
}

static inline int MPI_Alltoallv(const void *from, const int *counts, const int *begins,
                                MPI_Datatype type, void *to, const int *to_counts,
                                const int *to_begins, MPI_Datatype to_type, MPI_Comm comm) {
    (void)to_counts;
    return MPI_Allreduce((const char *)from + (size_t)begins[0] * type,
                         (char *)to + (size_t)to_begins[0] * to_type, counts[0], type, MPI_SUM,
                         comm);
}

#endif
