/*
 * The FFTW engine: one guru plan for the whole batch, so that FFTW can optimize over all of it.
 * Loops are passed as they are, since FFTW removes, sorts and merges them itself.
 */
#include "engine/engine.h"
#include "engine/extent.h"
#include "engine/fftw/library.h"
#include "engine/fftw/wisdom.h"
#include "support/axis.h"
#include "support/error.h"
#include "support/host_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* There are two plans, since FFTW must know at planning time whether addresses are aligned for its
 * vector loads; `unaligned` is for callers' buffers that are not. */
struct weft_engine_plan {
    const weft_fftw_library *library;
    weft_fftw_execute execute;
    weft_fftw_plan aligned, unaligned;
    bool turns[2];            /* lines of the input, and of the output, have aligned frequencies */
    weft_transform transform; /* of which only the shape is used */
};

static weft_status fftw_probe(const char **description) {
    const weft_fftw_library *library = weft_fftw_open(WEFT_DOUBLE);
    if (!library) return WEFT_ERROR_UNSUPPORTED;
    if (description) *description = library->description;
    return WEFT_SUCCESS;
}

static bool runs_backwards(const weft_dimension *dimension, int count) {
    for (int i = 0; i < count; i++)
        if (dimension[i].in_stride < 0 || dimension[i].out_stride < 0) return true;
    return false;
}

static bool has_aligned(const weft_transform *t, int type) {
    for (int d = 0; d < t->dims && t->kind == WEFT_TRANSFORM_R2R; d++)
        if ((int)t->type[d] == type) return true;
    return false;
}

static weft_status fftw_supports(const weft_transform *transform, const weft_device_ops *device) {
    if (!device->run)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "FFTW engine: device %s cannot run host code; choose another engine",
                         device->name);
    if (!weft_fftw_open(transform->precision)) return WEFT_ERROR_UNSUPPORTED;
    if (runs_backwards(transform->dim, transform->dims) ||
        runs_backwards(transform->loop, transform->loops)) /* 3.3.10 calls itself without end */
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "FFTW engine: strides below 0, of which FFTW's planner makes no plan; "
                         "choose another engine, or copy the array");
    if (transform->kind == WEFT_TRANSFORM_R2R && !weft_fftw_open(transform->precision)->plan_r2r)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "FFTW engine: %s has no real-to-real transforms; choose another engine",
                         weft_fftw_open(transform->precision)->version);
    if (transform->in_place && transform->kind != WEFT_TRANSFORM_C2C &&
        transform->kind != WEFT_TRANSFORM_R2R)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "FFTW engine: a batch of real transforms in place; use two buffers");
    if (has_aligned(transform, WEFT_DST3_ALIGNED) && !transform->destroy_input &&
        !transform->in_place)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "FFTW engine: cannot keep the input of a sine transform from aligned "
                         "frequencies; let it be overwritten");
    if (transform->kind == WEFT_TRANSFORM_C2R && transform->dims > 1 && !transform->destroy_input)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "FFTW engine: cannot keep the input of a complex-to-real transform of %d "
                         "dimensions; do the last dimension on its own, or let it be overwritten",
                         transform->dims);
    return WEFT_SUCCESS;
}

/* ---- arrays to plan with ---- */

typedef struct planning_array {
    void *mapping; /* NULL where there is none */
    size_t bytes;
    void *base; /* element 0 of the view */
} planning_array;

/*
 * Maps an array as large as the caller's, since MEASURE and PATIENT run transforms on it. A new
 * mapping is zero (no denormals or NaN slow the timing), page-aligned, and returned to the system
 * after planning. ESTIMATE never touches the array, which then costs address space only.
 */
static weft_status map_planning_array(const weft_transform *transform, bool output,
                                      planning_array *array) {
    const weft_extent e = weft_extent_of(transform, output);
    size_t element = weft_transform_element_bytes(transform, output);
    int64_t told = output ? transform->out_elements : transform->in_elements;
    int64_t ahead = (-e.lowest + 7) / 8 * 8; /* keeps element 0 aligned */
    int64_t elements = (told > e.highest + 1 ? told : e.highest + 1) + ahead;
    size_t bytes;
    if (__builtin_mul_overflow((size_t)elements, element, &bytes))
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "FFTW engine: the array exceeds memory");
    /* FFTW aborts the process if it gets no memory for its tables, so memory is checked first. */
    WEFT_TRY(weft_host_memory_check("FFTW engine: an array", bytes, "use more ranks"));
    int reserve = transform->effort == WEFT_ESTIMATE ? MAP_NORESERVE : 0;
    void *mapping =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | reserve, -1, 0);
    if (mapping == MAP_FAILED)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                         "FFTW engine: no memory for %zu bytes to plan with; use effort estimate",
                         bytes);
    *array = (planning_array){mapping, bytes, (char *)mapping + (size_t)ahead * element};
    return WEFT_SUCCESS;
}

static void unmap_planning_array(planning_array *array) {
    if (array->mapping) munmap(array->mapping, array->bytes);
}

/* ---- plans ---- */

static weft_fftw_plan create_guru(const weft_fftw_library *library, const weft_transform *transform,
                                  void *in, void *out, unsigned flags) {
    weft_fftw_iodim dim[WEFT_MAX_RANK], loop[WEFT_AXES];
    int kinds[WEFT_MAX_RANK];
    for (int d = 0; d < transform->dims; d++)
        dim[d] = (weft_fftw_iodim){transform->dim[d].n, transform->dim[d].in_stride,
                                   transform->dim[d].out_stride};
    for (int d = 0; d < transform->loops; d++)
        loop[d] = (weft_fftw_iodim){transform->loop[d].n, transform->loop[d].in_stride,
                                    transform->loop[d].out_stride};
    flags |= transform->destroy_input ? WEFT_FFTW_DESTROY_INPUT : WEFT_FFTW_PRESERVE_INPUT;
    switch (transform->kind) {
    case WEFT_TRANSFORM_R2C:
        return library->plan_r2c(transform->dims, dim, transform->loops, loop, in, out, flags);
    case WEFT_TRANSFORM_C2R:
        return library->plan_c2r(transform->dims, dim, transform->loops, loop, in, out, flags);
    case WEFT_TRANSFORM_R2R:
        for (int d = 0; d < transform->dims; d++)
            kinds[d] = weft_fftw_kind_of(weft_axis_in_order(transform->type[d]));
        return library->plan_r2r(transform->dims, dim, transform->loops, loop, in, out, kinds,
                                 flags);
    default:
        return library->plan_c2c(
            transform->dims, dim, transform->loops, loop, in, out,
            transform->direction == WEFT_FORWARD ? WEFT_FFTW_FORWARD : WEFT_FFTW_BACKWARD, flags);
    }
}

/* Makes the best plan that the effort allows. New measurements are written to the wisdom file. */
static weft_fftw_plan create_aligned(const weft_fftw_library *library,
                                     const weft_transform *transform, void *in, void *out) {
    if (transform->effort == WEFT_ESTIMATE)
        return create_guru(library, transform, in, out, WEFT_FFTW_ESTIMATE);
    unsigned flags = transform->effort == WEFT_PATIENT ? (unsigned)WEFT_FFTW_PATIENT
                                                       : (unsigned)WEFT_FFTW_MEASURE;
    weft_fftw_wisdom_import(library, transform->precision);
    weft_fftw_plan plan = create_guru(library, transform, in, out, flags | WEFT_FFTW_WISDOM_ONLY);
    if (plan) return plan;
    plan = create_guru(library, transform, in, out, flags);
    if (plan) weft_fftw_wisdom_export(library, transform->precision);
    return plan;
}

/* Makes both plans while the planner is locked, and restores the program's number of planner
 * threads. */
static void create_plans(weft_engine_plan *plan, const weft_transform *transform, void *in,
                         void *out) {
    const weft_fftw_library *library = plan->library;
    weft_fftw_planner_lock();
    int before = library->planner_nthreads ? library->planner_nthreads() : 1;
    if (library->threads)
        library->plan_with_nthreads(transform->threads > 1 ? transform->threads : 1);
    plan->aligned = create_aligned(library, transform, in, out);
    plan->unaligned =
        create_guru(library, transform, in, out, WEFT_FFTW_ESTIMATE | WEFT_FFTW_UNALIGNED);
    if (library->threads) library->plan_with_nthreads(before);
    weft_fftw_planner_unlock();
}

static void fftw_destroy(weft_engine_plan *plan) {
    if (!plan) return;
    weft_fftw_planner_lock();
    if (plan->aligned) plan->library->destroy_plan(plan->aligned);
    if (plan->unaligned) plan->library->destroy_plan(plan->unaligned);
    weft_fftw_planner_unlock();
    free(plan);
}

static weft_status plan_with_arrays(weft_engine_plan *plan, const weft_transform *transform) {
    planning_array in = {0}, out = {0};
    weft_status status = map_planning_array(transform, false, &in);
    if (status == WEFT_SUCCESS && !transform->in_place)
        status = map_planning_array(transform, true, &out);
    if (status == WEFT_SUCCESS) {
        create_plans(plan, transform, in.base, transform->in_place ? in.base : out.base);
        if (!plan->aligned || !plan->unaligned)
            status = weft_fail(WEFT_ERROR_ENGINE,
                               "FFTW engine: %s has no plan for this transform (%d dimensions, "
                               "last of length %lld); choose another engine",
                               plan->library->version, transform->dims,
                               (long long)transform->dim[transform->dims - 1].n);
    }
    unmap_planning_array(&out);
    unmap_planning_array(&in);
    return status;
}

static weft_status fftw_plan(const weft_transform *transform, const weft_device_handle *device,
                             weft_engine_plan **out, size_t *bytes) {
    WEFT_TRY(fftw_supports(transform, device->ops));
    weft_engine_plan *plan = calloc(1, sizeof *plan);
    if (!plan) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "FFTW engine: no memory for a plan");
    plan->library = weft_fftw_open(transform->precision);
    plan->transform = *transform;
    plan->turns[0] = has_aligned(transform, WEFT_DST3_ALIGNED);
    plan->turns[1] = has_aligned(transform, WEFT_DST2_ALIGNED);
    plan->execute = transform->kind == WEFT_TRANSFORM_C2C   ? plan->library->execute_c2c
                    : transform->kind == WEFT_TRANSFORM_R2C ? plan->library->execute_r2c
                    : transform->kind == WEFT_TRANSFORM_C2R ? plan->library->execute_c2r
                                                            : plan->library->execute_r2r;
    weft_status status = plan_with_arrays(plan, transform);
    if (status != WEFT_SUCCESS) {
        fftw_destroy(plan);
        return status;
    }
    *out = plan;
    *bytes = sizeof *plan; /* FFTW does not tell what its own plans hold */
    return WEFT_SUCCESS;
}

/* ---- aligned frequencies, which FFTW does not have ---- */

static void move_number(char *array, int64_t to, int64_t from, size_t size) {
    memcpy(array + to * (int64_t)size, array + from * (int64_t)size, size);
}

/* The last number of a line becomes its first one or, `back`, the first its last. */
static void turn_line(char *line, int64_t n, int64_t stride, size_t size, bool back) {
    char kept[sizeof(double)];
    const int64_t last = (n - 1) * stride;
    memcpy(kept, line + (back ? 0 : last) * (int64_t)size, size);
    for (int64_t i = 1; i < n; i++)
        if (back)
            move_number(line, (i - 1) * stride, i * stride, size);
        else
            move_number(line, last - (i - 1) * stride, last - i * stride, size);
    memcpy(line + (back ? last : 0) * (int64_t)size, kept, size);
}

/* Turns lines of a side along dimension d: those at all indices of the loops and dimensions from
 * number `at` on, the loops first. */
static void turn_lines(const weft_transform *t, bool output, int d, int at, char *array) {
    const size_t size = weft_number_bytes(t->precision);
    const weft_dimension *along = at < t->loops ? &t->loop[at] : &t->dim[at - t->loops];
    if (at == t->loops + t->dims) {
        turn_line(array, t->dim[d].n, output ? t->dim[d].out_stride : t->dim[d].in_stride, size,
                  !output);
        return;
    }
    if (at == t->loops + d) {
        turn_lines(t, output, d, at + 1, array);
        return;
    }
    const int64_t stride = (output ? along->out_stride : along->in_stride) * (int64_t)size;
    for (int64_t i = 0; i < along->n; i++) turn_lines(t, output, d, at + 1, array + i * stride);
}

static void turn_side(const weft_engine_plan *plan, bool output, void *array) {
    const weft_transform *t = &plan->transform;
    const int type = output ? WEFT_DST2_ALIGNED : WEFT_DST3_ALIGNED;
    for (int d = 0; d < t->dims && plan->turns[output]; d++)
        if ((int)t->type[d] == type) turn_lines(t, output, d, 0, array);
}

/* ---- execution ---- */

static weft_status run_plan(void *argument, const void *in, void *out) {
    const weft_engine_plan *plan = argument;
    void *source =
        (void *)(uintptr_t)in; /* FFTW's prototypes lack const; the plan keeps its input */
    bool aligned =
        plan->library->alignment_of(source) == 0 && plan->library->alignment_of(out) == 0;
    turn_side(plan, false, source);
    plan->execute(aligned ? plan->aligned : plan->unaligned, source, out);
    turn_side(plan, true, out);
    return WEFT_SUCCESS;
}

static weft_status fftw_execute(weft_engine_plan *plan, const weft_device_handle *device,
                                weft_queue *queue, const void *in, void *out) {
    return device->ops->run(device->state, queue, run_plan, plan, in, out);
}

const weft_engine_ops weft_engine_fftw = {.name = "fftw",
                                          .id = WEFT_ENGINE_FFTW,
                                          .probe = fftw_probe,
                                          .supports = fftw_supports,
                                          .plan = fftw_plan,
                                          .destroy = fftw_destroy,
                                          .execute = fftw_execute};
