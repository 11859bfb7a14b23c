/*
 * Operators for devices that run kernels: a text in the kernels' dialect (src/kernels/dialect.h)
 * and tables on the device. The text defines, for the name `load`,
 *
 *     load_number       what an element is: real or real2
 *     load_places       a structure, which the kernel gets by value: numbers and parameters
 *     load_operators(value, index, places, tables)    the value operated on; index is an array of
 *                       an element's int indices in the box, the batch's last
 *
 * with the operator's array as a further argument where there is one (load_arrays is 1); then it
 * defines in two parts, too, what reads the array and what operates with what was read,
 *
 *     load_factor       the type of a factor: real or real2
 *     load_read(index, places, array)
 *     load_operators_by(value, index, places, tables, factor)
 *
 * and, where there are reductions (load_reductions is their number), a thread's own array of two
 * numbers each, to which the element is added. Where the caller's array is not the box (load_stores
 * is 1) it defines
 *
 *     load_stored       the type of its elements
 *     load_inside(index, places)    whether it has the element
 *     load_convert(x)   of a load: the number that an element stands for; of a store: the element
 *
 * and, where the results are kept (load_keeps is 1),
 *
 *     load_kept         the type of what the array that keeps them is made of
 *     load_keep(value, index, places, kept)
 *
 * Of a list with a matrix it defines in place of load_operators
 *
 *     load_fields, load_made    fields of a point, and how many are made of them
 *     load_make(in, out, index, places)    makes them; the array is a further argument
 *
 * The same lists have the same text on all ranks; what differs is in the places.
 */
#ifndef WEFT_OPERATOR_KERNEL_H
#define WEFT_OPERATOR_KERNEL_H

#include "device/device.h"
#include "operator/operator.h"

enum { WEFT_OPERATOR_PLACES = 64 };

/* Room for the structure NAME_places. */
enum { WEFT_OPERATOR_VALUES = WEFT_OPERATOR_PLACES + WEFT_MAX_PARAMETERS };

typedef struct weft_operator_kernel {
    weft_device_handle device;
    char *text;
    unsigned axes;         /* bit a: the index along axis a is looked at */
    bool has_double;       /* the device: the numbers of reductions are in double precision */
    bool is_box, converts; /* the caller's array is just the box; it holds other numbers */
    bool keeps;
    int fields, made; /* of a matrix; 0: there is none */
    int array;        /* the number of an operator's array; -1: no operator has one */
    int parameters;   /* behind the places */
    const weft_operator_settings *settings;
    int reductions;
    const weft_operator *reduction[WEFT_MAX_REDUCTIONS]; /* in the order of the list */
    weft_precision precision;
    size_t stored_bytes; /* of the caller's array's elements */
    int places;          /* numbers of the structure: */
    int64_t place[WEFT_OPERATOR_PLACES];
    int axis[WEFT_OPERATOR_PLACES];      /* the index that each of them grows with, ... */
    int64_t grows[WEFT_OPERATOR_PLACES]; /* ... by so much; negative: shrinks */
    void *tables;                        /* on the device */
    size_t bytes;                        /* of the tables */
} weft_operator_kernel;

/* Makes the kernel text and the tables of a list. `name` is the prefix of its names in the text. */
weft_status weft_operator_kernel_create(const weft_operator_list *list,
                                        const weft_pointwise_layout *layout, const char *name,
                                        const weft_device_handle *device,
                                        weft_operator_kernel **kernel);
void weft_operator_kernel_release(weft_operator_kernel *kernel);

/* The array that the list's operator has at present; NULL where none is set. */
const void *weft_operator_kernel_array(const weft_operator_kernel *kernel);

/* Fills in the structure NAME_places for a part of the box that begins at the indices `first`, one
 * for each axis: the places, and behind them the parameters as they are now. Returns its bytes. */
size_t weft_operator_kernel_places(const weft_operator_kernel *kernel, const int64_t *first,
                                   int64_t values[WEFT_OPERATOR_VALUES]);

/* A pass that applies a list to a whole box by a kernel of its own. */
typedef struct weft_operator_pass weft_operator_pass;

weft_status weft_operator_pass_create(const weft_operator_list *list,
                                      const weft_pointwise_layout *layout,
                                      const weft_device_handle *device, weft_operator_pass **pass);
void weft_operator_pass_release(weft_operator_pass *pass);
size_t weft_operator_pass_bytes(const weft_operator_pass *pass);

/* Sets the array in which the results are kept, if they are. */
void weft_operator_pass_keep_at(weft_operator_pass *pass, void *kept);

/* Gets what the list's reduction of this number found in the last pass, if it has one; waits for
 * the end of that on the default queue. */
weft_status weft_operator_pass_reduced(weft_operator_pass *pass, int number, weft_reduced *reduced);

/* Enqueues the pass from `in` to `out`, which may be the same array. */
weft_status weft_operator_pass_run(weft_operator_pass *pass, weft_queue *queue, const void *in,
                                   void *out);

#endif
