/* Cases: everything that a file says is checked before anything is computed. */
#include "case.h"

#include "case_members.h"
#include "material.h"
#include "support/error.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char *const physics_words[] = {"elasticity", "conduction", NULL};
static const char *const scheme_words[] = {"auto",      "fourier",   "willot",
                                           "staggered", "hexahedra", NULL};
static const char *const solver_words[] = {"cg", "basic", "eyre-milton", "barzilai-borwein", NULL};

const char *homogenize_physics_name(homogenize_physics physics) {
    return (unsigned)physics <= HOMOGENIZE_CONDUCTION ? physics_words[physics] : "?";
}

const char *homogenize_scheme_name(homogenize_scheme scheme) {
    return (unsigned)scheme <= HOMOGENIZE_HEXAHEDRA ? scheme_words[scheme] : "?";
}

const char *homogenize_solver_name(homogenize_solver solver) {
    return (unsigned)solver <= HOMOGENIZE_BARZILAI_BORWEIN ? solver_words[solver] : "?";
}

int homogenize_components(homogenize_physics physics) {
    return physics == HOMOGENIZE_ELASTICITY ? 6 : 3;
}

/* ---- words and numbers ---- */

static weft_status read_choices(const case_place *at, const json_t *object, homogenize_case *c) {
    static const char *const precisions[] = {"double", "single", NULL};
    static const char *const endings[] = {"error", "accept", NULL};
    int physics, scheme, solver, precision, ending;
    WEFT_TRY(case_choice(at, object, "physics", physics_words, &physics));
    WEFT_TRY(case_choice(at, object, "discretization", scheme_words, &scheme));
    WEFT_TRY(case_choice(at, object, "solver", solver_words, &solver));
    WEFT_TRY(case_choice(at, object, "precision", precisions, &precision));
    WEFT_TRY(case_choice(at, object, "unconverged", endings, &ending));
    if (scheme == HOMOGENIZE_HEXAHEDRA && solver != HOMOGENIZE_CG)
        return case_wrong(at, "solver",
                          "%s has strains as its vectors, and hexahedra have displacements; give "
                          "cg, or another discretization",
                          solver_words[solver]);
    c->physics = (homogenize_physics)physics;
    c->scheme = (homogenize_scheme)scheme;
    c->solver = (homogenize_solver)solver;
    c->precision = precision == 1 ? WEFT_SINGLE : WEFT_DOUBLE;
    c->accept_unconverged = ending == 1;
    return WEFT_SUCCESS;
}

static weft_status read_limits(const case_place *at, const json_t *object, homogenize_case *c) {
    const json_t *most = json_object_get(object, "max_iterations");
    c->max_iterations = 1000;
    if (json_object_get(object, "tolerance")) {
        WEFT_TRY(case_number(at, object, "tolerance", &c->tolerance));
        if (!(c->tolerance > 0 && c->tolerance < 1))
            return case_wrong(at, "tolerance", "%g is not between 0 and 1", c->tolerance);
    }
    if (!most) return WEFT_SUCCESS;
    if (!json_is_integer(most) || json_integer_value(most) < 1 ||
        json_integer_value(most) > INT_MAX)
        return case_wrong(at, "max_iterations", "give a whole number from 1");
    c->max_iterations = (int)json_integer_value(most);
    return WEFT_SUCCESS;
}

/* The fixed pattern has the error that it has. */
static weft_status read_samples(const case_place *top, const json_t *object, homogenize_case *c) {
    static const char *const keys[] = {"method", "tolerance", "subdomain", "pattern", NULL};
    static const char *const methods[] = {"exact", "samples", "multilevel", NULL};
    static const char *const patterns[] = {"graded", "fixed", NULL};
    const case_place at = {.file = top->file, .path = "convolution."};
    const json_t *given = json_object_get(object, "convolution");
    const json_t *edge = json_object_get(given, "subdomain");
    int method, pattern;
    if (!given) return WEFT_SUCCESS;
    if (!json_is_object(given))
        return case_wrong(top, "convolution", "give an object: method, tolerance, subdomain");
    WEFT_TRY(case_check_keys(&at, given, keys));
    WEFT_TRY(case_choice(&at, given, "method", methods, &method));
    WEFT_TRY(case_choice(&at, given, "pattern", patterns, &pattern));
    c->samples = (homogenize_samples){
        .used = method > 0, .levels = method == 2, .fixed = pattern == 1, .tolerance = 1e-3};
    if (json_object_get(given, "tolerance"))
        WEFT_TRY(case_number(&at, given, "tolerance", &c->samples.tolerance));
    if (!(c->samples.tolerance > 0 && c->samples.tolerance < 1))
        return case_wrong(&at, "tolerance", "%g is not between 0 and 1", c->samples.tolerance);
    if (edge && (!json_is_integer(edge) || json_integer_value(edge) < 1))
        return case_wrong(&at, "subdomain", "give a whole number from 1, the edge in voxels");
    if (edge) c->samples.subdomain = json_integer_value(edge);
    return WEFT_SUCCESS;
}

static weft_status read_length(const case_place *at, const json_t *object, homogenize_case *c) {
    if (!json_object_get(object, "length")) return WEFT_SUCCESS;
    WEFT_TRY(case_numbers(at, object, "length", 3, c->length, NULL));
    for (int a = 0; a < 3; a++)
        if (!(c->length[a] > 0)) return case_wrong(at, "length", "%g is not above 0", c->length[a]);
    return WEFT_SUCCESS;
}

static weft_status read_reference(const case_place *at, const json_t *object, homogenize_case *c) {
    static const char *const elastic[] = {"lambda", "mu", NULL}, *const conducting[] = {
                                                                     "conductivity", NULL};
    const bool elasticity = c->physics == HOMOGENIZE_ELASTICITY;
    const json_t *given = json_object_get(object, "reference");
    const case_place inside = {.file = at->file, .path = "reference."};
    homogenize_reference *r = &c->reference;
    if (!given) return WEFT_SUCCESS;
    if (!json_is_object(given)) return case_wrong(at, "reference", "give an object");
    WEFT_TRY(case_check_keys(&inside, given, elasticity ? elastic : conducting));
    if (!elasticity) {
        WEFT_TRY(case_number(&inside, given, "conductivity", &r->twice));
        if (r->twice > 0) return WEFT_SUCCESS;
        return case_wrong(&inside, "conductivity", "%g is not above 0", r->twice);
    }
    WEFT_TRY(case_number(&inside, given, "lambda", &r->trace));
    WEFT_TRY(case_number(&inside, given, "mu", &r->twice));
    if (!(r->twice > 0)) return case_wrong(&inside, "mu", "%g is not above 0", r->twice);
    r->twice *= 2;
    if (3 * r->trace + r->twice > 0) return WEFT_SUCCESS;
    return case_wrong(&inside, "lambda", "the medium's bulk modulus is not above 0");
}

/* ---- loads ---- */

static weft_status read_load(const case_place *at, const json_t *object, homogenize_case *c) {
    const bool elasticity = c->physics == HOMOGENIZE_ELASTICITY;
    const char *const keys[] = {elasticity ? "strain" : "gradient", elasticity ? "stress" : "flux",
                                NULL};
    const json_t *given = json_object_get(object, "load");
    const case_place inside = {.file = at->file, .path = "load."};
    const int components = homogenize_components(c->physics);
    double value[2][6] = {{0}};
    bool missing[2][6];
    c->load.all = !given || (json_is_string(given) && !strcmp(json_string_value(given), "all"));
    if (c->load.all) return WEFT_SUCCESS;
    if (!json_is_object(given))
        return case_wrong(at, "load", "give \"all\", or an object with %s and %s", keys[0],
                          keys[1]);
    WEFT_TRY(case_check_keys(&inside, given, keys));
    for (int k = 0; k < 2; k++) {
        memset(missing[k], 1, sizeof missing[k]);
        if (json_object_get(given, keys[k]))
            WEFT_TRY(case_numbers(&inside, given, keys[k], components, value[k], missing[k]));
    }
    for (int i = 0; i < components; i++) {
        if (missing[0][i] == missing[1][i])
            return case_wrong(&inside, keys[1], "component %d is given %s; give it in %s or in %s",
                              i + 1, missing[0][i] ? "nowhere" : "twice", keys[0], keys[1]);
        c->load.stress[i] = missing[0][i];
        c->load.value[i] = value[missing[0][i] ? 1 : 0][i];
    }
    if (elasticity) material_mandel_of_tensor(c->load.value, c->load.value);
    return WEFT_SUCCESS;
}

/* ---- phases ---- */

static int by_label(const void *a, const void *b) {
    const int64_t x = ((const homogenize_phase *)a)->label,
                  y = ((const homogenize_phase *)b)->label;
    return x < y ? -1 : x > y;
}

static weft_status read_phases(const case_place *at, const json_t *object, homogenize_case *c) {
    const json_t *list = json_object_get(object, "phases"), *phase;
    enum { MOST = 65535 };
    size_t i;
    const size_t count = json_array_size(list);
    if (count < 1 || count > MOST)
        return case_wrong(at, "phases", "give a list of 1 to %d phases", MOST);
    c->phases = calloc(count, sizeof *c->phases);
    if (!c->phases) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for %zu phases", count);
    json_array_foreach(list, i, phase)
        WEFT_TRY(case_phase(at, phase, i, c->physics, &c->phases[i]));
    c->phase_count = (int)count;
    qsort(c->phases, count, sizeof *c->phases, by_label);
    for (i = 1; i < count; i++)
        if (c->phases[i].label == c->phases[i - 1].label)
            return case_wrong(at, "phases", "label %lld has two phases",
                              (long long)c->phases[i].label);
    return WEFT_SUCCESS;
}

/* ---- files ---- */

/* A path that counts from the folder of the case, as one from where the command runs. */
static char *path_beside(const char *file, const char *path) {
    const char *slash = strrchr(file, '/');
    const size_t folder = slash && path[0] != '/' ? (size_t)(slash - file) + 1 : 0;
    char *whole = malloc(folder + strlen(path) + 1);
    if (!whole) return NULL;
    memcpy(whole, file, folder);
    strcpy(whole + folder, path);
    return whole;
}

static weft_status read_path(const case_place *at, const json_t *object, const char *key,
                             bool needed, char **path) {
    const json_t *given = json_object_get(object, key);
    if (!given && !needed) return WEFT_SUCCESS;
    if (!json_is_string(given) || json_string_value(given)[0] == '\0')
        return case_wrong(at, key, "give the name of a file");
    *path = path_beside(at->file, json_string_value(given));
    return *path ? WEFT_SUCCESS : weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a name");
}

static weft_status read_checkpoint(const case_place *top, const json_t *object,
                                   homogenize_case *c) {
    static const char *const keys[] = {"file", "iterations", "seconds", NULL};
    const case_place at = {.file = top->file, .path = "checkpoint."};
    const json_t *given = json_object_get(object, "checkpoint");
    const json_t *iterations = json_object_get(given, "iterations");
    homogenize_checkpoint_rule *rule = &c->checkpoint;
    if (!given) return WEFT_SUCCESS;
    if (!json_is_object(given))
        return case_wrong(top, "checkpoint", "give an object: file, iterations, seconds");
    WEFT_TRY(case_check_keys(&at, given, keys));
    WEFT_TRY(read_path(&at, given, "file", true, &rule->file));
    if (json_object_get(given, "seconds")) {
        WEFT_TRY(case_number(&at, given, "seconds", &rule->seconds));
        if (!(rule->seconds > 0))
            return case_wrong(&at, "seconds", "%g is not above 0", rule->seconds);
    }
    if (iterations && (!json_is_integer(iterations) || json_integer_value(iterations) < 1 ||
                       json_integer_value(iterations) > INT_MAX))
        return case_wrong(&at, "iterations", "give a whole number from 1");
    rule->iterations = (int)json_integer_value(iterations);
    if (!iterations && rule->seconds == 0) rule->seconds = 600;
    return WEFT_SUCCESS;
}

static bool names_hdf5(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot && (strcmp(dot, ".h5") == 0 || strcmp(dot, ".hdf5") == 0);
}

static weft_status read_top(const case_place *at, const json_t *object, homogenize_case *c) {
    static const char *const keys[] = {"labels",      "length",         "physics",     "phases",
                                       "load",        "discretization", "solver",      "tolerance",
                                       "reference",   "max_iterations", "unconverged", "precision",
                                       "output",      "fields",         "picture",     "$schema",
                                       "convolution", "checkpoint",     NULL};
    if (!json_is_object(object))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s: a case is an object", at->file);
    WEFT_TRY(case_check_keys(at, object, keys));
    WEFT_TRY(read_choices(at, object, c));
    WEFT_TRY(read_limits(at, object, c));
    WEFT_TRY(read_samples(at, object, c));
    WEFT_TRY(read_path(at, object, "labels", true, &c->labels));
    WEFT_TRY(read_path(at, object, "output", false, &c->out.report));
    WEFT_TRY(read_path(at, object, "fields", false, &c->out.fields));
    WEFT_TRY(read_path(at, object, "picture", false, &c->out.picture));
    if (c->out.fields && !names_hdf5(c->out.fields))
        return case_wrong(at, "fields", "%s: give the name of an HDF5 file, FILE.h5",
                          c->out.fields);
    WEFT_TRY(read_checkpoint(at, object, c));
    WEFT_TRY(read_length(at, object, c));
    WEFT_TRY(read_phases(at, object, c));
    WEFT_TRY(read_load(at, object, c));
    return read_reference(at, object, c);
}

weft_status homogenize_case_read(const char *name, const char *text, homogenize_case *c) {
    const case_place at = {.file = name};
    json_error_t error;
    memset(c, 0, sizeof *c);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s: line %d: %s", name, error.line,
                         error.text);
    weft_status status = read_top(&at, root, c);
    json_decref(root);
    return status;
}

void homogenize_case_release(homogenize_case *c) {
    free(c->labels);
    free(c->out.report);
    free(c->out.fields);
    free(c->out.picture);
    free(c->checkpoint.file);
    free(c->phases);
    memset(c, 0, sizeof *c);
}
