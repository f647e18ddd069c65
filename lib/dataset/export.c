/* SPDX-License-Identifier: MIT
 *
 * Exports everything that a store knows, block by block, as CSV or JSON.
 *
 * Blocks, measurements and predictions are walked in parallel, all in the order of the blocks' code:
 * stores that know the same give the same bytes, in whatever order they learned it.
 */
#include <limits.h>
#include <math.h>
#include <string.h>

#include <tact-program/dataset.h>

#include "base/base.h"
#include "base/json.h"
#include "store/store.h"

/* Columns of the CSV after hex and record; import knows all of them. */
enum column {
	APP,
	WEIGHT,
	CATEGORY,
	CLASSIFIER,
	ARCH,
	MODE,
	INIT,
	MODEL,
	VERSION,
	STATUS,
	CYCLES,
	COVERAGE,
	BOTTLENECKS,
	SPREAD,
	KEPT,
	DROPPED,
	LOW,
	HIGH,
	RUNG,
	FLAGS,
	PAGES,
	REASON,
	CLEAN,
	ORIGIN,
	HEX_LOOP,
	MACHINE,
	VENDOR,
	FAMILY,
	CPU_MODEL,
	STEPPING,
	MICROCODE,
	HYPERVISOR,
	ALIGNMENT,
	ROUNDS,
	AGREE,
	DISTURBED,
	CPU,
	MEMORY,
	VECTORS,
	HOST,
	KERNEL,
	N_COLUMNS
};

static const char *const column_names[N_COLUMNS] = {
	"app",
	"weight",
	"category",
	"classifier",
	"arch",
	"mode",
	"init",
	"model",
	"version",
	"status",
	"cycles_per_iteration",
	"coverage",
	"bottlenecks",
	"spread",
	"kept",
	"dropped",
	"low",
	"high",
	"rung",
	"flags",
	"pages",
	"reason",
	"clean",
	"origin",
	"hex_loop",
	"machine",
	"vendor",
	"family",
	"cpu_model",
	"stepping",
	"microcode",
	"hypervisor",
	"alignment",
	"rounds",
	"agree",
	"disturbed",
	"cpu",
	"memory",
	"vectors",
	"host",
	"kernel",
};

/* A record under construction. */
struct record {
	struct {
		enum { NOTHING, TEXT, NUMBER, HEX } type;
		const void *text;
		size_t size; /* of hex: bytes */
		double number;
	} value[N_COLUMNS];
};

struct exporter {
	struct tact_export_options opt;
	struct tact_store_filter filter;
	int (*write)(void *arg, const char *data, size_t size);
	void *arg;
	bool is_stopped; /* by `write` */
	struct text text;
	struct tact_store_blocks *blocks;	    /* owned */
	struct tact_store_iter *rows;		    /* owned */
	struct tact_store_predictions *predictions; /* owned */
	struct tact_store_row row;
	struct tact_store_prediction prediction;
	int64_t prediction_block;
	const uint8_t *prediction_code; /* of the iterator */
	size_t prediction_size;
	bool has_row, has_prediction; /* which are ahead of the blocks */
	struct tact_diag *diag;
	int status;
};

/* ---- one record ---- */

static void set_text(struct record *r, enum column column, const char *text)
{
	if (!*text)
		return;
	r->value[column].type = TEXT;
	r->value[column].text = text;
	r->value[column].size = strlen(text);
}

static void set_number(struct record *r, enum column column, double number)
{
	if (!isfinite(number))
		return;
	r->value[column].type = NUMBER;
	r->value[column].number = number;
}

static void write_csv(struct text *out, const struct tact_store_block *block, const char *kind,
		      const struct record *r)
{
	text_hex(out, block->code, block->code_size);
	text_printf(out, ",%s", kind);
	for (size_t i = 0; i < N_COLUMNS; i++) {
		text_add(out, ",");
		if (r->value[i].type == TEXT)
			text_csv_field(out, r->value[i].text, r->value[i].size, false);
		else if (r->value[i].type == NUMBER)
			text_exact(out, r->value[i].number);
		else if (r->value[i].type == HEX)
			text_hex(out, r->value[i].text, r->value[i].size);
	}
	text_add(out, "\n");
}

static void write_json(struct text *out, const struct tact_store_block *block, const char *kind,
		       const struct record *r)
{
	struct json json = {.out = out};

	json_begin_object(&json, NULL);
	json_put_string(&json, "schema", "tact.dataset/1");
	json_put_hex(&json, "hex", block->code, block->code_size);
	json_put_string(&json, "record", kind);
	for (size_t i = 0; i < N_COLUMNS; i++) {
		if (r->value[i].type == TEXT)
			json_put_bytes(&json, column_names[i], r->value[i].text, r->value[i].size);
		else if (r->value[i].type == NUMBER)
			json_put_exact(&json, column_names[i], r->value[i].number);
		else if (r->value[i].type == HEX)
			json_put_hex(&json, column_names[i], r->value[i].text, r->value[i].size);
	}
	json_end_line(&json);
}

static void flush(struct exporter *e)
{
	if (e->text.failed)
		e->status = tact_fail(e->diag, TACT_E_NOMEM, "out of memory");
	else if (e->text.size && e->write(e->arg, e->text.data, e->text.size))
		e->is_stopped = true;
	text_reset(&e->text);
}

static void write_record(struct exporter *e, const struct tact_store_block *block, const char *kind,
			 const struct record *r)
{
	if (e->opt.is_json)
		write_json(&e->text, block, kind, r);
	else
		write_csv(&e->text, block, kind, r);
	if (e->text.size > 1 << 16)
		flush(e);
}

/* ---- kinds ---- */

static bool is_wanted(const struct exporter *e, enum tact_export_kind kind)
{
	return e->opt.kind == TACT_EXPORT_ALL || e->opt.kind == kind;
}

static size_t write_sources(struct exporter *e, const struct tact_store_block *block)
{
	size_t n = 0;

	for (size_t i = 0; i < block->n_sources && is_wanted(e, TACT_EXPORT_SOURCE); i++) {
		struct record r = {0};

		if (e->filter.app && strcmp(e->filter.app, block->sources[i].app) != 0)
			continue;
		set_text(&r, APP, block->sources[i].app);
		set_number(&r, WEIGHT, block->sources[i].weight);
		write_record(e, block, "source", &r);
		n++;
	}
	return n;
}

static size_t write_categories(struct exporter *e, const struct tact_store_block *block)
{
	size_t n = 0;

	for (size_t i = 0; i < block->n_categories && is_wanted(e, TACT_EXPORT_CATEGORY); i++) {
		const struct tact_store_category *c = &block->categories[i];
		struct record r = {0};

		if (e->filter.classifier && strcmp(e->filter.classifier, c->classifier) != 0)
			continue;
		set_text(&r, CATEGORY, c->label);
		set_text(&r, CLASSIFIER, c->classifier);
		set_text(&r, ARCH, c->arch);
		write_record(e, block, "category", &r);
		n++;
	}
	return n;
}

static void set_machine(struct record *r, const struct tact_machine *machine)
{
	set_text(r, ARCH, machine->arch);
	set_text(r, MACHINE, machine->brand);
	set_text(r, VENDOR, machine->vendor);
	set_number(r, FAMILY, machine->family);
	set_number(r, CPU_MODEL, machine->model);
	set_number(r, STEPPING, machine->stepping);
	set_text(r, MICROCODE, machine->microcode);
	set_number(r, HYPERVISOR, machine->is_virtual);
}

static void set_rounds(struct record *r, const struct tact_measurement *m)
{
	set_number(r, ALIGNMENT, m->alignment);
	if (m->rounds) {
		set_number(r, ROUNDS, m->rounds);
		set_number(r, AGREE, m->agree);
		set_number(r, DISTURBED, m->disturbed);
	}
	if (m->cpu >= 0)
		set_number(r, CPU, m->cpu);
	set_text(r, MEMORY, tact_contents_name(m->memory));
	set_text(r, VECTORS, tact_vectors_name(m->vectors));
}

static void write_measurement(struct exporter *e, const struct tact_store_block *block)
{
	const struct tact_store_row *row = &e->row;
	const struct tact_measurement *m = row->measurement;
	struct record r = {0};

	set_text(&r, MODE, tact_mode_name(m->mode));
	set_text(&r, INIT, tact_init_name(m->init));
	set_text(&r, VERSION, row->version);
	set_text(&r, STATUS, tact_measure_status_name(m->status));
	if (m->status == TACT_MEASURE_OK)
		set_number(&r, CYCLES, m->cycles_per_iteration);
	if (row->has_spread)
		set_number(&r, SPREAD, m->spread);
	set_number(&r, KEPT, m->kept);
	set_number(&r, DROPPED, m->dropped);
	set_number(&r, LOW, m->low);
	set_number(&r, HIGH, m->high);
	set_text(&r, RUNG, tact_rung_name(m->rung));
	set_text(&r, FLAGS, row->flags);
	set_number(&r, PAGES, m->n_pages);
	set_text(&r, REASON, m->reason);
	if (row->clean != TACT_CLEAN_UNKNOWN)
		set_number(&r, CLEAN, row->clean == TACT_CLEAN_YES);
	set_text(&r, ORIGIN, row->origin);
	if (row->loop_code) {
		r.value[HEX_LOOP].type = HEX;
		r.value[HEX_LOOP].text = row->loop_code;
		r.value[HEX_LOOP].size = row->loop_size;
	}
	set_machine(&r, row->machine);
	set_text(&r, HOST, row->host);
	set_text(&r, KERNEL, row->kernel);
	set_rounds(&r, m);
	write_record(e, block, "measurement", &r);
}

static void write_prediction(struct exporter *e, const struct tact_store_block *block)
{
	const struct tact_store_prediction *p = &e->prediction;
	struct record r = {0};

	set_text(&r, ARCH, p->arch);
	set_text(&r, MODE, tact_mode_name(p->mode));
	set_text(&r, INIT, tact_init_name(p->init));
	set_text(&r, MODEL, p->model);
	set_text(&r, VERSION, p->version);
	set_text(&r, STATUS, p->status);
	if (!strcmp(p->status, "ok")) {
		set_number(&r, CYCLES, p->cycles_per_iteration);
		set_number(&r, COVERAGE, p->coverage);
	}
	set_text(&r, BOTTLENECKS, p->bottlenecks);
	write_record(e, block, "prediction", &r);
}

/* ---- walking ---- */

static void next_row(struct exporter *e)
{
	int status = e->rows ? tact_store_iter_next(e->rows, &e->row, e->diag) : 0;

	e->has_row = status > 0;
	if (status < 0)
		e->status = status;
}

static void next_prediction(struct exporter *e)
{
	int status = 0;

	if (e->predictions)
		status = tact_store_predictions_next(e->predictions, &e->prediction_block,
						     &e->prediction_code, &e->prediction_size,
						     &e->prediction, e->diag);
	e->has_prediction = status > 0;
	if (status < 0)
		e->status = status;
}

/* Whether code comes before a block, or is its own, in the order of digits. */
static bool is_up_to(const uint8_t *code, size_t size, const struct tact_store_block *block)
{
	const size_t common = size < block->code_size ? size : block->code_size;
	const int order = memcmp(code, block->code, common);

	return order < 0 || (!order && size <= block->code_size);
}

static void write_block(struct exporter *e, const struct tact_store_block *block, bool is_alone)
{
	const struct record nothing = {0};
	size_t n = write_sources(e, block) + write_categories(e, block);

	/* blocks that another process has added meanwhile are passed over */
	for (; e->has_row && !e->status && is_up_to(e->row.code, e->row.code_size, block);
	     next_row(e), n++)
		if (e->row.block == block->id)
			write_measurement(e, block);
	for (; e->has_prediction && !e->status &&
	       is_up_to(e->prediction_code, e->prediction_size, block);
	     next_prediction(e), n++)
		if (e->prediction_block == block->id)
			write_prediction(e, block);
	if (e->opt.kind == TACT_EXPORT_BLOCK || (is_alone && !n))
		write_record(e, block, "block", &nothing);
}

/* Whether blocks about which nothing is known have records of their own: not if a filter asks for
 * some rows only.
 */
static bool has_lone_blocks(const struct exporter *e)
{
	const struct tact_store_filter *f = &e->filter;

	return e->opt.kind == TACT_EXPORT_ALL && !f->machine && !f->arch &&
	       f->mode == TACT_MODE_AUTO && !f->has_init && !f->model && !f->classifier;
}

static void walk(struct exporter *e)
{
	const bool is_alone = has_lone_blocks(e);
	struct tact_store_block block = TACT_STORE_BLOCK_INIT;
	int status;

	next_row(e);
	next_prediction(e);
	while (!e->status && !e->is_stopped &&
	       (status = tact_store_blocks_next(e->blocks, &block, e->diag))) {
		if (status < 0)
			e->status = status;
		else
			write_block(e, &block, is_alone);
	}
}

static int open_walks(struct exporter *e, struct tact_store *store)
{
	int status = tact_store_blocks_create(&e->blocks, store, &e->filter, e->diag);

	if (status >= 0 && is_wanted(e, TACT_EXPORT_MEASUREMENT))
		status = tact_store_iter_create(&e->rows, store, &e->filter, e->diag);
	if (status >= 0 && is_wanted(e, TACT_EXPORT_PREDICTION))
		status = tact_store_predictions_create(&e->predictions, store, &e->filter, e->diag);
	return status;
}

static void add_header(struct exporter *e)
{
	text_add(&e->text, "hex,record");
	for (size_t i = 0; i < N_COLUMNS; i++)
		text_printf(&e->text, ",%s", column_names[i]);
	text_add(&e->text, "\n");
}

int tact_store_export(struct tact_store *store, const struct tact_export_options *opt,
		      int (*write)(void *arg, const char *data, size_t size), void *arg,
		      struct tact_diag *diag)
{
	struct exporter e = {.write = write,
			     .arg = arg,
			     .diag = diag,
			     .row = TACT_STORE_ROW_INIT,
			     .prediction = TACT_STORE_PREDICTION_INIT};
	uint64_t n_skipped;

	if (!store || !write || tact_read_options(&e.opt, sizeof(e.opt), opt) ||
	    (unsigned)e.opt.kind > TACT_EXPORT_PREDICTION ||
	    tact_read_options(&e.filter, sizeof(e.filter), e.opt.filter))
		return tact_fail(diag, TACT_E_INVAL, "a store, a sink and good options are needed");
	e.filter.size = sizeof(e.filter);
	e.filter.is_by_code = true;
	if (!e.opt.is_json)
		add_header(&e);
	e.status = open_walks(&e, store);
	if (e.status >= 0)
		walk(&e);
	if (!e.is_stopped)
		flush(&e);
	text_free(&e.text);
	n_skipped = tact_store_blocks_skipped(e.blocks) + tact_store_iter_skipped(e.rows) +
		    tact_store_predictions_skipped(e.predictions);
	tact_store_predictions_destroy(e.predictions);
	tact_store_iter_destroy(e.rows);
	tact_store_blocks_destroy(e.blocks);
	if (e.status < 0)
		return e.status;
	return n_skipped < INT_MAX ? (int)n_skipped : INT_MAX;
}
