/*
 * Every length from 1 to 4096, of every kind, in both precisions, against the exact DFT
 * (sampled_lengths.h says which of them in one run); WEFT_TEST_CASES=K: random ones of the eight
 * cases of a length. Two exact transforms of each length answer for all kinds and engines: input is
 * such that single precision holds it, the inverse is the forward one read backwards, and a complex
 * line is two real ones.
 */
#include "sampled_lengths.h"
#include "test_engine.h"

enum { STRIDE = 32, NUMBERS_IN_BATCH = 4096, MOST_ENGINES = 8 };

/* The cases of a length: one bit for each kind and direction in each precision. */
enum { ALL_CASES = 8 };
static unsigned cases;

static unsigned random_cases(void) {
    const char *asked = getenv("WEFT_TEST_CASES");
    const int count = asked && atoi(asked) > 0 ? atoi(asked) : ALL_CASES;
    const int64_t first = random_between(0, ALL_CASES - 1);
    unsigned chosen = 0;
    for (int i = 0; i < count; i++) chosen |= 1u << (first + 3 * i) % ALL_CASES;
    return chosen;
}

/* The complex lines `line` and their spectra; the half spectra `half` and their real lines, which
 * `proper` has too, for cuFFT: without the imaginary parts that they cannot have. Twice as many
 * real lines as complex ones. */
typedef struct known {
    int64_t n, lines;
    exact_complex *line, *spectrum, *half, *proper, *real;
} known;

static exact_complex *allocate(int64_t lines, int64_t n) {
    exact_complex *made = malloc((size_t)(lines * n) * sizeof *made);
    assert_non_null(made);
    return made;
}

static void fill(exact_complex *x, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        float re = (float)random_number(), im = (float)random_number();
        x[i] = re + im * I;
    }
}

/* Element k of the spectrum of a real line, given half of it; what should be real, is. */
static exact_complex mirrored(const exact_complex *half, int64_t n, int64_t k) {
    if (k == 0 || 2 * k == n) return creall(half[k]);
    return 2 * k < n ? half[k] : conjl(half[n - k]);
}

static known know(int64_t n, int64_t lines) {
    const int64_t h = n / 2 + 1;
    known k = {n,
               lines,
               allocate(lines, n),
               allocate(lines, n),
               allocate(2 * lines, h),
               allocate(2 * lines, h),
               allocate(2 * lines, n)};
    fill(k.line, lines * n);
    fill(k.half, 2 * lines * h);
    for (int64_t l = 0; l < 2 * lines; l++)
        for (int64_t j = 0; j < h; j++) k.proper[l * h + j] = mirrored(k.half + l * h, n, j);
    memcpy(k.spectrum, k.line, (size_t)(lines * n) * sizeof *k.line);
    exact_dft_axis(lines, n, 1, -1, k.spectrum);
    exact_complex *pair = allocate(lines, n); /* a + ib has the spectrum A + iB */
    for (int64_t l = 0; l < lines; l++)
        for (int64_t j = 0; j < n; j++)
            pair[l * n + j] =
                mirrored(k.half + 2 * l * h, n, j) + I * mirrored(k.half + (2 * l + 1) * h, n, j);
    exact_dft_axis(lines, n, 1, 1, pair);
    for (int64_t l = 0; l < lines; l++)
        for (int64_t j = 0; j < n; j++) {
            k.real[2 * l * n + j] = creall(pair[l * n + j]);
            k.real[(2 * l + 1) * n + j] = cimagl(pair[l * n + j]);
        }
    free(pair);
    return k;
}

static void forget(known *k) {
    free(k->line);
    free(k->spectrum);
    free(k->half);
    free(k->proper);
    free(k->real);
}

/* Real and imaginary parts of the lines as lines of their own, and the halves of their spectra. */
static void split_lines(const known *k, exact_complex *given, exact_complex *expected) {
    const int64_t n = k->n, h = n / 2 + 1;
    for (int64_t l = 0; l < k->lines; l++) {
        const exact_complex *x = k->line + l * n, *s = k->spectrum + l * n;
        for (int64_t j = 0; j < n; j++) {
            given[2 * l * n + j] = creall(x[j]);
            given[(2 * l + 1) * n + j] = cimagl(x[j]);
        }
        for (int64_t j = 0; j < h; j++) {
            exact_complex a = s[j], b = conjl(s[(n - j) % n]);
            expected[2 * l * h + j] = (a + b) / 2;
            expected[(2 * l + 1) * h + j] = (a - b) * (-I) / 2;
        }
    }
}

static void reverse_spectra(const known *k, exact_complex *reversed) {
    for (int64_t l = 0; l < k->lines; l++)
        for (int64_t j = 0; j < k->n; j++)
            reversed[l * k->n + j] = k->spectrum[l * k->n + (k->n - j) % k->n];
}

/* One kind in both precisions, lines one after the other or side by side. */
static void check_kind(const weft_engine_ops *engine, weft_transform_kind kind,
                       weft_direction direction, int64_t n, int64_t lines,
                       const exact_complex *given, const exact_complex *expected) {
    const unsigned asked = cases >> (2 * (kind + (kind == WEFT_TRANSFORM_C2C ? 3 * direction : 0)));
    const int64_t in = kind == WEFT_TRANSFORM_C2R ? n / 2 + 1 : n;
    const int64_t out = kind == WEFT_TRANSFORM_R2C ? n / 2 + 1 : n;
    for (int precision = WEFT_DOUBLE; precision <= WEFT_SINGLE; precision++) {
        if (!(asked >> precision & 1)) continue;
        const bool in_beside = random_between(0, 1), out_beside = random_between(0, 1);
        weft_transform t = {.kind = kind,
                            .direction = direction,
                            .precision = (weft_precision)precision,
                            .dims = 1,
                            .dim = {{n, in_beside ? lines : 1, out_beside ? lines : 1}},
                            .loops = 1,
                            .loop = {{lines, in_beside ? 1 : in, out_beside ? 1 : out}},
                            .destroy_input = random_between(0, 1),
                            .threads = 1};
        t.in_place = kind == WEFT_TRANSFORM_C2C && in_beside == out_beside && random_between(0, 1);
        double share = check_against(engine, &t, ALIGNED, given, expected);
        if (share <= 1) continue;
        char text[512];
        describe_transform(&t, text, sizeof text);
        fail_msg("%s: %s: error is %.3f of what is allowed", engine->name, text, share);
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

/* Checks one length. `alone`: WEFT_TEST_LENGTHS names this length only. */
static void check_length(const weft_engine_ops *const *engine, int engines, int64_t n, bool alone) {
    const int64_t lines =
        n < 512 ? NUMBERS_IN_BATCH / n + random_between(0, 7) : random_between(1, 3);
    known k = know(n, lines);
    cases = random_cases();
    exact_complex *backward = allocate(lines, n);
    exact_complex *parts = allocate(2 * lines, n), *halves = allocate(2 * lines, n / 2 + 1);
    reverse_spectra(&k, backward);
    split_lines(&k, parts, halves);
    for (int e = 0; e < engines; e++) {
        if (!alone && is_left_out(engine[e], 40)) continue;
        check_kind(engine[e], WEFT_TRANSFORM_C2C, WEFT_FORWARD, n, lines, k.line, k.spectrum);
        check_kind(engine[e], WEFT_TRANSFORM_C2C, WEFT_INVERSE, n, lines, k.line, backward);
        check_kind(engine[e], WEFT_TRANSFORM_R2C, WEFT_FORWARD, n, 2 * lines, parts, halves);
        const bool proper = engine[e]->id == WEFT_ENGINE_CUFFT;
        check_kind(engine[e], WEFT_TRANSFORM_C2R, WEFT_INVERSE, n, 2 * lines,
                   proper ? k.proper : k.half, k.real);
    }
    free(halves);
    free(parts);
    free(backward);
    forget(&k);
}

static void lengths_to_4096_meet_the_accuracy_rule(void **state) {
    (void)state;
    const weft_engine_ops *engine[MOST_ENGINES];
    const int engines = list_engines(engine);
    sampled_lengths s;
    if (engines == 0) skip();
    assert_true(sample_lengths(2 * STRIDE, &s));
    for (; s.length <= s.last; next_length(&s)) {
        check_length(engine, engines, s.length, s.asked);
        if (s.asked && s.length / 512 < (s.length + s.step) / 512)
            print_message("lengths to %lld hold\n", (long long)s.length);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_to_4096_meet_the_accuracy_rule),
    };
    begin_engine_tests();
    return end_engine_tests(cmocka_run_group_tests(tests, NULL, NULL));
}
