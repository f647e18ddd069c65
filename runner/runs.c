/* SPDX-License-Identifier: MIT
 *
 * Serves the orders of one block: runs, samples, steps.
 */
#include <asm/unistd.h>
#include <stdatomic.h>
#include <sys/uio.h>

#include "runner.h"

/* ---- runs ---- */

static uint64_t next_random(struct runner *r)
{
	/* xoroshiro128+, from the kernel's random numbers */
	uint64_t a = r->random[0], b = r->random[1], sum = a + b;

	b ^= a;
	r->random[0] = (a << 24 | a >> 40) ^ b ^ b << 16;
	r->random[1] = b << 37 | b >> 27;
	return sum;
}

static void fill_data(const struct measure_host *host)
{
	volatile uint64_t *p = (volatile uint64_t *)MEASURE_DATA_BASE;

	for (size_t i = 0; i < (size_t)host->n_physical * MEASURE_PAGE / 8; i++)
		p[i] = host->init_value;
}

/* Nothing of an earlier run stays where a block can read or write. */
static void clear_stamp(void)
{
	volatile uint64_t *p = (volatile uint64_t *)MEASURE_STAMP_BASE;

	for (size_t i = 0; i < MEASURE_PAGE / sizeof(*p); i++)
		p[i] = 0;
}

/* Runs the block once and takes the ticks from begin to end.  If they are void, counter_void says
 * why.
 */
HOT static enum measure_outcome run(struct runner *r, uint64_t body, uint64_t counter, bool step,
				    uint64_t *ticks)
{
	struct measure_host *host = &r->host;
	const uint64_t key[2] = {next_random(r) | 1, next_random(r)};
	struct counting counting;
	uint64_t end;

	fill_data(host);
	clear_stamp();
	STAMP->counter = counter;
	gate_begin_run(STAMP, body, host->init_stack, step);
	host->outcome = OUTCOME_DONE;
	r->stepping = step;
	host->counter_void = counting_begin(r, &counting);
	if (host->counter_void)
		return host->outcome = OUTCOME_COUNTER;
	r->running = true;
	atomic_signal_fence(memory_order_seq_cst);
	end = gate_enter(r, host->entry, key);
	atomic_signal_fence(memory_order_seq_cst);
	r->running = false;
	host->counter_void = counting_end(r, &counting, r->begin, end, ticks);
	if (host->outcome == OUTCOME_DONE && gate_proof(r->begin, key) != r->proof)
		host->outcome = OUTCOME_FORGED;
	return host->outcome;
}

/* Runs a clock or the canary, without the block. */
HOT static uint32_t run_clock(uint64_t entry)
{
	gate_clock(entry);
	return STAMP->end_low - STAMP->begin_low; /* they are short */
}

HOT static uint32_t run_chain(const struct measure_host *host)
{
	uint32_t short_one = run_clock(host->chain_short);

	return run_clock(host->chain_long) - short_one;
}

/* Runs the block until it touches no page that is missing. */
HOT static enum measure_outcome run_mapped(struct runner *r, uint64_t body, uint64_t counter,
					   uint64_t *ticks, uint32_t *disturbed)
{
	enum { PATIENCE = 100 }; /* the counter may come back */
	enum measure_outcome outcome;
	unsigned lost = 0;

	do {
		outcome = run(r, body, counter, false, ticks);
		*disturbed |= outcome == OUTCOME_MAPPED ||
			      (outcome == OUTCOME_DONE && r->host.counter_void);
		lost += outcome == OUTCOME_COUNTER;
	} while (outcome == OUTCOME_MAPPED || (outcome == OUTCOME_COUNTER && lost < PATIENCE));
	return outcome;
}

static void prepare(struct runner *r)
{
	struct measure_host *host = &r->host;
	uint32_t ignored = 0;

	for (uint32_t i = 0; i < host->n_pages; i++)
		gate_syscall(__NR_munmap, (long)host->page[i], MEASURE_PAGE, 0, 0, 0, 0);
	host->n_pages = 0;
	if (run_mapped(r, host->body_high, host->counter_high, &host->pilot_high, &ignored) !=
	    OUTCOME_DONE)
		return;
	for (int i = 0; i < 3; i++) /* warm caches and predictors */
		if (run_mapped(r, host->body_high, host->counter_high, &host->pilot_high,
			       &ignored) ||
		    run_mapped(r, host->body_low, host->counter_low, &host->pilot_low, &ignored))
			return;
	host->pilot_chain = run_chain(host);
}

HOT static void take_reading(const struct measure_host *host, struct measure_reading *reading)
{
	reading->begin = gate_stamp(&reading->cpu);
	for (uint32_t i = 0; i < MEASURE_CANARIES; i++)
		reading->canary[i] = host->canary[i] ? run_clock(host->canary[i]) : 0;
	reading->chain_short = run_clock(host->chain_short);
	reading->chain_long = run_clock(host->chain_long);
}

HOT static void take_samples(struct runner *r)
{
	struct measure_host *host = &r->host;

	take_reading(host, &host->first); /* for caches and predictors */
	take_reading(host, &host->first);
	for (; host->n_taken < host->n_samples; host->n_taken++) {
		struct measure_sample *s = &host->sample[host->n_taken];

		s->disturbed = 0;
		if (run_mapped(r, host->body_low, host->counter_low, &s->low, &s->disturbed) ||
		    run_mapped(r, host->body_high, host->counter_high, &s->high, &s->disturbed))
			return;
		take_reading(host, &s->after);
	}
}

static void listen_to_core(struct measure_host *host)
{
	for (uint32_t i = 0; i < MEASURE_LISTEN; i++)
		take_reading(host, &host->listen[i]);
}

static void step(struct runner *r)
{
	struct measure_host *host = &r->host;
	uint64_t ticks;

	run(r, host->body_step, host->counter_low, true, &ticks);
}

/* ---- messages ---- */

static void send_answer(const struct runner *r)
{
	const struct measure_host *host = &r->host;
	struct measure_header header = {.magic = MEASURE_MAGIC,
					.kind = KIND_ANSWER,
					.nonce = r->nonce,
					.number = r->number};

	runner_send(&header, (const uint8_t *)host + MEASURE_ANSWERS,
		    MEASURE_ANSWERS_SIZE + host->n_taken * sizeof(host->sample[0]));
	header.kind = KIND_STEPS;
	for (uint32_t i = 0; i < host->n_steps; i += MEASURE_STEPS_PER_MESSAGE) {
		uint32_t n = host->n_steps - i;

		if (n > MEASURE_STEPS_PER_MESSAGE)
			n = MEASURE_STEPS_PER_MESSAGE;
		runner_send(&header, &host->step[i], n * sizeof(host->step[0]));
	}
}

/* An order from the library itself; it is checked because a wrong one would be an error of ours. */
static bool receive_order(struct runner *r)
{
	struct measure_host *host = &r->host;
	struct measure_order_message m;
	long n = gate_syscall(__NR_read, MEASURE_SOCKET_FD, (long)&m, sizeof(m), 0, 0, 0);

	if (n < (long)sizeof(m.header) || m.header.magic != MEASURE_MAGIC ||
	    m.header.nonce != r->nonce || m.header.kind != KIND_ORDER || n != sizeof(m))
		return false; /* QUIT, or the library has gone */
	r->number = m.header.number;
	for (size_t i = 0; i < sizeof(m.orders); i++)
		((uint8_t *)host)[i] = m.orders[i];
	sandbox_see_code();
	return host->n_samples <= MEASURE_MAX_SAMPLES && host->max_pages <= MEASURE_MAX_PAGES &&
	       host->max_steps <= MEASURE_MAX_STEPS &&
	       (host->order == ORDER_LISTEN || sandbox_drop_data(r, host->n_physical));
}

void runs_serve(struct runner *r)
{
	struct measure_host *host = &r->host;

	while (receive_order(r)) {
		host->n_taken = host->n_steps = 0;
		switch ((enum measure_order)host->order) {
		case ORDER_PREPARE:
			prepare(r);
			break;
		case ORDER_SAMPLE:
			take_samples(r);
			break;
		case ORDER_STEP:
			step(r);
			break;
		case ORDER_LISTEN:
			listen_to_core(host);
			break;
		}
		send_answer(r);
	}
	runner_exit(0);
}
