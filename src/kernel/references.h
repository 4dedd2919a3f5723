/* Character references of HTML: `&eacute;`, `&#233;`, `&#xE9;`. */

#ifndef DEHUSK_REFERENCES_H
#define DEHUSK_REFERENCES_H

#include "bytes.h"

#define NO_REFERENCE 0         /* The `&` stands for itself. */
#define STRANGE_REFERENCE 0xFFFFFFFFu /* A name that may be one of the two thousand that are not listed here. */

/* The character that the `&` at `at` and what follows before `stop` stand for, and how many bytes they are. In a
   value of an attribute, a name without a semicolon counts only where a word ends. */
uint32_t read_reference(Bytes source, size_t at, size_t stop, int is_value, size_t *length);

#endif
