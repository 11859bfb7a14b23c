/* Contiguous lines, from array to array by a codelet of tiles, without a tile in between. */
#include "engine/native/solver.h"

static bool takes(const weft_native_pass *pass, const weft_pass_request *request) {
    return pass->in.access == WEFT_ALONG && pass->out.access == WEFT_ALONG &&
           weft_native_side_is_whole(&pass->in) && weft_native_side_is_whole(&pass->out) &&
           request->spectrum.count == 0;
}

static bool plan(weft_native_pass *pass, const weft_pass_request *request, weft_direction direction,
                 size_t *bytes) {
    (void)request;
    (void)bytes;
    pass->real_codelet = pass->kernels->find_real_codelet(pass->n);
    pass->inverse = direction == WEFT_INVERSE;
    return true;
}

/* Whether lines are one codelet, the tiles are listed, and results go to the caches. */
static bool ready(const weft_native_pass *pass) {
    const bool one = pass->kind == WEFT_TRANSFORM_C2C
                         ? pass->line.method == WEFT_LINE_STAGES && pass->line.stages.count == 1
                         : pass->real_codelet >= 0;
    return one && pass->tile && !pass->stream && weft_native_pass_is_plain(pass);
}

static size_t room(const weft_native_pass *pass) {
    (void)pass;
    return 0;
}

static void run(const weft_native_pass *pass, const void *const *in, void *const *out, void *room,
                int64_t number, int64_t first, int64_t end) {
    (void)room;
    (void)number;
    const weft_kernels *k = pass->kernels;
    const int64_t in_stride = pass->loops > 0 ? pass->in.piece->loop_stride[0] : 0;
    const int64_t out_stride = pass->loops > 0 ? pass->out.piece->loop_stride[0] : 0;
    for (int64_t i = first; i < end;) {
        const weft_native_tile *t = &pass->tile[i];
        int64_t count = t->count;
        for (i++; i < end && pass->tile[i].first > 0; i++) count += pass->tile[i].count;
        const void *from = (const char *)in[0] + t->in;
        void *to = (char *)out[0] + t->out;
        if (pass->kind == WEFT_TRANSFORM_C2C)
            pass->line.stages.stage[0].codelet->lines(from, in_stride, to, out_stride, count,
                                                      pass->inverse, pass->scale);
        else
            k->real_lines(pass->real_codelet, pass->kind == WEFT_TRANSFORM_R2C, from, in_stride, to,
                          out_stride, count, pass->roots, pass->scale);
    }
}

static void print(const weft_native_pass *pass, FILE *stream) {
    (void)pass;
    fputs("from array to array, one codelet", stream);
}

const weft_solver weft_solver_codelet = {
    .takes = takes, .plan = plan, .ready = ready, .room = room, .run = run, .print = print};
