/* SPDX-License-Identifier: MIT
 *
 * Words to events.  The words come from a program or a file that may be hostile: every number is
 * checked before it is used.
 *
 * What QEMU does differently from a CPU is put right here: vector accesses come in pieces of 8
 * bytes, and a repeated string instruction comes as many executions.
 */
#include <stdlib.h>
#include <string.h>

#include "isa/isa.h"
#include "trace/trace.h"

enum {
	PAGE_BLOCKS = 4096,
	PAGE = 4096,
	MAX_NUMBER = 1 << 26, /* of a block in its stream */
	MAX_STREAMS = 65536,  /* at the same time */
	MAX_MODULES = 65536,
	MAX_ACCESSES = 1 << 20, /* of one execution: more only with a string instruction that runs
				   backwards */
	PIECE = 8		/* bytes; QEMU splits larger accesses */
};

/* A block, and what accesses of its instructions may be joined to. */
struct entry {
	struct tact_trace_block block;
	struct entry *next; /* of the same hash */
	uint64_t hash;
	uint8_t *widths; /* bytes, by instruction; in the same memory as the code */
	uint8_t code[];
};

struct page {
	struct entry *entries[PAGE_BLOCKS];
};

struct stream {
	uint32_t number;
	uint32_t pid, parent, vcpu;
	bool has_begun;
	struct page **pages; /* owned: by block number of the stream */
	size_t n_pages, pages_capacity;
	uint32_t *modules; /* owned: number in the stream -> number in the trace */
	size_t n_modules, modules_capacity;
	struct entry *pending; /* executed; its accesses are being collected */
	struct entry
		*current; /* whose code the accesses are numbered by: pending, or the repetition */
	uint32_t insn_base;
	bool is_repeating;
	size_t run[2]; /* accesses of a repeated instruction: its run of loads, of stores, from 1 */
	struct tact_trace_access *accesses; /* owned */
	size_t n_accesses, accesses_capacity;
	uint64_t *partial; /* owned: the beginning of a long word, whose rest has not come yet */
	size_t n_partial, partial_capacity;
};

struct module {
	struct tact_trace_module module;
	char *path; /* owned */
};

struct trace_events {
	enum wire_mode mode;
	struct stream **streams; /* owned */
	size_t n_streams, streams_capacity;
	struct entry **table; /* owned; table_size lists */
	size_t table_size;
	struct entry **blocks; /* owned: by number */
	size_t n_blocks, blocks_capacity;
	struct module *modules; /* owned: number - 1 */
	size_t n_modules, modules_capacity;
	uint32_t n_threads, n_programs, n_native;
	uint64_t words;

	struct stream *stream; /* of the piece */
	const uint64_t *piece;
	size_t n_piece, at;
	bool is_end;	  /* the piece says that the stream has ended */
	uint64_t *joined; /* owned: partial words and those of the piece */
	size_t joined_capacity;
	char text[WIRE_MAX_PATH];
};

static int bad(struct tact_diag *diag, const char *what)
{
	return tact_fail(diag, TACT_E_FORMAT, "damaged trace: %s", what);
}

static int no_memory(struct tact_diag *diag)
{
	return tact_fail(diag, TACT_E_NOMEM, "out of memory");
}

int trace_events_create(struct trace_events **out, enum wire_mode mode)
{
	struct trace_events *e = calloc(1, sizeof(*e));

	if (!e)
		return -TACT_E_NOMEM;
	e->mode = mode;
	e->table_size = 4096;
	e->table = calloc(e->table_size, sizeof(*e->table));
	if (!e->table) {
		free(e);
		return -TACT_E_NOMEM;
	}
	*out = e;
	return 0;
}

static void destroy_stream(struct stream *s)
{
	for (size_t i = 0; i < s->n_pages; i++)
		free(s->pages[i]);
	free(s->pages);
	free(s->modules);
	free(s->accesses);
	free(s->partial);
	free(s);
}

void trace_events_destroy(struct trace_events *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < e->n_streams; i++)
		destroy_stream(e->streams[i]);
	for (size_t i = 0; i < e->n_blocks; i++)
		free(e->blocks[i]);
	for (size_t i = 0; i < e->n_modules; i++)
		free(e->modules[i].path);
	free(e->streams);
	free(e->table);
	free(e->blocks);
	free(e->modules);
	free(e->joined);
	free(e);
}

/* ---- blocks and modules ---- */

/* Bytes of a memory operand that QEMU accesses in pieces; 0 if it does not, or if the pieces are
 * accesses of their own (gathers have a vector register as index).
 */
static uint8_t width_of(const struct tact_insn *insn)
{
	unsigned bits = 0;

	for (unsigned i = 0; i < insn->n_operands; i++) {
		const struct tact_operand *o = &insn->operand[i];

		if (o->kind != TACT_OPERAND_MEM)
			continue;
		if (o->index != TACT_REG_NONE && o->index >= TACT_REG_VEC0 &&
		    o->index < TACT_REG_MASK0)
			return 0;
		if (o->bits > bits)
			bits = o->bits;
	}
	return bits > 8 * PIECE && bits <= 512 ? (uint8_t)(bits / 8) : 0;
}

static void decode(struct entry *e)
{
	struct tact_trace_block *b = &e->block;
	struct tact_insn insn;
	size_t at = 0;

	b->is_open = true;
	for (uint32_t i = 0; i < b->n_insns && at < b->code_size; i++) {
		const int n = tact_decode(&insn, b->code + at, b->code_size - at);

		if (n <= 0)
			return; /* QEMU knows more than we do */
		e->widths[i] = width_of(&insn);
		if (at == b->last_offset)
			b->is_open = isa_flow_of(&insn) == ISA_FLOW_NEXT;
		at += (size_t)n;
	}
}

static int grow_table(struct trace_events *e)
{
	struct entry **larger;

	if (e->n_blocks < e->table_size)
		return 0;
	larger = calloc(4 * e->table_size, sizeof(*larger));
	if (!larger)
		return -TACT_E_NOMEM;
	e->table_size *= 4;
	for (size_t i = 0; i < e->n_blocks; i++) {
		struct entry **list = &larger[e->blocks[i]->hash & (e->table_size - 1)];

		e->blocks[i]->next = *list;
		*list = e->blocks[i];
	}
	free(e->table);
	e->table = larger;
	return 0;
}

static struct entry *find_entry(const struct trace_events *e, const struct tact_trace_block *like,
				uint64_t hash)
{
	struct entry *x = e->table[hash & (e->table_size - 1)];

	for (; x; x = x->next)
		if (x->hash == hash && x->block.address == like->address &&
		    x->block.code_size == like->code_size && x->block.module == like->module &&
		    x->block.n_insns == like->n_insns &&
		    x->block.last_offset == like->last_offset &&
		    !memcmp(x->block.code, like->code, like->code_size))
			return x;
	return NULL;
}

/* The same code of several threads and processes is one block. */
static struct entry *intern(struct trace_events *e, const struct tact_trace_block *like)
{
	const uint64_t hash = tact_hash_bytes(like->code, like->code_size) ^
			      like->address * 0x9e3779b97f4a7c15ull;
	struct entry *x = find_entry(e, like, hash), **list;

	if (x)
		return x;
	if (grow_table(e) ||
	    tact_grow(&e->blocks, &e->blocks_capacity, e->n_blocks + 1, sizeof(*e->blocks)))
		return NULL;
	x = calloc(1, sizeof(*x) + like->code_size + like->n_insns);
	if (!x)
		return NULL;
	x->block = *like;
	memcpy(x->code, like->code, like->code_size);
	x->block.code = x->code;
	x->widths = x->code + like->code_size;
	x->hash = hash;
	x->block.number = (uint32_t)e->n_blocks;
	if (e->mode == WIRE_TRACE)
		decode(x);
	e->blocks[e->n_blocks++] = x;
	list = &e->table[hash & (e->table_size - 1)];
	x->next = *list;
	*list = x;
	return x;
}

static struct entry *entry_at(const struct stream *s, uint32_t number)
{
	const size_t page = number / PAGE_BLOCKS;

	if (page >= s->n_pages || !s->pages[page])
		return NULL;
	return s->pages[page]->entries[number % PAGE_BLOCKS];
}

static int set_entry(struct stream *s, uint32_t number, struct entry *entry)
{
	const size_t page = number / PAGE_BLOCKS;

	if (page >= s->n_pages) {
		if (tact_grow(&s->pages, &s->pages_capacity, page + 1, sizeof(*s->pages)))
			return -TACT_E_NOMEM;
		while (s->n_pages <= page)
			s->pages[s->n_pages++] = NULL;
	}
	if (!s->pages[page])
		s->pages[page] = calloc(1, sizeof(*s->pages[page]));
	if (!s->pages[page])
		return -TACT_E_NOMEM;
	s->pages[page]->entries[number % PAGE_BLOCKS] = entry;
	return 0;
}

/* The end of a block whose last instruction lies near the end of a page: wire_block_flag. */
static void find_end(struct tact_trace_block *b)
{
	struct tact_insn insn;
	size_t at = 0, before = 0;
	int length = 1;

	while (at < b->last_offset && length > 0) {
		length = tact_decode(&insn, b->code + at, b->code_size - at);
		before = at;
		at += length > 0 ? (size_t)length : 0;
	}
	if (at != b->last_offset || !at)
		return; /* QEMU knows more than we do */
	length = tact_decode(&insn, b->code + at, b->code_size - at);
	if (length > 0 && (b->address + at) % PAGE + (size_t)length <= PAGE) {
		b->code_size = (uint32_t)at + (uint32_t)length;
	} else if (b->n_insns > 1) {
		b->code_size = (uint32_t)at;
		b->last_offset = (uint32_t)before;
		b->n_insns--;
	}
}

static int define_block(struct trace_events *e, struct stream *s, uint32_t number,
			const uint64_t *words, size_t n, struct tact_diag *diag)
{
	struct tact_trace_block like = {0};
	struct entry *entry;

	if (n < WIRE_BLOCK_WORDS || number >= MAX_NUMBER)
		return bad(diag, "a block that is too short, or has an impossible number");
	like.address = words[0];
	like.code_size = words[1] & 0xffff;
	like.n_insns = words[1] >> 16 & 0xffff;
	like.last_offset = words[1] >> 32 & 0xffff;
	like.is_rep = words[1] >> 48 & WIRE_BLOCK_REP;
	like.code = (const uint8_t *)(words + WIRE_BLOCK_WORDS);
	if (!like.code_size || like.code_size > WIRE_MAX_BLOCK_BYTES || !like.n_insns ||
	    like.n_insns > like.code_size || like.last_offset >= like.code_size ||
	    n != WIRE_BLOCK_WORDS + wire_words_of(like.code_size))
		return bad(diag, "a block with impossible sizes");
	if (words[1] >> 48 & WIRE_BLOCK_OPEN_END)
		find_end(&like);
	if (words[2] && words[2] > s->n_modules)
		return bad(diag, "a block of a module that is not defined");
	like.module = words[2] ? s->modules[words[2] - 1] : 0;
	entry = intern(e, &like);
	if (!entry || set_entry(s, number, entry))
		return no_memory(diag);
	return 0;
}

static uint32_t intern_module(struct trace_events *e, const uint64_t *words, const char *path,
			      size_t size)
{
	struct module m = {.module = {sizeof(m.module), words[0], words[1], words[2], NULL}};

	for (size_t i = 0; i < e->n_modules; i++) {
		const struct module *x = &e->modules[i];

		if (x->module.begin == words[0] && x->module.end == words[1] &&
		    x->module.offset == words[2] && strlen(x->path) == size &&
		    !memcmp(x->path, path, size))
			return (uint32_t)i + 1;
	}
	if (tact_grow(&e->modules, &e->modules_capacity, e->n_modules + 1, sizeof(*e->modules)))
		return 0;
	m.path = strndup(path, size);
	if (!m.path)
		return 0;
	m.module.path = m.path;
	e->modules[e->n_modules++] = m;
	return (uint32_t)e->n_modules;
}

static int define_module(struct trace_events *e, struct stream *s, uint32_t number,
			 const uint64_t *words, size_t n, struct tact_diag *diag)
{
	const char *path = (const char *)(words + WIRE_MODULE_WORDS);
	uint32_t known;

	if (n < WIRE_MODULE_WORDS || !number || number > MAX_MODULES || words[0] >= words[1] ||
	    words[3] >= WIRE_MAX_PATH ||
	    n != WIRE_MODULE_WORDS + wire_words_of((unsigned)words[3]) ||
	    memchr(path, '\0', words[3]))
		return bad(diag, "a module with impossible numbers");
	if (e->n_modules >= MAX_MODULES)
		return tact_fail(diag, TACT_E_LIMIT, "more than %d modules", MAX_MODULES);
	known = intern_module(e, words, path, words[3]);
	if (!known || tact_grow(&s->modules, &s->modules_capacity, number, sizeof(*s->modules)))
		return no_memory(diag);
	while (s->n_modules < number)
		s->modules[s->n_modules++] = 0;
	s->modules[number - 1] = known;
	return 0;
}

/* ---- accesses ---- */

/* Whether the access is one with another that came before, which then grows. */
static bool is_joined(struct stream *s, const struct tact_trace_access *a, uint32_t insn)
{
	struct tact_trace_access *last = NULL;

	if (s->is_repeating) {
		if (s->run[a->is_store])
			last = &s->accesses[s->run[a->is_store] - 1];
		if (last && last->size >= 1u << 30)
			last = NULL;
	} else if (s->n_accesses && a->size == PIECE) {
		last = &s->accesses[s->n_accesses - 1];
		if (last->size >= s->current->widths[insn])
			last = NULL;
	}
	if (!last || last->insn != a->insn || last->is_store != a->is_store ||
	    a->address != last->address + last->size)
		return false;
	last->size += a->size;
	return true;
}

static int add_access(struct stream *s, uint64_t word, struct tact_diag *diag)
{
	const uint32_t insn = word >> WIRE_INSN_SHIFT & WIRE_INSN_MASK;
	const struct tact_trace_access a = {
		.address = word & WIRE_ADDRESS,
		.insn = (uint16_t)(s->insn_base + insn),
		.is_store = (word & WIRE_STORE) != 0,
		.size = 1u << (word >> WIRE_SIZE_SHIFT & 7),
	};

	if (insn >= s->current->block.n_insns)
		return bad(diag, "an access of an instruction that its block does not have");
	if ((s->is_repeating || s->current->widths[insn]) && is_joined(s, &a, insn))
		return 0;
	if (s->n_accesses == s->accesses_capacity) {
		if (s->n_accesses >= MAX_ACCESSES)
			return 0;
		if (tact_grow(&s->accesses, &s->accesses_capacity, s->n_accesses + 1,
			      sizeof(*s->accesses)))
			return no_memory(diag);
	}
	s->accesses[s->n_accesses++] = a;
	s->run[a.is_store] = s->n_accesses;
	return 0;
}

/* ---- events ---- */

static void fill(const struct stream *s, struct tact_trace_event *event,
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

static void emit_pending(struct stream *s, struct tact_trace_event *event)
{
	fill(s, event, TACT_TRACE_EXEC);
	event->block = &s->pending->block;
	event->accesses = s->accesses;
	event->n_accesses = s->n_accesses;
	s->pending = NULL;
	s->n_accesses = 0;
}

/* All executions of a repeated instruction but the first come straight from a block that ends in
 * it.
 */
static bool is_repetition(const struct stream *s, const struct entry *entry)
{
	const struct tact_trace_block *b = &entry->block, *last = &s->pending->block;

	return b->is_rep && b->n_insns == 1 && last->address + last->last_offset == b->address;
}

static int begin_exec(struct stream *s, uint32_t number, struct tact_trace_event *event,
		      struct tact_diag *diag)
{
	struct entry *entry = entry_at(s, number);
	int emitted = 0;

	if (!entry)
		return bad(diag, "a block that is not defined");
	if (s->pending && is_repetition(s, entry)) {
		s->current = entry;
		s->insn_base = s->pending->block.n_insns - 1;
		s->is_repeating = true;
		return 0;
	}
	if (s->pending) {
		emit_pending(s, event);
		emitted = 1;
	}
	s->pending = s->current = entry;
	s->insn_base = 0;
	s->is_repeating = false;
	s->run[0] = s->run[1] = 0;
	return emitted;
}

static int take_counted(struct stream *s, uint32_t number, const uint64_t *words, size_t n,
			struct tact_trace_event *event, struct tact_diag *diag)
{
	struct entry *entry = entry_at(s, number);

	if (n != 1 || !entry)
		return bad(diag, "a count of a block that is not defined");
	fill(s, event, TACT_TRACE_COUNTED);
	event->block = &entry->block;
	event->count = words[0];
	return 1;
}

static int take_native(struct trace_events *e, struct stream *s, const uint64_t *words, size_t n,
		       struct tact_trace_event *event, struct tact_diag *diag)
{
	if (n < 1 || words[0] >= WIRE_MAX_PATH || n != 1 + wire_words_of((unsigned)words[0]))
		return bad(diag, "a path with an impossible length");
	fill(s, event, TACT_TRACE_NATIVE);
	memcpy(e->text, words + 1, words[0]);
	e->text[words[0]] = '\0';
	event->text = e->text;
	e->n_native++;
	return 1;
}

static int take_note(struct trace_events *e, struct stream *s, uint32_t note, const uint64_t *words,
		     size_t n, struct tact_trace_event *event, struct tact_diag *diag)
{
	switch (note) {
	case WIRE_NOTE_STREAM:
		if (n != WIRE_STREAM_WORDS || s->has_begun)
			return bad(diag, "a thread that begins twice");
		s->has_begun = true;
		s->pid = (uint32_t)words[0];
		s->vcpu = (uint32_t)(words[0] >> 32);
		s->parent = (uint32_t)words[1];
		e->n_threads++;
		e->n_programs += (words[1] & WIRE_STREAM_FIRST) != 0;
		fill(s, event, TACT_TRACE_BEGIN);
		return 1;
	case WIRE_NOTE_NATIVE:
		return take_native(e, s, words, n, event, diag);
	case WIRE_NOTE_ON:
	case WIRE_NOTE_OFF:
		fill(s, event, note == WIRE_NOTE_ON ? TACT_TRACE_ON : TACT_TRACE_OFF);
		return 1;
	default:
		return 0; /* of a later version */
	}
}

/* A long word and what belongs to it.  Returns 1 with an event, 0, or < 0. */
static int take_long(struct trace_events *e, struct stream *s, const uint64_t *words, size_t n,
		     struct tact_trace_event *event, struct tact_diag *diag)
{
	const uint32_t number = (uint32_t)words[0];

	if (!s->has_begun &&
	    (words[0] >> 60 != (WIRE_LONG >> 60 | WIRE_NOTE) || number != WIRE_NOTE_STREAM))
		return bad(diag, "a thread without a beginning");
	switch (words[0] >> 60 & 7) {
	case WIRE_BLOCK:
		return define_block(e, s, number, words + 1, n, diag);
	case WIRE_MODULE:
		return define_module(e, s, number, words + 1, n, diag);
	case WIRE_COUNTED:
		return take_counted(s, number, words + 1, n, event, diag);
	case WIRE_NOTE:
		return take_note(e, s, number, words + 1, n, event, diag);
	default:
		return 0; /* of a later version; its length is known */
	}
}

static struct stream *find_stream(struct trace_events *e, uint32_t number)
{
	struct stream *s;

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

static void remove_stream(struct trace_events *e, struct stream *s)
{
	for (size_t i = 0; i < e->n_streams; i++) {
		if (e->streams[i] != s)
			continue;
		e->streams[i] = e->streams[--e->n_streams];
		break;
	}
	destroy_stream(s);
	e->stream = NULL;
}

int trace_events_feed(struct trace_events *e, const struct trace_piece *piece,
		      struct tact_diag *diag)
{
	struct stream *s = find_stream(e, piece->stream);

	if (!s)
		return no_memory(diag);
	e->stream = s;
	e->is_end = !piece->n_words;
	e->at = 0;
	e->piece = piece->words;
	e->n_piece = piece->n_words;
	e->words += piece->n_words;
	if (!s->n_partial || e->is_end)
		return 0;
	if (tact_grow(&e->joined, &e->joined_capacity, s->n_partial + piece->n_words,
		      sizeof(*e->joined)))
		return no_memory(diag);
	memcpy(e->joined, s->partial, s->n_partial * 8);
	memcpy(e->joined + s->n_partial, piece->words, piece->n_words * 8);
	e->piece = e->joined;
	e->n_piece = s->n_partial + piece->n_words;
	s->n_partial = 0;
	return 0;
}

static int keep_partial(struct trace_events *e, struct stream *s, struct tact_diag *diag)
{
	const size_t n = e->n_piece - e->at;

	if (tact_grow(&s->partial, &s->partial_capacity, n, sizeof(*s->partial)))
		return no_memory(diag);
	memcpy(s->partial, e->piece + e->at, n * 8);
	s->n_partial = n;
	e->at = e->n_piece;
	return 0;
}

static int end_stream(struct trace_events *e, struct tact_trace_event *event)
{
	struct stream *s = e->stream;
	const bool has_begun = s->has_begun;

	if (s->pending) {
		emit_pending(s, event);
		return 1;
	}
	fill(s, event, TACT_TRACE_END);
	remove_stream(e, s);
	e->is_end = false;
	e->n_piece = 0;
	return has_begun;
}

int trace_events_next(struct trace_events *e, struct tact_trace_event *event,
		      struct tact_diag *diag)
{
	struct stream *s = e->stream;
	int status;

	if (s && e->is_end)
		return end_stream(e, event);
	while (s && e->at < e->n_piece) {
		const uint64_t word = e->piece[e->at];
		size_t n;

		if (!(word & WIRE_LONG)) {
			e->at++;
			status = s->pending ? add_access(s, word, diag) : 0;
			if (status)
				return status;
			continue;
		}
		if (word >> 60 == WIRE_LONG >> 60) { /* WIRE_EXEC */
			e->at++;
			status = begin_exec(s, (uint32_t)word, event, diag);
			if (status)
				return status;
			continue;
		}
		if (s->pending && (word >> 60 & 7) == WIRE_NOTE) {
			emit_pending(s, event); /* what a note is about comes behind it */
			return 1;
		}
		n = word >> 32 & 0xffff;
		if (n > WIRE_MAX_PAYLOAD)
			return bad(diag, "a word that is too long");
		if (n >= e->n_piece - e->at)
			return keep_partial(e, s, diag);
		status = take_long(e, s, e->piece + e->at, n, event, diag);
		e->at += n + 1;
		if (status)
			return status;
	}
	return 0;
}

const struct tact_trace_module *trace_events_module(const struct trace_events *e, uint32_t number)
{
	return number && number <= e->n_modules ? &e->modules[number - 1].module : NULL;
}

struct tact_trace_block *trace_events_block(const struct trace_events *e, uint32_t number)
{
	return number < e->n_blocks ? &e->blocks[number]->block : NULL;
}

void trace_events_summary(const struct trace_events *e, struct tact_trace_summary *out)
{
	out->n_blocks = (uint32_t)e->n_blocks;
	out->n_threads = e->n_threads;
	out->n_programs = e->n_programs;
	out->n_native = e->n_native;
	out->words = e->words;
}
