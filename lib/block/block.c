/* SPDX-License-Identifier: MIT
 *
 * Bytes to a block: decode, lower, connect; and what others ask about it.
 */
#include <stdlib.h>
#include <string.h>

#include "block/addresses.h"

enum {
	PADDING = 16,
	LAYOUTS = 32,
	/* Above this many remembered instructions the cache starts anew, which keeps memory below
	 * some 35 MB whatever the input.  BHive's 230,000 blocks have 50,000 different heads.
	 */
	CACHE_LIMIT = 100000
};

static int read_options(struct tact_block_options *to, const struct tact_block_options *from)
{
	if (tact_read_options(to, sizeof(*to), from) < 0 || to->mode > TACT_MODE_UNROLL ||
	    to->init > TACT_INIT_DIFF || to->memory >= TACT_N_MEMORIES ||
	    to->alias > TACT_ALIAS_ALWAYS)
		return -TACT_E_INVAL;
	to->alignment %= 64;
	return 0;
}

int tact_block_create(struct tact_block **out, const struct tact_arch *arch,
		      const struct tact_block_options *opt, struct tact_diag *diag)
{
	struct tact_block *block;
	int status;

	if (out)
		*out = NULL;
	status = tact_new(&block, sizeof(*block), out && arch, "no microarchitecture", diag);
	if (status < 0)
		return status;
	block->arch = arch;
	if (read_options(&block->opt, opt) < 0) {
		free(block);
		return tact_fail(diag, TACT_E_INVAL, "options that this library does not know");
	}
	block->spread = block_spread_create();
	if (!block->spread || isa_cache_init(&block->cache, arch->isa) < 0) {
		FREE_ALL(block->spread, block);
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	}
	*out = block;
	return 0;
}

void tact_block_destroy(struct tact_block *block)
{
	if (!block)
		return;
	isa_cache_fini(&block->cache);
	tact_arena_reset(&block->arena);
	tact_arena_reset(&block->given);
	FREE_ALL(block->lowered, block->code, block->insns, block->nodes, block->better);
	FREE_ALL(block->settings, block->given_settings);
	stores_fini(&block->stores);
	free(block->walked);
	FREE_ALL(block->scratch, block->spread, block);
}

void *block_scratch(struct tact_block *block, size_t size)
{
	if (tact_grow(&block->scratch, &block->scratch_capacity, size, 1) < 0)
		return NULL;
	return block->scratch;
}

int block_reserve_code(struct tact_block *block, size_t size, size_t n_insns)
{
	if (tact_grow(&block->code, &block->code_capacity, size + PADDING, 1) < 0 ||
	    tact_grow(&block->insns, &block->insn_capacity, n_insns, sizeof(*block->insns)) < 0)
		return -TACT_E_NOMEM;
	return 0;
}

void block_pad_code(struct tact_block *block, size_t size)
{
	memset(block->code + size, 0, PADDING);
	block->code_size = size;
}

bool block_cache_is_full(const struct tact_block *block)
{
	return block->cache.n_entries > CACHE_LIMIT;
}

static int copy_code(struct tact_block *block, const uint8_t *code, size_t size)
{
	if (block_reserve_code(block, size, 0) < 0)
		return -TACT_E_NOMEM;
	memmove(block->code, code, size); /* it may be a part of block->code */
	block_pad_code(block, size);
	return 0;
}

static void forget_lowered(struct tact_block *block)
{
	/* Counts up instead of walking over all places: architectures may change with every block.
	 */
	if (!++block->generation) {
		block->generation = 1;
		block->n_lowered = 0;
	}
	tact_arena_reset(&block->arena);
}

/* It is needed soon and seldom in the CPU's caches: real code has many different instructions. */
static inline void fetch_lowered(const struct block_lowered *l)
{
	enum { LINE = 64 };

	for (size_t at = 0; at < sizeof(*l); at += LINE)
		tact_fetch((const char *)l + at);
}

static int decode(struct tact_block *block, struct tact_diag *diag)
{
	/* The layouts of the instructions from `offset` on: for most blocks, one call fills them.
	 */
	struct isa_layout layouts[LAYOUTS];
	const bool has_settings = block->cache.isa->follow;
	size_t n = 0, at = 0;

	if (block_cache_is_full(block)) {
		isa_cache_flush(&block->cache);
		forget_lowered(block);
	}
	if (has_settings && block_follow_settings(block) < 0)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	for (size_t offset = 0; offset < block->code_size;) {
		struct block_insn *bi;
		long entry;

		if (block->n_insns == block->insn_capacity &&
		    tact_grow(&block->insns, &block->insn_capacity, block->n_insns + 1,
			      sizeof(*block->insns)) < 0)
			return tact_fail(diag, TACT_E_NOMEM, "out of memory");
		bi = &block->insns[block->n_insns];
		memset(bi, 0, sizeof(*bi));
		if (at == n) {
			n = block->cache.isa->lay_out(layouts, LAYOUTS, block->code + offset,
						      block->code_size - offset);
			at = 0;
			if (!has_settings)
				isa_cache_expect(&block->cache, layouts, n, block->code + offset);
		}
		entry = has_settings ? isa_cache_decode_set(
					       &block->cache, &layouts[at], block->code + offset,
					       block->code_size - offset,
					       block->settings[block->n_insns], &bi->constants)
				     : isa_cache_decode(&block->cache, &layouts[at],
							block->code + offset,
							block->code_size - offset, &bi->constants);
		if (entry == -TACT_E_NOMEM)
			return tact_fail(diag, TACT_E_NOMEM, "out of memory");
		if (entry < 0)
			return tact_fail_at(diag, TACT_E_DECODE, 0, offset,
					    "no instruction, or one that is cut short, at byte %zu",
					    offset);
		if ((size_t)entry < block->n_lowered)
			fetch_lowered(&block->lowered[entry]);
		bi->entry = (uint32_t)entry;
		bi->offset = (uint32_t)offset;
		offset += bi->constants.length;
		block->n_insns++;
		if (bi->constants.length != layouts[at++].length)
			at = n;
	}
	return 0;
}

bool block_is_lowered(const struct tact_block *block)
{
	return block->lowered_arch == block->arch &&
	       block->lowered_revision == arch_revision(block->arch);
}

const struct block_lowered *block_lowered_of(struct tact_block *block, size_t n,
					     const uint8_t *code)
{
	struct block_lowered *l = &block->lowered[n];

	if (l->made != block->generation) {
		if (block_lower(l, &block->cache.entries[n], code, block->arch, &block->arena) < 0)
			return NULL;
		l->made = block->generation;
	}
	return l;
}

/* Makes a place for each entry of the cache. */
static int make_places(struct tact_block *block)
{
	if (tact_grow(&block->lowered, &block->lowered_capacity, block->cache.n_entries,
		      sizeof(*block->lowered)) < 0)
		return -TACT_E_NOMEM;
	for (; block->n_lowered < block->cache.n_entries; block->n_lowered++)
		block->lowered[block->n_lowered].made = 0;
	return 0;
}

/* Entries do not move any more: points to them, and lowers the new ones. */
static int lower(struct tact_block *block)
{
	if (!block_is_lowered(block))
		forget_lowered(block);
	if (make_places(block) < 0)
		return -TACT_E_NOMEM;
	tact_arena_reset(&block->given);
	block->lowered_arch = block->arch;
	block->lowered_revision = arch_revision(block->arch);
	memset(&block->counts, 0, sizeof(block->counts));
	block_disconnect(block);
	block->spread_valid = false;
	for (size_t i = 0; i < block->n_insns; i++) {
		struct block_insn *bi = &block->insns[i];

		bi->insn = &block->cache.entries[bi->entry];
		bi->lowered = block_lowered_of(block, bi->entry, block->code + bi->offset);
		if (!bi->lowered || (bi->latency && block_give_latency(block, bi) < 0))
			return -TACT_E_NOMEM;
		block_count(&block->counts, bi->lowered, 1);
		/* What the graph will need, and where there are addresses, their operands. */
		tact_fetch(bi->lowered->in);
		if (bi->lowered->n_loads | bi->lowered->n_stores)
			tact_fetch(bi->insn->operand);
	}
	return 0;
}

/* Points to entries that have moved. */
static void point_again(struct tact_block *block)
{
	for (size_t i = 0; i < block->n_insns; i++) {
		block->insns[i].insn = &block->cache.entries[block->insns[i].entry];
		if (!block->insns[i].latency)
			block->insns[i].lowered = &block->lowered[block->insns[i].entry];
	}
}

int block_decode_one(struct tact_block *block, const uint8_t *code, size_t size,
		     struct block_insn *bi)
{
	const struct tact_insn *entries = block->cache.entries;
	const struct block_lowered *lowered = block->lowered;
	uint8_t padded[TACT_MAX_INSN_BYTES + 1 + PADDING] = {0};
	struct isa_layout layout;
	long entry;
	int status = 0;

	memcpy(padded, code, size);
	block->cache.isa->lay_out(&layout, 1, padded, size);
	entry = isa_cache_decode(&block->cache, &layout, padded, size, &bi->constants);
	if (entry < 0)
		status = entry == -TACT_E_NOMEM ? -TACT_E_NOMEM : -TACT_E_DECODE;
	else if (bi->constants.length != size)
		status = -TACT_E_DECODE;
	else if ((size_t)entry >= block->n_lowered)
		status = make_places(block);
	if (entries != block->cache.entries || lowered != block->lowered)
		point_again(block);
	bi->entry = (uint32_t)entry;
	return status;
}

int block_reserve(struct tact_block *block)
{
	const struct block_counts *c = &block->counts;

	if (tact_grow(&block->nodes, &block->node_capacity, c->inputs, sizeof(*block->nodes)) < 0)
		return -TACT_E_NOMEM;
	return c->stores || block->arch->params.load_bank_bytes ? addresses_reserve(block) : 0;
}

int block_prepare(struct tact_block *block)
{
	int status = lower(block);

	if (status >= 0)
		status = block_reserve(block);
	if (status >= 0)
		block_arrange(block);
	return status;
}

void block_clear(struct tact_block *block)
{
	block->n_insns = block->n_nodes = block->code_size = 0;
	block->has_memories = block->has_latencies = block->has_settings = false;
	block_disconnect(block);
}

static int load(struct tact_block *block, const uint8_t *code, size_t size,
		int (*finish)(struct tact_block *), struct tact_diag *diag)
{
	int status;

	block_clear(block);
	if (!code || !size)
		return tact_fail(diag, TACT_E_INVAL, "no code");
	if (size > TACT_BLOCK_MAX_BYTES)
		return tact_fail(diag, TACT_E_LIMIT,
				 "%zu bytes in one block; at most %d are accepted", size,
				 TACT_BLOCK_MAX_BYTES);
	status = copy_code(block, code, size);
	if (status < 0)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	status = decode(block, diag);
	if (status >= 0) {
		status = finish(block);
		if (status < 0)
			tact_fail(diag, TACT_E_NOMEM, "out of memory");
	}
	if (status < 0)
		block_clear(block);
	return status < 0 ? status : 0;
}

int tact_block_load(struct tact_block *block, const uint8_t *code, size_t size,
		    struct tact_diag *diag)
{
	return block ? load(block, code, size, block_prepare, diag)
		     : tact_fail(diag, TACT_E_INVAL, "no block");
}

int block_look_at(struct tact_block *block, const uint8_t *code, size_t size)
{
	return load(block, code, size, lower, NULL);
}

int tact_block_rebind(struct tact_block *block, const struct tact_arch *arch,
		      const struct tact_block_options *opt)
{
	struct tact_block_options options;
	bool is_set_anew = false;
	int status;

	/* The previous one may be gone already: block->arch is only compared. */
	if (!block || (arch && arch->isa != block->cache.isa))
		return -TACT_E_INVAL;
	if (opt) {
		if (read_options(&options, opt) < 0)
			return -TACT_E_INVAL;
		is_set_anew = options.setting != block->opt.setting && block->cache.isa->follow;
		block->opt = options;
	}
	/* The previous one may be destroyed before the next load, and another one made in its
	 * place; or that has happened before this call.
	 */
	if (arch && (arch != block->arch || !arch_is_built_in(arch)))
		block->lowered_arch = NULL;
	if (arch)
		block->arch = arch;
	if (is_set_anew && block->n_insns)
		return block_set_again(block);
	status = block->n_insns ? block_prepare(block) : 0;
	if (status < 0)
		block_clear(block);
	return status;
}

int tact_block_set_memory(struct tact_block *block, size_t i, enum tact_memory memory)
{
	if (!block || i >= block->n_insns || (unsigned)memory >= TACT_N_MEMORIES)
		return -TACT_E_INVAL;
	block->insns[i].memory = (uint8_t)(1 + memory);
	block->has_memories = true;
	block_disconnect(block);
	return 0;
}

const struct tact_arch *tact_block_arch(const struct tact_block *block)
{
	return block ? block->arch : NULL;
}

enum tact_mode tact_block_mode(const struct tact_block *block)
{
	return block && block->n_insns ? block->mode : TACT_MODE_AUTO;
}

size_t tact_block_length(const struct tact_block *block)
{
	return block ? block->n_insns : 0;
}

int tact_block_insn(const struct tact_block *block, size_t i, struct tact_insn *insn)
{
	if (!block || !insn || i >= block->n_insns)
		return -TACT_E_INVAL;
	*insn = *block->insns[i].insn;
	insn->displacement = block->insns[i].constants.displacement;
	insn->immediate = block->insns[i].constants.immediate;
	return 0;
}

size_t tact_block_offset(const struct tact_block *block, size_t i)
{
	if (!block)
		return 0;
	return i < block->n_insns ? block->insns[i].offset : block->code_size;
}

const uint8_t *tact_block_code(const struct tact_block *block, size_t *size)
{
	if (size)
		*size = block ? block->code_size : 0;
	return block && block->code_size ? block->code : NULL;
}

double tact_block_coverage(const struct tact_block *block)
{
	return block && block->n_insns ? (double)block->counts.known / (double)block->n_insns : 0;
}

/* Of a vector instruction: takes four cycles or more from a register, or with a load, which takes
 * four at least, eight.
 */
static bool is_long(const struct block_lowered *l)
{
	unsigned from_register = 0, from_memory = 0;

	for (unsigned i = 0; i < l->n_in; i++)
		for (unsigned o = 0; o < l->n_out; o++) {
			unsigned cycles = l->latency[i * l->n_out + o];

			if (l->out[o].kind != VALUE_REG)
				continue;
			if (l->in[i].kind == VALUE_REG && cycles > from_register)
				from_register = cycles;
			if (l->in[i].kind == VALUE_MEMORY && cycles > from_memory)
				from_memory = cycles;
		}
	return from_register ? from_register >= 4 : from_memory >= 8;
}

/* Closes ports to vector uops that can go elsewhere, beside 512-bit instructions; what the floating-
 * point units execute gets other ports instead.
 */
static void close_ports(const struct arch_params *p, const struct block_lowered *l,
			struct arch_port_use *uses, unsigned n)
{
	const params_ports closed = p->zmm_blocked_ports;
	const bool is_add = l->attributes & TACT_INSN_FLOAT_ADD;

	for (unsigned i = 0; i < n; i++) {
		if (!(uses[i].mask & closed))
			continue;
		if (p->zmm_add_ports && (is_add || (uses[i].mask == p->fma_ports && is_long(l))))
			uses[i].mask = p->zmm_add_ports;
		else if (uses[i].mask & ~closed)
			uses[i].mask &= ~closed;
	}
}

unsigned block_port_uses(const struct tact_block *block, size_t i, struct arch_port_use *uses)
{
	const struct block_insn *bi = &block->insns[i];
	const struct arch_port_use *use = bi->lowered->ports;
	unsigned n = 0;

	if (bi->fused_next && !bi->lowered->uops)
		use = bi[1].lowered->ports;
	for (; use->count && n < BLOCK_MAX_PORT_USES; use++)
		uses[n++] = *use;
	if (bi->fused_next && bi->lowered->uops) {
		/* The pair executes on the jump's ports. */
		const struct arch_port_use *jump = bi[1].lowered->ports;

		for (unsigned k = 0; k < n && jump->count; k++) {
			if (!(jump->mask & ~uses[k].mask)) {
				uses[k].mask = jump->mask;
				break;
			}
		}
	}
	for (unsigned k = 0; k < n && bi->is_split; k++)
		if (!(uses[k].mask & ~block->arch->params.load_ports)) {
			/* Both lines are read. */
			uses[k].count += (uint8_t)block->arch->params.split_loads;
			break;
		}
	if (block->counts.widest && bi->lowered->attributes & TACT_INSN_VECTOR)
		close_ports(&block->arch->params, bi->lowered, uses, n);
	return n;
}
