/* `copies`: how many pages of a site say what a page says, by their sketches, or were at its address. */

#include <math.h>
#include <stdlib.h>

#include "kernel.h"
#include "sketch.h"
#include "tables.h"

/* The share of a page's sketch that its copies have. If a tenth of the words differ, they share 0.82 of their threes of
   words where these stand together, and 0.54 where each stands alone, of which a sketch may show as little as 0.32. Of 3,318
   pages of docs-dev 23 are taken for copies that share less than 0.3 of their content with any earlier page, of 2,674 of
   repeats-dev 13; at 0.375 about half. Short pages with a long box of prose in common are taken for copies too, and keep it. */
#define SHARED 0.3125
/* How much less they need for each number of the sketch, down to that: of twelve words a copy has all but one. */
#define SHARED_LESS 0.03
#define TOGETHER 0.75 /* Of what is needed so much was last on one page: phrases that many pages use are no copy. */

/* Of some numbers of a sketch the page that they were last on, and on how many pages they were. */
typedef struct {
    uint32_t last, count;
} Known;

static int by_page(const void *first, const void *second)
{
    const Known *a = first, *b = second;
    return a->last != b->last ? (a->last < b->last) - (a->last > b->last) : (a->count > b->count) - (a->count < b->count);
}

/* The copies, of which the last one shares enough with the page. Most of what was last on that page counts them: a phrase
   may stand on more pages, and where memories were added up, has been counted by each. */
static uint32_t most_shared(const Known *known, size_t size, double least)
{
    size_t most = 0;
    uint32_t found = 0;
    for (size_t i = 0, stop; i < size; i = stop) {
        for (stop = i; stop < size && known[stop].last == known[i].last; stop++) {
        }
        uint32_t copies = known[i + (stop - i) / 2].count;
        if (stop - i >= most)
            found = stop - i > most || copies > found ? copies : found;
        most = stop - i > most ? stop - i : most;
    }
    return (double)size >= least && (double)most >= TOGETHER * least ? found : 0;
}

/* The pages that say what the page says. */
static uint32_t alike(const Table *site, const Table *own)
{
    Known known[SKETCH_SIZE];
    size_t size = own ? own->rows : 0, found = 0;
    if (!size || size > SKETCH_SIZE)
        return 0;
    for (size_t i = 0; i < size; i++) {
        size_t row = row_of(site, own->keys[i]);
        if (row != SIZE_MAX)
            known[found++] = (Known){last_at(site, row), count_at(site, row)};
    }
    qsort(known, found, sizeof(*known), by_page);
    return most_shared(known, found, ceil((double)size * at_least(1 - SHARED_LESS * (double)size, SHARED)));
}

/* The pages at an address of the page, of which it has one. */
static uint32_t at_address(const Table *site, const Table *own)
{
    uint32_t most = 0;
    for (size_t i = 0; own && i < own->rows; i++) {
        uint32_t count = count_of(site, own->keys[i]);
        most = count > most ? count : most;
    }
    return most;
}

PyObject *kernel_copies(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    const Types *types = types_of(module);
    Table *tables[4] = {NULL};
    PyObject *found = NULL;
    if (!check_count("copies", count, 2))
        return NULL;
    if (find_table(types, arguments[0], "contents", 0, &tables[0]) &&
        find_table(types, arguments[1], "contents", 0, &tables[1]) &&
        find_table(types, arguments[0], "addresses", 0, &tables[2]) &&
        find_table(types, arguments[1], "addresses", 0, &tables[3])) {
        uint32_t same = alike(tables[0], tables[1]), known = at_address(tables[2], tables[3]);
        found = PyLong_FromUnsignedLong(same > known ? same : known);
    }
    for (size_t i = 0; i < 4; i++)
        Py_XDECREF((PyObject *)tables[i]);
    return found;
}
