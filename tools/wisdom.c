/* weft wisdom: shows, carries and forgets the choices that efforts MEASURE and PATIENT keep. */
#include "launch.h"
#include "options.h"

#include "plan/wisdom_file.h"
#include "support/error.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void print_choice(const char *key, const json_t *choice) {
    size_t i;
    const json_t *item;
    printf("%s\n    %s %s", key, json_string_value(json_object_get(choice, "decomposition")),
           json_string_value(json_object_get(choice, "variant")));
    json_array_foreach(json_object_get(choice, "grid"), i, item)
        printf("%s%lld", i ? "x" : ", grid ", (long long)json_integer_value(item));
    json_array_foreach(json_object_get(choice, "exchange"), i, item)
        printf("%s%s", i ? "+" : ", ", json_string_value(item));
    printf(", tiles %lld, %.4g ms\n",
           (long long)json_integer_value(json_object_get(choice, "tiles")),
           1e3 * json_number_value(json_object_get(choice, "seconds")));
}

static weft_status list(const char *path) {
    json_t *wisdom = NULL;
    const char *key;
    json_t *choice;
    WEFT_TRY(weft_wisdom_read(path, &wisdom));
    json_object_foreach(wisdom, key, choice) print_choice(key, choice);
    printf("%zu choice%s in %s\n", json_object_size(wisdom),
           json_object_size(wisdom) == 1 ? "" : "s", path);
    json_decref(wisdom);
    return WEFT_SUCCESS;
}

static weft_status export_to(const char *path, const char *file) {
    json_t *wisdom = NULL;
    WEFT_TRY(weft_wisdom_read(path, &wisdom));
    const weft_status status = weft_wisdom_write(file, wisdom);
    json_decref(wisdom);
    return status;
}

static void merge(json_t *wisdom, void *argument) {
    json_object_update(wisdom, argument);
}

/* What the file says of a call replaces what was known of it. */
static weft_status import_from(const char *path, const char *file) {
    json_t *added = NULL;
    if (access(file, R_OK) != 0)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "wisdom file %s cannot be read: %s", file,
                         strerror(errno));
    WEFT_TRY(weft_wisdom_read(file, &added));
    const weft_status status = weft_wisdom_change(path, merge, added);
    json_decref(added);
    return status;
}

static void remove_matching(json_t *wisdom, void *argument) {
    const char *key;
    json_t *choice;
    void *next;
    char pattern[1024];
    snprintf(pattern, sizeof pattern, "*%s*", (const char *)argument);
    json_object_foreach_safe(wisdom, next, key, choice) if (fnmatch(pattern, key, 0) == 0)
        json_object_del(wisdom, key);
}

/* Without a pattern the file goes, also where it is damaged. */
static weft_status forget(const char *path, char *pattern) {
    if (pattern) return weft_wisdom_change(path, remove_matching, pattern);
    return unlink(path) == 0 || errno == ENOENT
               ? WEFT_SUCCESS
               : weft_fail(WEFT_ERROR_SYSTEM, "wisdom file %s cannot be removed: %s", path,
                           strerror(errno));
}

static weft_status act(const parsed_arguments *parsed) {
    const char *action = parsed->positional[0];
    char *argument = parsed->count > 1 ? parsed->positional[1] : NULL;
    char path[WEFT_PATH_BYTES];
    if (!weft_wisdom_path(path))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "wisdom: WEFT_WISDOM_DIR is empty, so that none is kept; give a folder");
    if (strcmp(action, "list") == 0 && !argument) return list(path);
    if (strcmp(action, "export") == 0 && argument) return export_to(path, argument);
    if (strcmp(action, "import") == 0 && argument) return import_from(path, argument);
    if (strcmp(action, "forget") == 0) return forget(path, argument);
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                     "wisdom %s%s%s: say list, export FILE, import FILE or forget [PATTERN]",
                     action, argument ? " " : "", argument ? argument : "");
}

static int wisdom_main(int argc, char **argv, int ranks) {
    shared_options shared = {.ranks = ranks};
    parsed_arguments parsed = {0};
    command_world alone = {.ranks = 1};
    weft_status status = options_parse(&wisdom_command, argc, argv, &shared, NULL, &parsed);
    if (status == WEFT_SUCCESS && parsed.helped) return 0;
    if (status == WEFT_SUCCESS && launch_rank_hint() > 0) return 0; /* one process acts */
    if (status == WEFT_SUCCESS) status = act(&parsed);
    return world_leave(&alone, status);
}

static const option_flag wisdom_flags[] = {{NULL, NULL, NULL, NULL}};

const subcommand wisdom_command = {
    .name = "wisdom",
    .arguments = "ACTION [FILE]",
    .summary = "Lists, exports, imports or forgets what measuring plans have found.",
    .notes =
        "ACTION is\n"
        "  list           every choice, and the time that was measured\n"
        "  export FILE    copies all of them to a file\n"
        "  import FILE    adds those of a file; they replace older ones\n"
        "  forget [LINE]  drops those whose line matches (* and ? match anything; default: all)\n"
        "Plans with --effort measure or patient keep their choice in wisdom.json in\n"
        "WEFT_WISDOM_DIR (default ~/.cache/weft), by processor, cores, MPI library, version of\n"
        "weft, problem, options and ranks, and are planned without measuring from then on.",
    .examples = "weft wisdom list\n"
                "weft wisdom export cluster.json\n"
                "weft wisdom forget '256x256x256 r2c*'",
    .words = "list|export|import|forget",
    .flags = wisdom_flags,
    .least = 1,
    .most = 2,
    .run = wisdom_main,
};
