/* Keys in order, by steps that nobody can make slow. */

#ifndef DEHUSK_SORTING_H
#define DEHUSK_SORTING_H

#include "bytes.h"

/* A key and where it came from; sorted by key, then by place. */
typedef struct {
    uint64_t key;
    int32_t place;
} Keyed;

/* Sort; `spare` has room for as many. */
void sort_keyed(Keyed *items, Keyed *spare, size_t count);

#endif
