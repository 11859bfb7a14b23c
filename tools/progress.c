/* The bar is painted by a thread of its own, so that it moves while the library computes. */
#include "progress.h"

#include "launch.h"
#include "support/clock.h"

#include <stdio.h>
#include <unistd.h>

enum { WIDTH = 28, PAINTS_PER_SECOND = 5 };

static void paint_time(double seconds) {
    const long long all = (long long)(seconds + 0.5);
    if (all < 3600)
        fprintf(stderr, "%lld:%02lld", all / 60, all % 60);
    else
        fprintf(stderr, "%lld:%02lld:%02lld", all / 3600, all / 60 % 60, all % 60);
}

static double within_one(double share) {
    return share < 0 ? 0 : share < 1 ? share : 1;
}

/* The share, the rate where there are bytes, and the time that is left if the rest takes as long.
 */
static void paint_rest(const progress *p, double fraction, double first) {
    const double took = weft_clock() - atomic_load(&p->begun);
    fprintf(stderr, "%3.0f %% ", 100 * fraction);
    if (atomic_load(&p->total) > 0)
        fprintf(stderr, "%6.0f MB/s ", 1e-6 * (double)atomic_load(&p->done) / took);
    paint_time((1 - fraction) * took / (fraction - first));
    fprintf(stderr, " left");
}

static void paint(const progress *p, double elapsed) {
    char bar[WIDTH + 1];
    const double total = (double)atomic_load(&p->total), share = atomic_load(&p->share);
    const double fraction = within_one(total > 0 ? (double)atomic_load(&p->done) / total : share);
    const double first = total > 0 ? 0 : atomic_load(&p->first_share);
    for (int i = 0; i < WIDTH; i++) bar[i] = (double)i < fraction * WIDTH ? '#' : '.';
    bar[WIDTH] = '\0';
    /* Where the end is unknown, a mark that moves shows that something happens. */
    if (total <= 0 && share < 0) bar[(int)(elapsed * PAINTS_PER_SECOND) % WIDTH] = '#';
    fprintf(stderr, "\r%-12s [%s] ", atomic_load(&p->stage), bar);
    if (fraction > first)
        paint_rest(p, fraction, first);
    else
        paint_time(elapsed);
    fprintf(stderr, "\033[K");
    fflush(stderr);
}

static void *run(void *argument) {
    progress *p = argument;
    double start = weft_clock();
    bool shown = p->quiet_seconds <= 0;
    while (!atomic_load(&p->stop)) {
        usleep(1000000 / PAINTS_PER_SECOND / 10);
        double elapsed = weft_clock() - start;
        static const double interval = 1.0 / PAINTS_PER_SECOND;
        if (elapsed < p->quiet_seconds) continue;
        paint(p, elapsed);
        shown = true;
        for (double next = elapsed + interval;
             !atomic_load(&p->stop) && weft_clock() - start < next;)
            usleep(10000);
    }
    if (!shown) return NULL;
    paint(p, weft_clock() - start); /* work that ended between two paintings is shown, too */
    fprintf(stderr, "\r\033[K");
    return NULL;
}

void progress_begin(progress *p, bool allowed, bool asked_for) {
    atomic_init(&p->stop, false);
    atomic_init(&p->stage, "");
    atomic_init(&p->done, 0);
    atomic_init(&p->total, 0);
    atomic_init(&p->share, -1);
    atomic_init(&p->first_share, 0);
    atomic_init(&p->begun, weft_clock());
    p->quiet_seconds = asked_for ? 0.0 : 2.0;
    p->running = (asked_for || (allowed && launch_on_terminal())) &&
                 pthread_create(&p->thread, NULL, run, p) == 0;
}

void progress_stage(progress *p, const char *stage, long long total) {
    atomic_store(&p->total, total);
    atomic_store(&p->done, 0);
    atomic_store(&p->share, -1);
    atomic_store(&p->begun, weft_clock());
    atomic_store(&p->stage, stage);
}

void progress_share(progress *p, const char *stage, double share) {
    if (atomic_load(&p->share) < 0) {
        atomic_store(&p->first_share, share);
        atomic_store(&p->begun, weft_clock());
    }
    atomic_store(&p->stage, stage);
    atomic_store(&p->share, share);
}

void progress_end(progress *p) {
    if (!p->running) return;
    atomic_store(&p->stop, true);
    pthread_join(p->thread, NULL);
    p->running = false;
}
