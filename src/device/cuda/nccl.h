/*
 * NCCL as it is found at run time. weft is built without it: the few prototypes, structures and
 * constants are written here from NVIDIA's "NCCL API" reference
 * (docs.nvidia.com/deeplearning/nccl/user-guide/docs/api.html), version 2.18 and later. Results and
 * types are ints, handles pointers.
 */
#ifndef WEFT_DEVICE_CUDA_NCCL_H
#define WEFT_DEVICE_CUDA_NCCL_H

#include <limits.h>

#include "device/cuda/driver.h"

typedef struct ncclComm *weft_nccl_comm;

enum { WEFT_NCCL_SUCCESS = 0, WEFT_NCCL_IN_PROGRESS = 7 }; /* ncclResult_t */
enum { WEFT_NCCL_BYTES = 0 };                              /* ncclDataType_t: ncclChar */

typedef struct weft_nccl_id { /* ncclUniqueId */
    char content[128];
} weft_nccl_id;

/* ncclConfig_t as of 2.18: a newer library takes what it does not find here as its own default. */
typedef struct weft_nccl_config {
    size_t size;
    unsigned magic, version; /* of the interface that this structure is of */
    int blocking;
    int cluster, least_groups, most_groups; /* of kernels */
    const char *network;
    int shares_with_split; /* communicators that are split off share its connections */
} weft_nccl_config;

enum { WEFT_NCCL_CONFIG_VERSION = 21800 };
#define WEFT_NCCL_CONFIG_MAGIC 0xcafebeefu
#define WEFT_NCCL_UNDEFINED INT_MIN

typedef struct weft_nccl {
    char description[64];
    int (*version)(int *version);
    int (*unique_id)(weft_nccl_id *id);
    int (*init)(weft_nccl_comm *comm, int members, weft_nccl_id id, int me,
                weft_nccl_config *config);
    int (*split)(weft_nccl_comm comm, int color, int key, weft_nccl_comm *part,
                 weft_nccl_config *config);
    int (*finalize)(weft_nccl_comm comm);
    int (*destroy)(weft_nccl_comm comm);
    int (*abort)(weft_nccl_comm comm);
    int (*async_error)(weft_nccl_comm comm, int *result);
    int (*group_start)(void);
    int (*group_end)(void);
    int (*send)(const void *from, size_t count, int type, int member, weft_nccl_comm comm,
                weft_cuda_stream stream);
    int (*receive)(void *to, size_t count, int type, int member, weft_nccl_comm comm,
                   weft_cuda_stream stream);
    const char *(*error_string)(int result);
} weft_nccl;

/* The library, opened by the first call and kept for the life of the process; NULL, with the reason
 * as the thread's last error, where it cannot be had. Thread-safe. WEFT_CUDA_LIBRARY_PATH names
 * folders to look in first. */
const weft_nccl *weft_nccl_open(void);

/* The one place that turns NCCL's results into a status: WEFT_SUCCESS for 0 and for what is in
 * progress; else a sentence that says what failed. */
weft_status weft_nccl_check(int result, const char *failure);

#endif
