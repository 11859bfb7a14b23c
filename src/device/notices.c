/* Pending callbacks: see notices.h. */
#include "device/notices.h"

#include <stddef.h>

void weft_notices_open(weft_notices *list) {
    pthread_mutex_init(&list->lock, NULL);
    pthread_cond_init(&list->freed, NULL);
    list->first = NULL;
    for (int i = 0; i < WEFT_NOTICES; i++) {
        list->notice[i] = (weft_notice){.list = list, .next = list->first};
        list->first = &list->notice[i];
    }
}

void weft_notices_close(weft_notices *list) {
    pthread_cond_destroy(&list->freed);
    pthread_mutex_destroy(&list->lock);
}

weft_notice *weft_notices_take(weft_notices *list, void (*function)(void *), void *argument) {
    pthread_mutex_lock(&list->lock);
    while (!list->first) pthread_cond_wait(&list->freed, &list->lock);
    weft_notice *taken = list->first;
    list->first = taken->next;
    pthread_mutex_unlock(&list->lock);
    taken->function = function;
    taken->argument = argument;
    return taken;
}

void weft_notices_return(weft_notice *notice) {
    weft_notices *list = notice->list;
    pthread_mutex_lock(&list->lock);
    notice->next = list->first;
    list->first = notice;
    pthread_cond_signal(&list->freed);
    pthread_mutex_unlock(&list->lock);
}
