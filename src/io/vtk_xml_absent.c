/* The XML format of VTK in builds without Expat: names are recognized, and refused. */
#include "io/vtk_data.h"
#include "support/error.h"

weft_status weft_vtk_parse_xml(int fd, int64_t file_bytes, weft_vtk_choice *choice) {
    (void)fd, (void)file_bytes;
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "%s: this build has no Expat, which reads .vti files; use .vtk, .npy or raw "
                     "files",
                     choice->path);
}
