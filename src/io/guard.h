/*
 * Copies between memory and a mapped file of which a page cannot be had: the system raises SIGBUS
 * in the thread that touches it. A program whose handler of SIGBUS calls weft_guard_escape has such
 * a copy fail instead.
 */
#ifndef WEFT_IO_GUARD_H
#define WEFT_IO_GUARD_H

#include "layout/layout.h"

/* Copies as weft_copy_run does, by this thread; false where a page cannot be had. */
bool weft_guarded_copy(const weft_copy *copy, const void *src, void *dst);

/* In a handler of SIGBUS: ends the copy that this thread is in, and does not return. Returns if it
 * is in none. */
void weft_guard_escape(void);

#endif
