/* SPDX-License-Identifier: MIT
 *
 * Many blocks on several workers, into a store and on from there.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testing.h"

#include <tact-program/campaign.h>

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

TEST(misuse)
{
	struct tact_campaign_options opt = options(NULL);
	struct tact_campaign *c;

	assert_int_equal(tact_campaign_create(NULL, blocks, 1, &opt), -TACT_E_INVAL);
	assert_int_equal(tact_campaign_create(&c, blocks, 0, &opt), -TACT_E_INVAL);
	assert_int_equal(tact_campaign_create(&c, blocks, 1, NULL), -TACT_E_INVAL);
	opt.n_workers = 0;
	assert_int_equal(tact_campaign_create(&c, blocks, 1, &opt), -TACT_E_INVAL);
	tact_campaign_destroy(NULL);
}

RUN_TESTS(NULL, NULL)
