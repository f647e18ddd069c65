/* SPDX-License-Identifier: MIT
 *
 * What a file is, by its content: names and suffixes do not count.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "input/archive.h"
#include "input/reader.h"

/* Files that people do pass, and what to tell them. */
static const struct {
	const char *bytes;
	size_t size;
	const char *text;
} foreign[] = {
	{"!<thin>\n", 8, "a thin archive, which has no code in it; give the objects that it lists"},
	{"\x1f\x8b", 2, "a gzip file; unpack it first"},
	{"(\xb5/\xfd", 4, "a zstd file; unpack it first"},
	{"\xfd"
	 "7zXZ",
	 5, "an xz file; unpack it first"},
	{"BC\xc0\xde", 4, "LLVM bitcode; compile it to an object first"},
	{"MZ", 2, "a Windows program; only ELF files can be read"},
	{"\xcf\xfa\xed\xfe", 4, "a Mach-O file; only ELF files can be read"},
	{"\xca\xfe\xba\xbe", 4, "a Mach-O or Java class file; only ELF files can be read"},
	{"PERFILE2", 8, "a perf.data file"},
	{"SQLite format 3", 16, "an SQLite database"},
	{"\xff\xfe", 2, "text in UTF-16; convert it to UTF-8"},
	{"\xfe\xff", 2, "text in UTF-16; convert it to UTF-8"},
};

struct counts {
	size_t hex;    /* lines of hex digits only */
	size_t column; /* lines that begin with hex digits and a separator */
	size_t other;
	bool starts_with_header; /* first line: a word, which may be the title of a column of hex */
	bool header_has_comma;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Returns the length of the hex digits at p, including blanks between them. */
static size_t hex_length(const char *p, const char *end)
{
	const char *start = p, *last = p;

	if (end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		p += 2;
	for (; p < end && (isxdigit((unsigned char)*p) || is_blank(*p)); p++)
		if (!is_blank(*p))
			last = p + 1;
	return (size_t)(last - start);
}

/* "add a0, a1, a2": bytes with blanks between them are not written like that. */
static bool is_mnemonic(const char *p, const char *end)
{
	enum { LONGEST = 8 };
	const char *start = p;

	while (p < end && p - start < LONGEST && isxdigit((unsigned char)*p))
		p++;
	if (!((p - start) & 1) || p == end || !is_blank(*p))
		return false;
	while (p < end && is_blank(*p))
		p++;
	return p < end && isxdigit((unsigned char)*p);
}

static bool is_header_word(const char *p, const char *end)
{
	static const char *const words[] = {"hex", "code", "block", "bytes", "code_hex"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if ((size_t)(end - p) == strlen(words[i]) &&
		    !strncasecmp(p, words[i], strlen(words[i])))
			return true;
	return false;
}

static void count_line(struct counts *counts, const char *p, const char *end)
{
	const bool is_first =
		!counts->hex && !counts->column && !counts->other && !counts->starts_with_header;
	size_t length;

	while (p < end && is_blank(*p))
		p++;
	while (end > p && is_blank(end[-1]))
		end--;
	if (p == end || *p == '#')
		return;
	if (is_first) {
		counts->header_has_comma = memchr(p, ',', (size_t)(end - p));
		counts->starts_with_header = counts->header_has_comma || is_header_word(p, end);
	}
	if (*p == '"')
		p++;
	length = is_mnemonic(p, end) ? 0 : hex_length(p, end);
	p += length;
	if (p < end && *p == '"')
		p++;
	while (p < end && is_blank(*p))
		p++;
	if (length && p == end)
		counts->hex++;
	else if (length && (*p == ',' || *p == ';' || *p == '\t'))
		counts->column++;
	else if (!is_first || !counts->starts_with_header)
		counts->other++;
	if (is_first && length && (p == end || *p == ','))
		counts->starts_with_header = false;
}

/* One wrong line does not turn a list into assembly: the majority decides. */
static enum tact_input_kind judge(const struct counts *counts)
{
	const size_t hex = counts->hex + counts->column;

	if (!hex || hex < counts->other)
		return TACT_INPUT_ASM;
	if (counts->column || counts->starts_with_header)
		return TACT_INPUT_CSV;
	return TACT_INPUT_HEX;
}

bool input_has_text(const char *data, size_t size)
{
	const char *p = data, *const end = data + size;

	while (p < end) {
		while (p < end && (is_blank(*p) || *p == '\n'))
			p++;
		if (p < end && *p != '#')
			return true;
		while (p < end && *p != '\n')
			p++;
	}
	return false;
}

/* Finds the first NUL that is not in a comment: clang shows strings in comments byte by byte. */
static const char *find_nul(const char *data, size_t size)
{
	const char *const end = data + size;
	const char *nul = data, *start;

	for (; (nul = memchr(nul, '\0', (size_t)(end - nul))); nul++) {
		start = memrchr(data, '\n', (size_t)(nul - data));
		start = start ? start : data;
		if (!memchr(start, '#', (size_t)(nul - start)))
			return nul;
		nul = memchr(nul, '\n', (size_t)(end - nul));
		if (!nul)
			break;
	}
	return NULL;
}

static int check_foreign(const char *data, size_t size, struct tact_diag *diag)
{
	const char *nul = find_nul(data, size);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(foreign); i++)
		if (size >= foreign[i].size && !memcmp(data, foreign[i].bytes, foreign[i].size) &&
		    (nul || foreign[i].size > 2))
			return tact_fail(diag, TACT_E_FORMAT, "this is %s", foreign[i].text);
	if (nul)
		return tact_fail_at(diag, TACT_E_FORMAT, 0, (uint64_t)(nul - data),
				    "neither text nor an ELF file (byte %zu is NUL)",
				    (size_t)(nul - data));
	return 0;
}

int input_detect(const char *data, size_t size, bool is_all, enum tact_input_kind *kind,
		 struct tact_diag *diag)
{
	struct counts counts = {0};
	const char *p = data, *end = data + size, *stop;
	int status;

	if ((size >= 4 && !memcmp(data, "\177ELF", 4)) || archive_is_one(data, size)) {
		*kind = TACT_INPUT_ELF;
		return 0;
	}
	if (size)
		status = check_foreign(data, size, diag);
	else
		status = tact_fail(diag, TACT_E_FORMAT, "no code: the input is empty");
	if (status < 0)
		return status;
	for (; p < end; p = stop + 1) {
		stop = memchr(p, '\n', (size_t)(end - p));
		if (!stop) {
			/* The last line may be cut off: it counts only if there is no other. */
			if (!is_all && p > data && counts.hex + counts.column + counts.other)
				break;
			stop = end;
		}
		count_line(&counts, p, stop);
	}
	*kind = judge(&counts);
	return 0;
}
