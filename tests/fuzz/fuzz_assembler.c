/* SPDX-License-Identifier: MIT
 *
 * What assemblers say: GNU as and tact's own one, which LLVM makes.  They run in a box, and are not
 * believed.  The first two bytes are how the program ended and whose text it is; then a text, up to a
 * byte of zeros, and the messages about it.
 *
 * What must hold: messages of a failure become one error, on a line of the text or on none; and of
 * lines that are left out because the assembler does not know them, only their end is kept.
 */
#include <string.h>

#include "fuzz.h"

/* What reads messages is private to this file. */
#define asm_assemble fuzz_asm_assemble
#include "isa/assemble.c"

enum { HEAD = 2 };

static size_t count_lines(const char *text, size_t size)
{
	size_t n = 0;

	while (size--)
		n += *text++ == '\n';
	return n;
}

/* As wait() tells it: exited with 0 to 127, or ended by a signal. */
static int wait_status_of(uint8_t byte)
{
	return byte & 128 ? 1 + byte % 31 : byte << 8;
}

static void check_report(const struct asm_source *source, const char *messages, int wait_status)
{
	struct tact_diag diag = {0};
	struct run run = {.assembler = source->assembler, .diag = &diag};
	int status;

	set_box(&run, source->size);
	status = report(&run, messages, wait_status);
	MUST(status == -TACT_E_FORMAT || status == -TACT_E_LIMIT || status == -TACT_E_IO);
	MUST(*diag.text && strnlen(diag.text, sizeof(diag.text)) < sizeof(diag.text));
}

/* A second time, there is nothing more to leave out. */
static void check_skipping(struct asm_source *source, const char *messages)
{
	const size_t lines = count_lines(source->text, source->size), size = source->size;
	const size_t n = asm_skip_unknown(source, messages);

	MUST(n <= lines + 1);
	MUST(!n || is_unknown(messages));
	MUST(source->size == size && count_lines(source->text, size) == lines);
	MUST(asm_skip_unknown(source, messages) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct tact_isa *sets[8];
	static size_t n_sets;
	const char *text = (const char *)data + HEAD, *end;
	struct asm_source source;
	char *messages;

	while (n_sets < ARRAY_SIZE(sets) && (!n_sets || sets[n_sets - 1])) {
		sets[n_sets] = tact_isa_next(n_sets ? sets[n_sets - 1] : NULL);
		n_sets++;
	}
	if (size < HEAD || !(end = memchr(text, 0, size - HEAD)))
		return 0;
	messages = strndup(end + 1, size - HEAD - (size_t)(end + 1 - text));
	MUST(messages);
	if (asm_source_create(&source, sets[data[1] % (n_sets - 1)], text, (size_t)(end - text),
			      TACT_SYNTAX_AUTO, NULL) >= 0) {
		is_notation(messages);
		check_report(&source, messages, wait_status_of(data[0]));
		check_skipping(&source, messages);
		asm_source_destroy(&source);
	}
	free(messages);
	return 0;
}
