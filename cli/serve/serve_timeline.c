/* SPDX-License-Identifier: MIT
 *
 * What disassemblers show beside an instruction: when it starts and ends, and what presses.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/output.h"
#include "serve.h"

/* What an instruction of an iteration did: of all its uops. */
struct span {
	json_int_t issued, dispatched, executed, retired; /* cycles; -1: none */
	unsigned uops, waits;				  /* bits of `reasons` */
};

static const char *const reasons[] = {"operand", "store", "port", "divider"};
enum { N_REASONS = sizeof(reasons) / sizeof(reasons[0]), PRESSURES = 1 << 2 | 1 << 3 };

static json_int_t number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_integer(value) ? json_integer_value(value) : -1;
}

static json_int_t earlier(json_int_t a, json_int_t b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

static json_int_t later(json_int_t a, json_int_t b)
{
	return a > b ? a : b;
}

static unsigned reason_of(const json_t *uop, const char *key)
{
	const char *name = json_string_value(json_object_get(uop, key));

	for (unsigned i = 0; name && i < N_REASONS; i++)
		if (!strcmp(name, reasons[i]))
			return 1u << i;
	return 0;
}

static void add_uop(struct span *s, const json_t *uop)
{
	s->issued = earlier(s->issued, number(uop, "issued"));
	s->dispatched = earlier(s->dispatched, number(uop, "dispatched"));
	s->executed = later(s->executed, number(uop, "executed"));
	s->retired = later(s->retired, number(uop, "retired"));
	s->waits |= reason_of(uop, "operand_wait") | reason_of(uop, "port_wait");
	s->uops++;
}

static void put_cycle(struct json *json, const char *key, json_int_t cycle, json_int_t zero)
{
	if (cycle < 0)
		json_put_null(json, key);
	else
		json_put_integer(json, key, cycle - zero);
}

static void put_ports(struct json *json, const json_t *insn)
{
	json_t *ports = json_object_get(insn, "ports"), *value;
	const char *name;

	json_begin_object(json, "pressure");
	json_object_foreach(ports, name, value)
	{
		json_put_key(json, name, strlen(name));
		json_put_number(json, NULL, json_number_value(value));
	}
	json_end(json);
}

static void put_span(struct json *json, const struct span *s, json_int_t zero)
{
	put_cycle(json, "start", s->issued, zero);
	put_cycle(json, "dispatched", s->dispatched, zero);
	put_cycle(json, "executed", s->executed, zero);
	put_cycle(json, "end", s->retired, zero);
	json_put_count(json, "uops", s->uops);
	json_put_bool(json, "under_pressure", s->waits & PRESSURES);
	json_begin_array(json, "waits");
	for (unsigned i = 0; i < N_REASONS; i++)
		if (s->waits >> i & 1)
			json_put_string(json, NULL, reasons[i]);
	json_end(json);
}

/* A field of the simulation, as it is. */
static void copy(struct json *json, const json_t *from, const char *key)
{
	json_t *value = json_object_get(from, key);
	char *text =
		value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(6))
		      : NULL;

	if (text) {
		json_begin_value(json, key);
		text_add(json->out, text);
	}
	free(text);
}

/* The rows: instructions in order, iteration by iteration. */
static void put_rows(struct json *json, const json_t *root, const struct span *spans, size_t n,
		     json_int_t first, size_t iterations, json_int_t zero)
{
	const json_t *insns = json_object_get(root, "instructions");
	const json_int_t address = number(root, "address");

	json_begin_array(json, "instructions");
	for (size_t i = 0; i < n * iterations; i++) {
		const json_t *insn = json_array_get(insns, i % n);

		json_begin_object(json, NULL);
		json_put_count(json, "iteration", (uint64_t)first + i / n);
		json_put_count(json, "instruction", i % n);
		copy(json, insn, "offset");
		if (address >= 0)
			json_put_integer(json, "address", address + number(insn, "offset"));
		copy(json, insn, "hex");
		copy(json, insn, "text");
		put_span(json, &spans[i], zero);
		put_ports(json, insn);
		json_end(json);
	}
	json_end(json);
}

static void put_head(struct json *json, const json_t *root)
{
	static const char *const keys[] = {
		"file",	    "line",	   "name",	"function",
		"symbol",   "source",	   "address",	"loop",
		"hex",	    "arch",	   "verified",	"status",
		"error",    "mode",	   "alignment", "cycles_per_iteration",
		"coverage", "bottlenecks", "remarks"};

	json_begin_object(json, NULL);
	json_put_string(json, "schema", "tact.timeline/1");
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		copy(json, root, keys[i]);
}

static bool put_spans(struct json *json, const json_t *root, const json_t *uops, size_t n)
{
	const json_int_t first = number(json_array_get(uops, 0), "iteration");
	const json_int_t last =
		number(json_array_get(uops, json_array_size(uops) - 1), "iteration");
	const size_t iterations = last >= first ? (size_t)(last - first) + 1 : 1;
	struct span *spans = calloc(n * iterations, sizeof(*spans));
	json_int_t zero = -1;
	const json_t *uop;
	size_t i;

	if (!spans)
		return false;
	for (i = 0; i < n * iterations; i++)
		spans[i] = (struct span){
			.issued = -1, .dispatched = -1, .executed = -1, .retired = -1};
	json_array_foreach(uops, i, uop)
	{
		const json_int_t iteration = number(uop, "iteration"),
				 insn = number(uop, "instruction");

		if (iteration < first || iteration > last || insn < 0 || (size_t)insn >= n)
			continue;
		add_uop(&spans[(size_t)(iteration - first) * n + (size_t)insn], uop);
		zero = earlier(zero, number(uop, "issued"));
	}
	put_rows(json, root, spans, n, first, iterations, zero < 0 ? 0 : zero);
	free(spans);
	return true;
}

bool serve_timeline(const char *line, size_t size, struct text *out)
{
	json_t *root = json_loadb(line, size, 0, NULL);
	const json_t *uops = json_object_get(root, "timeline");
	const size_t n = json_array_size(json_object_get(root, "instructions"));
	struct json json = {.out = out};
	bool is_good = root != NULL;

	if (is_good) {
		put_head(&json, root);
		if (n && json_array_size(uops))
			is_good = put_spans(&json, root, uops, n);
		while (json.depth)
			json_end(&json);
	}
	json_decref(root);
	return is_good;
}
