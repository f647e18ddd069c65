/* SPDX-License-Identifier: MIT
 *
 * A listing as a whole: whether it is one, its code, its symbols, its text for the assembler.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "input/dialect.h"
#include "input/listing.h"
#include "isa/assemble.h"

enum {
	MAX_SIZE = 256 << 20, /* of a listing; all of it is in memory */
	MAX_RUNS = 60000,     /* sections that an object file can have, with some to spare */
	MAX_LENGTH = 15	      /* of an instruction: addresses that are farther apart leave a gap */
};

/* Reads a listing line by line. */
struct cursor {
	const char *p, *end;
	struct listing_line line;
};

static bool next_line(struct cursor *c)
{
	const char *stop;

	if (c->p >= c->end)
		return false;
	stop = memchr(c->p, '\n', (size_t)(c->end - c->p));
	stop = stop ? stop : c->end;
	listing_parse_line(&c->line, c->p, (size_t)(stop - c->p));
	c->p = stop + 1;
	return true;
}

static bool is_blank_line(const char *p, const char *end)
{
	while (p < end && strchr(" \t\r", *p) && *p)
		p++;
	return p == end;
}

static bool goes_on(uint64_t before, uint64_t after)
{
	return after > before && after - before <= MAX_LENGTH;
}

/* Whether a listing of an object has what compilers align: offsets mean something then. */
struct alignment {
	bool is_seen, is_broken;
	bool is_after_nop;
};

static void look_at_alignment(struct alignment *a, const struct listing_line *line)
{
	bool is_nop;

	if (line->has_address && line->name_size) {
		a->is_broken |= line->address % 16 != 0;
		a->is_seen |= line->address != 0;
	}
	if (line->kind != LISTING_CODE)
		return;
	is_nop = memmem(line->text, (size_t)(line->end - line->text), "nop", 3);
	a->is_seen |= a->is_after_nop && !is_nop && line->address % 8 == 0;
	a->is_after_nop = is_nop;
}

/* Numbers are labels for the assembler, too ("1: add ..."): without a line that nothing else has,
 * only a text in which every line begins with an address, and these go up, is a listing.
 */
static void judge(struct listing *out, const char *text, size_t size)
{
	struct alignment alignment = {0};
	struct cursor c = {.p = text, .end = text + size};
	size_t n_code = 0, n_bytes = 0;
	bool is_certain = false, is_plain = true, is_dump = false;
	uint64_t last = 0;
	const char *start;

	for (start = c.p; next_line(&c); start = c.p) {
		const struct listing_line *line = &c.line;

		is_certain |= line->is_certain;
		look_at_alignment(&alignment, line);
		if (line->kind == LISTING_HEADER) {
			is_dump = !line->has_address;
			last = 0;
		}
		if (line->kind == LISTING_CODE) {
			if (n_code && !goes_on(last, line->address))
				is_plain = false;
			out->is_sorted |= is_dump && line->address < last;
			last = line->address;
			n_code++;
			n_bytes += line->n_bytes > 0;
		} else if (!is_blank_line(start, c.p - 1)) {
			is_plain = false;
		}
	}
	out->is_listing = n_code && (is_certain || (is_plain && n_code > 1));
	out->has_bytes = 2 * n_bytes > n_code;
	out->is_aligned = alignment.is_seen && !alignment.is_broken;
}

static int no_memory(struct tact_diag *diag)
{
	return tact_fail(diag, TACT_E_NOMEM, "out of memory");
}

static int add_run(struct listing *out, uint64_t address, size_t begin, struct tact_diag *diag)
{
	if (out->n_runs == MAX_RUNS)
		return tact_fail(diag, TACT_E_FORMAT, "a listing with more than %d pieces of code",
				 MAX_RUNS);
	if (tact_grow(&out->runs, &out->runs_capacity, out->n_runs + 1, sizeof(*out->runs)))
		return no_memory(diag);
	out->runs[out->n_runs++] = (struct listing_run){address, begin, begin};
	return 0;
}

/* The name that belongs to the next instruction: that of a header, or its own. */
struct pending {
	const char *name;
	size_t size;
};

static void keep_name(struct pending *pending, const struct listing_line *line)
{
	if (line->kind == LISTING_HEADER || line->name_size)
		*pending = (struct pending){line->name, line->name_size};
}

static int add_symbol(struct listing *out, struct pending *pending, struct tact_diag *diag)
{
	struct listing_run *run = &out->runs[out->n_runs - 1];

	if (!pending->size)
		return 0;
	if (tact_grow(&out->symbols, &out->symbols_capacity, out->n_symbols + 1,
		      sizeof(*out->symbols)))
		return no_memory(diag);
	out->symbols[out->n_symbols++] =
		(struct listing_symbol){out->n_runs - 1, run->end - run->begin, out->names.size};
	text_add_bytes(&out->names, pending->name, pending->size);
	text_add_bytes(&out->names, "", 1);
	pending->size = 0;
	return 0;
}

static int read_code(struct listing *out, const char *text, size_t size, struct tact_diag *diag)
{
	struct cursor c = {.p = text, .end = text + size};
	struct pending pending = {0};
	struct listing_run *run;
	int status = 0;

	while (status >= 0 && next_line(&c)) {
		const struct listing_line *line = &c.line;

		keep_name(&pending, line);
		if (!line->n_bytes || (line->kind == LISTING_MORE && !out->n_runs))
			continue;
		run = out->n_runs ? &out->runs[out->n_runs - 1] : NULL;
		if (!run || line->address != run->address + (run->end - run->begin))
			status = add_run(out, line->address, out->code.size, diag);
		if (status >= 0)
			status = add_symbol(out, &pending, diag);
		if (status < 0)
			break;
		text_add_bytes(&out->code, line->bytes, line->n_bytes);
		out->runs[out->n_runs - 1].end = out->code.size;
	}
	if (status >= 0 && (out->code.failed || out->names.failed))
		status = no_memory(diag);
	return status;
}

/* ---- without bytes ---- */

struct writer {
	struct listing *out;
	const struct isa_assembler *assembler;
	uint64_t *addresses; /* of all instructions; owned */
	size_t n_addresses, capacity;
	size_t next;	    /* instruction to write */
	size_t first, last; /* instructions of the run that is being written */
	size_t run;
	struct pending pending;
};

static int collect_addresses(struct writer *w, const char *text, size_t size,
			     struct tact_diag *diag)
{
	struct cursor c = {.p = text, .end = text + size};

	while (next_line(&c)) {
		if (c.line.kind != LISTING_CODE)
			continue;
		if (tact_grow(&w->addresses, &w->capacity, w->n_addresses + 1,
			      sizeof(*w->addresses)))
			return no_memory(diag);
		w->addresses[w->n_addresses++] = c.line.address;
	}
	return 0;
}

/* Tells whether there is an instruction at an address in the run that is being written. */
static bool is_instruction(const struct writer *w, uint64_t address)
{
	size_t low = w->first, high = w->last;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (w->addresses[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return w->addresses[low] == address;
}

static void write_target(const struct writer *w, uint64_t address)
{
	const struct listing_run *run = &w->out->runs[w->run];
	const int64_t distance = (int64_t)(address - run->address);

	if (is_instruction(w, address))
		text_printf(&w->out->text, ".Ltact_%zu_%" PRIx64, w->run, address);
	else if (distance > INT32_MAX / 2 || distance < INT32_MIN / 2)
		text_printf(&w->out->text, "tact_%" PRIx64, address);
	else
		text_printf(&w->out->text, ".Ltact_%zu_%" PRIx64 "%+" PRId64, w->run, run->address,
			    distance);
}

/* Reads "401136" or "0x401136 <name>" up to `end`. */
static bool read_target(const char *p, const char *end, uint64_t *address)
{
	char digits[24], *stop;
	size_t size = 0;

	while (p + size < end && p[size] != ' ' && p[size] != '\t' && size + 1 < sizeof(digits)) {
		digits[size] = p[size];
		size++;
	}
	digits[size] = '\0';
	if (!size || strspn(digits, "0123456789abcdefABCDEFx") != size)
		return false;
	*address = strtoull(digits, &stop, 16);
	return !*stop;
}

static void write_insn(struct writer *w, const struct listing_line *line, unsigned length)
{
	const char *p = line->text, *end = line->end, *target, *q;
	struct text *text = &w->out->text;
	uint64_t address;

	for (q = p; q < end; q++)
		if (strchr(w->assembler->comments, *q) && *q)
			break;
	for (end = q; end > p && (end[-1] == ' ' || end[-1] == '\t');)
		end--;
	target = w->assembler->find_target ? w->assembler->find_target(p, end) : NULL;
	if (!target || !read_target(target, end, &address))
		target = NULL;
	if (w->assembler->respell)
		w->assembler->respell(text, p, target ? target : end, length);
	else
		text_add_bytes(text, p, (size_t)((target ? target : end) - p));
	if (target)
		write_target(w, address);
}

static void write_symbol(struct writer *w)
{
	struct text *text = &w->out->text;

	if (!w->pending.size)
		return;
	dialect_add_function(text, w->pending.name, w->pending.size);
	w->pending.size = 0;
}

/* Begins a section for the instruction that comes next. */
static int begin_run(struct writer *w, struct tact_diag *diag)
{
	struct listing *out = w->out;
	size_t i;
	int status;

	status = add_run(out, w->addresses[w->next], 0, diag);
	if (status < 0)
		return status;
	w->run = out->n_runs - 1;
	w->first = w->next;
	for (i = w->next + 1; i < w->n_addresses && goes_on(w->addresses[i - 1], w->addresses[i]);
	     i++)
		;
	w->last = i - 1;
	out->runs[w->run].end = (size_t)(w->addresses[i - 1] - out->runs[w->run].address);
	text_printf(&out->text, ".section " LISTING_SECTION_PREFIX "%zu,\"ax\";", w->run);
	return 0;
}

static int write_code(struct writer *w, const struct listing_line *line, struct tact_diag *diag)
{
	const uint64_t *a = w->addresses;
	const size_t i = w->next;
	unsigned length = 0;
	int status = 0;

	if (!i || !goes_on(a[i - 1], a[i]))
		status = begin_run(w, diag);
	if (status < 0)
		return status;
	if (i + 1 < w->n_addresses && goes_on(a[i], a[i + 1]))
		length = (unsigned)(a[i + 1] - a[i]);
	write_symbol(w);
	text_printf(&w->out->text, ".Ltact_%zu_%" PRIx64 ": ", w->run, a[i]);
	write_insn(w, line, length);
	w->next++;
	return 0;
}

static int write_text(struct listing *out, const struct isa_assembler *assembler, const char *text,
		      size_t size, struct tact_diag *diag)
{
	struct cursor c = {.p = text, .end = text + size};
	struct writer w = {.out = out, .assembler = assembler};
	int status = collect_addresses(&w, text, size, diag);

	while (status >= 0 && next_line(&c)) {
		keep_name(&w.pending, &c.line);
		if (c.line.kind == LISTING_CODE)
			status = write_code(&w, &c.line, diag);
		text_add(&out->text, "\n");
	}
	free(w.addresses);
	if (status >= 0 && out->text.failed)
		status = no_memory(diag);
	return status;
}

int listing_read(struct listing *out, const struct isa_assembler *assembler, const char *text,
		 size_t size, struct tact_diag *diag)
{
	struct text sorted = {0};
	int status = 0;

	*out = (struct listing){0};
	judge(out, text, size);
	if (!out->is_listing)
		return 0;
	if (out->is_sorted && size <= MAX_SIZE) {
		status = listing_put_in_order(&sorted, text, size);
		text = sorted.data;
		size = sorted.size;
	}
	if (status < 0)
		status = no_memory(diag);
	else if (size > MAX_SIZE)
		status = tact_fail(diag, TACT_E_FORMAT, "a listing of more than %d MiB",
				   MAX_SIZE >> 20);
	else if (out->has_bytes)
		status = read_code(out, text, size, diag);
	else
		status = write_text(out, assembler, text, size, diag);
	text_free(&sorted);
	if (status < 0)
		listing_free(out);
	return status;
}

void listing_free(struct listing *listing)
{
	free(listing->runs);
	free(listing->symbols);
	text_free(&listing->code);
	text_free(&listing->names);
	text_free(&listing->text);
	*listing = (struct listing){0};
}
