/*
 * Three layers: bytes of the file; what they encode (themselves, or base64); and what that is (the
 * elements, or blocks that zlib has compressed). Text is read by itself.
 *
 * The header of raw or base64 elements is their size in bytes. That of compressed ones is the
 * number of blocks, the size of a block, the size of the last one (0: as the others), and the
 * compressed size of each; then the blocks follow (vtkXMLWriter.cxx, vtkXMLDataParser.cxx). In
 * base64 the header may end in padding before the elements begin, so padding may be anywhere.
 */
#include "io/vtk_stream.h"

#include "io/vtk_reader.h"
#include "support/checked.h"
#include "support/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    CHUNK = 4096,        /* elements converted at a time */
    MOST_INFLATED = 1100 /* zlib makes at most 1032 bytes of one, and a few more of few */
};

struct weft_vtk_stream {
    const weft_vtk_data *data;
    weft_vtk_reader reader;
    unsigned char quad[3]; /* decoded base64 that has not been taken */
    int quad_next, quad_filled;
    int64_t blocks, block; /* compressed: how many, and the next one */
    int64_t block_bytes, last_bytes;
    uint64_t *compressed_bytes;           /* of each block */
    unsigned char *compressed, *inflated; /* the block that is taken from now */
    size_t inflated_next, inflated_filled;
};

static weft_status malformed(const weft_vtk_stream *s, const char *what) {
    if (s->reader.status != WEFT_SUCCESS) return s->reader.status; /* it could not be read */
    return weft_vtk_malformed(s->reader.path, "VTK", what);
}

static weft_status ended(const weft_vtk_stream *s) {
    return malformed(s, "its array ends before its last element");
}

/* ---- base64 ---- */

static int digit_of(int byte) {
    if (byte >= 'A' && byte <= 'Z') return byte - 'A';
    if (byte >= 'a' && byte <= 'z') return byte - 'a' + 26;
    if (byte >= '0' && byte <= '9') return byte - '0' + 52;
    return byte == '+' ? 62 : byte == '/' ? 63 : -1;
}

/* Decodes four characters, of which the last may be padding; false at the end or where there is
 * something else. */
static bool fill_quad(weft_vtk_stream *s) {
    unsigned bits = 0;
    int digits = 0, padding = 0;
    while (digits + padding < 4) {
        const int byte = weft_vtk_reader_get(&s->reader), digit = digit_of(byte);
        if (byte == ' ' || (byte >= '\t' && byte <= '\r')) continue;
        if (digit < 0 && byte != '=') return false;
        if (digit >= 0 && padding > 0) return false;
        padding += digit < 0;
        digits += digit >= 0;
        bits = bits << 6 | (unsigned)(digit >= 0 ? digit : 0);
    }
    if (padding > 2) return false;
    for (int i = 0; i < 3; i++) s->quad[i] = (unsigned char)(bits >> (16 - 8 * i));
    s->quad_next = 0;
    s->quad_filled = 3 - padding;
    return true;
}

/* Takes decoded bytes, and drops them where `to` is NULL. */
static bool take_base64(weft_vtk_stream *s, unsigned char *to, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        if (s->quad_next == s->quad_filled && !fill_quad(s)) return false;
        const unsigned char byte = s->quad[s->quad_next++];
        if (to != NULL) to[i] = byte;
    }
    return true;
}

static bool take_encoded(weft_vtk_stream *s, unsigned char *to, int64_t count) {
    if (s->data->encoding == WEFT_VTK_BASE64) return take_base64(s, to, count);
    if (to != NULL) return weft_vtk_reader_read(&s->reader, to, (size_t)count) == (size_t)count;
    const int64_t at = weft_vtk_reader_tell(&s->reader);
    if (count > s->reader.end - at) return false;
    weft_vtk_reader_seek(&s->reader, at + count);
    return true;
}

/* ---- headers ---- */

static bool take_header_number(weft_vtk_stream *s, int64_t *number) {
    unsigned char bytes[8];
    const int count = s->data->header_bytes;
    uint64_t value = 0;
    if (!take_encoded(s, bytes, count)) return false;
    for (int i = 0; i < count; i++)
        value = value << 8 | bytes[s->data->swapped ? i : count - 1 - i];
    *number = value > INT64_MAX ? INT64_MAX : (int64_t)value;
    return true;
}

/* Bytes of all elements, as they are before compression. */
static int64_t stored_bytes(const weft_vtk_data *data) {
    int64_t elements = 0;
    weft_array_elements(&data->info, &elements);
    return elements * (int64_t)weft_vtk_type_bytes(data->type);
}

static int64_t bytes_of_block(const weft_vtk_stream *s, int64_t block) {
    return block < s->blocks - 1 ? s->block_bytes : s->last_bytes;
}

/* The compressed sizes are bounded by those of the file, and the others by these: a header alone
 * cannot ask for much memory. */
static weft_status begin_blocks(weft_vtk_stream *s) {
    static const char wrong[] = "the header of its compressed array does not fit its shape";
    const int64_t all = stored_bytes(s->data),
                  room = s->reader.end - s->reader.at + (int64_t)s->reader.filled;
    int64_t full = 0, largest = 0;
    if (!take_header_number(s, &s->blocks) || !take_header_number(s, &s->block_bytes) ||
        !take_header_number(s, &s->last_bytes))
        return ended(s);
    if (s->last_bytes == 0) s->last_bytes = s->block_bytes;
    if (s->blocks < 1 || s->block_bytes < 1 || s->last_bytes > s->block_bytes ||
        s->blocks > room / s->data->header_bytes ||
        !weft_checked_multiply(s->blocks - 1, s->block_bytes, &full) || full != all - s->last_bytes)
        return malformed(s, wrong);
    s->compressed_bytes = malloc((size_t)s->blocks * sizeof *s->compressed_bytes);
    if (s->compressed_bytes == NULL)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "%s: no memory to read it", s->reader.path);
    for (int64_t b = 0; b < s->blocks; b++) {
        int64_t bytes = 0;
        if (!take_header_number(s, &bytes)) return ended(s);
        if (bytes < 1 || bytes > room || bytes_of_block(s, b) / MOST_INFLATED > bytes)
            return malformed(s, wrong);
        s->compressed_bytes[b] = (uint64_t)bytes;
        if (bytes > largest) largest = bytes;
    }
    s->compressed = malloc((size_t)largest);
    s->inflated = malloc((size_t)bytes_of_block(s, 0)); /* the last one may be alone */
    if (s->compressed == NULL || s->inflated == NULL)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "%s: no memory to read it", s->reader.path);
    return WEFT_SUCCESS;
}

static weft_status take_header(weft_vtk_stream *s) {
    int64_t bytes = 0;
    if (s->data->header_bytes == 0) return WEFT_SUCCESS;
    if (s->data->compressed) return begin_blocks(s);
    if (!take_header_number(s, &bytes)) return ended(s);
    if (bytes == stored_bytes(s->data)) return WEFT_SUCCESS;
    return malformed(s, "the size before its array does not fit its shape");
}

weft_status weft_vtk_stream_begin(int fd, const char *path, const weft_vtk_data *data,
                                  weft_vtk_stream **stream) {
    weft_vtk_stream *s = calloc(1, sizeof *s);
    if (s == NULL) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "%s: no memory to read it", path);
    s->data = data;
    weft_vtk_reader_begin(&s->reader, fd, path, data->offset, data->end);
    weft_status status = take_header(s);
    if (status == WEFT_SUCCESS)
        *stream = s;
    else
        weft_vtk_stream_end(&s);
    return status;
}

void weft_vtk_stream_end(weft_vtk_stream **stream) {
    weft_vtk_stream *s = *stream;
    if (s == NULL) return;
    free(s->compressed_bytes);
    free(s->compressed);
    free(s->inflated);
    free(s);
    *stream = NULL;
}

/* ---- bytes of elements ---- */

static weft_status inflate_block(weft_vtk_stream *s) {
    const uint64_t bytes = s->compressed_bytes[s->block];
    uLongf inflated = (uLongf)bytes_of_block(s, s->block);
    if (!take_encoded(s, s->compressed, (int64_t)bytes)) return ended(s);
    if (uncompress(s->inflated, &inflated, s->compressed, (uLong)bytes) != Z_OK ||
        inflated != (uLongf)bytes_of_block(s, s->block))
        return malformed(s, "zlib cannot decompress a block of its array");
    s->block++;
    s->inflated_next = 0;
    s->inflated_filled = inflated;
    return WEFT_SUCCESS;
}

/* Of compressed arrays; drops the bytes where `to` is NULL, and leaves out blocks where it can. */
static weft_status take_inflated(weft_vtk_stream *s, unsigned char *to, int64_t count) {
    while (count > 0) {
        const int64_t ready = (int64_t)(s->inflated_filled - s->inflated_next);
        const int64_t part = ready < count ? ready : count;
        if (part == 0 && s->block == s->blocks) return ended(s);
        if (part == 0 && to == NULL && count >= bytes_of_block(s, s->block)) {
            if (!take_encoded(s, NULL, (int64_t)s->compressed_bytes[s->block])) return ended(s);
            count -= bytes_of_block(s, s->block++);
            continue;
        }
        if (part == 0) {
            WEFT_TRY(inflate_block(s));
            continue;
        }
        if (to != NULL) memcpy(to, s->inflated + s->inflated_next, (size_t)part);
        if (to != NULL) to += part;
        s->inflated_next += (size_t)part;
        count -= part;
    }
    return WEFT_SUCCESS;
}

static weft_status take_bytes(weft_vtk_stream *s, unsigned char *to, int64_t count) {
    if (s->data->compressed) return take_inflated(s, to, count);
    return take_encoded(s, to, count) ? WEFT_SUCCESS : ended(s);
}

/* ---- text ---- */

/* A number as the file's type has it; false where it is none, or does not fit. */
static bool parse_number(const weft_vtk_data *data, const char *word, unsigned char *bytes) {
    char *end;
    errno = 0;
    if (data->type == WEFT_VTK_F4 || data->type == WEFT_VTK_F8) {
        const double value = strtod(word, &end);
        const float single = (float)value;
        if (data->type == WEFT_VTK_F8)
            memcpy(bytes, &value, sizeof value);
        else
            memcpy(bytes, &single, sizeof single);
        return *end == '\0';
    }
    const bool is_unsigned = data->type == WEFT_VTK_U8 || data->type == WEFT_VTK_U16 ||
                             data->type == WEFT_VTK_U32 || data->type == WEFT_VTK_U64;
    const int64_t value = strtoll(word, &end, 10);
    const size_t size = weft_vtk_type_bytes(data->type);
    const int64_t most = size == 8 ? INT64_MAX : (INT64_C(1) << (8 * size - !is_unsigned)) - 1;
    if (*end != '\0' || errno != 0 || value > most || value < (is_unsigned ? 0 : -most - 1))
        return false;
    memcpy(bytes, &value, size); /* this machine: little-endian */
    return true;
}

static weft_status take_text(weft_vtk_stream *s, unsigned char *to, int64_t count) {
    char word[64];
    const size_t size = weft_vtk_type_bytes(s->data->type);
    for (int64_t i = 0; i < count; i++) {
        if (weft_vtk_reader_word(&s->reader, word, sizeof word) == 0) return ended(s);
        if (to == NULL) continue;
        if (!parse_number(s->data, word, to + (size_t)i * size))
            return malformed(s, "an element is not a number of the array's type");
    }
    return WEFT_SUCCESS;
}

/* ---- elements ---- */

weft_status weft_vtk_stream_skip(weft_vtk_stream *stream, int64_t count) {
    if (stream->data->encoding == WEFT_VTK_ASCII) return take_text(stream, NULL, count);
    return take_bytes(stream, NULL, count * (int64_t)weft_vtk_type_bytes(stream->data->type));
}

weft_status weft_vtk_stream_read(weft_vtk_stream *stream, int64_t count, void *elements) {
    const weft_vtk_data *data = stream->data;
    const size_t size = weft_vtk_type_bytes(data->type);
    unsigned char bytes[512 * 8];
    char *to = elements;
    for (int64_t done = 0; done < count; done += 512) {
        const int64_t part = count - done < 512 ? count - done : 512;
        WEFT_TRY(data->encoding == WEFT_VTK_ASCII
                     ? take_text(stream, bytes, part)
                     : take_bytes(stream, bytes, part * (int64_t)size));
        if (!weft_vtk_type_convert(data->type, data->swapped, bytes, part, to))
            return weft_fail(WEFT_ERROR_UNSUPPORTED,
                             "%s: an element is beyond 32 bits, which weft's integers have; write "
                             "it as floating-point numbers",
                             stream->reader.path);
        to += (size_t)part * weft_element_bytes(data->info.element);
    }
    return WEFT_SUCCESS;
}

/* A row along the fastest axis, whose elements are `stride` apart in memory. */
static weft_status read_row(weft_vtk_stream *s, int64_t count, weft_element wanted, char *memory,
                            int64_t stride) {
    const weft_conversion conversion = {s->data->info.element, wanted, false};
    const size_t size = weft_element_bytes(wanted);
    double elements[CHUNK]; /* no element is larger */
    for (int64_t done = 0; done < count; done += CHUNK) {
        const int64_t part = count - done < CHUNK ? count - done : CHUNK;
        WEFT_TRY(weft_vtk_stream_read(s, part, elements));
        weft_convert(&conversion, elements, 1, memory + (size_t)(done * stride) * size, stride,
                     part);
    }
    return WEFT_SUCCESS;
}

weft_status weft_vtk_stream_box(weft_vtk_stream *stream, const weft_box *box, weft_element wanted,
                                void *memory) {
    const weft_array_info *info = &stream->data->info;
    int64_t index[WEFT_MAX_RANK] = {0}, stride[WEFT_MAX_RANK], position = 0;
    const int rank = info->rank;
    for (int a = rank - 1, next = 1; a >= 0; a--, next = 0)
        stride[a] = next ? 1 : stride[a + 1] * box->n[a + 1];
    for (int a = 0; a < rank; a++)
        if (box->n[a] == 0) return WEFT_SUCCESS;
    for (;;) {
        int64_t first = 0, to = 0;
        for (int a = rank - 1; a >= 0; a--) {
            first = first * info->n[a] + box->lo[a] + index[a];
            to += index[a] * stride[a];
        }
        WEFT_TRY(weft_vtk_stream_skip(stream, first - position));
        WEFT_TRY(read_row(stream, box->n[0], wanted,
                          (char *)memory + (size_t)to * weft_element_bytes(wanted), stride[0]));
        position = first + box->n[0];
        int a = 1;
        while (a < rank && ++index[a] == box->n[a]) index[a++] = 0;
        if (a >= rank) return WEFT_SUCCESS;
    }
}
