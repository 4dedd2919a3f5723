/* `tagged`, `visible` and `characters`: what is asked of the tags and texts of a page alone. */

#include "tags.h"
#include "tree.h"

PyObject *kernel_tagged(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    const Tree *tree = check_count("tagged", count, 2) ? given_tree(module, arguments[0]) : NULL;
    long wanted = tree ? PyLong_AsLong(arguments[1]) : 0;
    if (PyErr_Occurred())
        return NULL;
    PyObject *found = PyList_New(0);
    for (size_t i = 0; i < tree->count && found; i++)
        if (tree->tag[i] == wanted && !append_number(found, i))
            Py_CLEAR(found);
    return found;
}

/* How many characters of a text are seen, where a run of white space is one. */
static int32_t seen_length(const Tree *tree, size_t node)
{
    const uint8_t *bytes = tree->source.bytes;
    size_t first = (size_t)tree->start[node], behind = (size_t)tree->stop[node];
    int32_t length = tree->text_length[node]; /* It counts no white space at the ends. */
    while (first < behind && is_white(bytes[first]))
        first++;
    while (behind > first && is_white(bytes[behind - 1]))
        behind--;
    uint64_t before = 0; /* Is the last byte before the word white? */
    for (size_t at = first; at < behind; at += WORD) {
        uint64_t word = word_before(tree->source, at, behind);
        uint64_t white = ~(((word & LOW_BITS) + ONES * (0x7F - ' ')) | word) & TOP_BITS;
        if (behind - at < WORD) /* What is behind the text was read as zeros. */
            white &= (UINT64_C(1) << (8 * (behind - at))) - 1;
        length -= (int32_t)count_marks(white & (white << 8 | before));
        before = white >> 56;
    }
    return length;
}

/* Where the preformatted text around a node ends, and whether the node is in it. */
static int is_fixed(const Tree *tree, size_t node, size_t *end)
{
    if (tag_sets[tree->tag[node]] & SET_PREFORMATTED && (size_t)tree->end[node] > *end)
        *end = (size_t)tree->end[node];
    return node < *end;
}

/* How many characters of a node are seen; 0 for what is no text. `end` is 0 before the first node. */
static int32_t visible_length(const Tree *tree, size_t node, size_t *end)
{
    int is_as_written = is_fixed(tree, node, end);
    if (tree->tag[node] != TAG_TEXT || !tree->shown[node] || tree->text_length[node] <= 0)
        return 0;
    return is_as_written ? tree->text_length[node] : seen_length(tree, node);
}

PyObject *kernel_visible(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    const Tree *tree = check_count("visible", count, 1) ? given_tree(module, arguments[0]) : NULL;
    if (!tree)
        return NULL;
    PyObject *found = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(tree->count * sizeof(int32_t)));
    if (!found)
        return NULL;
    int32_t *lengths = (int32_t *)(void *)PyByteArray_AsString(found);
    size_t end = 0;
    for (size_t i = 0; i < tree->count; i++)
        lengths[i] = visible_length(tree, i, &end);
    return found;
}

PyObject *kernel_characters(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    const Tree *tree = check_count("characters", count, 2) ? given_tree(module, arguments[0]) : NULL;
    View labels;
    if (!tree || !open_of_nodes(&labels, arguments[1], tree, 'B'))
        return NULL;
    const int8_t *label = labels.buffer.buf;
    long long sums[2] = {0}; /* Of all, and of the template. */
    size_t end = 0;
    for (size_t i = 0; i < tree->count; i++) {
        int32_t length = visible_length(tree, i, &end);
        sums[0] += length;
        sums[1] += label[i] == LABEL_TEMPLATE ? length : 0;
    }
    close_views(&labels, 1);
    return Py_BuildValue("(LL)", sums[0], sums[1]);
}
