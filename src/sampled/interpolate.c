/* Tensor-product Lagrange interpolation: see interpolate.h. */
#include "sampled/interpolate.h"

#include "support/error.h"

#include <stdlib.h>
#include <string.h>

enum { X, Y, Z };

/* Where results are added: [fields], of each at points first + i * step of the grid, which lie
 * stride[a] numbers apart along axis a. */
typedef struct targets {
    int64_t first[WEFT_TREE_AXES], step[WEFT_TREE_AXES], n[WEFT_TREE_AXES];
    int64_t stride[WEFT_TREE_AXES], field_stride;
    double *sum;
} targets;

/* One axis: target i is the sum of so many lattice points from node[i] on, with weights. */
typedef struct axis_plan {
    int taps;
    int64_t first, nodes; /* lattice points that some target needs */
    int64_t *node;        /* [targets], from `first` */
    int64_t *place;       /* [nodes]: in memory */
    double (*weight)[WEFT_TREE_POINTS];
} axis_plan;

struct weft_interpolation {
    int parts; /* numbers of a value */
    int fields;
    axis_plan axis[WEFT_TREE_AXES];
    double *plane; /* [nodes along y][nodes along z] */
    double *row;   /* [nodes along z] */
};

weft_status weft_interpolation_create(const int64_t *most, int parts, int fields,
                                      weft_interpolation **made) {
    weft_interpolation *p = *made = calloc(1, sizeof *p);
    int64_t nodes[WEFT_TREE_AXES];
    bool failed = !p;
    for (int a = 0; a < WEFT_TREE_AXES && p; a++) {
        axis_plan *axis = &p->axis[a];
        nodes[a] = most[a] + WEFT_TREE_POINTS;
        axis->node = calloc((size_t)most[a] + 1, sizeof *axis->node);
        axis->place = calloc((size_t)nodes[a], sizeof *axis->place);
        axis->weight = calloc((size_t)most[a] + 1, sizeof *axis->weight);
        failed = failed || !axis->node || !axis->place || !axis->weight;
    }
    if (p) {
        p->parts = parts;
        p->fields = fields;
        p->plane = calloc((size_t)(nodes[Y] * nodes[Z] * parts), sizeof *p->plane);
        p->row = calloc((size_t)(nodes[Z] * parts), sizeof *p->row);
        failed = failed || !p->plane || !p->row;
    }
    if (!failed) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for an interpolation");
}

void weft_interpolation_destroy(weft_interpolation *p) {
    if (!p) return;
    for (int a = 0; a < WEFT_TREE_AXES; a++) {
        free(p->axis[a].node);
        free(p->axis[a].place);
        free(p->axis[a].weight);
    }
    free(p->plane);
    free(p->row);
    free(p);
}

/* Lagrange's polynomials at `at`, of nodes 0, 1, ... */
static void weigh(int points, double at, double *weight) {
    for (int i = 0; i < points; i++) {
        weight[i] = 1;
        for (int k = 0; k < points; k++)
            if (k != i) weight[i] *= (at - k) / (i - k);
    }
}

/* Targets that are lattice points need one each, and no others. */
static void prepare_on_nodes(axis_plan *p, int64_t stride, const weft_lattice *l, const targets *t,
                             int a) {
    p->taps = 1;
    p->nodes = t->n[a];
    for (int64_t i = 0; i < t->n[a]; i++) {
        const int64_t node = weft_floor_of(t->first[a] + i * t->step[a], stride);
        p->node[i] = i;
        p->weight[i][0] = 1;
        p->place[i] = weft_modulo(node - l->lo[a], l->period[a]);
    }
}

static void prepare(axis_plan *p, const weft_tree *tree, int64_t stride, const weft_lattice *l,
                    const targets *t, int a) {
    const int before = tree->points / 2 - 1;
    if (t->first[a] % stride == 0 && (t->step[a] % stride == 0 || t->n[a] == 1)) {
        prepare_on_nodes(p, stride, l, t, a);
        return;
    }
    p->taps = tree->points;
    p->first = weft_floor_of(t->first[a], stride) - before;
    for (int64_t i = 0; i < t->n[a]; i++) {
        const int64_t x = t->first[a] + i * t->step[a], cell = weft_floor_of(x, stride);
        p->node[i] = cell - before - p->first;
        weigh(p->taps, (double)(x - cell * stride) / (double)stride + before, p->weight[i]);
    }
    p->nodes = p->node[t->n[a] - 1] + p->taps;
    for (int64_t i = 0; i < p->nodes; i++)
        p->place[i] = weft_modulo(p->first + i - l->lo[a], l->period[a]);
}

/* The plane of target i along x. */
static void sum_planes(const weft_interpolation *p, const weft_lattice *l, const double *value,
                       int64_t i) {
    const axis_plan *x = &p->axis[X], *y = &p->axis[Y], *z = &p->axis[Z];
    const int parts = p->parts;
    memset(p->plane, 0, (size_t)(y->nodes * z->nodes * parts) * sizeof *p->plane);
    for (int tap = 0; tap < x->taps; tap++) {
        const double weight = x->weight[i][tap];
        const double *from = value + x->place[x->node[i] + tap] * l->n[Y] * l->n[Z] * parts;
        if (weight == 0) continue;
        for (int64_t j = 0; j < y->nodes; j++) {
            const double *row = from + y->place[j] * l->n[Z] * parts;
            double *sum = p->plane + j * z->nodes * parts;
            for (int64_t k = 0; k < z->nodes; k++)
                for (int part = 0; part < parts; part++)
                    sum[k * parts + part] += weight * row[z->place[k] * parts + part];
        }
    }
}

/* The row of target j along y. */
static const double *sum_rows(const weft_interpolation *p, int64_t j) {
    const axis_plan *y = &p->axis[Y];
    const int64_t count = p->axis[Z].nodes * p->parts;
    if (y->taps == 1) return p->plane + y->node[j] * count;
    memset(p->row, 0, (size_t)count * sizeof *p->row);
    for (int tap = 0; tap < y->taps; tap++) {
        const double weight = y->weight[j][tap];
        const double *from = p->plane + (y->node[j] + tap) * count;
        for (int64_t k = 0; k < count; k++) p->row[k] += weight * from[k];
    }
    return p->row;
}

static void add_row(const weft_interpolation *p, const double *row, int64_t n, int64_t stride,
                    double *sum) {
    const axis_plan *z = &p->axis[Z];
    for (int64_t k = 0; k < n; k++)
        for (int part = 0; part < p->parts; part++) {
            const double *from = row + z->node[k] * p->parts + part;
            double value = 0;
            for (int tap = 0; tap < z->taps; tap++)
                value += z->weight[k][tap] * from[tap * p->parts];
            sum[k * stride + part] += value;
        }
}

/* Adds a level's values, interpolated, to all targets. */
static void add_box(weft_interpolation *p, const weft_tree *tree, int level, const weft_lattice *l,
                    const targets *t) {
    for (int a = 0; a < WEFT_TREE_AXES; a++)
        if (t->n[a] == 0) return;
    for (int a = 0; a < WEFT_TREE_AXES; a++)
        prepare(&p->axis[a], tree, tree->level[level].stride[a], l, t, a);
    for (int f = 0; f < p->fields; f++) {
        const double *value = l->value + f * l->n[X] * l->n[Y] * l->n[Z] * p->parts;
        for (int64_t i = 0; i < t->n[X]; i++) {
            sum_planes(p, l, value, i);
            for (int64_t j = 0; j < t->n[Y]; j++)
                add_row(p, sum_rows(p, j), t->n[Z], t->stride[Z],
                        t->sum + f * t->field_stride + i * t->stride[X] + j * t->stride[Y]);
        }
    }
}

/* ---- trees ---- */

void weft_interpolation_add_shell(weft_interpolation *p, const weft_tree *tree,
                                  const weft_tree_shell *shell, const weft_lattice *lattice,
                                  const int64_t *step, const weft_region *box, double *sum) {
    weft_region parts[WEFT_TREE_PARTS];
    const int count = weft_tree_subtract(&shell->outer, &shell->inner, parts);
    for (int k = 0; k < count; k++) {
        targets t = {.stride = {box->n[1] * box->n[2] * p->parts, box->n[2] * p->parts, p->parts},
                     .field_stride = weft_region_elements(box) * p->parts,
                     .sum = sum};
        for (int a = 0; a < WEFT_TREE_AXES; a++) {
            t.first[a] = parts[k].lo[a] * step[a];
            t.step[a] = step[a];
            t.n[a] = parts[k].n[a];
            t.sum += (shell->offset[a] + parts[k].lo[a] - shell->outer.lo[a]) * t.stride[a];
        }
        add_box(p, tree, shell->level, lattice, &t);
    }
}

void weft_interpolation_add(weft_interpolation *p, const weft_tree *tree, const int64_t *lo,
                            double *const *values, const int64_t *step, const weft_region *box,
                            double *sum) {
    weft_tree_shell shell;
    for (int i = 0; weft_tree_find_shell(tree, lo, step, box, i, &shell); i++) {
        const weft_tree_level *l = &tree->level[shell.level];
        weft_lattice lattice = {.value = values[shell.level]};
        for (int a = 0; a < WEFT_TREE_AXES; a++) {
            lattice.lo[a] = weft_tree_first(tree, shell.level, a, lo[a]);
            lattice.n[a] = l->n[a];
            lattice.period[a] = l->period[a];
        }
        weft_interpolation_add_shell(p, tree, &shell, &lattice, step, box, sum);
    }
}
