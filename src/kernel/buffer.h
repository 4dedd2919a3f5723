/* Bytes that are written one behind another, with as much room as they need. */

#ifndef DEHUSK_BUFFER_H
#define DEHUSK_BUFFER_H

#include <stdlib.h>

#include "bytes.h"

typedef struct {
    uint8_t *bytes;
    size_t size, room;
    int is_short; /* There was no memory for all of it. */
} Buffer;

/* Where so many bytes may be written, at least one; NULL without memory. */
static inline uint8_t *room_in(Buffer *buffer, size_t size)
{
    if (buffer->room - buffer->size <= size) {
        if (buffer->is_short || size > SIZE_MAX / 4 || buffer->room > SIZE_MAX / 4) {
            buffer->is_short = 1;
            return NULL;
        }
        size_t room = 2 * buffer->room + size + 256;
        uint8_t *moved = realloc(buffer->bytes, room);
        if (!moved) {
            buffer->is_short = 1;
            return NULL;
        }
        buffer->bytes = moved;
        buffer->room = room;
    }
    return buffer->bytes + buffer->size;
}

static inline void put(Buffer *buffer, const void *bytes, size_t size)
{
    uint8_t *to = room_in(buffer, size);
    if (!to || !size)
        return;
    memcpy(to, bytes, size);
    buffer->size += size;
}

static inline void put_text(Buffer *buffer, const char *text)
{
    put(buffer, text, strlen(text));
}

#endif
