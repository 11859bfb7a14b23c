/* Labels are read in the type that the file has, and become numbers of phases at once, which take
 * two bytes a voxel. */
#include "volume.h"

#include "io/agreement.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>

int64_t homogenize_box_voxels(const weft_box *box) {
    return box->n[0] * box->n[1] * box->n[2];
}

weft_status homogenize_volume_check(const homogenize_case *c, const weft_array_info *info) {
    if (info->rank != 3)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s: labels: the array has %d ax%s; a volume has three, of one voxel "
                         "where the structure does not change",
                         c->labels, info->rank, info->rank > 1 ? "es" : "is");
    if (!weft_element_whole(info->element))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s: labels: the elements are %s; labels are whole numbers", c->labels,
                         weft_element_name(info->element));
    return WEFT_SUCCESS;
}

/* ---- from labels to phases ---- */

static int64_t label_at(const void *labels, weft_element element, int64_t i) {
    switch (element) {
    case WEFT_ELEMENT_U8:
        return ((const uint8_t *)labels)[i];
    case WEFT_ELEMENT_I16:
        return ((const int16_t *)labels)[i];
    case WEFT_ELEMENT_U16:
        return ((const uint16_t *)labels)[i];
    case WEFT_ELEMENT_I8:
        return ((const int8_t *)labels)[i];
    case WEFT_ELEMENT_U32:
        return ((const uint32_t *)labels)[i];
    case WEFT_ELEMENT_I64:
        return ((const int64_t *)labels)[i];
    case WEFT_ELEMENT_U64: /* what no label can be is none of the case's */
        return ((const uint64_t *)labels)[i] > INT64_MAX ? INT64_MIN
                                                         : (int64_t)((const uint64_t *)labels)[i];
    case WEFT_ELEMENT_BOOL:
        return ((const uint8_t *)labels)[i] != 0;
    default:
        return ((const int32_t *)labels)[i];
    }
}

/* The number of the phase of a label, or -1. Phases are in ascending order. */
static int find_phase(const homogenize_case *c, int64_t label) {
    int low = 0, high = c->phase_count - 1;
    while (low <= high) {
        const int middle = (low + high) / 2;
        if (c->phases[middle].label == label) return middle;
        if (c->phases[middle].label < label)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return -1;
}

/* A part of the box: its place in the file, and in volume.phase. */
typedef struct part {
    weft_box box;
    int64_t at[3];
} part;

static weft_status place_part(const homogenize_case *c, const part *p, weft_element element,
                              const void *labels, homogenize_volume *v, int64_t *count) {
    const int64_t width = v->box.n[2] + v->halo, height = v->box.n[1] + v->halo;
    int64_t last = INT64_MIN, i = 0;
    int phase = -1;
    for (int64_t x = 0; x < p->box.n[0]; x++)
        for (int64_t y = 0; y < p->box.n[1]; y++) {
            uint16_t *row = v->phase + ((x + p->at[0]) * height + y + p->at[1]) * width + p->at[2];
            for (int64_t z = 0; z < p->box.n[2]; z++, i++) {
                const int64_t label = label_at(labels, element, i);
                if (label != last || phase < 0) phase = find_phase(c, label);
                last = label;
                if (phase < 0)
                    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                                     "phases: label %lld of %s has no phase; give it a material",
                                     (long long)label, c->labels);
                row[z] = (uint16_t)phase;
                if (count) count[phase]++;
            }
        }
    return WEFT_SUCCESS;
}

/* Part number `number`: bit a is set for the plane below the box along axis a. */
static part part_of(const homogenize_volume *v, int number) {
    part p = {.box = v->box};
    for (int a = 0; a < 3; a++) {
        p.at[a] = v->halo;
        if (!(number >> a & 1)) continue;
        p.box.lo[a] = (v->box.lo[a] + v->n[a] - 1) % v->n[a];
        p.box.n[a] = v->box.n[a] > 0 ? 1 : 0;
        p.at[a] = 0;
    }
    if (homogenize_box_voxels(&v->box) == 0) memset(p.box.n, 0, 3 * sizeof *p.box.n);
    return p;
}

static weft_status read_parts(MPI_Comm comm, weft_array *file, const homogenize_case *c,
                              homogenize_volume *v, void *labels, int64_t *counts) {
    const weft_element element = weft_array_describe(file)->element;
    for (int number = 0; number < (v->halo ? 8 : 1); number++) {
        const part p = part_of(v, number);
        WEFT_TRY(weft_array_read(file, &p.box, element, labels));
        WEFT_TRY(weft_array_agree(
            comm, place_part(c, &p, element, labels, v, number == 0 ? counts : NULL)));
    }
    return WEFT_SUCCESS;
}

weft_status homogenize_volume_read(MPI_Comm comm, weft_array *file, homogenize_case *c,
                                   const weft_box *box, int halo, homogenize_volume *v) {
    const weft_array_info *info = weft_array_describe(file);
    const int64_t voxels = homogenize_box_voxels(box);
    int64_t room = 1;
    memset(v, 0, sizeof *v);
    v->box = *box;
    memcpy(v->n, info->n, sizeof v->n);
    v->halo = halo;
    for (int a = 0; a < 3; a++) room *= box->n[a] + halo;
    v->phase = malloc((size_t)room * sizeof *v->phase + 1);
    void *labels = malloc((size_t)voxels * weft_element_bytes(info->element) + 1);
    int64_t *counts = calloc((size_t)c->phase_count, sizeof *counts);
    weft_status status = WEFT_SUCCESS;
    if (!v->phase || !labels || !counts)
        status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for the labels of %lld voxels",
                           (long long)voxels);
    status = weft_array_agree(comm, status);
    if (status == WEFT_SUCCESS) status = read_parts(comm, file, c, v, labels, counts);
    if (status == WEFT_SUCCESS) {
        MPI_Allreduce(MPI_IN_PLACE, counts, c->phase_count, MPI_INT64_T, MPI_SUM, comm);
        for (int p = 0; p < c->phase_count; p++) c->phases[p].voxels = counts[p];
    }
    free(labels);
    free(counts);
    return status;
}

void homogenize_volume_release(homogenize_volume *volume) {
    free(volume->phase);
    memset(volume, 0, sizeof *volume);
}
