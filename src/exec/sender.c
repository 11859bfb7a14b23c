/* The sender thread and its list. */
#include "exec/sender.h"

#include "support/error.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct weft_sender {
    bool threaded, stop;
    pthread_t thread;
    pthread_mutex_t lock; /* of the fields below */
    pthread_cond_t changed;
    weft_send_function send;
    void *run;
    int *task; /* [announced]: the messages that may leave in this run, in their order */
    int announced, sent;
    weft_status status; /* the first failure of this run, and its sentence */
    char sentence[WEFT_ERROR_BYTES];
};

/* Sends the next message that is announced, if there is one. The caller holds the lock, which is
 * released while the transport works. */
static bool send_next(weft_sender *s) {
    if (s->sent == s->announced) return false;
    const int task = s->task[s->sent];
    pthread_mutex_unlock(&s->lock);
    const weft_status status = s->send(s->run, task);
    pthread_mutex_lock(&s->lock);
    s->sent++;
    if (status != WEFT_SUCCESS && s->status == WEFT_SUCCESS) {
        s->status = status;
        strncpy(s->sentence, weft_thread_error(), sizeof s->sentence - 1);
    }
    pthread_cond_broadcast(&s->changed);
    return true;
}

static void *work(void *argument) {
    weft_sender *s = argument;
    pthread_mutex_lock(&s->lock);
    while (!s->stop)
        if (!send_next(s)) pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

weft_status weft_sender_create(bool threaded, int messages, weft_sender **sender) {
    weft_sender *s = calloc(1, sizeof *s);
    int *task = calloc((size_t)messages + 1, sizeof *task);
    if (!s || !task) {
        free(s);
        free(task);
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for an exchange");
    }
    s->task = task;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    if (threaded && pthread_create(&s->thread, NULL, work, s) != 0) {
        weft_sender_destroy(s);
        return weft_fail(WEFT_ERROR_SYSTEM, "the sender thread could not be started");
    }
    s->threaded = threaded;
    *sender = s;
    return WEFT_SUCCESS;
}

void weft_sender_destroy(weft_sender *s) {
    if (!s) return;
    if (s->threaded) {
        pthread_mutex_lock(&s->lock);
        s->stop = true;
        pthread_cond_broadcast(&s->changed);
        pthread_mutex_unlock(&s->lock);
        pthread_join(s->thread, NULL);
    }
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s->task);
    free(s);
}

void weft_sender_begin(weft_sender *s, weft_send_function send, void *run) {
    pthread_mutex_lock(&s->lock);
    s->send = send;
    s->run = run;
    s->announced = s->sent = 0;
    s->status = WEFT_SUCCESS;
    pthread_mutex_unlock(&s->lock);
}

weft_status weft_sender_end(weft_sender *s) {
    pthread_mutex_lock(&s->lock);
    const weft_status status = s->status;
    if (status != WEFT_SUCCESS) weft_thread_error_set(s->sentence);
    pthread_mutex_unlock(&s->lock);
    return status;
}

void weft_sender_announce(weft_sender *s, int task) {
    pthread_mutex_lock(&s->lock);
    s->task[s->announced++] = task;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

bool weft_sender_threaded(const weft_sender *s) {
    return s->threaded;
}

int weft_sender_sent(weft_sender *s) {
    pthread_mutex_lock(&s->lock);
    while (!s->threaded && send_next(s)) continue;
    const int sent = s->sent;
    pthread_mutex_unlock(&s->lock);
    return sent;
}

void weft_sender_wait(weft_sender *s, int sent) {
    pthread_mutex_lock(&s->lock);
    while (s->sent <= sent && (s->threaded || s->announced == s->sent))
        pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
}
