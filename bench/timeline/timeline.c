/*
 * What a process has its GPU do, and when: a library that the CUDA driver loads into any process
 * (CUDA_INJECTION64_PATH) and that writes a row for each kernel and copy at the end; with
 * TIMELINE_CALLS set, which takes longer, for each call of the driver, too, but for questions of
 * less than 4 us. scripts/timeline builds and uses it. Columns: what, stream, begin and end in
 * microseconds, bytes of a copy, name of a kernel or call. By CUPTI's activity interface
 * (docs.nvidia.com/cupti).
 */
#include <cupti.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER_BYTES = 8 << 20, MOST = 1 << 20, SHORT_CALL = 4000 /* ns */ };

typedef struct row {
    const char *what, *name;
    unsigned stream;
    uint64_t begin, end, bytes;
} row;

static row rows[MOST];
static int count;

static void give_buffer(uint8_t **buffer, size_t *bytes, size_t *records) {
    *buffer = aligned_alloc(8, BUFFER_BYTES);
    *bytes = *buffer ? BUFFER_BYTES : 0;
    *records = 0;
}

static void keep_call(const CUpti_ActivityAPI *call) {
    const char *name = "";
    cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, call->cbid, &name);
    const bool question = strstr(name, "Query") || strstr(name, "Ctx");
    if (!question || call->end - call->start >= SHORT_CALL)
        rows[count++] = (row){"call", name, 0, call->start, call->end, 0};
}

static void keep(const CUpti_Activity *record) {
    if (count == MOST) return;
    if (record->kind == CUPTI_ACTIVITY_KIND_DRIVER) {
        keep_call((const CUpti_ActivityAPI *)(const void *)record);
    } else if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
        const CUpti_ActivityKernel10 *k = (const CUpti_ActivityKernel10 *)(const void *)record;
        rows[count++] = (row){"kernel", k->name, k->streamId, k->start, k->end, 0};
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
        const CUpti_ActivityMemcpy6 *c = (const CUpti_ActivityMemcpy6 *)(const void *)record;
        rows[count++] = (row){"copy", "", c->streamId, c->start, c->end, c->bytes};
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY2) {
        const CUpti_ActivityMemcpyPtoP4 *c =
            (const CUpti_ActivityMemcpyPtoP4 *)(const void *)record;
        rows[count++] = (row){"peer copy", "", c->streamId, c->start, c->end, c->bytes};
    }
}

static void take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
                        size_t valid) {
    CUpti_Activity *record = NULL;
    (void)context, (void)stream, (void)bytes;
    while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) keep(record);
    free(buffer);
}

static void write_rows(void) {
    char name[64];
    cuptiActivityFlushAll(1);
    snprintf(name, sizeof name, "timeline-%d.csv", (int)getpid());
    FILE *file = count > 0 ? fopen(name, "w") : NULL;
    if (!file) return;
    fprintf(file, "what,stream,begin_us,end_us,bytes,name\n");
    for (int i = 0; i < count; i++)
        fprintf(file, "%s,%u,%.3f,%.3f,%llu,\"%s\"\n", rows[i].what, rows[i].stream,
                1e-3 * (double)(rows[i].begin - rows[0].begin),
                1e-3 * (double)(rows[i].end - rows[0].begin), (unsigned long long)rows[i].bytes,
                rows[i].name ? rows[i].name : "");
    fclose(file);
}

/* Called by the driver. */
int InitializeInjection(void);
int InitializeInjection(void) {
    cuptiActivityRegisterCallbacks(give_buffer, take_buffer);
    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY);
    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY2);
    if (getenv("TIMELINE_CALLS")) cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER);
    atexit(write_rows);
    return 1;
}
