/* SPDX-License-Identifier: MIT
 *
 * Blocks and modules of a trace, as its streams define them.  The words come from a program or a
 * file that may be hostile: every number is checked before it is used.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "isa/isa.h"
#include "trace/events.h"

int trace_bad(struct tact_diag *diag, const char *what)
{
	return tact_fail(diag, TACT_E_FORMAT, "damaged trace: %s", what);
}

int trace_no_memory(struct tact_diag *diag)
{
	return tact_fail(diag, TACT_E_NOMEM, "out of memory");
}

/* Returns the bytes of a memory operand that QEMU accesses in pieces; 0 if it does not, or if the
 * pieces are accesses of their own (gathers have a vector register as index).
 */
static uint8_t width_of(const struct tact_isa *isa, const struct tact_insn *insn)
{
	unsigned bits = 0;

	for (unsigned i = 0; i < insn->n_operands; i++) {
		const struct tact_operand *o = &insn->operand[i];

		if (o->kind != TACT_OPERAND_MEM)
			continue;
		if (isa_is_vector(isa, o->index))
			return 0;
		if (o->bits > bits)
			bits = o->bits;
	}
	return bits > 8 * PIECE && bits <= 512 ? (uint8_t)(bits / 8) : 0;
}

/* Few blocks have vector accesses: they are decoded when the first one comes. */
const uint8_t *trace_find_widths(struct trace_events *e, struct trace_entry *entry)
{
	const struct tact_trace_block *b = &entry->block;
	struct trace_registers registers = {0};
	struct tact_insn insn;
	size_t at = 0;

	if (entry->widths)
		return entry->widths;
	entry->widths = tact_arena_take(&e->memory, b->n_insns);
	if (!entry->widths)
		return NULL;
	memset(entry->widths, 0, b->n_insns);
	for (uint32_t i = 0; i < b->n_insns && at < b->code_size; i++) {
		const int n = tact_isa_decode(b->isa, &insn, b->code + at, b->code_size - at);

		if (n <= 0)
			break; /* QEMU knows more than we do */
		entry->widths[i] = width_of(b->isa, &insn);
		trace_follow_registers(&registers, b->isa, &insn, i, entry->widths);
		at += (size_t)n;
	}
	return entry->widths;
}

/* Whether its last instruction is not a branch: QEMU ended it there, or for reasons of its own. */
static bool is_open(const struct tact_trace_block *b)
{
	struct isa_step step;

	b->isa->scan(&step, 1, b->code + b->last_offset, b->code_size - b->last_offset);
	return !step.is_valid || step.flow == TACT_FLOW_NEXT;
}

static bool ends_in_rep(const struct tact_trace_block *b)
{
	struct tact_insn insn;

	return tact_isa_decode(b->isa, &insn, b->code + b->last_offset,
			       b->code_size - b->last_offset) > 0 &&
	       insn.attributes & TACT_INSN_REP;
}

unsigned trace_loads_each(const struct tact_trace_block *b)
{
	struct tact_insn insn;
	unsigned n = 0;

	if (tact_isa_decode(b->isa, &insn, b->code + b->last_offset,
			    b->code_size - b->last_offset) <= 0)
		return 1;
	for (unsigned i = 0; i < insn.n_operands; i++)
		n += insn.operand[i].kind == TACT_OPERAND_MEM &&
		     insn.operand[i].access & (TACT_ACCESS_READ | TACT_ACCESS_COND_READ);
	return n ? n : 1;
}

static bool is_same(const struct tact_trace_block *a, const struct tact_trace_block *b)
{
	return a->address == b->address && a->code_size == b->code_size && a->module == b->module &&
	       a->n_insns == b->n_insns && a->last_offset == b->last_offset &&
	       !memcmp(a->code, b->code, a->code_size);
}

/* Adds a block that is complete. */
static int add_block(struct trace_events *e, struct trace_entry *entry)
{
	int status;

	pthread_mutex_lock(&e->lock);
	status = tact_grow(&e->blocks, &e->blocks_capacity, e->n_blocks + 1, sizeof(*e->blocks));
	if (!status)
		e->blocks[e->n_blocks++] = entry;
	pthread_mutex_unlock(&e->lock);
	return status;
}

/* The same code in several threads and processes is one block. */
static struct trace_entry *intern(struct trace_events *e, const struct tact_trace_block *like)
{
	const uint64_t hash = hash_bytes(like->code, like->code_size) ^ hash_number(like->address);
	struct trace_entry *x;
	bool is_open_end;
	size_t at = 0;
	uint32_t i;

	while ((i = hash_next(&e->block_of, hash, &at)) != HASH_NONE)
		if (is_same(&e->blocks[i]->block, like))
			return e->blocks[i];
	if (hash_reserve(&e->block_of, e->n_blocks + 1))
		return NULL;
	x = tact_arena_take(&e->memory, sizeof(*x) + like->code_size);
	if (!x)
		return NULL;
	memcpy(x->code, like->code, like->code_size);
	x->block = *like;
	x->block.code = x->code;
	x->block.number = (uint32_t)e->n_blocks;
	/* Most end in a branch, which is seen without decoding all of it. */
	is_open_end = is_open(&x->block);
	x->block.is_open = e->mode == WIRE_TRACE && is_open_end;
	x->block.is_rep = is_open_end && ends_in_rep(&x->block);
	x->widths = NULL;
	if (add_block(e, x))
		return NULL;
	hash_add(&e->block_of, hash, x->block.number);
	return x;
}

/* A definition takes 40 bytes of a trace before compression, and may have a page of numbers for itself;
 * on average it has an eighth of one.
 */
static bool is_too_much(struct trace_events *e, uint64_t more)
{
	const uint64_t most = (64ull << 20) + e->n_definitions * sizeof(struct trace_page) / 8;

	e->numbers_bytes += more;
	return e->numbers_bytes > most;
}

static int set_entry(struct trace_events *e, struct trace_stream *s, uint32_t number,
		     struct trace_entry *entry)
{
	const size_t page = number / PAGE_BLOCKS;
	uint64_t more = page >= s->n_pages ? (page + 1 - s->n_pages) * sizeof(*s->pages) : 0;

	e->n_definitions++;
	if (page >= s->n_pages || !s->pages[page])
		more += sizeof(*s->pages[page]);
	if (more && is_too_much(e, more)) {
		e->numbers_bytes -= more;
		return -TACT_E_LIMIT;
	}
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
	if (entry->block.is_rep && entry->block.n_insns == 1)
		s->pages[page]->is_repeated[number % PAGE_BLOCKS / 64] |= 1ull << number % 64;
	else
		s->pages[page]->is_repeated[number % PAGE_BLOCKS / 64] &= ~(1ull << number % 64);
	return 0;
}

/* Finds the end of a block whose last instruction is near the end of a page: see wire_block_flag.
 */
static void find_end(struct tact_trace_block *b)
{
	struct tact_insn insn;
	size_t at = 0, before = 0;
	int length = 1;

	while (at < b->last_offset && length > 0) {
		length = tact_isa_decode(b->isa, &insn, b->code + at, b->code_size - at);
		before = at;
		at += length > 0 ? (size_t)length : 0;
	}
	if (at != b->last_offset || !at)
		return; /* QEMU knows more than we do */
	length = tact_isa_decode(b->isa, &insn, b->code + at, b->code_size - at);
	if (length > 0 && (b->address + at) % PAGE + (size_t)length <= PAGE) {
		b->code_size = (uint32_t)at + (uint32_t)length;
	} else if (b->n_insns > 1) {
		b->code_size = (uint32_t)at;
		b->last_offset = (uint32_t)before;
		b->n_insns--;
	}
}

int trace_define_block(struct trace_events *e, struct trace_stream *s, uint32_t number,
		       const uint64_t *words, size_t n, struct tact_diag *diag)
{
	struct tact_trace_block like = {0};
	struct trace_entry *entry;
	unsigned machine;
	int status;

	if (n < WIRE_BLOCK_WORDS || number >= MAX_NUMBER)
		return trace_bad(diag, "a block that is too short, or has an impossible number");
	machine = (unsigned)(words[1] >> WIRE_MACHINE_SHIFT);
	like.isa = machine ? isa_of_machine(machine) : tact_isa_default();
	if (!like.isa)
		return trace_bad(diag, "a block of an unknown instruction set");
	like.address = words[0];
	like.code_size = words[1] & 0xffff;
	like.n_insns = words[1] >> 16 & 0xffff;
	like.last_offset = words[1] >> 32 & 0xffff;
	like.code = (const uint8_t *)(words + WIRE_BLOCK_WORDS);
	if (!like.code_size || like.code_size > WIRE_MAX_BLOCK_BYTES || !like.n_insns ||
	    like.n_insns > like.code_size || like.last_offset >= like.code_size ||
	    n != WIRE_BLOCK_WORDS + wire_words_of(like.code_size))
		return trace_bad(diag, "a block with impossible sizes");
	if (words[1] >> 48 & WIRE_BLOCK_OPEN_END)
		find_end(&like);
	if (words[2] && words[2] > s->n_modules)
		return trace_bad(diag, "a block of a module that is not defined");
	like.module = words[2] ? s->modules[words[2] - 1] : 0;
	entry = intern(e, &like);
	status = entry ? set_entry(e, s, number, entry) : -TACT_E_NOMEM;
	if (status == -TACT_E_LIMIT)
		return trace_bad(diag, "numbers of blocks are too far apart");
	if (status)
		return trace_no_memory(diag);
	s->newest = entry;
	return 0;
}

static int add_module(struct trace_events *e, struct trace_module *m)
{
	int status;

	pthread_mutex_lock(&e->lock);
	status =
		tact_grow(&e->modules, &e->modules_capacity, e->n_modules + 1, sizeof(*e->modules));
	if (!status)
		e->modules[e->n_modules++] = m;
	pthread_mutex_unlock(&e->lock);
	return status;
}

/* Returns the number of a module; 0: out of memory. */
static uint32_t intern_module(struct trace_events *e, const uint64_t *words, const char *path,
			      size_t size)
{
	struct trace_module *m;

	for (size_t i = 0; i < e->n_modules; i++) {
		const struct trace_module *x = e->modules[i];

		if (x->module.begin == words[0] && x->module.end == words[1] &&
		    x->module.offset == words[2] && strlen(x->path) == size &&
		    !memcmp(x->path, path, size))
			return (uint32_t)i + 1;
	}
	m = calloc(1, sizeof(*m));
	if (!m)
		return 0;
	m->path = strndup(path, size);
	m->module = (struct tact_trace_module){sizeof(m->module), words[0], words[1], words[2],
					       m->path};
	if (!m->path || add_module(e, m)) {
		FREE_ALL(m->path, m);
		return 0;
	}
	return (uint32_t)e->n_modules;
}

int trace_define_module(struct trace_events *e, struct trace_stream *s, uint32_t number,
			const uint64_t *words, size_t n, struct tact_diag *diag)
{
	const char *path = (const char *)(words + WIRE_MODULE_WORDS);
	uint32_t known;

	if (n < WIRE_MODULE_WORDS || !number || number > MAX_MODULES || words[0] >= words[1] ||
	    words[3] >= WIRE_MAX_PATH ||
	    n != WIRE_MODULE_WORDS + wire_words_of((unsigned)words[3]) ||
	    memchr(path, '\0', words[3]))
		return trace_bad(diag, "a module with impossible numbers");
	if (e->n_modules >= MAX_MODULES)
		return tact_fail(diag, TACT_E_LIMIT, "more than %d modules", MAX_MODULES);
	known = intern_module(e, words, path, words[3]);
	if (!known || tact_grow(&s->modules, &s->modules_capacity, number, sizeof(*s->modules)))
		return trace_no_memory(diag);
	while (s->n_modules < number)
		s->modules[s->n_modules++] = 0;
	s->modules[number - 1] = known;
	return 0;
}

/* ---- what another thread may ask for ---- */

const struct tact_trace_module *trace_events_module(struct trace_events *e, uint32_t number)
{
	const struct tact_trace_module *found;

	pthread_mutex_lock(&e->lock);
	found = number && number <= e->n_modules ? &e->modules[number - 1]->module : NULL;
	pthread_mutex_unlock(&e->lock);
	return found;
}

struct tact_trace_block *trace_events_block(struct trace_events *e, uint32_t number)
{
	struct tact_trace_block *found;

	pthread_mutex_lock(&e->lock);
	found = number < e->n_blocks ? &e->blocks[number]->block : NULL;
	pthread_mutex_unlock(&e->lock);
	return found;
}

void trace_note_process(struct trace_events *e, uint32_t pid)
{
	for (size_t i = 0; i < e->n_pids; i++)
		if (e->pids[i] == pid)
			return;
	pthread_mutex_lock(&e->lock);
	if (e->n_pids < TRACE_MAX_PROCESSES)
		e->pids[e->n_pids++] = pid;
	pthread_mutex_unlock(&e->lock);
}

size_t trace_events_processes(struct trace_events *e, const uint32_t **pids)
{
	size_t n;

	*pids = e->pids;
	pthread_mutex_lock(&e->lock);
	n = e->n_pids;
	pthread_mutex_unlock(&e->lock);
	return n;
}
