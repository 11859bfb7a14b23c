/* The engines by themselves: speed beside error, as weft validate --table prints them. */
#ifndef WEFT_TOOLS_VALIDATE_ENGINE_H
#define WEFT_TOOLS_VALIDATE_ENGINE_H

#include "options.h"

#include <jansson.h>

typedef struct engines_result {
    int passed, marginal, failed;
    json_t *rows; /* of the report; owned by who asks */
} engines_result;

/* Measures every engine that transforms, or the one that was chosen, in one process, on lengths
 * from 2 to 65536 and a volume, against the exact transform in long double. Prints a table, or with
 * --quiet the rows that fail. Not collective. */
weft_status engines_validate(const shared_options *shared, engines_result *result);

#endif
