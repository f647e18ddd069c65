/* SPDX-License-Identifier: MIT
 *
 * Chooses what is traced: a file, or code given by name.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "trace/analysis.h"

#include <tact-program/tracing.h>
#include <tact/input.h>

/* ---- files ---- */

/* Reads the first bytes of a file; returns how many there are. */
static size_t read_head(const char *path, char *head, size_t size)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = 0;

	if (fd >= 0) {
		n = file_read_up_to(fd, head, size);
		close(fd);
	}
	return n > 0 ? (size_t)n : 0;
}

bool tact_trace_is_one(const char *path)
{
	static const char magic[8] = "TTRACE\x1a\n";
	const size_t length = path ? strlen(path) : 0;
	char head[8];

	if (!path)
		return false;
	if (!strcmp(path, "-") || (length > 4 && !strcmp(path + length - 4, ".tct")))
		return true;
	return read_head(path, head, sizeof(head)) == sizeof(head) &&
	       !memcmp(head, magic, sizeof(head));
}

int tact_trace_open_any(struct tact_trace **out, const char *path, const struct tact_text_run *text,
			struct tact_diag *diag)
{
	struct tact_input_options opt = TACT_INPUT_OPTIONS_INIT;
	char head;
	int status;

	if (out)
		*out = NULL;
	if (!out || !path || !text)
		return tact_fail(diag, TACT_E_INVAL, "a file is needed");
	if (tact_trace_is_one(path))
		return tact_trace_open(out, path, diag);
	if (read_head(path, &head, 1) && head == '{')
		return tact_fail(diag, TACT_E_FORMAT,
				 "a result, not a trace: 'tact diff' compares such files");
	opt.isa = text->isa;
	status = tact_trace_open_text(out, path, &opt, text->iterations, diag);
	return status ? status : tact_trace_set_callee(*out, text->callee);
}

/* ---- code ---- */

enum { MAX_CHOICES = 64 }; /* functions that a name may stand for */

struct tact_choice {
	struct tact_trace_region *regions; /* owned */
	size_t *of;			   /* owned: number of the text that each one comes from */
	size_t n, regions_capacity, of_capacity;
	struct tact_trace_region from, until;
	bool has_from, has_until;
};

/* How the texts are resolved. */
struct resolver {
	struct tact_symbols *symbols;
	const char *program, *path;
	struct tact_diag *diag;
};

/* A name may stand for several functions, of which the program uses one. */
static int add(struct tact_choice *c, const struct resolver *r, const struct tact_chosen *chosen,
	       size_t number)
{
	struct tact_trace_region found[MAX_CHOICES];
	const long n = tact_symbols_regions(r->symbols, chosen->text, r->program, r->path, found,
					    MAX_CHOICES, r->diag);

	if (n < 0)
		return (int)n;
	if (tact_grow(&c->regions, &c->regions_capacity, c->n + (size_t)n, sizeof(*c->regions)) ||
	    tact_grow(&c->of, &c->of_capacity, c->n + (size_t)n, sizeof(*c->of)))
		return tact_fail(r->diag, TACT_E_NOMEM, "out of memory");
	for (long i = 0; i < n; i++) {
		found[i].is_excluded = chosen->is_excluded;
		c->regions[c->n] = found[i];
		c->of[c->n++] = number;
	}
	return 0;
}

static int add_point(const struct resolver *r, const char *text, struct tact_trace_region *out,
		     bool *has)
{
	*has = text != NULL;
	return text ? tact_symbols_region(r->symbols, text, r->program, r->path, out, r->diag) : 0;
}

/* *at becomes the text at fault. */
static int resolve(struct tact_choice *c, const struct resolver *r,
		   const struct tact_chosen *chosen, size_t n, const char *from, const char *until,
		   const char **at)
{
	int status = 0;

	for (size_t i = 0; i < n && !status; i++) {
		*at = chosen[i].text;
		status = add(c, r, &chosen[i], i);
	}
	if (!status) {
		*at = from;
		status = add_point(r, from, &c->from, &c->has_from);
	}
	if (!status) {
		*at = until;
		status = add_point(r, until, &c->until, &c->has_until);
	}
	return status;
}

int tact_choice_create(struct tact_choice **out, struct tact_symbols *symbols, const char *program,
		       const char *path, const struct tact_chosen *chosen, size_t n,
		       const char *from, const char *until, const char **wrong,
		       struct tact_diag *diag)
{
	const struct resolver r = {symbols, program, path, diag};
	struct tact_choice *c;
	const char *at = NULL;
	int status;

	if (out)
		*out = NULL;
	if (!out || !symbols || !program || (n && !chosen))
		return tact_fail(diag, TACT_E_INVAL, "symbols and a program are needed");
	c = calloc(1, sizeof(*c));
	if (!c)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	status = resolve(c, &r, chosen, n, from, until, &at);
	if (wrong)
		*wrong = status ? at : NULL;
	if (status)
		tact_choice_destroy(c);
	else
		*out = c;
	return status;
}

void tact_choice_destroy(struct tact_choice *c)
{
	if (!c)
		return;
	FREE_ALL(c->regions, c->of, c);
}

void tact_choice_apply(const struct tact_choice *c, struct tact_trace_options *opt)
{
	if (!c || !opt)
		return;
	opt->regions = c->regions;
	opt->n_regions = c->n;
	opt->from = c->has_from ? &c->from : NULL;
	opt->until = c->has_until ? &c->until : NULL;
}

bool tact_choice_has_run(const struct tact_choice *c, size_t i, const struct tact_trace *trace)
{
	for (size_t k = 0; c && k < c->n; k++)
		if (c->of[k] == i && tact_trace_has_region(trace, &c->regions[k]))
			return true;
	return false;
}
