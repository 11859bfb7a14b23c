/*
 * What the passes of sweeps.h share in kernels (device.c). Threads take the voxels in turn, and each
 * group stores the sums of its threads. Numbers are double, whatever the fields' precision. Before
 * this text come COMPONENTS, 6 or 3, and STAGGERED and ISOTROPIC, 1 or 0, of the medium; behind it
 * law.cl, where the pass needs the materials, table.cl, where it makes a table, and one pass.
 */
typedef struct sweep {
    long64 voxels, row, rows; /* of this rank; in a row of it, rows in a plane */
    long64 halo;              /* planes of phases below the box along each axis */
    long64 store;             /* 1: what is made is stored, see the pass */
    long64 reference;         /* 1: the reference medium takes part, see the pass */
    long64 threads;           /* that have a part of a table, see table.cl */
    long64 phases, entries;   /* numbers that a table has for each phase */
    double twice, trace;      /* of the reference medium */
    double factor, mean[6];
} sweep;

enum { MIDDLE = COMPONENTS - 3 * STAGGERED }; /* components in the middles of voxels */

FUNCTION void load(const GLOBAL real *field, long64 voxels, long64 at, double *x) {
    UNROLL
    for (int i = 0; i < COMPONENTS; ++i) x[i] = (double)field[i * voxels + at];
}

FUNCTION void store(GLOBAL real *field, long64 voxels, long64 at, const double *x) {
    UNROLL
    for (int i = 0; i < COMPONENTS; ++i) field[i * voxels + at] = (real)x[i];
}

/* a x y + b tr(x) tr(y) */
FUNCTION double product(double a, double b, const double *x, const double *y) {
    double sum = b * (x[0] + x[1] + x[2]) * (y[0] + y[1] + y[2]);
    UNROLL
    for (int i = 0; i < COMPONENTS; ++i) sum += a * x[i] * y[i];
    return sum;
}

/* Adds up what the threads of the group have or, with `largest`, finds the largest. */
FUNCTION void join(LOCAL double *scratch, double value, int largest, GLOBAL double *result) {
    scratch[THREAD] = value;
    for (int width = THREADS / 2; width > 0; width /= 2) {
        BARRIER();
        if (THREAD < width) {
            const double one = scratch[THREAD], other = scratch[THREAD + width];
            scratch[THREAD] = !largest ? one + other : one > other ? one : other;
        }
    }
    BARRIER();
    if (THREAD == 0) *result = scratch[0];
    BARRIER();
}

FUNCTION void add_up(LOCAL double *scratch, double value, GLOBAL double *sum) {
    join(scratch, value, 0, sum);
}

#define FIRST ((long64)GROUP(0) * THREADS + THREAD)
#define STEP ((long64)GROUPS(0) * THREADS)
