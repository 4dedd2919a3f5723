/* Where the links of a page lead. */

#include "addresses.h"

#include <stdlib.h>

#include "escapes.h"

static Bytes inside(PyObject *bytes)
{
    return (Bytes){(const uint8_t *)PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes)};
}

int read_bases(PyObject *begins, Bases *bases)
{
    PyObject *origin, *folder, *here;
    if (!PyArg_ParseTuple(begins, "SSS", &origin, &folder, &here))
        return 0;
    bases->origin = inside(origin);
    bases->folder = inside(folder);
    bases->here = inside(here);
    return 1;
}

static int is_unsafe(uint8_t byte)
{
    return byte <= ' ' || byte == '"' || byte == '<' || byte == '>' || byte == '`' || byte == '[' ||
           byte == ']';
}

/* Are all bytes fit for an address as they are? */
static int is_plain(Bytes url)
{
    int unsafe = 0;
    for (size_t i = 0; i < url.size; i++)
        unsafe |= is_unsafe(url.bytes[i]); /* Without a way out, so that it is done by vectors. */
    return !unsafe;
}

/* Letters and digits of ASCII and a few signs, a bit for each byte. */
typedef struct {
    uint64_t bits[4];
} Plain;

#define DIGITS UINT64_C(0x03FF000000000000)
#define LETTERS UINT64_C(0x07FFFFFE07FFFFFE)
#define BIT(byte) (UINT64_C(1) << ((byte) & 63))

static const Plain IN_SCHEME = {{DIGITS | BIT('+') | BIT('.') | BIT('-'), LETTERS, 0, 0}};
static const Plain IN_HOST = {{DIGITS | BIT('.') | BIT(':') | BIT('-'), LETTERS, 0, 0}};
static const Plain FIRST_IN_PATH = {{DIGITS | BIT('%') | BIT('-'), LETTERS | BIT('_') | BIT('~'), 0, 0}};
static const Plain IN_PATH = {
    {DIGITS | BIT('%') | BIT('/') | BIT('.') | BIT('-'), LETTERS | BIT('_') | BIT('~'), 0, 0}};
static const Plain BEHIND_PATH = {
    {DIGITS | BIT('%') | BIT('/') | BIT('.') | BIT('!') | BIT('$') | BIT('&') | BIT('\'') | BIT('(') | BIT(')') |
         BIT('*') | BIT('+') | BIT(',') | BIT(':') | BIT(';') | BIT('=') | BIT('?') | BIT('-'),
     LETTERS | BIT('_') | BIT('~') | BIT('@'), 0, 0}};

static inline int is_in(const Plain *plain, uint8_t byte)
{
    return plain->bits[byte >> 6] >> (byte & 63) & 1;
}

static int has_pair(Bytes url, const char *pair)
{
    for (size_t i = 0; i + 1 < url.size; i++)
        if (url.bytes[i] == pair[0] && url.bytes[i + 1] == pair[1])
            return 1;
    return 0;
}

/* How many bytes from a place on are plain. */
static size_t plain_run(Bytes url, size_t at, const Plain *plain)
{
    size_t first = at;
    while (at < url.size && is_in(plain, url.bytes[at]))
        at++;
    return at - first;
}

/* A path below the folder of the page, perhaps a query, and perhaps a place in it: `urls._RELATIVE`. */
static int is_relative(Bytes url)
{
    size_t at, run;
    if (!url.size || !is_in(&FIRST_IN_PATH, url.bytes[0]))
        return 0;
    at = plain_run(url, 0, &IN_PATH);
    for (const char *mark = "?#"; *mark; mark++) {
        if (at == url.size || url.bytes[at] != (uint8_t)*mark)
            continue;
        run = plain_run(url, at + 1, &BEHIND_PATH);
        if (!run)
            return 0;
        at += 1 + run;
    }
    return at == url.size;
}

static int begins_with(Bytes url, const char *text)
{
    size_t size = strlen(text);
    return url.size >= size && memcmp(url.bytes, text, size) == 0;
}

/* The length of a scheme, the colon included; 0 for none: `urls._SCHEME`. */
static size_t scheme_of(Bytes url)
{
    uint8_t first = url.size ? lower(url.bytes[0]) : 0;
    size_t run = first >= 'a' && first <= 'z' ? plain_run(url, 0, &IN_SCHEME) : 0;
    return run && run < url.size && url.bytes[run] == ':' ? run + 1 : 0;
}

/* Does nobody follow addresses of this scheme? `urls._UNUSABLE` */
static int is_unusable(Bytes url, size_t scheme)
{
    static const char *const names[] = {"javascript:", "vbscript:", "data:", "about:", "blob:",
                                        "filesystem:", "view-source:", "jar:"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strlen(names[i]) == scheme && stands_at(url, 0, names[i]))
            return 1;
    return 0;
}

int leads_nowhere(Bytes url)
{
    size_t scheme = scheme_of(url);
    return scheme && is_unusable(url, scheme);
}

/* The folder that an address below it is relative to, and what of the address stands behind that: each
   `../` goes up one folder, and the host's has none above it. Nothing where it is not as simple. */
static Bytes folder_for(Bytes *url, const Bases *bases)
{
    Bytes folder = bases->folder;
    while (folder.size && begins_with(*url, "../")) {
        *url = (Bytes){url->bytes + 3, url->size - 3};
        if (folder.size <= bases->origin.size + 1)
            continue;
        for (folder.size--; folder.size && folder.bytes[folder.size - 1] != '/';)
            folder.size--;
    }
    int is_simple = is_relative(*url) && !has_pair(*url, "/.") && !has_pair(*url, "//");
    return is_simple ? folder : (Bytes){NULL, 0};
}

/* An address without its scheme of which nothing has to change: `urls._OTHER_HOST`. */
static int is_other_host(Bytes url)
{
    size_t at = 2, run = plain_run(url, at, &IN_HOST);
    if (!run)
        return 0;
    at += run;
    if (at < url.size && url.bytes[at] == '/')
        while (at < url.size && url.bytes[at] != '?' && url.bytes[at] != '#' && url.bytes[at] != ';')
            at++;
    if (at + 1 < url.size && url.bytes[at] == '?')
        for (at += url.bytes[at + 1] != '#'; at < url.size && url.bytes[at] != '#' && url.bytes[at] != ';';)
            at++;
    return at == url.size || (url.bytes[at] == '#' && at + 1 < url.size);
}

/* The scheme of the bases, with its colon; nothing without one. */
static Bytes scheme_in(const Bases *bases)
{
    return (Bytes){bases->origin.bytes, scheme_of(bases->origin)};
}

Lead find_lead(Bytes *url, const Bases *bases, Bytes *base)
{
    while (url->size && url->bytes[0] <= ' ')
        *url = (Bytes){url->bytes + 1, url->size - 1};
    while (url->size && url->bytes[url->size - 1] <= ' ')
        url->size--;
    if (!url->size || (url->size == 1 && url->bytes[0] == '#'))
        return NOWHERE;
    size_t scheme = scheme_of(*url);
    if (leads_nowhere(*url))
        return NOWHERE;
    if (!is_plain(*url))
        return NOT_SIMPLE;
    if (scheme)
        return AS_WRITTEN;
    if (begins_with(*url, "//"))
        *base = is_other_host(*url) ? scheme_in(bases) : *base;
    else if (url->bytes[0] == '/')
        *base = has_pair(*url, "/.") ? *base : bases->origin;
    else if (url->bytes[0] == '#')
        *base = bases->here;
    else
        *base = folder_for(url, bases);
    return base->size ? BEHIND_BASE : NOT_SIMPLE;
}

PyObject *ask_base(PyObject *absolute, Bytes url)
{
    PyObject *written = as_text(url.bytes, url.size), *found = NULL;
    PyObject *whole = written ? PyObject_CallFunctionObjArgs(absolute, written, NULL) : NULL;
    if (whole == Py_None)
        found = Py_NewRef(whole);
    else if (whole && PyUnicode_Check(whole))
        found = PyUnicode_AsEncodedString(whole, "utf-8", "surrogatepass");
    else if (whole)
        PyErr_SetString(PyExc_TypeError, "an address is neither a str nor None");
    Py_XDECREF(written);
    Py_XDECREF(whole);
    return found;
}
