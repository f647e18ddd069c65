/* SPDX-License-Identifier: MIT
 *
 * What an instruction that ran is counted by.
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "mix/pivot.h"

static const char *const key_names[TACT_N_MIX_KEYS] = {
	"thread",    "module",	  "function", "block",	     "line",	"mnemonic", "form",
	"extension", "category",  "packing",  "width",	     "memory",	"taxonomy", "method",
	"operands",  "immediate", "masking",  "lock",	     "latency", "flops",    "bytes",
	"length",    "ring",	  "process",  "instruction",
};

const char *tact_mix_key_name(enum tact_mix_key key)
{
	return (unsigned)key < TACT_N_MIX_KEYS ? key_names[key] : "unknown";
}

static void thread_name(const struct pivot_item *x, char *text, size_t size)
{
	const struct mix_thread *t;

	if (x->thread >= x->mix->spaces.n_threads) {
		snprintf(text, size, "(all)");
		return;
	}
	t = &x->mix->spaces.threads[x->thread];
	snprintf(text, size, "%s %u/%u", t->comm[0] ? t->comm : "?", t->pid, t->tid);
}

static void function_name(const struct pivot_item *x, char *text, size_t size)
{
	const char *name = mix_module_function(x->module, x->code, x->offset);
	const struct obj_function *f;

	if (*name || !x->module->obj) {
		snprintf(text, size, "%s", *name ? name : "?");
		return;
	}
	f = obj_function_at(x->module->obj, x->code->section, x->offset);
	snprintf(text, size, "%s+0x%llx", file_base_name(x->module->path),
		 (unsigned long long)(x->code->address + f->range.begin));
}

static void line_name(const struct pivot_item *x, char *text, size_t size)
{
	const char *file;
	int line;

	if (mix_module_line(x->module, x->code, x->offset, &file, &line))
		snprintf(text, size, "%s:%d", file, line);
	else
		snprintf(text, size, "?");
}

static const char *number(unsigned value, char *text, size_t size)
{
	snprintf(text, size, "%u", value);
	return text;
}

/* A process that was not told apart, as of exact counts, is that of all. */
static const char *process_name(const struct pivot_item *x, char *text, size_t size)
{
	const struct mix_thread *t;

	if (x->thread >= x->mix->spaces.n_threads)
		return "(all)";
	t = &x->mix->spaces.threads[x->thread];
	snprintf(text, size, "%s %u", t->comm[0] ? t->comm : "?", t->pid);
	return text;
}

static const char *value_of_more(const struct pivot_item *x, enum tact_mix_key key, char *text,
				 size_t size)
{
	static const char *const masking[] = {"none", "merging", "zeroing"};
	const struct isa_properties *q = &x->properties;

	switch (key) {
	case TACT_MIX_BY_OPERANDS:
		return number(q->n_operands, text, size);
	case TACT_MIX_BY_IMMEDIATE:
		return q->has_immediate ? "immediate" : "none";
	case TACT_MIX_BY_MASKING:
		return masking[q->masking];
	case TACT_MIX_BY_LOCK:
		return q->is_locked ? "lock" : "none";
	case TACT_MIX_BY_LATENCY:
		return q->is_long_latency ? "long" : "short";
	case TACT_MIX_BY_FLOPS:
		return number(q->flops, text, size);
	case TACT_MIX_BY_BYTES:
		return number(q->length, text, size);
	case TACT_MIX_BY_LENGTH:
		return number(x->code->blocks.items[x->profile->block].n_insns, text, size);
	case TACT_MIX_BY_RING:
		return x->module->is_kernel ? "kernel" : "user";
	case TACT_MIX_BY_PROCESS:
		return process_name(x, text, size);
	case TACT_MIX_BY_INSTRUCTION:
		snprintf(text, size, "%s+0x%llx", file_base_name(x->module->path),
			 (unsigned long long)(x->code->address + x->offset));
		return text;
	default:
		return "";
	}
}

/* Returns the text of a key, static or in the buffer. */
const char *pivot_value(const struct pivot_item *x, enum tact_mix_key key, char *text, size_t size)
{
	static const char *const packing[] = {"none", "scalar", "packed"};
	static const char *const memory[] = {"none", "read", "write", "read+write"};
	const struct isa_properties *q = &x->properties;

	switch (key) {
	case TACT_MIX_BY_THREAD:
		thread_name(x, text, size);
		return text;
	case TACT_MIX_BY_MODULE:
		return x->module->path;
	case TACT_MIX_BY_FUNCTION:
		function_name(x, text, size);
		return text;
	case TACT_MIX_BY_BLOCK:
		snprintf(text, size, "%s+0x%llx", file_base_name(x->module->path),
			 (unsigned long long)(x->code->address +
					      x->code->blocks.items[x->profile->block].begin));
		return text;
	case TACT_MIX_BY_LINE:
		line_name(x, text, size);
		return text;
	case TACT_MIX_BY_MNEMONIC:
		return q->mnemonic_name;
	case TACT_MIX_BY_FORM:
		return q->form == TACT_FORM_NONE ? "(unknown)"
						 : tact_isa_form_name(x->code->isa, q->form);
	case TACT_MIX_BY_EXTENSION:
		return q->extension;
	case TACT_MIX_BY_CATEGORY:
		return q->category;
	case TACT_MIX_BY_PACKING:
		return packing[q->packing];
	case TACT_MIX_BY_WIDTH:
		snprintf(text, size, "%u", q->width);
		return text;
	case TACT_MIX_BY_MEMORY:
		return memory[q->loads + 2 * q->stores];
	case TACT_MIX_BY_TAXONOMY:
		return mix_taxonomy_name(x->taxonomy, mix_taxonomy_group(x->taxonomy, q));
	case TACT_MIX_BY_METHOD:
		return tact_mix_method_name((enum tact_mix_method)x->profile->method);
	default:
		return value_of_more(x, key, text, size);
	}
}

bool pivot_passes(const struct pivot_item *x, const struct tact_mix_pivot_options *o)
{
	char text[512];

	for (size_t i = 0; i < o->n_filters; i++) {
		const struct tact_mix_filter *f = &o->filters[i];
		const char *value = pivot_value(x, f->key, text, sizeof(text));
		bool fits = mix_glob(f->pattern, value) ||
			    (f->key == TACT_MIX_BY_MODULE &&
			     mix_glob(f->pattern, file_base_name(value))) ||
			    (f->key == TACT_MIX_BY_FUNCTION && x->module->obj &&
			     mix_glob(f->pattern,
				      obj_function_at(x->module->obj, x->code->section, x->offset)
					      ->name));

		if (fits == f->is_negated)
			return false;
	}
	return true;
}

static bool is_of_thread(enum tact_mix_key key)
{
	return key == TACT_MIX_BY_THREAD || key == TACT_MIX_BY_PROCESS;
}

bool pivot_is_by_thread(const struct tact_mix_pivot_options *o)
{
	bool is = false;

	for (size_t i = 0; i < o->n_keys; i++)
		is |= is_of_thread(o->keys[i]);
	for (size_t i = 0; i < o->n_filters; i++)
		is |= is_of_thread(o->filters[i].key);
	return is;
}
