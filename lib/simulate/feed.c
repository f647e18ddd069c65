/* SPDX-License-Identifier: MIT
 *
 * The public side of streams: blocks are added once and fed by their number.
 */
#include <stdlib.h>
#include <string.h>

#include <tact/simulate.h>

#include "sim/sim.h"

enum {
	REBASE_AT = 1 << 28,   /* cycles */
	MOST_REPEAT = 1 << 28, /* cycles of a repeated instruction */
	LSD_AFTER = 2,	       /* repetitions of a block that is a loop; a guess */
	STUCK_AFTER = 1 << 20  /* cycles without a block that retires */
};

/* A block as it was added. */
struct stream_code {
	struct sim_program program;
	uint64_t executions, stalls[SIM_N_STALLS];
	enum block_source source; /* once it has run; as a loop, once it has repeated */
};

struct tact_stream {
	struct tact_stream *owner;    /* of the blocks: this stream or another one; borrowed */
	const struct tact_arch *arch; /* of the first block; all have the same */
	bool is_live;		      /* the pipeline is set up */
	uint64_t forgotten;	      /* how often its blocks were forgotten */
	uint64_t known_forgotten;     /* of the owner, as far as the pipeline knows */
	void (*on_retire)(void *arg, uint64_t cycle);
	void *on_retire_arg;
	struct sim_program draft; /* of the block that is being added */
	struct stream_code **codes;
	size_t n_codes, code_capacity;
	uint64_t instructions;
	uint64_t cycles_before;		/* by which the clock was moved back */
	const struct stream_code *last; /* fed; with the addresses where it begins and ends */
	uint64_t begin, end, repeats;	/* how often it was fed in a row */
	bool is_void;			/* the pipeline's memory was too small */

	int (*on_uop)(void *arg, const struct tact_sim_uop *uop);
	void *on_uop_arg;

	struct sim_stream stream;
	struct sim_state state;
};

int tact_stream_create(struct tact_stream **out, struct tact_diag *diag)
{
	int status;

	if (!out)
		return tact_fail(diag, TACT_E_INVAL, "no place for the result");
	*out = NULL;
	status = tact_new(out, sizeof(**out), true, "", diag);
	if (status >= 0)
		(*out)->owner = *out;
	return status;
}

int tact_stream_create_beside(struct tact_stream **out, struct tact_stream *owner,
			      struct tact_diag *diag)
{
	int status;

	if (out)
		*out = NULL;
	if (!owner)
		return tact_fail(diag, TACT_E_INVAL, "no stream to open it beside");
	status = tact_stream_create(out, diag);
	if (status >= 0)
		(*out)->owner = owner->owner;
	return status;
}

const char *tact_stall_name(enum tact_stall stall)
{
	static const char *const names[TACT_N_STALLS] = {
		[TACT_STALL_FRONT_END] = "front end", [TACT_STALL_OPERANDS] = "operands",
		[TACT_STALL_LOADS] = "loads",	      [TACT_STALL_PORTS] = "ports",
		[TACT_STALL_BRANCH] = "branches",     [TACT_STALL_EXECUTION] = "execution",
		[TACT_STALL_LOCKED] = "locked",	      [TACT_STALL_SERIALIZING] = "serializing",
		[TACT_STALL_STRINGS] = "strings",     [TACT_STALL_STORES] = "stores",
	};

	return (unsigned)stall < TACT_N_STALLS ? names[stall] : "unknown";
}

/* Sets up the pipeline at the first execution: it depends on the architecture. */
static void come_to_life(struct tact_stream *t)
{
	if (t->is_live && t->known_forgotten == t->owner->forgotten)
		return;
	if (t->is_live) {
		/* Nothing that is remembered may lead to a block that is gone. */
		memset(t->state.slot_id, 0xff, sizeof(t->state.slot_id));
		sim_wrong_path_forget(&t->stream.wrong, t->stream.n_feeds);
		t->last = NULL;
		t->known_forgotten = t->owner->forgotten;
		return;
	}
	t->known_forgotten = t->owner->forgotten;
	sim_stream_init(&t->state, &t->stream, t->owner->arch);
	tact_stream_watch(t, t->on_uop, t->on_uop_arg);
	t->is_live = true;
}

static void destroy_code(struct stream_code *code)
{
	if (!code)
		return;
	sim_program_fini(&code->program);
	free(code);
}

static void forget_codes(struct tact_stream *t)
{
	for (size_t i = 0; i < t->n_codes; i++)
		destroy_code(t->codes[i]);
	t->n_codes = 0;
	t->last = NULL;
}

void tact_stream_destroy(struct tact_stream *t)
{
	if (!t)
		return;
	forget_codes(t);
	sim_program_fini(&t->draft);
	FREE_ALL(t->codes, t->stream.accesses, t);
}

int tact_stream_add(struct tact_stream *t, const struct tact_block *block, uint32_t *number)
{
	struct stream_code *code;

	if (!t || !block || !block->n_insns || !number)
		return -TACT_E_INVAL;
	t = t->owner;
	if (t->arch && t->arch != block->arch)
		return -TACT_E_INVAL;
	if (tact_grow(&t->codes, &t->code_capacity, t->n_codes + 1, sizeof(struct stream_code *)) <
	    0)
		return -TACT_E_NOMEM;
	code = calloc(1, sizeof(*code));
	if (!code)
		return -TACT_E_NOMEM;
	if (sim_program_build(&t->draft, block, true) < 0 ||
	    sim_program_copy(&code->program, &t->draft) < 0) {
		destroy_code(code);
		return -TACT_E_NOMEM;
	}
	code->source = block_not_from_lsd(block, block_loop_source(block));
	t->arch = block->arch;
	*number = (uint32_t)t->n_codes;
	t->codes[t->n_codes++] = code;
	return 0;
}

/* ---- feeding ---- */

static void tell_retired(struct tact_stream *t, uint64_t from)
{
	if (t->on_retire)
		for (; from < t->state.retired; from++)
			t->on_retire(t->on_retire_arg, t->cycles_before + (uint64_t)t->state.clock);
}

void tact_stream_on_retire(struct tact_stream *t, void (*retired)(void *arg, uint64_t cycle),
			   void *arg)
{
	if (!t)
		return;
	t->on_retire = retired;
	t->on_retire_arg = arg;
}

/* Runs cycles until there is room for a block or, if `drain`, until nothing is in flight. */
static int advance(struct tact_stream *t, bool drain)
{
	struct sim_state *s = &t->state;
	uint64_t retired = s->retired;
	int32_t since = s->clock;

	while (drain ? !sim_stream_is_empty(s) : !sim_stream_has_room(s)) {
		if (s->clock >= REBASE_AT) {
			sim_stream_rebase(s, REBASE_AT);
			t->cycles_before += REBASE_AT;
			since -= REBASE_AT;
		}
		since += sim_stream_skip(s);
		sim_cycle(s);
		if (s->retired != retired) {
			tell_retired(t, retired);
			retired = s->retired;
			since = s->clock;
		}
		if (s->overflow || s->clock - since > STUCK_AFTER) {
			t->is_void = true;
			return -TACT_E_LIMIT;
		}
	}
	return 0;
}

/* Copies accesses after those of the blocks that were fed; they count with the block. */
static int copy_accesses(struct tact_stream *t, const struct stream_code *code,
			 const struct tact_stream_access *accesses,
			 const struct tact_stream_trip *trips, size_t n, bool *misses)
{
	/* Those of blocks that are in flight are still needed. */
	t->stream.kept_access =
		t->state.retired < t->stream.n_feeds
			? sim_feed_of(&t->state, t->state.retired << SIM_NUMBER_BITS)->first_access
			: t->stream.n_accesses;
	t->stream.follows_trips |= trips != NULL;
	if (sim_stream_reserve(&t->stream, n) < 0)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < n; i++) {
		if (accesses[i].insn >= code->program.n_raws ||
		    (i && accesses[i].insn < accesses[i - 1].insn))
			return -TACT_E_INVAL;
		*sim_stream_access(&t->stream, i) =
			(struct sim_access){.address = accesses[i].address,
					    .insn = accesses[i].insn,
					    .size = accesses[i].size,
					    .extra = accesses[i].extra,
					    .is_store = accesses[i].is_store};
		_Static_assert(sizeof(struct sim_trip) == sizeof(*trips) &&
				       offsetof(struct sim_trip, fetched) ==
					       offsetof(struct tact_stream_trip, fetched),
			       "one is the other's public side");
		if (trips)
			memcpy(&sim_stream_access(&t->stream, i)->trip, &trips[i],
			       sizeof(trips[i]));
		*misses |= trips && (trips[i].level | trips[i].page);
	}
	return 0;
}

static bool is_repeated(const struct tact_stream *t, const struct stream_code *code,
			uint64_t address)
{
	return t->last == code && t->begin == address;
}

/* Tells what delivers a block: the decoders at first, the DSB later, the LSD for a loop that
 * repeats.
 */
static enum block_source source_of(const struct tact_stream *t, const struct stream_code *code,
				   const struct tact_stream_execution *x)
{
	if (code->source == BLOCK_FROM_ANYWHERE)
		return code->source;
	if (x->is_decoded || (!code->executions && !x->was_executed))
		return BLOCK_FROM_MITE;
	if (code->source == BLOCK_FROM_LSD &&
	    (!is_repeated(t, code, x->address) || t->repeats < LSD_AFTER))
		return BLOCK_FROM_DSB;
	return code->source;
}

static int feed_code(struct tact_stream *t, struct stream_code *code, struct sim_feed *feed)
{
	int status;

	come_to_life(t);
	status = advance(t, false);
	if (status < 0)
		return status;
	feed->stalls = code->stalls;
	feed->program = &code->program;
	feed->stats = code->program.stats;
	feed->is_contiguous = t->stream.n_feeds && feed->address == t->end;
	sim_stream_feed(&t->stream, feed);
	t->repeats = is_repeated(t, code, feed->address) ? t->repeats + 1 : 0;
	t->last = code;
	t->begin = feed->address;
	t->end = feed->address + code->program.code_size;
	t->instructions += code->program.n_raws;
	code->executions++;
	return 0;
}

int tact_stream_feed(struct tact_stream *t, uint32_t number, uint64_t address,
		     const struct tact_stream_access *accesses, size_t n)
{
	const struct tact_stream_execution execution = {.size = sizeof(execution),
							.number = number,
							.address = address,
							.accesses = accesses,
							.n_accesses = n};

	return tact_stream_execute(t, &execution);
}

int tact_stream_execute(struct tact_stream *t, const struct tact_stream_execution *execution)
{
	struct tact_stream_execution copy;
	const struct tact_stream_execution *x = execution;
	struct stream_code *code;
	struct sim_feed feed;
	int status;

	if (!t || !x)
		return -TACT_E_INVAL;
	if (x->size != sizeof(copy)) {
		if (tact_read_options(&copy, sizeof(copy), execution) < 0)
			return -TACT_E_INVAL;
		x = &copy;
	}
	if (x->number >= t->owner->n_codes || x->n_accesses > UINT32_MAX ||
	    x->repeat_cycles > MOST_REPEAT || (x->n_accesses && !x->accesses))
		return -TACT_E_INVAL;
	if (t->is_void)
		return -TACT_E_LIMIT;
	code = t->owner->codes[x->number];
	feed = (struct sim_feed){.address = x->address,
				 .has_accesses = x->accesses != NULL,
				 .is_mispredicted = x->is_mispredicted,
				 .repeat_cycles = (int32_t)x->repeat_cycles,
				 .is_redirected = x->is_redirected,
				 .fetch_delay = x->fetch_delay,
				 .source = source_of(t, code, x)};
	if (feed.source == BLOCK_FROM_MITE)
		feed.code_lines = x->code_lines;
	if (x->accesses) {
		status = copy_accesses(t, code, x->accesses, x->trips, x->n_accesses, &feed.misses);
		if (status < 0)
			return status;
		feed.n_accesses = (uint32_t)x->n_accesses;
	}
	return feed_code(t, code, &feed);
}

int tact_stream_drain(struct tact_stream *t)
{
	int status;

	if (!t)
		return -TACT_E_INVAL;
	if (t->is_void)
		return -TACT_E_LIMIT;
	if (!t->is_live)
		return 0;
	t->stream.is_closed = true;
	status = advance(t, true);
	t->stream.is_closed = false;
	return status;
}

int tact_stream_watch(struct tact_stream *t,
		      int (*on_uop)(void *arg, const struct tact_sim_uop *uop), void *arg)
{
	if (!t)
		return -TACT_E_INVAL;
	t->on_uop = on_uop;
	t->on_uop_arg = arg;
	t->state.watch = on_uop != NULL;
	t->state.stop = false;
	t->state.on_uop = on_uop;
	t->state.on_uop_arg = arg;
	return 0;
}

int tact_stream_get_totals(const struct tact_stream *t, struct tact_stream_totals *out)
{
	struct tact_stream_totals all = {.size = sizeof(all)};

	if (!t)
		return -TACT_E_INVAL;
	all.cycles = t->cycles_before + (uint64_t)t->state.clock;
	all.instructions = t->instructions;
	all.blocks = t->stream.n_feeds;
	all.blocks_retired = t->state.retired;
	return tact_fill(out, &all, sizeof(all));
}

int tact_stream_get_insn(const struct tact_stream *t, uint32_t number, size_t i,
			 struct tact_sim_insn *out, uint64_t *executions)
{
	struct tact_sim_insn all = {.size = sizeof(all)};
	const struct stream_code *code;
	const struct sim_stats *stats;
	const struct sim_raw *raw;

	if (!t || !executions || number >= t->owner->n_codes ||
	    i >= t->owner->codes[number]->program.n_raws || !tact_can_fill(out))
		return -TACT_E_INVAL;
	code = t->owner->codes[number];
	raw = &code->program.raws[i];
	*executions = code->executions;
	if (raw->fused_prev) /* the first one of the pair has it all */
		return tact_fill(out, &all, sizeof(all));
	stats = &code->program.stats[raw->insn];
	for (unsigned p = 0; p < TACT_MAX_PORTS; p++)
		all.port[p] = (double)stats->port[p];
	all.issued = (double)code->executions * code->program.insns[raw->insn].fused;
	all.divider = (double)stats->divider;
	all.wait_operand = (double)stats->wait_operand;
	all.wait_port = (double)stats->wait_port;
	all.spent = (double)stats->spent;
	return tact_fill(out, &all, sizeof(all));
}

int tact_stream_get_block(const struct tact_stream *t, uint32_t number,
			  struct tact_stream_block *out)
{
	struct tact_stream_block all = {.size = sizeof(all)};
	const struct stream_code *code;

	if (!t || number >= t->owner->n_codes || !tact_can_fill(out))
		return -TACT_E_INVAL;
	code = t->owner->codes[number];
	all.executions = code->executions;
	for (size_t i = 0; i < code->program.n_insns; i++) {
		for (unsigned p = 0; p < TACT_MAX_PORTS; p++)
			all.uops[p] += code->program.stats[i].port[p];
		all.cycles += code->program.stats[i].spent;
	}
	_Static_assert((int)SIM_N_STALLS == (int)TACT_N_STALLS, "one is the other's public side");
	memcpy(all.stalls, code->stalls, sizeof(code->stalls));
	return tact_fill(out, &all, sizeof(all));
}

void tact_stream_forget(struct tact_stream *t)
{
	if (!t)
		return;
	forget_codes(t->owner);
	t->owner->forgotten++;
}
