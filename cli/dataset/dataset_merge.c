/* SPDX-License-Identifier: MIT
 *
 * tact dataset merge: several stores become one.
 */
#include <string.h>
#include <unistd.h>

#include <tact-program/lint.h>

#include "common/cli.h"
#include "datasets.h"

struct merging {
	const struct dataset *d;
	struct progress progress;
	size_t n_bad, n_off;
};

static void on_store(void *context, size_t i, int status, const struct tact_diag *diag)
{
	struct merging *m = context;
	const char *path = m->d->paths[2 + i];

	progress_show(&m->progress, i + 1);
	if (status >= 0)
		return;
	m->n_bad++;
	if (status == -TACT_E_IO && !access(path, R_OK))
		cli_message("%s: while %s is merged into it: %s", m->d->paths[1], path, diag->text);
	else
		cli_complain(path, diag, status, CLI_FAILED);
}

static int report_host(void *context, const struct tact_finding *f)
{
	struct merging *m = context;
	struct text text = {0};

	m->n_off++;
	if (f->code)
		text_hex(&text, f->code, f->code_size);
	cli_message("%s: %s%s%s; %s", m->d->paths[1], cli_string(&text), f->code ? ": " : "",
		    f->what, f->todo);
	text_free(&text);
	return 0;
}

/* Names hosts that disagree with the others.  Returns an exit code. */
static int check_hosts(struct merging *m, struct tact_store *store)
{
	const struct tact_lint_options options = {.size = sizeof(options),
						  .checks = TACT_LINT_HOSTS,
						  .report = report_host,
						  .context = m};
	struct tact_diag diag = {0};
	const int status = tact_lint(store, &options, &diag);

	if (status < 0)
		return cli_complain(m->d->paths[1], &diag, status, CLI_FAILED);
	return m->n_off ? CLI_FAILED : CLI_GOOD;
}

static void report(const struct dataset *d, const struct tact_merge *n)
{
	if (d->is_quiet || !n->stores)
		return;
	cli_message("%s: %lld store%s merged, %lld new block%s; added or replaced: %lld "
		    "applications, %lld categories, %lld measurements, %lld predictions",
		    d->paths[1], (long long)n->stores, n->stores == 1 ? "" : "s",
		    (long long)n->blocks, n->blocks == 1 ? "" : "s", (long long)n->sources,
		    (long long)n->categories, (long long)n->measurements,
		    (long long)n->predictions);
}

int dataset_merge(const struct dataset *d)
{
	struct merging m = {.d = d};
	const struct tact_merge_options options = {.size = sizeof(options),
						   .mixes_cores = d->mixes_cores,
						   .without_hosts = d->without,
						   .n_without_hosts = d->n_without,
						   .on_store = on_store,
						   .context = &m};
	struct tact_merge merge = {.size = sizeof(merge)};
	struct tact_diag diag = {0};
	struct tact_store *store;
	int status, result;

	if (tact_store_open(&store, d->paths[1], TACT_STORE_CREATE, &diag) < 0) {
		cli_message("%s: %s", d->paths[1], diag.text);
		return CLI_FAILED;
	}
	progress_init(&m.progress, "stores", d->n_paths - 2, d->is_quiet);
	status = tact_store_merge_all(store, d->paths + 2, d->n_paths - 2, &options, &merge, &diag);
	progress_clear(&m.progress);
	if (status == -TACT_E_INVAL && strstr(diag.text, "different cores"))
		cli_message("%s: %s; --mix-cores merges them", d->paths[1], diag.text);
	else if (status < 0)
		cli_complain(d->paths[1], &diag, status, CLI_FAILED);
	else
		report(d, &merge);
	result = status < 0 || m.n_bad ? CLI_FAILED : CLI_GOOD;
	if (status >= 0 && check_hosts(&m, store))
		result = CLI_FAILED;
	tact_store_close(store);
	return result;
}
