/* SPDX-License-Identifier: MIT
 *
 * Hot functions for a page: their instructions with the cycles and the source line of each, and the
 * text of these lines.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tact/insn.h>

#include "report/run_page.h"
#include "trace/analysis.h"

enum {
	MAX_LISTINGS = 24,
	MAX_INSNS = 500,      /* of a function */
	MAX_ALL_INSNS = 5000, /* of a page */
	MAX_LINES = 400,      /* of a function */
	AROUND = 3,	      /* lines around one that has cycles */
	MAX_LINE = 240,	      /* bytes */
	MAX_SOURCE = 8 << 20  /* bytes of a file */
};

static const double LEAST_SHARE = 0.002;

struct insn {
	uint64_t address;
	const struct tact_result_row *row;
	size_t at; /* in its code */
	double cycles;
	uint64_t executions;
	const char *file; /* owned by the symbols; NULL: unknown */
	int line;
};

struct listing {
	struct insn insns[MAX_INSNS];
	size_t n;
};

static void add_block(struct listing *l, const struct tact_result_row *row)
{
	size_t at = 0;

	for (uint32_t i = 0; at < row->code_size && l->n < MAX_INSNS; i++) {
		struct tact_insn insn;
		const int n = tact_isa_decode(row->isa, &insn, row->code + at, row->code_size - at);

		if (n <= 0)
			return;
		l->insns[l->n++] = (struct insn){
			.address = row->address + at,
			.row = row,
			.at = at,
			.cycles = row->insns && i < row->n_insns ? (double)row->insns[i] : 0,
			.executions = row->executions};
		at += (size_t)n;
	}
}

static int compare(const void *a, const void *b)
{
	const struct insn *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/* Blocks overlap: an instruction of several counts once, with the cycles of all. */
static void join(struct listing *l)
{
	size_t n = 0;

	qsort(l->insns, l->n, sizeof(l->insns[0]), compare);
	for (size_t i = 0; i < l->n; i++) {
		if (n && l->insns[n - 1].address == l->insns[i].address) {
			l->insns[n - 1].cycles += l->insns[i].cycles;
			l->insns[n - 1].executions += l->insns[i].executions;
		} else {
			l->insns[n++] = l->insns[i];
		}
	}
	l->n = n;
}

static void find_lines(struct listing *l, struct tact_analysis *analysis)
{
	for (size_t i = 0; i < l->n; i++) {
		struct insn *x = &l->insns[i];

		if (!analysis_line(analysis, x->row->module, x->address, &x->file, &x->line))
			x->file = NULL;
	}
}

/* ---- source ---- */

/* Opens a file that is one: not a pipe or a device. */
static FILE *open_source(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	FILE *file;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > MAX_SOURCE) {
		close(fd);
		return NULL;
	}
	file = fdopen(fd, "r");
	if (!file)
		close(fd);
	return file;
}

/* Whether a line of a file is one of the function's, or close to one. */
static bool is_near(const struct listing *l, const char *path, int line, int around)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->insns[i].file && l->insns[i].line >= line - around &&
		    l->insns[i].line <= line + around && !strcmp(l->insns[i].file, path))
			return true;
	return false;
}

static const double *stalls_of(const struct tact_result *r, const char *function, const char *path,
			       int line)
{
	size_t n;
	const struct tact_result_row *rows = result_rows(r, TACT_RESULT_LINE, &n);

	for (size_t i = 0; i < n; i++)
		if (rows[i].line == line && !strcmp(rows[i].source, path) &&
		    !strcmp(rows[i].function, function))
			return rows[i].stalls;
	return NULL;
}

static void put_line(struct page_data *p, const struct listing *l, const char *path, int line,
		     const char *text, size_t size)
{
	const double *stalls = NULL;
	struct json *j = &p->json;

	if (is_near(l, path, line, 0))
		stalls = stalls_of(p->result, l->insns[0].row->function, path, line);
	json_begin_array(j, NULL);
	json_put_integer(j, NULL, line);
	json_put_bytes(j, NULL, text, size);
	if (stalls)
		page_put_stalls(p, NULL, stalls);
	json_end(j);
}

/* Returns how many lines it wrote. */
static unsigned put_text(struct page_data *p, const struct listing *l, const char *path,
			 unsigned most)
{
	FILE *file = open_source(path);
	unsigned n = 0;
	char *text = NULL;
	size_t capacity = 0;
	ssize_t size;

	for (int line = 1; file && n < most && (size = getline(&text, &capacity, file)) >= 0;
	     line++) {
		if (!is_near(l, path, line, AROUND))
			continue;
		while (size && (text[size - 1] == '\n' || text[size - 1] == '\r'))
			size--;
		put_line(p, l, path, line, text, (size_t)(size < MAX_LINE ? size : MAX_LINE));
		n++;
	}
	free(text);
	if (file) {
		fclose(file);
		return n;
	}
	/* The lines without their text. */
	for (size_t i = 0; i < l->n && n < most; i++) {
		const struct insn *x = &l->insns[i];
		bool is_known = !x->file || strcmp(x->file, path) != 0;

		for (size_t k = 0; k < i && !is_known; k++)
			is_known = l->insns[k].line == x->line && l->insns[k].file &&
				   !strcmp(l->insns[k].file, path);
		if (is_known)
			continue;
		put_line(p, l, path, x->line, "", 0);
		n++;
	}
	return n;
}

static void put_sources(struct page_data *p, const struct listing *l)
{
	unsigned left = MAX_LINES;

	json_begin_array(&p->json, "sources");
	for (size_t i = 0; i < l->n && left; i++) {
		const char *path = l->insns[i].file;
		bool is_first = path != NULL;

		for (size_t k = 0; k < i && is_first; k++)
			is_first = !l->insns[k].file || strcmp(l->insns[k].file, path) != 0;
		if (!is_first)
			continue;
		json_begin_object(&p->json, NULL);
		json_put_count(&p->json, "file", page_string(p, path));
		json_begin_array(&p->json, "lines");
		left -= put_text(p, l, path, left);
		json_end(&p->json);
		json_end(&p->json);
	}
	json_end(&p->json);
}

/* ---- functions ---- */

static void put_insns(struct page_data *p, const struct listing *l)
{
	struct json *j = &p->json;

	json_begin_array(j, "insns");
	for (size_t i = 0; i < l->n; i++) {
		const struct insn *x = &l->insns[i];
		char text[160] = "?";

		tact_isa_format(x->row->isa, x->row->code + x->at, x->row->code_size - x->at,
				x->address, text, sizeof(text));
		json_begin_array(j, NULL);
		json_printf_string(j, NULL, "%llx", (unsigned long long)x->address);
		json_put_count(j, NULL, page_string(p, text));
		json_put_fixed(j, NULL, x->cycles, 0);
		json_put_count(j, NULL, x->executions);
		json_put_integer(j, NULL, x->file ? (int64_t)page_string(p, x->file) : -1);
		json_put_integer(j, NULL, x->line);
		json_end(j);
	}
	json_end(j);
}

static bool is_of(const struct tact_result_row *block, const struct tact_result_row *function)
{
	return block->code_size && !strcmp(block->function, function->function) &&
	       !strcmp(block->module, function->module);
}

void page_put_listings(struct page_data *p, struct tact_analysis *analysis)
{
	struct listing *l = malloc(sizeof(*l));
	size_t n, n_blocks, all = 0;
	const struct tact_result_row *rows = result_rows(p->result, TACT_RESULT_FUNCTION, &n);
	const struct tact_result_row *blocks = result_rows(p->result, TACT_RESULT_BLOCK, &n_blocks);

	if (!l)
		p->strings.is_failed = true;
	json_begin_array(&p->json, "listings");
	for (size_t i = 0; l && i < n && i < MAX_LISTINGS && all < MAX_ALL_INSNS; i++) {
		if (rows[i].cycles < LEAST_SHARE * p->result->totals.cycles)
			break;
		l->n = 0;
		for (size_t k = 0; k < n_blocks; k++)
			if (is_of(&blocks[k], &rows[i]))
				add_block(l, &blocks[k]);
		join(l);
		if (!l->n)
			continue;
		if (analysis)
			find_lines(l, analysis);
		all += l->n;
		json_begin_object(&p->json, NULL);
		json_put_count(&p->json, "function", page_function(p, rows[i].function));
		json_put_count(&p->json, "module", page_string(p, rows[i].module));
		json_put_fixed(&p->json, "cycles", rows[i].cycles, 0);
		put_insns(p, l);
		put_sources(p, l);
		json_end(&p->json);
	}
	json_end(&p->json);
	free(l);
}
