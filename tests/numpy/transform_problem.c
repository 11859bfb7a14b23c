/*
 * One forward or inverse transform by a plan for a problem given as arguments, of the array on
 * standard input into the one on standard output, both in double precision: what test_problems.py
 * compares with NumPy and SciPy.
 *
 *   transform_problem NAME=NUMBER,... [NAME=NUMBER,...] ...
 *
 * Names are members of weft_problem (kind, norm, batch, n, axis, in_stride, out_stride,
 * in_batch_stride, out_batch_stride, fields, result_fields, fields_fastest), and:
 *
 *     direction       a weft_direction
 *     size            doubles of the input and of the output array
 *     begin           doubles before element 0 of all axes in each
 *     matrix=1        result g of the fields f is their sum times 1 + g - 2 f + index[0] / 4
 *
 * The output array holds 7777 where nothing is stored. A failure is told on standard error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/weft.h>

typedef struct request {
    weft_problem problem;
    int64_t direction[1], size[2], begin[2], matrix[1];
} request;

static void stop(const char *sentence) {
    fprintf(stderr, "%s\n", sentence);
    exit(1);
}

static void mix(const weft_fields_run *run, void *argument) {
    const int parts = run->complex_elements ? 2 : 1;
    (void)argument;
    for (int64_t i = 0; i < run->count * parts; i++) {
        const int64_t point = i / parts, part = i % parts;
        const double at = (double)(run->index[0] + (run->axis == 0 ? point : 0));
        double field[WEFT_MAX_FIELDS]; /* read before the results are stored, perhaps there */
        for (int f = 0; f < run->in_fields; f++)
            field[f] = ((const double *)run->in[f])[point * run->in_stride * parts + part];
        for (int g = 0; g < run->out_fields; g++) {
            double sum = 0;
            for (int f = 0; f < run->in_fields; f++) sum += (1 + g - 2 * f + at / 4) * field[f];
            ((double *)run->out[g])[point * run->out_stride * parts + part] = sum;
        }
    }
}

/* Reads the numbers of an argument into whatever has its name. */
static void read_argument(request *r, char *argument) {
    weft_problem *p = &r->problem;
    int64_t kind[1] = {p->kind}, norm[1] = {p->norm}, axis[WEFT_MAX_RANK] = {0};
    const struct {
        const char *name;
        int64_t *number;
    } places[] = {{"kind", kind},
                  {"norm", norm},
                  {"axis", axis},
                  {"n", p->n},
                  {"batch", &p->batch},
                  {"in_stride", p->in_stride},
                  {"out_stride", p->out_stride},
                  {"in_batch_stride", &p->in_batch_stride},
                  {"out_batch_stride", &p->out_batch_stride},
                  {"fields", &p->fields},
                  {"result_fields", &p->result_fields},
                  {"fields_fastest", &p->fields_fastest},
                  {"direction", r->direction},
                  {"size", r->size},
                  {"begin", r->begin},
                  {"matrix", r->matrix}};
    char *numbers = strchr(argument, '=');
    size_t place = 0;
    int count = 0;
    if (!numbers) stop("an argument without =");
    *numbers++ = 0;
    while (place < sizeof places / sizeof places[0] && strcmp(places[place].name, argument) != 0)
        place++;
    if (place == sizeof places / sizeof places[0]) stop("an argument of no known name");
    for (char *number = strtok(numbers, ","); number; number = strtok(NULL, ","))
        places[place].number[count++] = atoll(number);
    p->kind = (weft_kind)kind[0];
    p->norm = (weft_norm)norm[0];
    if (strcmp(argument, "n") == 0) p->rank = count;
    for (int a = 0; a < count && strcmp(argument, "axis") == 0; a++)
        p->axis[a] = (weft_axis)axis[a];
}

/* What a plan wants of an array may be more than its elements. */
static double *make_array(weft_plan plan, weft_space space, int64_t size) {
    size_t bytes;
    if (weft_plan_bytes(plan, space, &bytes) != WEFT_SUCCESS) stop("no size");
    double *array = malloc((size_t)size * sizeof *array + bytes + 16);
    if (!array) stop("no memory");
    return array;
}

int main(int argc, char **argv) {
    static request r;
    weft_context context = NULL;
    weft_plan plan = NULL;
    for (int i = 1; i < argc; i++) read_argument(&r, argv[i]);
    const weft_operator matrix = {.kind = WEFT_OPERATOR_MATRIX, .matrix = mix};
    if (r.matrix[0]) r.problem.spectral = (weft_operators){&matrix, 1};
    if (weft_context_create(NULL, &context) != WEFT_SUCCESS ||
        weft_plan_create(context, &r.problem, NULL, &plan) != WEFT_SUCCESS)
        stop(weft_last_error(context));
    const weft_space from = r.direction[0] == WEFT_INVERSE ? WEFT_OUTPUT : WEFT_INPUT;
    double *in = make_array(plan, from, r.size[0]);
    double *out = make_array(plan, from == WEFT_INPUT ? WEFT_OUTPUT : WEFT_INPUT, r.size[1]);
    for (int64_t i = 0; i < r.size[1]; i++) out[i] = 7777;
    if (fread(in, sizeof *in, (size_t)r.size[0], stdin) != (size_t)r.size[0]) stop("no input");
    if (weft_execute(plan, (weft_direction)r.direction[0], in + r.begin[0], out + r.begin[1]) !=
        WEFT_SUCCESS)
        stop(weft_last_error(context));
    if (fwrite(out, sizeof *out, (size_t)r.size[1], stdout) != (size_t)r.size[1])
        stop("the result cannot be written");
    weft_plan_destroy(&plan);
    weft_context_destroy(&context);
    free(in);
    free(out);
    return 0;
}
