/* The report of a convolution by levels. */
#include "multilevel/multilevel.h"
#include "sampled/sampled.h"

#include "exec/explain.h"

static json_t *integers(const int64_t *values, int from) {
    json_t *array = json_array();
    for (int i = from; i < WEFT_LATTICE_AXES; i++)
        json_array_append_new(array, json_integer(values[i]));
    return array;
}

/* What this rank sends on a level in one execution. */
static int64_t bytes_of(const weft_multilevel *m, const weft_level *l) {
    const weft_convolution_problem *p = &m->convolved->problem;
    return l->gathering.packets.sent * (int64_t)weft_number_bytes(p->precision) *
           (p->batch > 0 ? p->batch : 1);
}

json_t *weft_multilevel_explain(weft_plan plan) {
    const weft_multilevel *m = plan->outlined.state;
    const int first = WEFT_LATTICE_AXES - m->convolved->problem.rank;
    int64_t bytes = 0;
    json_t *levels = json_array();
    for (int i = 0; i <= m->splitting.levels; i++) {
        const weft_level *l = &m->level[i];
        bytes += bytes_of(m, l);
        json_array_append_new(
            levels, json_pack("{s:o, s:o, s:o, s:I}", "lattice", integers(l->period, first), "made",
                              integers(l->tiles.made.n, first), "tile", integers(l->tiles.n, first),
                              "bytes_sent", (json_int_t)bytes_of(m, l)));
    }
    return json_pack("{s:i, s:i, s:f, s:o, s:I, s:I}", "radius", m->splitting.radius,
                     "interpolation", m->splitting.span + 1, "error", m->splitting.error, "levels",
                     levels, "bytes_sent", (json_int_t)bytes, "exact_bytes_sent",
                     (json_int_t)weft_exact_bytes(plan));
}
