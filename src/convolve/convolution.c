/* The public interface of convolutions. */
#include "convolve/convolve.h"

#include "compose/compose.h"
#include "convolve/overlap_save_ranks.h"
#include "multilevel/multilevel.h"
#include "plan/agreement.h"
#include "sampled/sampled.h"
#include "support/error.h"
#include "support/hash.h"
#include "support/versioned.h"

#include <stdlib.h>

#define HASH(sum, value) weft_hash_bytes((sum), &(value), sizeof(value))

/* A number that differs (very probably) where the problems of two ranks do; 0 for one rank. */
static int checksum(weft_context ctx, const weft_convolved *c, const void *kernel) {
    const weft_convolution_problem *p = &c->problem;
    uint64_t sum = WEFT_HASH_OF_NOTHING;
    if (ctx->transport->size == 1) return 0; /* kernels may be large */
    sum = HASH(sum, p->rank);
    for (int a = 0; a < p->rank; a++) {
        const weft_convolved_axis *axis = &c->axis[a];
        sum = HASH(sum, axis->boundary);
        sum = HASH(sum, axis->n);
        sum = HASH(sum, axis->kernel);
        sum = HASH(sum, axis->origin);
        sum = HASH(sum, axis->spacing);
        sum = HASH(sum, p->kernel.order[a]);
    }
    sum = HASH(sum, p->kind);
    sum = HASH(sum, p->precision);
    sum = HASH(sum, p->batch);
    sum = HASH(sum, p->mode);
    sum = HASH(sum, p->method);
    sum = HASH(sum, p->tolerance);
    sum = HASH(sum, p->pattern);
    sum = HASH(sum, p->opening);
    sum = HASH(sum, p->interpolation);
    sum = HASH(sum, p->subdomain);
    sum = HASH(sum, p->kernel.kind);
    sum = HASH(sum, p->kernel.parameter);
    sum = HASH(sum, c->zero);
    sum = HASH(sum, p->kernel.lame);
    sum = HASH(sum, p->kernel.discretization);
    sum = HASH(sum, p->fields_fastest);
    sum = HASH(sum, p->correlate);
    sum = HASH(sum, p->deconvolve);
    sum = HASH(sum, p->regularizer);
    if (c->covariance)
        sum = weft_hash_bytes(sum, c->covariance,
                              (size_t)(p->rank * p->rank) * sizeof *c->covariance);
    sum = HASH(sum, c->in_boxes);
    if (weft_convolved_is_given(c) && kernel && !c->in_boxes)
        sum = weft_hash_bytes(sum, kernel, weft_convolved_given_bytes(c));
    return (int)(sum >> 33);
}

/* ---- the kernel's spectrum ---- */

/* Of a formula, or of the caller's spectrum. Collective. */
static weft_status tabulate(weft_plan plan, const weft_convolved *c, const void *kernel,
                            void *spectrum) {
    weft_region mine = weft_convolved_whole(c); /* as a scattered spectrum needs it */
    weft_given_kernel given;
    for (int a = 0; a < mine.axes && c->scattered.rows == 0; a++) {
        mine.lo[a] = c->spectrum.lo[a];
        mine.n[a] = c->spectrum.n[a];
    }
    const weft_status status = weft_convolved_collect(plan->transport, c, kernel, &mine, &given);
    if (status == WEFT_SUCCESS)
        weft_convolved_symbol(c, &given, plan->call.options.threads, spectrum);
    free(given.own);
    return status;
}

static weft_status make_spectrum(weft_plan plan, const weft_convolved *c, const void *kernel,
                                 void *spectrum) {
    if (c->problem.kernel.kind == WEFT_KERNEL_ARRAY)
        return weft_convolved_array(plan, c, kernel, spectrum);
    if (c->free_axes > 0) return weft_convolved_free_space(plan, c, spectrum);
    return tabulate(plan, c, kernel, spectrum);
}

/* Makes the spectrum where it is to lie or, where the CPU cannot write there, on the host, to be
 * copied. */
static weft_status set_spectrum(weft_plan plan, weft_convolved *c, const void *kernel) {
    const bool there = (plan->build->device.ops->host_addressable || c->on_host) && c->bytes > 0;
    void *spectrum = there ? c->array : malloc(c->bytes + 1);
    weft_status status = weft_agree(
        plan->transport,
        spectrum ? WEFT_SUCCESS
                 : weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                             "no memory for %zu bytes of a kernel's spectrum", c->bytes));
    if (status == WEFT_SUCCESS) status = make_spectrum(plan, c, kernel, spectrum);
    if (status == WEFT_SUCCESS && c->bytes > 0 && !there)
        status = weft_buffer_upload(plan, c->array, spectrum, c->bytes);
    if (status == WEFT_SUCCESS) status = weft_plan_take_array(plan, 0, c->array);
    if (!there) free(spectrum);
    return weft_agree(plan->transport, status);
}

/* ---- creation ---- */

static weft_status allocate_on_device(weft_plan plan, weft_convolved *c) {
    const size_t limit = plan->call.options.device_memory_limit;
    if (limit == 0 || plan->build->memory.workspace + c->bytes <= limit)
        return weft_buffer_create(plan, c->bytes, &c->array);
    return weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                     "device memory: workspaces of %zu bytes and a kernel's spectrum of %zu do not "
                     "fit options.device_memory_limit, %zu bytes; raise the limit or use more "
                     "ranks",
                     plan->build->memory.workspace, c->bytes, limit);
}

/* Where the callers' arrays are on the host, the spectrum may be there too, if the device reads it
 * there: each execution does so once. */
static bool may_be_on_host(const weft_options *options) {
    const weft_device_ops *device = weft_device_find(options->device);
    return options->location == WEFT_LOCATION_HOST && device && device->reads_page_locked;
}

/* Bytes of a rank's share of the kernel's spectrum which the device is to hold, about. */
static size_t bytes_beside(const weft_convolved *c, const weft_options *options, int ranks) {
    size_t bytes = weft_number_bytes(c->problem.precision) * (c->complex_factors ? 2 : 1);
    const bool streams = options->location == WEFT_LOCATION_HOST && options->device != WEFT_HOST;
    if (!streams || weft_convolved_has_no_array(c) || may_be_on_host(options)) return 0;
    for (int a = 0; a < c->problem.rank; a++) {
        const bool halved = a == c->problem.rank - 1 && c->problem.kind == WEFT_R2C;
        bytes *= (size_t)(halved ? c->axis[a].transform / 2 + 1 : c->axis[a].transform);
    }
    return bytes / (size_t)ranks;
}

static weft_status allocate_spectrum(weft_plan plan, weft_convolved *c) {
    weft_plan_own_box(plan, WEFT_OUTPUT, plan->transport->rank, &c->spectrum);
    c->scattered = weft_plan_scattered(plan);
    c->bytes = weft_convolved_bytes(c);
    if (c->bytes == 0) return WEFT_SUCCESS;
    weft_status status = allocate_on_device(plan, c);
    c->on_host = status == WEFT_ERROR_OUT_OF_MEMORY && may_be_on_host(&plan->call.options);
    return c->on_host ? weft_host_buffer_create(plan, c->bytes, &c->array) : status;
}

/* The field is embedded, transformed, multiplied, transformed back and cropped. */
static weft_status compose(weft_context ctx, const weft_convolved *c, const weft_options *options,
                           weft_plan *plan) {
    enum { EMBED, FORWARD, MULTIPLY, INVERSE, CROP, STAGES };
    const weft_convolution_problem *p = &c->problem;
    const bool fields = weft_convolved_makes_fields(c);
    weft_operator multiply = {.kind = c->table[0] ? WEFT_OPERATOR_TABLE : WEFT_OPERATOR_ARRAY,
                              .complex_factors = c->complex_factors};
    const weft_operator make = {.kind = WEFT_OPERATOR_MATRIX,
                                .matrix = weft_convolved_apply_fields,
                                .snippet = c->snippet,
                                .argument = (void *)(uintptr_t)c};
    weft_stage stage[STAGES] = {[EMBED] = {.kind = WEFT_STAGE_EMBED},
                                [FORWARD] = {.kind = WEFT_STAGE_FORWARD},
                                [MULTIPLY] = {.kind = WEFT_STAGE_POINTWISE,
                                              .operators = {fields ? &make : &multiply, 1},
                                              .result_fields = weft_convolved_fields(c, true)},
                                [INVERSE] = {.kind = WEFT_STAGE_INVERSE},
                                [CROP] = {.kind = WEFT_STAGE_CROP}};
    weft_composition_problem problem = {.rank = p->rank,
                                        .kind = p->kind,
                                        .precision = p->precision,
                                        .batch = p->batch,
                                        .fields = weft_convolved_fields(c, false),
                                        .fields_fastest = p->fields_fastest,
                                        .stage = stage,
                                        .stages = STAGES};
    const weft_purpose purpose = {.scatters = true,
                                  .parity = c->parity,
                                  .memory.beside = bytes_beside(c, options, ctx->transport->size)};
    for (int a = 0; a < p->rank; a++) {
        problem.n[a] = c->axis[a].n;
        multiply.table[a] = c->table[a];
        stage[EMBED].n[a] = c->axis[a].transform;
        stage[FORWARD].axis[a] = c->axis[a].type;
        stage[CROP].n[a] = c->axis[a].kept;
    }
    return weft_compose(ctx, &problem, &purpose, options, plan);
}

/* Over simulated ranks nothing is computed, so there is no spectrum. */
static weft_status finish(weft_plan plan, weft_convolved *c, const void *array) {
    if (plan->transport->simulated || weft_convolved_has_no_array(c)) return WEFT_SUCCESS;
    WEFT_TRY(weft_agree(plan->transport, allocate_spectrum(plan, c)));
    if (weft_convolved_is_given(c)) {
        bool has = false;
        WEFT_TRY(weft_convolved_has_array(plan->transport, c, array, &has));
        if (!has) return WEFT_SUCCESS;
    }
    return set_spectrum(plan, c, weft_convolved_is_given(c) ? array : NULL);
}

weft_status weft_convolved_refuse(const weft_convolved *c, double tolerance, const char *what,
                                  double error) {
    const bool spectral = c->problem.kernel.discretization == WEFT_SPECTRAL;
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "problem.tolerance is %g, but kernel %s cannot be %s better than to %.1e; %s "
                     "a larger tolerance or method whole",
                     tolerance, weft_kernel_kind_name(c->problem.kernel.kind), what, error,
                     spectral ? "choose kernel.discretization WEFT_STAGGERED, whose kernels have "
                                "no ripples, or"
                              : "choose");
}

weft_region weft_convolved_region(weft_plan plan, weft_space space, int rank, int axes) {
    enum { AXES = 3 };
    weft_region region = {.axes = AXES, .n = {1, 1, 1}};
    weft_box box;
    weft_composition_end_box(plan, space, rank, &box);
    for (int a = 0; a < axes; a++) {
        region.lo[AXES - axes + a] = box.lo[a];
        region.n[AXES - axes + a] = box.n[a];
    }
    return region;
}

/* A number that differs (very probably) where two ranks' plans have other boxes. */
static int boxes_of(weft_plan plan) {
    uint64_t sum = WEFT_HASH_OF_NOTHING;
    for (int r = 0; r < plan->transport->size; r++)
        for (int i = 0; i < 2; i++) {
            weft_box box;
            weft_composition_end_box(plan, i == 0 ? WEFT_INPUT : WEFT_RESULT, r, &box);
            sum = HASH(sum, box);
        }
    return (int)(sum >> 33);
}

/* Memory for callers' arrays, which are on the host. */
static weft_status open_host(weft_plan outline) {
    const weft_device_settings settings = {.threads = outline->call.options.threads};
    weft_device_handle *device = &outline->build->device;
    device->ops = weft_device_find(WEFT_HOST);
    return device->ops->open(&settings, &device->state);
}

/* The same over as many simulated ranks, of which this is the same one: the plan tells the boxes
 * and what the exact method would do, and has memory for arrays; nothing else is made. */
static weft_status compose_outline(weft_context ctx, const weft_convolved *c,
                                   const weft_options *given, weft_plan *plan) {
    weft_options options = *given;
    weft_transport *transport = NULL;
    weft_context outline = NULL;
    WEFT_TRY(weft_transport_self_create(ctx->transport->size, &transport));
    transport->rank = ctx->transport->rank;
    WEFT_TRY(weft_context_over_transport(transport, NULL, &outline));
    outline->source = ctx->source;
    options.device = WEFT_HOST;
    options.engine = WEFT_ENGINE_AUTO;
    weft_status status = compose(outline, c, &options, plan);
    if (status == WEFT_SUCCESS) {
        (*plan)->context = ctx;
        status = open_host(*plan);
    }
    weft_context_destroy(&outline);
    return status;
}

/* On all ranks. One on which a candidate failed may have chosen another one, so the boxes are
 * compared. */
static weft_status outline_all(weft_context ctx, const weft_convolved *c,
                               const weft_options *options, weft_plan *plan) {
    weft_status status = compose_outline(ctx, c, options, plan);
    const int boxes = status == WEFT_SUCCESS ? boxes_of(*plan) : 0;
    status = weft_agree_on(ctx->transport, status, "weft_convolution_create boxes of the checksum",
                           boxes);
    if (status != WEFT_SUCCESS) weft_plan_destroy(plan);
    return status;
}

/* The method, and the plan that there is of it so far: of others than the exact one its outline.
 * Collective. */
static weft_status choose_plan(weft_context ctx, weft_convolved *c, const weft_options *options,
                               weft_convolution_method *method, weft_plan *plan) {
    const bool compete = weft_methods_compete(ctx, c, options);
    weft_status status = WEFT_SUCCESS;
    const bool tiles = weft_overlap_save_ranks_possible(ctx, c, options);
    if (compete || tiles || *method == WEFT_SAMPLES || *method == WEFT_MULTILEVEL)
        WEFT_TRY(outline_all(ctx, c, options, plan));
    if (compete) status = weft_methods_compare(ctx, *plan, c, method);
    if (tiles) status = weft_overlap_save_ranks_choose(ctx, *plan, c, options, method);
    const bool exact = *method == WEFT_WHOLE;
    if (*plan && (status != WEFT_SUCCESS || exact)) weft_plan_destroy(plan);
    return status == WEFT_SUCCESS && exact ? compose(ctx, c, options, plan) : status;
}

/* What an outline would hold, if it were built. */
static void forget_workspaces(weft_plan outline) {
    for (weft_plan p = outline; p; p = weft_plan_next(outline, p)) {
        p->build->memory.workspace = 0;
        p->build->memory.page_locked = 0;
    }
}

weft_status weft_outlined_begin(weft_plan plan, weft_context ctx, const weft_outlined_ops *ops,
                                void *state, const char *what) {
    weft_transport *t = ctx->transport;
    plan->outlined = (weft_outlined){.ops = ops, .state = state};
    WEFT_TRY(weft_agree(
        t, state ? WEFT_SUCCESS
                 : weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a convolution by %s", what)));
    WEFT_TRY(weft_agree(t, t->ops->split(t, 0, t->rank, &plan->outlined.transport)));
    weft_owe_elsewhere(t, plan->outlined.transport);
    return WEFT_SUCCESS;
}

static weft_status finish_by(weft_convolution_method method, weft_plan plan, weft_context ctx,
                             weft_convolved *c, const weft_options *options) {
    const void *kernel = c->problem.kernel.array;
    c->problem.kernel.array = NULL; /* the caller's */
    if (method != WEFT_WHOLE) forget_workspaces(plan);
    if (method == WEFT_SAMPLES) return weft_sampled_create(plan, ctx, c, options);
    if (method == WEFT_MULTILEVEL) return weft_multilevel_create(plan, ctx, c);
    if (method == WEFT_OVERLAP_SAVE)
        return weft_overlap_save_ranks_create(plan, ctx, c, options, kernel);
    return finish(plan, c, kernel);
}

/* Makes the convolution of a plan, or destroys it. Takes over c and tiles, which may be NULL. */
static weft_status complete(weft_convolution_method method, weft_context ctx, weft_convolved *c,
                            weft_overlap_save *tiles, const weft_options *options,
                            weft_plan *plan) {
    (*plan)->convolution = c;
    weft_status status = finish_by(method, *plan, ctx, c, options);
    (*plan)->overlap_save = tiles;
    if (status == WEFT_SUCCESS && tiles) status = weft_overlap_save_prepare(*plan);
    if (status != WEFT_SUCCESS) weft_plan_destroy(plan);
    return status;
}

weft_status weft_convolved_by_tiles(weft_context ctx, const weft_convolved *whole,
                                    const weft_options *given, const weft_region *field,
                                    const weft_region *result, weft_plan *plan) {
    weft_options options = *given;
    weft_overlap_save *tiles = NULL;
    weft_convolved *c = malloc(sizeof *c);
    if (!c) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a convolution by tiles");
    *c = *whole; /* an array's has no tables */
    c->note = NULL;
    c->in_boxes = false;
    weft_status status = weft_overlap_save_cut(c, &options, field, result, &tiles);
    if (status == WEFT_SUCCESS) status = compose(ctx, c, &options, plan);
    if (status == WEFT_SUCCESS) return complete(WEFT_WHOLE, ctx, c, tiles, &options, plan);
    free(tiles);
    weft_convolved_release(c);
    return status;
}

static weft_status create(weft_context ctx, const weft_convolution_problem *problem,
                          const weft_options *opt, weft_convolution *out) {
    weft_convolved *c = calloc(1, sizeof *c);
    weft_options options = {.struct_size = 0};
    weft_overlap_save *tiles = NULL;
    weft_plan plan = NULL;
    bool samples = false, levels = false;
    weft_status status = !c     ? weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a convolution")
                         : !out ? weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                                            "weft_convolution_create: convolution is NULL")
                                : weft_convolved_read(problem, c);
    if (status == WEFT_SUCCESS && opt)
        status = weft_versioned_read(weft_options_versions, opt, &options, "options");
    if (status == WEFT_SUCCESS) status = weft_sampled_choose(ctx, c, &options, &samples);
    if (status == WEFT_SUCCESS) status = weft_multilevel_choose(ctx, c, &options, &levels);
    if (status == WEFT_SUCCESS && !samples && !levels)
        status = weft_overlap_save_choose(ctx, c, &options, &tiles);
    const int sum = status == WEFT_SUCCESS ? checksum(ctx, c, c->problem.kernel.array) : 0;
    weft_convolution_method method = samples ? WEFT_SAMPLES : levels ? WEFT_MULTILEVEL : WEFT_WHOLE;
    status = weft_agree_on(ctx->transport, status,
                           "weft_convolution_create a problem with the checksum", sum);
    if (status == WEFT_SUCCESS) status = choose_plan(ctx, c, &options, &method, &plan);
    if (status != WEFT_SUCCESS) {
        free(tiles);
        weft_convolved_release(c);
        return status;
    }
    status = complete(method, ctx, c, tiles, &options, &plan);
    if (status == WEFT_SUCCESS) *out = plan;
    return status;
}

WEFT_API weft_status weft_convolution_create(weft_context ctx,
                                             const weft_convolution_problem *problem,
                                             const weft_options *opt,
                                             weft_convolution *convolution) {
    if (!ctx)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "weft_convolution_create: the context is NULL; create it first");
    return weft_context_note(ctx, create(ctx, problem, opt, convolution));
}

/* ---- use ---- */

static weft_status check(weft_convolution convolution, const char *function) {
    if (!convolution) return weft_plan_check(convolution, NULL, function, "");
    if (convolution->convolution) return WEFT_SUCCESS;
    return weft_context_note(
        convolution->context,
        weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                  "%s: this is a plan of transforms; give what weft_convolution_create made",
                  function));
}

static weft_status set_kernel(weft_plan plan, const void *array) {
    weft_convolved *c = plan->convolution;
    const weft_outlined_ops *outlined = plan->outlined.ops;
    weft_transport *transport = outlined ? plan->outlined.transport : plan->transport;
    weft_status status = WEFT_SUCCESS;
    if (transport->simulated)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "weft_convolution_set_kernel: a plan over simulated ranks can only be "
                         "explained");
    if (!weft_convolved_is_given(c))
        status = weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                           "weft_convolution_set_kernel: the kernel is %s, which is built in; "
                           "create a convolution with kernel.kind WEFT_KERNEL_ARRAY",
                           weft_kernel_kind_name(c->problem.kernel.kind));
    else if (!array && weft_region_elements(&c->held) > 0)
        status = weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                           "weft_convolution_set_kernel: array is NULL; give the kernel");
    WEFT_TRY(weft_agree_on(transport, status,
                           "weft_convolution_set_kernel a kernel with the checksum",
                           status == WEFT_SUCCESS ? checksum(plan->context, c, array) : 0));
    if (outlined) return outlined->set_kernel(plan, array);
    if (c->problem.kernel.kind == WEFT_KERNEL_ARRAY) WEFT_TRY(weft_convolved_keep_plan(plan, c));
    return set_spectrum(plan, c, array);
}

WEFT_API weft_status weft_convolution_set_kernel(weft_convolution convolution, const void *array) {
    WEFT_TRY(check(convolution, "weft_convolution_set_kernel"));
    return weft_context_note(convolution->context, set_kernel(convolution, array));
}

WEFT_API weft_status weft_convolution_execute(weft_convolution convolution, const void *in,
                                              void *out) {
    WEFT_TRY(check(convolution, "weft_convolution_execute"));
    return weft_execute(convolution, WEFT_CONVOLVE, in, out);
}

WEFT_API weft_status weft_convolution_cells(weft_convolution convolution, int rank,
                                            int64_t subdomain, const weft_octree_cell **cells,
                                            int64_t *count) {
    WEFT_TRY(check(convolution, "weft_convolution_cells"));
    weft_status status =
        convolution->outlined.ops == &weft_sampled_ops
            ? weft_sampled_cells(convolution->outlined.state, rank, subdomain, cells, count)
            : weft_fail(WEFT_ERROR_UNSUPPORTED,
                        "weft_convolution_cells: the convolution is not done by samples, so it has "
                        "no octree; set problem.method to WEFT_SAMPLES");
    return weft_context_note(convolution->context, status);
}

WEFT_API void weft_convolution_destroy(weft_convolution *convolution) {
    weft_plan_destroy(convolution);
}

void weft_convolution_forget(weft_plan plan) {
    weft_overlap_save_release(plan);
    weft_outlined *outlined = &plan->outlined;
    if (outlined->ops) outlined->ops->destroy(plan);
    if (outlined->transport) outlined->transport->ops->release(outlined->transport);
    weft_plan_destroy(&plan->convolution->kernel_plan);
    weft_convolved *c = plan->convolution;
    if (c->on_host)
        weft_host_buffer_destroy(plan, &c->array);
    else
        weft_buffer_destroy(plan, &c->array);
    weft_convolved_release(c);
    plan->convolution = NULL;
}

const char *weft_convolution_note(weft_plan plan) {
    return plan->convolution ? plan->convolution->note : NULL;
}

void weft_convolution_add_memory(weft_plan plan, weft_memory *memory) {
    const weft_convolved *c = plan->convolution;
    weft_memory of_kernels = {0};
    if (c->kernel_plan) weft_plan_memory(c->kernel_plan, &of_kernels);
    *(c->on_host ? &memory->page_locked : &memory->workspace) += c->bytes;
    memory->tables += of_kernels.total;
    if (plan->overlap_save) weft_overlap_save_add_memory(plan, memory);
    if (plan->outlined.ops) plan->outlined.ops->add_memory(plan, memory);
}
