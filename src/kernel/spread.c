/* `spread`: numbers of blocks to numbers of nodes. A text has its block's, an element the mean of the text below
   it, by length. What has none, nan, does not count; an element with nothing that counts has none either. */

#include "reading.h"

#include <stdlib.h>

static void spread(const Reading *reading, const double *blocks, double *sums, double *lengths, double *means)
{
    const Tree *tree = reading->tree;
    size_t next = 0;
    sums[0] = lengths[0] = 0;
    for (size_t i = 0; i < tree->count; i++) {
        double sum = 0, length = 0;
        if (next < reading->segment_count && (size_t)reading->segments[next] == i) {
            double own = blocks[reading->owners[next]];
            if (own == own) {
                sum = own * reading->lengths[next];
                length = reading->lengths[next];
            }
            next++;
        }
        sums[i + 1] = sums[i] + sum;
        lengths[i + 1] = lengths[i] + length;
    }
    for (size_t i = 0; i < tree->count; i++) {
        double length = lengths[tree->end[i]] - lengths[i];
        double mean = (sums[tree->end[i]] - sums[i]) / length;
        mean = mean < 0 ? 0 : mean > 1 ? 1 : mean;
        means[i] = tree->shown[i] && length > 0.5 ? mean : Py_NAN;
    }
    for (size_t i = 0; i < reading->segment_count; i++)
        means[reading->segments[i]] = blocks[reading->owners[i]];
}

PyObject *kernel_spread(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    static const Py_ssize_t size = sizeof(double);
    const Reading *reading =
        check_count("spread", count, 2) ? given_owner(arguments[0], types_of(module)->reading) : NULL;
    PyObject *memory = NULL;
    View view;
    if (!reading || !open_views(&view, arguments + 1, "d"))
        return NULL;
    if (check_sizes("spread", &view, &size, 1, (Py_ssize_t)reading->blocks)) {
        size_t nodes = reading->tree->count;
        double *sums = malloc((nodes + 1) * 2 * sizeof(double));
        memory = sums ? PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(nodes * sizeof(double))) : PyErr_NoMemory();
        if (memory)
            spread(reading, view.buffer.buf, sums, sums + nodes + 1, (double *)PyByteArray_AsString(memory));
        free(sums);
    }
    close_views(&view, 1);
    return memory;
}
