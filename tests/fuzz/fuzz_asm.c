/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/base.h"
#include "isa/assemble.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t count_lines(const char *text, size_t size)
{
	size_t n = 0;

	while (size--)
		n += *text++ == '\n';
	return n;
}

/* What is done to assembly text before `as` sees it: markers, comments, syntax. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct asm_source source;
	struct tact_diag diag;
	size_t i;

	if (asm_source_create(&source, tact_isa_default(), text, size, TACT_SYNTAX_AUTO, &diag) < 0)
		return 0;
	/* Lines must keep their numbers, and regions must come from markers. */
	if (count_lines(source.text, source.size) != count_lines(text, size) + 1)
		__builtin_trap();
	for (i = 0; i < source.n_regions; i++)
		if (source.regions[i].begin >= source.regions[i].end ||
		    source.regions[i].begin >= source.n_markers ||
		    (source.regions[i].end >= source.n_markers &&
		     source.regions[i].end != ASM_NO_MARKER) ||
		    strlen(source.names + source.markers[source.regions[i].begin].name) > size)
			__builtin_trap();
	/* What is let through names neither directive at the start of a line. */
	if (asm_refuse(&source, &diag) >= 0)
		for (i = 0; i + 8 < source.size; i++)
			if ((!i || source.text[i - 1] == '\n') &&
			    (!strncasecmp(source.text + i, ".incbin\"", 8) ||
			     !strncasecmp(source.text + i, ".incbin ", 8)))
				__builtin_trap();
	asm_source_destroy(&source);
	return 0;
}
