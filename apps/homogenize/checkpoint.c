/* Results and numbers of solvers to and from a document: with 17 digits no bit is lost. */
#include "checkpoint.h"

#include "support/error.h"

#include <string.h>

enum { FORMAT = 1, MEANS = 6 * DISPLACEMENT_VECTORS };
static const char kind[] = "checkpoint of weft homogenize";

/* ---- what is kept ---- */

/* Side by side at each frequency or, as devices have them, one after the other. */
static homogenize_kept kept_displacements(const homogenize_job *job) {
    const homogenize_displacements *d = &job->run.displacements;
    const int64_t *n = job->info.n, numbers = DISPLACEMENT_VECTORS * d->components;
    const int64_t whole[3] = {n[0], n[1], n[2] / 2 + 1};
    const int vectors = job->c.on_device ? 0 : 3, first = job->c.on_device ? 1 : 0; /* axes */
    homogenize_kept kept = {
        .info = {.element = d->single ? WEFT_ELEMENT_C8 : WEFT_ELEMENT_C16, .rank = 4},
        .parts = 1,
        .first = 1,
        .memory = {homogenize_host_field(&job->run, 1)}};
    kept.info.n[vectors] = kept.box[0].n[vectors] = numbers;
    for (int a = 0; a < 3; a++) {
        kept.info.n[first + a] = whole[a];
        kept.box[0].lo[first + a] = d->box.lo[a];
        kept.box[0].n[first + a] = d->box.n[a];
    }
    return kept;
}

homogenize_kept homogenize_checkpoint_kept(const homogenize_job *job) {
    const homogenize_case *c = &job->c;
    const weft_box *box = &job->volume.box;
    const int components = homogenize_components(c->physics);
    if (homogenize_has_displacements(c)) return kept_displacements(job);
    homogenize_kept kept = {
        .info = {.element = c->precision == WEFT_SINGLE ? WEFT_ELEMENT_F4 : WEFT_ELEMENT_F8,
                 .rank = 4,
                 .n = {homogenize_kept_fields(c) * components, job->info.n[0], job->info.n[1],
                       job->info.n[2]}},
        .parts = homogenize_kept_fields(c)};
    for (int f = 0; f < kept.parts; f++) {
        kept.box[f] = (weft_box){.lo = {f * components, box->lo[0], box->lo[1], box->lo[2]},
                                 .n = {components, box->n[0], box->n[1], box->n[2]}};
        kept.memory[f] = homogenize_host_field(&job->run, f);
    }
    return kept;
}

/* ---- writing ---- */

static json_t *numbers_of(const double *values, int count) {
    json_t *list = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(list, json_real(values[i]));
    return list;
}

/* For each histogram: its upper end, and its counts. */
static json_t *histograms_of(const homogenize_histogram *h, int count) {
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        json_t *numbers = json_pack("[f]", h[i].most);
        for (int b = 0; b < HOMOGENIZE_BINS; b++)
            json_array_append_new(numbers, json_integer((json_int_t)h[i].voxels[b]));
        json_array_append_new(list, numbers);
    }
    return list;
}

static json_t *result_of(const homogenize_job *job, const homogenize_result *r) {
    const int sums = job->medium.phases * 2 * job->medium.components;
    return json_pack("{s:o, s:o, s:f, s:o, s:o, s:i, s:i, s:f, s:b, s:f, s:f, s:f, s:o}", "strain",
                     numbers_of(r->strain, 6), "stress", numbers_of(r->stress, 6), "energy",
                     r->energy, "phases", numbers_of(r->phase_sums, sums), "residuals",
                     numbers_of(r->history, homogenize_residuals_kept(r)), "noted", r->noted,
                     "iterations", r->iterations, "residual", r->residual, "converged",
                     r->converged, "settled", r->settled, "seconds", r->seconds,
                     "seconds_in_transforms", r->green_seconds, "histograms",
                     histograms_of(r->histograms, 2 * job->medium.phases));
}

json_t *homogenize_checkpoint_document(const homogenize_job *job, json_t *description, int array,
                                       uint64_t sum) {
    const homogenize_state *s = &job->run.state;
    json_t *loads = json_array(), *under_way = json_null();
    for (int l = 0; l < job->results; l++)
        json_array_append_new(loads, result_of(job, &job->result[l]));
    if (array > 0)
        under_way = json_pack("{s:i, s:o, s:f, s:f, s:f, s:f, s:o}", "array", array, "sum",
                              json_sprintf("%016llx", (unsigned long long)sum), "square", s->square,
                              "size", s->size, "factor", s->factor, "first", s->first, "means",
                              numbers_of(s->mean[0], MEANS));
    return json_pack("{s:s, s:i, s:s, s:O, s:i, s:o, s:o}", "kind", kind, "format", FORMAT, "weft",
                     weft_version(), "case", description, "ranks", job->ranks, "loads", loads,
                     "under_way", under_way);
}

/* ---- reading ---- */

weft_status homogenize_checkpoint_check(const char *name, const json_t *document) {
    const char *found = json_string_value(json_object_get(document, "kind"));
    if (!found || strcmp(found, kind) != 0)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s: it is something else than a checkpoint; give checkpoint.file another "
                         "name",
                         name);
    if (json_integer_value(json_object_get(document, "format")) == FORMAT) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                     "%s: another version of weft wrote this checkpoint; drop --resume, or use "
                     "that version",
                     name);
}

static bool read_numbers(const json_t *list, int count, double *values) {
    if (json_array_size(list) != (size_t)count) return false;
    for (int i = 0; i < count; i++) {
        const json_t *entry = json_array_get(list, (size_t)i);
        if (!json_is_number(entry)) return false;
        values[i] = json_number_value(entry);
    }
    return true;
}

static bool read_histograms(const json_t *list, int count, homogenize_histogram *h) {
    if (json_array_size(list) != (size_t)count) return false;
    for (int i = 0; i < count; i++) {
        double numbers[1 + HOMOGENIZE_BINS];
        if (!read_numbers(json_array_get(list, (size_t)i), 1 + HOMOGENIZE_BINS, numbers))
            return false;
        h[i].most = numbers[0];
        for (int b = 0; b < HOMOGENIZE_BINS; b++) h[i].voxels[b] = (int64_t)numbers[1 + b];
    }
    return true;
}

static bool read_result(const homogenize_job *job, const json_t *from, homogenize_result *r) {
    const int sums = job->medium.phases * 2 * job->medium.components;
    int converged = 0;
    const bool right =
        json_unpack((json_t *)from, "{s:F, s:i, s:i, s:F, s:b, s:F, s:F, s:F}", "energy",
                    &r->energy, "noted", &r->noted, "iterations", &r->iterations, "residual",
                    &r->residual, "converged", &converged, "settled", &r->settled, "seconds",
                    &r->seconds, "seconds_in_transforms", &r->green_seconds) == 0;
    r->converged = converged != 0;
    return right && r->noted >= 0 && read_numbers(json_object_get(from, "strain"), 6, r->strain) &&
           read_numbers(json_object_get(from, "stress"), 6, r->stress) &&
           read_numbers(json_object_get(from, "phases"), sums, r->phase_sums) &&
           read_histograms(json_object_get(from, "histograms"), 2 * job->medium.phases,
                           r->histograms) &&
           read_numbers(json_object_get(from, "residuals"), homogenize_residuals_kept(r),
                        r->history);
}

static bool read_state(const json_t *from, homogenize_state *s, int *array, uint64_t *sum) {
    const char *digits = NULL;
    unsigned long long value = 0;
    *array = 0;
    if (json_is_null(from)) return true;
    if (json_unpack((json_t *)from, "{s:i, s:s, s:F, s:F, s:F, s:F}", "array", array, "sum",
                    &digits, "square", &s->square, "size", &s->size, "factor", &s->factor, "first",
                    &s->first) != 0 ||
        sscanf(digits, "%16llx", &value) != 1 ||
        !read_numbers(json_object_get(from, "means"), MEANS, s->mean[0]))
        return false;
    *sum = value;
    s->begun = true;
    return *array == 1 || *array == 2;
}

weft_status homogenize_checkpoint_restore(const char *name, const json_t *document,
                                          homogenize_job *job, int *array, uint64_t *sum) {
    const json_t *loads = json_object_get(document, "loads");
    const int count = (int)json_array_size(loads);
    bool right = read_state(json_object_get(document, "under_way"), &job->run.state, array, sum) &&
                 count <= homogenize_job_loads(job) && (count > 0 || *array == 0);
    for (int l = 0; right && l < count; l++) {
        job->results = l + 1;
        WEFT_TRY(homogenize_result_create(&job->result[l], job->medium.phases));
        right = read_result(job, json_array_get(loads, (size_t)l), &job->result[l]);
    }
    if (right) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                     "%s: the checkpoint is damaged; drop --resume to begin anew", name);
}
