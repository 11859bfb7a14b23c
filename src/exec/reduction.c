/* What reductions have remembered, of all ranks together. */
#include "exec/plan.h"

#include "plan/agreement.h"
#include "support/error.h"

#include <stdlib.h>

/* The reduction of this number, or NULL. */
static const weft_operator *find(const struct weft_plan_private *plan, int number) {
    const weft_operator *found = NULL;
    for (int i = 0; i < WEFT_PLACES && !found; i++)
        found = weft_operators_reduction(&plan->call.operators[i], number);
    return found;
}

static weft_status check(const struct weft_plan_private *plan, int number, const double *value) {
    if (number < 0 || number >= WEFT_MAX_REDUCTIONS)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "weft_plan_reduction: number is %d; it is 0 to %d", number,
                         WEFT_MAX_REDUCTIONS - 1);
    if (!find(plan, number))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "weft_plan_reduction: no operator of the plan is reduction %d; give one "
                         "with that number to problem.load, spectral or store",
                         number);
    if (!value) return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "weft_plan_reduction: value is NULL");
    for (int d = 0; d < WEFT_DIRECTIONS; d++)
        if (plan->reduced[d] >> number & 1) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                     "weft_plan_reduction: no execution has had reduction %d yet, or the last one "
                     "failed; execute the plan first",
                     number);
}

/* What this rank has found in the last execution with the reduction. */
static weft_status reduce_here(const struct weft_plan_private *plan, int number,
                               weft_reduced *reduced) {
    const weft_ready_operators *ready = &plan->build->operators;
    const weft_reduction reduction = (weft_reduction)find(plan, number)->reduction;
    *reduced = (weft_reduced){{0}};
    for (int slot = 0; slot < WEFT_OPERATOR_SLOTS; slot++) {
        weft_reduced part = {{0}};
        if (!(plan->reduced[slot / WEFT_MAX_POINTWISE_STEPS] >> number & 1)) continue;
        if (ready->pointwise[slot]) part = weft_pointwise_reduced(ready->pointwise[slot], number);
        if (ready->offload[slot])
            part = weft_operator_offload_reduced(ready->offload[slot], number);
        if (ready->pass[slot])
            WEFT_TRY(weft_operator_pass_reduced(ready->pass[slot], number, &part));
        weft_reduced_combine(reduction, &part, reduced);
    }
    return WEFT_SUCCESS;
}

/* Brings the failures of this rank alone to the agreement of all. */
static weft_status reduce(weft_plan plan, int number, double value[2]) {
    weft_transport *t = plan->transport;
    weft_reduced mine, all = {{0}};
    weft_reduced *parts = malloc((size_t)t->size * sizeof *parts);
    weft_status status = check(plan, number, value);
    if (status == WEFT_SUCCESS && !parts)
        status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for reductions");
    if (status == WEFT_SUCCESS) status = reduce_here(plan, number, &mine);
    status = weft_agree_on(t, status, "weft_plan_reduction the number", number);
    if (status == WEFT_SUCCESS)
        status = weft_agree(t, t->ops->gather_all(t, &mine, sizeof mine, parts));
    if (status == WEFT_SUCCESS) {
        const weft_reduction reduction = (weft_reduction)find(plan, number)->reduction;
        for (int r = 0; r < t->size; r++) weft_reduced_combine(reduction, &parts[r], &all);
        weft_reduced_value(reduction, &all, value);
    }
    free(parts);
    return status;
}

WEFT_API weft_status weft_plan_reduction(weft_plan plan, int number, double value[2]) {
    if (!plan) return weft_plan_check(plan, NULL, "weft_plan_reduction", "");
    weft_plan having = plan; /* of a composition's plans */
    while (having && !find(having, number)) having = weft_plan_next(plan, having);
    return weft_context_note(plan->context, reduce(having ? having : plan, number, value));
}
