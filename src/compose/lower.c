/*
 * From stages to legs. A leg that is a plan grows stage by stage, in the order in which a plan does
 * things: zeros are added, operators, forward, operators, inverse, operators, a crop; or, from a
 * spectrum on, operators, inverse, operators, forward, operators. A stage that comes before what
 * the leg has already begins the next one.
 */
#include "compose/compose.h"

#include "support/axis.h"
#include "support/error.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* What the leg that is being made has come to. */
typedef enum leg_phase {
    NO_LEG,
    BEFORE,           /* in real space, with zeros or operators */
    IN_SPECTRUM,      /* behind a forward transform */
    FROM_SPECTRUM,    /* it begins with a spectrum, and has operators there */
    AFTER,            /* behind an inverse transform */
    BACK_IN_SPECTRUM, /* behind an inverse transform and the forward one of the same axes */
    CROPPED,
    EMBEDDED /* a copy into zeros, which a plan must follow */
} leg_phase;

typedef struct lowering {
    const weft_composition_problem *problem;
    weft_leg_abilities can;
    weft_leg *leg; /* [legs] */
    int legs, outputs;
    int number; /* of the stage */
    leg_phase phase;
    /* The array: its extents in real space, whether it is a spectrum, and of which axes. */
    int64_t n[WEFT_MAX_RANK], fields;
    bool spectral, knows_axes;
    weft_axis axis[WEFT_MAX_RANK];
} lowering;

static weft_leg *last_leg(const lowering *l) {
    return &l->leg[l->legs - 1];
}

/* The problem's kind, by what its axes are. */
static weft_kind kind_of(const lowering *l, const weft_axis *axis) {
    if (l->problem->kind == WEFT_C2C) return WEFT_C2C;
    for (int a = 0; a < l->problem->rank; a++)
        if (weft_axis_is_fourier(axis[a])) return WEFT_R2C;
    return WEFT_R2R;
}

/* The axis along which the array is half a spectrum, or -1. */
static int halved_axis(const lowering *l) {
    weft_problem now = {.rank = l->problem->rank, .kind = kind_of(l, l->axis)};
    memcpy(now.axis, l->axis, sizeof now.axis);
    return weft_axis_halved(&now);
}

static void set_axes(const lowering *l, weft_leg *leg) {
    leg->problem.kind = kind_of(l, l->axis);
    memcpy(leg->problem.axis, l->axis, sizeof l->axis);
}

static weft_leg *add_leg(lowering *l, leg_phase phase) {
    const weft_composition_problem *p = l->problem;
    weft_leg *leg = &l->leg[l->legs++];
    *leg = (weft_leg){.first = l->number,
                      .last = l->number,
                      .forward = phase == FROM_SPECTRUM ? l->number : INT_MAX,
                      .inverse = INT_MAX,
                      .output = -1,
                      .kept = -1};
    leg->problem = (weft_problem){.rank = p->rank,
                                  .kind = p->kind,
                                  .precision = p->precision,
                                  .norm = p->norm,
                                  .batch = p->batch,
                                  .fields = l->fields,
                                  .fields_fastest = p->fields_fastest};
    memcpy(leg->problem.n, l->n, sizeof l->n);
    l->phase = phase;
    return leg;
}

/* Ends the leg before this stage. */
static weft_status end_leg(lowering *l) {
    const leg_phase phase = l->phase;
    if (phase == NO_LEG) return WEFT_SUCCESS;
    l->phase = NO_LEG;
    last_leg(l)->last = l->number - 1;
    if (phase == BEFORE || phase == FROM_SPECTRUM || phase == EMBEDDED)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "problem.stage[%d] has no transform behind it, which zeros and operators "
                         "are part of; give a stage %s next",
                         l->number - 1, l->spectral ? "inverse" : "forward");
    if (phase == IN_SPECTRUM) last_leg(l)->purpose.direction = WEFT_FORWARD;
    return WEFT_SUCCESS;
}

/* A plan behind the leg before. */
static weft_status begin_plan(lowering *l, leg_phase phase) {
    if (l->phase != EMBEDDED) WEFT_TRY(end_leg(l));
    add_leg(l, phase);
    return WEFT_SUCCESS;
}

/* A copy behind the leg before. */
static weft_status begin_copy(lowering *l, const weft_leg_copy *copy) {
    WEFT_TRY(end_leg(l));
    if (l->legs == 1 && last_leg(l)->copies)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "problem.stage[%d] follows another copy of a box at the beginning; make "
                         "both one stage",
                         l->number);
    weft_leg *leg = add_leg(l, copy->embeds ? EMBEDDED : NO_LEG);
    leg->copies = true;
    leg->copy = *copy;
    return WEFT_SUCCESS;
}

static weft_status needs(const lowering *l, bool spectral, const char *what) {
    if (l->spectral == spectral) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                     "problem.stage[%d] is %s, but the array there is %s", l->number, what,
                     l->spectral ? "a spectrum; give a stage inverse before"
                                 : "in real space; give a stage forward before");
}

/* ---- transforms ---- */

/* A forward stage right behind another one: both are one transform. The first has halved real
 * lines, so that axis stays the halved one. */
static weft_status merge_axes(lowering *l, const weft_axis *more) {
    const int halved = halved_axis(l);
    for (int a = 0; a < l->problem->rank; a++) {
        if (more[a] == WEFT_AXIS_NONE) continue;
        if (l->axis[a] != WEFT_AXIS_NONE)
            return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                             "problem.stage[%d].axis[%d] is %s, but the axis is transformed "
                             "already; make it WEFT_AXIS_NONE",
                             l->number, a, weft_axis_name(more[a]));
        l->axis[a] = more[a];
        if (halved >= 0 && more[a] == WEFT_AXIS_OF_KIND && a > halved)
            l->axis[halved] = WEFT_AXIS_REAL;
    }
    return WEFT_SUCCESS;
}

static bool is_forward(const lowering *l, int number) {
    return number < l->problem->stages && l->problem->stage[number].kind == WEFT_STAGE_FORWARD;
}

/* The points of which a leg's spectrum is one. */
static const int64_t *spectrum_of(const weft_leg *leg) {
    return leg->problem.truncate_to[0] > 0 ? leg->problem.truncate_to : leg->problem.n;
}

static bool same_extents(const lowering *l, const int64_t *one, const int64_t *other) {
    return memcmp(one, other, (size_t)l->problem->rank * sizeof *one) == 0;
}

/* The extents behind stage `number`, which embeds or crops an array of n points. */
static void extents_behind(const lowering *l, int number, const int64_t *n, int64_t *behind) {
    for (int a = 0; a < l->problem->rank; a++) {
        const int64_t given = l->problem->stage[number].n[a];
        behind[a] = given != 0 ? given : n[a];
    }
}

/* Whether what follows stage `number`, a forward one, leaves the spectrum with which the leg began:
 * a leg truncates both alike. */
static bool truncates_back(const lowering *l, int number) {
    const weft_leg *leg = last_leg(l);
    int64_t behind[WEFT_MAX_RANK];
    if (same_extents(l, spectrum_of(leg), l->n)) return true;
    if (number + 1 == l->problem->stages || l->problem->stage[number + 1].kind != WEFT_STAGE_CROP)
        return false;
    extents_behind(l, number + 1, l->n, behind);
    return same_extents(l, behind, spectrum_of(leg));
}

/* Whether the leg so far is an inverse transform that a forward one, stage `number`, can follow in
 * one plan: along the same axes, of as many points. */
static bool goes_back(const lowering *l, int number) {
    return l->can.go_back && l->phase == AFTER && is_forward(l, number) &&
           !is_forward(l, number + 1) && last_leg(l)->purpose.direction == WEFT_INVERSE &&
           memcmp(l->problem->stage[number].axis, l->axis,
                  (size_t)l->problem->rank * sizeof *l->axis) == 0 &&
           truncates_back(l, number);
}

static weft_status add_forward(lowering *l, const weft_stage *stage) {
    const bool follows = l->number > 0 && stage[-1].kind == WEFT_STAGE_FORWARD;
    if (goes_back(l, l->number)) {
        last_leg(l)->purpose.direction = WEFT_PSEUDOSPECTRAL;
        last_leg(l)->forward = l->number;
        l->phase = BACK_IN_SPECTRUM;
        l->spectral = true;
        return WEFT_SUCCESS;
    }
    if (follows) {
        WEFT_TRY(merge_axes(l, stage->axis));
    } else {
        WEFT_TRY(needs(l, false, "forward"));
        if (l->phase != BEFORE) WEFT_TRY(begin_plan(l, BEFORE));
        memcpy(l->axis, stage->axis, sizeof l->axis);
    }
    set_axes(l, last_leg(l));
    last_leg(l)->forward = l->number;
    l->phase = IN_SPECTRUM;
    l->spectral = l->knows_axes = true;
    return WEFT_SUCCESS;
}

/* What a spectrum is one of, which only the first stage to ask for it can say. */
static weft_status learn_axes(lowering *l, const weft_stage *stage) {
    static const weft_axis none[WEFT_MAX_RANK];
    if (l->knows_axes && memcmp(stage->axis, none, sizeof none) != 0)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "problem.stage[%d].axis is given, but the stages before it say already "
                         "which axes are transformed; leave it 0",
                         l->number);
    if (!l->knows_axes) memcpy(l->axis, stage->axis, sizeof l->axis);
    l->knows_axes = true;
    return WEFT_SUCCESS;
}

static bool begins_in_spectrum(const lowering *l) {
    return l->spectral &&
           (l->phase == NO_LEG || l->phase == EMBEDDED || l->phase == BACK_IN_SPECTRUM);
}

static weft_status add_inverse(lowering *l, const weft_stage *stage) {
    WEFT_TRY(needs(l, true, "inverse"));
    WEFT_TRY(learn_axes(l, stage));
    const bool smaller = l->phase == IN_SPECTRUM && !same_extents(l, l->n, last_leg(l)->problem.n);
    if (begins_in_spectrum(l) || smaller) WEFT_TRY(begin_plan(l, FROM_SPECTRUM));
    set_axes(l, last_leg(l));
    last_leg(l)->purpose.direction = l->phase == IN_SPECTRUM ? WEFT_CONVOLVE : WEFT_INVERSE;
    last_leg(l)->inverse = l->number;
    memcpy(last_leg(l)->problem.crop_to, l->n, sizeof l->n); /* all, whatever was added */
    l->phase = AFTER;
    l->spectral = false;
    return WEFT_SUCCESS;
}

/* The list of the leg's plan that operators join here. */
static weft_operators *list_of(const lowering *l) {
    weft_leg *leg = last_leg(l);
    switch (l->phase) {
    case BEFORE:
        return &leg->problem.load;
    case IN_SPECTRUM:
    case BACK_IN_SPECTRUM:
        return &leg->problem.spectral;
    case FROM_SPECTRUM:
        return &leg->purpose.resume;
    default:
        return &leg->problem.store;
    }
}

/* A matrix at this stage: behind a forward stage or, where a plan goes back to the spectrum,
 * between an inverse one and a forward one of the same axes. */
static weft_status make_fields(lowering *l, const weft_stage *stage) {
    const bool as_many = l->phase == BACK_IN_SPECTRUM && stage->result_fields == l->fields;
    if (l->phase != IN_SPECTRUM && !goes_back(l, l->number + 1) && !as_many)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "problem.stage[%d].result_fields is %lld, but fields are made from fields "
                         "behind a forward stage, once in a plan, or between an inverse and a "
                         "forward one of the same axes, on the plan's device; leave it 0",
                         l->number, (long long)stage->result_fields);
    if (!as_many) last_leg(l)->problem.result_fields = l->fields = stage->result_fields;
    return WEFT_SUCCESS;
}

static weft_status add_pointwise(lowering *l, const weft_stage *stage) {
    const bool stores = l->phase == AFTER && last_leg(l)->problem.store.count == 0;
    const bool ends = l->phase == BACK_IN_SPECTRUM && last_leg(l)->problem.spectral.count == 0;
    if (!l->spectral && l->phase != BEFORE && !stores) WEFT_TRY(begin_plan(l, BEFORE));
    if (begins_in_spectrum(l) && !ends) WEFT_TRY(begin_plan(l, FROM_SPECTRUM));
    weft_operators *list = list_of(l);
    if (list->count > 0)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "problem.stage[%d] has operators right behind others; give all in one "
                         "list",
                         l->number);
    if (stage->operators.count < 1 || !stage->operators.list)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "problem.stage[%d].operators is empty; give a list", l->number);
    *list = stage->operators;
    return stage->result_fields == 0 ? WEFT_SUCCESS : make_fields(l, stage);
}

/* ---- extents ---- */

/* Whether a spectrum of n points along each axis can become one of other points in a plan. */
static bool can_truncate(const lowering *l, const int64_t *n) {
    bool transformed = true;
    for (int a = 0; a < l->problem->rank; a++)
        transformed = transformed && (n[a] == l->n[a] || l->axis[a] != WEFT_AXIS_NONE);
    return l->can.go_back && transformed;
}

/* The leg that has made the spectrum stores fewer frequencies, if nothing was done with them yet.
 */
static bool join_truncation(lowering *l, const int64_t *n) {
    weft_leg *leg = l->legs > 0 ? last_leg(l) : NULL;
    const bool ends = l->phase == IN_SPECTRUM || l->phase == BACK_IN_SPECTRUM;
    if (!ends || leg->problem.spectral.count > 0 || leg->purpose.keeps || !can_truncate(l, n))
        return false;
    if (l->phase == BACK_IN_SPECTRUM && !same_extents(l, n, spectrum_of(leg))) return false;
    memcpy(leg->problem.truncate_to, n, (size_t)l->problem->rank * sizeof *n);
    return true;
}

/* An inverse stage that follows takes zeros at the other frequencies: of the leg so far, if the
 * spectrum had as many points there, or of the next one. */
static weft_status join_zeros(lowering *l, const int64_t *n, bool *joins) {
    const int next = l->number + 1;
    *joins = can_truncate(l, n) && next < l->problem->stages &&
             l->problem->stage[next].kind == WEFT_STAGE_INVERSE;
    if (!*joins || (l->phase == IN_SPECTRUM && same_extents(l, n, last_leg(l)->problem.n)))
        return WEFT_SUCCESS;
    if (l->phase != FROM_SPECTRUM) WEFT_TRY(begin_plan(l, FROM_SPECTRUM));
    weft_problem *p = &last_leg(l)->problem;
    memcpy(p->truncate_to, l->n, (size_t)l->problem->rank * sizeof *n);
    memcpy(p->n, n, (size_t)l->problem->rank * sizeof *n);
    return WEFT_SUCCESS;
}

/* A spectrum becomes that of more points or fewer. */
static weft_status add_frequencies(lowering *l, const weft_stage *stage) {
    const bool embeds = stage->kind == WEFT_STAGE_EMBED;
    weft_leg_copy copy = {.embeds = embeds, .frequencies = true};
    int64_t n[WEFT_MAX_RANK] = {0};
    WEFT_TRY(learn_axes(l, stage));
    extents_behind(l, l->number, l->n, n);
    copy.real = kind_of(l, l->axis) == WEFT_R2R;
    const int halved = halved_axis(l);
    for (int a = 0; a < l->problem->rank; a++) {
        if (stage->lo[a] != 0 || stage->step[a] > 1 || stage->step[a] < 0)
            return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                             "problem.stage[%d].%s[%d] is given, but the frequencies of a spectrum "
                             "have their own places; leave it 0",
                             l->number, stage->lo[a] != 0 ? "lo" : "step", a);
        if (n[a] < 1 || (embeds ? n[a] < l->n[a] : n[a] > l->n[a]))
            return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                             "problem.stage[%d].n[%d] is %lld, but the array is the spectrum of "
                             "%lld points; give %s",
                             l->number, a, (long long)stage->n[a], (long long)l->n[a],
                             embeds ? "no fewer" : "1 or more, but no more than that");
        const bool half = a == halved, signs = weft_axis_is_fourier(l->axis[a]) && !half;
        const int64_t less = embeds ? l->n[a] : n[a], more = embeds ? n[a] : l->n[a];
        copy.step[a] = 1;
        copy.n[a] = half ? less / 2 + 1 : less;
        copy.most[a] = half ? more / 2 + 1 : more;
        copy.low[a] = signs ? (less + 1) / 2 : copy.n[a];
    }
    bool joins = false;
    if (embeds)
        WEFT_TRY(join_zeros(l, n, &joins));
    else
        joins = join_truncation(l, n);
    if (!joins) WEFT_TRY(begin_copy(l, &copy));
    memcpy(l->n, n, sizeof l->n);
    return WEFT_SUCCESS;
}

static weft_status add_embedding(lowering *l, const weft_stage *stage) {
    weft_leg_copy copy = {.embeds = true, .real = l->problem->kind == WEFT_R2C};
    bool inside = false;
    for (int a = 0; a < l->problem->rank; a++) {
        const int64_t n = stage->n[a] > 0 ? stage->n[a] : l->n[a];
        inside = inside || stage->lo[a] != 0;
        copy.lo[a] = stage->lo[a];
        copy.step[a] = 1;
        copy.n[a] = copy.low[a] = l->n[a];
        copy.most[a] = n;
        if (stage->n[a] < 0 || stage->lo[a] < 0 || stage->lo[a] > n - l->n[a])
            return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                             "problem.stage[%d] embeds %lld indices from index lo[%d], %lld, on "
                             "into n[%d], %lld, which do not hold them",
                             l->number, (long long)l->n[a], a, (long long)stage->lo[a], a,
                             (long long)stage->n[a]);
    }
    if (l->phase == BEFORE && last_leg(l)->problem.load.count > 0)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "problem.stage[%d] adds zeros behind operators; add them before",
                         l->number);
    if (inside) {
        WEFT_TRY(begin_copy(l, &copy));
        memcpy(l->n, copy.most, sizeof l->n);
        return WEFT_SUCCESS;
    }
    if (l->phase != BEFORE) WEFT_TRY(begin_plan(l, BEFORE));
    weft_problem *p = &last_leg(l)->problem;
    for (int a = 0; a < l->problem->rank; a++) {
        if (p->pad_from[a] == 0) p->pad_from[a] = l->n[a];
        p->n[a] = l->n[a] = copy.most[a];
    }
    return WEFT_SUCCESS;
}

static weft_status add_crop(lowering *l, const weft_stage *stage) {
    weft_leg_copy copy = {.real = l->problem->kind == WEFT_R2C};
    int64_t reach[WEFT_MAX_RANK] = {0};
    bool first_ones = true;
    for (int a = 0; a < l->problem->rank; a++) {
        const int64_t lo = stage->lo[a], step = stage->step[a] > 0 ? stage->step[a] : 1;
        const bool begins = lo >= 0 && lo < l->n[a] && stage->step[a] >= 0;
        const int64_t most = begins ? (l->n[a] - 1 - lo) / step + 1 : 0;
        const int64_t n = stage->n[a] != 0 ? stage->n[a] : most;
        if (n < 1 || n > most)
            return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                             "problem.stage[%d] keeps every %lld-th index along axis %d, %lld from "
                             "%lld on, of an array of %lld; choose n, lo and step inside it",
                             l->number, (long long)stage->step[a], a, (long long)stage->n[a],
                             (long long)lo, (long long)l->n[a]);
        copy.lo[a] = lo;
        copy.step[a] = step;
        copy.n[a] = copy.low[a] = n;
        reach[a] = lo + step * (n - 1) + 1;
        first_ones = first_ones && lo == 0 && (step == 1 || n == 1);
    }
    if (l->legs == 0 || l->phase == BEFORE || l->phase == EMBEDDED)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "problem.stage[%d] crops what no transform before it has made; crop "
                         "behind one",
                         l->number);
    if (l->phase == AFTER || l->phase == CROPPED) {
        memcpy(last_leg(l)->problem.crop_to, reach, sizeof reach);
        memcpy(l->n, reach, sizeof reach);
        l->phase = CROPPED;
        if (first_ones) return WEFT_SUCCESS;
    }
    memcpy(copy.most, l->n, sizeof l->n);
    WEFT_TRY(begin_copy(l, &copy));
    memcpy(l->n, copy.n, sizeof copy.n);
    return WEFT_SUCCESS;
}

/* ---- the rest ---- */

static bool has_matrix(const weft_operators *list) {
    bool has = false;
    for (int k = 0; k < list->count; k++) {
        const size_t size = list->list[0].struct_size;
        const char *at = (const char *)list->list + (size_t)k * (size ? size : sizeof *list->list);
        has = has || weft_operator_is_matrix((const weft_operator *)(const void *)at);
    }
    return has;
}

static weft_status add_copy_out(lowering *l, const weft_stage *stage) {
    weft_leg *leg = l->legs > 0 ? last_leg(l) : NULL;
    const bool turns = l->number + 1 < l->problem->stages && stage[1].kind == WEFT_STAGE_INVERSE;
    if (l->phase == IN_SPECTRUM && turns && l->can.keep && !has_matrix(&leg->problem.spectral) &&
        same_extents(l, l->n, leg->problem.n)) {
        leg->purpose.keeps = true;
        leg->kept = l->outputs++;
        return WEFT_SUCCESS;
    }
    WEFT_TRY(end_leg(l));
    if (!leg || leg->output >= 0)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "problem.stage[%d] copies out what the caller has already; give a stage "
                         "that changes the array before it",
                         l->number);
    leg->output = l->outputs++;
    leg->last = l->number;
    return WEFT_SUCCESS;
}

/* Whether a problem begins with the array as it is. */
static weft_status check_problem(const lowering *l, const weft_problem *p, weft_direction dir) {
    const weft_composition_problem *mine = l->problem;
    const bool inverse = dir == WEFT_INVERSE;
    const char *what = NULL;
    if (p->rank != mine->rank) what = "rank";
    if (p->precision != mine->precision) what = "precision";
    if ((p->kind == WEFT_C2C) != (mine->kind == WEFT_C2C)) what = "kind";
    if ((p->batch ? p->batch : 1) != (mine->batch ? mine->batch : 1)) what = "batch";
    if ((p->fields ? p->fields : 1) != (l->fields ? l->fields : 1)) what = "fields";
    if (p->fields_fastest != mine->fields_fastest) what = "fields_fastest";
    for (int a = 0; a < mine->rank && !what; a++) {
        const int64_t n = p->pad_from[a] > 0 && !inverse ? p->pad_from[a] : p->n[a];
        if (n != l->n[a]) what = "n or pad_from";
        if (inverse && l->knows_axes && p->axis[a] != l->axis[a]) what = "axis";
    }
    if (l->number > 0 && (inverse ? p->spectral_storage : p->load_storage) != 0)
        what = inverse ? "spectral_storage" : "load_storage";
    if (what)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "problem.stage[%d].problem has another %s than the array has there",
                         l->number, what);
    const weft_storage stored = dir == WEFT_FORWARD ? p->spectral_storage : p->store_storage;
    if (stored != WEFT_STORAGE_SAME && l->number + 1 < mine->stages)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "problem.stage[%d].problem stores other numbers than stages work on, "
                         "which only the last stage may do",
                         l->number);
    bool elsewhere = p->input || p->output || p->in_batch_stride || p->out_batch_stride;
    for (int a = 0; a < p->rank; a++) elsewhere = elsewhere || p->in_stride[a] || p->out_stride[a];
    if (!elsewhere) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "problem.stage[%d].problem has bricks or strides, but arrays of compositions "
                     "are row-major; leave input, output and strides 0",
                     l->number);
}

static weft_status add_problem(lowering *l, const weft_stage *stage) {
    const weft_direction dir = stage->direction;
    if (!stage->problem || dir < WEFT_FORWARD || dir > WEFT_CONVOLVE)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "problem.stage[%d].%s", l->number,
                         stage->problem ? "direction is none of its values 0..2"
                                        : "problem is NULL; give one");
    WEFT_TRY(needs(l, dir == WEFT_INVERSE, "a problem"));
    WEFT_TRY(begin_plan(l, NO_LEG));
    weft_leg *leg = last_leg(l);
    weft_problem *p = &leg->problem;
    WEFT_TRY(weft_versioned_read(weft_problem_versions, stage->problem, p, "stage.problem"));
    p->struct_size = 0;
    WEFT_TRY(check_problem(l, p, dir));
    leg->purpose.direction = dir;
    leg->forward = leg->inverse = l->number; /* there is no stage in between */
    l->spectral = dir == WEFT_FORWARD;
    l->knows_axes = true;
    memcpy(l->axis, p->axis, sizeof l->axis);
    if (p->result_fields > 0 && dir != WEFT_INVERSE) l->fields = p->result_fields;
    for (int a = 0; a < p->rank; a++) {
        const int64_t kept = p->crop_to[a] > 0 ? p->crop_to[a] : p->pad_from[a];
        l->n[a] = dir != WEFT_FORWARD && kept > 0 ? kept : p->n[a];
    }
    return WEFT_SUCCESS;
}

static weft_status add_stage(lowering *l, const weft_stage *stage) {
    switch (stage->kind) {
    case WEFT_STAGE_FORWARD:
        return add_forward(l, stage);
    case WEFT_STAGE_INVERSE:
        return add_inverse(l, stage);
    case WEFT_STAGE_POINTWISE:
        return add_pointwise(l, stage);
    case WEFT_STAGE_EMBED:
        return l->spectral ? add_frequencies(l, stage) : add_embedding(l, stage);
    case WEFT_STAGE_CROP:
        return l->spectral ? add_frequencies(l, stage) : add_crop(l, stage);
    case WEFT_STAGE_COPY_OUT:
        return add_copy_out(l, stage);
    case WEFT_STAGE_PROBLEM:
        return add_problem(l, stage);
    }
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "problem.stage[%d].kind is %d; it is 0 to %d",
                     l->number, (int)stage->kind, (int)WEFT_STAGE_PROBLEM);
}

static weft_status end_result(lowering *l) {
    bool transforms = false;
    WEFT_TRY(end_leg(l));
    for (int i = 0; i < l->legs; i++) transforms = transforms || !l->leg[i].copies;
    if (!transforms)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "problem.stage has no transform; give a stage forward or inverse");
    if (last_leg(l)->output >= 0)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "problem.stage[%d] copies out the result, which is an array of the "
                         "caller's anyway; leave it out",
                         l->number - 1);
    last_leg(l)->output = l->outputs++;
    return WEFT_SUCCESS;
}

weft_status weft_compose_lower(const weft_composition_problem *problem, weft_leg_abilities can,
                               weft_leg **legs, int *count, int *outputs) {
    lowering l = {.problem = problem,
                  .can = can,
                  .fields = problem->fields,
                  .spectral = problem->begin == WEFT_OUTPUT};
    *legs = l.leg = calloc((size_t)problem->stages, sizeof *l.leg);
    if (!l.leg) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a composition");
    memcpy(l.n, problem->n, sizeof l.n);
    for (; l.number < problem->stages; l.number++)
        WEFT_TRY(add_stage(&l, &problem->stage[l.number]));
    WEFT_TRY(end_result(&l));
    *count = l.legs;
    *outputs = l.outputs;
    return WEFT_SUCCESS;
}
