/* A picture of what a load leads to: a slice of the labels, and of the stress in it. */
#ifndef WEFT_TOOLS_HOMOGENIZE_PICTURE_H
#define WEFT_TOOLS_HOMOGENIZE_PICTURE_H

#include "homogenize/job.h"

/* Writes the picture that the case asks for, if it does: the middle plane across the shortest axis,
 * labels beside von Mises' stress (or the magnitude of the flux). Stress is in field[1] of the
 * run, in Mandel's notation. Collective. */
weft_status homogenize_picture_write(homogenize_job *job);

#endif
