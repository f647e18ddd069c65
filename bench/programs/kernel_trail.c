/* SPDX-License-Identifier: MIT
 *
 * What the kernel leaves behind: how much longer user code takes right after a system call or a page
 * fault than without one, and how many cycles of the way in and out count as user time.
 *
 *	gcc -O2 -o kernel_trail kernel_trail.c
 *	taskset -c 0 ./kernel_trail [ROUNDS [CALL...]]
 *	taskset -c 0 perf record -F 20000 -e cpu-clock -o p.data ./kernel_trail share CALL [BETWEEN]
 *	perf script -i p.data -F ip,sym
 *
 * The first form prints a table: for each kind of work the cycles that it takes without a call, and
 * the additional ones after each call.  The work is done three times before, so that the caches, the
 * tables of branches and the TLBs hold it; between the call and the work nothing else runs.  Cycles
 * are those of a chain of multiplications right behind it.  The figure is the lower quartile of many
 * rounds: others share the machine.
 *
 * The second form calls again and again, with BETWEEN multiplications (three cycles each) in between,
 * and prints the cycles of a round.  These times the share of user addresses among the samples, less the
 * multiplications, is what a call adds to the user time that Linux reports.  Without perf, the share by the
 * kernel's ticks has to do.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 64, PAGE = 4096, CHAIN = 300, WARM = 3, MOST_ROUNDS = 20000, FILE_PAGES = 64 };

#define CODE(name, body)                                                                           \
	__asm__(".text\n.p2align 12\n" #name ":\n" body "\nret\n.p2align 12\n");                   \
	void name(void)

CODE(chain, ".rept 300\nimul %rax, %rax\n.endr");
CODE(straight_4k, ".rept 1023\nnopl 0(%rax)\n.endr");
CODE(straight_8k, ".rept 2047\nnopl 0(%rax)\n.endr");
CODE(straight_16k, ".rept 4095\nnopl 0(%rax)\n.endr");
CODE(straight_24k, ".rept 6143\nnopl 0(%rax)\n.endr");
CODE(straight_32k, ".rept 8191\nnopl 0(%rax)\n.endr");
CODE(straight_128k, ".rept 32767\nnopl 0(%rax)\n.endr");
CODE(jumps_256, ".rept 256\njmp 1f\n.p2align 4\n1:\n.endr");
CODE(jumps_1024, ".rept 1024\njmp 1f\n.p2align 4\n1:\n.endr");
CODE(jumps_2048, ".rept 2048\njmp 1f\n.p2align 4\n1:\n.endr");
CODE(jumps_4096, ".rept 4096\njmp 1f\n.p2align 4\n1:\n.endr");
/* One jump in each line: every one needs its line of code. */
CODE(lines_128, ".rept 128\njmp 1f\n.p2align 6\n1:\n.endr");
CODE(lines_512, ".rept 512\njmp 1f\n.p2align 6\n1:\n.endr");
CODE(lines_2048, ".rept 2048\njmp 1f\n.p2align 6\n1:\n.endr");

/* ---- the clock ---- */

static inline uint64_t now(void)
{
	uint32_t low, high;

	__asm__ volatile("lfence\nrdtsc\nlfence" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

/* ---- calls ---- */

static int pipes[2], sockets[2], echo[2], polled = -1, tcp[2] = {-1, -1};
static char *fresh, *file_pages;
static unsigned file_page;

static void no_call(void)
{
}

static void call_getppid(void)
{
	syscall(SYS_getppid);
}

static void call_gettime(void)
{
	struct timespec t;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
}

static void call_pipe(void)
{
	char byte = 0;

	if (write(pipes[1], &byte, 1) != 1 || read(pipes[0], &byte, 1) != 1)
		abort();
}

static void call_socketpair(void)
{
	char byte = 0;

	if (write(sockets[1], &byte, 1) != 1 || read(sockets[0], &byte, 1) != 1)
		abort();
}

static void call_epoll(void)
{
	struct epoll_event event;

	epoll_wait(polled, &event, 1, -1);
}

static void call_send(void)
{
	char byte = 0;

	if (sendto(tcp[0], &byte, 1, 0, NULL, 0) != 1)
		abort();
}

static void call_receive(void)
{
	char byte[64];

	if (recvfrom(tcp[1], byte, sizeof(byte), 0, NULL, NULL) < 1)
		abort();
}

/* Another process answers: this one sleeps until then. */
static void call_wait(void)
{
	char byte = 0;

	if (write(echo[0], &byte, 1) != 1 || read(echo[0], &byte, 1) != 1)
		abort();
}

/* Nobody else runs on this CPU: it goes idle, and in a virtual machine the host may use it. */
static void sleep_for(long nanoseconds)
{
	const struct timespec t = {.tv_nsec = nanoseconds};

	nanosleep(&t, NULL);
}

static void call_sleep(void)
{
	sleep_for(100000);
}

static void call_sleep_long(void)
{
	sleep_for(1000000);
}

/* Linux answers this in user mode, without a call. */
static void call_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
}

static void call_yield(void)
{
	syscall(SYS_sched_yield);
}

static void call_mmap(void)
{
	void *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(p, PAGE);
}

static void drop_fresh(void)
{
	madvise(fresh, PAGE, MADV_DONTNEED);
}

static void fault_fresh(void)
{
	*(volatile char *)fresh = 1;
}

static void drop_file(void)
{
	madvise(file_pages, FILE_PAGES * PAGE, MADV_DONTNEED);
}

static void fault_file(void)
{
	*(volatile char *)(file_pages + (size_t)file_page * PAGE);
	file_page = (file_page + 16) % FILE_PAGES;
}

static void read_file_4k(void)
{
	static char to[PAGE];
	static int fd = -1;

	if (fd < 0)
		fd = open("/proc/self/exe", O_RDONLY);
	if (pread(fd, to, PAGE, 4096) != PAGE)
		abort();
}

static void connect_tcp(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(at);
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	if (bind(listener, (struct sockaddr *)&at, size) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&at, &size))
		abort();
	tcp[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(tcp[0], (struct sockaddr *)&at, size))
		abort();
	tcp[1] = accept(listener, NULL, NULL);
	setsockopt(tcp[0], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(tcp[1], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

static void start_echo(void)
{
	char byte;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, echo))
		abort();
	if (!fork()) {
		close(echo[0]);
		while (read(echo[1], &byte, 1) == 1 && write(echo[1], &byte, 1) == 1)
			;
		_exit(0);
	}
	close(echo[1]);
}

static void set_up(void)
{
	struct epoll_event event = {.events = EPOLLIN};
	int ready[2];
	int fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);

	if (pipe(pipes) || pipe(ready) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) || fd < 0 ||
	    ftruncate(fd, FILE_PAGES * PAGE) || write(ready[1], "", 1) != 1)
		abort();
	for (unsigned i = 0; i < FILE_PAGES; i++)
		if (pwrite(fd, "", 1, (off_t)i * PAGE) != 1)
			abort();
	polled = epoll_create1(0);
	epoll_ctl(polled, EPOLL_CTL_ADD, ready[0], &event);
	connect_tcp();
	start_echo();
	fresh = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	file_pages = mmap(NULL, FILE_PAGES * PAGE, PROT_READ, MAP_SHARED, fd, 0);
}

static const struct call {
	const char *name;
	void (*before)(void); /* the work is warmed up: it is not part of what is measured */
	void (*call)(void);
	void (*after)(void);
} calls[] = {{"none", no_call, no_call, no_call},
	     {"getppid", no_call, call_getppid, no_call},
	     {"gettime", no_call, call_gettime, no_call},
	     {"pipe", no_call, call_pipe, no_call},
	     {"socketpair", no_call, call_socketpair, no_call},
	     {"epoll", no_call, call_epoll, no_call},
	     {"send", no_call, call_send, call_receive},
	     {"receive", call_send, call_receive, no_call},
	     {"read4k", no_call, read_file_4k, no_call},
	     {"clock", no_call, call_clock, no_call},
	     {"wait", no_call, call_wait, no_call},
	     {"sleep", no_call, call_sleep, no_call},
	     {"sleep1ms", no_call, call_sleep_long, no_call},
	     {"yield", no_call, call_yield, no_call},
	     {"mmap", no_call, call_mmap, no_call},
	     {"fresh", drop_fresh, fault_fresh, no_call},
	     {"file", drop_file, fault_file, no_call}};
enum { N_CALLS = sizeof(calls) / sizeof(*calls) };

/* ---- work ---- */

static void **chases[8];
static const unsigned chase_kib[8] = {4, 16, 28, 64, 256, 512, 768, 1024};
static void **paged[4];
static const unsigned paged_pages[4] = {16, 64, 256, 1024};
static uint8_t outcomes[4096];

/* Pointers through all places in a random order. */
static void **chase_over(size_t count, size_t stride)
{
	char *base = mmap(NULL, count * stride + PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	uint32_t *order = malloc(count * sizeof(*order));

	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	for (size_t i = count - 1; i > 0; i--) {
		const size_t k = (size_t)rand() % (i + 1);
		const uint32_t was = order[i];

		order[i] = order[k];
		order[k] = was;
	}
	for (size_t i = 0; i < count; i++)
		*(void **)(base + order[i] * stride) = base + order[(i + 1) % count] * stride;
	free(order);
	return (void **)base;
}

static void chase(void **from)
{
	void **p = from;

	do
		p = *p;
	while (p != from);
	__asm__ volatile("" : : "r"(p));
}

static void chase_0(void)
{
	chase(chases[0]);
}
static void chase_1(void)
{
	chase(chases[1]);
}
static void chase_2(void)
{
	chase(chases[2]);
}
static void chase_3(void)
{
	chase(chases[3]);
}
static void chase_4(void)
{
	chase(chases[4]);
}
static void chase_5(void)
{
	chase(chases[5]);
}
static void chase_6(void)
{
	chase(chases[6]);
}
static void chase_7(void)
{
	chase(chases[7]);
}
static void pages_0(void)
{
	chase(paged[0]);
}
static void pages_1(void)
{
	chase(paged[1]);
}
static void pages_2(void)
{
	chase(paged[2]);
}
static void pages_3(void)
{
	chase(paged[3]);
}

/* A branch that does what the bytes say, which the predictor learns by heart. */
static __attribute__((noinline)) void branches(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++)
		__asm__ volatile("testb $1, %1\njz 1f\nadd $3, %0\n1:"
				 : "+r"(sum)
				 : "m"(outcomes[i]));
}

static void branches_64(void)
{
	branches(64);
}
static void branches_512(void)
{
	branches(512);
}
static void branches_4096(void)
{
	branches(4096);
}

static void nothing(void)
{
}

static const struct work {
	const char *name;
	void (*run)(void);
} works[] = {{"nothing", nothing},	     {"chain", chain},
	     {"data 4K", chase_0},	     {"data 16K", chase_1},
	     {"data 28K", chase_2},	     {"data 64K", chase_3},
	     {"data 256K", chase_4},	     {"data 512K", chase_5},
	     {"data 768K", chase_6},	     {"data 1M", chase_7},
	     {"pages 16", pages_0},	     {"pages 64", pages_1},
	     {"pages 256", pages_2},	     {"pages 1024", pages_3},
	     {"code 4K", straight_4k},	     {"code 8K", straight_8k},
	     {"code 16K", straight_16k},     {"code 24K", straight_24k},
	     {"code 32K", straight_32k},     {"code 128K", straight_128k},
	     {"lines 128", lines_128},	     {"lines 512", lines_512},
	     {"lines 2048", lines_2048},     {"jumps 256", jumps_256},
	     {"jumps 1024", jumps_1024},     {"jumps 2048", jumps_2048},
	     {"jumps 4096", jumps_4096},     {"branches 64", branches_64},
	     {"branches 512", branches_512}, {"branches 4096", branches_4096}};
enum { N_WORKS = sizeof(works) / sizeof(*works) };

/* ---- measuring ---- */

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double quartile(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), by_value);
	return values[n / 4];
}

/* Cycles of the work in one round. */
static double one_round(const struct call *c, void (*run)(void))
{
	uint64_t begin, end, chained;

	c->before();
	for (unsigned i = 0; i < WARM; i++)
		run();
	c->call();
	begin = now();
	run();
	end = now();
	chain();
	chained = now();
	c->after();
	return (double)(end - begin) / (double)(chained - end) * 3 * CHAIN;
}

/* Sixteen calls deep, the kernel is called; then all return. */
static uint64_t deep_begin;

static __attribute__((noinline)) void descend(unsigned depth, const struct call *c)
{
	if (depth) {
		descend(depth - 1, c);
		__asm__ volatile("" : : : "memory");
		return;
	}
	c->call();
	deep_begin = now();
}

static double one_return(const struct call *c, void (*run)(void))
{
	uint64_t end, chained;

	(void)run;
	c->before();
	for (unsigned i = 0; i < WARM; i++)
		descend(16, &calls[0]);
	descend(16, c);
	end = now();
	chain();
	chained = now();
	c->after();
	return (double)(end - deep_begin) / (double)(chained - end) * 3 * CHAIN;
}

static void print_row(const char *name, void (*run)(void),
		      double (*round)(const struct call *, void (*)(void)), unsigned rounds,
		      const uint8_t *asked)
{
	static double cycles[N_CALLS][MOST_ROUNDS];
	double alone;

	for (unsigned i = 0; i < rounds; i++)
		for (unsigned k = 0; k < N_CALLS; k++)
			if (asked[k])
				cycles[k][i] = round(&calls[k], run);
	alone = quartile(cycles[0], rounds);
	printf("%-13s %8.0f", name, alone);
	for (unsigned k = 1; k < N_CALLS; k++)
		if (asked[k])
			printf(" %10.0f", quartile(cycles[k], rounds) - alone);
	printf("\n");
	fflush(stdout);
}

static double seconds(const struct timeval *t)
{
	return (double)t->tv_sec + 1e-6 * (double)t->tv_usec;
}

static int share(const char *name, long between)
{
	const struct call *c = calls;
	uint64_t begin, end, chained, ticks = 0, chains = 0;
	unsigned long rounds = 0;
	struct rusage used;

	while (c < calls + N_CALLS && strcmp(c->name, name))
		c++;
	if (c == calls + N_CALLS)
		return 2;
	for (time_t until = time(NULL) + 4; time(NULL) < until;) {
		begin = now();
		for (unsigned i = 0; i < 1000; i++, rounds++) {
			c->before();
			c->call();
			c->after();
			for (long k = 0; k < between; k += CHAIN)
				chain();
		}
		end = now();
		for (unsigned i = 0; i < 10; i++)
			chain();
		chained = now();
		ticks += end - begin;
		chains += chained - end;
	}
	getrusage(RUSAGE_SELF, &used);
	printf("%.1f cycles a round, %.1f%% of the CPU time in user mode by the kernel's ticks\n",
	       (double)ticks / (double)chains * 30 * CHAIN / 1000,
	       100 * seconds(&used.ru_utime) / (seconds(&used.ru_utime) + seconds(&used.ru_stime)));
	return 0;
}

int main(int count, char **words)
{
	unsigned rounds = count > 1 ? (unsigned)atoi(words[1]) : 500;
	uint8_t asked[N_CALLS] = {1};

	srand(1);
	set_up();
	if (count > 2 && !strcmp(words[1], "share"))
		return share(words[2], count > 3 ? atol(words[3]) : 300);
	for (unsigned i = 0; i < 8; i++)
		chases[i] = chase_over(chase_kib[i] * 1024 / LINE, LINE);
	for (unsigned i = 0; i < 4; i++)
		paged[i] = chase_over(paged_pages[i], PAGE + LINE);
	for (unsigned i = 0; i < sizeof(outcomes); i++)
		outcomes[i] = (uint8_t)(rand() >> 8);
	if (!rounds || rounds > MOST_ROUNDS)
		rounds = 500;
	printf("%-13s %8s", "", "alone");
	for (unsigned k = 1; k < N_CALLS; k++) {
		asked[k] = count <= 2;
		for (int i = 2; i < count; i++)
			asked[k] |= !strcmp(words[i], calls[k].name);
		if (asked[k])
			printf(" %10s", calls[k].name);
	}
	printf("\n");
	print_row("returns 16", NULL, one_return, rounds, asked);
	for (unsigned i = 0; i < N_WORKS; i++)
		print_row(works[i].name, works[i].run, one_round, rounds, asked);
	return 0;
}
