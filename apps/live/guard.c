/* Small and apart, so that it can be read in one go. */
#include "guard.h"

#include "support/error.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <unistd.h>

weft_status live_token_make(char token[LIVE_TOKEN_LENGTH + 1]) {
    unsigned char random[LIVE_TOKEN_LENGTH / 2];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return weft_fail(WEFT_ERROR_SYSTEM, "there are no random numbers: %s", strerror(errno));
    for (size_t i = 0; i < sizeof random; i++) snprintf(token + 2 * i, 3, "%02x", random[i]);
    return WEFT_SUCCESS;
}

const char *live_token_path(const char token[LIVE_TOKEN_LENGTH + 1], const char *path) {
    unsigned char given[LIVE_TOKEN_LENGTH + 2] = {0}, wrong = 0;
    const size_t length = strlen(path);
    memcpy(given, path, length < sizeof given ? length : sizeof given);
    wrong |= given[0] ^ '/';
    for (int i = 0; i < LIVE_TOKEN_LENGTH; i++) wrong |= given[i + 1] ^ (unsigned char)token[i];
    wrong |= given[LIVE_TOKEN_LENGTH + 1] ^ '/';
    return wrong == 0 ? path + sizeof given : NULL;
}

/* The name in a Host header without its port, and without the brackets of IPv6. */
static bool name_of_host(const char *host, char *name, size_t capacity) {
    const bool bracket = host[0] == '[';
    const char *begin = host + bracket;
    const size_t length = strcspn(begin, bracket ? "]" : ":");
    if (length == 0 || length >= capacity || (bracket && begin[length] != ']')) return false;
    memcpy(name, begin, length);
    name[length] = '\0';
    return true;
}

bool live_host_allowed(const char *host) {
    char name[256], own[256] = "";
    unsigned char address[sizeof(struct in6_addr)];
    if (host == NULL || !name_of_host(host, name, sizeof name)) return false;
    if (strcasecmp(name, "localhost") == 0 || inet_pton(AF_INET, name, address) == 1 ||
        inet_pton(AF_INET6, name, address) == 1)
        return true;
    return gethostname(own, sizeof own - 1) == 0 && own[0] != '\0' && strcasecmp(name, own) == 0;
}

bool live_origin_allowed(const char *origin, const char *host) {
    static const char scheme[] = "http://";
    if (origin == NULL) return true;
    return strncasecmp(origin, scheme, sizeof scheme - 1) == 0 &&
           strcasecmp(origin + sizeof scheme - 1, host) == 0;
}
