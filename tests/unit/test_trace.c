/* SPDX-License-Identifier: MIT
 *
 * Words to events, records, what is run.  Programs under QEMU are run by tests/cli.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testing.h"

#include "support.h"
#include "trace/events.h"
#include "trace/trace.h"

struct words {
	uint64_t data[4096];
	size_t n;
};

static void put(struct words *w, uint64_t word)
{
	assert_true(w->n < 4096);
	w->data[w->n++] = word;
}

static void put_begin(struct words *w, uint32_t pid)
{
	put(w, wire_word(WIRE_NOTE, 2, WIRE_NOTE_STREAM));
	put(w, pid | 3ull << 32);
	put(w, 7 | WIRE_STREAM_FIRST);
}

static void put_block(struct words *w, uint32_t number, uint64_t address, const char *code,
		      size_t size, size_t n_insns, size_t last, unsigned flags)
{
	put(w, wire_word(WIRE_BLOCK, WIRE_BLOCK_WORDS + wire_words_of((unsigned)size), number));
	put(w, address);
	put(w, size | n_insns << 16 | last << 32 | (uint64_t)flags << 48);
	put(w, 0);
	for (size_t i = 0; i < size; i += 8) {
		uint64_t word = 0;

		memcpy(&word, code + i, size - i < 8 ? size - i : 8);
		put(w, word);
	}
}

static uint64_t access_word(unsigned insn, unsigned log_size, bool is_store, uint64_t address)
{
	return (uint64_t)insn << WIRE_INSN_SHIFT | (uint64_t)log_size << WIRE_SIZE_SHIFT |
	       (is_store ? WIRE_STORE : 0) | address;
}

/* The words as a record in memory. */
static size_t make_record(const struct words *w, enum wire_mode mode, uint8_t *out, size_t room,
			  size_t piece_words, bool is_cut)
{
	int fd = memfd_create("test", 0);
	struct trace_writer *writer;
	ssize_t n;

	assert_int_equal(trace_writer_create(&writer, fd, mode, NULL), 0);
	for (size_t at = 0; at < w->n; at += piece_words) {
		size_t left = w->n - at;
		struct trace_piece piece = {5, w->data + at,
					    left < piece_words ? left : piece_words};

		assert_int_equal(trace_writer_add(writer, &piece, NULL), 0);
	}
	assert_int_equal(trace_writer_add(writer, &(struct trace_piece){5, NULL, 0}, NULL), 0);
	assert_int_equal(trace_writer_finish(writer, is_cut, NULL), 0);
	n = pread(fd, out, room, 0);
	assert_true(n > 0 && (size_t)n < room);
	close(fd);
	return (size_t)n;
}

/* vmovups ymm0, [rax]; rep movsb.  Then rep movsb alone.  Then movups [rdi+8], xmm0; ret. */
static void make_program(struct words *w)
{
	put_begin(w, 42);
	put_block(w, 9, 0x1000, "\xc5\xfc\x10\x00\xf3\xa4", 6, 2, 4, 0);
	put(w, wire_word(WIRE_EXEC, 0, 9));
	for (unsigned i = 0; i < 4; i++)
		put(w, access_word(0, 3, false, 0x8000 + 8 * i));
	put(w, access_word(1, 0, false, 0x100));
	put(w, access_word(1, 0, true, 0x200));
	put_block(w, 4000000, 0x1004, "\xf3\xa4", 2, 1, 0, WIRE_BLOCK_REP);
	for (unsigned i = 1; i < 5; i++) {
		put(w, wire_word(WIRE_EXEC, 0, 4000000));
		if (i == 4)
			break; /* none is left */
		put(w, access_word(0, 0, false, 0x100 + i));
		put(w, access_word(0, 0, true, 0x200 + i));
	}
	put_block(w, 10, 0x1006, "\x0f\x11\x47\x08\xc3", 5, 2, 4, 0);
	put(w, wire_word(WIRE_EXEC, 0, 10));
	put(w, access_word(0, 3, true, 0x308));
	put(w, access_word(0, 3, true, 0x310));
	put(w, access_word(1, 3, false, 0x500));
	/* entered from elsewhere: an execution of its own */
	put(w, wire_word(WIRE_EXEC, 0, 4000000));
	put(w, access_word(0, 0, false, 0x100));
	put(w, access_word(0, 0, true, 0x200));
	put(w, wire_word(WIRE_EXEC, 0, 4000000));
}

static void expect_access(const struct tact_trace_access *a, unsigned insn, uint64_t address,
			  unsigned size, bool is_store)
{
	assert_int_equal(a->insn, insn);
	assert_int_equal(a->address, address);
	assert_int_equal(a->size, size);
	assert_int_equal(a->is_store, is_store);
}

static void next(struct tact_trace *t, struct tact_trace_event *event,
		 enum tact_trace_event_kind kind)
{
	struct tact_diag diag = {0};
	int status = tact_trace_next(t, event, &diag);

	if (status < 0)
		fail_msg("%s", diag.text);
	assert_int_equal(status, 1);
	assert_int_equal(event->kind, kind);
	assert_int_equal(event->thread, 5);
}

static void check_program(struct tact_trace *t)
{
	struct tact_trace_summary summary = TACT_TRACE_SUMMARY_INIT;
	struct tact_trace_event e = TACT_TRACE_EVENT_INIT;

	next(t, &e, TACT_TRACE_BEGIN);
	assert_int_equal(e.pid, 42);
	assert_int_equal(e.vcpu, 3);
	assert_int_equal(e.parent, 7);
	next(t, &e, TACT_TRACE_EXEC);
	assert_int_equal(e.block->address, 0x1000);
	assert_int_equal(e.block->number, 0);
	assert_true(e.block->is_open);
	assert_int_equal(e.n_accesses, 3);
	expect_access(&e.accesses[0], 0, 0x8000, 32, false);
	expect_access(&e.accesses[1], 1, 0x100, 4, false);
	expect_access(&e.accesses[2], 1, 0x200, 4, true);
	assert_true(e.block->is_rep);
	assert_int_equal(e.repeats, 4);
	assert_false(e.is_descending);
	next(t, &e, TACT_TRACE_EXEC);
	assert_false(e.block->is_open);
	assert_false(e.block->is_rep);
	assert_int_equal(e.repeats, 0);
	assert_int_equal(e.n_accesses, 2);
	expect_access(&e.accesses[0], 0, 0x308, 16, true);
	expect_access(&e.accesses[1], 1, 0x500, 8, false);
	next(t, &e, TACT_TRACE_EXEC);
	assert_true(e.block->is_rep);
	assert_int_equal(e.repeats, 1);
	assert_int_equal(e.n_accesses, 2);
	next(t, &e, TACT_TRACE_END);
	assert_int_equal(tact_trace_next(t, &e, NULL), 0);
	assert_int_equal(tact_trace_next(t, &e, NULL), 0);
	tact_trace_get_summary(t, &summary);
	assert_int_equal(summary.n_blocks, 3);
	assert_int_equal(summary.n_threads, 1);
	assert_int_equal(summary.n_programs, 1);
	assert_non_null(tact_trace_get_block(t, 2));
	assert_null(tact_trace_get_block(t, 3));
}

TEST(test_events)
{
	static const size_t pieces[] = {1, 2, 3, 5, 1000};
	static uint8_t record[65536];
	struct words w = {.n = 0};

	make_program(&w);
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		size_t size = make_record(&w, WIRE_TRACE, record, sizeof(record), pieces[i], false);
		struct tact_trace *t;

		assert_int_equal(trace_open_memory(&t, record, size, NULL), 0);
		assert_int_equal(tact_trace_get_mode(t), TACT_TRACE_FULL);
		check_program(t);
		tact_trace_close(t);
	}
}

/* mov eax, [rdx]; then a repeated instruction of this length and element, n times: `step` bytes from
 * one access to the next, loads at 0x100 and 0x9000, stores at 0x200.
 */
static void put_repeated(struct words *w, const char *code, size_t size, unsigned n_loads,
			 bool stores, unsigned log_size, unsigned n, int step)
{
	char both[16] = "\x8b\x02";

	memcpy(both + 2, code, size);
	put_begin(w, 42);
	put_block(w, 0, 0x1000, both, size + 2, 2, 2, 0);
	put_block(w, 1, 0x1002, code, size, 1, 0, WIRE_BLOCK_REP);
	put(w, wire_word(WIRE_EXEC, 0, 0));
	put(w, access_word(0, 2, false, 0x500));
	for (unsigned i = 0; i <= n; i++) {
		const uint64_t at = (uint64_t)(int64_t)(step * (int)i);

		if (i)
			put(w, wire_word(WIRE_EXEC, 0, 1));
		if (i == n)
			break; /* none is left */
		for (unsigned k = 0; k < n_loads; k++)
			put(w, access_word(i == 0, log_size, false, (k ? 0x9000 : 0x100) + at));
		if (stores)
			put(w, access_word(i == 0, log_size, true, 0x200 + at));
	}
}

static void check_repeated(struct words *w, size_t n_accesses, uint64_t repeats, bool descends)
{
	static uint8_t record[65536];
	const size_t size = make_record(w, WIRE_TRACE, record, sizeof(record), 7, false);
	struct tact_trace_event e = TACT_TRACE_EVENT_INIT;
	struct tact_trace *t;

	assert_int_equal(trace_open_memory(&t, record, size, NULL), 0);
	next(t, &e, TACT_TRACE_BEGIN);
	next(t, &e, TACT_TRACE_EXEC);
	assert_true(e.block->is_rep);
	assert_int_equal(e.n_accesses, n_accesses);
	assert_int_equal(e.repeats, repeats);
	assert_int_equal(e.is_descending, descends);
	expect_access(&e.accesses[0], 0, 0x500, 4, false);
	for (size_t i = 1; i < n_accesses; i++) {
		assert_int_equal(e.accesses[i].insn, 1);
		assert_int_equal(e.accesses[i].size % repeats, 0);
	}
	next(t, &e, TACT_TRACE_END);
	tact_trace_close(t);
}

TEST(test_repeated_behind_others)
{
	struct words w = {.n = 0};

	put_repeated(&w, "\xf3\x48\xa5", 3, 1, true, 3, 100, 8); /* rep movsq */
	check_repeated(&w, 3, 100, false);
	w.n = 0;
	put_repeated(&w, "\xf3\xaa", 2, 0, true, 0, 33, 1); /* rep stosb */
	check_repeated(&w, 2, 33, false);
	w.n = 0;
	put_repeated(&w, "\xf2\xae", 2, 1, false, 0, 20, 1); /* repne scasb */
	check_repeated(&w, 2, 20, false);
	w.n = 0;
	put_repeated(&w, "\xf3\xa6", 2, 2, false, 0, 50, 1); /* repe cmpsb */
	check_repeated(&w, 3, 50, false);
	w.n = 0;
	put_repeated(&w, "\xf3\x48\xa5", 3, 1, true, 3, 10, -8); /* after std */
	check_repeated(&w, 3, 10, true);
	w.n = 0; /* nothing to do */
	put_repeated(&w, "\xf3\xa4", 2, 1, true, 0, 0, 1);
	check_repeated(&w, 1, 0, false);
}

/* Status of the last call when all of a record is read. */
static int read_all(const uint8_t *data, size_t size, struct tact_diag *diag)
{
	struct tact_trace_event e = TACT_TRACE_EVENT_INIT;
	struct tact_trace *t;
	int status = trace_open_memory(&t, data, size, diag);

	if (status)
		return status;
	while ((status = tact_trace_next(t, &e, diag)) > 0)
		;
	if (status < 0) /* and it stays so */
		assert_int_equal(tact_trace_next(t, &e, diag), status);
	tact_trace_close(t);
	return status;
}

TEST(test_cut_short)
{
	static uint8_t record[65536];
	struct words w = {.n = 0};
	struct tact_diag diag;
	size_t size;

	make_program(&w);
	size = make_record(&w, WIRE_TRACE, record, sizeof(record), 1000, false);
	assert_int_equal(read_all(record, size, &diag), 0);
	for (size_t n = 0; n < size; n++)
		assert_int_equal(read_all(record, n, &diag), -TACT_E_FORMAT);
	record[8]++;
	assert_int_equal(read_all(record, size, &diag), -TACT_E_VERSION);
	assert_string_equal(diag.text, "a trace of version 2; this program reads version 1");
	record[8]--;
	record[size / 2] ^= 0xff;
	assert_int_equal(read_all(record, size, &diag), -TACT_E_FORMAT);
}

static int status_of(struct words *w)
{
	static uint8_t record[65536];
	struct tact_diag diag;
	size_t size = make_record(w, WIRE_TRACE, record, sizeof(record), 1000, false);

	return read_all(record, size, &diag);
}

TEST(test_impossible)
{
	static const struct {
		size_t size, n_insns, last;
		uint32_t number;
	} blocks[] = {{0, 1, 0, 0}, {6, 0, 0, 0},	 {6, 7, 0, 0},
		      {6, 2, 6, 0}, {6, 2, 4, 1u << 26}, {9000, 1, 0, 0}};
	struct words w;

	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		static char code[9000];

		w.n = 0;
		put_begin(&w, 1);
		put_block(&w, blocks[i].number, 0x1000, code, blocks[i].size, blocks[i].n_insns,
			  blocks[i].last, 0);
		assert_int_equal(status_of(&w), -TACT_E_FORMAT);
	}
	w.n = 0; /* not defined */
	put_begin(&w, 1);
	put(&w, wire_word(WIRE_EXEC, 0, 0));
	assert_int_equal(status_of(&w), -TACT_E_FORMAT);
	w.n = 0; /* no beginning */
	put_block(&w, 0, 0x1000, "\x90", 1, 1, 0, 0);
	assert_int_equal(status_of(&w), -TACT_E_FORMAT);
	w.n = 0; /* an instruction that does not exist: what QEMU stores for a signal; left out */
	put_begin(&w, 1);
	put_block(&w, 0, 0x1000, "\x90", 1, 1, 0, 0);
	put(&w, wire_word(WIRE_EXEC, 0, 0));
	put(&w, access_word(1, 0, false, 0));
	assert_int_equal(status_of(&w), 0);
	w.n = 0; /* too long */
	put_begin(&w, 1);
	put(&w, wire_word(WIRE_NOTE, WIRE_MAX_PAYLOAD + 1, 99));
	assert_int_equal(status_of(&w), -TACT_E_FORMAT);
	w.n = 0; /* a system call without its number */
	put_begin(&w, 1);
	put(&w, wire_word(WIRE_NOTE, 0, WIRE_NOTE_CALL));
	assert_int_equal(status_of(&w), -TACT_E_FORMAT);
	w.n = 0; /* of a later version: passed over */
	put_begin(&w, 1);
	put(&w, wire_word(WIRE_NOTE, 2, 99));
	put(&w, 0);
	put(&w, 0);
	put(&w, wire_word((enum wire_kind)7, 1, 0));
	put(&w, 0);
	assert_int_equal(status_of(&w), 0);
}

/* A call comes after the block that calls, and before the one that follows. */
TEST(test_calls)
{
	static uint8_t record[65536];
	struct words w = {.n = 0};
	struct tact_trace_event e = TACT_TRACE_EVENT_INIT;
	static const enum tact_trace_event_kind kinds[] = {TACT_TRACE_BEGIN, TACT_TRACE_EXEC,
							   TACT_TRACE_CALL, TACT_TRACE_EXEC,
							   TACT_TRACE_END};
	struct tact_trace *t;
	size_t size;

	put_begin(&w, 1);
	put_block(&w, 0, 0x1000, "\x0f\x05", 2, 1, 0, 0);
	put(&w, wire_word(WIRE_EXEC, 0, 0));
	put(&w, wire_word(WIRE_NOTE, 1, WIRE_NOTE_CALL));
	put(&w, 228);
	put(&w, wire_word(WIRE_EXEC, 0, 0));
	size = make_record(&w, WIRE_TRACE, record, sizeof(record), 3, false);
	assert_int_equal(trace_open_memory(&t, record, size, NULL), 0);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		assert_int_equal(tact_trace_next(t, &e, NULL), 1);
		assert_int_equal(e.kind, kinds[i]);
		if (e.kind == TACT_TRACE_CALL)
			assert_int_equal(e.count, 228);
	}
	assert_int_equal(tact_trace_next(t, &e, NULL), 0);
	tact_trace_close(t);
}

TEST(test_counts)
{
	static uint8_t record[65536];
	struct words w = {.n = 0};
	struct tact_trace_event e = TACT_TRACE_EVENT_INIT;
	struct tact_trace *t;
	size_t size;

	put_begin(&w, 1);
	put_block(&w, 3, 0x1000, "\x90\xc3", 2, 2, 1, 0);
	put(&w, wire_word(WIRE_COUNTED, 1, 3));
	put(&w, 1ull << 63);
	size = make_record(&w, WIRE_COUNT, record, sizeof(record), 2, false);
	assert_int_equal(trace_open_memory(&t, record, size, NULL), 0);
	next(t, &e, TACT_TRACE_BEGIN);
	next(t, &e, TACT_TRACE_COUNTED);
	assert_int_equal(e.count, 1ull << 63);
	assert_int_equal(e.block->address, 0x1000);
	next(t, &e, TACT_TRACE_END);
	assert_int_equal(tact_trace_next(t, &e, NULL), 0);
	tact_trace_close(t);
}

TEST(test_misuse)
{
	struct tact_trace_options opt = {.size = sizeof(opt), .mode = TACT_TRACE_COUNT};
	const struct tact_trace_region empty = {5, 5, NULL, false};
	char name[] = "/bin/true", *argv[] = {name, NULL}, *none[] = {NULL};
	struct tact_trace *t;
	struct tact_diag diag;

	assert_int_equal(tact_trace_launch(NULL, &opt, argv, &diag), -TACT_E_INVAL);
	assert_int_equal(tact_trace_launch(&t, NULL, none, &diag), -TACT_E_INVAL);
	assert_int_equal(tact_trace_launch(&t, &opt, none, &diag), -TACT_E_INVAL);
	assert_int_equal(tact_trace_launch(&t, &opt, NULL, &diag), -TACT_E_INVAL);
	assert_int_equal(tact_trace_launch(&t, &opt, argv, &diag), -TACT_E_NO_TOOL);
	opt.n_regions = 1;
	assert_int_equal(tact_trace_launch(&t, &opt, argv, &diag), -TACT_E_INVAL);
	opt.regions = &empty;
	assert_int_equal(tact_trace_launch(&t, &opt, argv, &diag), -TACT_E_INVAL);
	assert_int_equal(tact_trace_open(&t, "/nonexistent", &diag), -TACT_E_IO);
	assert_int_equal(tact_trace_open_fd(&t, -1, &diag), -TACT_E_INVAL);
	opt = (struct tact_trace_options){.size = sizeof(opt), .mode = (enum tact_trace_mode)3};
	assert_int_equal(tact_trace_launch(&t, &opt, argv, &diag), -TACT_E_INVAL);
	opt = (struct tact_trace_options){.size = 0};
	assert_int_equal(tact_trace_launch(&t, &opt, argv, &diag), -TACT_E_INVAL);
	tact_trace_close(NULL);
}

static void write_file(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	chmod(path, mode);
}

/* The traced program has the shared memory, too: it must not take its pages away. */
TEST(shared_memory_keeps_its_size)
{
	struct trace_live *live;
	char path[64];
	struct stat info;
	int fd;

	assert_int_equal(trace_live_create(&live, WIRE_TRACE, NULL), 0);
	trace_live_path(live, path, sizeof(path));
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &info), 0);
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_int_equal(ftruncate(fd, info.st_size + 4096), -1);
	/* A seal against writing would end the stream. */
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE), -1);
	close(fd);
	trace_live_destroy(live);
}

/* One block whose numbers are as far apart as can be, in many streams: some hundred KB on disk. */
TEST(numbers_far_apart_take_no_memory)
{
	enum { STREAMS = 400, STEP = 256, BLOCKS = 100 };
	static const char code[] = "\x90";
	struct trace_events *e;
	struct words w = {0};
	struct trace_piece piece;
	struct tact_diag diag = {0};
	struct rusage before, after;
	int status = 0;

	assert_int_equal(trace_events_create(&e, WIRE_TRACE), 0);
	getrusage(RUSAGE_SELF, &before);
	for (uint32_t k = 0; k < STREAMS && status >= 0; k++) {
		struct tact_trace_event event;

		w.n = 0;
		put_begin(&w, 1);
		for (uint32_t i = 0; i < BLOCKS; i++)
			put_block(&w, (1u << 26) - 1 - i * STEP, 0x1000, code, 1, 1, 0, 0);
		piece = (struct trace_piece){k, w.data, w.n};
		status = trace_events_feed(e, &piece, &diag);
		while (status >= 0 && (status = trace_events_next(e, &event, &diag)) > 0)
			;
	}
	getrusage(RUSAGE_SELF, &after);
	assert_int_equal(status, -TACT_E_FORMAT);
	assert_non_null(strstr(diag.text, "far apart"));
	if (!is_slow())
		assert_true(after.ru_maxrss - before.ru_maxrss < 150000); /* KB */
	trace_events_destroy(e);
}

TEST(test_resolve)
{
	char directory[] = "/tmp/tact-test-XXXXXX", script[64], loop[64], text[128];
	char *argv[] = {(char *)"s", (char *)"one", NULL};
	struct trace_command c;
	struct tact_diag diag;

	assert_non_null(mkdtemp(directory));
	snprintf(script, sizeof(script), "%s/s", directory);
	snprintf(loop, sizeof(loop), "%s/loop", directory);
	assert_int_equal(trace_command_resolve(&c, directory, NULL, argv, &diag), -TACT_E_IO);
	write_file(script, "#! /bin/sh  -e x \nexit 0\n", 0755);
	assert_int_equal(trace_command_resolve(&c, directory, NULL, argv, &diag), 0);
	assert_int_equal(c.n_words, 6);
	assert_string_equal(c.words[0], "-0");
	assert_string_equal(c.words[1], "/bin/sh");
	assert_string_equal(c.words[2], "/bin/sh");
	assert_string_equal(c.words[3], "-e x");
	assert_string_equal(c.words[4], script);
	assert_string_equal(c.words[5], "one");
	assert_null(c.words[6]);
	trace_command_fini(&c);
	write_file(script, "exit 0\n", 0755);
	assert_int_equal(trace_command_resolve(&c, directory, NULL, argv, &diag), -TACT_E_FORMAT);
	write_file(script, "\177ELF", 0755);
	assert_int_equal(trace_command_resolve(&c, directory, NULL, argv, &diag), -TACT_E_FORMAT);
	snprintf(text, sizeof(text), "#!%s\n", loop);
	write_file(loop, text, 0755);
	argv[0] = loop;
	assert_int_equal(trace_command_resolve(&c, NULL, NULL, argv, &diag), -TACT_E_FORMAT);
	argv[0] = directory;
	assert_int_equal(trace_command_resolve(&c, NULL, NULL, argv, &diag), -TACT_E_IO);
	unlink(script);
	unlink(loop);
	rmdir(directory);
}

RUN_TESTS(NULL, NULL)
