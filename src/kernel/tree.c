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

/* Fill a new tree, and free what was found; 0 without memory. */
static int fill_tree(Tree *tree, Bytes source, ScanResult *found)
{
    int is_done = lay_out(tree, &found->count);
    if (is_done) {
        tree->source = source;
        tree->count = found->count;
        fill_columns(tree, found);
    }
    free(found->nodes);
    return is_done;
}

static void free_tree(PyObject *self)
{
    free(((Tree *)self)->written);
    free_owner(self);
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
    close_views(view, 1);
    PyErr_SetString(PyExc_ValueError, "an array that is not one of the tree's nodes");
    return 0;
}

static PyObject *source_of(PyObject *self, void *nothing)
{
    (void)nothing;
    Tree *tree = (Tree *)self;
    PyObject *source;
    BEGIN_ALONE(self)
    if (!tree->owner.held) /* What only the kernel reads is not copied. */
        tree->owner.held = PyBytes_FromStringAndSize((const char *)tree->source.bytes, (Py_ssize_t)tree->source.size);
    source = Py_XNewRef(tree->owner.held);
    END_ALONE
    return source;
}

static PyObject *source_size_of(PyObject *self, void *nothing)
{
    (void)nothing;
    return PyLong_FromSize_t(((Tree *)self)->source.size);
}

static Py_ssize_t count_nodes(PyObject *self)
{
    return (Py_ssize_t)((Tree *)self)->count;
}

static PyGetSetDef attributes[] = {
    TREE_COLUMNS(COLUMN_ATTRIBUTE)
    {"source", source_of, NULL, "The page as canonical HTML.", NULL},
    {"source_size", source_size_of, NULL, "How many bytes that has.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, (void *)free_tree},
    {Py_bf_getbuffer, (void *)view_owner},
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

/* Fill the tree with the nodes of the source, with what the parser says if that is needed; 0 with an exception set. */
static int scan_asking(Tree *tree, Bytes source, const TagNames *names, int max_depth, PyObject *ask)
{
    PyObject *said = NULL;
    View views[4];
    Foreign foreign = {0};
    ScanResult found;
    ScanEnd end;
    int is_told;
    do {
        is_told = said != NULL;
        Py_BEGIN_ALLOW_THREADS
        end = scan(source, names, &foreign, max_depth, &found);
        if (end == SCAN_DONE && !fill_tree(tree, source, &found))
            end = SCAN_NO_MEMORY;
        Py_END_ALLOW_THREADS
        if (is_told) {
            close_views(views, 4);
            Py_DECREF(said);
        } else if (end == SCAN_ASKS) {
            said = PyObject_CallNoArgs(ask);
            if (!said || !open_foreign(said, views, &foreign)) {
                Py_XDECREF(said);
                return 0;
            }
        }
    } while (end == SCAN_ASKS && !is_told);
    if (end != SCAN_DONE)
        PyErr_NoMemory();
    return end == SCAN_DONE;
}

PyObject *kernel_scan(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    char *bytes;
    Py_ssize_t size;
    if (!check_count("scan", count, 3) || PyBytes_AsStringAndSize(arguments[0], &bytes, &size) < 0)
        return NULL;
    long max_depth = PyLong_AsLong(arguments[1]);
    if (PyErr_Occurred())
        return NULL;
    if (size > INT32_MAX || max_depth < 1 || max_depth > MAX_SCAN_DEPTH) {
        PyErr_SetString(PyExc_ValueError, "scan: the page is too large, or the depth");
        return NULL;
    }
    Tree *tree = new_owner(types_of(module)->tree, columns, arguments[0]);
    Bytes source = {(const uint8_t *)bytes, (size_t)size};
    if (tree && !scan_asking(tree, source, types_of(module)->tag_names, (int)max_depth, arguments[2]))
        Py_CLEAR(tree);
    return (PyObject *)tree;
}

/* --- built --- */

typedef struct {
    Bytes page;
    const TagNames *names;
    size_t max_elements;
    int max_depth;
    int is_decoded; /* A charset that the page names is of no interest. */
    int is_text;    /* It is UTF-8 for certain. */
} Build;

/* The page without the mark that it may begin with. */
static Bytes without_mark(Bytes page)
{
    static const uint8_t mark[] = {0xEF, 0xBB, 0xBF};
    int is_marked = page.size >= sizeof(mark) && memcmp(page.bytes, mark, sizeof(mark)) == 0;
    return is_marked ? (Bytes){page.bytes + sizeof(mark), page.size - sizeof(mark)} : page;
}

/* Build the tree of a page; SCAN_ASKS if it is one for the parser. */
static ScanEnd build_and_scan(const Build *build, Canonical *made, Tree *tree)
{
    ScanResult found;
    *made = (Canonical){0};
    if ((!build->is_text && !is_utf_8(build->page)) ||
        !make_canonical(without_mark(build->page), build->names, build->is_decoded, build->max_elements,
                        made) ||
        made->source.size > INT32_MAX)
        return made->source.is_short ? SCAN_NO_MEMORY : SCAN_ASKS;
    Bytes source = {made->source.bytes, made->source.size};
    Foreign foreign = {1, {made->raws.bytes, made->raws.size}, {made->voids.bytes, made->voids.size},
                       {made->eaters.bytes, made->eaters.size}, (const int64_t *)(void *)made->lengths.bytes,
                       made->lengths.size / sizeof(int64_t)};
    ScanEnd end = scan(source, build->names, &foreign, build->max_depth, &found);
    if (end == SCAN_DONE && !fill_tree(tree, source, &found))
        end = SCAN_NO_MEMORY;
    if (end == SCAN_DONE) {
        tree->written = made->source.bytes;
        made->source = (Buffer){0};
    }
    return end;
}

static PyObject *build_tree(PyObject *module, const Build *build)
{
    Tree *tree = new_owner(types_of(module)->tree, columns, NULL);
    Canonical made;
    ScanEnd end;
    if (!tree)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    end = build_and_scan(build, &made, tree);
    free_canonical(&made);
    Py_END_ALLOW_THREADS
    if (end == SCAN_DONE)
        return (PyObject *)tree;
    Py_DECREF((PyObject *)tree);
    return end == SCAN_ASKS ? Py_NewRef(Py_None) : PyErr_NoMemory();
}

#define PIECE 448 /* Characters that Python keeps in a small object. */

/* Write a text in UTF-8; 0 with an exception set. In pieces: most are plain letters, which Python then copies at once
   instead of one by one. */
static int put_utf_8(PyObject *text, Buffer *to)
{
    const Py_ssize_t length = PyUnicode_GetLength(text);
    int is_done = room_in(to, (size_t)length + (size_t)length / 8) != NULL;
    for (Py_ssize_t at = 0; at < length && is_done; at += PIECE) {
        PyObject *piece = PyUnicode_Substring(text, at, at + PIECE);
        Py_ssize_t size;
        const char *bytes = piece ? PyUnicode_AsUTF8AndSize(piece, &size) : NULL;
        if (bytes)
            put(to, bytes, (size_t)size);
        is_done = bytes && !to->is_short;
        Py_XDECREF(piece);
    }
    if (!is_done && !PyErr_Occurred())
        PyErr_NoMemory();
    return is_done;
}

/* The tree of a text; what has surrogates is for the parser. */
static PyObject *build_text(PyObject *module, PyObject *text, Build *build)
{
    Buffer written = {0};
    PyObject *tree = NULL;
    if (put_utf_8(text, &written)) {
        build->page = (Bytes){written.bytes, written.size};
        tree = build_tree(module, build);
    } else if (PyErr_ExceptionMatches(PyExc_UnicodeError)) {
        PyErr_Clear();
        tree = Py_NewRef(Py_None);
    }
    free(written.bytes);
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
    if (max_depth < 1 || max_depth > MAX_SCAN_DEPTH) {
        PyErr_SetString(PyExc_ValueError, "build: the depth of a page has a limit");
        return NULL;
    }
    Build build = {{0}, types_of(module)->tag_names, max_elements, (int)max_depth, is_decoded,
                   PyUnicode_Check(arguments[0])};
    if (build.is_text)
        return build_text(module, arguments[0], &build);
    char *bytes;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(arguments[0], &bytes, &size) < 0)
        return NULL;
    build.page = (Bytes){(const uint8_t *)bytes, (size_t)size};
    return build_tree(module, &build);
}
