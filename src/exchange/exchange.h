/*
 * Exchange methods: how a redistribution is carried out, as tasks. One file each, named in
 * exchanges.def. A method knows neither devices nor transports nor strategies: it is told the
 * geometry and the buffers, and adds tasks that copy, send, receive, signal and await.
 *
 * An exchange goes in one or several tiles. Tasks are added in this order: for each tile of what
 * the transform before the exchange produces, `depart` of the tiles of the exchange that are made
 * of it; then, for each tile of what the transform after it consumes, `arrive` of the tiles that it
 * is made of; behind the transform after it, `finish`. What overlaps in fact follows from what the
 * tasks read and write.
 */
#ifndef WEFT_EXCHANGE_H
#define WEFT_EXCHANGE_H

#include "layout/redistribution.h"
#include "schedule/task.h"

/* One tile of an exchange: the redistribution restricted to it and laid out, where its packed
 * blocks begin (bytes), and which tile of the transforms before and after it belongs to. */
typedef struct weft_exchange_tile {
    weft_redistribution geometry;
    int64_t send_base, receive_base;
    int produced, consumed;
} weft_exchange_tile;

/* How this rank's own block gets from the array before to the array after. */
typedef enum weft_own_block {
    WEFT_OWN_COPIED, /* from array to array */
    WEFT_OWN_PACKED, /* beside the others, for both arrays share a buffer */
    WEFT_OWN_STAYS   /* the next transform loads it where it is */
} weft_own_block;

/* What partners let this rank read, for methods that read partners' arrays. */
typedef struct weft_partner_arrays {
    int peer;         /* number of the exchange among those of the schedule that do */
    int first_buffer; /* tile t of member m appears as buffer first_buffer + t * members + m */
    int copied;       /* so many of the tiles consumed are copied; the others are loaded remotely */
    /* For the method's own use: its first signal and its latest, and for each member the latest
     * copy from there and the latest task that awaits it. */
    int opened, signalled;
    int *last_copy, *last_await;
} weft_partner_arrays;

/* Which memory the four buffers of an exchange are. */
typedef enum weft_exchange_memory {
    WEFT_EXCHANGE_ON_DEVICE, /* all are the device's */
    WEFT_EXCHANGE_STAGED,    /* the device's, but send and receive are page-locked host memory */
    WEFT_EXCHANGE_ON_HOST    /* all are host memory, and the calling thread copies */
} weft_exchange_memory;

typedef struct weft_exchange_lowering {
    int step, redistribution;
    int src, send, receive, dst; /* buffers; send is src where nothing is packed, and so on */
    weft_exchange_memory memory;
    weft_own_block own;
    int lane;               /* of copies */
    int links;              /* lanes of copies from partners; 0: `lane` */
    int produced, consumed; /* tiles of the transforms before and after */
    int produced_axis;      /* the axis that the tiles produced share out */
    weft_exchange_tile *tile;
    int tiles;
    weft_partner_arrays partners;
} weft_exchange_lowering;

/* Who carries the blocks of an exchange. */
typedef enum weft_carrier {
    WEFT_CARRIED_BY_TRANSPORT, /* as messages, which may have to be staged */
    WEFT_CARRIED_BY_DEVICES,   /* as messages on the devices' queues (device/messages.h) */
    WEFT_CARRIED_BY_READERS    /* partners read the array before the exchange in shared memory:
                                  nothing is packed */
} weft_carrier;

typedef struct weft_exchange_ops {
    const char *name;
    weft_exchange id;
    weft_carrier carrier;
    bool gathers;        /* the transport gathers and scatters views: nothing is packed */
    bool receives_early; /* receives are posted before packing starts: send, receive and src are in
                            use together */

    void (*depart)(weft_exchange_lowering *exchange, const weft_exchange_tile *tile,
                   weft_tasks *tasks);
    void (*arrive)(weft_exchange_lowering *exchange, const weft_exchange_tile *tile,
                   weft_tasks *tasks);
    void (*finish)(weft_exchange_lowering *exchange, weft_tasks *tasks); /* NULL: nothing is left */
} weft_exchange_ops;

const weft_exchange_ops *weft_exchange_find(weft_exchange id);

/* Whether blocks travel through buffers where they are packed, unless they are contiguous anyway.
 */
static inline bool weft_exchange_packs(const weft_exchange_ops *method) {
    return method->carrier != WEFT_CARRIED_BY_READERS && !method->gathers;
}

#endif
