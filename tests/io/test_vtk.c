/* ranks: 1 3 */
/* VTK's files: every type in every encoding is read by several ranks, each its box; what is
 * malformed, cut or hostile is refused in one sentence. */
#include "io/array.h"
#include "shared_folder.h"
#include "support/error.h"
#include "vtk_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <zlib.h>

#include <cmocka.h>

enum { NX = 5, NY = 4, NZ = 6, ELEMENTS = NX * NY * NZ };

static const struct {
    const char *xml, *legacy;
    int bytes;
    bool has_sign, floats;
} types[] = {
    {"UInt8", "unsigned_char", 1, false, false},   {"Int8", "char", 1, true, false},
    {"UInt16", "unsigned_short", 2, false, false}, {"Int16", "short", 2, true, false},
    {"UInt32", "unsigned_int", 4, false, false},   {"Int32", "int", 4, true, false},
    {"UInt64", "vtktypeuint64", 8, false, false},  {"Int64", "vtktypeint64", 8, true, false},
    {"Float32", "float", 4, true, true},           {"Float64", "double", 8, true, true},
};
enum { TYPES = sizeof types / sizeof *types };

/* The number at an index, which every type has. */
static int number_at(int type, int x, int y, int z) {
    return (x * NY + y) * NZ + z - (types[type].has_sign ? 60 : 0);
}

/* ---- files ---- */

typedef struct text {
    unsigned char bytes[16 << 10];
    size_t count;
} text;

static void put(text *t, const void *bytes, size_t count) {
    assert_true(t->count + count <= sizeof t->bytes);
    memcpy(t->bytes + t->count, bytes, count);
    t->count += count;
}

static void say(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(text *t, const char *format, ...) {
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    const int count = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    put(t, line, (size_t)count);
}

static void put_number(text *t, const void *number, int bytes, bool swapped) {
    for (int i = 0; i < bytes; i++) put(t, (const char *)number + (swapped ? bytes - 1 - i : i), 1);
}

static void put_base64(text *t, const unsigned char *bytes, size_t count) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < count; i += 3) {
        unsigned bits = 0;
        for (size_t k = 0; k < 3; k++) bits = bits << 8 | (i + k < count ? bytes[i + k] : 0);
        for (size_t k = 0; k < 4; k++)
            put(t, i + k > count ? "=" : &digits[bits >> (18 - 6 * k) & 63], 1);
    }
}

/* The elements in the order of the file. */
static void put_elements(text *t, int type, bool swapped) {
    for (int i = 0; i < ELEMENTS; i++) {
        const int64_t whole = number_at(type, i % NX, i / NX % NY, i / NX / NY);
        const double real = (double)whole;
        const float single = (float)whole;
        const void *number = !types[type].floats      ? (const void *)&whole
                             : types[type].bytes == 4 ? (const void *)&single
                                                      : (const void *)&real;
        put_number(t, number, types[type].bytes, swapped);
    }
}

static void put_words(text *t, int type) {
    for (int i = 0; i < ELEMENTS; i++)
        say(t, "%d%s", number_at(type, i % NX, i / NX % NY, i / NX / NY),
            i % 9 == 8                    ? "\n"
            : types[type].floats && i % 2 ? ".0 "
                                          : " ");
    say(t, "\n");
}

typedef struct xml_way {
    const char *format, *encoding; /* appended: raw or base64 */
    int header;                    /* bytes of its numbers */
    bool compressed, swapped;
    bool together; /* base64: the size and the elements without padding between, as some write */
} xml_way;

/* Header and elements, encoded. */
static void put_encoded(text *t, const xml_way *way, int type) {
    enum { BLOCK = 96 };
    static text elements, header, blocks;
    elements.count = header.count = blocks.count = 0;
    put_elements(&elements, type, way->swapped);
    if (way->compressed) {
        const int64_t all = (int64_t)elements.count, count = (all + BLOCK - 1) / BLOCK;
        const int64_t block = BLOCK, last = all % BLOCK;
        put_number(&header, &count, way->header, way->swapped);
        put_number(&header, &block, way->header, way->swapped);
        put_number(&header, &last, way->header, way->swapped);
        for (int64_t b = 0; b < count; b++) {
            unsigned char bytes[2 * BLOCK];
            uLongf room = sizeof bytes;
            const uLong part = (uLong)(all - b * BLOCK < BLOCK ? all - b * BLOCK : BLOCK);
            assert_int_equal(compress(bytes, &room, elements.bytes + b * BLOCK, part), Z_OK);
            const int64_t size = (int64_t)room;
            put_number(&header, &size, way->header, way->swapped);
            put(&blocks, bytes, room);
        }
    } else {
        const int64_t size = (int64_t)elements.count;
        put_number(&header, &size, way->header, way->swapped);
        put(&blocks, elements.bytes, elements.count);
    }
    if (way->encoding != NULL && strcmp(way->encoding, "raw") == 0) {
        put(t, header.bytes, header.count);
        put(t, blocks.bytes, blocks.count);
    } else if (way->together) {
        put(&header, blocks.bytes, blocks.count);
        put_base64(t, header.bytes, header.count);
    } else {
        put_base64(t, header.bytes, header.count);
        put_base64(t, blocks.bytes, blocks.count);
    }
}

static void put_xml(text *t, const xml_way *way, int type) {
    say(t,
        "<?xml version=\"1.0\"?>\n<!-- a comment -->\n<VTKFile type=\"ImageData\" version=\"1.0\"");
    say(t, " byte_order=\"%sEndian\"", way->swapped ? "Big" : "Little");
    if (way->header > 0) say(t, " header_type=\"UInt%d\"", 8 * way->header);
    if (way->compressed) say(t, " compressor=\"vtkZLibDataCompressor\"");
    say(t, ">\n<ImageData WholeExtent=\"0 5 0 4 2 8\" Origin=\"0 0 0\" Spacing=\"1 1 1\">\n");
    say(t, "<FieldData><DataArray type=\"Float64\" Name=\"time\" format=\"ascii\">1</DataArray>");
    say(t, "</FieldData>\n<Piece Extent=\"0 5 0 4 2 8\"><PointData/><CellData>\n");
    say(t, "<DataArray type=\"%s\" Name=\"material\" format=\"%s\"", types[type].xml, way->format);
    if (way->encoding != NULL) {
        say(t,
            " offset=\"3\"/>\n</CellData></Piece></ImageData>\n<AppendedData encoding=\"%s\">\n _",
            way->encoding);
        say(t, "xyz");
        put_encoded(t, way, type);
        say(t, "\n</AppendedData>\n</VTKFile>\n");
        return;
    }
    say(t, ">\n  ");
    if (strcmp(way->format, "ascii") == 0)
        put_words(t, type);
    else
        put_encoded(t, way, type);
    say(t, "\n</DataArray></CellData></Piece></ImageData></VTKFile>\n");
}

static void put_legacy(text *t, bool binary, int type) {
    say(t, "# vtk DataFile Version 4.5\nMateriau\n%s\nDATASET STRUCTURED_POINTS\n",
        binary ? "BINARY" : "ASCII");
    say(t, "DIMENSIONS    6   5   7\nORIGIN    0.000   0.000   0.000\nSPACING 1 1 1\n");
    say(t, "CELL_DATA %d\nSCALARS MaterialId %s\nLOOKUP_TABLE default\n", ELEMENTS,
        types[type].legacy);
    if (binary)
        put_elements(t, type, true);
    else
        put_words(t, type);
    say(t, "\n");
}

/* ---- reading ---- */

static void write_file(const char *name, const text *t) {
    char path[160];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (rank == 0) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        assert_int_equal(fwrite(t->bytes, 1, t->count, file), t->count);
        assert_int_equal(fclose(file), 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void check_file(const char *name, int type) {
    char path[160];
    weft_array *array = NULL;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (weft_array_open(MPI_COMM_WORLD, path, NULL, &array) != WEFT_SUCCESS)
        fail_msg("%s: %s", types[type].xml, weft_thread_error());
    const weft_array_info *info = weft_array_describe(array);
    assert_int_equal(info->rank, 3);
    assert_int_equal(info->n[0] * 100 + info->n[1] * 10 + info->n[2], NX * 100 + NY * 10 + NZ);
    for (int axis = 0; axis < 3; axis++) {
        weft_box box = {{0}, {NX, NY, NZ}};
        const int64_t each = (box.n[axis] + ranks - 1) / ranks, lo = each * rank;
        box.lo[axis] = lo < box.n[axis] ? lo : box.n[axis];
        box.n[axis] = box.n[axis] - box.lo[axis] < each ? box.n[axis] - box.lo[axis] : each;
        double values[ELEMENTS];
        if (weft_array_read(array, &box, WEFT_ELEMENT_F8, values) != WEFT_SUCCESS)
            fail_msg("%s: %s", types[type].xml, weft_thread_error());
        const double *value = values;
        for (int64_t x = box.lo[0]; x < box.lo[0] + box.n[0]; x++)
            for (int64_t y = box.lo[1]; y < box.lo[1] + box.n[1]; y++)
                for (int64_t z = box.lo[2]; z < box.lo[2] + box.n[2]; z++)
                    assert_true(*value++ == number_at(type, (int)x, (int)y, (int)z));
    }
    weft_array_close(&array);
}

static void legacy_files_of_every_type_are_read(void **state) {
    (void)state;
    static text t;
    for (int type = 0; type < TYPES; type++) {
        for (int binary = 0; binary < 2; binary++) {
            t.count = 0;
            put_legacy(&t, binary, type);
            write_file("array.vtk", &t);
            check_file("array.vtk", type);
        }
    }
}

#ifdef WEFT_HAVE_EXPAT
static void xml_files_of_every_type_and_encoding_are_read(void **state) {
    (void)state;
    static const xml_way ways[] = {
        {"ascii", NULL, 0, false, false, false},
        {"binary", NULL, 4, false, false, false},
        {"binary", NULL, 4, true, false, false},
        {"binary", NULL, 8, true, true, false},
        {"binary", NULL, 8, false, false, true},
        {"appended", "raw", 4, false, false, false},
        {"appended", "raw", 8, false, true, false},
        {"appended", "raw", 8, true, false, false},
        {"appended", "base64", 8, false, false, false},
        {"appended", "base64", 4, true, false, false},
    };
    static text t;
    for (int type = 0; type < TYPES; type++) {
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
            t.count = 0;
            put_xml(&t, &ways[w], type);
            write_file("array.vti", &t);
            check_file("array.vti", type);
        }
    }
}
#endif

/* ---- what is refused ---- */

static void expect_refusal(vtk_parser parse, const char *wanted, const void *bytes, size_t count,
                           const char *words) {
    weft_thread_error_set("");
    weft_status status = vtk_read_text(parse, wanted, bytes, count);
    if (status == WEFT_SUCCESS) fail_msg("accepted: %.*s", (int)count, (const char *)bytes);
    assert_true(status == WEFT_ERROR_INVALID_ARGUMENT || status == WEFT_ERROR_UNSUPPORTED);
    assert_ptr_equal(strstr(weft_thread_error(), "FILE: "), weft_thread_error());
    assert_null(strchr(weft_thread_error(), '\n'));
    if (strstr(weft_thread_error(), words) == NULL) fail_msg("%s: %s", words, weft_thread_error());
}

#define HEAD "# vtk DataFile Version 3.0\ntitle\nASCII\nDATASET STRUCTURED_POINTS\n"
#define CELLS HEAD "DIMENSIONS 3 2 2\nCELL_DATA 2\n"
#define BINARY                                                                                     \
    "# vtk DataFile Version 3.0\nt\nBINARY\nDATASET STRUCTURED_POINTS\nDIMENSIONS 3 2 2\n"         \
    "CELL_DATA 2\n"

static void malformed_legacy_files_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *wanted, *words;
    } cases[] = {
        {"", NULL, "does not begin"},
        {"#", NULL, "does not begin"},
        {"# vtk DataFile Version 3.0", NULL, "empty"},
        {"# vtk DataFile Version 3.0\ntitle\nHEX\n", NULL, "neither ASCII nor BINARY"},
        {"# vtk DataFile Version 3.0\ntitle\nASCII\nDATASET UNSTRUCTURED_GRID\n", NULL,
         "STRUCTURED_POINTS"},
        {HEAD, NULL, "no array"},
        {HEAD "DIMENSIONS 3 2\n", NULL, "three numbers"},
        {HEAD "DIMENSIONS 3 0 2\n", NULL, "three numbers"},
        {HEAD "DIMENSIONS 3 -2 2\n", NULL, "three numbers"},
        {HEAD "DIMENSIONS 3 99999999999999999999 2\n", NULL, "three numbers"},
        {HEAD "ORIGIN 0 0", NULL, "ends within its header"},
        {HEAD "SCALARS a int\n", NULL, "a line that weft does not know"},
        {HEAD "CELL_DATA 2\n", NULL, "before DIMENSIONS"},
        {HEAD "DIMENSIONS 9000000000 9000000000 9000000000\nCELL_DATA 2\n", NULL, "overflow"},
        {HEAD "DIMENSIONS 3 2 2\nCELL_DATA 12\n", NULL, "number behind CELL_DATA"},
        {HEAD "DIMENSIONS 3 2 2\nPOINT_DATA 2\n", NULL, "number behind POINT_DATA"},
        {CELLS "SCALARS a\n", NULL, "lack a name or a type"},
        {CELLS "SCALARS a int 0\nLOOKUP_TABLE default\n1 2\n", NULL, "number of components"},
        {CELLS "SCALARS a int x\nLOOKUP_TABLE default\n1 2\n", NULL, "number of components"},
        {CELLS "SCALARS a int\n1 2\n", NULL, "LOOKUP_TABLE"},
        {CELLS "SCALARS a string\nLOOKUP_TABLE default\n1 2\n", NULL, "type that weft does not"},
        {CELLS "SCALARS a int\nLOOKUP_TABLE default\n1\n", NULL, "ends within an array"},
        {CELLS "SCALARS a int\nLOOKUP_TABLE default\n1\n", "a", "ends before its last element"},
        {CELLS "SCALARS a int\nLOOKUP_TABLE default\n1 2x\n", NULL, "not a number"},
        {CELLS "SCALARS a int\nLOOKUP_TABLE default\n1 2.5\n", NULL, "not a number"},
        {CELLS "SCALARS a int\nLOOKUP_TABLE default\n1 2 3\n", NULL, "longer than it says"},
        {CELLS "SCALARS a unsigned_char\nLOOKUP_TABLE default\n1 256\n", NULL, "not a number"},
        {CELLS "SCALARS a unsigned_char\nLOOKUP_TABLE default\n1 -1\n", NULL, "not a number"},
        {CELLS "SCALARS a vtktypeint64\nLOOKUP_TABLE default\n1 2147483648\n", NULL, "32 bits"},
        {CELLS "SCALARS a int\nLOOKUP_TABLE default\n1 2\n", "b", "no array b; it has a"},
        {CELLS "SCALARS a int\nLOOKUP_TABLE t\n1 2\nSCALARS b int\nLOOKUP_TABLE t\n3 4\n", NULL,
         "several arrays; add the name of one after a colon: a, b"},
        {CELLS "SCALARS a int 4611686018427387904\nLOOKUP_TABLE t\n1 2\n", NULL, "overflow"},
        {CELLS "SCALARS \x01\x02 int\nLOOKUP_TABLE t\n1 2\n", "b", "it has ??"},
        {CELLS "COLOR_SCALARS a 1\n0.1 0.2\n", NULL, "COLOR_SCALARS"},
        {CELLS "FIELD f 2\na 1 2 int\n1 2\n", NULL, "ends within a FIELD"},
        {CELLS "FIELD f 1\na 1 x int\n1 2\n", NULL, "lacks components"},
        {CELLS "LOOKUP_TABLE t 2\n1 1 1 1 0 0 0", NULL, "ends within a LOOKUP_TABLE"},
        {CELLS "LOOKUP_TABLE t 9223372036854775807\n1", NULL, "lacks a name or a size"},
        {CELLS "CELLS 3\n", NULL, "something else than SCALARS"},
        {BINARY "SCALARS a int\nLOOKUP_TABLE default\n1234567", NULL, "ends within an array"},
        {BINARY "LOOKUP_TABLE t 2\nRGBA", NULL, "ends within a LOOKUP_TABLE"},
        {CELLS "VECTORS v", NULL, "an array lacks a name or a type"},
        {CELLS "COLOR_SCALARS a 0\n", NULL, "COLOR_SCALARS lack a name or a number"},
        {CELLS "FIELD f", NULL, "FIELD lacks a name or the number"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases && rank == 0; c++)
        expect_refusal(weft_vtk_parse_legacy, cases[c].wanted, cases[c].text, strlen(cases[c].text),
                       cases[c].words);
}

static void arrays_of_a_legacy_file_are_told_by_name(void **state) {
    (void)state;
    static const char file[] =
        HEAD "FIELD FieldData 1\nTIME 1 1 double\n0.5\nDIMENSIONS 3 2 2\nPOINT_DATA 12\n"
             "scalars p float\nlookup_table default\n0 1 2 3 4 5 6 7 8 9 10 1e1\nMETADATA\n"
             "INFORMATION 0\n\nCELL_DATA 2\nLOOKUP_TABLE colors 1\n0 0 0 1\nVECTORS v double\n1 2 "
             "3 4 5 6\nFIELD f 2\n"
             "a 1 2 int\n1 -2\nMETADATA\nINFORMATION 0\n\nb 2 2 short\n1 2 3 4\n";
    static const struct {
        const char *name;
        int rank;
        int64_t first;
    } arrays[] = {{"p", 3, 3}, {"v", 4, 3}, {"a", 3, 2}, {"b", 4, 2}};
    for (int i = 0; i < 4 && rank == 0; i++) {
        weft_vtk_choice choice = {.path = "FILE", .wanted = arrays[i].name};
        const int fd = memfd_create("vtk", MFD_CLOEXEC);
        assert_int_equal(weft_file_write(fd, "FILE", file, sizeof file - 1, 0), WEFT_SUCCESS);
        assert_int_equal(weft_vtk_parse_legacy(fd, sizeof file - 1, &choice), WEFT_SUCCESS);
        assert_int_equal(choice.data.info.rank, arrays[i].rank);
        assert_int_equal(choice.data.info.n[0], arrays[i].first);
        assert_int_equal(vtk_read_all(fd, &choice.data), WEFT_SUCCESS);
        close(fd);
    }
}

/* A table of colours, of four bytes each, lies before the array. */
static void colours_of_a_binary_file_are_passed_over(void **state) {
    (void)state;
    static const char file[] =
        BINARY "LOOKUP_TABLE colours 2\nSCALARS?\nSCALARS a unsigned_char\nLOOKUP_TABLE colours\n"
               "\x05\x07";
    const int64_t bytes = sizeof file - 1;
    weft_vtk_choice choice = {.path = "FILE"};
    if (rank != 0) return;
    const int fd = memfd_create("vtk", MFD_CLOEXEC);
    assert_int_equal(weft_file_write(fd, "FILE", file, (size_t)bytes, 0), WEFT_SUCCESS);
    assert_int_equal(weft_vtk_parse_legacy(fd, bytes, &choice), WEFT_SUCCESS);
    assert_int_equal(choice.data.offset, bytes - 2);
    assert_int_equal(vtk_read_all(fd, &choice.data), WEFT_SUCCESS);
    close(fd);
}

#ifdef WEFT_HAVE_EXPAT
#define IMAGE                                                                                      \
    "<VTKFile type=\"ImageData\" header_type=\"UInt32\"><ImageData WholeExtent=\"0 2 0 1 0 1\">"   \
    "<Piece Extent=\"0 2 0 1 0 1\"><CellData>"
#define END "</CellData></Piece></ImageData></VTKFile>"
#define ZLIB                                                                                       \
    "<VTKFile type=\"ImageData\" compressor=\"vtkZLibDataCompressor\"><ImageData "                 \
    "WholeExtent=\"0 2 0 1 0 1\"><Piece Extent=\"0 2 0 1 0 1\"><CellData>"                         \
    "<DataArray type=\"UInt8\" Name=\"a\" format=\"binary\">"

static void malformed_xml_files_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *wanted, *words;
    } cases[] = {
        {"", NULL, "no element found"},
        {"<", NULL, "FILE"},
        {"<a/>", NULL, "VTKFile"},
        {"<!DOCTYPE VTKFile [<!ENTITY a \"b\">]><VTKFile/>", NULL, "DOCTYPE"},
        {"<VTKFile type=\"UnstructuredGrid\"/>", NULL, "not ImageData"},
        {"<VTKFile type=\"ImageData\" header_type=\"UInt16\"/>", NULL, "header_type"},
        {"<VTKFile type=\"ImageData\" compressor=\"vtkLZ4DataCompressor\"/>", NULL, "not zlib"},
        {"<VTKFile type=\"ImageData\"/>", NULL, "no array"},
        {"<VTKFile type=\"ImageData\"><ImageData WholeExtent=\"0 1\"/></VTKFile>", NULL, "six"},
        {"<VTKFile type=\"ImageData\"><ImageData WholeExtent=\"1 0 0 1 0 1\"/></VTKFile>", NULL,
         "ascend"},
        {"<VTKFile type=\"ImageData\"><ImageData WholeExtent=\"0 1 0 1 0 99999999999999999\"/>",
         NULL, "six"},
        {"<VTKFile type=\"ImageData\"><ImageData WholeExtent=\"0 2 0 1 0 1\"><Piece "
         "Extent=\"0 1 0 1 0 1\"/>",
         NULL, "one Piece"},
        {"<VTKFile type=\"ImageData\"><CellData><DataArray/>", NULL, "outside its Piece"},
        {IMAGE "<DataArray type=\"Int32\" Name=\"a\"/>" END, NULL, "neither ascii"},
        {IMAGE "<DataArray type=\"Int32\" format=\"appended\"/>" END, NULL, "no offset"},
        {IMAGE "<DataArray type=\"Int32\" format=\"appended\" offset=\"-1\"/>" END, NULL,
         "no offset"},
        {IMAGE "<DataArray type=\"Int32\" format=\"appended\" offset=\"0\"/>" END, NULL,
         "not in AppendedData"},
        {IMAGE "<DataArray type=\"Int32\" format=\"appended\" offset=\"99\"/></CellData></Piece>"
               "</ImageData><AppendedData encoding=\"raw\">_abcd",
         NULL, "not in AppendedData"},
        {IMAGE "<DataArray type=\"Int32\" format=\"appended\" offset=\"0\"/></CellData></Piece>"
               "</ImageData><AppendedData encoding=\"raw\">_abcd",
         NULL, "size before its array"},
        {IMAGE "<DataArray type=\"Int32\" format=\"appended\" offset=\"0\"/></CellData></Piece>"
               "</ImageData><AppendedData encoding=\"hex\">_abcd",
         NULL, "neither raw nor base64"},
        {IMAGE
         "<DataArray type=\"Int32\" format=\"ascii\" NumberOfComponents=\"0\">1 2</DataArray>" END,
         NULL, "NumberOfComponents"},
        {IMAGE "<DataArray type=\"String\" Name=\"s\" format=\"ascii\">1 2</DataArray>" END, NULL,
         "type of this array"},
        {IMAGE "<DataArray type=\"Int32\" format=\"ascii\">1</DataArray>" END, NULL, "ends before"},
        {IMAGE "<DataArray type=\"Int32\" format=\"ascii\">1 a</DataArray>" END, NULL,
         "not a number"},
        {IMAGE "<DataArray type=\"Int32\" format=\"ascii\"/>" END, NULL, "ends before"},
        {IMAGE "<DataArray type=\"UInt8\" format=\"binary\">AgAAAA==</DataArray>" END, NULL,
         "ends before"},
        {IMAGE "<DataArray type=\"UInt8\" format=\"binary\">AwAAAAEC</DataArray>" END, NULL,
         "size before its array"},
        {IMAGE "<DataArray type=\"UInt8\" format=\"binary\">Ag*AAAEC</DataArray>" END, NULL,
         "ends before"},
        {IMAGE "<DataArray type=\"UInt8\" format=\"binary\">AgAAAA==AQ</DataArray>" END, NULL,
         "ends before"},
        {IMAGE "<DataArray type=\"UInt8\" Name=\"a\" format=\"ascii\">1 2</DataArray>" END, "b",
         "no array b; it has a"},
        {IMAGE "<DataArray type=\"UInt8\" Name=\"a\" format=\"ascii\">1 2</DataArray>", NULL,
         "FILE"},
        /* No block; 2^31 blocks; a block of 2^31 bytes of 8; and one that is no stream of zlib. */
        {ZLIB "AAAAAAIAAAACAAAA</DataArray>" END, NULL, "compressed array does not fit"},
        {ZLIB "AAAAgAIAAAACAAAA</DataArray>" END, NULL, "compressed array does not fit"},
        {ZLIB "AQAAAAAAAIACAAAA////fw==AAAA</DataArray>" END, NULL,
         "compressed array does not fit"},
        {ZLIB "AQAAAAIAAAACAAAAAwAAAA==AAAA</DataArray>" END, NULL, "zlib cannot decompress"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases && rank == 0; c++)
        expect_refusal(weft_vtk_parse_xml, cases[c].wanted, cases[c].text, strlen(cases[c].text),
                       cases[c].words);
}
#endif

/* Files that end anywhere are refused, and those with any byte changed are refused or read. */
static void damaged_files_do_no_harm(void **state) {
    (void)state;
    static text t, changed;
    static const xml_way ways[] = {{"binary", NULL, 4, true, false, false},
                                   {"appended", "raw", 8, true, false, false}};
    for (int way = 0; way < 4 && rank == 0; way++) {
        vtk_parser parse = way < 2 ? weft_vtk_parse_legacy : weft_vtk_parse_xml;
        t.count = 0;
        if (way < 2)
            put_legacy(&t, way == 1, 1);
        else
            put_xml(&t, &ways[way - 2], 1);
        if (vtk_read_text(parse, NULL, t.bytes, t.count) != WEFT_SUCCESS) continue; /* no Expat */
        for (size_t i = 0; i < t.count; i += i < 700 ? 1 : 7) {
            changed = t;
            changed.bytes[i] ^= (unsigned char)(1 + i % 255);
            weft_thread_error_set("");
            if (vtk_read_text(parse, NULL, changed.bytes, changed.count) != WEFT_SUCCESS)
                assert_null(strchr(weft_thread_error(), '\n'));
            if (i + 60 < t.count) expect_refusal(parse, NULL, t.bytes, i, "");
        }
    }
}

static void files_are_not_written(void **state) {
    (void)state;
    static const char *const names[] = {"%s/new.vtk", "%s/new.vti"};
    const weft_array_info info = {.element = WEFT_ELEMENT_U8, .rank = 1, .n = {4}};
    for (int i = 0; i < 2; i++) {
        char path[160];
        weft_array *array = NULL;
        snprintf(path, sizeof path, names[i], folder);
        assert_int_equal(weft_array_create(MPI_COMM_WORLD, path, &info, NULL, &array),
                         WEFT_ERROR_UNSUPPORTED);
        assert_non_null(strstr(weft_thread_error(), "does not write them"));
        assert_int_not_equal(access(path, F_OK), 0);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(legacy_files_of_every_type_are_read),
        cmocka_unit_test(malformed_legacy_files_are_refused),
        cmocka_unit_test(colours_of_a_binary_file_are_passed_over),
        cmocka_unit_test(arrays_of_a_legacy_file_are_told_by_name),
#ifdef WEFT_HAVE_EXPAT
        cmocka_unit_test(xml_files_of_every_type_and_encoding_are_read),
        cmocka_unit_test(malformed_xml_files_are_refused),
#endif
        cmocka_unit_test(damaged_files_do_no_harm),
        cmocka_unit_test(files_are_not_written),
    };
    RUN_WITH_FOLDER(tests, argc, argv);
    return 0;
}
