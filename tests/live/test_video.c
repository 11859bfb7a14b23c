/*
 * Videos of `weft live`, frame by frame: the pattern, and what comes from ffmpeg, for which a
 * script stands in (stand_in/ffmpeg says what a video that it reads looks like). Moments are given,
 * so nothing depends on the machine's speed. All videos are called "-v", which no program may take
 * for a flag.
 */
#include "live/decoder.h"
#include "live/pattern.h"
#include "live/video.h"
#include "support/clock.h"
#include "support/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <pthread.h>

static const double memory = 1e9;

static void write_file(const char *name, const char *content) {
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(content, file);
    assert_int_equal(fclose(file), 0);
}

static void wait_a_moment(void) {
    const struct timespec moment = {.tv_nsec = 50000000};
    nanosleep(&moment, NULL);
}

/* What has been started, ended or not; it is not waited for. */
static bool has_children(void) {
    siginfo_t child;
    return waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) == 0;
}

static live_video *open_video(const char *content) {
    live_video *v = NULL;
    write_file("-v", content);
    if (live_video_open("-v", memory, &v) != WEFT_SUCCESS) fail_msg("%s", weft_thread_error());
    return v;
}

/* And nothing that it started is left, ended or not. */
static void close_video(live_video **v) {
    live_video_close(v);
    assert_null(*v);
    assert_false(has_children());
}

/* That of the stand-in. */
static void assert_frame(const image *frame, int64_t number) {
    const unsigned char *level = frame->samples;
    for (int c = 0; c < frame->channels; c++)
        for (int64_t y = 0; y < frame->rows; y++)
            for (int64_t x = 0; x < frame->columns; x++)
                assert_int_equal(*level++, (7 * number + x + 3 * y + 50 * c) & 255);
}

static void assert_shows(const live_video *v, int64_t number) {
    assert_int_equal(live_video_moment(v, 0).number, number);
    assert_frame(live_video_frame(v), number);
}

static void move(live_video *v, live_motion motion, double now) {
    if (live_video_move(v, motion, now) != WEFT_SUCCESS) fail_msg("%s", weft_thread_error());
}

static void assert_near(double got, double expected) {
    assert_true(got > expected - 1e-9 && got < expected + 1e-9);
}

/* ---- the time line ---- */

static void the_frame_that_is_due_is_shown_and_others_are_dropped(void **state) {
    static const struct {
        live_motion motion;
        double now;
        int64_t number, dropped;
        double wait;
    } moves[] = {
        {LIVE_STAY, 50, 0, 0, 0},         {LIVE_PLAY, 100, 1, 0, 0.04},
        {LIVE_PLAY, 100.01, 1, 0, 0.03},  {LIVE_STAY, 100.02, 1, 0, 0.02},
        {LIVE_PLAY, 100.05, 2, 0, 0.03},  {LIVE_PLAY, 100.25, 7, 4, 0.03},
        {LIVE_PAUSE, 100.26, 7, 4, 0.02}, {LIVE_PLAY, 100.27, 8, 4, 0.04},
        {LIVE_PLAY, 100.28, 8, 4, 0.03},  {LIVE_STEP, 100.29, 9, 4, 0.06},
        {LIVE_STEP, 100.3, 10, 4, 0.09},  {LIVE_PLAY, 100.31, 11, 4, 0.04},
        {LIVE_PLAY, 107, 12, 4, 0.04},    {LIVE_PLAY, 107.5, 24, 15, 0.02},
        {LIVE_STAY, 1000, 24, 15, 0},     {LIVE_PLAY, 1000, 25, 15, 0.04},
    };
    live_video *v = NULL;
    (void)state;
    assert_int_equal(live_video_open("pattern:9x7", memory, &v), WEFT_SUCCESS);
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        move(v, moves[i].motion, moves[i].now);
        const live_moment moment = live_video_moment(v, moves[i].now);
        assert_int_equal(moment.number, moves[i].number);
        assert_int_equal(moment.dropped, moves[i].dropped);
        assert_near(moment.wait, moves[i].wait);
    }
    live_video_close(&v);
}

static void a_pattern_is_the_same_whenever_it_is_drawn(void **state) {
    live_video *v = NULL;
    image again = {0};
    (void)state;
    assert_int_equal(live_video_open("pattern:40x30", memory, &v), WEFT_SUCCESS);
    assert_int_equal(live_pattern_create("pattern:40x30", memory, &again), WEFT_SUCCESS);
    assert_int_equal(again.columns, 40);
    assert_int_equal(again.rows, 30);
    for (int n = 1; n < 100; n++) {
        unsigned char before[40 * 30];
        memcpy(before, live_video_frame(v)->samples, sizeof before);
        move(v, LIVE_STEP, n);
        live_pattern_draw(n, &again);
        assert_memory_equal(live_video_frame(v)->samples, again.samples, sizeof before);
        assert_memory_not_equal(live_video_frame(v)->samples, before, sizeof before);
    }
    image_destroy(&again);
    live_video_close(&v);
}

static void patterns_have_sizes(void **state) {
    static const char *const wrong[] = {"pattern:",    "pattern:3",    "pattern:3x",
                                        "pattern:0x5", "pattern:5x-1", "pattern:5x5x5",
                                        "pattern:axb", "pattern:5x5 ", "pattern:40000x5",
                                        "pattern:x5",  "pattern:5X5"};
    image frame = {0};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(live_pattern_create(wrong[i], memory, &frame),
                         WEFT_ERROR_INVALID_ARGUMENT);
        assert_non_null(strstr(weft_thread_error(), "pattern:640x480"));
    }
    assert_int_equal(live_pattern_create("pattern:30000x30000", memory, &frame),
                     WEFT_ERROR_UNSUPPORTED);
    assert_int_equal(live_pattern_create("pattern", memory, &frame), WEFT_SUCCESS);
    assert_int_equal(frame.columns * 1000 + frame.rows, 640480);
    image_destroy(&frame);
    for (int n = 1; n < 4; n++) { /* smaller than the disc needs */
        char name[32];
        snprintf(name, sizeof name, "pattern:%dx1", n);
        assert_int_equal(live_pattern_create(name, memory, &frame), WEFT_SUCCESS);
        live_pattern_draw(1000, &frame);
        image_destroy(&frame);
    }
    assert_false(live_pattern_is_named("patterns"));
    assert_false(live_pattern_is_named("./pattern"));
}

/* ---- ffmpeg ---- */

static void frames_before_the_one_that_is_due_are_dropped(void **state) {
    live_decoder *d = NULL;
    (void)state;
    write_file("-v", "{\"columns\": 5, \"rows\": 3, \"frames\": 20}");
    assert_int_equal(live_decoder_open("-v", memory, &d), WEFT_SUCCESS);
    assert_frame(live_decoder_frame(d), 0);
    static const int64_t due[] = {1, 7, 8, 19, 45}; /* the last after two ends */
    for (size_t i = 0; i < sizeof due / sizeof *due; i++) {
        live_place place;
        assert_int_equal(live_decoder_take(d, due[i], 60, &place), WEFT_SUCCESS);
        assert_int_equal(place.count, due[i]);
        assert_int_equal(place.number, due[i] % 20);
        assert_frame(live_decoder_frame(d), due[i] % 20);
    }
    live_decoder_close(&d);
}

static void a_file_begins_again(void **state) {
    (void)state;
    live_video *v = open_video("{\"columns\": 4, \"rows\": 3, \"frames\": 3, \"grey\": true}");
    assert_int_equal(live_video_frame(v)->channels, 1);
    for (int n = 1; n < 8; n++) {
        move(v, LIVE_STEP, 0);
        assert_shows(v, n % 3);
    }
    move(v, LIVE_PLAY, 10);
    assert_shows(v, 2);
    assert_int_equal(live_video_moment(v, 0).dropped, 0);
    close_video(&v);
}

static void rates_are_those_of_the_file_if_they_can_be(void **state) {
    static const struct {
        const char *told;
        double rate;
    } cases[] = {{"avg_frame_rate=30000/1001", 30000.0 / 1001},
                 {"avg_frame_rate=1/2", 0.5},
                 {"avg_frame_rate=0/0\\nr_frame_rate=10/1", 10},
                 {"avg_frame_rate=90000/1", 25}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char content[256];
        snprintf(content, sizeof content,
                 "{\"columns\": 4, \"rows\": 3, \"probed\": \"pix_fmt=yuv420p\\n%s\"}",
                 cases[i].told);
        live_video *v = open_video(content);
        assert_near(live_video_rate(v), cases[i].rate);
        close_video(&v);
    }
}

static void much_that_ffmpeg_complains_of_does_not_stop_it(void **state) {
    (void)state;
    live_video *v = open_video(
        "{\"columns\": 4, \"rows\": 3, \"flood\": 1000, \"frames\": 3, \"status\": 3, \"says\": "
        "\"the end of it\"}");
    move(v, LIVE_STEP, 0);
    move(v, LIVE_STEP, 0);
    assert_shows(v, 2);
    assert_int_equal(live_video_move(v, LIVE_STEP, 0), WEFT_ERROR_INVALID_ARGUMENT);
    assert_string_equal(weft_thread_error(), "-v: ffmpeg says: the end of it");
    close_video(&v);
}

static void what_cannot_be_played_is_refused_at_once(void **state) {
    static const struct {
        const char *content, *sentence;
    } cases[] = {
        {"{\"probed\": \"\"}", "-v: there is no video in it"},
        {"{\"probed\": \"\", \"status\": 1, \"says\": \"file:-v: Invalid data\\n\"}",
         "-v: ffmpeg says: Invalid data"},
        {"{\"columns\": 4, \"rows\": 3, \"frames\": 0}", "-v: there are no frames in it"},
        {"{\"columns\": 4, \"rows\": 3, \"frames\": 0, \"status\": 1}", "-v: ffmpeg has failed"},
        {"{\"columns\": 4, \"rows\": 3, \"frames\": 1, \"cut\": 1}",
         "-v: ffmpeg has ended in the middle of a frame"},
        {"{\"columns\": 4, \"rows\": 3, \"frames\": 1, \"cut\": 45}",
         "-v: ffmpeg has sent something else than frames"},
        {"{\"columns\": 4, \"rows\": 3, \"header\": \"P6\\n4 -3\\n255\\n\"}",
         "-v: ffmpeg has sent something else than frames"},
        {"{\"columns\": 4, \"rows\": 3, \"header\": \"P6\\n4 3\\n65535\\n\"}",
         "-v: ffmpeg has sent something else than frames"},
        {"{\"columns\": 4, \"rows\": 3, \"header\": \"P5\\n4 3\\n255\\n\"}",
         "-v: ffmpeg has sent something else than frames"},
        {"{\"columns\": 4, \"rows\": 3, \"header\": \"P6\\n999999999 999999999\\n255\\n\"}",
         "-v: a picture of 999999999 x 999999999 is too large"},
        {"{\"columns\": 4, \"rows\": 3, \"header\": \"\"}",
         "-v: ffmpeg has sent something else than frames"},
    };
    live_video *v = NULL;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_file("-v", cases[i].content);
        assert_int_not_equal(live_video_open("-v", memory, &v), WEFT_SUCCESS);
        const char *said = weft_thread_error();
        if (strncmp(said, cases[i].sentence, strlen(cases[i].sentence)) != 0)
            fail_msg("%s: %s", cases[i].content, said);
        close_video(&v);
    }
    assert_int_equal(live_video_open("absent", memory, &v), WEFT_ERROR_INVALID_ARGUMENT);
    assert_string_equal(weft_thread_error(), "absent: No such file or directory");
}

static void a_failure_later_leaves_the_frame_before(void **state) {
    static const struct {
        const char *content, *sentence;
    } cases[] = {
        {"{\"columns\": 4, \"rows\": 3, \"frames\": 3, \"cut\": 20}",
         "-v: ffmpeg has ended in the middle of a frame"},
        {"{\"columns\": 4, \"rows\": 3, \"resized\": 2}",
         "-v: ffmpeg has sent a frame of another size"},
        {"{\"columns\": 4, \"rows\": 3, \"frames\": 2, \"status\": 1}", "-v: ffmpeg has failed"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        live_video *v = open_video(cases[i].content);
        move(v, LIVE_STEP, 0);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(live_video_move(v, again ? LIVE_PLAY : LIVE_STEP, 0),
                             WEFT_ERROR_INVALID_ARGUMENT);
            assert_string_equal(weft_thread_error(), cases[i].sentence);
            assert_shows(v, 1);
        }
        close_video(&v);
    }
}

static void without_ffmpeg_it_is_said_what_to_install(void **state) {
    char *path = strdup(getenv("PATH"));
    live_video *v = NULL;
    (void)state;
    write_file("-v", "{}");
    setenv("PATH", "/absent", 1);
    assert_int_equal(live_video_open("-v", memory, &v), WEFT_ERROR_UNSUPPORTED);
    setenv("PATH", path, 1);
    free(path);
    assert_non_null(strstr(weft_thread_error(), "apt install ffmpeg"));
    close_video(&v);
}

static void a_slow_ffmpeg_is_waited_for(void **state) {
    (void)state;
    live_video *v =
        open_video("{\"columns\": 4, \"rows\": 3, \"rate\": \"1000/1\", \"pace\": 0.15}");
    for (int i = 1; i < 4; i++) {
        const int64_t before = live_video_moment(v, 0).number;
        move(v, LIVE_PLAY, 0.3 * i); /* 300 are due */
        const int64_t number = live_video_moment(v, 0).number;
        assert_in_range(number, before + 1, before + 10);
        assert_shows(v, number);
    }
    const int64_t number = live_video_moment(v, 0).number;
    for (int i = 0; i < 10; i++) wait_a_moment(); /* in which it could have dropped some */
    move(v, LIVE_STEP, 2);
    assert_shows(v, number + 1);
    close_video(&v);
}

static void *end_soon(void *argument) {
    wait_a_moment();
    live_video_end(argument);
    return NULL;
}

static void waiting_ends_when_it_is_ended(void **state) {
    pthread_t thread;
    (void)state;
    live_video *v = open_video("{\"columns\": 4, \"rows\": 3, \"hang\": 1}");
    const double begin = weft_clock();
    assert_int_equal(pthread_create(&thread, NULL, end_soon, v), 0);
    assert_int_equal(live_video_move(v, LIVE_STEP, 0), WEFT_ERROR_SYSTEM);
    pthread_join(thread, NULL);
    close_video(&v);
    assert_true(weft_clock() - begin < 2);
}

/* ---- cameras ---- */

static int lines_of(const char *name) {
    int lines = 0;
    FILE *file = fopen(name, "r");
    assert_non_null(file);
    for (int c; (c = fgetc(file)) != EOF;) lines += c == '\n';
    fclose(file);
    return lines;
}

/* What nothing comes from is given up after three seconds, after which nobody has asked a camera
 * for as long. */
static void a_camera_shows_its_newest_frame_and_is_closed_when_nobody_looks(void **state) {
    live_video *camera = NULL;
    live_moment at;
    (void)state;
    setenv("WEFT_TEST_CAMERA",
           "{\"columns\": 4, \"rows\": 3, \"pace\": 0.01, \"log\": \"camera.log\"}", 1);
    assert_int_equal(live_video_open("/dev/null", memory, &camera), WEFT_SUCCESS);
    assert_near(live_video_rate(camera), 0);
    for (int i = 0; i < 100; i++) { /* once, as a rule: five have come meanwhile */
        const live_moment before = live_video_moment(camera, 0);
        wait_a_moment();
        move(camera, i % 2 == 0 ? LIVE_PLAY : LIVE_STEP, 1);
        at = live_video_moment(camera, 1);
        assert_true(at.number > before.number);
        assert_int_equal(at.dropped - before.dropped, at.number - before.number - 1);
        assert_near(at.wait, 0);
        assert_shows(camera, at.number);
        if (at.dropped > 0) break;
    }
    assert_true(at.dropped > 0);
    live_video *hanging = open_video("{\"columns\": 4, \"rows\": 3, \"hang\": 1}");
    assert_int_equal(live_video_move(hanging, LIVE_PLAY, 0), WEFT_ERROR_SYSTEM);
    assert_string_equal(weft_thread_error(), "-v: ffmpeg has sent no frame for 3 seconds");
    assert_shows(hanging, 0);
    live_video_close(&hanging);
    for (int i = 0; i < 200 && has_children(); i++) wait_a_moment();
    assert_false(has_children());
    assert_int_equal(lines_of("camera.log"), 1);
    move(camera, LIVE_PLAY, 4);
    assert_int_equal(lines_of("camera.log"), 2);
    assert_shows(camera, live_video_moment(camera, 0).number);
    close_video(&camera);
}

/* ---- a folder for them ---- */

static char folder[] = "/tmp/weft-live-video-XXXXXX";

static int enter_folder(void **state) {
    char path[4096];
    (void)state;
    snprintf(path, sizeof path, "%s:%s", STAND_IN, getenv("PATH"));
    return setenv("PATH", path, 1) != 0 || mkdtemp(folder) == NULL || chdir(folder) != 0;
}

static int leave_folder(void **state) {
    (void)state;
    unlink("-v");
    unlink("camera.log");
    unlink("camera.log.frames");
    return chdir("/") != 0 || rmdir(folder) != 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_frame_that_is_due_is_shown_and_others_are_dropped),
        cmocka_unit_test(a_pattern_is_the_same_whenever_it_is_drawn),
        cmocka_unit_test(patterns_have_sizes),
        cmocka_unit_test(frames_before_the_one_that_is_due_are_dropped),
        cmocka_unit_test(a_file_begins_again),
        cmocka_unit_test(rates_are_those_of_the_file_if_they_can_be),
        cmocka_unit_test(much_that_ffmpeg_complains_of_does_not_stop_it),
        cmocka_unit_test(what_cannot_be_played_is_refused_at_once),
        cmocka_unit_test(a_failure_later_leaves_the_frame_before),
        cmocka_unit_test(without_ffmpeg_it_is_said_what_to_install),
        cmocka_unit_test(a_slow_ffmpeg_is_waited_for),
        cmocka_unit_test(waiting_ends_when_it_is_ended),
        cmocka_unit_test(a_camera_shows_its_newest_frame_and_is_closed_when_nobody_looks),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
