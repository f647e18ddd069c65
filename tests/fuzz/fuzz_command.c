/* SPDX-License-Identifier: MIT
 *
 * Commands of the program with their options and files, run in this process:
 *
 *	dataset import a.db a.csv
 *	dataset stat -f json a.db
 *	--- file a.csv
 *	hex,cycles
 *
 * They run one after the other, in a directory in which there are only these files.  Nothing outside
 * of it can be named, and the only program that can be started is the assembler: commands and
 * options that measure, trace, listen or watch other processes are left out.
 *
 * What must hold: the exit status is one of those in the manual, JSON can be parsed, the rows of a
 * table in CSV have as many columns as its header, no file stays open, and the same input prints the
 * same text.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/base.h"
#include "base/csv.h"
#include "base/hash.h"
#include "common/commands.h"
#include "fuzz.h"
#include "fuzz_command.h"
#include "fuzz_llvm.h"

enum { MAX_WORDS = 40, MAX_LIMITS = 20, MAX_LINE = 1000, MAX_COMMANDS = 6, MAX_NAME = 40 };

/* Commands that need nothing but files. */
static const struct command tools[] = {
	{"predict", NULL, cmd_predict},
	{"simulate", NULL, cmd_simulate},
	{"classify", NULL, cmd_classify},
	{"evaluate", NULL, cmd_evaluate},
	{"dataset", NULL, cmd_dataset},
	{"collect", NULL, cmd_collect},
	{"trace", NULL, cmd_trace},
	{"diff", NULL, cmd_diff},
	{"check", NULL, cmd_check},
	{"mix", NULL, cmd_mix},
	{"tune", NULL, cmd_tune},
	{"hunt", NULL, cmd_hunt},
	{"insn", NULL, cmd_insn},
	{"archs", NULL, cmd_archs},
	{"mca", NULL, cmd_mca},
	{"uica", NULL, cmd_uica},
	{"osaca", NULL, cmd_osaca},
	{"iaca", NULL, cmd_iaca},
	{"calibrate", NULL, cmd_calibrate},
	{"doctor", NULL, cmd_doctor},
};

/* What keeps them from running for minutes: options that come last win.  With another word than the
 * command's own, only where that word is.
 */
static const struct limit {
	command_main *command;
	const char *when;
	const char *words[14];
} limits[] = {
	{cmd_simulate, NULL, {"--max-cycles", "3000"}},
	{cmd_collect, NULL, {"--static"}},
	{cmd_classify, "--train", {"--starts", "1"}},
	{cmd_tune, NULL, {"--budget", "1"}},
	{cmd_tune,
	 "surrogate",
	 {"--samples", "1", "--epochs", "1", "--table-epochs", "1", "--rounds", "1", "--hidden",
	  "8", "--embedding", "4", "--layers", "1"}},
	{cmd_hunt, NULL, {"--blocks", "20", "--classes", "1", "--samples", "4"}},
};

/* ---- the directory ---- */

static char place[64], programs[80];
static int out = -1, null = -1, own_stdout = -1, own_stderr = -1;

/* What sanitizers say shall be seen although commands are silent. */
void __sanitizer_set_report_fd(void *fd);
#pragma weak __sanitizer_set_report_fd

static void leave(void)
{
	char as[100];

	snprintf(as, sizeof(as), "%s/as", programs);
	unlink(as);
	rmdir(programs);
	if (!chdir("/"))
		rmdir(place);
}

static void prepare(void)
{
	char as[100];
	cpu_set_t one;

	snprintf(place, sizeof(place), "%s/tact-fuzz-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	MUST(mkdtemp(place) && !chdir(place));
	snprintf(programs, sizeof(programs), "%s.programs", place);
	MUST(!mkdir(programs, 0700));
	snprintf(as, sizeof(as), "%s/as", programs);
	if (!access("/usr/bin/as", X_OK))
		MUST(!symlink("/usr/bin/as", as));
	setenv("PATH", programs, 1);
	setenv("HOME", place, 1);
	setenv("XDG_STATE_HOME", place, 1);
	fuzz_load_llvm(); /* commands find what is loaded */
	signal(SIGPIPE, SIG_IGN);
	/* One thread by default: what libFuzzer sees of an input shall not depend on scheduling. */
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	out = memfd_create("stdout", MFD_CLOEXEC);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	own_stdout = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
	own_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
	if (__sanitizer_set_report_fd)
		__sanitizer_set_report_fd((void *)(intptr_t)own_stderr);
	MUST(out >= 0 && null >= 0 && dup2(null, STDIN_FILENO) == STDIN_FILENO);
	atexit(leave);
}

static void remove_all(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *e;

	MUST(dir);
	while ((e = readdir(dir))) {
		char name[400];

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, e->d_name);
		if (unlink(name) && errno == EISDIR) {
			remove_all(name);
			MUST(!rmdir(name));
		}
	}
	closedir(dir);
}

/* ---- the input ---- */

static const char mark[] = "--- file ";

static const uint8_t *find_mark(const uint8_t *p, const uint8_t *end)
{
	while ((p = memmem(p, (size_t)(end - p), mark, sizeof(mark) - 1)) && p[-1] != '\n')
		p++;
	return p;
}

static void write_file(const uint8_t *name, size_t name_size, const uint8_t *data, size_t size)
{
	char path[MAX_NAME + 1];
	int fd;

	if (!name_size || name_size > MAX_NAME || *name == '-' || *name == '.')
		return;
	for (size_t i = 0; i < name_size; i++) {
		if (!name[i] || name[i] == '/' || name[i] >= 0x80)
			return;
		path[i] = (char)name[i];
	}
	path[name_size] = '\0';
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return;
	MUST(write(fd, data, size) == (ssize_t)size);
	close(fd);
}

/* Writes the files of an input.  Returns the size of what is before them: the commands. */
static size_t write_files(const uint8_t *data, size_t size)
{
	const uint8_t *const end = data + size, *at, *next;
	size_t commands;

	at = size ? find_mark(data + 1, end) : NULL;
	commands = at ? (size_t)(at - data) : size;
	for (; at; at = next) {
		const uint8_t *name = at + sizeof(mark) - 1;
		const uint8_t *line = memchr(name, '\n', (size_t)(end - name));

		if (!line)
			break;
		next = find_mark(line + 1, end);
		write_file(name, (size_t)(line - name), line + 1,
			   (size_t)((next ? next : end) - line - 1));
	}
	return commands;
}

static bool begins(const char *word, const char *with)
{
	return !strncmp(word, with, strlen(with));
}

/* What would reach out of the directory, or never end. */
static bool is_forbidden(const char *word)
{
	static const char *const forbidden[] = {"--attach", "--native",	 "--measure",  "--noisy",
						"--listen", "--connect", "--qemu",     "--plugin",
						"--time",   "--virtual", "--pid",      "--sysroot",
						"--cpu",    "--no-exec", "--self-test"};

	if (strchr(word, '/') || strstr(word, "..") || !strcmp(word, "--") || begins(word, "-L"))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(forbidden); i++) {
		const size_t n = strlen(forbidden[i]);

		if (begins(word, forbidden[i]) && (!word[n] || word[n] == '='))
			return true;
	}
	return false;
}

/* Large numbers make runs long, not different. */
static void cut_number(char *word, const char *before)
{
	const bool is_jobs = begins(word, "-j") || begins(word, "--jobs") ||
			     (before && (!strcmp(before, "-j") || !strcmp(before, "--jobs")));
	char *digits = strchr(word, '=') ? strchr(word, '=') + 1 : word;
	const size_t most = is_jobs ? 1 : 3;

	if (is_jobs)
		digits += strcspn(digits, "0123456789");
	if (strspn(digits, "0123456789") == strlen(digits) && strlen(digits) > most)
		digits[most] = '\0';
}

/* Cuts a line into words.  Returns their number; 0: it is not run. */
static int cut_words(char *line, char *words[MAX_WORDS])
{
	int n = 0;

	for (char *save, *w = strtok_r(line, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		if (n == MAX_WORDS || is_forbidden(w))
			return 0;
		if (n && strcmp(words[n - 1], "-x"))
			cut_number(w, words[n - 1]);
		words[n++] = w;
	}
	return n;
}

/* ---- running ---- */

static int run_quietly(command_main *run, int argc, char **argv)
{
	const int before = dup(null);
	int status, after;

	close(before);
	MUST(!ftruncate(out, 0) && lseek(out, 0, SEEK_SET) == 0);
	dup2(out, STDOUT_FILENO);
	if (!getenv("TACT_FUZZ_SHOW")) /* what goes wrong, for people */
		dup2(null, STDERR_FILENO);
	status = run(argc, argv);
	fflush(NULL);
	dup2(own_stdout, STDOUT_FILENO);
	dup2(own_stderr, STDERR_FILENO);
	after = dup(null);
	close(after);
	MUST(after == before); /* nothing that was opened stays open */
	return status;
}

static bool has_format(int argc, char **argv, const char *format)
{
	const char *last = "";

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--tp-only"))
			return false; /* numbers and statuses alone, whatever the format */
		if ((!strcmp(argv[i], "-f") || !strcmp(argv[i], "--format")) && i + 1 < argc)
			last = argv[i + 1];
		else if (begins(argv[i], "--format="))
			last = argv[i] + 9;
		else if (begins(argv[i], "-f"))
			last = argv[i] + 2;
	}
	return !strcmp(last, format);
}

static void check_json(const char *text, size_t size)
{
	while (size) {
		const char *end = memchr(text, '\n', size);
		const size_t n = end ? (size_t)(end - text) : size;
		json_error_t error;
		json_t *json = json_loadb(text, n, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);

		if (!json && n)
			fprintf(stderr, "%s\n%.*s\n", error.text, (int)(n < 2000 ? n : 2000), text);
		MUST(json || !n);
		json_decref(json);
		text += n + (end != NULL);
		size -= n + (end != NULL);
	}
}

static void check_csv(const char *text, size_t size)
{
	const struct csv_field *fields;
	size_t n, columns = 0;
	struct csv *csv;

	MUST(csv_open_memory(&csv, text, size, NULL) >= 0);
	for (int status; (status = csv_next(csv, &fields, &n, NULL));) {
		MUST(status > 0);
		columns = columns ? columns : n;
		MUST(n == columns);
	}
	csv_close(csv);
}

static uint64_t check_output(int argc, char **argv, int status)
{
	const off_t size = lseek(out, 0, SEEK_END);
	uint64_t hash;
	char *text;

	if (size <= 0)
		return (uint64_t)status;
	text = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, out, 0);
	MUST(text != MAP_FAILED);
	hash = hash_bytes(text, (size_t)size);
	if (begins(text, "usage: "))
		status = 2; /* help was asked for */
	if (status <= 1 && has_format(argc, argv, "json"))
		check_json(text, (size_t)size);
	if (status <= 1 && has_format(argc, argv, "csv"))
		check_csv(text, (size_t)size);
	munmap(text, (size_t)size);
	return hash + (uint64_t)status;
}

/* `mix` has subcommands that run programs, and without points `calibrate` measures. */
static bool is_refused(command_main *run, int argc, char **argv)
{
	if (run == cmd_calibrate)
		return argc < 3 || strcmp(argv[1], "--points") != 0;
	return run == cmd_mix && argc > 1 &&
	       (!strcmp(argv[1], "record") || !strcmp(argv[1], "exact"));
}

/* Without one of these, `hunt` measures.  The judge that was given comes last once more, so that no
 * other option can take it for its argument.
 */
static int add_judge(int argc, char **argv)
{
	static const char *const judges[] = {"facile", "sim", "mca"};
	const char *judge = "sim";

	if (argc > 1 && (!strcmp(argv[1], "--truth") || !strcmp(argv[1], "--emit")))
		return argc;
	for (int i = 1; i + 1 < argc; i++)
		for (size_t k = 0; k < ARRAY_SIZE(judges); k++)
			if (!strcmp(argv[i], "--against") && !strcmp(argv[i + 1], judges[k]))
				judge = judges[k];
	argv[argc++] = (char *)"--against";
	argv[argc++] = (char *)judge;
	return argc;
}

static int add_limits(command_main *run, int argc, char **argv)
{
	const int n = argc;

	for (size_t k = 0; k < ARRAY_SIZE(limits); k++) {
		bool is_one = limits[k].command == run && !limits[k].when;

		for (int i = 1; i < n && limits[k].command == run; i++)
			is_one |= limits[k].when && !strcmp(argv[i], limits[k].when);
		for (size_t i = 0; is_one && i < ARRAY_SIZE(limits[k].words); i++)
			if (limits[k].words[i])
				argv[argc++] = (char *)limits[k].words[i];
	}
	if (run == cmd_hunt)
		argc = add_judge(argc, argv);
	argv[argc] = NULL;
	return argc;
}

static uint64_t run_line(char *line)
{
	char *words[MAX_WORDS + MAX_LIMITS + 1];
	int argc = cut_words(line, words), status;
	command_main *run = NULL;
	uint64_t hash;

	for (size_t i = 0; i < ARRAY_SIZE(tools) && argc; i++)
		if (!strcmp(words[0], tools[i].name))
			run = tools[i].run;
	if (!run || is_refused(run, argc, words))
		return 0;
	argc = add_limits(run, argc, words);
	status = run_quietly(run, argc, words);
	MUST(status >= 0 && status <= 4);
	hash = check_output(argc, words, status);
	return run == cmd_doctor ? 0 : hash; /* it tells of a measurement */
}

static uint64_t run_input(const uint8_t *data, size_t size)
{
	const size_t n = write_files(data, size);
	uint64_t hash = 0;
	size_t at = 0;

	for (int i = 0; i < MAX_COMMANDS && at < n; i++) {
		const uint8_t *end = memchr(data + at, '\n', n - at);
		const size_t length = end ? (size_t)(end - data) - at : n - at;
		char line[MAX_LINE + 1];

		if (length <= MAX_LINE && !memchr(data + at, 0, length)) {
			memcpy(line, data + at, length);
			line[length] = '\0';
			hash = hash * 31 + run_line(line);
		}
		at += length + 1;
	}
	remove_all(place);
	return hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t hash;

	if (out < 0)
		prepare();
	hash = run_input(data, size);
	if (hash_bytes(data, size) % 16 == 0)
		MUST(run_input(data, size) == hash);
	return 0;
}

/* ---- mutations ---- */

/* Puts a word, or nothing, in the place of n bytes. */
static size_t put_word(uint8_t *data, size_t size, size_t max_size, size_t at, size_t n,
		       uint64_t *random)
{
	const char *word = fuzz_words[fuzz_pick(random, ARRAY_SIZE(fuzz_words))];
	char text[64];
	const size_t length = (size_t)snprintf(text, sizeof(text), "%s%s", n ? "" : " ", word);

	if (fuzz_pick(random, 4) == 0 && n) { /* the word goes */
		memmove(data + at, data + at + n, size - at - n);
		return size - n;
	}
	if (size - n + length > max_size)
		return size;
	memmove(data + at + length, data + at + n, size - at - n);
	memcpy(data + at, text, length);
	return size - n + length;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	uint64_t random = (uint64_t)seed * 2 + 1;
	const uint8_t *files = size ? find_mark(data + 1, data + size) : NULL;
	size_t head = files ? (size_t)(files - data) : size, at = fuzz_pick(&random, head), end;

	if (!head)
		return LLVMFuzzerMutate(data, size, max_size);
	if (fuzz_pick(&random, 2)) {
		/* The files, and sometimes the bytes of the commands. */
		if (!files || fuzz_pick(&random, 8) == 0)
			head = 0;
		return head + LLVMFuzzerMutate(data + head, size - head, max_size - head);
	}
	while (at && data[at - 1] != ' ' && data[at - 1] != '\n')
		at--;
	for (end = at; end < head && data[end] != ' ' && data[end] != '\n';)
		end++;
	if (fuzz_pick(&random, 2))
		at = end; /* a new one, behind it */
	return put_word(data, size, max_size, at, end - at, &random);
}
