/*
 * The exchange of points through local memory, from the threads of one stage to those of the next:
 * all numbers at once or, with half the memory, the real parts before the imaginary ones (PARTS 2).
 * Also the macros in which the straight-line transforms (src/engine/native/codelets) are written.
 */
#if PARTS == 1
typedef real2 exchanged;
#define GIVEN(z, part) (z)
#define TAKE(z, part, value) (z) = (value)
#else
typedef real exchanged;
#define GIVEN(z, part) ((part) == 0 ? (z).x : (z).y)
#define TAKE(z, part, value)                                                                       \
    if ((part) == 0)                                                                               \
        (z).x = (value);                                                                           \
    else                                                                                           \
        (z).y = (value)
#endif

/* The place of number p of a line in local memory, where one place is left out after every `pad`
 * numbers; pad 0: none is. */
#define PADDED(p, pad) ((pad) == 0 ? (p) : (p) + (p) / ((pad) == 0 ? 1 : (pad)))

/* Where number p of a line lies. Each group of a cluster has a share of the numbers, those that it
 * gives: OWN_PLACE is where. */
#if CLUSTER > 1
#define SHARE (POINTS / CLUSTER)
#define OWN_PLACE(line, p, pad) ((line)[PADDED((p) % SHARE, pad)])
#define PLACE(line, p, pad)                                                                        \
    (*CLUSTER_LOCAL(exchanged, &OWN_PLACE(line, p, pad), (p) / SHARE))
#else
#define OWN_PLACE(line, p, pad) ((line)[PADDED(p, pad)])
#define PLACE OWN_PLACE
#endif

/* Butterfly i of one of the `threads` threads of a transform, and whether there is one. Each group
 * of a cluster does as many neighbouring ones. */
#define OF_THREADS(butterflies, threads) (((butterflies) + (threads)-1) / (threads))
#if CLUSTER > 1
#define BUTTERFLY_OF(t, i, butterflies, threads)                                                   \
    (CLUSTER_GROUP * ((butterflies) / CLUSTER) + THREAD + (i)*THREADS)
#define IS_BUTTERFLY_OF(t, i, butterflies, threads) (THREAD + (i)*THREADS < (butterflies) / CLUSTER)
#else
#define BUTTERFLY_OF(t, i, butterflies, threads) ((t) + (i) * (threads))
#define IS_BUTTERFLY_OF(t, i, butterflies, threads) ((t) + (i) * (threads) < (butterflies))
#endif

/* Of the first and the middle stage, which transform rows (fft_order.cl), and the last one, which
 * transforms lines: butterflies in all and of each thread, butterfly i of thread t. */
#define FIRST_BUTTERFLIES (ROW_POINTS / FIRST_RADIX)
#define FIRST_COUNT OF_THREADS(FIRST_BUTTERFLIES, ROW_THREADS)
#define FIRST_BUTTERFLY(t, i) BUTTERFLY_OF(t, i, FIRST_BUTTERFLIES, ROW_THREADS)
#define IS_FIRST_BUTTERFLY(t, i) IS_BUTTERFLY_OF(t, i, FIRST_BUTTERFLIES, ROW_THREADS)
#define MIDPOINT_BUTTERFLIES (ROW_POINTS / MIDPOINT_RADIX)
#define MIDPOINT_COUNT OF_THREADS(MIDPOINT_BUTTERFLIES, ROW_THREADS)
#define MIDPOINT_BUTTERFLY(t, i) BUTTERFLY_OF(t, i, MIDPOINT_BUTTERFLIES, ROW_THREADS)
#define IS_MIDPOINT_BUTTERFLY(t, i) IS_BUTTERFLY_OF(t, i, MIDPOINT_BUTTERFLIES, ROW_THREADS)
#define LAST_BUTTERFLIES (POINTS / LAST_RADIX)
#define LAST_COUNT OF_THREADS(LAST_BUTTERFLIES, LINE_THREADS)
#define LAST_BUTTERFLY(t, i) BUTTERFLY_OF(t, i, LAST_BUTTERFLIES, LINE_THREADS)
#define IS_LAST_BUTTERFLY(t, i) IS_BUTTERFLY_OF(t, i, LAST_BUTTERFLIES, LINE_THREADS)

#define NUMBERED_AFTER(name, number) name##number
#define NUMBERED(name, number) NUMBERED_AFTER(name, number)

/* The codelets' CONSTANT is a number; the dialect's, a kind of memory, is not used after this. */
#undef CONSTANT
#define CONSTANT(value) ((real)(value))
#define vector real
#define LOAD(k, re, im) const real re = v[k].x, im = v[k].y;
#define STORE(k, re, im) v[k] = pair(re, im);
