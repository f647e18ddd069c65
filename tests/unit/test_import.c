/* SPDX-License-Identifier: MIT
 *
 * Files into stores.
 */
#include <math.h>
#include <unistd.h>

#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include "support.h"

struct world {
	char folder[40], file[60], path[60]; /* path: of the store */
	struct tact_store *store;
	unsigned opened, bad;
	uint64_t last_line;
	char brand[80], arch[16];
};

static void begin(struct world *w, const char *name, const char *content)
{
	FILE *file;

	*w = (struct world){.folder = "/tmp/tact-import-XXXXXX"};
	assert_non_null(mkdtemp(w->folder));
	snprintf(w->file, sizeof(w->file), "%s/%s", w->folder, name);
	snprintf(w->path, sizeof(w->path), "%s/blocks.db", w->folder);
	file = fopen(w->file, "w");
	fputs(content, file);
	fclose(file);
	assert_int_equal(tact_store_open(&w->store, w->path, TACT_STORE_CREATE, NULL), 0);
}

static void end(struct world *w)
{
	tact_store_close(w->store);
	unlink(w->file);
	unlink(w->path);
	rmdir(w->folder);
}

static void on_open(void *arg, const struct tact_records *records,
		    const struct tact_machine *machine)
{
	struct world *w = arg;

	assert_true(tact_records_description(records)[0] != '\0');
	snprintf(w->brand, sizeof(w->brand), "%s", machine->brand);
	snprintf(w->arch, sizeof(w->arch), "%s", machine->arch);
	w->opened++;
}

static void on_bad_line(void *arg, uint64_t line, const char *why)
{
	struct world *w = arg;

	assert_true(why[0] != '\0');
	w->last_line = line;
	w->bad++;
}

static int import(struct world *w, const char *machine, const char *arch, struct tact_imported *out)
{
	const struct tact_records_options records = {.size = sizeof(records), .arch = arch};
	const struct tact_import_options opt = {
		.size = sizeof(opt),
		.records = &records,
		.machine = machine,
		.on_open = on_open,
		.on_bad_line = on_bad_line,
		.arg = w,
	};

	return tact_store_import_file(w->store, w->file, &opt, out, NULL);
}

static int count_one(void *context, const struct tact_count *count)
{
	*(int64_t *)context += count->n;
	return 0;
}

static int64_t count(struct world *w, enum tact_count_kind kind)
{
	int64_t n = 0;

	assert_int_equal(tact_store_count(w->store, kind, count_one, &n, NULL), 0);
	return n;
}

TEST(test_rows)
{
	struct tact_imported n;
	struct world w;

	begin(&w, "zlib.v1.csv",
	      "hex,app,weight,cycles_per_iteration\n"
	      "4801d8,a,2,1.0\n"
	      "4829d8,a,,1.5\n"
	      "xyz,a,1,1\n"
	      "4801d8,b,1,1.0\n");
	assert_int_equal(import(&w, NULL, "SKL", &n), 0);
	assert_true(n.is_opened);
	assert_false(n.is_store_failed);
	assert_int_equal(n.rows, 3);
	assert_int_equal(n.blocks, 2);
	assert_int_equal(n.sources, 3);
	assert_int_equal(n.measurements, 3);
	assert_int_equal(n.predictions, 0);
	assert_int_equal(n.bad, 1);
	assert_int_equal(w.opened, 1);
	assert_int_equal(w.bad, 1);
	assert_int_equal(w.last_line, 4);
	/* The name of the file, up to its first dot. */
	assert_string_equal(w.brand, "zlib");
	assert_string_equal(w.arch, "SKL");
	assert_int_equal(count(&w, TACT_COUNT_BLOCKS), 2);
	assert_int_equal(count(&w, TACT_COUNT_MEASUREMENTS), 2);

	/* Again: nothing is new. */
	assert_int_equal(import(&w, NULL, "SKL", &n), 0);
	assert_int_equal(n.blocks, 0);
	assert_int_equal(count(&w, TACT_COUNT_MEASUREMENTS), 2);

	/* Of another machine. */
	assert_int_equal(import(&w, "other.one", NULL, &n), 0);
	assert_string_equal(w.brand, "other.one");
	assert_string_equal(w.arch, "");
	assert_int_equal(count(&w, TACT_COUNT_MEASUREMENTS), 4);
	end(&w);
}

/* Rows that name their machine: each is stored once. */
TEST(test_machines)
{
	struct tact_imported n;
	struct world w;

	begin(&w, "m.csv",
	      "hex,mode,init,cycles_per_iteration,machine,vendor,family,cpu_model,stepping,arch\n"
	      "4801d8,unroll,same,1,one,v,6,1,1,SKL\n"
	      "4829d8,unroll,same,1,two,v,6,1,1,SKL\n"
	      "4831d8,unroll,same,1,one,v,6,1,1,SKL\n");
	assert_int_equal(import(&w, "unused", NULL, &n), 0);
	assert_int_equal(n.measurements, 3);
	assert_int_equal(count(&w, TACT_COUNT_MEASUREMENTS), 3);
	end(&w);
}

TEST(test_empty)
{
	struct tact_imported n;
	struct world w;

	begin(&w, "empty.csv", "hex,app,weight\n");
	assert_int_equal(import(&w, NULL, NULL, &n), 0);
	assert_int_equal(n.rows, 0);
	assert_int_equal(count(&w, TACT_COUNT_BLOCKS), 0);
	end(&w);
}

TEST(test_bad)
{
	struct tact_diag diag = {0};
	struct tact_imported n;
	struct world w;

	begin(&w, "list.csv", "4801d8\n");
	assert_int_equal(tact_store_import_file(NULL, w.file, NULL, &n, &diag), -TACT_E_INVAL);
	assert_int_equal(tact_store_import_file(w.store, NULL, NULL, &n, &diag), -TACT_E_INVAL);
	assert_int_equal(tact_store_import_file(w.store, w.file, NULL, NULL, &diag), -TACT_E_INVAL);
	assert_int_equal(tact_store_import_file(w.store, "/no/such/file", NULL, &n, &diag),
			 -TACT_E_IO);
	assert_false(n.is_opened);
	assert_true(diag.text[0] != '\0');

	/* A store that cannot be written. */
	assert_int_equal(tact_store_import_file(w.store, w.file, NULL, &n, NULL), 0);
	tact_store_close(w.store);
	assert_int_equal(tact_store_open(&w.store, w.path, TACT_STORE_READONLY, NULL), 0);
	assert_true(tact_store_import_file(w.store, w.file, NULL, &n, &diag) < 0);
	assert_true(n.is_opened);
	assert_true(n.is_store_failed);
	end(&w);
}

RUN_TESTS(NULL, NULL)
