/* The buffer is filled in pieces of its size, at places that the caller chooses. */
#include "io/vtk_reader.h"

#include "io/strided.h"

#include <string.h>

void weft_vtk_reader_begin(weft_vtk_reader *r, int fd, const char *path, int64_t at, int64_t end) {
    r->fd = fd;
    r->path = path;
    r->end = end;
    r->status = WEFT_SUCCESS;
    weft_vtk_reader_seek(r, at);
}

void weft_vtk_reader_seek(weft_vtk_reader *r, int64_t at) {
    r->at = at < r->end ? at : r->end;
    r->next = r->filled = 0;
}

int64_t weft_vtk_reader_tell(const weft_vtk_reader *r) {
    return r->at - (int64_t)(r->filled - r->next);
}

/* False at the end. */
static bool fill(weft_vtk_reader *r) {
    const int64_t left = r->end - r->at;
    if (left <= 0 || r->status != WEFT_SUCCESS) return false;
    const size_t count = left < (int64_t)sizeof r->buffer ? (size_t)left : sizeof r->buffer;
    r->status = weft_file_read(r->fd, r->path, r->buffer, count, r->at);
    if (r->status != WEFT_SUCCESS) return false;
    r->at += (int64_t)count;
    r->next = 0;
    r->filled = count;
    return true;
}

int weft_vtk_reader_peek(weft_vtk_reader *r) {
    if (r->next == r->filled && !fill(r)) return -1;
    return r->buffer[r->next];
}

int weft_vtk_reader_get(weft_vtk_reader *r) {
    const int byte = weft_vtk_reader_peek(r);
    if (byte >= 0) r->next++;
    return byte;
}

size_t weft_vtk_reader_read(weft_vtk_reader *r, void *bytes, size_t count) {
    size_t done = 0;
    while (done < count && (r->next < r->filled || fill(r))) {
        const size_t ready = r->filled - r->next, left = count - done;
        const size_t part = ready < left ? ready : left;
        memcpy((char *)bytes + done, r->buffer + r->next, part);
        r->next += part;
        done += part;
    }
    return done;
}

static bool is_space(int byte) {
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

size_t weft_vtk_reader_word(weft_vtk_reader *r, char *word, size_t capacity) {
    size_t length = 0;
    int byte;
    while (is_space(weft_vtk_reader_peek(r))) weft_vtk_reader_get(r);
    while ((byte = weft_vtk_reader_peek(r)) >= 0 && !is_space(byte)) {
        if (length + 1 < capacity) word[length++] = (char)byte;
        weft_vtk_reader_get(r);
    }
    word[length] = '\0';
    return length;
}

bool weft_vtk_reader_line(weft_vtk_reader *r, char *line, size_t capacity) {
    size_t length = 0;
    int byte = weft_vtk_reader_get(r);
    const bool there = byte >= 0;
    for (; byte >= 0 && byte != '\n'; byte = weft_vtk_reader_get(r))
        if (length + 1 < capacity) line[length++] = (char)byte;
    if (length > 0 && line[length - 1] == '\r') length--;
    line[length] = '\0';
    return there;
}
