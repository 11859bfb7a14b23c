/* Who may ask: the token of this run, and the headers of a request. */
#ifndef WEFT_LIVE_GUARD_H
#define WEFT_LIVE_GUARD_H

#include <stdbool.h>
#include <weft/weft.h>

enum { LIVE_TOKEN_LENGTH = 32 };

/* Writes a random token and a zero byte. */
weft_status live_token_make(char token[LIVE_TOKEN_LENGTH + 1]);

/* What follows "/TOKEN/" in a path, or NULL where the token is another one. The time does not
 * depend on how much of it is right. */
const char *live_token_path(const char token[LIVE_TOKEN_LENGTH + 1], const char *path);

/* Whether a request's Host header names this machine: a numeric address, localhost or the machine's
 * own name, and not a name that someone else's server resolves to here. Ports are not looked at, so
 * that a tunnel may have another one. */
bool live_host_allowed(const char *host);

/* Whether its Origin header (NULL: none) is that of the page itself, which was loaded from `host`.
 */
bool live_origin_allowed(const char *origin, const char *host);

#endif
