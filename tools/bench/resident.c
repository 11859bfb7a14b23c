/* Reads /proc/self/status; /proc/self/clear_refs resets the peak. */
#include "bench/resident.h"

#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool reset_peak(void) {
    int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    bool written = file >= 0 && write(file, "5", 1) == 1;
    if (file >= 0) close(file);
    return written;
}

/* VmHWM and VmRSS from one reading: the kernel takes its time over each. */
static void read_status(double *peak, double *now) {
    char text[4096];
    int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, text, sizeof text - 1) : -1;
    if (file >= 0) close(file);
    text[length > 0 ? length : 0] = '\0';
    const char *high = strstr(text, "VmHWM:"), *resident = strstr(text, "VmRSS:");
    *peak = high ? strtod(high + strlen("VmHWM:"), NULL) * 1024 : NAN;
    *now = resident ? strtod(resident + strlen("VmRSS:"), NULL) * 1024 : NAN;
}

void resident_begin(resident_meter *meter) {
    double peak;
    bool reset = reset_peak();
    read_status(&peak, &meter->before);
    if (!reset) meter->before = NAN;
}

void resident_end(resident_meter *meter) {
    double peak, now;
    read_status(&peak, &now);
    peak += meter->kept - meter->before;
    if (!(peak <= meter->peak)) meter->peak = peak;
    meter->kept += now - meter->before;
}
