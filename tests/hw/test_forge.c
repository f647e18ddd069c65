/* SPDX-License-Identifier: MIT
 *
 * Blocks that decide results: their own, and those of later blocks.  Each one here has succeeded
 * against some version of the harness; the addresses are those of that version.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "attack.h"

enum { TIMEOUT_MS = 1000, N_LATER = 40, INIT = 0x12345600 };

/* Where the child process of 0.9 had its orders and results. */
#define OLD_HOST 0x3f0000000000ull

/* ---- its own number ---- */

/* Adds to the time stamp of the beginning: 1.23 cycles instead of 24, or 2.6e17. */
static void own_number(void **state)
{
	static const char *const adds[] = {"830010", "830012", "83000f", "8300f0", "83680401"};
	static struct attack a;
	struct judge j;

	(void)state;
	if (!judge_begin(&j, 2, TIMEOUT_MS))
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(adds); i++)
		for (unsigned which = 0; which < j.n_harnesses; which++) {
			struct tact_measurement m = TACT_MEASUREMENT_INIT;

			a.code.size = 0;
			a.facts = ATTACK_CHAIN;
			code_hex(&a.code, "48b808000000003f0000"); /* mov rax, OLD_HOST + 8 */
			code_hex(&a.code, adds[i]);		   /* add dword [rax], ... */
			code_chain(&a.code);
			snprintf(a.what, sizeof(a.what), "%s at the time stamp", adds[i]);
			judge_attack(&j, which, &a);
			assert_int_equal(
				tact_measure(j.harness[which], a.code.data, a.code.size, &m), 0);
			if (m.status == TACT_MEASURE_OK && m.cycles_per_iteration > 40)
				judge_complain(&j, "%s: %g cycles", a.what, m.cycles_per_iteration);
			judge_control(&j, which);
		}
	judge_end(&j);
}

/* Adds powers of two to each word around the one that held the time stamps, in memory and on
 * whatever page may hold them now.
 */
static void words_around_stamps(void **state)
{
	static struct attack a;
	struct judge j;

	(void)state;
	if (!judge_begin(&j, 2, TIMEOUT_MS))
		skip();
	for (uint64_t offset = 0; offset < 0x70; offset += 4)
		for (unsigned bit = 0; bit < 31; bit += 3) {
			uint32_t value = 1u << bit;

			a.facts = ATTACK_CHAIN;
			a.code.size = 0;
			code_move(&a.code, RAX, OLD_HOST + offset);
			CODE(&a.code, 0x81, 0x00); /* add dword [rax], value */
			put_bytes(&a.code, &value, sizeof(value));
			code_chain(&a.code);
			snprintf(a.what, sizeof(a.what), "adds 2^%u to word 0x%x of the old host",
				 bit, (unsigned)offset);
			judge_attack(&j, bit & 1, &a);
		}
	judge_controls(&j, false);
	judge_end(&j);
}

/* ---- its own number, by plain arithmetic ---- */

enum { PAGE_AT = 0x12345000, FIRST_AT = 0x12345a00, LOOP_LIMIT = 700 };

/* Where the first copy is in the code area: it says so itself, in a fault. */
static uint64_t find_body(struct tact_harness *h)
{
	struct tact_measurement m = TACT_MEASUREMENT_INIT;
	struct bytes b = {.size = 0};
	const char *text;

	code_hex(
		&b,
		"488d05f9ffffff0fb7c0488b00"); /* lea rax, [rip - 7]; movzx eax, ax; mov rax, [rax] */
	assert_int_equal(tact_measure(h, b.data, b.size, &m), 0);
	text = strstr(m.reason, "0x");
	return 0x200000000000 + (text ? strtoul(text, NULL, 16) : 0);
}

/* Knows which of the two runs it is in, by its address or by its own counter, and wastes time at
 * the start of the short one only: the difference is less than its iterations take.
 */
static void put_slow_start(struct bytes *b, uint64_t body, bool loop, uint32_t waste)
{
	const uint32_t limit = LOOP_LIMIT, first = FIRST_AT, page = PAGE_AT, init = INIT;

	if (loop) {
		code_hex(b, "4981f9"); /* cmp r9, limit; setb cl */
		put_bytes(b, &limit, 4);
		code_hex(b, "0f92c1");
	} else {
		code_hex(b, "488d05f9ffffff"); /* lea rax, [rip - 7] */
		code_move(b, RDI, body + 64);
		code_hex(b, "4839f80f97c1"); /* cmp rax, rdi; seta cl */
	}
	code_hex(b, "8b0425"); /* mov eax, [first] */
	put_bytes(b, &first, 4);
	code_hex(b,
		 "3d"); /* cmp eax, init; sete al; and cl, al: the first iteration of such a run */
	put_bytes(b, &init, 4);
	code_hex(b, "0f94c020c10fb6c969c9"); /* ...; movzx ecx, cl; imul ecx, ecx, waste */
	put_bytes(b, &waste, 4);
	code_hex(b, "be"); /* mov esi, page; rep lodsb */
	put_bytes(b, &page, 4);
	code_hex(b, "fcf3ac c70425"); /* mov dword [first], 1 */
	put_bytes(b, &first, 4);
	code_hex(b, "01000000");
	code_chain(b);
	if (loop) {
		uint8_t back[6] = {0x0f, 0x85};
		int32_t distance;

		code_hex(b, "49ffc9"); /* dec r9; jnz */
		distance = -(int32_t)(b->size + sizeof(back));
		memcpy(back + 2, &distance, 4);
		put_bytes(b, back, sizeof(back));
	}
}

static void slow_starts(void **state)
{
	static struct attack a;
	struct judge j;
	uint64_t body;

	(void)state;
	if (!judge_begin(&j, 2, TIMEOUT_MS))
		skip();
	body = find_body(j.harness[0]);
	for (uint32_t waste = 0; waste < 4096; waste += 128)
		for (unsigned which = 0; which < 2; which++) {
			a.code.size = 0;
			put_slow_start(&a.code, body, which == 1, waste);
			a.facts = ATTACK_CHAIN;
			snprintf(a.what, sizeof(a.what), "wastes %u bytes in the short %s",
				 (unsigned)waste, which ? "loop" : "run");
			judge_attack(&j, which, &a);
		}
	if (!j.by_status[TACT_MEASURE_OK]) {
		/* neighbours can take every number: then nothing was shown, and nothing is said */
		if (judge_met_noise(&j)) {
			judge_end(&j);
			skip();
		}
		judge_complain(&j, "without waste, it has no number either");
	}
	judge_end(&j);
}

/* ---- the numbers of later blocks ---- */

/* The old child kept its stack pointer in the first word of the host area, and its only system call
 * was 27 bytes before the address to which the emitted code returned.  [SLOT] keeps that address,
 * [SLOT + 8] the stack pointer.
 */
enum { FAKE_STACK = 0x12345800, SLOT = 0x12345900 };

/* Hidden code.  rbp: the host area; r12: the system call; [rsp + 8]: orders to serve */
#define HIDE(name, ...)                                                                            \
	extern const char name[], name##_end[];                                                    \
	__asm__(".pushsection .rodata\n" #name ":\n" __VA_ARGS__ #name "_end:\n.popsection\n")

#define HIDE_BEGIN                                                                                 \
	"mov $0x3f00, %ebp\n"                                                                      \
	"shl $32, %rbp\n"                                                                          \
	"mov $0x12345900, %esi\n"                                                                  \
	"mov (%rsi), %r12\n"                                                                       \
	"sub $27, %r12\n"

#define HIDE_ANSWER /* write(answer, rsp, 1) */                                                    \
	"mov $1, %eax\n"                                                                           \
	"mov 0x47934(%rbp), %edi\n"                                                                \
	"mov %rsp, %rsi\n"                                                                         \
	"mov $1, %edx\n"                                                                           \
	"call *%r12\n"

/* Stays, and answers every order with samples that say 7.00 cycles and a canary of r14d. */
#define HIDE_RESIDENT(canary, orders)                                                              \
	HIDE_BEGIN                                                                                 \
	"mov $" canary ", %r14d\n"                                                                 \
	"mov $" orders ", %r15d\n"                                                                 \
	"7: mov $0x98, %ebx\n"                                                                     \
	"mov (%rbp,%rbx), %rdx\n" /* counter_high - counter_low, times 7 */                        \
	"sub -8(%rbp,%rbx), %rdx\n"                                                                \
	"imul $7, %rdx, %rdx\n"                                                                    \
	"add $100, %rdx\n"                                                                         \
	"mov $100, %esi\n"                                                                         \
	"add $0x60, %ebx\n"                                                                        \
	"mov %rsi, (%rbp,%rbx)\n"  /* pilot_low */                                                 \
	"mov %rdx, 8(%rbp,%rbx)\n" /* pilot_high */                                                \
	"mov $12288, %eax\n"	   /* the clock: a tick is a cycle */                              \
	"mov %eax, 16(%rbp,%rbx)\n"                                                                \
	"mov $512, %ecx\n"                                                                         \
	"mov $0x918, %edi\n"                                                                       \
	"add %rbp, %rdi\n"                                                                         \
	"8: mov %eax, (%rdi)\n"                                                                    \
	"mov %eax, 4(%rdi)\n"                                                                      \
	"mov %r14d, 8(%rdi)\n"                                                                     \
	"mov %r14d, 12(%rdi)\n"                                                                    \
	"mov %rsi, 16(%rdi)\n"                                                                     \
	"mov %rdx, 24(%rdi)\n"                                                                     \
	"andl $0, 32(%rdi)\n"                                                                      \
	"add $40, %rdi\n"                                                                          \
	"dec %ecx\n"                                                                               \
	"jnz 8b\n"                                                                                 \
	"mov $0x47918, %edi\n" /* quiet */                                                         \
	"add %rbp, %rdi\n"                                                                         \
	"mov $3, %cl\n"                                                                            \
	"9: mov %r14d, (%rdi)\n"                                                                   \
	"mov %eax, 4(%rdi)\n"                                                                      \
	"add $8, %rdi\n"                                                                           \
	"dec %cl\n"                                                                                \
	"jnz 9b\n"                                                                                 \
	"mov %ecx, -0x1c(%rbp,%rbx)\n"	       /* outcome */                                       \
	"mov %ecx, -0x18(%rbp,%rbx)\n"	       /* n_pages */                                       \
		HIDE_ANSWER "mov $231, %eax\n" /* exit_group after the last order */               \
	"dec %r15d\n"                                                                              \
	"jz 6f\n"                                                                                  \
	"xor %eax, %eax\n" /* read(order, rsp, 1) */                                               \
	"mov 0x47930(%rbp), %edi\n"                                                                \
	"mov %rsp, %rsi\n"                                                                         \
	"mov $1, %edx\n"                                                                           \
	"6: call *%r12\n"                                                                          \
	"jmp 7b\n"

HIDE(resident, HIDE_RESIDENT("4000", "100000"));

/* The same, with a canary that no core can reach, and not for long. */
HIDE(poison, HIDE_RESIDENT("1", "20"));

/* Answers once more than it was asked, and goes back. */
HIDE(extra_answer, HIDE_BEGIN HIDE_ANSWER "mov $0x12345900, %esi\n"
					  "mov 8(%rsi), %rsp\n"
					  "ret\n");

/* Keeps what the old child has saved (only the first copy sees it), and lets the closing ret of the
 * emitted code enter the hidden instructions.
 */
static void put_hijack(struct bytes *b, const void *begin, const void *end)
{
	code_move(b, RCX, OLD_HOST);
	code_move(b, RSI, SLOT);
	code_move(b, RDI, INIT);
	code_hex(b, "4c8b01");	 /* mov r8, [rcx] */
	code_hex(b, "4d8b08");	 /* mov r9, [r8] */
	code_hex(b, "488b16");	 /* mov rdx, [rsi] */
	code_hex(b, "4839fa");	 /* cmp rdx, rdi: nothing is kept yet */
	code_hex(b, "490f44d1"); /* cmove rdx, r9 */
	code_hex(b, "488916");	 /* mov [rsi], rdx */
	code_hex(b, "488b5608"); /* mov rdx, [rsi + 8] */
	code_hex(b, "4839fa");	 /* cmp rdx, rdi */
	code_hex(b, "490f44d0"); /* cmove rdx, r8 */
	code_hex(b, "48895608"); /* mov [rsi + 8], rdx */
	code_move(b, RDX, FAKE_STACK);
	code_hex(b, "488d0508000000"); /* lea rax, [rip + 8]: the first immediate */
	code_hex(b, "488902");	       /* mov [rdx], rax */
	code_hex(b, "488911");	       /* mov [rcx], rdx */
	code_hidden(b, begin, end);
}

/* Does a new harness get the numbers that this one does not?  Noise comes and goes, so both are asked
 * in turn.  If noise alone decides, both have the same chance q at each turn; that the suspect then
 * never has a number and new ones nearly always do is (1 - q)^8 (28 q^6 (1 - q)^2 + 8 q^7 (1 - q) +
 * q^8), below 0.1% for any q.
 */
static bool only_new_ones_measure(struct tact_harness *suspect)
{
	enum { TURNS = 8, ENOUGH = 6 };
	static const uint8_t imul[] = {0x48, 0x0f, 0xaf, 0xc3};
	struct tact_measurement m = TACT_MEASUREMENT_INIT;
	unsigned n_right = 0;

	for (unsigned i = 0; i < TURNS && n_right + TURNS >= ENOUGH + i; i++) {
		/* with the same options, and the same time for both: nothing but the attack differs */
		struct tact_harness *h = judge_harness(0, TIMEOUT_MS);

		hw_waited = 0;
		n_right += h && hw_expect(h, imul, sizeof(imul), 3, &m) == HW_RIGHT;
		tact_harness_destroy(h);
		hw_waited = 0;
		if (hw_expect(suspect, imul, sizeof(imul), 3, &m) == HW_RIGHT)
			return false;
	}
	return n_right >= ENOUGH;
}

/* Runs a hijack in a harness with its own options, then innocent blocks. */
static void hijack(const char *what, const void *begin, const void *end)
{
	static struct attack a;
	struct judge j;

	if (!judge_begin(&j, 1, TIMEOUT_MS))
		skip();
	a.code.size = 0;
	a.facts = 0;
	put_hijack(&a.code, begin, end);
	snprintf(a.what, sizeof(a.what), "%s", what);
	judge_attack(&j, 0, &a);
	for (unsigned i = 0; i < N_LATER && !j.n_wrong; i++)
		judge_control(&j, 0);
	judge_controls(&j, true);
	if (j.n_noisy > N_LATER / 2 && only_new_ones_measure(j.harness[0]))
		judge_complain(&j, "after '%s': no innocent block gets a number", what);
	judge_end(&j);
}

static void resident_code(void **state)
{
	(void)state;
	hijack("stays in the code area and answers orders", resident, resident_end);
}

static void poisoned_canary(void **state)
{
	(void)state;
	hijack("leaves a canary that no core can reach", poison, poison_end);
}

static void shifted_answers(void **state)
{
	(void)state;
	hijack("answers twice", extra_answer, extra_answer_end);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_number),	   cmocka_unit_test(words_around_stamps),
		cmocka_unit_test(slow_starts),	   cmocka_unit_test(resident_code),
		cmocka_unit_test(poisoned_canary), cmocka_unit_test(shifted_answers),
	};

	return cmocka_run_group_tests_name("forge", tests, NULL, NULL);
}
