/* Queues and events made of threads, where the runtime's tasks would not do: see queue.h. */
#include "device/openmp/queue.h"

#include <pthread.h>
#include <string.h>

#include "support/error.h"

weft_status weft_openmp_team_create(weft_openmp_team **team) {
    *team = NULL;
    return WEFT_SUCCESS;
}

void weft_openmp_team_destroy(weft_openmp_team *team) {
    (void)team;
}

weft_status weft_openmp_queue_create(weft_openmp_team *team, weft_queue **queue) {
    (void)team;
    return weft_thread_queue_create((weft_random_delay){0}, queue);
}

void weft_openmp_queue_destroy(weft_queue *queue) {
    weft_thread_queue_destroy(queue);
}

weft_status weft_openmp_queue_wait(weft_queue *queue) {
    return weft_thread_queue_wait(queue);
}

/* ---- work that is begun and ended: the queue's thread waits ---- */

typedef struct begun {
    weft_work work; /* first, so that its address is this one's */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool ended;
    weft_status status;
    char sentence[1024];
} begun;

static weft_status begin_and_wait(void *context, const weft_work *work) {
    (void)context;
    begun b = {.work = *work};
    pthread_mutex_init(&b.lock, NULL);
    pthread_cond_init(&b.changed, NULL);
    weft_status status = work->as.begin.own(work->as.begin.context, &b.work);
    if (status == WEFT_SUCCESS) {
        pthread_mutex_lock(&b.lock);
        while (!b.ended) pthread_cond_wait(&b.changed, &b.lock);
        pthread_mutex_unlock(&b.lock);
        status = b.status;
        if (status != WEFT_SUCCESS) weft_thread_error_set(b.sentence);
    }
    pthread_cond_destroy(&b.changed);
    pthread_mutex_destroy(&b.lock);
    return status;
}

void weft_openmp_work_end(const weft_work *work, weft_status status) {
    begun *b = (begun *)(uintptr_t)work;
    pthread_mutex_lock(&b->lock);
    b->ended = true;
    b->status = status;
    if (status != WEFT_SUCCESS) strncpy(b->sentence, weft_thread_error(), sizeof b->sentence - 1);
    pthread_cond_signal(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

void weft_openmp_queue_put(weft_queue *queue, const weft_work *work) {
    weft_work put = *work;
    if (work->kind == WEFT_WORK_BEGIN) {
        put.own = begin_and_wait;
        put.as.begin.own = work->own;
        put.as.begin.context = work->context;
    }
    weft_thread_queue_put(queue, &put);
}

/* ---- events ---- */

weft_status weft_openmp_event_create(weft_openmp_team *team, weft_event **event) {
    (void)team;
    return weft_thread_event_create(event);
}

void weft_openmp_event_destroy(weft_event *event) {
    weft_thread_event_destroy(event);
}

bool weft_openmp_event_done(weft_event *event) {
    return weft_thread_event_done(event);
}

void weft_openmp_event_record(weft_queue *queue, weft_event *event) {
    const weft_work work = weft_thread_event_record(event);
    weft_thread_queue_put(queue, &work);
}

void weft_openmp_event_await(weft_queue *queue, weft_event *event) {
    const weft_work work = weft_thread_event_await(event);
    weft_thread_queue_put(queue, &work);
}
