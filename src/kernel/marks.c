/* `marks`: what Markdown must know of a page before it is planned. The twin of
   `dehusk.render.marks.marks_of`. */

#include "kernel.h"

/* What a tag is, by its number: the bits of `marks.MARK_KINDS`. */
enum { IS_IMAGE = 1, IS_HEADING = 2, IS_LINK = 4 };


typedef struct {
    Bytes kinds;
    const int16_t *tag;
    const int32_t *end, *text_length;
    const uint8_t *shown;
    const int8_t *labels;
    size_t count;
    int32_t most; /* Characters beyond which a link says something. */
} Page;

static int find_marks(const Page *page, PyObject *images, PyObject *links)
{
    int32_t reach = 0; /* Where the headings so far have all ended. */
    for (size_t i = 0; i < page->count; i++) {
        int16_t tag = page->tag[i];
        uint8_t kind = tag >= 0 && (size_t)tag < page->kinds.size ? page->kinds.bytes[tag] : 0;
        if (!kind)
            continue;
        if (kind & IS_IMAGE && page->shown[i] && page->labels[i] == LABEL_CONTENT &&
            !append_number(images, i))
            return 0;
        if (kind & IS_LINK && reach > (int32_t)i && page->text_length[i] <= page->most &&
            !append_number(links, i))
            return 0;
        if (kind & IS_HEADING && page->end[i] > reach)
            reach = page->end[i];
    }
    return 1;
}

#define GIVEN 6

PyObject *kernel_marks(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    static const Py_ssize_t sizes[] = {2, 4, 4, 1, 1};
    View views[GIVEN];
    long most = count >= 1 || check_count("marks", count, 1) ? PyLong_AsLong(arguments[0]) : 0;
    if (PyErr_Occurred() || !open_all("marks", views, GIVEN, arguments + 1, count - 1))
        return NULL;
    PyObject *found = NULL, *images = PyList_New(0), *links = PyList_New(0);
    Py_ssize_t nodes = views[5].buffer.len;
    Page page = {bytes_of(&views[0]),  views[1].buffer.buf, views[2].buffer.buf,
                 views[3].buffer.buf,  views[4].buffer.buf, views[5].buffer.buf,
                 (size_t)nodes, (int32_t)most};
    if (images && links && check_sizes("marks", views + 1, sizes, 5, nodes) &&
        find_marks(&page, images, links))
        found = Py_BuildValue("(OO)", images, links);
    Py_XDECREF(images);
    Py_XDECREF(links);
    close_views(views, GIVEN);
    return found;
}
