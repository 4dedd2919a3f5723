/* What the page network says of each block, and what the page teaches with that. */

#ifndef DEHUSK_OPINION_H
#define DEHUSK_OPINION_H

#include "network.h"
#include "reading.h"
#include "tables.h"

#define OPINION_COLUMNS(COLUMN)          \
    COLUMN(logits, double, "d", 0, 1)    \
    COLUMN(content, double, "d", 0, 1) /* The probability of being content. */

/* Columns of sums in `places`: different segments on each page, characters, the probabilities of being content
   by weight, in thousandths, and that weight. */
enum { SUM_SEGMENTS, SUM_CHARS, SUM_CONTENT, SUM_WEIGHT, PLACE_SUMS };

/* The probabilities of a page's types, as networks read them, and as users do. */
typedef struct {
    double read[TYPE_COUNT], stated[TYPE_COUNT];
} PageTypes;

typedef struct {
    Owner owner; /* It holds on to the tree of the page that it is on. */
    OPINION_COLUMNS(COLUMN_POINTER)
    size_t blocks;
    size_t family;    /* Where among the surroundings of blocks the element stands that names the page's family. */
    PyObject *lesson; /* A dict of tables. */
    const Table *segments, *places, *families, *contents; /* Of the lesson. */
    PyObject *type_network;                               /* The one that told `types` when it was asked last; or NULL. */
    PageTypes types;
} Opinion;

extern PyType_Spec opinion_spec;

/* The reading and the opinion on it that Python handed in; 0 with an exception set if they do not belong
   together, or there is no block. */
int given_opinion(const Types *types, PyObject *reading, PyObject *opinion, const Reading **page,
                  Opinion **found);

/* Numbers in a list; NULL with an exception set. */
PyObject *list_of(const double *numbers, size_t count);

/* The probabilities of the page's types, which the opinion keeps; 0 with an exception set. */
int page_types_of(const Types *types, const Reading *reading, Opinion *opinion, PyObject *network, PageTypes *found);

#endif
