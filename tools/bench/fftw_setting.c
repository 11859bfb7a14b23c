/* FFTW's planner is one per process: what is set for one plan is taken back after it. */
#include "bench/fftw_setting.h"

#include "bench/fftw_builds.h"
#include "engine/fftw/wisdom.h"
#include "names.h"
#include "support/error.h"

#include <stdio.h>
#include <string.h>

static weft_status read_effort(const json_t *cell, unsigned *flags) {
    static const unsigned flags_of[] = {[WEFT_ESTIMATE] = WEFT_FFTW_ESTIMATE,
                                        [WEFT_MEASURE] = WEFT_FFTW_MEASURE,
                                        [WEFT_PATIENT] = WEFT_FFTW_PATIENT};
    const json_t *given = json_object_get(cell, "effort");
    const char *name = given ? json_string_value(given) : weft_effort_name(WEFT_MEASURE);
    weft_effort effort;
    if (!name || !find_effort(name, strlen(name), &effort))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "FFTW: effort %s; choose estimate, measure or patient", name ? name : "?");
    *flags = flags_of[effort];
    return WEFT_SUCCESS;
}

weft_status fftw_setting_read(bench_contestant *c, const bench_problem *p, const json_t *cell,
                              fftw_setting *setting) {
    const json_t *threads = json_object_get(cell, "threads");
    *setting = (fftw_setting){.library = fftw_build_open(c->ops->library, p->precision),
                              .precision = p->precision,
                              .keeps_wisdom = fftw_build_is_own(c->ops->library),
                              .threads = threads ? (int)json_integer_value(threads) : 1};
    if (!setting->library) return WEFT_ERROR_UNSUPPORTED;
    WEFT_TRY(read_effort(cell, &setting->flags));
    if (setting->threads > 1 && !setting->library->threads)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "%s: its threads library is missing (libfftw3_threads, and "
                         "libfftw3f_threads for single precision); install it or ask for 1 thread",
                         c->ops->library);
    /* "fftw-3.3.10-sse2-avx" */
    const char *number = strchr(setting->library->version, '-');
    snprintf(c->version, sizeof c->version, "%s", number ? number + 1 : setting->library->version);
    snprintf(c->device, sizeof c->device, "host");
    snprintf(c->engine, sizeof c->engine, "%.*s", (int)strcspn(setting->library->version, "-"),
             setting->library->version);
    return WEFT_SUCCESS;
}

void fftw_planner_enter(const fftw_setting *setting) {
    weft_fftw_planner_lock();
    if (setting->keeps_wisdom && setting->flags != WEFT_FFTW_ESTIMATE)
        weft_fftw_wisdom_import(setting->library, setting->precision);
    if (setting->library->threads)
        setting->library->plan_with_nthreads(setting->threads > 1 ? setting->threads : 1);
}

void fftw_planner_leave(const fftw_setting *setting) {
    if (setting->library->threads) setting->library->plan_with_nthreads(1);
    if (setting->keeps_wisdom && setting->flags != WEFT_FFTW_ESTIMATE)
        weft_fftw_wisdom_export(setting->library, setting->precision);
    weft_fftw_planner_unlock();
}

void fftw_plan_destroy(const fftw_setting *setting, void *plan) {
    if (!plan) return;
    weft_fftw_planner_lock();
    setting->library->destroy_plan(plan);
    weft_fftw_planner_unlock();
}
