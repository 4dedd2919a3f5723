/* `threshold`: from which probability on to keep blocks. The twin is `best_threshold` of
   `dehusk.methods.auto.judge`, which says why. */

#include "kernel.h"

#include <stdlib.h>

#include "reading.h"

#define TRUTHS 20 /* How many degrees of strictness are weighed. */

/* Of each degree, how many characters are content then; probabilities in falling order. */
static void find_truths(const double *likely, const double *kept, size_t count, double *truths)
{
    size_t at = count;
    for (size_t i = 0; i < TRUTHS; i++) {
        double strictness = ((double)i + 0.5) / TRUTHS;
        while (at && likely[at - 1] < strictness)
            at--;
        truths[i] = at ? kept[at - 1] : 0;
    }
}

static double best_of(const double *likely, const double *kept, size_t count)
{
    double truths[TRUTHS], best = likely[0], highest = -1;
    find_truths(likely, kept, count, truths);
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        for (size_t j = 0; j < TRUTHS; j++) {
            double common = kept[i] < truths[j] ? kept[i] : truths[j];
            sum += 2 * common / (kept[i] + truths[j]);
        }
        if (sum > highest) {
            highest = sum;
            best = likely[i];
        }
    }
    return best;
}

int make_sorting(Sorting *sorting, size_t count)
{
    sorting->items = malloc((count + 1) * 2 * (sizeof(Keyed) + sizeof(double)));
    if (!sorting->items)
        return 0;
    sorting->spare = sorting->items + count + 1;
    sorting->likely = (double *)(sorting->spare + count + 1);
    sorting->kept = sorting->likely + count + 1;
    return 1;
}

double find_threshold(const double *probabilities, const double *chars, size_t count,
                      Sorting *sorting)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &probabilities[i], sizeof(bits));
        sorting->items[i] = (Keyed){~bits, (int32_t)i}; /* Numbers from 0 on: in the order of bits. */
    }
    sort_keyed(sorting->items, sorting->spare, count);
    for (size_t i = 0; i < count; i++) {
        sorting->likely[i] = probabilities[sorting->items[i].place];
        sorting->kept[i] = sum += chars[sorting->items[i].place];
    }
    return best_of(sorting->likely, sorting->kept, count);
}

static PyObject *threshold_of(const double *probabilities, const double *chars, size_t count)
{
    Sorting sorting;
    if (!make_sorting(&sorting, count))
        return PyErr_NoMemory();
    double best = find_threshold(probabilities, chars, count, &sorting);
    PyObject *found = Py_BuildValue("(dd)", best, sorting.likely[0]);
    free(sorting.items);
    return found;
}

PyObject *kernel_threshold(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    static const Py_ssize_t sizes[] = {8, 8};
    View views[2];
    if (!check_count("threshold", count, 2) || !open_views(views, arguments, 2, 0))
        return NULL;
    Py_ssize_t blocks = views[0].buffer.len / 8;
    PyObject *found = NULL;
    if (blocks < 1)
        PyErr_SetString(PyExc_ValueError, "threshold: there are no blocks");
    else if (check_sizes("threshold", views, sizes, 2, blocks))
        found = threshold_of(views[0].buffer.buf, views[1].buffer.buf, (size_t)blocks);
    close_views(views, 2);
    return found;
}
