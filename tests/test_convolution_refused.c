/* Convolutions that cannot be made are refused, with a sentence that names the member. */
#include "one_context.h"

#include <math.h>
#include <string.h>

#define ACROSS .rank = 2, .n = {6, 8}, .kind = WEFT_R2C

/* A wrong problem, and words that the sentence must have. */
typedef struct misuse {
    const char *words;
    weft_status status;
    weft_convolution_problem problem;
} misuse;

static const double array[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
static const double skew[4] = {1, 0.5, 0.25, 1}, turned[4] = {1, 0.5, 0.5, 1};
static const weft_box beyond = {.lo = {0, 1}, .n = {3, 3}}, two_thirds = {.n = {2, 3}};
static const double not_finite[2] = {0, INFINITY};

static const misuse misuses[] = {
    {"problem.rank is 0", WEFT_ERROR_INVALID_ARGUMENT, {.rank = 0}},
    {"problem.rank is 9", WEFT_ERROR_INVALID_ARGUMENT, {.rank = 9}},
    {"problem.n[1] is 0", WEFT_ERROR_INVALID_ARGUMENT, {.rank = 2, .n = {6, 0}}},
    {"problem.kind", WEFT_ERROR_INVALID_ARGUMENT, {.rank = 1, .n = {6}, .kind = WEFT_R2R}},
    {"problem.precision", WEFT_ERROR_INVALID_ARGUMENT, {ACROSS, .precision = WEFT_HALF}},
    {"problem.mode", WEFT_ERROR_INVALID_ARGUMENT, {ACROSS, .mode = (weft_convolution_mode)3}},
    {"problem.boundary", WEFT_ERROR_INVALID_ARGUMENT, {ACROSS, .boundary = {(weft_boundary)9}}},
    {"problem.method is 9", WEFT_ERROR_INVALID_ARGUMENT, {ACROSS, .method = 9}},
    {"problem.regularizer is -1", WEFT_ERROR_INVALID_ARGUMENT, {ACROSS, .regularizer = -1}},
    {"problem.length[0] is -2", WEFT_ERROR_INVALID_ARGUMENT, {ACROSS, .length = {-2}}},
    {"problem.kernel.n[0] is 0", WEFT_ERROR_INVALID_ARGUMENT, {ACROSS, .kernel = {.array = array}}},
    {"problem.kernel.origin[1] is 3; it is 0 to kernel.n[1] - 1, 2",
     WEFT_ERROR_INVALID_ARGUMENT,
     {ACROSS, .kernel = {.array = array, .n = {3, 3}, .origin = {0, 3}}}},
    {"the kernel has more than 2^60 bytes",
     WEFT_ERROR_INVALID_ARGUMENT,
     {ACROSS, .kernel = {.array = array, .n = {1LL << 40, 1LL << 40}}}},
    {"problem.kernel.box has 3 indices from 1 on along axis 1, outside of 0..2",
     WEFT_ERROR_INVALID_ARGUMENT,
     {ACROSS, .kernel = {.array = array, .n = {3, 3}, .box = &beyond}}},
    {"problem.kernel boxes of all ranks cover 6 of 9 elements",
     WEFT_ERROR_INVALID_ARGUMENT,
     {ACROSS, .kernel = {.array = array, .n = {3, 3}, .box = &two_thirds}}},
    {"problem.kernel.box is given, but kernel poisson is no array",
     WEFT_ERROR_INVALID_ARGUMENT,
     {ACROSS, .kernel = {.kind = WEFT_KERNEL_POISSON, .zero = turned, .box = &two_thirds}}},
    {"problem.kernel.array is not symmetric about origin[0] = 1",
     WEFT_ERROR_INVALID_ARGUMENT,
     {ACROSS, .boundary = {WEFT_NEUMANN},
      .kernel = {.array = array, .n = {3, 3}, .origin = {1, 1}}}},
    {"problem.boundary[1] is linear, for which the field is padded, but kernel spectrum",
     WEFT_ERROR_UNSUPPORTED,
     {ACROSS, .boundary = {WEFT_PERIODIC, WEFT_LINEAR},
      .kernel = {.kind = WEFT_KERNEL_SPECTRUM, .array = array}}},
    {"problem.boundary[0] is free, for which the field is padded, but kernel spectrum",
     WEFT_ERROR_UNSUPPORTED,
     {ACROSS, .boundary = {WEFT_FREE_SPACE, WEFT_PERIODIC},
      .kernel = {.kind = WEFT_KERNEL_SPECTRUM, .array = array}}},
    {"the kernel's spectrum has more than 2^60 bytes",
     WEFT_ERROR_INVALID_ARGUMENT,
     {.rank = 2,
      .n = {1LL << 40, 1LL << 40},
      .boundary = {WEFT_PERIODIC},
      .kernel = {.kind = WEFT_KERNEL_SPECTRUM, .array = array}}},
    {"problem.method is samples, but the kernel is an array",
     WEFT_ERROR_UNSUPPORTED,
     {ACROSS, .method = WEFT_SAMPLES, .kernel = {.kind = WEFT_KERNEL_SPECTRUM, .array = array}}},
    {"problem.kernel.function is NULL",
     WEFT_ERROR_INVALID_ARGUMENT,
     {ACROSS, .kernel = {.kind = WEFT_KERNEL_FUNCTION}}},
    {"problem.kernel.covariance is NULL",
     WEFT_ERROR_INVALID_ARGUMENT,
     {ACROSS, .kernel = {.kind = WEFT_KERNEL_GAUSSIAN}}},
    {"problem.kernel.covariance[0][1] is 0.5; a covariance is finite, symmetric",
     WEFT_ERROR_INVALID_ARGUMENT,
     {ACROSS, .kernel = {.kind = WEFT_KERNEL_GAUSSIAN, .covariance = skew}}},
    {"with boundary neumann along axis 1",
     WEFT_ERROR_UNSUPPORTED,
     {ACROSS, .boundary = {WEFT_PERIODIC, WEFT_NEUMANN},
      .kernel = {.kind = WEFT_KERNEL_GAUSSIAN, .covariance = turned}}},
    {"problem.kernel.order[1] is -1",
     WEFT_ERROR_INVALID_ARGUMENT,
     {ACROSS, .kernel = {.kind = WEFT_KERNEL_DERIVATIVE, .order = {0, -1}}}},
    {"problem.kernel.parameter is -1; give a finite number, 0 or more",
     WEFT_ERROR_INVALID_ARGUMENT,
     {ACROSS, .kernel = {.kind = WEFT_KERNEL_HEAT, .parameter = -1}}},
    {"problem.kernel.zero is NULL",
     WEFT_ERROR_INVALID_ARGUMENT,
     {ACROSS, .kernel = {.kind = WEFT_KERNEL_POISSON}}},
    {"problem.kernel.zero is 0 + inf i",
     WEFT_ERROR_INVALID_ARGUMENT,
     {ACROSS, .kernel = {.kind = WEFT_KERNEL_POISSON, .zero = not_finite}}},
    {"problem.boundary[0] is linear, which wants an array",
     WEFT_ERROR_UNSUPPORTED,
     {ACROSS, .boundary = {WEFT_LINEAR}, .kernel = {.kind = WEFT_KERNEL_LAPLACIAN}}},
    {"problem.boundary is free space along 1 axes with kernel heat",
     WEFT_ERROR_UNSUPPORTED,
     {ACROSS, .boundary = {WEFT_FREE_SPACE}, .kernel = {.kind = WEFT_KERNEL_HEAT}}},
    {"problem.kernel.discretization is 5",
     WEFT_ERROR_INVALID_ARGUMENT,
     {ACROSS, .kernel = {.kind = WEFT_KERNEL_HEAT, .discretization = 5}}},
    {"problem.kernel.discretization is staggered, but kernel gradient",
     WEFT_ERROR_UNSUPPORTED,
     {ACROSS, .kernel = {.kind = WEFT_KERNEL_GRADIENT, .discretization = WEFT_STAGGERED}}},
    {"problem.kernel.discretization is staggered, but axes are free space",
     WEFT_ERROR_UNSUPPORTED,
     {ACROSS, .boundary = {WEFT_FREE_SPACE, WEFT_FREE_SPACE},
      .kernel = {.kind = WEFT_KERNEL_POISSON, .discretization = WEFT_STAGGERED}}},
    {"problem.boundary[1] is free, but kernel divergence is for periodic, Dirichlet and Neumann",
     WEFT_ERROR_UNSUPPORTED,
     {ACROSS, .boundary = {WEFT_PERIODIC, WEFT_FREE_SPACE},
      .kernel = {.kind = WEFT_KERNEL_DIVERGENCE}}},
    {"problem.kernel.discretization is staggered, but boundary[1] is neumann",
     WEFT_ERROR_UNSUPPORTED,
     {ACROSS, .boundary = {WEFT_PERIODIC, WEFT_NEUMANN},
      .kernel = {.kind = WEFT_KERNEL_ELASTIC, .lame = {1, 1}, .discretization = WEFT_STAGGERED}}},
    {"problem.rank is 1, but kernel curl is for 2 to 3 axes",
     WEFT_ERROR_INVALID_ARGUMENT,
     {.rank = 1, .n = {6}, .kernel = {.kind = WEFT_KERNEL_CURL}}},
    {"problem.rank is 4, but kernel leray is for 1 to 3 axes",
     WEFT_ERROR_INVALID_ARGUMENT,
     {.rank = 4, .n = {2, 2, 2, 2}, .kernel = {.kind = WEFT_KERNEL_LERAY}}},
    {"problem.correlate: not with kernel leray",
     WEFT_ERROR_UNSUPPORTED,
     {ACROSS, .correlate = 1, .kernel = {.kind = WEFT_KERNEL_LERAY}}},
    {"problem.deconvolve: not with kernel gradient",
     WEFT_ERROR_UNSUPPORTED,
     {ACROSS, .deconvolve = 1, .kernel = {.kind = WEFT_KERNEL_GRADIENT}}},
    {"problem.kernel.lame is 1, 0",
     WEFT_ERROR_INVALID_ARGUMENT,
     {ACROSS, .kernel = {.kind = WEFT_KERNEL_ELASTIC, .lame = {1, 0}}}},
};

static void every_misuse_is_refused_in_one_sentence(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof misuses / sizeof *misuses; i++) {
        const misuse *m = &misuses[i];
        weft_convolution made = NULL;
        const weft_status status = weft_convolution_create(ctx, &m->problem, NULL, &made);
        const char *said = weft_last_error(ctx);
        if (status != m->status || !strstr(said, m->words))
            fail_msg("%s: %s: %s", m->words, weft_status_name(status), said);
        assert_null(made);
        assert_null(strchr(said, '\n'));
    }
}

static void null_arguments_are_refused(void **state) {
    (void)state;
    weft_convolution made = NULL;
    assert_int_equal(weft_convolution_create(ctx, NULL, NULL, &made), WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_last_error(ctx), "problem is NULL"));
    assert_int_equal(weft_convolution_create(ctx, &misuses[0].problem, NULL, NULL),
                     WEFT_ERROR_INVALID_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_misuse_is_refused_in_one_sentence),
        cmocka_unit_test(null_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
