/*
 * weft microstructure KIND OUT: a label volume of a model microstructure. Every rank makes the same
 * geometry (apps/microstructure), and labels its own box of the volume.
 */
#include "array_run.h"
#include "interrupt.h"
#include "io/agreement.h"
#include "layout/layout.h"
#include "memory.h"
#include "microstructure_flags.h"
#include "support/clock.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>

/* All that a run holds. */
typedef struct microstructure_run {
    const shared_options *shared;
    const microstructure_flags *flags;
    const microstructure_kind *kind;
    command_world *world;
    const char *name; /* of the output */
    weft_array_info info;
    microstructure *made;
    weft_array *output;
    weft_box box;   /* of this rank */
    void *labels;   /* of that box */
    int64_t *count; /* of each label's voxels; on rank 0, once they are added up, in the volume */
    progress progress;
    double seconds; /* that the geometry and the labels took */
} microstructure_run;

static int64_t voxels_of(const weft_array_info *info, const weft_box *box) {
    int64_t voxels = 1;
    for (int a = 0; a < info->rank; a++) voxels *= box->n[a];
    return voxels;
}

/* ---- the parts of a run ---- */

/* Slabs along the first axis that has a plane for each rank, or else along the longest. */
static void share_out(microstructure_run *run) {
    const weft_array_info *info = &run->info;
    int split = 0;
    while (split < info->rank && info->n[split] < run->world->ranks) split++;
    for (int a = 0, longest = split == info->rank; longest && a < info->rank; a++)
        if (split == info->rank || info->n[a] > info->n[split]) split = a;
    memcpy(run->box.n, info->n, sizeof run->box.n);
    weft_split(info->n[split], run->world->ranks, run->world->rank, &run->box.lo[split],
               &run->box.n[split]);
}

static weft_status check_files(const microstructure_run *run) {
    weft_status status = WEFT_SUCCESS;
    if (run->world->rank == 0) {
        status = record_check_path(run->shared->report);
        if (status == WEFT_SUCCESS) status = record_check_path(run->flags->orientations);
    }
    return weft_array_agree(run->world->comm, status);
}

static weft_status make_geometry(microstructure_run *run) {
    progress_stage(&run->progress, "placing", 0);
    WEFT_TRY(weft_array_agree(run->world->comm,
                              microstructure_create(run->kind, &run->flags->request, &run->made)));
    const bool wide = microstructure_labels(run->made) > 256;
    run->info = (weft_array_info){.element = wide ? WEFT_ELEMENT_U16 : WEFT_ELEMENT_U8,
                                  .rank = run->flags->rank};
    memcpy(run->info.n, run->flags->request.n, (size_t)run->info.rank * sizeof *run->info.n);
    share_out(run);
    return WEFT_SUCCESS;
}

static weft_status allocate(microstructure_run *run) {
    const int labels = microstructure_labels(run->made);
    const int threads = run->shared->plan.threads > 0 ? run->shared->plan.threads : 1;
    const size_t bytes =
        (size_t)voxels_of(&run->info, &run->box) * weft_element_bytes(run->info.element);
    WEFT_TRY(memory_check(run->world, (double)bytes + 8.0 * labels * (threads + 1),
                          memory_available("", true)));
    run->count = calloc((size_t)labels, sizeof *run->count);
    run->labels = malloc(bytes > 0 ? bytes : 1);
    weft_status status = WEFT_SUCCESS;
    if (run->count == NULL || run->labels == NULL)
        status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                           "rank %d: no memory for %zu bytes of labels; use more processes",
                           run->world->rank, bytes);
    return weft_array_agree(run->world->comm, status);
}

static weft_status fill(microstructure_run *run) {
    const int labels = microstructure_labels(run->made), root = run->world->rank == 0;
    const int threads = run->shared->plan.threads > 0 ? run->shared->plan.threads : 1;
    microstructure_box box = {.n = {1, 1, 1}};
    memcpy(box.lo, run->box.lo, (size_t)run->info.rank * sizeof *box.lo);
    memcpy(box.n, run->box.n, (size_t)run->info.rank * sizeof *box.n);
    progress_stage(&run->progress, "filling",
                   array_run_box_bytes(&run->box, run->info.rank, run->info.element));
    weft_status status = microstructure_fill(run->made, &box, run->info.element == WEFT_ELEMENT_U16,
                                             threads, run->labels, run->count, &run->progress.done);
    WEFT_TRY(weft_array_agree(run->world->comm, status));
    MPI_Reduce(root ? MPI_IN_PLACE : run->count, run->count, labels, MPI_INT64_T, MPI_SUM, 0,
               run->world->comm);
    return WEFT_SUCCESS;
}

/* ---- what is told ---- */

/* The form in which phases of a homogenization take rotations. */
static weft_status write_orientations(const microstructure_run *run) {
    json_t *phases = json_array();
    for (int label = 0; label < microstructure_labels(run->made); label++) {
        double r[9];
        microstructure_orientation(run->flags->request.seed, label, r);
        json_array_append_new(phases,
                              json_pack("{s:i, s:[[fff][fff][fff]]}", "label", label, "rotation",
                                        r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8]));
    }
    return record_write_json(run->flags->orientations, RECORD_ALL_DIGITS,
                             json_pack("{s:o}", "phases", phases));
}

static weft_status write_report(const microstructure_run *run) {
    json_t *phases = json_array(), *shape = json_array();
    int64_t voxels = 1;
    for (int a = 0; a < run->info.rank; a++) {
        json_array_append_new(shape, json_integer(run->info.n[a]));
        voxels *= run->info.n[a];
    }
    for (int label = 0; label < microstructure_labels(run->made); label++)
        json_array_append_new(phases, json_pack("{s:i, s:I, s:f}", "label", label, "voxels",
                                                (json_int_t)run->count[label], "fraction",
                                                (double)run->count[label] / (double)voxels));
    char seed[24]; /* as text: JSON's integers have a sign */
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)run->flags->request.seed);
    json_t *document =
        json_pack("{s:s, s:s, s:i, s:s, s:s, s:s, s:{s:s, s:s, s:o}, s:o, s:f}", "weft",
                  weft_version(), "command", "microstructure", "ranks", run->world->ranks, "kind",
                  run->kind->name, "made", microstructure_note(run->made), "seed", seed, "output",
                  "file", run->name, "element", weft_element_name(run->info.element), "shape",
                  shape, "phases", phases, "seconds", run->seconds);
    return record_write_json(run->shared->report, RECORD_TIME_DIGITS, document);
}

static void print_phases(const microstructure_run *run, double voxels) {
    enum { FEW = 16 };
    const int labels = microstructure_labels(run->made);
    int64_t least = run->count[0], most = run->count[0];
    for (int label = 0; label < labels; label++) {
        const int64_t count = run->count[label];
        least = count < least ? count : least;
        most = count > most ? count : most;
        if (labels <= FEW)
            printf("  label %d: %lld voxels, fraction %.6f\n", label, (long long)count,
                   (double)count / voxels);
    }
    if (labels > FEW)
        printf("  fractions from %.6f (%lld voxels) to %.6f (%lld voxels)\n",
               (double)least / voxels, (long long)least, (double)most / voxels, (long long)most);
}

static void print_summary(const microstructure_run *run) {
    double voxels = 1;
    printf("%s: %s", run->kind->name, weft_element_name(run->info.element));
    for (int a = 0; a < run->info.rank; a++) {
        printf("%s%lld", a == 0 ? " " : "x", (long long)run->info.n[a]);
        voxels *= (double)run->info.n[a];
    }
    const int labels = microstructure_labels(run->made);
    printf(", %s; %d phase%s, made in %.3f s on %d rank%s\n", microstructure_note(run->made),
           labels, labels > 1 ? "s" : "", run->seconds, run->world->ranks,
           run->world->ranks > 1 ? "s" : "");
    print_phases(run, voxels);
}

static weft_status tell(const microstructure_run *run) {
    weft_status status = WEFT_SUCCESS;
    if (run->world->rank == 0) {
        if (!run->shared->quiet) print_summary(run);
        if (run->shared->report != NULL) status = write_report(run);
    }
    return weft_array_agree(run->world->comm, status);
}

/* ---- the run ---- */

static weft_status work(microstructure_run *run) {
    const weft_array_creation how = {.made = interrupt_removes};
    const double begin = weft_clock();
    WEFT_TRY(check_files(run));
    WEFT_TRY(make_geometry(run));
    WEFT_TRY(allocate(run));
    WEFT_TRY(array_run_create_file(run->world->comm, run->name, &run->info, &how, &run->output));
    WEFT_TRY(fill(run));
    run->seconds = weft_clock() - begin;
    progress_stage(&run->progress, "writing",
                   array_run_box_bytes(&run->box, run->info.rank, run->info.element));
    weft_array_count(run->output, &run->progress.done);
    weft_status status = weft_array_write(run->output, &run->box, run->labels);
    if (status == WEFT_SUCCESS && run->world->rank == 0 && run->flags->orientations != NULL)
        status = write_orientations(run);
    status = weft_array_commit(&run->output, status);
    interrupt_removes(NULL);
    return status;
}

static weft_status work_and_release(microstructure_run *run) {
    char sentence[1024];
    const bool speaks = run->world->rank == 0;
    progress_begin(&run->progress, speaks && !run->shared->quiet, speaks && run->shared->progress);
    weft_status status = work(run);
    progress_end(&run->progress);
    if (status == WEFT_SUCCESS) status = tell(run);
    snprintf(sentence, sizeof sentence, "%s", weft_thread_error());
    weft_array_close(&run->output);
    interrupt_removes(NULL);
    microstructure_destroy(&run->made);
    free(run->labels);
    free(run->count);
    weft_thread_error_set(sentence);
    return status;
}

static weft_status find_kind(const char *name, const microstructure_kind **kind) {
    *kind = microstructure_find(name);
    if (*kind != NULL) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                     "%s is not a kind of microstructure; give laminate, checkerboard, voxels, "
                     "spheres, fibres or voronoi",
                     name);
}

static int microstructure_main(int argc, char **argv, int ranks) {
    microstructure_flags flags = {.rank = 0};
    shared_options shared = {.ranks = ranks};
    parsed_arguments parsed = {0};
    command_world world = {.ranks = 1, .comm = MPI_COMM_NULL};
    const microstructure_kind *kind = NULL;
    weft_status status =
        options_parse(&microstructure_command, argc, argv, &shared, &flags, &parsed);
    if (status == WEFT_SUCCESS && parsed.helped) return 0;
    if (status == WEFT_SUCCESS) status = find_kind(parsed.positional[0], &kind);
    if (status == WEFT_SUCCESS) status = microstructure_flags_check(&flags, kind);
    if (status == WEFT_SUCCESS) status = array_run_join(&shared, &world);
    if (status != WEFT_SUCCESS) return world_leave(&world, status);
    microstructure_run run = {.shared = &shared,
                              .flags = &flags,
                              .kind = kind,
                              .world = &world,
                              .name = parsed.positional[1]};
    return world_leave(&world, work_and_release(&run));
}

static const char *const shared_flags_taken[] = {"ranks", "threads",  "report",
                                                 "quiet", "progress", NULL};

const subcommand microstructure_command = {
    .name = "microstructure",
    .arguments = "KIND OUT",
    .summary = "Makes the label volume of a model microstructure.",
    .notes =
        "OUT is NumPy .npy, HDF5 FILE.h5:/dataset, or raw .raw or .bin: u8, or u16 where there "
        "are\n"
        "more than 256 labels. Volumes are periodic; a voxel has the label at its centre. KIND is\n"
        "  laminate      layers normal to --axis, of --fractions, repeated --periods times\n"
        "  checkerboard  cells of edge --cell; with --axis none alternate along it\n"
        "  voxels        each voxel at random, with exactly the --fractions\n"
        "  spheres       two of --radius, --count, --fractions; --gap, --distinct\n"
        "  fibres        the same, along --axis; with --length they end, in hemispheres, and\n"
        "                --axis random turns each at random\n"
        "  voronoi       --count grains, labels 0 to N - 1; --gap between seeds; --orientations\n"
        "Inclusions have label 1 in a matrix of 0. They are placed at random one after the other\n"
        "and never overlap, across the faces either. The same --seed gives the same volume on\n"
        "every machine and any number of processes.",
    .examples =
        "weft microstructure spheres spheres.npy --size 64x64x64 --count 30 --fractions 0.2\n"
        "weft microstructure voronoi grains.h5:/labels --size 256x256x256 --count 500 --seed 7",
    .words = "laminate|checkerboard|voxels|spheres|fibres|voronoi",
    .flags = microstructure_option_flags,
    .shared = true,
    .only = shared_flags_taken,
    .least = 2,
    .most = 2,
    .run = microstructure_main,
};
