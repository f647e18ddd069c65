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
#include <math.h>
#include <string.h>

#include "trace/engine.h"

enum {
	WINDOW = 1536,	  /* instructions, on average; from half to one and a half of it */
	WARMING = 3,	  /* reorder buffers full of instructions, to fill the pipeline */
	MOST_WARMING = 8, /* the same where lines are fetched ahead: see is_warm() */
	STREAM = 4,	  /* lines that are fetched ahead in a warm-up: this is more than chance */
	FADING = 512,	  /* executions after which a correction has lost half its weight */
	RARE_FADING = 64, /* the same for executions that wait for a branch or a miss */
	NOTICED = 256	  /* a block with one in so many cycles that the memo does not know */
};

/* How much of a program goes through the pipeline: all of its first instructions, then less; more if
 * the memo is far off.
 */
static const struct {
	double until, share, if_noisy;
} BUDGET[] = {{1e6, 1, 1}, {20e6, 0.08, 0.12}, {100e6, 0.02, 0.04}, {1e30, 0.005, 0.02}};
static const double NOISY = 0.004; /* standard error */

/* Returns the share of the program that goes through the pipeline now. */
static double share_now(const struct tact_cycles *c)
{
	const bool is_noisy = sqrt(c->squares_off) > NOISY * c->windows;
	unsigned i = 0;

	while ((double)c->instructions >= BUDGET[i].until)
		i++;
	return is_noisy ? BUDGET[i].if_noisy : BUDGET[i].share;
}

static void count(struct engine_thread *t, uint32_t code, uint32_t node, double cycles)
{
	if (t->owner->windowed.is_on) {
		engine_window_count(t, code, 0, cycles);
		return;
	}
	t->cycles += cycles;
	t->owner->spent += cycles;
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

/* ---- the memo ---- */

/* Returns how far away the data of a load are. */
static enum engine_source source_of_miss(const struct arch_params *params, unsigned extra)
{
	int latency = params->load_latency + (int)extra;

	return latency >= params->memory_latency ? ENGINE_NEW_MEMORY
	       : latency >= params->l3_latency	 ? ENGINE_NEW_L3
						 : ENGINE_NEW_L2;
}

/* Returns the cycles of a block of which nothing is known: as wide as the renamer is. */
static double least_cycles(const struct tact_cycles *c, const struct tact_trace_block *b)
{
	return (double)b->n_insns / c->arch->params.issue_width;
}

/* Returns about how long an execution waits for its code. */
static unsigned wait_of_code(const struct arch_params *p, const struct front_outcome *x)
{
	const int from[] = {0, p->l2_latency, p->l3_latency, p->memory_latency};
	unsigned cycles = x->fetch_delay;

	for (uint64_t lines = x->code_lines; lines; lines >>= 2)
		cycles += (unsigned)from[lines & 3];
	return cycles;
}

/* Returns what the memo says about an execution, uncorrected. */
static void recall(struct engine_thread *t, struct engine_pending *p, const struct front_outcome *x)
{
	struct engine_code *code = &t->owner->codes[p->code];
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
	p->source = x->is_mispredicted ? ENGINE_NEW_BRANCH
		    : x->longest       ? source_of_miss(&t->owner->arch->params, x->longest)
		    : x->code_lines    ? ENGINE_NEW_CODE
		    : x->is_decoded    ? ENGINE_NEW_DECODED
				       : ENGINE_NEW;
	p->recalled = (float)least_cycles(t->owner, code->block) + (float)x->longest +
		      (float)wait_of_code(&t->owner->arch->params, x);
	if (x->is_mispredicted)
		p->recalled += (float)t->owner->arch->params.branch_penalty;
}

static double factor(const struct engine_correction *k)
{
	return k->recalled > 0 ? k->factor : 1;
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
	if (p->skimmed >= 0) {
		t->sampled += cycles;
		t->said += (double)p->skimmed;
	}
	t->window.simulated += cycles;
	t->window.recalled += (double)p->recalled * t->factors[p->source];
	k->simulated += cycles;
	k->recalled += (double)p->recalled;
	if (++k->n % (p->source <= ENGINE_NEW ? FADING : RARE_FADING) == 0) {
		k->simulated /= 2;
		k->recalled /= 2;
	}
	k->factor = k->simulated / k->recalled;
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

	if (t->said > 0)
		strata_judge_window(&t->owner->judge, t->sampled, t->said);
	t->sampled = t->said = 0;
	if (!t->is_sample || t->is_extra) /* nor is the beginning of the program */
		return;
	off *= t->stands_for;
	t->owner->squares_off += off * off;
	t->owner->windows += t->window.recalled * t->stands_for;
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
	if (p->skimmed >= 0)
		strata_add(&t->owner->strata[p->code], &t->owner->judge, true, p->level, p->longest,
			   cycles);
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
	if (!t->is_extra)
		t->owner->resume_at += code->block->n_insns * t->stands_for;
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
	t->stands_for = 1 / share_now(c);
	if (t->state == ENGINE_SKIPPING) {
		t->window = (struct engine_correction){.n = 0};
		t->is_sample = true;
		t->is_extra = (double)c->instructions < c->resume_at;
		t->wants_window = false;
		t->warmed = t->ahead = 0;
		for (unsigned i = 0; i < ENGINE_SOURCES; i++)
			t->factors[i] = factor(&c->corrections[i]);
	}
	t->state = t->state == ENGINE_SKIPPING				     ? ENGINE_WARMING
		   : (double)c->instructions >= c->resume_at && !t->is_extra ? ENGINE_COUNTING
		   : t->n_retired < t->n_fed				     ? ENGINE_COOLING
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

/* A stream is fetched ahead, as fast as memory lets it.  What was fetched before the warm-up is there
 * at once; only some way behind it do lines come as they do in the long run.
 */
static bool is_warm(const struct engine_thread *t)
{
	const struct arch_params *p = &t->owner->arch->params;

	return !t->left && (t->ahead < STREAM || t->warmed >= MOST_WARMING * (unsigned)p->rob_size);
}

/* Moves on to the state that this execution belongs to. */
static void advance(struct engine_thread *t)
{
	switch (t->state) {
	case ENGINE_SKIPPING:
		turn_window(t);
		break;
	case ENGINE_WARMING:
		if (is_warm(t)) {
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

/* Prepares the accesses for the pipeline, which takes them in order.  trips: those that are not
 * simple.
 */
static size_t copy_accesses(struct engine_thread *t, const struct tact_trace_event *event,
			    const struct front_trip *trips, size_t n_trips)
{
	struct tact_stream_access *to = t->owner->accesses;
	struct tact_stream_trip *trip = t->owner->trips;
	uint16_t last = 0;
	size_t k = 0;

	for (size_t i = 0; i < event->n_accesses; i++) {
		const struct tact_trace_access *a = &event->accesses[i];

		while (k < n_trips && trips[k].access < i)
			k++;
		if (a->insn < last || a->insn >= event->block->n_insns)
			continue;
		last = a->insn;
		if (k < n_trips && trips[k].access == i) {
			*trip++ = trips[k].trip;
		} else {
			trip->line = a->address / CACHE_LINE;
			trip->level = trip->page = trip->n_fetched = trip->written = 0;
			trip++;
		}
		*to++ = (struct tact_stream_access){.address = a->address,
						    .insn = a->insn,
						    .size = a->size < 64 ? (uint16_t)a->size : 64,
						    .is_store = a->is_store};
	}
	return (size_t)(to - t->owner->accesses);
}

static void add_counts(struct engine_thread *t, const struct tact_trace_event *event,
		       const struct front_outcome *x)
{
	t->instructions += event->block->n_insns;
	t->owner->instructions += event->block->n_insns;
	t->owner->accesses_seen += event->n_accesses - x->prefetches;
	t->owner->prefetches += x->prefetches;
	t->owner->unknown_prefetches += x->unknown_prefetches;
	t->branches += x->is_branch;
	if (!x->has_counts)
		return;
	for (unsigned i = 0; i < CACHE_LEVELS; i++)
		t->misses[i] += x->counts->misses[i];
	for (unsigned i = 0; i < 2; i++)
		t->page_misses[i] += x->counts->page_misses[i];
	t->owner->page_faults += x->counts->page_faults;
}

/* Whether a line is fetched ahead from beyond the second level. */
static bool is_ahead(const struct tact_stream_trip *trip)
{
	return trip->n_fetched && trip->fetched[0].from > 1;
}

/* Sends an execution through the pipeline. */
static int simulate(struct engine_thread *t, const struct engine_pending *pending,
		    const struct tact_trace_event *event, const struct front_outcome *outcome,
		    const struct front_trip *trips)
{
	const struct tact_cycles *c = t->owner;
	struct tact_stream_execution x = {.size = sizeof(x),
					  .address = event->block->address,
					  .accesses = c->accesses,
					  .trips = c->opt.caches ? c->trips : NULL,
					  .is_mispredicted = outcome->is_mispredicted,
					  .is_redirected = outcome->is_redirected,
					  .was_executed = true,
					  .is_decoded = outcome->is_decoded,
					  .code_lines = outcome->code_lines,
					  .fetch_delay = outcome->fetch_delay,
					  .repeat_cycles = outcome->repeat_cycles};

	t->left -= t->left < event->block->n_insns ? t->left : event->block->n_insns;
	t->warmed += event->block->n_insns;
	for (size_t i = 0; t->state == ENGINE_WARMING && i < outcome->n_trips; i++)
		t->ahead += is_ahead(&trips[i].trip);
	x.n_accesses = copy_accesses(t, event, trips, outcome->n_trips);
	return feed(t, pending, &x);
}

/* Counts mispredictions; those of branches that are passed by will be as frequent. */
static void add_mistakes(struct engine_thread *t, const struct front_outcome *x)
{
	struct tact_cycles *c = t->owner;

	t->mistakes += x->is_mistake;
	c->followed += x->is_branch;
	if (!x->is_sample)
		return;
	c->looked += x->is_branch;
	c->looked_mistakes += x->is_mistake;
}

/* ---- what is skimmed ---- */

/* The pipeline cannot go on with what was not followed: the window is dropped, and what it has not
 * counted yet costs what the memo says.
 */
static int leave_window(struct engine_thread *t)
{
	for (uint64_t k = t->n_retired; k < t->n_fed; k++) {
		struct engine_pending *p = &t->pending[k & (ENGINE_PENDING - 1)];

		if (p->is_counted)
			count(t, p->code, p->node, corrected(t, p) + (double)p->repeated);
		p->is_counted = false;
	}
	t->state = ENGINE_SKIPPING;
	return engine_drain(t);
}

static void begin_skimming(struct tact_cycles *c)
{
	c->is_skimming = true;
	c->mistake_rate = c->looked > 0 ? c->looked_mistakes / c->looked : 0;
	c->looked /= 2;
	c->looked_mistakes /= 2;
	c->skim_factor = strata_factor(&c->judge);
}

int engine_skim(struct engine_thread *t, const struct tact_trace_event *event,
		const struct front_outcome *outcome)
{
	struct tact_cycles *c = t->owner;
	const struct tact_trace_block *b = event->block;
	struct engine_code *code = &c->codes[b->number];
	double cycles;

	if (!c->is_skimming)
		begin_skimming(c);
	if (t->state != ENGINE_SKIPPING && leave_window(t) < 0)
		return -TACT_E_LIMIT;
	add_counts(t, event, outcome);
	t->mistakes += outcome->is_branch ? c->mistake_rate : 0;
	cycles = strata_cost(&c->strata[b->number], &c->judge, outcome->level, outcome->longest,
			     least_cycles(c, b));
	cycles *= c->skim_factor;
	c->skimmed += cycles;
	cycles += outcome->repeat_cycles + outcome->outside_cycles;
	code->executions++;
	code->cycles += cycles;
	t->cycles += cycles;
	c->spent += cycles;
	if (c->calls)
		calls_count(c->calls, c->node, cycles);
	return 0;
}

/* ---- what is looked at ---- */

int engine_execute(struct engine_thread *t, const struct tact_trace_event *event,
		   const struct front_outcome *outcome, const struct front_trip *trips)
{
	const uint32_t number = event->block->number;
	struct engine_code *code = &t->owner->codes[number];
	struct engine_pending pending;
	const bool is_windowed = t->owner->windowed.is_on;
	/* Of a program that runs natively, only what is in the middle of a window counts. */
	const bool is_seen = !is_windowed || t->state == ENGINE_COUNTING;

	code->executions++;
	t->owner->is_skimming = false;
	add_counts(t, event, outcome);
	add_mistakes(t, outcome);
	pending.key = outcome->key;
	pending.code = number;
	pending.node = t->owner->node;
	pending.repeated = (float)outcome->repeat_cycles;
	pending.longest = outcome->longest;
	pending.level = outcome->level;
	pending.skimmed = outcome->is_sample
				  ? (float)strata_cost(&t->owner->strata[number], &t->owner->judge,
						       outcome->level, outcome->longest,
						       least_cycles(t->owner, event->block))
				  : -1;
	if (outcome->outside_cycles && is_seen)
		count(t, number, pending.node, outcome->outside_cycles);
	if (is_windowed)
		engine_window_execute(t, number, event->block->n_insns, is_seen);
	recall(t, &pending, outcome);
	if (pending.source != ENGINE_KNOWN && t->state == ENGINE_SKIPPING)
		notice(t, code, (double)pending.recalled);
	if (!t->owner->opt.exact && !is_windowed &&
	    (t->state != ENGINE_SKIPPING ||
	     (((double)t->owner->instructions >= t->owner->resume_at || t->wants_window) &&
	      !outcome->is_ending)))
		advance(t);
	strata_add(&t->owner->strata[number], &t->owner->judge, false, outcome->level,
		   outcome->longest, corrected(t, &pending));
	pending.is_counted = t->state == ENGINE_COUNTING && code->is_known;
	if (!pending.is_counted && is_seen) {
		double cycles = corrected(t, &pending);

		t->owner->recalled += cycles;
		cycles += (double)pending.repeated;
		count(t, number, pending.node, cycles > 0 ? cycles : 0);
	}
	return t->state != ENGINE_SKIPPING && code->is_known
		       ? simulate(t, &pending, event, outcome, trips)
		       : 0;
}

int engine_drain(struct engine_thread *t)
{
	int status = tact_stream_drain(t->stream);

	learn(t);
	return status;
}
