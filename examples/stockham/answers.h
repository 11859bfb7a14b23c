/*
 * Transforms whose answers are known, for a batch of complex lines in an array of single or double
 * precision. Nothing here knows of OpenCL.
 */
#ifndef STOCKHAM_ANSWERS_H
#define STOCKHAM_ANSWERS_H

#include <complex.h>
#include <stdbool.h>
#include <stddef.h>

typedef long double complex exact;

typedef enum answers_signal { IMPULSE, TONE, NOISE, SIGNALS } answers_signal;

typedef struct answers {
    size_t n, lines;
    bool is_double;
    bool is_way_back;               /* the answer is that of a transform and its inverse */
    exact *roots, *signal, *answer; /* n roots; lines that differ */
} answers;

/* False where memory is short. Noise comes from rand(). */
bool answers_create(answers *a, size_t n, size_t lines, bool is_double);
void answers_destroy(answers *a);

/* The powers of exp(-2 pi i / n), 0 to n-1. */
void answers_roots(const answers *a, void *array);

/* Fills the array, and keeps the answer. */
void answers_set_signal(answers *a, answers_signal signal, void *array);

void answers_conjugate(const answers *a, void *array);

/* The error of all lines together, relative in L2, as a share of what weft allows its engines:
 * u sqrt(log2 n), and as much again for the way back. */
double answers_error(const answers *a, const void *array);

#endif
