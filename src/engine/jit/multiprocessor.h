/*
 * What a multiprocessor of an NVIDIA GPU of compute capability 9 has. Shapes of kernels are chosen
 * by it on every device, since the bits of results depend on radices.
 */
#ifndef WEFT_ENGINE_JIT_MULTIPROCESSOR_H
#define WEFT_ENGINE_JIT_MULTIPROCESSOR_H

enum {
    WEFT_JIT_WARP = 32,              /* threads */
    WEFT_JIT_PARTS = 4,              /* that warps share out */
    WEFT_JIT_REGISTERS = 1 << 16,    /* of 32 bits, of all parts */
    WEFT_JIT_BANK_BYTES = 128,       /* that threads load from local memory, or store, in a cycle */
    WEFT_JIT_RESIDENT_THREADS = 2048 /* of all groups at once */
};

/* The registers that a thread can have where there are so many groups of so many threads. */
static inline int weft_jit_registers_with(int groups, int threads) {
    enum { GRANULE = 8, MOST = 255 };
    const int warps = groups * ((threads + WEFT_JIT_WARP - 1) / WEFT_JIT_WARP);
    const int of_part = (warps + WEFT_JIT_PARTS - 1) / WEFT_JIT_PARTS;
    const int registers =
        WEFT_JIT_REGISTERS / WEFT_JIT_PARTS / (of_part * WEFT_JIT_WARP) / GRANULE * GRANULE;
    return registers < MOST ? registers : MOST;
}

#endif
