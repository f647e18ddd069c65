/* SPDX-License-Identifier: MIT
 *
 * Several profiles that are added up: whether they can be, and their common summary.
 */
#include <stdlib.h>
#include <string.h>

#include "mix/mix.h"

static struct tact_mix_summary summary_of(const struct tact_mix *mix)
{
	struct tact_mix_summary s = TACT_MIX_SUMMARY_INIT;

	tact_mix_get_summary(mix, &s);
	return s;
}

/* Executions add up.  Relative numbers do only if they have the same unit. */
int mix_check_all(const struct tact_mix *const *mixes, size_t n, struct tact_diag *diag)
{
	struct tact_mix_summary first, s;

	for (size_t i = 0; mixes && i < n; i++)
		if (!mixes[i])
			return tact_fail(diag, TACT_E_INVAL, "a mix is missing");
	if (!mixes || !n)
		return tact_fail(diag, TACT_E_INVAL, "a mix is missing");
	first = summary_of(mixes[0]);
	for (size_t i = 1; i < n; i++) {
		s = summary_of(mixes[i]);
		if (s.is_relative != first.is_relative)
			return tact_fail(diag, TACT_E_NOT_MODELLED,
					 "the recordings do not add up: only shares mean something "
					 "in number %zu, and the others count executions",
					 s.is_relative ? i + 1 : (size_t)1);
		if (s.is_relative && (strcmp(s.ebs_event, first.ebs_event) != 0 ||
				      strcmp(s.lbr_event, first.lbr_event) != 0))
			return tact_fail(diag, TACT_E_NOT_MODELLED,
					 "the recordings do not add up: number %zu has samples of "
					 "another event than the first, and only shares mean "
					 "something in both",
					 i + 1);
	}
	return 0;
}

/* ---- what several profiles have, counted once ---- */

struct place {
	const char *path;
	uint64_t address;
	bool is_biased;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	const int order = strcmp(x->path, y->path);

	return order ? order : ORDER(x->address, y->address);
}

static void count_places(struct place *places, size_t n, struct tact_mix_summary *to)
{
	qsort(places, n, sizeof(*places), compare_places);
	for (size_t i = 0; i < n;) {
		bool is_biased = false;
		size_t first = i;

		while (i < n && !compare_places(&places[first], &places[i]))
			is_biased |= places[i++].is_biased;
		to->blocks++;
		to->biased_blocks += is_biased;
	}
}

static void count_paths(struct place *places, size_t n, struct tact_mix_summary *to)
{
	qsort(places, n, sizeof(*places), compare_places);
	for (size_t i = 0; i < n; i++)
		to->modules += !i || strcmp(places[i - 1].path, places[i].path) != 0;
}

static int count_once(const struct tact_mix *const *mixes, size_t n, struct tact_mix_summary *to)
{
	size_t room = 1, n_blocks = 0, n_paths = 0;
	struct place *blocks, *paths;

	for (size_t i = 0; i < n; i++)
		room += mixes[i]->n_profiles + mixes[i]->modules.n;
	blocks = calloc(room, sizeof(*blocks));
	paths = calloc(room, sizeof(*paths));
	for (size_t i = 0; i < n && blocks && paths; i++) {
		struct tact_mix_block b = TACT_MIX_BLOCK_INIT;

		for (size_t k = 0; !tact_mix_get_block(mixes[i], k, &b); k++)
			if (b.executions > 0)
				blocks[n_blocks++] =
					(struct place){b.module, b.address, b.is_biased};
		for (size_t k = 0; k < mixes[i]->modules.n; k++)
			if (mixes[i]->modules.items[k].n_codes)
				paths[n_paths++].path = mixes[i]->modules.items[k].path;
	}
	if (blocks && paths) {
		count_places(blocks, n_blocks, to);
		count_paths(paths, n_paths, to);
	}
	room = blocks && paths;
	FREE_ALL(blocks, paths);
	return room ? 0 : -TACT_E_NOMEM;
}

/* ---- the summary ---- */

static void add_counts(struct tact_mix_summary *to, const struct tact_mix_summary *s)
{
	to->samples += s->samples;
	to->ebs_samples += s->ebs_samples;
	to->lbr_samples += s->lbr_samples;
	to->branches += s->branches;
	to->lost += s->lost;
	to->throttled += s->throttled;
	to->unknown_records += s->unknown_records;
	to->bad_records += s->bad_records;
	to->outside_samples += s->outside_samples;
	to->streams += s->streams;
	to->outside_streams += s->outside_streams;
	to->impossible_streams += s->impossible_streams;
	to->threads += s->threads;
	to->missing_modules += s->missing_modules;
	to->blocks_by_lbr += s->blocks_by_lbr;
	to->blocks_by_ebs += s->blocks_by_ebs;
	to->flow_blocks += s->flow_blocks;
	to->flow_outliers += s->flow_outliers;
	to->bytes += s->bytes;
	to->newest_dropped |= s->newest_dropped;
	to->windows += s->windows;
	to->recordings++;
}

/* The mean of a share, after a profile with a weight of its own. */
static double mean(double share, double weight, double more, double more_weight)
{
	const double all = weight + more_weight;

	return all > 0 ? (share * weight + more * more_weight) / all : 0;
}

/* Before the counts. */
static void add_shares(struct tact_mix_summary *to, const struct tact_mix_summary *s)
{
	const double stacks = (double)to->lbr_samples, more_stacks = (double)s->lbr_samples;

	to->newest_impossible =
		mean(to->newest_impossible, stacks, s->newest_impossible, more_stacks);
	to->other_impossible = mean(to->other_impossible, (double)to->streams, s->other_impossible,
				    (double)s->streams);
	to->instructions_by_lbr = mean(to->instructions_by_lbr, to->instructions,
				       s->instructions_by_lbr, s->instructions);
	to->instructions += s->instructions;
	if (to->flow_error < 0)
		to->flow_error = s->flow_error;
	else if (s->flow_error >= 0)
		to->flow_error = mean(to->flow_error, (double)to->flow_blocks, s->flow_error,
				      (double)s->flow_blocks);
}

/* An event that only one of them has is that one's. */
static const char *common_event(const char *a, const char *b)
{
	if (!a[0] || !strcmp(a, b))
		return b;
	return b[0] ? "several events" : a;
}

/* Windows were added to the ladder late: their errors are between those of branch stacks and of
 * samples that skid.
 */
static double rank(enum tact_mix_rung rung)
{
	return rung == TACT_MIX_RUNG_WINDOWS ? TACT_MIX_RUNG_PRECISE + 0.5 : (double)rung;
}

static void add_texts(struct tact_mix_summary *to, const struct tact_mix_summary *s)
{
	if (strcmp(to->command, s->command) != 0)
		to->command = "";
	to->ebs_event = common_event(to->ebs_event, s->ebs_event);
	to->lbr_event = common_event(to->lbr_event, s->lbr_event);
	if (to->ebs_period != s->ebs_period)
		to->ebs_period = 0;
	if (to->lbr_period != s->lbr_period)
		to->lbr_period = 0;
	if (to->method != s->method)
		to->method = TACT_MIX_HYBRID;
	if (rank(s->rung) > rank(to->rung)) /* the worst one */
		to->rung = s->rung;
}

int tact_mix_get_summary_all(const struct tact_mix *const *mixes, size_t n,
			     struct tact_mix_summary *out, struct tact_diag *diag)
{
	struct tact_mix_summary to, s;
	int status = mix_check_all(mixes, n, diag);

	if (status < 0)
		return status;
	to = summary_of(mixes[0]);
	for (size_t i = 1; i < n; i++) {
		s = summary_of(mixes[i]);
		add_shares(&to, &s);
		add_counts(&to, &s);
		add_texts(&to, &s);
	}
	if (n > 1) {
		to.blocks = to.biased_blocks = to.modules = 0;
		if (count_once(mixes, n, &to) < 0)
			return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	}
	return out ? tact_fill(out, &to, sizeof(to))
		   : tact_fail(diag, TACT_E_INVAL, "no place for the summary");
}
