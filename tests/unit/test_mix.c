/* SPDX-License-Identifier: MIT
 *
 * Counts of blocks from recordings whose truth is known: the code is that of this very program.
 */
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <math.h>
#include <unistd.h>

#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include "mix/bias.h"
#include "mix/live.h"
#include "mix/mix.h"
#include "mix/virtual.h"
#include "perf_attrs.h"
#include "support.h"

/* Three blocks: a loop of 4 instructions, 20 instructions after it that end in a jump back, and
 * code that is never reached.
 */
__asm__(".text\n"
	".globl mix_test_code, mix_test_branch, mix_test_long, mix_test_jump, mix_test_end\n"
	".type mix_test_code, @function\n"
	"mix_test_code:\n"
	"	add $1, %rax\n"
	"	mulsd %xmm1, %xmm0\n"
	"	cmp %rax, %rcx\n"
	"mix_test_branch:\n"
	"	jne mix_test_code\n"
	"mix_test_long:\n"
	"	.rept 18\n"
	"	vaddps %ymm0, %ymm1, %ymm2\n"
	"	.endr\n"
	"	mov %rax, (%rdi)\n"
	"mix_test_jump:\n"
	"	jmp mix_test_code\n"
	"mix_test_end:\n"
	"	ret\n"
	".size mix_test_code, . - mix_test_code\n");
extern const char mix_test_code[], mix_test_branch[], mix_test_long[], mix_test_jump[],
	mix_test_end[];

enum { EBS_PERIOD = 1000, LBR_PERIOD = 100, STACK = 5, PID = 42 };

struct recording {
	char path[40];
	struct pmu_writer *w;
	uint64_t time;
};

/* The map of this program's code, as the kernel reports it. */
static void find_self(struct pmu_map *map, char *path, size_t size)
{
	const uint64_t here = (uint64_t)(uintptr_t)mix_test_code;
	FILE *file = fopen("/proc/self/maps", "r");
	char line[4096], name[3000];
	uint64_t begin, end, offset;

	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %2999[^\n]",
			   &begin, &end, &offset, name) == 4 &&
		    here >= begin && here < end)
			break;
	fclose(file);
	snprintf(path, size, "%s", name);
	*map = (struct pmu_map){.address = begin,
				.size = end - begin,
				.offset = offset,
				.path = path,
				.is_executable = true};
}

static void begin(struct recording *r, bool with_map)
{
	static const struct pmu_attr attrs[2] = PERF_ATTRS(EBS_PERIOD, LBR_PERIOD);
	static const uint64_t ids[2] = {1, 2};
	struct pmu_map map;
	char path[3000];
	int fd;

	strcpy(r->path, "/tmp/tact-mix-XXXXXX");
	fd = mkstemp(r->path);
	assert_true(fd >= 0);
	close(fd);
	r->time = 100;
	assert_int_equal(pmu_writer_create(&r->w, r->path, attrs, 2, ids, 1, NULL), 0);
	pmu_writer_comm(r->w, PID, PID, "self", true, 1);
	find_self(&map, path, sizeof(path));
	if (with_map)
		pmu_writer_map(r->w, PID, &map, PMU_MODE_USER, 2);
}

static void sample(struct recording *r, const char *ip, uint32_t tid, unsigned n)
{
	struct pmu_sample s = {
		.ip = (uint64_t)(uintptr_t)ip, .period = EBS_PERIOD, .pid = PID, .tid = tid};

	while (n--) {
		s.time = r->time++;
		pmu_writer_sample(r->w, 0, &s, PMU_MODE_USER);
	}
}

static void stack(struct recording *r, const struct pmu_branch branches[STACK], unsigned n)
{
	struct pmu_sample s = {.ip = branches[0].to,
			       .period = LBR_PERIOD,
			       .pid = PID,
			       .tid = PID,
			       .n_branches = STACK,
			       .branches = (const uint8_t *)branches};

	while (n--) {
		s.time = r->time++;
		pmu_writer_sample(r->w, 1, &s, PMU_MODE_USER);
	}
}

static uint64_t at(const char *code)
{
	return (uint64_t)(uintptr_t)code;
}

static struct tact_mix *end(struct recording *r, enum tact_mix_method method)
{
	struct tact_mix_options o = {.size = sizeof(o), .method = method};
	struct tact_diag diag = {0};
	struct tact_mix *mix = NULL;

	if (r->w)
		assert_int_equal(pmu_writer_finish(r->w, &diag), 0);
	r->w = NULL;
	if (tact_mix_open(&mix, r->path, &o, &diag) < 0)
		fail_msg("%s", diag.text);
	return mix;
}

/* The block of this program that begins at a label. */
static struct tact_mix_block block_at(const struct tact_mix *mix, const char *code)
{
	struct tact_mix_block b = TACT_MIX_BLOCK_INIT;

	for (size_t i = 0; i < tact_mix_block_count(mix); i++) {
		assert_int_equal(tact_mix_get_block(mix, i, &b), 0);
		if (!memcmp(b.code, code, b.code_size) && (b.address & 15) == (at(code) & 15))
			return b;
	}
	fail_msg("no such block");
	return b;
}

/* Five rounds of the loop per stack; or the way out of it and back. */
static void fill(struct recording *r)
{
	const struct pmu_branch back = {at(mix_test_branch), at(mix_test_code), 0};
	const struct pmu_branch around = {at(mix_test_jump), at(mix_test_code), 0};
	const struct pmu_branch loop[STACK] = {back, back, back, back, back};
	const struct pmu_branch out[STACK] = {back, around, back, back, back};

	sample(r, mix_test_code, PID, 30);
	sample(r, mix_test_branch, PID + 1, 10);
	sample(r, mix_test_long, PID, 60);
	stack(r, loop, 75);
	stack(r, out, 25);
}

TEST(test_methods)
{
	struct recording r;
	struct tact_mix *mix;
	struct tact_mix_block b = TACT_MIX_BLOCK_INIT;
	struct tact_mix_summary s = TACT_MIX_SUMMARY_INIT;

	begin(&r, true);
	fill(&r);
	mix = end(&r, TACT_MIX_EBS);
	b = block_at(mix, mix_test_code);
	assert_int_equal(b.length, 4);
	assert_true(b.is_loop);
	assert_string_equal(b.function, "mix_test_code");
	assert_true(fabs(b.executions - 40.0 * EBS_PERIOD / 4) < 1e-6);
	b = block_at(mix, mix_test_long);
	assert_int_equal(b.length, 20);
	assert_true(fabs(b.executions - 60.0 * EBS_PERIOD / 20) < 1e-6);
	tact_mix_close(mix);

	/* 100 stacks of 4 streams, each of weight 1/4: 100 * 100 streams; all run through the
	 * loop's block, one of four in a quarter of the stacks through the long one.
	 */
	mix = end(&r, TACT_MIX_LBR);
	b = block_at(mix, mix_test_code);
	assert_true(fabs(b.executions - 100.0 * LBR_PERIOD) < 1e-6);
	assert_int_equal(b.lbr_streams, 400);
	b = block_at(mix, mix_test_long);
	assert_true(fabs(b.executions - 25.0 * LBR_PERIOD / 4) < 1e-6);
	tact_mix_close(mix);

	/* The paper's rule: 4 instructions by stacks, 20 by samples; and the sum is that of the
	 * samples. */
	mix = end(&r, TACT_MIX_HYBRID);
	b = block_at(mix, mix_test_code);
	assert_int_equal(b.method, TACT_MIX_LBR);
	assert_true(fabs(b.executions - 40.0 * EBS_PERIOD / 4) < 1e-6);
	b = block_at(mix, mix_test_long);
	assert_int_equal(b.method, TACT_MIX_EBS);
	assert_true(fabs(b.executions - 60.0 * EBS_PERIOD / 20) < 1e-6);
	assert_int_equal(tact_mix_get_summary(mix, &s), 0);
	assert_int_equal(s.rung, TACT_MIX_RUNG_LBR);
	assert_int_equal(s.ebs_samples, 100);
	assert_int_equal(s.lbr_samples, 100);
	assert_int_equal(s.outside_samples, 0);
	assert_int_equal(s.impossible_streams, 0);
	assert_false(s.is_relative);
	assert_int_equal(s.flow_outliers, 0);
	assert_int_equal(s.threads, 2);
	tact_mix_close(mix);
	unlink(r.path);
}

/* Samples elsewhere, streams that control flow does not allow, newest pairs that are worse than
 * others. */
TEST(test_outside)
{
	const struct pmu_branch back = {at(mix_test_branch), at(mix_test_code), 0};
	const struct pmu_branch backwards = {at(mix_test_code), at(mix_test_code), 0};
	const struct pmu_branch wrong[STACK] = {{at(mix_test_code), at(mix_test_end), 0},
						{at(mix_test_jump), at(mix_test_long), 0},
						back,
						back,
						back};
	const struct pmu_branch nowhere[STACK] = {
		{5, 6, 0}, {7, 8, 0}, {9, 10, 0}, {1, 2, 0}, {3, 4, 0}};
	struct tact_mix_missing missing = TACT_MIX_MISSING_INIT;
	struct tact_mix_summary s = TACT_MIX_SUMMARY_INIT;
	struct recording r;
	struct tact_mix *mix;

	(void)backwards;
	begin(&r, true);
	fill(&r);
	sample(&r, (const char *)0x1000, PID, 7);
	stack(&r, wrong, 20);
	stack(&r, nowhere, 3);
	mix = end(&r, TACT_MIX_HYBRID);
	tact_mix_get_summary(mix, &s);
	assert_int_equal(s.outside_samples, 7);
	assert_int_equal(s.outside_streams, 12);
	/* to long, from code: the source is before the target */
	assert_int_equal(s.impossible_streams, 20);
	assert_true(s.newest_impossible > 0.1);
	assert_true(s.other_impossible == 0);
	assert_true(s.newest_dropped);
	tact_mix_close(mix);
	unlink(r.path);

	begin(&r, false);
	fill(&r);
	mix = end(&r, TACT_MIX_HYBRID);
	tact_mix_get_summary(mix, &s);
	assert_int_equal(s.outside_samples, 100);
	assert_int_equal(s.blocks, 0);
	assert_int_equal(tact_mix_get_missing(mix, 0, &missing), -TACT_E_INVAL);
	tact_mix_close(mix);
	unlink(r.path);
}

TEST(test_bias)
{
	const struct pmu_branch back = {at(mix_test_branch), at(mix_test_code), 0};
	const struct pmu_branch around = {at(mix_test_jump), at(mix_test_code), 0};
	const struct pmu_branch biased[STACK] = {back, back, back, back, around};
	struct tact_mix_summary s = TACT_MIX_SUMMARY_INIT;
	struct recording r;
	struct tact_mix *mix;

	begin(&r, true);
	fill(&r);
	stack(&r, biased, 100);
	mix = end(&r, TACT_MIX_HYBRID);
	tact_mix_get_summary(mix, &s);
	assert_int_equal(s.biased_blocks, 1);
	assert_true(block_at(mix, mix_test_long).is_biased);
	assert_true(block_at(mix, mix_test_long).bias > 0.7);
	assert_false(block_at(mix, mix_test_code).is_biased);
	tact_mix_close(mix);
	unlink(r.path);
}

static double executions(const struct tact_mix_pivot *p, const char *key)
{
	struct tact_mix_row row = TACT_MIX_ROW_INIT;

	for (size_t i = 0; i < tact_mix_pivot_count(p); i++) {
		assert_int_equal(tact_mix_pivot_get_row(p, i, &row), 0);
		if (!strcmp(row.key[0], key))
			return row.executions;
	}
	return 0;
}

static void check_pivot(struct tact_mix *mix, enum tact_mix_key key, const char *value,
			double wanted)
{
	struct tact_mix_pivot_options o = {.size = sizeof(o), .keys = {key}, .n_keys = 1};
	struct tact_mix_pivot *p;

	assert_int_equal(tact_mix_pivot_create(&p, mix, &o, NULL), 0);
	if (fabs(executions(p, value) - wanted) > 1e-6 * wanted)
		fail_msg("%s: %f instead of %f", value, executions(p, value), wanted);
	tact_mix_pivot_destroy(p);
}

enum { KERNEL_SIZE = 64 };
static const uint64_t kernel_text = UINT64_C(0xffffffff81000000);

/* A core file of a kernel of one function: 62 nops, and a jump to the first one. */
static void write_kernel(const char *symbols, const char *memory)
{
	const Elf64_Phdr segment = {.p_type = PT_LOAD,
				    .p_offset = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr),
				    .p_vaddr = kernel_text,
				    .p_filesz = KERNEL_SIZE,
				    .p_memsz = KERNEL_SIZE};
	Elf64_Ehdr header = {.e_phoff = sizeof(header), .e_phnum = 1};
	uint8_t code[KERNEL_SIZE];
	FILE *f = fopen(symbols, "w");

	assert_non_null(f);
	fprintf(f, "%" PRIx64 " T _stext\n%" PRIx64 " T work\n%" PRIx64 " T _etext\n", kernel_text,
		kernel_text, kernel_text + KERNEL_SIZE);
	fprintf(f, "ffffffffc0000000 t other\t[module]\n");
	fclose(f);
	memset(code, 0x90, sizeof(code));
	code[KERNEL_SIZE - 2] = 0xeb;
	code[KERNEL_SIZE - 1] = 0x100 - KERNEL_SIZE;
	memcpy(header.e_ident, ELFMAG, SELFMAG);
	f = fopen(memory, "w");
	assert_non_null(f);
	assert_true(fwrite(&header, sizeof(header), 1, f) &&
		    fwrite(&segment, sizeof(segment), 1, f) && fwrite(code, sizeof(code), 1, f));
	fclose(f);
}

/* A recording of a kernel, read on a machine whose kernel is another one. */
TEST(test_kernel_of_another_machine)
{
	const struct pmu_map map = {.address = kernel_text,
				    .size = KERNEL_SIZE,
				    .offset = kernel_text,
				    .path = "[kernel.kallsyms]_text",
				    .is_executable = true};
	struct tact_mix_options o = TACT_MIX_OPTIONS_INIT;
	struct tact_mix_block b = TACT_MIX_BLOCK_INIT;
	char symbols[60], memory[60];
	struct tact_mix *mix;
	struct recording r;

	begin(&r, false);
	pmu_writer_map(r.w, UINT32_MAX, &map, PMU_MODE_KERNEL, 1);
	sample(&r, (const char *)(uintptr_t)(kernel_text + 10), PID, 126);
	assert_int_equal(pmu_writer_finish(r.w, NULL), 0);
	snprintf(symbols, sizeof(symbols), "%s.symbols", r.path);
	snprintf(memory, sizeof(memory), "%s.memory", r.path);
	write_kernel(symbols, memory);
	o.kallsyms = symbols;
	assert_int_equal(tact_mix_open(&mix, r.path, &o, NULL), -TACT_E_INVAL);
	o.kcore = memory;
	assert_int_equal(tact_mix_open(&mix, r.path, &o, NULL), 0);
	assert_int_equal(tact_mix_block_count(mix), 1);
	assert_int_equal(tact_mix_get_block(mix, 0, &b), 0);
	assert_string_equal(b.function, "work");
	assert_int_equal(b.length, 63);
	assert_true(fabs(b.executions - 126.0 * EBS_PERIOD / 63) < 1e-6);
	check_pivot(mix, TACT_MIX_BY_RING, "kernel", 126.0 * EBS_PERIOD);
	tact_mix_close(mix);
	/* Without memory there is no code, and a reason. */
	o.kcore = symbols;
	assert_int_equal(tact_mix_open(&mix, r.path, &o, NULL), 0);
	assert_int_equal(tact_mix_block_count(mix), 0);
	tact_mix_close(mix);
	unlink(symbols);
	unlink(memory);
	unlink(r.path);
}

/* Worked out by hand from the weights in bias.c. */
TEST(test_doubt)
{
	struct mix_signs row = {.executions = 100,
				.ebs = 100,
				.plain = 90,
				.completed = 100,
				.places = {10, 10, 10, 10},
				.chance = 25};
	const struct mix_signs all = {.executions = 1000,
				      .ebs = 1000,
				      .plain = 1000,
				      .completed = 1000,
				      .places = {100, 100, 100, 100}};
	struct tact_mix mix = {.has_ebs = true,
			       .has_lbr = true,
			       .ebs_is_absolute = true,
			       .lbr_is_absolute = true,
			       .summary = {.method = TACT_MIX_HYBRID}};
	struct mix_doubt d = mix_doubt_of(&mix, &row, &all);

	assert_true(!d.is_unknown && fabs(d.chance - 0.33 * 5) < 1e-9);
	assert_true(fabs(d.bias - 0.79 * 10) < 1e-9 && d.reach > 2);
	/* Half of the stack shows none of it: a standard deviation of 5% of everything. */
	row = (struct mix_signs){.executions = 50, .plain = 50, .places = {10, 10, 0, 0}};
	d = mix_doubt_of(&mix, &row, &all);
	assert_true(fabs(d.bias - 0.15 * 50) < 1e-9);
	/* Stacks at moments in time are worth less. */
	mix.has_ebs = mix.lbr_is_absolute = false;
	mix.summary.method = TACT_MIX_LBR;
	assert_true(mix_is_timed(&mix));
	assert_true(mix_doubt_of(&mix, &row, &all).bias > 2 * d.bias);
	row.is_unknown = true;
	assert_true(mix_doubt_of(&mix, &row, &all).is_unknown);
	/* Samples of time say nothing of executions. */
	row.is_unknown = mix.has_lbr = mix.ebs_is_absolute = false;
	mix.summary.method = TACT_MIX_EBS;
	assert_true(mix_doubt_of(&mix, &row, &all).is_unknown);
	mix.has_exact = true;
	assert_true(mix_doubt_of(&mix, &row, &all).bias == 0);
}

TEST(test_phases)
{
	double counts[] = {600, 400};
	const struct mix_phases phases = {
		.all = counts, .n = 2, .total = 1000, .squares = 600 * 600 + 400 * 400};
	const struct mix_in_phase parts[] = {{0, 0, 60}, {0, 1, 40}}, one = {0, 0, 60};

	/* The same share of each phase: it does not matter which one counts too much. */
	assert_true(mix_phases_doubt(&phases, parts, 2) < 1e-6);
	/* 60 of the first and none of the second: 24 from what the share would be, each. */
	assert_true(fabs(mix_phases_doubt(&phases, &one, 1) - 24 * sqrt(2)) < 1e-6);
}

static size_t find_key(const struct tact_mix_pivot *p, const char *key)
{
	struct tact_mix_row row = TACT_MIX_ROW_INIT;

	for (size_t i = 0; !tact_mix_pivot_get_row(p, i, &row); i++)
		if (!strcmp(row.key[0], key))
			return i;
	return SIZE_MAX;
}

/* Rows are mnemonics, columns whether memory is used. */
static void check_cross(struct tact_mix *mix, double loop, double out)
{
	const enum tact_mix_key columns[] = {TACT_MIX_BY_MEMORY, TACT_MIX_BY_BLOCK};
	struct tact_mix_row cell = TACT_MIX_ROW_INIT;
	struct tact_mix_pivot_options o = {.size = sizeof(o)};
	struct tact_mix_cross *cross;
	size_t mov, mul, none, write;

	assert_int_equal(tact_mix_cross_create(&cross, &mix, 1, NULL, columns, 1, NULL), 0);
	mov = find_key(tact_mix_cross_rows(cross), "mov");
	mul = find_key(tact_mix_cross_rows(cross), "mulsd");
	none = find_key(tact_mix_cross_columns(cross), "none");
	write = find_key(tact_mix_cross_columns(cross), "write");
	assert_int_equal(tact_mix_pivot_count(tact_mix_cross_columns(cross)), 2);
	assert_int_equal(tact_mix_cross_get_cell(cross, mov, write, &cell), 1);
	assert_true(fabs(cell.executions - out) < 1e-6 && fabs(cell.entries - out) < 1e-6);
	assert_int_equal(tact_mix_cross_get_cell(cross, mul, none, &cell), 1);
	assert_true(fabs(cell.executions - loop) < 1e-6 && fabs(cell.flops - loop) < 1e-6);
	assert_true(cell.low < loop && cell.high > loop && cell.code == NULL);
	assert_int_equal(tact_mix_cross_get_cell(cross, mov, none, &cell), 0);
	assert_true(cell.executions == 0);
	assert_int_equal(tact_mix_cross_get_cell(cross, mov, 2, &cell), -TACT_E_INVAL);
	assert_int_equal(tact_mix_cross_get_cell(NULL, 0, 0, &cell), -TACT_E_INVAL);
	tact_mix_cross_destroy(cross);

	/* With blocks: each column is one, with its code. */
	o.keys[0] = TACT_MIX_BY_FUNCTION;
	o.n_keys = 1;
	assert_int_equal(tact_mix_cross_create(&cross, &mix, 1, &o, columns + 1, 1, NULL), 0);
	assert_int_equal(tact_mix_pivot_count(tact_mix_cross_columns(cross)), 2);
	assert_int_equal(tact_mix_pivot_get_row(tact_mix_cross_columns(cross), 0, &cell), 0);
	assert_true(cell.code && cell.code_size > 4 && cell.address);
	tact_mix_cross_destroy(cross);
	assert_null(tact_mix_cross_rows(NULL));
	assert_null(tact_mix_cross_columns(NULL));
	tact_mix_cross_destroy(NULL);

	assert_int_equal(tact_mix_cross_create(&cross, &mix, 1, NULL, columns, 0, NULL),
			 -TACT_E_INVAL);
	assert_int_equal(tact_mix_cross_create(&cross, &mix, 1, NULL, NULL, 1, NULL),
			 -TACT_E_INVAL);
	assert_int_equal(tact_mix_cross_create(&cross, &mix, 1, NULL, columns, 6, NULL),
			 -TACT_E_INVAL);
	assert_null(cross);
}

TEST(test_pivot)
{
	/* EBS: 10,000 executions of the loop, 3,000 of the long block. */
	const double loop = 10000, out = 3000;
	const char text[] =
		"# groups\nfloat: *mul* form=VADDPS*\nlast: jmp category=cond_br+width=0\n";
	struct tact_mix_filter filter = {TACT_MIX_BY_EXTENSION, "AVX*", false};
	struct tact_mix_pivot_options o = {.size = sizeof(o)};
	struct tact_mix_taxonomy *taxonomy;
	struct tact_mix_figures f = TACT_MIX_FIGURES_INIT;
	struct tact_mix_pivot *p, *q;
	struct recording r;
	struct tact_mix *mix;
	double error;

	begin(&r, true);
	fill(&r);
	mix = end(&r, TACT_MIX_EBS);
	check_pivot(mix, TACT_MIX_BY_MNEMONIC, "mulsd", loop);
	check_pivot(mix, TACT_MIX_BY_MNEMONIC, "vaddps", 18 * out);
	check_pivot(mix, TACT_MIX_BY_PACKING, "packed", 18 * out);
	check_pivot(mix, TACT_MIX_BY_PACKING, "scalar", loop);
	check_pivot(mix, TACT_MIX_BY_WIDTH, "256", 18 * out);
	check_pivot(mix, TACT_MIX_BY_MEMORY, "write", out);
	check_pivot(mix, TACT_MIX_BY_EXTENSION, "AVX", 18 * out);
	check_pivot(mix, TACT_MIX_BY_CATEGORY, "COND_BR", loop);
	check_pivot(mix, TACT_MIX_BY_FUNCTION, "mix_test_code", 4 * loop + 20 * out);
	check_pivot(mix, TACT_MIX_BY_THREAD, "? 42/43",
		    loop); /* a quarter of the loop's samples, 4 each */
	check_pivot(mix, TACT_MIX_BY_METHOD, "ebs", 4 * loop + 20 * out);

	assert_int_equal(tact_mix_pivot_create(&p, mix, &o, NULL), 0);
	assert_int_equal(tact_mix_pivot_get_figures(p, &f), 0);
	assert_true(fabs(f.instructions - 100000) < 1e-6);
	assert_true(fabs(f.flops_per_instruction - (loop + 18 * 8 * out) / 100000) < 1e-9);
	assert_true(fabs(f.branch_density - (loop + out) / 100000) < 1e-9);
	assert_true(fabs(f.store_density - out / 100000) < 1e-9);
	assert_true(fabs(f.vectorisation - 18 * out / (18 * out + loop)) < 1e-9);

	o.filters = &filter;
	o.n_filters = 1;
	assert_int_equal(tact_mix_pivot_create(&q, mix, &o, NULL), 0);
	assert_int_equal(tact_mix_pivot_count(q), 1);
	assert_int_equal(tact_mix_compare(p, p, false, &error), 0);
	assert_true(error == 0);
	assert_int_equal(tact_mix_compare(p, q, false, &error), 0);
	assert_true(fabs(error - (1 - 18 * out / 100000)) < 1e-9);
	tact_mix_pivot_destroy(q);
	tact_mix_pivot_destroy(p);

	check_pivot(mix, TACT_MIX_BY_OPERANDS, "3", 18 * out);
	check_pivot(mix, TACT_MIX_BY_IMMEDIATE, "immediate", loop);
	check_pivot(mix, TACT_MIX_BY_FLOPS, "8", 18 * out);
	check_pivot(mix, TACT_MIX_BY_LENGTH, "20", 20 * out);
	check_pivot(mix, TACT_MIX_BY_RING, "user", 4 * loop + 20 * out);
	check_cross(mix, loop, out);

	o = (struct tact_mix_pivot_options){
		.size = sizeof(o), .keys = {TACT_MIX_BY_TAXONOMY}, .n_keys = 1};
	assert_int_equal(tact_mix_pivot_create(&p, mix, &o, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mix_taxonomy_load_memory(&taxonomy, text, sizeof(text) - 1, NULL), 0);
	o.taxonomy = taxonomy;
	assert_int_equal(tact_mix_pivot_create(&p, mix, &o, NULL), 0);
	assert_true(fabs(executions(p, "float") - loop - 18 * out) < 1e-6);
	assert_true(fabs(executions(p, "last") - loop - out) < 1e-6);
	assert_true(fabs(executions(p, "other") - 2 * loop - out) < 1e-6);
	tact_mix_pivot_destroy(p);
	tact_mix_taxonomy_destroy(taxonomy);
	tact_mix_close(mix);
	unlink(r.path);
}

TEST(test_taxonomy)
{
	static const char *const bad[] = {"",	   "# nothing\n",  "no colon\n",
					  ": x\n", "g: speed=x\n", "g: +\n"};
	struct tact_mix_taxonomy *t;
	struct tact_diag diag;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(tact_mix_taxonomy_load_memory(&t, bad[i], strlen(bad[i]), &diag),
				 -TACT_E_FORMAT);
	assert_int_equal(tact_mix_taxonomy_load(&t, "/nonexistent", &diag), -TACT_E_IO);
	assert_true(mix_glob("*d?v*", "IDIV"));
	assert_true(mix_glob("", ""));
	assert_true(mix_glob("a*b*c", "aXbXbYc"));
	assert_false(mix_glob("a*b", "ac"));
	assert_false(mix_glob("?", ""));
	tact_mix_taxonomy_destroy(NULL);
}

TEST(test_rule)
{
	static const char *const bad[] = {
		"",
		"0 leaf lbr\n",
		"#tact.mix.rule/1\n",
		"#tact.mix.rule/1\n0 split length 5 0 1\n1 leaf lbr\n",
		"#tact.mix.rule/1\n0 split length 5 1 2\n1 leaf lbr\n",
		"#tact.mix.rule/1\n0 split colour 5 1 2\n1 leaf lbr\n2 leaf ebs\n",
		"#tact.mix.rule/1\n1 leaf lbr\n",
		"#tact.mix.rule/1\n0 leaf both\n",
	};
	double features[MIX_N_FEATURES] = {0};
	struct tact_mix_rule *rule, *again;
	struct tact_diag diag;
	char path[] = "/tmp/tact-rule-XXXXXX", text[400];
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(tact_mix_rule_load_memory(&rule, bad[i], strlen(bad[i]), &diag),
				 -TACT_E_FORMAT);
	assert_int_equal(tact_mix_rule_create(&rule, NULL), 0);
	assert_int_equal(tact_mix_rule_save(rule, path, NULL), 0);
	assert_int_equal(tact_mix_rule_load(&again, path, NULL), 0);
	for (int length = 1; length < 40; length++) {
		features[MIX_FEATURE_LENGTH] = length;
		assert_int_equal(mix_rule_choose(again, features),
				 length <= 18 ? TACT_MIX_LBR : TACT_MIX_EBS);
	}
	assert_true(tact_mix_rule_print(again, text, sizeof(text)) < sizeof(text));
	assert_string_equal(text, "length <= 18:\n  lbr\nelse:\n  ebs\n");
	assert_int_equal(tact_mix_rule_print(again, NULL, 0), strlen(text));
	assert_int_equal(tact_mix_rule_save(rule, "/nonexistent/x", &diag), -TACT_E_IO);
	tact_mix_rule_destroy(rule);
	tact_mix_rule_destroy(again);
	unlink(path);
}

/* Exact counts by which samples are right for the long block, and stacks for the short one. */
TEST(test_train)
{
	char path[] = "/tmp/tact-counts-XXXXXX", self[3000];
	const uint64_t loop_size = at(mix_test_long) - at(mix_test_code);
	const uint64_t long_size = at(mix_test_end) - at(mix_test_long);
	double features[MIX_N_FEATURES] = {0};
	struct tact_mix_verdict verdict = TACT_MIX_VERDICT_INIT;
	struct tact_mix_trainer *trainer;
	struct tact_mix_rule *rule;
	struct tact_mix_options o = {.size = sizeof(o)};
	struct tact_mix *mix, *exact;
	struct tact_mix_block b = TACT_MIX_BLOCK_INIT;
	struct tact_diag diag;
	struct recording r;
	struct pmu_map map;
	int fd = mkstemp(path);

	find_self(&map, self, sizeof(self));
	dprintf(fd, "#tact.mix.counts/1\ncommand self test\nmodule - %s\n", self);
	dprintf(fd, "code %" PRIx64 " %" PRIx64 " 10100\n",
		at(mix_test_code) - map.address + map.offset, loop_size);
	/* Once more, in parts that overlap: 2,900, and 10 after the third instruction. */
	dprintf(fd, "code %" PRIx64 " %" PRIx64 " 2900\n",
		at(mix_test_long) - map.address + map.offset, long_size);
	dprintf(fd, "code %" PRIx64 " %" PRIx64 " 10\noutside 5\n",
		at(mix_test_long) + 12 - map.address + map.offset, long_size - 12);
	close(fd);
	begin(&r, true);
	fill(&r);
	sample(&r, mix_test_code, PID, 20); /* too many */
	mix = end(&r, TACT_MIX_HYBRID);
	assert_int_equal(tact_mix_open(&exact, path, &o, &diag), 0);
	b = block_at(exact, mix_test_code);
	assert_true(b.executions == 10100 && b.error == 0 && b.method == TACT_MIX_EXACT);
	b = block_at(exact, mix_test_long);
	assert_true(b.executions == 2900 && b.length == 3);
	check_pivot(exact, TACT_MIX_BY_MNEMONIC, "vaddps", 18 * 2900 + 15 * 10);

	assert_int_equal(tact_mix_trainer_create(&trainer, NULL), 0);
	assert_int_equal(tact_mix_trainer_fit(trainer, NULL, &rule, &diag), -TACT_E_NO_DATA);
	assert_int_equal(tact_mix_trainer_add(trainer, exact, exact, &diag), -TACT_E_NO_DATA);
	assert_int_equal(tact_mix_trainer_add(trainer, mix, mix, &diag), -TACT_E_INVAL);
	assert_int_equal(tact_mix_trainer_add(trainer, mix, exact, &diag), 2);
	/* One program is not enough to judge a rule by. */
	assert_int_equal(tact_mix_trainer_choose(trainer, NULL, &rule, &verdict, &diag), 0);
	assert_true(!verdict.is_used && verdict.programs == 1 && verdict.by_learned < 0);
	assert_true(verdict.by_default >= 0);
	assert_int_equal(rule->nodes[0].limit, 18);
	tact_mix_rule_destroy(rule);
	assert_int_equal(tact_mix_trainer_choose(trainer, NULL, NULL, NULL, &diag), -TACT_E_INVAL);
	assert_int_equal(tact_mix_trainer_choose(NULL, NULL, &rule, NULL, &diag), -TACT_E_INVAL);
	assert_int_equal(tact_mix_trainer_fit(trainer, NULL, &rule, &diag), 0);
	for (size_t i = 0; i < mix->n_profiles; i++) {
		mix_features(mix, &mix->profiles[i], features);
		assert_int_equal(mix_rule_choose(rule, features),
				 features[MIX_FEATURE_LENGTH] > 18 ? TACT_MIX_EBS : TACT_MIX_LBR);
	}
	tact_mix_rule_destroy(rule);
	tact_mix_trainer_destroy(trainer);
	tact_mix_close(exact);
	tact_mix_close(mix);
	unlink(r.path);
	unlink(path);
}

TEST(test_bad_counts)
{
	static const char *const bad[] = {
		"#tact.mix.counts/1\n",
		"#tact.mix.counts/1\ncode 0 10 5\n",
		"#tact.mix.counts/1\nmodule - /bin/sh\ncode 0 0 5\n",
		"#tact.mix.counts/1\nmodule xyz /bin/sh\n",
		"#tact.mix.counts/1\nwhat is this\n",
	};
	char path[] = "/tmp/tact-counts-XXXXXX";
	struct tact_diag diag;
	struct tact_mix *mix;
	int fd = mkstemp(path);

	close(fd);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		int status;

		fd = open(path, O_WRONLY | O_TRUNC);
		assert_int_equal(write(fd, bad[i], strlen(bad[i])), (ssize_t)strlen(bad[i]));
		close(fd);
		status = tact_mix_open(&mix, path, NULL, &diag);
		assert_int_equal(status, i ? -TACT_E_FORMAT : -TACT_E_NO_DATA);
		assert_true(diag.text[0] != '\0');
	}
	unlink(path);
	assert_int_equal(tact_mix_open(&mix, path, NULL, &diag), -TACT_E_IO);
	assert_int_equal(tact_mix_open(&mix, NULL, NULL, &diag), -TACT_E_INVAL);
}

/* A map over an older one, a new program, a fork: each address is looked up in what was there then.
 */
TEST(test_spaces)
{
	struct mix_spaces s;
	const struct mix_map first = {0x1000, 0x3000, 0, 1}, second = {0x2000, 0x2800, 0x100, 2};
	const struct mix_map kernel = {UINT64_C(0xffffffff80000000), UINT64_MAX, 0, 3};
	long p;

	assert_int_equal(mix_spaces_init(&s), 0);
	assert_int_equal(mix_spaces_map(&s, 7, 10, &first, false), 0);
	assert_int_equal(mix_spaces_map(&s, 7, 20, &second, false), 0);
	assert_int_equal(mix_spaces_map(&s, MIX_NONE, 0, &kernel, true), 0);
	p = mix_spaces_process(&s, 7);
	assert_int_equal(mix_spaces_find(&s, mix_spaces_epoch(&s, (uint32_t)p, 15), 0x2100)->module,
			 1);
	assert_int_equal(mix_spaces_find(&s, mix_spaces_epoch(&s, (uint32_t)p, 25), 0x2100)->module,
			 2);
	assert_int_equal(mix_spaces_find(&s, mix_spaces_epoch(&s, (uint32_t)p, 25), 0x2900)->module,
			 1);
	assert_int_equal(mix_spaces_find(&s, mix_spaces_epoch(&s, (uint32_t)p, 25), 0x2900)->offset,
			 0x1800);
	assert_null(mix_spaces_find(&s, mix_spaces_epoch(&s, (uint32_t)p, 25), 0x3000));
	assert_int_equal(mix_spaces_find(&s, 0, UINT64_C(0xffffffff80000100))->module, 3);
	assert_int_equal(mix_spaces_fork(&s, 8, 7, 30), 0);
	assert_int_equal(mix_spaces_exec(&s, 7, 40), 0);
	assert_null(mix_spaces_find(&s, mix_spaces_epoch(&s, (uint32_t)p, 45), 0x1000));
	assert_non_null(mix_spaces_find(&s, mix_spaces_epoch(&s, (uint32_t)p, 35), 0x1000));
	p = mix_spaces_process(&s, 8);
	assert_int_equal(mix_spaces_find(&s, mix_spaces_epoch(&s, (uint32_t)p, 45), 0x2100)->module,
			 2);
	mix_spaces_fini(&s);
}

/* Recordings of real hardware, when they are there: read, and consistent with control flow. */
TEST(test_recordings)
{
	static const struct {
		const char *data, *file;
		uint64_t samples;
		double known; /* share of the streams in known code */
	} recordings[] = {
		{"autofdo_test.lbr", "test.binary=../shared/data/lbr/autofdo_test.binary", 9232,
		 0.9},
		{"propeller_sample.perfdata", "../shared/data/lbr/propeller_sample.bin", 4639,
		 0.99},
		{"bimodal_sample.x.perfdata.combined",
		 "bimodal_sample.x.bin.gen=../shared/data/lbr/bimodal_sample.x.bin", 4967, 0.99},
		{"hierarchical_discriminator_test.x86_64.perf.data",
		 "../shared/data/lbr/hierarchical_discriminator_test.x86_64", 145, 0.8},
	};

	for (size_t i = 0; i < ARRAY_SIZE(recordings); i++) {
		struct tact_mix_options o = {
			.size = sizeof(o), .files = &recordings[i].file, .n_files = 1};
		struct tact_mix_summary s = TACT_MIX_SUMMARY_INIT;
		struct tact_diag diag = {0};
		struct tact_mix *mix;
		char path[200];

		snprintf(path, sizeof(path), "../shared/data/lbr/%s", recordings[i].data);
		if (access(path, R_OK)) {
			printf("skip: there are no recordings\n");
			skip();
		}
		if (tact_mix_open(&mix, path, &o, &diag) < 0)
			fail_msg("%s: %s", path, diag.text);
		tact_mix_get_summary(mix, &s);
		assert_int_equal(s.samples, recordings[i].samples);
		assert_int_equal(s.unknown_records, 0);
		assert_int_equal(s.bad_records, 0);
		assert_true((double)s.outside_streams <=
			    (1 - recordings[i].known) * (double)s.streams);
		assert_true(s.other_impossible < 0.0001);
		assert_int_equal(s.flow_outliers, 0);
		assert_true(s.flow_error < 0.03);
		tact_mix_close(mix);
	}
}

TEST(test_periods)
{
	uint64_t ebs, lbr;

	mix_periods(2, &ebs, &lbr);
	assert_int_equal(ebs, 1000037);
	assert_int_equal(lbr, 100003);
	mix_periods(100, &ebs, &lbr);
	assert_int_equal(ebs, 10000019);
	mix_periods(1000, &ebs, &lbr);
	assert_int_equal(lbr, 10000019);
}

/* Without a PMU, a clock is used; without anything, the reason is reported. */
TEST(test_ladder)
{
	char name[] = "true", *argv[] = {name, NULL}, nothing[] = "/nonexistent/program";
	char *no_argv[] = {nothing, NULL};
	char path[] = "/tmp/tact-live-XXXXXX";
	struct tact_mix_record_options o = {.size = sizeof(o), .output = path, .argv = argv};
	struct tact_mix_recorded out = TACT_MIX_RECORDED_INIT;
	struct tact_diag diag = {0};
	int fd = mkstemp(path), status;

	close(fd);
	status = tact_mix_record(&o, &out, &diag);
	if (status < 0) {
		assert_int_equal(status, -TACT_E_NOT_MODELLED);
		assert_int_equal(out.rung, TACT_MIX_RUNG_NONE);
		assert_true(diag.text[0] != '\0');
		assert_true(out.why[TACT_MIX_RUNG_CLOCK][0] != '\0');
	} else {
		unsigned count = 0;

		assert_true(out.rung < TACT_MIX_RUNG_NONE);
		for (int i = TACT_MIX_RUNG_LBR; i < (int)out.rung; i++)
			count += out.why[i][0] != '\0';
		assert_true(out.rung == TACT_MIX_RUNG_LBR || count > 0);
		o.argv = no_argv;
		assert_int_equal(tact_mix_record(&o, &out, &diag), -TACT_E_IO);
		assert_non_null(strstr(diag.text, "/nonexistent/program"));
		assert_int_equal(access(path, F_OK), 0); /* what was recorded before */
		unlink(path);
		assert_int_equal(tact_mix_record(&o, &out, &diag), -TACT_E_IO);
		assert_true(access(path, F_OK) != 0); /* no file is left over */
	}
	o.argv = NULL;
	assert_int_equal(tact_mix_record(&o, &out, &diag), -TACT_E_INVAL);
	unlink(path);
}

RUN_TESTS(NULL, NULL)
