/* Bytes read as words, and the hashes of `dehusk.page.hashing`, bit for bit. */

#ifndef DEHUSK_BYTES_H
#define DEHUSK_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define TEXT_FACTOR 0x9E3779B97F4A7C15u
#define PATH_FACTOR 0xC2B2AE3D27D4EB4Fu
#define ONES 0x0101010101010101u
#define TOP_BITS 0x8080808080808080u
#define LOW_BITS 0x7F7F7F7F7F7F7F7Fu
#define WORD 8

/* A piece of memory and how long it is: nothing here reads outside of one. */
typedef struct {
    const uint8_t *bytes;
    size_t size;
} Bytes;

static inline uint64_t mix(uint64_t value)
{
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
    return value ^ (value >> 31);
}

/* Eight bytes, the first one lowest; compilers make one load of it. */
static inline uint64_t load_word(const uint8_t *from)
{
    return (uint64_t)from[0] | (uint64_t)from[1] << 8 | (uint64_t)from[2] << 16 |
           (uint64_t)from[3] << 24 | (uint64_t)from[4] << 32 | (uint64_t)from[5] << 40 |
           (uint64_t)from[6] << 48 | (uint64_t)from[7] << 56;
}

/* The word at a place, zeros behind `stop`, which is not behind the last byte. */
static inline uint64_t word_before(Bytes source, size_t at, size_t stop)
{
    if (source.size >= WORD && at <= source.size - WORD) {
        uint64_t word = load_word(source.bytes + at);
        size_t left = at < stop ? stop - at : 0;
        return left >= WORD ? word : word & ((UINT64_C(1) << (8 * left)) - 1);
    }
    uint64_t word = 0;
    for (size_t i = 0; i < WORD && at + i < stop; i++)
        word |= (uint64_t)source.bytes[at + i] << (8 * i);
    return word;
}

static inline uint64_t word_at(Bytes source, size_t at)
{
    return word_before(source, at, source.size);
}

/* The hash of a run of bytes, its length included. */
static inline uint64_t hash_run(Bytes source, size_t first, size_t behind)
{
    uint64_t sum = behind - first, weight = 1;
    for (size_t at = first; at < behind; at += WORD) {
        uint64_t word = word_before(source, at, behind);
        sum += (word ^ (word >> 32)) * weight;
        weight *= TEXT_FACTOR;
    }
    return mix(sum);
}

/* The top bit of each byte of the word that is `byte`, and of no other. */
static inline uint64_t marks_of(uint64_t word, uint8_t byte)
{
    uint64_t gap = word ^ (ONES * byte);
    return ~(((gap & LOW_BITS) + LOW_BITS) | gap) & TOP_BITS;
}

/* How many top bits are marked. */
static inline unsigned count_marks(uint64_t marks)
{
    return (unsigned)(((marks >> 7) * ONES) >> 56);
}

/* The place of a byte, from `at` on and before `stop`; else `stop`. */
static inline size_t find_byte(Bytes source, uint8_t byte, size_t at, size_t stop)
{
    if (at >= stop)
        return stop;
    const uint8_t *found = memchr(source.bytes + at, byte, stop - at);
    return found ? (size_t)(found - source.bytes) : stop;
}

/* The place of the lowest bit that is set; there is one. */
static inline unsigned lowest_bit(uint32_t bits)
{
#if defined(__GNUC__)
    return (unsigned)__builtin_ctz(bits);
#else
    unsigned place = 0;
    while (!(bits >> place & 1))
        place++;
    return place;
#endif
}

#define NEAR 4 /* Words of a vector that are looked at before a call pays. */

/* The same where the byte is likely to be near; and the same for one of two bytes. */
static inline size_t find_either(Bytes source, uint8_t one, uint8_t other, size_t at, size_t stop)
{
#if defined(__SSE2__)
    const __m128i ones = _mm_set1_epi8((char)one), others = _mm_set1_epi8((char)other);
    for (size_t i = 0; i < NEAR && at < stop && source.size - at >= 16; i++, at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(source.bytes + at));
        int marks = _mm_movemask_epi8(
            _mm_or_si128(_mm_cmpeq_epi8(bytes, ones), _mm_cmpeq_epi8(bytes, others)));
        if (marks) {
            at += lowest_bit((uint32_t)marks);
            return at < stop ? at : stop;
        }
    }
#endif
    if (one == other)
        return find_byte(source, one, at, stop);
    while (at < stop && source.bytes[at] != one && source.bytes[at] != other)
        at++;
    return at < stop ? at : stop;
}

static inline size_t find_near(Bytes source, uint8_t byte, size_t at, size_t stop)
{
    return find_either(source, byte, byte, at, stop);
}

static inline int is_white(uint8_t byte)
{
    return byte <= ' ';
}

static inline uint8_t lower(uint8_t byte)
{
    return byte >= 'A' && byte <= 'Z' ? (uint8_t)(byte | 0x20) : byte;
}

static inline int is_letter(uint8_t byte)
{
    byte |= 0x20;
    return byte >= 'a' && byte <= 'z';
}

/* A character in UTF-8, up to four bytes; how many they are. */
static inline size_t put_utf8(uint32_t code, uint8_t *to)
{
    static const uint8_t leads[] = {0, 0xC0, 0xE0, 0xF0};
    size_t more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    for (size_t i = more; i; i--, code >>= 6)
        to[i] = (uint8_t)(0x80 | (code & 0x3F));
    to[0] = (uint8_t)(leads[more] | code);
    return more + 1;
}

/* Is the text at a place, without regard to case? `text` is in lower case. */
static inline int stands_at(Bytes source, size_t at, const char *text)
{
    size_t size = strlen(text);
    if (at > source.size || source.size - at < size)
        return 0;
    for (size_t i = 0; i < size; i++)
        if (lower(source.bytes[at + i]) != (uint8_t)text[i])
            return 0;
    return 1;
}

#endif
