/* `one_line`: JSON as it is written on a line, with nothing in it that some readers take for the end of one,
   and no control character that a terminal takes for an order. */

#include <stdio.h>

#include "buffer.h"
#include "kernel.h"

/* The control character U+0080 … U+009F, U+2028 or U+2029 if one stands there, whole; 0 for anything else. */
static unsigned escaped_at(const uint8_t *at, size_t left)
{
    if (left >= 2 && at[0] == 0xC2 && at[1] < 0xA0)
        return at[1];
    if (left >= 3 && at[0] == 0xE2 && at[1] == 0x80 && (at[2] == 0xA8 || at[2] == 0xA9))
        return 0x2000 + at[2] - 0x80;
    return 0;
}

/* Where the next of them stands that begins with this byte, or the end. */
static size_t next_end(Bytes json, uint8_t first, size_t at)
{
    while ((at = find_byte(json, first, at, json.size)) < json.size && !escaped_at(json.bytes + at, json.size - at))
        at++;
    return at;
}

/* JSON without white space outside of its strings, and where the next ends of lines stand in it. */
typedef struct {
    Bytes json;
    size_t control, separator;
    Buffer line;
} Writing;

/* Where a string ends that goes on at `at`, the quote included: at the first quote with no escape before it. */
static size_t behind_string(Bytes json, size_t at)
{
    while ((at = find_byte(json, '"', at, json.size)) < json.size) {
        size_t slashes = 0;
        while (json.bytes[at - 1 - slashes] == '\\')
            slashes++;
        at++;
        if (slashes % 2 == 0)
            return at;
    }
    return json.size;
}

static void put_string(Writing *writing, size_t at, size_t stop)
{
    Bytes json = writing->json;
    for (;;) {
        int is_control = writing->control < writing->separator;
        size_t end = is_control ? writing->control : writing->separator;
        if (end >= stop)
            break;
        put(&writing->line, json.bytes + at, end - at);
        char escape[8];
        snprintf(escape, sizeof escape, "\\u%04x", escaped_at(json.bytes + end, json.size - end));
        put_text(&writing->line, escape);
        at = end + (is_control ? 2 : 3);
        if (is_control)
            writing->control = next_end(json, 0xC2, at);
        else
            writing->separator = next_end(json, 0xE2, at);
    }
    put(&writing->line, json.bytes + at, stop - at);
}

/* Write all of it, with a space behind what parts values, and a line feed at the end. */
static void put_json(Writing *writing)
{
    Bytes json = writing->json;
    for (size_t at = 0, stop; at < json.size; at = stop) {
        uint8_t byte = json.bytes[at];
        int is_string = byte == '"' || byte >= 0x80; /* Nothing beyond ASCII stands outside of strings. */
        stop = is_string ? behind_string(json, at + 1) : at + 1;
        if (is_string)
            put_string(writing, at, stop);
        else
            put(&writing->line, byte == ',' ? ", " : byte == ':' ? ": " : (const char *)&json.bytes[at],
                byte == ',' || byte == ':' ? 2 : 1);
    }
    put(&writing->line, "\n", 1);
}

PyObject *kernel_one_line(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    char *bytes;
    Py_ssize_t size;
    if (!check_count("one_line", count, 1) || PyBytes_AsStringAndSize(arguments[0], &bytes, &size) < 0)
        return NULL;
    Bytes json = {(const uint8_t *)bytes, (size_t)size};
    Writing writing = {json, next_end(json, 0xC2, 0), next_end(json, 0xE2, 0), {0}};
    room_in(&writing.line, json.size + json.size / 16); /* Most of what is written is in strings. */
    put_json(&writing);
    Buffer line = writing.line;
    PyObject *found =
        line.is_short ? PyErr_NoMemory() : PyBytes_FromStringAndSize((char *)line.bytes, (Py_ssize_t)line.size);
    free(line.bytes);
    return found;
}
