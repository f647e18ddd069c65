/* SPDX-License-Identifier: MIT
 *
 * A small program under QEMU: regions, windows, records, a slow reader, programs that are ended.
 */
#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include <arpa/inet.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "support.h"
#include "trace/wire.h"

enum { BASE = 0x400000, CODE = 0x1000, ROUNDS = 1000 };

/* entry: mov ebx, ROUNDS; 1: call f; dec ebx; jnz 1b; call g; mov eax, 60; mov edi, 7; syscall
 * f: mov rax, [rsp]; ret       g: nop; ret       h: jmp h
 */
static const uint8_t code[] = {
	0xbb,	     ROUNDS & 255,
	ROUNDS >> 8, 0,
	0, /* 00 */
	0xe8,	     0x1a,
	0,	     0,
	0,		   /* 05: call 24 */
	0xff,	     0xcb, /* 0a */
	0x75,	     0xf7, /* 0c */
	0xe8,	     0x16,
	0,	     0,
	0, /* 0e: call 29 */
	0xb8,	     60,
	0,	     0,
	0, /* 13 */
	0xbf,	     7,
	0,	     0,
	0,		   /* 18 */
	0x0f,	     0x05, /* 1d */
	0x90,	     0x90,
	0x90,	     0x90,
	0x90, /* 1f */
	0x48,	     0x8b,
	0x04,	     0x24,
	0xc3,		   /* 24 f */
	0x90,	     0xc3, /* 29 g */
	0xeb,	     0xfe, /* 2b h */
};

enum { F = CODE + 0x24, G = CODE + 0x29, H = CODE + 0x2b, MIDDLE = CODE + 0x13 };

struct fixture {
	char directory[64], program[128], endless[128], record[128], plugin[256];
};

static void write_program(const char *path, uint64_t entry)
{
	Elf64_Ehdr e = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				    EV_CURRENT},
			.e_type = ET_EXEC,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_entry = BASE + entry,
			.e_phoff = sizeof(e),
			.e_ehsize = sizeof(e),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 1};
	Elf64_Phdr p = {.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_vaddr = BASE,
			.p_filesz = CODE + sizeof(code),
			.p_memsz = CODE + sizeof(code),
			.p_align = 0x1000};
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, &e, sizeof(e), 0), sizeof(e));
	assert_int_equal(pwrite(fd, &p, sizeof(p), sizeof(e)), sizeof(p));
	assert_int_equal(pwrite(fd, code, sizeof(code), CODE), sizeof(code));
	close(fd);
}

static int set_up(void **state)
{
	static struct fixture f;
	const char *build = getenv("TACT_BUILD");

	strcpy(f.directory, "/tmp/tact-test-XXXXXX");
	if (!mkdtemp(f.directory))
		return -1;
	snprintf(f.program, sizeof(f.program), "%s/program", f.directory);
	snprintf(f.endless, sizeof(f.endless), "%s/endless", f.directory);
	snprintf(f.record, sizeof(f.record), "%s/record.tct", f.directory);
	snprintf(f.plugin, sizeof(f.plugin), "%s/tact_trace.so", build ? build : "build");
	write_program(f.program, CODE);
	write_program(f.endless, H);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	unlink(f->program);
	unlink(f->endless);
	unlink(f->record);
	rmdir(f->directory);
	return 0;
}

static struct tact_trace *start(struct fixture *f, struct tact_trace_options *opt,
				const char *program)
{
	char *argv[] = {(char *)program, NULL};
	struct tact_trace *t;
	struct tact_diag diag;
	int status;

	opt->size = sizeof(*opt);
	opt->plugin = f->plugin;
	opt->path = getenv("PATH");
	status = tact_trace_launch(&t, opt, argv, &diag);
	if (status == -TACT_E_NO_TOOL) {
		printf("skip: %s\n", diag.text);
		skip();
	}
	if (status)
		fail_msg("%s", diag.text);
	return t;
}

/* What came: executions by what was executed. */
struct seen {
	uint64_t all, f, g, insns, loads, stores, threads, on, off;
};

static void take(struct tact_trace *t, struct seen *s)
{
	struct tact_trace_event e = TACT_TRACE_EVENT_INIT;
	struct tact_diag diag;
	int status;

	memset(s, 0, sizeof(*s));
	while ((status = tact_trace_next(t, &e, &diag)) > 0) {
		uint64_t n = e.kind == TACT_TRACE_COUNTED ? e.count : 1;

		s->threads += e.kind == TACT_TRACE_END;
		s->on += e.kind == TACT_TRACE_ON;
		s->off += e.kind == TACT_TRACE_OFF;
		if (e.kind != TACT_TRACE_EXEC && e.kind != TACT_TRACE_COUNTED)
			continue;
		s->all += n;
		s->insns += n * e.block->n_insns;
		s->f += e.block->address == BASE + F ? n : 0;
		s->g += e.block->address == BASE + G ? n : 0;
		for (size_t i = 0; i < e.n_accesses; i++) {
			assert_int_equal(e.accesses[i].size, 8);
			s->loads += !e.accesses[i].is_store;
			s->stores += e.accesses[i].is_store;
		}
	}
	if (status < 0)
		fail_msg("%s", diag.text);
}

static void expect_all(const struct seen *s)
{
	assert_int_equal(s->f, ROUNDS);
	assert_int_equal(s->g, 1);
	assert_int_equal(s->insns, 1 + ROUNDS * 5 + 1 + 2 + 3);
	assert_int_equal(s->threads, 1);
}

static void expect_end(struct tact_trace *t)
{
	struct tact_trace_summary s = TACT_TRACE_SUMMARY_INIT;

	tact_trace_get_summary(t, &s);
	assert_true(s.is_attached);
	assert_true(s.has_ended);
	assert_true(WIFEXITED(s.wait_status));
	assert_int_equal(WEXITSTATUS(s.wait_status), 7);
	assert_int_equal(s.n_native, 0);
	assert_int_equal(s.lost_threads, 0);
}

TEST(test_count)
{
	struct tact_trace_options opt = {.mode = TACT_TRACE_COUNT};
	struct fixture *f = *state;
	struct tact_trace *t = start(f, &opt, f->program);
	struct seen s;

	take(t, &s);
	expect_all(&s);
	expect_end(t);
	tact_trace_close(t);
}

TEST(test_full)
{
	struct tact_trace_options opt = {.mode = TACT_TRACE_FULL};
	struct fixture *f = *state;
	struct tact_trace *t = start(f, &opt, f->program);
	struct tact_trace_module m = TACT_TRACE_MODULE_INIT;
	struct seen s;

	take(t, &s);
	expect_all(&s);
	expect_end(t);
	assert_int_equal(s.loads, 2 * ROUNDS + 1); /* of f, and the returns */
	assert_int_equal(s.stores, ROUNDS + 1);	   /* the calls */
	assert_int_equal(tact_trace_get_module(t, 1, &m), 0);
	assert_string_equal(m.path, f->program);
	assert_true(m.begin <= BASE + CODE && m.end > BASE + CODE);
	assert_int_equal(BASE + CODE - m.begin + m.offset, CODE);
	assert_int_equal(tact_trace_get_module(t, 0, &m), -TACT_E_INVAL);
	assert_int_equal(tact_trace_get_module(t, 2, &m), -TACT_E_INVAL);
	tact_trace_close(t);
}

TEST(test_regions)
{
	struct fixture *f = *state;
	struct tact_trace_region r[2] = {{BASE + F, BASE + F + 1, NULL, false},
					 {G, G + 1, f->program, false}};
	struct tact_trace_options opt = {.mode = TACT_TRACE_FULL, .regions = r, .n_regions = 2};
	struct tact_trace *t = start(f, &opt, f->program);
	struct seen s;

	take(t, &s);
	tact_trace_close(t);
	assert_int_equal(s.all, ROUNDS + 1);
	assert_int_equal(s.f, ROUNDS);
	assert_int_equal(s.g, 1);
	assert_int_equal(s.loads, 2 * ROUNDS + 1);
	assert_int_equal(s.stores, 0);
	r[0].is_excluded = r[1].is_excluded = true;
	for (int mode = TACT_TRACE_FULL; mode <= TACT_TRACE_COUNT; mode++) {
		opt.mode = (enum tact_trace_mode)mode;
		t = start(f, &opt, f->program);
		take(t, &s);
		tact_trace_close(t);
		assert_int_equal(s.f + s.g, 0);
		assert_int_equal(s.insns, 1 + ROUNDS * 3 + 1 + 3);
	}
	r[0] = (struct tact_trace_region){0x10000, 0x20000, NULL, false}; /* never runs */
	opt.n_regions = 1;
	t = start(f, &opt, f->program);
	take(t, &s);
	expect_end(t);
	tact_trace_close(t);
	assert_int_equal(s.all, 0);
	assert_int_equal(s.threads, 1);
}

TEST(test_window)
{
	struct fixture *f = *state;
	struct tact_trace_region from = {.begin = BASE + G},
				 until = {.begin = MIDDLE, .file = f->program};
	struct tact_trace_options opt = {.from = &from, .until = &until};
	struct seen s;

	for (int mode = TACT_TRACE_FULL; mode <= TACT_TRACE_COUNT; mode++) {
		struct tact_trace *t;

		opt.mode = (enum tact_trace_mode)mode;
		t = start(f, &opt, f->program);
		take(t, &s);
		tact_trace_close(t);
		assert_int_equal(s.all, 1);
		assert_int_equal(s.g, 1);
		assert_int_equal(s.on, 1);
		assert_int_equal(s.off, 1);
	}
	opt.from = NULL; /* from the beginning */
	opt.mode = TACT_TRACE_FULL;
	{
		struct tact_trace *t = start(f, &opt, f->program);

		take(t, &s);
		tact_trace_close(t);
	}
	assert_int_equal(s.insns, 1 + ROUNDS * 5 + 1 + 2);
}

TEST(test_record)
{
	struct tact_trace_options opt = {.mode = TACT_TRACE_FULL};
	struct fixture *f = *state;
	struct tact_trace *t = start(f, &opt, f->program);
	int fd = open(f->record, O_RDWR | O_CREAT | O_TRUNC, 0600);
	struct tact_diag diag;
	struct seen s;

	assert_int_equal(tact_trace_record(t, fd, NULL, NULL, &diag), 0);
	expect_end(t);
	tact_trace_close(t);
	close(fd);
	assert_int_equal(tact_trace_open(&t, f->record, &diag), 0);
	take(t, &s);
	expect_all(&s);
	tact_trace_close(t);
	/* A disk that is full. */
	t = start(f, &opt, f->program);
	fd = open("/dev/full", O_WRONLY);
	if (fd >= 0) {
		assert_int_equal(tact_trace_record(t, fd, NULL, NULL, &diag), -TACT_E_IO);
		close(fd);
	}
	tact_trace_close(t);
}

/* The same through TCP. */
TEST(test_socket)
{
	struct tact_trace_options opt = {.mode = TACT_TRACE_FULL};
	struct fixture *f = *state;
	struct sockaddr_in name;
	socklen_t size = sizeof(name);
	struct tact_diag diag;
	struct tact_trace *t;
	struct seen s;
	char address[32];
	int listener, to, from;
	pid_t child;

	assert_int_equal(tact_trace_connect("nonsense", &diag), -TACT_E_INVAL);
	assert_int_equal(tact_trace_connect("localhost:", &diag), -TACT_E_INVAL);
	assert_int_equal(tact_trace_connect(NULL, &diag), -TACT_E_INVAL);
	assert_int_equal(tact_trace_listen("127.0.0.1:nonsense", &diag), -TACT_E_IO);
	listener = tact_trace_listen("127.0.0.1:0", &diag);
	if (listener < 0)
		fail_msg("%s", diag.text);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&name, &size), 0);
	snprintf(address, sizeof(address), "127.0.0.1:%d", ntohs(name.sin_port));
	to = tact_trace_connect(address, &diag);
	assert_true(to >= 0);
	t = start(f, &opt, f->program);
	child = fork(); /* reads: neither side may wait for the other */
	if (!child) {
		struct tact_trace *r;

		close(to);
		from = tact_trace_accept(listener, &diag);
		if (from < 0 || tact_trace_open_fd(&r, from, &diag))
			_exit(1);
		take(r, &s);
		expect_all(&s);
		_exit(0);
	}
	close(listener);
	assert_int_equal(tact_trace_record(t, to, NULL, NULL, &diag), 0);
	close(to);
	expect_end(t);
	tact_trace_close(t);
	assert_int_equal(waitpid(child, &to, 0), child);
	assert_int_equal(to, 0);
}

static _Noreturn void connect_strangers(const char *address)
{
	enum { SILENT = 40 };
	static const char nonsense[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
	const struct wire_file header = {WIRE_FILE_MAGIC, WIRE_VERSION, WIRE_TRACE};
	int rude, to;
	char byte;

	for (unsigned i = 0; i < SILENT; i++)
		if (tact_trace_connect(address, NULL) < 0)
			_exit(1);
	close(tact_trace_connect(address, NULL));
	rude = tact_trace_connect(address, NULL);
	if (write(rude, nonsense, sizeof(nonsense)) != sizeof(nonsense) || read(rude, &byte, 1) > 0)
		_exit(2); /* it is closed, before a trace comes */
	to = tact_trace_connect(address, NULL);
	if (write(to, &header, sizeof(header)) != sizeof(header) || read(to, &byte, 1) != 0)
		_exit(3);
	_exit(0);
}

/* Strangers come first: many say nothing, one goes away, one talks nonsense.  The trace still arrives.
 */
TEST(strangers_keep_nobody_out)
{
	struct wire_file header = {0};
	struct sockaddr_in name;
	socklen_t size = sizeof(name);
	char address[32];
	int from, listener = tact_trace_listen(":0", NULL), status;
	pid_t child;

	assert_true(listener >= 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&name, &size), 0);
	assert_int_equal(name.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
	snprintf(address, sizeof(address), ":%d", ntohs(name.sin_port));
	child = fork();
	if (!child)
		connect_strangers(address);
	from = tact_trace_accept(listener, NULL);
	assert_true(from >= 0);
	assert_int_equal(read(from, &header, sizeof(header)), sizeof(header));
	assert_true(header.magic == WIRE_FILE_MAGIC);
	close(from);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	close(listener);
}

/* The library is in somebody else's program, which has SIGPIPE as it is at the start. */
TEST(a_reader_that_goes_away_is_no_signal)
{
	struct tact_trace_options opt = {.mode = TACT_TRACE_FULL};
	struct fixture *f = *state;
	void (*before)(int) = signal(SIGPIPE, SIG_DFL);
	struct tact_trace *t = start(f, &opt, f->endless);
	struct tact_diag diag = {0};
	int line[2];

	assert_int_equal(pipe(line), 0);
	close(line[0]);
	assert_int_equal(tact_trace_record(t, line[1], NULL, NULL, &diag), -TACT_E_IO);
	close(line[1]);
	tact_trace_close(t);
	assert_int_equal(file_write_some(-1, "x", 1), -1);
	signal(SIGPIPE, before);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Takes nothing for a while, so that the ring is full and the program waits; then ends it. */
TEST(test_end)
{
	struct tact_trace_options opt = {.mode = TACT_TRACE_FULL};
	struct fixture *f = *state;
	struct tact_trace *t = start(f, &opt, f->endless);
	struct tact_trace_summary summary = TACT_TRACE_SUMMARY_INIT;
	struct tact_trace_event e = TACT_TRACE_EVENT_INIT;
	double begin;
	int status, n = 0;

	usleep(300000);
	while ((status = tact_trace_next(t, &e, NULL)) > 0 && n < 400000)
		n++; /* more than the ring holds */
	assert_int_equal(status, 1);
	begin = now();
	tact_trace_stop(t);
	while ((status = tact_trace_next(t, &e, NULL)) > 0)
		;
	assert_int_equal(status, 0);
	assert_int_equal(e.kind, TACT_TRACE_END);
	tact_trace_get_summary(t, &summary);
	assert_true(WIFSIGNALED(summary.wait_status));
	assert_int_equal(WTERMSIG(summary.wait_status), SIGTERM);
	tact_trace_close(t);
	opt.mode = TACT_TRACE_COUNT;
	t = start(f, &opt, f->endless);
	usleep(100000);
	tact_trace_close(t); /* ends it, too */
	assert_true(now() - begin < 20);
}

RUN_TESTS(set_up, tear_down)
