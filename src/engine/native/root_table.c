/* Makes two-level tables of roots of unity, and copies runs of roots out of them. */
#include "engine/native/root_table.h"

#include "engine/native/number.h"
#include "engine/roots.h"

#include <stdlib.h>

bool weft_root_table_create(int64_t n, int64_t count, weft_root_table *t, size_t *bytes) {
    *t = (weft_root_table){.block = 1};
    while (t->block * t->block < count) t->block *= 2;
    const int64_t coarse = (count + t->block - 1) / t->block;
    double *memory = malloc(2 * (size_t)(coarse + t->block) * sizeof *memory);
    weft_roots *halves = weft_roots_create(2 * n); /* halves of the angles, and the angles */
    t->coarse_re = memory;
    if (memory && halves) {
        t->coarse_im = memory + coarse;
        t->fine_re = memory + 2 * coarse;
        t->fine_im = t->fine_re + t->block;
        for (int64_t c = 0; c < coarse; c++)
            weft_roots_at(halves, 2 * (c * t->block % n), &t->coarse_re[c], &t->coarse_im[c]);
        for (int64_t f = 0; f < t->block; f++) {
            double cosine, sine;
            weft_roots_at(halves, f % n, &cosine, &sine);
            weft_roots_at(halves, 2 * (f % n), &cosine, &t->fine_im[f]);
            t->fine_re[f] = -2 * sine * sine;
        }
        *bytes += 2 * (size_t)(coarse + t->block) * sizeof *memory;
    }
    weft_roots_destroy(halves);
    return memory && halves;
}

void weft_root_table_release(weft_root_table *t) {
    free(t->coarse_re);
}

/* Roots first..first+count-1 of one coarse root. */
static void copy_run(const weft_root_table *t, bool single, int64_t first, int64_t count,
                     void *roots) {
    const int64_t c = first / t->block;
    const double *fr = t->fine_re + first % t->block, *fi = t->fine_im + first % t->block;
    const double cr = t->coarse_re[c], ci = t->coarse_im[c];
    double *d = roots;
    float *s = roots;
    for (int64_t i = 0; i < count && single; i++) {
        s[2 * i] = (float)(cr + (cr * fr[i] - ci * fi[i]));
        s[2 * i + 1] = (float)(ci + (cr * fi[i] + ci * fr[i]));
    }
    for (int64_t i = 0; i < count && !single; i++) {
        d[2 * i] = cr + (cr * fr[i] - ci * fi[i]);
        d[2 * i + 1] = ci + (cr * fi[i] + ci * fr[i]);
    }
}

void weft_root_table_copy(const weft_root_table *t, const weft_kernels *kernels, int64_t first,
                          int64_t count, void *roots) {
    const bool single = kernels->real_bytes == (int)sizeof(float);
    for (int64_t done = 0; done < count;) {
        int64_t run = t->block - (first + done) % t->block;
        if (run > count - done) run = count - done;
        copy_run(t, single, first + done, run, (char *)roots + done * weft_complex_bytes(kernels));
        done += run;
    }
}
