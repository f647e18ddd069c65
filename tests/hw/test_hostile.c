/* SPDX-License-Identifier: MIT
 *
 * Blocks that mean harm: every one gets an answer in time, and the next block gets the right
 * number.
 *
 *   test_hostile [FILE]     FILE: the corpus, tests/hw/hostile.txt
 *
 * TACT_HOSTILE_STRINGS and TACT_HOSTILE_BLOCKS are the numbers of random byte strings and of random
 * blocks of valid instructions, TACT_HOSTILE_SEED what they begin with.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <Zydis/Zydis.h>
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>

#include "base/base.h"
#include "hw.h"
#include "measure/x86/measure_x86.h"

enum {
	N_HARNESSES = 4, /* unrolled and as a loop, with both kinds of initial values */
	MAX_GROUPS = 64,
	MAX_LINE = 1 << 14,
	TIMEOUT_MS = 2000,
	RANDOM_TIMEOUT_MS = 400,
	SLACK_MS = 1000,
	MAX_UNCHECKED = 8, /* checks spoilt by noise: no more than these */
	GUARD_BYTES = 1 << 16
};

static const uint8_t imul[] = {0x48, 0x0f, 0xaf, 0xc3};

/* What must not change: memory that a child shares with us, and our descriptors. */
struct guard {
	uint8_t *shared, *private; /* owned */
	unsigned descriptors;
};

struct suite {
	struct tact_harness *harness[N_HARNESSES]; /* owned */
	struct guard guard;
	unsigned n_blocks, by_status[TACT_N_MEASURE_STATUS], n_unchecked;
	double longest;
};

static const char *corpus = "tests/hw/hostile.txt";

static unsigned number_of(const char *name, unsigned otherwise)
{
	const char *text = getenv(name);

	return text && *text ? (unsigned)strtoul(text, NULL, 0) : otherwise;
}

static void guard_begin(struct guard *g)
{
	g->shared =
		mmap(NULL, GUARD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	g->private = malloc(GUARD_BYTES);
	assert_true(g->shared != MAP_FAILED && g->private);
	memset(g->shared, 0x5a, GUARD_BYTES);
	memset(g->private, 0xa5, GUARD_BYTES);
}

static void guard_check(const struct guard *g)
{
	for (size_t i = 0; i < GUARD_BYTES; i++)
		if (g->shared[i] != 0x5a || g->private[i] != 0xa5)
			fail_msg("our memory has changed at offset %zu", i);
	assert_int_equal(count_descriptors(), g->descriptors);
}

static void guard_end(struct guard *g)
{
	munmap(g->shared, GUARD_BYTES);
	free(g->private);
}

static bool suite_begin(struct suite *s, unsigned timeout_ms)
{
	memset(s, 0, sizeof(*s));
	guard_begin(&s->guard);
	for (unsigned i = 0; i < N_HARNESSES; i++) {
		s->harness[i] =
			hw_noisy_harness(i & 1 ? TACT_MODE_LOOP : TACT_MODE_UNROLL,
					 i & 2 ? TACT_INIT_STACK : TACT_INIT_SAME, timeout_ms);
		if (!s->harness[i])
			return false;
	}
	s->guard.descriptors = count_descriptors();
	return true;
}

static void suite_end(struct suite *s)
{
	for (unsigned i = 0; i < N_HARNESSES; i++)
		tact_harness_destroy(s->harness[i]);
	guard_end(&s->guard);
	assert_false(has_children());
}

/* Few samples: the numbers do not matter. */
static void hurry(struct suite *s)
{
	for (unsigned i = 0; i < N_HARNESSES; i++) {
		s->harness[i]->opt.passes = 2;
		s->harness[i]->opt.samples = 8;
		s->harness[i]->opt.wait_ms = HW_SHORT_WAIT_MS;
	}
}

/* An answer, in time: a number, or a status with its reason. */
static void one_block(struct suite *s, unsigned which, const uint8_t *code, size_t size,
		      const char *what)
{
	struct tact_harness *h = s->harness[which];
	const double limit = (h->opt.timeout_ms + SLACK_MS) / 1000.0;
	struct tact_measurement m;
	double seconds;

	memset(&m, 0xff, sizeof(m));
	m.size = sizeof(m);
	if (hw_measure_within(h, code, size, &m, limit, &seconds) < 0)
		fail_msg("%s: the harness is broken", what);
	s->n_blocks++;
	if (seconds > s->longest)
		s->longest = seconds;
	if (seconds > limit)
		fail_msg("%s: took %.1f seconds", what, seconds);
	if (m.status >= TACT_N_MEASURE_STATUS)
		fail_msg("%s: status %d", what, (int)m.status);
	s->by_status[m.status]++;
	if (m.status == TACT_MEASURE_OK &&
	    !(m.cycles_per_iteration > 0 && m.cycles_per_iteration < 1e8))
		fail_msg("%s: %f cycles", what, m.cycles_per_iteration);
	if ((m.status == TACT_MEASURE_OK) != !m.reason[0])
		fail_msg("%s: %s with reason '%s'", what, tact_measure_status_name(m.status),
			 m.reason);
}

/* The number of an innocent block is still right, nothing else has changed, no child is a zombie.
 * A chain of three cycles a link: one of one cycle is at the mercy of a sibling thread and, in a
 * loop, of what the branch predictor has been taught.
 */
static void still_right(struct suite *s, const char *after)
{
	for (unsigned i = 0; i < N_HARNESSES; i++) {
		struct tact_measurement m = TACT_MEASUREMENT_INIT;
		enum hw_answer answer;

		if (s->n_unchecked >= MAX_UNCHECKED) {
			/* it has a process, and the descriptors of one, again */
			assert_int_equal(hw_measure(s->harness[i], imul, sizeof(imul), &m), 0);
			continue;
		}
		answer = hw_expect(s->harness[i], imul, sizeof(imul), 3, &m);
		if (answer == HW_WRONG)
			fail_msg("after %s (harness %u): %s, %.3f cycles; %s", after, i,
				 tact_measure_status_name(m.status), m.cycles_per_iteration,
				 m.reason);
		s->n_unchecked += answer == HW_NOISY;
	}
	guard_check(&s->guard);
}

static void report(const struct suite *s)
{
	print_message("%u blocks, the longest %.2f s:", s->n_blocks, s->longest);
	for (unsigned i = 0; i < TACT_N_MEASURE_STATUS; i++)
		if (s->by_status[i])
			print_message(" %s %u",
				      tact_measure_status_name((enum tact_measure_status)i),
				      s->by_status[i]);
	print_message("\n");
	if (s->n_unchecked)
		print_message("%u checks of innocent blocks came to nothing: too noisy\n",
			      s->n_unchecked);
}

/* ---- the corpus ---- */

struct group {
	char name[64];
	long offset; /* of its first line */
};

static struct suite corpus_suite;
static struct group groups[MAX_GROUPS];

/* Groups of the file; their names as identifiers. */
static size_t find_groups(void)
{
	char line[MAX_LINE];
	FILE *f = fopen(corpus, "r");
	size_t n = 0;

	if (!f)
		return 0;
	while (n < MAX_GROUPS && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "## ", 3))
			continue;
		snprintf(groups[n].name, sizeof(groups[n].name), "corpus_%.40s", line + 3);
		groups[n].name[strcspn(groups[n].name, "\n")] = 0;
		for (char *p = groups[n].name; *p; p++)
			if (strchr(" -,", *p))
				*p = '_';
		groups[n++].offset = ftell(f);
	}
	fclose(f);
	return n;
}

static void corpus_group(void **state)
{
	const struct group *g = *state;
	struct suite *s = &corpus_suite;
	char line[MAX_LINE];
	unsigned n = 0;
	FILE *f = fopen(corpus, "r");

	assert_non_null(f);
	if (!s->harness[0] || !s->harness[N_HARNESSES - 1])
		skip();
	assert_int_equal(fseek(f, g->offset, SEEK_SET), 0);
	while (fgets(line, sizeof(line), f) && strncmp(line, "##", 2)) {
		uint8_t code[MAX_LINE / 2];
		size_t digits = strcspn(line, " #\n"), bad = ~(size_t)0;
		long size = tact_hex_decode(code, line, digits, &bad);

		assert_non_null(strchr(line, '\n'));
		n++;
		if (size < 0) { /* odd, or no digits: that is the answer */
			assert_true(bad <= digits);
			continue;
		}
		for (unsigned i = 0; i < N_HARNESSES; i++)
			one_block(s, i, code, (size_t)size, line);
	}
	fclose(f);
	assert_true(n > 0);
	still_right(s, g->name);
}

static int corpus_begin(void **state)
{
	(void)state;
	if (suite_begin(&corpus_suite, TIMEOUT_MS))
		hurry(&corpus_suite);
	return 0;
}

static int corpus_end(void **state)
{
	(void)state;
	report(&corpus_suite);
	suite_end(&corpus_suite);
	return 0;
}

/* ---- past the screen ---- */

/* The address of a function of the runner. */
static uint64_t runner_symbol(const char *name)
{
	const Elf64_Ehdr *e = (const Elf64_Ehdr *)runner_image;
	const Elf64_Shdr *s = (const Elf64_Shdr *)(runner_image + e->e_shoff);

	for (unsigned i = 0; i < e->e_shnum; i++) {
		const Elf64_Sym *symbol = (const Elf64_Sym *)(runner_image + s[i].sh_offset);
		const char *names = (const char *)runner_image + s[s[i].sh_link].sh_offset;

		for (size_t k = 0; s[i].sh_type == SHT_SYMTAB && k < s[i].sh_size / sizeof(*symbol);
		     k++)
			if (!strcmp(names + symbol[k].st_name, name))
				return symbol[k].st_value;
	}
	fail_msg("the runner has no %s", name);
	return 0;
}

/* Runs code that the screen would refuse.  Returns the child's status if it has died, else -1. */
static int run_bare(struct tact_harness *h, const uint8_t *code, size_t size)
{
	const struct measure_plan plan = {.code = code,
					  .size = size,
					  .copies = 1,
					  .init = TACT_INIT_SAME,
					  .features = h->features};
	struct measure_host *host = h->host;
	struct measure_layout layout;
	int status;

	assert_int_equal(measure_x86_emit(h->code, &plan, &layout), 0);
	host->entry = MEASURE_CODE_BASE + layout.entry;
	host->body_low = host->body_high = MEASURE_CODE_BASE + layout.body;
	harness_use_clocks(h, &layout);
	host->init_value = host->init_stack = MEASURE_INIT_VALUE;
	host->n_physical = 1;
	host->max_pages = 64;
	assert_int_equal(harness_begin_block(h), 0);
	status = harness_order(h, ORDER_PREPARE, harness_deadline(h));
	harness_end_block(h);
	assert_true(status == 0 || status == -1);
	return status == 0 ? -1 : h->end_status;
}

/* mov r64, value */
static void put_move(struct bytes *b, unsigned reg, uint64_t value)
{
	uint8_t op[] = {(uint8_t)(0x48 | reg >> 3), (uint8_t)(0xb8 | (reg & 7))};

	put_bytes(b, op, 2);
	put_bytes(b, &value, 8);
}

static void is_killed_by(struct tact_harness *h, const struct bytes *b, int signal,
			 const char *what)
{
	int status = run_bare(h, b->data, b->size);

	if (status < 0 || !WIFSIGNALED(status) || WTERMSIG(status) != signal)
		fail_msg("%s: status %x instead of signal %d", what, (unsigned)status, signal);
}

/* System calls from a block itself: all of them, including those that the child needs. */
static void system_calls_of_blocks(void **state)
{
	static const uint8_t syscall_insn[] = {0x0f, 0x05}, int_80[] = {0xcd, 0x80};
	static const long numbers[] = {0,  1,  2,  9,  11,  15,	 39,	     56,	 57,
				       59, 60, 61, 62, 231, 425, 0x40000001, 0x4000003c, -1};
	struct tact_harness *h = hw_noisy_harness(TACT_MODE_UNROLL, TACT_INIT_SAME, TIMEOUT_MS);
	struct tact_measurement m = TACT_MEASUREMENT_INIT;
	char what[64];

	(void)state;
	if (!h)
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		struct bytes b = {.size = 0};

		put_move(&b, 0, (uint64_t)numbers[i]);
		put_bytes(&b, syscall_insn, 2);
		snprintf(what, sizeof(what), "syscall %ld", numbers[i]);
		is_killed_by(h, &b, SIGSYS, what);
	}
	for (long number = 1; number < 12; number += 5) {
		struct bytes b = {.size = 0};
		int status;

		put_move(&b, 0, (uint64_t)number);
		put_bytes(&b, int_80, 2);
		status = run_bare(h, b.data, b.size);
		/* A kernel without 32-bit programs has no such interrupt: general protection. */
		if (status < 0)
			assert_int_equal(h->host->outcome, OUTCOME_PROTECTION);
		else
			assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
	}
	assert_int_not_equal(hw_expect(h, imul, sizeof(imul), 3, &m), HW_WRONG);
	tact_harness_destroy(h);
	assert_false(has_children());
}

/* System calls through the child's own stub, as a block might find it: only those on the list, and
 * no memory that can be executed.
 */
static void system_calls_of_the_stub(void **state)
{
	static const uint8_t call_rax[] = {0xff, 0xd0};
	static const struct {
		long number, a, b, c, d;
		const char *what;
	} calls[] = {
		{59, 0, 0, 0, 0, "execve"},
		{57, 0, 0, 0, 0, "fork"},
		{62, -1, 9, 0, 0, "kill"},
		{2, 0, 0, 0, 0, "open"},
		{257, 0, 0, 0, 0, "openat"},
		{41, 2, 1, 0, 0, "socket"},
		{10, 0x12345000, 4096, 7, 0, "mprotect"},
		{9, 0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, "mmap to execute"},
		{9, 0, 1l << 32, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		 "mmap of memory"},
		{9, 0x12345000, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		 "mmap over others"},
		{15, 0, 0, 0, 0, "sigreturn"},
	};
	struct tact_harness *h = hw_noisy_harness(TACT_MODE_UNROLL, TACT_INIT_SAME, TIMEOUT_MS);
	struct bytes leave = {.size = 0};
	int status;

	(void)state;
	if (!h)
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		struct bytes b = {.size = 0};

		put_move(&b, 7, (uint64_t)calls[i].number);
		put_move(&b, 6, (uint64_t)calls[i].a);
		put_move(&b, 2, (uint64_t)calls[i].b);
		put_move(&b, 1, (uint64_t)calls[i].c);
		put_move(&b, 8, (uint64_t)calls[i].d);
		put_move(&b, 0, runner_symbol("gate_syscall"));
		put_bytes(&b, call_rax, 2);
		is_killed_by(h, &b, SIGSYS, calls[i].what);
	}
	/* That the stub was really reached: the one call that may end the child. */
	put_move(&leave, 7, 231);
	put_move(&leave, 6, 7);
	put_move(&leave, 0, runner_symbol("gate_syscall"));
	put_bytes(&leave, call_rax, 2);
	status = run_bare(h, leave.data, leave.size);
	assert_true(status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 7);
	tact_harness_destroy(h);
}

/* Control flow that the screen keeps out: wild jumps, endless loops, returns into nowhere. */
static void wild_jumps(void **state)
{
	static const struct {
		const char *what;
		uint8_t code[16];
		size_t size;
	} cases[] = {
		{"jmp rax", {0xff, 0xe0}, 2},
		{"ret", {0xc3}, 1},
		{"far jump", {0x48, 0xff, 0x28}, 3},
		{"iretq", {0x48, 0xcf}, 2},
		{"jmp to self", {0xeb, 0xfe}, 2},
		{"xor esp, esp; ret", {0x31, 0xe4, 0xc3}, 3},
		{"ud2", {0x0f, 0x0b}, 2},
		{"int3", {0xcc}, 1},
		{"hlt", {0xf4}, 1},
		{"mov ss, eax", {0x31, 0xc0, 0x8e, 0xd0}, 4},
		{"wrfsbase rax", {0xf3, 0x48, 0x0f, 0xae, 0xd0}, 5},
		{"wrgsbase rax", {0xf3, 0x48, 0x0f, 0xae, 0xd8}, 5},
		{"push 0x23; push rax; far ret", {0x6a, 0x23, 0x50, 0x48, 0xcb}, 5},
	};
	struct tact_harness *h = hw_noisy_harness(TACT_MODE_UNROLL, TACT_INIT_SAME, 300);

	(void)state;
	if (!h)
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct tact_measurement m = TACT_MEASUREMENT_INIT;
		double seconds = hw_now();
		const struct measure_plan plan = {.code = cases[i].code,
						  .size = cases[i].size,
						  .copies = 1,
						  .features = h->features};
		struct measure_layout layout;

		assert_int_equal(measure_x86_emit(h->code, &plan, &layout), 0);
		h->host->entry = MEASURE_CODE_BASE + layout.entry;
		h->host->body_low = h->host->body_high = MEASURE_CODE_BASE + layout.body;
		assert_int_equal(harness_begin_block(h), 0);
		if (harness_order(h, ORDER_PREPARE, harness_deadline(h)) < -1)
			harness_kill(h);
		harness_end_block(h);
		if (hw_now() - seconds > 1)
			fail_msg("%s: took %.1f seconds", cases[i].what, hw_now() - seconds);
		if (hw_expect(h, imul, sizeof(imul), 3, &m) == HW_WRONG)
			fail_msg("after %s: %s, %.3f cycles; %s", cases[i].what,
				 tact_measure_status_name(m.status), m.cycles_per_iteration,
				 m.reason);
	}
	tact_harness_destroy(h);
}

/* ---- what a block can do to the harness ---- */

/* mov rax, address; mov qword [rax], -1 */
static void put_store(struct bytes *b, uint64_t address, int32_t value)
{
	static const uint8_t store[] = {0x48, 0xc7, 0x00};

	put_move(b, 0, address);
	put_bytes(b, store, 3);
	put_bytes(b, &value, 4);
}

/* Stores to every word that emitted code uses, and to the begin and end of every area: whatever
 * happens to that block, the number of the next one is right.
 */
static void stores_to_the_harness(void **state)
{
	static const uint64_t areas[] = {MEASURE_CODE_BASE,
					 MEASURE_CODE_BASE + MEASURE_CODE_BYTES,
					 MEASURE_TEXT_BASE,
					 MEASURE_DATA_BASE,
					 MEASURE_DATA_BASE + MEASURE_MAX_PHYSICAL * MEASURE_PAGE,
					 MEASURE_PERF_BASE,
					 MEASURE_STAMP_BASE + MEASURE_PAGE,
					 MEASURE_KEEPER_BASE,
					 MEASURE_HIDDEN_LOW};
	enum { WORDS = sizeof(struct measure_stamp) / 8 };
	static const int32_t values[] = {-1, 0, 100};
	struct suite s;

	(void)state;
	if (!suite_begin(&s, RANDOM_TIMEOUT_MS))
		skip();
	hurry(&s);
	for (size_t i = 0; i < WORDS + 2 * ARRAY_SIZE(areas); i++) {
		uint64_t address = i < WORDS ? MEASURE_STAMP_BASE + 8 * i
					     : areas[(i - WORDS) / 2] - 8 * ((i - WORDS) % 2);

		for (size_t v = 0; v < ARRAY_SIZE(values); v++) {
			struct tact_measurement m = TACT_MEASUREMENT_INIT;
			struct bytes b = {.size = 0};
			char what[64];

			put_store(&b, address, values[v]);
			snprintf(what, sizeof(what), "a store of %d to 0x%llx", values[v],
				 (unsigned long long)address);
			one_block(&s, v & 1, b.data, b.size, what);
			if (hw_expect(s.harness[v & 1], imul, sizeof(imul), 3, &m) == HW_WRONG)
				fail_msg("after %s: %s, %.3f cycles; %s", what,
					 tact_measure_status_name(m.status), m.cycles_per_iteration,
					 m.reason);
		}
	}
	still_right(&s, "stores to the harness");
	report(&s);
	suite_end(&s);
}

/* What the program shares with others (a database's index) is out of reach. */
static void stores_to_shared_memory(void **state)
{
	enum { SIZE = 4096, ADDRESS_AT = 2 };
	uint8_t code[] = {0x48, 0xb8, 0,   0, 0, 0, 0, 0, 0, 0, /* mov rax, address */
			  0xc6, 0x00, 0x55};			/* mov byte [rax], 0x55 */
	uint8_t *page = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct tact_measure_options opt = {.size = sizeof(opt)};
	struct tact_measurement m = TACT_MEASUREMENT_INIT;
	struct tact_harness *h;
	uint64_t address = (uint64_t)page;

	(void)state;
	assert_true(page != MAP_FAILED);
	memcpy(code + ADDRESS_AT, &address, sizeof(address));
	if (tact_harness_create(&h, &opt, NULL) < 0)
		skip();
	assert_int_equal(tact_measure(h, code, sizeof(code), &m), 0);
	assert_int_equal(page[0], 0);
	tact_harness_destroy(h);
	munmap(page, SIZE);
}

/* Signals for the program do not reach its child; a child that was killed is replaced. */
static void signals_to_the_child(void **state)
{
	static const int signals[] = {SIGHUP,  SIGINT,	SIGQUIT, SIGTERM,
				      SIGALRM, SIGUSR1, SIGTSTP, SIGXCPU};
	struct tact_harness *h = hw_noisy_harness(TACT_MODE_UNROLL, TACT_INIT_SAME, TIMEOUT_MS);
	struct tact_measurement m = TACT_MEASUREMENT_INIT;
	pid_t child;

	(void)state;
	if (!h)
		skip();
	child = h->child;
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		assert_int_equal(kill(child, signals[i]), 0);
		assert_int_equal(kill(h->keeper, signals[i]), 0);
		assert_int_not_equal(hw_expect(h, imul, sizeof(imul), 3, &m), HW_WRONG);
		assert_int_equal(h->child, child);
	}
	kill(child, SIGKILL);
	hw_sleep_ms(50);
	assert_int_equal(tact_measure(h, imul, sizeof(imul), &m), 0);
	assert_int_not_equal(m.status, TACT_MEASURE_CRASHED);
	assert_int_not_equal(h->child, child);
	kill(h->keeper, SIGSTOP); /* does not answer any more */
	assert_int_equal(tact_measure(h, imul, sizeof(imul), &m), 0);
	assert_int_not_equal(hw_expect(h, imul, sizeof(imul), 3, &m), HW_WRONG);
	tact_harness_destroy(h);
	assert_false(has_children());
}

/* ---- random ones ---- */

static void random_bytes(struct rng *rng, uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(rng_next(rng) >> 40);
}

static void describe(char *out, size_t capacity, const uint8_t *code, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < size && n + 3 < capacity; i++)
		n += (size_t)snprintf(out + n, capacity - n, "%02x", code[i]);
}

/* A valid instruction that is not refused: random bytes after likely first ones. */
static size_t hostile_insn(struct rng *rng, uint8_t *code)
{
	static const uint8_t starts[][3] = {
		{0},	      {0},	    {0x48},	  {0x4c},
		{0x66},	      {0x0f},	    {0x66, 0x0f}, {0xf3, 0x0f},
		{0xf2, 0x0f}, {0xc5},	    {0xc4, 0xe2}, {0xc4, 0xe3},
		{0x62, 0xf1}, {0x62, 0xf2}, {0x62, 0xf3}, {0x48, 0x0f},
		{0x48, 0x8b}, {0x48, 0x89}, {0x48, 0x8d}, {0x66, 0x0f, 0x3a},
		{0xf3, 0xaa}, {0xd9},	    {0xdd},	  {0xf0, 0x48},
		{0x64, 0x48}, {0x48, 0xc7}, {0x48, 0xf7}, {0x66, 0x0f, 0x38},
		{0x9d},	      {0xbc},
	};
	ZydisDecodedInstruction zi;
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (;;) {
		const uint8_t *start = starts[rng_below(rng, ARRAY_SIZE(starts))];
		size_t n = 0;

		while (n < 3 && start[n]) {
			code[n] = start[n];
			n++;
		}
		random_bytes(rng, code + n, 15 - n);
		if (ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, code, 15, &zi)) &&
		    tact_measure_check(&isa_x86, code, zi.length, TACT_MODE_UNROLL, NULL, 0) ==
			    TACT_MEASURE_OK)
			return zi.length;
	}
}

static void run_random(unsigned n, bool valid)
{
	struct rng rng = {number_of("TACT_HOSTILE_SEED", 1) * 0x9e3779b97f4a7c15u + valid};
	struct suite s;

	if (!suite_begin(&s, RANDOM_TIMEOUT_MS))
		skip();
	hurry(&s);
	for (unsigned i = 0; i < n; i++) {
		unsigned which = rng_below(&rng, N_HARNESSES);
		char what[600];
		uint8_t code[16 * 16];
		size_t size = 0;

		if (valid) {
			for (unsigned k = 1 + rng_below(&rng, 12); k; k--)
				size += hostile_insn(&rng, code + size);
		} else {
			size = rng_below(&rng, 33);
			random_bytes(&rng, code, size);
		}
		describe(what, sizeof(what), code, size);
		one_block(&s, which, code, size, what);
		if (i % 500 == 499)
			still_right(&s, what);
	}
	still_right(&s, "random ones");
	report(&s);
	suite_end(&s);
}

static void random_strings(void **state)
{
	(void)state;
	run_random(number_of("TACT_HOSTILE_STRINGS", 20000), false);
}

static void random_blocks(void **state)
{
	(void)state;
	run_random(number_of("TACT_HOSTILE_BLOCKS", 1500), true);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest others[] = {
		cmocka_unit_test(system_calls_of_blocks),
		cmocka_unit_test(system_calls_of_the_stub),
		cmocka_unit_test(wild_jumps),
		cmocka_unit_test(stores_to_the_harness),
		cmocka_unit_test(stores_to_shared_memory),
		cmocka_unit_test(signals_to_the_child),
		cmocka_unit_test(random_strings),
		cmocka_unit_test(random_blocks),
	};
	struct CMUnitTest tests[MAX_GROUPS];
	size_t n;
	int failed;

	if (argc > 1)
		corpus = argv[1];
	n = find_groups();
	if (!n) {
		fprintf(stderr, "%s: %s\n", corpus, errno ? strerror(errno) : "no groups");
		return 2;
	}
	for (size_t i = 0; i < n; i++)
		tests[i] = (struct CMUnitTest){.name = groups[i].name,
					       .test_func = corpus_group,
					       .initial_state = &groups[i]};
	failed = _cmocka_run_group_tests("corpus", tests, n, corpus_begin, corpus_end);
	return cmocka_run_group_tests_name("others", others, NULL, NULL) + failed;
}
