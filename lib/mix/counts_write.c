/* SPDX-License-Identifier: MIT
 *
 * Writes files of counts: the blocks of a trace and how often each ran.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "mix/counts_file.h"
#include "trace/generated.h"

/* A text that grows. */
struct lines {
	char *data;
	size_t size, capacity;
	bool is_full; /* out of memory */
};

static void say(struct lines *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct lines *l, const char *format, ...)
{
	va_list args, again;
	int n;

	va_start(args, format);
	va_copy(again, args);
	n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (n < 0 || tact_grow(&l->data, &l->capacity, l->size + (size_t)n + 1, 1)) {
		l->is_full = true;
	} else {
		vsnprintf(l->data + l->size, (size_t)n + 1, format, again);
		l->size += (size_t)n;
	}
	va_end(again);
}

static void say_module(struct lines *l, const struct tact_trace_module *m)
{
	uint8_t id[PMU_MAX_BUILD_ID];
	unsigned size;

	size = obj_build_id_of(m->path, id, sizeof(id));
	say(l, "module ");
	for (unsigned i = 0; i < size; i++)
		say(l, "%02x", id[i]);
	say(l, "%s%s\n", size ? " " : "- ", m->path);
}

/* Writes code that no file has, with its bytes and the name that the program has told. */
static void say_generated(const struct mix_counts_file *f, struct generated *names, struct lines *l,
			  const struct mix_counted *x)
{
	const char *name = "";
	uint64_t begin;

	if (generated_find(names, f->trace, x->block, 0, &name, &begin) < 0)
		l->is_full = true;
	say(l, "generated %" PRIx64 " %" PRIu64 " %s:", x->block->address, x->count,
	    tact_isa_name(x->block->isa));
	for (uint32_t i = 0; i < x->block->code_size; i++)
		say(l, "%02x", x->block->code[i]);
	say(l, "%s%.1000s\n", *name ? " " : "", name);
}

/* Which groups of windows the last count comes from. */
static void say_spread(struct lines *l, const struct mix_counted *x)
{
	if (!x->spread)
		return;
	say(l, "spread");
	for (unsigned i = 0; i < MIX_GROUPS; i++)
		if (x->spread[i] >= 0.5)
			say(l, " %u:%.0f", i, x->spread[i]);
	say(l, "\n");
}

static void say_head(const struct mix_counts_file *f, struct lines *l)
{
	size_t at;

	say(l, "#tact.mix.counts/1\n");
	if (f->argv || f->command)
		say(l, "command");
	at = l->size;
	for (char *const *word = f->argv; word && *word; word++)
		say(l, " %.1000s", *word);
	if (!f->argv && f->command)
		say(l, " %.4000s", f->command);
	for (; at < l->size; at++) /* a command must stay on one line */
		if (l->data[at] == '\n' || l->data[at] == '\r')
			l->data[at] = ' ';
	if (f->argv || f->command)
		say(l, "\n");
	if (f->windows)
		say(l, "windows %" PRIu64 "\n", f->windows);
}

static void say_all(const struct mix_counts_file *f, struct generated *names, struct lines *l)
{
	struct tact_trace_module m = {.size = sizeof(m)};
	uint32_t module = 0;
	uint64_t outside = 0;

	say_head(f, l);
	for (size_t i = 0; i < f->n; i++) {
		const struct mix_counted *x = &f->items[i];
		const struct tact_trace_block *b = x->block;

		if (!x->count)
			continue;
		if (b->module && b->module != module &&
		    tact_trace_get_module(f->trace, b->module, &m) < 0) {
			outside += x->count;
			continue;
		}
		if (!b->module) {
			say_generated(f, names, l, x);
		} else {
			if (b->module != module)
				say_module(l, &m);
			module = b->module;
			say(l, "code %" PRIx64 " %x %" PRIu64 "\n", b->address - m.begin + m.offset,
			    b->code_size, x->count);
		}
		say_spread(l, x);
	}
	say(l, "outside %" PRIu64 "\n", outside);
}

static int compare_items(const void *a, const void *b)
{
	const struct tact_trace_block *x = ((const struct mix_counted *)a)->block;
	const struct tact_trace_block *y = ((const struct mix_counted *)b)->block;

	return 2 * ORDER(x->module, y->module) + ORDER(x->address, y->address);
}

int mix_write_counts(const struct mix_counts_file *f, struct tact_diag *diag)
{
	struct generated *names = NULL;
	struct lines l = {0};
	struct tact_diag why = {0};
	int status = 0;

	if (generated_create(&names))
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	if (f->n)
		qsort(f->items, f->n, sizeof(*f->items), compare_items);
	say_all(f, names, &l);
	if (!l.is_full)
		status = file_write(f->path, l.data, l.size, &why);
	generated_destroy(names);
	free(l.data);
	if (l.is_full || status == -TACT_E_NOMEM)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	return status < 0 ? tact_fail(diag, TACT_E_IO, "%.100s cannot be written: %s", f->path,
				      why.text)
			  : 0;
}
