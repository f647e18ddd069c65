/* SPDX-License-Identifier: MIT
 *
 * All blocks of an ELF file: recursive descent from where code is known to begin (entry, symbols,
 * unwind tables), along branches and calls; then the same from what is left in between, padding
 * apart: code that only jump tables and pointers lead to.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "collect/collect.h"
#include "isa/isa.h"
#include "isa/x86/x86.h"

/* What is known of a byte of code. */
enum {
	LENGTH = 0x0f,	  /* of the instruction that begins here; 0: none does */
	IS_LEADER = 0x10, /* a block begins here */
	IS_END = 0x20,	  /* the instruction ends a block */
	IS_INNER = 0x40,  /* belongs to an instruction that began before */
	IS_BAD = 0x80	  /* no instruction */
};

struct place {
	size_t section, offset;
};

struct descent {
	const struct obj_file *obj;
	uint8_t **bytes;     /* owned: for each section, one for each byte of it */
	struct place *stack; /* owned: where to go on */
	size_t n_stack, capacity;
	uint64_t n_bad;
};

static int push(struct descent *d, size_t section, uint64_t offset)
{
	if (offset >= d->obj->sections[section].size || d->bytes[section][offset] & IS_LEADER)
		return 0;
	if (tact_grow(&d->stack, &d->capacity, d->n_stack + 1, sizeof(*d->stack)))
		return -TACT_E_NOMEM;
	d->bytes[section][offset] |= IS_LEADER;
	d->stack[d->n_stack++] = (struct place){section, (size_t)offset};
	return 0;
}

/* An address of the file as a whole; objects have none. */
static int push_address(struct descent *d, uint64_t address)
{
	const struct obj_file *obj = d->obj;

	for (size_t i = 0; i < obj->n_sections && obj->type != OBJ_RELOCATABLE; i++)
		if (address - obj->sections[i].address < obj->sections[i].size)
			return push(d, i, address - obj->sections[i].address);
	return 0;
}

static int push_target(struct descent *d, size_t section, size_t at, const struct tact_insn *insn)
{
	const struct obj_section *s = &d->obj->sections[section];
	int64_t offset;

	if (!isa_flow_target(insn, &offset))
		return 0;
	/* Waits for the linker. */
	if (d->obj->type == OBJ_RELOCATABLE && insn->immediate_bits == 32 && !insn->immediate)
		return 0;
	if (at + (uint64_t)offset < s->size)
		return push(d, section, at + (uint64_t)offset);
	return push_address(d, s->address + at + (uint64_t)offset);
}

/* Whether the bytes belong to instructions that are known. */
static bool is_taken(const uint8_t *bytes, int n)
{
	for (int i = 0; i < n; i++)
		if (bytes[i] & (LENGTH | IS_INNER))
			return true;
	return false;
}

/* One instruction; a guess gives way to what is known.  Returns its length, 0 if there is none, or
 * < 0.
 */
static int take_insn(struct descent *d, size_t section, size_t at, bool is_guess,
		     enum isa_flow *flow)
{
	const struct obj_section *s = &d->obj->sections[section];
	uint8_t *bytes = d->bytes[section];
	struct tact_insn insn;
	const int length = tact_decode(&insn, s->data + at, s->size - at);

	if (length <= 0 || (is_guess && is_taken(bytes + at, length))) {
		if (!(bytes[at] & IS_BAD))
			d->n_bad++;
		bytes[at] |= IS_BAD;
		return 0;
	}
	*flow = isa_flow_of(&insn);
	bytes[at] |= (uint8_t)length;
	if (*flow != ISA_FLOW_NEXT)
		bytes[at] |= IS_END;
	for (int i = 1; i < length; i++)
		bytes[at + (size_t)i] |= IS_INNER;
	return push_target(d, section, at, &insn) ? -TACT_E_NOMEM : length;
}

/* Straight on from a place, to where it ends or to what is known. */
static int follow(struct descent *d, size_t section, size_t at, bool is_guess)
{
	const uint8_t *bytes = d->bytes[section];
	const size_t end = d->obj->sections[section].size;

	while (at < end && !(bytes[at] & (LENGTH | IS_BAD))) {
		enum isa_flow flow = ISA_FLOW_STOP;
		const int length = take_insn(d, section, at, is_guess, &flow);

		if (length <= 0)
			return length;
		at += (size_t)length;
		if (flow == ISA_FLOW_JUMP || flow == ISA_FLOW_RETURN || flow == ISA_FLOW_STOP)
			return 0;
		if (flow != ISA_FLOW_NEXT && at < end && push(d, section, at))
			return -TACT_E_NOMEM;
	}
	return 0;
}

static int drain(struct descent *d)
{
	int status = 0;

	while (d->n_stack && !status) {
		const struct place p = d->stack[--d->n_stack];

		status = follow(d, p.section, p.offset, false);
	}
	return status;
}

/* ---- where code begins ---- */

static int push_headers(struct descent *d)
{
	struct obj_unwind unwind;
	Elf64_Ehdr header;
	int status;

	memcpy(&header, d->obj->image, sizeof(header)); /* obj_open has checked that it is there */
	status = header.e_entry ? push_address(d, header.e_entry) : 0;
	if (!obj_unwind_open(&unwind, d->obj))
		return status;
	for (size_t i = 0; i < unwind.n && !status; i++)
		status = push_address(d, obj_unwind_begin(&unwind, i));
	return status;
}

static int push_symbols(struct descent *d)
{
	int status = 0;

	for (size_t i = 0; i < d->obj->n_symbols && !status; i++)
		status = push(d, d->obj->symbols[i].section, d->obj->symbols[i].offset);
	return status;
}

/* ---- what is left ---- */

/* Where padding ends: int3, zeros, no-operations. */
static size_t skip_padding(const struct obj_section *s, const uint8_t *bytes, size_t at)
{
	struct tact_insn insn;

	while (at < s->size && !(bytes[at] & (LENGTH | IS_INNER))) {
		int length = 1;

		if (s->data[at] != 0xcc && s->data[at] != 0x00) {
			length = tact_decode(&insn, s->data + at, s->size - at);
			if (length <= 0 || insn.mnemonic != ZYDIS_MNEMONIC_NOP)
				return at;
		}
		at += (size_t)length;
	}
	return at;
}

static int fill_gaps(struct descent *d, size_t section)
{
	const struct obj_section *s = &d->obj->sections[section];
	uint8_t *bytes = d->bytes[section];
	size_t at = 0;
	int status = 0;

	while (at < s->size && !status) {
		if (bytes[at] & (LENGTH | IS_INNER | IS_BAD)) {
			at++;
			continue;
		}
		at = skip_padding(s, bytes, at);
		if (at >= s->size || bytes[at] & (LENGTH | IS_INNER | IS_BAD))
			continue;
		bytes[at] |= IS_LEADER;
		status = follow(d, section, at, true);
		if (!status)
			status = drain(d);
	}
	return status;
}

/* ---- blocks ---- */

/* End of the block that begins at `at`; 0 if it runs into what is no code. */
static size_t end_of(const struct descent *d, size_t section, size_t at, uint32_t *n_insns,
		     size_t *last)
{
	const uint8_t *bytes = d->bytes[section];
	const size_t size = d->obj->sections[section].size;

	for (;;) {
		const uint8_t here = bytes[at];

		*last = at;
		++*n_insns;
		at += here & LENGTH;
		if (here & IS_END || at >= size)
			return at;
		if (!(bytes[at] & LENGTH))
			return 0;
		if (bytes[at] & IS_LEADER)
			return at;
	}
}

static int add_blocks(struct tact_collect *c, const struct descent *d, uint32_t file,
		      size_t section)
{
	const struct obj_section *s = &d->obj->sections[section];
	const uint8_t *bytes = d->bytes[section];
	int status = 0;

	for (size_t at = 0; at < s->size && !status; at++) {
		struct collect_item item = {.file = file + 1, .section = (uint32_t)section};
		size_t end, last;

		if (!(bytes[at] & IS_LEADER) || !(bytes[at] & LENGTH))
			continue;
		end = end_of(d, section, at, &item.n_insns, &last);
		if (!end)
			continue;
		if (c->no_branch && bytes[last] & IS_END) {
			end = last;
			item.n_insns--;
		}
		if (end == at)
			continue;
		item.code = s->data + at;
		item.code_size = (uint32_t)(end - at);
		item.place = at;
		status = collect_add_item(c, &item);
	}
	return status;
}

int collect_descend(struct tact_collect *c, uint32_t file, struct tact_diag *diag)
{
	struct descent d = {.obj = c->files[file].obj};
	int status = 0;

	d.bytes = calloc(d.obj->n_sections, sizeof(*d.bytes));
	for (size_t i = 0; d.bytes && i < d.obj->n_sections && !status; i++) {
		d.bytes[i] = calloc(d.obj->sections[i].size, 1);
		if (!d.bytes[i])
			status = -TACT_E_NOMEM;
	}
	if (!d.bytes)
		status = -TACT_E_NOMEM;
	if (!status)
		status = push_headers(&d);
	if (!status)
		status = push_symbols(&d);
	if (!status)
		status = drain(&d);
	for (size_t i = 0; i < d.obj->n_sections && !status; i++)
		status = fill_gaps(&d, i);
	for (size_t i = 0; i < d.obj->n_sections && !status; i++)
		status = add_blocks(c, &d, file, i);
	c->summary.n_undecoded += d.n_bad;
	for (size_t i = 0; d.bytes && i < d.obj->n_sections; i++)
		free(d.bytes[i]);
	free(d.bytes);
	free(d.stack);
	return status ? tact_fail(diag, TACT_E_NOMEM, "out of memory") : 0;
}
