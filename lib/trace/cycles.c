/* SPDX-License-Identifier: MIT
 *
 * Cycles of whole programs: threads, blocks, results.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tact/model.h>

#include "base/base.h"
#include "trace/engine.h"

/* Blocks that the pipelines hold: at most, and how many make their memory matter. */
enum { MOST_CODES = 1 << 13, MANY_CODES = 1 << 10 };

/* How close to a bound a block must run to be limited by it, and the share of stalled cycles below
 * which it hardly stalls.
 */
static const double ABOUT = 0.05, HARDLY = 0.1;

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
	return HAND_OVER(out, c, status, tact_cycles_destroy);
}

static void close_thread(struct engine_thread *t)
{
	struct tact_cycles *c = t->owner;

	if (t->predictor) {
		c->branches += t->predictor->branches;
		c->mistakes += t->predictor->mistakes;
	}
	for (unsigned i = 0; i < CACHE_LEVELS && t->caches; i++)
		c->misses[i] += t->caches->misses[i];
	if (t->predictor)
		predictor_fini(t->predictor);
	if (t->caches)
		caches_fini(t->caches);
	if (t->code_caches)
		code_caches_fini(t->code_caches);
	FREE_ALL(t->caches, t->code_caches, t->predictor);
	tact_stream_destroy(t->stream);
	t->caches = NULL;
	t->code_caches = NULL;
	t->predictor = NULL;
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
	faults_fini(&c->faults);
	for (size_t i = 0; i < c->n_codes; i++)
		free(c->codes[i].past);
	engine_windows_fini(&c->windowed);
	FREE_ALL(c->watch, c->codes, c->accesses, c->trips, c);
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
	if (tact_stream_create_beside(&t->stream, c->stream, NULL) < 0 ||
	    (c->opt.branches && !(t->predictor = calloc(1, sizeof(*t->predictor)))) ||
	    (c->opt.branches && predictor_init(t->predictor, &c->arch->params) < 0) ||
	    (c->opt.caches && !(t->caches = calloc(1, sizeof(*t->caches)))) ||
	    (c->opt.caches && caches_init(t->caches, &c->arch->params, c->opt.cache_bytes) < 0) ||
	    !(t->code_caches = calloc(1, sizeof(*t->code_caches))) ||
	    code_caches_init(t->code_caches, &c->arch->params, t->caches) < 0) {
		close_thread(t);
		free(t);
		return -TACT_E_NOMEM;
	}
	tact_stream_on_retire(t->stream, engine_retired, t);
	c->threads[c->n_threads++] = t;
	engine_watch(t);
	*out = t;
	return 0;
}

/* Finds the thread of an event, or creates it; tries the last one first. */
static int find_thread(struct tact_cycles *c, uint32_t id, struct engine_thread **out)
{
	if (c->last && c->last->id == id && !c->last->is_over) {
		*out = c->last;
		return 0;
	}
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

/* ---- blocks ---- */

static int load_block(struct tact_cycles *c, const struct tact_trace_block *b, enum tact_mode mode)
{
	const struct tact_block_options opt = {
		.size = sizeof(opt), .mode = mode, .alignment = (unsigned)(b->address % 64)};
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

/* Returns the cycles of an instruction of a block that the pipelines hold. */
static double spent_by(const struct tact_cycles *c, const struct engine_code *code, uint32_t i)
{
	struct tact_sim_insn insn = TACT_SIM_INSN_INIT;
	uint64_t executions;

	return tact_stream_get_insn(c->stream, code->number, i, &insn, &executions) < 0
		       ? 0
		       : insn.spent;
}

/* Looks at the block's instructions: needed before it goes through a pipeline, and for its branch.
 */
int engine_look_at(struct tact_cycles *c, struct engine_code *code)
{
	const struct tact_trace_block *b = code->block;
	int status = block_look_at(c->block, b->code, b->code_size);
	struct tact_insn insn;
	int64_t target;
	size_t n;

	c->loaded = NULL;
	if (status == -TACT_E_NOMEM)
		return status;
	code->is_looked_at = true;
	code->unknown = b->n_insns;
	if (status < 0)
		return 0; /* not instructions that we know */
	n = tact_block_length(c->block);
	code->unknown = (uint32_t)(n - c->block->counts.known);
	if (!tact_block_insn(c->block, n - 1, &insn)) {
		code->branch.flow = (enum tact_flow)insn.flow;
		code->branch.is_direct = isa_flow_target(&insn, &target);
	}
	for (size_t i = 0; i < n && i < 64; i++)
		if (!tact_block_insn(c->block, i, &insn) &&
		    insn.attributes & TACT_INSN_NON_TEMPORAL)
			code->non_temporal |= (uint64_t)1 << i;
	code->is_known = n == b->n_insns;
	return 0;
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
		past->spent[i] += (float)spent_by(c, code, i);
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
		status = load_block(c, code->block, TACT_MODE_UNROLL);
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

static int find_code(struct tact_cycles *c, const struct tact_trace_block *b)
{
	struct engine_code *code;
	size_t n = c->n_codes;

	if (b->number >= n) {
		if (tact_grow(&c->codes, &c->code_capacity, b->number + 1, sizeof(*c->codes)) < 0)
			return -TACT_E_NOMEM;
		memset(c->codes + n, 0, (b->number + 1 - n) * sizeof(*c->codes));
		c->n_codes = b->number + 1;
	}
	code = &c->codes[b->number];
	if (code->block)
		return 0;
	*code = (struct engine_code){.block = b,
				     .repeat = repeat_at_end(b),
				     .calls_kernel = calls_kernel(c->arch->isa, b),
				     .branch = {.site = b->number,
						.address = b->address + b->last_offset,
						.next = b->address + b->code_size}};
	return c->opt.branches || c->opt.caches ? engine_look_at(c, code) : 0;
}

/* ---- events ---- */

static int execute(struct tact_cycles *c, const struct tact_trace_event *event)
{
	struct engine_thread *t;

	if ((event->n_accesses >= c->access_capacity &&
	     (tact_grow(&c->accesses, &c->access_capacity, event->n_accesses + 1,
			sizeof(*c->accesses)) < 0 ||
	      tact_grow(&c->trips, &c->trip_capacity, c->access_capacity, sizeof(*c->trips)) <
		      0)) ||
	    find_code(c, event->block) < 0 || find_thread(c, event->thread, &t) < 0)
		return -TACT_E_NOMEM;
	return engine_execute(t, event->block->number, event);
}

int tact_cycles_event(struct tact_cycles *c, const struct tact_trace_event *event,
		      struct tact_diag *diag)
{
	struct tact_trace_event whole;
	struct engine_thread *t;
	int status = 0;

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
	if (event->kind == TACT_TRACE_EXEC) {
		status = execute(c, event);
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

/* What was learned is dropped: the results need the memory. */
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
	memo_fini(&c->memo);
	if (memo_init(&c->memo) < 0)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	engine_windows_weigh(c, NULL);
	return 0;
}

/* ---- results ---- */

/* Scales stalls to the cycles of all executions, not to their number: those that the pipelines saw
 * may have been slower or faster than the others.
 */
static void scale_stalls(struct tact_cycles_block *out, const struct engine_past *past,
			 const struct tact_stream_block *now)
{
	double spent = (double)past->cycles + (double)now->cycles, sum = 0, scale;

	for (unsigned s = 0; s < TACT_N_STALLS; s++) {
		out->stalls[s] = (double)past->stalls[s] + (double)now->stalls[s];
		sum += out->stalls[s];
	}
	/* Some stalls may be of executions that have not retired. */
	spent = spent > sum ? spent : sum;
	scale = spent > 0 ? out->cycles / spent : 0;
	for (unsigned s = 0; s < TACT_N_STALLS; s++)
		out->stalls[s] *= scale;
}

/* Scales what the pipelines saw of a block to all its executions. */
bool engine_fill_block(const struct tact_cycles *c, const struct engine_code *code,
		       struct tact_cycles_block *out)
{
	static const struct engine_past none;
	const struct engine_past *past = code->past ? code->past : &none;
	struct tact_stream_block now = TACT_STREAM_BLOCK_INIT;
	uint64_t seen = past->seen;
	double share;

	*out = (struct tact_cycles_block){.size = sizeof(*out),
					  .block = code->block,
					  .executions = code->executions,
					  .cycles = code->cycles,
					  .unknown = code->unknown};
	if (code->is_added)
		tact_stream_get_block(c->stream, code->number, &now);
	seen += now.executions;
	if (!seen)
		return false;
	share = (double)code->executions / (double)seen;
	for (unsigned p = 0; p < TACT_MAX_PORTS; p++)
		out->uops[p] = share * ((double)past->uops[p] + (double)now.uops[p]);
	scale_stalls(out, past, &now);
	return true;
}

/* Adds up uops and stalls of all blocks.  Blocks that the pipelines never saw are assumed to be
 * like the others: they get the same number of each per cycle.
 */
static void add_blocks(const struct tact_cycles *c, struct tact_cycles_totals *out)
{
	double all = 0, seen = 0, scale;

	for (size_t i = 0; i < c->n_codes; i++) {
		struct tact_cycles_block b;

		if (!c->codes[i].executions)
			continue;
		all += c->codes[i].cycles;
		if (engine_fill_block(c, &c->codes[i], &b))
			seen += c->codes[i].cycles;
		out->executions += b.executions;
		out->unknown += b.executions * b.unknown;
		if (c->codes[i].calls_kernel)
			out->system_calls += b.executions;
		for (unsigned p = 0; p < TACT_MAX_PORTS; p++)
			out->uops[p] += b.uops[p];
		for (unsigned s = 0; s < TACT_N_STALLS; s++)
			out->stalls[s] += b.stalls[s];
	}
	scale = seen > 0 ? all / seen : 1;
	for (unsigned p = 0; p < TACT_MAX_PORTS; p++)
		out->uops[p] *= scale;
	for (unsigned s = 0; s < TACT_N_STALLS; s++)
		out->stalls[s] *= scale;
}

static uint64_t scaled(uint64_t n, double scale)
{
	return (uint64_t)((double)n * scale);
}

/* Scales what was counted in the windows of a program that runs natively. */
static void scale_windows(const struct tact_cycles *c, struct tact_cycles_totals *out)
{
	const double scale = c->windowed.scale;

	out->error = c->windowed.error;
	out->accesses = scaled(out->accesses, scale);
	out->branches = scaled(out->branches, scale);
	out->mispredicted = scaled(out->mispredicted, scale);
	for (unsigned i = 0; i < CACHE_LEVELS; i++)
		out->misses[i] = scaled(out->misses[i], scale);
	out->windows = (uint32_t)c->windowed.n;
	out->is_measured = c->windowed.is_measured;
	out->user_seconds = c->windowed.user_ns / 1e9;
	out->hertz = c->windowed.hertz;
}

static void add_up(const struct tact_cycles *c, struct tact_cycles_totals *out)
{
	*out = (struct tact_cycles_totals){.size = sizeof(*out),
					   .n_threads = (uint32_t)c->n_threads,
					   .simulated = c->simulated,
					   .accesses = c->accesses_seen,
					   .branches = c->branches,
					   .mispredicted = c->mistakes};
	memcpy(out->misses, c->misses, sizeof(out->misses));
	for (size_t i = 0; i < c->n_threads; i++) {
		const struct engine_thread *t = c->threads[i];

		out->cycles += t->cycles;
		out->instructions += t->instructions;
		if (t->predictor) {
			out->branches += t->predictor->branches;
			out->mispredicted += t->predictor->mistakes;
		}
		for (unsigned k = 0; k < CACHE_LEVELS && t->caches; k++)
			out->misses[k] += t->caches->misses[k];
	}
	/* Windows are samples: the errors of the memo in them add up to zero except for chance. */
	if (c->windows > 0)
		out->error = sqrt(c->squares_off) / c->windows * c->recalled;
	if (c->windowed.is_on)
		scale_windows(c, out);
	add_blocks(c, out);
}

int tact_cycles_get_totals(const struct tact_cycles *c, struct tact_cycles_totals *out)
{
	struct tact_cycles_totals totals;

	if (!c || !tact_can_fill(out))
		return -TACT_E_INVAL;
	add_up(c, &totals);
	return tact_fill(out, &totals, sizeof(totals));
}

bool engine_count_thread(const struct tact_cycles *c, uint32_t id, struct engine_counts *out)
{
	const struct engine_thread *t = c->last;

	if (!t || t->id != id || t->is_over)
		return false; /* only asked for the thread of the last event */
	*out = (struct engine_counts){.cycles = t->cycles, .instructions = t->instructions};
	for (unsigned k = 0; k < CACHE_LEVELS && t->caches; k++)
		out->misses[k] = t->caches->misses[k];
	if (t->predictor)
		out->mispredicted = t->predictor->mistakes;
	return true;
}

int tact_cycles_get_thread(const struct tact_cycles *c, uint32_t thread, double *cycles,
			   uint64_t *instructions)
{
	bool found = false;
	double sum = 0;
	uint64_t n = 0;

	for (size_t i = 0; c && i < c->n_threads; i++)
		if (c->threads[i]->id == thread) {
			sum += c->threads[i]->cycles;
			n += c->threads[i]->instructions;
			found = true;
		}
	if (!found)
		return -TACT_E_INVAL;
	if (cycles)
		*cycles = sum;
	if (instructions)
		*instructions = n;
	return 0;
}

/* Spreads the uops of a block that the pipelines never saw evenly over their ports. */
static void spread_uops(const struct tact_block *block, double executions, double *uops)
{
	for (size_t i = 0; i < block->n_insns; i++)
		for (const struct arch_port_use *u = block->insns[i].lowered->ports; u->count; u++)
			for (unsigned p = 0; p < TACT_MAX_PORTS; p++)
				if (u->mask >> p & 1)
					uops[p] +=
						executions * u->count / __builtin_popcount(u->mask);
}

/* Finds the bounds of FACILE that the executions kept to.  A bound that they beat does not apply to
 * this run: a chain from one iteration to the next does not limit a block that is not a loop.
 * Among the others, the largest one limits if it is close to the cycles of an execution, or if the
 * pipeline hardly stalled, so that nothing else held it up.
 */
uint32_t engine_limits(const struct tact_prediction *p, double each, double stalled)
{
	double largest = 0;
	uint32_t bits = 0;

	for (unsigned i = 0; i < TACT_N_BOUNDS; i++)
		if (p->applies >> i & 1 && p->bound[i] <= (1 + ABOUT) * each &&
		    p->bound[i] > largest)
			largest = p->bound[i];
	if (!(largest > 0))
		return 0;
	if (largest < (1 - ABOUT) * each && (stalled < 0 || stalled >= HARDLY * each))
		return 0;
	for (unsigned i = 0; i < TACT_N_BOUNDS; i++)
		if (p->applies >> i & 1 && p->bound[i] == largest)
			bits |= 1u << i;
	return bits;
}

static uint32_t limits_of(const struct tact_prediction *p, const struct tact_cycles_block *b,
			  bool was_seen)
{
	double stalled = 0;

	for (unsigned i = 0; i < TACT_N_STALLS; i++)
		stalled += b->stalls[i];
	return engine_limits(p, b->cycles / (double)b->executions,
			     was_seen ? stalled / (double)b->executions : -1);
}

int tact_cycles_get_insns(const struct tact_cycles *c, uint32_t number, double *out)
{
	const struct engine_code *code;
	double sum = 0;
	uint32_t n;

	if (!c || !out || number >= c->n_codes || !c->codes[number].executions)
		return -TACT_E_INVAL;
	code = &c->codes[number];
	n = code->block->n_insns;
	for (uint32_t i = 0; i < n; i++) {
		out[i] = c->opt.insns && code->is_added ? spent_by(c, code, i) : 0;
		if (c->opt.insns && code->past)
			out[i] += (double)code->past->spent[i];
		sum += out[i];
	}
	for (uint32_t i = 0; i < n; i++)
		out[i] = sum > 0 ? out[i] * code->cycles / sum : code->cycles / n;
	return 0;
}

int tact_cycles_get_block(const struct tact_cycles *c, uint32_t number,
			  struct tact_cycles_block *out)
{
	struct tact_estimate x = {.size = sizeof(x)};
	struct tact_cycles_block b;
	bool was_seen;
	int status;

	if (!c || !tact_can_fill(out) || number >= c->n_codes || !c->codes[number].executions)
		return -TACT_E_INVAL;
	was_seen = engine_fill_block(c, &c->codes[number], &b);
	if (!c->codes[number].is_known && c->codes[number].is_looked_at)
		return tact_fill(out, &b, sizeof(b));
	/* As a loop: code that runs often comes from the DSB, not from the decoders. */
	status = load_block((struct tact_cycles *)c, c->codes[number].block, TACT_MODE_LOOP);
	if (status >= 0)
		status = tact_model_estimate(c->bounds, c->block, &x);
	if (status == -TACT_E_NOMEM)
		return status;
	if (status >= 0) {
		b.bound = x.cycles_per_iteration;
		b.bottlenecks = x.bottlenecks;
		if (!was_seen)
			spread_uops(c->block, (double)b.executions, b.uops);
		b.limits = limits_of(x.bounds, &b, was_seen);
	}
	return tact_fill(out, &b, sizeof(b));
}
