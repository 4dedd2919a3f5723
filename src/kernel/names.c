/* `names`: what class, id and role of every element say. The twin of
   `dehusk.methods.auto.names.read_names`, which says what that is. */

#include "kernel.h"

#include <stdlib.h>

#include "attributes.h"

#define MAX_VALUE 2000
#define MAX_WORD 16

/* The words that tell something, in a table with open addressing: a power of two of slots. */
typedef struct {
    const uint64_t *low, *high; /* The first and the last eight letters; 0 in a slot that is free. */
    const uint32_t *bits;
    size_t mask;
} Words;

typedef struct {
    uint64_t low, high;
    size_t size;
} Word;

static void add_letter(Word *word, uint8_t letter)
{
    if (word->size < 8)
        word->low |= (uint64_t)letter << (8 * word->size);
    else if (word->size < MAX_WORD)
        word->high |= (uint64_t)letter << (8 * (word->size - 8));
    word->size++;
}

/* What the word tells, as bits; the word is empty afterwards. */
static uint32_t take_word(const Words *words, Word *word)
{
    uint32_t bits = 0;
    if (word->size && word->size <= MAX_WORD) {
        size_t slot = mix(word->low + word->high * TEXT_FACTOR) & words->mask;
        for (size_t i = 0; i <= words->mask && words->low[slot]; i++) {
            if (words->low[slot] == word->low && words->high[slot] == word->high) {
                bits = words->bits[slot];
                break;
            }
            slot = (slot + 1) & words->mask;
        }
    }
    *word = (Word){0};
    return bits;
}

/* The kinds of words in a value: runs of letters, cut before capitals inside of them. */
static uint32_t kinds_in(Bytes source, size_t at, size_t stop, const Words *words)
{
    uint32_t bits = 0;
    Word word = {0};
    uint8_t before = 0;
    for (; at < stop; at++) {
        uint8_t byte = source.bytes[at], letter = lower(byte);
        int is_letter = letter >= 'a' && letter <= 'z';
        if (word.size && (!is_letter || (byte < 'a' && before >= 'a')))
            bits |= take_word(words, &word);
        if (is_letter)
            add_letter(&word, letter);
        before = byte;
    }
    return bits | take_word(words, &word);
}

static int is_gap(uint8_t byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* A hash of the classes without a digit, whatever their order. */
static uint64_t look_of(Bytes source, size_t at, size_t stop)
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
    uint64_t look;
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
        *meaning = (Meaning){found->value, size, look_of(source, found->value, found->value_stop),
                             kinds_in(source, found->value, found->value_stop, words)};
    return meaning;
}

/* Is the attribute one of those that are read? 2 for a class. */
static int is_read(Bytes source, const Attribute *found)
{
    const uint8_t *name = source.bytes + found->name;
    size_t size = found->value_stop - found->value;
    if (size < 1 || size > MAX_VALUE)
        return 0;
    switch (found->name_stop - found->name) {
    case 2:
        return memcmp(name, "id", 2) == 0;
    case 4:
        return memcmp(name, "role", 4) == 0;
    case 5:
        return memcmp(name, "class", 5) == 0 ? 2 : 0;
    }
    return 0;
}

static void read_element(Bytes source, size_t at, size_t stop, const Words *words, Meaning *before,
                         uint64_t *look, uint32_t *kinds)
{
    Attribute found;
    while (next_attribute(source, &at, stop, &found)) {
        int kind = is_read(source, &found);
        if (!kind)
            continue;
        const Meaning *meaning = meaning_of(source, &found, words, before);
        *kinds |= meaning->kinds;
        if (kind == 2)
            *look = meaning->look;
    }
}

static PyObject *names_of(Bytes source, const View *views, const Words *words, size_t count)
{
    const int16_t *tag = views[0].buffer.buf;
    const int32_t *start = views[1].buffer.buf, *stop = views[2].buffer.buf;
    PyObject *memory = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(12 * count));
    if (!memory)
        return NULL;
    uint64_t *look = (uint64_t *)PyByteArray_AsString(memory);
    uint32_t *kinds = (uint32_t *)(look + count);
    memset(look, 0, 12 * count);
    Meaning before[REMEMBERED] = {{0}};
    for (size_t i = 0; i < count; i++)
        if (tag[i] != 0 && start[i] >= 0 && stop[i] >= start[i] && (size_t)stop[i] <= source.size)
            read_element(source, (size_t)start[i], (size_t)stop[i], words, before, &look[i],
                         &kinds[i]);
    return memory;
}

PyObject *kernel_names(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    static const Py_ssize_t table_sizes[] = {8, 8, 4}, sizes[] = {2, 4, 4};
    View views[7];
    if (!check_count("names", count, 7) || !open_views(views, arguments, 7, 0))
        return NULL;
    PyObject *memory = NULL;
    Py_ssize_t slots = views[3].buffer.len / 4, nodes = views[4].buffer.len / 2;
    if (slots < 1 || (slots & (slots - 1))) {
        PyErr_SetString(PyExc_ValueError, "names: the slots are no power of two");
    } else if (check_sizes("names", views + 1, table_sizes, 3, slots) &&
               check_sizes("names", views + 4, sizes, 3, nodes)) {
        Words words = {views[1].buffer.buf, views[2].buffer.buf, views[3].buffer.buf,
                       (size_t)slots - 1};
        memory = names_of(bytes_of(&views[0]), views + 4, &words, (size_t)nodes);
    }
    close_views(views, 7);
    return memory;
}
