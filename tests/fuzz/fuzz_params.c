/* SPDX-License-Identifier: MIT */
#include <tact/arch.h>
#include <tact/block.h>

#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Parameter files of CPUs, with lines for instruction forms.  What is read can be written and read
 * again, and a block can be lowered with it.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t code[] = {0x48, 0x0f, 0xaf, 0xc3, 0x48, 0x01, 0xd8, 0x48, 0x8b, 0x03};
	struct tact_arch *arch = NULL, *again = NULL;
	struct tact_block *block = NULL;
	struct tact_diag diag;
	char path[40];
	int fd = fuzz_file_open(path, data, size);

	if (fd < 0)
		return 0;
	if (tact_arch_derive(&arch, tact_arch_find("SKL"), path, &diag) < 0)
		goto out;
	if (tact_block_create(&block, arch, NULL, NULL) < 0 ||
	    tact_block_load(block, code, sizeof(code), NULL) < 0)
		__builtin_trap();
	if (tact_arch_save(arch, path, NULL, &diag) < 0 ||
	    tact_arch_derive(&again, tact_arch_find("SKL"), path, &diag) < 0)
		__builtin_trap();
out:
	tact_block_destroy(block);
	tact_arch_destroy(arch);
	tact_arch_destroy(again);
	close(fd);
	return 0;
}
