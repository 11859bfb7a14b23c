/* Flags beside what they do, in lines of up to 100 columns. */
#include "help.h"

#include <ctype.h>
#include <string.h>

enum { TEXT_COLUMN = 27, LINE_COLUMNS = 100 };

const option_flag help_flags[] = {{"help", NULL, "print this; -h for short", NULL},
                                  {"version", NULL, "print the version", NULL},
                                  {NULL, NULL, NULL, NULL}};

char help_letter(const subcommand *command, const option_flag *flag) {
    for (int i = 0; command->letters != NULL && command->letters[i] != '\0'; i++)
        if (&command->flags[i] == flag) return command->letters[i];
    return 0;
}

void help_flag_text(const subcommand *command, const option_flag *flag, char *text,
                    size_t capacity) {
    const char letter = help_letter(command, flag);
    char before[8] = "";
    if (letter != 0) snprintf(before, sizeof before, "-%c, ", letter);
    snprintf(text, capacity, "%s--%s%s%s", before, flag->name,
             flag->argument == NULL || options_value_is_optional(flag) ? "" : " ",
             flag->argument != NULL ? flag->argument : "");
}

/* `text` from TEXT_COLUMN on, where the cursor is, in as many lines as it takes. */
static void print_wrapped(const char *text) {
    int column = TEXT_COLUMN;
    while (*text != '\0') {
        const int length = (int)strcspn(text, " ");
        if (column > TEXT_COLUMN && column + 1 + length > LINE_COLUMNS) {
            printf("\n%*s", TEXT_COLUMN, "");
            column = TEXT_COLUMN;
        } else if (column > TEXT_COLUMN) {
            printf(" ");
            column++;
        }
        printf("%.*s", length, text);
        column += length;
        text += length;
        text += strspn(text, " ");
    }
    printf("\n");
}

static void print_beside(const char *left, const char *text) {
    const int width = TEXT_COLUMN - 3;
    if ((int)strlen(left) > width)
        printf("  %s\n%*s", left, TEXT_COLUMN, "");
    else
        printf("  %-*s ", width, left);
    print_wrapped(text);
}

static void print_flag(const subcommand *command, const option_flag *flag) {
    char left[128];
    help_flag_text(command, flag, left, sizeof left);
    print_beside(left, flag->help);
}

static void print_indented(const char *lines) {
    while (*lines != '\0') {
        const int length = (int)strcspn(lines, "\n");
        printf("  %.*s\n", length, lines);
        lines += length;
        lines += *lines == '\n';
    }
}

void help_print(const subcommand *command) {
    const option_flag *all[OPTIONS_MOST_FLAGS];
    const int count = options_flags(command, all);
    printf("weft %s%s%s [flags]\n\n%s\n", command->name, command->arguments[0] != '\0' ? " " : "",
           command->arguments, command->summary);
    if (command->notes != NULL) printf("\n%s\n", command->notes);
    printf("\nExamples:\n");
    print_indented(command->examples);
    printf("\nFlags:\n");
    for (int i = 0; i < count; i++) print_flag(command, all[i]);
    for (const option_flag *f = help_flags; f->name != NULL; f++) print_flag(command, f);
}

void help_print_all(void) {
    printf("weft: Fourier transforms across processes and devices\n\n"
           "  weft [--ranks P] SUBCOMMAND ...     alone, or on P processes\n"
           "  mpirun -n P weft SUBCOMMAND ...     as one of P processes\n\n");
    for (int c = 0; subcommands[c] != NULL; c++) {
        char left[64];
        snprintf(left, sizeof left, "%s %s", subcommands[c]->name, subcommands[c]->arguments);
        print_beside(left, subcommands[c]->summary);
    }
    printf("\nweft SUBCOMMAND --help lists the flags of a subcommand, weft manual SUBCOMMAND shows "
           "its page.\n");
}

const char *help_next_word(const char *values, const char **word, int *length) {
    while (values != NULL && *values != '\0') {
        const size_t skip = strspn(values, "|[=");
        if (values[skip] == '\0' || values[skip] == ',') return NULL; /* "[,...]" ends them */
        *word = values + skip;
        *length = (int)strcspn(*word, "|[]");
        values = *word + *length;
        if (*values == ']') values++;
        bool lower = *length > 0;
        for (int i = 0; i < *length; i++) lower = lower && !isupper((unsigned char)(*word)[i]);
        if (lower) return values;
    }
    return NULL;
}
