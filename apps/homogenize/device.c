/* Passes over voxels in kernels: see device.h. */
#include "device_state.h"

#include "exec/plan.h"
#include "histograms.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>

enum { GROUPS_OF_UNIT = 8, MOST_SUMS = 14 };

/* The structure `green` of kernels/green.cl, and its array. */
typedef struct green {
    int64_t points[3], lo[3], n[3], step;
    double wave[3], scale, share, compliance, factor, length;
} green;

typedef struct green_means {
    double mean[DISPLACEMENT_VECTORS][6], made[6], offset[6], zero[36];
} green_means;

static const weft_device_handle *handle_of(const homogenize_device *d) {
    return &d->plan->build->device;
}

weft_status homogenize_device_check(weft_device device) {
    const weft_device_ops *ops = weft_device_find(device);
    if (ops && ops->kernel_create) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "device %s: weft homogenize computes on the host, on cuda or on opencl; give "
                     "one of them",
                     weft_device_name(device));
}

/* ---- making ---- */

extern const char homogenize_kernels_sweep_cl[], homogenize_kernels_law_cl[],
    homogenize_kernels_sweep_fill_cl[], homogenize_kernels_sweep_stress_cl[],
    homogenize_kernels_sweep_respond_cl[], homogenize_kernels_sweep_reflect_cl[],
    homogenize_kernels_sweep_descend_cl[], homogenize_kernels_sweep_products_cl[],
    homogenize_kernels_sweep_phases_cl[], homogenize_kernels_sweep_spread_cl[],
    homogenize_kernels_sweep_gather_cl[], homogenize_kernels_table_cl[],
    homogenize_kernels_green_cl[]; /* cmake/embed.cmake */

static const struct {
    const char *name, *text;
    bool law, table; /* it needs the materials, it makes a table */
} passes[PASSES] = {
    [PASS_FILL] = {"weft_sweep_fill", homogenize_kernels_sweep_fill_cl, false, false},
    [PASS_STRESS] = {"weft_sweep_stress", homogenize_kernels_sweep_stress_cl, true, false},
    [PASS_RESPOND] = {"weft_sweep_respond", homogenize_kernels_sweep_respond_cl, true, false},
    [PASS_REFLECT] = {"weft_sweep_reflect", homogenize_kernels_sweep_reflect_cl, true, false},
    [PASS_DESCEND] = {"weft_sweep_descend", homogenize_kernels_sweep_descend_cl, false, false},
    [PASS_PRODUCTS] = {"weft_sweep_products", homogenize_kernels_sweep_products_cl, false, false},
    [PASS_PHASES] = {"weft_sweep_phases", homogenize_kernels_sweep_phases_cl, true, true},
    [PASS_SPREAD] = {"weft_sweep_spread", homogenize_kernels_sweep_spread_cl, true, true},
    [PASS_GATHER] = {"weft_sweep_gather", homogenize_kernels_sweep_gather_cl, false, false},
};

static weft_status make_kernel(homogenize_device *d, const homogenize_space *space,
                               homogenize_pass p) {
    const homogenize_medium *m = space->medium;
    char settings[128];
    const char *const text[] = {settings, homogenize_kernels_sweep_cl,
                                passes[p].law ? homogenize_kernels_law_cl : "",
                                passes[p].table ? homogenize_kernels_table_cl : "", passes[p].text};
    const weft_kernel_source source = {.name = passes[p].name,
                                       .text = text,
                                       .texts = 5,
                                       .threads = HOMOGENIZE_THREADS,
                                       .precision = space->precision};
    snprintf(settings, sizeof settings,
             "#define COMPONENTS %d\n#define STAGGERED %d\n#define ISOTROPIC %d\n#define BINS %d\n",
             m->components, m->staggered, m->isotropic, HOMOGENIZE_BINS);
    return handle_of(d)->ops->kernel_create(handle_of(d)->state, &source, &d->kernel[p]);
}

static weft_status make_green(homogenize_device *d, const homogenize_space *space,
                              homogenize_scheme scheme) {
    static const char *const names[] = {[HOMOGENIZE_FOURIER] = "FOURIER",
                                        [HOMOGENIZE_WILLOT] = "WILLOT",
                                        [HOMOGENIZE_STAGGERED] = "STAGGERED"};
    char settings[64];
    const char *const text[] = {settings, homogenize_kernels_green_cl};
    const weft_kernel_source source = {.name = "weft_green",
                                       .text = text,
                                       .texts = 2,
                                       .threads = HOMOGENIZE_THREADS,
                                       .precision = space->precision};
    snprintf(settings, sizeof settings, "#define COMPONENTS %d\n#define SCHEME %s\n",
             space->medium->components, names[scheme]);
    return handle_of(d)->ops->kernel_create(handle_of(d)->state, &source, &d->green);
}

static weft_status make_kernels(homogenize_device *d, const homogenize_space *space,
                                homogenize_scheme scheme) {
    const weft_device_handle *h = handle_of(d);
    weft_kernel_limits limits;
    WEFT_TRY(h->ops->kernel_limits(h->state, &limits));
    if (!limits.has_double)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "the device has no double precision, in which weft homogenize adds up; "
                         "drop --device");
    d->groups = limits.units * GROUPS_OF_UNIT;
    for (int p = 0; p < PASSES; p++)
        if (p != PASS_REFLECT || space->medium->relax)
            WEFT_TRY(make_kernel(d, space, (homogenize_pass)p));
    WEFT_TRY(make_green(d, space, scheme));
    return h->ops->kernels_await ? h->ops->kernels_await(h->state) : WEFT_SUCCESS;
}

weft_status homogenize_device_copy(homogenize_device *d, const void *host, size_t bytes,
                                   void **there) {
    d->bytes += bytes;
    WEFT_TRY(weft_buffer_create(d->plan, bytes, there));
    return host ? weft_buffer_upload(d->plan, *there, host, bytes) : WEFT_SUCCESS;
}

static weft_status copy_all(homogenize_device *d, const homogenize_space *space) {
    const homogenize_volume *v = space->volume;
    const homogenize_medium *m = space->medium;
    const size_t halo = (size_t)v->halo, phases = (size_t)m->phases;
    const size_t places =
        ((size_t)v->box.n[0] + halo) * ((size_t)v->box.n[1] + halo) * ((size_t)v->box.n[2] + halo);
    const size_t law = phases * (size_t)(m->components * m->components) * sizeof(double);
    const size_t sums = (size_t)d->groups * MOST_SUMS * sizeof(double);
    d->host = malloc(sums);
    if (!d->host) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a device's sums");
    WEFT_TRY(homogenize_device_copy(d, NULL, sums, &d->sums));
    WEFT_TRY(homogenize_device_copy(d, NULL, sizeof(green_means), &d->means));
    WEFT_TRY(homogenize_device_copy(d, v->phase, places * sizeof *v->phase, &d->phases));
    WEFT_TRY(homogenize_device_copy(d, m->law, law, &d->law));
    WEFT_TRY(homogenize_device_copy(d, m->inverse, phases * 3 * sizeof(double), &d->inverse));
    WEFT_TRY(homogenize_device_create_table(d, space));
    return m->relax ? homogenize_device_copy(d, m->relax, law, &d->relax) : WEFT_SUCCESS;
}

weft_status homogenize_device_create(const homogenize_green *g, const homogenize_space *space,
                                     homogenize_device **made) {
    const homogenize_volume *v = space->volume;
    homogenize_device *d = *made = calloc(1, sizeof *d);
    if (!d) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for passes on a device");
    d->plan = g->plan;
    d->components = space->medium->components;
    d->shape = (homogenize_sweep){.voxels = space->voxels,
                                  .row = v->box.n[2],
                                  .rows = v->box.n[1],
                                  .halo = v->halo,
                                  .twice = space->medium->reference.twice,
                                  .trace = space->medium->reference.trace};
    WEFT_TRY(make_kernels(d, space, g->scheme));
    return copy_all(d, space);
}

void homogenize_device_destroy(homogenize_device *d) {
    if (!d) return;
    const weft_device_handle *h = handle_of(d);
    void **buffer[] = {&d->phases, &d->law,   &d->inverse, &d->relax,
                       &d->sums,   &d->means, &d->most,    &d->table.memory};
    for (int p = 0; p < PASSES; p++)
        if (d->kernel[p]) h->ops->kernel_destroy(h->state, d->kernel[p]);
    if (d->green) h->ops->kernel_destroy(h->state, d->green);
    for (int i = 0; i < 8; i++) weft_buffer_destroy(d->plan, buffer[i]);
    free(d->host);
    free(d->table.host);
    free(d);
}

size_t homogenize_device_bytes(const homogenize_device *d) {
    return d->bytes;
}

weft_status homogenize_device_status(const homogenize_device *d) {
    return d->status;
}

/* ---- passes ---- */

static unsigned groups_of(const homogenize_device *d) {
    const int64_t all = (d->shape.voxels + HOMOGENIZE_THREADS - 1) / HOMOGENIZE_THREADS;
    return all < d->groups ? (unsigned)all : d->groups;
}

weft_status homogenize_device_launch(const homogenize_device *d, homogenize_pass p, unsigned groups,
                                     weft_kernel_argument *argument, int arguments,
                                     const homogenize_sweep *shape) {
    const weft_device_handle *h = handle_of(d);
    const unsigned all[3] = {groups, 1, 1};
    argument[arguments++] = (weft_kernel_argument){.value = shape, .bytes = sizeof *shape};
    return h->ops->kernel_launch(h->state, NULL, d->kernel[p], all, argument, arguments);
}

/* The last argument is the shape, the one before it, where there are sums, their array. */
static weft_status launch(const homogenize_device *d, homogenize_pass p,
                          weft_kernel_argument *argument, int arguments,
                          const homogenize_sweep *shape, int sums, double *values) {
    const unsigned groups = groups_of(d);
    WEFT_TRY(homogenize_device_launch(d, p, groups, argument, arguments, shape));
    if (sums == 0) return WEFT_SUCCESS;
    WEFT_TRY(weft_buffer_download(d->plan, d->host, d->sums,
                                  (size_t)groups * (size_t)sums * sizeof *d->host));
    for (unsigned g = 0; g < groups; g++)
        for (int i = 0; i < sums; i++) values[i] += d->host[g * (unsigned)sums + (unsigned)i];
    return WEFT_SUCCESS;
}

static void run(homogenize_device *d, homogenize_pass p, weft_kernel_argument *argument,
                int arguments, const homogenize_sweep *shape, int sums, double *values) {
    for (int i = 0; i < sums; i++) values[i] = 0;
    if (homogenize_device_is_idle(d)) return;
    d->status = launch(d, p, argument, arguments, shape, sums, values);
    for (int i = 0; i < sums && d->status != WEFT_SUCCESS; i++) values[i] = 0;
}

void homogenize_device_fill(homogenize_device *d, void *e, const double value[6]) {
    weft_kernel_argument argument[2] = {homogenize_array(e)};
    homogenize_sweep shape = d->shape;
    memcpy(shape.mean, value, sizeof shape.mean);
    run(d, PASS_FILL, argument, 1, &shape, 0, NULL);
}

void homogenize_device_stress(homogenize_device *d, const void *e, void *s, bool polarize,
                              double sums[14]) {
    weft_kernel_argument argument[] = {
        homogenize_array(e),      homogenize_array(s ? s : e),  homogenize_array(d->phases),
        homogenize_array(d->law), homogenize_array(d->inverse), homogenize_array(d->sums),
        {.value = NULL}};
    homogenize_sweep shape = d->shape;
    shape.store = s != NULL;
    shape.reference = polarize;
    run(d, PASS_STRESS, argument, 6, &shape, 14, sums);
}

void homogenize_device_products(homogenize_device *d, const void *g, const void *last,
                                double products[2]) {
    weft_kernel_argument argument[4] = {homogenize_array(g), homogenize_array(last),
                                        homogenize_array(d->sums)};
    run(d, PASS_PRODUCTS, argument, 3, &d->shape, 2, products);
}

void homogenize_device_respond(homogenize_device *d, void *e, double products[2]) {
    weft_kernel_argument argument[6] = {homogenize_array(e), homogenize_array(d->phases),
                                        homogenize_array(d->law), homogenize_array(d->inverse),
                                        homogenize_array(d->sums)};
    run(d, PASS_RESPOND, argument, 5, &d->shape, 2, products);
}

double homogenize_device_reflect(homogenize_device *d, void *e, const void *t, const double mean[6],
                                 bool whole) {
    weft_kernel_argument argument[7] = {homogenize_array(e),          homogenize_array(t),
                                        homogenize_array(d->phases),  homogenize_array(d->relax),
                                        homogenize_array(d->inverse), homogenize_array(d->sums)};
    homogenize_sweep shape = d->shape;
    double sum;
    memcpy(shape.mean, mean, sizeof shape.mean);
    shape.reference = !whole;
    run(d, PASS_REFLECT, argument, 6, &shape, 1, &sum);
    return sum;
}

double homogenize_device_descend(homogenize_device *d, void *e, const void *g, double factor) {
    weft_kernel_argument argument[4] = {homogenize_array(e), homogenize_array(g),
                                        homogenize_array(d->sums)};
    homogenize_sweep shape = d->shape;
    double sum;
    shape.factor = factor;
    run(d, PASS_DESCEND, argument, 3, &shape, 1, &sum);
    return sum;
}

/* ---- Green's operator ---- */

enum { NO_VECTORS = DISPLACEMENT_SHOW_R + 1 };

static green describe(const homogenize_green *g) {
    const homogenize_reference *r = &g->reference;
    const homogenize_displacements *d = g->displacements;
    green k = {.step = d ? (int64_t)d->change.step : NO_VECTORS,
               .scale = 1 / ((double)g->n[0] * (double)g->n[1] * (double)g->n[2]),
               .share = (r->trace + r->twice / 2) / (r->trace + r->twice),
               .factor = d ? d->change.factor : 0,
               .length = d ? d->change.length : 0};
    k.compliance = k.scale * (g->components == 6 ? 2 : 1) / r->twice;
    memcpy(k.points, g->n, sizeof k.points);
    memcpy(k.wave, g->step, sizeof k.wave);
    memcpy(k.lo, g->frequencies.lo, sizeof k.lo);
    memcpy(k.n, g->frequencies.n, sizeof k.n);
    return k;
}

static weft_status apply(homogenize_device *d, const homogenize_green *g, void *spectrum) {
    const weft_device_handle *h = handle_of(d);
    homogenize_displacements *vectors = g->displacements;
    const green k = describe(g);
    const int64_t elements = k.n[0] * k.n[1] * k.n[2];
    const bool has_mean = elements > 0 && k.lo[0] + k.lo[1] + k.lo[2] == 0;
    const unsigned groups[3] = {
        (unsigned)((elements + HOMOGENIZE_THREADS - 1) / HOMOGENIZE_THREADS), 1, 1};
    const weft_kernel_argument argument[] = {homogenize_array(spectrum),
                                             homogenize_array(vectors ? vectors->memory : spectrum),
                                             homogenize_array(d->means),
                                             {.value = &k, .bytes = sizeof k}};
    green_means means = {.made = {0}};
    if (elements == 0) return WEFT_SUCCESS;
    memcpy(means.offset, g->offset, sizeof means.offset);
    memcpy(means.zero, g->zero, sizeof means.zero);
    if (vectors) memcpy(means.mean, vectors->mean, sizeof means.mean);
    if (has_mean) WEFT_TRY(weft_buffer_upload(d->plan, d->means, &means, sizeof means));
    WEFT_TRY(h->ops->kernel_launch(h->state, NULL, d->green, groups, argument, 4));
    if (!vectors || !has_mean) return WEFT_SUCCESS;
    return weft_buffer_download(d->plan, vectors->mean, d->means, sizeof vectors->mean);
}

void homogenize_device_apply(homogenize_device *d, const homogenize_green *g, void *spectrum) {
    if (d->status == WEFT_SUCCESS) d->status = apply(d, g, spectrum);
}
