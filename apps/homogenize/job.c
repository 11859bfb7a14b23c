/* From the case's file to results. */
#include "job.h"

#include "device.h"
#include "io/agreement.h"
#include "support/error.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <weft/weft_mpi.h>

/* ---- the case ---- */

/* The bytes of a file, with a zero behind them. */
static weft_status read_all(FILE *file, const char *name, char **text, long long *bytes) {
    enum { FIRST = 1 << 16, MOST = 1 << 30 };
    size_t room = 0, count = 0;
    do {
        room = room == 0 ? FIRST : 2 * room;
        char *larger = room <= MOST ? realloc(*text, room) : NULL;
        if (!larger)
            return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for what is in %s", name);
        *text = larger;
        count += fread(*text + count, 1, room - count, file);
    } while (count == room);
    if (ferror(file)) return weft_fail(WEFT_ERROR_SYSTEM, "%s: it cannot be read", name);
    (*text)[count] = '\0';
    *bytes = (long long)count + 1;
    return WEFT_SUCCESS;
}

static weft_status read_text(const char *name, char **text, long long *bytes) {
    FILE *file = fopen(name, "rb");
    if (!file)
        return weft_fail(errno == ENOENT ? WEFT_ERROR_INVALID_ARGUMENT : WEFT_ERROR_SYSTEM,
                         "%s: it cannot be read: %s", name, strerror(errno));
    const weft_status status = read_all(file, name, text, bytes);
    fclose(file);
    return status;
}

weft_status homogenize_share_text(MPI_Comm comm, const char *name, char **text) {
    long long bytes = 0;
    int rank;
    MPI_Comm_rank(comm, &rank);
    *text = NULL;
    weft_status status = rank == 0 ? read_text(name, text, &bytes) : WEFT_SUCCESS;
    status = weft_array_agree(comm, status);
    if (status == WEFT_SUCCESS) {
        MPI_Bcast(&bytes, 1, MPI_LONG_LONG, 0, comm);
        if (rank > 0) *text = malloc((size_t)bytes);
        if (!*text) status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for %s", name);
        status = weft_array_agree(comm, status);
    }
    if (status == WEFT_SUCCESS) {
        MPI_Bcast(*text, (int)bytes, MPI_BYTE, 0, comm);
        return WEFT_SUCCESS;
    }
    free(*text);
    *text = NULL;
    return status;
}

weft_status homogenize_job_open(homogenize_job *job) {
    homogenize_case *c = &job->c;
    char *text = NULL;
    weft_status status = homogenize_share_text(job->comm, job->name, &text);
    if (status == WEFT_SUCCESS)
        status = weft_array_agree(job->comm, homogenize_case_read(job->name, text, c));
    free(text);
    WEFT_TRY(status);
    WEFT_TRY(homogenize_choose_scheme(c, &job->scheme));
    const bool device = job->options.device != WEFT_HOST;
    c->on_device = device && !homogenize_streams(&job->options);
    if (device && c->samples.used)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "%s: convolution.method: samples are computed on the host; give exact, or "
                         "drop --device",
                         job->name);
    if (c->samples.used &&
        (c->physics != HOMOGENIZE_ELASTICITY || job->scheme != HOMOGENIZE_STAGGERED))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s: convolution.method: samples are for elasticity on the staggered "
                         "grid, whose Green's function has no ripples; give exact",
                         job->name);
    if (device && job->scheme == HOMOGENIZE_HEXAHEDRA)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "%s: discretization: hexahedra are computed on the host; give another "
                         "one, or drop --device and --stream",
                         job->name);
    WEFT_TRY(weft_array_open(job->comm, c->labels, NULL, &job->labels));
    job->info = *weft_array_describe(job->labels);
    WEFT_TRY(homogenize_volume_check(c, &job->info));
    job->run.voxels = 1;
    for (int a = 0; a < 3; a++) {
        if (c->length[a] == 0) c->length[a] = (double)job->info.n[a];
        job->run.voxels *= (double)job->info.n[a];
    }
    return WEFT_SUCCESS;
}

/* Whether a checkpoint keeps displacements, in place of the second field. */
static bool mirrors_vectors(const homogenize_case *c, int field) {
    return field == 1 && c->checkpoint.file && homogenize_has_displacements(c);
}

/* Whether a field on a device is copied to host memory: strain and stress that are shown, and what
 * a checkpoint keeps. */
static bool has_mirror(const homogenize_case *c, int field) {
    return (field < 2 && (c->out.fields || c->out.picture)) ||
           (field < homogenize_kept_fields(c) && c->checkpoint.file) || mirrors_vectors(c, field);
}

double homogenize_job_estimate(const homogenize_job *job) {
    const homogenize_case *c = &job->c;
    const double number = c->precision == WEFT_SINGLE ? sizeof(float) : sizeof(double);
    /* Four vectors of displacements take as much as two fields. */
    const int vectors = homogenize_solver_fields(c) + (homogenize_has_displacements(c) ? 1 : 0);
    int mirrors = 0;
    for (int f = 0; f < HOMOGENIZE_MOST_FIELDS; f++)
        if (has_mirror(c, f)) mirrors += mirrors_vectors(c, f) ? 2 : 1;
    int fields = (c->on_device ? mirrors : vectors) * homogenize_components(c->physics);
    /* What is at the nodes. */
    if (job->scheme == HOMOGENIZE_HEXAHEDRA) fields += homogenize_displacement_components(c);
    return job->run.voxels / job->ranks *
           (fields * number + sizeof(uint16_t) + (double)weft_element_bytes(job->info.element));
}

/* ---- the plan, and room for fields ---- */

static weft_status allocate_on_host(const homogenize_job *job, size_t bytes, void **field) {
    if (posix_memalign(field, 64, bytes > 0 ? bytes : 64) == 0) return WEFT_SUCCESS;
    *field = NULL;
    return weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                     "rank %d: no memory for a field of %zu bytes; use more processes", job->rank,
                     bytes);
}

/* Whether fields in host memory pass a device, for which they are page-locked once. */
static bool passes_device(const homogenize_job *job) {
    return job->options.device != WEFT_HOST && !job->c.on_device;
}

static weft_status allocate_field(homogenize_job *job, int number, size_t bytes) {
    void **field = &job->run.field[number];
    job->bytes += (double)bytes;
    if (passes_device(job)) return weft_host_buffer_create(job->green.plan, bytes, field);
    if (!job->c.on_device) return allocate_on_host(job, bytes, field);
    return weft_buffer_create(job->green.plan, bytes, field);
}

/* The vectors lie in the second field, which is needed as a field only behind them. */
static weft_status allocate_displacements(homogenize_job *job) {
    homogenize_displacements *d = &job->run.displacements;
    WEFT_TRY(weft_plan_box(job->green.plan, WEFT_OUTPUT, job->rank, &d->box));
    d->components = homogenize_displacement_components(&job->c);
    d->single = job->c.precision == WEFT_SINGLE;
    const size_t pair = 2 * (d->single ? sizeof(float) : sizeof(double));
    size_t bytes = (size_t)homogenize_box_voxels(&d->box) * (size_t)d->components *
                   DISPLACEMENT_VECTORS * pair;
    if (bytes < job->run.field_bytes) bytes = job->run.field_bytes;
    job->run.vector_bytes = bytes;
    WEFT_TRY(allocate_field(job, 1, bytes));
    if (!job->c.on_device) memset(job->run.field[1], 0, bytes);
    d->memory = job->run.field[1];
    return WEFT_SUCCESS;
}

static weft_status allocate_mirrors(homogenize_job *job) {
    homogenize_run *run = &job->run;
    for (int f = 0; f < HOMOGENIZE_MOST_FIELDS; f++) {
        if (!has_mirror(&job->c, f)) continue;
        const size_t bytes = mirrors_vectors(&job->c, f) ? run->vector_bytes : run->field_bytes;
        job->host_bytes += (double)bytes;
        WEFT_TRY(allocate_on_host(job, bytes, &run->mirror[f]));
    }
    return WEFT_SUCCESS;
}

/* Of hexahedra the plan's fields are displacements, and in the end strains lie there. */
static weft_status find_field_bytes(homogenize_job *job) {
    size_t *bytes = &job->run.field_bytes;
    weft_box box;
    WEFT_TRY(weft_plan_bytes(job->green.plan, WEFT_INPUT, bytes));
    WEFT_TRY(weft_plan_box(job->green.plan, WEFT_INPUT, job->rank, &box));
    const size_t number = job->c.precision == WEFT_SINGLE ? sizeof(float) : sizeof(double);
    const size_t strains = (size_t)homogenize_components(job->c.physics) *
                           (size_t)homogenize_box_voxels(&box) * number;
    if (*bytes < strains) *bytes = strains;
    return WEFT_SUCCESS;
}

static weft_status allocate_all(homogenize_job *job) {
    homogenize_run *run = &job->run;
    weft_memory memory = {0};
    const bool displacements = homogenize_has_displacements(&job->c);
    WEFT_TRY(find_field_bytes(job));
    WEFT_TRY(weft_plan_memory(job->green.plan, &memory));
    job->bytes = (double)memory.total;
    for (int f = 0; f < homogenize_solver_fields(&job->c) - (displacements ? 1 : 0); f++)
        WEFT_TRY(allocate_field(job, f, run->field_bytes));
    if (displacements) WEFT_TRY(allocate_displacements(job));
    return job->c.on_device ? allocate_mirrors(job) : WEFT_SUCCESS;
}

static weft_status allocate(homogenize_job *job) {
    WEFT_TRY(weft_array_agree(job->comm, allocate_all(job)));
    WEFT_TRY(homogenize_add_up(&job->run, &job->host_bytes, 1));
    return homogenize_add_up(&job->run, &job->bytes, 1);
}

static homogenize_grid grid_of(const homogenize_job *job) {
    const homogenize_case *c = &job->c;
    homogenize_grid grid = {.components = homogenize_components(c->physics),
                            .scheme = job->scheme,
                            .precision = c->precision,
                            .samples = c->samples,
                            .rank = job->rank};
    memcpy(grid.n, job->info.n, sizeof grid.n);
    memcpy(grid.length, c->length, sizeof grid.length);
    return grid;
}

static weft_status make_plan(homogenize_job *job) {
    const homogenize_grid grid = grid_of(job);
    WEFT_TRY(weft_array_agree(job->comm, weft_mpi_context_create(job->comm, NULL, &job->context)));
    return weft_array_agree(
        job->comm, homogenize_green_create(job->context, &grid, &job->options, &job->green));
}

/* Once the reference medium is known. */
static weft_status sample(homogenize_job *job) {
    const homogenize_grid grid = grid_of(job);
    weft_memory before = {0}, after = {0};
    if (!job->c.samples.used) return WEFT_SUCCESS;
    WEFT_TRY(weft_plan_memory(job->green.plan, &before));
    WEFT_TRY(weft_array_agree(job->comm,
                              homogenize_green_sample(job->context, &grid, &job->options, job->comm,
                                                      &job->medium.reference, &job->green)));
    WEFT_TRY(weft_plan_memory(job->green.plan, &after));
    double more = (double)after.total - (double)before.total;
    WEFT_TRY(homogenize_add_up(&job->run, &more, 1));
    job->bytes += more;
    return WEFT_SUCCESS;
}

static double default_tolerance(const homogenize_case *c) {
    const double least = c->precision == WEFT_SINGLE ? 1e-4 : 1e-6;
    return c->samples.used ? fmax(least, c->samples.tolerance) : least;
}

/* From now on passes are done where the fields are. */
static weft_status move_passes(homogenize_job *job) {
    homogenize_run *run = &job->run;
    weft_status status = homogenize_device_create(&job->green, &run->space, &run->space.device);
    job->green.device = run->space.device;
    WEFT_TRY(weft_array_agree(job->comm, status));
    double bytes = (double)homogenize_device_bytes(run->space.device);
    WEFT_TRY(homogenize_add_up(run, &bytes, 1));
    job->bytes += bytes;
    return WEFT_SUCCESS;
}

static weft_status make_elements(homogenize_job *job) {
    homogenize_run *run = &job->run;
    homogenize_hexahedra *h = &job->hexahedra;
    weft_status status =
        homogenize_hexahedra_create(job->comm, job->green.plan, &run->space, job->c.length, h);
    WEFT_TRY(weft_array_agree(job->comm, status));
    double bytes = (double)homogenize_nodes_bytes(&h->nodes);
    WEFT_TRY(homogenize_add_up(run, &bytes, 1));
    job->bytes += bytes;
    run->hexahedra = h;
    return WEFT_SUCCESS;
}

weft_status homogenize_job_prepare(homogenize_job *job) {
    homogenize_run *run = &job->run;
    weft_box box;
    if (job->c.tolerance == 0) job->c.tolerance = default_tolerance(&job->c);
    run->comm = job->comm;
    run->c = &job->c;
    run->green = &job->green;
    WEFT_TRY(make_plan(job));
    WEFT_TRY(weft_plan_box(job->green.plan, WEFT_INPUT, job->rank, &box));
    WEFT_TRY(allocate(job));
    const int halo =
        job->scheme == HOMOGENIZE_STAGGERED || job->scheme == HOMOGENIZE_HEXAHEDRA ? 1 : 0;
    WEFT_TRY(homogenize_volume_read(job->comm, job->labels, &job->c, &box, halo, &job->volume));
    weft_array_close(&job->labels);
    *(job->c.on_device ? &job->host_bytes : &job->bytes) += run->voxels * sizeof *job->volume.phase;
    WEFT_TRY(
        weft_array_agree(job->comm, homogenize_medium_create(&job->c, job->scheme, &job->medium)));
    WEFT_TRY(sample(job));
    run->space = (homogenize_space){.volume = &job->volume,
                                    .medium = &job->medium,
                                    .voxels = homogenize_box_voxels(&box),
                                    .precision = job->c.precision,
                                    .threads = job->options.threads > 1 ? job->options.threads : 1};
    if (job->scheme == HOMOGENIZE_HEXAHEDRA) return make_elements(job);
    return job->c.on_device ? move_passes(job) : WEFT_SUCCESS;
}

/* ---- loads ---- */

int homogenize_job_loads(const homogenize_job *job) {
    return job->c.load.all ? homogenize_components(job->c.physics) : 1;
}

/* Which load it was that failed. */
static weft_status name_load(int load, int loads, weft_status status) {
    char sentence[WEFT_ERROR_BYTES];
    if (status == WEFT_SUCCESS || loads == 1) return status;
    snprintf(sentence, sizeof sentence, "%s", weft_thread_error());
    return weft_fail(status, "load %d of %d: %s", load + 1, loads, sentence);
}

weft_status homogenize_job_solve(homogenize_job *job, const homogenize_listener *listener) {
    const int loads = homogenize_job_loads(job);
    job->run.listener = listener;
    for (int l = job->results - (job->run.state.begun ? 1 : 0); l < loads; l++) {
        homogenize_load load = job->c.load;
        if (load.all) load.value[l] = 1;
        if (listener->begins) listener->begins(listener->argument, l);
        job->results = l + 1;
        job->run.settled = l > 0 ? job->result[l - 1].settled : 0;
        WEFT_TRY(name_load(l, loads, homogenize_solve(&job->run, &load, &job->result[l])));
        if (listener->ended) WEFT_TRY(listener->ended(listener->argument, l));
    }
    return WEFT_SUCCESS;
}

bool homogenize_job_effective(const homogenize_job *job, double *matrix) {
    const int n = homogenize_components(job->c.physics);
    if (!job->c.load.all || job->results < n) return false;
    for (int l = 0; l < n; l++)
        for (int i = 0; i < n; i++) matrix[i * n + l] = job->result[l].stress[i];
    return true;
}

void homogenize_job_release(homogenize_job *job) {
    weft_array_close(&job->labels);
    for (int l = 0; l < job->results; l++) homogenize_result_release(&job->result[l]);
    homogenize_device_destroy(job->run.space.device);
    for (int f = 0; f < HOMOGENIZE_MOST_FIELDS; f++) {
        if (job->c.on_device)
            weft_buffer_destroy(job->green.plan, &job->run.field[f]);
        else if (passes_device(job))
            weft_host_buffer_destroy(job->green.plan, &job->run.field[f]);
        else
            free(job->run.field[f]);
        free(job->run.mirror[f]);
    }
    homogenize_hexahedra_release(&job->hexahedra);
    homogenize_medium_release(&job->medium);
    homogenize_volume_release(&job->volume);
    homogenize_green_release(&job->green);
    weft_context_destroy(&job->context);
    homogenize_case_release(&job->c);
}
