/* Buffers on the device where a plan computes, and descriptions of engines, devices and exchanges.
 */
#include "device/messages.h"
#include "exec/plan.h"

#include "support/error.h"

static weft_status check(weft_plan plan, const void *pointer, const char *function) {
    WEFT_TRY(weft_plan_check(plan, plan, function, ""));
    if (plan->build->device.ops) return weft_plan_check(plan, pointer, function, "a pointer");
    return weft_context_note(plan->context,
                             weft_fail(WEFT_ERROR_UNSUPPORTED,
                                       "%s: a plan over simulated ranks has no memory", function));
}

static weft_status create(weft_plan plan, weft_memory_kind kind, size_t bytes, void **buffer,
                          const char *function) {
    WEFT_TRY(check(plan, buffer, function));
    const weft_device_handle *d = &plan->build->device;
    void *memory = NULL;
    WEFT_TRY(weft_context_note(plan->context,
                               d->ops->allocate(d->state, kind, bytes > 0 ? bytes : 1, &memory)));
    *buffer = memory;
    return WEFT_SUCCESS;
}

static void destroy(weft_plan plan, weft_memory_kind kind, void **buffer) {
    if (!plan || !buffer || !*buffer) return;
    plan->build->device.ops->free(plan->build->device.state, kind, *buffer);
    *buffer = NULL;
}

WEFT_API weft_status weft_buffer_create(weft_plan plan, size_t bytes, void **buffer) {
    return create(plan, WEFT_MEMORY_DEVICE, bytes, buffer, "weft_buffer_create");
}

WEFT_API void weft_buffer_destroy(weft_plan plan, void **buffer) {
    destroy(plan, WEFT_MEMORY_DEVICE, buffer);
}

WEFT_API weft_status weft_host_buffer_create(weft_plan plan, size_t bytes, void **buffer) {
    return create(plan, WEFT_MEMORY_PAGE_LOCKED, bytes, buffer, "weft_host_buffer_create");
}

WEFT_API void weft_host_buffer_destroy(weft_plan plan, void **buffer) {
    destroy(plan, WEFT_MEMORY_PAGE_LOCKED, buffer);
}

static weft_status transfer(weft_plan plan, const void *src, void *dst, size_t bytes,
                            weft_transfer direction) {
    const weft_device_handle *d = &plan->build->device;
    weft_copy copy = weft_copy_of_run((int64_t)bytes, 1);
    if (bytes == 0) return WEFT_SUCCESS;
    if (d->ops->await_caller) WEFT_TRY(d->ops->await_caller(d->state));
    WEFT_TRY(d->ops->copy(d->state, NULL, &copy, src, dst, direction));
    return d->ops->queue_wait(d->state, NULL);
}

WEFT_API weft_status weft_buffer_upload(weft_plan plan, void *buffer, const void *host,
                                        size_t bytes) {
    WEFT_TRY(check(plan, bytes > 0 && !host ? NULL : buffer, "weft_buffer_upload"));
    return weft_context_note(plan->context,
                             transfer(plan, host, buffer, bytes, WEFT_HOST_TO_DEVICE));
}

WEFT_API weft_status weft_buffer_download(weft_plan plan, void *host, const void *buffer,
                                          size_t bytes) {
    WEFT_TRY(check(plan, bytes > 0 && !buffer ? NULL : host, "weft_buffer_download"));
    return weft_context_note(plan->context,
                             transfer(plan, buffer, host, bytes, WEFT_DEVICE_TO_HOST));
}

WEFT_API weft_status weft_engine_probe(weft_engine engine, const char **description) {
    const weft_engine_ops *ops = weft_engine_find(engine);
    const char *found = NULL;
    if (!ops)
        return weft_fail(WEFT_ERROR_UNSUPPORTED, "engine %s is not in this version of weft (%s)",
                         weft_engine_name(engine), WEFT_VERSION);
    WEFT_TRY(ops->probe(&found));
    WEFT_TRY(weft_engine_probe_devices(ops));
    if (description) *description = found;
    return WEFT_SUCCESS;
}

WEFT_API weft_status weft_device_probe(weft_device device, const char **description) {
    const weft_device_ops *ops = weft_device_find(device);
    if (!ops)
        return weft_fail(WEFT_ERROR_UNSUPPORTED, "device %s is not in this version of weft (%s)",
                         weft_device_name(device), WEFT_VERSION);
    return ops->probe(description);
}

WEFT_API weft_status weft_exchange_probe(weft_exchange exchange, const char **description) {
    const weft_exchange_ops *ops = weft_exchange_find(exchange);
    const weft_device_ops *cuda = weft_device_find(WEFT_CUDA);
    if (!ops)
        return weft_fail(WEFT_ERROR_UNSUPPORTED, "exchange %s is not in this version of weft (%s)",
                         weft_exchange_name(exchange), WEFT_VERSION);
    if (ops->carrier != WEFT_CARRIED_BY_DEVICES || !cuda || !cuda->messages) return WEFT_SUCCESS;
    WEFT_TRY(cuda->probe(NULL));
    return cuda->messages->probe(description);
}
