/* Lines over several ranks: what they can be, their two factors, their boxes. */
#include "plan/line.h"

#include "support/axis.h"
#include "support/error.h"

static weft_status refuse(const char *what, int ranks) {
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "%s: a 1-D transform runs on one process with that, not on %d; use a context "
                     "of one, or leave it out",
                     what, ranks);
}

weft_status weft_line_check(const weft_problem *p, const weft_options *o, bool bricks, bool matrix,
                            int ranks) {
    if (!weft_axis_is_fourier(p->axis[0])) return refuse("problem.axis[0] cosine or sine", ranks);
    if (p->truncate_to[0] != p->n[0]) return refuse("problem.truncate_to", ranks);
    if (bricks) return refuse("problem.input and output", ranks);
    if (matrix) return refuse("a matrix in problem.spectral", ranks);
    if (p->fields > 1 && p->fields_fastest) return refuse("problem.fields_fastest", ranks);
    if (o->keep_spectrum) return refuse("options.keep_spectrum", ranks);
    if (o->engine == WEFT_ENGINE_IDENTITY) return refuse("options.engine identity", ranks);
    return WEFT_SUCCESS;
}

void weft_line_factor(int64_t points, int64_t *n1, int64_t *n2) {
    int64_t largest = 1;
    for (int64_t d = 2; d <= points / d; d++)
        if (points % d == 0) largest = d;
    *n1 = largest;
    *n2 = points / largest;
}

int64_t weft_line_rows(const weft_line *line, int64_t n1, int64_t n2) {
    return line->real ? line->points / 2 / n1 + 1 : n2;
}

int64_t weft_line_extent(const weft_line *line, weft_space space) {
    if (space != WEFT_OUTPUT)
        return line->stored[space == WEFT_INPUT ? WEFT_FORWARD : WEFT_INVERSE];
    return line->real ? line->points / 2 + 1 : line->points;
}

weft_box weft_line_box(const weft_line *line, const weft_region *region, weft_space space) {
    const int row = space == WEFT_OUTPUT ? 1 : 0; /* the axis whose indices are rows */
    const int64_t row_points = region->n[1 - row], all = weft_line_extent(line, space);
    weft_box box = {{0}, {1, 1, 1, 1, 1, 1, 1, 1}};
    box.n[0] = region->n[row] * row_points;
    if (space == WEFT_OUTPUT && line->scattered) return box;
    box.lo[0] = region->lo[row] * row_points;
    if (box.n[0] > 0 && box.n[0] > all - box.lo[0]) box.n[0] = all - box.lo[0];
    return box;
}
