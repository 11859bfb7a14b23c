/* The flags of weft microstructure. */
#ifndef WEFT_TOOLS_MICROSTRUCTURE_FLAGS_H
#define WEFT_TOOLS_MICROSTRUCTURE_FLAGS_H

#include "microstructure/microstructure.h"
#include "options.h"

typedef struct microstructure_flags {
    microstructure_request request;
    int rank;                 /* axes of --size; 0: not given */
    const char *orientations; /* the file of --orientations, or NULL */
} microstructure_flags;

extern const option_flag microstructure_option_flags[];

/* Fails where a flag is missing, or belongs to other kinds. */
weft_status microstructure_flags_check(const microstructure_flags *flags,
                                       const microstructure_kind *kind);

#endif
