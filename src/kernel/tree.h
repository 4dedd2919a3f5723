/* A page as the kernel holds it: what each array says is told in `dehusk.page.tree`. */

#ifndef DEHUSK_TREE_H
#define DEHUSK_TREE_H

#include "columns.h"

#define TREE_COLUMNS(COLUMN)                  \
    COLUMN(own_hash, uint64_t, "Q", 0, 1)     \
    COLUMN(path_hash, uint64_t, "Q", 0, 1)    \
    COLUMN(parent, int32_t, "i", 0, 1)        \
    COLUMN(end, int32_t, "i", 0, 1)           \
    COLUMN(depth, int32_t, "i", 0, 1)         \
    COLUMN(start, int32_t, "i", 0, 1)         \
    COLUMN(stop, int32_t, "i", 0, 1)          \
    COLUMN(close, int32_t, "i", 0, 1)         \
    COLUMN(text_length, int32_t, "i", 0, 1)   \
    COLUMN(link_length, int32_t, "i", 0, 1)   \
    COLUMN(tag, int16_t, "h", 0, 1)           \
    COLUMN(shown, uint8_t, "?", 0, 1)         \
    COLUMN(raw, uint8_t, "?", 0, 1)

typedef struct {
    Owner owner;
    TREE_COLUMNS(COLUMN_POINTER)
    Bytes source;
    uint8_t *written; /* The memory of the source, where the kernel wrote it itself; else it is that of `held`. */
    size_t count;
} Tree;

extern PyType_Spec tree_spec;

/* The tree that Python handed in; NULL with an exception set. */
const Tree *given_tree(PyObject *module, PyObject *object);

/* The end of what a node stands in; the page, for one of its roots. */
static inline int32_t end_around(const Tree *tree, size_t node)
{
    return tree->parent[node] < 0 ? (int32_t)tree->count : tree->end[tree->parent[node]];
}

/* Is the start tag of a node written so? */
static inline int is_written(const Tree *tree, size_t node, const char *tag)
{
    size_t size = strlen(tag);
    return (size_t)(tree->stop[node] - tree->start[node]) == size &&
           memcmp(tree->source.bytes + tree->start[node], tag, size) == 0;
}

/* A view of an array with an item of this type for each node of the tree; 0 with an exception set. */
int open_of_nodes(View *view, PyObject *array, const Tree *tree, char type);

#endif
