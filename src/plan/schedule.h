/*
 * Schedules: the list of steps that one rank runs for one direction, and the buffers they use. Made
 * from a chain by pure computation: no memory is allocated for data, nothing is communicated.
 */
#ifndef WEFT_PLAN_SCHEDULE_H
#define WEFT_PLAN_SCHEDULE_H

#include "engine/engine.h"
#include "exchange/exchange.h"
#include "layout/redistribution.h"
#include "operator/operator.h"
#include "plan/machine.h"
#include "plan/problem.h"
#include "plan/strategy.h"

typedef enum weft_step_kind {
    WEFT_STEP_FFT,
    WEFT_STEP_COPY,
    WEFT_STEP_EXCHANGE,
    WEFT_STEP_POINTWISE
} weft_step_kind;

/* Buffers by number: the caller's two, then the plan's workspaces. In place, both callers' buffers
 * are one. */
enum { WEFT_BUFFER_IN, WEFT_BUFFER_OUT, WEFT_BUFFER_WORKSPACE, WEFT_MAX_WORKSPACES = 4 };
/* Page-locked buffers for staging have numbers of their own. */
enum {
    WEFT_BUFFER_STAGE_SEND = WEFT_BUFFER_WORKSPACE + WEFT_MAX_WORKSPACES,
    WEFT_BUFFER_STAGE_RECEIVE,
    WEFT_BUFFERS
};

/* Arrays that a transform loads where something arrived, by weft_piece.array. */
enum { WEFT_LOADED_ARRIVED, WEFT_LOADED_OWN, WEFT_LOADED_ARRAYS };

/* Shares of the indices along an axis, of which a transform works on one after the other. */
typedef struct weft_partition {
    int parts; /* 1: it is whole */
    int axis;
} weft_partition;

typedef struct weft_step {
    weft_step_kind kind;
    int src, dst; /* buffers; -1: partners' arrays */
    int64_t src_bytes, dst_bytes;

    weft_transform transform;         /* FFT */
    bool can_alias;                   /* FFT: may run in place */
    int axis[WEFT_MAX_RANK];          /* FFT: the axes, first transformed first */
    weft_piece *in_piece, *out_piece; /* FFT: those of the transform, or NULL */
    int chunks;                       /* FFT: how many parts it goes in, one after the other */
    int chunk_loop;                   /* FFT: the loop that they share out, if there are several */
    /* FFT: so many parts, the last ones, load from where partners' arrays lie, by these pieces,
     * whose arrays are those of the members; nothing of them is copied */
    int far_chunks;
    weft_piece *far_piece;

    weft_copy copy;         /* COPY */
    weft_transfer transfer; /* COPY */
    bool optional;          /* COPY: dropped where src and dst can be one buffer */

    int redistribution;       /* EXCHANGE: its number in the chain, so its group */
    weft_direction direction; /* EXCHANGE: which way through the chain */
    /* EXCHANGE: the parts in which the transform before it makes the data, and those in which the
     * one after it takes them; along the same axis the exchange has as many, else each with each */
    weft_partition made, taken;
    bool parts_before, parts_after; /* EXCHANGE: the transform next to it has these parts, ... */
    bool overlaps_before, overlaps_after; /* ... and works on one while others travel */
    weft_redistribution exchange;         /* EXCHANGE */
    const weft_exchange_ops *method;
    bool staged;
    int send,
        receive; /* EXCHANGE: buffers of packed data; src and dst themselves where not packed */
    weft_packing packing; /* EXCHANGE: what the geometry, or each part of it, is laid out by */
    bool own_direct;      /* EXCHANGE: this rank's own block goes straight from src to dst ... */
    bool own_stays;       /* ... or is loaded from src by the next step */
    /* EXCHANGE: the next step loads blocks as they arrive, or, of what partners lend as a whole,
     * from their arrays */
    bool loaded_by_next;

    const weft_operator_list *operators; /* POINTWISE: not owned */
    weft_pointwise_layout layout;        /* POINTWISE */

    double flops;
    int64_t bytes_moved; /* read and written in local memory */
    int64_t bytes_sent;  /* to other ranks */
    int messages_sent;
    double predicted; /* seconds, by the model */
} weft_step;

static inline bool weft_step_in_parts(const weft_step *exchange) {
    return exchange->made.parts > 1 || exchange->taken.parts > 1;
}

/* How many parts an exchange has. */
static inline int weft_step_parts(const weft_step *exchange) {
    const weft_partition *made = &exchange->made, *taken = &exchange->taken;
    return made->axis == taken->axis ? made->parts : made->parts * taken->parts;
}

/* Whether the parts of messages are runs of contiguous blocks of `box`, one behind the other: along
 * the slowest axis that has several indices there. */
bool weft_step_parts_are_runs(const weft_step *exchange, const weft_region *box);

/* What partners lend is loaded by the next step where it lies: nothing arrives. */
static inline bool weft_step_leaves_data(const weft_step *exchange) {
    return exchange->loaded_by_next && exchange->method->shared && !weft_step_in_parts(exchange);
}

/* A transform of nothing, on ranks without data. */
static inline bool weft_step_is_empty(const weft_step *fft) {
    return fft->transform.in_elements == 0 || fft->transform.out_elements == 0;
}

/* The most steps of a schedule over so many segments: both ways of a convolution. */
#define WEFT_STEPS_OF(segments) (10 * (size_t)(segments) + 8)
#define WEFT_MAX_STEPS (10 * WEFT_MAX_SEGMENTS + 8)

typedef struct weft_schedule {
    weft_direction direction;
    bool in_place;
    weft_precision precision;
    int steps;
    weft_step *step;                   /* [steps] */
    size_t buffer_bytes[WEFT_BUFFERS]; /* the largest content of each */
    int workspaces;
    bool shared[WEFT_MAX_WORKSPACES]; /* partners read arrays in this workspace */
    bool converts_output; /* what the caller gets is stored as other numbers than are worked on */
} weft_schedule;

/* What a schedule depends on besides the chain. */
typedef struct weft_schedule_request {
    const weft_chain *chain;
    const weft_machine *machine; /* NULL: the default one */
    int rank;
    weft_direction direction;
    bool in_place;
    weft_precision precision;
    const weft_operator_list *operators; /* [WEFT_PLACES]; NULL: none */
    const weft_call *call; /* what the callers' arrays hold; NULL: what transforms work on */
    bool keeps_spectrum;   /* convolutions do */
    const weft_exchange *exchange; /* by weft_chain.method */
    bool staged;                   /* messages go through page-locked memory */
    bool host_buffers;             /* the callers' buffers must be copied to and from the device */
    const weft_engine_ops *engine; /* NULL: one that takes no pieces */
    const weft_device_ops *device; /* it runs on */
    int chunks;                    /* parts of an exchange, as far as its axes allow; 0: one */
    int threads;
    weft_effort effort;
    int workspaces; /* held anyway for another schedule of the plan, so free to use */
} weft_schedule_request;

/* The caller releases the schedule, also after a failure. */
weft_status weft_schedule_build(const weft_schedule_request *request, weft_schedule *schedule);
void weft_schedule_release(weft_schedule *schedule);

static inline const weft_machine *weft_request_machine(const weft_schedule_request *request) {
    return request->machine ? request->machine : &weft_machine_default;
}

/* Splits exchanges, and the transforms next to them, into parts along an axis that they do not work
 * on (chunks.c). Buffers assigned, weft_schedule_overlap says what may run at the same time. */
void weft_schedule_chunk(const weft_schedule_request *request, weft_schedule *schedule);
void weft_schedule_overlap(weft_schedule *schedule);

/* Gives operators to the transforms next to them, where the engine takes them (operators.c). */
void weft_schedule_fuse_operators(const weft_schedule_request *request, weft_schedule *schedule);
/* The operators of a POINTWISE step as those of a transform. */
weft_fused_operators weft_schedule_fused(const weft_step *pointwise, const weft_step *fft);

/* Lets transforms store and load the blocks of exchanges, where that is possible (fuse.c). */
void weft_schedule_fuse(const weft_schedule_request *request, weft_schedule *schedule);
/* The transform after an exchange finds this rank's own block beside those that arrived. */
void weft_schedule_load_own_copy(const weft_step *exchange, weft_step *fft);

/* Chooses a buffer for every step by the machine's prices (buffers.c), with so many workspaces free
 * of cost; drops optional copies that are not needed, and may add a COPY at the end. */
weft_status weft_schedule_assign_buffers(weft_schedule *schedule, const weft_machine_buffers *price,
                                         int free_workspaces);

#endif
