/* Lists of tasks. */
#include "schedule/task.h"

#include "support/error.h"

#include <limits.h>
#include <stdlib.h>

weft_access weft_access_all(int buffer, bool writes) {
    return (weft_access){.buffer = buffer,
                         .writes = writes,
                         .element_bytes = 1,
                         .view = {.axes = 1, .n = {INT64_MAX / 4}, .stride = {1}}};
}

/* Makes room for one element more in a list. */
static bool has_room(weft_tasks *tasks, void *list, int count, int *capacity, size_t bytes) {
    void **memory = list;
    if (tasks->status != WEFT_SUCCESS) return false;
    if (count < *capacity) return true;
    const bool countable =
        *capacity <= INT_MAX / 8; /* spans of a trace are several for each task */
    const int larger = *capacity > 0 && countable ? 2 * *capacity : 16;
    void *moved = countable ? realloc(*memory, (size_t)larger * bytes) : NULL;
    if (!moved) {
        tasks->status =
            weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                      "no memory for a plan's tasks, which are more than %d; choose fewer "
                      "options.chunks",
                      count);
        return false;
    }
    *memory = moved;
    *capacity = larger;
    return true;
}

int weft_tasks_add(weft_tasks *tasks, weft_task task) {
    if (!has_room(tasks, &tasks->task, tasks->count, &tasks->capacity, sizeof task)) return -1;
    task.first_access = tasks->accesses;
    task.accesses = 0;
    tasks->task[tasks->count] = task;
    return tasks->count++;
}

void weft_tasks_access(weft_tasks *tasks, weft_access access) {
    if (!has_room(tasks, &tasks->access, tasks->accesses, &tasks->access_capacity, sizeof access))
        return;
    tasks->access[tasks->accesses++] = access;
    tasks->task[tasks->count - 1].accesses++;
}

void weft_tasks_array(weft_tasks *tasks, int buffer) {
    if (!has_room(tasks, &tasks->array, tasks->arrays, &tasks->array_capacity, sizeof buffer))
        return;
    weft_fft_task *fft = &tasks->task[tasks->count - 1].as.fft;
    if (fft->arrays++ == 0) fft->first_array = tasks->arrays;
    tasks->array[tasks->arrays++] = buffer;
}

int weft_tasks_add_copy(weft_tasks *tasks, weft_task task, weft_transfer transfer, weft_access from,
                        weft_access to) {
    task.kind = WEFT_TASK_COPY;
    task.as.copy.copy = weft_copy_between(&from.view, &to.view, from.element_bytes);
    task.as.copy.transfer = transfer;
    task.as.copy.next = -1;
    if (task.as.copy.copy.elements == 0) return -1;
    const int added = weft_tasks_add(tasks, task);
    to.writes = true;
    weft_tasks_access(tasks, from);
    weft_tasks_access(tasks, to);
    return added;
}

void weft_tasks_release(weft_tasks *tasks) {
    free(tasks->task);
    free(tasks->access);
    free(tasks->array);
    *tasks = (weft_tasks){0};
}
