/* SPDX-License-Identifier: MIT
 *
 * Derivations of bounds: on random blocks, their numbers give exactly what tact_predict says.
 */
#include <math.h>

#include "testing.h"

#include "support.h"

enum { BLOCKS = 60, MAX_INSNS = 12 };

static double evaluate(const struct tact_derivation *d)
{
	switch (d->rule) {
	case TACT_RULE_CEILING:
		return ceil((double)d->amount / d->per);
	case TACT_RULE_COPIES:
		return ceil((double)d->amount * d->copies / d->per) / d->copies;
	case TACT_RULE_TABLE:
		return d->cycles_per_iteration;
	default:
		return (double)d->amount * d->each / d->per;
	}
}

static unsigned check(struct tact_block *block, const struct tact_predict_options *opt)
{
	struct tact_prediction p = TACT_PREDICTION_INIT;
	unsigned n = 0;

	assert_int_equal(tact_predict(block, opt, &p), 0);
	for (unsigned b = 0; b < TACT_N_BOUNDS; b++) {
		struct tact_derivation d = TACT_DERIVATION_INIT;

		if (!(p.applies >> b & 1))
			continue;
		assert_int_equal(tact_explain_bound(block, opt, (enum tact_bound)b, &d), 0);
		if (fabs(d.cycles_per_iteration - p.bound[b]) > 1e-9 ||
		    fabs(evaluate(&d) - p.bound[b]) > 1e-9)
			fail_msg("%s on %s is %f, derived as %f",
				 tact_bound_name((enum tact_bound)b),
				 tact_arch_name(tact_block_arch(block)), p.bound[b], evaluate(&d));
		n += p.bound[b] > 0;
	}
	return n;
}

static const struct tact_predict_options variants[] = {
	{.size = sizeof(variants[0])},
	{.size = sizeof(variants[0]), .exact_ports = true},
	{.size = sizeof(variants[0]), .simple_predecoder = true, .simple_decoder = true},
};

TEST(test_derivations_give_bounds)
{
	struct rng rng = {42};
	unsigned n = 0;

	for (const struct tact_arch *arch = NULL; (arch = tact_arch_next(arch)) != NULL;)
		for (unsigned k = 0; k < 8; k++) {
			const struct tact_block_options opt = {.size = sizeof(opt),
							       .mode = k & 1 ? TACT_MODE_LOOP
									     : TACT_MODE_UNROLL,
							       .paper = k & 2,
							       .alignment = k & 4 ? 53 : 0};
			struct tact_block *block;
			struct tact_diag diag;

			assert_int_equal(tact_block_create(&block, arch, &opt, &diag), 0);
			for (unsigned i = 0; i < BLOCKS; i++) {
				uint8_t code[MAX_INSNS * 16];
				size_t size = random_block(&rng, code, MAX_INSNS);

				if (tact_block_load(block, code, size, &diag) < 0)
					continue;
				for (size_t v = 0; v < ARRAY_SIZE(variants); v++)
					n += check(block, &variants[v]);
			}
			tact_block_destroy(block);
		}
	assert_true(n > 10000);
}

/* The mean gain over all orders of n bounds, by trying them all. */
static void try_orders(const double *bound, unsigned n, unsigned left, double now, double weight,
		       double *gain)
{
	unsigned n_left = (unsigned)__builtin_popcount(left);

	for (unsigned b = 0; b < n; b++) {
		double next = 0;

		if (!(left >> b & 1))
			continue;
		for (unsigned k = 0; k < n; k++)
			if (k != b && left >> k & 1 && bound[k] > next)
				next = bound[k];
		gain[b] += (now - next) * weight / n_left;
		try_orders(bound, n, left & ~(1u << b), next, weight / n_left, gain);
	}
}

TEST(test_shares)
{
	struct rng rng = {7};

	for (unsigned round = 0; round < 300; round++) {
		enum { N = 6 };
		struct tact_prediction p = TACT_PREDICTION_INIT;
		struct tact_shares s = TACT_SHARES_INIT;
		double gain[N] = {0}, sum = 0, worst = 0, second = 0;

		p.applies = (1u << N) - 1;
		for (unsigned b = 0; b < N; b++) {
			p.bound[b] = 0.5 * (1 + rng_below(&rng, 5)); /* ties are frequent */
			worst = fmax(worst, p.bound[b]);
		}
		for (unsigned b = 0; b < N; b++)
			if (p.bound[b] < worst)
				second = fmax(second, p.bound[b]);
		try_orders(p.bound, N, p.applies, worst, 1, gain);
		assert_int_equal(tact_explain_shares(&p, &s), 0);
		for (unsigned b = 0; b < N; b++) {
			assert_true(fabs(s.share[b] * worst - gain[b]) < 1e-9);
			assert_int_equal(s.set >> b & 1, p.bound[b] == worst);
			sum += s.share[b];
		}
		assert_true(fabs(sum - 1) < 1e-9);
		assert_true(s.without == second);
	}
	assert_int_equal(tact_explain_shares(NULL, &(struct tact_shares)TACT_SHARES_INIT),
			 -TACT_E_INVAL);
}

TEST(test_wrong_arguments)
{
	static const uint8_t add[] = {0x48, 0x01, 0xd8};
	struct tact_derivation d = TACT_DERIVATION_INIT, none = {0};
	struct tact_chain chain = TACT_CHAIN_INIT;
	struct tact_predict_options unknown = {.size = sizeof(unknown), .bounds = 1u << 31};
	struct tact_port_contention ports = TACT_PORT_CONTENTION_INIT;
	struct tact_block *block;
	unsigned iterations;

	assert_int_equal(tact_block_create(&block, tact_arch_find("ZEN4"), NULL, NULL), 0);
	assert_int_equal(tact_explain_bound(block, NULL, TACT_BOUND_ISSUE, &d), -TACT_E_INVAL);
	assert_int_equal(tact_block_load(block, add, sizeof(add), NULL), 0);
	assert_int_equal(tact_explain_bound(NULL, NULL, TACT_BOUND_ISSUE, &d), -TACT_E_INVAL);
	assert_int_equal(tact_explain_bound(block, NULL, TACT_N_BOUNDS, &d), -TACT_E_INVAL);
	assert_int_equal(tact_explain_bound(block, NULL, TACT_BOUND_ISSUE, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_explain_bound(block, NULL, TACT_BOUND_ISSUE, &none), -TACT_E_INVAL);
	assert_int_equal(tact_explain_bound(block, &unknown, TACT_BOUND_ISSUE, &d), -TACT_E_INVAL);
	assert_int_equal(tact_explain_chain_of(block, TACT_BOUND_ISSUE, &chain), -TACT_E_INVAL);
	assert_int_equal(tact_explain_chain_of(block, TACT_BOUND_PRECEDENCE, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_explain_ports_with(block, &unknown, &ports), -TACT_E_INVAL);
	assert_int_equal(tact_explain_dsb(NULL, NULL, 0, &iterations), -TACT_E_INVAL);
	assert_int_equal(tact_explain_dsb(block, NULL, 1, &iterations), -TACT_E_INVAL);
	assert_int_equal(tact_explain_dsb(block, NULL, 0, &iterations), 1);
	assert_string_equal(tact_bound_name_on(NULL, TACT_BOUND_DSB), "DSB");
	assert_string_equal(tact_bound_name_on(tact_arch_find("SKL"), TACT_BOUND_DSB), "DSB");
	assert_string_equal(tact_bound_name_on(tact_arch_find("ZEN4"), TACT_BOUND_DSB), "Op cache");
	assert_string_equal(tact_bound_name_on(tact_arch_find("ZEN4"), TACT_N_BOUNDS), "unknown");
	assert_string_equal(tact_uop_source_name_on(tact_arch_find("ZEN4"), TACT_SOURCE_DSB),
			    "OpC");
	tact_block_destroy(block);
}

RUN_TESTS(NULL, NULL)
