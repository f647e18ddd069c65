/* SPDX-License-Identifier: MIT
 *
 * See wrong_path.h.  Experiments on Zen 4 (bench/programs/behind_branches.c): a load from memory behind a
 * mispredicted branch that waits for memory costs nothing as long as both fit into the reorder buffer;
 * a second mispredicted branch between them changes nothing, whether its data are near or far, and where
 * it decides about the address and its data are near, nothing either: it was executed, and the right
 * path taken behind it, before the first one was.
 */
#include "sim/wrong_path.h"

#include <string.h>

#include "sim/sim.h"

enum { TO_DISPATCH = 6 /* see sim_waits_for_branch() */ };

/* ---- what followed what ---- */

static unsigned slot_of(uint64_t address)
{
	return (unsigned)(address ^ address >> 12) & (WRONG_CODES - 1);
}

void sim_wrong_path_learn(struct sim_wrong_path *w, const struct sim_program *program,
			  uint64_t address, uint64_t next)
{
	const uint64_t end = address + program->code_size;
	const unsigned code = slot_of(address), branch = slot_of(end);

	w->codes[code].address = address;
	w->codes[code].program = program;
	if (w->branches[branch].end != end) {
		w->branches[branch].end = end;
		w->branches[branch].next[1] = 0;
	} else if (w->branches[branch].next[0] != next) {
		w->branches[branch].next[1] = w->branches[branch].next[0];
	}
	w->branches[branch].next[0] = next;
}

void sim_wrong_path_forget(struct sim_wrong_path *w, uint64_t n_feeds)
{
	w->first_known = n_feeds + 1;
	memset(w->codes, 0, sizeof(w->codes));
	w->waiting = w->feed = 0;
	w->is_open = false;
}

static const struct sim_program *find_code(const struct sim_wrong_path *w, uint64_t address)
{
	const unsigned slot = slot_of(address);

	return w->codes[slot].address == address ? w->codes[slot].program : NULL;
}

/* Returns where a branch went when it last did not go to `except`; 0: nowhere so far. */
static uint64_t usual_next(const struct sim_wrong_path *w, uint64_t end, uint64_t except)
{
	const unsigned slot = slot_of(end);

	if (w->branches[slot].end != end)
		return 0;
	return w->branches[slot].next[w->branches[slot].next[0] == except];
}

/* ---- where paths meet ---- */

static const struct sim_feed *feed_at(const struct sim_state *s, uint64_t feed)
{
	return &s->stream->feeds[feed & (SIM_FEEDS - 1)];
}

/* Returns the instruction of a block that begins at an address, -1 if none does. */
static long insn_at(const struct sim_program *p, uint64_t begin, uint64_t address)
{
	if (address < begin || address >= begin + p->code_size)
		return -1;
	for (size_t i = 0; i < p->n_raws; i++)
		if (begin + p->raws[i].offset == address)
			return p->raws[i].fused_prev ? -1 : (long)p->raws[i].insn;
	return -1;
}

/* Where both paths have the same instructions: after `before` instructions of a block that the wrong one
 * comes to, at instruction `at` of a block of the correct one.
 */
struct meeting {
	uint64_t feed;
	long before, at;
	size_t distance; /* instructions that only one of them has until then */
};

/* Looks for a block of the correct path, from `feed` on, that shares instructions with one of the wrong
 * path, at an address, which comes after `passed` instructions.  p: NULL if it is not known.  The nearest
 * meeting counts: a loop comes by everything again.
 */
static void look_for_meeting(const struct sim_state *s, uint64_t feed, uint64_t address,
			     const struct sim_program *p, size_t passed, struct meeting *nearest)
{
	for (; feed < s->stream->n_feeds && passed < nearest->distance; feed++) {
		const struct sim_feed *f = feed_at(s, feed);
		long at = insn_at(f->program, f->address, address), before = 0;

		if (at < 0 && p) {
			before = insn_at(p, address, f->address);
			at = before < 0 ? -1 : 0;
		}
		if (at >= 0 && passed + (size_t)(at + before) < nearest->distance)
			*nearest =
				(struct meeting){feed, before, at, passed + (size_t)(at + before)};
		passed += f->program->n_insns;
	}
}

/* Counts the accesses of an instruction.  *access: one of the block that is not behind them; moves on to
 * the first of them.
 */
static uint32_t count_accesses(const struct sim_state *s, const struct sim_feed *f,
			       const struct sim_insn *insn, uint64_t *access)
{
	const struct sim_stream *t = s->stream;
	const uint64_t end = f->first_access + f->n_accesses;
	uint32_t n = 0;

	if (!f->has_accesses)
		return 0;
	while (*access < end && t->accesses[*access & (t->access_capacity - 1)].insn < insn->insn)
		++*access;
	while (*access + n < end && t->accesses[(*access + n) & (t->access_capacity - 1)].insn <=
					    insn->insn + insn->is_pair)
		n++;
	return n;
}

/* What the correct path does before they meet, the wrong one does not do. */
static void pass_correct(struct sim_state *s, uint64_t feed, const struct meeting *meeting)
{
	for (; feed <= meeting->feed; feed++) {
		const struct sim_feed *f = feed_at(s, feed);
		const size_t n = feed == meeting->feed ? (size_t)meeting->at : f->program->n_insns;
		uint64_t access = f->first_access;

		for (size_t i = 0; i < n; i++) {
			const struct sim_insn *insn = &f->program->insns[i];
			const uint32_t accesses = count_accesses(s, f, insn, &access);

			sim_ghost_taint(s, insn, access, accesses);
			access += accesses;
		}
	}
}

static void add_piece(struct sim_wrong_path *w, const struct sim_program *p, size_t to)
{
	if (to)
		w->pieces[w->n_pieces++] = (struct wrong_piece){.program = p, .to = (uint32_t)to};
}

/* Goes on with a block of the correct path, from an instruction on. */
static void follow(struct sim_state *s, uint64_t feed, size_t from)
{
	struct sim_wrong_path *w = &s->stream->wrong;
	const struct sim_program *p = feed_at(s, feed)->program;

	w->pieces[w->n_pieces++] = (struct wrong_piece){.program = p,
							.from = (uint32_t)from,
							.to = (uint32_t)p->n_insns,
							.is_common = true,
							.feed = feed};
}

static void enter_piece(struct sim_state *s)
{
	struct sim_wrong_path *w = &s->stream->wrong;

	if (w->pieces[w->piece].is_common)
		w->next_access = feed_at(s, w->pieces[w->piece].feed)->first_access;
}

/* A branch was mispredicted: takes the way that it was expected to go, which is the other one that it is
 * known to go.  Returns whether that meets the correct one.
 */
static bool diverge(struct sim_state *s, uint64_t feed)
{
	struct sim_wrong_path *w = &s->stream->wrong;
	const struct sim_feed *branch = feed_at(s, feed - 1);
	const struct sim_program *codes[WRONG_BLOCKS];
	struct meeting nearest = {.distance = s->rob_size};
	uint64_t address = usual_next(w, branch->address + branch->program->code_size,
				      feed_at(s, feed)->address);
	unsigned n = 0, meets = 0;
	size_t passed = 0;

	for (; address && n < WRONG_BLOCKS && passed < nearest.distance; n++) {
		const size_t farthest = nearest.distance;

		codes[n] = find_code(w, address);
		look_for_meeting(s, feed, address, codes[n], passed, &nearest);
		meets = nearest.distance < farthest ? n + 1 : meets;
		if (!codes[n])
			break;
		passed += codes[n]->n_insns;
		address = usual_next(w, address + codes[n]->code_size, 0);
	}
	w->piece = w->n_pieces = 0;
	if (!meets)
		return false;
	for (unsigned i = 0; i + 1 < meets; i++)
		add_piece(w, codes[i], codes[i]->n_insns);
	add_piece(w, codes[meets - 1], (size_t)nearest.before);
	follow(s, nearest.feed, (size_t)nearest.at);
	pass_correct(s, feed, &nearest);
	enter_piece(s);
	return true;
}

/* ---- fetch ---- */

/* Goes on with a whole block of the correct path. */
static void go_on(struct sim_state *s, uint64_t feed)
{
	struct sim_wrong_path *w = &s->stream->wrong;

	w->piece = w->n_pieces = 0;
	follow(s, feed, 0);
	enter_piece(s);
}

/* An inner branch was mispredicted: the wrong way again, until it is executed. */
static void enter_inner(struct sim_state *s, uint64_t feed)
{
	struct sim_wrong_path *w = &s->stream->wrong;

	/* What goes by other data than on the correct path says nothing. */
	if (w->n_inner < WRONG_BRANCHES && !w->ghosts[w->now.n_ghosts - 1].is_tainted) {
		w->inner[w->n_inner].feed = feed;
		w->inner[w->n_inner++].before = w->now;
	}
	if (!diverge(s, feed))
		w->has_ended = true;
}

/* Comes to the next block. */
static void turn(struct sim_state *s)
{
	struct sim_wrong_path *w = &s->stream->wrong;
	const uint64_t feed = w->pieces[w->piece++].feed + 1;

	if (w->piece < w->n_pieces) {
		enter_piece(s);
	} else if (feed >= s->stream->n_feeds) {
		w->has_ended = true;
	} else if (feed_at(s, feed)->is_mispredicted) {
		enter_inner(s, feed);
	} else {
		go_on(s, feed);
	}
}

/* What repeats itself takes its own time, and nothing behind it begins before it is over. */
static bool is_repeated(const struct sim_state *s, const struct wrong_piece *piece,
			const struct sim_insn *insn)
{
	return piece->is_common && insn->is_last && feed_at(s, piece->feed)->repeat_cycles;
}

/* Renames what comes next, as many as fit into a cycle. */
static void rename_some(struct sim_state *s)
{
	struct sim_wrong_path *w = &s->stream->wrong;
	unsigned left = (unsigned)s->params->issue_width;

	sim_ghosts_count(s);
	while (!w->has_ended && left) {
		struct wrong_piece *piece = &w->pieces[w->piece];
		const struct sim_insn *insn;
		uint32_t n = 0;

		if (piece->from == piece->to) {
			turn(s);
			continue;
		}
		insn = &piece->program->insns[piece->from];
		if (!sim_ghosts_have_room(s, insn)) {
			w->fetched_at = s->clock + WRONG_POLL;
			return;
		}
		if (piece->is_common)
			n = count_accesses(s, feed_at(s, piece->feed), insn, &w->next_access);
		if (is_repeated(s, piece, insn) ||
		    !sim_ghost_add(s, piece->program, insn, piece->is_common, w->next_access, n)) {
			w->has_ended = true;
			return;
		}
		w->next_access += n;
		piece->from++;
		left -= insn->n_fused < left ? insn->n_fused : left;
	}
}

/* An inner branch is executed: what came behind it is dropped, and its right way fetched. */
static void resolve_inner(struct sim_state *s)
{
	struct sim_wrong_path *w = &s->stream->wrong;

	for (unsigned i = 0; i < w->n_inner; i++) {
		const struct wrong_branch *b = &w->inner[i];
		const struct sim_ghost *g = &w->ghosts[b->before.n_ghosts - 1];

		if (g->done > s->clock)
			continue;
		w->fetched_at = g->done + s->params->branch_penalty - TO_DISPATCH;
		w->n_inner = i;
		w->has_ended = false;
		sim_ghosts_return(w, &b->before);
		go_on(s, b->feed);
		return;
	}
}

/* ---- the branch ---- */

/* Tells whether anything can be gained: a line that is not in the first level. */
static bool has_misses(const struct sim_state *s, uint64_t feed)
{
	for (; feed < s->stream->n_feeds; feed++)
		if (feed_at(s, feed)->misses)
			return true;
	return false;
}

/* Begins the wrong path of the branch that fetch waits for. */
static void begin(struct sim_state *s)
{
	struct sim_wrong_path *w = &s->stream->wrong;

	w->feed = w->waiting;
	w->is_open = false;
	if (!s->stream->follows_trips || !has_misses(s, w->feed))
		return;
	w->has_ended = false;
	w->n_inner = w->n_pending = 0;
	w->fetched_at = w->look_at = s->clock;
	w->now = (struct wrong_state){.sequence = 1};
	for (unsigned k = 0; k <= ISA_MAX_KEYS; k++)
		w->now.values[k] = (wrong_value)(WRONG_OLD | k);
	memset(w->granules, 0, sizeof(w->granules));
	w->is_open = diverge(s, w->feed);
}

void sim_wrong_path_run(struct sim_state *s)
{
	struct sim_wrong_path *w = &s->stream->wrong;
	int32_t resumes;

	if (w->waiting != w->feed && !s->idq_count)
		begin(s);
	if (!w->is_open)
		return;
	resumes = feed_at(s, w->feed)->resume_at;
	if (resumes && s->clock > resumes - s->params->branch_penalty + TO_DISPATCH) {
		w->is_open = false;
		return;
	}
	if (w->n_inner)
		resolve_inner(s);
	if (s->clock >= w->fetched_at)
		rename_some(s);
	if (s->clock >= w->look_at)
		sim_ghosts_run(s);
}
