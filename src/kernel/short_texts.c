/* What the words of short blocks tell: 'Related posts', 'Leave a reply', 'Price'. Those of longer ones tell what the
   page is about, and networks that read them did worse on other sites. */

#include "reading.h"

#include <math.h>

#include "escapes.h"

#define MAX_WORDS 10 /* Of a block that is short. */

/* How many bytes the letter has that begins here; 0 for what is none. Behind ASCII all are letters but the blocks of
   signs: U+0080 to U+00BF, U+2000 to U+303F, U+FF00 to U+FF7F. */
static size_t letter_at(Bytes source, size_t at, size_t stop)
{
    uint8_t lead = source.bytes[at], next = at + 1 < stop ? source.bytes[at + 1] : 0;
    if (lead < 0x80)
        return (lead | 0x20) >= 'a' && (lead | 0x20) <= 'z';
    if (lead == 0xC2 || lead == 0xE2 || (lead == 0xE3 && next == 0x80) || (lead == 0xEF && (next == 0xBC || next == 0xBD)))
        return 0;
    size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    return size < stop - at ? size : stop - at;
}

/* How many bytes what begins here has, which is no letter. */
static size_t sign_at(Bytes source, size_t at, size_t stop)
{
    uint8_t lead = source.bytes[at];
    size_t size = lead >= 0xE0 ? 3 : lead >= 0x80 ? 2 : 1;
    if (lead == '&')
        unescaped(source.bytes + at, stop - at, &size);
    return size < stop - at ? size : stop - at;
}

/* Add what the words of a text tell, as long as there are no more than `MAX_WORDS`. How many there are, with those
   before; one more than `MAX_WORDS` if there are more. */
static size_t add_told(Bytes source, size_t at, size_t stop, const WordList *list, size_t words, float *told)
{
    while (at < stop && words <= MAX_WORDS) {
        size_t start = at, size;
        while (at < stop && (size = letter_at(source, at, stop)))
            at += size;
        if (at == start) {
            at += sign_at(source, at, stop);
            continue;
        }
        words++;
        const float *numbers = find_word(list, TEXT_NUMBERS, source, start, at);
        for (size_t i = 0; i < TEXT_NUMBERS && numbers; i++)
            told[i] += numbers[i];
    }
    return words;
}

void fill_texts(const Reading *reading, const WordList *list)
{
    const Tree *tree = reading->tree;
    size_t segment = 0;
    for (size_t block = 0; block < reading->blocks; block++) {
        size_t behind = block + 1 < reading->blocks ? (size_t)reading->first[block + 1] : reading->segment_count;
        size_t words = 0;
        float told[TEXT_NUMBERS] = {0}, *to = features_of(reading, block) + PAGE_WORDING;
        for (; segment < behind; segment++) {
            size_t node = (size_t)reading->segments[segment];
            if (words <= MAX_WORDS)
                words = add_told(tree->source, (size_t)tree->start[node], (size_t)tree->stop[node], list, words, told);
        }
        for (size_t i = 0; i < TEXT_NUMBERS; i++)
            to[i] = words && words <= MAX_WORDS ? told[i] / sqrtf((float)words) : 0;
    }
}
