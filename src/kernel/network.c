/* Networks with one hidden layer, in single precision, inputs added up one after another: a product of matrices
   would have an order of its own, which differs from machine to machine. */

#include "network.h"

#include <stdlib.h>

#include "columns.h"

#define MAX_UNITS 512
#define PART 32 /* Units that are added up at once: with two rows their sums fit into registers. */
#define SMALL_PART 8

/* Two rows at once, and which of their numbers are not 0 in both. */
typedef struct {
    float *rows[2];
    uint32_t *places;
    size_t count;
} Pair;

/* The same four numbers at a time, as far as these go; how many were looked at. Four places are written at once: no
   more are known than were looked at, so that they fit. */
static inline size_t find_by_four(Pair *pair, size_t width)
{
    size_t i = 0;
#if defined(__SSE2__)
    static const int32_t chosen[16][4] = {
        {0}, {0}, {1}, {0, 1}, {2}, {0, 2}, {1, 2}, {0, 1, 2}, {3}, {0, 3}, {1, 3}, {0, 1, 3}, {2, 3}, {0, 2, 3},
        {1, 2, 3}, {0, 1, 2, 3},
    };
    static const uint8_t counts[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
    const __m128 nothing = _mm_setzero_ps();
    for (; i + 4 <= width; i += 4) {
        __m128 mine = _mm_cmpneq_ps(_mm_loadu_ps(pair->rows[0] + i), nothing);
        __m128 theirs = _mm_cmpneq_ps(_mm_loadu_ps(pair->rows[1] + i), nothing);
        int which = _mm_movemask_ps(_mm_or_ps(mine, theirs));
        __m128i place = _mm_loadu_si128((const __m128i *)(const void *)chosen[which]);
        _mm_storeu_si128((__m128i *)(void *)(pair->places + pair->count), _mm_add_epi32(place, _mm_set1_epi32((int)i)));
        pair->count += counts[which];
    }
#else
    (void)pair, (void)width;
#endif
    return i;
}

/* Many numbers are 0, and adding nothing changes nothing: they are passed over. */
static inline void find_places(Pair *pair, size_t width)
{
    pair->count = 0;
    size_t i = find_by_four(pair, width), count = pair->count;
    for (; i < width; i++) {
        uint32_t mine, theirs; /* As bits: quicker to compare. But for the sign, 0 has none set. */
        memcpy(&mine, pair->rows[0] + i, sizeof(mine));
        memcpy(&theirs, pair->rows[1] + i, sizeof(theirs));
        pair->places[count] = (uint32_t)i;
        count += (mine | theirs) << 1 != 0;
    }
    pair->count = count;
}

/* A row cut to what training saw. */
static inline void clip_row(const Network *network, const float *row, float *to)
{
    for (size_t i = 0; i < network->inputs; i++) {
        float input = row[i];
        input = input > network->floor[i] ? input : network->floor[i];
        to[i] = input < network->ceiling[i] ? input : network->ceiling[i];
    }
}

/* The products of both rows with `part` columns of the weights, added to the bias one after another.
   Both rows read a weight once, and a part of the weights stays in the nearest cache. */
static inline void add_part(const Pair *pair, const float *weights, const float *bias, size_t width,
                            size_t part, float *one, float *other)
{
    float mine[PART], theirs[PART];
    memcpy(mine, bias, part * sizeof(float));
    memcpy(theirs, bias, part * sizeof(float));
    for (size_t i = 0; i < pair->count; i++) {
        const size_t place = pair->places[i];
        const float *weight = weights + place * width;
        const float left = pair->rows[0][place], right = pair->rows[1][place];
        for (size_t j = 0; j < part; j++)
            mine[j] += left * weight[j];
        for (size_t j = 0; j < part; j++)
            theirs[j] += right * weight[j];
    }
    memcpy(one, mine, part * sizeof(float));
    memcpy(other, theirs, part * sizeof(float));
}

/* A layer of both rows: all `width` columns, in parts whose size the compiler knows. */
static inline void add_layer(const Pair *pair, const float *weights, const float *bias, size_t width,
                             float *one, float *other)
{
    size_t at = 0;
    for (; at + PART <= width; at += PART)
        add_part(pair, weights + at, bias + at, width, PART, one + at, other + at);
    for (; at + SMALL_PART <= width; at += SMALL_PART)
        add_part(pair, weights + at, bias + at, width, SMALL_PART, one + at, other + at);
    for (; at < width; at++)
        add_part(pair, weights + at, bias + at, width, 1, one + at, other + at);
}

/* Processors with wider vectors do the same faster; each sum is the same. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define WIDE __attribute__((target_clones("avx2", "default"), flatten))
#else
#define WIDE
#endif

WIDE static void run_rows(const Network *network, const float *rows, size_t count, Pair *pair,
                          double *out)
{
    float one[MAX_UNITS], other[MAX_UNITS], mine[MAX_UNITS], theirs[MAX_UNITS];
    uint32_t places[MAX_UNITS];
    Pair hidden = {{one, other}, places, 0};
    const size_t units = network->units, outputs = network->outputs;
    for (size_t row = 0; row < count; row += 2) {
        const float *first = rows + row * network->inputs;
        size_t next = row + 1 < count ? 1 : 0; /* The last row may be its own partner. */
        clip_row(network, first, pair->rows[0]);
        clip_row(network, first + next * network->inputs, pair->rows[1]);
        find_places(pair, network->inputs);
        add_layer(pair, network->hidden, network->hidden_bias, units, one, other);
        for (size_t i = 0; i < units; i++) { /* Nothing below 0 counts. */
            one[i] = one[i] > 0 ? one[i] : 0;
            other[i] = other[i] > 0 ? other[i] : 0;
        }
        find_places(&hidden, units);
        add_layer(&hidden, network->output, network->output_bias, outputs, mine, theirs);
        for (size_t i = 0; i < outputs; i++) {
            out[row * outputs + i] = mine[i];
            out[(row + next) * outputs + i] = theirs[i];
        }
    }
}

int run_network(const Network *network, const float *rows, size_t count, double *out)
{
    float *inputs = malloc(network->inputs * (2 * sizeof(float) + sizeof(uint32_t)));
    if (!inputs)
        return 0;
    Pair pair = {{inputs, inputs + network->inputs}, (uint32_t *)(inputs + 2 * network->inputs), 0};
    run_rows(network, rows, count, &pair, out);
    free(inputs);
    return 1;
}

const Network *given_network(const Types *types, PyObject *object, size_t inputs, size_t outputs)
{
    const Network *network = given_owner(object, types->network);
    if (!network || ((!inputs || network->inputs == inputs) && (!outputs || network->outputs == outputs)))
        return network;
    PyErr_Format(PyExc_ValueError, "a network of %zu inputs and %zu outputs, not of %zu and %zu (0: any)",
                 network->inputs, network->outputs, inputs, outputs);
    return NULL;
}

/* --- what Python sees --- */

enum { HIDDEN, HIDDEN_BIAS, OUTPUT, OUTPUT_BIAS, FLOOR, CEILING, ARRAYS };

/* Do the arrays fit together? 0 with an exception set if not. */
static int fits(const View *views)
{
    Py_ssize_t units = views[HIDDEN_BIAS].buffer.len / 4, outputs = views[OUTPUT_BIAS].buffer.len / 4;
    Py_ssize_t inputs = views[FLOOR].buffer.len / 4;
    const Py_ssize_t sizes[] = {4 * inputs * units, 4 * units,  4 * units * outputs,
                                4 * outputs,        4 * inputs, 4 * inputs};
    if (units <= MAX_UNITS && outputs <= MAX_UNITS && inputs >= 1 && inputs <= UINT16_MAX)
        return check_sizes("Network", views, sizes, ARRAYS, 1);
    PyErr_SetString(PyExc_ValueError, "a network with too many units, or no inputs");
    return 0;
}

/* Copy the arrays; 0 with an exception set. */
static int fill(Network *network, const View *views)
{
    size_t size = 0;
    for (size_t i = 0; i < ARRAYS; i++)
        size += (size_t)views[i].buffer.len;
    float *at = network->hidden = malloc(size + 1), *arrays[ARRAYS];
    if (!at) {
        PyErr_NoMemory();
        return 0;
    }
    for (size_t i = 0; i < ARRAYS; i++) {
        memcpy(arrays[i] = at, views[i].buffer.buf, (size_t)views[i].buffer.len);
        at += views[i].buffer.len / 4;
    }
    network->hidden_bias = arrays[HIDDEN_BIAS];
    network->output = arrays[OUTPUT];
    network->output_bias = arrays[OUTPUT_BIAS];
    network->floor = arrays[FLOOR];
    network->ceiling = arrays[CEILING];
    network->units = (size_t)views[HIDDEN_BIAS].buffer.len / 4;
    network->outputs = (size_t)views[OUTPUT_BIAS].buffer.len / 4;
    network->inputs = (size_t)views[FLOOR].buffer.len / 4;
    return 1;
}

static PyObject *new_network(PyTypeObject *type, PyObject *arguments, PyObject *named)
{
    static char *names[] = {"hidden", "hidden_bias", "output", "output_bias", "floor", "ceiling", NULL};
    PyObject *objects[ARRAYS];
    View views[ARRAYS];
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "OOOOOO:Network", names, &objects[HIDDEN],
                                     &objects[HIDDEN_BIAS], &objects[OUTPUT], &objects[OUTPUT_BIAS],
                                     &objects[FLOOR], &objects[CEILING]) ||
        !open_views(views, objects, "ffffff"))
        return NULL;
    Network *network = fits(views) ? (Network *)PyType_GenericAlloc(type, 0) : NULL;
    if (network && !fill(network, views))
        Py_CLEAR(network);
    close_views(views, ARRAYS);
    return (PyObject *)network;
}

static void free_network(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    free(((Network *)self)->hidden);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* The outputs for each row, in double precision. */
static PyObject *outputs_of(PyObject *self, PyObject *rows)
{
    const Network *network = (const Network *)self;
    PyObject *memory = NULL;
    View view;
    if (!open_views(&view, &rows, "f"))
        return NULL;
    Py_ssize_t width = 4 * (Py_ssize_t)network->inputs, count = view.buffer.len / width;
    if (check_sizes("outputs", &view, &width, 1, count))
        memory = PyByteArray_FromStringAndSize(NULL, count * (Py_ssize_t)(network->outputs * sizeof(double)));
    if (memory && !run_network(network, view.buffer.buf, (size_t)count, (double *)PyByteArray_AsString(memory))) {
        Py_CLEAR(memory);
        PyErr_NoMemory();
    }
    close_views(&view, 1);
    return memory;
}

static PyMethodDef methods[] = {
    {"outputs", outputs_of, METH_O, "The outputs for each row."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, (void *)new_network},
    {Py_tp_dealloc, (void *)free_network},
    {Py_tp_doc, "A network with one hidden layer; its arrays fit together."},
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec network_spec = {"dehusk._kernel.Network", sizeof(Network), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, slots};
