/*
 * The strided copy, for units of one size: UNIT is their type, UNIT_BYTES how many bytes they have,
 * and this text is there once for each size. Rows are moved as they lie; cells whose neighbours in
 * the source are not neighbours in the destination pass through tiles in local memory, so that both
 * sides are touched in runs. Where rows begin is worked out once for a group. Each thread has
 * several units in flight: all loads are issued before the first store.
 */
#ifndef WEFT_COPY_PLACES
#define WEFT_COPY_PLACES

FUNCTION unsigned int divide(unsigned int x, weft_copy_divisor by) {
    return (MULTIPLY_HIGH(x, by.multiplier) + x) >> by.shift;
}

typedef struct place {
    long64 src, dst;
} place;

/* The place, on both sides, of index number `index` of the loops. */
FUNCTION place place_of(const weft_copy_axis *axis, weft_copy_loops loops, unsigned int index) {
    place at = {0, 0};
    if (loops.axes == 0) return at;
    for (int a = loops.first + loops.axes - 1; a > loops.first; --a) {
        const unsigned int slower = divide(index, axis[a].extent);
        const long64 i = index - slower * axis[a].extent.n;
        at.src += i * axis[a].src;
        at.dst += i * axis[a].dst;
        index = slower;
    }
    at.src += (long64)index * axis[loops.first].src;
    at.dst += (long64)index * axis[loops.first].dst;
    return at;
}

FUNCTION int lesser(unsigned int a, unsigned int b) {
    return (int)(a < b ? a : b);
}

#define JOINED(name, bytes) name##_##bytes
#define NAMED(name, bytes) JOINED(name, bytes)
#define COPY_UNITS WEFT_COPY_PER_THREAD(UNIT_BYTES)
/* Ends an unrolled loop over steps; it checks their number only every other time. */
#define END_OF(k, steps)                                                                           \
    if ((k) % 2 == 0 && (k) >= (steps)) break
#endif

KERNEL(NAMED(weft_copy_rows, UNIT_BYTES))
(MEMORY(const char, src), MEMORY(char, dst), const weft_copy_rows copy) {
    LOCAL_ARRAY(place, begins, WEFT_COPY_ROWS);
    OPEN(const char, src);
    OPEN(char, dst);
    const int at_once = copy.walk.at_once;
    const unsigned int group = divide(GROUP(0), copy.parts);
    const unsigned int part = GROUP(0) - group * copy.parts.n;
    const unsigned int first = group * at_once * copy.walk.steps;
    const int rows = lesser(at_once * copy.walk.steps, copy.rows.count - first);
    for (int row = THREAD; row < rows; row += THREADS)
        begins[row] = place_of(copy.axis, copy.rows, first + row);
    BARRIER();

    const int row = divide(THREAD, copy.walk.units);
    const long64 i = (long64)part * copy.walk.units.n + (THREAD - row * copy.walk.units.n);
    const int left = row < at_once && i < copy.length ? rows : 0;
    src += i * UNIT_BYTES;
    dst += i * UNIT_BYTES;
    UNIT unit[COPY_UNITS];
    UNROLL
    for (int k = 0; k < COPY_UNITS; ++k) {
        END_OF(k, copy.walk.steps);
        const int r = row + k * at_once;
        if (r < left) unit[k] = *(GLOBAL const UNIT *)(src + begins[r].src);
    }
    UNROLL
    for (int k = 0; k < COPY_UNITS; ++k) {
        END_OF(k, copy.walk.steps);
        const int r = row + k * at_once;
        if (r < left) *(GLOBAL UNIT *)(dst + begins[r].dst) = unit[k];
    }
}

KERNEL(NAMED(weft_copy_tiles, UNIT_BYTES))
(MEMORY(const char, src), MEMORY(char, dst), const weft_copy_tiles copy) {
    LOCAL_ARRAY(UNIT, tile, WEFT_COPY_TILE(UNIT_BYTES));
    LOCAL_ARRAY(place, p_begins, THREADS);
    LOCAL_ARRAY(place, q_begins, THREADS);
    OPEN(const char, src);
    OPEN(char, dst);
    const unsigned int rest = divide(GROUP(0), copy.p_tiles);
    const unsigned int group = divide(rest, copy.q_tiles);
    const unsigned int p0 = (GROUP(0) - rest * copy.p_tiles.n) * copy.p_cells;
    const unsigned int q0 = (rest - group * copy.q_tiles.n) * copy.q_cells;
    const int p_cells = lesser(copy.p_cells, copy.p.count - p0);
    const int q_cells = lesser(copy.q_cells, copy.q.count - q0);
    const int last = THREADS - 1 - THREAD; /* other threads for q than for p */
    if (THREAD < p_cells) p_begins[THREAD] = place_of(copy.axis, copy.p, p0 + THREAD);
    if (last < q_cells) q_begins[last] = place_of(copy.axis, copy.q, q0 + last);
    const place whole = place_of(copy.axis, copy.outer, group);
    const int cell = copy.cell.n, pitch = copy.load.units.n | 1;
    BARRIER();

    {
        const int row = divide(THREAD, copy.load.units), along = THREAD - row * copy.load.units.n;
        const int p = divide(along, copy.cell), at_once = copy.load.at_once;
        const int left = row < at_once && p < p_cells ? q_cells - row : 0;
        UNIT unit[COPY_UNITS];
        src += whole.src + p_begins[p].src + (along - p * cell) * UNIT_BYTES;
        UNROLL
        for (int k = 0; k < COPY_UNITS; ++k) {
            END_OF(k, copy.load.steps);
            if (k * at_once < left)
                unit[k] = *(GLOBAL const UNIT *)(src + q_begins[row + k * at_once].src);
        }
        UNROLL
        for (int k = 0; k < COPY_UNITS; ++k) {
            END_OF(k, copy.load.steps);
            if (k * at_once < left) tile[(row + k * at_once) * pitch + along] = unit[k];
        }
    }
    BARRIER();
    {
        const int row = divide(THREAD, copy.store.units), along = THREAD - row * copy.store.units.n;
        const int q = divide(along, copy.cell), at_once = copy.store.at_once;
        const int left = row < at_once && q < q_cells ? p_cells - row : 0;
        const int unit = along - q * cell, column = q * pitch + unit;
        dst += whole.dst + q_begins[q].dst + unit * UNIT_BYTES;
        UNROLL
        for (int k = 0; k < COPY_UNITS; ++k) {
            END_OF(k, copy.store.steps);
            if (k * at_once < left)
                *(GLOBAL UNIT *)(dst + p_begins[row + k * at_once].dst) =
                    tile[column + (row + k * at_once) * cell];
        }
    }
}

#undef UNIT
#undef UNIT_BYTES
