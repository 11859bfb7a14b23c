/*
 * Random sequential addition: capsules (segments, and all that is within a radius of them; spheres
 * and discs where segments are points) are placed one after the other at random, each where it
 * keeps a gap to those before it and to all their periodic images.
 */
#ifndef WEFT_MICROSTRUCTURE_PACKING_H
#define WEFT_MICROSTRUCTURE_PACKING_H

#include "microstructure/cell_grid.h"

typedef struct packing {
    const char *what; /* "spheres", for sentences */
    int64_t n[3];     /* of the box */
    bool spans[3];    /* axes that count; along the others capsules go on for ever */
    int count;
    double radius, gap;
    double half;      /* of a segment's length */
    double along[3];  /* its direction; not used where `turns` or half is 0 */
    bool turns;       /* a random direction for each */
    cell_grid *grid;  /* of the segments' middles, once it is made */
    double (*arm)[3]; /* from the middle of each segment to its end; NULL where half is 0 */
} packing;

/* Places them all. Fails with a sentence where no room is found for one of them. */
weft_status packing_make(packing *p, uint64_t seed);
void packing_release(packing *p);

/* Volume of the box and of one capsule, along the axes that count. */
double packing_box_volume(const packing *p);
double packing_volume(const packing *p, double radius);

/* The square of the distance between a place and the segment with this middle and arm, which may be
 * NULL. */
double packing_distance2(const double place[3], const double middle[3], const double *arm);

#endif
