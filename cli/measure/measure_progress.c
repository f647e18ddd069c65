/* SPDX-License-Identifier: MIT
 *
 * Progress: a bar on a terminal, nothing elsewhere.
 */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "measurer.h"

enum { BAR = 24 };

double progress_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void progress_init(struct measure_progress *progress, const struct measurer *p, size_t n)
{
	*progress = (struct measure_progress){
		.is_shown = !p->is_quiet && n > 1 && isatty(STDERR_FILENO),
		.n = n,
		.start = progress_seconds(),
	};
}

static void add_time(struct text *text, double seconds)
{
	unsigned long s = (unsigned long)(seconds + 0.5);

	if (s >= 3600)
		text_printf(text, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
	else
		text_printf(text, "%lu:%02lu", s / 60, s % 60);
}

/* Blocks that the store had already say nothing about the speed, so `measured` is counted
 * separately.
 */
void progress_show(struct measure_progress *progress, size_t done, size_t measured)
{
	double now = progress_seconds(), rate;
	struct text text = {0};
	size_t filled;

	if (!progress->is_shown || now - progress->last < 0.2)
		return;
	progress->last = now;
	filled = BAR * done / progress->n;
	rate = now > progress->start ? (double)measured / (now - progress->start) : 0;
	text_add(&text, "\r\033[K[");
	for (size_t i = 0; i < BAR; i++)
		text_add(&text, i < filled ? "#" : " ");
	text_printf(&text, "] %zu/%zu", done, progress->n);
	if (rate > 0) {
		text_printf(&text, "  %.1f/s  ", rate);
		add_time(&text, (double)(progress->n - done) / rate);
		text_add(&text, " left");
	}
	text_to_stderr(&text);
	text_free(&text);
}

void progress_clear(const struct measure_progress *progress)
{
	if (progress->is_shown && progress->last)
		text_clear_line();
}
