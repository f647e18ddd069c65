/* SPDX-License-Identifier: MIT
 *
 * Parameters as text: those of the machine, and a line for every form that differs from the
 * defaults.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "mca/mca.h"

static const char magic[] = "#tact-mca";
enum { VERSION = 1, MAX_LINE = 512, MAX_FILE = 1 << 26 };

/* ---- reading ---- */

/* A file lists few of many thousand forms: what it says is kept apart, and changes nothing before the
 * last line is read.
 */
struct form_line {
	unsigned form;
	struct mca_form values;
};

struct reader {
	const struct tact_arch *arch; /* borrowed */
	unsigned global[TACT_MCA_N_KINDS];
	bool global_seen[TACT_MCA_N_KINDS];
	bool has_memory;
	enum tact_mca_memory memory;
	struct form_line *forms; /* owned */
	size_t n_forms, capacity;
	uint8_t *seen; /* owned; a bit for each form */
	struct tact_diag *diag;
	uint64_t line;
};

#define FAIL(r, ...) tact_fail_at((r)->diag, TACT_E_FORMAT, (r)->line, 0, __VA_ARGS__)

/* Reads a plain number of `length` digits. */
static int read_number(struct reader *r, unsigned kind, const char *text, size_t length, int *value)
{
	const struct tact_mca_info *info = tact_mca_get_info(kind);
	long long n = 0;

	if (!length)
		return FAIL(r, "%s: a number is missing", info->name);
	for (size_t i = 0; i < length; i++) {
		if (!isdigit((unsigned char)text[i]))
			return FAIL(r, "%s: '%.*s' is not a number", info->name, (int)length, text);
		if (n <= INT32_MAX)
			n = n * 10 + (text[i] - '0');
	}
	if (n < info->low || n > info->high)
		return FAIL(r, "%s: %.*s is not in %d..%d", info->name, (int)length, text,
			    info->low, info->high);
	*value = (int)n;
	return 0;
}

/* Reads as many numbers as the kind has, separated by commas; form NULL: for the whole machine. */
static int read_values(struct reader *r, struct mca_form *form, unsigned kind, const char *text)
{
	const struct tact_mca_info *info = tact_mca_get_info(kind);

	for (unsigned i = 0; i < info->count; i++) {
		size_t length = strcspn(text, ",");
		int value = 0, status = read_number(r, kind, text, length, &value);

		if (status < 0)
			return status;
		if (form)
			mca_form_set(form, kind, i, (uint16_t)value);
		else
			r->global[kind] = (unsigned)value;
		text += length;
		if (!*text != (i + 1 == info->count))
			return FAIL(r, "%s: %u number%s expected", info->name, info->count,
				    info->count > 1 ? "s separated by commas" : "");
		text++;
	}
	return 0;
}

static int read_form(struct reader *r, char *line)
{
	struct form_line *line_read;
	char *column[5];
	unsigned n = 0, form;
	int status;

	for (char *next = line; next; n++) {
		char *tab = strchr(next, '\t');

		if (n < ARRAY_SIZE(column))
			column[n] = next;
		if (tab)
			*tab++ = 0;
		next = tab;
	}
	if (n != ARRAY_SIZE(column))
		return FAIL(r,
			    "%u columns: form, micro_ops, latency, read_advance and port_cycles, "
			    "separated by tabs, expected",
			    n);
	form = tact_isa_form_find(r->arch->isa, column[0]);
	if (form == TACT_FORM_NONE)
		return FAIL(r, "unknown form '%.80s'", column[0]);
	if (r->seen[form / 8] >> form % 8 & 1)
		return FAIL(r, "'%.80s' appears twice", column[0]);
	r->seen[form / 8] |= (uint8_t)(1u << form % 8);
	if (tact_grow(&r->forms, &r->capacity, r->n_forms + 1, sizeof(*r->forms)) < 0)
		return tact_fail(r->diag, TACT_E_NOMEM, "out of memory");
	line_read = &r->forms[r->n_forms++];
	*line_read = (struct form_line){.form = form};
	for (unsigned kind = TACT_MCA_MICRO_OPS; kind <= TACT_MCA_PORT_CYCLES; kind++) {
		status = read_values(r, &line_read->values, kind, column[1 + kind]);
		if (status < 0)
			return status;
	}
	return 0;
}

/* The same values would mean something else on another core: most forms have its defaults. */
static int read_arch(struct reader *r, const char *name)
{
	const struct tact_arch *arch = tact_arch_find(name);

	if (!arch)
		return FAIL(r, "unknown architecture '%.40s'", name);
	if (strcmp(tact_arch_name(arch), tact_arch_name(r->arch)))
		return FAIL(r, "these are parameters of %s, not of %s", tact_arch_name(arch),
			    tact_arch_name(r->arch));
	return 0;
}

static int read_memory(struct reader *r, const char *name)
{
	for (unsigned i = 0; i <= TACT_MCA_ADDRESSES; i++) {
		if (strcmp(name, mca_memory_names[i]))
			continue;
		if (r->has_memory)
			return FAIL(r, "memory appears twice");
		r->has_memory = true;
		r->memory = (enum tact_mca_memory)i;
		return 0;
	}
	return FAIL(r, "memory: '%.40s' is not one of none, all, addresses", name);
}

static int read_global(struct reader *r, char *line)
{
	char *name, *value;

	if (params_split_line(line, &name, &value) <= 0)
		return FAIL(r, "'name = value' or a form with its columns expected");
	if (!strcmp(name, "arch"))
		return read_arch(r, value);
	if (!strcmp(name, "memory"))
		return read_memory(r, value);
	for (unsigned kind = 0; kind < TACT_MCA_N_KINDS; kind++) {
		if (!tact_mca_get_info(kind)->global || strcmp(name, tact_mca_get_info(kind)->name))
			continue;
		if (r->global_seen[kind])
			return FAIL(r, "%s appears twice", name);
		r->global_seen[kind] = true;
		return read_values(r, NULL, kind, value);
	}
	return FAIL(r, "unknown parameter '%.40s'", name);
}

static int read_line(struct reader *r, char *line)
{
	line[strcspn(line, "\r\n")] = 0;
	if (r->line == 1)
		return file_check_magic(line, magic, VERSION, NULL, r->diag);
	if (*line == '#' || !line[strspn(line, " \t")])
		return 0;
	return strchr(line, '\t') ? read_form(r, line) : read_global(r, line);
}

/* Reads line by line; changes the text. */
static int read_text(struct reader *r, struct text *text)
{
	char *line = text->data, *const end = line + text->size;

	while (line < end) {
		char *stop = memchr(line, '\n', (size_t)(end - line));
		int status;

		stop = stop ? stop : end; /* text_string has put a NUL there */
		*stop = '\0';
		r->line++;
		if (stop - line > MAX_LINE - 2 || strlen(line) != (size_t)(stop - line))
			return FAIL(r, "longer than %d characters, or not text", MAX_LINE - 2);
		status = read_line(r, line);
		if (status < 0)
			return status;
		line = stop + 1;
	}
	if (!r->line) {
		r->line = 1;
		return FAIL(r, "the file is empty");
	}
	return 0;
}

/* Makes `params` the defaults with what the file says. */
static void take_over(struct tact_mca_params *params, const struct reader *r)
{
	mca_params_reset(params);
	for (size_t i = 0; i < r->n_forms; i++)
		params->forms[r->forms[i].form] = r->forms[i].values;
	if (r->global_seen[TACT_MCA_DISPATCH_WIDTH])
		params->dispatch_width = r->global[TACT_MCA_DISPATCH_WIDTH];
	if (r->global_seen[TACT_MCA_REORDER_BUFFER])
		params->reorder_buffer = r->global[TACT_MCA_REORDER_BUFFER];
	params->has_memory = r->has_memory;
	if (params->has_memory)
		params->memory = r->memory;
}

int tact_mca_params_load(struct tact_mca_params *params, const char *path, struct tact_diag *diag)
{
	struct reader r = {.arch = params ? params->arch : NULL, .diag = diag};
	struct text text = {0};
	int status;

	if (!params || !path)
		return tact_fail(diag, TACT_E_INVAL, "an argument is missing");
	status = file_read(path, MAX_FILE, &text, diag);
	r.seen = status < 0 ? NULL : calloc(params->n_forms / 8 + 1, 1);
	if (status >= 0 && (!text_string(&text) || !r.seen))
		status = tact_fail(diag, TACT_E_NOMEM, "out of memory");
	if (status >= 0)
		status = read_text(&r, &text);
	if (status >= 0)
		take_over(params, &r);
	FREE_ALL(r.forms, r.seen);
	text_free(&text);
	return status;
}

/* ---- writing ---- */

static void put_form(struct text *out, const struct tact_mca_params *params, unsigned form)
{
	const struct mca_form *f = &params->forms[form];

	text_printf(out, "%s	%u	%u", tact_isa_form_name(params->arch->isa, form),
		    f->micro_ops, f->latency);
	for (unsigned i = 0; i < TACT_MCA_READS; i++)
		text_printf(out, "%c%u", i ? ',' : '\t', f->read_advance[i]);
	for (unsigned i = 0; i < TACT_MCA_PORTS; i++)
		text_printf(out, "%c%u", i ? ',' : '\t', f->port[i]);
	text_printf(out, "\n");
}

static void put_params(struct text *out, const struct tact_mca_params *params, const char *comment)
{
	text_printf(out, "%s %d\n", magic, VERSION);
	text_comment(out, comment, MAX_LINE - 4);
	text_printf(out, "arch = %s\n", tact_arch_name(params->arch));
	text_printf(out, "%s = %u\n", tact_mca_get_info(TACT_MCA_DISPATCH_WIDTH)->name,
		    params->dispatch_width);
	text_printf(out, "%s = %u\n", tact_mca_get_info(TACT_MCA_REORDER_BUFFER)->name,
		    params->reorder_buffer);
	if (params->has_memory)
		text_printf(out, "memory = %s\n", mca_memory_names[params->memory]);
	text_printf(out, "# form\tmicro_ops\tlatency\tread_advance\tport_cycles; forms not listed: "
			 "defaults\n");
	for (unsigned i = 0; i < params->n_forms; i++) {
		struct mca_form derived;

		mca_form_derive(&derived, params->arch, i);
		if (!mca_form_equal(&params->forms[i], &derived))
			put_form(out, params, i);
	}
}

int tact_mca_params_save(const struct tact_mca_params *params, const char *path,
			 const char *comment, struct tact_diag *diag)
{
	struct text text = {0};

	if (!params || !path)
		return tact_fail(diag, TACT_E_INVAL, "an argument is missing");
	put_params(&text, params, comment);
	return file_write_text(path, &text, diag);
}
