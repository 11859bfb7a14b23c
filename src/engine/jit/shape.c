/* Chooses the shapes of kernels. The padding of local memory is the one with the fewest bank
 * conflicts, which are counted. */
#include "engine/jit/shape.h"

#include "engine/generator.h"
#include "engine/jit/long_line.h"
#include "engine/jit/measured_line.h"
#include "engine/jit/multiprocessor.h"

#include <limits.h>

weft_jit_tuning weft_jit_tuning_of(weft_precision precision, const weft_kernel_limits *limits) {
    const bool single = precision == WEFT_SINGLE;
    weft_jit_tuning tuning = {.values = 16,
                              .cluster_values = 32,
                              .threads = 512,
                              .least_threads = single ? 64 : 128,
                              .across_bytes = 256,
                              .least_across_bytes = 32,
                              .run_bytes = single ? 64 : 128,
                              .large_stride_threads = single ? 1024 : 512,
                              .registers = single ? 32 : 40,
                              .across_registers = 32,
                              .alternates = single ? INT_MAX : 769,
                              .whole_bytes = 72 << 10,
                              .local_bytes = 100 << 10,
                              .rader = 100,
                              .longest = single ? 23040 : 12288,
                              .clustered = single ? 32768 : 16384,
                              .cluster_bytes = (size_t)(single ? 72 : 136) << 10,
                              .longest_work = (size_t)1 << 30,
                              .folds = true};
    if (limits->is_cpu) tuning.longest = WEFT_JIT_LONGEST; /* kernels take long to compile */
    if (tuning.local_bytes > limits->local_bytes) tuning.local_bytes = limits->local_bytes;
    return tuning;
}

/* ---- stages ---- */

int weft_jit_radix(const weft_jit_shape *shape, int s) {
    const weft_jit_radices *r = &shape->radices, *after = &shape->after;
    if (weft_jit_is_after_rows(shape, s)) return after->radix[s - shape->stages + after->stages];
    return s < r->stages ? r->radix[s] : r->radix[2 * r->stages - 1 - s];
}

int weft_jit_span(const weft_jit_shape *shape, int s) {
    const bool after = weft_jit_is_after_rows(shape, s);
    int first = s < shape->radices.stages ? 0 : shape->radices.stages;
    if (after) first = shape->stages - shape->after.stages;
    int span = after ? shape->points + 1 : 1;
    for (int i = first; i < s; i++) span *= weft_jit_radix(shape, i);
    return span;
}

/* ---- local memory ---- */

enum { PADS = 6 };
static const int pads[PADS] = {0, 64, 32, 16, 8, 4};

static int padded(int p, int pad) {
    return pad == 0 ? p : p + p / pad;
}

/* Points of a line that lie in the local memory of one group. */
static int share_of(const weft_jit_shape *shape) {
    return shape->points / shape->cluster;
}

/* Cycles that bank conflicts add to the accesses of the threads' warps. */
static int conflicts(const int *address, int threads, int number_bytes) {
    const int lanes = WEFT_JIT_BANK_BYTES / number_bytes;
    int excess = 0;
    for (int first = 0; first < threads; first += lanes) {
        int used[WEFT_JIT_BANK_BYTES] = {0}, most = 1;
        for (int i = first; i < threads && i < first + lanes; i++) {
            int *times = &used[address[i] % lanes];
            if (++*times > most) most = *times;
        }
        excess += most - 1;
    }
    return excess;
}

/* Finds the line that thread number i of a group works on, and its number among the threads of that
 * line. Rows count as lines. */
static void seat(const weft_jit_shape *s, bool across, int i, int *line, int *t) {
    const int lines = s->lines * s->rows;
    *line = across ? i % lines : i / s->radices.threads;
    *t = across ? i / lines : i % s->radices.threads;
}

/* Bank conflicts of the exchange after stage s: of the first result that threads store and of the
 * first point that they load, in the first four warps. */
static int exchange_conflicts(const weft_jit_shape *shape, int s, bool last, int pad, int pitch,
                              int number_bytes) {
    const int radix = weft_jit_radix(shape, s), span = weft_jit_span(shape, s);
    const int threads = shape->lines * weft_jit_line_threads(shape);
    const bool across = last ? shape->across_out : shape->across_in;
    int excess = 0;
    for (int first = 0; first < threads && first < 4 * WEFT_JIT_WARP; first += WEFT_JIT_WARP) {
        int given[WEFT_JIT_WARP], taken[WEFT_JIT_WARP], count = 0;
        for (int i = first; i < threads && i < first + WEFT_JIT_WARP; i++, count++) {
            int line, b;
            seat(shape, shape->across_in, i, &line, &b);
            given[count] =
                line * pitch + padded((b / span * span * radix + b % span) % share_of(shape), pad);
            seat(shape, across, i, &line, &b);
            taken[count] = line * pitch + padded(b % share_of(shape), pad);
        }
        excess += conflicts(given, count, number_bytes) + conflicts(taken, count, number_bytes);
    }
    return excess;
}

/* Whether stage s is the last of the forward transform in a kernel that also does the inverse:
 * points then stay in their registers. */
static bool is_midpoint(const weft_jit_shape *shape, int s) {
    return shape->stages > shape->radices.stages && s == shape->radices.stages - 1;
}

/* Chooses the padding of each exchange with the fewest bank conflicts, for the present pitch. The
 * stages after rows need none. Returns the number of conflicts. */
static int choose_pads(weft_jit_shape *shape, int room, int number_bytes) {
    const int stages = shape->stages - shape->after.stages;
    int total = 0;
    for (int s = 0; s + 1 < stages; s++) {
        int least = -1;
        for (int p = 0; p < PADS && !is_midpoint(shape, s); p++) {
            if (padded(share_of(shape) - 1, pads[p]) >= room) continue;
            int n = exchange_conflicts(shape, s, s + 2 == shape->stages, pads[p], shape->pitch,
                                       number_bytes);
            if (least >= 0 && n >= least) continue;
            least = n;
            shape->pad[s] = pads[p];
        }
        total += least > 0 ? least : 0;
    }
    return total;
}

/* Bank conflicts of the first points that threads take from lines that were loaded as a run, and of
 * the first ones that they give to those that are stored so. */
static int run_conflicts(const weft_jit_shape *shape, int pitch, int number_bytes) {
    const int threads = shape->lines * weft_jit_line_threads(shape);
    int excess = 0;
    for (int side = 0; side < 2; side++) {
        if (!(side == 0 ? shape->loads_run : shape->stores_run)) continue;
        for (int first = 0; first < threads && first < 4 * WEFT_JIT_WARP; first += WEFT_JIT_WARP) {
            int address[WEFT_JIT_WARP], count = 0;
            for (int i = first; i < threads && i < first + WEFT_JIT_WARP; i++, count++) {
                int line, b;
                seat(shape, side == 0 ? shape->across_in : shape->across_out, i, &line, &b);
                address[count] = line * pitch + b;
            }
            excess += conflicts(address, count, number_bytes);
        }
    }
    return excess;
}

static bool is_rader(const weft_jit_task *task) {
    return task->points < task->length;
}

static bool has_run(const weft_jit_shape *shape) {
    return shape->loads_run || shape->stores_run;
}

static bool has_half(const weft_jit_task *task) {
    return task->half_in || task->half_out;
}

/* Chooses the pitch and the padding of all exchanges with the fewest bank conflicts and, among
 * equals, with the least memory. Points of Rader's convolution, with point 0, also lie there in
 * their order in memory, and so do half spectra that are stored as a run. */
static void lay_out_local(weft_jit_shape *shape, const weft_jit_task *task, int number_bytes) {
    const int lanes = WEFT_JIT_BANK_BYTES / number_bytes;
    weft_jit_shape best = *shape;
    int fewest = -1;
    for (int most = 0; most < PADS; most++) {
        int room = padded(share_of(shape) - 1, pads[most]) + 1;
        const bool one_more = is_rader(task) || (shape->stores_run && task->half_out);
        if (one_more && room < task->points + 1) room = task->points + 1;
        for (int extra = 0; extra < (shape->lines * shape->rows > 1 ? lanes : 1); extra++) {
            shape->pitch = room + extra;
            int total = choose_pads(shape, room, number_bytes) +
                        run_conflicts(shape, shape->pitch, number_bytes);
            if (fewest >= 0 && total >= fewest) continue;
            fewest = total;
            best = *shape;
        }
    }
    *shape = best;
    if (shape->radices.stages == 1 && shape->rows == 1 && !has_half(task) && !has_run(shape))
        shape->pitch = 0;
    shape->local_bytes = (size_t)(shape->pitch * shape->rows * shape->lines * number_bytes);
}

static int greatest_common_divisor(int a, int b) {
    return b == 0 ? a : greatest_common_divisor(b, a % b);
}

/* Bank conflicts of the threads of a row that take its points, or give them, by the powers of g. */
static int order_conflicts(const weft_jit_shape *shape, int64_t g, int number_bytes) {
    enum { SOME_THREADS = 64 };
    const int p = shape->points + 1, radix = shape->radices.radix[0];
    const int all = shape->points / radix, threads = all < SOME_THREADS ? all : SOME_THREADS;
    const int64_t step = weft_power_modulo(g, all, p);
    int address[SOME_THREADS], excess = 0;
    for (int64_t k = 0, first = 1; k < radix; k++, first = first * step % p) {
        int64_t power = first;
        for (int b = 0; b < threads; b++, power = power * g % p) address[b] = (int)power;
        excess += conflicts(address, threads, number_bytes);
    }
    return excess;
}

/* The generator with the fewest of these conflicts, of some. Bits depend on it, so it must not
 * depend on where rows begin. */
static int choose_generator(const weft_jit_shape *shape, int number_bytes) {
    enum { SOME = 32 };
    const int p = shape->points + 1;
    int64_t best = weft_generator(p), power = best;
    const int64_t least = best;
    int fewest = order_conflicts(shape, best, number_bytes);
    for (int e = 2, tried = 1; tried < SOME && e < p - 1; e++) {
        power = power * least % p;
        if (greatest_common_divisor(e, p - 1) > 1) continue;
        const int excess = order_conflicts(shape, power, number_bytes);
        if (excess < fewest) {
            best = power;
            fewest = excess;
        }
        tried++;
    }
    return (int)best;
}

/* ---- lines of a group ---- */

enum { RUN_REGISTERS = 8, RUN_VALUES = 14 };

/* Runs that are loaded or stored take registers for their places, of which threads of single
 * precision that hold many points have none to spare. */
static int registers_of(const weft_jit_task *task, const weft_jit_shape *shape,
                        const weft_jit_tuning *tuning) {
    const bool single = task->precision == WEFT_SINGLE;
    const bool across = (task->across_in || task->across_out) && !is_rader(task);
    const bool more = single && has_run(shape) && shape->radices.values >= RUN_VALUES;
    return weft_jit_registers_of_points(&shape->radices, task->precision) +
           (across ? tuning->across_registers : tuning->registers) + (more ? RUN_REGISTERS : 0);
}

/* Smaller groups of strided lines do not saturate the memory of an H200. */
enum { LEAST_ACROSS_THREADS = 128 };

/* The least number of lines, from `lines` on, whose threads are at least `sixteenths` of those of
 * so many times `granule` threads, if they are no more than `most`; else 0. */
static int filling_lines(int lines, int threads, int granule, int sixteenths, int most) {
    for (int more = lines; more * threads <= most; more++) {
        const int granules = (more * threads + granule - 1) / granule;
        if (more * threads * 16 >= granules * granule * sixteenths) return more;
    }
    return 0;
}

/* Lines of a group that does contiguous lines: at least as many as fill the least number of
 * threads; of those that are loaded as a run, no more. Those of Rader's convolution fill the warps
 * of all parts of a multiprocessor, if that takes few. */
static int contiguous_lines(const weft_jit_task *task, const weft_jit_tuning *tuning,
                            const weft_jit_shape *shape) {
    const int threads = weft_jit_line_threads(shape);
    const int granule = tuning->least_threads, least = (granule + threads - 1) / threads;
    int lines = is_rader(task) ? filling_lines(1, threads, granule, 15, 256) : 0;
    if (lines > 0) return (lines * threads + granule - 1) / granule * granule / threads;
    const int within = granule / threads;
    if (has_run(shape) && within * threads * 16 >= granule * 15) return within;
    lines = filling_lines(least, threads, WEFT_JIT_WARP, 14, tuning->threads);
    return lines > 0 ? lines : least;
}

/* An even number of strided lines, about `lines`, whose threads fill the warps of 128, 256 or 512
 * threads; `lines` if there is none. */
static int filling_strided_lines(int lines, int threads) {
    int above = lines;
    for (int group = 512; group >= 128; group /= 2) {
        const int even = group / threads / 2 * 2;
        if (even * threads * 16 < group * 15) continue;
        if (even <= lines && 2 * even >= lines) return even;
        if (even > lines && even <= 2 * lines) above = even;
    }
    return above;
}

static int most_lines(const weft_jit_task *task, const weft_jit_tuning *tuning,
                      const weft_jit_shape *shape) {
    const int threads = weft_jit_line_threads(shape);
    const int group =
        task->large_stride && !task->round_trip ? tuning->large_stride_threads : tuning->threads;
    const int line_registers = threads * registers_of(task, shape, tuning);
    const int point = 2 * (int)weft_number_bytes(task->precision);
    int lines = 1;
    if (task->across_in || task->across_out) {
        lines = tuning->across_bytes / point;
        while (lines * point > 128 &&
               (size_t)(lines * point * task->points * task->rows) > tuning->whole_bytes)
            lines /= 2;
        if (threads == 1) lines = tuning->threads / 2;
        while (lines * threads < LEAST_ACROSS_THREADS) lines *= 2;
        while (lines > 1 && lines * threads > group) lines /= 2;
        while (lines * point < tuning->least_across_bytes && 2 * lines * threads <= 4 * group &&
               2 * lines * line_registers <= WEFT_JIT_REGISTERS)
            lines *= 2;
        if (is_rader(task)) lines = filling_strided_lines(lines, threads);
    } else {
        lines = contiguous_lines(task, tuning, shape);
    }
    return lines < task->lines ? lines : (int)task->lines;
}

/* Whether points lie along their lines, which are transformed once. */
static bool is_along(const weft_jit_task *task) {
    return !task->across_in && !task->across_out && !task->round_trip;
}

/* The same of plain points. */
static bool is_plain_line(const weft_jit_task *task) {
    return task->plain && is_along(task) && !is_rader(task);
}

/* So many groups as leave threads the registers that such transforms take beside those of their
 * points, if about `groups` have room. Groups of few threads with double precision do not become
 * faster by being more. */
static int resident_plain_groups(const weft_jit_task *task, const weft_jit_shape *shape,
                                 int groups) {
    enum { MANY = 320, OTHERS_OF_MANY = 20, OTHERS_OF_FEW = 28 };
    const int threads = (int)weft_jit_group_threads(shape);
    const bool many = threads > MANY, more = many || task->precision == WEFT_SINGLE;
    const int least = weft_jit_registers_of_points(&shape->radices, task->precision) +
                      (many ? OTHERS_OF_MANY : OTHERS_OF_FEW) +
                      (has_run(shape) ? RUN_REGISTERS : 0);
    while (groups > 1 && weft_jit_registers_with(groups, threads) < least) groups--;
    while (more && (groups + 1) * threads <= WEFT_JIT_RESIDENT_THREADS &&
           weft_jit_registers_with(groups + 1, threads) >= least)
        groups++;
    return groups;
}

/* The number of groups that a multiprocessor has registers for at the same time. The threads of
 * Rader's convolution, and of few to a line, seldom fill their warps. */
static int resident_groups(const weft_jit_task *task, const weft_jit_tuning *tuning,
                           const weft_jit_shape *shape) {
    enum { ENOUGH_THREADS = 1024 };
    const int thread = registers_of(task, shape, tuning);
    const int threads = (int)weft_jit_group_threads(shape);
    const int room = WEFT_JIT_REGISTERS / thread,
              resident = room < ENOUGH_THREADS ? room : ENOUGH_THREADS;
    int groups = threads < resident ? resident / threads : 1;
    const bool exact = is_rader(task) || has_run(shape);
    while (exact && groups > 1 && weft_jit_registers_with(groups, threads) < thread) groups--;
    return is_plain_line(task) ? resident_plain_groups(task, shape, groups) : groups;
}

/* Whether one group does a line that not every device's groups have room for. */
static bool is_long(const weft_jit_task *task, const weft_jit_tuning *tuning) {
    return task->length > WEFT_JIT_LONGEST && task->length <= tuning->longest;
}

bool weft_jit_shape_fits(const weft_jit_shape *shape, const weft_jit_task *task,
                         const weft_jit_tuning *tuning, const weft_kernel_limits *limits) {
    const int threads = (int)weft_jit_group_threads(shape);
    const bool registers = is_long(task, tuning)
                               ? shape->resident > 0
                               : threads * registers_of(task, shape, tuning) <= WEFT_JIT_REGISTERS;
    return registers && (unsigned)threads <= limits->threads &&
           shape->local_bytes <= limits->local_bytes;
}

/* Whether a cluster of so many groups can share the threads, none of which is idle in any stage,
 * and each group gives the numbers of its own share in all stages but the last one. */
static bool divides(const weft_jit_shape *shape, int cluster) {
    const int last = shape->stages - 1, share = shape->points / cluster;
    const int threads = shape->radices.threads;
    bool all = threads % cluster == 0;
    for (int s = 0; s <= last; s++)
        all = all && shape->points / weft_jit_radix(shape, s) % threads == 0 &&
              (s == last || share % weft_jit_span(shape, s + 1) == 0);
    return all;
}

/* The smallest cluster whose groups have enough local memory for a line, or the largest. */
static weft_jit_shape choose_cluster(weft_jit_shape shape, const weft_jit_task *task,
                                     const weft_jit_tuning *tuning,
                                     const weft_kernel_limits *limits) {
    shape.lines = shape.parts = 1;
    for (int cluster = 2; cluster <= (int)limits->cluster; cluster *= 2) {
        if (!divides(&shape, cluster)) break;
        shape.cluster = cluster;
        lay_out_local(&shape, task, 2 * (int)weft_number_bytes(task->precision));
        shape.resident = resident_groups(task, tuning, &shape);
        if (shape.local_bytes <= tuning->cluster_bytes) break;
    }
    return shape;
}

/* The shape of a group that does one line, whose radices, threads and groups at once are chosen.
 * With less local memory than a group of an H200 has, fewer groups are there at once, or real and
 * imaginary parts are exchanged one after the other. */
static weft_jit_shape choose_alone(weft_jit_shape shape, const weft_jit_task *task,
                                   const weft_kernel_limits *limits) {
    const int number = (int)weft_number_bytes(task->precision);
    shape.lines = shape.parts = 1;
    lay_out_local(&shape, task, 2 * number);
    while (shape.resident > 1 && (size_t)shape.resident * shape.local_bytes > limits->local_bytes)
        shape.resident--;
    if (shape.local_bytes <= limits->local_bytes) return shape;
    shape.parts = 2;
    lay_out_local(&shape, task, number);
    return shape;
}

/* Whether complex points lie along their lines, which are transformed as they are. */
static bool is_contiguous(const weft_jit_task *task) {
    return is_along(task) && !has_half(task) && task->points == task->length;
}

/* *resident gets 0 where a group may do several lines. */
static weft_jit_radices choose_radices(const weft_jit_task *task, const weft_jit_tuning *tuning,
                                       int *resident) {
    weft_jit_radices radices = {.stages = 0};
    *resident = 0;
    if (is_rader(task)) return weft_jit_choose_row_radices(task->points, tuning->values);
    if (is_contiguous(task) && task->length <= tuning->longest &&
        weft_jit_find_contiguous_radices(task->length, task->precision, &radices, resident))
        return radices;
    if (is_long(task, tuning))
        radices =
            weft_jit_choose_long_radices(task->points, task->precision, has_half(task), resident);
    if (radices.stages > 0) return radices;
    if (task->strided && weft_jit_find_strided_radices(task->length, task->precision, &radices))
        return radices;
    return weft_jit_choose_radices(
        task->points, task->length > WEFT_JIT_LONGEST ? tuning->cluster_values : tuning->values);
}

weft_jit_shape weft_jit_choose_shape(const weft_jit_task *task, const weft_jit_tuning *tuning,
                                     const weft_kernel_limits *limits) {
    const int number = (int)weft_number_bytes(task->precision);
    weft_jit_shape shape = {.points = task->points, .rows = task->rows, .cluster = 1};
    shape.radices = choose_radices(task, tuning, &shape.resident);
    shape.after = weft_jit_choose_after_rows(task->rows, task->points + 1, shape.radices.threads,
                                             tuning->values);
    if (shape.after.values > shape.radices.values) shape.radices.values = shape.after.values;
    shape.stages = shape.radices.stages * (task->round_trip ? 2 : 1) + shape.after.stages;
    if (is_rader(task)) shape.generator = choose_generator(&shape, 2 * number);
    /* Where one thread does a whole line, there is nothing to exchange, so threads need not change
     * lines between loading and storing. */
    const bool alone = shape.stages == 1 && !has_half(task);
    shape.across_in = task->across_in && !alone;
    shape.across_out = task->across_out && !alone;
    const bool few = weft_jit_line_threads(&shape) * 2 * number < tuning->run_bytes;
    shape.loads_run = few && !is_rader(task) && !task->across_in && !task->half_in;
    shape.stores_run = few && !is_rader(task) && !task->across_out && !task->waves_out;
    if (is_long(task, tuning) || shape.resident > 0) return choose_alone(shape, task, limits);
    if (task->length > tuning->longest) return choose_cluster(shape, task, tuning, limits);
    shape.lines = most_lines(task, tuning, &shape);
    for (;; shape.lines = (shape.lines + 1) / 2) {
        shape.parts = 1;
        lay_out_local(&shape, task, 2 * number);
        if (shape.local_bytes > tuning->whole_bytes || shape.local_bytes > tuning->local_bytes) {
            shape.parts = 2;
            lay_out_local(&shape, task, number);
        }
        bool fits = shape.local_bytes <= tuning->local_bytes &&
                    weft_jit_group_threads(&shape) <= limits->threads;
        shape.resident = resident_groups(task, tuning, &shape);
        if (fits || shape.lines == 1) return shape;
    }
}
