/* Writing a plan's report as text. */
#include "exec/explain.h"

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

/* Strings or numbers, as in "181 x 217 x 91": `first` goes before the list if it has any items. */
static void write_list(const json_t *list, const char *first, const char *between, FILE *stream) {
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        fputs(i ? between : first, stream);
        if (json_is_string(item)) fputs(json_string_value(item), stream);
        if (json_is_integer(item)) fprintf(stream, "%lld", (long long)json_integer_value(item));
        if (json_is_real(item)) fprintf(stream, "%g", json_real_value(item));
    }
}

static void write_bytes(double bytes, FILE *stream) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    int unit = 0;
    for (; bytes >= 1024 && unit < 5; unit++) bytes /= 1024;
    fprintf(stream, unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
}

/* Axes by their names in up to three dimensions, "xyz", and by number beyond; without the batch,
 * which is axis `rank`. */
static void write_axes(const json_t *axes, size_t rank, FILE *stream) {
    const char *comma = "";
    for (size_t i = 0; i < json_array_size(axes); i++) {
        const size_t axis = (size_t)json_integer_value(json_array_get(axes, i));
        if (axis == rank) continue;
        if (rank <= 3)
            fputc("xyz"[axis], stream);
        else
            fprintf(stream, "%s%zu", comma, axis);
        comma = ",";
    }
}

static void write_window(const json_t *window, FILE *stream) {
    fprintf(stream, " %s", text(window, "window"));
    if (json_object_get(window, "parameter")) fprintf(stream, "(%g)", number(window, "parameter"));
    fprintf(stream, "%s along %.0f", flag(window, "symmetric") ? " symmetric" : "",
            number(window, "axis"));
}

static void write_operators(const json_t *operators, FILE *stream) {
    for (size_t k = 0; k < json_array_size(operators); k++) {
        const json_t *one = json_array_get(operators, k),
                     *windows = json_object_get(one, "windows");
        fprintf(stream, "%s %s", k ? ";" : "", text(one, "operator"));
        write_list(json_object_get(one, "extents"), " of ", " x ", stream);
        if (json_object_get(one, "storage")) fprintf(stream, " %s", text(one, "storage"));
        if (json_object_get(one, "number")) fprintf(stream, " %.0f", number(one, "number"));
        if (json_object_get(one, "parameters"))
            fprintf(stream, " of %.0f parameters", number(one, "parameters"));
        if (json_object_get(one, "reduction")) fprintf(stream, " to %s", text(one, "reduction"));
        if (json_object_get(one, "factor")) fprintf(stream, " by %g", number(one, "factor"));
        for (size_t i = 0; i < json_array_size(windows); i++) {
            if (i > 0) fputc(',', stream);
            write_window(json_array_get(windows, i), stream);
        }
        write_list(json_object_get(one, "axes"), " along ", ", ", stream);
        write_list(json_object_get(one, "points"), " by ", ", ", stream);
    }
}

static void write_fft(const json_t *step, size_t rank, FILE *stream) {
    static const char *const places[][2] = {
        {"load", "loading"}, {"spectral", "between"}, {"store", "storing"}};
    const json_t *types = json_object_get(step, "types");
    fprintf(stream, " %s along ", text(step, "kind"));
    write_axes(json_object_get(step, "axes"), rank, stream);
    for (size_t i = 0; i < json_array_size(types); i++)
        fprintf(stream, "%s %s", i > 0 ? "," : "", json_string_value(json_array_get(types, i)));
    if (flag(step, "round_trip")) fputs(" and back", stream);
    if (number(step, "tiles") > 1) fprintf(stream, " in %.0f tiles", number(step, "tiles"));
    if (number(step, "remote_tiles") > 0)
        fprintf(stream, ", %.0f of them from partners' arrays", number(step, "remote_tiles"));
    for (int i = 0; i < 3; i++) {
        if (!json_object_get(step, places[i][0])) continue;
        fprintf(stream, "; %s:", places[i][1]);
        write_operators(json_object_get(step, places[i][0]), stream);
    }
}

static void write_exchange(const json_t *step, size_t rank, FILE *stream) {
    const bool read = flag(step, "partners_read"), loaded = flag(step, "loaded_by_next");
    fprintf(stream, " %s", text(step, "method"));
    if (json_object_get(step, "library")) fprintf(stream, " (%s)", text(step, "library"));
    fprintf(stream, "%s over %.0f ranks, %s", flag(step, "staged") ? " staged" : "",
            number(step, "ranks"), read ? "partners read " : "");
    write_bytes(number(step, "bytes_sent"), stream);
    if (!read) fprintf(stream, " in %.0f messages", number(step, "messages"));
    fprintf(stream, "%s; order ", read && loaded ? " in the next step" : "");
    write_axes(json_object_get(step, "order_before"), rank, stream);
    fputs(" -> ", stream);
    write_axes(json_object_get(step, "order_after"), rank, stream);
    if (!read)
        fprintf(stream, "; %s, %s", flag(step, "pack") ? "packs" : "sends in place",
                flag(step, "unpack") ? "unpacks"
                : loaded             ? "loaded by the next step"
                                     : "receives in place");
}

static void write_step(const json_t *step, size_t rank, FILE *stream) {
    const char *kind = text(step, "step");
    fprintf(stream, "    %-9s %-12s -> %-12s", kind, text(step, "from"), text(step, "to"));
    if (strcmp(kind, "fft") == 0) write_fft(step, rank, stream);
    if (strcmp(kind, "exchange") == 0) write_exchange(step, rank, stream);
    if (strcmp(kind, "pointwise") == 0) write_operators(json_object_get(step, "operators"), stream);
    fputs("  [", stream);
    write_bytes(number(step, "bytes_moved"), stream);
    fprintf(stream, " moved, %.3g ms]\n", 1e3 * number(step, "predicted_seconds"));
    const json_t *solvers = json_object_get(step, "solvers");
    for (size_t i = 0; i < json_array_size(solvers); i++)
        fprintf(stream, "      %s\n", json_string_value(json_array_get(solvers, i)));
}

/* Tiles of each pass, as "2 x 13 x 1", whether they overlap, and what stays on the device. */
static void write_stream(const json_t *stream, FILE *file) {
    const json_t *passes = json_object_get(stream, "passes");
    for (size_t i = 0; i < json_array_size(passes); i++) {
        const json_t *pass = json_array_get(passes, i);
        fprintf(file, "    streamed: steps %.0f to %.0f in ", number(pass, "first"),
                number(pass, "last"));
        write_list(json_object_get(pass, "tiles"), "", " x ", file);
        fprintf(file, " tiles, %s",
                flag(stream, "one_after_another") ? "one after another" : "which overlap");
        if (number(pass, "resident") > 0) {
            fputs("; ", file);
            write_bytes(number(pass, "resident"), file);
            fputs(" stay on the device for the next pass", file);
        }
        fputc('\n', file);
    }
}

static void write_schedule(const json_t *schedule, size_t rank, FILE *stream) {
    const json_t *steps = json_object_get(schedule, "steps"), *bytes;
    const char *name;
    fprintf(stream, "  %s, %s, predicted %.3g ms:\n", text(schedule, "direction"),
            flag(schedule, "in_place") ? "in place" : "out of place",
            1e3 * number(schedule, "predicted_seconds"));
    for (size_t i = 0; i < json_array_size(steps); i++)
        write_step(json_array_get(steps, i), rank, stream);
    write_stream(json_object_get(schedule, "stream"), stream);
    fputs("    buffers:", stream);
    json_object_foreach(json_object_get(schedule, "buffers"), name, bytes) {
        fprintf(stream, " %s ", name);
        write_bytes(json_number_value(bytes), stream);
        fputc(';', stream);
    }
    fputc('\n', stream);
}

static void write_candidate(const json_t *c, FILE *stream) {
    fprintf(stream, "%s %s", text(c, "decomposition"), text(c, "variant"));
    write_list(json_object_get(c, "grid"), ", grid ", "x", stream);
    write_list(json_object_get(c, "exchange"), ", ", "+", stream);
    if (flag(c, "streamed")) fputs(", streamed", stream);
    if (flag(c, "resident")) fputs(" with a part on the device", stream);
    if (json_object_get(c, "room_parts"))
        fprintf(stream, " within 1/%.0f of the room", number(c, "room_parts"));
    fprintf(stream, ", predicted %.3g ms", 1e3 * number(c, "predicted_seconds"));
    if (json_object_get(c, "measured_seconds"))
        fprintf(stream, ", measured %.3g ms", 1e3 * number(c, "measured_seconds"));
    if (json_object_get(c, "left_out")) fprintf(stream, ", left out: %s", text(c, "left_out"));
    fputc('\n', stream);
}

/* Callers' arrays that are not row-major; of a batch, its stride comes last. */
static void write_strides(const json_t *problem, FILE *stream) {
    const json_t *in = json_object_get(problem, "in_stride"),
                 *out = json_object_get(problem, "out_stride");
    write_list(in, "input at strides ", ", ", stream);
    write_list(out, in ? "; output at strides " : "output at strides ", ", ", stream);
    if (in || out) fputc('\n', stream);
}

/* What an error or tiles save; behind it there is the plan that they are compared with. */
static void write_bytes_sent(const json_t *of, FILE *stream) {
    fputs("this rank sends ", stream);
    write_bytes(number(of, "bytes_sent"), stream);
    fputs(", with the exact method ", stream);
    write_bytes(number(of, "exact_bytes_sent"), stream);
    fputs("\nthe exact method, not built:\n", stream);
}

/* The whole that is done by tiles, of which the rest of the report is one; over several ranks this
 * rank's part, which may be none. */
static void write_overlap_save(const json_t *o, FILE *stream) {
    const bool over_ranks = json_object_get(o, "bytes_sent") != NULL;
    if (!o) return;
    if (json_object_get(o, "field")) {
        write_list(json_object_get(o, "field"), "overlap-save: field of ", " x ", stream);
        write_list(json_object_get(o, "result"), ", result of ", " x ", stream);
        if (number(o, "batch") > 1) fprintf(stream, ", batch %.0f", number(o, "batch"));
        write_list(json_object_get(o, "tiles"), ", by ", " x ", stream);
        write_list(json_object_get(o, "tile"), " tiles of ", " x ", stream);
        write_list(json_object_get(o, "kept"), ", of which ", " x ", stream);
        fputs(over_ranks ? " are kept; " : " are kept; one tile:\n", stream);
    } else {
        fputs("overlap-save: nothing of the result is here; ", stream);
    }
    if (over_ranks) write_bytes_sent(o, stream);
}

/* A convolution by samples, before the plan of the exact one. */
static void write_samples(const json_t *s, FILE *stream) {
    const json_t *levels = json_object_get(s, "levels");
    if (!s) return;
    write_list(json_object_get(s, "subdomains"), "samples: ", " x ", stream);
    write_list(json_object_get(s, "subdomain"), " sub-domains of ", " x ", stream);
    if (strcmp(text(s, "device"), "host") != 0) fprintf(stream, " on %s", text(s, "device"));
    fprintf(stream, ", %s", text(s, "pattern"));
    if (strcmp(text(s, "pattern"), "graded") == 0)
        fprintf(stream, " by %g of the distance", number(s, "opening"));
    fprintf(stream, ", interpolated from %.0f points along each axis", number(s, "interpolation"));
    if (number(s, "error") > 0) fprintf(stream, "; error about %.1e", number(s, "error"));
    fputc('\n', stream);
    for (size_t i = 0; i < json_array_size(levels); i++) {
        const json_t *level = json_array_get(levels, i);
        write_list(json_object_get(level, "stride"), "  every ", " x ", stream);
        fprintf(stream, " points up to %.0f from this rank's box: ", number(level, "reach") - 1);
        write_list(json_object_get(level, "points"), "", " x ", stream);
        fputc('\n', stream);
    }
    fprintf(stream, "  %.0f samples outside of the box; ", number(s, "samples_outside"));
    write_bytes_sent(s, stream);
}

/* A convolution by levels, before the plan of the exact one. */
static void write_levels(const json_t *m, FILE *stream) {
    const json_t *levels = json_object_get(m, "levels");
    if (!m) return;
    fprintf(stream,
            "multilevel: %zu lattices, kernels of %.0f points to each side, interpolated from %.0f "
            "points along each axis; error about %.1e\n",
            json_array_size(levels), number(m, "radius"), number(m, "interpolation"),
            number(m, "error"));
    for (size_t i = 0; i < json_array_size(levels); i++) {
        const json_t *level = json_array_get(levels, i);
        write_list(json_object_get(level, "lattice"), "  lattice of ", " x ", stream);
        write_list(json_object_get(level, "made"), ", this rank's part ", " x ", stream);
        write_list(json_object_get(level, "tile"), " by tiles of ", " x ", stream);
        fputs("; sends ", stream);
        write_bytes(number(level, "bytes_sent"), stream);
        fputc('\n', stream);
    }
    fputs("  ", stream);
    write_bytes_sent(m, stream);
}

static void write_plan(const json_t *report, FILE *stream) {
    const json_t *problem = json_object_get(report, "problem");
    const json_t *shape = json_object_get(problem, "shape");
    const json_t *line = json_object_get(problem, "transformed_as");
    const json_t *schedules = json_object_get(report, "schedules");
    const json_t *rejected = json_object_get(report, "rejected");
    write_overlap_save(json_object_get(report, "overlap_save"), stream);
    if (json_object_get(report, "note")) fprintf(stream, "%s\n", text(report, "note"));
    write_samples(json_object_get(report, "samples"), stream);
    write_levels(json_object_get(report, "multilevel"), stream);
    write_list(shape, "", " x ", stream);
    write_list(line, " as ", " x ", stream);
    fprintf(stream, " %s %s", text(problem, "kind"), text(problem, "precision"));
    if (number(problem, "batch") > 1) fprintf(stream, ", batch %.0f", number(problem, "batch"));
    fprintf(stream, ", on %.0f %srank%s; device %s, engine %s, threads %.0f\nplan: ",
            number(report, "ranks"), flag(report, "simulated_ranks") ? "simulated " : "",
            number(report, "ranks") == 1 ? "" : "s", text(report, "device"), text(report, "engine"),
            number(report, "threads"));
    write_candidate(json_object_get(report, "chosen"), stream);
    fprintf(stream, "memory of rank %.0f: ", number(report, "rank"));
    write_bytes(number(json_object_get(report, "memory"), "total"), stream);
    fputc('\n', stream);
    if (json_object_get(report, "machine"))
        fprintf(stream, "times predicted by machine file %s\n", text(report, "machine"));
    if (json_object_get(report, "machine_ignored"))
        fprintf(stream, "times predicted without the machine file: %s\n",
                text(report, "machine_ignored"));
    if (json_object_get(report, "wisdom")) fprintf(stream, "wisdom: %s\n", text(report, "wisdom"));
    write_strides(problem, stream);
    for (size_t i = 0; i < json_array_size(schedules); i++)
        write_schedule(json_array_get(schedules, i), json_array_size(line ? line : shape), stream);
    if (json_array_size(rejected) > 0) fputs("rejected:\n", stream);
    for (size_t i = 0; i < json_array_size(rejected); i++) {
        fputs("  ", stream);
        write_candidate(json_array_get(rejected, i), stream);
    }
}

/* The stages of a part of a composition, and what it does. */
static void write_part(const json_t *part, FILE *stream) {
    const json_t *copy = json_object_get(part, "copy"), *step = json_object_get(copy, "step");
    fprintf(stream, "\nstages %.0f to %.0f, ", number(part, "first_stage"),
            number(part, "last_stage"));
    if (!copy) {
        fprintf(stream, "%s:\n", text(part, "direction"));
        write_plan(json_object_get(part, "plan"), stream);
        return;
    }
    write_list(json_object_get(copy, "n"), "copy of ", " x ", stream);
    fputs(flag(copy, "frequencies") ? " frequencies" : " points", stream);
    if (flag(copy, "embeds"))
        write_list(json_object_get(copy, "most"), " into zeros, ", " x ", stream);
    else
        write_list(json_object_get(copy, "most"), " of ", " x ", stream);
    if (!flag(copy, "frequencies")) {
        write_list(step, ", every ", " x ", stream);
        write_list(json_object_get(copy, "lo"), ", from ", ", ", stream);
    }
    fputc('\n', stream);
}

void weft_explain_text(const json_t *report, FILE *stream) {
    const json_t *parts = json_object_get(report, "parts");
    if (!parts) {
        write_plan(report, stream);
        return;
    }
    fprintf(stream, "composition of %zu parts, with arrays between them\nmemory of rank %.0f: ",
            json_array_size(parts), number(report, "rank"));
    write_bytes(number(json_object_get(report, "memory"), "total"), stream);
    fputc('\n', stream);
    for (size_t i = 0; i < json_array_size(parts); i++)
        write_part(json_array_get(parts, i), stream);
}
