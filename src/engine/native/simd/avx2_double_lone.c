/* Kernels of a line alone: AVX2 with FMA, double precision. */
#define REAL double
#define WIDEST 4
#define PAIRS 1
#define LONE weft_lone_avx2_double
#include "engine/native/lone_widths.inc"
