/* Each kind reads its words from a list that is split at commas first. */
#include "parse.h"

#include "support/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = WEFT_MAX_RANK + 4, MOST_WORD = 32 };

static const double pi = 3.14159265358979323846;

/* The most that lengths in points and orders may be: nothing overflows. */
static const double most_length = 1e6, most_order = 100;

typedef struct word_list {
    int count, next;
    char word[MOST_WORDS][MOST_WORD];
} word_list;

static bool split(const char *text, word_list *words) {
    *words = (word_list){0};
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        if (length == 0 || length >= MOST_WORD || words->count == MOST_WORDS) return false;
        memcpy(words->word[words->count], at, length);
        words->word[words->count++][length] = '\0';
        at += length;
        if (*at == '\0') return true;
    }
}

static bool number_of(const char *word, double *value) {
    char *end;
    if (strchr(" \t\n\v\f\r", word[0]) != NULL) return false;
    *value = strtod(word, &end);
    return end != word && *end == '\0' && isfinite(*value);
}

static int words_left(const word_list *words) {
    return words->count - words->next;
}

/* A number from `least` to `most`. */
static bool take(word_list *words, double least, double most, double *value) {
    double number;
    if (words_left(words) == 0 || !number_of(words->word[words->next], &number) || number < least ||
        number > most)
        return false;
    words->next++;
    *value = number;
    return true;
}

/* A cutoff or a radius: any frequency above 0. */
static bool take_cutoff(word_list *words, double *value) {
    return take(words, 1e-9, 1, value);
}

static bool take_choice(word_list *words, const char *const *names, int *choice) {
    for (int i = 0; words_left(words) > 0 && names[i] != NULL; i++) {
        if (strcmp(words->word[words->next], names[i]) != 0) continue;
        words->next++;
        *choice = i;
        return true;
    }
    return false;
}

static bool take_edge(word_list *words, filter_part *part) {
    static const char *const names[] = {"ideal", "butterworth", "gaussian", NULL};
    int choice;
    if (!take_choice(words, names, &choice)) return false;
    part->edge = (filter_edge)choice;
    return true;
}

/* The order is that of Butterworth's filter, and may be left out. */
static bool take_order(word_list *words, filter_part *part) {
    part->order = 2;
    if (words_left(words) == 0) return true;
    return part->edge == FILTER_BUTTERWORTH && take(words, 0.01, most_order, &part->order);
}

static bool take_angle(word_list *words, const filter_axes *axes, filter_part *part) {
    double degrees = 0;
    if (words_left(words) > 0 && (axes->rank != 2 || !take(words, -1e6, 1e6, &degrees)))
        return false;
    const double cosine = cos(degrees * pi / 180), sine = sin(degrees * pi / 180);
    part->direction[0] = axes->picture ? -sine : cosine;
    part->direction[1] = axes->picture ? cosine : sine;
    return true;
}

/* ---- the kinds ---- */

static bool read_gaussian(word_list *words, const filter_axes *axes, filter_part *part) {
    double first;
    if (!take(words, 0, most_length, &first)) return false;
    for (int a = 0; a < axes->rank; a++) part->sigma[a] = first;
    for (int a = 1; words_left(words) > 0 && a < axes->rank; a++)
        if (!take(words, 0, most_length, &part->sigma[a]) ||
            (words_left(words) == 0 && a < axes->rank - 1))
            return false;
    /* Of two axes the widths are along the direction and across it. */
    return take_angle(words, axes, part);
}

static bool read_pass(word_list *words, const filter_axes *axes, filter_part *part) {
    (void)axes;
    return take_edge(words, part) && take_cutoff(words, &part->cutoff[0]) &&
           take_order(words, part);
}

static bool read_band(word_list *words, const filter_axes *axes, filter_part *part) {
    (void)axes;
    return take_edge(words, part) && take_cutoff(words, &part->cutoff[0]) &&
           take_cutoff(words, &part->cutoff[1]) && part->cutoff[0] < part->cutoff[1] &&
           take_order(words, part);
}

static bool read_notch(word_list *words, const filter_axes *axes, filter_part *part) {
    for (int i = 0; i < axes->rank; i++)
        if (!take(words, -0.5, 0.5, &part->centre[axes->picture ? axes->rank - 1 - i : i]))
            return false;
    if (!take_cutoff(words, &part->cutoff[0])) return false;
    return words_left(words) == 0 || (take_edge(words, part) && take_order(words, part));
}

static bool read_wiener(word_list *words, const filter_axes *axes, filter_part *part) {
    static const char *const names[] = {"gaussian", "motion", "disc", NULL};
    int blur;
    if (!take_choice(words, names, &blur)) return false;
    part->blur = (filter_blur)blur;
    if (part->blur != FILTER_BLUR_GAUSSIAN && axes->rank != 2) return false;
    if (!take(words, 0, most_length, &part->extent)) return false;
    for (int a = 0; a < axes->rank; a++) part->sigma[a] = part->extent;
    part->direction[0] = 1;
    if (part->blur == FILTER_BLUR_MOTION) {
        word_list angle = {.count = 1};
        if (words_left(words) == 0) return false;
        memcpy(angle.word[0], words->word[words->next++], MOST_WORD);
        if (!take_angle(&angle, axes, part)) return false;
    }
    return take(words, 1e-12, 1e12, &part->noise);
}

static const struct {
    const char *name;
    filter_kind kind;
    bool (*read)(word_list *words, const filter_axes *axes, filter_part *part);
    const char *wanted;
} kinds[] = {
    {"gaussian", FILTER_GAUSSIAN, read_gaussian,
     "a width for all axes, or one for each, in points; of two axes, behind them an angle in "
     "degrees, such as 4,1,30"},
    {"lowpass", FILTER_LOWPASS, read_pass,
     "ideal, butterworth or gaussian and a cutoff in cycles per point, such as ideal,0.1; behind "
     "butterworth's an order, such as butterworth,0.1,2"},
    {"highpass", FILTER_HIGHPASS, read_pass,
     "ideal, butterworth or gaussian and a cutoff in cycles per point, such as ideal,0.1; behind "
     "butterworth's an order, such as butterworth,0.1,2"},
    {"bandpass", FILTER_BANDPASS, read_band,
     "ideal, butterworth or gaussian and two cutoffs in cycles per point, the lower one first, "
     "such as gaussian,0.05,0.2; behind butterworth's an order"},
    {"notch", FILTER_NOTCH, read_notch,
     "a frequency of -0.5 to 0.5 for each axis and a radius, in cycles per point, such as "
     "0.1,0.25,0.02; behind them ideal, butterworth (and an order) or gaussian"},
    {"wiener", FILTER_WIENER, read_wiener,
     "gaussian,SIGMA,NOISE or, of two axes, motion,LENGTH,ANGLE,NOISE or disc,RADIUS,NOISE; NOISE, "
     "above 0, is the noise-to-signal ratio of powers"}};
enum { KINDS = sizeof kinds / sizeof *kinds };

bool filter_is_part(const char *name) {
    for (int k = 0; k < KINDS; k++)
        if (strcmp(kinds[k].name, name) == 0) return true;
    return false;
}

weft_status filter_parse(const char *name, const char *text, const filter_axes *axes,
                         filter_part *part) {
    for (int k = 0; k < KINDS; k++) {
        word_list words;
        if (strcmp(kinds[k].name, name) != 0) continue;
        *part = (filter_part){.kind = kinds[k].kind};
        if (split(text, &words) && kinds[k].read(&words, axes, part) && words_left(&words) == 0)
            return WEFT_SUCCESS;
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "--%s %.200s: give %s", name, text,
                         kinds[k].wanted);
    }
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%.40s is not a filter", name);
}
