/*
 * Columns, or contiguous rows, of complex numbers on vectors of interleaved numbers
 * (interleaved.h), with the bits of tiles, whatever the array is a part of: lines on either side
 * lie in one array and stay in the caches.
 */
#include "engine/native/describe.h"
#include "engine/native/number.h"
#include "engine/native/solver.h"
#include "engine/smooth.h"

static bool are_rows(const weft_native_pass *pass) {
    return pass->in.access == WEFT_ALONG;
}

static bool takes(const weft_native_pass *pass, const weft_pass_request *request) {
    const bool whole = weft_native_side_is_whole(&pass->in) &&
                       weft_native_side_is_whole(&pass->out) && request->in.count == 0 &&
                       request->out.count == 0 && request->spectrum.count == 0;
    const weft_access access = pass->in.access;
    return request->cached && whole && access == pass->out.access &&
           pass->kind == WEFT_TRANSFORM_C2C && pass->n > 1 && weft_is_smooth(pass->n) &&
           (access == WEFT_ACROSS || (access == WEFT_ALONG && pass->loops == 1));
}

/* The stages are those of tiles, which are planned before. */
static bool plan(weft_native_pass *pass, const weft_pass_request *request, weft_direction direction,
                 size_t *bytes) {
    (void)request;
    const bool rows = are_rows(pass);
    const int64_t element = weft_complex_bytes(pass->kernels);
    const weft_native_piece *in = pass->in.piece, *out = pass->out.piece;
    return weft_interleaved_create(
        &pass->line.stages, rows, pass->loop[0], (rows ? in->loop_stride[0] : in->stride) / element,
        (rows ? out->loop_stride[0] : out->stride) / element, direction, &pass->interleaved, bytes);
}

static void release(weft_native_pass *pass) {
    weft_interleaved_release(&pass->interleaved);
}

static bool ready(const weft_native_pass *pass) {
    return pass->interleaved.width > 0 && !pass->stream && weft_native_pass_is_plain(pass);
}

/* Tiles are used as well. */
static size_t room(const weft_native_pass *pass) {
    return weft_solver_tiles.room(pass);
}

/* Columns that are fewer than a vector has go in tiles. */
static void run(const weft_native_pass *pass, const void *const *source, void *const *target,
                void *memory, int64_t number, int64_t first, int64_t end) {
    const void *in = source[0];
    void *out = target[0];
    const weft_interleaved *p = &pass->interleaved;
    const weft_native_piece *from = pass->in.piece, *to = pass->out.piece;
    const int64_t lanes = pass->kernels->lanes, across = (pass->loop[0] + lanes - 1) / lanes;
    if (pass->loops == 2 && first == 0 && end == pass->tiles &&
        weft_interleaved_takes_batch(p, in == out)) {
        const int64_t element = weft_complex_bytes(pass->kernels);
        const weft_dimension batch = {pass->loop[1], from->loop_stride[1] / element,
                                      to->loop_stride[1] / element};
        weft_interleaved_run_batch(p, (const char *)in + from->offset, (char *)out + to->offset,
                                   &batch, pass->scale);
        return;
    }
    int64_t i = first;
    for (int64_t row = first / across; i < end; row++) {
        const int64_t begin = row * across, line = (i - begin) * lanes;
        const int64_t next = begin + across < end ? begin + across : end;
        const int64_t most = (next - begin) * lanes;
        const int64_t count = (most < pass->loop[0] ? most : pass->loop[0]) - line;
        int64_t rest = row, in_offset = from->offset + line * from->loop_stride[0],
                out_offset = to->offset + line * to->loop_stride[0];
        for (int l = 1; l < pass->loops; l++) {
            const int64_t above = l + 1 < pass->loops ? rest / pass->loop[l] : 0;
            in_offset += (rest - above * pass->loop[l]) * from->loop_stride[l];
            out_offset += (rest - above * pass->loop[l]) * to->loop_stride[l];
            rest = above;
        }
        if (!p->rows && count < p->width)
            weft_solver_tiles.run(pass, source, target, memory, number, i, next);
        else
            weft_interleaved_run(p, (const char *)in + in_offset, (char *)out + out_offset, count,
                                 pass->scale, memory);
        i = next;
    }
}

static void print(const weft_native_pass *pass, FILE *stream) {
    fprintf(stream, "as %s on interleaved numbers, ", are_rows(pass) ? "rows" : "columns");
    weft_native_print_line(&pass->line, stream);
}

const weft_solver weft_solver_interleaved = {.takes = takes,
                                             .plan = plan,
                                             .release = release,
                                             .ready = ready,
                                             .room = room,
                                             .run = run,
                                             .print = print};
