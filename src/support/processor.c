/* The processor's name, from /proc/cpuinfo. */
#include "support/processor.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

void weft_processor_name(char *name, size_t size) {
    struct utsname machine;
    char line[512];
    snprintf(name, size, "%s", uname(&machine) == 0 ? machine.machine : "unknown");
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon) continue;
        snprintf(name, size, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
        break;
    }
    if (file) fclose(file);
}
