/* SPDX-License-Identifier: MIT
 *
 * A thread of a program on a pipeline, most of the time without one.
 *
 * An execution costs the cycles between the retirement of the execution before it and its own.  The
 * first instructions of a program all go through the pipeline, later ones in windows of some
 * hundred executions spread over the run.  In between, an execution costs what the memo says: the
 * mean of its block after the same predecessor or, if the pipeline never saw that pair, a mean per
 * instruction.  Each window shows how far off the memo is, and its answers are corrected
 * accordingly.  All limits below were found by experiment (doc/models/trace.md).
 */
#include <string.h>

#include "trace/engine.h"

enum {
	WINDOW = 1536,	      /* instructions, on average; from half to one and a half of it */
	WARMING = 3,	      /* reorder buffers full of instructions, to fill the pipeline */
	FADING = 512,	      /* executions after which a correction has lost half its weight */
	RARE_FADING = 64,     /* the same for executions that wait for a branch or a miss */
	NOTICED = 256,	      /* a block with one in so many cycles that the memo does not know */
	MOST_REPEAT = 1 << 28 /* cycles of a repeated instruction that a stream takes */
};

/* How much of a program goes through the pipeline: all of its first instructions, then less. */
static const struct {
	double until, share;
} BUDGET[] = {{1e6, 1}, {20e6, 0.12}, {100e6, 0.04}, {1e30, 0.02}};

/* Returns the instructions that must have been executed before the next window. */
static uint64_t next_window(const struct tact_cycles *c)
{
	double left = (double)(c->simulated - c->simulated_extra), from = 0;

	for (unsigned i = 0; i < sizeof(BUDGET) / sizeof(BUDGET[0]); i++) {
		double part = BUDGET[i].share * (BUDGET[i].until - from);

		if (left < part)
			return (uint64_t)(from + left / BUDGET[i].share);
		left -= part;
		from = BUDGET[i].until;
	}
	return UINT64_MAX;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0xff51afd7ed558ccdu;
	return h ^ h >> 29;
}

static void count(struct engine_thread *t, uint32_t code, uint32_t node, double cycles)
{
	if (t->owner->windowed.is_on) {
		engine_window_count(t, code, 0, cycles);
		return;
	}
	t->cycles += cycles;
	t->owner->codes[code].cycles += cycles;
	if (t->owner->calls)
		calls_count(t->owner->calls, node, cycles);
}

void engine_renumber(struct tact_cycles *c, const uint32_t *map)
{
	c->node = map[c->node];
	for (size_t i = 0; i < c->n_threads; i++) {
		struct engine_thread *t = c->threads[i];

		for (uint64_t k = t->n_retired; k < t->n_fed; k++) {
			struct engine_pending *p = &t->pending[k & (ENGINE_PENDING - 1)];

			p->node = map[p->node];
		}
	}
}

/* ---- memory ---- */

/* Returns how far away the data of a load are. */
static enum engine_source source_of_miss(const struct arch_params *params, unsigned extra)
{
	int latency = params->load_latency + (int)extra;

	return latency >= params->memory_latency ? ENGINE_NEW_MEMORY
	       : latency >= params->l3_latency	 ? ENGINE_NEW_L3
						 : ENGINE_NEW_L2;
}

/* Returns what the memo says about an execution, uncorrected; a load loses `longest` cycles. */
static void recall(struct engine_thread *t, struct engine_pending *p,
		   const struct tact_stream_execution *x, unsigned longest)
{
	struct engine_code *code = &t->owner->codes[p->code];
	const bool is_mispredicted = x->is_mispredicted;
	const struct memo_entry *e;

	/* Most executions are like the one before: the table is large, and slow to look into. */
	if (code->known.key == p->key && code->known.version == t->owner->memo.version) {
		p->source = ENGINE_KNOWN;
		p->recalled = code->known.mean;
		return;
	}
	e = memo_find(&t->owner->memo, p->key);
	if (e) {
		p->source = ENGINE_KNOWN;
		p->recalled = code->known.mean = e->mean;
		code->known.key = p->key;
		code->known.version = t->owner->memo.version;
		return;
	}
	p->source = is_mispredicted ? ENGINE_NEW_BRANCH
		    : longest	    ? source_of_miss(&t->owner->arch->params, longest)
		    : x->code_lines ? ENGINE_NEW_CODE
		    : x->is_decoded ? ENGINE_NEW_DECODED
				    : ENGINE_NEW;
	p->recalled = (float)code->block->n_insns / (float)t->owner->arch->params.issue_width +
		      (float)longest;
	if (is_mispredicted)
		p->recalled += (float)t->owner->arch->params.branch_penalty;
}

static double factor(const struct engine_correction *k)
{
	return k->recalled > 0 ? k->simulated / k->recalled : 1;
}

static double corrected(const struct engine_thread *t, const struct engine_pending *p)
{
	return (double)p->recalled * factor(&t->owner->corrections[p->source]);
}

static void compare(struct engine_thread *t, const struct engine_pending *p, double cycles)
{
	struct engine_correction *k = &t->owner->corrections[p->source];

	if (t->is_extra)
		return;
	t->window.simulated += cycles;
	t->window.recalled += (double)p->recalled * t->factors[p->source];
	k->simulated += cycles;
	k->recalled += (double)p->recalled;
	if (++k->n % (p->source <= ENGINE_NEW ? FADING : RARE_FADING) == 0) {
		k->simulated /= 2;
		k->recalled /= 2;
	}
}

/* Learns from a window after it has ended: during the window, the memo stays as it was before. */
static void learn(struct engine_thread *t)
{
	for (unsigned i = 0; i < t->n_lessons; i++)
		memo_add(&t->owner->memo, t->lessons[i].key, t->lessons[i].cycles);
	t->n_lessons = 0;
}

/* Measures how far off the memo was, corrected as before the window, over the whole window. */
static void judge(struct engine_thread *t)
{
	double off = t->window.simulated - t->window.recalled;

	if (!t->is_sample || t->is_extra) /* nor is the beginning of the program */
		return;
	t->owner->squares_off += off * off;
	t->owner->windows += t->window.recalled;
}

/* ---- the pipeline ---- */

/* Called by the pipeline when the oldest execution has retired. */
void engine_retired(void *arg, uint64_t cycle)
{
	struct engine_thread *t = arg;
	struct engine_pending *p = &t->pending[t->n_retired++ & (ENGINE_PENDING - 1)];
	double cycles = (double)(cycle - t->last_cycle);

	t->last_cycle = cycle;
	if (!p->is_counted)
		return;
	count(t, p->code, p->node, cycles);
	if (t->owner->opt.exact || t->owner->windowed.is_on)
		return;
	cycles -= (double)p->repeated; /* it overlaps with what is before it: may be negative */
	compare(t, p, cycles);
	t->lessons[t->n_lessons].key = p->key;
	t->lessons[t->n_lessons++].cycles = (float)cycles;
	if (t->n_lessons == ENGINE_LESSONS)
		learn(t);
}

static int feed(struct engine_thread *t, const struct engine_pending *pending,
		struct tact_stream_execution *x)
{
	struct engine_code *code = &t->owner->codes[pending->code];
	int status = code->is_added ? 0 : engine_add_code(t->owner, code);

	if (status < 0)
		return status;
	x->number = code->number;
	t->pending[t->n_fed++ & (ENGINE_PENDING - 1)] = *pending;
	t->owner->simulated += code->block->n_insns;
	if (t->is_extra)
		t->owner->simulated_extra += code->block->n_insns;
	return tact_stream_execute(t->stream, x);
}

/* Returns between half and one and a half windows, so that no loop is always met at the same place.
 */
static unsigned window_length(struct engine_thread *t)
{
	t->random = t->random * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX */
	return WINDOW / 2 + (unsigned)(t->random >> 40) % WINDOW;
}

/* Ends a window, or begins one when it is time. */
static void turn_window(struct engine_thread *t)
{
	struct tact_cycles *c = t->owner;

	learn(t);
	if (t->state == ENGINE_SKIPPING) {
		t->window = (struct engine_correction){.n = 0};
		t->is_sample = true;
		t->is_extra = c->instructions < c->resume_at;
		t->wants_window = false;
		for (unsigned i = 0; i < ENGINE_SOURCES; i++)
			t->factors[i] = factor(&c->corrections[i]);
	}
	c->resume_at = next_window(c);
	t->state = t->state == ENGINE_SKIPPING			     ? ENGINE_WARMING
		   : c->instructions >= c->resume_at && !t->is_extra ? ENGINE_COUNTING
		   : t->n_retired < t->n_fed			     ? ENGINE_COOLING
								     : ENGINE_SKIPPING;
	t->left = t->state == ENGINE_WARMING ? WARMING * (unsigned)c->arch->params.rob_size
					     : window_length(t);
	t->last_counted = t->n_fed;
}

/* Between windows, code comes that the memo does not know.  If a block has had a good part of all
 * cycles in this way, it gets a window out of turn: a phase of the program has begun.  Such a window
 * is no random sample.  It teaches the memo, and corrects nothing.
 */
static void notice(struct engine_thread *t, struct engine_code *code, double cycles)
{
	code->new_cycles += (float)cycles;
	if (code->new_cycles * NOTICED < (float)t->cycles)
		return;
	code->new_cycles = 0;
	t->wants_window = true;
}

/* Moves on to the state that this execution belongs to. */
static void advance(struct engine_thread *t)
{
	switch (t->state) {
	case ENGINE_SKIPPING:
		if (t->owner->instructions >= t->owner->resume_at || t->wants_window)
			turn_window(t);
		break;
	case ENGINE_WARMING:
		if (!t->left) {
			t->state = ENGINE_COUNTING;
			t->left = window_length(t);
		}
		break;
	case ENGINE_COUNTING:
		if (!t->left)
			turn_window(t);
		break;
	case ENGINE_COOLING:
		if (t->n_retired >= t->last_counted) {
			learn(t);
			judge(t);
			t->state = ENGINE_SKIPPING;
		}
		break;
	}
}

/* ---- executions ---- */

/* Hashes the context of an execution: the last block, this one, and what is special about it. */
static void make_key(struct engine_thread *t, uint32_t code, uint64_t special,
		     struct engine_pending *out)
{
	uint64_t self = mix(0x9e3779b97f4a7c15u, (uint64_t)code << 32 ^ special);

	*out = (struct engine_pending){.key = mix(t->context, self),
				       .code = code,
				       .node = t->owner->node,
				       .is_counted = true};
	t->context = self * 0x9e3779b97f4a7c15u;
}

/* Asks the predictor about the branch that led here. */
static int ask_predictor(struct engine_thread *t, uint64_t address, struct predictor_outcome *out)
{
	const struct engine_code *before;
	int status;

	*out = (struct predictor_outcome){.delay = 0};
	if (!t->predictor || !t->n_executed)
		return 0;
	before = &t->owner->codes[t->last];
	t->predictor->is_warm = t->owner->windowed.is_on;
	status = predictor_follow(t->predictor, &before->branch, address, out);
	if (t->owner->windowed.is_on && !engine_window_knows(t, before))
		out->is_mispredicted = false;
	return status;
}

/* The kernel runs: for a system call, or because a page is touched for the first time.  Linux
 * leaves an empty return stack on some cores.
 */
static void enter_kernel(struct engine_thread *t)
{
	code_caches_enter_kernel(t->code_caches);
	if (t->predictor && t->owner->arch->params.returns_flushed)
		memset(t->predictor->returns, 0, sizeof(t->predictor->returns));
}

/* A page that no TLB has may be one that the program does not have yet.  A fresh one comes out of
 * the second-level cache, where the kernel has written it; the kernel has read a file not long ago.
 */
static void fault(struct engine_thread *t, const struct tact_trace_access *a,
		  struct tact_stream_trip *trip)
{
	const enum fault kind = faults_touch(&t->owner->faults, a->address, a->is_store);
	const unsigned level = kind == FAULT_FRESH ? 1 : 2;

	if (kind == FAULT_NONE || t->owner->opt.partial)
		return;
	if (kind == FAULT_FRESH)
		caches_fill_page(t->caches, a->address);
	if (trip->level > level && trip->level <= CACHE_LEVELS)
		trip->level = (uint8_t)level;
	enter_kernel(t);
}

/* Asks where the code comes from.  Returns what is special about it. */
static uint64_t fetch_code(struct engine_thread *t, struct engine_code *code,
			   struct tact_stream_execution *x)
{
	const struct tact_trace_block *b = code->block;
	struct code_fetch fetch;

	x->was_executed = true;
	if (t->owner->opt.warm)
		return 0;
	code_caches_execute(t->code_caches,
			    &(struct code_piece){b->address, b->code_size, b->n_insns},
			    !code->executions, &code->dsb_place, &fetch);
	if (fetch.is_walked && !t->owner->windowed.is_on && !t->owner->opt.partial &&
	    faults_touch(&t->owner->faults, b->address, false))
		enter_kernel(t);
	x->is_decoded = fetch.is_decoded;
	x->code_lines = fetch.lines;
	x->fetch_delay = (uint16_t)fetch.delay;
	/* A program is found at a random moment, in code that has run before: what the windows have
	 * not seen yet is in the second level, not in memory.
	 */
	if (t->owner->windowed.is_on) {
		x->code_lines = (fetch.lines | fetch.lines >> 1) & 0x5555555555555555u;
		x->fetch_delay = 0;
	}
	return x->is_decoded ? mix(fetch.lines + 1, fetch.delay) : 0;
}

/* Returns how much longer than from the first level a load takes that is alone. */
static unsigned cycles_of(const struct arch_params *p, const struct tact_stream_trip *trip)
{
	const int from[] = {p->load_latency, p->l2_latency, p->l3_latency, p->memory_latency,
			    p->load_latency};
	int cycles = from[trip->level] - p->load_latency;

	if (trip->page)
		cycles += p->tlb2_latency;
	if (trip->page > 1)
		cycles += p->walk_latency + from[trip->page - 1] - p->l2_latency;
	return cycles > 0 ? (unsigned)cycles : 0;
}

/* Sends the accesses through the caches.  Leaves in owner->trips where each of them finds its data,
 * and in *longest how much longer than in the first level that takes for a load.  Returns what is
 * special about them.
 */
static uint64_t pass_caches(struct engine_thread *t, const struct tact_trace_event *event,
			    unsigned *longest)
{
	const uint64_t number = (uint64_t)event->block->number << 10,
		       passing = t->owner->codes[event->block->number].non_temporal;
	const bool rep = t->owner->codes[event->block->number].repeat.kind != REPEAT_NONE;
	uint64_t special = 0;

	for (size_t i = 0; i < event->n_accesses; i++) {
		const struct tact_trace_access *a = &event->accesses[i];
		struct tact_stream_trip *trip = &t->owner->trips[i];
		unsigned cycles;

		if (rep && a->insn + 1u == event->block->n_insns) { /* see repeated() */
			*trip = (struct tact_stream_trip){.line = a->address / CACHE_LINE};
			continue;
		}
		if (passing && a->is_store && a->insn < 64 && passing >> a->insn & 1)
			caches_pass(t->caches, a->address, a->size, trip);
		else
			caches_access(t->caches, a->address, a->size, number | a->insn, a->is_store,
				      trip);
		if (t->owner->windowed.is_on)
			engine_window_trip(t, event->pid, a->address, trip);
		else if (trip->page > 1)
			fault(t, a, trip);
		if (!(trip->level | trip->page))
			continue;
		special = mix(special,
			      (uint64_t)a->insn << 16 | (unsigned)trip->page << 8 | trip->level);
		if (a->is_store)
			continue;
		cycles = cycles_of(&t->owner->arch->params, trip);
		*longest = cycles > *longest ? cycles : *longest;
	}
	return special;
}

/* Prepares the accesses for the pipeline, which takes them in order. */
static size_t copy_accesses(struct engine_thread *t, const struct tact_trace_event *event)
{
	struct tact_stream_access *to = t->owner->accesses;
	struct tact_stream_trip *trip = t->owner->trips;
	uint16_t last = 0;

	for (size_t i = 0; i < event->n_accesses; i++) {
		const struct tact_trace_access *a = &event->accesses[i];

		if (a->insn < last || a->insn >= event->block->n_insns)
			continue;
		last = a->insn;
		if (t->caches)
			*trip++ = t->owner->trips[i];
		*to++ = (struct tact_stream_access){.address = a->address,
						    .insn = a->insn,
						    .size = a->size < 64 ? (uint16_t)a->size : 64,
						    .is_store = a->is_store};
	}
	return (size_t)(to - t->owner->accesses);
}

/* Sends the data of a repeated instruction through the caches.  Returns the cycles that their lines
 * take to and from the first level.
 */
static double pass_lines(struct engine_thread *t, const struct tact_trace_event *event)
{
	const struct arch_params *p = &t->owner->arch->params;
	const int costs[2][CACHE_LEVELS + 1] = {
		{0, p->rep_l2_load, p->rep_l3_load, p->rep_memory_load},
		{0, p->rep_l2_store, p->rep_l3_store, p->rep_memory_store}};
	uint64_t hundredths = 0;

	for (size_t i = event->n_accesses; i-- > 0;) {
		const struct tact_trace_access *a = &event->accesses[i];
		const uint64_t end = (a->address + a->size + CACHE_LINE - 1) / CACHE_LINE;

		if (a->insn + 1u != event->block->n_insns)
			break;
		for (uint64_t line = a->address / CACHE_LINE; line < end; line++)
			hundredths += (unsigned)costs[a->is_store][caches_bring(t->caches, line)];
	}
	return (double)hundredths / 100;
}

/* Returns the cycles of the block's last instruction, which repeats itself. */
static uint32_t repeated(struct engine_thread *t, const struct engine_code *code,
			 const struct tact_trace_event *event)
{
	double cycles = repeat_cycles(&t->owner->arch->params, code->repeat, event,
				      t->caches ? pass_lines(t, event) : 0);

	return cycles < MOST_REPEAT ? (uint32_t)(cycles + 0.5) : MOST_REPEAT;
}

int engine_execute(struct engine_thread *t, uint32_t number, const struct tact_trace_event *event)
{
	struct engine_code *code = &t->owner->codes[number];
	struct engine_pending pending;
	struct tact_stream_execution x = {.size = sizeof(x),
					  .address = event->block->address,
					  .accesses = t->owner->accesses,
					  .trips = t->caches ? t->owner->trips : NULL};
	const bool is_windowed = t->owner->windowed.is_on;
	/* Of a program that runs natively, only what is in the middle of a window counts. */
	const bool is_seen = !is_windowed || t->state == ENGINE_COUNTING;
	struct predictor_outcome branch;
	unsigned longest = 0;
	uint64_t special = t->caches ? pass_caches(t, event, &longest) : 0;
	int status = ask_predictor(t, event->block->address, &branch);

	if (t->n_executed && t->owner->codes[t->last].branch.flow == TACT_FLOW_KERNEL)
		enter_kernel(t);
	special ^= fetch_code(t, code, &x);
	if (t->owner->faults.has_failed)
		status = -TACT_E_NOMEM;
	code->executions++;
	t->instructions += event->block->n_insns;
	t->owner->instructions += event->block->n_insns;
	t->owner->accesses_seen += event->n_accesses;
	x.is_mispredicted = branch.is_mispredicted;
	x.is_redirected = branch.is_unknown;
	x.fetch_delay = (uint16_t)(x.fetch_delay + branch.delay);
	if (branch.delay)
		special = mix(special, branch.delay);
	make_key(t, number, special << 1 | x.is_mispredicted, &pending);
	if (is_windowed)
		engine_window_execute(t, number, event->block->n_insns, is_seen);
	if (code->repeat.kind)
		x.repeat_cycles = repeated(t, code, event);
	pending.repeated = (float)x.repeat_cycles;
	recall(t, &pending, &x, longest);
	if (pending.source != ENGINE_KNOWN && t->state == ENGINE_SKIPPING)
		notice(t, code, (double)pending.recalled);
	if (!t->owner->opt.exact && !is_windowed)
		advance(t);
	if (t->state != ENGINE_SKIPPING && !code->is_looked_at && status >= 0)
		status = engine_look_at(t->owner, code);
	pending.is_counted = t->state == ENGINE_COUNTING && code->is_known;
	if (!pending.is_counted && is_seen) {
		double cycles = corrected(t, &pending);

		t->owner->recalled += cycles;
		cycles += (double)pending.repeated;
		count(t, number, pending.node, cycles > 0 ? cycles : 0);
	}
	if (t->state != ENGINE_SKIPPING && code->is_known && status >= 0) {
		t->left -= t->left < event->block->n_insns ? t->left : event->block->n_insns;
		x.n_accesses = copy_accesses(t, event);
		status = feed(t, &pending, &x);
	}
	t->last = number;
	t->n_executed++;
	return status;
}

int engine_drain(struct engine_thread *t)
{
	int status = tact_stream_drain(t->stream);

	learn(t);
	return status;
}
