/* Kernels of a line alone: AVX2 with FMA, single precision. */
#define REAL float
#define WIDEST 8
#define PAIRS 0
#define LONE weft_lone_avx2_single
#include "engine/native/lone_widths.inc"
