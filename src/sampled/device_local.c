/* The convolution of one box of sources on a device: see device_local.h. */
#include "sampled/device_local.h"

#include "support/error.h"

#include <stdlib.h>
#include <string.h>

enum { X, Y, Z };
enum { THREADS = 256, MOST_PLANES = 32 };
static const int64_t batch_bytes = 128 << 20; /* of planes, at most, unless one is larger */

/* samples_lattice of src/kernels/samples.cl. */
typedef struct lattice {
    int64_t points[WEFT_TREE_AXES], first[WEFT_TREE_AXES], stride[WEFT_TREE_AXES],
        n[WEFT_TREE_AXES];
    int64_t fields, kx, planes, waves, real_field;
} lattice;

struct weft_device_local {
    const weft_tree *tree;
    weft_context context;
    int fields, made; /* numbers of a point that lie side by side, before and after */
    bool real;
    int64_t waves, planes;     /* kx that are worked on; and at a time */
    weft_composition convolve; /* [planes][edge_y][edge_z] to [planes][N_y][N_z] */
    weft_plan forward_x, inverse_x[WEFT_TREE_LEVELS];
    weft_kernel *add, *clear;
    /* On the device, fields fastest. The spectrum has [waves][edge_y][edge_z], and planes of zeros
     * that make up the last batch; the sums have [waves of the level's period][n_y][n_z]. */
    void *sources, *spectrum, *plane, *sums[WEFT_TREE_LEVELS], *values;
    double *host; /* sources or values of a level, fields fastest, where there are several */
    size_t bytes;
};

/* ---- making ---- */

weft_status weft_device_local_check(const weft_convolved *c, const weft_options *o) {
    const weft_device_ops *device = weft_device_find(o->device);
    const char *why = NULL;
    if (!device || !device->kernel_create)
        why = "the device has no kernels";
    else if (o->location != WEFT_LOCATION_HOST)
        why = "options.location is not WEFT_LOCATION_HOST";
    else if (!weft_convolved_makes_fields(c) && !weft_convolved_is_radial(c))
        why =
            "the kernel is neither a function of |k|^2 that is built in nor one that makes fields";
    return why ? weft_fail(WEFT_ERROR_UNSUPPORTED,
                           "problem.method is samples and options.device is %s, but %s; leave one "
                           "of them 0",
                           weft_device_name(o->device), why)
               : WEFT_SUCCESS;
}

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static int64_t waves_of(const weft_device_local *l, int64_t n) {
    return l->real ? n / 2 + 1 : n;
}

static int parts(const weft_device_local *l) {
    return l->real ? 1 : 2;
}

/* Numbers of the result at lattice points of one x. */
static int64_t across(const weft_device_local *l, int level) {
    const int64_t *n = l->tree->level[level].n;
    return n[Y] * n[Z] * l->made;
}

static void add_plan(weft_device_local *l, weft_plan plan) {
    weft_memory memory;
    if (weft_plan_memory(plan, &memory) == WEFT_SUCCESS) l->bytes += memory.total;
}

/* Lines along x: from so many stored points forward, or back to as many. */
static weft_status plan_lines(weft_device_local *l, const weft_options *options,
                              weft_direction direction, int64_t n, int64_t stored, int64_t lines,
                              weft_plan *plan) {
    const weft_purpose purpose = {.direction = direction,
                                  .memory.device = &l->convolve->build->device};
    const weft_problem problem = {.rank = 2,
                                  .n = {n, lines},
                                  .kind = l->real ? WEFT_R2C : WEFT_C2C,
                                  .axis = {[1] = WEFT_AXIS_NONE},
                                  .pad_from = {stored}};
    WEFT_TRY(weft_plan_create_for(l->context, &problem, options, &purpose, plan));
    add_plan(l, *plan);
    return WEFT_SUCCESS;
}

/* The kernel's spectrum at plane i of a batch is that of wavenumber i + parameter 0 of the plan. */
static weft_status plan_planes(weft_device_local *l, const weft_convolved *c,
                               const weft_options *options) {
    enum { EMBED, FORWARD, MULTIPLY, INVERSE, STAGES };
    const weft_tree *t = l->tree;
    const int before = WEFT_TREE_AXES - c->problem.rank;
    char *snippet = NULL;
    weft_status status = weft_convolved_write_snippet(
        c,
        before == 0   ? "(index[a] + ((a) == 0 ? (long64)parameter[0] : 0))"
        : before == 1 ? "index[(a) + 1]"
                      : "index[(a) + 2]",
        &snippet);
    const weft_operator kernel = {.kind = weft_convolved_makes_fields(c) ? WEFT_OPERATOR_MATRIX
                                                                         : WEFT_OPERATOR_FUNCTION,
                                  .snippet = snippet,
                                  .parameters = 1};
    const weft_stage stage[STAGES] = {
        [EMBED] = {.kind = WEFT_STAGE_EMBED, .n = {l->planes, t->period[Y], t->period[Z]}},
        [FORWARD] = {.kind = WEFT_STAGE_FORWARD, .axis = {WEFT_AXIS_NONE}},
        [MULTIPLY] = {.kind = WEFT_STAGE_POINTWISE,
                      .operators = {&kernel, 1},
                      .result_fields = l->made},
        [INVERSE] = {.kind = WEFT_STAGE_INVERSE}};
    const weft_composition_problem problem = {.rank = WEFT_TREE_AXES,
                                              .n = {l->planes, t->edge[Y], t->edge[Z]},
                                              .kind = WEFT_C2C,
                                              .fields = l->fields,
                                              .fields_fastest = l->fields > 1 || l->made > 1,
                                              .stage = stage,
                                              .stages = STAGES};
    if (status == WEFT_SUCCESS)
        status = weft_composition_create(l->context, &problem, options, &l->convolve);
    if (status == WEFT_SUCCESS) add_plan(l, l->convolve);
    free(snippet);
    return status;
}

static weft_status plan_all(weft_device_local *l, const weft_convolved *c,
                            const weft_options *options) {
    const weft_tree *t = l->tree;
    WEFT_TRY(plan_planes(l, c, options));
    WEFT_TRY(plan_lines(l, options, WEFT_FORWARD, t->period[X], t->edge[X],
                        t->edge[Y] * t->edge[Z] * l->fields, &l->forward_x));
    for (int i = 0; i < t->levels; i++)
        WEFT_TRY(plan_lines(l, options, WEFT_INVERSE, t->level[i].period[X], t->level[i].n[X],
                            across(l, i), &l->inverse_x[i]));
    return WEFT_SUCCESS;
}

extern const char weft_kernels_samples_cl[]; /* cmake/embed.cmake */

static weft_status make_kernels(weft_device_local *l) {
    const weft_device_handle *d = &l->convolve->build->device;
    const char *const text[] = {weft_kernels_samples_cl};
    weft_kernel_source source = {.name = "weft_samples_add",
                                 .text = text,
                                 .texts = 1,
                                 .threads = THREADS,
                                 .precision = WEFT_DOUBLE};
    WEFT_TRY(d->ops->kernel_create(d->state, &source, &l->add));
    source.name = "weft_samples_clear";
    return d->ops->kernel_create(d->state, &source, &l->clear);
}

static weft_status reserve(weft_device_local *l, int64_t numbers, void **memory) {
    const size_t bytes = (size_t)numbers * sizeof(double);
    l->bytes += bytes;
    return weft_buffer_create(l->convolve, bytes, memory);
}

static weft_status reserve_all(weft_device_local *l) {
    const weft_tree *t = l->tree;
    const int64_t of_x = t->edge[Y] * t->edge[Z] * l->fields;
    const int64_t rounded = (l->waves + l->planes - 1) / l->planes * l->planes;
    const int64_t sources = t->edge[X] * of_x * parts(l), spectrum = 2 * rounded * of_x;
    int64_t values = 0;
    WEFT_TRY(reserve(l, sources, &l->sources));
    WEFT_TRY(reserve(l, spectrum, &l->spectrum));
    WEFT_TRY(reserve(l, 2 * l->planes * t->period[Y] * t->period[Z] * l->made, &l->plane));
    for (int i = 0; i < t->levels; i++) {
        WEFT_TRY(reserve(l, 2 * waves_of(l, t->level[i].period[X]) * across(l, i), &l->sums[i]));
        values = larger(values, t->level[i].n[X] * across(l, i) * parts(l));
    }
    WEFT_TRY(reserve(l, values, &l->values));
    l->host = calloc((size_t)larger(sources, values) + 1, sizeof *l->host);
    l->bytes += (size_t)larger(sources, values) * sizeof *l->host;
    return l->host ? WEFT_SUCCESS
                   : weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a device's samples");
}

static int64_t planes_at_a_time(const weft_device_local *l) {
    const int64_t *n = l->tree->period;
    const int64_t bytes = n[Y] * n[Z] * larger(l->fields, l->made) * 2 * (int64_t)sizeof(double);
    int64_t planes = batch_bytes / bytes;
    if (planes > MOST_PLANES) planes = MOST_PLANES;
    if (planes > l->waves) planes = l->waves;
    return planes > 1 ? planes : 1;
}

weft_status weft_device_local_create(const weft_convolved *c, const weft_tree *tree,
                                     const weft_options *given, weft_device_local **made) {
    const weft_options options = {.device = given->device,
                                  .engine = given->engine,
                                  .threads = given->threads,
                                  .location = WEFT_LOCATION_DEVICE,
                                  .device_number = given->device_number};
    weft_device_local *l = *made = calloc(1, sizeof *l);
    if (!l) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a device's samples");
    l->tree = tree;
    l->real = c->real;
    l->fields = weft_convolved_fields(c, false);
    l->made = weft_convolved_fields(c, true);
    l->waves = waves_of(l, tree->period[X]);
    l->planes = planes_at_a_time(l);
    WEFT_TRY(weft_context_create(NULL, &l->context));
    WEFT_TRY(plan_all(l, c, &options));
    WEFT_TRY(make_kernels(l));
    return reserve_all(l);
}

static void destroy_kernel(const weft_device_local *l, weft_kernel *kernel) {
    const weft_device_handle *d = &l->convolve->build->device;
    if (kernel) d->ops->kernel_destroy(d->state, kernel);
}

void weft_device_local_destroy(weft_device_local *l) {
    if (!l) return;
    if (l->convolve) {
        destroy_kernel(l, l->add);
        destroy_kernel(l, l->clear);
        void **buffer[] = {&l->sources, &l->spectrum, &l->plane, &l->values};
        for (int i = 0; i < 4; i++) weft_buffer_destroy(l->convolve, buffer[i]);
        for (int i = 0; i < l->tree->levels; i++) weft_buffer_destroy(l->convolve, &l->sums[i]);
    }
    for (int i = 0; i < l->tree->levels; i++) weft_plan_destroy(&l->inverse_x[i]);
    weft_plan_destroy(&l->forward_x);
    weft_composition_destroy(&l->convolve);
    weft_context_destroy(&l->context);
    free(l->host);
    free(l);
}

size_t weft_device_local_bytes(const weft_device_local *l) {
    return sizeof *l + l->bytes;
}

/* ---- running ---- */

/* From one field after the other to the fields of a point side by side, or back. */
static void interleave(const double *from, int64_t points, int fields, int numbers, bool back,
                       double *to) {
    for (int f = 0; f < fields; f++)
        for (int64_t i = 0; i < points; i++)
            for (int k = 0; k < numbers; k++) {
                const int64_t apart = (f * points + i) * numbers + k;
                const int64_t together = (i * fields + f) * numbers + k;
                to[back ? apart : together] = from[back ? together : apart];
            }
}

static weft_status launch(weft_device_local *l, weft_kernel *kernel, int64_t threads,
                          const weft_kernel_argument *argument, int arguments) {
    const weft_device_handle *d = &l->convolve->build->device;
    const unsigned groups[3] = {(unsigned)((threads + THREADS - 1) / THREADS), 1, 1};
    return d->ops->kernel_launch(d->state, NULL, kernel, groups, argument, arguments);
}

static weft_status clear(weft_device_local *l, void *sums, int64_t count) {
    const weft_kernel_argument argument[] = {{.memory = sums},
                                             {.value = &count, .bytes = sizeof count}};
    return launch(l, l->clear, count, argument, 2);
}

/* The sources' spectrum along x, and zeros behind it. */
static weft_status transform_sources(weft_device_local *l, const double *sources) {
    const weft_tree *t = l->tree;
    const int64_t of_x = t->edge[Y] * t->edge[Z],
                  numbers = t->edge[X] * of_x * l->fields * parts(l);
    const int64_t rest = (l->planes - l->waves % l->planes) % l->planes * of_x * l->fields;
    if (l->fields > 1) interleave(sources, t->edge[X] * of_x, l->fields, parts(l), false, l->host);
    WEFT_TRY(weft_buffer_upload(l->convolve, l->sources, l->fields > 1 ? l->host : sources,
                                (size_t)numbers * sizeof *sources));
    if (rest > 0) WEFT_TRY(clear(l, (double *)l->spectrum + 2 * l->waves * of_x * l->fields, rest));
    return weft_execute(l->forward_x, WEFT_FORWARD, l->sources, l->spectrum);
}

/* Adds the first planes of a batch, that begins with wavenumber kx, to the sums of a level. */
static weft_status add_planes(weft_device_local *l, const int64_t *lo, int level, int64_t kx) {
    const weft_tree *t = l->tree;
    const weft_tree_level *v = &t->level[level];
    const int64_t left = l->waves - kx;
    lattice s = {.n = {v->period[X], v->n[Y], v->n[Z]},
                 .fields = l->made,
                 .kx = kx,
                 .planes = left < l->planes ? left : l->planes,
                 .waves = waves_of(l, v->period[X]),
                 .real_field = l->real};
    memcpy(s.points, t->period, sizeof s.points);
    memcpy(s.stride, v->stride, sizeof s.stride);
    for (int a = 0; a < WEFT_TREE_AXES; a++)
        s.first[a] =
            weft_modulo(weft_tree_first(t, level, a, lo[a]) * v->stride[a] - lo[a], t->period[a]);
    const weft_kernel_argument argument[] = {
        {.memory = l->plane}, {.memory = l->sums[level]}, {.value = &s, .bytes = sizeof s}};
    return launch(l, l->add, across(l, level), argument, 3);
}

static weft_status convolve_planes(weft_device_local *l, const int64_t *lo) {
    const int64_t plane = l->tree->edge[Y] * l->tree->edge[Z] * l->fields;
    for (int64_t kx = 0; kx < l->waves; kx += l->planes) {
        WEFT_TRY(weft_plan_set_parameter(l->convolve, 0, (double)kx));
        WEFT_TRY(weft_composition_execute(l->convolve, (double *)l->spectrum + 2 * kx * plane,
                                          &l->plane));
        for (int i = 0; i < l->tree->levels; i++) WEFT_TRY(add_planes(l, lo, i, kx));
    }
    return WEFT_SUCCESS;
}

weft_status weft_device_local_run(weft_device_local *l, const int64_t *lo, const double *sources,
                                  double *const *values) {
    const weft_tree *t = l->tree;
    WEFT_TRY(transform_sources(l, sources));
    for (int i = 0; i < t->levels; i++)
        WEFT_TRY(clear(l, l->sums[i], waves_of(l, t->level[i].period[X]) * across(l, i)));
    WEFT_TRY(convolve_planes(l, lo));
    for (int i = 0; i < t->levels; i++) {
        const int64_t *n = t->level[i].n, points = n[X] * n[Y] * n[Z];
        WEFT_TRY(weft_execute(l->inverse_x[i], WEFT_INVERSE, l->sums[i], l->values));
        double *fetched = l->made > 1 ? l->host : values[i];
        WEFT_TRY(weft_buffer_download(l->convolve, fetched, l->values,
                                      (size_t)(points * l->made * parts(l)) * sizeof *fetched));
        if (l->made > 1) interleave(fetched, points, l->made, parts(l), true, values[i]);
    }
    return WEFT_SUCCESS;
}
