/*
 * Gathering lines of the caller's arrays into the layout of the DFT, and scattering them back. Real
 * lines of even length n = 2h can go through a complex DFT of length h (Numerical Recipes,
 * section 12.3); the others go through one of length n.
 */
#ifndef WEFT_ENGINE_REFERENCE_LINES_H
#define WEFT_ENGINE_REFERENCE_LINES_H

#include "engine/reference/pass.h"

/* Reads `lanes` lines whose first elements are at in[offset[lane]]. */
void weft_lines_gather(const weft_pass *pass, const void *in, const int64_t *offset, int64_t lanes,
                       weft_lines x);

/* Writes them to out[offset[lane]]. */
void weft_lines_scatter(const weft_pass *pass, weft_lines x, void *out, const int64_t *offset,
                        int64_t lanes);

#endif
