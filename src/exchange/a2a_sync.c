/* a2a-sync: pack for all partners, one MPI_Alltoallv, unpack. The own block never enters the
 * all-to-all. */
#include "exchange/a2a.h"
#include "exchange/blocks.h"
#include "support/error.h"

#include <stdlib.h>

typedef struct a2a_state {
    weft_blocks blocks;
    weft_alltoall *alltoall;
} a2a_state;

/* Runs of the other members in the send or receive buffer; the own one is empty. */
static void runs_of(const weft_redistribution *geometry, const weft_block *blocks, weft_run *runs) {
    for (int m = 0; m < geometry->members; m++) {
        bool travels = m != geometry->me && blocks[m].elements > 0;
        runs[m] =
            travels ? (weft_run){blocks[m].packed.offset, blocks[m].elements} : (weft_run){0, 0};
    }
}

/* All of it but the all-to-all; *runs gets the runs to and from all members, where there are any.
 */
static weft_status prepare_blocks(weft_exchange_plan *plan, weft_run **runs) {
    const weft_redistribution *g = plan->geometry;
    a2a_state *state = calloc(1, sizeof *state);
    if (!state) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for an exchange");
    plan->method_state = state;
    WEFT_TRY(weft_blocks_prepare(plan, plan->ops->datatypes, &state->blocks));
    if (plan->ops->datatypes) return WEFT_SUCCESS;
    *runs = calloc(2 * (size_t)g->members, sizeof **runs);
    if (!*runs) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for an exchange");
    runs_of(g, g->send, *runs);
    runs_of(g, g->receive, *runs + g->members);
    return WEFT_SUCCESS;
}

/* Making an all-to-all of runs is collective, also where this rank has failed before. */
weft_status weft_a2a_prepare(weft_exchange_plan *plan) {
    const weft_transport_ops *ops = plan->group->ops;
    const size_t element = plan->geometry->element_bytes;
    weft_run *runs = NULL;
    weft_alltoall *made = NULL;
    weft_status status = prepare_blocks(plan, &runs);
    a2a_state *state = plan->method_state;
    if (!plan->ops->datatypes)
        weft_keep(&status, ops->alltoall_create(plan->group, runs,
                                                runs ? runs + plan->geometry->members : NULL,
                                                element, &made));
    else if (status == WEFT_SUCCESS)
        status = ops->alltoall_create_typed(plan->group, state->blocks.send, state->blocks.receive,
                                            &made);
    if (state) state->alltoall = made;
    free(runs);
    return status;
}

void weft_a2a_release(weft_exchange_plan *plan) {
    a2a_state *state = plan->method_state;
    if (!state) return;
    plan->group->ops->alltoall_destroy(plan->group, state->alltoall);
    weft_blocks_release(plan, &state->blocks);
    free(state);
    plan->method_state = NULL;
}

weft_status weft_a2a_run(weft_exchange_plan *plan) {
    a2a_state *state = plan->method_state;
    weft_blocks *blocks = &state->blocks;
    weft_status status = WEFT_SUCCESS;

    weft_keep(&status, weft_blocks_leave(plan, blocks));
    double start = weft_clock();
    weft_keep(&status, weft_blocks_pack_all(plan, blocks));
    weft_keep(&status, weft_blocks_settle(plan));
    start = weft_record(plan->recorder, WEFT_PHASE_PACK, WEFT_NO_PARTNER, start);

    if (blocks->partners > 0) weft_record_sent(plan->recorder, start);
    weft_keep(&status,
              plan->group->ops->alltoall(plan->group, state->alltoall, plan->send, plan->receive));
    start = weft_record(plan->recorder, WEFT_PHASE_EXCHANGE, WEFT_NO_PARTNER, start);
    if (blocks->partners > 0) weft_record_arrived(plan->recorder, start);

    weft_keep(&status, weft_blocks_arrive(plan, blocks));
    start = weft_clock();
    weft_keep(&status, weft_blocks_unpack_all(plan, blocks));
    weft_record(plan->recorder, WEFT_PHASE_UNPACK, WEFT_NO_PARTNER, start);
    return status;
}

const weft_exchange_ops weft_exchange_a2a_sync = {
    .name = "a2a-sync",
    .id = WEFT_A2A_SYNC,
    .prepare = weft_a2a_prepare,
    .run = weft_a2a_run,
    .release = weft_a2a_release,
};
