/*
 * Flags of the command line: each subcommand lists its own in a table and shares those of every
 * transform. The tables make the parser and the help.
 */
#ifndef WEFT_TOOLS_OPTIONS_H
#define WEFT_TOOLS_OPTIONS_H

#include "io/array.h"

#include <stdbool.h>
#include <weft/weft.h>

typedef struct option_flag {
    const char *name; /* without the dashes; NULL ends a table */
    /* What the help calls its value: a name in capitals, or the words that there are, joined by |;
     * "[=...]": it may be left out; "...[,...]": it may be several; NULL: it takes none. */
    const char *argument;
    const char *help; /* of flags that take a value it says what holds without them */
    /* Stores the value (NULL where there is none); fails with a sentence that says what to give
     * instead. */
    weft_status (*set)(void *target, const char *value);
} option_flag;

/* What the flags shared by all transforms say. */
typedef struct shared_options {
    weft_options plan;
    int ranks; /* 0: not given */
    bool precision_given;
    weft_precision precision;
    const char *report, *trace; /* files, or NULL */
    bool quiet;
    bool progress;      /* shown at once, on a terminal or not */
    bool may_be_absent; /* set before parsing: device and engine need not be here */
} shared_options;

typedef struct subcommand {
    const char *name;
    const char *arguments; /* positional, as the help shows them */
    const char *summary;   /* one line */
    const char *notes;     /* further paragraphs of the help, or NULL; indented lines stay lines */
    const char *examples;  /* lines of the shell, two at least */
    const char *words;     /* what the first argument may be, joined by |; NULL: a file */
    bool of_subcommand;    /* the first argument is the name of one */
    const option_flag *flags;
    const char *letters;     /* short names of the first of `flags`, or NULL */
    bool shared;             /* takes the shared flags too */
    const char *const *only; /* of those, the ones with these names, up to a NULL; NULL: all */
    int least, most;         /* positional arguments */
    int (*run)(int argc, char **argv, int ranks); /* returns the exit status */
} subcommand;

extern const subcommand transform_command, convolve_command, plan_command, validate_command,
    info_command, view_command, bench_command, plot_command, compare_command, homogenize_command,
    microstructure_command, filter_command, live_command, tune_command, wisdom_command,
    manual_command, completion_command;

/* All of them, in the order of the help; a NULL ends them. */
extern const subcommand *const subcommands[];

/* Flags that most subcommands take; a NULL name ends them. */
extern const option_flag shared_option_flags[];

enum { OPTIONS_MOST_FLAGS = 40 };
/* The flags of a subcommand, its own and the shared ones that it takes, in the order of the help,
 * but for --help and --version, which all have. Returns how many there are. */
int options_flags(const subcommand *command, const option_flag *all[OPTIONS_MOST_FLAGS]);

/* Whether the value of a flag may be left out. */
bool options_value_is_optional(const option_flag *flag);

typedef struct parsed_arguments {
    int count;
    char **positional;
    bool helped; /* the help was asked for and printed */
} parsed_arguments;

/* Parses argv[1..]: shared flags into *shared, the subcommand's own into *own. */
weft_status options_parse(const subcommand *command, int argc, char **argv, shared_options *shared,
                          void *own, parsed_arguments *parsed);

/* Whether an exchange was chosen that sends from threads of its own, for which MPI must be told. */
bool options_use_streams(const shared_options *shared);

/* Refuses a device or an engine that cannot be used here, as parsing does. */
weft_status options_check_back_ends(const shared_options *shared);
/* Reads the digits at *text, which then points behind them; false where there are none, or too
 * many.
 */
bool options_take_integer(const char **text, int64_t *value);

/* Values of flags; `flag` is named in the sentence of a failure. */
weft_status options_integer(const char *flag, const char *text, int64_t least, int64_t *value);
weft_status options_shape(const char *flag, const char *text, int *rank, int64_t n[WEFT_MAX_RANK]);

/* Numbers joined by commas, at most WEFT_MAX_RANK of them; false if there is anything else, or one
 * that is not finite. */
bool options_numbers(const char *text, int *count, double values[WEFT_MAX_RANK]);

/* What flags say of a raw file, whose type and shape are not in it. */
typedef struct raw_description {
    bool shaped, typed;
    weft_array_info info;
} raw_description;

weft_status options_raw_shape(const char *flag, const char *text, raw_description *raw);
weft_status options_raw_type(const char *flag, const char *text, raw_description *raw);
/* Fails where one of the two was given and the other was not. */
weft_status options_raw_check(const raw_description *raw, const char *shape_flag,
                              const char *type_flag);
/* For weft_array_open: NULL where nothing was given. */
const weft_array_info *options_raw(const raw_description *raw);

/* --axes: what is done along each axis, as given: one for each axis, or one for all. */
typedef struct axis_list {
    int count; /* 0: not given */
    weft_axis axis[WEFT_MAX_RANK];
} axis_list;

weft_status options_axes(const char *text, axis_list *axes);
/* Writes the value of each axis of an array, none where `axes` was not given. */
weft_status options_axes_of(const axis_list *axes, int rank, weft_axis axis[WEFT_MAX_RANK]);
/* As --axes takes them. */
enum { AXES_TEXT_BYTES = 5 * WEFT_MAX_RANK };
void options_axes_text(const weft_axis *axis, int rank, char *text, size_t capacity);
/* Whether an axis of them is transformed by the Fourier transform. */
bool options_axes_have_fft(const weft_axis *axis, int rank);

#endif
