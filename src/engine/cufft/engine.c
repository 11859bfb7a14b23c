/*
 * The cuFFT engine: transforms by NVIDIA's library, on the CUDA device or where OpenMP's target
 * regions run on an NVIDIA GPU (place.h). layout.c chooses cuFFT's plans; this file makes and runs
 * them. All engine plans of a device share one area of device memory: cuFFT's work area, then
 * copies of the input that are kept or gathered. A complex-to-real transform needs the spectrum of
 * real data: for other input cuFFT's result is undefined, and indeed a line of 8192 points in
 * single precision uses imaginary parts that other engines ignore.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cufft/layout.h"
#include "engine/cufft/library.h"
#include "engine/cufft/place.h"
#include "support/error.h"

enum { ALIGNMENT = 512 }; /* of the parts of the shared area, as cuMemAlloc aligns */

struct weft_engine_plan {
    const weft_cufft_library *library;
    weft_cufft_place place;
    weft_cufft_layout layout;
    weft_precision precision;
    bool inverse; /* all passes */
    int handle[WEFT_CUFFT_PASSES];
    int handles;
    size_t kept_at, gathered_at; /* in the shared area, behind the work area */
    weft_cuda_stream stream;     /* what the handles were told last */
    void *area;
    bool told;
};

static weft_status cufft_probe(const char **description) {
    const weft_cufft_library *library = weft_cufft_open();
    if (!library) return WEFT_ERROR_UNSUPPORTED;
    if (description) *description = library->description;
    return WEFT_SUCCESS;
}

static weft_status check(const weft_transform *t, const weft_device_ops *device,
                         weft_cufft_layout *layout) {
    if (device->id != WEFT_CUDA && device->id != WEFT_OPENMP)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "cuFFT engine: device %s is not cuda, nor openmp on an NVIDIA GPU; choose "
                         "another engine or device",
                         device->name);
    if (!weft_cufft_open()) return WEFT_ERROR_UNSUPPORTED;
    if (device->id == WEFT_OPENMP && !weft_cuda_driver_open()) return WEFT_ERROR_UNSUPPORTED;
    if (t->precision != WEFT_DOUBLE && t->precision != WEFT_SINGLE)
        return weft_fail(WEFT_ERROR_UNSUPPORTED, "cuFFT engine: double and single precision only");
    if (t->kind == WEFT_TRANSFORM_R2R)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "cuFFT engine: no real-to-real transforms; choose engine jit");
    if (t->in_place && t->kind != WEFT_TRANSFORM_C2C)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "cuFFT engine: a batch of real transforms in place; use two buffers");
    if (t->in_pieces.count + t->out_pieces.count > 0)
        return weft_fail(WEFT_ERROR_UNSUPPORTED, "cuFFT engine: no data in pieces");
    return weft_cufft_lay_out(t, layout);
}

static weft_status cufft_supports(const weft_transform *t, const weft_device_ops *device) {
    weft_cufft_layout layout;
    return check(t, device, &layout);
}

/* ---- what is enqueued on a stream ---- */

typedef struct arrays {
    char *at[WEFT_CUFFT_GATHERED + 1]; /* by weft_cufft_array */
} arrays;

static arrays arrays_of(const weft_engine_plan *plan, const void *in, void *out) {
    char *shared = plan->place.ops->shared(&plan->place);
    return (arrays){{[WEFT_CUFFT_IN] = (char *)(uintptr_t)in, /* cuFFT's prototypes lack const */
                     [WEFT_CUFFT_OUT] = out,
                     [WEFT_CUFFT_KEPT] = shared + plan->kept_at,
                     [WEFT_CUFFT_GATHERED] = shared + plan->gathered_at}};
}

/* Tells cuFFT the stream and the work area, if they differ from those of the last execution. */
static weft_status tell_handles(weft_engine_plan *plan, weft_cuda_stream stream) {
    const weft_cufft_library *l = plan->library;
    void *area = plan->place.ops->shared(&plan->place);
    if (plan->told && plan->stream == stream && plan->area == area) return WEFT_SUCCESS;
    for (int h = 0; h < plan->handles; h++) {
        WEFT_TRY(weft_cufft_check(l->set_stream(plan->handle[h], stream), "no stream"));
        if (area)
            WEFT_TRY(weft_cufft_check(l->set_work_area(plan->handle[h], area), "no work area"));
    }
    plan->stream = stream;
    plan->area = area;
    plan->told = true;
    return WEFT_SUCCESS;
}

static weft_status execute_handle(const weft_engine_plan *plan, int p, char *in, char *out) {
    const weft_cufft_pass *pass = &plan->layout.pass[p];
    int result = plan->library->execute(plan->handle[p], in, out,
                                        plan->inverse ? WEFT_CUFFT_INVERSE : WEFT_CUFFT_FORWARD);
    if (result == 0) return WEFT_SUCCESS;
    char failure[256];
    snprintf(failure, sizeof failure,
             "a transform of rank %d, n %lldx%lldx%lld, strides %lld and %lld, distances %lld and "
             "%lld, batch %lld could not be enqueued",
             pass->rank, pass->n[0], pass->rank > 1 ? pass->n[1] : 1,
             pass->rank > 2 ? pass->n[2] : 1, pass->in_stride, pass->out_stride, pass->in_distance,
             pass->out_distance, pass->batch);
    return weft_cufft_check(result, failure);
}

/* Runs a pass for every index of the loops from number `loop` on. */
static weft_status run_loops(const weft_engine_plan *plan, int p, int loop, char *in, char *out) {
    const weft_cufft_pass *pass = &plan->layout.pass[p];
    if (loop == pass->loops) return execute_handle(plan, p, in, out);
    const int64_t number =
        plan->precision == WEFT_SINGLE ? (int64_t)sizeof(float) : (int64_t)sizeof(double);
    const weft_dimension *d = &pass->loop[loop];
    const int64_t in_step = d->in_stride * number * (pass->kind == WEFT_TRANSFORM_R2C ? 1 : 2);
    const int64_t out_step = d->out_stride * number * (pass->kind == WEFT_TRANSFORM_C2R ? 1 : 2);
    for (int64_t i = 0; i < d->n; i++)
        WEFT_TRY(run_loops(plan, p, loop + 1, in + i * in_step, out + i * out_step));
    return WEFT_SUCCESS;
}

static weft_status run_passes(weft_engine_plan *plan, weft_cuda_stream stream, const void *in,
                              void *out) {
    const arrays a = arrays_of(plan, in, out);
    WEFT_TRY(tell_handles(plan, stream));
    for (int p = 0; p < plan->layout.passes; p++) {
        const weft_cufft_pass *pass = &plan->layout.pass[p];
        WEFT_TRY(run_loops(plan, p, 0, a.at[pass->from], a.at[pass->to]));
    }
    return WEFT_SUCCESS;
}

/* ---- planning ---- */

static int type_of(weft_transform_kind kind, weft_precision precision) {
    const bool single = precision == WEFT_SINGLE;
    switch (kind) {
    case WEFT_TRANSFORM_R2C:
        return single ? WEFT_CUFFT_R2C : WEFT_CUFFT_D2Z;
    case WEFT_TRANSFORM_C2R:
        return single ? WEFT_CUFFT_C2R : WEFT_CUFFT_Z2D;
    default:
        return single ? WEFT_CUFFT_C2C : WEFT_CUFFT_Z2Z;
    }
}

/* Makes one of cuFFT's plans, without memory of its own. *work becomes the size of its work area if
 * that is larger. */
static weft_status make_handle(weft_engine_plan *plan, weft_cufft_pass *pass, size_t *work) {
    const weft_cufft_library *l = plan->library;
    int *handle = &plan->handle[plan->handles];
    size_t bytes = 0;
    WEFT_TRY(weft_cufft_check(l->create(handle), "no plan"));
    plan->handles++;
    WEFT_TRY(weft_cufft_check(l->set_auto_allocation(*handle, 0), "no plan"));
    WEFT_TRY(weft_cufft_check(
        l->make_plan_many(*handle, pass->rank, pass->n, pass->in_embed, pass->in_stride,
                          pass->in_distance, pass->out_embed, pass->out_stride, pass->out_distance,
                          type_of(pass->kind, plan->precision), pass->batch, &bytes),
        "no plan for this transform"));
    if (bytes > *work) *work = bytes;
    return WEFT_SUCCESS;
}

static size_t aligned(size_t bytes) {
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static weft_status make_handles(weft_engine_plan *plan, size_t *bytes) {
    weft_cufft_layout *layout = &plan->layout;
    size_t number = weft_number_bytes(plan->precision), work = 0;
    for (int p = 0; p < layout->passes; p++) WEFT_TRY(make_handle(plan, &layout->pass[p], &work));
    /* An execution fails if the work area, even one of no bytes, begins at the address of its
     * data. */
    plan->kept_at = aligned(work > 0 ? work : 1);
    plan->gathered_at = plan->kept_at + aligned((size_t)layout->kept_elements * 2 * number);
    size_t needed = plan->gathered_at + aligned((size_t)layout->gathered_numbers * number), grown;
    WEFT_TRY(plan->place.ops->share(&plan->place, needed, &grown));
    *bytes = sizeof *plan + grown;
    return WEFT_SUCCESS;
}

static void cufft_destroy(weft_engine_plan *plan) {
    if (!plan) return;
    if (plan->handles > 0 && weft_cufft_enter(&plan->place) == WEFT_SUCCESS) {
        for (int h = 0; h < plan->handles; h++) plan->library->destroy(plan->handle[h]);
        weft_cufft_leave(&plan->place);
    }
    plan->place.ops->close(&plan->place);
    free(plan);
}

static weft_status cufft_plan(const weft_transform *t, const weft_device_handle *device,
                              weft_engine_plan **out, size_t *bytes) {
    weft_cufft_layout layout;
    WEFT_TRY(check(t, device->ops, &layout));
    weft_engine_plan *plan = calloc(1, sizeof *plan);
    if (!plan) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "cuFFT engine: no memory for a plan");
    plan->library = weft_cufft_open();
    plan->place = (weft_cufft_place){.ops = device->ops->id == WEFT_CUDA ? &weft_cufft_on_cuda
                                                                         : &weft_cufft_on_openmp,
                                     .device = device->state,
                                     .plan = plan,
                                     .enqueue = run_passes};
    plan->layout = layout;
    plan->precision = t->precision;
    plan->inverse = t->kind == WEFT_TRANSFORM_C2C ? t->direction == WEFT_INVERSE
                                                  : t->kind == WEFT_TRANSFORM_C2R;
    weft_status status = plan->place.ops->open(&plan->place);
    if (status == WEFT_SUCCESS) status = weft_cufft_enter(&plan->place);
    if (status == WEFT_SUCCESS) {
        status = make_handles(plan, bytes);
        weft_cufft_leave(&plan->place);
    }
    if (status != WEFT_SUCCESS) {
        cufft_destroy(plan);
        return status;
    }
    *out = plan;
    return WEFT_SUCCESS;
}

/* ---- execution ---- */

/* Checks the alignment of arrays, since cuFFT loads and stores real numbers as if they were
 * complex. */
static weft_status check_alignment(const weft_engine_plan *plan, const void *in, const void *out) {
    const size_t pair = 2 * weft_number_bytes(plan->precision);
    if (((uintptr_t)in | (uintptr_t)out) % pair == 0) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                     "cuFFT engine: buffers must be aligned to %zu bytes", pair);
}

static weft_status cufft_execute(weft_engine_plan *plan, const weft_device_handle *device,
                                 weft_queue *queue, const void *in, void *out) {
    const weft_cufft_layout *layout = &plan->layout;
    weft_device_state *state = device->state;
    const arrays a = arrays_of(plan, in, out);
    const weft_transfer here = WEFT_DEVICE_TO_DEVICE;
    if (layout->whole) return device->ops->copy(state, queue, &layout->whole_copy, in, out, here);
    WEFT_TRY(check_alignment(plan, in, out));
    if (layout->keep)
        WEFT_TRY(
            device->ops->copy(state, queue, &layout->keep_copy, in, a.at[WEFT_CUFFT_KEPT], here));
    if (layout->gather)
        WEFT_TRY(device->ops->copy(state, queue, &layout->gather_copy, in,
                                   a.at[WEFT_CUFFT_GATHERED], here));
    WEFT_TRY(plan->place.ops->run(&plan->place, queue, in, out));
    if (!layout->scatter) return WEFT_SUCCESS;
    return device->ops->copy(state, queue, &layout->scatter_copy, a.at[WEFT_CUFFT_GATHERED], out,
                             here);
}

const weft_engine_ops weft_engine_cufft = {.name = "cufft",
                                           .id = WEFT_ENGINE_CUFFT,
                                           .wants_pairs = true,
                                           .probe = cufft_probe,
                                           .supports = cufft_supports,
                                           .plan = cufft_plan,
                                           .destroy = cufft_destroy,
                                           .execute = cufft_execute};
