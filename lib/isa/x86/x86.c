/* SPDX-License-Identifier: MIT
 *
 * The set itself.
 */
#include "isa/x86/x86.h"

#include <elf.h>
#include <string.h>

#include "llvm/llvm_wire.h"

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

/* clang-format off: a row of eight registers */
static const char *const llvm_registers[X86_N_REGS] = {
	"RAX",	 "RCX",	  "RDX",   "RBX",   "RSP",   "RBP",   "RSI",   "RDI",	"R8",
	"R9",	 "R10",	  "R11",   "R12",   "R13",   "R14",   "R15",   "ZMM0",	"ZMM1",
	"ZMM2",	 "ZMM3",  "ZMM4",  "ZMM5",  "ZMM6",  "ZMM7",  "ZMM8",  "ZMM9",	"ZMM10",
	"ZMM11", "ZMM12", "ZMM13", "ZMM14", "ZMM15", "ZMM16", "ZMM17", "ZMM18", "ZMM19",
	"ZMM20", "ZMM21", "ZMM22", "ZMM23", "ZMM24", "ZMM25", "ZMM26", "ZMM27", "ZMM28",
	"ZMM29", "ZMM30", "ZMM31", "K0",    "K1",    "K2",    "K3",    "K4",	"K5",
	"K6",	 "K7",	  "MM0",   "MM1",   "MM2",   "MM3",   "MM4",   "MM5",	"MM6",
	"MM7",	 "ST0",	  "ST1",   "ST2",   "ST3",   "ST4",   "ST5",   "ST6",	"ST7",
	"ES",	 "CS",	  "SS",	   "DS",    "FS",    "GS",    "",      "",	"",
};
/* clang-format on */

/* Both groups of flags are one register there. */
static const char *const llvm_flags[] = {"EFLAGS", "EFLAGS"};

static const struct llvm_set_spec llvm_spec = {
	.size = sizeof(llvm_spec),
	.triple = "x86_64-unknown-linux-gnu",
	.features = "",
	.registers = llvm_registers,
	.n_registers = X86_N_REGS,
	.flags = llvm_flags,
	.n_flags = ARRAY_SIZE(llvm_flags),
};

static const struct isa_example_code llvm_examples[ISA_N_EXAMPLES] = {
	[ISA_EXAMPLE_ALU] = {{0x48, 0x01, 0xd0}, 3},	      /* add rax, rdx */
	[ISA_EXAMPLE_VECTOR] = {{0x66, 0x0f, 0xfe, 0xc1}, 4}, /* paddd xmm0, xmm1 */
	[ISA_EXAMPLE_LOAD] = {{0x48, 0x8b, 0x03}, 3},	      /* mov rax, [rbx] */
	[ISA_EXAMPLE_STORE] = {{0x48, 0x89, 0x03}, 3},	      /* mov [rbx], rax */
	[ISA_EXAMPLE_BRANCH] = {{0xeb, 0xfe}, 2},	      /* jmp . */
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
	.debian = "amd64",
	.kernel_name = "x86_64",
	.llvm_triple = "x86_64",
	.llvm = &llvm_spec,
	.llvm_models =
		"atom slm bdver2 btver2 sandybridge haswell broadwell skylake skylake-avx512 "
		"icelake-server alderlake sapphirerapids lunarlake znver1 znver2 znver3 znver4",
	.llvm_examples = llvm_examples,
	.qemu = "qemu-x86_64",
	.qemu_target = "x86_64",
	.qemu_cpu = "max,-erms",
	.repeats_strings = true,
	/* arch/x86/entry/syscalls/syscall_64.tbl of Linux */
	.calls = {.mmap = 9, .munmap = 11, .mremap = 25, .execve = 59, .execveat = 322},
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
	.format_att = x86_format_att,
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
