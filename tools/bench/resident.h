/* Resident memory of this process. Linux: /proc. */
#ifndef WEFT_BENCH_RESIDENT_H
#define WEFT_BENCH_RESIDENT_H

/* Growth over the stretches of a program between begin and end; NaN where the system does not let
 * the peak be reset. */
typedef struct resident_meter {
    double kept;   /* bytes that the stretches so far left behind */
    double peak;   /* the most that was held at any time within them */
    double before; /* at the last begin */
} resident_meter;

void resident_begin(resident_meter *meter);
void resident_end(resident_meter *meter);

#endif
