/* SPDX-License-Identifier: MIT
 *
 * Cuts the instructions of windows into blocks, and writes the words of a trace.
 */
#include "trace/native_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "trace/native_maps.h"
#include "trace/native_run.h"

enum { MAX_INSNS = 512, MAX_BYTES = WIRE_MAX_BLOCK_BYTES - 16 };

struct known_block {
	uint64_t address;
	const uint8_t *code; /* in the arena */
	uint32_t code_size, n_insns, last_offset, module;
	bool is_rep;
};

struct stream {
	uint32_t tid, pid, number;
	bool is_over, is_first;
	uint64_t *words; /* owned */
	size_t n_words, words_capacity;
	uint8_t *blocks; /* owned: which blocks were defined */
	size_t n_blocks, blocks_capacity;
	uint8_t *modules; /* owned, likewise */
	size_t n_modules, modules_capacity;
	uint64_t *counts; /* owned: executions by block, when counting */
	size_t n_counts, counts_capacity;
};

struct native_blocks {
	const struct tact_isa *isa;
	enum wire_mode mode;
	struct known_block *blocks; /* owned */
	size_t n_blocks, blocks_capacity;
	struct hash block_of;
	struct tact_arena memory;
	struct native_maps maps;
	struct stream **streams; /* owned */
	size_t n_streams, streams_capacity;
	uint32_t next_number;
	struct stream *sent; /* whose words the last piece was */

	/* The window. */
	struct stream *stream; /* NULL: none */
	enum wire_window phase;
	unsigned steps;
	bool has_step;
	bool is_cut;		/* the block that grows began, or ended, with the window */
	struct isa_state state; /* before the last step */
	uint8_t code[8 * NATIVE_CODE_WORDS];

	/* The block that grows. */
	uint64_t address;
	uint8_t bytes[WIRE_MAX_BLOCK_BYTES];
	uint32_t size, n_insns, last_offset;
	bool is_rep;
	uint64_t *accesses; /* owned */
	size_t n_accesses, accesses_capacity;
};

int native_blocks_create(struct native_blocks **out, const struct tact_isa *isa,
			 enum wire_mode mode)
{
	struct native_blocks *b = calloc(1, sizeof(*b));

	if (!b)
		return -TACT_E_NOMEM;
	b->isa = isa;
	b->mode = mode;
	*out = b;
	return 0;
}

static void destroy_stream(struct stream *s)
{
	FREE_ALL(s->words, s->blocks, s->modules, s->counts, s);
}

void native_blocks_destroy(struct native_blocks *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->n_streams; i++)
		destroy_stream(b->streams[i]);
	native_maps_fini(&b->maps);
	tact_arena_reset(&b->memory);
	hash_free(&b->block_of);
	free(b->streams);
	FREE_ALL(b->blocks, b->accesses, b);
}

/* ---- words ---- */

static int put(struct stream *s, const uint64_t *words, size_t n)
{
	if (tact_grow(&s->words, &s->words_capacity, s->n_words + n, sizeof(*s->words)))
		return -TACT_E_NOMEM;
	memcpy(s->words + s->n_words, words, n * sizeof(*words));
	s->n_words += n;
	return 0;
}

static int put_note(struct stream *s, enum wire_note note, const uint64_t *payload, size_t n)
{
	const uint64_t word = wire_word(WIRE_NOTE, (unsigned)n, note);
	int status = put(s, &word, 1);

	return status < 0 ? status : put(s, payload, n);
}

/* Puts bytes, padded to words. */
static int put_bytes(struct stream *s, const void *data, size_t size)
{
	uint64_t padded[WIRE_MAX_BLOCK_BYTES / 8 + 1] = {0};

	memcpy(padded, data, size);
	return put(s, padded, wire_words_of((unsigned)size));
}

/* Marks number i as defined in a stream.  Returns 1 if it was not, 0, or < 0. */
static int mark(uint8_t **marks, size_t *n, size_t *capacity, size_t i)
{
	while (*n <= i) {
		if (tact_grow(marks, capacity, *n + 1, 1))
			return -TACT_E_NOMEM;
		(*marks)[(*n)++] = 0;
	}
	if ((*marks)[i])
		return 0;
	(*marks)[i] = 1;
	return 1;
}

static int put_module(struct native_blocks *b, struct stream *s, uint32_t number)
{
	const struct native_module *m;
	uint64_t words[1 + WIRE_MODULE_WORDS];
	int status = number ? mark(&s->modules, &s->n_modules, &s->modules_capacity, number) : 0;
	size_t n;

	if (status <= 0)
		return status;
	m = &b->maps.modules[number - 1];
	n = strlen(m->path);
	words[0] = wire_word(WIRE_MODULE, WIRE_MODULE_WORDS + wire_words_of((unsigned)n), number);
	words[1] = m->begin;
	words[2] = m->end;
	words[3] = m->offset;
	words[4] = n;
	status = put(s, words, 5);
	return status < 0 ? status : put_bytes(s, m->path, n);
}

static int put_block(struct native_blocks *b, struct stream *s, uint32_t number)
{
	const struct known_block *k = &b->blocks[number];
	uint64_t words[1 + WIRE_BLOCK_WORDS];
	int status = mark(&s->blocks, &s->n_blocks, &s->blocks_capacity, number);

	if (status <= 0)
		return status;
	status = put_module(b, s, k->module);
	words[0] = wire_word(WIRE_BLOCK, WIRE_BLOCK_WORDS + wire_words_of(k->code_size), number);
	words[1] = k->address;
	words[2] = k->code_size | (uint64_t)k->n_insns << 16 | (uint64_t)k->last_offset << 32 |
		   (uint64_t)(k->is_rep ? WIRE_BLOCK_REP : 0) << 48;
	words[3] = k->module;
	if (status >= 0)
		status = put(s, words, 4);
	return status < 0 ? status : put_bytes(s, k->code, k->code_size);
}

int native_blocks_maps(struct native_blocks *b, uint32_t pid, char *text, size_t size)
{
	return native_maps_read(&b->maps, pid, text, size);
}

/* ---- blocks ---- */

/* Finds the block with this code, or adds it.  Returns its number or < 0. */
static long intern(struct native_blocks *b, const struct known_block *like)
{
	const uint64_t hash = hash_bytes(like->code, like->code_size) ^ hash_number(like->address);
	uint8_t *code;
	size_t at = 0;
	uint32_t i;

	while ((i = hash_next(&b->block_of, hash, &at)) != HASH_NONE) {
		const struct known_block *k = &b->blocks[i];

		if (k->address == like->address && k->code_size == like->code_size &&
		    k->module == like->module && !memcmp(k->code, like->code, k->code_size))
			return i;
	}
	code = tact_arena_take(&b->memory, like->code_size);
	if (!code || hash_reserve(&b->block_of, b->n_blocks + 1) ||
	    tact_grow(&b->blocks, &b->blocks_capacity, b->n_blocks + 1, sizeof(*b->blocks)))
		return -TACT_E_NOMEM;
	memcpy(code, like->code, like->code_size);
	b->blocks[b->n_blocks] = *like;
	b->blocks[b->n_blocks].code = code;
	hash_add(&b->block_of, hash, (uint32_t)b->n_blocks);
	return (long)b->n_blocks++;
}

static int count(struct stream *s, size_t number)
{
	while (s->n_counts <= number) {
		if (tact_grow(&s->counts, &s->counts_capacity, s->n_counts + 1, sizeof(*s->counts)))
			return -TACT_E_NOMEM;
		s->counts[s->n_counts++] = 0;
	}
	s->counts[number]++;
	return 0;
}

/* Writes an execution of a block with accesses. */
static int execute(struct native_blocks *b, const struct known_block *like, bool is_counted)
{
	const long number = intern(b, like);
	uint64_t word;
	int status = number < 0 ? (int)number : put_block(b, b->stream, (uint32_t)number);

	if (status < 0)
		return status;
	if (b->mode == WIRE_COUNT)
		return is_counted ? count(b->stream, (size_t)number) : 0;
	word = wire_word(WIRE_EXEC, 0, (uint32_t)number);
	status = put(b->stream, &word, 1);
	return status < 0 ? status : put(b->stream, b->accesses, b->n_accesses);
}

static int put_phase(struct native_blocks *b, enum wire_window phase, uint64_t span)
{
	const uint64_t words[] = {phase, span};

	b->phase = phase;
	return b->mode == WIRE_COUNT ? 0 : put_note(b->stream, WIRE_NOTE_WINDOW, words, 2);
}

/* Ends the block that has grown. */
static int flush(struct native_blocks *b)
{
	const struct known_block like = {
		.address = b->address,
		.code = b->bytes,
		.code_size = b->size,
		.n_insns = b->n_insns,
		.last_offset = b->last_offset,
		.is_rep = b->is_rep,
		.module = b->n_insns ? native_maps_find(&b->maps, b->stream->pid, b->address) : 0,
	};
	/* Where a window begins and ends is no place where a block does. */
	const bool is_cut = b->mode == WIRE_COUNT && b->is_cut;
	int status = b->n_insns && !is_cut ? execute(b, &like, true) : 0;

	b->is_cut = false;
	b->size = b->n_insns = b->last_offset = 0;
	b->n_accesses = 0;
	if (status >= 0 && b->phase == WIRE_WINDOW_WARMING && b->steps >= NATIVE_WARMING)
		status = put_phase(b, WIRE_WINDOW_COUNTED, 0);
	else if (status >= 0 && b->phase == WIRE_WINDOW_COUNTED &&
		 b->steps >= NATIVE_WARMING + NATIVE_COUNTED)
		status = put_phase(b, WIRE_WINDOW_COOLING, 0);
	return status;
}

/* Writes the repetitions after the first, as QEMU does: a block of the instruction alone. */
static int repeat(struct native_blocks *b, const struct tact_insn *insn, uint64_t times)
{
	const struct known_block like = {
		.address = b->state.pc,
		.code = b->code,
		.code_size = insn->length,
		.n_insns = 1,
		.is_rep = true,
		.module = native_maps_find(&b->maps, b->stream->pid, b->state.pc),
	};

	if (times <= 1 || b->mode == WIRE_COUNT)
		return 0;
	if (tact_grow(&b->accesses, &b->accesses_capacity, NATIVE_MAX_ACCESSES,
		      sizeof(*b->accesses)))
		return -TACT_E_NOMEM;
	b->n_accesses = native_repetitions(b->isa, insn, &b->state, times, b->accesses,
					   NATIVE_MAX_ACCESSES);
	return execute(b, &like, false);
}

/* Adds the last step to its block, now that it is known where execution went. */
static int add_insn(struct native_blocks *b, uint64_t next, const struct isa_state *after)
{
	enum { FEW = 512 };
	struct tact_insn insn;
	const int length = tact_isa_decode(b->isa, &insn, b->code, TACT_MAX_INSN_BYTES);
	uint64_t times = 1;
	int status;

	b->steps++;
	if (length <= 0)
		return flush(b); /* the tracer knows more than we do */
	if (!b->n_insns) {
		b->address = b->state.pc;
		b->is_rep = insn.attributes & TACT_INSN_REP;
	}
	memcpy(b->bytes + b->size, b->code, (size_t)length);
	b->last_offset = b->size;
	b->size += (uint32_t)length;
	if (insn.attributes & TACT_INSN_REP)
		times = after ? b->isa->native->tracing->repetitions(&b->state, after) : 0;
	if (times && b->mode != WIRE_COUNT) {
		if (tact_grow(&b->accesses, &b->accesses_capacity, b->n_accesses + FEW,
			      sizeof(*b->accesses)))
			return -TACT_E_NOMEM;
		b->n_accesses += native_accesses(b->isa, &insn, &b->state, b->n_insns,
						 b->accesses + b->n_accesses, FEW);
	}
	b->n_insns++;
	if (insn.flow == TACT_FLOW_NEXT && !(insn.attributes & TACT_INSN_REP) &&
	    next == b->state.pc + (uint64_t)length && b->n_insns < MAX_INSNS && b->size < MAX_BYTES)
		return 0;
	status = flush(b);
	if (status >= 0 && insn.attributes & TACT_INSN_REP) {
		status = repeat(b, &insn, times);
		b->n_accesses = 0;
	}
	return status;
}

/* ---- records ---- */

static struct stream *find_stream(struct native_blocks *b, uint32_t tid)
{
	for (size_t i = 0; i < b->n_streams; i++)
		if (b->streams[i]->tid == tid && !b->streams[i]->is_over)
			return b->streams[i];
	return NULL;
}

int native_blocks_thread(struct native_blocks *b, uint32_t tid, uint32_t pid, uint32_t parent)
{
	const uint64_t words[] = {pid | (uint64_t)tid << 32,
				  parent | (tid == pid ? WIRE_STREAM_FIRST : 0)};
	const uint32_t number = b->next_number++;
	struct stream *s = calloc(1, sizeof(*s));

	if (!s ||
	    tact_grow(&b->streams, &b->streams_capacity, b->n_streams + 1, sizeof(*b->streams))) {
		free(s);
		return -TACT_E_NOMEM;
	}
	*s = (struct stream){.tid = tid, .pid = pid, .number = number, .is_first = !number};
	b->streams[b->n_streams++] = s;
	return put_note(s, WIRE_NOTE_STREAM, words, 2);
}

static int put_counts(struct stream *s)
{
	for (size_t i = 0; i < s->n_counts; i++) {
		const uint64_t words[] = {wire_word(WIRE_COUNTED, 1, (uint32_t)i), s->counts[i]};

		if (s->counts[i] && put(s, words, 2))
			return -TACT_E_NOMEM;
	}
	s->n_counts = 0;
	return 0;
}

int native_blocks_end(struct native_blocks *b, uint32_t tid)
{
	struct stream *s = find_stream(b, tid);

	if (!s)
		return 0;
	s->is_over = true;
	return put_counts(s);
}

int native_blocks_window(struct native_blocks *b, uint32_t tid, uint64_t span)
{
	b->stream = find_stream(b, tid);
	b->steps = 0;
	b->has_step = false;
	b->is_cut = true;
	b->size = b->n_insns = 0;
	b->n_accesses = 0;
	return b->stream ? put_phase(b, WIRE_WINDOW_WARMING, span) : 0;
}

int native_blocks_step(struct native_blocks *b, const struct isa_state *state, const uint8_t *code)
{
	int status = 0;

	if (!b->stream)
		return 0;
	if (b->has_step)
		status = add_insn(b, state->pc, state);
	b->state = *state;
	memcpy(b->code, code, sizeof(b->code));
	b->has_step = true;
	return status;
}

int native_blocks_window_end(struct native_blocks *b, const struct isa_state *state)
{
	int status = 0;

	if (!b->stream)
		return 0;
	if (b->has_step)
		status = add_insn(b, state->pc, state->pc ? state : NULL);
	b->is_cut = true;
	if (status >= 0)
		status = flush(b);
	if (status >= 0)
		status = put_phase(b, WIRE_WINDOW_NONE, 0);
	b->stream = NULL;
	return status;
}

int native_blocks_time(struct native_blocks *b, uint64_t user_ns, uint64_t system_ns,
		       uint64_t hertz)
{
	const uint64_t words[] = {user_ns, system_ns, hertz};

	/* The first stream is open to the end. */
	return b->n_streams && b->streams[0]->is_first
		       ? put_note(b->streams[0], WIRE_NOTE_TIME, words, 3)
		       : 0;
}

static void remove_stream(struct native_blocks *b, size_t i)
{
	destroy_stream(b->streams[i]);
	b->n_streams--;
	memmove(b->streams + i, b->streams + i + 1, (b->n_streams - i) * sizeof(*b->streams));
}

static int take_piece(struct native_blocks *b, bool is_last, struct trace_piece *piece)
{
	if (b->sent) { /* its words are not needed any more */
		b->sent->n_words = 0;
		b->sent = NULL;
	}
	for (size_t i = b->n_streams; i-- > 0;) {
		struct stream *s = b->streams[i];

		if (b->stream == s)
			continue; /* its window goes on */
		*piece = (struct trace_piece){s->number, s->words, s->n_words};
		if (s->n_words) {
			b->sent = s;
			return 1;
		}
		if (is_last || (s->is_over && !s->is_first)) {
			remove_stream(b, i);
			piece->words = NULL;
			return 1;
		}
	}
	return 0;
}

int native_blocks_piece(struct native_blocks *b, struct trace_piece *piece)
{
	return take_piece(b, false, piece);
}

int native_blocks_finish(struct native_blocks *b, struct trace_piece *piece)
{
	b->stream = NULL;
	if (b->sent)
		b->sent->n_words = 0;
	b->sent = NULL;
	for (size_t i = 0; i < b->n_streams; i++)
		if (put_counts(b->streams[i]))
			return -TACT_E_NOMEM;
	return take_piece(b, true, piece);
}
