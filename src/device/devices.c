/* The devices of this build, as devices.def lists them. */
#include "device/device.h"

#define WEFT_DEVICE_ENTRY(ops) extern const weft_device_ops ops;
#include "device/devices.def"
#undef WEFT_DEVICE_ENTRY

static const weft_device_ops *const devices[] = {
#define WEFT_DEVICE_ENTRY(ops) &ops,
#include "device/devices.def"
#undef WEFT_DEVICE_ENTRY
};

const weft_device_ops *weft_device_find(weft_device id) {
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; ++i)
        if (devices[i]->id == id) return devices[i];
    return NULL;
}
