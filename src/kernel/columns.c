/* Objects that own named columns. */

#include "columns.h"

#include <stdlib.h>

static size_t column_size(const Owner *owner, const Column *column)
{
    return owner->counts[column->count] * column->item * column->width;
}

int lay_out(void *of, const size_t *counts)
{
    Owner *owner = of;
    for (const Column *column = owner->columns; column->name; column++)
        owner->counts[column->count] = counts[column->count];
    for (const Column *column = owner->columns; column->name; column++)
        owner->size += column_size(owner, column);
    owner->memory = malloc(owner->size + 1);
    uint8_t *at = owner->memory;
    for (const Column *column = owner->columns; column->name && at; column++) {
        memcpy((char *)owner + column->pointer, &at, sizeof(at));
        at += column_size(owner, column);
    }
    return owner->memory != NULL;
}

void *new_owner(PyObject *type, const Column *columns, PyObject *held)
{
    Owner *owner = (Owner *)PyType_GenericAlloc((PyTypeObject *)type, 0);
    if (owner) {
        owner->columns = columns;
        owner->held = held ? Py_NewRef(held) : NULL;
    }
    return owner;
}

void *make_owner(PyObject *type, const Column *columns, const size_t *counts, PyObject *held)
{
    Owner *owner = new_owner(type, columns, held);
    if (owner && !lay_out(owner, counts)) {
        Py_DECREF(owner);
        return PyErr_NoMemory();
    }
    return owner;
}

void *given_owner(PyObject *object, PyObject *type)
{
    if (PyObject_TypeCheck(object, (PyTypeObject *)type))
        return object;
    PyErr_Format(PyExc_TypeError, "not an object of %R: %R", type, object);
    return NULL;
}

void free_owner(PyObject *self)
{
    Owner *owner = (Owner *)self;
    PyTypeObject *type = Py_TYPE(self);
    free(owner->memory);
    Py_XDECREF(owner->held);
    PyObject_Free(self);
    Py_DECREF(type);
}

int view_owner(PyObject *self, Py_buffer *view, int flags)
{
    Owner *owner = (Owner *)self;
    return PyBuffer_FillInfo(view, self, owner->memory, (Py_ssize_t)owner->size, 1, flags);
}

/* The bytes of a column as items of its type, in rows where a row has more than one. */
static PyObject *cast(const Owner *owner, const Column *column, PyObject *bytes)
{
    Py_ssize_t rows = (Py_ssize_t)owner->counts[column->count];
    if (column->width == 1 || !rows)
        return PyObject_CallMethod(bytes, "cast", "s", column->format);
    return PyObject_CallMethod(bytes, "cast", "s(nn)", column->format, rows, (Py_ssize_t)column->width);
}

PyObject *view_column(PyObject *self, void *name)
{
    const Owner *owner = (const Owner *)self;
    const Column *column = owner->columns;
    size_t first = 0;
    while (strcmp(column->name, name) != 0)
        first += column_size(owner, column++);
    PyObject *whole = PyMemoryView_FromObject(self), *bytes = NULL, *found = NULL;
    if (whole)
        bytes = PySequence_GetSlice(whole, (Py_ssize_t)first,
                                    (Py_ssize_t)(first + column_size(owner, column)));
    if (bytes)
        found = cast(owner, column, bytes);
    Py_XDECREF(whole);
    Py_XDECREF(bytes);
    return found;
}
