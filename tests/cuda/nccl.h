/*
 * Inside the NCCL of host_cuda.h: nccl.c has communicators and groups, nccl_wire.c the sockets
 * between processes. A group is work on a stream that ends when all of its messages have moved, as
 * NCCL's kernels do; until then it moves whatever can be moved, in any order.
 */
#ifndef WEFT_TESTS_NCCL_H
#define WEFT_TESTS_NCCL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { /* ncclResult_t */
       NCCL_SUCCESS = 0,
       NCCL_SYSTEM_ERROR = 2,
       NCCL_INVALID_ARGUMENT = 4,
       NCCL_INVALID_USAGE = 5,
       NCCL_REMOTE_ERROR = 6,
       NCCL_IN_PROGRESS = 7
};
enum { MOST_MEMBERS = 16, NAME_BYTES = 64 };

/* The connections of one member. */
typedef struct wire {
    char name[NAME_BYTES]; /* of the communicator */
    int members, me, device;
    int listener, peer[MOST_MEMBERS]; /* sockets; -1: none */
    atomic_bool given_up;
} wire;

/* One send or receive of a group. A header goes first: both sides must mean the same message. */
typedef struct message {
    bool sends;
    int member;
    char *address;
    size_t bytes, moved; /* moved counts the header too */
    uint64_t header[2];  /* its number between these members, and the bytes */
} message;

/* Both return an ncclResult_t. wire_listen is at once; wire_connect waits for all members, until
 * the wire is given up. */
int wire_listen(wire *w);
int wire_connect(wire *w);
/* Moves all messages, until the wire is given up. */
int wire_move(wire *w, message *list, int count);
/* The others see it as a remote error. */
void wire_cut(wire *w);
void wire_close(wire *w);

#endif
