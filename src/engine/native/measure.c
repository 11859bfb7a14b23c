/* Tuning by measurement: each choice is taken the other way in turn, and stays so if that is
 * faster. What was found is kept in the cache folder, for a transform is measured only once on a
 * machine. */
#include "device/allocations.h"
#include "engine/extent.h"
#include "engine/native/tuning.h"
#include "support/cache_file.h"
#include "support/clock.h"
#include "support/hash.h"
#include "support/host_memory.h"
#include "support/node_rank.h"
#include "support/processor.h"
#include "support/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t weft_native_cache_share(int threads) {
    const weft_topology *topology = weft_topology_get();
    return topology->last_level /
           (size_t)weft_topology_sharers(topology, threads > 1 ? threads : 1, weft_node_ranks());
}

/* A second-level cache of 2 MiB holds what is fetched ahead. On a Xeon with such caches that takes
 * 0.8 to 1.0 of the time of blocks (4096^2 0.8, 256^3 0.95 to 1); others have not been measured. */
weft_native_tuning weft_native_usual_tuning(void) {
    enum { HOLDS_AHEAD = 2 << 20 };
    const bool blocks = weft_topology_get()->l2 < HOLDS_AHEAD;
    return (blocks ? WEFT_NATIVE_BLOCKS : 0) | WEFT_NATIVE_PAST | WEFT_NATIVE_INTERLEAVED;
}

typedef struct trial {
    const weft_transform *transform;
    void *in, *out;
    double deadline;
    weft_native_tuning choices; /* those that make a difference */
} trial;

/* Seconds of one run: the least of some that take long enough for the clock. */
static double time_plan(const trial *t, weft_engine_plan *plan) {
    enum { SAMPLES = 8 };
    const double shortest = 2e-5, enough = 1e-2;
    double best = 1e300;
    for (int s = 0; s < SAMPLES && (s < 2 || best < enough); s++) {
        int64_t runs = 0;
        const double start = weft_clock();
        double took;
        do {
            weft_native_run(plan, t->in, t->out);
            runs++;
            took = weft_clock() - start;
        } while (took < shortest);
        if (took / (double)runs < best) best = took / (double)runs;
    }
    return best;
}

/* The same, or a very large number if the plan cannot be made. Where it has passes on interleaved
 * numbers, tiles are a choice. */
static double time_tuning(trial *t, weft_native_tuning tuning) {
    weft_engine_plan *plan;
    size_t bytes;
    double seconds = 1e300;
    if (weft_native_plan_with(t->transform, tuning, &plan, &bytes) != WEFT_SUCCESS) return seconds;
    if (weft_native_is_interleaved(plan)) t->choices |= WEFT_NATIVE_INTERLEAVED;
    if (t->choices) seconds = time_plan(t, plan);
    weft_native_destroy(plan);
    return seconds;
}

/* Takes each choice the other way in turn. */
static weft_native_tuning find_fastest(trial *t) {
    const double worth = 0.97; /* a smaller gain may be chance */
    weft_native_tuning best = weft_native_usual_tuning();
    double fastest = time_tuning(t, best);
    for (weft_native_tuning choice = 1; choice < WEFT_NATIVE_TUNINGS; choice *= 2) {
        if (!(t->choices & choice) || weft_clock() + 2 * fastest >= t->deadline) continue;
        const double seconds = time_tuning(t, best ^ choice);
        if (seconds >= worth * fastest) continue;
        fastest = seconds;
        best ^= choice;
    }
    return best;
}

/* Arrays that run backwards or have more gaps than elements are not measured. */
static bool is_dense(const weft_extent *e) {
    return e->lowest == 0 && e->highest < 2 * e->count;
}

/* The file of what was found for a transform. Its name is a number made of all that the choice
 * depends on. */
static bool tuning_path(const weft_transform *t, char path[WEFT_PATH_BYTES]) {
    const int64_t numbers[] = {t->kind,
                               t->direction,
                               t->precision,
                               t->dims,
                               t->loops,
                               t->in_place,
                               t->threads,
                               t->effort,
                               t->in_elements,
                               t->out_elements,
                               t->round_trip,
                               (int64_t)weft_native_cache_share(t->threads),
                               t->load.list ? t->load.list->count : -1,
                               t->spectral.list ? t->spectral.list->count : -1,
                               t->store.list ? t->store.list->count : -1};
    char processor[128], name[64];
    weft_processor_name(processor, sizeof processor);
    uint64_t hash = weft_hash_bytes(WEFT_HASH_OF_NOTHING, numbers, sizeof numbers);
    hash = weft_hash_bytes(hash, t->dim, (size_t)t->dims * sizeof t->dim[0]);
    hash = weft_hash_bytes(hash, t->loop, (size_t)t->loops * sizeof t->loop[0]);
    hash = weft_hash_bytes(hash, processor, strlen(processor));
    hash = weft_hash_bytes(hash, WEFT_VERSION, strlen(WEFT_VERSION));
    snprintf(name, sizeof name, "native-%016llx.tuning", (unsigned long long)hash);
    return weft_cache_path(name, path);
}

/* What was found before, in this process or another one: a byte. */
static bool recall(const char *path, weft_native_tuning *tuning) {
    size_t bytes = 0;
    unsigned char *kept = weft_cache_read_hashed(path, &bytes);
    const bool found = kept && bytes == 1 && *kept < WEFT_NATIVE_TUNINGS;
    if (found) *tuning = *kept;
    free(kept);
    return found;
}

static void keep(const char *path, weft_native_tuning tuning) {
    const unsigned char kept = (unsigned char)tuning;
    weft_cache_write_hashed(path, &kept, sizeof kept);
}

weft_native_tuning weft_native_choose_tuning(const weft_transform *transform) {
    const double most_seconds = 1.0;
    const weft_native_tuning usual = weft_native_usual_tuning();
    const weft_extent in = weft_extent_of(transform, false), out = weft_extent_of(transform, true);
    const size_t in_bytes =
        (size_t)(in.highest + 1) * weft_transform_element_bytes(transform, false);
    const size_t out_bytes =
        (size_t)(out.highest + 1) * weft_transform_element_bytes(transform, true);
    const int threads = transform->threads > 1 ? transform->threads : 1;
    const bool large = in_bytes + out_bytes > weft_native_cache_share(threads) * (size_t)threads;
    /* Nothing is chosen for single lines and for pieces, and arrays that exceed the machine's
     * memory are not measured. */
    if (transform->effort == WEFT_ESTIMATE || transform->in_pieces.count > 0 ||
        transform->out_pieces.count > 0 || !is_dense(&in) || !is_dense(&out) ||
        (!large && transform->dims + transform->loops == 1) ||
        in_bytes + out_bytes > weft_host_memory())
        return usual;
    char path[WEFT_PATH_BYTES];
    weft_native_tuning tuning = usual;
    const bool keeps = large && tuning_path(transform, path); /* others take a millisecond */
    if (keeps && recall(path, &tuning)) return tuning;
    weft_transform alone = *transform;
    alone.scratch = NULL; /* plans that are only tried leave it as it is */
    trial t = {.transform = &alone, .choices = large ? WEFT_NATIVE_BLOCKS | WEFT_NATIVE_PAST : 0};
    t.in = weft_storage_allocate(in_bytes);
    t.out = transform->in_place ? t.in : weft_storage_allocate(out_bytes);
    if (t.in && t.out) {
        memset(t.in, 0, in_bytes); /* what runs in place stays finite */
        memset(t.out, 0, out_bytes);
        t.deadline = weft_clock() + most_seconds;
        tuning = find_fastest(&t);
        if (keeps) keep(path, tuning);
    }
    if (t.out != t.in) free(t.out);
    free(t.in);
    return tuning;
}
