/* Temporary names: .NAME.weft-PID-NUMBER in the target's folder, so that a rename never crosses
 * file systems. */
#include "io/temporary.h"

#include "support/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ATTEMPTS = 100 };

/* A missing folder is for the caller to correct; the rest is the system refusing. */
static weft_status refused(const char *path, int code) {
    if (code == ENOENT || code == ENOTDIR)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s: its folder does not exist; create it or choose another", path);
    return weft_fail(WEFT_ERROR_SYSTEM, "%s: cannot write there: %s", path, strerror(code));
}

static weft_status find_target(const char *path, char **target) {
    struct stat found;
    if (stat(path, &found) != 0) {
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

weft_status weft_temporary_create(const char *path, char **target, char **temporary) {
    char *resolved = NULL, *name = NULL;
    WEFT_TRY(find_target(path, &resolved));
    const char *slash = strrchr(resolved, '/');
    int folder = slash == NULL ? 0 : (int)(slash - resolved) + 1;
    int fd = -1, code = EEXIST;
    for (int attempt = 0; fd < 0 && code == EEXIST && attempt < ATTEMPTS; attempt++) {
        free(name);
        if (asprintf(&name, "%.*s.%s.weft-%ld-%d", folder, resolved, resolved + folder,
                     (long)getpid(), attempt) < 0) {
            free(resolved);
            return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "%s: no memory for its name", path);
        }
        fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        code = errno;
    }
    if (fd < 0) {
        free(name);
        free(resolved);
        return refused(path, code);
    }
    close(fd);
    *target = resolved;
    *temporary = name;
    return WEFT_SUCCESS;
}

weft_status weft_temporary_publish(const char *temporary, const char *target) {
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
