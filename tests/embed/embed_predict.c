/* SPDX-License-Identifier: MIT
 *
 * A program of somebody else's: predicts and simulates a block, on two threads at once.
 *
 * usage: embed_predict ARCH HEX [HEX]
 *
 * Prints two lines for each block, "HEX predict CYCLES" and "HEX simulate CYCLES".  With two blocks
 * each of them has a thread of its own.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <tact/tact.h>

enum { ROUNDS = 20 };

struct work {
	const struct tact_arch *arch;
	const char *hex;
	double predicted, simulated;
	int status;
};

static size_t parse_hex(uint8_t *code, size_t capacity, const char *hex)
{
	size_t n = 0;
	unsigned byte;

	for (; n < capacity && sscanf(hex + 2 * n, "%2x", &byte) == 1; n++)
		code[n] = (uint8_t)byte;
	return n;
}

static int run_once(struct work *w)
{
	struct tact_prediction prediction = {0};
	struct tact_simulation simulation = TACT_SIMULATION_INIT;
	struct tact_simulator *simulator = NULL;
	struct tact_block *block = NULL;
	struct tact_diag diag;
	uint8_t code[256];
	size_t size = parse_hex(code, sizeof(code), w->hex);
	int status;

	prediction.size = sizeof(prediction);
	simulation.size = sizeof(simulation);
	status = tact_block_create(&block, w->arch, NULL, &diag);
	if (status >= 0)
		status = tact_block_load(block, code, size, &diag);
	if (status >= 0)
		status = tact_predict(block, NULL, &prediction);
	if (status >= 0)
		status = tact_simulator_create(&simulator, NULL);
	if (status >= 0)
		status = tact_simulate(simulator, block, NULL, &simulation);
	w->predicted = prediction.cycles_per_iteration;
	w->simulated = simulation.cycles_per_iteration;
	tact_simulator_destroy(simulator);
	tact_block_destroy(block);
	return status;
}

static void *run(void *arg)
{
	struct work *w = arg;
	double first = 0;

	for (int i = 0; i < ROUNDS && w->status >= 0; i++) {
		w->status = run_once(w);
		if (i && w->predicted != first) /* the same every time */
			w->status = -TACT_E_INTERNAL;
		first = w->predicted;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct work works[2] = {{0}};
	pthread_t threads[2];
	int n = argc - 2;

	if (n < 1 || n > 2) {
		fprintf(stderr, "usage: embed_predict ARCH HEX [HEX]\n");
		return 2;
	}
	for (int i = 0; i < n; i++) {
		works[i].arch = tact_arch_find(argv[1]);
		works[i].hex = argv[2 + i];
		if (n > 1 && pthread_create(&threads[i], NULL, run, &works[i]))
			return 3;
	}
	if (n == 1)
		run(&works[0]);
	for (int i = 0; i < n; i++) {
		if (n > 1)
			pthread_join(threads[i], NULL);
		if (works[i].status < 0) {
			fprintf(stderr, "embed_predict: %s\n", tact_strerror(works[i].status));
			return 1;
		}
		printf("%s predict %.2f\n", works[i].hex, works[i].predicted);
		printf("%s simulate %.2f\n", works[i].hex, works[i].simulated);
	}
	return 0;
}
