/*
 * A run of a command that reads an array from a file, computes with a plan of the library, and
 * writes another array: each process its own boxes of both. `weft transform` and `weft convolve`
 * are such runs; what they compute is theirs, the rest is here.
 */
#ifndef WEFT_TOOLS_ARRAY_RUN_H
#define WEFT_TOOLS_ARRAY_RUN_H

#include "file_stream.h"
#include "launch.h"
#include "options.h"
#include "progress.h"
#include "record.h"

/* All that a run holds, so that one place releases it. record.plan is the plan. */
typedef struct array_run {
    const shared_options *shared;
    command_world *world;
    weft_array *input, *output;
    weft_context context;
    double available; /* bytes of memory before anything was taken */
    weft_box in_box, out_box;
    size_t in_bytes, out_bytes;
    void *in, *out;
    file_stream stream; /* where they are the files themselves, mapped into memory */
    progress progress;
    run_record record;
} array_run;

/* Starts the processes that were asked for, and joins them. Collective. */
weft_status array_run_join(const shared_options *shared, command_world *world);

/* Does `work`, tells what it did, and releases everything. Returns the exit status. Collective. */
int array_run_do(array_run *run, weft_status (*work)(void *argument), void *argument);

/* Checks that report and trace can be written, and opens the input. Collective. */
weft_status array_run_open(array_run *run, const weft_array_info *raw);

/* The options of the plan: the arrays are on the host, and the result is another one than the
 * field. */
weft_options array_run_options(const array_run *run);

/* Creates the context, unless the node lacks the memory for `bytes` of each rank. Collective. */
weft_status array_run_create_context(array_run *run, double bytes);

/* Boxes and buffers of the arrays in two spaces of the plan, unless the node lacks the memory for
 * them, the plan, and `further` bytes of this rank. Collective. */
weft_status array_run_allocate(array_run *run, weft_space from, weft_space to, double further);

/* Bytes of in_bytes or out_bytes, aligned; fails with a sentence. Not collective. */
weft_status array_run_buffer(const array_run *run, size_t bytes, void **buffer);

/* weft_array_create of a file that a signal removes as long as it is not complete;
 * interrupt_removes tells when it is. Collective. */
weft_status array_run_create_file(MPI_Comm comm, const char *name, const weft_array_info *info,
                                  const weft_array_creation *how, weft_array **array);

/* Creates the file of the result, which record.output_info describes. Collective. */
weft_status array_run_create_output(array_run *run);

/* Reads this rank's box as elements of a type; executes the plan; writes this rank's box of the
 * result and gives the file its name. Files that are mapped are neither read nor written. `doing`
 * is what the progress bar calls it. Collective. */
weft_status array_run_read(array_run *run, weft_element wanted);
weft_status array_run_execute(array_run *run, weft_direction direction, const char *doing);
weft_status array_run_write(array_run *run);

/* Bytes of a box of an array. */
int64_t array_run_box_bytes(const weft_box *box, int rank, weft_element element);

/* The type of a transform's numbers. */
weft_element array_run_element(weft_precision precision, bool complex);

/* Sets rank, extents, kind and precision of a convolution to those of the input and the flags. */
void array_run_describe_field(const array_run *run, weft_convolution_problem *problem);

#endif
