/* Checkpoints are written by all ranks, each its own part of the fields, and rank 0 the document.
 */
#include "homogenize_checkpoint.h"

#include "array_run.h"
#include "fault.h"
#include "interrupt.h"
#include "io/agreement.h"
#include "record.h"
#include "support/clock.h"
#include "support/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_BYTES = 4096 };

static void array_name(const homogenize_checkpoint *c, int array, char name[NAME_BYTES]) {
    snprintf(name, NAME_BYTES, "%s-%d.npy", c->file, array);
}

/* From now on an interruption tells how to go on. */
static void stand(homogenize_checkpoint *c) {
    c->there = true;
    if (c->job->rank == 0) interrupt_keeps();
}

/* ---- going on ---- */

/* Fields on a device pass host memory on their way from and to files. */
static weft_status fetch_fields(homogenize_job *job) {
    const homogenize_kept kept = homogenize_checkpoint_kept(job);
    weft_status status = WEFT_SUCCESS;
    for (int p = 0; p < kept.parts && status == WEFT_SUCCESS; p++)
        status = homogenize_fetch(&job->run, kept.first + p);
    return weft_array_agree(job->comm, status);
}

static weft_status send_fields(homogenize_job *job) {
    const homogenize_kept kept = homogenize_checkpoint_kept(job);
    weft_status status = WEFT_SUCCESS;
    for (int p = 0; p < kept.parts && status == WEFT_SUCCESS; p++)
        status = homogenize_send(&job->run, kept.first + p);
    return weft_array_agree(job->comm, status);
}

static weft_status read_fields(homogenize_checkpoint *c, uint64_t sum) {
    homogenize_job *job = c->job;
    const homogenize_kept kept = homogenize_checkpoint_kept(job);
    const weft_array_info *wanted = &kept.info;
    weft_array *array = NULL;
    char name[NAME_BYTES];
    array_name(c, c->array, name);
    WEFT_TRY(weft_array_open(job->comm, name, NULL, &array));
    const weft_array_info *found = weft_array_describe(array);
    weft_status status = WEFT_SUCCESS;
    bool right = found->rank == 4 && found->element == wanted->element &&
                 memcmp(found->n, wanted->n, 4 * sizeof *wanted->n) == 0;
    for (int p = 0; right && status == WEFT_SUCCESS && p < kept.parts; p++)
        status = weft_array_read(array, &kept.box[p], wanted->element, kept.memory[p]);
    weft_array_close(&array);
    if (right && status == WEFT_SUCCESS) right = homogenize_checkpoint_sum(job) == sum;
    if (right && status == WEFT_SUCCESS) status = send_fields(job);
    if (right || status != WEFT_SUCCESS) return status;
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                     "%s: these are not the fields that the checkpoint was written with; drop "
                     "--resume to begin anew",
                     name);
}

static weft_status go_on(homogenize_checkpoint *c, const json_t *document) {
    homogenize_job *job = c->job;
    uint64_t sum = 0;
    WEFT_TRY(homogenize_checkpoint_compare(c->file, document, c->description));
    WEFT_TRY(weft_array_agree(
        job->comm, homogenize_checkpoint_restore(c->file, document, job, &c->array, &sum)));
    if (c->array > 0) WEFT_TRY(read_fields(c, sum));
    if (c->array > 0) c->iteration = job->result[job->results - 1].iterations;
    stand(c);
    return WEFT_SUCCESS;
}

static weft_status look_at(homogenize_checkpoint *c, const char *text, bool resume) {
    json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    weft_status status = homogenize_checkpoint_check(c->file, document);
    if (status == WEFT_SUCCESS && resume) status = go_on(c, document);
    if (status == WEFT_SUCCESS && !resume) {
        c->array = (int)json_integer_value(
            json_object_get(json_object_get(document, "under_way"), "array"));
        if (c->job->rank == 0)
            fprintf(stderr,
                    "weft: %s: a run that was stopped can be resumed with --resume; this one "
                    "starts anew\n",
                    c->file);
    }
    json_decref(document);
    return status;
}

weft_status homogenize_checkpoint_begin(homogenize_job *job, bool resume,
                                        homogenize_checkpoint *c) {
    char *text = NULL;
    int there = 0;
    *c = (homogenize_checkpoint){
        .job = job, .file = job->c.checkpoint.file, .written = weft_clock()};
    if (!c->file) return WEFT_SUCCESS;
    weft_status status = WEFT_SUCCESS;
    if (strlen(c->file) + sizeof "-1.npy" > NAME_BYTES)
        status = weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "checkpoint.file: %s is too long a name",
                           c->file);
    if (status == WEFT_SUCCESS && job->rank == 0) {
        status = record_check_path(c->file);
        there = access(c->file, F_OK) == 0;
    }
    WEFT_TRY(weft_array_agree(job->comm, status));
    MPI_Bcast(&there, 1, MPI_INT, 0, job->comm);
    c->description = homogenize_checkpoint_case(job);
    if (!c->description) status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a checkpoint");
    WEFT_TRY(weft_array_agree(job->comm, status));
    if (!there) return WEFT_SUCCESS;
    WEFT_TRY(homogenize_share_text(job->comm, c->file, &text));
    status = look_at(c, text, resume);
    free(text);
    return status;
}

/* ---- writing ---- */

/* A failure that a test asks for, of one rank or all. */
static weft_status fail_on_demand(const homogenize_checkpoint *c, fault_place place) {
    if (!fault_is_due(place, c->job->results - 1)) return WEFT_SUCCESS;
    return fault_happens();
}

static weft_status write_fields(const homogenize_checkpoint *c, int number) {
    const homogenize_job *job = c->job;
    const homogenize_kept kept = homogenize_checkpoint_kept(job);
    const weft_array_creation how = {.made = interrupt_removes};
    weft_array *array = NULL;
    char name[NAME_BYTES];
    array_name(c, number, name);
    WEFT_TRY(array_run_create_file(job->comm, name, &kept.info, &how, &array));
    weft_status status = fail_on_demand(c, FAULT_BEFORE_TILE);
    status = weft_array_agree(job->comm, status);
    for (int p = 0; status == WEFT_SUCCESS && p < kept.parts; p++)
        status = weft_array_write(array, &kept.box[p], kept.memory[p]);
    if (status == WEFT_SUCCESS) status = fail_on_demand(c, FAULT_IN_TILE);
    status = weft_array_commit(&array, status);
    interrupt_removes(NULL);
    return status;
}

static weft_status write_document(const homogenize_checkpoint *c, int array, uint64_t sum) {
    json_t *document = homogenize_checkpoint_document(c->job, c->description, array, sum);
    if (!document) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a checkpoint");
    return record_write_json(c->file, RECORD_ALL_DIGITS, document);
}

static void remove_array(const homogenize_checkpoint *c, int array) {
    char name[NAME_BYTES];
    if (array == 0 || c->job->rank > 0) return;
    array_name(c, array, name);
    unlink(name);
}

/* The document, and behind it the array that is no longer needed. */
static weft_status publish(homogenize_checkpoint *c, int array, uint64_t sum) {
    MPI_Comm comm = c->job->comm;
    const weft_status mine = c->job->rank == 0 ? write_document(c, array, sum) : WEFT_SUCCESS;
    const weft_status status = weft_array_agree(comm, mine);
    if (status != WEFT_SUCCESS) {
        remove_array(c, array);
        return status;
    }
    remove_array(c, c->array);
    c->array = array;
    c->written = weft_clock();
    c->count++;
    stand(c);
    return WEFT_SUCCESS;
}

/* Time differs between ranks; rank 0's counts. */
static weft_status is_due(const homogenize_checkpoint *c, bool *due) {
    const homogenize_job *job = c->job;
    const homogenize_checkpoint_rule *rule = &job->c.checkpoint;
    const int done = job->result[job->results - 1].iterations - c->iteration;
    int late = weft_clock() - c->written >= rule->seconds;
    *due = rule->iterations > 0 && done >= rule->iterations;
    if (rule->seconds == 0 || done == 0) return WEFT_SUCCESS;
    if (MPI_Bcast(&late, 1, MPI_INT, 0, job->comm) != MPI_SUCCESS)
        return weft_fail(WEFT_ERROR_TRANSPORT, "MPI failed while the ranks looked at the time");
    *due = *due || late;
    return WEFT_SUCCESS;
}

weft_status homogenize_checkpoint_rest(homogenize_checkpoint *c, bool last) {
    bool due = false;
    if (!c->file) return WEFT_SUCCESS;
    const int iteration = c->job->result[c->job->results - 1].iterations;
    WEFT_TRY(is_due(c, &due));
    if (!due && !(last && iteration > c->iteration)) return WEFT_SUCCESS;
    const int array = c->array == 1 ? 2 : 1;
    WEFT_TRY(fetch_fields(c->job));
    const uint64_t sum = homogenize_checkpoint_sum(c->job);
    weft_status status = write_fields(c, array);
    if (status == WEFT_SUCCESS) status = publish(c, array, sum);
    if (status != WEFT_SUCCESS) return status;
    c->iteration = iteration;
    return weft_array_agree(c->job->comm, fail_on_demand(c, FAULT_BEHIND_TILE));
}

weft_status homogenize_checkpoint_end_load(homogenize_checkpoint *c) {
    if (!c->file) return WEFT_SUCCESS;
    c->iteration = 0;
    return publish(c, 0, 0);
}

/* ---- the end ---- */

void homogenize_checkpoint_remove(homogenize_checkpoint *c) {
    if (!c->file || c->job->rank > 0) return;
    interrupt_removes(NULL);
    unlink(c->file);
    remove_array(c, c->array);
    c->there = false;
}

/* From numbers that have grown beyond all bounds nobody goes on. */
weft_status homogenize_checkpoint_explain(const homogenize_checkpoint *c, weft_status status) {
    char sentence[WEFT_ERROR_BYTES];
    const int results = c->job ? c->job->results : 0;
    if (!c->there || (results > 0 && !isfinite(c->job->result[results - 1].residual)))
        return status;
    snprintf(sentence, sizeof sentence, "%s", weft_thread_error());
    return weft_fail(status, "%s" INTERRUPT_GO_ON, sentence);
}

void homogenize_checkpoint_release(homogenize_checkpoint *c) {
    json_decref(c->description);
    memset(c, 0, sizeof *c);
}
