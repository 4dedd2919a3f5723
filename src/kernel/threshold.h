/* From which probability on to keep blocks. */

#ifndef DEHUSK_THRESHOLD_H
#define DEHUSK_THRESHOLD_H

#include "sorting.h"

/* What thresholds are found with: one of each for every block. */
typedef struct {
    Keyed *items, *spare;
    double *likely, *kept;
} Sorting;

/* Room for so many blocks, to be freed at `items`; 0 without memory. */
int make_sorting(Sorting *sorting, size_t count);

/* The best threshold for one block or more. The highest probability is in `likely[0]` then. */
double find_threshold(const double *probabilities, const double *chars, size_t count, Sorting *sorting);

#endif
