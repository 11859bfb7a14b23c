/*
 * Peak memory of each rank against what weft says it holds: VmHWM beyond a baseline, beside input +
 * output + weft_plan_memory. The baseline is the resident memory once MPI is up, its connections
 * are made and FFTW is loaded. Linux only: reads /proc/self/status and resets the peak through
 * /proc/self/clear_refs. Exit status 1 where some rank's peak is more than 2 % above what was told.
 */
#include "contestant.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A field of /proc/self/status in bytes, such as VmHWM (peak) or VmRSS (now). */
static double status_bytes(const char *field) {
    char line[256];
    double kilobytes = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status)) {
        if (strncmp(line, field, strlen(field)) == 0) {
            kilobytes = strtod(line + strlen(field) + 1, NULL);
        }
    }
    if (status) fclose(status);
    return kilobytes * 1024;
}

static void reset_peak(void) {
    FILE *clear = fopen("/proc/self/clear_refs", "w");
    if (!clear) return;
    fputs("5", clear);
    fclose(clear);
}

/* Messages between all pairs, so that MPI's own buffers are in the baseline. */
static void connect_all(int ranks) {
    const int count = 1 << 16;
    size_t bytes = (size_t)count * (size_t)ranks;
    char *send = calloc(1, bytes), *receive = calloc(1, bytes);
    if (send && receive) {
        MPI_Alltoall(send, count, MPI_CHAR, receive, count, MPI_CHAR, MPI_COMM_WORLD);
    }
    free(send);
    free(receive);
}

/* Every way to run a plan, so that all it holds is touched; `out` has room for both spaces. */
static void run_all_ways(const contestant *plan, char *in, char *out) {
    weft_execute(plan->state, WEFT_FORWARD, in, out);
    weft_execute(plan->state, WEFT_INVERSE, out, in);
    memcpy(out, in, plan->in_bytes);
    weft_execute(plan->state, WEFT_FORWARD, out, out);
    weft_execute(plan->state, WEFT_INVERSE, out, out);
}

/* Exit status of one configuration; a rehearsal is not reported. */
static int measure(const bench_case *c, weft_context ctx, const char *config, bool rehearsal) {
    contestant plan;
    weft_memory memory;
    double baseline, planning, peak, told;
    reset_peak();
    baseline = status_bytes("VmRSS");
    if (!contestant_weft_open(c, ctx, config, &plan)) return 1;
    planning = status_bytes("VmHWM") - baseline;
    reset_peak();
    size_t out_bytes = plan.out_bytes > plan.in_bytes ? plan.out_bytes : plan.in_bytes;
    char *in = malloc(plan.in_bytes + 1), *out = malloc(out_bytes + 1);
    if (!in || !out) return 1;
    memset(out, 0, out_bytes);
    bench_fill(c, &plan.in, in);
    run_all_ways(&plan, in, out);
    peak = status_bytes("VmHWM") - baseline;
    weft_plan_memory(plan.state, &memory);
    told = (double)(plan.in_bytes + out_bytes + memory.total);
    const double mib = 1024 * 1024;
    if (!rehearsal)
        printf("%s,%d,%d,%.1f,%.1f,%.1f,%.1f,%.1f,%.1f,%.3f\n", config, c->ranks, c->rank,
               baseline / mib, (double)plan.in_bytes / mib, (double)out_bytes / mib,
               (double)memory.total / mib, planning / mib, peak / mib, peak / told);
    fflush(stdout);
    plan.close(&plan);
    free(in);
    free(out);
    int over = !rehearsal && peak > 1.02 * told;
    MPI_Allreduce(MPI_IN_PLACE, &over, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return over;
}

int main(int argc, char **argv) {
    bench_case c;
    weft_context ctx = NULL;
    int level, failed = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (bench_case_read(argc, argv, &c) != 0) {
        MPI_Finalize();
        return 2;
    }
    if (c.configs == 0) c.config[c.configs++] = "auto";
    weft_engine_probe(WEFT_ENGINE_FFTW, NULL);
    if (weft_mpi_context_create(MPI_COMM_WORLD, NULL, &ctx) != WEFT_SUCCESS) {
        fprintf(stderr, "memory: %s\n", weft_last_error(NULL));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    connect_all(c.ranks);
    if (c.rank == 0) {
        printf("config,ranks,rank,baseline_MiB,input_MiB,output_MiB,plan_MiB,planning_peak_MiB,"
               "peak_MiB,peak_over_told\n");
        fflush(stdout);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    /* MPI takes buffers of its own at the first large messages; they belong to the baseline. */
    measure(&c, ctx, c.config[0], true);
    for (int i = 0; i < c.configs; i++) failed |= measure(&c, ctx, c.config[i], false);
    weft_context_destroy(&ctx);
    MPI_Finalize();
    return failed;
}
