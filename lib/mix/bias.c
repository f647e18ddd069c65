/* SPDX-License-Identifier: MIT
 *
 * Errors of rows that contain bias.
 *
 * Truth is not there, but what differs between ways of counting that should agree is: samples and
 * streams; streams as stacks show them and balanced; streams near the newest end of a stack and near
 * the oldest.  How much of such a difference is an error of the estimate was learned on programs
 * whose executions were counted: doc/models/mix.md, section "Errors".
 */
#include "mix/bias.h"

#include <math.h>
#include <stdlib.h>

/* Standard deviations per unit of each sign. */
struct weights {
	double chance; /* of the deviation from counting */
	double uneven; /* of a block's count by samples, over the square root of its instructions */
	double places; /* of the deviation between places in the stack */
	double methods; /* of the difference between this way of counting and another one */
	double reach;	/* standard deviations that 95% are within */
};

/* Learned from the virtual PMU: 33 runs of 25 programs, with several settings of its faults.  The
 * likelihood of Student's t with 4 degrees of freedom is greatest; then the scale is such that 68% of
 * all rows are within one.  Leaving each program out in turn, 94% to 95% of its rows are within the
 * reach; that of the hybrid is wider, since six more programs had 91% within 2.7.  Counting streams
 * is worth more than its number of stacks says, hence weights of chance below 1.
 */
static const struct weights weights_hybrid = {0.33, 0, 0.15, 0.79, 3.2};
static const struct weights weights_samples = {0.54, 0.03, 0, 0.94, 1.8}; /* with stacks */
static const struct weights weights_precise = {0.94, 0.30, 0, 0, 2.3};	  /* without */
static const struct weights weights_skidding = {0.57, 1.0, 0, 0, 3.3};
static const struct weights weights_streams = {0.20, 0, 0.17, 0.87, 2.9};

/* Stacks at moments in time keep step with the code: in the recordings of doc/models/mix.md, stacks
 * and not streams are what is independent.
 */
static const struct weights weights_timed = {1, 0, 0.5, 0.87, 2.6};

/* ln of how much longer an instruction of one phase takes than one of another.  In one of the
 * recordings, two loops differ by a factor of 4.3, the square root of 2 times this.
 */
static const double phase_spread = 1;

bool mix_is_timed(const struct tact_mix *mix)
{
	return mix->has_lbr && !mix->lbr_is_absolute && !(mix->has_ebs && mix->ebs_is_absolute) &&
	       mix->summary.method != TACT_MIX_EBS;
}

static const struct weights *weights_of(const struct tact_mix *mix)
{
	switch (mix->summary.method) {
	case TACT_MIX_HYBRID:
		return &weights_hybrid;
	case TACT_MIX_LBR:
		return mix_is_timed(mix) ? &weights_timed : &weights_streams;
	case TACT_MIX_EBS:
		if (!mix->ebs_is_absolute)
			return NULL; /* samples of time: nothing is known of executions */
		if (mix->has_lbr)
			return &weights_samples;
		return mix->summary.rung == TACT_MIX_RUNG_INSTRUCTIONS ? &weights_skidding
								       : &weights_precise;
	default:
		return NULL;
	}
}

void mix_signs_add(struct mix_signs *s, const struct tact_mix *mix, const struct mix_profile *p,
		   double n, double insns)
{
	const double part = p->executions > 0 ? n / p->executions : 0,
		     length = mix_block_of(mix, p)->n_insns;

	s->executions += n * insns;
	s->ebs += part * insns * p->ebs / length;
	s->plain += part * insns * p->lbr;
	s->completed += part * insns * p->completed;
	for (unsigned i = 0; i < MIX_PLACES; i++)
		s->places[i] += part * insns * p->places[i];
	if (p->error >= 0)
		s->chance += n * insns * n * insns * p->error * p->error;
	else
		s->is_unknown = true;
	s->uneven += n * insns * n * insns / length;
}

void mix_signs_all(struct mix_signs *s, const struct tact_mix *mix)
{
	*s = (struct mix_signs){0};
	for (size_t i = 0; i < mix->n_profiles; i++) {
		const struct mix_profile *p = &mix->profiles[i];

		if (p->executions > 0)
			mix_signs_add(s, mix, p, p->executions, mix_block_of(mix, p)->n_insns);
	}
}

static double share(double part, double all)
{
	return all > 0 ? part / all : 0;
}

/* Standard deviation of the share that each place in the stack shows.  The newest may have been left
 * out.
 */
static double spread_of_places(const struct mix_signs *row, const struct mix_signs *all)
{
	double sum = 0, squares = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < MIX_PLACES; i++) {
		const double x = share(row->places[i], all->places[i]);

		if (!(all->places[i] > 0))
			continue;
		n++;
		sum += x;
		squares += x * x;
	}
	return n > 1 ? sqrt(fmax(0, squares / n - sum / n * (sum / n))) : 0;
}

/* Difference of the row's share to another way of counting.  Samples are compared with balanced
 * streams, streams with those that stacks show or, if those are what counts, with balanced ones.
 */
static double difference(const struct tact_mix *mix, const struct mix_signs *row,
			 const struct mix_signs *all)
{
	const double here = share(row->executions, all->executions);
	const double plain = share(row->plain, all->plain);
	const double completed = share(row->completed, all->completed);

	if (mix->summary.method == TACT_MIX_EBS)
		return fabs(completed - here);
	return fabs(mix->is_plain ? completed - here : plain - here);
}

struct mix_doubt mix_doubt_of(const struct tact_mix *mix, const struct mix_signs *row,
			      const struct mix_signs *all)
{
	const struct weights *w = weights_of(mix);
	struct mix_doubt doubt = {.is_unknown = !w || row->is_unknown};
	double uneven, places, methods;

	if (mix->has_exact)
		return (struct mix_doubt){.reach = 1};
	if (doubt.is_unknown)
		return doubt;
	uneven = w->uneven * sqrt(row->uneven);
	places = w->places * spread_of_places(row, all) * all->executions;
	methods = mix->has_lbr ? w->methods * difference(mix, row, all) * all->executions : 0;
	doubt.chance = w->chance * sqrt(row->chance);
	doubt.bias = sqrt(uneven * uneven + places * places + methods * methods);
	doubt.reach = w->reach;
	return doubt;
}

/* ---- phases ---- */

static uint32_t root_of(uint32_t *parent, uint32_t i)
{
	while (parent[i] != i) {
		parent[i] = parent[parent[i]];
		i = parent[i];
	}
	return i;
}

/* Two pieces of code are one phase if a stack is likely to show both: execution passes between them
 * once in as many executions of the one that runs more.
 */
static void link_blocks(const struct tact_mix *mix, uint32_t *parent, uint32_t a, uint32_t b,
			double weight)
{
	const double more = fmax(mix->profiles[a].lbr, mix->profiles[b].lbr);

	if (weight > 0 && weight * mix->stack_depth >= more)
		parent[root_of(parent, a)] = root_of(parent, b);
}

/* Links a block with the one that it falls into. */
static void link_next(const struct tact_mix *mix, uint32_t *parent, uint32_t i)
{
	const struct mix_profile *p = &mix->profiles[i];
	const struct mix_code *code = &mix->modules.items[p->module].codes[p->code];

	if (p->block + 1 < code->blocks.n && code->profiles && code->profiles[p->block + 1])
		link_blocks(mix, parent, i, code->profiles[p->block + 1] - 1, p->fall_out);
}

/* Gives roots their numbers in order, and all others that of theirs. */
static size_t number_roots(uint32_t *parent, size_t n)
{
	size_t roots = 0;

	for (uint32_t i = 0; i < n; i++)
		parent[i] = root_of(parent, i);
	for (uint32_t i = 0; i < n; i++)
		if (parent[i] == i)
			parent[i] = MIX_NONE - (uint32_t)roots++;
	for (uint32_t i = 0; i < n; i++)
		if (parent[i] < n)
			parent[i] = parent[parent[i]];
	for (uint32_t i = 0; i < n; i++)
		parent[i] = MIX_NONE - parent[i];
	return roots;
}

int mix_phases_init(struct mix_phases *phases, const struct tact_mix *mix)
{
	*phases = (struct mix_phases){.of = malloc((mix->n_profiles + 1) * sizeof(*phases->of)),
				      .all = calloc(mix->n_profiles + 1, sizeof(*phases->all))};
	if (!phases->of || !phases->all) {
		mix_phases_fini(phases);
		return -TACT_E_NOMEM;
	}
	for (uint32_t i = 0; i < mix->n_profiles; i++)
		phases->of[i] = i;
	for (uint32_t i = 0; i < mix->n_profiles; i++)
		link_next(mix, phases->of, i);
	for (size_t i = 0; i < mix->n_arcs; i++)
		link_blocks(mix, phases->of, mix->arcs[i].from, mix->arcs[i].to,
			    mix->arcs[i].weight);
	phases->n = number_roots(phases->of, mix->n_profiles);
	for (size_t i = 0; i < mix->n_profiles; i++)
		phases->all[phases->of[i]] +=
			mix->profiles[i].executions * mix_block_of(mix, &mix->profiles[i])->n_insns;
	for (size_t i = 0; i < phases->n; i++) {
		phases->total += phases->all[i];
		phases->squares += phases->all[i] * phases->all[i];
	}
	return 0;
}

void mix_phases_fini(struct mix_phases *phases)
{
	free(phases->of);
	free(phases->all);
	*phases = (struct mix_phases){0};
}

/* A phase that counts a part e too much moves the row by e times what the row has of it beyond its
 * share of everything.
 */
double mix_phases_doubt(const struct mix_phases *phases, const struct mix_in_phase *parts, size_t n)
{
	double sum = 0, squares, mean;

	for (size_t i = 0; i < n; i++)
		sum += parts[i].executions;
	mean = share(sum, phases->total);
	squares = mean * mean * phases->squares;
	for (size_t i = 0; i < n; i++) {
		const double usual = mean * phases->all[parts[i].phase];
		const double off = parts[i].executions - usual;

		squares += off * off - usual * usual;
	}
	return phase_spread * sqrt(fmax(0, squares));
}
