/* The numbers that a pass multiplies by, in the memory of the device. */
#ifndef WEFT_ENGINE_OPENMP_TABLES_H
#define WEFT_ENGINE_OPENMP_TABLES_H

#include "engine/openmp/pass.h"

/* Makes the tables of a pass whose lengths are known. */
weft_status weft_openmp_tables_create(weft_openmp_pass *pass, weft_device_state *device);

#endif
