/* SPDX-License-Identifier: MIT
 *
 * Partial scores: a file with the tallies of an evaluation, and what else adds up.
 *
 * Lines of text come first, with tabs between their fields: doc/formats.md explains them.  Then the
 * records of each model follow a line that says how many bytes they have, and the last line is "end" with
 * a check sum of the lines.
 * Everything is sorted, so that the same rows make the same file.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tact/arch.h>

#include "base/file.h"
#include "base/text.h"
#include "evaluate/evaluation.h"
#include "evaluate/tallies.h"
#include "store/store.h"

static const char MAGIC[] = "tact-scores";
enum { VERSION = 1, N_COUNTS = 8 };

/* ---- what both directions share ---- */

static void counts_of(struct tact_evaluation *v, size_t *counts[N_COUNTS])
{
	size_t *const all[N_COUNTS] = {&v->n,
				       &v->n_unmeasured,
				       &v->n_not_positive,
				       &v->n_unclean,
				       &v->n_unconfirmed,
				       &v->n_unknown_arch,
				       &v->n_other_arch,
				       &v->n_assumed_arch};

	memcpy(counts, all, sizeof(all));
}

/* FNV-1a: finds what is damaged, not what is forged. */
static uint64_t check_sum(uint64_t sum, const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		sum = (sum ^ data[i]) * 0x100000001b3u;
	return sum;
}
#define CHECK_SUM 0xcbf29ce484222325u

/* What must be the same in all parts. */
static int add_options(const struct evaluation *e, struct text *out, struct tact_diag *diag)
{
	struct text params = {0};
	uint64_t sum = CHECK_SUM;

	if (e->opt.params) {
		int status = file_read(e->opt.params, 1 << 20, &params, diag);

		if (status < 0)
			return status;
		sum = check_sum(sum, (const uint8_t *)params.data, params.size);
	}
	text_printf(out, "options\tweighted=%d\tcommon=%d\trounded=%d\tclean=%d\tconfirmed=%d\t",
		    e->opt.is_weighted, e->opt.is_common, e->opt.is_rounded, e->opt.is_clean,
		    e->opt.is_confirmed);
	text_printf(out, "params=%016llx\n", (unsigned long long)(params.size ? sum : 0));
	text_free(&params);
	return 0;
}

/* ---- writing ---- */

static void add_label(struct text *out, const char *label)
{
	text_add(out, "\t");
	for (; *label; label++) {
		if (*label == '\t' || *label == '\n' || *label == '\\')
			text_add(out, *label == '\t' ? "\\t" : *label == '\n' ? "\\n" : "\\\\");
		else
			text_add_bytes(out, label, 1);
	}
}

static void add_sums(struct text *out, const char *name, struct exact *sums, size_t n)
{
	text_add(out, name);
	for (size_t i = 0; i < n; i++) {
		text_add(out, "\t");
		exact_write(&sums[i], out);
	}
	text_add(out, "\n");
}

static void add_limits(struct evaluation *e, struct text *out)
{
	for (size_t a = 0; a < e->view.n_bottlenecks; a++) {
		struct evaluation_limit_sums *sums = &e->limits[a];

		text_printf(out, "bottlenecks\t%s\n", tact_arch_name(e->view.bottlenecks[a].arch));
		add_sums(out, "share", sums->share, ARRAY_SIZE(sums->share));
		add_sums(out, "gain", sums->gain, ARRAY_SIZE(sums->gain));
		add_sums(out, "weight", sums->weight, ARRAY_SIZE(sums->weight));
		add_sums(out, "flow", sums->flow, ARRAY_SIZE(sums->flow));
	}
}

/* Names of cells are their labels, each with a byte of zero behind it: CPU, mode and kind, category,
 * applications.
 */
static void add_cell(const struct evaluation *e, const struct cell *cell, struct text *out)
{
	const char *label = cell->name, *end = cell->name + cell->size;

	text_printf(out, "cell\t%s", label);
	label += strlen(label) + 1;
	text_printf(out, "\t%s\t%d", tact_mode_name((enum tact_mode)(*label - '0')),
		    cell->is_whole);
	for (size_t i = 0; i < e->cells.n_models * TACT_N_OUTCOMES; i++)
		text_printf(out, "%s%llu", i ? " " : "\t", (unsigned long long)cell->outcomes[i]);
	for (label += strlen(label) + 1; label < end; label += strlen(label) + 1)
		add_label(out, label);
	text_add(out, "\n");
}

static int add_head(struct evaluation *e, const uint32_t *sorted, struct text *out,
		    struct tact_diag *diag)
{
	size_t *counts[N_COUNTS];
	int status;

	text_printf(out, "%s %d\n", MAGIC, VERSION);
	status = add_options(e, out, diag);
	if (status < 0)
		return status;
	counts_of(&e->view, counts);
	text_add(out, "rows");
	for (unsigned i = 0; i < N_COUNTS; i++)
		text_printf(out, "\t%zu", *counts[i]);
	add_label(out, e->view.unknown_arch);
	add_label(out, e->view.other_arch);
	text_add(out, "\n");
	for (size_t m = 0; m < e->view.n_models; m++) {
		text_add(out, "model");
		add_label(out, e->view.model[m].model);
		text_add(out, "\n");
	}
	for (size_t i = 0; i < e->view.n_sets; i++)
		text_printf(out, "set\t%s\t%s\t%zu\n", tact_arch_name(e->view.set[i].arch),
			    tact_mode_name(e->view.set[i].mode), e->view.set[i].n);
	add_limits(e, out);
	for (size_t i = 0; i < e->cells.n; i++)
		add_cell(e, &e->cells.cell[sorted[i]], out);
	return 0;
}

/* Where records go: to a file or, fd < 0, nowhere. */
struct sink {
	int fd;
	uint64_t sum;
};

static int put(void *arg, const void *data, size_t size, struct tact_diag *diag)
{
	struct sink *sink = arg;

	sink->sum = check_sum(sink->sum, data, size);
	if (sink->fd >= 0 && file_write_all(sink->fd, data, size) < 0)
		return tact_fail_errno(diag, NULL);
	return 0;
}

static int write_records(const struct sorter *tally, const uint32_t *place, struct sink *sink,
			 struct run_writer *w, struct tact_diag *diag)
{
	struct sorter_walk *walk = malloc(sizeof(*walk));
	struct run_record r;
	int status;

	if (!walk)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	run_writer_init(w, put, sink);
	w->tags = place;
	sorter_walk_init(walk, tally);
	while ((status = sorter_walk_next(walk, &r, diag)) > 0) {
		status = run_write(w, &r, diag);
		if (status < 0)
			break;
	}
	free(walk);
	return status < 0 ? status : run_flush(w, diag);
}

/* How many bytes there are is known after they were made once. */
static int write_model(struct evaluation *e, size_t m, const uint32_t *place, struct sink *text,
		       struct tact_diag *diag)
{
	struct run_writer *w = malloc(sizeof(*w));
	struct sink sink = {.fd = -1, .sum = CHECK_SUM};
	char line[128];
	int status = w ? write_records(&e->tally[m], place, &sink, w, diag)
		       : tact_fail(diag, TACT_E_NOMEM, "out of memory");

	if (status >= 0) {
		int n = snprintf(line, sizeof(line), "records\t%zu\t%llu\t%llu\t%016llx\n", m,
				 (unsigned long long)w->n, (unsigned long long)w->n_bytes,
				 (unsigned long long)sink.sum);

		sink.fd = text->fd;
		status = put(text, line, (size_t)n, diag);
	}
	if (status >= 0)
		status = write_records(&e->tally[m], place, &sink, w, diag);
	free(w);
	return status;
}

static int write_all(struct evaluation *e, int fd, struct tact_diag *diag)
{
	uint32_t *place = cells_order(&e->cells),
		 *sorted = malloc((e->cells.n + 1) * sizeof(*sorted));
	struct sink sink = {.fd = fd, .sum = CHECK_SUM};
	struct text head = {0};
	int status = -TACT_E_NOMEM;

	if (place && sorted) {
		for (size_t i = 0; i < e->cells.n; i++)
			sorted[place[i]] = (uint32_t)i;
		status = add_head(e, sorted, &head, diag);
	}
	if (status >= 0)
		status = head.failed ? -TACT_E_NOMEM : put(&sink, head.data, head.size, diag);
	for (size_t m = 0; m < e->view.n_models && status >= 0; m++)
		status = write_model(e, m, place, &sink, diag);
	if (status >= 0) {
		head.size = 0;
		text_printf(&head, "end\t%016llx\n", (unsigned long long)sink.sum);
		status = head.failed ? -TACT_E_NOMEM : put(&sink, head.data, head.size, diag);
	}
	text_free(&head);
	FREE_ALL(place, sorted);
	return status == -TACT_E_NOMEM ? tact_fail(diag, TACT_E_NOMEM, "out of memory") : status;
}

int tact_evaluation_write_partial(struct tact_evaluation *view, const char *path,
				  struct tact_diag *diag)
{
	struct evaluation *e = evaluation_of(view);
	struct file_new file;
	int status;

	if (!view || !path || !view->n_models || (view->n && !e->is_scored))
		return tact_fail(diag, TACT_E_INVAL, "no evaluation that was run, or no path");
	status = evaluation_start(e, diag); /* without rows it has not begun */
	if (status < 0)
		return status;
	status = file_begin(&file, path, 0666, diag);
	if (status < 0)
		return status;
	status = write_all(e, file.fd, diag);
	if (status < 0) {
		file_abandon(&file);
		return status;
	}
	return file_finish(&file, diag);
}

/* ---- reading ---- */

enum { MAX_FIELDS = 1 << 16 };

struct reading {
	struct evaluation *e;
	FILE *file; /* owned */
	char *line; /* owned */
	size_t capacity, line_number;
	char **field; /* owned; in line */
	size_t n_fields, field_capacity;
	uint32_t *cell; /* owned; the number here of the file's cells */
	size_t n_cells, cell_capacity, n_models, n_limits, limit, n_records;
	bool is_first, is_over;
	uint64_t sum, text_sum; /* of records, and of the lines */
	struct tact_diag *diag;
};

static int bad(const struct reading *r, const char *what)
{
	return tact_fail_at(r->diag, TACT_E_FORMAT, r->line_number, 0,
			    "the partial scores are damaged: %s", what);
}

static int different(const struct reading *r, const char *what)
{
	return tact_fail_at(r->diag, TACT_E_INVAL, r->line_number, 0,
			    "%s than in the first file: only scores of the same kind add up", what);
}

/* Undoes add_label. */
static void unescape(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (*text == '\\' && text[1]) {
			text++;
			*to++ = *text == 't' ? '\t' : *text == 'n' ? '\n' : *text;
		} else {
			*to++ = *text;
		}
	}
	*to = '\0';
}

/* Reads a line and cuts it into fields.  Returns 1, 0 at the end of the file, or < 0. */
static int next_line(struct reading *r)
{
	ssize_t n;
	char *at;

	errno = 0;
	n = getline(&r->line, &r->capacity, r->file);
	if (n < 0)
		return errno == ENOMEM	 ? tact_fail(r->diag, TACT_E_NOMEM, "out of memory")
		       : ferror(r->file) ? tact_fail_errno(r->diag, NULL)
					 : 0;
	r->line_number++;
	if (strncmp(r->line, "end\t", 4) != 0)
		r->text_sum = check_sum(r->text_sum, (const uint8_t *)r->line, (size_t)n);
	if (r->line[n - 1] != '\n' || strlen(r->line) != (size_t)n)
		return bad(r, "a line without its end");
	r->line[n - 1] = '\0';
	r->n_fields = 0;
	for (at = r->line; at; r->n_fields++) {
		char *tab = strchr(at, '\t');

		if (tact_grow(&r->field, &r->field_capacity, r->n_fields + 2, sizeof(char *)) < 0)
			return tact_fail(r->diag, TACT_E_NOMEM, "out of memory");
		r->field[r->n_fields] = at;
		if (tab)
			*tab++ = '\0';
		at = tab;
	}
	for (size_t i = 0; i < r->n_fields; i++)
		unescape(r->field[i]);
	return 1;
}

static bool read_count(const char *text, uint64_t *count)
{
	char *end;

	if (*text < '0' || *text > '9' || strlen(text) > 19)
		return false;
	*count = strtoull(text, &end, 10);
	return !*end;
}

static int read_options(struct reading *r)
{
	struct evaluation *e = r->e;
	bool *const flags[] = {&e->opt.is_weighted, &e->opt.is_common, &e->opt.is_rounded,
			       &e->opt.is_clean, &e->opt.is_confirmed};
	struct text all = {0};
	int status = 0;

	if (r->n_fields != ARRAY_SIZE(flags) + 2)
		return bad(r, "its options");
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		const char *value = strchr(r->field[i + 1], '=');

		if (!value || (strcmp(value, "=0") && strcmp(value, "=1")))
			return bad(r, "its options");
	}
	for (size_t i = 1; i < r->n_fields; i++)
		text_printf(&all, "%s\t", r->field[i]);
	if (!text_string(&all))
		return tact_fail(r->diag, TACT_E_NOMEM, "out of memory");
	if (!r->is_first && strcmp(all.data, e->partial) != 0)
		status = different(r, "other options");
	for (size_t i = 0; i < ARRAY_SIZE(flags) && r->is_first; i++)
		*flags[i] = !strcmp(strchr(r->field[i + 1], '='), "=1");
	if (r->is_first && e->partial)
		status = bad(r, "options twice");
	else if (r->is_first) {
		e->partial = strdup(all.data);
		status = e->partial ? 0 : tact_fail(r->diag, TACT_E_NOMEM, "out of memory");
	}
	text_free(&all);
	return status;
}

/* The first name in the alphabet, so that the order of files does not matter. */
static void take_name(char *name, size_t size, const char *other)
{
	if (*other && (!*name || strcmp(other, name) < 0))
		store_copy(name, size, other);
}

static int read_counts(struct reading *r)
{
	struct tact_evaluation *view = &r->e->view;
	size_t *counts[N_COUNTS];
	uint64_t count;

	if (r->n_fields != N_COUNTS + 3)
		return bad(r, "its numbers of rows");
	counts_of(view, counts);
	for (unsigned i = 0; i < N_COUNTS; i++) {
		if (!read_count(r->field[i + 1], &count) || count > SIZE_MAX - *counts[i])
			return bad(r, "its numbers of rows");
		*counts[i] += count;
	}
	take_name(view->unknown_arch, sizeof(view->unknown_arch), r->field[N_COUNTS + 1]);
	take_name(view->other_arch, sizeof(view->other_arch), r->field[N_COUNTS + 2]);
	return 0;
}

static int read_model(struct reading *r)
{
	struct evaluation *e = r->e;

	if (r->n_fields != 2 || !*r->field[1])
		return bad(r, "the name of a model");
	if (r->is_first) {
		int status = tact_evaluation_add_model(&e->view, r->field[1]);

		if (status < 0)
			return tact_fail(r->diag, (enum tact_error) - status, "%s",
					 tact_strerror(status));
		r->n_models++;
		return status ? 0 : bad(r, "a model twice");
	}
	if (r->n_models >= e->view.n_models ||
	    strcmp(e->view.model[r->n_models++].model, r->field[1]) != 0)
		return different(r, "other models");
	return 0;
}

static long find_set(struct reading *r, const char *arch_name, const char *mode_name)
{
	const struct tact_arch *arch = NULL;
	enum tact_mode mode;
	int status = evaluation_arch(r->e, arch_name, &arch, r->diag);

	if (status < 0)
		return status;
	if (!status)
		return tact_fail_at(r->diag, TACT_E_FORMAT, r->line_number, 0,
				    "there is no CPU '%.40s' in this version", arch_name);
	if (!store_read_mode(mode_name, &mode))
		return bad(r, "a mode");
	return evaluation_set(r->e, arch, mode);
}

static int read_set(struct reading *r)
{
	uint64_t n;
	long set;

	if (r->n_fields != 4 || !read_count(r->field[3], &n))
		return bad(r, "a set");
	set = find_set(r, r->field[1], r->field[2]);
	if (set < 0)
		return (int)set;
	r->e->view.set[set].n += n;
	return 0;
}

static int read_limit(struct reading *r)
{
	struct evaluation *e = r->e;

	if (r->n_fields != 2)
		return bad(r, "bottlenecks");
	r->limit = r->n_limits++;
	if (r->is_first) {
		struct evaluation_limit_sums *grown =
			realloc(e->limits, r->n_limits * sizeof(*e->limits));

		if (!grown)
			return tact_fail(r->diag, TACT_E_NOMEM, "out of memory");
		memset(&grown[r->limit], 0, sizeof(*grown));
		e->limits = grown;
	}
	if (r->is_first)
		return tact_evaluation_add_bottlenecks(&e->view, r->field[1], r->diag);
	if (r->limit >= e->view.n_bottlenecks ||
	    strcmp(tact_arch_name(e->view.bottlenecks[r->limit].arch), r->field[1]) != 0)
		return different(r, "other bottlenecks");
	return 0;
}

static int read_sums(struct reading *r, struct exact *sums, size_t n)
{
	struct exact sum;

	if (r->n_fields != n + 1 || !r->n_limits)
		return bad(r, "sums");
	for (size_t i = 0; i < n; i++) {
		if (!exact_read(&sum, r->field[i + 1]))
			return bad(r, "a sum");
		exact_add_exact(&sums[i], &sum);
	}
	return 0;
}

static int read_limit_sums(struct reading *r)
{
	struct evaluation_limit_sums *sums;
	struct evaluation *e = r->e;

	if (!r->n_limits)
		return bad(r, "sums");
	sums = &e->limits[r->limit];
	if (!strcmp(r->field[0], "share"))
		return read_sums(r, sums->share, ARRAY_SIZE(sums->share));
	if (!strcmp(r->field[0], "gain"))
		return read_sums(r, sums->gain, ARRAY_SIZE(sums->gain));
	if (!strcmp(r->field[0], "weight"))
		return read_sums(r, sums->weight, ARRAY_SIZE(sums->weight));
	return read_sums(r, sums->flow, ARRAY_SIZE(sums->flow));
}

/* After the first file's models and bottlenecks there is room for what they say. */
static int begin_cells(struct reading *r)
{
	struct evaluation_limit_sums *limits = r->e->limits;
	struct evaluation *e = r->e;
	int status;

	if (r->n_models != e->view.n_models || r->n_limits != e->view.n_bottlenecks)
		return different(r, "fewer models or bottlenecks");
	if (!e->view.n_models || !e->partial)
		return bad(r, "no models or options");
	if (e->is_started)
		return 0;
	e->limits = NULL;
	status = evaluation_start(e, r->diag);
	if (limits) {
		free(e->limits);
		e->limits = limits;
	}
	return status;
}

static int read_outcomes(struct reading *r, char *text, struct cell *cell)
{
	char *save = NULL;
	size_t i = 0;
	uint64_t n;

	for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		if (i >= r->e->cells.n_models * TACT_N_OUTCOMES || !read_count(word, &n))
			return bad(r, "outcomes");
		cell->outcomes[i++] += n;
	}
	return i == r->e->cells.n_models * TACT_N_OUTCOMES ? 0 : bad(r, "outcomes");
}

static int read_cell(struct reading *r)
{
	struct tact_row_source *sources;
	struct cell_key key;
	long set, cell;

	if (r->n_fields < 6)
		return bad(r, "a cell");
	set = find_set(r, r->field[1], r->field[2]);
	if (set < 0)
		return (int)set;
	key = (struct cell_key){.arch = tact_arch_name(r->e->view.set[set].arch),
				.mode = r->e->view.set[set].mode,
				.is_whole = *r->field[3] == '1',
				.category = r->field[5],
				.n_sources = r->n_fields - 6};
	sources = calloc(key.n_sources + 1, sizeof(*sources));
	if (!sources ||
	    tact_grow(&r->cell, &r->cell_capacity, r->n_cells + 1, sizeof(*r->cell)) < 0) {
		free(sources);
		return tact_fail(r->diag, TACT_E_NOMEM, "out of memory");
	}
	for (size_t i = 0; i < key.n_sources; i++)
		sources[i].app = r->field[6 + i];
	key.sources = sources;
	cell = evaluation_cell(r->e, (uint32_t)set, &key);
	free(sources);
	if (cell < 0)
		return tact_fail(r->diag, TACT_E_NOMEM, "out of memory");
	r->cell[r->n_cells++] = (uint32_t)cell;
	return read_outcomes(r, r->field[4], &r->e->cells.cell[cell]);
}

static int get(void *arg, void *to, size_t size, uint64_t offset, struct tact_diag *diag)
{
	struct reading *r = arg;

	(void)offset; /* one after the other */
	errno = 0;
	if (fread(to, 1, size, r->file) != size)
		return ferror(r->file) ? tact_fail_errno(diag, NULL) : bad(r, "it is cut short");
	r->sum = check_sum(r->sum, to, size);
	return 0;
}

static bool is_record(const struct reading *r, const struct run_record *x)
{
	return x->x >= 0 && isfinite(x->x) && x->y > 0 && isfinite(x->y) && x->w > 0 &&
	       isfinite(x->w) && x->v >= 1 && x->v < 0x1p53 && x->v == floor(x->v) &&
	       x->tag >> 2 < r->n_cells && (x->tag & 3) <= TACT_HELD;
}

static int read_records(struct reading *r)
{
	struct run_reader *reader;
	uint64_t model, n, size;
	struct run_record x;
	int status;

	if (r->n_fields != 5 || !read_count(r->field[1], &model) || !read_count(r->field[2], &n) ||
	    !read_count(r->field[3], &size) || model != r->n_records ||
	    model >= r->e->view.n_models || size > INT64_MAX)
		return bad(r, "records");
	r->n_records++;
	reader = malloc(sizeof(*reader));
	if (!reader)
		return tact_fail(r->diag, TACT_E_NOMEM, "out of memory");
	r->sum = CHECK_SUM;
	run_reader_init(reader, get, r, 0, size);
	while ((status = run_read(reader, &x, r->diag)) > 0) {
		if (!is_record(r, &x) || !n--) {
			status = bad(r, "a record");
			break;
		}
		x.tag = tally_tag(r->cell[x.tag >> 2], x.tag & 3);
		status = sorter_add(&r->e->tally[model], &x, r->diag);
		if (status < 0)
			break;
	}
	free(reader);
	if (status < 0)
		return status;
	return n || r->sum != strtoull(r->field[4], NULL, 16) ? bad(r, "its records") : 0;
}

static int read_line(struct reading *r)
{
	static const struct {
		const char *word;
		int (*read)(struct reading *r);
		bool is_late; /* after the models and bottlenecks */
	} kinds[] = {
		{"options", read_options, false},   {"rows", read_counts, false},
		{"model", read_model, false},	    {"set", read_set, false},
		{"bottlenecks", read_limit, false}, {"share", read_limit_sums, false},
		{"gain", read_limit_sums, false},   {"weight", read_limit_sums, false},
		{"flow", read_limit_sums, false},   {"cell", read_cell, true},
		{"records", read_records, true},
	};
	int status;

	r->is_over = !strcmp(r->line, "end");
	if (r->is_over)
		return r->n_fields == 2 && r->text_sum == strtoull(r->field[1], NULL, 16) &&
				       r->e->partial && r->e->view.n_models &&
				       r->n_records == r->e->view.n_models
			       ? 0
			       : bad(r, "its check sum, or records are missing");
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(r->field[0], kinds[i].word) != 0)
			continue;
		status = kinds[i].is_late ? begin_cells(r) : 0;
		return status < 0 ? status : kinds[i].read(r);
	}
	return bad(r, "a line of an unknown kind");
}

static int read_all(struct reading *r)
{
	int status = next_line(r);

	if (status > 0)
		status = file_check_magic(r->line, MAGIC, VERSION, "a file of partial scores",
					  r->diag);
	else if (!status)
		status = tact_fail(r->diag, TACT_E_FORMAT, "the file is empty");
	while (status >= 0 && !r->is_over) {
		status = next_line(r);
		if (!status)
			return bad(r, "its end is missing");
		if (status > 0)
			status = read_line(r);
	}
	return status;
}

int tact_evaluation_add_partial(struct tact_evaluation *view, const char *path,
				struct tact_diag *diag)
{
	struct evaluation *e = evaluation_of(view);
	struct tact_diag unused = {0};
	struct reading r = {.e = e, .text_sum = CHECK_SUM, .diag = diag ? diag : &unused};
	int status;

	if (!view || !path || (!e->is_combined && (view->n || view->n_models)))
		return tact_fail(diag, TACT_E_INVAL, "no path, or an evaluation with rows");
	r.file = fopen(path, "rbe");
	if (!r.file)
		return tact_fail_errno(diag, NULL);
	r.is_first = !e->is_combined;
	e->is_combined = true;
	status = read_all(&r);
	fclose(r.file);
	FREE_ALL(r.line, r.field, r.cell);
	return status < 0 ? status : 0;
}
