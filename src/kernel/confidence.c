/* `confidence_features`: what is read of a page to tell how good its answer may be. */

#include "kernel.h"
#include "reading.h"

/* Probabilities between which the page's characters are counted, from sure template to sure content. */
static const double levels[] = {0.1, 0.3, 0.5, 0.7, 0.9};

enum { BETWEEN = sizeof(levels) / sizeof(*levels) + 1, NUMBERS = CONFIDENCE_FEATURES - TYPE_COUNT - BETWEEN };

/* The F1 to be expected if the probabilities are right, what it is made of, and how the characters lie. */
static void fill_row(const View *views, size_t blocks, double threshold, double removed, float *to)
{
    const double *content = views[0].buffer.buf, *comments = views[1].buffer.buf, *chars = views[2].buffer.buf;
    double total = 0, length = 0, hits = 0, likely = 0, commented = 0, highest = 0, counted[BETWEEN] = {0};
    for (size_t i = 0; i < blocks; i++) {
        int is_kept = content[i] >= threshold;
        size_t level = 0;
        while (level < BETWEEN - 1 && content[i] >= levels[level])
            level++;
        counted[level] += chars[i];
        total += chars[i];
        likely += chars[i] * content[i];
        length += is_kept ? chars[i] : 0;
        hits += is_kept ? chars[i] * content[i] : 0;
        commented += comments[i] >= 0.5 ? chars[i] : 0;
        highest = at_least(content[i], highest);
    }
    const double some = at_least(total, 1);
    const double numbers[NUMBERS] = {
        2 * hits / at_least(length + likely, 1), hits / at_least(length, 1), log1p_steps(length) / 8, log1p_steps(total) / 8,
        length / some, commented / some, highest, removed,
    };
    for (size_t i = 0; i < NUMBERS; i++)
        to[i] = (float)numbers[i];
    for (size_t i = 0; i < BETWEEN; i++)
        to[NUMBERS + i] = (float)(counted[i] / some);
}

/* The probabilities of the page's types; 0 with an exception set. */
static int read_types(PyObject *types, float *to)
{
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        PyObject *number = PySequence_GetItem(types, (Py_ssize_t)i);
        to[i] = number ? (float)PyFloat_AsDouble(number) : 0;
        Py_XDECREF(number);
        if (PyErr_Occurred())
            return 0;
    }
    return 1;
}

PyObject *kernel_confidence_features(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    static const Py_ssize_t sizes[] = {sizeof(double), sizeof(double), sizeof(double)};
    View views[3];
    float row[CONFIDENCE_FEATURES];
    if (!check_count("confidence_features", count, 6) || !read_types(arguments[3], row + NUMBERS + BETWEEN))
        return NULL;
    double threshold = PyFloat_AsDouble(arguments[4]), removed = PyFloat_AsDouble(arguments[5]);
    if (PyErr_Occurred() || !open_views(views, arguments, "ddd"))
        return NULL;
    size_t blocks = (size_t)views[0].buffer.len / sizeof(double);
    int fits = check_sizes("confidence_features", views, sizes, 3, (Py_ssize_t)blocks);
    if (fits)
        fill_row(views, blocks, threshold, removed, row);
    close_views(views, 3);
    return fits ? PyByteArray_FromStringAndSize((const char *)row, sizeof(row)) : NULL;
}
