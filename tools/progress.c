/* The bar is painted by a thread of its own, so that it moves while the library computes. */
#include "progress.h"

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

static void paint(const progress *p, double elapsed) {
    char bar[WIDTH + 1];
    const double total = (double)atomic_load(&p->total), done = (double)atomic_load(&p->done),
                 took = weft_clock() - atomic_load(&p->begun);
    const double fraction = total <= 0 ? 0 : done < total ? done / total : 1;
    for (int i = 0; i < WIDTH; i++) bar[i] = (double)i < fraction * WIDTH ? '#' : '.';
    bar[WIDTH] = '\0';
    /* Where the end is unknown, a mark that moves shows that something happens. */
    if (total <= 0) bar[(int)(elapsed * PAINTS_PER_SECOND) % WIDTH] = '#';
    fprintf(stderr, "\r%-12s [%s] ", atomic_load(&p->stage), bar);
    if (fraction > 0 && took > 0) {
        fprintf(stderr, "%3.0f %% %6.0f MB/s ", 100 * fraction, 1e-6 * done / took);
        paint_time(took / fraction - took);
        fprintf(stderr, " left");
    } else {
        paint_time(elapsed);
    }
    fprintf(stderr, "\033[K");
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
        if (elapsed < p->quiet_seconds) continue;
        paint(p, elapsed);
        painted = true;
        for (double next = elapsed + interval;
             !atomic_load(&p->stop) && weft_clock() - start < next;)
            usleep(10000);
    }
    if (painted) fprintf(stderr, "\r\033[K");
    return NULL;
}

void progress_begin(progress *p, bool allowed, bool asked_for) {
    atomic_init(&p->stop, false);
    atomic_init(&p->stage, "");
    atomic_init(&p->done, 0);
    atomic_init(&p->total, 0);
    atomic_init(&p->begun, weft_clock());
    p->quiet_seconds = asked_for ? 0.0 : 2.0;
    p->running = (asked_for || (allowed && isatty(STDERR_FILENO))) &&
                 pthread_create(&p->thread, NULL, run, p) == 0;
}

void progress_stage(progress *p, const char *stage, long long total) {
    atomic_store(&p->total, total);
    atomic_store(&p->done, 0);
    atomic_store(&p->begun, weft_clock());
    atomic_store(&p->stage, stage);
}

void progress_end(progress *p) {
    if (!p->running) return;
    atomic_store(&p->stop, true);
    pthread_join(p->thread, NULL);
    p->running = false;
}
