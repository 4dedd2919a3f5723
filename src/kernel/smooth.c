/* `smooth`: regularised tree isotonic regression. `dehusk.methods.smooth.solve` says what is
   solved.

   Nodes are taken from the end of the document. What the children of a node hand up adds up in one
   row of costs for each depth, since all of them come before anything else of that depth. All
   costs are multiples of one power of two (`unit_of` there), so that sums come out the same
   whatever their order. */

#include "kernel.h"

#include <stdlib.h>

#define LEVELS 256
#define CHAINS 4
#define CHAIN (LEVELS / CHAINS)
#define SET_WORDS (LEVELS / 64)

typedef struct {
    const int32_t *parent, *depth, *level;
    const double *weight, *penalty, *values;
    size_t count, levels;
    double unit;
} Forest;

/* By level of the parent. */
typedef struct {
    uint64_t is_best[SET_WORDS]; /* No higher level costs less. */
    uint64_t keeps[SET_WORDS];   /* The node has its parent's level. */
} Moves;

/* What each level costs a node: its distance from the node's score, and what is below it. */
static inline void own_costs(const Forest *forest, size_t node, const double *below, double *cost)
{
    /* Added and taken away again, it rounds to a multiple of the unit. */
    const double rounder = forest->unit * 6755399441055744.0; /* 1.5 * 2**52 */
    const double own = forest->values[forest->level[node]], weight = forest->weight[node];
    for (size_t j = 0; j < LEVELS; j++) {
        double gap = forest->values[j] - own;
        double distance = (gap < 0 ? -gap : gap) * weight;
        cost[j] = ((distance + rounder) - rounder) + below[j];
    }
}

/* The least cost of each level and all above it. Several chains at once: each step of one waits
   for the step before. */
static inline void best_costs(const double *cost, double *best)
{
    double least[CHAINS];
    for (size_t c = 0; c < CHAINS; c++)
        least[c] = best[c * CHAIN + CHAIN - 1] = cost[c * CHAIN + CHAIN - 1];
    for (size_t j = CHAIN - 1; j-- > 0;)
        for (size_t c = 0; c < CHAINS; c++) {
            double here = cost[c * CHAIN + j];
            best[c * CHAIN + j] = least[c] = here < least[c] ? here : least[c];
        }
    for (size_t c = CHAINS - 1; c-- > 0;) {
        double above = best[(c + 1) * CHAIN];
        for (size_t j = c * CHAIN; j < (c + 1) * CHAIN; j++)
            best[j] = best[j] < above ? best[j] : above;
    }
}

/* Flags of 0 and 1 as bits, the first one lowest. */
static inline void pack(const uint8_t *flags, uint64_t *words)
{
    memset(words, 0, SET_WORDS * sizeof(uint64_t));
    for (size_t i = 0; i < LEVELS; i += 8) {
        uint64_t bits = (load_word(flags + i) * 0x0102040810204080u) >> 56;
        words[i / 64] |= bits << (i % 64);
    }
}

/* What a node does for each level of its parent; `above` gains what that costs. */
static inline void hand_up(const double *cost, double penalty, Moves *moves, double *above)
{
    double best[LEVELS];
    uint8_t is_best[LEVELS], keeps[LEVELS];
    best_costs(cost, best);
    for (size_t j = 0; j < LEVELS; j++) {
        double leaving = best[j] + penalty;
        is_best[j] = cost[j] == best[j];
        keeps[j] = cost[j] <= leaving;
        above[j] += cost[j] < leaving ? cost[j] : leaving;
    }
    pack(is_best, moves->is_best);
    pack(keeps, moves->keeps);
}

/* The first level from `level` on that nothing above it beats. */
static size_t best_from(const uint64_t *set, size_t level)
{
    while (level < LEVELS && !(set[level / 64] >> (level % 64) & 1))
        level++;
    return level < LEVELS ? level : LEVELS - 1; /* None is best where a weight is not a number. */
}

static void hand_down(const Forest *forest, const Moves *moves, int32_t *found)
{
    for (size_t i = 1; i < forest->count; i++) {
        size_t above = (size_t)found[forest->parent[i]];
        int stays = moves[i].keeps[above / 64] >> (above % 64) & 1;
        found[i] = (int32_t)(stays ? above : best_from(moves[i].is_best, above));
    }
}

/* Processors with wider vectors do the same twice as fast; the results are the same. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define WIDE __attribute__((target_clones("avx2", "default"), flatten))
#else
#define WIDE
#endif

/* The level of each node; `rows` holds a row of zeros for each depth and two more. */
WIDE static void solve(const Forest *forest, Moves *moves, double *rows, int32_t *found)
{
    double cost[LEVELS];
    for (size_t i = forest->count; i-- > 0;) {
        size_t depth = (size_t)forest->depth[i];
        double *below = rows + (depth + 1) * LEVELS;
        own_costs(forest, i, below, cost);
        memset(below, 0, LEVELS * sizeof(double));
        hand_up(cost, forest->penalty[i], &moves[i], rows + depth * LEVELS);
    }
    size_t root = 0;
    for (size_t j = 1; j < forest->levels; j++)
        if (cost[j] < cost[root])
            root = j;
    found[0] = (int32_t)root;
    hand_down(forest, moves, found);
}

/* Does every node come behind its parent, one deeper, with a level that there is? */
static int is_forest(const Forest *forest, size_t *deepest)
{
    *deepest = 0;
    for (size_t i = 0; i < forest->count; i++) {
        int32_t parent = forest->parent[i], depth = forest->depth[i];
        if (i ? parent < 0 || (size_t)parent >= i || depth != forest->depth[parent] + 1
              : depth != 0)
            return 0;
        if (forest->level[i] < 0 || (size_t)forest->level[i] >= forest->levels)
            return 0;
        if ((size_t)depth > *deepest)
            *deepest = (size_t)depth;
    }
    return forest->count > 0 && forest->levels > 0 && forest->levels <= LEVELS;
}

static PyObject *solved(const Forest *forest)
{
    size_t deepest;
    if (!is_forest(forest, &deepest)) {
        PyErr_SetString(PyExc_ValueError, "smooth: no tree in document order");
        return NULL;
    }
    PyObject *memory = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(4 * forest->count));
    Moves *moves = malloc(forest->count * sizeof(Moves));
    double *rows = calloc((deepest + 2) * LEVELS, sizeof(double));
    if (memory && moves && rows) {
        int32_t *found = (int32_t *)PyByteArray_AsString(memory);
        Py_BEGIN_ALLOW_THREADS
        solve(forest, moves, rows, found);
        Py_END_ALLOW_THREADS
    } else {
        Py_XDECREF(memory);
        memory = PyErr_NoMemory();
    }
    free(moves);
    free(rows);
    return memory;
}

/* The values, with the last one repeated behind them: a level that repeats a lower one's score
   costs as much, so nothing prefers it. */
static void pad_values(const View *view, double *values)
{
    size_t count = (size_t)view->buffer.len / 8;
    const double *given = view->buffer.buf;
    for (size_t j = 0; j < LEVELS; j++)
        values[j] = count ? given[j < count ? j : count - 1] : 0.0;
}

PyObject *kernel_smooth(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    static const Py_ssize_t sizes[] = {4, 4, 4, 8, 8};
    View views[6];
    if (!check_count("smooth", count, 7))
        return NULL;
    double unit = PyFloat_AsDouble(arguments[0]), values[LEVELS];
    if (PyErr_Occurred() || !open_views(views, arguments + 1, "iiiddd"))
        return NULL;
    PyObject *memory = NULL;
    Py_ssize_t nodes = views[0].buffer.len / 4;
    if (check_sizes("smooth", views, sizes, 5, nodes)) {
        pad_values(&views[5], values);
        Forest forest = {views[0].buffer.buf, views[1].buffer.buf, views[2].buffer.buf,
                         views[3].buffer.buf, views[4].buffer.buf, values, (size_t)nodes,
                         (size_t)views[5].buffer.len / 8, unit};
        memory = solved(&forest);
    }
    close_views(views, 6);
    return memory;
}
