/* Faults of the C library and the system, and the count of all: see faults.h. */
#include "mpi/faults.h"

#include "mpi/faults_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const char *const fault_kind_names[FAULT_KINDS] = {"memory", "system", "mpi", "device", "driver"};

static atomic_bool counting;
static atomic_llong counts[FAULT_KINDS], failing_at;
static atomic_int failing_kind;
static _Atomic(const char *) fired;

atomic_llong fault_held[FAULT_HELD];

void faults_begin(fault_kind kind, int64_t k) {
    for (int i = 0; i < FAULT_KINDS; i++) counts[i] = 0;
    failing_kind = (int)kind;
    failing_at = k;
    fired = NULL;
    counting = true;
}

void faults_end(void) {
    counting = false;
}

int64_t faults_count(fault_kind kind) {
    return counts[kind];
}

bool faults_fired(const char **function) {
    if (function) *function = fired;
    return fired != NULL;
}

bool fault_now(fault_kind kind, const char *function) {
    if (!counting) return false;
    const long long count = ++counts[kind];
    if ((int)kind != failing_kind || count != failing_at) return false;
    fired = function;
    return true;
}

fault_balance faults_balance(void) {
    return (fault_balance){fault_held[FAULT_HELD_MEMORY], fault_held[FAULT_HELD_MAPPED],
                           fault_held[FAULT_HELD_FILES],  fault_held[FAULT_HELD_THREADS],
                           fault_held[FAULT_HELD_TYPES],  fault_held[FAULT_HELD_COMMUNICATORS],
                           fault_held[FAULT_HELD_DEVICE]};
}

/* ---- memory: which pointers are libweft's, since it also frees what other libraries allocate ----
 */

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
int __real_posix_memalign(void **memory, size_t alignment, size_t bytes);
void __real_free(void *memory);

enum { SLOTS = 1 << 18 };
static void *slot[SLOTS]; /* open addressing; FREED where there was one */
static char freed;
#define FREED ((void *)&freed)
static pthread_mutex_t slots = PTHREAD_MUTEX_INITIALIZER;

static size_t place_of(const void *memory) {
    return (size_t)(((uint64_t)(uintptr_t)memory * UINT64_C(0x9E3779B97F4A7C15)) >> 46);
}

static void *hold(void *memory) {
    if (!memory) return NULL;
    pthread_mutex_lock(&slots);
    size_t at = place_of(memory);
    while (slot[at] && slot[at] != FREED) at = (at + 1) % SLOTS;
    slot[at] = memory;
    fault_held[FAULT_HELD_MEMORY]++;
    pthread_mutex_unlock(&slots);
    return memory;
}

static void let_go(const void *memory) {
    if (!memory) return;
    pthread_mutex_lock(&slots);
    size_t at = place_of(memory);
    while (slot[at] && slot[at] != memory) at = (at + 1) % SLOTS;
    if (slot[at]) {
        slot[at] = slot[(at + 1) % SLOTS] ? FREED : NULL;
        fault_held[FAULT_HELD_MEMORY]--;
    }
    pthread_mutex_unlock(&slots);
}

static bool no_memory(const char *function) {
    if (!fault_now(FAULT_MEMORY, function)) return false;
    errno = ENOMEM;
    return true;
}

void *__wrap_malloc(size_t bytes) {
    return no_memory("malloc") ? NULL : hold(__real_malloc(bytes));
}

void *__wrap_calloc(size_t count, size_t bytes) {
    return no_memory("calloc") ? NULL : hold(__real_calloc(count, bytes));
}

void *__wrap_realloc(void *memory, size_t bytes) {
    if (no_memory("realloc")) return NULL;
    let_go(memory);
    void *made = __real_realloc(memory, bytes);
    return hold(made ? made : memory);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes) {
    return no_memory("aligned_alloc") ? NULL : hold(__real_aligned_alloc(alignment, bytes));
}

int __wrap_posix_memalign(void **memory, size_t alignment, size_t bytes) {
    if (no_memory("posix_memalign")) return ENOMEM;
    const int code = __real_posix_memalign(memory, alignment, bytes);
    if (code == 0) hold(*memory);
    return code;
}

char *__wrap_strdup(const char *text) {
    const size_t bytes = strlen(text) + 1;
    char *made = no_memory("strdup") ? NULL : hold(__real_malloc(bytes));
    return made ? memcpy(made, text, bytes) : NULL;
}

char *__wrap_strndup(const char *text, size_t most) {
    const size_t length = strnlen(text, most);
    char *made = no_memory("strndup") ? NULL : hold(__real_malloc(length + 1));
    if (!made) return NULL;
    made[length] = '\0';
    return memcpy(made, text, length);
}

void __wrap_free(void *memory) {
    let_go(memory);
    __real_free(memory);
}

/* ---- the system ---- */

static bool refused(const char *function, int code) {
    if (!fault_now(FAULT_SYSTEM, function)) return false;
    errno = code;
    return true;
}

void *__real_mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset);
void *__wrap_mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset) {
    if (refused("mmap", ENOMEM)) return MAP_FAILED;
    void *made = __real_mmap(address, bytes, protection, flags, file, offset);
    if (made != MAP_FAILED && !(flags & MAP_FIXED))
        fault_held[FAULT_HELD_MAPPED] += (long long)((bytes + 4095) / 4096 * 4096);
    return made;
}

int __real_munmap(void *address, size_t bytes);
int __wrap_munmap(void *address, size_t bytes) {
    fault_held[FAULT_HELD_MAPPED] -= (long long)((bytes + 4095) / 4096 * 4096);
    return __real_munmap(address, bytes);
}

int __real_memfd_create(const char *name, unsigned flags);
int __wrap_memfd_create(const char *name, unsigned flags) {
    if (refused("memfd_create", EMFILE)) return -1;
    const int file = __real_memfd_create(name, flags);
    if (file >= 0) fault_held[FAULT_HELD_FILES]++;
    return file;
}

int __wrap_open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    if (refused("open", EMFILE)) return -1;
    const int file = openat(AT_FDCWD, path, flags, mode);
    if (file >= 0) fault_held[FAULT_HELD_FILES]++;
    return file;
}

int __real_ftruncate(int file, off_t bytes);
int __wrap_ftruncate(int file, off_t bytes) {
    return refused("ftruncate", ENOSPC) ? -1 : __real_ftruncate(file, bytes);
}

int __real_fstat(int file, struct stat *about);
int __wrap_fstat(int file, struct stat *about) {
    return refused("fstat", EIO) ? -1 : __real_fstat(file, about);
}

int __real_close(int file);
int __wrap_close(int file) {
    const bool fails = fault_now(FAULT_SYSTEM, "close"); /* what was written last, is not */
    const int code = __real_close(file);
    fault_held[FAULT_HELD_FILES]--;
    if (fails) errno = EIO;
    return fails ? -1 : code;
}

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode) {
    FILE *made = refused("fopen", EMFILE) ? NULL : __real_fopen(path, mode);
    if (made) fault_held[FAULT_HELD_FILES]++;
    return made;
}

int __real_fclose(FILE *stream);
int __wrap_fclose(FILE *stream) {
    fault_held[FAULT_HELD_FILES]--;
    return __real_fclose(stream);
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *),
                          void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *),
                          void *argument) {
    if (fault_now(FAULT_SYSTEM, "pthread_create")) return EAGAIN;
    const int code = __real_pthread_create(thread, how, run, argument);
    if (code == 0) fault_held[FAULT_HELD_THREADS]++;
    return code;
}

int __real_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_join(pthread_t thread, void **result) {
    fault_held[FAULT_HELD_THREADS]--;
    return __real_pthread_join(thread, result);
}
