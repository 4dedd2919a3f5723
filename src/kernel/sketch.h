#ifndef DEHUSK_SKETCH_H
#define DEHUSK_SKETCH_H

#include "reading.h"

#define SKETCH_SIZE 32

/* Put the sketch of what a page seems to say, by the probability of each block of being content, into `keys`: so many, at
   most `SKETCH_SIZE`. Of few words the last one is of all: only pages that say the very same have it. */
size_t sketch_content(const Reading *reading, const double *content, uint64_t *keys);

#endif
