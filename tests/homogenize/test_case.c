/* Cases: what their files may say, and one sentence for each mistake, which names the key. */
#include "homogenize/case.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "near.h"

#define SOFT "{\"label\": 0, \"lambda\": 1, \"mu\": 1}"
#define ROWS5                                                                                      \
    "[3, 1, 1, 0, 0, 0], [1, 3, 1, 0, 0, 0], [1, 1, 3, 0, 0, 0], [0, 0, 0, 1, 0, 0], "             \
    "[0, 0, 0, 0, 1, 0]"
#define ROWS6 "[" ROWS5 ", [0, 0, 0, 0, 0, 1]]"

/* A case with one phase of softness, and more members. */
#define WITH(members) "{\"labels\": \"a.npy\", \"phases\": [" SOFT "], " members "}"
/* A case with a second phase. */
#define PHASE(members)                                                                             \
    "{\"labels\": \"a.npy\", \"phases\": [" SOFT ", {\"label\": 1, " members "}]}"

static const struct {
    const char *text, *sentence;
} mistakes[] = {
    {"[1]", "c.json: a case is an object"},
    {"{\"labels\": }", "c.json: line 1: "},
    {WITH("\"tolerance\": NaN"), "c.json: line 1: "},
    {WITH("\"solver\": \"cg\", \"solver\": \"cg\""), "duplicate"},
    {WITH("\"solvr\": \"cg\""), "c.json: solvr: there is no such key here"},
    {WITH("\"solver\": \"gmres\""), "c.json: solver: gmres is none of cg, basic, eyre-milton"},
    {WITH("\"solver\": 3"), "c.json: solver: give a string"},
    {WITH("\"discretization\": \"tetrahedra\""),
     "c.json: discretization: tetrahedra is none of auto, fourier, willot, staggered, hexahedra"},
    {WITH("\"discretization\": \"hexahedra\", \"solver\": \"eyre-milton\""),
     "c.json: solver: eyre-milton has strains as its vectors"},
    {WITH("\"physics\": \"magnetism\""), "c.json: physics: magnetism is none of"},
    {WITH("\"precision\": \"half\""), "c.json: precision: half is none of double, single"},
    {WITH("\"convolution\": \"samples\""), "c.json: convolution: give an object"},
    {WITH("\"convolution\": {\"method\": \"fast\"}"), "c.json: convolution.method: fast is none"},
    {WITH("\"convolution\": {\"edge\": 3}"), "convolution.edge"},
    {WITH("\"convolution\": {\"tolerance\": 0}"),
     "c.json: convolution.tolerance: 0 is not between"},
    {WITH("\"convolution\": {\"subdomain\": 0}"), "c.json: convolution.subdomain: give a whole"},
    {WITH("\"convolution\": {\"pattern\": \"octree\"}"), "c.json: convolution.pattern: octree"},
    {WITH("\"unconverged\": \"ignore\""), "c.json: unconverged: ignore is none of error, accept"},
    {WITH("\"tolerance\": 0"), "c.json: tolerance: 0 is not between 0 and 1"},
    {WITH("\"tolerance\": \"small\""), "c.json: tolerance: give a number"},
    {WITH("\"max_iterations\": 0"), "c.json: max_iterations: give a whole number from 1"},
    {WITH("\"max_iterations\": 1.5"), "c.json: max_iterations: give a whole number from 1"},
    {WITH("\"length\": [1, 2]"), "c.json: length: give a list of 3 numbers"},
    {WITH("\"length\": [1, 2, null]"), "c.json: length: entry 3 is not a number"},
    {WITH("\"length\": [1, 2, -1]"), "c.json: length: -1 is not above 0"},
    {WITH("\"output\": \"\""), "c.json: output: give the name of a file"},
    {WITH("\"load\": \"some\""), "c.json: load: give \"all\", or an object with strain and stress"},
    {WITH("\"load\": {\"strain\": [1, 2, 3]}"), "c.json: load.strain: give a list of 6 numbers"},
    {WITH("\"load\": {\"strain\": [1, null, 0, 0, 0, 0]}"), "component 2 is given nowhere"},
    {WITH("\"load\": {\"strain\": [1, 1, 0, 0, 0, 0], \"stress\": [1, 1, 1, 1, 1, 1]}"),
     "c.json: load.stress: component 1 is given twice"},
    {WITH("\"load\": {\"flux\": [1, 1, 1]}"), "c.json: load.flux: there is no such key"},
    {WITH("\"reference\": 3"), "c.json: reference: give an object"},
    {WITH("\"reference\": {\"lambda\": 1}"), "c.json: reference.mu: give a number"},
    {WITH("\"reference\": {\"lambda\": 1, \"mu\": 0}"), "c.json: reference.mu: 0 is not above 0"},
    {WITH("\"reference\": {\"lambda\": -1, \"mu\": 1}"), "c.json: reference.lambda: the medium's"},
    {"{\"phases\": [" SOFT "]}", "c.json: labels: give the name of a file"},
    {"{\"labels\": \"a.npy\"}", "c.json: phases: give a list"},
    {"{\"labels\": \"a.npy\", \"phases\": []}", "c.json: phases: give a list"},
    {"{\"labels\": \"a.npy\", \"phases\": [3]}", "c.json: phases: give a list of objects"},
    {"{\"labels\": \"a.npy\", \"phases\": [" SOFT ", " SOFT "]}", "label 0 has two phases"},
    {"{\"labels\": \"a.npy\", \"phases\": [{\"E\": 1, \"nu\": 0}]}",
     "phases[0].label: give a whole"},
    {PHASE("\"colour\": 1"), "c.json: phases[1].colour: there is no such key"},
    {PHASE("\"rotation\": [0, 0, 0]"), "c.json: phases[1].E: the phase has no material"},
    {PHASE("\"E\": 3"), "c.json: phases[1].nu: it is missing beside E"},
    {PHASE("\"mu\": 3"), "c.json: phases[1].lambda: it is missing beside mu"},
    {PHASE("\"E\": 3, \"nu\": 0, \"K\": 2"), "c.json: phases[1].K: the phase has E already"},
    {PHASE("\"E\": 3, \"nu\": 0.5"), "c.json: phases[1].nu: Poisson's ratio 0.5 is not between"},
    {PHASE("\"E\": 3, \"nu\": -1"), "c.json: phases[1].nu: Poisson's ratio -1 is not between"},
    {PHASE("\"E\": 0, \"nu\": 0"), "c.json: phases[1].E: Young's modulus 0 is not above 0"},
    {PHASE("\"E\": \"3\", \"nu\": 0"), "c.json: phases[1].E: give a number"},
    {PHASE("\"lambda\": 1, \"mu\": 0"), "c.json: phases[1].mu: the shear modulus 0"},
    {PHASE("\"lambda\": -1, \"mu\": 1"), "c.json: phases[1].lambda: with mu 1 the bulk modulus"},
    {PHASE("\"K\": 0, \"G\": 1"), "c.json: phases[1].K: the bulk modulus 0"},
    {PHASE("\"K\": 1, \"G\": -1"), "c.json: phases[1].G: the shear modulus -1"},
    {PHASE("\"K\": 1, \"G\": 1, \"notation\": \"voigt\""), "phases[1].notation: it belongs to"},
    {PHASE("\"conductivity\": 1"), "c.json: phases[1].conductivity: there is no such key"},
    {PHASE("\"stiffness\": " ROWS6), "c.json: phases[1].notation: say which notation"},
    {PHASE("\"stiffness\": " ROWS6 ", \"notation\": \"kelvin\""), "notation: kelvin is none of"},
    {PHASE("\"stiffness\": [" ROWS5 "], \"notation\": \"voigt\""), "stiffness: give 6 rows of 6"},
    {PHASE("\"stiffness\": [" ROWS5 ", [0, 0, 0, 0, 0, -1]], \"notation\": \"voigt\""),
     "c.json: phases[1].stiffness: the matrix is not positive definite"},
    {PHASE("\"stiffness\": [" ROWS5 ", [0, 0, 0, 1, 0, 1]], \"notation\": \"voigt\""),
     "c.json: phases[1].stiffness: the matrix is not symmetric"},
    {PHASE("\"E\": 1, \"nu\": 0, \"rotation\": [1, 2]"), "rotation: give three Euler angles"},
    {PHASE("\"E\": 1, \"nu\": 0, \"rotation\": [[2, 0, 0], [0, 1, 0], [0, 0, 1]]"),
     "c.json: phases[1].rotation: the matrix is no rotation"},
    {PHASE("\"E\": 1, \"nu\": 0, \"rotation\": [[-1, 0, 0], [0, 1, 0], [0, 0, 1]]"),
     "c.json: phases[1].rotation: the matrix is no rotation"},
    {"{\"labels\": \"a\", \"physics\": \"conduction\", \"phases\": [{\"label\": 0}]}",
     "c.json: phases[0].conductivity: it is missing"},
    {"{\"labels\": \"a\", \"physics\": \"conduction\", \"phases\": [{\"label\": 0, "
     "\"conductivity\": -1}]}",
     "c.json: phases[0].conductivity: -1 is not above 0"},
    {"{\"labels\": \"a\", \"physics\": \"conduction\", \"phases\": [{\"label\": 0, "
     "\"conductivity\": [[1, 2, 0], [2, 1, 0], [0, 0, 1]]}]}",
     "c.json: phases[0].conductivity: the matrix is not positive definite"},
};

static void mistakes_are_refused_by_their_key(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        homogenize_case c;
        weft_status status = homogenize_case_read("c.json", mistakes[i].text, &c);
        const char *sentence = weft_last_error(NULL);
        if (status != WEFT_ERROR_INVALID_ARGUMENT || !strstr(sentence, mistakes[i].sentence) ||
            strchr(sentence, '\n')) {
            print_error("%s\ngives: %s\n", mistakes[i].text, sentence);
            fail();
        }
        homogenize_case_release(&c);
    }
}

static void a_short_case_has_defaults(void **state) {
    (void)state;
    homogenize_case c;
    assert_int_equal(homogenize_case_read("below/c.json", PHASE("\"K\": 2, \"G\": 3"), &c), 0);
    assert_string_equal(c.labels, "below/a.npy");
    assert_null(c.out.report);
    assert_int_equal(c.physics, HOMOGENIZE_ELASTICITY);
    assert_int_equal(c.scheme, HOMOGENIZE_AUTO);
    assert_int_equal(c.solver, HOMOGENIZE_CG);
    assert_true(c.load.all);
    assert_int_equal(c.phase_count, 2);
    assert_near(c.phases[1].matrix[0], 2 + 4.0, 1e-14);
    homogenize_case_release(&c);
}

static void a_long_case_is_read(void **state) {
    (void)state;
    homogenize_case c;
    static const char text[] =
        "{\"labels\": \"/a.h5:/grains\", \"length\": [1, 2, 3], \"physics\": \"elasticity\","
        " \"phases\": [{\"label\": 9, \"E\": 1, \"nu\": 0}, {\"label\": -4, \"K\": 1, \"G\": 1}],"
        " \"load\": {\"strain\": [1, null, 0, 2, 0, 0],"
        "            \"stress\": [null, 5, null, null, null, null]},"
        " \"discretization\": \"willot\", \"solver\": \"eyre-milton\", \"tolerance\": 1e-9,"
        " \"max_iterations\": 7, \"unconverged\": \"accept\", \"precision\": \"single\","
        " \"reference\": {\"lambda\": 3, \"mu\": 4}, \"output\": \"out.json\"}";
    assert_int_equal(homogenize_case_read("c.json", text, &c), 0);
    assert_string_equal(c.labels, "/a.h5:/grains");
    assert_string_equal(c.out.report, "out.json");
    assert_int_equal(c.phases[0].label, -4); /* in order */
    assert_true(!c.load.all && c.load.stress[1] && !c.load.stress[3]);
    assert_near(c.load.value[1], 5, 0);
    assert_near(c.load.value[3], 2 * sqrt(2.0), 1e-15); /* Mandel's */
    assert_near(c.reference.twice, 8, 0);
    assert_near(c.reference.trace, 3, 0);
    assert_int_equal(c.scheme, HOMOGENIZE_WILLOT);
    assert_int_equal(c.solver, HOMOGENIZE_EYRE_MILTON);
    assert_int_equal(c.max_iterations, 7);
    assert_int_equal(c.precision, WEFT_SINGLE);
    assert_true(c.accept_unconverged);
    homogenize_case_release(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_are_refused_by_their_key),
        cmocka_unit_test(a_short_case_has_defaults),
        cmocka_unit_test(a_long_case_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
