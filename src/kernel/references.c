/* Character references, as browsers read them. */

#include "references.h"

#include <stdlib.h>

#define MAX_NAME 8  /* Bytes of the longest name that is listed. */
#define REPLACEMENT 0xFFFD

typedef struct {
    const char *name;
    uint16_t number;
    uint8_t size, is_legacy;
} Named;

static const Named names[] = {
#define NAMED(name, number) {#name, number, sizeof(#name) - 1, 0},
#define LEGACY(name, number) {#name, number, sizeof(#name) - 1, 1},
#include "references.def"
};

#define NAME_COUNT (sizeof(names) / sizeof(*names))

/* What the numbers 128 to 159 mean: their authors thought of Windows. */
static const uint16_t windows[32] = {
    0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x8D,   0x017D, 0x8F,   0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178,
};

static int is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

/* The value of a digit, 16 if it is none. */
static uint32_t digit_of(uint8_t byte)
{
    if (is_digit(byte))
        return byte - '0';
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? (uint32_t)(byte - 'a') + 10 : 16;
}

/* The name with these bytes; NULL if it is not listed. */
static const Named *find_name(const uint8_t *bytes, size_t size)
{
    size_t low = 0, high = NAME_COUNT;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const Named *named = &names[middle];
        int order = memcmp(bytes, named->name, size < named->size ? size : named->size);
        if (order == 0 && size == named->size)
            return named;
        if (order < 0 || (order == 0 && size < named->size))
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

static uint32_t read_number(Bytes source, size_t at, size_t stop, size_t *length)
{
    size_t first = at + 2;
    uint32_t base = 10, number = 0;
    if (first < stop && (source.bytes[first] | 0x20) == 'x') {
        base = 16;
        first++;
    }
    size_t behind = first;
    for (; behind < stop && digit_of(source.bytes[behind]) < base; behind++)
        if (number <= 0x10FFFF)
            number = number * base + digit_of(source.bytes[behind]);
    if (behind == first)
        return NO_REFERENCE;
    *length = behind + (behind < stop && source.bytes[behind] == ';') - at;
    if (number >= 0x80 && number < 0xA0)
        return windows[number - 0x80];
    return number == 0 || number > 0x10FFFF || (number >= 0xD800 && number < 0xE000) ? REPLACEMENT : number;
}

uint32_t read_reference(Bytes source, size_t at, size_t stop, int is_value, size_t *length)
{
    size_t first = at + 1, behind = first;
    *length = 1;
    if (first < stop && source.bytes[first] == '#')
        return read_number(source, at, stop, length);
    while (behind < stop && behind - first <= MAX_NAME &&
           (is_letter(source.bytes[behind]) || is_digit(source.bytes[behind])))
        behind++;
    if (behind == first)
        return NO_REFERENCE;
    size_t size = behind - first;
    if (behind < stop && source.bytes[behind] == ';' && size <= MAX_NAME) {
        const Named *named = find_name(source.bytes + first, size);
        *length = size + 2;
        return named ? named->number : STRANGE_REFERENCE;
    }
    if (size > MAX_NAME) /* Longer names all have a semicolon. */
        for (size_t i = behind; i < stop && (is_letter(source.bytes[i]) || is_digit(source.bytes[i]) ||
                                             source.bytes[i] == ';'); i++)
            if (source.bytes[i] == ';')
                return STRANGE_REFERENCE;
    for (; size > 1; size--) {
        const Named *named = find_name(source.bytes + first, size);
        if (!named || !named->is_legacy)
            continue;
        size_t next = first + size;
        if (is_value && next < stop &&
            (source.bytes[next] == '=' || is_letter(source.bytes[next]) || is_digit(source.bytes[next])))
            return NO_REFERENCE;
        *length = size + 1;
        return named->number;
    }
    return NO_REFERENCE;
}
