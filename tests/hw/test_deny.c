/* SPDX-License-Identifier: MIT
 *
 * The sandbox is whole, or nothing is measured: every part of it is taken away, one at a time.
 *
 * 'tact measure' runs under tests/hw/deny.c, which lets a system call fail.  It must end with
 * status 3 and a message that names what is missing.  It must not measure, wait for ever, or leave a
 * process or a file behind.
 *
 * TACT_DENY_ALL=1 tries every system call of every process with several errors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include "hw.h"

enum {
	MAX_ARGS = 24,
	TEXT = 1 << 16,
	SOME_FAILED = 1, /* exit statuses of tact */
	UNABLE = 3,
	DENY_TIMEOUT = 124,
	DENY_LEFT = 125,
	DENY_UNABLE = 126
};

static const char imul_hex[] = "480fafc3"; /* 3 cycles */

struct place {
	char deny[4096], tact[4096], folder[64], log[96];
};

struct result {
	int status;
	char out[TEXT], err[TEXT];
};

static struct place place;

static unsigned count_entries(const char *folder)
{
	DIR *dir = opendir(folder);
	unsigned n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* The programs are next to this one. */
static int find_place(void **state)
{
	char self[2048];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	(void)state;
	if (n <= 0)
		return -1;
	self[n] = 0;
	*strrchr(self, '/') = 0;
	snprintf(place.deny, sizeof(place.deny), "%s/deny", self);
	snprintf(place.tact, sizeof(place.tact), "%s/../../tact", self);
	snprintf(place.folder, sizeof(place.folder), "/tmp/tact_deny_XXXXXX");
	if (!mkdtemp(place.folder))
		return -1;
	snprintf(place.log, sizeof(place.log), "%s.log", place.folder);
	return access(place.deny, X_OK) || access(place.tact, X_OK) ? -1 : 0;
}

static int leave_place(void **state)
{
	(void)state;
	unlink(place.log);
	return rmdir(place.folder);
}

static void read_all(int fd, char *text)
{
	size_t n = 0;
	ssize_t got;

	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	while (n < TEXT - 1 && (got = read(fd, text + n, TEXT - 1 - n)) > 0)
		n += (size_t)got;
	text[n] = 0;
	close(fd);
}

static int open_nowhere(void)
{
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	return fd;
}

/* Runs 'deny OPTIONS -- tact measure ...' in an empty folder. */
static void run_denied(struct result *r, const char *const *options)
{
	const char *args[MAX_ARGS] = {place.deny};
	int out = open_nowhere(), err = open_nowhere(), n = 1, status = 0;
	pid_t pid;

	while (*options)
		args[n++] = *options++;
	args[n++] = "--";
	args[n++] = place.tact;
	for (const char *const *p =
		     (const char *const[]){"measure", "-f", "csv", "--noisy", "--timeout", "1000",
					   "--rung", "tsc", "-x", imul_hex, NULL};
	     *p; p++)
		args[n++] = *p;
	fflush(NULL);
	pid = fork();
	if (!pid) {
		dup2(out, 1);
		dup2(err, 2);
		if (chdir(place.folder) < 0 || setenv("TMPDIR", place.folder, 1) < 0 ||
		    unsetenv("HOME") < 0 || unsetenv("XDG_STATE_HOME") < 0) /* keeps no state */
			_exit(DENY_UNABLE);
		execv(args[0], (char *const *)(uintptr_t)args);
		_exit(DENY_UNABLE);
	}
	assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
	r->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	read_all(out, r->out);
	read_all(err, r->err);
}

/* The cycles, from the row of the CSV; 0: none. */
static double number_of(const struct result *r)
{
	const char *ok = strstr(r->out, ",ok,");

	return ok ? strtod(ok + 4, NULL) : 0;
}

/* Whether one of the words, which '|' separates, is in the text. */
static bool has_word(const char *text, const char *words)
{
	char word[64];

	for (; *words; words += strspn(words, "|")) {
		size_t n = strcspn(words, "|");

		snprintf(word, sizeof(word), "%.*s", (int)n, words);
		if (strstr(text, word))
			return true;
		words += n;
	}
	return false;
}

static bool is_wrong(const struct result *r)
{
	return number_of(r) > 0 && fabs(number_of(r) - 4) > 1.5; /* noise counts here */
}

/* A row without a number that says why: somebody else kept the core busy. */
static bool is_disturbed(const struct result *r)
{
	static const char *const busy[] = {",unstable,", ",disturbed,", ",unconfirmed,",
					   ",timeout,"};

	for (size_t i = 0; r->status == SOME_FAILED && i < ARRAY_SIZE(busy); i++)
		if (strstr(r->out, busy[i]))
			return true;
	return false;
}

static unsigned wrong;

/* Counts, and goes on: one run shows all that is missing. */
static void complain(const char *what, const char *why, const struct result *r)
{
	const char *row = strchr(r->out, '\n');

	print_message("%s: %s (status %d) row '%.100s' err '%.200s'\n", what, why, r->status,
		      row ? row + 1 : r->out, r->err);
	wrong++;
}

/* What holds whatever was taken away. */
static bool ended_well(const char *what, const struct result *r)
{
	if (r->status == DENY_TIMEOUT)
		complain(what, "hangs", r);
	else if (r->status == DENY_LEFT)
		complain(what, "leaves a process behind", r);
	else if (r->status > 128)
		complain(what, "dies of a signal", r);
	else if (count_entries(place.folder) != 2)
		complain(what, "leaves a file behind", r);
	else
		return true;
	return false;
}

/* ---- parts by their names ---- */

/* What may be missing, as a rule of deny, and words of which one must be in the message. */
static const struct {
	const char *rule, *words;
} parts[] = {
	/* the program of its own, and its memory */
	{"memfd_create=ENOSYS", "memfd_create"},
	{"memfd_create=EACCES", "memfd_create"},
	{"execveat=ENOSYS", "execveat"},
	{"execveat=EACCES", "execveat"}, /* vm.memfd_noexec */
	{"memfd_create#2+=ENOMEM", "shared memory"},
	{"mmap:0=0x200000000000=ENOMEM", "out of memory"},
	{"mmap:0=0x200000000000=EPERM", "mmap"},
	{"mmap:0=0x3e0000000000=EPERM", "mmap"},
	{"munmap:0=0=EINVAL", "munmap"}, /* the first of many */
	{"munmap:0=0x3f0000000000=EINVAL", "munmap"},
	{"ftruncate=ENOMEM", "ftruncate"},
	/* processes and their pipes */
	{"clone=EAGAIN", "clone"},
	{"clone=ENOSYS", "clone"},
	{"close_range=ENOSYS", "close_range"}, /* before Linux 5.9 */
	{"close_range=EPERM", "close_range"},  /* old containers */
	/* namespaces and privileges */
	{"unshare=EPERM", "unshare"},
	{"unshare=ENOSYS", "unshare"},
	{"unshare=EUSERS", "unshare"}, /* user.max_user_namespaces */
	{"unshare=ENOSPC", "unshare"},
	{"setresuid=EPERM", "setresuid"},
	{"setresgid=EPERM", "setresuid"},
	{"setgroups=EPERM", "setresuid"},
	{"capset=EPERM", "setresuid"},
	{"geteuid=EPERM", "setresuid"},
	{"getrandom=ENOSYS", "getrandom"},
	{"prctl:0=38=EPERM", "PR_SET_NO_NEW_PRIVS"},
	{"prctl:0=1=EPERM", "PR_SET_PDEATHSIG"},
	{"prctl:0=4=EPERM", "PR_SET_DUMPABLE"},
	/* the filter; either call may install it */
	{"seccomp=ENOSYS prctl:0=22=EINVAL", "seccomp"},
	{"seccomp=EPERM prctl:0=22=EPERM", "seccomp"},
	{"seccomp=0 prctl:0=22=0", "seccomp"}, /* says that it worked, and it has not */
	/* limits */
	{"prlimit64:3=0=EPERM setrlimit=EPERM", "prlimit64"},
	{"prlimit64:3=0=ENOSYS setrlimit=ENOSYS", "prlimit64"},
	/* faults */
	{"sigaltstack=EINVAL", "sigaltstack"},
	{"sigaltstack=ENOMEM", "out of memory"},
	{"rt_sigaction:0=11=EINVAL", "rt_sigaction"},
	{"rt_sigaction:0=7=EINVAL", "rt_sigaction"},
	{"rt_sigaction:0=4=EINVAL", "rt_sigaction"},
	{"rt_sigaction:0=8=EINVAL", "rt_sigaction"},
	{"rt_sigaction:0=5=EINVAL", "rt_sigaction"},
	{"arch_prctl:0=0x1001=EPERM", "arch_prctl"},	/* ARCH_SET_GS */
	{"arch_prctl:0=0x1002#2+=EPERM", "arch_prctl"}, /* ARCH_SET_FS; the first is libc's */
};

/* Splits a rule at blanks. */
static void run_rule(struct result *r, const char *rule)
{
	const char *options[MAX_ARGS] = {NULL};
	char text[128], *save = NULL;
	unsigned n = 0;

	snprintf(text, sizeof(text), "%s", rule);
	for (char *p = strtok_r(text, " ", &save); p; p = strtok_r(NULL, " ", &save))
		options[n++] = p;
	run_denied(r, options);
}

static void each_part(void **state)
{
	static struct result r;

	(void)state;
	wrong = 0;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (geteuid() && !strncmp(parts[i].rule, "set", 3))
			continue; /* who is not root has no other identity to give up */
		run_rule(&r, parts[i].rule);
		if (r.status == DENY_UNABLE)
			skip();
		if (!ended_well(parts[i].rule, &r))
			continue;
		if (number_of(&r) > 0 || r.status != UNABLE)
			complain(parts[i].rule, "goes on without it", &r);
		else if (!has_word(r.err, parts[i].words))
			complain(parts[i].rule, "does not say what is missing", &r);
	}
	assert_int_equal(wrong, 0);
}

/* Not parts of the sandbox: without them it measures rightly, or says why not. */
static void what_is_not_needed(void **state)
{
	static const char *const rules[] = {
		"--no-proc",
		"--limit nofile=32",

		"perf_event_open=EPERM",
		"getrandom=ENOSYS",
		"clone3=ENOSYS",
		"rseq=ENOSYS",
		"sched_yield=EPERM",
		"--limit stack=1048576",
		"--limit memlock=0",
		"membarrier=ENOSYS",
	};
	static struct result r;

	(void)state;
	wrong = 0;
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		run_rule(&r, rules[i]);
		if (r.status == DENY_UNABLE || !ended_well(rules[i], &r))
			continue;
		if (is_wrong(&r))
			complain(rules[i], "wrong", &r);
		else if (r.status != 0 && !is_disturbed(&r) &&
			 (r.status != UNABLE || strlen(r.err) < 20))
			complain(rules[i], "has no reason", &r);
	}
	assert_int_equal(wrong, 0);
}

/* ---- every call of every process ---- */

struct call {
	unsigned process, index;
	unsigned long long first; /* argument */
	char name[32], text[160];
};

static struct call call_list[4096];

/* What the processes that tact starts ask of the kernel, when nothing is denied. */
static size_t list_calls(struct result *r)
{
	const char *const options[] = {"--log", place.log, NULL};
	char line[256];
	size_t n = 0;
	FILE *f;

	run_denied(r, options);
	if (r->status == DENY_UNABLE)
		return 0;
	assert_true(!r->status || is_disturbed(r));
	f = fopen(place.log, "re");
	assert_non_null(f);
	while (n < ARRAY_SIZE(call_list) && fgets(line, sizeof(line), f)) {
		struct call *c = &call_list[n];

		line[strcspn(line, "\n")] = 0;
		snprintf(c->text, sizeof(c->text), "%.150s", line);
		assert_int_equal(
			sscanf(line, "%u.%u %31s %llx", &c->process, &c->index, c->name, &c->first),
			4);
		n += c->process > 0;
	}
	fclose(f);
	return n;
}

/* Calls that do not protect anything: messages, whose loss is seen at the other end, and
 * namespaces, which have a second way.
 */
static bool is_harmless(const struct call *c)
{
	enum { SET_NAME = 15 };
	static const char *const names[] = {"exit",  "rt_sigreturn",	"read",	  "writev",
					    "wait4", "perf_event_open", "unshare"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i], c->name))
			return true;
	return !strcmp(c->name, "prctl") && c->first == SET_NAME;
}

/* Whether the process whose call was denied has given up: it says so, and ends.  Another one may
 * take its place, with all that it needs.
 */
static bool has_given_up(const struct call *denied)
{
	unsigned process, index, after = 0;
	char line[256], name[32];
	bool has_ended = false;
	FILE *f = fopen(place.log, "re");

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%u.%u %31s", &process, &index, name) != 3 ||
		    process != denied->process || index <= denied->index)
			continue;
		after++;
		has_ended |= !strcmp(name, "exit_group");
	}
	fclose(f);
	return has_ended && after <= 2;
}

static void fail_one(struct result *r, const struct call *c, const char *error)
{
	char rule[64], what[256];

	snprintf(rule, sizeof(rule), "%u.%u=%s", c->process, c->index, error);
	snprintf(what, sizeof(what), "%s of '%s'", error, c->text);
	run_denied(r, (const char *const[]){"--log", place.log, rule, NULL});
	if (!ended_well(what, r))
		return;
	if (is_wrong(r))
		complain(what, "wrong", r);
	else if (number_of(r) > 0 && !is_harmless(c) && !has_given_up(c))
		complain(what, "goes on without it", r);
	else if (r->status && strlen(r->err) < 20 && strlen(r->out) < 20)
		complain(what, "has no reason", r);
}

/* A process makes some calls again and again: three of a kind are enough. */
static bool is_repeated(size_t which)
{
	const struct call *c = &call_list[which];
	unsigned n = 0;

	for (size_t i = 0; i < which; i++)
		n += call_list[i].process == c->process && !strcmp(call_list[i].name, c->name) &&
		     call_list[i].first == c->first;
	return n >= 3;
}

static void each_call(void **state)
{
	static const char *const all_errors[] = {"EPERM", "ENOSYS", "ENOMEM", "EINTR"};
	const char *all = getenv("TACT_DENY_ALL");
	static struct result r;
	size_t n = list_calls(&r);
	unsigned n_tried = 0;

	(void)state;
	if (!n)
		skip();
	wrong = 0;
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(call_list[i].name, "exit_group") || is_repeated(i))
			continue;
		n_tried++;
		for (size_t e = 0; e < (all ? ARRAY_SIZE(all_errors) - 1 : 1); e++)
			fail_one(&r, &call_list[i], all_errors[e]);
	}
	print_message("%u of %zu system calls\n", n_tried, n);
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_part),
		cmocka_unit_test(what_is_not_needed),
		cmocka_unit_test(each_call),
	};

	return cmocka_run_group_tests_name("deny", tests, find_place, leave_place);
}
