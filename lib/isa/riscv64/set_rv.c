/* SPDX-License-Identifier: MIT
 *
 * The set itself.
 */
#include <elf.h>

#include "isa/assemble.h"
#include "isa/riscv64/riscv64.h"

/* clang-format off: a row of ten registers */
static const char *const register_names[RV_N_REGS] = {
	"zero",	 "ra",	   "sp",  "gp",	  "tp",	  "t0",	 "t1",	"t2",	"s0",	"s1",	 "a0",
	"a1",	 "a2",	   "a3",  "a4",	  "a5",	  "a6",	 "a7",	"s2",	"s3",	"s4",	 "s5",
	"s6",	 "s7",	   "s8",  "s9",	  "s10",  "s11", "t3",	"t4",	"t5",	"t6",	 "ft0",
	"ft1",	 "ft2",	   "ft3", "ft4",  "ft5",  "ft6", "ft7", "fs0",	"fs1",	"fa0",	 "fa1",
	"fa2",	 "fa3",	   "fa4", "fa5",  "fa6",  "fa7", "fs2", "fs3",	"fs4",	"fs5",	 "fs6",
	"fs7",	 "fs8",	   "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11", "v0",	 "v1",
	"v2",	 "v3",	   "v4",  "v5",	  "v6",	  "v7",	 "v8",	"v9",	"v10",	"v11",	 "v12",
	"v13",	 "v14",	   "v15", "v16",  "v17",  "v18", "v19", "v20",	"v21",	"v22",	 "v23",
	"v24",	 "v25",	   "v26", "v27",  "v28",  "v29", "v30", "v31",	"vl",	"vtype", "vxrm",
	"vxsat", "fflags", "frm",
};

#define F(n) "F" #n "_Q/F" #n "_D"
static const char *const llvm_registers[RV_N_REGS] = {
	"X0",  "X1",	"X2",	"X3",	 "X4",	   "X5",  "X6",	 "X7",	"X8",  "X9",  "X10", "X11",
	"X12", "X13",	"X14",	"X15",	 "X16",	   "X17", "X18", "X19", "X20", "X21", "X22", "X23",
	"X24", "X25",	"X26",	"X27",	 "X28",	   "X29", "X30", "X31", F(0),  F(1),  F(2),  F(3),
	F(4),  F(5),	F(6),	F(7),	 F(8),	   F(9),  F(10), F(11), F(12), F(13), F(14), F(15),
	F(16), F(17),	F(18),	F(19),	 F(20),	   F(21), F(22), F(23), F(24), F(25), F(26), F(27),
	F(28), F(29),	F(30),	F(31),	 "V0",	   "V1",  "V2",	 "V3",	"V4",  "V5",  "V6",  "V7",
	"V8",  "V9",	"V10",	"V11",	 "V12",	   "V13", "V14", "V15", "V16", "V17", "V18", "V19",
	"V20", "V21",	"V22",	"V23",	 "V24",	   "V25", "V26", "V27", "V28", "V29", "V30", "V31",
	"VL",  "VTYPE", "VXRM", "VXSAT", "FFLAGS", "FRM",
};
/* clang-format on */

/* All ratified extensions whose encodings collide with no others: Zcmp and vendors' do.  A version of
 * LLVM leaves out what it does not know.
 */
#define TRIPLE "riscv64-unknown-linux-gnu"
#define FEATURES                                                                                   \
	"+m,+a,+f,+d,+c,+v,+zicsr,+zifencei,+zicond,+zimop,+zcb,+zfh,+zfa,+zba,+zbb,"              \
	"+zbc,+zbs,+zbkb,+zbkc,+zbkx,+zknd,+zkne,+zknh,+zvfh,+zvbb,+zvbc,+zvkned,"                 \
	"+zvknhb,+zvkg,+zicbom,+zicbop,+zicboz,+zawrs,+zacas,+zabha,+zalasr,"                      \
	"+zihintpause,+zihintntl,+zcmop,+zksed,+zksh,+zvkb,+zvksed,+zvksh,+zfbfmin,"               \
	"+zvfbfmin,+zvfbfwma,+h,+svinval"

static const struct llvm_set_spec spec = {
	.size = sizeof(spec),
	.triple = TRIPLE,
	.features = FEATURES,
	.registers = llvm_registers,
	.n_registers = RV_N_REGS,
	.hints = rv_hints,
	.foreign = "QC_ TH_ CV_ NDS_ MIPS_ SF_ AIF_ SMT_ RI_",
};

static bool is_padding(const uint8_t *code, unsigned length)
{
	const uint32_t w = rv_word(code, length);

	return w == 0x00000013 || w == 0x0001; /* nop, c.nop */
}

static const struct mc_set set = {
	.isa = &isa_riscv64,
	.spec = &spec,
	.find_address = rv_find_address,
	.refine = rv_refine,
	.is_padding = is_padding,
	.categorize = rv_categorize,
	.extension = rv_extension,
	.count_flops = rv_count_flops,
	.is_scalar = rv_is_scalar,
};

static bool is_whole(const uint8_t *code, size_t size)
{
	return size >= 2 && size >= rv_length(code);
}

static int check(struct tact_diag *diag)
{
	return mc_check(&set, diag);
}

static int decode(struct tact_insn *insn, const uint8_t *code, size_t size)
{
	return is_whole(code, size) ? mc_decode(&set, insn, code, size) : -TACT_E_DECODE;
}

static int format(const uint8_t *code, size_t code_size, uint64_t address, char *text, size_t size)
{
	return is_whole(code, code_size) ? mc_format(&set, code, code_size, address, text, size)
					 : -TACT_E_DECODE;
}

static size_t scan(struct isa_step *steps, size_t max, const uint8_t *code, size_t size)
{
	return mc_scan(&set, 2, steps, max, code, size);
}

static void describe(struct isa_properties *out, const uint8_t *code, size_t size)
{
	mc_describe(&set, out, code, size);
}

static unsigned form_count(void)
{
	return mc_form_count(&set);
}

static const char *form_name(unsigned form)
{
	return mc_form_name(&set, form);
}

static unsigned form_find(const char *name)
{
	return mc_form_find(&set, name);
}

static int form_tell(unsigned form, struct tact_form *out)
{
	return mc_form_tell(&set, form, out);
}

static const char *form_extension(unsigned form)
{
	return mc_form_extension(&set, form);
}

static size_t encode_form(const char *form, bool is_indexed, uint8_t *code)
{
	return mc_form_encode(&set, form, is_indexed, code);
}

static const struct isa_forms forms = {
	.count = form_count,
	.name = form_name,
	.find = form_find,
	.tell = form_tell,
	.extension = form_extension,
};

static size_t lay_out(struct isa_layout *layouts, size_t max, const uint8_t *code, size_t size)
{
	size_t n = 0;

	for (size_t at = 0; n < max && at < size; n++) {
		if (!is_whole(code + at, size - at)) {
			layouts[n] = (struct isa_layout){.length = 0};
			return n + 1;
		}
		layouts[n] = (struct isa_layout){.length = (uint8_t)rv_length(code + at),
						 .head = (uint8_t)rv_length(code + at),
						 .disp_in_head = true,
						 .imm_in_head = true};
		at += layouts[n].length;
	}
	return n;
}

static const char *const own[] = {"tact_llvm_as", TRIPLE, FEATURES, NULL};

static const struct isa_assembler assembler = {
	.program = "LLVM's assembler",
	.package = "llvm-22-dev",
	.comments = "#",
	.own = own,
	.set = "RISC-V",
	.read_setting = rv_read_setting,
};

/* OSACA (osaca/parser/parser_RISCV.py): li a1, 111 (begin) or 222 (end), then the bytes of a nop. */
static const uint8_t marker_nop[] = {0x13, 0, 0, 0};
static const struct isa_marker markers[] = {
	{marker_nop, marker_nop, 0, 4, sizeof(marker_nop), 0x06f00593, 0x0de00593},
};

static const struct isa_example_code examples[ISA_N_EXAMPLES] = {
	[ISA_EXAMPLE_ALU] = {{0x33, 0x85, 0xc5, 0x00}, 4},    /* add a0, a1, a2 */
	[ISA_EXAMPLE_VECTOR] = {{0x53, 0xf5, 0xc5, 0x02}, 4}, /* fadd.d fa0, fa1, fa2 */
	[ISA_EXAMPLE_LOAD] = {{0x03, 0xb5, 0x05, 0x00}, 4},   /* ld a0, 0(a1) */
	[ISA_EXAMPLE_STORE] = {{0x23, 0xb0, 0xa5, 0x00}, 4},  /* sd a0, 0(a1) */
	[ISA_EXAMPLE_BRANCH] = {{0x6f, 0x00, 0x00, 0x00}, 4}, /* j . */
};

/* vsetvli a0, zero, e32, m1, ta, ma */
static const struct isa_example_code wide_example = {{0x57, 0x75, 0x00, 0x0d}, 4};

const struct tact_isa isa_riscv64 = {
	.name = "riscv64",
	.title = "RISC-V",
	.elf_machine = EM_RISCV,
	.elf_class = ELFCLASS64,
	.elf_data = ELFDATA2LSB,
	.elf_other = "32-bit",
	.multiarch = "riscv64-linux-gnu",
	.debian = "riscv64",
	.kernel_name = "riscv64",
	.llvm_triple = "riscv64",
	.qemu = "qemu-riscv64",
	.qemu_target = "riscv64",
	.qemu_cpu = "rv64",
	.qemu_wide_cpu = "rv64,v=true,vlen=128,vext_spec=v1.0",
	.wide_example = &wide_example,
	/* include/uapi/asm-generic/unistd.h of Linux */
	.calls = {.mmap = 222, .munmap = 215, .mremap = 216, .execve = 221, .execveat = 281},
	.registers = {.n = RV_N_REGS,
		      .n_general = 32,
		      .first_vector = RV_REG_F0,
		      .end_vector = RV_REG_V0,
		      .stack_pointer = RV_REG_SP,
		      .frame_pointer = RV_REG_FP,
		      .names = register_names},
	.llvm = &spec,
	.llvm_models =
		"andes-45-series rocket-rv64 sifive-7-series sifive-x390 sifive-p450 sifive-p670 "
		"sifive-p870 sifive-p550 spacemit-x60 syntacore-scr3-rv64 syntacore-scr7 "
		"tt-ascalon-d8 xiangshan-nanhu xiangshan-kunminghu mips-p8700",
	.llvm_examples = examples,
	.check = check,
	.decode = decode,
	.format = format,
	.cut_mnemonic = mc_cut_mnemonic,
	.lay_out = lay_out,
	.scan = scan,
	.retarget = rv_retarget,
	.follow = rv_follow,
	.describe = describe,
	.relocated_bytes = rv_relocated_bytes,
	.relocate = rv_relocate,
	.forms = &forms,
	.encode_form = encode_form,
	.assembler = &assembler,
	.markers = markers,
	.n_markers = ARRAY_SIZE(markers),
};
