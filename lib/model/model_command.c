/* SPDX-License-Identifier: MIT
 *
 * A command as a model: it reads hex strings, one per line, and prints a number for each.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "model/exchange.h"
#include "model/model.h"

/* A program that dies or hangs at a block is started again after that block, this many times. */
enum { MAX_STARTS = 20, MAX_LINE = 256 };

/* Rows of one architecture and mode. */
struct series {
	struct tact_estimator *e;
	const struct model_batch *batch;
	const size_t *row; /* borrowed */
	size_t n, done;
	bool is_broken; /* it could not do its work, and the reason was said */
};

static void add_hex_lines(const struct series *s, struct text *input)
{
	for (size_t i = s->done; i < s->n; i++) {
		const struct tact_model_row *row = &s->batch->rows[s->row[i]];

		text_hex(input, row->code, row->code_size);
		text_add(input, "\n");
	}
}

/* Reads a line of its output.  A number may have blanks around it; 0 and less do not count. */
static bool read_answer(const char *line, size_t length, double *cycles)
{
	char copy[MAX_LINE], *end;

	if (length >= sizeof(copy))
		return false;
	memcpy(copy, line, length);
	copy[length] = '\0';
	*cycles = strtod(copy, &end);
	return end != copy && !end[strspn(end, " \t\r")] && isfinite(*cycles) && *cycles > 0;
}

/* Takes answers for the rows from s->done on; a last line without its end was cut off and does not
 * count.  Returns how many lines too many there are.
 */
static size_t take_answers(struct series *s, const struct text *output)
{
	const char *line = output->data, *end = line + output->size, *stop;
	size_t too_many = 0;

	for (; line < end && (stop = memchr(line, '\n', (size_t)(end - line))); line = stop + 1) {
		struct model_answer *answer;
		double cycles = 0;

		if (s->done == s->n) {
			too_many++;
			continue;
		}
		answer = &s->batch->answers[s->row[s->done++]];
		if (read_answer(line, (size_t)(stop - line), &cycles))
			*answer = (struct model_answer){.cycles = cycles, .coverage = 1};
	}
	return too_many;
}

static void fail_rows(struct series *s, size_t from, size_t to, int status)
{
	for (size_t i = from; i < to; i++)
		s->batch->answers[s->row[i]] = (struct model_answer){.status = status};
}

static bool is_good_end(const struct exchange *x)
{
	return !x->is_timeout && WIFEXITED(x->status) && !WEXITSTATUS(x->status);
}

/* It ended too early.  Returns whether it should be started again. */
static bool go_on(struct series *s, const struct exchange *x, size_t before, unsigned starts)
{
	int status = x->is_timeout ? -TACT_E_LIMIT : -TACT_E_FORMAT;
	bool goes_on = (s->done > before || starts) && starts + 1 < MAX_STARTS;
	char why[160];

	exchange_describe(x, why, sizeof(why));
	model_say(s->e, "%s after %zu of %zu blocks%s", why, s->done, s->n,
		  goes_on && s->done + 1 < s->n ? "; started again after that one" : "");
	s->is_broken = true;
	fail_rows(s, s->done, goes_on ? s->done + 1 : s->n, status);
	s->done++;
	return goes_on && s->done < s->n;
}

/* Looks at what a run gave.  Returns whether it must run again. */
static bool judge(struct series *s, const struct exchange *x, unsigned starts)
{
	size_t before = s->done, too_many = take_answers(s, x->output);

	/* A program that ends well with too few lines may have left out any of them. */
	if (too_many || x->is_flood || (s->done < s->n && is_good_end(x))) {
		model_say(s->e,
			  "printed %s lines than it was given: which number belongs to which block "
			  "is not known",
			  s->done < s->n && !x->is_flood ? "fewer" : "more");
		s->is_broken = true;
		fail_rows(s, before, s->n, -TACT_E_FORMAT);
		return false;
	}
	return s->done < s->n && go_on(s, x, before, starts);
}

/* Runs it once.  Returns 1 if it must run again, 0, or -TACT_E_NOMEM. */
static int run_once(struct series *s, const char *const *environment, unsigned starts)
{
	const char *const argv[] = {"sh", "-c", s->e->parts, NULL};
	struct text input = {0}, output = {0};
	struct exchange x = {.argv = argv,
			     .environment = environment,
			     .timeout = s->e->opt.timeout,
			     .max_output = (s->n - s->done) * MAX_LINE + (1 << 20),
			     .output = &output};
	int status;

	add_hex_lines(s, &input);
	x.input = input.data;
	x.input_size = input.size;
	status = input.failed ? -TACT_E_NOMEM : exchange_run(&x);
	if (status == -TACT_E_IO) {
		model_say(s->e, "no process could be started");
		s->is_broken = true;
		status = 0;
	} else if (status >= 0) {
		status = judge(s, &x, starts);
	}
	text_free(&input);
	text_free(&output);
	return status;
}

static int run_part(struct series *s)
{
	static const char *const modes[] = {"auto", "loop", "unroll"};
	const struct tact_model_row *first = &s->batch->rows[s->row[0]];
	char arch[64], mode[64];
	const char *const environment[] = {arch, mode, NULL};
	unsigned starts = 0;
	int status;

	snprintf(arch, sizeof(arch), "TACT_ARCH=%s", tact_arch_name(first->arch));
	snprintf(mode, sizeof(mode), "TACT_MODE=%s", modes[first->mode]);
	while ((status = run_once(s, environment, starts)) > 0)
		starts++;
	return status;
}

int model_command_many(struct tact_estimator *e, const struct model_batch *batch)
{
	struct model_parts parts;
	int status = model_parts_make(&parts, batch, batch->n);
	bool is_broken = false;

	if (status < 0)
		return status;
	for (size_t i = 0; i < parts.n && status >= 0; i++) {
		struct series s = {
			.e = e, .batch = batch, .row = parts.part[i].row, .n = parts.part[i].n};

		status = run_part(&s);
		is_broken |= s.is_broken;
	}
	model_parts_free(&parts);
	return status >= 0 && is_broken ? -TACT_E_FORMAT : status;
}

int model_command_check(const char *parts, struct tact_diag *diag)
{
	return parts[strspn(parts, " \t")]
		       ? 0
		       : tact_fail(diag, TACT_E_INVAL, "there is no command after =");
}
