/* SPDX-License-Identifier: MIT
 *
 * The installed llvm-mca as a model.  It reads assembly, which llvm-mc of the same version makes from
 * the bytes, or the set itself if LLVM decodes it.  A thousand regions go to one process: starting it
 * costs 20 times as much as a block, and many more regions take longer in one process than in
 * several.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "arch/arch.h"
#include "base/pool.h"
#include "model/exchange.h"
#include "model/model.h"

enum { REGIONS = 1000, ITERATIONS = 100 };

/* The mark with the number 2 * i precedes block i, and 2 * i + 1 follows it.  Code that does not
 * decode swallows or skips the latter.
 */
enum { MARK = 0x4d000000 };

static const char NAME[] = "llvm-mca";

struct llvm {
	struct tact_estimator *e;
	const struct model_batch *batch;
	struct model_parts parts;
	char *disassembler; /* owned */
	atomic_bool is_missing, is_timeout, is_any;
};

static const struct tact_arch *arch_of(const struct llvm *l, const struct model_part *part)
{
	return l->batch->rows[part->row[0]].arch;
}

/* ---- bytes to text ---- */

static void add_bytes(struct text *out, const uint8_t *bytes, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	char *p = text_reserve(out, 5 * n);

	for (size_t i = 0; i < n && p; i++, out->size += 5) {
		*p++ = '0';
		*p++ = 'x';
		*p++ = digits[bytes[i] >> 4];
		*p++ = digits[bytes[i] & 15];
		*p++ = ' ';
	}
}

static void add_mark(struct text *out, const struct isa_carrier *carrier, uint32_t number)
{
	const uint32_t n = MARK + number;
	const uint8_t value[] = {n & 255, n >> 8 & 255, n >> 16 & 255, n >> 24};

	add_bytes(out, carrier->bytes, carrier->size);
	add_bytes(out, value, sizeof(value));
}

static void add_blocks(const struct llvm *l, const struct model_part *part,
		       const struct isa_carrier *carrier, struct text *out)
{
	for (size_t i = 0; i < part->n; i++) {
		const struct tact_model_row *row = &l->batch->rows[part->row[i]];

		text_add(out, "[");
		add_mark(out, carrier, (uint32_t)(2 * i));
		add_bytes(out, row->code, row->code_size);
		add_mark(out, carrier, (uint32_t)(2 * i + 1));
		text_add(out, "]\n");
	}
}

/* Returns the number of a mark, or -1. */
static long read_mark(const struct isa_carrier *carrier, const char *line)
{
	char *end;
	long number;

	if (strncmp(line, carrier->front, strlen(carrier->front)) != 0)
		return -1;
	number = strtol(line + strlen(carrier->front), &end, 10) - MARK;
	return number >= 0 && number < 2 * REGIONS &&
			       !strncmp(end, carrier->back, strlen(carrier->back))
		       ? number
		       : -1;
}

/* Where the text of each block begins and ends; 0 and 0: it did not decode. */
struct region {
	size_t begin, end;
};

static void find_regions(const struct isa_carrier *carrier, const struct text *assembly,
			 struct region *regions, size_t n)
{
	size_t at = 0, begin = 0;
	long open = -1;

	memset(regions, 0, n * sizeof(*regions));
	while (at < assembly->size) {
		const char *line = assembly->data + at;
		const char *stop = memchr(line, '\n', assembly->size - at);
		long mark = stop ? read_mark(carrier, line) : -1;

		if (!stop)
			break;
		if (mark >= 0 && !(mark & 1)) {
			open = mark / 2;
			begin = (size_t)(stop + 1 - assembly->data);
		} else if (mark >= 0) {
			if (mark / 2 == open && (size_t)open < n)
				regions[open] = (struct region){begin, at};
			open = -1;
		}
		at = (size_t)(stop + 1 - assembly->data);
	}
}

/* ---- llvm-mca ---- */

/* Returns its exit code, -1 if it has none, or -TACT_E_NOMEM, which is less. */
static int exchange(struct llvm *l, const char *const *argv, const struct text *input,
		    struct text *output)
{
	struct exchange x = {.argv = argv,
			     .input = input->data,
			     .input_size = input->size,
			     .timeout = l->e->opt.timeout,
			     .max_output = (size_t)1 << 30,
			     .output = output,
			     .is_quiet = true};
	int status = input->failed ? -TACT_E_NOMEM : exchange_run(&x);

	if (status == -TACT_E_NOMEM || !text_string(output))
		return -TACT_E_NOMEM;
	if (status < 0 || (WIFEXITED(x.status) && WEXITSTATUS(x.status) == 127))
		l->is_missing = true;
	if (x.is_timeout)
		l->is_timeout = true;
	return status < 0 || x.is_timeout || !WIFEXITED(x.status) ? -1 : WEXITSTATUS(x.status);
}

/* Reads "Total Cycles: N" after "[i] Code Region - NUMBER". */
static void read_cycles(struct llvm *l, const struct model_part *part, const char *output)
{
	static const char region[] = "] Code Region - ", cycles[] = "\nTotal Cycles:";

	while ((output = strstr(output, region))) {
		unsigned long i = strtoul(output + strlen(region), NULL, 10);
		const char *total = strstr(output, cycles);
		double value = total ? strtod(total + strlen(cycles), NULL) : 0;

		if (i < part->n && value > 0) {
			l->batch->answers[part->row[i]] =
				(struct model_answer){.cycles = value / ITERATIONS, .coverage = 1};
			l->is_any = true;
		}
		output += strlen(region);
	}
}

/* Assembly text, and where the blocks of a part are in it. */
struct source {
	const struct model_part *part;
	struct text assembly;
	struct region regions[REGIONS];
};

/* Runs llvm-mca on the blocks from first up to last.  Returns as exchange does; 0 if there is
 * nothing to do.
 */
static int analyse_once(struct llvm *l, const struct source *s, size_t first, size_t last)
{
	const struct tact_arch *arch = arch_of(l, s->part);
	char triple[80], cpu[80], iterations[32];
	const char *const argv[] = {l->e->name,		triple,		 cpu, iterations,
				    "-all-views=false", "-summary-view", "-", NULL};
	struct text input = {0}, output = {0};
	size_t n = 0;
	int status = 0;

	for (size_t i = first; i < last; i++) {
		if (s->regions[i].end <= s->regions[i].begin)
			continue;
		text_printf(&input, "# LLVM-MCA-BEGIN %zu\n", i);
		text_add_bytes(&input, s->assembly.data + s->regions[i].begin,
			       s->regions[i].end - s->regions[i].begin);
		text_add(&input, "# LLVM-MCA-END\n");
		n++;
	}
	snprintf(triple, sizeof(triple), "-mtriple=%s", arch->isa->llvm_triple);
	snprintf(cpu, sizeof(cpu), "-mcpu=%s", tact_arch_llvm_cpu(arch));
	snprintf(iterations, sizeof(iterations), "-iterations=%d", ITERATIONS);
	if (n && !l->is_missing) {
		status = exchange(l, argv, &input, &output);
		if (!status)
			read_cycles(l, s->part, output.data);
	}
	text_free(&input);
	text_free(&output);
	return status;
}

/* If it refuses one block, it gives no result for the others: then halves are tried. */
static int analyse(struct llvm *l, const struct source *s, size_t first, size_t last)
{
	size_t middle = first + (last - first) / 2;
	int status = analyse_once(l, s, first, last);

	if (status == -TACT_E_NOMEM)
		return status;
	if (status > 0 && last - first > 1) {
		status = analyse(l, s, first, middle);
		return status < 0 ? status : analyse(l, s, middle, last);
	}
	for (size_t i = first; i < last && status < 0; i++)
		l->batch->answers[s->part->row[i]].status = -TACT_E_LIMIT;
	return 0;
}

/* llvm-mc: all blocks in one run, between marks. */
static int disassemble(struct llvm *l, struct source *s, const struct isa_carrier *carrier)
{
	const struct tact_isa *isa = arch_of(l, s->part)->isa;
	char triple[80];
	const char *const argv[] = {l->disassembler, "--disassemble", triple, NULL};
	struct text bytes = {0};
	int status;

	snprintf(triple, sizeof(triple), "-triple=%s", isa->llvm_triple);
	add_blocks(l, s->part, carrier, &bytes);
	status = exchange(l, argv, &bytes, &s->assembly);
	if (status != -TACT_E_NOMEM && !l->is_missing)
		find_regions(carrier, &s->assembly, s->regions, s->part->n);
	text_free(&bytes);
	return status;
}

/* Adds a block as text; nothing if it is no code.  Targets of branches are distances: an address
 * would have to be in reach.
 */
static void add_text(const struct tact_isa *isa, const struct tact_model_row *row, struct text *out)
{
	const size_t begin = out->size;

	for (size_t at = 0; at < row->code_size;) {
		const size_t left = row->code_size - at;
		char line[160], *target;
		struct tact_insn insn;
		int64_t distance;
		const int length = tact_isa_decode(isa, &insn, row->code + at, left);

		if (length <= 0 ||
		    tact_isa_format(isa, row->code + at, left, 0, line, sizeof(line)) < 0) {
			out->size = begin;
			return;
		}
		target = isa_flow_target(&insn, &distance) ? strrchr(line, ' ') : NULL;
		if (target)
			text_printf(out, "%.*s .%+lld\n", (int)(target - line), line,
				    (long long)distance);
		else
			text_printf(out, "%s\n", line);
		at += (size_t)length;
	}
}

static int print_blocks(struct llvm *l, struct source *s)
{
	const struct tact_isa *isa = arch_of(l, s->part)->isa;

	for (size_t i = 0; i < s->part->n; i++) {
		s->regions[i].begin = s->assembly.size;
		add_text(isa, &l->batch->rows[s->part->row[i]], &s->assembly);
		s->regions[i].end = s->assembly.size;
	}
	return s->assembly.failed ? -TACT_E_NOMEM : 0;
}

static int work(void *context, unsigned thread, size_t i)
{
	struct llvm *l = context;
	const struct model_part *part = &l->parts.part[i];
	const struct tact_isa *isa = arch_of(l, part)->isa;
	struct source s = {.part = part};
	int status;

	(void)thread;
	if (l->is_missing)
		return 0;
	status = isa->carrier ? disassemble(l, &s, isa->carrier) : print_blocks(l, &s);
	if (status != -TACT_E_NOMEM && !l->is_missing) {
		for (size_t k = 0; k < part->n; k++)
			if (s.regions[k].end <= s.regions[k].begin)
				l->batch->answers[part->row[k]].status = -TACT_E_DECODE;
		status = analyse(l, &s, 0, part->n);
	}
	text_free(&s.assembly);
	return status == -TACT_E_NOMEM ? status : 0;
}

/* Says what concerns a run as a whole. */
static int conclude(const struct llvm *l)
{
	if (l->is_missing) {
		model_say(l->e, "%s or %s is not installed (Debian: package llvm)", l->e->name,
			  l->disassembler);
		return -TACT_E_NO_TOOL;
	}
	if (l->is_timeout) {
		model_say(l->e, "printed nothing for %u seconds", l->e->opt.timeout);
		return -TACT_E_LIMIT;
	}
	if (!l->is_any) {
		model_say(l->e, "gave no number for any block");
		return -TACT_E_FORMAT;
	}
	return 0;
}

int model_llvm_many(struct tact_estimator *e, const struct model_batch *batch)
{
	struct llvm l = {.e = e, .batch = batch};
	struct text name = {0};
	int status = model_parts_make(&l.parts, batch, REGIONS);

	text_printf(&name, "llvm-mc%s", e->name + strlen(NAME));
	l.disassembler = text_string(&name);
	if (status >= 0 && !l.disassembler)
		status = -TACT_E_NOMEM;
	if (status >= 0)
		status = pool_run(pool_threads(e->opt.threads, l.parts.n), l.parts.n, work, &l);
	if (status >= 0)
		status = conclude(&l);
	model_parts_free(&l.parts);
	text_free(&name);
	return status;
}
