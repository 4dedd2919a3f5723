/* What the cut network reads: what the site network says of the whole page. */

#ifndef DEHUSK_CUT_FEATURES_H
#define DEHUSK_CUT_FEATURES_H

#include "reading.h"

#define ALIKE_LEVELS 3 /* Levels at which blocks with the same place are taken together. */
#define SHARES (CUT_LAST_SHARE_FROM - CUT_SHARE_FROM + 1)

/* A page that the networks before it have read. */
typedef struct {
    const Reading *reading;
    const float *evidence; /* Rows of `EVIDENCE_COUNT`. */
    const double *logits;  /* Of the site network. */
    const double *types;   /* Probabilities, `TYPE_COUNT` of them. */
} CutPage;

typedef struct {
    double *content;             /* The probability of each block. */
    double *chars, *expected;    /* Running sums, one more than blocks: characters, and those times probability. */
    double *likelier;            /* The content to be expected in likelier blocks. */
    double *heading, *from_heading; /* The last heading before each: its probability, and how far it is. */
    double *alike[ALIKE_LEVELS]; /* Means over the blocks at the same place. */
    Keyed *items, *spare;
    double total, highest;
    size_t first, last;          /* Blocks that are surely content. */
    float page[CUT_LAST_TYPES + 1 - CUT_SHARE_FROM]; /* What is the same for all blocks. */
} CutContext;

/* Room for a page, to be freed at `content`; 0 without memory. */
int make_context(const Reading *reading, CutContext *room);

/* Fill it; `put_cut_features` reads it, block by block. */
void fill_context(const CutPage *page, CutContext *room);
void put_cut_features(const CutPage *page, const CutContext *room, size_t block, float *row);

#endif
