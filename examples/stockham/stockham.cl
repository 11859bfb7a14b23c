/*
 * Stockham's fast Fourier transform in two ways: a kernel for each stage, through global memory,
 * and one kernel for all stages, through local memory. These are for reading; weft's own kernels
 * are in src/kernels.
 *
 *     X[k] = sum over m of x[m] w^(km),  w = exp(-2 pi i / n),  n a power of two
 *
 * The transform of a line is had from those of its even and its odd points, and so on down to lines
 * of one point, which are their own transforms. From below: take the n/s sub-lines of s points
 *
 *     sub-line r is  x[r], x[r + n/s], x[r + 2 n/s], ...,   r = 0 ... n/s - 1
 *
 * and let the array hold their transforms one after the other, frequency j of sub-line r at
 * r s + j. With span s = 1 that is the input itself. A stage doubles the span: sub-lines r and
 * r + n/(2s) are the even and the odd points of the next sub-line r. With E and O their transforms,
 * and v = exp(-2 pi i / (2s)), the transform Y of that one is
 *
 *     Y[j]     = E[j] + v^j O[j]      E[j] is at r s + j = b,  O[j] at b + n/2,
 *     Y[j + s] = E[j] - v^j O[j]      Y[j] goes to r (2s) + j = 2 (b - j) + j,  Y[j + s] to s more.
 *
 * This is a butterfly. There are n/2 of them in a stage; the number b of one says it all, since
 * j = b mod s. After log2 n stages s is n: one line is left, and frequency k is at k. That is why
 * no bit reversal is needed: results are stored by what they are. The price is a second array, for
 * a butterfly does not write where it read. (In place, results go where the points were, b and
 * b + n/2, and after all stages they are in the order of their indices' bits reversed.)
 *
 * The twiddle v^j is w^(j n/(2s)), so one table of w's powers serves all stages. The program makes
 * it, exact but for the last rounding; sines of the GPU would cost time and digits.
 */
#ifdef DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double2 complex;
#else
typedef float2 complex;
#endif

complex multiply(complex a, complex b) {
    return (complex)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

/* v[0] and v[1] become v[0] + v[1] and v[0] - v[1], once v[1] has its twiddle; `step` is n/(2s). */
void butterfly2(complex v[2], global const complex *roots, uint j, uint step) {
    const complex odd = multiply(v[1], roots[j * step]);
    v[1] = v[0] - odd;
    v[0] = v[0] + odd;
}

/* Two stages in one: four sub-lines become one, so `step` is n/(4s). The roots of order four are 1,
 * -i, -1 and i, whose products are free, and the points make half as many trips through memory. */
void butterfly4(complex v[4], global const complex *roots, uint j, uint step) {
    for (uint k = 1; k < 4; k++) v[k] = multiply(v[k], roots[k * j * step]);
    const complex a = v[0] + v[2], b = v[0] - v[2], c = v[1] + v[3], d = v[1] - v[3];
    const complex minus_i_d = (complex)(d.y, -d.x);
    v[0] = a + c;
    v[1] = b + minus_i_d;
    v[2] = a - c;
    v[3] = b - minus_i_d;
}

/*
 * Through global memory: a launch is a stage, a work-item a butterfly; the next stage reads what
 * this one wrote, and may begin only when all of it is there, so the launches take turns with two
 * arrays. Neighbouring work-items read neighbouring points, always. They write in runs of s points,
 * so the first stages write with gaps, which other writes of the same work-items fill.
 *
 * Butterflies of all lines are numbered in a row, g = b + n/2 times the number of the line, so the
 * line begins at 2 (g - b).
 */
kernel void stage_radix2(global const complex *restrict in, global complex *restrict out,
                         global const complex *restrict roots, uint n, uint s) {
    const size_t g = get_global_id(0);
    const uint b = (uint)g & (n / 2 - 1), j = b & (s - 1); /* mod, of powers of two */
    const size_t line = (g - b) * 2;
    complex v[2] = {in[line + b], in[line + b + n / 2]};
    butterfly2(v, roots, j, n / (2 * s));
    out[line + 2 * (b - j) + j] = v[0];
    out[line + 2 * (b - j) + j + s] = v[1];
}

kernel void stage_radix4(global const complex *restrict in, global complex *restrict out,
                         global const complex *restrict roots, uint n, uint s) {
    const size_t g = get_global_id(0);
    const uint b = (uint)g & (n / 4 - 1), j = b & (s - 1);
    const size_t line = (g - b) * 4;
    complex v[4];
    for (uint k = 0; k < 4; k++) v[k] = in[line + b + k * (n / 4)];
    butterfly4(v, roots, j, n / (4 * s));
    for (uint k = 0; k < 4; k++) out[line + 4 * (b - j) + j + k * s] = v[k];
}

/*
 * Through local memory: a work-group is a line. A stage does little arithmetic, so the time of the
 * kernels above is that of log2 n trips through global memory, and a copy takes as long as one of
 * them. Here the line makes the trip once; the stages between take turns with two halves of the
 * group's local memory, which is on the chip, and a barrier stands where the launches ended. What
 * limits n is that memory: two lines have to fit.
 *
 * Left out, since it hides the algorithm: more than one butterfly in the registers of a work-item,
 * which saves barriers and half of the memory; gaps in local memory, against work-items that want
 * the same bank of it; several short lines in a group. src/kernels/fft_*.cl has them.
 */
kernel void transform_in_local_memory(global const complex *restrict in,
                                      global complex *restrict out,
                                      global const complex *restrict roots, uint n, uint radix,
                                      local complex *two_lines) {
    const uint item = get_local_id(0), items = get_local_size(0);
    const size_t line = get_group_id(0) * (size_t)n;
    local complex *from = two_lines, *to = two_lines + n;
    for (uint i = item; i < n; i += items) from[i] = in[line + i];
    for (uint s = 1; s < n; s *= radix) {
        if (s * radix > n) radix = 2; /* radix 4 leaves a factor 2 over where n is no power of 4 */
        barrier(CLK_LOCAL_MEM_FENCE); /* all of `from` is written, and all of `to` was read */
        for (uint b = item; b < n / radix; b += items) {
            const uint j = b & (s - 1), first = radix * (b - j) + j;
            if (radix == 2) {
                complex v[2] = {from[b], from[b + n / 2]};
                butterfly2(v, roots, j, n / (2 * s));
                to[first] = v[0];
                to[first + s] = v[1];
            } else {
                complex v[4];
                for (uint k = 0; k < 4; k++) v[k] = from[b + k * (n / 4)];
                butterfly4(v, roots, j, n / (4 * s));
                for (uint k = 0; k < 4; k++) to[first + k * s] = v[k];
            }
        }
        local complex *swap = from;
        from = to;
        to = swap;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = item; i < n; i += items) out[line + i] = from[i];
}

/* What all of this is measured by. */
kernel void copy(global const complex *restrict in, global complex *restrict out) {
    out[get_global_id(0)] = in[get_global_id(0)];
}
