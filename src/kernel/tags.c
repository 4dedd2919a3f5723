/* Element names: their sets, how they are found by a hash, and what Python is told of them. */

#include "tags.h"

const uint32_t tag_sets[TAG_COUNT] = {
    0,
    SET_HOLDER,
#define TAG(name, sets) sets,
#include "tags.def"
};

static const char *const tag_names[TAG_COUNT] = {
    "#text",
    "#other",
#define TAG(name, sets) #name,
#define CUSTOM(tag, name, sets) name,
#include "tags.def"
};

static const char *const set_names[SET_COUNT] = {
#define SET(name) #name,
#include "tags.def"
};

TagNames *make_tag_names(void)
{
    TagNames *names = PyMem_Calloc(1, sizeof(TagNames));
    if (!names) {
        PyErr_NoMemory();
        return NULL;
    }
    for (int16_t i = TAG_OTHER + 1; i < TAG_COUNT; i++) {
        char written[32];
        size_t size = (size_t)PyOS_snprintf(written, sizeof(written), "%s>", tag_names[i]);
        names->hashes[i] = hash_name((Bytes){(const uint8_t *)written, size}, 0, size - 1);
        int16_t *number = &names->numbers[names->hashes[i] >> 48];
        if (*number) {
            PyErr_Format(PyExc_SystemError, "<%s> has the place of <%s>", tag_names[i], tag_names[*number]);
            PyMem_Free(names);
            return NULL;
        }
        *number = i;
    }
    return names;
}

/* The names of a set, of all tags for 0, as a tuple; NULL with an exception set. */
static PyObject *names_in(uint32_t set)
{
    PyObject *found = PyList_New(0), *names = NULL;
    for (size_t i = 0; i < TAG_COUNT && found; i++) {
        PyObject *name = !set || tag_sets[i] & set ? PyUnicode_FromString(tag_names[i]) : Py_NewRef(Py_None);
        if (!name || (name != Py_None && PyList_Append(found, name) < 0))
            Py_CLEAR(found);
        Py_XDECREF(name);
    }
    if (found)
        names = PyList_AsTuple(found);
    Py_XDECREF(found);
    return names;
}

int add_tags(PyObject *module)
{
    PyObject *names = names_in(0), *sets = PyDict_New();
    int is_done = names && sets;
    for (size_t i = 0; i < SET_COUNT && is_done; i++) {
        PyObject *members = names_in(1u << i);
        is_done = members && PyDict_SetItemString(sets, set_names[i], members) == 0;
        Py_XDECREF(members);
    }
    is_done = is_done && PyModule_AddObjectRef(module, "TAG_NAMES", names) == 0 &&
              PyModule_AddObjectRef(module, "TAG_SETS", sets) == 0;
    Py_XDECREF(names);
    Py_XDECREF(sets);
    return is_done;
}
