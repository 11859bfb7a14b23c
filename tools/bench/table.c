/* Formats rows as RFC 4180 wants them, and writes both files. */
#include "bench/table.h"

#include "support/clock.h"
#include "support/error.h"

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char header[] =
    "library,version,host,device,shape,kind,precision,direction,ranks,grid,strategy,variant,"
    "exchange1,exchange2,aware,engine,iteration,rank,total,fft,pack,exchange,unpack,copy,local,"
    "first_message,last_message,bytes_sent,memory_peak,error,batch,layout,threads,effort,config,"
    "check,block,cell\n";

/* Seconds. Bringing rows to a disk takes milliseconds, which small blocks do not have. */
static const double between_writes = 1.0;

/* A file that grows at its end, and what is to be added. */
typedef struct growing_file {
    const char *path;
    int descriptor;
    off_t bytes;
    FILE *kept;
    char *text;
    size_t length;
} growing_file;

struct bench_table {
    growing_file rows, journal;
    double written; /* when last */
    weft_status status;
    char sentence[1024];
};

static void keep_failure(bench_table *table, weft_status status) {
    if (table->status != WEFT_SUCCESS || status == WEFT_SUCCESS) return;
    table->status = status;
    snprintf(table->sentence, sizeof table->sentence, "%s", weft_thread_error());
}

weft_status bench_table_status(const bench_table *table) {
    if (table->status != WEFT_SUCCESS) weft_thread_error_set(table->sentence);
    return table->status;
}

double bench_finite_error(double error) {
    return isfinite(error) ? error : DBL_MAX;
}

/* ---- files ---- */

static weft_status open_growing(const char *path, growing_file *file) {
    file->path = path;
    file->descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    file->bytes = file->descriptor >= 0 ? lseek(file->descriptor, 0, SEEK_END) : -1;
    if (file->bytes < 0)
        return weft_fail(WEFT_ERROR_SYSTEM, "%s: cannot be written: %s", path, strerror(errno));
    file->kept = open_memstream(&file->text, &file->length);
    if (!file->kept) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for %s", path);
    return WEFT_SUCCESS;
}

static void close_growing(growing_file *file) {
    if (file->kept) fclose(file->kept);
    free(file->text);
    if (file->descriptor >= 0) close(file->descriptor);
}

/* Appends what was kept and brings it to the disk; what fits only in part is taken back. */
static weft_status write_growing(growing_file *file) {
    if (fflush(file->kept) != 0 || ferror(file->kept))
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for %s", file->path);
    if (file->length == 0) return WEFT_SUCCESS;
    size_t written = 0;
    while (written < file->length) {
        ssize_t now = write(file->descriptor, file->text + written, file->length - written);
        if (now < 0 && errno == EINTR) continue;
        if (now <= 0) break;
        written += (size_t)now;
    }
    if (written < file->length || fsync(file->descriptor) != 0) {
        int code = errno;
        if (ftruncate(file->descriptor, file->bytes) != 0) code = errno;
        return weft_fail(WEFT_ERROR_SYSTEM, "%s: writing failed: %s", file->path, strerror(code));
    }
    file->bytes += (off_t)written;
    rewind(file->kept);
    return WEFT_SUCCESS;
}

weft_status bench_table_open(const char *rows, const char *journal, bench_table **out) {
    bench_table *table = calloc(1, sizeof *table);
    if (!table) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for %s", rows);
    table->rows.descriptor = table->journal.descriptor = -1;
    weft_status status = open_growing(rows, &table->rows);
    if (status == WEFT_SUCCESS) status = open_growing(journal, &table->journal);
    if (status != WEFT_SUCCESS) {
        bench_table_close(table);
        return status;
    }
    if (table->rows.bytes == 0) fputs(header, table->rows.kept);
    *out = table;
    return WEFT_SUCCESS;
}

void bench_table_close(bench_table *table) {
    if (!table) return;
    close_growing(&table->rows);
    close_growing(&table->journal);
    free(table);
}

/* ---- rows ---- */

static void add_text(FILE *stream, const char *text) {
    bool plain = text[strcspn(text, ",\"\r\n")] == '\0';
    if (!plain) fputc('"', stream);
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '"') fputc('"', stream);
        fputc(*c, stream);
    }
    fputs(plain ? "," : "\",", stream);
}

static void add_number(FILE *stream, double number) {
    if (isnan(number))
        fputc(',', stream);
    else
        fprintf(stream, "%.9g,", number);
}

static void add_bytes(FILE *stream, double bytes) {
    if (isnan(bytes))
        fputc(',', stream);
    else
        fprintf(stream, "%.0f,", bytes);
}

static const char *member(const json_t *cell, const char *name, const char *otherwise) {
    const char *text = json_string_value(json_object_get(cell, name));
    return text ? text : otherwise;
}

static void add_problem(FILE *stream, const bench_problem *p) {
    char kind[BENCH_KIND_BYTES];
    for (int a = 0; a < p->rank; a++)
        fprintf(stream, "%lld%s", (long long)p->n[a], a + 1 < p->rank ? "x" : ",");
    bench_kind_text(p, kind);
    add_text(stream, kind);
    add_text(stream, weft_precision_name(p->precision));
    add_text(stream, p->direction == WEFT_FORWARD ? "forward" : "inverse");
    fprintf(stream, "%d,", p->ranks);
}

static void add_phases(FILE *stream, const bench_phases *t) {
    const double seconds[] = {t->total, t->fft,   t->pack,          t->exchange,    t->unpack,
                              t->copy,  t->local, t->first_message, t->last_message};
    for (size_t i = 0; i < sizeof seconds / sizeof seconds[0]; i++) add_number(stream, seconds[i]);
    add_bytes(stream, t->bytes_sent);
}

void bench_table_add(bench_table *table, const bench_row *row) {
    const bench_contestant *c = row->contestant;
    const bench_problem *p = c->problem;
    FILE *stream = table->rows.kept;
    add_text(stream, member(row->cell, "library", ""));
    const char *const before[] = {c->version, row->host, c->device};
    for (size_t i = 0; i < 3; i++) add_text(stream, before[i]);
    add_problem(stream, p);
    const char *const columns[] = {c->grid,        c->strategy, c->variant, c->exchange[0],
                                   c->exchange[1], c->aware,    c->engine};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) add_text(stream, columns[i]);
    fprintf(stream, "%d,%d,", row->iteration, row->rank);
    add_phases(stream, &row->phases);
    add_bytes(stream, row->memory_peak);
    add_number(stream, bench_finite_error(row->error));
    fprintf(stream, "%lld,%s,%d,", (long long)p->batch, p->strided ? "strided" : "contiguous",
            (int)json_integer_value(json_object_get(row->cell, "threads")));
    add_text(stream, member(row->cell, "effort", ""));
    add_text(stream, member(row->cell, "config", "-"));
    add_text(stream, row->check);
    fprintf(stream, "%d,%s\n", row->block, member(row->cell, "cell", ""));
}

/* ---- the journal ---- */

void bench_table_note(bench_table *table, json_t *line) {
    if (!line || json_dumpf(line, table->journal.kept, JSON_REAL_PRECISION(9)) != 0)
        keep_failure(table,
                     weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for %s", table->journal.path));
    fputc('\n', table->journal.kept);
    json_decref(line);
}

void bench_table_write(bench_table *table) {
    if (table->status == WEFT_SUCCESS) keep_failure(table, write_growing(&table->rows));
    if (table->status == WEFT_SUCCESS) keep_failure(table, write_growing(&table->journal));
    table->written = weft_clock();
}

void bench_table_end_block(bench_table *table, json_t *line) {
    fflush(table->rows.kept); /* so that length is true */
    json_int_t bytes = (json_int_t)table->rows.bytes + (json_int_t)table->rows.length;
    json_object_set_new(line, "bytes", json_integer(bytes));
    bench_table_note(table, line);
    if (weft_clock() - table->written > between_writes) bench_table_write(table);
}
