/* SPDX-License-Identifier: MIT
 *
 * Addresses that an attacker would try.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "attack.h"

static const struct attack_place places[] = {
	/* the old child: host area, its orders, results, descriptors and signal stack */
	{"the old saved stack pointer", PLACE_FIXED, 0x3f0000000000},
	{"the old time stamps", PLACE_FIXED, 0x3f0000000008},
	{"the old time stamps, at the end", PLACE_FIXED, 0x3f0000000010},
	{"the old counter", PLACE_FIXED, 0x3f0000000018},
	{"the old frame", PLACE_FIXED, 0x3f0000000030},
	{"the old orders", PLACE_FIXED, 0x3f0000000070},
	{"the old results", PLACE_FIXED, 0x3f00000000dc},
	{"the old samples", PLACE_FIXED, 0x3f0000000918},
	{"the old quiet canaries", PLACE_FIXED, 0x3f0000047918},
	{"the old descriptors", PLACE_FIXED, 0x3f0000047930},
	{"the old signal stack", PLACE_FIXED, 0x3f0000057000},
	{"before the host area", PLACE_FIXED, 0x3effffffffc0},
	{"after the host area", PLACE_FIXED, 0x3f0000058000},
	/* areas with fixed addresses */
	{"the code area", PLACE_FIXED, 0x200000000000},
	{"the entry code", PLACE_FIXED, 0x200000001000},
	{"the end of the code area", PLACE_FIXED, 0x20000001fff0},
	{"before the code area", PLACE_FIXED, 0x1ffffffffff0},
	{"after the code area", PLACE_FIXED, 0x200000020000},
	{"the data area", PLACE_FIXED, 0x3e0000000000},
	{"the end of the data area", PLACE_FIXED, 0x3e0000000ff8},
	{"after the data area", PLACE_FIXED, 0x3e0000001000},
	{"the counter's page", PLACE_FIXED, 0x3e8000000000},
	{"thread-local data", PLACE_FIXED, 0x2a000000},
	{"before thread-local data", PLACE_FIXED, 0x29fffff8},
	/* the block's own pages */
	{"its own page", PLACE_FIXED, 0x12345600},
	{"its own page, misaligned", PLACE_FIXED, 0x12345601},
	{"the end of its own page", PLACE_FIXED, 0x12345ffc},
	{"before its own page", PLACE_FIXED, 0x12344ff8},
	{"its stack", PLACE_FIXED, 0x12355a00},
	{"its frame", PLACE_FIXED, 0x12365200},
	/* where programs are */
	{"a static program", PLACE_FIXED, 0x400000},
	{"its text", PLACE_FIXED, 0x401000},
	{"a program with PIE", PLACE_FIXED, 0x555555554000},
	{"the vdso without randomness", PLACE_FIXED, 0x7ffff7fc1000},
	{"vvar without randomness", PLACE_FIXED, 0x7ffff7fbd000},
	{"a stack without randomness", PLACE_FIXED, 0x7fffffffe000},
	{"the last word of a stack", PLACE_FIXED, 0x7fffffffeff8},
	{"the last page", PLACE_FIXED, 0x7ffffffff000},
	{"before the last page", PLACE_FIXED, 0x7fffffffeff0},
	/* what cannot be mapped */
	{"null", PLACE_FIXED, 0},
	{"the end of what is null", PLACE_FIXED, 0xfff8},
	{"the first page", PLACE_FIXED, 0x10000},
	{"the first non-canonical address", PLACE_FIXED, 0x800000000000},
	{"a non-canonical address", PLACE_FIXED, 0x1234567812345678},
	{"the kernel", PLACE_FIXED, 0xffff800000000000},
	{"the kernel's text", PLACE_FIXED, 0xffffffff81000000},
	{"vsyscall", PLACE_FIXED, 0xffffffffff600000},
	{"the last word", PLACE_FIXED, 0xfffffffffffffff8},
	{"the end of 4 GB", PLACE_FIXED, 0xfffffff8},
	{"after 4 GB", PLACE_FIXED, 0x100000000},
	/* relative ones */
	{"itself", PLACE_CODE, 0},
	{"right before itself", PLACE_CODE, (uint64_t)-64},
	{"a page before itself", PLACE_CODE, (uint64_t)-4096},
	{"two pages before itself", PLACE_CODE, (uint64_t)-8192},
	{"a page after itself", PLACE_CODE, 4096},
	{"what follows its copies", PLACE_CODE, 24576},
	{"its stack pointer", PLACE_STACK, 0},
	{"below its stack pointer", PLACE_STACK, (uint64_t)-8},
	{"far below its stack pointer", PLACE_STACK, (uint64_t)-65536},
	{"a page above its stack pointer", PLACE_STACK, 4096},
	{"fs:0", PLACE_FS, 0},
	{"gs:0", PLACE_GS, 0},
	{"fs:0x28", PLACE_FS, 0x28},
	{"below fs", PLACE_FS, (uint64_t)-8},
};

const struct attack_place *attack_place(unsigned i)
{
	return i < ARRAY_SIZE(places) ? &places[i] : NULL;
}

void code_place(struct bytes *b, unsigned reg, const struct attack_place *p)
{
	uint32_t offset = (uint32_t)p->at;
	uint8_t rex = (uint8_t)(0x48 | (reg >> 3) << 2), field = (uint8_t)((reg & 7) << 3);

	switch (p->kind) {
	case PLACE_CODE: /* lea reg, [rip + offset] */
		CODE(b, rex, 0x8d, (uint8_t)(0x05 | field));
		put_bytes(b, &offset, 4);
		break;
	case PLACE_STACK: /* lea reg, [rsp + offset] */
		CODE(b, rex, 0x8d, (uint8_t)(0x84 | field), 0x24);
		put_bytes(b, &offset, 4);
		break;
	case PLACE_FS: /* the word there is an address, perhaps: mov reg, fs:[offset] */
	case PLACE_GS:
		CODE(b, p->kind == PLACE_FS ? 0x64 : 0x65, rex, 0x8b, (uint8_t)(0x04 | field),
		     0x25);
		put_bytes(b, &offset, 4);
		break;
	default:
		code_move(b, reg, p->at);
	}
}
