/* SPDX-License-Identifier: MIT
 *
 * What tables of mixes show: columns of values.
 */
#include <string.h>

#include "report/mix_report.h"

/* clang-format off: a column stays together */
static const struct {
	const char *name;
	struct column column;
} values[TACT_N_MIX_VALUES] = {
	[TACT_MIX_VALUE_EXECUTIONS] = {"executions",
				       {"executions", "executions", .width = 18,
					.form = FORM_DECIMALS(0),
					.flags = COLUMN_RIGHT | COLUMN_SEPARATED | COLUMN_FIT}},
	[TACT_MIX_VALUE_SHARE] = {"share",
				  {"share", "share", .width = 7, .decimals = 2,
				   .form = FORM_DECIMALS(6),
				   .flags = COLUMN_RIGHT | COLUMN_PERCENT}},
	[TACT_MIX_VALUE_OF_ROW] = {"of-row",
				   {"of row", "share_of_row", .width = 7, .decimals = 2,
				    .form = FORM_DECIMALS(6),
				    .flags = COLUMN_RIGHT | COLUMN_PERCENT}},
	[TACT_MIX_VALUE_OF_COLUMN] = {"of-column",
				      {"of column", "share_of_column", .width = 9, .decimals = 2,
				       .form = FORM_DECIMALS(6),
				       .flags = COLUMN_RIGHT | COLUMN_PERCENT}},
	[TACT_MIX_VALUE_ERROR] = {"error",
				  {"error", "relative_error", .width = 6, .decimals = 1,
				   .form = FORM_DECIMALS(4), .flags = COLUMN_RIGHT | COLUMN_PERCENT,
				   .none = "?", .rank = 1}},
	[TACT_MIX_VALUE_LOW] = {"low",
				{"low", "low", .width = 18, .form = FORM_DECIMALS(0), .none = "?",
				 .flags = COLUMN_RIGHT | COLUMN_SEPARATED | COLUMN_FIT}},
	[TACT_MIX_VALUE_HIGH] = {"high",
				 {"high", "high", .width = 18, .form = FORM_DECIMALS(0),
				  .none = "?",
				  .flags = COLUMN_RIGHT | COLUMN_SEPARATED | COLUMN_FIT}},
	[TACT_MIX_VALUE_WEIGHT] = {"weight",
				   {"weight", "weight", .width = 18, .form = FORM_DECIMALS(0),
				    .flags = COLUMN_RIGHT | COLUMN_SEPARATED | COLUMN_FIT}},
	[TACT_MIX_VALUE_FLOPS] = {"flops",
				  {"flops", "flops", .width = 18, .form = FORM_DECIMALS(0),
				   .flags = COLUMN_RIGHT | COLUMN_SEPARATED | COLUMN_FIT}},
};
/* clang-format on */

const char *tact_mix_value_name(enum tact_mix_value value)
{
	return (unsigned)value < TACT_N_MIX_VALUES ? values[value].name : "unknown";
}

static struct cell known(double value)
{
	return value >= 0 ? cell_number(value) : cell_none();
}

static struct cell part_of(const struct tact_mix_row *cell, const struct tact_mix_row *all)
{
	return all && all->executions > 0 ? cell_number(cell->executions / all->executions)
					  : cell_none();
}

struct cell mix_value_of(enum tact_mix_value value, const struct tact_mix_row *cell,
			 const struct tact_mix_row *row, const struct tact_mix_row *column)
{
	switch (value) {
	case TACT_MIX_VALUE_EXECUTIONS:
		return cell_number(cell->executions);
	case TACT_MIX_VALUE_SHARE:
		return cell_number(cell->share);
	case TACT_MIX_VALUE_OF_ROW:
		return part_of(cell, row);
	case TACT_MIX_VALUE_OF_COLUMN:
		return part_of(cell, column);
	case TACT_MIX_VALUE_ERROR:
		return known(cell->error);
	case TACT_MIX_VALUE_LOW:
		return known(cell->low);
	case TACT_MIX_VALUE_HIGH:
		return known(cell->high);
	case TACT_MIX_VALUE_WEIGHT:
		return cell_number(cell->entries);
	case TACT_MIX_VALUE_FLOPS:
		return cell_number(cell->flops);
	default:
		return cell_none();
	}
}

struct column mix_value_column(enum tact_mix_value value)
{
	return values[value].column;
}

/* ---- tables of rows ---- */

static struct cell get_value(const struct cell_at *at)
{
	const struct tact_mix_row *row = at->row;

	return mix_value_of((enum tact_mix_value)at->column->argument, row, row, NULL);
}

static struct cell get_hex(const struct cell_at *at)
{
	const struct tact_mix_row *row = at->row;

	return cell_hex(row->code, row->code_size);
}

static struct cell get_address(const struct cell_at *at)
{
	return cell_printf(at->table, "%llx",
			   (unsigned long long)((const struct tact_mix_row *)at->row)->address);
}

static void add_column(struct mix_columns *c, enum tact_mix_value value)
{
	c->items[c->n] = mix_value_column(value);
	c->items[c->n].get = get_value;
	c->items[c->n].argument = value;
	if (value != TACT_MIX_VALUE_ERROR)
		c->items[c->n].none = "";
	c->n++;
}

void mix_row_columns(struct mix_columns *c, const struct tact_mix_report *r)
{
	static const enum tact_mix_value usual[] = {TACT_MIX_VALUE_EXECUTIONS, TACT_MIX_VALUE_SHARE,
						    TACT_MIX_VALUE_ERROR};
	/* What stores of blocks take. */
	static const struct column of_blocks[] = {
		{NULL, "address", .get = get_address},
		{NULL, "hex", .get = get_hex},
	};
	enum tact_mix_key keys[TACT_MIX_MAX_KEYS];
	const size_t n_keys = tact_mix_pivot_get_keys(r->pivot, keys);
	const enum tact_mix_value *wanted = r->n_values ? r->values : usual;
	const size_t n = r->n_values ? r->n_values : sizeof(usual) / sizeof(*usual);
	bool has_blocks = false;

	mix_columns_init(c, keys, n_keys, offsetof(struct tact_mix_row, key), NULL, 0);
	for (size_t i = 0; i < n && i < TACT_N_MIX_VALUES; i++)
		add_column(c, wanted[i]);
	for (size_t k = 0; k < n_keys; k++)
		has_blocks |= keys[k] == TACT_MIX_BY_BLOCK;
	if (!has_blocks)
		return;
	if (!r->n_values && r->format != TACT_FORMAT_TEXT)
		add_column(c, TACT_MIX_VALUE_WEIGHT);
	memcpy(c->items + c->n, of_blocks, sizeof(of_blocks));
	c->n += sizeof(of_blocks) / sizeof(*of_blocks);
}

void mix_values_json(const struct mix_columns *c, struct json *json)
{
	json_begin_array(json, "values");
	for (size_t i = c->n_keys; i < c->n; i++)
		json_put_string(json, NULL, c->items[i].name);
	json_end(json);
}
