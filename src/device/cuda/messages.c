/*
 * Messages between GPUs by NCCL. Members meet in a communicator that does not block
 * (ncclConfig_t.blocking 0): what others have to take part in goes on in NCCL's threads while the
 * caller asks for progress, so a member that fails can be told of before anybody waits for it in
 * vain. Each exchange in it would be handed to another new thread, which takes longer than the
 * messages of a small cube. So once all are connected a communicator that blocks is split off,
 * which shares the connections; its calls wait for nobody, and exchanges are for it. The sends and
 * receives of one exchange are one group, which NCCL runs together, as one kernel on the queue's
 * stream.
 *
 * Counts are size_t in NCCL, so a block of any size is one message. What NCCL allocates for its
 * connections, some tens of megabytes of device memory, is not known here.
 */
#include "device/messages.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/cuda/cuda.h"
#include "device/cuda/nccl.h"
#include "support/error.h"

struct weft_communicator {
    weft_device_state *device;
    /* The communicator in which members meet, and the one for exchanges, which is NULL until it is
     * split off. Both are NULL once they have been given up. */
    weft_nccl_comm meeting, exchanges;
    enum { JOINS, CONNECTS, SPLITS, READY } stage;
    int members, me;
    char *greetings; /* device memory: what `connect` sends to, and gets from, each member */
    bool broken;
    weft_communicator *next; /* of the same device */
};

/* ---- meeting ---- */

static weft_status nccl_probe(const char **description) {
    const weft_nccl *nccl = weft_nccl_open();
    if (!nccl) return WEFT_ERROR_UNSUPPORTED;
    if (description) *description = nccl->description;
    return WEFT_SUCCESS;
}

/* The place is what NCCL compares to find whether two ranks have the same GPU: the host's name, its
 * boot identifier, and the GPU's PCI address. */
static weft_status nccl_locate(weft_device_place *place) {
    char host[128] = "", boot[64] = "", address[32] = "";
    int number;
    if (!weft_cuda_driver_open()) return WEFT_ERROR_UNSUPPORTED;
    WEFT_TRY(weft_cuda_gpu_choose(&number));
    WEFT_TRY(weft_cuda_gpu_address(number, address, (int)sizeof address));
    gethostname(host, sizeof host - 1);
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (file) {
        if (!fgets(boot, sizeof boot, file)) boot[0] = '\0';
        fclose(file);
    }
    boot[strcspn(boot, "\n")] = '\0';
    memset(place, 0, sizeof *place);
    snprintf(place->text, sizeof place->text, "%s %s %s", host, boot, address);
    return WEFT_SUCCESS;
}

static weft_status nccl_invite(weft_invitation *invitation) {
    const weft_nccl *nccl = weft_nccl_open();
    weft_nccl_id id;
    _Static_assert(sizeof id == sizeof invitation->content, "an invitation is NCCL's unique id");
    if (!nccl) return WEFT_ERROR_UNSUPPORTED;
    WEFT_TRY(weft_nccl_check(nccl->unique_id(&id), "no communicator could be announced"));
    memcpy(invitation->content, &id, sizeof id);
    return WEFT_SUCCESS;
}

static weft_nccl_config config_of(int blocking) {
    return (weft_nccl_config){.size = sizeof(weft_nccl_config),
                              .magic = WEFT_NCCL_CONFIG_MAGIC,
                              .version = WEFT_NCCL_CONFIG_VERSION,
                              .blocking = blocking,
                              .cluster = WEFT_NCCL_UNDEFINED,
                              .least_groups = WEFT_NCCL_UNDEFINED,
                              .most_groups = WEFT_NCCL_UNDEFINED,
                              .shares_with_split = 1};
}

static weft_status begin_to_join(weft_communicator *c, const weft_invitation *invitation) {
    const weft_nccl *nccl = weft_nccl_open();
    weft_nccl_config config = config_of(0);
    weft_nccl_id id;
    weft_status status;
    if (!nccl) return WEFT_ERROR_UNSUPPORTED;
    memcpy(&id, invitation->content, sizeof id);
    WEFT_CUDA_IN_CONTEXT(c->device->gpu, status,
                         weft_nccl_check(nccl->init(&c->meeting, c->members, id, c->me, &config),
                                         "no communicator"));
    return status;
}

static weft_status nccl_join(weft_device_state *device, const weft_invitation *invitation,
                             int members, int me, weft_communicator **communicator) {
    weft_communicator *made = calloc(1, sizeof *made);
    if (!made) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a communicator");
    *made = (weft_communicator){
        .device = device, .members = members, .me = me, .next = device->communicators};
    device->communicators = made;
    *communicator = made; /* also of a half: the caller leaves it */
    WEFT_TRY(weft_device_cuda.allocate(device, WEFT_MEMORY_DEVICE, 2 * (size_t)members,
                                       (void **)&made->greetings));
    return begin_to_join(made, invitation);
}

/* ---- messages ---- */

/* Aborts the communicators, which ends their kernels, also those that wait for members. */
static void give_up(weft_communicator *c) {
    if (c->meeting && weft_cuda_enter(c->device->gpu) == WEFT_SUCCESS) {
        if (c->exchanges) (void)weft_nccl_open()->abort(c->exchanges);
        (void)weft_nccl_open()->abort(c->meeting);
        weft_cuda_leave(c->device->gpu);
    }
    c->meeting = c->exchanges = NULL;
}

static void fail(weft_communicator *c) {
    c->broken = true;
    give_up(c);
}

static int put_group(weft_nccl_comm comm, weft_cuda_stream stream, const weft_device_exchange *e) {
    const weft_nccl *nccl = weft_nccl_open();
    int result = nccl->group_start();
    if (result != WEFT_NCCL_SUCCESS) return result;
    for (int i = 0; i < e->receives && result == WEFT_NCCL_SUCCESS; i++)
        result = nccl->receive(e->receive[i].address, e->receive[i].bytes, WEFT_NCCL_BYTES,
                               e->receive[i].member, comm, stream);
    for (int i = 0; i < e->sends && result == WEFT_NCCL_SUCCESS; i++)
        result = nccl->send(e->send[i].address, e->send[i].bytes, WEFT_NCCL_BYTES,
                            e->send[i].member, comm, stream);
    int ended = nccl->group_end();
    return result == WEFT_NCCL_SUCCESS ? ended : result;
}

/* The communicator that is in use. */
static weft_nccl_comm comm_of(const weft_communicator *c) {
    return c->stage == READY ? c->exchanges : c->meeting;
}

static weft_status enqueue(weft_communicator *c, weft_cuda_stream stream,
                           const weft_device_exchange *e) {
    weft_status status;
    if (!c->meeting) return WEFT_ERROR_DEVICE; /* its failure has been told */
    WEFT_CUDA_IN_CONTEXT(c->device->gpu, status,
                         weft_nccl_check(put_group(comm_of(c), stream, e),
                                         "messages between GPUs could not be enqueued"));
    if (status != WEFT_SUCCESS) fail(c);
    return status;
}

/* Exchanges one byte with each member, since NCCL connects two members when they first exchange. */
static weft_status nccl_connect(weft_communicator *c) {
    size_t members = (size_t)c->members;
    c->stage = CONNECTS;
    weft_device_message *list = calloc(2 * members, sizeof *list);
    weft_device_exchange all = {.send = list, .receive = list + members};
    if (!list) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a communicator");
    for (int m = 0; m < c->members; m++) {
        if (m == c->me) continue;
        list[all.sends++] = (weft_device_message){m, c->greetings + m, 1};
        list[c->members + all.receives++] =
            (weft_device_message){m, c->greetings + c->members + m, 1};
    }
    weft_status status = all.sends > 0 ? enqueue(c, c->device->stream, &all) : WEFT_SUCCESS;
    free(list);
    return status;
}

/* Asks whether NCCL is still busy with what was begun; `failure` begins the error message. */
static weft_status ask(const weft_communicator *c, const char *failure, bool *busy) {
    const weft_nccl *nccl = weft_nccl_open();
    int result = WEFT_NCCL_SUCCESS;
    weft_status status;
    WEFT_CUDA_IN_CONTEXT(c->device->gpu, status,
                         weft_nccl_check(nccl->async_error(comm_of(c), &result), failure));
    *busy = result == WEFT_NCCL_IN_PROGRESS;
    return status != WEFT_SUCCESS ? status : weft_nccl_check(result, failure);
}

static const char *const meeting_failed = "the GPUs of the ranks could not be connected";

/* Begins to split off the communicator for exchanges. The call does not block, since the
 * communicator that is split does not. */
static weft_status begin_to_split(weft_communicator *c) {
    const weft_nccl *nccl = weft_nccl_open();
    weft_nccl_config config = config_of(1);
    weft_status status;
    c->stage = SPLITS;
    WEFT_CUDA_IN_CONTEXT(
        c->device->gpu, status,
        weft_nccl_check(nccl->split(c->meeting, 0, c->me, &c->exchanges, &config), meeting_failed));
    return status;
}

static weft_status nccl_progress(weft_communicator *c, bool *busy) {
    WEFT_TRY(ask(c, meeting_failed, busy));
    if (*busy) return WEFT_SUCCESS;
    if (c->stage == SPLITS) c->stage = READY;
    if (c->stage != CONNECTS) return WEFT_SUCCESS;
    *busy = true;
    return begin_to_split(c);
}

static weft_status nccl_exchange(weft_communicator *c, weft_queue *queue,
                                 const weft_device_exchange *e) {
    if (e->sends + e->receives == 0) return WEFT_SUCCESS;
    return enqueue(c, weft_cuda_queue_stream(c->device, queue), e);
}

/* ---- failures, and the end ---- */

static bool nccl_broken(const weft_communicator *c) {
    return c->broken;
}

/* The result that NCCL reports for messages so far, including those by which members connected,
 * which may fail while the other communicator is being split off. */
static int result_of(const weft_communicator *c) {
    const weft_nccl_comm all[] = {c->meeting, comm_of(c)};
    int result = WEFT_NCCL_SUCCESS;
    for (int i = 0; i < 2; i++) {
        const int asked = weft_nccl_open()->async_error(all[i], &result);
        if (asked != WEFT_NCCL_SUCCESS) return asked;
        if (result != WEFT_NCCL_SUCCESS && result != WEFT_NCCL_IN_PROGRESS) return result;
    }
    return WEFT_NCCL_SUCCESS;
}

/* Gives up each communicator whose messages have failed since the last call. The others go on,
 * since their members may wait for this one. */
weft_status weft_cuda_look_for_failures(weft_device_state *device) {
    weft_status status = WEFT_SUCCESS;
    for (weft_communicator *c = device->communicators; c; c = c->next) {
        const int result = c->meeting ? result_of(c) : WEFT_NCCL_SUCCESS;
        if (result == WEFT_NCCL_SUCCESS) continue;
        status = weft_nccl_check(result, "messages between GPUs failed");
        fail(c);
    }
    return status;
}

weft_status weft_cuda_wait_for_messages(weft_device_state *device, weft_cuda_stream stream) {
    const weft_cuda_driver *driver = device->gpu->driver;
    weft_status status = WEFT_SUCCESS;
    int result;
    do {
        weft_status seen = weft_cuda_look_for_failures(device);
        if (status == WEFT_SUCCESS) status = seen;
        result = driver->stream_query(stream);
        if (result == WEFT_CUDA_ERROR_NOT_READY) sched_yield();
    } while (result == WEFT_CUDA_ERROR_NOT_READY);
    return status;
}

/* Destroys a communicator; all of its members do. */
static void finish(weft_nccl_comm comm) {
    const weft_nccl *nccl = weft_nccl_open();
    int result = nccl->finalize(comm);
    while (result == WEFT_NCCL_IN_PROGRESS && nccl->async_error(comm, &result) == WEFT_NCCL_SUCCESS)
        sched_yield();
    (void)nccl->destroy(comm);
}

static void nccl_leave(weft_communicator *c, bool at_once) {
    if (!c) return;
    weft_device_state *device = c->device;
    weft_communicator **at = &device->communicators;
    while (*at != c) at = &(*at)->next;
    *at = c->next;
    if (at_once || c->broken) {
        give_up(c);
    } else if (c->meeting && weft_cuda_enter(device->gpu) == WEFT_SUCCESS) {
        finish(c->exchanges);
        finish(c->meeting);
        weft_cuda_leave(device->gpu);
    }
    if (c->greetings) weft_device_cuda.free(device, WEFT_MEMORY_DEVICE, c->greetings);
    free(c);
}

const weft_device_messages weft_cuda_messages = {
    .probe = nccl_probe,
    .locate = nccl_locate,
    .invite = nccl_invite,
    .join = nccl_join,
    .connect = nccl_connect,
    .progress = nccl_progress,
    .exchange = nccl_exchange,
    .broken = nccl_broken,
    .leave = nccl_leave,
};
