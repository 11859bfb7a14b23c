/* A window as flags spell it: hann, kaiser:8.6, tukey:0.25,symmetric. */
#ifndef WEFT_TOOLS_WINDOW_H
#define WEFT_TOOLS_WINDOW_H

#include <weft/weft.h>

/* Reads NAME[:PARAMETER][,periodic|symmetric]; `flag` is named in the sentence of a failure. */
weft_status window_parse(const char *flag, const char *text, weft_window *window);

#endif
