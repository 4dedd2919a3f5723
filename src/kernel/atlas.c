/* Elements as the atlas of themes knows them, `theme_keys`, and what it says of a page's blocks. */

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
static int8_t said_of(const Atlas *atlas, uint64_t key)
{
    size_t low = 0, high = atlas->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (atlas->keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < atlas->count && atlas->keys[low] == key ? atlas->leans[low] : 0;
}

/* The keys of a page's elements; NULL without memory. */
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
    }
    free(wanted);
    return keys;
}

int add_leans(const Reading *reading, const Atlas *atlas, double *logits)
{
    const Tree *tree = reading->tree;
    uint64_t *keys = make_theme_keys(reading);
    int64_t *leans = (int64_t *)keys; /* What is said of an element takes the place of its key. */
    if (!keys)
        return 0;
    for (size_t i = 0; i < tree->count; i++) {
        if (!keys[i])
            continue;
        int64_t own = said_of(atlas, keys[i]), outer = tree->parent[i] < 0 ? 0 : leans[tree->parent[i]];
        leans[i] = own * own >= outer * outer ? own : outer;
    }
    for (size_t i = 0; i < reading->blocks; i++)
        logits[i] += (double)leans[reading->container[i]] / LEAN_UNIT * atlas->share;
    free(keys);
    return 1;
}

PyObject *kernel_theme_keys(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    const Reading *reading =
        check_count("theme_keys", count, 1) ? given_owner(arguments[0], types_of(module)->reading) : NULL;
    uint64_t *keys = reading ? make_theme_keys(reading) : NULL;
    PyObject *memory = NULL;
    if (keys)
        memory = PyByteArray_FromStringAndSize((const char *)keys, (Py_ssize_t)(reading->tree->count * sizeof(*keys)));
    else if (reading)
        PyErr_NoMemory();
    free(keys);
    return memory;
}
