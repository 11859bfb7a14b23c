/* Kernels of a line alone: AVX-512, single precision. */
#define REAL float
#define WIDEST 16
#define PAIRS 0
#define LONE weft_lone_avx512_single
#include "engine/native/lone_widths.inc"
