/* Kernels of a line alone: plain C, single precision. */
#define REAL float
#define WIDEST 1
#define PAIRS 0
#define LONE weft_lone_scalar_single
#include "engine/native/lone_widths.inc"
