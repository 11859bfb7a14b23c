/* A distributed 3-D transform in C++: a wave goes into the spectrum and back, on any number of
 * ranks. Objects release what they hold; what fails throws weft's sentence. */
#include <weft/weft_mpi.hpp>

#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>

using complex_number = std::complex<double>;

/* This rank's part of cos(2 pi (2 i / n0 + 3 j / n1 + k / n2)). */
static std::vector<double> wave(const weft_problem &problem, const weft_box &mine,
                                std::size_t count) {
    const double turn = 2 * std::acos(-1.0);
    std::vector<double> field(count);
    std::size_t at = 0;
    for (int64_t i = mine.lo[0]; i < mine.lo[0] + mine.n[0]; i++)
        for (int64_t j = mine.lo[1]; j < mine.lo[1] + mine.n[1]; j++)
            for (int64_t k = mine.lo[2]; k < mine.lo[2] + mine.n[2]; k++)
                field[at++] = std::cos(turn * (2.0 * double(i) / double(problem.n[0]) +
                                               3.0 * double(j) / double(problem.n[1]) +
                                               double(k) / double(problem.n[2])));
    return field;
}

/* The largest difference of the transform there and back on this rank. */
static double round_trip(int rank) {
    const weft::context ctx = weft::mpi_context(MPI_COMM_WORLD);
    weft_problem problem{};
    problem.rank = 3;
    problem.n[0] = 24;
    problem.n[1] = 20;
    problem.n[2] = 18;
    problem.kind = WEFT_R2C;
    problem.norm = WEFT_NORM_BACKWARD;
    const weft::plan plan(ctx, problem);

    const weft_box mine = plan.box(WEFT_INPUT, rank);
    const auto field = wave(problem, mine, plan.count<double>(WEFT_INPUT));
    std::vector<complex_number> spectrum(plan.count<complex_number>(WEFT_OUTPUT));
    std::vector<double> back(plan.count<double>(WEFT_RESULT));
    plan.execute(WEFT_FORWARD, field, spectrum);
    plan.execute(WEFT_INVERSE, spectrum, back);

    double error = 0;
    const std::size_t elements = std::size_t(mine.n[0] * mine.n[1] * mine.n[2]);
    for (std::size_t i = 0; i < elements; i++)
        error = std::fmax(error, std::fabs(back[i] - field[i]));
    return error;
}

int main(int argc, char **argv) {
    int rank;
    double error = 0, largest = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    try {
        error = round_trip(rank);
    } catch (const weft::error &failure) {
        std::fprintf(stderr, "%s\n", failure.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Allreduce(&error, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) std::printf("there and back: largest difference %.1e\n", largest);
    MPI_Finalize();
    return largest < 1e-12 ? 0 : 1;
}
