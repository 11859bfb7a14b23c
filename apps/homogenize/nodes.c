/* The exchange of nodes: each rank finds out of the boxes of all who needs what of whom. */
#include "nodes.h"

#include "support/error.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static size_t number_bytes(const homogenize_nodes *nodes) {
    return nodes->single ? sizeof(float) : sizeof(double);
}

/* ---- who needs what ---- */

/* The nodes around a box are 26 parts: its faces, edges and corners. */
enum { PARTS = 27, OWN = 13 };

static bool is_empty(const weft_box *box) {
    return box->n[0] == 0 || box->n[1] == 0 || box->n[2] == 0;
}

/* Part number `number` of what box `to` needs, as far as box `from` has it: where it lies among the
 * nodes of both, with those around. False where it has nothing of it. */
static bool find_piece(const weft_box *to, const weft_box *from, const int64_t n[3], int number,
                       nodes_piece *received, nodes_piece *sent) {
    const int side[3] = {number / 9 - 1, number / 3 % 3 - 1, number % 3 - 1};
    for (int a = 0; a < 3; a++) {
        int64_t lo = to->lo[a], count = to->n[a], at = 1;
        if (side[a] != 0) {
            lo = side[a] < 0 ? (to->lo[a] + n[a] - 1) % n[a] : (to->lo[a] + to->n[a]) % n[a];
            at = side[a] < 0 ? 0 : to->n[a] + 1;
            count = 1;
        }
        const int64_t begin = lo > from->lo[a] ? lo : from->lo[a];
        const int64_t end =
            lo + count < from->lo[a] + from->n[a] ? lo + count : from->lo[a] + from->n[a];
        if (end <= begin) return false;
        received->at[a] = at + begin - lo;
        sent->at[a] = begin - from->lo[a] + 1;
        received->n[a] = sent->n[a] = end - begin;
    }
    return true;
}

static bool has_room(nodes_side *side) {
    const int64_t pieces = side->pieces;
    if (pieces > 0 && (pieces & (pieces - 1)) != 0) return true; /* room is a power of two */
    nodes_piece *more = realloc(side->piece, (size_t)(pieces > 0 ? 2 * pieces : 1) * sizeof *more);
    if (more) side->piece = more;
    return more != NULL;
}

static bool add_piece(nodes_side *side, int rank, int components, const nodes_piece *piece) {
    const int64_t numbers = components * piece->n[0] * piece->n[1] * piece->n[2];
    if (side->numbers + numbers > INT_MAX || !has_room(side)) return false;
    side->piece[side->pieces++] = *piece;
    side->count[rank] += (int)numbers;
    side->numbers += numbers;
    return true;
}

/* What this rank, which has nodes->box, sends to a rank with that box and receives from it. */
static bool add_partner(homogenize_nodes *nodes, const int64_t n[3], int rank,
                        const weft_box *box) {
    nodes_piece received, sent;
    nodes->out.begin[rank] = (int)nodes->out.numbers;
    nodes->in.begin[rank] = (int)nodes->in.numbers;
    if (is_empty(&nodes->box) || is_empty(box)) return true;
    for (int number = 0; number < PARTS; number++) {
        if (number == OWN) continue;
        if (find_piece(&nodes->box, box, n, number, &received, &sent) &&
            !add_piece(&nodes->in, rank, nodes->components, &received))
            return false;
        if (find_piece(box, &nodes->box, n, number, &received, &sent) &&
            !add_piece(&nodes->out, rank, nodes->components, &sent))
            return false;
    }
    return true;
}

/* ---- room ---- */

static bool allocate_side(const homogenize_nodes *nodes, nodes_side *side) {
    side->message = malloc((size_t)side->numbers * number_bytes(nodes) + 1);
    return side->message != NULL;
}

weft_status homogenize_nodes_create(MPI_Comm comm, weft_plan plan, const int64_t n[3],
                                    int components, bool single, homogenize_nodes *nodes) {
    int rank;
    bool right = true;
    *nodes = (homogenize_nodes){.comm = comm, .components = components, .single = single};
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &nodes->ranks);
    nodes_side *const sides[2] = {&nodes->out, &nodes->in};
    for (int s = 0; s < 2; s++) {
        sides[s]->count = calloc((size_t)nodes->ranks, sizeof(int));
        sides[s]->begin = calloc((size_t)nodes->ranks, sizeof(int));
        right = right && sides[s]->count && sides[s]->begin;
    }
    WEFT_TRY(weft_plan_box(plan, WEFT_INPUT, rank, &nodes->box));
    for (int a = 0; a < 3 && !is_empty(&nodes->box); a++) nodes->wide[a] = nodes->box.n[a] + 2;
    for (int r = 0; r < nodes->ranks && right; r++) {
        weft_box box;
        WEFT_TRY(weft_plan_box(plan, WEFT_INPUT, r, &box));
        right = add_partner(nodes, n, r, &box);
    }
    const size_t count = (size_t)(components * homogenize_nodes_count(nodes));
    nodes->value = calloc(count + 1, number_bytes(nodes));
    if (right && nodes->value && allocate_side(nodes, &nodes->out) &&
        allocate_side(nodes, &nodes->in))
        return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                     "rank %d: no memory for %zu numbers at nodes, or for messages with those at "
                     "its faces; use more processes",
                     rank, count);
}

static void release_side(nodes_side *side) {
    free(side->piece);
    free(side->count);
    free(side->begin);
    free(side->message);
}

void homogenize_nodes_release(homogenize_nodes *nodes) {
    release_side(&nodes->out);
    release_side(&nodes->in);
    free(nodes->value);
    memset(nodes, 0, sizeof *nodes);
}

static size_t numbers_of(const homogenize_nodes *nodes) {
    return (size_t)(nodes->components * homogenize_nodes_count(nodes));
}

size_t homogenize_nodes_bytes(const homogenize_nodes *nodes) {
    return (numbers_of(nodes) + (size_t)(nodes->out.numbers + nodes->in.numbers)) *
           number_bytes(nodes);
}

void homogenize_nodes_clear(homogenize_nodes *nodes) {
    memset(nodes->value, 0, numbers_of(nodes) * number_bytes(nodes));
}

/* ---- exchange ---- */

static void copy_own(homogenize_nodes *nodes, const void *field) {
    const int64_t *n = nodes->box.n, *wide = nodes->wide;
    const size_t bytes = number_bytes(nodes);
    if (is_empty(&nodes->box)) return;
    for (int c = 0; c < nodes->components; c++)
        for (int64_t x = 0; x < n[0]; x++)
            for (int64_t y = 0; y < n[1]; y++) {
                const int64_t from = ((c * n[0] + x) * n[1] + y) * n[2];
                const int64_t to = ((c * wide[0] + x + 1) * wide[1] + y + 1) * wide[2] + 1;
                memcpy((char *)nodes->value + (size_t)to * bytes,
                       (const char *)field + (size_t)from * bytes, (size_t)n[2] * bytes);
            }
}

/* All pieces of a side, one behind the other in its message: into it, or out of it. */
static void copy_pieces(homogenize_nodes *nodes, const nodes_side *side, bool into) {
    const size_t bytes = number_bytes(nodes);
    char *message = side->message;
    for (int64_t i = 0; i < side->pieces; i++) {
        const nodes_piece *p = &side->piece[i];
        const size_t row = (size_t)p->n[2] * bytes;
        for (int c = 0; c < nodes->components; c++)
            for (int64_t x = p->at[0]; x < p->at[0] + p->n[0]; x++)
                for (int64_t y = p->at[1]; y < p->at[1] + p->n[1]; y++, message += row) {
                    const int64_t at =
                        ((c * nodes->wide[0] + x) * nodes->wide[1] + y) * nodes->wide[2] + p->at[2];
                    char *value = (char *)nodes->value + (size_t)at * bytes;
                    memcpy(into ? message : value, into ? value : message, row);
                }
    }
}

weft_status homogenize_nodes_take(homogenize_nodes *nodes, const void *field) {
    const MPI_Datatype type = nodes->single ? MPI_FLOAT : MPI_DOUBLE;
    const nodes_side *out = &nodes->out, *in = &nodes->in;
    copy_own(nodes, field);
    copy_pieces(nodes, out, true);
    if (MPI_Alltoallv(out->message, out->count, out->begin, type, in->message, in->count, in->begin,
                      type, nodes->comm) != MPI_SUCCESS)
        return weft_fail(WEFT_ERROR_TRANSPORT,
                         "MPI failed while the ranks exchanged what is at their boxes' faces");
    copy_pieces(nodes, in, false);
    return WEFT_SUCCESS;
}
