/*
 * The file: a page that says what it is of, a byte for each tile, and slots, each of a page that
 * says which tile it has and the tile. Numbers are in the machine's byte order. All is written by
 * pwrite, no two processes write the same bytes, and what one writes is seen by the others once
 * they have met.
 */
#include "io/journal.h"

#include "io/strided.h"
#include "support/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096, BOOT_BYTES = 40 };

typedef struct journal_header {
    char magic[16];
    uint64_t checksum; /* of the header with 0 in its place */
    int64_t passes, tiles[WEFT_JOURNAL_PASSES], slot_bytes;
    int64_t durable;
    char boot[BOOT_BYTES]; /* which start of which machine wrote it */
    char identity[WEFT_JOURNAL_IDENTITY + 1];
} journal_header;
_Static_assert(sizeof(journal_header) <= PAGE, "a header has a page");

/* In the page before a saved tile. */
typedef struct slot_header {
    char magic[16];
    int64_t pass, tile, bytes; /* magic is all zero where there is none */
} slot_header;

static const char magic_of_file[16] = "weft journal 1\n", magic_of_slot[16] = "saved tile";

struct weft_journal {
    int fd, slots;
    char *path;
    journal_header header;
};

static int64_t whole_pages(int64_t bytes) {
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

/* Where the byte of a tile is; of the number of passes, where the bytes of all end. */
static int64_t place_of_tile(const journal_header *h, int pass, int tile) {
    int64_t place = PAGE + tile;
    for (int p = 0; p < pass; p++) place += h->tiles[p];
    return place;
}

static int64_t place_of_slot(const journal_header *h, int slot) {
    const int64_t first = whole_pages(place_of_tile(h, (int)h->passes, 0));
    return first + slot * (PAGE + whole_pages(h->slot_bytes));
}

/* FNV-1a. */
static uint64_t checksum_of(const journal_header *header) {
    journal_header h = *header;
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    h.checksum = 0;
    for (size_t i = 0; i < sizeof h; i++)
        sum = (sum ^ ((const unsigned char *)&h)[i]) * UINT64_C(0x100000001b3);
    return sum;
}

static void find_boot(char boot[BOOT_BYTES]) {
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    memset(boot, 0, BOOT_BYTES);
    if (file == NULL) return;
    const size_t got = fread(boot, 1, BOOT_BYTES - 1, file);
    boot[got] = '\0';
    fclose(file);
}

static journal_header describe(const weft_journal_subject *subject, bool durable) {
    journal_header h;
    memset(&h, 0, sizeof h);
    memcpy(h.magic, magic_of_file, sizeof h.magic);
    h.passes = subject->passes;
    for (int p = 0; p < subject->passes; p++) h.tiles[p] = subject->tiles[p];
    h.slot_bytes = subject->slot_bytes;
    h.durable = durable;
    find_boot(h.boot);
    snprintf(h.identity, sizeof h.identity, "%s", subject->identity);
    h.checksum = checksum_of(&h);
    return h;
}

bool weft_journal_exists(const char *path) {
    char first = 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    const bool written = pread(fd, &first, 1, 0) == 1 && first != 0;
    close(fd);
    return written;
}

/* ---- opening ---- */

static weft_status allocate(const char *path, int flags, weft_journal **journal) {
    weft_journal *made = calloc(1, sizeof *made);
    *journal = made;
    if (made != NULL) made->path = strdup(path);
    if (made != NULL) made->fd = -1;
    if (made == NULL || made->path == NULL)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "%s: no memory to open it", path);
    made->fd = open(path, flags | O_RDWR | O_CLOEXEC, 0666);
    if (made->fd >= 0) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_SYSTEM, "%s: cannot open the journal: %s", path, strerror(errno));
}

void weft_journal_close(weft_journal **journal) {
    if (*journal == NULL) return;
    if ((*journal)->fd >= 0) close((*journal)->fd);
    free((*journal)->path);
    free(*journal);
    *journal = NULL;
}

/* Where the journal is not to be had, *journal stays NULL. */
static weft_status give(weft_status status, weft_journal *made, weft_journal **journal) {
    if (status != WEFT_SUCCESS) weft_journal_close(&made);
    *journal = made;
    return status;
}

/* Reserves the file as far as its slots go, which then have no tile, if they are new. */
static weft_status reserve(weft_journal *j, int slots) {
    const int64_t bytes = place_of_slot(&j->header, slots);
    j->slots = slots;
    if (fallocate(j->fd, 0, 0, (off_t)bytes) == 0) return WEFT_SUCCESS;
    if ((errno == EOPNOTSUPP || errno == ENOSYS) && ftruncate(j->fd, (off_t)bytes) == 0)
        return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_SYSTEM, "%s: no room for %lld bytes: %s", j->path, (long long)bytes,
                     strerror(errno));
}

static weft_status to_disk(const weft_journal *j) {
    if (!j->header.durable || fdatasync(j->fd) == 0) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_SYSTEM, "%s: writing failed: %s", j->path, strerror(errno));
}

weft_status weft_journal_create(const char *path, const weft_journal_subject *subject, int slots,
                                bool durable, weft_journal **journal) {
    weft_journal *made;
    weft_status status = allocate(path, O_CREAT | O_TRUNC, &made);
    if (status == WEFT_SUCCESS) {
        made->header = describe(subject, durable);
        status = reserve(made, slots);
    }
    if (status == WEFT_SUCCESS)
        status = weft_file_write(made->fd, path, &made->header, sizeof made->header, 0);
    if (status == WEFT_SUCCESS) status = to_disk(made);
    if (status != WEFT_SUCCESS) unlink(path);
    return give(status, made, journal);
}

static weft_status damaged(const weft_journal *j) {
    return weft_fail(WEFT_ERROR_MISMATCH,
                     "%s: the journal is damaged; leave --resume out to start anew", j->path);
}

/* The first line in which the identities differ, of either. */
static weft_status other_run(const weft_journal *j, const char *identity) {
    const char *was = j->header.identity, *is = identity;
    size_t line = 0;
    for (size_t i = 0; was[i] == is[i] && was[i] != '\0'; i++)
        if (was[i] == '\n') line = i + 1;
    return weft_fail(WEFT_ERROR_MISMATCH,
                     "%s: the run that was stopped had \"%.*s\", and this one has \"%.*s\"; give "
                     "the same input and options, or leave --resume out to start anew",
                     j->path, (int)strcspn(was + line, "\n"), was + line,
                     (int)strcspn(is + line, "\n"), is + line);
}

static weft_status check(weft_journal *j, const weft_journal_subject *subject) {
    const journal_header wanted = describe(subject, false), *h = &j->header;
    struct stat found;
    if (memcmp(h->magic, wanted.magic, sizeof h->magic) != 0 || h->checksum != checksum_of(h))
        return damaged(j);
    if (strcmp(h->identity, wanted.identity) != 0) return other_run(j, wanted.identity);
    if (h->passes != wanted.passes || memcmp(h->tiles, wanted.tiles, sizeof h->tiles) != 0 ||
        h->slot_bytes != wanted.slot_bytes || fstat(j->fd, &found) != 0)
        return damaged(j);
    const int64_t one = place_of_slot(h, 1) - place_of_slot(h, 0),
                  slots = (found.st_size - place_of_slot(h, 0)) / one;
    if (slots < 1 || found.st_size != place_of_slot(h, (int)slots)) return damaged(j);
    j->slots = (int)slots;
    if (h->durable || memcmp(h->boot, wanted.boot, sizeof h->boot) == 0) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_MISMATCH,
                     "%s: the run was stopped on another machine, or before this one was started "
                     "again, and what it wrote may be incomplete, since it was not "
                     "--restartable=durable; leave --resume out to start anew",
                     j->path);
}

weft_status weft_journal_open(const char *path, const weft_journal_subject *subject, int slots,
                              weft_journal **journal) {
    weft_journal *made;
    struct stat found;
    weft_status status = allocate(path, 0, &made);
    if (status == WEFT_SUCCESS && (fstat(made->fd, &found) != 0 || found.st_size < PAGE))
        status = damaged(made);
    if (status == WEFT_SUCCESS)
        status = weft_file_read(made->fd, path, &made->header, sizeof made->header, 0);
    if (status == WEFT_SUCCESS) status = check(made, subject);
    if (status == WEFT_SUCCESS && made->slots < slots) status = reserve(made, slots);
    return give(status, made, journal);
}

bool weft_journal_is_durable(const weft_journal *j) {
    return j->header.durable != 0;
}

int weft_journal_slots(const weft_journal *j) {
    return j->slots;
}

/* ---- tiles ---- */

weft_status weft_journal_read(const weft_journal *j, int pass, unsigned char *done) {
    const size_t tiles = (size_t)j->header.tiles[pass];
    WEFT_TRY(weft_file_read(j->fd, j->path, done, tiles, place_of_tile(&j->header, pass, 0)));
    for (size_t i = 0; i < tiles; i++)
        if (done[i] > 1) return damaged(j);
    return WEFT_SUCCESS;
}

weft_status weft_journal_complete(weft_journal *j, int pass, int tile) {
    static const unsigned char done = 1;
    WEFT_TRY(weft_file_write(j->fd, j->path, &done, 1, place_of_tile(&j->header, pass, tile)));
    return to_disk(j);
}

weft_status weft_journal_save(weft_journal *j, int slot, int pass, int tile, const void *bytes,
                              int64_t count) {
    const int64_t place = place_of_slot(&j->header, slot);
    const slot_header none = {.pass = 0};
    slot_header saved = {.pass = pass, .tile = tile, .bytes = count};
    memcpy(saved.magic, magic_of_slot, sizeof saved.magic);
    WEFT_TRY(weft_file_write(j->fd, j->path, &none, sizeof none, place));
    WEFT_TRY(to_disk(j));
    WEFT_TRY(weft_file_write(j->fd, j->path, bytes, (size_t)count, place + PAGE));
    WEFT_TRY(to_disk(j));
    WEFT_TRY(weft_file_write(j->fd, j->path, &saved, sizeof saved, place));
    return to_disk(j);
}

weft_status weft_journal_saved(const weft_journal *j, int slot, int *pass, int *tile,
                               void **bytes) {
    const journal_header *h = &j->header;
    const int64_t place = place_of_slot(h, slot);
    slot_header saved;
    *pass = -1;
    *bytes = NULL;
    WEFT_TRY(weft_file_read(j->fd, j->path, &saved, sizeof saved, place));
    if (memcmp(saved.magic, magic_of_slot, sizeof saved.magic) != 0) return WEFT_SUCCESS;
    if (saved.pass < 0 || saved.pass >= h->passes || saved.tile < 0 ||
        saved.tile >= h->tiles[saved.pass] || saved.bytes < 0 || saved.bytes > h->slot_bytes)
        return damaged(j);
    *bytes = malloc((size_t)saved.bytes + 1);
    if (*bytes == NULL)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "%s: no memory for a tile of %lld bytes",
                         j->path, (long long)saved.bytes);
    *pass = (int)saved.pass;
    *tile = (int)saved.tile;
    return weft_file_read(j->fd, j->path, *bytes, (size_t)saved.bytes, place + PAGE);
}
