/* `tagged` and `visible`: what is asked of the tags and texts of a page alone. */

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

PyObject *kernel_visible(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    const Tree *tree = check_count("visible", count, 1) ? given_tree(module, arguments[0]) : NULL;
    if (!tree)
        return NULL;
    PyObject *found = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(tree->count * sizeof(int32_t)));
    if (!found)
        return NULL;
    int32_t *lengths = (int32_t *)(void *)PyByteArray_AsString(found);
    size_t fixed_end = 0;
    for (size_t i = 0; i < tree->count; i++) {
        if (tag_sets[tree->tag[i]] & SET_PREFORMATTED && (size_t)tree->end[i] > fixed_end)
            fixed_end = (size_t)tree->end[i];
        int is_seen = tree->tag[i] == TAG_TEXT && tree->shown[i] && tree->text_length[i] > 0;
        lengths[i] = !is_seen ? 0 : i < fixed_end ? tree->text_length[i] : seen_length(tree, i);
    }
    return found;
}
