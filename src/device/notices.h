/*
 * Notices: a function and its argument, which a driver is to call back, for drivers that pass on a
 * single pointer. A fixed number of them is made with the device, so that executions allocate
 * nothing; if none is free, the caller waits until one has been called.
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

/* Takes a free notice. If there is none, waits for one, so all enqueued work must have been
 * submitted to the device. Must not be called from a callback. Thread-safe. */
weft_notice *weft_notices_take(weft_notices *list, void (*function)(void *), void *argument);

/* Makes a notice free again, after it has been read or if it will not be called. */
void weft_notices_return(weft_notice *notice);

#endif
