/* What composition.c wants to know of the arrays of copies. */
#ifndef WEFT_COMPOSE_BOXES_H
#define WEFT_COMPOSE_BOXES_H

#include "compose/compose.h"

/* Bytes of an element; elements of all fields and members in a box. */
size_t weft_leg_element(const weft_leg *leg);
int64_t weft_leg_elements(const weft_leg *leg, const weft_box *box);
/* The copy between this rank's boxes of the two arrays. */
weft_copy weft_leg_copying(const weft_leg *leg, const weft_box *from, const weft_box *to);

#endif
