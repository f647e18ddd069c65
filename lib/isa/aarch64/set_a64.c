/* SPDX-License-Identifier: MIT
 *
 * The set itself.
 */
#include <elf.h>

#include "isa/aarch64/aarch64.h"
#include "isa/assemble.h"

/* clang-format off: a row of ten registers */
static const char *const register_names[A64_N_REGS] = {
	"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",	 "x7",	"x8",  "x9",  "x10", "x11",
	"x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",
	"x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp",	"v0",  "v1",  "v2",  "v3",
	"v4",  "v5",  "v6",  "v7",  "v8",  "v9",  "v10", "v11", "v12", "v13", "v14", "v15",
	"v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27",
	"v28", "v29", "v30", "v31", "p0",  "p1",  "p2",	 "p3",	"p4",  "p5",  "p6",  "p7",
	"p8",  "p9",  "p10", "p11", "p12", "p13", "p14", "p15", "ffr", "za",
};

static const char *const llvm_registers[A64_N_REGS] = {
	"X0",  "X1",  "X2",  "X3",  "X4",  "X5",  "X6",	 "X7",	"X8",  "X9",  "X10", "X11",
	"X12", "X13", "X14", "X15", "X16", "X17", "X18", "X19", "X20", "X21", "X22", "X23",
	"X24", "X25", "X26", "X27", "X28", "FP",  "LR",	 "SP",	"Z0",  "Z1",  "Z2",  "Z3",
	"Z4",  "Z5",  "Z6",  "Z7",  "Z8",  "Z9",  "Z10", "Z11", "Z12", "Z13", "Z14", "Z15",
	"Z16", "Z17", "Z18", "Z19", "Z20", "Z21", "Z22", "Z23", "Z24", "Z25", "Z26", "Z27",
	"Z28", "Z29", "Z30", "Z31", "P0",  "P1",  "P2",	 "P3",	"P4",  "P5",  "P6",  "P7",
	"P8",  "P9",  "P10", "P11", "P12", "P13", "P14", "P15", "FFR", "ZA",
};
/* clang-format on */

static const char *const llvm_flags[] = {"NZCV"};

/* Everything that LLVM can decode, for any CPU. */
#define TRIPLE	 "aarch64-unknown-linux-gnu"
#define FEATURES "+all"

static const struct llvm_set_spec spec = {
	.size = sizeof(spec),
	.triple = TRIPLE,
	.features = FEATURES,
	.registers = llvm_registers,
	.n_registers = A64_N_REGS,
	.flags = llvm_flags,
	.n_flags = ARRAY_SIZE(llvm_flags),
};

static bool is_padding(const uint8_t *code, unsigned length)
{
	(void)length;
	return a64_word(code) == 0xd503201f; /* nop */
}

static const struct mc_set set = {
	.isa = &isa_aarch64,
	.spec = &spec,
	.find_address = a64_find_address,
	.refine = a64_refine,
	.is_padding = is_padding,
	.categorize = a64_categorize,
	.extension = a64_extension,
	.count_flops = a64_count_flops,
	.is_scalar = a64_is_scalar,
};

static int check(struct tact_diag *diag)
{
	return mc_check(&set, diag);
}

static int decode(struct tact_insn *insn, const uint8_t *code, size_t size)
{
	return size < 4 ? -TACT_E_DECODE : mc_decode(&set, insn, code, size);
}

static int format(const uint8_t *code, size_t code_size, uint64_t address, char *text, size_t size)
{
	return code_size < 4 ? -TACT_E_DECODE
			     : mc_format(&set, code, code_size, address, text, size);
}

static size_t scan(struct isa_step *steps, size_t max, const uint8_t *code, size_t size)
{
	return mc_scan(&set, 4, steps, max, code, size);
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

	(void)code;
	for (; n < max && 4 * (n + 1) <= size; n++)
		layouts[n] = (struct isa_layout){
			.length = 4, .head = 4, .disp_in_head = true, .imm_in_head = true};
	if (!n && max && size)
		layouts[n++] = (struct isa_layout){.length = 0};
	return n;
}

/* ---- branches: words with a field for the distance in words ---- */

struct branch_field {
	uint32_t mask, value;
	unsigned type; /* of the relocation */
	unsigned low, bits;
};

static const struct branch_field fields[] = {
	{0x7c000000, 0x14000000, R_AARCH64_JUMP26, 0, 26}, /* b, bl */
	{0x7c000000, 0x14000000, R_AARCH64_CALL26, 0, 26},
	{0xff000000, 0x54000000, R_AARCH64_CONDBR19, 5, 19}, /* b.cond */
	{0x7e000000, 0x34000000, R_AARCH64_CONDBR19, 5, 19}, /* cbz */
	{0x7e000000, 0x36000000, R_AARCH64_TSTBR14, 5, 14},  /* tbz */
};

static bool set_distance(uint8_t *place, const struct branch_field *f, int64_t distance)
{
	const int64_t limit = 1ll << (f->bits + 1);
	const uint32_t mask = ((1u << f->bits) - 1) << f->low;
	uint32_t word = a64_word(place);

	if (distance & 3 || distance < -limit || distance >= limit)
		return false;
	word = (word & ~mask) | ((uint32_t)(distance / 4) << f->low & mask);
	memcpy(place, &word, sizeof(word));
	return true;
}

static bool retarget(uint8_t *insn, size_t length, int64_t distance)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields) && length == 4; i++)
		if ((a64_word(insn) & fields[i].mask) == fields[i].value)
			return set_distance(insn, &fields[i], distance);
	return false;
}

static unsigned relocated_bytes(unsigned type)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (fields[i].type == type)
			return 4;
	return 0;
}

static void relocate(uint8_t *place, unsigned type, int64_t distance)
{
	(void)type;
	retarget(place, 4, distance);
}

/* ---- text ---- */

static const char *const own[] = {"tact_llvm_as", TRIPLE, FEATURES, NULL};

static const struct isa_assembler assembler = {
	.program = "LLVM's assembler",
	.package = "llvm-22-dev",
	.comments = "",
	.own = own,
	.set = "AArch64",
};

/* OSACA (osaca/semantics/marker_utils.py): mov x1, #111 (begin) or #222 (end), then the bytes of a
 * nop, highest first, which are another instruction.
 */
static const uint8_t marker_bytes[] = {213, 3, 32, 31};
static const struct isa_marker markers[] = {
	{marker_bytes, marker_bytes, 0, 4, sizeof(marker_bytes), 0xd2800de1, 0xd2801bc1},
};

static const struct isa_example_code examples[ISA_N_EXAMPLES] = {
	[ISA_EXAMPLE_ALU] = {{0x20, 0x00, 0x02, 0x8b}, 4},    /* add x0, x1, x2 */
	[ISA_EXAMPLE_VECTOR] = {{0x20, 0x84, 0xa2, 0x4e}, 4}, /* add v0.4s, v1.4s, v2.4s */
	[ISA_EXAMPLE_LOAD] = {{0x20, 0x00, 0x40, 0xf9}, 4},   /* ldr x0, [x1] */
	[ISA_EXAMPLE_STORE] = {{0x20, 0x00, 0x00, 0xf9}, 4},  /* str x0, [x1] */
	[ISA_EXAMPLE_BRANCH] = {{0x00, 0x00, 0x00, 0x14}, 4}, /* b . */
};

/* SVE: add z0.b, z0.b, z1.b */
static const struct isa_example_code wide_example = {{0x00, 0x00, 0x21, 0x04}, 4};

const struct tact_isa isa_aarch64 = {
	.name = "aarch64",
	.title = "AArch64",
	.elf_machine = EM_AARCH64,
	.elf_class = ELFCLASS64,
	.elf_data = ELFDATA2LSB,
	.elf_other = "ILP32",
	.multiarch = "aarch64-linux-gnu",
	.debian = "arm64",
	.kernel_name = "aarch64",
	.llvm_triple = "aarch64",
	.qemu = "qemu-aarch64",
	.qemu_target = "aarch64",
	.qemu_cpu = "max,sve=off",
	.qemu_wide_cpu = "max,sve-default-vector-length=16",
	.wide_example = &wide_example,
	/* include/uapi/asm-generic/unistd.h of Linux */
	.calls = {.mmap = 222, .munmap = 215, .mremap = 216, .execve = 221, .execveat = 281},
	.registers = {.n = A64_N_REGS,
		      .n_general = 32,
		      .first_vector = A64_REG_V0,
		      .end_vector = A64_REG_P0,
		      .stack_pointer = A64_REG_SP,
		      .frame_pointer = 29,
		      .n_flag_groups = 1,
		      .names = register_names},
#ifdef __aarch64__
	.native = &a64_native,
#endif
	.llvm = &spec,
	.llvm_models =
		"ampere1 ampere1b a64fx cortex-a53 cortex-a55 cortex-a57 cortex-a510 cortex-a320 "
		"cyclone "
		"exynos-m3 exynos-m4 exynos-m5 falkor kryo neoverse-n1 neoverse-n2 neoverse-n3 "
		"neoverse-v1 neoverse-v2 neoverse-v3 olympus oryon-1 thunderx thunderx2t99 "
		"thunderx3t110 tsv110 c1-nano c1-ultra",
	.llvm_examples = examples,
	.check = check,
	.decode = decode,
	.format = format,
	.cut_mnemonic = mc_cut_mnemonic,
	.lay_out = lay_out,
	.scan = scan,
	.retarget = retarget,
	.describe = describe,
	.relocated_bytes = relocated_bytes,
	.relocate = relocate,
	.forms = &forms,
	.encode_form = encode_form,
	.assembler = &assembler,
	.markers = markers,
	.n_markers = ARRAY_SIZE(markers),
};
