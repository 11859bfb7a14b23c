/*
 * One thread of libmicrohttpd answers; a request for a frame is put into a mailbox of one place and
 * its connection suspended until the caller's thread has the answer. What a connection holds is
 * bounded: its headers by the library, its body here.
 */
#include "server.h"

#include "guard.h"
#include "listen.h"
#include "request.h"
#include "support/error.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_CONNECTIONS = 32, CONNECTION_BYTES = 1 << 15, TIMEOUT_SECONDS = 30 };

/* The page's files, embedded by the build. */
extern const char live_page_html[], live_page_css[], live_page_js[];

/* What a connection has sent, and what it will get. */
typedef struct exchange {
    struct MHD_Connection *connection;
    char *body; /* LIVE_REQUEST_BYTES and a zero byte, once there is any */
    size_t count;
    bool frame, too_large, answered;
    live_answer answer;
} exchange;

struct live_server {
    struct MHD_Daemon *daemon;
    int socket;
    char token[LIVE_TOKEN_LENGTH + 1];
    char url[128 + LIVE_TOKEN_LENGTH];
    const char *description;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    exchange *waiting; /* the newest request for a frame */
    exchange *current; /* that which is computed */
    bool ending;
};

/* ---- answers ---- */

static enum MHD_Result send_response(struct MHD_Connection *connection, unsigned status,
                                     const char *type, struct MHD_Response *response) {
    static const char *const headers[][2] = {
        {"Cache-Control", "no-store"},
        {"Content-Security-Policy",
         "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src "
         "data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Referrer-Policy", "no-referrer"},
        {"X-Content-Type-Options", "nosniff"},
        {"X-Frame-Options", "DENY"}};
    if (response == NULL) return MHD_NO;
    MHD_add_response_header(response, "Content-Type", type);
    for (size_t h = 0; h < sizeof headers / sizeof *headers; h++)
        MHD_add_response_header(response, headers[h][0], headers[h][1]);
    if (status == LIVE_WRONG_METHOD) MHD_add_response_header(response, "Allow", "GET, POST");
    const enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result send_constant(struct MHD_Connection *connection, unsigned status,
                                     const char *type, const char *text) {
    return send_response(connection, status, type,
                         MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text,
                                                         MHD_RESPMEM_PERSISTENT));
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status,
                              const char *sentence) {
    return send_constant(connection, status, "text/plain; charset=utf-8", sentence);
}

static enum MHD_Result send_answer(exchange *e) {
    live_answer *answer = &e->answer;
    if (answer->bytes == NULL)
        return refuse(e->connection, answer->status,
                      answer->status == LIVE_OVERTAKEN ? "a newer request has overtaken this one"
                                                       : "there is no answer");
    struct MHD_Response *response =
        MHD_create_response_from_buffer(answer->count, answer->bytes, MHD_RESPMEM_MUST_FREE);
    if (response != NULL) answer->bytes = NULL;
    return send_response(e->connection, answer->status, answer->type, response);
}

/* ---- the mailbox ---- */

/* With the lock held. */
static void finish(exchange *e, const live_answer *answer) {
    e->answer = *answer;
    e->answered = true;
    MHD_resume_connection(e->connection);
}

static void post(live_server *server, exchange *e) {
    static const live_answer overtaken = {.status = LIVE_OVERTAKEN}, late = {.status = LIVE_ENDING};
    pthread_mutex_lock(&server->lock);
    MHD_suspend_connection(e->connection);
    if (server->ending) {
        finish(e, &late);
    } else {
        if (server->waiting != NULL) finish(server->waiting, &overtaken);
        server->waiting = e;
        pthread_cond_signal(&server->changed);
    }
    pthread_mutex_unlock(&server->lock);
}

char *live_server_next(live_server *server) {
    pthread_mutex_lock(&server->lock);
    while (server->waiting == NULL && !server->ending)
        pthread_cond_wait(&server->changed, &server->lock);
    server->current = server->ending ? NULL : server->waiting;
    if (server->current != NULL) server->waiting = NULL;
    char *body = server->current != NULL ? server->current->body : NULL;
    pthread_mutex_unlock(&server->lock);
    return body;
}

void live_server_answer(live_server *server, live_answer *answer) {
    pthread_mutex_lock(&server->lock);
    finish(server->current, answer);
    server->current = NULL;
    *answer = (live_answer){0};
    pthread_mutex_unlock(&server->lock);
}

void live_server_end(live_server *server) {
    pthread_mutex_lock(&server->lock);
    server->ending = true;
    pthread_cond_signal(&server->changed);
    pthread_mutex_unlock(&server->lock);
}

/* ---- requests ---- */

/* Sends what needs no computing; `path` is what follows the token. */
static enum MHD_Result send_file(const live_server *server, struct MHD_Connection *connection,
                                 const char *path) {
    const struct {
        const char *path, *type, *text;
    } files[] = {{"", "text/html; charset=utf-8", live_page_html},
                 {"page.css", "text/css; charset=utf-8", live_page_css},
                 {"page.js", "text/javascript; charset=utf-8", live_page_js},
                 {"description", "application/json", server->description}};
    for (size_t f = 0; f < sizeof files / sizeof *files; f++)
        if (strcmp(path, files[f].path) == 0)
            return send_constant(connection, LIVE_OK, files[f].type, files[f].text);
    return refuse(connection, LIVE_ABSENT, "there is no such page");
}

static bool take_body(exchange *e, const char *upload, size_t count) {
    if (e->body == NULL) e->body = malloc(LIVE_REQUEST_BYTES + 1);
    if (e->body == NULL) return false;
    e->too_large = e->too_large || count > LIVE_REQUEST_BYTES - e->count;
    if (e->too_large) return true; /* the rest is not kept */
    memcpy(e->body + e->count, upload, count);
    e->count += count;
    return true;
}

static enum MHD_Result begin(live_server *server, struct MHD_Connection *connection,
                             const char *path, const char *method, void **state) {
    const char *host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
    const char *origin = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Origin");
    const char *length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length");
    const char *rest = live_token_path(server->token, path);
    if (!live_host_allowed(host) || !live_origin_allowed(origin, host))
        return refuse(connection, LIVE_FORBIDDEN, "another page may not ask");
    if (rest == NULL)
        return refuse(connection, LIVE_FORBIDDEN,
                      "the address is that which weft live printed, with its token");
    const bool frame = strcmp(rest, "frame") == 0;
    if (strcmp(method, frame ? "POST" : "GET") != 0)
        return refuse(connection, LIVE_WRONG_METHOD, "that is not how to ask for it");
    if (length != NULL && strtoull(length, NULL, 10) > (frame ? LIVE_REQUEST_BYTES : 0))
        return refuse(connection, LIVE_TOO_LARGE, "the request is too large");
    exchange *e = calloc(1, sizeof *e);
    if (e == NULL) return MHD_NO;
    *e = (exchange){.connection = connection, .frame = frame};
    *state = e;
    return MHD_YES;
}

static enum MHD_Result handle(void *argument, struct MHD_Connection *connection, const char *path,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_count, void **state) {
    live_server *server = argument;
    exchange *e = *state;
    (void)version;
    if (e == NULL) return begin(server, connection, path, method, state);
    if (*upload_count > 0) {
        const bool taken = take_body(e, upload, *upload_count);
        *upload_count = 0;
        return taken ? MHD_YES : MHD_NO;
    }
    if (e->answered) return send_answer(e);
    if (e->too_large) return refuse(connection, LIVE_TOO_LARGE, "the request is too large");
    if (!e->frame) return send_file(server, connection, live_token_path(server->token, path));
    if (e->body == NULL && !take_body(e, "", 0)) return MHD_NO;
    e->body[e->count] = '\0';
    post(server, e);
    return MHD_YES;
}

static void forget(void *argument, struct MHD_Connection *connection, void **state,
                   enum MHD_RequestTerminationCode why) {
    exchange *e = *state;
    (void)argument;
    (void)connection;
    (void)why;
    if (e == NULL) return;
    free(e->body);
    free(e->answer.bytes);
    free(e);
    *state = NULL;
}

/* ---- begin and end ---- */

weft_status live_server_start(const char *address, int port, const char *description,
                              live_server **started) {
    char host[96];
    live_server *server = calloc(1, sizeof *server);
    if (server == NULL) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a server");
    *server = (live_server){.socket = -1, .description = description};
    pthread_mutex_init(&server->lock, NULL);
    pthread_cond_init(&server->changed, NULL);
    weft_status status = live_token_make(server->token);
    if (status == WEFT_SUCCESS)
        status = live_listen(address, &port, host, sizeof host, &server->socket);
    if (status == WEFT_SUCCESS) {
        snprintf(server->url, sizeof server->url, "http://%s:%d/%s/", host, port, server->token);
        /* By poll: with epoll a client that has half closed its side is not always looked at. */
        server->daemon = MHD_start_daemon(
            MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, handle, server,
            MHD_OPTION_LISTEN_SOCKET, server->socket, MHD_OPTION_NOTIFY_COMPLETED, forget, server,
            MHD_OPTION_CONNECTION_LIMIT, (unsigned)MOST_CONNECTIONS,
            MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
            MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_SECONDS, MHD_OPTION_END);
        if (server->daemon == NULL)
            status = weft_fail(WEFT_ERROR_SYSTEM, "the web server cannot be started");
    }
    *started = server;
    if (status != WEFT_SUCCESS) live_server_destroy(started);
    return status;
}

const char *live_server_url(const live_server *server) {
    return server->url;
}

void live_server_destroy(live_server **destroyed) {
    static const live_answer late = {.status = LIVE_ENDING};
    live_server *server = *destroyed;
    if (server == NULL) return;
    live_server_end(server);
    pthread_mutex_lock(&server->lock);
    if (server->waiting != NULL) finish(server->waiting, &late);
    server->waiting = NULL;
    pthread_mutex_unlock(&server->lock);
    if (server->daemon != NULL)
        MHD_stop_daemon(server->daemon); /* closes the socket, too */
    else if (server->socket >= 0)
        close(server->socket);
    pthread_cond_destroy(&server->changed);
    pthread_mutex_destroy(&server->lock);
    free(server);
    *destroyed = NULL;
}
