/* SPDX-License-Identifier: MIT
 *
 * Requests: JSON becomes the words of a command line.  Only the rows of the table below become
 * options, each value is checked, and none of them names a file.
 */
#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "serve.h"

enum kind {
	IS_FLAG,       /* true: the option */
	IS_NOT_FLAG,   /* false: the option */
	IS_WORD,       /* text without blanks: a name, a list */
	IS_NAME,       /* any text: the name of a function */
	IS_MODEL,      /* one of those that predict has */
	IS_MODELS,     /* and llvm-mca; separated by commas */
	IS_NUMBER,     /* from 1 on */
	IS_NUMBER_ALL, /* a number, or "all" */
	IS_PLACE,      /* in a cache line */
	IS_ITERATIONS  /* bounded by a limit */
};

#define ON(endpoint) (1u << SERVE_##endpoint)
#define BLOCKS	     (ON(PREDICT) | ON(MCA) | ON(SIMULATE) | ON(TIMELINE))
#define CODE	     (BLOCKS | ON(MODELS) | ON(CODE))
#define SOURCE	     (CODE | ON(MEASURE))
#define RUN	     (BLOCKS | ON(MODELS) | ON(MEASURE))

static const struct field {
	const char *name;
	enum kind kind;
	const char *option;
	unsigned endpoints;
} fields[] = {
	{"syntax", IS_WORD, "--syntax", SOURCE},
	{"function", IS_NAME, "--function", SOURCE},
	{"loop", IS_NUMBER, "--loop", SOURCE},
	{"addr", IS_WORD, "--addr", SOURCE},
	{"path", IS_NUMBER_ALL, "--path", SOURCE},
	{"skip_unknown", IS_FLAG, "--skip-unknown", SOURCE},
	{"demangle", IS_NOT_FLAG, "--no-demangle", SOURCE},
	{"lines", IS_FLAG, "--lines", ON(CODE)},
	{"mode", IS_WORD, "--mode", RUN},
	{"alignment", IS_NUMBER_ALL, "--alignment", BLOCKS},
	{"init", IS_WORD, "--init", RUN},
	{"memory", IS_WORD, "--memory", BLOCKS | ON(MEASURE)},
	{"alignment", IS_PLACE, "--alignment", ON(MODELS) | ON(MEASURE)},
	{"vectors", IS_WORD, "--vectors", ON(MEASURE)},
	{"alias", IS_FLAG, "--alias", BLOCKS},
	{"alias", IS_NOT_FLAG, "--noalias", BLOCKS},
	{"advice", IS_FLAG, "--advice", ON(PREDICT) | ON(SIMULATE)},
	{"explain", IS_WORD, "--explain", ON(PREDICT)},
	{"model", IS_MODEL, "--model", ON(PREDICT)},
	{"models", IS_MODELS, "--models", ON(MODELS)},
	{"idealize", IS_FLAG, "--idealize", ON(PREDICT)},
	{"paper", IS_FLAG, "--paper", ON(PREDICT)},
	{"only", IS_WORD, "--only", ON(PREDICT)},
	{"without", IS_WORD, "--without", ON(PREDICT)},
	{"timeline", IS_FLAG, "--timeline", ON(SIMULATE)},
	{"iterations", IS_ITERATIONS, "--iterations", ON(SIMULATE) | ON(TIMELINE)},
	{"from", IS_NUMBER, "--from", ON(SIMULATE) | ON(TIMELINE)},
	{"max_cycles", IS_NUMBER, "--max-cycles", ON(SIMULATE) | ON(TIMELINE)},
	{"all", IS_FLAG, "--all", ON(INSN)},
};

/* Fields that are not options. */
static const struct {
	const char *name;
	unsigned endpoints;
} others[] = {
	{"text", SOURCE | ON(INSN)},
	{"hex", SOURCE | ON(INSN)},
	{"file", SOURCE},
	{"name", ON(INSN)},
	{"archs", CODE | ON(INSN) | ON(ARCHS)},
	{"graph", ON(PREDICT)},
};

static bool wrong(struct serve_job *job, unsigned status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static bool wrong(struct serve_job *job, unsigned status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text_reset(&job->why);
	text_vprintf(&job->why, format, args);
	va_end(args);
	job->status = status;
	return false;
}

/* ---- words ---- */

static bool add_word(struct serve_job *job, const char *option, const char *value)
{
	struct text word = {0};

	if (job->n == SERVE_MAX_WORDS)
		return wrong(job, 413, "too many values");
	text_printf(&word, "%s%s%s", option, *option && value ? "=" : "", value ? value : "");
	job->words[job->n++] = cli_string(&word);
	job->words[job->n] = NULL;
	return true;
}

static bool is_plain(const char *value, bool with_blanks, size_t most)
{
	size_t n = 0;

	for (; value[n]; n++)
		if (iscntrl((unsigned char)value[n]) || (value[n] == ' ' && !with_blanks))
			return false;
	return n > 0 && n <= most;
}

/* Those that need no file of a request's choice, and no program.  llvm-mca is a program, and for
 * comparisons only: it is started in the worker's box, and reads what LLVM's disassembler made of
 * bytes, no text of a request.
 */
static bool is_model(const char *name, size_t length, bool is_compared)
{
	static const char *const models[] = {"facile", "sim", "mca"};
	static const char llvm[] = "llvm-mca";
	const size_t n = strlen(llvm);

	for (size_t i = 0; i < CLI_ARRAY_SIZE(models); i++)
		if (strlen(models[i]) == length && !strncmp(name, models[i], length))
			return true;
	if (!is_compared || length < n || strncmp(name, llvm, n) != 0)
		return false;
	/* "llvm-mca", or "llvm-mca-19" */
	return length == n || (name[n] == '-' && length > n + 1 && length <= n + 3 &&
			       strspn(name + n + 1, "0123456789") >= length - n - 1);
}

static bool check_models(struct serve_job *job, const char *text)
{
	size_t n = 1;

	for (; n <= 8; n++) {
		const size_t length = strcspn(text, ",");

		if (!is_model(text, length, true))
			break;
		if (!text[length])
			return true;
		text += length + 1;
	}
	return wrong(job, 400,
		     "\"models\" are facile, sim, mca, llvm-mca and llvm-mca-VERSION, "
		     "with commas between them");
}

static bool add_text(struct serve_job *job, const struct field *f, const json_t *value)
{
	const char *text = json_string_value(value);

	if (!text)
		return wrong(job, 400, "\"%s\" has to be a string", f->name);
	if (!is_plain(text, f->kind == IS_NAME, f->kind == IS_NAME ? 4096 : 256))
		return wrong(job, 400,
			     "\"%s\" is empty, too long, or has characters that it may "
			     "not have",
			     f->name);
	if (f->kind == IS_MODEL && !is_model(text, strlen(text), false))
		return wrong(job, 400, "\"model\" is none of facile, sim and mca");
	if (f->kind == IS_MODELS && !check_models(job, text))
		return false;
	return add_word(job, f->option, text);
}

static bool add_number(struct serve_job *job, const struct field *f, const json_t *value,
		       const struct serve_limits *limits)
{
	const json_int_t least = f->kind == IS_NUMBER_ALL || f->kind == IS_PLACE ? 0 : 1;
	json_int_t number = json_integer_value(value);
	char digits[24];

	if (f->kind == IS_NUMBER_ALL && json_is_string(value) &&
	    !strcmp(json_string_value(value), "all"))
		return add_word(job, f->option, "all");
	if (!json_is_integer(value) || number < least || number > 1000000000)
		return wrong(job, 400, "\"%s\" has to be a whole number from %d on%s", f->name,
			     (int)least, f->kind == IS_NUMBER_ALL ? ", or \"all\"" : "");
	if (f->kind == IS_PLACE && number > 63)
		return wrong(job, 400, "\"%s\" has to be a whole number up to 63", f->name);
	if (f->kind == IS_ITERATIONS && number > limits->iterations)
		return wrong(job, 413, "\"%s\" may be %u at most (--max-iterations)", f->name,
			     limits->iterations);
	snprintf(digits, sizeof(digits), "%lld", (long long)number);
	return add_word(job, f->option, digits);
}

static bool add_field(struct serve_job *job, const struct field *f, const json_t *value,
		      const struct serve_limits *limits)
{
	switch (f->kind) {
	case IS_FLAG:
	case IS_NOT_FLAG:
		if (!json_is_boolean(value))
			return wrong(job, 400, "\"%s\" has to be true or false", f->name);
		return json_is_true(value) == (f->kind == IS_FLAG) ? add_word(job, f->option, NULL)
								   : true;
	case IS_WORD:
	case IS_NAME:
	case IS_MODEL:
	case IS_MODELS:
		return add_text(job, f, value);
	case IS_NUMBER:
	case IS_NUMBER_ALL:
	case IS_PLACE:
	case IS_ITERATIONS:
		break;
	}
	return add_number(job, f, value, limits);
}

/* ---- CPUs ---- */

static bool add_arch(struct serve_job *job, struct text *list, const char *name)
{
	if (!name || !is_plain(name, true, 100) || strchr(name, '/'))
		return wrong(job, 400, "\"archs\" has to be a name, or a list of names");
	text_printf(list, "%s%s", list->size ? "," : "", name);
	return true;
}

static bool add_archs(struct serve_job *job, const json_t *value, const struct serve_limits *limits)
{
	struct text list = {0};
	bool is_good = true;
	size_t n = 1, i;
	const json_t *item;

	if (json_is_array(value)) {
		n = json_array_size(value);
		json_array_foreach(value, i, item) is_good =
			is_good && add_arch(job, &list, json_string_value(item));
	} else {
		is_good = add_arch(job, &list, json_string_value(value));
		for (const char *p = is_good ? list.data : ""; p < list.data + list.size; p++)
			n += *p == ',';
	}
	if (is_good && n > limits->archs)
		is_good = wrong(job, 413, "%zu microarchitectures; at most %u (--max-archs)", n,
				limits->archs);
	if (is_good && list.size)
		is_good = add_word(job, "--arch", cli_string(&list));
	text_free(&list);
	return is_good;
}

/* ---- code ---- */

static bool add_digits(struct serve_job *job, const json_t *value,
		       const struct serve_limits *limits)
{
	enum { LONGEST = 2 * 15 }; /* digits of an instruction */
	const char *text = json_string_value(value);
	size_t n = 0;

	if (!text || strspn(text, "0123456789abcdefABCDEFxX \t\r\n") != strlen(text))
		return wrong(job, 400, "\"hex\" has to be hex digits, or a list of such strings");
	for (const char *p = text; *p; p++)
		n += isxdigit((unsigned char)*p) != 0;
	/* No need to decode that. */
	if (n > (size_t)LONGEST * limits->instructions)
		return wrong(job, 413, "more than %u instructions (--max-instructions)",
			     limits->instructions);
	return add_word(job, "--hex", text);
}

static bool add_hex(struct serve_job *job, const json_t *value, const struct serve_limits *limits)
{
	const json_t *item;
	size_t i;

	if (!json_is_array(value))
		return add_digits(job, value, limits);
	if (json_array_size(value) > limits->blocks)
		return wrong(job, 413, "%zu blocks; at most %u (--max-blocks)",
			     json_array_size(value), limits->blocks);
	json_array_foreach(value, i, item) if (!add_digits(job, item, limits)) return false;
	return i > 0 || wrong(job, 400, "\"hex\" is an empty list");
}

static int digit_of(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *p = c ? strchr(digits, c) : NULL;

	return p ? (int)(p - digits) : -1;
}

/* Base64 (RFC 4648), with or without line ends in it. */
static bool decode(struct serve_job *job, const char *text, size_t size)
{
	uint32_t bits = 0;
	unsigned n = 0;

	job->input = cli_alloc(size / 4 * 3 + 4);
	for (size_t i = 0; i < size; i++) {
		const int digit = digit_of(text[i]);

		if (text[i] == '=' || isspace((unsigned char)text[i]))
			continue;
		if (digit < 0)
			return wrong(job, 400, "\"file\" is not base64");
		bits = bits << 6 | (uint32_t)digit;
		if (++n % 4 == 0) {
			job->input[job->input_size++] = (char)(bits >> 16);
			job->input[job->input_size++] = (char)(bits >> 8);
			job->input[job->input_size++] = (char)bits;
		}
	}
	if (n % 4 == 1)
		return wrong(job, 400, "\"file\" is base64 that is cut short");
	if (n % 4 >= 2)
		job->input[job->input_size++] = (char)(bits >> (n % 4 == 2 ? 4 : 10));
	if (n % 4 == 3)
		job->input[job->input_size++] = (char)(bits >> 2);
	return true;
}

static bool add_input(struct serve_job *job, const json_t *text, const json_t *file)
{
	const json_t *value = text ? text : file;

	if (!json_is_string(value))
		return wrong(job, 400, "\"%s\" has to be a string", text ? "text" : "file");
	if (file && !decode(job, json_string_value(value), json_string_length(value)))
		return false;
	if (text) {
		job->input_size = json_string_length(value);
		job->input = cli_alloc(job->input_size);
		memcpy(job->input, json_string_value(value), job->input_size);
	}
	return job->input_size ? add_word(job, "", "-")
			       : wrong(job, 400, "\"%s\" is empty", text ? "text" : "file");
}

/* Exactly one of text, hex and file. */
static bool add_code(struct serve_job *job, const json_t *root, const struct serve_limits *limits)
{
	const json_t *text = json_object_get(root, "text"), *hex = json_object_get(root, "hex");
	const json_t *file = json_object_get(root, "file");

	if (!!text + !!hex + !!file != 1)
		return wrong(job, 400,
			     "a request has exactly one of \"text\" (assembly), \"hex\" "
			     "(digits) and \"file\" (base64)");
	return hex ? add_hex(job, hex, limits) : add_input(job, text, file);
}

/* The instruction of insn: its words follow --, so that none is an option. */
static bool add_insn(struct serve_job *job, const json_t *root, const struct serve_limits *limits)
{
	const json_t *hex = json_object_get(root, "hex"), *name = json_object_get(root, "name");
	const json_t *text = json_object_get(root, "text");

	if (!!hex + !!name + !!text != 1)
		return wrong(job, 400,
			     "a request has exactly one of \"name\", \"text\" (an "
			     "instruction) and \"hex\"");
	if (hex)
		return !json_is_array(hex) ? add_digits(job, hex, limits)
					   : wrong(job, 400, "\"hex\" has to be hex digits");
	name = name ? name : text;
	if (!json_is_string(name) || !is_plain(json_string_value(name), true, 1000))
		return wrong(job, 400, "the instruction has to be one line of text");
	return add_word(job, "--", NULL) && add_word(job, "", json_string_value(name));
}

/* ---- requests ---- */

static bool is_known(const char *name, unsigned bit)
{
	for (size_t i = 0; i < CLI_ARRAY_SIZE(others); i++)
		if (!strcmp(others[i].name, name) && others[i].endpoints & bit)
			return true;
	return false;
}

static bool add_options(struct serve_job *job, enum serve_endpoint endpoint, json_t *root,
			const struct serve_limits *limits)
{
	const unsigned bit = 1u << endpoint;
	const char *name;
	json_t *value;

	json_object_foreach(root, name, value)
	{
		bool is_found = is_known(name, bit);

		for (size_t i = 0; i < CLI_ARRAY_SIZE(fields); i++) {
			if (strcmp(fields[i].name, name) || !(fields[i].endpoints & bit))
				continue;
			is_found = true;
			if (!add_field(job, &fields[i], value, limits))
				return false;
		}
		if (!is_found)
			return wrong(job, 400, "%s takes no field \"%.60s\"",
				     serve_routes[endpoint].name, name);
	}
	return true;
}

static bool add_first_words(struct serve_job *job, enum serve_endpoint endpoint, json_t *root)
{
	static const char *const commands[SERVE_N_ENDPOINTS] = {
		[SERVE_ARCHS] = "archs",       [SERVE_INSN] = "insn",
		[SERVE_PREDICT] = "predict",   [SERVE_MCA] = "predict",
		[SERVE_SIMULATE] = "simulate", [SERVE_TIMELINE] = "simulate",
		[SERVE_MODELS] = "models",     [SERVE_CODE] = "code",
		[SERVE_MEASURE] = "measure",
	};
	bool is_good = add_word(job, commands[endpoint], NULL);

	if (endpoint == SERVE_MEASURE || endpoint == SERVE_MODELS)
		return is_good;
	is_good = is_good && add_word(job, "--format", "json") && add_word(job, "--quiet", NULL);
	if (is_good && (1u << endpoint & BLOCKS))
		is_good = add_word(job, "--jobs", "1");
	if (is_good && endpoint == SERVE_MCA)
		is_good = add_word(job, "--model", "mca");
	if (is_good && endpoint == SERVE_TIMELINE)
		is_good = add_word(job, "--timeline", NULL) &&
			  (json_object_get(root, "iterations") ||
			   add_word(job, "--iterations", "1")) &&
			  (json_object_get(root, "from") || add_word(job, "--from", "1"));
	return is_good;
}

static bool read_root(struct serve_job *job, enum serve_endpoint endpoint, json_t *root,
		      const struct serve_limits *limits)
{
	const json_t *archs = json_object_get(root, "archs"),
		     *graph = json_object_get(root, "graph");

	if (!add_first_words(job, endpoint, root) || !add_options(job, endpoint, root, limits))
		return false;
	if (archs && !add_archs(job, archs, limits))
		return false;
	if (graph && !json_is_boolean(graph))
		return wrong(job, 400, "\"graph\" has to be true or false");
	job->has_graph = json_is_true(graph);
	if (endpoint == SERVE_INSN)
		return add_insn(job, root, limits);
	return 1u << endpoint & SOURCE ? add_code(job, root, limits) : true;
}

/* Counts the values of a text of JSON, more or less, up to `most`.  Small values take a hundred times
 * as much memory as text: "[{},{},{}".
 */
static size_t count_values(const char *body, size_t size, size_t most)
{
	bool is_string = false;
	size_t n = 0;

	for (size_t i = 0; i < size && n < most; i++) {
		if (is_string && body[i] == '\\')
			i++;
		else if (body[i] == '"')
			is_string = !is_string;
		else if (!is_string)
			n += body[i] == ',' || body[i] == '[' || body[i] == '{';
	}
	return n;
}

bool serve_read(struct serve_job *job, enum serve_endpoint endpoint, const char *body, size_t size,
		const struct serve_limits *limits)
{
	const size_t most = 256 + (size_t)limits->blocks + limits->archs;
	json_error_t error;
	json_t *root;
	bool is_good;

	if (!size && endpoint == SERVE_ARCHS) {
		body = "{}";
		size = 2;
	}
	/* Nothing that is asked for needs more. */
	if (count_values(body, size, most) == most)
		return wrong(job, 413,
			     "the request has more values than --max-blocks and "
			     "--max-archs allow");
	root = json_loadb(body, size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
	if (!root)
		return wrong(job, 400, "the request is not JSON: line %d, column %d: %.120s",
			     error.line, error.column, error.text);
	is_good = json_is_object(root) ? read_root(job, endpoint, root, limits)
				       : wrong(job, 400, "the request is no JSON object");
	json_decref(root);
	return is_good;
}

void serve_job_fini(struct serve_job *job)
{
	for (int i = 0; i < job->n; i++)
		free(job->words[i]);
	free(job->input);
	text_free(&job->why);
}
