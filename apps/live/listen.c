/* Names other than localhost are not resolved: what one listens on should be said. */
#include "listen.h"

#include "support/error.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WAITING_CONNECTIONS = 16 };

static weft_status listen_at(const struct addrinfo *at, const char *address, int *port, int fd) {
    struct sockaddr_storage bound = {0};
    socklen_t length = sizeof bound;
    const int yes = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, at->ai_addr, at->ai_addrlen) != 0 || listen(fd, WAITING_CONNECTIONS) != 0 ||
        getsockname(fd, (struct sockaddr *)&bound, &length) != 0)
        return weft_fail(errno == EADDRINUSE || errno == EACCES || errno == EADDRNOTAVAIL
                             ? WEFT_ERROR_INVALID_ARGUMENT
                             : WEFT_ERROR_SYSTEM,
                         "--address %s --port %d: one cannot listen there: %s", address, *port,
                         strerror(errno));
    *port = ntohs(bound.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&bound)->sin6_port
                                              : ((struct sockaddr_in *)&bound)->sin_port);
    return WEFT_SUCCESS;
}

weft_status live_listen(const char *address, int *port, char *host, size_t capacity, int *socket_) {
    const char *numeric = strcmp(address, "localhost") == 0 ? "127.0.0.1" : address;
    const struct addrinfo hints = {.ai_family = AF_UNSPEC,
                                   .ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE};
    struct addrinfo *found = NULL;
    char service[16];
    snprintf(service, sizeof service, "%d", *port);
    if (getaddrinfo(numeric, service, &hints, &found) != 0)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "--address %s: give localhost or a numeric address, such as 127.0.0.1",
                         address);
    int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    weft_status status =
        fd < 0 ? weft_fail(WEFT_ERROR_SYSTEM, "there are no sockets: %s", strerror(errno))
               : listen_at(found, address, port, fd);
    snprintf(host, capacity, found->ai_family == AF_INET6 ? "[%s]" : "%s", numeric);
    freeaddrinfo(found);
    if (status != WEFT_SUCCESS && fd >= 0) close(fd);
    if (status == WEFT_SUCCESS) *socket_ = fd;
    return status;
}
