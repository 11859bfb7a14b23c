/* weft completion: what a shell needs to complete subcommands, flags and their values, from the
 * tables that make the help. */
#include "help.h"
#include "launch.h"
#include "support/error.h"

#include <errno.h>
#include <string.h>

/* Prints text between single quotes as bash and zsh read it, with backslashes before `special`. */
static void print_quoted(const char *text, const char *special, const char *quote) {
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            printf("%s", quote);
        else if (strchr(special, *text) != NULL)
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

static void print_words(const char *values, const char *before) {
    const char *word, *next = values;
    int length;
    for (int i = 0; (next = help_next_word(next, &word, &length)) != NULL; i++)
        printf("%s%s%.*s", i > 0 ? " " : "", before, length, word);
}

/* What the first argument may be; false: anything. */
static bool has_first(const subcommand *command) {
    return command->words != NULL || command->of_subcommand;
}

static void print_first(const subcommand *command) {
    print_words(command->words, "");
    for (int c = 0; command->of_subcommand && subcommands[c] != NULL; c++)
        printf("%s%s", c > 0 ? " " : "", subcommands[c]->name);
}

static bool has_words(const char *values) {
    const char *word;
    int length;
    return help_next_word(values, &word, &length) != NULL;
}

static bool names_file(const option_flag *flag) {
    return strstr(flag->argument, "FILE") != NULL || strstr(flag->argument, "OUT") != NULL ||
           strcmp(flag->argument, "SOURCE") == 0 || strcmp(flag->argument, "DIR") == 0;
}

/* ---- bash ---- */

static void bash_subcommand(const subcommand *command) {
    const option_flag *all[OPTIONS_MOST_FLAGS];
    const int count = options_flags(command, all);
    printf("    %s)\n        flags='", command->name);
    for (int i = 0; i < count; i++) printf("--%s ", all[i]->name);
    printf("--help --version'\n        first='");
    print_first(command);
    printf("'\n        case $flag in\n");
    for (int i = 0; i < count; i++) {
        if (all[i]->argument == NULL) continue;
        printf("        --%s", all[i]->name);
        if (help_letter(command, all[i]) != 0) printf(" | -%c", help_letter(command, all[i]));
        printf(") takes=%s words='", options_value_is_optional(all[i]) ? "maybe" : "value");
        print_words(all[i]->argument, "");
        printf("' ;;\n");
    }
    printf("        esac\n        ;;\n");
}

static void print_bash(void) {
    printf("# Completion of weft for bash, written by weft completion bash.\n"
           "_weft() {\n"
           "    local current=${COMP_WORDS[COMP_CWORD]} flag=${COMP_WORDS[COMP_CWORD-1]}\n"
           "    local command= arguments=0 flags= words= first= takes=no equals=no i\n"
           "    if [ \"$current\" = = ]; then current= equals=yes\n"
           "    elif [ \"$flag\" = = ]; then flag=${COMP_WORDS[COMP_CWORD-2]} equals=yes; fi\n"
           "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
           "        case ${COMP_WORDS[i]} in\n"
           "        --ranks) [ -n \"$command\" ] || ((i += 1)) ;;\n"
           "        -* | =) ;;\n"
           "        *) if [ -z \"$command\" ]; then command=${COMP_WORDS[i]}; else ((arguments += "
           "1)); "
           "fi ;;\n"
           "        esac\n"
           "    done\n"
           "    case $command in\n"
           "    '')\n"
           "        flags='--ranks --help --version'\n"
           "        first='");
    for (int c = 0; subcommands[c] != NULL; c++)
        printf("%s%s", c > 0 ? " " : "", subcommands[c]->name);
    printf("'\n        [ \"$flag\" != --ranks ] || takes=value\n        ;;\n");
    for (int c = 0; subcommands[c] != NULL; c++) bash_subcommand(subcommands[c]);
    printf("    esac\n"
           "    if [ $takes = value ] || [ $takes = maybe -a $equals = yes ]; then\n"
           "        COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
           "    elif [[ $current == -* ]]; then\n"
           "        COMPREPLY=($(compgen -W \"$flags\" -- \"$current\"))\n"
           "    elif [ $arguments = 0 ]; then\n"
           "        COMPREPLY=($(compgen -W \"$first\" -- \"$current\"))\n"
           "    else\n"
           "        COMPREPLY=()\n"
           "    fi\n"
           "}\n"
           "complete -o default -F _weft weft\n");
}

/* ---- zsh ---- */

static void zsh_flag(const subcommand *command, const option_flag *flag) {
    const char letter = help_letter(command, flag);
    printf("            '");
    if (letter != 0) printf("(-%c --%s)'{-%c+,--%s=}'", letter, flag->name, letter, flag->name);
    if (letter == 0) printf("--%s", flag->name);
    if (letter == 0 && flag->argument != NULL) printf(options_value_is_optional(flag) ? "=-" : "=");
    printf("[");
    print_quoted(flag->help, "[]:\\", "'\\''");
    printf("]");
    if (flag->argument != NULL) {
        printf(options_value_is_optional(flag) ? "::value:" : ":value:");
        if (has_words(flag->argument)) {
            printf("(");
            print_words(flag->argument, "");
            printf(")");
        } else if (names_file(flag)) {
            printf("_files");
        }
    }
    printf("' \\\n");
}

static void zsh_subcommand(const subcommand *command) {
    const option_flag *all[OPTIONS_MOST_FLAGS];
    const int count = options_flags(command, all);
    printf("    %s)\n        _arguments \\\n", command->name);
    for (int i = 0; i < count; i++) zsh_flag(command, all[i]);
    for (const option_flag *f = help_flags; f->name != NULL; f++) zsh_flag(command, f);
    if (has_first(command)) {
        printf("            '1:%s:(", command->name);
        print_first(command);
        printf(")' \\\n");
    }
    printf("            '*:file:_files'\n        ;;\n");
}

static void print_zsh(void) {
    printf("#compdef weft\n"
           "# Completion of weft for zsh, written by weft completion zsh.\n"
           "_weft() {\n"
           "    local curcontext=$curcontext state line\n"
           "    local -a commands\n"
           "    commands=(\n");
    for (int c = 0; subcommands[c] != NULL; c++) {
        printf("        '%s:", subcommands[c]->name);
        print_quoted(subcommands[c]->summary, ":\\", "'\\''");
        printf("'\n");
    }
    printf("    )\n"
           "    _arguments -C '--ranks=[");
    print_quoted(shared_option_flags[0].help, "[]:\\", "'\\''");
    printf("]:P:' '--help[print the subcommands]' '--version[print the version]' \\\n"
           "        '1: :->command' '*:: :->arguments' && return\n"
           "    if [[ $state == command ]]; then\n"
           "        _describe subcommand commands\n"
           "        return\n"
           "    fi\n"
           "    case $words[1] in\n");
    for (int c = 0; subcommands[c] != NULL; c++) zsh_subcommand(subcommands[c]);
    printf("    esac\n"
           "}\n"
           "if [[ $funcstack[1] == _weft ]]; then _weft \"$@\"; else compdef _weft weft; fi\n");
}

/* ---- fish ---- */

static void fish_flag(const subcommand *command, const option_flag *flag) {
    const char letter = help_letter(command, flag);
    printf("complete -c weft -n '__weft_is %s' -l %s", command->name, flag->name);
    if (letter != 0) printf(" -s %c", letter);
    if (flag->argument != NULL && has_words(flag->argument)) {
        printf(options_value_is_optional(flag) ? " -f -a '" : " -x -a '");
        if (options_value_is_optional(flag)) {
            char before[64];
            snprintf(before, sizeof before, "--%s=", flag->name);
            print_words(flag->argument, before);
        } else {
            print_words(flag->argument, "");
        }
        printf("'");
    } else if (flag->argument != NULL && !options_value_is_optional(flag)) {
        printf(names_file(flag) ? " -r -F" : " -x");
    }
    printf(" -d '");
    print_quoted(flag->help, "\\", "\\'");
    printf("'\n");
}

static void print_fish(void) {
    printf("# Completion of weft for fish, written by weft completion fish.\n"
           "function __weft_subcommand\n"
           "    set -l words (commandline -opc)\n"
           "    set -l skip 1\n"
           "    for word in $words\n"
           "        if test $skip = 1\n"
           "            set skip 0\n"
           "        else if test $word = --ranks\n"
           "            set skip 1\n"
           "        else if not string match -q -- '-*' $word\n"
           "            echo $word\n"
           "            return\n"
           "        end\n"
           "    end\n"
           "    echo none\n"
           "end\n"
           "function __weft_is\n"
           "    test (__weft_subcommand) = $argv[1]\n"
           "end\n"
           "complete -c weft -n '__weft_is none' -f\n"
           "complete -c weft -n '__weft_is none' -l ranks -x -d '");
    print_quoted(shared_option_flags[0].help, "\\", "\\'");
    printf("'\n");
    for (int c = 0; subcommands[c] != NULL; c++) {
        const option_flag *all[OPTIONS_MOST_FLAGS];
        const int count = options_flags(subcommands[c], all);
        printf("complete -c weft -n '__weft_is none' -f -a %s -d '", subcommands[c]->name);
        print_quoted(subcommands[c]->summary, "\\", "\\'");
        printf("'\n");
        if (has_first(subcommands[c])) {
            printf("complete -c weft -n '__weft_is %s' -a '", subcommands[c]->name);
            print_first(subcommands[c]);
            printf("'\n");
        }
        for (int i = 0; i < count; i++) fish_flag(subcommands[c], all[i]);
        for (const option_flag *f = help_flags; f->name != NULL; f++) fish_flag(subcommands[c], f);
    }
}

static weft_status complete(const char *shell) {
    static const struct {
        const char *name;
        void (*print)(void);
    } shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(shells[i].name, shell) != 0) continue;
        shells[i].print();
        if (fflush(stdout) == 0) return WEFT_SUCCESS;
        return weft_fail(WEFT_ERROR_SYSTEM, "standard output cannot be written: %s",
                         strerror(errno));
    }
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "completion: %s: give bash, zsh or fish", shell);
}

static int completion_main(int argc, char **argv, int ranks) {
    shared_options shared = {.ranks = ranks};
    parsed_arguments parsed = {0};
    command_world alone = {.ranks = 1};
    weft_status status = options_parse(&completion_command, argc, argv, &shared, NULL, &parsed);
    if (status == WEFT_SUCCESS && parsed.helped) return 0;
    if (status == WEFT_SUCCESS && launch_rank_hint() > 0) return 0; /* one process writes */
    if (status == WEFT_SUCCESS) status = complete(parsed.positional[0]);
    return world_leave(&alone, status);
}

const subcommand completion_command = {
    .name = "completion",
    .arguments = "SHELL",
    .summary = "Writes the completion of subcommands and flags for a shell.",
    .notes = "SHELL is bash, zsh or fish. Where weft is installed, shells find it by themselves.",
    .examples = "source <(weft completion bash)\n"
                "weft completion fish > ~/.config/fish/completions/weft.fish",
    .words = "bash|zsh|fish",
    .least = 1,
    .most = 1,
    .run = completion_main,
};
