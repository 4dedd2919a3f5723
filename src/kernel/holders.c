/* `holders`: elements that a page leaves empty for its scripts, as `dehusk.answer.describe` asks. */

#include "tags.h"
#include "tree.h"

/* Has the start tag an id, as far as can be told by its bytes? */
static int has_id(const Tree *page, size_t node)
{
    size_t start = (size_t)page->start[node], stop = (size_t)page->stop[node];
    for (size_t at = start; at + 5 <= stop; at++)
        if (memcmp(page->source.bytes + at, " id=\"", 5) == 0)
            return 1;
    return 0;
}

/* The empty holders, in document order, and whether an image is shown; NULL with an exception set. */
static PyObject *holders_of(const Tree *page, int *has_image)
{
    size_t next_image = page->count; /* From the last node on, so that it is known what stands inside. */
    PyObject *found = PyList_New(0);
    *has_image = 0;
    for (size_t i = page->count; i-- && found;) {
        uint32_t sets = tag_sets[page->tag[i]];
        if (sets & SET_PICTURE) {
            next_image = i;
            *has_image |= page->shown[i];
        }
        if (sets & SET_HOLDER && page->shown[i] && !page->text_length[i] &&
            next_image >= (size_t)page->end[i] && has_id(page, i) && !append_number(found, i))
            Py_CLEAR(found);
    }
    if (found && PyList_Reverse(found) < 0)
        Py_CLEAR(found);
    return found;
}

PyObject *kernel_holders(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    int has_image;
    const Tree *tree = check_count("holders", count, 1) ? given_tree(module, arguments[0]) : NULL;
    PyObject *found = tree ? holders_of(tree, &has_image) : NULL;
    return found ? Py_BuildValue("(NO)", found, has_image ? Py_True : Py_False) : NULL;
}
