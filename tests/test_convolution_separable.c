/* Kernels whose spectra are products of one factor for each axis, beside the same kernels whose
 * value at wavenumber 0 is given as well, which is what an array is made for. */
#include "convolutions.h"

enum { MOST = 2 * 18 * 15 * 12 };

/* The kernel, and the same with an array. */
typedef struct both {
    weft_convolution product, array;
} both;

static both make_both(weft_convolution_problem p, double at_zero) {
    const double zero[2] = {at_zero, 0};
    both b = {.product = made_of(p, 1)};
    p.kernel.zero = zero;
    b.array = made_of(p, 1);
    return b;
}

static size_t workspace_of(weft_convolution plan) {
    weft_memory memory = {0};
    assert_int_equal(weft_plan_memory(plan, &memory), WEFT_SUCCESS);
    return memory.workspace;
}

static void destroy(both *b) {
    weft_convolution_destroy(&b->product);
    weft_convolution_destroy(&b->array);
}

/* They give the same, and one of them has an array less: numbers for the elements of the spectrum.
 */
static void agree(weft_convolution_problem p, double at_zero, int numbers, const double *in) {
    both b = make_both(p, at_zero);
    int64_t count = p.kind == WEFT_R2C ? 1 : 2;
    for (int a = 0; a < p.rank; a++) count *= p.n[a];
    double *found = convolved(b.product, in, count), *right = convolved(b.array, in, count);
    assert_true(relative(found, right, count) < 1e-14);
    assert_true(explanation_has(b.product, WEFT_TEXT, "table along 0, 1, 2"));
    assert_true(explanation_has(b.array, WEFT_TEXT, "array 0"));
    int64_t spectrum = p.n[0] * p.n[1] * p.n[2];
    const int halved = p.boundary[2] == WEFT_PERIODIC ? 2 : 1;
    if (p.kind == WEFT_R2C) spectrum = spectrum / p.n[halved] * (p.n[halved] / 2 + 1);
    assert_int_equal(workspace_of(b.array) - workspace_of(b.product),
                     (size_t)(numbers * spectrum) * sizeof(double));
    free(found);
    free(right);
    destroy(&b);
}

static void products_give_what_an_array_gives_without_its_memory(void **state) {
    (void)state;
    static const weft_boundary boundaries[][3] = {{WEFT_PERIODIC, WEFT_PERIODIC, WEFT_PERIODIC},
                                                  {WEFT_DIRICHLET, WEFT_PERIODIC, WEFT_PERIODIC},
                                                  {WEFT_NEUMANN, WEFT_DIRICHLET, WEFT_PERIODIC},
                                                  {WEFT_PERIODIC, WEFT_PERIODIC, WEFT_NEUMANN}};
    static const double covariance[9] = {0.3, 0, 0, 0, 0, 0, 0, 0, 1.5};
    static const int orders[][3] = {{1, 0, 0}, {0, 2, 0}, {0, 0, 3},
                                    {1, 1, 0}, {1, 2, 1}, {1, 1, 1}};
    double *in = noise(MOST);
    for (int i = 0; i < 4; i++)
        for (int real = 0; real < 2; real++)
            for (int correlate = 0; correlate < 2; correlate++) {
                weft_convolution_problem p = {.rank = 3,
                                              .n = {18, 15, 12},
                                              .length = {2, 1.5, 7},
                                              .kind = real ? WEFT_R2C : WEFT_C2C,
                                              .correlate = correlate};
                memcpy(p.boundary, boundaries[i], sizeof boundaries[i]);
                p.kernel = (weft_convolution_kernel){.kind = WEFT_KERNEL_GAUSSIAN,
                                                     .covariance = covariance};
                agree(p, 1, 1, in);
                p.kernel = (weft_convolution_kernel){.kind = WEFT_KERNEL_HEAT, .parameter = 0.01};
                agree(p, 1, 1, in);
                for (int k = 0; k < 6; k++) {
                    int powers = 0; /* of i that are left: not along axes that reflect */
                    p.kernel = (weft_convolution_kernel){.kind = WEFT_KERNEL_DERIVATIVE};
                    memcpy(p.kernel.order, orders[k], sizeof orders[k]);
                    for (int a = 0; a < 3; a++)
                        if (p.boundary[a] == WEFT_PERIODIC) powers += orders[k][a];
                    agree(p, 0, powers % 2 ? 2 : 1, in);
                }
            }
    free(in);
}

/* In single precision k^9 is too large a number along an axis whose box is that short, and 0 times
 * it no number. */
static void factors_that_numbers_do_not_hold_are_multiplied_before_they_are_stored(void **state) {
    (void)state;
    weft_convolution_problem p = {.rank = 2,
                                  .n = {16, 16},
                                  .length = {1e4, 1e-3},
                                  .kind = WEFT_C2C,
                                  .precision = WEFT_SINGLE,
                                  .kernel = {.kind = WEFT_KERNEL_DERIVATIVE, .order = {3, 9}}};
    both b = make_both(p, 0);
    float in[2 * 16 * 16], found[2 * 16 * 16], right[2 * 16 * 16];
    for (int i = 0; i < 2 * 16 * 16; i++) in[i] = (float)random_number();
    assert_true(explanation_has(b.product, WEFT_TEXT, "array 0"));
    assert_int_equal(weft_convolution_execute(b.product, in, found), WEFT_SUCCESS);
    assert_int_equal(weft_convolution_execute(b.array, in, right), WEFT_SUCCESS);
    assert_memory_equal(found, right, sizeof found);
    for (int i = 0; i < 2 * 16 * 16; i++) assert_true(isfinite(found[i]));
    destroy(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_give_what_an_array_gives_without_its_memory),
        cmocka_unit_test(factors_that_numbers_do_not_hold_are_multiplied_before_they_are_stored),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
