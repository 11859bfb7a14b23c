/*
 * Messages between the devices of several processes, put on queues as copies are: what a device
 * offers where there is a library for it (CUDA: NCCL). It knows no transport: processes meet by an
 * invitation that one of them makes and the caller takes to the others.
 *
 * A communicator is made in stages, since each of them needs all members, and one member may fail:
 * whoever drives them (exec/communicators.c) lets nobody wait for a member that has failed.
 */
#ifndef WEFT_DEVICE_MESSAGES_H
#define WEFT_DEVICE_MESSAGES_H

#include "device/device.h"

typedef struct weft_communicator weft_communicator;

/* What the inviting member tells the others; the content is each back end's own. */
typedef struct weft_invitation {
    _Alignas(int64_t) unsigned char content[128];
} weft_invitation;

/* Identifies a device: two processes use the same one if these bytes are equal. Bytes after the
 * text are zero. */
typedef struct weft_device_place {
    char text[256];
} weft_device_place;

/* A block that is sent to, or received from, another member. */
typedef struct weft_device_message {
    int member;
    void *address; /* device memory */
    size_t bytes;
} weft_device_message;

/* The messages of one exchange: all of them go on at the same time. */
typedef struct weft_device_exchange {
    const weft_device_message *send, *receive;
    int sends, receives;
} weft_device_exchange;

typedef struct weft_device_messages {
    /* Whether the library is there; description as in weft_device_ops. */
    weft_status (*probe)(const char **description);
    /* Gets the place of the device that this process uses. */
    weft_status (*locate)(weft_device_place *place);

    /* One member invites; then all of them join, connect, and may exchange. join and connect begin
     * something that goes on until progress says that it is not busy any more, or fails. connect
     * makes what exchange needs, which then allocates nothing. */
    weft_status (*invite)(weft_invitation *invitation);
    weft_status (*join)(weft_device_state *device, const weft_invitation *invitation, int members,
                        int me, weft_communicator **communicator);
    weft_status (*connect)(weft_communicator *communicator);
    weft_status (*progress)(weft_communicator *communicator, bool *busy);

    /* Enqueues messages: each is received by the member that it is for in an exchange of its own,
     * and all members put their exchanges on queues in the same order. A failure that comes later
     * is reported by the next wait on a queue of the device. */
    weft_status (*exchange)(weft_communicator *communicator, weft_queue *queue,
                            const weft_device_exchange *messages);
    /* Whether a failure has ended it, here at least: every exchange fails from then on, without
     * another sentence. */
    bool (*broken)(const weft_communicator *communicator);
    /* All members leave; `at_once` where one may not: then what is enqueued is given up. */
    void (*leave)(weft_communicator *communicator, bool at_once);
} weft_device_messages;

#endif
