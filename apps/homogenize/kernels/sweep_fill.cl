KERNEL(weft_sweep_fill)(MEMORY(real, e), const sweep k) {
    OPEN(real, e);
    for (long64 at = FIRST; at < k.voxels; at += STEP) {
        UNROLL
        for (int i = 0; i < COMPONENTS; ++i) e[i * k.voxels + at] = (real)k.mean[i];
    }
}
