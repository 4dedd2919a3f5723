/* What class, id, role and `aria-hidden` of every element say: kinds of words, and a hash of its classes. */

#include "reading.h"

#include "attributes.h"

#define MAX_VALUE 2000
#define MAX_WORD 16
#define SLOTS 512

/* The words of features.def in a table with open addressing. */
struct Words {
    uint64_t low[SLOTS], high[SLOTS]; /* The first and the last eight letters; 0 in a slot that is free. */
    uint32_t kinds[SLOTS];
};

#define SMALL_BITS 0x2020202020202020u /* What makes small letters of capitals. */

/* Up to eight letters, the first one lowest, in lower case; zeros behind them. */
static uint64_t letters_in(Bytes source, size_t at, size_t stop)
{
    uint64_t mask = stop - at < WORD ? (UINT64_C(1) << 8 * (stop - at)) - 1 : UINT64_MAX;
    return (word_before(source, at, stop) | SMALL_BITS) & mask;
}

/* The slot of a word, or the one that is free for it. */
static size_t find_slot(const Words *words, Bytes source, size_t at, size_t stop, uint64_t *low, uint64_t *high)
{
    *low = letters_in(source, at, stop);
    *high = stop - at > WORD ? letters_in(source, at + WORD, stop) : 0;
    size_t slot = mix(*low + *high * TEXT_FACTOR) % SLOTS;
    while (words->low[slot] && (words->low[slot] != *low || words->high[slot] != *high))
        slot = (slot + 1) % SLOTS;
    return slot;
}

Words *make_words(void)
{
    static const char *const kinds[] = {
#define NAMED(kind, words) words,
#include "features.def"
    };
    Words *words = PyMem_Calloc(1, sizeof(Words));
    for (size_t kind = 0; kind < sizeof(kinds) / sizeof(*kinds) && words; kind++) {
        Bytes list = {(const uint8_t *)kinds[kind], strlen(kinds[kind])};
        for (size_t at = 0, stop; at < list.size; at = stop + 1) {
            uint64_t low, high;
            stop = find_byte(list, ' ', at, list.size);
            size_t slot = find_slot(words, list, at, stop, &low, &high);
            words->low[slot] = low;
            words->high[slot] = high;
            words->kinds[slot] |= UINT32_C(1) << kind;
        }
    }
    if (!words)
        PyErr_NoMemory();
    return words;
}

/* What a word tells, as bits. */
static uint32_t kinds_of(Bytes source, size_t at, size_t stop, const Words *words)
{
    uint64_t low, high;
    return stop - at > MAX_WORD ? 0 : words->kinds[find_slot(words, source, at, stop, &low, &high)];
}

static int is_small(uint8_t byte)
{
    return byte >= 'a' && byte <= 'z';
}

static int is_letter(uint8_t byte)
{
    return is_small(byte | 0x20);
}

/* The kinds of words in a value: runs of letters, cut before capitals inside of them. */
static uint32_t kinds_in(Bytes source, size_t at, size_t stop, const Words *words)
{
    uint32_t bits = 0;
    while (at < stop) {
        if (!is_letter(source.bytes[at])) {
            at++;
            continue;
        }
        size_t start = at++;
        while (at < stop && is_letter(source.bytes[at]) &&
               (is_small(source.bytes[at]) || !is_small(source.bytes[at - 1])))
            at++;
        bits |= kinds_of(source, start, at, words);
    }
    return bits;
}

static int is_gap(uint8_t byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* A hash of the classes without a digit, whatever their order: those with one differ from page to page. */
static uint64_t classes_of(Bytes source, size_t at, size_t stop)
{
    uint64_t sum = 0;
    while (at < stop) {
        while (at < stop && is_gap(source.bytes[at]))
            at++;
        size_t start = at;
        int has_digit = 0;
        for (; at < stop && !is_gap(source.bytes[at]); at++)
            has_digit |= source.bytes[at] >= '0' && source.bytes[at] <= '9';
        if (at > start && !has_digit)
            sum += hash_run(source, start, at);
    }
    return mix(sum + 1);
}

/* What values said that were read before: most come again on the same page. */
typedef struct {
    size_t value, size;
    uint64_t classes;
    uint32_t kinds;
} Meaning;

#define REMEMBERED 512

static const Meaning *meaning_of(Bytes source, const Attribute *found, const Words *words,
                                 Meaning *before)
{
    size_t size = found->value_stop - found->value;
    const uint8_t *value = source.bytes + found->value;
    uint64_t key = size * PATH_FACTOR + word_before(source, found->value, found->value_stop);
    if (size > WORD)
        key += word_before(source, found->value_stop - WORD, found->value_stop) * TEXT_FACTOR;
    Meaning *meaning = &before[mix(key) % REMEMBERED];
    if (meaning->size != size || memcmp(source.bytes + meaning->value, value, size) != 0)
        *meaning = (Meaning){found->value, size, classes_of(source, found->value, found->value_stop),
                             kinds_in(source, found->value, found->value_stop, words)};
    return meaning;
}

enum { NOT_READ, READ, READ_AS_CLASSES, SAYS_HIDDEN };

/* How the attribute is read. */
static int is_read(Bytes source, const Attribute *found)
{
    const uint8_t *name = source.bytes + found->name;
    size_t size = found->value_stop - found->value;
    if (size < 1 || size > MAX_VALUE)
        return NOT_READ;
    switch (found->name_stop - found->name) {
    case 2:
        return memcmp(name, "id", 2) == 0 ? READ : NOT_READ;
    case 4:
        return memcmp(name, "role", 4) == 0 ? READ : NOT_READ;
    case 5:
        return memcmp(name, "class", 5) == 0 ? READ_AS_CLASSES : NOT_READ;
    case 11:
        return memcmp(name, "aria-hidden", 11) == 0 && is_value(source, found, "true") ? SAYS_HIDDEN : NOT_READ;
    }
    return NOT_READ;
}

static void read_element(Bytes source, size_t at, size_t stop, const Words *words, Meaning *before,
                         uint64_t *classes, uint32_t *kinds)
{
    Attribute found;
    while (next_attribute(source, &at, stop, &found)) {
        int kind = is_read(source, &found);
        if (kind == SAYS_HIDDEN)
            *kinds |= UINT32_C(1) << (PAGE_ARIA_HIDDEN - PAGE_NAMED_navigation);
        if (kind != READ && kind != READ_AS_CLASSES)
            continue;
        const Meaning *meaning = meaning_of(source, &found, words, before);
        *kinds |= meaning->kinds;
        if (kind == READ_AS_CLASSES)
            *classes = meaning->classes;
    }
}

void read_names(const Tree *tree, const Words *words, const Names *names)
{
    Meaning before[REMEMBERED] = {{0}};
    for (size_t i = 0; i < tree->count; i++)
        if (tree->tag[i] != 0)
            read_element(tree->source, (size_t)tree->start[i], (size_t)tree->stop[i], words, before,
                         &names->classes[i], &names->kinds[i]);
}
