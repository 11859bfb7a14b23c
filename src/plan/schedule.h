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
    WEFT_BUFFER_STAGE_THIRD, /* of streamed schedules that exchange more than once */
    WEFT_BUFFERS,
    WEFT_SHARED_BUFFERS = WEFT_BUFFERS - WEFT_BUFFER_WORKSPACE /* that partners may read */
};
/* Of a streamed schedule: what stays on the device between passes, behind the slots. */
enum { WEFT_BUFFER_RESIDENT = WEFT_BUFFER_WORKSPACE + 2 };

/* Arrays that a transform loads where something arrived, by weft_piece.array. */
enum { WEFT_LOADED_ARRIVED, WEFT_LOADED_OWN, WEFT_LOADED_ARRAYS };

/* A transform. It may go in several tiles, one after the other, which share out one of its loops;
 * the last `remote_tiles` of them load from partners' arrays, by `remote_piece`, whose arrays are
 * those of the members, so that nothing of them is copied. */
typedef struct weft_fft_step {
    weft_transform transform;
    bool can_alias; /* it may run in place */
    int parts; /* 2: of complex data, real to real; its last loop are the real and imaginary parts,
                  and its strides count numbers. Else 1 */
    int axis[WEFT_MAX_RANK];          /* the axes, first transformed first */
    weft_piece *in_piece, *out_piece; /* of the transform, or NULL */
    int tiles, tile_loop;             /* tile_loop: with several tiles */
    bool by_member; /* each tile is one member of the batch, with types of its own, ... */
    int64_t member; /* ... the first one this member */
    int remote_tiles;
    weft_piece *remote_piece;
} weft_fft_step;

typedef struct weft_copy_step {
    weft_copy copy;
    weft_transfer transfer;
    bool optional; /* dropped where src and dst can be one buffer */
} weft_copy_step;

/* Tiles of the array on one side of an exchange, along an axis that the transform on that side
 * leaves alone. */
typedef struct weft_tiling {
    int tiles; /* 1: the array is whole, and the axis does not matter */
    int axis;
    bool transformed; /* the transform next to the exchange goes in these tiles, ... */
    bool alternates;  /* ... and works on one of them while others travel */
} weft_tiling;

/* A redistribution. Along one axis the tiles before and after it are the same, and the exchange has
 * as many; along two axes it has one for each pair. */
typedef struct weft_exchange_step {
    int redistribution;       /* its number in the chain, so its group */
    weft_direction direction; /* which way through the chain */
    const weft_exchange_ops *method;
    weft_redistribution geometry;
    weft_tiling produced, consumed; /* tiles of the arrays before and after it */
    bool staged;
    int send, receive; /* buffers of packed data; src and dst of the step where nothing is packed */
    weft_packing packing; /* what the geometry, or each tile of it, is laid out by */
    weft_own_block own;
    bool loaded; /* the next step loads blocks where they arrive, or in the partners' arrays */
    int messages_sent;
} weft_exchange_step;

/* Operators, an array that is padded, cropped or truncated, or one whose numbers are rounded before
 * they travel or widened behind that. The steps of a schedule have different numbers: the place of
 * operators, and more than those of steps that only pad or crop, or only convert. */
typedef struct weft_pointwise_step {
    const weft_operator_list *operators; /* not owned */
    weft_pointwise_layout layout;
    int number;
} weft_pointwise_step;

/* One for each place, and for each axis that is padded, truncated, and both undone coming back;
 * behind those, conversions of what travels: one for each side of each exchange or, of streamed
 * schedules, whose tiles may differ with the placement, of each pass. */
enum {
    WEFT_FIRST_CONVERSION = WEFT_PLACES + 4 * WEFT_MAX_RANK,
    WEFT_MAX_CONVERSIONS = 4 * WEFT_MAX_SEGMENTS,
    WEFT_MAX_POINTWISE_STEPS = WEFT_FIRST_CONVERSION + 2 * WEFT_MAX_CONVERSIONS
};

typedef struct weft_step {
    weft_step_kind kind;
    int src, dst; /* buffers; -1: partners' arrays */
    int64_t src_bytes, dst_bytes;
    double flops;
    int64_t bytes_moved; /* read and written in local memory */
    int64_t bytes_sent;  /* to other ranks */
    double predicted;    /* seconds, by the model */
    union {
        weft_fft_step fft;
        weft_copy_step copy;
        weft_exchange_step exchange;
        weft_pointwise_step pointwise;
    } as;
} weft_step;

static inline bool weft_step_is_tiled(const weft_exchange_step *x) {
    return x->produced.tiles > 1 || x->consumed.tiles > 1;
}

static inline int weft_step_tiles(const weft_exchange_step *x) {
    return x->produced.axis == x->consumed.axis ? x->produced.tiles
                                                : x->produced.tiles * x->consumed.tiles;
}

/* Whether the tiles of messages are runs of contiguous blocks of `box`, one behind the other: along
 * the slowest axis that has several indices there. */
bool weft_step_tiles_are_runs(const weft_exchange_step *exchange, const weft_region *box);

/* Whether the next step loads everything from partners' arrays, so that nothing arrives here. */
static inline bool weft_step_stays_remote(const weft_exchange_step *x) {
    return x->loaded && x->method->carrier == WEFT_CARRIED_BY_READERS && !weft_step_is_tiled(x);
}

/* A transform of nothing, on ranks without data. */
static inline bool weft_step_is_empty(const weft_fft_step *fft) {
    return fft->transform.in_elements == 0 || fft->transform.out_elements == 0;
}

/* The most steps of a schedule over so many segments: both ways of a convolution. Each axis may be
 * padded, transformed, truncated and cropped by itself, or streamed by itself between conversions;
 * numbers are converted on either side of an exchange. */
#define WEFT_STEPS_OF(segments) (14 * (size_t)(segments) + 8 + 14 * WEFT_MAX_RANK)
#define WEFT_MAX_STEPS (14 * WEFT_MAX_SEGMENTS + 8 + 14 * WEFT_MAX_RANK)

/* A pass of a streamed schedule over an array that lies in host memory: steps `first` to `last`, of
 * which the first copies a tile of the array to the device, those in between work on the tile, and
 * the last one copies what became of it back. A tile has one index along each axis of `single`, so
 * many along `axis` (the last tiles fewer), and all along the others. */
typedef struct weft_streamed_pass {
    int first, last;
    /* The exchange whose blocks this pass copies its tiles from, as they arrived or in partners'
       arrays, and the one whose blocks it copies them to, as they leave; -1: none. */
    int loads_blocks, stores_blocks;
    weft_view before, after;           /* the whole arrays on the host */
    weft_view tile_before, tile_after; /* a tile in a slot, with as many indices as one may have */
    int axis;                          /* -1: the only tile is all of the array */
    int64_t thickness;
    unsigned single; /* bit mask of axes */
    bool backwards;  /* the last tile comes first: what it becomes is larger, and lies in one array
                        with what is still to be read */
    bool loads_resident, stores_resident; /* elements that stay on the device do not pass the link
                                             before the pass, behind it */
} weft_streamed_pass;

/* The part of the array that stays on the device between passes: the first n indices along an axis,
 * as an array of its own. n = 0: none. */
typedef struct weft_resident {
    int axis;
    int64_t n;
    weft_view view;
} weft_resident;

/* Slots of the workspaces in which tiles rotate, and what stays on the device beside them. */
typedef struct weft_streaming {
    int passes;
    weft_streamed_pass *pass;
    int slots;             /* 0: the schedule is not streamed */
    int64_t slot_bytes[2]; /* in the first and in the second workspace */
    weft_resident resident;
    bool one_after_another; /* nothing overlaps */
} weft_streaming;

typedef struct weft_schedule {
    weft_direction direction;
    bool in_place;
    weft_precision precision;
    int steps;
    weft_step *step;                   /* [steps] */
    size_t buffer_bytes[WEFT_BUFFERS]; /* the largest content of each */
    int workspaces;
    bool shared[WEFT_SHARED_BUFFERS]; /* partners read arrays in this workspace or page-locked
                                         buffer, from WEFT_BUFFER_WORKSPACE on */
    weft_streaming stream;
    bool exact;           /* the caller's output never holds more than what the caller gets */
    bool converts_output; /* what the caller gets is stored as other numbers than are worked on, or
                             at strides of its own */
} weft_schedule;

/* By what and where transforms are computed. */
typedef struct weft_computing {
    const weft_engine_ops *engine; /* NULL: one that takes no pieces */
    const weft_device_ops *device;
    int threads;
    weft_effort effort;
} weft_computing;

/* How redistributions are carried out. */
typedef struct weft_exchanging {
    const weft_exchange *method; /* by weft_chain.method */
    bool staged;                 /* messages go through page-locked memory */
    int tiles;                   /* of each side, as far as its axes allow; 0: one */
} weft_exchanging;

/* What a plan holds for its schedules, each of which may use it. */
typedef struct weft_held {
    int workspaces;
    int64_t slots[2]; /* bytes of the slots in the first and in the second workspace, beside which
                         a part of a streamed array stays on the device; 0: nothing does */
} weft_held;

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
    bool host_buffers;     /* the callers' buffers must be copied to and from the device */
    bool streamed;         /* ... tile by tile, so that the device never holds all of them */
    int64_t room;          /* bytes of the device's memory to count on; 0: any number */
    weft_exchanging exchanging;
    weft_computing computing;
    weft_held held; /* for other schedules of the plan, so free to use */
} weft_schedule_request;

/* The caller releases the schedule, also after a failure. */
weft_status weft_schedule_build(const weft_schedule_request *request, weft_schedule *schedule);
void weft_schedule_release(weft_schedule *schedule);

/* ---- the parts of weft_schedule_build, in this order; each is a file ---- */

/* Gives operators to the transforms next to them, where the engine takes them (operators.c). */
void weft_schedule_fuse_operators(const weft_schedule_request *request, weft_schedule *schedule);
/* The operators of a POINTWISE step as those of a transform. */
weft_fused_operators weft_schedule_fused(const weft_pointwise_step *pointwise,
                                         const weft_fft_step *fft);

/* Tiles exchanges, and the transforms next to them (tiles.c). */
void weft_schedule_tile(const weft_schedule_request *request, weft_schedule *schedule);

/* Lets transforms store and load the blocks of exchanges, where that is possible (fuse.c). */
void weft_schedule_fuse(const weft_schedule_request *request, weft_schedule *schedule);
/* The transform after an exchange finds this rank's own block beside those that arrived. */
void weft_schedule_load_own_copy(const weft_exchange_step *exchange, weft_fft_step *fft);

/* Chooses a buffer for every step by the machine's prices, drops optional copies that are not
 * needed, and may add a COPY at the end (buffers.c). */
weft_status weft_schedule_assign_buffers(const weft_schedule_request *request,
                                         weft_schedule *schedule);

/* Makes a buffer at least so large; none where its number is negative. */
void weft_schedule_need(weft_schedule *schedule, int buffer, int64_t bytes);

/* Decides which tiles of transforms alternate with those of exchanges (tiles.c). */
void weft_schedule_alternate(weft_schedule *schedule);

/* ---- in place of them, for streamed schedules (stream.c) ---- */

/* Makes the passes of a schedule that has neither steps nor buffers yet. WEFT_ERROR_UNSUPPORTED for
 * what cannot be streamed, WEFT_ERROR_OUT_OF_MEMORY where not even the smallest tiles fit into the
 * room. */
weft_status weft_schedule_stream(const weft_schedule_request *request, weft_schedule *schedule);
/* Tiles of a pass along an axis, and all of them. */
int64_t weft_streamed_tiles_along(const weft_streamed_pass *pass, int axis);
int64_t weft_streamed_tiles(const weft_streamed_pass *pass);

static inline const weft_machine *weft_request_machine(const weft_schedule_request *request) {
    return request->machine ? request->machine : &weft_machine_default;
}

/* The precision of numbers that travel: between the passes of a streamed schedule, and to other
 * ranks. */
static inline weft_precision weft_wire_precision(const weft_schedule_request *request) {
    const bool single = request->call && request->call->options.wire == WEFT_WIRE_SINGLE;
    return single ? WEFT_SINGLE : request->precision;
}

/* The step, if it is a transform of something here; else NULL. */
static inline weft_step *weft_schedule_transform(weft_schedule *schedule, int i) {
    if (i < 0 || i >= schedule->steps) return NULL;
    weft_step *step = &schedule->step[i];
    return step->kind == WEFT_STEP_FFT && !weft_step_is_empty(&step->as.fft) ? step : NULL;
}

/* Gives a transform of the step the types of a member of the batch. */
void weft_step_set_types(const weft_chain *chain, const weft_fft_step *fft, int64_t member,
                         weft_transform *transform);
/* Whether the transform is along this axis of the array. */
bool weft_step_transforms(const weft_fft_step *fft, int axis);
/* The loop of the transform that is this axis, which it leaves alone, of a box of extents n. */
int weft_step_loop(const weft_fft_step *fft, const int64_t *n, int axis);

#endif
