/*
 * Bluestein's convolution (chirp.h) over a smooth length, in place. The chirp of so long a line is
 * worked out from tables of about the square root of its length. The inverse conjugates what it
 * loads and stores. Lines of smooth length come here when their real points cannot be taken in
 * pairs; they need no chirp.
 */
#include "engine/native/convolution.h"

#include "engine/native/number.h"
#include "engine/native/pass_group.h"
#include "engine/native/tables.h"
#include "engine/smooth.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>

/* What the transforms of one length n share. */
typedef struct chirp {
    weft_shared_table shared;
    weft_root_table roots; /* of order 2 n: number j of the chirp is root j^2 mod 2 n */
    void *filter;          /* numbers 0..m/2; number m - k is number k */
} chirp;

struct weft_line_convolution {
    const weft_kernels *kernels;
    weft_transform_kind kind;
    bool conjugate;
    int64_t n, m;
    int64_t in_stride, out_stride; /* bytes */
    double scale;                  /* of the results */
    weft_pass_group transform;     /* forward, of length m, in place */
    const chirp *chirp;            /* NULL: n is smooth, and m is n */
};

static size_t line_bytes(const weft_line_convolution *c) {
    return ((size_t)(c->m * weft_complex_bytes(c->kernels)) + 4095) / 4096 * 4096;
}

/* The least of a power of two times 1, 9/8, 5/4, 3/2 or 15/8 that is large enough. */
static int64_t convolution_length(int64_t least) {
    static const int eighths[] = {8, 9, 10, 12, 15, 16};
    int64_t power = 64, i = 0;
    while (2 * power < least) power *= 2;
    while (power / 8 * eighths[i] < least) i++;
    return power / 8 * eighths[i];
}

static weft_status create_transform(const weft_kernels *kernels, int64_t m, weft_pass_group *group,
                                    size_t *bytes) {
    const weft_pass_request lines = {.kernels = kernels,
                                     .kind = WEFT_TRANSFORM_C2C,
                                     .direction = WEFT_FORWARD,
                                     .dim = {m, 1, 1}};
    WEFT_TRY(weft_pass_group_create_long(&lines, group, bytes));
    weft_pass_group_scale(group, 1);
    return WEFT_SUCCESS;
}

static void run_transform(const weft_pass_group *group, void *line, const weft_room *room) {
    const void *in[1] = {line};
    void *const out[1] = {line};
    weft_pass_group_run(group, in, out, room);
}

/* j^2 mod m, where j^2 may not fit. */
static int64_t square_modulo(int64_t j, int64_t m) {
    int64_t square = 0;
    for (int bit = 62; bit >= 0; bit--) {
        square = 2 * square % m;
        if (j >> bit & 1) square = (square + j % m) % m;
    }
    return square;
}

/* The square of j + 1, given that of j, where j < m / 2. */
static int64_t next_square(int64_t square, int64_t j, int64_t m) {
    square += 2 * j + 1;
    return square >= m ? square - m : square;
}

/* The conjugate chirp, around number 0 of m, over m. */
static void fill_kernel(const weft_kernels *k, const chirp *c, int64_t n, int64_t m, void *line) {
    const double scale = 1 / (double)m;
    for (int64_t j = 0, square = 0; j < n; j++) {
        double re, im;
        weft_root_table_at(&c->roots, square, &re, &im);
        const int64_t at[2] = {j, (m - j) % m};
        for (int i = 0; i < 2; i++) {
            weft_number_set(k, line, 2 * at[i], re * scale);
            weft_number_set(k, line, 2 * at[i] + 1, -im * scale);
        }
        square = next_square(square, j, 2 * n);
    }
}

/* What the numbers of a chirp's key are. */
enum { KEY_N, KEY_M };

static bool make_chirp(void *table, const weft_table_key *key, size_t *bytes) {
    chirp *c = table;
    const int64_t n = key->n[KEY_N], m = key->n[KEY_M], element = weft_complex_bytes(key->kernels);
    const size_t filter = (size_t)((m / 2 + 1) * element);
    weft_pass_group group = {0};
    weft_scratch scratch = {0};
    size_t unused = 0;
    c->filter = malloc(filter);
    *bytes += filter;
    bool ok = c->filter && weft_root_table_create(2 * n, 2 * n, &c->roots, bytes) &&
              create_transform(key->kernels, m, &group, &unused) == WEFT_SUCCESS;
    if (ok) {
        weft_room_size size = weft_pass_group_room(&group, 1);
        size.shared = (size_t)(m * element);
        ok = weft_scratch_reserve(&scratch, size, 1) == WEFT_SUCCESS;
    }
    if (ok) {
        const weft_room room = weft_scratch_room(&scratch, 1);
        fill_kernel(key->kernels, c, n, m, room.shared);
        run_transform(&group, room.shared, &room);
        memcpy(c->filter, room.shared, filter);
    }
    weft_scratch_release(&scratch);
    weft_pass_group_release(&group);
    return ok;
}

static void release_chirp(void *table) {
    chirp *c = table;
    weft_root_table_release(&c->roots);
    free(c->filter);
}

static const chirp *borrow_chirp(const weft_line_convolution *c, size_t *bytes) {
    static const weft_table_kind kind = {sizeof(chirp), make_chirp, release_chirp};
    weft_table_key key = {.kernels = c->kernels};
    key.n[KEY_N] = c->n;
    key.n[KEY_M] = c->m;
    return weft_table_borrow(&kind, &key, bytes);
}

weft_status weft_line_convolution_create(const weft_kernels *kernels, weft_transform_kind kind,
                                         weft_direction direction, const weft_dimension *dim,
                                         weft_line_convolution **out, size_t *bytes) {
    weft_line_convolution *c = calloc(1, sizeof *c);
    *out = c;
    if (!c) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "native engine: no memory for a plan");
    const int64_t element = weft_complex_bytes(kernels);
    *bytes += sizeof *c;
    c->kernels = kernels;
    c->kind = kind;
    c->scale = 1;
    c->conjugate = direction == WEFT_INVERSE;
    c->n = dim->n;
    const bool smooth = weft_is_smooth(dim->n);
    c->m = smooth ? dim->n : convolution_length(2 * dim->n - 1);
    c->in_stride = dim->in_stride * (kind == WEFT_TRANSFORM_R2C ? element / 2 : element);
    c->out_stride = dim->out_stride * (kind == WEFT_TRANSFORM_C2R ? element / 2 : element);
    WEFT_TRY(create_transform(kernels, c->m, &c->transform, bytes));
    if (!smooth) c->chirp = borrow_chirp(c, bytes);
    if (!smooth && !c->chirp)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                         "native engine: no memory for the tables of length %lld",
                         (long long)dim->n);
    return WEFT_SUCCESS;
}

void weft_line_convolution_release(weft_line_convolution *c) {
    if (!c) return;
    weft_pass_group_release(&c->transform);
    weft_table_return(c->chirp);
    free(c);
}

void weft_line_convolution_describe(const weft_line_convolution *c, FILE *stream) {
    fprintf(stream, " of %lld points by", (long long)c->n);
    fprintf(stream,
            c->chirp ? " Bluestein's convolution of %lld points\n"
                     : " one of %lld complex points\n",
            (long long)c->m);
}

void weft_line_convolution_scale(weft_line_convolution *c, double scale) {
    c->scale = scale;
}

/* The line that is convolved lies before the room of its transform: in the shared memory of several
 * threads, in that of a thread that works alone. */
weft_room_size weft_line_convolution_room(const weft_line_convolution *c, int threads) {
    weft_room_size size = weft_pass_group_room(&c->transform, threads);
    *(threads > 1 ? &size.shared : &size.own) += line_bytes(c);
    return size;
}

/* Loads point j of a line; of a half spectrum also the points that it implies. */
static void load_point(const weft_line_convolution *c, const char *in, int64_t j, double *re,
                       double *im) {
    const bool mirrored = c->kind == WEFT_TRANSFORM_C2R && 2 * j > c->n;
    const char *x = in + (mirrored ? c->n - j : j) * c->in_stride;
    *re = weft_number_get(c->kernels, x, 0);
    *im = c->kind == WEFT_TRANSFORM_R2C ? 0.0 : weft_number_get(c->kernels, x, 1);
    if (c->kind == WEFT_TRANSFORM_C2R && (j == 0 || 2 * j == c->n)) *im = 0.0;
    if (mirrored != c->conjugate) *im = -*im;
}

/* A share of what is done to a line between its transforms: number `me` of `team` shares. They
 * begin at multiples of 64, lest what is left over by vectors, and so rounded otherwise, depends on
 * the number of threads. */
typedef struct share {
    int64_t me, team;
} share;

static int64_t begins(share s, int64_t n) {
    return n / 64 * s.me / s.team * 64;
}

static int64_t ends(share s, int64_t n) {
    return s.me + 1 == s.team ? n : n / 64 * (s.me + 1) / s.team * 64;
}

static void load_line(const weft_line_convolution *c, const char *in, void *line, share s) {
    const weft_kernels *k = c->kernels;
    int64_t j = begins(s, c->m), square = c->chirp ? square_modulo(j, 2 * c->n) : 0;
    const int64_t end = ends(s, c->m), element = weft_complex_bytes(k);
    for (; j < end && j < c->n; j++) {
        double re, im, wr = 1, wi = 0;
        load_point(c, in, j, &re, &im);
        if (c->chirp) {
            weft_root_table_at(&c->chirp->roots, square, &wr, &wi);
            square = next_square(square, j, 2 * c->n);
        }
        weft_number_set(k, line, 2 * j, re * wr - im * wi);
        weft_number_set(k, line, 2 * j + 1, re * wi + im * wr);
    }
    if (j < end) memset((char *)line + j * element, 0, (size_t)((end - j) * element));
}

/* Stores a result as the kernels do: rounded, and again when it has been multiplied. */
static void store_number(const weft_line_convolution *c, char *out, int64_t i, double value) {
    weft_number_set(c->kernels, out, i, value);
    if (c->scale != 1)
        weft_number_set(c->kernels, out, i, weft_number_get(c->kernels, out, i) * c->scale);
}

/* The line holds the conjugates of the results, which the chirp multiplies, or the results where
 * there is none. */
static void store_line(const weft_line_convolution *c, const void *line, char *out, share s) {
    const weft_kernels *k = c->kernels;
    const int64_t points = c->kind == WEFT_TRANSFORM_R2C ? c->n / 2 + 1 : c->n;
    int64_t j = begins(s, points), square = c->chirp ? square_modulo(j, 2 * c->n) : 0;
    out += j * c->out_stride;
    for (; j < ends(s, points); j++, out += c->out_stride) {
        double re = weft_number_get(k, line, 2 * j), im = weft_number_get(k, line, 2 * j + 1);
        double wr = 1, wi = 0;
        if (c->chirp) {
            weft_root_table_at(&c->chirp->roots, square, &wr, &wi);
            square = next_square(square, j, 2 * c->n);
            im = -im;
        }
        const double imaginary = re * wi + im * wr;
        store_number(c, out, 0, re * wr - im * wi);
        if (c->kind != WEFT_TRANSFORM_C2R)
            store_number(c, out, 1, c->conjugate ? -imaginary : imaginary);
    }
}

/* Multiplies by the filter, and conjugates, so that the forward transform acts as the inverse. */
static void multiply_filter(const weft_line_convolution *c, void *line, share s) {
    const weft_kernels *k = c->kernels;
    const int64_t first = begins(s, c->m), end = ends(s, c->m), half = c->m / 2 + 1;
    const int64_t element = weft_complex_bytes(k), middle = end < half ? end : half;
    char *x = (char *)line + first * element;
    if (first < middle)
        k->multiply_lines_conjugated(x, (const char *)c->chirp->filter + first * element, x,
                                     middle - first, 1);
    for (int64_t j = first > half ? first : half; j < end; j++) {
        const double re = weft_number_get(k, line, 2 * j), im = weft_number_get(k, line, 2 * j + 1);
        const double wr = weft_number_get(k, c->chirp->filter, 2 * (c->m - j));
        const double wi = weft_number_get(k, c->chirp->filter, 2 * (c->m - j) + 1);
        weft_number_set(k, line, 2 * j, re * wr - im * wi);
        weft_number_set(k, line, 2 * j + 1, -(re * wi + im * wr));
    }
}

void weft_line_convolution_run(const weft_line_convolution *c, const void *in, void *out,
                               const weft_room *room) {
    const int team = room->threads;
    weft_room rest = *room;
    char **begin = team > 1 ? &rest.shared : &rest.own;
    void *line = *begin;
    *begin += line_bytes(c);
#pragma omp parallel for num_threads(team) if (team > 1)
    for (int i = 0; i < team; i++) load_line(c, in, line, (share){i, team});
    run_transform(&c->transform, line, &rest);
    if (c->chirp) {
#pragma omp parallel for num_threads(team) if (team > 1)
        for (int i = 0; i < team; i++) multiply_filter(c, line, (share){i, team});
        run_transform(&c->transform, line, &rest);
    }
#pragma omp parallel for num_threads(team) if (team > 1)
    for (int i = 0; i < team; i++) store_line(c, line, out, (share){i, team});
}
