/* SPDX-License-Identifier: MIT
 *
 * llvm-mca as installed as a model.  It reads assembly: llvm-mc of the same version makes it from
 * the bytes.  A thousand regions go to one process: starting it costs 20 times what a block does,
 * and many more regions in one take longer than in several.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "common/cli.h"
#include "evaluator.h"

enum { REGIONS = 1000, ITERATIONS = 100 };

/* A long nop with the number 2 * i stands in front of block i and one with 2 * i + 1 behind it.
 * What does not decode swallows or skips the latter.
 */
enum { MARK = 0x4d000000 };

struct part {
	uint32_t set;
	const size_t *row; /* borrowed */
	size_t n;
};

struct llvm {
	struct evaluator *p;
	struct evaluate_model *model;
	char *disassembler; /* owned */
	size_t *rows;	    /* owned; by set */
	struct part *parts; /* owned */
	size_t n_parts;
	atomic_bool is_missing, is_timeout, is_any;
};

/* ---- bytes to text ---- */

static void add_byte(struct text *out, unsigned byte)
{
	static const char digits[] = "0123456789abcdef";
	char *p = cli_reserve(out, 5);

	p[0] = '0';
	p[1] = 'x';
	p[2] = digits[byte >> 4 & 15];
	p[3] = digits[byte & 15];
	p[4] = ' ';
	out->size += 5;
}

static void add_mark(struct text *out, uint32_t number)
{
	static const uint8_t nop[] = {0x0f, 0x1f, 0x84, 0x00};

	for (size_t i = 0; i < sizeof(nop); i++)
		add_byte(out, nop[i]);
	for (unsigned shift = 0; shift < 32; shift += 8)
		add_byte(out, (MARK + number) >> shift & 255);
}

static void add_bytes(const struct evaluate_rows *rows, const struct part *part, struct text *out)
{
	for (size_t i = 0; i < part->n; i++) {
		const uint8_t *code = evaluate_code(rows, part->row[i]);

		text_add(out, "[");
		add_mark(out, (uint32_t)(2 * i));
		for (size_t k = 0; k < rows->row[part->row[i]].size; k++)
			add_byte(out, code[k]);
		add_mark(out, (uint32_t)(2 * i + 1));
		text_add(out, "]\n");
	}
}

/* The number of a mark, or -1. */
static long read_mark(const char *line)
{
	static const char nop[] = "\tnopl\t";
	char *end;
	long number;

	if (strncmp(line, nop, strlen(nop)) != 0)
		return -1;
	number = strtol(line + strlen(nop), &end, 10) - MARK;
	return number >= 0 && number < 2 * REGIONS && !strncmp(end, "(%rax,%rax)", 11) ? number
										       : -1;
}

/* Where the text of each block begins and ends; 0 and 0: it did not decode. */
struct region {
	size_t begin, end;
};

static void find_regions(const struct text *assembly, struct region *regions, size_t n)
{
	size_t at = 0, begin = 0;
	long open = -1;

	memset(regions, 0, n * sizeof(*regions));
	while (at < assembly->size) {
		const char *line = assembly->data + at;
		const char *stop = memchr(line, '\n', assembly->size - at);
		long mark = stop ? read_mark(line) : -1;

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

static int run(struct llvm *l, const char *const *argv, const struct text *input,
	       struct text *output)
{
	struct exchange x = {.argv = argv,
			     .input = input->data,
			     .input_size = input->size,
			     .timeout = l->p->timeout,
			     .max_output = (size_t)1 << 30,
			     .output = output,
			     .is_quiet = true};

	if (exchange_run(&x) || (WIFEXITED(x.status) && WEXITSTATUS(x.status) == 127))
		l->is_missing = true;
	if (x.is_timeout)
		l->is_timeout = true;
	text_add_bytes(output, "", 1); /* ends it for string functions */
	output->size--;
	return x.is_timeout || !WIFEXITED(x.status) ? -1 : WEXITSTATUS(x.status);
}

/* "Total Cycles: N" behind "[i] Code Region - NUMBER". */
static void read_cycles(struct llvm *l, const struct part *part, const char *output)
{
	static const char region[] = "] Code Region - ", cycles[] = "\nTotal Cycles:";

	while ((output = strstr(output, region))) {
		unsigned long i = strtoul(output + strlen(region), NULL, 10);
		const char *total = strstr(output, cycles);
		double value = total ? strtod(total + strlen(cycles), NULL) : 0;

		if (i < part->n && value > 0) {
			l->model->predicted[part->row[i]] = value / ITERATIONS;
			l->model->outcomes[part->row[i]] = TACT_OUTCOME_GOOD;
			l->is_any = true;
		}
		output += strlen(region);
	}
}

/* Blocks first to last.  One that it refuses takes all others with it, so halves are tried then. */
static void analyse(struct llvm *l, const struct part *part, const struct text *assembly,
		    const struct region *regions, size_t first, size_t last)
{
	char cpu[80], iterations[32];
	const char *const argv[] = {l->model->command,	"-mtriple=x86_64", cpu, iterations,
				    "-all-views=false", "-summary-view",   "-", NULL};
	struct text input = {0}, output = {0};
	size_t n = 0, middle = first + (last - first) / 2;
	int status;

	for (size_t i = first; i < last; i++) {
		if (regions[i].end <= regions[i].begin)
			continue;
		text_printf(&input, "# LLVM-MCA-BEGIN %zu\n", i);
		text_add_bytes(&input, assembly->data + regions[i].begin,
			       regions[i].end - regions[i].begin);
		text_add(&input, "# LLVM-MCA-END\n");
		n++;
	}
	snprintf(cpu, sizeof(cpu), "-mcpu=%s",
		 tact_arch_llvm_cpu(l->p->arch[l->p->rows.set[part->set].arch]));
	snprintf(iterations, sizeof(iterations), "-iterations=%d", ITERATIONS);
	if (n && !l->is_missing) {
		status = run(l, argv, &input, &output);
		if (!status)
			read_cycles(l, part, output.data);
	} else {
		status = 0;
	}
	text_free(&input);
	text_free(&output);
	if (status > 0 && last - first > 1) {
		analyse(l, part, assembly, regions, first, middle);
		analyse(l, part, assembly, regions, middle, last);
	} else if (status < 0) {
		for (size_t i = first; i < last; i++)
			l->model->outcomes[part->row[i]] = TACT_OUTCOME_TIMEOUT;
	}
}

static void work(void *context, unsigned thread, size_t i)
{
	struct llvm *l = context;
	const struct part *part = &l->parts[i];
	const char *const argv[] = {l->disassembler, "--disassemble", "-triple=x86_64", NULL};
	struct text bytes = {0}, assembly = {0};
	struct region regions[REGIONS];

	(void)thread;
	if (l->is_missing)
		return;
	add_bytes(&l->p->rows, part, &bytes);
	run(l, argv, &bytes, &assembly);
	if (l->is_missing)
		goto out_free;
	find_regions(&assembly, regions, part->n);
	for (size_t k = 0; k < part->n; k++)
		if (regions[k].end <= regions[k].begin)
			l->model->outcomes[part->row[k]] = TACT_OUTCOME_UNDECODABLE;
	analyse(l, part, &assembly, regions, 0, part->n);
out_free:
	text_free(&bytes);
	text_free(&assembly);
}

static void make_parts(struct llvm *l)
{
	const struct evaluate_rows *rows = &l->p->rows;
	size_t n = 0;

	l->rows = cli_alloc(rows->n * sizeof(*l->rows));
	l->parts = cli_alloc((rows->n / REGIONS + rows->n_sets + 1) * sizeof(*l->parts));
	for (uint32_t set = 0; set < rows->n_sets; set++) {
		size_t begin = n;

		for (size_t i = 0; i < rows->n; i++)
			if (rows->row[i].set == set)
				l->rows[n++] = i;
		for (; begin < n; begin += REGIONS)
			l->parts[l->n_parts++] = (struct part){
				set, l->rows + begin, n - begin < REGIONS ? n - begin : REGIONS};
	}
}

int evaluate_run_llvm(struct evaluator *p, struct evaluate_model *model)
{
	struct llvm l = {.p = p, .model = model};
	struct text name = {0};
	int status = CLI_GOOD;

	text_printf(&name, "llvm-mc%s", model->command + strlen("llvm-mca"));
	text_add_bytes(&name, "", 1);
	l.disassembler = name.data;
	make_parts(&l);
	evaluate_parallel(evaluate_threads(p, l.n_parts), l.n_parts, work, &l);
	if (l.is_missing) {
		cli_message("%s: %s or %s is not installed (Debian: package llvm)", model->name,
			    model->command, l.disassembler);
		status = CLI_UNABLE;
	} else if (l.is_timeout) {
		cli_message("%s: printed nothing for %u seconds", model->name, p->timeout);
		status = CLI_FAILED;
	} else if (!l.is_any) {
		cli_message("%s: gave no number for any block", model->name);
		status = CLI_FAILED;
	}
	model->is_broken = status != CLI_GOOD;
	text_free(&name);
	free(l.rows);
	free(l.parts);
	return status;
}
