/*
 * The cuFFT of host_cuda.h: the defining sum, in double, for small sizes. As cuFFT may, complex to
 * real spoils its input. Over several GPUs, arrays lie in one piece, and permuted order has the
 * first two axes exchanged.
 */
#include "host_cuda.h"

#include "bench/cuda_libraries.h"

#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, INVALID_PLAN = 1, INVALID_VALUE = 4, EXEC_FAILED = 6, INVALID_SIZE = 8 };
enum { PLANS = 64, AXES = 3 };

EXPORTED int cufftGetProperty(int which, int *value);
EXPORTED int cufftCreate(int *plan);
EXPORTED int cufftDestroy(int plan);
EXPORTED int cufftSetStream(int plan, void *stream);
EXPORTED int cufftMakePlanMany64(int plan, int rank, long long *n, long long *in_embed,
                                 long long in_stride, long long in_distance, long long *out_embed,
                                 long long out_stride, long long out_distance, int type,
                                 long long batch, size_t *work_bytes);
EXPORTED int cufftXtExec(int plan, void *in, void *out, int direction);
EXPORTED int cufftMakePlan2d(int plan, int nx, int ny, int type, size_t *work_bytes);
EXPORTED int cufftMakePlan3d(int plan, int nx, int ny, int nz, int type, size_t *work_bytes);
EXPORTED int cufftXtSetGPUs(int plan, int count, int *gpus);
EXPORTED int cufftXtMalloc(int plan, cufft_xt_array **array, int format);
EXPORTED int cufftXtFree(cufft_xt_array *array);
EXPORTED int cufftXtMemcpy(int plan, void *to, void *from, int direction);
EXPORTED int cufftXtExecDescriptor(int plan, cufft_xt_array *in, cufft_xt_array *out, int sign);

/* How one side of a transform lies in memory; extents and strides in its own elements. */
typedef struct side {
    bool real;
    long long n[AXES], stride[AXES], distance;
} side;

typedef struct fft_plan {
    bool used, made, single;
    int type, gpus;
    long long n[AXES], batch; /* leading axes of fewer dimensions are 1 */
    side in, out;
} fft_plan;

static fft_plan plans[PLANS];

static long long points(const fft_plan *p) {
    return p->n[0] * p->n[1] * p->n[2];
}

static complex double load(const fft_plan *p, const side *s, const void *data, long long at) {
    if (s->real) return p->single ? (double)((const float *)data)[at] : ((const double *)data)[at];
    if (!p->single) return ((const complex double *)data)[at];
    return (complex double)((const complex float *)data)[at];
}

static void store(const fft_plan *p, const side *s, void *data, long long at, complex double x) {
    if (s->real && p->single) ((float *)data)[at] = (float)creal(x);
    if (s->real && !p->single) ((double *)data)[at] = creal(x);
    if (!s->real && p->single) ((complex float *)data)[at] = (complex float)x;
    if (!s->real && !p->single) ((complex double *)data)[at] = x;
}

/* An element of the full input; what a half spectrum lacks is the conjugate of its mirror image. */
static complex double element(const fft_plan *p, const void *in, long long offset,
                              const long long i[AXES]) {
    const side *s = &p->in;
    long long j[AXES] = {i[0], i[1], i[2]};
    bool mirrored = i[2] >= s->n[2];
    for (int a = 0; a < AXES && mirrored; a++) j[a] = (p->n[a] - i[a]) % p->n[a];
    complex double x =
        load(p, s, in, offset + j[0] * s->stride[0] + j[1] * s->stride[1] + j[2] * s->stride[2]);
    return mirrored ? conj(x) : x;
}

/* Transforms `full`, row-major, along one axis. */
static void transform_axis(const fft_plan *p, int axis, int sign, complex double *full,
                           complex double *line) {
    long long n = p->n[axis], stride = 1;
    for (int a = axis + 1; a < AXES; a++) stride *= p->n[a];
    for (long long start = 0; start < points(p); start++) {
        if (start / stride % n != 0) continue;
        for (long long k = 0; k < n; k++) {
            line[k] = 0;
            for (long long j = 0; j < n; j++) {
                double turn = sign * 6.283185307179586 * (double)(j * k % n) / (double)n;
                line[k] += full[start + j * stride] * (cos(turn) + I * sin(turn));
            }
        }
        for (long long k = 0; k < n; k++) full[start + k * stride] = line[k];
    }
}

static void transform_one(const fft_plan *p, const void *in, void *out, int sign, long long member,
                          complex double *full) {
    long long i[AXES], count = points(p);
    for (long long f = 0; f < count; f++) {
        i[0] = f / (p->n[1] * p->n[2]), i[1] = f / p->n[2] % p->n[1], i[2] = f % p->n[2];
        full[f] = element(p, in, member * p->in.distance, i);
    }
    for (int axis = 0; axis < AXES; axis++) transform_axis(p, axis, sign, full, full + count);
    for (long long f = 0; f < count; f++) {
        i[0] = f / (p->n[1] * p->n[2]), i[1] = f / p->n[2] % p->n[1], i[2] = f % p->n[2];
        if (i[2] >= p->out.n[2]) continue;
        const long long *stride = p->out.stride;
        long long at = i[0] * stride[0] + i[1] * stride[1] + i[2] * stride[2];
        store(p, &p->out, out, member * p->out.distance + at, full[f]);
    }
}

static int transform(const fft_plan *p, void *in, void *out, int sign) {
    if (p->in.real) sign = CUFFT_FORWARD;
    if (p->out.real) sign = CUFFT_INVERSE;
    complex double *full = malloc((size_t)(2 * points(p)) * sizeof *full);
    if (!full) return EXEC_FAILED;
    for (long long b = 0; b < p->batch; b++) transform_one(p, in, out, sign, b, full);
    free(full);
    if (p->out.real && in != out) store(p, &p->in, in, 0, NAN);
    return SUCCESS;
}

static side make_side(const fft_plan *p, int rank, bool real, bool halved,
                      const long long *embedded, long long stride, long long distance) {
    side s = {.real = real};
    long long all = embedded ? stride : 1;
    for (int a = AXES - 1; a >= 0; a--) {
        int given = a - (AXES - rank);
        s.n[a] = a == AXES - 1 && halved ? p->n[a] / 2 + 1 : p->n[a];
        s.stride[a] = all;
        all *= given < 0 ? 1 : embedded ? embedded[given] : s.n[a];
    }
    s.distance = embedded ? distance : all;
    return s;
}

static fft_plan *find(int plan) {
    return plan >= 0 && plan < PLANS && plans[plan].used ? &plans[plan] : NULL;
}

int cufftGetProperty(int which, int *value) {
    *value = which == 0 ? 12 : which;
    return SUCCESS;
}

int cufftCreate(int *plan) {
    for (*plan = 0; *plan < PLANS; ++*plan) {
        if (plans[*plan].used) continue;
        plans[*plan] = (fft_plan){.used = true};
        return SUCCESS;
    }
    return INVALID_PLAN;
}

int cufftDestroy(int plan) {
    fft_plan *p = find(plan);
    if (p) p->used = false;
    return p ? SUCCESS : INVALID_PLAN;
}

int cufftSetStream(int plan, void *stream) {
    return find(plan) && stream ? SUCCESS : INVALID_PLAN;
}

int cufftMakePlanMany64(int plan, int rank, long long *n, long long *in_embed, long long in_stride,
                        long long in_distance, long long *out_embed, long long out_stride,
                        long long out_distance, int type, long long batch, size_t *work_bytes) {
    fft_plan *p = find(plan);
    if (!p) return INVALID_PLAN;
    if (rank < 1 || rank > AXES || batch < 1) return INVALID_VALUE;
    for (int a = 0; a < AXES; a++) p->n[a] = a < AXES - rank ? 1 : n[a - (AXES - rank)];
    p->single = type < CUFFT_Z2Z;
    p->type = type;
    p->batch = batch;
    bool from_real = type == CUFFT_R2C || type == CUFFT_D2Z;
    bool to_real = type == CUFFT_C2R || type == CUFFT_Z2D;
    p->in = make_side(p, rank, from_real, to_real, in_embed, in_stride, in_distance);
    p->out = make_side(p, rank, to_real, from_real, out_embed, out_stride, out_distance);
    p->made = true;
    *work_bytes = 4096;
    return SUCCESS;
}

int cufftXtExec(int plan, void *in, void *out, int direction) {
    const fft_plan *p = find(plan);
    if (!p || !p->made) return INVALID_PLAN;
    if (!as_host(in) || !as_host(out)) return EXEC_FAILED;
    return transform(p, as_host(in), as_host(out), direction);
}

/* In place, so rows of real numbers are padded. */
static int make_over_gpus(int plan, int rank, long long *n, int type, size_t *work_bytes) {
    fft_plan *p = find(plan);
    long long real[AXES], half[AXES];
    for (int a = 0; a < rank; a++) {
        if (n[a] < 4) return INVALID_SIZE; /* cuFFT wants 32, too much for sums */
        half[a] = a == rank - 1 ? n[a] / 2 + 1 : n[a];
        real[a] = a == rank - 1 ? 2 * half[a] : n[a];
    }
    bool from_real = type == CUFFT_R2C || type == CUFFT_D2Z;
    bool to_real = type == CUFFT_C2R || type == CUFFT_Z2D;
    int status = cufftMakePlanMany64(plan, rank, n,
                                     from_real ? real
                                     : to_real ? half
                                               : n,
                                     1, 0,
                                     to_real     ? real
                                     : from_real ? half
                                                 : n,
                                     1, 0, type, 1, work_bytes);
    for (int g = 0; p && g < p->gpus; g++) work_bytes[g] = 4096;
    return status;
}

int cufftMakePlan2d(int plan, int nx, int ny, int type, size_t *work_bytes) {
    return make_over_gpus(plan, 2, (long long[]){nx, ny}, type, work_bytes);
}

int cufftMakePlan3d(int plan, int nx, int ny, int nz, int type, size_t *work_bytes) {
    return make_over_gpus(plan, 3, (long long[]){nx, ny, nz}, type, work_bytes);
}

int cufftXtSetGPUs(int plan, int count, int *gpus) {
    fft_plan *p = find(plan);
    if (!p || p->made) return INVALID_PLAN;
    for (int g = 0; g < count; g++)
        if (gpus[g] != g) return INVALID_VALUE;
    p->gpus = count;
    return SUCCESS;
}

/* Bytes of the array in place: both sides fit. */
static size_t array_bytes(const fft_plan *p) {
    size_t word = p->single ? sizeof(float) : sizeof(double);
    size_t complex_points =
        (size_t)(p->n[0] * p->n[1]) * (size_t)(p->in.n[2] < p->out.n[2] ? p->in.n[2] : p->out.n[2]);
    return 2 * word * complex_points;
}

int cufftXtMalloc(int plan, cufft_xt_array **array, int format) {
    const fft_plan *p = find(plan);
    if (!p || !p->made || p->gpus < 2) return INVALID_PLAN;
    cufft_xt_array *made = calloc(1, sizeof *made);
    cufft_xt_memory *memory = calloc(1, sizeof *memory);
    void *data = malloc(array_bytes(p));
    if (!made || !memory || !data) abort();
    memory->gpus = p->gpus;
    for (int g = 0; g < p->gpus; g++) memory->size[g] = array_bytes(p) / (size_t)p->gpus;
    memory->data[0] = as_device(data);
    made->memory = memory;
    made->format = format;
    *array = made;
    return SUCCESS;
}

int cufftXtFree(cufft_xt_array *array) {
    free(as_host(array->memory->data[0]));
    free(array->memory);
    free(array);
    return SUCCESS;
}

/* Exchanges the first two axes (of three; the last two are the plan's where it has two). */
static void permute(const fft_plan *p, const char *from, char *to, bool back) {
    int first = p->n[0] > 1 ? 0 : 1;
    size_t rows = (size_t)p->n[first], columns = (size_t)p->n[first + 1];
    if (first == 1) columns = (size_t)(p->in.n[2] < p->out.n[2] ? p->in.n[2] : p->out.n[2]);
    size_t run = array_bytes(p) / (rows * columns);
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++) {
            size_t natural = (r * columns + c) * run, permuted = (c * rows + r) * run;
            memcpy(to + (back ? natural : permuted), from + (back ? permuted : natural), run);
        }
}

int cufftXtMemcpy(int plan, void *to, void *from, int direction) {
    const fft_plan *p = find(plan);
    if (!p || !p->made) return INVALID_PLAN;
    const cufft_xt_array *array = direction == CUFFT_XT_TO_DEVICES ? to : from;
    char *data = as_host(array->memory->data[0]);
    bool permuted = array->format == CUFFT_XT_PERMUTED;
    if (direction == CUFFT_XT_TO_DEVICES && permuted)
        permute(p, from, data, false);
    else if (direction == CUFFT_XT_TO_DEVICES)
        memcpy(data, from, array_bytes(p));
    else if (permuted)
        permute(p, data, to, true);
    else
        memcpy(to, data, array_bytes(p));
    return SUCCESS;
}

int cufftXtExecDescriptor(int plan, cufft_xt_array *in, cufft_xt_array *out, int sign) {
    const fft_plan *p = find(plan);
    if (!p || !p->made || in != out) return INVALID_PLAN;
    bool permuted = in->format == CUFFT_XT_PERMUTED;
    if ((p->in.real && permuted) || (p->out.real && !permuted)) return INVALID_VALUE;
    char *data = as_host(in->memory->data[0]), *other = malloc(array_bytes(p));
    if (!other) return EXEC_FAILED;
    if (permuted)
        permute(p, data, other, true);
    else
        memcpy(other, data, array_bytes(p));
    int status = transform(p, other, other, sign);
    if (permuted)
        memcpy(data, other, array_bytes(p));
    else
        permute(p, other, data, false);
    in->format = permuted ? CUFFT_XT_NATURAL : CUFFT_XT_PERMUTED;
    free(other);
    return status;
}
