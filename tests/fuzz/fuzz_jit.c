/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "obj/jit_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Maps and dumps of generated code: every function has a name, its code can be read and found. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jit_map map = {0};
	uint64_t sum = 0;

	if (jit_map_read_dump(&map, data, size) < 0)
		jit_map_read_text(&map, (const char *)data, size);
	for (size_t i = 0; i < map.n && i < 100; i++) {
		const struct jit_function f = map.functions[i];

		if (strlen(jit_map_name(&map, &f)) > JIT_MAX_NAME)
			__builtin_trap();
		for (uint64_t k = 0; f.has_code && k < f.size; k++)
			sum += map.codes[f.code + k];
		if (!jit_map_find(&map, f.address + f.size - 1, (const uint8_t *)"", 0))
			__builtin_trap();
	}
	if (sum == 42) /* so that every byte is really read */
		jit_map_fini(&map);
	jit_map_fini(&map);
	return 0;
}
