/* Sockets between the members of a communicator of the NCCL of host_cuda.h. */
#include "nccl.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { GLANCE_MS = 10 }; /* between two looks whether the wire is given up */

/* What members tell each other when they connect. */
typedef struct hello {
    int member, device;
} hello;

/* An abstract name, which leaves no file behind. */
static socklen_t name_of(const wire *w, int member, struct sockaddr_un *address) {
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    int length =
        snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "%s-%d", w->name, member);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

int wire_listen(wire *w) {
    struct sockaddr_un address;
    socklen_t length = name_of(w, w->me, &address);
    for (int m = 0; m < MOST_MEMBERS; m++) w->peer[m] = -1;
    w->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (w->listener < 0 || bind(w->listener, (struct sockaddr *)&address, length) != 0 ||
        listen(w->listener, MOST_MEMBERS) != 0)
        return NCCL_SYSTEM_ERROR;
    return NCCL_SUCCESS;
}

/* Both sides' hello is short enough to be in the socket at once; whole, or not at all. */
static bool greet(const wire *w, int file, hello *other) {
    const hello mine = {w->me, w->device};
    struct pollfd ready = {.fd = file, .events = POLLIN};
    if (send(file, &mine, sizeof mine, MSG_NOSIGNAL) != sizeof mine) return false;
    while (!w->given_up)
        if (poll(&ready, 1, GLANCE_MS) > 0)
            return recv(file, other, sizeof *other, 0) == sizeof *other;
    return false;
}

/* To a member with a lower number, which may not listen yet; -1 where the wire is given up. */
static int call(wire *w, int member) {
    struct sockaddr_un address;
    socklen_t length = name_of(w, member, &address);
    while (!w->given_up) {
        int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(file, (struct sockaddr *)&address, length) == 0) return file;
        close(file);
        usleep(1000);
    }
    return -1;
}

/* From any member with a higher number. */
static int answer(wire *w) {
    struct pollfd ready = {.fd = w->listener, .events = POLLIN};
    while (!w->given_up)
        if (poll(&ready, 1, GLANCE_MS) > 0) return accept(w->listener, NULL, NULL);
    return -1;
}

int wire_connect(wire *w) {
    int result = NCCL_SUCCESS;
    for (int m = 0; m < w->members; m++) {
        hello other;
        if (m == w->me) continue;
        int file = m < w->me ? call(w, m) : answer(w);
        if (file < 0) return NCCL_SYSTEM_ERROR;
        if (!greet(w, file, &other)) {
            close(file);
            return NCCL_REMOTE_ERROR;
        }
        w->peer[other.member] = file;
        if (other.device == w->device) result = NCCL_INVALID_USAGE; /* "Duplicate GPU detected" */
    }
    return result;
}

/* Moves what can be moved of one message; false where the other side is gone. */
static bool advance(const wire *w, message *m) {
    const size_t total = sizeof m->header + m->bytes;
    while (m->moved < total) {
        bool head = m->moved < sizeof m->header;
        uint64_t seen[2];
        char *at = head ? (m->sends ? (char *)m->header : (char *)seen)
                        : m->address + (m->moved - sizeof m->header);
        size_t want = head ? sizeof m->header : total - m->moved;
        ssize_t moved = m->sends ? send(w->peer[m->member], at, want, MSG_DONTWAIT | MSG_NOSIGNAL)
                                 : recv(w->peer[m->member], at, want,
                                        head ? MSG_DONTWAIT | MSG_PEEK : MSG_DONTWAIT);
        if (moved < 0 && (errno == EAGAIN || errno == EINTR)) return true;
        if (moved <= 0) return false;
        if (head && !m->sends) { /* whole, or not at all */
            if (moved < (ssize_t)sizeof seen) return true;
            if (memcmp(seen, m->header, sizeof seen) != 0) {
                fprintf(
                    stderr,
                    "NCCL of host memory: message %llu of member %d has %llu bytes, but message "
                    "%llu of %llu bytes is expected\n",
                    (unsigned long long)seen[0], m->member, (unsigned long long)seen[1],
                    (unsigned long long)m->header[0], (unsigned long long)m->header[1]);
                abort();
            }
            moved = recv(w->peer[m->member], seen, sizeof seen, MSG_WAITALL);
        }
        m->moved += (size_t)moved;
    }
    return true;
}

static bool is_moved(const message *m) {
    return m->moved == sizeof m->header + m->bytes;
}

/* Messages between two members keep their order. */
static bool is_next(const message *list, int i) {
    for (int k = 0; k < i; k++)
        if (list[k].sends == list[i].sends && list[k].member == list[i].member &&
            !is_moved(&list[k]))
            return false;
    return !is_moved(&list[i]);
}

int wire_move(wire *w, message *list, int count) {
    while (!w->given_up) {
        struct pollfd wanted[2 * MOST_MEMBERS];
        int open = 0;
        for (int i = 0; i < count; i++) {
            if (!is_next(list, i)) continue;
            if (!advance(w, &list[i])) return NCCL_REMOTE_ERROR;
            if (!is_moved(&list[i]) && open < 2 * MOST_MEMBERS)
                wanted[open++] = (struct pollfd){.fd = w->peer[list[i].member],
                                                 .events = list[i].sends ? POLLOUT : POLLIN};
        }
        bool all = true;
        for (int i = 0; i < count; i++) all = all && is_moved(&list[i]);
        if (all) return NCCL_SUCCESS;
        if (open > 0) poll(wanted, (nfds_t)open, GLANCE_MS);
    }
    return NCCL_SYSTEM_ERROR;
}

void wire_cut(wire *w) {
    for (int m = 0; m < w->members; m++)
        if (w->peer[m] >= 0) shutdown(w->peer[m], SHUT_RDWR);
}

void wire_close(wire *w) {
    for (int m = 0; m < w->members; m++)
        if (w->peer[m] >= 0) close(w->peer[m]);
    if (w->listener >= 0) close(w->listener);
}
