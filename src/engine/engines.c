/* The list of engines: look one up, or take the first that works here. */
#include "engine/engine.h"

#include <stdio.h>

#include "support/error.h"

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

/* `here`: what the engine needs must be here, too. The identity, which transforms nothing, must be
 * asked for. */
static const weft_engine_ops *
first_that_does(weft_transform_kind kind, const weft_device_ops *device, bool fuses, bool here) {
    const weft_transform smallest = {.kind = kind,
                                     .dims = 1,
                                     .dim = {{.n = 1, .in_stride = 1, .out_stride = 1}},
                                     .type = {WEFT_DCT2},
                                     .threads = 1,
                                     .in_elements = 1,
                                     .out_elements = 1};
    for (size_t i = 0; i < sizeof engines / sizeof engines[0]; i++) {
        if (engines[i]->id != WEFT_ENGINE_IDENTITY && (!fuses || engines[i]->takes_operators) &&
            (!here || engines[i]->probe(NULL) == WEFT_SUCCESS) &&
            engines[i]->supports(&smallest, device) == WEFT_SUCCESS)
            return engines[i];
    }
    return NULL;
}

const weft_engine_ops *weft_engine_default(const weft_device_ops *device) {
    /* Any engine that works with the device at all can do this one. */
    return first_that_does(WEFT_TRANSFORM_R2C, device, false, true);
}

const weft_engine_ops *weft_engine_default_elsewhere(const weft_device_ops *device) {
    return first_that_does(WEFT_TRANSFORM_R2C, device, false, false);
}

const weft_engine_ops *weft_engine_default_fusing(const weft_device_ops *device) {
    return first_that_does(WEFT_TRANSFORM_R2C, device, true, true);
}

const weft_engine_ops *weft_engine_default_real(const weft_device_ops *device) {
    return first_that_does(WEFT_TRANSFORM_R2R, device, false, true);
}

weft_status weft_engine_probe_devices(const weft_engine_ops *engine) {
    const weft_transform smallest = {.kind = WEFT_TRANSFORM_C2C,
                                     .dims = 1,
                                     .dim = {{.n = 1, .in_stride = 1, .out_stride = 1}},
                                     .threads = 1,
                                     .in_elements = 1,
                                     .out_elements = 1};
    char reason[1024] = "there is none in this build";
    for (int id = WEFT_HOST; id <= WEFT_SIMULATED; id++) {
        const weft_device_ops *device = weft_device_find((weft_device)id);
        if (!device || engine->supports(&smallest, device) != WEFT_SUCCESS) continue;
        if (device->probe(NULL) == WEFT_SUCCESS) return WEFT_SUCCESS;
        snprintf(reason, sizeof reason, "%s", weft_thread_error());
    }
    return weft_fail(WEFT_ERROR_UNSUPPORTED, "engine %s: no device that it works on: %s",
                     engine->name, reason);
}
