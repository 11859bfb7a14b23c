/* Materials: notations, rotations, and the isotropic part of a stiffness. */
#include "material.h"

#include "matrix.h"

#include <math.h>
#include <string.h>

static const double root2 = 1.41421356237309504880;

/* The axes of component c: 0..5 is xx, yy, zz, yz, xz, xy. */
static const int first[6] = {0, 1, 2, 1, 0, 0}, second[6] = {0, 1, 2, 2, 2, 1};

static double weight(int component) {
    return component < 3 ? 1 : root2;
}

void material_isotropic(double bulk, double shear, double *mandel) {
    memset(mandel, 0, 36 * sizeof *mandel);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) mandel[6 * i + j] = bulk - 2 * shear / 3;
        mandel[7 * i] += 2 * shear;
        mandel[7 * (i + 3)] = 2 * shear;
    }
}

void material_mandel_of_voigt(const double *voigt, double *mandel) {
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) mandel[6 * i + j] = weight(i) * weight(j) * voigt[6 * i + j];
}

void material_voigt_of_mandel(const double *mandel, double *voigt) {
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) voigt[6 * i + j] = mandel[6 * i + j] / (weight(i) * weight(j));
}

void material_closest(const double *mandel, double *bulk, double *shear) {
    double diagonal = 0, normal = 0;
    for (int i = 0; i < 6; i++) diagonal += mandel[7 * i];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) normal += mandel[6 * i + j];
    *bulk = normal / 9;
    *shear = (diagonal - 3 * *bulk) / 10;
}

bool material_is_isotropic(const double *mandel) {
    double bulk, shear, closest[36], largest = 0, most = 0;
    material_closest(mandel, &bulk, &shear);
    material_isotropic(bulk, shear, closest);
    for (int i = 0; i < 36; i++) {
        largest = fmax(largest, fabs(mandel[i]));
        most = fmax(most, fabs(mandel[i] - closest[i]));
    }
    return most <= 1e-12 * largest;
}

bool material_is_aligned(const double *mandel) {
    double largest = 0, most = 0;
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            largest = fmax(largest, fabs(mandel[6 * i + j]));
            if (i != j && (i >= 3 || j >= 3)) most = fmax(most, fabs(mandel[6 * i + j]));
        }
    return most <= 1e-12 * largest;
}

void material_rotation(const double angles[3], double rotation[9]) {
    const double degree = 0.01745329251994329577;
    const double c1 = cos(degree * angles[0]), s1 = sin(degree * angles[0]);
    const double c = cos(degree * angles[1]), s = sin(degree * angles[1]);
    const double c2 = cos(degree * angles[2]), s2 = sin(degree * angles[2]);
    const double r[9] = {c1 * c2 - s1 * s2 * c,
                         -c1 * s2 - s1 * c2 * c,
                         s1 * s,
                         s1 * c2 + c1 * s2 * c,
                         -s1 * s2 + c1 * c2 * c,
                         -c1 * s,
                         s2 * s,
                         c2 * s,
                         c};
    memcpy(rotation, r, sizeof r);
}

void material_turn_stiffness(const double rotation[9], double *mandel) {
    double q[36], turned[36];
    /* Column j is the vector of R B R^T, where B is the tensor whose vector is unit vector j. */
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            const double *a = rotation + 3 * first[i], *b = rotation + 3 * second[i];
            const double both = a[first[j]] * b[second[j]] + a[second[j]] * b[first[j]];
            q[6 * i + j] = weight(i) * both / (j < 3 ? 2 : root2);
        }
    matrix_turn(6, q, mandel, turned);
    memcpy(mandel, turned, sizeof turned);
}

void material_turn_conductivity(const double rotation[9], double *conductivity) {
    double turned[9];
    matrix_turn(3, rotation, conductivity, turned);
    memcpy(conductivity, turned, sizeof turned);
}

void material_mandel_of_tensor(const double *tensor, double *mandel) {
    for (int i = 0; i < 6; i++) mandel[i] = weight(i) * tensor[i];
}

void material_tensor_of_mandel(const double *mandel, double *tensor) {
    for (int i = 0; i < 6; i++) tensor[i] = mandel[i] / weight(i);
}
