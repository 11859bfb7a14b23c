/* Rows whose error is that of a test, and verdicts that compare it with the test's bound. */
#include "bench/validation.h"

#include "bench/verdict.h"
#include "bench/weft_cell.h"
#include "validate_case.h"

#include "io/agreement.h"
#include "support/clock.h"
#include "support/error.h"

#include <math.h>
#include <string.h>
#include <weft/weft_mpi.h>

/* What the tests of one contestant gave. */
typedef struct verdicts {
    case_result result;
    bool redistributed; /* every element arrived where it belongs */
} verdicts;

/* A contestant of weft is planned for buffers on the host, which the tests read. */
static weft_status test(bench_entrant *e, const bench_run *run, weft_context context,
                        verdicts *found, bench_spent *spent) {
    bench_contestant *c = &e->contestant;
    MPI_Comm comm = run->world->comm;
    weft_cell cell;
    weft_plan plan = NULL;
    double start = weft_clock();
    WEFT_TRY(weft_array_agree(comm, weft_cell_read(c->problem, e->cell, &cell)));
    cell.options.location = WEFT_LOCATION_HOST;
    weft_status status =
        weft_array_agree(comm, weft_plan_create(context, &cell.problem, &cell.options, &plan));
    if (status == WEFT_SUCCESS) status = weft_cell_columns(&cell, plan, c);
    double planned = weft_clock();
    spent->planning += planned - start;
    if (status == WEFT_SUCCESS) status = case_run(plan, &cell.problem, run->world, &found->result);
    weft_plan_destroy(&plan);
    /* Indices move in the complex array at both ends; boxes are whole along its last axis. */
    cell.input.box.n[c->problem->rank - 1] =
        bench_extent(c->problem, WEFT_OUTPUT, c->problem->rank - 1);
    if (status == WEFT_SUCCESS)
        status = case_run_redistribution(context, &cell.problem, &cell.options, run->world,
                                         &found->redistributed);
    spent->checking += weft_clock() - planned;
    return status;
}

static void add_rows(const bench_run *run, const bench_entrant *e, const char *check,
                     double error) {
    bench_row row = {.contestant = &e->contestant,
                     .cell = e->cell,
                     .check = check,
                     .block = run->block,
                     .phases = bench_no_phases,
                     .memory_peak = NAN,
                     .error = error};
    row.phases.total = NAN;
    for (int r = 0; r < run->world->ranks; r++) {
        row.host = run->hosts[r];
        row.rank = r;
        bench_table_add(run->table, &row);
    }
}

/* Rows and verdicts of one contestant; returns whether it is right. All ranks know the results,
 * rank 0 writes. */
static bool judge(const bench_run *run, const bench_entrant *e, const verdicts *found) {
    const case_result *result = &found->result;
    const struct {
        const char *check;
        double error, bound;
    } tests[] = {{"round-trip", result->round_trip, result->bound},
                 {"laplacian", result->laplacian, result->laplacian_bound},
                 {"placement", result->placement, result->bound}};
    bool right = found->redistributed;
    for (size_t t = 0; t < sizeof tests / sizeof tests[0]; t++) {
        if (tests[t].error < 0) continue; /* the shape is too small for it */
        bool wrong = !(tests[t].error <= tests[t].bound);
        if (wrong) right = false;
        if (!run->table) continue;
        add_rows(run, e, tests[t].check, tests[t].error);
        if (wrong)
            bench_verdict_wrong(run->table, e->contestant.problem, e->cell, tests[t].check,
                                tests[t].error, tests[t].bound);
    }
    if (!found->redistributed && run->table) /* of an index, nothing but itself is near enough */
        bench_verdict_wrong(run->table, e->contestant.problem, e->cell, "index redistribution", 1,
                            0);
    if (right && run->table)
        bench_verdict_valid(e, fmax(result->round_trip, result->placement), result->laplacian);
    return right;
}

static void validate(bench_run *run, const bench_request *request, int i, weft_context context,
                     bench_spent *spent, json_t *cells) {
    verdicts found = {.redistributed = false};
    bench_entrant e = {.cell = request->cell[i], .contestant = {.problem = &request->problem}};
    if (strcmp(json_string_value(json_object_get(e.cell, "library")), "weft") != 0) return;
    weft_status status =
        request->problem.strided
            ? weft_fail(WEFT_ERROR_UNSUPPORTED, "a strided problem has no plan to validate")
            : test(&e, run, context, &found, spent);
    if (status != WEFT_SUCCESS) {
        bench_entrant_leave(&e, status);
        if (!bench_entrant_skipped(&e)) run->sound = false;
        if (run->table) bench_verdict_left(run->table, &e);
        return;
    }
    if (!judge(run, &e, &found)) run->sound = false;
    if (run->table) json_array_append(cells, json_object_get(e.cell, "cell"));
}

weft_status bench_validation_run(bench_run *run, const bench_request *request) {
    bench_spent spent = {0};
    weft_context context = NULL;
    weft_status status = weft_array_agree(
        run->world->comm, weft_mpi_context_create(run->world->comm, NULL, &context));
    json_t *cells = run->table ? json_array() : NULL;
    for (int i = 0; status == WEFT_SUCCESS && i < request->contestants; i++)
        validate(run, request, i, context, &spent, cells);
    weft_context_destroy(&context);
    if (status == WEFT_SUCCESS) return bench_block_end(run, &spent, cells);
    json_decref(cells);
    return status;
}
