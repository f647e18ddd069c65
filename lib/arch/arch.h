/* SPDX-License-Identifier: MIT
 *
 * Layer 2: parameters and instruction data of a CPU.
 */
#ifndef TACT_ARCH_PRIVATE_H
#define TACT_ARCH_PRIVATE_H

#include <tact/arch.h>

#include "arch/params.h"
#include "arch/table.h"
#include "base/base.h"
#include "isa/isa.h"

struct tact_arch {
	const struct tact_isa *isa;
	const char *name, *full_name, *llvm_name;
	const char *llvm_cpu;	/* what LLVM's tools are asked for */
	const char *names;	/* "skx skylake-sp": further ones, blanks between */
	const char *cpuid;	/* "6-85:5-7 6-106": family-model:first stepping-last stepping */
	const char *port_names; /* whose numbers ports have; "": nobody says */
	const char *base;	/* the CPU whose parameters it takes over, or "" */
	/* The CPU whose measured blocks verified it, or ""; where those come from; what reports say
	 * about it, "" if nothing.
	 */
	const char *verified_on, *verified_by, *caveat;
	const char *sources; /* "U uops.info ...\nC ...": what the letters of records mean */
	struct arch_params params;
	const struct params_origin *origins; /* static; indexed by parameter */
	bool is_from_file[PARAMS_COUNT];     /* tact_arch_derive has set it */
	const struct arch_llvm *llvm; /* LLVM's model, which knows instructions; NULL: tables do */
	const uint16_t *record_of_form; /* static; indexed by form; NULL: has no tables */
	bool is_copy;			/* made by tact_arch_copy */
	struct arch_overlay *overlay;	/* owned; NULL: all data are those of the tables */
	unsigned revision;		/* of the data; see arch_changed */
	/* The load latencies that the latencies of forms include: those of the CPU that this one is
	 * a changed copy of.  0: those of `params`.
	 */
	int table_load, table_load_vec;
};

/* Makes an architecture of any set from text alone: parameters and lines of forms, as
 * tact_arch_derive reads them.  Parameters without a preset must be there; a form without a line
 * has no data.  `name` and `isa` are the caller's and must live as long. Returns -TACT_E_FORMAT
 * (diag has line and reason), -TACT_E_INVAL, -TACT_E_NOMEM.
 */
int arch_create(struct tact_arch **out, const char *name, const struct tact_isa *isa,
		const char *text, struct tact_diag *diag);

/* Returns the data of a form, or NULL if there are no data for it. */
const struct arch_record *arch_record_of(const struct tact_arch *arch, unsigned form);

/* What a form costs, and its lists; they belong to the architecture. */
enum arch_situation { ARCH_PLAIN, ARCH_INDEXED, ARCH_SAME, ARCH_N_SITUATIONS };
struct arch_view {
	const struct arch_variant *variant;
	const struct arch_port_use *ports;
	const struct arch_latency *latency;
};

/* False if the form has no data of its own for the situation. */
bool arch_view_of(const struct tact_arch *arch, unsigned form, enum arch_situation situation,
		  struct arch_view *out);
extern const struct arch_port_use arch_no_ports[1];

/* ---- data that are not those of the tables (overlay.c) ---- */

/* One situation of a form with lists of its own; the indices in `variant` mean nothing. */
struct arch_own {
	struct arch_variant variant;
	struct arch_port_use ports[ARCH_MAX_PORT_USES];
	struct arch_latency latency[ARCH_MAX_LATENCIES];
};

/* The form's data for a situation, to be changed in place; they come from the tables at first.
 * NULL if the tables have none for it, or out of memory.  Pointers of earlier calls may be stale.
 */
struct arch_own *arch_own_of(struct tact_arch *arch, unsigned form, enum arch_situation situation);

/* Only LLVM's models say what issue in order needs.  Returns 0 or -TACT_E_FORMAT. */
int arch_check_order(const struct tact_arch *arch, const struct arch_params *params,
		     struct tact_diag *diag);

/* Must follow every change, so that blocks lower their code again. */
static inline void arch_changed(struct tact_arch *arch)
{
	arch->revision++;
}

static inline unsigned arch_revision(const struct tact_arch *arch)
{
	return arch->revision;
}

bool arch_is_built_in(const struct tact_arch *arch);

/* Find a built-in one by a name that its file has, and that of this CPU; NULL if there is none. */
const struct tact_arch *arch_find_own(const char *name);
const struct tact_arch *arch_host_own(void);

/* Tells whether a list of words has this one; case, blanks, '-' and '_' do not count (names.c). */
bool names_have(const char *words, const char *name, size_t length);

/* Returns the record of a form that has a line of its own, or NULL. */
const struct arch_record *overlay_record(const struct arch_overlay *overlay, unsigned form);
bool overlay_view(const struct arch_overlay *overlay, unsigned form, enum arch_situation situation,
		  struct arch_view *out);
int overlay_copy(struct arch_overlay **out, const struct arch_overlay *from);
void overlay_destroy(struct arch_overlay *overlay); /* NULL is allowed */

/* Text of a view's lists and counts as in a file, and back (overlay_text.c). */
const char *arch_situation_name(enum arch_situation situation);
int arch_view_print(const struct arch_view *view, char *text, size_t size);

/* Reads a line of a form, whose columns are separated by tabs; changes the line.  Returns 1, 0 if
 * it is no such line, or -TACT_E_FORMAT, -TACT_E_NOMEM with the reason.
 */
int overlay_read_line(struct tact_arch *arch, char *line, struct tact_diag *diag);

#endif /* TACT_ARCH_PRIVATE_H */
