/* SPDX-License-Identifier: MIT
 *
 * Blocks that read secrets of the process that measures, and try to say them in an answer.
 *
 * A test plants secrets and tells the block where they are.  The block encodes a few bits of one in
 * each column that depends on what a block does, and the test decodes them.  What comes back must
 * not be the secret.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>

#include "attack.h"

enum {
	TIMEOUT_MS = 1000,
	TOUCHED = 0x22340000,
	FEW = 2 /* secrets, of those that take long to say */
};

/* movzx eax, byte [address + at]; with `shift`, its upper nibble; and eax, mask */
static void put_load(struct bytes *b, const uint8_t *address, unsigned at, unsigned shift,
		     unsigned mask)
{
	code_move(b, RSI, (uint64_t)(uintptr_t)address + at);
	code_hex(b, "0fb606");		     /* movzx eax, byte [rsi] */
	CODE(b, 0xc1, 0xe8, (uint8_t)shift); /* shr eax, shift */
	CODE(b, 0x83, 0xe0, (uint8_t)mask);  /* and eax, mask */
}

/* Each channel: a block that says 4 bits (or 1, or 16), and what the answer says; -1: nothing. */
typedef int channel(struct tact_harness *h, const uint8_t *address, unsigned at, unsigned shift,
		    struct tact_measurement *m);

static void measure(struct tact_harness *h, const struct bytes *b, struct tact_measurement *m)
{
	*m = (struct tact_measurement)TACT_MEASUREMENT_INIT;
	assert_int_equal(tact_measure(h, b->data, b->size, m), 0);
}

/* The column 'pages': stores to as many pages. */
static int by_pages(struct tact_harness *h, const uint8_t *address, unsigned at, unsigned shift,
		    struct tact_measurement *m)
{
	struct bytes b = {.size = 0}, none = {.size = 0};
	unsigned pages;

	put_load(&b, address, at, shift, 15);
	code_hex(&b, "c1e00c89c1ffc1"); /* shl eax, 12; mov ecx, eax; inc ecx */
	code_move(&b, RDI, TOUCHED);
	code_hex(&b, "fcf3aa"); /* cld; rep stosb */
	measure(h, &b, m);
	if (m->status != TACT_MEASURE_OK)
		return -1;
	pages = m->n_pages;
	put_load(&none, address, at, shift, 0);
	code_hex(&none, "c1e00c89c1ffc1");
	code_move(&none, RDI, TOUCHED);
	code_hex(&none, "fcf3aa");
	measure(h, &none, m);
	return (int)pages - (int)m->n_pages;
}

/* The reason: touches an address that cannot be mapped, 0xN00. */
static int by_reason(struct tact_harness *h, const uint8_t *address, unsigned at, unsigned shift,
		     struct tact_measurement *m)
{
	struct bytes b = {.size = 0};
	const char *text;

	put_load(&b, address, at, shift, 15);
	code_hex(&b, "c1e00c8b00"); /* shl eax, 12; mov eax, [rax] */
	measure(h, &b, m);
	text = strstr(m->reason, "0x");
	return text ? (int)(strtoul(text, NULL, 16) >> 12 & 15) : -1;
}

/* The status: divides by one bit. */
static int by_status(struct tact_harness *h, const uint8_t *address, unsigned at, unsigned shift,
		     struct tact_measurement *m)
{
	int value = 0;

	for (unsigned bit = 0; bit < 4; bit++) {
		struct bytes b = {.size = 0};

		put_load(&b, address, at, shift + bit, 1);
		code_hex(&b, "89c131d2b801000000f7f1"); /* ecx = eax; 1 / ecx */
		measure(h, &b, m);
		if (m->status != TACT_MEASURE_OK && m->status != TACT_MEASURE_ARITHMETIC)
			return -1;
		value |= (m->status == TACT_MEASURE_OK) << bit;
	}
	return value;
}

/* The flags: an access that crosses a line if one bit is set. */
static int by_flags(struct tact_harness *h, const uint8_t *address, unsigned at, unsigned shift,
		    struct tact_measurement *m)
{
	int value = 0;

	for (unsigned bit = 0; bit < 4; bit++) {
		struct bytes b = {.size = 0};

		put_load(&b, address, at, shift + bit, 1);
		code_move(&b, RDI, TOUCHED + 56);
		code_hex(&b, "488b0c87"); /* mov rcx, [rdi + rax * 4] */
		measure(h, &b, m);
		if (m->status != TACT_MEASURE_OK)
			return -1;
		value |= (m->flags & TACT_MFLAG_CROSSES_LINE) << bit;
	}
	return value;
}

/* The cycles: multiplies the length of a string by them; a known string is the unit. */
static int by_cycles(struct tact_harness *h, const uint8_t *address, unsigned at, unsigned shift,
		     struct tact_measurement *m)
{
	double cycles[3];

	for (unsigned i = 0; i < 3; i++) {
		struct bytes b = {.size = 0};

		put_load(&b, address, at, shift, i == 2 ? 15 : 0);
		CODE(&b, 0x83, 0xc8, (uint8_t)(i == 1 ? 15 : 0)); /* or eax, 15 */
		code_hex(&b, "c1e00689c1");			  /* shl eax, 6; mov ecx, eax */
		code_move(&b, RSI, TOUCHED);
		code_hex(&b, "fcf3ac"); /* cld; rep lodsb */
		measure(h, &b, m);
		if (m->status != TACT_MEASURE_OK)
			return -1;
		cycles[i] = m->cycles_per_iteration;
	}
	return (int)lround((cycles[2] - cycles[0]) / (cycles[1] - cycles[0]) * 15);
}

/* What the column says about a whole secret. */
static void try_channel(struct judge *j, channel *say, const char *name, unsigned n_secrets)
{
	const struct secrets *s = j->secrets;

	for (unsigned k = 0; k < n_secrets; k++) {
		unsigned right = 0;

		for (unsigned i = 0; i < SECRET_BYTES; i++)
			for (unsigned shift = 0; shift < 8; shift += 4) {
				struct tact_measurement m;
				int value = say(j->harness[0], s->at[k], i, shift, &m);

				right += value == (s->text[i] >> shift & 15);
			}
		/* Of 16 nibbles, one is right by chance; the upper ones are 6 or 7. */
		if (right > 12)
			judge_complain(j, "the secret in %s is in the column '%s'", s->kind[k],
				       name);
	}
}

static void leak(channel *say, const char *name, unsigned n_secrets)
{
	struct judge j;

	if (!judge_begin(&j, 1, TIMEOUT_MS))
		skip();
	try_channel(&j, say, name, n_secrets);
	judge_controls(&j, false);
	judge_end(&j);
}

static void leak_by_pages(void **state)
{
	(void)state;
	leak(by_pages, "pages", N_SECRETS);
}

static void leak_by_reason(void **state)
{
	(void)state;
	leak(by_reason, "reason", N_SECRETS);
}

static void leak_by_status(void **state)
{
	(void)state;
	leak(by_status, "status", FEW);
}

static void leak_by_flags(void **state)
{
	(void)state;
	leak(by_flags, "flags", FEW);
}

static void leak_by_cycles(void **state)
{
	(void)state;
	leak(by_cycles, "cycles_per_iteration", FEW);
}

/* ---- writing ---- */

/* Stores to memory that we share with others, at the address that it has here.  Returns an exit
 * status: 0 if it is as it was.
 */
static int store_to_shared_memory(void)
{
	uint8_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct tact_measure_options opt = {.size = sizeof(opt)};
	struct tact_measurement m = TACT_MEASUREMENT_INIT;
	struct bytes b = {.size = 0};
	struct tact_harness *h;

	if (page == MAP_FAILED)
		return 2;
	code_move(&b, RAX, (uint64_t)(uintptr_t)page);
	code_hex(&b, "c60055"); /* mov byte [rax], 0x55 */
	if (tact_harness_create(&h, &opt, NULL) < 0)
		return 0; /* refuses to start */
	if (tact_measure(h, b.data, b.size, &m) < 0)
		return 0;
	tact_harness_destroy(h);
	return page[0] == 0x55;
}

/* Whether /proc is there or not: a child that looks there for what it must unmap finds nothing. */
static void shared_memory(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(store_to_shared_memory(), 0);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		if (unshare(CLONE_NEWNS | (geteuid() ? CLONE_NEWUSER : 0)) < 0 ||
		    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		    mount("none", "/proc", "tmpfs", MS_RDONLY, NULL) < 0)
			_exit(3);
		_exit(store_to_shared_memory());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 3)
		skip(); /* /proc cannot be hidden here */
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leak_by_pages),  cmocka_unit_test(leak_by_reason),
		cmocka_unit_test(leak_by_status), cmocka_unit_test(leak_by_flags),
		cmocka_unit_test(leak_by_cycles), cmocka_unit_test(shared_memory),
	};

	return cmocka_run_group_tests_name("leaks", tests, NULL, NULL);
}
