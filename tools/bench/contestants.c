/* Looking a library up by its name. */
#include "bench/contestants.h"

#include "support/error.h"

#include <string.h>

#define BENCH_CONTESTANT(ops) extern const bench_contestant_ops ops;
#include "bench/contestants.def"
#undef BENCH_CONTESTANT

static const bench_contestant_ops *const contestants[] = {
#define BENCH_CONTESTANT(ops) &ops,
#include "bench/contestants.def"
#undef BENCH_CONTESTANT
};

static const bench_contestant_ops *find(const char *library) {
    for (size_t i = 0; i < sizeof contestants / sizeof contestants[0]; i++)
        if (strcmp(contestants[i]->library, library) == 0) return contestants[i];
    return NULL;
}

weft_status bench_contestants_find(const json_t *cell, const bench_contestant_ops **ops) {
    const char *library = json_string_value(json_object_get(cell, "library"));
    const bench_contestant_ops *found = find(library);
    if (found == NULL && json_object_get(cell, "adapter") != NULL) found = find("adapter");
    if (found == NULL)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "this build does not run %s; name an adapter for it", library);
    *ops = found;
    return WEFT_SUCCESS;
}
