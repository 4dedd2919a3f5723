/* `one_line`: what some readers of lines take for the end of one, escaped as JSON does. */

#include "buffer.h"
#include "kernel.h"

/* The escape of U+0085, U+2028 or U+2029 if one stands there, whole; NULL for anything else. */
static const char *escape_at(const uint8_t *at, size_t left)
{
    if (left >= 2 && at[0] == 0xC2 && at[1] == 0x85)
        return "\\u0085";
    if (left >= 3 && at[0] == 0xE2 && at[1] == 0x80 && (at[2] == 0xA8 || at[2] == 0xA9))
        return at[2] == 0xA8 ? "\\u2028" : "\\u2029";
    return NULL;
}

/* Where the next of them stands that begins with this byte, or the end. */
static size_t next_end(Bytes json, uint8_t first, size_t at)
{
    while ((at = find_byte(json, first, at, json.size)) < json.size && !escape_at(json.bytes + at, json.size - at))
        at++;
    return at;
}

PyObject *kernel_one_line(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    char *bytes;
    Py_ssize_t size;
    if (!check_count("one_line", count, 1) || PyBytes_AsStringAndSize(arguments[0], &bytes, &size) < 0)
        return NULL;
    Bytes json = {(const uint8_t *)bytes, (size_t)size};
    Buffer line = {0};
    size_t at = 0, control = next_end(json, 0xC2, 0), separator = next_end(json, 0xE2, 0);
    while (at < json.size) {
        size_t end = control < separator ? control : separator;
        put(&line, json.bytes + at, end - at);
        at = end;
        if (end == json.size)
            break;
        put_text(&line, escape_at(json.bytes + end, json.size - end));
        at += json.bytes[end] == 0xC2 ? 2 : 3;
        if (end == control)
            control = next_end(json, 0xC2, at);
        else
            separator = next_end(json, 0xE2, at);
    }
    put(&line, "\n", 1);
    PyObject *found = line.is_short ? PyErr_NoMemory() : PyBytes_FromStringAndSize((char *)line.bytes, (Py_ssize_t)line.size);
    free(line.bytes);
    return found;
}
