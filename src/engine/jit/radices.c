/*
 * Chooses radices: the cheapest of all factorizations for which there are codelets. The cost counts
 * operations, exchanges through local memory and idle threads; it also says by which convolution a
 * length with a large prime factor is transformed.
 */
#include "engine/jit/radices.h"

#include "engine/generator.h"
#include "engine/smooth.h"

/* Operations of a butterfly; the head of each codelet counts them. 0: there is none. */
static const int operations[WEFT_JIT_LARGEST_RADIX + 1] = {
    0,   0,   4,   18,  16,  52,  48,          102, 60,  136,        124, 250,  120, 348,  232, 246,
    184, 592, 308, 738, 288, 432, [23] = 1078, 324, 632, [27] = 682, 520, 1708, 552, 1950, 512};

/* LOCAL_MEMORY_COST: the cost, in operations, of exchanging one point through local memory, with
 * its twiddle; REORDER_COST: in an order that knows no banks; PRODUCT_COST: of multiplying one by a
 * number from a table. */
enum {
    LOCAL_MEMORY_COST = 16,
    REORDER_COST = 24,
    PRODUCT_COST = 8,
    FEW_VALUES = 6,
    LEAST_VALUES = 16,
    LARGEST_PRIME = 31,
    PRIME_VALUES = 4,  /* more than a prime factor that is larger than most_values */
    ROW_VALUES = 2,    /* more than of other transforms, see weft_jit_choose_row_radices */
    AFTER_VALUES = 6,  /* likewise, after rows, whose transforms have a point less */
    EVERY_DEVICE = 256 /* threads that groups have on any GPU */
};

/* The largest prime factor of n, for products of those up to 31; what is left, divided by them, is
 * stored in *rest. */
static int largest_factor(int64_t n, int64_t *rest) {
    int largest = 1;
    for (int p = 2; p <= LARGEST_PRIME; p++)
        for (; n % p == 0; n /= p) largest = p;
    *rest = n;
    return largest;
}

bool weft_jit_is_smooth(int64_t n) {
    int64_t rest;
    largest_factor(n, &rest);
    return rest == 1;
}

/* Operations for each point of a line, those that idle threads could do included. */
static double cost_with(const weft_jit_radices *r, int n, int threads) {
    double cost = 0;
    for (int s = 0; s < r->stages; s++) {
        int radix = r->radix[s], count = (n / radix + threads - 1) / threads;
        cost += (double)count * threads * (operations[radix] + LOCAL_MEMORY_COST * radix);
    }
    return cost / n;
}

int weft_jit_operations(int radix) {
    return operations[radix];
}

int weft_jit_values_with(const weft_jit_radices *r, int n, int threads) {
    int most = 1;
    for (int s = 0; s < r->stages; s++) {
        int values = (n / r->radix[s] + threads - 1) / threads * r->radix[s];
        if (values > most) most = values;
    }
    return most;
}

int weft_jit_registers_of_points(const weft_jit_radices *radices, weft_precision precision) {
    int points = radices->values;
    for (int s = 0; s < radices->stages; s++) {
        const int radix = radices->radix[s];
        if (radix > 13 && weft_is_prime(radix) && points < 2 * radix) points = 2 * radix;
    }
    return points * (precision == WEFT_SINGLE ? 2 : 4);
}

/* The composite radices above 16 but 25 and 32. */
static bool is_wide(int radix) {
    return radix == 18 || radix == 20 || radix == 21 || radix == 24 || radix == 27 || radix == 28 ||
           radix == 30;
}

void weft_jit_factorize(int n, int largest, int stages, bool wide, weft_jit_radices *radices,
                        weft_jit_visit *visit, void *context) {
    if (n == 1) visit(context, radices);
    if (radices->stages == stages) return;
    for (int radix = largest; radix >= 2 && n > 1; radix--) {
        if (n % radix != 0 || operations[radix] == 0 || (!wide && is_wide(radix))) continue;
        radices->radix[radices->stages++] = radix;
        weft_jit_factorize(n / radix, radix, stages, wide, radices, visit, context);
        radices->stages--;
    }
}

typedef struct search {
    int n, most_values;
    weft_jit_radices best;
    double cost; /* of the best */
} search;

/* Tries the numbers of threads for which none is idle in at least one stage. */
static void try_threads(void *searched, weft_jit_radices *r) {
    search *s = searched;
    for (int i = 0; i < r->stages; i++)
        for (int count = 1; count <= s->most_values; count++) {
            int threads = (s->n / r->radix[i] + count - 1) / count;
            r->values = weft_jit_values_with(r, s->n, threads);
            if (r->values > s->most_values) break;
            double cost = cost_with(r, s->n, threads);
            if (r->values < FEW_VALUES) cost *= 1.1; /* fewer loads in flight */
            cost *= 1 - 1e-5 * threads; /* among equals, more threads with fewer registers each */
            if (s->best.stages > 0 && cost >= s->cost) continue;
            r->threads = threads;
            s->best = *r;
            s->cost = cost;
        }
}

weft_jit_radices weft_jit_choose_radices(int n, int most_values) {
    int64_t rest;
    const int prime = largest_factor(n, &rest);
    search s = {.n = n, .most_values = most_values};
    weft_jit_radices r = {.stages = 0};
    if (n == 1) return (weft_jit_radices){1, {1}, 1, 1};
    if (prime > most_values) s.most_values = prime + PRIME_VALUES;
    weft_jit_factorize(
        n, s.most_values < WEFT_JIT_LARGEST_RADIX ? s.most_values : WEFT_JIT_LARGEST_RADIX,
        WEFT_JIT_STAGES, false, &r, try_threads, &s);
    return s.best;
}

weft_jit_radices weft_jit_choose_row_radices(int n, int most_values) {
    const weft_jit_radices few = weft_jit_choose_radices(n, most_values),
                           more = weft_jit_choose_radices(n, most_values + ROW_VALUES);
    return more.stages < few.stages ? more : few;
}

int64_t weft_jit_convolution_length(int64_t least) {
    double cheapest = 0;
    int64_t best = 0;
    for (int64_t n = least; n <= WEFT_JIT_LONGEST_CORE && n <= least + least / 4; n++) {
        if (!weft_is_smooth(n)) continue;
        const weft_jit_radices r = weft_jit_choose_radices((int)n, LEAST_VALUES);
        const double cost = cost_with(&r, (int)n, r.threads) * (double)n;
        if (best > 0 && cost >= cheapest) continue;
        best = n;
        cheapest = cost;
    }
    if (best > 0) return best;
    /* Longer convolutions take several kernels, for which lengths with small factors are best. */
    static const int odd[] = {1, 3, 5, 7, 9, 15};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        int64_t n = odd[i];
        while (n < least) n *= 2;
        if (best == 0 || n < best) best = n;
    }
    return best;
}

/* ---- convolutions ---- */

/* Operations of two transforms of n points with a product between them. */
static double convolution_cost(const weft_jit_radices *r, int64_t n) {
    return (2 * cost_with(r, (int)n, r->threads) + PRODUCT_COST) * (double)n;
}

/* Tries radices for the stages after rows, which have s->n points and r->threads threads in all. */
static void try_after_rows(void *searched, weft_jit_radices *r) {
    search *s = searched;
    r->values = weft_jit_values_with(r, s->n, r->threads);
    const double cost = cost_with(r, s->n, r->threads);
    if (r->values > s->most_values || (s->cost > 0 && cost >= s->cost)) return;
    s->best = *r;
    s->cost = cost;
}

weft_jit_radices weft_jit_choose_after_rows(int rows, int length, int threads, int most_values) {
    search s = {.n = rows * length, .most_values = most_values + AFTER_VALUES};
    weft_jit_radices r = {.threads = rows * threads};
    if (rows > 1)
        weft_jit_factorize(rows, WEFT_JIT_LARGEST_RADIX / 2, WEFT_JIT_STAGES, false, &r,
                           try_after_rows, &s);
    return s.best;
}

/* The prime factor of n above 31, if it is the only one, else 0. */
static int64_t large_factor(int64_t n) {
    int64_t rest;
    largest_factor(n, &rest);
    return weft_is_prime(rest) ? rest : 0;
}

/* Operations of Rader's convolution for rows of p points; 0: it is not possible, or takes more
 * threads. */
static double rader_cost(int64_t n, int64_t p, int most_values, int most_threads) {
    if (p == 0 || !weft_jit_is_smooth(p - 1)) return 0;
    const int rows = (int)(n / p), length = (int)p;
    const weft_jit_radices r = weft_jit_choose_row_radices(length - 1, most_values);
    const double cost = rows * convolution_cost(&r, p - 1) + 2 * REORDER_COST * (double)n;
    if (rows * r.threads > most_threads) return 0;
    if (rows == 1) return cost;
    const weft_jit_radices after = weft_jit_choose_after_rows(rows, length, r.threads, most_values);
    return after.stages == 0 ? 0 : cost + cost_with(&after, (int)n, after.threads) * (double)n;
}

int64_t weft_jit_choose_core(int64_t n, const weft_jit_tuning *tuning) {
    const int64_t core = weft_jit_convolution_length(2 * n - 1), p = large_factor(n);
    if (core > WEFT_JIT_LONGEST_CORE || tuning->rader == 0) return core;
    const weft_jit_radices r = weft_jit_choose_radices((int)core, tuning->values);
    const double bluestein = convolution_cost(&r, core) + 2 * PRODUCT_COST * (double)n;
    const double rader =
        rader_cost(n, p, tuning->values, r.threads > EVERY_DEVICE ? r.threads : EVERY_DEVICE);
    return rader > 0 && rader * 100 <= bluestein * tuning->rader ? p - 1 : core;
}
