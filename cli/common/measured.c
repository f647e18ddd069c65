/* SPDX-License-Identifier: MIT
 *
 * Reads inputs of measured rows and reports bad ones.
 */
#include "measured.h"

#include "cli.h"
#include "output.h"

enum { SHOWN = 5 };

static void complain(const char *path, const struct tact_diag *diag, int status)
{
	struct text err = {0};

	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	cli_place(&err, path, diag->line, diag->text[0] ? diag->text : tact_strerror(status));
	text_to_stderr(&err);
	text_free(&err);
}

int measured_read(const char *path, void (*take)(void *context, const struct tact_row *row),
		  void *context)
{
	return measured_read_with(path, NULL, 0, take, context);
}

int measured_read_with(const char *path, const char *const *columns, size_t n_columns,
		       void (*take)(void *context, const struct tact_row *row), void *context)
{
	struct tact_diag diag = {0};
	struct tact_rows *rows;
	struct tact_row row;
	size_t n_bad = 0;
	int status = tact_rows_open(&rows, path, &diag);

	if (status < 0) {
		complain(path, &diag, status);
		return CLI_FAILED;
	}
	if (n_columns && tact_rows_ask(rows, columns, n_columns) < 0)
		cli_out_of_memory();
	while ((diag = (struct tact_diag){0}, status = tact_rows_next(rows, &row, &diag))) {
		if (status > 0)
			take(context, &row);
		else if (n_bad++ < SHOWN)
			complain(path, &diag, status);
	}
	tact_rows_close(rows);
	if (n_bad > SHOWN)
		cli_message("%s: %zu more bad rows", path, n_bad - SHOWN);
	return n_bad ? CLI_FAILED : CLI_GOOD;
}
