/* SPDX-License-Identifier: MIT
 *
 * Memory is followed by symbolic address: the values of base and index, as far as they are known,
 * plus a constant.  Passes over the block bring the values into their steady state; a load that
 * meets a store of an earlier iteration must do so in two iterations one after the other, since
 * pointers that advance at different speeds also meet by chance.
 */
#include <string.h>

#include "block/addresses.h"

/* Iterations that are followed: those before the last one bring the values into their steady state,
 * and the last one must agree with the one before.  Stores are counted from the third one on; where
 * pointers move through lines, more iterations show how often.
 */
enum { LAST_PASS = 4, FIRST_COUNTED_PASS = 3, LAST_MOVING_PASS = 18 };

/* A slot of the hash table of stores. */
struct block_store {
	struct address address;
	uint32_t insn;
	uint32_t generation; /* block that filled the slot */
	uint8_t output;
	uint8_t pass; /* iteration that stored it, from 1 */
};

enum { LINE_BYTES = 64, LINE_SHIFT = 6 };

#define NO_SYMBOL UINT32_MAX
enum { ENTRY_SYMBOL = 0, RSP_SYMBOL, RBP_SYMBOL, CONSTANT_SYMBOL, FIRST_FRESH = 64 };

static void init_values(struct address_walk *w, enum tact_init init)
{
	for (unsigned r = 0; r < TACT_N_REGS; r++)
		w->value[r] = (struct symbol){init == TACT_INIT_DIFF ? r + 8 : ENTRY_SYMBOL, 0};
	if (init == TACT_INIT_STACK) {
		w->value[TACT_REG_RSP].base = RSP_SYMBOL;
		w->value[TACT_REG_RBP].base = RBP_SYMBOL;
	}
	w->next_symbol = FIRST_FRESH + TACT_N_REGS;
	w->lone_store = false;
	w->commit_cycles = 0;
}

static struct address address_of(const struct address_walk *w, const struct block_insn *bi,
				 const struct tact_operand *o)
{
	struct address a = {.base = NO_SYMBOL,
			    .index = NO_SYMBOL,
			    .scale = 0,
			    .segment = o->segment >= TACT_REG_SEGMENT0 + 4 ? o->segment : 0};

	if (o->explicit_operand)
		a.offset = (uint64_t)bi->constants.displacement;
	else if (o->implicit_stack && bi->lowered->stack_change < 0 && !w->block->opt.paper)
		a.offset = (uint64_t)bi->lowered->stack_change; /* push stores below rsp */
	if (o->base != TACT_REG_NONE && o->base < TACT_N_REGS) {
		a.base = w->value[o->base].base;
		a.offset += w->value[o->base].offset;
	}
	if (o->index != TACT_REG_NONE && o->index < TACT_N_REGS) {
		a.index = w->value[o->index].base;
		a.scale = o->scale;
		a.offset += w->value[o->index].offset * o->scale;
	}
	return a;
}

static bool address_equal(const struct address *a, const struct address *b)
{
	return a->offset == b->offset && a->base == b->base && a->index == b->index &&
	       a->scale == b->scale && a->segment == b->segment;
}

static bool is_stored(const struct address_walk *w, const struct block_store *s)
{
	return s->generation == w->block->generation;
}

/* The slot of this address, or the free one where it belongs. */
static struct block_store *find_store(const struct address_walk *w, const struct address *a)
{
	uint64_t h = ((uint64_t)a->base << 32 | a->index) * 0x9e3779b97f4a7c15u;
	size_t slot;

	h = (h ^ a->offset ^ a->scale) * 0xff51afd7ed558ccdu;
	for (slot = (size_t)(h >> 32) & (w->n_slots - 1);; slot = (slot + 1) & (w->n_slots - 1)) {
		struct block_store *s = &w->block->stores[slot];

		if (s->generation != w->block->generation || address_equal(&s->address, a))
			return s;
	}
}

/* What a load brings: where every register begins with one value, memory is filled with it too
 * (BHive, section III-A), unless the block has stored there.
 */
static bool loaded_value(const struct address_walk *w, const struct block_insn *bi,
			 struct symbol *value)
{
	struct address a;

	if (w->block->opt.init == TACT_INIT_DIFF || bi->lowered->n_loads != 1)
		return false;
	a = address_of(w, bi, &bi->insn->operand[1]);
	if (a.offset & 7 || is_stored(w, find_store(w, &a)))
		return false;
	*value = (struct symbol){ENTRY_SYMBOL, 0};
	return true;
}

/* Effects that the paper's model does not follow. */
static bool further_result(const struct address_walk *w, const struct block_insn *bi,
			   struct symbol *value)
{
	switch ((enum tact_value_effect)bi->lowered->value_effect) {
	case TACT_VALUE_LEA:
		*value = w->value[bi->insn->operand[1].base];
		value->offset += (uint64_t)bi->constants.displacement;
		return true;
	case TACT_VALUE_CONSTANT:
		*value = (struct symbol){CONSTANT_SYMBOL, (uint64_t)bi->constants.immediate};
		return true;
	case TACT_VALUE_LOAD:
		return loaded_value(w, bi, value);
	default:
		return false;
	}
}

static struct symbol result_of(struct address_walk *w, const struct block_insn *bi)
{
	struct symbol v;

	if (!w->block->opt.paper && further_result(w, bi, &v))
		return v;
	if (bi->lowered->first_source != TACT_REG_NONE) {
		v = w->value[bi->lowered->first_source];
		switch ((enum tact_value_effect)bi->lowered->value_effect) {
		case TACT_VALUE_COPY:
			return v;
		case TACT_VALUE_ADD:
			v.offset += (uint64_t)bi->constants.immediate;
			return v;
		case TACT_VALUE_SUB:
			v.offset -= (uint64_t)bi->constants.immediate;
			return v;
		case TACT_VALUE_INC:
			v.offset++;
			return v;
		case TACT_VALUE_DEC:
			v.offset--;
			return v;
		default:
			break;
		}
	}
	return (struct symbol){w->next_symbol++, 0};
}

/* Where stores leave the store buffer in order, two a cycle only if both go to the same cache line:
 * a store joins the one before it if that one is alone in its cycle.  Values at entry are taken to
 * be aligned to lines.
 */
static void commit_store(struct address_walk *w, const struct address *a, unsigned bytes)
{
	struct address line = *a;
	bool crosses;

	if (!w->block->arch->params.stores_one_line)
		return;
	crosses =
		bytes && bytes <= LINE_BYTES && (a->offset & (LINE_BYTES - 1)) + bytes > LINE_BYTES;
	line.offset = a->offset >> LINE_SHIFT;
	if (w->lone_store && !crosses && address_equal(&line, &w->last_line)) {
		w->lone_store = false;
		return;
	}
	if (w->pass >= FIRST_COUNTED_PASS)
		w->commit_cycles += 1 + crosses;
	w->lone_store = !crosses;
	w->last_line = line;
}

/* Records the stores of an instruction, then the values that it leaves in registers. */
void addresses_step(struct address_walk *w, uint32_t i)
{
	const struct block_insn *bi = &w->block->insns[i];
	const struct block_lowered *l = bi->lowered;
	struct symbol result = {0, 0};
	bool has_result = false;

	for (unsigned o = 0; o < l->n_out; o++) {
		if (l->out[o].kind == VALUE_MEMORY && w->n_slots) {
			const struct tact_operand *operand = &bi->insn->operand[l->out[o].operand];
			struct address a = address_of(w, bi, operand);

			commit_store(w, &a, operand->bits / 8u);
			if (w->pass <= LAST_PASS)
				*find_store(w, &a) = (struct block_store){
					a, i, w->block->generation, (uint8_t)o, w->pass};
		} else if (l->out[o].kind == VALUE_REG && !has_result) {
			result = result_of(w, bi);
			has_result = true;
		}
	}
	for (unsigned o = 0, n = 0; o < l->n_out; o++)
		if (l->out[o].kind == VALUE_REG)
			w->value[l->out[o].key] =
				n++ ? (struct symbol){w->next_symbol++, 0} : result;
	/* The paper leaves the stack engine's changes of rsp aside. */
	if (!w->block->opt.paper)
		w->value[TACT_REG_RSP].offset += (uint64_t)bi->lowered->stack_change;
}

int addresses_init(struct address_walk *w, struct tact_block *block)
{
	size_t loads = 0, stores = 0, before;
	unsigned written = 0, in_addresses = 0;

	for (size_t i = 0; i < block->n_insns; i++) {
		const struct block_lowered *l = block->insns[i].lowered;

		loads += l->n_loads;
		stores += l->n_stores;
		written |= l->gpr_written;
		in_addresses |= l->gpr_in_addresses;
	}
	w->block = block;
	w->is_static = !(written & in_addresses);
	w->n_slots = 0;
	if (!stores || (!loads && (stores < 2 || !block->arch->params.stores_one_line)))
		return 0;
	for (w->n_slots = 8; w->n_slots < 2 * LAST_PASS * stores + 2;)
		w->n_slots *= 2;
	before = block->store_capacity;
	if (tact_grow(&block->stores, &block->store_capacity, w->n_slots, sizeof(*block->stores)) <
	    0)
		return -TACT_E_NOMEM;
	/* Slots of other blocks are free: they carry another generation.  It starts anew only after
	 * four thousand million blocks.
	 */
	if (before != block->store_capacity || !++block->generation) {
		memset(block->stores, 0, block->store_capacity * sizeof(*block->stores));
		block->generation = 1;
	}
	return 0;
}

void addresses_connect(const struct address_walk *w, struct block_node *node,
		       const struct block_insn *bi)
{
	const struct tact_operand *o = &bi->insn->operand[bi->lowered->in[node->input].operand];
	const struct block_store *s;
	struct address a;

	a = address_of(w, bi, o);
	s = find_store(w, &a);
	if (!is_stored(w, s))
		return;
	node->producer = s->insn;
	node->output = s->output;
	node->iterations = (uint8_t)(w->pass - s->pass);
}

/* In the last iteration: drops what an input met before if it does not meet it again. */
static void confirm_memory(const struct address_walk *w, uint32_t i)
{
	struct tact_block *block = w->block;
	const struct block_insn *bi = &block->insns[i];

	for (unsigned k = 0; k < bi->lowered->n_in; k++) {
		struct block_node *node = &block->nodes[bi->first_node + k], again = *node;

		if (bi->lowered->in[k].kind != VALUE_MEMORY || node->producer == BLOCK_NO_PRODUCER)
			continue;
		again.producer = BLOCK_NO_PRODUCER;
		addresses_connect(w, &again, bi);
		if (again.producer != node->producer || again.iterations != node->iterations)
			node->producer = BLOCK_NO_PRODUCER;
	}
}

/* Cycles that the stores of an iteration need. */
static void count_stores(struct address_walk *w)
{
	struct tact_block *block = w->block;
	bool moving = false;

	if (!block->arch->params.stores_one_line)
		return;
	for (unsigned r = 0; r < 16; r++)
		moving |= w->value[r].offset != w->offset_before[r];
	if (moving)
		for (w->pass = LAST_PASS + 1; w->pass <= LAST_MOVING_PASS; w->pass++)
			for (uint32_t i = 0; i < block->n_insns; i++)
				addresses_step(w, i);
	else
		w->pass = LAST_PASS + 1;
	block->store_cycles = (double)w->commit_cycles / (w->pass - FIRST_COUNTED_PASS);
}

void addresses_warm_up(struct address_walk *w)
{
	init_values(w, w->block->opt.init);
	/* Addresses that never change are in their steady state after one iteration. */
	for (w->pass = w->is_static ? LAST_PASS - 2 : 1; w->pass < LAST_PASS - 1; w->pass++)
		for (uint32_t i = 0; i < w->block->n_insns; i++)
			addresses_step(w, i);
}

void addresses_finish(struct address_walk *w)
{
	struct tact_block *block = w->block;

	if (w->is_static && !block->arch->params.stores_one_line)
		return;
	w->pass = LAST_PASS;
	for (unsigned r = 0; r < 16; r++)
		w->offset_before[r] = w->value[r].offset;
	for (uint32_t i = 0; i < block->n_insns; i++) {
		confirm_memory(w, i);
		addresses_step(w, i);
	}
	count_stores(w);
}
