/* A program of an older version of weft.h (older.cmake) with the present shared library: what it
 * knows works, and what it does not know of stays as it was. Prints nothing when all is well. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <weft/weft.h>

enum { ROWS = 6, COLUMNS = 10, POINTS = ROWS * COLUMNS };

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition,                     \
                    weft_last_error(NULL));                                                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* There and back with an operator; sizes are given, or 0. */
static void transform(weft_context ctx, int sized) {
    const weft_operator half = {
        .struct_size = sized ? sizeof half : 0, .kind = WEFT_OPERATOR_SCALE, .factor = 0.5};
    const weft_problem problem = {.struct_size = sized ? sizeof problem : 0,
                                  .rank = 2,
                                  .n = {ROWS, COLUMNS},
                                  .kind = WEFT_R2C,
                                  .norm = WEFT_NORM_BACKWARD,
                                  .load = {&half, 1}};
    const weft_options options = {
        .struct_size = sized ? sizeof options : 0, .engine = WEFT_ENGINE_REFERENCE, .trace = 1};
    double field[POINTS], back[POINTS], spectrum[2 * ROWS * (COLUMNS / 2 + 1)];
    weft_plan plan = NULL;
    EXPECT(weft_plan_create(ctx, &problem, &options, &plan) == WEFT_SUCCESS);
    for (int i = 0; i < POINTS; i++) field[i] = i;
    EXPECT(weft_execute(plan, WEFT_FORWARD, field, spectrum) == WEFT_SUCCESS);
    EXPECT(weft_execute(plan, WEFT_INVERSE, spectrum, back) == WEFT_SUCCESS);
    for (int i = 0; i < POINTS; i++) EXPECT(fabs(back[i] - 0.5 * i) < 1e-12);

    struct {
        weft_options options;
        unsigned char guard[64];
    } found;
    memset(&found, 0x5a, sizeof found);
    found.options.struct_size = sized ? sizeof found.options : 0;
    EXPECT(weft_plan_options(plan, &found.options) == WEFT_SUCCESS);
    EXPECT(found.options.engine == WEFT_ENGINE_REFERENCE && found.options.trace == 1);
    for (size_t i = 0; i < sizeof found.guard; i++) EXPECT(found.guard[i] == 0x5a);
    weft_plan_destroy(&plan);
}

int main(void) {
    weft_context ctx = NULL;
    EXPECT(weft_context_create(NULL, &ctx) == WEFT_SUCCESS);
    transform(ctx, 0);
    transform(ctx, 1);
    weft_context_destroy(&ctx);
    return 0;
}
