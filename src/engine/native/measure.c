/* Choosing habits by the clock: each is left out in turn, and stays out if that is faster. */
#include "device/allocations.h"
#include "engine/native/habits.h"
#include "support/clock.h"
#include "support/host_memory.h"
#include "support/node_rank.h"
#include "support/topology.h"

#include <stdlib.h>
#include <string.h>

size_t weft_native_cache_share(int threads) {
    const weft_topology *topology = weft_topology_get();
    return topology->last_level /
           (size_t)weft_topology_sharers(topology, threads > 1 ? threads : 1, weft_node_ranks());
}

typedef struct trial {
    const weft_transform *transform;
    void *in, *out;
    double deadline;
} trial;

/* The better of two runs; very long where the plan cannot be made. */
static double time_habits(const trial *t, const weft_native_habits *habits) {
    weft_engine_plan *plan;
    size_t bytes;
    double best = 1e300;
    if (weft_native_plan_with(t->transform, habits, &plan, &bytes) != WEFT_SUCCESS) return best;
    for (int run = 0; run < 2; run++) {
        double start = weft_clock();
        weft_native_run(plan, t->in, t->out);
        double took = weft_clock() - start;
        if (took < best) best = took;
    }
    weft_native_destroy(plan);
    return best;
}

static weft_native_habits find_fastest(const trial *t) {
    enum { HABITS = 2 };
    const double worth = 0.97; /* a difference that is not chance */
    weft_native_habits best = {true, true};
    double fastest = time_habits(t, &best);
    for (int h = 0; h < HABITS && weft_clock() + 2 * fastest < t->deadline; h++) {
        weft_native_habits without = best;
        bool *const habit[HABITS] = {&without.past, &without.blocks};
        *habit[h] = false;
        double seconds = time_habits(t, &without);
        if (seconds >= worth * fastest) continue;
        fastest = seconds;
        best = without;
    }
    return best;
}

weft_native_habits weft_native_choose_habits(const weft_transform *transform) {
    const double most_seconds = 1.0;
    const weft_native_habits all = {true, true};
    size_t in_bytes =
        (size_t)transform->in_elements * weft_transform_element_bytes(transform, false);
    size_t out_bytes =
        (size_t)transform->out_elements * weft_transform_element_bytes(transform, true);
    const int threads = transform->threads > 1 ? transform->threads : 1;
    /* Arrays that stay in the caches leave nothing to choose, pieces have one way only; and nobody
     * gets more than the machine has. */
    if (transform->effort == WEFT_ESTIMATE || transform->in_pieces.count > 0 ||
        transform->out_pieces.count > 0 ||
        in_bytes + out_bytes <= weft_native_cache_share(threads) * (size_t)threads ||
        in_bytes + out_bytes > weft_host_memory())
        return all;
    trial t = {.transform = transform, .deadline = weft_clock() + most_seconds};
    t.in = weft_storage_allocate(in_bytes);
    t.out = transform->in_place ? t.in : weft_storage_allocate(out_bytes);
    weft_native_habits habits = all;
    if (t.in && t.out) {
        memset(t.in, 0x3f, in_bytes); /* numbers below 1 */
        memset(t.out, 0x3f, out_bytes);
        t.deadline = weft_clock() + most_seconds;
        habits = find_fastest(&t);
    }
    if (t.out != t.in) free(t.out);
    free(t.in);
    return habits;
}
