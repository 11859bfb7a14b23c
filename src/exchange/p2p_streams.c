/*
 * p2p-streams: every pack runs on a worker queue; a callback on the queue puts the partner on the
 * ready list as soon as its block is packed, and a sender takes partners from the list and sends.
 *
 * Where any thread may communicate, the sender is a thread of its own and the calling thread
 * receives and unpacks; otherwise the calling thread does both in turn.
 *
 * All exchanges of a plan, which run one after the other, share the queues and the sender: each
 * queue is a thread on the host, and a plan has as many exchanges as schedules, redistributions and
 * parts make together. They live as long as the plan.
 */
#include "exchange/blocks.h"
#include "support/clock.h"
#include "support/error.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_QUEUES = 4 };

typedef struct streams_state streams_state;

/* What a callback gets: it only knows one pointer. */
typedef struct packed_notice {
    streams_state *state;
    int member, queue;
    double enqueued;
} packed_notice;

/* What the exchanges of a plan share. */
struct weft_stream_workers {
    int users; /* exchanges */
    int queues;
    weft_queue *queue[MAX_QUEUES];

    pthread_mutex_t lock; /* of the state that runs, too */
    pthread_cond_t changed;
    streams_state *running; /* NULL: none */
    bool thread_started, stop;
    pthread_t thread;
};

struct streams_state {
    weft_exchange_plan *plan;
    weft_stream_workers *workers;
    weft_blocks blocks;
    int queues;                    /* of the workers', that this exchange packs on */
    double queue_free[MAX_QUEUES]; /* clock of each queue's last callback: its next pack begins */
    weft_event *source_ready;
    packed_notice *notice; /* [partners] */

    /* Under the workers' lock: */
    int *ready;              /* members whose block is packed, in that order */
    int ready_count;         /* written by callbacks */
    int sent_count;          /* taken by the sender */
    double last_packed;      /* clock of the last callback */
    double first_sent;       /* clock of the first message; 0: none yet */
    weft_status send_status; /* first failure of the sender thread in this run, and its sentence */
    char send_error[1024];

    bool threaded;
};

static void on_packed(void *argument) {
    packed_notice *notice = argument;
    streams_state *s = notice->state;
    double now = weft_clock(), *free_since = &s->queue_free[notice->queue - 1];
    pthread_mutex_lock(&s->workers->lock);
    weft_record_span(s->plan->recorder, WEFT_PHASE_PACK, notice->queue, notice->member,
                     *free_since > notice->enqueued ? *free_since : notice->enqueued, now);
    *free_since = now;
    s->ready[s->ready_count++] = notice->member;
    s->last_packed = now;
    pthread_cond_broadcast(&s->workers->changed);
    pthread_mutex_unlock(&s->workers->lock);
}

/* The next member to send to, with the lock held; -1: none now. */
static int next_ready(const streams_state *s) {
    return s->sent_count < s->ready_count ? s->ready[s->sent_count] : -1;
}

/* Hands one block to the transport; on the sender thread where there is one. */
static void send_one(streams_state *s, int member) {
    double begin = weft_clock();
    weft_status status = weft_blocks_send(s->plan, &s->blocks, member);
    weft_record_span(s->plan->recorder, WEFT_PHASE_EXCHANGE,
                     s->threaded ? WEFT_SENDER_QUEUE : WEFT_CALLER_QUEUE, member, begin,
                     weft_clock());
    pthread_mutex_lock(&s->workers->lock);
    s->sent_count++;
    if (s->first_sent == 0 && s->blocks.send[member]) s->first_sent = begin;
    if (status != WEFT_SUCCESS && s->send_status == WEFT_SUCCESS) {
        s->send_status = status;
        strncpy(s->send_error, weft_thread_error(), sizeof s->send_error - 1);
    }
    pthread_cond_broadcast(&s->workers->changed);
    pthread_mutex_unlock(&s->workers->lock);
}

static void *sender(void *argument) {
    weft_stream_workers *w = argument;
    pthread_mutex_lock(&w->lock);
    while (!w->stop) {
        streams_state *s = w->running;
        int member = s ? next_ready(s) : -1;
        if (member < 0) {
            pthread_cond_wait(&w->changed, &w->lock);
            continue;
        }
        pthread_mutex_unlock(&w->lock);
        send_one(s, member);
        pthread_mutex_lock(&w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* ---- what exchanges share ---- */

/* Those of the plan, made by its first exchange. */
static weft_status join_workers(weft_exchange_plan *plan, streams_state *s) {
    weft_stream_workers *w = *plan->workers;
    if (!w) {
        w = calloc(1, sizeof *w);
        if (!w) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for an exchange");
        pthread_mutex_init(&w->lock, NULL);
        pthread_cond_init(&w->changed, NULL);
        *plan->workers = w;
    }
    w->users++;
    s->workers = w;
    return WEFT_SUCCESS;
}

/* As many as this exchange wants and are not there yet. */
static weft_status start_workers(weft_exchange_plan *plan, streams_state *s) {
    const weft_device_ops *device = plan->device->ops;
    weft_stream_workers *w = s->workers;
    s->queues = s->blocks.partners < MAX_QUEUES ? s->blocks.partners : MAX_QUEUES;
    for (; w->queues < s->queues; w->queues++)
        WEFT_TRY(device->queue_create(plan->device->state, false, &w->queue[w->queues]));
    s->threaded = plan->group->ops->threads_allowed(plan->group) && s->blocks.partners > 0;
    if (s->threaded && !w->thread_started) {
        if (pthread_create(&w->thread, NULL, sender, w) != 0)
            return weft_fail(WEFT_ERROR_SYSTEM,
                             "the sender thread of p2p-streams could not be started");
        w->thread_started = true;
    }
    return WEFT_SUCCESS;
}

/* The last exchange ends them. */
static void leave_workers(weft_exchange_plan *plan, weft_stream_workers *w) {
    if (!w || --w->users > 0) return;
    if (w->thread_started) {
        pthread_mutex_lock(&w->lock);
        w->stop = true;
        pthread_cond_broadcast(&w->changed);
        pthread_mutex_unlock(&w->lock);
        pthread_join(w->thread, NULL);
    }
    for (int q = 0; q < w->queues; q++)
        plan->device->ops->queue_destroy(plan->device->state, w->queue[q]);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    free(w);
    *plan->workers = NULL;
}

/* Which exchange the sender works for; NULL: none. All of an exchange is sent when it ends. */
static void begin_run(weft_stream_workers *w, streams_state *s) {
    pthread_mutex_lock(&w->lock);
    s->ready_count = s->sent_count = 0;
    s->first_sent = 0;
    s->send_status = WEFT_SUCCESS;
    w->running = s;
    pthread_mutex_unlock(&w->lock);
}

static void end_run(weft_stream_workers *w) {
    pthread_mutex_lock(&w->lock);
    w->running = NULL;
    pthread_mutex_unlock(&w->lock);
}

/* ---- one exchange ---- */

static weft_status prepare(weft_exchange_plan *plan) {
    streams_state *s = calloc(1, sizeof *s);
    if (!s) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for an exchange");
    plan->method_state = s;
    s->plan = plan;
    WEFT_TRY(join_workers(plan, s));
    WEFT_TRY(weft_blocks_prepare(plan, true, &s->blocks));
    s->ready = calloc((size_t)plan->geometry->members, sizeof *s->ready);
    s->notice = calloc((size_t)plan->geometry->members, sizeof *s->notice);
    if (!s->ready || !s->notice)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for an exchange");
    WEFT_TRY(start_workers(plan, s));
    WEFT_TRY(plan->device->ops->event_create(plan->device->state, &s->source_ready));
    for (int i = 0; i < s->blocks.partners; i++)
        s->notice[i] =
            (packed_notice){.state = s, .member = s->blocks.partner[i], .queue = 1 + i % s->queues};
    return WEFT_SUCCESS;
}

static void release(weft_exchange_plan *plan) {
    streams_state *s = plan->method_state;
    if (!s) return;
    leave_workers(plan, s->workers);
    if (s->source_ready) plan->device->ops->event_destroy(plan->device->state, s->source_ready);
    weft_blocks_release(plan, &s->blocks);
    free(s->ready);
    free(s->notice);
    free(s);
    plan->method_state = NULL;
}

/* Every pack on its queue, behind the step that makes src, with a callback behind it. Where the
 * device cannot take the callback the partner is ready at once, so that it gets a message in any
 * case. */
static weft_status enqueue_packs(weft_exchange_plan *plan, streams_state *s) {
    const weft_device_ops *device = plan->device->ops;
    weft_device_state *state = plan->device->state;
    weft_status status = device->event_record(state, plan->queue, s->source_ready);
    for (int q = 0; q < s->queues; q++)
        weft_keep(&status, device->event_await(state, s->workers->queue[q], s->source_ready));
    for (int i = 0; i < s->blocks.partners; i++) {
        weft_queue *queue = s->workers->queue[i % s->queues];
        s->notice[i].enqueued = weft_clock();
        weft_keep(&status, weft_blocks_pack(plan, &s->blocks, queue, s->blocks.partner[i]));
        weft_status called = device->callback(state, queue, on_packed, &s->notice[i]);
        if (called != WEFT_SUCCESS) on_packed(&s->notice[i]);
        weft_keep(&status, called);
    }
    return status;
}

/* Without a sender thread: sends what is ready. */
static void send_ready(streams_state *s) {
    if (s->threaded) return;
    for (;;) {
        pthread_mutex_lock(&s->workers->lock);
        int member = next_ready(s);
        pthread_mutex_unlock(&s->workers->lock);
        if (member < 0) return;
        send_one(s, member);
    }
}

/* Until every block is packed and handed to the transport. */
static void wait_for_packs(streams_state *s) {
    bool done;
    do {
        send_ready(s);
        pthread_mutex_lock(&s->workers->lock);
        while (s->threaded && s->sent_count < s->blocks.partners)
            pthread_cond_wait(&s->workers->changed, &s->workers->lock);
        while (!s->threaded && s->sent_count == s->ready_count &&
               s->sent_count < s->blocks.partners)
            pthread_cond_wait(&s->workers->changed, &s->workers->lock);
        done = s->sent_count >= s->blocks.partners;
        pthread_mutex_unlock(&s->workers->lock);
    } while (!done);
}

/* Unpacks in order of arrival; in between, without a sender thread, sends. */
static weft_status receive_all(weft_exchange_plan *plan, streams_state *s) {
    weft_status status = WEFT_SUCCESS;
    const weft_transport_ops *ops = plan->group->ops;
    double start = weft_clock();
    for (;;) {
        int member = -1;
        bool all_sent = s->threaded || s->sent_count >= s->blocks.partners;
        weft_status waited = (all_sent ? ops->wait_any : ops->test_any)(
            plan->group, s->blocks.receive_requests, s->blocks.members, &member);
        weft_keep(&status, waited);
        if (member >= 0) {
            start = weft_record(plan->recorder, WEFT_PHASE_EXCHANGE, member, start);
            weft_record_arrived(plan->recorder, start);
            weft_keep(&status, weft_blocks_unpack(plan, &s->blocks, member));
            start = weft_record(plan->recorder, WEFT_PHASE_UNPACK, member, start);
        } else if (all_sent) {
            weft_record(plan->recorder, WEFT_PHASE_EXCHANGE, WEFT_NO_PARTNER, start);
            return status;
        } else {
            if (member == -1 || waited != WEFT_SUCCESS) wait_for_packs(s);
            send_ready(s);
            sched_yield();
        }
    }
}

static weft_status finish_sends(weft_exchange_plan *plan, streams_state *s) {
    wait_for_packs(s);
    double start = weft_clock();
    weft_status status =
        plan->group->ops->wait_all(plan->group, s->blocks.send_requests, s->blocks.members);
    weft_record(plan->recorder, WEFT_PHASE_EXCHANGE, WEFT_NO_PARTNER, start);
    return status;
}

static weft_status run(weft_exchange_plan *plan) {
    streams_state *s = plan->method_state;
    bool aliased = plan->dst == plan->src;
    double start = weft_clock();
    begin_run(s->workers, s);

    weft_status status = WEFT_SUCCESS;
    if (plan->staged) weft_keep(&status, weft_blocks_settle(plan)); /* receive may still be read */
    weft_keep(&status, weft_blocks_post_receives(plan, &s->blocks));
    weft_keep(&status, enqueue_packs(plan, s));
    weft_keep(&status, weft_blocks_leave(plan, &s->blocks));
    if (aliased) { /* dst is src: nothing may be unpacked before all is packed, or even sent */
        wait_for_packs(s);
        if (!plan->geometry->pack) weft_keep(&status, finish_sends(plan, s));
    }
    weft_keep(&status, weft_blocks_arrive(plan, &s->blocks));
    weft_keep(&status, receive_all(plan, s));
    weft_keep(&status, finish_sends(plan, s));
    for (int q = 0; q < s->queues; q++)
        weft_keep(&status,
                  plan->device->ops->queue_wait(plan->device->state, s->workers->queue[q]));
    end_run(s->workers);
    if (s->blocks.partners > 0 && plan->geometry->pack) /* on the queues, beside everything else */
        plan->recorder->timings.pack += s->last_packed - start;
    if (s->first_sent > 0) weft_record_sent(plan->recorder, s->first_sent);
    if (s->send_status != WEFT_SUCCESS && status == WEFT_SUCCESS) {
        weft_thread_error_set(s->send_error);
        status = s->send_status;
    }
    return status;
}

const weft_exchange_ops weft_exchange_p2p_streams = {
    .name = "p2p-streams",
    .id = WEFT_P2P_STREAMS,
    .point_to_point = true,
    .prepare = prepare,
    .run = run,
    .release = release,
};
