/*
 * What a driver is to call back: a function and its argument, for drivers that hand on one pointer.
 * There is room for a fixed number of them, made with the device, so that executions allocate
 * nothing; who finds none free waits until one has been called.
 */
#ifndef WEFT_DEVICE_NOTICES_H
#define WEFT_DEVICE_NOTICES_H

#include <pthread.h>

typedef struct weft_notices weft_notices;

typedef struct weft_notice {
    void (*function)(void *);
    void *argument;
    void *queue; /* the device's own use */
    weft_notices *list;
    struct weft_notice *next; /* free ones */
} weft_notice;

enum { WEFT_NOTICES = 256 };

struct weft_notices {
    pthread_mutex_t lock;
    pthread_cond_t freed;
    weft_notice *first; /* free ones */
    weft_notice notice[WEFT_NOTICES];
};

void weft_notices_open(weft_notices *list);
void weft_notices_close(weft_notices *list); /* none is still to come */

/* Takes one; waits where none is free, for which everything enqueued must be on its way to the
 * device. Not from a callback. Thread-safe. */
weft_notice *weft_notices_take(weft_notices *list, void (*function)(void *), void *argument);

/* Gives one back that will not be called, or has been read. */
void weft_notices_return(weft_notice *notice);

#endif
