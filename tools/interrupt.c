/* The path is kept in a fixed array: a signal handler may not look at memory that could be freed
 * meanwhile. */
#include "interrupt.h"

#include <limits.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char doomed[PATH_MAX];
static volatile sig_atomic_t armed, waits, kept;
static volatile sig_atomic_t rank_of_process;
static volatile sig_atomic_t put_off; /* the signal that came while `waits`; 0: none */

static void say(const char *sentence) {
    const ssize_t unused = write(STDERR_FILENO, sentence, strlen(sentence));
    (void)unused;
}

static void remove_and_die(int number) {
    if (waits) {
        put_off = number;
        return;
    }
    if (kept) say("weft: interrupted" INTERRUPT_GO_ON "\n");
    if (armed) unlink(doomed);
    signal(number, SIG_DFL);
    raise(number);
}

/* A page of a mapped file cannot be had. Nothing can go on from there. */
static void remove_and_tell(int number) {
    const struct timespec turn = {rank_of_process / 10, rank_of_process % 10 * 100000000L};
    (void)number;
    nanosleep(&turn, NULL);
    if (armed) unlink(doomed);
    say("weft: a mapped file cannot be read or written further: it was cut short, or its disk "
        "failed or is full");
    say(kept ? INTERRUPT_GO_ON "\n" : "\n");
    _exit(1);
}

void interrupt_tells(int rank) {
    const struct sigaction lost = {.sa_handler = remove_and_tell};
    rank_of_process = rank;
    sigaction(SIGBUS, &lost, NULL);
}

static void take_signals(void) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    interrupt_tells(0);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction action = {.sa_handler = remove_and_die, .sa_flags = SA_RESTART};
        sigaction(numbers[i], &action, NULL);
    }
}

void interrupt_waits(void) {
    waits = 1;
    take_signals();
}

void interrupt_goes_on(void) {
    waits = 0;
    if (put_off) remove_and_die(put_off);
}

void interrupt_keeps(void) {
    kept = 1;
    armed = 0;
}

void interrupt_removes(const char *path) {
    armed = kept = 0;
    if (path == NULL || strlen(path) >= sizeof doomed) return;
    memcpy(doomed, path, strlen(path) + 1);
    armed = 1;
    take_signals();
    interrupt_goes_on();
}
