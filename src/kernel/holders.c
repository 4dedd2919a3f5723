/* `holders`: elements that a page leaves empty for its scripts. The twin of `_emptied` of
   `dehusk.describe.scripted`. */

#include "kernel.h"

/* What a tag is, by its number: the bits of `scripted.SCRIPTED_KINDS`. */
enum { IS_HOLDER = 1, IS_IMAGE = 2 };

typedef struct {
    Bytes source, kinds;
    const int16_t *tag;
    const int32_t *end, *text_length, *start, *stop;
    const uint8_t *shown;
    size_t count;
} Page;

static uint8_t kind_of(const Page *page, size_t node)
{
    return kind_in(page->kinds, page->tag[node]);
}

/* Has the start tag an id, as far as can be told by its bytes? */
static int has_id(const Page *page, size_t node)
{
    size_t start = (size_t)page->start[node], stop = (size_t)page->stop[node];
    for (size_t at = start; at + 5 <= stop; at++)
        if (memcmp(page->source.bytes + at, " id=\"", 5) == 0)
            return 1;
    return 0;
}

/* The empty holders, in document order, and whether an image is shown; NULL with an exception set. */
static PyObject *holders_of(const Page *page, int *has_image)
{
    size_t next_image = page->count; /* From the last node on, so that it is known what stands inside. */
    PyObject *found = PyList_New(0);
    *has_image = 0;
    for (size_t i = page->count; i-- && found;) {
        uint8_t kind = kind_of(page, i);
        if (kind & IS_IMAGE) {
            next_image = i;
            *has_image |= page->shown[i];
        }
        if (kind & IS_HOLDER && page->shown[i] && !page->text_length[i] &&
            next_image >= (size_t)page->end[i] && has_id(page, i) && !append_number(found, i))
            Py_CLEAR(found);
    }
    if (found && PyList_Reverse(found) < 0)
        Py_CLEAR(found);
    return found;
}

/* Do all nodes lie in the source, and all that is below one among the nodes? */
static int fits(const Page *page)
{
    for (size_t i = 0; i < page->count; i++)
        if (page->start[i] < 0 || page->stop[i] < page->start[i] ||
            (size_t)page->stop[i] > page->source.size || page->end[i] < 0 ||
            (size_t)page->end[i] > page->count) {
            PyErr_SetString(PyExc_ValueError, "holders: a node lies outside of the page");
            return 0;
        }
    return 1;
}

#define GIVEN 8

PyObject *kernel_holders(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    static const Py_ssize_t sizes[] = {2, 4, 4, 4, 4, 1};
    View views[GIVEN];
    if (count < 1 && !check_count("holders", count, 1))
        return NULL;
    long most = PyLong_AsLong(arguments[0]);
    if (PyErr_Occurred() || !open_all("holders", views, GIVEN, arguments + 1, count - 1))
        return NULL;
    PyObject *found = NULL, *list;
    Py_ssize_t nodes = views[GIVEN - 1].buffer.len;
    if (check_sizes("holders", views + 2, sizes, 6, nodes)) {
        Page page = {bytes_of(&views[0]),  bytes_of(&views[1]),  views[2].buffer.buf,
                     views[3].buffer.buf,  views[4].buffer.buf,  views[5].buffer.buf,
                     views[6].buffer.buf,  views[7].buffer.buf,  (size_t)nodes};
        int32_t shown = nodes ? page.text_length[0] : 0;
        int has_image;
        if (shown >= most)
            found = Py_NewRef(Py_None);
        else if (fits(&page) && (list = holders_of(&page, &has_image)))
            found = Py_BuildValue("(iNO)", (int)shown, list, has_image ? Py_True : Py_False);
    }
    close_views(views, GIVEN);
    return found;
}
