/*
 * The machine record: every number by which planning compares one way of running a call with
 * another. Nothing here changes what is computed, only what is chosen. A field says its unit, and
 * where its default comes from: a page of docs/results where it was measured, "estimate" where it
 * was set by hand and no measurement stands behind it yet.
 */
#ifndef WEFT_PLAN_MACHINE_H
#define WEFT_PLAN_MACHINE_H

/* What one rank does in a second. */
typedef struct weft_machine_rates {
    double memory;      /* bytes read or written by one thread; estimate: a middling node of 2026 */
    double bandwidth;   /* bytes sent to other ranks; estimate: such a node */
    double latency;     /* seconds for each message; estimate: such a node */
    double flops;       /* operations of one thread; estimate: such a node */
    double thread_gain; /* how many times faster several threads read memory than one; estimate */
} weft_machine_rates;

/* Where a step takes longer than its bytes and operations say. */
typedef struct weft_machine_penalties {
    /* Passes through memory for each byte that a transport sends by datatypes, which it gathers
     * element by element where rows are short; docs/results, exchanges. */
    double datatypes;
    /* Times that a transform takes longer where it stores in another memory order than it loads,
     * for it transposes on the way; estimate. */
    double realigned;
    /* Times that a transform of two axes takes longer where neither of them is contiguous: 1.1
     * to 1.3 in docs/results, strategies (slab-1d2d beside slab-2d1d). */
    double strided;
    /* Passes through memory for each byte that devices send each other: written once and read once,
     * over links about as fast as memory; docs/results, cuda-exchanges. */
    double device_links;
} weft_machine_penalties;

/* Into how many tiles a pass next to an exchange is cut, so that transforms work on one tile while
 * another travels. Two H200 are fastest with 1 tile for 16 MiB of a rank's array, 2 for 64 MiB, 4
 * for 128 MiB, 8 for 1 GiB, 16 for 8 GiB (docs/results, cuda-exchanges). */
typedef struct weft_machine_tiling {
    double two, four; /* bytes of a rank's array from which so many tiles pay; cuda-exchanges */
    double growth;    /* so many times larger, an array gets twice as many tiles; cuda-exchanges */
    int most;         /* tiles of a pass; cuda-exchanges */
    /* Tiles of the pass after an exchange that shares out other axes before and after it, where
     * each tile produced meets each tile consumed; estimate. */
    int most_consumed;
    /* Share of those tiles that is copied where there are more than two partners: kernels read the
     * others from all partners at once, while copies, from one at a time, meet at one of them and
     * leave the links of others idle; cuda-exchanges, four GPUs. */
    double copied;
} weft_machine_tiling;

/* How arrays on the host pass a device tile by tile. */
typedef struct weft_machine_streaming {
    int slots; /* in which tiles rotate: one is copied to the device, one is transformed, one is
                  copied back */
    int least_tiles; /* of a pass, where its axis is that long, for the first tile's copy to the
                        device and the last one's back overlap with nothing; estimate */
    double tile;     /* bytes of a tile on either side: copies of 64 MiB are as fast as the link;
                        docs/results, cuda-copies */
    double row; /* bytes that lie side by side in what a copy takes: shorter rows, which are far
                   apart, are slower; docs/results, streaming */
} weft_machine_streaming;

/* Prices of what a buffer assignment costs, without a unit: only their order matters. One pass over
 * the local array through memory is about 15. All of them are estimates. */
typedef struct weft_machine_buffers {
    int workspace;   /* another buffer of the local size */
    int third;       /* more for a third one, and for a fourth: only where nothing else works */
    int final_copy;  /* a copy of the result into the caller's buffer */
    int shared_copy; /* a copy of the data before partners read it */
    int elsewhere;   /* a step stores past what it loaded, though it could store there */
    int waiting;     /* a transform that goes in tiles waits for the exchange as a whole */
    int own_packed;  /* this rank's own block is packed and unpacked instead of copied */
    int own_shifted; /* the same where nothing is packed: accepted to save a workspace */
} weft_machine_buffers;

/* How far the planner looks, and how much it trusts its own predictions. */
typedef struct weft_machine_search {
    /* Another chain is chosen than with the usual exchange method where it is predicted to be so
     * many times faster, beyond what the model's errors explain; docs/design.md, Planning. */
    double faster_by_far;
    /* Chains predicted to take so many times as long as the best one are listed with the usual
     * exchange method only; estimate. */
    double hopeless;
    /* Process grids that the closed formula finds so many times slower than the best one are not
     * listed at all, such as slabs where most ranks would have nothing; estimate. */
    double discarded;
    int examined_grids; /* process grids that are compared by the closed formula; estimate */
    int listed_grids;   /* of those, the best, for which schedules are predicted; estimate */
    int measured;       /* candidates that effort MEASURE times; estimate */
    int runs;           /* timed runs of each, after one that warms up; estimate */
} weft_machine_search;

typedef struct weft_machine {
    weft_machine_rates rate;
    weft_machine_penalties penalty;
    weft_machine_tiling tiling;
    weft_machine_streaming streaming;
    weft_machine_buffers buffers;
    weft_machine_search search;
} weft_machine;

/* The default, until machines are measured. */
extern const weft_machine weft_machine_default;

#endif
