/* SPDX-License-Identifier: MIT
 *
 * The machine of llvm-mca against one that examines everything in every cycle.
 */
#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include "support.h"

#include "mca/mca.h"

enum { SLOW_INSNS = 12, SLOW_ITERATIONS = 20, SLOW_MAX = SLOW_INSNS * SLOW_ITERATIONS };
enum { SLOW_READS = 4, SLOW_KEYS = 5 };

struct slow {
	const struct mca_form *form[SLOW_MAX];
	unsigned n_reads[SLOW_MAX], advance[SLOW_MAX][SLOW_READS];
	int producer[SLOW_MAX][SLOW_READS]; /* -1: none */
	long issued[SLOW_MAX];		    /* -1: not yet */
	long port_free[TACT_MCA_PORTS];
	int head, tail, n;
};

static void slow_unroll(struct slow *s, const struct mca_code *code, const struct mca_form *forms,
			unsigned iterations)
{
	int writer[SLOW_KEYS];

	memset(s, 0, sizeof(*s));
	memset(writer, -1, sizeof(writer));
	s->n = (int)(code->n_insns * iterations);
	for (int i = 0; i < s->n; i++) {
		const struct mca_insn *insn = &code->insns[(unsigned)i % code->n_insns];
		const struct mca_operand *operand = &code->operands[insn->first];

		s->issued[i] = -1;
		s->form[i] = &forms[insn->form];
		s->n_reads[i] = insn->n_reads;
		for (unsigned k = 0; k < insn->n_reads; k++, operand++) {
			s->producer[i][k] = writer[operand->key];
			s->advance[i][k] = forms[insn->form].read_advance[operand->advance];
		}
		for (unsigned k = 0; k < insn->n_writes; k++, operand++)
			writer[operand->key] = i;
	}
}

static bool slow_ready(const struct slow *s, int i, long cycle)
{
	for (unsigned k = 0; k < s->n_reads[i]; k++) {
		int p = s->producer[i][k];
		long latency = p < 0 ? 0 : (long)s->form[p]->latency - (long)s->advance[i][k];

		if (p >= 0 &&
		    (s->issued[p] < 0 || s->issued[p] + (latency > 0 ? latency : 0) > cycle))
			return false;
	}
	for (unsigned p = 0; p < TACT_MCA_PORTS; p++)
		if (s->form[i]->port[p] && s->port_free[p] > cycle)
			return false;
	return true;
}

static int slow_users(const struct slow *s, int i)
{
	int users = 0;

	for (int c = i + 1; c < s->tail; c++)
		for (unsigned k = 0; k < s->n_reads[c]; k++)
			users += s->producer[c][k] == i;
	return users;
}

static void slow_issue(struct slow *s, int i, long cycle)
{
	s->issued[i] = cycle;
	for (unsigned p = 0; p < TACT_MCA_PORTS; p++)
		if (s->form[i]->port[p])
			s->port_free[p] = cycle + s->form[i]->port[p];
}

static void slow_issue_stage(struct slow *s, long cycle)
{
	for (;;) {
		int best = -1, rank = 0;

		for (int i = s->head; i < s->tail; i++) {
			if (s->issued[i] >= 0 || !slow_ready(s, i, cycle))
				continue;
			if (best < 0 || i - slow_users(s, i) < rank) {
				best = i;
				rank = i - slow_users(s, i);
			}
		}
		if (best < 0)
			return;
		slow_issue(s, best, cycle);
	}
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static long slow_run(struct slow *s, unsigned width, unsigned buffer)
{
	unsigned carry = 0, room = buffer;

	for (long cycle = 0;; cycle++) {
		unsigned entries = carry >= width ? 0 : width - carry;

		carry -= width - entries;
		while (s->head < s->tail && s->issued[s->head] >= 0 &&
		       s->issued[s->head] + s->form[s->head]->latency < cycle)
			room += least(s->form[s->head++]->micro_ops, buffer);
		if (s->head == s->n)
			return cycle + 1;
		slow_issue_stage(s, cycle);
		while (s->tail < s->n) {
			unsigned uops = s->form[s->tail]->micro_ops;

			if (least(uops, width) > entries || least(uops, buffer) > room || !entries)
				break;
			room -= least(uops, buffer);
			entries -= least(uops, width);
			carry += uops > width ? uops - width : 0;
			s->tail++;
			if (!s->form[s->tail - 1]->latency && !s->form[s->tail - 1]->ports &&
			    slow_ready(s, s->tail - 1, cycle))
				slow_issue(s, s->tail - 1, cycle);
		}
	}
}

static void random_form(struct rng *rng, struct mca_form *f)
{
	memset(f, 0, sizeof(*f));
	f->micro_ops = (uint16_t)(1 + rng_below(rng, rng_below(rng, 4) ? 3 : 12));
	f->latency = (uint16_t)rng_below(rng, rng_below(rng, 8) ? 6 : 90);
	for (unsigned i = 0; i < TACT_MCA_READS; i++)
		f->read_advance[i] = (uint16_t)(rng_below(rng, 3) ? 0 : rng_below(rng, 6));
	for (unsigned n = rng_below(rng, 4); n; n--) {
		unsigned p = rng_below(rng, 3);

		f->port[p] = (uint16_t)(1 + rng_below(rng, 3));
		f->ports |= (uint16_t)(1u << p);
	}
}

static void random_code(struct rng *rng, struct mca_code *code)
{
	uint32_t first = 0;

	code->n_insns = 1 + rng_below(rng, SLOW_INSNS);
	for (uint32_t i = 0; i < code->n_insns; i++) {
		struct mca_insn *insn = &code->insns[i];

		*insn = (struct mca_insn){i, first, (uint16_t)rng_below(rng, SLOW_READS + 1),
					  (uint16_t)rng_below(rng, 3)};
		for (unsigned k = 0; k < insn->n_reads + insn->n_writes; k++)
			code->operands[first++] =
				(struct mca_operand){(uint16_t)rng_below(rng, SLOW_KEYS),
						     (uint16_t)least(k, MCA_NO_ADVANCE)};
	}
}

TEST(the_slow_machine_agrees)
{
	static struct mca_insn insns[SLOW_INSNS];
	static struct mca_operand operands[SLOW_INSNS * (SLOW_READS + 2)];
	static struct mca_form forms[SLOW_INSNS];
	static struct slow slow;
	struct mca_code code = {.insns = insns, .operands = operands};
	void *memory = malloc(mca_machine_size(300));
	struct rng rng = {11};

	assert_non_null(memory);
	for (unsigned n = rounds(3000); n; n--) {
		unsigned width = 1 + rng_below(&rng, 6), buffer = 1 + rng_below(&rng, 300);
		uint64_t writer[SLOW_KEYS] = {0};
		struct mca_machine m;

		buffer = 1 + rng_below(&rng, buffer);
		for (unsigned i = 0; i < SLOW_INSNS; i++)
			random_form(&rng, &forms[i]);
		random_code(&rng, &code);
		mca_machine_init(&m, memory, width, buffer, writer);
		for (unsigned i = 0; i < SLOW_ITERATIONS; i++)
			mca_machine_feed(&m, &code, forms);
		slow_unroll(&slow, &code, forms, SLOW_ITERATIONS);
		assert_int_equal(mca_machine_drain(&m), slow_run(&slow, width, buffer));
	}
	free(memory);
}

RUN_TESTS(NULL, NULL)
