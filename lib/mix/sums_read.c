/* SPDX-License-Identifier: MIT
 *
 * Files of lines that are added up by key: counts, BOLT's pre-aggregated profiles (bolt/docs and
 * DataAggregator.h of LLVM), folded stacks.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mix/sums.h"

enum { MOST_LINE = 1 << 20, MOST_WORDS = 4 };

struct sums_reader {
	struct tact_mixfile *f;
	struct tact_diag *diag;
	uint64_t line;
	const char *group; /* "": no module yet */
	struct sums_key *last;
	enum sums_kind kind; /* of this file */
	bool has_windows, has_command;
};

static int wrong(struct sums_reader *r, const char *what)
{
	return tact_fail_at(r->diag, TACT_E_FORMAT, r->line, 0, "%s", what);
}

static int no_memory(struct sums_reader *r)
{
	return tact_fail(r->diag, TACT_E_NOMEM, "out of memory");
}

/* ---- words ---- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool read_whole(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	return is_digit(*text) && !*end && !errno;
}

static bool read_hex(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 16);
	return *text && *text != '-' && *text != '+' && !strchr(" \t", *text) && !*end && !errno;
}

/* Cuts a line into at most MOST_WORDS words; the last one has the rest.  Returns how many. */
static unsigned cut(char *line, char *words[MOST_WORDS])
{
	unsigned n = 0;

	for (line += strspn(line, " "); *line && n < MOST_WORDS; line += strspn(line, " ")) {
		words[n++] = line;
		line += n < MOST_WORDS ? strcspn(line, " ") : strlen(line);
		if (*line)
			*line++ = '\0';
	}
	return n;
}

/* ---- counts ---- */

static int read_spread(struct sums_reader *r, const char *text)
{
	struct tact_mixfile *f = r->f;

	if (!r->last)
		return wrong(r, "a spread needs a count above it");
	if (!r->last->spread) {
		if (tact_grow(&f->spreads, &f->spreads_capacity, f->n_spreads + 1,
			      sizeof(*f->spreads)))
			return no_memory(r);
		memset(f->spreads[f->n_spreads], 0, sizeof(*f->spreads));
		r->last->spread = (uint32_t)++f->n_spreads;
	}
	while (*text) {
		char *end;
		const unsigned long group = strtoul(text, &end, 10);
		uint64_t count;

		if (end == text || *end != ':' || group >= MIX_GROUPS || !is_digit(end[1]))
			return wrong(r, "a spread is GROUP:COUNT, with groups from 0 to 15");
		count = strtoull(end + 1, &end, 10);
		sums_add(&f->spreads[r->last->spread - 1][group], count);
		if (*end && *end != ' ')
			return wrong(r, "a spread is GROUP:COUNT, with groups from 0 to 15");
		text = end + strspn(end, " ");
	}
	return 0;
}

static int add(struct sums_reader *r, const char *group, const char *text, uint64_t a, uint64_t b,
	       uint64_t count, uint64_t more)
{
	r->last = sums_at(r->f, group, text, a, b);
	if (!r->last)
		return no_memory(r);
	sums_add(&r->last->value[0], count);
	sums_add(&r->last->value[1], more);
	return 0;
}

static int read_code(struct sums_reader *r, char *line)
{
	char *words[MOST_WORDS], key[64];
	uint64_t offset, size, count;

	if (cut(line, words) != 4 || !read_hex(words[1], &offset) || !read_hex(words[2], &size) ||
	    !read_whole(words[3], &count))
		return wrong(r, "not 'code OFFSET SIZE COUNT'");
	if (!*r->group)
		return wrong(r, "code needs a module above it");
	snprintf(key, sizeof(key), "code %llx %llx", (unsigned long long)offset,
		 (unsigned long long)size);
	return add(r, r->group, key, offset, size, count, 0);
}

static int read_generated(struct sums_reader *r, char *line)
{
	char *words[MOST_WORDS], *key;
	uint64_t address, count;
	size_t size;
	int status;

	if (cut(line, words) != 4 || !read_hex(words[1], &address) || !read_whole(words[2], &count))
		return wrong(r, "not 'generated ADDRESS COUNT SET:HEX'");
	size = strlen(words[1]) + strlen(words[3]) + 16;
	key = malloc(size);
	if (!key)
		return no_memory(r);
	snprintf(key, size, "generated %s %s", words[1], words[3]);
	status = add(r, "", key, address, 0, count, 0);
	free(key);
	return status;
}

static int read_head(struct sums_reader *r, const char *line)
{
	struct tact_mixfile *f = r->f;
	uint64_t n;

	if (!strncmp(line, "outside ", 8)) {
		if (!read_whole(line + 8, &n))
			return wrong(r, "not 'outside COUNT'");
		sums_add(&f->outside, n);
	} else if (!strncmp(line, "windows ", 8)) {
		if (!read_whole(line + 8, &n) || r->has_windows)
			return wrong(r, "not one 'windows N'");
		sums_add(&f->windows, n);
		r->has_windows = true;
	} else {
		return wrong(r, "a line of an unknown kind");
	}
	return 0;
}

/* The command of all files, if it is the same in all. */
static int read_command(struct sums_reader *r, const char *line)
{
	r->has_command = true;
	if (r->f->command && strcmp(r->f->command, line) != 0)
		r->f->command = "";
	else if (!r->f->command)
		r->f->command = sums_keep(r->f, line);
	return r->f->command ? 0 : no_memory(r);
}

static int read_counts(struct sums_reader *r, char *line)
{
	if (!strncmp(line, "code ", 5))
		return read_code(r, line);
	if (!strncmp(line, "spread ", 7) || !strcmp(line, "spread"))
		return read_spread(r, line + 6 + strspn(line + 6, " "));
	if (!strncmp(line, "generated ", 10))
		return read_generated(r, line);
	r->last = NULL;
	if (!strncmp(line, "module ", 7)) {
		r->group = sums_group(r->f, line);
		return r->group ? 0 : no_memory(r);
	}
	if (!strncmp(line, "command", 7))
		return read_command(r, line);
	return read_head(r, line);
}

/* ---- BOLT ---- */

/* A location: an offset in hexadecimal, perhaps after the build-id of another file, or X, and ':'. */
static bool read_location(const char *text, uint64_t *offset)
{
	const char *colon = strrchr(text, ':');

	return read_hex(colon ? colon + 1 : text, offset);
}

/* B FROM TO COUNT MISPREDICTED; F and f BEGIN END COUNT. */
static int read_bolt(struct sums_reader *r, char *line)
{
	char *words[MOST_WORDS], key[256];
	const bool is_branch = line[0] == 'B';
	uint64_t from, to, count, missed = 0;
	char *rest;

	if (!strchr("BFf", line[0]) || line[1] != ' ' || cut(line, words) != 4)
		return wrong(r, "not 'B FROM TO COUNT MISPREDICTED', 'F BEGIN END COUNT' or "
				"'f BEGIN END COUNT'");
	rest = strchr(words[3], ' ');
	if (rest)
		*rest++ = '\0';
	if (!read_location(words[1], &from) || !read_location(words[2], &to) ||
	    !read_whole(words[3], &count) || (is_branch && (!rest || !read_whole(rest, &missed))) ||
	    (!is_branch && rest && *rest))
		return wrong(r, "not 'B FROM TO COUNT MISPREDICTED', 'F BEGIN END COUNT' or "
				"'f BEGIN END COUNT'");
	if (snprintf(key, sizeof(key), "%s %s %s", words[0], words[1], words[2]) >=
	    (int)sizeof(key))
		return wrong(r, "a location is too long");
	return add(r, "", key, from, to, count, missed);
}

/* ---- folded stacks ---- */

static bool is_bolt(const char *line)
{
	return *line && strchr("BFf", *line) && line[1] == ' ';
}

/* The kind of a file is that of its first line, and sorting may make any line the first. */
static int read_folded(struct sums_reader *r, char *line)
{
	char *blank = strrchr(line, ' ');
	uint64_t count;

	if (is_bolt(line))
		return wrong(r, "a stack that begins with 'B ', 'F ' or 'f ' cannot be told from a "
				"profile for BOLT");

	if (!blank || blank == line || !read_whole(blank + 1, &count))
		return wrong(r, "not 'FRAME;FRAME;... COUNT'");
	*blank = '\0';
	return add(r, "", line, 0, 0, count, 0);
}

/* ---- files ---- */

static enum sums_kind kind_of(const char *line)
{
	const char *blank = strrchr(line, ' ');
	uint64_t n;

	if (!strcmp(line, "#tact.mix.counts/1"))
		return SUMS_COUNTS;
	if (is_bolt(line))
		return SUMS_BOLT;
	return blank && blank != line && read_whole(blank + 1, &n) ? SUMS_FOLDED : SUMS_NONE;
}

static int begin(struct sums_reader *r, const char *line)
{
	static const char *const names[] = {"", "counts", "a profile for BOLT", "folded stacks"};

	r->kind = kind_of(line);
	if (r->kind == SUMS_NONE)
		return tact_fail(r->diag, TACT_E_FORMAT,
				 "neither counts nor a profile for BOLT nor folded stacks%s",
				 !strncmp(line, "PERFILE2", 8)
					 ? "; 'tact mix export --bolt' reads recordings"
					 : "");
	if (r->f->kind != SUMS_NONE && r->f->kind != r->kind)
		return tact_fail(r->diag, TACT_E_NOT_MODELLED,
				 "%s and %s do not add up: give files of one kind",
				 names[r->f->kind], names[r->kind]);
	return r->kind == SUMS_COUNTS ? 1 : 0; /* its first line is no count */
}

static int take_line(struct sums_reader *r, char *line)
{
	int status = 0;

	if (r->line == 1)
		status = begin(r, line);
	if (status || !*line)
		return status < 0 ? status : 0;
	if (r->kind == SUMS_COUNTS)
		return read_counts(r, line);
	return r->kind == SUMS_BOLT ? read_bolt(r, line) : read_folded(r, line);
}

static int read_lines(struct sums_reader *r, FILE *file, char *buffer)
{
	int status = 0;

	while (!status && fgets(buffer, MOST_LINE, file)) {
		size_t n = strlen(buffer);

		r->line++;
		if (n + 1 == MOST_LINE)
			return wrong(r, "the line is too long");
		while (n && (buffer[n - 1] == '\n' || buffer[n - 1] == '\r'))
			buffer[--n] = '\0';
		status = take_line(r, buffer);
	}
	if (!status && ferror(file))
		return tact_fail_errno(r->diag, NULL);
	if (!status && !r->line)
		return tact_fail(r->diag, TACT_E_FORMAT, "the file is empty");
	return status;
}

/* Exact counts and estimates from windows are different things. */
static int finish(struct sums_reader *r)
{
	struct tact_mixfile *f = r->f;
	const bool is_first = f->kind == SUMS_NONE;

	f->kind = r->kind;
	if (r->kind != SUMS_COUNTS)
		return 0;
	if (!is_first && f->has_windows != r->has_windows)
		return tact_fail(r->diag, TACT_E_NOT_MODELLED,
				 "exact counts and counts from windows do not add up");
	f->has_windows = r->has_windows;
	if (!r->has_command)
		f->command = "";
	return 0;
}

int tact_mixfile_add(struct tact_mixfile *f, const char *path, struct tact_diag *diag)
{
	struct sums_reader r = {.f = f, .diag = diag, .group = ""};
	char *buffer;
	FILE *file;
	int status;

	if (!f || !path)
		return tact_fail(diag, TACT_E_INVAL, "a file is needed");
	file = fopen(path, "re");
	if (!file)
		return tact_fail_errno(diag, NULL);
	buffer = malloc(MOST_LINE);
	status = buffer ? read_lines(&r, file, buffer) : no_memory(&r);
	if (!status)
		status = finish(&r);
	free(buffer);
	fclose(file);
	return status;
}
