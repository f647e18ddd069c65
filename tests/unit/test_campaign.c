/* SPDX-License-Identifier: MIT
 *
 * Many blocks on several workers, into a store and on from there.
 */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "testing.h"

#include <tact-program/campaign.h>

#include "dataset/visits.h"
#include "support.h"

static const uint8_t add[] = {0x48, 0x01, 0xd8}, nop[] = {0x90}, no_code[] = {0x06};
static const struct tact_campaign_block blocks[] = {{add, sizeof(add), false, 0},
						    {NULL, 0, false, 0},
						    {no_code, sizeof(no_code), false, 0},
						    {nop, sizeof(nop), false, 16}};
static const int cpus[] = {-1, -1};

static struct tact_campaign_options options(const char *store)
{
	return (struct tact_campaign_options){
		.size = sizeof(struct tact_campaign_options),
		.measure = {.size = sizeof(struct tact_measure_options),
			    .mode = TACT_MODE_UNROLL,
			    .init = TACT_INIT_SAME,
			    .passes = 2,
			    .samples = 8},
		.cpus = cpus,
		.n_workers = 2,
		.store = store,
	};
}

/* Runs it to its end. */
static struct tact_campaign *run(const struct tact_campaign_options *opt,
				 struct tact_campaign_progress *now)
{
	struct tact_campaign *c;

	assert_int_equal(tact_campaign_create(&c, blocks, ARRAY_SIZE(blocks), opt), 0);
	tact_campaign_wait(c, 0, now);
	if (now->end == TACT_CAMPAIGN_UNABLE) {
		tact_campaign_destroy(c);
		skip();
	}
	if (!now->end)
		tact_campaign_start(c);
	do
		tact_campaign_wait(c, 20, now);
	while (now->is_running);
	return c;
}

TEST(measures_all)
{
	const struct tact_campaign_options opt = options(NULL);
	struct tact_campaign_progress now;
	struct tact_campaign *c = run(&opt, &now);

	assert_int_equal(now.end, TACT_CAMPAIGN_NOT_STOPPED);
	assert_int_equal(now.n_ready, ARRAY_SIZE(blocks));
	assert_int_equal(now.n_done, 3);
	assert_int_equal(now.n_none, 1);
	assert_true(now.n_status[TACT_MEASURE_DECODE] >= 1);
	assert_int_equal(tact_campaign_get_state(c, 0), TACT_CAMPAIGN_MEASURED);
	assert_int_equal(tact_campaign_get_state(c, 1), TACT_CAMPAIGN_NO_BLOCK);
	assert_null(tact_campaign_result(c, 1));
	assert_int_equal(tact_campaign_result(c, 2)->status, TACT_MEASURE_DECODE);
	tact_campaign_drop(c, 2);
	assert_null(tact_campaign_result(c, 2));
	assert_null(tact_campaign_result(c, 100));
	tact_campaign_drop(c, 100);
	tact_campaign_destroy(c);
}

TEST(resumes)
{
	char path[] = "/tmp/tact-campaign-XXXXXX";
	struct tact_campaign_options opt = options(path);
	struct tact_campaign_progress now;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	opt.limit = 1;
	opt.is_resumed = true;
	tact_campaign_destroy(run(&opt, &now));
	assert_int_equal(now.n_done, 1);
	opt.limit = 0;
	tact_campaign_destroy(run(&opt, &now));
	assert_int_equal(now.n_skipped, 1);
	assert_int_equal(now.n_done, 2);
	tact_campaign_destroy(run(&opt, &now));
	assert_int_equal(now.n_skipped, 3);
	assert_int_equal(now.n_done, 0);
	unlink(path);
}

TEST(ends_early)
{
	struct tact_campaign_options opt = options("/nowhere/at/all.db");
	struct tact_campaign_progress now;
	const volatile int signal = 2;

	tact_campaign_destroy(run(&opt, &now));
	assert_int_equal(now.end, TACT_CAMPAIGN_FAILED);
	assert_non_null(strstr(now.why, "/nowhere/at/all.db"));
	opt = options(NULL);
	opt.interrupt = &signal;
	tact_campaign_destroy(run(&opt, &now));
	assert_int_equal(now.n_done, 0);
	assert_int_equal(now.end, TACT_CAMPAIGN_NOT_STOPPED);
	assert_string_equal(now.why, "");
}

/* ---- rounds, with measurements that are made up ---- */

enum { N_BLOCKS = 40, MAX_VISITS = 400 };

/* A neighbour on some CPUs, and what was asked of it. */
struct machine {
	pthread_mutex_t lock;
	struct made_up {
		size_t block;
		int cpu;
		double time;
	} visits[MAX_VISITS];
	size_t n_visits;
	unsigned slow_visits; /* so many first visits of a block are slowed down, */
	unsigned slow_every;  /* if its number is a multiple of this; 0: of all blocks */
	size_t stop_at;	      /* raises the signal at this visit; 0: never */
	volatile int signal;
	enum tact_measure_status status; /* of the first visits of block 1 */
};

static uint8_t codes[N_BLOCKS];
static struct tact_campaign_block many[N_BLOCKS];

static int make_blocks(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_BLOCKS; i++) {
		codes[i] = (uint8_t)i;
		many[i] = (struct tact_campaign_block){&codes[i], 1, false, 0};
	}
	return 0;
}

static double now_in_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static unsigned visits_so_far(const struct machine *m, size_t block)
{
	unsigned n = 0;

	for (size_t i = 0; i < m->n_visits; i++)
		n += m->visits[i].block == block;
	return n;
}

/* Blocks take 1, 2, 3... cycles; a slow visit is 30% slower, and a little more each time. */
static int visit(void *context, int cpu, const struct tact_campaign_block *block,
		 struct tact_measurement *out)
{
	struct machine *m = context;
	const size_t i = block->code[0];
	unsigned before;

	pthread_mutex_lock(&m->lock);
	assert_true(m->n_visits < MAX_VISITS);
	before = visits_so_far(m, i);
	m->visits[m->n_visits++] = (struct made_up){i, cpu, now_in_seconds()};
	if (m->n_visits == m->stop_at)
		m->signal = 2;
	pthread_mutex_unlock(&m->lock);
	*out = (struct tact_measurement){.size = sizeof(*out),
					 .mode = TACT_MODE_UNROLL,
					 .init = TACT_INIT_SAME,
					 .rung = TACT_RUNG_TSC,
					 .low = 100,
					 .high = 10000,
					 .cpu = cpu,
					 .rounds = 1,
					 .agree = 1,
					 .spread = 0.001,
					 .cycles_per_iteration = (double)i + 1};
	if (i == 1 && m->status && before < m->slow_visits) {
		out->status = m->status;
		out->agree = 0;
		snprintf(out->reason, sizeof(out->reason), "made up");
	} else if (before < m->slow_visits && (!m->slow_every || i % m->slow_every == 0)) {
		out->cycles_per_iteration *= 1.3 + 0.1 * before;
	}
	return 0;
}

static struct tact_campaign *run_rounds(struct machine *m, struct tact_campaign_options *opt,
					struct tact_campaign_progress *now)
{
	struct tact_campaign *c;

	pthread_mutex_init(&m->lock, NULL);
	opt->visit = visit;
	opt->context = m;
	opt->interrupt = &m->signal;
	assert_int_equal(tact_campaign_create(&c, many, N_BLOCKS, opt), 0);
	tact_campaign_start(c);
	do
		tact_campaign_wait(c, 20, now);
	while (now->is_running);
	pthread_mutex_destroy(&m->lock);
	return c;
}

static struct tact_campaign_options rounds_options(unsigned rounds, unsigned n_workers)
{
	static const int three[] = {4, 5, 6};
	struct tact_campaign_options opt = options(NULL);

	opt.cpus = three;
	opt.n_cpus = 3;
	opt.n_workers = n_workers;
	opt.rounds = rounds;
	return opt;
}

/* Every block in every round, on another CPU each time, in other orders. */
TEST_WITH(rounds_visit_all, make_blocks, NULL)
{
	for (unsigned n_workers = 1; n_workers <= 3; n_workers++) {
		struct tact_campaign_options opt = rounds_options(3, n_workers);
		struct machine m = {.slow_visits = 0};
		struct tact_campaign_progress now;
		struct tact_campaign *c = run_rounds(&m, &opt, &now);
		unsigned n_same_place = 0, n_same_cpu = 0;

		assert_int_equal(now.n_done, N_BLOCKS);
		assert_int_equal(now.n_good, N_BLOCKS);
		assert_int_equal(now.n_confirmed, N_BLOCKS);
		assert_int_equal(now.n_ready, N_BLOCKS);
		assert_int_equal(now.n_visits, 3 * N_BLOCKS);
		assert_int_equal(now.n_expected, 3 * N_BLOCKS);
		assert_int_equal(now.round, 3);
		for (size_t i = 0; i < N_BLOCKS; i++) {
			const struct tact_measurement *r = tact_campaign_result(c, i);

			assert_int_equal(visits_so_far(&m, i), 3);
			assert_int_equal(r->rounds, 3);
			assert_int_equal(r->agree, 3);
			n_same_place += m.visits[i].block == m.visits[N_BLOCKS + i].block;
		}
		for (size_t i = 0; i < 2 * N_BLOCKS; i++)
			for (size_t k = i + 1; k < i / N_BLOCKS * N_BLOCKS + 2 * N_BLOCKS; k++)
				n_same_cpu += k >= i / N_BLOCKS * N_BLOCKS + N_BLOCKS &&
					      m.visits[i].block == m.visits[k].block &&
					      m.visits[i].cpu == m.visits[k].cpu;
		assert_true(n_same_place < N_BLOCKS / 2);
		assert_int_equal(n_same_cpu, 0);
		tact_campaign_destroy(c);
	}
}

TEST_WITH(until_confirmed_stops_there, make_blocks, NULL)
{
	struct tact_campaign_options opt = rounds_options(8, 2);
	struct machine m = {.slow_visits = 1, .slow_every = 20};
	struct tact_campaign_progress now;
	struct tact_campaign *c;

	opt.is_until_confirmed = true;
	c = run_rounds(&m, &opt, &now);
	assert_int_equal(now.n_confirmed, N_BLOCKS);
	assert_int_equal(now.n_visits, 2 * N_BLOCKS + 2); /* slow, then two that agree */
	assert_int_equal(now.n_expected, now.n_visits);
	for (size_t i = 0; i < N_BLOCKS; i++) {
		const struct tact_measurement *r = tact_campaign_result(c, i);

		assert_float_equal(r->cycles_per_iteration, (double)i + 1, 1e-9);
		assert_int_equal(r->rounds, i % 20 ? 2 : 3);
		assert_int_equal(r->agree, 2);
	}
	tact_campaign_destroy(c);
	/* never: all visits differ */
	m = (struct machine){.slow_visits = 100};
	c = run_rounds(&m, &opt, &now);
	assert_int_equal(now.n_visits, 8 * N_BLOCKS);
	assert_int_equal(now.n_good, 0);
	assert_int_equal(now.n_status[TACT_MEASURE_UNCONFIRMED], N_BLOCKS);
	assert_int_equal(tact_campaign_result(c, 7)->rounds, 8);
	tact_campaign_destroy(c);
}

/* If most blocks contradict their first number, two that agree are too few. */
TEST_WITH(many_neighbours_need_more_rounds, make_blocks, NULL)
{
	struct tact_campaign_options opt = rounds_options(8, 1);
	struct machine m = {.slow_visits = 1};
	struct tact_campaign_progress now;
	struct tact_campaign *c;
	size_t n_more = 0;

	opt.is_until_confirmed = true;
	c = run_rounds(&m, &opt, &now);
	assert_int_equal(now.n_confirmed, N_BLOCKS);
	for (size_t i = 0; i < N_BLOCKS; i++)
		n_more += tact_campaign_result(c, i)->agree > 2;
	assert_true(n_more > N_BLOCKS / 2);
	tact_campaign_destroy(c);
}

TEST_WITH(failures_in_rounds, make_blocks, NULL)
{
	struct tact_campaign_options opt = rounds_options(4, 1);
	struct machine m = {.slow_visits = 100, .status = TACT_MEASURE_ILLEGAL};
	struct tact_campaign_progress now;
	struct tact_campaign *c = run_rounds(&m, &opt, &now);

	assert_int_equal(visits_so_far(&m, 1), 1); /* it stays illegal */
	assert_int_equal(tact_campaign_result(c, 1)->status, TACT_MEASURE_ILLEGAL);
	tact_campaign_destroy(c);
	m = (struct machine){.slow_visits = 2, .slow_every = 100, .status = TACT_MEASURE_DISTURBED};
	c = run_rounds(&m, &opt, &now);
	assert_int_equal(visits_so_far(&m, 1), 4);
	assert_int_equal(tact_campaign_result(c, 1)->status, TACT_MEASURE_OK);
	assert_int_equal(tact_campaign_result(c, 1)->disturbed, 2);
	tact_campaign_destroy(c);
}

TEST_WITH(rounds_have_a_limit, make_blocks, NULL)
{
	struct tact_campaign_options opt = rounds_options(2, 2);
	struct machine m = {.slow_visits = 0};
	struct tact_campaign_progress now;
	struct tact_campaign *c;

	opt.limit = 5;
	c = run_rounds(&m, &opt, &now);
	assert_int_equal(now.n_done, 5);
	assert_int_equal(now.n_confirmed, 5);
	assert_int_equal(now.n_visits, 10);
	assert_int_equal(now.n_expected, 10);
	tact_campaign_destroy(c);
}

/* A block is not visited again at once. */
TEST_WITH(visits_are_apart, make_blocks, NULL)
{
	struct tact_campaign_options opt = rounds_options(2, 1);
	struct machine m = {.slow_visits = 0};
	struct tact_campaign_progress now;

	opt.interval_ms = 60;
	tact_campaign_destroy(run_rounds(&m, &opt, &now));
	assert_int_equal(m.n_visits, 2 * N_BLOCKS);
	for (size_t i = 0; i < N_BLOCKS; i++)
		for (size_t k = N_BLOCKS; k < 2 * N_BLOCKS; k++)
			if (m.visits[i].block == m.visits[k].block)
				assert_true(m.visits[k].time - m.visits[i].time >= 0.059);
}

/* A signal in the second round: what is there is kept, and the next run goes on from it. */
TEST_WITH(rounds_resume, make_blocks, NULL)
{
	char path[] = "/tmp/tact-campaign-XXXXXX";
	struct tact_campaign_options opt = rounds_options(8, 1);
	struct machine m = {.stop_at = N_BLOCKS + 10};
	struct tact_campaign_progress now;
	struct tact_campaign *c;
	int fd = mkstemp(path);
	size_t n_once = 0;

	assert_true(fd >= 0);
	close(fd);
	opt.store = path;
	opt.is_until_confirmed = opt.is_resumed = true;
	c = run_rounds(&m, &opt, &now);
	assert_int_equal(now.n_done, N_BLOCKS);
	assert_int_equal(now.n_confirmed, 10);
	for (size_t i = 0; i < N_BLOCKS; i++) {
		assert_int_equal(tact_campaign_get_state(c, i), TACT_CAMPAIGN_MEASURED);
		n_once += tact_campaign_result(c, i)->rounds == 1;
	}
	assert_int_equal(n_once, N_BLOCKS - 10);
	tact_campaign_destroy(c);
	/* the rows of the store are rounds, too */
	m = (struct machine){.slow_visits = 0};
	c = run_rounds(&m, &opt, &now);
	assert_int_equal(now.n_skipped, 10);
	assert_int_equal(now.n_visits, N_BLOCKS - 10);
	assert_int_equal(now.n_confirmed, N_BLOCKS - 10);
	for (size_t i = 0; i < N_BLOCKS; i++)
		if (tact_campaign_result(c, i))
			assert_int_equal(tact_campaign_result(c, i)->rounds, 2);
	tact_campaign_destroy(c);
	/* those of another setting are not */
	m = (struct machine){.slow_visits = 0};
	opt.measure.memory = TACT_CONTENTS_FLOAT;
	opt.rounds = 1;
	c = run_rounds(&m, &opt, &now);
	assert_int_equal(now.n_skipped, 0);
	tact_campaign_destroy(c);
	unlink(path);
}

/* ---- the order of visits ---- */

static bool wants_even(const void *context, size_t block)
{
	(void)context;
	return block % 2 == 0;
}

TEST(another_cpu_goes_first)
{
	struct visits v;
	double wait;
	size_t i;

	assert_int_equal(visits_init(&v, 6, 1, 0.5), 0);
	for (size_t k = 0; k < 6; k++) {
		assert_true(visits_take(&v, 0, true, 1, &i, &wait));
		assert_int_equal(i, k); /* the first round has the order of the input */
		visits_note(&v, i, i < 4 ? 0 : 1, 10 + (double)i);
	}
	assert_false(visits_take(&v, 0, true, 20, &i, &wait));
	assert_true(wait <= 0);
	assert_int_equal(visits_begin(&v, wants_even, NULL), 3);
	assert_false(visits_take(&v, 0, true, 10.1, &i, &wait)); /* too early for all of them */
	assert_float_equal(wait, 0.4, 1e-9);
	assert_true(visits_take(&v, 0, true, 20, &i, &wait));
	assert_int_equal(i, 4);				      /* the only one that was elsewhere */
	assert_true(visits_take(&v, 0, true, 20, &i, &wait)); /* better here than not at all */
	visits_drop_rest(&v);
	assert_false(visits_take(&v, 1, true, 20, &i, &wait));
	visits_fini(&v);
}

TEST(misuse)
{
	struct tact_campaign_options opt = options(NULL);
	struct tact_campaign *c;

	assert_int_equal(tact_campaign_create(NULL, blocks, 1, &opt), -TACT_E_INVAL);
	assert_int_equal(tact_campaign_create(&c, blocks, 0, &opt), -TACT_E_INVAL);
	assert_int_equal(tact_campaign_create(&c, blocks, 1, NULL), -TACT_E_INVAL);
	opt.n_workers = 0;
	assert_int_equal(tact_campaign_create(&c, blocks, 1, &opt), -TACT_E_INVAL);
	opt = options(NULL);
	opt.n_cpus = 1;
	assert_int_equal(tact_campaign_create(&c, blocks, 1, &opt), -TACT_E_INVAL);
	tact_campaign_destroy(NULL);
}

RUN_TESTS(NULL, NULL)
