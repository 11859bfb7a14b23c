/* What is said of ranks that a launcher kills. The launcher is a shell, the ranks are this program.
 */
#include "watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "launch.h"

static const char *self;

int launch_rank_hint(void) {
    const char *rank = getenv("PMI_RANK");
    return rank != NULL ? atoi(rank) : -1;
}

/* Rank 1 says that it is there and never ends; its parent is killed once rank 0 has ended. */
static int run_and_kill(const char *how_rank_0_ends) {
    static const char script[] = "exec 2>&-; PMI_RANK=1 \"$0\" stay >ready.$$ & stays=$!\n"
                                 "until test -s ready.$$; do sleep 0.01; done; sleep 0.2\n"
                                 "PMI_RANK=0 \"$0\" \"$1\"; code=$?\n"
                                 "kill -9 $stays; wait; rm ready.$$; exit $code\n";
    const char *line[] = {"sh", "-c", script, self, how_rank_0_ends, NULL};
    int code = -1;
    assert_int_equal(watch_launcher(line, 2, &code), WEFT_SUCCESS);
    return code;
}

static void a_failure_is_not_mistaken_for_the_deaths_it_causes(void **state) {
    (void)state;
    assert_int_equal(run_and_kill("2"), 2);
    assert_int_equal(run_and_kill("1"), 1);
}

static void a_rank_that_is_killed_alone_fails_the_run(void **state) {
    (void)state;
    assert_int_equal(run_and_kill("0"), 1);
}

int main(int count, char **arguments) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_is_not_mistaken_for_the_deaths_it_causes),
        cmocka_unit_test(a_rank_that_is_killed_alone_fails_the_run),
    };
    self = arguments[0];
    if (launch_rank_hint() < 0) return cmocka_run_group_tests(tests, NULL, NULL);
    watch_rank();
    if (count == 2 && launch_rank_hint() == 0) return atoi(arguments[1]);
    puts("ready");
    fflush(stdout);
    for (;;) pause();
}
