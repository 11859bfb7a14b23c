/*
 * weft for C++: <weft/weft.h> with objects that release what they hold, and exceptions with weft's
 * sentence. C++11 and later.
 *
 * A context, a plan and what is made of one are handles: copies mean the same, and what they mean
 * is destroyed with the last of them, a plan's buffers before the plan and plans before their
 * context. Contexts and plans over MPI are destroyed collectively, so let all ranks drop them at
 * the same places. Problems and options are the structs of C, whose members are explained there:
 *
 *     weft::context ctx;
 *     weft_problem problem{};
 *     problem.rank = 3; ...
 *     weft::plan plan(ctx, problem);
 *     std::vector<double> in(plan.count<double>(WEFT_INPUT));
 *     std::vector<std::complex<double>> out(plan.count<std::complex<double>>(WEFT_OUTPUT));
 *     plan.execute(WEFT_FORWARD, in, out);
 *
 * What fails throws weft::error. Collective means here what it means in <weft/weft.h>.
 */
#ifndef WEFT_HPP
#define WEFT_HPP

#include <weft/weft.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>
#if __cplusplus >= 202002L
#include <span>
#endif

namespace weft {

/* A failure: what() is the sentence of weft_last_error. */
class error : public std::runtime_error {
  public:
    error(weft_status status, const char *sentence)
        : std::runtime_error(sentence), status_(status) {
    }
    weft_status status() const noexcept {
        return status_;
    }

  private:
    weft_status status_;
};

/* Throws where a call has failed. */
inline void check(weft_status status) {
    if (status != WEFT_SUCCESS) throw error(status, weft_last_error(nullptr));
}

#if __cplusplus >= 202002L
template <class T> using span = std::span<T>;
#else
/* Elements side by side: where they begin, and how many there are. */
template <class T> class span {
  public:
    span(T *data, std::size_t size) : data_(data), size_(size) {
    }
    template <class Container, class = typename std::enable_if<std::is_convertible<
                                   decltype(std::declval<Container &>().data()), T *>::value>::type>
    span(Container &&container) : data_(container.data()), size_(container.size()) {
    }
    T *data() const noexcept {
        return data_;
    }
    std::size_t size() const noexcept {
        return size_;
    }
    T *begin() const noexcept {
        return data_;
    }
    T *end() const noexcept {
        return data_ + size_;
    }
    T &operator[](std::size_t i) const {
        return data_[i];
    }

  private:
    T *data_;
    std::size_t size_;
};
#endif

/* A context of one process; of the ranks of a communicator: weft::mpi_context of
 * <weft/weft_mpi.hpp>. */
class context {
  public:
    /* Not collective. */
    explicit context(const weft_context_options &options = weft_context_options()) {
        weft_context made = nullptr;
        check(weft_context_create(&options, &made));
        *this = adopt(made);
    }
    /* Takes over a handle, which is destroyed with the last copy. */
    static context adopt(weft_context made) {
        return context(std::shared_ptr<weft_context_private>(
            made, [](weft_context last) { weft_context_destroy(&last); }));
    }
    weft_context get() const noexcept {
        return handle_.get();
    }

  private:
    explicit context(std::shared_ptr<weft_context_private> handle) : handle_(std::move(handle)) {
    }
    std::shared_ptr<weft_context_private> handle_;
};

/* Memory where a plan computes (weft_buffer_create), or page-locked on the host
 * (weft_host_buffer_create): size() elements of T. */
template <class T> class buffer {
  public:
    /* Elements of memory on a device cannot be reached by the CPU. */
    T *data() const noexcept {
        return static_cast<T *>(memory_.get());
    }
    std::size_t size() const noexcept {
        return size_;
    }

  private:
    friend class plan;
    buffer(std::shared_ptr<void> memory, std::size_t size)
        : memory_(std::move(memory)), size_(size) {
    }
    std::shared_ptr<void> memory_;
    std::size_t size_;
};

class plan {
  public:
    /* Collective, as weft_plan_create. */
    plan(const context &ctx, const weft_problem &problem,
         const weft_options &options = weft_options()) {
        weft_plan made = nullptr;
        check(weft_plan_create(ctx.get(), &problem, &options, &made));
        own(ctx, made, weft_plan_destroy);
    }
    weft_plan get() const noexcept {
        return handle_.get();
    }

    /* The part of the global array that `rank` owns. */
    weft_box box(weft_space space, int rank = 0) const {
        weft_box found;
        check(weft_plan_box(get(), space, rank, &found));
        return found;
    }
    std::size_t bytes(weft_space space) const {
        std::size_t found;
        check(weft_plan_bytes(get(), space, &found));
        return found;
    }
    /* Elements of type T to allocate for this rank's array in `space`. */
    template <class T> std::size_t count(weft_space space) const {
        return (bytes(space) + sizeof(T) - 1) / sizeof(T);
    }
    weft_memory memory() const {
        weft_memory found;
        check(weft_plan_memory(get(), &found));
        return found;
    }
    weft_options options() const {
        weft_options found = weft_options();
        check(weft_plan_options(get(), &found));
        return found;
    }
    weft_timings timings() const {
        weft_timings found;
        check(weft_plan_timings(get(), &found));
        return found;
    }
    /* The spans of the last execution; options.trace must be 1. */
    std::vector<weft_span> trace() const {
        const weft_span *spans = nullptr;
        int count = 0;
        check(weft_plan_trace(get(), &spans, &count));
        return std::vector<weft_span>(spans, spans + count);
    }
    void explain(std::FILE *stream, weft_format format = WEFT_TEXT) const {
        check(weft_plan_explain(get(), stream, format));
    }

    /* Executes on arrays of any type; refuses those that are too short. in and out are vectors,
     * spans, buffers, or anything that has data() and size(). Collective. */
    template <class In, class Out>
    void execute(weft_direction direction, const In &in, Out &&out) const {
        const weft_space from = direction == WEFT_INVERSE ? WEFT_OUTPUT : WEFT_INPUT;
        const weft_space to = direction == WEFT_FORWARD ? WEFT_OUTPUT : WEFT_RESULT;
        require(in.size() * sizeof(*in.data()), from, "in");
        require(out.size() * sizeof(*out.data()), to, "out");
        execute(direction, static_cast<const void *>(in.data()), static_cast<void *>(out.data()));
    }
    template <class T, class U>
    void execute(weft_direction direction, span<T> in, span<U> out) const {
        execute<span<T>, span<U> &>(direction, in, out);
    }
    /* Addresses alone, of arrays of bytes(): in == out is in place. Collective. */
    void execute(weft_direction direction, const void *in, void *out) const {
        check(weft_execute(get(), direction, in, out));
    }
    /* As weft_enqueue. */
    void enqueue(weft_direction direction, const void *in, void *out, void *stream) const {
        check(weft_enqueue(get(), direction, in, out, stream));
    }
    void set_array(int number, const void *array) const {
        check(weft_plan_set_array(get(), number, array));
    }
    void set_parameter(int number, double value) const {
        check(weft_plan_set_parameter(get(), number, value));
    }

    /* Memory for count elements where the plan computes. It keeps the plan alive. */
    template <class T> buffer<T> make_buffer(std::size_t count) const {
        return make<T>(count, weft_buffer_create, weft_buffer_destroy);
    }
    /* Page-locked memory of the host. It keeps the plan alive. */
    template <class T> buffer<T> make_host_buffer(std::size_t count) const {
        return make<T>(count, weft_host_buffer_create, weft_host_buffer_destroy);
    }
    template <class T> void upload(const buffer<T> &to, span<const T> from) const {
        require_room(from.size(), to.size());
        check(weft_buffer_upload(get(), to.data(), from.data(), from.size() * sizeof(T)));
    }
    template <class T> void download(span<T> to, const buffer<T> &from) const {
        require_room(to.size(), from.size());
        check(weft_buffer_download(get(), to.data(), from.data(), to.size() * sizeof(T)));
    }

  protected:
    plan() = default;
    void own(const context &ctx, weft_plan made, void (*destroy)(weft_plan *)) {
        handle_ = std::shared_ptr<weft_plan_private>(
            made, [ctx, destroy](weft_plan last) { destroy(&last); });
    }

  private:
    void require(std::size_t given, weft_space space, const char *which) const {
        const std::size_t needed = bytes(space);
        if (given >= needed) return;
        const std::string sentence = "weft::plan::execute: " + std::string(which) + " has " +
                                     std::to_string(given) + " bytes of " + std::to_string(needed) +
                                     "; make it as large as bytes() says";
        throw error(WEFT_ERROR_INVALID_ARGUMENT, sentence.c_str());
    }
    static void require_room(std::size_t elements, std::size_t room) {
        if (elements <= room) return;
        const std::string sentence = "weft::plan: " + std::to_string(elements) +
                                     " elements of a buffer that has " + std::to_string(room) +
                                     "; copy fewer";
        throw error(WEFT_ERROR_INVALID_ARGUMENT, sentence.c_str());
    }
    template <class T, class Create, class Destroy>
    buffer<T> make(std::size_t count, Create create, Destroy destroy) const {
        void *memory = nullptr;
        const std::shared_ptr<weft_plan_private> owner = handle_;
        check(create(get(), count * sizeof(T), &memory));
        return buffer<T>(std::shared_ptr<void>(
                             memory, [owner, destroy](void *last) { destroy(owner.get(), &last); }),
                         count);
    }
    std::shared_ptr<weft_plan_private> handle_;
};

/* A composition of stages (weft_composition_create); a plan that is executed by run(). */
class composition : public plan {
  public:
    composition(const context &ctx, const weft_composition_problem &problem,
                const weft_options &options = weft_options()) {
        weft_composition made = nullptr;
        check(weft_composition_create(ctx.get(), &problem, &options, &made));
        own(ctx, made, weft_composition_destroy);
    }
    /* out: the arrays of the stages that copy out, then that of the result. Collective. */
    void run(const void *in, const std::vector<void *> &out) const {
        check(weft_composition_execute(get(), in, out.data()));
    }
};

/* A convolution with a kernel (weft_convolution_create); a plan that is executed by run(). */
class convolution : public plan {
  public:
    convolution(const context &ctx, const weft_convolution_problem &problem,
                const weft_options &options = weft_options()) {
        weft_convolution made = nullptr;
        check(weft_convolution_create(ctx.get(), &problem, &options, &made));
        own(ctx, made, weft_convolution_destroy);
    }
    /* Collective. */
    void run(const void *in, void *out) const {
        check(weft_convolution_execute(get(), in, out));
    }
    void set_kernel(const void *array) const {
        check(weft_convolution_set_kernel(get(), array));
    }
    /* The octree around a sub-domain of a rank's box, or around all of it (-1). */
    std::vector<weft_octree_cell> cells(int rank, std::int64_t subdomain = -1) const {
        const weft_octree_cell *found = nullptr;
        std::int64_t count = 0;
        check(weft_convolution_cells(get(), rank, subdomain, &found, &count));
        return std::vector<weft_octree_cell>(found, found + count);
    }
};

} // namespace weft

#endif
