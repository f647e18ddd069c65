/* SPDX-License-Identifier: MIT
 *
 * Programs for tact trace --native: each prints a number that does not depend on how it is run.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t ticks;

static void on_tick(int number)
{
	(void)number;
	ticks++;
}

/* Four cycles an iteration on every CPU: a multiplication and an addition; four instructions. */
__attribute__((noinline)) static unsigned long chain(unsigned long n)
{
	unsigned long x = 3;

	__asm__ volatile("1: imul %0, %0\n\tadd %1, %0\n\tdec %1\n\tjnz 1b"
			 : "+r"(x), "+r"(n)
			 :
			 : "cc");
	return x;
}

static void *run_chain(void *n)
{
	return (void *)chain((unsigned long)n);
}

static unsigned long run_threads(unsigned long n)
{
	pthread_t threads[4];
	unsigned long sum = 0;
	void *value;

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, run_chain, (void *)(n / 4 + i));
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &value);
		sum = sum * 31 + (unsigned long)value;
	}
	return sum;
}

static unsigned long run_forks(unsigned long n)
{
	unsigned long sum = 0;
	int status;

	for (int i = 0; i < 4; i++)
		if (!fork())
			_exit((int)(chain(n / 4 + i) & 63));
	while (wait(&status) > 0)
		sum += (unsigned long)WEXITSTATUS(status);
	return sum;
}

static unsigned long run_signals(unsigned long n)
{
	struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
	unsigned long sum;

	signal(SIGALRM, on_tick);
	setitimer(ITIMER_REAL, &often, NULL);
	sum = chain(n);
	setitimer(ITIMER_REAL, &never, NULL);
	return ticks > 3 ? sum : 0;
}

static unsigned long run_flags(unsigned long n)
{
	unsigned long sum = 0, flags;

	for (unsigned long i = 0; i < n / 8; i++) {
		__asm__ volatile("pushf\n\tpushf\n\tpop %0\n\tpopf"
				 : "=r"(flags)
				 :
				 : "memory", "cc");
		sum += flags >> 8 & 1; /* the trap flag */
	}
	return sum;
}

static unsigned long run_copies(unsigned long n)
{
	char *data = calloc(1, 1 << 17);
	unsigned long sum = 0;

	memset(data, 7, 1 << 16);
	for (unsigned long i = 0; i < n / 2000; i++) {
		char *to = data + (1 << 16), *from = data;
		unsigned long size = 1 << 16;

		__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
		sum += (unsigned long)to[-1];
	}
	return sum;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	const unsigned long n = argc > 2 ? strtoul(argv[2], NULL, 10) : 50000000;
	unsigned long sum = 0;

	if (!strcmp(what, "chain"))
		sum = chain(n);
	else if (!strcmp(what, "threads"))
		sum = run_threads(n);
	else if (!strcmp(what, "forks"))
		sum = run_forks(n);
	else if (!strcmp(what, "signals"))
		sum = run_signals(n);
	else if (!strcmp(what, "flags"))
		sum = run_flags(n);
	else if (!strcmp(what, "copies"))
		sum = run_copies(n);
	else if (!strcmp(what, "exec"))
		execl(argv[0], argv[0], "chain", argv[2], NULL);
	else if (!strcmp(what, "crash"))
		sum = chain(n) + *(volatile unsigned long *)8;
	printf("%lu\n", sum);
	return (int)(sum % 50);
}
