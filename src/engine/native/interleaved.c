/* Columns and rows on interleaved numbers: the vectors, the twiddles, and the stages of a block. */
#include "engine/native/interleaved.h"

#include "engine/native/lone.h"
#include "engine/native/number.h"
#include "engine/native/tables.h"
#include "engine/roots.h"

#include <stdlib.h>
#include <string.h>

/* ---- twiddles ---- */

/* Those of the second stage of all lines of one length. That of rows, whose vectors hold successive
 * groups, has vectors of `width`, the second number of the key, which is 1 for columns. */
typedef struct twiddle_table {
    weft_shared_table shared;
    void *twiddles;
} twiddle_table;

typedef struct twiddle_writer {
    const weft_kernels *kernels;
    const double *re, *im; /* exp(-2 pi i j / n) */
    void *table;
    int64_t at;
} twiddle_writer;

/* Real parts stand twice, and imaginary ones with either sign, the negative one first. */
static void write_parts(twiddle_writer *w, int64_t group, int leg, bool imaginary) {
    const int64_t j = leg * group;
    weft_number_set(w->kernels, w->table, w->at++, imaginary ? -w->im[j] : w->re[j]);
    weft_number_set(w->kernels, w->table, w->at++, imaginary ? w->im[j] : w->re[j]);
}

/* exp(-2 pi i leg group / (groups * radix)) for each group and leg > 0, or for vectors of so many
 * groups, of which the last one overlaps the one before. */
static bool write_twiddles(twiddle_writer *w, int64_t groups, int radix, int width, size_t *bytes) {
    const int64_t vectors = (groups + width - 1) / width;
    const size_t size = (size_t)(vectors * width * (radix - 1) * 4 * w->kernels->real_bytes);
    w->table = malloc(size);
    w->at = 0;
    if (!w->table) return false;
    *bytes += size;
    for (int64_t v = 0; v < vectors; v++) {
        const int64_t first = (v + 1) * width <= groups ? v * width : groups - width;
        for (int leg = 1; leg < radix; leg++)
            for (int imaginary = 0; imaginary < 2; imaginary++)
                for (int i = 0; i < width; i++) write_parts(w, first + i, leg, imaginary != 0);
    }
    return true;
}

static bool make_table(void *table, const weft_table_key *key, size_t *bytes) {
    twiddle_table *t = table;
    const int64_t n = key->n[0];
    weft_stages stages;
    size_t own = 0; /* of what is released again */
    double *re = malloc((size_t)n * sizeof *re), *im = malloc((size_t)n * sizeof *im);
    bool ok = weft_stages_create(key->kernels, n, &stages, &own) && re && im &&
              weft_roots_fill(n, n, re, im);
    twiddle_writer w = {.kernels = key->kernels, .re = re, .im = im};
    ok = ok && write_twiddles(&w, stages.stage[1].m, stages.stage[1].codelet->radix, (int)key->n[1],
                              bytes);
    t->twiddles = w.table;
    weft_stages_release(&stages);
    free(im);
    free(re);
    return ok;
}

static void release_table(void *table) {
    free(((twiddle_table *)table)->twiddles);
}

static bool borrow_table(weft_interleaved *p, size_t *bytes) {
    static const weft_table_kind kind = {sizeof(twiddle_table), make_table, release_table};
    if (p->width == 0 || p->count < 2) return true;
    const weft_table_key key = {p->kernels, {p->n, p->rows ? p->width : 1}};
    const twiddle_table *table = weft_table_borrow(&kind, &key, bytes);
    p->table = table;
    if (table) p->twiddles = table->twiddles;
    return table != NULL;
}

/* ---- stages ---- */

/* Stage i of so many columns, behind `before` points. */
static void set_columns(const weft_interleaved *p, int i, int64_t before, int64_t from_row,
                        int64_t to_row, int64_t columns, weft_columns_stage *s) {
    const int radix = p->codelet[i]->radix;
    const int64_t blocks = p->n / before / radix;
    const bool reversed = p->inverse && i == p->count - 1; /* there blocks are 1 */
    *s = (weft_columns_stage){.run = columns,
                              .blocks = blocks,
                              .groups = before,
                              .from_leg = blocks * from_row,
                              .from_block = from_row,
                              .from_group = blocks * radix * from_row,
                              .to_leg = (reversed ? -before : before) * blocks * to_row,
                              .to_block = to_row,
                              .to_group = (reversed ? -blocks : blocks) * to_row,
                              .to_origin = reversed ? p->n * to_row : 0};
    if (from_row != columns || to_row != columns) return;
    s->run *= s->blocks; /* successive blocks are one run */
    s->blocks = 1;
}

/* The same of rows, each of which is a block. */
static void set_rows(const weft_interleaved *p, int i, int64_t before, int64_t from_row,
                     int64_t to_row, int64_t rows, weft_columns_stage *s) {
    const int radix = p->codelet[i]->radix;
    const int64_t run = p->n / before / radix;
    *s = (weft_columns_stage){.run = run,
                              .blocks = rows,
                              .groups = before,
                              .from_leg = run,
                              .from_block = from_row,
                              .from_group = run * radix,
                              .to_leg = before * run,
                              .to_block = to_row,
                              .to_group = run,
                              .to_origin = p->inverse && i == p->count - 1 ? p->n : 0};
}

/* Those of a block of so many columns or rows. */
static void set_stages(const weft_interleaved *p, int64_t in_row, int64_t out_row, int64_t lines,
                       weft_interleaved_stages stage) {
    const int64_t between = p->rows ? p->n : lines; /* two rows of the scratch memory */
    int64_t before = 1;
    for (int i = 0; i < p->count; i++) {
        const int64_t from_row = i == 0 ? in_row : between,
                      to_row = i == p->count - 1 ? out_row : between;
        (p->rows ? set_rows : set_columns)(p, i, before, from_row, to_row, lines, &stage[i]);
        stage[i].twiddles = i == 0 ? NULL : p->twiddles;
        before *= p->codelet[i]->radix;
    }
}

/* ---- creation ---- */

/* Finds the codelets of the stages for vectors of one width. More than two stages are left to
 * tiles, which hold what lies between them. */
static bool find_codelets(weft_interleaved *p, const weft_stages *stages,
                          const weft_lone_kernels *kernels) {
    if (p->count > WEFT_INTERLEAVED_STAGES) return false;
    for (int i = 0; i < p->count; i++) {
        const weft_lone_codelet *const *c = kernels->codelets;
        while (*c && (*c)->radix != stages->stage[i].codelet->radix) c++;
        p->codelet[i] = *c;
        if (!*c || !(*c)->columns_first) return false;
    }
    return kernels->interleaved;
}

/* Whether so many legs and as many results, each so many bytes apart, have room in the cache. */
static bool have_room(int64_t legs, int64_t bytes) {
    enum { LINE = 64, WAY = 4096, WAYS = 8 };
    int64_t apart = WAY;
    while (bytes % apart != 0) apart /= 2;
    return 2 * legs <= WAYS * WAY / (apart > LINE ? apart : LINE);
}

static bool is_fast(const weft_interleaved *p, int64_t in_row, int64_t out_row) {
    const int64_t bytes = weft_complex_bytes(p->kernels);
    const int first = p->codelet[0]->radix, last = p->codelet[p->count - 1]->radix;
    return have_room(first, p->n / first * in_row * bytes) &&
           have_room(last, p->n / last * out_row * bytes);
}

/* Whether rows' vectors hold no more numbers than there are neighbours in both stages: points
 * behind the legs, and groups. */
static bool fills_vectors(const weft_interleaved *p, int width) {
    if (p->count == 1) return p->line != NULL;
    return p->codelet[1]->radix >= width && p->codelet[0]->radix >= width &&
           p->codelet[1]->rows_last;
}

/* How many lines a block has between two stages: as many as a tile lie in its memory. What is left
 * in the last block is never less than a vector. */
static int64_t block_of(const weft_interleaved *p) {
    return p->kernels->lanes - (p->rows ? 0 : p->width);
}

static void set_blocks(weft_interleaved *p) {
    const int64_t block = block_of(p), lanes = p->kernels->lanes;
    int64_t last = p->lines;
    if (p->count == 1) {
        set_columns(p, 0, 1, p->in_row, p->out_row, last - last % p->width, &p->in_place[0]);
        set_columns(p, 0, 1, p->width, p->out_row, p->width, &p->in_place[1]);
    } else {
        if (last > lanes) last -= (last - lanes + block - 1) / block * block;
        set_stages(p, p->in_row, p->out_row, block, p->block);
    }
    set_stages(p, p->in_row, p->out_row, last, p->last);
}

bool weft_interleaved_create(const weft_stages *stages, bool rows, int64_t lines, int64_t in_row,
                             int64_t out_row, weft_direction direction, weft_interleaved *p,
                             size_t *bytes) {
    const weft_kernels *kernels = stages->kernels;
    const weft_lone_kernels *const *widths = kernels->lone->widths;
    *p = (weft_interleaved){.kernels = kernels,
                            .n = stages->n,
                            .lines = lines,
                            .in_row = in_row,
                            .out_row = out_row,
                            .count = stages->count,
                            .rows = rows,
                            .inverse = direction == WEFT_INVERSE};
    const weft_lone_line *line = weft_lone_find_line(kernels, p->n);
    if (rows && p->count == 1 && line && line->lines) p->line = line;
    for (int i = 0; widths[i] && p->width == 0; i++) {
        const int width = widths[i]->width;
        if (find_codelets(p, stages, widths[i]) &&
            (rows ? fills_vectors(p, width) : width <= lines && is_fast(p, in_row, out_row)))
            p->width = width;
    }
    if (!borrow_table(p, bytes)) return false;
    if (p->width > 0 && !p->line) set_blocks(p);
    return true;
}

void weft_interleaved_release(weft_interleaved *p) {
    weft_table_return(p->table);
}

/* ---- execution ---- */

static void run_stages(const weft_interleaved *p, const weft_interleaved_stages stage,
                       const void *in, void *out, double scale, void *room) {
    const weft_lone_codelet *first = p->codelet[0], *second = p->codelet[1];
    if (p->count == 1) {
        first->columns_first(in, out, &stage[0], scale);
        return;
    }
    first->columns_first(in, room, &stage[0], 1);
    (p->rows ? second->rows_last : second->columns_later)(room, out, &stage[1], scale);
}

static void run_block(const weft_interleaved *p, const void *in, int64_t in_row, void *out,
                      int64_t out_row, int64_t lines, double scale, void *room) {
    weft_interleaved_stages stage;
    set_stages(p, in_row, out_row, lines, stage);
    run_stages(p, stage, in, out, scale, room);
}

/* Copies a column of vectors. */
static void copy_vectors(const weft_interleaved *p, const void *from, int64_t from_row, void *to,
                         int64_t to_row) {
    const size_t bytes = (size_t)(p->width * weft_complex_bytes(p->kernels));
    for (int64_t i = 0; i < p->n; i++) {
        const char *source = (const char *)from + i * from_row;
        char *target = (char *)to + i * to_row;
        if (bytes == 32) /* a constant makes it one instruction */
            memcpy(target, source, 32);
        else
            memcpy(target, source, bytes);
    }
}

/* One stage in place, where columns do not fill the last vector: it overlaps the one before, so
 * what it transforms is kept aside. */
static void run_in_place(const weft_interleaved *p, void *data, int64_t count, double scale,
                         void *room) {
    const int64_t bytes = weft_complex_bytes(p->kernels), width = p->width, row = p->in_row;
    char *tail = (char *)data + (count - width) * bytes;
    copy_vectors(p, tail, row * bytes, room, width * bytes);
    if (count == p->lines) {
        p->codelet[0]->columns_first(data, data, &p->in_place[0], scale);
        p->codelet[0]->columns_first(room, tail, &p->in_place[1], scale);
    } else {
        run_block(p, data, row, data, row, count - count % width, scale, NULL);
        run_block(p, room, width, tail, row, width, scale, NULL);
    }
}

/* Rows that are one codelet each. */
static void run_codelets(const weft_interleaved *p, const void *in, void *out, int64_t count,
                         double scale) {
    const int64_t bytes = weft_complex_bytes(p->kernels);
    p->line->lines(in, p->in_row * bytes, out, p->out_row * bytes, count, p->inverse, scale);
}

void weft_interleaved_run(const weft_interleaved *p, const void *in, void *out, int64_t count,
                          double scale, void *room) {
    if (p->line) {
        run_codelets(p, in, out, count, scale);
        return;
    }
    if (p->count == 1 && in == out && count % p->width != 0) {
        run_in_place(p, out, count, scale, room);
        return;
    }
    const char *from = in;
    char *to = out;
    int64_t left = count;
    if (p->count > 1) {
        const int64_t bytes = weft_complex_bytes(p->kernels), block = block_of(p);
        const int64_t in_block = block * bytes * (p->rows ? p->in_row : 1),
                      out_block = block * bytes * (p->rows ? p->out_row : 1);
        for (; left > p->kernels->lanes; left -= block, from += in_block, to += out_block)
            run_stages(p, p->block, from, to, scale, room);
    }
    if (count == p->lines)
        run_stages(p, p->last, from, to, scale, room);
    else
        run_block(p, from, p->in_row, to, p->out_row, left, scale, room);
}

bool weft_interleaved_takes_batch(const weft_interleaved *p, bool in_place) {
    return p->count == 1 && !p->rows && (!in_place || p->lines % p->width == 0);
}

void weft_interleaved_run_batch(const weft_interleaved *p, const void *in, void *out,
                                const weft_dimension *batch, double scale) {
    weft_columns_stage stage = p->last[0];
    stage.blocks = batch->n;
    stage.from_block = batch->in_stride;
    stage.to_block = batch->out_stride;
    p->codelet[0]->columns_first(in, out, &stage, scale);
}
