/*
 * The strided copy on devices with kernels: in bytes, as the 2-D and 3-D boxes that a library
 * copies, or as launches of the kernels of src/kernels/copy.cl.
 */
#ifndef WEFT_DEVICE_STRIDED_COPY_H
#define WEFT_DEVICE_STRIDED_COPY_H

#include "device/device.h"

typedef struct weft_byte_axis {
    int64_t n, src, dst; /* steps in bytes */
} weft_byte_axis;

/* A copy in bytes: cells that are dense on both sides, and loops over them, slowest first. */
typedef struct weft_byte_copy {
    const char *src;
    char *dst;
    int64_t cell; /* bytes */
    int axes;
    weft_byte_axis axis[WEFT_AXES];
} weft_byte_copy;

weft_byte_copy weft_byte_copy_of(const weft_copy *copy, const void *src, void *dst);

/* Whether the copy is a box: one run, rows at a pitch, or planes of such rows at a distance of
 * whole rows. No pitch may exceed `most`. */
bool weft_byte_copy_is_box(const weft_byte_copy *copy, int64_t most);

/* Calls `box` for each of the boxes that the copy consists of. */
weft_status weft_byte_copy_by_boxes(const weft_byte_copy *copy, int64_t most,
                                    weft_status (*box)(void *context, const weft_byte_copy *copy),
                                    void *context);

/* The number of those boxes, or INT64_MAX if it is larger. */
int64_t weft_byte_copy_boxes(const weft_byte_copy *copy, int64_t most);

enum { WEFT_COPY_UNITS = 5 }; /* kernels move units of 1, 2, 4, 8 and 16 bytes */

typedef enum weft_copy_kernel {
    WEFT_COPY_KERNEL_ROWS,
    WEFT_COPY_KERNEL_TILES,
    WEFT_COPY_KERNELS
} weft_copy_kernel;

/* A launch of the copy kernel for units of 2^unit bytes; its arguments are the addresses and the
 * shape (weft_copy_rows or weft_copy_tiles). */
typedef struct weft_copy_launch {
    weft_copy_kernel kernel;
    int unit;
    const void *src;
    void *dst;
    const void *shape;
    size_t shape_bytes;
    unsigned groups;
} weft_copy_launch;

/* Calls `launch` for each launch that the copy takes; more than one only beyond 2^30 units. */
weft_status weft_byte_copy_by_kernel(const weft_byte_copy *copy,
                                     weft_status (*launch)(void *context,
                                                           const weft_copy_launch *launch),
                                     void *context);

/* The source of a copy kernel for units of 2^unit bytes. All units have the same text. */
weft_kernel_source weft_copy_source(weft_copy_kernel kernel, int unit);

#endif
