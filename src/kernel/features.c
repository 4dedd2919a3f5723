/* The names and meanings of features, for Python. */

#include "kernel.h"

#include "feature_list.h"

typedef struct {
    const char *group, *name, *meaning;
    int first, width, most;
} Feature;

static const Feature page_features[] = {
#define PAGE(NAME, group, name, width, most, meaning) {group, name, meaning, PAGE_##NAME, width, most},
#include "features.def"
};

static const Feature evidence[] = {
#define EVIDENCE(NAME, name, width, meaning) {"evidence", name, meaning, EVIDENCE_##NAME, width, 0},
#include "features.def"
};

static const Feature site_features[] = {
#define ABOVE(tag)
#define BOTH(NAME, group, name, width, most, meaning) {group, name, meaning, SITE_##NAME, width, most},
#include "features.def"
#define EVIDENCE(NAME, name, width, meaning) \
    {"evidence", name, meaning, SITE_EVIDENCE + EVIDENCE_##NAME, width, 0},
#include "features.def"
#define SITE(NAME, name, width, meaning) {"opinion", name, meaning, SITE_##NAME, width, 0},
#include "features.def"
};

/* Give the module a list of features; 0 with an exception set. */
static int add_list(PyObject *module, const char *name, const Feature *features, size_t count)
{
    PyObject *list = PyList_New(0);
    int is_done = list != NULL;
    for (size_t i = 0; i < count && is_done; i++) {
        const Feature *own = &features[i];
        PyObject *row = Py_BuildValue("(ssiiis)", own->group, own->name, own->first, own->width, own->most,
                                      own->meaning);
        is_done = row && PyList_Append(list, row) == 0;
        Py_XDECREF(row);
    }
    PyObject *rows = is_done ? PyList_AsTuple(list) : NULL;
    is_done = rows && PyModule_AddObjectRef(module, name, rows) == 0;
    Py_XDECREF(list);
    Py_XDECREF(rows);
    return is_done;
}

#define LIST(features) features, sizeof(features) / sizeof(*features)

int add_features(PyObject *module)
{
    return add_list(module, "PAGE_FEATURES", LIST(page_features)) &&
           add_list(module, "EVIDENCE", LIST(evidence)) &&
           add_list(module, "SITE_FEATURES", LIST(site_features)) &&
           PyModule_AddIntConstant(module, "CONFIDENCE_FEATURES", CONFIDENCE_FEATURES) == 0;
}
