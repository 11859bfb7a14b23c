/*
 * Any other library, through its adapter: a program that rank 0 starts and that runs one transform
 * for each line it reads. The program may be a group of MPI processes of its own; the ranks of this
 * group sleep while it works. It computes on its own data and tells its own error.
 */
#include "bench/contestant.h"
#include "bench/line_program.h"
#include "bench/meeting.h"
#include "support/error.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { SECONDS_TO_BE_READY = 300, SECONDS_TO_RUN = 600, CASE_WORDS = 14 };

/* What a line may tell, the seconds of the whole run first. */
enum { TOTAL, FFT, PACK, EXCHANGE, UNPACK, COPY, LOCAL, OWN_ERROR, MEMORY_PEAK, NUMBERS };
static const char *const number_names[NUMBERS] = {"",     "fft",   "pack",  "exchange",   "unpack",
                                                  "copy", "local", "error", "memory_peak"};

typedef struct adapter_state {
    line_program program;
    char command[256]; /* as a person would type it, for messages */
    int lines;         /* that it has written */
    double limit;      /* seconds for each line, as the job says; 0: the usual ones */
} adapter_state;

/* ---- the command ---- */

/* Appends a flag and its value to a command line. */
static void add_flag(char **argv, size_t *count, const char *flag, const char *value) {
    argv[(*count)++] = (char *)(uintptr_t)flag;
    argv[(*count)++] = (char *)(uintptr_t)value;
}

static void write_shape(const bench_problem *p, char *shape, size_t capacity) {
    size_t length = 0;
    for (int a = 0; a < p->rank && length < capacity; a++)
        length += (size_t)snprintf(shape + length, capacity - length, "%s%lld", a > 0 ? "x" : "",
                                   (long long)p->n[a]);
}

/* The adapter's own words; *command gets them joined. */
static weft_status read_words(const json_t *cell, char **argv, size_t words, char *command,
                              size_t capacity) {
    const json_t *adapter = json_object_get(cell, "adapter");
    size_t length = 0;
    for (size_t i = 0; i < words; i++) {
        const char *word = json_string_value(json_array_get(adapter, i));
        if (!word)
            return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                             "adapter: give a list of strings, the program and its arguments");
        argv[i] = (char *)(uintptr_t)word;
        if (length < capacity)
            length += (size_t)snprintf(command + length, capacity - length, "%s%s",
                                       i > 0 ? " " : "", word);
    }
    return WEFT_SUCCESS;
}

static weft_status start_with(adapter_state *state, const bench_problem *p, const json_t *cell,
                              char **argv, size_t words) {
    char shape[64], kind[BENCH_KIND_BYTES], batch[24], threads[24];
    const json_t *given = json_object_get(cell, "threads");
    WEFT_TRY(read_words(cell, argv, words, state->command, sizeof state->command));
    write_shape(p, shape, sizeof shape);
    bench_kind_text(p, kind);
    snprintf(batch, sizeof batch, "%lld", (long long)p->batch);
    snprintf(threads, sizeof threads, "%lld", given ? (long long)json_integer_value(given) : 1);
    size_t count = words;
    add_flag(argv, &count, "--shape", shape);
    add_flag(argv, &count, "--kind", kind);
    add_flag(argv, &count, "--precision", weft_precision_name(p->precision));
    add_flag(argv, &count, "--direction", p->direction == WEFT_FORWARD ? "forward" : "inverse");
    add_flag(argv, &count, "--batch", batch);
    add_flag(argv, &count, "--layout", p->strided ? "strided" : "contiguous");
    add_flag(argv, &count, "--threads", threads);
    const int error = line_program_start(&state->program, argv);
    if (!error) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_SYSTEM, "adapter %s: cannot be started: %s", state->command,
                     strerror(error));
}

static weft_status start(adapter_state *state, const bench_problem *p, const json_t *cell) {
    const size_t words = json_array_size(json_object_get(cell, "adapter"));
    if (words == 0)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "adapter: give a list of strings, the program and its arguments");
    char **argv = calloc(words + CASE_WORDS + 1, sizeof *argv);
    if (!argv) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory to start an adapter");
    weft_status status = start_with(state, p, cell, argv, words);
    free(argv);
    return status;
}

/* ---- lines ---- */

static weft_status tell_end(const adapter_state *state) {
    const int status = state->program.status;
    const bool signalled = WIFSIGNALED(status);
    const int number = signalled ? WTERMSIG(status) : WEXITSTATUS(status);
    if (state->lines == 0 && !signalled && number == 2)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "adapter %s: cannot do this case; its standard error says why",
                         state->command);
    return weft_fail(WEFT_ERROR_SYSTEM, "adapter %s: ended with %s %d before its line %d",
                     state->command, signalled ? "signal" : "status", number, state->lines + 1);
}

static weft_status read_line(adapter_state *state, double usual, char line[LINE_BYTES]) {
    const double seconds = state->limit > 0 ? state->limit : usual;
    switch (line_program_read(&state->program, seconds, line)) {
    case LINE_READ:
        state->lines++;
        return WEFT_SUCCESS;
    case LINE_ENDED:
        return tell_end(state);
    case LINE_LATE:
        line_program_kill(&state->program);
        return weft_fail(WEFT_ERROR_SYSTEM,
                         "adapter %s: line %d did not come within %g s, and it was ended; give its "
                         "peer more \"seconds\" in the job",
                         state->command, state->lines + 1, seconds);
    default:
        return weft_fail(WEFT_ERROR_SYSTEM, "adapter %s: line %d is longer than %d bytes",
                         state->command, state->lines + 1, LINE_BYTES - 1);
    }
}

static weft_status malformed(const adapter_state *state, const char *line, const char *expected) {
    return weft_fail(WEFT_ERROR_SYSTEM, "adapter %s: line %d is \"%.200s\"; %s", state->command,
                     state->lines, line, expected);
}

static weft_status read_ready(adapter_state *state, const json_t *cell, char version[48]) {
    const char *wanted = json_string_value(json_object_get(cell, "library"));
    char line[LINE_BYTES], library[48] = "", rest[2] = "";
    WEFT_TRY(read_line(state, SECONDS_TO_BE_READY, line));
    if (sscanf(line, "ready %47s %47s %1s", library, version, rest) != 2)
        return malformed(state, line, "expected: ready LIBRARY VERSION");
    if (wanted && strcmp(library, wanted) != 0)
        return malformed(state, line, "the job names another library");
    return WEFT_SUCCESS;
}

/* Reads "name=value" into its number; false where it is something else. */
static bool read_number(const char *word, double number[NUMBERS]) {
    for (int i = TOTAL + 1; i < NUMBERS; i++) {
        const size_t length = strlen(number_names[i]);
        if (strncmp(word, number_names[i], length) != 0 || word[length] != '=') continue;
        char *end;
        number[i] = strtod(word + length + 1, &end);
        return end > word + length + 1 && *end == '\0';
    }
    return false;
}

static weft_status read_numbers(adapter_state *state, double number[NUMBERS]) {
    char line[LINE_BYTES], words[LINE_BYTES], *rest = NULL, *end = NULL;
    for (int i = 0; i < NUMBERS; i++) number[i] = NAN;
    WEFT_TRY(read_line(state, SECONDS_TO_RUN, line));
    memcpy(words, line, sizeof words);
    const char *word = strtok_r(words, " \t\r", &rest);
    if (word) number[TOTAL] = strtod(word, &end);
    if (!word || end == word || *end != '\0' || !(number[TOTAL] > 0) || isinf(number[TOTAL]))
        return malformed(state, line, "expected: SECONDS [NAME=NUMBER ...]");
    for (word = strtok_r(NULL, " \t\r", &rest); word; word = strtok_r(NULL, " \t\r", &rest)) {
        if (!read_number(word, number))
            return malformed(state, line,
                             "names are fft pack exchange unpack copy local error memory_peak");
        if (strncmp(word, "error=", 6) == 0 && isnan(number[OWN_ERROR]))
            number[OWN_ERROR] = INFINITY; /* what is not a number is wrong, not unknown */
    }
    return WEFT_SUCCESS;
}

/* ---- the contestant ---- */

/* The cores of all ranks on the host of rank 0: an adapter that inherited those of rank 0 alone
 * would have fewer than the other contestants. Collective. */
static cpu_set_t cores_of_host(const bench_problem *p) {
    cpu_set_t mine, all;
    MPI_Comm host;
    CPU_ZERO(&mine);
    CPU_ZERO(&all);
    sched_getaffinity(0, sizeof mine, &mine);
    MPI_Comm_split_type(p->comm, MPI_COMM_TYPE_SHARED, p->me, MPI_INFO_NULL, &host);
    MPI_Reduce(&mine, &all, sizeof mine, MPI_BYTE, MPI_BOR, 0, host);
    MPI_Comm_free(&host);
    return all;
}

static weft_status start_on_cores(adapter_state *state, const bench_problem *p, const json_t *cell,
                                  const cpu_set_t *cores) {
    cpu_set_t before;
    const bool known = sched_getaffinity(0, sizeof before, &before) == 0;
    if (known) sched_setaffinity(0, sizeof *cores, cores); /* what is started inherits it */
    weft_status status = start(state, p, cell);
    if (known) sched_setaffinity(0, sizeof before, &before);
    return status;
}

static void copy_column(const json_t *cell, const char *name, char *column, size_t capacity) {
    const char *text = json_string_value(json_object_get(cell, name));
    snprintf(column, capacity, "%s", text ? text : "");
}

static weft_status adapter_describe(bench_contestant *c, const bench_problem *p,
                                    const json_t *cell) {
    adapter_state *state = calloc(1, sizeof *state);
    const cpu_set_t cores = cores_of_host(p);
    c->state = state;
    c->quiet_wait = true;
    c->own_error = c->own_memory = NAN;
    copy_column(cell, "device", c->device, sizeof c->device);
    copy_column(cell, "engine", c->engine, sizeof c->engine);
    weft_status status = WEFT_SUCCESS;
    if (!state) status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for an adapter");
    if (state) state->limit = json_number_value(json_object_get(cell, "seconds"));
    if (p->me == 0 && state) {
        status = start_on_cores(state, p, cell, &cores);
        if (status == WEFT_SUCCESS) status = read_ready(state, cell, c->version);
    }
    WEFT_TRY(bench_meet(p->comm, true, status));
    MPI_Bcast(c->version, sizeof c->version, MPI_CHAR, 0, p->comm);
    return WEFT_SUCCESS;
}

static weft_status ask(adapter_state *state, bool first, double number[NUMBERS]) {
    /* Where nobody reads, reading tells how the program ended. */
    line_program_ask(&state->program);
    WEFT_TRY(read_numbers(state, number));
    if (!first || !isnan(number[OWN_ERROR])) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_SYSTEM,
                     "adapter %s: line %d tells no error=; the first run must be checked",
                     state->command, state->lines);
}

static weft_status adapter_run(bench_contestant *c, void *in, void *out) {
    (void)in, (void)out;
    const bench_problem *p = c->problem;
    double number[NUMBERS];
    weft_status status = WEFT_SUCCESS;
    if (p->me == 0) status = ask(c->state, isnan(c->own_error), number);
    WEFT_TRY(bench_meet(p->comm, true, status));
    MPI_Bcast(number, NUMBERS, MPI_DOUBLE, 0, p->comm);
    if (!isnan(number[OWN_ERROR])) c->own_error = number[OWN_ERROR];
    if (!isnan(number[MEMORY_PEAK])) c->own_memory = number[MEMORY_PEAK];
    for (int i = FFT; i <= LOCAL && p->me > 0; i++) number[i] = NAN;
    c->phases = (bench_phases){.total = number[TOTAL],
                               .fft = number[FFT],
                               .pack = number[PACK],
                               .exchange = number[EXCHANGE],
                               .unpack = number[UNPACK],
                               .copy = number[COPY],
                               .local = number[LOCAL],
                               .first_message = NAN,
                               .last_message = NAN,
                               .bytes_sent = NAN};
    return WEFT_SUCCESS;
}

static void adapter_close(bench_contestant *c) {
    adapter_state *state = c->state;
    if (!state) return;
    line_program_end(&state->program);
    free(state);
    c->state = NULL;
}

const bench_contestant_ops bench_adapter = {
    .library = "adapter", .describe = adapter_describe, .run = adapter_run, .close = adapter_close};
