/* Makes pass groups of one pass over everything; and what all kinds of pass groups have in common.
 */
#include "engine/native/pass_group_parts.h"

#include "engine/native/convolution.h"
#include "engine/native/number.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>

weft_status weft_pass_group_create_pass(const weft_pass_request *request, weft_pass_group *group,
                                        size_t *bytes) {
    memset(group, 0, sizeof *group);
    group->kernels = request->kernels;
    group->passes = 1;
    group->direct = request->out.count == 0;
    group->from[0] = WEFT_PASS_GROUP_IN;
    group->to[0] = WEFT_PASS_GROUP_OUT;
    weft_pass_request one_part = *request;
    one_part.loops = 0;
    WEFT_TRY(weft_pass_group_loop_over_parts(group, &one_part, bytes));
    return weft_native_pass_create(request, &group->pass[0], bytes);
}

void weft_pass_group_release(weft_pass_group *group) {
    for (int i = 0; i < group->passes; i++) weft_native_pass_release(&group->pass[i]);
    weft_root_table_release(&group->real_line.roots);
    weft_line_convolution_release(group->convolution);
    if (group->gathered) weft_pass_group_release(&group->gathered->group);
    free(group->gathered);
    if (group->matrix) weft_matrix_release(group->matrix);
    free(group->matrix);
    if (group->in.piece != &group->in.whole) free(group->in.piece);
    if (group->out.piece != &group->out.whole) free(group->out.piece);
}

/* What stores the results of a pass. */
static weft_native_pass *last_half(weft_native_pass *pass) {
    return pass->back ? &pass->back->pass : pass;
}

/* What is set may be in the way of a solver. */
static void choose_solvers(weft_pass_group *group) {
    for (int i = 0; i < group->passes; i++) weft_native_pass_choose(&group->pass[i]);
}

void weft_pass_group_store_past(weft_pass_group *group, bool past) {
    group->past = past;
    for (int i = 0; i < group->passes; i++)
        last_half(&group->pass[i])->stream = past && group->to[i] == WEFT_PASS_GROUP_OUT;
    choose_solvers(group);
}

/* The last step that stores into the output multiplies. */
void weft_pass_group_scale(weft_pass_group *group, double scale) {
    group->scale = scale;
    if (group->convolution) weft_line_convolution_scale(group->convolution, scale);
    if (group->gathered) weft_pass_group_scale(&group->gathered->group, scale);
    for (int i = 0; i < group->passes; i++)
        last_half(&group->pass[i])->scale =
            group->to[i] == WEFT_PASS_GROUP_OUT && !group->real_line.after ? scale : 1;
    choose_solvers(group);
}

void weft_pass_group_load_operated(weft_pass_group *group, const weft_native_operated *operated) {
    group->pass[0].in.operated = operated;
    choose_solvers(group);
}

void weft_pass_group_store_operated(weft_pass_group *group, const weft_native_operated *operated) {
    if (group->flush.rows > 0)
        group->operated = operated;
    else
        group->pass[group->passes - 1].out.operated = operated;
    choose_solvers(group);
}

void weft_pass_group_operate_between(weft_pass_group *group, const weft_native_operated *operated) {
    for (int i = 0; i < group->passes; i++)
        if (group->pass[i].back) group->pass[i].back->operated = operated;
}
