/* SPDX-License-Identifier: MIT
 *
 * Views of results: JSON, explanations, graphs and timelines of small blocks.
 */
#include <stdlib.h>
#include <string.h>

#include "testing.h"

#include <tact-program/drawing.h>
#include <tact/arch.h>
#include <tact/view.h>

#include "support.h"
#include "view/view.h"

/* imul rax, rbx; add rax, rbx: a chain of four cycles. */
static const uint8_t chain[] = {0x48, 0x0f, 0xaf, 0xc3, 0x48, 0x01, 0xd8};

struct fixture {
	struct models models;
	struct tact_prediction prediction;
	struct tact_simulation simulation;
	struct tact_view view;
};

static int setup(void **state)
{
	static struct fixture fixture;
	struct fixture *f = &fixture;
	struct models *m = &f->models;

	memset(f, 0, sizeof(*f));
	models_open(m);
	assert_int_equal(tact_block_load(m->block, chain, sizeof(chain), NULL), 0);
	f->prediction.size = sizeof(f->prediction);
	assert_true(tact_predict(m->block, NULL, &f->prediction) >= 0);
	f->simulation.size = sizeof(f->simulation);
	assert_true(tact_simulate(m->simulator, m->block, NULL, &f->simulation) >= 0);
	f->view = (struct tact_view){.size = sizeof(f->view),
				     .block = m->block,
				     .arch = tact_arch_find("SKL"),
				     .prediction = &f->prediction,
				     .simulator = m->simulator,
				     .simulation = &f->simulation};
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	models_close(&f->models);
	return 0;
}

static char *make(const struct tact_view *view, enum tact_view_kind kind)
{
	char *text = NULL;
	size_t size = 0;

	assert_int_equal(tact_view_make(view, kind, &text, &size), 0);
	assert_non_null(text);
	assert_int_equal(strlen(text), size);
	return text;
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("there is no '%s' in: %.400s", part, text);
}

TEST_WITH(test_prediction, setup, teardown)
{
	struct fixture *f = *state;
	struct tact_region region = {.size = sizeof(region),
				     .code = chain,
				     .code_size = sizeof(chain),
				     .name = "kernel",
				     .function = "",
				     .source = "a.c:3",
				     .text = ""};
	struct tact_predict_options all = {.size = sizeof(all)};
	char *text = make(&f->view, TACT_VIEW_PREDICTION);

	assert_has(text, "{\"schema\":\"tact.predict/"
			 "1\",\"arch\":\"SKL\",\"verified\":true,\"mode\":\"unroll\","
			 "\"alignment\":0,\"status\":\"ok\",\"cycles_per_iteration\":4.00,");
	assert_has(text, "\"model\":\"facile\",\"bottlenecks\":[\"Dependencies\"],\"bounds\":{");
	assert_has(text, "\"hex\":\"480fafc3\",\"text\":\"imul rax, rbx\"");
	assert_has(text, "\"chain\":{\"latency\":4,\"iterations\":1,");
	assert_null(strstr(text, "idealized"));
	assert_null(strstr(text, "facile_cycles"));
	assert_string_equal(text + strlen(text) - 2, "}\n");
	free(text);

	f->view.region = &region;
	f->view.file = "a.s";
	f->view.model = "mca";
	f->view.facile_cycles = 2.5;
	f->view.idealization = &all;
	text = make(&f->view, TACT_VIEW_PREDICTION);
	assert_has(text, "\"file\":\"a.s\",\"name\":\"kernel\",\"source\":\"a.c:3\","
			 "\"hex\":\"480fafc34801d8\",\"arch\"");
	assert_has(text, "\"facile_cycles_per_iteration\":2.50");
	assert_has(text, "\"idealized\":{");
	free(text);
}

TEST_WITH(remarks_are_a_list_in_json, setup, teardown)
{
	static const char list[] = "\"remarks\":[{\"name\":\"calls-excluded\",\"text\":\"2 "
				   "calls\"},{\"name\":\"one-path\",\"text\":\"a \\\"b\\\"\"}]";
	struct fixture *f = *state;
	char *text = make(&f->view, TACT_VIEW_PREDICTION);
	struct tact_remarks *remarks;

	assert_null(strstr(text, "remarks"));
	free(text);
	assert_int_equal(tact_remarks_create(&remarks), 0);
	f->view.remarks = remarks;
	text = make(&f->view, TACT_VIEW_PREDICTION);
	assert_null(strstr(text, "remarks"));
	free(text);
	assert_int_equal(tact_remarks_add(remarks, "calls-excluded", "%d calls", 2), 0);
	assert_int_equal(tact_remarks_add(remarks, "one-path", "a \"%s\"", "b"), 0);
	for (int kind = TACT_VIEW_PREDICTION; kind <= (int)TACT_VIEW_PAGE; kind++) {
		text = make(&f->view, (enum tact_view_kind)kind);
		assert_has(text, list);
		free(text);
	}
	f->view.status = "decode_error";
	text = make(&f->view, TACT_VIEW_PREDICTION);
	assert_has(text, list);
	free(text);
	tact_remarks_destroy(remarks);
}

TEST_WITH(test_failure, setup, teardown)
{
	struct fixture *f = *state;
	char *text;

	f->view.prediction = NULL;
	f->view.simulation = NULL;
	f->view.status = "decode_error";
	f->view.error = "a \"bad\" byte";
	text = make(&f->view, TACT_VIEW_PREDICTION);
	assert_string_equal(text,
			    "{\"schema\":\"tact.predict/1\",\"arch\":\"SKL\",\"verified\":true,"
			    "\"status\":\"decode_error\",\"error\":\"a \\\"bad\\\" byte\"}\n");
	free(text);
	text = make(&f->view, TACT_VIEW_SIMULATION);
	assert_has(text, "\"schema\":\"tact.simulate/1\"");
	free(text);
}

/* The text of a view begins and ends with these, and has all of the parts. */
static void expect(const struct tact_view *view, enum tact_view_kind kind, const char *begin,
		   const char *end, const char *const *parts)
{
	char *text = make(view, kind);

	assert_int_equal(strncmp(text, begin, strlen(begin)), 0);
	assert_true(strlen(text) >= strlen(end));
	assert_string_equal(text + strlen(text) - strlen(end), end);
	for (; *parts; parts++)
		assert_has(text, *parts);
	free(text);
}

#define PARTS(...) ((const char *const[]){__VA_ARGS__, NULL})

TEST_WITH(test_simulation, setup, teardown)
{
	struct fixture *f = *state;

	f->view.with_timeline = true;
	f->view.iterations = 2;
	expect(&f->view, TACT_VIEW_SIMULATION, "", "",
	       PARTS("\"schema\":\"tact.simulate/1\"",
		     "\"period\":", "\"timeline\":[{\"iteration\":", "\"waits_for\":"));
	expect(&f->view, TACT_VIEW_PAGE, "", "}",
	       PARTS("{\"schema\":\"tact.simulate.page/1\",\"file\":\"\",\"name\":\"\"",
		     "\"uops\":[\n[", "\"steady\":true"));
}

TEST_WITH(test_explanation, setup, teardown)
{
	struct fixture *f = *state;
	char *text;

	f->view.bold = "<";
	f->view.plain = ">";
	expect(&f->view, TACT_VIEW_EXPLANATION, "", "",
	       PARTS("<Dependencies>: a chain that takes 4 cycles for 1 iteration",
		     "imul rax, rbx"));
	f->prediction.bottlenecks = 0;
	text = make(&f->view, TACT_VIEW_EXPLANATION);
	assert_string_equal(text, "");
	free(text);
}

TEST_WITH(test_graph, setup, teardown)
{
	struct fixture *f = *state;

	expect(&f->view, TACT_VIEW_GRAPH_DOT, "", "",
	       PARTS("digraph block {", "SKL, unroll: dependencies allow 4.00 cycles per iteration",
		     "i0 -> i1 [label=\"rax 3\"", "color=red"));
	expect(&f->view, TACT_VIEW_GRAPH_SVG, "", "</svg>\n",
	       PARTS("<svg xmlns=", "class=\"edge critical\""));
}

TEST_WITH(test_timelines, setup, teardown)
{
	struct fixture *f = *state;
	char *text = make(&f->view, TACT_VIEW_CHART);

	assert_null(strstr(text, "\033["));
	free(text);
	expect(&f->view, TACT_VIEW_CHART, "", "",
	       PARTS("Timeline of iterations ", "#2 (add)", "E executed"));
	f->view.in_color = true;
	f->view.from = 1;
	expect(&f->view, TACT_VIEW_CHART, "", "",
	       PARTS("of iterations 1 to 3, as asked for", "\033[0;"));
	expect(&f->view, TACT_VIEW_PERFETTO, "", "\n]}\n",
	       PARTS("{\"displayTimeUnit\":\"ns\"", "\n{\"ph\":\"X\",\"name\":\"executing\"",
		     "{\"ph\":\"f\",\"bp\":\"e\""));
	expect(&f->view, TACT_VIEW_KONATA, "Kanata\t0004\n", "", PARTS("\nR\t0\t0\t0\n"));
}

/* What is missing is refused, and nothing is written. */
TEST_WITH(test_refused, setup, teardown)
{
	struct fixture *f = *state;
	struct tact_view none = {.size = sizeof(none)};
	char *text = NULL;

	assert_int_equal(tact_view_make(NULL, TACT_VIEW_CHART, &text, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_view_make(&none, TACT_VIEW_CHART, &text, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_view_make(&f->view, TACT_N_VIEWS, &text, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_view_make(&f->view, TACT_VIEW_CHART, NULL, NULL), -TACT_E_INVAL);
	f->view.simulation = NULL;
	assert_int_equal(tact_view_make(&f->view, TACT_VIEW_KONATA, &text, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_view_make(&f->view, TACT_VIEW_SIMULATION, &text, NULL),
			 -TACT_E_INVAL);
	f->view.prediction = NULL;
	assert_int_equal(tact_view_make(&f->view, TACT_VIEW_GRAPH_SVG, &text, NULL), -TACT_E_INVAL);
	assert_null(text);
}

TEST_WITH(test_idealized, setup, teardown)
{
	struct fixture *f = *state;
	struct tact_predict_options only = {.size = sizeof(only),
					    .bounds = 1u << TACT_BOUND_PRECEDENCE};
	double cycles = 0;

	assert_true(tact_view_idealized(f->models.block, NULL, TACT_BOUND_PRECEDENCE, &cycles));
	assert_true(cycles > 0 && cycles < 4);
	assert_true(tact_view_idealized(f->models.block, NULL, TACT_BOUND_PORTS, &cycles));
	assert_true(cycles == 4);
	assert_false(tact_view_idealized(f->models.block, &only, TACT_BOUND_PRECEDENCE, &cycles));
	assert_false(tact_view_idealized(f->models.block, NULL, TACT_N_BOUNDS, &cycles));
	assert_false(tact_view_idealized(NULL, NULL, TACT_BOUND_PORTS, &cycles));
}

TEST_WITH(test_listing, setup, teardown)
{
	struct fixture *f = *state;
	struct tact_listing listing;

	assert_int_equal(tact_listing_init(&listing, f->models.block, 0x1000), 0);
	assert_int_equal(listing.n, 2);
	assert_string_equal(listing.line[1], "add rax, rbx");
	assert_int_equal(listing.widest, strlen("imul rax, rbx"));
	tact_listing_fini(&listing);
	assert_null(listing.line);
	assert_string_equal(tact_view_bottleneck_name(TACT_VIEW_SCHEDULING), "Scheduling");
	assert_string_equal(tact_view_bottleneck_name(TACT_BOUND_PORTS), "Ports");
}

/* A uop that is delivered at 10, issued at 12, ready at 14, runs from 15 to 18, retires at 20. */
TEST_WITH(test_letters, setup, teardown)
{
	struct tact_sim_uop u = {.delivered = 10,
				 .issued = 12,
				 .ready = 14,
				 .dispatched = 15,
				 .executed = 18,
				 .retired = 20};
	bool occurs[256] = {['I'] = true, ['R'] = true};
	char row[13] = {0}, *legend;
	int64_t begin, end;
	struct reason reasons[MAX_REASONS];

	u.port = 1;
	u.operand_wait = TACT_WAIT_OPERAND;
	u.port_wait = TACT_WAIT_PORT;
	u.wait_insn = UINT32_MAX;
	for (int64_t c = 9; c < 21; c++)
		row[c - 9] = tact_view_letter(&u, c);
	assert_string_equal(row, " D.I=peeeE-R");
	assert_true(timeline_phase(&u, PHASE_RS, &begin, &end));
	assert_true(begin == 12 && end == 15);
	assert_int_equal(timeline_reasons(&u, reasons), 2);
	assert_int_equal(reasons[0].wait, TACT_WAIT_OPERAND);
	assert_int_equal(reasons[0].cycles, 2);
	assert_false(timeline_waits_for_insn(&u));
	legend = tact_view_legend(occurs, NULL);
	assert_string_equal(legend, "\n  I issued  R retired\n");
	free(legend);
}

RUN_TESTS(NULL, NULL)
