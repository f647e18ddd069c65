/* SPDX-License-Identifier: MIT
 *
 * Addresses of one traced run: accesses that cross a line, loads that meet stores, loads that meet
 * stores only because all pages are the same one (BHive, section III-A).
 */
#include <string.h>

#include <Zydis/Zydis.h>

#include "measure/measure_priv.h"

enum { LINE = 64, WINDOW = 64 /* stores that may still be in the store buffer */ };

struct store {
	uint64_t address;
	unsigned size;
};

struct tracer {
	struct store stores[WINDOW];
	unsigned n; /* all that were seen; the last WINDOW are kept */
	uint32_t flags;
};

static uint64_t register_value(const uint64_t *gpr, ZydisRegister reg, uint64_t next_rip)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
	uint64_t value;

	if (reg == ZYDIS_REGISTER_NONE)
		return 0;
	if (reg == ZYDIS_REGISTER_RIP || reg == ZYDIS_REGISTER_EIP)
		return next_rip;
	if (ZydisRegisterGetClass(whole) != ZYDIS_REGCLASS_GPR64)
		return 0;
	value = gpr[ZydisRegisterGetId(whole)];
	return ZydisRegisterGetClass(reg) == ZYDIS_REGCLASS_GPR32 ? (uint32_t)value : value;
}

static bool overlap(uint64_t a, unsigned a_size, uint64_t b, unsigned b_size)
{
	return a < b + b_size && b < a + a_size;
}

static bool contains(uint64_t a, unsigned a_size, uint64_t b, unsigned b_size)
{
	return b >= a && b + b_size <= a + a_size;
}

static void load(struct tracer *t, uint64_t address, unsigned size)
{
	unsigned first = t->n > WINDOW ? t->n - WINDOW : 0;

	for (unsigned i = first; i < t->n; i++) {
		const struct store *s = &t->stores[i % WINDOW];
		uint64_t page = MEASURE_PAGE - 1;

		if (overlap(s->address, s->size, address, size)) {
			t->flags |= TACT_MFLAG_FORWARDS;
			if (!contains(s->address, s->size, address, size))
				t->flags |= TACT_MFLAG_PARTIAL;
		} else if (overlap(s->address & page, s->size, address & page, size)) {
			t->flags |= TACT_MFLAG_ALIAS_PAGE;
		}
	}
}

static void access(struct tracer *t, const ZydisDecodedOperand *op, uint64_t address)
{
	unsigned size = op->size / 8u;

	if (!size || size > 64)
		return;
	if (address / LINE != (address + size - 1) / LINE)
		t->flags |= TACT_MFLAG_CROSSES_LINE;
	if (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
		load(t, address, size);
	if (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
		t->stores[t->n++ % WINDOW] = (struct store){address, size};
}

static void step(struct tracer *t, const ZydisDecodedInstruction *zi,
		 const ZydisDecodedOperand *ops, const uint64_t *gpr, uint64_t rip)
{
	/* Operands that nobody reads, or that wait for nothing. */
	if (zi->meta.category == ZYDIS_CATEGORY_NOP ||
	    zi->meta.category == ZYDIS_CATEGORY_WIDENOP ||
	    zi->meta.category == ZYDIS_CATEGORY_PREFETCH)
		return;
	for (unsigned i = 0; i < zi->operand_count; i++) {
		const ZydisDecodedOperandMem *mem = &ops[i].mem;
		uint64_t address;

		if (ops[i].type != ZYDIS_OPERAND_TYPE_MEMORY || mem->type != ZYDIS_MEMOP_TYPE_MEM)
			continue;
		address = register_value(gpr, mem->base, rip + zi->length) +
			  register_value(gpr, mem->index, 0) * mem->scale +
			  (mem->disp.has_displacement ? (uint64_t)mem->disp.value : 0);
		if (mem->segment == ZYDIS_REGISTER_FS || mem->segment == ZYDIS_REGISTER_GS)
			address += MEASURE_FS_BASE;
		/* push stores below rsp */
		if (ops[i].visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
		    mem->base == ZYDIS_REGISTER_RSP &&
		    ops[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			address -= ops[i].size / 8u;
		access(t, &ops[i], address);
	}
}

uint32_t measure_trace_flags(const struct measure_host *host, const uint8_t *code, size_t size,
			     uint64_t body, bool loop)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction zi;
	struct tracer t = {.n = 0};
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (uint32_t i = 0; i < host->n_steps && i < MEASURE_MAX_STEPS; i++) {
		const struct measure_step *s = &host->step[i];
		uint64_t offset = s->rip - body;

		if (!loop)
			offset %= size;
		if (s->rip < body || offset >= size)
			continue; /* the loop's counter, the way out */
		if (ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code + offset, size - offset, &zi,
							ops)))
			step(&t, &zi, ops, s->gpr, s->rip);
	}
	return t.flags;
}
