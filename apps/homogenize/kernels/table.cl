/*
 * Tables of numbers for each phase: each thread has a part of its own, so that sums have the same order in
 * each run. Number i of the phases, counted through, is table[i * threads + thread].
 */
FUNCTION void clear_part(GLOBAL double *table, sweep k, long64 thread) {
    for (long64 i = 0; thread < k.threads && i < k.entries * k.phases; ++i) table[i * k.threads + thread] = 0;
}

FUNCTION GLOBAL double *part_of(GLOBAL double *table, sweep k, long64 thread, int phase) {
    return table + phase * k.entries * k.threads + thread;
}
