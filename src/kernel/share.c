/* `tagged` and `share`: what is asked of the tags and lengths of a page alone. */

#include "tags.h"
#include "tree.h"

PyObject *kernel_tagged(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    const Tree *tree = check_count("tagged", count, 2) ? given_tree(module, arguments[0]) : NULL;
    long wanted = tree ? PyLong_AsLong(arguments[1]) : 0;
    if (PyErr_Occurred())
        return NULL;
    PyObject *found = PyList_New(0);
    for (size_t i = 0; i < tree->count && found; i++)
        if (tree->tag[i] == wanted && !append_number(found, i))
            Py_CLEAR(found);
    return found;
}

PyObject *kernel_share(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    View view;
    const Tree *tree = check_count("share", count, 2) ? given_tree(module, arguments[0]) : NULL;
    if (!tree || !open_of_nodes(&view, arguments[1], tree, 'B'))
        return NULL;
    const int8_t *labels = view.buffer.buf;
    int64_t template = 0;
    for (size_t i = 0; i < tree->count; i++)
        template += tree->tag[i] == TAG_TEXT && labels[i] == LABEL_TEMPLATE ? tree->text_length[i] : 0;
    int64_t shown = tree->count ? tree->text_length[0] : 0;
    close_views(&view, 1);
    return PyFloat_FromDouble(shown ? (double)template / (double)shown : 0.0);
}
