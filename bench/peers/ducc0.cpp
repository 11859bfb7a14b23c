/*
 * ducc0 behind the few functions of FFTW's guru interface that weft bench calls, so that it runs on
 * the benchmark's own arrays and its output is checked like any other. scripts/build-peers compiles
 * it with ducc0's sources from PyPI into a shared library that tools/bench/fftw_builds.c opens.
 *
 * ducc0 has no plans: a plan here holds shapes and strides, made once; its twiddles are cached by
 * ducc0 from the first run on. Planning effort means nothing to it.
 */
#include "ducc0/fft/fft.h"

#include <complex>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#define WORDS(text) #text
#define TEXT(text) WORDS(text)
#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

using ducc0::cfmav;
using ducc0::vfmav;
using shape = cfmav<double>::shape_t;
using strides = cfmav<double>::stride_t;

struct axis { /* fftw_iodim64 */
    ptrdiff_t n, in_stride, out_stride;
};

int planned_threads = 1;

/* Array shapes with the batch, if there is one, as the first axis. */
struct plan {
    shape in, out, axes;
    strides in_stride, out_stride;
    bool forward;
    size_t threads;
};

enum class half { none, output, input };

plan *make(int rank, const axis *dims, int loops, const axis *loop, bool forward, half spectrum) {
    if (rank < 1 || loops > 1) return nullptr;
    auto made = std::make_unique<plan>();
    const auto add = [&](const axis &one, size_t in, size_t out) {
        made->in.push_back(in);
        made->out.push_back(out);
        made->in_stride.push_back(one.in_stride);
        made->out_stride.push_back(one.out_stride);
    };
    for (int l = 0; l < loops; l++)
        if (loop[l].n > 1)
            add(loop[l], static_cast<size_t>(loop[l].n), static_cast<size_t>(loop[l].n));
    for (int a = 0; a < rank; a++) {
        const auto n = static_cast<size_t>(dims[a].n);
        const bool last = a == rank - 1;
        made->axes.push_back(made->in.size());
        add(dims[a], last && spectrum == half::input ? n / 2 + 1 : n,
            last && spectrum == half::output ? n / 2 + 1 : n);
    }
    made->forward = forward;
    made->threads = static_cast<size_t>(planned_threads);
    return made.release();
}

template <typename in_type, typename out_type, typename call>
void execute(const plan *p, void *in, void *out, call transform) {
    const cfmav<in_type> from(static_cast<const in_type *>(in), p->in, p->in_stride);
    const vfmav<out_type> to(static_cast<out_type *>(out), p->out, p->out_stride);
    transform(from, to);
}

} // namespace

#define INTERFACE(fftw, real)                                                                      \
    EXPORTED const char fftw##_version[] = "ducc0-" TEXT(DUCC0_VERSION);                           \
    EXPORTED plan *fftw##_plan_guru64_dft(int rank, const axis *dims, int loops, const axis *loop, \
                                          void *, void *, int sign, unsigned) {                    \
        return make(rank, dims, loops, loop, sign < 0, half::none);                                \
    }                                                                                              \
    EXPORTED plan *fftw##_plan_guru64_dft_r2c(int rank, const axis *dims, int loops,               \
                                              const axis *loop, void *, void *, unsigned) {        \
        return make(rank, dims, loops, loop, true, half::output);                                  \
    }                                                                                              \
    EXPORTED plan *fftw##_plan_guru64_dft_c2r(int rank, const axis *dims, int loops,               \
                                              const axis *loop, void *, void *, unsigned) {        \
        return make(rank, dims, loops, loop, false, half::input);                                  \
    }                                                                                              \
    EXPORTED void fftw##_execute_dft(const plan *p, void *in, void *out) {                         \
        execute<std::complex<real>, std::complex<real>>(p, in, out, [p](auto &from, auto &to) {    \
            ducc0::c2c(from, to, p->axes, p->forward, real(1), p->threads);                        \
        });                                                                                        \
    }                                                                                              \
    EXPORTED void fftw##_execute_dft_r2c(const plan *p, void *in, void *out) {                     \
        execute<real, std::complex<real>>(p, in, out, [p](auto &from, auto &to) {                  \
            ducc0::r2c(from, to, p->axes, true, real(1), p->threads);                              \
        });                                                                                        \
    }                                                                                              \
    EXPORTED void fftw##_execute_dft_c2r(const plan *p, void *in, void *out) {                     \
        execute<std::complex<real>, real>(p, in, out, [p](auto &from, auto &to) {                  \
            ducc0::c2r(from, to, p->axes, false, real(1), p->threads);                             \
        });                                                                                        \
    }                                                                                              \
    EXPORTED void fftw##_destroy_plan(plan *p) {                                                   \
        delete p;                                                                                  \
    }                                                                                              \
    EXPORTED int fftw##_alignment_of(void *) {                                                     \
        return 0;                                                                                  \
    }                                                                                              \
    EXPORTED char *fftw##_export_wisdom_to_string() {                                              \
        return nullptr;                                                                            \
    }                                                                                              \
    EXPORTED int fftw##_import_wisdom_from_filename(const char *) {                                \
        return 0;                                                                                  \
    }                                                                                              \
    EXPORTED int fftw##_init_threads() {                                                           \
        return 1;                                                                                  \
    }                                                                                              \
    EXPORTED void fftw##_plan_with_nthreads(int threads) {                                         \
        planned_threads = threads;                                                                 \
    }

INTERFACE(fftw, double)
INTERFACE(fftwf, float)
