/* SPDX-License-Identifier: MIT
 *
 * When instructions retire: the blocks around a sample go through the simulated pipeline, in the
 * order in which they ran.  Results are remembered by that order: loops come again and again.
 */
#include <stdlib.h>
#include <string.h>

#include <tact/block.h>
#include <tact/model.h>
#include <tact/simulate.h>

#include "mix/virtual.h"

enum {
	MAX_INSNS = 512 * (MIX_PAST + 1 + MIX_FUTURE), /* QEMU's blocks have 512 at most */
	MEMO = 1 << 16
};

/* A result: a place in the window. */
struct memo {
	uint64_t hash; /* 0: none */
	uint16_t block, insn;
};

struct mix_retirement {
	const struct tact_arch *arch;
	struct tact_block *block;
	struct tact_stream *stream;
	uint64_t fed; /* blocks, ever */
	/* of the simulated window */
	uint64_t first_feed;
	uint32_t n_feeds;
	uint32_t first_insn[MIX_PAST + 1 + MIX_FUTURE], n_insns[MIX_PAST + 1 + MIX_FUTURE];
	int64_t *retired; /* cycle, of all instructions of the window */
	struct memo *memo;
};

static int on_uop(void *arg, const struct tact_sim_uop *u)
{
	struct mix_retirement *r = arg;
	uint64_t feed = u->iteration - r->first_feed;

	if (feed < r->n_feeds && u->insn < r->n_insns[feed])
		r->retired[r->first_insn[feed] + u->insn] = u->retired;
	return 0;
}

static int open_stream(struct mix_retirement *r, struct tact_diag *diag)
{
	int status = tact_model_stream_create(&r->stream, "sim", diag);

	if (status < 0)
		return status;
	r->fed = 0;
	return tact_stream_watch(r->stream, on_uop, r);
}

int mix_retirement_create(struct mix_retirement **out, const struct tact_arch *arch,
			  struct tact_diag *diag)
{
	struct tact_block_options o = {.size = sizeof(o), .mode = TACT_MODE_UNROLL};
	struct mix_retirement *r = calloc(1, sizeof(*r));
	int status = -TACT_E_NOMEM;

	if (!r)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	r->arch = arch;
	r->retired = malloc(MAX_INSNS * sizeof(*r->retired));
	r->memo = calloc(MEMO, sizeof(*r->memo));
	if (r->retired && r->memo)
		status = tact_block_create(&r->block, arch, &o, diag);
	else
		tact_fail(diag, TACT_E_NOMEM, "out of memory");
	if (status >= 0)
		status = open_stream(r, diag);
	return HAND_OVER(out, r, status, mix_retirement_destroy);
}

void mix_retirement_destroy(struct mix_retirement *r)
{
	if (!r)
		return;
	tact_stream_destroy(r->stream);
	tact_block_destroy(r->block);
	FREE_ALL(r->retired, r->memo, r);
}

/* ---- one window ---- */

static void try_block(struct mix_retirement *r, struct mix_vblock *b)
{
	const struct tact_trace_block *x = b->block;
	uint32_t number;

	if (b->is_tried)
		return;
	b->is_tried = true;
	if (tact_block_load(r->block, x->code, x->code_size, NULL) < 0 ||
	    tact_block_length(r->block) != x->n_insns ||
	    tact_stream_add(r->stream, r->block, &number) < 0)
		return;
	b->simulated = number + 1;
}

/* Fills retired[]; what cannot be simulated retires together with what comes before it. */
static int simulate(struct mix_retirement *r, const struct mix_window *w)
{
	uint32_t n = 0;
	int64_t last = 0;
	int status = 0;

	r->first_feed = r->fed;
	r->n_feeds = 0;
	for (uint32_t i = 0; i < w->n; i++) {
		try_block(r, w->blocks[i]);
		n += w->blocks[i]->block->n_insns;
	}
	memset(r->retired, 0xff, n * sizeof(*r->retired));
	n = 0;
	for (uint32_t i = 0; i < w->n && status >= 0; i++) {
		const struct mix_vblock *b = w->blocks[i];

		if (b->simulated) {
			r->first_insn[r->n_feeds] = n;
			r->n_insns[r->n_feeds] = b->block->n_insns;
			r->n_feeds++;
			status = tact_stream_feed(r->stream, b->simulated - 1, b->block->address,
						  NULL, 0);
			r->fed++;
		}
		n += b->block->n_insns;
	}
	if (status >= 0)
		status = tact_stream_drain(r->stream);
	for (uint32_t i = 0; i < n; i++) {
		if (r->retired[i] < last)
			r->retired[i] = last;
		last = r->retired[i];
	}
	return status == -TACT_E_NOMEM ? status : 0;
}

static void find(const struct mix_retirement *r, struct mix_window *w, uint32_t skid)
{
	uint32_t at = w->insn, block = w->block, insn = w->insn;
	int64_t limit;

	for (uint32_t i = 0; i < w->block; i++)
		at += w->blocks[i]->block->n_insns;
	limit = r->retired[at] + skid;
	for (;;) {
		if (++insn >= w->blocks[block]->block->n_insns) {
			insn = 0;
			if (++block >= w->n)
				break;
		}
		if (r->retired[++at] > limit)
			break;
	}
	if (block < w->n) {
		w->block = block;
		w->insn = insn;
	} else { /* everything known retired at once: take the last */
		w->block = w->n - 1;
		w->insn = w->blocks[w->block]->block->n_insns - 1;
	}
}

static uint64_t hash_window(const struct mix_window *w, uint32_t skid)
{
	uint64_t h = 0x9e3779b97f4a7c15u + skid;

	for (uint32_t i = 0; i < w->n; i++) {
		h = (h ^ w->blocks[i]->block->number) * 0xbf58476d1ce4e5b9u;
		h ^= h >> 29;
	}
	h = (h ^ ((uint64_t)w->block << 32 | w->insn)) * 0x94d049bb133111ebu;
	h ^= h >> 31;
	return h ? h : 1;
}

int mix_retirement_after(struct mix_retirement *r, struct mix_window *w, uint32_t skid)
{
	uint64_t hash = hash_window(w, skid);
	struct memo *memo = &r->memo[hash & (MEMO - 1)];

	if (memo->hash == hash) {
		w->block = memo->block;
		w->insn = memo->insn;
		return 0;
	}
	if (simulate(r, w) < 0)
		return -TACT_E_NOMEM;
	find(r, w, skid);
	*memo = (struct memo){hash, (uint16_t)w->block, (uint16_t)w->insn};
	return (int)w->n;
}
