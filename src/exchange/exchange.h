/*
 * Exchange methods: how a redistribution is carried out on a transport and a device. One file each,
 * named in exchanges.def. A method knows nothing of strategies.
 *
 * A method works on one weft_exchange_plan: the geometry (which blocks, packed or not), the group,
 * the device, and what `prepare` made of them. `run` is called with the addresses of the four
 * buffers: src (the array before), send, receive, dst (the array after). send is src where nothing
 * is packed, receive is dst where nothing is unpacked. Work of the step before has been enqueued on
 * the plan's queue, or is awaited there; `run` returns when dst is complete or enqueued on that
 * queue, and when send and src may be overwritten by work enqueued after it. When a copy fails, run
 * still sends and receives everything, so that no partner waits forever, and then returns the first
 * failure.
 *
 * Shared methods read partners' src instead of sending: `run` returns when this rank has read all
 * it needs, but others may still read its src, which is written again only after weft_peer_reclaim
 * (exchange/peer.h).
 */
#ifndef WEFT_EXCHANGE_H
#define WEFT_EXCHANGE_H

#include "device/device.h"
#include "layout/redistribution.h"
#include "support/recorder.h"
#include "transport/transport.h"

typedef struct weft_exchange_plan weft_exchange_plan;
typedef struct weft_peer weft_peer;
typedef struct weft_communicator weft_communicator;     /* device/messages.h */
typedef struct weft_stream_workers weft_stream_workers; /* exchange/p2p_streams.c */

typedef struct weft_exchange_ops {
    const char *name;
    weft_exchange id;
    bool point_to_point; /* receives are posted before packing starts: send, receive, src are live
                            together */
    bool datatypes;      /* the transport gathers and scatters: nothing is packed */
    bool shared;    /* partners read src where it lies, in shared memory: nothing is packed, sent or
                       staged */
    bool by_device; /* devices send and receive on their queues (device/messages.h): nothing is
                       staged, run does not wait */

    weft_status (*prepare)(weft_exchange_plan *plan);
    weft_status (*run)(weft_exchange_plan *plan);
    /* Shared methods, for parts: enqueues the copies of what arrives of the parts from `first`
     * to `last`, which follow each other along `axis`, once all partners are ready; and, on the
     * default queue, the copy of this rank's own block, once src is complete there. */
    weft_status (*pull)(weft_exchange_plan *first, const weft_exchange_plan *last, int axis);
    weft_status (*copy_own)(weft_exchange_plan *plan);
    void (*release)(
        weft_exchange_plan *plan); /* also of a half-prepared plan; frees plan->method_state */
} weft_exchange_ops;

struct weft_exchange_plan {
    const weft_exchange_ops *ops;
    const weft_redistribution *geometry;
    weft_transport *group;
    const weft_device_handle *device;
    weft_queue *queue; /* of its copies; NULL: the default queue */
    /* Shared methods: those of what comes from partners, in turn. None: `queue` */
    weft_queue *const *partner_queue;
    int partner_queues;
    int chunk;       /* which part of the redistribution this is */
    bool staged;     /* send and receive are page-locked host memory */
    bool own_direct; /* this rank's own block is copied from src to dst; otherwise, unless it ... */
    bool own_stays;  /* ... is loaded from src by the next step, it goes through receive */

    const void *src; /* set before each run */
    void *send, *receive, *dst;
    weft_recorder *recorder; /* of phases and messages */

    weft_communicator *communicator; /* methods by device; not owned */

    /* p2p-streams: what the exchanges of a plan share, which are prepared and run one after the
     * other; NULL until the first of them is prepared and after the last is released. */
    weft_stream_workers **workers;

    weft_peer *peer;             /* shared methods: see exchange/peer.h; not owned */
    int workspace;               /* the number of the workspace that src is */
    const void *const *peer_src; /* [members]: partners' arrays, as far as they are awaited */

    void *method_state;
};

const weft_exchange_ops *weft_exchange_find(weft_exchange id);

#endif
