/* `build` and `scan`: a page or canonical HTML in, a tree out. */

#include "canonical.h"
#include "tree.h"

#include <stdlib.h>

#include "scan.h"

#define MIN_NOSCRIPT_FACTOR 3
#define MIN_NOSCRIPT_LENGTH 200

/* Which flags keep a node from being shown.

   Inline styles, unless they hide half of the text or more: scripts reveal such a page.

   `<noscript>` too, unless nearly all text is in it: the text grows to so many times by it, and it is so long.
   Notices ('please enable JavaScript') do not reach the length; forums that build their pages in the browser
   put the whole thread there, and exceed both by far. */
static uint8_t hiding_flags(const ScanResult *found)
{
    enum { STYLES = NODE_STYLED_AWAY | NODE_UNSEEN };
    int64_t lengths[2][2] = {0}; /* By styles, by `<noscript>`. */
    if (!(found->flags & (STYLES | NODE_IN_NOSCRIPT)))
        return NODE_HIDDEN;
    for (size_t i = 0; i < found->count; i++) {
        uint8_t flags = found->nodes[i].flags;
        if (!(flags & NODE_HIDDEN))
            lengths[(flags & STYLES) != 0][(flags & NODE_IN_NOSCRIPT) != 0] += found->nodes[i].length;
    }
    uint8_t hiding = NODE_HIDDEN;
    int64_t usual = lengths[0][0], more = lengths[0][1];
    if (lengths[1][0] < usual || !lengths[1][0]) {
        hiding |= STYLES;
    } else {
        usual += lengths[1][0];
        more += lengths[1][1];
    }
    int is_needed = usual + more >= MIN_NOSCRIPT_FACTOR * usual && more >= MIN_NOSCRIPT_LENGTH;
    return is_needed ? hiding : hiding | NODE_IN_NOSCRIPT;
}

/* Lengths: the sums over all below a node are differences of running sums. From the end on, so
   that the sums of what is below a node still stand there. */
static void sum_lengths(Tree *to)
{
    uint32_t text = 0, linked = 0;
    size_t count = to->count;
    for (size_t i = 0; i < count; i++) {
        uint32_t own = (uint32_t)to->text_length[i], own_linked = (uint32_t)to->link_length[i];
        to->text_length[i] = (int32_t)text;
        to->link_length[i] = (int32_t)linked;
        text += own;
        linked += own_linked;
    }
    for (size_t i = 0; i < count; i++) {
        size_t end = (size_t)to->end[i];
        uint32_t behind = end < count ? (uint32_t)to->text_length[end] : text;
        uint32_t linked_behind = end < count ? (uint32_t)to->link_length[end] : linked;
        to->text_length[i] = (int32_t)(behind - (uint32_t)to->text_length[i]);
        to->link_length[i] = (int32_t)(linked_behind - (uint32_t)to->link_length[i]);
    }
}

static void fill_columns(Tree *to, const ScanResult *found)
{
    uint8_t hiding = hiding_flags(found);
    for (size_t i = 0; i < found->count; i++) {
        const Node *node = &found->nodes[i];
        int is_shown = !(node->flags & hiding);
        to->own_hash[i] = node->own;
        to->path_hash[i] = node->path;
        to->parent[i] = node->parent;
        to->end[i] = node->end;
        to->depth[i] = node->depth;
        to->start[i] = node->start;
        to->stop[i] = node->stop;
        to->close[i] = node->close;
        to->text_length[i] = is_shown ? node->length : 0;
        to->link_length[i] = is_shown && (node->flags & NODE_IN_LINK) ? node->length : 0;
        to->tag[i] = node->tag;
        to->shown[i] = (uint8_t)is_shown;
        to->raw[i] = (node->flags & NODE_RAW) != 0;
    }
    sum_lengths(to);
}

#define OWNER Tree

static const Column columns[] = {TREE_COLUMNS(COLUMN_ENTRY) NO_COLUMN};

static PyObject *make_tree(PyObject *module, PyObject *source, const ScanResult *found)
{
    Tree *tree = make_owner(types_of(module)->tree, columns, &found->count, source);
    if (tree) {
        tree->source = (Bytes){(const uint8_t *)PyBytes_AsString(source), (size_t)PyBytes_Size(source)};
        tree->count = found->count;
        fill_columns(tree, found);
    }
    return (PyObject *)tree;
}

const Tree *given_tree(PyObject *module, PyObject *object)
{
    return given_owner(object, types_of(module)->tree);
}

int open_of_nodes(View *view, PyObject *array, const Tree *tree, char type)
{
    if (!open_array(view, array, type))
        return 0;
    if ((size_t)view->buffer.len == tree->count * (type == 'd' ? sizeof(double) : 1))
        return 1;
    PyBuffer_Release(&view->buffer);
    PyErr_SetString(PyExc_ValueError, "an array that is not one of the tree's nodes");
    return 0;
}

static PyObject *source_of(PyObject *self, void *nothing)
{
    (void)nothing;
    return Py_NewRef(((Owner *)self)->held);
}

static Py_ssize_t count_nodes(PyObject *self)
{
    return (Py_ssize_t)((Tree *)self)->count;
}

static PyGetSetDef attributes[] = {
    TREE_COLUMNS(COLUMN_ATTRIBUTE)
    {"source", source_of, NULL, "The page as canonical HTML.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    OWNER_SLOTS,
    {Py_tp_doc, "The nodes of a page in arrays."},
    {Py_tp_getset, attributes},
    {Py_sq_length, (void *)count_nodes},
    {0, NULL},
};

PyType_Spec tree_spec = {"dehusk._kernel.Tree", sizeof(Tree), 0, OWNER_FLAGS, slots};

/* What the parser says of a page, as Python hands it over in a tuple of four; 0 with an exception set. */
static int open_foreign(PyObject *said, View *views, Foreign *foreign)
{
    PyObject *objects[4];
    if (!PyArg_ParseTuple(said, "OOOO", &objects[0], &objects[1], &objects[2], &objects[3]) ||
        !open_views(views, objects, "BBBQ"))
        return 0;
    *foreign = (Foreign){1, bytes_of(&views[0]), bytes_of(&views[1]), bytes_of(&views[2]),
                         views[3].buffer.buf, (size_t)views[3].buffer.len / 8};
    return 1;
}

/* The nodes of the source, with what the parser says if that is needed; 0 with an exception set. */
static int scan_asking(Bytes source, const TagNames *names, int max_depth, PyObject *ask, ScanResult *found)
{
    Foreign foreign = {0};
    ScanEnd end;
    Py_BEGIN_ALLOW_THREADS
    end = scan(source, names, &foreign, max_depth, found);
    Py_END_ALLOW_THREADS
    if (end == SCAN_ASKS) {
        View views[4];
        PyObject *said = PyObject_CallNoArgs(ask);
        if (!said || !open_foreign(said, views, &foreign)) {
            Py_XDECREF(said);
            return 0;
        }
        Py_BEGIN_ALLOW_THREADS
        end = scan(source, names, &foreign, max_depth, found);
        Py_END_ALLOW_THREADS
        close_views(views, 4);
        Py_DECREF(said);
    }
    if (end != SCAN_DONE)
        PyErr_NoMemory();
    return end == SCAN_DONE;
}

PyObject *kernel_scan(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    char *bytes;
    Py_ssize_t size;
    ScanResult found;
    if (!check_count("scan", count, 3) || PyBytes_AsStringAndSize(arguments[0], &bytes, &size) < 0)
        return NULL;
    long max_depth = PyLong_AsLong(arguments[1]);
    if (PyErr_Occurred())
        return NULL;
    if (size > INT32_MAX || max_depth < 1 || max_depth > MAX_SCAN_DEPTH) {
        PyErr_SetString(PyExc_ValueError, "scan: the page is too large, or the depth");
        return NULL;
    }
    Bytes source = {(const uint8_t *)bytes, (size_t)size};
    if (!scan_asking(source, types_of(module)->tag_names, (int)max_depth, arguments[2], &found))
        return NULL;
    PyObject *tree = make_tree(module, arguments[0], &found);
    free(found.nodes);
    return tree;
}

/* The nodes of a page, and its canonical HTML; SCAN_ASKS if it is one for the parser. */
static ScanEnd build_and_scan(Bytes page, const TagNames *names, int is_decoded, size_t max_elements,
                              int max_depth, Canonical *made, ScanResult *found)
{
    if (!make_canonical(page, names, is_decoded, max_elements, made) || made->source.size > INT32_MAX)
        return made->source.is_short ? SCAN_NO_MEMORY : SCAN_ASKS;
    Bytes source = {made->source.bytes, made->source.size};
    Foreign foreign = {1, {made->raws.bytes, made->raws.size}, {made->voids.bytes, made->voids.size},
                       {made->eaters.bytes, made->eaters.size}, (const int64_t *)(void *)made->lengths.bytes,
                       made->lengths.size / sizeof(int64_t)};
    return scan(source, names, &foreign, max_depth, found);
}

static PyObject *build_tree(PyObject *module, PyObject *bytes, int is_decoded, size_t max_elements,
                            long max_depth)
{
    const TagNames *names = types_of(module)->tag_names;
    Bytes page = {(const uint8_t *)PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes)};
    Canonical made;
    ScanResult found = {0};
    ScanEnd end;
    Py_BEGIN_ALLOW_THREADS
    end = build_and_scan(page, names, is_decoded, max_elements, (int)max_depth, &made, &found);
    Py_END_ALLOW_THREADS
    PyObject *source = NULL, *tree = NULL;
    if (end == SCAN_DONE)
        source = PyBytes_FromStringAndSize((const char *)made.source.bytes, (Py_ssize_t)made.source.size);
    free_canonical(&made);
    if (source)
        tree = make_tree(module, source, &found);
    else if (end == SCAN_ASKS)
        tree = Py_NewRef(Py_None);
    else if (end == SCAN_NO_MEMORY)
        PyErr_NoMemory();
    Py_XDECREF(source);
    free(found.nodes);
    return tree;
}

PyObject *kernel_build(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    if (!check_count("build", count, 4))
        return NULL;
    long max_depth = PyLong_AsLong(arguments[1]);
    size_t max_elements = PyErr_Occurred() ? 0 : PyLong_AsSize_t(arguments[2]);
    int is_decoded = PyErr_Occurred() ? -1 : PyObject_IsTrue(arguments[3]);
    if (is_decoded < 0)
        return NULL;
    if (!PyBytes_Check(arguments[0]) || max_depth < 1 || max_depth > MAX_SCAN_DEPTH) {
        PyErr_SetString(PyExc_ValueError, "build: a page is bytes, and its depth has a limit");
        return NULL;
    }
    return build_tree(module, arguments[0], is_decoded, max_elements, max_depth);
}
