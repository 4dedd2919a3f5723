/* A network with one hidden layer, as `dehusk.methods.auto.network.Network` says. */

#ifndef DEHUSK_NETWORK_H
#define DEHUSK_NETWORK_H

#include "kernel.h"

#define NETWORK_VIEWS 6

typedef struct {
    const float *hidden, *hidden_bias, *output, *output_bias, *floor, *ceiling;
    size_t inputs, units, outputs;
} Network;

/* The network that these views hold; 0 with an exception set if they do not fit together. */
int network_in(const char *function, const View *views, Network *network);

/* The outputs for so many rows, one row behind another; 0 without memory. */
int run_network(const Network *network, const float *rows, size_t count, double *out);

#endif
