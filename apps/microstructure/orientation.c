/* Random rotations. */
#include "microstructure/microstructure.h"
#include "microstructure/random.h"

#include <math.h>

/* A point of the unit disc; returns the square of its distance from the middle. */
static double draw_in_disc(uint64_t *random, double *x, double *y) {
    double square;
    do {
        *x = random_signed(random);
        *y = random_signed(random);
        square = *x * *x + *y * *y;
    } while (square >= 1 || square < 1e-12);
    return square;
}

/* A unit quaternion, uniform on the sphere of four dimensions, by rejection and square roots alone:
 * Marsaglia, "Choosing a point from the surface of a sphere", Ann. Math. Statist. 43 (1972). Such a
 * quaternion is a rotation, uniform by Haar's measure (Shoemake 1992). */
void microstructure_orientation(uint64_t seed, int label, double rotation[9]) {
    uint64_t random = random_stream(seed, RANDOM_ORIENTATIONS + (uint64_t)label);
    double w, x, y, z;
    const double first = draw_in_disc(&random, &w, &x), second = draw_in_disc(&random, &y, &z);
    const double scale = sqrt((1 - first) / second);
    y *= scale;
    z *= scale;
    const double r[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                         2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                         2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
    for (int i = 0; i < 9; i++) rotation[i] = r[i];
}
