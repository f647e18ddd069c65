/* SPDX-License-Identifier: MIT
 *
 * Which forms a query means: a mnemonic, a form, assembly text, or hex digits.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <tact/input.h>

#include "common/cli.h"
#include "common/insninfo.h"
#include "insns.h"

enum { MAX_OPERANDS = 8, MAX_WORD = 40 };

/* A name and kinds of operands, in upper case. */
struct pattern {
	char name[MAX_WORD];
	char operand[MAX_OPERANDS][MAX_WORD];
	size_t n;
	bool has_operands;
};

/* ---- code ---- */

long insn_assemble(const struct insns *q, const char *text, uint8_t *code, size_t room)
{
	const struct tact_input_options opt = {
		.size = sizeof(opt), .kind = TACT_INPUT_ASM, .isa = q->isa};
	struct tact_region region = TACT_REGION_INIT;
	struct tact_input *in;
	struct tact_diag diag;
	long size = 0;
	int status = tact_input_open_memory(&in, text, strlen(text), &opt, &diag);

	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	if (status < 0)
		return status == -TACT_E_NO_TOOL ? -1 : 0;
	if (tact_input_next(in, &region, &diag) == 1 && region.code_size <= room) {
		size = (long)region.code_size;
		memcpy(code, region.code, region.code_size);
	}
	tact_input_close(in);
	return size;
}

/* Takes the first instruction of some code.  Returns its length, or 0. */
static int take_code(const struct insns *q, struct insn_choice *choice, const uint8_t *code,
		     size_t size)
{
	const int length = tact_isa_decode(q->isa, &choice->insn, code, size);

	if (length <= 0)
		return 0;
	memcpy(choice->code, code, (size_t)length);
	choice->has_code = true;
	choice->form = choice->insn.form;
	if (tact_isa_format(q->isa, code, (size_t)length, 0, choice->text, sizeof(choice->text)) <
	    0)
		choice->text[0] = '\0';
	return length;
}

void insn_make_example(const struct insns *q, struct insn_choice *choice)
{
	struct insn_choice made = *choice;
	char text[INSN_TEXT + 40] = ".intel_syntax noprefix\n";
	const size_t n = strlen(text);
	uint8_t code[64];
	long size;

	if (choice->has_code ||
	    tact_isa_form_example(q->isa, choice->form, 0, -1, text + n, sizeof(text) - n - 1) < 0)
		return;
	strcat(text, "\n");
	size = insn_assemble(q, text, code, sizeof(code));
	/* Where there are two encodings, the assembler may have taken the other one. */
	if (size > 0 && take_code(q, &made, code, (size_t)size) == size &&
	    made.form == choice->form) {
		*choice = made;
		choice->is_example = true;
	}
}

/* The instruction that the set itself has as an example: costs may be known of it only. */
static void take_example(const struct insns *q, struct insn_choice *choice)
{
	struct tact_form f = TACT_FORM_INIT;

	if (tact_isa_form(q->isa, choice->form, &f) >= 0)
		choice->is_example = take_code(q, choice, f.code, f.code_size) > 0;
}

static struct insn_choice *add_choice(struct insns *q, unsigned form)
{
	struct insn_choice *choice;

	q->choices = cli_realloc(q->choices, (q->n_choices + 1) * sizeof(*q->choices));
	choice = &q->choices[q->n_choices++];
	*choice = (struct insn_choice){.form = form};
	return choice;
}

/* All instructions of some code. */
static int add_code(struct insns *q, const uint8_t *code, size_t size, const char *what)
{
	q->is_narrow = true;
	for (size_t at = 0; at < size;) {
		struct insn_choice *choice = add_choice(q, TACT_FORM_NONE);
		const int length = take_code(q, choice, code + at, size - at);

		if (!length) {
			cli_message("%s: the bytes at offset %zu are not an instruction", what, at);
			return CLI_FAILED;
		}
		choice->situation = insninfo_situation(&choice->insn);
		at += (size_t)length;
	}
	return CLI_GOOD;
}

static int ask_hex(struct insns *q)
{
	const struct tact_input_options opt = {
		.size = sizeof(opt), .kind = TACT_INPUT_HEX, .isa = q->isa};
	struct tact_region region = TACT_REGION_INIT;
	struct tact_input *in;
	struct tact_diag diag = {0};
	int status = tact_input_open_memory(&in, q->hex, strlen(q->hex), &opt, &diag);

	if (status >= 0) {
		status = tact_input_next(in, &region, &diag);
		if (status == 1)
			status = add_code(q, region.code, region.code_size, "-x");
		else
			status = cli_complain("-x", &diag, status, CLI_FAILED);
		tact_input_close(in);
		return status;
	}
	return cli_complain("-x", &diag, status, CLI_FAILED);
}

/* ---- names ---- */

static bool is_space(char c)
{
	return strchr(" ,()\t", c) != NULL;
}

/* Reads "add r64, m64", "ADD (R64, M64)" and "IMUL_GPR64_GPR64". */
static void read_pattern(struct pattern *p, const char *query)
{
	size_t n = 0;

	memset(p, 0, sizeof(*p));
	for (; *query && !is_space(*query) && n + 1 < MAX_WORD; query++)
		p->name[n++] = (char)toupper((unsigned char)*query);
	while (*query && p->n < MAX_OPERANDS) {
		while (*query && is_space(*query))
			query++;
		for (n = 0; *query && !is_space(*query); query++)
			if (n + 1 < MAX_WORD)
				p->operand[p->n][n++] = (char)toupper((unsigned char)*query);
		p->n += n > 0;
	}
	p->has_operands = p->n > 0;
}

/* The name of a form, its operands, and the mnemonic that the name begins with. */
static size_t name_size(const char *form)
{
	const char *end = strstr(form, " (");

	return end ? (size_t)(end - form) : strlen(form);
}

static size_t mnemonic_size(const char *form)
{
	return strcspn(form, "_ ");
}

/* Kinds that people write in another way: GPR64, IMM8; R, M and I stand for any width. */
static bool is_kind(const char *asked, const char *operand, size_t n)
{
	if (!strncmp(asked, "GPR", 3))
		asked += 2;
	if (!strncmp(asked, "MEM", 3))
		asked += 2;
	if (!strncmp(asked, "IMM", 3))
		asked += 2;
	if (strlen(asked) == n && !strncasecmp(asked, operand, n))
		return true;
	if (asked[1] == '\0')
		return (strchr("RMI", asked[0]) && asked[0] == operand[0] &&
			isdigit((unsigned char)operand[1])) ||
		       (asked[0] == 'I' && isdigit((unsigned char)operand[0]));
	/* R8 is both R8l and R8h; M64 is also M64_1to8 */
	return !strncasecmp(asked, operand, strlen(asked)) &&
	       (operand[strlen(asked)] == 'l' || operand[strlen(asked)] == 'h');
}

static bool has_operands(const struct pattern *p, const char *form)
{
	const char *rest = strstr(form, " (");
	size_t i = 0;

	if (!p->has_operands)
		return true;
	for (rest = rest ? rest + 2 : ""; *rest && *rest != ')'; i++) {
		size_t n;

		rest += strspn(rest, " ,");
		n = strcspn(rest, ",)");
		if (i >= p->n || !is_kind(p->operand[i], rest, n))
			return false;
		rest += n;
	}
	return i == p->n;
}

enum match { MATCH_MNEMONIC, MATCH_PREFIX };

static bool is_match(const struct pattern *p, const char *form, enum match how)
{
	const size_t n = strlen(p->name);

	if (how == MATCH_PREFIX)
		return n >= 3 && !strncmp(form, p->name, n) && has_operands(p, form);
	return ((mnemonic_size(form) == n || name_size(form) == n) && !strncmp(form, p->name, n)) &&
	       has_operands(p, form);
}

/* Forms whose names are opcodes of LLVM's: by that, or by the mnemonic and the operands' kinds. */
static bool is_opcode(const struct tact_form *form, const struct pattern *p, enum match how)
{
	const size_t n = strlen(p->name);
	size_t operand = 0;

	if (how == MATCH_PREFIX)
		return n >= 3 && !p->has_operands &&
		       (!strncasecmp(form->name, p->name, n) ||
			!strncasecmp(form->mnemonic, p->name, n));
	if (strcasecmp(form->name, p->name) && strcasecmp(form->mnemonic, p->name))
		return false;
	for (const char *at = form->operands; *at && p->has_operands; operand++) {
		const size_t size = strcspn(at, ",");

		if (operand >= p->n || strlen(p->operand[operand]) != size ||
		    strncasecmp(p->operand[operand], at, size))
			return false;
		at += size + strspn(at + size, ", ");
	}
	return !p->has_operands || operand == p->n;
}

/* Some CPU has data for it. */
static bool is_known(const struct insns *q, unsigned form)
{
	for (size_t i = 0; i < q->archs.n; i++)
		if (tact_arch_has_form(q->archs.arch[i], form))
			return true;
	return false;
}

/* Adds all forms that match.  Returns how many match on any CPU. */
static size_t add_matches(struct insns *q, const struct pattern *p, enum match how)
{
	const unsigned n = tact_isa_form_count(q->isa);
	size_t found = 0;

	for (unsigned i = 0; i < n; i++) {
		struct tact_form f = TACT_FORM_INIT;

		if (tact_isa_form(q->isa, i, &f) >= 0
			    ? !is_opcode(&f, p, how)
			    : !is_match(p, tact_isa_form_name(q->isa, i), how))
			continue;
		found++;
		if (is_known(q, i))
			take_example(q, add_choice(q, i));
	}
	return found;
}

/* "IMUL_GPR64_GPR64": what follows the name is operands if no form has the whole name. */
static bool split_name(struct pattern *p)
{
	char copy[MAX_WORD], *rest = copy, *word;

	if (p->has_operands || !strchr(p->name, '_'))
		return false;
	memcpy(copy, p->name, sizeof(copy));
	word = strsep(&rest, "_");
	memmove(p->name, word, strlen(word) + 1);
	while ((word = strsep(&rest, "_")) && p->n < MAX_OPERANDS)
		if (*word)
			memcpy(p->operand[p->n++], word, strlen(word) + 1);
	p->has_operands = p->n > 0;
	return true;
}

/* In upper case. */
static void name_mnemonic(const struct insns *q, unsigned form, char *name)
{
	const char *text = tact_isa_form_name(q->isa, form);
	struct tact_form f = TACT_FORM_INIT;
	size_t size = mnemonic_size(text);

	if (tact_isa_form(q->isa, form, &f) >= 0) {
		text = f.mnemonic;
		size = strlen(text);
	}
	size = size < MAX_WORD ? size : MAX_WORD - 1;
	for (size_t i = 0; i < size; i++)
		name[i] = (char)toupper((unsigned char)text[i]);
	name[size] = '\0';
}

/* The mnemonic that differs least. */
static const char *near_mnemonic(const struct insns *q, const struct pattern *p, char *text)
{
	const unsigned n = tact_isa_form_count(q->isa);
	unsigned best = strlen(p->name) < 4 ? 2 : 3;

	text[0] = '\0';
	for (unsigned i = 0; i < n; i++) {
		char name[MAX_WORD] = "";
		unsigned d;

		name_mnemonic(q, i, name);
		d = cli_distance(p->name, name);
		if (d < best) {
			best = d;
			for (size_t k = 0; k < MAX_WORD; k++)
				text[k] = (char)tolower((unsigned char)name[k]);
		}
	}
	return text[0] ? text : NULL;
}

/* AT&T's mnemonics end in the width of the operands. */
static bool drop_width(struct pattern *p)
{
	const size_t n = strlen(p->name);

	if (n < 3 || !strchr("BWLQ", p->name[n - 1]))
		return false;
	p->name[n - 1] = '\0';
	return true;
}

static size_t find(struct insns *q, const char *query, struct pattern *p)
{
	size_t found;

	read_pattern(p, query);
	found = add_matches(q, p, MATCH_MNEMONIC);
	if (!found && split_name(p))
		found = add_matches(q, p, MATCH_MNEMONIC);
	return found;
}

/* Assembles the query.  Returns an exit code, or -1 if it is no instruction. */
static int ask_assembler(struct insns *q, const char *query)
{
	struct text text = {0};
	uint8_t code[256];
	long size;
	int status = -1;

	text_printf(&text, "%s\n", query);
	size = insn_assemble(q, cli_string(&text), code, sizeof(code));
	text_free(&text);
	if (size < 0) {
		cli_message("'%s' is assembly text, and the assembler, as, is not installed",
			    query);
		status = CLI_UNABLE;
	} else if (size > 0) {
		status = add_code(q, code, (size_t)size, query);
	}
	return status;
}

static int report_unknown(struct insns *q, const char *query, const struct pattern *p)
{
	char near[MAX_WORD];
	struct pattern name = *p;

	name.has_operands = false;
	name.n = 0;
	if (p->has_operands && add_matches(q, &name, MATCH_MNEMONIC))
		cli_message("%s: no form of %s has these operands; 'tact insn %s' lists its forms",
			    query, p->name, p->name);
	else if (near_mnemonic(q, p, near))
		cli_message("'%s' is no known instruction; did you mean %s?", query, near);
	else
		cli_message("'%s' is no known instruction", query);
	return CLI_FAILED;
}

static int ask_words(struct insns *q, const char *query)
{
	struct pattern p, without;
	size_t found = find(q, query, &p);
	int status;

	if (!found && p.has_operands) {
		status = ask_assembler(q, query);
		if (status >= 0)
			return status;
	}
	without = p;
	if (!found && drop_width(&without))
		found = add_matches(q, &without, MATCH_MNEMONIC);
	if (!found)
		found = add_matches(q, &p, MATCH_PREFIX);
	if (!found && !p.has_operands && ask_assembler(q, query) == CLI_GOOD)
		return CLI_GOOD;
	if (!found)
		return report_unknown(q, query, &p);
	q->is_narrow = p.has_operands;
	if (!q->n_choices) {
		cli_message("%s: %s no data for it%s", query,
			    q->archs.n == 1 ? "this microarchitecture has" : "these have",
			    q->isa == tact_isa_default()
				    ? "; -a all shows which microarchitectures have"
				    : "");
		return CLI_FAILED;
	}
	return CLI_GOOD;
}

int insn_ask(struct insns *q)
{
	struct text query = {0};
	int status;

	if (q->hex)
		return ask_hex(q);
	for (size_t i = 0; i < q->words.n; i++)
		text_printf(&query, "%s%s", i ? " " : "", q->words.list[i]);
	status = ask_words(q, cli_string(&query));
	text_free(&query);
	return status;
}
