/* What case a checkpoint is of. */
#include "checkpoint.h"

#include "support/error.h"

#include <string.h>

/* Mixes the bits of a number (the finalizer of SplitMix64; Steele, Lea, Flood 2014). */
static uint64_t mixed(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* What an element of an array adds to the array's sum. */
static uint64_t share(uint64_t index, uint64_t bits) {
    return mixed(mixed(index) ^ bits);
}

/* The index in the whole volume of the first voxel of row (x, y) of this rank's box. */
static uint64_t row_index(const homogenize_volume *v, int64_t x, int64_t y) {
    return (uint64_t)(((v->box.lo[0] + x) * v->n[1] + v->box.lo[1] + y) * v->n[2] + v->box.lo[2]);
}

static uint64_t add_up(const homogenize_job *job, uint64_t mine) {
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_UINT64_T, MPI_SUM, job->comm);
    return mine;
}

/* ---- sums ---- */

static uint64_t sum_of_labels(const homogenize_job *job) {
    const homogenize_volume *v = &job->volume;
    const int64_t *n = v->box.n, wide = n[2] + v->halo, high = n[1] + v->halo;
    uint64_t sum = 0;
    for (int64_t x = 0; x < n[0]; x++)
        for (int64_t y = 0; y < n[1]; y++) {
            const uint64_t first = row_index(v, x, y);
            const uint16_t *phase =
                v->phase + ((x + v->halo) * high + y + v->halo) * wide + v->halo;
            for (int64_t z = 0; z < n[2]; z++)
                sum += share(first + (uint64_t)z, (uint64_t)job->c.phases[phase[z]].label);
        }
    return add_up(job, sum);
}

/* Of the part of an array that is in memory. */
static uint64_t sum_of_box(const weft_array_info *info, const weft_box *box, const void *memory) {
    const bool single = info->element == WEFT_ELEMENT_F4 || info->element == WEFT_ELEMENT_C8;
    const int64_t numbers = weft_element_complex(info->element) ? 2 : 1;
    const int64_t *n = box->n, row = n[3] * numbers;
    uint64_t sum = 0;
    int64_t i = 0;
    for (int64_t r = 0; r < n[0] * n[1] * n[2]; r++) {
        const int64_t at[3] = {box->lo[0] + r / (n[1] * n[2]), box->lo[1] + r / n[2] % n[1],
                               box->lo[2] + r % n[2]};
        const int64_t first = ((at[0] * info->n[1] + at[1]) * info->n[2] + at[2]) * info->n[3];
        for (int64_t k = 0; k < row; k++, i++) {
            const double value =
                single ? (double)((const float *)memory)[i] : ((const double *)memory)[i];
            sum += share((uint64_t)((first + box->lo[3]) * numbers + k), bits_of(value));
        }
    }
    return sum;
}

uint64_t homogenize_checkpoint_sum(const homogenize_job *job) {
    const homogenize_kept kept = homogenize_checkpoint_kept(job);
    uint64_t sum = 0;
    for (int p = 0; p < kept.parts; p++)
        sum += sum_of_box(&kept.info, &kept.box[p], kept.memory[p]);
    return add_up(job, sum);
}

static uint64_t sum_of_phases(const homogenize_case *c) {
    const int size = c->physics == HOMOGENIZE_ELASTICITY ? 36 : 9;
    uint64_t sum = 0;
    for (int p = 0; p < c->phase_count; p++) {
        const homogenize_phase *phase = &c->phases[p];
        for (int i = 0; phase->voxels > 0 && i < size; i++)
            sum += share((uint64_t)(phase->label * 36 + i), bits_of(phase->matrix[i]));
    }
    return sum;
}

/* ---- the description ---- */

static json_t *text_of(uint64_t sum) {
    return json_sprintf("%016llx", (unsigned long long)sum);
}

static json_t *load_of(const homogenize_case *c) {
    if (c->load.all) return json_string("all");
    json_t *list = json_array();
    for (int i = 0; i < homogenize_components(c->physics); i++)
        json_array_append_new(list, json_pack("[b, f]", c->load.stress[i], c->load.value[i]));
    return list;
}

static json_t *convolution_of(const homogenize_samples *s) {
    if (!s->used) return json_string("exact");
    return json_pack("[b, f, I]", s->fixed, s->tolerance, (json_int_t)s->subdomain);
}

json_t *homogenize_checkpoint_case(const homogenize_job *job) {
    const homogenize_case *c = &job->c;
    const homogenize_reference *r = &job->medium.reference;
    return json_pack(
        "{s:[III], s:o, s:[fff], s:s, s:o, s:o, s:s, s:o, s:s, s:[ff], s:s, s:s}", "shape",
        (json_int_t)job->info.n[0], (json_int_t)job->info.n[1], (json_int_t)job->info.n[2],
        "labels", text_of(sum_of_labels(job)), "length", c->length[0], c->length[1], c->length[2],
        "physics", homogenize_physics_name(c->physics), "phases", text_of(sum_of_phases(c)), "load",
        load_of(c), "discretization", homogenize_scheme_name(job->scheme), "convolution",
        convolution_of(&c->samples), "solver", homogenize_solver_name(c->solver), "reference",
        r->twice, r->trace, "precision", weft_precision_name(c->precision), "device",
        weft_device_name(c->on_device ? job->options.device : WEFT_HOST));
}

/* The first key in which they differ. */
weft_status homogenize_checkpoint_compare(const char *name, const json_t *document,
                                          const json_t *description) {
    const json_t *kept = json_object_get(document, "case");
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)description, key, value) {
        if (json_equal(value, json_object_get(kept, key))) continue;
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s: it is the checkpoint of a case with another %s; drop --resume, or "
                         "give that case",
                         name, key);
    }
    return WEFT_SUCCESS;
}
