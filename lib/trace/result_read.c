/* SPDX-License-Identifier: MIT
 *
 * Reads stored results: one JSON object per line, as `tact trace -f json` writes them.  Every
 * number is checked; unknown members are skipped, so that later versions can add some.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include <tact/predict.h>

#include "base/base.h"
#include "trace/result.h"
#include "trace/result_members.h"

#include <tact-program/tracing.h>

enum { MAX_LINE = 1 << 20, MAX_ROWS = 1 << 22, MAX_CODE = 1 << 16 };

static const char schema[] = "tact.trace/1";

struct reader {
	struct tact_result *r;
	struct tact_diag *diag;
	uint64_t line;
	bool has_totals;
	size_t n_rows;
	/* Results before this one, of other CPUs, and room for so many; NULL: one is all. */
	struct tact_result **before;
	size_t n_before, most_before;
	const struct tact_isa *isa; /* of the CPU; NULL: unknown */
};

static int bad(struct reader *x, const char *what)
{
	return tact_fail_at(x->diag, TACT_E_FORMAT, x->line, 0, "%s", what);
}

/* ---- objects ---- */

static int read_totals(struct reader *x, const json_t *o)
{
	struct tact_result_info *info = &x->r->info;
	struct tact_cycles_totals *t = &x->r->totals;
	const json_t *misses = json_object_get(o, "misses");

	x->has_totals = true;
	if (!json_is_number(json_object_get(o, "cycles")))
		return bad(x, "totals without cycles");
	info->arch = result_string(x->r, member_text(o, "arch"));
	x->isa = info->arch ? tact_arch_isa(tact_arch_find(info->arch)) : NULL;
	info->command = result_string(x->r, member_text(o, "command"));
	info->is_exact = member_flag(o, "exact");
	info->has_caches = member_flag(o, "caches");
	info->has_branches = member_flag(o, "branches");
	info->is_partial = member_flag(o, "partial");
	t->cycles = member_number(o, "cycles");
	t->error = member_number(o, "error");
	t->windows = (uint32_t)member_whole(o, "windows");
	t->user_seconds = member_number(o, "user_seconds");
	t->hertz = member_number(o, "hertz");
	t->is_measured = member_flag(o, "measured");
	t->instructions = member_whole(o, "instructions");
	t->executions = member_whole(o, "executions");
	t->simulated = member_whole(o, "simulated");
	t->unknown = member_whole(o, "unknown");
	t->system_calls = member_whole(o, "system_calls");
	t->n_threads = member_small(o, "threads");
	t->accesses = member_whole(o, "accesses");
	t->branches = member_whole(o, "executed_branches");
	t->mispredicted = member_whole(o, "mispredicted");
	t->followed = json_object_get(o, "followed_branches")
			      ? member_whole(o, "followed_branches")
			      : t->branches; /* of an earlier version */
	t->tlb_misses = member_whole(o, "tlb_misses");
	t->page_walks = member_whole(o, "page_walks");
	t->page_faults = member_whole(o, "page_faults");
	t->prefetches = member_whole(o, "prefetches");
	t->unknown_prefetches = json_object_get(o, "unknown_prefetches")
					? member_whole(o, "unknown_prefetches")
					: 1; /* of an earlier version, which knew none */
	for (size_t i = 0; i < 3; i++) {
		const json_t *m = json_array_get(misses, i);

		t->misses[i] = json_is_integer(m) && json_integer_value(m) > 0
				       ? (uint64_t)json_integer_value(m)
				       : 0;
	}
	member_ports(o, t->uops);
	member_stalls(o, t->stalls);
	return info->arch && info->command ? 0 : -TACT_E_NOMEM;
}

static uint32_t read_bottlenecks(const json_t *o)
{
	const json_t *list = json_object_get(o, "bottlenecks");
	uint32_t bits = 0;

	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *name = json_string_value(json_array_get(list, i));

		for (unsigned k = 0; name && k < TACT_N_BOUNDS; k++)
			if (!strcmp(name, tact_bound_name((enum tact_bound)k)))
				bits |= 1u << k;
	}
	return bits;
}

static int read_code(struct reader *x, struct tact_result_row *row, const json_t *o)
{
	const char *hex = member_text(o, "hex");
	const size_t size = strlen(hex);
	size_t wrong;
	uint8_t *code;

	if (!size) /* the rest of its function */
		return 0;
	if (size > 2 * (size_t)MAX_CODE)
		return bad(x, "a block with too much code");
	code = tact_arena_take(&x->r->memory, size / 2 + 1);
	if (!code)
		return -TACT_E_NOMEM;
	if (tact_hex_decode(code, hex, size, &wrong) < 0)
		return bad(x, "a block whose code is not hexadecimal");
	row->code = code;
	if (x->isa)
		row->isa = x->isa;
	row->code_size = (uint32_t)(size / 2);
	return 0;
}

static int read_row(struct reader *x, const json_t *o, enum tact_result_kind kind)
{
	struct tact_result_row *row;
	uint64_t line = member_whole(o, "line");
	const char *symbol;

	if (++x->n_rows > MAX_ROWS)
		return tact_fail_at(x->diag, TACT_E_LIMIT, x->line, 0, "more than %d rows",
				    MAX_ROWS);
	row = result_add(x->r, kind);
	if (!row)
		return -TACT_E_NOMEM;
	row->module = result_string(x->r, member_text(o, "module"));
	symbol = member_text(o, "symbol"); /* of a function whose name is mangled */
	row->function = result_string(x->r, *symbol ? symbol : member_text(o, "function"));
	row->source = result_string(x->r, member_text(o, "source"));
	if (!row->module || !row->function || !row->source) {
		row->module = row->function = row->source = "";
		return -TACT_E_NOMEM;
	}
	row->line = line > 0x7fffffff ? 0 : (int)line;
	row->address = member_address(o);
	row->thread = member_small(o, "thread");
	row->process = member_small(o, "process");
	row->executions = member_whole(o, "executions");
	row->instructions = member_whole(o, "instructions");
	row->cycles = member_number(o, "cycles");
	row->bound = member_number(o, "bound");
	row->unknown = member_whole(o, "unknown");
	row->bottlenecks = read_bottlenecks(o);
	member_ports(o, row->uops);
	member_stalls(o, row->stalls);
	return kind == TACT_RESULT_BLOCK ? read_code(x, row, o) : 0;
}

/* Call paths come in order, callers first. */
static int read_call(struct reader *x, const json_t *o)
{
	const char *symbol = member_text(o, "symbol");
	const uint64_t caller = member_whole(o, "caller");
	struct tact_result_call *c;

	if (member_whole(o, "number") != x->r->n_calls + 1 || caller > x->r->n_calls)
		return bad(x, "a call out of order");
	if (++x->n_rows > MAX_ROWS)
		return tact_fail_at(x->diag, TACT_E_LIMIT, x->line, 0, "more than %d rows",
				    MAX_ROWS);
	c = result_add_call(x->r);
	if (!c)
		return -TACT_E_NOMEM;
	c->module = result_string(x->r, member_text(o, "module"));
	c->function = result_string(x->r, *symbol ? symbol : member_text(o, "function"));
	if (!c->module || !c->function) {
		c->module = c->function = "";
		return -TACT_E_NOMEM;
	}
	c->parent = caller ? (size_t)caller - 1 : TACT_NO_ROW;
	c->depth = caller ? x->r->calls[c->parent].depth + 1 : 0;
	c->calls = member_whole(o, "calls");
	c->instructions = member_whole(o, "instructions");
	c->cycles = member_number(o, "cycles");
	c->self = member_number(o, "self");
	return 0;
}

static uint64_t element(const json_t *o, const char *key, size_t i)
{
	const json_t *v = json_array_get(json_object_get(o, key), i);
	const double d = json_is_number(v) ? json_number_value(v) : 0;

	return d > 0 && d < 1e18 ? (uint64_t)d : 0;
}

/* The slices of a thread: an array for each member. */
static int read_slices(struct reader *x, const json_t *o)
{
	const json_t *course = json_object_get(o, "course");
	const size_t n = json_array_size(json_object_get(course, "cycles"));

	x->n_rows += n;
	if (x->n_rows > MAX_ROWS)
		return tact_fail_at(x->diag, TACT_E_LIMIT, x->line, 0, "more than %d rows",
				    MAX_ROWS);
	for (size_t i = 0; i < n; i++) {
		struct result_slice *s = result_add_slice(x->r);
		const uint64_t call = element(course, "calls", i);

		if (!s)
			return -TACT_E_NOMEM;
		*s = (struct result_slice){
			.thread = member_small(o, "thread"),
			.call = call && call <= x->r->n_calls ? (uint32_t)call - 1 : RESULT_NO_CALL,
			.cycles = (double)element(course, "cycles", i),
			.instructions = element(course, "instructions", i),
			.misses = {element(course, "l1_misses", i), element(course, "l2_misses", i),
				   element(course, "l3_misses", i)},
			.mispredicted = element(course, "mispredicted", i)};
	}
	return 0;
}

/* Another result begins, of the next CPU. */
static int begin_next(struct reader *x)
{
	if (!x->before)
		return bad(x, "a second result, of another CPU");
	if (x->n_before == x->most_before)
		return tact_fail_at(x->diag, TACT_E_LIMIT, x->line, 0, "more than %zu results",
				    x->most_before + 1);
	result_sort(x->r);
	x->before[x->n_before++] = x->r;
	x->r = result_new();
	x->has_totals = false;
	return x->r ? 0 : -TACT_E_NOMEM;
}

static int read_object(struct reader *x, const json_t *o)
{
	static const char *const kinds[TACT_N_RESULT_KINDS] = {"function", "block", "line",
							       "thread"};
	const char *s = member_text(o, "schema"), *kind = member_text(o, "kind");

	if (strcmp(s, schema) != 0)
		return strncmp(s, schema, sizeof(schema) - 2)
			       ? bad(x, "not a result of tact trace")
			       : tact_fail_at(x->diag, TACT_E_VERSION, x->line, 0,
					      "'%.32s': this program reads %s", s, schema);
	if (!strcmp(kind, "totals") && x->has_totals) {
		const int status = begin_next(x);

		if (status)
			return status;
	}
	if (!strcmp(kind, "totals"))
		return read_totals(x, o);
	if (!x->has_totals)
		return bad(x, "the first object has to be that of the totals");
	if (!strcmp(kind, "call"))
		return read_call(x, o);
	if (!strcmp(kind, "slices"))
		return read_slices(x, o);
	for (unsigned i = 0; i < TACT_N_RESULT_KINDS; i++)
		if (!strcmp(kind, kinds[i]))
			return read_row(x, o, (enum tact_result_kind)i);
	return 0; /* from a later version */
}

/* jansson has codes of its own for valid syntax that it refuses; when memory runs out, it has no
 * code that can be relied on.
 */
static bool is_refused(const json_error_t *error)
{
	switch (json_error_code(error)) {
	case json_error_stack_overflow:
	case json_error_invalid_utf8:
	case json_error_null_character:
	case json_error_numeric_overflow:
		return true;
	default:
		return false;
	}
}

static int not_an_object(struct reader *x, const char *line, size_t size, bool is_refused)
{
	/* A number or a string is JSON, too, but jansson does not take it for a document. */
	bool is_document = strchr("{[", line[strspn(line, " \t")]) != NULL;

	if (!is_refused && is_document && result_is_json(line, size))
		return tact_fail(x->diag, TACT_E_NOMEM, "out of memory");
	return bad(x, x->has_totals ? "not a JSON object; is the file cut short?"
				    : "not a result of tact trace");
}

static int read_line(struct reader *x, const char *line, size_t size)
{
	json_error_t error = {0}; /* jansson leaves its code unset when memory runs out */
	json_t *o;
	int status;

	x->line++;
	while (size && strchr(" \t\r\n", line[size - 1]))
		size--;
	if (!size)
		return 0;
	if (size > MAX_LINE)
		return bad(x, "the line is too long");
	o = json_loadb(line, size, 0, &error);
	if (!json_is_object(o)) {
		status = not_an_object(x, line, size, o || is_refused(&error));
		json_decref(o);
		return status;
	}
	status = read_object(x, o);
	json_decref(o);
	if (status == -TACT_E_NOMEM)
		tact_fail(x->diag, TACT_E_NOMEM, "out of memory");
	return status;
}

static int finish(struct reader *x, int status, struct tact_result **out)
{
	if (!status && !x->has_totals)
		status = tact_fail(x->diag, TACT_E_FORMAT, "there is no result in it");
	if (status) {
		tact_result_destroy(x->r);
		return status;
	}
	result_sort(x->r);
	*out = x->r;
	return 0;
}

int tact_result_load_memory(struct tact_result **out, const void *data, size_t size,
			    struct tact_diag *diag)
{
	struct reader x = {.diag = diag};
	const char *p = data, *end;
	int status;

	if (out)
		*out = NULL;
	if (!out || (size && !data))
		return tact_fail(diag, TACT_E_INVAL, "no text");
	x.r = result_new();
	status = x.r ? 0 : tact_fail(diag, TACT_E_NOMEM, "out of memory");
	end = size ? p + size : p;
	while (p < end && !status) {
		const char *next = memchr(p, '\n', (size_t)(end - p));

		next = next ? next + 1 : end;
		status = read_line(&x, p, (size_t)(next - p));
		p = next;
	}
	return finish(&x, status, out);
}

static int read_lines(struct reader *x, FILE *file)
{
	size_t capacity = 0;
	char *line = NULL;
	int status = 0;

	for (;;) {
		ssize_t n;

		errno = 0;
		n = getline(&line, &capacity, file);
		if (n <= 0 && (ferror(file) || !feof(file)))
			status = tact_fail_errno(x->diag, NULL);
		if (n > 0)
			status = read_line(x, line, (size_t)n);
		if (n <= 0 || status)
			break;
	}
	free(line);
	return status;
}

static int load(struct reader *x, const char *path, struct tact_result **out)
{
	FILE *file;
	int fd, status;

	fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : fcntl(0, F_DUPFD_CLOEXEC, 3);
	file = fd < 0 ? NULL : fdopen(fd, "r");
	if (!file) {
		status = tact_fail_errno(x->diag, NULL);
		if (fd >= 0)
			close(fd);
		return status;
	}
	x->r = result_new();
	status = x->r ? read_lines(x, file) : tact_fail(x->diag, TACT_E_NOMEM, "out of memory");
	fclose(file);
	return finish(x, status, out);
}

int tact_result_load(struct tact_result **out, const char *path, struct tact_diag *diag)
{
	struct reader x = {.diag = diag};

	if (out)
		*out = NULL;
	if (!out || !path)
		return tact_fail(diag, TACT_E_INVAL, "no path");
	return load(&x, path, out);
}

long tact_result_load_all(struct tact_result **out, size_t most, const char *path,
			  struct tact_diag *diag)
{
	struct reader x = {.diag = diag, .before = out, .most_before = most ? most - 1 : 0};
	struct tact_result *last;
	int status;

	for (size_t i = 0; out && i < most; i++)
		out[i] = NULL;
	if (!out || !most || !path)
		return tact_fail(diag, TACT_E_INVAL, "no path, or no room for results");
	status = load(&x, path, &last);
	if (!status) {
		out[x.n_before] = last;
		return (long)x.n_before + 1;
	}
	for (size_t i = 0; i < x.n_before; i++) {
		tact_result_destroy(out[i]);
		out[i] = NULL;
	}
	return status;
}

bool tact_result_is_one(const char *path)
{
	const size_t n = path ? strlen(path) : 0;
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	char first = '\0';

	if (fd >= 0) {
		if (read(fd, &first, 1) != 1)
			first = '\0';
		close(fd);
	}
	return first == '{' || (n > 5 && !strcmp(path + n - 5, ".json"));
}
