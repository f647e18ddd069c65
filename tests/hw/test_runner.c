/* SPDX-License-Identifier: MIT
 *
 * Attacks on the program that runs blocks, by somebody who has read its source; and a look at its
 * process from outside.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>

#include "../../runner/runner.h"
#include "attack.h"
#include "isa/x86/x86.h"

enum { TIMEOUT_MS = 1000, LARGEST = 700, INIT = 0x12345600 };

/* ---- the hidden memory ---- */

/* Takes the address of the hidden memory from a word, if there is one, and rewrites all samples
 * there.
 */
static void put_forged_samples(struct bytes *b, uint64_t word, uint32_t ticks)
{
	const uint32_t samples =
		(uint32_t)(offsetof(struct runner, host) + offsetof(struct measure_host, sample));

	code_move(b, RAX, word);
	code_hex(b, "488b08"); /* mov rcx, [rax] */
	code_move(b, RDX, INIT - samples);
	code_hex(b, "4885c9480f44ca"); /* test rcx, rcx; cmovz rcx, rdx: a harmless place */
	for (unsigned i = 0; b->size < LARGEST - 60; i++) {
		uint32_t at = samples + i * (uint32_t)sizeof(struct measure_sample);
		uint32_t low = at + (uint32_t)offsetof(struct measure_sample, low);
		uint32_t high = at + (uint32_t)offsetof(struct measure_sample, high);

		code_hex(b, "488b91"); /* mov rdx, [rcx + low] */
		put_bytes(b, &low, 4);
		code_hex(b, "4881c2"); /* add rdx, ticks */
		put_bytes(b, &ticks, 4);
		code_hex(b, "488991"); /* mov [rcx + high], rdx */
		put_bytes(b, &high, 4);
	}
	code_chain(b);
}

/* Every word of the page that it shares with the runner may tell where the hidden memory is: the
 * kernel writes it there after every run.
 */
static void hidden_address(void **state)
{
	static struct attack a;
	struct judge j;

	(void)state;
	if (!judge_begin(&j, 2, TIMEOUT_MS))
		skip();
	for (uint64_t word = MEASURE_STAMP_BASE; word < MEASURE_STAMP_BASE + 256; word += 8)
		for (unsigned which = 0; which < 2; which++) {
			a.code.size = 0;
			put_forged_samples(&a.code, word, 20);
			a.facts = ATTACK_CHAIN;
			snprintf(a.what, sizeof(a.what), "the hidden memory by the word at 0x%llx",
				 (unsigned long long)word);
			judge_attack(&j, which, &a);
		}
	judge_controls(&j, false);
	judge_end(&j);
}

/* Faults at DETECTED if a general register holds what can be the address of hidden memory. */
enum { DETECTED = 0x5000 };

static void put_detector(struct bytes *b)
{
	static const uint8_t regs[] = {RAX, RCX, RDX, RBX, RBP, RSI, RDI, R11, R12, R13, R14, R15};

	code_hex(b, "4531d2"); /* xor r10d, r10d */
	for (size_t i = 0; i < sizeof(regs); i++) {
		/* mov r8, reg; shr r8, 45; cmp r8, 2; sete r9b; or r10b, r9b */
		CODE(b, (uint8_t)(0x49 | (regs[i] >> 3) << 2), 0x89,
		     (uint8_t)(0xc0 | (regs[i] & 7) << 3));
		code_hex(b, "49c1e82d4983f802410f94c14508ca");
	}
	code_hex(b, "450fb6d24569d200500000"); /* movzx r10d, r10b; imul r10d, r10d, DETECTED */
	code_hex(b, "b8005634124585d2410f45c28b00"); /* mov eax, INIT; cmovnz eax, r10d; [rax] */
}

static bool is_detected(struct judge *j, unsigned which, const struct bytes *b)
{
	struct tact_measurement m = TACT_MEASUREMENT_INIT;

	assert_int_equal(tact_measure(j->harness[which], b->data, b->size, &m), 0);
	return strstr(m.reason, "0x5000") != NULL;
}

static void expect_clean(struct judge *j, unsigned which, const struct bytes *b, const char *what)
{
	if (is_detected(j, which, b))
		judge_complain(j, "%s leaves the hidden address in a register", what);
}

/* The base of gs keeps the address while a block runs.  What reads or writes bases of segments is 0f
 * ae with a register, of which bit 5 is clear, and f3 somewhere before it: none of that may pass.
 * Accesses through gs may, but then the base is another one.
 */
static void bases_of_segments(void **state)
{
	static const uint8_t prefix[] = {0,    0x66, 0xf2, 0xf3, 0xf0, 0x67, 0x26, 0x2e,
					 0x36, 0x3e, 0x64, 0x65, 0x40, 0x48, 0x4f};
	static const char *const through[] = {"65488b042500000000", "6548a100000000000000 00",
					      "65c5fa6f04250000 0000", "2e6565488b042500000000",
					      "66653e8b042500000000"};
	const unsigned n = sizeof(prefix);
	struct judge j;

	(void)state;
	for (unsigned i = 0; i < n * n * n * 64; i++) {
		const unsigned p[3] = {i / 64 % n, i / 64 / n % n, i / 64 / n / n};
		struct bytes b = {.size = 0};

		for (unsigned k = 0; k < 3; k++)
			if (prefix[p[k]])
				CODE(&b, prefix[p[k]]);
		CODE(&b, 0x0f, 0xae, (uint8_t)(0xc0 | i % 64));
		if (!(i & 32) && tact_measure_check(&isa_x86, b.data, b.size, TACT_MODE_UNROLL,
						    NULL, 0) == TACT_MEASURE_OK)
			fail_msg("%02x %02x %02x 0f ae %02x passes", prefix[p[0]], prefix[p[1]],
				 prefix[p[2]], 0xc0 | i % 64);
	}
	if (!judge_begin(&j, 2, TIMEOUT_MS))
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(through); i++) {
		struct bytes b = {.size = 0};

		code_hex(&b, through[i]);
		put_detector(&b);
		expect_clean(&j, i & 1, &b, through[i]);
	}
	judge_end(&j);
}

/* Nothing of the entry stays in a register: general ones, vectors, MMX. */
static void registers_at_the_start(void **state)
{
	struct judge j;
	struct bytes b;

	(void)state;
	if (!judge_begin(&j, JUDGE_HARNESSES, TIMEOUT_MS))
		skip();
	for (unsigned which = 0; which < JUDGE_HARNESSES; which++) {
		b.size = 0;
		put_detector(&b);
		expect_clean(&j, which, &b, "the entry");
		for (unsigned r = 0; r < 8; r++) { /* movq rax, xmm; movhlps; movq rcx, xmm; movq */
			b.size = 0;
			CODE(&b, 0x66, 0x48, 0x0f, 0x7e, (uint8_t)(0xc0 | r << 3));
			CODE(&b, 0x0f, 0x12, (uint8_t)(0xc0 | r * 9));
			CODE(&b, 0x66, 0x48, 0x0f, 0x7e, (uint8_t)(0xc1 | r << 3));
			CODE(&b, 0x48, 0x0f, 0x7e, (uint8_t)(0xc2 | r << 3));
			put_detector(&b);
			expect_clean(&j, which, &b, "the entry, in a vector,");
		}
	}
	/* The detector works. */
	b.size = 0;
	code_move(&b, RCX, MEASURE_HIDDEN_LOW + 0x123456789000);
	put_detector(&b);
	assert_true(is_detected(&j, 0, &b));
	judge_end(&j);
}

/* ---- what outlives a run, or a block ---- */

/* Memory that a block writes and a later one reads, without a fault that would give a new page. */
static void marks_for_later_blocks(void **state)
{
	static const uint64_t places[] = {
		MEASURE_DATA_BASE,	    MEASURE_DATA_BASE + 0x1008,
		MEASURE_DATA_BASE + 0x8010, MEASURE_DATA_BASE + 0xfff0,
		MEASURE_STAMP_BASE + 0x800, MEASURE_STAMP_BASE + 0xff8,
		MEASURE_STAMP_BASE,	    INIT,
		MEASURE_THREAD_BASE,
	};
	struct judge j;

	(void)state;
	if (!judge_begin(&j, 4, TIMEOUT_MS))
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		for (unsigned which = 0; which < j.n_harnesses; which++) {
			struct tact_measurement m = TACT_MEASUREMENT_INIT;
			struct bytes mark = {.size = 0}, look = {.size = 0};

			code_move(&mark, RAX, places[i]);
			code_hex(&mark, "48c700ebeb0000"); /* mov qword [rax], 0xebeb */
			code_move(&look, RAX, places[i]);
			code_hex(&look, "488b00488b00"); /* mov rax, [rax] twice */
			tact_measure(j.harness[which], mark.data, mark.size, &m);
			tact_measure(j.harness[which], look.data, look.size, &m);
			if (strstr(m.reason, "ebeb"))
				judge_complain(&j, "a mark at 0x%llx stays for the next block",
					       (unsigned long long)places[i]);
		}
	judge_end(&j);
}

/* Pages that no run fills would let a block count its runs, and be honest in some only. */
static void marks_for_later_runs(void **state)
{
	struct judge j;

	(void)state;
	if (!judge_begin(&j, 2, TIMEOUT_MS))
		skip();
	for (unsigned page = 1; page < MEASURE_MAX_PHYSICAL; page++)
		for (unsigned which = 0; which < j.n_harnesses; which++) {
			struct tact_measurement m = TACT_MEASUREMENT_INIT;
			struct bytes b = {.size = 0};

			code_move(&b, RAX, MEASURE_DATA_BASE + page * MEASURE_PAGE);
			code_hex(&b, "48ff00"); /* inc qword [rax] */
			tact_measure(j.harness[which], b.data, b.size, &m);
			if (m.status != TACT_MEASURE_OWN_CODE)
				judge_complain(&j, "data page %u: %s", page,
					       tact_measure_status_name(m.status));
		}
	judge_end(&j);
}

/* ---- what the screen sees, and the CPU does not ---- */

/* Branches to the start whose length or target depends on the CPU. */
static void odd_branches(void **state)
{
	static const char *const blocks[] = {"48ffc96675fa", "48ffc9660f85f6ffffff",
					     "48ffc9666775f9", "48ffc966f30f85f5ffffff",
					     "48ffc966eb fa"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++) {
		uint8_t code[32];
		size_t size = bytes_of(code, sizeof(code), blocks[i]);

		assert_int_equal(tact_measure_check(&isa_x86, code, size, TACT_MODE_LOOP, NULL, 0),
				 TACT_MEASURE_REFUSED);
	}
}

/* ---- its process, from outside ---- */

struct inspection {
	pid_t self;
	volatile bool stop;
	unsigned n_seen; /* processes that were under the filter */
	char wrong[400];
};

static bool read_text(pid_t pid, const char *name, char *text, size_t capacity, size_t *size)
{
	char path[96];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	f = fopen(path, "re");
	if (!f)
		return false;
	*size = fread(text, 1, capacity - 1, f);
	text[*size] = 0;
	fclose(f);
	return true;
}

static void note(struct inspection *in, const char *what, const char *detail)
{
	if (!in->wrong[0])
		snprintf(in->wrong, sizeof(in->wrong), "%s: %.300s", what, detail);
}

/* The value of a line of /proc/PID/status. */
static bool has_line(const char *status, const char *line)
{
	return strstr(status, line) != NULL;
}

static void inspect_descriptors(struct inspection *in, pid_t pid)
{
	char path[64], target[256], name[300];
	struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		ssize_t n;

		if (e->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%.16s", path, e->d_name);
		n = readlink(name, target, sizeof(target) - 1);
		if (n < 0)
			continue;
		target[n] = 0;
		if (!strstr(target, "socket:") && !strstr(target, "tact-data") &&
		    !strstr(target, "perf_event"))
			note(in, "a descriptor", target);
	}
	if (dir)
		closedir(dir);
}

static void inspect_namespaces(struct inspection *in, pid_t pid)
{
	static const char *const names[] = {"net", "ipc", "uts", "pid", "mnt"};
	char path[64], ours[64], theirs[64];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		ssize_t a, b;

		snprintf(path, sizeof(path), "/proc/self/ns/%s", names[i]);
		a = readlink(path, ours, sizeof(ours) - 1);
		snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, names[i]);
		b = readlink(path, theirs, sizeof(theirs) - 1);
		if (a > 0 && a == b && !memcmp(ours, theirs, (size_t)a))
			note(in, "shares a namespace", names[i]);
	}
}

/* Others may measure here, too. */
static bool is_ours(pid_t pid, pid_t self)
{
	char text[4096];
	size_t size;

	for (unsigned depth = 0; depth < 8 && pid > 1; depth++) {
		const char *line;

		if (pid == self)
			return true;
		if (!read_text(pid, "status", text, sizeof(text), &size))
			return false;
		line = strstr(text, "PPid:");
		pid = line ? (pid_t)strtol(line + 5, NULL, 10) : 0;
	}
	return false;
}

static bool is_runner(pid_t pid)
{
	char path[64], target[256];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	n = readlink(path, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = 0;
	return strstr(target, "tact-runner") != NULL;
}

/* A process that runs blocks: it is under a filter of its own. */
static void inspect(struct inspection *in, pid_t pid)
{
	static char text[1 << 16], status[1 << 14];
	size_t size;

	if (!is_runner(pid) || !is_ours(pid, in->self) ||
	    !read_text(pid, "status", status, sizeof(status), &size) ||
	    !has_line(status, "Seccomp:\t2"))
		return;
	if (!has_line(status, "NoNewPrivs:\t1"))
		note(in, "privileges", "may get new ones");
	if (!has_line(status, "CapEff:\t0000000000000000") ||
	    !has_line(status, "CapPrm:\t0000000000000000"))
		note(in, "privileges", strstr(status, "CapInh"));
	if (has_line(status, "Uid:\t0"))
		note(in, "privileges", "is root");
	if (read_text(pid, "environ", text, sizeof(text), &size) && size > 1)
		note(in, "the environment", text);
	if (read_text(pid, "cmdline", text, sizeof(text), &size) && size > 16)
		note(in, "the command line", text);
	if (read_text(pid, "maps", text, sizeof(text), &size)) {
		if (strstr(text, "rwx") || strstr(text, "-wx"))
			note(in, "memory", "can be written and executed");
		if (strstr(text, "[stack]") || strstr(text, "[vdso]") || strstr(text, "[vvar") ||
		    strstr(text, "[heap]"))
			note(in, "memory", text);
	}
	inspect_descriptors(in, pid);
	inspect_namespaces(in, pid);
	in->n_seen++;
}

static void *inspect_all(void *argument)
{
	struct inspection *in = argument;

	while (!in->stop) {
		DIR *dir = opendir("/proc");
		struct dirent *e;

		while (dir && (e = readdir(dir))) {
			pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);

			if (pid > in->self)
				inspect(in, pid);
		}
		if (dir)
			closedir(dir);
		hw_sleep_ms(2);
	}
	return NULL;
}

static void its_process(void **state)
{
	static const uint8_t imul[] = {0x48, 0x0f, 0xaf, 0xc3};
	const struct tact_measure_options opt = {
		.size = sizeof(opt), .passes = 64, .samples = 512, .timeout_ms = 1500};
	struct inspection in = {.self = getpid()};
	struct tact_measurement m = TACT_MEASUREMENT_INIT;
	struct tact_harness *h = NULL;
	pthread_t thread;

	(void)state;
	setenv("TACT_ATTACK_SECRET", "an environment that nobody may see", 1);
	if (geteuid() || tact_harness_create(&h, &opt, NULL) < 0)
		skip(); /* only root may look */
	assert_int_equal(pthread_create(&thread, NULL, inspect_all, &in), 0);
	assert_int_equal(tact_measure(h, imul, sizeof(imul), &m), 0);
	in.stop = true;
	pthread_join(thread, NULL);
	tact_harness_destroy(h);
	if (in.wrong[0])
		fail_msg("%s", in.wrong);
	assert_true(in.n_seen > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hidden_address),
		cmocka_unit_test(bases_of_segments),
		cmocka_unit_test(registers_at_the_start),
		cmocka_unit_test(marks_for_later_blocks),
		cmocka_unit_test(marks_for_later_runs),
		cmocka_unit_test(odd_branches),
		cmocka_unit_test(its_process),
	};

	return cmocka_run_group_tests_name("runner", tests, NULL, NULL);
}
