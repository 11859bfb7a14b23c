/* Each value is read, and refused with a sentence that says what to give. */
#include "microstructure_flags.h"

#include "support/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WRONG(...) weft_fail(WEFT_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

static weft_status set_size(void *target, const char *value) {
    enum { MOST = 1 << 24 }; /* voxels along an axis: their numbers are exact in what is computed */
    microstructure_flags *flags = target;
    int64_t n[WEFT_MAX_RANK], voxels = 1;
    WEFT_TRY(options_shape("size", value, &flags->rank, n));
    if (flags->rank > MICROSTRUCTURE_AXES)
        return WRONG("--size %s: give 1 to 3 extents, such as 64x64x64", value);
    for (int a = 0; a < MICROSTRUCTURE_AXES; a++) {
        flags->request.n[a] = a < flags->rank ? n[a] : 1;
        if (flags->request.n[a] > MOST || flags->request.n[a] > (INT64_C(1) << 52) / voxels)
            return WRONG("--size %s: give extents of at most %d, and at most 2^52 voxels", value,
                         MOST);
        voxels *= flags->request.n[a];
    }
    return WEFT_SUCCESS;
}

static weft_status set_axis(void *target, const char *value) {
    microstructure_request *request = &((microstructure_flags *)target)->request;
    request->given |= MICROSTRUCTURE_HAS_AXIS;
    request->axis = MICROSTRUCTURE_RANDOM;
    if (strcmp(value, "random") == 0) return WEFT_SUCCESS;
    request->axis = value[0] - '0';
    if (value[0] >= '0' && value[0] < '0' + MICROSTRUCTURE_AXES && value[1] == '\0')
        return WEFT_SUCCESS;
    return WRONG("--axis %s: give 0, 1 or 2, or, of fibres, random", value);
}

static weft_status set_fractions(void *target, const char *value) {
    microstructure_request *request = &((microstructure_flags *)target)->request;
    bool right = options_numbers(value, &request->fractions, request->fraction);
    for (int i = 0; right && i < request->fractions; i++)
        right = request->fraction[i] > 0 && request->fraction[i] <= 1;
    request->given |= MICROSTRUCTURE_HAS_FRACTIONS;
    if (right) return WEFT_SUCCESS;
    return WRONG("--fractions %s: give at most %d numbers above 0 and up to 1, joined by commas",
                 value, MICROSTRUCTURE_FRACTIONS);
}

/* A whole number from 1 on. */
static weft_status set_number(void *target, const char *flag, const char *value, unsigned given,
                              int64_t *number) {
    ((microstructure_flags *)target)->request.given |= given;
    return options_integer(flag, value, 1, number);
}

static weft_status set_periods(void *target, const char *value) {
    return set_number(target, "periods", value, MICROSTRUCTURE_HAS_PERIODS,
                      &((microstructure_flags *)target)->request.periods);
}

static weft_status set_cell(void *target, const char *value) {
    return set_number(target, "cell", value, MICROSTRUCTURE_HAS_CELL,
                      &((microstructure_flags *)target)->request.cell);
}

static weft_status set_count(void *target, const char *value) {
    return set_number(target, "count", value, MICROSTRUCTURE_HAS_COUNT,
                      &((microstructure_flags *)target)->request.count);
}

/* A length in voxels: above 0, or, where `zero`, 0 too. */
static weft_status set_voxels(void *target, const char *flag, const char *value, unsigned given,
                              bool zero, double *length) {
    double numbers[WEFT_MAX_RANK];
    int count;
    ((microstructure_flags *)target)->request.given |= given;
    if (!options_numbers(value, &count, numbers) || count != 1 || numbers[0] < 0 ||
        (!zero && numbers[0] == 0))
        return WRONG("--%s %s: give a length in voxels, %s 0", flag, value,
                     zero ? "at least" : "above");
    *length = numbers[0];
    return WEFT_SUCCESS;
}

static weft_status set_radius(void *target, const char *value) {
    return set_voxels(target, "radius", value, MICROSTRUCTURE_HAS_RADIUS, false,
                      &((microstructure_flags *)target)->request.radius);
}

static weft_status set_gap(void *target, const char *value) {
    return set_voxels(target, "gap", value, MICROSTRUCTURE_HAS_GAP, true,
                      &((microstructure_flags *)target)->request.gap);
}

static weft_status set_length(void *target, const char *value) {
    return set_voxels(target, "length", value, MICROSTRUCTURE_HAS_LENGTH, false,
                      &((microstructure_flags *)target)->request.length);
}

static weft_status set_distinct(void *target, const char *value) {
    (void)value;
    ((microstructure_flags *)target)->request.given |= MICROSTRUCTURE_HAS_DISTINCT;
    return WEFT_SUCCESS;
}

static weft_status set_seed(void *target, const char *value) {
    microstructure_request *request = &((microstructure_flags *)target)->request;
    char *end;
    errno = 0;
    request->seed = strtoull(value, &end, 10);
    request->given |= MICROSTRUCTURE_HAS_SEED;
    if (value[0] >= '0' && value[0] <= '9' && *end == '\0' && errno == 0) return WEFT_SUCCESS;
    return WRONG("--seed %s: give a whole number from 0 to 2^64 - 1", value);
}

static weft_status set_orientations(void *target, const char *value) {
    ((microstructure_flags *)target)->orientations = value;
    return WEFT_SUCCESS;
}

const option_flag microstructure_option_flags[] = {
    {"size", "AxBxC", "extents of the volume in voxels (needed): 1 to 3 axes", set_size},
    {"seed", "S", "chooses among random volumes; default 0", set_seed},
    {"fractions", "F[,F2]",
     "volume fractions: of each phase, or of all inclusions (needed, or two of them: see above)",
     set_fractions},
    {"axis", "A", "normal of layers, direction of fibres (or random); default 0", set_axis},
    {"periods", "P", "how often layers repeat; default 1", set_periods},
    {"cell", "E", "edge of a checkerboard's cells (needed there)", set_cell},
    {"count", "N", "how many inclusions or grains (grains: needed)", set_count},
    {"radius", "R", "of spheres and fibres, in voxels; default: what count and fractions give",
     set_radius},
    {"gap", "G", "least distance of surfaces, or of grains' seeds; default 0", set_gap},
    {"length", "L", "of fibres that end, from tip to tip; default without end", set_length},
    {"distinct", NULL, "each inclusion has a label of its own, from 1", set_distinct},
    {"orientations", "FILE.json", "write a random rotation for each grain; default: nowhere",
     set_orientations},
    {NULL, NULL, NULL, NULL}};

weft_status microstructure_flags_check(const microstructure_flags *flags,
                                       const microstructure_kind *kind) {
    static const char *const names[] = {"axis",   "fractions", "periods", "cell",     "count",
                                        "radius", "gap",       "length",  "distinct", "seed"};
    const microstructure_request *request = &flags->request;
    if (flags->rank == 0) return WRONG("microstructure: give the volume's --size, as in 64x64x64");
    for (int i = 0; i < 10; i++)
        if (request->given & ~kind->takes & (1u << i))
            return WRONG("--%s: %s has no use for it; drop it", names[i], kind->name);
    if (flags->orientations != NULL && strcmp(kind->name, "voronoi") != 0)
        return WRONG("--orientations: %s has no grains; drop it", kind->name);
    if (request->axis == MICROSTRUCTURE_RANDOM && !(kind->takes & MICROSTRUCTURE_HAS_LENGTH))
        return WRONG("--axis random belongs to fibres; give 0, 1 or 2");
    if (request->axis >= flags->rank && (request->given & MICROSTRUCTURE_HAS_AXIS))
        return WRONG("--axis %d: the volume has %d ax%s, counted from 0", request->axis,
                     flags->rank, flags->rank > 1 ? "es" : "is");
    return WEFT_SUCCESS;
}
