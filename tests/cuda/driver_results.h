/* What the functions of driver.c and work.c return. */
#ifndef WEFT_TESTS_DRIVER_RESULTS_H
#define WEFT_TESTS_DRIVER_RESULTS_H

enum { /* CUresult */
       SUCCESS = 0,
       INVALID_VALUE = 1,
       OUT_OF_MEMORY = 2,
       INVALID_IMAGE = 200,
       INVALID_CONTEXT = 201,
       NOT_FOUND = 500,
       NOT_READY = 600,
       NOT_SUPPORTED = 801,
       CAPTURE_UNSUPPORTED = 900,
       CAPTURE_INVALIDATED = 901,
       CAPTURE_IMPLICIT = 906
};

#endif
