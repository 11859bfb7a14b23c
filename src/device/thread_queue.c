/* Queues and events made of threads: see thread_queue.h. */
#include "device/thread_queue.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/error.h"

enum { CAPACITY = 128, SENTENCE = 1024 };

struct weft_event {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t recorded;  /* records enqueued */
    uint64_t completed; /* the highest of them that was reached */
};

struct weft_queue {
    pthread_t worker;
    pthread_mutex_t lock;
    pthread_cond_t filled, drained, room;
    weft_work *ring;    /* [CAPACITY] */
    size_t head, count; /* count includes the work in progress */
    bool closing;
    weft_status status; /* of the first failure since the last wait */
    char sentence[SENTENCE];
    weft_random_delay delay;
};

weft_status weft_thread_event_create(weft_event **event) {
    weft_event *made = calloc(1, sizeof *made);
    if (!made) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no host memory for an event");
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->changed, NULL);
    *event = made;
    return WEFT_SUCCESS;
}

void weft_thread_event_destroy(weft_event *event) {
    if (!event) return;
    pthread_cond_destroy(&event->changed);
    pthread_mutex_destroy(&event->lock);
    free(event);
}

weft_work weft_thread_event_record(weft_event *event) {
    weft_work work = {.kind = WEFT_WORK_RECORD, .as.event.event = event};
    pthread_mutex_lock(&event->lock);
    work.as.event.ticket = ++event->recorded;
    pthread_mutex_unlock(&event->lock);
    return work;
}

weft_work weft_thread_event_await(weft_event *event) {
    weft_work work = {.kind = WEFT_WORK_AWAIT, .as.event.event = event};
    pthread_mutex_lock(&event->lock);
    work.as.event.ticket = event->recorded;
    pthread_mutex_unlock(&event->lock);
    return work;
}

bool weft_thread_event_done(weft_event *event) {
    pthread_mutex_lock(&event->lock);
    bool done = event->completed == event->recorded;
    pthread_mutex_unlock(&event->lock);
    return done;
}

static void complete_record(weft_event *event, uint64_t ticket) {
    pthread_mutex_lock(&event->lock);
    if (event->completed < ticket) event->completed = ticket;
    pthread_cond_broadcast(&event->changed);
    pthread_mutex_unlock(&event->lock);
}

static void await_record(weft_event *event, uint64_t ticket) {
    pthread_mutex_lock(&event->lock);
    while (event->completed < ticket) pthread_cond_wait(&event->changed, &event->lock);
    pthread_mutex_unlock(&event->lock);
}

weft_status weft_work_do(const weft_work *work) {
    if (work->injected) return weft_fail(WEFT_ERROR_DEVICE, "%s", work->injected);
    if (work->own) return work->own(work->context, work);
    switch (work->kind) {
    case WEFT_WORK_COPY:
        weft_copy_run(&work->as.copy, work->src, work->dst, work->threads);
        break;
    case WEFT_WORK_RUN:
        return work->as.run.function(work->as.run.argument, work->src, work->dst);
    case WEFT_WORK_SCALE:
        weft_scale_run(work->as.scale.precision, work->dst, work->as.scale.count,
                       work->as.scale.factor, work->threads);
        break;
    case WEFT_WORK_OPERATE:
    case WEFT_WORK_BEGIN:
        return weft_fail(WEFT_ERROR_DEVICE, "the host does not do what only devices do");
    case WEFT_WORK_CALLBACK:
        work->as.callback.function(work->as.callback.argument);
        break;
    case WEFT_WORK_RECORD:
        complete_record(work->as.event.event, work->as.event.ticket);
        break;
    case WEFT_WORK_AWAIT:
        await_record(work->as.event.event, work->as.event.ticket);
        break;
    }
    return WEFT_SUCCESS;
}

bool weft_work_always_done(weft_work_kind kind) {
    return kind == WEFT_WORK_CALLBACK || kind == WEFT_WORK_RECORD || kind == WEFT_WORK_AWAIT;
}

/* Sleeps before one piece of work in four, and yields the processor before the others. */
static void sleep_sometimes(weft_random_delay *how) {
    if (how->delay_us == 0) return;
    /* xorshift64*, Vigna 2016, "An experimental exploration of Marsaglia's xorshift generators,
     * scrambled" */
    uint64_t x = how->seed;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    how->seed = x;
    uint64_t draw = (x * UINT64_C(2685821657736338717)) >> 32;
    if (draw % 4 != 0) {
        struct timespec none = {0, 1};
        if (draw % 4 == 1) nanosleep(&none, NULL);
        return;
    }
    long us = (long)((draw >> 2) % how->delay_us) + 1;
    struct timespec delay = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&delay, NULL);
}

static void note_failure(weft_queue *queue, weft_status status) {
    const char *sentence = weft_thread_error();
    if (*sentence == '\0') sentence = "work on a device queue failed without giving a reason";
    queue->status = status;
    strncpy(queue->sentence, sentence, SENTENCE - 1);
}

static void *work_through(void *argument) {
    weft_queue *queue = argument;
    pthread_mutex_lock(&queue->lock);
    for (;;) {
        while (queue->count == 0 && !queue->closing)
            pthread_cond_wait(&queue->filled, &queue->lock);
        if (queue->count == 0) break;
        const weft_work *work = &queue->ring[queue->head];
        bool skip = queue->status != WEFT_SUCCESS && !weft_work_always_done(work->kind);
        pthread_mutex_unlock(&queue->lock);
        weft_status status = WEFT_SUCCESS;
        if (!skip) {
            sleep_sometimes(&queue->delay);
            weft_thread_error_set("");
            status = weft_work_do(work);
        }
        pthread_mutex_lock(&queue->lock);
        if (status != WEFT_SUCCESS && queue->status == WEFT_SUCCESS) note_failure(queue, status);
        queue->head = (queue->head + 1) % CAPACITY;
        pthread_cond_signal(&queue->room);
        if (--queue->count == 0) pthread_cond_broadcast(&queue->drained);
    }
    pthread_mutex_unlock(&queue->lock);
    return NULL;
}

weft_status weft_thread_queue_create(weft_random_delay delay, weft_queue **queue) {
    weft_queue *made = calloc(1, sizeof *made);
    weft_work *ring = malloc(CAPACITY * sizeof *ring);
    if (!made || !ring) {
        free(ring);
        free(made);
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no host memory for a queue");
    }
    made->ring = ring;
    made->delay = delay;
    if (made->delay.seed == 0) made->delay.seed = 1;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->filled, NULL);
    pthread_cond_init(&made->drained, NULL);
    pthread_cond_init(&made->room, NULL);
    int error = pthread_create(&made->worker, NULL, work_through, made);
    if (error != 0) {
        pthread_cond_destroy(&made->room);
        pthread_cond_destroy(&made->drained);
        pthread_cond_destroy(&made->filled);
        pthread_mutex_destroy(&made->lock);
        free(ring);
        free(made);
        return weft_fail(WEFT_ERROR_SYSTEM, "cannot start the thread of a queue: %s",
                         strerror(error));
    }
    *queue = made;
    return WEFT_SUCCESS;
}

void weft_thread_queue_destroy(weft_queue *queue) {
    if (!queue) return;
    pthread_mutex_lock(&queue->lock);
    queue->closing = true;
    pthread_cond_signal(&queue->filled);
    pthread_mutex_unlock(&queue->lock);
    pthread_join(queue->worker, NULL);
    pthread_cond_destroy(&queue->room);
    pthread_cond_destroy(&queue->drained);
    pthread_cond_destroy(&queue->filled);
    pthread_mutex_destroy(&queue->lock);
    free(queue->ring);
    free(queue);
}

void weft_thread_queue_put(weft_queue *queue, const weft_work *work) {
    pthread_mutex_lock(&queue->lock);
    while (queue->count == CAPACITY) pthread_cond_wait(&queue->room, &queue->lock);
    queue->ring[(queue->head + queue->count++) % CAPACITY] = *work;
    pthread_cond_signal(&queue->filled);
    pthread_mutex_unlock(&queue->lock);
}

weft_status weft_thread_queue_wait(weft_queue *queue) {
    pthread_mutex_lock(&queue->lock);
    while (queue->count > 0) pthread_cond_wait(&queue->drained, &queue->lock);
    weft_status status = queue->status;
    if (status != WEFT_SUCCESS) weft_thread_error_set(queue->sentence);
    queue->status = WEFT_SUCCESS;
    pthread_mutex_unlock(&queue->lock);
    return status;
}
