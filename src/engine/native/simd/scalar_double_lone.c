/* Kernels of a line alone: plain C, double precision. */
#define REAL double
#define WIDEST 1
#define PAIRS 1
#define LONE weft_lone_scalar_double
#include "engine/native/lone_widths.inc"
