/* Checks every member before anything runs: a mistake costs no time then. */
#include "bench/request.h"

#include "io/agreement.h"
#include "names.h"
#include "support/error.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Of any number but extents: what can be multiplied without a second thought. */
enum { MOST = 10000000 };

/* Where in the file: a problem, or one of its contestants, or (both negative) the top. */
typedef struct place {
    const char *file;
    int problem, contestant;
} place;

static weft_status wrong(const place *at, const char *member, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static weft_status wrong(const place *at, const char *member, const char *format, ...) {
    char where[96] = "", what[256];
    int length = 0;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    if (at->problem >= 0) length = snprintf(where, sizeof where, "problems[%d].", at->problem);
    if (at->contestant >= 0)
        snprintf(where + length, sizeof where - (size_t)length, "contestants[%d].", at->contestant);
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s: %s%s: %s", at->file, where, member, what);
}

/* ---- members ---- */

static weft_status read_text(const place *at, const json_t *object, const char *member,
                             const char *otherwise, const char **text) {
    const json_t *value = json_object_get(object, member);
    *text = value ? json_string_value(value) : otherwise;
    return *text ? WEFT_SUCCESS : wrong(at, member, "give a string");
}

static weft_status read_number(const place *at, const json_t *object, const char *member, int least,
                               int otherwise, int *number) {
    const json_t *value = json_object_get(object, member);
    json_int_t given = value ? json_integer_value(value) : otherwise;
    if ((value && !json_is_integer(value)) || given < least || given > MOST)
        return wrong(at, member, "give a whole number of %d to %d", least, MOST);
    *number = (int)given;
    return WEFT_SUCCESS;
}

/* One of two or three words; the first is what an absent member means. */
static weft_status read_choice(const place *at, const json_t *object, const char *member,
                               const char *const words[3], int *choice) {
    const char *text;
    WEFT_TRY(read_text(at, object, member, words[0], &text));
    for (int w = 0; w < 3 && words[w]; w++) {
        if (strcmp(text, words[w]) != 0) continue;
        *choice = w;
        return WEFT_SUCCESS;
    }
    return wrong(at, member, "%s is not one of %s, %s%s%s", text, words[0], words[1],
                 words[2] ? ", " : "", words[2] ? words[2] : "");
}

static weft_status read_shape(const place *at, const json_t *object, bench_problem *p) {
    const json_t *shape = json_object_get(object, "shape"), *extent;
    size_t a;
    p->rank = (int)json_array_size(shape);
    if (p->rank < 1 || json_array_size(shape) > 3) return wrong(at, "shape", "give 1 to 3 numbers");
    json_array_foreach(shape, a, extent) {
        p->n[a] = json_integer_value(extent);
        if (p->n[a] < 1) return wrong(at, "shape", "give whole numbers of at least 1");
    }
    return WEFT_SUCCESS;
}

/* "c2c", "r2c", or the types of real-to-real transforms: one for all axes, or one for each. */
static weft_status read_kind(const place *at, const json_t *object, bench_problem *p) {
    const char *text;
    int types = 0;
    WEFT_TRY(read_text(at, object, "kind", weft_kind_name(WEFT_C2C), &text));
    p->kind = WEFT_R2R;
    if (find_kind(text, strlen(text), &p->kind) && p->kind != WEFT_R2R) return WEFT_SUCCESS;
    for (const char *word = text;; word++) {
        const size_t length = strcspn(word, "+");
        weft_axis type;
        if (types == p->rank || !find_axis(word, length, &type) || type == WEFT_AXIS_OF_KIND)
            return wrong(at, "kind",
                         "%s is not c2c, r2c, or the types of the axes, such as dct2 or dst1+dct2, "
                         "one for all of them or one for each",
                         text);
        p->axis[types++] = type;
        word += length;
        if (*word == '\0') break;
    }
    if (types != 1 && types != p->rank)
        return wrong(at, "kind", "%s: %d types for %d axes", text, types, p->rank);
    for (int a = types; a < p->rank; a++) p->axis[a] = p->axis[0];
    for (int a = 0; a < p->rank; a++)
        if (p->axis[a] == WEFT_DCT1 && p->n[a] < 2)
            return wrong(at, "kind", "%s: dct1 has no line of 1 point", text);
    return WEFT_SUCCESS;
}

static weft_status read_problem(const place *at, const json_t *object, bench_problem *p) {
    static const char *const precisions[3] = {"double", "single"},
                             *const directions[3] = {"forward", "inverse"},
                             *const layouts[3] = {"contiguous", "strided"};
    int precision, direction, layout, batch = 1;
    WEFT_TRY(read_shape(at, object, p));
    WEFT_TRY(read_kind(at, object, p));
    WEFT_TRY(read_choice(at, object, "precision", precisions, &precision));
    WEFT_TRY(read_choice(at, object, "direction", directions, &direction));
    WEFT_TRY(read_choice(at, object, "layout", layouts, &layout));
    WEFT_TRY(read_number(at, object, "batch", 1, 1, &batch));
    p->precision = precision == 1 ? WEFT_SINGLE : WEFT_DOUBLE;
    p->direction = direction == 1 ? WEFT_INVERSE : WEFT_FORWARD;
    p->strided = layout == 1;
    p->batch = batch;
    return WEFT_SUCCESS;
}

/* ---- contestants ---- */

static bool is_cell_name(const char *text) {
    return strlen(text) == 12 && strspn(text, "0123456789abcdef") == 12;
}

/* Checks what every library has; the rest is the library's own to check. */
static weft_status read_contestant(const place *at, json_t *cell, const bench_request *request) {
    const char *text;
    int threads = 1;
    if (!json_is_object(cell)) return wrong(at, "cell", "give an object");
    WEFT_TRY(read_text(at, cell, "cell", NULL, &text));
    if (!is_cell_name(text)) return wrong(at, "cell", "%s is not 12 hex digits", text);
    WEFT_TRY(read_text(at, cell, "library", NULL, &text));
    WEFT_TRY(read_text(at, cell, "config", "-", &text));
    WEFT_TRY(read_text(at, cell, "effort", request->effort, &text));
    json_object_set_new(cell, "effort", json_string(text));
    WEFT_TRY(read_number(at, cell, "threads", 1, 1, &threads));
    json_object_set_new(cell, "threads", json_integer(threads));
    return WEFT_SUCCESS;
}

static weft_status read_contestants(place *at, const json_t *object, bench_request *request) {
    json_t *cells = json_object_get(object, "contestants"), *cell;
    size_t count = json_array_size(cells), c;
    if (count < 1) return wrong(at, "contestants", "give a list of at least one");
    request->cell = calloc(count, sizeof(json_t *));
    if (!request->cell) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for %s", at->file);
    json_array_foreach(cells, c, cell) {
        at->contestant = (int)c;
        WEFT_TRY(read_contestant(at, cell, request));
        request->cell[request->contestants++] = cell;
    }
    at->contestant = -1;
    return WEFT_SUCCESS;
}

static weft_status read_request(place *at, const json_t *object, bench_request *request) {
    static const char *const modes[3] = {"time", "validate"}, *const efforts[3] = {
                                                                  "measure", "estimate", "patient"};
    int mode, effort;
    WEFT_TRY(read_problem(at, object, &request->problem));
    WEFT_TRY(read_choice(at, object, "mode", modes, &mode));
    WEFT_TRY(read_choice(at, object, "effort", efforts, &effort));
    WEFT_TRY(read_number(at, object, "iterations", 1, 20, &request->iterations));
    WEFT_TRY(read_number(at, object, "warmups", 0, 10, &request->warmups));
    WEFT_TRY(read_number(at, object, "repeats", 1, 1, &request->repeats));
    WEFT_TRY(read_number(at, object, "together", 1, 8, &request->together));
    request->validate = mode == 1;
    request->effort = efforts[effort];
    return read_contestants(at, object, request);
}

/* ---- the file ---- */

static weft_status read_problems(place *at, const command_world *world, bench_requests *requests) {
    const json_t *problems = json_object_get(requests->document, "problems"), *problem;
    size_t count = json_array_size(problems), i;
    if (count < 1) return wrong(at, "problems", "give a list of at least one");
    requests->request = calloc(count, sizeof *requests->request);
    if (!requests->request)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for %s", at->file);
    json_array_foreach(problems, i, problem) {
        bench_request *request = &requests->request[requests->count++];
        at->problem = (int)i;
        WEFT_TRY(read_request(at, problem, request));
        request->problem.comm = world->comm;
        request->problem.me = world->rank;
        request->problem.ranks = world->ranks;
    }
    return WEFT_SUCCESS;
}

static weft_status read_document(place *at, const command_world *world, bench_requests *requests) {
    const json_t *document = requests->document;
    if (json_object_get(document, "ceilings")) {
        WEFT_TRY(read_number(at, document, "threads", 1, 1, &requests->threads));
        return read_text(at, document, "ceilings", NULL, &requests->ceilings);
    }
    WEFT_TRY(read_text(at, document, "table", NULL, &requests->table));
    WEFT_TRY(read_text(at, document, "journal", NULL, &requests->journal));
    WEFT_TRY(read_number(at, document, "first_block", 0, 0, &requests->first_block));
    return read_problems(at, world, requests);
}

static weft_status load_file(const char *path, char **text) {
    json_error_t error;
    json_t *document = json_load_file(path, 0, &error);
    if (!document && error.line < 0) /* it cannot be read; the text names it */
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s", error.text);
    if (!document)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s: line %d: %s", path, error.line,
                         error.text);
    *text = json_dumps(document, JSON_COMPACT);
    json_decref(document);
    if (!*text) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for %s", path);
    if (strlen(*text) > INT_MAX)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s: more than 2 GiB; split it", path);
    return WEFT_SUCCESS;
}

/* Other hosts may not see the file, so its text travels. */
static weft_status share_document(const command_world *world, const char *path, json_t **document) {
    char *text = NULL;
    weft_status status =
        weft_array_agree(world->comm, world->rank == 0 ? load_file(path, &text) : WEFT_SUCCESS);
    int length = status == WEFT_SUCCESS && world->rank == 0 ? (int)strlen(text) + 1 : 0;
    if (status == WEFT_SUCCESS) {
        MPI_Bcast(&length, 1, MPI_INT, 0, world->comm);
        if (world->rank > 0) text = malloc((size_t)length);
        status = weft_array_agree(
            world->comm,
            text ? WEFT_SUCCESS : weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for %s", path));
    }
    if (status == WEFT_SUCCESS) {
        MPI_Bcast(text, length, MPI_CHAR, 0, world->comm);
        *document = json_loads(text, 0, NULL);
        if (!*document) status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for %s", path);
        status = weft_array_agree(world->comm, status);
    }
    free(text);
    return status;
}

weft_status bench_requests_read(const command_world *world, const char *path,
                                bench_requests *requests) {
    place at = {.file = path, .problem = -1, .contestant = -1};
    *requests = (bench_requests){.count = 0};
    WEFT_TRY(share_document(world, path, &requests->document));
    return weft_array_agree(world->comm, read_document(&at, world, requests));
}

void bench_requests_release(bench_requests *requests) {
    for (int i = 0; i < requests->count; i++) free(requests->request[i].cell);
    free(requests->request);
    json_decref(requests->document);
}
