/* Candidates are compared with those that are near, as the cell grid finds them. */
#include "microstructure/packing.h"

#include "microstructure/random.h"
#include "support/error.h"

#include <math.h>
#include <stdlib.h>

static double dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double clamp(double t) {
    return t < -1 ? -1 : t > 1 ? 1 : t;
}

double packing_distance2(const double place[3], const double middle[3], const double *arm) {
    if (arm == NULL) return cell_distance2(place, middle);
    double from[3], nearest[3];
    for (int a = 0; a < 3; a++) from[a] = place[a] - middle[a];
    const double t = clamp(dot(from, arm) / dot(arm, arm));
    for (int a = 0; a < 3; a++) nearest[a] = t * arm[a];
    return cell_distance2(from, nearest);
}

/* The square of the distance between segments p + s u and q + t v, -1 <= s, t <= 1: the nearest
 * points of the lines, if they are within both; else an end is nearest, for the distance is a
 * convex function of (s, t) on a square. */
static double segments_distance2(const double p[3], const double *u, const double q[3],
                                 const double *v) {
    if (u == NULL) return cell_distance2(p, q);
    double least = INFINITY, end[3], w[3];
    for (int side = -1; side <= 1; side += 2) {
        for (int a = 0; a < 3; a++) end[a] = p[a] + side * u[a];
        least = fmin(least, packing_distance2(end, q, v));
        for (int a = 0; a < 3; a++) end[a] = q[a] + side * v[a];
        least = fmin(least, packing_distance2(end, p, u));
    }
    for (int a = 0; a < 3; a++) w[a] = p[a] - q[a];
    const double uu = dot(u, u), vv = dot(v, v), uv = dot(u, v), uw = dot(u, w), vw = dot(v, w);
    const double determinant = uu * vv - uv * uv;
    if (determinant <= 1e-12 * uu * vv) return least; /* parallel: an end is nearest */
    const double s = (uv * vw - vv * uw) / determinant, t = (uu * vw - uv * uw) / determinant;
    if (s < -1 || s > 1 || t < -1 || t > 1) return least;
    for (int a = 0; a < 3; a++) w[a] += s * u[a] - t * v[a];
    return fmin(least, dot(w, w));
}

double packing_box_volume(const packing *p) {
    double volume = 1;
    for (int a = 0; a < 3; a++)
        if (p->spans[a]) volume *= (double)p->n[a];
    return volume;
}

double packing_volume(const packing *p, double radius) {
    const double pi = 3.14159265358979323846, r = radius, length = 2 * p->half;
    switch (p->spans[0] + p->spans[1] + p->spans[2]) {
    case 3:
        return pi * r * r * length + 4 * pi / 3 * r * r * r;
    case 2:
        return 2 * r * length + pi * r * r;
    default:
        return 2 * r + length;
    }
}

/* A direction of those axes that count, uniform on the sphere: von Neumann's rejection from the
 * cube around it. */
static void draw_direction(const packing *p, uint64_t *random, double direction[3]) {
    double length2;
    do {
        for (int a = 0; a < 3; a++) direction[a] = p->spans[a] ? random_signed(random) : 0;
        length2 = dot(direction, direction);
    } while (length2 > 1 || length2 < 1e-6);
    const double length = sqrt(length2);
    for (int a = 0; a < 3; a++) direction[a] /= length;
}

static void draw(const packing *p, uint64_t *random, double middle[3], double arm[3]) {
    for (int a = 0; a < 3; a++) {
        middle[a] = p->spans[a] ? random_unit(random) * (double)p->n[a] : 0;
        arm[a] = p->along[a];
    }
    if (p->half > 0 && p->turns) draw_direction(p, random, arm);
    for (int a = 0; a < 3; a++) arm[a] *= p->half;
}

/* Whether a capsule keeps its distance from those that are there; false too where memory is out. */
static bool is_free(const packing *p, const double middle[3], const double arm[3],
                    cell_images *near, bool *out_of_memory) {
    const double least = 2 * p->radius + p->gap;
    *out_of_memory = !cell_grid_gather(p->grid, middle, 2 * p->half + least, near);
    if (*out_of_memory) return false;
    for (int i = 0; i < near->count; i++) {
        const cell_image *other = &near->image[i];
        const double *its = p->half > 0 ? p->arm[other->point] : NULL;
        if (segments_distance2(middle, p->half > 0 ? arm : NULL, other->at, its) < least * least)
            return false;
    }
    return true;
}

static weft_status place(packing *p, uint64_t *random, cell_images *near) {
    enum { ATTEMPTS = 1000000 }; /* in vain, one after the other */
    double middle[3], arm[3];
    bool out_of_memory = false;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        draw(p, random, middle, arm);
        if (is_free(p, middle, arm, near, &out_of_memory)) {
            for (int a = 0; a < 3 && p->half > 0; a++) p->arm[p->grid->count][a] = arm[a];
            cell_grid_add(p->grid, middle);
            return WEFT_SUCCESS;
        }
        if (out_of_memory) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for %s", p->what);
    }
    const double reached = p->grid->count * packing_volume(p, p->radius) / packing_box_volume(p);
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                     "%d of %d %s have been placed, a volume fraction of %.3f, and in %d attempts "
                     "no room was found for another; ask for fewer, smaller ones, or a smaller gap",
                     p->grid->count, p->count, p->what, reached, ATTEMPTS);
}

/* A capsule must keep its distance from its own images too. */
static weft_status check_extents(const packing *p) {
    const double reach = 2 * (p->half + p->radius) + p->gap;
    for (int a = 0; a < 3; a++)
        if (p->spans[a] && reach > (double)p->n[a])
            return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                             "%s of %g voxels with a gap of %g do not fit along axis %d, which has "
                             "%lld; ask for smaller ones, or a larger volume",
                             p->what, 2 * (p->half + p->radius), p->gap, a, (long long)p->n[a]);
    return WEFT_SUCCESS;
}

weft_status packing_make(packing *p, uint64_t seed) {
    uint64_t random = random_stream(seed, RANDOM_PLACES);
    cell_images near;
    WEFT_TRY(check_extents(p));
    WEFT_TRY(cell_grid_create(p->n, p->spans, p->count, p->radius + p->half, &p->grid));
    if (p->half > 0) {
        p->arm = malloc((size_t)p->count * sizeof *p->arm);
        if (p->arm == NULL)
            return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for %d %s", p->count, p->what);
    }
    cell_images_begin(&near);
    weft_status status = WEFT_SUCCESS;
    while (status == WEFT_SUCCESS && p->grid->count < p->count) status = place(p, &random, &near);
    cell_images_end(&near);
    return status;
}

void packing_release(packing *p) {
    cell_grid_destroy(&p->grid);
    free(p->arm);
    p->arm = NULL;
}
