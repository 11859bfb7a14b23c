/* The kinds, and what is done alike for all of them: a box is filled block by block, so that a kind
 * looks once for what is near a block. */
#include "microstructure/kind.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>

static const microstructure_maker *const makers[] = {
    &microstructure_laminate, &microstructure_checkerboard, &microstructure_voxels,
    &microstructure_spheres,  &microstructure_fibres,       &microstructure_voronoi};

const microstructure_kind *microstructure_find(const char *name) {
    for (size_t m = 0; m < sizeof makers / sizeof *makers; m++)
        if (strcmp(makers[m]->kind.name, name) == 0) return &makers[m]->kind;
    return NULL;
}

static const microstructure_maker *maker_of(const microstructure_kind *kind) {
    size_t m = 0;
    while (&makers[m]->kind != kind) m++;
    return makers[m];
}

weft_status microstructure_create(const microstructure_kind *kind,
                                  const microstructure_request *request, microstructure **made) {
    microstructure *m = calloc(1, sizeof *m);
    if (m == NULL) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a %s", kind->name);
    m->maker = maker_of(kind);
    m->request = *request;
    weft_status status = m->maker->make(m);
    if (status == WEFT_SUCCESS)
        *made = m;
    else
        microstructure_destroy(&m);
    return status;
}

void microstructure_destroy(microstructure **made) {
    microstructure *m = *made;
    if (m == NULL) return;
    if (m->state != NULL) m->maker->release(m->state);
    free(m);
    *made = NULL;
}

int microstructure_labels(const microstructure *made) {
    return made->labels;
}

const char *microstructure_note(const microstructure *made) {
    return made->note;
}

/* ---- filling ---- */

typedef struct filling {
    const microstructure *made;
    const microstructure_box *box;
    bool wide;
    void *labels;
    atomic_llong *done;
    int64_t blocks[MICROSTRUCTURE_AXES];
    atomic_bool failed;
} filling;

static microstructure_box block_of(const filling *f, int64_t number) {
    microstructure_box block;
    for (int a = MICROSTRUCTURE_AXES - 1; a >= 0; a--) {
        const int64_t begin = number % f->blocks[a] * MICROSTRUCTURE_BLOCK;
        const int64_t left = f->box->n[a] - begin;
        block.lo[a] = f->box->lo[a] + begin;
        block.n[a] = left < MICROSTRUCTURE_BLOCK ? left : MICROSTRUCTURE_BLOCK;
        number /= f->blocks[a];
    }
    return block;
}

/* Copies the labels of a block to their place in the box, and counts them. */
static void store(const filling *f, const microstructure_box *block, const uint16_t *labels,
                  int64_t *count) {
    const microstructure_box *box = f->box;
    for (int64_t i = 0; i < block->n[0]; i++) {
        for (int64_t j = 0; j < block->n[1]; j++) {
            const int64_t row =
                (block->lo[0] - box->lo[0] + i) * box->n[1] + block->lo[1] - box->lo[1] + j;
            const int64_t first = row * box->n[2] + block->lo[2] - box->lo[2];
            for (int64_t k = 0; k < block->n[2]; k++, labels++) {
                if (f->wide)
                    ((uint16_t *)f->labels)[first + k] = *labels;
                else
                    ((uint8_t *)f->labels)[first + k] = (uint8_t)*labels;
                count[*labels]++;
            }
        }
    }
}

/* Every `threads`-th layer of blocks, from layer `thread` on. */
static void fill_layers(filling *f, int64_t thread, int64_t threads, int64_t *count) {
    uint16_t labels[MICROSTRUCTURE_BLOCK * MICROSTRUCTURE_BLOCK * MICROSTRUCTURE_BLOCK];
    const int64_t layer = f->blocks[2];
    for (int64_t l = thread; l < f->blocks[0] * f->blocks[1] && !f->failed; l += threads) {
        int64_t voxels = 0;
        for (int64_t b = l * layer; b < (l + 1) * layer; b++) {
            const microstructure_box block = block_of(f, b);
            if (!f->made->maker->fill(f->made, &block, labels)) {
                atomic_store(&f->failed, true);
                return;
            }
            store(f, &block, labels, count);
            voxels += block.n[0] * block.n[1] * block.n[2];
        }
        if (f->done != NULL) atomic_fetch_add(f->done, voxels * (f->wide ? 2 : 1));
    }
}

weft_status microstructure_fill(const microstructure *made, const microstructure_box *box,
                                bool wide, int threads, void *labels, int64_t *count,
                                atomic_llong *done) {
    filling f = {.made = made, .box = box, .wide = wide, .labels = labels, .done = done};
    const size_t all = (size_t)made->labels;
    atomic_init(&f.failed, false);
    for (int a = 0; a < MICROSTRUCTURE_AXES; a++) {
        if (box->n[a] == 0) return WEFT_SUCCESS;
        f.blocks[a] = (box->n[a] + MICROSTRUCTURE_BLOCK - 1) / MICROSTRUCTURE_BLOCK;
    }
    if (threads > f.blocks[0] * f.blocks[1]) threads = (int)(f.blocks[0] * f.blocks[1]);
    int64_t *counts = calloc((size_t)threads * all, sizeof *counts); /* of each thread */
    if (counts == NULL) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory to count labels");
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) if (threads > 1)
#endif
    for (int t = 0; t < threads; t++) fill_layers(&f, t, threads, counts + (size_t)t * all);
    for (size_t c = 0; c < (size_t)threads * all; c++) count[c % all] += counts[c];
    free(counts);
    if (!f.failed) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for what is near a block of voxels");
}
