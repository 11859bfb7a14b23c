/*
 * Memory files: memory of one process that others of the same machine and user map for reading
 * (memfd). A file has no name to leave behind and is not limited by /dev/shm. The pages are the
 * owner's, who touches them first, and are freed when the last mapping goes.
 *
 * Large files are gathered into huge pages as soon as they are made (MADV_COLLAPSE, Linux 6.1):
 * transforms along strided axes are slower without them, and most systems give shared memory none
 * of their own accord.
 */
#ifndef WEFT_SUPPORT_MEMORY_FILE_H
#define WEFT_SUPPORT_MEMORY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/weft.h>

/* A memory file as this process has it mapped. */
typedef struct weft_memory_file {
    void *address; /* NULL: not mapped here */
    size_t bytes;
    int file; /* the owner's, for others to open; -1 otherwise */
} weft_memory_file;

/* What another process needs to open a memory file; device and inode show that it is the right one.
 * bytes 0: there is no file. */
typedef struct weft_memory_ticket {
    int64_t process, file, device, inode, bytes;
} weft_memory_ticket;

/* Makes a memory file of `bytes` > 0, all zero, and its ticket. */
weft_status weft_memory_file_create(size_t bytes, weft_memory_file *memory,
                                    weft_memory_ticket *ticket);
/* Called by the owner once nobody will open the file any more. */
void weft_memory_file_seal(weft_memory_file *memory);

/* Maps another process's file for reading; false if this process may not, or the file is on another
 * machine. */
bool weft_memory_file_open(const weft_memory_ticket *ticket, weft_memory_file *memory);

/* Unmaps the file, if it is mapped. */
void weft_memory_file_close(weft_memory_file *memory);

#endif
