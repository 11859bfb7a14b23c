/* Planes of arrays are read when they are wanted, so a volume may be larger than memory. */
#include "source.h"

#include "filter/image.h"
#include "support/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct live_source {
    const char *name;
    image picture;     /* of pictures */
    live_video *video; /* of videos */
    weft_array *array; /* of arrays */
    weft_array_info info;
    double least, most; /* values that are black and white */
    int axis;           /* which plane is in `plane`; -1: none */
    int64_t index;
    float *plane;
};

static bool is_volume(const live_source *s) {
    return s->array != NULL && s->info.rank == 3;
}

/* ---- arrays ---- */

/* The box of a plane; its rows and columns. */
static weft_box plane_box(const live_source *s, int axis, int64_t index, int64_t extents[2]) {
    weft_box box = {{0}, {0}};
    int kept = 0;
    for (int a = 0; a < s->info.rank; a++) {
        const bool across = is_volume(s) && a == axis;
        box.lo[a] = across ? index : 0;
        box.n[a] = across ? 1 : s->info.n[a];
        if (!across) extents[kept++] = s->info.n[a];
    }
    return box;
}

static weft_status read_values(live_source *s, int axis, int64_t index, int64_t extents[2]) {
    const weft_box box = plane_box(s, axis, index, extents);
    float *values = realloc(s->plane, (size_t)(extents[0] * extents[1]) * sizeof *values);
    if (values == NULL)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "%s: no memory for a plane", s->name);
    s->plane = values;
    s->axis = -1;
    return weft_array_read(s->array, &box, WEFT_ELEMENT_F4, values);
}

/* The least and the greatest value of the whole array, plane by plane. */
static weft_status find_range(live_source *s) {
    const int64_t planes = is_volume(s) ? s->info.n[0] : 1;
    double least = INFINITY, most = -INFINITY;
    for (int64_t p = 0; p < planes; p++) {
        int64_t extents[2];
        WEFT_TRY(read_values(s, 0, p, extents));
        for (int64_t i = 0; i < extents[0] * extents[1]; i++) {
            if (!isfinite(s->plane[i])) continue;
            least = fmin(least, (double)s->plane[i]);
            most = fmax(most, (double)s->plane[i]);
        }
    }
    s->least = isfinite(least) ? least : 0;
    s->most = most > s->least ? most : s->least + 1;
    return WEFT_SUCCESS;
}

static weft_status open_array(live_source *s, const char *path, const weft_array_info *raw,
                              double memory) {
    WEFT_TRY(weft_array_open(MPI_COMM_SELF, path, raw, &s->array));
    s->info = *weft_array_describe(s->array);
    if ((s->info.rank != 2 && s->info.rank != 3) || weft_element_complex(s->info.element))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s: give a picture, or a real array of 2 or 3 axes", path);
    for (int axis = 0; axis < 3; axis++) {
        int64_t extents[2];
        plane_box(s, axis, 0, extents);
        const double pixels = (double)extents[0] * (double)extents[1];
        if (pixels > INT32_MAX || pixels * 8 * sizeof(float) > memory)
            return weft_fail(WEFT_ERROR_UNSUPPORTED, "%s: its planes are too large to be shown",
                             path);
    }
    if (s->info.element != WEFT_ELEMENT_U8) return find_range(s);
    s->most = 255;
    return WEFT_SUCCESS;
}

/* ---- the interface ---- */

weft_status live_source_open(const char *path, const weft_array_info *raw, double memory,
                             live_source **opened) {
    live_source *s = calloc(1, sizeof *s);
    if (s == NULL) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory to open %s", path);
    s->name = path;
    s->axis = -1;
    weft_status status = image_is_named(path) ? image_read(path, memory, &s->picture)
                                              : open_array(s, path, raw, memory);
    *opened = s;
    if (status != WEFT_SUCCESS) live_source_close(opened);
    return status;
}

weft_status live_source_open_video(const char *name, double memory, live_source **opened) {
    live_source *s = calloc(1, sizeof *s);
    if (s == NULL) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory to open %s", name);
    s->name = name;
    *opened = s;
    const weft_status status = live_video_open(name, memory, &s->video);
    if (status != WEFT_SUCCESS) live_source_close(opened);
    return status;
}

live_video *live_source_video(const live_source *source) {
    return source->video;
}

void live_source_close(live_source **closed) {
    live_source *s = *closed;
    if (s == NULL) return;
    weft_array_close(&s->array);
    image_destroy(&s->picture);
    live_video_close(&s->video);
    free(s->plane);
    free(s);
    *closed = NULL;
}

int live_source_axes(const live_source *source, int64_t n[3]) {
    for (int a = 0; a < 3; a++) n[a] = is_volume(source) ? source->info.n[a] : 1;
    return is_volume(source) ? 3 : 0;
}

void live_source_range(const live_source *source, double *least, double *most) {
    *least = source->least;
    *most = source->most;
}

static weft_status array_plane(live_source *s, int axis, int64_t index, live_plane *plane) {
    int64_t extents[2];
    plane_box(s, axis, index, extents);
    if (s->axis != axis || s->index != index) {
        WEFT_TRY(read_values(s, axis, index, extents));
        const double scale = 255 / (s->most - s->least);
        for (int64_t i = 0; i < extents[0] * extents[1]; i++)
            s->plane[i] =
                isfinite(s->plane[i]) ? (float)(((double)s->plane[i] - s->least) * scale) : 0;
        s->axis = axis;
        s->index = index;
    }
    *plane = (live_plane){.rows = extents[0],
                          .columns = extents[1],
                          .channels = 1,
                          .storage = WEFT_STORAGE_FLOAT,
                          .white = 255,
                          .samples = s->plane};
    return WEFT_SUCCESS;
}

weft_status live_source_plane(live_source *source, int axis, int64_t index, live_plane *plane) {
    int64_t n[3];
    live_source_axes(source, n);
    if (axis < 0 || axis > 2 || index < 0 || index >= n[axis])
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "there is no plane %lld across axis %d",
                         (long long)index, axis);
    if (source->array != NULL) return array_plane(source, axis, index, plane);
    const image *picture =
        source->video != NULL ? live_video_frame(source->video) : &source->picture;
    *plane = (live_plane){.rows = picture->rows,
                          .columns = picture->columns,
                          .channels = picture->channels,
                          .storage = picture->bytes == 1 ? WEFT_STORAGE_U8 : WEFT_STORAGE_U16,
                          .white = picture->bytes == 1 ? 255 : 65535,
                          .samples = picture->samples};
    return WEFT_SUCCESS;
}
