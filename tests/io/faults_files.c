/* Faults of calls that only files need: see mpi/faults.h. */
#include "mpi/faults_inside.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/types.h>

static bool refused(const char *function, int code) {
    if (!fault_now(FAULT_SYSTEM, function)) return false;
    errno = code;
    return true;
}

ssize_t __real_pread(int file, void *bytes, size_t count, off_t offset);
ssize_t __wrap_pread(int file, void *bytes, size_t count, off_t offset) {
    return refused("pread", EIO) ? -1 : __real_pread(file, bytes, count, offset);
}

ssize_t __real_pwrite(int file, const void *bytes, size_t count, off_t offset);
ssize_t __wrap_pwrite(int file, const void *bytes, size_t count, off_t offset) {
    return refused("pwrite", ENOSPC) ? -1 : __real_pwrite(file, bytes, count, offset);
}

ssize_t __real_read(int file, void *bytes, size_t count);
ssize_t __wrap_read(int file, void *bytes, size_t count) {
    return refused("read", EIO) ? -1 : __real_read(file, bytes, count);
}

ssize_t __real_write(int file, const void *bytes, size_t count);
ssize_t __wrap_write(int file, const void *bytes, size_t count) {
    return refused("write", ENOSPC) ? -1 : __real_write(file, bytes, count);
}

int __real_fallocate(int file, int mode, off_t offset, off_t bytes);
int __wrap_fallocate(int file, int mode, off_t offset, off_t bytes) {
    return refused("fallocate", ENOSPC) ? -1 : __real_fallocate(file, mode, offset, bytes);
}

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to) {
    return refused("rename", EIO) ? -1 : __real_rename(from, to);
}

int __real_stat(const char *path, struct stat *about);
int __wrap_stat(const char *path, struct stat *about) {
    return refused("stat", EIO) ? -1 : __real_stat(path, about);
}

char *__real_realpath(const char *path, char *resolved);
char *__wrap_realpath(const char *path, char *resolved) {
    return refused("realpath", EIO) ? NULL : __real_realpath(path, resolved);
}

int __wrap_asprintf(char **text, const char *format, ...) {
    va_list arguments;
    if (fault_now(FAULT_MEMORY, "asprintf")) return -1;
    va_start(arguments, format);
    const int length = vasprintf(text, format, arguments);
    va_end(arguments);
    return length;
}
