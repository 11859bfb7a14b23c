/*
 * A case: what is to be homogenized and how, as a JSON file says it. docs/homogenization.md tells
 * of each key, case.schema.json is its schema.
 */
#ifndef WEFT_HOMOGENIZE_CASE_H
#define WEFT_HOMOGENIZE_CASE_H

#include <stdbool.h>
#include <weft/weft.h>

typedef enum homogenize_physics {
    HOMOGENIZE_ELASTICITY = 0,
    HOMOGENIZE_CONDUCTION
} homogenize_physics;

/* How derivatives are taken on the grid: see green.h. */
typedef enum homogenize_scheme {
    HOMOGENIZE_AUTO = 0, /* staggered where the phases allow it, else willot */
    HOMOGENIZE_FOURIER,
    HOMOGENIZE_WILLOT,
    HOMOGENIZE_STAGGERED,
    HOMOGENIZE_HEXAHEDRA
} homogenize_scheme;

typedef enum homogenize_solver {
    HOMOGENIZE_CG = 0,
    HOMOGENIZE_BASIC,
    HOMOGENIZE_EYRE_MILTON,
    HOMOGENIZE_BARZILAI_BORWEIN
} homogenize_solver;

/* As the case file spells them; "?" for a value out of range. */
const char *homogenize_physics_name(homogenize_physics physics);
const char *homogenize_scheme_name(homogenize_scheme scheme);
const char *homogenize_solver_name(homogenize_solver solver);

typedef struct homogenize_phase {
    int64_t label;     /* of its voxels */
    double matrix[36]; /* stiffness in Mandel's notation, 6 x 6; or conductivity, 3 x 3 */
    int64_t voxels;    /* in all of the volume, once it has been read */
} homogenize_phase;

/* One load. Component c of the mean strain (or gradient) is value[c]; where stress[c], that of the
 * mean stress (or flux) is. Values are in Mandel's notation. */
typedef struct homogenize_load {
    bool all; /* six unit strains, or three unit gradients, one after the other; no values */
    bool stress[6];
    double value[6];
} homogenize_load;

/* An isotropic reference medium: C0 e = twice e + trace tr(e) 1. Of elasticity 2 mu and lambda, of
 * conduction the conductivity and 0. twice is 0 where none was given. */
typedef struct homogenize_reference {
    double twice, trace;
} homogenize_reference;

/* How Green's operator is convolved with: exactly, by samples, or by levels. */
typedef struct homogenize_samples {
    bool used, levels; /* by samples, or by levels */
    bool fixed;        /* the study's pattern */
    double tolerance;  /* the relative error of the convolution */
    int64_t subdomain; /* edge of sub-domains; 0: a rank's box is one */
} homogenize_samples;

/* Where and how often a run keeps what it goes on from if it is stopped. */
typedef struct homogenize_checkpoint_rule {
    char *file;     /* NULL: nowhere */
    int iterations; /* after so many; 0: whatever the number */
    double seconds; /* after so many; 0: whatever the time */
} homogenize_checkpoint_rule;

/* Files that a run writes; each may be NULL. */
typedef struct homogenize_outputs {
    char *report;
    char *fields;  /* strain and stress, FILE.h5 */
    char *picture; /* FILE.png */
} homogenize_outputs;

typedef struct homogenize_case {
    char *labels; /* the file of the label volume, from where the command runs */
    homogenize_outputs out;
    double length[3]; /* of the box along each axis; 0: as many as voxels */
    homogenize_physics physics;
    homogenize_scheme scheme;
    homogenize_solver solver;
    homogenize_phase *phases; /* by ascending label */
    int phase_count;
    homogenize_load load;
    homogenize_reference reference;
    bool on_device; /* fields are on a device: of the run, not of the case's file */
    homogenize_samples samples;
    homogenize_checkpoint_rule checkpoint;
    double tolerance; /* 0: 1e-6, in single precision 1e-4, with samples their tolerance */
    int max_iterations;
    bool accept_unconverged;
    weft_precision precision;
} homogenize_case;

/* Components of a strain (6) or a gradient (3). */
int homogenize_components(homogenize_physics physics);

/* Reads a case from the text of the file `name`; paths in it count from the folder of that file.
 * Fails with a sentence that names the file and the key. The caller releases the case, also after
 * a failure. Not collective. */
weft_status homogenize_case_read(const char *name, const char *text, homogenize_case *c);
void homogenize_case_release(homogenize_case *c);

#endif
