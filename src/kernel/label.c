/* `label`: scores to labels and reasons, as `dehusk.answer.labels` says. */

#include "tree.h"

#include <stdlib.h>

#include "tags.h"

enum {
    SCORED_CONTENT = 0,
    SCORED_TEMPLATE = 1,
    FOLLOWS_ANCESTOR = 2,
    NO_OPINION = 3,
    HOLDS_CONTENT = 4,
    HOLDS_TEMPLATE = 5,
    NEVER_SHOWN = 6,
};

/* What is known of a node on the way up. */
enum { IS_LEAF = 1, IS_HIGH = 2, HAS_LEAF = 4, HAS_CONTENT = 8, IS_JUDGED = 16, IS_TEMPLATE = 32 };

/* Is it what a reader sees, shown text that is not white space or an image, with a score? */
static int is_leaf(const Tree *page, const double *scores, size_t node)
{
    int is_seen = page->tag[node] == TAG_TEXT ? page->text_length[node] > 0
                                              : (tag_sets[page->tag[node]] & SET_IMAGE) != 0;
    return is_seen && page->shown[node] && scores[node] == scores[node];
}

/* Tell every node what is below it; from the end on, so that children come first. */
static void look_below(const Tree *page, const double *scores, uint8_t *known)
{
    memset(known, 0, page->count);
    for (size_t i = page->count; i-- > 0;) {
        if (is_leaf(page, scores, i))
            known[i] |= scores[i] > 0.5 ? IS_LEAF | IS_HIGH | HAS_LEAF
                                              : IS_LEAF | HAS_LEAF | HAS_CONTENT;
        int32_t parent = page->parent[i];
        if (parent >= 0)
            known[parent] |= known[i] & (HAS_LEAF | HAS_CONTENT);
    }
}

static int8_t reason_of(uint8_t known)
{
    if (known & IS_LEAF)
        return known & IS_HIGH ? SCORED_TEMPLATE : SCORED_CONTENT;
    if (known & HAS_LEAF)
        return known & HAS_CONTENT ? HOLDS_CONTENT : HOLDS_TEMPLATE;
    return known & IS_JUDGED ? FOLLOWS_ANCESTOR : NO_OPINION;
}

static void give_labels(const Tree *page, uint8_t *known, int8_t *labels, int8_t *reasons)
{
    for (size_t i = 0; i < page->count; i++) {
        int32_t parent = page->parent[i];
        if (known[i] & HAS_LEAF) {
            int is_template = known[i] & IS_LEAF ? known[i] & IS_HIGH : !(known[i] & HAS_CONTENT);
            known[i] |= is_template ? IS_JUDGED | IS_TEMPLATE : IS_JUDGED;
        } else if (parent >= 0) {
            known[i] |= known[parent] & (IS_JUDGED | IS_TEMPLATE);
        }
        labels[i] = !page->shown[i]           ? LABEL_HIDDEN
                    : known[i] & IS_TEMPLATE ? LABEL_TEMPLATE
                                              : LABEL_CONTENT;
        reasons[i] = page->shown[i] ? reason_of(known[i]) : NEVER_SHOWN;
    }
}

/* Labels and reasons, each in memory of their own; NULL with an exception set. */
static PyObject *label_nodes(const Tree *page, const double *scores)
{
    PyObject *labels = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)page->count);
    PyObject *reasons = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)page->count);
    uint8_t *known = malloc(page->count + 1);
    PyObject *found = NULL;
    if (labels && reasons && known) {
        look_below(page, scores, known);
        give_labels(page, known, (int8_t *)PyByteArray_AsString(labels),
                    (int8_t *)PyByteArray_AsString(reasons));
        found = PyTuple_Pack(2, labels, reasons);
    } else {
        PyErr_NoMemory();
    }
    Py_XDECREF(labels);
    Py_XDECREF(reasons);
    free(known);
    return found;
}

PyObject *kernel_label(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    View scores;
    const Tree *tree = check_count("label", count, 2) ? given_tree(module, arguments[0]) : NULL;
    if (!tree || !open_of_nodes(&scores, arguments[1], tree, 'd'))
        return NULL;
    PyObject *found = label_nodes(tree, scores.buffer.buf);
    close_views(&scores, 1);
    return found;
}
