/* Rendering a plan report as text. */
#include "exec/explain_text.h"

#include "exec/explain_operators.h"

#include <stdbool.h>
#include <string.h>

static const char *text(const json_t *object, const char *key) {
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : "";
}

static double number(const json_t *object, const char *key) {
    return json_number_value(json_object_get(object, key));
}

static bool flag(const json_t *object, const char *key) {
    return json_is_true(json_object_get(object, key));
}

/* "181 x 217 x 91" into `out`. */
static const char *joined(const json_t *array, const char *between, char *out, size_t size) {
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < json_array_size(array) && used < size; i++) {
        const json_t *item = json_array_get(array, i);
        int wrote = json_is_string(item)
                        ? snprintf(out + used, size - used, "%s%s", i ? between : "",
                                   json_string_value(item))
                        : snprintf(out + used, size - used, "%s%lld", i ? between : "",
                                   (long long)json_integer_value(item));
        used += wrote > 0 ? (size_t)wrote : 0;
    }
    return out;
}

static const char *bytes_text(double bytes, char *out, size_t size) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    int unit = 0;
    while (bytes >= 1024 && unit < 5) {
        bytes /= 1024;
        unit++;
    }
    snprintf(out, size, unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
    return out;
}

/* Axes by their names in up to three dimensions, "x"; by number beyond. */
static const char *axes_text(const json_t *array, size_t rank, char *out, size_t size) {
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < json_array_size(array) && used + 8 < size; i++) {
        long long axis = (long long)json_integer_value(json_array_get(array, i));
        if (axis == (long long)rank) continue; /* the batch */
        int wrote = rank <= 3 ? snprintf(out + used, size - used, "%c", "xyz"[axis])
                              : snprintf(out + used, size - used, "%s%lld", used ? "," : "", axis);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
    return out;
}

static void write_fft(const json_t *step, size_t rank, FILE *stream) {
    static const char *const places[][2] = {
        {"load", "loading"}, {"spectral", "between"}, {"store", "storing"}};
    char axes[128];
    fprintf(stream, " %s along %s%s", text(step, "kind"),
            axes_text(json_object_get(step, "axes"), rank, axes, sizeof axes),
            flag(step, "returns") ? " and back" : "");
    const json_t *types = json_object_get(step, "types");
    for (size_t i = 0; i < json_array_size(types); i++)
        fprintf(stream, "%s %s", i > 0 ? "," : "", json_string_value(json_array_get(types, i)));
    if (number(step, "chunks") > 1)
        fprintf(stream, " in %lld parts", (long long)number(step, "chunks"));
    if (number(step, "far_chunks") > 0)
        fprintf(stream, ", %lld of them from partners' arrays",
                (long long)number(step, "far_chunks"));
    for (int i = 0; i < 3; i++) {
        const json_t *operators = json_object_get(step, places[i][0]);
        if (!operators) continue;
        fprintf(stream, "; %s:", places[i][1]);
        weft_explain_operators_text(operators, stream);
    }
}

static void write_step(const json_t *step, size_t rank, FILE *stream) {
    char a[128], b[128], c[64], d[64];
    const char *kind = text(step, "step");
    fprintf(stream, "    %-9s %-12s -> %-12s", kind, text(step, "from"), text(step, "to"));
    if (strcmp(kind, "fft") == 0)
        write_fft(step, rank, stream);
    else if (strcmp(kind, "exchange") == 0 && flag(step, "partners_read"))
        fprintf(stream, " %s over %lld ranks, partners read %s%s; order %s -> %s",
                text(step, "method"), (long long)number(step, "ranks"),
                bytes_text(number(step, "bytes_sent"), c, sizeof c),
                flag(step, "loaded_by_next") ? " in the next step" : "",
                axes_text(json_object_get(step, "order_before"), rank, a, sizeof a),
                axes_text(json_object_get(step, "order_after"), rank, b, sizeof b));
    else if (strcmp(kind, "exchange") == 0)
        fprintf(stream, " %s%s%s%s%s over %lld ranks, %s in %lld messages; order %s -> %s;%s%s",
                text(step, "method"), *text(step, "library") ? " (" : "", text(step, "library"),
                *text(step, "library") ? ")" : "", flag(step, "staged") ? " staged" : "",
                (long long)number(step, "ranks"),
                bytes_text(number(step, "bytes_sent"), c, sizeof c),
                (long long)number(step, "messages"),
                axes_text(json_object_get(step, "order_before"), rank, a, sizeof a),
                axes_text(json_object_get(step, "order_after"), rank, b, sizeof b),
                flag(step, "pack") ? " packs" : " sends in place",
                flag(step, "unpack")           ? ", unpacks"
                : flag(step, "loaded_by_next") ? ", loaded by the next step"
                                               : ", receives in place");
    else if (strcmp(kind, "pointwise") == 0)
        weft_explain_operators_text(json_object_get(step, "operators"), stream);
    fprintf(stream, "  [%s moved, %.3g ms]\n", bytes_text(number(step, "bytes_moved"), d, sizeof d),
            1e3 * number(step, "predicted_seconds"));
}

static void write_schedule(const json_t *schedule, size_t rank, FILE *stream) {
    char size[64];
    const char *name;
    const json_t *bytes;
    fprintf(stream, "  %s, %s, predicted %.3g ms:\n", text(schedule, "direction"),
            flag(schedule, "in_place") ? "in place" : "out of place",
            1e3 * number(schedule, "predicted_seconds"));
    const json_t *steps = json_object_get(schedule, "steps");
    for (size_t i = 0; i < json_array_size(steps); i++)
        write_step(json_array_get(steps, i), rank, stream);
    fprintf(stream, "    buffers:");
    json_t *buffers = json_object_get(schedule, "buffers");
    json_object_foreach(buffers, name, bytes)
        fprintf(stream, " %s %s;", name, bytes_text(json_number_value(bytes), size, sizeof size));
    fputc('\n', stream);
}

static void write_candidate(const json_t *c, FILE *stream) {
    char grid[64], exchange[128];
    fprintf(stream, "%s %s, grid %s, %s, predicted %.3g ms", text(c, "decomposition"),
            text(c, "variant"), joined(json_object_get(c, "grid"), "x", grid, sizeof grid),
            joined(json_object_get(c, "exchange"), "+", exchange, sizeof exchange),
            1e3 * number(c, "predicted_seconds"));
    if (json_object_get(c, "measured_seconds"))
        fprintf(stream, ", measured %.3g ms", 1e3 * number(c, "measured_seconds"));
    if (json_object_get(c, "left_out")) fprintf(stream, ", left out: %s", text(c, "left_out"));
    fputc('\n', stream);
}

int weft_explain_text(const json_t *report, FILE *stream) {
    char shape[256], bytes[64];
    const json_t *problem = json_object_get(report, "problem");
    const json_t *n = json_object_get(problem, "shape");
    size_t rank = json_array_size(n);
    fprintf(stream, "%s %s %s", joined(n, " x ", shape, sizeof shape), text(problem, "kind"),
            text(problem, "precision"));
    if (number(problem, "batch") > 1) fprintf(stream, ", batch %.0f", number(problem, "batch"));
    fprintf(stream, ", on %.0f %srank%s; device %s, engine %s, threads %.0f\n",
            number(report, "ranks"), flag(report, "simulated_ranks") ? "simulated " : "",
            number(report, "ranks") == 1 ? "" : "s", text(report, "device"), text(report, "engine"),
            number(report, "threads"));
    fprintf(stream, "plan: ");
    write_candidate(json_object_get(report, "chosen"), stream);
    fprintf(stream, "memory of rank %.0f: %s\n", number(report, "rank"),
            bytes_text(number(json_object_get(report, "memory"), "total"), bytes, sizeof bytes));
    const json_t *schedules = json_object_get(report, "schedules");
    for (size_t i = 0; i < json_array_size(schedules); i++)
        write_schedule(json_array_get(schedules, i), rank, stream);
    const json_t *rejected = json_object_get(report, "rejected");
    if (json_array_size(rejected) > 0) fprintf(stream, "rejected:\n");
    for (size_t i = 0; i < json_array_size(rejected); i++) {
        fprintf(stream, "  ");
        write_candidate(json_array_get(rejected, i), stream);
    }
    return ferror(stream) ? -1 : 0;
}
