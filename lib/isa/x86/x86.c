/* SPDX-License-Identifier: MIT
 *
 * The set itself.
 */
#include "isa/x86/x86.h"

#include <elf.h>
#include <string.h>

static const char *const register_names[X86_N_REGS] = {
	"rax",	 "rcx",	  "rdx",   "rbx",   "rsp",   "rbp",   "rsi",   "rdi",	"r8",
	"r9",	 "r10",	  "r11",   "r12",   "r13",   "r14",   "r15",   "xmm0",	"xmm1",
	"xmm2",	 "xmm3",  "xmm4",  "xmm5",  "xmm6",  "xmm7",  "xmm8",  "xmm9",	"xmm10",
	"xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "xmm16", "xmm17", "xmm18", "xmm19",
	"xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", "xmm28",
	"xmm29", "xmm30", "xmm31", "k0",    "k1",    "k2",    "k3",    "k4",	"k5",
	"k6",	 "k7",	  "mm0",   "mm1",   "mm2",   "mm3",   "mm4",   "mm5",	"mm6",
	"mm7",	 "st0",	  "st1",   "st2",   "st3",   "st4",   "st5",   "st6",	"st7",
	"es",	 "cs",	  "ss",	   "ds",    "fs",    "gs",    "other", "rip",	"flags",
};

/* IACA and OSACA: mov ebx, 111 (begin) or 222 (end), in either encoding, then a nop that compilers
 * never write (iacaMarks.h; OSACA, osaca/semantics/marker_utils.py).
 */
static const uint8_t marker_mov[] = {0xbb}, marker_long_mov[] = {0xc7, 0xc3},
		     marker_nop[] = {0x64, 0x67, 0x90};

static const struct isa_marker markers[] = {
	{marker_mov, marker_nop, sizeof(marker_mov), 4, sizeof(marker_nop), 111, 222},
	{marker_long_mov, marker_nop, sizeof(marker_long_mov), 4, sizeof(marker_nop), 111, 222},
};

/* nop dword ptr [rax + rax + NUMBER] */
static const struct isa_carrier long_nop = {
	.bytes = (const uint8_t[]){0x0f, 0x1f, 0x84, 0x00},
	.size = 4,
	.front = "\tnopl\t",
	.back = "(%rax,%rax)",
};

static unsigned relocated_bytes(unsigned type)
{
	return type == R_X86_64_PC32 || type == R_X86_64_PLT32 ? 4 : 0;
}

static void relocate(uint8_t *place, unsigned type, int64_t distance)
{
	const uint32_t value = (uint32_t)distance;

	(void)type;
	memcpy(place, &value, sizeof(value));
}

const struct tact_isa isa_x86 = {
	.name = "x86",
	.title = "x86-64",
	.elf_machine = EM_X86_64,
	.elf_class = ELFCLASS64,
	.elf_data = ELFDATA2LSB,
	.elf_other = "x32",
	.multiarch = "x86_64-linux-gnu",
	.kernel_name = "x86_64",
	.llvm_triple = "x86_64",
	.qemu = "qemu-x86_64",
	.qemu_target = "x86_64",
	.qemu_cpu = "max,-erms",
	.registers = {.n = X86_N_REGS,
		      .n_general = 16,
		      .first_vector = X86_REG_VEC0,
		      .end_vector = X86_REG_MASK0,
		      .stack_pointer = X86_REG_RSP,
		      .frame_pointer = X86_REG_RBP,
		      .n_flag_groups = 2,
		      .first_turning = X86_REG_X87,
		      .n_turning = 8,
		      .names = register_names},
#ifdef __x86_64__
	.native = &x86_native,
#endif
	.cpu_lines = x86_cpu_lines,
	.n_cpu_lines = &x86_n_cpu_lines,
	.is_in = x86_is_in,
	.product_code = x86_product_code,
	.decode = x86_decode,
	.format = x86_format,
	.cut_mnemonic = x86_cut_mnemonic,
	.lay_out = x86_lay_out,
	.scan = x86_scan,
	.may_lead_back = x86_may_lead_back,
	.may_call = x86_may_call,
	.call_kind = x86_call_kind,
	.retarget = x86_retarget,
	.describe = x86_describe,
	.turn = x86_turn,
	.exchanges = x86_exchanges,
	.prefetch_level = x86_prefetch_level,
	.relocated_bytes = relocated_bytes,
	.relocate = relocate,
	.forms = &isa_forms,
	.form_example = x86_form_example,
	.encode_form = x86_encode_form,
	.assembler = &x86_assembler,
	.markers = markers,
	.n_markers = ARRAY_SIZE(markers),
	.carrier = &long_nop,
	.rewriter = &x86_rewriter,
};
