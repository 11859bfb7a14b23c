/* Kernels that callers give as arrays: whole on every rank, or in boxes of the ranks. */
#include "convolve/convolve.h"

#include "convolve/box_exchange.h"
#include "plan/agreement.h"
#include "plan/boxes.h"
#include "support/error.h"

#include <stdlib.h>

weft_region weft_convolved_whole(const weft_convolved *c) {
    const bool array = c->problem.kernel.kind == WEFT_KERNEL_ARRAY;
    weft_region whole = {.axes = c->problem.rank};
    for (int a = 0; a < whole.axes; a++)
        whole.n[a] = array ? c->axis[a].kernel : weft_convolved_extent(c, a);
    return whole;
}

weft_status weft_convolved_read_box(weft_convolved *c) {
    const weft_box *box = c->problem.kernel.box;
    const weft_region whole = weft_convolved_whole(c);
    c->problem.kernel.box = NULL; /* the caller's */
    c->held = whole;
    c->in_boxes = box != NULL;
    if (!box) return WEFT_SUCCESS;
    if (!weft_convolved_is_given(c))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "problem.kernel.box is given, but kernel %s is no array; leave it NULL",
                         weft_kernel_kind_name(c->problem.kernel.kind));
    for (int a = 0; a < whole.axes; a++) {
        if (box->lo[a] < 0 || box->n[a] < 0 || box->lo[a] > whole.n[a] ||
            box->n[a] > whole.n[a] - box->lo[a])
            return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                             "problem.kernel.box has %lld indices from %lld on along axis %d, "
                             "outside of 0..%lld",
                             (long long)box->n[a], (long long)box->lo[a], a,
                             (long long)whole.n[a] - 1);
        c->held.lo[a] = box->lo[a];
        c->held.n[a] = box->n[a];
    }
    return WEFT_SUCCESS;
}

weft_status weft_convolved_has_array(weft_transport *transport, const weft_convolved *c,
                                     const void *array, bool *has) {
    const bool empty = weft_region_elements(&c->held) == 0;
    int64_t ranks_that[2] = {array && !empty, !array && !empty}; /* have one; have none */
    *has = array != NULL;
    if (!c->in_boxes || transport->size == 1 || transport->simulated) return WEFT_SUCCESS;
    weft_decide(transport, ranks_that, 2);
    *has = ranks_that[0] != 0;
    if (!ranks_that[0] || !ranks_that[1]) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_MISMATCH,
                     "problem.kernel.array is NULL on some ranks whose kernel.box is not empty; "
                     "give the kernel on all of them, or on none");
}

/* Every rank's box of what it wants. Collective. */
static weft_status gather_wanted(weft_transport *transport, const weft_region *wanted,
                                 weft_region **all) {
    *all = calloc((size_t)transport->size, sizeof **all);
    WEFT_TRY(weft_agree(
        transport, *all ? WEFT_SUCCESS
                        : weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for boxes of a kernel")));
    return weft_agree(transport,
                      transport->ops->gather_all(transport, wanted, sizeof *wanted, *all));
}

/* From the boxes that ranks have to those that they want. Collective. */
static weft_status exchange(weft_transport *transport, const weft_convolved *c, const void *array,
                            weft_region *held, weft_region *wanted, weft_given_kernel *given) {
    const size_t element = weft_convolved_given_element(c);
    weft_recorder recorder = {.spans = NULL};
    weft_box_exchange boxes;
    weft_status status = weft_box_exchange_create(transport, element, held, wanted, &boxes);
    given->own = malloc((size_t)weft_region_elements(&given->box) * element + 1);
    if (!given->own)
        weft_keep(&status,
                  weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a rank's box of a kernel"));
    status = weft_agree(transport, status);
    if (status == WEFT_SUCCESS)
        status = weft_agree(transport, weft_box_exchange_run(&boxes, array, given->own, &recorder));
    weft_box_exchange_destroy(&boxes);
    given->data = given->own;
    return status;
}

weft_status weft_convolved_collect(weft_transport *transport, const weft_convolved *c,
                                   const void *array, const weft_region *wanted,
                                   weft_given_kernel *given) {
    weft_region whole = weft_convolved_whole(c), *held = NULL, *all = NULL;
    *given = (weft_given_kernel){.data = array, .box = whole};
    if (!c->in_boxes) return WEFT_SUCCESS;
    given->box = *wanted;
    WEFT_TRY(weft_gather_boxes(transport, &c->held, whole.n, "kernel", &held));
    const weft_status status = gather_wanted(transport, wanted, &all);
    if (status == WEFT_SUCCESS) return exchange(transport, c, array, held, all, given);
    free(held);
    free(all);
    return status;
}
