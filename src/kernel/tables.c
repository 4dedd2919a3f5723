/* `merge` and `merge_all`: two tables of a memory added up, or all of them, the pages of the second
   numbered on. The twins are `plus` and `then` in `dehusk.memory.tables`. */

#include "kernel.h"

#define MAX_SUMS 64

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

/* How many rows both have together; 0 with an exception set if the keys of one do not rise. */
static int count_rows(const Table *one, const Table *other, size_t *rows)
{
    if (!is_sorted(one) || !is_sorted(other)) {
        PyErr_SetString(PyExc_ValueError, "merge: keys must rise");
        return 0;
    }
    *rows = count_merged(one, other);
    return 1;
}

/* Where the arrays of a table of so many rows stand. */
static Merged merged_at(char *memory, size_t rows, size_t columns)
{
    Merged to = {.columns = columns};
    to.keys = (uint64_t *)memory;
    to.sums = to.keys + rows;
    to.count = (uint32_t *)(to.sums + rows * columns);
    to.last = to.count + rows;
    return to;
}

static PyObject *merged(const Table *one, const Table *other, size_t columns)
{
    size_t rows;
    if (!count_rows(one, other, &rows))
        return NULL;
    PyObject *memory = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(rows * (16 + 8 * columns)));
    if (!memory)
        return NULL;
    Merged to = merged_at(PyByteArray_AsString(memory), rows, columns);
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
    if (columns < 0 || columns > MAX_SUMS)
        PyErr_SetString(PyExc_ValueError, "merge: too many columns");
    else if (table_in(views, columns, &one) && table_in(views + 4, columns, &other)) {
        other.shift = (uint32_t)shift;
        memory = merged(&one, &other, (size_t)columns);
    }
    close_views(views, 8);
    return memory;
}

/* --- all tables of a memory --- */

#define MAX_TABLES 16

/* The tables that stand one behind another in a memory; 0 with an exception set if they do not. */
static int tables_in(const View *view, PyObject *rows, Bytes sums, Table *tables)
{
    char *at = view->buffer.buf;
    size_t left = (size_t)view->buffer.len;
    for (size_t i = 0; i < sums.size; i++) {
        PyObject *number = PyTuple_GetItem(rows, (Py_ssize_t)i);
        size_t size = number ? PyLong_AsSize_t(number) : 0, row = 16 + 8 * (size_t)sums.bytes[i];
        if (PyErr_Occurred())
            return 0;
        if (size > left / row) {
            PyErr_SetString(PyExc_ValueError, "merge_all: tables that lie outside of their memory");
            return 0;
        }
        Merged found = merged_at(at, size, sums.bytes[i]);
        tables[i] = (Table){found.keys, found.sums, found.count, found.last, size, 0};
        at += size * row;
        left -= size * row;
    }
    return 1;
}

/* The rows of the tables as Python has them; NULL with an exception set. */
static PyObject *tuple_of(const size_t *numbers, size_t count)
{
    PyObject *tuple = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; i < count && tuple; i++) {
        PyObject *number = PyLong_FromSize_t(numbers[i]);
        if (!number || PyTuple_SetItem(tuple, (Py_ssize_t)i, number) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *merged_all(const Table *before, Table *later, Bytes sums, uint32_t shift)
{
    size_t rows[MAX_TABLES], size = 0;
    for (size_t i = 0; i < sums.size; i++) {
        if (!count_rows(&before[i], &later[i], &rows[i]))
            return NULL;
        size += rows[i] * (16 + 8 * (size_t)sums.bytes[i]);
    }
    PyObject *memory = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)size);
    if (!memory)
        return NULL;
    char *at = PyByteArray_AsString(memory);
    for (size_t i = 0; i < sums.size; i++) {
        Merged to = merged_at(at, rows[i], sums.bytes[i]);
        later[i].shift = shift;
        merge(&to, &before[i], &later[i]);
        at += rows[i] * (16 + 8 * (size_t)sums.bytes[i]);
    }
    return Py_BuildValue("(NN)", memory, tuple_of(rows, sums.size));
}

PyObject *kernel_merge_all(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    View views[3];
    if (!check_count("merge_all", count, 6))
        return NULL;
    unsigned long shift = PyLong_AsUnsignedLong(arguments[1]);
    PyObject *const objects[] = {arguments[0], arguments[2], arguments[4]};
    if (PyErr_Occurred() || !open_views(views, objects, 3, 0))
        return NULL;
    Bytes sums = bytes_of(&views[0]);
    Table before[MAX_TABLES], later[MAX_TABLES];
    PyObject *found = NULL;
    int is_small = sums.size <= MAX_TABLES;
    for (size_t i = 0; i < sums.size && is_small; i++)
        is_small = sums.bytes[i] <= MAX_SUMS;
    if (!is_small)
        PyErr_SetString(PyExc_ValueError, "merge_all: too many tables, or sums");
    else if (tables_in(&views[1], arguments[3], sums, before) &&
             tables_in(&views[2], arguments[5], sums, later))
        found = merged_all(before, later, sums, (uint32_t)shift);
    close_views(views, 3);
    return found;
}
