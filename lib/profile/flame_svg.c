/* SPDX-License-Identifier: MIT
 *
 * A flame graph: a box is a function below its callers, as wide as its share of the cycles.  The
 * outermost function is at the bottom.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"

enum { WIDTH = 1200, MARGIN = 10, ROW = 18, TOP = 56, BOTTOM = 12, LETTER = 7, MOST_DEPTH = 400 };
#define LEAST_WIDTH 0.2 /* boxes below cannot be seen, and are left out */

struct placed_frame {
	double x, sum; /* begin and size, in units of the value */
};

struct flame {
	const struct profile *p;
	struct placed_frame *placed; /* owned */
	double all;
	unsigned depth; /* of what is drawn */
	size_t n_hidden;
	int height;
};

/* Frames come after their parents: each takes its place behind those of its siblings that came before
 * it.
 */
static int place(struct flame *f)
{
	const struct profile *p = f->p;
	double *sums = calloc(p->n + 1, sizeof(*sums)), *used = calloc(p->n + 1, sizeof(*used));

	f->placed = calloc(p->n + 1, sizeof(*f->placed));
	if (!sums || !used || !f->placed) {
		FREE_ALL(sums, used);
		return -TACT_E_NOMEM;
	}
	profile_sum(p, sums);
	for (size_t i = 0; i < p->n; i++) {
		const size_t parent = p->frames[i].parent;

		f->placed[i].sum = sums[i];
		if (parent == PROFILE_ROOT) {
			f->placed[i].x = f->all;
			f->all += sums[i];
		} else {
			f->placed[i].x = f->placed[parent].x + used[parent];
			used[parent] += sums[i];
		}
	}
	FREE_ALL(sums, used);
	return 0;
}

static double scale(const struct flame *f)
{
	return f->all > 0 ? (WIDTH - 2 * MARGIN) / f->all : 0;
}

static bool is_drawn(const struct flame *f, size_t i)
{
	return f->p->frames[i].depth < MOST_DEPTH && f->placed[i].sum * scale(f) >= LEAST_WIDTH;
}

static void measure(struct flame *f)
{
	for (size_t i = 0; i < f->p->n; i++) {
		if (!is_drawn(f, i))
			f->n_hidden++;
		else if (f->p->frames[i].depth >= f->depth)
			f->depth = f->p->frames[i].depth + 1;
	}
	f->height = TOP + (int)f->depth * ROW + ROW + BOTTOM;
}

/* Functions of a module have the same colour. */
static unsigned color_of(const struct profile_frame *frame)
{
	return (unsigned)(hash_fold(hash_string(*frame->file ? frame->file : frame->name)) % 8);
}

/* 1234567 -> "1,234,567" */
static void add_count(double value, struct text *out)
{
	struct text digits = {0};

	text_printf(&digits, "%.0f", value);
	for (size_t i = 0; i < digits.size; i++)
		text_printf(out, "%s%c", i && (digits.size - i) % 3 == 0 ? "," : "",
			    digits.data[i]);
	out->failed |= digits.failed;
	text_free(&digits);
}

static const char *unit_of(const struct profile *p)
{
	return p->n_units ? p->units[0].type : "";
}

static void add_title(const struct flame *f, const struct profile_frame *frame, double sum,
		      struct text *out)
{
	text_xml(out, frame->name);
	if (*frame->file) {
		text_add(out, " (");
		text_xml(out, frame->file);
		text_add(out, ")");
	}
	text_add(out, ": ");
	add_count(sum, out);
	text_printf(out, " %s, %.2f%%", unit_of(f->p), f->all > 0 ? 100 * sum / f->all : 0);
	if (frame->value[0] > 0 && frame->value[0] < sum) {
		text_add(out, "; ");
		add_count(frame->value[0], out);
		text_add(out, " of them its own");
	}
}

/* Adds a name as far as the box has room. */
static void add_label(const char *name, double width, struct text *out)
{
	const size_t room = width > 8 ? (size_t)((width - 6) / LETTER) : 0;
	struct text cut = {0};

	if (room >= 3) {
		text_short(&cut, name, strlen(name), room < 8 ? 8 : room);
		if (cut.size > room)
			cut.size = 0; /* names below 8 letters are whole or not there */
		if (text_string(&cut))
			text_xml(out, cut.data);
	}
	out->failed |= cut.failed;
	text_free(&cut);
}

static void add_box(const struct flame *f, size_t i, struct text *out)
{
	const struct profile_frame *frame = &f->p->frames[i];
	const double x = MARGIN + f->placed[i].x * scale(f), width = f->placed[i].sum * scale(f);
	const int y = f->height - BOTTOM - ROW - ((int)frame->depth + 1) * ROW;

	text_printf(out, "<g class=\"f c%u\" data-x=\"%.6f\" data-w=\"%.6f\"><title>",
		    color_of(frame), f->placed[i].x / f->all, f->placed[i].sum / f->all);
	add_title(f, frame, f->placed[i].sum, out);
	text_printf(out,
		    "</title><rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" rx=\"2\"/>"
		    "<text x=\"%.2f\" y=\"%d\">",
		    x, y, width > 0.5 ? width - 0.3 : width, ROW - 1, x + 3, y + 13);
	add_label(frame->name, width, out);
	text_add(out, "</text></g>\n");
}

static void add_head(const struct flame *f, struct text *out)
{
	static const char style[] =
		"<style>\n"
		"svg{background:#fff;font:12px "
		"ui-monospace,Menlo,Consolas,monospace;fill:#1c2024}\n"
		"text{pointer-events:none}.title{font:600 15px system-ui,sans-serif}\n"
		".note{font:12px system-ui,sans-serif;fill:#5a6370}\n"
		"rect{stroke:none}.f{cursor:pointer;outline:none}\n"
		".c0 rect{fill:#f6b26b}.c1 rect{fill:#f4c775}.c2 rect{fill:#ef9a7a}"
		".c3 rect{fill:#e8d17c}\n"
		".c4 rect{fill:#f2a65e}.c5 rect{fill:#eeb8a0}.c6 rect{fill:#dfc08a}"
		".c7 rect{fill:#f0a0a0}\n"
		".root rect{fill:#dfe3e8}.f:hover rect,.f:focus "
		"rect{stroke:#1c2024;stroke-width:1}\n"
		".above rect{opacity:.45}.hit rect{fill:#b48ae0}.gone{display:none}\n"
		"@media(prefers-color-scheme:dark){svg{background:#16191d;fill:#e6e8eb}\n"
		".f text{fill:#16191d}.root text{fill:#e6e8eb}.note{fill:#9aa4b0}"
		".root rect{fill:#3a4048}\n"
		".f:hover rect,.f:focus rect{stroke:#fff}}\n"
		"</style>\n";

	text_printf(out,
		    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
		    "width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"flame graph\">\n<title>",
		    WIDTH, f->height, WIDTH, f->height);
	text_xml(out, f->p->title);
	text_add(out, "</title>\n");
	text_add(out, style);
	text_printf(out, "<text class=\"title\" x=\"%d\" y=\"22\">", MARGIN);
	text_xml(out, f->p->title);
	text_printf(out, "</text>\n<text class=\"note\" id=\"note\" x=\"%d\" y=\"42\">", MARGIN);
	add_count(f->all, out);
	text_printf(out, " %s", unit_of(f->p));
	if (f->n_hidden)
		text_printf(out, "; %zu paths that are too narrow to be seen are left out",
			    f->n_hidden);
	text_add(out, "</text>\n");
}

void profile_flame(const struct profile *p, const char *script, struct text *out)
{
	struct flame f = {.p = p};

	if (place(&f)) {
		out->failed = true;
		return;
	}
	measure(&f);
	add_head(&f, out);
	text_add(out, "<g class=\"f root\" data-x=\"0\" data-w=\"1\"><title>all: ");
	add_count(f.all, out);
	text_printf(out,
		    " %s</title><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"2\"/>"
		    "<text x=\"%d\" y=\"%d\">all</text></g>\n",
		    unit_of(p), MARGIN, f.height - BOTTOM - ROW, WIDTH - 2 * MARGIN, ROW - 1,
		    MARGIN + 3, f.height - BOTTOM - ROW + 13);
	for (size_t i = 0; i < p->n; i++)
		if (is_drawn(&f, i))
			add_box(&f, i, out);
	if (script) {
		text_add(out, "<script><![CDATA[\n");
		text_add(out, script);
		text_add(out, "]]></script>\n");
	}
	text_add(out, "</svg>\n");
	free(f.placed);
}
