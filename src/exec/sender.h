/*
 * The sender sends messages as soon as their blocks are packed. Where any thread may communicate it
 * is a thread of its own, which callbacks of the device wake; elsewhere the calling thread sends
 * what has been announced when it asks how far the sender is. A plan has one for all executions.
 */
#ifndef WEFT_EXEC_SENDER_H
#define WEFT_EXEC_SENDER_H

#include <stdbool.h>
#include <weft/weft.h>

typedef struct weft_sender weft_sender;

/* Sends message number `task` of the run. */
typedef weft_status (*weft_send_function)(void *run, int task);

/* At most `messages` leave in one run. The caller destroys it. */
weft_status weft_sender_create(bool threaded, int messages, weft_sender **sender);
void weft_sender_destroy(weft_sender *sender);

/* Begin a run, and end it once every message that was announced has been sent; `end` returns the
 * first failure of the run, with its sentence as the calling thread's last error. */
void weft_sender_begin(weft_sender *sender, weft_send_function send, void *run);
weft_status weft_sender_end(weft_sender *sender);

/* Announces that a message may leave. Any thread. */
void weft_sender_announce(weft_sender *sender, int task);
bool weft_sender_threaded(const weft_sender *sender);
/* How many messages of this run have left; without a thread, sends those that may leave first. */
int weft_sender_sent(weft_sender *sender);
/* Waits until another message than the first `sent` has left, or may leave. */
void weft_sender_wait(weft_sender *sender, int sent);

#endif
