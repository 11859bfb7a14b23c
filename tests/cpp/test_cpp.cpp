/* weft.hpp: what it makes works and goes, what is wrong throws weft's sentence. Compiled as C++11
 * and as C++20, where spans are std::span. Prints nothing when all is well. */
#include <weft/weft.hpp>

#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <numeric>

using complex_number = std::complex<double>;

static int failures;

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                   \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

/* The status that a call throws, or success; its sentence goes to *sentence. */
template <class Call> static weft_status thrown(Call call, std::string *sentence = nullptr) {
    try {
        call();
    } catch (const weft::error &failure) {
        if (sentence) *sentence = failure.what();
        return failure.status();
    }
    return WEFT_SUCCESS;
}

static weft_problem real_problem() {
    weft_problem problem{};
    problem.rank = 2;
    problem.n[0] = 6;
    problem.n[1] = 10;
    problem.kind = WEFT_R2C;
    problem.norm = WEFT_NORM_BACKWARD;
    return problem;
}

static void there_and_back(const weft::plan &plan) {
    std::vector<double> in(plan.count<double>(WEFT_INPUT)), back(in.size());
    std::vector<complex_number> spectrum(plan.count<complex_number>(WEFT_OUTPUT));
    std::iota(in.begin(), in.end(), 1.0);
    plan.execute(WEFT_FORWARD, in, spectrum);
    plan.execute(WEFT_INVERSE, spectrum, back);
    double sum = 0, error = 0;
    for (double x : in) sum += x;
    for (std::size_t i = 0; i < 60; i++) error = std::fmax(error, std::fabs(back[i] - in[i]));
    EXPECT(std::abs(spectrum[0] - sum) < 1e-10);
    EXPECT(error < 1e-12);
}

static void plans_outlive_the_names_of_their_contexts() {
    weft_options options{};
    options.trace = 1;
    options.engine = WEFT_ENGINE_REFERENCE;
    weft::plan plan = [&] {
        weft::context ctx;
        return weft::plan(ctx, real_problem(), options);
    }();
    there_and_back(plan);
    const weft::plan copy = plan;
    there_and_back(copy);
    EXPECT(copy.get() == plan.get());
    EXPECT(plan.box(WEFT_OUTPUT).n[1] == 6);
    EXPECT(plan.options().engine == WEFT_ENGINE_REFERENCE);
    EXPECT(plan.memory().total > 0);
    EXPECT(plan.timings().total >= 0);
    EXPECT(!plan.trace().empty());
}

static void buffers_outlive_the_names_of_their_plans() {
    weft_problem problem = real_problem();
    problem.kind = WEFT_C2C;
    weft_options options{};
    options.device = WEFT_SIMULATED;
    weft::context ctx;
    std::vector<complex_number> field(60, complex_number(2, 1)), got(60);
    std::unique_ptr<weft::plan> plan(new weft::plan(ctx, problem, options));
    auto device = plan->make_buffer<complex_number>(plan->count<complex_number>(WEFT_INPUT));
    auto locked = plan->make_host_buffer<double>(3);
    plan->upload(device, weft::span<const complex_number>(field));
    plan->execute(WEFT_FORWARD, device, device);
    plan->download(weft::span<complex_number>(got), device);
    EXPECT(std::abs(got[0] - complex_number(120, 60)) < 1e-12);
    EXPECT(std::abs(got[59]) < 1e-12);
    field.resize(1000);
    EXPECT(thrown([&] { plan->upload(device, weft::span<const complex_number>(field)); }) ==
           WEFT_ERROR_INVALID_ARGUMENT);
    locked.data()[2] = 1;
    plan.reset();
    EXPECT(device.size() >= 60 && locked.size() == 3);
}

static void failures_throw_the_sentence() {
    weft::context ctx;
    std::string sentence;
    weft_problem problem = real_problem();
    problem.rank = 9;
    EXPECT(thrown([&] { weft::plan(ctx, problem); }, &sentence) == WEFT_ERROR_INVALID_ARGUMENT);
    EXPECT(sentence == weft_last_error(nullptr) && sentence.find("rank") != std::string::npos);
    const weft::plan plan(ctx, real_problem());
    std::vector<double> in(plan.count<double>(WEFT_INPUT)), few(3);
    EXPECT(thrown([&] { plan.execute(WEFT_FORWARD, in, few); }, &sentence) ==
           WEFT_ERROR_INVALID_ARGUMENT);
    EXPECT(sentence.find("out has 24 bytes") != std::string::npos);
    EXPECT(thrown([&] { plan.box(WEFT_INPUT, 7); }) == WEFT_ERROR_INVALID_ARGUMENT);
    EXPECT(thrown([&] { plan.set_parameter(0, 1.0); }) == WEFT_ERROR_INVALID_ARGUMENT);
}

static void spans_are_taken() {
    weft::context ctx;
    const weft::plan plan(ctx, real_problem());
    std::vector<double> in(plan.count<double>(WEFT_INPUT), 1.0);
    std::vector<complex_number> out(plan.count<complex_number>(WEFT_OUTPUT));
    plan.execute(WEFT_FORWARD, weft::span<double>(in), weft::span<complex_number>(out));
    EXPECT(std::abs(out[0] - 60.0) < 1e-12);
#if __cplusplus >= 202002L
    static_assert(std::is_same<weft::span<double>, std::span<double>>::value, "");
#endif
}

static void convolutions_and_compositions_run() {
    weft::context ctx;
    weft_convolution_problem smooth{};
    smooth.rank = 1;
    smooth.n[0] = 16;
    smooth.kind = WEFT_R2C;
    smooth.kernel.kind = WEFT_KERNEL_HEAT;
    smooth.kernel.parameter = 1e9; /* what stays is the mean */
    const weft::convolution convolution(ctx, smooth);
    std::vector<double> in(16), out(16);
    in[3] = 32;
    convolution.run(in.data(), out.data());
    EXPECT(std::fabs(out[11] - 2) < 1e-12);
    smooth.method = WEFT_SAMPLES;
    smooth.kernel.parameter = 1;
    smooth.tolerance = 1e-3;
    const std::vector<weft_octree_cell> cells = weft::convolution(ctx, smooth).cells(0);
    EXPECT(cells.size() == 1 && cells[0].edge == 16 && cells[0].step == 1);

    weft_stage stages[2] = {};
    stages[0].kind = WEFT_STAGE_FORWARD;
    stages[1].kind = WEFT_STAGE_INVERSE;
    weft_composition_problem both{};
    both.rank = 1;
    both.n[0] = 16;
    both.kind = WEFT_R2C;
    both.norm = WEFT_NORM_BACKWARD;
    both.stage = stages;
    both.stages = 2;
    const weft::composition composition(ctx, both);
    composition.run(in.data(), {out.data()});
    EXPECT(std::fabs(out[3] - 32) < 1e-12);
}

int main() {
    plans_outlive_the_names_of_their_contexts();
    buffers_outlive_the_names_of_their_plans();
    failures_throw_the_sentence();
    spans_are_taken();
    convolutions_and_compositions_run();
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
