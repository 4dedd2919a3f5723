/* A page as the method `auto` reads it: the twins of `dehusk.methods.auto.blocks`, `letters`, `names`,
   `rows`, `looks` and `reading`. What the numbers mean, and why, stands there. */

#ifndef DEHUSK_READING_H
#define DEHUSK_READING_H

#include "bytes.h"

#define LEVELS 6    /* Levels of surroundings: `blocks.LEVELS`. */
#define FARTHEST 8  /* The highest of them. */
#define BYTE_KINDS 8

enum { LOWER, UPPER, DIGIT, COMMA, STOP, SPACE, FOREIGN, SIGN };

/* The columns of the looks, part by part: `looks.COLUMNS`. */
enum {
    OWN_TAGS = 20,
    ABOVE_TAGS = 20,
    NAME_KINDS = 11,
    TEXT_AT = 0,
    NEIGHBOURS_AT = TEXT_AT + 12,
    PLACE_AT = NEIGHBOURS_AT + 24,
    CONTAINER_AT = PLACE_AT + 9,
    ABOVE_AT = CONTAINER_AT + OWN_TAGS + 1,
    AROUND_AT = ABOVE_AT + ABOVE_TAGS + NAME_KINDS,
    ALIKE_AT = AROUND_AT + 6 * LEVELS,
    ROWS_AT = ALIKE_AT + 3,
    COPIES_AT = ROWS_AT + 13,
    TITLE_AT = COPIES_AT + 2 + LEVELS,
    LOOKS = TITLE_AT + 3,
};

/* The columns of the evidence: `evidence.COLUMNS`. */
enum {
    PAGES, MANY_PAGES, FAMILY_PAGES, FAMILY_SHARE, SHARE, KNOWN, GIVEN_PLACE, ANYWHERE,
    KNOWN_ANYWHERE, PLACE_SHARE, REPEATS, PLACE_KNOWN, SEGMENTS, SEGMENTS_A_PAGE, LENGTH, OWN,
    SHARE_AROUND = OWN,
    GIVEN_PLACE_AROUND = SHARE_AROUND + 2 * LEVELS,
    EVIDENCE = OWN + 6 * LEVELS,
};

typedef struct {
    Bytes source;
    const int32_t *parent, *end, *depth, *start, *stop, *text_length, *link_length;
    const int16_t *tag;
    const uint8_t *shown, *raw;
    const uint64_t *own_hash, *path_hash;
    uint64_t *look;  /* Of each node, a hash of its classes. */
    uint32_t *kinds; /* Of each node, the kinds of words in its names, as bits. */
    size_t count;
} PageTree;

/* The words in names that tell something, in a table with open addressing: a power of two of
   slots. */
typedef struct {
    const uint64_t *low, *high; /* The first and the last eight letters; 0 in a slot that is free. */
    const uint32_t *bits;
    size_t mask;
} Words;

/* By tag number, or by byte. */
typedef struct {
    const uint8_t *cuts, *holds;   /* Does the tag cut blocks, or hold them? */
    const uint8_t *own_column;     /* Its column as a block's container. */
    const uint32_t *tag_bits;      /* Its bit as something above a block. */
    size_t tags;
    const uint8_t *byte_kinds;
    const uint64_t *signatures;
    const int64_t *ends;           /* The ends of sentences, as numbers. */
    size_t end_count;
    int16_t heading, title, head;  /* The numbers of these tags. */
} LookTables;

typedef struct {
    double counts[BYTE_KINDS];
    uint64_t signature;
    int ends, colon;
} Letters;

/* All arrays over blocks but the first two, which are over segments. */
typedef struct {
    size_t segment_count, count;
    int32_t *segments, *owner;
    int32_t *first, *container;
    int32_t *levels, *low, *high;  /* One column for each level. */
    double *chars, *link_chars;
    int32_t *before;               /* By node, and one more: the blocks that begin before it. */
    Letters *letters;
    double *running;
    double *chars_sum, *link_sum, *running_sum; /* Running sums, one more than blocks. */
} Blocks;

/* A key and where it came from; sorted by key, then by place. */
typedef struct {
    uint64_t key;
    int32_t place;
} Keyed;

/* The probability that a logit stands for: `weighing.probability`, by the same steps. */
double probability_of(double logit);

/* The natural logarithm of 1 + x, x at least 0: `columns.log1p`, by the same steps. */
static inline double log1p_steps(double x)
{
    double whole = 1.0 + x, part;
    uint64_t bits;
    memcpy(&bits, &whole, sizeof(bits));
    int exponent = (int)(bits >> 52) - 1022; /* As frexp does, for numbers from 1 on. */
    bits = (bits & 0x000FFFFFFFFFFFFFu) | 0x3FE0000000000000u;
    memcpy(&part, &bits, sizeof(part));
    if (part < 0.7071067811865476) {
        part = part * 2.0;
        exponent = exponent - 1;
    }
    double t = (part - 1.0) / (part + 1.0), square = t * t, sum = 0.18181818181818182;
    sum = sum * square + 0.2222222222222222;
    sum = sum * square + 0.2857142857142857;
    sum = sum * square + 0.4;
    sum = sum * square + 0.6666666666666666;
    sum = sum * square + 2.0;
    return exponent * 0.6931471805599453 + t * sum;
}

/* Sort; `spare` has room for as many. */
void sort_keyed(Keyed *items, Keyed *spare, size_t count);

/* What class, id and role of every element say: into `look` and `kinds`, which are 0 before. */
void read_names(const PageTree *page, const Words *words);

/* What each block is made of; 0 without memory. `blocks` has room for all of it. */
void cut_blocks(const PageTree *page, const LookTables *tables, Blocks *blocks, uint8_t *ended,
                int32_t *holder);
void read_letters(const PageTree *page, const LookTables *tables, Blocks *blocks);
void sum_blocks(Blocks *blocks);

/* The sum over a block's surroundings at a level. */
static inline double around(const double *sums, const Blocks *blocks, size_t block, size_t level)
{
    size_t at = block * LEVELS + level;
    return sums[blocks->high[at]] - sums[blocks->low[at]];
}

/* Has the block before the same element around it at a level? */
static inline int is_shared(const Blocks *blocks, size_t block, size_t level)
{
    size_t at = block * LEVELS + level;
    return block && blocks->levels[at] == blocks->levels[at - LEVELS];
}

/* The parts of the looks that look at the whole page; 0 without memory. */
int fill_looks(const PageTree *page, const LookTables *tables, const Blocks *blocks, float *looks);
int fill_rows(const PageTree *page, const Blocks *blocks, float *looks);

/* Whether the blocks begin with a part of the title; 0 with an exception set. */
int fill_title(const PageTree *page, const LookTables *tables, const Blocks *blocks, float *looks);

/* What thresholds are found with: one of each for every block. */
typedef struct {
    Keyed *items, *spare;
    double *likely, *kept;
} Sorting;

/* Room for so many blocks, to be freed at `items`; 0 without memory. */
int make_sorting(Sorting *sorting, size_t count);

/* The best threshold for one block or more. The highest probability is in `likely[0]` then. */
double find_threshold(const double *probabilities, const double *chars, size_t count,
                      Sorting *sorting);

#endif
