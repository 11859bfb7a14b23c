/* Queues and events made of OpenMP's tasks: see queue.h. */
#include "device/openmp/queue.h"

#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "support/error.h"

enum { CAPACITY = 128, SENTENCE = 1024 };

/* Room for a piece of work, until it is done. */
typedef struct slot {
    weft_work work; /* first, so that its address is the slot's */
    weft_queue *queue;
    omp_event_handle_t completion; /* of work that is begun and ended */
    struct slot *next;
} slot;

struct weft_openmp_team {
    pthread_t master;
    pthread_mutex_t lock;
    pthread_cond_t enqueued; /* or ended, or the last piece of work is done, or the team closes */
    pthread_cond_t finished; /* a piece of work */
    slot *slots;             /* [CAPACITY] */
    slot *unused;
    slot *first, *last; /* enqueued, but no tasks yet */
    slot *ended;        /* whose tasks are to be fulfilled */
    int pending;        /* pieces of work that are not done */
    int queues;
    bool closing;
};

struct weft_queue {
    weft_openmp_team *team;
    int pending;
    weft_status status; /* of the first failure since the last wait */
    char sentence[SENTENCE];
};

struct weft_event {
    weft_openmp_team *team;
    uint64_t recorded, completed; /* records that were enqueued, and that were reached */
};

/* ---- work, on any thread of the team ---- */

static void note_failure(weft_queue *queue, weft_status status) {
    if (status == WEFT_SUCCESS || queue->status != WEFT_SUCCESS) return;
    const char *sentence = weft_thread_error();
    if (*sentence == '\0') sentence = "work on a device queue failed without giving a reason";
    queue->status = status;
    strncpy(queue->sentence, sentence, SENTENCE - 1);
}

static void finish(slot *s, weft_status status) {
    weft_openmp_team *team = s->queue->team;
    pthread_mutex_lock(&team->lock);
    note_failure(s->queue, status);
    if (s->work.kind == WEFT_WORK_RECORD) s->work.as.event.event->completed++;
    s->queue->pending--;
    s->next = team->unused;
    team->unused = s;
    if (--team->pending == 0) pthread_cond_signal(&team->enqueued);
    pthread_cond_broadcast(&team->finished);
    pthread_mutex_unlock(&team->lock);
}

static bool is_skipped(const slot *s) {
    pthread_mutex_lock(&s->queue->team->lock);
    const bool failed = s->queue->status != WEFT_SUCCESS;
    pthread_mutex_unlock(&s->queue->team->lock);
    return failed && !weft_work_always_done(s->work.kind);
}

/* Of records and awaits the dependences of their tasks are all there is to do. */
static weft_status do_work(const slot *s) {
    if (s->work.kind == WEFT_WORK_RECORD || s->work.kind == WEFT_WORK_AWAIT) return WEFT_SUCCESS;
    weft_thread_error_set("");
    return weft_work_do(&s->work);
}

static void run_task(slot *s) {
    finish(s, is_skipped(s) ? WEFT_SUCCESS : do_work(s));
}

void weft_openmp_work_end(const weft_work *work, weft_status status) {
    slot *s = (slot *)(uintptr_t)work;
    weft_openmp_team *team = s->queue->team;
    pthread_mutex_lock(&team->lock);
    note_failure(s->queue, status);
    s->next = team->ended;
    team->ended = s;
    pthread_cond_signal(&team->enqueued);
    pthread_mutex_unlock(&team->lock);
}

static void fulfill(slot *s) {
    omp_fulfill_event(s->completion);
    finish(s, WEFT_SUCCESS);
}

/* The master fulfills; alone, it does so before it goes on. */
static void begin_task(slot *s, omp_event_handle_t completion) {
    weft_openmp_team *team = s->queue->team;
    s->completion = completion;
    const bool skipped = is_skipped(s);
    const weft_status status = skipped ? WEFT_SUCCESS : do_work(s);
    if (skipped || status != WEFT_SUCCESS) weft_openmp_work_end(&s->work, status);
    if (omp_get_num_threads() > 1) return;
    pthread_mutex_lock(&team->lock);
    while (!team->ended) pthread_cond_wait(&team->enqueued, &team->lock);
    team->ended = NULL;
    pthread_mutex_unlock(&team->lock);
    fulfill(s);
}

/* ---- the team's master ---- */

static void make_task(slot *s) {
    omp_event_handle_t completion = (omp_event_handle_t)0;
    switch (s->work.kind) {
    case WEFT_WORK_RECORD:
#pragma omp task depend(inout : *s->queue) depend(out : *s->work.as.event.event)
        run_task(s);
        break;
    case WEFT_WORK_AWAIT:
#pragma omp task depend(inout : *s->queue) depend(in : *s->work.as.event.event)
        run_task(s);
        break;
    case WEFT_WORK_BEGIN:
#pragma omp task depend(inout : *s->queue) detach(completion)
        begin_task(s, completion);
        break;
    default:
#pragma omp task depend(inout : *s->queue)
        run_task(s);
    }
}

/* Takes what has ended or, else, what was enqueued first; waits for either. NULL: all work is done.
 */
static slot *take_slot(weft_openmp_team *team, bool *ended) {
    pthread_mutex_lock(&team->lock);
    while (!team->first && !team->ended && team->pending > 0)
        pthread_cond_wait(&team->enqueued, &team->lock);
    *ended = team->ended != NULL;
    slot **from = *ended ? &team->ended : &team->first, *s = *from;
    if (s) *from = s->next;
    pthread_mutex_unlock(&team->lock);
    return s;
}

static void make_tasks(weft_openmp_team *team) {
    const bool alone = omp_get_num_threads() == 1; /* OMP_THREAD_LIMIT */
    bool ended;
    for (slot *s = take_slot(team, &ended); s; s = take_slot(team, &ended)) {
        if (ended)
            fulfill(s);
        else
            make_task(s);
        if (alone) {
#pragma omp taskwait
        }
    }
}

/* Waits for work; false: the team closes. *threads gets the threads that can work at a time. */
static bool await_work(weft_openmp_team *team, int *threads) {
    pthread_mutex_lock(&team->lock);
    while (team->pending == 0 && !team->closing) pthread_cond_wait(&team->enqueued, &team->lock);
    const bool works = team->pending > 0;
    *threads = 1 + team->queues;
    pthread_mutex_unlock(&team->lock);
    return works;
}

static void *lead(void *argument) {
    weft_openmp_team *team = argument;
    int threads;
    omp_set_max_active_levels(2); /* a copy that is packed has threads of its own */
    while (await_work(team, &threads)) {
#pragma omp parallel num_threads(threads)
#pragma omp master
        make_tasks(team);
    }
    return NULL;
}

/* ---- creation ---- */

static void release(weft_openmp_team *team) {
    pthread_cond_destroy(&team->finished);
    pthread_cond_destroy(&team->enqueued);
    pthread_mutex_destroy(&team->lock);
    free(team->slots);
    free(team);
}

weft_status weft_openmp_team_create(weft_openmp_team **team) {
    weft_openmp_team *made = calloc(1, sizeof *made);
    slot *slots = calloc(CAPACITY, sizeof *slots);
    if (!made || !slots) {
        free(slots);
        free(made);
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no host memory for queues");
    }
    for (int i = 0; i + 1 < CAPACITY; i++) slots[i].next = &slots[i + 1];
    made->slots = made->unused = slots;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->enqueued, NULL);
    pthread_cond_init(&made->finished, NULL);
    const int error = pthread_create(&made->master, NULL, lead, made);
    if (error != 0) {
        release(made);
        return weft_fail(WEFT_ERROR_SYSTEM, "cannot start the thread of queues: %s",
                         strerror(error));
    }
    *team = made;
    return WEFT_SUCCESS;
}

void weft_openmp_team_destroy(weft_openmp_team *team) {
    if (!team) return;
    pthread_mutex_lock(&team->lock);
    team->closing = true;
    pthread_cond_signal(&team->enqueued);
    pthread_mutex_unlock(&team->lock);
    pthread_join(team->master, NULL);
    release(team);
}

weft_status weft_openmp_queue_create(weft_openmp_team *team, weft_queue **queue) {
    weft_queue *made = calloc(1, sizeof *made);
    if (!made) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no host memory for a queue");
    made->team = team;
    pthread_mutex_lock(&team->lock);
    team->queues++;
    pthread_mutex_unlock(&team->lock);
    *queue = made;
    return WEFT_SUCCESS;
}

void weft_openmp_queue_destroy(weft_queue *queue) {
    if (!queue) return;
    (void)weft_openmp_queue_wait(queue);
    pthread_mutex_lock(&queue->team->lock);
    queue->team->queues--;
    pthread_mutex_unlock(&queue->team->lock);
    free(queue);
}

/* ---- what other threads call ---- */

void weft_openmp_queue_put(weft_queue *queue, const weft_work *work) {
    weft_openmp_team *team = queue->team;
    pthread_mutex_lock(&team->lock);
    while (!team->unused) pthread_cond_wait(&team->finished, &team->lock);
    slot *s = team->unused;
    team->unused = s->next;
    s->work = *work;
    s->queue = queue;
    s->next = NULL;
    if (work->kind == WEFT_WORK_RECORD) work->as.event.event->recorded++;
    *(team->first ? &team->last->next : &team->first) = s;
    team->last = s;
    queue->pending++;
    team->pending++;
    pthread_cond_signal(&team->enqueued);
    pthread_mutex_unlock(&team->lock);
}

weft_status weft_openmp_queue_wait(weft_queue *queue) {
    weft_openmp_team *team = queue->team;
    pthread_mutex_lock(&team->lock);
    while (queue->pending > 0) pthread_cond_wait(&team->finished, &team->lock);
    const weft_status status = queue->status;
    if (status != WEFT_SUCCESS) weft_thread_error_set(queue->sentence);
    queue->status = WEFT_SUCCESS;
    pthread_mutex_unlock(&team->lock);
    return status;
}

weft_status weft_openmp_event_create(weft_openmp_team *team, weft_event **event) {
    weft_event *made = calloc(1, sizeof *made);
    if (!made) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no host memory for an event");
    made->team = team;
    *event = made;
    return WEFT_SUCCESS;
}

void weft_openmp_event_destroy(weft_event *event) {
    free(event);
}

bool weft_openmp_event_done(weft_event *event) {
    pthread_mutex_lock(&event->team->lock);
    const bool done = event->completed == event->recorded;
    pthread_mutex_unlock(&event->team->lock);
    return done;
}

void weft_openmp_event_record(weft_queue *queue, weft_event *event) {
    const weft_work work = {.kind = WEFT_WORK_RECORD, .as.event.event = event};
    weft_openmp_queue_put(queue, &work);
}

void weft_openmp_event_await(weft_queue *queue, weft_event *event) {
    const weft_work work = {.kind = WEFT_WORK_AWAIT, .as.event.event = event};
    weft_openmp_queue_put(queue, &work);
}
