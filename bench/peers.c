/*
 * weft beside FFTW-MPI. Every iteration runs each contestant once, so that drift of the machine
 * falls on all alike; a barrier before each, and the time is the slowest rank's. Before timing, all
 * must agree on the spectrum.
 *
 * weft plans run in blocks of --together, each beside the same peers, and are compared with the
 * peers' median in their own block. Rank 0 prints one CSV line per run and, in lines that start
 * with '#', medians and ratios.
 */
#include "contestant.h"

#include <fftw3-mpi.h>
#include <stdlib.h>
#include <string.h>

#define PEERS 3

typedef struct buffers {
    size_t in_bytes, out_bytes;
    void *in, *out;
} buffers;

/* Results in any order, and results split as the input is. */
enum { ANY_ORDER, NATURAL_ORDER, ORDERS };

typedef struct tournament {
    bench_case c;
    weft_context ctx;
    buffers shared;
    contestant peer[PEERS];
    int peers;
    const char *best[ORDERS]; /* configurations so far ... */
    double ratio[ORDERS];     /* ... and their medians over the sum of the peers' */
    int final;
    bench_signature expected;
    int have_expected, disagreements;
} tournament;

static void fail(const char *what) {
    fprintf(stderr, "peers: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Grows the buffers to what a contestant needs and touches every page. */
static void provide(buffers *b, size_t in_bytes, size_t out_bytes) {
    if (in_bytes <= b->in_bytes && out_bytes <= b->out_bytes && b->in) return;
    if (in_bytes > b->in_bytes) b->in_bytes = in_bytes;
    if (out_bytes > b->out_bytes) b->out_bytes = out_bytes;
    fftw_free(b->in);
    fftw_free(b->out);
    b->in = fftw_malloc(b->in_bytes + 64);
    b->out = fftw_malloc(b->out_bytes + 64);
    if (!b->in || !b->out) fail("out of memory");
    memset(b->in, 0, b->in_bytes);
    memset(b->out, 0, b->out_bytes);
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *seconds, int count) {
    double *sorted = malloc((size_t)count * sizeof *sorted);
    if (!sorted) fail("out of memory");
    memcpy(sorted, seconds, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_doubles);
    double middle = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
    free(sorted);
    return middle;
}

static void case_name(const bench_case *c, char *name, size_t size) {
    snprintf(name, size, "%s-%lldx%lldx%lld", weft_kind_name(c->kind), (long long)c->n[0],
             (long long)c->n[1], (long long)c->n[2]);
}

/* One run on real input: warms the plan up and compares what it computed. */
static void verify(tournament *t, contestant *one) {
    bench_fill(&t->c, &one->in, t->shared.in);
    one->run(one, t->shared.in, t->shared.out);
    bench_signature signature = bench_sign(&one->out, t->shared.out);
    if (!t->have_expected) t->expected = signature;
    t->have_expected = 1;
    if (bench_agree(&signature, &t->expected)) return;
    t->disagreements++;
    if (t->c.rank == 0) {
        fprintf(stderr, "%s %s computes another spectrum\n", one->library, one->config);
    }
}

static void time_once(tournament *t, contestant *one) {
    char name[64];
    double mine, slowest = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    mine = MPI_Wtime();
    one->run(one, t->shared.in, t->shared.out);
    mine = MPI_Wtime() - mine;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    one->seconds = realloc(one->seconds, (size_t)(one->samples + 1) * sizeof *one->seconds);
    if (!one->seconds) fail("out of memory");
    one->seconds[one->samples++] = slowest;
    if (t->c.rank != 0) return;
    case_name(&t->c, name, sizeof name);
    printf("%s,%s,%s,%d,%s,%d,%.9f\n", one->library, one->version, name, t->c.ranks, one->config,
           one->first + one->samples - 1, slowest);
    fflush(stdout);
}

/* Compares a weft plan with the peers' runs of the same block. */
static void judge(tournament *t, const contestant *weft, const char *config) {
    double mine = median(weft->seconds, weft->samples), all = 0;
    int order = strstr(config, "natural") ? NATURAL_ORDER : ANY_ORDER;
    if (t->c.rank == 0) printf("# median,weft,%s,%.6f\n", config, mine);
    for (int p = 0; p < t->peers; p++) {
        const contestant *peer = &t->peer[p];
        double theirs = median(peer->seconds + peer->samples - weft->samples, weft->samples);
        all += theirs;
        if (t->final && t->c.rank == 0) {
            printf("# ratio,%s,%s,%.3f\n", peer->config, config, mine / theirs);
        }
    }
    if (t->best[order] && t->ratio[order] <= mine / all) return;
    t->best[order] = config;
    t->ratio[order] = mine / all;
}

/* Runs `count` configurations beside the peers. */
static void run_block(tournament *t, const char *const *config, int count) {
    contestant *weft = calloc((size_t)count, sizeof *weft);
    const char **opened = calloc((size_t)count, sizeof *opened);
    int open = 0;
    if (!weft || !opened) fail("out of memory");
    for (int i = 0; i < count; i++) {
        if (!contestant_weft_open(&t->c, t->ctx, config[i], &weft[open])) continue;
        provide(&t->shared, weft[open].in_bytes, weft[open].out_bytes);
        weft[open].first = t->final ? t->c.iterations : 0;
        opened[open++] = config[i];
    }
    for (int p = 0; p < t->peers; p++) verify(t, &t->peer[p]);
    for (int w = 0; w < open; w++) verify(t, &weft[w]);
    for (int i = 0; i < t->c.iterations; i++) {
        for (int p = 0; p < t->peers; p++) time_once(t, &t->peer[p]);
        for (int w = 0; w < open; w++) time_once(t, &weft[w]);
    }
    for (int w = 0; w < open; w++) {
        judge(t, &weft[w], opened[w]);
        weft[w].close(&weft[w]);
        free(weft[w].seconds);
    }
    free(opened);
    free(weft);
}

/* All configurations in blocks, then the best of each kind once more. */
static void run_all(tournament *t) {
    for (int next = 0; next < t->c.configs; next += t->c.together) {
        int left = t->c.configs - next;
        run_block(t, t->c.config + next, left < t->c.together ? left : t->c.together);
    }
    const char *finalists[ORDERS];
    int count = 0;
    for (int order = 0; order < ORDERS; order++) {
        if (t->best[order]) finalists[count++] = t->best[order];
    }
    t->final = 1;
    if (count > 0) run_block(t, finalists, count);
}

static void open_peers(tournament *t) {
    size_t bytes = contestant_fftw_bytes(&t->c);
    provide(&t->shared, bytes, bytes);
    for (int layout = t->c.ranks == 1 ? FFTW_SERIAL : FFTW_NATURAL; layout <= FFTW_TRANSPOSED;
         layout++) {
        double start = MPI_Wtime();
        contestant_fftw_open(&t->c, (fftw_layout)layout, t->shared.in, t->shared.out,
                             &t->peer[t->peers]);
        if (t->c.rank == 0) {
            printf("# planning,%s,%.3f\n", t->peer[t->peers].config, MPI_Wtime() - start);
        }
        t->peers++;
    }
}

/* All of decomposition x variant x exchange; on one rank nothing is exchanged. */
static void default_configs(bench_case *c) {
    static char names[BENCH_CONFIGS][96];
    c->config[c->configs++] = "auto";
    c->config[c->configs++] = "auto:natural";
    for (int d = WEFT_SLAB_2D1D; d <= WEFT_PENCIL; d++) {
        for (int v = WEFT_DEFAULT; v <= WEFT_REALIGNED; v++) {
            for (int e = WEFT_P2P_SYNC; e <= WEFT_A2A_TYPE; e++) {
                if (c->ranks == 1 && e != WEFT_A2A_SYNC) continue;
                snprintf(names[c->configs], sizeof names[0], "%s:%s:%s",
                         weft_decomposition_name((weft_decomposition)d),
                         weft_variant_name((weft_variant)v), weft_exchange_name((weft_exchange)e));
                c->config[c->configs] = names[c->configs];
                c->configs++;
            }
        }
    }
}

static void print_peers(const tournament *t) {
    for (int p = 0; p < t->peers; p++) {
        const contestant *peer = &t->peer[p];
        printf("# median,%s,%s,%.6f\n", peer->library, peer->config,
               median(peer->seconds, peer->samples));
    }
}

int main(int argc, char **argv) {
    static tournament t;
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (bench_case_read(argc, argv, &t.c) != 0) {
        MPI_Finalize();
        return 2;
    }
    fftw_mpi_init();
    if (t.c.configs == 0) default_configs(&t.c);
    if (weft_mpi_context_create(MPI_COMM_WORLD, NULL, &t.ctx) != WEFT_SUCCESS) {
        fail(weft_last_error(NULL));
    }
    if (t.c.rank == 0) printf("library,version,case,ranks,config,iteration,seconds\n");
    open_peers(&t);
    run_all(&t);
    if (t.c.rank == 0) print_peers(&t);
    for (int p = 0; p < t.peers; p++) {
        t.peer[p].close(&t.peer[p]);
        free(t.peer[p].seconds);
    }
    fftw_free(t.shared.in);
    fftw_free(t.shared.out);
    weft_context_destroy(&t.ctx);
    MPI_Finalize();
    return t.disagreements ? 1 : 0;
}
