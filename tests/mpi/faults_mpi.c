/* Faults of MPI: see faults.h. Of a call that others take part in, the rank keeps what it was to
 * get; new communicators it does not get. */
#include "mpi/faults_inside.h"

#include <mpi.h>

/* CALL(name, parameters, arguments): made, and then its failure is returned. */
#define CALL(name, parameters, arguments)                                                          \
    int __real_##name parameters;                                                                  \
    int __wrap_##name parameters {                                                                 \
        const bool fails = fault_now(FAULT_MPI, #name);                                            \
        const int code = __real_##name arguments;                                                  \
        return fails ? MPI_ERR_OTHER : code;                                                       \
    }
CALL(MPI_Allreduce,
     (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     (in, out, count, type, op, comm))
CALL(MPI_Allgather,
     (const void *in, int count, MPI_Datatype type, void *out, int counts, MPI_Datatype types,
      MPI_Comm comm),
     (in, count, type, out, counts, types, comm))
CALL(MPI_Bcast, (void *data, int count, MPI_Datatype type, int root, MPI_Comm comm),
     (data, count, type, root, comm))
CALL(MPI_Barrier, (MPI_Comm comm), (comm))
CALL(MPI_Alltoallv,
     (const void *in, const int n[], const int at[], MPI_Datatype type, void *out, const int m[],
      const int to[], MPI_Datatype types, MPI_Comm comm),
     (in, n, at, type, out, m, to, types, comm))
CALL(MPI_Alltoallw,
     (const void *in, const int n[], const int at[], const MPI_Datatype type[], void *out,
      const int m[], const int to[], const MPI_Datatype types[], MPI_Comm comm),
     (in, n, at, type, out, m, to, types, comm))
CALL(MPI_Isend,
     (const void *in, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *r),
     (in, count, type, to, tag, comm, r))
CALL(MPI_Irecv,
     (void *out, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *r),
     (out, count, type, from, tag, comm, r))
CALL(MPI_Waitany, (int count, MPI_Request r[], int *index, MPI_Status *status),
     (count, r, index, status))
CALL(MPI_Testany, (int count, MPI_Request r[], int *index, int *done, MPI_Status *status),
     (count, r, index, done, status))
CALL(MPI_Test, (MPI_Request * r, int *done, MPI_Status *status), (r, done, status))
CALL(MPI_Wait, (MPI_Request * r, MPI_Status *status), (r, status))

/* GROUP: the communicator that it makes is given back. */
#define GROUP(name, parameters, arguments)                                                         \
    int __real_##name parameters;                                                                  \
    int __wrap_##name parameters {                                                                 \
        const bool fails = fault_now(FAULT_MPI, #name);                                            \
        const int code = __real_##name arguments;                                                  \
        if (code == MPI_SUCCESS && fails) MPI_Comm_free(made);                                     \
        if (code == MPI_SUCCESS && !fails) fault_held[FAULT_HELD_COMMUNICATORS]++;                 \
        return fails ? MPI_ERR_OTHER : code;                                                       \
    }
int __real_MPI_Comm_free(MPI_Comm *comm);
#define MPI_Comm_free __real_MPI_Comm_free
GROUP(MPI_Comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made))
GROUP(MPI_Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made), (comm, color, key, made))
GROUP(MPI_Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made),
      (comm, type, key, info, made))
#undef MPI_Comm_free
int __wrap_MPI_Comm_free(MPI_Comm *comm) {
    fault_held[FAULT_HELD_COMMUNICATORS]--;
    return __real_MPI_Comm_free(comm);
}

/* TYPE: this rank's own affair, so nothing is made. */
#define TYPE(name, parameters, arguments, makes)                                                   \
    int __real_##name parameters;                                                                  \
    int __wrap_##name parameters {                                                                 \
        if (fault_now(FAULT_MPI, #name)) return MPI_ERR_OTHER;                                     \
        const int code = __real_##name arguments;                                                  \
        if (code == MPI_SUCCESS) fault_held[FAULT_HELD_TYPES] += makes;                            \
        return code;                                                                               \
    }
TYPE(MPI_Type_contiguous, (int count, MPI_Datatype type, MPI_Datatype *made), (count, type, made),
     1)
TYPE(MPI_Type_create_hvector,
     (int count, int block, MPI_Aint stride, MPI_Datatype type, MPI_Datatype *made),
     (count, block, stride, type, made), 1)
TYPE(MPI_Type_create_hindexed_block,
     (int count, int block, const MPI_Aint at[], MPI_Datatype type, MPI_Datatype *made),
     (count, block, at, type, made), 1)
TYPE(MPI_Type_create_struct,
     (int count, const int block[], const MPI_Aint at[], const MPI_Datatype type[],
      MPI_Datatype *made),
     (count, block, at, type, made), 1)
TYPE(MPI_Type_commit, (MPI_Datatype * type), (type), 0)

int __real_MPI_Type_free(MPI_Datatype *type);
int __wrap_MPI_Type_free(MPI_Datatype *type) {
    fault_held[FAULT_HELD_TYPES]--;
    return __real_MPI_Type_free(type);
}
