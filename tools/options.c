/* Parsing with getopt_long, from tables; every mistake gives one sentence. */
#include "options.h"

#include "help.h"
#include "launch.h"
#include "names.h"
#include "support/axis.h"
#include "support/error.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WRONG(...) weft_fail(WEFT_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

bool options_take_integer(const char **text, int64_t *value) {
    char *end;
    if (**text < '0' || **text > '9') return false;
    errno = 0;
    long long number = strtoll(*text, &end, 10);
    if (errno != 0) return false;
    *value = number;
    *text = end;
    return true;
}

weft_status options_integer(const char *flag, const char *text, int64_t least, int64_t *value) {
    int64_t number;
    const char *end = text;
    if (!options_take_integer(&end, &number) || *end != '\0' || number < least)
        return WRONG("--%s %s: give a whole number of at least %lld", flag, text, (long long)least);
    *value = number;
    return WEFT_SUCCESS;
}

weft_status options_shape(const char *flag, const char *text, int *rank, int64_t n[WEFT_MAX_RANK]) {
    const char *at = text;
    int axes = 0;
    for (;; at++) {
        if (axes == WEFT_MAX_RANK || !options_take_integer(&at, &n[axes]) || n[axes] < 1)
            return WRONG("--%s %s: give 1 to %d numbers of at least 1, such as 4x8", flag, text,
                         WEFT_MAX_RANK);
        axes++;
        if (*at != 'x') break;
    }
    if (*at != '\0') return WRONG("--%s %s: give numbers joined by x, such as 4x8", flag, text);
    *rank = axes;
    return WEFT_SUCCESS;
}

bool options_numbers(const char *text, int *count, double values[WEFT_MAX_RANK]) {
    const char *at = text;
    for (int i = 0; i < WEFT_MAX_RANK; i++) {
        char *end;
        if (strchr(" \t\n\v\f\r", *at) != NULL) return false;
        values[i] = strtod(at, &end);
        if (end == at || !isfinite(values[i])) return false;
        *count = i + 1;
        if (*end == '\0') return true;
        if (*end != ',') return false;
        at = end + 1;
    }
    return false;
}

weft_status options_raw_shape(const char *flag, const char *text, raw_description *raw) {
    raw->shaped = true;
    return options_shape(flag, text, &raw->info.rank, raw->info.n);
}

weft_status options_raw_type(const char *flag, const char *text, raw_description *raw) {
    raw->typed = weft_element_parse(text, &raw->info.element);
    if (raw->typed) return WEFT_SUCCESS;
    return WRONG("--%s %s: give " WEFT_ELEMENT_NAMES, flag, text);
}

weft_status options_raw_check(const raw_description *raw, const char *shape_flag,
                              const char *type_flag) {
    if (raw->shaped == raw->typed) return WEFT_SUCCESS;
    return WRONG("--%s and --%s describe a raw file together; give both", shape_flag, type_flag);
}

const weft_array_info *options_raw(const raw_description *raw) {
    return raw->shaped && raw->typed ? &raw->info : NULL;
}

weft_status options_axes(const char *text, axis_list *axes) {
    const char *at = text;
    for (axes->count = 0;; at++) {
        const size_t length = strcspn(at, ",");
        weft_axis axis;
        if (!find_axis(at, length, &axis) || axes->count == WEFT_MAX_RANK)
            return WRONG("--axes %s: give one for all axes, or one for each, joined by "
                         "commas: "
                         "dct1 to dct4, dst1 to dst4, none (left as it is), fft, or real (the fft "
                         "that halves real data)",
                         text);
        axes->axis[axes->count++] = axis;
        at += length;
        if (*at == '\0') return WEFT_SUCCESS;
    }
}

weft_status options_axes_of(const axis_list *axes, int rank, weft_axis axis[WEFT_MAX_RANK]) {
    if (axes->count > 1 && axes->count != rank)
        return WRONG(
            "--axes: %d of them for an array of %d axes; give one for all, or one for each",
            axes->count, rank);
    for (int a = 0; a < rank && axes->count > 0; a++)
        axis[a] = axes->axis[axes->count == 1 ? 0 : a];
    return WEFT_SUCCESS;
}

void options_axes_text(const weft_axis *axis, int rank, char *text, size_t capacity) {
    size_t length = 0;
    for (int a = 0; a < rank && length < capacity; a++)
        length += (size_t)snprintf(text + length, capacity - length, "%s%s", a > 0 ? "," : "",
                                   weft_axis_name(axis[a]));
}

bool options_axes_have_fft(const weft_axis *axis, int rank) {
    for (int a = 0; a < rank; a++)
        if (weft_axis_is_fourier(axis[a])) return true;
    return false;
}

bool options_value_is_optional(const option_flag *flag) {
    return flag->argument != NULL && flag->argument[0] == '[';
}

static bool is_own(const subcommand *command, const option_flag *flag) {
    for (const option_flag *f = command->flags; f != NULL && f->name != NULL; f++)
        if (f == flag) return true;
    return false;
}

/* Whether a subcommand has this flag: one of its own, or a shared one that it takes. */
static bool has_flag(const subcommand *command, const option_flag *flag) {
    const char *const *name = command->only;
    if (is_own(command, flag) || name == NULL) return true;
    while (*name != NULL && strcmp(*name, flag->name) != 0) name++;
    return *name != NULL;
}

int options_flags(const subcommand *command, const option_flag *all[OPTIONS_MOST_FLAGS]) {
    const option_flag *tables[2] = {command->flags, command->shared ? shared_option_flags : NULL};
    int count = 0;
    for (int t = 0; t < 2; t++) {
        for (const option_flag *f = tables[t]; f != NULL && f->name != NULL; f++) {
            bool hidden = !has_flag(command, f); /* its own flag replaces a shared one */
            for (int i = 0; i < count; i++) hidden = hidden || strcmp(all[i]->name, f->name) == 0;
            if (hidden || count == OPTIONS_MOST_FLAGS) continue;
            all[count++] = f;
        }
    }
    return count;
}

/* For getopt: val of a flag is its place in `all`, counted from 1. */
static int describe_flags(const subcommand *command, const option_flag **all,
                          struct option *longs) {
    const int count = options_flags(command, all);
    for (int i = 0; i < count; i++)
        longs[i] = (struct option){all[i]->name,
                                   all[i]->argument == NULL            ? no_argument
                                   : options_value_is_optional(all[i]) ? optional_argument
                                                                       : required_argument,
                                   NULL, i + 1};
    return count;
}

static weft_status check_count(const subcommand *command, int count, char **positional) {
    if (count < command->least)
        return WRONG("%s: an argument is missing: weft %s %s; see weft %s --help", command->name,
                     command->name, command->arguments, command->name);
    if (count > command->most)
        return WRONG("%s: the argument %s is one too many: weft %s %s; see weft %s --help",
                     command->name, positional[command->most], command->name, command->arguments,
                     command->name);
    return WEFT_SUCCESS;
}

weft_status options_parse(const subcommand *command, int argc, char **argv, shared_options *shared,
                          void *own, parsed_arguments *parsed) {
    enum { HELP = 1000, VERSION };
    const option_flag *all[OPTIONS_MOST_FLAGS];
    struct option longs[OPTIONS_MOST_FLAGS + 4] = {{0}};
    int count = describe_flags(command, all, longs), found;
    longs[count] = (struct option){"help", no_argument, NULL, HELP};
    longs[count + 1] = (struct option){"version", no_argument, NULL, VERSION};
    char shorts[16];
    snprintf(shorts, sizeof shorts, ":h");
    for (int i = 0; command->letters != NULL && command->letters[i] != '\0'; i++) {
        shorts[2 + 2 * i] = command->letters[i];
        memcpy(shorts + 3 + 2 * i, ":", 2);
    }
    opterr = 0;
    optind = 0; /* forgets where an earlier command line was left */
    while ((found = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
        const char *letter =
            command->letters != NULL && found > count && found < HELP && found != ':'
                ? strchr(command->letters, found)
                : NULL;
        if (found == 'h') found = HELP;
        if (letter != NULL) found = (int)(letter - command->letters) + 1;
        if (found == HELP || found == VERSION) {
            if (found == HELP && launch_rank_hint() <= 0) help_print(command);
            if (found == VERSION && launch_rank_hint() <= 0) printf("weft %s\n", weft_version());
            parsed->helped = true;
            return WEFT_SUCCESS;
        }
        if (found == ':')
            return WRONG("%s needs a value; see weft %s --help", argv[optind - 1], command->name);
        if (found == '?' || found > count)
            return WRONG("%s is not a flag of weft %s, or takes no value; see weft %s --help",
                         argv[optind - 1], command->name, command->name);
        const option_flag *flag = all[found - 1];
        WEFT_TRY(flag->set(is_own(command, flag) ? own : shared, optarg));
    }
    parsed->count = argc - optind;
    parsed->positional = argv + optind;
    return check_count(command, parsed->count, parsed->positional);
}
