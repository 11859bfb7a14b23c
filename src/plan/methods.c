/* The table of methods, and which of them a chain can use. */
#include "plan/methods.h"

#include "support/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Best first among equals. */
static const struct {
    weft_exchange method;
    weft_method_need need;
} table[WEFT_CANDIDATE_METHODS] = {
    {WEFT_PEER, WEFT_NEEDS_READABLE_MEMORY}, {WEFT_NCCL, WEFT_NEEDS_OWN_DEVICES},
    {WEFT_P2P_SYNC, WEFT_NEEDS_NOTHING},     {WEFT_A2A_SYNC, WEFT_NEEDS_NOTHING},
    {WEFT_P2P_TYPE, WEFT_NEEDS_NOTHING},     {WEFT_P2P_STREAMS, WEFT_NEEDS_NOTHING},
    {WEFT_A2A_TYPE, WEFT_NEEDS_NOTHING}};

weft_method_need weft_method_needs(weft_exchange method) {
    for (int i = 0; i < WEFT_CANDIDATE_METHODS; i++)
        if (table[i].method == method) return table[i].need;
    return WEFT_NEEDS_NOTHING; /* one that weft does not choose by itself */
}

static int usual_number(void) {
    int i = 0;
    while (table[i].need != WEFT_NEEDS_NOTHING) i++;
    return i;
}

weft_exchange weft_method_usual(void) {
    return table[usual_number()].method;
}

weft_exchange weft_method_numbered(int number) {
    return table[number].method;
}

/* Whether weft may choose methods with this need by itself. Who asks for staged messages gets
 * messages, and nobody knows the nodes of ranks that do not exist. */
static bool may_choose(const weft_planner *planner, weft_method_need need) {
    switch (need) {
    case WEFT_NEEDS_READABLE_MEMORY:
        return planner->addressable && planner->node &&
               planner->call->options.device_aware != WEFT_STAGED;
    case WEFT_NEEDS_OWN_DEVICES:
        return planner->own_device != NULL;
    default:
        return true;
    }
}

/* Two ranks of a group that do not fulfil a need; they are equal where all groups do. */
typedef struct obstacle {
    int one, other;
} obstacle;

/* Ranks of a group that are on two nodes. */
static obstacle nodes_apart(const weft_planner *planner, const weft_chain *chain,
                            int redistribution) {
    for (int r = 0; r < planner->ranks && planner->node; r++) {
        const int first = weft_chain_member(chain, redistribution, r, 0);
        if (planner->node[first] != planner->node[r]) return (obstacle){first, r};
    }
    return (obstacle){0, 0};
}

/* Ranks of a group that share a device. `user` is room for a number for each rank: the rank that
 * was last seen to use the device. */
static obstacle device_shared(const weft_planner *planner, const weft_chain *chain,
                              int redistribution, int *user) {
    for (int r = 0; r < planner->ranks; r++) user[r] = -1;
    for (int r = 0; r < planner->ranks; r++) {
        int color, key, size;
        weft_chain_group(chain, redistribution, r, &color, &key, &size);
        for (int m = 0; m < size && key == 0; m++) { /* each group once */
            const int member = weft_chain_member(chain, redistribution, r, m);
            const int before = user[planner->own_device[member]];
            user[planner->own_device[member]] = member;
            if (before >= 0 && weft_chain_member(chain, redistribution, before, 0) == r)
                return (obstacle){before, member};
        }
    }
    return (obstacle){0, 0};
}

static weft_status find_obstacle(const weft_planner *planner, const weft_chain *chain,
                                 int redistribution, weft_method_need need, obstacle *found) {
    *found = (obstacle){0, 0};
    if (need == WEFT_NEEDS_READABLE_MEMORY) *found = nodes_apart(planner, chain, redistribution);
    if (need != WEFT_NEEDS_OWN_DEVICES || !planner->own_device) return WEFT_SUCCESS;
    int *user = malloc((size_t)planner->ranks * sizeof *user);
    if (!user) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for %d ranks", planner->ranks);
    *found = device_shared(planner, chain, redistribution, user);
    free(user);
    return WEFT_SUCCESS;
}

/* The entry that the caller gave for a redistribution which uses entry `used`. */
static int entry_given(const weft_options *o, int used) {
    while (used > 0 && o->exchange[used] == WEFT_EXCHANGE_AUTO) used--;
    return used;
}

static weft_status refuse(const weft_planner *planner, int used, weft_exchange method,
                          obstacle found) {
    const int entry = entry_given(&planner->call->options, used);
    const char *name = weft_exchange_name(method);
    if (weft_method_needs(method) == WEFT_NEEDS_READABLE_MEMORY)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "options.exchange[%d] %s: ranks %d and %d of one redistribution are not "
                         "on one node, or cannot read each other's memory; choose %s there, or "
                         "leave it to weft",
                         entry, name, found.one, found.other,
                         weft_exchange_name(weft_method_usual()));
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "options.exchange[%d] %s: ranks %d and %d of one redistribution have the same "
                     "GPU, and %s wants one for each; start as many ranks as there are GPUs "
                     "(WEFT_CUDA_DEVICE chooses a rank's), or choose %s or %s there",
                     entry, name, found.one, found.other, name, weft_exchange_name(table[0].method),
                     weft_exchange_name(weft_method_usual()));
}

/* What the caller gave for a redistribution, which the groups must be able to use. */
static weft_status check_given(const weft_planner *planner, const weft_chain *chain,
                               int redistribution, weft_exchange method) {
    obstacle found;
    WEFT_TRY(find_obstacle(planner, chain, redistribution, weft_method_needs(method), &found));
    return found.one == found.other ? WEFT_SUCCESS
                                    : refuse(planner, chain->method[redistribution], method, found);
}

/* Which methods the groups of a redistribution can use, beside others with the same entry. */
static weft_status restrict_entry(const weft_planner *planner, const weft_chain *chain,
                                  int redistribution, bool *possible) {
    for (int i = 0; i < WEFT_CANDIDATE_METHODS; i++) {
        obstacle found;
        if (!possible[i]) continue;
        WEFT_TRY(find_obstacle(planner, chain, redistribution, table[i].need, &found));
        possible[i] = found.one == found.other;
    }
    return WEFT_SUCCESS;
}

static bool is_used(const weft_methods *methods, int entry) {
    for (int i = 0; i < methods->used_count; i++)
        if (methods->used[i] == entry) return true;
    return false;
}

/* Entries left 0 behind a given one repeat it; those before it are weft's to choose. */
static void read_given(const weft_options *o, weft_methods *methods) {
    while (methods->open < WEFT_MAX_RANK && o->exchange[methods->open] == WEFT_EXCHANGE_AUTO)
        methods->open++;
    for (int e = methods->open; e < WEFT_MAX_RANK; e++)
        methods->given[e] =
            o->exchange[e] == WEFT_EXCHANGE_AUTO ? methods->given[e - 1] : o->exchange[e];
}

weft_status weft_methods_find(const weft_planner *planner, const weft_chain *chain,
                              weft_methods *methods) {
    *methods = (weft_methods){.open = 0};
    read_given(&planner->call->options, methods);
    for (int e = 0; e < methods->open; e++)
        for (int i = 0; i < WEFT_CANDIDATE_METHODS; i++)
            methods->possible[e][i] = may_choose(planner, table[i].need);
    for (int k = 0; k + 1 < chain->segments; k++) {
        const int entry = chain->method[k];
        if (entry >= methods->open) {
            WEFT_TRY(check_given(planner, chain, k, methods->given[entry]));
            continue;
        }
        WEFT_TRY(restrict_entry(planner, chain, k, methods->possible[entry]));
        if (!is_used(methods, entry)) methods->used[methods->used_count++] = entry;
    }
    return WEFT_SUCCESS;
}

/* What the caller gave, and in open entries that no redistribution uses what is used elsewhere. */
static void fill_others(const weft_methods *methods, weft_exchange *exchange) {
    memcpy(exchange + methods->open, methods->given + methods->open,
           (size_t)(WEFT_MAX_RANK - methods->open) * sizeof *exchange);
    for (int e = 0; e < methods->open; e++)
        if (!is_used(methods, e))
            exchange[e] =
                methods->used_count > 0 ? exchange[methods->used[0]] : weft_method_usual();
}

bool weft_methods_alike(const weft_methods *methods, int number, int other, weft_exchange *exchange,
                        bool *everywhere) {
    int uses = 0;
    for (int i = 0; i < methods->used_count; i++) {
        const int e = methods->used[i];
        const bool possible = methods->possible[e][number];
        exchange[e] = table[possible ? number : other].method;
        uses += possible;
    }
    fill_others(methods, exchange);
    *everywhere = uses == methods->used_count;
    return uses > 0;
}

/* The number of the cheapest method of an entry, but for `without`; -1: there is none. */
static int cheapest(const weft_methods *methods, int entry, int without) {
    const double *cost = methods->cost[entry];
    int best = -1;
    for (int i = 0; i < WEFT_CANDIDATE_METHODS; i++)
        if (methods->possible[entry][i] && i != without && (best < 0 || cost[i] < cost[best]))
            best = i;
    return best;
}

/* Seconds of the redistributions by one method; infinite where some entry cannot use it. */
static double cost_alike(const weft_methods *methods, int number) {
    double sum = 0;
    for (int i = 0; i < methods->used_count; i++) {
        const int e = methods->used[i];
        sum += methods->possible[e][number] ? methods->cost[e][number] : INFINITY;
    }
    return sum;
}

bool weft_methods_mixture(const weft_methods *methods, int mixture, weft_exchange *exchange) {
    double sum = 0;
    for (int i = 0; i < methods->used_count; i++) {
        const int e = methods->used[i];
        int number = cheapest(methods, e, -1);
        if (i == mixture - 1) number = cheapest(methods, e, number);
        if (number < 0) return false;
        exchange[e] = table[number].method;
        sum += methods->cost[e][number];
    }
    fill_others(methods, exchange);
    for (int i = 0; i < WEFT_CANDIDATE_METHODS; i++)
        if (cost_alike(methods, i) <= sum) return false;
    return true;
}
