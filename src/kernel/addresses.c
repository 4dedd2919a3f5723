/* `addresses`: where given links of a page lead. The twin of `dehusk.render.addresses.addresses`. */

#include "addresses.h"

#include <stdlib.h>

#include "escapes.h"

int read_bases(PyObject *begins, Bases *bases)
{
    const char *bytes[3];
    Py_ssize_t sizes[3];
    if (!PyArg_ParseTuple(begins, "y#y#y#", &bytes[0], &sizes[0], &bytes[1], &sizes[1], &bytes[2], &sizes[2]))
        return 0;
    bases->origin = (Bytes){(const uint8_t *)bytes[0], (size_t)sizes[0]};
    bases->folder = (Bytes){(const uint8_t *)bytes[1], (size_t)sizes[1]};
    bases->here = (Bytes){(const uint8_t *)bytes[2], (size_t)sizes[2]};
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

static int is_plain_name(uint8_t byte, const char *more)
{
    uint8_t letter = lower(byte);
    return (letter >= 'a' && letter <= 'z') || (byte >= '0' && byte <= '9') ||
           (byte && strchr(more, byte));
}

static int has_pair(Bytes url, const char *pair)
{
    for (size_t i = 0; i + 1 < url.size; i++)
        if (url.bytes[i] == pair[0] && url.bytes[i + 1] == pair[1])
            return 1;
    return 0;
}

/* How many bytes from a place on are plain, of a path, or of what may stand behind one. */
static size_t plain_run(Bytes url, size_t at, const char *more)
{
    size_t first = at;
    while (at < url.size && is_plain_name(url.bytes[at], more))
        at++;
    return at - first;
}

/* A path below the folder of the page, perhaps a query, and perhaps a place in it: `urls._RELATIVE`. */
static int is_relative(Bytes url)
{
    static const char behind[] = "_~%/.!$&'()*+,:;=?@-";
    size_t at, run;
    if (!url.size || !is_plain_name(url.bytes[0], "_~%-"))
        return 0;
    at = plain_run(url, 0, "_~%/.-");
    for (const char *mark = "?#"; *mark; mark++) {
        if (at == url.size || url.bytes[at] != (uint8_t)*mark)
            continue;
        run = plain_run(url, at + 1, behind);
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
    size_t run = first >= 'a' && first <= 'z' ? plain_run(url, 0, "+.-") : 0;
    return run && run < url.size && url.bytes[run] == ':' ? run + 1 : 0;
}

/* Does nobody follow addresses of this scheme? `urls._UNUSABLE` */
static int is_unusable(Bytes url, size_t scheme)
{
    static const char *const names[] = {"javascript:", "vbscript:", "data:", "about:", "blob:"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strlen(names[i]) == scheme && stands_at(url, 0, names[i]))
            return 1;
    return 0;
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

Lead find_lead(Bytes *url, const Bases *bases, Bytes *base)
{
    size_t scheme;
    if (!url->size || (url->size == 1 && url->bytes[0] == '#'))
        return NOWHERE;
    if (!is_plain(*url))
        return NOT_SIMPLE;
    if ((scheme = scheme_of(*url)))
        return is_unusable(*url, scheme) ? NOWHERE : AS_WRITTEN;
    if (url->bytes[0] == '/')
        *base = begins_with(*url, "//") || has_pair(*url, "/.") ? *base : bases->origin;
    else if (url->bytes[0] == '#')
        *base = bases->here;
    else
        *base = folder_for(url, bases);
    return base->size ? BEHIND_BASE : NOT_SIMPLE;
}

/* Two pieces of text, one behind the other; NULL with an exception set. */
static PyObject *joined(Bytes before, Bytes behind)
{
    PyObject *first = as_text(before.bytes, before.size), *whole = NULL;
    PyObject *second = first ? as_text(behind.bytes, behind.size) : NULL;
    if (second)
        whole = PyUnicode_Concat(first, second);
    Py_XDECREF(first);
    Py_XDECREF(second);
    return whole;
}

PyObject *ask_twin(PyObject *absolute, PyObject *written)
{
    PyObject *whole = PyObject_CallFunctionObjArgs(absolute, written, NULL);
    if (whole && whole != Py_None && !PyUnicode_Check(whole)) {
        PyErr_SetString(PyExc_TypeError, "an address is neither a str nor None");
        Py_DECREF(whole);
        return NULL;
    }
    return whole;
}

PyObject *address_of(Bytes source, size_t start, size_t stop, const Bases *bases,
                     PyObject *absolute, uint8_t *room, int *is_changed)
{
    Attribute href;
    Bytes url = {room, 0}, base = {NULL, 0};
    if (find_attribute(source, start, stop, "href", &href))
        url.size = put_unescaped(source.bytes + href.value, href.value_stop - href.value, room);
    Bytes left = url;
    Lead lead = find_lead(&left, bases, &base);
    *is_changed = lead != AS_WRITTEN;
    if (lead == NOWHERE)
        Py_RETURN_NONE;
    if (lead == AS_WRITTEN)
        return as_text(url.bytes, url.size);
    if (lead == BEHIND_BASE)
        return joined(base, left);
    PyObject *written = as_text(url.bytes, url.size);
    PyObject *whole = written ? ask_twin(absolute, written) : NULL;
    *is_changed = whole && whole != Py_None && PyUnicode_Compare(whole, written) != 0;
    Py_XDECREF(written);
    return whole;
}

/* --- of given nodes --- */

typedef struct {
    Bytes source;
    const int32_t *start, *stop, *nodes;
    size_t count; /* Of the nodes asked for. */
} Asked;

/* Room for the longest start tag. */
static size_t room_for(const Asked *asked)
{
    size_t most = 0;
    for (size_t i = 0; i < asked->count; i++) {
        size_t size = (size_t)(asked->stop[asked->nodes[i]] - asked->start[asked->nodes[i]]);
        most = size > most ? size : most;
    }
    return most + 1;
}

/* Put the address of one link, None, or True for what is written there, into the list, and a link that
   leads somewhere and has a title into the other one. */
static int put_address(const Asked *asked, size_t place, const Bases *bases, PyObject *absolute,
                       uint8_t *room, PyObject *list, PyObject *titled)
{
    size_t start = (size_t)asked->start[asked->nodes[place]];
    size_t stop = (size_t)asked->stop[asked->nodes[place]];
    int is_changed;
    Attribute title;
    PyObject *found = address_of(asked->source, start, stop, bases, absolute, room, &is_changed);
    if (found && found != Py_None) {
        if (find_attribute(asked->source, start, stop, "title", &title) &&
            !append_number(titled, (size_t)asked->nodes[place]))
            Py_CLEAR(found);
        if (found && !is_changed) {
            Py_DECREF(found);
            found = Py_NewRef(Py_True);
        }
    }
    return found && PyList_SetItem(list, (Py_ssize_t)place, found) == 0;
}

static PyObject *addresses_of(const Asked *asked, const Bases *bases, PyObject *absolute)
{
    uint8_t *room = malloc(room_for(asked));
    PyObject *list = room ? PyList_New((Py_ssize_t)asked->count) : PyErr_NoMemory();
    PyObject *titled = list ? PyList_New(0) : NULL, *found = NULL;
    int is_done = titled != NULL;
    for (size_t i = 0; i < asked->count && is_done; i++)
        is_done = put_address(asked, i, bases, absolute, room, list, titled);
    if (is_done)
        found = Py_BuildValue("(OO)", list, titled);
    Py_XDECREF(list);
    Py_XDECREF(titled);
    free(room);
    return found;
}

static int fits(const Asked *asked, size_t nodes)
{
    if (!check_below("addresses", asked->nodes, asked->count, nodes))
        return 0;
    for (size_t i = 0; i < asked->count; i++) {
        int32_t start = asked->start[asked->nodes[i]], stop = asked->stop[asked->nodes[i]];
        if (start < 0 || stop < start || (size_t)stop > asked->source.size) {
            PyErr_SetString(PyExc_ValueError, "addresses: a node lies outside of the source");
            return 0;
        }
    }
    return 1;
}

#define GIVEN 7

PyObject *kernel_addresses(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    static const Py_ssize_t sizes[] = {4, 4};
    View views[GIVEN];
    if ((count < 1 && !check_count("addresses", count, 1)) ||
        !open_all("addresses", views, GIVEN, arguments + 1, count - 1))
        return NULL;
    PyObject *found = NULL;
    Py_ssize_t nodes = views[4].buffer.len / 4;
    Bases bases = {bytes_of(&views[0]), bytes_of(&views[1]), bytes_of(&views[2])};
    Asked asked = {bytes_of(&views[3]), views[4].buffer.buf, views[5].buffer.buf,
                   views[6].buffer.buf, (size_t)views[6].buffer.len / 4};
    if (check_sizes("addresses", views + 4, sizes, 2, nodes) && fits(&asked, (size_t)nodes))
        found = addresses_of(&asked, &bases, arguments[0]);
    close_views(views, GIVEN);
    return found;
}
