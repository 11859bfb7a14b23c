/*
 * The protocol of shared workspaces (src/exchange/peer.h), tried in all orders: every sequence of a
 * few executions, every assignment of workspaces to them, which may differ between ranks, and every
 * order in which the ranks take their steps. No state may be without a way on, and nobody may write
 * what a partner reads, or read what is not there yet.
 *
 * The predicates that a rank waits for, and the words that it stores, are those of peer_flags.c.
 * The order of the steps in an execution is one in which src/exec/run.c may do the tasks of
 * src/exchange/peer.c. What a rank has stored depends only on how many steps it has taken, so a
 * state is that number for each rank.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "exchange/peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_RANKS = 3,
    WORKSPACES = 2,
    CALLERS = WORKSPACES, /* the caller's buffer, which nobody reads */
    EXCHANGES = 2,        /* of the forward transform, of the inverse */
    PARTS = 2,
    MOST_STEPS = 128
};

/* How data gets from the partners' workspaces to where this rank wants it. */
typedef enum manner {
    LOADED, /* by the transform after the exchange */
    COPIED,
    IN_TILES, /* copied while the transform before it still writes others */
    MANNERS
} manner;

/* What may go wrong in the library, to see that it is found. */
typedef enum defect { NONE, NO_EPOCH, NO_WAITING } defect;

typedef enum step_kind {
    TAKE_BACK,
    WRITE,
    WRITTEN,
    OPEN,
    ANNOUNCE,
    READ,
    HAS_READ,
    MARK_READERS
} step_kind;

typedef struct step {
    step_kind kind;
    int exchange, run; /* the run's number among all of the sequence, from 1 */
    int workspace, part;
    bool last; /* HAS_READ: of the run */
} step;

/* What a rank has stored after some of its steps. */
typedef struct stored {
    weft_peer_flags flags[EXCHANGES];
    weft_peer_readers readers[WORKSPACES];
    uint64_t epoch[EXCHANGES];
    int content[WORKSPACES][PARTS]; /* the run that it was written for; -1: being written */
} stored;

typedef struct rank {
    step step[MOST_STEPS];
    int steps;
    stored after[MOST_STEPS + 1];
    weft_peer *peer[EXCHANGES];
    weft_redistribution geometry;
} rank;

typedef struct model {
    int ranks;
    defect defect;
    rank rank[MOST_RANKS];
} model;

static weft_block blocks[MOST_RANKS]; /* of one element each */
static const char memory[WORKSPACES + 1];

static void open_model(model *m, int ranks) {
    memset(m, 0, sizeof *m);
    m->ranks = ranks;
    for (int i = 0; i < MOST_RANKS; i++) blocks[i].elements = 1;
    for (int r = 0; r < ranks; r++) {
        rank *q = &m->rank[r];
        q->geometry =
            (weft_redistribution){.members = ranks, .me = r, .send = blocks, .receive = blocks};
        for (int x = 0; x < EXCHANGES; x++) {
            assert_int_equal(weft_peer_create(&q->geometry, &q->peer[x]), WEFT_SUCCESS);
            for (int other = 0; other < ranks; other++)
                for (int w = 0; w < WORKSPACES; w++)
                    q->peer[x]->member[other].workspace[w] = &memory[w];
        }
    }
}

static void close_model(model *m) {
    for (int r = 0; r < m->ranks; r++)
        for (int x = 0; x < EXCHANGES; x++) weft_peer_destroy(m->rank[r].peer[x]);
}

/* ---- the steps of an execution ---- */

static void add(rank *q, step_kind kind, int exchange, int run, int workspace, int part,
                bool last) {
    assert_true(q->steps < MOST_STEPS);
    if (workspace == CALLERS && kind != READ && kind != HAS_READ) return;
    q->step[q->steps++] = (step){kind, exchange, run, workspace, part, last};
}

static void take_back(rank *q, int workspace) {
    add(q, TAKE_BACK, 0, 0, workspace, 0, false);
}

/* A transform stores what run `run` sends. */
static void write(rank *q, int run, int workspace, int part) {
    add(q, WRITE, 0, run, workspace, part, false);
    add(q, WRITTEN, 0, run, workspace, part, false);
}

static void read_part(rank *q, int exchange, int run, int part, bool last) {
    add(q, READ, exchange, run, CALLERS, part, false);
    add(q, HAS_READ, exchange, run, CALLERS, part, last);
}

/* A run of an exchange from workspace `from`, what comes out of it going to `to`: what a transform
 * stores there is for the next run. If `first`, a transform fills `from` before it. */
static void add_exchange(rank *q, manner how, int exchange, int run, int from, int to, bool first) {
    if (how == IN_TILES) {
        take_back(q, from);
        take_back(q, to);
        add(q, OPEN, exchange, run, from, 0, false);
        for (int k = 0; k < PARTS; k++) {
            write(q, run, from, k);
            add(q, ANNOUNCE, exchange, run, from, k + 1, false);
        }
        add(q, MARK_READERS, exchange, run, from, 0, false);
        for (int k = 0; k < PARTS; k++) {
            read_part(q, exchange, run, k, k + 1 == PARTS);
            if (k + 1 < PARTS) write(q, 0, to, k);
        }
        write(q, 0, to, PARTS - 1);
        return;
    }
    if (how == COPIED || first) {
        take_back(q, from);
        for (int k = 0; k < PARTS; k++) write(q, run, from, k);
    }
    if (how == COPIED) take_back(q, to);
    add(q, OPEN, exchange, run, from, 0, false);
    add(q, ANNOUNCE, exchange, run, from, WEFT_PEER_TILES - 1, false);
    add(q, MARK_READERS, exchange, run, from, 0, false);
    if (how == LOADED) {
        add(q, READ, exchange, run, CALLERS, PARTS - 1,
            false); /* all are there; none is read yet */
        take_back(q, to);
    }
    read_part(q, exchange, run, PARTS - 1, false);
    for (int k = 0; k < PARTS; k++) write(q, how == LOADED ? run + 1 : 0, to, k);
    add(q, HAS_READ, exchange, run, CALLERS, PARTS - 1, true);
}

/* ---- what a rank has stored after each of its steps ---- */

/* With the library's own functions, which find all partners ready. */
static void take_step(rank *q, stored *s, const step *t) {
    weft_peer *peer = q->peer[t->exchange];
    const uint64_t epoch = peer->epoch;
    weft_peer_flags all_done;
    atomic_init(&all_done.done, UINT64_MAX);
    for (int m = 0; m < peer->members; m++) peer->member[m].flags = &all_done;
    peer->member[peer->me].flags = &s->flags[t->exchange];
    peer->epoch = s->epoch[t->exchange];
    if (t->kind == OPEN) weft_peer_open(peer, t->workspace, NULL);
    if (t->kind == ANNOUNCE) weft_peer_complete(peer, t->part);
    if (t->kind == HAS_READ && t->last) weft_peer_finish(peer);
    if (t->kind == MARK_READERS) s->readers[t->workspace] = weft_peer_current_readers(peer);
    if (t->kind == TAKE_BACK) s->readers[t->workspace].peer = NULL;
    if (t->kind == WRITE) s->content[t->workspace][t->part] = -1;
    if (t->kind == WRITTEN) s->content[t->workspace][t->part] = t->run;
    s->epoch[t->exchange] = peer->epoch;
    peer->epoch = epoch;
}

static void store_all(rank *q) {
    memset(&q->after[0], 0, sizeof q->after[0]);
    for (int i = 0; i < q->steps; i++) {
        q->after[i + 1] = q->after[i];
        take_step(q, &q->after[i + 1], &q->step[i]);
    }
}

/* ---- all states ---- */

/* What rank r sees when all ranks have taken so many steps. */
static void look(model *m, int r, const int *at) {
    for (int x = 0; x < EXCHANGES; x++) {
        weft_peer *peer = m->rank[r].peer[x];
        for (int other = 0; other < m->ranks; other++)
            peer->member[other].flags = &m->rank[other].after[at[other]].flags[x];
        peer->epoch = m->rank[r].after[at[r]].epoch[x];
        memset(peer->src, 0, (size_t)m->ranks * sizeof *peer->src);
    }
}

static bool all_ready(weft_peer *peer, int part) {
    for (int other = 0; other < peer->members; other++)
        if (!weft_peer_ready(peer, other, part)) return false;
    return true;
}

/* Whether rank r can take its next step. */
static bool can_go_on(model *m, int r, const int *at) {
    const rank *q = &m->rank[r];
    if (at[r] == q->steps) return false;
    const step *t = &q->step[at[r]];
    weft_peer *peer = q->peer[t->exchange];
    look(m, r, at);
    if (t->kind == TAKE_BACK) {
        weft_peer_readers readers = q->after[at[r]].readers[t->workspace];
        if (m->defect == NO_WAITING) return true;
        if (m->defect == NO_EPOCH && readers.peer) readers.epoch = readers.peer->epoch;
        return weft_peer_have_read(&readers);
    }
    if (t->kind == OPEN) return weft_peer_may_open(peer);
    return t->kind != READ || all_ready(peer, t->part);
}

/* Whether what rank r reads at this moment lies in its partners' workspaces. */
static bool reads_what_was_written(model *m, int r, const int *at) {
    const rank *q = &m->rank[r];
    if (at[r] == 0 || at[r] > q->steps) return true;
    const step *t = &q->step[at[r] - 1];
    if (t->kind != READ) return true;
    look(m, r, at);
    if (!all_ready(q->peer[t->exchange], t->part)) return false;
    for (int other = 0; other < m->ranks; other++) {
        if (other == r) continue;
        const int w = (int)((const char *)q->peer[t->exchange]->src[other] - memory);
        if (m->rank[other].after[at[other]].content[w][t->part] != t->run) return false;
    }
    return true;
}

typedef enum verdict { FINE, DEADLOCK, OVERWRITTEN } verdict;

/* Every state that can be reached, those with fewer steps first. */
static verdict explore(model *m) {
    static bool reached[(MOST_STEPS + 1) * (MOST_STEPS + 1) * (MOST_STEPS + 1)];
    int at[MOST_RANKS] = {0}, unit[MOST_RANKS], states = 1;
    for (int r = 0; r < m->ranks; r++) {
        unit[r] = states;
        states *= m->rank[r].steps + 1;
        store_all(&m->rank[r]);
    }
    memset(reached, 0, (size_t)states * sizeof reached[0]);
    reached[0] = true;
    for (int i = 0; i < states; i++) {
        bool goes_on = i + 1 == states;
        for (int r = 0; r < m->ranks; r++) at[r] = i / unit[r] % (m->rank[r].steps + 1);
        for (int r = 0; r < m->ranks && reached[i]; r++) {
            if (!reads_what_was_written(m, r, at)) return OVERWRITTEN;
            if (!can_go_on(m, r, at)) continue;
            reached[i + unit[r]] = goes_on = true;
        }
        if (reached[i] && !goes_on) return DEADLOCK;
    }
    return FINE;
}

/* ---- all sequences ---- */

/* Numbers below the products of their limits, one after the other. */
static int draw(int *code, int limit) {
    int value = *code % limit;
    *code /= limit;
    return value;
}

/* One execution of a rank: forward, inverse, or both ways. */
static void add_execution(rank *q, manner how, int direction, int from, int to, int *run) {
    if (direction < 2) {
        add_exchange(q, how, direction, *run + 1, from, to, true);
        *run += 1;
        return;
    }
    /* Both ways: what is loaded from one workspace is stored in the other. */
    add_exchange(q, how, 0, *run + 1, from, 1 - from, true);
    add_exchange(q, how, 1, *run + 2, 1 - from, to == CALLERS ? CALLERS : from, false);
    *run += 2;
}

/* Workspaces have no order, so the first is number 0 on each rank; and where the last execution
 * stores its result matters to nobody. */
static void add_sequence(rank *q, manner how, int directions, int length, int *code) {
    int run = 0;
    q->steps = 0;
    for (int i = 0; i < length; i++) {
        const int from = i == 0 ? 0 : draw(code, WORKSPACES);
        const int to = i + 1 == length || draw(code, 2) ? CALLERS : 1 - from;
        add_execution(q, how, draw(&directions, 3), from, to, &run);
    }
}

/* All sequences of so many executions; *seen counts them. The first verdict that is not FINE. */
static verdict try_all(int ranks, int length, defect flaw, int *seen) {
    verdict found = FINE;
    int sequences = 1, codes = 1;
    for (int i = 0; i < length; i++) sequences *= 3;
    for (int i = 0; i < (length - 1) * ranks; i++) codes *= WORKSPACES * 2;
    model *m = malloc(sizeof *m);
    open_model(m, ranks);
    m->defect = flaw;
    for (int how = 0; how < MANNERS; how++)
        for (int sequence = 0; sequence < sequences; sequence++)
            for (int code = 0; code < codes && found == FINE; code++, ++*seen) {
                int left = code;
                for (int r = 0; r < ranks; r++)
                    add_sequence(&m->rank[r], (manner)how, sequence, length, &left);
                found = explore(m);
                if (found != FINE && flaw == NONE)
                    print_error("manner %d, sequence %d, workspaces %d\n", how, sequence, code);
            }
    close_model(m);
    free(m);
    return found;
}

static void two_ranks_run_any_three_executions(void **state) {
    (void)state;
    int seen = 0;
    assert_int_equal(try_all(2, 3, NONE, &seen), FINE);
    assert_int_equal(seen, 3 * 27 * 256);
}

static void three_ranks_run_any_two_executions(void **state) {
    (void)state;
    int seen = 0;
    assert_int_equal(try_all(3, 2, NONE, &seen), FINE);
    assert_int_equal(seen, 3 * 9 * 64);
}

static void readers_without_their_epoch_are_waited_for_for_ever(void **state) {
    (void)state;
    int seen = 0;
    assert_int_equal(try_all(2, 2, NO_EPOCH, &seen), DEADLOCK);
}

static void workspaces_that_nobody_takes_back_are_overwritten(void **state) {
    (void)state;
    int seen = 0;
    assert_int_equal(try_all(2, 2, NO_WAITING, &seen), OVERWRITTEN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_ranks_run_any_three_executions),
        cmocka_unit_test(three_ranks_run_any_two_executions),
        cmocka_unit_test(readers_without_their_epoch_are_waited_for_for_ever),
        cmocka_unit_test(workspaces_that_nobody_takes_back_are_overwritten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
