/*
 * The cuFFT of host_cuda.h: the reference engine behind cuFFT's interface. Refuses what cuFFT would
 * refuse, or crash over: embedded rows shorter than the data, real arrays that are not aligned as
 * complex ones, a work area that was not given. Complex to real spoils its input, and uses the
 * imaginary parts that spectra of real data do not have.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cufft/library.h"
#include "engine/engine.h"
#include "host_cuda.h"

enum {
    SUCCESS = 0,
    INVALID_PLAN = 1,
    ALLOC_FAILED = 2,
    INVALID_VALUE = 4,
    EXEC_FAILED = 6,
    INVALID_SIZE = 8
};
enum { PLANS = 4096, WORK_BYTES = 1000 };

extern const weft_engine_ops weft_engine_reference;

typedef struct fft_plan {
    bool used, made, self_allocating;
    int type;
    weft_transform transform;
    weft_engine_plan *engine[2][2]; /* [inverse][in place], made when first executed */
    void *stream, *work;
} fft_plan;

static fft_plan plans[PLANS];

/* The device that the reference engine computes on: this one, at once. */
static weft_status run_now(weft_device_state *device, weft_queue *queue,
                           weft_device_function function, void *argument, const void *in,
                           void *out) {
    (void)device, (void)queue;
    return function(argument, in, out);
}

static const weft_device_ops host_ops = {.name = "host", .run = run_now};
static const weft_device_handle host = {.ops = &host_ops};

static fft_plan *find(int plan) {
    return plan >= 0 && plan < PLANS && plans[plan].used ? &plans[plan] : NULL;
}

EXPORTED int cufftGetProperty(int which, int *value) {
    *value = which == 0 ? 12 : 0;
    return SUCCESS;
}

EXPORTED int cufftCreate(int *plan) {
    for (*plan = 0; *plan < PLANS; ++*plan) {
        if (plans[*plan].used) continue;
        plans[*plan] = (fft_plan){.used = true, .self_allocating = true};
        return host_context_is_current() ? SUCCESS : INVALID_PLAN;
    }
    return ALLOC_FAILED;
}

EXPORTED int cufftDestroy(int plan) {
    fft_plan *p = find(plan);
    if (!p) return INVALID_PLAN;
    for (int i = 0; i < 4; i++)
        if (p->engine[i / 2][i % 2]) weft_engine_reference.destroy(p->engine[i / 2][i % 2]);
    p->used = false;
    return SUCCESS;
}

EXPORTED int cufftSetAutoAllocation(int plan, int automatic) {
    if (!find(plan)) return INVALID_PLAN;
    plans[plan].self_allocating = automatic != 0;
    return SUCCESS;
}

EXPORTED int cufftSetWorkArea(int plan, void *area) {
    if (!find(plan) || !host_is_device(area, WORK_BYTES)) return INVALID_VALUE;
    plans[plan].work = area;
    return SUCCESS;
}

EXPORTED int cufftSetStream(int plan, void *stream) {
    if (!find(plan)) return INVALID_PLAN;
    plans[plan].stream = stream;
    return SUCCESS;
}

/* The dimensions of one side; false where a row is shorter than what it holds. */
static bool read_side(weft_transform *t, const long long *embed, long long stride, bool halved,
                      bool output) {
    for (int d = t->dims - 1; d >= 0; d--) {
        int64_t n = halved && d == t->dims - 1 ? t->dim[d].n / 2 + 1 : t->dim[d].n;
        if (d > 0 && embed[d] < n) return false;
        *(output ? &t->dim[d].out_stride : &t->dim[d].in_stride) = stride;
        stride *= embed[d];
    }
    return true;
}

EXPORTED int cufftMakePlanMany64(int plan, int rank, long long *n, long long *in_embed,
                                 long long in_stride, long long in_distance, long long *out_embed,
                                 long long out_stride, long long out_distance, int type,
                                 long long batch, size_t *work_bytes) {
    fft_plan *p = find(plan);
    if (!p || p->made) return INVALID_PLAN;
    if (rank < 1 || rank > 3 || batch < 1 || !in_embed || !out_embed) return INVALID_VALUE;
    bool from_real = type == WEFT_CUFFT_R2C || type == WEFT_CUFFT_D2Z;
    bool to_real = type == WEFT_CUFFT_C2R || type == WEFT_CUFFT_Z2D;
    weft_transform *t = &p->transform;
    *t = (weft_transform){.kind = from_real ? WEFT_TRANSFORM_R2C
                                  : to_real ? WEFT_TRANSFORM_C2R
                                            : WEFT_TRANSFORM_C2C,
                          .precision = type < WEFT_CUFFT_Z2Z ? WEFT_SINGLE : WEFT_DOUBLE,
                          .dims = rank,
                          .threads = 1,
                          .loops = 1,
                          .loop = {{batch, in_distance, out_distance}}};
    for (int d = 0; d < rank; d++) {
        if (n[d] < 1) return INVALID_SIZE;
        t->dim[d].n = n[d];
    }
    if (!read_side(t, in_embed, in_stride, to_real, false) ||
        !read_side(t, out_embed, out_stride, from_real, true))
        return INVALID_VALUE;
    p->made = true;
    p->type = type;
    *work_bytes = WORK_BYTES;
    return SUCCESS;
}

/* Adds the imaginary parts of the numbers that are their own conjugates in spectra of real data to
 * the real parts, which makes no difference where they are rounding errors. */
static void use_imaginary_parts(const weft_transform *t, void *in) {
    for (int64_t line = 0; line < t->loop[0].n; line++)
        for (int which = 0; which < 1 << t->dims; which++) {
            int64_t at = line * t->loop[0].in_stride;
            bool exists = true;
            for (int d = 0; d < t->dims; d++) {
                const bool middle = which >> d & 1;
                exists = exists && !(middle && t->dim[d].n % 2 != 0);
                at += middle ? t->dim[d].n / 2 * t->dim[d].in_stride : 0;
            }
            if (!exists) continue;
            if (t->precision == WEFT_SINGLE)
                ((float *)in)[2 * at] += ((float *)in)[2 * at + 1];
            else
                ((double *)in)[2 * at] += ((double *)in)[2 * at + 1];
        }
}

typedef struct execution {
    fft_plan *plan;
    void *in, *out, *work;
    int direction;
} execution;

static void execute(void *argument) {
    execution e = *(execution *)argument;
    weft_transform *t = &e.plan->transform;
    const bool inverse = e.direction != WEFT_CUFFT_FORWARD;
    weft_engine_plan **engine = &e.plan->engine[inverse][e.in == e.out];
    size_t unused;
    memset(e.work, 0xff, WORK_BYTES);
    t->direction = inverse ? WEFT_INVERSE : WEFT_FORWARD;
    t->in_place = e.in == e.out;
    if (!*engine && weft_engine_reference.plan(t, &host, engine, &unused) != WEFT_SUCCESS) abort();
    if (t->kind == WEFT_TRANSFORM_C2R) use_imaginary_parts(t, e.in);
    weft_engine_reference.execute(*engine, &host, NULL, e.in, e.out);
    if (t->kind != WEFT_TRANSFORM_C2R) return;
    if (t->precision == WEFT_SINGLE)
        *(float *)e.in = NAN;
    else
        *(double *)e.in = NAN;
}

EXPORTED int cufftXtExec(int plan, void *in, void *out, int direction) {
    fft_plan *p = find(plan);
    if (!p || !p->made || !p->stream || !host_context_is_current()) return INVALID_PLAN;
    size_t pair = 2 * (p->transform.precision == WEFT_SINGLE ? sizeof(float) : sizeof(double));
    if (p->self_allocating || !host_is_device(p->work, WORK_BYTES) || !host_is_device(in, 1) ||
        !host_is_device(out, 1) || ((uintptr_t)in | (uintptr_t)out) % pair != 0)
        return EXEC_FAILED;
    const execution e = {p, in, out, p->work, direction};
    return host_stream_put(p->stream, execute, &e, sizeof e) == 0 ? SUCCESS : EXEC_FAILED;
}
