/*
 * A plan holds no more than it says: the peak resident memory of every rank, beyond a baseline, is
 * at most 2 % above input + output + weft_plan_memory, not counting partners' workspaces that it
 * read. The baseline is the resident memory once MPI is up, its connections are made and the engine
 * is loaded. Linux only: reads /proc/self/status and smaps, and resets the peak through
 * /proc/self/clear_refs.
 */
#include <weft/weft_mpi.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const weft_problem problem = {.rank = 3, .n = {256, 256, 256}, .kind = WEFT_R2C};

static const struct {
    const char *name;
    weft_options options;
} cases[] = {
    {"auto", {.effort = WEFT_MEASURE}},
    {"slab-2d1d realigned p2p-sync",
     {.effort = WEFT_MEASURE,
      .decomposition = WEFT_SLAB_2D1D,
      .variant = WEFT_REALIGNED,
      .exchange = {WEFT_P2P_SYNC}}},
    {"slab-2d1d default a2a-type",
     {.effort = WEFT_MEASURE,
      .decomposition = WEFT_SLAB_2D1D,
      .variant = WEFT_DEFAULT,
      .exchange = {WEFT_A2A_TYPE}}},
    {"slab-2d1d default peer",
     {.effort = WEFT_MEASURE,
      .decomposition = WEFT_SLAB_2D1D,
      .variant = WEFT_DEFAULT,
      .exchange = {WEFT_PEER}}},
};

/* A field of /proc/self/status in bytes, such as VmHWM (peak) or VmRSS (now). */
static double status_bytes(const char *field) {
    char line[256];
    double kilobytes = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (strncmp(line, field, strlen(field)) == 0)
            kilobytes = strtod(line + strlen(field) + 1, NULL);
    if (status) fclose(status);
    return kilobytes * 1024;
}

/* What this rank has read of partners' workspaces: pages that are theirs, but mapped here too. */
static double partners_bytes(void) {
    char line[512];
    double kilobytes = 0;
    bool theirs = false;
    FILE *maps = fopen("/proc/self/smaps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        char access[8];
        if (sscanf(line, "%lx-%lx %7s", &from, &to, access) == 3)
            theirs = strcmp(access, "r--s") == 0 && strstr(line, "/memfd:weft");
        if (theirs && strncmp(line, "Rss:", 4) == 0) kilobytes += strtod(line + 4, NULL);
    }
    if (maps) fclose(maps);
    return kilobytes * 1024;
}

static void reset_peak(void) {
    FILE *clear = fopen("/proc/self/clear_refs", "w");
    if (!clear) return;
    fputs("5", clear);
    fclose(clear);
}

static void fail(const char *what) {
    fprintf(stderr, "memory: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void must(weft_status status) {
    if (status != WEFT_SUCCESS) fail(weft_last_error(NULL));
}

/* Messages between all pairs, so that MPI's own buffers are in the baseline. */
static void connect_all(void) {
    const int count = 1 << 16;
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char *send = calloc((size_t)ranks, (size_t)count),
         *receive = calloc((size_t)ranks, (size_t)count);
    if (!send || !receive) fail("no memory");
    MPI_Alltoall(send, count, MPI_CHAR, receive, count, MPI_CHAR, MPI_COMM_WORLD);
    free(send);
    free(receive);
}

/* Every way to run a plan, so that all it holds is touched; `out` has room for both spaces. */
static void run_all_ways(weft_plan plan, size_t in_bytes, char *in, char *out) {
    must(weft_execute(plan, WEFT_FORWARD, in, out));
    must(weft_execute(plan, WEFT_INVERSE, out, in));
    memcpy(out, in, in_bytes);
    must(weft_execute(plan, WEFT_FORWARD, out, out));
    must(weft_execute(plan, WEFT_INVERSE, out, out));
}

/* Whether this rank's peak stays within what the plan says; the rehearsal does not count. */
static bool holds_what_it_says(weft_context ctx, int i, bool rehearsal) {
    weft_plan plan = NULL;
    weft_memory memory;
    size_t in_bytes, out_bytes;
    reset_peak();
    double baseline = status_bytes("VmRSS");
    must(weft_plan_create(ctx, &problem, &cases[i].options, &plan));
    reset_peak();
    must(weft_plan_bytes(plan, WEFT_INPUT, &in_bytes));
    must(weft_plan_bytes(plan, WEFT_OUTPUT, &out_bytes));
    if (in_bytes > out_bytes) out_bytes = in_bytes;
    char *in = malloc(in_bytes + 1), *out = malloc(out_bytes + 1);
    if (!in || !out) fail("no memory");
    memset(in, 0, in_bytes);
    memset(out, 0, out_bytes);
    run_all_ways(plan, in_bytes, in, out);
    double peak = status_bytes("VmHWM") - baseline - partners_bytes();
    must(weft_plan_memory(plan, &memory));
    double told = (double)(in_bytes + out_bytes + memory.total);
    bool holds = rehearsal || peak <= 1.02 * told;
    if (!holds)
        fprintf(stderr, "%s: peak %.0f bytes, told %.0f bytes\n", cases[i].name, peak, told);
    weft_plan_destroy(&plan);
    free(in);
    free(out);
    return holds;
}

int main(int argc, char **argv) {
    weft_context ctx = NULL;
    int level, failed = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    weft_engine_probe(WEFT_ENGINE_FFTW, NULL);
    must(weft_mpi_context_create(MPI_COMM_WORLD, NULL, &ctx));
    connect_all();
    MPI_Barrier(MPI_COMM_WORLD);
    /* MPI takes buffers of its own at the first large messages; they belong to the baseline. */
    holds_what_it_says(ctx, 0, true);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        failed |= !holds_what_it_says(ctx, (int)i, false);
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    weft_context_destroy(&ctx);
    MPI_Finalize();
    return failed;
}
