/* Kernels of a line alone: NEON, double precision. */
#define REAL double
#define WIDEST 2
#define PAIRS 1
#define LONE weft_lone_neon_double
#include "engine/native/lone_widths.inc"
