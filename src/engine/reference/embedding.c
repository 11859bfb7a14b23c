/* The embedding of each type of cosine and sine transform. */
#include "engine/reference/embedding.h"

#include "support/axis.h"

static weft_embedding embed(weft_axis type, int64_t n) {
    switch (type) {
    case WEFT_DCT1:
        return (weft_embedding){2 * (n - 1), 0, 1, 0, 1, true, true, false, false, false};
    case WEFT_DCT2:
        return (weft_embedding){4 * n, 1, 2, 0, 1, false, false, false, false, false};
    case WEFT_DCT3:
        return (weft_embedding){4 * n, 0, 1, 1, 2, true, false, false, false, false};
    case WEFT_DCT4:
        return (weft_embedding){8 * n, 1, 2, 1, 2, false, false, false, false, false};
    case WEFT_DST1:
        return (weft_embedding){2 * (n + 1), 1, 1, 1, 1, false, false, true, false, false};
    case WEFT_DST2:
        return (weft_embedding){4 * n, 1, 2, 1, 1, false, false, true, false, false};
    case WEFT_DST3:
        return (weft_embedding){4 * n, 1, 1, 1, 2, false, true, true, false, false};
    default: /* WEFT_DST4 */
        return (weft_embedding){8 * n, 1, 2, 1, 2, false, false, true, false, false};
    }
}

weft_embedding weft_embedding_of(weft_axis type, int64_t n) {
    weft_embedding e = embed(weft_axis_in_order(type), n);
    e.in_last = (int)type == WEFT_DST3_ALIGNED;
    e.out_last = (int)type == WEFT_DST2_ALIGNED;
    if (e.in_last || e.out_last) *(e.in_last ? &e.in_first : &e.out_first) = 0;
    return e;
}
