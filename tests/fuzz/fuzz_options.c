/* Fuzzes the command line: any words, separated by zero bytes, are parsed or refused with one
 * sentence. */
#include "help.h"
#include "launch.h"
#include "options.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 24 };

typedef struct own_flags {
    int rank;
    int64_t n[WEFT_MAX_RANK];
} own_flags;

/* Stands in for launch.c, which needs MPI: with rank 1 the help stays silent. */
int launch_rank_hint(void) {
    return 1;
}

void help_print(const subcommand *command) {
    (void)command;
}

static weft_status set_shape(void *target, const char *value) {
    own_flags *flags = target;
    return options_shape("shape", value, &flags->rank, flags->n);
}

static const option_flag flags[] = {{"shape", "AxB", "a shape", set_shape},
                                    {NULL, NULL, NULL, NULL}};
static const subcommand fuzzed = {.name = "fuzzed",
                                  .arguments = "IN OUT",
                                  .summary = "",
                                  .flags = flags,
                                  .letters = "s",
                                  .shared = true,
                                  .most = 2};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1), *words[MOST_WORDS + 2] = {(char *)(uintptr_t) "fuzzed"};
    memcpy(text, data, size);
    text[size] = '\0';
    int count = 1;
    for (size_t at = 0; at < size && count <= MOST_WORDS; at += strlen(text + at) + 1)
        words[count++] = text + at;
    shared_options shared = {0};
    own_flags own = {0};
    parsed_arguments parsed = {0};
    weft_thread_error_set("");
    weft_status status = options_parse(&fuzzed, count, words, &shared, &own, &parsed);
    if (status == WEFT_SUCCESS) {
        if (parsed.count < 0 || parsed.count > 2 || own.rank > WEFT_MAX_RANK) abort();
        for (int a = 0; a < own.rank; a++)
            if (own.n[a] < 1) abort();
    } else if (weft_thread_error()[0] == '\0') {
        abort();
    }
    free(text);
    return 0;
}
