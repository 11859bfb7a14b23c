/* Threads that sleep on a condition between two pieces of work. */
#include "bench/ceilings_team.h"

#include "support/clock.h"
#include "support/error.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct member {
    ceilings_team *team;
    int thread;
    pthread_t handle;
    double start, end;
} member;

struct ceilings_team {
    pthread_mutex_t mutex;
    pthread_cond_t begun, done;
    long round; /* grows with every piece of work */
    int working;
    bool leaving;
    ceilings_work work;
    void *argument;
    int threads;
    member *members;
};

static void take_part(member *self, ceilings_work work, void *argument) {
    self->start = weft_clock();
    work(argument, self->thread);
    self->end = weft_clock();
}

static void *member_main(void *argument) {
    member *self = argument;
    ceilings_team *team = self->team;
    long seen = 0;
    pthread_mutex_lock(&team->mutex);
    for (;;) {
        while (team->round == seen && !team->leaving) pthread_cond_wait(&team->begun, &team->mutex);
        if (team->leaving) break;
        seen = team->round;
        pthread_mutex_unlock(&team->mutex);
        take_part(self, team->work, team->argument);
        pthread_mutex_lock(&team->mutex);
        if (--team->working == 0) pthread_cond_signal(&team->done);
    }
    pthread_mutex_unlock(&team->mutex);
    return NULL;
}

weft_status ceilings_team_create(int threads, ceilings_team **out) {
    ceilings_team *team = calloc(1, sizeof *team);
    member *members = calloc((size_t)threads, sizeof *members);
    if (!team || !members) {
        free(team);
        free(members);
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "ceilings: no memory for %d threads", threads);
    }
    pthread_mutex_init(&team->mutex, NULL);
    pthread_cond_init(&team->begun, NULL);
    pthread_cond_init(&team->done, NULL);
    team->members = members;
    for (int t = 0; t < threads; t++) {
        members[t] = (member){.team = team, .thread = t};
        int code = t ? pthread_create(&members[t].handle, NULL, member_main, &members[t]) : 0;
        if (code != 0) {
            ceilings_team_destroy(&team);
            return weft_fail(WEFT_ERROR_SYSTEM, "ceilings: %d threads cannot be started: %s",
                             threads, strerror(code));
        }
        team->threads = t + 1;
    }
    *out = team;
    return WEFT_SUCCESS;
}

void ceilings_team_destroy(ceilings_team **out) {
    ceilings_team *team = *out;
    if (!team) return;
    pthread_mutex_lock(&team->mutex);
    team->leaving = true;
    pthread_cond_broadcast(&team->begun);
    pthread_mutex_unlock(&team->mutex);
    for (int t = 1; t < team->threads; t++) pthread_join(team->members[t].handle, NULL);
    pthread_cond_destroy(&team->begun);
    pthread_cond_destroy(&team->done);
    pthread_mutex_destroy(&team->mutex);
    free(team->members);
    free(team);
    *out = NULL;
}

int ceilings_team_threads(const ceilings_team *team) {
    return team->threads;
}

void ceilings_team_run(ceilings_team *team, ceilings_work work, void *argument, double *start,
                       double *end) {
    pthread_mutex_lock(&team->mutex);
    team->work = work;
    team->argument = argument;
    team->working = team->threads - 1;
    team->round++;
    pthread_cond_broadcast(&team->begun);
    pthread_mutex_unlock(&team->mutex);
    take_part(&team->members[0], work, argument);
    pthread_mutex_lock(&team->mutex);
    while (team->working > 0) pthread_cond_wait(&team->done, &team->mutex);
    pthread_mutex_unlock(&team->mutex);
    *start = team->members[0].start;
    *end = team->members[0].end;
    for (int t = 1; t < team->threads; t++) {
        if (team->members[t].start < *start) *start = team->members[t].start;
        if (team->members[t].end > *end) *end = team->members[t].end;
    }
}
