/*
 * Convolution by levels, with little communication: the kernel is split into short ones on coarser
 * and coarser lattices (splitting.h). A rank convolves with each in its own box, for which it needs
 * the sources in a few points around that; of the last lattice, which is small, every rank has all.
 *
 *   tensor.c      small transforms, for planning
 *   splitting.c   symbols of the kernels of the levels
 *   fit.c         the short kernel of a level
 *   choose.c      how far they reach
 *   lattice.c     boxes of the levels
 *   transfer.c    from one lattice to the next, and back
 *   gather.c      the exchange of sources around boxes
 *   tiles.c       convolutions with short kernels, tile by tile
 *   multilevel.c  a convolution from level to level
 *   levels.c      how many there are, and what they cost
 *   compare.c     whether they, samples, or the exact method take least time
 *
 * Grids of one or two axes have three here, the first ones of one point.
 */
#ifndef WEFT_MULTILEVEL_H
#define WEFT_MULTILEVEL_H

#include "convolve/packets.h"
#include "multilevel/lattice.h"

/* Sources that ranks send each other on one level (gather.c): each gets those around its box. */
typedef struct weft_gathering {
    int numbers; /* of a point: fields times parts */
    int fields;
    int64_t period[WEFT_LATTICE_AXES];
    weft_lattice_boxes *boxes; /* [ranks] */
    weft_packets packets;      /* of numbers */
} weft_gathering;

/* boxes are those of all ranks on the level, and belong to the gathering then. Collective; destroy
 * it also after a failure. */
weft_status weft_gathering_create(weft_transport *transport, bool single, int fields, int parts,
                                  const int64_t *period, weft_lattice_boxes *boxes,
                                  weft_gathering *gathering);
void weft_gathering_destroy(weft_gathering *gathering);
/* From this rank's own sources to those around it, fields one after the other. Collective. */
weft_status weft_gathering_run(const weft_gathering *gathering, const double *own, double *around,
                               weft_recorder *recorder);

/* A convolution with a kernel in a box, from the sources around it (tiles.c). */
typedef struct weft_near_tiles {
    weft_context context;            /* of this process alone */
    weft_plan plan;                  /* of a tile's cyclic convolution */
    const weft_splitting *splitting; /* not owned */
    int parts, reach[WEFT_LATTICE_AXES];
    int64_t waves[WEFT_LATTICE_AXES]; /* of a tile's spectrum */
    double *turn[WEFT_LATTICE_AXES];  /* [waves] pairs: exp(i k / 2) */
    int64_t n[WEFT_LATTICE_AXES];     /* points of a tile */
    int64_t skip[WEFT_LATTICE_AXES];  /* of these the first ones, and as many at the end, are not
                                         the result's; 0 where a tile has all of the axis */
    int64_t period[WEFT_LATTICE_AXES];
    weft_region made, around;
    double *array;   /* a tile */
    double *factors; /* of its spectrum, for each pair of fields */
    size_t bytes;
} weft_near_tiles;

/* edge: of the points that a tile makes, along each axis; 0: chosen. On the last level the kernel
 * is the level's own. Not collective; destroy also after a failure. */
weft_status weft_near_tiles_create(const weft_splitting *splitting, int level,
                                   const weft_lattice_boxes *boxes, int64_t edge, int threads,
                                   weft_near_tiles *tiles);
void weft_near_tiles_destroy(weft_near_tiles *tiles);
/* made gets the result; fields lie one after the other. */
weft_status weft_near_tiles_run(const weft_near_tiles *tiles, const double *around, double *made);

typedef struct weft_level {
    int64_t period[WEFT_LATTICE_AXES];
    weft_lattice_boxes boxes; /* this rank's */
    weft_gathering gathering;
    weft_near_tiles tiles;
    double *own, *around, *made; /* numbers of the boxes */
} weft_level;

typedef struct weft_multilevel {
    weft_transport *transport; /* plan->outlined.transport */
    const weft_convolved *convolved;
    weft_splitting splitting;
    int parts, fields; /* numbers of an element, fields of a point */
    weft_region source, target;
    weft_level *level; /* [splitting.levels + 1] */
    double *scratch;
    size_t bytes;
} weft_multilevel;

/* Whether the kernel can be split into levels, and 2 divides the extents. */
bool weft_multilevel_possible(const weft_convolved *c);

/* Whether c is done so: by problem.method, and where 2 divides the extents; c->note says where it
 * does not. Not collective. */
weft_status weft_multilevel_choose(weft_context ctx, weft_convolved *c, const weft_options *options,
                                   bool *chosen);
/* Makes plan->outlined, of a plan over simulated ranks that has the boxes. The caller releases the
 * plan also after a failure. Collective. */
weft_status weft_multilevel_create(weft_plan plan, weft_context ctx, const weft_convolved *c);
/* What weft_plan_explain tells of it (explain.c). */
struct json_t *weft_multilevel_explain(weft_plan plan);

/* What a rank does in one execution. */
typedef struct weft_method_cost {
    double work, bytes, messages; /* operations, sent */
} weft_method_cost;

/* By the machine record (levels.c). */
double weft_method_seconds(const weft_machine *machine, const weft_method_cost *cost);
double weft_transform_work(double points); /* there and back */
weft_method_cost weft_multilevel_cost(const weft_splitting *splitting, const weft_region *box,
                                      int ranks);

/* Whether c may be convolved with an error, for what it saves: decides *method then, of the plan of
 * the exact method over simulated ranks, and sets c->note (compare.c). The second is collective. */
bool weft_methods_compete(weft_context ctx, const weft_convolved *c, const weft_options *options);
weft_status weft_methods_compare(weft_context ctx, weft_plan outline, weft_convolved *c,
                                 weft_convolution_method *method);

/* Chooses the number of levels, that of the least estimated time, for ranks whose first one has
 * this box (levels.c). */
weft_status weft_multilevel_split(const weft_machine *machine, const weft_convolved *c,
                                  const weft_region *box, int ranks, weft_splitting *splitting);

#endif
