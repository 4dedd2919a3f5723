/* `network`: numbers in, one number out per row and output. The twin of
   `dehusk.methods.auto.network.Network`: single precision, inputs added up one after another. */

#include "kernel.h"

#include <stdlib.h>

#define MAX_UNITS 512

typedef struct {
    const float *rows, *hidden, *hidden_bias, *output, *output_bias, *floor, *ceiling;
    size_t count, inputs, units, outputs;
} Network;

/* The inputs of one row times the weights, `units` of each, added to `sums`.

   Many inputs are 0, and adding nothing changes nothing: they are passed over. */
static inline void add_products(const float *row, const float *weights, size_t inputs, size_t units,
                                float *sums)
{
    for (size_t i = 0; i < inputs; i++) {
        const float input = row[i], *weight = weights + i * units;
        if (input == 0)
            continue;
        for (size_t j = 0; j < units; j++)
            sums[j] += input * weight[j];
    }
}

static void clip_row(const Network *network, const float *row, float *clipped)
{
    for (size_t i = 0; i < network->inputs; i++) {
        float input = row[i];
        input = input > network->floor[i] ? input : network->floor[i];
        clipped[i] = input < network->ceiling[i] ? input : network->ceiling[i];
    }
}

/* Processors with wider vectors do the same faster; each sum is the same. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define WIDE __attribute__((target_clones("avx2", "default"), flatten))
#else
#define WIDE
#endif

WIDE static void run_rows(const Network *network, float *clipped, double *out)
{
    float active[MAX_UNITS], sums[MAX_UNITS];
    for (size_t row = 0; row < network->count; row++) {
        clip_row(network, network->rows + row * network->inputs, clipped);
        memcpy(active, network->hidden_bias, network->units * sizeof(float));
        /* With a number that it knows, the compiler keeps the sums in registers. */
        if (network->units == 64)
            add_products(clipped, network->hidden, network->inputs, 64, active);
        else if (network->units == 32)
            add_products(clipped, network->hidden, network->inputs, 32, active);
        else
            add_products(clipped, network->hidden, network->inputs, network->units, active);
        for (size_t j = 0; j < network->units; j++)
            active[j] = active[j] > 0 ? active[j] : 0;
        memcpy(sums, network->output_bias, network->outputs * sizeof(float));
        add_products(active, network->output, network->units, network->outputs, sums);
        for (size_t j = 0; j < network->outputs; j++)
            out[row * network->outputs + j] = sums[j];
    }
}

static PyObject *outputs_of(const Network *network)
{
    size_t size = network->count * network->outputs * sizeof(double);
    PyObject *memory = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)size);
    float *clipped = malloc(network->inputs * sizeof(float));
    if (memory && clipped) {
        double *out = (double *)PyByteArray_AsString(memory);
        Py_BEGIN_ALLOW_THREADS
        run_rows(network, clipped, out);
        Py_END_ALLOW_THREADS
    } else {
        Py_XDECREF(memory);
        memory = PyErr_NoMemory();
    }
    free(clipped);
    return memory;
}

PyObject *kernel_network(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    View views[7];
    if (!check_count("network", count, 7) || !open_views(views, arguments, 7, 0))
        return NULL;
    Py_ssize_t units = views[2].buffer.len / 4, outputs = views[4].buffer.len / 4;
    Py_ssize_t inputs = views[5].buffer.len / 4;
    Py_ssize_t rows = inputs ? views[0].buffer.len / 4 / inputs : 0;
    const Py_ssize_t sizes[] = {4 * rows * inputs, 4 * inputs * units, 4 * units,
                                4 * units * outputs, 4 * outputs, 4 * inputs, 4 * inputs};
    PyObject *memory = NULL;
    if (units > MAX_UNITS || outputs > MAX_UNITS || inputs < 1)
        PyErr_SetString(PyExc_ValueError, "network: too many units, or no inputs");
    else if (check_sizes("network", views, sizes, 7, 1)) {
        Network network = {views[0].buffer.buf, views[1].buffer.buf, views[2].buffer.buf,
                           views[3].buffer.buf, views[4].buffer.buf, views[5].buffer.buf,
                           views[6].buffer.buf, (size_t)rows, (size_t)inputs, (size_t)units,
                           (size_t)outputs};
        memory = outputs_of(&network);
    }
    close_views(views, 7);
    return memory;
}
