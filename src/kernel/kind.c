/* `kind` and `is_template_new`: what is asked of a page as a whole. */

#include "opinion.h"

#include <stdlib.h>

#define ROWS 4 /* Rows that are added at once: each sum is loaded and stored once for all of them. */

/* Processors with wider vectors do the same faster; each sum is the same. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

/* The means of page features, by weight and alike, into two rows behind each other. */
WIDE static void pool(const float *features, const double *weight, size_t count, float *to)
{
    double weighed[PAGE_FEATURES] = {0}, sums[PAGE_FEATURES] = {0}, total = 0;
    size_t i = 0;
    for (; i + ROWS <= count; i += ROWS) {
        const float *row = features + i * PAGE_FEATURES;
        const double *w = weight + i;
        for (size_t j = 0; j < PAGE_FEATURES; j++) {
            double a = row[j], b = row[PAGE_FEATURES + j], c = row[2 * PAGE_FEATURES + j], d = row[3 * PAGE_FEATURES + j];
            weighed[j] = weighed[j] + w[0] * a + w[1] * b + w[2] * c + w[3] * d;
            sums[j] = sums[j] + a + b + c + d;
        }
    }
    for (; i < count; i++)
        for (size_t j = 0; j < PAGE_FEATURES; j++) {
            double own = features[i * PAGE_FEATURES + j];
            weighed[j] += weight[i] * own;
            sums[j] += own;
        }
    for (i = 0; i < count; i++)
        total += weight[i];
    for (size_t j = 0; j < PAGE_FEATURES; j++) {
        to[j] = (float)(weighed[j] / total);
        to[PAGE_FEATURES + j] = (float)(sums[j] / (double)count);
    }
}

/* What the type network reads: the features of the page's content, and of all its blocks. 0 without memory. */
static int pool_page(const Reading *reading, const Opinion *opinion, float *row)
{
    double *weight = malloc(reading->blocks * sizeof(*weight));
    if (!weight)
        return 0;
    for (size_t i = 0; i < reading->blocks; i++)
        weight[i] = opinion->content[i] * reading->chars[i] + 1e-6;
    pool(reading->page_features, weight, reading->blocks, row);
    free(weight);
    return 1;
}

PyObject *kernel_type_features(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    const Reading *reading;
    Opinion *opinion;
    if (!check_count("type_features", count, 2) ||
        !given_opinion(types_of(module), arguments[0], arguments[1], &reading, &opinion))
        return NULL;
    PyObject *memory = PyByteArray_FromStringAndSize(NULL, 2 * PAGE_FEATURES * sizeof(float));
    if (memory && !pool_page(reading, opinion, (float *)PyByteArray_AsString(memory))) {
        Py_CLEAR(memory);
        PyErr_NoMemory();
    }
    return memory;
}

/* Was most of what the page says last on this page? Not so in the second of two passes. */
static int is_last_page(const Table *own, const Table *contents, uint32_t pages)
{
    size_t known = 0, last = 0;
    for (size_t i = 0; i < own->rows; i++) {
        size_t row = row_of(contents, own->keys[i]);
        known += row != SIZE_MAX;
        last += row != SIZE_MAX && last_at(contents, row) == pages;
    }
    return 2 * last > known;
}

/* The type network is surer than it is right: on held-out sites of wcxb-dev it is right on 0.76 of the pages, and says
   0.84 of itself; so flattened, 0.79. */
#define SCALE 0.7

/* Probabilities out of logits. */
static void choose(const double *logits, double scale, double *types)
{
    double highest = logits[0], total = 0;
    for (size_t i = 1; i < TYPE_COUNT; i++)
        highest = at_least(logits[i], highest);
    for (size_t i = 0; i < TYPE_COUNT; i++)
        total += types[i] = exp_steps(at_least(scale * (logits[i] - highest), -30));
    for (size_t i = 0; i < TYPE_COUNT; i++)
        types[i] /= total;
}

/* A page is judged and described: both ask for its types. */
int page_types_of(const Types *types, const Reading *reading, Opinion *opinion, PyObject *object, PageTypes *found)
{
    const Network *network = given_network(types, object, 2 * PAGE_FEATURES, TYPE_COUNT);
    PyObject *before;
    float row[2 * PAGE_FEATURES];
    double logits[TYPE_COUNT];
    int is_known = 0;
    if (!network)
        return 0;
    BEGIN_ALONE(opinion)
    if ((is_known = opinion->type_network == object))
        *found = opinion->types;
    END_ALONE
    if (is_known)
        return 1;
    if (!pool_page(reading, opinion, row) || !run_network(network, row, 1, logits)) {
        PyErr_NoMemory();
        return 0;
    }
    choose(logits, 1, found->read); /* As the other networks were fitted to them. */
    choose(logits, SCALE, found->stated);
    BEGIN_ALONE(opinion)
    before = opinion->type_network;
    opinion->type_network = Py_NewRef(object);
    opinion->types = *found;
    END_ALONE
    Py_XDECREF(before);
    return 1;
}

PyObject *list_of(const double *numbers, size_t count)
{
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; i < count && list; i++) {
        PyObject *number = PyFloat_FromDouble(numbers[i]);
        if (!number || PyList_SetItem(list, (Py_ssize_t)i, number) < 0)
            Py_CLEAR(list);
    }
    return list;
}

PyObject *kernel_kind(PyObject *module, PyObject *arguments, PyObject *named)
{
    static char *names[] = {"reading", "opinion", "tables", "pages", "network", NULL};
    const Types *types = types_of(module);
    PyObject *objects[4];
    const Reading *reading;
    Opinion *opinion;
    Table *contents;
    PageTypes told;
    long pages;
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "OOOlO:kind", names, &objects[0], &objects[1], &objects[2],
                                     &pages, &objects[3]) ||
        !given_opinion(types, objects[0], objects[1], &reading, &opinion) ||
        !find_table(types, objects[2], "contents", 0, &contents))
        return NULL;
    PyObject *list = page_types_of(types, reading, opinion, objects[3], &told) ? list_of(told.stated, TYPE_COUNT) : NULL;
    int is_last = list && is_last_page(opinion->contents, contents, (uint32_t)pages);
    Py_XDECREF((PyObject *)contents);
    return list ? Py_BuildValue("(NOK)", list, is_last ? Py_True : Py_False,
                                (unsigned long long)opinion->families->keys[0])
                : NULL;
}

/* --- a new template --- */

/* Chosen on 11,329 pages of seven kinds of sites, in the order they came, and on 2,859 redesigns made of them: 9 false alarms,
   and 86 of 100 redesigns seen. FEW 0.3: 3 alarms, 84; SHARED 0.4: 11 and 86. Four pages in a row: a tenth fewer are seen. */
#define MIN_PAGES 8
#define MIN_TEXTS 3
#define NEW_PAGES 3
#define FEW 0.5    /* The share of the usual texts below which they are gone. */
#define SHARED 0.5 /* The share of new ones among the texts that the page has in common with others. */
#define USUAL 8    /* Pages a text must have been on to be usual; on a young site half of all. */
#define ALIVE 16   /* Pages within which a usual text has come back: what an earlier template had is not missed. */

/* Is the page that was learned last the third of a new template? Texts are taken at their places: 'Description' is usual in
   the content of a manual, and by texts alone one redesign in three was seen. A page that shares with others mostly what
   is on three pages belongs to a new template, not to a part of the site that was seen before. */
static int is_template_new(const Table *segments, int64_t pages)
{
    if (pages < MIN_PAGES)
        return 0;
    int64_t before = pages - NEW_PAGES;
    double least = at_least(3, at_most((double)before / 2, USUAL)), usual = 0, left = 0, shared = 0, fresh = 0, told = 0;
    for (size_t i = 0; segments && i < segments->rows; i++) {
        int64_t count = count_at(segments, i), last = last_at(segments, i);
        int is_usual = (double)count >= least && last > before - ALIVE;
        usual += is_usual;
        left += is_usual && last > before;
        shared += last == pages && count >= NEW_PAGES;
        fresh += last == pages && count == NEW_PAGES;
        told += last >= pages - 1 && count == NEW_PAGES + 1; /* The template was new on the page before. */
    }
    return usual >= MIN_TEXTS && left / usual < FEW && told < MIN_TEXTS && fresh >= MIN_TEXTS &&
           fresh / shared >= SHARED;
}

PyObject *kernel_is_template_new(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    Table *segments;
    if (!check_count("is_template_new", count, 2))
        return NULL;
    long long pages = PyLong_AsLongLong(arguments[1]);
    if (PyErr_Occurred() || !find_table(types_of(module), arguments[0], "segments", 0, &segments))
        return NULL;
    int is_new = is_template_new(segments, pages);
    Py_XDECREF((PyObject *)segments);
    return PyBool_FromLong(is_new);
}
