/*
 * The strided copy, for units of one size: UNIT is their type, UNIT_BYTES how many bytes they have,
 * and this text is there once for each size. Rows are moved as they lie; cells whose neighbours in
 * the source are not neighbours in the destination pass through a tile in local memory, so that
 * both sides are touched in runs. Each thread has several units in flight: all loads are issued
 * before the first store.
 */
#ifndef WEFT_COPY_PLACES
#define WEFT_COPY_PLACES

FUNCTION unsigned int divide(unsigned int x, weft_copy_divisor by) {
    return (MULTIPLY_HIGH(x, by.multiplier) + x) >> by.shift;
}

typedef struct place {
    long64 src, dst;
} place;

FUNCTION long64 lesser(long64 a, long64 b) {
    return a < b ? a : b;
}

/* Where index number `index` of the loops lies on both sides. */
FUNCTION place place_of(const weft_copy_loops *loops, unsigned int index) {
    place at = {0, 0};
    for (int a = loops->axes - 1; a >= 0; --a) {
        unsigned int slower = divide(index, loops->extent[a]);
        long64 i = index - slower * loops->extent[a].n;
        at.src += i * loops->src[a];
        at.dst += i * loops->dst[a];
        index = slower;
    }
    return at;
}

/* The units of a tile are numbered cell first, then along one axis, then along the other, then over
 * the batch: `near` is the axis whose cells are neighbours on the side at hand. */
typedef struct tile_index {
    int unit, near, far;
    unsigned int batch;
} tile_index;

FUNCTION tile_index split(int number, int log_cell, int log_near, int log_far) {
    tile_index index;
    index.unit = number & ((1 << log_cell) - 1);
    index.near = (number >> log_cell) & ((1 << log_near) - 1);
    index.far = (number >> (log_cell + log_near)) & ((1 << log_far) - 1);
    index.batch = (unsigned int)number >> (log_cell + log_near + log_far);
    return index;
}

#define JOINED(name, bytes) name##_##bytes
#define NAMED(name, bytes) JOINED(name, bytes)
#define COPY_UNITS WEFT_COPY_PER_THREAD(UNIT_BYTES)
#define COPY_LOG_TILE WEFT_COPY_LOG_TILE(UNIT_BYTES)
#endif

KERNEL(NAMED(weft_copy_rows, UNIT_BYTES))
(MEMORY(const UNIT, src), MEMORY(UNIT, dst), const weft_copy_rows copy) {
    OPEN(const UNIT, src);
    OPEN(UNIT, dst);
    unsigned int group = divide(GROUP(0), copy.parts);
    unsigned int part = GROUP(0) - group * copy.parts.n;
    unsigned int side_by_side = THREAD & ((1u << copy.log_width) - 1);
    long64 i = ((long64)part << copy.log_width) + side_by_side;
    unsigned int step = THREADS >> copy.log_width;
    unsigned int row =
        group * step * WEFT_COPY_ROWS_PER_THREAD + ((unsigned int)THREAD >> copy.log_width);
    if (i >= copy.length) return;

    UNIT unit[WEFT_COPY_ROWS_PER_THREAD];
    long64 to[WEFT_COPY_ROWS_PER_THREAD];
    UNROLL
    for (int k = 0; k < WEFT_COPY_ROWS_PER_THREAD; ++k) {
        if (row + k * step >= copy.rows.count) continue;
        place at = place_of(&copy.rows, row + k * step);
        unit[k] = src[at.src + i];
        to[k] = at.dst + i;
    }
    UNROLL
    for (int k = 0; k < WEFT_COPY_ROWS_PER_THREAD; ++k)
        if (row + k * step < copy.rows.count) dst[to[k]] = unit[k];
}

KERNEL(NAMED(weft_copy_tiles, UNIT_BYTES))
(MEMORY(const UNIT, src), MEMORY(UNIT, dst), const weft_copy_tiles copy) {
    /* One unit of padding behind each run along p, so that runs along q meet different banks. Runs
     * have two units or more. */
    LOCAL_ARRAY(UNIT, tile, (1 << COPY_LOG_TILE) * 3 / 2);
    OPEN(const UNIT, src);
    OPEN(UNIT, dst);
    const int log_run = copy.log_cell + copy.log_p, log_q = copy.log_q;
    unsigned int rest = divide(GROUP(0), copy.p_tiles);
    unsigned int group = divide(rest, copy.q_tiles);
    const long64 p0 = (long64)(GROUP(0) - rest * copy.p_tiles.n) << copy.log_p;
    const long64 q0 = (long64)(rest - group * copy.q_tiles.n) << log_q;
    const unsigned int first = group << copy.log_batch;
    const place whole = place_of(&copy.outer, first);

    /* Then from one unit of a thread to its next only the far axis goes on, by as many as there are
     * threads for. */
    const int run_step = THREADS >> log_run, turned_step = THREADS >> (copy.log_cell + log_q);
    const bool even = copy.log_batch == 0 && run_step > 0 && turned_step > 0;

    UNIT unit[COPY_UNITS];
    if (even) {
        const tile_index i = split(THREAD, copy.log_cell, copy.log_p, log_q);
        const bool within = i.batch == 0 && i.unit < copy.cell && p0 + i.near < copy.p_n;
        const long64 next = run_step * copy.q_src;
        const long64 left = within ? lesser(copy.q_n - q0, 1 << log_q) - i.far : 0;
        const long64 from =
            whole.src + (p0 + i.near) * copy.p_src + (q0 + i.far) * copy.q_src + i.unit;
        UNROLL
        for (int k = 0; k < COPY_UNITS; ++k)
            if (k * run_step < left) unit[k] = src[from + k * next];
    } else {
        UNROLL
        for (int k = 0; k < COPY_UNITS; ++k) {
            int number = THREAD + k * THREADS;
            tile_index i = split(number, copy.log_cell, copy.log_p, log_q);
            if (i.unit >= copy.cell || p0 + i.near >= copy.p_n || q0 + i.far >= copy.q_n ||
                i.batch >> copy.log_batch > 0 || first + i.batch >= copy.outer.count)
                continue;
            const place start =
                copy.log_batch == 0 ? whole : place_of(&copy.outer, first + i.batch);
            const long64 from = start.src + (p0 + i.near) * copy.p_src;
            unit[k] = src[from + (q0 + i.far) * copy.q_src + i.unit];
        }
    }
    UNROLL
    for (int k = 0; k < COPY_UNITS; ++k) {
        int number = THREAD + k * THREADS;
        tile[number + (number >> log_run)] = unit[k];
    }
    BARRIER();
    if (even) {
        const tile_index i = split(THREAD, copy.log_cell, log_q, copy.log_p);
        const bool within = i.batch == 0 && i.unit < copy.cell && q0 + i.near < copy.q_n;
        const long64 next = turned_step * copy.p_dst;
        const long64 left = within ? lesser(copy.p_n - p0, 1 << copy.log_p) - i.far : 0;
        const long64 to =
            whole.dst + (p0 + i.far) * copy.p_dst + (q0 + i.near) * copy.q_dst + i.unit;
        const int loaded = (i.near << log_run) + i.near + (i.far << copy.log_cell) + i.unit;
        UNROLL
        for (int k = 0; k < COPY_UNITS; ++k)
            if (k * turned_step < left)
                dst[to + k * next] = tile[loaded + k * (turned_step << copy.log_cell)];
    } else {
        UNROLL
        for (int k = 0; k < COPY_UNITS; ++k) {
            int number = THREAD + k * THREADS;
            tile_index i = split(number, copy.log_cell, log_q, copy.log_p);
            if (i.unit >= copy.cell || p0 + i.far >= copy.p_n || q0 + i.near >= copy.q_n ||
                i.batch >> copy.log_batch > 0 || first + i.batch >= copy.outer.count)
                continue;
            const place start =
                copy.log_batch == 0 ? whole : place_of(&copy.outer, first + i.batch);
            int loaded = ((((int)i.batch << log_q) + i.near) << copy.log_p) + i.far;
            loaded = (loaded << copy.log_cell) + i.unit;
            dst[start.dst + (p0 + i.far) * copy.p_dst + (q0 + i.near) * copy.q_dst + i.unit] =
                tile[loaded + (loaded >> log_run)];
        }
    }
}

#undef UNIT
#undef UNIT_BYTES
