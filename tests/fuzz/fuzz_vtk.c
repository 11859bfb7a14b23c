/* Fuzzes the readers of VTK's files, legacy and XML: what is accepted is read to its end, and a
 * refusal is one sentence that names the file. */
#include "../io/vtk_text.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    /* The first byte chooses the format, so that no more than the rest is to be guessed. */
    if (size == 0) return 0;
    const vtk_parser parse = data[0] == '<' ? weft_vtk_parse_xml : weft_vtk_parse_legacy;
    weft_thread_error_set("");
    if (vtk_read_text(parse, NULL, data, size) == WEFT_SUCCESS) return 0;
    if (strncmp(weft_thread_error(), "FILE: ", 6) != 0) abort();
    if (strchr(weft_thread_error(), '\n') != NULL) abort();
    return 0;
}
