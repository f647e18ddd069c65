/* SPDX-License-Identifier: MIT
 *
 * What `tact hunt` reads: the data set, measured rows, and what was measured before.
 */
#include <stdlib.h>
#include <string.h>

#include <tact-program/dataset.h>

#include "common/cli.h"
#include "common/measured.h"
#include "hunter.h"

/* ---- weights ---- */

static void add(struct hunter *p, const uint8_t *code, size_t size, unsigned alignment,
		double weight, double judged)
{
	int status = tact_hunt_add(p->hunt, code, size, alignment, weight, judged);

	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	p->n_known += status > 0;
	p->n_left_out += status <= 0;
}

/* The row's code; the loop that ran only if the harness would have made another one of it. */
static void code_of(struct hunter *p, const struct tact_row *row, const uint8_t **code,
		    size_t *size)
{
	const enum tact_mode mode = (enum tact_mode)p->mode;
	uint8_t *loop;
	size_t n;

	*code = row->code;
	*size = row->code_size;
	if (mode != TACT_MODE_LOOP)
		return;
	loop = cli_alloc(row->code_size + TACT_MEASURE_LOOP_BYTES);
	n = tact_measure_loop(tact_arch_isa(p->archs.arch[0]), loop, row->code, row->code_size);
	if (row->loop_size && (n != row->loop_size || memcmp(loop, row->loop, n)) &&
	    tact_ran_code(p->ran, tact_arch_isa(p->archs.arch[0]), row, mode, code, size) < 0)
		cli_out_of_memory();
	free(loop);
}

static bool is_wanted(const struct hunter *p, const struct tact_row *row)
{
	return (!p->is_clean || row->clean == 1) &&
	       (row->mode == TACT_MODE_AUTO || row->mode == (enum tact_mode)p->mode);
}

static void take_truth(void *context, const struct tact_row *row)
{
	struct hunter *p = context;
	const uint8_t *code;
	size_t size;

	if (!is_wanted(p, row) || !tact_row_has_number(row)) {
		p->n_left_out++;
		return;
	}
	code_of(p, row, &code, &size);
	p->is_unweighted &= row->weight == 1;
	add(p, code, size, row->alignment, row->weight, row->cycles);
}

static int read_blocks(struct hunter *p, const char *path)
{
	struct tact_corpus_block block = {.size = sizeof(block)};
	struct tact_diag diag = {0};
	struct tact_corpus *corpus;
	int status = tact_corpus_open(&corpus, path, NULL, NULL, &diag);

	if (status < 0)
		return cli_complain(path, &diag, status, CLI_FAILED);
	while ((diag = (struct tact_diag){0}, status = tact_corpus_next(corpus, &block, &diag))) {
		if (status == -TACT_E_FORMAT || status == -TACT_E_NO_DATA)
			p->n_left_out++;
		else if (status < 0)
			break;
		else
			add(p, block.code, block.code_size, 0, block.weight > 0 ? block.weight : 1,
			    0);
	}
	tact_corpus_close(corpus);
	return status < 0 ? cli_complain(path, &diag, status, CLI_FAILED) : CLI_GOOD;
}

int hunter_read(struct hunter *p)
{
	int status = CLI_GOOD;

	p->is_unweighted = true;
	if (tact_ran_create(&p->ran) < 0)
		cli_out_of_memory();
	if (p->truth)
		status = measured_read(p->truth, take_truth, p);
	for (size_t i = 0; i < p->inputs.n; i++)
		if (read_blocks(p, p->inputs.list[i]))
			status = CLI_FAILED;
	if (p->n_left_out && !p->is_quiet)
		cli_message("%zu %s left out: %s", p->n_left_out,
			    p->n_left_out == 1 ? "block was" : "blocks were",
			    p->truth ? "no number, another mode, not clean, or too long"
				     : "no code, or too long");
	return status;
}

/* ---- what is known ---- */

static void take_measured(void *context, const struct tact_row *row)
{
	struct hunter *p = context;
	const struct tact_hunt_block block = {row->code, row->code_size, row->alignment};
	struct tact_hunt_value value = {.answer = TACT_HUNT_NO_NUMBER};

	if (row->mode != TACT_MODE_AUTO && row->mode != (enum tact_mode)p->mode)
		return;
	/* One round does not confirm anything. */
	if (tact_row_has_number(row) && (row->rounds < 2 || tact_row_is_confirmed(row)))
		value = (struct tact_hunt_value){.cycles = row->cycles, .answer = TACT_HUNT_NUMBER};
	if (tact_hunt_memory_add(p->memory, &block, &value) == -TACT_E_NOMEM)
		cli_out_of_memory();
	p->n_known++;
}

int hunter_read_measured(struct hunter *p)
{
	int status = CLI_GOOD;

	for (size_t i = 0; i < p->measured.n; i++)
		if (measured_read(p->measured.list[i], take_measured, p))
			status = CLI_FAILED;
	return status;
}
