/* SPDX-License-Identifier: MIT
 *
 * Fetch runs ahead of the decoders, along the branches as they were predicted.  So lines of code
 * that are missing are asked for early: decoding waits for them only if they take longer than what
 * is decoded before them, or after a branch that was predicted wrong or not at all.
 */
#include "sim/sim.h"

static uint64_t position(const struct sim_state *s)
{
	return sim_iteration(s->source == BLOCK_FROM_MITE ? s->next_raw : s->next_fetch);
}

/* Tells whether everything before a block was decoded. */
static bool has_come_to(const struct sim_state *s, uint64_t feed)
{
	return position(s) >= feed && !s->iq_count && !s->held && !s->ms_left;
}

/* Tells whether fetch may enter the block that it has come to. */
static bool may_enter(struct sim_state *s, const struct sim_feed *feed)
{
	struct sim_ahead *a = &s->stream->ahead;

	if (!a->has_entered) {
		if (feed->is_mispredicted && sim_waits_for_branch(s, a->feed << SIM_NUMBER_BITS))
			return false;
		if (feed->is_redirected && !has_come_to(s, a->feed))
			return false;
		a->has_entered = true;
		a->line = 0;
		a->free_at = (a->free_at > s->clock ? a->free_at : s->clock) + feed->fetch_delay;
	}
	return a->free_at <= s->clock;
}

/* Asks for a line of code; is_new: fetch was elsewhere until now, on the wrong path. */
static void ask_for(struct sim_state *s, uint64_t line, unsigned level, bool is_new)
{
	const struct arch_params *p = s->params;
	struct sim_ahead *a = &s->stream->ahead;
	struct sim_code_line *l = &a->lines[(a->first + a->n++) & (SIM_CODE_LINES - 1)];
	const bool is_next = line == a->last + 1;
	const int wait = level == 1 ? p->code_l2 : level == 2 ? p->code_l3 : p->code_memory;
	const int apart = level == 3   ? p->code_memory_line
			  : level == 1 ? (is_next ? p->code_l2_next : p->code_l2_line)
			  : is_next    ? p->code_l3_next
				       : p->code_l3_line;
	/* A line that follows the last one was asked for together with that: fetch goes straight on
	 * until the decoders find a jump that it did not know.
	 */
	int64_t at = (s->clock + (is_next && !is_new ? 0 : wait)) * 100ll;

	if (at < a->filled_at + apart)
		at = a->filled_at + apart;
	a->filled_at = at;
	a->last = line;
	l->feed = a->feed;
	l->line = a->line;
	l->ready = (int32_t)(at / 100);
}

/* Asks for the lines of a block that are missing.  False: too many are on their way. */
static bool ask_for_lines(struct sim_state *s, const struct sim_feed *feed)
{
	struct sim_ahead *a = &s->stream->ahead;

	for (; a->line < 32 && feed->code_lines >> 2 * a->line; a->line++) {
		unsigned level = feed->code_lines >> 2 * a->line & 3;

		if (level && a->n == SIM_CODE_LINES)
			return false;
		if (level)
			ask_for(s, feed->address / 64 + a->line, level,
				feed->is_mispredicted && !a->line);
	}
	return true;
}

void sim_ahead_run(struct sim_state *s)
{
	struct sim_ahead *a = &s->stream->ahead;
	const uint64_t most = position(s) + (uint64_t)s->params->code_ahead;

	while (a->feed < s->stream->n_feeds && a->feed < most) {
		const struct sim_feed *feed = &s->stream->feeds[a->feed & (SIM_FEEDS - 1)];

		if (!may_enter(s, feed) || !ask_for_lines(s, feed))
			return;
		a->feed++;
		a->has_entered = false;
	}
}

bool sim_ahead_waits(struct sim_state *s, uint64_t id, uint64_t address)
{
	struct sim_ahead *a = &s->stream->ahead;
	const uint64_t feed = sim_iteration(id);
	const uint64_t line = address / 64 - sim_feed_of(s, id)->address / 64;

	if (a->feed < feed || (a->feed == feed && !a->has_entered))
		return true;
	for (; a->n; a->n--, a->first++) {
		const struct sim_code_line *l = &a->lines[a->first & (SIM_CODE_LINES - 1)];

		if (l->feed > feed || (l->feed == feed && l->line > line))
			break;
		if (l->ready > s->clock)
			return true;
	}
	return a->feed == feed && a->line <= line;
}
