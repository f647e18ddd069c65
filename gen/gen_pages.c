/* SPDX-License-Identifier: MIT
 *
 * Turns the pages under web/ into C text: gen_pages WEB OUTPUT PAGE... SCRIPT.js...
 *
 * A page is an HTML file that works unchanged in a browser.  The files that it refers to,
 *	<link rel='stylesheet' href='FILE'>	<script src='FILE'></script>
 * each on its own line, are embedded, so that a page is one file and needs no other.  The line that
 * opens the element with the identifier `data` divides it: the program writes JSON there.
 *
 * A script alone becomes a string, for drawings.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const style[] = {"<link rel='stylesheet' href='", "'>", "<style>\n",
				    "</style>\n"};
static const char *const script[] = {"<script src='", "'></script>", "<script>\n", "</script>\n"};
static const char data_line[] = "<script type='application/json' id='data'>\n";

static void fail(const char *path, unsigned line, const char *why)
{
	if (line)
		fprintf(stderr, "gen_pages: %s:%u: %s\n", path, line, why);
	else
		fprintf(stderr, "gen_pages: %s: %s\n", path, why);
	exit(1);
}

static FILE *open_file(const char *folder, const char *name, char *path, size_t size)
{
	FILE *file;

	if ((size_t)snprintf(path, size, "%s/%s", folder, name) >= size)
		fail(name, 0, "the name is too long");
	file = fopen(path, "r");
	if (!file)
		fail(path, 0, strerror(errno));
	return file;
}

/* A line as a C string of its own. */
static void put_string(FILE *out, const char *text)
{
	fputs("\t\"", out);
	for (; *text; text++) {
		if (*text == '\n')
			fputs("\\n", out);
		else if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else if (*text == '?') /* no trigraphs */
			fputs("\\?", out);
		else
			fputc(*text, out);
	}
	fputs("\"\n", out);
}

/* The file between the lines that open and close an element. */
static void put_file(FILE *out, const char *folder, const char *name, const char *const *element)
{
	char path[512], line[1024];
	unsigned n = 0;
	FILE *file = open_file(folder, name, path, sizeof(path));

	put_string(out, element[2]);
	while (fgets(line, sizeof(line), file)) {
		n++;
		if (!strchr(line, '\n'))
			fail(path, n, "the line is too long, or has no end");
		if (strstr(line, "</script") || strstr(line, "</style") || strstr(line, "]]>"))
			fail(path, n, "this would end the element that the file goes into");
		put_string(out, line);
	}
	put_string(out, element[3]);
	fclose(file);
}

/* Whether the line takes a file in; its name replaces the line. */
static bool takes(char *line, const char *const *element)
{
	size_t n = strlen(element[0]);
	char *end;

	if (strncmp(line, element[0], n) != 0)
		return false;
	end = strstr(line + n, element[1]);
	if (!end)
		return false;
	*end = '\0';
	memmove(line, line + n, strlen(line + n) + 1);
	return true;
}

static void put_page(FILE *out, const char *folder, const char *page)
{
	char name[128], path[512], line[1024];
	bool is_divided = false;
	unsigned n = 0;
	FILE *file;

	snprintf(name, sizeof(name), "%s.html", page);
	file = open_file(folder, name, path, sizeof(path));
	fprintf(out, "\nconst struct page page_%s = {\n", page);
	while (fgets(line, sizeof(line), file)) {
		n++;
		if (!strchr(line, '\n'))
			fail(path, n, "the line is too long, or has no end");
		if (takes(line, style)) {
			put_file(out, folder, line, style);
		} else if (takes(line, script)) {
			put_file(out, folder, line, script);
		} else {
			put_string(out, line);
			if (strcmp(line, data_line) == 0) {
				fputs("\t,\n", out);
				is_divided = true;
			}
		}
	}
	fclose(file);
	if (!is_divided)
		fail(path, 0, "there is no line that opens the element of the data");
	fputs("};\n", out);
}

/* FILE.js becomes script_FILE. */
static void put_script(FILE *out, const char *folder, const char *name)
{
	static const char *const bare[] = {NULL, NULL, "", ""};

	fprintf(out, "\nconst char script_%.*s[] =\n", (int)strcspn(name, "."), name);
	put_file(out, folder, name, bare);
	fputs(";\n", out);
}

int main(int argc, char **argv)
{
	FILE *out;

	if (argc < 4) {
		fprintf(stderr, "usage: gen_pages WEB OUTPUT PAGE... SCRIPT.js...\n");
		return 2;
	}
	out = fopen(argv[2], "w");
	if (!out)
		fail(argv[2], 0, strerror(errno));
	fputs("/* Made by gen/gen_pages.c from web/: do not edit. */\n", out);
	for (int i = 3; i < argc; i++)
		if (strstr(argv[i], ".js"))
			put_script(out, argv[1], argv[i]);
		else
			put_page(out, argv[1], argv[i]);
	if (fclose(out) != 0)
		fail(argv[2], 0, strerror(errno));
	return 0;
}
