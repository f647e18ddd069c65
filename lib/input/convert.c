/* SPDX-License-Identifier: MIT
 *
 * Finds out what a text is, a listing or assembly, and makes an object file of it.
 */
#include "input/convert.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "input/complain.h"
#include "input/dialect.h"
#include "input/foreign.h"
#include "input/listing.h"

static int run_assembler(struct tact_input *in, const char *text, size_t size,
			 enum tact_syntax syntax, const struct tact_input_options *opt,
			 const struct listing *listing, struct tact_diag *diag)
{
	int status;

	asm_source_destroy(&in->source);
	status = asm_source_create(&in->source, in->isa, text, size, syntax, diag);
	if (status < 0)
		return status;
	in->source.is_listing = listing->is_listing;
	in->source.is_skipping = opt->skip_unknown;
	return asm_assemble(&in->source, &in->image, &in->image_size, diag);
}

/* Says what is not as a reader of the text would expect it. */
static int add_remarks(struct tact_input *in, struct tact_diag *diag)
{
	const struct asm_source *source = &in->source;
	int status = 0;

	if (!source->n_skipped && !source->n_mixed && !source->program &&
	    !source->n_ignored[ASM_LATENCY] && !source->n_ignored[ASM_EXEGESIS] &&
	    !source->n_ignored[ASM_SETTING])
		return 0;
	if (!in->general)
		status = tact_remarks_create(&in->general);
	if (status >= 0 && source->n_skipped)
		status = tact_remarks_add(
			in->general, "skipped-unknown",
			"%zu instruction%s that the assembler does not know left out",
			source->n_skipped, source->n_skipped > 1 ? "s" : "");
	if (status >= 0 && source->n_mixed)
		status = tact_remarks_add(in->general, "register-as-symbol",
					  "%zu instruction%s a register without %%, which AT&T "
					  "syntax takes for a symbol in memory",
					  source->n_mixed,
					  source->n_mixed > 1 ? "s name" : " names");
	if (status >= 0 && source->n_ignored[ASM_LATENCY])
		status =
			tact_remarks_add(in->general, "annotations-ignored",
					 "LLVM-MCA-LATENCY ignored (%zu): it needs a number from 1 "
					 "to 1000, and has no effect in macros",
					 source->n_ignored[ASM_LATENCY]);
	if (status >= 0 && source->n_ignored[ASM_EXEGESIS])
		status = tact_remarks_add(in->general, "annotations-ignored",
					  "LLVM-EXEGESIS annotations ignored (%zu): values of "
					  "registers and memory do not change a prediction",
					  source->n_ignored[ASM_EXEGESIS]);
	if (status >= 0 && source->n_ignored[ASM_SETTING])
		status = tact_remarks_add(
			in->general, "annotations-ignored",
			"LLVM-MCA-RISCV annotations ignored (%zu): they are LMUL M1 to "
			"M8 or MF2 to MF8 and SEW E8 to E64, and have no effect in "
			"macros",
			source->n_ignored[ASM_SETTING]);
	if (status >= 0 && source->program)
		status = tact_remarks_add(in->general, "other-assembler",
					  "assembled by %s: %s does not know an instruction in it",
					  source->program, source->assembler->program);
	return status < 0 ? tact_fail(diag, TACT_E_NOMEM, "out of memory") : 0;
}

/* The syntax may have been guessed wrongly, or asked for wrongly: tries the other one.  Returns 0 if
 * that is it, otherwise `status`.
 */
static int try_other_syntax(struct tact_input *in, const char *text, size_t size,
			    const struct tact_input_options *opt, const struct listing *listing,
			    struct tact_diag *diag, int status)
{
	const bool is_intel = in->source.syntax == TACT_SYNTAX_INTEL;
	struct tact_input_options strict = *opt;

	strict.skip_unknown = false;
	if (run_assembler(in, text, size, is_intel ? TACT_SYNTAX_ATT : TACT_SYNTAX_INTEL, &strict,
			  listing, NULL) < 0)
		return status;
	if (opt->syntax == TACT_SYNTAX_AUTO)
		return 0;
	free(in->image);
	in->image = NULL;
	if (diag)
		input_add_hint(diag, "; the text looks like %s syntax: --syntax %s",
			       is_intel ? "AT&T" : "Intel", is_intel ? "att" : "intel");
	return status;
}

/* Whether assembling may take long however short the text is. */
static bool may_repeat(const char *text, size_t size)
{
	static const char *const words[] = {".macro", ".rep", ".irp"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (memmem(text, size, words[i], strlen(words[i])))
			return true;
	return false;
}

/* Code of another set that a text is; NULL if it is none that can be assembled here. */
static const struct tact_isa *find_other_set(const struct tact_input *in, const char *text,
					     size_t size)
{
	enum { MOST = 1 << 16 }; /* bytes of a text that is worth a try */
	const struct tact_isa *isa, *found = NULL;

	if (size > MOST || may_repeat(text, size))
		return NULL;
	for (size_t i = 0; !found && (isa = isa_at(i)); i++) {
		struct asm_source source;
		uint8_t *image = NULL;
		size_t image_size;

		if (isa == in->isa ||
		    asm_source_create(&source, isa, text, size, TACT_SYNTAX_AUTO, NULL) < 0)
			continue;
		if (asm_assemble(&source, &image, &image_size, NULL) >= 0)
			found = isa;
		free(image);
		asm_source_destroy(&source);
	}
	return found;
}

/* Says what is wrong with a text, in the words of who wrote it. */
static void complain(const struct tact_input *in, const char *text, size_t size,
		     const struct tact_input_options *opt, struct tact_diag *diag)
{
	const struct tact_isa *isa = diag && diag->line ? find_other_set(in, text, size) : NULL;
	char other[128];

	snprintf(other, sizeof(other), "code of %s: -a NAME chooses a CPU of that set",
		 isa ? isa->title : "");
	input_complain(diag, in->isa->assembler, in->reader.data + in->reader.begin,
		       in->reader.end - in->reader.begin, isa ? other : NULL, opt->excerpt);
}

static int assemble(struct tact_input *in, const char *text, size_t size,
		    const struct tact_input_options *opt, const struct listing *listing,
		    struct tact_diag *diag)
{
	int status = run_assembler(in, text, size, opt->syntax, opt, listing, diag);

	if (status == -TACT_E_FORMAT && diag && diag->line)
		status = try_other_syntax(in, text, size, opt, listing, diag, status);
	if (status < 0 && listing->is_sorted && diag)
		diag->line = 0;
	if (status == -TACT_E_FORMAT)
		complain(in, text, size, opt, diag);
	if (status >= 0)
		status = add_remarks(in, diag);
	if (status >= 0 && listing->is_listing)
		listing_set_addresses(listing, in->image, in->image_size);
	return status;
}

/* Text for another assembler. */
static int convert_foreign(struct tact_input *in, enum foreign kind, const char *text, size_t size,
			   const struct tact_input_options *opt, struct tact_diag *diag)
{
	const struct listing none = {0};
	struct text converted = {0};
	int status = foreign_convert(&converted, in->isa->assembler, kind, text, size, diag);

	if (status >= 0)
		status = assemble(in, converted.data, converted.size, opt, &none, diag);
	else if (status == -TACT_E_FORMAT)
		input_complain(diag, in->isa->assembler, text, size, NULL, opt->excerpt);
	text_free(&converted);
	in->description =
		kind == FOREIGN_NASM ? "assembly (NASM syntax)" : "assembly (listing of MSVC)";
	return status;
}

/* Text that is no listing. */
static int convert_text(struct tact_input *in, const char *text, size_t size,
			const struct tact_input_options *opt, struct tact_diag *diag)
{
	const struct listing none = {0};
	const bool has_intel = in->isa->assembler->directive[TACT_SYNTAX_INTEL];
	const enum foreign foreign = has_intel && opt->syntax != TACT_SYNTAX_ATT
					     ? foreign_detect(text, size)
					     : FOREIGN_NONE;
	struct text converted = {0};
	enum dialect dialect;
	int status;

	if (foreign)
		return convert_foreign(in, foreign, text, size, opt, diag);
	dialect = dialect_convert(&converted, in->isa->assembler, text, size);
	if (converted.failed)
		status = tact_fail(diag, TACT_E_NOMEM, "out of memory");
	else if (dialect == DIALECT_NONE)
		status = assemble(in, text, size, opt, &none, diag);
	else
		status = assemble(in, converted.data, converted.size, opt, &none, diag);
	text_free(&converted);
	in->description = !in->isa->assembler->weigh		   ? "assembly"
			  : in->source.syntax == TACT_SYNTAX_INTEL ? "assembly (Intel syntax)"
								   : "assembly (AT&T syntax)";
	if (dialect == DIALECT_PERF)
		in->description = "perf annotate";
	return status;
}

int input_make_image(struct tact_input *in, const struct tact_input_options *opt,
		     struct tact_diag *diag)
{
	const char *text = in->reader.data + in->reader.begin;
	const size_t size = in->reader.end - in->reader.begin;
	struct listing listing;
	int status;

	if (!in->isa->assembler)
		return tact_fail(diag, TACT_E_NO_TOOL, "there is no assembler for %s",
				 in->isa->title);
	if (dialect_is_perf(text, size))
		return convert_text(in, text, size, opt, diag);
	status = listing_read(&listing, in->isa->assembler, text, size, diag);
	if (status < 0)
		return status;
	if (!listing.is_listing)
		return convert_text(in, text, size, opt, diag);
	/* What follows is that of a file with addresses. */
	in->kind = TACT_INPUT_ELF;
	in->description = listing.has_bytes ? "listing with bytes" : "listing";
	if (listing.has_bytes)
		status = listing_make_image(&listing, in->isa, &in->image, &in->image_size, diag);
	else
		status = assemble(in, listing.text.data, listing.text.size, opt, &listing, diag);
	listing_free(&listing);
	return status;
}
