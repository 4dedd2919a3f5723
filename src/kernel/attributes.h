/* The attributes of a start tag in canonical HTML, one after another. */

#ifndef DEHUSK_ATTRIBUTES_H
#define DEHUSK_ATTRIBUTES_H

#include "bytes.h"

typedef struct {
    size_t name, name_stop;
    size_t value, value_stop;
} Attribute;

/* The next attribute from `*at` on, as `dehusk.model.ATTRIBUTE` reads it; 0 if there is none.

   A name begins behind a space, holds none, and ends at the first `="` behind its first byte: names
   may hold quotes. `*at` moves behind the attribute. */
static inline int next_attribute(Bytes source, size_t *at, size_t stop, Attribute *found)
{
    size_t place = *at;
    while ((place = find_byte(source, ' ', place, stop)) < stop) {
        size_t name = ++place, i = name + 1;
        while (i + 1 < stop && source.bytes[i - 1] != ' ' && source.bytes[i] != ' ' &&
               !(source.bytes[i] == '=' && source.bytes[i + 1] == '"'))
            i++;
        if (i + 1 >= stop || source.bytes[i - 1] == ' ' || source.bytes[i] == ' ')
            continue;
        size_t quote = find_byte(source, '"', i + 2, stop);
        if (quote == stop)
            break; /* Nor is there a quote behind any later name. */
        *found = (Attribute){name, i, i + 2, quote};
        *at = quote + 1;
        return 1;
    }
    *at = stop;
    return 0;
}

#endif
