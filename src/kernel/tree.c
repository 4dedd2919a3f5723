/* `scan`: canonical HTML in, the arrays of a tree out. */

#include "kernel.h"

#include <stdlib.h>

#include "scan.h"

#define MIN_NOSCRIPT_FACTOR 3
#define MIN_NOSCRIPT_LENGTH 200

/* Which flags keep a node from being shown: `<noscript>` too, unless nearly all text is in it.
   The numbers, and why, are in `dehusk.parse.nodes`. */
static uint8_t hiding_flags(const ScanResult *found)
{
    int64_t usual = 0, whole = 0;
    if (!found->has_noscript)
        return NODE_HIDDEN;
    for (size_t i = 0; i < found->count; i++) {
        const Node *node = &found->nodes[i];
        if (node->flags & NODE_HIDDEN)
            continue;
        whole += node->length;
        if (!(node->flags & NODE_IN_NOSCRIPT))
            usual += node->length;
    }
    int is_needed =
        whole >= MIN_NOSCRIPT_FACTOR * usual && whole >= usual + MIN_NOSCRIPT_LENGTH;
    return is_needed ? NODE_HIDDEN : NODE_HIDDEN | NODE_IN_NOSCRIPT;
}

/* The arrays one behind another, those of the largest items first. */
typedef struct {
    uint64_t *own, *path;
    int32_t *parent, *end, *depth, *start, *stop, *close, *text_length, *link_length;
    int16_t *tag;
    uint8_t *shown, *raw;
} Columns;

#define BYTES_PER_NODE (2 * 8 + 8 * 4 + 2 + 2)

static Columns columns_in(char *memory, size_t count)
{
    Columns to;
    to.own = (uint64_t *)memory;
    to.path = to.own + count;
    to.parent = (int32_t *)(to.path + count);
    to.end = to.parent + count;
    to.depth = to.end + count;
    to.start = to.depth + count;
    to.stop = to.start + count;
    to.close = to.stop + count;
    to.text_length = to.close + count;
    to.link_length = to.text_length + count;
    to.tag = (int16_t *)(to.link_length + count);
    to.shown = (uint8_t *)(to.tag + count);
    to.raw = to.shown + count;
    return to;
}

/* Lengths: the sums over all below a node are differences of running sums. From the end on, so
   that the sums of what is below a node still stand there. */
static void sum_lengths(Columns to, size_t count)
{
    uint32_t text = 0, linked = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t own = (uint32_t)to.text_length[i], own_linked = (uint32_t)to.link_length[i];
        to.text_length[i] = (int32_t)text;
        to.link_length[i] = (int32_t)linked;
        text += own;
        linked += own_linked;
    }
    for (size_t i = 0; i < count; i++) {
        size_t end = (size_t)to.end[i];
        uint32_t behind = end < count ? (uint32_t)to.text_length[end] : text;
        uint32_t linked_behind = end < count ? (uint32_t)to.link_length[end] : linked;
        to.text_length[i] = (int32_t)(behind - (uint32_t)to.text_length[i]);
        to.link_length[i] = (int32_t)(linked_behind - (uint32_t)to.link_length[i]);
    }
}

static void fill_columns(Columns to, const ScanResult *found)
{
    uint8_t hiding = hiding_flags(found);
    for (size_t i = 0; i < found->count; i++) {
        const Node *node = &found->nodes[i];
        int is_shown = !(node->flags & hiding);
        to.own[i] = node->own;
        to.path[i] = node->path;
        to.parent[i] = node->parent;
        to.end[i] = node->end;
        to.depth[i] = node->depth;
        to.start[i] = node->start;
        to.stop[i] = node->stop;
        to.close[i] = node->close;
        to.text_length[i] = is_shown ? node->length : 0;
        to.link_length[i] = is_shown && (node->flags & NODE_IN_LINK) ? node->length : 0;
        to.tag[i] = node->tag;
        to.shown[i] = (uint8_t)is_shown;
        to.raw[i] = (node->flags & NODE_RAW) != 0;
    }
    sum_lengths(to, found->count);
}

static PyObject *as_arrays(const ScanResult *found)
{
    Py_ssize_t size = (Py_ssize_t)(found->count * BYTES_PER_NODE);
    PyObject *memory = PyByteArray_FromStringAndSize(NULL, size);
    if (memory)
        fill_columns(columns_in(PyByteArray_AsString(memory), found->count), found);
    return memory;
}

/* The tables as they were handed in; 0 with an exception set where they do not fit together. */
static int tables_of(const View *views, TagTables *tags)
{
    tags->numbers = views[0].buffer.buf;
    tags->hashes = views[1].buffer.buf;
    tags->kinds = views[2].buffer.buf;
    tags->count = (size_t)views[2].buffer.len;
    if (views[0].buffer.len != 65536 * 2 || views[1].buffer.len != views[2].buffer.len * 8) {
        PyErr_SetString(PyExc_ValueError, "scan: the tables of tags do not fit together");
        return 0;
    }
    return 1;
}

static PyObject *scan_views(const View *views, size_t count, int max_depth)
{
    TagTables tags;
    Foreign foreign = {0};
    ScanResult found;
    ScanEnd end;
    Bytes source = bytes_of(&views[0]);
    if (!tables_of(views + 1, &tags))
        return NULL;
    if (source.size > INT32_MAX || max_depth < 1 || max_depth > MAX_SCAN_DEPTH) {
        PyErr_SetString(PyExc_ValueError, "scan: the page is too large, or the depth");
        return NULL;
    }
    if (count > 4)
        foreign = (Foreign){1, bytes_of(&views[4]), bytes_of(&views[5]), bytes_of(&views[6]),
                            views[7].buffer.buf, (size_t)views[7].buffer.len / 8};
    Py_BEGIN_ALLOW_THREADS
    end = scan(source, &tags, &foreign, max_depth, &found);
    Py_END_ALLOW_THREADS
    if (end == SCAN_ASKS)
        Py_RETURN_NONE;
    if (end == SCAN_NO_MEMORY)
        return PyErr_NoMemory();
    PyObject *arrays = as_arrays(&found);
    free(found.nodes);
    return arrays;
}

PyObject *kernel_scan(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    if (count != 5 && count != 9) {
        PyErr_SetString(PyExc_TypeError, "scan takes 5 or 9 arguments");
        return NULL;
    }
    long max_depth = PyLong_AsLong(arguments[0]);
    if (max_depth == -1 && PyErr_Occurred())
        return NULL;
    View views[8];
    size_t given = (size_t)count - 1;
    if (!open_views(views, arguments + 1, given, 0))
        return NULL;
    int depth = max_depth < 0 || max_depth > INT32_MAX ? 0 : (int)max_depth;
    PyObject *result = scan_views(views, given, depth);
    close_views(views, given);
    return result;
}
