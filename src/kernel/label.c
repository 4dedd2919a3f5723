/* `label`: scores to labels and reasons. The twin of `dehusk.label.label`, which says how. */

#include "kernel.h"

#include <stdlib.h>

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

typedef struct {
    const int32_t *parent, *text_length;
    const int16_t *tag;
    const uint8_t *shown;
    const double *scores;
    Bytes images;
    size_t count;
} Scored;

static int is_leaf(const Scored *page, size_t node)
{
    int16_t tag = page->tag[node];
    int is_seen = tag == 0 ? page->text_length[node] > 0
                           : tag > 0 && (size_t)tag < page->images.size && page->images.bytes[tag];
    return is_seen && page->shown[node] && page->scores[node] == page->scores[node];
}

/* Tell every node what is below it; from the end on, so that children come first. */
static void look_below(const Scored *page, uint8_t *known)
{
    memset(known, 0, page->count);
    for (size_t i = page->count; i-- > 0;) {
        if (is_leaf(page, i))
            known[i] |= page->scores[i] > 0.5 ? IS_LEAF | IS_HIGH | HAS_LEAF
                                              : IS_LEAF | HAS_LEAF | HAS_CONTENT;
        int32_t parent = page->parent[i];
        if (parent >= 0 && (size_t)parent < i)
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

static void give_labels(const Scored *page, uint8_t *known, int8_t *labels, int8_t *reasons)
{
    for (size_t i = 0; i < page->count; i++) {
        int32_t parent = page->parent[i];
        if (known[i] & HAS_LEAF) {
            int is_template = known[i] & IS_LEAF ? known[i] & IS_HIGH : !(known[i] & HAS_CONTENT);
            known[i] |= is_template ? IS_JUDGED | IS_TEMPLATE : IS_JUDGED;
        } else if (parent >= 0 && (size_t)parent < i) {
            known[i] |= known[parent] & (IS_JUDGED | IS_TEMPLATE);
        }
        labels[i] = !page->shown[i]           ? LABEL_HIDDEN
                    : known[i] & IS_TEMPLATE ? LABEL_TEMPLATE
                                              : LABEL_CONTENT;
        reasons[i] = page->shown[i] ? reason_of(known[i]) : NEVER_SHOWN;
    }
}

static PyObject *label_nodes(const Scored *page)
{
    PyObject *memory = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(2 * page->count));
    uint8_t *known = malloc(page->count + 1);
    if (memory && known) {
        int8_t *labels = (int8_t *)PyByteArray_AsString(memory);
        look_below(page, known);
        give_labels(page, known, labels, labels + page->count);
    } else {
        Py_XDECREF(memory);
        memory = PyErr_NoMemory();
    }
    free(known);
    return memory;
}

PyObject *kernel_label(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    static const Py_ssize_t sizes[] = {4, 4, 2, 1, 8};
    View views[6];
    if (!open_all("label", views, 6, arguments, count))
        return NULL;
    PyObject *memory = NULL;
    Py_ssize_t nodes = views[4].buffer.len;
    if (check_sizes("label", views + 1, sizes, 5, nodes)) {
        Scored page = {views[1].buffer.buf, views[2].buffer.buf, views[3].buffer.buf,
                       views[4].buffer.buf, views[5].buffer.buf, bytes_of(&views[0]),
                       (size_t)nodes};
        memory = label_nodes(&page);
    }
    close_views(views, 6);
    return memory;
}
