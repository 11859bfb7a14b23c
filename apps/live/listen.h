/* The socket that the server listens on. */
#ifndef WEFT_LIVE_LISTEN_H
#define WEFT_LIVE_LISTEN_H

#include <weft/weft.h>

/* Listens at a numeric address or "localhost", and a port (0: any). *port becomes the one it is,
 * and `host` how the address is written in a URL. Fails with a sentence. */
weft_status live_listen(const char *address, int *port, char *host, size_t capacity, int *socket);

#endif
