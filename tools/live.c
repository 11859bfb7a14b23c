/*
 * weft live FILE: a page in the browser that shows a picture, or the frames of a video, beside its
 * spectrum while filters change (apps/live). This thread computes the frames; SIGINT, SIGTERM and
 * SIGHUP end it.
 */
#include "filter/image.h"
#include "io/agreement.h"
#include "launch.h"
#include "live/frames.h"
#include "live/server.h"
#include "live/source.h"
#include "live/volume.h"
#include "memory.h"
#include "options.h"
#include "support/error.h"
#include "support/topology.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WRONG(...) weft_fail(WEFT_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

typedef struct live_flags {
    const char *address, *video;
    int64_t port;
    raw_description raw;
} live_flags;

typedef struct live_run {
    const live_flags *flags;
    const char *name;
    live_source *source;
    live_volume *volume; /* of arrays of three axes */
    live_frames *frames;
    live_server *server;
    char *description;
    sigset_t signals;
    pthread_t waiter;     /* for them */
    pthread_mutex_t lock; /* of `shown` */
    bool shown;           /* the server is there */
} live_run;

static weft_status set_address(void *target, const char *value) {
    ((live_flags *)target)->address = value;
    return WEFT_SUCCESS;
}

static weft_status set_port(void *target, const char *value) {
    int64_t *port = &((live_flags *)target)->port;
    WEFT_TRY(options_integer("port", value, 0, port));
    if (*port > 65535) return WRONG("--port %s: give 0 to 65535", value);
    return WEFT_SUCCESS;
}

static weft_status set_shape(void *target, const char *value) {
    return options_raw_shape("shape", value, &((live_flags *)target)->raw);
}

static weft_status set_dtype(void *target, const char *value) {
    return options_raw_type("dtype", value, &((live_flags *)target)->raw);
}

static weft_status set_video(void *target, const char *value) {
    ((live_flags *)target)->video = value;
    return WEFT_SUCCESS;
}

static const option_flag live_option_flags[] = {
    {"video", "SOURCE",
     "in place of FILE, a video: a file that ffmpeg reads, a camera such as /dev/video0, or "
     "pattern[:640x480], which is generated; default a picture, FILE",
     set_video},
    {"address", "A", "where to listen: a numeric address; default 127.0.0.1", set_address},
    {"port", "P", "and the port; default 0, any that is free", set_port},
    {"shape", "AxBxC", "shape of a raw file (needed there)", set_shape},
    {"dtype", WEFT_ELEMENT_WORDS, "element type of a raw file (needed there)", set_dtype},
    {NULL, NULL, NULL, NULL}};

/* Before the server is there, nothing needs an orderly end; ffmpeg dies with this process. */
static void *wait_for_signal(void *argument) {
    live_run *run = argument;
    int number;
    sigwait(&run->signals, &number);
    pthread_mutex_lock(&run->lock);
    if (!run->shown) _exit(128 + number);
    live_server_end(run->server);
    if (live_source_video(run->source) != NULL) live_video_end(live_source_video(run->source));
    pthread_mutex_unlock(&run->lock);
    return NULL;
}

/* Before any other thread is there, MPI's too, so that only the one that waits for signals gets
 * them. */
static void block_signals(sigset_t *signals) {
    sigemptyset(signals);
    sigaddset(signals, SIGINT);
    sigaddset(signals, SIGTERM);
    sigaddset(signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, signals, NULL);
}

static weft_status take_signals(live_run *run) {
    if (pthread_create(&run->waiter, NULL, wait_for_signal, run) == 0) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_SYSTEM, "a thread cannot be started");
}

static void serve(live_run *run) {
    char *request;
    while ((request = live_server_next(run->server)) != NULL) {
        live_answer answer;
        live_frames_answer(run->frames, request, &answer);
        live_server_answer(run->server, &answer);
    }
}

static weft_status open_source(live_run *run) {
    const double memory = memory_available("", true);
    if (run->flags->video != NULL) return live_source_open_video(run->name, memory, &run->source);
    return live_source_open(run->name, options_raw(&run->flags->raw), memory, &run->source);
}

/* On process 0 alone: the source, and on all of them the volume, whose slices it has. */
static weft_status open_all(live_run *run, const command_world *world,
                            const weft_options *options) {
    int64_t n[3];
    const live_volume_source whole = {.path = run->name,
                                      .raw = options_raw(&run->flags->raw),
                                      .memory = memory_available("", true)};
    weft_status status = world->rank == 0 ? open_source(run) : WEFT_SUCCESS;
    if (!world->joined) return status;
    if (status == WEFT_SUCCESS && world->ranks > 1 && world->rank == 0 &&
        live_source_axes(run->source, n) != 3)
        status =
            WRONG("%s: it has no three axes to be spread over processes; drop --ranks", run->name);
    int axes = status == WEFT_SUCCESS && world->rank == 0 ? live_source_axes(run->source, n) : 0;
    WEFT_TRY(weft_array_agree(world->comm, status));
    MPI_Bcast(&axes, 1, MPI_INT, 0, world->comm);
    if (axes != 3) return WEFT_SUCCESS;
    return live_volume_create(world->comm, &whole, options, &run->volume);
}

static weft_status start_server(live_run *run, const weft_options *options) {
    WEFT_TRY(live_frames_create(run->source, run->volume, options, memory_available("", true),
                                &run->frames));
    run->description = live_frames_describe(run->frames, run->name);
    if (run->description == NULL) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory to begin");
    pthread_mutex_lock(&run->lock);
    weft_status status = live_server_start(run->flags->address, (int)run->flags->port,
                                           run->description, &run->server);
    run->shown = status == WEFT_SUCCESS;
    pthread_mutex_unlock(&run->lock);
    return status;
}

static weft_status live(live_run *run, const command_world *world, weft_options *options) {
    if (options->threads == 0) {
        const int cores = weft_topology_get()->cores / world->ranks;
        options->threads = cores > 0 ? cores : 1;
    }
    WEFT_TRY(take_signals(run));
    weft_status status = open_all(run, world, options);
    if (status == WEFT_SUCCESS && world->rank == 0) status = start_server(run, options);
    if (world->ranks > 1) status = weft_array_agree(world->comm, status);
    if (status == WEFT_SUCCESS && world->rank > 0) live_volume_follow(run->volume);
    if (status == WEFT_SUCCESS && world->rank == 0) {
        printf("%s is shown at\n  %s\nCtrl-C ends it.\n", run->name, live_server_url(run->server));
        fflush(stdout);
        serve(run);
    }
    pthread_cancel(run->waiter);
    pthread_join(run->waiter, NULL);
    return status;
}

static weft_status live_and_release(live_run *run, const command_world *world,
                                    weft_options *options) {
    char sentence[1024];
    weft_status status = live(run, world, options);
    snprintf(sentence, sizeof sentence, "%s", weft_thread_error());
    live_server_destroy(&run->server);
    live_frames_destroy(&run->frames);
    live_volume_destroy(&run->volume);
    live_source_close(&run->source);
    free(run->description);
    weft_thread_error_set(sentence);
    return status;
}

/* Pictures and videos need no MPI, and no other processes. */
static weft_status join(const live_run *run, const shared_options *shared, command_world *world) {
    const bool arrays = run->flags->video == NULL && !image_is_named(run->name);
    if (launch_rank_hint() < 0 && !arrays && shared->ranks > 1)
        return WRONG("%s is filtered by one process; drop --ranks", run->name);
    if (launch_rank_hint() < 0 && !arrays) return WEFT_SUCCESS;
    WEFT_TRY(world_join(world, shared->ranks, options_use_streams(shared)));
    if (world->ranks == 1 || arrays) return WEFT_SUCCESS;
    return WRONG("%s is filtered by one process, not by %d", run->name, world->ranks);
}

/* Between two parallel loops threads of OpenMP spin for a while, and where the browser or anything
 * else wants a core meanwhile, the others wait for them: ten times as long as a frame takes. That
 * they sleep is settled when a process begins, so it begins again. */
static void wait_asleep(void) {
    char self[PATH_MAX];
    if (getenv("OMP_WAIT_POLICY") != NULL || launch_rank_hint() >= 0) return;
    launch_self(self, sizeof self);
    if (self[0] != '\0' && setenv("OMP_WAIT_POLICY", "passive", 1) == 0)
        execv(self, launch_arguments);
}

/* What is shown: FILE or --video, and not both. */
static weft_status choose(const live_flags *flags, const parsed_arguments *parsed,
                          const char **name) {
    if (flags->video != NULL && parsed->count > 0)
        return WRONG("live shows %s or --video %s; drop one of them", parsed->positional[0],
                     flags->video);
    if (flags->video != NULL && (flags->raw.shaped || flags->raw.typed))
        return WRONG("--shape and --dtype describe a raw file, not --video; drop them");
    if (flags->video == NULL && parsed->count == 0)
        return WRONG("live needs FILE or --video SOURCE; try weft live --help");
    *name = flags->video != NULL ? flags->video : parsed->positional[0];
    return WEFT_SUCCESS;
}

static int live_main(int argc, char **argv, int ranks) {
    live_flags flags = {.address = "127.0.0.1"};
    shared_options shared = {.ranks = ranks};
    parsed_arguments parsed = {0};
    command_world world = {.ranks = 1};
    live_run run = {.flags = &flags, .lock = PTHREAD_MUTEX_INITIALIZER};
    wait_asleep();
    weft_status status = options_parse(&live_command, argc, argv, &shared, &flags, &parsed);
    if (status == WEFT_SUCCESS && parsed.helped) return 0;
    if (status == WEFT_SUCCESS) status = options_raw_check(&flags.raw, "shape", "dtype");
    if (status == WEFT_SUCCESS) status = choose(&flags, &parsed, &run.name);
    if (status == WEFT_SUCCESS && flags.video == NULL && !image_is_named(run.name))
        status = launch_ranks(shared.ranks, shared.plan.threads, launch_arguments);
    if (status == WEFT_SUCCESS) {
        block_signals(&run.signals);
        status = join(&run, &shared, &world);
    }
    if (status != WEFT_SUCCESS) return world_leave(&world, status);
    return world_leave(&world, live_and_release(&run, &world, &shared.plan));
}

static const char *const shared_flags_taken[] = {"ranks",   "engine",       "effort",
                                                 "threads", "memory-limit", NULL};

const subcommand live_command = {
    .name = "live",
    .arguments = "[FILE]",
    .summary =
        "Shows a picture or a video beside its spectrum in the browser, while filters change.",
    .notes =
        "FILE: a picture as weft filter takes it, or a real array of 2 or 3 axes, of which planes\n"
        "are shown. Of three axes, planes are filtered alone or the volume whole, by --ranks\n"
        "processes. The page's address, which is printed, has a random token; whoever has it may\n"
        "look at FILE. Only this machine is listened to, unless --address says otherwise: there\n"
        "is no encryption. --threads is the number of cores unless it is given.\n"
        "The device is chosen in the page.\n"
        "Video files and cameras are read by the programs ffmpeg and ffprobe. A file called\n"
        "pattern is ./pattern.",
    .examples = "weft live photo.png\n"
                "weft live volume.npy --port 8080 --threads 2\n"
                "weft --ranks 4 live volume.npy\n"
                "weft live --video clip.mp4\n"
                "weft live --video pattern:1280x720",
    .flags = live_option_flags,
    .shared = true,
    .only = shared_flags_taken,
    .least = 0,
    .most = 1,
    .run = live_main,
};
