/* SPDX-License-Identifier: MIT
 *
 * Loads and saves classifiers as text; doc/formats.md describes the format.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/file.h"
#include "classify/classify.h"

static const char magic[] = "#tact-classify";
enum {
	VERSION = 1,
	MAX_LINE = 16384, /* a topic takes 25 bytes per word */
};
static const double MAX_MASS = 1e15; /* larger counts are not exact */

enum key {
	KEY_ARCH,
	KEY_TOPICS,
	KEY_WORDS,
	KEY_ALPHA,
	KEY_BETA,
	KEY_SEED,
	KEY_STARTS,
	KEY_BLOCKS,
	KEY_BAGS,
	KEY_UOPS,
	KEY_PERPLEXITY,
	N_KEYS
};
static const char *const key_names[N_KEYS] = {"arch", "topics", "words",     "alpha",
					      "beta", "seed",	"starts",    "blocks",
					      "bags", "uops",	"perplexity"};

/* ---- reading ---- */

struct model_reader {
	struct tact_classifier *c;   /* owned; made after the last key */
	struct tact_classifier keys; /* what they say */
	bool seen[N_KEYS];
	unsigned n_words, n_topics; /* lines so far */
	bool is_ended;
	struct tact_diag *diag;
	uint64_t line;
};

#define FAIL(r, ...) tact_fail_at((r)->diag, TACT_E_FORMAT, (r)->line, 0, __VA_ARGS__)

/* Accepts only digits, as we write them: no sign, no blanks. */
static int read_count(struct model_reader *r, const char *what, const char *text, uint64_t low,
		      uint64_t high, uint64_t *value)
{
	uint64_t n = 0;

	if (!*text)
		return FAIL(r, "%s: a number is missing", what);
	for (const char *p = text; *p; p++) {
		uint64_t digit = (uint64_t)(*p - '0');

		if (!isdigit((unsigned char)*p))
			return FAIL(r, "%s: '%.40s' is not a whole number", what, text);
		if (n > (UINT64_MAX - digit) / 10)
			return FAIL(r, "%s: %.40s is too large", what, text);
		n = n * 10 + digit;
	}
	if (n < low || n > high)
		return FAIL(r, "%s: %.40s is not in %llu..%llu", what, text,
			    (unsigned long long)low, (unsigned long long)high);
	*value = n;
	return 0;
}

static int read_real(struct model_reader *r, const char *what, const char *text, double low,
		     double high, double *value)
{
	char *end;
	double x;

	if (!isdigit((unsigned char)*text))
		return FAIL(r, "%s: '%.40s' is not a positive number", what, text);
	x = strtod(text, &end);
	if (*end || !isfinite(x))
		return FAIL(r, "%s: '%.40s' is not a number", what, text);
	if (x < low || x > high)
		return FAIL(r, "%s: %.40s is not in %g..%g", what, text, low, high);
	*value = x;
	return 0;
}

static int read_unsigned(struct model_reader *r, const char *what, const char *text, unsigned low,
			 unsigned high, unsigned *value)
{
	uint64_t n;
	int status = read_count(r, what, text, low, high, &n);

	if (!status)
		*value = (unsigned)n;
	return status;
}

static int read_key_value(struct model_reader *r, enum key key, const char *text)
{
	const char *name = key_names[key];
	struct tact_classifier *c = &r->keys;

	switch (key) {
	case KEY_ARCH:
		c->arch = tact_arch_find(text);
		return c->arch ? 0
			       : tact_fail_at(r->diag, TACT_E_NO_ARCH, r->line, 0,
					      "unknown architecture '%.40s'", text);
	case KEY_TOPICS:
		return read_unsigned(r, name, text, 1, TACT_CLASSIFY_MAX_TOPICS,
				     &c->prior.n_topics);
	case KEY_WORDS:
		return read_unsigned(r, name, text, 1, TACT_CLASSIFY_MAX_WORDS, &c->prior.n_words);
	case KEY_ALPHA:
		return read_real(r, name, text, 1e-3, 1e3, &c->prior.alpha);
	case KEY_BETA:
		return read_real(r, name, text, 1e-3, 1e3, &c->prior.eta);
	case KEY_SEED:
		return read_count(r, name, text, 0, UINT64_MAX, &c->seed);
	case KEY_STARTS:
		return read_unsigned(r, name, text, 1, 1000000, &c->starts);
	case KEY_BLOCKS:
		return read_count(r, name, text, 1, 1ull << 53, &c->blocks);
	case KEY_BAGS:
		return read_count(r, name, text, 1, TACT_CLASSIFY_MAX_BAGS, &c->n_bags);
	case KEY_UOPS:
		return read_count(r, name, text, 1, 1ull << 53, &c->uops);
	case KEY_PERPLEXITY:
		return read_real(r, name, text, 1, 1e6, &c->perplexity);
	default:
		return FAIL(r, "unknown key");
	}
}

static int read_key(struct model_reader *r, char *line)
{
	char *name, *value;

	if (params_split_line(line, &name, &value) <= 0)
		return FAIL(r, "'name = value', a word or a topic expected");
	if (r->c)
		return FAIL(r, "'%.40s' after the first word or topic", name);
	for (unsigned key = 0; key < N_KEYS; key++) {
		if (strcmp(name, key_names[key]))
			continue;
		if (r->seen[key])
			return FAIL(r, "%s appears twice", name);
		r->seen[key] = true;
		return read_key_value(r, (enum key)key, value);
	}
	return FAIL(r, "unknown name '%.40s'", name);
}

/* Splits at tabs; keeps up to `n` columns and returns how many there are. */
static unsigned split(char *line, char **column, unsigned n)
{
	unsigned i = 0;

	for (char *next = line; next; i++) {
		char *tab = strchr(next, '\t');

		if (i < n)
			column[i] = next;
		if (tab)
			*tab++ = 0;
		next = tab;
	}
	return i;
}

/* Parses "p0156": ports that the CPU has, in order, each once. */
static int read_ports(struct model_reader *r, const char *text, params_ports *mask)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuv";
	const char *p = text;
	uint32_t found = 0;

	if (*p++ != 'p' || !*p)
		return FAIL(r, "'%.40s' is not a port combination", text);
	for (; *p; p++) {
		const char *at = strchr(digits, *p);
		uint32_t bit = at ? 1u << (at - digits) : 0;

		if (!bit || found >= bit)
			return FAIL(r, "'%.40s' is not a port combination", text);
		found |= bit;
	}
	if (found & ~tact_arch_ports(r->c->arch))
		return FAIL(r, "'%.40s': %s does not have all of these ports", text,
			    tact_arch_name(r->c->arch));
	*mask = found;
	return 0;
}

static int read_word(struct model_reader *r, char *line)
{
	char *column[2];
	params_ports word = 0;
	int status;

	if (split(line, column, ARRAY_SIZE(column)) != ARRAY_SIZE(column))
		return FAIL(r, "a word has 2 columns: 'word' and its ports");
	if (r->n_words == r->c->prior.n_words)
		return FAIL(r, "more than the %u words announced", r->c->prior.n_words);
	status = read_ports(r, column[1], &word);
	if (status < 0)
		return status;
	if (r->n_words && r->c->words[r->n_words - 1] >= word)
		return FAIL(r, "'%.40s' twice, or not in the order of the port masks", column[1]);
	r->c->words[r->n_words++] = word;
	return 0;
}

/* Whether a name needs no quoting in a CSV, a table or a JSON string. */
static int read_name(struct model_reader *r, const char *name)
{
	if (!*name || strlen(name) >= TACT_CLASSIFY_NAME_SIZE)
		return FAIL(r, "a topic's name has 1 to %d characters",
			    TACT_CLASSIFY_NAME_SIZE - 1);
	for (const char *p = name; *p; p++)
		if (!isgraph((unsigned char)*p) || strchr(",;\"\\", *p))
			return FAIL(r, "a topic's name has letters, digits and signs other than "
				       ", ; \" and \\");
	for (unsigned k = 0; k < r->n_topics; k++)
		if (!strcmp(r->c->names[k], name))
			return FAIL(r, "two topics have the name '%s'", name);
	strcpy(r->c->names[r->n_topics], name);
	return 0;
}

static int read_topic(struct model_reader *r, char *line)
{
	enum { FIXED = 2 + UOP_N_KINDS };
	char *column[FIXED + TACT_CLASSIFY_MAX_WORDS];
	const unsigned n_words = r->c->prior.n_words, topic = r->n_topics;
	unsigned n = split(line, column, ARRAY_SIZE(column));
	double uops = 0;
	int status;

	if (r->n_words != n_words)
		return FAIL(r, "%u words announced, %u there", n_words, r->n_words);
	if (topic == r->c->prior.n_topics)
		return FAIL(r, "more than the %u topics announced", r->c->prior.n_topics);
	if (n != FIXED + n_words)
		return FAIL(r, "a topic has 'topic', its name and %u numbers; there are %u columns",
			    UOP_N_KINDS + n_words, n);
	status = read_name(r, column[1]);
	for (unsigned k = 0; k < UOP_N_KINDS && !status; k++) {
		status = read_real(r, "uops", column[2 + k], 0, MAX_MASS, &r->c->kinds[topic][k]);
		uops += r->c->kinds[topic][k];
	}
	for (unsigned w = 0; w < n_words && !status; w++)
		status = read_real(r, "topic", column[FIXED + w], 1e-3, MAX_MASS,
				   &r->c->lambda[(size_t)topic * n_words + w]);
	if (status < 0)
		return status;
	if (uops < 1e-3)
		return FAIL(r, "a topic without uops");
	r->n_topics++;
	return 0;
}

/* The first word or topic: from here on, the sizes must be known. */
static int begin_lines(struct model_reader *r)
{
	struct tact_classifier *k = &r->keys;

	if (r->c)
		return 0;
	for (unsigned key = 0; key < N_KEYS; key++)
		if (!r->seen[key])
			return FAIL(r, "'%s = ...' is missing before this", key_names[key]);
	if (classify_create(&r->c, &k->prior) < 0)
		return tact_fail(r->diag, TACT_E_NOMEM, "out of memory");
	r->c->arch = k->arch;
	r->c->seed = k->seed;
	r->c->starts = k->starts;
	r->c->blocks = k->blocks;
	r->c->n_bags = k->n_bags;
	r->c->uops = k->uops;
	r->c->perplexity = k->perplexity;
	return 0;
}

/* The last line proves that the file is complete: a number that was cut short is still a number. */
static int read_end(struct model_reader *r)
{
	if (!r->c || r->n_topics != r->c->prior.n_topics)
		return FAIL(r, "'end' before the last topic");
	r->is_ended = true;
	return 0;
}

static int read_line(struct model_reader *r, char *line)
{
	int status;

	line[strcspn(line, "\r\n")] = 0;
	if (r->line == 1)
		return file_check_magic(line, magic, VERSION, "a model of tact classify", r->diag);
	if (*line == '#' || !line[strspn(line, " \t")])
		return 0;
	if (r->is_ended)
		return FAIL(r, "there is something after 'end'");
	if (!strcmp(line, "end"))
		return read_end(r);
	if (strncmp(line, "word\t", 5) && strncmp(line, "topic\t", 6))
		return read_key(r, line);
	status = begin_lines(r);
	if (status < 0)
		return status;
	return *line == 'w' ? read_word(r, line) : read_topic(r, line);
}

static int read_model(struct model_reader *r, FILE *file, char *line)
{
	int status;

	while (fgets(line, MAX_LINE, file)) {
		r->line++;
		if (!strchr(line, '\n') && !feof(file))
			return FAIL(r, "longer than %d characters, or not text", MAX_LINE - 2);
		status = read_line(r, line);
		if (status < 0)
			return status;
	}
	if (ferror(file))
		return tact_fail(r->diag, TACT_E_IO, "%s", strerror(errno));
	r->line++;
	if (r->line == 1)
		return FAIL(r, "the file is empty");
	if (!r->is_ended)
		return FAIL(r, "the line 'end' is missing: the file was cut short");
	return 0;
}

int tact_classifier_load(struct tact_classifier **out, const char *path, struct tact_diag *diag)
{
	struct model_reader *r;
	char *line;
	FILE *file;
	int status;

	if (out)
		*out = NULL;
	if (!out || !path)
		return tact_fail(diag, TACT_E_INVAL, "an argument is missing");
	file = fopen(path, "re");
	if (!file)
		return tact_fail(diag, errno == ENOMEM ? TACT_E_NOMEM : TACT_E_IO, "%s",
				 strerror(errno));
	r = calloc(1, sizeof(*r));
	line = malloc(MAX_LINE);
	if (!r || !line) {
		status = tact_fail(diag, TACT_E_NOMEM, "out of memory");
		goto out_free;
	}
	r->diag = diag;
	status = read_model(r, file, line);
	if (status < 0) {
		tact_classifier_destroy(r->c);
		goto out_free;
	}
	classify_prepare(r->c);
	*out = r->c;
out_free:
	FREE_ALL(line, r);
	fclose(file);
	return status;
}

bool tact_classifier_is_model(const char *path)
{
	return file_begins_with(path, magic);
}

/* ---- writing ---- */

void classify_print(const struct tact_classifier *c, const char *comment, struct text *out)
{
	text_printf(out, "%s %d\n", magic, VERSION);
	text_comment(out, comment, 400);
	text_printf(out, "arch = %s\n", tact_arch_name(c->arch));
	text_printf(out, "topics = %u\n", c->prior.n_topics);
	text_printf(out, "words = %u\n", c->prior.n_words);
	text_printf(out, "alpha = %.17g\n", c->prior.alpha);
	text_printf(out, "beta = %.17g\n", c->prior.eta);
	text_printf(out, "seed = %llu\n", (unsigned long long)c->seed);
	text_printf(out, "starts = %u\n", c->starts);
	text_printf(out, "blocks = %llu\n", (unsigned long long)c->blocks);
	text_printf(out, "bags = %llu\n", (unsigned long long)c->n_bags);
	text_printf(out, "uops = %llu\n", (unsigned long long)c->uops);
	text_printf(out, "perplexity = %.17g\n", c->perplexity);
	for (unsigned i = 0; i < c->prior.n_words; i++) {
		char ports[TACT_CLASSIFY_PORTS_SIZE];

		classify_ports(c->words[i], ports);
		text_printf(out, "word\t%s\n", ports);
	}
	text_printf(
		out,
		"# topic\tname\tuops that load, store, are scalar, are vector\ta number for each "
		"word\n");
	for (unsigned k = 0; k < c->prior.n_topics; k++) {
		text_printf(out, "topic\t%s", c->names[k]);
		for (unsigned i = 0; i < UOP_N_KINDS; i++)
			text_printf(out, "\t%.17g", c->kinds[k][i]);
		for (unsigned i = 0; i < c->prior.n_words; i++)
			text_printf(out, "\t%.17g", c->lambda[(size_t)k * c->prior.n_words + i]);
		text_printf(out, "\n");
	}
	text_printf(out, "end\n");
}

int tact_classifier_save(const struct tact_classifier *c, const char *path, const char *comment,
			 struct tact_diag *diag)
{
	struct text text = {0};

	if (!c || !path)
		return tact_fail(diag, TACT_E_INVAL, "an argument is missing");
	classify_print(c, comment, &text);
	return file_write_text(path, &text, diag);
}
