/* SPDX-License-Identifier: MIT
 *
 * A corpus of attacks on the harness, made by rules.  No answer may be forged, late or wrong, no
 * secret may leak, and nothing outside may change.
 *
 * A sample of the corpus runs by default, all of it with TACT_ATTACK_ALL=1.  TACT_ATTACK_SEED
 * chooses the sample, the harness of each block and the random blocks; TACT_ATTACK_ONLY=TEXT runs
 * the blocks whose description has that text, and prints their answers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "attack.h"

enum {
	TIMEOUT_MS = 300,
	SAMPLE = 160,	    /* blocks of a group, by default */
	CONTROL_EVERY = 25, /* blocks */
	CONTROLS_EVERY = 1000
};

/* Runs what a generator makes. */
struct runner {
	struct attack_sink sink;
	struct judge judge;
	struct rng rng;
	unsigned total, index, since_control, which;
	bool again; /* in the same harness, chosen or not */
};

static void count_only(struct attack_sink *sink, struct attack *a)
{
	(void)sink;
	(void)a;
}

static void show(const struct runner *r, const struct attack *a)
{
	struct tact_measurement m = TACT_MEASUREMENT_INIT;

	tact_measure(r->judge.harness[r->which], a->code.data, a->code.size, &m);
	for (size_t i = 0; i < a->code.size; i++)
		print_message("%02x", a->code.data[i]);
	print_message(" # %s (harness %u): %s %.3f, %u pages; %s\n", a->what, r->which,
		      tact_measure_status_name(m.status), m.cycles_per_iteration, m.n_pages,
		      m.reason);
}

static bool is_chosen(struct runner *r)
{
	unsigned random = rng_below(&r->rng, r->total);

	return getenv("TACT_ATTACK_ALL") || random < SAMPLE;
}

static void run_attack(struct attack_sink *sink, struct attack *a)
{
	struct runner *r = (struct runner *)sink; /* its first field */
	const char *only = getenv("TACT_ATTACK_ONLY");

	r->index++;
	if (only ? !strstr(a->what, only) : !is_chosen(r) && !r->again) {
		r->again = false;
		return;
	}
	if (!r->again)
		r->which = rng_below(&r->rng, r->judge.n_harnesses);
	r->again = a->facts & ATTACK_FIRST;
	if (only)
		show(r, a);
	judge_attack(&r->judge, r->which, a);
	if (++r->since_control == CONTROL_EVERY) {
		r->since_control = 0;
		judge_control(&r->judge, r->which);
	}
	if (r->judge.n_blocks % CONTROLS_EVERY == 0)
		judge_controls(&r->judge, false);
}

static void run_group(void (*generate)(struct attack_sink *))
{
	const char *seed = getenv("TACT_ATTACK_SEED");
	struct runner *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	r->sink =
		(struct attack_sink){.put = count_only, .seed = seed ? strtoul(seed, NULL, 0) : 1};
	generate(&r->sink);
	r->total = r->sink.n;
	r->rng.state = r->sink.seed * 0x9e3779b97f4a7c15u + 7;
	r->sink.put = run_attack;
	if (!judge_begin(&r->judge, JUDGE_HARNESSES, TIMEOUT_MS))
		skip();
	generate(&r->sink);
	judge_controls(&r->judge, true);
	print_message("%u in the corpus; ", r->total);
	judge_end(&r->judge);
	free(r);
}

static void stores(void **state)
{
	(void)state;
	run_group(attack_stores);
}

static void stack_and_flags(void **state)
{
	(void)state;
	run_group(attack_stack);
}

static void modes_and_exceptions(void **state)
{
	(void)state;
	run_group(attack_state);
}

static void reads(void **state)
{
	(void)state;
	run_group(attack_reads);
}

static void encodings(void **state)
{
	(void)state;
	run_group(attack_encodings);
}

static void slow_blocks(void **state)
{
	(void)state;
	run_group(attack_slow);
}

static void pairs(void **state)
{
	(void)state;
	run_group(attack_pairs);
}

static void random_attacks(void **state)
{
	(void)state;
	run_group(attack_random);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stores),
		cmocka_unit_test(stack_and_flags),
		cmocka_unit_test(modes_and_exceptions),
		cmocka_unit_test(reads),
		cmocka_unit_test(encodings),
		cmocka_unit_test(slow_blocks),
		cmocka_unit_test(pairs),
		cmocka_unit_test(random_attacks),
	};

	return cmocka_run_group_tests_name("attack", tests, NULL, NULL);
}
