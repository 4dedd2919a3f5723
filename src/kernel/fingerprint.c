/* `fingerprint`: the SimHash of a text's words. The twin of `dehusk.fingerprint.fingerprint`. */

#include "kernel.h"

#include <stdlib.h>

#include "reading.h"

#define MAX_WORD 64 /* A longer run is taken apart: `words._WORD`. */
#define BITS 64

typedef struct {
    int32_t start, stop;
} Word;

typedef struct {
    Bytes text;
    Bytes letters; /* By the number of a character: is it a letter or digit, or an underscore? */
    Keyed *items, *spare;
    Word *words;
    size_t count;
} TextWords;

/* The number of the character at a place, and how many bytes it has; the text is UTF-8. */
static uint32_t character_at(Bytes text, size_t at, size_t *length)
{
    uint8_t first = text.bytes[at];
    size_t size = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    *length = size <= text.size - at ? size : 1;
    if (*length == 1)
        return first;
    uint32_t code = first & (0xFFu >> (size + 1));
    for (size_t i = 1; i < size; i++)
        code = code << 6 | (text.bytes[at + i] & 0x3F);
    return code;
}

/* Is it of a script that puts no space between words? `words._SOLID` */
static int is_solid(uint32_t code)
{
    return code >= 0x3040 && (code <= 0x30FF || (code >= 0x3400 && code <= 0x4DBF) ||
                              (code >= 0x4E00 && code <= 0x9FFF) ||
                              (code >= 0xF900 && code <= 0xFAFF) ||
                              (code >= 0x20000 && code <= 0x3FFFF));
}

static void end_word(TextWords *words, size_t start, size_t stop, uint64_t sum)
{
    words->words[words->count] = (Word){(int32_t)start, (int32_t)stop};
    words->items[words->count] = (Keyed){mix(sum), (int32_t)words->count};
    words->count++;
}

/* Cut the text into words; 0 where it has a character that is not known. */
static int find_words(TextWords *words)
{
    Bytes text = words->text;
    size_t start = 0, size = 0, length;
    uint64_t sum = 0, weight = 1;
    for (size_t at = 0; at < text.size; at += length) {
        uint32_t code = character_at(text, at, &length);
        int solid = is_solid(code);
        if (!solid && code >= words->letters.size)
            return 0;
        int is_letter = !solid && words->letters.bytes[code];
        if (size && (!is_letter || size == MAX_WORD)) {
            end_word(words, start, at, sum);
            size = 0;
        }
        if (solid)
            end_word(words, at, at + length, (uint64_t)code + 1);
        if (!is_letter)
            continue;
        if (!size) {
            start = at;
            sum = 0;
            weight = 1;
        }
        sum += ((uint64_t)code + 1) * weight;
        weight *= TEXT_FACTOR;
        size++;
    }
    if (size)
        end_word(words, start, text.size, sum);
    return 1;
}

static int is_same(const TextWords *words, int32_t one, int32_t other)
{
    const Word *mine = &words->words[one], *theirs = &words->words[other];
    size_t size = (size_t)(mine->stop - mine->start);
    return size == (size_t)(theirs->stop - theirs->start) &&
           memcmp(words->text.bytes + mine->start, words->text.bytes + theirs->start, size) == 0;
}

static void add_bits(uint64_t hash, int64_t weight, int64_t *balance)
{
    for (size_t bit = 0; bit < BITS; bit++)
        balance[bit] += hash >> bit & 1 ? weight : -weight;
}

/* Weigh each different word once; 0 where two of them have one hash. */
static int weigh_words(TextWords *words, uint64_t *found)
{
    int64_t balance[BITS] = {0};
    sort_keyed(words->items, words->spare, words->count);
    for (size_t start = 0, stop; start < words->count; start = stop) {
        const Keyed *items = words->items;
        int64_t weight = 0;
        for (stop = start; stop < words->count && items[stop].key == items[start].key; stop++)
            if (!is_same(words, items[start].place, items[stop].place))
                return 0;
        for (size_t count = stop - start; count; count >>= 1)
            weight++;
        add_bits(items[start].key, weight, balance);
    }
    *found = 0;
    for (size_t bit = 0; bit < BITS; bit++)
        *found |= (uint64_t)(balance[bit] > 0) << bit;
    return 1;
}

static PyObject *fingerprint_of(TextWords *words)
{
    static const char digits[] = "0123456789abcdef";
    size_t room = words->text.size / 2 + 2; /* A byte lies between two words, or one has three. */
    uint64_t found = 0;
    words->items = malloc(room * (2 * sizeof(Keyed) + sizeof(Word)));
    if (!words->items)
        return PyErr_NoMemory();
    words->spare = words->items + room;
    words->words = (Word *)(words->spare + room);
    int is_known = find_words(words) && weigh_words(words, &found);
    free(words->items);
    if (!is_known)
        Py_RETURN_NONE;
    char written[BITS / 4];
    for (size_t i = 0; i < BITS / 4; i++)
        written[i] = digits[found >> (BITS - 4 * (i + 1)) & 0xF];
    return PyUnicode_FromStringAndSize(written, BITS / 4);
}

PyObject *kernel_fingerprint(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    View views[2];
    if (!check_count("fingerprint", count, 2) || !open_views(views, arguments, 2, 0))
        return NULL;
    PyObject *found = NULL;
    TextWords words = {.text = bytes_of(&views[0]), .letters = bytes_of(&views[1])};
    if (words.text.size > INT32_MAX)
        PyErr_SetString(PyExc_ValueError, "fingerprint: the text is too long");
    else
        found = fingerprint_of(&words);
    close_views(views, 2);
    return found;
}
