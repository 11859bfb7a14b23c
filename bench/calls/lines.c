/*
 * Nanoseconds of a transform of one contiguous line by weft, on one thread with the native engine,
 * and by libraries that have FFTW's interface, which are opened at run time:
 *
 *     bench_lines PRECISION KIND FIRST LAST NAME=FILE...
 *     bench_lines double c2c 2 65536 fftw=libfftw3.so.3 mkl=libmkl_rt.so
 *
 * takes powers of two and a list of other lengths, out of place; KIND is c2c (forward), r2c or c2r.
 * The subjects take turns; of many short runs, the least. Peers plan with FFTW_MEASURE. Writes one
 * row of CSV for each length: that of the fastest peer over that of weft is the last column.
 */
#include <weft/weft.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    MOST_PEERS = 4,
    ROUNDS = 60,
    NANOSECONDS_OF_A_RUN = 30000,
    PATIENT_RUNS = 3,
    LONGEST = 65536,
    MEASURE = 0 /* FFTW_MEASURE */
};

typedef enum kind { C2C, R2C, C2R } kind;

typedef void *(*plan_c2c)(int n, void *in, void *out, int sign, unsigned flags);
typedef void *(*plan_real)(int n, void *in, void *out, unsigned flags);
typedef void (*execute)(void *plan);

typedef struct peer {
    const char *name;
    plan_c2c c2c;
    plan_real r2c, c2r;
    execute run, destroy;
    void *plan;
} peer;

typedef struct subject {
    weft_plan weft;
    const peer *peer; /* NULL: weft */
    weft_direction direction;
    const void *in;
    void *out;
} subject;

static const int others[] = {
    6,    9,    10,       12,   15,   18,   20,   24,   25,   27,    30,   36,   40,   45,
    48,   50,   60,       75,   77,   80,   81,   96,   100,  105,   120,  125,  144,  150,
    169,  180,  192,      200,  210,  240,  243,  250,  255,  300,   343,  360,  384,  400,
    480,  500,  512 + 88, 625,  640,  720,  729,  750,  768,  800,   900,  960,  1000, 1001,
    1080, 1200, 1331,     1440, 1536, 1920, 2000, 2187, 2310, 2401,  2500, 3000, 3072, 3125,
    3600, 4000, 4290,     5000, 6000, 6561, 7500, 8000, 9000, 10000, 3,    5,    7,    11,
    13,   17,   31,       47,   67,   101,  127,  251,  509,  1009,  2003, 4099, 9973, 0};

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void *symbol(void *library, const char *prefix, const char *name) {
    char whole[64];
    snprintf(whole, sizeof whole, "%s_%s", prefix, name);
    void *found = dlsym(library, whole);
    if (!found) {
        fprintf(stderr, "lines: no %s\n", whole);
        exit(1);
    }
    return found;
}

#define FIND(function, text)                                                                       \
    do {                                                                                           \
        void *found = symbol(library, prefix, text);                                               \
        memcpy(&(function), &found, sizeof found);                                                 \
    } while (0)

static void open_peer(char *argument, const char *prefix, peer *p) {
    char *file = strchr(argument, '=');
    if (!file) exit(1);
    *file++ = '\0';
    p->name = argument;
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "lines: %s\n", dlerror());
        exit(1);
    }
    FIND(p->c2c, "plan_dft_1d");
    FIND(p->r2c, "plan_dft_r2c_1d");
    FIND(p->c2r, "plan_dft_c2r_1d");
    FIND(p->run, "execute");
    FIND(p->destroy, "destroy_plan");
}

static double run(const subject *s, int64_t calls) {
    const double start = seconds();
    if (s->peer)
        for (int64_t i = 0; i < calls; i++) s->peer->run(s->peer->plan);
    else
        for (int64_t i = 0; i < calls; i++)
            (void)weft_execute(s->weft, s->direction, s->in, s->out);
    return (seconds() - start) / (double)calls;
}

static weft_status measure(weft_context ctx, weft_precision precision, kind k, int n, peer *peers,
                           int count, double *in, double *out) {
    const weft_problem problem = {
        .rank = 1, .n = {n}, .kind = k == C2C ? WEFT_C2C : WEFT_R2C, .precision = precision};
    const weft_options options = {.engine = WEFT_ENGINE_NATIVE, .device = WEFT_HOST, .threads = 1};
    subject s[MOST_PEERS + 1] = {
        {.direction = k == C2R ? WEFT_INVERSE : WEFT_FORWARD, .in = in, .out = out}};
    weft_status status = weft_plan_create(ctx, &problem, &options, &s[0].weft);
    if (status != WEFT_SUCCESS) return status;
    double least[MOST_PEERS + 1];
    int64_t calls[MOST_PEERS + 1];
    for (int i = 0; i < count; i++) {
        peer *p = &peers[i];
        p->plan = k == C2C   ? p->c2c(n, in, out, -1, MEASURE)
                  : k == R2C ? p->r2c(n, in, out, MEASURE)
                             : p->c2r(n, in, out, MEASURE);
        s[i + 1] = (subject){.peer = p};
    }
    memset(in, 0, 2 * (LONGEST + 2) * sizeof *in);
    for (int i = 0; i <= count; i++) {
        least[i] = run(&s[i], PATIENT_RUNS);
        calls[i] = 1 + (int64_t)(NANOSECONDS_OF_A_RUN * 1e-9 / run(&s[i], PATIENT_RUNS));
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i <= count; i++) {
            const double taken = run(&s[i], calls[i]);
            if (taken < least[i]) least[i] = taken;
        }
    double best = 1e9;
    printf("%d,%.1f", n, least[0] * 1e9);
    for (int i = 1; i <= count; i++) {
        if (least[i] < best) best = least[i];
        printf(",%.1f", least[i] * 1e9);
        peers[i - 1].destroy(peers[i - 1].plan);
    }
    printf(count > 0 ? ",%.2f\n" : "\n", best / least[0]);
    fflush(stdout);
    weft_plan_destroy(&s[0].weft);
    return WEFT_SUCCESS;
}

int main(int argc, char **argv) {
    if (argc < 5 || argc > 5 + MOST_PEERS) return 2;
    const bool single = strcmp(argv[1], "single") == 0;
    const kind k = strcmp(argv[2], "c2c") == 0 ? C2C : strcmp(argv[2], "r2c") == 0 ? R2C : C2R;
    const int first = atoi(argv[3]), last = atoi(argv[4]), count = argc - 5;
    peer peers[MOST_PEERS];
    printf("n,weft ns");
    for (int i = 0; i < count; i++) {
        open_peer(argv[5 + i], single ? "fftwf" : "fftw", &peers[i]);
        printf(",%s ns", peers[i].name);
    }
    printf(count > 0 ? ",speed over the fastest\n" : "\n");
    const size_t bytes = 2 * (LONGEST + 2) * sizeof(double);
    double *in = aligned_alloc(64, (bytes + 63) / 64 * 64);
    double *out = aligned_alloc(64, (bytes + 63) / 64 * 64);
    weft_context ctx = NULL;
    weft_status status = in && out ? weft_context_create(NULL, &ctx) : WEFT_ERROR_OUT_OF_MEMORY;
    const weft_precision precision = single ? WEFT_SINGLE : WEFT_DOUBLE;
    for (int n = 2; n <= LONGEST && status == WEFT_SUCCESS; n *= 2)
        if (n >= first && n <= last) status = measure(ctx, precision, k, n, peers, count, in, out);
    for (int i = 0; others[i] > 0 && status == WEFT_SUCCESS; i++)
        if (others[i] >= first && others[i] <= last)
            status = measure(ctx, precision, k, others[i], peers, count, in, out);
    if (status != WEFT_SUCCESS) fprintf(stderr, "lines: %s\n", weft_last_error(ctx));
    weft_context_destroy(&ctx);
    free(in);
    free(out);
    return status != WEFT_SUCCESS;
}
