/* `json_line`: a page's answer as a line of JSON. The twin of `_json_line` of `dehusk.output.formats`. */

#include "kernel.h"

#include <math.h>

#include "buffer.h"

enum {
    MAX_DEPTH = 8, /* Of lists and dicts in each other; its twin writes what nests deeper. */
    CHUNK = 32,    /* Bytes that are looked at at once. */
    LONGEST = 6,   /* Bytes that one byte may become: a `\u` and four digits. */
};

/* A list, tuple or dict that is being written, and where in it. */
typedef struct {
    PyObject *holder;
    Py_ssize_t place, count;
} Level;

/* What became of a value. */
typedef enum { WRITTEN, OPENED, NOT_KNOWN } Outcome;

/* --- strings --- */

/* Is it a byte that is escaped, or begins a character that may be? In bytes, without a way out, so that
   many are looked at by vectors. */
static inline uint8_t is_special(uint8_t byte)
{
    return (uint8_t)((byte < ' ') | (byte == '"') | (byte == '\\') | ((byte & 0xDF) == 0xC2));
}

/* How many bytes at a place are a character that some take for the end of a line, and its number:
   U+0085, U+2028 or U+2029, which JSON need not escape. */
static size_t line_end_at(Bytes text, size_t at, uint32_t *code)
{
    const uint8_t *bytes = text.bytes + at;
    size_t left = text.size - at;
    *code = 0x85;
    if (left >= 2 && bytes[0] == 0xC2 && bytes[1] == 0x85)
        return 2;
    *code = left >= 3 ? 0x2000u + (bytes[2] & 0x3F) : 0;
    return left >= 3 && bytes[0] == 0xE2 && bytes[1] == 0x80 && (bytes[2] == 0xA8 || bytes[2] == 0xA9)
               ? 3
               : 0;
}

/* Write one character, or one byte of one, there being room; how many bytes of text it was. */
static size_t put_character(Buffer *line, Bytes text, size_t at)
{
    static const char digits[] = "0123456789abcdef", named[] = "\"\"\\\\\nn\rr\tt\ff\bb";
    uint8_t byte = text.bytes[at], *to = line->bytes + line->size;
    uint32_t code = byte;
    size_t length = is_special(byte) && byte >= 0x80 ? line_end_at(text, at, &code) : 1;
    if (!length || !is_special(byte)) {
        *to = byte;
        line->size++;
        return 1;
    }
    *to++ = '\\';
    for (size_t i = 0; i + 1 < sizeof(named) && byte < 0x80; i += 2)
        if ((uint8_t)named[i] == byte) {
            *to = (uint8_t)named[i + 1];
            line->size += 2;
            return 1;
        }
    *to++ = 'u';
    for (int shift = 12; shift >= 0; shift -= 4)
        *to++ = (uint8_t)digits[code >> shift & 0xF];
    line->size += LONGEST;
    return length;
}

/* Are the next CHUNK bytes written as they are? */
static int is_plain_chunk(const uint8_t *at)
{
    uint8_t special = 0;
    for (size_t i = 0; i < CHUNK; i++)
        special |= is_special(at[i]);
    return !special;
}

/* Are the next eight? */
static int is_plain_word(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, WORD);
    uint64_t control = (word - ONES * ' ') & ~word & TOP_BITS;
    return !(control | marks_of(word, '"') | marks_of(word, '\\') |
             marks_of(word & ~(ONES * 0x20), 0xC2));
}

static void put_quoted(Buffer *line, Bytes text)
{
    put(line, "\"", 1);
    for (size_t at = 0, left; at < text.size;) {
        const uint8_t *from = text.bytes + at;
        left = text.size - at;
        if (!room_in(line, LONGEST * (CHUNK + 1)))
            return;
        size_t plain = left >= CHUNK && is_plain_chunk(from) ? CHUNK
                       : left >= WORD && is_plain_word(from) ? WORD
                                                             : 0;
        memcpy(line->bytes + line->size, from, plain);
        line->size += plain;
        at += plain;
        for (size_t stop = plain ? at : at + (left < WORD ? left : WORD); at < stop;)
            at += put_character(line, text, at);
    }
    put(line, "\"", 1);
}

/* --- values --- */

static Outcome put_string(Buffer *line, PyObject *string)
{
    Py_ssize_t size;
    const char *bytes = PyUnicode_AsUTF8AndSize(string, &size);
    if (!bytes)
        return NOT_KNOWN;
    put_quoted(line, (Bytes){(const uint8_t *)bytes, (size_t)size});
    return WRITTEN;
}

/* A number as Python writes it; JSON has none that is not finite. */
static Outcome put_number(Buffer *line, PyObject *number)
{
    if (PyFloat_CheckExact(number) && !isfinite(PyFloat_AsDouble(number)))
        return NOT_KNOWN;
    PyObject *text = PyObject_Repr(number);
    Py_ssize_t size;
    const char *bytes = text ? PyUnicode_AsUTF8AndSize(text, &size) : NULL;
    if (bytes)
        put(line, bytes, (size_t)size);
    Py_XDECREF(text);
    return bytes ? WRITTEN : NOT_KNOWN;
}

/* Write a value, or of a list, tuple or dict the first bracket. */
static Outcome put_value(Buffer *line, PyObject *value)
{
    if (PyUnicode_CheckExact(value))
        return put_string(line, value);
    if (PyFloat_CheckExact(value) || PyLong_CheckExact(value))
        return put_number(line, value);
    if (value == Py_None || value == Py_True || value == Py_False) {
        const char *name = value == Py_None ? "null" : value == Py_True ? "true" : "false";
        put(line, name, strlen(name));
        return WRITTEN;
    }
    if (!PyDict_CheckExact(value) && !PyList_CheckExact(value) && !PyTuple_CheckExact(value))
        return NOT_KNOWN;
    put(line, PyDict_CheckExact(value) ? "{" : "[", 1);
    return OPENED;
}

/* The next value of a level, its name before it already written; NULL where there is none, or where
   `outcome` says that it is not known. */
static PyObject *next_value(Buffer *line, Level *level, Outcome *outcome)
{
    PyObject *holder = level->holder, *name = NULL, *value = NULL;
    *outcome = WRITTEN;
    if (PyDict_CheckExact(holder))
        PyDict_Next(holder, &level->place, &name, &value);
    else if (PyList_CheckExact(holder) && level->place < PyList_Size(holder))
        value = PyList_GetItem(holder, level->place++);
    else if (PyTuple_CheckExact(holder) && level->place < PyTuple_Size(holder))
        value = PyTuple_GetItem(holder, level->place++);
    if (value && level->count++)
        put(line, ", ", 2);
    if (!name)
        return value;
    *outcome = PyUnicode_CheckExact(name) ? put_string(line, name) : NOT_KNOWN;
    put(line, ": ", 2);
    return *outcome == WRITTEN ? value : NULL;
}

/* Write all of it; 0 for what only its twin can write, or refuses as it should be refused. Nothing here
   runs code of a caller's, so nothing changes meanwhile. */
static int put_all(Buffer *line, PyObject *whole)
{
    Level levels[MAX_DEPTH];
    size_t depth = 0;
    Outcome outcome = put_value(line, whole);
    PyObject *value = whole;
    while (outcome != NOT_KNOWN && !line->is_short) {
        if (outcome == OPENED) {
            if (depth == MAX_DEPTH)
                return 0;
            levels[depth++] = (Level){value, 0, 0};
        }
        if (!depth)
            return 1;
        value = next_value(line, &levels[depth - 1], &outcome);
        if (value)
            outcome = put_value(line, value);
        else if (outcome == WRITTEN)
            put(line, PyDict_CheckExact(levels[--depth].holder) ? "}" : "]", 1);
    }
    return 0;
}

#define FIRST_ROOM 65536

PyObject *kernel_json_line(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    if (!check_count("json_line", count, 1))
        return NULL;
    Buffer line = {0};
    room_in(&line, FIRST_ROOM);
    PyObject *found = NULL;
    int is_done = put_all(&line, arguments[0]);
    put(&line, "\n", 1);
    if (line.is_short)
        found = PyErr_NoMemory();
    else if (is_done)
        found = PyUnicode_DecodeUTF8((const char *)line.bytes, (Py_ssize_t)line.size, NULL);
    free(line.bytes);
    if (found || (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_MemoryError)))
        return found;
    PyErr_Clear();
    Py_RETURN_NONE;
}
