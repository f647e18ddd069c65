/* SPDX-License-Identifier: MIT
 *
 * Makes a result from a run: its blocks, summed up by place, function and line.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tact/insn.h>
#include <tact/predict.h>

#include "base/base.h"
#include "base/hash.h"
#include "trace/engine.h"
#include "trace/result.h"

enum { MAX_BLOCKS = 1 << 15 };

/* Share of all cycles above which FACILE looks at a block, which takes about ten microseconds. */
static const double HOT_SHARE = 1e-5;

/* Cycles of blocks that ran at a bound, by bound. */
struct at_bound {
	float cycles[TACT_N_BOUNDS];
};

/* Finds rows by their identity. */
struct index {
	struct hash rows;
	enum tact_result_kind kind;
	struct at_bound *at_bound; /* owned: by row; none for blocks */
	size_t at_bound_capacity;
};

struct maker {
	struct tact_result *r;
	const struct tact_trace *trace;
	struct tact_symbols *symbols;
	struct index blocks, functions, lines;
	unsigned parts; /* enum tact_result_part */
	double *insns;	/* owned: cycles of the current block, by instruction */
	size_t insns_capacity;
	double least; /* cycles above which a block has a row of its own */
	double hot;   /* cycles above which the bound of a block is worth the time */
};

static uint64_t hash_of(const struct tact_result_row *row)
{
	/* Strings are interned: equal ones are the same pointer. */
	const uint64_t key[] = {(uintptr_t)row->module, (uintptr_t)row->function,
				(uintptr_t)row->source, (uint64_t)row->line,
				row->address,		row->code_size};

	return hash_bytes(key, sizeof(key));
}

static bool is_same(const struct tact_result_row *a, const struct tact_result_row *b)
{
	return a->module == b->module && a->function == b->function && a->source == b->source &&
	       a->line == b->line && a->address == b->address && a->code_size == b->code_size &&
	       (!a->code_size || !memcmp(a->code, b->code, a->code_size));
}

/* Finds the row that is like this one, or adds it.  NULL: out of memory. */
static struct tact_result_row *find(struct maker *m, struct index *x,
				    const struct tact_result_row *like)
{
	const uint64_t hash = hash_of(like);
	struct tact_result_row *row;
	uint8_t *code = NULL;
	size_t at = 0;
	uint32_t i;

	while ((i = hash_next(&x->rows, hash, &at)) != HASH_NONE) {
		row = &m->r->rows[x->kind].items[i];
		if (is_same(row, like))
			return row;
	}
	if (hash_reserve(&x->rows, m->r->rows[x->kind].n + 1))
		return NULL;
	if (like->code_size) {
		code = tact_arena_take(&m->r->memory, like->code_size);
		if (!code)
			return NULL;
		memcpy(code, like->code, like->code_size);
	}
	row = result_add(m->r, x->kind);
	if (!row)
		return NULL;
	if (x->kind != TACT_RESULT_BLOCK) {
		if (tact_grow(&x->at_bound, &x->at_bound_capacity, m->r->rows[x->kind].n,
			      sizeof(*x->at_bound)))
			return NULL;
		x->at_bound[m->r->rows[x->kind].n - 1] = (struct at_bound){{0}};
	}
	row->module = like->module;
	row->function = like->function;
	row->source = like->source;
	row->line = like->line;
	row->address = like->address;
	row->code = code;
	if (like->isa)
		row->isa = like->isa;
	row->code_size = like->code_size;
	hash_add(&x->rows, hash, (uint32_t)m->r->rows[x->kind].n - 1);
	return row;
}

/* share: of the instructions; time: of the cycles. */
static void add_share(struct tact_result_row *row, const struct tact_cycles_block *b, double share,
		      double time)
{
	row->cycles += b->cycles * time;
	row->bound += b->bound * (double)b->executions * time;
	for (unsigned i = 0; i < TACT_MAX_PORTS; i++)
		row->uops[i] += b->uops[i] * share;
	for (unsigned i = 0; i < TACT_N_STALLS; i++)
		row->stalls[i] += b->stalls[i] * time;
}

static double share_of_time(const struct maker *m, const struct tact_cycles_block *b,
			    unsigned first, unsigned n)
{
	double sum = 0;

	if (b->cycles <= 0 || n == b->block->n_insns)
		return (double)n / (double)b->block->n_insns;
	for (unsigned i = first; i < first + n; i++)
		sum += m->insns[i];
	return sum / b->cycles;
}

static void add_limits(struct at_bound *to, uint32_t limits, double cycles)
{
	for (unsigned i = 0; i < TACT_N_BOUNDS; i++)
		if (limits >> i & 1)
			to->cycles[i] += (float)cycles;
}

/* Sets the bottlenecks of each row: the bounds of most of its cycles, the largest and those that
 * are close to it.
 */
static void set_bottlenecks(struct maker *m, const struct index *x)
{
	const double least = 0.25, about = 0.9;
	struct result_rows *rows = &m->r->rows[x->kind];

	for (size_t k = 0; k < rows->n; k++) {
		const float *cycles = x->at_bound[k].cycles;
		float most = 0;

		for (unsigned i = 0; i < TACT_N_BOUNDS; i++)
			most = cycles[i] > most ? cycles[i] : most;
		if (most < least * rows->items[k].cycles || most <= 0)
			continue;
		for (unsigned i = 0; i < TACT_N_BOUNDS; i++)
			if (cycles[i] >= about * (double)most)
				rows->items[k].bottlenecks |= 1u << i;
	}
}

/* n instructions from `first` on belong to one function or line. */
struct run {
	unsigned first, n;
	struct tact_place place;
	const char *source;
	int line;
};

static int end_run(struct maker *m, const struct tact_cycles_block *b, const struct run *run,
		   bool is_line)
{
	const double share = (double)run->n / (double)b->block->n_insns;
	const double time = share_of_time(m, b, run->first, run->n);
	struct tact_result_row like = {.source = ""}, *row;
	struct index *x = is_line ? &m->lines : &m->functions;

	like.module = result_string(m->r, run->place.module);
	like.function = result_string(m->r, run->place.function);
	if (is_line) {
		like.source = result_string(m->r, run->source);
		like.line = run->line;
	} else {
		like.address = run->place.begin;
	}
	if (!like.module || !like.function || !like.source)
		return -TACT_E_NOMEM;
	row = find(m, x, &like);
	if (!row)
		return -TACT_E_NOMEM;
	add_share(row, b, share, time);
	row->instructions += run->n * b->executions;
	add_limits(&x->at_bound[row - m->r->rows[x->kind].items], b->limits, b->cycles * time);
	if (is_line ? !run->first : run->place.address == run->place.begin)
		row->executions += b->executions;
	/* Which of the instructions are unknown cannot be told here. */
	if (!run->first)
		row->unknown += b->unknown * b->executions;
	return 0;
}

static int length_at(const struct tact_trace_block *b, uint32_t offset)
{
	struct tact_insn insn;
	const int n = offset < b->code_size ? tact_isa_decode(b->isa, &insn, b->code + offset,
							      b->code_size - offset)
					    : 0;

	return n > 0 ? n : 1;
}

/* Goes instruction by instruction, for a block that runs from one function into the next. */
static int add_several(struct maker *m, const struct tact_cycles_block *b)
{
	struct run run = {.place = TACT_PLACE_INIT};
	uint32_t offset = 0;
	int status = 0;

	for (unsigned i = 0; i < b->block->n_insns && !status; i++) {
		struct tact_place place = TACT_PLACE_INIT;

		if (tact_symbols_find(m->symbols, m->trace, b->block, offset, &place))
			return -TACT_E_NOMEM;
		if (i && (place.begin != run.place.begin ||
			  strcmp(place.function, run.place.function) != 0)) {
			status = end_run(m, b, &run, false);
			run = (struct run){.first = i};
		}
		if (!run.n)
			run.place = place;
		run.n++;
		offset += (uint32_t)length_at(b->block, offset);
	}
	return status ? status : end_run(m, b, &run, false);
}

static int add_functions(struct maker *m, const struct tact_cycles_block *b)
{
	struct run run = {.n = b->block->n_insns, .place = TACT_PLACE_INIT};
	struct tact_place last = TACT_PLACE_INIT;

	if (tact_symbols_find(m->symbols, m->trace, b->block, 0, &run.place) ||
	    tact_symbols_find(m->symbols, m->trace, b->block, b->block->last_offset, &last))
		return -TACT_E_NOMEM;
	if (last.begin != run.place.begin || strcmp(last.function, run.place.function) != 0)
		return add_several(m, b);
	return end_run(m, b, &run, false);
}

/* Most code of most programs has no lines and need not be decoded. */
static bool has_lines(struct maker *m, const struct tact_trace_block *b)
{
	const char *source;
	int line;

	return tact_symbols_line(m->symbols, m->trace, b, 0, &source, &line) ||
	       tact_symbols_line(m->symbols, m->trace, b, b->last_offset, &source, &line);
}

static int add_lines(struct maker *m, const struct tact_cycles_block *b)
{
	struct run run = {.place = TACT_PLACE_INIT};
	uint32_t offset = 0;
	int status = 0;

	if (!has_lines(m, b->block))
		return 0;
	if (tact_symbols_find(m->symbols, m->trace, b->block, 0, &run.place))
		return -TACT_E_NOMEM;
	for (unsigned i = 0; i < b->block->n_insns && !status; i++) {
		const char *source = NULL;
		int line = 0;

		if (!tact_symbols_line(m->symbols, m->trace, b->block, offset, &source, &line))
			source = "";
		if (run.n && (line != run.line || strcmp(source, run.source) != 0)) {
			status = run.line ? end_run(m, b, &run, true) : 0;
			run.first = i;
			run.n = 0;
		}
		run.source = source;
		run.line = line;
		run.n++;
		offset += (uint32_t)length_at(b->block, offset);
	}
	return status || !run.line ? status : end_run(m, b, &run, true);
}

/* Adds up cycles by instruction, over all blocks that share the row. */
static int add_insns(struct maker *m, struct tact_result_row *row, uint32_t n)
{
	float *to = (float *)(uintptr_t)row->insns; /* it is our own memory */

	if (!to) {
		to = tact_arena_take(&m->r->memory, n * sizeof(*to));
		if (!to)
			return -TACT_E_NOMEM;
		memset(to, 0, n * sizeof(*to));
		row->insns = to;
		row->n_insns = n;
	}
	for (uint32_t i = 0; i < n && i < row->n_insns; i++)
		to[i] += (float)m->insns[i];
	return 0;
}

static int add_block(struct maker *m, const struct tact_cycles_block *b)
{
	const bool is_alone = b->cycles >= m->least;
	struct tact_result_row like = {0}, *row;
	struct tact_place place = TACT_PLACE_INIT;
	const char *source;

	if (tact_symbols_find(m->symbols, m->trace, b->block, 0, &place))
		return -TACT_E_NOMEM;
	if (!is_alone ||
	    !tact_symbols_line(m->symbols, m->trace, b->block, 0, &source, &like.line)) {
		source = "";
		like.line = 0;
	}
	like.source = result_string(m->r, source);
	like.module = result_string(m->r, place.module);
	like.function = result_string(m->r, place.function);
	if (is_alone) {
		like.address = place.address;
		like.isa = b->block->isa;
		like.code = b->block->code;
		like.code_size = b->block->code_size;
	}
	if (!like.source || !like.module || !like.function)
		return -TACT_E_NOMEM;
	row = find(m, &m->blocks, &like);
	if (!row)
		return -TACT_E_NOMEM;
	add_share(row, b, 1, 1);
	if (is_alone && m->parts & TACT_RESULT_WITH_INSNS && add_insns(m, row, b->block->n_insns))
		return -TACT_E_NOMEM;
	row->executions += b->executions;
	row->instructions += b->block->n_insns * b->executions;
	row->bottlenecks |= b->limits;
	row->unknown += b->unknown * b->executions;
	return 0;
}

static int compare_cycles(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

/* Bounds the memory: beyond MAX_BLOCKS blocks, those with the fewest cycles are summed up. */
static int find_least(struct maker *m, const struct tact_cycles *cycles)
{
	double *all = calloc(cycles->n_codes + 1, sizeof(*all));
	size_t n = 0;

	if (!all)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < cycles->n_codes; i++)
		if (cycles->codes[i].executions)
			all[n++] = cycles->codes[i].cycles;
	if (n > MAX_BLOCKS) {
		qsort(all, n, sizeof(*all), compare_cycles);
		m->least = all[MAX_BLOCKS - 1];
		if (all[MAX_BLOCKS] == m->least) /* all equal ones or none */
			m->least = nextafter(m->least, INFINITY);
	}
	free(all);
	/* Room for most of them, and some for the rest: growing leaves holes in memory. */
	n = n < MAX_BLOCKS ? n : MAX_BLOCKS;
	return result_reserve(m->r, TACT_RESULT_BLOCK, n + n / 2);
}

static int add_blocks(struct maker *m, const struct tact_cycles *cycles)
{
	struct tact_cycles_block b = TACT_CYCLES_BLOCK_INIT;
	int status = find_least(m, cycles);

	m->hot = HOT_SHARE * m->r->totals.cycles;

	for (uint32_t i = 0; tact_trace_get_block(m->trace, i) && !status; i++) {
		if (i >= cycles->n_codes || !cycles->codes[i].executions)
			continue;
		if (cycles->codes[i].cycles >= m->hot) {
			status = tact_cycles_get_block(cycles, i, &b);
			if (status)
				break;
		} else {
			engine_fill_block(cycles, &cycles->codes[i], &b);
			b.bound = b.cycles / (double)b.executions;
		}
		status = tact_grow(&m->insns, &m->insns_capacity, b.block->n_insns,
				   sizeof(*m->insns));
		if (status)
			break;
		tact_cycles_get_insns(cycles, i, m->insns);
		status = add_block(m, &b);
		if (!status)
			status = add_functions(m, &b);
		if (!status && m->parts & TACT_RESULT_WITH_LINES)
			status = add_lines(m, &b);
	}
	return status;
}

static void fini_index(struct index *x)
{
	hash_free(&x->rows);
	free(x->at_bound);
}

static int copy_info(struct tact_result *r, const struct tact_result_info *info,
		     const struct tact_cycles *cycles)
{
	int status;

	r->info = *info;
	r->info.arch = result_string(r, info->arch ? info->arch : "");
	r->info.command = result_string(r, info->command ? info->command : "");
	status = tact_cycles_get_totals(cycles, &r->totals);
	return r->info.arch && r->info.command ? status : -TACT_E_NOMEM;
}

int result_make(struct tact_result **out, const struct tact_result_info *info,
		const struct tact_cycles *cycles, const struct tact_trace *trace,
		struct tact_symbols *symbols, unsigned parts, struct tact_diag *diag)
{
	struct maker m = {.trace = trace,
			  .parts = parts,
			  .symbols = symbols,
			  .blocks = {.kind = TACT_RESULT_BLOCK},
			  .functions = {.kind = TACT_RESULT_FUNCTION},
			  .lines = {.kind = TACT_RESULT_LINE}};
	int status;

	m.r = result_new();
	status = m.r ? copy_info(m.r, info, cycles) : -TACT_E_NOMEM;
	if (!status)
		status = add_blocks(&m, cycles);
	if (!status) {
		set_bottlenecks(&m, &m.functions);
		set_bottlenecks(&m, &m.lines);
	}
	fini_index(&m.blocks);
	fini_index(&m.functions);
	fini_index(&m.lines);
	free(m.insns);
	if (status) {
		tact_result_destroy(m.r);
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	}
	result_sort(m.r);
	*out = m.r;
	return 0;
}
