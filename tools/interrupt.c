/* The path is kept in a fixed array: a signal handler may not look at memory that could be freed
 * meanwhile. */
#include "interrupt.h"

#include <limits.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static char doomed[PATH_MAX];
static volatile sig_atomic_t armed, waits;
static volatile sig_atomic_t put_off; /* the signal that came while `waits`; 0: none */

static void remove_and_die(int number) {
    if (waits) {
        put_off = number;
        return;
    }
    if (armed) unlink(doomed);
    signal(number, SIG_DFL);
    raise(number);
}

static void take_signals(void) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
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

void interrupt_removes(const char *path) {
    armed = 0;
    if (path == NULL || strlen(path) >= sizeof doomed) return;
    memcpy(doomed, path, strlen(path) + 1);
    armed = 1;
    take_signals();
    interrupt_goes_on();
}
