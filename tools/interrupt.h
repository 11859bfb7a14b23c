/* Removing the unfinished output of a command that is interrupted. */
#ifndef WEFT_TOOLS_INTERRUPT_H
#define WEFT_TOOLS_INTERRUPT_H

/* From now on SIGINT, SIGTERM and SIGHUP remove `path` before they end the process. NULL: nothing
 * to remove. */
void interrupt_removes(const char *path);

#endif
