/* The material law at a voxel, as voxel_law.h has it. */

/* Where the phase of a voxel is, and how far that of the lower neighbour along an axis. */
FUNCTION long64 place_of(sweep k, long64 voxel) {
    const long64 row = voxel / k.row, plane = row / k.rows;
    return ((plane + k.halo) * (k.rows + k.halo) + row % k.rows + k.halo) * (k.row + k.halo) +
           k.halo + voxel % k.row;
}

FUNCTION long64 down(sweep k, int axis) {
    return axis == 2 ? 1 : axis == 1 ? k.row + k.halo : (k.row + k.halo) * (k.rows + k.halo);
}

/* Of shifted component i: 1 over the mean of `inverse` over the voxels around. */
FUNCTION double series_modulus(sweep k, const GLOBAL double *inverse,
                               const GLOBAL unsigned short *phase, int i) {
#if COMPONENTS == 3
    return 2 / (inverse[3 * phase[0] + i] + inverse[3 * phase[-down(k, i)] + i]);
#else
    const long64 a = down(k, (i + 1) % 3), b = down(k, (i + 2) % 3);
    return 4 / (inverse[3 * phase[0] + i] + inverse[3 * phase[-a] + i] +
                inverse[3 * phase[-b] + i] + inverse[3 * phase[-a - b] + i]);
#endif
}

/* y = x times the voxel's matrix, in the components of its middle. */
FUNCTION void multiply(const GLOBAL double *matrices, int phase, const double *x, double *y) {
    const GLOBAL double *matrix = matrices + (long64)phase * COMPONENTS * COMPONENTS;
    UNROLL
    for (int i = 0; i < MIDDLE; ++i) {
        y[i] = 0;
        UNROLL
        for (int j = 0; j < MIDDLE; ++j) y[i] += matrix[i * COMPONENTS + j] * x[j];
    }
}

/* y = C x */
FUNCTION void apply_law(sweep k, const GLOBAL double *law, const GLOBAL double *inverse,
                        const GLOBAL unsigned short *phase, const double *x, double *y) {
#if ISOTROPIC
    const GLOBAL double *matrix = law + (long64)phase[0] * COMPONENTS * COMPONENTS;
    const double twice = matrix[0] - matrix[1], volume = matrix[1] * (x[0] + x[1] + x[2]);
    UNROLL
    for (int i = 0; i < MIDDLE; ++i) y[i] = (i < 3 ? volume : 0) + twice * x[i];
#else
    multiply(law, phase[0], x, y);
#endif
    UNROLL
    for (int i = 0; i < 3 * STAGGERED; ++i)
        y[MIDDLE + i] = series_modulus(k, inverse, phase, i) * x[MIDDLE + i];
}
