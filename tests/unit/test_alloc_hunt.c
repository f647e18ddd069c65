/* SPDX-License-Identifier: MIT
 *
 * Every allocation may fail while a model is hunted.  What only saves time or adds a detail does
 * without; everything else says so.  See failing.h.
 */
#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include <tact-program/hunt.h>

#include "failing.h"
#include "support.h"

/* Two models that differ in blocks with a byte 0xaf, the second one of a product. */
static int ask(void *context, const struct tact_hunt_block *blocks, size_t n,
	       struct tact_hunt_value *out, struct tact_diag *diag)
{
	const bool is_judge = context;

	(void)diag;
	for (size_t i = 0; i < n; i++)
		out[i] = (struct tact_hunt_value){
			.cycles = is_judge && memchr(blocks[i].code, 0xaf, blocks[i].code_size) ? 2
												: 1,
			.answer = TACT_HUNT_NUMBER};
	return 0;
}

static int hunt(bool is_rows)
{
	static int other;
	static const char *const real[] = {"480fafc34801d8", "4889c74883c008488b07", "480fafc8",
					   "4801d8480fafc2", "488b04cf4801d0",	     "480fafd1"};
	const struct tact_hunt_memory_options mo = {.size = sizeof(mo), .behind = {ask, &other}};
	struct tact_hunt_options o = {.size = sizeof(o),
				      .arch = tact_arch_find("SKL"),
				      .mode = TACT_MODE_UNROLL,
				      .model = {ask, NULL},
				      .samples = 4,
				      .batch = 16,
				      .most_blocks = 100};
	struct tact_hunt_memory *memory;
	struct tact_hunt *h = NULL;
	int status = tact_hunt_memory_create(&memory, &mo);

	o.judge = (struct tact_hunt_side){tact_hunt_memory_ask, memory};
	if (status >= 0)
		status = tact_hunt_create(&h, &o, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(real) && status >= 0; i++) {
		uint8_t code[32];
		const size_t size = bytes_of(code, sizeof(code), real[i]);

		status = tact_hunt_add(h, code, size, 0, 1,
				       !is_rows			  ? 0
				       : memchr(code, 0xaf, size) ? 2
								  : 1);
	}
	if (status >= 0)
		status = is_rows ? tact_hunt_rows(h, NULL) : tact_hunt_run(h, NULL);
	if (status >= 0 && !has_failed)
		assert_int_equal(tact_hunt_count(h), 1);
	tact_hunt_destroy(h);
	tact_hunt_memory_destroy(memory);
	return status;
}

TEST(a_hunt_without_memory_ends_well)
{
	for (int is_rows = 0; is_rows < 2; is_rows++) {
		unsigned n_said = 0;

		for (long n = 0;; n++) {
			int status;

			fail_after = n;
			has_failed = false;
			status = hunt(is_rows);
			fail_after = -1;
			if (!has_failed) {
				assert_int_equal(status, 0);
				break;
			}
			assert_true(status == 0 || status == -TACT_E_NOMEM);
			n_said += status != 0;
		}
		assert_true(n_said > 20);
	}
}

RUN_TESTS(NULL, NULL)
