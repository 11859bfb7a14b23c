/* Wisdom as JSON: what is read is checked as a whole, and writers take turns. */
#include "plan/wisdom_file.h"

#include "support/c_locale.h"
#include "support/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#define WRONG(...) weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "wisdom file %s: " __VA_ARGS__)

bool weft_wisdom_path(char path[WEFT_PATH_BYTES]) {
    return weft_cache_path("wisdom.json", path);
}

/* Whether all items of a list, of at most WEFT_MAX_RANK, have a type. */
static bool is_list_of(const json_t *list, json_type type) {
    if (!json_is_array(list) || json_array_size(list) > WEFT_MAX_RANK) return false;
    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_typeof(json_array_get(list, i)) != type) return false;
    return true;
}

/* The member that is not what it must be, or NULL. */
static const char *wrong_member(const json_t *choice) {
    static const struct {
        const char *key;
        bool boolean;
    } plain[] = {
        {"decomposition", false}, {"variant", false}, {"streamed", true}, {"resident", true}};
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        const json_t *value = json_object_get(choice, plain[i].key);
        if (plain[i].boolean ? !json_is_boolean(value) : !json_is_string(value))
            return plain[i].key;
    }
    if (!is_list_of(json_object_get(choice, "grid"), JSON_INTEGER)) return "grid";
    if (!is_list_of(json_object_get(choice, "exchange"), JSON_STRING)) return "exchange";
    if (!json_is_integer(json_object_get(choice, "tiles"))) return "tiles";
    return json_is_number(json_object_get(choice, "seconds")) ? NULL : "seconds";
}

static weft_status check(const char *path, json_t *wisdom) {
    const char *key;
    json_t *choice;
    if (!json_is_object(wisdom)) return WRONG("it is not a JSON object", path);
    json_object_foreach(wisdom, key, choice) {
        const char *wrong = json_is_object(choice) ? wrong_member(choice) : "all of it";
        if (wrong)
            return WRONG("%s of \"%.200s\" is missing or not of its type; weft wisdom forget "
                         "begins a new file",
                         path, wrong, key);
    }
    return WEFT_SUCCESS;
}

weft_status weft_wisdom_read(const char *path, json_t **wisdom) {
    json_error_t error;
    FILE *stream = fopen(path, "rb");
    if (!stream && errno == ENOENT) {
        *wisdom = json_object();
        return *wisdom ? WEFT_SUCCESS : weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for wisdom");
    }
    if (!stream)
        return weft_fail(WEFT_ERROR_SYSTEM, "wisdom file %s cannot be opened: %s", path,
                         strerror(errno));
    json_t *read = json_loadf(stream, JSON_REJECT_DUPLICATES, &error);
    fclose(stream);
    if (!read)
        return WRONG("it is not valid JSON (line %d: %s); weft wisdom forget begins a new one",
                     path, error.line, error.text);
    const weft_status status = check(path, read);
    if (status == WEFT_SUCCESS)
        *wisdom = read;
    else
        json_decref(read);
    return status;
}

weft_status weft_wisdom_write(const char *path, const json_t *wisdom) {
    const locale_t before = weft_c_locale_begin();
    char *text = json_dumps(wisdom, JSON_INDENT(2) | JSON_SORT_KEYS | JSON_REAL_PRECISION(6));
    weft_c_locale_end(before);
    if (!text) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for wisdom");
    const bool written = weft_cache_write(path, text, strlen(text));
    const int reason = errno;
    free(text);
    return written ? WEFT_SUCCESS
                   : weft_fail(WEFT_ERROR_SYSTEM, "wisdom file %s cannot be written: %s", path,
                               strerror(reason));
}

/* The descriptor that holds the lock, or -1. The system takes the lock from a process that ends. */
static int lock(const char *path) {
    static const struct timespec nap = {.tv_nsec = 10000000};
    char name[WEFT_PATH_BYTES + 8];
    snprintf(name, sizeof name, "%s.lock", path);
    const int descriptor = open(name, O_CREAT | O_RDWR | O_CLOEXEC, 0666);
    for (int turn = 0; descriptor >= 0; turn++) {
        if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) return descriptor;
        if (errno != EWOULDBLOCK || turn == 500) break;
        nanosleep(&nap, NULL);
    }
    const int reason = errno;
    if (descriptor >= 0) close(descriptor);
    errno = reason;
    return -1;
}

weft_status weft_wisdom_change(const char *path, void (*change)(json_t *wisdom, void *argument),
                               void *argument) {
    json_t *wisdom = NULL;
    const int descriptor = lock(path);
    if (descriptor < 0)
        return weft_fail(WEFT_ERROR_SYSTEM, "wisdom file %s cannot be locked: %s", path,
                         strerror(errno));
    weft_status status = weft_wisdom_read(path, &wisdom);
    if (status == WEFT_SUCCESS) {
        change(wisdom, argument);
        status = weft_wisdom_write(path, wisdom);
        json_decref(wisdom);
    }
    close(descriptor);
    return status;
}
