/*
 * The help of the command and of its subcommands, from their tables.
 */
#ifndef WEFT_TOOLS_HELP_H
#define WEFT_TOOLS_HELP_H

#include "options.h"

/* What `weft --help` prints. */
void help_print_all(void);
/* What `weft SUBCOMMAND --help` prints. */
void help_print(const subcommand *command);

/* The flags that every subcommand has; a NULL name ends them. */
extern const option_flag help_flags[];

/* The short name of a flag, or 0. */
char help_letter(const subcommand *command, const option_flag *flag);

/* "--name VALUE", as the help shows a flag, its short name before it. */
void help_flag_text(const subcommand *command, const option_flag *flag, char *text,
                    size_t capacity);

/* The words that the value of a flag, or a first argument, may be, one after the other: sets *word
 * and *length and returns where to go on, NULL behind the last one. Names in capitals are no
 * words. */
const char *help_next_word(const char *values, const char **word, int *length);

#endif
