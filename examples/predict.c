/* SPDX-License-Identifier: MIT
 *
 * The library in a few lines: tells how many cycles these bytes take, and what limits them.
 *
 *   cc -o predict predict.c $(pkg-config --cflags --libs tact)
 *   ./predict SKL 4801d8
 */
#include <stdio.h>
#include <string.h>

#include <tact/tact.h>

/* Decodes a hex string.  Returns the number of bytes; 0 if the string is not hex or too long. */
static size_t parse_hex(uint8_t *code, size_t capacity, const char *hex)
{
	size_t n = strlen(hex);

	if (n % 2 || n / 2 > capacity)
		return 0;
	for (size_t i = 0; i < n / 2; i++) {
		unsigned byte;

		if (strspn(hex + 2 * i, "0123456789abcdefABCDEF") < 2 ||
		    sscanf(hex + 2 * i, "%2x", &byte) != 1)
			return 0;
		code[i] = (uint8_t)byte;
	}
	return n / 2;
}

static void print_prediction(const struct tact_arch *arch, const struct tact_prediction *p)
{
	const char *separator = " ";

	printf("%s: %.2f cycles per iteration, limited by", tact_arch_name(arch),
	       p->cycles_per_iteration);
	for (int bound = 0; bound < TACT_N_BOUNDS; bound++) {
		if (p->bottlenecks >> bound & 1) {
			printf("%s%s", separator, tact_bound_name(bound));
			separator = ", ";
		}
	}
	printf("\n");
}

int main(int argc, char **argv)
{
	uint8_t code[4096];
	struct tact_block *block = NULL;
	struct tact_prediction prediction = TACT_PREDICTION_INIT;
	struct tact_diag diag = {0};
	const struct tact_arch *arch;
	size_t size;
	int status;

	if (argc != 3) {
		fprintf(stderr, "usage: predict ARCH HEX\n");
		return 2;
	}
	arch = tact_arch_find(argv[1]);
	size = parse_hex(code, sizeof(code), argv[2]);
	if (!arch || !size) {
		fprintf(stderr, "predict: %s\n",
			arch ? "HEX is not a string of hex digits" : "unknown ARCH");
		return 2;
	}
	status = tact_block_create(&block, arch, NULL, &diag);
	if (status >= 0)
		status = tact_block_load(block, code, size, &diag);
	if (status >= 0)
		status = tact_predict(block, NULL, &prediction);
	if (status >= 0)
		print_prediction(arch, &prediction);
	else
		fprintf(stderr, "predict: %s: %s\n", tact_strerror(status), diag.text);
	tact_block_destroy(block);
	return status < 0;
}
