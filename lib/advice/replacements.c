/* SPDX-License-Identifier: MIT
 *
 * Single instructions that others replace: what the instruction set knows.
 */
#include "advice/advisor.h"

#include <string.h>

/* Adds the instructions of a replacement one by one. */
static void add_all(struct tact_advisor *a, const struct isa_replacement *r)
{
	struct tact_insn insn;

	for (size_t at = 0; at < r->size;) {
		const int length = tact_isa_decode(a->block->arch->isa, &insn, r->code + at,
						   (size_t)r->size - at);

		advice_add(a, r->code + at, length > 0 ? (size_t)length : 0);
		at += length > 0 ? (size_t)length : r->size;
	}
}

static bool replace(const struct tact_advisor *a, const struct isa_replacement_kind *kind, size_t i,
		    uint8_t reg, struct isa_replacement *out)
{
	size_t size;
	const uint8_t *code = advice_bytes(a, i, &size);

	memset(out, 0, sizeof(*out));
	out->name = kind->name;
	out->text = kind->text;
	return kind->make(code, size, reg, out) && out->size;
}

/* Replaces the instructions whose bit is set, if they have a replacement of this kind; `chosen`
 * NULL: all.  Returns what must be assumed.
 */
static unsigned draft(struct tact_advisor *a, const struct isa_replacement_kind *kind, uint8_t reg,
		      const bool *chosen)
{
	struct isa_replacement r;
	unsigned assumes = 0;

	advice_begin(a, kind->name);
	for (size_t i = 0; i < a->block->n_insns; i++) {
		if ((chosen && !chosen[i]) || !replace(a, kind, i, reg, &r)) {
			advice_add_insn(a, i);
			continue;
		}
		add_all(a, &r);
		assumes |= r.assumes;
		advice_about(a, i);
	}
	return assumes;
}

/* Leaves out, one by one from the last, what gains nothing. */
static unsigned prune(struct tact_advisor *a, const struct isa_replacement_kind *kind, uint8_t reg)
{
	enum { MOST = 8 }; /* of many, all stay: each one costs a prediction */
	bool chosen[TACT_ADVICE_MAX_INSNS] = {false};
	const double after = a->draft.after;
	const size_t n = a->draft.n_about;
	uint32_t about[MOST];

	for (size_t k = 0; k < n; k++)
		chosen[a->draft.about[k]] = true;
	if (n > 1 && n <= MOST) {
		memcpy(about, a->draft.about, n * sizeof(*about));
		for (size_t k = n; k-- > 0;) {
			chosen[about[k]] = false;
			draft(a, kind, reg, chosen);
			if (!advice_try(a) || a->draft.after > after + 1e-9)
				chosen[about[k]] = true;
		}
	}
	return draft(a, kind, reg, chosen);
}

static void say(struct tact_advisor *a, struct advice_found *f,
		const struct isa_replacement_kind *kind, unsigned assumes, uint8_t reg)
{
	static const struct {
		unsigned bit;
		const char *text;
	} texts[] = {
		{ISA_ASSUMES_UPPER_BITS, "nothing needs the other bits of the register"},
		{ISA_ASSUMES_SMALL,
		 "numbers and results fit into 32 bits, and nothing needs more bits"},
		{ISA_ASSUMES_FLAGS, "nothing needs the flags afterwards"},
		{ISA_ASSUMES_CONDITION, "no branch asks for the sign or for an overflow alone"},
	};

	text_printf(&f->text, "instruction%s ", f->n_insns > 1 ? "s" : "");
	advice_list(&f->text, f->insns, f->n_insns);
	text_printf(&f->text, ": %s", kind->text);
	for (size_t k = 0; k < ARRAY_SIZE(texts); k++)
		if (assumes & texts[k].bit)
			text_printf(&f->assumes, "%s%s", f->assumes.size ? "; " : "",
				    texts[k].text);
	if (assumes & ISA_USES_GENERAL)
		text_printf(&f->assumes, "%sa register is free (here %s)",
			    f->assumes.size ? "; " : "",
			    tact_isa_reg_name(a->block->arch->isa, reg));
}

void advise_replacements(struct tact_advisor *a)
{
	uint64_t set = a->free_general;
	const uint8_t reg = advice_take_general(&set);

	for (const struct isa_replacement_kind *kind = a->rewriter->kinds; kind->name && !a->failed;
	     kind++) {
		struct advice_found *f;
		unsigned assumes;

		draft(a, kind, reg, NULL);
		if (!a->draft.n_about || !advice_try(a))
			continue;
		assumes = prune(a, kind, reg);
		if (!advice_try(a))
			continue;
		f = advice_keep(a);
		if (f)
			say(a, f, kind, assumes, reg);
	}
}
