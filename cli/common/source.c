/* SPDX-License-Identifier: MIT
 *
 * Where a command's blocks come from.
 */
#include "source.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "cli.h"
#include "output.h"

static const char *add_item(struct source_options *options, bool is_hex, const char *value)
{
	options->items =
		cli_realloc(options->items, (options->n_items + 1) * sizeof(*options->items));
	options->items[options->n_items++] = (struct source_item){is_hex, value};
	return NULL;
}

const char *source_add_path(void *options, const char *path)
{
	return add_item(options, false, path);
}

/* C, C++ and LLVM's intermediate code, by suffix: nothing else tells these from other text. */
static bool is_source(const struct source_item *item)
{
	static const char *const suffixes[] = {".c", ".cc", ".cpp", ".cxx", ".c++",
					       ".C", ".i",  ".ii",  ".ll",  ".bc"};

	for (size_t i = 0; !item->is_hex && i < CLI_ARRAY_SIZE(suffixes); i++)
		if (cli_has_suffix(item->value, suffixes[i]))
			return true;
	return false;
}

const char *source_add_after(void *target, const char *word)
{
	struct source_options *options = target;

	for (size_t i = 0; i < options->n_items; i++)
		if (is_source(&options->items[i]))
			return option_words_add(&options->compiler_options, word);
	return add_item(options, false, word);
}

/* Tells whether PATH has a program. */
static bool has_program(const char *name)
{
	const char *path = getenv("PATH"), *end;
	struct text text = {0};
	bool is_there = strchr(name, '/') && !access(name, X_OK);

	for (; path && *path && !is_there; path = *end ? end + 1 : end) {
		end = strchrnul(path, ':');
		text_reset(&text);
		text_printf(&text, "%.*s/%s", (int)(end - path), path, name);
		is_there = !access(cli_string(&text), X_OK);
	}
	text_free(&text);
	return is_there;
}

/* The words of a command that compiles a file to assembly text. */
struct compiling {
	char *own; /* $CC, cut into words */
	const char **words;
	size_t n;
};

static void add_word(struct compiling *c, const char *word)
{
	c->words = cli_realloc(c->words, (c->n + 2) * sizeof(*c->words));
	c->words[c->n++] = word;
	c->words[c->n] = NULL;
}

static void compiling_init(struct compiling *c, const struct source_options *options,
			   const char *path)
{
	const bool is_llvm = cli_has_suffix(path, ".ll") || cli_has_suffix(path, ".bc");
	const char *cc = getenv("CC");
	char *rest;

	*c = (struct compiling){0};
	if (cc && *cc && (!is_llvm || strstr(cc, "clang"))) {
		c->own = strdup(cc);
		if (!c->own)
			cli_out_of_memory();
		for (char *w = strtok_r(c->own, " ", &rest); w; w = strtok_r(NULL, " ", &rest))
			add_word(c, w);
	}
	if (!c->n)
		add_word(c, is_llvm || has_program("clang") ? "clang" : "gcc");
	add_word(c, "-S");
	add_word(c, "-g");
	add_word(c, "-O2");
	for (size_t i = 0; i < options->compiler_options.n; i++)
		add_word(c, options->compiler_options.list[i]);
	add_word(c, "-o");
	add_word(c, "-");
	add_word(c, path);
}

static void compiling_fini(struct compiling *c)
{
	free(c->own);
	free(c->words);
}

static const char *add_hex(void *options, const char *value)
{
	return add_item(options, true, value);
}

/* "A-B" or "A..B", hexadecimal with or without 0x. */
static const char *set_addresses(void *target, const char *value)
{
	struct source_options *options = target;
	char *end;

	errno = 0;
	options->addr_begin = strtoull(value, &end, 16);
	if (end != value && (*end == '-' || !strncmp(end, "..", 2))) {
		const char *second = end + (*end == '-' ? 1 : 2);

		options->addr_end = strtoull(second, &end, 16);
		if (end != second && !*end && !errno && options->addr_begin < options->addr_end)
			return NULL;
	}
	snprintf(options->why, sizeof(options->why), "'%.40s' is not a range such as 401000-401020",
		 value);
	return options->why;
}

static const char *set_path(void *target, const char *value)
{
	struct source_options *options = target;
	unsigned long number;
	char *end;

	if (!strcmp(value, "all")) {
		options->path = TACT_INPUT_ALL_PATHS;
		return NULL;
	}
	number = strtoul(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || !number || number > INT_MAX) {
		snprintf(options->why, sizeof(options->why),
			 "'%.40s' is neither a number from 1 on nor 'all'", value);
		return options->why;
	}
	options->path = (int)number;
	return NULL;
}

static const struct option_choice syntaxes[] = {
	{"auto", TACT_SYNTAX_AUTO},
	{"att", TACT_SYNTAX_ATT},
	{"intel", TACT_SYNTAX_INTEL},
	{NULL, 0},
};

#define OPTION_HOLDER source_options

const struct option_spec source_option_specs[] = {
	OPTION_CALL('x', "hex", "HEX", add_hex,
		    "read a block from these hex digits; may be repeated"),
	OPTION_TEXT(0, "function", "NAME", function,
		    "take only this function of an object file or of assembly text"),
	OPTION_NUMBER(0, "loop", "N", loop, 1, 1000000000,
		      "take only the loop with this number in the list of loops"),
	OPTION_CALL(0, "addr", "A-B", set_addresses,
		    "take only the code from address A up to B (hexadecimal), as one block"),
	OPTION_MANGLED(is_mangled),
	OPTION_CALL(0, "path", "N|all", set_path,
		    "take the N-th path through code with branches, or list all of them"),
	OPTION_CHOICE(0, "syntax", "SYNTAX", syntax, syntaxes,
		      "syntax of assembly text: att, intel or auto (default)"),
	OPTION_FLAG(0, "skip-unknown", skip_unknown,
		    "leave out instructions that the assembler does not know, and say how many"),
	OPTION_FLAG(0, "raw", is_raw, "treat the bytes of each input file as machine code"),
	OPTION_END,
};

void source_options_fini(void *target)
{
	struct source_options *options = target;

	free(options->items);
	options->items = NULL;
	option_words_fini(&options->compiler_options);
}

/* Waits until a pipe has something to read; false if its other end closes without a byte. */
static bool has_data(int fd)
{
	enum { PATIENCE_MS = 3000 };
	struct pollfd pipe = {.fd = fd, .events = POLLIN};
	int n = poll(&pipe, 1, PATIENCE_MS);

	if (!n) {
		cli_message("waiting for code on standard input; -x HEX or a file is input, too");
		n = poll(&pipe, 1, -1);
	}
	return n > 0 && (pipe.revents & POLLIN);
}

bool source_has_input(struct source_options *options)
{
	struct stat info;

	if (options->n_items)
		return true;
	/* A terminal, /dev/null, a socket or nothing at all is what a command inherits that was
	 * given no input.
	 */
	if (fstat(STDIN_FILENO, &info))
		return false;
	if (S_ISREG(info.st_mode) ? info.st_size <= lseek(STDIN_FILENO, 0, SEEK_CUR)
				  : !S_ISFIFO(info.st_mode) || !has_data(STDIN_FILENO))
		return false;
	add_item(options, false, "-");
	return true;
}

void source_init(struct source *source, const struct source_options *options, bool is_quiet)
{
	*source = (struct source){.options = options, .is_quiet = is_quiet};
}

/* A row about nothing is no failure, but is not passed over in silence. */
static void add_empty(struct source *source, uint64_t line)
{
	enum { SHOWN = 4 };

	source->index++;
	if (source->n_empty++ < SHOWN)
		text_printf(&source->empty_lines, "%s%llu", source->n_empty > 1 ? ", " : "",
			    (unsigned long long)line);
	else if (source->n_empty == SHOWN + 1)
		text_add(&source->empty_lines, ", ...");
}

static void report_empty(struct source *source)
{
	if (source->n_empty)
		cli_message("%s: %llu row%s without hex digits, left out (line %s)", source->path,
			    (unsigned long long)source->n_empty, source->n_empty == 1 ? "" : "s",
			    cli_string(&source->empty_lines));
	source->n_empty = 0;
	text_free(&source->empty_lines);
}

void source_fini(struct source *source)
{
	report_empty(source);
	tact_input_close(source->input);
	source->input = NULL;
	tact_store_blocks_destroy(source->blocks);
	source->blocks = NULL;
	tact_store_close(source->store);
	source->store = NULL;
}

/* All blocks of a store; a store of an older version is upgraded. */
static int open_store(struct source *source, const char *path, struct tact_diag *diag)
{
	int status = tact_store_open(&source->store, path, TACT_STORE_READONLY, diag);

	if (status == -TACT_E_VERSION)
		status = tact_store_open(&source->store, path, 0, diag);
	if (status >= 0)
		status = tact_store_blocks_create(&source->blocks, source->store, NULL, diag);
	if (status < 0)
		source_fini(source);
	else if (!source->is_quiet)
		cli_message("%s: store", path);
	return status;
}

/* The code of a link to uiCA's page, https://uica.uops.info/?code=HEX&syntax=hex&...; NULL if this
 * is none, or has another syntax.
 */
static const char *find_code(const char *link, size_t *size)
{
	const char *code;

	if (!strstr(link, "uica.uops.info/") || access(link, F_OK) == 0)
		return NULL;
	code = strstr(link, "?code=");
	code = code ? code : strstr(link, "&code=");
	if (!code || !strstr(link, "syntax=hex"))
		return NULL;
	*size = strcspn(code + 6, "&#");
	return code + 6;
}

/* As tact_input_next. */
static int next_in_store(struct source *source, struct source_block *block)
{
	struct tact_store_block stored = TACT_STORE_BLOCK_INIT;
	int status = tact_store_blocks_next(source->blocks, &stored, &block->diag);
	uint64_t n_skipped;

	if (status > 0)
		block->region = (struct tact_region){.size = sizeof(block->region),
						     .code = stored.code,
						     .code_size = stored.code_size,
						     .name = "",
						     .function = "",
						     .symbol = "",
						     .inlined = "",
						     .source = "",
						     .text = "",
						     .member = ""};
	else
		block->region.line = 0;
	n_skipped = status ? 0 : tact_store_blocks_skipped(source->blocks);
	if (n_skipped)
		cli_message("%s: blocks that cannot be read, left out: %llu", source->path,
			    (unsigned long long)n_skipped);
	return status;
}

static int open_item(struct source *source, const struct source_item *item,
		     struct tact_excerpt *excerpt, struct tact_diag *diag)
{
	const struct source_options *o = source->options;
	struct tact_input_options opt = {
		.size = sizeof(opt),
		.kind = o->is_raw ? TACT_INPUT_RAW : TACT_INPUT_AUTO,
		.isa = o->isa,
		.syntax = (enum tact_syntax)o->syntax,
		.function = o->function,
		.addr_begin = o->addr_begin,
		.addr_end = o->addr_end,
		.loop = (int)o->loop,
		.skip_unknown = o->skip_unknown,
		.excerpt = excerpt,
		.is_mangled = o->is_mangled,
		.path = o->path,
	};
	struct compiling compiling = {0};
	const char *hex;
	size_t size;
	int status;

	source->index = source->candidates = 0;
	if (item->is_hex) {
		source->path = "-x";
		if (o->function || o->loop || o->addr_end) {
			snprintf(diag->text, sizeof(diag->text),
				 "a block of hex digits has no functions and loops to choose from; "
				 "give a file with %s",
				 o->function ? "--function"
				 : o->loop   ? "--loop"
					     : "--addr");
			return -TACT_E_FORMAT;
		}
		opt.kind = TACT_INPUT_HEX;
		return tact_input_open_memory(&source->input, item->value, strlen(item->value),
					      &opt, diag);
	}
	hex = find_code(item->value, &size);
	if (hex) {
		source->path = "-x";
		opt.kind = TACT_INPUT_HEX;
		return tact_input_open_memory(&source->input, hex, size, &opt, diag);
	}
	source->path = strcmp(item->value, "-") ? item->value : "standard input";
	if (!o->is_raw && tact_store_is_store(item->value))
		return open_store(source, item->value, diag);
	if (!o->is_raw && is_source(item) && !access(item->value, R_OK)) {
		/* clang even takes the last part of a path so. */
		if (*file_base_name(item->value) == '@' || *item->value == '-') {
			tact_fail(diag, TACT_E_INVAL,
				  "compilers take a name that begins with %c for options; give the "
				  "file another name",
				  *item->value == '-' ? '-' : '@');
			return -TACT_E_INVAL;
		}
		compiling_init(&compiling, o, item->value);
		opt.compiler = compiling.words;
	}
	status = tact_input_open(&source->input, item->value, &opt, diag);
	compiling_fini(&compiling);
	if (status >= 0 && !source->is_quiet)
		cli_message("%s: %s", source->path, tact_input_description(source->input));
	return status;
}

/* The library explains the failure; without a text, its status does. */
static void set_failure(struct source_block *block, int status)
{
	if (status == -TACT_E_NOMEM) /* not the input's fault: the next one is no better */
		cli_out_of_memory();
	block->status = status;
	if (!block->diag.text[0])
		snprintf(block->diag.text, sizeof(block->diag.text), "%s", tact_strerror(status));
}

/* A file whose code the chosen CPU does not execute. */
static void refuse_set(struct source *source, struct source_block *block)
{
	const struct tact_isa *wanted = source->options->isa;

	snprintf(block->diag.text, sizeof(block->diag.text), "it has %s code, and %s executes %s%s",
		 tact_isa_title(block->region.isa),
		 source->options->is_native ? "this machine" : "the CPU", tact_isa_title(wanted),
		 source->options->is_native
			 ? ": 'tact predict -a NAME' predicts it, 'tact archs' lists CPUs"
			 : ": -a NAME chooses another one, 'tact archs' lists them");
	block->status = -TACT_E_FORMAT;
	block->is_input = true;
	source_fini(source);
}

static size_t count_instructions(const struct tact_region *r)
{
	struct tact_insn insn;
	size_t n = 0;
	int length;

	for (size_t at = 0; at < r->code_size; at += (size_t)length, n++) {
		length = tact_isa_decode(r->isa, &insn, r->code + at, r->code_size - at);
		if (length <= 0)
			break;
	}
	return n;
}

/* Tells whether the block is more than may be read; then it is the end, with a message. */
static bool is_over_limit(struct source *source, struct source_block *block)
{
	struct source_limits *l = source->options->limits;

	if (!l)
		return false;
	l->n_blocks++;
	l->n_instructions += block->region.isa ? count_instructions(&block->region) : 0;
	if (l->n_blocks <= l->blocks && l->n_instructions <= l->instructions)
		return false;
	if (!l->is_exceeded)
		snprintf(block->diag.text, sizeof(block->diag.text),
			 "more than %zu %s; choose a function, a loop or addresses",
			 l->n_blocks > l->blocks ? l->blocks : l->instructions,
			 l->n_blocks > l->blocks ? "blocks" : "instructions");
	l->is_exceeded = true;
	block->diag.line = 0;
	block->status = -TACT_E_LIMIT;
	block->is_input = true;
	source_fini(source);
	source->next_item = source->options->n_items;
	return true;
}

bool source_next(struct source *source, struct source_block *block)
{
	int status;

	block->status = 0;
	block->index = 0;
	block->is_input = false;
	block->is_elf = false;
	block->candidate = 0;
	for (;;) {
		if (!source->input && !source->store) {
			if (source->next_item == source->options->n_items)
				return false;
			block->diag = (struct tact_diag){0};
			block->excerpt = (struct tact_excerpt)TACT_EXCERPT_INIT;
			status = open_item(source, &source->options->items[source->next_item++],
					   &block->excerpt, &block->diag);
			block->path = source->path;
			if (status < 0) {
				block->is_input = true;
				set_failure(block, status);
				return true;
			}
		}
		block->path = source->path;
		block->is_elf =
			source->input && tact_input_get_kind(source->input) == TACT_INPUT_ELF;
		block->region.size = sizeof(block->region);
		status = source->store
				 ? next_in_store(source, block)
				 : tact_input_next(source->input, &block->region, &block->diag);
		if (status > 0) {
			block->index = ++source->index;
			if (is_over_limit(source, block))
				return true;
			if (source->options->isa && block->region.isa &&
			    block->region.isa != source->options->isa) {
				refuse_set(source, block);
				return true;
			}
			if (block->region.is_candidate)
				block->candidate = ++source->candidates;
			return true;
		}
		if (status == -TACT_E_NO_DATA && source->input) {
			add_empty(source, block->diag.line);
			continue;
		}
		if (status < 0) {
			block->index = ++source->index;
			set_failure(block, status);
			/* A bad line has a text; without one, the file has ended. */
			block->is_input = status != -TACT_E_FORMAT || !block->region.line;
			if (block->is_input)
				source_fini(source);
			return true;
		}
		source_fini(source);
	}
}

/* As compilers do it, so that editors find the place. */
static void add_excerpt(struct text *err, const struct source_block *block, const char *why)
{
	const struct tact_excerpt *x = &block->excerpt;
	uint64_t i;

	text_printf(err, "%s:%llu:%llu: error: %s\n %s\n ", block->path,
		    (unsigned long long)block->diag.line, (unsigned long long)x->column, why,
		    x->line);
	if (x->column > strlen(x->line)) {
		text_add(err, "\n");
		return;
	}
	for (i = 0; i + 1 < x->column; i++)
		text_add_bytes(err, x->line[i] == '\t' ? "\t" : " ", 1);
	text_add(err, "^");
	for (i = 1; i < x->length && x->column + i <= strlen(x->line); i++)
		text_add(err, "~");
	text_add(err, "\n");
}

void source_complain(struct text *err, const struct source_block *block, const char *why)
{
	const struct tact_region *region = &block->region;
	uint64_t line = block->is_input ? block->diag.line : region->line;

	if (!strcmp(block->path, "-x") && (block->is_input || !region->text_size))
		text_printf(err, "tact: -x: %s\n", why);
	else if (!strcmp(block->path, "-x"))
		text_printf(err, "tact: -x %.*s%s: %s\n",
			    region->text_size > 40 ? 40 : (int)region->text_size, region->text,
			    region->text_size > 40 ? "..." : "", why);
	else if (!block->is_input && !line && region->name[0])
		text_printf(err, "tact: %s: %s: %s\n", block->path, region->name, why);
	else if (block->is_input && block->excerpt.column)
		add_excerpt(err, block, why);
	else
		cli_place(err, block->path, line, why);
}
