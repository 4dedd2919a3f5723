/* `words` and `fingerprint`: the words of a text as hashes, and their SimHash. */

#include "kernel.h"

#include <stdlib.h>

#include "sorting.h"

#define MAX_WORD 64 /* A longer run is no word, and is taken apart. */
#define BITS 64
#define NOT_ONE 0xFFFF /* A character whose small letter is not one, or depends on those around it. */
#define LAST_LETTER 0x1FFFF /* There are none behind it but of scripts that go by character. */

typedef struct {
    Bytes text;
    Bytes letters; /* By the number of a character: is it a letter or digit, or an underscore? */
    const uint16_t *small; /* By the number as well: that of the small letter, or NOT_ONE. */
    size_t small_count;    /* 0 for a text that is in small letters. */
    Keyed *items;          /* A key for each word: its hash. */
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

/* Is it of a script that puts no space between words? Each character counts as one. */
static int is_solid(uint32_t code)
{
    return code >= 0x3040 && (code <= 0x30FF || (code >= 0x3400 && code <= 0x4DBF) ||
                              (code >= 0x4E00 && code <= 0x9FFF) ||
                              (code >= 0xF900 && code <= 0xFAFF) ||
                              (code >= 0x20000 && code <= 0x3FFFF));
}

/* The number of a character that is not ASCII in small letters; NOT_ONE where that is not known. */
static uint32_t small_beyond_ascii(const TextWords *words, size_t at, size_t *length)
{
    uint32_t code = character_at(words->text, at, length);
    if (!words->small_count || is_solid(code))
        return code;
    return code < words->small_count ? words->small[code] : NOT_ONE;
}

/* The same of any character: most are ASCII. */
static inline uint32_t small_at(const TextWords *words, size_t at, size_t *length)
{
    uint8_t first = words->text.bytes[at];
    if (first >= 0x80)
        return small_beyond_ascii(words, at, length);
    *length = 1;
    return lower(first);
}

static void end_word(TextWords *words, uint64_t sum)
{
    words->items[words->count] = (Keyed){mix(sum), (int32_t)words->count};
    words->count++;
}

/* Cut the text into words; 0 where it has a character that is not known. */
static int find_words(TextWords *words)
{
    Bytes text = words->text;
    size_t size = 0, length;
    uint64_t sum = 0, weight = 1;
    for (size_t at = 0; at < text.size; at += length) {
        uint32_t code = small_at(words, at, &length);
        int solid = length >= 3 && is_solid(code); /* A table of small letters may say anything. */
        if (!solid && code >= words->letters.size && code <= LAST_LETTER)
            return 0;
        int is_letter = !solid && code < words->letters.size && words->letters.bytes[code];
        if (size && (!is_letter || size == MAX_WORD)) {
            end_word(words, sum);
            size = 0;
        }
        if (solid)
            end_word(words, (uint64_t)code + 1);
        if (!is_letter)
            continue;
        if (!size) {
            sum = 0;
            weight = 1;
        }
        sum += ((uint64_t)code + 1) * weight;
        weight *= TEXT_FACTOR;
        size++;
    }
    if (size)
        end_word(words, sum);
    return 1;
}

/* How much weight has a 1 at each binary digit. A byte for each of them, eight to a word, is added to for
   as long as none can overflow. */
typedef struct {
    uint64_t lanes[BITS / 8];
    unsigned in_lanes; /* The weight that they hold. */
    int64_t ones[BITS], total;
} Balance;

static void empty_lanes(Balance *balance)
{
    for (size_t bit = 0; bit < BITS; bit++)
        balance->ones[bit] += (int64_t)(balance->lanes[bit / 8] >> (bit % 8 * 8) & 0xFF);
    memset(balance->lanes, 0, sizeof(balance->lanes));
    balance->in_lanes = 0;
}

static void add_bits(Balance *balance, uint64_t hash, unsigned weight)
{
    if (balance->in_lanes + weight > 0xFF)
        empty_lanes(balance);
    for (size_t i = 0; i < BITS / 8; i++) {
        /* The byte in all lanes, of each its own digit, and that digit as 0 or 1. */
        uint64_t digits = (hash >> (8 * i) & 0xFF) * ONES & UINT64_C(0x8040201008040201);
        balance->lanes[i] += ((digits + LOW_BITS) >> 7 & ONES) * weight;
    }
    balance->in_lanes += weight;
    balance->total += weight;
}

/* The SimHash: each different word weighs the binary digits of its count. */
static uint64_t weigh_words(Keyed *items, Keyed *spare, size_t count)
{
    Balance balance = {0};
    uint64_t found = 0;
    sort_keyed(items, spare, count);
    for (size_t start = 0, stop; start < count; start = stop) {
        unsigned weight = 0;
        for (stop = start + 1; stop < count && items[stop].key == items[start].key;)
            stop++;
        for (size_t same = stop - start; same; same >>= 1)
            weight++;
        add_bits(&balance, items[start].key, weight);
    }
    empty_lanes(&balance);
    for (size_t bit = 0; bit < BITS; bit++)
        found |= (uint64_t)(2 * balance.ones[bit] > balance.total) << bit;
    return found;
}

static PyObject *as_hex(uint64_t number)
{
    static const char digits[] = "0123456789abcdef";
    char written[BITS / 4];
    for (size_t i = 0; i < BITS / 4; i++)
        written[i] = digits[number >> (BITS - 4 * (i + 1)) & 0xF];
    return PyUnicode_FromStringAndSize(written, BITS / 4);
}

static PyObject *as_hashes(const TextWords *words)
{
    PyObject *memory = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(words->count * sizeof(uint64_t)));
    char *to = memory ? PyByteArray_AsString(memory) : NULL;
    for (size_t i = 0; i < words->count && to; i++)
        memcpy(to + i * sizeof(uint64_t), &words->items[i].key, sizeof(uint64_t));
    return memory;
}

/* The fingerprint, or the hashes of the words; None for a text with characters that are not known. */
static PyObject *of_words(TextWords *words, int is_fingerprint)
{
    size_t room = words->text.size / 2 + 2; /* A byte lies between two words, or one has three. */
    words->items = malloc(2 * room * sizeof(Keyed));
    if (!words->items)
        return PyErr_NoMemory();
    PyObject *found;
    if (!find_words(words))
        found = Py_NewRef(Py_None);
    else if (is_fingerprint)
        found = as_hex(weigh_words(words->items, words->items + room, words->count));
    else
        found = as_hashes(words);
    free(words->items);
    return found;
}

static PyObject *of_text(PyObject *const *arguments, Py_ssize_t count, int is_fingerprint)
{
    View views[3];
    if (!check_count("words", count, 3) || !open_views(views, arguments, "BBH"))
        return NULL;
    PyObject *found = NULL;
    TextWords words = {.text = bytes_of(&views[0]), .letters = bytes_of(&views[1]),
                       .small = views[2].buffer.buf,
                       .small_count = (size_t)views[2].buffer.len / sizeof(uint16_t)};
    if (words.text.size > INT32_MAX)
        PyErr_SetString(PyExc_ValueError, "the text is too long");
    else
        found = of_words(&words, is_fingerprint);
    close_views(views, 3);
    return found;
}

PyObject *kernel_fingerprint(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    return of_text(arguments, count, 1);
}

PyObject *kernel_words(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    return of_text(arguments, count, 0);
}
