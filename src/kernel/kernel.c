/* The module `dehusk._kernel`: what dehusk computes for every page, compiled. Nothing here is called by
   users. */

#include "evidence.h"
#include "tags.h"

#include <stdlib.h>

static Py_ssize_t size_of_type(char type)
{
    return strchr("Qd", type) ? 8 : strchr("Iif", type) ? 4 : type == 'H' ? 2 : 1;
}

/* Of which kind numbers of a type are: with a sign, without one, or with a fraction. */
static char kind_of_type(char type)
{
    return strchr("bhilqn", type) ? 'i' : strchr("fd", type) ? 'f' : strchr("BHILQN", type) ? 'u' : type;
}

/* Let the view be of a copy, if others may write to the array; 0 with an exception set. A view that cannot be written to
   may be one of an array that can: only bytes are sure to stay as they are. */
static int keep_still(View *view)
{
    if (PyBytes_CheckExact(view->buffer.obj))
        return 1;
    void *copy = malloc((size_t)view->buffer.len + 1);
    if (!copy) {
        PyErr_NoMemory();
        return 0;
    }
    memcpy(copy, view->buffer.buf, (size_t)view->buffer.len);
    view->shared = view->buffer.buf;
    view->buffer.buf = copy;
    return 1;
}

int open_array(View *view, PyObject *object, char type)
{
    view->shared = NULL;
    if (PyObject_GetBuffer(object, &view->buffer, PyBUF_ND | PyBUF_FORMAT) < 0)
        return 0;
    const char *format = view->buffer.format ? view->buffer.format : "B";
    Py_ssize_t item = view->buffer.itemsize, wanted = size_of_type(type);
    if (view->buffer.len % wanted == 0 &&
        (item == 1 || (item == wanted && kind_of_type(format[strspn(format, "@=<")]) == kind_of_type(type)))) {
        if (keep_still(view))
            return 1;
    } else {
        PyErr_Format(PyExc_ValueError, "an array of '%s', where one of '%c' is wanted", format, type);
    }
    PyBuffer_Release(&view->buffer);
    return 0;
}

int open_views(View *views, PyObject *const *objects, const char *types)
{
    for (size_t i = 0; types[i]; i++) {
        if (!open_array(&views[i], objects[i], types[i])) {
            close_views(views, i);
            return 0;
        }
    }
    return 1;
}

void close_views(View *views, size_t count)
{
    while (count--) {
        if (views[count].shared) {
            free(views[count].buffer.buf);
            views[count].buffer.buf = views[count].shared;
        }
        PyBuffer_Release(&views[count].buffer);
    }
}

int check_count(const char *function, Py_ssize_t count, Py_ssize_t wanted)
{
    if (count == wanted)
        return 1;
    PyErr_Format(PyExc_TypeError, "%s takes %zd arguments", function, wanted);
    return 0;
}

int check_sizes(const char *function, const View *views, const Py_ssize_t *sizes, size_t count,
                Py_ssize_t items)
{
    for (size_t i = 0; i < count; i++) {
        if (items > INT32_MAX || views[i].buffer.len != items * sizes[i]) {
            PyErr_Format(PyExc_ValueError, "%s: array %zu is not of the size of the others",
                         function, i);
            return 0;
        }
    }
    return 1;
}

int append_number(PyObject *list, size_t number)
{
    PyObject *item = PyLong_FromSize_t(number);
    int is_done = item && PyList_Append(list, item) == 0;
    Py_XDECREF(item);
    return is_done;
}

#define FUNCTION(name, text) {#name, (PyCFunction)(void (*)(void))kernel_##name, METH_FASTCALL, text}
#define NAMED_FUNCTION(name, text) \
    {#name, (PyCFunction)(void (*)(void))kernel_##name, METH_VARARGS | METH_KEYWORDS, text}

static PyMethodDef functions[] = {
    FUNCTION(build, "The tree of a page; None if only the parser can build it."),
    FUNCTION(scan, "The tree of a page in canonical HTML."),
    FUNCTION(fingerprint, "The SimHash of a text's words in hex; None if a character is not in the tables."),
    FUNCTION(formula_signs, "The nodes where formulas may be, and whether something sets them."),
    FUNCTION(short_anchors, "The nodes that may refer to footnotes."),
    FUNCTION(heading, "What a heading says, in one line."),
    FUNCTION(holders, "Elements that a page leaves empty for its scripts, and whether it shows an image."),
    FUNCTION(image_source, "Where an image is loaded from; None where no address says it."),
    FUNCTION(images, "The images that a page shows, and what a memory knows each by."),
    FUNCTION(label, "The labels of a page's nodes, and the reasons."),
    FUNCTION(lines, "The content of a labelled page as lines, each with the node that it begins with."),
    FUNCTION(one_line, "JSON without white space as it is written on a line, and nothing in it that ends one."),
    FUNCTION(map_large, "From now on large pieces of memory go back to the system as soon as they are freed."),
    FUNCTION(trim, "Give memory that is free back to the system."),
    FUNCTION(markdown, "The content of a labelled page as Markdown."),
    FUNCTION(marked, "Where a page may show its dates and its authors."),
    FUNCTION(links, "The links of a page that lead somewhere, in an array of JSON."),
    FUNCTION(visible, "How many characters of each text of a page are seen."),
    FUNCTION(characters, "How many characters of a page are seen, and how many of them are template."),
    FUNCTION(smooth, "The level of each node of a forest in a solution of least cost."),
    FUNCTION(stated, "What the elements say that a page describes itself with."),
    FUNCTION(tagged, "The nodes with a tag."),
    FUNCTION(text, "The content of a labelled page as text, U+0000 for cuts, and whether that is all."),
    FUNCTION(words, "The hash of each word of a text; None if a character is not in the tables."),
    FUNCTION(read, "A page as auto reads it."),
    FUNCTION(opinion, "What the page network says of each block, and what the page teaches."),
    FUNCTION(opinion_of_logits, "The same with logits from elsewhere."),
    NAMED_FUNCTION(judge, "What page and site come to, block by block; the site has learned the page."),
    NAMED_FUNCTION(kind, "The probabilities of a page's types, whether it was the last one, its family."),
    NAMED_FUNCTION(site_features, "What the site network reads of each block."),
    FUNCTION(type_features, "What the type network reads of a page."),
    FUNCTION(confidence_features, "What is read of a page to tell how good its answer may be."),
    FUNCTION(spread, "Numbers of blocks at their texts, and for elements the means below them."),
    FUNCTION(theme_keys, "The elements of a page as the atlas of themes knows them."),
    FUNCTION(copies, "How many pages of a site say what a page says, or were at its address."),
    FUNCTION(is_template_new, "Does the page that was learned last show that the site has a new template?"),
    {NULL, NULL, 0, NULL},
};

/* Make a type; 0 with an exception set. */
static int add_type(PyObject *module, PyType_Spec *spec, PyObject **type)
{
    *type = PyType_FromSpec(spec);
    return *type && PyModule_AddType(module, (PyTypeObject *)*type) == 0;
}

static int add_types(PyObject *module)
{
    Types *types = types_of(module);
    prepare_letters();
    return (types->tag_names = make_tag_names()) && add_tags(module) && add_features(module) && add_type(module, &tree_spec, &types->tree) &&
                   add_type(module, &reading_spec, &types->reading) &&
                   add_type(module, &opinion_spec, &types->opinion) &&
                   add_type(module, &judgement_spec, &types->judgement) &&
                   add_type(module, &network_spec, &types->network) &&
                   add_type(module, &table_spec, &types->table) &&
                   add_type(module, &lexicon_spec, &types->lexicon)
               ? 0
               : -1;
}

static void free_types(void *module)
{
    Types *types = types_of(module);
    if (types) {
        PyMem_Free(types->tag_names);
        Py_XDECREF(types->tree);
        Py_XDECREF(types->reading);
        Py_XDECREF(types->opinion);
        Py_XDECREF(types->judgement);
        Py_XDECREF(types->network);
        Py_XDECREF(types->table);
        Py_XDECREF(types->lexicon);
    }
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)add_types},
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED}, /* Else the interpreter would switch its lock on. */
#endif
    {0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "dehusk._kernel", "What dehusk computes for every page, compiled.", sizeof(Types),
    functions, slots, NULL, NULL, free_types,
};

PyMODINIT_FUNC PyInit__kernel(void);

PyMODINIT_FUNC PyInit__kernel(void)
{
    return PyModuleDef_Init(&module);
}
