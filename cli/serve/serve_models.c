/* SPDX-License-Identifier: MIT
 *
 * Models side by side: cycles of each block by each model on each CPU, and nothing else.  llvm-mca,
 * where it is installed, is one of them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tact/model.h>

#include "common/archlist.h"
#include "common/cli.h"
#include "common/options.h"
#include "common/source.h"
#include "predict/predictor.h"
#include "serve.h"

enum { MOST_MODELS = 8 };

struct comparison {
	struct source_options source;
	struct archlist archs;
	int mode, init;
	unsigned alignment;
	bool is_aligned;
	const char *list;
	char why[80];

	const char *models[MOST_MODELS];
	size_t n_models;
	struct tact_model_row
		*rows; /* owned, and their code; CPUs of a block one after the other */
	size_t n, capacity;
	int *status; /* owned; by row, then model */
	double *cycles;
};

static const char *set_alignment(void *target, const char *value)
{
	struct comparison *c = target;
	bool is_all;

	c->is_aligned = true;
	return option_alignment(value, &c->alignment, &is_all, c->why, sizeof(c->why));
}

#define OPTION_HOLDER comparison

static const struct option_spec model_specs[] = {
	OPTION_MODE(mode, 0, ""),
	OPTION_INIT(init, 0, ""),
	OPTION_CALL(0, "alignment", "N", set_alignment, ""),
	OPTION_TEXT(0, "models", "LIST", list, ""),
	OPTION_END,
};

static const struct option_group groups[] = {
	OPTION_GROUP("Input", source_option_specs, source, source_options_fini),
	OPTION_GROUP("CPU", archlist_option_specs, archs, archlist_fini),
	OPTION_OWN("Model", model_specs),
	OPTION_ARGUMENTS(source_add_path, source),
};

/* ---- rows ---- */

static void add_row(struct comparison *c, const struct tact_region *r, const uint8_t *code,
		    const struct tact_arch *arch)
{
	/* Code of a file may be a loop although its bytes do not tell. */
	const bool is_loop = c->mode == TACT_MODE_AUTO && r->is_loop && !r->text_size;

	if (c->n == c->capacity) {
		c->capacity = c->capacity ? 2 * c->capacity : 64;
		c->rows = cli_realloc(c->rows, c->capacity * sizeof(*c->rows));
	}
	c->rows[c->n++] = (struct tact_model_row){
		.size = sizeof(*c->rows),
		.code = code,
		.code_size = r->code_size,
		.arch = arch,
		.mode = is_loop ? TACT_MODE_LOOP : (enum tact_mode)c->mode,
		.init = (enum tact_init)c->init,
		.alignment = c->is_aligned ? c->alignment : r->alignment,
	};
}

static void add_block(struct comparison *c, const struct tact_region *r)
{
	uint8_t *code = cli_alloc(r->code_size + 1);

	memcpy(code, r->code, r->code_size);
	for (size_t i = 0; i < c->archs.n; i++)
		add_row(c, r, code, c->archs.arch[i]);
}

/* Returns an exit code. */
static int read_rows(struct comparison *c)
{
	struct source source;
	struct source_block block = {0};
	struct text err = {0};
	int status = CLI_GOOD;

	source_init(&source, &c->source, true);
	while (source_next(&source, &block)) {
		if (block.status >= 0) {
			add_block(c, &block.region);
			continue;
		}
		source_complain(&err, &block, block.diag.text);
		text_to_stderr(&err);
		status = block.status == -TACT_E_NO_TOOL ? CLI_UNABLE : CLI_FAILED;
	}
	text_free(&err);
	source_fini(&source);
	return status;
}

/* ---- models ---- */

static void take(void *arg, size_t model, size_t row, int status,
		 const struct tact_estimate *estimate)
{
	struct comparison *c = arg;
	const size_t at = row * c->n_models + model;

	c->status[at] = status;
	c->cycles[at] = estimate ? estimate->cycles_per_iteration : 0;
}

static void say(void *arg, const char *text)
{
	(void)arg;
	cli_message("%s", text);
}

static const char *status_name(int status)
{
	if (status >= 0)
		return "ok";
	return status == -TACT_E_NO_TOOL  ? "no_tool"
	       : status == -TACT_E_FORMAT ? "no_number"
					  : predict_status_name(status);
}

static void put_row(const struct comparison *c, size_t row, size_t model, struct text *out)
{
	const struct tact_model_row *r = &c->rows[row];
	const int status = c->status[row * c->n_models + model];
	struct json json = {.out = out};

	json_begin_object(&json, NULL);
	json_put_string(&json, "schema", "tact.models/1");
	json_put_hex(&json, "hex", r->code, r->code_size);
	json_put_string(&json, "arch", tact_arch_name(r->arch));
	json_put_string(&json, "model", c->models[model]);
	json_put_string(&json, "status", status_name(status));
	if (status < 0)
		json_put_string(&json, "error",
				status == -TACT_E_FORMAT ? "the model gives no number"
							 : tact_strerror(status));
	else
		json_put_number(&json, "cycles_per_iteration",
				c->cycles[row * c->n_models + model]);
	json_end_line(&json);
}

static int compare(struct comparison *c)
{
	const struct tact_model_options options = {
		.size = sizeof(options), .timeout = 10, .threads = 1, .say = say};
	struct tact_diag diag = {0};
	struct text out = {0};
	int status;

	c->status = cli_alloc((c->n + 1) * c->n_models * sizeof(*c->status));
	c->cycles = cli_alloc((c->n + 1) * c->n_models * sizeof(*c->cycles));
	/* What a model that cannot work leaves. */
	for (size_t i = 0; i < c->n * c->n_models; i++)
		c->status[i] = -TACT_E_NO_TOOL;
	status = tact_model_run(c->models, c->n_models, c->rows, c->n, &options, take, c, &diag);
	if (status < 0 && status != -TACT_E_NO_TOOL && status != -TACT_E_FORMAT) {
		cli_message("%s", diag.text[0] ? diag.text : tact_strerror(status));
		return CLI_FAILED;
	}
	for (size_t row = 0; row < c->n; row++)
		for (size_t model = 0; model < c->n_models; model++)
			put_row(c, row, model, &out);
	status = serve_write(STDOUT_FILENO, out.data, out.size) ? CLI_GOOD : CLI_FAILED;
	if (status)
		cli_message("standard output: %s", strerror(errno));
	text_free(&out);
	return status;
}

static int run(void *target)
{
	struct comparison *c = target;
	char *list = strdup(c->list ? c->list : "facile,sim,mca,llvm-mca"), *rest;
	int status;

	if (!list)
		cli_out_of_memory();
	for (char *w = strtok_r(list, ",", &rest); w && c->n_models < MOST_MODELS;
	     w = strtok_r(NULL, ",", &rest))
		c->models[c->n_models++] = w;
	status = archlist_resolve(&c->archs, NULL, true);
	if (!status) {
		c->source.isa = tact_arch_isa(c->archs.arch[0]);
		status = read_rows(c);
	}
	if (!status && c->n)
		status = compare(c);
	free(list);
	return status;
}

static void fini(void *target)
{
	struct comparison *c = target;

	for (size_t i = 0; i < c->n; i += c->archs.n)
		free((void *)(uintptr_t)c->rows[i].code);
	free(c->rows);
	free(c->status);
	free(c->cycles);
}

int serve_models(int argc, char **argv, struct source_limits *limits)
{
	static const struct option_command command = {"", groups, run, fini};
	struct comparison c = {.source = {.limits = limits}};

	return option_command_run(&command, &c, argc, argv);
}
