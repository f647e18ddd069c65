/* SPDX-License-Identifier: MIT
 *
 * Sorts records in bounded memory, by merging.
 *
 * New records wait behind those that are sorted.  When there is no room, they are sorted and merged
 * with the others.  Only if that joins too few of them, all go to the file as a run.  Runs are merged
 * when there are many, neighbours with neighbours, so that sorting is stable.
 */
#include <stdlib.h>
#include <string.h>

#include "evaluate/sorted_runs.h"

enum { FIRST_CAPACITY = 1024, FAN = 32, SHORT = 8 };

struct sorter_run {
	uint64_t begin, end;
	unsigned level; /* how often its records were merged */
};

void sorter_init(struct sorter *s, const struct sort_order *order, size_t most, const char *folder)
{
	*s = (struct sorter){.order = *order, .most = most, .spill = SPILL_INIT(folder)};
}

void sorter_fini(struct sorter *s)
{
	FREE_ALL(s->record, s->other, s->run);
	spill_close(&s->spill);
	s->record = s->other = NULL;
	s->run = NULL;
}

/* ---- in memory ---- */

/* Counts pairs that change places: what was taken from the right, while records of the same tag are
 * left on the left.
 */
struct crossing {
	uint64_t tag;
	double sum;
};

static inline void from_right(struct crossing *c, const struct run_record *r)
{
	if (c->tag != r->tag)
		*c = (struct crossing){.tag = r->tag};
	c->sum += r->w;
}

static inline void from_left(const struct crossing *c, const struct run_record *r,
			     struct sum *crossed)
{
	if (c->tag == r->tag && c->sum > 0)
		sum_add_product(&crossed[r->tag], r->w, c->sum);
}

/* Merges two sorted neighbours, and joins equal records if it is to.  Returns how many there are. */
static size_t merge(const struct sort_order *o, const struct run_record *left, size_t n_left,
		    const struct run_record *right, size_t n_right, struct run_record *to,
		    bool joins)
{
	const struct run_record *l = left, *l_end = left + n_left, *r = right,
				*r_end = right + n_right;
	struct crossing crossing = {.tag = UINT64_MAX};
	struct run_record *out = to;

	while (l < l_end || r < r_end) {
		int order = r == r_end ? -1 : l == l_end ? 1 : o->compare(o->context, l, r);

		if (order <= 0) {
			if (o->crossed)
				from_left(&crossing, l, o->crossed);
			*out = *l++;
			if (joins && !order) {
				if (o->crossed)
					from_right(&crossing, r);
				o->join(out, r++);
			}
			out++;
		} else {
			if (o->crossed)
				from_right(&crossing, r);
			*out++ = *r++;
		}
	}
	return (size_t)(out - to);
}

/* A few records, by insertion; each step turns a pair around. */
static void sort_few(const struct sort_order *o, struct run_record *p, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		const struct run_record x = p[i];
		size_t k = i;

		for (; k > 0 && o->compare(o->context, &p[k - 1], &x) > 0; k--) {
			if (o->crossed && p[k - 1].tag == x.tag)
				sum_add_product(&o->crossed[x.tag], x.w, p[k - 1].w);
			p[k] = p[k - 1];
		}
		p[k] = x;
	}
}

/* Sorts p; q has the same room.  Returns which of the two has the result. */
static struct run_record *sort_many(const struct sort_order *o, struct run_record *p,
				    struct run_record *q, size_t n)
{
	for (size_t low = 0; low < n; low += SHORT)
		sort_few(o, p + low, n - low < SHORT ? n - low : SHORT);
	for (size_t width = SHORT; width < n; width *= 2) {
		struct run_record *swap = p;

		for (size_t low = 0; low < n; low += 2 * width) {
			size_t rest = n - low, left = rest < width ? rest : width;
			size_t right = rest < 2 * width ? rest - left : width;

			merge(o, p + low, left, p + low + left, right, q + low, false);
		}
		p = q;
		q = swap;
	}
	return p;
}

/* Joins equal neighbours.  Returns how many there are. */
static size_t join_equal(const struct sort_order *o, struct run_record *p, size_t n)
{
	size_t to = 0;

	for (size_t i = 1; i < n; i++) {
		if (!o->compare(o->context, &p[to], &p[i]))
			o->join(&p[to], &p[i]);
		else
			p[++to] = p[i];
	}
	return n ? to + 1 : 0;
}

/* Sorts all that is in memory. */
static void settle(struct sorter *s)
{
	struct run_record *tail, *swap = s->record;
	size_t n = s->n - s->n_sorted;
	const struct run_record *sorted;

	if (!n)
		return;
	tail = s->record + s->n_sorted;
	sorted = sort_many(&s->order, tail, s->other, n);
	if (sorted != tail)
		memcpy(tail, sorted, n * sizeof(*tail));
	n = join_equal(&s->order, tail, n);
	s->n = s->n_sorted = merge(&s->order, s->record, s->n_sorted, tail, n, s->other, true);
	s->record = s->other;
	s->other = swap;
}

/* ---- runs ---- */

static int put(void *arg, const void *data, size_t size, struct tact_diag *diag)
{
	return spill_write(arg, data, size, diag);
}

static int get(void *arg, void *to, size_t size, uint64_t offset, struct tact_diag *diag)
{
	return spill_read(arg, to, size, offset, diag);
}

/* One of several runs, or what two of them give: a tree, with a run at each leaf. */
struct stream {
	struct run_reader *reader; /* owned; NULL: not a leaf */
	uint32_t left, right;	   /* streams; left of a leaf is not used */
	struct run_record head;
	int has; /* 1: there is a head, 0: it is at its end */
	struct crossing crossing;
};

struct merging {
	const struct sort_order *order;
	struct stream stream[2 * FAN];
	size_t n;
};

static int advance(struct merging *m, struct stream *s, struct tact_diag *diag);

/* Gives the next record of two streams. */
static int choose(struct merging *m, struct stream *s, struct tact_diag *diag)
{
	const struct sort_order *o = m->order;
	struct stream *l = &m->stream[s->left], *r = &m->stream[s->right];
	int order, status;

	if (!l->has && !r->has)
		return s->has = 0;
	s->has = 1;
	order = !r->has ? -1 : !l->has ? 1 : o->compare(o->context, &l->head, &r->head);
	s->head = order <= 0 ? l->head : r->head;
	if (o->crossed && order <= 0)
		from_left(&s->crossing, &l->head, o->crossed);
	if (o->crossed && order >= 0)
		from_right(&s->crossing, &r->head);
	if (!order)
		o->join(&s->head, &r->head);
	status = order <= 0 ? advance(m, l, diag) : 0;
	return status >= 0 && order >= 0 ? advance(m, r, diag) : status;
}

static int advance(struct merging *m, struct stream *s, struct tact_diag *diag)
{
	int status;

	if (!s->reader)
		return choose(m, s, diag);
	status = run_read(s->reader, &s->head, diag);
	s->has = status > 0;
	return status < 0 ? status : 0;
}

static void merging_close(struct merging *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->stream[i].reader);
}

/* Opens runs that follow each other; the last stream is the root. */
static int merging_open(struct merging *m, struct sorter *s, size_t first, size_t n,
			struct tact_diag *diag)
{
	uint32_t row[FAN];
	int status = 0;

	*m = (struct merging){.order = &s->order};
	for (; m->n < n; m->n++) {
		const struct sorter_run *run = &s->run[first + m->n];
		struct run_reader *reader = malloc(sizeof(*reader));

		if (!reader)
			return tact_fail(diag, TACT_E_NOMEM, "out of memory");
		run_reader_init(reader, get, &s->spill, run->begin, run->end);
		row[m->n] = (uint32_t)m->n;
		m->stream[m->n].reader = reader;
	}
	for (size_t i = 0; i < m->n && status >= 0; i++)
		status = advance(m, &m->stream[i], diag);
	while (n > 1 && status >= 0) {
		size_t next = 0;

		for (size_t i = 0; i < n && status >= 0; i += 2) {
			if (i + 1 == n) {
				row[next++] = row[i];
				continue;
			}
			m->stream[m->n] = (struct stream){
				.left = row[i], .right = row[i + 1], .crossing.tag = UINT64_MAX};
			status = advance(m, &m->stream[m->n], diag);
			row[next++] = (uint32_t)m->n++;
		}
		n = next;
	}
	return status;
}

static int write_merged(struct sorter *s, size_t first, size_t n, struct run_writer *w,
			struct tact_diag *diag)
{
	struct merging *m = malloc(sizeof(*m));
	struct stream *root;
	int status;

	if (!m)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	status = merging_open(m, s, first, n, diag);
	root = m->n ? &m->stream[m->n - 1] : NULL;
	while (status >= 0 && root && root->has) {
		status = run_write(w, &root->head, diag);
		if (status >= 0)
			status = advance(m, root, diag);
	}
	merging_close(m);
	free(m);
	return status;
}

static int write_own(struct sorter *s, struct run_writer *w, struct tact_diag *diag)
{
	int status = 0;

	for (size_t i = 0; i < s->n && status >= 0; i++)
		status = run_write(w, &s->record[i], diag);
	s->n = s->n_sorted = 0;
	return status;
}

/* Makes one run: of the last n runs or, for 0, of what is in memory. */
static int make_run(struct sorter *s, size_t n, struct tact_diag *diag)
{
	struct sorter_run run = {.begin = s->spill.size};
	struct run_writer *w = malloc(sizeof(*w));
	size_t first = s->n_runs - n;
	int status;

	if (!w || tact_grow(&s->run, &s->run_capacity, s->n_runs + 1, sizeof(*s->run)) < 0) {
		free(w);
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	}
	run_writer_init(w, put, &s->spill);
	status = n ? write_merged(s, first, n, w, diag) : write_own(s, w, diag);
	if (status >= 0)
		status = run_flush(w, diag);
	free(w);
	for (size_t i = first; i < s->n_runs; i++) {
		spill_forget(&s->spill, s->run[i].begin, s->run[i].end);
		if (run.level <= s->run[i].level)
			run.level = s->run[i].level + 1;
	}
	run.end = s->spill.size;
	s->run[first] = run;
	s->n_runs = first + 1;
	return status;
}

/* As many as FAN neighbours of a level become one of the next. */
static int tidy(struct sorter *s, struct tact_diag *diag)
{
	int status = 0;

	while (status >= 0 && s->n_runs >= FAN &&
	       s->run[s->n_runs - 1].level == s->run[s->n_runs - FAN].level)
		status = make_run(s, FAN, diag);
	return status;
}

static int make_room(struct sorter *s, struct tact_diag *diag)
{
	size_t capacities[2] = {s->capacity, s->capacity};
	size_t wanted = s->capacity ? 2 * s->capacity : FIRST_CAPACITY;
	int status;

	if (s->capacity < s->most) {
		wanted = wanted < s->most ? wanted : s->most;
		if (tact_grow(&s->record, &capacities[0], wanted, sizeof(*s->record)) < 0 ||
		    tact_grow(&s->other, &capacities[1], wanted, sizeof(*s->other)) < 0)
			return tact_fail(diag, TACT_E_NOMEM, "out of memory");
		s->capacity = capacities[0] < capacities[1] ? capacities[0] : capacities[1];
		return 0;
	}
	settle(s);
	if (s->n <= s->capacity / 2)
		return 0;
	status = make_run(s, 0, diag);
	return status < 0 ? status : tidy(s, diag);
}

int sorter_add(struct sorter *s, const struct run_record *record, struct tact_diag *diag)
{
	if (s->n == s->capacity) {
		int status = make_room(s, diag);

		if (status < 0)
			return status;
	}
	s->record[s->n++] = *record;
	return 0;
}

int sorter_finish(struct sorter *s, struct tact_diag *diag)
{
	int status = 0;

	settle(s);
	if (s->n_runs && s->n)
		status = make_run(s, 0, diag);
	while (status >= 0 && s->n_runs > 1)
		status = make_run(s, s->n_runs < FAN ? s->n_runs : FAN, diag);
	free(s->other);
	s->other = NULL;
	if (s->n_runs) {
		free(s->record);
		s->record = NULL;
	}
	return status;
}

/* ---- walking ---- */

void sorter_walk_init(struct sorter_walk *walk, const struct sorter *s)
{
	walk->s = s;
	walk->i = 0;
	if (s->n_runs)
		run_reader_init(&walk->reader, get, (void *)&s->spill, s->run[0].begin,
				s->run[0].end);
}

int sorter_walk_next(struct sorter_walk *walk, struct run_record *record, struct tact_diag *diag)
{
	if (walk->s->n_runs)
		return run_read(&walk->reader, record, diag);
	if (walk->i == walk->s->n)
		return 0;
	*record = walk->s->record[walk->i++];
	return 1;
}
