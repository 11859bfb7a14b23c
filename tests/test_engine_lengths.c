/*
 * Every length from 1 to 4096, of every kind, in both precisions, against the exact sums. In one
 * run: all short ones and a random sample of the others, with a random type of cosine and sine
 * transforms for each. With every type: all lengths (minutes) with WEFT_TEST_LENGTHS=all, one with
 * WEFT_TEST_LENGTHS=N, every STEP-th from N on, so that several runs share them, with
 * WEFT_TEST_LENGTHS=N:STEP. WEFT_TEST_CASES=K: random ones of the ten cases of a length. One exact
 * transform of each length answers for all Fourier transforms and engines: input is such that
 * single precision holds it, the inverse is the forward one read backwards, and a complex line is
 * two real ones, as its spectrum is two spectra of real lines.
 */
#include "exact_chirp.h"
#include "test_engine.h"

#include <float.h>

enum { NUMBERS_IN_BATCH = 4096, MOST_ENGINES = 8 };

enum { LONGEST_SAMPLED = 4096, MOST_STEP = 64 /* of a sample */ };

typedef struct sampled_lengths {
    bool asked;                 /* for by the environment */
    int64_t length, last, step; /* step 0: a random one */
} sampled_lengths;

/* The first length. Returns false where WEFT_TEST_LENGTHS says nothing that is known. */
static bool sample_lengths(sampled_lengths *s) {
    const char *asked = getenv("WEFT_TEST_LENGTHS");
    *s = (sampled_lengths){asked != NULL, 1, LONGEST_SAMPLED, asked ? 1 : 0};
    if (!asked || strcmp(asked, "all") == 0) return true;
    char *end = NULL;
    s->length = s->last = strtoll(asked, &end, 10);
    if (*end == ':') {
        s->last = LONGEST_SAMPLED;
        s->step = strtoll(end + 1, &end, 10);
    }
    return *end == 0 && s->length > 0 && s->step > 0;
}

static void next_length(sampled_lengths *s) {
    s->length += s->step > 0 ? s->step : s->length < 64 ? 1 : random_between(1, MOST_STEP);
}

/* The cases of a length: one bit for each kind and direction in each precision. */
enum { ALL_CASES = 10 };
static unsigned cases;

static unsigned random_cases(void) {
    const char *asked = getenv("WEFT_TEST_CASES");
    const int count = asked && atoi(asked) > 0 ? atoi(asked) : ALL_CASES;
    const int64_t first = random_between(0, ALL_CASES - 1);
    unsigned chosen = 0;
    for (int i = 0; i < count; i++) chosen |= 1u << (first + 3 * i) % ALL_CASES;
    return chosen;
}

static bool is_asked(weft_transform_kind kind, weft_direction direction, int precision) {
    const int place = kind == WEFT_TRANSFORM_C2C && direction == WEFT_INVERSE ? 4 : (int)kind;
    return cases >> (2 * place + precision) & 1;
}

static exact_complex *allocate(int64_t lines, int64_t n) {
    exact_complex *made = malloc((size_t)(lines * n) * sizeof *made);
    assert_non_null(made);
    return made;
}

/* From -1 to 1 with 22 bits behind the point, so that single precision holds half the sum of two
 * such numbers as well. */
static long double short_number(void) {
    return (long double)random_between(-(1 << 22), 1 << 22) * 0x1p-22L;
}

/* Of long lines the first alone is transformed exactly, and the others are multiples of it. */
static int64_t exact_lines(int64_t n, int64_t lines) {
    return n < 512 ? lines : 1;
}

static void repeat_first(int64_t n, int64_t lines, exact_complex *x) {
    for (int64_t i = exact_lines(n, lines) * n; i < lines * n; i++) {
        const exact_complex before = x[i - n];
        x[i] = exact_number(-2 * creall(before), -2 * cimagl(before));
    }
}

/* Complex lines and their transforms in both directions. */
typedef struct known {
    int64_t n, lines;
    exact_complex *line, *forward, *backward;
} known;

static known know(int64_t n, int64_t lines) {
    known k = {n, lines, allocate(lines, n), allocate(lines, n), allocate(lines, n)};
    const int64_t exact = exact_lines(n, lines);
    for (int64_t i = 0; i < exact * n; i++)
        k.line[i] = exact_number(short_number(), short_number());
    memcpy(k.forward, k.line, (size_t)(exact * n) * sizeof *k.line);
    exact_chirp_dft(exact, n, -1, k.forward);
    repeat_first(n, lines, k.line);
    repeat_first(n, lines, k.forward);
    for (int64_t l = 0; l < lines; l++)
        for (int64_t j = 0; j < n; j++) k.backward[l * n + j] = k.forward[l * n + (n - j) % n];
    return k;
}

static void forget(known *k) {
    free(k->line);
    free(k->forward);
    free(k->backward);
}

/* Real and imaginary parts of the lines as lines of their own. */
static void split_line(const known *k, const exact_complex *x, exact_complex *parts) {
    for (int64_t l = 0; l < k->lines; l++)
        for (int64_t j = 0; j < k->n; j++) {
            parts[2 * l * k->n + j] = creall(x[l * k->n + j]);
            parts[(2 * l + 1) * k->n + j] = cimagl(x[l * k->n + j]);
        }
}

/* The halves of the spectra A and B of real lines a and b, given those of a + ib, A + iB. */
static void split_spectrum(const known *k, const exact_complex *x, exact_complex *halves) {
    const int64_t n = k->n, h = n / 2 + 1;
    for (int64_t l = 0; l < k->lines; l++)
        for (int64_t j = 0; j < h; j++) {
            const exact_complex s = x[l * n + j], t = conjl(x[l * n + (n - j) % n]);
            const exact_complex sum = s + t, difference = s - t;
            halves[2 * l * h + j] = exact_number(creall(sum) * 0.5L, cimagl(sum) * 0.5L);
            halves[(2 * l + 1) * h + j] =
                exact_number(cimagl(difference) * 0.5L, creall(difference) * -0.5L);
        }
}

/* Sets the imaginary parts that the spectrum of a real line cannot have, and that engines ignore,
 * but for cuFFT, which calls that undefined. */
static void set_ignored(const weft_engine_ops *engine, const known *k, exact_complex *halves) {
    const bool proper = engine->id == WEFT_ENGINE_CUFFT;
    const int64_t h = k->n / 2 + 1;
    for (int64_t l = 0; l < 2 * k->lines; l++)
        for (int64_t j = 0; j < h; j++)
            if (j == 0 || 2 * j == k->n) {
                exact_complex *number = &halves[l * h + j];
                *number = exact_number(creall(*number), proper ? 0 : short_number());
            }
}

/* One kind in both precisions, lines one after the other or side by side. `type`: of a
 * real-to-real transform. */
static void check_kind(const weft_engine_ops *engine, weft_transform_kind kind, weft_axis type,
                       weft_direction direction, int64_t n, int64_t lines,
                       const exact_complex *given, const exact_complex *expected) {
    const int64_t in = kind == WEFT_TRANSFORM_C2R ? n / 2 + 1 : n;
    const int64_t out = kind == WEFT_TRANSFORM_R2C ? n / 2 + 1 : n;
    for (int precision = WEFT_DOUBLE; precision <= WEFT_SINGLE; precision++) {
        if (!is_asked(kind, direction, precision)) continue;
        const bool in_beside = random_between(0, 1), out_beside = random_between(0, 1);
        weft_transform t = {.kind = kind,
                            .direction = direction,
                            .precision = (weft_precision)precision,
                            .dims = 1,
                            .dim = {{n, in_beside ? lines : 1, out_beside ? lines : 1}},
                            .type = {type},
                            .loops = 1,
                            .loop = {{lines, in_beside ? 1 : in, out_beside ? 1 : out}},
                            .destroy_input = random_between(0, 1),
                            .whole = random_between(0, 1),
                            .threads = 1};
        t.in_place = (kind == WEFT_TRANSFORM_C2C || kind == WEFT_TRANSFORM_R2R) &&
                     in_beside == out_beside && random_between(0, 1);
        if (engine->supports(&t, device_of(engine)) != WEFT_SUCCESS) {
            assert_int_equal(kind, WEFT_TRANSFORM_R2R);
            continue;
        }
        double share = check_against(engine, &t, ALIGNED, given, expected);
        if (share <= share_of_engine(engine)) continue;
        char text[512];
        describe_transform(&t, text, sizeof text);
        fail_msg("%s: %s, %s: error is %.3f of what is allowed", engine->name, text,
                 weft_axis_name(type), share);
    }
}

static int list_engines(const weft_engine_ops **list) {
#define WEFT_ENGINE_ENTRY(ops) &ops,
    static const weft_engine_ops *const all[] = {
#include "engine/engines.def"
    };
#undef WEFT_ENGINE_ENTRY
    int count = 0;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (engine_is_tested(all[i])) list[count++] = all[i];
    return count;
}

/* Checks the Fourier transforms of one length; `alone`: WEFT_TEST_LENGTHS names lengths. */
static void check_fourier(const weft_engine_ops *const *engine, int engines, int64_t n,
                          int64_t lines, bool alone) {
    known k = know(n, lines);
    exact_complex *parts = allocate(2 * lines, n), *halves = allocate(2 * lines, n / 2 + 1),
                  *real = allocate(2 * lines, n), *spectra = allocate(2 * lines, n / 2 + 1);
    split_line(&k, k.line, parts);
    split_spectrum(&k, k.forward, halves);
    split_spectrum(&k, k.line, spectra);
    split_line(&k, k.backward, real);
    for (int e = 0; e < engines; e++) {
        if (!alone && is_left_out(engine[e], 40)) continue;
        check_kind(engine[e], WEFT_TRANSFORM_C2C, WEFT_AXIS_OF_KIND, WEFT_FORWARD, n, lines, k.line,
                   k.forward);
        check_kind(engine[e], WEFT_TRANSFORM_C2C, WEFT_AXIS_OF_KIND, WEFT_INVERSE, n, lines, k.line,
                   k.backward);
        check_kind(engine[e], WEFT_TRANSFORM_R2C, WEFT_AXIS_OF_KIND, WEFT_FORWARD, n, 2 * lines,
                   parts, halves);
        set_ignored(engine[e], &k, spectra);
        check_kind(engine[e], WEFT_TRANSFORM_C2R, WEFT_AXIS_OF_KIND, WEFT_INVERSE, n, 2 * lines,
                   spectra, real);
    }
    free(spectra);
    free(real);
    free(halves);
    free(parts);
    forget(&k);
}

/* Checks one type of cosine or sine transforms of one length. */
static void check_real_to_real(const weft_engine_ops *const *engine, int engines, weft_axis type,
                               int64_t n, int64_t lines, bool alone) {
    const int64_t exact = exact_lines(n, lines);
    exact_complex *line = allocate(lines, n), *expected = allocate(lines, n);
    long double *x = malloc((size_t)(exact * n) * sizeof *x);
    for (int64_t i = 0; i < exact * n; i++) line[i] = x[i] = short_number();
    exact_chirp_r2r(type, exact, n, x);
    for (int64_t i = 0; i < exact * n; i++) expected[i] = x[i];
    repeat_first(n, lines, line);
    repeat_first(n, lines, expected);
    for (int e = 0; e < engines; e++) {
        if (!alone && is_left_out(engine[e], 40)) continue;
        check_kind(engine[e], WEFT_TRANSFORM_R2R, type, WEFT_FORWARD, n, lines, line, expected);
    }
    free(x);
    free(expected);
    free(line);
}

static void lengths_to_4096_meet_the_accuracy_rule(void **state) {
    (void)state;
    const weft_engine_ops *engine[MOST_ENGINES];
    const int engines = list_engines(engine);
    sampled_lengths s;
    if (engines == 0) skip();
    assert_true(sample_lengths(&s));
    for (; s.length <= s.last; next_length(&s)) {
        const int64_t n = s.length, lines = n < 512 ? NUMBERS_IN_BATCH / n + random_between(0, 7)
                                                    : random_between(1, 3);
        cases = random_cases();
        check_fourier(engine, engines, n, lines, s.asked);
        const int first = n > 1 ? WEFT_DCT1 : WEFT_DCT2; /* one point has no DCT-I */
        const int64_t chosen = random_between(first, WEFT_DST3_ALIGNED);
        for (int type = first; type <= WEFT_DST3_ALIGNED; type++)
            if (type != WEFT_AXIS_REAL && (s.asked || type == chosen))
                check_real_to_real(engine, engines, (weft_axis)type, n, lines, s.asked);
        if (s.asked && s.length / 512 < (s.length + s.step) / 512)
            print_message("lengths to %lld hold\n", (long long)s.length);
    }
}

/* The difference relative to `right`, root mean squares of both. */
static long double difference(int64_t count, const exact_complex *x, const exact_complex *right) {
    long double off = 0, size = 0;
    for (int64_t i = 0; i < count; i++) {
        const long double apart = cabsl(x[i] - right[i]), whole = cabsl(right[i]);
        off += apart * apart;
        size += whole * whole;
    }
    return sqrtl(off / size);
}

static void chirps_give_the_exact_fourier_sums(void **state) {
    (void)state;
    for (int i = 0; i < 8; i++) {
        const int64_t n = random_between(1, i == 0 ? 1000 : 200), lines = random_between(1, 3);
        const int sign = i % 2 == 0 ? -1 : 1;
        exact_complex *fast = allocate(lines, n), *sums = allocate(lines, n);
        for (int64_t j = 0; j < lines * n; j++)
            fast[j] = sums[j] = exact_number(random_number(), random_number());
        exact_chirp_dft(lines, n, sign, fast);
        exact_dft_axis(lines, n, 1, sign, sums);
        const long double off = difference(lines * n, fast, sums);
        if (!(off < 100 * LDBL_EPSILON))
            fail_msg("%lld lines of %lld points, sign %d: %.3Lg", (long long)lines, (long long)n,
                     sign, off);
        free(sums);
        free(fast);
    }
}

static void chirps_give_the_exact_cosine_and_sine_sums(void **state) {
    (void)state;
    for (int type = WEFT_DCT1; type <= WEFT_DST3_ALIGNED; type++) {
        if (type == WEFT_AXIS_REAL) continue;
        const int64_t n = random_between(2, 300), count = 2 * n;
        long double *x = malloc((size_t)count * sizeof *x), *y = malloc((size_t)count * sizeof *y);
        exact_complex *fast = allocate(2, n), *sums = allocate(2, n);
        for (int64_t i = 0; i < count; i++) x[i] = y[i] = random_number();
        exact_chirp_r2r((weft_axis)type, 2, n, x);
        r2r_define_axis((weft_axis)type, 2, n, 1, y);
        for (int64_t i = 0; i < count; i++) fast[i] = x[i], sums[i] = y[i];
        const long double off = difference(count, fast, sums);
        if (!(off < 100 * LDBL_EPSILON))
            fail_msg("%s of %lld points: %.3Lg", weft_axis_name((weft_axis)type), (long long)n,
                     off);
        free(sums);
        free(fast);
        free(y);
        free(x);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chirps_give_the_exact_fourier_sums),
        cmocka_unit_test(chirps_give_the_exact_cosine_and_sine_sums),
        cmocka_unit_test(lengths_to_4096_meet_the_accuracy_rule),
    };
    begin_engine_tests();
    return end_engine_tests(cmocka_run_group_tests(tests, NULL, NULL));
}
