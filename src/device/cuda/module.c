/* Compiles modules in threads, and keeps those that are loaded: see module.h. */
#include "device/cuda/module.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/cuda/compile.h"
#include "device/kernel_source.h"
#include "support/error.h"
#include "support/hash.h"

typedef enum loading_state { MAKING, LOADED, FAILED } loading_state;

struct weft_cuda_loading {
    const weft_cuda_gpu *gpu; /* while it is being made */
    int number;               /* of the GPU */
    uint64_t hash;            /* of the text */
    char name[64];
    char *text; /* NULL once it is made */
    loading_state state;
    bool in_thread; /* `thread` is to be joined by who awaits it first */
    pthread_t thread;
    int awaited; /* how many await it still; one that has failed goes with the last of them */
    weft_cuda_module module;
    weft_status status;
    char failure[1024];
    weft_cuda_loading *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t made = PTHREAD_COND_INITIALIZER;
static weft_cuda_loading *all;
static int threads; /* that compile */

/* ---- making ---- */

/* Loads a module. If the driver refuses one from the cache, whose file may be damaged, it is
 * compiled anew. */
static weft_status load(weft_cuda_loading *l) {
    const weft_cuda_gpu *gpu = l->gpu;
    weft_cuda_image image = {.data = NULL};
    WEFT_TRY(weft_cuda_compile(l->name, l->text, gpu->architecture, true, &image));
    int result = gpu->driver->module_load(&l->module, image.data);
    free(image.data);
    if (result != 0 && image.cached) {
        WEFT_TRY(weft_cuda_compile(l->name, l->text, gpu->architecture, false, &image));
        result = gpu->driver->module_load(&l->module, image.data);
        free(image.data);
    }
    return weft_cuda_check(result, "the kernels could not be loaded");
}

/* In the GPU's context. */
static void make(weft_cuda_loading *l) {
    const weft_status status = load(l);
    pthread_mutex_lock(&lock);
    l->status = status;
    l->state = status == WEFT_SUCCESS ? LOADED : FAILED;
    if (status != WEFT_SUCCESS) snprintf(l->failure, sizeof l->failure, "%s", weft_thread_error());
    free(l->text);
    l->text = NULL;
    pthread_cond_broadcast(&made);
    pthread_mutex_unlock(&lock);
}

static void *make_in_thread(void *loading) {
    weft_cuda_loading *l = loading;
    const weft_status entered = weft_cuda_enter(l->gpu);
    make(l); /* without a context the driver fails, in a sentence */
    if (entered == WEFT_SUCCESS) weft_cuda_leave(l->gpu);
    return NULL;
}

/* The lock must be held. Without a thread the caller makes it. */
static bool start_thread(weft_cuda_loading *l) {
    if (threads >= sysconf(_SC_NPROCESSORS_ONLN)) return false;
    l->in_thread = pthread_create(&l->thread, NULL, make_in_thread, l) == 0;
    if (l->in_thread) threads++;
    return l->in_thread;
}

/* ---- finding ---- */

static weft_cuda_loading *find(const weft_cuda_gpu *gpu, uint64_t hash) {
    weft_cuda_loading *at = all;
    while (at && (at->number != gpu->number || at->hash != hash || at->state == FAILED))
        at = at->next;
    return at;
}

static weft_cuda_loading *add(const weft_cuda_gpu *gpu, const char *name, uint64_t hash,
                              char *text) {
    weft_cuda_loading *l = calloc(1, sizeof *l);
    if (!l) return NULL;
    l->gpu = gpu;
    l->number = gpu->number;
    l->hash = hash;
    l->text = text;
    snprintf(l->name, sizeof l->name, "%s", name);
    l->next = all;
    all = l;
    return l;
}

weft_status weft_cuda_module_begin(const weft_cuda_gpu *gpu, const weft_kernel_source *source,
                                   weft_cuda_loading **loading) {
    char *text = weft_kernel_text(source, true, false);
    if (!text) return WEFT_ERROR_OUT_OF_MEMORY;
    const uint64_t hash = weft_hash_bytes(WEFT_HASH_OF_NOTHING, text, strlen(text));
    bool here = false;
    pthread_mutex_lock(&lock);
    weft_cuda_loading *l = find(gpu, hash);
    if (l) {
        free(text);
    } else {
        l = add(gpu, source->name, hash, text);
        here = l && !start_thread(l);
    }
    if (l) l->awaited++;
    pthread_mutex_unlock(&lock);
    if (!l) {
        free(text);
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no host memory for a kernel");
    }
    if (here) make(l);
    *loading = l;
    return WEFT_SUCCESS;
}

/* The lock must be held. */
static void forget(weft_cuda_loading *l) {
    weft_cuda_loading **at = &all;
    while (*at != l) at = &(*at)->next;
    *at = l->next;
    free(l);
}

weft_status weft_cuda_module_await(weft_cuda_loading *l, weft_cuda_module *module) {
    pthread_mutex_lock(&lock);
    while (l->state == MAKING) pthread_cond_wait(&made, &lock);
    if (l->in_thread) {
        l->in_thread = false;
        threads--;
        pthread_join(l->thread, NULL); /* it is about to end, and takes no lock anymore */
    }
    const weft_status status =
        l->state == LOADED ? WEFT_SUCCESS : weft_fail(l->status, "%s", l->failure);
    *module = l->module;
    if (--l->awaited == 0 && l->state == FAILED) forget(l);
    pthread_mutex_unlock(&lock);
    return status;
}
