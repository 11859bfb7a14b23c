/*
 * How much memory there is, so that a run that cannot fit says so before it takes any: the system
 * would kill one of its processes half way.
 */
#ifndef WEFT_TOOLS_MEMORY_H
#define WEFT_TOOLS_MEMORY_H

#include "launch.h"

/* Bytes that programs on this node can still have: what /proc/meminfo calls available, with `swap`
 * free swap too, but no more than the control groups of this process allow; HUGE_VAL where unknown.
 * `root` comes before the paths that are read: "" but in tests. Not collective. */
double memory_available(const char *root, bool swap);

/* Fails on all ranks, with a sentence, unless what the ranks of each node need together (`needed`
 * bytes of this one) is no more than its memory: `available`, as memory_available told before any
 * of it was taken. Collective. */
weft_status memory_check(const command_world *world, double needed, double available);

#endif
