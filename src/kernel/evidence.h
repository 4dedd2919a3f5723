/* What other pages of the site say of each block, and what the site network reads. */

#ifndef DEHUSK_EVIDENCE_H
#define DEHUSK_EVIDENCE_H

#include "opinion.h"

/* A page, and what its site has learned, this page included. */
typedef struct {
    const Reading *reading;
    Opinion *opinion;
    Table *segments, *texts, *places, *families; /* Held until `let_go`. */
    const double *types; /* The probabilities of the page's types, `TYPE_COUNT` of them. */
    double copies; /* Pages that say the same, this one included: no evidence against it. */
    double others; /* All other pages of the site. */
    double family; /* Those of them that are of the page's family. */
} Asked;

/* Numbers of each block whose means over the surroundings of blocks are read. */
enum {
    SHARE_PART, KNOWN_PART, GIVEN_PLACE_PART, KNOWN_ANYWHERE_PART, PLACE_NEW_PART, REPEATS_PART, VARIETY_PART,
    EVIDENCE_PARTS,
    CONTENT_PART = EVIDENCE_PARTS, CONTENT_BEFORE_PART, PARTS,
};

typedef struct {
    double parts[PARTS];
} Parts;

typedef struct {
    Parts *sums;         /* Of each block, one place on; then running sums of that, by characters. */
    double *chars_sum;   /* One more than blocks. */
    double *anywhere, *at_place, *content_before;
    double *likelier;    /* The content to be expected in likelier blocks. */
    double *seen;        /* Running sums over the segments of the site: how often they came back. */
    double *lost, *own;  /* Over those of the page: its part of that, and what no other page has. */
    float *family;       /* By node: the share of the pages whose content stood at its place. */
    Keyed *items, *spare;
    double total, highest;
    float sure, sure_share;
} Weighing;

extern PyType_Spec judgement_spec;

/* What Python handed in; 0 with an exception set. Its tables are held: */
int given_asked(const Types *types, PyObject *const *objects, long pages, long copies, Asked *asked);
void let_go(Asked *asked);

/* Room for a page, to be freed at `sums`; 0 without memory. */
int make_weighing(const Asked *page, Weighing *room);

/* What the site says of each block, rows of `EVIDENCE_COUNT`; `put_features` adds the surroundings. */
void weigh(const Asked *page, Weighing *room, float *evidence);

/* What the site network reads of a block: `evidence` is the block's row, behind that of the block before, whose
   row for the network is `row_before`. */
void put_features(const Asked *page, const Weighing *room, size_t block, float *evidence, float *row,
                  const float *row_before);

/* Mark the blocks that the site would take, by these logits, though only the page alone may drop them; 0 for none. `room` is
   for twice as many numbers as blocks. */
int find_at_stake(const Asked *page, const float *evidence, const double *logits, double shift, int32_t *room,
                  uint8_t *marks);

#endif
