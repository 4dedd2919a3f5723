/* Objects that own named columns: arrays that stand one behind another in one piece of memory, which the
   kernel fills, hands on by name, and shows to Python as memoryviews that nobody can write to.

   How to make one, as `Tree` in tree.h and tree.c:

   1. List the columns once, those of the largest items first, so that each is aligned. Of each its name, the
      type of its items, the letter that `struct` has for that, which of the object's counts says how many
      rows it has, and the items of a row:

          #define TREE_COLUMNS(COLUMN)             \
              COLUMN(own_hash, uint64_t, "Q", 0, 1) \
              COLUMN(parent, int32_t, "i", 0, 1)

   2. The object has a pointer to each of them, behind what all such objects have:

          typedef struct {
              Owner owner;
              TREE_COLUMNS(COLUMN_POINTER)
          } Tree;

   3. A table of them, and attributes of the same names for Python, behind `#define OWNER Tree`:

          static const Column columns[] = {TREE_COLUMNS(COLUMN_ENTRY) NO_COLUMN};
          static PyGetSetDef attributes[] = {TREE_COLUMNS(COLUMN_ATTRIBUTE) {NULL, NULL, NULL, NULL, NULL}};
          static PyType_Slot slots[] = {OWNER_SLOTS, {Py_tp_getset, attributes}, {0, NULL}};
          PyType_Spec tree_spec = {"dehusk._kernel.Tree", sizeof(Tree), 0, OWNER_FLAGS, slots};

   4. A place for the type in `Types` (kernel.h), and a line in `add_types` (kernel.c).

   5. `make_owner` makes one, its pointers set, its rows still to be filled; `given_owner` finds the one that
      Python handed in. Nobody writes to it once Python has seen it: what is in it needs no check. */

#ifndef DEHUSK_COLUMNS_H
#define DEHUSK_COLUMNS_H

#include "kernel.h"

#define MAX_COLUMN_COUNTS 4

typedef struct {
    const char *name, *format;
    size_t item, width; /* Bytes of an item, items of a row. */
    size_t count;       /* Which of the counts says how many rows there are. */
    size_t pointer;     /* Where the object has its pointer. */
} Column;

typedef struct {
    PyObject_HEAD
    const Column *columns;
    size_t counts[MAX_COLUMN_COUNTS];
    uint8_t *memory;
    size_t size;
    PyObject *held; /* What the columns tell places in, as a tree of its source; or NULL. */
} Owner;

#define COLUMN_POINTER(name, type, format, count, width) type *name;
#define COLUMN_ENTRY(name, type, format, count, width) \
    {#name, format, sizeof(type), width, count, offsetof(OWNER, name)},
#define COLUMN_ATTRIBUTE(name, type, format, count, width) {#name, view_column, NULL, NULL, (void *)#name},
#define NO_COLUMN {NULL, NULL, 0, 0, 0, 0}
#define OWNER_FLAGS (Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE)
#define OWNER_SLOTS {Py_tp_dealloc, (void *)free_owner}, {Py_bf_getbuffer, (void *)view_owner}

/* An object of a type with so many rows; it holds on to `held`, unless that is NULL. NULL with an exception
   set. */
void *make_owner(PyObject *type, const Column *columns, const size_t *counts, PyObject *held);

/* The same in two steps, for what is counted without the interpreter's lock: an object without columns, and memory
   for them, each found by its pointer; 0 without memory. */
void *new_owner(PyObject *type, const Column *columns, PyObject *held);
int lay_out(void *owner, const size_t *counts);

/* The object, if it is of that type; NULL with an exception set. */
void *given_owner(PyObject *object, PyObject *type);

/* For the slots of a type. The buffer of such an object is all of its memory. */
void free_owner(PyObject *self);
int view_owner(PyObject *self, Py_buffer *view, int flags);
PyObject *view_column(PyObject *self, void *name);

#endif
