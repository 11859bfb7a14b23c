/*
 * The file of weft convolve --octree: the field's shape, and for each rank the octree around its
 * box and, where that is cut into sub-domains, the one around the middle one of them. A line for
 * each cell: there may be millions, so they are written as they come.
 */
#include "octree.h"

#include "io/temporary.h"
#include "support/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct octree_file {
    weft_convolution convolution;
    const weft_convolution_problem *problem;
    FILE *stream;
} octree_file;

static void put_numbers(FILE *stream, const int64_t *values, int count) {
    for (int a = 0; a < count; a++) fprintf(stream, "%s%" PRId64, a == 0 ? "[" : ", ", values[a]);
    fputc(']', stream);
}

/* One octree: around the points of `box`, which are sub-domain `number` of a rank, or all it has.
 */
static weft_status put_tree(const octree_file *file, int rank, int64_t number,
                            const weft_box *box) {
    const int axes = file->problem->rank;
    const weft_octree_cell *cells;
    int64_t count;
    WEFT_TRY(weft_convolution_cells(file->convolution, rank, number, &cells, &count));
    fprintf(file->stream, "{\"rank\": %d, \"subdomain\": ", rank);
    if (number < 0)
        fputs("null", file->stream);
    else
        fprintf(file->stream, "%" PRId64, number);
    fputs(", \"lo\": ", file->stream);
    put_numbers(file->stream, box->lo, axes);
    fputs(", \"n\": ", file->stream);
    put_numbers(file->stream, box->n, axes);
    fputs(", \"cells\": [", file->stream);
    for (int64_t i = 0; i < count; i++)
        fprintf(file->stream,
                "%s\n[%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 "]",
                i > 0 ? "," : "", cells[i].lo[0], cells[i].lo[1], cells[i].lo[2], cells[i].edge,
                cells[i].step);
    fputs("]}", file->stream);
    return WEFT_SUCCESS;
}

/* The middle one of the sub-domains into which a box is cut, and its number; false where the box is
 * one. The last ones may reach beyond the box. */
static bool find_middle(const weft_convolution_problem *p, const weft_box *box, int64_t *number,
                        weft_box *middle) {
    bool cut = false;
    *number = 0;
    *middle = *box;
    for (int a = 0; a < p->rank; a++) {
        const int64_t edge =
            p->subdomain > 0 && p->subdomain < box->n[a] ? p->subdomain : box->n[a];
        const int64_t count = edge > 0 ? (box->n[a] + edge - 1) / edge : 0;
        *number = *number * count + count / 2;
        middle->lo[a] = box->lo[a] + count / 2 * edge;
        middle->n[a] = edge;
        if (count == 0) return false;
        cut = cut || count > 1;
    }
    return cut;
}

static weft_status put_trees(const octree_file *file, int ranks) {
    for (int r = 0; r < ranks; r++) {
        weft_box box, middle;
        int64_t number;
        WEFT_TRY(weft_plan_box(file->convolution, WEFT_INPUT, r, &box));
        fputs(r > 0 ? ",\n" : "\n", file->stream);
        WEFT_TRY(put_tree(file, r, -1, &box));
        if (!find_middle(file->problem, &box, &number, &middle)) continue;
        fputs(",\n", file->stream);
        WEFT_TRY(put_tree(file, r, number, &middle));
    }
    return WEFT_SUCCESS;
}

static weft_status put_all(const octree_file *file, int ranks) {
    fprintf(file->stream,
            "{\"weft\": \"%s\", \"command\": \"convolve\", \"shape\": ", weft_version());
    put_numbers(file->stream, file->problem->n, file->problem->rank);
    fputs(",\n\"cell\": [\"x\", \"y\", \"z\", \"edge\", \"step\"],\n\"octrees\": [", file->stream);
    WEFT_TRY(put_trees(file, ranks));
    fputs("\n]}\n", file->stream);
    return WEFT_SUCCESS;
}

weft_status octree_write(weft_convolution convolution, const weft_convolution_problem *problem,
                         int ranks, const char *path) {
    char *target = NULL, *temporary = NULL;
    int lock = -1;
    octree_file file = {.convolution = convolution, .problem = problem};
    weft_status status = weft_temporary_create(path, &target, &temporary, &lock);
    if (status == WEFT_SUCCESS) {
        bool right = (file.stream = fopen(temporary, "w")) != NULL;
        if (right) {
            status = put_all(&file, ranks);
            right = ferror(file.stream) == 0;
            right = fclose(file.stream) == 0 && right;
        }
        if (status == WEFT_SUCCESS && !right)
            status = weft_fail(WEFT_ERROR_SYSTEM, "%s: writing failed: %s", path, strerror(errno));
        if (status == WEFT_SUCCESS) status = weft_temporary_publish(temporary, target);
        if (status != WEFT_SUCCESS) unlink(temporary);
    }
    weft_temporary_release(&lock);
    free(temporary);
    free(target);
    return status;
}
