/* Reading the caller's problem and options: versions, ranges, what this build has. */
#include "plan/problem.h"

#include "device/device.h"
#include "engine/engine.h"
#include "exchange/exchange.h"
#include "support/axis.h"
#include "support/checked.h"
#include "support/error.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_CHUNKS = 1024 };

const weft_versioned weft_problem_versions = WEFT_VERSIONED(weft_problem, load);
const weft_versioned weft_options_versions = WEFT_VERSIONED(weft_options, trace);

weft_status weft_check_range(const char *name, int value, int last) {
    if (value < 0 || value > last)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s is %d, not one of its values 0..%d", name,
                         value, last);
    return WEFT_SUCCESS;
}

static weft_status check_fields(weft_problem *p) {
    if (p->fields == 0) p->fields = 1;
    if (p->result_fields == 0) p->result_fields = p->fields;
    if (p->fields < 1 || p->fields > WEFT_MAX_FIELDS || p->result_fields < 1 ||
        p->result_fields > WEFT_MAX_FIELDS)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "problem.fields is %lld and result_fields %lld; they must be 0 to %d",
                         (long long)p->fields, (long long)p->result_fields, WEFT_MAX_FIELDS);
    if (p->fields_fastest != 0 && p->fields_fastest != 1)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "problem.fields_fastest is %lld; it is 0 or 1",
                         (long long)p->fields_fastest);
    if (p->fields_fastest && p->batch > 1)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "problem.fields_fastest: not with a batch of %lld; make the members "
                         "fields, or plan for one",
                         (long long)p->batch);
    return WEFT_SUCCESS;
}

static weft_status check_shape(weft_problem *p) {
    if (p->rank < 1 || p->rank > WEFT_MAX_RANK)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "problem.rank is %d; it must be 1 to %d",
                         p->rank, WEFT_MAX_RANK);
    if (p->batch < 0)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "problem.batch is %lld; it must be 0 or more",
                         (long long)p->batch);
    if (p->batch == 0) p->batch = 1;
    WEFT_TRY(check_fields(p));
    int64_t bytes = 16 * (p->fields > p->result_fields ? p->fields : p->result_fields);
    bool fits = weft_checked_multiply(bytes, p->batch, &bytes);
    for (int a = 0; a < p->rank; a++) {
        if (p->n[a] < 1)
            return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                             "problem.n[%d] is %lld; every extent must be at least 1", a,
                             (long long)p->n[a]);
        /* n/2+1 complex numbers are up to twice the bytes of n real ones */
        fits = fits && p->n[a] < INT64_MAX / 4 && weft_checked_multiply(bytes, p->n[a] + 2, &bytes);
    }
    for (int a = p->rank; a < WEFT_MAX_RANK; a++) {
        p->n[a] = 1;
        p->pad_from[a] = p->crop_to[a] = p->in_stride[a] = p->out_stride[a] = 0;
        p->truncate_to[a] = 1;
    }
    /* So the bytes of all arrays of a plan together are a number, too. */
    if (!fits || bytes > INT64_MAX / 8)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "the array has more than 2^60 bytes; make problem.n or batch smaller");
    return WEFT_SUCCESS;
}

/* Half precision is one of the callers' arrays, computed in single precision. */
static void hold_halves(weft_problem *p) {
    const bool complex_space = p->kind == WEFT_C2C;
    const weft_storage halves = complex_space ? WEFT_STORAGE_COMPLEX_HALF : WEFT_STORAGE_HALF;
    p->precision = WEFT_SINGLE;
    if (p->load_storage == WEFT_STORAGE_SAME) p->load_storage = halves;
    if (p->store_storage == WEFT_STORAGE_SAME) p->store_storage = halves;
    if (p->spectral_storage == WEFT_STORAGE_SAME) p->spectral_storage = WEFT_STORAGE_COMPLEX_HALF;
}

/* The halved axis, if it is given by name. */
static weft_status check_halved(const weft_problem *p) {
    int first = -1;
    for (int a = 0; a < p->rank; a++) {
        if (p->axis[a] != WEFT_AXIS_REAL) continue;
        if (p->kind != WEFT_R2C)
            return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                             "problem.axis[%d] is WEFT_AXIS_REAL, but problem.kind %s halves no "
                             "axis; choose r2c, or another value",
                             a, weft_kind_name(p->kind));
        if (first >= 0)
            return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                             "problem.axis[%d] and [%d] are WEFT_AXIS_REAL, but one axis is "
                             "halved; give 0 for the other",
                             first, a);
        first = a;
    }
    return WEFT_SUCCESS;
}

/* What is done along each axis, and whether it goes with the kind. */
static weft_status check_axes(weft_problem *p) {
    bool any = false, fourier = false;
    for (int a = p->rank; a < WEFT_MAX_RANK; a++) p->axis[a] = WEFT_AXIS_OF_KIND;
    for (int a = 0; a < p->rank; a++) {
        char name[32];
        snprintf(name, sizeof name, "problem.axis[%d]", a);
        WEFT_TRY(weft_check_range(name, (int)p->axis[a], WEFT_AXIS_REAL));
        if (p->kind == WEFT_R2R && p->axis[a] == WEFT_AXIS_OF_KIND)
            return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                             "%s is 0, but problem.kind r2r wants the transform of every axis; "
                             "give WEFT_DCT1 to WEFT_DST4, or WEFT_AXIS_NONE",
                             name);
        if (p->axis[a] == WEFT_DCT1 && p->n[a] < 2)
            return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                             "%s is dct1, which has no line of 1 point; make problem.n[%d] 2 or "
                             "more, or choose another type",
                             name, a);
        any = any || p->axis[a] != WEFT_AXIS_NONE;
        fourier = fourier || weft_axis_is_fourier(p->axis[a]);
    }
    WEFT_TRY(check_halved(p));
    if (!any)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "problem.axis is WEFT_AXIS_NONE along every axis, so nothing is "
                         "transformed; give a type for one of them");
    if (p->kind != WEFT_R2C || fourier) return WEFT_SUCCESS;
    return weft_fail(
        WEFT_ERROR_INVALID_ARGUMENT,
        "problem.axis has no 0, so the result is real, but problem.kind is r2c; choose "
        "r2r, or give 0 for an axis");
}

/* Sets the points of which the spectrum is one: all where none are given. */
static weft_status check_truncation(weft_problem *p) {
    for (int a = 0; a < p->rank; a++) {
        if (p->truncate_to[a] < 0 || p->truncate_to[a] > p->n[a])
            return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                             "problem.truncate_to[%d] is %lld; it is 0 to n[%d], %lld", a,
                             (long long)p->truncate_to[a], a, (long long)p->n[a]);
        if (p->truncate_to[a] == 0) p->truncate_to[a] = p->n[a];
        if (p->truncate_to[a] < p->n[a] && p->axis[a] == WEFT_AXIS_NONE)
            return weft_fail(WEFT_ERROR_UNSUPPORTED,
                             "problem.truncate_to[%d] is %lld, but problem.axis[%d] is "
                             "WEFT_AXIS_NONE, so there are no frequencies; leave it 0",
                             a, (long long)p->truncate_to[a], a);
    }
    return WEFT_SUCCESS;
}

static weft_status check_problem(weft_problem *p) {
    WEFT_TRY(weft_check_range("problem.kind", (int)p->kind, WEFT_R2R));
    WEFT_TRY(weft_check_range("problem.precision", (int)p->precision, WEFT_HALF));
    WEFT_TRY(weft_check_range("problem.norm", (int)p->norm, WEFT_NORM_FORWARD));
    if (p->kind == WEFT_R2R && p->precision == WEFT_HALF)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "problem.precision half: not with problem.kind r2r; choose single, and "
                         "load_storage and store_storage WEFT_STORAGE_HALF");
    if (p->precision == WEFT_HALF) hold_halves(p);
    WEFT_TRY(check_shape(p));
    WEFT_TRY(check_axes(p));
    return check_truncation(p);
}

static weft_status check_grid(const weft_problem *p, weft_options *o, int ranks) {
    int entries = 0;
    int64_t product = 1;
    while (entries < WEFT_MAX_RANK && o->grid[entries] != 0) {
        if (o->grid[entries] < 0 || (product *= o->grid[entries]) > INT32_MAX)
            return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "options.grid[%d] is %d for %d ranks",
                             entries, o->grid[entries], ranks);
        entries++;
    }
    for (int i = entries; i < WEFT_MAX_RANK; i++)
        if (o->grid[i] != 0)
            return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                             "options.grid[%d] is %d behind a 0, which ends the grid; give every "
                             "entry, 1 where nothing is split",
                             i, o->grid[i]);
    if (entries == 0) return WEFT_SUCCESS;
    bool slab = o->decomposition == WEFT_SLAB_2D1D || o->decomposition == WEFT_SLAB_1D2D ||
                o->decomposition == WEFT_SLAB_Y_ZX;
    if (product != ranks)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "options.grid has room for %lld ranks, but there are %d; make the product "
                         "of its entries %d",
                         (long long)product, ranks, ranks);
    const int most = slab || p->rank == 1 ? 1 : p->rank - 1;
    if (ranks > 1 && entries > most)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "options.grid has %d entries; %s of %d axes can be split over at most %d",
                         entries, weft_decomposition_name(o->decomposition), p->rank, most);
    return WEFT_SUCCESS;
}

/* The last of the methods that have a name. */
static int last_exchange(void) {
    int last = WEFT_EXCHANGE_AUTO;
    while (strcmp(weft_exchange_name((weft_exchange)(last + 1)), "?") != 0) last++;
    return last;
}

static weft_status check_available(const weft_options *o) {
    if (!weft_device_find(o->device))
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "options.device %s is not in this version of weft (%s); choose host",
                         weft_device_name(o->device), WEFT_VERSION);
    if (o->engine != WEFT_ENGINE_AUTO && !weft_engine_find(o->engine))
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "options.engine %s is not in this version of weft (%s); choose fftw or "
                         "reference",
                         weft_engine_name(o->engine), WEFT_VERSION);
    for (int i = 0; i < WEFT_MAX_RANK; i++) {
        WEFT_TRY(weft_check_range("options.exchange", (int)o->exchange[i], last_exchange()));
        if (o->exchange[i] != WEFT_EXCHANGE_AUTO && !weft_exchange_find(o->exchange[i]))
            return weft_fail(WEFT_ERROR_UNSUPPORTED,
                             "options.exchange[%d] %s is not in this version of weft (%s)", i,
                             weft_exchange_name(o->exchange[i]), WEFT_VERSION);
    }
    return WEFT_SUCCESS;
}

static weft_status check_options(const weft_problem *p, weft_options *o, int ranks, bool bricks) {
    WEFT_TRY(weft_check_range("options.decomposition", (int)o->decomposition, WEFT_BRICK));
    WEFT_TRY(weft_check_range("options.variant", (int)o->variant, WEFT_REALIGNED));
    WEFT_TRY(weft_check_range("options.engine", (int)o->engine, WEFT_ENGINE_OPENMP));
    WEFT_TRY(weft_check_range("options.device", (int)o->device, WEFT_SIMULATED));
    WEFT_TRY(weft_check_range("options.location", (int)o->location, WEFT_LOCATION_HOST));
    WEFT_TRY(weft_check_range("options.device_aware", (int)o->device_aware, WEFT_STAGED));
    WEFT_TRY(weft_check_range("options.effort", (int)o->effort, WEFT_PATIENT));
    WEFT_TRY(weft_check_range("options.stream", (int)o->stream, WEFT_STREAM_SYNC));
    if (o->wire < 0 || o->wire > WEFT_WIRE_SINGLE)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "options.wire is %lld; give WEFT_WIRE_SAME or WEFT_WIRE_SINGLE",
                         (long long)o->wire);
    WEFT_TRY(weft_check_range("options.placement", (int)o->placement, WEFT_IN_PLACE));
    WEFT_TRY(weft_check_range("options.trace", o->trace, 1));
    WEFT_TRY(weft_check_range("options.convolve", o->convolve, 1));
    WEFT_TRY(weft_check_range("options.keep_spectrum", o->keep_spectrum, 1));
    if (o->keep_spectrum && !o->convolve)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "options.keep_spectrum wants options.convolve = 1, too");
    if (o->device_number < 0 || o->device_number > INT_MAX)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "options.device_number is %lld; give 1 + the number of a GPU, or 0",
                         (long long)o->device_number);
    const bool numbered = o->device == WEFT_CUDA || o->device == WEFT_OPENMP;
    if (o->device_number > 0 && (!numbered || ranks > 1))
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "options.device_number is for devices cuda and openmp and contexts of one "
                         "process; WEFT_CUDA_DEVICE or WEFT_OPENMP_DEVICE of the environment "
                         "chooses a rank's GPU");
    if (o->threads < 0 || o->threads > WEFT_MAX_THREADS)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "options.threads is %d; it must be 0 to %d",
                         o->threads, WEFT_MAX_THREADS);
    if (o->threads == 0) o->threads = 1;
    if (o->chunks < 0 || o->chunks > MAX_CHUNKS)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "options.chunks is %d; it must be 0 (weft chooses) to %d", o->chunks,
                         MAX_CHUNKS);
    if (o->decomposition == WEFT_BRICK && !bricks)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "options.decomposition is brick, but problem.input and output are NULL; "
                         "give the boxes");
    WEFT_TRY(check_grid(p, o, ranks));
    return check_available(o);
}

const char *weft_direction_name(weft_direction direction) {
    static const char *const names[WEFT_DIRECTIONS] = {"forward", "inverse", "convolve",
                                                       "pseudospectral"};
    return names[direction];
}

/* The place of the operators that may make fields from one another. */
static weft_operator_place place_of_matrix(const weft_call *call) {
    return weft_call_only(call, WEFT_PSEUDOSPECTRAL) ? WEFT_PLACE_STORE : WEFT_PLACE_SPECTRAL;
}

int64_t weft_call_fields(const weft_call *call, weft_direction direction) {
    const weft_direction first =
        place_of_matrix(call) == WEFT_PLACE_STORE ? WEFT_INVERSE : WEFT_FORWARD;
    return direction == first ? call->problem.fields : call->problem.result_fields;
}

int64_t weft_call_fields_at(const weft_call *call, weft_operator_place place) {
    const bool back = place == WEFT_PLACE_STORE || place == WEFT_PLACE_SPECTRUM;
    return weft_call_fields(call, back ? WEFT_INVERSE : WEFT_FORWARD);
}

int64_t weft_call_fields_behind(const weft_call *call, weft_operator_place place) {
    return place == place_of_matrix(call) ? call->problem.result_fields
                                          : weft_call_fields_at(call, place);
}

int64_t weft_call_members(const weft_call *call, weft_direction direction) {
    return call->problem.batch * weft_call_fields(call, direction);
}

/* A point of the result that has other fields than one of the input takes other memory. */
static weft_status check_result_fields(weft_call *call) {
    if (call->problem.fields == call->problem.result_fields) return WEFT_SUCCESS;
    if (call->has_output)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "problem.output: not together with result_fields that are not fields; "
                         "leave it NULL");
    if (call->options.placement == WEFT_IN_PLACE)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "options.placement: result_fields that are not fields are not made in "
                         "place; choose WEFT_OUT_OF_PLACE");
    call->options.placement = WEFT_OUT_OF_PLACE;
    return WEFT_SUCCESS;
}

void weft_call_extents(const weft_call *call, weft_space space, int64_t *n) {
    int rank = call->problem.rank;
    memcpy(n, call->problem.n, (size_t)rank * sizeof *n);
    const int halved = weft_axis_halved(&call->problem);
    if (space == WEFT_OUTPUT) memcpy(n, call->problem.truncate_to, (size_t)rank * sizeof *n);
    if (space == WEFT_OUTPUT && halved >= 0) n[halved] = n[halved] / 2 + 1;
    n[rank] = weft_call_members(call, space == WEFT_OUTPUT ? WEFT_INVERSE : WEFT_FORWARD);
}

static weft_status check_brick(const weft_call *call, weft_space space, weft_brick *brick) {
    const char *name = space == WEFT_INPUT ? "input" : "output";
    int rank = call->problem.rank;
    int64_t n[WEFT_AXES];
    bool named[WEFT_MAX_RANK] = {false}, all_zero = true;
    weft_call_extents(call, space, n);
    for (int a = 0; a < rank; a++) {
        int64_t lo = brick->box.lo[a], count = brick->box.n[a];
        if (lo < 0 || count < 0 || count > n[a] || lo > n[a] - count)
            return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                             "problem.%s->box covers %lld indices from %lld on along axis %d, "
                             "outside of 0..%lld",
                             name, (long long)count, (long long)lo, a, (long long)n[a]);
        if (brick->order[a] != 0) all_zero = false;
    }
    if (all_zero && rank > 1)
        for (int a = 0; a < rank; a++) brick->order[a] = a;
    for (int a = 0; a < rank; a++) {
        int axis = brick->order[a];
        if (axis < 0 || axis >= rank || named[axis])
            return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                             "problem.%s->order is not a permutation of the axes 0..%d", name,
                             rank - 1);
        named[axis] = true;
    }
    return WEFT_SUCCESS;
}

static double norm_factor(const weft_problem *p, weft_direction direction) {
    double points = 1;
    for (int a = 0; a < p->rank; a++) points *= weft_axis_length(p->axis[a], p->n[a]);
    switch (p->norm) {
    case WEFT_NORM_ORTHO:
        return 1 / sqrt(points);
    case WEFT_NORM_BACKWARD:
        return direction == WEFT_INVERSE ? 1 / points : 1.0;
    case WEFT_NORM_FORWARD:
        return direction == WEFT_FORWARD ? 1 / points : 1.0;
    default:
        return 1.0;
    }
}

/* In real space. */
static weft_status check_storage(const weft_problem *p, const char *name, weft_storage storage) {
    const bool halves = storage == WEFT_STORAGE_COMPLEX_HALF && p->kind == WEFT_C2C;
    if (((int)storage >= 0 && storage <= WEFT_STORAGE_DOUBLE) || halves) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                     "problem.%s is %d; it is 0 to %d or, of WEFT_C2C, WEFT_STORAGE_COMPLEX_HALF",
                     name, (int)storage, (int)WEFT_STORAGE_DOUBLE);
}

/* What the callers' arrays hold. They are not what a transform works on, so not its buffers. */
static weft_status check_stored(weft_call *call) {
    weft_problem *p = &call->problem;
    bool real_space = p->load_storage || p->store_storage, spectral = p->spectral_storage != 0;
    bool truncates = false;
    WEFT_TRY(check_storage(p, "load_storage", p->load_storage));
    WEFT_TRY(check_storage(p, "store_storage", p->store_storage));
    if (spectral && p->kind == WEFT_R2R)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "problem.spectral_storage: not with problem.kind r2r, whose results are "
                         "real; leave it WEFT_STORAGE_SAME");
    if (spectral && p->spectral_storage != WEFT_STORAGE_DECIBEL_U8 &&
        p->spectral_storage != WEFT_STORAGE_COMPLEX_HALF)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "problem.spectral_storage is %d; it is WEFT_STORAGE_SAME, "
                         "WEFT_STORAGE_DECIBEL_U8 or WEFT_STORAGE_COMPLEX_HALF",
                         (int)p->spectral_storage);
    if (p->spectral_storage == WEFT_STORAGE_DECIBEL_U8 &&
        !(isfinite(p->decibels[0]) && isfinite(p->decibels[1]) && p->decibels[0] != p->decibels[1]))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "problem.decibels are %g and %g; give two different finite numbers",
                         p->decibels[0], p->decibels[1]);
    for (int a = 0; a < p->rank; a++) {
        if (p->pad_from[a] < 0 || p->pad_from[a] > p->n[a])
            return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                             "problem.pad_from[%d] is %lld; it is 0 to n[%d], %lld", a,
                             (long long)p->pad_from[a], a, (long long)p->n[a]);
        if (p->crop_to[a] < 0 || p->crop_to[a] > p->n[a])
            return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                             "problem.crop_to[%d] is %lld; it is 0 to n[%d], %lld", a,
                             (long long)p->crop_to[a], a, (long long)p->n[a]);
        if (p->crop_to[a] == 0) p->crop_to[a] = p->pad_from[a];
        if (p->pad_from[a] == p->n[a]) p->pad_from[a] = 0; /* all of them */
        if (p->crop_to[a] == p->n[a]) p->crop_to[a] = 0;
        real_space = real_space || p->pad_from[a] > 0 || p->crop_to[a] > 0;
        truncates = truncates || p->truncate_to[a] != p->n[a];
    }
    if (!real_space && !spectral && !truncates) return WEFT_SUCCESS;
    if ((real_space && call->has_input) || (spectral && call->has_output))
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "problem.%s: not together with converted, padded or cropped arrays in "
                         "that space; leave it NULL",
                         real_space && call->has_input ? "input" : "output");
    if (call->options.placement == WEFT_IN_PLACE)
        return weft_fail(
            WEFT_ERROR_UNSUPPORTED,
            "options.placement: arrays that are converted, padded, cropped or truncated are "
            "not transformed in place; choose WEFT_OUT_OF_PLACE");
    call->options.placement = WEFT_OUT_OF_PLACE;
    return WEFT_SUCCESS;
}

weft_storage weft_call_storage(const weft_call *call, weft_operator_place place) {
    const weft_storage storage[WEFT_PLACES] = {[WEFT_PLACE_LOAD] = call->problem.load_storage,
                                               [WEFT_PLACE_SPECTRAL] =
                                                   call->problem.spectral_storage,
                                               [WEFT_PLACE_STORE] = call->problem.store_storage,
                                               [WEFT_PLACE_SPECTRUM] = call->spectrum_storage};
    return storage[place];
}

weft_operator_space weft_call_space(const weft_call *call, weft_operator_place place, int64_t *n) {
    const weft_problem *p = &call->problem;
    const bool spectral = place == WEFT_PLACE_SPECTRAL || place == WEFT_PLACE_SPECTRUM;
    weft_call_extents(call, spectral ? WEFT_OUTPUT : WEFT_INPUT, n);
    return (weft_operator_space){.rank = p->rank,
                                 .logical = spectral ? p->truncate_to : p->n,
                                 .n = n,
                                 .real = p->kind == WEFT_R2R || (p->kind == WEFT_R2C && !spectral),
                                 .place = place,
                                 .takes_matrix =
                                     place == WEFT_PLACE_SPECTRAL || place == place_of_matrix(call),
                                 .fields = weft_call_fields_at(call, place),
                                 .result_fields = weft_call_fields_behind(call, place)};
}

/* Only Fourier transforms turn shifts into phases. */
static weft_status check_shift(const weft_problem *p, const weft_operator *o,
                               weft_operator_place place) {
    for (int a = 0; a < p->rank && o->kind == WEFT_OPERATOR_SHIFT; a++)
        if (o->shift[a] != 0 && !weft_axis_is_fourier(p->axis[a]))
            return weft_fail(
                WEFT_ERROR_UNSUPPORTED,
                "problem.%s has a shift along axis %d, where problem.axis is %s, which "
                "has no shift theorem; shift axes of Fourier transforms only",
                weft_operator_place_name(place), a, weft_axis_name(p->axis[a]));
    return WEFT_SUCCESS;
}

/* Bricks have other boxes than the data has where it is operated on. */
static weft_status check_array(const weft_call *call, const weft_operator *o,
                               weft_operator_place place) {
    const bool output = place == WEFT_PLACE_SPECTRAL || place == WEFT_PLACE_SPECTRUM;
    if (!weft_operator_has_array(o) || !(output ? call->has_output : call->has_input))
        return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "problem.%s has an operator %s, whose box is not known together with "
                     "problem.%s; leave that NULL",
                     weft_operator_place_name(place), weft_operator_kind_name(o->kind),
                     output ? "output" : "input");
}

/* What a matrix makes is stored as it is, once. */
static weft_status check_matrix(const weft_call *call) {
    if (!weft_operators_have_matrix(&call->operators[WEFT_PLACE_SPECTRAL])) return WEFT_SUCCESS;
    if (call->options.keep_spectrum)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "options.keep_spectrum: not together with a matrix in problem.spectral; "
                         "leave it 0");
    if (weft_call_plans(call, WEFT_FORWARD) && call->problem.spectral_storage != WEFT_STORAGE_SAME)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "problem.spectral_storage is %s, but a matrix in problem.spectral makes "
                         "numbers of the transform; leave it 0 and choose double or single "
                         "precision",
                         weft_storage_name(call->problem.spectral_storage));
    return WEFT_SUCCESS;
}

/* Reductions are asked for by number, so no two have the same one. */
static weft_status check_reductions(const weft_call *call) {
    uint32_t seen = 0;
    for (int i = 0; i < WEFT_PLACES; i++)
        for (int k = 0; k < call->operators[i].count; k++) {
            const weft_operator *o = &call->operators[i].item[k];
            if (o->kind != WEFT_OPERATOR_REDUCE) continue;
            if (seen >> o->array & 1)
                return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                                 "problem.%s has reduction %lld, which another operator is, too; "
                                 "give each a number of its own",
                                 weft_operator_place_name((weft_operator_place)i),
                                 (long long)o->array);
            seen |= 1u << o->array;
        }
    return WEFT_SUCCESS;
}

/* The norm is the first thing that happens to what a transform stores. */
static weft_status read_operators(weft_call *call, weft_operators resume) {
    weft_problem *p = &call->problem;
    const weft_operators *given[WEFT_PLACES] = {&p->load, &p->spectral, &p->store, &resume};
    const double norm[WEFT_PLACES] = {1.0, norm_factor(p, WEFT_FORWARD),
                                      norm_factor(p, WEFT_INVERSE), 1.0};
    for (int i = 0; i < WEFT_PLACES; i++) {
        int64_t n[WEFT_AXES];
        weft_operator_place place = (weft_operator_place)i;
        weft_operator_space space = weft_call_space(call, place, n);
        WEFT_TRY(weft_operators_read(given[i], &space, weft_operator_place_name(place), norm[i],
                                     &call->settings, &call->operators[i]));
        for (int k = 0; k < call->operators[i].count; k++) {
            WEFT_TRY(check_shift(p, &call->operators[i].item[k], place));
            WEFT_TRY(check_array(call, &call->operators[i].item[k], place));
        }
    }
    p->load = p->spectral = p->store = (weft_operators){0};
    WEFT_TRY(check_matrix(call));
    return check_reductions(call);
}

size_t weft_call_operator_bytes(const weft_call *call) {
    size_t bytes = 0;
    for (int i = 0; i < WEFT_PLACES; i++) {
        int64_t n[WEFT_AXES];
        weft_operator_space space = weft_call_space(call, (weft_operator_place)i, n);
        bytes += weft_operators_bytes(&call->operators[i], &space);
    }
    return bytes;
}

void weft_call_release(weft_call *call) {
    for (int i = 0; i < WEFT_PLACES; i++) weft_operators_release(&call->operators[i]);
}

static int64_t rows_of(int64_t points, int64_t row) {
    return (points + row - 1) / row;
}

void weft_call_split_line(weft_call *call, int ranks) {
    static const weft_operator_kind kind[] = {WEFT_OPERATOR_TWIDDLE, WEFT_OPERATOR_TWIDDLE_BACK,
                                              WEFT_OPERATOR_HALF_SPECTRUM};
    weft_line_operators *made = &call->line_operators;
    weft_operator_list *lists[] = {&made->twiddles[WEFT_FORWARD], &made->twiddles[WEFT_INVERSE],
                                   &made->half_spectrum};
    weft_problem *p = &call->problem;
    if (!weft_line_is(p->rank, ranks)) return;
    weft_line *line = &call->line;
    line->points = p->n[0];
    line->real = p->kind == WEFT_R2C;
    line->stored[WEFT_FORWARD] = p->pad_from[0] > 0 ? p->pad_from[0] : p->n[0];
    line->stored[WEFT_INVERSE] = p->crop_to[0] > 0 ? p->crop_to[0] : p->n[0];
    for (int i = 0; i < 3; i++) {
        made->item[i] = (weft_operator){.kind = kind[i]};
        *lists[i] = (weft_operator_list){.count = 1, .item = &made->item[i]};
    }
    p->rank = 2;
    weft_line_factor(line->points, &p->n[0], &p->n[1]);
    p->pad_from[0] = rows_of(line->stored[WEFT_FORWARD], p->n[1]);
    p->crop_to[0] = rows_of(line->stored[WEFT_INVERSE], p->n[1]);
    memcpy(p->truncate_to, p->n, sizeof p->n);
    p->axis[0] = line->real && line->scattered ? WEFT_AXIS_REAL : WEFT_AXIS_OF_KIND;
    if (!line->scattered) p->kind = WEFT_C2C;
}

/* The options that depend on what a plan is for. */
static weft_status apply_purpose(const weft_purpose *purpose, weft_call *call) {
    const int64_t direction = call->options.direction;
    if (direction < 0 || direction > 1 + WEFT_INVERSE)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "options.direction is %lld; give 1 + WEFT_FORWARD, 1 + WEFT_INVERSE, or "
                         "0 for any",
                         (long long)direction);
    if (direction > 0 && (purpose || call->options.convolve))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "options.direction is for plans of transforms; give 0 for those that "
                         "convolve and for compositions");
    if (!purpose) {
        call->directions = 1u << WEFT_FORWARD | 1u << WEFT_INVERSE;
        if (direction > 0) call->directions = 1u << (direction - 1);
        if (call->options.convolve) call->directions |= 1u << WEFT_CONVOLVE;
        return WEFT_SUCCESS;
    }
    call->directions = 1u << purpose->direction;
    call->memory = purpose->memory;
    call->options.convolve = purpose->direction == WEFT_CONVOLVE;
    call->options.keep_spectrum = purpose->keeps;
    call->line.scattered = purpose->scatters;
    call->parity = purpose->parity;
    return WEFT_SUCCESS;
}

weft_status weft_call_read(const weft_problem *problem, const weft_options *options,
                           const weft_purpose *purpose, int ranks, weft_call *call) {
    static const weft_options defaults;
    memset(call, 0, sizeof *call);
    if (!problem)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "weft_plan_create: problem is NULL");
    if (!options) options = &defaults;
    WEFT_TRY(weft_versioned_read(weft_problem_versions, problem, &call->problem, "problem"));
    WEFT_TRY(weft_versioned_read(weft_options_versions, options, &call->options, "options"));
    WEFT_TRY(apply_purpose(purpose, call));
    call->has_input = call->problem.input != NULL;
    call->has_output = call->problem.output != NULL;
    if (call->has_input) call->input = *call->problem.input;
    if (call->has_output) call->output = *call->problem.output;
    call->problem.input = call->problem.output = NULL;
    const bool halves = call->problem.precision == WEFT_HALF;
    WEFT_TRY(check_problem(&call->problem));
    call->spectrum_storage = call->problem.spectral_storage;
    if (call->spectrum_storage == WEFT_STORAGE_DECIBEL_U8) /* there is no way back */
        call->spectrum_storage = halves ? WEFT_STORAGE_COMPLEX_HALF : WEFT_STORAGE_SAME;
    WEFT_TRY(
        check_options(&call->problem, &call->options, ranks, call->has_input || call->has_output));
    WEFT_TRY(check_stored(call));
    WEFT_TRY(weft_call_read_strides(call, ranks));
    if (call->options.keep_spectrum && (call->has_input || call->has_output))
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "options.keep_spectrum: not together with problem.input and "
                         "problem.output, whose boxes the spectrum need not have; leave them NULL");
    WEFT_TRY(check_result_fields(call));
    if (call->has_input) WEFT_TRY(check_brick(call, WEFT_INPUT, &call->input));
    if (call->has_output) WEFT_TRY(check_brick(call, WEFT_OUTPUT, &call->output));
    WEFT_TRY(read_operators(call, purpose ? purpose->resume : (weft_operators){NULL, 0}));
    if (!weft_line_is(call->problem.rank, ranks)) return WEFT_SUCCESS;
    return weft_line_check(&call->problem, &call->options, call->has_input || call->has_output,
                           weft_operators_have_matrix(&call->operators[WEFT_PLACE_SPECTRAL]),
                           ranks);
}
