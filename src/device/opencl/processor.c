/* Lists the OpenCL devices of the machine, chooses one for this rank, and opens it. */
#include "device/opencl/processor.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "device/opencl/program.h"
#include "device/scale_kernel.h"
#include "kernels/copy_shape.h"
#include "support/error.h"
#include "support/node_rank.h"

enum { MOST_PLATFORMS = 16, MOST_PROCESSORS = 64, ANSWER = 1024 };

/* The list belongs to the process: GPUs and accelerators first, otherwise as the platforms name
 * them. */
static pthread_once_t listed_once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static weft_cl_processor listed[MOST_PROCESSORS];
static int processors;
static int listing_result; /* why there are none */

/* ---- the list ---- */

static uint64_t ask_number(const weft_cl *cl, weft_cl_device device, unsigned what, size_t bytes) {
    uint64_t value = 0; /* answers are little-endian, as the processors of all OpenCL hosts are */
    return cl->device_info(device, what, bytes, &value, NULL) == 0 ? value : 0;
}

/* Copies an answer without the spaces around it; too long an answer is cut. */
static void keep_text(int result, const char *answer, char *text, size_t room) {
    snprintf(text, room, "%s", result == 0 ? answer + strspn(answer, " ") : "");
    for (size_t end = strlen(text); end > 0 && text[end - 1] == ' ';) text[--end] = '\0';
}

static void ask_device(const weft_cl *cl, weft_cl_device device, unsigned what, char *text,
                       size_t room) {
    char answer[ANSWER] = "";
    keep_text(cl->device_info(device, what, sizeof answer - 1, answer, NULL), answer, text, room);
}

static void ask_platform(const weft_cl *cl, weft_cl_platform platform, unsigned what, char *text,
                         size_t room) {
    char answer[ANSWER] = "";
    keep_text(cl->platform_info(platform, what, sizeof answer - 1, answer, NULL), answer, text,
              room);
}

static bool is_usable(const weft_cl *cl, weft_cl_device device) {
    char version[128];
    ask_device(cl, device, WEFT_CL_DEVICE_VERSION, version, sizeof version);
    return strcmp(version, "OpenCL 1.2") >= 0 &&
           ask_number(cl, device, WEFT_CL_DEVICE_AVAILABLE, 4) &&
           ask_number(cl, device, WEFT_CL_DEVICE_COMPILER_AVAILABLE, 4);
}

static void add_processor(const weft_cl *cl, weft_cl_platform platform, weft_cl_device device) {
    char platform_name[96], platform_version[256], name[96], version[128], driver[96];
    if (processors == MOST_PROCESSORS || !is_usable(cl, device)) return;
    weft_cl_processor *p = &listed[processors++];
    *p = (weft_cl_processor){.cl = cl, .device = device};
    p->is_cpu = (ask_number(cl, device, WEFT_CL_DEVICE_TYPE, 8) &
                 (WEFT_CL_DEVICE_IS_GPU | WEFT_CL_DEVICE_IS_ACCELERATOR)) == 0;
    ask_platform(cl, platform, WEFT_CL_PLATFORM_NAME, platform_name, sizeof platform_name);
    ask_platform(cl, platform, WEFT_CL_PLATFORM_VERSION, platform_version, sizeof platform_version);
    ask_device(cl, device, WEFT_CL_DEVICE_NAME, name, sizeof name);
    ask_device(cl, device, WEFT_CL_DEVICE_VERSION, version, sizeof version);
    ask_device(cl, device, WEFT_CL_DRIVER_VERSION, driver, sizeof driver);
    snprintf(p->name, sizeof p->name, "%s: %s", platform_name, name);
    snprintf(p->versions, sizeof p->versions, "%s, %s, %s", platform_version, version, driver);
    /* "OpenCL 3.0" without what the vendor adds. */
    snprintf(p->version, sizeof p->version, "%.10s, driver %s", version, driver);
}

static void list_platform(const weft_cl *cl, weft_cl_platform platform) {
    weft_cl_device device[MOST_PROCESSORS];
    unsigned count = 0;
    if (cl->devices(platform, WEFT_CL_ALL_DEVICES, MOST_PROCESSORS, device, &count) != 0) return;
    for (unsigned i = 0; i < count && i < MOST_PROCESSORS; i++)
        add_processor(cl, platform, device[i]);
}

/* Stable: what the platforms name first stays first. */
static void put_cpus_last(void) {
    static weft_cl_processor cpu[MOST_PROCESSORS];
    int cpus = 0, others = 0;
    for (int i = 0; i < processors; i++) {
        if (listed[i].is_cpu)
            cpu[cpus++] = listed[i];
        else
            listed[others++] = listed[i];
    }
    memcpy(&listed[others], cpu, (size_t)cpus * sizeof *cpu);
}

static void describe(weft_cl_processor *p, int number) {
    char text[sizeof p->description];
    snprintf(text, sizeof text, "%s, number %d of %d, %s", p->name, number, processors, p->version);
    memcpy(p->description, text, sizeof text);
}

static void list_all(void) {
    const weft_cl *cl = weft_cl_open();
    weft_cl_platform platform[MOST_PLATFORMS];
    unsigned count = 0;
    listing_result = cl->platforms(MOST_PLATFORMS, platform, &count);
    if (listing_result == 0)
        listing_result = WEFT_CL_DEVICE_NOT_FOUND;
    else
        count = 0;
    for (unsigned i = 0; i < count && i < MOST_PLATFORMS; i++) list_platform(cl, platform[i]);
    put_cpus_last();
    for (int i = 0; i < processors; i++) describe(&listed[i], i);
}

/* ---- the choice ---- */

static bool contains(const char *text, const char *part) {
    for (size_t length = strlen(part); *text; text++)
        if (strncasecmp(text, part, length) == 0) return true;
    return false;
}

static weft_status choose_named(const char *wanted, int *number) {
    char *end;
    long given = strtol(wanted, &end, 10);
    *number = *end == '\0' && given >= 0 && given < processors ? (int)given : -1;
    for (int i = 0; i < processors && *number < 0 && *end != '\0'; i++)
        if (contains(listed[i].name, wanted)) *number = i;
    if (*number >= 0) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                     "WEFT_OPENCL_DEVICE=\"%.40s\": give a number, 0 to %d, or a part of a name "
                     "such as \"%.100s\"",
                     wanted, processors - 1, listed[0].name);
}

weft_status weft_cl_processor_choose(weft_cl_processor **processor) {
    const weft_cl *cl = weft_cl_open();
    const char *wanted = getenv("WEFT_OPENCL_DEVICE");
    int number = 0, gpus = 0;
    if (!cl) return WEFT_ERROR_UNSUPPORTED;
    pthread_once(&listed_once, list_all);
    if (processors == 0) {
        (void)weft_cl_check(listing_result, "there is no device that can be used");
        char reason[256];
        snprintf(reason, sizeof reason, "%s", weft_thread_error());
        return weft_fail(WEFT_ERROR_UNSUPPORTED, "%s; choose another device than opencl", reason);
    }
    while (gpus < processors && !listed[gpus].is_cpu) gpus++;
    if (wanted && wanted[0])
        WEFT_TRY(choose_named(wanted, &number));
    else if (gpus > 0)
        number = weft_node_rank() % gpus;
    *processor = &listed[number];
    return WEFT_SUCCESS;
}

/* ---- opening ---- */

/* The number of threads that run in step, if the driver tells it. */
static unsigned width_of(const weft_cl_processor *p) {
    enum { AMD_WAVEFRONT = 0x4043 }; /* cl_amd_device_attribute_query */
    uint64_t width = 0;
    if (p->is_cpu)
        width = ask_number(p->cl, p->device, WEFT_CL_DEVICE_WIDTH_FLOAT, 4);
    else if ((width = ask_number(p->cl, p->device, WEFT_CL_DEVICE_WARP_SIZE, 4)) == 0)
        width = ask_number(p->cl, p->device, AMD_WAVEFRONT, 4);
    return width > 0 && (width & (width - 1)) == 0 ? (unsigned)width : p->is_cpu ? 1 : 32;
}

static void find_limits(weft_cl_processor *p) {
    p->limits = (weft_kernel_limits){
        .threads =
            (unsigned)ask_number(p->cl, p->device, WEFT_CL_DEVICE_GROUP_SIZE, sizeof(size_t)),
        .width = width_of(p),
        .units = (unsigned)ask_number(p->cl, p->device, WEFT_CL_DEVICE_COMPUTE_UNITS, 4),
        .local_bytes =
            ask_number(p->cl, p->device, WEFT_CL_DEVICE_LOCAL_MEMORY, 8) - WEFT_CL_COMPILERS_BYTES,
        .has_double = ask_number(p->cl, p->device, WEFT_CL_DEVICE_DOUBLE, 8) != 0,
        .is_cpu = p->is_cpu};
    p->registers = (unsigned)ask_number(p->cl, p->device, WEFT_CL_DEVICE_REGISTERS, 4);
    p->largest_buffer = ask_number(p->cl, p->device, WEFT_CL_DEVICE_MAX_ALLOCATION, 8);
    p->parameter_bytes =
        ask_number(p->cl, p->device, WEFT_CL_DEVICE_PARAMETER_SIZE, sizeof(size_t));
}

static weft_status make_kernels(weft_cl_processor *p) {
    for (int kernel = WEFT_COPY_KERNEL_ROWS; kernel < WEFT_COPY_KERNELS; kernel++)
        for (int unit = 0; unit < WEFT_COPY_UNITS; unit++) {
            weft_kernel_source copy = weft_copy_source((weft_copy_kernel)kernel, unit);
            WEFT_TRY(weft_cl_kernel_make(p, &copy, &p->copy[kernel][unit]));
        }
    for (int precision = WEFT_DOUBLE; precision <= WEFT_SINGLE; precision++) {
        weft_kernel_source scale = weft_scale_source((weft_precision)precision);
        if (precision != WEFT_DOUBLE || p->limits.has_double)
            WEFT_TRY(weft_cl_kernel_make(p, &scale, &p->scale[precision]));
    }
    return WEFT_SUCCESS;
}

/* Opens the processor; the lock must be held. If its kernels cannot be made, the context is kept
 * for the next attempt. */
static weft_status open_locked(weft_cl_processor *p) {
    int result = 0;
    if (!p->context) {
        p->context = p->cl->context_create(NULL, 1, &p->device, NULL, NULL, &result);
        WEFT_TRY(weft_cl_check(result, "no context"));
        find_limits(p);
    }
    return p->scale[WEFT_SINGLE] ? WEFT_SUCCESS : make_kernels(p);
}

weft_status weft_cl_processor_open(weft_cl_processor **processor) {
    weft_cl_processor *chosen;
    WEFT_TRY(weft_cl_processor_choose(&chosen));
    pthread_mutex_lock(&lock);
    weft_status status = open_locked(chosen);
    pthread_mutex_unlock(&lock);
    if (status == WEFT_SUCCESS) *processor = chosen;
    return status;
}
