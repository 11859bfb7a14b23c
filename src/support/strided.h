/* Copies of elements that lie apart in memory. */
#ifndef WEFT_SUPPORT_STRIDED_H
#define WEFT_SUPPORT_STRIDED_H

#include <stdint.h>
#include <string.h>

/* Copies `count` elements of so many bytes from and to places that are `from_step` and `to_step`
 * bytes apart. */
static inline void weft_copy_strided(const char *from, int64_t from_step, char *to, int64_t to_step,
                                     int64_t count, int64_t bytes) {
    if (bytes == 16)
        for (int64_t i = 0; i < count; i++) memcpy(to + i * to_step, from + i * from_step, 16);
    else if (bytes == 8)
        for (int64_t i = 0; i < count; i++) memcpy(to + i * to_step, from + i * from_step, 8);
    else if (bytes == 4)
        for (int64_t i = 0; i < count; i++) memcpy(to + i * to_step, from + i * from_step, 4);
    else
        for (int64_t i = 0; i < count; i++)
            memcpy(to + i * to_step, from + i * from_step, (size_t)bytes);
}

#endif
