/* A page to canonical HTML, in one pass. */

#ifndef DEHUSK_CANONICAL_H
#define DEHUSK_CANONICAL_H

#include "buffer.h"
#include "scan.h"

/* A page as canonical HTML, and what that does not say of its tags: `Foreign`. */
typedef struct {
    Buffer source, raws, voids, eaters, lengths;
} Canonical;

/* Write the page, which is UTF-8. 0 if only a parser can build its tree, or if it has more elements than these.
   `is_decoded` says that a charset which the page names is of no interest. */
int make_canonical(Bytes page, const TagNames *names, int is_decoded, size_t max_elements, Canonical *made);

void free_canonical(Canonical *made);

int is_utf_8(Bytes page);

#endif
