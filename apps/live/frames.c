/* For planes a plan is kept for the last kind of frame that was wanted; filters change without a
 * new one. */
#include "frames.h"

#include "filter/picture_filter.h"
#include "request.h"
#include "support/clock.h"
#include "support/error.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a frame tells of a plan: its engine, and how many steps weft_plan_explain lists (passes over
 * memory, on devices kernels), and transforms among them. */
typedef struct plan_facts {
    weft_engine engine;
    int steps, transforms;
} plan_facts;

struct live_frames {
    live_source *source;
    live_volume *volume;
    weft_options options;
    double memory;
    weft_context context;
    picture_filter *filter;
    picture_filter_problem problem; /* of the filter */
    weft_device device;
    plan_facts facts;     /* of its plan */
    int64_t planned;      /* which one of the volume's plans ... */
    plan_facts of_volume; /* ... these are of; 0: of none */
    live_request request; /* large, so not on the stack */
};

weft_status live_frames_create(live_source *source, live_volume *volume,
                               const weft_options *options, double memory, live_frames **created) {
    live_frames *frames = calloc(1, sizeof *frames);
    if (frames == NULL) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for frames");
    frames->source = source;
    frames->volume = volume;
    frames->options = *options;
    frames->memory = memory;
    *created = frames;
    weft_status status = weft_context_create(NULL, &frames->context);
    if (status != WEFT_SUCCESS) live_frames_destroy(created);
    return status;
}

void live_frames_destroy(live_frames **destroyed) {
    live_frames *frames = *destroyed;
    if (frames == NULL) return;
    picture_filter_destroy(&frames->filter);
    weft_context_destroy(&frames->context);
    free(frames);
    *destroyed = NULL;
}

/* ---- the plan ---- */

static void count_in_schedule(const json_t *schedule, plan_facts *facts) {
    size_t i;
    json_t *step;
    json_array_foreach(json_object_get(schedule, "steps"), i, step) {
        const char *name = json_string_value(json_object_get(step, "step"));
        facts->steps++;
        facts->transforms += name != NULL && strcmp(name, "fft") == 0;
    }
}

static weft_status find_facts(weft_plan plan, plan_facts *facts) {
    weft_options made = {0};
    char *text = NULL;
    size_t bytes = 0, i;
    json_t *schedule;
    WEFT_TRY(weft_plan_options(plan, &made));
    *facts = (plan_facts){.engine = made.engine};
    FILE *stream = open_memstream(&text, &bytes);
    if (stream == NULL) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a report");
    weft_status status = weft_plan_explain(plan, stream, WEFT_JSON);
    fclose(stream);
    json_t *report = json_loads(text, 0, NULL);
    json_array_foreach(json_object_get(report, "schedules"), i, schedule) {
        const char *direction = json_string_value(json_object_get(schedule, "direction"));
        if (direction != NULL && strcmp(direction, "convolve") == 0)
            count_in_schedule(schedule, facts);
    }
    json_decref(report);
    free(text);
    return status;
}

static bool fits(const live_frames *frames, const picture_filter_problem *wanted) {
    const picture_filter_problem *has = &frames->problem;
    return frames->filter != NULL && frames->device == frames->request.device &&
           has->rows == wanted->rows && has->columns == wanted->columns &&
           has->channels == wanted->channels && has->from == wanted->from &&
           has->boundary == wanted->boundary;
}

static weft_status make_filter(live_frames *frames, const live_plane *plane) {
    const picture_filter_problem wanted = {.rows = plane->rows,
                                           .columns = plane->columns,
                                           .channels = plane->channels,
                                           .from = plane->storage,
                                           .to = WEFT_STORAGE_U8,
                                           .scale = 255 / plane->white,
                                           .white = plane->white,
                                           .boundary = frames->request.boundary,
                                           .precision = WEFT_SINGLE,
                                           .spectrum = true,
                                           .memory = frames->memory};
    weft_options options = frames->options;
    if (fits(frames, &wanted)) return WEFT_SUCCESS;
    picture_filter_destroy(&frames->filter);
    options.device = frames->device = frames->request.device;
    if (options.device != WEFT_HOST) options.engine = WEFT_ENGINE_AUTO;
    WEFT_TRY(picture_filter_create(frames->context, &wanted, &options, &frames->filter));
    frames->problem = wanted;
    return find_facts(picture_filter_plan(frames->filter), &frames->facts);
}

/* ---- frames ---- */

static weft_status move_video(live_frames *frames) {
    live_video *video = live_source_video(frames->source);
    if (video != NULL) return live_video_move(video, frames->request.motion, weft_clock());
    if (frames->request.motion == LIVE_STAY) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "there is no video to be moved");
}

/* What a header says of a video; nothing of anything else. */
static void write_moment(const live_video *video, char *text, size_t capacity) {
    text[0] = '\0';
    if (video == NULL) return;
    const live_moment moment = live_video_moment(video, weft_clock());
    snprintf(text, capacity, ",\"number\":%lld,\"dropped\":%lld,\"wait\":%.3f",
             (long long)moment.number, (long long)moment.dropped, moment.wait * 1e3);
}

typedef struct frame_extents {
    int64_t rows, columns;
    int channels;
    int64_t spectrum_rows, spectrum_columns;
} frame_extents;

/* Room for the answer; where its picture and its spectrum begin. */
static weft_status take_answer(const frame_extents *e, live_answer *answer, unsigned char **picture,
                               unsigned char **spectrum) {
    const int64_t pixels = e->rows * e->columns * e->channels;
    const int64_t frequencies = e->spectrum_rows * e->spectrum_columns * e->channels;
    answer->count = (size_t)(LIVE_HEADER_BYTES + pixels + frequencies);
    answer->bytes = malloc(answer->count);
    if (answer->bytes == NULL) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a frame");
    answer->status = LIVE_OK;
    answer->type = "application/octet-stream";
    *picture = (unsigned char *)answer->bytes + LIVE_HEADER_BYTES;
    *spectrum = *picture + pixels;
    return WEFT_SUCCESS;
}

/* What a frame begins with. Times are in milliseconds. */
static void write_header(const live_frames *frames, const frame_extents *e, const plan_facts *facts,
                         double filter_time, double time, char header[LIVE_HEADER_BYTES]) {
    const live_request *request = &frames->request;
    char moment[128];
    write_moment(live_source_video(frames->source), moment, sizeof moment);
    memset(header, ' ', LIVE_HEADER_BYTES);
    const int length = snprintf(
        header, LIVE_HEADER_BYTES,
        "{\"sequence\":%lld,\"rows\":%lld,\"columns\":%lld,\"channels\":%d,\"spectrumRows\":%lld,"
        "\"spectrumColumns\":%lld,\"filterTime\":%.3f,\"time\":%.3f,\"engine\":\"%s\",\"device\":"
        "\"%s\",\"processes\":%d,\"steps\":%d,\"transforms\":%d%s}",
        (long long)request->sequence, (long long)e->rows, (long long)e->columns, e->channels,
        (long long)e->spectrum_rows, (long long)e->spectrum_columns, filter_time * 1e3, time * 1e3,
        weft_engine_name(facts->engine), weft_device_name(request->device),
        request->whole ? live_volume_processes(frames->volume) : 1, facts->steps, facts->transforms,
        moment);
    header[length] = ' ';
}

/* ---- planes ---- */

static weft_status compute_plane(live_frames *frames, live_answer *answer) {
    live_plane plane;
    live_request *request = &frames->request;
    unsigned char *picture = NULL, *spectrum = NULL;
    WEFT_TRY(live_source_plane(frames->source, request->axis, request->index, &plane));
    WEFT_TRY(make_filter(frames, &plane));
    const frame_extents extents = {plane.rows, plane.columns, plane.channels,
                                   picture_filter_spectrum_rows(frames->filter),
                                   picture_filter_spectrum_columns(frames->filter)};
    WEFT_TRY(take_answer(&extents, answer, &picture, &spectrum));
    const filter wanted = {.rank = 2, .parts = request->parts, .part = request->part};
    const double begin = weft_clock();
    WEFT_TRY(picture_filter_set(frames->filter, &wanted));
    const double set = weft_clock();
    WEFT_TRY(picture_filter_run(frames->filter, plane.samples, picture, spectrum));
    write_header(frames, &extents, &frames->facts, set - begin, weft_clock() - begin,
                 answer->bytes);
    return WEFT_SUCCESS;
}

/* ---- volumes ---- */

/* Grey levels of values from black to white. */
static void shade(const float *values, int64_t count, double black, double white,
                  unsigned char *grey) {
    const double scale = 255 / (white - black);
    for (int64_t i = 0; i < count; i++)
        grey[i] = (unsigned char)lrint(fmin(fmax(((double)values[i] - black) * scale, 0), 255));
}

static weft_status compute_volume(live_frames *frames, const char *text, live_answer *answer) {
    live_slice slice;
    double least, most;
    unsigned char *picture = NULL, *spectrum = NULL;
    if (frames->volume == NULL)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "this is no volume of three axes");
    live_source_range(frames->source, &least, &most);
    const double begin = weft_clock();
    WEFT_TRY(live_volume_slice(frames->volume, text, &frames->request, least, most, &slice));
    if (frames->planned != slice.planned) WEFT_TRY(find_facts(slice.plan, &frames->of_volume));
    frames->planned = slice.planned;
    const frame_extents extents = {slice.rows, slice.columns, 1, slice.rows, slice.columns};
    WEFT_TRY(take_answer(&extents, answer, &picture, &spectrum));
    const int64_t count = slice.rows * slice.columns;
    shade(slice.values, count, least, most, picture);
    shade(slice.decibels, count, FILTER_BLACK_DECIBELS, FILTER_WHITE_DECIBELS, spectrum);
    write_header(frames, &extents, &frames->of_volume, slice.filter_time, weft_clock() - begin,
                 answer->bytes);
    return WEFT_SUCCESS;
}

/* ---- answers ---- */

static weft_status compute(live_frames *frames, char *text, live_answer *answer) {
    char *copy = strdup(text); /* parsing changes it */
    if (copy == NULL) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a request");
    weft_status status = live_request_parse(text, &frames->request);
    if (status == WEFT_SUCCESS) status = move_video(frames);
    if (status == WEFT_SUCCESS)
        status = frames->request.whole ? compute_volume(frames, copy, answer)
                                       : compute_plane(frames, answer);
    free(copy);
    return status;
}

void live_frames_answer(live_frames *frames, char *request, live_answer *answer) {
    *answer = (live_answer){0};
    const weft_status status = compute(frames, request, answer);
    if (status == WEFT_SUCCESS) return;
    free(answer->bytes);
    answer->status = status == WEFT_ERROR_INVALID_ARGUMENT || status == WEFT_ERROR_UNSUPPORTED
                         ? LIVE_REFUSED
                         : LIVE_FAILED;
    answer->type = "text/plain; charset=utf-8";
    answer->bytes = strdup(weft_thread_error());
    answer->count = answer->bytes != NULL ? strlen(answer->bytes) : 0;
}

char *live_frames_describe(live_frames *frames, const char *name) {
    static const weft_device shown[] = {WEFT_HOST, WEFT_OPENCL, WEFT_CUDA};
    const char *slash = strrchr(name, '/');
    int64_t n[3];
    const int axes = live_source_axes(frames->source, n);
    json_t *devices = json_array(), *extents = json_array();
    json_t *label = json_string(slash != NULL ? slash + 1 : name);
    if (label == NULL) label = json_string("a file"); /* its name is not UTF-8 */
    for (size_t d = 0; d < sizeof shown / sizeof *shown; d++)
        if (weft_device_probe(shown[d], NULL) == WEFT_SUCCESS)
            json_array_append_new(devices, json_string(weft_device_name(shown[d])));
    for (int a = 0; a < axes; a++) json_array_append_new(extents, json_integer(n[a]));
    const live_video *video = live_source_video(frames->source);
    json_t *rate = video != NULL ? json_real(live_video_rate(video)) : json_null();
    const int processes = frames->volume != NULL ? live_volume_processes(frames->volume) : 1;
    json_t *document = json_pack("{s:s, s:o, s:i, s:o, s:i, s:o, s:o}", "version", weft_version(),
                                 "name", label, "mostFilters", LIVE_MOST_PARTS, "extents", extents,
                                 "processes", processes, "devices", devices, "videoRate", rate);
    char *text = document != NULL ? json_dumps(document, JSON_COMPACT) : NULL;
    json_decref(document);
    return text;
}
