/* What a kind of microstructure provides. A kind is a const table in its file and a line in
 * kinds.c.
 */
#ifndef WEFT_MICROSTRUCTURE_KIND_H
#define WEFT_MICROSTRUCTURE_KIND_H

#include "microstructure/microstructure.h"

enum { MICROSTRUCTURE_BLOCK = 8 }; /* voxels along each axis of a block, at most */

struct microstructure {
    const struct microstructure_maker *maker;
    microstructure_request request; /* with what the maker has chosen in it */
    int labels;
    char note[160];
    void *state; /* of the maker */
};

typedef struct microstructure_maker {
    microstructure_kind kind;
    /* Fills labels, note and state from the request, whose flags belong to the kind. */
    weft_status (*make)(microstructure *made);
    /* The labels of a block, row-major; false where memory is out. Thread-safe. */
    bool (*fill)(const microstructure *made, const microstructure_box *block, uint16_t *labels);
    void (*release)(void *state); /* NULL where there is no state */
} microstructure_maker;

extern const microstructure_maker microstructure_laminate, microstructure_checkerboard,
    microstructure_voxels, microstructure_spheres, microstructure_fibres, microstructure_voronoi;

#endif
