/* Kernels of a line alone: SSE2, single precision. */
#define REAL float
#define WIDEST 4
#define PAIRS 0
#define LONE weft_lone_sse2_single
#include "engine/native/lone_widths.inc"
