/* `spread`: the scores of blocks to scores of nodes. The twin of `_spread` of the method `auto`. */

#include "kernel.h"

#include <stdlib.h>

typedef struct {
    const double *blocks, *lengths;
    const int32_t *segments, *owner, *end;
    const uint8_t *shown;
    size_t block_count, segment_count, count;
} Spread;

static void spread(const Spread *given, double *sums, double *lengths, double *means)
{
    size_t next = 0;
    sums[0] = lengths[0] = 0;
    for (size_t i = 0; i < given->count; i++) {
        double score = 0, length = 0;
        if (next < given->segment_count && (size_t)given->segments[next] == i) {
            double own = given->blocks[given->owner[next]];
            if (own == own) {
                score = own * given->lengths[next];
                length = given->lengths[next];
            }
            next++;
        }
        sums[i + 1] = sums[i] + score;
        lengths[i + 1] = lengths[i] + length;
    }
    for (size_t i = 0; i < given->count; i++) {
        double length = lengths[given->end[i]] - lengths[i];
        double mean = (sums[given->end[i]] - sums[i]) / length;
        mean = mean < 0 ? 0 : mean > 1 ? 1 : mean;
        means[i] = given->shown[i] && length > 0.5 ? mean : Py_NAN;
    }
    for (size_t i = 0; i < given->segment_count; i++)
        means[given->segments[i]] = given->blocks[given->owner[i]];
}

static PyObject *spread_of(const Spread *given)
{
    PyObject *memory = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(8 * given->count));
    double *sums = malloc((given->count + 1) * 2 * sizeof(double));
    if (memory && sums) {
        spread(given, sums, sums + given->count + 1, (double *)PyByteArray_AsString(memory));
    } else {
        Py_XDECREF(memory);
        memory = PyErr_NoMemory();
    }
    free(sums);
    return memory;
}

PyObject *kernel_spread(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    static const Py_ssize_t of_segment[] = {8, 4, 4}, of_node[] = {4, 1};
    View views[6];
    if (!open_all("spread", views, 6, arguments, count))
        return NULL;
    PyObject *memory = NULL;
    Py_ssize_t segments = views[1].buffer.len / 8, nodes = views[5].buffer.len;
    if (check_sizes("spread", views + 1, of_segment, 3, segments) &&
        check_sizes("spread", views + 4, of_node, 2, nodes)) {
        Spread given = {views[0].buffer.buf, views[1].buffer.buf, views[2].buffer.buf,
                        views[3].buffer.buf, views[4].buffer.buf, views[5].buffer.buf,
                        (size_t)views[0].buffer.len / 8, (size_t)segments, (size_t)nodes};
        if (check_below("spread", given.segments, given.segment_count, given.count) &&
            check_below("spread", given.owner, given.segment_count, given.block_count) &&
            check_below("spread", given.end, given.count, given.count + 1))
            memory = spread_of(&given);
    }
    close_views(views, 6);
    return memory;
}
