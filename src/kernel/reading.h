/* A page as the method `auto` reads it. What the numbers mean, and why, is told in features.def, and in
   plain numpy in tests/reference. */

#ifndef DEHUSK_READING_H
#define DEHUSK_READING_H

#include "feature_list.h"
#include "sorting.h"
#include "tree.h"
#include "lexicon.h"

#define PLACE_BITS 40 /* Of a segment's key: the bits above name its place, those below its text. */

/* Over blocks (count 0) and segments (count 1). */
#define READING_COLUMNS(COLUMN)                                    \
    COLUMN(places, uint64_t, "Q", 0, 1)                            \
    COLUMN(surroundings, uint64_t, "Q", 0, LEVELS)                 \
    COLUMN(keys, uint64_t, "Q", 1, 1)                              \
    COLUMN(texts, uint64_t, "Q", 1, 1)                             \
    COLUMN(chars, double, "d", 0, 1)                               \
    COLUMN(link_chars, double, "d", 0, 1)                          \
    COLUMN(lengths, double, "d", 1, 1)                             \
    COLUMN(page_features, float, "f", 0, PAGE_FEATURES)            \
    COLUMN(segments, int32_t, "i", 1, 1)                           \
    COLUMN(owners, int32_t, "i", 1, 1)                             \
    COLUMN(first, int32_t, "i", 0, 1)                              \
    COLUMN(container, int32_t, "i", 0, 1)                          \
    COLUMN(levels, int32_t, "i", 0, LEVELS)                        \
    COLUMN(low, int32_t, "i", 0, LEVELS)                           \
    COLUMN(high, int32_t, "i", 0, LEVELS)

typedef struct {
    Owner owner; /* It holds on to the tree. */
    READING_COLUMNS(COLUMN_POINTER)
    const Tree *tree;
    size_t blocks, segment_count;
    PyObject *network, *opinion; /* What a page network said when it was asked last; or NULL. */
} Reading;

extern PyType_Spec reading_spec;

/* The content to be expected in blocks that are likelier than each, by their probabilities; and in all. `items` and
   `spare` have room for the blocks. */
double rank_blocks(const Reading *reading, const double *content, Keyed *items, Keyed *spare, double *likelier);

/* Of each block the row of a table of data that it stands in, and the table, or -1. */
void find_table_rows(const Reading *reading, int32_t *rows, int32_t *tables);

/* A list, or code, that holds no more than items: its node, where that ends, the run of its blocks; and the next element
   with a structure of its own behind where was looked last. */
typedef struct {
    int32_t node, end, structure;
    size_t first, stop;
} Sequence;

/* Go on to the next one, from zeros on; 0 for none. */
int next_sequence(const Reading *reading, Sequence *at);

/* The level of the heading that a block is, from 1 on; 0 for another block. */
int heading_level(const Reading *reading, size_t block);

/* The block behind the last one of a heading. */
size_t end_of_heading(const Reading *reading, size_t heading);

/* Keep and drop whole what belongs together, by the probabilities of blocks, in place. `room` is for twice as many numbers
   as blocks, and two. */
void keep_whole(const Reading *reading, double *room, double *content);

/* Keep long rows of siblings whole where nearly all of their text is content, by the probabilities of blocks, in place. */
void keep_siblings(const Reading *reading, double *content);

/* --- while a page is read --- */

#define FARTHEST 8 /* The highest of the levels. */
#define CHARACTER_KINDS 8

enum { LOWER, UPPER, DIGIT, COMMA, STOP, SPACE, FOREIGN, SIGN };

/* Of each node: a hash of its classes, what the words in its names and those above it tell, and whether it has
   `aria-hidden`. */
typedef struct {
    uint64_t *classes;
    float *told; /* Rows of `NAME_NUMBERS`. */
    uint8_t *hidden;
} Names;

/* The characters of a block by kind. One of Han, Kana or Hangul counts as two, and as many spaces are counted
   between letters of scripts without them as other scripts would have. */
typedef struct {
    double counts[CHARACTER_KINDS];
    double capitals, small; /* Of the foreign letters, those that have case. */
    uint64_t signature;
    int ends, colon;
} Letters;

/* Of each block the characters that are running text, and running sums, one more than blocks. */
typedef struct {
    double *running, *chars, *link_chars, *running_chars;
} Sums;

/* What is known of a page while it is read, beside what the reading has. */
typedef struct {
    Names names;
    Sums sums;
    Letters *letters;
    int32_t *before; /* By node, and one more: the blocks that begin before it. */
} Notes;

static inline int32_t parent_of(const Tree *tree, int32_t node)
{
    return tree->parent[node] < 0 ? 0 : tree->parent[node];
}

static inline double at_least(double value, double least)
{
    return value > least ? value : least;
}

static inline double at_most(double value, double most)
{
    return value < most ? value : most;
}

/* What class, id, role, itemprop and `aria-hidden` of every element say: into `names`, which is 0 before. */
void read_names(const Tree *tree, const WordList *list, const Names *names);

/* A hash of the classes without a digit, whatever their order: those with one differ from page to page. */
uint64_t classes_of(Bytes source, size_t at, size_t stop);

/* What the atlas of themes says of elements: its keys in ascending order, and how far it is believed. */
typedef struct {
    const uint64_t *keys;
    const int8_t *leans;
    size_t count;
    double share;
} Atlas;

/* Add to the logits of blocks what is said of the container of each or of an element above: the strongest, of equals
   the nearest. 0 without memory. */
int add_leans(const Reading *reading, const Atlas *atlas, double *logits);

/* Where blocks may begin, and what holds each node; and how many blocks and segments there are. */
void find_cuts(const Tree *tree, uint8_t *is_begun, int32_t *holder, size_t *counts);

/* Cut the page, into the columns of the reading. */
void cut_blocks(Reading *reading, const uint8_t *is_begun, const int32_t *holder, int32_t *before);

/* Fill the tables of characters, which no page changes: once, before a page is read. */
void prepare_letters(void);

/* The letters of each block; wide characters are added to the lengths that the reading has. */
void read_letters(const Reading *reading, Letters *letters);
void sum_blocks(const Reading *reading, Sums *sums);

/* The sum over a block's surroundings at a level. */
static inline double around(const double *sums, const Reading *reading, size_t block, size_t level)
{
    size_t at = block * LEVELS + level;
    return sums[reading->high[at]] - sums[reading->low[at]];
}

/* Has the block before the same element around it at a level? */
static inline int is_shared(const Reading *reading, size_t block, size_t level)
{
    size_t at = block * LEVELS + level;
    return block && reading->levels[at] == reading->levels[at - LEVELS];
}

static inline float *features_of(const Reading *reading, size_t block)
{
    return reading->page_features + block * PAGE_FEATURES;
}

/* The element that most of the page's text stands in, by its look alone, and the run of its blocks. */
typedef struct {
    int32_t node, low, high;
} Main;

/* `alone` are running sums, one more than blocks, of the running text that stands in no row; `lines`, by node, the
   blocks whose container it is. */
Main find_main(const Reading *reading, const Notes *notes, const double *alone, const int32_t *lines);
void fill_main(const Reading *reading, const Sums *sums, Main main);

#define ARTICLE_CHARS 200 /* Running text that makes an article. */

/* Which blocks stand in or behind a further article, of its own heading; `headline` is the first `<h1>`. */
void fill_further(const Reading *reading, const Notes *notes, size_t headline);

/* The first block in an `<h1>`; how many blocks there are, without one. */
size_t find_headline(const Reading *reading);

/* The features of all blocks, but for those of the title; 0 without memory. */
int fill_features(const Reading *reading, const Notes *notes);
int fill_rows(const Reading *reading, const Notes *notes);

/* What the words of short blocks tell. */
void fill_texts(const Reading *reading, const WordList *list);

/* What the page states of itself; 0 without memory. */
int fill_statement(const Reading *reading);

/* Whether the blocks begin with a part of the title, or stand behind a heading that does not; 0 with
   an exception set. */
int fill_title(const Reading *reading, const Sums *sums);

/* --- numbers by steps that every machine rounds in the same way; libraries differ in the last bit --- */

/* The probability that a logit stands for. */
double probability_of(double logit);

/* The exponential of a number from -30 to 30, to fifteen digits. */
double exp_steps(double x);

/* The natural logarithm of 1 + x, x at least 0, to ten digits. */
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

#endif
