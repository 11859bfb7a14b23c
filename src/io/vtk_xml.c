/*
 * The XML format of VTK, of which ImageData with one piece: finds the array, without decoding it.
 * Expat reads the file up to the raw bytes that may be appended, which are no XML.
 */
#include "io/vtk_data.h"
#include "io/vtk_reader.h"
#include "support/error.h"

#include <errno.h>
#include <expat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct xml {
    XML_Parser parser;
    weft_vtk_choice *choice;
    weft_status status;
    int header_bytes;
    bool swapped, compressed;
    bool in_data;   /* in CellData or PointData */
    bool in_points; /* in PointData */
    int64_t whole[6], piece[6];
    int pieces;
    bool content;  /* in the element that has the chosen array */
    bool appended; /* the chosen array is appended */
    int64_t base;  /* where appended arrays begin, behind the underscore; -1: nowhere yet */
    weft_vtk_encoding appended_as;
} xml;

/* Ends the parsing with a sentence. */
static void fail(xml *x, weft_status status) {
    if (x->status == WEFT_SUCCESS) x->status = status;
    XML_StopParser(x->parser, XML_FALSE);
}

static void malformed(xml *x, const char *what) {
    if (x->status != WEFT_SUCCESS) return;
    fail(x, weft_vtk_malformed(x->choice->path, ".vti", what));
}

static const char *attribute(const XML_Char **attributes, const char *name) {
    for (; *attributes != NULL; attributes += 2)
        if (strcmp(attributes[0], name) == 0) return attributes[1];
    return NULL;
}

static bool is(const char *text, const char *expected) {
    return text != NULL && strcmp(text, expected) == 0;
}

/* A whole number between limits that nothing overflows at; moves *text behind it. */
static bool take_number(const char **text, int64_t *number) {
    char *end;
    errno = 0;
    *number = strtoll(*text, &end, 10);
    if (end == *text || errno != 0 || *number > INT64_C(1) << 48 || *number < -(INT64_C(1) << 48))
        return false;
    *text = end;
    return true;
}

static bool take_extent(const char *text, int64_t extent[6]) {
    if (text == NULL) return false;
    for (int i = 0; i < 6; i++)
        if (!take_number(&text, &extent[i])) return false;
    return extent[1] >= extent[0] && extent[3] >= extent[2] && extent[5] >= extent[4];
}

/* ---- elements ---- */

static void begin_file(xml *x, const XML_Char **attributes) {
    const char *header = attribute(attributes, "header_type");
    const char *compressor = attribute(attributes, "compressor");
    if (!is(attribute(attributes, "type"), "ImageData")) {
        malformed(x, "its type is not ImageData");
        return;
    }
    x->swapped = is(attribute(attributes, "byte_order"), "BigEndian");
    x->header_bytes = is(header, "UInt64") ? 8 : 4;
    if (header != NULL && !is(header, "UInt32") && !is(header, "UInt64"))
        malformed(x, "its header_type is neither UInt32 nor UInt64");
    x->compressed = compressor != NULL && compressor[0] != '\0';
    if (x->compressed && !is(compressor, "vtkZLibDataCompressor"))
        malformed(x, "its compressor is not zlib");
}

static void begin_piece(xml *x, const XML_Char **attributes) {
    if (!take_extent(attribute(attributes, "Extent"), x->piece))
        malformed(x, "the Extent of its Piece is not six numbers that ascend");
    else if (++x->pieces > 1 || memcmp(x->piece, x->whole, sizeof x->whole) != 0)
        malformed(x, "it has not one Piece with all of WholeExtent");
}

/* Where the content of the present element begins. */
static int64_t content_offset(const xml *x) {
    return (int64_t)XML_GetCurrentByteIndex(x->parser) + XML_GetCurrentByteCount(x->parser);
}

/* What is to be known of an array before one knows where it ends. */
static bool describe(xml *x, const XML_Char **attributes, weft_vtk_data *data) {
    const char *type = attribute(attributes, "type"), *format = attribute(attributes, "format");
    const char *count = attribute(attributes, "NumberOfComponents");
    int64_t components = 1, n[3];
    *data = (weft_vtk_data){.type = type != NULL ? weft_vtk_type_find(type) : WEFT_VTK_TYPES,
                            .swapped = x->swapped,
                            .compressed = x->compressed,
                            .header_bytes = x->header_bytes,
                            .encoding = WEFT_VTK_BASE64};
    if (is(format, "ascii"))
        data->encoding = WEFT_VTK_ASCII;
    else if (!is(format, "binary") && !is(format, "appended"))
        malformed(x, "the format of an array is neither ascii nor binary nor appended");
    if (count != NULL && (!take_number(&count, &components) || components < 1))
        malformed(x, "the NumberOfComponents of an array is not a number of at least 1");
    for (int a = 0; a < 3; a++) {
        n[a] = x->piece[2 * a + 1] - x->piece[2 * a];
        if (x->in_points || n[a] == 0) n[a]++;
    }
    if (x->status == WEFT_SUCCESS) {
        weft_status status = weft_vtk_shape(x->choice->path, n, components, data);
        if (status != WEFT_SUCCESS) fail(x, status);
    }
    return x->status == WEFT_SUCCESS;
}

static void begin_array(xml *x, const XML_Char **attributes) {
    const char *name = attribute(attributes, "Name"), *offset = attribute(attributes, "offset");
    weft_vtk_data data;
    if (x->pieces == 0) malformed(x, "an array lies outside its Piece");
    if (!describe(x, attributes, &data)) return;
    const bool appended = is(attribute(attributes, "format"), "appended");
    if (appended && (offset == NULL || !take_number(&offset, &data.offset) || data.offset < 0)) {
        malformed(x, "an appended array has no offset");
        return;
    }
    if (!appended) data.offset = content_offset(x);
    if (data.encoding == WEFT_VTK_ASCII) data.swapped = data.compressed = false;
    if (data.encoding == WEFT_VTK_ASCII) data.header_bytes = 0;
    if (!weft_vtk_offer(x->choice, name != NULL ? name : "", &data)) return;
    x->appended = appended;
    x->content = !appended;
}

/* Raw bytes may follow, which are no XML. */
static void begin_appended(xml *x, const XML_Char **attributes) {
    const char *encoding = attribute(attributes, "encoding");
    x->base = content_offset(x);
    x->appended_as = is(encoding, "raw") ? WEFT_VTK_RAW : WEFT_VTK_BASE64;
    if (!is(encoding, "raw") && !is(encoding, "base64"))
        malformed(x, "the encoding of its AppendedData is neither raw nor base64");
    else
        XML_StopParser(x->parser, XML_FALSE);
}

static void XMLCALL begin_element(void *user, const XML_Char *name, const XML_Char **attributes) {
    xml *x = user;
    if (is(name, "VTKFile")) {
        begin_file(x, attributes);
    } else if (x->header_bytes == 0) {
        malformed(x, "it does not begin with a VTKFile");
    } else if (is(name, "ImageData")) {
        if (!take_extent(attribute(attributes, "WholeExtent"), x->whole))
            malformed(x, "its WholeExtent is not six numbers that ascend");
    } else if (is(name, "Piece")) {
        begin_piece(x, attributes);
    } else if (is(name, "CellData") || is(name, "PointData")) {
        x->in_data = true;
        x->in_points = is(name, "PointData");
    } else if (is(name, "DataArray") && x->in_data) {
        begin_array(x, attributes);
    } else if (is(name, "AppendedData")) {
        begin_appended(x, attributes);
    }
}

static void XMLCALL end_element(void *user, const XML_Char *name) {
    xml *x = user;
    if (is(name, "CellData") || is(name, "PointData")) x->in_data = false;
    if (!x->content || !is(name, "DataArray")) return;
    x->content = false;
    x->choice->data.end = (int64_t)XML_GetCurrentByteIndex(x->parser);
}

/* Nothing that VTK writes has one, and entities could make much of little. */
static void XMLCALL begin_doctype(void *user, const XML_Char *name, const XML_Char *system,
                                  const XML_Char *public, int subset) {
    (void)name, (void)system, (void)public, (void)subset;
    malformed(user, "it has a DOCTYPE");
}

/* ---- the file ---- */

static weft_status feed(xml *x, weft_vtk_reader *reader) {
    size_t count;
    do {
        void *buffer = XML_GetBuffer(x->parser, sizeof reader->buffer);
        if (buffer == NULL)
            return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "%s: no memory to open it", reader->path);
        count = weft_vtk_reader_read(reader, buffer, sizeof reader->buffer);
        WEFT_TRY(reader->status);
        const enum XML_Status parsed = XML_ParseBuffer(x->parser, (int)count, count == 0);
        WEFT_TRY(x->status);
        if (x->base >= 0) return WEFT_SUCCESS; /* the rest is appended */
        if (parsed != XML_STATUS_OK)
            return weft_vtk_malformed(reader->path, ".vti",
                                      XML_ErrorString(XML_GetErrorCode(x->parser)));
    } while (count > 0);
    return WEFT_SUCCESS;
}

/* Finds the underscore from which offsets of appended arrays count. */
static weft_status place_appended(xml *x, weft_vtk_reader *reader, int64_t file_bytes) {
    weft_vtk_data *data = &x->choice->data;
    int byte = 0;
    if (x->base >= 0) {
        weft_vtk_reader_seek(reader, x->base);
        do byte = weft_vtk_reader_get(reader);
        while (byte == ' ' || (byte >= '\t' && byte <= '\r'));
        WEFT_TRY(reader->status);
    }
    const int64_t first = weft_vtk_reader_tell(reader);
    if (byte != '_' || data->offset > file_bytes - first)
        return weft_vtk_malformed(reader->path, ".vti", "its array is not in AppendedData");
    data->encoding = x->appended_as;
    data->offset += first;
    data->end = file_bytes;
    return WEFT_SUCCESS;
}

static weft_status parse(xml *x, weft_vtk_reader *reader, int64_t file_bytes) {
    XML_SetUserData(x->parser, x);
    XML_SetElementHandler(x->parser, begin_element, end_element);
    XML_SetStartDoctypeDeclHandler(x->parser, begin_doctype);
    WEFT_TRY(feed(x, reader));
    WEFT_TRY(weft_vtk_conclude(x->choice));
    return x->appended ? place_appended(x, reader, file_bytes) : WEFT_SUCCESS;
}

weft_status weft_vtk_parse_xml(int fd, int64_t file_bytes, weft_vtk_choice *choice) {
    xml x = {.parser = XML_ParserCreate(NULL), .choice = choice, .base = -1};
    weft_vtk_reader *reader = malloc(sizeof *reader);
    weft_status status =
        weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "%s: no memory to open it", choice->path);
    if (x.parser != NULL && reader != NULL) {
        weft_vtk_reader_begin(reader, fd, choice->path, 0, file_bytes);
        status = parse(&x, reader, file_bytes);
    }
    if (x.parser != NULL) XML_ParserFree(x.parser);
    free(reader);
    return status;
}
