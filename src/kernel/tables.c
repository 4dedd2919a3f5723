/* Tables of a memory: made of a page, added up, cut down, and shown to Python as arrays of numpy. */

#include "tables.h"

#include <stdlib.h>

#define MAX_SUMS 64
#define OWNER Table

static const Column columns[] = {TABLE_COLUMNS(COLUMN_ENTRY) NO_COLUMN};

/* Lay out a new table, whose counts and numbers of pages are not above `most`; 0 without memory. */
static int lay_out_table(Table *table, size_t rows, int has_owners, size_t width, uint32_t most)
{
    table->item = most >> 16 ? 4 : most >> 8 ? 2 : 1;
    const size_t counts[] = {rows, has_owners ? rows : 0, rows * width, rows * table->item};
    table->rows = rows;
    table->most = most;
    table->width = width;
    table->has_owners = has_owners;
    return lay_out(table, counts);
}

Table *empty_table(PyObject *type)
{
    return new_owner(type, columns, NULL);
}

Table *make_table(PyObject *type, size_t rows, int has_owners, size_t width, uint32_t most)
{
    Table *table = empty_table(type);
    if (table && !lay_out_table(table, rows, has_owners, width, most)) {
        Py_DECREF((PyObject *)table);
        PyErr_NoMemory();
        return NULL;
    }
    return table;
}

int find_table(const Types *types, PyObject *tables, const char *name, size_t width, Table **found)
{
    PyObject *object;
    *found = NULL;
    if (!PyDict_Check(tables)) {
        PyErr_SetString(PyExc_TypeError, "tables come in a dict");
        return 0;
    }
#ifdef Py_GIL_DISABLED
    if (PyDict_GetItemStringRef(tables, name, &object) < 0)
        return 0;
#else
    object = Py_XNewRef(PyDict_GetItemString(tables, name));
#endif
    Table *table = object ? given_owner(object, types->table) : NULL;
    if (table && table->rows && table->width != width)
        PyErr_Format(PyExc_ValueError, "a table %s with %zu sums", name, table->width);
    else if (table && table->rows)
        *found = table;
    if (!*found)
        Py_XDECREF(object);
    return !PyErr_Occurred();
}

static void put_pages(const Table *table, uint8_t *column, size_t row, uint32_t pages)
{
    uint16_t half = (uint16_t)pages;
    if (table->item == 1)
        column[row] = (uint8_t)pages;
    else
        memcpy(column + table->item * row, table->item == 2 ? (void *)&half : (void *)&pages, table->item);
}

/* --- added up --- */

static size_t count_merged(const Table *one, const Table *other)
{
    size_t i = 0, j = 0, common = 0;
    while (i < one->rows && j < other->rows) {
        uint64_t mine = one->keys[i], theirs = other->keys[j];
        common += mine == theirs;
        i += mine <= theirs;
        j += theirs <= mine;
    }
    return one->rows + other->rows - common;
}

/* Rows of a table as they are, behind the `at` that are there, their pages numbered on. */
static size_t put_rows(Table *to, size_t at, const Table *from, size_t first, size_t count, uint32_t pages)
{
    memcpy(to->keys + at, from->keys + first, count * sizeof(uint64_t));
    if (to->item == from->item && !pages) {
        memcpy(to->count + at * to->item, from->count + first * to->item, count * to->item);
        memcpy(to->last + at * to->item, from->last + first * to->item, count * to->item);
    } else {
        for (size_t i = 0; i < count; i++) {
            put_pages(to, to->count, at + i, count_at(from, first + i));
            put_pages(to, to->last, at + i, last_at(from, first + i) + pages);
        }
    }
    if (to->has_owners)
        memcpy(to->owner_keys + at, from->owner_keys + first, count * sizeof(uint64_t));
    if (to->width)
        memcpy(to->sums + at * to->width, from->sums + first * to->width, count * to->width * sizeof(uint64_t));
    return at + count;
}

/* Add a row of another table to a row. Of two owners of one key the lesser stays. */
static void add_row(Table *to, size_t at, const Table *from, size_t row, uint32_t pages)
{
    put_pages(to, to->count, at, count_at(to, at) + count_at(from, row));
    if (last_at(from, row) + pages > last_at(to, at))
        put_pages(to, to->last, at, last_at(from, row) + pages);
    if (to->has_owners && from->owner_keys[row] < to->owner_keys[at])
        to->owner_keys[at] = from->owner_keys[row];
    for (size_t i = 0; i < to->width; i++)
        to->sums[at * to->width + i] += from->sums[row * to->width + i];
}

static void merge(Table *to, const Table *one, const Table *other, uint32_t pages)
{
    size_t i = 0, at = 0;
    for (size_t j = 0; j < other->rows; j++) {
        size_t first = i;
        while (i < one->rows && one->keys[i] < other->keys[j])
            i++;
        at = put_rows(to, at, one, first, i - first, 0);
        if (i < one->rows && one->keys[i] == other->keys[j]) {
            at = put_rows(to, at, one, i++, 1, 0);
            add_row(to, at - 1, other, j, pages);
        } else {
            at = put_rows(to, at, other, j, 1, pages);
        }
    }
    put_rows(to, at, one, i, one->rows - i, 0);
}

/* Can rows of both stand in one table? 0 with StateError set if not. */
static int check_shape(const Table *one, const Table *other)
{
    if (one->has_owners == other->has_owners && one->width == other->width)
        return 1;
    PyObject *errors = PyImport_ImportModule("dehusk.errors");
    PyObject *error = errors ? PyObject_GetAttrString(errors, "StateError") : NULL;
    if (error && one->has_owners != other->has_owners)
        PyErr_SetString(error, "keys with owners and keys without do not go into one table");
    else if (error)
        PyErr_Format(error, "keys with %zu and with %zu sums do not go into one table", one->width, other->width);
    Py_XDECREF(errors);
    Py_XDECREF(error);
    return 0;
}

/* Both tables added up, the pages of the other numbered on behind so many. */
static PyObject *added(Table *one, Table *other, uint32_t pages)
{
    if (!other->rows || (!one->rows && !pages))
        return Py_NewRef((PyObject *)(one->rows ? one : other));
    if (one->rows && !check_shape(one, other))
        return NULL;
    size_t rows = count_merged(one, other);
    int has_common = rows < one->rows + other->rows;
    uint64_t counted = (uint64_t)one->most + (has_common ? other->most : 0), numbered = (uint64_t)other->most + pages;
    uint64_t most = counted > numbered ? counted : numbered;
    Table *both = make_table((PyObject *)Py_TYPE((PyObject *)one), rows, other->has_owners, other->width,
                             most < UINT32_MAX ? (uint32_t)most : UINT32_MAX);
    if (both)
        merge(both, one, other, pages);
    return (PyObject *)both;
}

/* Is it a number of pages? 0 with an exception set if not. */
static int check_pages(long long pages)
{
    if (pages >= 0 && pages <= UINT32_MAX)
        return 1;
    PyErr_Format(PyExc_ValueError, "not a number of pages: %lld", pages);
    return 0;
}

static PyObject *then(PyObject *self, PyObject *arguments)
{
    PyObject *later;
    long long pages;
    if (!PyArg_ParseTuple(arguments, "O!L", Py_TYPE(self), &later, &pages) || !check_pages(pages))
        return NULL;
    return added((Table *)self, (Table *)later, (uint32_t)pages);
}

static PyObject *plus(PyObject *self, PyObject *other)
{
    Table *table = given_owner(other, (PyObject *)Py_TYPE(self));
    return table ? added((Table *)self, table, 0) : NULL;
}

/* --- made of arrays --- */

enum { KEYS, COUNT, LAST, OWNERS, SUMS, ARRAYS };

/* Views of the arrays that are there: `None` is none. 0 with an exception set if they do not fit together. */
static int open_arrays(PyObject *const *objects, View *views, size_t *rows, size_t *width)
{
    static const size_t sizes[] = {8, 4, 4, 8, 8};
    for (size_t i = 0; i < ARRAYS; i++)
        views[i] = (View){0};
    int is_done = 1;
    for (size_t i = 0; i < ARRAYS && is_done; i++)
        is_done = objects[i] == Py_None || open_array(&views[i], objects[i], "QIIQQ"[i]);
    *rows = (size_t)views[KEYS].buffer.len / 8;
    *width = is_done && views[SUMS].buffer.ndim == 2 ? (size_t)views[SUMS].buffer.shape[1] : 0;
    for (size_t i = 0; i < ARRAYS && is_done; i++) {
        size_t size = *rows * sizes[i] * (i == SUMS ? *width : 1);
        if (objects[i] != Py_None && ((size_t)views[i].buffer.len != size || *width > MAX_SUMS)) {
            PyErr_SetString(PyExc_ValueError, "a table of arrays that do not fit together");
            is_done = 0;
        }
    }
    if (!is_done)
        close_views(views, ARRAYS);
    return is_done;
}

static int is_rising(const Table *table)
{
    for (size_t i = 1; i < table->rows; i++)
        if (table->keys[i - 1] >= table->keys[i])
            return 0;
    return 1;
}

static void copy_column(void *to, const View *view)
{
    if (view->buffer.len)
        memcpy(to, view->buffer.buf, (size_t)view->buffer.len);
}

static uint32_t largest_of(const View *view)
{
    const uint32_t *numbers = view->buffer.buf;
    uint32_t largest = 0;
    for (size_t i = 0; i < (size_t)view->buffer.len / sizeof(uint32_t); i++)
        largest = numbers[i] > largest ? numbers[i] : largest;
    return largest;
}

static void copy_pages(const Table *table, uint8_t *column, const View *view)
{
    const uint32_t *numbers = view->buffer.buf;
    for (size_t i = 0; i < (size_t)view->buffer.len / sizeof(uint32_t); i++)
        put_pages(table, column, i, numbers[i]);
}

static PyObject *new_table(PyTypeObject *type, PyObject *arguments, PyObject *named)
{
    static char *names[] = {"keys", "count", "last", "owner", "sums", NULL};
    PyObject *objects[ARRAYS] = {Py_None, Py_None, Py_None, Py_None, Py_None};
    View views[ARRAYS];
    size_t rows, width;
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "|OOOOO:Table", names, &objects[KEYS], &objects[COUNT],
                                     &objects[LAST], &objects[OWNERS], &objects[SUMS]) ||
        !open_arrays(objects, views, &rows, &width))
        return NULL;
    uint32_t counted = largest_of(&views[COUNT]), numbered = largest_of(&views[LAST]);
    Table *table = make_table((PyObject *)type, rows, objects[OWNERS] != Py_None, width,
                              counted > numbered ? counted : numbered);
    if (table) {
        copy_column(table->keys, &views[KEYS]);
        copy_pages(table, table->count, &views[COUNT]);
        copy_pages(table, table->last, &views[LAST]);
        copy_column(table->owner_keys, &views[OWNERS]);
        copy_column(table->sums, &views[SUMS]);
        if (!is_rising(table) || (rows && (objects[COUNT] == Py_None || objects[LAST] == Py_None))) {
            PyErr_SetString(PyExc_ValueError, "the keys of a table must rise, and be counted");
            Py_CLEAR(table);
        }
    }
    close_views(views, ARRAYS);
    return (PyObject *)table;
}

int fill_of_page(Table *table, const PageKeys *page, Keyed *items)
{
    size_t rows = 0, row = SIZE_MAX, width = page->width;
    for (size_t i = 0; i < page->count; i++)
        items[i] = (Keyed){page->keys[i], (int32_t)i};
    sort_keyed(items, items + page->count, page->count);
    for (size_t i = 0; i < page->count; i++)
        rows += !is_repeat(items, i);
    uint32_t most = page->number ? page->number : 1;
    if (!lay_out_table(table, rows, rows && page->owners, rows ? width : 0, most))
        return 0;
    memset(table->sums, 0, rows * width * sizeof(uint64_t));
    for (size_t i = 0; i < page->count; i++) {
        size_t place = (size_t)items[i].place;
        if (!is_repeat(items, i)) {
            table->keys[++row] = items[i].key;
            put_pages(table, table->count, row, 1);
            put_pages(table, table->last, row, page->number);
            if (page->owners)
                table->owner_keys[row] = UINT64_MAX;
        }
        if (page->owners && page->owners[place] < table->owner_keys[row])
            table->owner_keys[row] = page->owners[place];
        for (size_t j = 0; j < width; j++)
            table->sums[row * width + j] += page->sums[place * width + j];
    }
    return 1;
}

static PyObject *of_page(PyObject *type, PyObject *arguments, PyObject *named)
{
    static char *names[] = {"keys", "page", "owner", "sums", NULL};
    PyObject *objects[ARRAYS] = {Py_None, Py_None, Py_None, Py_None, Py_None}, *table = NULL;
    View views[ARRAYS];
    long long number = 1;
    size_t rows, width;
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "O|LOO:of_page", names, &objects[KEYS], &number,
                                     &objects[OWNERS], &objects[SUMS]) ||
        !check_pages(number) || !open_arrays(objects, views, &rows, &width))
        return NULL;
    PageKeys page = {views[KEYS].buffer.buf, views[OWNERS].buffer.buf, views[SUMS].buffer.buf, rows, width,
                     (uint32_t)number};
    Keyed *items = malloc((2 * rows + 1) * sizeof(Keyed));
    table = (PyObject *)empty_table(type);
    if (table && (!items || !fill_of_page((Table *)table, &page, items))) {
        Py_CLEAR(table);
        PyErr_NoMemory();
    }
    free(items);
    close_views(views, ARRAYS);
    return table;
}

/* The table of one page that has this key alone. */
static PyObject *of_key(PyObject *type, PyObject *given)
{
    uint64_t key = PyLong_AsUnsignedLongLong(given);
    Table *table = PyErr_Occurred() ? NULL : make_table(type, 1, 0, 0, 1);
    if (table) {
        table->keys[0] = key;
        table->count[0] = table->last[0] = 1;
    }
    return (PyObject *)table;
}

/* --- asked, and cut down --- */

/* The least key; None without one. An array of numpy for it would take ten times as long. */
static PyObject *least_key(PyObject *self, void *name)
{
    (void)name;
    const Table *table = (const Table *)self;
    if (!table->rows)
        Py_RETURN_NONE;
    return PyLong_FromUnsignedLongLong(table->keys[0]);
}

static PyObject *only(PyObject *self, PyObject *kept)
{
    Table *table = (Table *)self, *to = NULL;
    View view;
    if (!open_views(&view, &kept, "B"))
        return NULL;
    const uint8_t *is_kept = view.buffer.buf;
    size_t rows = 0;
    for (size_t i = 0; i < (size_t)view.buffer.len; i++)
        rows += is_kept[i] != 0;
    if ((size_t)view.buffer.len != table->rows)
        PyErr_SetString(PyExc_ValueError, "only: not one flag for each key");
    else if (rows == table->rows)
        to = (Table *)Py_NewRef(self);
    else if ((to = make_table((PyObject *)Py_TYPE(self), rows, table->has_owners, table->width, table->most))) {
        size_t at = 0;
        for (size_t i = 0, first; i < table->rows; i++) {
            for (first = i; i < table->rows && is_kept[i];)
                i++;
            at = put_rows(to, at, table, first, i - first, 0);
        }
    }
    close_views(&view, 1);
    return (PyObject *)to;
}

/* The rows that are not past their life time: `lives` says by their count for how many pages they are kept that they
   do not come back on. */
static PyObject *alive(PyObject *self, PyObject *arguments)
{
    const Table *table = (const Table *)self;
    PyObject *lives, *flags = NULL, *kept = NULL;
    long long pages;
    View view;
    if (!PyArg_ParseTuple(arguments, "OL", &lives, &pages) || !check_pages(pages) || !open_views(&view, &lives, "d"))
        return NULL;
    size_t counts = (size_t)view.buffer.len / sizeof(double), gone = 0;
    if (!counts)
        PyErr_SetString(PyExc_ValueError, "alive: no life times");
    else
        flags = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)table->rows);
    for (size_t i = 0; i < table->rows && flags; i++) {
        size_t count = count_at(table, i) < counts ? count_at(table, i) : counts - 1;
        int is_gone = ((const double *)view.buffer.buf)[count] < (double)pages - last_at(table, i);
        PyBytes_AsString(flags)[i] = !is_gone;
        gone += is_gone;
    }
    close_views(&view, 1);
    if (flags)
        kept = gone ? only(self, flags) : Py_NewRef(self);
    Py_XDECREF(flags);
    return kept;
}

/* An array of numpy over memory that `owner` shows; NULL with an exception set. */
static PyObject *array_of(PyObject *owner, const char *kind, size_t count, size_t first)
{
    PyObject *numpy = PyImport_ImportModule("numpy");
    if (!numpy)
        return NULL;
    PyObject *array = PyObject_CallMethod(numpy, "frombuffer", "Osnn", owner, kind, (Py_ssize_t)count,
                                          (Py_ssize_t)first);
    Py_DECREF(numpy);
    return array;
}

static PyObject *counts_of(PyObject *self, PyObject *keys)
{
    View view;
    if (!open_views(&view, &keys, "Q"))
        return NULL;
    size_t count = (size_t)view.buffer.len / 8;
    PyObject *memory = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(4 * count)), *array = NULL;
    if (memory) {
        uint32_t *counts = (uint32_t *)PyByteArray_AsString(memory);
        for (size_t i = 0; i < count; i++)
            counts[i] = count_of((Table *)self, ((const uint64_t *)view.buffer.buf)[i]);
        array = array_of(memory, "u4", count, 0);
        Py_DECREF(memory);
    }
    close_views(&view, 1);
    return array;
}

/* The row of a key: on how many pages it was, and its sums; None for a key that is not there. */
static PyObject *row_at(PyObject *self, PyObject *key)
{
    const Table *table = (const Table *)self;
    uint64_t wanted = PyLong_AsUnsignedLongLong(key);
    size_t row = PyErr_Occurred() ? SIZE_MAX : row_of(table, wanted);
    if (row == SIZE_MAX)
        return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    PyObject *found = PyTuple_New(1 + (Py_ssize_t)table->width);
    for (size_t i = 0; i <= table->width && found; i++) {
        PyObject *number = PyLong_FromUnsignedLongLong(i ? table->sums[row * table->width + i - 1] : count_at(table, row));
        if (!number || PyTuple_SetItem(found, (Py_ssize_t)i, number) < 0)
            Py_CLEAR(found);
    }
    return found;
}

/* --- what Python sees --- */

/* A column as an array of numpy. */
static PyObject *column_of(PyObject *self, void *closure)
{
    const Column *column = closure;
    const uint8_t *first;
    Owner *owner = (Owner *)self;
    memcpy(&first, (char *)self + column->pointer, sizeof(first));
    return array_of(self, "u8", owner->counts[column->count], (size_t)(first - owner->memory));
}

/* Numbers of pages as an array of numpy, of four bytes each however few they take here. */
static PyObject *pages_of(PyObject *self, void *closure)
{
    const Table *table = (const Table *)self;
    const uint8_t *column = closure == &columns[3] ? table->count : table->last;
    PyObject *narrow = array_of(self, table->item == 1 ? "u1" : table->item == 2 ? "u2" : "u4", table->rows,
                                (size_t)(column - table->owner.memory));
    PyObject *array = narrow && table->item < 4 ? PyObject_CallMethod(narrow, "astype", "s", "u4") : NULL;
    if (!narrow || table->item == 4)
        return narrow;
    Py_DECREF(narrow);
    return array;
}

static PyObject *owners_of(PyObject *self, void *closure)
{
    return ((Table *)self)->has_owners ? column_of(self, closure) : Py_NewRef(Py_None);
}

static PyObject *sums_of(PyObject *self, void *closure)
{
    Table *table = (Table *)self;
    if (!table->width)
        Py_RETURN_NONE;
    PyObject *flat = column_of(self, closure);
    PyObject *rows = flat ? PyObject_CallMethod(flat, "reshape", "nn", (Py_ssize_t)table->rows,
                                                (Py_ssize_t)table->width)
                          : NULL;
    Py_XDECREF(flat);
    return rows;
}

/* As if numbers of pages took four bytes: what a site may hold does not hang on how many pages it has. */
static PyObject *size_of(PyObject *self, void *name)
{
    (void)name;
    const Table *table = (const Table *)self;
    return PyLong_FromSize_t(table->owner.size + 2 * table->rows * (4 - table->item));
}

static Py_ssize_t count_rows(PyObject *self)
{
    return (Py_ssize_t)((Table *)self)->rows;
}

static PyGetSetDef attributes[] = {
    {"keys", column_of, NULL, NULL, (void *)&columns[0]},
    {"owner", owners_of, NULL, "Of each key another that it belongs to, or None.", (void *)&columns[1]},
    {"sums", sums_of, NULL, "Of each key a row of numbers that add up over its pages, or None.", (void *)&columns[2]},
    {"count", pages_of, NULL, "On how many pages each key was.", (void *)&columns[3]},
    {"last", pages_of, NULL, "The number of the last of them.", (void *)&columns[4]},
    {"least_key", least_key, NULL, "The first of the keys, or None.", NULL},
    {"size_bytes", size_of, NULL, "What the table holds in memory, at most.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

/* --- saved --- */

/* How many bytes the largest of these numbers needs: 1, 2, 4 or 8. */
static size_t width_of(uint64_t largest)
{
    return largest >> 32 ? 8 : largest >> 16 ? 4 : largest >> 8 ? 2 : 1;
}

/* How many bytes the counts need; none where all are 1, as in the memory of one page. */
static size_t count_width(const Table *table, const uint8_t *column)
{
    uint32_t largest = 0, others = 0;
    for (size_t i = 0; i < table->rows; i++) {
        uint32_t number = pages_at(table, column, i);
        largest = number > largest ? number : largest;
        others |= number ^ 1;
    }
    return others ? width_of(largest) : 0;
}

static unsigned char *put_number(unsigned char *to, uint64_t number, size_t width)
{
    for (size_t i = 0; i < width; i++)
        *to++ = (unsigned char)(number >> 8 * i);
    return to;
}

/* The table as it is saved, keys and owners seeded: its shape, and its arrays one behind another. */
static PyObject *saved(PyObject *self, PyObject *seeded)
{
    const Table *table = (const Table *)self;
    uint64_t seed = PyLong_AsUnsignedLongLong(seeded), largest = 0;
    if (PyErr_Occurred())
        return NULL;
    size_t numbers = table->rows * table->width;
    for (size_t i = 0; i < numbers; i++)
        largest = table->sums[i] > largest ? table->sums[i] : largest;
    size_t count = count_width(table, table->count), last = count_width(table, table->last);
    size_t sum = table->width ? width_of(largest) : 0;
    size_t row = 8 + count + last + (table->has_owners ? 8 : 0);
    PyObject *body = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(table->rows * row + numbers * sum));
    if (!body)
        return NULL;
    unsigned char *to = (unsigned char *)PyBytes_AsString(body);
    for (size_t i = 0; i < table->rows; i++)
        to = put_number(to, table->keys[i] ^ seed, 8);
    for (size_t i = 0; count && i < table->rows; i++)
        to = put_number(to, count_at(table, i), count);
    for (size_t i = 0; last && i < table->rows; i++)
        to = put_number(to, last_at(table, i), last);
    for (size_t i = 0; table->has_owners && i < table->rows; i++)
        to = put_number(to, table->owner_keys[i] ^ seed, 8);
    for (size_t i = 0; i < numbers; i++)
        to = put_number(to, table->sums[i], sum);
    return Py_BuildValue("[nOnnnn]N", (Py_ssize_t)table->rows, table->has_owners ? Py_True : Py_False,
                         (Py_ssize_t)table->width, (Py_ssize_t)count, (Py_ssize_t)last, (Py_ssize_t)sum, body);
}

static PyMethodDef methods[] = {
    {"of_page", (PyCFunction)(void (*)(void))of_page, METH_VARARGS | METH_KEYWORDS | METH_CLASS,
     "The table of one page. A key that stands there twice counts once, its sums added up; of two owners the "
     "lesser stays."},
    {"of_key", of_key, METH_O | METH_CLASS, "The table of one page that has this key alone."},
    {"plus", plus, METH_O, "Both tables added up."},
    {"then", then, METH_VARARGS, "This table of so many pages and the one of later pages, added up."},
    {"only", only, METH_O, "The rows where `kept` is true."},
    {"alive", alive, METH_VARARGS, "The rows that are not past their life time, which `lives` gives by count."},
    {"saved", saved, METH_O, "The shape of the table as it is saved, and its arrays; keys and owners are seeded."},
    {"row", row_at, METH_O, "On how many pages a key was, and its sums; None for a key that is not there."},
    {"counts_of", counts_of, METH_O, "On how many pages each of the keys was."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    OWNER_SLOTS,
    {Py_tp_new, (void *)new_table},
    {Py_tp_doc, "Keys in ascending order, each with the pages it was on and the last of them."},
    {Py_tp_getset, attributes},
    {Py_tp_methods, methods},
    {Py_sq_length, (void *)count_rows},
    {0, NULL},
};

PyType_Spec table_spec = {"dehusk._kernel.Table", sizeof(Table), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, slots};
