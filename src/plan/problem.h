/* Problem and options as given: copied by version, checked on each rank, compared between ranks. */
#ifndef WEFT_PLAN_PROBLEM_H
#define WEFT_PLAN_PROBLEM_H

#include "operator/operator.h"
#include "plan/line.h"
#include "support/axis.h"
#include "support/versioned.h"
#include "transport/transport.h"

enum { WEFT_MAX_THREADS = 4096 }; /* of options.threads */

/* A direction beside those of weft.h, of plans that belong to compositions: from a spectrum to real
 * space, through operators there, and forward again, as pseudo-spectral methods go. */
#define WEFT_PSEUDOSPECTRAL ((weft_direction)3)
enum { WEFT_DIRECTIONS = 4 };

static inline bool weft_goes_both_ways(weft_direction direction) {
    return direction == WEFT_CONVOLVE || direction == WEFT_PSEUDOSPECTRAL;
}

/* The space as whose array an execution's first array counts, and that of its result. There and
 * back they are those of real space, whatever they hold, for they may differ in size. */
static inline weft_space weft_space_of_first(weft_direction direction) {
    return direction == WEFT_INVERSE ? WEFT_OUTPUT : WEFT_INPUT;
}
static inline weft_space weft_space_of_result(weft_direction direction) {
    return direction == WEFT_FORWARD ? WEFT_OUTPUT : WEFT_RESULT;
}

static inline bool weft_begins_with_spectrum(weft_direction direction) {
    return direction == WEFT_INVERSE || direction == WEFT_PSEUDOSPECTRAL;
}
static inline bool weft_ends_with_spectrum(weft_direction direction) {
    return direction == WEFT_FORWARD || direction == WEFT_PSEUDOSPECTRAL;
}
/* "forward", "inverse", "convolve" or "pseudospectral". */
const char *weft_direction_name(weft_direction direction);

/* What a line over several ranks is multiplied by between its transforms. */
typedef struct weft_line_operators {
    weft_operator_list twiddles[2];   /* [direction] */
    weft_operator_list half_spectrum; /* makes a spectrum of half a one */
    weft_operator item[3];            /* of these lists */
} weft_line_operators;

/* Callers' arrays that are not row-major, by weft_space. */
typedef struct weft_call_strides {
    bool given[2];            /* the array has strides of its own: ... */
    int64_t of[2][WEFT_AXES]; /* ... these, the batch last */
    bool differ;              /* the arrays are not one view of the same numbers */
} weft_call_strides;

/* What a plan that belongs to a composition or a convolution shares with others. */
typedef struct weft_shared_memory {
    /* The device of another plan, which is destroyed later, so that both find each other's memory;
     * NULL: the plan opens one of its own. */
    const struct weft_device_handle *device;
    /* Another plan made ready, which is never executed at the same time and is destroyed later: its
     * workspaces are used where they are large enough. NULL: none. */
    const struct weft_build *lender;
    size_t beside; /* bytes of the device's memory that are left for what is allocated later */
} weft_shared_memory;

/* The caller's structs, completed with defaults. Bricks and operators are copied; the problem's own
 * pointers to them are NULL. */
typedef struct weft_call {
    weft_problem problem;
    weft_parity parity;
    weft_options options;
    weft_storage spectrum_storage; /* of what an inverse transform loads */
    bool has_input, has_output;
    unsigned directions; /* bit d: this weft_direction may be planned */
    weft_shared_memory memory;
    weft_brick input, output;
    weft_call_strides strides;
    weft_operator_list operators[WEFT_PLACES]; /* with the scaling of problem.norm */
    weft_operator_settings
        settings; /* that the lists' operators read, as the caller set them last */
    /* A line over several ranks, once weft_call_split_line was called. The problem is then one with
     * two axes, of WEFT_C2C unless the line is scattered. */
    weft_line line;
    weft_line_operators line_operators;
} weft_call;

/* What a plan that belongs to a composition is for (src/compose). */
typedef struct weft_purpose {
    weft_direction direction; /* the only one that is executed */
    bool keeps;               /* a convolution's spectrum is stored, too */
    bool scatters;            /* a line over several ranks is scattered (plan/line.h) */
    weft_parity parity;
    weft_operators resume; /* on the spectrum, as an inverse transform loads it */
    weft_shared_memory memory;
} weft_purpose;

/* For reading and writing a caller's problem and options. */
extern const weft_versioned weft_problem_versions, weft_options_versions;

/* Copies and checks the arguments of weft_plan_create for a group of `ranks`. Without a purpose the
 * plan is the caller's own. The caller releases the call, also after a failure. Not collective. */
weft_status weft_call_read(const weft_problem *problem, const weft_options *options,
                           const weft_purpose *purpose, int ranks, weft_call *call);
void weft_call_release(weft_call *call);

/* Whether a direction may be planned; and whether no other one is. */
static inline bool weft_call_plans(const weft_call *call, weft_direction direction) {
    return call->directions >> direction & 1;
}
static inline bool weft_call_only(const weft_call *call, weft_direction direction) {
    return call->directions == 1u << direction;
}
/* The first direction that may be planned, by which candidates are predicted and measured. */
static inline weft_direction weft_call_first_direction(const weft_call *call) {
    int direction = WEFT_FORWARD;
    while (!weft_call_plans(call, (weft_direction)direction)) direction++;
    return (weft_direction)direction;
}

/* Makes a line over several ranks a problem of two axes (plan/line.h); leaves other problems alone.
 * Ranks compare their calls before. The call must stay where it is. */
void weft_call_split_line(weft_call *call, int ranks);

/* What the caller's array at a place holds. */
weft_storage weft_call_storage(const weft_call *call, weft_operator_place place);

/* The global array that operators of a place see, with room for its extents; and the bytes that all
 * operators hold. */
weft_operator_space weft_call_space(const weft_call *call, weft_operator_place place, int64_t *n);
size_t weft_call_operator_bytes(const weft_call *call);

/* Reads and checks the strides of the problem, which is complete but for operators (strides.c). */
weft_status weft_call_read_strides(weft_call *call, int ranks);

/* Whether in == out is allowed in this direction. */
bool weft_call_allows_in_place(const weft_call *call, weft_direction direction);

/* Sets the range of bytes, from the address of element 0 on, of the caller's array at a place, in a
 * space that is strided. */
void weft_call_reach(const weft_call *call, weft_operator_place place, int64_t *first,
                     int64_t *end);

/* Fails on all ranks when some rank's arguments differ from rank 0's, naming rank and argument.
 * Collective. */
weft_status weft_call_compare(weft_transport *transport, const weft_call *call);

/* A number that differs where two calls differ in anything but bricks: problem, options, operators,
 * and what they are for. */
uint64_t weft_call_hash(const weft_call *call);

/* All ranks' boxes in one space, checked to tile the global array. The caller frees *boxes.
 * Collective. */
weft_status weft_call_gather_boxes(weft_transport *transport, const weft_call *call,
                                   weft_space space, weft_region **boxes);

/* Members of the batch, all fields of each: those of a forward transform's input, or of an inverse
 * one's. */
int64_t weft_call_members(const weft_call *call, weft_direction direction);
int64_t weft_call_fields(const weft_call *call, weft_direction direction);
/* Fields of a point that operators of a place see, and those that they leave. */
int64_t weft_call_fields_at(const weft_call *call, weft_operator_place place);
int64_t weft_call_fields_behind(const weft_call *call, weft_operator_place place);

/* Fails where a field of a caller's struct is not one of its values 0 to last. */
weft_status weft_check_range(const char *name, int value, int last);

/* Global extents in a space, with the batch last. */
void weft_call_extents(const weft_call *call, weft_space space, int64_t *n);

#endif
