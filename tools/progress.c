/* The bar is painted by a thread of its own, so that it moves while the library computes. */
#include "progress.h"

#include "support/clock.h"

#include <stdio.h>
#include <unistd.h>

enum { WIDTH = 40, PAINTS_PER_SECOND = 5 };

static const double quiet_seconds = 2.0;

static void paint(const progress *p, double elapsed) {
    char bar[WIDTH + 1];
    long long total = atomic_load(&p->total), done = atomic_load(&p->done);
    double fraction = total > 0 ? (double)done / (double)total : 0.0;
    if (fraction > 1.0) fraction = 1.0;
    for (int i = 0; i < WIDTH; i++) bar[i] = (double)i < fraction * WIDTH ? '#' : '.';
    bar[WIDTH] = '\0';
    /* Where the end is unknown, a mark that moves shows that something happens. */
    if (total == 0) bar[(int)(elapsed * PAINTS_PER_SECOND) % WIDTH] = '#';
    fprintf(stderr, "\r%-12s [%s] %5.0f s", atomic_load(&p->stage), bar, elapsed);
    fflush(stderr);
}

static void *run(void *argument) {
    progress *p = argument;
    double start = weft_clock();
    bool painted = false;
    while (!atomic_load(&p->stop)) {
        usleep(1000000 / PAINTS_PER_SECOND / 10);
        double elapsed = weft_clock() - start;
        static const double interval = 1.0 / PAINTS_PER_SECOND;
        if (elapsed < quiet_seconds) continue;
        paint(p, elapsed);
        painted = true;
        for (double next = elapsed + interval;
             !atomic_load(&p->stop) && weft_clock() - start < next;)
            usleep(10000);
    }
    if (painted) fprintf(stderr, "\r\033[K");
    return NULL;
}

void progress_begin(progress *p, bool wanted) {
    atomic_init(&p->stop, false);
    atomic_init(&p->stage, "");
    atomic_init(&p->done, 0);
    atomic_init(&p->total, 0);
    p->running = wanted && isatty(STDERR_FILENO) && pthread_create(&p->thread, NULL, run, p) == 0;
}

void progress_stage(progress *p, const char *stage, long long total) {
    atomic_store(&p->total, total);
    atomic_store(&p->done, 0);
    atomic_store(&p->stage, stage);
}

void progress_end(progress *p) {
    if (!p->running) return;
    atomic_store(&p->stop, true);
    pthread_join(p->thread, NULL);
    p->running = false;
}
