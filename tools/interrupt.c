/* The path is kept in a fixed array: a signal handler may not look at memory that could be freed
 * meanwhile. */
#include "interrupt.h"

#include "io/guard.h"

#include <limits.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static char doomed[PATH_MAX];
static volatile sig_atomic_t armed, waits, kept;
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

/* A page of a mapped file cannot be had. Unless it is a copy that can fail, nothing can go on. */
static void remove_and_tell(int number) {
    (void)number;
    weft_guard_escape();
    if (armed) unlink(doomed);
    say("weft: a mapped file cannot be read or written further: it was cut short, or its disk "
        "failed or is full");
    say(kept ? INTERRUPT_GO_ON "\n" : "\n");
    _exit(1);
}

void interrupt_tells(void) {
    const struct sigaction lost = {.sa_handler = remove_and_tell};
    sigaction(SIGBUS, &lost, NULL);
}

static void take_signals(void) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    interrupt_tells();
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
    take_signals();
}

void interrupt_removes(const char *path) {
    armed = kept = 0;
    if (path == NULL || strlen(path) >= sizeof doomed) return;
    memcpy(doomed, path, strlen(path) + 1);
    armed = 1;
    take_signals();
    interrupt_goes_on();
}
