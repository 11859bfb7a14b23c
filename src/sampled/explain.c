/* The report of a convolution by samples. */
#include "sampled/sampled.h"

#include "exec/explain.h"

static json_t *integers(const int64_t *values, int from, int count) {
    json_t *array = json_array();
    for (int i = from; i < count; i++) json_array_append_new(array, json_integer(values[i]));
    return array;
}

int64_t weft_exact_bytes(weft_plan plan) {
    int64_t bytes = 0;
    for (weft_plan p = plan; p; p = weft_plan_next(plan, p)) {
        const weft_schedule *s = &p->build->schedule[weft_schedule_index(WEFT_CONVOLVE, false)];
        for (int i = 0; i < s->steps; i++)
            if (s->step[i].kind == WEFT_STEP_EXCHANGE) bytes += s->step[i].bytes_sent;
    }
    return bytes;
}

static json_t *describe_levels(const weft_tree *tree, int first) {
    json_t *levels = json_array();
    for (int i = 0; i < tree->levels; i++) {
        const weft_tree_level *l = &tree->level[i];
        json_array_append_new(levels, json_pack("{s:o, s:I, s:o}", "stride",
                                                integers(l->stride, first, WEFT_TREE_AXES), "reach",
                                                (json_int_t)l->reach, "points",
                                                integers(l->n, first, WEFT_TREE_AXES)));
    }
    return levels;
}

json_t *weft_sampled_explain(weft_plan plan) {
    const weft_sampled *s = plan->outlined.state;
    const int first = WEFT_TREE_AXES - s->convolved->problem.rank;
    const size_t number = weft_number_bytes(s->convolved->problem.precision);
    const int64_t batch = s->convolved->problem.batch > 0 ? s->convolved->problem.batch : 1;
    const int64_t bytes = s->messages.packets.sent * (int64_t)number * batch;
    const bool some = s->count[0] > 0;
    return json_pack("{s:s, s:s, s:f, s:f, s:i, s:o, s:o, s:o, s:I, s:I, s:I, s:I}", "pattern",
                     s->sampling.fixed ? "fixed" : "graded", "device",
                     weft_device_name(s->sampling.device), "opening", s->sampling.opening, "error",
                     s->sampling.error, "interpolation", s->sampling.points, "subdomain",
                     integers(s->sub.edge, first, WEFT_TREE_AXES), "subdomains",
                     integers(s->count, first, WEFT_TREE_AXES), "levels",
                     some ? describe_levels(&s->tree, first) : json_array(), "samples_outside",
                     (json_int_t)(some ? weft_tree_samples(&s->tree) : 0), "samples_of_subdomain",
                     (json_int_t)(some ? weft_tree_samples(&s->sub) : 0), "bytes_sent",
                     (json_int_t)bytes, "exact_bytes_sent", (json_int_t)weft_exact_bytes(plan));
}
