/* What the parts of the kernel share: Python's limited interface, and views of arrays. */

#ifndef DEHUSK_KERNEL_H
#define DEHUSK_KERNEL_H

#include <Python.h>

#include "bytes.h"

typedef struct TagNames TagNames;

/* What the module keeps: the types of its objects, and tables. */
typedef struct {
    PyObject *tree, *reading, *opinion, *judgement, *network, *table, *lexicon;
    TagNames *tag_names;
} Types;

static inline Types *types_of(PyObject *module)
{
    return PyModule_GetState(module);
}

/* What two threads may do at a time with one object is done with it locked, where the interpreter has no lock of its
   own. Between the two nothing may let other threads run: it would unlock the object too. */
#ifdef Py_GIL_DISABLED
#define BEGIN_ALONE(object) Py_BEGIN_CRITICAL_SECTION(object);
#define END_ALONE Py_END_CRITICAL_SECTION();
#else
#define BEGIN_ALONE(object) {
#define END_ALONE }
#endif

/* The memory of bytes that Python handed in, or of a copy of any other array. Other threads could write to it between a
   check and what rests on it: numpy does so without the interpreter's lock. */
typedef struct {
    Py_buffer buffer;
    void *shared; /* The memory of the array itself, if there is a copy; or NULL. */
} View;

/* A view of an array of the type that `struct` has this letter for, or of bytes that hold such items; "B" takes
   all that has items of a byte. 0 with an exception set if it is another, or has no contiguous memory. */
int open_array(View *view, PyObject *object, char type);

/* The same of several, a letter for each. */
int open_views(View *views, PyObject *const *objects, const char *types);
void close_views(View *views, size_t count);

/* Are there so many arguments? Has each view so many bytes for each of the items? 0 with an
   exception set if not. */
int check_count(const char *function, Py_ssize_t count, Py_ssize_t wanted);
int check_sizes(const char *function, const View *views, const Py_ssize_t *sizes, size_t count,
                Py_ssize_t items);

/* Append a number to a list of Python's; 0 with an exception set. */
int append_number(PyObject *list, size_t number);

/* What a node is: `dehusk.answer.labels.Label`. */
enum { LABEL_CONTENT = 0, LABEL_TEMPLATE = 1, LABEL_HIDDEN = 2 };

static inline Bytes bytes_of(const View *view)
{
    return (Bytes){view->buffer.buf, (size_t)view->buffer.len};
}

PyObject *kernel_scan(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *kernel_build(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *kernel_label(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *kernel_confidence_features(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *kernel_fingerprint(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *kernel_formula_signs(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *kernel_heading(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *kernel_holders(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *kernel_image_source(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *kernel_images(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *kernel_lines(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *kernel_map_large(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *kernel_trim(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *kernel_one_line(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *kernel_markdown(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *kernel_links(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *kernel_short_anchors(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *kernel_visible(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *kernel_characters(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *kernel_smooth(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *kernel_marked(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *kernel_stated(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *kernel_tagged(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *kernel_text(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *kernel_words(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *kernel_read(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *kernel_opinion(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *kernel_opinion_of_logits(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *kernel_type_features(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *kernel_spread(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *kernel_theme_keys(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *kernel_copies(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *kernel_is_template_new(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *kernel_judge(PyObject *module, PyObject *arguments, PyObject *named);
PyObject *kernel_kind(PyObject *module, PyObject *arguments, PyObject *named);
PyObject *kernel_site_features(PyObject *module, PyObject *arguments, PyObject *named);

/* Give the module the lists of features; 0 with an exception set. */
int add_features(PyObject *module);

#endif
