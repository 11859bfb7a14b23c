/* The spectrum of real data is its own mirror image, conjugated: X[-k] = conj(X[k]) along all axes.
 */
#include "core.h"

/* Fills what lies past the half along the last axis. Along each of the other axes index 0 is its
 * own image and 1 to n-1 are reversed, so there is one copy for each choice of these: `reversed`
 * has a bit for each axis. */
static void fill_part(int rank, const int64_t *n, const ptrdiff_t *half, const ptrdiff_t *to,
                      int64_t members, unsigned reversed, core_element element, const char *from,
                      char *out) {
    const int last = rank - 1;
    const int64_t first = n[last] / 2 + 1; /* index that is filled first; its image is n - first */
    core_copy copy = {.rank = rank + 1, .n = {members}, .from = {half[0]}, .to = {to[0]}};
    for (int a = 0; a < rank; a++) {
        const bool is_last = a == last, turned = is_last || (reversed >> a & 1);
        const int64_t begin = is_last ? first : turned;
        copy.n[a + 1] = turned ? n[a] - begin : 1;
        copy.from[a + 1] = -half[a + 1];
        copy.to[a + 1] = to[a + 1];
        if (turned) from += (n[a] - begin) * half[a + 1];
        out += begin * to[a + 1];
    }
    core_copy_run(&copy, element, from, out);
}

void core_mirror(int rank, const int64_t *n, int64_t members, bool single, bool conjugate,
                 const char *half, char *out, const ptrdiff_t *to) {
    const core_element copied = single ? CORE_COPY_8 : CORE_COPY_16;
    const core_element conjugated = single ? CORE_CONJUGATE_8 : CORE_CONJUGATE_16;
    core_copy copy = {.rank = rank + 1, .n = {members}, .to = {to[0]}};
    ptrdiff_t stride = single ? 8 : 16;
    for (int a = rank - 1; a >= 0; a--) {
        copy.n[a + 1] = a == rank - 1 ? n[a] / 2 + 1 : n[a];
        copy.from[a + 1] = stride;
        copy.to[a + 1] = to[a + 1];
        stride *= copy.n[a + 1];
    }
    copy.from[0] = stride;
    core_copy_run(&copy, conjugate ? conjugated : copied, half, out);
    for (unsigned reversed = 0; reversed < 1u << (rank - 1); reversed++)
        fill_part(rank, n, copy.from, to, members, reversed, conjugate ? copied : conjugated, half,
                  out);
}
