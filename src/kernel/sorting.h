/* Keys in order, by steps that nobody can make slow. */

#ifndef DEHUSK_SORTING_H
#define DEHUSK_SORTING_H

#include "bytes.h"

/* A key and where it came from; sorted by key, then by place. */
typedef struct {
    uint64_t key;
    int32_t place;
} Keyed;

/* Is the key of an item that of the one before? */
static inline int is_repeat(const Keyed *items, size_t place)
{
    return place && items[place].key == items[place - 1].key;
}

/* Sort; `spare` has room for as many. */
void sort_keyed(Keyed *items, Keyed *spare, size_t count);

#endif
