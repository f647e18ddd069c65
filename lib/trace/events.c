/* SPDX-License-Identifier: MIT
 *
 * Turns words into events.  The words come from a program or a file that may be hostile: every
 * number is checked before it is used.
 *
 * Differences between QEMU and a CPU are corrected here: vector accesses come in pieces of 8 bytes,
 * and a repeated string instruction comes as many executions.
 */
#include <stdlib.h>
#include <string.h>

#include "isa/isa.h"
#include "trace/events.h"

int trace_events_create(struct trace_events **out, enum wire_mode mode)
{
	struct trace_events *e = calloc(1, sizeof(*e));

	if (!e)
		return -TACT_E_NOMEM;
	e->mode = mode;
	pthread_mutex_init(&e->lock, NULL);
	*out = e;
	return 0;
}

static void destroy_stream(struct trace_stream *s)
{
	for (size_t i = 0; i < s->n_pages; i++)
		free(s->pages[i]);
	FREE_ALL(s->pages, s->modules, s->accesses, s->partial, s);
}

void trace_events_destroy(struct trace_events *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < e->n_streams; i++)
		destroy_stream(e->streams[i]);
	tact_arena_reset(&e->memory);
	for (size_t i = 0; i < e->n_modules; i++)
		FREE_ALL(e->modules[i]->path, e->modules[i]);
	pthread_mutex_destroy(&e->lock);
	free(e->streams);
	hash_free(&e->block_of);
	FREE_ALL(e->blocks, e->modules, e->joined, e);
}

void trace_events_finish(struct trace_events *e)
{
	hash_free(&e->block_of);
}

/* ---- accesses ---- */

/* Returns whether an access continues where another one of the same instruction ended. */
static bool is_behind(const struct tact_trace_access *last, const struct tact_trace_access *a)
{
	return last->insn == a->insn && last->is_store == a->is_store &&
	       a->address == last->address + last->size;
}

/* Returns whether an access of a repeated instruction belongs to one of its runs, which then grows.
 * A run goes up or down.
 */
static bool is_of_run(struct trace_stream *s, const struct tact_trace_access *a)
{
	for (unsigned i = 0; i < TRACE_RUNS; i++) {
		struct tact_trace_access *last = s->run[i] ? &s->accesses[s->run[i] - 1] : NULL;

		if (!last || last->size >= 1u << 30)
			continue;
		if (is_behind(last, a)) {
			last->size += a->size;
			return true;
		}
		if (is_behind(a, last)) {
			last->address = a->address;
			last->size += a->size;
			s->is_descending = true;
			return true;
		}
	}
	return false;
}

/* Returns whether an access of the block that is executed belongs to the repeated instruction at its
 * end.
 */
static bool is_repeated(const struct trace_stream *s, const struct tact_trace_access *a)
{
	return s->is_repeating ||
	       (s->current->block.is_rep && a->insn + 1u == s->current->block.n_insns);
}

/* Joins a piece to the access before it, if it belongs there.  Returns 1, 0, or < 0. */
static int is_of_vector(struct trace_events *e, struct trace_stream *s,
			const struct tact_trace_access *a)
{
	struct tact_trace_access *last = &s->accesses[s->n_accesses - 1];
	const uint8_t *widths;

	if (!is_behind(last, a))
		return 0;
	widths = trace_find_widths(e, s->current);
	if (!widths)
		return -TACT_E_NOMEM;
	if (last->size >= widths[a->insn])
		return 0;
	last->size += a->size;
	return 1;
}

static int keep(struct trace_stream *s, const struct tact_trace_access *a)
{
	if (s->n_accesses == s->accesses_capacity &&
	    tact_grow(&s->accesses, &s->accesses_capacity, s->n_accesses + 1, sizeof(*s->accesses)))
		return -TACT_E_NOMEM;
	s->accesses[s->n_accesses++] = *a;
	return 0;
}

/* Adds a prefetch, unless its address may be wrong. */
static int add_prefetch(struct trace_events *e, struct trace_stream *s, uint64_t word,
			struct tact_diag *diag)
{
	const uint32_t insn = word >> WIRE_INSN_SHIFT & (WIRE_PREFETCH_INSNS - 1);
	const struct tact_trace_access a = {.address = word & WIRE_ADDRESS, .insn = (uint16_t)insn};
	const size_t n = s->n_accesses;
	const uint8_t *widths;

	if (insn >= s->current->block.n_insns || s->is_repeating ||
	    (n && insn < s->accesses[n - 1].insn) || n >= MAX_ACCESSES)
		return 0;
	widths = trace_find_widths(e, s->current);
	if (!widths)
		return trace_no_memory(diag);
	if (!(widths[insn] & TRACE_PREFETCH) ||
	    (widths[insn] == TRACE_PREFETCH_LAGS && word & WIRE_PREFETCH_LAGS))
		return 0;
	return keep(s, &a) ? trace_no_memory(diag) : 0;
}

/* Adds an access that is not as usual: of a repeated instruction, a piece of a vector, or one for which
 * there is no room.
 */
static int add_unusual(struct trace_events *e, struct trace_stream *s,
		       const struct tact_trace_access *a, struct tact_diag *diag)
{
	const bool is_of_rep = is_repeated(s, a);

	if (is_of_rep) {
		s->has_repeated = true;
		s->n_repeated[a->is_store]++;
		if (is_of_run(s, a))
			return 0;
	} else if (a->size == PIECE && s->n_accesses) {
		const int joined = is_of_vector(e, s, a);

		if (joined)
			return joined < 0 ? trace_no_memory(diag) : 0;
	}
	if (s->n_accesses >= MAX_ACCESSES)
		return 0;
	if (keep(s, a))
		return trace_no_memory(diag);
	if (is_of_rep) {
		s->run[s->next_run] = s->n_accesses;
		s->next_run = (s->next_run + 1) % TRACE_RUNS;
	}
	return 0;
}

static int add_access(struct trace_events *e, struct trace_stream *s, uint64_t word,
		      struct tact_diag *diag)
{
	const uint32_t insn = word >> WIRE_INSN_SHIFT & WIRE_INSN_MASK;
	const size_t n = s->n_accesses;
	const struct tact_trace_access *last = n ? &s->accesses[n - 1] : NULL;
	const struct tact_trace_access a = {
		.address = word & WIRE_ADDRESS,
		.insn = (uint16_t)(s->insn_base + insn),
		.is_store = (word & WIRE_STORE) != 0,
		.size = 1u << (word >> WIRE_SIZE_SHIFT & 7),
	};

	/* When QEMU delivers a signal, it stores the registers through the same functions as the
	 * program, and the plugin hears about it with the number of an old instruction (7.2).
	 * Accesses that no instruction of the block can have made are left out.
	 */
	if (insn >= s->current->block.n_insns || (n && a.insn < last->insn))
		return word & WIRE_PREFETCH ? add_prefetch(e, s, word, diag) : 0;
	if (s->is_repeating | s->current->block.is_rep | (n == s->accesses_capacity) ||
	    (n && a.insn == last->insn))
		return add_unusual(e, s, &a, diag);
	s->accesses[n] = a;
	s->n_accesses = n + 1;
	return 0;
}

/* Adds accesses as long as each is of a later instruction than the one before it: most are.  Returns
 * how many of the words that is.
 */
static size_t add_usual(struct trace_stream *s, const uint64_t *words, size_t n_words)
{
	const uint32_t n_insns = s->current->block.n_insns;
	const size_t room = s->accesses_capacity - s->n_accesses;
	const size_t most = n_words < room ? n_words : room;
	struct tact_trace_access *to;
	uint32_t next;
	size_t n = 0;

	if (!room || s->is_repeating | s->current->block.is_rep)
		return 0;
	to = s->accesses + s->n_accesses;
	next = s->n_accesses ? to[-1].insn + 1u : 0;
	for (; n < most && !(words[n] & WIRE_LONG); n++) {
		const uint32_t insn = (uint32_t)(words[n] >> WIRE_INSN_SHIFT) & WIRE_INSN_MASK;

		if (insn < next || insn >= n_insns)
			break;
		next = insn + 1;
		to[n] = (struct tact_trace_access){.address = words[n] & WIRE_ADDRESS,
						   .insn = (uint16_t)insn,
						   .is_store = (words[n] & WIRE_STORE) != 0,
						   .size = 1u << (words[n] >> WIRE_SIZE_SHIFT & 7)};
	}
	s->n_accesses += n;
	return n;
}

/* Adds the accesses that come next.  Returns 0 or < 0. */
static int add_accesses(struct trace_events *e, struct trace_stream *s, struct tact_diag *diag)
{
	int status = 0;

	while (!status && e->at < e->n_piece && !(e->piece[e->at] & WIRE_LONG)) {
		const size_t n =
			s->pending ? add_usual(s, e->piece + e->at, e->n_piece - e->at) : 0;

		e->at += n;
		if (!n) {
			status = s->pending ? add_access(e, s, e->piece[e->at], diag) : 0;
			e->at++;
		}
	}
	return status;
}

/* ---- events ---- */

static void fill(const struct trace_stream *s, struct tact_trace_event *event,
		 enum tact_trace_event_kind kind)
{
	*event = (struct tact_trace_event){
		.size = sizeof(*event),
		.kind = kind,
		.thread = s->number,
		.pid = s->pid,
		.parent = s->parent,
		.vcpu = s->vcpu,
		.text = "",
	};
}

/* Returns how often the repeated instruction at the end of a block did its work: a store each time,
 * or loads.
 */
static uint64_t count_repeats(const struct trace_stream *s)
{
	if (s->n_repeated[1])
		return s->n_repeated[1];
	return s->n_repeated[0] ? s->n_repeated[0] / trace_loads_each(&s->pending->block) : 0;
}

/* Most events are executions, and most follow one of the same thread: then the rest of the event is
 * as it has to be.
 */
static void emit_pending(struct trace_stream *s, struct tact_trace_event *event)
{
	if (event->kind != TACT_TRACE_EXEC || event->thread != s->number)
		fill(s, event, TACT_TRACE_EXEC);
	event->block = &s->pending->block;
	event->accesses = s->accesses;
	event->n_accesses = s->n_accesses;
	event->repeats = s->has_repeated ? count_repeats(s) : 0;
	event->is_descending = s->is_descending;
	s->pending = NULL;
	s->n_accesses = 0;
}

/* All executions of a repeated instruction except the first come straight from a block that ends in
 * it.
 */
static bool is_repetition(const struct trace_stream *s, const struct trace_entry *entry)
{
	const struct tact_trace_block *last = &s->pending->block;

	return last->address + last->last_offset == entry->block.address;
}

/* Fetches the entries of blocks that are executed soon: first where their addresses are, later what is
 * there.  Words that are something else do no harm.
 */
static void look_ahead(struct trace_events *e, const struct trace_stream *s)
{
	const uint64_t *words = e->piece;
	const size_t end = e->n_piece;
	size_t at = e->ahead > e->at ? e->ahead : e->at;

	if (at == e->at)
		e->n_ahead = 0;
	for (e->n_ahead -= e->n_ahead > 0; e->n_ahead < TRACE_AHEAD; e->n_ahead++) {
		struct trace_entry *const **soon = &e->soon[e->n_seen++ % (TRACE_AHEAD / 2)];
		const struct trace_page *page;

		while (at < end && words[at] >> 60 != WIRE_LONG >> 60)
			at++;
		if (at == end)
			break;
		if (*soon)
			tact_fetch(**soon);
		page = trace_page_at(s, (uint32_t)words[at]);
		*soon = page ? &page->entries[words[at] % PAGE_BLOCKS] : NULL;
		tact_fetch(*soon);
		at++;
	}
	e->ahead = at;
}

static int begin_exec(struct trace_stream *s, uint32_t number, struct tact_trace_event *event,
		      struct tact_diag *diag)
{
	const struct trace_page *page = trace_page_at(s, number);
	struct trace_entry *entry = page ? page->entries[number % PAGE_BLOCKS] : NULL;
	int emitted = 0;

	if (!entry)
		return trace_bad(diag, "a block that is not defined");
	if (s->pending) {
		if (page->is_repeated[number % PAGE_BLOCKS / 64] >> number % 64 & 1 &&
		    is_repetition(s, entry)) {
			s->current = entry;
			s->insn_base = s->pending->block.n_insns - 1;
			s->is_repeating = true;
			return 0;
		}
		emit_pending(s, event);
		emitted = 1;
	}
	s->pending = s->current = entry;
	s->insn_base = 0;
	s->is_repeating = false;
	if (s->has_repeated) {
		s->has_repeated = s->is_descending = false;
		s->next_run = 0;
		s->run[0] = s->run[1] = s->run[2] = 0;
		s->n_repeated[0] = s->n_repeated[1] = 0;
	}
	return emitted;
}

static int take_counted(struct trace_stream *s, uint32_t number, const uint64_t *words, size_t n,
			struct tact_trace_event *event, struct tact_diag *diag)
{
	struct trace_entry *entry = trace_entry_at(s, number);

	if (n != 1 || !entry)
		return trace_bad(diag, "a count of a block that is not defined");
	fill(s, event, TACT_TRACE_COUNTED);
	event->block = &entry->block;
	event->count = words[0];
	return 1;
}

static int take_native(struct trace_events *e, struct trace_stream *s, const uint64_t *words,
		       size_t n, struct tact_trace_event *event, struct tact_diag *diag)
{
	if (n < 1 || words[0] >= WIRE_MAX_PATH || n != 1 + wire_words_of((unsigned)words[0]))
		return trace_bad(diag, "a path with an impossible length");
	fill(s, event, TACT_TRACE_NATIVE);
	memcpy(e->text, words + 1, words[0]);
	e->text[words[0]] = '\0';
	event->text = e->text;
	if (!e->n_native++)
		memcpy(e->first_native, e->text, sizeof(e->text));
	return 1;
}

static int take_note(struct trace_events *e, struct trace_stream *s, uint32_t note,
		     const uint64_t *words, size_t n, struct tact_trace_event *event,
		     struct tact_diag *diag)
{
	switch (note) {
	case WIRE_NOTE_STREAM:
		if (n != WIRE_STREAM_WORDS || s->has_begun)
			return trace_bad(diag, "a thread that begins twice");
		s->has_begun = true;
		s->pid = (uint32_t)words[0];
		s->vcpu = (uint32_t)(words[0] >> 32);
		s->parent = (uint32_t)words[1];
		trace_note_process(e, s->pid);
		e->n_threads++;
		e->n_programs += (words[1] & WIRE_STREAM_FIRST) != 0;
		fill(s, event, TACT_TRACE_BEGIN);
		return 1;
	case WIRE_NOTE_NATIVE:
		return take_native(e, s, words, n, event, diag);
	case WIRE_NOTE_WINDOW:
		if (n != 2 || words[0] > WIRE_WINDOW_COOLING)
			return trace_bad(diag, "an impossible window");
		fill(s, event, TACT_TRACE_WINDOW);
		event->window = (enum tact_trace_part)words[0];
		event->span_ns = words[1];
		return 1;
	case WIRE_NOTE_TIME:
		if (n != 3)
			return trace_bad(diag, "an impossible time");
		fill(s, event, TACT_TRACE_TIME);
		event->user_ns = words[0];
		event->system_ns = words[1];
		event->hertz = words[2];
		return 1;
	case WIRE_NOTE_CALL:
	case WIRE_NOTE_CALLEE:
		if (n != 1 || (note == WIRE_NOTE_CALLEE && words[0] > TACT_TRACE_MAX_CALLEE))
			return trace_bad(diag, "an impossible call");
		fill(s, event, note == WIRE_NOTE_CALL ? TACT_TRACE_CALL : TACT_TRACE_CALLEE);
		event->count = words[0];
		return 1;
	case WIRE_NOTE_ON:
	case WIRE_NOTE_OFF:
		fill(s, event, note == WIRE_NOTE_ON ? TACT_TRACE_ON : TACT_TRACE_OFF);
		return 1;
	default:
		return 0; /* from a later version */
	}
}

/* Takes a long word and the words that belong to it.  Returns 1 with an event, 0, or < 0. */
static int take_long(struct trace_events *e, struct trace_stream *s, const uint64_t *words,
		     size_t n, struct tact_trace_event *event, struct tact_diag *diag)
{
	const uint32_t number = (uint32_t)words[0];

	if (!s->has_begun &&
	    (words[0] >> 60 != (WIRE_LONG >> 60 | WIRE_NOTE) || number != WIRE_NOTE_STREAM))
		return trace_bad(diag, "a thread without a beginning");
	switch (words[0] >> 60 & 7) {
	case WIRE_BLOCK:
		return trace_define_block(e, s, number, words + 1, n, diag);
	case WIRE_MODULE:
		return trace_define_module(e, s, number, words + 1, n, diag);
	case WIRE_COUNTED:
		return take_counted(s, number, words + 1, n, event, diag);
	case WIRE_NOTE:
		return take_note(e, s, number, words + 1, n, event, diag);
	default:
		return 0; /* from a later version; its length is known */
	}
}

static struct trace_stream *find_stream(struct trace_events *e, uint32_t number)
{
	struct trace_stream *s;

	if (e->stream && e->stream->number == number)
		return e->stream;
	for (size_t i = 0; i < e->n_streams; i++)
		if (e->streams[i]->number == number)
			return e->streams[i];
	if (e->n_streams >= MAX_STREAMS ||
	    tact_grow(&e->streams, &e->streams_capacity, e->n_streams + 1, sizeof(*e->streams)))
		return NULL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->number = number;
	e->streams[e->n_streams++] = s;
	return s;
}

static void remove_stream(struct trace_events *e, struct trace_stream *s)
{
	for (size_t i = 0; i < e->n_streams; i++) {
		if (e->streams[i] != s)
			continue;
		e->streams[i] = e->streams[--e->n_streams];
		break;
	}
	e->numbers_bytes -= s->n_pages * sizeof(*s->pages);
	for (size_t i = 0; i < s->n_pages; i++)
		e->numbers_bytes -= s->pages[i] ? sizeof(*s->pages[i]) : 0;
	destroy_stream(s);
	e->stream = NULL;
}

int trace_events_feed(struct trace_events *e, const struct trace_piece *piece,
		      struct tact_diag *diag)
{
	struct trace_stream *s = find_stream(e, piece->stream);

	if (!s)
		return trace_no_memory(diag);
	e->stream = s;
	e->is_end = !piece->n_words;
	e->at = e->ahead = e->n_ahead = 0;
	memset(e->soon, 0, sizeof(e->soon));
	e->piece = piece->words;
	e->n_piece = piece->n_words;
	e->words += piece->n_words;
	if (!s->n_partial || e->is_end)
		return 0;
	if (tact_grow(&e->joined, &e->joined_capacity, s->n_partial + piece->n_words,
		      sizeof(*e->joined)))
		return trace_no_memory(diag);
	memcpy(e->joined, s->partial, s->n_partial * 8);
	memcpy(e->joined + s->n_partial, piece->words, piece->n_words * 8);
	e->piece = e->joined;
	e->n_piece = s->n_partial + piece->n_words;
	s->n_partial = 0;
	return 0;
}

static int keep_partial(struct trace_events *e, struct trace_stream *s, struct tact_diag *diag)
{
	const size_t n = e->n_piece - e->at;

	if (tact_grow(&s->partial, &s->partial_capacity, n, sizeof(*s->partial)))
		return trace_no_memory(diag);
	memcpy(s->partial, e->piece + e->at, n * 8);
	s->n_partial = n;
	e->at = e->n_piece;
	return 0;
}

/* Returns whether QEMU gave up within the last instruction of a block, so that bytes are missing, or
 * came to one that ends a program.
 */
static bool is_broken(const struct tact_trace_block *b)
{
	struct isa_step step;

	b->isa->scan(&step, 1, b->code + b->last_offset, b->code_size - b->last_offset);
	return !step.is_valid || step.flow == TACT_FLOW_STOP;
}

static int end_stream(struct trace_events *e, struct tact_trace_event *event)
{
	struct trace_stream *s = e->stream;
	const bool has_begun = s->has_begun;

	if (s->pending) {
		emit_pending(s, event);
		return 1;
	}
	/* A block is defined when it is first executed: the one that killed its thread is the newest. */
	if (s->newest && is_broken(&s->newest->block))
		e->broken = s->newest;
	fill(s, event, TACT_TRACE_END);
	remove_stream(e, s);
	e->is_end = false;
	e->n_piece = 0;
	return has_begun;
}

/* Takes a word that is not an access.  Returns 1 with an event, 0, or < 0. */
static int take_word(struct trace_events *e, struct trace_stream *s, struct tact_trace_event *event,
		     struct tact_diag *diag)
{
	const uint64_t word = e->piece[e->at];
	const size_t n = word >> 32 & 0xffff;
	int status;

	if (s->pending && (word >> 60 & 7) == WIRE_NOTE) {
		emit_pending(s, event); /* the subject of a note follows it */
		return 1;
	}
	if (n > WIRE_MAX_PAYLOAD)
		return trace_bad(diag, "a word that is too long");
	if (n >= e->n_piece - e->at)
		return keep_partial(e, s, diag);
	status = take_long(e, s, e->piece + e->at, n, event, diag);
	e->at += n + 1;
	return status;
}

int trace_events_next(struct trace_events *e, struct tact_trace_event *event,
		      struct tact_diag *diag)
{
	struct trace_stream *s = e->stream;
	int status = 0;

	if (!s)
		return 0;
	if (e->is_end)
		return end_stream(e, event);
	while (!status && e->at < e->n_piece) {
		const uint64_t word = e->piece[e->at];

		if (!(word & WIRE_LONG)) {
			status = add_accesses(e, s, diag);
		} else if (word >> 60 == WIRE_LONG >> 60) { /* WIRE_EXEC */
			e->at++;
			look_ahead(e, s);
			status = begin_exec(s, (uint32_t)word, event, diag);
		} else {
			status = take_word(e, s, event, diag);
		}
	}
	return status;
}

const struct tact_trace_block *trace_events_broken(const struct trace_events *e)
{
	return e->broken ? &e->broken->block : NULL;
}

void trace_events_summary(const struct trace_events *e, struct tact_trace_summary *out)
{
	out->n_blocks = (uint32_t)e->n_blocks;
	out->n_threads = e->n_threads;
	out->n_programs = e->n_programs;
	out->n_native = e->n_native;
	out->first_native = e->first_native;
	out->words = e->words;
}
