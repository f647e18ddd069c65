/* SPDX-License-Identifier: MIT
 *
 * tact dataset stat: how many rows of which kind.
 */
#include <math.h>
#include <string.h>

#include "common/cli.h"
#include "datasets.h"

struct statistics {
	const struct dataset *d;
	struct output *out;
	struct text text;
	enum tact_count_kind kind;
	bool has_title;
};

static const char *const kind_names[TACT_N_COUNT_KINDS] = {
	[TACT_COUNT_BLOCKS] = "blocks",		  [TACT_COUNT_APPS] = "applications",
	[TACT_COUNT_CATEGORIES] = "categories",	  [TACT_COUNT_MEASUREMENTS] = "measurements",
	[TACT_COUNT_PREDICTIONS] = "predictions",
};

/* ---- text ---- */

static void add_title(struct statistics *s)
{
	static const char *const titles[TACT_N_COUNT_KINDS] = {
		[TACT_COUNT_APPS] = "Application                  Blocks        Weight\n",
		[TACT_COUNT_CATEGORIES] = "Category                     Blocks  Classifier\n",
		[TACT_COUNT_MEASUREMENTS] = "Machine                  CPU   Mode    Init   Status  "
					    "      Measurements\n",
		[TACT_COUNT_PREDICTIONS] = "Model                    CPU   Mode    Init   Status   "
					   "      Predictions\n",
	};

	if (!s->has_title && titles[s->kind])
		text_printf(&s->text, "\n%s", titles[s->kind]);
	s->has_title = true;
}

static void add_text(struct statistics *s, const struct tact_count *c)
{
	struct text *out = &s->text;
	const long long n = (long long)c->n;

	add_title(s);
	switch (s->kind) {
	case TACT_COUNT_APPS:
		text_printf(out, "%-24s %10lld", *c->app ? c->app : "(none)", n);
		if (isfinite(c->weight))
			text_printf(out, " %13.6g", c->weight);
		text_add(out, "\n");
		break;
	case TACT_COUNT_CATEGORIES:
		text_printf(out, "%-24s %10lld  %s%s%s\n", c->category, n, c->classifier,
			    *c->arch ? " on " : "", c->arch);
		break;
	case TACT_COUNT_MEASUREMENTS:
	case TACT_COUNT_PREDICTIONS: {
		size_t start = out->size;

		if (*c->model)
			text_printf(out, "%s %s", c->model, c->version);
		else
			text_add(out, c->machine);
		text_add(out, " ");
		text_pad(out, 25, start);
		text_printf(out, "%-5s %-7s %-6s %-13s %12lld\n", *c->arch ? c->arch : "-", c->mode,
			    c->init, c->status, n);
		break;
	}
	default:
		text_printf(out, "Blocks: %lld\n", n);
	}
}

/* ---- csv and json ---- */

struct column {
	const char *name, *value;
};

enum { N_KEYS = 10 };

static void list_keys(const struct tact_count *c, struct column *keys)
{
	const struct column all[N_KEYS] = {
		{"app", c->app},	 {"category", c->category}, {"classifier", c->classifier},
		{"machine", c->machine}, {"model", c->model},	    {"version", c->version},
		{"arch", c->arch},	 {"mode", c->mode},	    {"init", c->init},
		{"status", c->status},
	};

	memcpy(keys, all, sizeof(all));
}

static void add_csv(struct statistics *s, const struct tact_count *c)
{
	struct column keys[N_KEYS];

	list_keys(c, keys);
	text_add(&s->text, kind_names[s->kind]);
	for (size_t i = 0; i < N_KEYS; i++) {
		text_add(&s->text, ",");
		text_csv_field(&s->text, keys[i].value, strlen(keys[i].value), false);
	}
	text_printf(&s->text, ",%lld,", (long long)c->n);
	if (isfinite(c->weight))
		text_exact(&s->text, c->weight);
	text_add(&s->text, "\n");
}

static void add_json(struct statistics *s, const struct tact_count *c)
{
	struct json json = {.out = &s->text};
	struct column keys[N_KEYS];

	list_keys(c, keys);
	json_begin_object(&json, NULL);
	json_put_string(&json, "schema", "tact.dataset.stat/1");
	json_put_string(&json, "of", kind_names[s->kind]);
	for (size_t i = 0; i < N_KEYS; i++)
		if (*keys[i].value)
			json_put_string(&json, keys[i].name, keys[i].value);
	json_put_integer(&json, "count", c->n);
	if (isfinite(c->weight))
		json_put_exact(&json, "weight", c->weight);
	json_end_line(&json);
}

static int add(void *context, const struct tact_count *count)
{
	struct statistics *s = context;

	if (s->d->format == FORMAT_CSV)
		add_csv(s, count);
	else if (s->d->format == FORMAT_JSON)
		add_json(s, count);
	else
		add_text(s, count);
	if (s->text.size > 1 << 16)
		output_write(s->out, &s->text);
	return 0;
}

int dataset_stat(const struct dataset *d)
{
	struct output out;
	struct statistics s = {.d = d, .out = &out};
	struct tact_store *store = dataset_open(d->paths[1]);
	struct tact_diag diag = {0};
	int status = 0;

	if (!store)
		return CLI_FAILED;
	if (output_open(&out, d->output)) {
		tact_store_close(store);
		return CLI_FAILED;
	}
	if (d->format == FORMAT_CSV)
		text_add(&s.text, "of,app,category,classifier,machine,model,version,arch,mode,init,"
				  "status,count,weight\n");
	for (int kind = 0; kind < TACT_N_COUNT_KINDS && status >= 0; kind++) {
		s.kind = (enum tact_count_kind)kind;
		s.has_title = false;
		status = tact_store_count(store, s.kind, add, &s, &diag);
	}
	if (status < 0)
		cli_message("%s: %s", d->paths[1], diag.text);
	output_write(&out, &s.text);
	text_free(&s.text);
	tact_store_close(store);
	return output_close(&out) || status < 0 ? CLI_FAILED : CLI_GOOD;
}
