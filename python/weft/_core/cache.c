/*
 * The plan cache: a hash table of plans, and a list of them by the time of their last use.
 *
 * A plan runs one transform at a time, so a key may have several plans: as many as threads used it
 * at once. The oldest idle ones are destroyed when there are more plans, or more bytes in them,
 * than the limits allow; with a limit of no plans each lives for one call.
 */
#include "core.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUCKETS = 1024 }; /* a power of two */

struct core_cached {
    core_key key;
    weft_plan plan;
    size_t bytes;
    size_t callers[2]; /* weft_plan_bytes of each weft_space */
    bool busy;
    core_cached **bucket, *next; /* of the same bucket */
    core_cached *newer, *older;
};

static struct {
    pthread_mutex_t lock;
    core_cached *buckets[BUCKETS];
    core_cached *newest, *oldest;
    int64_t plans, max_plans, hits, misses, evictions;
    size_t bytes, max_bytes;
} cache = {.lock = PTHREAD_MUTEX_INITIALIZER, .max_plans = 256};

void core_cache_begin(void) {
    const size_t least = (size_t)256 << 20, most = (size_t)1 << 30;
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    const size_t share = pages > 0 && page > 0 ? (size_t)pages / 16 * (size_t)page : 0;
    cache.max_bytes = share < least ? least : share > most ? most : share;
}

static core_cached **bucket_of(const core_key *key) {
    const int64_t fixed[] = {key->kind,  key->precision, key->norm, key->threads,
                             key->batch, key->number,    key->mode, key->direction};
    uint64_t hash = (uint64_t)key->rank;
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        hash = (hash ^ (uint64_t)fixed[i]) * UINT64_C(0x9E3779B97F4A7C15);
    for (int a = 0; a < key->rank; a++)
        hash = (hash ^ (uint64_t)key->n[a]) * UINT64_C(0x9E3779B97F4A7C15);
    for (int a = 0; a < key->rank && key->mode; a++)
        hash = (hash ^ (uint64_t)key->kernel[a]) * UINT64_C(0x9E3779B97F4A7C15);
    return &cache.buckets[hash >> 48 & (BUCKETS - 1)];
}

static void unlink_by_age(core_cached *entry) {
    *(entry->newer ? &entry->newer->older : &cache.newest) = entry->older;
    *(entry->older ? &entry->older->newer : &cache.oldest) = entry->newer;
}

static void link_newest(core_cached *entry) {
    entry->older = cache.newest;
    entry->newer = NULL;
    *(cache.newest ? &cache.newest->newer : &cache.oldest) = entry;
    cache.newest = entry;
}

static void remove_entry(core_cached *entry) {
    core_cached **link = entry->bucket;
    while (*link != entry) link = &(*link)->next;
    *link = entry->next;
    unlink_by_age(entry);
    cache.plans--;
    cache.bytes -= entry->bytes;
}

/* Takes the oldest idle plans out until limits hold; returns them as a list. With the lock held. */
static core_cached *evict(int64_t max_plans, size_t max_bytes) {
    core_cached *out = NULL, *entry = cache.oldest;
    while (entry && (cache.plans > max_plans || cache.bytes > max_bytes)) {
        core_cached *newer = entry->newer;
        if (!entry->busy) {
            remove_entry(entry);
            cache.evictions++;
            entry->next = out;
            out = entry;
        }
        entry = newer;
    }
    return out;
}

/* Without the GIL, which callbacks may want that a GPU's work, which is waited for, waits for. */
static void destroy_list(core_cached *list) {
    if (!list) return;
    Py_BEGIN_ALLOW_THREADS;
    while (list) {
        core_cached *next = list->next;
        weft_plan_destroy(&list->plan);
        free(list);
        list = next;
    }
    Py_END_ALLOW_THREADS;
}

static core_cached *find_idle(core_cached **bucket, const core_key *key) {
    for (core_cached *entry = *bucket; entry; entry = entry->next)
        if (!entry->busy && memcmp(&entry->key, key, sizeof *key) == 0) return entry;
    return NULL;
}

/* An operator that scales the ends of each axis. `factors` has room for all extents; returns what
 * is behind them. */
static double *scale_ends(const core_key *key, int64_t ends, double factor, double *factors,
                          weft_operator *scaling) {
    *scaling = (weft_operator){.kind = WEFT_OPERATOR_TABLE};
    for (int a = 0; a < key->rank; a++) {
        for (int64_t i = 0; i < key->n[a]; i++) factors[i] = 1;
        if (ends & CORE_FIRST) factors[0] *= factor;
        if (ends & CORE_LAST) factors[key->n[a] - 1] *= factor;
        scaling->table[a] = factors;
        factors += key->n[a];
    }
    return factors;
}

static weft_status create_transform(weft_context context, const core_key *key,
                                    const weft_options *options, weft_plan *plan) {
    weft_operator before, after;
    double *factors = NULL;
    int64_t extents = 0;
    weft_problem problem = {.rank = (int)key->rank,
                            .kind = (weft_kind)key->kind,
                            .precision = (weft_precision)key->precision,
                            .batch = key->batch,
                            .norm = (weft_norm)key->norm,
                            .load_storage = (weft_storage)key->storage};
    for (int a = 0; a < problem.rank; a++) {
        problem.n[a] = key->n[a];
        problem.axis[a] = (weft_axis)key->type;
        extents += key->n[a];
    }
    if (key->before || key->after) {
        factors = malloc((size_t)extents * 2 * sizeof *factors);
        if (!factors) return WEFT_ERROR_OUT_OF_MEMORY;
        scale_ends(key, key->after, sqrt(0.5),
                   scale_ends(key, key->before, sqrt(2), factors, &before), &after);
        if (key->before) problem.load = (weft_operators){&before, 1};
        if (key->after) problem.spectral = (weft_operators){&after, 1};
    }
    const weft_status status = weft_plan_create(context, &problem, options, plan);
    free(factors);
    return status;
}

/* A convolution whose kernel is yet to be set. */
static weft_status create_convolution(weft_context context, const core_key *key,
                                      const weft_options *options, weft_plan *plan) {
    weft_convolution_problem problem = {.rank = (int)key->rank,
                                        .kind = (weft_kind)key->kind,
                                        .precision = (weft_precision)key->precision,
                                        .batch = key->batch,
                                        .mode = (weft_convolution_mode)(key->mode - 1),
                                        .correlate = (int)key->correlate};
    for (int a = 0; a < problem.rank; a++) {
        problem.n[a] = key->n[a];
        problem.boundary[a] = (weft_boundary)(key->boundaries >> 8 * a & 255);
        problem.kernel.n[a] = key->kernel[a];
        problem.kernel.origin[a] = key->origin[a];
    }
    return weft_convolution_create(context, &problem, options, plan);
}

static core_cached *create(const core_key *key) {
    weft_context context = core_context();
    if (!context) return NULL;
    core_cached *entry = calloc(1, sizeof *entry);
    if (!entry) return (core_cached *)PyErr_NoMemory();
    entry->key = *key;
    entry->busy = true;
    const weft_options options = {.threads = (int)key->threads,
                                  .engine = (weft_engine)key->engine,
                                  .direction = key->direction,
                                  .placement = (weft_placement)key->placement,
                                  .device = key->number > 0 ? WEFT_CUDA : WEFT_HOST,
                                  .device_number = key->number};
    weft_memory memory = {0};
    weft_status status;
    Py_BEGIN_ALLOW_THREADS;
    status =
        (key->mode ? create_convolution : create_transform)(context, key, &options, &entry->plan);
    if (status == WEFT_SUCCESS) status = weft_plan_memory(entry->plan, &memory);
    for (int space = WEFT_INPUT; space <= WEFT_OUTPUT && status == WEFT_SUCCESS; space++)
        status = weft_plan_bytes(entry->plan, (weft_space)space, &entry->callers[space]);
    Py_END_ALLOW_THREADS;
    if (status != WEFT_SUCCESS) {
        core_raise(status, NULL);
        weft_plan_destroy(&entry->plan);
        free(entry);
        return NULL;
    }
    entry->bytes = memory.total + sizeof *entry;
    return entry;
}

core_cached *core_cache_take(const core_key *key) {
    core_cached **bucket = bucket_of(key);
    pthread_mutex_lock(&cache.lock);
    core_cached *entry = find_idle(bucket, key);
    if (entry) {
        entry->busy = true;
        cache.hits++;
        if (entry != cache.newest) {
            unlink_by_age(entry);
            link_newest(entry);
        }
    } else {
        cache.misses++;
    }
    pthread_mutex_unlock(&cache.lock);
    if (entry) return entry;

    entry = create(key);
    if (!entry) return NULL;
    pthread_mutex_lock(&cache.lock);
    entry->bucket = bucket;
    entry->next = *bucket;
    *bucket = entry;
    link_newest(entry);
    cache.plans++;
    cache.bytes += entry->bytes;
    core_cached *evicted = evict(cache.max_plans, cache.max_bytes);
    pthread_mutex_unlock(&cache.lock);
    destroy_list(evicted);
    return entry;
}

size_t core_cached_bytes(const core_cached *taken, weft_space space) {
    return taken->callers[space];
}

void core_cache_give(core_cached *taken) {
    core_cached *evicted = NULL;
    weft_memory memory = {.total = taken->bytes - sizeof *taken};
    if (taken->key.mode) weft_plan_memory(taken->plan, &memory); /* more since a kernel was set */
    pthread_mutex_lock(&cache.lock);
    taken->busy = false;
    cache.bytes += memory.total + sizeof *taken - taken->bytes;
    taken->bytes = memory.total + sizeof *taken;
    if (cache.plans > cache.max_plans || cache.bytes > cache.max_bytes)
        evicted = evict(cache.max_plans, cache.max_bytes);
    pthread_mutex_unlock(&cache.lock);
    destroy_list(evicted);
}

weft_plan core_cached_plan(const core_cached *taken) {
    return taken->plan;
}

void core_cache_abandon(void) {
    pthread_mutex_init(&cache.lock, NULL);
    memset(cache.buckets, 0, sizeof cache.buckets);
    cache.newest = cache.oldest = NULL;
    cache.plans = 0;
    cache.bytes = 0;
}

PyObject *core_cache_limit(PyObject *module, PyObject *args) {
    (void)module;
    long long plans, bytes;
    if (!PyArg_ParseTuple(args, "LL:cache_limit", &plans, &bytes)) return NULL;
    if (plans < 0 || bytes < 0) {
        PyErr_SetString(PyExc_ValueError, "limits of the plan cache are 0 or more");
        return NULL;
    }
    pthread_mutex_lock(&cache.lock);
    cache.max_plans = plans;
    cache.max_bytes = (size_t)bytes;
    core_cached *evicted = evict(plans, (size_t)bytes);
    pthread_mutex_unlock(&cache.lock);
    destroy_list(evicted);
    Py_RETURN_NONE;
}

PyObject *core_cache_clear(PyObject *module, PyObject *none) {
    (void)module, (void)none;
    pthread_mutex_lock(&cache.lock);
    core_cached *evicted = evict(0, 0);
    cache.hits = cache.misses = cache.evictions = 0;
    pthread_mutex_unlock(&cache.lock);
    destroy_list(evicted);
    Py_RETURN_NONE;
}

PyObject *core_cache_info(PyObject *module, PyObject *none) {
    (void)module, (void)none;
    pthread_mutex_lock(&cache.lock);
    const long long hits = cache.hits, misses = cache.misses, evictions = cache.evictions,
                    plans = cache.plans, max_plans = cache.max_plans,
                    bytes = (long long)cache.bytes, max_bytes = (long long)cache.max_bytes;
    pthread_mutex_unlock(&cache.lock);
    return Py_BuildValue("(LLLLLLL)", hits, misses, evictions, plans, max_plans, bytes, max_bytes);
}
