/* SPDX-License-Identifier: MIT
 *
 * Assembly text, or hex, as a trace: its code is executed from its first to its last byte, whatever
 * its branches say, the given number of times.  What it calls is not in it, and takes as long as the
 * caller or a comment says.  The words are those that the plugin would send; what
 * it accesses follows from the values of registers at entry.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tact/input.h>

#include "base/file.h"
#include "code/transfers.h"
#include "isa/isa.h"
#include "trace/listing_values.h"
#include "trace/trace.h"

enum {
	PIECE_WORDS = 8192,
	CALL_WORDS = 3,	       /* of an execution with a callee, beside its accesses */
	MAX_INSNS = 512,       /* of a block, as in QEMU */
	REGION_STEP = 1 << 20, /* addresses of regions, which have none of their own */
	FIRST_ADDRESS = 1 << 22
};

struct words {
	uint64_t *data; /* owned */
	size_t n, capacity;
};

struct listing_code {
	size_t first; /* instruction */
	unsigned n;
	bool is_call;	 /* its last instruction calls what is not in the text, */
	unsigned cycles; /* which takes so long, as a comment says; 0: none does */
};

struct trace_listing {
	struct listing_code *blocks; /* owned */
	size_t blocks_capacity;
	struct tact_insn *insns; /* owned; of all blocks */
	size_t n_insns, insns_capacity;
	struct listing_values values;
	struct words head; /* definitions */
	uint32_t n_blocks, n_modules;
	uint32_t callee; /* cycles of what each call without a comment calls */
	uint64_t left;	 /* executions of the whole text */
	uint32_t next;	 /* block of the current one */
	int stage;	 /* 0: head; 1: executions and the end; 2: nothing */
	uint64_t *piece; /* owned */
};

static int add(struct words *w, uint64_t word)
{
	if (tact_grow(&w->data, &w->capacity, w->n + 1, sizeof(*w->data)))
		return -TACT_E_NOMEM;
	w->data[w->n++] = word;
	return 0;
}

static int add_bytes(struct words *w, const void *bytes, size_t size)
{
	const size_t n = wire_words_of((unsigned)size);

	if (tact_grow(&w->data, &w->capacity, w->n + n, sizeof(*w->data)))
		return -TACT_E_NOMEM;
	memset(w->data + w->n, 0, n * 8);
	memcpy(w->data + w->n, bytes, size);
	w->n += n;
	return 0;
}

/* The cycles that a comment gives to the instruction there; 0: none does. */
static unsigned given_cycles(const struct tact_region *r, size_t at)
{
	unsigned cycles = 0;

	for (size_t i = 0; i < r->n_latencies; i++)
		if (at >= r->latencies[i].begin && at < r->latencies[i].end)
			cycles = r->latencies[i].cycles;
	return cycles;
}

static int add_block(struct trace_listing *l, const struct tact_isa *isa, const uint8_t *code,
		     size_t size, unsigned n_insns, size_t last, uint64_t address)
{
	const unsigned n = WIRE_BLOCK_WORDS + wire_words_of((unsigned)size);
	int status = add(&l->head, wire_word(WIRE_BLOCK, n, l->n_blocks));

	if (!status)
		status = add(&l->head, address);
	if (!status)
		status = add(&l->head, size | (uint64_t)n_insns << 16 | (uint64_t)last << 32 |
					       (uint64_t)isa->elf_machine << WIRE_MACHINE_SHIFT);
	if (!status)
		status = add(&l->head, l->n_modules);
	if (!status)
		status = add_bytes(&l->head, code, size);
	if (!status)
		status = tact_grow(&l->blocks, &l->blocks_capacity, l->n_blocks + 1,
				   sizeof(*l->blocks));
	if (!status)
		l->blocks[l->n_blocks++] =
			(struct listing_code){.first = l->n_insns - n_insns, .n = n_insns};
	return status;
}

static int add_insn(struct trace_listing *l, const struct tact_isa *isa, const uint8_t *code,
		    size_t size)
{
	if (tact_grow(&l->insns, &l->insns_capacity, l->n_insns + 1, sizeof(*l->insns)))
		return -TACT_E_NOMEM;
	if (tact_isa_decode(isa, &l->insns[l->n_insns], code, size) <= 0)
		l->insns[l->n_insns] = (struct tact_insn){.n_operands = 0};
	l->n_insns++;
	return 0;
}

/* Each region is a module of its own, so that it has a name: FILE:NAME or FILE:LINE. */
static int add_module(struct trace_listing *l, const char *path, const struct tact_region *r,
		      uint64_t address)
{
	char name[WIRE_MAX_PATH];
	int status, n;

	path = file_base_name(path);
	if (*r->name)
		n = snprintf(name, sizeof(name), "%s:%s", path, r->name);
	else if (r->line)
		n = snprintf(name, sizeof(name), "%s:%llu", path, (unsigned long long)r->line);
	else
		n = snprintf(name, sizeof(name), "%s", path);
	if (n >= WIRE_MAX_PATH)
		n = WIRE_MAX_PATH - 1;
	status =
		add(&l->head, wire_word(WIRE_MODULE, WIRE_MODULE_WORDS + wire_words_of((unsigned)n),
					++l->n_modules));
	if (!status)
		status = add(&l->head, address);
	if (!status)
		status = add(&l->head, address + r->code_size);
	if (!status)
		status = add(&l->head, 0);
	if (!status)
		status = add(&l->head, (uint64_t)n);
	return status ? status : add_bytes(&l->head, name, (size_t)n);
}

/* Blocks end after transfers. */
static int add_region(struct trace_listing *l, const char *path, const struct tact_region *r,
		      uint64_t address, struct tact_diag *diag)
{
	const struct isa_step *step;
	struct code_walk walk;
	size_t begin = 0;
	unsigned n_insns = 0;
	int status = add_module(l, path, r, address);

	code_walk_init(&walk, r->isa, r->code, r->code_size);
	while (!status && (step = code_walk_next(&walk))) {
		const size_t end = walk.next;

		if (!step->is_valid)
			return tact_fail_at(diag, TACT_E_DECODE, r->line, walk.at,
					    "byte %zu of the code is no instruction", walk.at);
		n_insns++;
		status = add_insn(l, r->isa, r->code + walk.at, end - walk.at);
		if (status)
			break;
		if (end < r->code_size && n_insns < MAX_INSNS &&
		    end - begin < WIRE_MAX_BLOCK_BYTES - 16 && step->flow == TACT_FLOW_NEXT)
			continue;
		status = add_block(l, r->isa, r->code + begin, end - begin, n_insns,
				   walk.at - begin, address + begin);
		if (!status && step->flow == TACT_FLOW_CALL) {
			l->blocks[l->n_blocks - 1].is_call = true;
			l->blocks[l->n_blocks - 1].cycles = given_cycles(r, walk.at);
		}
		begin = end;
		n_insns = 0;
	}
	return status ? tact_fail(diag, TACT_E_NOMEM, "out of memory") : 0;
}

static int read_regions(struct trace_listing *l, const char *path, struct tact_input *in,
			struct tact_diag *diag)
{
	uint64_t address = FIRST_ADDRESS;
	struct tact_region r = TACT_REGION_INIT;
	int status = add(&l->head, wire_word(WIRE_NOTE, WIRE_STREAM_WORDS, WIRE_NOTE_STREAM));

	if (!status)
		status = add(&l->head, 0);
	if (!status)
		status = add(&l->head, WIRE_STREAM_FIRST);
	if (status)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	while ((status = tact_input_next(in, &r, diag)) > 0) {
		if (!l->n_blocks)
			listing_values_init(&l->values, r.isa);
		status = add_region(l, path, &r, address, diag);
		if (status)
			break;
		address += (r.code_size / REGION_STEP + 1) * REGION_STEP;
	}
	if (!status && !l->n_blocks)
		status = tact_fail(diag, TACT_E_FORMAT, "there is no code in it");
	return status;
}

int trace_listing_create(struct trace_listing **out, const char *path,
			 const struct tact_input_options *opt, uint64_t iterations,
			 struct tact_diag *diag)
{
	struct trace_listing *l = calloc(1, sizeof(*l));
	struct tact_input *in = NULL;
	int status;

	if (l)
		l->piece = malloc(PIECE_WORDS * sizeof(*l->piece));
	if (!l || !l->piece) {
		trace_listing_destroy(l);
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	}
	l->left = iterations;
	status = tact_input_open(&in, path, opt, diag);
	if (status >= 0 && tact_input_get_kind(in) == TACT_INPUT_ELF)
		status =
			tact_fail(diag, TACT_E_FORMAT,
				  "an ELF file has to be run, to be traced: tact trace -- PROGRAM");
	if (status >= 0)
		status = read_regions(l, path, in, diag);
	tact_input_close(in);
	return HAND_OVER(out, l, status, trace_listing_destroy);
}

void trace_listing_destroy(struct trace_listing *l)
{
	if (!l)
		return;
	FREE_ALL(l->blocks, l->insns);
	free(l->head.data);
	free(l->piece);
	free(l);
}

void trace_listing_set_callee(struct trace_listing *l, uint32_t cycles)
{
	l->callee = cycles;
}

/* Writes an execution: what it calls, itself, its accesses.  Returns the number of words. */
static size_t write_execution(struct trace_listing *l, const struct listing_code *block,
			      uint64_t *words)
{
	const uint64_t callee = block->cycles ? block->cycles : l->callee;
	size_t n = 0;

	if (block->is_call && callee) {
		words[n++] = wire_word(WIRE_NOTE, 1, WIRE_NOTE_CALLEE);
		words[n++] = callee;
	}
	words[n++] = wire_word(WIRE_EXEC, 0, (uint32_t)(block - l->blocks));
	for (unsigned i = 0; i < block->n; i++)
		n += listing_execute(&l->values, &l->insns[block->first + i], i, words + n);
	return n;
}

int trace_listing_next(struct trace_listing *l, struct trace_piece *piece)
{
	size_t n = 0;

	*piece = (struct trace_piece){0, l->piece, 0};
	switch (l->stage) {
	case 0:
		l->stage = 1;
		piece->words = l->head.data;
		piece->n_words = l->head.n;
		return 1;
	case 1:
		while (n + CALL_WORDS + MAX_INSNS * LISTING_MOST_ACCESSES <= PIECE_WORDS &&
		       l->left) {
			n += write_execution(l, &l->blocks[l->next++], l->piece + n);
			if (l->next < l->n_blocks)
				continue;
			l->next = 0;
			l->left--;
		}
		piece->n_words = n;
		if (!n)
			l->stage = 2; /* a piece without words marks the end */
		return 1;
	default:
		return 0;
	}
}
