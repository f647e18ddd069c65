/* SPDX-License-Identifier: MIT
 *
 * The page of two runs: both sides of each function and block, what changed most first.
 */
#include <inttypes.h>

#include <tact/insn.h>

#include "report/run_page.h"

enum { MAX_FUNCTIONS = 400, MAX_BLOCKS = 200, MAX_INSNS = 64 };

static void put_sides(struct page_data *p, const struct diff_row *d)
{
	struct json *j = &p->json;

	for (unsigned i = 0; i < 2; i++) {
		json_put_fixed(j, NULL, d->cycles[i], 0);
		json_put_count(j, NULL, d->executions[i]);
		json_put_count(j, NULL, d->instructions[i]);
		page_put_stalls(p, NULL, d->stalls[i]);
	}
}

static void put_functions(struct page_data *p, const struct tact_diff *diff)
{
	size_t n;
	const struct diff_row *rows = diff_rows(diff, TACT_RESULT_FUNCTION, &n);
	struct json *j = &p->json;

	json_begin_array(j, "functions");
	for (size_t i = 0; i < n && i < MAX_FUNCTIONS; i++) {
		const struct tact_result_row *some = report_diff_some(&rows[i]);

		json_begin_array(j, NULL);
		json_put_count(j, NULL, page_function(p, some->function));
		json_put_count(j, NULL, page_string(p, some->module));
		put_sides(p, &rows[i]);
		json_end(j);
	}
	json_end(j);
	json_put_count(j, "more_functions", n > MAX_FUNCTIONS ? n - MAX_FUNCTIONS : 0);
}

/* Writes the address and the instructions of a block; null if a side does not have it. */
static void put_code(struct page_data *p, const struct tact_result_row *row)
{
	struct json *j = &p->json;
	size_t at = 0;

	if (!row) {
		json_put_null(j, NULL);
		return;
	}
	json_begin_array(j, NULL);
	json_printf_string(j, NULL, "0x%" PRIx64, row->address);
	for (unsigned i = 0; at < row->code_size && i < MAX_INSNS; i++) {
		char text[160];
		struct tact_insn insn;
		const int n = tact_isa_decode(row->isa, &insn, row->code + at, row->code_size - at);

		if (n <= 0 || tact_isa_format(row->isa, row->code + at, (size_t)n,
					      row->address + at, text, sizeof(text)) < 0)
			break;
		json_put_count(j, NULL, page_string(p, text));
		at += (size_t)n;
	}
	json_end(j);
}

static void put_blocks(struct page_data *p, const struct tact_diff *diff)
{
	size_t n;
	const struct diff_row *rows = diff_rows(diff, TACT_RESULT_BLOCK, &n);
	struct json *j = &p->json;

	json_begin_array(j, "blocks");
	for (size_t i = 0; i < n && i < MAX_BLOCKS; i++) {
		json_begin_array(j, NULL);
		json_put_count(j, NULL, rows[i].function);
		put_sides(p, &rows[i]);
		put_code(p, rows[i].a);
		put_code(p, rows[i].b);
		json_end(j);
	}
	json_end(j);
}

int tact_report_diff_page(const struct tact_diff_report *opt,
			  int (*write)(void *arg, const char *data, size_t size), void *arg)
{
	struct report report = {.write = write, .arg = arg};
	struct page_data p = {.json = {.out = &report.text}};
	struct tact_diff_report r;

	if (!write || tact_read_options(&r, sizeof(r), opt) || !r.diff || !r.names[0] ||
	    !r.names[1])
		return -TACT_E_INVAL;
	p.is_mangled = r.is_mangled;
	json_begin_object(&p.json, NULL);
	json_put_string(&p.json, "schema", "tact.page/1");
	page_put_stall_names(&p);
	json_begin_array(&p.json, "sides");
	for (unsigned i = 0; i < 2; i++) {
		p.result = tact_diff_side(r.diff, i);
		json_begin_object(&p.json, NULL);
		json_put_string(&p.json, "name", r.names[i]);
		page_put_summary(&p);
		page_put_calls(&p);
		json_end(&p.json);
	}
	json_end(&p.json);
	put_functions(&p, r.diff);
	put_blocks(&p, r.diff);
	page_put_strings(&p);
	json_end_line(&p.json);
	report.status = p.strings.is_failed ? -TACT_E_NOMEM : 0;
	page_free(&p);
	return report_end(&report);
}
