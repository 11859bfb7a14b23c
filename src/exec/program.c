/* Making programs: lowering a schedule to tasks, and preparing what the tasks need. */
#include "exec/program.h"

#include "exec/plan.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>

/* ---- engine plans ---- */

static bool same_dimension(const weft_dimension *a, const weft_dimension *b) {
    return a->n == b->n && a->in_stride == b->in_stride && a->out_stride == b->out_stride;
}

/* Lists of operators belong to the plan, so two lists are the same if their addresses are. */
static bool same_operators(const weft_fused_operators *a, const weft_fused_operators *b) {
    return a->list == b->list && a->layout.stored.storage == b->layout.stored.storage &&
           a->layout.keeps == b->layout.keeps &&
           a->layout.stored.cropped == b->layout.stored.cropped &&
           memcmp(a->layout.stored.n, b->layout.stored.n, sizeof a->layout.stored.n) == 0;
}

static bool same_transform(const weft_transform *a, const weft_transform *b) {
    bool same = a->in_pieces.piece == b->in_pieces.piece &&
                a->out_pieces.piece == b->out_pieces.piece && a->kind == b->kind &&
                a->direction == b->direction && a->dims == b->dims && a->loops == b->loops &&
                a->in_place == b->in_place && a->destroy_input == b->destroy_input &&
                a->round_trip == b->round_trip && a->part_loop == b->part_loop &&
                a->scratch == b->scratch && a->in_batch == b->in_batch && a->whole == b->whole &&
                same_operators(&a->load, &b->load) && same_operators(&a->spectral, &b->spectral) &&
                same_operators(&a->store, &b->store);
    for (int i = 0; i < a->dims && same; i++)
        same = same_dimension(&a->dim[i], &b->dim[i]) && a->type[i] == b->type[i];
    for (int i = 0; i < a->loops && same; i++) same = same_dimension(&a->loop[i], &b->loop[i]);
    return same;
}

static weft_status find_or_plan(weft_build *b, const weft_transform *transform,
                                weft_engine_plan **plan) {
    for (int i = 0; i < b->transforms.count; i++)
        if (same_transform(&b->transforms.list[i].transform, transform)) {
            *plan = b->transforms.list[i].plan;
            return WEFT_SUCCESS;
        }
    size_t bytes = 0;
    weft_ready_transform *more =
        realloc(b->transforms.list, ((size_t)b->transforms.count + 1) * sizeof *more);
    if (!more) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a plan's transforms");
    b->transforms.list = more;
    WEFT_TRY(b->candidate.engine->supports(transform, b->device.ops));
    WEFT_TRY(b->candidate.engine->plan(transform, &b->device, plan, &bytes));
    b->transforms.list[b->transforms.count++] = (weft_ready_transform){*transform, *plan};
    b->memory.tables += bytes + sizeof *more;
    return WEFT_SUCCESS;
}

static weft_status plan_transform(weft_build *b, const weft_fft_step *fft, const weft_task *task,
                                  weft_engine_plan **plan) {
    weft_transform t = fft->transform;
    if (task->as.fft.n > 0) {
        t.part_loop = fft->tile_loop;
        t.loop[fft->tile_loop].n = task->as.fft.n;
    }
    if (fft->by_member) weft_step_set_types(&b->chain, fft, fft->member + task->as.fft.first, &t);
    if (task->as.fft.from_partners && fft->remote_piece) t.in_pieces.piece = fft->remote_piece;
    t.scratch = &b->transforms.scratch[task->lane == WEFT_LANE_LOW_PRIORITY];
    return find_or_plan(b, &t, plan);
}

/* ---- who waits for whom ---- */

/* A task that waits for the compute lane waits for the lane's latest task before it in the list.
 * The lane does its work in order, so all that was enqueued before that one is done too. */
static void find_waits(weft_program *p) {
    int latest = -1;
    for (int t = 0; t < p->lowered.tasks.count; t++) {
        const weft_task *task = &p->lowered.tasks.task[t];
        p->prepared[t].waits_for = task->waits ? latest : -1;
        if (task->waits && latest >= 0 && p->meets) p->prepared[latest].watched = true;
        if (task->lane == WEFT_LANE_COMPUTE && p->prepared[t].async) latest = t;
    }
}

/* Whether a task of the device needs an event. Tasks of its own lane follow it in order, and the
 * sender is called when its block is packed; other lanes wait for the event, and for tasks of the
 * network the calling thread does. */
static bool needs_event(const weft_program *p, int t, bool *watched) {
    const weft_task *task = &p->lowered.tasks.task[t];
    bool needed = *watched || (task->kind == WEFT_TASK_COPY && task->as.copy.from_partner);
    *watched = needed;
    for (int i = p->order.first_after[t]; i < p->order.first_after[t + 1]; i++) {
        const weft_task *next = &p->lowered.tasks.task[p->order.after[i]];
        if (next->lane == task->lane ||
            (next->lane == WEFT_LANE_SENDER && next->as.message.packed == t))
            continue;
        needed = true;
        *watched = *watched || !p->prepared[p->order.after[i]].async;
    }
    return needed;
}

static weft_status make_events(weft_build *b, weft_program *p) {
    const weft_device_handle *d = &b->device;
    find_waits(p);
    for (int t = 0; t < p->lowered.tasks.count; t++)
        if (p->prepared[t].async && needs_event(p, t, &p->prepared[t].watched) && p->polls)
            WEFT_TRY(d->ops->event_create(d->state, &p->prepared[t].event));
    return WEFT_SUCCESS;
}

/* Finds the buffers that a task writes and that partners may still read. */
static void find_claims(const weft_build *b, weft_program *p, int t) {
    const weft_task *task = &p->lowered.tasks.task[t];
    for (int i = 0; i < task->accesses; i++) {
        const weft_access *a = weft_tasks_accessed(&p->lowered.tasks, t, i);
        const int w = a->buffer - WEFT_BUFFER_WORKSPACE;
        if (a->writes && w >= 0 && w < WEFT_SHARED_BUFFERS && weft_build_is_read(b, w))
            p->prepared[t].claims |= 1u << w;
    }
}

/* A task is blocked by the tasks that it depends on, and by the one in its `after`. */
static void count_blockers(weft_program *p) {
    const weft_tasks *tasks = &p->lowered.tasks;
    for (int t = 0; t < tasks->count; t++)
        p->prepared[t].first_released = p->prepared[t].next_released = -1;
    for (int t = tasks->count - 1; t >= 0; t--) {
        const int after = tasks->task[t].after;
        p->prepared[t].blockers =
            p->order.first_before[t + 1] - p->order.first_before[t] + (after >= 0);
        if (after < 0) continue;
        p->prepared[t].next_released = p->prepared[after].first_released;
        p->prepared[after].first_released = t;
    }
}

/* ---- memory ---- */

static weft_status out_of_memory(void) {
    return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a plan's tasks");
}

/* Allocates `count` elements of `bytes` each, all zero, for the pointer at `list`. */
static bool allocate(weft_program *p, void *list, int count, size_t bytes) {
    void **memory = list;
    *memory = calloc((size_t)count + 1, bytes);
    p->bytes += ((size_t)count + 1) * bytes;
    return *memory != NULL;
}

static weft_status allocate_lists(weft_program *p, bool traced) {
    const int tasks = p->lowered.tasks.count;
    weft_progress *now = &p->progress;
    const bool all = allocate(p, &p->prepared, tasks, sizeof *p->prepared) &&
                     allocate(p, &p->peer, p->lowered.peers, sizeof(weft_peer *)) &&
                     allocate(p, &now->address, p->lowered.buffers, sizeof(void *)) &&
                     allocate(p, &now->array, p->lowered.buffers, sizeof(void *)) &&
                     allocate(p, &now->task, tasks, sizeof *now->task) &&
                     allocate(p, &now->ready, tasks / 64 + 1, sizeof(uint64_t)) &&
                     (!traced || allocate(p, &now->span, tasks, sizeof *now->span));
    p->bytes += (size_t)tasks * sizeof(weft_task) +
                (size_t)p->lowered.tasks.accesses * sizeof(weft_access) +
                (size_t)p->order.edges * 2 * sizeof(int);
    return all ? WEFT_SUCCESS : out_of_memory();
}

static weft_status make_queues(weft_build *b, const weft_program *p) {
    const weft_device_handle *d = &b->device;
    for (int lane = WEFT_LANE_COMPUTE + 1; lane < WEFT_LANE_NETWORK; lane++)
        if ((p->lowered.lanes & 1 << lane) && !b->lanes.queue[lane])
            WEFT_TRY(d->ops->queue_create(d->state, lane == WEFT_LANE_LOW_PRIORITY,
                                          &b->lanes.queue[lane]));
    return WEFT_SUCCESS;
}

static void classify(weft_program *p) {
    const weft_tasks *tasks = &p->lowered.tasks;
    const int device = (1 << WEFT_LANE_NETWORK) - 1,
              others = p->lowered.lanes & ~(1 << WEFT_LANE_COMPUTE);
    p->sequential = others == 0;
    p->polls = (others & device) != 0;
    for (int t = 0; t < tasks->count; t++) {
        p->sequential = p->sequential && tasks->task[t].kind < WEFT_TASK_SEND;
        p->meets = p->meets || tasks->task[t].kind == WEFT_TASK_DEVICE_MESSAGES;
    }
    p->polls = p->polls || p->meets;
}

weft_status weft_program_prepare(weft_build *b, int s) {
    weft_program *p = &b->program[s];
    const weft_tasks *tasks = &p->lowered.tasks;
    classify(p);
    if (!p->sequential) WEFT_TRY(weft_dependencies_derive(tasks, &p->order));
    const bool traced = b->candidate.stream.used && b->planner->call->options.trace;
    WEFT_TRY(allocate_lists(p, traced));
    for (int t = 0; t < tasks->count; t++)
        if (tasks->task[t].kind == WEFT_TASK_FFT)
            WEFT_TRY(plan_transform(b, &b->schedule[s].step[tasks->task[t].step].as.fft,
                                    &tasks->task[t], &p->prepared[t].plan));
    b->memory.tables += p->bytes;
    if (p->sequential) return WEFT_SUCCESS;
    count_blockers(p);
    for (int t = 0; t < tasks->count; t++) {
        const int lane = tasks->task[t].lane;
        p->prepared[t].async = weft_lane_of_device(lane) &&
                               (lane != WEFT_LANE_COMPUTE || !b->device.ops->host_addressable);
        find_claims(b, p, t);
    }
    WEFT_TRY(make_queues(b, p));
    return make_events(b, p);
}

weft_status weft_program_create(weft_build *b, int s) {
    WEFT_TRY(weft_schedule_lower(&b->schedule[s], b->device.ops, &b->program[s].lowered));
    return weft_program_prepare(b, s);
}

/* ---- partners ---- */

/* Where an access stands in a list of what is sent to each member and then received from each. */
static size_t number_in_alltoall(const weft_access *a, size_t members) {
    return (a->writes ? members : 0) + (size_t)a->member;
}

/* Making an all-to-all of runs is collective, so a rank without memory for them takes part. */
static weft_status make_alltoall_of_runs(const weft_tasks *tasks, int t, weft_transport *group,
                                         weft_alltoall **alltoall) {
    const size_t members = (size_t)group->size;
    weft_run *run = calloc(2 * members, sizeof *run);
    weft_status status = run ? WEFT_SUCCESS : out_of_memory();
    for (int i = 0; run && i < tasks->task[t].accesses; i++) {
        const weft_access *a = weft_tasks_accessed(tasks, t, i);
        run[number_in_alltoall(a, members)] =
            (weft_run){a->view.offset, weft_view_elements(&a->view)};
    }
    weft_keep(&status,
              group->ops->alltoall_create(group, run, run ? run + members : NULL,
                                          tasks->task[t].as.message.element_bytes, alltoall));
    free(run);
    return status;
}

static weft_status make_alltoall_of_views(const weft_tasks *tasks, int t, weft_transport *group,
                                          weft_alltoall **alltoall) {
    const weft_task *task = &tasks->task[t];
    const size_t members = (size_t)group->size;
    weft_message **message = calloc(2 * members, sizeof(weft_message *));
    weft_status status = message ? WEFT_SUCCESS : out_of_memory();
    for (int i = 0; i < task->accesses && status == WEFT_SUCCESS; i++) {
        const weft_access *a = weft_tasks_accessed(tasks, t, i);
        status =
            group->ops->message_create(group, &a->view, task->as.message.order, a->element_bytes,
                                       &message[number_in_alltoall(a, members)]);
    }
    if (status == WEFT_SUCCESS)
        status = group->ops->alltoall_create_typed(group, message, message + members, alltoall);
    for (size_t m = 0; message && m < 2 * members; m++)
        if (message[m]) group->ops->message_destroy(group, message[m]);
    free(message);
    return status;
}

static weft_status connect_task(weft_build *b, weft_program *p, int t) {
    const weft_tasks *tasks = &p->lowered.tasks;
    const weft_task *task = &tasks->task[t];
    const weft_access *a = weft_tasks_accessed(tasks, t, 0);
    const bool single = task->kind == WEFT_TASK_SEND || task->kind == WEFT_TASK_RECEIVE;
    if (!single && task->kind != WEFT_TASK_ALLTOALL) return WEFT_SUCCESS;
    weft_transport *group = b->groups.of[task->as.message.redistribution];
    weft_prepared *prepared = &p->prepared[t];
    if (single)
        return group->ops->message_create(group, &a->view, task->as.message.order, a->element_bytes,
                                          &prepared->message);
    return task->as.message.typed ? make_alltoall_of_views(tasks, t, group, &prepared->alltoall)
                                  : make_alltoall_of_runs(tasks, t, group, &prepared->alltoall);
}

static weft_status number_messages(weft_program *p) {
    const weft_tasks *tasks = &p->lowered.tasks;
    weft_progress *now = &p->progress;
    for (int t = 0; t < tasks->count; t++) {
        p->sends += tasks->task[t].kind == WEFT_TASK_SEND;
        p->receives += tasks->task[t].kind == WEFT_TASK_RECEIVE;
    }
    if (!allocate(p, &now->request, p->receives + p->sends, sizeof *now->request) ||
        !allocate(p, &now->message, p->receives + p->sends, sizeof(int)) ||
        !allocate(p, &p->notice, p->sends, sizeof *p->notice) ||
        !allocate(p, &p->device_message, tasks->accesses, sizeof *p->device_message))
        return out_of_memory();
    for (int t = 0; t < tasks->count; t++) {
        const weft_task *task = &tasks->task[t];
        const weft_message_task *message = &task->as.message;
        if (task->kind == WEFT_TASK_RECEIVE) now->message[message->request] = t;
        if (task->kind != WEFT_TASK_SEND) continue;
        now->message[p->receives + message->request] = t;
        if (task->lane != WEFT_LANE_SENDER || message->packed < 0) continue;
        p->notice[p->notices] = (weft_packed_notice){.copy = message->packed, .message = t};
        p->prepared[message->packed].notice = &p->notice[p->notices++];
    }
    return WEFT_SUCCESS;
}

weft_status weft_program_connect(weft_build *b, int s) {
    weft_program *p = &b->program[s];
    if (p->sequential) return WEFT_SUCCESS;
    const size_t bytes = p->bytes;
    weft_status status = number_messages(p);
    for (int i = 0; i < p->lowered.peers; i++)
        weft_keep(&status, weft_build_peer(b, s, p->lowered.peer_step[i], &p->peer[i]));
    for (int t = 0; t < p->lowered.tasks.count; t++) weft_keep(&status, connect_task(b, p, t));
    b->memory.tables += p->bytes - bytes;
    return status;
}

static void release_task(weft_build *b, weft_program *p, int t) {
    const weft_task *task = &p->lowered.tasks.task[t];
    weft_prepared *prepared = &p->prepared[t];
    if (prepared->event) b->device.ops->event_destroy(b->device.state, prepared->event);
    if (!prepared->message && !prepared->alltoall) return;
    weft_transport *group = b->groups.of[task->as.message.redistribution];
    if (prepared->message) group->ops->message_destroy(group, prepared->message);
    if (prepared->alltoall) group->ops->alltoall_destroy(group, prepared->alltoall);
}

void weft_program_release(weft_build *b, int s) {
    weft_program *p = &b->program[s];
    weft_progress *now = &p->progress;
    for (int t = 0; t < p->lowered.tasks.count && p->prepared; t++) release_task(b, p, t);
    void *const lists[] = {p->prepared,  p->peer,    p->notice,    p->device_message,
                           now->task,    now->ready, now->request, now->message,
                           now->address, now->array, p->hooked,    now->span};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) free(lists[i]);
    weft_dependencies_release(&p->order);
    weft_lowered_release(&p->lowered);
    *p = (weft_program){0};
}
