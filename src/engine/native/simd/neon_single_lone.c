/* Kernels of a line alone: NEON, single precision. */
#define REAL float
#define WIDEST 4
#define PAIRS 0
#define LONE weft_lone_neon_single
#include "engine/native/lone_widths.inc"
