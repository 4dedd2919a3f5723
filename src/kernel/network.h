/* A network with one hidden layer: numbers in, one number out per row and output. */

#ifndef DEHUSK_NETWORK_H
#define DEHUSK_NETWORK_H

#include "kernel.h"

typedef struct {
    PyObject_HEAD
    float *hidden; /* All arrays stand behind each other, from here on. */
    const float *hidden_bias, *output, *output_bias, *floor, *ceiling;
    size_t inputs, units, outputs;
} Network;

extern PyType_Spec network_spec;

/* The network that Python handed in, if it has so many inputs and outputs (0: any number); NULL with an
   exception set. */
const Network *given_network(const Types *types, PyObject *object, size_t inputs, size_t outputs);

/* The outputs for so many rows, one row behind another; 0 without memory. */
int run_network(const Network *network, const float *rows, size_t count, double *out);

#endif
