/* Target regions that copy and scale. */
#include "device/openmp/kernels.h"

#include "device/copy_tile.h"

enum { MOST_AXES = WEFT_AXES + 1, MOST_UNITS = 1 << 30 /* of a kernel */ };

/* A copy in units: loops, slowest first, the last over the units of a cell. */
typedef struct unit_copy {
    uint32_t units;
    int axes;
    uint32_t n[MOST_AXES];
    int64_t src[MOST_AXES], dst[MOST_AXES]; /* steps in bytes */
} unit_copy;

/* Units are moved as bytes, whatever they are. */
typedef uint8_t __attribute__((may_alias)) unit1;
typedef uint16_t __attribute__((may_alias)) unit2;
typedef uint32_t __attribute__((may_alias)) unit4;
typedef uint64_t __attribute__((may_alias)) unit8;
typedef struct __attribute__((may_alias)) unit16 {
    uint64_t part[2];
} unit16;

#define COPY_UNITS(bytes)                                                                          \
    static void copy_units_##bytes(const weft_openmp_processor *p, const unit_copy *copy,          \
                                   const char *src, char *dst) {                                   \
        const int device = p->number, threads = p->threads;                                        \
        const unit_copy c = *copy;                                                                 \
        WEFT_OPENMP_ON_DEVICE(firstprivate(c) is_device_ptr(src, dst))                             \
        for (uint32_t i = 0; i < c.units; i++) {                                                   \
            uint32_t rest = i;                                                                     \
            int64_t from = 0, to = 0;                                                              \
            for (int a = c.axes - 1; a > 0; a--) {                                                 \
                const uint32_t index = rest % c.n[a];                                              \
                rest /= c.n[a];                                                                    \
                from += index * c.src[a];                                                          \
                to += index * c.dst[a];                                                            \
            }                                                                                      \
            from += rest * c.src[0];                                                               \
            to += rest * c.dst[0];                                                                 \
            *(unit##bytes *)(void *)(dst + to) = *(const unit##bytes *)(const void *)(src + from); \
        }                                                                                          \
    }

COPY_UNITS(1)
COPY_UNITS(2)
COPY_UNITS(4)
COPY_UNITS(8)
COPY_UNITS(16)

static void copy_units(const weft_openmp_processor *p, const weft_byte_copy *copy, int64_t unit) {
    static void (*const kernels[])(const weft_openmp_processor *, const unit_copy *, const char *,
                                   char *) = {copy_units_1, copy_units_2, copy_units_4,
                                              copy_units_8, copy_units_16};
    unit_copy c = {.units = (uint32_t)(copy->cell / unit), .axes = copy->axes};
    for (int a = 0; a < copy->axes; a++) {
        c.n[a] = (uint32_t)copy->axis[a].n;
        c.src[a] = copy->axis[a].src;
        c.dst[a] = copy->axis[a].dst;
        c.units *= c.n[a];
    }
    c.n[c.axes] = (uint32_t)(copy->cell / unit);
    c.src[c.axes] = c.dst[c.axes] = unit;
    c.axes++;
    int kernel = 0;
    while (1 << kernel < unit) kernel++;
    kernels[kernel](p, &c, copy->src, copy->dst);
}

/* Kernels count with 32 bits, so larger copies are cut along their slowest axis. */
static void copy_parts(const weft_openmp_processor *p, const weft_byte_copy *copy, int64_t unit) {
    const int64_t most = MOST_UNITS * unit;
    weft_byte_copy part = *copy;
    int64_t inner = copy->cell;
    for (int a = 1; a < copy->axes; a++) inner *= copy->axis[a].n;
    if (copy->axes > 0 && inner > most) { /* one index at a time */
        part.axes--;
        for (int a = 0; a < part.axes; a++) part.axis[a] = copy->axis[a + 1];
        for (int64_t i = 0; i < copy->axis[0].n; i++) {
            copy_parts(p, &part, unit);
            part.src += copy->axis[0].src;
            part.dst += copy->axis[0].dst;
        }
        return;
    }
    const bool cell = copy->axes == 0;
    const int64_t all = cell ? copy->cell : copy->axis[0].n, step = cell ? most : most / inner;
    for (int64_t i = 0; i < all; i += step) {
        const int64_t count = all - i < step ? all - i : step;
        part.src = copy->src + i * (cell ? 1 : copy->axis[0].src);
        part.dst = copy->dst + i * (cell ? 1 : copy->axis[0].dst);
        *(cell ? &part.cell : &part.axis[0].n) = count;
        copy_units(p, &part, unit);
    }
}

void weft_openmp_copy_kernel(const weft_openmp_processor *p, const weft_byte_copy *copy) {
    copy_parts(p, copy, INT64_C(1) << weft_copy_unit(copy));
}

static void scale_doubles(const weft_openmp_processor *p, double *data, int64_t count,
                          double factor) {
    const int device = p->number, threads = p->threads;
    WEFT_OPENMP_ON_DEVICE(is_device_ptr(data))
    for (int64_t i = 0; i < count; i++) data[i] *= factor;
}

/* The factor keeps its double precision, so that each value is rounded once. */
static void scale_floats(const weft_openmp_processor *p, float *data, int64_t count,
                         double factor) {
    const int device = p->number, threads = p->threads;
    WEFT_OPENMP_ON_DEVICE(is_device_ptr(data))
    for (int64_t i = 0; i < count; i++) data[i] = (float)((double)data[i] * factor);
}

void weft_openmp_scale_kernel(const weft_openmp_processor *p, weft_precision precision, void *data,
                              int64_t count, double factor) {
    if (precision == WEFT_SINGLE)
        scale_floats(p, data, count, factor);
    else
        scale_doubles(p, data, count, factor);
}
