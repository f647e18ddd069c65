/* SPDX-License-Identifier: MIT
 *
 * Move elimination: the renamer lets a register share the physical register of another one.  A core
 * keeps track of only a few physical registers with several names; such a slot is free again when
 * all names but one are overwritten (as uiCA models it).
 */
#include "sim/sim.h"

enum { GENERAL, VECTOR };

static unsigned file_of(const struct sim_state *s, unsigned reg)
{
	return reg >= s->registers->first_vector ? VECTOR : GENERAL;
}

static int slots_of(const struct sim_state *s, unsigned file)
{
	return file == VECTOR ? s->params->move_elim_vec : s->params->move_elim_gpr;
}

static void leave(struct sim_state *s, unsigned reg)
{
	unsigned set = s->moves.set[reg];

	if (!set)
		return;
	s->moves.set[reg] = 0;
	s->moves.shared &= ~(1ull << reg);
	if (--s->moves.members[set] > 1)
		return;
	for (unsigned r = 0; r < s->registers->end_vector; r++)
		if (s->moves.set[r] == set) {
			s->moves.set[r] = 0;
			s->moves.shared &= ~(1ull << r);
		}
	s->moves.members[set] = 0;
}

/* Finds a set for a register that shared with none; 0: all slots are taken. */
static unsigned open_set(struct sim_state *s, unsigned reg, unsigned file)
{
	unsigned first = file * SIM_MOVE_SLOTS + 1;

	for (unsigned set = first; set < first + (unsigned)slots_of(s, file); set++)
		if (!s->moves.members[set]) {
			s->moves.members[set] = 1;
			s->moves.set[reg] = (uint8_t)set;
			s->moves.shared |= 1ull << reg;
			return set;
		}
	return 0;
}

/* Adds a constant to what was added before; false: the sum is too large. */
static bool fold(struct sim_state *s, const struct sim_insn *insn, unsigned from, unsigned to)
{
	const int limit = s->params->fold_limit, sum = s->moves.added[from] + insn->added;

	if (sum < -limit || sum >= limit)
		return false;
	s->moves.added[to] = (int16_t)sum;
	s->moves.folded = (s->moves.folded & ~(1ull << to)) | (uint64_t)(sum != 0) << to;
	return true;
}

void sim_moves_init(struct sim_state *s)
{
	enum { SMALL = 32 /* overflows once in so many iterations that it does not matter */ };

	for (size_t i = 0; i < s->program->n_insns && s->params->fold_limit; i++)
		s->moves.follows_added |=
			s->program->insns[i].added > SMALL || s->program->insns[i].added < -SMALL;
}

bool sim_moves_eliminate(struct sim_state *s, const struct sim_program *p,
			 const struct sim_insn *insn)
{
	unsigned from = p->inputs[insn->first_input].key, to = insn->output_key[0], set;
	unsigned file = file_of(s, to);

	if (from >= s->registers->end_vector || to >= s->registers->end_vector)
		return true;
	if (s->moves.follows_added && file != VECTOR && !fold(s, insn, from, to))
		return false;
	if (file == VECTOR && s->params->move_elim_vec_width &&
	    s->n_vector_moves++ >= s->params->move_elim_vec_width)
		return false;
	if (slots_of(s, file) < 0)
		return true;
	if (s->moves.set[from] && s->moves.set[from] == s->moves.set[to])
		return true; /* they share already */
	leave(s, to);
	set = s->moves.set[from] ? s->moves.set[from] : open_set(s, from, file);
	if (!set)
		return false;
	s->moves.set[to] = (uint8_t)set;
	s->moves.members[set]++;
	s->moves.shared |= 1ull << to;
	return true;
}

void sim_moves_write(struct sim_state *s, const struct sim_insn *insn)
{
	_Static_assert(ISA_MAX_MOVED <= 64, "a bit for each register");
	for (unsigned o = 0; o < insn->n_outputs; o++)
		if (insn->output_key[o] < s->registers->end_vector) {
			s->moves.added[insn->output_key[o]] = 0;
			s->moves.folded &= ~(1ull << insn->output_key[o]);
			if (s->moves.shared)
				leave(s, insn->output_key[o]);
		}
}
