/* Every line is checked: requests come from whoever has the address. */
#include "request.h"

#include "support/error.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define WRONG(...) weft_fail(WEFT_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

static weft_status read_number(const char *name, const char *text, int64_t most, int64_t *number) {
    char *end;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value > most)
        return WRONG("%s %.40s: it is no number up to %lld", name, text, (long long)most);
    *number = value;
    return WEFT_SUCCESS;
}

static weft_status read_device(const char *text, weft_device *device) {
    for (int d = 0; strcmp(weft_device_name((weft_device)d), "?") != 0; d++)
        if (strcmp(weft_device_name((weft_device)d), text) == 0) {
            *device = (weft_device)d;
            return WEFT_SUCCESS;
        }
    return WRONG("device %.40s: there is no such device", text);
}

static weft_status read_boundary(const char *text, filter_boundary *boundary) {
    for (int b = 0; strcmp(filter_boundary_name((filter_boundary)b), "?") != 0; b++)
        if (strcmp(filter_boundary_name((filter_boundary)b), text) == 0) {
            *boundary = (filter_boundary)b;
            return WEFT_SUCCESS;
        }
    return WRONG("boundary %.40s: give periodic, mirror or zero", text);
}

static weft_status read_motion(const char *text, live_motion *motion) {
    static const char *const names[] = {
        [LIVE_PLAY] = "play", [LIVE_PAUSE] = "pause", [LIVE_STEP] = "step"};
    for (int m = LIVE_PLAY; m <= LIVE_STEP; m++)
        if (strcmp(names[m], text) == 0) {
            *motion = (live_motion)m;
            return WEFT_SUCCESS;
        }
    return WRONG("video %.40s: give play, pause or step", text);
}

static weft_status read_space(const char *text, live_request *request) {
    if (strcmp(text, "volume") != 0) return WRONG("space %.40s: give volume", text);
    if (request->parts > 0) return WRONG("space volume: give it before filters");
    request->whole = true;
    return WEFT_SUCCESS;
}

static weft_status read_line(const char *name, const char *value, live_request *request) {
    const filter_axes axes = {.rank = request->whole ? 3 : 2, .picture = !request->whole};
    int64_t number = 0;
    if (filter_is_part(name)) {
        if (request->parts == LIVE_MOST_PARTS)
            return WRONG("there are more than %d filters; undo some of the mask", LIVE_MOST_PARTS);
        WEFT_TRY(filter_parse(name, value, &axes, &request->part[request->parts]));
        request->parts++;
        return WEFT_SUCCESS;
    }
    if (strcmp(name, "sequence") == 0)
        return read_number(name, value, INT64_MAX, &request->sequence);
    if (strcmp(name, "device") == 0) return read_device(value, &request->device);
    if (strcmp(name, "boundary") == 0) return read_boundary(value, &request->boundary);
    if (strcmp(name, "video") == 0) return read_motion(value, &request->motion);
    if (strcmp(name, "space") == 0) return read_space(value, request);
    if (strcmp(name, "index") == 0) return read_number(name, value, INT64_MAX, &request->index);
    if (strcmp(name, "axis") != 0) return WRONG("%.40s is nothing to ask for", name);
    WEFT_TRY(read_number(name, value, 2, &number));
    request->axis = (int)number;
    return WEFT_SUCCESS;
}

weft_status live_request_parse(char *text, live_request *request) {
    request->sequence = request->index = 0;
    request->device = WEFT_HOST;
    request->boundary = FILTER_PERIODIC;
    request->motion = LIVE_STAY;
    request->whole = false;
    request->axis = request->parts = 0;
    for (char *line = text; *line != '\0';) {
        char *next = line + strcspn(line, "\n");
        if (*next != '\0') *next++ = '\0';
        char *value = line + strcspn(line, " ");
        if (*value == '\0') return WRONG("%.40s: a name and a value are wanted", line);
        *value++ = '\0';
        WEFT_TRY(read_line(line, value, request));
        line = next;
    }
    return WEFT_SUCCESS;
}
