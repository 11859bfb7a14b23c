/* Removing the unfinished output of a command that is interrupted. */
#ifndef WEFT_TOOLS_INTERRUPT_H
#define WEFT_TOOLS_INTERRUPT_H

/* Puts SIGINT, SIGTERM and SIGHUP off until interrupt_goes_on, or until interrupt_removes tells of
 * the output that is being created meanwhile. */
void interrupt_waits(void);
void interrupt_goes_on(void);

/* From now on SIGINT, SIGTERM and SIGHUP remove `path` before they end the process, and so does
 * SIGBUS, which comes where a page of a mapped file cannot be had, with a sentence. NULL: nothing
 * to remove. */
void interrupt_removes(const char *path);

/* From now on they leave it, and say how to go on with it, until interrupt_removes. */
void interrupt_keeps(void);
#define INTERRUPT_GO_ON "; what is done is kept: add --resume to go on from there"

/* From now on SIGBUS fails the copy that it comes in (io/guard.h), or, elsewhere, ends the process
 * with a sentence. */
void interrupt_tells(void);

#endif
