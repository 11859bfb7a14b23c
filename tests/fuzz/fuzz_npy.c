/* Fuzzes the .npy header parser, and what it accepts must be consistent: written again, it reads
 * the same. */
#include "io/npy_header.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>

static void require(int condition) {
    if (!condition) abort();
}

/* A refusal is one sentence that names the file. */
static int refused(weft_status status) {
    if (status == WEFT_SUCCESS) return 0;
    require(strncmp(weft_thread_error(), "FILE: ", 6) == 0);
    require(strchr(weft_thread_error(), '\n') == NULL);
    return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t offset = 0, length = 0;
    size_t count = size < WEFT_NPY_PREFIX_BYTES ? size : WEFT_NPY_PREFIX_BYTES;
    /* Half of the inputs skip the prefix, which is hard to guess. */
    if (size > 0 && data[0] != 0x93) {
        length = size;
    } else {
        if (refused(weft_npy_parse_prefix("FILE", data, count, &offset, &length))) return 0;
        require(offset <= WEFT_NPY_PREFIX_BYTES && length <= WEFT_NPY_TEXT_LIMIT);
        if (offset + length > size) return 0;
    }
    char *text = malloc(length + 1); /* of its own, so that reading past the end shows */
    memcpy(text, data + offset, length);
    weft_npy_header header = {0}, again = {0};
    weft_status status = weft_npy_parse_text("FILE", text, length, &header);
    free(text);
    if (refused(status)) return 0;
    require(header.info.rank >= 0 && header.info.rank <= WEFT_MAX_RANK);
    require(header.info.element >= 0 && header.info.element < WEFT_ELEMENT_COUNT);
    for (int a = 0; a < header.info.rank; a++) require(header.info.n[a] >= 0);

    char bytes[WEFT_NPY_WRITTEN_LIMIT];
    size_t written = weft_npy_format_header(&header.info, bytes);
    require(weft_npy_parse_prefix("FILE", (unsigned char *)bytes, written, &offset, &length) ==
            WEFT_SUCCESS);
    require(weft_npy_parse_text("FILE", bytes + offset, length, &again) == WEFT_SUCCESS);
    require(again.info.rank == header.info.rank && again.info.element == header.info.element);
    for (int a = 0; a < again.info.rank; a++) require(again.info.n[a] == header.info.n[a]);
    return 0;
}
