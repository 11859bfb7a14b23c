/* Sentences for people, lines for the journal. */
#include "bench/verdict.h"

#include <stdio.h>

static const char *member(const json_t *cell, const char *name, const char *otherwise) {
    const char *text = json_string_value(json_object_get(cell, name));
    return text ? text : otherwise;
}

void bench_verdict_name(const bench_problem *p, const json_t *cell, char *name, size_t capacity) {
    char shape[64] = "", batch[48] = "", kind[BENCH_KIND_BYTES];
    size_t length = 0;
    for (int a = 0; a < p->rank && length < sizeof shape; a++)
        length += (size_t)snprintf(shape + length, sizeof shape - length, "%s%lld",
                                   a > 0 ? "x" : "", (long long)p->n[a]);
    if (p->batch > 1 || p->strided)
        snprintf(batch, sizeof batch, " batch %lld%s", (long long)p->batch,
                 p->strided ? " strided" : "");
    bench_kind_text(p, kind);
    snprintf(name, capacity, "%s %s %s %s%s, %d rank%s: %s %s", shape, kind,
             weft_precision_name(p->precision),
             p->direction == WEFT_FORWARD ? "forward" : "inverse", batch, p->ranks,
             p->ranks > 1 ? "s" : "", member(cell, "library", "?"), member(cell, "config", "-"));
}

void bench_verdict_left(bench_table *table, const bench_entrant *e) {
    char name[256];
    const char *verdict = bench_entrant_skipped(e) ? "skipped" : "failed";
    bench_verdict_name(e->contestant.problem, e->cell, name, sizeof name);
    printf("%s: %s: %s\n", name, verdict, e->sentence);
    fflush(stdout);
    bench_table_note(table, json_pack("{s:s, s:s, s:s}", "type", verdict, "cell",
                                      member(e->cell, "cell", ""), "reason", e->sentence));
}

void bench_verdict_wrong(bench_table *table, const bench_problem *p, const json_t *cell,
                         const char *what, double error, double bound) {
    char name[256];
    bench_verdict_name(p, cell, name, sizeof name);
    printf("%s: WRONG: %s %.1e is above %.1e\n", name, what, error, bound);
    fflush(stdout);
    char full[320];
    snprintf(full, sizeof full, "%s: %s", name, what);
    bench_table_note(table, json_pack("{s:s, s:s, s:f, s:f, s:s}", "type", "wrong", "cell",
                                      member(cell, "cell", ""), "error", bench_finite_error(error),
                                      "bound", bound, "what", full));
}

void bench_verdict_valid(const bench_entrant *e, double error, double laplacian) {
    char name[256], text[16] = "-";
    bench_verdict_name(e->contestant.problem, e->cell, name, sizeof name);
    if (laplacian >= 0) snprintf(text, sizeof text, "%.1e", laplacian);
    printf("%s  valid  error %.1e  laplacian %s\n", name, error, text);
    fflush(stdout);
}

void bench_verdict_time(const bench_entrant *e, double seconds) {
    char name[256];
    const bench_problem *p = e->contestant.problem;
    double shown = seconds < 1e-3 ? 1e6 * seconds : seconds < 1 ? 1e3 * seconds : seconds;
    const char *unit = seconds < 1e-3 ? "us" : seconds < 1 ? "ms" : "s";
    bench_verdict_name(p, e->cell, name, sizeof name);
    printf("%s  %.3g %s  %.3g GFLOP/s  error %.1e\n", name, shown, unit,
           1e-9 * bench_flops(p) / seconds, e->error);
    fflush(stdout);
}
