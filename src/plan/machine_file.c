/* Machine records as JSON, by one table of their fields. */
#include "plan/machine_file.h"

#include "support/c_locale.h"
#include "support/error.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A field: where it is in the file and in the record, and what it may be. */
typedef struct field {
    const char *section, *key;
    size_t offset;
    int count;    /* a list of so many numbers; 0: one number */
    bool integer; /* an int; else a double */
    double least, most;
} field;

#define AT(member) offsetof(weft_machine, member)
#define RATE(key)                                                                                  \
    { "rate", #key, AT(rate.key), WEFT_MACHINE_SIZES, false, 1, 1e18 }
#define FLOPS(key, member)                                                                         \
    { "rate", key, AT(rate.member), WEFT_LENGTH_CLASSES, false, 1, 1e18 }
#define REAL(section, key, least, most)                                                            \
    { #section, #key, AT(section.key), 0, false, least, most }
#define WHOLE(section, key, least, most)                                                           \
    { #section, #key, AT(section.key), 0, true, least, most }

static const field fields[] = {
    RATE(bytes),
    RATE(copy),
    RATE(contiguous),
    RATE(halved),
    RATE(strided),
    RATE(realigned),
    {"rate", "contention", AT(rate.contention), WEFT_MACHINE_SIZES, false, 0, 1e3},
    FLOPS("flops_double", flops[0]),
    FLOPS("flops_single", flops[1]),
    FLOPS("flops_across_double", flops_across[0]),
    FLOPS("flops_across_single", flops_across[1]),
    RATE(bandwidth),
    REAL(rate, latency, 0, 1e3),
    REAL(rate, signal, 0, 1e3),
    WHOLE(rate, cores, 0, 1 << 20),
    {"network", "ranks", AT(network.ranks), WEFT_MACHINE_LEVELS, true, 0, 1 << 30},
    {"network", "bandwidth", AT(network.bandwidth), WEFT_MACHINE_LEVELS, false, 0, 1e18},
    {"network", "latency", AT(network.latency), WEFT_MACHINE_LEVELS, false, 0, 1e3},
    REAL(penalty, datatypes, 0, 1e6),
    REAL(penalty, odd_real, 0.1, 1e6),
    REAL(penalty, real_to_real, 0.1, 1e6),
    REAL(penalty, fftw, 0.1, 1e6),
    REAL(penalty, device_links, 0, 1e6),
    REAL(device, memory, 0, 1e18),
    REAL(device, to_device, 0, 1e18),
    REAL(device, from_device, 0, 1e18),
    REAL(device, launch, 0, 1e3),
    REAL(tiling, two, 1, 1e18),
    REAL(tiling, four, 1, 1e18),
    REAL(tiling, growth, 1.1, 1e6),
    WHOLE(tiling, most, 1, 1024),
    WHOLE(tiling, most_consumed, 1, 1024),
    REAL(tiling, copied, 0, 1),
    WHOLE(streaming, slots, 1, 16),
    WHOLE(streaming, least_tiles, 1, 1 << 20),
    REAL(streaming, tile, 1, 1e15),
    REAL(streaming, row, 1, 1e15),
    WHOLE(buffers, workspace, 0, 1 << 20),
    WHOLE(buffers, third, 0, 1 << 20),
    WHOLE(buffers, final_copy, 0, 1 << 20),
    WHOLE(buffers, shared_copy, 0, 1 << 20),
    WHOLE(buffers, elsewhere, 0, 1 << 20),
    WHOLE(buffers, waiting, 0, 1 << 20),
    WHOLE(buffers, own_packed, 0, 1 << 20),
    WHOLE(buffers, own_shifted, 0, 1 << 20),
    REAL(search, faster_by_far, 1, 1e6),
    REAL(search, hopeless, 1, 1e6),
    REAL(search, discarded, 1, 1e6),
    WHOLE(search, examined_grids, 1, 1 << 30),
    WHOLE(search, listed_grids, 1, 1 << 20),
    WHOLE(search, measured, 1, 1 << 20),
    WHOLE(search, runs, 1, 1 << 20),
    WHOLE(search, rounds, 1, 1000),
    REAL(search, seconds, 0, 1e3),
    REAL(search, close, 1, 1e6),
    REAL(search, budget, 0, 1e9),
};
enum { FIELDS = sizeof fields / sizeof fields[0] };

bool weft_machine_path(char path[WEFT_PATH_BYTES]) {
    const char *own = getenv("WEFT_MACHINE");
    if (!own) return weft_cache_path("machine.json", path);
    return own[0] && snprintf(path, WEFT_PATH_BYTES, "%s", own) < WEFT_PATH_BYTES;
}

#define WRONG(...) weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "machine file %s: " __VA_ARGS__)

static const field *find_field(const char *section, const char *key) {
    for (int i = 0; i < FIELDS; i++)
        if (strcmp(fields[i].section, section) == 0 && (!key || strcmp(fields[i].key, key) == 0))
            return &fields[i];
    return NULL;
}

static weft_status read_number(const char *path, const field *f, const json_t *value, int at,
                               weft_machine *machine) {
    const double number = json_number_value(value);
    char *place = (char *)machine + f->offset;
    if (!json_is_number(value) || (f->integer && !json_is_integer(value)))
        return WRONG("%s.%s is not a %s; weft tune writes a file that is right", path, f->section,
                     f->key, f->integer ? "whole number" : "number");
    if (!isfinite(number) || number < f->least || number > f->most)
        return WRONG("%s.%s is %g; it must lie between %g and %g", path, f->section, f->key, number,
                     f->least, f->most);
    if (f->integer)
        ((int *)place)[at] = (int)number;
    else
        ((double *)place)[at] = number;
    return WEFT_SUCCESS;
}

static weft_status read_field(const char *path, const field *f, const json_t *value,
                              weft_machine *machine) {
    if (f->count == 0) return read_number(path, f, value, 0, machine);
    if (!json_is_array(value) || json_array_size(value) != (size_t)f->count)
        return WRONG("%s.%s is not a list of %d numbers; weft tune writes a file that is right",
                     path, f->section, f->key, f->count);
    for (int i = 0; i < f->count; i++)
        WEFT_TRY(read_number(path, f, json_array_get(value, (size_t)i), i, machine));
    return WEFT_SUCCESS;
}

static weft_status read_section(const char *path, const char *section, json_t *object,
                                weft_machine *machine) {
    const char *key;
    json_t *value;
    if (!find_field(section, NULL))
        return WRONG("%s is no section of a machine record; remove it", path, section);
    if (!json_is_object(object)) return WRONG("%s is not an object", path, section);
    json_object_foreach(object, key, value) {
        const field *f = find_field(section, key);
        if (!f)
            return WRONG("%s.%s is no field of a machine record; remove it", path, section, key);
        WEFT_TRY(read_field(path, f, value, machine));
    }
    return WEFT_SUCCESS;
}

/* Levels rise, and each has links. */
static weft_status check_network(const char *path, const weft_machine_network *network) {
    for (int l = 0; l < WEFT_MACHINE_LEVELS; l++) {
        const int ranks = network->ranks[l], before = l > 0 ? network->ranks[l - 1] : 1;
        if (ranks > 0 && (ranks <= before || before == 0))
            return WRONG("network.ranks does not rise from 2 on, with zeros behind", path);
        if (ranks > 0 && network->bandwidth[l] < 1)
            return WRONG("network.bandwidth lacks what ranks of level %d have", path, l + 1);
    }
    return WEFT_SUCCESS;
}

static weft_status read_document(const char *path, json_t *document, weft_machine *machine) {
    weft_machine read = weft_machine_default;
    const char *section;
    json_t *object;
    if (!json_is_object(document)) return WRONG("it is not a JSON object", path);
    json_object_foreach(document, section, object) {
        if (strcmp(section, "about") == 0 && json_is_string(object)) continue;
        WEFT_TRY(read_section(path, section, object, &read));
    }
    for (int i = 1; i < WEFT_MACHINE_SIZES; i++)
        if (read.rate.bytes[i] <= read.rate.bytes[i - 1])
            return WRONG("rate.bytes does not rise", path);
    WEFT_TRY(check_network(path, &read.network));
    *machine = read;
    return WEFT_SUCCESS;
}

weft_status weft_machine_read(const char *path, weft_machine *machine) {
    json_error_t error;
    FILE *stream = fopen(path, "rb");
    if (!stream)
        return weft_fail(WEFT_ERROR_SYSTEM, "machine file %s cannot be opened: %s", path,
                         strerror(errno));
    json_t *document = json_loadf(stream, JSON_REJECT_DUPLICATES, &error);
    fclose(stream);
    if (!document)
        return WRONG("it is not valid JSON (line %d: %s); weft tune writes a new one", path,
                     error.line, error.text);
    const weft_status status = read_document(path, document, machine);
    json_decref(document);
    return status;
}

weft_status weft_machine_set(weft_machine *machine, const char *name, double value) {
    const char *dot = strchr(name, '.');
    char section[32];
    if (dot) snprintf(section, sizeof section, "%.*s", (int)(dot - name), name);
    const field *f = dot ? find_field(section, dot + 1) : NULL;
    if (!f)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s is no field of a machine record; give one such as rate.latency", name);
    json_t *number = f->integer ? json_integer((json_int_t)value) : json_real(value);
    weft_status status =
        number ? WEFT_SUCCESS : weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a number");
    for (int i = 0; i < (f->count > 0 ? f->count : 1) && status == WEFT_SUCCESS; i++)
        status = read_number("in memory", f, number, i, machine);
    json_decref(number);
    return status;
}

static json_t *number_of(const field *f, const weft_machine *machine, int at) {
    const char *place = (const char *)machine + f->offset;
    return f->integer ? json_integer(((const int *)place)[at])
                      : json_real(((const double *)place)[at]);
}

static json_t *value_of(const field *f, const weft_machine *machine) {
    if (f->count == 0) return number_of(f, machine, 0);
    json_t *list = json_array();
    for (int i = 0; i < f->count; i++) json_array_append_new(list, number_of(f, machine, i));
    return list;
}

weft_status weft_machine_write(const char *path, const weft_machine *machine, const char *about) {
    json_t *document = json_object();
    if (about) json_object_set_new(document, "about", json_string(about));
    for (int i = 0; i < FIELDS; i++) {
        if (!json_object_get(document, fields[i].section))
            json_object_set_new(document, fields[i].section, json_object());
        json_object_set_new(json_object_get(document, fields[i].section), fields[i].key,
                            value_of(&fields[i], machine));
    }
    const locale_t before = weft_c_locale_begin();
    char *text = json_dumps(document, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    weft_c_locale_end(before);
    json_decref(document);
    if (!text) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a machine file");
    const bool written = weft_cache_write(path, text, strlen(text));
    const int reason = errno;
    free(text);
    return written ? WEFT_SUCCESS
                   : weft_fail(WEFT_ERROR_SYSTEM, "machine file %s cannot be written: %s", path,
                               strerror(reason));
}

/* The time for planning that the environment says; what is no number is none. */
static void find_budget(weft_machine_source *source) {
    const char *text = getenv("WEFT_PLAN_SECONDS");
    char before[512], *end = NULL;
    const locale_t locale = weft_c_locale_begin();
    const double seconds = text ? strtod(text, &end) : 0;
    weft_c_locale_end(locale);
    if (!text || end == text || *end) return;
    snprintf(before, sizeof before, "%s", weft_thread_error());
    if (weft_machine_set(&source->machine, "search.budget", seconds) != WEFT_SUCCESS)
        weft_thread_error_set(before);
}

static void find_file(weft_machine_source *source) {
    char path[WEFT_PATH_BYTES], before[512];
    if (!weft_machine_path(path)) return;
    FILE *there = fopen(path, "rb"); /* a machine that was never tuned is no failure */
    if (!there && errno == ENOENT && !getenv("WEFT_MACHINE")) return;
    if (there) fclose(there);
    snprintf(before, sizeof before, "%s", weft_thread_error());
    if (weft_machine_read(path, &source->machine) == WEFT_SUCCESS) {
        snprintf(source->file, sizeof source->file, "%.511s", path);
        return;
    }
    snprintf(source->note, sizeof source->note, "%.511s", weft_thread_error());
    weft_thread_error_set(before);
}

void weft_machine_find(weft_machine_source *source) {
    *source = (weft_machine_source){.machine = weft_machine_default};
    find_file(source);
    find_budget(source);
}
