/* Streamed schedules over several ranks: messages leave while the passes before them go on. */
#include "plan/lower.h"
#include "schedule_setting.h"

static const weft_exchange messages[] = {WEFT_P2P_SYNC, WEFT_P2P_STREAMS, WEFT_P2P_TYPE,
                                         WEFT_A2A_SYNC, WEFT_A2A_TYPE};

static setting *streamed(weft_decomposition decomposition, weft_exchange method, int p1, int p2) {
    setting *s = make(WEFT_C2C, decomposition, WEFT_DEFAULT, method, p1, p2);
    s->planner.room = 1 << 20; /* tiles are a few planes */
    s->planner.host_buffers = true;
    s->candidate.engine = weft_engine_find(WEFT_ENGINE_NATIVE);
    s->candidate.device = weft_device_find(WEFT_SIMULATED);
    s->candidate.stream.used = true;
    return s;
}

static bool sends(const weft_task *task) {
    return task->kind == WEFT_TASK_SEND || task->kind == WEFT_TASK_ALLTOALL;
}

/* How many messages of the exchange, step number `step`, come in the list before the last copy of
 * the pass before it from the device. A task depends on none behind it in the list. */
static int early_messages(const weft_lowered *lowered, int step) {
    int last = -1, early = 0;
    for (int t = 0; t < lowered->tasks.count; t++)
        if (lowered->tasks.task[t].step == step - 1) last = t;
    for (int t = 0; t < last; t++)
        early += lowered->tasks.task[t].step == step && sends(&lowered->tasks.task[t]);
    return early;
}

static void check_messages(setting *s, weft_direction direction, bool in_place, int exchanges,
                           bool all) {
    weft_lowered lowered;
    int found = 0, early = 0;
    schedule(s, 0, direction, in_place);
    assert_int_equal(weft_schedule_lower(&s->schedule, s->candidate.device, &lowered),
                     WEFT_SUCCESS);
    for (int i = 0; i < s->schedule.steps; i++) {
        if (s->schedule.step[i].kind != WEFT_STEP_EXCHANGE) continue;
        found++;
        early += early_messages(&lowered, i) > 3;
    }
    assert_int_equal(found, exchanges);
    assert_int_equal(lowered.messages_sent, 8 * exchanges); /* tiles, each to one partner */
    assert_true(all ? early == exchanges : early >= 0);
    weft_lowered_release(&lowered);
    weft_schedule_release(&s->schedule);
}

/* Blocks leave early in every exchange, there and back and in place, too. Messages from array to
 * array do not where they arrive in the array that the pass before them reads. */
static void messages_leave_while_passes_go_on(void **state) {
    (void)state;
    EACH(messages, m)
    for (int mix = 0; mix < 6; mix++) {
        const weft_direction direction = (weft_direction)(mix / 2);
        const bool in_place = mix % 2, packs = weft_exchange_packs(weft_exchange_find(messages[m]));
        const int ways = direction == WEFT_CONVOLVE ? 2 : 1;
        setting *slab = streamed(WEFT_SLAB_2D1D, messages[m], 2, 0),
                *pencil = streamed(WEFT_PENCIL, messages[m], 2, 2);
        check_messages(slab, direction, in_place, ways, packs || (!in_place && ways == 1));
        check_messages(pencil, direction, in_place, 2 * ways, packs);
        free(slab);
        free(pencil);
    }
}

/* In the three buffers through which blocks rotate, nothing arrives where the pass before the
 * exchange loads. */
static void blocks_arrive_where_nothing_is_loaded(void **state) {
    (void)state;
    for (int mix = 0; mix < 6; mix++) {
        setting *s = streamed(WEFT_PENCIL, WEFT_P2P_SYNC, 2, 2);
        schedule(s, 1, (weft_direction)(mix / 2), mix % 2);
        for (int p = 0; p < s->schedule.stream.passes; p++) {
            const weft_streamed_pass *pass = &s->schedule.stream.pass[p];
            if (pass->stores_blocks < 0) continue;
            const weft_step *exchange = &s->schedule.step[pass->stores_blocks];
            assert_int_not_equal(exchange->dst, s->schedule.step[pass->first].src);
            assert_int_not_equal(exchange->dst, exchange->src);
        }
        weft_schedule_release(&s->schedule);
        free(s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_leave_while_passes_go_on),
        cmocka_unit_test(blocks_arrive_where_nothing_is_loaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
