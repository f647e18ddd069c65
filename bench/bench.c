/* SPDX-License-Identifier: MIT
 *
 * How fast tact predicts and simulates: blocks per second from hex to result on one core, for every
 * architecture and mode, next to an upper bound and to competitors, in the same run.
 *
 *   bench [--tact PROGRAM] [--library FILE] [--blocks DIR]
 *
 * The blocks are those of DIR/<name>.csv (first column hex; default ../shared/data/bhive), or, if
 * there is no such directory, the basic blocks of this program itself.
 */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <Zydis/Zydis.h>

#include <tact/tact.h>

#include "base/base.h"

enum {
	MAX_CODE = 4096,
	MIN_BLOCKS = 200000, /* small sets are gone through several times */
	START_UPS = 51,
	MCA_BLOCKS = 500,
	SIM_BLOCKS = 1000,
	MAX_ARGS = 64,
};

struct text {
	char *bytes; /* owned */
	size_t size, capacity;
};

struct blocks {
	struct text hex; /* lines, one block each */
	size_t n;
	size_t n_bytes; /* of code */
	unsigned rounds;
	bool is_own; /* from this program */
};

static void die(const char *what)
{
	fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void append(struct text *t, const char *bytes, size_t n)
{
	if (tact_grow(&t->bytes, &t->capacity, t->size + n + 1, 1) < 0)
		die("memory");
	memcpy(t->bytes + t->size, bytes, n);
	t->size += n;
	t->bytes[t->size] = 0;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Processor time of this thread: what others do on the machine does not count. */
static double processor_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- blocks ---- */

static void add_block(struct blocks *b, const char *hex, size_t digits)
{
	append(&b->hex, hex, digits);
	append(&b->hex, "\n", 1);
	b->n++;
	b->n_bytes += digits / 2;
}

static void add_file(struct blocks *b, const char *path)
{
	char line[2 * MAX_CODE + 256];
	FILE *f = fopen(path, "r");

	if (!f)
		die(path);
	while (fgets(line, sizeof(line), f)) {
		size_t digits = strspn(line, "0123456789abcdefABCDEF");

		if (digits && digits % 2 == 0 && (line[digits] == ',' || line[digits] == '\n'))
			add_block(b, line, digits);
	}
	fclose(f);
}

static bool add_directory(struct blocks *b, const char *directory)
{
	struct dirent **entries;
	int n = scandir(directory, &entries, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		size_t length = strlen(entries[i]->d_name);
		char path[4096];

		snprintf(path, sizeof(path), "%s/%s", directory, entries[i]->d_name);
		if (length > 4 && !strcmp(entries[i]->d_name + length - 4, ".csv"))
			add_file(b, path);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return b->n > 0;
}

extern const uint8_t __executable_start[], etext[]; /* of the linker */

/* Cuts this program's code into basic blocks. */
static void add_own_code(struct blocks *b)
{
	size_t size = (size_t)(etext - __executable_start), begin = 0, at = 0;
	char hex[2 * MAX_CODE];
	struct tact_insn insn;

	b->is_own = true;
	while (at < size) {
		int length = tact_isa_decode(tact_isa_default(), &insn, __executable_start + at,
					     size - at);
		bool ends = length < 0 || insn.attributes & TACT_INSN_BRANCH ||
			    insn.form == TACT_FORM_NONE || at - begin > 200;

		if (length > 0 && insn.form != TACT_FORM_NONE)
			at += (size_t)length;
		if (ends && at > begin) {
			for (size_t i = begin; i < at; i++)
				sprintf(hex + 2 * (i - begin), "%02x", __executable_start[i]);
			add_block(b, hex, 2 * (at - begin));
		}
		if (length < 0 || insn.form == TACT_FORM_NONE)
			at += length > 0 ? (size_t)length : 1;
		if (ends)
			begin = at;
	}
}

/* Calls visit for each block, `rounds` times; returns how often it returned true. */
static size_t for_all(const struct blocks *b,
		      bool (*visit)(const char *hex, size_t digits, void *arg), void *arg)
{
	size_t good = 0;

	for (unsigned round = 0; round < b->rounds; round++) {
		for (const char *line = b->hex.bytes, *end = line + b->hex.size; line < end;) {
			const char *stop = memchr(line, '\n', (size_t)(end - line));

			good += visit(line, (size_t)(stop - line), arg);
			line = stop + 1;
		}
	}
	return good;
}

/* ---- what is timed ---- */

static bool predict_one(const char *hex, size_t digits, void *arg)
{
	struct tact_block *block = arg;
	struct tact_prediction p = TACT_PREDICTION_INIT;
	uint8_t code[MAX_CODE];
	size_t bad;
	long size = tact_hex_decode(code, hex, digits, &bad);

	return size > 0 && tact_block_load(block, code, (size_t)size, NULL) == 0 &&
	       tact_predict(block, NULL, &p) == 0;
}

/* Blocks per second. */
static double time_predictions(const struct blocks *b, const struct tact_arch *arch,
			       enum tact_mode mode, double *failed)
{
	const struct tact_block_options opt = {.size = sizeof(opt), .mode = mode};
	struct tact_block *block;
	double start = processor_now(), total = (double)b->n * b->rounds, seconds;
	size_t good;

	if (tact_block_create(&block, arch, &opt, NULL) < 0)
		die("memory");
	good = for_all(b, predict_one, block);
	seconds = processor_now() - start;
	tact_block_destroy(block);
	*failed = 1 - (double)good / total;
	return total / seconds;
}

struct simulation {
	struct tact_simulator *simulator;
	struct tact_block *block;
	size_t seen, n, stride;
};

static bool simulate_one(const char *hex, size_t digits, void *arg)
{
	struct simulation *x = arg;
	struct tact_simulation s = TACT_SIMULATION_INIT;
	uint8_t code[MAX_CODE];
	size_t bad;
	long size;

	if (x->seen++ % x->stride)
		return false;
	x->n++;
	size = tact_hex_decode(code, hex, digits, &bad);
	return size > 0 && tact_block_load(x->block, code, (size_t)size, NULL) == 0 &&
	       tact_simulate(x->simulator, x->block, NULL, &s) == 0;
}

/* Blocks per second, of some thousand that are spread over all. */
static double time_simulations(const struct blocks *b, const struct tact_arch *arch,
			       enum tact_mode mode)
{
	const struct tact_block_options opt = {.size = sizeof(opt), .mode = mode};
	struct simulation x = {.stride = b->n * b->rounds / SIM_BLOCKS + 1};
	double start;

	if (tact_block_create(&x.block, arch, &opt, NULL) < 0 ||
	    tact_simulator_create(&x.simulator, NULL) < 0)
		die("memory");
	start = processor_now();
	for_all(b, simulate_one, &x);
	start = processor_now() - start;
	tact_simulator_destroy(x.simulator);
	tact_block_destroy(x.block);
	return (double)x.n / start;
}

static bool zydis_one(const char *hex, size_t digits, void *arg)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;
	uint8_t code[MAX_CODE];
	size_t bad, at = 0;
	long size = tact_hex_decode(code, hex, digits, &bad);

	while (size > 0 && at < (size_t)size) {
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(arg, code + at, (size_t)size - at, &insn,
							 operands)))
			return false;
		at += insn.length;
	}
	return size > 0;
}

static double time_zydis(const struct blocks *b)
{
	ZydisDecoder decoder;
	double start;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	start = processor_now();
	for_all(b, zydis_one, &decoder);
	return (double)b->n * b->rounds / (processor_now() - start);
}

/* ---- other programs ---- */

struct run {
	double seconds;
	long peak_kib;
	int status;
};

/* Runs a program with its output thrown away. */
static struct run run_program(char *const *argv)
{
	struct run run = {.status = -1};
	struct rusage usage;
	double start = now();
	pid_t pid = fork();
	int status;

	if (pid < 0)
		die("fork");
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		execvp(argv[0], argv);
		_exit(127);
	}
	while (wait4(pid, &status, 0, &usage) < 0)
		if (errno != EINTR)
			die("wait");
	run.seconds = now() - start;
	run.peak_kib = usage.ru_maxrss;
	run.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	return run;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void time_start_up(const char *tact)
{
	char *const argv[] = {(char *)tact, (char *)"--version", NULL};
	double ms[START_UPS];

	for (size_t i = 0; i < START_UPS; i++) {
		struct run run = run_program(argv);

		if (run.status) {
			printf("start-up                      %s --version does not run\n", tact);
			return;
		}
		ms[i] = run.seconds * 1e3;
	}
	qsort(ms, START_UPS, sizeof(ms[0]), compare_doubles);
	printf("start-up (tact --version)     %.2f ms (median of %d; the limit is 5 ms)\n",
	       ms[START_UPS / 2], START_UPS);
}

static void write_file(char *path, const char *bytes, size_t size)
{
	int fd;

	strcpy(path, "/tmp/tact_bench_XXXXXX");
	fd = mkstemp(path);
	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || close(fd))
		die(path);
}

static void time_program(const char *tact, const struct blocks *b)
{
	static const char *const jobs[] = {"1", "0"};
	char path[64];

	write_file(path, b->hex.bytes, b->hex.size);
	for (size_t i = 0; i < ARRAY_SIZE(jobs); i++) {
		const char *argv[] = {tact, "predict", "-q", "-a",    "SKL", "-m", "unroll",
				      "-f", "csv",     "-j", jobs[i], path,  NULL};
		struct run run;

		if (i)
			argv[9] = path, argv[10] = NULL; /* as many threads as there are cores */
		run = run_program((char *const *)argv);
		if (run.status != 0 && run.status != 1) {
			printf("tact predict                  exits with %d\n", run.status);
			break;
		}
		printf("tact predict -f csv, %s  %9.0f blocks/s, %.0f MB at most\n",
		       i ? "all cores" : "one core ", (double)b->n / run.seconds,
		       (double)run.peak_kib / 1024);
	}
	unlink(path);
}

/* What is loaded into memory, debugging information left aside. */
static void print_library_size(const char *path)
{
	uint8_t head[4096];
	Elf64_Ehdr ehdr;
	Elf64_Phdr phdr;
	size_t loaded = 0, n;
	FILE *f = fopen(path, "rb");

	n = f ? fread(head, 1, sizeof(head), f) : 0;
	if (f)
		fclose(f);
	if (n < sizeof(ehdr) || memcmp(head, ELFMAG, SELFMAG)) {
		printf("library                       %s cannot be read\n", path);
		return;
	}
	memcpy(&ehdr, head, sizeof(ehdr));
	for (unsigned i = 0; i < ehdr.e_phnum; i++) {
		size_t at = ehdr.e_phoff + i * sizeof(phdr);

		if (at + sizeof(phdr) > n)
			break;
		memcpy(&phdr, head + at, sizeof(phdr));
		if (phdr.p_type == PT_LOAD)
			loaded += phdr.p_filesz;
	}
	printf("library                       %.1f MB loaded (the limit is some 10 MB)\n",
	       (double)loaded / 1e6);
}

/* ---- llvm-mca ---- */

struct region {
	const char *hex;
	size_t digits;
};

struct sample {
	struct region regions[MCA_BLOCKS];
	size_t n, seen, stride;
};

/* Takes every stride-th block without branches. */
static bool sample_one(const char *hex, size_t digits, void *arg)
{
	struct sample *s = arg;
	uint8_t code[MAX_CODE];
	size_t bad;
	long size = tact_hex_decode(code, hex, digits, &bad);

	if (s->seen++ % s->stride || s->n == MCA_BLOCKS)
		return false;
	for (long at = 0; at < size;) {
		struct tact_insn insn;
		int length =
			tact_isa_decode(tact_isa_default(), &insn, code + at, (size_t)(size - at));

		if (length < 0 ||
		    insn.attributes & (TACT_INSN_BRANCH | TACT_INSN_REP | TACT_INSN_PC_RELATIVE))
			return false;
		at += length;
	}
	s->regions[s->n++] = (struct region){hex, digits};
	return true;
}

static void append_region(struct text *t, const struct region *r)
{
	uint8_t code[MAX_CODE];
	size_t bad;
	long size = tact_hex_decode(code, r->hex, r->digits, &bad);

	append(t, "# LLVM-MCA-BEGIN\n", 17);
	for (long at = 0; at < size;) {
		struct tact_insn insn;
		char line[256];

		tact_isa_decode(tact_isa_default(), &insn, code + at, (size_t)(size - at));
		tact_isa_format(tact_isa_default(), code + at, (size_t)(size - at), 0, line,
				sizeof(line));
		append(t, line, strlen(line));
		append(t, "\n", 1);
		at += insn.length;
	}
	append(t, "# LLVM-MCA-END\n", 15);
}

static struct run run_mca(const char *mca, const struct region *regions, size_t n)
{
	const char *argv[] = {mca, "-mtriple=x86_64", "-mcpu=skylake", NULL, NULL};
	struct text t = {NULL, 0, 0};
	char path[64];
	struct run run;

	append(&t, ".intel_syntax noprefix\n", 23);
	for (size_t i = 0; i < n; i++)
		append_region(&t, &regions[i]);
	write_file(path, t.bytes, t.size);
	argv[3] = path;
	run = run_program((char *const *)argv);
	unlink(path);
	free(t.bytes);
	return run;
}

/* Moves what llvm-mca understands to the front; returns how many these are. */
static size_t keep_understood(const char *mca, struct region *regions, size_t n)
{
	size_t left, right;

	if (!n || run_mca(mca, regions, n).status == 0)
		return n;
	if (n == 1)
		return 0;
	left = keep_understood(mca, regions, n / 2);
	right = keep_understood(mca, regions + n / 2, n - n / 2);
	memmove(regions + left, regions + n / 2, right * sizeof(*regions));
	return left + right;
}

static const char *find_mca(void)
{
	static const char *const names[] = {"llvm-mca",	   "llvm-mca-19", "llvm-mca-18",
					    "llvm-mca-17", "llvm-mca-16", "llvm-mca-15",
					    "llvm-mca-14"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char *const argv[] = {(char *)names[i], (char *)"--version", NULL};

		if (run_program(argv).status == 0)
			return names[i];
	}
	return NULL;
}

static void time_mca(const struct blocks *b, double ours)
{
	const char *mca = find_mca();
	struct blocks once = *b;
	struct sample *s;
	struct run run;

	if (!mca) {
		printf("llvm-mca                      not installed\n");
		return;
	}
	s = calloc(1, sizeof(*s));
	if (!s)
		die("memory");
	s->stride = b->n / (2 * MCA_BLOCKS) + 1;
	once.rounds = 1;
	for_all(&once, sample_one, s);
	s->n = keep_understood(mca, s->regions, s->n);
	run = run_mca(mca, s->regions, s->n);
	printf("llvm-mca (skylake)            %9.0f blocks/s on %zu of them; tact is %.0f times as "
	       "fast\n",
	       (double)s->n / run.seconds, s->n, ours * run.seconds / (double)s->n);
	free(s);
}

int main(int argc, char **argv)
{
	const char *tact = "build/tact", *library = "build/libtact.so",
		   *directory = "../shared/data/bhive";
	struct blocks b = {.rounds = 1};
	double zydis, skl = 0, failed = 0;

	for (int i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--tact"))
			tact = argv[i + 1];
		else if (!strcmp(argv[i], "--library"))
			library = argv[i + 1];
		else if (!strcmp(argv[i], "--blocks"))
			directory = argv[i + 1];
	}
	if (!add_directory(&b, directory))
		add_own_code(&b);
	if (!b.n)
		die("no blocks");
	b.rounds = (unsigned)((MIN_BLOCKS + b.n - 1) / b.n);
	printf("%zu blocks of %.1f bytes from %s\n\n", b.n, (double)b.n_bytes / (double)b.n,
	       b.is_own ? "this program" : directory);
	zydis = time_zydis(&b);
	printf("Blocks a second on one core, from hex to result\n\n");
	printf("                               predict                       simulate\n");
	printf("arch        unrolled  of Zydis       loop  of Zydis  unrolled     loop\n");
	for (const struct tact_arch *arch = NULL; (arch = tact_arch_next(arch));) {
		double unrolled = time_predictions(&b, arch, TACT_MODE_UNROLL, &failed);
		double loop = time_predictions(&b, arch, TACT_MODE_LOOP, &failed);

		if (!strcmp(tact_arch_name(arch), "SKL"))
			skl = unrolled;
		printf("%-6s  %12.0f  %7.0f%%  %9.0f  %7.0f%%  %8.0f %8.0f\n", tact_arch_name(arch),
		       unrolled, 100 * unrolled / zydis, loop, 100 * loop / zydis,
		       time_simulations(&b, arch, TACT_MODE_UNROLL),
		       time_simulations(&b, arch, TACT_MODE_LOOP));
		fflush(stdout);
	}
	printf("\nZydis alone, with operands    %9.0f blocks/s\n", zydis);
	if (failed > 0)
		printf("not decoded                   %.3f%% of the blocks\n", 100 * failed);
	fflush(stdout);
	time_program(tact, &b);
	time_mca(&b, skl);
	time_start_up(tact);
	print_library_size(library);
	free(b.hex.bytes);
	return 0;
}
