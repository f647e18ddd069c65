/* SPDX-License-Identifier: MIT
 *
 * A file as pieces of code: its loops, and of functions without loops all code.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/likeness.h"
#include "diff/codediff.h"
#include "obj/obj.h"

static int no_memory(struct tact_diag *diag)
{
	return tact_fail(diag, TACT_E_NOMEM, "out of memory");
}

static const void *keep(struct tact_code *c, const void *data, size_t size)
{
	void *copy = tact_arena_take(&c->memory, size ? size : 1);

	if (copy && size)
		memcpy(copy, data, size);
	return copy;
}

static const char *keep_string(struct tact_code *c, const char *string)
{
	return keep(c, string, strlen(string) + 1);
}

/* Decodes the instructions of a piece, up to the first bytes that are none. */
static int decode(struct tact_code *c, struct code_piece *p)
{
	/* An instruction has at least one byte. */
	uint64_t *insns = malloc((p->code_size + 1) * sizeof(*insns));
	uint64_t *mnemonics = malloc((p->code_size + 1) * sizeof(*mnemonics));
	uint32_t *offsets = malloc((p->code_size + 1) * sizeof(*offsets));
	size_t at = 0, n = 0;
	int status = insns && mnemonics && offsets ? 0 : -TACT_E_NOMEM;

	p->content = 1;
	while (!status && at < p->code_size) {
		struct tact_insn insn;
		const int size = tact_isa_decode(c->isa, &insn, p->code + at, p->code_size - at);

		if (size <= 0)
			break;
		insns[n] = code_insn_hash(1, &insn);
		mnemonics[n] = insn.mnemonic | (uint64_t)insn.condition << 16;
		offsets[n++] = (uint32_t)at;
		p->content = code_insn_hash(p->content, &insn);
		at += (size_t)size;
	}
	if (!status) {
		for (size_t i = at; i < p->code_size; i++)
			p->content = code_mix(p->content, p->code[i]);
		offsets[n] = (uint32_t)at;
		p->n_insns = n;
		p->insns = keep(c, insns, n * sizeof(*insns));
		p->mnemonics = keep(c, mnemonics, n * sizeof(*mnemonics));
		p->offsets = keep(c, offsets, (n + 1) * sizeof(*offsets));
		if (!p->insns || !p->mnemonics || !p->offsets)
			status = -TACT_E_NOMEM;
	}
	FREE_ALL(insns, mnemonics, offsets);
	return status;
}

int code_add(struct tact_code *c, const struct tact_region *r)
{
	struct code_piece p = {
		.code_size = r->code_size,
		.address = r->address,
		.line = r->line,
		.is_loop = r->is_loop,
		.alignment = r->alignment,
		.moving = r->moving,
		.setting = r->setting,
	};

	p.name = keep_string(c, r->name);
	p.function = keep_string(c, r->function);
	p.source = keep_string(c, r->source);
	p.source_path = keep_string(c, r->source_path);
	p.code = keep(c, r->code, r->code_size);
	if (!p.name || !p.function || !p.source || !p.source_path || !p.code ||
	    tact_grow(&c->pieces, &c->capacity, c->n + 1, sizeof(*c->pieces)))
		return -TACT_E_NOMEM;
	if (!c->isa)
		c->isa = r->isa;
	if (decode(c, &p))
		return -TACT_E_NOMEM;
	if (tact_remarks_count(r->remarks) &&
	    (tact_remarks_create(&p.remarks) || tact_remarks_append(p.remarks, r->remarks))) {
		tact_remarks_destroy(p.remarks);
		return -TACT_E_NOMEM;
	}
	c->pieces[c->n++] = p;
	return 0;
}

/* Whether a region belongs to the function that was asked for: by its symbol, or as in the source,
 * with or without parameters.
 */
static bool is_wanted(const char *name, const char *function, const char *demangled)
{
	const size_t size = obj_stem_length(function), n = strlen(function);

	if (size == obj_stem_length(name) && !memcmp(name, function, size))
		return true;
	if (demangled && !strncmp(demangled, name, strlen(name)) &&
	    strchr("(", demangled[strlen(name)]))
		return true;
	return !strncmp(name, function, n) && name[n] == '(';
}

/* Says that nothing of the file is what was asked for. */
static int nothing(const struct tact_code_options *opt, int n_loops, bool is_marked,
		   struct tact_diag *diag)
{
	static const char note[] = "; the file has markers, and only marked code is seen";

	if (opt->loop && n_loops)
		return tact_fail(diag, TACT_E_INVAL, "there is no loop %d%s%s%s: %d found",
				 opt->loop, opt->function ? " in '" : "",
				 opt->function ? opt->function : "", opt->function ? "'" : "",
				 n_loops);
	if (opt->marker)
		return tact_fail(diag, TACT_E_INVAL, "there is no marked region '%s'%s%s%s",
				 opt->marker, opt->function ? " in '" : "",
				 opt->function ? opt->function : "", opt->function ? "'" : "");
	if (opt->function)
		return tact_fail(diag, TACT_E_INVAL, "there is no %s '%s'%s",
				 opt->loop ? "loop in a function" : "function", opt->function,
				 is_marked ? note : "");
	return tact_fail(diag, opt->loop ? TACT_E_INVAL : TACT_E_FORMAT, "there is no %s in it%s",
			 opt->loop ? "loop" : "code", is_marked ? note : "");
}

static int read_all(struct tact_code *c, struct tact_input *in, const struct tact_code_options *opt,
		    struct tact_diag *diag)
{
	struct tact_region region = TACT_REGION_INIT;
	char *demangled = opt->function ? obj_demangle(opt->function, true) : NULL;
	bool is_marked = false;
	int n_loops = 0, status;

	snprintf(c->description, sizeof(c->description), "%s", tact_input_description(in));
	while ((status = tact_input_next(in, &region, diag)) > 0) {
		is_marked |= *region.name && *region.function &&
			     strncmp(region.name, region.function, strlen(region.function)) != 0;
		if (opt->function && !is_wanted(region.function, opt->function, demangled))
			continue;
		if (opt->marker && strcmp(opt->marker, region.name) != 0)
			continue;
		if (opt->loop && (!region.is_loop || ++n_loops != opt->loop))
			continue;
		if (code_add(c, &region)) {
			status = no_memory(diag);
			break;
		}
	}
	free(demangled);
	if (status < 0 || c->n)
		return status;
	return nothing(opt, n_loops, is_marked, diag);
}

int code_create(struct tact_code **out, const struct tact_isa *isa)
{
	*out = calloc(1, sizeof(**out));
	if (*out)
		(*out)->isa = isa;
	return *out ? 0 : -TACT_E_NOMEM;
}

int tact_code_load(struct tact_code **out, const char *path, const struct tact_code_options *opt,
		   struct tact_diag *diag)
{
	struct tact_input_options how = {.size = sizeof(how), .all_functions = true};
	struct tact_code_options wanted;
	struct tact_input *in = NULL;
	struct tact_code *c;
	int status;

	if (out)
		*out = NULL;
	if (tact_read_options(&wanted, sizeof(wanted), opt))
		return tact_fail(diag, TACT_E_INVAL, "options that this library does not know");
	status = tact_new(&c, sizeof(*c), out && path, "a path is needed", diag);
	if (status < 0)
		return status;
	how.syntax = wanted.syntax;
	how.isa = wanted.isa;
	how.is_mangled = wanted.is_mangled;
	how.isa = wanted.isa;
	status = tact_input_open(&in, path, &how, diag);
	if (status >= 0)
		status = read_all(c, in, &wanted, diag);
	tact_input_close(in);
	return HAND_OVER(out, c, status, tact_code_destroy);
}

void tact_code_destroy(struct tact_code *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n; i++)
		tact_remarks_destroy(c->pieces[i].remarks);
	tact_arena_reset(&c->memory);
	free(c->pieces);
	free(c);
}

const char *tact_code_description(const struct tact_code *c)
{
	return c ? c->description : "";
}
