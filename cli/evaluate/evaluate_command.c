/* SPDX-License-Identifier: MIT
 *
 * A command as a model: it reads hex strings, one a line, and prints a number for each.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "common/cli.h"
#include "evaluator.h"

/* A program that dies or hangs at a block is started again behind it, so often. */
enum { MAX_STARTS = 20, MAX_LINE = 256 };

/* Rows of one set. */
struct batch {
	size_t *row; /* owned */
	size_t n, done;
};

static void add_hex_lines(const struct evaluate_rows *rows, const struct batch *b,
			  struct text *input)
{
	for (size_t i = b->done; i < b->n; i++) {
		size_t row = b->row[i], size = rows->row[row].size;

		text_hex(input, evaluate_code(rows, row), size);
		text_add(input, "\n");
	}
}

/* A line of its output.  A number may have blanks around it; 0 and less are none. */
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

/* Answers for the rows from b->done on; a last line without its end does not count: it was cut off.
 * Returns how many lines too many there are.
 */
static size_t take_answers(struct evaluate_model *model, struct batch *b, const struct text *output)
{
	const char *line = output->data, *end = line + output->size, *stop;
	size_t too_many = 0;

	for (; line < end && (stop = memchr(line, '\n', (size_t)(end - line))); line = stop + 1) {
		size_t row;
		double cycles = 0;

		if (b->done == b->n) {
			too_many++;
			continue;
		}
		row = b->row[b->done++];
		model->outcomes[row] = TACT_OUTCOME_NO_NUMBER;
		if (read_answer(line, (size_t)(stop - line), &cycles)) {
			model->outcomes[row] = TACT_OUTCOME_GOOD;
			model->predicted[row] = cycles;
		}
	}
	return too_many;
}

static void fail_rest(struct evaluate_model *model, struct batch *b, enum tact_outcome outcome)
{
	while (b->done < b->n)
		model->outcomes[b->row[b->done++]] = (uint8_t)outcome;
}

static bool is_good_end(const struct exchange *x)
{
	return !x->is_timeout && WIFEXITED(x->status) && !WEXITSTATUS(x->status);
}

/* Runs it once.  Returns false if it is of no use to go on. */
static bool run_once(const struct evaluator *p, struct evaluate_model *model, struct batch *b,
		     const char *const *environment, unsigned starts)
{
	const char *const argv[] = {"sh", "-c", model->command, NULL};
	struct text input = {0}, output = {0};
	struct exchange x = {.argv = argv,
			     .environment = environment,
			     .timeout = p->timeout,
			     .max_output = (b->n - b->done) * MAX_LINE + (1 << 20),
			     .output = &output};
	size_t before = b->done, too_many;
	char why[160];
	bool goes_on = false;

	add_hex_lines(&p->rows, b, &input);
	x.input = input.data;
	x.input_size = input.size;
	if (exchange_run(&x)) {
		cli_message("%s: no process could be started", model->name);
		model->is_broken = true;
		goto out_free;
	}
	too_many = take_answers(model, b, &output);
	/* One that ends well with too few lines may have left out any of them. */
	if (too_many || x.is_flood || (b->done < b->n && is_good_end(&x))) {
		cli_message("%s: printed %s lines than it was given: which number belongs to which "
			    "block is not known",
			    model->name, b->done < b->n && !x.is_flood ? "fewer" : "more");
		model->is_broken = true;
		b->done = before;
		fail_rest(model, b, TACT_OUTCOME_NO_NUMBER);
		goto out_free;
	}
	if (b->done == b->n)
		goto out_free;
	exchange_describe(&x, why, sizeof(why));
	goes_on = (b->done > before || starts) && starts + 1 < MAX_STARTS;
	cli_message("%s: %s after %zu of %zu blocks%s", model->name, why, b->done, b->n,
		    goes_on && b->done + 1 < b->n ? "; started again behind that one" : "");
	model->is_broken = true;
	fail_rest(model, &(struct batch){.row = b->row, .n = b->done + 1, .done = b->done},
		  x.is_timeout ? TACT_OUTCOME_TIMEOUT : TACT_OUTCOME_NO_NUMBER);
	b->done++;
	if (!goes_on)
		fail_rest(model, b, x.is_timeout ? TACT_OUTCOME_TIMEOUT : TACT_OUTCOME_NO_NUMBER);
out_free:
	text_free(&input);
	text_free(&output);
	return goes_on && b->done < b->n;
}

static void run_set(struct evaluator *p, struct evaluate_model *model, uint32_t set)
{
	const struct evaluate_rows *rows = &p->rows;
	struct batch b = {.row = cli_alloc(rows->set[set].n * sizeof(*b.row))};
	char arch[64], mode[64];
	const char *const environment[] = {arch, mode, NULL};
	unsigned starts = 0;

	snprintf(arch, sizeof(arch), "TACT_ARCH=%s", tact_arch_name(p->arch[rows->set[set].arch]));
	snprintf(mode, sizeof(mode), "TACT_MODE=%s", evaluate_mode_name(rows->set[set].mode));
	for (size_t i = 0; i < rows->n; i++)
		if (rows->row[i].set == set)
			b.row[b.n++] = i;
	while (run_once(p, model, &b, environment, starts))
		starts++;
	free(b.row);
}

int evaluate_run_command(struct evaluator *p, struct evaluate_model *model)
{
	for (uint32_t set = 0; set < p->rows.n_sets; set++)
		run_set(p, model, set);
	return model->is_broken ? CLI_FAILED : CLI_GOOD;
}
