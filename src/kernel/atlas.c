/* `theme_keys` and `lean`: elements as the atlas of themes knows them, and what it says of a page's blocks. */

#include "reading.h"

#include <stdlib.h>

#include "attributes.h"

#define LEAN_UNIT 16.0 /* What the atlas says comes in sixteenths of a logit. */

/* What an element is called: its tag, its classes and its id, but for those with a digit. `*has_name` where it has
   any of the latter two. */
static uint64_t called(const Tree *tree, size_t node, int *has_name)
{
    const uint64_t nothing = mix(1);
    size_t at = (size_t)tree->start[node], stop = (size_t)tree->stop[node];
    uint64_t sum = tree->own_hash[node];
    Attribute found;
    *has_name = 0;
    while (next_attribute(tree->source, &at, stop, &found)) {
        int is_class = is_named(tree->source, &found, "class");
        if (!is_class && !is_named(tree->source, &found, "id"))
            continue;
        uint64_t names = classes_of(tree->source, found.value, found.value_stop);
        if (names == nothing)
            continue;
        *has_name = 1;
        sum += names * (is_class ? PATH_FACTOR : TEXT_FACTOR);
    }
    return mix(sum);
}

/* The elements that blocks stand in: 1 in `wanted`, which is 0 before. */
static void find_wanted(const Reading *reading, uint8_t *wanted)
{
    for (size_t i = 0; i < reading->blocks; i++)
        for (int32_t node = reading->container[i]; node >= 0 && !wanted[node]; node = reading->tree->parent[node])
            wanted[node] = 1;
}

/* The key of each element that blocks stand in: what it is called, and what the nearest one above it is called that
   has a name; 0 for other nodes. `above` is room for as many numbers as nodes. */
static void fill_theme_keys(const Tree *tree, const uint8_t *wanted, uint64_t *above, uint64_t *keys)
{
    for (size_t i = 0; i < tree->count; i++) {
        uint64_t outer = tree->parent[i] < 0 ? 0 : above[tree->parent[i]];
        int has_name;
        keys[i] = 0;
        if (!wanted[i])
            continue;
        uint64_t own = called(tree, i, &has_name);
        above[i] = has_name ? own : outer;
        keys[i] = mix(own + PATH_FACTOR * outer);
    }
}

/* What the atlas says of a key; 0 where it has none. Its keys are in ascending order. */
static int8_t said_of(const View *atlas, uint64_t key)
{
    const uint64_t *keys = atlas[0].buffer.buf;
    size_t low = 0, high = (size_t)atlas[0].buffer.len / sizeof(uint64_t);
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    int is_there = low < (size_t)atlas[0].buffer.len / sizeof(uint64_t) && keys[low] == key;
    return is_there ? ((const int8_t *)atlas[1].buffer.buf)[low] : 0;
}

/* Of each block what is said of its container or of an element above: the strongest, of equals the nearest. What is
   said takes the place of the keys. */
static void fill_leans(const Reading *reading, const View *atlas, uint64_t *keys, double *to)
{
    const Tree *tree = reading->tree;
    int64_t *leans = (int64_t *)keys;
    for (size_t i = 0; i < tree->count; i++) {
        if (!keys[i])
            continue;
        int64_t own = said_of(atlas, keys[i]), outer = tree->parent[i] < 0 ? 0 : leans[tree->parent[i]];
        leans[i] = own * own >= outer * outer ? own : outer;
    }
    for (size_t i = 0; i < reading->blocks; i++)
        to[i] = (double)leans[reading->container[i]] / LEAN_UNIT;
}

/* The keys of a page's elements; NULL with an exception set. */
static uint64_t *make_theme_keys(const Reading *reading)
{
    size_t nodes = reading->tree->count;
    uint64_t *keys = malloc(nodes * 2 * sizeof(uint64_t) + 1);
    uint8_t *wanted = calloc(nodes + 1, 1);
    if (keys && wanted) {
        find_wanted(reading, wanted);
        fill_theme_keys(reading->tree, wanted, keys + nodes, keys);
    } else {
        free(keys);
        keys = NULL;
        PyErr_NoMemory();
    }
    free(wanted);
    return keys;
}

PyObject *kernel_theme_keys(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    const Reading *reading =
        check_count("theme_keys", count, 1) ? given_owner(arguments[0], types_of(module)->reading) : NULL;
    uint64_t *keys = reading ? make_theme_keys(reading) : NULL;
    PyObject *memory = NULL;
    if (keys)
        memory = PyByteArray_FromStringAndSize((const char *)keys, (Py_ssize_t)(reading->tree->count * sizeof(*keys)));
    free(keys);
    return memory;
}

PyObject *kernel_lean(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    static const Py_ssize_t sizes[] = {sizeof(uint64_t), sizeof(int8_t)};
    const Reading *reading = check_count("lean", count, 3) ? given_owner(arguments[0], types_of(module)->reading) : NULL;
    PyObject *memory = NULL;
    uint64_t *keys = NULL;
    View atlas[2];
    if (!reading || !open_views(atlas, arguments + 1, "Qb"))
        return NULL;
    if (check_sizes("lean", atlas, sizes, 2, atlas[1].buffer.len) && (keys = make_theme_keys(reading)))
        memory = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(reading->blocks * sizeof(double)));
    if (memory)
        fill_leans(reading, atlas, keys, (double *)PyByteArray_AsString(memory));
    free(keys);
    close_views(atlas, 2);
    return memory;
}
