/* The report of a composition. */
#include "compose/compose.h"

#include "exec/explain.h"

static json_t *integers(const int64_t *values, int count) {
    json_t *array = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(array, json_integer(values[i]));
    return array;
}

static json_t *describe_copy(const weft_leg *leg) {
    const int rank = leg->problem.rank;
    return json_pack("{s:b, s:b, s:o, s:o, s:o, s:o}", "embeds", leg->copy.embeds, "frequencies",
                     leg->copy.frequencies, "n", integers(leg->copy.n, rank), "most",
                     integers(leg->copy.most, rank), "lo", integers(leg->copy.lo, rank), "step",
                     integers(leg->copy.step, rank));
}

static json_t *describe_plan(const weft_leg *leg) {
    weft_memory memory;
    weft_plan_own_memory(leg->plan, &memory);
    memory.total = memory.workspace + memory.page_locked + memory.tables;
    return weft_explain_plan(leg->plan, &memory);
}

json_t *weft_composition_explain(weft_plan plan, const weft_memory *memory) {
    const weft_composed *c = plan->composition;
    if (c->legs == 1) return weft_explain_plan(plan, memory);
    json_t *parts = json_array();
    for (int i = 0; i < c->legs; i++) {
        const weft_leg *leg = &c->leg[i];
        json_t *part = json_pack("{s:i, s:i}", "first_stage", leg->first, "last_stage", leg->last);
        if (leg->copies) {
            json_object_set_new(part, "copy", describe_copy(leg));
        } else {
            json_object_set_new(part, "direction",
                                json_string(weft_direction_name(leg->purpose.direction)));
            json_object_set_new(part, "plan", describe_plan(leg));
        }
        json_array_append_new(parts, part);
    }
    return json_pack("{s:s, s:i, s:o, s:o}", "weft", WEFT_VERSION, "rank", plan->transport->rank,
                     "memory", weft_explain_memory(memory), "parts", parts);
}
