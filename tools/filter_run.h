/* What the flags of `weft filter` say, and its two runs: of a picture, and of an array in a file.
 */
#ifndef WEFT_TOOLS_FILTER_RUN_H
#define WEFT_TOOLS_FILTER_RUN_H

#include "filter/parse.h"
#include "filter/picture_filter.h"
#include "launch.h"
#include "options.h"

enum { FILTER_MOST_PARTS = 256 };

typedef struct filter_flags {
    int parts;
    const char *name[FILTER_MOST_PARTS], *text[FILTER_MOST_PARTS]; /* of each part, as given */
    bool has_boundary;
    filter_boundary boundary;
    const char *spectrum; /* a file, or NULL */
    raw_description raw;
} filter_flags;

extern const option_flag filter_option_flags[];
weft_status filter_flags_check(const filter_flags *flags);

/* Reads the parts, all 0 before, for an array of these axes. The caller releases them, also after a
 * failure. Once responses are computed, the second one fails if any was no number. */
weft_status filter_flags_parts(const filter_flags *flags, const filter_axes *axes,
                               filter_part parts[FILTER_MOST_PARTS]);
weft_status filter_flags_check_values(const filter_flags *flags, const filter_part *parts);
void filter_flags_release(const filter_flags *flags, filter_part *parts);

/* Filters IN into OUT; each returns the exit status, and has joined the processes. */
int filter_picture_run(const filter_flags *flags, const shared_options *shared,
                       const parsed_arguments *parsed);
int filter_array_run(const filter_flags *flags, const shared_options *shared,
                     const parsed_arguments *parsed);

#endif
