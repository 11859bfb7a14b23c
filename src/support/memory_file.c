/* Memory files, through /proc/PID/fd/N. */
#include "support/memory_file.h"
#include "support/error.h"
#include "support/host_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HUGE_PAGE = 2 << 20 };
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* the kernel may know it where the C library does not */
#endif

/* Fails for more memory than the machine has, for which the system would make a memory file all the
 * same. */
static weft_status check_fits(size_t bytes) {
    if (bytes < weft_host_memory()) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                     "no host memory for %zu shared bytes; use more ranks", bytes);
}

/* Maps the file, a large one at an address that suits huge pages. NULL on failure. */
static void *map(int file, size_t bytes, int protection) {
    if (bytes < HUGE_PAGE) {
        void *address = mmap(NULL, bytes, protection, MAP_SHARED, file, 0);
        return address == MAP_FAILED ? NULL : address;
    }
    size_t room = bytes + HUGE_PAGE;
    char *reserved = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (reserved == MAP_FAILED) return NULL;
    size_t skip = (HUGE_PAGE - (uintptr_t)reserved % HUGE_PAGE) % HUGE_PAGE;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), end = (bytes + page - 1) / page * page;
    char *address = mmap(reserved + skip, bytes, protection, MAP_SHARED | MAP_FIXED, file, 0);
    if (address == MAP_FAILED) {
        munmap(reserved, room);
        return NULL;
    }
    if (skip > 0) munmap(reserved, skip);
    if (room > skip + end) munmap(address + end, room - skip - end);
    return address;
}

/* Asks for huge pages; if the operating system declines, the memory has ordinary pages. Each huge
 * page is touched first, which places it on this process's part of the machine. */
static void ask_for_huge_pages(char *address, size_t bytes) {
#ifdef __linux__
    size_t whole = bytes / HUGE_PAGE * HUGE_PAGE;
    if (whole == 0) return;
    (void)madvise(address, whole, MADV_HUGEPAGE);
    for (size_t i = 0; i < whole; i += HUGE_PAGE) address[i] = 0;
    (void)madvise(address, whole, MADV_COLLAPSE);
#else
    (void)address, (void)bytes;
#endif
}

WEFT_API weft_status weft_memory_file_create(size_t bytes, weft_memory_file *memory,
                                             weft_memory_ticket *ticket) {
    struct stat status;
    WEFT_TRY(check_fits(bytes));
#ifdef MFD_CLOEXEC
    int file = memfd_create("weft", MFD_CLOEXEC);
#else
    int file = -1;
    errno = ENOSYS;
#endif
    void *address = NULL;
    if (file < 0 || ftruncate(file, (off_t)bytes) != 0 || fstat(file, &status) != 0) {
        int code = errno;
        if (file >= 0) close(file);
        return weft_fail(WEFT_ERROR_SYSTEM,
                         "no memory that other ranks can read (%s); choose exchange p2p-sync",
                         strerror(code));
    }
    address = map(file, bytes, PROT_READ | PROT_WRITE);
    if (!address) {
        close(file);
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                         "no host memory for %zu shared bytes; use more ranks", bytes);
    }
    ask_for_huge_pages(address, bytes);
    *memory = (weft_memory_file){address, bytes, file};
    *ticket = (weft_memory_ticket){.process = getpid(),
                                   .file = file,
                                   .device = (int64_t)status.st_dev,
                                   .inode = (int64_t)status.st_ino,
                                   .bytes = (int64_t)bytes};
    return WEFT_SUCCESS;
}

WEFT_API void weft_memory_file_seal(weft_memory_file *memory) {
    if (memory->file >= 0) close(memory->file);
    memory->file = -1;
}

WEFT_API bool weft_memory_file_open(const weft_memory_ticket *ticket, weft_memory_file *memory) {
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)ticket->process,
             (long long)ticket->file);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    *memory = (weft_memory_file){.bytes = (size_t)ticket->bytes, .file = -1};
    if (fstat(file, &status) == 0 && (int64_t)status.st_dev == ticket->device &&
        (int64_t)status.st_ino == ticket->inode)
        memory->address = map(file, memory->bytes, PROT_READ);
    close(file);
    return memory->address != NULL;
}

WEFT_API void weft_memory_file_close(weft_memory_file *memory) {
    if (!memory->address) return;
    weft_memory_file_seal(memory);
    munmap(memory->address, memory->bytes);
    memory->address = NULL;
}
