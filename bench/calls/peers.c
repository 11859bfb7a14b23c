/*
 * Nanoseconds of a transform by weft with the native engine, and by libraries that have the guru
 * interface of FFTW, which are opened at run time:
 *
 *     bench_peers PRECISION KIND THREADS SHAPES NAME=FILE...
 *     bench_peers double c2c 1 16..65536,100,64x64,1024*100 fftw=libfftw3.so.3 mkl=libmkl_rt.so
 *
 * KIND is c2c (forward), r2c, c2r, or a type of cosine or sine transforms along all axes, dct1 to
 * dst4, which MKL and ducc0 have not. SHAPES are separated by commas: a length, powers of two from
 * one to another, `lines` (a list of 97 lengths that are no powers of two), sizes of several axes,
 * or one of these with a batch of as many arrays behind the asterisk. Transforms are out of place,
 * arrays contiguous, peers plan with FFTW_MEASURE. The subjects take turns; of many short runs, the
 * least counts. Writes one row of CSV for each shape: its last column is the time of the fastest
 * peer over that of weft.
 */
#include "engine/fftw/library.h"
#include "names.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_PEERS = 4, MOST_AXES = 3, ROUNDS = 60, LEAST_ROUNDS = 8, PATIENT_RUNS = 3 };

static const double seconds_of_a_run = 30e-6, seconds_of_a_subject = 0.5;

typedef struct peer {
    const char *name;
    weft_fftw_library library;
    weft_fftw_execute run;
    weft_fftw_plan plan;
} peer;

/* What is measured. */
typedef struct transform {
    int rank, n[MOST_AXES], batch;
} transform;

typedef struct subjects {
    weft_context ctx;
    weft_precision precision;
    weft_kind kind;
    weft_direction direction;
    weft_axis axis; /* along all axes of WEFT_R2R, else 0 */
    int threads, peers;
    peer peer[MOST_PEERS];
    weft_plan plan;
    double *in, *out;
} subjects;

static const char lines[] =
    "3,5,6,7,9,10,11,12,13,15,17,18,20,24,25,27,30,31,36,40,45,47,48,50,60,67,75,77,80,81,96,100,"
    "101,105,120,125,127,144,150,169,180,192,200,210,240,243,250,251,255,300,343,360,384,400,480,"
    "500,509,600,625,640,720,729,750,768,800,900,960,1000,1001,1009,1080,1200,1331,1440,1536,1920,"
    "2000,2003,2187,2310,2401,2500,3000,3072,3125,3600,4000,4099,4290,5000,6000,6561,7500,8000,"
    "9000,9973,10000";

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void stop(const char *what, const char *which) {
    fprintf(stderr, "peers: %s %s\n", what, which);
    exit(1);
}

static void open_peer(char *argument, bool single, int threads, peer *p) {
    char *file = strchr(argument, '='), reason[WEFT_LIBRARY_REASON_BYTES];
    if (!file) stop("NAME=FILE instead of", argument);
    *file++ = '\0';
    p->name = argument;
    const weft_fftw_files files = {.file = file, .prefix = single ? "fftwf" : "fftw"};
    if (!weft_fftw_load(&files, &p->library, reason)) stop("", reason);
    if (threads < 2) return;
    if (!p->library.threads) stop("no threads in", file);
    p->library.plan_with_nthreads(threads);
}

/* Real numbers of one array on the larger side of the transform. */
static int64_t numbers_of(const subjects *s, const transform *t) {
    int64_t numbers = s->kind == WEFT_R2C   ? 2 * (t->n[t->rank - 1] / 2 + 1)
                      : s->kind == WEFT_R2R ? t->n[t->rank - 1]
                                            : 2 * t->n[t->rank - 1];
    for (int a = 0; a + 1 < t->rank; a++) numbers *= t->n[a];
    return numbers;
}

static int64_t all_points(const transform *t) {
    int64_t points = 1;
    for (int a = 0; a < t->rank; a++) points *= t->n[a];
    return points;
}

static void plan_peer(const subjects *s, const transform *t, peer *p) {
    const bool real = s->kind == WEFT_R2C, inverse = s->direction == WEFT_INVERSE;
    weft_fftw_iodim dims[MOST_AXES], loop;
    int kinds[MOST_AXES];
    ptrdiff_t in = 1, out = 1;
    for (int a = t->rank - 1; a >= 0; a--) {
        const int half = a == t->rank - 1 ? t->n[a] / 2 + 1 : t->n[a];
        dims[a] = (weft_fftw_iodim){t->n[a], in, out};
        kinds[a] = s->axis ? weft_fftw_kind_of(s->axis) : 0;
        in *= real && inverse ? half : t->n[a];
        out *= real && !inverse ? half : t->n[a];
    }
    loop = (weft_fftw_iodim){t->batch, in, out};
    const int loops = t->batch > 1;
    const weft_fftw_library *library = &p->library;
    p->plan = NULL;
    if (s->kind == WEFT_C2C) {
        p->run = library->execute_c2c;
        p->plan = library->plan_c2c(t->rank, dims, loops, &loop, s->in, s->out, WEFT_FFTW_FORWARD,
                                    WEFT_FFTW_MEASURE);
    } else if (real) {
        p->run = inverse ? library->execute_c2r : library->execute_r2c;
        p->plan = (inverse ? library->plan_c2r : library->plan_r2c)(
            t->rank, dims, loops, &loop, s->in, s->out, WEFT_FFTW_MEASURE);
    } else if (library->plan_r2r) {
        p->run = library->execute_r2r;
        p->plan =
            library->plan_r2r(t->rank, dims, loops, &loop, s->in, s->out, kinds, WEFT_FFTW_MEASURE);
    }
    if (!p->plan) stop("no plan by", p->name);
}

/* Seconds of one of `calls` transforms by peer number `which`, or by weft: -1. */
static double run(const subjects *s, int which, int64_t calls) {
    const double start = seconds();
    if (which >= 0) {
        const peer *p = &s->peer[which];
        for (int64_t i = 0; i < calls; i++) p->run(p->plan, s->in, s->out);
    } else {
        for (int64_t i = 0; i < calls; i++)
            if (weft_execute(s->plan, s->direction, s->in, s->out) != WEFT_SUCCESS)
                stop("weft:", weft_last_error(s->ctx));
    }
    return (seconds() - start) / (double)calls;
}

/* The least seconds of each subject; weft is the first. */
static void take_turns(const subjects *s, double *least) {
    int64_t calls[MOST_PEERS + 1];
    double longest = 0;
    for (int i = 0; i <= s->peers; i++) {
        least[i] = run(s, i - 1, PATIENT_RUNS);
        calls[i] = 1 + (int64_t)(seconds_of_a_run / run(s, i - 1, PATIENT_RUNS));
        if (least[i] > longest) longest = least[i];
    }
    int rounds = longest > 0 ? (int)(seconds_of_a_subject / longest) : ROUNDS;
    rounds = rounds > ROUNDS ? ROUNDS : rounds < LEAST_ROUNDS ? LEAST_ROUNDS : rounds;
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i <= s->peers; i++) {
            const double taken = run(s, i - 1, calls[i]);
            if (taken < least[i]) least[i] = taken;
        }
}

static void measure(subjects *s, const transform *t) {
    weft_problem problem = {
        .rank = t->rank, .kind = s->kind, .precision = s->precision, .batch = t->batch};
    const weft_options options = {
        .engine = WEFT_ENGINE_NATIVE, .device = WEFT_HOST, .threads = s->threads};
    for (int a = 0; a < t->rank; a++) {
        problem.n[a] = t->n[a];
        problem.axis[a] = s->axis;
    }
    if (weft_plan_create(s->ctx, &problem, &options, &s->plan) != WEFT_SUCCESS)
        stop("weft:", weft_last_error(s->ctx));
    const size_t side = (size_t)(numbers_of(s, t) * t->batch) * sizeof(double);
    s->in = aligned_alloc(64, (side + 63) / 64 * 64);
    s->out = aligned_alloc(64, (side + 63) / 64 * 64);
    if (!s->in || !s->out) stop("not enough memory for", "the arrays");
    for (int i = 0; i < s->peers; i++) plan_peer(s, t, &s->peer[i]);
    memset(s->in, 0, side);
    memset(s->out, 0, side);
    double least[MOST_PEERS + 1], best = 0;
    take_turns(s, least);
    for (int a = 0; a < t->rank; a++) printf("%s%d", a > 0 ? "x" : "", t->n[a]);
    printf(",%d,%.1f", t->batch, least[0] * 1e9);
    for (int i = 0; i < s->peers; i++) {
        if (i == 0 || least[i + 1] < best) best = least[i + 1];
        printf(",%.1f", least[i + 1] * 1e9);
        s->peer[i].library.destroy_plan(s->peer[i].plan);
    }
    printf(s->peers > 0 ? ",%.2f\n" : "\n", best / least[0]);
    fflush(stdout);
    weft_plan_destroy(&s->plan);
    free(s->in);
    free(s->out);
}

static void measure_shapes(subjects *s, const char *text);

/* One shape, or a range of powers of two. */
static void measure_shape(subjects *s, char *text) {
    transform t = {.batch = 1};
    char *batch = strchr(text, '*'), *range = strstr(text, "..");
    if (batch) t.batch = atoi(batch + 1);
    if (batch) *batch = '\0';
    if (strcmp(text, "lines") == 0) {
        char list[2 * sizeof lines], *end = list;
        for (const char *c = lines; batch && *c; c++)
            end += *c == ',' ? sprintf(end, "*%d,", t.batch) : sprintf(end, "%c", *c);
        if (batch) sprintf(end, "*%d", t.batch);
        measure_shapes(s, batch ? list : lines);
        return;
    }
    if (range) {
        const int last = atoi(range + 2);
        t.rank = 1;
        for (t.n[0] = atoi(text); t.n[0] > 0 && t.n[0] <= last; t.n[0] *= 2) measure(s, &t);
        return;
    }
    for (char *n = text; n && t.rank < MOST_AXES; n = strchr(n, 'x'), n = n ? n + 1 : NULL)
        t.n[t.rank++] = atoi(n);
    if (t.batch < 1 || all_points(&t) < 1) stop("not a shape:", text);
    measure(s, &t);
}

static void choose_kind(const char *name, subjects *s) {
    s->kind = WEFT_R2R;
    if (strcmp(name, "c2c") == 0) s->kind = WEFT_C2C;
    if (strcmp(name, "r2c") == 0 || strcmp(name, "c2r") == 0) s->kind = WEFT_R2C;
    if (strcmp(name, "c2r") == 0) s->direction = WEFT_INVERSE;
    if (s->kind != WEFT_R2R) return;
    if (!find_axis(name, strlen(name), &s->axis) || s->axis < WEFT_DCT1 || s->axis > WEFT_DST4)
        stop("not a kind:", name);
}

static void measure_shapes(subjects *s, const char *text) {
    char shape[64];
    while (*text) {
        const size_t length = strcspn(text, ",");
        snprintf(shape, sizeof shape, "%.*s", (int)length, text);
        measure_shape(s, shape);
        text += length + (text[length] == ',');
    }
}

int main(int argc, char **argv) {
    if (argc < 5 || argc > 5 + MOST_PEERS) return 2;
    const bool single = strcmp(argv[1], "single") == 0;
    subjects s = {.precision = single ? WEFT_SINGLE : WEFT_DOUBLE,
                  .threads = atoi(argv[3]),
                  .peers = argc - 5};
    choose_kind(argv[2], &s);
    printf("shape,batch,weft ns");
    for (int i = 0; i < s.peers; i++) {
        open_peer(argv[5 + i], single, s.threads, &s.peer[i]);
        printf(",%s ns", s.peer[i].name);
    }
    printf(s.peers > 0 ? ",speed over the fastest\n" : "\n");
    if (weft_context_create(NULL, &s.ctx) != WEFT_SUCCESS) stop("weft:", weft_last_error(NULL));
    measure_shapes(&s, argv[4]);
    weft_context_destroy(&s.ctx);
    return 0;
}
