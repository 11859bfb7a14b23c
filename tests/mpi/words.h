/* The words of a test program's command line. */
#ifndef WEFT_TESTS_MPI_WORDS_H
#define WEFT_TESTS_MPI_WORDS_H

#include <string.h>

/* The word behind `name`, or `otherwise`. */
static inline const char *value_of(int count, char **words, const char *name,
                                   const char *otherwise) {
    for (int i = 1; i + 1 < count; i++)
        if (strcmp(words[i], name) == 0) return words[i + 1];
    return otherwise;
}

#endif
