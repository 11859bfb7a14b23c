/* Nothing but local files and cameras is opened: neither what else ffmpeg takes for a name, such
 * as an address in the network, nor what a playlist names. */
#include "ffmpeg.h"

#include "support/error.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define WRONG(...) weft_fail(WEFT_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

enum { SECONDS_TO_END = 2, PROBED_BYTES = 1024, INPUT_ARGUMENTS = 4, MOST_ARGUMENTS = 24 };

/* The arguments that name the input: what begins with "-" or like a protocol is a name, too. */
typedef struct input {
    char url[PATH_MAX + 8];
    const char *arguments[INPUT_ARGUMENTS];
} input;

static weft_status name_input(const live_ffmpeg *f, input *in) {
    const char *const camera[INPUT_ARGUMENTS] = {"-f", "v4l2", "-i", f->name};
    const char *const file[INPUT_ARGUMENTS] = {"-protocol_whitelist", "file", "-i", in->url};
    const int length = snprintf(in->url, sizeof in->url, "file:%s", f->name);
    if (length >= (int)sizeof in->url) return WRONG("%.40s...: the name is too long", f->name);
    memcpy(in->arguments, f->camera ? camera : file, sizeof file);
    return WEFT_SUCCESS;
}

static int append(const char **line, int at, const char *const *arguments, int count) {
    memcpy(line + at, arguments, (size_t)count * sizeof *line);
    line[at + count] = NULL;
    return at + count;
}

/* What is behind the file's name, with which ffmpeg often begins. */
static const char *behind_name(const char *said, const char *name) {
    const char *found = strstr(said, name);
    if (found == NULL || strncmp(found + strlen(name), ": ", 2) != 0) return said;
    return found + strlen(name) + 2;
}

/* Tells why a program that has ended did not do what was wanted; `otherwise`: it said nothing. */
static weft_status complain(const live_ffmpeg *f, int status, const char *otherwise) {
    char said[256];
    live_program_last_line(&f->program, said, sizeof said);
    if (status == LIVE_PROGRAM_ABSENT)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "%s: videos are read by ffmpeg and ffprobe, which cannot be started; "
                         "install them (Debian: apt install ffmpeg), or give --video pattern",
                         f->name);
    if (said[0] != '\0') return WRONG("%s: ffmpeg says: %s", f->name, behind_name(said, f->name));
    return WRONG("%s: %s", f->name, otherwise);
}

static int await_end(live_ffmpeg *f) {
    return live_program_end(&f->program, f->stop, SECONDS_TO_END);
}

/* ---- probing ---- */

/* What stands behind "NAME=" at the begin of a line; "" where there is none. */
static void find_field(const char *text, const char *name, char *value, size_t capacity) {
    const size_t length = strlen(name);
    value[0] = '\0';
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1) {
        if (strncmp(line, name, length) == 0 && line[length] == '=')
            snprintf(value, capacity, "%.*s", (int)strcspn(line + length + 1, "\r\n"),
                     line + length + 1);
        if (strchr(line, '\n') == NULL) break;
    }
}

/* Files whose frames have no even pace tell rates of all kinds. */
static bool take_rate(live_ffmpeg *f, const char *text) {
    long long frames = 0, seconds = 0;
    if (sscanf(text, "%9lld/%9lld", &frames, &seconds) != 2 || frames < 1 || seconds < 1)
        return false;
    const double rate = (double)frames / (double)seconds;
    if (rate > 1000 || rate < 0.01) return false;
    f->rate = rate;
    snprintf(f->rate_text, sizeof f->rate_text, "%lld/%lld", frames, seconds);
    return true;
}

weft_status live_ffmpeg_probe(live_ffmpeg *f) {
    static const char *const begin[] = {"ffprobe", "-v", "error"};
    static const char *const end[] = {
        "-select_streams",
        "v:0",
        "-show_entries",
        "stream=pix_fmt,avg_frame_rate,r_frame_rate",
        "-of",
        "default=noprint_wrappers=1",
    };
    const char *line[MOST_ARGUMENTS];
    char text[PROBED_BYTES + 1], value[32];
    input in;
    WEFT_TRY(name_input(f, &in));
    int count = append(line, 0, begin, 3);
    count = append(line, count, in.arguments, INPUT_ARGUMENTS);
    append(line, count, end, 6);
    WEFT_TRY(live_program_start(line, &f->program));
    text[live_program_read(&f->program, f->stop, text, PROBED_BYTES)] = '\0';
    find_field(text, "pix_fmt", value, sizeof value);
    if (value[0] == '\0') return complain(f, await_end(f), "there is no video in it");
    live_ffmpeg_end(f);
    f->grey = strncmp(value, "gray", 4) == 0;
    find_field(text, "avg_frame_rate", value, sizeof value);
    if (take_rate(f, value)) return WEFT_SUCCESS;
    find_field(text, "r_frame_rate", value, sizeof value);
    if (!take_rate(f, value)) take_rate(f, "25/1");
    return WEFT_SUCCESS;
}

/* ---- frames ---- */

weft_status live_ffmpeg_start(live_ffmpeg *f) {
    static const char *const begin[] = {"ffmpeg", "-nostdin", "-v", "error"};
    const char *const rate[] = {"-r", f->rate_text};
    const char *const end[] = {"-map",     "0:v:0",
                               "-f",       "image2pipe",
                               "-c:v",     f->grey ? "pgm" : "ppm",
                               "-pix_fmt", f->grey ? "gray" : "rgb24",
                               "pipe:1"};
    const char *line[MOST_ARGUMENTS];
    input in;
    WEFT_TRY(name_input(f, &in));
    int count = append(line, 0, begin, 4);
    count = append(line, count, in.arguments, INPUT_ARGUMENTS);
    if (!f->camera) count = append(line, count, rate, 2);
    append(line, count, end, 9);
    return live_program_start(line, &f->program);
}

/* "P6\nCOLUMNS ROWS\n255\n", or P5 of grey pictures. Returns its bytes, 0 at the end. */
static size_t read_header(live_ffmpeg *f, char header[static sizeof f->header]) {
    const size_t room = f->header_bytes > 0 ? f->header_bytes : sizeof f->header - 1;
    size_t count = 0, lines = 0;
    if (f->header_bytes > 0) {
        count = live_program_read(&f->program, f->stop, header, room);
    } else {
        while (lines < 3 && count < room &&
               live_program_read(&f->program, f->stop, header + count, 1) == 1)
            lines += header[count++] == '\n';
    }
    header[count] = '\0';
    return count;
}

static weft_status take_header(live_ffmpeg *f, const char *header, size_t count) {
    char same[64];
    int kind = 0;
    long long columns = 0, rows = 0;
    if (sscanf(header, "P%1d %9lld %9lld", &kind, &columns, &rows) == 3 &&
        kind == (f->grey ? 5 : 6) && columns > 0 && rows > 0) {
        snprintf(same, sizeof same, "P%d\n%lld %lld\n255\n", kind, columns, rows);
        if (strcmp(same, header) == 0) {
            memcpy(f->header, header, count + 1);
            f->header_bytes = count;
            f->rows = rows;
            f->columns = columns;
            f->channels = f->grey ? 1 : 3;
            return WEFT_SUCCESS;
        }
    }
    live_ffmpeg_end(f);
    return WRONG("%s: ffmpeg has sent something else than frames", f->name);
}

weft_status live_ffmpeg_next(live_ffmpeg *f, bool *ended) {
    char header[sizeof f->header];
    const size_t count = read_header(f, header);
    *ended = count == 0;
    if (*ended) {
        const int status = await_end(f);
        return status == 0 ? WEFT_SUCCESS : complain(f, status, "ffmpeg has failed");
    }
    if (f->header_bytes == 0) return take_header(f, header, count);
    if (count == f->header_bytes && memcmp(header, f->header, count) == 0) return WEFT_SUCCESS;
    live_ffmpeg_end(f);
    return WRONG("%s: ffmpeg has sent a frame of another size", f->name);
}

weft_status live_ffmpeg_pixels(live_ffmpeg *f, unsigned char *pixels) {
    const size_t count = (size_t)(f->rows * f->columns * f->channels);
    if (live_program_read(&f->program, f->stop, pixels, count) == count) return WEFT_SUCCESS;
    return complain(f, await_end(f), "ffmpeg has ended in the middle of a frame");
}

void live_ffmpeg_end(live_ffmpeg *f) {
    if (f->program.pid != 0) live_program_end(&f->program, f->stop, 0);
}
