/* Kernels of a line alone: AVX-512, double precision. */
#define REAL double
#define WIDEST 8
#define PAIRS 1
#define LONE weft_lone_avx512_double
#include "engine/native/lone_widths.inc"
