/* Reads /proc/meminfo, and of control groups (versions 1 and 2) the limit and the use of this
 * process's group and of those above it. What a group uses for cached files does not count: the
 * system drops them when it needs the room. */
#include "memory.h"

#include "io/agreement.h"
#include "support/error.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static FILE *open_file(const char *folder, const char *name) {
    char path[PATH_MAX + 32];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    return length > 0 && length < (int)sizeof path ? fopen(path, "re") : NULL;
}

/* Adds the numbers of the lines "NAME number" or "NAME: number" whose name is one of two; -1 where
 * the file has none of them. */
static double add_lines(const char *folder, const char *file_name, const char *first,
                        const char *second) {
    char line[256], name[128];
    double sum = -1.0, value;
    FILE *file = open_file(folder, file_name);
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "%127[^: ]%*[: ]%lf", name, &value) != 2) continue;
        if (strcmp(name, first) == 0 || strcmp(name, second) == 0) sum = fmax(sum, 0.0) + value;
    }
    if (file != NULL) fclose(file);
    return sum;
}

/* The one number in a file; HUGE_VAL where there is none ("max", or no file). */
static double read_number(const char *folder, const char *name) {
    double value;
    FILE *file = open_file(folder, name);
    if (file == NULL || fscanf(file, "%lf", &value) != 1) value = HUGE_VAL;
    if (file != NULL) fclose(file);
    return value;
}

/* The files of control groups, by version. */
typedef struct group_files {
    const char *mount, *limit, *use;
    const char *cached[2]; /* lines of memory.stat */
} group_files;

static const group_files version_1 = {"/sys/fs/cgroup/memory",
                                      "memory.limit_in_bytes",
                                      "memory.usage_in_bytes",
                                      {"total_inactive_file", "total_active_file"}};
static const group_files version_2 = {
    "/sys/fs/cgroup", "memory.max", "memory.current", {"inactive_file", "active_file"}};

static double left_in_group(const group_files *files, const char *folder) {
    double limit = read_number(folder, files->limit), use = read_number(folder, files->use);
    if (isinf(limit) || isinf(use)) return HUGE_VAL;
    double cached = fmax(add_lines(folder, "memory.stat", files->cached[0], files->cached[1]), 0.0);
    return fmax(limit - fmax(use - cached, 0.0), 0.0);
}

/* The least that is left in a group and those above it. In a container the group may be mounted as
 * the uppermost, whatever it is called outside. */
static double left_in_groups(const group_files *files, const char *root, const char *group) {
    char folder[PATH_MAX];
    int mount = snprintf(folder, sizeof folder, "%s%s%s", root, files->mount, group);
    double left = HUGE_VAL;
    if (mount >= (int)sizeof folder) return HUGE_VAL;
    mount -= (int)strlen(group);
    for (;;) {
        left = fmin(left, left_in_group(files, folder));
        char *slash = strrchr(folder + mount, '/');
        if (slash == NULL) return left;
        *slash = '\0';
    }
}

/* /proc/self/cgroup has lines "number:controllers:group"; version 2 has no controllers there. */
static double left_in_all_groups(const char *root) {
    char line[PATH_MAX];
    double left = HUGE_VAL;
    FILE *file = open_file(root, "proc/self/cgroup");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (group == NULL) continue;
        *group++ = '\0';
        if (controllers[1] == '\0')
            left = fmin(left, left_in_groups(&version_2, root, group));
        else if (strcmp(controllers + 1, "memory") == 0)
            left = fmin(left, left_in_groups(&version_1, root, group));
    }
    if (file != NULL) fclose(file);
    return left;
}

double memory_available(const char *root, bool swap) {
    double free_bytes =
        1024.0 * add_lines(root, "proc/meminfo", "MemAvailable", swap ? "SwapFree" : "");
    return fmin(free_bytes >= 0.0 ? free_bytes : HUGE_VAL, left_in_all_groups(root));
}

weft_status memory_check(const command_world *world, double needed, double available) {
    MPI_Comm node;
    char name[256] = "this machine";
    int ranks;
    MPI_Comm_split_type(world->comm, MPI_COMM_TYPE_SHARED, world->rank, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &ranks);
    MPI_Allreduce(MPI_IN_PLACE, &needed, 1, MPI_DOUBLE, MPI_SUM, node);
    MPI_Allreduce(MPI_IN_PLACE, &available, 1, MPI_DOUBLE, MPI_MIN, node);
    MPI_Comm_free(&node);
    weft_status status = WEFT_SUCCESS;
    if (needed > available) {
        const double gib = 1024.0 * 1024.0 * 1024.0;
        gethostname(name, sizeof name - 1);
        status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                           "%s has too little memory: its %d rank%s need%s %.1f GiB and %.1f GiB "
                           "are available; use more machines, --precision single or a smaller "
                           "array",
                           name, ranks, ranks > 1 ? "s" : "", ranks > 1 ? "" : "s", needed / gib,
                           available / gib);
    }
    return weft_array_agree(world->comm, status);
}
