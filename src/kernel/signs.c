/* `signs`: what polishing Markdown would find in it, so that it need not look. See
   `dehusk.render.as_markdown`, where the bits are named. */

#include "kernel.h"

enum {
    HAS_NUMBERED = 1,   /* `&#`, a character by its number. */
    HAS_TAG = 2,        /* `<`, perhaps of HTML. */
    HAS_UNDERSCORE = 4, /* An escaped underscore. */
    HAS_POINT = 8,      /* An escaped point or bracket. */
    HAS_MARK = 16,      /* An escaped sign that would begin a list or a heading. */
    HAS_BLANKS = 32,    /* Two empty lines. */
    ALL_SIGNS = 63,
};

static int stands(const uint8_t *at, size_t left, const char *text, size_t size)
{
    return left >= size && memcmp(at, text, size) == 0;
}

static unsigned escaped(uint8_t sign)
{
    switch (sign) {
    case '_':
        return HAS_UNDERSCORE;
    case '.':
    case ')':
        return HAS_POINT;
    case '-':
    case '+':
    case '#':
        return HAS_MARK;
    }
    return 0;
}

/* What a sign at a place is, with what stands behind it. */
static unsigned sign_at(const uint8_t *at, size_t left)
{
    switch (*at) {
    case '&':
        return stands(at, left, "&#", 2) ? HAS_NUMBERED : 0;
    case '<':
        return HAS_TAG;
    case '\\':
        return left > 1 ? escaped(at[1]) : 0;
    }
    return stands(at, left, "\n\n\n", 3) ? HAS_BLANKS : 0;
}

static unsigned signs_in(const uint8_t *bytes, size_t size)
{
    static const uint8_t is_sign[256] = {['&'] = 1, ['<'] = 1, ['\\'] = 1, ['\n'] = 1};
    unsigned found = 0;
    for (size_t i = 0; i < size; i++)
        if (is_sign[bytes[i]])
            found |= sign_at(bytes + i, size - i);
    return found;
}

PyObject *kernel_signs(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    Py_ssize_t size;
    if (!check_count("signs", count, 1))
        return NULL;
    const char *bytes = PyUnicode_AsUTF8AndSize(arguments[0], &size);
    if (!bytes && PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) {
        PyErr_Clear(); /* Half a surrogate pair: whoever polishes has to look. */
        return PyLong_FromLong(ALL_SIGNS);
    }
    return bytes ? PyLong_FromLong((long)signs_in((const uint8_t *)bytes, (size_t)size)) : NULL;
}
