/* SPDX-License-Identifier: MIT
 *
 * The page without a server: one file with the page and the library, compiled to WebAssembly.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <tact/version.h>

#include "base/beside.h"
#include "common/cli.h"
#include "common/output.h"
#include "common/page.h"
#include "serve.h"

/* What 'make wasm' builds: elements with the script and the library. */
static const char LIBRARY[] = "tact_page.html";

/* Whatever is in the code that somebody gives it, the page asks nobody. */
static const char policy[] =
	"<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src "
	"'unsafe-inline'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; img-src data:; base-uri "
	"'none'; form-action 'none'\">\n";

static int read_file(const char *path, struct text *out)
{
	FILE *file = fopen(path, "r");
	size_t n = 1;

	while (file && n) {
		char *room = text_reserve(out, 1 << 16);

		n = room ? fread(room, 1, 1 << 16, file) : 0;
		out->size += n;
	}
	if (!file || ferror(file)) {
		cli_message("%s: %s", path, strerror(errno));
		n = 1;
	}
	if (file)
		fclose(file);
	return n ? CLI_FAILED : CLI_GOOD;
}

/* Adds text up to and with the mark, and returns what follows it. */
static const char *copy_past(struct text *out, const char *text, const char *mark)
{
	const char *end = strstr(text, mark);

	end = end ? end + strlen(mark) : text + strlen(text);
	text_add_bytes(out, text, (size_t)(end - text));
	return end;
}

static void make_page(struct text *out, const struct text *library)
{
	struct text page = {0}, data = {0};
	struct json json = {.out = &data};
	const char *rest;

	json_begin_object(&json, NULL);
	json_put_string(&json, "schema", "tact.serve.page/1");
	json_printf_string(&json, "version", "%d.%d.%d", TACT_VERSION_MAJOR, TACT_VERSION_MINOR,
			   TACT_VERSION_PATCH);
	json_put_bool(&json, "is_static", true);
	json_end_line(&json);
	page_write(&page_serve, &data, &page);
	rest = copy_past(out, cli_string(&page), "<meta charset='utf-8'>\n");
	text_add(out, policy);
	rest = copy_past(out, rest, "id='data'>\n");
	rest = copy_past(out, rest, "</script>\n");
	text_append(out, library);
	text_add(out, rest);
	text_free(&page);
	text_free(&data);
}

static int save(const char *folder, const struct text *page)
{
	struct text path = {0};
	struct output out;
	int status = CLI_FAILED;

	text_printf(&path, "%s/index.html", folder);
	if (mkdir(folder, 0777) && errno != EEXIST)
		cli_message("%s: %s", folder, strerror(errno));
	else if (!output_open(&out, cli_string(&path))) {
		output_sink(&out, page->data, page->size);
		status = output_close(&out) ? CLI_FAILED : CLI_GOOD;
	}
	text_free(&path);
	return status;
}

int serve_static(const char *folder, bool is_quiet)
{
	struct text library = {0}, page = {0};
	char path[PATH_MAX];
	int status;

	if (beside_find(LIBRARY, path, sizeof(path)) < 0) {
		cli_message("%s is missing, the library for pages: 'make wasm' builds it where "
			    "emscripten is installed (Debian: package emscripten)",
			    LIBRARY);
		return CLI_UNABLE;
	}
	status = read_file(path, &library);
	if (!status) {
		make_page(&page, &library);
		status = save(folder, &page);
	}
	if (!status && !is_quiet)
		cli_message("%s/index.html: a page of %zu KB that needs no server", folder,
			    page.size >> 10);
	text_free(&library);
	text_free(&page);
	return status;
}
