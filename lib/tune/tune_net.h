/* SPDX-License-Identifier: MIT
 *
 * The surrogate (DiffTune, figure 3): the tokens of an instruction go through an LSTM; the result,
 * joined with the parameters, goes through a second one over the instructions of a block; out comes
 * one number for the block, the logarithm of its cycles.
 */
#ifndef TACT_TUNE_NET_H
#define TACT_TUNE_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tune/matrices.h"

enum { NET_MAX_LAYERS = 4, NET_MAX_TOKENS = 32 };

struct net_shape {
	unsigned vocabulary, embedding, hidden, layers;
	unsigned inputs; /* parameters joined to each instruction */
};

/* Where the weights of a layer are: inputs x 4 hidden, hidden x 4 hidden, 4 hidden; in each row
 * input gate, forget gate, candidate, output gate.
 */
struct net_layer {
	size_t input, hidden, bias;
	unsigned inputs;
};

struct net {
	struct net_shape shape;
	struct matrices matrices;
	size_t n_weights;
	size_t embedding, out; /* out: hidden numbers and a bias */
	struct net_layer token[NET_MAX_LAYERS], block[NET_MAX_LAYERS];
};

void net_init(struct net *net, const struct net_shape *shape, const struct matrices *matrices);

/* Sets random weights: uniform, smaller the more inputs there are (Glorot, Bengio, 2010); forget
 * gates start open.
 */
void net_randomise(const struct net *net, float *weights, uint64_t seed);

/* An instruction's tokens. */
struct net_type {
	uint16_t n;
	uint16_t token[NET_MAX_TOKENS];
};

/* Blocks to be evaluated together; everything is borrowed. */
struct net_blocks {
	size_t n;
	const uint32_t *length;	      /* instructions of each block, at least one */
	const uint32_t *const *types; /* of each block: numbers of instructions' types */
	const float *const *inputs;   /* of each block: length x shape.inputs */
	const struct net_type *all_types;
	size_t n_types;
};

struct net_work; /* memory of one thread; grows as needed */
struct net_work *net_work_create(void);
void net_work_destroy(struct net_work *work);

/* Computes logarithms of cycles.  vectors: what each type's tokens become, n_types x hidden, if
 * that is known (net_vectors); NULL: computed.  Returns 0, -TACT_E_NOMEM or -TACT_E_INTERNAL.
 */
int net_forward(const struct net *net, const float *weights, const struct net_blocks *blocks,
		const float *vectors, struct net_work *work, float *out);

/* Follows a net_forward of the same blocks: slope[i] is the derivative of the loss by out[i].  Adds
 * to gradient (n_weights; NULL: not wanted), and sets input_gradient[i] (of each block, as inputs;
 * NULL: not wanted).
 */
int net_backward(const struct net *net, const float *weights, const struct net_blocks *blocks,
		 struct net_work *work, const float *slope, float *gradient,
		 float *const *input_gradient);

/* Computes what the tokens of types first to first + n - 1 become. */
int net_vectors(const struct net *net, const float *weights, const struct net_type *types, size_t n,
		struct net_work *work, float *out);

#endif /* TACT_TUNE_NET_H */
