/* Kernels of a line alone: SSE2, double precision. */
#define REAL double
#define WIDEST 2
#define PAIRS 1
#define LONE weft_lone_sse2_double
#include "engine/native/lone_widths.inc"
