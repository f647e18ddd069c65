/* SPDX-License-Identifier: MIT
 *
 * Register files as llvm-mca has them: what is written takes physical registers from dispatch until it
 * retires; moves may be eliminated, some in each cycle, so that two registers are one.
 */
#include <string.h>

#include "mca/mca_facts.h"

int files_init(struct facts_machine *m)
{
	struct facts_files *files = &m->files;

	memset(files->used, 0, sizeof(files->used));
	memset(files->moved, 0, sizeof(files->moved));
	if (tact_grow(&files->names, &files->names_capacity, m->code->key_limit,
		      sizeof(*files->names)) < 0)
		return -TACT_E_NOMEM;
	memset(files->names, 0, m->code->key_limit * sizeof(*files->names));
	return 0;
}

void files_cycle(struct facts_machine *m)
{
	memset(m->files.moved, 0, sizeof(m->files.moved));
}

/* All that is written counts, also what takes none in the end. */
bool files_have_room(const struct facts_machine *m, const struct facts_insn *insn)
{
	const struct llvm_facts *facts = insn->facts;
	unsigned needed[LLVM_MAX_FILES] = {0};

	if (m->info->n_register_files < 2)
		return true;
	for (unsigned i = 0; i < facts->n_writes; i++)
		needed[facts->write[i].renaming.file] += facts->write[i].renaming.cost;
	for (unsigned i = 1; i < m->info->n_register_files; i++) {
		const unsigned size = m->info->register_file[i].registers,
			       n = needed[i] < size ? needed[i] : size;

		if (n && m->files.used[i] + n > size)
			return false;
	}
	return true;
}

static bool takes_any(const struct llvm_write *w)
{
	return !w->is_zero && !(w->renaming.as && w->renaming.as != w->reg && !w->clears_whole);
}

static void count(struct facts_machine *m, const struct facts_flight *f, unsigned sign)
{
	const struct llvm_facts *facts = f->insn->facts;

	if (m->info->n_register_files < 2 || f->is_eliminated)
		return;
	for (unsigned i = 0; i < facts->n_writes; i++)
		if (takes_any(&facts->write[i]))
			m->files.used[facts->write[i].renaming.file] +=
				sign * facts->write[i].renaming.cost;
}

/* What is zero is known by its name, and what is written is not the same as another any more. */
static void name(struct facts_machine *m, const struct facts_flight *f)
{
	for (unsigned i = 0; i < f->insn->n_writes; i++) {
		const struct facts_write *w = &m->code->writes[f->insn->first_write + i];
		const bool is_zero = f->insn->facts->write[i].is_zero;

		for (unsigned k = 0; k < w->n_keys; k++) {
			struct facts_name *to = &m->files.names[m->code->keys[w->first_key + k]];

			to->same_as = 0;
			if (!w->is_part)
				to->is_zero = is_zero;
		}
		for (unsigned k = 0; k < w->n_own; k++)
			m->files.names[m->code->keys[w->first_own + k]].is_zero = is_zero;
	}
}

void files_take(struct facts_machine *m, const struct facts_flight *f)
{
	count(m, f, 1);
	if (m->info->n_register_files > 1)
		name(m, f);
}

void files_leave(struct facts_machine *m, const struct facts_flight *f)
{
	count(m, f, -1u);
}

/* ---- moves ---- */

static bool can_eliminate(const struct facts_machine *m, const struct llvm_read *from,
			  const struct llvm_write *to, unsigned file)
{
	if (from->renaming.file != file || to->renaming.file != file || !to->renaming.allows_moves)
		return false;
	if (to->renaming.as && to->renaming.as != to->reg && !to->clears_whole)
		return false;
	return !m->info->register_file[file].only_zeros_moved || m->files.names[from->reg].is_zero;
}

static void make_same(struct facts_machine *m, const struct llvm_read *from,
		      const struct llvm_write *to, const struct facts_write *keys)
{
	uint16_t whole = from->renaming.as ? from->renaming.as : from->reg;
	const bool is_zero = m->files.names[from->reg].is_zero;
	const struct facts_whole *parts;

	if (m->files.names[whole].same_as)
		whole = m->files.names[whole].same_as;
	parts = &m->code->wholes[to->renaming.as ? to->renaming.as : to->reg];
	for (unsigned k = 0; k < parts->n_keys; k++)
		m->files.names[m->code->keys[parts->first_key + k]].same_as = whole;
	for (unsigned k = 0; k < keys->n_keys; k++)
		m->files.names[m->code->keys[keys->first_key + k]].is_zero = is_zero;
}

bool files_eliminate(struct facts_machine *m, const struct facts_insn *insn)
{
	const struct llvm_facts *facts = insn->facts;
	const unsigned n = facts->n_writes, file = facts->write[0].renaming.file,
		       most = m->info->register_file[file].moves;

	if (!facts->is_move || n != facts->n_reads || !n || n > 2 ||
	    (most && m->files.moved[file] + n > most))
		return false;
	for (unsigned i = 0; i < n; i++)
		if (!can_eliminate(m, &facts->read[i], &facts->write[n - 1 - i], file))
			return false;
	for (unsigned i = 0; i < n; i++)
		make_same(m, &facts->read[i], &facts->write[n - 1 - i],
			  &m->code->writes[insn->first_write + n - 1 - i]);
	m->files.moved[file] += n;
	return true;
}
