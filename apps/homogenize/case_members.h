/* Members of a case's objects: each is read, and refused with a sentence that names its place. */
#ifndef WEFT_HOMOGENIZE_CASE_MEMBERS_H
#define WEFT_HOMOGENIZE_CASE_MEMBERS_H

#include "case.h"

#include <jansson.h>

/* Where in the file an object is. */
typedef struct case_place {
    const char *file;
    char path[64]; /* "phases[2]." before its members, "" at the top */
} case_place;

weft_status case_wrong(const case_place *at, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Fails where the object has a key that is not in the list, which ends with NULL. */
weft_status case_check_keys(const case_place *at, const json_t *object, const char *const *keys);

/* A finite number. */
weft_status case_number(const case_place *at, const json_t *object, const char *key, double *value);

/* `count` finite numbers. With `missing`, entries may be null: missing[i] tells. */
weft_status case_numbers(const case_place *at, const json_t *object, const char *key, int count,
                         double *values, bool *missing);

/* n rows of n finite numbers. */
weft_status case_matrix(const case_place *at, const json_t *object, const char *key, int n,
                        double *matrix);

/* One of `words`, which end with NULL; an absent member is words[0]. */
weft_status case_choice(const case_place *at, const json_t *object, const char *key,
                        const char *const *words, int *choice);

/* case_phases.c: reads object `phases[number]`. */
weft_status case_phase(const case_place *top, const json_t *object, size_t number,
                       homogenize_physics physics, homogenize_phase *phase);

#endif
