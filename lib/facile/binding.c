/* SPDX-License-Identifier: MIT
 *
 * What is lost because uops are bound to ports before it is known when they run (uiCA, section 4.2):
 * an unlucky port delays a chain, or has more to do than the others.
 *
 * Some iterations are issued and scheduled, uop by uop.  Nothing else of the pipeline counts: the
 * front end has the pace of its bounds, and at each port the oldest uop that is ready goes first.
 * So uops can be placed in program order: each takes the first cycle that its port has left.
 */
#include <string.h>

#include "arch/binding.h"
#include "facile/facile.h"

enum {
	MAX_INSNS = 48,
	MAX_UOPS = 64,
	MAX_INPUTS = 192,
	MAX_WAITS = 255,
	MAX_FUSED = 8, /* uops of an instruction; more are microcode */
	MAX_VALUES = 96,
	MAX_SETS = 12, /* of ports */
	N_PORTS = TACT_MAX_PORTS,
	N_ROLES = 3,	 /* whose ports may take turns: loads, store addresses, store data */
	KEPT = 4,	 /* iterations whose values are kept; a power of two */
	AHEAD = 512,	 /* cycles that a uop can be placed ahead; a power of two */
	ISSUE_DELAY = 5, /* cycles from issue to the earliest dispatch (uiCA) */
	STATION = 80,	 /* uops that wait at most: fewer than there are, to settle sooner */
	MAX_CYCLES = 8,	 /* of an iteration: longer ones lose little */
	LOOK = 16,	 /* iterations: if the second half of them loses nothing, nothing is lost */
	SETTLING_UOPS = 160, /* that are not counted, in at least and at most so many iterations */
	MIN_SETTLING = 8,
	MAX_SETTLING = 24,
	COUNTED_CYCLES = 48, /* in at least so many iterations */
	MIN_COUNTED = 12,
	NEVER = INT32_MIN / 2
};

enum kind { LOAD, COMPUTE, STORE_ADDRESS, STORE_DATA };

/* A uop, and how it gets its port: it has only that one, the ports of its role take turns, or it
 * takes one of a set.
 */
enum how { ONE_PORT, IN_TURN, FROM_SET };

struct uop {
	uint8_t kind, how;
	uint8_t which; /* port, role or set */
};

/* An input that comes from an instruction of the block. */
struct input {
	uint8_t value, iterations;
	uint8_t kind;  /* enum value_kind */
	uint8_t input; /* of the instruction */
};

/* A result that something waits for, and what it waits for itself. */
struct result {
	uint8_t value, first_wait, n_waits;
	uint8_t latency; /* from all inputs, if the instruction is_simple */
};

struct wait {
	uint8_t input, latency; /* input: of those that its instruction has in the block */
};

struct step {
	uint8_t first_uop, n_uops, first_input, n_inputs, first_result, n_results, fused;
	bool is_eliminated, has_loads, computes;
	bool is_simple; /* one uop, and each result takes as long from all inputs */
};

/* A set of ports, sorted for the cycle in which it is asked for. */
struct set {
	params_ports ports;
	int32_t cycle;
	unsigned same, usable; /* its uops up to now; ports that may be taken */
	unsigned keys[N_PORTS];
};

struct work {
	const struct tact_block *block;
	const struct arch_params *params;
	unsigned n_steps, n_uops, n_inputs, n_values, n_results, n_waits, n_sets;
	struct step steps[MAX_INSNS];
	struct uop uops[MAX_UOPS];
	struct set sets[MAX_SETS];
	struct input inputs[MAX_INPUTS];
	struct result results[MAX_VALUES];
	struct wait waits[MAX_WAITS];
	uint8_t value_of[MAX_INSNS][LOWERED_MAX_OUT]; /* number; 0: nothing waits for it */

	int32_t ready[KEPT][MAX_VALUES + 1];

	/* All zero at the start: */
	int32_t clock, last; /* cycle of issue; the last dispatch up to now */
	unsigned slot, waiting, iteration;
	params_ports taken[AHEAD]; /* ports that are taken, by cycle */
	/* Uops bound to each port: now, at the beginning of the cycle, and of the one before. */
	uint8_t now[N_PORTS], use[2][N_PORTS];
	uint8_t turn[N_ROLES];
};

/* ---- what the block does ---- */

static enum kind kind_of(const struct arch_params *p, params_ports ports)
{
	if (ports & p->store_address_ports & ~p->load_ports)
		return STORE_ADDRESS;
	if (ports & p->load_ports)
		return LOAD;
	return ports & ~p->store_data_ports ? COMPUTE : STORE_DATA;
}

/* A taken branch has fewer ports than others. */
static params_ports ports_of(const struct work *w, size_t i, params_ports ports)
{
	const struct block_insn *bi = &w->block->insns[i];
	const params_ports taken = w->params->taken_branch_ports, alu = w->params->alu_ports;

	if (w->block->mode != TACT_MODE_LOOP || i + 1 + bi->fused_next != w->block->n_insns ||
	    !(bi->fused_next || bi->lowered->attributes & TACT_INSN_BRANCH) || !(ports & taken) ||
	    ports & ~(taken | alu) || ports == alu)
		return ports;
	return ports & taken;
}

static params_ports role_of(const struct arch_params *p, unsigned role)
{
	const params_ports roles[N_ROLES] = {p->load_ports, p->store_address_ports,
					     p->store_data_ports};

	return roles[role] & ~p->ports_in_turn ? 0 : roles[role];
}

/* Finds out how a uop gets one of these ports; false: there are too many sets. */
static bool find_how(struct work *w, params_ports ports, struct uop *u)
{
	unsigned k;

	u->how = ONE_PORT;
	u->which = (uint8_t)__builtin_ctz(ports);
	if (!(ports & (ports - 1)))
		return true;
	u->how = IN_TURN;
	for (u->which = 0; u->which < N_ROLES; u->which++)
		if (ports == role_of(w->params, u->which))
			return true;
	u->how = FROM_SET;
	for (k = 0; k < w->n_sets && w->sets[k].ports != ports; k++)
		;
	if (k == MAX_SETS)
		return false;
	w->sets[k] = (struct set){.ports = ports};
	w->n_sets += k == w->n_sets;
	u->which = (uint8_t)k;
	return true;
}

/* Adds the uops of an instruction, loads first and stores last.  Returns false if there is no room
 * for them, or if several of them compute: which one waits for which input is not known here.
 */
static bool add_uops(struct work *w, size_t i, struct step *step)
{
	struct arch_port_use uses[BLOCK_MAX_PORT_USES];
	const unsigned n = block_port_uses(w->block, i, uses);
	unsigned computing = 0;

	for (unsigned k = 0; k < n; k++) {
		struct uop uop = {.kind = kind_of(w->params, uses[k].mask)};

		if (!find_how(w, ports_of(w, i, uses[k].mask), &uop))
			return false;
		for (unsigned c = 0; c < uses[k].count; c++) {
			unsigned at = w->n_uops++;

			if (w->n_uops > MAX_UOPS)
				return false;
			for (; at > step->first_uop && w->uops[at - 1].kind > uop.kind; at--)
				w->uops[at] = w->uops[at - 1];
			w->uops[at] = uop;
			step->n_uops++;
		}
		step->has_loads |= uop.kind == LOAD;
		step->computes |= uop.kind == COMPUTE;
		computing += uop.kind == COMPUTE ? uses[k].count : 0;
	}
	return computing <= 1;
}

/* Numbers the results that instructions wait for. */
static bool number_values(struct work *w)
{
	const struct tact_block *block = w->block;
	const struct block_node *nodes = block_nodes(block);

	memset(w->value_of, 0, block->n_insns * sizeof(w->value_of[0]));
	for (size_t v = 0; v < block->n_nodes; v++) {
		uint8_t *value;

		if (nodes[v].producer == BLOCK_NO_PRODUCER)
			continue;
		value = &w->value_of[nodes[v].producer][nodes[v].output];
		if (nodes[v].is_blocked || nodes[v].iterations >= KEPT || w->n_values == MAX_VALUES)
			return false;
		if (!*value)
			*value = (uint8_t)++w->n_values;
	}
	return true;
}

/* Adds the inputs that come from instructions of the block. */
static bool add_inputs(struct work *w, const struct block_insn *bi, struct step *step)
{
	const struct block_lowered *l = bi->lowered;

	step->first_input = (uint8_t)w->n_inputs;
	if (w->n_inputs + l->n_in > MAX_INPUTS)
		return false;
	for (unsigned k = 0; k < l->n_in; k++) {
		const struct block_node *node = &block_nodes(w->block)[bi->first_node + k];

		if (node->producer == BLOCK_NO_PRODUCER)
			continue;
		w->inputs[w->n_inputs++] =
			(struct input){.value = w->value_of[node->producer][node->output],
				       .iterations = node->iterations,
				       .kind = l->in[k].kind,
				       .input = (uint8_t)k};
		step->n_inputs++;
	}
	return true;
}

/* Finds the cycles from input k to output o; false: it does not wait for that. */
static bool latency_of(const struct work *w, const struct block_insn *bi, unsigned k, unsigned o,
		       unsigned *latency)
{
	const struct block_lowered *l = bi->lowered;
	const struct block_node *node = &block_nodes(w->block)[bi->first_node + k];

	*latency = 0;
	if (l->out[o].kind == VALUE_MEMORY && l->in[k].kind != VALUE_MEMORY)
		return true;
	*latency = l->forwarded[k * l->n_out + o];
	if (!*latency)
		return false;
	if (l->in[k].kind == VALUE_MEMORY && node->is_renamed)
		*latency -= (unsigned)w->params->store_forward;
	else if (l->in[k].kind == VALUE_ADDRESS)
		*latency += bi->load_extra - (unsigned)bi->fast_load;
	else if (node->sooner)
		*latency = block_sooner(l, *latency, node->sooner);
	return true;
}

/* Adds what a result waits for. */
static bool add_waits(struct work *w, const struct block_insn *bi, const struct step *step,
		      unsigned o, struct result *result)
{
	for (unsigned k = 0; k < step->n_inputs; k++) {
		unsigned latency;

		if (!latency_of(w, bi, w->inputs[step->first_input + k].input, o, &latency))
			continue;
		if (w->n_waits == MAX_WAITS || latency > UINT8_MAX)
			return false;
		w->waits[w->n_waits++] = (struct wait){(uint8_t)k, (uint8_t)latency};
		result->n_waits++;
	}
	return true;
}

/* Returns whether a result waits for all inputs, and as long for all of them; finds how long. */
static bool is_uniform(const struct work *w, const struct block_insn *bi, const struct step *step,
		       unsigned o, struct result *result)
{
	const struct wait *wait = &w->waits[result->first_wait];

	result->latency = 1;
	if (!step->n_inputs) {
		for (unsigned k = 0; k < bi->lowered->n_in; k++) {
			unsigned latency;

			if (latency_of(w, bi, k, o, &latency) && latency > result->latency)
				result->latency = (uint8_t)latency;
		}
		return true;
	}
	for (unsigned k = 0; k < result->n_waits; k++)
		if (wait[k].latency != wait[0].latency ||
		    w->inputs[step->first_input + k].kind == VALUE_MEMORY)
			return false;
	result->latency = wait[0].latency;
	return result->n_waits == step->n_inputs && bi->lowered->out[o].kind != VALUE_MEMORY;
}

/* Adds the results of instruction i that something waits for. */
static bool add_results(struct work *w, size_t i, struct step *step)
{
	const struct block_insn *bi = &w->block->insns[i];

	step->is_simple = step->n_uops == 1;
	step->first_result = (uint8_t)w->n_results;
	for (unsigned o = 0; o < bi->lowered->n_out; o++) {
		struct result *result = &w->results[w->n_results];

		if (!w->value_of[i][o])
			continue;
		*result = (struct result){.value = w->value_of[i][o],
					  .first_wait = (uint8_t)w->n_waits};
		if (!add_waits(w, bi, step, o, result))
			return false;
		step->is_simple = step->is_simple && is_uniform(w, bi, step, o, result);
		w->n_results++;
		step->n_results++;
	}
	return true;
}

/* Translates the block.  Returns false if it has more than there is room for, or what is not
 * followed here: divisions, microcode, the stack engine, loads that cannot be forwarded.
 */
static bool translate(struct work *w)
{
	const struct tact_block *block = w->block;

	if (block->n_insns > MAX_INSNS || !number_values(w))
		return false;
	for (size_t i = 0; i < block->n_insns; i++) {
		const struct block_insn *bi = &block->insns[i];
		const struct block_lowered *l = bi->lowered;
		struct step *step = &w->steps[w->n_steps];

		if (bi->fused_prev)
			continue;
		if (bi->stack_sync || l->divider || l->cycles || l->fused > MAX_FUSED)
			return false;
		*step = (struct step){.first_uop = (uint8_t)w->n_uops,
				      .fused = (uint8_t)l->fused,
				      .is_eliminated = l->eliminated && !bi->fused_next};
		if ((!step->is_eliminated && (l->uops || bi->fused_next) &&
		     !add_uops(w, i, step)) ||
		    !add_inputs(w, bi, step) || !add_results(w, i, step))
			return false;
		w->n_steps++;
	}
	return w->n_uops > 1;
}

/* ---- a uop ---- */

static unsigned take_turn(struct work *w, unsigned role)
{
	params_ports ports = role_of(w->params, role);

	for (unsigned k = w->turn[role]; k; k--)
		ports &= ports - 1;
	w->turn[role] = ports & (ports - 1) ? (uint8_t)(w->turn[role] + 1) : 0;
	return (unsigned)__builtin_ctz(ports);
}

static unsigned bind(struct work *w, const struct uop *u)
{
	struct set *set = &w->sets[u->which];

	if (u->how == ONE_PORT)
		return u->which;
	if (u->how == IN_TURN)
		return take_turn(w, u->which);
	if (set->cycle != w->clock) {
		set->cycle = w->clock;
		set->same = 0;
		set->usable = binding_sort(w->params, w->use[1], set->ports, set->keys);
	}
	return binding_wide(set->keys, set->usable, w->slot, set->same++);
}

/* Returns the first cycle that a port has for a uop that is ready in this one; as in sim, the
 * wake-up is missed around the earliest dispatch.
 */
static int32_t place(struct work *w, unsigned port, int32_t ready)
{
	const int32_t earliest = w->clock + ISSUE_DELAY;

	ready += (ready == earliest) | (ready == earliest + 1);
	ready = ready > earliest ? ready : earliest;
	while (w->taken[ready & (AHEAD - 1)] >> port & 1)
		ready++;
	w->taken[ready & (AHEAD - 1)] |= 1u << port;
	w->now[port]++;
	w->waiting++;
	w->last = ready > w->last ? ready : w->last;
	return ready;
}

/* When inputs are there, and how long uops have waited for their ports. */
struct moment {
	int32_t earliest, address, operands, loaded;
	int32_t load_delay, delay;
	int32_t input[LOWERED_MAX_IN];
};

static int32_t later(int32_t a, int32_t b)
{
	return a > b ? a : b;
}

static void take_inputs(const struct work *w, const struct step *step, struct moment *m)
{
	m->earliest = w->clock + ISSUE_DELAY;
	m->address = m->operands = m->loaded = NEVER;
	m->load_delay = m->delay = 0;
	for (unsigned k = 0; k < step->n_inputs; k++) {
		const struct input *in = &w->inputs[step->first_input + k];
		int32_t ready = w->ready[(w->iteration - in->iterations) & (KEPT - 1)][in->value];

		m->input[k] = ready;
		if (in->kind == VALUE_ADDRESS)
			m->address = later(m->address, ready);
		if (in->kind != VALUE_MEMORY && (in->kind != VALUE_ADDRESS || !step->has_loads))
			m->operands = later(m->operands, ready);
	}
}

static void run_uop(struct work *w, const struct step *step, const struct uop *u, struct moment *m)
{
	const unsigned port = bind(w, u);
	int32_t ready, at;

	switch ((enum kind)u->kind) {
	case LOAD:
		at = place(w, port, m->address);
		m->load_delay = later(m->load_delay, at - later(m->address, m->earliest));
		m->loaded = later(m->loaded, at + w->params->load_latency);
		break;
	case COMPUTE:
		ready = later(m->operands, m->loaded);
		at = place(w, port, ready);
		m->delay = later(m->delay, at - later(ready, m->earliest));
		break;
	case STORE_ADDRESS:
		place(w, port, m->address);
		break;
	case STORE_DATA:
		ready = later(m->operands, m->loaded);
		if (step->computes)
			ready = later(ready, m->earliest) + m->delay + 1;
		place(w, port, ready);
	}
}

/* Issues an instruction of one uop whose results take as long from all inputs. */
static void issue_simple(struct work *w, const struct step *step)
{
	const struct input *in = &w->inputs[step->first_input];
	const struct result *result = &w->results[step->first_result];
	int32_t *results = w->ready[w->iteration & (KEPT - 1)], ready = NEVER;

	for (unsigned k = step->n_inputs; k; k--, in++)
		ready = later(ready,
			      w->ready[(w->iteration - in->iterations) & (KEPT - 1)][in->value]);
	ready = place(w, bind(w, &w->uops[step->first_uop]), ready);
	for (unsigned r = step->n_results; r; r--, result++)
		results[result->value] = ready + result->latency;
}

/* Issues an instruction. */
static void issue(struct work *w, const struct step *step)
{
	int32_t *results = w->ready[w->iteration & (KEPT - 1)];
	struct moment m;

	take_inputs(w, step, &m);
	for (unsigned u = 0; u < step->n_uops; u++)
		run_uop(w, step, &w->uops[step->first_uop + u], &m);
	for (unsigned r = 0; r < step->n_results; r++) {
		const struct result *result = &w->results[step->first_result + r];
		int32_t ready = step->n_uops ? m.earliest + 1 : NEVER;

		for (unsigned k = 0; k < result->n_waits; k++) {
			const struct wait *wait = &w->waits[result->first_wait + k];
			const uint8_t kind = w->inputs[step->first_input + wait->input].kind;
			int32_t from = m.input[wait->input];

			if (step->n_uops && kind != VALUE_MEMORY)
				from = later(from, m.earliest);
			if (kind == VALUE_ADDRESS)
				from += m.load_delay;
			ready = later(ready, from + (step->is_eliminated ? 0 : wait->latency));
		}
		results[result->value] = ready + m.delay;
	}
}

/* ---- the cycles ---- */

/* The next cycle: uops leave their ports. */
static void tick(struct work *w)
{
	params_ports *gone = &w->taken[w->clock++ & (AHEAD - 1)];

	memcpy(w->use[1], w->use[0], sizeof(w->use[0]));
	for (unsigned left = *gone; left; left &= left - 1)
		w->now[__builtin_ctz(left)]--;
	*gone = 0;
	memcpy(w->use[0], w->now, sizeof(w->now));
	for (unsigned left = w->taken[w->clock & (AHEAD - 1)]; left; left &= left - 1)
		w->waiting--;
	w->slot = 0;
}

/* Where the iterations are that count: those before them settle, and the first of these tell whether
 * anything is lost at all.
 */
struct span {
	unsigned look, begin, end;
};

static struct span span_of(unsigned n_uops, double cycles)
{
	unsigned begin = SETTLING_UOPS / n_uops, counted = (unsigned)(COUNTED_CYCLES / cycles);

	begin = begin < MIN_SETTLING ? MIN_SETTLING : begin > MAX_SETTLING ? MAX_SETTLING : begin;
	return (struct span){.look = begin < LOOK ? begin : LOOK,
			     .begin = begin,
			     .end = begin + (counted < MIN_COUNTED ? MIN_COUNTED : counted)};
}

/* Issues as many instructions as this cycle takes; returns whether an iteration ended. */
static bool issue_some(struct work *w, unsigned *next)
{
	const unsigned width = (unsigned)w->params->issue_width;

	while (w->slot < width && (!w->slot || w->slot + w->steps[*next].fused <= width)) {
		const struct step *step = &w->steps[*next];

		if (step->is_simple)
			issue_simple(w, step);
		else
			issue(w, step);
		w->slot += step->fused;
		if (++*next == w->n_steps)
			return true;
	}
	return false;
}

/* Finds the cycles that the counted iterations take, and how many these are; 0: nothing is lost. */
static unsigned run(struct work *w, double front_end, double cycles, unsigned *iterations)
{
	const struct span span = span_of(w->n_uops, cycles);
	const int32_t limit = (int32_t)(2 * cycles * span.end) + AHEAD;
	int32_t half = 0, begin = 0, start = 0;
	unsigned next = 0;

	*iterations = span.end - span.begin;
	while (w->clock < limit) {
		tick(w);
		if (w->last >= w->clock + AHEAD / 2)
			return 0;
		if (w->waiting + (unsigned)w->params->issue_width > STATION)
			continue;
		while ((next || start <= w->clock) && issue_some(w, &next)) {
			next = 0;
			start = (int32_t)(front_end * ++w->iteration);
			if (w->iteration == span.look / 2)
				half = w->last;
			if (w->iteration == span.look &&
			    w->last - half < cycles * (span.look - span.look / 2) + 1)
				return 0;
			if (w->iteration == span.begin)
				begin = w->last;
			/* Of the first and the last dispatch, one may be a cycle late. */
			if (w->iteration == span.end)
				return (unsigned)(w->last - begin - 1);
		}
	}
	return 0;
}

/* Only if ports or a chain are the limit can a port be the wrong one. */
static bool can_lose(const struct tact_block *block, const struct tact_prediction *p, double cycles)
{
	const double ports = p->bound[TACT_BOUND_PORTS];
	double chain = p->bound[TACT_BOUND_PRECEDENCE];

	if (p->bound[TACT_BOUND_FORWARDING] > chain)
		chain = p->bound[TACT_BOUND_FORWARDING];
	if (cycles > MAX_CYCLES)
		return false;
	if (block->mode != TACT_MODE_LOOP)
		return chain >= 0.99 * cycles && ports >= 0.5 * cycles;
	return ports >= 0.6 * cycles && chain >= 0.5 * cycles &&
	       (ports >= 0.8 * cycles || chain >= 0.8 * cycles);
}

/* Finds the cycles of a number of iterations; 0: no more than the other bounds say. */
static unsigned lost_in(const struct tact_block *block, const struct tact_prediction *p,
			unsigned *iterations)
{
	double front_end = 0, cycles = 0;
	struct work w;
	unsigned found;

	*iterations = 1;
	for (unsigned b = 0; b < TACT_N_BOUNDS; b++) {
		if (p->bound[b] > cycles && b != TACT_BOUND_BINDING)
			cycles = p->bound[b];
		if (b == TACT_BOUND_LSD)
			front_end = cycles; /* of the bounds up to here */
	}
	if (!can_lose(block, p, cycles))
		return 0;
	block_connect(block);
	memset(&w, 0, offsetof(struct work, steps));
	w.block = block;
	w.params = &block->arch->params;
	if (!translate(&w))
		return 0;
	for (unsigned k = 0; k < KEPT; k++)
		for (unsigned v = 0; v <= w.n_values; v++)
			w.ready[k][v] = NEVER;
	memset(&w.clock, 0, sizeof(w) - offsetof(struct work, clock));
	found = run(&w, front_end, cycles, iterations);
	return found > 1.01 * cycles * *iterations ? found : 0;
}

double facile_binding(struct tact_block *block, const struct tact_prediction *others)
{
	unsigned iterations, found = lost_in(block, others, &iterations);

	return (double)found / iterations;
}

int facile_derive_binding(struct tact_block *block, const struct tact_predict_options *opt,
			  struct tact_derivation *out)
{
	struct tact_prediction others;
	int status;

	if (!block->arch->params.binding_losses || block->opt.paper)
		return 0;
	status = facile_predict_others(block, opt, &others);
	if (status < 0)
		return status;
	out->amount = lost_in(block, &others, &out->per);
	return 0;
}
