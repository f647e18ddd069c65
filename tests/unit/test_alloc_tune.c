/* SPDX-License-Identifier: MIT
 *
 * Every allocation may fail while parameters are learned, and the status says so.  See failing.h.
 */
#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include "failing.h"
#include "support.h"

enum { ROWS = 20 };

static int learn(void *arg)
{
	const struct tact_tune_options opt = {.size = sizeof(opt),
					      .arch = tact_arch_find("SKL"),
					      .model = arg,
					      .mode = TACT_MODE_UNROLL,
					      .method = TACT_TUNE_RANDOM,
					      .budget = 40,
					      .threads = 1};
	uint8_t code[4 * ROWS];
	struct tact_tuner *t;
	int status = tact_tuner_create(&t, &opt, NULL);

	if (status)
		assert_null(t);
	for (unsigned i = 0; i < ROWS && status >= 0; i++) {
		memcpy(code + (size_t)4 * i, "\x48\x0f\xaf\xc0", 4);
		status = tact_tuner_add(t, code, 4 * (i + 1), 4 * (i + 1), i % 2 ? "a" : "b", NULL);
	}
	if (status >= 0)
		status = tact_tuner_run(t, NULL);
	if (status >= 0)
		status = tact_tuner_save(t, "/dev/null", NULL, NULL);
	tact_tuner_destroy(t);
	return status;
}

TEST(tuners_may_fail)
{
	assert_true(try_failures(learn, (void *)"facile") > 20);
	assert_true(try_failures(learn, (void *)"mca") > 20);
}

RUN_TESTS(NULL, NULL)
