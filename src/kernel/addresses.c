/* `addresses`: where given links of a page lead. The twin of `dehusk.render.addresses.addresses`. */

#include "addresses.h"

#include <stdlib.h>

#include "escapes.h"

/* Are all bytes fit for an address as they are? */
static int is_plain(Bytes url)
{
    for (size_t i = 0; i < url.size; i++)
        if (url.bytes[i] <= ' ' || strchr("\"<>`[]", url.bytes[i]))
            return 0;
    return url.size > 0;
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

/* A path below a folder, and perhaps a place in it: `urls._RELATIVE`. */
static int is_relative(Bytes url)
{
    size_t at = 0;
    if (!url.size || !is_plain_name(url.bytes[0], "_~%-"))
        return 0;
    while (at < url.size && is_plain_name(url.bytes[at], "_~%/.-"))
        at++;
    Bytes path = {url.bytes, at};
    return (at == url.size || (url.bytes[at] == '#' && at + 1 < url.size)) && !has_pair(path, "/.") &&
           !has_pair(path, "//");
}

static int begins_with(Bytes url, const char *text)
{
    size_t size = strlen(text);
    return url.size > size && memcmp(url.bytes, text, size) == 0;
}

/* The folder so many levels above that of the page; that of the host has none above it. */
static Bytes folder_above(const Bases *bases, size_t levels)
{
    Bytes folder = bases->folder;
    for (; levels && folder.size > bases->origin.size + 1; levels--)
        for (folder.size--; folder.size && folder.bytes[folder.size - 1] != '/';)
            folder.size--;
    return folder;
}

/* What stands before a path that goes up some folders, or none, and the path below that is left of it;
   nothing if it is not as simple. */
static Bytes folder_of(Bytes *url, const Bases *bases)
{
    size_t levels = 0;
    while (begins_with(*url, "../")) {
        url->bytes += 3;
        url->size -= 3;
        levels++;
    }
    return is_relative(*url) ? folder_above(bases, levels) : (Bytes){NULL, 0};
}

int find_base(Bytes *url, const Bases *bases, Bytes *base)
{
    Bytes below = *url;
    *base = (Bytes){NULL, 0};
    if (!is_plain(below))
        return 0;
    if (begins_with(below, "http://") || begins_with(below, "https://"))
        return 1;
    if (below.bytes[0] == '/')
        *base = (below.size > 1 && below.bytes[1] == '/') || has_pair(below, "/.") ? *base : bases->origin;
    else if (below.bytes[0] == '#')
        *base = below.size > 1 ? bases->here : *base;
    else if (bases->folder.size)
        *base = folder_of(&below, bases);
    if (base->size)
        *url = below;
    return base->size > 0;
}

PyObject *address_of(Bytes source, size_t start, size_t stop, const Bases *bases,
                     PyObject *absolute, uint8_t *room, int *is_changed)
{
    Attribute href;
    Bytes url = {room, 0}, base;
    if (find_attribute(source, start, stop, "href", &href))
        url.size = put_unescaped(source.bytes + href.value, href.value_stop - href.value, room);
    int is_simple = find_base(&url, bases, &base); /* The address is what is left of it, then. */
    PyObject *written = as_text(url.bytes, url.size);
    *is_changed = !is_simple || base.size;
    if (!written || !*is_changed)
        return written;
    PyObject *whole = NULL;
    if (is_simple) {
        PyObject *before = as_text(base.bytes, base.size);
        whole = before ? PyUnicode_Concat(before, written) : NULL;
        Py_XDECREF(before);
    } else {
        whole = PyObject_CallFunctionObjArgs(absolute, written, NULL);
        *is_changed = whole && whole != Py_None && PyUnicode_Compare(whole, written) != 0;
    }
    Py_DECREF(written);
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
