/* SPDX-License-Identifier: MIT
 *
 * Memory is followed by symbolic address: the values of base and index, as far as they are known,
 * plus a constant.  Passes over the block bring the values into their steady state; a load that
 * meets a store of an earlier iteration must do so in two iterations one after the other, since
 * pointers that advance at different speeds also meet by chance.
 */
#include <string.h>

#include "block/addresses.h"

#define NO_SYMBOL UINT32_MAX
#define NO_STACK  (UINT32_MAX - 1)
enum { ENTRY_SYMBOL = 0, STACK_SYMBOL, FRAME_SYMBOL, CONSTANT_SYMBOL, FIRST_FRESH = 64 };

/* Above all numbers of others: hashes of what a result was computed from. */
#define COMPUTED_SYMBOL 0x80000000u

static void init_values(struct address_walk *w, enum tact_init init)
{
	const struct isa_registers *registers = &w->block->arch->isa->registers;

	memset(w->value, 0, registers->n * sizeof(*w->value)); /* ENTRY_SYMBOL */
	for (unsigned r = 0; r < registers->n && init == TACT_INIT_DIFF; r++)
		w->value[r].base = r + 8;
	if (init == TACT_INIT_STACK) {
		w->value[registers->stack_pointer].base = STACK_SYMBOL;
		w->value[registers->frame_pointer].base = FRAME_SYMBOL;
	}
	w->next_symbol = FIRST_FRESH + registers->n;
	if (w->counts_banks)
		memset(w->bank_use, 0, sizeof(w->bank_use));
	w->bank_passes = 0;
	/* With one value for all registers, that of the stack pointer is known. */
	w->stack_symbol[0] =
		init == TACT_INIT_SAME ? NO_STACK : w->value[registers->stack_pointer].base;
	w->stack_symbol[1] =
		init == TACT_INIT_SAME ? NO_STACK : w->value[registers->frame_pointer].base;
}

static struct address address_of(const struct address_walk *w, const struct block_insn *bi,
				 const struct tact_operand *o)
{
	struct address a = {
		.base = NO_SYMBOL, .index = NO_SYMBOL, .scale = 0, .segment = o->segment};

	if (o->explicit_operand)
		a.offset = (uint64_t)bi->constants.displacement;
	else if (o->implicit_pointer && bi->lowered->pointer_change < 0 && !w->block->opt.paper)
		a.offset = (uint64_t)bi->lowered->pointer_change; /* push stores below */
	if (o->base != TACT_REG_NONE) {
		a.base = w->value[o->base].base;
		a.offset += w->value[o->base].offset;
	}
	if (o->index != TACT_REG_NONE) {
		a.offset += w->value[o->index].offset * o->scale;
		/* An index that is a constant, above all one that was set to zero, adds no more. */
		if (w->value[o->index].base != CONSTANT_SYMBOL || w->is_exact) {
			a.index = w->value[o->index].base;
			a.scale = o->scale;
		}
	}
	return a;
}

/* Returns the bytes of an access, as far as they are followed. */
static unsigned bytes_of(const struct address_walk *w, const struct tact_operand *o)
{
	unsigned bytes = o->bits / 8u;

	if (w->is_exact || !bytes)
		return 1;
	return bytes < STORE_MAX_BYTES ? bytes : STORE_MAX_BYTES;
}

/* Finds the value that a load brings: what the block has stored there or, where all registers
 * begin with one value, that value, with which memory is filled (BHive, section III-A).
 */
static bool loaded_value(const struct address_walk *w, const struct block_insn *bi,
			 struct symbol *value)
{
	const struct block_store *store;
	const struct tact_operand *o;
	struct address a;
	enum store_share share;

	if (bi->lowered->n_loads != 1 || (w->is_exact && w->block->opt.init != TACT_INIT_SAME))
		return false;
	o = &bi->insn->operand[bi->lowered->load_operand];
	a = address_of(w, bi, o);
	store = stores_find(&w->block->stores, &a, bytes_of(w, o), &share);
	if (store) {
		*value = store->value;
		return !w->is_exact && share == STORE_WHOLE && store->bytes == 8 && o->bits == 64 &&
		       address_equal(&a, &store->address);
	}
	*value = (struct symbol){ENTRY_SYMBOL, 0};
	return w->block->opt.init != TACT_INIT_DIFF && !(a.offset & 7);
}

/* Returns the value that a store leaves: that of a whole register, or a new one. */
static struct symbol stored_value(struct address_walk *w, const struct block_insn *bi)
{
	const struct tact_operand *to = &bi->insn->operand[0], *from = &bi->insn->operand[1];

	if (bi->lowered->value_effect == TACT_VALUE_COPY && to->kind == TACT_OPERAND_MEM &&
	    from->kind == TACT_OPERAND_REG && from->bits == 64 && from->reg != TACT_REG_NONE)
		return w->value[from->reg];
	return (struct symbol){w->next_symbol++, 0};
}

/* Effects that the paper's model does not follow. */
static bool further_result(struct address_walk *w, const struct block_insn *bi,
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
		if (!loaded_value(w, bi, value))
			return false;
		w->differs |= (bi->lowered->general_written & w->in_addresses) != 0;
		return true;
	default:
		return false;
	}
}

/* The result of an operation on registers alone: the same whenever they have the same values, so
 * that an address that is computed anew in every iteration is known to stay.
 */
static struct symbol computed(struct address_walk *w, const struct block_insn *bi)
{
	const struct block_lowered *l = bi->lowered;
	uint64_t h = (uint64_t)(bi - w->block->insns) + 1;

	if (w->is_exact || l->n_loads || !l->n_in)
		return (struct symbol){w->next_symbol++, 0};
	w->differs |= (l->general_written & w->in_addresses) != 0;
	for (unsigned k = 0; k < l->n_in; k++) {
		if (l->in[k].kind == VALUE_FLAGS)
			return (struct symbol){w->next_symbol++, 0};
		/* The constant is that of MurmurHash3's finaliser. */
		h = (h ^ w->value[l->in[k].key].base) * 0xff51afd7ed558ccdu;
		h = (h ^ h >> 32 ^ w->value[l->in[k].key].offset) * 0xff51afd7ed558ccdu;
	}
	return (struct symbol){COMPUTED_SYMBOL | (uint32_t)(h >> 34), 0};
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
	if (bi->lowered->idiom && !bi->lowered->n_in && !w->is_exact) {
		w->differs |= (bi->lowered->general_written & w->in_addresses) != 0;
		return (struct symbol){CONSTANT_SYMBOL, 0};
	}
	return computed(w, bi);
}

/* Whether the value of a symbol counts as aligned to lines: those at entry do. */
static bool is_aligned(uint32_t symbol)
{
	return symbol < FIRST_FRESH || symbol == NO_SYMBOL;
}

/* Counts the banks that a load needs (see load_bank_bytes). */
static void count_banks(struct address_walk *w, struct block_insn *bi,
			const struct tact_operand *operand)
{
	const struct address a = address_of(w, bi, operand);
	const unsigned bytes = operand->bits / 8u, offset = (unsigned)(a.offset % LINE_BYTES);

	if (!bytes || bytes > LINE_BYTES || !is_aligned(a.base) || !is_aligned(a.index)) {
		bi->bank_bytes = 0;
		return;
	}
	if (w->pass < LAST_PASS || w->is_static) {
		bi->bank_offset = (uint8_t)offset;
		bi->bank_bytes = (uint8_t)bytes;
		bi->bank_step = 0;
	} else if (w->pass == LAST_PASS) {
		bi->bank_step = (uint8_t)((offset - bi->bank_offset) % LINE_BYTES);
	}
	if (w->pass >= FIRST_COUNTED_PASS)
		commits_use_banks(w, bi, offset, bytes);
}

static inline bool changes_values(const struct address_walk *w, const struct block_lowered *l)
{
	return l->n_stores | w->needs_all | (l->general_written & w->needed);
}

/* Records the stores of an instruction, then the values that it leaves in registers. */
static void step(struct address_walk *w, uint32_t i)
{
	struct block_insn *bi = &w->block->insns[i];
	const struct block_lowered *l = bi->lowered;
	struct symbol result = {0, 0};
	bool has_result = false;

	for (unsigned k = 0; k < l->n_in && w->counts_banks && l->n_loads; k++)
		if (l->in[k].kind == VALUE_MEMORY)
			count_banks(w, bi, &bi->insn->operand[l->in[k].operand]);
	if (!changes_values(w, l))
		return;
	for (unsigned o = 0; o < l->n_out; o++) {
		if (l->out[o].kind == VALUE_MEMORY) {
			const struct tact_operand *operand = &bi->insn->operand[l->out[o].operand];
			const unsigned bytes = operand->bits / 8u;
			struct block_store store = {
				.address = address_of(w, bi, operand),
				.insn = i,
				.bytes = (uint8_t)bytes_of(w, operand),
				.line_bytes = bytes <= LINE_BYTES ? (uint8_t)bytes : 0,
				.output = (uint8_t)o,
				.pass = w->pass};

			if (w->pass > LAST_PASS) {
				commits_take(w, &store);
				continue;
			}
			store.value = stored_value(w, bi);
			stores_put(&w->block->stores, &store);
		} else if (l->out[o].kind == VALUE_REG && !has_result) {
			result = result_of(w, bi);
			has_result = true;
		}
	}
	for (unsigned o = 0, n = 0; o < l->n_out; o++)
		if (l->out[o].kind == VALUE_REG)
			w->value[l->out[o].key] =
				n++ ? (struct symbol){w->next_symbol++, 0} : result;
	/* The paper leaves the stack engine's changes aside. */
	if (!w->block->opt.paper)
		w->value[l->pointer_reg].offset += (uint64_t)l->pointer_change;
}

/* Before an iteration: registers that other code has changed have new values. */
static void move_registers(struct address_walk *w)
{
	for (uint32_t bits = w->block->opt.moving; bits; bits &= bits - 1) {
		const unsigned r = (unsigned)__builtin_ctz(bits);

		if (isa_is_general(w->block->arch->isa, r))
			w->value[r] = (struct symbol){w->next_symbol++, 0};
	}
}

int addresses_reserve(struct tact_block *block)
{
	const struct block_counts *c = &block->counts;

	if (tact_grow(&block->better, &block->better_capacity, c->inputs, sizeof(*block->better)) <
		    0 ||
	    tact_grow(&block->walked, &block->walked_capacity, block->n_insns,
		      sizeof(*block->walked)) < 0)
		return -TACT_E_NOMEM;
	return stores_reserve(&block->stores, LAST_PASS * c->stores, LAST_PASS * c->granules);
}

/* Returns whether a register other than the general ones is part of an address (gathers). */
static bool has_vector_address(const struct tact_isa *isa, const struct block_lowered *l)
{
	if (!(l->attributes & TACT_INSN_VECTOR) || !(l->n_loads | l->n_stores))
		return false;
	for (unsigned k = 0; k < l->n_in; k++)
		if (l->in[k].kind == VALUE_ADDRESS && !isa_is_general(isa, l->in[k].key))
			return true;
	return false;
}

/* Adds what an instruction reads to the registers that are followed. */
static void need_inputs(struct address_walk *w, const struct block_lowered *l)
{
	for (unsigned k = 0; k < l->n_in; k++) {
		if (l->in[k].kind > VALUE_ADDRESS)
			continue;
		if (isa_is_general(w->block->arch->isa, l->in[k].key))
			w->needed |= 1u << l->in[k].key;
		else
			w->needs_all |= (l->general_written & w->needed) != 0;
	}
}

/* Finds the general registers whose values are followed: those of addresses, and what they are
 * computed from.  If one of them is loaded, that may be anything that is stored.
 */
static void find_needed(struct address_walk *w)
{
	const struct tact_block *block = w->block;
	uint32_t before;

	do {
		bool is_loaded = false;

		before = w->needed;
		for (size_t i = 0; i < block->n_insns; i++) {
			const struct block_lowered *l = block->insns[i].lowered;

			if (l->general_written & w->needed) {
				need_inputs(w, l);
				is_loaded |= l->n_loads != 0;
			}
		}
		for (size_t i = 0; i < block->n_insns && is_loaded; i++)
			if (block->insns[i].lowered->n_stores)
				need_inputs(w, block->insns[i].lowered);
	} while (w->needed != before);
}

bool addresses_init(struct address_walk *w, struct tact_block *block)
{
	const struct block_counts *c = &block->counts;
	uint32_t written = 0, in_addresses = 0;
	bool needs_all = false;

	w->counts_banks = block->arch->params.load_bank_bytes && c->loads && !block->opt.paper;
	if (!w->counts_banks &&
	    (!c->stores || (!c->loads && ((c->stores == 1 && !block->arch->params.split_loads) ||
					  !block->arch->params.stores_one_line))))
		return false;
	for (size_t i = 0; i < block->n_insns; i++) {
		written |= block->insns[i].lowered->general_written;
		in_addresses |= block->insns[i].lowered->general_in_addresses;
		needs_all |= has_vector_address(block->arch->isa, block->insns[i].lowered);
	}
	w->block = block;
	w->in_addresses = in_addresses;
	w->is_static = !((written | block->opt.moving) & in_addresses);
	w->differs = false;
	w->confirms = !w->is_static || block->arch->params.stores_one_line;
	w->needed = in_addresses;
	w->needs_all = needs_all;
	if (!w->is_static && !needs_all)
		find_needed(w);
	return true;
}

/* Returns whether a register of this address is written after instruction `store` and before `load`,
 * of the same iteration or, if it wraps, of the next one.
 */
static bool is_rewritten(const struct address_walk *w, const struct tact_operand *o, uint32_t store,
			 uint32_t load, bool wraps)
{
	uint32_t written = 0, end = wraps ? (uint32_t)w->block->n_insns : load;

	for (uint32_t i = store; i < end; i++)
		written |= w->block->insns[i].lowered->general_written;
	for (uint32_t i = 0; i < load && wraps; i++)
		written |= w->block->insns[i].lowered->general_written;
	return (o->base < 32 && written >> o->base & 1) ||
	       (o->index < 32 && written >> o->index & 1);
}

/* In code that runs once, two accesses are known to meet if their addresses are spelled alike;
 * code that repeats is learned (experiments on Zen 4: unrolled and as a loop, with other registers
 * of the same value).
 */
static bool has_same_words(const struct address_walk *w, const struct block_insn *load,
			   const struct tact_operand *from, const struct block_store *store)
{
	const struct block_insn *bi = &w->block->insns[store->insn];
	const struct tact_operand *to = &bi->insn->operand[bi->lowered->out[store->output].operand];
	const uint8_t stack_pointer = w->block->arch->isa->registers.stack_pointer;

	if (w->block->mode == TACT_MODE_LOOP ||
	    (from->base == stack_pointer && to->base == stack_pointer))
		return true;
	return w->block->arch->params.store_renamed_words && from->base == to->base &&
	       from->index == to->index && from->scale == to->scale &&
	       load->constants.displacement == bi->constants.displacement &&
	       !is_rewritten(w, from, store->insn, (uint32_t)(load - w->block->insns),
			     store->pass != w->pass);
}

/* Connects a memory input to the store before it, as if both went to the same place. */
static void meet_last_store(const struct address_walk *w, struct block_node *node)
{
	const struct block_stores *s = &w->block->stores;
	const struct block_store *store;

	if (!s->n)
		return;
	store = &s->list[s->n - 1];
	node->producer = store->insn;
	node->output = store->output;
	node->iterations = (uint8_t)(w->pass - store->pass);
	node->distance = 0;
	node->is_blocked = node->is_narrow = node->is_renamed = false;
}

/* Loads of more than one narrower store holds, where that costs only time (experiments on Golden
 * Cove): into general registers without a sign, or of whole vectors; not after stores of vectors.
 */
static bool may_be_narrow(const struct block_insn *load, const struct tact_operand *from,
			  const struct block_insn *store)
{
	if (store->lowered->attributes & TACT_INSN_VECTOR)
		return false;
	return load->lowered->attributes & TACT_INSN_VECTOR
		       ? from->bits >= 128
		       : !(load->lowered->attributes & TACT_INSN_SIGN_EXTEND);
}

/* Connects a memory input to the store that it meets, if any. */
static void meet_store(struct address_walk *w, struct block_node *node, const struct block_insn *bi)
{
	const struct tact_operand *o = &bi->insn->operand[bi->lowered->in[node->input].operand];
	struct address a = address_of(w, bi, o);
	const struct block_store *store;
	enum store_share share;

	node->producer = BLOCK_NO_PRODUCER;
	if (w->block->opt.alias != TACT_ALIAS_ADDRESSES) {
		if (w->block->opt.alias == TACT_ALIAS_ALWAYS)
			meet_last_store(w, node);
		return;
	}
	store = stores_find(&w->block->stores, &a, bytes_of(w, o), &share);
	if (!store)
		return;
	w->differs |= share != STORE_WHOLE || !address_equal(&a, &store->address);
	node->producer = store->insn;
	node->output = store->output;
	node->iterations = (uint8_t)(w->pass - store->pass);
	node->is_blocked = share != STORE_WHOLE;
	node->distance = (int8_t)(store->address.offset - a.offset);
	node->is_narrow = share == STORE_ALONE && !node->distance &&
			  w->block->arch->params.blocked_overlap &&
			  may_be_narrow(bi, o, &w->block->insns[store->insn]);
	node->is_renamed =
		share == STORE_WHOLE && !node->distance && bi->lowered->takes_stored &&
		w->block->insns[store->insn].lowered->leaves_stored &&
		(w->block->arch->params.store_renamed > 1 ? !bi->is_split
							  : has_same_words(w, bi, o, store));
}

/* Connects loads to stores in the last iteration that brings values into their steady state; the
 * next iteration must meet the same stores.
 */
static void meet_stores(struct address_walk *w, uint32_t i, bool again)
{
	struct tact_block *block = w->block;
	const struct block_insn *bi = &block->insns[i];

	for (unsigned k = 0; k < bi->lowered->n_in && bi->lowered->n_loads; k++) {
		struct block_node *node = &block->nodes[bi->first_node + k], now = *node;

		if (bi->lowered->in[k].kind != VALUE_MEMORY ||
		    (again && node->producer == BLOCK_NO_PRODUCER))
			continue;
		meet_store(w, &now, bi);
		if (!again)
			*node = now;
		else if (now.producer != node->producer || now.iterations != node->iterations ||
			 now.distance != node->distance)
			node->producer = BLOCK_NO_PRODUCER;
	}
}

/* Lists the instructions that a walk must look at. */
static void list_walked(struct address_walk *w)
{
	const struct tact_block *block = w->block;
	const bool has_stores = block->counts.stores != 0;

	w->n_walked = 0;
	w->is_loading = false;
	for (uint32_t i = 0; i < block->n_insns; i++) {
		const struct block_lowered *l = block->insns[i].lowered;
		const bool changes = changes_values(w, l);

		if (changes || (l->n_loads && (has_stores || w->counts_banks)))
			block->walked[w->n_walked++] = i;
		w->is_loading |= changes && l->n_loads && l->value_effect == TACT_VALUE_LOAD;
	}
}

void addresses_walk_on(struct address_walk *w)
{
	w->bank_passes++;
	move_registers(w);
	for (uint32_t k = 0; k < w->n_walked; k++)
		step(w, w->block->walked[k]);
}

void addresses_connect(struct address_walk *w, bool is_exact)
{
	struct tact_block *block = w->block;
	const size_t general = block->arch->isa->registers.n_general;

	w->is_exact = is_exact;
	stores_clear(&block->stores);
	init_values(w, block->opt.init);
	list_walked(w);
	/* Addresses that never change are in their steady state after one iteration, at once
	 * without stores.
	 */
	for (w->pass = !w->is_static	       ? 1
		       : !block->counts.stores ? LAST_PASS
					       : LAST_PASS - 2;
	     w->pass < LAST_PASS + w->confirms; w->pass++) {
		w->bank_passes += w->pass >= FIRST_COUNTED_PASS;
		if (w->pass >= FIRST_COUNTED_PASS)
			memcpy(w->before[w->pass - FIRST_COUNTED_PASS], w->value,
			       general * sizeof(*w->value));
		move_registers(w);
		for (uint32_t k = 0; k < w->n_walked; k++) {
			const uint32_t i = block->walked[k];

			if (w->pass >= LAST_PASS - 1 && block->counts.stores)
				meet_stores(w, i, w->pass == LAST_PASS);
			step(w, i);
		}
	}
}
