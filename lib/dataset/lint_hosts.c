/* SPDX-License-Identifier: MIT
 *
 * Looks for hosts that disagree with the others, or with what is known.
 *
 * Every campaign measures the same few blocks, the canaries, on its host.  Their lowest numbers on
 * two hosts with the same core are the same: other programs and virtual machines only add cycles.
 * Where one differs, so do the rows of that host: its clock is off, it is not the core that it says,
 * or something slows it down all the time.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tact-program/known.h>

#include "base/base.h"
#include "dataset/lint.h"
#include "store/store.h"

#define FAR 1.03 /* more than two rounds of a block may differ, see campaign_work.c */

enum { NAME_SIZE = TACT_STORE_NAME_MAX + 1, ALL = 64 };

/* A host, and the worst that was found of it. */
struct suspect {
	char name[NAME_SIZE], core[96], machine[64];
	unsigned n_canaries, n_off;
	double worst; /* the logarithm of the ratio */
	char hex[2 * 64 + 1], mode[16];
	double cycles, low, high; /* of the others, or as known */
	unsigned n_others;	  /* 0: as known */
};

struct number {
	char host[NAME_SIZE];
	double cycles;
};

struct hosts {
	struct linter *l;
	struct suspect *suspects; /* owned: all hosts, suspected or not */
	size_t n, capacity;
	/* the canary that is being read, on one core */
	struct store_canary of;
	char hex[2 * 64 + 1], mode[16], rest[ALL], core[96];
	struct number *numbers; /* owned; ascending */
	size_t n_numbers, number_capacity;
	bool is_out_of_memory;
};

/* ---- one canary on one core ---- */

static struct suspect *find_suspect(struct hosts *h, const char *name, const char *machine)
{
	for (size_t i = 0; i < h->n; i++)
		if (!strcmp(h->suspects[i].name, name) && !strcmp(h->suspects[i].core, h->core))
			return &h->suspects[i];
	if (tact_grow(&h->suspects, &h->capacity, h->n + 1, sizeof(*h->suspects)) < 0) {
		h->is_out_of_memory = true;
		return NULL;
	}
	h->suspects[h->n] = (struct suspect){.n_canaries = 0};
	store_copy(h->suspects[h->n].name, NAME_SIZE, name);
	store_copy(h->suspects[h->n].core, sizeof(h->core), h->core);
	store_copy(h->suspects[h->n].machine, sizeof(h->suspects[h->n].machine), machine);
	return &h->suspects[h->n++];
}

static void suspect(struct hosts *h, struct suspect *s, double cycles, double low, double high,
		    unsigned n_others)
{
	const double ratio = fabs(log(cycles / (cycles < low ? low : high)));

	if (ratio <= s->worst)
		return;
	s->worst = ratio;
	s->cycles = cycles;
	s->low = low;
	s->high = high;
	s->n_others = n_others;
	store_copy(s->hex, sizeof(s->hex), h->hex);
	store_copy(s->mode, sizeof(s->mode), h->mode);
}

static bool is_far(double a, double b)
{
	return a > FAR * b || b > FAR * a;
}

/* The answer that is known of a canary, whatever the core; NULL: none. */
static const struct tact_known_answer *find_known(const struct hosts *h)
{
	const struct tact_known *known = tact_known();

	if (strcmp(h->mode, "unroll") != 0)
		return NULL;
	for (size_t i = 0; i < TACT_KNOWN_ANSWERS && known->answer[i].hex; i++)
		if (!strcmp(known->answer[i].hex, h->hex))
			return &known->answer[i];
	return NULL;
}

/* The number that most hosts have: the one with most neighbours, of several the lowest. */
static double find_common(const struct hosts *h, unsigned *n_common)
{
	double common = 0;

	*n_common = 0;
	for (size_t i = 0, end = 0; i < h->n_numbers; i++) {
		while (end < h->n_numbers && !is_far(h->numbers[i].cycles, h->numbers[end].cycles))
			end++;
		if (end - i > *n_common) {
			*n_common = (unsigned)(end - i);
			common = h->numbers[(i + end - 1) / 2].cycles;
		}
	}
	return common;
}

static void judge_canary(struct hosts *h)
{
	const struct tact_known_answer *known = find_known(h);
	unsigned n_common;
	const double common = find_common(h, &n_common);

	for (size_t i = 0; i < h->n_numbers; i++) {
		struct suspect *s = find_suspect(h, h->numbers[i].host, "");
		const double cycles = h->numbers[i].cycles;
		bool is_off = false, is_right = false;

		if (!s)
			return;
		s->n_canaries++;
		if (known && (cycles < known->low / FAR || cycles > known->high * FAR)) {
			suspect(h, s, cycles, known->low, known->high, 0);
			is_off = true;
		} else if (known) {
			is_right = known->low == known->high;
		}
		/* Where no two agree, nobody knows who is right, unless the answer is known. */
		if (is_right)
			continue;
		if (is_far(cycles, common) || (n_common == 1 && h->n_numbers > 1)) {
			const double other = n_common > 1 ? common
					     : i	  ? h->numbers[0].cycles
							  : h->numbers[1].cycles;

			suspect(h, s, cycles, other, other,
				n_common > 1 ? n_common : (unsigned)h->n_numbers - 1);
			is_off = true;
		}
		s->n_off += is_off;
	}
	h->n_numbers = 0;
}

static int take_canary(void *context, const struct store_canary *c)
{
	struct hosts *h = context;
	char rest[ALL];

	snprintf(rest, sizeof(rest), "%.15s,%.15s,%.15s", c->init, c->memory, c->vectors);
	if (strcmp(h->hex, c->hex) || strcmp(h->mode, c->mode) || strcmp(h->rest, rest) ||
	    strcmp(h->core, c->core))
		judge_canary(h);
	store_copy(h->hex, sizeof(h->hex), c->hex);
	store_copy(h->mode, sizeof(h->mode), c->mode);
	store_copy(h->rest, sizeof(h->rest), rest);
	store_copy(h->core, sizeof(h->core), c->core);
	if (!find_suspect(h, c->host, c->machine) ||
	    tact_grow(&h->numbers, &h->number_capacity, h->n_numbers + 1, sizeof(*h->numbers)) < 0)
		h->is_out_of_memory = true;
	if (h->is_out_of_memory)
		return 1;
	store_copy(h->numbers[h->n_numbers].host, NAME_SIZE, c->host);
	h->numbers[h->n_numbers++].cycles = c->cycles;
	return 0;
}

/* ---- what is said ---- */

static void report(struct linter *l, const struct suspect *s)
{
	char what[400], others[120], todo[200];
	uint8_t code[64];
	size_t bad;
	const long size = tact_hex_decode(code, s->hex, strlen(s->hex), &bad);
	struct tact_finding f =
		lint_about(TACT_LINT_HOSTS, size > 0 ? code : NULL, size > 0 ? (size_t)size : 0);

	if (!s->n_others && s->low == s->high)
		snprintf(others, sizeof(others), "any core needs %.2f", s->low);
	else if (!s->n_others)
		snprintf(others, sizeof(others), "any core needs %.2f to %.2f", s->low, s->high);
	else
		snprintf(others, sizeof(others), "%u other%s of this core need%s %.2f", s->n_others,
			 s->n_others == 1 ? "" : "s", s->n_others == 1 ? "s" : "", s->low);
	snprintf(what, sizeof(what), "host %s needs %.2f cycles, %s; %u of its %u canaries %s off",
		 s->name, s->cycles, others, s->n_off, s->n_canaries, s->n_off == 1 ? "is" : "are");
	snprintf(todo, sizeof(todo),
		 "leave its rows out (dataset merge --without-host %s), and run 'tact doctor "
		 "--self-test' there",
		 s->name);
	f.machine = s->machine;
	f.mode = s->mode;
	f.value = s->cycles;
	f.bound = s->low;
	f.what = what;
	f.todo = todo;
	lint_report(l, &f);
}

int lint_check_hosts(struct linter *l)
{
	struct hosts h = {.l = l};
	int status;

	if (!(l->opt.checks & TACT_LINT_HOSTS))
		return 0;
	status = store_each_canary(l->store, take_canary, &h, l->diag);
	if (status >= 0 && !h.is_out_of_memory)
		judge_canary(&h);
	if (h.is_out_of_memory)
		status = tact_fail(l->diag, TACT_E_NOMEM, "out of memory");
	for (size_t i = 0; i < h.n && status >= 0; i++)
		if (h.suspects[i].n_off)
			report(l, &h.suspects[i]);
	FREE_ALL(h.suspects, h.numbers);
	return status;
}
