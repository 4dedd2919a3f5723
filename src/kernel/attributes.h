/* The attributes of a start tag in canonical HTML, one after another. */

#ifndef DEHUSK_ATTRIBUTES_H
#define DEHUSK_ATTRIBUTES_H

#include "bytes.h"

typedef struct {
    size_t name, name_stop;
    size_t value, value_stop;
} Attribute;

/* Where a name ends that goes on at `at`: at the first `="`; `stop` where a space comes before. */
static inline size_t find_name_end(Bytes source, size_t at, size_t stop)
{
    while (at + 1 < stop) {
        at = find_either(source, '=', ' ', at, stop - 1);
        if (at >= stop - 1 || source.bytes[at] == ' ')
            break;
        if (source.bytes[at + 1] == '"')
            return at;
        at++;
    }
    return stop;
}

/* The next attribute from `*at` on, as `dehusk.page.tree.ATTRIBUTE` reads it; 0 if there is none.

   A name begins behind a space, holds none, and ends at the first `="` behind its first byte: names
   may hold quotes. `*at` moves behind the attribute. */
static inline int next_attribute(Bytes source, size_t *at, size_t stop, Attribute *found)
{
    size_t place = *at;
    while ((place = find_near(source, ' ', place, stop)) < stop) {
        size_t name = ++place;
        if (name >= stop || source.bytes[name] == ' ')
            continue;
        size_t i = find_name_end(source, name + 1, stop);
        if (i == stop)
            continue;
        size_t quote = find_near(source, '"', i + 2, stop);
        if (quote == stop)
            break; /* Nor is there a quote behind any later name. */
        *found = (Attribute){name, i, i + 2, quote};
        *at = quote + 1;
        return 1;
    }
    *at = stop;
    return 0;
}

static inline int is_named(Bytes source, const Attribute *found, const char *name)
{
    size_t size = found->name_stop - found->name;
    return size == strlen(name) && memcmp(source.bytes + found->name, name, size) == 0;
}

/* Is this its value, without regard to case? */
static inline int is_value(Bytes source, const Attribute *found, const char *value)
{
    return found->value_stop - found->value == strlen(value) && stands_at(source, found->value, value);
}

#endif
