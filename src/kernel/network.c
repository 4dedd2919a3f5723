/* `network`: numbers in, one number out per row and output. The twin of
   `dehusk.methods.auto.network.Network`: single precision, inputs added up one after another. */

#include "network.h"

#include <stdlib.h>

#define MAX_UNITS 512
#define PART 32 /* Units that are added up at once: with two rows their sums fit into registers. */

/* Two rows at once, cut to what training saw, and which of their inputs are not 0 in both. */
typedef struct {
    float *inputs[2];
    uint32_t *places;
    size_t count;
} Pair;

static inline void clip_row(const Network *network, const float *row, float *to)
{
    for (size_t i = 0; i < network->inputs; i++) {
        float input = row[i];
        input = input > network->floor[i] ? input : network->floor[i];
        to[i] = input < network->ceiling[i] ? input : network->ceiling[i];
    }
}

/* Many inputs are 0, and adding nothing changes nothing: they are passed over. */
static inline void clip_rows(const Network *network, const float *one, const float *other, Pair *pair)
{
    size_t count = 0;
    clip_row(network, one, pair->inputs[0]);
    clip_row(network, other, pair->inputs[1]);
    for (size_t i = 0; i < network->inputs; i++) {
        uint32_t mine, theirs; /* As bits: quicker to compare. But for the sign, 0 has none set. */
        memcpy(&mine, pair->inputs[0] + i, sizeof(mine));
        memcpy(&theirs, pair->inputs[1] + i, sizeof(theirs));
        pair->places[count] = (uint32_t)i;
        count += (mine | theirs) << 1 != 0;
    }
    pair->count = count;
}

/* The products of both rows with the weights of `PART` units, added to the bias one after another.
   Both rows read a weight once, and a part of the weights stays in the nearest cache. */
static inline void add_part(const Pair *pair, const float *weights, const float *bias, size_t units,
                            float *one, float *other)
{
    float mine[PART], theirs[PART];
    memcpy(mine, bias, sizeof(mine));
    memcpy(theirs, bias, sizeof(theirs));
    for (size_t i = 0; i < pair->count; i++) {
        const size_t place = pair->places[i];
        const float *weight = weights + place * units;
        const float left = pair->inputs[0][place], right = pair->inputs[1][place];
        for (size_t j = 0; j < PART; j++)
            mine[j] += left * weight[j];
        for (size_t j = 0; j < PART; j++)
            theirs[j] += right * weight[j];
    }
    memcpy(one, mine, sizeof(mine));
    memcpy(other, theirs, sizeof(theirs));
}

/* The same for the units behind the last whole part: `units` in all, `count` here. */
static inline void add_rest(const Pair *pair, const float *weights, const float *bias, size_t units,
                            size_t count, float *one, float *other)
{
    memcpy(one, bias, count * sizeof(float));
    memcpy(other, bias, count * sizeof(float));
    for (size_t i = 0; i < pair->count && count; i++) {
        const size_t place = pair->places[i];
        for (size_t j = 0; j < count; j++) {
            one[j] += pair->inputs[0][place] * weights[place * units + j];
            other[j] += pair->inputs[1][place] * weights[place * units + j];
        }
    }
}

/* The outputs of both rows; nothing below 0 counts. */
static inline void add_outputs(const Network *network, const float *one, const float *other,
                               double *out, double *next)
{
    for (size_t j = 0; j < network->outputs; j++) {
        float mine = network->output_bias[j], theirs = mine;
        const float *weight = network->output + j;
        for (size_t i = 0; i < network->units; i++, weight += network->outputs) {
            mine += (one[i] > 0 ? one[i] : 0) * *weight;
            theirs += (other[i] > 0 ? other[i] : 0) * *weight;
        }
        out[j] = mine;
        next[j] = theirs;
    }
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
    float one[MAX_UNITS], other[MAX_UNITS];
    const size_t units = network->units;
    for (size_t row = 0; row < count; row += 2) {
        const float *first = rows + row * network->inputs;
        size_t unit = 0, next = row + 1 < count ? 1 : 0; /* The last row may be its own partner. */
        clip_rows(network, first, first + next * network->inputs, pair);
        for (; unit + PART <= units; unit += PART)
            add_part(pair, network->hidden + unit, network->hidden_bias + unit, units, one + unit,
                     other + unit);
        add_rest(pair, network->hidden + unit, network->hidden_bias + unit, units, units - unit,
                 one + unit, other + unit);
        add_outputs(network, one, other, out + row * network->outputs,
                    out + (row + next) * network->outputs);
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

int network_in(const char *function, const View *views, Network *network)
{
    Py_ssize_t units = views[1].buffer.len / 4, outputs = views[3].buffer.len / 4;
    Py_ssize_t inputs = views[4].buffer.len / 4;
    const Py_ssize_t sizes[] = {4 * inputs * units, 4 * units,  4 * units * outputs,
                                4 * outputs,        4 * inputs, 4 * inputs};
    if (units > MAX_UNITS || outputs > MAX_UNITS || inputs < 1 || inputs > UINT16_MAX) {
        PyErr_Format(PyExc_ValueError, "%s: a network with too many units, or no inputs", function);
        return 0;
    }
    *network = (Network){views[0].buffer.buf, views[1].buffer.buf, views[2].buffer.buf,
                         views[3].buffer.buf, views[4].buffer.buf, views[5].buffer.buf,
                         (size_t)inputs, (size_t)units, (size_t)outputs};
    return check_sizes(function, views, sizes, NETWORK_VIEWS, 1);
}

static PyObject *outputs_of(const Network *network, const float *rows, size_t count)
{
    size_t size = count * network->outputs * sizeof(double);
    PyObject *memory = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)size);
    if (!memory)
        return NULL;
    double *out = (double *)PyByteArray_AsString(memory);
    int is_done;
    Py_BEGIN_ALLOW_THREADS
    is_done = run_network(network, rows, count, out);
    Py_END_ALLOW_THREADS
    if (is_done)
        return memory;
    Py_DECREF(memory);
    return PyErr_NoMemory();
}

PyObject *kernel_network(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    View views[1 + NETWORK_VIEWS];
    if (!check_count("network", count, 1 + NETWORK_VIEWS) ||
        !open_views(views, arguments, 1 + NETWORK_VIEWS, 0))
        return NULL;
    Network network;
    PyObject *memory = NULL;
    if (network_in("network", views + 1, &network)) {
        Py_ssize_t width = 4 * (Py_ssize_t)network.inputs, rows = views[0].buffer.len / width;
        if (check_sizes("network", views, &width, 1, rows))
            memory = outputs_of(&network, views[0].buffer.buf, (size_t)rows);
    }
    close_views(views, 1 + NETWORK_VIEWS);
    return memory;
}
