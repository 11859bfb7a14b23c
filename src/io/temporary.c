/*
 * Temporary names: .NAME.weft-locked-PID-NUMBER in the target's folder, so that a rename never
 * crosses file systems. The process that created such a file holds a lock on it (flock) until it is
 * done, so one without a lock was left by a process that was killed. Where locks may not be seen by
 * all who share the folder (network file systems) there is none, and the name says so: it lacks
 * "locked-", and nobody removes it.
 *
 * What a run that can be resumed leaves has fixed names, .NAME.weft-incomplete and
 * .NAME.weft-journal, so that the next one finds it, and nobody else removes it.
 */
#include "io/temporary.h"

#include "support/error.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { ATTEMPTS = 100 };

/* Maps errno to a status: a folder that is missing or not writable is an error of the caller,
 * everything else a failure of the system. */
static weft_status refused(const char *path, int code) {
    if (code == ENOENT || code == ENOTDIR)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s: its folder does not exist; create it or choose another", path);
    if (code == EACCES || code == EPERM || code == EROFS || code == ENAMETOOLONG)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s: cannot write there: %s; choose another name or folder", path,
                         strerror(code));
    return weft_fail(code == ENOMEM ? WEFT_ERROR_OUT_OF_MEMORY : WEFT_ERROR_SYSTEM,
                     "%s: cannot write there: %s", path, strerror(code));
}

static weft_status find_target(const char *path, char **target) {
    struct stat found;
    if (stat(path, &found) != 0) {
        if (errno != ENOENT) return refused(path, errno);
        *target = strdup(path);
    } else if (!S_ISREG(found.st_mode)) {
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s: not a regular file; choose another name for the output", path);
    } else {
        *target = realpath(path, NULL);
    }
    if (*target == NULL) return weft_fail(WEFT_ERROR_SYSTEM, "%s: %s", path, strerror(errno));
    return WEFT_SUCCESS;
}

/* Whether the folder is on a file system of this machine alone, whose locks every process sees. */
static bool locks_count(const char *folder) {
    static const long own[] = {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC,       BTRFS_SUPER_MAGIC,
                               TMPFS_MAGIC,      OVERLAYFS_SUPER_MAGIC, F2FS_SUPER_MAGIC,
                               0x2fc12fc1 /* ZFS */};
    struct statfs found;
    if (statfs(folder, &found) != 0) return false;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if ((long)found.f_type == own[i]) return true;
    return false;
}

/* Whether `entry` is .NAME.weft-locked-PID-NUMBER. */
static bool is_locked_temporary(const char *entry, const char *name) {
    static const char mark[] = ".weft-locked-";
    size_t length = strlen(name);
    if (entry[0] != '.' || strncmp(entry + 1, name, length) != 0) return false;
    const char *at = entry + 1 + length;
    if (strncmp(at, mark, sizeof mark - 1) != 0) return false;
    at += sizeof mark - 1;
    for (int number = 0; number < 2; number++) {
        const char *first = at;
        while (isdigit((unsigned char)*at)) at++;
        if (at == first || *at != (number == 0 ? '-' : '\0')) return false;
        at++;
    }
    return true;
}

/* Whether `entry` of the folder is still the file that fd refers to. */
static bool is_still(int folder, const char *entry, int fd) {
    struct stat opened, named;
    return fstat(fd, &opened) == 0 && fstatat(folder, entry, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

/* Removes what dead processes of this user left of earlier attempts to write `name`. */
static void remove_leftovers(const char *folder, const char *name) {
    DIR *list = opendir(folder);
    if (list == NULL) return;
    int at = dirfd(list);
    for (struct dirent *entry = readdir(list); entry != NULL; entry = readdir(list)) {
        struct stat found;
        if (!is_locked_temporary(entry->d_name, name)) continue;
        int fd = openat(at, entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0) continue;
        /* The lock is held while the file is removed, so that another process cannot publish it
         * meanwhile. */
        if (fstat(fd, &found) == 0 && S_ISREG(found.st_mode) && found.st_uid == geteuid() &&
            flock(fd, LOCK_EX | LOCK_NB) == 0 && is_still(at, entry->d_name, fd))
            unlinkat(at, entry->d_name, 0);
        close(fd);
    }
    closedir(list);
}

/* Creates the file under the next free name; *lock is what holds its lock, or -1. Returns 0 or what
 * errno says. */
static int create_file(const char *folder, const char *name, bool locked, char **temporary,
                       int *lock) {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (asprintf(temporary, "%s.%s.weft-%s%ld-%d", folder, name, locked ? "locked-" : "",
                     (long)getpid(), attempt) < 0) {
            *temporary = NULL;
            return ENOMEM;
        }
        int fd = open(*temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        int code = fd < 0 ? errno : 0;
        if (fd >= 0 && !locked) {
            close(fd);
            return 0;
        }
        if (fd >= 0) {
            *lock = fd;
            /* Between creating and locking the file, another process may have removed it as a
             * leftover. */
            if (flock(fd, LOCK_EX | LOCK_NB) == 0 && is_still(AT_FDCWD, *temporary, fd)) return 0;
            close(fd);
            unlink(*temporary); /* where it is there all the same, nobody else made it */
            *lock = -1;
            code = EEXIST;
        }
        free(*temporary);
        *temporary = NULL;
        if (code != EEXIST) return code;
    }
    return EEXIST;
}

/* Whom the file that will be replaced is closed to, the new one is closed to from the start. */
static void close_like(const char *temporary, const char *target) {
    struct stat old, made;
    if (stat(target, &old) == 0 && S_ISREG(old.st_mode) && stat(temporary, &made) == 0)
        (void)chmod(temporary, (made.st_mode & old.st_mode & 077) | S_IRUSR | S_IWUSR);
}

weft_status weft_temporary_create(const char *path, char **target, char **temporary, int *lock) {
    char *resolved = NULL, *folder = NULL;
    *temporary = NULL;
    *lock = -1;
    WEFT_TRY(find_target(path, &resolved));
    char *slash = strrchr(resolved, '/');
    const char *name = slash == NULL ? resolved : slash + 1;
    folder = slash == NULL ? strdup("./") : strndup(resolved, (size_t)(slash - resolved) + 1);
    int code = ENOMEM;
    if (folder != NULL) {
        bool locked = locks_count(folder);
        if (locked) remove_leftovers(folder, name);
        code = create_file(folder, name, locked, temporary, lock);
    }
    free(folder);
    if (code == 0) {
        close_like(*temporary, resolved);
        *target = resolved;
        return WEFT_SUCCESS;
    }
    free(resolved);
    return refused(path, code);
}

/* ---- what can be resumed ---- */

void weft_kept_names_release(weft_kept_names *names) {
    free(names->target);
    free(names->incomplete);
    free(names->journal);
    *names = (weft_kept_names){NULL, NULL, NULL};
}

weft_status weft_temporary_kept_names(const char *path, weft_kept_names *names) {
    *names = (weft_kept_names){NULL, NULL, NULL};
    WEFT_TRY(find_target(path, &names->target));
    const char *slash = strrchr(names->target, '/');
    const int folder = slash == NULL ? 0 : (int)(slash - names->target) + 1;
    const char *name = names->target + folder;
    if (asprintf(&names->incomplete, "%.*s.%s.weft-incomplete", folder, names->target, name) < 0)
        names->incomplete = NULL;
    if (asprintf(&names->journal, "%.*s.%s.weft-journal", folder, names->target, name) < 0)
        names->journal = NULL;
    if (names->incomplete != NULL && names->journal != NULL) return WEFT_SUCCESS;
    weft_kept_names_release(names);
    return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "%s: no memory for its name", path);
}

/* Opens and locks the incomplete output; *lock is what holds the lock, or -1. */
static weft_status open_kept(const weft_kept_names *names, bool resumed, int *lock) {
    const int fd = open(names->incomplete, O_RDWR | O_CLOEXEC | (resumed ? 0 : O_CREAT), 0666);
    *lock = -1;
    if (fd < 0) return refused(names->target, errno);
    /* Whoever held the lock until now may have given the file its name. */
    if ((locks_count(names->incomplete) && flock(fd, LOCK_EX | LOCK_NB) != 0) ||
        !is_still(AT_FDCWD, names->incomplete, fd)) {
        close(fd);
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s: another process is writing it; wait until it has ended",
                         names->target);
    }
    *lock = fd;
    if (resumed || ((unlink(names->journal) == 0 || errno == ENOENT) && ftruncate(fd, 0) == 0))
        return WEFT_SUCCESS;
    const int code = errno;
    close(fd);
    *lock = -1;
    return refused(names->target, code);
}

weft_status weft_temporary_keep(const char *path, bool resumed, char **target, char **temporary,
                                int *lock) {
    weft_kept_names names;
    *lock = -1;
    WEFT_TRY(weft_temporary_kept_names(path, &names));
    const weft_status status = open_kept(&names, resumed, lock);
    if (status == WEFT_SUCCESS) {
        *target = names.target;
        *temporary = names.incomplete;
        names.target = names.incomplete = NULL;
    }
    weft_kept_names_release(&names);
    return status;
}

void weft_temporary_release(int *lock) {
    if (*lock >= 0) close(*lock);
    *lock = -1;
}

weft_status weft_temporary_publish(const char *temporary, const char *target) {
    struct stat old;
    if (stat(target, &old) == 0 && S_ISREG(old.st_mode)) /* some file systems have no modes */
        (void)chmod(temporary, old.st_mode & 07777);
    if (rename(temporary, target) == 0) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_SYSTEM, "%s: cannot replace it: %s", target, strerror(errno));
}

static bool copy_bytes(int from, int to) {
    enum { CHUNK = 1 << 20 };
    char *chunk = malloc(CHUNK);
    bool well = chunk != NULL;
    while (well) {
        ssize_t got = read(from, chunk, CHUNK);
        if (got == 0) break;
        if (got < 0 && errno == EINTR) continue;
        well = got > 0;
        for (ssize_t done = 0; well && done < got;) {
            ssize_t put = write(to, chunk + done, (size_t)(got - done));
            well = put > 0 || (put < 0 && errno == EINTR);
            if (put > 0) done += put;
        }
    }
    int code = errno;
    free(chunk);
    errno = code;
    return well;
}

weft_status weft_temporary_copy(const char *source, const char *temporary) {
    int from = open(source, O_RDONLY | O_CLOEXEC);
    int to = open(temporary, O_WRONLY | O_TRUNC | O_CLOEXEC);
    bool well = from >= 0 && to >= 0 && copy_bytes(from, to);
    int code = errno;
    if (from >= 0) close(from);
    if (to >= 0 && close(to) != 0 && well) {
        code = errno;
        well = false;
    }
    if (well) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_SYSTEM, "%s: cannot copy it to keep its other datasets: %s", source,
                     strerror(code));
}
