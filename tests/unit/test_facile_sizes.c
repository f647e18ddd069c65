/* SPDX-License-Identifier: MIT
 *
 * Callers that were compiled with older and newer headers than the library: results and jobs of
 * other sizes, masks with bits that are not known.
 */
#include "testing.h"

#include "support.h"

static const uint8_t code[] = {0x48, 0x0f, 0xaf, 0xc3}; /* imul rax, rbx */

enum { GUARD = 0xa5 };

static struct tact_block *loaded(void)
{
	struct tact_block *block;

	assert_int_equal(tact_block_create(&block, tact_arch_find("SKL"), NULL, NULL), 0);
	assert_int_equal(tact_block_load(block, code, sizeof(code), NULL), 0);
	return block;
}

static bool is_all(const uint8_t *bytes, size_t n, uint8_t value)
{
	for (size_t i = 0; i < n; i++)
		if (bytes[i] != value)
			return false;
	return true;
}

/* A struct of `size` bytes in a buffer of guards. */
static void *sized(uint8_t *buffer, size_t capacity, size_t size)
{
	memset(buffer, GUARD, capacity);
	memcpy(buffer, &size, sizeof(size));
	return buffer;
}

/* What every size of a result must keep to. */
#define CHECK_SIZES(type, call, check)                                                             \
	do {                                                                                       \
		_Alignas(16) uint8_t buffer[sizeof(type) + 96];                                    \
		const size_t sizes[] = {sizeof(size_t), sizeof(type) / 2 & ~(size_t)7,             \
					sizeof(type), sizeof(type) + 64};                          \
		for (size_t k = 0; k < ARRAY_SIZE(sizes); k++) {                                   \
			type *out = sized(buffer, sizeof(buffer), sizes[k]);                       \
			assert_true((int)(call) >= 0);                                             \
			assert_int_equal(out->size, sizes[k]);                                     \
			assert_true(is_all(buffer + sizes[k], sizeof(buffer) - sizes[k], GUARD));  \
			if (sizes[k] >= sizeof(type))                                              \
				assert_true(check);                                                \
			if (sizes[k] > sizeof(type))                                               \
				assert_true(is_all(buffer + sizeof(type), 64, 0));                 \
		}                                                                                  \
		type *out = sized(buffer, sizeof(buffer), 0);                                      \
		assert_false((int)(call) > 0);                                                     \
		assert_true(                                                                       \
			is_all(buffer + sizeof(size_t), sizeof(buffer) - sizeof(size_t), GUARD));  \
	} while (0)

TEST(results_of_any_size)
{
	struct tact_block *block = loaded();

	CHECK_SIZES(struct tact_prediction, tact_predict(block, NULL, out),
		    out->cycles_per_iteration == 3 && out->bound[TACT_BOUND_PORTS] == 1 &&
			    is_all((const uint8_t *)&out->bound[TACT_N_BOUNDS],
				   (TACT_MAX_BOUNDS - TACT_N_BOUNDS) * sizeof(double), 0));
	CHECK_SIZES(struct tact_insn_cost, tact_block_cost(block, 0, out), out->uops == 1);
	CHECK_SIZES(struct tact_port_contention, tact_explain_ports(block, out),
		    out->ports == 1 << 1 && out->n_insns == 1);
	CHECK_SIZES(struct tact_chain, tact_explain_chain(block, out), out->latency == 3);
	CHECK_SIZES(struct tact_criticality, tact_explain_criticality(block, NULL, 0, out),
		    out->slack == 0 && !out->is_erasable);
	CHECK_SIZES(struct tact_form_info,
		    tact_arch_form(tact_arch_find("SKL"),
				   tact_isa_form_find(tact_isa_default(), "IMUL (R64, R64)"),
				   TACT_SITUATION_PLAIN, out),
		    out->uops == 1 && out->n_latencies == 4);
	CHECK_SIZES(struct tact_param, tact_arch_param(tact_arch_find("SKL"), 0, out),
		    out->name[0] != 0);
	tact_block_destroy(block);
}

TEST(a_size_that_was_never_set)
{
	struct tact_block *block = loaded();
	struct tact_prediction p = {.size = 0};
	struct tact_insn_cost cost = {.size = 0};
	struct tact_param param = {.size = 0};

	assert_int_equal(tact_predict(block, NULL, &p), -TACT_E_INVAL);
	assert_int_equal(tact_block_cost(block, 0, &cost), -TACT_E_INVAL);
	assert_false(tact_arch_param(tact_arch_find("SKL"), 0, &param));
	tact_block_destroy(block);
}

/* Jobs of another version: the size of the first is the distance to the next.  Volatile, so
 * that the compiler does not know that some are shorter than its own struct.
 */
static void predict_jobs(size_t of)
{
	enum { N = 5 };
	volatile size_t hidden = of;
	const size_t size = hidden;
	uint8_t *memory = malloc(N * size);

	assert_non_null(memory);
	memset(memory, GUARD, N * size);
	for (size_t i = 0; i < N; i++) {
		struct tact_job *job = (struct tact_job *)(void *)(memory + i * size);

		job->size = size;
		job->code = code;
		job->code_size = i == 3 ? 2 : sizeof(code);
	}
	assert_int_equal(tact_predict_batch(tact_arch_find("SKL"), NULL, NULL,
					    (struct tact_job *)(void *)memory, N, 1),
			 1);
	for (size_t i = 0; i < N; i++) {
		struct tact_job *job = (struct tact_job *)(void *)(memory + i * size);

		assert_int_equal(job->size, size);
		assert_int_equal(job->status, i == 3 ? -TACT_E_DECODE : 0);
		if (i != 3 && size >= sizeof(*job))
			assert_true(job->prediction.cycles_per_iteration == 3 &&
				    job->prediction.bound[TACT_BOUND_PRECEDENCE] == 3);
		if (i != 3 && size > sizeof(*job))
			assert_true(
				is_all(memory + i * size + sizeof(*job), size - sizeof(*job), 0));
	}
	free(memory);
}

TEST(jobs_of_any_size)
{
	predict_jobs(offsetof(struct tact_job, prediction));
	predict_jobs(offsetof(struct tact_job, prediction) + 24);
	predict_jobs(sizeof(struct tact_job) - 64);
	predict_jobs(sizeof(struct tact_job));
	predict_jobs(sizeof(struct tact_job) + 128);
}

TEST(jobs_without_a_size)
{
	struct tact_job job = {.code = code, .code_size = sizeof(code)};
	const struct tact_arch *skl = tact_arch_find("SKL");

	assert_int_equal(tact_predict_batch(skl, NULL, NULL, &job, 1, 1), -TACT_E_INVAL);
	job.size = sizeof(job) + 1; /* the second would not be aligned */
	assert_int_equal(tact_predict_batch(skl, NULL, NULL, &job, 1, 1), -TACT_E_INVAL);
}

TEST(masks_with_unknown_bits)
{
	struct tact_block *block = loaded();
	struct tact_predict_options opt = TACT_PREDICT_OPTIONS_INIT;
	struct tact_prediction p = TACT_PREDICTION_INIT;

	opt.bounds = 1u << TACT_N_BOUNDS;
	assert_int_equal(tact_predict(block, &opt, &p), -TACT_E_INVAL);
	opt.bounds = 1u << 31 | 1;
	assert_int_equal(tact_predict(block, &opt, &p), -TACT_E_INVAL);
	opt.bounds = (1u << TACT_N_BOUNDS) - 1;
	assert_int_equal(tact_predict(block, &opt, &p), 0);
	assert_true(p.cycles_per_iteration == 3);
	tact_block_destroy(block);
}

/* All zeros but the size mean what NULL means. */
TEST(no_options_and_zeroed_ones)
{
	const struct tact_block_options block_opt = TACT_BLOCK_OPTIONS_INIT;
	const struct tact_predict_options opt = TACT_PREDICT_OPTIONS_INIT;
	struct tact_prediction a = TACT_PREDICTION_INIT, b = TACT_PREDICTION_INIT;
	struct tact_block *block = loaded();

	assert_int_equal(tact_predict(block, NULL, &a), 0);
	assert_int_equal(tact_block_rebind(block, NULL, &block_opt), 0);
	assert_int_equal(tact_predict(block, &opt, &b), 0);
	assert_memory_equal(&a, &b, sizeof(a));
	tact_block_destroy(block);
}

TEST(no_block_and_no_arch)
{
	size_t size = 7;

	assert_null(tact_block_arch(NULL));
	assert_int_equal(tact_block_mode(NULL), TACT_MODE_AUTO);
	assert_int_equal(tact_block_length(NULL), 0);
	assert_int_equal(tact_block_offset(NULL, 0), 0);
	assert_null(tact_block_code(NULL, &size));
	assert_int_equal(size, 0);
	assert_null(tact_block_code(NULL, NULL));
	assert_true(tact_block_coverage(NULL) == 0);
	assert_string_equal(tact_explain_value(NULL, 0, 0), "?");
	assert_string_equal(tact_arch_name(NULL), "");
	assert_null(tact_arch_isa(NULL));
	assert_int_equal(tact_arch_form_count(NULL), 0);
	assert_false(tact_arch_has_form(NULL, 1));
	assert_int_equal(tact_arch_ports(NULL), 0);
	assert_int_equal(tact_arch_validate(NULL, NULL), -TACT_E_INVAL);
	assert_string_equal(tact_mode_name((enum tact_mode)9), "unknown");
	assert_string_equal(tact_init_name((enum tact_init)9), "unknown");
}

/* A copy is not in the list of those that are built in; what is built in cannot be destroyed. */
TEST(built_in_ones)
{
	struct tact_arch *copy = (struct tact_arch *)1;

	assert_int_equal(tact_arch_derive(&copy, NULL, "/dev/null", NULL), -TACT_E_INVAL);
	assert_null(copy);
	assert_int_equal(tact_arch_derive(&copy, tact_arch_find("SKL"), "/dev/null", NULL), 0);
	assert_null(tact_arch_next(copy));
	tact_arch_destroy(copy);
	tact_arch_destroy((struct tact_arch *)(uintptr_t)tact_arch_find("SKL"));
	assert_string_equal(tact_arch_name(tact_arch_find("SKL")), "SKL");
}

RUN_TESTS(NULL, NULL)
