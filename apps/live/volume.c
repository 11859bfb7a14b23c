/* Process 0 sends the text of each request to the others, and all of them do the same. */
#include "volume.h"

#include "io/agreement.h"
#include "support/clock.h"
#include "support/error.h"
#include "volume_spectrum.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <weft/weft_mpi.h>

#define WRONG(...) weft_fail(WEFT_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

/* What process 0 sends to the others: a request, and the range of the values. */
typedef struct order {
    double least, most;
    char request[LIVE_REQUEST_BYTES + 1]; /* empty: to end */
} order;

struct live_volume {
    MPI_Comm comm;
    int process, processes;
    live_volume_source source;
    weft_options options;
    weft_context context;
    weft_array *array;
    weft_array_info info;
    double least, most;
    order *order;
    live_request *request; /* of processes but 0: what is asked for */

    weft_convolution plan; /* NULL: there is none */
    filter filter;         /* its filter, whose parts are `part` */
    filter_part *part;
    filter_boundary boundary;
    weft_device device;
    bool filtered; /* out holds the result */
    float *in, *out;
    bool read; /* the volume is in `in` */
    weft_box in_box;
    weft_box *out_box; /* of each process */
    int64_t planned;   /* how many plans there have been */

    float *magnitudes[3]; /* on process 0: of the spectrum, relative to that of an array of 1 */
    float *room;          /* of these four: */
    float *slice, *packed, *arrived, *decibels;
    int spectrum_axis;    /* across which `decibels` are; -1: none */
    int *counts, *places; /* of the values that each process has of a slice */
};

/* ---- life ---- */

weft_status live_volume_create(MPI_Comm comm, const live_volume_source *source,
                               const weft_options *options, live_volume **created) {
    live_volume *v = calloc(1, sizeof *v);
    *created = v;
    if (v != NULL) {
        v->comm = comm;
        MPI_Comm_rank(comm, &v->process);
        MPI_Comm_size(comm, &v->processes);
        v->source = *source;
        v->options = *options;
        v->order = malloc(sizeof *v->order);
        v->request = v->process > 0 ? malloc(sizeof *v->request) : NULL;
        v->part = malloc(LIVE_MOST_PARTS * sizeof *v->part);
        v->counts = malloc(2 * (size_t)v->processes * sizeof *v->counts);
        v->out_box = malloc((size_t)v->processes * sizeof *v->out_box);
    }
    const bool whole = v != NULL && v->order != NULL && v->part != NULL && v->counts != NULL &&
                       v->out_box != NULL && (v->process == 0 || v->request != NULL);
    weft_status status = weft_array_agree(
        comm, whole ? WEFT_SUCCESS : weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a volume"));
    if (status != WEFT_SUCCESS) {
        if (v != NULL) v->processes = 1; /* nobody follows */
        live_volume_destroy(created);
        return status;
    }
    v->places = v->counts + v->processes;
    return WEFT_SUCCESS;
}

static void share_order(live_volume *v);

void live_volume_destroy(live_volume **destroyed) {
    live_volume *v = *destroyed;
    if (v == NULL) return;
    if (v->process == 0 && v->processes > 1) {
        v->order->request[0] = '\0';
        share_order(v);
    }
    weft_convolution_destroy(&v->plan);
    weft_context_destroy(&v->context);
    weft_array_close(&v->array);
    for (int a = 0; a < 3; a++) free(v->magnitudes[a]);
    void *const held[] = {v->order,   v->request, v->part, v->counts,
                          v->out_box, v->room,    v->in,   v->out};
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) free(held[i]);
    free(v);
    *destroyed = NULL;
}

int live_volume_processes(const live_volume *v) {
    return v->processes;
}

/* ---- the array ---- */

static int64_t points(const weft_box *box) {
    return box->n[0] * box->n[1] * box->n[2];
}

/* The two axes of a slice. */
static void slice_axes(int across, int axes[2]) {
    axes[0] = across == 0 ? 1 : 0;
    axes[1] = across == 2 ? 1 : 2;
}

static int64_t slice_points(const live_volume *v, int across) {
    int axes[2];
    slice_axes(across, axes);
    return v->info.n[axes[0]] * v->info.n[axes[1]];
}

/* The volume, its result, the filter's responses, and what the transforms take besides. */
static weft_status check_memory(const live_volume *v) {
    MPI_Comm node;
    int together;
    MPI_Comm_split_type(v->comm, MPI_COMM_TYPE_SHARED, v->process, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &together);
    MPI_Comm_free(&node);
    const double all = (double)v->info.n[0] * (double)v->info.n[1] * (double)v->info.n[2];
    const double needed = 5 * sizeof(float) * all / v->processes * together;
    if (needed <= v->source.memory) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "%s: to be filtered whole it needs %.1f GB of memory; filter its slices, or "
                     "use processes on more nodes",
                     v->source.path, needed / 1e9);
}

static weft_status open_array(live_volume *v) {
    if (v->context != NULL) return WEFT_SUCCESS;
    weft_array_close(&v->array);
    WEFT_TRY(weft_array_open(v->comm, v->source.path, v->source.raw, &v->array));
    v->info = *weft_array_describe(v->array);
    WEFT_TRY(weft_array_agree(v->comm, check_memory(v)));
    return weft_array_agree(v->comm, weft_mpi_context_create(v->comm, NULL, &v->context));
}

/* ---- the plan ---- */

/* Whether the plan that is there filters as the request wants. */
static bool fits(const live_volume *v, const live_request *r) {
    return v->plan != NULL && v->boundary == r->boundary && v->device == r->device &&
           v->filter.parts == r->parts &&
           memcmp(v->part, r->part, (size_t)r->parts * sizeof *r->part) == 0;
}

static weft_status check_filter(const live_volume *v, const live_request *r) {
    if (r->index >= v->info.n[r->axis])
        return WRONG("there is no plane %lld across axis %d", (long long)r->index, r->axis);
    if (r->boundary == FILTER_ZERO)
        return WRONG("a whole volume is filtered with a boundary that is periodic or mirror");
    for (int i = 0; i < r->parts && r->boundary == FILTER_MIRROR; i++)
        if (!filter_is_even(&r->part[i], 3))
            return WRONG("a mirrored volume takes no notch between its axes; give boundary "
                         "periodic");
    return WEFT_SUCCESS;
}

static weft_status create_plan(live_volume *v) {
    weft_convolution_problem problem = {.rank = 3, .kind = WEFT_R2C, .precision = WEFT_SINGLE};
    weft_options options = v->options;
    size_t bytes = 0;
    options.device = v->device;
    if (options.device != WEFT_HOST) options.engine = WEFT_ENGINE_AUTO;
    options.location = WEFT_LOCATION_HOST;
    options.placement = WEFT_OUT_OF_PLACE;
    for (int a = 0; a < 3; a++) {
        problem.n[a] = v->info.n[a];
        problem.boundary[a] = v->boundary == FILTER_MIRROR ? WEFT_NEUMANN : WEFT_PERIODIC;
    }
    problem.kernel.kind = WEFT_KERNEL_FUNCTION;
    problem.kernel.function = filter_kernel;
    problem.kernel.argument = &v->filter;
    WEFT_TRY(weft_convolution_create(v->context, &problem, &options, &v->plan));
    for (int p = 0; p < v->processes; p++)
        WEFT_TRY(weft_plan_box(v->plan, WEFT_OUTPUT, p, &v->out_box[p]));
    WEFT_TRY(weft_plan_bytes(v->plan, WEFT_OUTPUT, &bytes));
    free(v->out);
    v->out = malloc(bytes > 0 ? bytes : 1);
    if (v->out != NULL) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for the result");
}

static weft_status plan_filter(live_volume *v, const live_request *r) {
    weft_convolution_destroy(&v->plan);
    v->planned++;
    v->filtered = false;
    v->spectrum_axis = -1;
    memcpy(v->part, r->part, (size_t)r->parts * sizeof *r->part);
    v->filter = (filter){.rank = 3, .parts = r->parts, .part = v->part};
    v->boundary = r->boundary;
    v->device = r->device;
    const weft_status status = weft_array_agree(v->comm, create_plan(v));
    if (status != WEFT_SUCCESS) weft_convolution_destroy(&v->plan);
    return status;
}

/* ---- the volume and the spectra of its sums ---- */

/* The sum along an axis, on process 0. */
static weft_status sum_along(const live_volume *v, int across, double *sum) {
    int axes[2];
    slice_axes(across, axes);
    const weft_box *box = &v->in_box;
    const int64_t all = slice_points(v, across);
    memset(sum, 0, (size_t)all * sizeof *sum);
    int64_t at[3], i = 0;
    for (at[0] = 0; at[0] < box->n[0]; at[0]++)
        for (at[1] = 0; at[1] < box->n[1]; at[1]++)
            for (at[2] = 0; at[2] < box->n[2]; at[2]++)
                sum[(box->lo[axes[0]] + at[axes[0]]) * v->info.n[axes[1]] + box->lo[axes[1]] +
                    at[axes[1]]] += (double)v->in[i++] - v->least;
    if (MPI_Reduce(v->process == 0 ? MPI_IN_PLACE : sum, sum, (int)all, MPI_DOUBLE, MPI_SUM, 0,
                   v->comm) == MPI_SUCCESS)
        return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_TRANSPORT, "sums of the volume do not arrive");
}

static weft_status find_spectrum(live_volume *v, int across, double *sum) {
    int axes[2];
    free(v->magnitudes[across]);
    v->magnitudes[across] = NULL;
    slice_axes(across, axes);
    const double all = (double)v->info.n[0] * (double)v->info.n[1] * (double)v->info.n[2];
    WEFT_TRY(sum_along(v, across, sum));
    if (v->process > 0) return WEFT_SUCCESS;
    v->magnitudes[across] = malloc((size_t)slice_points(v, across) * sizeof *v->magnitudes[across]);
    if (v->magnitudes[across] == NULL)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a spectrum");
    return live_magnitudes(v->info.n[axes[0]], v->info.n[axes[1]], sum,
                           1 / (all * (v->most - v->least)), v->magnitudes[across]);
}

/* Room for slices across any axis, once. */
static weft_status take_slices(live_volume *v) {
    size_t largest = 0;
    if (v->room != NULL) return WEFT_SUCCESS;
    for (int a = 0; a < 3; a++)
        if ((size_t)slice_points(v, a) > largest) largest = (size_t)slice_points(v, a);
    v->room = malloc(4 * largest * sizeof *v->room);
    if (v->room == NULL) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for slices");
    v->slice = v->room;
    v->packed = v->slice + largest;
    v->arrived = v->packed + largest;
    v->decibels = v->arrived + largest;
    return WEFT_SUCCESS;
}

/* This process's box, the input of the plan. */
static weft_status take_box(live_volume *v, const weft_box *box) {
    free(v->in);
    v->in_box = *box;
    v->in = malloc((size_t)points(box) * sizeof *v->in + 1);
    if (v->in != NULL) return take_slices(v);
    return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for process %d's share of the volume",
                     v->process);
}

static weft_status find_spectra(live_volume *v) {
    double *sum[3] = {NULL, NULL, NULL};
    weft_status status = WEFT_SUCCESS;
    for (int a = 0; a < 3; a++)
        if ((sum[a] = malloc((size_t)slice_points(v, a) * sizeof *sum[a])) == NULL)
            status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for spectra");
    status = weft_array_agree(v->comm, status);
    for (int a = 0; status == WEFT_SUCCESS && a < 3; a++)
        status = weft_array_agree(v->comm, find_spectrum(v, a, sum[a]));
    for (int a = 0; a < 3; a++) free(sum[a]);
    v->read = status == WEFT_SUCCESS;
    return status;
}

/* Boxes differ from one boundary to another. */
static weft_status read_volume(live_volume *v) {
    weft_box box;
    WEFT_TRY(weft_plan_box(v->plan, WEFT_INPUT, v->process, &box));
    const bool there = v->read && memcmp(&box, &v->in_box, sizeof box) == 0;
    int all;
    MPI_Allreduce(&(int){there}, &all, 1, MPI_INT, MPI_MIN, v->comm);
    if (all) return WEFT_SUCCESS;
    const bool first = !v->read;
    v->read = false;
    WEFT_TRY(weft_array_agree(v->comm, take_box(v, &box)));
    WEFT_TRY(weft_array_read(v->array, &v->in_box, WEFT_ELEMENT_F4, v->in));
    for (int64_t i = 0; i < points(&v->in_box); i++)
        if (!isfinite(v->in[i])) v->in[i] = (float)v->least;
    v->read = true;
    return first ? find_spectra(v) : WEFT_SUCCESS;
}

/* ---- slices ---- */

/* The part of a box that is in the slice. */
static weft_box part_of(const weft_box *box, const live_request *r) {
    weft_box part = *box;
    const int64_t first = box->lo[r->axis], end = first + box->n[r->axis];
    part.lo[r->axis] = r->index;
    part.n[r->axis] = r->index >= first && r->index < end;
    return part;
}

/* This process's part of the slice, row by row. */
static void pack(live_volume *v, const live_request *r) {
    int axes[2];
    slice_axes(r->axis, axes);
    const weft_box *box = &v->out_box[v->process];
    const weft_box part = part_of(box, r);
    const int64_t stride[3] = {box->n[1] * box->n[2], box->n[2], 1};
    float *to = v->packed;
    if (points(&part) == 0) return;
    const float *from = v->out + (r->index - box->lo[r->axis]) * stride[r->axis];
    for (int64_t y = 0; y < part.n[axes[0]]; y++)
        for (int64_t x = 0; x < part.n[axes[1]]; x++)
            *to++ = from[y * stride[axes[0]] + x * stride[axes[1]]];
}

/* Puts the parts, which have arrived one behind the other, into the slice. */
static void unpack(live_volume *v, const live_request *r) {
    int axes[2];
    slice_axes(r->axis, axes);
    for (int p = 0; p < v->processes; p++) {
        if (v->counts[p] == 0) continue;
        const weft_box part = part_of(&v->out_box[p], r);
        const int64_t rows = part.n[axes[0]], columns = part.n[axes[1]];
        float *to = v->slice + part.lo[axes[0]] * v->info.n[axes[1]] + part.lo[axes[1]];
        for (int64_t y = 0; y < rows; y++)
            memcpy(to + y * v->info.n[axes[1]], v->arrived + v->places[p] + y * columns,
                   (size_t)columns * sizeof *to);
    }
}

static weft_status gather(live_volume *v, const live_request *r) {
    int place = 0;
    for (int p = 0; p < v->processes; p++) {
        const weft_box part = part_of(&v->out_box[p], r);
        v->places[p] = place;
        v->counts[p] = (int)points(&part);
        place += v->counts[p];
    }
    pack(v, r);
    if (MPI_Gatherv(v->packed, v->counts[v->process], MPI_FLOAT, v->arrived, v->counts, v->places,
                    MPI_FLOAT, 0, v->comm) != MPI_SUCCESS)
        return weft_fail(WEFT_ERROR_TRANSPORT, "the parts of a slice do not arrive");
    if (v->process == 0) unpack(v, r);
    return WEFT_SUCCESS;
}

/* What all processes do for a slice. */
static weft_status make_slice(live_volume *v, const live_request *r, double *filter_time) {
    WEFT_TRY(open_array(v));
    WEFT_TRY(check_filter(v, r));
    const double begin = weft_clock();
    if (!fits(v, r)) WEFT_TRY(plan_filter(v, r));
    *filter_time = weft_clock() - begin;
    WEFT_TRY(read_volume(v));
    if (!v->filtered) WEFT_TRY(weft_convolution_execute(v->plan, v->in, v->out));
    v->filtered = true;
    return gather(v, r);
}

/* ---- process 0 and the others ---- */

/* Sends process 0's order to the others, which sleep until it comes: MPI's own waiting would keep
 * their cores busy. */
static void share_order(live_volume *v) {
    const struct timespec moment = {.tv_nsec = 1000000};
    MPI_Request request;
    int done = 0;
    MPI_Ibcast(v->order, (int)sizeof *v->order, MPI_BYTE, 0, v->comm, &request);
    for (MPI_Test(&request, &done, MPI_STATUS_IGNORE); !done;
         MPI_Test(&request, &done, MPI_STATUS_IGNORE))
        nanosleep(&moment, NULL);
}

void live_volume_follow(live_volume *v) {
    for (;;) {
        double filter_time;
        share_order(v);
        if (v->order->request[0] == '\0') return;
        v->least = v->order->least;
        v->most = v->order->most;
        /* Process 0 has read the same text, and tells what fails. */
        if (live_request_parse(v->order->request, v->request) == WEFT_SUCCESS)
            (void)make_slice(v, v->request, &filter_time);
    }
}

weft_status live_volume_slice(live_volume *v, const char *text, const live_request *request,
                              double least, double most, live_slice *slice) {
    int axes[2];
    slice_axes(request->axis, axes);
    v->least = v->order->least = least;
    v->most = v->order->most = most;
    snprintf(v->order->request, sizeof v->order->request, "%s", text);
    if (v->processes > 1) share_order(v);
    WEFT_TRY(make_slice(v, request, &slice->filter_time));
    slice->rows = v->info.n[axes[0]];
    slice->columns = v->info.n[axes[1]];
    if (v->spectrum_axis != request->axis)
        live_decibels(&v->filter, axes, slice->rows, slice->columns, v->magnitudes[request->axis],
                      v->decibels);
    v->spectrum_axis = request->axis;
    slice->values = v->slice;
    slice->decibels = v->decibels;
    slice->plan = v->plan;
    slice->planned = v->planned;
    return WEFT_SUCCESS;
}
