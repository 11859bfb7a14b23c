/*
 * An adapter of weft bench: heFFTe, on as many MPI processes as it is started with. Written for
 * heFFTe 2.3 and later, with its FFTW backend where that is enabled and its own otherwise. It was
 * written from heFFTe's interface and has not been compiled against heFFTe itself by those who
 * wrote it.
 *
 * The case stands on the command line; each line of standard input of rank 0 asks for one
 * transform, each line of its standard output tells the seconds of the slowest rank. Between
 * transforms rank 0 waits for a line and the others sleep, so that contestants that run in turn
 * have the cores to themselves.
 *
 * Input is split along the first axis and the spectrum along the second, as with weft's slab-2d1d,
 * in slabs: one exchange. heFFTe's dimension 0 is the contiguous one, our last axis.
 */
#include <heffte.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <type_traits>
#include <unistd.h>
#include <vector>

namespace {

#ifdef Heffte_ENABLE_FFTW
using backend = heffte::backend::fftw;
#else
using backend = heffte::backend::stock;
#endif
using box = heffte::box3d<>;

struct wanted_case {
    std::array<int, 3> shape = {0, 0, 0}; // x, y, z
    std::string kind = "c2c", precision = "double", direction = "forward";
};

std::array<int, 3> read_shape(const std::string &text) {
    std::array<int, 3> shape = {0, 0, 0};
    int end = 0;
    int axes = std::sscanf(text.c_str(), "%dx%dx%d%n", &shape[0], &shape[1], &shape[2], &end);
    if (axes != 3 || static_cast<size_t>(end) != text.size())
        throw std::runtime_error("it transforms three axes only");
    for (int n : shape)
        if (n < 1) throw std::runtime_error("an axis without points");
    return shape;
}

wanted_case read_case(int argc, char **argv) {
    wanted_case wanted;
    for (int a = 1; a + 1 < argc; a += 2) {
        const std::string name = argv[a], value = argv[a + 1];
        if (name == "--shape") wanted.shape = read_shape(value);
        if (name == "--kind") wanted.kind = value;
        if (name == "--precision") wanted.precision = value;
        if (name == "--direction") wanted.direction = value;
        if (name == "--batch" && value != "1")
            throw std::runtime_error("it transforms one array at a time");
        if (name == "--layout" && value != "contiguous")
            throw std::runtime_error("its arrays are contiguous");
        if (name == "--threads" && value != "1")
            throw std::runtime_error("its processes have one thread");
    }
    if (wanted.kind != "r2c" && wanted.kind != "c2c")
        throw std::runtime_error("it transforms r2c and c2c only");
    if (wanted.shape[0] == 0) throw std::runtime_error("--shape is missing");
    return wanted;
}

/* This rank's part of a box that is split along one of heFFTe's dimensions. */
box part_of(const box &world, int dimension, int me, int ranks) {
    std::array<int, 3> grid = {1, 1, 1};
    if (world.size[static_cast<size_t>(dimension)] < ranks)
        throw std::runtime_error("it has no slabs for more ranks than rows");
    grid[static_cast<size_t>(dimension)] = ranks;
    return heffte::split_world(world, grid)[static_cast<size_t>(me)];
}

/* Rank 0 waits for a line, the others sleep until it tells them. False at the end of the input. */
bool asked_again(int me) {
    int more = 0, told = 0;
    if (me == 0) {
        std::string line;
        more = std::getline(std::cin, line) ? 1 : 0;
    }
    MPI_Request request;
    MPI_Ibcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    MPI_Test(&request, &told, MPI_STATUS_IGNORE);
    while (!told) {
        usleep(100);
        MPI_Test(&request, &told, MPI_STATUS_IGNORE);
    }
    return more != 0;
}

double largest(double mine) {
    double all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

double peak_memory() {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

void fill(std::vector<float> &data, std::mt19937 &random) {
    std::uniform_real_distribution<float> numbers(-0.5F, 0.5F);
    for (auto &value : data) value = numbers(random);
}

void fill(std::vector<double> &data, std::mt19937 &random) {
    std::uniform_real_distribution<double> numbers(-0.5, 0.5);
    for (auto &value : data) value = numbers(random);
}

template <typename real> void fill(std::vector<std::complex<real>> &data, std::mt19937 &random) {
    std::uniform_real_distribution<real> numbers(real(-0.5), real(0.5));
    for (auto &value : data) {
        const real re = numbers(random), im = numbers(random);
        value = {re, im};
    }
}

/* Relative L2 error of `got`, scaled, over all ranks. */
template <typename element>
double relative_error(const std::vector<element> &got, const std::vector<element> &expected,
                      double scale) {
    double mine[2] = {0, 0}, all[2];
    for (size_t i = 0; i < got.size(); i++) {
        const std::complex<double> is(got[i]), should(expected[i]);
        mine[0] += std::norm(is * scale - should);
        mine[1] += std::norm(should);
    }
    MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return std::sqrt(all[0] / all[1]);
}

/* Answers every line of the input. `element` is the type of the data before a forward transform. */
template <typename element, typename plan_type>
void serve(const wanted_case &wanted, const plan_type &plan, int me) {
    using complex = std::complex<decltype(std::real(element()))>;
    std::vector<element> data(static_cast<size_t>(plan.size_inbox()));
    std::vector<complex> spectrum(static_cast<size_t>(plan.size_outbox()));
    std::vector<complex> workspace(plan.size_workspace());
    std::mt19937 random(static_cast<unsigned>(1 + me));
    fill(data, random);

    std::vector<element> back(data.size());
    plan.forward(data.data(), spectrum.data(), workspace.data());
    plan.backward(spectrum.data(), back.data(), workspace.data());
    const double points = double(wanted.shape[0]) * wanted.shape[1] * wanted.shape[2];
    const double error = relative_error(back, data, 1 / points);
    if (me == 0)
        std::cout << "ready heffte " << Heffte_VERSION_MAJOR << '.' << Heffte_VERSION_MINOR << '.'
                  << Heffte_VERSION_PATCH << std::endl;

    while (asked_again(me)) {
        MPI_Barrier(MPI_COMM_WORLD);
        double seconds = -MPI_Wtime();
        if (wanted.direction == "forward")
            plan.forward(data.data(), spectrum.data(), workspace.data());
        else
            plan.backward(spectrum.data(), back.data(), workspace.data());
        seconds = largest(seconds + MPI_Wtime());
        const double memory = largest(peak_memory());
        if (me == 0) std::printf("%.9g error=%.3g memory_peak=%.0f\n", seconds, error, memory);
        std::fflush(stdout);
    }
}

template <typename real> void run(const wanted_case &wanted, int me, int ranks) {
    const auto &n = wanted.shape;
    const box world({0, 0, 0}, {n[2] - 1, n[1] - 1, n[0] - 1});
    heffte::plan_options options = heffte::default_options<backend>();
    options.use_pencils = false;
    if (wanted.kind == "r2c") {
        const heffte::fft3d_r2c<backend> plan(part_of(world, 2, me, ranks),
                                              part_of(world.r2c(0), 1, me, ranks), 0,
                                              MPI_COMM_WORLD, options);
        serve<real>(wanted, plan, me);
    } else {
        const heffte::fft3d<backend> plan(part_of(world, 2, me, ranks),
                                          part_of(world, 1, me, ranks), MPI_COMM_WORLD, options);
        serve<std::complex<real>>(wanted, plan, me);
    }
}

} // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int me = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    try {
        const wanted_case wanted = read_case(argc, argv);
        if (wanted.precision == "single")
            run<float>(wanted, me, ranks);
        else
            run<double>(wanted, me, ranks);
    } catch (const std::exception &failure) { // all ranks see the same case, so all come here
        if (me == 0) std::cerr << "heffte: " << failure.what() << std::endl;
        MPI_Finalize();
        return 2;
    }
    MPI_Finalize();
    return 0;
}
