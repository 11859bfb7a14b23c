/* The list of engines: look one up, or take the first that works here. */
#include "engine/engine.h"

#define WEFT_ENGINE_ENTRY(ops) extern const weft_engine_ops ops;
#include "engine/engines.def"
#undef WEFT_ENGINE_ENTRY

#define WEFT_ENGINE_ENTRY(ops) &ops,
static const weft_engine_ops *const engines[] = {
#include "engine/engines.def"
};
#undef WEFT_ENGINE_ENTRY

const weft_engine_ops *weft_engine_find(weft_engine id) {
    for (size_t i = 0; i < sizeof engines / sizeof engines[0]; i++) {
        if (engines[i]->id == id) return engines[i];
    }
    return NULL;
}

const weft_engine_ops *weft_engine_default(const weft_device_ops *device) {
    /* Any engine that works with the device at all can do this one; the identity, which transforms
     * nothing and must be asked for, refuses real data. */
    const weft_transform smallest = {.kind = WEFT_TRANSFORM_R2C,
                                     .dims = 1,
                                     .dim = {{.n = 1, .in_stride = 1, .out_stride = 1}},
                                     .threads = 1,
                                     .in_elements = 1,
                                     .out_elements = 1};
    for (size_t i = 0; i < sizeof engines / sizeof engines[0]; i++) {
        if (engines[i]->probe(NULL) == WEFT_SUCCESS &&
            engines[i]->supports(&smallest, device) == WEFT_SUCCESS)
            return engines[i];
    }
    return NULL;
}
