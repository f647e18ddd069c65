/* SPDX-License-Identifier: MIT
 *
 * Ports and latencies as they are written in tables and parameter files.
 */
#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include "arch/notation.h"
#include "support.h"

TEST(ports_are_read)
{
	struct arch_port_use list[ARCH_MAX_PORT_USES];

	assert_int_equal(notation_read_ports(list, "-", NULL), 0);
	assert_int_equal(list[0].count, 0);
	assert_int_equal(notation_read_ports(list, "", NULL), 0);
	assert_int_equal(notation_read_ports(list, "1*p0156+99999*p2F", NULL), 2);
	assert_int_equal(list[0].mask, 0x63);
	assert_int_equal(list[0].count, 1);
	assert_int_equal(list[1].mask, 0x8004);
	assert_int_equal(list[1].count, ARCH_COUNT_MAX);
	assert_int_equal(list[2].count, 0);
	for (unsigned port = 0; port < TACT_MAX_PORTS; port++) {
		const char text[] = {'3', '*', 'p', notation_port(port), 0};

		assert_int_equal(notation_read_ports(list, text, NULL), 1);
		assert_int_equal(list[0].mask, 1u << port);
	}
}

/* "1*p0+1*p0+...": n uses. */
static int read_many(size_t n, struct tact_diag *diag)
{
	struct arch_port_use list[ARCH_MAX_PORT_USES];
	char text[8 * ARCH_MAX_PORT_USES] = "";

	for (size_t i = 0; i < n; i++)
		strcat(text, i ? "+1*p0" : "1*p0");
	return notation_read_ports(list, text, diag);
}

TEST(lists_have_an_end)
{
	struct tact_diag diag;

	assert_int_equal(read_many(ARCH_MAX_PORT_USES - 1, NULL), ARCH_MAX_PORT_USES - 1);
	assert_int_equal(read_many(ARCH_MAX_PORT_USES, &diag), -TACT_E_FORMAT);
	assert_non_null(strstr(diag.text, "more than"));
}

static int read_ports(const char *text, struct tact_diag *diag)
{
	struct arch_port_use list[ARCH_MAX_PORT_USES];

	return notation_read_ports(list, text, diag);
}

static int read_latencies(const char *text, struct tact_diag *diag)
{
	struct arch_latency list[ARCH_MAX_LATENCIES];

	return notation_read_latencies(list, text, diag);
}

static void expect_refused(int (*read)(const char *text, struct tact_diag *diag),
			   const char *const *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct tact_diag diag = {.text = ""};

		if (read(rows[i], &diag) != -TACT_E_FORMAT)
			fail_msg("accepted: %s", rows[i]);
		assert_non_null(strstr(diag.text, rows[i]));
	}
}

TEST(bad_ports_are_refused)
{
	static const char *const rows[] = {"p01", "0*p01", "1*p",    "1*p0x",  "x*p0",
					   "1p0", "1*p0+", "+1*p0",  "1*p0++", "1*q0",
					   "*p0", "-1*p0", "1*p0 p1"};

	expect_refused(read_ports, rows, ARRAY_SIZE(rows));
}

TEST(latencies_are_read)
{
	struct arch_latency list[ARCH_MAX_LATENCIES];

	assert_int_equal(notation_read_latencies(list, "-", NULL), 0);
	assert_int_equal(list[0].from, ARCH_OP_END);
	assert_int_equal(
		notation_read_latencies(list, "r1>r0:1 m0.b>m0:5,m1.i>r2:99999 a.b>r0:0", NULL), 4);
	assert_int_equal(list[0].from, ARCH_OP_REG | 1);
	assert_int_equal(list[0].to, ARCH_OP_REG | 0);
	assert_int_equal(list[0].cycles, 1);
	assert_int_equal(list[1].from, ARCH_OP_BASE | 0);
	assert_int_equal(list[1].to, ARCH_OP_MEM | 0);
	assert_int_equal(list[2].from, ARCH_OP_INDEX | 1);
	assert_int_equal(list[2].cycles, ARCH_COUNT_MAX);
	assert_int_equal(list[3].from, ARCH_OP_BASE | ARCH_OP_AGEN);
	assert_int_equal(list[4].from, ARCH_OP_END);
}

TEST(bad_latencies_are_refused)
{
	static const char *const rows[] = {
		"r0",	     "r0>",	"r0>r0",    "r0>r0:",	       "r0>r0:x", "m0>r0:1",
		"m0.x>r0:1", "x0>r0:1", "r0>r0:1,", "r0>r0:1;r1>r0:1", "r0<r0:1", "r>r0:1"};

	expect_refused(read_latencies, rows, ARRAY_SIZE(rows));
}

RUN_TESTS(NULL, NULL)
