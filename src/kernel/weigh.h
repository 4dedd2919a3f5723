/* What other pages of the site say of each block, and the rows that the site network reads. */

#ifndef DEHUSK_WEIGH_H
#define DEHUSK_WEIGH_H

#include "kernel.h"
#include "reading.h"

/* The columns of the rows of the site network; some looks come first. */
enum {
    LOOKS_READ = 12 + 9 + 3 + 13 + 2 + LEVELS + 3,
    VERDICTS_AT = LOOKS_READ + EVIDENCE,
    NEAR_AT = VERDICTS_AT + 3,
    VERDICTS_AROUND_AT = NEAR_AT + 6,
    RANK_AT = VERDICTS_AROUND_AT + 2 * LEVELS,
    ROW = RANK_AT + 4,
};

typedef struct {
    const uint64_t *keys, *sums;
    const uint32_t *count;
    size_t size;
} SeenTable;

/* The page as it is handed in. */
typedef struct {
    size_t blocks, segment_count;
    const uint64_t *keys, *texts, *places;
    const double *lengths, *chars;
    const int32_t *owner, *low, *high;
    const float *looks;
    const double *logits, *verdict;
    SeenTable segments, texts_seen, places_seen, families; /* What the site taught, and this page. */
    SeenTable own_segments, own_places;                    /* What this page taught. */
    double pages, family; /* Other pages, and those of the page's family. */
} Weighed;

/* The numbers whose means over the surroundings of a block are told. */
enum {
    SHARE_IN, KNOWN_IN, GIVEN_PLACE_IN, KNOWN_ANYWHERE_IN, PLACE_NEW_IN, REPEATS_IN, TOLD_PARTS,
    VERDICT_IN = TOLD_PARTS, SITE_VERDICT_IN, PARTS,
};

typedef struct {
    double parts[PARTS];
} Parts;

typedef struct {
    Parts *sums;         /* Of each block, one place on; then running sums of that, by characters. */
    double *chars_sum;   /* One more than blocks. */
    double *anywhere, *at_place, *site_verdict;
    double *above;       /* The content to be expected in likelier blocks. */
    double *seen, *lost; /* Running sums over the rows of segments: of the site, of the page. */
    Keyed *items, *spare;
    double total, highest;
    float sure[2];
} Weighing;

#define WEIGHED_VIEWS (11 + 15)

/* The page that these views hold: arrays over segments and blocks, the tables of its site and its own.
   0 with an exception set if they do not fit together. */
int weighed_in(const View *views, double pages, Weighed *page);

/* Room for a page, to be freed at `sums`; 0 without memory. */
int make_weighing(const Weighed *page, Weighing *room);

/* What the site says of each block, rows of `EVIDENCE` numbers; `put_row` adds the surroundings. */
void weigh(const Weighed *page, Weighing *room, float *evidence);

/* What the site network reads of a block: `told` is the block's row of what the site says, behind that
   of the block before, whose row for the network is `row_before`. */
void put_row(const Weighed *page, const Weighing *room, size_t block, float *told, float *row,
             const float *row_before);

#endif
