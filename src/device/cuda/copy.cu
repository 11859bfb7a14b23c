/*
 * The strided copy, compiled at run time for each size of unit. Rows are moved as they lie; cells
 * whose neighbours in the source are not neighbours in the destination pass through a tile in
 * shared memory, so that both sides are touched in runs. Each thread has several units in flight:
 * all loads are issued before the first store.
 */
#include "copy_shape.h"

static __device__ unsigned int divide(unsigned int x, weft_cuda_divisor by) {
    return (__umulhi(x, by.multiplier) + x) >> by.shift;
}

struct place {
    long long src, dst;
};

/* Where index number `index` of the loops lies on both sides. */
static __device__ place place_of(const weft_cuda_loops &loops, unsigned int index) {
    place at = {0, 0};
    for (int a = loops.axes - 1; a >= 0; --a) {
        unsigned int slower = divide(index, loops.extent[a]);
        long long i = index - slower * loops.extent[a].n;
        at.src += i * loops.src[a];
        at.dst += i * loops.dst[a];
        index = slower;
    }
    return at;
}

template <typename Unit> static __device__ void copy_rows(const weft_cuda_rows &copy) {
    const Unit *src = static_cast<const Unit *>(copy.src);
    Unit *dst = static_cast<Unit *>(copy.dst);
    unsigned int group = divide(blockIdx.x, copy.parts);
    unsigned int part = blockIdx.x - group * copy.parts.n;
    unsigned int side_by_side = threadIdx.x & ((1u << copy.log_width) - 1);
    long long i = ((long long)part << copy.log_width) + side_by_side;
    unsigned int step = WEFT_CUDA_THREADS >> copy.log_width;
    unsigned int row = group * step * WEFT_CUDA_PER_THREAD + (threadIdx.x >> copy.log_width);
    if (i >= copy.length) return;

    Unit unit[WEFT_CUDA_PER_THREAD];
    long long to[WEFT_CUDA_PER_THREAD];
#pragma unroll
    for (int k = 0; k < WEFT_CUDA_PER_THREAD; ++k) {
        if (row + k * step >= copy.rows.count) continue;
        place at = place_of(copy.rows, row + k * step);
        unit[k] = src[at.src + i];
        to[k] = at.dst + i;
    }
#pragma unroll
    for (int k = 0; k < WEFT_CUDA_PER_THREAD; ++k)
        if (row + k * step < copy.rows.count) dst[to[k]] = unit[k];
}

/* The units of a tile are numbered cell first, then along one axis, then along the other, then over
 * the batch: `near` is the axis whose cells are neighbours on the side at hand. */
struct tile_index {
    int unit, near, far;
    unsigned int batch;
};

static __device__ tile_index split(int number, int log_cell, int log_near, int log_far) {
    tile_index index;
    index.unit = number & ((1 << log_cell) - 1);
    index.near = (number >> log_cell) & ((1 << log_near) - 1);
    index.far = (number >> (log_cell + log_near)) & ((1 << log_far) - 1);
    index.batch = (unsigned int)number >> (log_cell + log_near + log_far);
    return index;
}

template <typename Unit> static __device__ void copy_tiles(const weft_cuda_tiles &copy) {
    /* One unit of padding behind each run along p, so that runs along q meet different banks. Runs
     * have two units or more. */
    __shared__ Unit tile[(1 << WEFT_CUDA_LOG_TILE) * 3 / 2];
    const Unit *src = static_cast<const Unit *>(copy.src);
    Unit *dst = static_cast<Unit *>(copy.dst);
    const int log_run = copy.log_cell + copy.log_p, log_q = copy.log_q;
    const int log_batch = WEFT_CUDA_LOG_TILE - log_run - log_q;
    unsigned int rest = divide(blockIdx.x, copy.p_tiles);
    unsigned int group = divide(rest, copy.q_tiles);
    const long long p0 = (long long)(blockIdx.x - rest * copy.p_tiles.n) << copy.log_p;
    const long long q0 = (long long)(rest - group * copy.q_tiles.n) << log_q;
    const unsigned int first = group << log_batch;
    const place whole = place_of(copy.outer, first);

    Unit unit[WEFT_CUDA_PER_THREAD];
#pragma unroll
    for (int k = 0; k < WEFT_CUDA_PER_THREAD; ++k) {
        int number = (int)threadIdx.x + k * WEFT_CUDA_THREADS;
        tile_index i = split(number, copy.log_cell, copy.log_p, log_q);
        if (i.unit >= copy.cell || p0 + i.near >= copy.p_n || q0 + i.far >= copy.q_n ||
            first + i.batch >= copy.outer.count)
            continue;
        long long at = log_batch == 0 ? whole.src : place_of(copy.outer, first + i.batch).src;
        unit[k] = src[at + (p0 + i.near) * copy.p_src + (q0 + i.far) * copy.q_src + i.unit];
    }
#pragma unroll
    for (int k = 0; k < WEFT_CUDA_PER_THREAD; ++k) {
        int number = (int)threadIdx.x + k * WEFT_CUDA_THREADS;
        tile[number + (number >> log_run)] = unit[k];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < WEFT_CUDA_PER_THREAD; ++k) {
        int number = (int)threadIdx.x + k * WEFT_CUDA_THREADS;
        tile_index i = split(number, copy.log_cell, log_q, copy.log_p);
        if (i.unit >= copy.cell || p0 + i.far >= copy.p_n || q0 + i.near >= copy.q_n ||
            first + i.batch >= copy.outer.count)
            continue;
        long long at = log_batch == 0 ? whole.dst : place_of(copy.outer, first + i.batch).dst;
        int loaded = (((((int)i.batch << log_q) + i.near) << copy.log_p) + i.far) << copy.log_cell;
        loaded += i.unit;
        dst[at + (p0 + i.far) * copy.p_dst + (q0 + i.near) * copy.q_dst + i.unit] =
            tile[loaded + (loaded >> log_run)];
    }
}

#define KERNELS(bytes, type)                                                                       \
    extern "C" __global__ void __launch_bounds__(WEFT_CUDA_THREADS)                                \
        weft_copy_rows_##bytes(const weft_cuda_rows copy) {                                        \
        copy_rows<type>(copy);                                                                     \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(WEFT_CUDA_THREADS)                                \
        weft_copy_tiles_##bytes(const weft_cuda_tiles copy) {                                      \
        copy_tiles<type>(copy);                                                                    \
    }

KERNELS(1, unsigned char)
KERNELS(2, unsigned short)
KERNELS(4, unsigned int)
KERNELS(8, unsigned long long)
KERNELS(16, uint4)
