/*
 * Displacements, or temperatures, at the nodes of hexahedra. Each node is the lower corner of a
 * voxel and belongs to the rank of that voxel; elements at the edge of a rank's box have nodes of
 * other ranks, too, so that a layer of those lies around its own, periodically. What the ranks
 * exchange follows from their boxes, whatever the decomposition; a rank may be its own neighbour,
 * and may own nothing.
 */
#ifndef WEFT_HOMOGENIZE_NODES_H
#define WEFT_HOMOGENIZE_NODES_H

#include <mpi.h>
#include <stdbool.h>
#include <weft/weft.h>

/* Nodes that are sent or received: from `at` on, among this rank's nodes with those around them. */
typedef struct nodes_piece {
    int64_t at[3], n[3];
} nodes_piece;

/* Pieces by rank, and how many numbers they are. */
typedef struct nodes_side {
    nodes_piece *piece;
    int64_t pieces;
    int *count, *begin; /* [ranks]: numbers in the message, and where it begins in it */
    void *message;
    int64_t numbers;
} nodes_side;

typedef struct homogenize_nodes {
    MPI_Comm comm;
    int ranks, components;
    bool single;     /* floats */
    weft_box box;    /* this rank's voxels */
    int64_t wide[3]; /* nodes along each axis, with those around; 0: none at all */
    void *value;     /* components arrays of wide[0] x wide[1] x wide[2], one after the other */
    nodes_side out, in;
} homogenize_nodes;

/* Nodes of an array. */
static inline int64_t homogenize_nodes_count(const homogenize_nodes *nodes) {
    return nodes->wide[0] * nodes->wide[1] * nodes->wide[2];
}

/* Makes room for all nodes, which are 0. The boxes are those of the plan's input, n is the whole
 * grid. The caller releases the nodes, also after a failure. Not collective. */
weft_status homogenize_nodes_create(MPI_Comm comm, weft_plan plan, const int64_t n[3],
                                    int components, bool single, homogenize_nodes *nodes);
void homogenize_nodes_release(homogenize_nodes *nodes);

/* Bytes that this rank holds. */
size_t homogenize_nodes_bytes(const homogenize_nodes *nodes);

void homogenize_nodes_clear(homogenize_nodes *nodes);

/* Takes over a field of this rank's nodes, components arrays one after the other, and gets the
 * nodes around them. Collective. */
weft_status homogenize_nodes_take(homogenize_nodes *nodes, const void *field);

#endif
