/* Fuzzes the requests of weft live, and the checks of paths and headers before them: what is
 * accepted has finite responses, and a refusal is one sentence. */
#include "live/guard.h"
#include "live/request.h"
#include "support/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_filters(const live_request *request) {
    static const double frequencies[][2] = {
        {0, 0}, {0, 0.5}, {-0.5, 0.25}, {0.123, -0.456}, {0.5, 0.5}};
    const filter f = {.rank = 2, .parts = request->parts, .part = request->part};
    /* Of many that amplify the product is infinite. */
    for (size_t i = 0; f.parts <= 16 && i < sizeof frequencies / sizeof *frequencies; i++)
        if (!isfinite(filter_response(&f, frequencies[i]))) abort();
    if (request->index < 0 || request->axis < 0 || request->axis > 2) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char token[] = "0123456789abcdef0123456789abcdef";
    static live_request request;
    if (size > LIVE_REQUEST_BYTES) return 0;
    char *text = malloc(size + 1);
    if (text == NULL) return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    const char *rest = live_token_path(token, text);
    if (rest != NULL && (strlen(text) < 34 || rest != text + 34)) abort();
    if (live_host_allowed(text)) live_origin_allowed(text, "localhost");
    weft_thread_error_set("");
    if (live_request_parse(text, &request) == WEFT_SUCCESS)
        check_filters(&request);
    else if (weft_thread_error()[0] == '\0' || strchr(weft_thread_error(), '\n') != NULL)
        abort();
    free(text);
    return 0;
}
