/* SPDX-License-Identifier: MIT
 *
 * Layer 3: what the models see of a block.
 */
#ifndef TACT_BLOCK_PRIVATE_H
#define TACT_BLOCK_PRIVATE_H

#include <tact/block.h>

#include "arch/arch.h"
#include "arch/units.h"
#include "base/base.h"
#include "block/stores.h"
#include "isa/cache.h"

enum { LOWERED_MAX_IN = 16, LOWERED_MAX_OUT = 8 };

enum value_kind { VALUE_REG, VALUE_ADDRESS, VALUE_FLAGS, VALUE_MEMORY };

/* The stack pointer as a value. */
enum value_stack {
	STACK_NONE,
	STACK_NAMED, /* by the instruction, as any register */
	STACK_ENGINE /* of push, pop, call, ret: kept up to date by the stack engine */
};

/* A value that an instruction consumes or produces. */
struct lowered_value {
	uint8_t kind;	 /* enum value_kind */
	uint8_t key;	 /* register, or group of flags numbered after them: below ISA_MAX_KEYS */
	uint8_t operand; /* index into tact_insn.operand; TACT_REG_NONE for flags */
	uint8_t stack;	 /* enum value_stack */
};

/* By how many cycles an operand is needed later than at issue, if it comes from this kind of result
 * (0: any): LLVM's read-advances.
 */
struct block_advance {
	uint8_t input;
	uint16_t write_id;
	int16_t cycles;
};

/* A set of keys of registers and flags (struct lowered_value). */
struct block_keys {
	uint64_t half[2];
};
_Static_assert(ISA_MAX_KEYS <= 128, "a bit for each key");

struct block_issue;
struct block_advances {
	const struct block_issue *issue;    /* NULL: the CPU executes out of order */
	uint16_t write_id[LOWERED_MAX_OUT]; /* kinds of the results */
	unsigned n;
	struct block_advance rules[]; /* the first that fits counts */
};

/* What issue in order asks of an instruction, on a CPU of LLVM. */
struct block_issue {
	uint16_t micro_ops;
	uint16_t latency;     /* until it has executed */
	uint16_t first_write; /* cycles until the first of its results; at most `latency` */
	uint16_t made[LOWERED_MAX_OUT]; /* by output: cycles until it is there */
	bool loads, stores, load_barrier, store_barrier;
	bool begins_group, ends_group;
	bool retires_early; /* its results need not come after those of older ones */
	struct units_demand demand;
	struct llvm_use uses[];
};

/* An instruction form on one architecture, with the operands of one encoding: everything that does
 * not depend on its place or on its constants.
 */
struct block_lowered {
	uint8_t made; /* the block's generation then; another one: its place is only reserved */
	/* From struct tact_insn, so that the models need not touch that. */
	uint8_t length, opcode_offset, condition, value_effect, immediate_bits;
	uint8_t pointer_reg;
	int16_t pointer_change;
	uint32_t attributes;
	bool known, eliminated, complex_decoder, idiom, is_nop;
	bool foreign;	/* LLVM's CPU lacks the extension that has it */
	bool fuses_nop; /* a nop that may share a slot: none with a displacement of 32 bits */
	uint8_t simple_beside;
	uint8_t constants;    /* that it takes along in the DSB; one of 64 bits counts twice */
	uint8_t load_extra;   /* cycles that its address takes longer */
	uint8_t before_store; /* cycles until what it stores is computed, from a register */
	uint8_t forward_gain; /* cycles less from a store that its load meets to its own */
	uint16_t uops, fused, mite, ms, divider, cycles, fuse;
	uint8_t n_in, n_out, n_loads, n_stores;
	uint16_t granules; /* that its stores may touch, see stores.h */
	uint8_t merged; /* 1 + the input of which it only keeps the upper part, on cores where that
			   is not always waited for; 0: none */
	uint8_t first_source; /* register of the first VALUE_REG among the inputs, or TACT_REG_NONE
			       */
	uint8_t load_operand; /* of the first load, or TACT_REG_NONE */
	/* Bit r: general register r, the stack pointer by push and pop too. */
	uint32_t general_written, general_in_addresses;
	/* Of a stack of registers: what it takes off (-1: puts on), and whether it exchanges two by
	 * their names alone, which are then the keys in `exchanged`.
	 */
	int8_t turn;
	bool exchanges;
	bool has_turning; /* names such a register, or turns the stack */
	uint8_t exchanged[2];
	bool writes_high_byte;		/* and leaves the rest of the register */
	bool names_stack, writes_stack; /* the stack pointer, not as push and pop do; names: makes
				   the stack engine write it back */
	/* On a core that renames memory: its load takes a register that was stored; its store
	 * leaves one.
	 */
	bool takes_stored, leaves_stored;
	/* The same as the renamer executes it where its constant is small; NULL: it never does. */
	const struct block_lowered *folded;
	const struct block_advances *advances; /* NULL: tables have no such thing */
	bool is_split; /* counts as two uops for the decoders, see split_decoders */
	const struct arch_port_use *ports;
	/* Keys that it reads and writes; and those it writes that wait for something it reads. */
	struct block_keys reads, writes, passes;
	/* In the block's arena: n_in and n_out values; n_in rows of n_out latencies. */
	const struct lowered_value *in, *out;
	const uint16_t *latency;
	const uint16_t *
		forwarded; /* the same with what store-to-load forwarding takes; may be `latency` */
};

struct block_insn {
	const struct tact_insn *insn;	     /* in the cache */
	const struct block_lowered *lowered; /* in the block */
	struct isa_instance constants;
	uint32_t entry;	 /* in the cache */
	uint32_t offset; /* in the code */
	bool fused_prev, fused_next, jcc;
	bool switches_upper; /* saves or restores upper parts of vector registers (upper_switch) */
	bool is_split;	     /* its load crosses a cache line, on cores where that counts */
	uint8_t memory;	     /* 1 + enum tact_memory of its own; 0: that of the options */
	uint16_t latency;    /* of all its results, given by the caller; 0: the tables' */
	/* By block_connect: */
	bool fast_load, stack_sync;
	bool is_late;	 /* its results come a cycle later (late_flags) */
	bool flags_soon; /* its flags come a cycle sooner than the table says (the same) */
	uint16_t slot;	 /* fused uops before it */
	bool is_met;	 /* its store has a register that a load takes */
	/* Its load, in the banks of a line: first byte, bytes (0: not known), and by how much that
	 * moves with each iteration.
	 */
	uint8_t bank_offset, bank_bytes, bank_step;
	uint16_t load_extra; /* cycles that its load takes longer than one from the first level */
	uint32_t first_node; /* of its inputs in the dependence graph */
	uint64_t producers;  /* bit p: waits for insns[p]; only the first 64 count */
};

/* An input of an instruction: where its value comes from. */
struct block_node {
	uint32_t insn;	    /* that consumes it */
	uint32_t producer;  /* instruction, or BLOCK_NO_PRODUCER */
	uint8_t input;	    /* index into lowered->in of the consumer */
	uint8_t output;	    /* index into lowered->out of the producer */
	uint8_t iterations; /* 0: produced in the same iteration; 1: in the one before */
	bool is_blocked;    /* memory: the store holds only part of what is loaded */
	bool is_narrow;	 /* memory: so is_blocked, but only the latency counts (blocked_overlap) */
	bool is_renamed; /* memory: what was stored is there at once */
	int8_t sooner; /* cycles that it comes sooner than the table says (fast_float_add, late_flags,
			    advances) */
	uint8_t folded;	 /* cycles until the renamer's constant is added (fold_shift) */
	int8_t distance; /* memory: from where it is loaded to where the store begins, bytes */
	uint8_t early;	 /* memory: cycles that it takes longer if it comes early, on a slow port */
	uint8_t late;	 /* memory: cycles that it takes less if it comes late, without `early` */
	uint8_t reach;	 /* for block_mark_forwarding: 1 + cycles from a load to here; 0: none */
};

#define BLOCK_NO_PRODUCER UINT32_MAX

/* Sums over the instructions of a block. */
struct block_counts {
	size_t known, inputs, loads, stores, granules;
	size_t widest, branches, stack_changes; /* instructions with these */
	size_t complex_ones, fusible, lcps, high_bytes;
	size_t turning;		       /* instructions that use a stack of registers */
	size_t exclusive, serializing; /* that do not overlap; that wait for all before them */
};

struct tact_block {
	const struct tact_arch *arch;
	struct tact_block_options opt;
	enum tact_mode mode;

	struct isa_cache cache;
	struct block_lowered *lowered; /* owned; parallel to cache.entries */
	size_t lowered_capacity, n_lowered;
	struct tact_arena arena;	      /* of what `lowered` points to */
	const struct tact_arch *lowered_arch; /* for which `lowered` was made */
	unsigned lowered_revision;	      /* of it */
	uint8_t generation;		      /* of what is made; never 0 after the first */
	struct tact_arena given; /* of what is lowered with a latency that the caller gave */

	uint8_t *code; /* owned; followed by 16 zero bytes */
	size_t code_size, code_capacity;

	/* Of sets that have settings, by instruction: what it is executed with, what the caller says
	 * (has_settings), and how many depend on one that is not known.
	 */
	uint16_t *settings, *given_settings; /* owned */
	size_t settings_capacity, given_settings_capacity, n_unset;

	struct block_insn *insns; /* owned */
	size_t n_insns, insn_capacity;

	struct block_node *nodes; /* owned; memory as the paper follows it: equal addresses meet */
	size_t n_nodes, node_capacity;
	struct block_node *better; /* owned; with what is known of bytes and of loaded values */
	size_t better_capacity;
	bool has_better; /* the two differ */

	struct block_stores stores; /* by symbolic address, see addresses.c */
	uint32_t *walked;	    /* owned; instructions that matter there */
	size_t walked_capacity;

	/* Memory for the models' own work, so that they need not allocate; block_scratch grows it.
	 */
	void *scratch;
	size_t scratch_capacity;

	struct block_spread *spread; /* owned; see cost.c */
	bool spread_valid;

	struct block_counts counts;
	bool jcc_erratum;
	bool has_splits;    /* is_split of an instruction may be set */
	bool has_memories;  /* an instruction has a memory of its own */
	bool has_latencies; /* an instruction has a latency of its own */
	bool has_settings;  /* a setting was given */
	bool has_marks;	    /* fused_prev, fused_next or jcc of an instruction may be set */

	/* By block_survey: nothing waits for itself and no load meets a store.  Then it has filled
	 * what follows, but neither nodes nor, in insns, what comes from them.
	 */
	bool is_free;

	/* Filled by block_connect, as are nodes, and in insns what it says there. */
	bool is_connected;
	bool has_forwarding; /* a load meets a store */
	bool has_blocked;    /* a load meets a store that holds only part of what it needs */
	double store_cycles; /* an iteration's stores need to leave the store buffer; 0: not limited
			      */
	unsigned store_commits, store_passes; /* of which store_cycles is the quotient */
	/* Loads of the bank that most of them need, in so many cycles; 0: not limited. */
	unsigned bank_loads, bank_cycles;
};

/* Adds an instruction to the counts, or takes one away. */
static inline void block_count(struct block_counts *c, const struct block_lowered *l, size_t sign)
{
	c->known += l->known ? sign : 0;
	c->inputs += l->n_in * sign;
	c->loads += l->n_loads * sign;
	c->stores += l->n_stores * sign;
	c->granules += l->granules * sign;
	c->widest += l->attributes & TACT_INSN_WIDEST ? sign : 0;
	c->branches += l->attributes & TACT_INSN_BRANCH ? sign : 0;
	c->stack_changes += l->pointer_change ? sign : 0;
	c->complex_ones += l->complex_decoder ? sign : 0;
	c->fusible += l->fuse ? sign : 0;
	c->lcps += l->attributes & TACT_INSN_LCP ? sign : 0;
	c->turning += l->has_turning ? sign : 0;
	c->exclusive += l->divider | l->cycles ? sign : 0;
	c->serializing += l->attributes & TACT_INSN_SERIALIZING ? sign : 0;
	c->high_bytes += l->writes_high_byte ? sign : 0;
}

/* Returns entry `n` of the cache, whose bytes begin at `code`, on the present architecture, lowered now
 * if it was not before.  NULL: out of memory.
 */
const struct block_lowered *block_lowered_of(struct tact_block *block, size_t n,
					     const uint8_t *code);

/* Makes room for that much code; block_pad_code sets its size and the zeros after it. */
int block_reserve_code(struct tact_block *block, size_t size, size_t n_insns);
void block_pad_code(struct tact_block *block, size_t size);

/* Returns whether the cache must start anew, which makes what was loaded invalid. */
bool block_cache_is_full(const struct tact_block *block);

/* Makes room for what tact_block_cost finds out.  The caller frees it; NULL: out of memory. */
struct block_spread *block_spread_create(void);

/* Makes room for what block_connect fills, so that it cannot fail.  Returns 0 or -TACT_E_NOMEM. */
int block_reserve(struct tact_block *block);

/* Does what follows lowering at once: mode, fusion, the JCC erratum.  The dependence graph is made
 * when it is first asked for.
 */
void block_arrange(struct tact_block *block);

/* Decodes one instruction that stands alone, at most TACT_MAX_INSN_BYTES bytes: fills entry and
 * constants of *bi.  Returns -TACT_E_DECODE unless it is one instruction with nothing after it, or
 * -TACT_E_NOMEM.  Updates the block's pointers if entries have moved.
 */
int block_decode_one(struct tact_block *block, const uint8_t *code, size_t size,
		     struct block_insn *bi);

/* Calls ask for the block without instruction i, which must not be the only one, in its present
 * mode, and restores the block.  Returns what ask returns.
 */
int block_ask_without(struct tact_block *block, size_t i,
		      int (*ask)(struct tact_block *block, void *arg), void *arg);

/* Returns whether what was lowered holds for the present architecture. */
bool block_is_lowered(const struct tact_block *block);

/* Returns the constant that an instruction adds to its source, if its value_effect is one of ADD,
 * SUB, INC, DEC and LEA; 0 for others.
 */
static inline int64_t block_added(const struct block_insn *bi)
{
	switch ((enum tact_value_effect)bi->lowered->value_effect) {
	case TACT_VALUE_ADD:
		return bi->constants.immediate;
	case TACT_VALUE_SUB:
		return -bi->constants.immediate;
	case TACT_VALUE_INC:
		return 1;
	case TACT_VALUE_DEC:
		return -1;
	case TACT_VALUE_LEA:
		return bi->constants.displacement;
	default:
		return 0;
	}
}

/* Fills `lowered` for an instruction.  Returns 0 or -TACT_E_NOMEM. */
int block_lower(struct block_lowered *lowered, const struct tact_insn *insn, const uint8_t *code,
		const struct tact_arch *arch, struct tact_arena *arena);

/* Fills in what operands come sooner because of read-advances, for CPUs of LLVM. */
void block_take_advances(struct tact_block *block);

/* Points bi->lowered to a copy in block->given whose latencies are bi->latency.  Returns 0 or
 * -TACT_E_NOMEM, with bi->lowered as it was.
 */
int block_give_latency(struct tact_block *block, struct block_insn *bi);

/* Finds the operands by which the tables name the latency from an input to an output. */
void block_latency_name(const struct tact_insn *insn, const struct block_lowered *lowered,
			unsigned in, unsigned out, uint8_t *from, uint8_t *to);

/* Returns how much longer store-to-load forwarding of this many bits takes than that of fewer. */
static inline unsigned block_wide_forward(const struct arch_params *p, unsigned bits)
{
	return (unsigned)(bits == 512	? p->store_forward_512
			  : bits == 256 ? p->store_forward_256
					: 0);
}

/* Returns the graph with everything that is known of where inputs come from. */
static inline const struct block_node *block_nodes(const struct tact_block *block)
{
	return block->has_better ? block->better : block->nodes;
}

/* Finds the settings of the instructions; of sets that have them only.  Returns 0 or -TACT_E_NOMEM. */
int block_follow_settings(struct tact_block *block);

/* Lowers everything again after settings have changed.  Returns 0, or -TACT_E_NOMEM with the block
 * empty.
 */
int block_set_again(struct tact_block *block);

/* Lowers and arranges what was decoded.  Returns 0 or -TACT_E_NOMEM. */
int block_prepare(struct tact_block *block);
void block_clear(struct tact_block *block);

/* Only decodes and looks instructions up, for callers that predict nothing.  Returns as
 * tact_block_load.
 */
int block_look_at(struct tact_block *block, const uint8_t *code, size_t size);

/* Makes the dependence graph: fills nodes, what struct block_insn says, has_better, has_forwarding,
 * has_blocked and store_cycles.  Requires lowered instructions and block_reserve.
 */
void block_depend(struct tact_block *block);

/* Finds what loads from the store buffer take, beyond the core's latency.  Requires nodes that are
 * connected to stores.
 */
void block_mark_forwarding(struct tact_block *block);

/* Marks loads that cross a cache line, on cores where that counts. */
void block_mark_splits(struct tact_block *block);

/* Finds instructions that save or restore the upper parts of vector registers. */
void block_find_switches(struct tact_block *block);

/* Cuts inputs of which only the upper part is kept, where that is known to be zero. */
void block_cut_merges(struct tact_block *block);

/* Makes the graph unless it is there.  Every reader calls this first: loading and editing put it
 * off, since cheaper bounds refuse most of what a search tries.
 */
static inline void block_connect(const struct tact_block *block)
{
	if (!block->is_connected)
		block_depend((struct tact_block *)(uintptr_t)block);
}

/* Finds out whether the block is free, which most blocks are, and makes the graph of others. */
void block_survey_anew(struct tact_block *block);

/* What bounds call that are known without the graph if the block is free. */
static inline void block_survey(struct tact_block *block)
{
	if (!block->is_connected && !block->is_free)
		block_survey_anew(block);
}

/* Forgets the graph and what is known without it. */
static inline void block_disconnect(struct tact_block *block)
{
	block->is_connected = block->is_free = false;
}

/* Clears what block_connect fills in for the whole block. */
void block_begin_graph(struct tact_block *block);

/* Marks instructions before which the stack engine writes its offset back. */
void block_mark_stack_syncs(struct tact_block *block);

/* Returns the cycles that a load takes longer because it crosses a cache line. */
static inline unsigned block_split_latency(const struct tact_block *block,
					   const struct block_insn *bi)
{
	return bi->is_split ? (unsigned)block->arch->params.split_latency : 0;
}

/* Returns the cycles that a blocked load takes longer than one from the store buffer. */
static inline unsigned block_blocked_latency(const struct arch_params *p)
{
	return (unsigned)(p->store_blocked_latency ? p->store_blocked_latency - p->store_forward
						   : p->store_blocked + 1 - p->store_forward_vec);
}

/* Returns the cycles that a load takes longer if it comes early, on average: all load ports but one
 * are slow then.
 */
static inline unsigned block_mean_early(const struct tact_block *block, unsigned early)
{
	const unsigned ports = (unsigned)__builtin_popcount(block->arch->params.load_ports);

	return early ? (early * (ports - 1) + ports / 2) / ports : 0;
}

/* Returns a latency less what an operand comes sooner.  At least one cycle remains of the tables'; of
 * LLVM's, none need to.
 */
static inline unsigned block_sooner(const struct block_lowered *producer, unsigned latency,
				    int sooner)
{
	const int left = (int)latency - sooner;

	return left > 0 ? (unsigned)left : !producer->advances;
}

/* Finds the latency from input `in` to output `out` of insns[p], as seen by node `to`, with the
 * tables' latency from memory or with that of store-to-load forwarding.  Returns false if there is
 * no dependence.  It is inline because the search for cycles asks for every edge.
 */
static inline bool block_latency(const struct tact_block *block, uint32_t p, unsigned in,
				 unsigned out, const struct block_node *to, bool forwarding,
				 unsigned *latency)
{
	const struct block_insn *producer = &block->insns[p];
	const struct block_lowered *l = producer->lowered;
	const struct lowered_value *source = &l->in[in];
	bool to_memory = block->insns[to->insn].lowered->in[to->input].kind == VALUE_MEMORY;
	unsigned blocked = 0;

	/* A store that must leave the store buffer first retires some cycles after its data; at
	 * least two, whatever the load.
	 */
	if (forwarding && to->is_blocked)
		blocked = block_blocked_latency(&block->arch->params);
	if (to_memory && to->is_renamed && source->kind == VALUE_ADDRESS && forwarding &&
	    block->arch->params.store_renamed > 1)
		return false; /* a prediction does not wait for the store's address */
	if (l->eliminated || (to_memory && source->kind != VALUE_MEMORY)) {
		*latency = blocked + to->folded +
			   (source->kind == VALUE_ADDRESS ? 0u : l->before_store);
		return true;
	}
	*latency = (forwarding ? l->forwarded : l->latency)[in * l->n_out + out];
	if (!*latency)
		return false;
	*latency += blocked + producer->is_late -
		    (producer->flags_soon && l->out[out].kind == VALUE_FLAGS && *latency > 1);
	if (forwarding && source->kind == VALUE_MEMORY &&
	    block_nodes(block)[producer->first_node + in].is_renamed)
		*latency -= (unsigned)block->arch->params.store_forward;
	else if (forwarding && source->kind == VALUE_MEMORY)
		*latency += block_mean_early(block,
					     block_nodes(block)[producer->first_node + in].early) -
			    (to_memory && l->forward_gain < *latency ? l->forward_gain : 0);
	else if (source->kind == VALUE_ADDRESS && (producer->fast_load || producer->load_extra))
		*latency += producer->load_extra - (unsigned)producer->fast_load; /* not both */
	else if (to->sooner)
		*latency = block_sooner(l, *latency, to->sooner);
	else if (producer->stack_sync && to->insn == p && source->stack == STACK_NAMED)
		++*latency; /* the stack engine's offset is written back first */
	return true;
}

/* Returns the banks of a line that an access needs: bit b for bank b. */
static inline uint64_t block_banks(const struct arch_params *p, unsigned offset, unsigned bytes)
{
	const unsigned shift = p->load_bank_bytes
				       ? (unsigned)__builtin_ctz((unsigned)p->load_bank_bytes)
				       : 6,
		       n = 64 >> shift, first = offset % 64 >> shift,
		       count = ((offset % 64 + bytes - 1) >> shift) - first + 1;
	const uint64_t all = ~0ull >> (64 - n), banks = count < n ? (1ull << count) - 1 : all;

	return (banks << first | (first ? banks >> (n - first) : 0)) & all;
}

/* Fills `uses` with the ports of an instruction in this block, taking fusion and 512-bit mode into
 * account, and returns their number.
 */
enum { BLOCK_MAX_PORT_USES = 32 };
unsigned block_port_uses(const struct tact_block *block, size_t i, struct arch_port_use *uses);

/* The component that delivers the uops of a block: the decoders for unrolled code and where the
 * JCC erratum keeps it out of the DSB, the LSD if a loop fits the IDQ, otherwise the DSB (FACILE,
 * equation 3).
 */
enum block_source {
	BLOCK_FROM_MITE,
	BLOCK_FROM_LSD,
	BLOCK_FROM_DSB,
	BLOCK_FROM_ANYWHERE /* the front end is not known, and never the limit */
};
/* Returns the slots that an instruction takes in a DSB line beyond one per uop: large constants
 * take two (Intel optimization manual, 2.5.2.2).
 */
unsigned block_extra_slots(const struct tact_block *block, size_t i);

/* Returns the constants that an instruction, with what is fused to it, takes along in the DSB. */
static inline unsigned block_constants(const struct tact_block *block, size_t i)
{
	const struct block_insn *bi = &block->insns[i];

	return bi->lowered->constants + (bi->fused_next ? bi[1].lowered->constants : 0u);
}

/* Returns the cycles in which no instruction of this kind follows.  The measured throughput counts
 * where it exceeds what the divider explains: microcoded divisions, locked and fencing instructions
 * do not overlap either.
 */
static inline unsigned block_exclusive(const struct block_lowered *l)
{
	return l->cycles > l->divider ? l->cycles : l->divider;
}

/* Returns the same for an instruction of a block, with what surrounds it: locked instructions wait
 * for older stores, and loads wait for them.
 */
unsigned block_exclusive_in(const struct tact_block *block, size_t i);

enum block_source block_source_of(const struct tact_block *block);
enum block_source block_loop_source(const struct tact_block *block); /* as if it were a loop */

/* Returns the uops of an instruction that the microcode sequencer delivers.  If it has more decoded
 * uops than issue, one only calls the sequencer; but if the decoders deliver all that issue, the
 * others are not its own (the tables have those of a wrong path for ret).
 */
static inline unsigned block_sequenced(const struct block_lowered *l)
{
	if (l->mite >= l->fused)
		return 0;
	return l->ms < l->fused ? l->ms : l->fused;
}

/* Of a loop that the JCC erratum keeps out of the DSB: returns how many instructions come before the
 * 64 bytes that hold the jump, both windows of which are not cached (uiCA); the DSB has these.  0:
 * there are none, or the loop is decoded for another reason.
 */
size_t block_cached_insns(const struct tact_block *block);

/* Fills `keys`, one for each instruction, with the register that must be joined with its high byte
 * before it, or BLOCK_NO_KEY, on a core that renames these apart, and returns how many there are.
 */
enum { BLOCK_NO_KEY = 255 };
unsigned block_find_merges(const struct tact_block *block, bool repeats, uint8_t *keys);

/* Tells whether the microcode sequencer delivers uops of the block. */
bool block_has_microcode(const struct tact_block *block);

/* Returns what delivers in place of the LSD, which the paper gives to blocks with microcode, too. */
static inline enum block_source block_not_from_lsd(const struct tact_block *block,
						   enum block_source source)
{
	return source == BLOCK_FROM_LSD && block_has_microcode(block) ? BLOCK_FROM_DSB : source;
}

/* Returns the decoded uops of an iteration, with or without those of the microcode sequencer. */
unsigned block_decoded_uops(const struct tact_block *block, bool with_microcode);

/* Returns at least `size` bytes of scratch, whose content is not kept; NULL: out of memory. */
void *block_scratch(struct tact_block *block, size_t size);

#endif /* TACT_BLOCK_PRIVATE_H */
