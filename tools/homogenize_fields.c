/*
 * Each load has a file of its own, FILE.h5, or FILE-1.h5 to FILE-6.h5 where there are several: with
 * the datasets strain and stress, or gradient and flux, whose first index is the component; and
 * FILE.xdmf beside it, in which every component is a scalar of the voxels.
 */
#include "homogenize_fields.h"

#include "array_run.h"
#include "interrupt.h"
#include "io/agreement.h"
#include "io/temporary.h"
#include "record.h"
#include "support/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "FILE-2.h5" of load 2 of several; `suffix` replaces .h5. */
static weft_status file_name(const homogenize_job *job, int load, const char *suffix, char *name,
                             size_t capacity) {
    const char *given = job->c.out.fields, *dot = strrchr(given, '.');
    const int stem = (int)(dot - given);
    const int length =
        homogenize_job_loads(job) > 1
            ? snprintf(name, capacity, "%.*s-%d%s", stem, given, load + 1, suffix ? suffix : dot)
            : snprintf(name, capacity, "%.*s%s", stem, given, suffix ? suffix : dot);
    if (length >= 0 && (size_t)length < capacity) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "fields: %s is too long a name", given);
}

enum { NAME_BYTES = 4096 };

weft_status homogenize_fields_check(const homogenize_job *job) {
    char name[NAME_BYTES];
    weft_status status = WEFT_SUCCESS;
    if (!job->c.out.fields) return WEFT_SUCCESS;
#ifndef WEFT_HAVE_HDF5
    return weft_fail(WEFT_ERROR_UNSUPPORTED, "fields: this build has no parallel HDF5; drop it");
#endif
    if (job->rank == 0) {
        status = file_name(job, 0, NULL, name, sizeof name);
        if (status == WEFT_SUCCESS) status = record_check_path(name);
    }
    return weft_array_agree(job->comm, status);
}

/* ---- HDF5 ---- */

/* One field as a dataset of components x, y, z. */
static weft_status write_field(const homogenize_job *job, const char *file, const char *dataset,
                               const void *field) {
    const weft_box *box = &job->volume.box;
    const int components = homogenize_components(job->c.physics);
    weft_array_info info = {.element =
                                job->c.precision == WEFT_SINGLE ? WEFT_ELEMENT_F4 : WEFT_ELEMENT_F8,
                            .rank = 4,
                            .n = {components, job->info.n[0], job->info.n[1], job->info.n[2]}};
    const weft_box part = {.lo = {0, box->lo[0], box->lo[1], box->lo[2]},
                           .n = {components, box->n[0], box->n[1], box->n[2]}};
    const weft_array_creation how = {.made = interrupt_removes};
    char name[NAME_BYTES + 32];
    weft_array *array = NULL;
    snprintf(name, sizeof name, "%s:/%s", file, dataset);
    WEFT_TRY(array_run_create_file(job->comm, name, &info, &how, &array));
    weft_status status = weft_array_write(array, &part, field);
    status = weft_array_commit(&array, status);
    interrupt_removes(NULL);
    return status;
}

/* ---- XDMF ---- */

static void write_attribute(FILE *file, const homogenize_job *job, const char *h5,
                            const char *dataset, int component) {
    static const char *const tensor[] = {"xx", "yy", "zz", "yz", "xz", "xy"};
    static const char *const vector[] = {"x", "y", "z"};
    const int components = homogenize_components(job->c.physics);
    const long long n[3] = {(long long)job->info.n[0], (long long)job->info.n[1],
                            (long long)job->info.n[2]};
    fprintf(file,
            "   <Attribute Name=\"%s_%s\" AttributeType=\"Scalar\" Center=\"Cell\">\n"
            "    <DataItem ItemType=\"HyperSlab\" Dimensions=\"%lld %lld %lld\">\n"
            "     <DataItem Dimensions=\"3 4\" Format=\"XML\">%d 0 0 0 1 1 1 1 1 %lld %lld "
            "%lld</DataItem>\n"
            "     <DataItem Dimensions=\"%d %lld %lld %lld\" NumberType=\"Float\" "
            "Precision=\"%d\" Format=\"HDF\">%s:/%s</DataItem>\n"
            "    </DataItem>\n   </Attribute>\n",
            dataset, components == 6 ? tensor[component] : vector[component], n[0], n[1], n[2],
            component, n[0], n[1], n[2], components, n[0], n[1], n[2],
            job->c.precision == WEFT_SINGLE ? 4 : 8, h5, dataset);
}

static void write_grid(FILE *file, const homogenize_job *job, const char *h5,
                       const char *const dataset[2]) {
    double spacing[3];
    for (int a = 0; a < 3; a++) spacing[a] = job->c.length[a] / (double)job->info.n[a];
    fprintf(file,
            "<?xml version=\"1.0\"?>\n<Xdmf Version=\"3.0\">\n <Domain>\n"
            "  <Grid Name=\"weft homogenize\" GridType=\"Uniform\">\n"
            "   <Topology TopologyType=\"3DCoRectMesh\" Dimensions=\"%lld %lld %lld\"/>\n"
            "   <Geometry GeometryType=\"ORIGIN_DXDYDZ\">\n"
            "    <DataItem Dimensions=\"3\" Format=\"XML\">0 0 0</DataItem>\n"
            "    <DataItem Dimensions=\"3\" Format=\"XML\">%.17g %.17g %.17g</DataItem>\n"
            "   </Geometry>\n",
            (long long)job->info.n[0] + 1, (long long)job->info.n[1] + 1,
            (long long)job->info.n[2] + 1, spacing[0], spacing[1], spacing[2]);
    for (int d = 0; d < 2; d++)
        for (int i = 0; i < homogenize_components(job->c.physics); i++)
            write_attribute(file, job, h5, dataset[d], i);
    fprintf(file, "  </Grid>\n </Domain>\n</Xdmf>\n");
}

static weft_status write_xdmf(const homogenize_job *job, int load, const char *h5,
                              const char *const dataset[2]) {
    char name[NAME_BYTES];
    char *target = NULL, *temporary = NULL;
    int lock = -1;
    const char *slash = strrchr(h5, '/');
    WEFT_TRY(file_name(job, load, ".xdmf", name, sizeof name));
    WEFT_TRY(weft_temporary_create(name, &target, &temporary, &lock));
    FILE *file = fopen(temporary, "w");
    bool right = file != NULL;
    if (file) {
        write_grid(file, job, slash ? slash + 1 : h5, dataset);
        right = ferror(file) == 0;
        right = fclose(file) == 0 && right;
    }
    weft_status status =
        right ? weft_temporary_publish(temporary, target)
              : weft_fail(WEFT_ERROR_SYSTEM, "%s: writing failed: %s", name, strerror(errno));
    if (status != WEFT_SUCCESS) unlink(temporary);
    weft_temporary_release(&lock);
    free(temporary);
    free(target);
    return status;
}

weft_status homogenize_fields_write(homogenize_job *job, int load) {
    const bool elasticity = job->c.physics == HOMOGENIZE_ELASTICITY;
    const char *const dataset[2] = {elasticity ? "strain" : "gradient",
                                    elasticity ? "stress" : "flux"};
    const homogenize_space *space = &job->run.space;
    char h5[NAME_BYTES];
    weft_status status = WEFT_SUCCESS;
    if (!job->c.out.fields) return WEFT_SUCCESS;
    WEFT_TRY(file_name(job, load, NULL, h5, sizeof h5));
    for (int d = 0; d < 2; d++) {
        void *field = homogenize_host_field(&job->run, d);
        homogenize_take_tensor(space, field);
        WEFT_TRY(write_field(job, h5, dataset[d], field));
    }
    if (job->rank == 0) status = write_xdmf(job, load, h5, dataset);
    return weft_array_agree(job->comm, status);
}
