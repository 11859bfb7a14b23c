/*
 * Machine records in files: JSON, as `weft tune` writes it, with a number or a list of numbers for
 * each field of weft_machine, by sections that are named as its members. What a file lacks keeps
 * its default; what is no field, or no possible value, is refused.
 */
#ifndef WEFT_PLAN_MACHINE_FILE_H
#define WEFT_PLAN_MACHINE_FILE_H

#include "plan/machine.h"
#include "support/cache_file.h"

#include <stdbool.h>
#include <weft/weft.h>

/* By which record plans predict, and where it comes from. */
typedef struct weft_machine_source {
    weft_machine machine;
    char file[512]; /* "": the default */
    char note[512]; /* why the file that there is is ignored, or "" */
} weft_machine_source;

/* The file of this machine's record: WEFT_MACHINE, or machine.json in the cache folder
 * (support/cache_file.h). False where there is none: WEFT_MACHINE is empty, or there is no folder.
 */
bool weft_machine_path(char path[WEFT_PATH_BYTES]);

/* Reads a record. INVALID_ARGUMENT for content, with a sentence that names file and key; SYSTEM
 * where it cannot be read. *machine is set only on success. */
weft_status weft_machine_read(const char *path, weft_machine *machine);

/* Replaces a file at once. `about` says how the record was made, or is NULL. */
weft_status weft_machine_write(const char *path, const weft_machine *machine, const char *about);

/* Sets a field, all numbers of a list, that is named as in a file: "rate.latency".
 * INVALID_ARGUMENT for no field, or no possible value. */
weft_status weft_machine_set(weft_machine *machine, const char *name, double value);

/* The record of this machine; the default where there is no file or it cannot be used, which the
 * note says. */
void weft_machine_find(weft_machine_source *source);

#endif
