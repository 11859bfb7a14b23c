/*
 * An impulse becomes a wave, a wave becomes an impulse, and noise becomes what the definition says:
 * the sum, n operations for each point, is taken in long double while lines are short. Beyond,
 * noise makes the way back too, and is its own answer.
 */
#include "answers.h"

#include <math.h>
#include <stdlib.h>

enum { SAMPLES = 5 }; /* lines that differ; line l of the batch is sample l % SAMPLES */
enum { LONGEST_SUM = 1024 };

static void set_number(const answers *a, void *array, size_t i, exact value) {
    if (a->is_double)
        ((double complex *)array)[i] = (double complex)value;
    else
        ((float complex *)array)[i] = (float complex)value;
}

static exact get_number(const answers *a, const void *array, size_t i) {
    return a->is_double ? ((const double complex *)array)[i] : ((const float complex *)array)[i];
}

bool answers_create(answers *a, size_t n, size_t lines, bool is_double) {
    *a = (answers){.n = n,
                   .lines = lines,
                   .is_double = is_double,
                   .roots = malloc(n * sizeof(exact)),
                   .signal = malloc(SAMPLES * n * sizeof(exact)),
                   .answer = malloc(SAMPLES * n * sizeof(exact))};
    if (!a->roots || !a->signal || !a->answer) {
        answers_destroy(a);
        return false;
    }
    const long double turn = 2 * acosl(-1);
    for (size_t k = 0; k < n; k++) {
        const long double angle = turn * (long double)k / (long double)n;
        a->roots[k] = cosl(angle) - sinl(angle) * I;
    }
    return true;
}

void answers_destroy(answers *a) {
    free(a->roots);
    free(a->signal);
    free(a->answer);
}

void answers_roots(const answers *a, void *array) {
    for (size_t k = 0; k < a->n; k++) set_number(a, array, k, a->roots[k]);
}

/* Parts between -1 and 1 that single precision holds without rounding. */
static exact random_point(void) {
    const long double re = (long double)(rand() >> 8), im = (long double)(rand() >> 8);
    return (re + im * I) / (1 << 22) - (1 + I);
}

static exact sum_of_definition(const answers *a, const exact *x, size_t k) {
    exact sum = 0;
    for (size_t m = 0; m < a->n; m++) sum += x[m] * a->roots[k * m % a->n];
    return sum;
}

static void make_sample(const answers *a, answers_signal signal, size_t sample) {
    const size_t n = a->n, place = (3 + 7 * sample) % n;
    exact *x = a->signal + sample * n, *answer = a->answer + sample * n;
    for (size_t i = 0; i < n; i++) {
        const exact root = a->roots[place * i % n];
        switch (signal) {
        case IMPULSE:
            x[i] = i == place;
            answer[i] = root;
            break;
        case TONE:
            x[i] = conjl(root);
            answer[i] = i == place ? n : 0;
            break;
        default:
            x[i] = answer[i] = random_point();
        }
    }
    for (size_t k = 0; k < n && signal == NOISE && !a->is_way_back; k++)
        answer[k] = sum_of_definition(a, x, k);
}

void answers_set_signal(answers *a, answers_signal signal, void *array) {
    a->is_way_back = signal == NOISE && a->n > LONGEST_SUM;
    for (size_t sample = 0; sample < SAMPLES; sample++) make_sample(a, signal, sample);
    for (size_t i = 0; i < a->lines * a->n; i++)
        set_number(a, array, i, a->signal[i % (SAMPLES * a->n)]);
}

void answers_conjugate(const answers *a, void *array) {
    for (size_t i = 0; i < a->lines * a->n; i++)
        set_number(a, array, i, conjl(get_number(a, array, i)));
}

static long double square(exact value) {
    return creall(value) * creall(value) + cimagl(value) * cimagl(value);
}

double answers_error(const answers *a, const void *array) {
    const long double scale = a->is_way_back ? 1 / (long double)a->n : 1;
    const double u = a->is_double ? 1.1e-16 : 6.0e-8;
    const double allowed = u * sqrt(log2((double)a->n)) * (a->is_way_back ? 2 : 1);
    long double error = 0, size = 0;
    for (size_t i = 0; i < a->lines * a->n; i++) {
        const exact answer = a->answer[i % (SAMPLES * a->n)];
        error += square(get_number(a, array, i) * scale - answer);
        size += square(answer);
    }
    return sqrt((double)(error / size)) / allowed;
}
