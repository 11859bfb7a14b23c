/* Ranks as threads. One mutex and one condition for all groups, for a rank may wait for requests of
 * several: simple, not fast. */
#include "thread_transport.h"

#include "device/device.h"
#include "support/error.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RANKS = 32, MAX_POSTED = 4096 };

struct weft_message {
    weft_view view;
    int order[WEFT_AXES];
    size_t element_bytes;
};

/* A send or a receive that waits for its other half, or is done. */
typedef struct posted {
    bool live, send, done;
    int from, to;
    uint64_t number; /* posting order */
    char *base;
    const weft_message *message;
} posted;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all groups */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

typedef struct group {
    int size, users;
    int ranks_per_node; /* 0: all on one */
    posted post[MAX_POSTED];
    uint64_t next_number;
    int arrived, generation; /* barrier */
    const void *shared[MAX_RANKS];
    struct group *made[MAX_RANKS];
} group;

typedef struct thread_transport {
    weft_transport base;
    group *g;
} thread_transport;

static group *group_create(int size) {
    group *g = calloc(1, sizeof *g);
    g->size = g->users = size;
    return g;
}

static group *group_of(weft_transport *transport) {
    return ((thread_transport *)transport)->g;
}

static weft_status barrier(weft_transport *transport) {
    group *g = group_of(transport);
    pthread_mutex_lock(&lock);
    int generation = g->generation;
    if (++g->arrived == g->size) {
        g->arrived = 0;
        g->generation++;
        pthread_cond_broadcast(&changed);
    }
    while (generation == g->generation) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return WEFT_SUCCESS;
}

/* Everybody's pointer is visible to everybody between the two barriers of the caller. */
static void show(weft_transport *transport, const void *mine) {
    group_of(transport)->shared[transport->rank] = mine;
    barrier(transport);
}

static weft_transport *join(group *g, int rank);

static weft_status split(weft_transport *transport, int color, int key, weft_transport **out) {
    group *g = group_of(transport);
    int mine[2] = {color, key}, size = 0, rank = 0, leader = -1;
    show(transport, mine);
    for (int r = 0; r < g->size; r++) {
        const int *theirs = g->shared[r];
        if (theirs[0] != color) continue;
        if (leader < 0) leader = r;
        size++;
        rank += theirs[1] < key;
    }
    if (leader == transport->rank) {
        g->made[leader] = group_create(size);
        if (size == g->size) g->made[leader]->ranks_per_node = g->ranks_per_node;
    }
    barrier(transport);
    *out = join(g->made[leader], rank);
    barrier(transport);
    return WEFT_SUCCESS;
}

static void release(weft_transport *transport) {
    group *g = group_of(transport);
    pthread_mutex_lock(&lock);
    bool last = --g->users == 0;
    pthread_mutex_unlock(&lock);
    if (last) {
        free(g);
    }
    free(transport);
}

static weft_status maximum(weft_transport *transport, int64_t *values, int count) {
    int64_t mine[64];
    memcpy(mine, values, (size_t)count * sizeof *values);
    show(transport, mine);
    for (int r = 0; r < transport->size; r++)
        for (int i = 0; i < count; i++) {
            int64_t theirs = ((const int64_t *)group_of(transport)->shared[r])[i];
            if (theirs > values[i]) values[i] = theirs;
        }
    return barrier(transport);
}

static weft_status maximum_double(weft_transport *transport, double *values, int count) {
    double mine[64];
    memcpy(mine, values, (size_t)count * sizeof *values);
    show(transport, mine);
    for (int r = 0; r < transport->size; r++)
        for (int i = 0; i < count; i++) {
            double theirs = ((const double *)group_of(transport)->shared[r])[i];
            if (theirs > values[i]) values[i] = theirs;
        }
    return barrier(transport);
}

static weft_status gather_all(weft_transport *transport, const void *mine, size_t bytes,
                              void *all) {
    show(transport, mine);
    for (int r = 0; r < transport->size; r++)
        memcpy((char *)all + (size_t)r * bytes, group_of(transport)->shared[r], bytes);
    return barrier(transport);
}

static weft_status broadcast(weft_transport *transport, void *data, size_t bytes, int root) {
    show(transport, data);
    if (transport->rank != root) memcpy(data, group_of(transport)->shared[root], bytes);
    return barrier(transport);
}

static bool threads_allowed(weft_transport *transport) {
    (void)transport;
    return true;
}

static weft_status message_create(weft_transport *transport, const weft_view *view,
                                  const int *order, size_t element_bytes, weft_message **message) {
    (void)transport;
    weft_message *m = calloc(1, sizeof *m);
    m->view = *view;
    memcpy(m->order, order, (size_t)view->axes * sizeof *order);
    m->element_bytes = element_bytes;
    *message = m;
    return WEFT_SUCCESS;
}

static void message_destroy(weft_transport *transport, weft_message *message) {
    (void)transport;
    free(message);
}

static void deliver(const posted *send, const posted *receive) {
    weft_copy copy = weft_copy_between(&send->message->view, &receive->message->view,
                                       send->message->element_bytes);
    if (copy.elements > 0) weft_copy_run(&copy, send->base, receive->base, 1);
}

/* The oldest live opposite of a post between the same two ranks. */
static posted *find_match(group *g, const posted *p) {
    posted *match = NULL;
    for (int i = 0; i < MAX_POSTED; i++) {
        posted *q = &g->post[i];
        if (q->live && !q->done && q->send != p->send && q->from == p->from && q->to == p->to &&
            (!match || q->number < match->number))
            match = q;
    }
    return match;
}

static weft_status post(weft_transport *transport, posted p, weft_request *request) {
    group *g = group_of(transport);
    pthread_mutex_lock(&lock);
    int place = 0;
    while (place < MAX_POSTED && g->post[place].live) place++;
    if (place == MAX_POSTED) abort();
    p.live = true;
    p.number = g->next_number++;
    posted *match = find_match(g, &p);
    if (match) {
        deliver(p.send ? &p : match, p.send ? match : &p);
        p.done = match->done = true;
        pthread_cond_broadcast(&changed);
    }
    g->post[place] = p;
    request->opaque = (uint64_t)(uintptr_t)&g->post[place];
    pthread_mutex_unlock(&lock);
    return WEFT_SUCCESS;
}

static weft_status send_message(weft_transport *transport, const void *base,
                                const weft_message *message, int partner, weft_request *request) {
    return post(transport,
                (posted){.send = true,
                         .from = transport->rank,
                         .to = partner,
                         .base = (char *)(uintptr_t)base,
                         .message = message},
                request);
}

static weft_status receive_message(weft_transport *transport, void *base,
                                   const weft_message *message, int partner,
                                   weft_request *request) {
    return post(transport,
                (posted){.from = partner, .to = transport->rank, .base = base, .message = message},
                request);
}

static weft_status any(weft_transport *transport, weft_request *requests, int count, int *index,
                       bool wait) {
    (void)transport;
    pthread_mutex_lock(&lock);
    for (*index = -3; *index == -3;) {
        bool live = false;
        for (int i = 0; i < count && *index == -3; i++) {
            if (requests[i].opaque == 0) continue;
            live = true;
            posted *p = (posted *)(uintptr_t)requests[i].opaque;
            if (!p->done) continue;
            p->live = false;
            requests[i].opaque = 0;
            *index = i;
        }
        if (*index != -3) break;
        if (!live)
            *index = -1;
        else if (!wait)
            *index = -2;
        else
            pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
    return WEFT_SUCCESS;
}

static weft_status wait_any(weft_transport *t, weft_request *requests, int count, int *index) {
    return any(t, requests, count, index, true);
}

static weft_status test_any(weft_transport *t, weft_request *requests, int count, int *index) {
    return any(t, requests, count, index, false);
}

static weft_status wait_all(weft_transport *t, weft_request *requests, int count) {
    for (int index = 0; index != -1;) any(t, requests, count, &index, true);
    return WEFT_SUCCESS;
}

static weft_request no_request(void) {
    return (weft_request){0};
}

struct weft_alltoall {
    int members;
    weft_message *send[MAX_RANKS], *receive[MAX_RANKS];
};

static weft_message *copy_message(const weft_message *message) {
    weft_message *copy = message ? malloc(sizeof *copy) : NULL;
    if (copy) *copy = *message;
    return copy;
}

static weft_status alltoall_create_typed(weft_transport *t, weft_message *const *send,
                                         weft_message *const *receive, weft_alltoall **alltoall) {
    weft_alltoall *a = calloc(1, sizeof *a);
    a->members = t->size;
    for (int m = 0; m < t->size; m++) {
        a->send[m] = copy_message(send[m]);
        a->receive[m] = copy_message(receive[m]);
    }
    *alltoall = a;
    return WEFT_SUCCESS;
}

static weft_message *run_message(weft_transport *t, const weft_run *run, size_t element_bytes) {
    weft_message *message = NULL;
    int order[] = {0};
    weft_view view = {.axes = 1, .offset = run->offset, .n = {run->count}, .stride = {1}};
    if (run->count > 0) message_create(t, &view, order, element_bytes, &message);
    return message;
}

static weft_status alltoall_create(weft_transport *t, const weft_run *send, const weft_run *receive,
                                   size_t element_bytes, weft_alltoall **alltoall) {
    weft_message *out[MAX_RANKS] = {NULL}, *in[MAX_RANKS] = {NULL};
    for (int m = 0; m < t->size; m++) {
        out[m] = run_message(t, &send[m], element_bytes);
        in[m] = run_message(t, &receive[m], element_bytes);
    }
    weft_status status = alltoall_create_typed(t, out, in, alltoall);
    for (int m = 0; m < t->size; m++) {
        free(out[m]);
        free(in[m]);
    }
    return status;
}

static void alltoall_destroy(weft_transport *t, weft_alltoall *a) {
    (void)t;
    for (int m = 0; a && m < a->members; m++) {
        free(a->send[m]);
        free(a->receive[m]);
    }
    free(a);
}

static weft_status alltoall(weft_transport *t, const weft_alltoall *a, const void *send,
                            void *receive) {
    weft_request requests[2 * MAX_RANKS] = {{0}};
    for (int m = 0; m < a->members; m++)
        if (a->receive[m]) receive_message(t, receive, a->receive[m], m, &requests[m]);
    for (int m = 0; m < a->members; m++)
        if (a->send[m]) send_message(t, send, a->send[m], m, &requests[MAX_RANKS + m]);
    return wait_all(t, requests, 2 * MAX_RANKS);
}

static weft_status nodes(weft_transport *transport, int *node) {
    int per_node = group_of(transport)->ranks_per_node;
    for (int r = 0; r < transport->size; r++) node[r] = per_node > 0 ? r / per_node * per_node : 0;
    return WEFT_SUCCESS;
}

struct weft_shared {
    int rank;
    const int *node;
    void *part[MAX_RANKS];
};

static weft_status share(weft_transport *transport, const int *node, size_t bytes,
                         weft_shared **shared) {
    weft_shared *s = calloc(1, sizeof *s);
    s->rank = transport->rank;
    s->node = node;
    /* on pages, as real shared memory */
    s->part[transport->rank] = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    memset(s->part[transport->rank], 0, bytes);
    show(transport, s->part[transport->rank]);
    for (int r = 0; r < transport->size; r++)
        s->part[r] = (void *)(uintptr_t)group_of(transport)->shared[r];
    *shared = s;
    return barrier(transport);
}

static void *shared_part(const weft_shared *shared, int rank) {
    return shared->node[rank] == shared->node[shared->rank] ? shared->part[rank] : NULL;
}

static void give_back(weft_transport *transport, weft_shared *shared) {
    barrier(transport); /* all have read */
    free(shared->part[transport->rank]);
    free(shared);
}

static void progress(weft_transport *transport) {
    (void)transport;
}

static const weft_transport_ops thread_ops = {
    .name = "threads",
    .split = split,
    .release = release,
    .maximum = maximum,
    .maximum_double = maximum_double,
    .gather_all = gather_all,
    .broadcast = broadcast,
    .barrier = barrier,
    .threads_allowed = threads_allowed,
    .nodes = nodes,
    .share = share,
    .shared_part = shared_part,
    .unshare = give_back,
    .progress = progress,
    .message_create = message_create,
    .message_destroy = message_destroy,
    .send = send_message,
    .receive = receive_message,
    .wait_any = wait_any,
    .test_any = test_any,
    .wait_all = wait_all,
    .no_request = no_request,
    .alltoall_create = alltoall_create,
    .alltoall_create_typed = alltoall_create_typed,
    .alltoall_destroy = alltoall_destroy,
    .alltoall = alltoall,
};

static weft_transport *join(group *g, int rank) {
    thread_transport *t = calloc(1, sizeof *t);
    t->base = (weft_transport){.ops = &thread_ops, .size = g->size, .rank = rank};
    t->g = g;
    return &t->base;
}

typedef struct rank_thread {
    pthread_t thread;
    weft_transport *transport;
    void (*body)(void *argument, weft_transport *transport);
    void *argument;
} rank_thread;

static void *run_rank(void *argument) {
    rank_thread *r = argument;
    r->body(r->argument, r->transport);
    return NULL;
}

void thread_ranks_run(int ranks, void (*body)(void *argument, weft_transport *transport),
                      void *argument) {
    thread_ranks_run_on_nodes(ranks, 0, body, argument);
}

void thread_ranks_run_on_nodes(int ranks, int ranks_per_node,
                               void (*body)(void *argument, weft_transport *transport),
                               void *argument) {
    rank_thread rank[MAX_RANKS];
    group *g = group_create(ranks);
    g->ranks_per_node = ranks_per_node;
    for (int r = 0; r < ranks; r++)
        rank[r] = (rank_thread){.transport = join(g, r), .body = body, .argument = argument};
    for (int r = 0; r < ranks; r++) pthread_create(&rank[r].thread, NULL, run_rank, &rank[r]);
    for (int r = 0; r < ranks; r++) pthread_join(rank[r].thread, NULL);
}
