/* Pictures of the spectrum of a volume: the planes where the frequency along one axis is 0. */
#ifndef WEFT_LIVE_VOLUME_SPECTRUM_H
#define WEFT_LIVE_VOLUME_SPECTRUM_H

#include "filter/response.h"

/* The magnitudes of the spectrum of a plane of rows x columns, times `scale`, frequency 0 in the
 * middle. Where the plane is the sum of a volume along an axis, that is the volume's spectrum where
 * the frequency along that axis is 0. */
weft_status live_magnitudes(int64_t rows, int64_t columns, double *plane, double scale,
                            float *magnitudes);

/* The same magnitudes times a filter's responses, in decibels. axes: of the rows and the columns in
 * the volume; f is of its three. */
void live_decibels(const filter *f, const int axes[2], int64_t rows, int64_t columns,
                   const float *magnitudes, float *decibels);

#endif
