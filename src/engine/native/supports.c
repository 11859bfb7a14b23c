/* What the native engine takes: pieces, operators, real-to-real transforms, and what it needs. */
#include "engine/native/supports.h"

#include "engine/native/dispatch.h"
#include "engine/native/pass_group.h"
#include "engine/native/r2r_pass.h"
#include "engine/native/solver.h"
#include "engine/native/tuning.h"
#include "support/error.h"
#include "support/topology.h"

#include <stdlib.h>

weft_status weft_native_probe(const char **description) {
    const weft_kernels *kernels = weft_native_kernels(WEFT_DOUBLE);
    if (!kernels)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "native engine: WEFT_SIMD=%s names no instruction set of this machine",
                         getenv("WEFT_SIMD"));
    if (description) *description = kernels->description;
    return WEFT_SUCCESS;
}

int weft_native_in_order(const weft_transform *t, int i) {
    bool inverse = t->kind == WEFT_TRANSFORM_C2R ||
                   (t->kind != WEFT_TRANSFORM_R2C && t->direction == WEFT_INVERSE);
    return inverse ? i : t->dims - 1 - i;
}

static const weft_piece *largest(const weft_pieces *pieces) {
    const weft_piece *found = pieces->count > 0 ? &pieces->piece[0] : NULL;
    for (int k = 1; k < pieces->count; k++)
        if (pieces->piece[k].n > found->n) found = &pieces->piece[k];
    return found;
}

weft_transform weft_native_by_largest_pieces(const weft_transform *transform) {
    weft_transform t = *transform;
    const weft_piece *in = largest(&t.in_pieces), *out = largest(&t.out_pieces);
    for (int i = 0; i < t.loops; i++) {
        if (in) t.loop[i].in_stride = in->loop_stride[i];
        if (out) t.loop[i].out_stride = out->loop_stride[i];
    }
    for (int d = 0; d < t.dims; d++) {
        if (in) t.dim[d].in_stride = in->dim_stride[d];
        if (out) t.dim[d].out_stride = out->dim_stride[d];
    }
    return t;
}

/* Whether neighbours in memory, on either side, are in different planes of the last two dimensions:
 * lines of as many planes are then better done side by side, one dimension after the other. That
 * needs an input that may be overwritten where complex lines become real ones. However few indices
 * a loop has, its stride decides, so that a tile of the loop, down to one index, is done as the
 * whole loop is. */
static bool lies_across_planes(const weft_transform *transform) {
    const weft_transform strides = weft_native_by_largest_pieces(transform), *t = &strides;
    if (t->kind == WEFT_TRANSFORM_C2R && !t->destroy_input && t->in_pieces.count == 0) return false;
    for (int i = 0; i < t->loops + t->dims - 2; i++) {
        const weft_dimension *d = i < t->loops ? &t->loop[i] : &t->dim[i - t->loops];
        const bool several = i < t->loops || d->n > 1;
        if (several && (llabs(d->in_stride) == 1 || llabs(d->out_stride) == 1)) return true;
    }
    return false;
}

bool weft_native_plane_fits(const weft_transform *t) {
    if (t->dims < 2 || lies_across_planes(t)) return false;
    int64_t z = t->dim[t->dims - 1].n, y = t->dim[t->dims - 2].n;
    if (z > WEFT_NATIVE_LONGEST_TILE || y > WEFT_NATIVE_LONGEST_TILE) return false;
    bool c2r = t->kind == WEFT_TRANSFORM_C2R;
    size_t bytes = weft_pass_group_plane_bytes(weft_native_kernels(t->precision), t->kind,
                                               c2r ? y : z, c2r ? z : y);
    return bytes <= weft_native_cache_share(t->threads) / 3;
}

/* Whether results are stored as they are, but for a factor. */
static bool stores_plainly(const weft_transform *t) {
    double factor;
    return !t->store.list ||
           (weft_native_only_scales(t, &factor) && weft_stored_is_box(&t->store.layout.stored));
}

bool weft_native_stays_in_cache(const weft_transform *t) {
    const weft_topology *cache = weft_topology_get();
    if (t->in_pieces.count > 0 || t->out_pieces.count > 0 || t->load.list || !stores_plainly(t) ||
        weft_native_useful_threads(t) > 1 ||
        (t->kind == WEFT_TRANSFORM_C2R && t->dims > 1 && !t->destroy_input))
        return false;
    const weft_kernels *kernels = weft_native_kernels(t->precision);
    size_t bytes = 2 * weft_number_bytes(t->precision), planes = 1;
    for (int d = 0; d < t->dims; d++) {
        const bool halved = d == t->dims - 1 && t->kind != WEFT_TRANSFORM_C2C;
        if (weft_matrix_suits(kernels, halved ? t->dim[d].n / 2 : t->dim[d].n)) return false;
        if (d < t->dims - 2) planes *= (size_t)t->dim[d].n;
        bytes *= (size_t)weft_native_complex_extent(t, d);
        if (bytes > cache->l2) return false;
    }
    for (int i = 0; i < t->loops; i++) {
        planes *= (size_t)t->loop[i].n;
        bytes *= (size_t)t->loop[i].n;
        if (bytes > cache->l2) return false;
    }
    const bool padded_plane = t->kind == WEFT_TRANSFORM_C2C && planes == 1 && bytes > cache->l1;
    return bytes <= cache->l2 / 2 && !padded_plane;
}

bool weft_native_goes_through_output(const weft_transform *t) {
    if (t->kind != WEFT_TRANSFORM_C2R || t->dims != 3 || t->destroy_input || t->in_place ||
        t->in_pieces.count > 0 || t->out_pieces.count > 0 || t->load.list || !stores_plainly(t))
        return false;
    int64_t bytes = (int64_t)(2 * weft_number_bytes(t->precision));
    bool pairs = t->dim[2].out_stride == 1 && t->dim[2].n % 2 == 0; /* of real numbers */
    for (int d = 0; d < t->dims; d++) {
        pairs = pairs && (d == 2 || t->dim[d].out_stride % 2 == 0);
        bytes *= weft_native_complex_extent(t, d);
    }
    for (int i = 0; i < t->loops; i++) {
        pairs = pairs && t->loop[i].out_stride % 2 == 0;
        bytes *= t->loop[i].n;
    }
    return pairs && t->dim[0].n > 1 && t->dim[0].n <= WEFT_NATIVE_LONGEST_TILE &&
           bytes > (int64_t)weft_topology_get()->l2 / 2 && weft_native_plane_fits(t);
}

/* An input can be taken in pieces along the dimension that is transformed first, and an output
 * along the one that is transformed last. Where there are several pass groups, those between the
 * first and the last need an array: the output, or the input from complex to real. */
static bool takes(const weft_transform *t, const weft_pieces *pieces, bool output) {
    const bool one_group = t->dims == 1 || (t->dims == 2 && weft_native_plane_fits(t));
    const bool has_array = !output && t->kind != WEFT_TRANSFORM_C2R && t->out_pieces.count == 0;
    return pieces->count == 0 ||
           ((one_group || has_array) && !t->in_place && pieces->count <= WEFT_MAX_PIECES &&
            weft_native_in_order(t, output ? t->dims - 1 : 0) == pieces->dim &&
            t->dim[pieces->dim].n <= WEFT_NATIVE_LONGEST_TILE);
}

/* Pieces are read at their addresses, so the CPU must be able to dereference device memory. */
static weft_status supports_pieces(const weft_transform *t, const weft_device_ops *device) {
    const weft_pieces *in = &t->in_pieces, *out = &t->out_pieces;
    const bool none = in->count == 0 && out->count == 0;
    if (none || (device->host_addressable && !weft_transform_has_real_pieces(t) &&
                 takes(t, in, false) && takes(t, out, true)))
        return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "native engine: a transform of %d dimensions from %d pieces to %d", t->dims,
                     in->count, out->count);
}

int64_t weft_native_complex_extent(const weft_transform *t, int d) {
    bool halved = t->kind != WEFT_TRANSFORM_C2C && d == t->dims - 1;
    return halved ? t->dim[d].n / 2 + 1 : t->dim[d].n;
}

weft_piece weft_native_spectrum(const weft_transform *t) {
    const weft_fused_operators *f = &t->spectral;
    weft_piece spectrum = {.n = t->dim[0].n};
    if (!f->list) return spectrum;
    const weft_view view = weft_view_of(&f->layout.box, f->layout.order, &f->layout.box);
    for (int d = 0; d < t->dims; d++) spectrum.dim_stride[d] = view.stride[f->dim_axis[d]];
    for (int i = 0; i < t->loops; i++) spectrum.loop_stride[i] = view.stride[f->loop_axis[i]];
    return spectrum;
}

int weft_native_useful_threads(const weft_transform *t) {
#ifndef _OPENMP
    (void)t;
    return 1; /* the calling one; memory for others would be laid out differently */
#else
    int64_t points = 1;
    for (int d = 0; d < t->dims; d++) points *= weft_native_complex_extent(t, d);
    for (int i = 0; i < t->loops; i++) points *= t->loop[i].n;
    const int64_t least =
        t->dims > 1 ? WEFT_NATIVE_POINTS_OF_AXES_PER_THREAD : WEFT_NATIVE_POINTS_PER_THREAD;
    const int64_t most = points / least;
    const int threads = t->threads > most ? (int)most : t->threads;
    return threads > 1 ? threads : 1;
#endif
}

bool weft_native_only_pads(const weft_transform *t) {
    return t->load.list && t->load.list->count == 0;
}

/* The dimension along which lines are loaded first, or stored last. */
static int end_dimension(const weft_transform *t, bool output) {
    return weft_native_in_order(t, output && !t->round_trip ? t->dims - 1 : 0);
}

weft_native_extent weft_native_stored_along(const weft_transform *t, bool output, int d) {
    const weft_fused_operators *f = output ? &t->store : &t->load;
    const int axis = f->dim_axis[d];
    if (!f->list || f->layout.stored.n[axis] == f->layout.box.n[axis])
        return (weft_native_extent){0, 0};
    const int64_t high = f->layout.stored.high[axis];
    return (weft_native_extent){f->layout.stored.n[axis] - high, high};
}

weft_native_extent weft_native_stored(const weft_transform *t, bool output) {
    return weft_native_stored_along(t, output, end_dimension(t, output));
}

/* One side as pieces: those that it has or, where it is one array, that one. */
static weft_pieces pieces_of(const weft_transform *t, bool output, weft_piece *one) {
    const weft_pieces *pieces = output ? &t->out_pieces : &t->in_pieces;
    const weft_native_extent stored = weft_native_stored(t, output);
    if (pieces->count > 0) return *pieces;
    *one = (weft_piece){.n = stored.low + stored.high};
    for (int d = 0; d < t->dims; d++)
        one->dim_stride[d] = output ? t->dim[d].out_stride : t->dim[d].in_stride;
    for (int i = 0; i < t->loops; i++)
        one->loop_stride[i] = output ? t->loop[i].out_stride : t->loop[i].in_stride;
    return (weft_pieces){1, end_dimension(t, output), one};
}

/* Numbers the points of pieces, which are those that are stored, as those of whole lines, from
 * which points are missing in between; a piece with points on both sides becomes two. */
static bool open_pieces(const weft_transform *t, bool output, weft_piece *piece,
                        weft_pieces *opened) {
    const weft_native_extent stored = weft_native_stored(t, output);
    weft_piece one;
    if (stored.high == 0) return true;
    const weft_pieces given = pieces_of(t, output, &one);
    const int64_t missing = t->dim[given.dim].n - stored.low - stored.high;
    int count = 0;
    if (given.dim != end_dimension(t, output) || given.count >= WEFT_MAX_PIECES) return false;
    for (int k = 0; k < given.count; k++) {
        const weft_piece *p = &given.piece[k];
        const int64_t below = stored.low - p->first;
        const int64_t low = below < 0 ? 0 : below < p->n ? below : p->n;
        if (low > 0) {
            piece[count] = *p;
            piece[count++].n = low;
        }
        if (low == p->n) continue;
        piece[count] = *p;
        piece[count].offset += low * p->dim_stride[given.dim];
        piece[count].first += low + missing;
        piece[count++].n -= low;
    }
    *opened = (weft_pieces){count, given.dim, piece};
    return true;
}

const weft_transform *weft_native_open(const weft_transform *t, weft_native_opened *opened) {
    if (weft_native_stored(t, false).high == 0 && weft_native_stored(t, true).high == 0) return t;
    opened->transform = *t;
    const bool fits = open_pieces(t, false, opened->in, &opened->transform.in_pieces) &&
                      open_pieces(t, true, opened->out, &opened->transform.out_pieces);
    return fits ? &opened->transform : NULL;
}

/* Whether one loop is within another on both sides or on none: the strides of padded and cropped
 * arrays then tell the order of loops that those of whole arrays tell. */
static bool loops_agree(const weft_transform *t, int lines) {
    for (int i = 0; i < t->loops + t->dims; i++)
        for (int j = 0; j < i; j++) {
            const weft_dimension *a = i < t->loops ? &t->loop[i] : &t->dim[i - t->loops],
                                 *b = j < t->loops ? &t->loop[j] : &t->dim[j - t->loops];
            const bool loops = i - t->loops != lines && j - t->loops != lines;
            if (loops && a->n > 1 && b->n > 1 &&
                (llabs(a->in_stride) < llabs(b->in_stride)) !=
                    (llabs(a->out_stride) < llabs(b->out_stride)))
                return false;
        }
    return true;
}

/* Whether the same lines share a tile as in whole arrays, where that matters: contiguous real lines
 * are transformed as matrices where they do not fill half a tile, and round otherwise. */
static bool keeps_tiles(const weft_transform *transform) {
    const weft_transform t = weft_native_by_largest_pieces(transform);
    const int last = t.dims - 1;
    return t.kind == WEFT_TRANSFORM_C2C ||
           !weft_native_takes_matrices(weft_native_kernels(t.precision), t.kind, &t.dim[last]) ||
           loops_agree(&t, last);
}

/* Whether an array holds all along every axis but that of dimension d and, of a plane that is
 * truncated, of the other dimension; and where it does not, two points at least, so that strides
 * tell the order of the axes. */
static bool holds_all_but(const weft_transform *t, const weft_fused_operators *f, int d) {
    const weft_operator_place place = f->layout.place;
    const bool spectral = place == WEFT_PLACE_SPECTRAL || place == WEFT_PLACE_SPECTRUM;
    const bool plane = spectral && t->dims == 2 && weft_native_plane_fits(t) && !t->round_trip;
    for (int a = 0; a < f->layout.box.axes; a++) {
        const bool may = a == f->dim_axis[d] || (plane && a == f->dim_axis[1 - d]);
        const int64_t n = f->layout.stored.n[a];
        if (n != f->layout.box.n[a] && (!may || n < 2)) return false;
    }
    return f->layout.stored.n[f->dim_axis[d]] >= 2;
}

/* An array that is padded, cropped or truncated along the dimension of whose lines it holds some
 * points. Where further passes work on the array, it must hold all. Between points that it holds
 * nothing is operated on but scaled. */
static bool takes_stored(const weft_transform *t, bool output, const weft_device_ops *device) {
    const weft_fused_operators *f = output ? &t->store : &t->load;
    if (!f->list || weft_stored_is_plain(&f->layout.stored)) return true;
    const int d = end_dimension(t, output);
    const bool one_group = t->dims == 1 || (t->dims == 2 && weft_native_plane_fits(t));
    double factor;
    const bool scales = weft_operators_only_scale(f->list, &factor);
    const bool gaps = weft_stored_has_gaps(&f->layout.stored);
    if (gaps && (t->round_trip || !(output ? scales : f->list->count == 0))) return false;
    return f->layout.stored.storage == WEFT_STORAGE_SAME && holds_all_but(t, f, d) &&
           !t->in_place && t->kind != WEFT_TRANSFORM_R2R && device->host_addressable &&
           t->dim[d].n <= WEFT_NATIVE_LONGEST_TILE && keeps_tiles(t) &&
           (one_group || (!output && t->kind != WEFT_TRANSFORM_C2R));
}

bool weft_native_only_scales(const weft_transform *t, double *factor) {
    *factor = 1;
    return t->store.list && weft_operators_only_scale(t->store.list, factor);
}

/* Whether elements lie in memory as in the operators' box, so that an address tells which element
 * of the box is there: not in a tile that is an array of its own. */
static bool lies_as_box(const weft_transform *t, const weft_fused_operators *f, bool output) {
    const weft_view view = weft_view_of(&f->layout.box, f->layout.order, &f->layout.box);
    bool same = true;
    for (int i = 0; i < t->dims + t->loops; i++) {
        const bool is_loop = i >= t->dims;
        const weft_dimension *d = is_loop ? &t->loop[i - t->dims] : &t->dim[i];
        const int axis = is_loop ? f->loop_axis[i - t->dims] : f->dim_axis[i];
        same = same && (d->n == 1 || (output ? d->out_stride : d->in_stride) == view.stride[axis]);
    }
    return same;
}

/* Operators that are applied to rows: those that multiply, on arrays that are just the box. */
static bool are_products(const weft_fused_operators *f) {
    for (int i = 0; i < f->list->count; i++)
        if (f->list->item[i].kind == WEFT_OPERATOR_FUNCTION ||
            weft_operator_is_matrix(&f->list->item[i]) ||
            f->list->item[i].kind == WEFT_OPERATOR_REDUCE)
            return false;
    return weft_stored_is_box(&f->layout.stored) && !f->layout.keeps;
}

/* Lines that are contiguous can be copied from memory, or to it, line by line. */
static bool takes_lines(const weft_dimension *dim, bool output) {
    return (output ? dim->out_stride : dim->in_stride) == 1 && dim->n > 1 &&
           dim->n <= WEFT_NATIVE_LONGEST_TILE;
}

/* Whether the dimension that is transformed last, whose points are not contiguous, can be done in
 * blocks of lines, or in a plane, that are flushed row by row. */
static bool flushes_rows(const weft_transform *transform) {
    const weft_transform strides = weft_native_by_largest_pieces(transform), *t = &strides;
    const int d = weft_native_in_order(t, t->dims - 1),
              before = t->dims > 1 ? weft_native_in_order(t, t->dims - 2) : d;
    const weft_dimension *last = &t->dim[d], *other = &t->dim[before];
    const bool from_output = t->dims > 1;
    if (t->kind == WEFT_TRANSFORM_C2R || last->n == 1 || other->n == 1) return false;
    if (t->dims > 1 && d >= t->dims - 2 && before >= t->dims - 2 && weft_native_plane_fits(t))
        return other->out_stride == 1 &&
               (t->kind == WEFT_TRANSFORM_R2C || llabs(last->in_stride) >= llabs(other->in_stride));
    if (d == t->dims - 1 && t->kind != WEFT_TRANSFORM_C2C) return false;
    bool neighbours = false; /* of which a part of the transform may have only one */
    for (int i = 0; i < t->loops + t->dims; i++) {
        const weft_dimension *loop = i < t->loops ? &t->loop[i] : &t->dim[i - t->loops];
        neighbours = neighbours || (i - t->loops != d && loop->out_stride == 1 &&
                                    (from_output || loop->in_stride == 1));
    }
    return neighbours && weft_pass_group_takes_blocks(
                             last->n, weft_native_cache_share(weft_native_useful_threads(t)));
}

bool weft_native_flushes_operated(const weft_transform *t) {
    double factor;
    return t->store.list && !weft_native_only_scales(t, &factor) &&
           !takes_lines(&t->dim[weft_native_in_order(t, t->dims - 1)], true);
}

/* A round trip is done in planes, or along one axis, tile by tile. Lines that are done one by one,
 * alone or as matrices, would get other bits in tiles. */
static bool takes_round_trip(const weft_transform *transform, const weft_device_ops *device) {
    const weft_transform strides = weft_native_by_largest_pieces(transform), *t = &strides;
    const weft_fused_operators *f = &t->spectral;
    double factor;
    if (!device->host_addressable || t->kind == WEFT_TRANSFORM_R2R || t->dim[0].n == 1 ||
        (t->load.list && !weft_native_only_pads(t)) ||
        (t->store.list && !weft_native_only_scales(t, &factor)) ||
        (f->list && !(are_products(f) && weft_operators_multiply_lines(f->list, t->precision))))
        return false;
    if (t->dims == 2)
        return t->in_pieces.count == 0 && t->out_pieces.count == 0 && t->dim[1].n > 1 &&
               t->dim[1].in_stride == 1 && t->dim[1].out_stride == 1 && weft_native_plane_fits(t);
    return t->dims == 1 && t->in_batch && t->dim[0].n <= WEFT_NATIVE_LONGEST_TILE &&
           !weft_native_takes_matrices(weft_native_kernels(t->precision), t->kind, &t->dim[0]);
}

/* Whether the results are only scaled: the kernels that store them do so, at any strides. */
static bool scales(const weft_transform *t) {
    double factor;
    return weft_native_only_scales(t, &factor) && !t->store.layout.keeps;
}

/* A scaling of the results is done as they are stored, whatever the transform. Other operators are
 * steps of their own unless they can be applied to rows, whose numbers depend on where a part
 * begins: a queue of a device would not find that as it was when the part was enqueued. */
static weft_status supports_operators(const weft_transform *t, const weft_device_ops *device) {
    const weft_dimension *first = &t->dim[weft_native_in_order(t, 0)],
                         *last = &t->dim[weft_native_in_order(t, t->dims - 1)];
    const bool rows = t->kind != WEFT_TRANSFORM_R2R && device->host_addressable;
    const bool loads =
        !t->load.list || (weft_native_only_pads(t) && !t->load.layout.keeps) ||
        (rows && t->kind != WEFT_TRANSFORM_C2R && t->in_pieces.count == 0 &&
         are_products(&t->load) && lies_as_box(t, &t->load, false) && takes_lines(first, false));
    const bool stores = !t->store.list || scales(t) ||
                        (are_products(&t->store) && lies_as_box(t, &t->store, true) && rows &&
                         t->out_pieces.count == 0 && (takes_lines(last, true) || flushes_rows(t)));
    if (!takes_stored(t, false, device) || !takes_stored(t, true, device))
        return weft_fail(
            WEFT_ERROR_UNSUPPORTED,
            "native engine: an array that is converted, or padded or cropped otherwise "
            "than along the lines of up to %d points that are loaded first or stored "
            "last",
            (int)WEFT_NATIVE_LONGEST_TILE);
    if (loads && stores && (!t->round_trip || takes_round_trip(t, device))) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "native engine: operators that it cannot apply to contiguous rows");
}

static weft_status supports_r2r(const weft_transform *t, const weft_device_ops *device) {
    const bool pieces = t->in_pieces.count > 0 || t->out_pieces.count > 0;
    const bool fits =
        t->in_pieces.count <= WEFT_MAX_PIECES && t->out_pieces.count <= WEFT_MAX_PIECES;
    WEFT_TRY(weft_native_probe(NULL));
    if (pieces &&
        !(device->host_addressable && fits && weft_r2r_takes_pieces(t, weft_native_in_order(t, 0))))
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "native engine: a real-to-real transform of %d dimensions from %d pieces "
                         "to %d",
                         t->dims, t->in_pieces.count, t->out_pieces.count);
    for (int d = 0; d < t->dims; d++)
        if (t->dim[d].n > INT32_MAX / 2)
            return weft_fail(WEFT_ERROR_UNSUPPORTED,
                             "native engine: a real-to-real line of %lld points, more than 2^30",
                             (long long)t->dim[d].n);
    return WEFT_SUCCESS;
}

weft_status weft_native_supports(const weft_transform *given, const weft_device_ops *device) {
    weft_native_opened opened;
    const weft_transform *transform = weft_native_open(given, &opened);
    if (!transform)
        return weft_fail(WEFT_ERROR_UNSUPPORTED, "native engine: a truncated spectrum in %d pieces",
                         WEFT_MAX_PIECES);
    if (!device->run)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "native engine: device %s cannot run host code; choose another engine",
                         device->name);
    if (transform->precision != WEFT_DOUBLE && transform->precision != WEFT_SINGLE)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "native engine: precision %d; use double or single",
                         (int)transform->precision);
    WEFT_TRY(supports_operators(transform, device));
    if (transform->kind == WEFT_TRANSFORM_R2R) return supports_r2r(transform, device);
    if (transform->in_place && transform->kind != WEFT_TRANSFORM_C2C && !transform->round_trip)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "native engine: a batch of real transforms in place; use two buffers");
    WEFT_TRY(weft_native_probe(NULL));
    int dims_of_a_group = weft_native_plane_fits(transform) ? 2 : 1;
    WEFT_TRY(supports_pieces(transform, device));
    if (transform->kind == WEFT_TRANSFORM_C2R && transform->dims > dims_of_a_group &&
        !transform->destroy_input && !weft_native_goes_through_output(transform))
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "native engine: cannot keep the input of a complex-to-real transform of "
                         "%d dimensions; do the first ones on their own, or let it be overwritten",
                         transform->dims);
    return WEFT_SUCCESS;
}
