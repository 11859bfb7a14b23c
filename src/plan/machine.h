/*
 * The machine record: every number by which planning compares one way of running a call with
 * another. Nothing here changes what is computed, only what is chosen. A field says its unit, and
 * where its default comes from: a page of docs/results where it was measured, "estimate" where it
 * was set by hand and no measurement stands behind it yet.
 */
#ifndef WEFT_PLAN_MACHINE_H
#define WEFT_PLAN_MACHINE_H

/* Rates of the host depend on how many bytes are worked on: they are known for so many sizes, and
 * in between, logarithms of sizes are interpolated. Classes of lengths have rates of their own. */
enum { WEFT_MACHINE_SIZES = 4 };
typedef enum weft_length_class {
    WEFT_LENGTH_BINARY,     /* a power of two; measured with 256 */
    WEFT_LENGTH_SMOOTH,     /* no prime factor above 13; 252 */
    WEFT_LENGTH_PRIME,      /* a larger prime factor, up to 256; 127 */
    WEFT_LENGTH_LONG_PRIME, /* one above that; 509 */
    WEFT_LENGTH_CLASSES
} weft_length_class;

/* What one thread does in a second where nothing else runs. The native engine's passes take the
 * time of their arithmetic in the caches, by `flops`, and that of their arrays' way through memory.
 * Defaults: half the arithmetic of an AMD EPYC (Zen 4) and its memory, rounded; docs/results, tune.
 */
typedef struct weft_machine_rates {
    double bytes[WEFT_MACHINE_SIZES]; /* sizes of what is worked on, rising; chosen by weft tune */
    /* Bytes read or written, by arrays of such sizes; docs/results, tune: copies, and passes along
     * the contiguous axis, the same between real numbers and half spectra, whose rows begin
     * anywhere, passes along another axis, and from one memory order to another. */
    double copy[WEFT_MACHINE_SIZES];
    double contiguous[WEFT_MACHINE_SIZES];
    double halved[WEFT_MACHINE_SIZES];
    double strided[WEFT_MACHINE_SIZES];
    double realigned[WEFT_MACHINE_SIZES];
    /* Of s threads each has 1 / (1 + (s - 1) contention) of these rates; docs/results, tune. */
    double contention[WEFT_MACHINE_SIZES];
    /* Operations (5 n log2 n a line) in the cache, [single precision][class]: of lines that are
     * contiguous, and of lines that lie beside each other; docs/results, tune. */
    double flops[2][WEFT_LENGTH_CLASSES];
    double flops_across[2][WEFT_LENGTH_CLASSES];
    /* Bytes sent to other ranks, by bytes sent at once, while all ranks send; estimate. */
    double bandwidth[WEFT_MACHINE_SIZES];
    double latency; /* seconds for each message; estimate: a middling node of 2026 */
    double signal;  /* seconds until a rank of the node sees what another one wrote; estimate */
    int cores;      /* of a node: ranks beyond them are on others; 0: not known */
} weft_machine_rates;

/* Links that some ranks have to each other and not to all, such as those of a pair of GPUs, or of a
 * node. Ranks are placed in blocks: so many neighbours have the links of a level. Messages beyond
 * the last level go at rate.bandwidth and rate.latency. No level by default: all links are alike.
 */
enum { WEFT_MACHINE_LEVELS = 3 };
typedef struct weft_machine_network {
    int ranks[WEFT_MACHINE_LEVELS]; /* of a level, rising; 0: there is none, nor any behind it. The
                                       last one's are a node, whose ranks read each other's memory
                                     */
    double bandwidth[WEFT_MACHINE_LEVELS]; /* bytes that a rank sends in a second to others of its
                                              level, while all ranks send; of its file */
    double latency[WEFT_MACHINE_LEVELS];   /* seconds for each message; of its file */
} weft_machine_network;

/* Where a step takes longer than its bytes and operations say. */
typedef struct weft_machine_penalties {
    /* Passes through memory for each byte that a transport sends by datatypes, which it gathers
     * element by element where rows are short; docs/results, exchanges. */
    double datatypes;
    /* Times that the arithmetic of real lines takes longer where their length is odd, for they are
     * no complex lines of half the length; docs/results, tune. */
    double odd_real;
    /* Times that the arithmetic of cosine and sine transforms takes longer than that of real lines
     * of as many points; docs/results, tune. */
    double real_to_real;
    /* Times that passes of FFTW take longer, with effort MEASURE; docs/results, native-nd. */
    double fftw;
    /* Passes through memory for each byte that devices send each other: written once and read once,
     * over links about as fast as memory; docs/results, cuda-exchanges. */
    double device_links;
} weft_machine_penalties;

/* What a device does that is not the host; memory 0: nobody knows, and it counts as one thread of
 * the host. */
typedef struct weft_machine_device {
    double memory;                 /* bytes read or written in a second */
    double to_device, from_device; /* bytes in a second over the link, one way at a time */
    double launch;                 /* seconds from one short kernel or copy to the next */
} weft_machine_device;

/* Into how many tiles a pass next to an exchange is cut, so that transforms work on one tile while
 * another travels. Two H200 are fastest with 1 tile for 16 MiB of a rank's array, 4 for 64 and 128
 * MiB, 8 for half a GiB and 1 GiB, 16 for 8 GiB (docs/results, convolutions: tiles-two-h200.csv).
 */
typedef struct weft_machine_tiling {
    double two, four; /* bytes of a rank's array from which so many tiles pay */
    double growth;    /* so many times larger, an array gets twice as many tiles */
    int most;         /* tiles of a pass */
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
    int rounds; /* in turn, so that what else the machine does falls on none alone; estimate */
    int runs;   /* timed runs of each in all rounds at least, after one that warms up; estimate */
    double seconds; /* that each is timed in a round, so that short ones run more often; estimate */
    /* Those that take so many times as long as the fastest are in no further round; estimate. */
    double close;
    double budget; /* seconds after which no further one is timed; 0: no limit; WEFT_PLAN_SECONDS */
} weft_machine_search;

typedef struct weft_machine {
    weft_machine_rates rate;
    weft_machine_network network;
    weft_machine_penalties penalty;
    weft_machine_device device;
    weft_machine_tiling tiling;
    weft_machine_streaming streaming;
    weft_machine_buffers buffers;
    weft_machine_search search;
} weft_machine;

/* Ranks of a node by the levels of the network; 0: there are none. */
static inline int weft_machine_node_ranks(const weft_machine *machine) {
    int ranks = 0;
    for (int l = 0; l < WEFT_MACHINE_LEVELS && machine->network.ranks[l] > 0; l++)
        ranks = machine->network.ranks[l];
    return ranks;
}

/* The default, for machines that were never measured by weft tune (machine_file.h). */
extern const weft_machine weft_machine_default;

#endif
