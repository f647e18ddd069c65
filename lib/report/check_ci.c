/* SPDX-License-Identifier: MIT
 *
 * Code and its baseline for the machines of continuous integration: SARIF 2.1.0 (OASIS standard,
 * sections named below) and JUnit's XML.
 */
#include <stdlib.h>
#include <string.h>

#include <tact/version.h>

#include "check/check.h"
#include "report/report.h"

/* ---- SARIF ---- */

enum rule {
	RULE_OVER,
	RULE_SLOWER,
	RULE_NEW,
	RULE_GONE,
	RULE_RENAMED,
	RULE_NO_DATA,
	RULE_FAILED,
	N_RULES
};

static const struct {
	const char *id, *level, *help;
} rules[N_RULES] = {
	[RULE_OVER] = {"tact/over-limit", "error", "Code takes more cycles than allowed."},
	[RULE_SLOWER] = {"tact/slower", "note",
			 "Code takes more cycles, but not more than allowed."},
	[RULE_NEW] = {"tact/new", "note", "Code is not in the baseline."},
	[RULE_GONE] = {"tact/gone", "note", "Code of the baseline is not there any more."},
	[RULE_RENAMED] = {"tact/renamed", "note", "The function had another name."},
	[RULE_NO_DATA] = {"tact/no-data", "warning",
			  "The cycles are a lower bound: some instructions have no data."},
	[RULE_FAILED] = {"tact/failed", "error", "There is no prediction."},
};

static void put_message(struct json *json, const char *text, size_t size)
{
	json_begin_object(json, "message");
	json_put_bytes(json, "text", text, size);
	json_end(json);
}

/* Puts a path as a URI reference (RFC 3986): what is no letter, digit or one of "-._~/" is encoded. */
static void put_uri(struct json *json, const char *path, size_t size)
{
	struct text uri = {0};

	if (size && *path == '/')
		text_add(&uri, "file://");
	for (size_t i = 0; i < size; i++) {
		const unsigned char c = (unsigned char)path[i];

		if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		    (c && strchr("-._~/", c)))
			text_add_bytes(&uri, &c, 1);
		else
			text_printf(&uri, "%%%02X", c);
	}
	json_put_bytes(json, "uri", uri.size ? uri.data : "", uri.size);
	json->out->failed |= uri.failed;
	text_free(&uri);
}

/* The line of "file.c:12"; 0: none. */
static unsigned long line_of(const char *source)
{
	const char *colon = strrchr(source, ':');
	const unsigned long line = colon ? strtoul(colon + 1, NULL, 10) : 0;

	return line < 1ul << 30 ? line : 0;
}

/* 3.27.12: the source line if debug information tells it, otherwise the file that was checked. */
static void put_location(struct json *json, const struct check_section *s,
			 const struct code_piece *piece)
{
	const char *path = s->file;
	size_t size = strlen(path);
	unsigned long line = piece ? (unsigned long)piece->line : 0;

	if (piece && *piece->source_path) {
		path = piece->source_path;
		size = strlen(path);
		line = line_of(piece->source);
	}
	json_begin_array(json, "locations");
	json_begin_object(json, NULL);
	json_begin_object(json, "physicalLocation");
	json_begin_object(json, "artifactLocation");
	put_uri(json, path, size);
	json_end(json);
	if (line) {
		json_begin_object(json, "region");
		json_put_count(json, "startLine", line);
		json_end(json);
	}
	json_end(json);
	if (piece && *piece->function) {
		json_begin_array(json, "logicalLocations");
		json_begin_object(json, NULL);
		json_put_string(json, "name", piece->function);
		json_put_string(json, "kind", "function");
		json_end(json);
		json_end(json);
	}
	json_end(json);
	json_end(json);
}

/* What stays the same when code moves: section, function, CPU and rule (3.27.17). */
static void put_fingerprint(struct json *json, const struct check_row *row, enum rule rule)
{
	const struct code_piece *piece = check_piece(row);

	json_begin_object(json, "partialFingerprints");
	json_printf_string(json, "tactCode/v1", "%s/%s/%s/%s", row->section->name,
			   *piece->function ? piece->function : piece->name,
			   tact_arch_name(row->section->archs[row->arch]), rules[rule].id);
	json_end(json);
}

static void put_result(struct json *json, const struct check_row *row, enum rule rule)
{
	struct text words = {0};

	report_check_sentence(&words, row);
	json_begin_object(json, NULL);
	json_put_string(json, "ruleId", rules[rule].id);
	json_put_count(json, "ruleIndex", (uint64_t)rule);
	json_put_string(json, "level", rules[rule].level);
	put_message(json, words.size ? words.data : "", words.size);
	put_location(json, row->section, check_piece(row));
	put_fingerprint(json, row, rule);
	json_end(json);
	json->out->failed |= words.failed;
	text_free(&words);
}

static void put_results(struct json *json, const struct check_row *row)
{
	static const int rule_of[N_CHECK_STATUSES] = {
		[CHECK_OVER] = RULE_OVER,     [CHECK_FAILED] = RULE_FAILED,
		[CHECK_SLOWER] = RULE_SLOWER, [CHECK_FASTER] = -1,
		[CHECK_NEW] = RULE_NEW,	      [CHECK_GONE] = RULE_GONE,
		[CHECK_UNKNOWN] = -1,	      [CHECK_SAME] = -1,
	};
	const int rule = rule_of[row->status];

	if (rule >= 0)
		put_result(json, row, (enum rule)rule);
	if (row->is_renamed)
		put_result(json, row, RULE_RENAMED);
	if (check_is_unsure(row))
		put_result(json, row, RULE_NO_DATA);
}

static void put_failure(struct json *json, const struct check_section *s)
{
	struct text words = {0};

	text_printf(&words, "[%s] could not be checked: %s", s->name, s->failure);
	json_begin_object(json, NULL);
	json_put_string(json, "ruleId", rules[RULE_FAILED].id);
	json_put_count(json, "ruleIndex", RULE_FAILED);
	json_put_string(json, "level", rules[RULE_FAILED].level);
	put_message(json, words.size ? words.data : "", words.size);
	put_location(json, s, NULL);
	json_end(json);
	json->out->failed |= words.failed;
	text_free(&words);
}

static void put_driver(struct json *json)
{
	json_begin_object(json, "tool");
	json_begin_object(json, "driver");
	json_put_string(json, "name", "tact");
	json_printf_string(json, "version", "%d.%d.%d", TACT_VERSION_MAJOR, TACT_VERSION_MINOR,
			   TACT_VERSION_PATCH);
	json_begin_array(json, "rules");
	for (size_t i = 0; i < N_RULES; i++) {
		json_begin_object(json, NULL);
		json_put_string(json, "id", rules[i].id);
		json_begin_object(json, "shortDescription");
		json_put_string(json, "text", rules[i].help);
		json_end(json);
		json_begin_object(json, "defaultConfiguration");
		json_put_string(json, "level", rules[i].level);
		json_end(json);
		json_end(json);
	}
	json_end(json);
	json_end(json);
	json_end(json);
}

/* 3.20: what is to be said of the run as a whole. */
static void put_invocation(struct json *json, const struct tact_codecheck *check)
{
	json_begin_array(json, "invocations");
	json_begin_object(json, NULL);
	json_put_bool(json, "executionSuccessful", !check->summary.n_files_failed);
	json_begin_array(json, "toolExecutionNotifications");
	for (size_t i = 0; i < tact_remarks_count(check->remarks); i++) {
		const char *words = tact_remarks_text(check->remarks, i);

		json_begin_object(json, NULL);
		json_put_string(json, "level", "note");
		json_begin_object(json, "descriptor");
		json_put_string(json, "id", tact_remarks_name(check->remarks, i));
		json_end(json);
		put_message(json, words, strlen(words));
		json_end(json);
	}
	json_end(json);
	json_end(json);
	json_end(json);
}

void report_check_sarif(struct report *report, const struct tact_check_report *r)
{
	const struct tact_codecheck *check = r->check;
	struct json json = {.out = &report->text};

	json_begin_object(&json, NULL);
	json_put_string(&json, "$schema",
			"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
			"sarif-schema-2.1.0.json");
	json_put_string(&json, "version", "2.1.0");
	json_begin_array(&json, "runs");
	json_begin_object(&json, NULL);
	put_driver(&json);
	put_invocation(&json, check);
	json_put_string(&json, "columnKind", "utf16CodeUnits");
	json_begin_array(&json, "results");
	for (size_t i = 0; i < check->n; i++)
		if (check->sections[i].failure)
			put_failure(&json, &check->sections[i]);
	for (size_t i = 0; i < check->n_rows; i++)
		put_results(&json, &check->rows[i]);
	json_end_line(&json);
}

/* ---- JUnit ---- */

static void add_case(struct text *out, const struct check_row *row)
{
	const struct code_piece *piece = check_piece(row);
	const bool is_over = row->status == CHECK_OVER, is_bad = row->status == CHECK_FAILED;
	const char *element = is_over ? "failure" : is_bad ? "error" : "skipped";
	struct text words = {0};

	text_add(out, "  <testcase classname=\"");
	text_xml(out, row->section->name);
	text_add(out, "\" name=\"");
	text_xml(out, *piece->name ? piece->name : "all code");
	text_printf(out, " on %s\"", tact_arch_name(row->section->archs[row->arch]));
	report_check_sentence(&words, row);
	if (!text_string(&words)) {
		out->failed = true;
	} else if (is_over || is_bad || row->status == CHECK_GONE || row->status == CHECK_UNKNOWN) {
		text_printf(out, "><%s message=\"", element);
		text_xml(out, words.data);
		text_add(out, "\"/></testcase>\n");
	} else {
		text_add(out, "><system-out>");
		text_xml(out, words.data);
		text_add(out, "</system-out></testcase>\n");
	}
	text_free(&words);
}

struct junit_counts {
	size_t n, failures, errors, skipped;
};

static struct junit_counts count(const struct tact_codecheck *check, const struct check_section *s)
{
	struct junit_counts c = {.n = s->failure != NULL, .errors = s->failure != NULL};

	for (size_t i = 0; i < check->n_rows; i++) {
		const enum check_status status = check->rows[i].status;

		if (check->rows[i].section != s)
			continue;
		c.n++;
		c.failures += status == CHECK_OVER;
		c.errors += status == CHECK_FAILED;
		c.skipped += status == CHECK_GONE || status == CHECK_UNKNOWN;
	}
	return c;
}

static void add_suite(struct report *report, const struct tact_codecheck *check,
		      const struct check_section *s)
{
	struct text *out = &report->text;
	const struct junit_counts c = count(check, s);

	text_add(out, " <testsuite name=\"");
	text_xml(out, s->name);
	text_printf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\">\n", c.n,
		    c.failures, c.errors, c.skipped);
	if (s->failure) {
		text_add(out, "  <testcase classname=\"");
		text_xml(out, s->name);
		text_add(out, "\" name=\"");
		text_xml(out, s->file);
		text_add(out, "\"><error message=\"");
		text_xml(out, s->failure);
		text_add(out, "\"/></testcase>\n");
	}
	for (size_t i = 0; i < check->n_rows && report_flush(report); i++)
		if (check->rows[i].section == s)
			add_case(out, &check->rows[i]);
	text_add(out, " </testsuite>\n");
}

void report_check_junit(struct report *report, const struct tact_check_report *r)
{
	struct text *out = &report->text;

	text_add(out,
		 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"tact check\">\n");
	for (size_t i = 0; i < r->check->n; i++)
		add_suite(report, r->check, &r->check->sections[i]);
	text_add(out, "</testsuites>\n");
}
