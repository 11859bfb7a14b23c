/*
 * Roots of unity by octant reduction: the angle's index is reduced to [0, pi/4] in integers, so
 * that no rounding of the angle is amplified and points on the axes are exact. Within the octant,
 * exp(i(a + b)) = exp(ia) exp(ib) in long double from two tables of about sqrt(n) entries, which
 * costs one rounding far below that of double.
 */
#include "engine/roots.h"

#include <math.h>
#include <stdlib.h>

struct weft_roots {
    int64_t n;
    int64_t block;       /* entries of the fine table */
    long double *coarse; /* cosine and sine of block * j units, interleaved */
    long double *fine;   /* of j units; the unit is 2 pi / (8 n) */
};

static void fill_table(long double *table, int64_t entries, long double unit, int64_t step) {
    for (int64_t j = 0; j < entries; j++) {
        long double angle = unit * (long double)(j * step);
        table[2 * j] = cosl(angle);
        table[2 * j + 1] = sinl(angle);
    }
}

weft_roots *weft_roots_create(int64_t n) {
    weft_roots *roots = calloc(1, sizeof *roots);
    if (!roots) return NULL;
    int64_t block = 1;
    while (block * block < n) block *= 2;
    const int64_t blocks = n / block + 1; /* units 0..n */
    roots->n = n;
    roots->block = block;
    roots->coarse = malloc(2 * (size_t)blocks * sizeof(long double));
    roots->fine = malloc(2 * (size_t)block * sizeof(long double));
    if (!roots->coarse || !roots->fine) {
        weft_roots_destroy(roots);
        return NULL;
    }
    const long double unit = 0.785398163397448309615660845819875721L / (long double)n;
    fill_table(roots->coarse, blocks, unit, block);
    fill_table(roots->fine, block, unit, 1);
    return roots;
}

void weft_roots_destroy(weft_roots *roots) {
    if (!roots) return;
    free(roots->fine);
    free(roots->coarse);
    free(roots);
}

void weft_roots_at(const weft_roots *roots, int64_t k, double *re, double *im) {
    const int64_t n = roots->n, octant = 8 * k / n;
    int64_t units = 8 * k - octant * n;
    if (octant & 1) units = n - units; /* measured back from the next axis */
    const long double *a = &roots->coarse[2 * (units / roots->block)];
    const long double *b = &roots->fine[2 * (units % roots->block)];
    double cosine = (double)(a[0] * b[0] - a[1] * b[1]);
    double sine = (double)(a[1] * b[0] + a[0] * b[1]);
    bool exchanged = (octant + 1) & 2; /* nearest the imaginary axis */
    double x = exchanged ? sine : cosine, y = exchanged ? cosine : sine;
    *re = octant >= 2 && octant < 6 ? -x : x;
    *im = octant < 4 ? -y : y;
}

bool weft_roots_fill(int64_t n, int64_t count, double *re, double *im) {
    weft_roots *roots = weft_roots_create(n);
    const bool made = roots != NULL;
    for (int64_t k = 0; k < count && made; k++) weft_roots_at(roots, k % n, &re[k], &im[k]);
    weft_roots_destroy(roots);
    return made;
}
