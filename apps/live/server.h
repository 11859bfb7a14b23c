/*
 * The web server of `weft live`: the page, and requests for frames, which the caller's thread
 * answers one at a time. Of requests that wait, the newest wins; one that is overtaken gets
 * LIVE_OVERTAKEN. What comes from outside is refused unless it has the token in its path, names
 * this machine as its host and comes from this page or no page.
 */
#ifndef WEFT_LIVE_SERVER_H
#define WEFT_LIVE_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <weft/weft.h>

/* Statuses of answers, as HTTP has them. */
enum {
    LIVE_OK = 200,
    LIVE_FORBIDDEN = 403,
    LIVE_ABSENT = 404,
    LIVE_WRONG_METHOD = 405,
    LIVE_OVERTAKEN = 409,
    LIVE_TOO_LARGE = 413,
    LIVE_REFUSED = 422,
    LIVE_FAILED = 500,
    LIVE_ENDING = 503
};

/* Whoever gets an answer owns its bytes. */
typedef struct live_answer {
    unsigned status;
    const char *type; /* of the contents */
    void *bytes;      /* from malloc, or NULL */
    size_t count;
} live_answer;

typedef struct live_server live_server;

/* Listens at a numeric address, or "localhost", and a port (0: any that is free). `description` is
 * what the page begins with. It answers by itself from now on, but for frames. */
weft_status live_server_start(const char *address, int port, const char *description,
                              live_server **started);

/* The page's address, with the token. */
const char *live_server_url(const live_server *server);

/* Waits for a request for a frame and returns it; it belongs to the server, may be changed, and
 * must be answered. NULL once live_server_end was called. One thread only. */
char *live_server_next(live_server *server);
void live_server_answer(live_server *server, live_answer *answer);

/* Has live_server_next return NULL. From any thread. */
void live_server_end(live_server *server);

/* Ends all connections and releases everything. */
void live_server_destroy(live_server **destroyed);

#endif
