/* weft manual: the pages of the command and its subcommands in man's language, from the tables that
 * make the help. */
#include "help.h"
#include "launch.h"
#include "support/error.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

enum { PAGE_COLUMNS = 76 };

static const char exit_statuses[] = "0; 1 where something failed; 2 where the arguments, the files "
                                    "or this build must be changed. A "
                                    "sentence on standard error says what and why.";

/* A stretch of text whose characters all stand for themselves. */
static void put_text(FILE *page, const char *text, int length) {
    for (int i = 0; i < length; i++) {
        switch (text[i]) {
        case '\\':
            fputs("\\e", page);
            break;
        case '-':
            fputs("\\-", page);
            break;
        case '~':
            fputs("\\(ti", page);
            break;
        case '^':
            fputs("\\(ha", page);
            break;
        case '\'':
            fputs("\\(aq", page);
            break;
        case '|':
            fputs("|\\:", page); /* a line may end here */
            break;
        case '.':
            fputs(i == 0 ? "\\&." : ".", page);
            break;
        default:
            fputc(text[i], page);
        }
    }
}

static void put(FILE *page, const char *text) {
    put_text(page, text, (int)strlen(text));
}

/* Words up to the end of a line of `text`, in lines of up to PAGE_COLUMNS; returns what follows. */
static const char *put_words(FILE *page, const char *text, int *column) {
    while (*text != '\0' && *text != '\n') {
        const int length = (int)strcspn(text, " \n");
        const bool new_line = *column > 0 && *column + 1 + length > PAGE_COLUMNS;
        if (*column > 0) fputc(new_line ? '\n' : ' ', page);
        put_text(page, text, length);
        *column = new_line || *column == 0 ? length : *column + 1 + length;
        text += length;
        text += strspn(text, " ");
    }
    return text + (*text == '\n');
}

/* Lines that begin with a space stay as they are, others become paragraphs, which empty lines end.
 */
static void put_paragraphs(FILE *page, const char *text) {
    int column = 0;
    bool kept = false, empty = true; /* empty: a paragraph is about to begin */
    while (*text != '\0') {
        const int length = (int)strcspn(text, "\n");
        if ((*text == ' ') != kept) {
            if (column > 0) fputc('\n', page);
            fputs(kept ? ".EE\n" : empty ? "" : ".PP\n", page);
            fputs(kept ? ".PP\n" : ".EX\n", page);
            kept = !kept;
            column = 0;
        }
        if (kept) {
            put_text(page, text, length);
            fputc('\n', page);
            text += length + (text[length] == '\n');
        } else if (length == 0) {
            fputs(column > 0 ? "\n.PP\n" : "", page);
            column = 0;
            text++;
        } else {
            text = put_words(page, text, &column);
        }
        empty = false;
    }
    if (column > 0) fputc('\n', page);
    if (kept) fputs(".EE\n", page);
}

static void put_lines(FILE *page, const char *lines) {
    fputs(".EX\n", page);
    while (*lines != '\0') {
        const int length = (int)strcspn(lines, "\n");
        put_text(page, lines, length);
        fputc('\n', page);
        lines += length + (lines[length] == '\n');
    }
    fputs(".EE\n", page);
}

static void put_flag(FILE *page, const subcommand *command, const option_flag *flag) {
    const char letter = help_letter(command, flag);
    int column = 0;
    fputs(".TP\n", page);
    if (letter != 0) fprintf(page, "\\fB\\-%c\\fR, ", letter);
    fputs("\\fB", page);
    put(page, "--");
    put(page, flag->name);
    fputs("\\fR", page);
    if (flag->argument != NULL) {
        fputs(options_value_is_optional(flag) ? "\\fI" : " \\fI", page);
        put(page, flag->argument);
        fputs("\\fR", page);
    }
    fputc('\n', page);
    (void)put_words(page, flag->help, &column);
    fputc('\n', page);
}

/* What is said of the command or a subcommand: the first letter small, without the full stop. */
static void put_summary(FILE *page, const char *summary) {
    const size_t length = strlen(summary);
    const bool stop = length > 0 && summary[length - 1] == '.';
    fputc(tolower((unsigned char)summary[0]), page);
    put_text(page, summary + 1, (int)length - 1 - (stop ? 1 : 0));
    fputc('\n', page);
}

static void put_head(FILE *page, const char *name, const char *summary) {
    fprintf(page, ".\\\" Written by weft manual from the tables of the command; do not edit.\n");
    fprintf(page, ".TH \"");
    for (const char *c = name; *c != '\0'; c++) fputc(toupper((unsigned char)*c), page);
    fprintf(page, "\" \"1\" \"\" \"weft %s\" \"weft\"\n.SH NAME\n", weft_version());
    put(page, name);
    fputs(" \\- ", page);
    put_summary(page, summary);
}

static void put_exit_status(FILE *page) {
    int column = 0;
    fputs(".SH EXIT STATUS\n", page);
    (void)put_words(page, exit_statuses, &column);
    fputc('\n', page);
}

static void write_page(FILE *page, const subcommand *command) {
    const option_flag *all[OPTIONS_MOST_FLAGS];
    const int count = options_flags(command, all);
    char name[64];
    snprintf(name, sizeof name, "weft-%s", command->name);
    put_head(page, name, command->summary);
    fprintf(page, ".SH SYNOPSIS\n.B weft %s\n", command->name);
    if (command->arguments[0] != '\0') fprintf(page, ".I %s\n", command->arguments);
    fputs(".RI [ flags ]\n.SH DESCRIPTION\n", page);
    put_paragraphs(page, command->summary);
    if (command->notes != NULL) {
        fputs(command->notes[0] == ' ' ? "" : ".PP\n", page);
        put_paragraphs(page, command->notes);
    }
    fputs(".SH OPTIONS\n", page);
    for (int i = 0; i < count; i++) put_flag(page, command, all[i]);
    for (const option_flag *f = help_flags; f->name != NULL; f++) put_flag(page, command, f);
    fputs(".SH EXAMPLES\n", page);
    put_lines(page, command->examples);
    put_exit_status(page);
    fputs(".SH SEE ALSO\n.BR weft (1)\n", page);
}

static void write_overview(FILE *page) {
    put_head(page, "weft", "Fourier transforms across processes and devices");
    fputs(".SH SYNOPSIS\n.B weft\n.RB [ \\-\\-ranks\n.IR P ]\n.I SUBCOMMAND ...\n.br\n", page);
    fputs(".B mpirun \\-n\n.I P\n.B weft\n.I SUBCOMMAND ...\n.SH DESCRIPTION\n", page);
    put_paragraphs(page, "weft runs alone, or on P processes, which it starts itself with --ranks "
                         "or which mpirun has started.");
    fputs(".SH SUBCOMMANDS\n", page);
    for (int c = 0; subcommands[c] != NULL; c++) {
        int column = 0;
        fprintf(page, ".TP\n.BR weft\\-%s (1)\n", subcommands[c]->name);
        (void)put_words(page, subcommands[c]->summary, &column);
        fputc('\n', page);
    }
    fputs(".SH OPTIONS\n", page);
    put_flag(page, subcommands[0], &shared_option_flags[0]);
    for (const option_flag *f = help_flags; f->name != NULL; f++) put_flag(page, subcommands[0], f);
    put_exit_status(page);
    fputs(".SH ENVIRONMENT\n.TP\n.B WEFT_WISDOM_DIR\nWhere measured choices, compiled kernels and "
          "the machine file are kept\n(default \\(ti/.cache/weft; empty: nowhere).\n.TP\n"
          ".B WEFT_MACHINE\nAnother machine file, as\n.BR weft\\-tune (1)\nwrites it.\n.TP\n"
          ".B WEFT_SIMD\nThe instruction set of the native engine: scalar, sse2, avx2, avx512,\n"
          "neon.\n.TP\n.B WEFT_PYTHON\nThe Python that weft bench, plot and compare start.\n",
          page);
}

typedef struct manual_flags {
    const char *folder; /* where all pages are written, or NULL */
} manual_flags;

static weft_status set_folder(void *target, const char *value) {
    ((manual_flags *)target)->folder = value;
    return WEFT_SUCCESS;
}

static const option_flag manual_option_flags[] = {
    {"output", "DIR", "write all pages into this folder, for man; default: one, to be read",
     set_folder},
    {NULL, NULL, NULL, NULL}};

/* The page of a subcommand, or of the command (NULL). */
static void write_either(FILE *page, const subcommand *command) {
    if (command != NULL)
        write_page(page, command);
    else
        write_overview(page);
}

static weft_status write_file(const char *folder, const subcommand *command) {
    char name[PATH_MAX];
    const int length = snprintf(name, sizeof name, "%s/weft%s%s.1", folder,
                                command != NULL ? "-" : "", command != NULL ? command->name : "");
    FILE *page = length < (int)sizeof name ? fopen(name, "w") : NULL;
    if (page == NULL)
        return weft_fail(WEFT_ERROR_SYSTEM, "%s cannot be written: %s", name, strerror(errno));
    write_either(page, command);
    const bool failed = ferror(page) != 0;
    if (fclose(page) != 0 || failed)
        return weft_fail(WEFT_ERROR_SYSTEM, "%s cannot be written: %s", name, strerror(errno));
    return WEFT_SUCCESS;
}

static weft_status write_all(const char *folder) {
    WEFT_TRY(write_file(folder, NULL));
    for (int c = 0; subcommands[c] != NULL; c++) WEFT_TRY(write_file(folder, subcommands[c]));
    return WEFT_SUCCESS;
}

static weft_status show(const char *name) {
    const subcommand *command = NULL;
    for (int c = 0; name != NULL && subcommands[c] != NULL; c++)
        if (strcmp(subcommands[c]->name, name) == 0) command = subcommands[c];
    if (name != NULL && command == NULL)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "manual: %s is not a subcommand of weft; see weft --help", name);
    write_either(stdout, command);
    if (fflush(stdout) != 0)
        return weft_fail(WEFT_ERROR_SYSTEM, "standard output cannot be written: %s",
                         strerror(errno));
    return WEFT_SUCCESS;
}

static int manual_main(int argc, char **argv, int ranks) {
    shared_options shared = {.ranks = ranks};
    manual_flags flags = {0};
    parsed_arguments parsed = {0};
    command_world alone = {.ranks = 1};
    weft_status status = options_parse(&manual_command, argc, argv, &shared, &flags, &parsed);
    if (status == WEFT_SUCCESS && parsed.helped) return 0;
    if (status == WEFT_SUCCESS && launch_rank_hint() > 0) return 0; /* one process writes */
    if (status == WEFT_SUCCESS && flags.folder != NULL && parsed.count > 0)
        status =
            weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                      "manual: --output is for all pages; drop it, or %s", parsed.positional[0]);
    if (status == WEFT_SUCCESS)
        status = flags.folder != NULL ? write_all(flags.folder)
                                      : show(parsed.count > 0 ? parsed.positional[0] : NULL);
    return world_leave(&alone, status);
}

const subcommand manual_command = {
    .name = "manual",
    .arguments = "[SUBCOMMAND]",
    .summary = "Writes the manual page of weft or of a subcommand, for man.",
    .notes = "Where weft is installed, man weft-transform shows such a page at once.",
    .examples = "weft manual transform | man -l -\n"
                "weft manual --output ~/.local/share/man/man1",
    .of_subcommand = true,
    .flags = manual_option_flags,
    .letters = "o",
    .least = 0,
    .most = 1,
    .run = manual_main,
};
