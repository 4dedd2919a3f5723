/* What a page seems to say, as a few numbers: pages that say nearly the same share most of them.

   The words of the content are hashed in threes, the hashes are dealt into buckets, and the least of each bucket is kept.
   Two pages share about as large a part of these as of all their threes. Pairs of words come back on other pages of a
   large site too. */

#include "sketch.h"

#define BUCKET_BITS 5
#define LONG_BLOCK 40   /* Characters of a block that is more than a label. */
#define MOST_LINKED 0.5F
#define FEW_WORDS 40    /* A sentence or two, which the pages of a shop may share. */
#define WIDE_LEAD 0xE3 /* From here on UTF-8 writes Kana, Han and Hangul, which set no spaces: */
#define WIDE_LAST 0xED /* each character is taken for a word. */
#define WIDE_SIZE 3

#define FEW_KEYS 7 /* Of so few, a page of other words may have all, and a page that says more. */

#define BUCKETS (1 << BUCKET_BITS)

_Static_assert(SKETCH_SIZE == BUCKETS, "a key for each bucket");

typedef struct {
    uint64_t least[BUCKETS];
    uint64_t before[2]; /* The words before, the nearest first. */
    uint64_t all;
    size_t words;
} Sketch;

/* Bits of the bytes of words: digits, letters, and what UTF-8 writes of others, but for wide ones. */
static const uint64_t word_bytes[] = {UINT64_C(0x03FF000000000000), UINT64_C(0x07FFFFFE07FFFFFE), UINT64_MAX,
                                      UINT64_C(0xFFFFC007FFFFFFFF)};

static int is_in_word(uint8_t byte)
{
    return (int)(word_bytes[byte >> 6] >> (byte & 63) & 1);
}

static int is_wide(uint8_t byte)
{
    return byte >= WIDE_LEAD && byte <= WIDE_LAST;
}

static void add_word(Sketch *sketch, uint64_t word)
{
    uint64_t three = mix((sketch->before[1] * TEXT_FACTOR + sketch->before[0]) * TEXT_FACTOR + word);
    uint64_t *least = &sketch->least[three >> (64 - BUCKET_BITS)];
    *least = three < *least ? three : *least;
    sketch->before[1] = sketch->before[0];
    sketch->before[0] = word;
    sketch->all = sketch->all * TEXT_FACTOR + three;
    sketch->words++;
}

static size_t end_of_word(Bytes source, size_t at, size_t stop)
{
    if (is_wide(source.bytes[at]))
        return stop - at < WIDE_SIZE ? stop : at + WIDE_SIZE;
    while (at < stop && is_in_word(source.bytes[at]))
        at++;
    return at;
}

static void add_text(Sketch *sketch, Bytes source, size_t at, size_t stop)
{
    while (at < stop) {
        if (!is_in_word(source.bytes[at]) && !is_wide(source.bytes[at])) {
            at++;
            continue;
        }
        size_t end = end_of_word(source, at, stop);
        add_word(sketch, hash_run(source, at, end));
        at = end;
    }
}

/* Which blocks are read: running text that looks like content; where that is little, all that does; where nothing does,
   what looks most like it. A menu says nothing of its page. */
enum { RUNNING, LIKELY, LIKELIEST };

static int is_read(const Reading *reading, const double *content, size_t block, int kind, double least)
{
    return content[block] >= least && (kind != RUNNING || (reading->chars[block] >= LONG_BLOCK &&
                                                           features_of(reading, block)[PAGE_LINK_SHARE] < MOST_LINKED));
}

static void add_blocks(Sketch *sketch, const Reading *reading, const double *content, int kind)
{
    const Tree *tree = reading->tree;
    double highest = 0;
    for (size_t i = 0; i < reading->blocks && kind == LIKELIEST; i++)
        highest = at_least(content[i], highest);
    const double least = kind == LIKELIEST ? 0.5 * highest : 0.5;
    memset(sketch, 0xFF, sizeof(*sketch));
    sketch->words = 0;
    for (size_t i = 0; i < reading->segment_count; i++) {
        int32_t node = reading->segments[i];
        if (is_read(reading, content, (size_t)reading->owners[i], kind, least))
            add_text(sketch, tree->source, (size_t)tree->start[node], (size_t)tree->stop[node]);
    }
}

size_t sketch_content(const Reading *reading, const double *content, uint64_t *keys)
{
    size_t count = 0;
    Sketch sketch;
    add_blocks(&sketch, reading, content, RUNNING);
    if (sketch.words < FEW_WORDS)
        add_blocks(&sketch, reading, content, LIKELY);
    if (!sketch.words)
        add_blocks(&sketch, reading, content, LIKELIEST);
    for (size_t i = 0; i < BUCKETS; i++)
        if (sketch.least[i] != UINT64_MAX)
            keys[count++] = sketch.least[i];
    if (count && count < FEW_KEYS)
        keys[count++] = sketch.all;
    return count;
}
