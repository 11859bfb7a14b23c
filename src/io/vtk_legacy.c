/*
 * The legacy format of VTK, of which STRUCTURED_POINTS: lines of text in a fixed order, then
 * arrays one behind the other, as text or as big-endian numbers. It is described in "The VTK
 * User's Guide", chapter "VTK File Formats". Arrays are SCALARS, VECTORS, NORMALS, TENSORS, and
 * those of a FIELD. Everything else is refused: headers come from strangers.
 */
#include "io/vtk_data.h"
#include "io/vtk_reader.h"
#include "support/checked.h"
#include "support/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { WORD = 256 };

typedef struct legacy {
    weft_vtk_reader *reader;
    weft_vtk_choice *choice;
    bool binary;
    int64_t points[3];
    int64_t n[3];  /* of the cells or points that arrays are of now */
    int64_t count; /* of those; 0: no arrays yet */
} legacy;

static weft_status malformed(const legacy *l, const char *what) {
    if (l->reader->status != WEFT_SUCCESS) return l->reader->status; /* it could not be read */
    return weft_vtk_malformed(l->choice->path, "legacy VTK", what);
}

static bool take_word(legacy *l, char word[WORD]) {
    return weft_vtk_reader_word(l->reader, word, WORD) > 0;
}

/* Digits alone. */
static bool parse_number(const char *word, int64_t *number) {
    int64_t value = 0;
    if (*word == '\0') return false;
    for (; *word != '\0'; word++)
        if (*word < '0' || *word > '9' || !weft_checked_multiply(value, 10, &value) ||
            !weft_checked_add(value, *word - '0', &value))
            return false;
    *number = value;
    return true;
}

static bool take_number(legacy *l, int64_t *number) {
    char word[WORD];
    return take_word(l, word) && parse_number(word, number);
}

static bool skip_words(legacy *l, int64_t count) {
    char word[WORD];
    for (int64_t i = 0; i < count; i++)
        if (!take_word(l, word)) return false;
    return true;
}

static weft_status take_dimensions(legacy *l) {
    for (int a = 0; a < 3; a++)
        if (!take_number(l, &l->points[a]) || l->points[a] < 1)
            return malformed(l, "DIMENSIONS are not three numbers of at least 1");
    return WEFT_SUCCESS;
}

/* What CELL_DATA and POINT_DATA say. */
static weft_status take_count(legacy *l, bool cells) {
    int64_t said = 0, product = 1;
    if (l->points[0] == 0) return malformed(l, "its arrays begin before DIMENSIONS");
    for (int a = 0; a < 3; a++) {
        l->n[a] = cells && l->points[a] > 1 ? l->points[a] - 1 : l->points[a];
        if (!weft_checked_multiply(product, l->n[a], &product))
            return malformed(l, "its DIMENSIONS overflow 64 bits");
    }
    if (!take_number(l, &said) || said != product)
        return malformed(l, cells ? "the number behind CELL_DATA is not that of its cells, which "
                                    "are one fewer than DIMENSIONS along each axis"
                                  : "the number behind POINT_DATA is not that of its DIMENSIONS");
    l->count = product;
    return WEFT_SUCCESS;
}

/* Offers the array that begins on the next line, and skips it. */
static weft_status take_elements(legacy *l, const char *name, const char *type, int64_t components,
                                 int64_t tuples) {
    int64_t numbers = 0, bytes = 0, end = 0;
    int byte;
    weft_vtk_data data = {.type = weft_vtk_type_find(type),
                          .encoding = l->binary ? WEFT_VTK_RAW : WEFT_VTK_ASCII,
                          .swapped = l->binary};
    while ((byte = weft_vtk_reader_get(l->reader)) == ' ' || byte == '\t' || byte == '\r') {
    }
    if (byte != '\n') return malformed(l, "an array does not begin on a line of its own");
    data.offset = weft_vtk_reader_tell(l->reader);
    data.end = l->reader->end;
    if (data.type == WEFT_VTK_TYPES)
        return malformed(l, "it has an array of a type that weft does "
                            "not know");
    const bool shaped = tuples == l->count && l->count > 0;
    if (shaped) WEFT_TRY(weft_vtk_shape(l->choice->path, l->n, components, &data));
    if (!weft_checked_multiply(components, tuples, &numbers) ||
        !weft_checked_multiply(numbers, (int64_t)weft_vtk_type_bytes(data.type), &bytes) ||
        !weft_checked_add(data.offset, bytes, &end))
        return malformed(l, "an array's size overflows 64 bits");
    /* Of an array by its name nothing behind it is looked at. */
    if (shaped && weft_vtk_offer(l->choice, name, &data) && l->choice->wanted != NULL)
        return WEFT_SUCCESS;
    if (l->binary && end > l->reader->end) return malformed(l, "it ends within an array");
    if (l->binary) weft_vtk_reader_seek(l->reader, end);
    if (!l->binary && !skip_words(l, numbers)) return malformed(l, "it ends within an array");
    return WEFT_SUCCESS;
}

/* SCALARS name type [components], then LOOKUP_TABLE name. */
static weft_status take_scalars(legacy *l) {
    char name[WORD], type[WORD], word[WORD], line[WORD];
    int64_t components = 1;
    if (!take_word(l, name) || !take_word(l, type) ||
        !weft_vtk_reader_line(l->reader, line, sizeof line))
        return malformed(l, "SCALARS lack a name or a type");
    if (sscanf(line, "%255s", word) == 1 && (!parse_number(word, &components) || components < 1))
        return malformed(l, "SCALARS do not have a number of components");
    if (!take_word(l, word) || strcasecmp(word, "LOOKUP_TABLE") != 0 || !take_word(l, word))
        return malformed(l, "SCALARS are not followed by a line LOOKUP_TABLE");
    return take_elements(l, name, type, components, l->count);
}

static weft_status take_vectors(legacy *l, int64_t components) {
    char name[WORD], type[WORD];
    if (!take_word(l, name) || !take_word(l, type))
        return malformed(l, "an array lacks a name or a type");
    return take_elements(l, name, type, components, l->count);
}

/* COLOR_SCALARS name components: what VTK makes of numbers of 8 bits that are the SCALARS of a
 * file. */
static weft_status take_colors(legacy *l) {
    char name[WORD];
    int64_t components = 0;
    if (!take_word(l, name) || !take_number(l, &components) || components < 1)
        return malformed(l, "COLOR_SCALARS lack a name or a number of components");
    if (l->binary) return take_elements(l, name, "unsigned_char", components, l->count);
    return malformed(l, "its COLOR_SCALARS are text, which has fractions of 255 in place of the "
                        "numbers; it must be BINARY, or have SCALARS");
}

/* LOOKUP_TABLE name size, then a colour of four numbers for each entry. */
static weft_status skip_colors(legacy *l) {
    char name[WORD], line[WORD];
    int64_t size = 0, end = 0;
    if (!take_word(l, name) || !take_number(l, &size) || !weft_checked_multiply(size, 4, &size))
        return malformed(l, "a LOOKUP_TABLE lacks a name or a size");
    if (!l->binary)
        return skip_words(l, size) ? WEFT_SUCCESS : malformed(l, "it ends within a LOOKUP_TABLE");
    weft_vtk_reader_line(l->reader, line, sizeof line);
    if (!weft_checked_add(weft_vtk_reader_tell(l->reader), size, &end) || end > l->reader->end)
        return malformed(l, "it ends within a LOOKUP_TABLE");
    weft_vtk_reader_seek(l->reader, end);
    return WEFT_SUCCESS;
}

/* METADATA and what follows up to an empty line. */
static void skip_metadata(legacy *l) {
    char line[WORD];
    weft_vtk_reader_line(l->reader, line, sizeof line);
    while (weft_vtk_reader_line(l->reader, line, sizeof line) && line[0] != '\0') {
    }
}

/* FIELD name n, then n times: name components tuples type. */
static weft_status take_field(legacy *l) {
    char name[WORD], type[WORD];
    int64_t arrays = 0, components = 0, tuples = 0;
    if (!take_word(l, name) || !take_number(l, &arrays))
        return malformed(l, "FIELD lacks a name or the number of its arrays");
    for (int64_t i = 0; i < arrays; i++) {
        if (l->choice->chosen && l->choice->wanted != NULL) return WEFT_SUCCESS;
        if (!take_word(l, name)) return malformed(l, "it ends within a FIELD");
        if (strcmp(name, "METADATA") == 0) {
            skip_metadata(l);
            if (!take_word(l, name)) return malformed(l, "it ends within a FIELD");
        }
        if (!take_number(l, &components) || components < 1 || !take_number(l, &tuples) ||
            !take_word(l, type))
            return malformed(l, "an array of a FIELD lacks components, tuples or type");
        WEFT_TRY(take_elements(l, name, type, components, tuples));
    }
    return WEFT_SUCCESS;
}

static weft_status take_part(legacy *l, const char *keyword) {
    static const struct {
        const char *keyword;
        int64_t components;
    } vectors[] = {{"VECTORS", 3}, {"NORMALS", 3}, {"TENSORS", 9}, {"TENSORS6", 6}};
    if (strcasecmp(keyword, "DIMENSIONS") == 0) return take_dimensions(l);
    if (strcasecmp(keyword, "ORIGIN") == 0 || strcasecmp(keyword, "SPACING") == 0 ||
        strcasecmp(keyword, "ASPECT_RATIO") == 0)
        return skip_words(l, 3) ? WEFT_SUCCESS : malformed(l, "it ends within its header");
    if (strcasecmp(keyword, "CELL_DATA") == 0) return take_count(l, true);
    if (strcasecmp(keyword, "POINT_DATA") == 0) return take_count(l, false);
    if (strcasecmp(keyword, "FIELD") == 0) return take_field(l);
    if (strcasecmp(keyword, "METADATA") == 0) {
        skip_metadata(l);
        return WEFT_SUCCESS;
    }
    if (l->count == 0) return malformed(l, "its header has a line that weft does not know");
    if (strcasecmp(keyword, "SCALARS") == 0) return take_scalars(l);
    if (strcasecmp(keyword, "COLOR_SCALARS") == 0) return take_colors(l);
    if (strcasecmp(keyword, "LOOKUP_TABLE") == 0) return skip_colors(l);
    for (size_t v = 0; v < sizeof vectors / sizeof *vectors; v++)
        if (strcasecmp(keyword, vectors[v].keyword) == 0)
            return take_vectors(l, vectors[v].components);
    return malformed(l, "it has something else than SCALARS, VECTORS, NORMALS, TENSORS and FIELD, "
                        "or an array is longer than it says");
}

static weft_status take_beginning(legacy *l) {
    char line[WORD], word[WORD];
    if (!weft_vtk_reader_line(l->reader, line, sizeof line) ||
        strncasecmp(line, "# vtk DataFile Version ", 23) != 0)
        return malformed(l, "it does not begin with # vtk DataFile Version");
    if (!weft_vtk_reader_line(l->reader, line, sizeof line)) return malformed(l, "it is empty");
    if (!take_word(l, word) || (strcasecmp(word, "ASCII") != 0 && strcasecmp(word, "BINARY") != 0))
        return malformed(l, "its third line is neither ASCII nor BINARY");
    l->binary = strcasecmp(word, "BINARY") == 0;
    if (!take_word(l, word) || strcasecmp(word, "DATASET") != 0 || !take_word(l, word) ||
        strcasecmp(word, "STRUCTURED_POINTS") != 0)
        return malformed(l, "its DATASET is not STRUCTURED_POINTS");
    return WEFT_SUCCESS;
}

static weft_status parse(legacy *l) {
    char keyword[WORD];
    WEFT_TRY(take_beginning(l));
    while (!(l->choice->chosen && l->choice->wanted != NULL) && take_word(l, keyword))
        WEFT_TRY(take_part(l, keyword));
    WEFT_TRY(l->reader->status);
    return weft_vtk_conclude(l->choice);
}

weft_status weft_vtk_parse_legacy(int fd, int64_t file_bytes, weft_vtk_choice *choice) {
    legacy l = {.reader = malloc(sizeof *l.reader), .choice = choice};
    if (l.reader == NULL)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "%s: no memory to open it", choice->path);
    weft_vtk_reader_begin(l.reader, fd, choice->path, 0, file_bytes);
    weft_status status = parse(&l);
    free(l.reader);
    return status;
}
