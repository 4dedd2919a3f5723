/* `pool`, `kind` and `usual`: what is asked of a page as a whole. The twins are `pooled` and `page_kind`
   of `dehusk.methods.auto.judge`, and `_usual_texts` of `dehusk.methods.auto.families`. */

#include "kernel.h"

#include <stdlib.h>

#include "network.h"
#include "reading.h"

#define ROWS 4 /* Rows that are added at once: each sum is loaded and stored once for all of them. */

/* Processors with wider vectors do the same faster; each sum is the same. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

/* The means of the looks, by weight and alike, into two rows behind each other. */
WIDE static void pool(const float *looks, const double *weight, size_t count, float *to)
{
    double weighed[LOOKS] = {0}, sums[LOOKS] = {0}, total = 0;
    size_t i = 0;
    for (; i + ROWS <= count; i += ROWS) {
        const float *row = looks + i * LOOKS;
        const double *w = weight + i;
        for (size_t j = 0; j < LOOKS; j++) {
            double a = row[j], b = row[LOOKS + j], c = row[2 * LOOKS + j], d = row[3 * LOOKS + j];
            weighed[j] = weighed[j] + w[0] * a + w[1] * b + w[2] * c + w[3] * d;
            sums[j] = sums[j] + a + b + c + d;
        }
    }
    for (; i < count; i++)
        for (size_t j = 0; j < LOOKS; j++) {
            double look = looks[i * LOOKS + j];
            weighed[j] += weight[i] * look;
            sums[j] += look;
        }
    for (i = 0; i < count; i++)
        total += weight[i];
    for (size_t j = 0; j < LOOKS; j++) {
        to[j] = (float)(weighed[j] / total);
        to[LOOKS + j] = (float)(sums[j] / (double)count);
    }
}

PyObject *kernel_pool(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    static const Py_ssize_t sizes[] = {4 * LOOKS, 8};
    View views[2];
    if (!open_all("pool", views, 2, arguments, count))
        return NULL;
    Py_ssize_t blocks = views[1].buffer.len / 8;
    PyObject *memory = NULL;
    if (blocks < 1)
        PyErr_SetString(PyExc_ValueError, "pool: there are no blocks");
    else if (check_sizes("pool", views, sizes, 2, blocks))
        memory = PyByteArray_FromStringAndSize(NULL, 2 * LOOKS * sizeof(float));
    if (memory)
        pool(views[0].buffer.buf, views[1].buffer.buf, (size_t)blocks,
             (float *)PyByteArray_AsString(memory));
    close_views(views, 2);
    return memory;
}

typedef struct {
    const float *looks;
    const double *chars, *content;
    const uint64_t *texts;
    size_t blocks, segments;
} Asked;

/* Texts of a memory, in ascending order, each with the last page that it was on. */
typedef struct {
    const uint64_t *keys;
    const uint32_t *last;
    size_t count;
} Texts;

/* Were all texts of the page that the memory knows last on this page? */
static int is_last_page(const Asked *page, const Texts *texts, uint32_t pages)
{
    for (size_t i = 0; i < page->segments; i++) {
        size_t low = 0, high = texts->count;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (texts->keys[middle] < page->texts[i])
                low = middle + 1;
            else
                high = middle;
        }
        if (low < texts->count && texts->keys[low] == page->texts[i] && texts->last[low] != pages)
            return 0;
    }
    return 1;
}

/* What the network says of the page as a whole; 0 without memory. */
static int run_on_page(const Asked *page, const Network *network, double *out)
{
    float row[2 * LOOKS];
    double *weight = malloc(page->blocks * sizeof(*weight));
    if (!weight)
        return 0;
    for (size_t i = 0; i < page->blocks; i++)
        weight[i] = page->content[i] * page->chars[i] + 1e-6;
    pool(page->looks, weight, page->blocks, row);
    free(weight);
    return run_network(network, row, 1, out);
}

/* A list of numbers; NULL with an exception set. */
static PyObject *list_of(const double *numbers, size_t count)
{
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; i < count && list; i++) {
        PyObject *number = PyFloat_FromDouble(numbers[i]);
        if (!number || PyList_SetItem(list, (Py_ssize_t)i, number) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *outputs_of(const Asked *page, const Network *network)
{
    double *out = malloc((network->outputs + 1) * sizeof(*out));
    PyObject *list = NULL;
    if (out && run_on_page(page, network, out))
        list = list_of(out, network->outputs);
    else
        PyErr_NoMemory();
    free(out);
    return list;
}

#define OWN_VIEWS 7
#define GIVEN (OWN_VIEWS + NETWORK_VIEWS)

/* Do all arrays fit together, and is there a block? 0 with an exception set if not. */
static int fits(const View *views, const Network *network)
{
    static const Py_ssize_t sizes[] = {4 * LOOKS, 8}, of_texts[] = {8, 4};
    Py_ssize_t blocks = views[1].buffer.len / 8;
    if (blocks < 1 || network->inputs != 2 * LOOKS) {
        PyErr_SetString(PyExc_ValueError, "kind: there are no blocks, or the network is another's");
        return 0;
    }
    return check_sizes("kind", views, sizes, 2, blocks) &&
           check_sizes("kind", views + 3, sizes + 1, 1, blocks) &&
           check_sizes("kind", views + 4, of_texts, 2, views[4].buffer.len / 8);
}

/* What the network says, whether the page was the last, and its family or None. */
static PyObject *kind_of(const View *views, const Network *network, uint32_t pages)
{
    Asked page = {views[0].buffer.buf, views[1].buffer.buf, views[3].buffer.buf,
                  views[2].buffer.buf, (size_t)views[1].buffer.len / 8,
                  (size_t)views[2].buffer.len / 8};
    Texts texts = {views[4].buffer.buf, views[5].buffer.buf, (size_t)views[4].buffer.len / 8};
    PyObject *outputs = outputs_of(&page, network), *family = NULL, *found = NULL;
    if (outputs && views[6].buffer.len >= 8)
        family = PyLong_FromUnsignedLongLong(*(const uint64_t *)views[6].buffer.buf);
    else if (outputs)
        family = Py_NewRef(Py_None);
    if (family)
        found = PyTuple_Pack(3, outputs, is_last_page(&page, &texts, pages) ? Py_True : Py_False,
                             family);
    Py_XDECREF(outputs);
    Py_XDECREF(family);
    return found;
}

PyObject *kernel_kind(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    View views[GIVEN];
    if (count < 1 && !check_count("kind", count, 1))
        return NULL;
    unsigned long pages = PyLong_AsUnsignedLongMask(arguments[0]);
    if (PyErr_Occurred() || !open_all("kind", views, GIVEN, arguments + 1, count - 1))
        return NULL;
    Network network;
    PyObject *found = NULL;
    if (network_in("kind", views + OWN_VIEWS, &network) && fits(views, &network))
        found = kind_of(views, &network, (uint32_t)pages);
    close_views(views, GIVEN);
    return found;
}

/* --- texts that were usual --- */

PyObject *kernel_usual(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    static const Py_ssize_t sizes[] = {4, 4};
    View views[2];
    if (count < 3 && !check_count("usual", count, 3))
        return NULL;
    double least = PyFloat_AsDouble(arguments[0]);
    long long alive = PyErr_Occurred() ? 0 : PyLong_AsLongLong(arguments[1]);
    long long before = PyErr_Occurred() ? 0 : PyLong_AsLongLong(arguments[2]);
    if (PyErr_Occurred() || !open_all("usual", views, 2, arguments + 3, count - 3))
        return NULL;
    PyObject *found = NULL;
    Py_ssize_t texts = views[0].buffer.len / 4, usual = 0, now = 0, earlier = 0;
    if (check_sizes("usual", views, sizes, 2, texts)) {
        const uint32_t *pages = views[0].buffer.buf, *last = views[1].buffer.buf;
        for (Py_ssize_t i = 0; i < texts; i++) {
            int is_usual = pages[i] >= least && last[i] > alive;
            usual += is_usual;
            now += is_usual && last[i] > before;
            earlier += is_usual && last[i] >= before;
        }
        found = Py_BuildValue("(nnn)", usual, now, earlier);
    }
    close_views(views, 2);
    return found;
}
