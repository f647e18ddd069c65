/* SPDX-License-Identifier: MIT
 *
 * Functions that are selected when a program starts (STT_GNU_IFUNC, such as memcpy).  The symbol
 * names the code that selects; the candidates are the functions whose addresses that code takes.
 */
#include <string.h>

#include <tact/insn.h>

#include "base/base.h"
#include "trace/symbols.h"

enum { MAX_BYTES = 4096 }; /* of the code that selects */

/* Finds code that begins at an address: a function by its symbol, or by its unwind information. */
static bool find_function(const struct symbols_file *f, uint64_t address,
			  struct tact_trace_region *out)
{
	const struct obj_file *obj = f->obj;
	struct obj_unwind u;

	for (size_t i = 0; i < obj->n_sections; i++) {
		const struct obj_section *x = &obj->sections[i];
		const struct obj_function *fn;
		uint64_t end = 0, offset;
		size_t at;

		if (x->owned || address < x->address || address - x->address >= x->size)
			continue;
		fn = obj_function_at(obj, i, (size_t)(address - x->address));
		if (*fn->name && fn->range.begin == address - x->address)
			end = x->address + fn->range.end;
		if (!end && obj_unwind_open(&u, obj)) {
			at = obj_unwind_from(&u, address);
			if (at < u.n && obj_unwind_begin(&u, at) == address)
				end = obj_unwind_end(&u, at);
		}
		if (end <= address || end - x->address > x->size)
			return false;
		offset = (uint64_t)(x->data - obj->image) - x->address;
		*out = (struct tact_trace_region){address + offset, end + offset, f->path, false};
		return true;
	}
	return false;
}

/* Returns the address that an instruction takes; 0: none. */
static uint64_t taken_by(const struct tact_insn *insn, uint64_t next)
{
	if (insn->attributes & TACT_INSN_PC_RELATIVE && insn->operand[0].kind == TACT_OPERAND_REG &&
	    insn->operand[1].kind == TACT_OPERAND_AGEN)
		return next + (uint64_t)insn->displacement;
	if (insn->value_effect == TACT_VALUE_CONSTANT && insn->immediate_bits >= 32)
		return (uint64_t)insn->immediate;
	return 0;
}

size_t symbols_candidates(const struct symbols_file *f, const struct obj_range *chooser,
			  struct tact_trace_region *out, size_t capacity)
{
	const struct obj_section *x = &f->obj->sections[chooser->section];
	size_t n = 0, end = chooser->end;

	if (end - chooser->begin > MAX_BYTES)
		end = chooser->begin + MAX_BYTES;
	for (size_t at = chooser->begin; at < end && n < capacity;) {
		struct tact_trace_region found;
		struct tact_insn insn;
		const int length = tact_isa_decode(f->obj->isa, &insn, x->data + at, end - at);
		bool is_new = true;

		if (length <= 0)
			break;
		at += (size_t)length;
		if (!find_function(f, taken_by(&insn, x->address + at), &found))
			continue;
		for (size_t i = 0; i < n; i++)
			is_new &= out[i].begin != found.begin;
		if (is_new)
			out[n++] = found;
	}
	return n;
}
