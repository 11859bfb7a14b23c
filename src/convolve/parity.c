/*
 * Along Dirichlet and Neumann axes derivatives of odd order make odd fields of even ones and back.
 * problem.boundary is that of a scalar; of a vector the component along an axis is the other way
 * round there, as a gradient is, and of a tensor each component off the diagonal along two axes.
 */
#include "convolve/convolve.h"

#include "support/axis.h"

/* The axes along which a field has the other parity than a scalar, as bits. */
static unsigned other_parity(const weft_convolved *c, bool made, int f) {
    const int rank = c->problem.rank;
    const unsigned all = (1u << rank) - 1, along = 1u << f;
    unsigned odd = 0;
    switch (c->problem.kernel.kind) {
    case WEFT_KERNEL_DERIVATIVE:
        for (int a = 0; a < rank && made; a++)
            if (c->problem.kernel.order[a] % 2 != 0) odd |= 1u << a;
        return odd;
    case WEFT_KERNEL_GRADIENT:
        return made ? along : 0;
    case WEFT_KERNEL_DIVERGENCE:
        return made ? 0 : along;
    case WEFT_KERNEL_CURL:
        return !made ? along : rank == 2 ? all : all & ~along;
    case WEFT_KERNEL_LERAY:
        return along;
    case WEFT_KERNEL_ELASTIC:
        return weft_tensor_axes(rank, f);
    default:
        return 0;
    }
}

void weft_convolved_find_parity(weft_convolved *c) {
    const int rank = c->problem.rank;
    c->parity = (weft_parity){0};
    c->turning = false;
    for (int made = 0; made < 2; made++)
        for (int f = 0; f < weft_convolved_fields(c, made); f++)
            for (int a = 0; a < rank; a++)
                if (weft_axis_is_real_to_real(c->axis[a].type) && other_parity(c, made, f) >> a & 1)
                    c->parity.turned[made][a] |= 1u << f;
    for (int a = 0; a < rank; a++) {
        const unsigned *there = c->parity.turned[WEFT_FORWARD],
                       *back = c->parity.turned[WEFT_INVERSE];
        c->axis[a].turns = there[a] || back[a];
        c->turning = c->turning || c->axis[a].turns;
    }
    for (int made = 0; made < 2; made++)
        for (int f = 0; f < WEFT_CONVOLVED_FIELDS; f++) {
            c->odd[made][f] = 0;
            for (int a = 0; a < rank; a++) {
                const bool turned = c->parity.turned[made][a] >> f & 1;
                if (c->axis[a].turns && weft_axis_is_sine(c->axis[a].type) != turned)
                    c->odd[made][f] |= 1u << a;
            }
        }
}
