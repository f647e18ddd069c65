/* SPDX-License-Identifier: MIT
 *
 * Progress: a bar on a terminal, nothing elsewhere.
 */
#include "progress.h"

#include <stdarg.h>
#include <time.h>

#include "output.h"
#include "terminal.h"

enum { BAR = 24 };
#define FIRST_AFTER 0.5
#define EVERY	    0.2

double progress_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void progress_init(struct progress *progress, const char *what, uint64_t total, bool is_quiet)
{
	const double now = progress_seconds();

	progress->what = what;
	progress->total = total;
	progress->skipped = 0;
	progress->is_shown = !is_quiet && terminal_width_of_errors();
	progress->start = now;
	atomic_init(&progress->next, now + FIRST_AFTER);
	atomic_flag_clear(&progress->is_busy);
}

bool progress_is_due(struct progress *progress)
{
	return progress->is_shown && progress_seconds() >= atomic_load(&progress->next);
}

static void add_time(struct text *text, double seconds)
{
	const unsigned long s = seconds < 1e9 ? (unsigned long)(seconds + 0.5) : 999999999;

	if (s >= 3600)
		text_printf(text, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
	else
		text_printf(text, "%lu:%02lu", s / 60, s % 60);
}

static void add_bar(struct text *text, const struct progress *p, uint64_t done)
{
	const uint64_t filled = done < p->total ? BAR * done / p->total : BAR;

	text_add(text, "[");
	for (uint64_t i = 0; i < BAR; i++)
		text_add(text, i < filled ? "#" : " ");
	text_add(text, "] ");
}

/* "[####    ] 12% 120 of 1000 blocks, 35.0/s, 0:25 left"; what does not fit is left out. */
static void add_line(struct text *text, const struct progress *p, uint64_t done, double now)
{
	const size_t width = terminal_width_of_errors();
	const uint64_t worked = done > p->skipped ? done - p->skipped : 0;
	const double rate = now > p->start ? (double)worked / (now - p->start) : 0;

	if (p->total && width >= 70)
		add_bar(text, p, done);
	if (p->total)
		text_printf(text, "%.0f%%",
			    100 * (double)(done < p->total ? done : p->total) / (double)p->total);
	if (p->what)
		text_printf(text, p->total ? " %llu of %llu %s" : "%llu%.0llu %s",
			    (unsigned long long)done, (unsigned long long)p->total, p->what);
	if (rate > 0 && width >= 40 && p->what)
		text_printf(text, ", %.*f/s", rate < 100 ? 1 : 0, rate);
	if (rate > 0 && done < p->total && width >= 54) {
		text_add(text, ", ");
		add_time(text, (double)(p->total - done) / rate);
		text_add(text, " left");
	}
}

/* Ends what is written in the terminal's last column: a line that wraps cannot be removed. */
static void put(struct progress *p, struct text *line)
{
	const size_t width = terminal_width_of_errors();

	if (width && line->size >= width)
		line->size = width - 1;
	if (!line->failed)
		output_bar(line);
	text_free(line);
	atomic_store(&p->next, progress_seconds() + EVERY);
}

void progress_show(struct progress *progress, uint64_t done)
{
	struct text line = {0};

	if (!progress_is_due(progress) || atomic_flag_test_and_set(&progress->is_busy))
		return;
	add_line(&line, progress, done, progress_seconds());
	put(progress, &line);
	atomic_flag_clear(&progress->is_busy);
}

void progress_say(struct progress *progress, const char *format, ...)
{
	struct text line = {0};
	va_list args;

	if (!progress_is_due(progress) || atomic_flag_test_and_set(&progress->is_busy))
		return;
	va_start(args, format);
	text_vprintf(&line, format, args);
	va_end(args);
	put(progress, &line);
	atomic_flag_clear(&progress->is_busy);
}

void progress_clear(struct progress *progress)
{
	if (progress->is_shown)
		output_clear_bar();
}
