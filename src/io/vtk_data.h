/*
 * Arrays in VTK's files: what one is, and where and how its elements lie in the file. Files of both
 * formats, legacy (.vtk) and XML (.vti), are described by this, and read by one stream.
 *
 * Elements are stored with x fastest, and the numbers of one element with several components one
 * behind the other. So the array is column-major: its axes are x, y, z, after one of components
 * where there are several.
 */
#ifndef WEFT_IO_VTK_DATA_H
#define WEFT_IO_VTK_DATA_H

#include "io/array.h"

typedef enum weft_vtk_type {
    WEFT_VTK_U8 = 0,
    WEFT_VTK_I8,
    WEFT_VTK_U16,
    WEFT_VTK_I16,
    WEFT_VTK_U32,
    WEFT_VTK_I32,
    WEFT_VTK_U64,
    WEFT_VTK_I64,
    WEFT_VTK_F4,
    WEFT_VTK_F8,
    WEFT_VTK_TYPES /* one that weft does not read */
} weft_vtk_type;

/* The type that a file calls so, in either format. */
weft_vtk_type weft_vtk_type_find(const char *name);
size_t weft_vtk_type_bytes(weft_vtk_type type);
/* What its numbers become: themselves, or the next larger type that weft has, or else i32. */
weft_element weft_vtk_type_element(weft_vtk_type type);
/* Whether they are as they are in memory, but for the order of their bytes. */
bool weft_vtk_type_native(weft_vtk_type type);
/* Converts numbers of the file; false where one does not fit the element. */
bool weft_vtk_type_convert(weft_vtk_type type, bool swapped, const void *from, int64_t count,
                           void *to);

typedef enum weft_vtk_encoding {
    WEFT_VTK_RAW = 0,
    WEFT_VTK_ASCII,
    WEFT_VTK_BASE64
} weft_vtk_encoding;

/* Without pointers, so that ranks can send it. */
typedef struct weft_vtk_data {
    weft_vtk_type type;
    weft_vtk_encoding encoding;
    bool swapped;     /* the other byte order */
    bool compressed;  /* by zlib, in blocks */
    int header_bytes; /* of each number of the header before raw or base64 elements; 0: there is no
                         header */
    int64_t offset, end; /* bytes of the file that it lies between */
    weft_array_info info;
} weft_vtk_data;

/* Fails with the sentence that a file is malformed. */
weft_status weft_vtk_malformed(const char *path, const char *format, const char *what);

/* Fills the shape from extents along x, y, z and components; fails where it cannot be one. */
weft_status weft_vtk_shape(const char *path, const int64_t n[3], int64_t components,
                           weft_vtk_data *data);

/* The search for one array among those of a file: the only one, or that of a name. */
typedef struct weft_vtk_choice {
    const char *path;
    const char *wanted; /* its name, or NULL */
    int seen;           /* arrays so far */
    bool chosen;
    char names[256]; /* of those, cut where there are many */
    weft_vtk_data data;
} weft_vtk_choice;

/* Looks at one array; whether it is the one, as far as is known now. Its data may then be completed
 * in choice->data. */
bool weft_vtk_offer(weft_vtk_choice *choice, const char *name, const weft_vtk_data *data);
/* Fails with a sentence where none was chosen, or it cannot be read. */
weft_status weft_vtk_conclude(const weft_vtk_choice *choice);

/* Find the array in an open file, by the choice's name, and describe it in choice->data. */
weft_status weft_vtk_parse_legacy(int fd, int64_t file_bytes, weft_vtk_choice *choice);
weft_status weft_vtk_parse_xml(int fd, int64_t file_bytes, weft_vtk_choice *choice);

#endif
