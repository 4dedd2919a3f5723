/* `tagged` and `share`: what is asked of the tags and lengths of a page alone. The twins are
   `_bases` of `dehusk.urls` and `dehusk.render.share.template_share`. */

#include "kernel.h"


PyObject *kernel_tagged(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    View view;
    if (count < 1 && !check_count("tagged", count, 1))
        return NULL;
    long wanted = PyLong_AsLong(arguments[0]);
    if (PyErr_Occurred() || !open_all("tagged", &view, 1, arguments + 1, count - 1))
        return NULL;
    PyObject *found = PyList_New(0);
    const int16_t *tag = view.buffer.buf;
    for (size_t i = 0; i < (size_t)view.buffer.len / 2 && found; i++)
        if (tag[i] == wanted && !append_number(found, i))
            Py_CLEAR(found);
    close_views(&view, 1);
    return found;
}

PyObject *kernel_share(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    static const Py_ssize_t sizes[] = {2, 4, 1};
    View views[3];
    if (!open_all("share", views, 3, arguments, count))
        return NULL;
    PyObject *found = NULL;
    Py_ssize_t nodes = views[2].buffer.len;
    if (check_sizes("share", views, sizes, 3, nodes)) {
        const int16_t *tag = views[0].buffer.buf;
        const int32_t *length = views[1].buffer.buf;
        const int8_t *labels = views[2].buffer.buf;
        int64_t template = 0;
        for (Py_ssize_t i = 0; i < nodes; i++)
            template += tag[i] == 0 && labels[i] == LABEL_TEMPLATE ? length[i] : 0;
        found = Py_BuildValue("(Ll)", (long long)template, nodes ? (long)length[0] : 0L);
    }
    close_views(views, 3);
    return found;
}
