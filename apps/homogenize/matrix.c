/* Small dense matrices. They are a few for each phase, so clarity counts and not speed. */
#include "matrix.h"

#include <math.h>
#include <string.h>

void matrix_multiply(int n, const double *a, const double *b, double *c) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

void matrix_turn(int n, const double *q, const double *a, double *c) {
    double half[MATRIX_MOST * MATRIX_MOST], transposed[MATRIX_MOST * MATRIX_MOST];
    matrix_multiply(n, q, a, half);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) transposed[i * n + j] = q[j * n + i];
    matrix_multiply(n, half, transposed, c);
}

/* a = l l^T; false where a is not positive definite. */
static bool factor(int n, const double *a, double *l) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = a[i * n + j];
            for (int k = 0; k < j; k++) sum -= l[i * n + k] * l[j * n + k];
            if (i != j) {
                l[i * n + j] = sum / l[j * n + j];
                continue;
            }
            /* What is left of the diagonal in rounding errors alone is no positive number. */
            if (!(sum > 1e-14 * fabs(a[i * n + i])) || !isfinite(sum)) return false;
            l[i * n + i] = sqrt(sum);
        }
    return true;
}

bool matrix_invert(int n, const double *a, double *inverse) {
    double l[MATRIX_MOST * MATRIX_MOST] = {0};
    if (!factor(n, a, l)) return false;
    for (int column = 0; column < n; column++) {
        double x[MATRIX_MOST];
        for (int i = 0; i < n; i++) {
            x[i] = i == column ? 1 : 0;
            for (int k = 0; k < i; k++) x[i] -= l[i * n + k] * x[k];
            x[i] /= l[i * n + i];
        }
        for (int i = n - 1; i >= 0; i--) {
            for (int k = i + 1; k < n; k++) x[i] -= l[k * n + i] * x[k];
            x[i] /= l[i * n + i];
        }
        for (int i = 0; i < n; i++) inverse[i * n + column] = x[i];
    }
    return true;
}

/* One of Jacobi's rotations: makes element (p, q) of the symmetric matrix w zero. */
static void rotate(int n, double *w, int p, int q) {
    if (w[p * n + q] == 0) return;
    const double theta = (w[q * n + q] - w[p * n + p]) / (2 * w[p * n + q]);
    const double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
    const double c = 1 / sqrt(t * t + 1), s = t * c;
    for (int k = 0; k < n; k++) {
        const double at_p = w[k * n + p], at_q = w[k * n + q];
        w[k * n + p] = c * at_p - s * at_q;
        w[k * n + q] = s * at_p + c * at_q;
    }
    for (int k = 0; k < n; k++) {
        const double at_p = w[p * n + k], at_q = w[q * n + k];
        w[p * n + k] = c * at_p - s * at_q;
        w[q * n + k] = s * at_p + c * at_q;
    }
}

void matrix_eigenvalues(int n, const double *a, double *values) {
    enum { SWEEPS = 30 }; /* convergence is quadratic: ten are more than enough */
    double w[MATRIX_MOST * MATRIX_MOST];
    memcpy(w, a, sizeof(double) * (size_t)(n * n));
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) rotate(n, w, p, q);
    for (int i = 0; i < n; i++) {
        int at = i;
        for (; at > 0 && values[at - 1] > w[i * n + i]; at--) values[at] = values[at - 1];
        values[at] = w[i * n + i];
    }
}

double matrix_asymmetry(int n, const double *a) {
    double most = 0, largest = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            most = fmax(most, fabs(a[i * n + j] - a[j * n + i]));
            largest = fmax(largest, fabs(a[i * n + j]));
        }
    return largest > 0 ? most / largest : 0;
}
