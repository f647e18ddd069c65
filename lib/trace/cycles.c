/* SPDX-License-Identifier: MIT
 *
 * Cycles of whole programs: threads, blocks, events.
 */
#include <stdlib.h>
#include <string.h>

#include <tact/model.h>

#include "base/base.h"
#include "trace/engine.h"

/* Blocks that the pipelines hold: at most, and how many make their memory matter. */
enum { MOST_CODES = 1 << 13, MANY_CODES = 1 << 10 };

/* Bounds that can limit a block.  Which of its addresses are equal is not known here. */
static const char BOUNDS[] = "facile:without=forwarding+blocked";

int tact_cycles_create(struct tact_cycles **out, const struct tact_arch *arch,
		       const struct tact_cycles_options *opt, struct tact_diag *diag)
{
	const struct tact_block_options unrolled = {.size = sizeof(unrolled),
						    .mode = TACT_MODE_UNROLL};
	struct tact_cycles *c;
	int status;

	if (out)
		*out = NULL;
	status = tact_new(&c, sizeof(*c), out && arch, "no architecture", diag);
	if (status < 0)
		return status;
	c->arch = arch;
	if (tact_read_options(&c->opt, sizeof(c->opt), opt) < 0)
		status = tact_fail(diag, TACT_E_INVAL, "options of an unknown version");
	for (unsigned i = 0; i < CACHE_LEVELS && status >= 0; i++)
		if (c->opt.cache_bytes[i] > CACHE_MAX_BYTES)
			status = tact_fail(diag, TACT_E_INVAL, "a cache of more than 1 TiB");
	if (status >= 0)
		status = tact_block_create(&c->block, arch, &unrolled, diag);
	if (status >= 0)
		status = tact_model_stream_create(&c->stream, c->opt.model ? c->opt.model : "sim",
						  diag);
	if (status >= 0)
		status = tact_model_open(&c->bounds, BOUNDS, NULL, diag);
	if (status >= 0)
		status = memo_init(&c->memo);
	if (status >= 0)
		status = front_create(&c->front, arch, &c->opt, diag);
	return HAND_OVER(out, c, status, tact_cycles_destroy);
}

static void close_thread(struct engine_thread *t)
{
	tact_stream_destroy(t->stream);
	t->stream = NULL;
	t->is_over = true;
}

void tact_cycles_destroy(struct tact_cycles *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n_threads; i++) {
		if (!c->threads[i]->is_over)
			close_thread(c->threads[i]);
		free(c->threads[i]);
	}
	free(c->threads);
	tact_stream_destroy(c->stream);
	tact_model_close(c->bounds);
	tact_block_destroy(c->block);
	memo_fini(&c->memo);
	for (size_t i = 0; i < c->n_codes; i++)
		free(c->codes[i].past);
	engine_windows_fini(&c->windowed);
	front_destroy(c->front);
	tact_table_destroy(c->codes, c->code_capacity, sizeof(*c->codes));
	tact_table_destroy(c->strata, c->strata_capacity, sizeof(*c->strata));
	FREE_ALL(c->moved.list, c->watch, c->accesses, c->trips, c);
}

/* ---- threads ---- */

static int add_thread(struct tact_cycles *c, uint32_t id, struct engine_thread **out)
{
	struct engine_thread *t = calloc(1, sizeof(*t));

	if (!t || tact_grow(&c->threads, &c->thread_capacity, c->n_threads + 1,
			    sizeof(struct engine_thread *)) < 0) {
		free(t);
		return -TACT_E_NOMEM;
	}
	t->id = id;
	t->owner = c;
	if (tact_stream_create_beside(&t->stream, c->stream, NULL) < 0) {
		free(t);
		return -TACT_E_NOMEM;
	}
	tact_stream_on_retire(t->stream, engine_retired, t);
	c->threads[c->n_threads++] = t;
	engine_watch(t);
	*out = t;
	return 0;
}

static int search_thread(struct tact_cycles *c, uint32_t id, struct engine_thread **out)
{
	for (size_t i = c->n_threads; i-- > 0;)
		if (c->threads[i]->id == id && !c->threads[i]->is_over) {
			*out = c->last = c->threads[i];
			return 0;
		}
	if (add_thread(c, id, out) < 0)
		return -TACT_E_NOMEM;
	c->last = *out;
	return 0;
}

/* Finds the thread of an event, or creates it; tries the last one first. */
static inline int find_thread(struct tact_cycles *c, uint32_t id, struct engine_thread **out)
{
	*out = c->last;
	return c->last && c->last->id == id && !c->last->is_over ? 0 : search_thread(c, id, out);
}

/* ---- blocks ---- */

int engine_load(struct tact_cycles *c, const struct tact_trace_block *b, enum tact_mode mode)
{
	const struct tact_block_options opt = {
		.size = sizeof(opt),
		.mode = mode,
		.alignment = (unsigned)(b->address % 64),
		.setting = b->number < c->n_codes ? c->codes[b->number].setting : 0};
	int status;

	/* The code loaded so far need not be lowered again. */
	c->block->n_insns = 0;
	c->loaded = NULL;
	status = tact_block_rebind(c->block, NULL, &opt);
	if (status >= 0)
		status = tact_block_load(c->block, b->code, b->code_size, NULL);
	if (status >= 0 && mode == TACT_MODE_UNROLL)
		c->loaded = b;
	return status;
}

double engine_spent(const struct tact_cycles *c, const struct engine_code *code, uint32_t i)
{
	struct tact_sim_insn insn = TACT_SIM_INSN_INIT;
	uint64_t executions;

	return tact_stream_get_insn(c->stream, code->number, i, &insn, &executions) < 0
		       ? 0
		       : insn.spent;
}

/* Keeps what the pipelines saw of a block before they forget it. */
static int keep_past(const struct tact_cycles *c, struct engine_code *code)
{
	const uint32_t n = c->opt.insns ? code->block->n_insns : 0;
	struct tact_stream_block seen = TACT_STREAM_BLOCK_INIT;
	struct engine_past *past = code->past;

	tact_stream_get_block(c->stream, code->number, &seen);
	if (!seen.executions)
		return 0;
	if (!past)
		past = calloc(1, sizeof(*past) + n * sizeof(*past->spent));
	if (!past)
		return -TACT_E_NOMEM;
	code->past = past;
	past->seen += seen.executions;
	for (unsigned p = 0; p < TACT_MAX_PORTS; p++)
		past->uops[p] += (float)seen.uops[p];
	for (unsigned s = 0; s < TACT_N_STALLS; s++)
		past->stalls[s] += (float)seen.stalls[s];
	past->cycles += (float)seen.cycles;
	for (uint32_t i = 0; i < n; i++)
		past->spent[i] += (float)engine_spent(c, code, i);
	return 0;
}

/* The pipelines hold a limited number of blocks.  When there are more, they are drained and start
 * anew; what they saw is kept.
 */
static int forget_codes(struct tact_cycles *c)
{
	for (size_t i = 0; i < c->n_threads; i++)
		if (!c->threads[i]->is_over && engine_drain(c->threads[i]) < 0)
			return -TACT_E_LIMIT;
	for (size_t i = 0; i < c->n_codes; i++) {
		struct engine_code *code = &c->codes[i];

		if (code->is_added && keep_past(c, code) < 0)
			return -TACT_E_NOMEM;
		code->is_added = false;
	}
	tact_stream_forget(c->stream);
	c->n_added = 0;
	return 0;
}

int engine_add_code(struct tact_cycles *c, struct engine_code *code)
{
	int status = c->n_added < MOST_CODES ? 0 : forget_codes(c);

	if (status >= 0 && c->loaded != code->block)
		status = engine_load(c, code->block, TACT_MODE_UNROLL);
	if (status >= 0)
		status = tact_stream_add(c->stream, c->block, &code->number);
	if (status < 0)
		return status;
	code->is_added = true;
	c->n_added++;
	return 0;
}

static bool calls_kernel(const struct tact_isa *isa, const struct tact_trace_block *b)
{
	struct isa_step step;

	isa->scan(&step, 1, b->code + b->last_offset, b->code_size - b->last_offset);
	return step.is_valid && step.flow == TACT_FLOW_KERNEL;
}

/* What code has set when a block is executed first: compilers see to it that this is always the same. */
static uint16_t setting_before(const struct tact_cycles *c)
{
	const struct tact_trace_block *b = c->previous;

	return b && c->arch->isa->follow ? c->arch->isa->follow(c->codes[b->number].setting,
								b->code, b->code_size, NULL, 0)
					 : 0;
}

static int add_code(struct tact_cycles *c, const struct tact_trace_block *b,
		    const struct front_code *seen)
{
	struct engine_code *code;
	size_t n = c->n_codes;

	if (b->number >= n) {
		if (tact_table_grow(&c->codes, &c->code_capacity, b->number + 1,
				    sizeof(*c->codes)) < 0 ||
		    tact_table_grow(&c->strata, &c->strata_capacity, b->number + 1,
				    sizeof(*c->strata)) < 0)
			return -TACT_E_NOMEM;
		c->n_codes = b->number + 1;
	}
	code = &c->codes[b->number];
	if (!code->block)
		*code = (struct engine_code){.block = b,
					     .calls_kernel = calls_kernel(c->arch->isa, b),
					     .setting = setting_before(c),
					     .is_known = seen->is_known,
					     .unknown = seen->unknown};
	return 0;
}

static inline int find_code(struct tact_cycles *c, const struct tact_trace_block *b,
			    const struct front_code *seen)
{
	return b->number < c->n_codes && c->codes[b->number].block ? 0 : add_code(c, b, seen);
}

/* ---- events ---- */

static int execute(struct tact_cycles *c, const struct tact_trace_event *event,
		   const struct front_outcome *outcome, const struct front_trip *trips)
{
	struct engine_thread *t;
	int status = find_code(c, event->block, outcome->code);

	if (status < 0)
		return -TACT_E_NOMEM;
	c->previous = event->block;
	if (outcome->is_skimmed)
		return find_thread(c, event->thread, &t) < 0 ? -TACT_E_NOMEM
							     : engine_skim(t, event, outcome);
	if ((event->n_accesses >= c->access_capacity &&
	     (tact_grow(&c->accesses, &c->access_capacity, event->n_accesses + 1,
			sizeof(*c->accesses)) < 0 ||
	      tact_grow(&c->trips, &c->trip_capacity, c->access_capacity, sizeof(*c->trips)) <
		      0)) ||
	    find_thread(c, event->thread, &t) < 0)
		return -TACT_E_NOMEM;
	return engine_execute(t, event, outcome, trips);
}

int engine_take(struct tact_cycles *c, const struct tact_trace_event *event,
		const struct front_outcome *outcome, const struct front_trip *trips,
		struct tact_diag *diag)
{
	struct engine_thread *t;
	int status = 0;

	if (event->kind == TACT_TRACE_EXEC) {
		status = execute(c, event, outcome, trips);
	} else if (event->kind == TACT_TRACE_WINDOW) {
		status = find_thread(c, event->thread, &t);
		if (status >= 0)
			status = engine_window_event(t, event);
	} else if (event->kind == TACT_TRACE_TIME) {
		engine_window_time(c, event);
	} else if (event->kind == TACT_TRACE_END) {
		for (size_t i = 0; i < c->n_threads; i++) {
			t = c->threads[i];
			if (t->id != event->thread || t->is_over)
				continue;
			status = engine_drain(t);
			close_thread(t);
		}
	}
	if (status == -TACT_E_NOMEM)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	if (status < 0)
		return tact_fail(diag, -status, "the pipeline does not take block %u",
				 event->block ? event->block->number : 0);
	return 0;
}

/* Begins a batch of events when it is time, and ends the last one. */
static void turn_batch(struct tact_cycles *c)
{
	const uint64_t n = c->n_events++ / FRONT_EVENTS;

	if (n * FRONT_EVENTS != c->n_events - 1)
		return;
	if (n)
		c->paces[(n - 1) % FRONT_BATCHES] = (struct front_pace){
			.guessed = front_guess(c->front), .cycles = c->spent - c->spent_before};
	c->spent_before = c->spent;
	front_begin_batch(c->front, &c->paces[n % FRONT_BATCHES]);
}

int tact_cycles_event(struct tact_cycles *c, const struct tact_trace_event *event,
		      struct tact_diag *diag)
{
	struct front_counts counts;
	struct front_outcome outcome = {.counts = &counts};
	struct tact_trace_event whole;

	if (!c || !tact_can_fill(event))
		return tact_fail(diag, TACT_E_INVAL, "no event");
	if (event->size < sizeof(*event)) { /* from an older caller */
		memset(&whole, 0, sizeof(whole));
		memcpy(&whole, event, event->size);
		event = &whole;
	}
	if (event->kind == TACT_TRACE_EXEC &&
	    (!event->block || (event->n_accesses && !event->accesses)))
		return tact_fail(diag, TACT_E_INVAL, "an execution without its block");
	c->moved.n = 0;
	turn_batch(c);
	if (front_take(c->front, event, &outcome, &c->moved) < 0)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	return engine_take(c, event, &outcome, c->moved.list, diag);
}

/* Drops what was learned: the results need the memory. */
static int forget_all(struct tact_cycles *c)
{
	memo_fini(&c->memo);
	tact_table_destroy(c->strata, c->strata_capacity, sizeof(*c->strata));
	front_destroy(c->front);
	c->front = NULL;
	c->strata = tact_table_create(c->strata_capacity, sizeof(*c->strata));
	if (memo_init(&c->memo) < 0 || !c->strata)
		return -TACT_E_NOMEM;
	return front_create(&c->front, c->arch, &c->opt, NULL);
}

int tact_cycles_finish(struct tact_cycles *c, struct tact_diag *diag)
{
	int status;

	if (!c)
		return tact_fail(diag, TACT_E_INVAL, "nothing to finish");
	for (size_t i = 0; i < c->n_threads; i++)
		if (!c->threads[i]->is_over && engine_drain(c->threads[i]) < 0)
			return tact_fail(diag, TACT_E_LIMIT, "the pipeline is stuck");
	status = c->n_added > MANY_CODES ? forget_codes(c) : 0;
	if (status == -TACT_E_NOMEM)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	if (status < 0)
		return tact_fail(diag, TACT_E_LIMIT, "the pipeline is stuck");
	if (forget_all(c) < 0)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	engine_windows_weigh(c, NULL);
	return 0;
}
