/*
 * The NCCL of host_cuda.h. As NCCL does, it refuses members with the same GPU; makes communicators,
 * splits others off, and connects members in the first group, while the caller polls; runs groups
 * on streams; and after a failure holds the stream until the communicator is aborted. Stricter than
 * NCCL: messages must be in groups, in device memory, and of one length on both sides.
 *
 * WEFT_TEST_NCCL_FAIL injects a failure: "init:R" of member R's communicators, once they are being
 * made; "init-now:R" at once; "split:R" once another is split off; "group:R:N" of member R's N-th
 * group, from 1, those before a split counted.
 */
#include "nccl.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "device/cuda/nccl.h"
#include "host_cuda.h"

enum { MOST_MESSAGES = 64, POLLS = 3 };

typedef struct group {
    struct ncclComm *comm;
    void *stream;
    int count;
    message list[MOST_MESSAGES];
    uint64_t number;
} group;

struct ncclComm {
    wire wire;
    pthread_t connecting;
    atomic_int state, working; /* groups on streams */
    group *held;               /* a group that is not on its stream yet */
    int polls;
    bool blocking;
    struct ncclComm *parent, *child;            /* split off, and not ended */
    struct ncclComm **handed_to;                /* what is split off */
    uint64_t groups, messages[2][MOST_MEMBERS]; /* received from, and sent to, each member */
};

static _Thread_local int depth, group_result;
static _Thread_local group current;

/* ---- injected failures ---- */

/* Whether the environment asks for `what` to fail for this member; for groups, with this number. */
static bool injected(const char *what, int member, uint64_t number) {
    const char *text = getenv("WEFT_TEST_NCCL_FAIL");
    size_t length = strlen(what);
    int who = -1;
    unsigned long long which = 0;
    if (!text || strncmp(text, what, length) != 0 || text[length] != ':') return false;
    return sscanf(text + length + 1, "%d:%llu", &who, &which) >= 1 && who == member &&
           which == number;
}

/* ---- communicators ---- */

EXPORTED int ncclGetVersion(int *version) {
    *version = 22809;
    return NCCL_SUCCESS;
}

EXPORTED const char *ncclGetErrorString(int result) {
    return result == NCCL_INVALID_USAGE      ? "invalid usage"
           : result == NCCL_INVALID_ARGUMENT ? "invalid argument"
           : result == NCCL_REMOTE_ERROR     ? "remote process exited or there was a network error"
                                             : "unhandled system error";
}

EXPORTED int ncclGetUniqueId(weft_nccl_id *id) {
    static atomic_int made;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    memset(id, 0, sizeof *id);
    snprintf(id->content, NAME_BYTES, "weft-nccl-%d-%d-%lld", (int)getpid(),
             atomic_fetch_add(&made, 1), (long long)now.tv_sec * 1000000000 + now.tv_nsec);
    return NCCL_SUCCESS;
}

static bool is_config(const weft_nccl_config *config, int blocking) {
    return config->magic == WEFT_NCCL_CONFIG_MAGIC && config->size >= sizeof *config &&
           config->version >= 21800 && config->blocking == blocking &&
           config->cluster == WEFT_NCCL_UNDEFINED && config->least_groups == WEFT_NCCL_UNDEFINED &&
           config->most_groups == WEFT_NCCL_UNDEFINED && !config->network &&
           config->shares_with_split == 1;
}

static void *connect_all(void *argument) {
    struct ncclComm *c = argument;
    int result = injected("init", c->wire.me, 0) ? NCCL_SYSTEM_ERROR : wire_connect(&c->wire);
    atomic_store(&c->state, result);
    return NULL;
}

EXPORTED int ncclCommInitRankConfig(struct ncclComm **comm, int members, weft_nccl_id id, int me,
                                    weft_nccl_config *config) {
    *comm = NULL;
    if (!host_context_is_current() || !is_config(config, 0) || members > MOST_MEMBERS || me < 0 ||
        me >= members)
        return NCCL_INVALID_ARGUMENT;
    if (injected("init-now", me, 0)) return NCCL_SYSTEM_ERROR;
    struct ncclComm *c = calloc(1, sizeof *c);
    if (!c) return NCCL_SYSTEM_ERROR;
    c->wire.members = members;
    c->wire.me = me;
    c->wire.device = host_context_device();
    memcpy(c->wire.name, id.content, NAME_BYTES - 1);
    atomic_store(&c->state, NCCL_IN_PROGRESS);
    if (wire_listen(&c->wire) != NCCL_SUCCESS ||
        pthread_create(&c->connecting, NULL, connect_all, c) != 0) {
        free(c);
        return NCCL_SYSTEM_ERROR;
    }
    *comm = c;
    return NCCL_IN_PROGRESS;
}

/* A failure of an earlier group stays. */
static void change(struct ncclComm *c, int from, int to) {
    atomic_compare_exchange_strong(&c->state, &from, to);
}

static void *connect_split(void *argument) {
    struct ncclComm *c = argument;
    int result = injected("split", c->wire.me, 0) ? NCCL_SYSTEM_ERROR : wire_connect(&c->wire);
    if (result == NCCL_SUCCESS) *c->handed_to = c;
    atomic_store(&c->state, result);
    change(c->parent, NCCL_IN_PROGRESS, result);
    return NULL;
}

/* What is split off has connections from the beginning. */
EXPORTED int ncclCommSplit(struct ncclComm *c, int color, int key, struct ncclComm **part,
                           weft_nccl_config *config) {
    *part = NULL;
    if (!host_context_is_current() || !is_config(config, 1) || color != 0 || key != c->wire.me ||
        c->groups == 0 || c->held || c->child || atomic_load(&c->state) != NCCL_SUCCESS)
        return NCCL_INVALID_ARGUMENT;
    struct ncclComm *child = calloc(1, sizeof *child);
    if (!child) return NCCL_SYSTEM_ERROR;
    child->wire.members = c->wire.members;
    child->wire.me = c->wire.me;
    child->wire.device = c->wire.device;
    snprintf(child->wire.name, sizeof child->wire.name, "%.*s-split", NAME_BYTES - 8, c->wire.name);
    child->blocking = true;
    child->parent = c;
    child->handed_to = part;
    child->groups = c->groups;
    atomic_store(&c->state, NCCL_IN_PROGRESS);
    if (wire_listen(&child->wire) != NCCL_SUCCESS ||
        pthread_create(&child->connecting, NULL, connect_split, child) != 0) {
        free(child);
        return NCCL_SYSTEM_ERROR;
    }
    c->child = child;
    return NCCL_IN_PROGRESS;
}

static void end(struct ncclComm *c) {
    if (c->child) { /* not handed over yet, or given up with this one */
        c->child->wire.given_up = c->wire.given_up || c->child->wire.given_up;
        end(c->child);
    }
    pthread_join(c->connecting, NULL);
    while (atomic_load(&c->working) > 0) usleep(100);
    if (c->parent) c->parent->child = NULL;
    free(c->held);
    wire_close(&c->wire);
    free(c);
}

EXPORTED int ncclCommAbort(struct ncclComm *c) {
    c->wire.given_up = true;
    end(c);
    return NCCL_SUCCESS;
}

EXPORTED int ncclCommFinalize(struct ncclComm *c) {
    return atomic_load(&c->state) == NCCL_SUCCESS ? NCCL_SUCCESS : NCCL_INVALID_USAGE;
}

EXPORTED int ncclCommDestroy(struct ncclComm *c) {
    end(c);
    return NCCL_SUCCESS;
}

/* ---- groups ---- */

/* On the stream's thread, with device memory open. After a failure the stream is held, as by a
 * kernel that waits for a member. */
static void run_group(void *argument) {
    group *g = *(group **)argument;
    struct ncclComm *c = g->comm;
    int result = NCCL_SYSTEM_ERROR;
    if (injected("group", c->wire.me, g->number))
        wire_cut(&c->wire);
    else
        result = wire_move(&c->wire, g->list, g->count);
    if (result != NCCL_SUCCESS) {
        atomic_store(&c->state, result);
        while (!c->wire.given_up) usleep(1000);
    }
    free(g);
    atomic_fetch_sub(&c->working, 1);
}

static int launch(group *g) {
    atomic_fetch_add(&g->comm->working, 1);
    return host_stream_put(g->stream, run_group, &g, sizeof g) == 0 ? NCCL_SUCCESS
                                                                    : NCCL_SYSTEM_ERROR;
}

/* What a group that is held waits for, as the first one does for members that are not connected, is
 * over after some polls: only then is it on the stream. */
EXPORTED int ncclCommGetAsyncError(struct ncclComm *c, int *result) {
    if (c->held && ++c->polls == POLLS) {
        group *g = c->held;
        c->held = NULL;
        change(c, NCCL_IN_PROGRESS, NCCL_SUCCESS);
        if (launch(g) != NCCL_SUCCESS) atomic_store(&c->state, NCCL_SYSTEM_ERROR);
    }
    *result = atomic_load(&c->state);
    return NCCL_SUCCESS;
}

EXPORTED int ncclGroupStart(void) {
    if (depth++ == 0) {
        current.comm = NULL;
        current.count = 0;
        group_result = NCCL_SUCCESS;
    }
    return NCCL_SUCCESS;
}

static int add(bool sends, const void *address, size_t count, int type, int member,
               struct ncclComm *c, void *stream) {
    bool fits = depth > 0 && c && stream && (!current.comm || current.comm == c) &&
                (!current.comm || current.stream == stream) && current.count < MOST_MESSAGES &&
                !c->held && atomic_load(&c->state) == NCCL_SUCCESS;
    if (!fits) return group_result = NCCL_INVALID_USAGE;
    if (!host_context_is_current() || type != WEFT_NCCL_BYTES || member < 0 ||
        member >= c->wire.members || member == c->wire.me || !host_is_device(address, count))
        return group_result = NCCL_INVALID_ARGUMENT;
    current.comm = c;
    current.stream = stream;
    current.list[current.count++] = (message){.sends = sends,
                                              .member = member,
                                              .address = (char *)(uintptr_t)address,
                                              .bytes = count,
                                              .header = {++c->messages[sends][member], count}};
    return NCCL_SUCCESS;
}

EXPORTED int ncclSend(const void *from, size_t count, int type, int member, struct ncclComm *c,
                      void *stream) {
    return add(true, from, count, type, member, c, stream);
}

EXPORTED int ncclRecv(void *to, size_t count, int type, int member, struct ncclComm *c,
                      void *stream) {
    return add(false, to, count, type, member, c, stream);
}

EXPORTED int ncclGroupEnd(void) {
    if (depth == 0) return NCCL_INVALID_USAGE;
    if (--depth > 0) return NCCL_SUCCESS;
    if (group_result != NCCL_SUCCESS || !current.comm) return group_result;
    struct ncclComm *c = current.comm;
    group *g = malloc(sizeof *g);
    if (!g) return NCCL_SYSTEM_ERROR;
    *g = current;
    g->number = ++c->groups;
    if (c->blocking) return launch(g);
    c->polls = 0;
    change(c, NCCL_SUCCESS, NCCL_IN_PROGRESS);
    c->held = g;
    return NCCL_IN_PROGRESS;
}
