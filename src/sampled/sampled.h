/*
 * Convolution with little communication (Kulkarni, Franchetti, Kovacevic and others cut a grid into
 * sub-domains in this way for Hooke's law): each rank convolves its own sources, and of the result,
 * which is smooth away from them where the kernel is, it keeps samples on an octree (tree.h). One
 * exchange brings to every rank those that it needs to interpolate the others' results in its box,
 * where the transforms of an exact convolution exchange the whole array, twice or more often.
 *
 *   local.c        the convolution of a sub-domain, on the lattices of its tree
 *   device_local.c the same on a device
 *   row_kernel.c   the kernel along a row of its spectrum
 *   sampled.c      a rank's sub-domains one after the other, added up on the tree of its box
 *   messages.c     which samples travel
 *   interpolate.c  results from samples
 *   accuracy.c     the pattern that is accurate enough
 *   cells.c        octrees as lists of cells
 *
 * Grids of one or two axes have three here, the first ones of one point.
 */
#ifndef WEFT_SAMPLED_H
#define WEFT_SAMPLED_H

#include "convolve/convolve.h"
#include "convolve/packets.h"
#include "sampled/interpolate.h"
#include "sampled/local.h"
#include "sampled/tree.h"

/* How a result is sampled. */
typedef struct weft_sampling {
    bool fixed;         /* weft_tree_fixed */
    int points;         /* of the interpolation, along each axis */
    double opening;     /* strides are at most this share of the distance */
    int64_t edge;       /* of sub-domains; 0: a rank's box is one */
    double error;       /* relative, as measured with a point of sources; 0: not known */
    weft_device device; /* on which sub-domains are convolved */
} weft_sampling;

/* Samples that ranks send each other (messages.c). */
typedef struct weft_sample_messages {
    weft_packets packets; /* of numbers */
    double *scratch;      /* the nodes of one shell */
    int64_t most_nodes;   /* of a shell that is received */
} weft_sample_messages;

/* Cells of the tree that was asked for last (cells.c). */
typedef struct weft_cells {
    weft_octree_cell *cell;
    int64_t count;
} weft_cells;

typedef struct weft_sample_arrays {
    double *sources;                  /* of a sub-domain */
    double *values[WEFT_TREE_LEVELS]; /* of the tree of this rank's box */
    double *of_sub[WEFT_TREE_LEVELS]; /* of that of a sub-domain; the same where there is one */
    double *sum;                      /* the result in this rank's box */
    weft_cells cells;
} weft_sample_arrays;

typedef struct weft_sampled {
    weft_transport *transport; /* plan->outlined.transport */
    const weft_convolved *convolved;
    weft_sampling sampling;
    int parts, fields, made;       /* numbers of an element; fields of a point before and after */
    weft_region *source, *target;  /* [ranks]: boxes of the field and of the result */
    weft_tree tree, sub;           /* of this rank's box, and of each of its sub-domains */
    int64_t count[WEFT_TREE_AXES]; /* sub-domains along each axis; 0: the box is empty */
    weft_local *local;
    weft_interpolation *interpolation;
    weft_sample_arrays array;
    weft_sample_messages messages;
    size_t bytes;
} weft_sampled;

/* Decides by problem.method whether c is done so; then sets how. Not collective. */
weft_status weft_sampled_choose(weft_context ctx, const weft_convolved *c,
                                const weft_options *options, bool *chosen);
/* Makes plan->outlined, of a plan over simulated ranks that has the boxes. The caller releases the
 * plan also after a failure. Collective. */
weft_status weft_sampled_create(weft_plan plan, weft_context ctx, const weft_convolved *c,
                                const weft_options *options);
extern const weft_outlined_ops weft_sampled_ops;
/* What weft_plan_explain tells of it (explain.c). */
struct json_t *weft_sampled_explain(weft_plan plan);

/* Measures the error of what is given or, unless it is, finds the pattern with the fewest samples
 * around the box of a tree that is accurate enough (accuracy.c). Not collective. */
weft_status weft_sampling_choose(const weft_convolved *c, const weft_tree *around, bool given,
                                 weft_sampling *sampling);

/* What the exact method's exchanges, whose plan it is, would send from this rank. */
int64_t weft_exact_bytes(weft_plan plan);

/* The tree of a rank's box. */
weft_tree weft_sampled_tree(const weft_sampled *s, const int64_t *edge);

/* The edges of a box's sub-domains. */
void weft_sampled_edges(const weft_sampled *s, const weft_region *box, int64_t *edge);
/* Sub-domain `number` of a box, of `count` along each axis, as large as others where it reaches
 * beyond the box. */
void weft_sampled_subdomain(const weft_region *box, const int64_t *edge, const int64_t *count,
                            int64_t number, weft_region *sub);

/* The cells of a tree around a box that begins at lo, in any period: returns how many there are;
 * `cells` may be NULL. And weft_convolution_cells (cells.c). Not collective. */
int64_t weft_tree_cells(const weft_tree *tree, const int64_t *lo, weft_octree_cell *cells);
weft_status weft_sampled_cells(weft_sampled *s, int rank, int64_t subdomain,
                               const weft_octree_cell **cells, int64_t *count);

/* messages.c: sizes and memory; the exchange, whose results are added to the sum. Collective. */
weft_status weft_sample_messages_create(weft_sampled *s);
void weft_sample_messages_destroy(weft_sampled *s);
weft_status weft_sample_messages_run(weft_sampled *s, weft_recorder *recorder);

#endif
