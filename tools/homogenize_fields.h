/* The fields that a load leads to, in files: HDF5 for the numbers, XDMF for ParaView and others. */
#ifndef WEFT_TOOLS_HOMOGENIZE_FIELDS_H
#define WEFT_TOOLS_HOMOGENIZE_FIELDS_H

#include "homogenize/job.h"

/* Fails where the fields that the case asks for could not be written, so that nobody waits for what
 * is then lost. Collective. */
weft_status homogenize_fields_check(const homogenize_job *job);

/* Writes strain and stress of the load that has just been solved, if the case asks for them, and
 * makes tensor components of those in memory. Collective. */
weft_status homogenize_fields_write(homogenize_job *job, int load);

#endif
