/* The escapes of canonical HTML. */

#ifndef DEHUSK_ESCAPES_H
#define DEHUSK_ESCAPES_H

#include "bytes.h"

#define NO_BREAK_SPACE 0xA0 /* Its number; in UTF-8 it has a byte 0xC2 before it. */

/* The number of the character that an escape stands for, and how long the escape is; a byte `&` that
   begins none stands for itself. */
static inline uint8_t unescaped(const uint8_t *at, size_t left, size_t *length)
{
    static const struct {
        const char *written;
        size_t length;
        uint8_t means;
    } escapes[] = {
        {"&nbsp;", 6, NO_BREAK_SPACE}, {"&amp;", 5, '&'},  {"&lt;", 4, '<'},
        {"&gt;", 4, '>'},              {"&quot;", 6, '"'},
    };
    for (size_t i = 0; i < sizeof(escapes) / sizeof(*escapes); i++) {
        *length = escapes[i].length;
        if (left >= *length && memcmp(at, escapes[i].written, *length) == 0)
            return escapes[i].means;
    }
    *length = 1;
    return *at;
}

/* Text with its escapes undone; `to` has room for as many bytes. How many there are. */
static inline size_t put_unescaped(const uint8_t *from, size_t left, uint8_t *to)
{
    uint8_t *at = to;
    while (left) {
        const uint8_t *escape = memchr(from, '&', left);
        size_t plain = escape ? (size_t)(escape - from) : left, length;
        memcpy(at, from, plain);
        at += plain;
        from += plain;
        left -= plain;
        if (!left)
            break;
        uint8_t character = unescaped(from, left, &length);
        if (character == NO_BREAK_SPACE)
            *at++ = 0xC2;
        *at++ = character;
        from += length;
        left -= length;
    }
    return (size_t)(at - to);
}

#endif
