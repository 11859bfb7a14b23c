/*
 * The threads of a block of kernels with barriers: fibers that take turns, each from one barrier to
 * the next. They wait for the next block of their stream when they have ended, and a turn changes
 * without a system call, for both would take most of the time of a test.
 */
#include <ucontext.h>

#include <cstdlib>

#include "host_cuda.h"

namespace {

enum { MOST = 4096, STACK_BYTES = 64 << 10 };

struct fiber {
    void *place[5]; /* where its turn begins, for __builtin_longjmp */
    char *stack;
    bool done;
};

/* Of each thread of the host that runs kernels. */
struct fibers {
    void *scheduler[5];
    fiber all[MOST];
    unsigned turn;
    void (*function)(unsigned);
    ~fibers() {
        for (fiber &f : all) std::free(f.stack);
    }
};

thread_local fibers mine;

[[noreturn]] __attribute__((noinline)) void jump(void **place) {
    __builtin_longjmp(place, 1);
}

__attribute__((noinline)) void leave() {
    if (!__builtin_setjmp(mine.all[mine.turn].place)) jump(mine.scheduler);
}

[[noreturn]] void live() {
    for (;;) {
        leave();
        mine.function(mine.turn);
        mine.all[mine.turn].done = true;
    }
}

__attribute__((noinline)) void enter(unsigned turn) {
    mine.turn = turn;
    if (!__builtin_setjmp(mine.scheduler)) jump(mine.all[turn].place);
}

/* Lets a fiber live until its first turn. */
__attribute__((noinline)) void create(unsigned turn) {
    fiber &f = mine.all[turn];
    f.stack = static_cast<char *>(std::malloc(STACK_BYTES));
    if (!f.stack) std::abort();
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = f.stack;
    context.uc_stack.ss_size = STACK_BYTES;
    context.uc_link = nullptr;
    makecontext(&context, live, 0);
    mine.turn = turn;
    if (!__builtin_setjmp(mine.scheduler)) setcontext(&context);
}

void run(unsigned threads, void (*function)(unsigned)) {
    mine.function = function;
    for (unsigned t = 0; t < threads; t++) {
        if (!mine.all[t].stack) create(t);
        mine.all[t].done = false;
    }
    for (unsigned left = threads; left > 0;) {
        left = 0;
        for (unsigned t = 0; t < threads; t++) {
            if (mine.all[t].done) continue;
            enter(t);
            left += !mine.all[t].done;
        }
    }
}

} // namespace

const host_fibers host_block_fibers = {run, leave};
