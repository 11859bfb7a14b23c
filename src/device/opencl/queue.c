/* Queues, events and callbacks of the OpenCL device. */
#include <stdio.h>
#include <stdlib.h>

#include "device/opencl/opencl.h"
#include "support/error.h"

struct weft_event {
    pthread_mutex_t lock; /* one thread may record while another asks */
    weft_cl_event marker; /* of the latest record; NULL: none yet */
};

weft_queue *weft_cl_queue_or_default(const weft_device_state *device, weft_queue *queue) {
    return queue ? queue : device->queue;
}

static weft_status create_cl_queue(const weft_cl_processor *p, weft_cl_queue *queue) {
    int result = 0;
    *queue = p->cl->queue_create(p->context, p->device, 0, &result);
    return weft_cl_check(result, "no queue");
}

weft_status weft_cl_queue_create(weft_device_state *device, bool low_priority, weft_queue **queue) {
    (void)low_priority;
    weft_queue *made = calloc(1, sizeof *made);
    if (!made) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no host memory for a queue");
    weft_status status = create_cl_queue(device->processor, &made->queue);
    if (status != WEFT_SUCCESS) {
        free(made);
        return status;
    }
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->called, NULL);
    made->next = device->queues;
    device->queues = made;
    *queue = made;
    return WEFT_SUCCESS;
}

/* Waits for callbacks, which a thread of the driver may call later than the queue is finished. */
static void await_callbacks(weft_queue *queue) {
    pthread_mutex_lock(&queue->lock);
    while (queue->callbacks > 0) pthread_cond_wait(&queue->called, &queue->lock);
    pthread_mutex_unlock(&queue->lock);
}

/* Waits for the queue and returns the first failure of its work, which drivers report either at the
 * end or by a later event. */
static int finish(const weft_cl *cl, weft_cl_queue queue) {
    weft_cl_event last = NULL;
    int execution = 0, result = cl->marker(queue, 0, NULL, &last);
    int finished = cl->finish(queue);
    if (result == 0) {
        cl->event_info(last, WEFT_CL_EVENT_STATUS, sizeof execution, &execution, NULL);
        cl->event_release(last);
    }
    return finished != 0 ? finished : execution < 0 ? execution : result;
}

weft_status weft_cl_queue_wait(weft_device_state *device, weft_queue *given) {
    weft_queue *queue = weft_cl_queue_or_default(device, given);
    const weft_cl *cl = device->processor->cl;
    weft_status status = weft_cl_check(finish(cl, queue->queue), "work on a queue failed");
    await_callbacks(queue);
    if (status == WEFT_SUCCESS) return WEFT_SUCCESS;
    /* A queue that failed may refuse all further work, so it is replaced. */
    char sentence[512];
    weft_cl_queue fresh;
    snprintf(sentence, sizeof sentence, "%s", weft_thread_error());
    if (create_cl_queue(device->processor, &fresh) == WEFT_SUCCESS) {
        cl->queue_release(queue->queue);
        queue->queue = fresh;
    }
    weft_thread_error_set(sentence);
    return status;
}

void weft_cl_queue_destroy(weft_device_state *device, weft_queue *queue) {
    if (!queue) return;
    weft_queue **at = &device->queues;
    while (*at != queue) at = &(*at)->next;
    *at = queue->next;
    device->processor->cl->finish(queue->queue);
    await_callbacks(queue);
    weft_cl_free(device, WEFT_MEMORY_DEVICE, queue->scratch);
    device->processor->cl->queue_release(queue->queue);
    pthread_cond_destroy(&queue->called);
    pthread_mutex_destroy(&queue->lock);
    free(queue);
}

/* ---- events and callbacks ---- */

weft_status weft_cl_event_create(weft_device_state *device, weft_event **event) {
    (void)device;
    weft_event *made = calloc(1, sizeof *made);
    if (!made) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no host memory for an event");
    pthread_mutex_init(&made->lock, NULL);
    *event = made;
    return WEFT_SUCCESS;
}

void weft_cl_event_destroy(weft_device_state *device, weft_event *event) {
    if (!event) return;
    if (event->marker) device->processor->cl->event_release(event->marker);
    pthread_mutex_destroy(&event->lock);
    free(event);
}

/* Enqueues a marker after all work on the queue and flushes the queue, since waiting for the marker
 * elsewhere does not submit this queue's work. */
static weft_status put_marker(const weft_device_state *device, const weft_queue *queue,
                              weft_cl_event *marker) {
    const weft_cl *cl = device->processor->cl;
    WEFT_TRY(weft_cl_check(cl->marker(queue->queue, 0, NULL, marker), "no event"));
    int result = cl->flush(queue->queue);
    if (result != 0) cl->event_release(*marker);
    return weft_cl_check(result, "work could not be submitted");
}

weft_status weft_cl_event_record(weft_device_state *device, weft_queue *queue, weft_event *event) {
    weft_cl_event marker = NULL;
    WEFT_TRY(put_marker(device, weft_cl_queue_or_default(device, queue), &marker));
    pthread_mutex_lock(&event->lock);
    weft_cl_event before = event->marker;
    event->marker = marker;
    pthread_mutex_unlock(&event->lock);
    if (before) device->processor->cl->event_release(before);
    return WEFT_SUCCESS;
}

/* The latest marker, for the caller to release; NULL: none. */
static weft_cl_event marker_of(const weft_cl *cl, weft_event *event) {
    pthread_mutex_lock(&event->lock);
    weft_cl_event marker = event->marker;
    if (marker) cl->event_retain(marker);
    pthread_mutex_unlock(&event->lock);
    return marker;
}

static bool marker_done(const weft_cl *cl, weft_cl_event marker) {
    int execution = 0;
    int result = cl->event_info(marker, WEFT_CL_EVENT_STATUS, sizeof execution, &execution, NULL);
    return result != 0 || execution <= WEFT_CL_COMPLETE;
}

weft_status weft_cl_event_await(weft_device_state *device, weft_queue *queue, weft_event *event) {
    const weft_cl *cl = device->processor->cl;
    weft_cl_event marker = marker_of(cl, event);
    int result = 0;
    if (!marker) return WEFT_SUCCESS;
    /* A marker that is done need not be awaited, and one that failed would make this queue fail,
     * too. */
    if (!marker_done(cl, marker))
        result = cl->barrier(weft_cl_queue_or_default(device, queue)->queue, 1, &marker, NULL);
    cl->event_release(marker);
    return weft_cl_check(result, "an event could not be awaited");
}

bool weft_cl_event_done(weft_device_state *device, weft_event *event) {
    const weft_cl *cl = device->processor->cl;
    weft_cl_event marker = marker_of(cl, event);
    bool done = !marker || marker_done(cl, marker);
    if (marker) cl->event_release(marker);
    return done;
}

static void on_marker(weft_cl_event marker, int execution, void *argument) {
    const weft_notice n = *(weft_notice *)argument;
    weft_queue *queue = n.queue;
    (void)marker, (void)execution;
    weft_notices_return(argument);
    n.function(n.argument);
    pthread_mutex_lock(&queue->lock);
    queue->callbacks--;
    pthread_cond_broadcast(&queue->called);
    pthread_mutex_unlock(&queue->lock);
}

/* Later work on the queue does not wait for the function, but queue_wait does. If the marker is
 * done already, the driver may call the function on this thread. */
weft_status weft_cl_callback(weft_device_state *device, weft_queue *given, void (*function)(void *),
                             void *argument) {
    const weft_cl *cl = device->processor->cl;
    weft_queue *queue = weft_cl_queue_or_default(device, given);
    weft_cl_event marker = NULL;
    weft_notice *n = weft_notices_take(&device->notices, function, argument);
    n->queue = queue;
    weft_status status =
        weft_cl_check(cl->marker(queue->queue, 0, NULL, &marker), "no event for a callback");
    if (status != WEFT_SUCCESS) {
        weft_notices_return(n);
        return status;
    }
    pthread_mutex_lock(&queue->lock);
    queue->callbacks++;
    pthread_mutex_unlock(&queue->lock);
    status = weft_cl_check(cl->event_callback(marker, WEFT_CL_COMPLETE, on_marker, n),
                           "a callback could not be enqueued");
    if (status != WEFT_SUCCESS) {
        pthread_mutex_lock(&queue->lock);
        queue->callbacks--;
        pthread_mutex_unlock(&queue->lock);
        weft_notices_return(n);
    }
    cl->event_release(marker);
    cl->flush(queue->queue);
    return status;
}
