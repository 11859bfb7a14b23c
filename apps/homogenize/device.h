/*
 * Fields on a device with kernels: the passes of sweeps.h there (kernels/sweep*.cl), and
 * Green's operator between the transforms (kernels/green.cl). A pass that fails, and all behind it,
 * leave sums of 0; what failed is told once the ranks add up their sums (homogenize_add_up), so
 * that all of them learn of it.
 */
#ifndef WEFT_HOMOGENIZE_DEVICE_H
#define WEFT_HOMOGENIZE_DEVICE_H

#include "green.h"
#include "sweeps.h"

typedef struct homogenize_device homogenize_device;

/* WEFT_SUCCESS, or WEFT_ERROR_UNSUPPORTED where the device has no kernels. Not collective. */
weft_status homogenize_device_check(weft_device device);

/* The passes over fields on the device of the operator's plan; phases and laws are copied there.
 * The space's volume and medium must outlive it, and so must the operator. The caller destroys it,
 * also after a failure. Not collective. */
weft_status homogenize_device_create(const homogenize_green *green, const homogenize_space *space,
                                     homogenize_device **made);
void homogenize_device_destroy(homogenize_device *device);
size_t homogenize_device_bytes(const homogenize_device *device);
/* The first failure of a pass. */
weft_status homogenize_device_status(const homogenize_device *device);

/* As the functions of sweeps.h; sums of a stress are strain, stress, energy and size. */
void homogenize_device_fill(homogenize_device *device, void *e, const double value[6]);
void homogenize_device_stress(homogenize_device *device, const void *e, void *s, bool polarize,
                              double sums[14]);
void homogenize_device_products(homogenize_device *device, const void *g, const void *last,
                                double products[2]);
void homogenize_device_respond(homogenize_device *device, void *e, double products[2]);
double homogenize_device_reflect(homogenize_device *device, void *e, const void *t,
                                 const double mean[6], bool whole);
double homogenize_device_descend(homogenize_device *device, void *e, const void *g, double factor);
void homogenize_device_phase_sums(homogenize_device *device, const void *e, double *sums);

/* For histograms.c, of norms of deviators (homogenize_deviators): the largest one of each phase,
 * and counts[phase][bin] with bins up to most[phase]. Where there are no voxels nothing is stored.
 */
void homogenize_device_find_most(homogenize_device *device, const void *field, double *most);
void homogenize_device_count(homogenize_device *device, const void *field, const double *most,
                             int64_t *counts);

/* Green's operator, and the step of its displacements, at this rank's frequencies of a spectrum:
 * component by component, each row-major. */
void homogenize_device_apply(homogenize_device *device, const homogenize_green *green,
                             void *spectrum);

#endif
