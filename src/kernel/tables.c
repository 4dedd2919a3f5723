/* `merge`: two tables of a memory added up, the pages of the second numbered on. The twin of
   `dehusk.memory.tables.Table.plus`. */

#include "kernel.h"

typedef struct {
    const uint64_t *keys, *sums;
    const uint32_t *count, *last;
    size_t size;
    uint32_t shift; /* How many pages came before the first. */
} Table;

typedef struct {
    uint64_t *keys, *sums;
    uint32_t *count, *last;
    size_t size, columns;
} Merged;

static size_t count_merged(const Table *one, const Table *other)
{
    size_t i = 0, j = 0, common = 0;
    while (i < one->size && j < other->size) {
        uint64_t mine = one->keys[i], theirs = other->keys[j];
        common += mine == theirs;
        i += mine <= theirs;
        j += theirs <= mine;
    }
    return one->size + other->size - common;
}

/* Rows of a table as they are, one behind another. */
static void put_rows(Merged *to, const Table *from, size_t first, size_t count)
{
    memcpy(to->keys + to->size, from->keys + first, count * sizeof(uint64_t));
    memcpy(to->count + to->size, from->count + first, count * sizeof(uint32_t));
    for (size_t i = 0; i < count; i++)
        to->last[to->size + i] = from->last[first + i] + from->shift;
    if (to->columns)
        memcpy(to->sums + to->size * to->columns, from->sums + first * to->columns,
               count * to->columns * sizeof(uint64_t));
    to->size += count;
}

/* Add a row of the other table to the row that was put down last. */
static void add_row(Merged *to, const Table *from, size_t row)
{
    size_t at = to->size - 1;
    to->count[at] += from->count[row];
    if (from->last[row] + from->shift > to->last[at])
        to->last[at] = from->last[row] + from->shift;
    for (size_t i = 0; i < to->columns; i++)
        to->sums[at * to->columns + i] += from->sums[row * to->columns + i];
}

static void merge(Merged *to, const Table *one, const Table *other)
{
    size_t i = 0;
    for (size_t j = 0; j < other->size; j++) {
        size_t first = i;
        while (i < one->size && one->keys[i] < other->keys[j])
            i++;
        put_rows(to, one, first, i - first);
        if (i < one->size && one->keys[i] == other->keys[j]) {
            put_rows(to, one, i++, 1);
            add_row(to, other, j);
        } else {
            put_rows(to, other, j, 1);
        }
    }
    put_rows(to, one, i, one->size - i);
}

static int table_in(const View *views, Py_ssize_t columns, Table *table)
{
    const Py_ssize_t sizes[] = {8, 4, 4, 8 * columns};
    Py_ssize_t size = views[0].buffer.len / 8;
    if (!check_sizes("merge", views, sizes, 4, size))
        return 0;
    *table = (Table){views[0].buffer.buf, views[3].buffer.buf, views[1].buffer.buf,
                     views[2].buffer.buf, (size_t)size, 0};
    return 1;
}

static int is_sorted(const Table *table)
{
    for (size_t i = 1; i < table->size; i++)
        if (table->keys[i - 1] >= table->keys[i])
            return 0;
    return 1;
}

static PyObject *merged(const Table *one, const Table *other, size_t columns)
{
    if (!is_sorted(one) || !is_sorted(other)) {
        PyErr_SetString(PyExc_ValueError, "merge: keys must rise");
        return NULL;
    }
    size_t size = count_merged(one, other);
    PyObject *memory = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(size * (16 + 8 * columns)));
    if (!memory)
        return NULL;
    Merged to = {.columns = columns};
    to.keys = (uint64_t *)PyByteArray_AsString(memory);
    to.sums = to.keys + size;
    to.count = (uint32_t *)(to.sums + size * columns);
    to.last = to.count + size;
    merge(&to, one, other);
    return memory;
}

PyObject *kernel_merge(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    View views[8];
    if (!check_count("merge", count, 10))
        return NULL;
    Py_ssize_t columns = PyLong_AsSsize_t(arguments[0]);
    unsigned long shift = PyLong_AsUnsignedLong(arguments[1]);
    if (PyErr_Occurred() || !open_views(views, arguments + 2, 8, 0))
        return NULL;
    Table one, other;
    PyObject *memory = NULL;
    if (columns < 0 || columns > 64)
        PyErr_SetString(PyExc_ValueError, "merge: too many columns");
    else if (table_in(views, columns, &one) && table_in(views + 4, columns, &other)) {
        other.shift = (uint32_t)shift;
        memory = merged(&one, &other, (size_t)columns);
    }
    close_views(views, 8);
    return memory;
}
