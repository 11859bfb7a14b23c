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

/* Butterflies of the first, the middle and the last stage, in all and of each thread. */
#define OF_THREAD(butterflies) (((butterflies) + LINE_THREADS - 1) / LINE_THREADS)
/* Butterfly i of thread t of a line, and whether there is one. Each group of a cluster does as many
 * neighbouring ones. */
#if CLUSTER > 1
#define BUTTERFLY(t, i, butterflies)                                                               \
    (CLUSTER_GROUP * ((butterflies) / CLUSTER) + THREAD + (i)*THREADS)
#define IS_BUTTERFLY(t, i, butterflies) (THREAD + (i)*THREADS < (butterflies) / CLUSTER)
#else
#define BUTTERFLY(t, i, butterflies) ((t) + (i)*LINE_THREADS)
#define IS_BUTTERFLY(t, i, butterflies) ((t) + (i)*LINE_THREADS < (butterflies))
#endif
#define FIRST_BUTTERFLIES (POINTS / FIRST_RADIX)
#define FIRST_COUNT OF_THREAD(FIRST_BUTTERFLIES)
#define MIDPOINT_BUTTERFLIES (POINTS / MIDPOINT_RADIX)
#define MIDPOINT_COUNT OF_THREAD(MIDPOINT_BUTTERFLIES)
#define LAST_BUTTERFLIES (POINTS / LAST_RADIX)
#define LAST_COUNT OF_THREAD(LAST_BUTTERFLIES)

#define NUMBERED_AFTER(name, number) name##number
#define NUMBERED(name, number) NUMBERED_AFTER(name, number)

/* The codelets' CONSTANT is a number; the dialect's, a kind of memory, is not used after this. */
#undef CONSTANT
#define CONSTANT(value) ((real)(value))
#define vector real
#define LOAD(k, re, im) const real re = v[k].x, im = v[k].y;
#define STORE(k, re, im) v[k] = pair(re, im);
