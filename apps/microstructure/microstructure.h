/*
 * Label volumes of model microstructures, periodic across all faces: each voxel has the label of
 * the phase or grain in which its centre lies.
 *
 * The volume is a box of n[0] x n[1] x n[2] voxels of edge 1. The centre of voxel (i, j, k) is
 * (i + 1/2, j + 1/2, k + 1/2). Axes of extent 1 are no axes of the geometry: spheres in a volume of
 * 64 x 64 x 1 are discs.
 *
 * What is made depends on the request and nothing else: every rank makes the same geometry, and any
 * box of the volume has the same labels whoever makes it. Numbers are random by a generator of our
 * own, and computed by operations that IEEE 754 rounds alike everywhere (sums, products, quotients,
 * square roots), so that they are the same on every machine.
 */
#ifndef WEFT_MICROSTRUCTURE_H
#define WEFT_MICROSTRUCTURE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <weft/weft.h>

enum {
    MICROSTRUCTURE_AXES = 3,
    MICROSTRUCTURE_FRACTIONS = 8,  /* that a request can have */
    MICROSTRUCTURE_LABELS = 65536, /* that a volume can have: they are 0 to 65535 */
    MICROSTRUCTURE_RANDOM = -1,    /* as an axis: a random direction for each fibre */
};

/* What a request gives, as bits of microstructure_request.given and microstructure_kind.takes. */
enum {
    MICROSTRUCTURE_HAS_AXIS = 1 << 0,
    MICROSTRUCTURE_HAS_FRACTIONS = 1 << 1,
    MICROSTRUCTURE_HAS_PERIODS = 1 << 2,
    MICROSTRUCTURE_HAS_CELL = 1 << 3,
    MICROSTRUCTURE_HAS_COUNT = 1 << 4,
    MICROSTRUCTURE_HAS_RADIUS = 1 << 5,
    MICROSTRUCTURE_HAS_GAP = 1 << 6,
    MICROSTRUCTURE_HAS_LENGTH = 1 << 7,
    MICROSTRUCTURE_HAS_DISTINCT = 1 << 8,
    MICROSTRUCTURE_HAS_SEED = 1 << 9,
};

typedef struct microstructure_request {
    int64_t n[MICROSTRUCTURE_AXES]; /* extents; 1 where the volume has fewer axes */
    unsigned given;                 /* which of the following were given; others are 0 */
    int axis;                       /* 0 to 2, or MICROSTRUCTURE_RANDOM */
    int fractions;
    double fraction[MICROSTRUCTURE_FRACTIONS];
    int64_t periods, cell, count;
    double radius, gap, length; /* in voxels */
    uint64_t seed;
} microstructure_request;

typedef struct microstructure microstructure;

typedef struct microstructure_kind {
    const char *name;
    unsigned takes; /* what a request of this kind may give */
} microstructure_kind;

/* The kind of this name, or NULL. Not collective. */
const microstructure_kind *microstructure_find(const char *name);

/* Makes the geometry. Fails with a sentence where the request cannot be fulfilled. Not collective.
 */
weft_status microstructure_create(const microstructure_kind *kind,
                                  const microstructure_request *request, microstructure **made);
void microstructure_destroy(microstructure **made);

/* Labels are 0 to this number - 1. */
int microstructure_labels(const microstructure *made);

/* What was made, in a few words: "41 spheres of radius 5.2". */
const char *microstructure_note(const microstructure *made);

/* A box of the volume. */
typedef struct microstructure_box {
    int64_t lo[MICROSTRUCTURE_AXES], n[MICROSTRUCTURE_AXES];
} microstructure_box;

/* Writes the labels of a box, row-major, as u8 or, with `wide`, as u16; adds its voxels to
 * count[label]. Works on `threads` threads; adds the bytes that are done to *done, which may be
 * NULL, as it goes. Not collective. */
weft_status microstructure_fill(const microstructure *made, const microstructure_box *box,
                                bool wide, int threads, void *labels, int64_t *count,
                                atomic_llong *done);

/* The orientation of grain `label`, drawn uniformly from all rotations by the seed and the label:
 * a matrix, row-major, that turns vectors of the crystal's axes into vectors of the volume's. Not
 * collective. */
void microstructure_orientation(uint64_t seed, int label, double rotation[9]);

#endif
