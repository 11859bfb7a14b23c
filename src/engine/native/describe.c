/* The words for lines, passes and pass groups. */
#include "engine/native/describe.h"

#include "engine/native/convolution.h"
#include "engine/native/pass_group_parts.h"
#include "engine/native/solver.h"

void weft_native_print_stages(const weft_stages *s, FILE *stream) {
    for (int i = 0; i < s->count; i++)
        fprintf(stream, "%s%d", i == 0 ? "radices " : " x ", s->stage[i].codelet->radix);
    if (s->count == 0) fputs("as they are", stream);
}

void weft_native_print_line(const weft_line *line, FILE *stream) {
    if (line->method != WEFT_LINE_STAGES)
        fprintf(stream, "%s convolution of %lld points, ",
                line->method == WEFT_LINE_RADER ? "Rader's" : "Bluestein's",
                (long long)line->stages.n);
    weft_native_print_stages(&line->stages, stream);
}

void weft_native_print_matrix(const weft_matrix *matrix, FILE *stream) {
    fprintf(stream, "of %lld x %lld points, ", (long long)matrix->n1, (long long)matrix->n2);
    weft_native_print_stages(&matrix->columns, stream);
    fputs(" and ", stream);
    weft_native_print_stages(&matrix->rows, stream);
}

static void write_count(int64_t count, const char *what, FILE *stream) {
    fprintf(stream, "%lld %s%s", (long long)count, what, count == 1 ? "" : "s");
}

static void write_pass(const weft_native_pass *pass, FILE *stream) {
    write_count(pass->lines, "line", stream);
    fprintf(stream, " of %lld%s points", (long long)pass->n,
            pass->kind == WEFT_TRANSFORM_C2C ? "" : " real");
    if (pass->halved && !pass->real_line)
        fprintf(stream, " as %lld complex ones", (long long)pass->line.n);
    fputs(pass->back ? " both ways " : " ", stream);
    pass->solver->print(pass, stream);
    fputc('\n', stream);
}

/* What the parts of a group with more than one step are. */
static const char *part_of(const weft_pass_group *group) {
    if (group->passes == 1) return group->buffer_bytes > 0 ? "block" : NULL;
    return group->pass[0].twiddles ? "line as a matrix" : "plane";
}

void weft_native_describe_group(const weft_pass_group *group, FILE *stream) {
    if (group->gathered) {
        write_count(group->parts, "block", stream);
        fprintf(stream, " of %lld lines gathered: each ", (long long)group->gathered->lines);
        weft_native_describe_group(&group->gathered->group, stream);
        return;
    }
    if (group->convolution) {
        write_count(group->parts, "line", stream);
        weft_line_convolution_describe(group->convolution, stream);
        return;
    }
    if (group->matrix) {
        write_count(group->parts, "line", stream);
        fprintf(stream, " of %lld points as a matrix ",
                (long long)(group->matrix->n1 * group->matrix->n2));
        weft_native_print_matrix(group->matrix, stream);
        fputc('\n', stream);
        return;
    }
    for (int i = 0; i < group->passes; i++) {
        if (part_of(group) && group->parts > 1)
            fprintf(stream, "each of %lld %ss: ", (long long)group->parts, part_of(group));
        else if (part_of(group))
            fprintf(stream, "one %s: ", part_of(group));
        write_pass(&group->pass[i], stream);
    }
}

void weft_native_describe_r2r(const weft_r2r_pass *pass, FILE *stream) {
    write_count(pass->lines, "line", stream);
    fprintf(stream, " of %lld real points as %lld complex ones ", (long long)pass->line.n,
            (long long)pass->line.m);
    if (pass->single) {
        fputs("one by one\n", stream);
        return;
    }
    fputs("in tiles, ", stream);
    weft_native_print_line(&pass->transform, stream);
    fputc('\n', stream);
}
