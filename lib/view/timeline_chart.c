/* SPDX-License-Identifier: MIT
 *
 * The timeline in a terminal: uops as rows, cycles as columns, and why a uop waits.  Stretches in
 * which nothing begins or ends take one column, so that uops that wait for long fit on a page.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "view/view.h"

enum {
	PAGE_WIDTH = 100, /* of the legend */
	LEFT_WIDTH = 24,  /* up to the first column of a cycle */
	MIN_REASON = 24,  /* columns that are left for reasons, at least */
	MIN_ROWS = 8,
	MAX_ROWS = 120,
	MIN_GAP = 3 /* a gap stands for at least this many cycles */
};

struct chart_column {
	int64_t cycle;
	int64_t length; /* cycles that it stands for; more than one: a gap */
};

struct chart {
	const struct tact_view *view;
	const struct timeline *t;
	const struct tact_listing *listing;
	int64_t *events;	      /* owned: room for six per row */
	struct chart_column *columns; /* owned: room for all that these become */
	size_t n_columns, n_all;
	size_t n_rows, width;
	bool occurs[256];
};

/* Letters in the order of the legend, with terminal colours. */
static const struct letter {
	char letter;
	const char *color, *help;
	const char *amd; /* in AMD's words; NULL: the same */
} letters[] = {
	{'D', "36", "delivered to the IDQ", "delivered to the op queue"},
	{'b', "33", "waits there: ROB full", "waits there: retire queue full"},
	{'r', "33", "waits there: RS full", "waits there: scheduler full"},
	{'.', "2", "in transit", NULL},
	{'I', "36", "issued", "dispatched"},
	{'=', "33", "waits for an operand", NULL},
	{'p', "31", "port busy", NULL},
	{'d', "31", "divider busy", NULL},
	{'o', "33", "waits for older ones", NULL},
	{'e', "1;32", "executes", NULL},
	{'s', "33", "waits for a store's data", NULL},
	{'E', "1;32", "executed", NULL},
	{'-', "2", "waits to retire", NULL},
	{'R', "36", "retired", NULL},
	{'~', "2", "more cycles of the same", NULL},
};

char tact_view_letter(const struct tact_sim_uop *u, int64_t cycle)
{
	if (!u || cycle < timeline_start(u) || cycle > u->retired)
		return ' ';
	if (cycle == u->retired)
		return 'R';
	if (cycle < u->issued) {
		if (cycle == u->delivered)
			return 'D';
		return u->issue_wait == TACT_WAIT_ROB  ? 'b'
		       : u->issue_wait == TACT_WAIT_RS ? 'r'
						       : '.';
	}
	if (cycle == u->issued)
		return 'I';
	if (u->dispatched < 0)
		return '-';
	if (cycle < u->ready && cycle < u->dispatched)
		return u->operand_wait == TACT_WAIT_OPERAND ? '=' : '.';
	if (cycle < u->dispatched)
		return u->port_wait == TACT_WAIT_DIVIDER ? 'd'
		       : u->port_wait == TACT_WAIT_PORT	 ? 'p'
		       : u->port_wait != TACT_WAIT_NONE	 ? 'o'
							 : '.';
	if (cycle < u->executed)
		return u->operand_wait == TACT_WAIT_STORE && cycle > u->dispatched ? 's' : 'e';
	return cycle == u->executed ? 'E' : '-';
}

/* ---- columns ---- */

static int compare(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void add_column(struct chart *c, int64_t cycle, int64_t length)
{
	c->columns[c->n_columns++] = (struct chart_column){cycle, length};
}

/* Makes columns from the cycles in which something happens. */
static void lay_out(struct chart *c)
{
	int64_t *events = c->events, next;
	size_t n = 0;

	for (size_t i = 0; i < c->n_rows; i++) {
		const struct tact_sim_uop *u = &c->t->uops[i];
		const int64_t of[] = {timeline_start(u), u->issued,   u->ready,
				      u->dispatched,	 u->executed, u->retired};

		for (size_t k = 0; k < ARRAY_SIZE(of); k++)
			if (of[k] >= c->t->begin)
				events[n++] = of[k];
	}
	qsort(events, n, sizeof(*events), compare);
	c->n_columns = 0;
	next = n ? events[0] : 0;
	for (size_t i = 0; i < n; i++) {
		if (events[i] < next)
			continue;
		if (events[i] - next >= MIN_GAP)
			add_column(c, next, events[i] - next);
		else
			for (; next < events[i]; next++)
				add_column(c, next, 1);
		add_column(c, events[i], 1);
		next = events[i] + 1;
	}
}

/* ---- drawing ---- */

/* Adds numbers of cycles, relative to the first column, wherever there is room. */
static void add_scale(const struct chart *c, struct text *out)
{
	size_t start = out->size + LEFT_WIDTH, free_from = 0;

	text_printf(out, "%*s", LEFT_WIDTH, "cycle ");
	for (size_t i = 0; i < c->n_columns; i++) {
		int64_t cycle = c->columns[i].cycle - c->t->begin;
		bool is_break = !i || c->columns[i - 1].length > 1;

		if (c->columns[i].length > 1 || (!is_break && cycle % 10) || i < free_from)
			continue;
		text_pad(out, i, start);
		text_printf(out, "%" PRId64, cycle);
		free_from = out->size - start + 1;
	}
	text_printf(out, "\n%4s%4s %-10s%-4s ", "Iter", "#", "Uop of", "Port");
	for (size_t i = 0; i < c->n_columns; i++)
		text_printf(out, "%c",
			    c->columns[i].length > 1
				    ? '~'
				    : (char)('0' + (c->columns[i].cycle - c->t->begin) % 10));
	text_add(out, "  Waits for (cycles)\n");
}

static const char *color_of(char letter)
{
	for (const struct letter *l = letters; l < letters + ARRAY_SIZE(letters); l++)
		if (l->letter == letter)
			return l->color;
	return "";
}

static void add_cells(struct chart *c, const struct tact_sim_uop *u, struct text *out)
{
	bool in_color = c->view->in_color;
	const char *color = "";

	for (size_t i = 0; i < c->n_columns; i++) {
		char letter = tact_view_letter(u, c->columns[i].cycle);
		const char *wanted;

		if (letter != ' ' && c->columns[i].length > 1)
			letter = '~';
		c->occurs[(unsigned char)letter] = true;
		wanted = color_of(letter);
		if (in_color && strcmp(wanted, color))
			text_printf(out, "\033[0%s%sm", *wanted ? ";" : "", wanted);
		color = wanted;
		text_add_bytes(out, &letter, 1);
	}
	if (in_color && *color)
		text_add(out, "\033[0m");
}

/* Adds as many reasons as there is room for, the longest wait first. */
static void add_reasons(const struct chart *c, const struct tact_sim_uop *u, struct text *out)
{
	struct reason reasons[MAX_REASONS];
	unsigned n = timeline_reasons(u, reasons);
	size_t room = LEFT_WIDTH + c->n_columns + 2, start = out->size, end;

	room = room < c->width - MIN_REASON ? c->width - room : MIN_REASON;
	for (unsigned i = 0; i < n; i++) {
		end = out->size;
		if (i)
			text_add(out, ", ");
		timeline_reason_text(&reasons[i], c->view->arch, c->listing, out);
		if (i && out->size - start + (i + 1 < n ? 3 : 0) > room && !c->view->is_whole) {
			out->size = end;
			text_printf(out, " +%u", n - i);
			return;
		}
	}
}

static void add_port(const struct tact_sim_uop *u, struct text *out)
{
	size_t start = out->size;

	if (u->port >= 0)
		text_printf(out, "p%d", u->port);
	else
		text_add(out, u->eliminated ? "elim" : "-");
	text_pad(out, 4, start);
}

static void add_row(struct chart *c, size_t i, struct text *out)
{
	const struct tact_sim_uop *u = &c->t->uops[i];
	size_t start = out->size;

	if (!i || u->iteration != u[-1].iteration)
		text_printf(out, "%4" PRIu64, u->iteration + 1);
	text_pad(out, 4, start);
	text_printf(out, "%4" PRIu32 " ", u->insn + 1);
	timeline_mnemonic(c->listing, u->insn, out);
	if (out->size - start > 18)
		out->size = start + 18;
	text_pad(out, 19, start);
	add_port(u, out);
	text_pad(out, LEFT_WIDTH, start);
	add_cells(c, u, out);
	text_add(out, "  ");
	add_reasons(c, u, out);
	text_trim(out, 0);
	text_add(out, "\n");
}

/* Returns what a letter means, in the words of a core's vendor. */
static const char *help_of(const struct letter *l, const struct tact_arch *arch)
{
	if (arch && arch->params.terms == PARAMS_TERMS_AMD && l->amd)
		return l->amd;
	return l->help;
}

static void add_legend(const bool occurs[256], const struct tact_arch *arch, struct text *out)
{
	size_t start = out->size;

	text_add(out, "\n");
	for (const struct letter *l = letters; l < letters + ARRAY_SIZE(letters); l++) {
		if (!occurs[(unsigned char)l->letter])
			continue;
		if (out->size - start + strlen(help_of(l, arch)) + 5 > PAGE_WIDTH) {
			text_add(out, "\n");
			start = out->size;
		}
		text_printf(out, "  %c %s", l->letter, help_of(l, arch));
	}
	text_add(out, "\n");
}

char *tact_view_legend(const bool occurs[256], const struct tact_arch *arch)
{
	struct text text = {0};
	char *string;

	if (occurs)
		add_legend(occurs, arch, &text);
	string = text_string(&text);
	if (!string)
		text_free(&text);
	return string;
}

/* Rows are cut first, from the end, so that the rows shown are whole; then columns. */
static void cut(struct chart *c)
{
	size_t room = c->width - LEFT_WIDTH - 2 - MIN_REASON;

	c->n_rows = c->t->n;
	if (!c->view->is_whole && c->n_rows > MAX_ROWS)
		c->n_rows = MAX_ROWS;
	lay_out(c);
	while (!c->view->is_whole && c->n_columns > room && c->n_rows > MIN_ROWS) {
		c->n_rows--;
		lay_out(c);
	}
	c->n_all = c->n_columns;
	if (!c->view->is_whole && c->n_columns > room)
		c->n_columns = room;
}

static void add_title(const struct chart *c, struct text *out)
{
	const struct tact_view *v = c->view;

	text_printf(out, "\n%sTimeline%s of iteration%s %" PRIu64, v->bold, v->plain,
		    c->t->n_iterations == 1 ? "" : "s", c->t->first + 1);
	if (c->t->n_iterations > 1)
		text_printf(out, " to %" PRIu64, c->t->first + c->t->n_iterations);
	text_printf(out, ", %s; cycle 0 is cycle %" PRId64 " of the simulation\n\n",
		    v->from		     ? "as asked for"
		    : v->simulation->repeats ? "in the steady state"
					     : "after the warm-up",
		    c->t->begin);
}

static void add_notes(const struct chart *c, struct text *out)
{
	if (c->n_columns < c->n_all) {
		const struct chart_column *next = &c->columns[c->n_columns];

		text_printf(out,
			    "  cut at cycle %" PRId64 " of %" PRId64
			    ": -v shows all, --html draws it\n",
			    next->cycle - c->t->begin, c->t->end - c->t->begin);
	}
	if (c->n_rows < c->t->n)
		text_printf(out, "  ... and %zu uops more: -v shows all, --html draws them\n",
			    c->t->n - c->n_rows);
}

static int draw(struct chart *c, struct text *out)
{
	const size_t n = 6 * c->t->n;

	c->events = calloc(n + 1, sizeof(*c->events));
	c->columns = calloc(n * (MIN_GAP + 1) + 1, sizeof(*c->columns));
	if (!c->events || !c->columns)
		return -TACT_E_NOMEM;
	cut(c);
	add_title(c, out);
	add_scale(c, out);
	for (size_t i = 0; i < c->n_rows; i++)
		add_row(c, i, out);
	add_notes(c, out);
	add_legend(c->occurs, c->view->arch, out);
	return 0;
}

int view_chart(const struct maker *m)
{
	struct timeline t;
	struct chart c = {.view = m->view, .t = &t, .listing = m->listing, .width = m->view->width};
	int status = timeline_record(m->view, TIMELINE_ITERATIONS, false, &t);

	if (status >= 0)
		status = t.n ? draw(&c, m->out) : -TACT_E_LIMIT;
	FREE_ALL(c.events, c.columns);
	timeline_fini(&t);
	return status;
}
