/* SPDX-License-Identifier: MIT
 *
 * Every allocation may fail while blocks are collected and classified, and the status says so.
 * Linked with --wrap for malloc, calloc and realloc.
 */
#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include "failing.h"
#include "support.h"

static const uint8_t codes[][8] = {{0x48, 0x01, 0xd8},
				   {0x0f, 0x58, 0xc1},
				   {0x48, 0x8b, 0x07},
				   {0x48, 0x89, 0x07},
				   {0x48, 0x01, 0xd8, 0x0f, 0x58, 0xc1}};
static const size_t sizes[] = {3, 3, 3, 3, 6};

static struct tact_block *block; /* made while nothing fails */

static int set_up(void **state)
{
	(void)state;
	return tact_block_create(&block, tact_arch_find("SKL"), NULL, NULL);
}

static int tear_down(void **state)
{
	(void)state;
	tact_block_destroy(block);
	return 0;
}

/* What the block itself needs must not fail here. */
static void load(size_t i)
{
	long after = fail_after;

	fail_after = -1;
	assert_int_equal(tact_block_load(block, codes[i], sizes[i], NULL), 0);
	fail_after = after;
}

static int classify(void *arg)
{
	const struct tact_classify_options opt = {
		.size = sizeof(opt), .topics = 2, .starts = 2, .jobs = 1};
	struct tact_label label = TACT_LABEL_INIT;
	struct tact_classifier *classifier = NULL, *loaded = NULL;
	struct tact_bags *bags = NULL;
	uint32_t bag;
	int status = tact_bags_create(&bags, tact_arch_find("SKL"), NULL);

	if (status < 0)
		assert_null(bags);
	for (size_t i = 0; i < ARRAY_SIZE(codes) && status >= 0; i++) {
		load(i);
		status = tact_bags_add(bags, block, &bag, NULL);
	}
	if (status >= 0) {
		status = tact_classifier_train(&classifier, bags, &opt, NULL);
		assert_true(status < 0 ? !classifier : classifier != NULL);
	}
	for (size_t i = 0; i < ARRAY_SIZE(codes) && status >= 0; i++) {
		load(i);
		status = tact_classifier_apply(classifier, block, &label, NULL);
	}
	if (status >= 0)
		status = tact_classifier_save(classifier, arg, "a comment", NULL);
	if (status >= 0) {
		status = tact_classifier_load(&loaded, arg, NULL);
		assert_true(status < 0 ? !loaded : loaded != NULL);
	}
	tact_classifier_destroy(loaded);
	tact_classifier_destroy(classifier);
	tact_bags_destroy(bags);
	return status < 0 ? status : 0;
}

TEST(classifying_may_fail)
{
	char path[] = "/tmp/tact-alloc-XXXXXX";

	close(mkstemp(path));
	assert_true(try_failures(classify, path) > 10);
	unlink(path);
}

static int ignore(void *arg, const struct tact_collect_block *b)
{
	(void)arg;
	(void)b;
	return 0;
}

static int collect(void *arg)
{
	struct tact_collect *c = NULL;
	int status = tact_collect_create(&c, NULL);

	if (status < 0)
		assert_null(c);
	if (status >= 0)
		status = tact_collect_file(c, arg, NULL);
	if (status >= 0)
		status = tact_collect_finish(c, ignore, NULL);
	tact_collect_destroy(c);
	return status;
}

/* A small ELF file: two functions, one of which calls the other. */
TEST(collecting_may_fail)
{
	char path[] = "/tmp/tact-alloc-XXXXXX", command[256];
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	snprintf(command, sizeof(command),
		 "printf '.globl f\\nf: call g\\n ret\\ng: dec %%%%ecx\\n jnz g\\n ret\\n' |"
		 " as -o %s - 2> /dev/null",
		 path);
	if (system(command)) {
		unlink(path);
		skip(); /* there is no assembler */
	}
	assert_true(try_failures(collect, path) > 3);
	unlink(path);
}

RUN_TESTS(set_up, tear_down)
