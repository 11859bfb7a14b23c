/*
 * table.csv and journal.jsonl of a results folder. Rows and lines are kept in memory while a block
 * is measured. Between blocks, but not more often than once a second, the rows are written at once,
 * and after them the lines that speak of them, so that a run that is killed leaves whole rows up to
 * the length that its journal names.
 *
 * One rank keeps the table. Failures are kept, and told by bench_table_status.
 */
#ifndef WEFT_BENCH_TABLE_H
#define WEFT_BENCH_TABLE_H

#include "bench/contestant.h"

typedef struct bench_table bench_table;

/* One line of the table. Numbers that are NaN become empty fields. */
typedef struct bench_row {
    const bench_contestant *contestant;
    const json_t *cell;
    const char *host, *check;
    int iteration, rank, block;
    bench_phases phases;
    double memory_peak, error;
} bench_row;

/* Continues both files; a new table gets its header line. The caller closes. */
weft_status bench_table_open(const char *table, const char *journal, bench_table **out);
void bench_table_close(bench_table *table);

/* Keeps a row, or a line of the journal, whose reference it takes over. */
void bench_table_add(bench_table *table, const bench_row *row);
void bench_table_note(bench_table *table, json_t *line);

/* A block is over: keeps a line that is told how many bytes the table has with its rows, whose
 * reference it takes over, and writes where it is time to. */
void bench_table_end_block(bench_table *table, json_t *line);

/* Writes what was kept. */
void bench_table_write(bench_table *table);

/* Of everything so far: WEFT_SUCCESS, or the first failure, with its sentence. */
weft_status bench_table_status(const bench_table *table);

/* An error as JSON and tables can hold it: what is not a number becomes the largest. */
double bench_finite_error(double error);

#endif
