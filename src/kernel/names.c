/* What class, id, role, itemprop and `aria-hidden` of every element say: what words in them tell, and a hash of its
   classes. */

#include "reading.h"

#include "attributes.h"

#define MAX_VALUE 2000
#define DECAY 0.8f /* What the names of an element tell counts so much less for each element between. Levels
                      weighed 1 / sqrt(level), as tags are, came to the same. */

static int is_small(uint8_t byte)
{
    return byte >= 'a' && byte <= 'z';
}

/* Add what the words in a value tell: runs of letters, cut before capitals inside of them. */
static void add_told(Bytes source, size_t at, size_t stop, const WordList *list, float *told)
{
    while (at < stop) {
        if (!is_letter(source.bytes[at])) {
            at++;
            continue;
        }
        size_t start = at++;
        while (at < stop && is_letter(source.bytes[at]) &&
               (is_small(source.bytes[at]) || !is_small(source.bytes[at - 1])))
            at++;
        const float *numbers = find_word(list, NAME_NUMBERS, source, start, at);
        for (size_t i = 0; i < NAME_NUMBERS && numbers; i++)
            told[i] += numbers[i];
    }
}

static int is_gap(uint8_t byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

uint64_t classes_of(Bytes source, size_t at, size_t stop)
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
    float told[NAME_NUMBERS];
} Meaning;

#define REMEMBERED 512

static const Meaning *meaning_of(Bytes source, const Attribute *found, const WordList *list, Meaning *before)
{
    size_t size = found->value_stop - found->value;
    const uint8_t *value = source.bytes + found->value;
    uint64_t key = size * PATH_FACTOR + word_before(source, found->value, found->value_stop);
    if (size > WORD)
        key += word_before(source, found->value_stop - WORD, found->value_stop) * TEXT_FACTOR;
    Meaning *meaning = &before[mix(key) % REMEMBERED];
    if (meaning->size != size || memcmp(source.bytes + meaning->value, value, size) != 0) {
        *meaning = (Meaning){found->value, size, classes_of(source, found->value, found->value_stop), {0}};
        add_told(source, found->value, found->value_stop, list, meaning->told);
    }
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
    case 8:
        return memcmp(name, "itemprop", 8) == 0 ? READ : NOT_READ;
    case 11:
        return memcmp(name, "aria-hidden", 11) == 0 && is_value(source, found, "true") ? SAYS_HIDDEN : NOT_READ;
    }
    return NOT_READ;
}

static void read_element(const Tree *tree, size_t node, const WordList *list, Meaning *before, const Names *names)
{
    size_t at = (size_t)tree->start[node], stop = (size_t)tree->stop[node];
    float *told = names->told + node * NAME_NUMBERS;
    Attribute found;
    while (next_attribute(tree->source, &at, stop, &found)) {
        int kind = is_read(tree->source, &found);
        names->hidden[node] |= kind == SAYS_HIDDEN;
        if (kind != READ && kind != READ_AS_CLASSES)
            continue;
        const Meaning *meaning = meaning_of(tree->source, &found, list, before);
        for (size_t i = 0; i < NAME_NUMBERS; i++)
            told[i] += meaning->told[i];
        if (kind == READ_AS_CLASSES)
            names->classes[node] = meaning->classes;
    }
    if (tree->parent[node] < 0)
        return;
    const float *above = names->told + (size_t)tree->parent[node] * NAME_NUMBERS;
    for (size_t i = 0; i < NAME_NUMBERS; i++)
        told[i] += DECAY * above[i];
}

void read_names(const Tree *tree, const WordList *list, const Names *names)
{
    Meaning before[REMEMBERED] = {{0}};
    for (size_t i = 0; i < tree->count; i++)
        if (tree->tag[i] != 0)
            read_element(tree, i, list, before, names);
}
