/* SPDX-License-Identifier: MIT
 *
 * See front.h.
 */
#include "trace/front_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "block/block.h"

enum {
	MOST_REPEAT = 1 << 28, /* cycles of a repeated instruction that a stream takes */
	LEARNED = 16	       /* executions after which the predictor may be blamed for a branch */
};

static const double PACE_KEPT = 0.9; /* of what batches took, when another one is known */

int front_create(struct front **out, const struct tact_arch *arch,
		 const struct tact_cycles_options *opt, struct tact_diag *diag)
{
	const struct tact_block_options unrolled = {.size = sizeof(unrolled),
						    .mode = TACT_MODE_UNROLL};
	struct front *f = calloc(1, sizeof(*f));
	int status;

	*out = NULL;
	if (!f)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	f->arch = arch;
	f->opt = *opt;
	skim_init(&f->skim, opt->branches && opt->caches && !opt->exact && !opt->thorough);
	status = tact_block_create(&f->block, arch, &unrolled, diag);
	return HAND_OVER(out, f, status, front_destroy);
}

/* ---- threads ---- */

static void destroy_thread(struct front_thread *t)
{
	if (t->predictor)
		predictor_fini(t->predictor);
	if (t->caches)
		caches_fini(t->caches);
	if (t->code_caches)
		code_caches_fini(t->code_caches);
	FREE_ALL(t->predictor, t->caches, t->code_caches, t);
}

void front_destroy(struct front *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->n_threads; i++)
		destroy_thread(f->threads[i]);
	for (size_t i = 0; i < f->n_chunks; i++)
		tact_table_destroy(f->chunks[i], FRONT_CHUNK, sizeof(**f->chunks));
	tact_block_destroy(f->block);
	faults_fini(&f->faults);
	reuse_fini(&f->reuse);
	FREE_ALL(f->threads, f->chunks, f);
}

static struct front_thread *add_thread(struct front *f, uint32_t id)
{
	struct front_thread *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->id = id;
	if (tact_grow(&f->threads, &f->thread_capacity, f->n_threads + 1, sizeof(*f->threads)) <
		    0 ||
	    (f->opt.branches && !(t->predictor = calloc(1, sizeof(*t->predictor)))) ||
	    (f->opt.branches && predictor_init(t->predictor, &f->arch->params) < 0) ||
	    (f->opt.caches && !(t->caches = calloc(1, sizeof(*t->caches)))) ||
	    (f->opt.caches && caches_init(t->caches, &f->arch->params, f->opt.cache_bytes) < 0) ||
	    !(t->code_caches = calloc(1, sizeof(*t->code_caches))) ||
	    code_caches_init(t->code_caches, &f->arch->params, t->caches) < 0) {
		destroy_thread(t);
		return NULL;
	}
	f->threads[f->n_threads++] = t;
	return t;
}

static struct front_thread *search_thread(struct front *f, uint32_t id)
{
	for (size_t i = 0; i < f->n_threads; i++)
		if (f->threads[i]->id == id)
			return f->last = f->threads[i];
	return f->last = add_thread(f, id);
}

/* Finds the thread of an event, or creates it.  NULL: out of memory. */
static inline struct front_thread *find_thread(struct front *f, uint32_t id)
{
	return f->last && f->last->id == id ? f->last : search_thread(f, id);
}

static void end_thread(struct front *f, uint32_t id)
{
	for (size_t i = 0; i < f->n_threads; i++) {
		if (f->threads[i]->id != id)
			continue;
		destroy_thread(f->threads[i]);
		f->threads[i] = f->threads[--f->n_threads];
		f->last = NULL;
		return;
	}
}

/* ---- blocks ---- */

static void look_at_insn(const struct front *f, const struct tact_insn *insn, size_t i,
			 struct front_code *code)
{
	const uint64_t bit = i < 64 ? (uint64_t)1 << i : 0;
	const unsigned level = isa_prefetch_level(f->arch->isa, insn);

	code->passing |= insn->attributes & TACT_INSN_NON_TEMPORAL || level > 1 ? bit : 0;
	code->prefetches += level > 0;
}

/* Looks at the instructions of a block. */
static int look_at(struct front *f, const struct tact_trace_block *b, struct front_code *code)
{
	const int status = block_look_at(f->block, b->code, b->code_size);
	struct tact_insn insn;
	int64_t target;
	size_t n;

	if (status == -TACT_E_NOMEM)
		return status;
	*code = (struct front_code){
		.is_seen = true,
		.repeat = repeat_at_end(b),
		.unknown = (uint16_t)b->n_insns,
		.branch = {.site = b->number,
			   .address = b->address + b->last_offset,
			   .length = (uint16_t)(b->code_size - b->last_offset)}};
	if (status < 0)
		return 0; /* not instructions that we know */
	n = tact_block_length(f->block);
	code->unknown = (uint16_t)(n - f->block->counts.known);
	if (!tact_block_insn(f->block, n - 1, &insn)) {
		code->branch.flow = insn.flow;
		code->branch.is_direct = isa_flow_target(&insn, &target);
	}
	for (size_t i = 0; i < n; i++)
		if (!tact_block_insn(f->block, i, &insn))
			look_at_insn(f, &insn, i, code);
	code->is_plain =
		code->branch.flow != TACT_FLOW_CALL && code->branch.flow != TACT_FLOW_RETURN;
	code->is_branch = predictor_takes(&code->branch);
	code->is_known = n == b->n_insns;
	code->is_usual = !code->passing && code->repeat.kind == REPEAT_NONE;
	return 0;
}

struct front_code *front_add_code(struct front *f, const struct tact_trace_block *b)
{
	const size_t chunk = b->number / FRONT_CHUNK;
	struct front_code *code;

	if (chunk >= f->n_chunks) {
		if (tact_grow(&f->chunks, &f->chunk_capacity, chunk + 1, sizeof(*f->chunks)) < 0)
			return NULL;
		memset(f->chunks + f->n_chunks, 0, (chunk + 1 - f->n_chunks) * sizeof(*f->chunks));
		f->n_chunks = chunk + 1;
	}
	if (!f->chunks[chunk])
		f->chunks[chunk] = tact_table_create(FRONT_CHUNK, sizeof(**f->chunks));
	if (!f->chunks[chunk])
		return NULL;
	code = &f->chunks[chunk][b->number % FRONT_CHUNK];
	return code->is_seen || look_at(f, b, code) >= 0 ? code : NULL;
}

/* ---- branches and code ---- */

/* A branch that windows have hardly executed is new to our predictor, not to the CPU's; and a return
 * from a function that was entered before the window finds its target on the CPU's stack.
 */
static bool can_be_blamed(const struct front *f, const struct front_thread *t)
{
	return !f->is_windowed || (t->last->executions >= LEARNED && !t->is_lost);
}

/* Asks the predictor about the branch that led here. */
static int ask_predictor(const struct front *f, struct front_thread *t, uint64_t address,
			 struct front_outcome *out)
{
	struct predictor *p = t->predictor;
	const uint64_t branches = p->branches, mistakes = p->mistakes;
	struct predictor_outcome branch;
	int status;

	p->is_warm = f->is_windowed;
	status = predictor_follow(p, &t->last->branch, address, &branch);
	out->is_mispredicted = branch.is_mispredicted && can_be_blamed(f, t);
	out->is_redirected = branch.is_unknown;
	out->fetch_delay = branch.delay;
	out->is_branch = p->branches != branches;
	out->is_mistake = f->is_windowed ? out->is_mispredicted : p->mistakes != mistakes;
	return status;
}

/* Asks where the code comes from.  Returns what is special about it. */
static uint64_t fetch_code(struct front *f, struct front_thread *t, struct front_code *code,
			   const struct tact_trace_event *event, struct front_outcome *out)
{
	const struct tact_trace_block *b = event->block;
	struct code_fetch fetch;

	if (f->opt.warm || code_caches_hold(t->code_caches, &code->place))
		return 0;
	code_caches_execute(t->code_caches,
			    &(struct code_piece){b->address, b->code_size, b->n_insns},
			    !code->executions, &code->place, &fetch);
	if (fetch.is_walked && !f->is_windowed && !f->opt.partial &&
	    faults_touch(&f->faults, event->pid, b->address, false))
		front_enter_kernel(f, t, FRONT_FAULT);
	out->is_decoded = fetch.is_decoded;
	/* A program is found at a random moment, in code that has run before: what the windows have
	 * not seen yet is in the second level, not in memory.
	 */
	if (f->is_windowed) {
		out->code_lines = (fetch.lines | fetch.lines >> 1) & 0x5555555555555555u;
	} else {
		out->code_lines = fetch.lines;
		out->fetch_delay = (uint16_t)(out->fetch_delay + fetch.delay);
	}
	return fetch.is_decoded ? front_mix(fetch.lines + 1, fetch.delay) : 0;
}

/* ---- data ---- */

/* A fresh page comes out of the second-level cache, where the kernel has written it; the kernel has
 * read a file not long ago.
 */
void front_fault(struct front *f, struct front_thread *t, uint32_t process,
		 const struct tact_trace_access *a, struct tact_stream_trip *trip)
{
	const enum fault kind = faults_touch(&f->faults, process, a->address, a->is_store);
	const unsigned level = kind == FAULT_FRESH ? 1 : 2;

	if (kind == FAULT_NONE || f->opt.partial)
		return;
	if (kind == FAULT_FRESH)
		caches_fill_page(t->caches, a->address);
	if (trip->level > level && trip->level <= CACHE_LEVELS)
		trip->level = (uint8_t)level;
	front_enter_kernel(f, t, FRONT_FAULT);
}

/* A prefetch of a page that the program does not have is dropped after a walk through its page tables. */
void front_prefetch(const struct front *f, struct front_thread *t, const struct front_code *code,
		    uint32_t process, const struct tact_trace_access *a,
		    struct tact_stream_trip *trip)
{
	enum { WALKED = 2 };

	if (f->is_windowed || f->opt.partial || faults_has(&f->faults, process, a->address))
		caches_prefetch(t->caches, a->address, a->insn < 64 && code->passing >> a->insn & 1,
				trip);
	else
		*trip = (struct tact_stream_trip){.line = a->address / CACHE_LINE, .page = WALKED};
}

void front_count_prefetches(const struct front_code *code, const struct tact_trace_event *event,
			    struct front_outcome *out)
{
	for (size_t i = 0; i < event->n_accesses; i++)
		out->prefetches += !event->accesses[i].size;
	if (out->prefetches < code->prefetches)
		out->unknown_prefetches = (uint16_t)(code->prefetches - out->prefetches);
}

/* An access in a window; a prefetch is no miss. */
static void pass_window(struct front *f, uint32_t process, const struct tact_trace_access *a,
			struct tact_stream_trip *trip, struct front_outcome *out)
{
	const struct arch_params *p = &f->arch->params;
	const double kib[CACHE_LEVELS] = {p->l1_kib, p->l2_kib, p->l3_kib};
	double distance, lines[CACHE_LEVELS];

	if (trip->level > CACHE_LEVELS)
		return;
	for (unsigned i = 0; i < CACHE_LEVELS; i++)
		lines[i] = (f->opt.cache_bytes[i] ? (double)f->opt.cache_bytes[i] : kib[i] * 1024) /
			   CACHE_LINE;
	if (reuse_access(&f->reuse, a->address / CACHE_LINE, process, &distance))
		reuse_correct(&f->reuse, lines, distance, trip);
	for (unsigned i = 0; i < trip->level && a->size; i++)
		out->counts->misses[i]++;
	for (unsigned i = 0; i < 2 && i < trip->page && a->size; i++)
		out->counts->page_misses[i]++;
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

void front_note_longest(const struct front *f, const struct tact_stream_trip *trip,
			struct front_outcome *out)
{
	const unsigned cycles = cycles_of(&f->arch->params, trip);

	if (cycles <= out->longest)
		return;
	out->longest = cycles;
	out->level = trip->level <= CACHE_LEVELS ? trip->level : 0;
}

/* Sends the accesses through the caches.  Keeps the trips that are not simple. */
static void pass_caches(struct front *f, struct front_thread *t, const struct front_code *code,
			const struct tact_trace_event *event, struct front_outcome *out,
			struct front_trips *trips)
{
	const uint64_t number = (uint64_t)event->block->number << 10, passing = code->passing;
	const uint32_t end =
		code->repeat.kind == REPEAT_NONE ? UINT32_MAX : event->block->n_insns - 1;
	const bool is_usual = code->is_usual && !f->is_windowed;

	for (size_t i = 0; i < event->n_accesses; i++) {
		const struct tact_trace_access *a = &event->accesses[i];
		struct front_trip *x;
		struct tact_stream_trip *trip;

		if (is_usual &&
		    caches_is_simple(t->caches, a->address, a->size, number | a->insn, a->is_store))
			continue;
		x = &trips->list[trips->n];
		trip = &x->trip;
		if (a->insn == end) /* see repeated() */
			continue;
		if (!a->size)
			front_prefetch(f, t, code, event->pid, a, trip);
		else if (passing && a->is_store && a->insn < 64 && passing >> a->insn & 1)
			caches_pass(t->caches, a->address, a->size, trip);
		else if (is_usual)
			caches_search(t->caches, a->address, a->size, number | a->insn, a->is_store,
				      trip);
		else
			caches_access(t->caches, a->address, a->size, number | a->insn, a->is_store,
				      trip);
		if (f->is_windowed)
			pass_window(f, event->pid, a, trip, out);
		else if (trip->page > 1 && a->size)
			front_fault(f, t, event->pid, a, trip);
		if (!(trip->level | trip->page | trip->written | trip->n_fetched))
			continue;
		x->access = (uint32_t)i;
		trips->n++;
		out->n_trips++;
		if (!(trip->level | trip->page | trip->written))
			continue;
		t->special =
			front_mix(t->special, (uint64_t)a->insn << 16 | (unsigned)trip->page << 8 |
						      (unsigned)trip->written << 4 | trip->level);
		if (!a->is_store && a->size)
			front_note_longest(f, trip, out);
	}
}

/* Sends the data of a repeated instruction through the caches.  Returns the cycles that their lines
 * take to and from the first level.
 */
static double pass_lines(const struct front *f, struct front_thread *t,
			 const struct tact_trace_event *event)
{
	const struct arch_params *p = &f->arch->params;
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
static uint32_t repeated(const struct front *f, struct front_thread *t,
			 const struct front_code *code, const struct tact_trace_event *event)
{
	double cycles = repeat_cycles(&f->arch->params, code->repeat, event,
				      t->caches ? pass_lines(f, t, event) : 0);

	return cycles < MOST_REPEAT ? (uint32_t)(cycles + 0.5) : MOST_REPEAT;
}

/* ---- events ---- */

/* Follows calls in a window. */
static void follow_window(struct front_thread *t, const struct front_code *code)
{
	t->is_lost = code->branch.flow == TACT_FLOW_RETURN && !t->depth;
	if (code->branch.flow == TACT_FLOW_CALL)
		t->depth++;
	else if (code->branch.flow == TACT_FLOW_RETURN && t->depth)
		t->depth--;
}

void front_count_misses(struct front *f, struct front_thread *t, struct front_outcome *out)
{
	const struct caches *c = t->caches;

	out->has_counts = true;
	*out->counts =
		(struct front_counts){.page_faults = (uint32_t)(f->faults.count - f->n_faults)};
	f->n_faults = f->faults.count;
	for (unsigned i = 0; i < CACHE_LEVELS; i++) {
		out->counts->misses[i] = (uint32_t)(c->misses[i] - t->counted.misses[i]);
		t->counted.misses[i] = c->misses[i];
	}
	for (unsigned i = 0; i < 2; i++) {
		out->counts->page_misses[i] =
			(uint32_t)(c->page_misses[i] - t->counted.page_misses[i]);
		t->counted.page_misses[i] = c->page_misses[i];
	}
}

/* Follows branches and code. */
static int follow(struct front *f, struct front_thread *t, struct front_code *code,
		  const struct tact_trace_event *event, struct front_outcome *out)
{
	unsigned branch_delay;
	int status = 0;

	if (t->predictor && t->last)
		status = ask_predictor(f, t, event->block->address, out);
	branch_delay = out->fetch_delay;
	if (t->predictor)
		predictor_prepare(t->predictor, &code->branch);
	if (t->last && t->last->branch.flow == TACT_FLOW_KERNEL && !f->has_calls)
		front_enter_kernel(f, t, FRONT_USUAL);
	t->special ^= fetch_code(f, t, code, event, out);
	if (branch_delay)
		t->special = front_mix(t->special, branch_delay);
	if (f->is_windowed)
		follow_window(t, code);
	if (out->is_decoded)
		skim_miss(&f->skim);
	return status;
}

/* ---- looking ---- */

/* Notes about what an execution costs: it is enough to see whether looks differ. */
static void note_cost(struct front *f, struct front_code *code, uint32_t n_insns,
		      const struct front_outcome *out)
{
	enum { MOST = 4096 }; /* executions of a mean */
	const uint32_t n = code->executions < MOST ? code->executions + 1 : MOST;
	const unsigned penalty =
		out->is_mispredicted ? (unsigned)f->arch->params.branch_penalty : 0;
	const float cost =
		0.25f * (float)n_insns + (float)(out->longest + out->fetch_delay + penalty);

	skim_cost(&f->skim, (double)cost, n > 1 ? (double)code->usual : (double)cost);
	code->usual += (cost - code->usual) / (float)n;
}

/* Hashes the context of an execution: the last block, this one, and what is special about it. */
static uint64_t make_key(struct front_thread *t, uint32_t code, const struct front_outcome *out)
{
	const uint64_t special = t->special << 1 | out->is_mispredicted;
	const uint64_t self = front_mix(0x9e3779b97f4a7c15u, (uint64_t)code << 32 ^ special);
	const uint64_t key = front_mix(t->context, self);

	t->context = self * 0x9e3779b97f4a7c15u;
	return key;
}

/* Looks at a block, or warms up for it. */
static int look(struct front *f, struct front_thread *t, struct front_code *code,
		const struct tact_trace_event *event, struct front_outcome *out,
		struct front_trips *trips)
{
	int status;

	*out = (struct front_outcome){.code = code,
				      .counts = out->counts,
				      .first_trip = (uint32_t)trips->n,
				      .has_counts = f->is_windowed,
				      .is_skimmed = f->skim.part != SKIM_LOOK,
				      .is_sample = f->skim.is_sample,
				      .is_ending = skim_is_ending(&f->skim)};
	if (f->is_windowed)
		*out->counts = (struct front_counts){.page_faults = 0};
	t->special = 0;
	if (trips->n + event->n_accesses >= trips->capacity &&
	    tact_grow(&trips->list, &trips->capacity, trips->n + event->n_accesses + 1,
		      sizeof(*trips->list)) < 0)
		return -TACT_E_NOMEM;
	if (code->prefetches)
		front_count_prefetches(code, event, out);
	if (t->caches) {
		sharing_execute(&t->caches->sharing, event->block->n_insns);
		if (event->n_accesses)
			pass_caches(f, t, code, event, out, trips);
	}
	status = follow(f, t, code, event, out);
	note_cost(f, code, event->block->n_insns, out);
	if (out->is_skimmed) {
		trips->n = out->first_trip;
		out->n_trips = 0;
	} else {
		out->key = make_key(t, event->block->number, out);
		code->looked = (uint8_t)(code->looked + (code->looked < SKIM_KNOWN));
	}
	if (code->repeat.kind)
		out->repeat_cycles = repeated(f, t, code, event);
	out->outside_cycles = front_take_outside_cycles(t);
	front_count(f, t, out);
	code->executions += code->executions < UINT32_MAX;
	t->last = code;
	return f->faults.has_failed ? -TACT_E_NOMEM : status;
}

static int execute(struct front *f, const struct tact_trace_event *event, struct front_outcome *out,
		   struct front_trips *trips)
{
	struct front_thread *t = find_thread(f, event->thread);
	struct front_code *code = front_find_code(f, event->block);
	enum skim_part part;

	if (!t || !code)
		return -TACT_E_NOMEM;
	part = skim_execute(&f->skim, event->block->n_insns, code->looked < SKIM_KNOWN);
	return part == SKIM_PASS && code->is_usual ? front_pass_event(f, t, code, event, out)
						   : look(f, t, code, event, out, trips);
}

/* Where a window comes from is not known. */
static int begin_window(struct front *f, const struct tact_trace_event *event)
{
	struct front_thread *t = find_thread(f, event->thread);

	if (!t)
		return -TACT_E_NOMEM;
	if (!f->is_windowed)
		skim_init(&f->skim, false); /* windows are samples already */
	f->is_windowed = true;
	t->last = NULL;
	t->depth = 0;
	return t->caches ? reuse_begin(&f->reuse) : 0;
}

int front_take(struct front *f, const struct tact_trace_event *event, struct front_outcome *out,
	       struct front_trips *trips)
{
	if (event->kind == TACT_TRACE_EXEC)
		return execute(f, event, out, trips);
	out->first_trip = 0;
	out->is_skimmed = false;
	if (event->kind == TACT_TRACE_WINDOW && event->window == TACT_TRACE_WARMING)
		return begin_window(f, event);
	if (event->kind == TACT_TRACE_CALL || event->kind == TACT_TRACE_CALLEE) {
		struct front_thread *t = find_thread(f, event->thread);

		if (!t)
			return -TACT_E_NOMEM;
		if (event->kind == TACT_TRACE_CALL)
			front_call_kernel(f, t, event->count);
		else
			t->outside_cycles += (uint32_t)event->count;
	}
	if (event->kind == TACT_TRACE_END)
		end_thread(f, event->thread);
	return 0;
}

double front_guess(const struct front *f)
{
	double guessed = 0;

	for (size_t i = 0; i < f->n_threads; i++)
		if (f->threads[i]->caches)
			guessed += (double)sharing_guess(&f->threads[i]->caches->sharing);
	return guessed;
}

void front_begin_batch(struct front *f, const struct front_pace *past)
{
	double pace = 1;

	if (past->cycles > 0) {
		f->pace.guessed = f->pace.guessed * PACE_KEPT + past->guessed;
		f->pace.cycles = f->pace.cycles * PACE_KEPT + past->cycles;
	}
	if (f->pace.guessed > 0)
		pace = 2 * f->pace.cycles / f->pace.guessed;
	for (size_t i = 0; i < f->n_threads; i++)
		if (f->threads[i]->caches)
			sharing_set_pace(&f->threads[i]->caches->sharing, pace);
}

void front_expect(const struct front *f, uint32_t number)
{
	const size_t chunk = number / FRONT_CHUNK;

	if (chunk < f->n_chunks && f->chunks[chunk])
		tact_fetch(&f->chunks[chunk][number % FRONT_CHUNK]);
	if (f->last && f->last->predictor)
		predictor_expect(f->last->predictor, number);
}
