/* SPDX-License-Identifier: MIT
 *
 * Finds out what a text is, a listing or assembly, and makes an object file of it.
 */
#include "input/convert.h"

#include "base/base.h"
#include "input/dialect.h"
#include "input/listing.h"

static int assemble(struct tact_input *in, const char *text, size_t size,
		    const struct tact_input_options *opt, const struct listing *listing,
		    struct tact_diag *diag)
{
	int status = asm_source_create(&in->source, in->isa, text, size, opt->syntax, diag);

	if (status < 0)
		return status;
	in->source.is_listing = listing->is_listing;
	status = asm_assemble(&in->source, &in->image, &in->image_size, diag);
	if (status < 0 && listing->is_sorted && diag)
		diag->line = 0;
	if (status >= 0 && listing->is_listing)
		listing_set_addresses(listing, in->image, in->image_size);
	return status;
}

/* Text that is no listing. */
static int convert_text(struct tact_input *in, const char *text, size_t size,
			const struct tact_input_options *opt, struct tact_diag *diag)
{
	const struct listing none = {0};
	struct text converted = {0};
	const enum dialect dialect = dialect_convert(&converted, in->isa->assembler, text, size);
	int status;

	if (converted.failed)
		status = tact_fail(diag, TACT_E_NOMEM, "out of memory");
	else if (dialect == DIALECT_NONE)
		status = assemble(in, text, size, opt, &none, diag);
	else
		status = assemble(in, converted.data, converted.size, opt, &none, diag);
	text_free(&converted);
	in->description = in->source.syntax == TACT_SYNTAX_INTEL ? "assembly (Intel syntax)"
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
