/*
 * The sender: messages that leave as soon as their blocks are packed. Where any thread may
 * communicate it is a thread of its own, which device callbacks wake; else the calling thread asks
 * it to send what is ready. One serves all executions of a plan.
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

/* A run begins, and ends once all that was announced has been sent; `end` returns the first
 * failure, with its sentence as the calling thread's. */
void weft_sender_begin(weft_sender *sender, weft_send_function send, void *run);
weft_status weft_sender_end(weft_sender *sender);

/* A message may leave. Any thread. */
void weft_sender_announce(weft_sender *sender, int task);
bool weft_sender_threaded(const weft_sender *sender);
/* How many messages of this run have left; without a thread, first sends what is ready. */
int weft_sender_sent(weft_sender *sender);
/* Waits until another message than the first `sent` has left, or may leave. */
void weft_sender_wait(weft_sender *sender, int sent);

#endif
