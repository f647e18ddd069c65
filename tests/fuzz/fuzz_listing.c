/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "input/dialect.h"
#include "input/listing.h"
#include "isa/assemble.h"
#include "obj/obj.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t count_lines(const char *text, size_t size)
{
	size_t n = 0;

	while (size--)
		n += *text++ == '\n';
	return n;
}

static void check_bytes(const struct listing *listing)
{
	struct obj_file *obj;
	uint8_t *image;
	size_t size;

	if (listing_make_image(listing, tact_isa_default(), &image, &size, NULL) < 0)
		return;
	/* What is made of a listing is always a file that can be read, with all its code. */
	if (obj_open(&obj, image, size, NULL) < 0 || obj->n_sections != listing->n_runs)
		__builtin_trap();
	obj_close(obj);
	free(image);
}

/* Pasted listings: up to what is given to the assembler, or to the reader of object files. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct isa_assembler *assembler = tact_isa_default()->assembler;
	const char *text = (const char *)data;
	struct text out = {0};
	struct listing listing;

	if (listing_read(&listing, assembler, text, size, NULL) >= 0 && listing.is_listing) {
		if (listing.has_bytes)
			check_bytes(&listing);
		else if (!listing.is_sorted && count_lines(listing.text.data, listing.text.size) <
						       count_lines(text, size))
			__builtin_trap();
		listing_free(&listing);
	}
	dialect_convert(&out, assembler, text, size);
	if (!out.failed && count_lines(out.data, out.size) != count_lines(text, size))
		__builtin_trap();
	text_free(&out);
	return 0;
}
