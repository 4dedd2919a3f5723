/* `groups`: what is kept of a page, by tag. The twin of `dehusk.render.groups.groups_of`. */

#include "kernel.h"

#include <stdlib.h>

/* What a tag is, by its number: the bits of `groups.GROUP_KINDS`. The first four are what `held` says
   of a node that is or holds one. */
enum { IS_BLOCK = 1, IS_INLINE = 16, IS_ASKED = 32 };

#define HELD_KINDS 4

typedef struct {
    Bytes kinds;
    const int16_t *tag;
    const int32_t *ends;
    const uint8_t *kept;
    size_t count;
} Page;

static uint8_t kind_of(const Page *page, size_t node)
{
    return page->kept[node] ? kind_in(page->kinds, page->tag[node]) : 0;
}

/* Which kinds each node is or holds. From the last node on: `next` is where the next one of a kind
   stands behind it, or at it. */
static void find_held(const Page *page, uint8_t *held)
{
    size_t next[HELD_KINDS];
    for (size_t k = 0; k < HELD_KINDS; k++)
        next[k] = page->count;
    for (size_t i = page->count; i-- > 0;) {
        uint8_t kind = kind_of(page, i);
        held[i] = 0;
        for (size_t k = 0; k < HELD_KINDS; k++) {
            if (kind >> k & 1)
                next[k] = i;
            if (next[k] < (size_t)page->ends[i])
                held[i] |= (uint8_t)(1 << k);
        }
    }
}

/* The list of a tag, borrowed, a new one if there is none yet; NULL with an exception set. */
static PyObject *list_of(PyObject *by_tag, PyObject **lists, int16_t tag)
{
    if (lists[tag])
        return lists[tag];
    PyObject *list = PyList_New(0), *key = PyLong_FromLong(tag);
    if (list && key && PyDict_SetItem(by_tag, key, list) == 0)
        lists[tag] = list; /* The dictionary holds on to it. */
    Py_XDECREF(key);
    Py_XDECREF(list);
    return lists[tag];
}

static int fill(const Page *page, const uint8_t *held, PyObject **lists, PyObject *by_tag,
                PyObject *wrappers)
{
    for (size_t i = 0; i < page->count; i++) {
        uint8_t kind = kind_of(page, i);
        if (kind & IS_INLINE && held[i] & IS_BLOCK && !append_number(wrappers, i))
            return 0;
        if (!(kind & IS_ASKED))
            continue;
        PyObject *list = list_of(by_tag, lists, page->tag[i]);
        if (!list || !append_number(list, i))
            return 0;
    }
    return 1;
}

static PyObject *groups_of(const Page *page)
{
    PyObject *held = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)page->count);
    PyObject *by_tag = PyDict_New(), *wrappers = PyList_New(0), *found = NULL;
    PyObject **lists = calloc(page->kinds.size + 1, sizeof(PyObject *));
    if (!lists)
        PyErr_NoMemory();
    if (held && by_tag && wrappers && lists) {
        uint8_t *flags = (uint8_t *)PyByteArray_AsString(held);
        find_held(page, flags);
        if (fill(page, flags, lists, by_tag, wrappers))
            found = Py_BuildValue("(OOO)", by_tag, held, wrappers);
    }
    Py_XDECREF(held);
    Py_XDECREF(by_tag);
    Py_XDECREF(wrappers);
    free(lists);
    return found;
}

#define GIVEN 4

PyObject *kernel_groups(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    static const Py_ssize_t sizes[] = {2, 4, 1};
    View views[GIVEN];
    if (!open_all("groups", views, GIVEN, arguments, count))
        return NULL;
    PyObject *found = NULL;
    Py_ssize_t nodes = views[3].buffer.len;
    Page page = {bytes_of(&views[0]), views[1].buffer.buf, views[2].buffer.buf,
                 views[3].buffer.buf, (size_t)nodes};
    if (check_sizes("groups", views + 1, sizes, 3, nodes))
        found = groups_of(&page);
    close_views(views, GIVEN);
    return found;
}
