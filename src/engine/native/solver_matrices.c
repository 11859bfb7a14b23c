/*
 * Contiguous lines as matrices (matrix.h), one by one: complex ones all of them, real ones, as half
 * as many complex points, where a tile would be half empty or more.
 */
#include "engine/native/describe.h"
#include "engine/native/number.h"
#include "engine/native/one_by_one.h"
#include "engine/native/solver.h"

bool weft_native_takes_matrices(const weft_kernels *kernels, weft_transform_kind kind,
                                const weft_dimension *dim) {
    const bool halved = kind != WEFT_TRANSFORM_C2C && dim->n % 2 == 0;
    return dim->in_stride == 1 && dim->out_stride == 1 && (kind == WEFT_TRANSFORM_C2C || halved) &&
           weft_matrix_suits(kernels, halved ? dim->n / 2 : dim->n);
}

static bool lie_along(const weft_native_pass *pass) {
    return pass->in.access == WEFT_ALONG && pass->out.access == WEFT_ALONG &&
           weft_matrix_suits(pass->kernels, pass->line.n);
}

static bool takes_complex(const weft_native_pass *pass, const weft_pass_request *request) {
    return request->kind == WEFT_TRANSFORM_C2C && lie_along(pass);
}

static bool takes_real(const weft_native_pass *pass, const weft_pass_request *request) {
    (void)request;
    return pass->halved && lie_along(pass);
}

static void transform(const weft_native_pass *pass, const void *x, void *y, void *room, bool past,
                      double scale, const void *next) {
    weft_matrix_run(&pass->matrix, x, y, room, past, scale, next);
}

static bool plan(weft_native_pass *pass, const weft_pass_request *request, weft_direction direction,
                 size_t *bytes) {
    (void)request;
    if (!weft_matrix_create(pass->kernels, pass->line.n, direction, &pass->matrix, bytes))
        return false;
    pass->transform = transform;
    pass->line_room =
        weft_matrix_tile_bytes(&pass->matrix) + weft_matrix_transposed_bytes(&pass->matrix);
    return weft_native_pass_make_roots(pass, bytes);
}

static void release(weft_native_pass *pass) {
    weft_matrix_release(&pass->matrix);
}

/* Lines of the last tile, the only one that may not be full. */
static int64_t lines_left(const weft_native_pass *pass) {
    return pass->lines - (pass->tiles - 1) * pass->kernels->lanes;
}

static bool ready(const weft_native_pass *pass) {
    return 2 * lines_left(pass) <= pass->kernels->lanes;
}

/* Tiles are used as well. */
static size_t room_of_both(const weft_native_pass *pass) {
    const size_t lines = weft_one_by_one_room(pass), tiles = weft_solver_tiles.room(pass);
    return lines > tiles ? lines : tiles;
}

static void run_complex(const weft_native_pass *pass, const void *const *in, void *const *out,
                        void *room, int64_t number, int64_t first, int64_t end) {
    const bool past = pass->stream && weft_native_pass_aligned(pass, out);
    weft_one_by_one_run(pass, in, out, room, number, first, end, past);
}

static void run_real(const weft_native_pass *pass, const void *const *in, void *const *out,
                     void *room, int64_t number, int64_t first, int64_t end) {
    const int64_t full = end == pass->tiles && first < end ? end - 1 : end;
    if (first < full) weft_solver_tiles.run(pass, in, out, room, number, first, full);
    if (full < end) weft_one_by_one_run(pass, in, out, room, number, full, end, false);
}

static void print_complex(const weft_native_pass *pass, FILE *stream) {
    fputs("one by one, as matrices ", stream);
    weft_native_print_matrix(&pass->matrix, stream);
}

static void print_real(const weft_native_pass *pass, FILE *stream) {
    fputs("in tiles, or one by one as matrices ", stream);
    weft_native_print_matrix(&pass->matrix, stream);
}

const weft_solver weft_solver_matrices = {.takes = takes_complex,
                                          .plan = plan,
                                          .release = release,
                                          .room = weft_one_by_one_room,
                                          .run = run_complex,
                                          .print = print_complex};

const weft_solver weft_solver_half_empty = {.takes = takes_real,
                                            .plan = plan,
                                            .release = release,
                                            .ready = ready,
                                            .room = room_of_both,
                                            .run = run_real,
                                            .print = print_real};
