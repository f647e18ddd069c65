/* SPDX-License-Identifier: MIT
 *
 * tact dataset lint: what cannot be right, where it is and what to do about it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tact/input.h>

#include "common/cli.h"
#include "linter.h"

enum { SHOWN_FINDINGS = 10 };

/* ---- findings ---- */

static size_t check_index(enum dataset_check check)
{
	return (size_t)__builtin_ctz(check);
}

static void add_text(struct text *out, const struct finding *f)
{
	text_printf(out, "%s: ", dataset_check_names[check_index(f->check)]);
	if (f->code) {
		text_hex(out, f->code, f->code_size);
		text_add(out, ": ");
	}
	if (*f->machine)
		text_printf(out, "on %s%s%s%s%s: ", f->machine, *f->mode ? ", " : "", f->mode,
			    *f->origin ? ", from " : "", f->origin);
	if (*f->app)
		text_printf(out, "in %s: ", f->app);
	text_printf(out, "%s; %s\n", f->what, f->todo);
}

static void add_csv(struct text *out, const struct finding *f)
{
	const char *const names[] = {f->machine, f->arch, f->mode, f->origin, f->app};
	const double numbers[] = {f->value, f->bound};
	const char *const words[] = {f->what, f->todo};

	text_printf(out, "%s,", dataset_check_names[check_index(f->check)]);
	if (f->code)
		text_hex(out, f->code, f->code_size);
	for (size_t i = 0; i < CLI_ARRAY_SIZE(names); i++) {
		text_add(out, ",");
		text_csv_field(out, names[i], strlen(names[i]), false);
	}
	for (size_t i = 0; i < CLI_ARRAY_SIZE(numbers); i++) {
		text_add(out, ",");
		if (isfinite(numbers[i]))
			text_number(out, numbers[i]);
	}
	for (size_t i = 0; i < CLI_ARRAY_SIZE(words); i++) {
		text_add(out, ",");
		text_csv_field(out, words[i], strlen(words[i]), false);
	}
	text_add(out, "\n");
}

static void add_json(struct text *out, const struct finding *f)
{
	const struct {
		const char *key, *value;
	} names[] = {
		{"machine", f->machine}, {"arch", f->arch}, {"mode", f->mode},
		{"origin", f->origin},	 {"app", f->app},
	};

	text_printf(out, "{\"schema\":\"tact.dataset.lint/1\",\"check\":\"%s\"",
		    dataset_check_names[check_index(f->check)]);
	if (f->code) {
		text_add(out, ",\"hex\":\"");
		text_hex(out, f->code, f->code_size);
		text_add(out, "\"");
	}
	for (size_t i = 0; i < CLI_ARRAY_SIZE(names); i++)
		if (*names[i].value)
			dataset_add_string(out, names[i].key, names[i].value);
	if (isfinite(f->value)) {
		text_add(out, ",\"value\":");
		text_number(out, f->value);
	}
	if (isfinite(f->bound)) {
		text_add(out, ",\"bound\":");
		text_number(out, f->bound);
	}
	dataset_add_string(out, "what", f->what);
	dataset_add_string(out, "todo", f->todo);
	text_add(out, "}\n");
}

void linter_report(struct linter *l, const struct finding *f)
{
	const int format = l->d->format;

	if (l->found[check_index(f->check)]++ >= SHOWN_FINDINGS && format != FORMAT_CSV &&
	    format != FORMAT_JSON && !l->d->is_verbose)
		return;
	if (format == FORMAT_CSV)
		add_csv(&l->text, f);
	else if (format == FORMAT_JSON)
		add_json(&l->text, f);
	else
		add_text(&l->text, f);
	if (l->text.size > 1 << 16)
		output_write(l->out, &l->text);
}

/* ---- lists of blocks ---- */

/* Multiplies and folds; the multiplier is 2^64 divided by the golden ratio (Knuth, The Art of
 * Computer Programming, vol. 3, 6.4).
 */
uint64_t linter_hash(uint64_t hash, const void *data, size_t size)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < size; i++) {
		hash = (hash ^ p[i]) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 29;
	}
	return hash;
}

static struct block_entry *find_slot(const struct block_set *set, uint64_t hash,
				     const uint8_t *code, size_t size)
{
	size_t i = hash & (set->n_slots - 1);

	while (set->slots[i].size && (set->slots[i].hash != hash || set->slots[i].size != size ||
				      memcmp(set->data + set->slots[i].at, code, size) != 0))
		i = (i + 1) & (set->n_slots - 1);
	return &set->slots[i];
}

static void grow_slots(struct block_set *set)
{
	struct block_entry *old = set->slots;
	size_t n_old = set->n_slots;

	set->n_slots = n_old ? 2 * n_old : 1024;
	set->slots = cli_alloc(set->n_slots * sizeof(*set->slots));
	memset(set->slots, 0, set->n_slots * sizeof(*set->slots));
	for (size_t i = 0; i < n_old; i++)
		if (old[i].size)
			*find_slot(set, old[i].hash, set->data + old[i].at, old[i].size) = old[i];
	free(old);
}

static void block_set_add(struct block_set *set, const uint8_t *code, size_t size)
{
	uint64_t hash = linter_hash(size, code, size);
	struct block_entry *slot;

	if (2 * set->n >= set->n_slots)
		grow_slots(set);
	slot = find_slot(set, hash, code, size);
	if (slot->size)
		return;
	if (set->capacity - set->size < size) {
		set->capacity = 2 * set->capacity + size + 4096;
		set->data = cli_realloc(set->data, set->capacity);
	}
	memcpy(set->data + set->size, code, size);
	*slot = (struct block_entry){hash, set->size, size};
	set->size += size;
	set->n++;
}

bool block_set_has(const struct block_set *set, const uint8_t *code, size_t size)
{
	return set->n && find_slot(set, linter_hash(size, code, size), code, size)->size;
}

void block_set_fini(struct block_set *set)
{
	free(set->data);
	free(set->slots);
}

int block_set_read(struct block_set *set, const char *path, bool is_quiet)
{
	struct tact_input *input;
	struct tact_region region;
	struct tact_diag diag = {0};
	size_t bad = 0;
	int status = tact_input_open(&input, path, NULL, &diag);

	if (status < 0) {
		cli_message("%s: %s", path, diag.text);
		return CLI_FAILED;
	}
	while ((status = tact_input_next(input, &region, &diag))) {
		if (status < 0 && status != -TACT_E_FORMAT) {
			cli_message("%s: %s", path, diag.text);
			tact_input_close(input);
			return CLI_FAILED;
		}
		if (status < 0)
			bad++;
		else
			block_set_add(set, region.code, region.code_size);
	}
	tact_input_close(input);
	if (bad && !is_quiet)
		cli_message("%s: %zu lines that are no blocks", path, bad);
	return CLI_GOOD;
}

/* ---- all of it ---- */

/* How many there are of each kind. */
static int conclude(const struct linter *l)
{
	struct text text = {0};
	size_t all = 0;

	for (size_t i = 0; i < N_CHECKS; i++) {
		if (l->found[i])
			text_printf(&text, "%s%zu %s", all ? ", " : "", l->found[i],
				    dataset_check_names[i]);
		if (l->found[i] > SHOWN_FINDINGS && l->d->format != FORMAT_CSV &&
		    l->d->format != FORMAT_JSON && !l->d->is_verbose)
			text_printf(&text, " (%d shown; -v shows all)", SHOWN_FINDINGS);
		all += l->found[i];
	}
	text_add_bytes(&text, "", 1);
	if (!l->d->is_quiet)
		cli_message("%s: %s%s", l->d->paths[1], all ? "found: " : "nothing found",
			    text.data);
	text_free(&text);
	return all ? CLI_FAILED : CLI_GOOD;
}

int dataset_lint(const struct dataset *d)
{
	struct output out;
	struct linter l = {.d = d, .out = &out, .checks = d->checks ? d->checks : CHECK_ALL};
	int status = 0, result = CLI_FAILED;

	if (d->may_alias && block_set_read(&l.suspects, d->may_alias, d->is_quiet))
		goto out_set;
	l.store = dataset_open(d->paths[1]);
	if (!l.store)
		goto out_set;
	if (output_open(&out, d->output))
		goto out_store;
	if (d->format == FORMAT_CSV)
		text_add(&l.text, "check,hex,machine,arch,mode,origin,app,value,bound,what,todo\n");
	status = linter_check_blocks(&l);
	if (status >= 0)
		status = linter_check_rows(&l);
	output_write(&out, &l.text);
	if (output_close(&out))
		goto out_store;
	if (status < 0)
		cli_message("%s: %s", d->paths[1], l.diag.text);
	else
		result = conclude(&l);
out_store:
	text_free(&l.text);
	tact_store_close(l.store);
out_set:
	block_set_fini(&l.suspects);
	return result;
}
