/*
 * weft view: a slice of a volume, real or complex, as a grey picture. Complex values show as the
 * logarithm of their magnitude with frequency 0 in the middle.
 */
#include "launch.h"
#include "options.h"
#include "picture.h"
#include "support/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FILES = 2 };

typedef struct view_flags {
    const char *output;
    int axis;
    int64_t index[MOST_FILES]; /* -1: not given */
    bool log;
    int64_t last_axis; /* of the real array that a half spectrum belongs to; 0: not given */
    bool shaped, typed;
    weft_array_info raw;
} view_flags;

/* The plane of a volume that is shown: rows and columns are the two other axes in their order. */
typedef struct plane {
    int rank, axis; /* axis -1: the array is a plane itself */
    int64_t index;
    int row, column;
    int64_t n[WEFT_MAX_RANK]; /* of the whole array: of the full spectrum where a half is stored */
    bool half;
} plane;

static weft_status set_output(void *target, const char *value) {
    ((view_flags *)target)->output = value;
    return WEFT_SUCCESS;
}

static weft_status set_axis(void *target, const char *value) {
    int64_t axis = 0;
    WEFT_TRY(options_integer("axis", value, 0, &axis));
    if (axis > 2) return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "--axis %s: give 0, 1 or 2", value);
    ((view_flags *)target)->axis = (int)axis;
    return WEFT_SUCCESS;
}

static weft_status set_index(void *target, const char *value) {
    view_flags *flags = target;
    const char *comma = strchr(value, ',');
    char first[32];
    snprintf(first, sizeof first, "%.*s", comma != NULL ? (int)(comma - value) : 31, value);
    WEFT_TRY(options_integer("index", first, 0, &flags->index[0]));
    flags->index[1] = flags->index[0];
    return comma != NULL ? options_integer("index", comma + 1, 0, &flags->index[1]) : WEFT_SUCCESS;
}

static weft_status set_log(void *target, const char *value) {
    (void)value;
    ((view_flags *)target)->log = true;
    return WEFT_SUCCESS;
}

static weft_status set_last_axis(void *target, const char *value) {
    return options_integer("last-axis", value, 1, &((view_flags *)target)->last_axis);
}

static weft_status set_shape(void *target, const char *value) {
    view_flags *flags = target;
    flags->shaped = true;
    return options_shape("shape", value, &flags->raw.rank, flags->raw.n);
}

static weft_status set_dtype(void *target, const char *value) {
    view_flags *flags = target;
    flags->typed = weft_element_parse(value, &flags->raw.element);
    if (flags->typed) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "--dtype %s: give " WEFT_ELEMENT_NAMES, value);
}

static const option_flag view_option_flags[] = {
    {"output", "OUT.png", "the picture: PNG, JPEG or TIFF by its name (needed)", set_output},
    {"axis", "0|1|2", "axis the slice is normal to; default 0", set_axis},
    {"index", "I[,J]", "place along it; default the middle, or frequency 0", set_index},
    {"log", NULL, "logarithm of real values too", set_log},
    {"last-axis", "N",
     "complete a half spectrum whose real last axis has N; default: show the half", set_last_axis},
    {"shape", "AxBxC", "shape of a raw file (needed there)", set_shape},
    {"dtype", WEFT_ELEMENT_WORDS, "element type of a raw file (needed there)", set_dtype},
    {NULL, NULL, NULL, NULL}};

static weft_status choose_plane(const view_flags *flags, int file, const char *name,
                                const weft_array_info *info, plane *p) {
    bool complex = weft_element_complex(info->element);
    *p = (plane){.rank = info->rank, .axis = info->rank == 3 ? flags->axis : -1};
    if (info->rank != 2 && info->rank != 3)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s: it has %d axes; view shows arrays of 2 or 3", name, info->rank);
    memcpy(p->n, info->n, sizeof p->n);
    p->half = complex && flags->last_axis > 0;
    if (p->half && flags->last_axis / 2 + 1 != info->n[info->rank - 1])
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s: its last axis has %lld elements, not %lld/2+1; correct --last-axis",
                         name, (long long)info->n[info->rank - 1], (long long)flags->last_axis);
    if (p->half) p->n[info->rank - 1] = flags->last_axis;
    p->row = p->axis == 0 ? 1 : 0;
    p->column = info->rank == 2 ? 1 : p->axis == 2 ? 1 : 2;
    if (p->axis < 0) return WEFT_SUCCESS;
    p->index = flags->index[file] >= 0 ? flags->index[file] : complex ? 0 : info->n[p->axis] / 2;
    if (p->index >= p->n[p->axis])
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s: --index %lld leaves axis %d, which has %lld", name,
                         (long long)p->index, p->axis, (long long)p->n[p->axis]);
    return WEFT_SUCCESS;
}

/* Reads the stored slice at `index` as complex numbers, which the caller frees. */
static weft_status read_slice(weft_array *array, const plane *p, int64_t index, double **slice) {
    const weft_array_info *info = weft_array_describe(array);
    weft_box box = {{0}, {0}};
    int64_t count = 1;
    for (int a = 0; a < info->rank; a++) {
        box.lo[a] = a == p->axis ? index : 0;
        box.n[a] = a == p->axis ? 1 : info->n[a];
        count *= box.n[a];
    }
    double *values = malloc((size_t)count * 2 * sizeof *values);
    if (values == NULL) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a slice");
    weft_status status = weft_array_read(array, &box, WEFT_ELEMENT_C16, values);
    if (status == WEFT_SUCCESS)
        *slice = values;
    else
        free(values);
    return status;
}

static int64_t negated(int64_t frequency, int64_t n) {
    return frequency == 0 ? 0 : n - frequency;
}

/* Fills the picture from the stored slice at the plane's index and, where a half spectrum leaves
 * elements out, from their Hermitian partners in the slice at minus the index, which have the same
 * magnitude. */
static weft_status fill(weft_array *array, const plane *p, grey_picture *picture) {
    const weft_array_info *info = weft_array_describe(array);
    bool complex = weft_element_complex(info->element);
    int64_t stored_columns = info->n[p->column];
    int64_t opposite = p->axis >= 0 ? negated(p->index, p->n[p->axis]) : 0;
    bool mirrored_slice = p->axis >= 0 && p->index >= info->n[p->axis];
    double *slice = NULL, *partner = NULL;
    WEFT_TRY(read_slice(array, p, mirrored_slice ? opposite : p->index, &slice));
    weft_status status = WEFT_SUCCESS;
    if (stored_columns < picture->columns) status = read_slice(array, p, opposite, &partner);
    for (int64_t i = 0; status == WEFT_SUCCESS && i < picture->rows; i++) {
        for (int64_t j = 0; j < picture->columns; j++) {
            bool mirror = mirrored_slice || j >= stored_columns;
            int64_t row = mirror ? negated(i, picture->rows) : i;
            int64_t column = mirror ? negated(j, picture->columns) : j;
            const double *value =
                (j >= stored_columns ? partner : slice) + 2 * (row * stored_columns + column);
            picture->value[i * picture->columns + j] =
                complex ? hypot(value[0], value[1]) : value[0];
        }
    }
    free(slice);
    free(partner);
    return status;
}

static weft_status view_file(const view_flags *flags, int file, const char *name,
                             grey_picture *picture) {
    weft_array *array = NULL;
    plane p;
    const weft_array_info *raw = flags->shaped && flags->typed ? &flags->raw : NULL;
    WEFT_TRY(weft_array_open(MPI_COMM_SELF, name, raw, &array));
    bool complex = weft_element_complex(weft_array_describe(array)->element);
    weft_status status = choose_plane(flags, file, name, weft_array_describe(array), &p);
    if (status == WEFT_SUCCESS) status = picture_create(picture, p.n[p.row], p.n[p.column]);
    if (status == WEFT_SUCCESS) status = fill(array, &p, picture);
    if (status == WEFT_SUCCESS && (complex || flags->log)) status = picture_take_log(picture);
    if (status == WEFT_SUCCESS && complex) status = picture_shift(picture, 1, 1);
    weft_array_close(&array);
    return status;
}

static weft_status view(const view_flags *flags, const parsed_arguments *parsed) {
    grey_picture pictures[MOST_FILES] = {{0}};
    weft_status status = WEFT_SUCCESS;
    for (int f = 0; f < parsed->count && status == WEFT_SUCCESS; f++)
        status = view_file(flags, f, parsed->positional[f], &pictures[f]);
    if (status == WEFT_SUCCESS) status = picture_write(flags->output, pictures, parsed->count);
    for (int f = 0; f < MOST_FILES; f++) picture_destroy(&pictures[f]);
    return status;
}

static int view_main(int argc, char **argv, int ranks) {
    view_flags flags = {.index = {-1, -1}};
    shared_options shared = {.ranks = ranks};
    parsed_arguments parsed = {0};
    command_world world = {.ranks = 1};
    weft_status status = options_parse(&view_command, argc, argv, &shared, &flags, &parsed);
    if (status == WEFT_SUCCESS && parsed.helped) return 0;
    if (status == WEFT_SUCCESS && flags.output == NULL)
        status = weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "view: name the picture with -o OUT.png");
    if (status == WEFT_SUCCESS) status = picture_check(flags.output);
    if (status == WEFT_SUCCESS && flags.shaped != flags.typed)
        status = weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                           "--shape and --dtype describe a raw file together; give both");
    if (status == WEFT_SUCCESS && ranks > 1)
        status = weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "view runs alone; drop --ranks");
    if (status == WEFT_SUCCESS) status = world_join(&world, 0, false);
    /* Under mpirun one process paints. */
    if (status == WEFT_SUCCESS && world.rank == 0) status = view(&flags, &parsed);
    if (world.joined) MPI_Bcast(&status, 1, MPI_INT, 0, world.comm);
    return world_leave(&world, status);
}

const subcommand view_command = {
    .name = "view",
    .arguments = "FILE [FILE2]",
    .summary = "Writes a slice of a volume as a grey picture; of two volumes side by side.",
    .notes = "Complex values show as the logarithm of their magnitude, frequency 0 in the middle.\n"
             "--index and --axis choose the slice; in a spectrum the index is a frequency.",
    .examples = "weft view volume.npy -o slice.png --axis 2 --index 90\n"
                "weft view volume.npy spectrum.npy -o both.png --last-axis 181",
    .flags = view_option_flags,
    .letters = "o",
    .least = 1,
    .most = MOST_FILES,
    .run = view_main,
};
