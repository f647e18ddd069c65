/* SPDX-License-Identifier: MIT
 *
 * A recorded stretch of a simulation: what happened to every uop of some iterations, and why.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "view/view.h"

const char *const timeline_phase_names[N_PHASES] = {
	[PHASE_IDQ] = "in the IDQ",
	[PHASE_RS] = "in the scheduler",
	[PHASE_EXECUTE] = "executing",
	[PHASE_RETIRE] = "waiting to retire",
};

/* ---- recording ---- */

struct recorder {
	struct timeline *t;
	uint64_t wanted; /* iterations */
	bool with_ports;
};

int64_t timeline_start(const struct tact_sim_uop *u)
{
	return u->delivered >= 0 ? u->delivered : u->issued;
}

/* Delivery is in order: what went to a port before this uop arrived does not concern later ones. */
static void forget(struct timeline *t, int64_t before)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->n_busy; i++)
		if (t->busy[i].cycle >= before)
			t->busy[kept++] = t->busy[i];
	t->n_busy = kept;
}

static void record_port(struct timeline *t, const struct tact_sim_uop *u)
{
	if (u->port < 0 || u->dispatched < 0)
		return;
	if (t->n_busy == t->busy_capacity) {
		if (u->iteration < t->first)
			forget(t, timeline_start(u));
		if (t->n_busy >= t->busy_capacity / 2 &&
		    tact_grow(&t->busy, &t->busy_capacity, t->busy_capacity + 1, sizeof(*t->busy)) <
			    0)
			t->failed = true;
		if (t->n_busy == t->busy_capacity)
			return;
	}
	t->busy[t->n_busy++] = (struct timeline_busy){.cycle = u->dispatched,
						      .iteration = u->iteration,
						      .insn = u->insn,
						      .port = (uint8_t)u->port};
}

static void record_uop(struct timeline *t, const struct tact_sim_uop *u)
{
	if (tact_grow(&t->uops, &t->capacity, t->n + 1, sizeof(*t->uops)) < 0) {
		t->failed = true;
		return;
	}
	if (!t->n || timeline_start(u) < t->begin)
		t->begin = timeline_start(u);
	if (!t->n || u->retired > t->end)
		t->end = u->retired;
	t->uops[t->n++] = *u;
	t->n_iterations = u->iteration - t->first + 1;
}

static int on_uop(void *arg, const struct tact_sim_uop *u)
{
	struct recorder *r = arg;
	struct timeline *t = r->t;

	if (u->iteration >= t->first + r->wanted && (!r->with_ports || timeline_start(u) > t->end))
		return 1;
	if (r->with_ports)
		record_port(t, u);
	if (u->iteration >= t->first && u->iteration < t->first + r->wanted)
		record_uop(t, u);
	return t->failed;
}

static bool is_within(const struct timeline *t, const struct timeline_busy *b)
{
	return b->cycle >= t->begin && b->cycle <= t->end;
}

static void trim_ports(struct timeline *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->n_busy; i++)
		if (is_within(t, &t->busy[i]))
			t->busy[kept++] = t->busy[i];
	t->n_busy = kept;
}

/* More than the iterations wanted: what is in flight with them decides which ports are taken. */
enum { MORE_ITERATIONS = 2048, MORE_CYCLES = 20000 };

int timeline_record(const struct tact_view *view, unsigned iterations, bool with_ports,
		    struct timeline *t)
{
	const struct tact_simulation *s = view->simulation;
	const uint64_t wanted = view->iterations ? view->iterations : iterations;
	struct recorder recorder = {t, wanted, with_ports};
	struct tact_sim_options options = {
		.size = sizeof(options), .on_uop = on_uop, .arg = &recorder};
	struct tact_simulation again = {.size = sizeof(again)};
	int status;

	*t = (struct timeline){.first = view->from ? view->from - 1 : s->iterations};
	options.min_iterations = t->first + wanted + (with_ports ? MORE_ITERATIONS : 0);
	/* Enough for them at the pace that was found. */
	options.max_cycles =
		s->cycles + MORE_CYCLES +
		(uint64_t)(2 * s->cycles_per_iteration * (double)(t->first + 2 * wanted));
	status = tact_simulate(view->simulator, view->block, &options, &again);
	if (t->failed)
		return -TACT_E_NOMEM;
	if (t->n && status != -TACT_E_NOMEM)
		status = 0; /* the recorder ended it */
	trim_ports(t);
	return status < 0 ? status : 0;
}

void timeline_fini(struct timeline *t)
{
	FREE_ALL(t->uops, t->busy);
	*t = (struct timeline){0};
}

/* ---- what a uop does ---- */

bool timeline_phase(const struct tact_sim_uop *u, enum phase phase, int64_t *begin, int64_t *end)
{
	const bool runs = u->dispatched >= 0;

	switch (phase) {
	case PHASE_IDQ:
		*begin = timeline_start(u);
		*end = u->issued;
		break;
	case PHASE_RS:
		*begin = u->issued;
		*end = runs ? u->dispatched : u->issued;
		break;
	case PHASE_EXECUTE:
		*begin = u->dispatched;
		*end = runs && u->executed > u->dispatched ? u->executed : u->dispatched;
		break;
	default:
		*begin = runs && u->executed > u->issued ? u->executed : u->issued;
		*end = u->retired;
		break;
	}
	return *end > *begin;
}

bool timeline_waits_for_insn(const struct tact_sim_uop *u)
{
	return (u->operand_wait == TACT_WAIT_OPERAND || u->operand_wait == TACT_WAIT_STORE) &&
	       u->wait_insn != UINT32_MAX;
}

/* Finds the last older instance of the instruction that began in time, and its uop that ends last.
 */
const struct tact_sim_uop *timeline_producer(const struct timeline *t, const struct tact_sim_uop *u)
{
	const struct tact_sim_uop *found = NULL;

	if (!timeline_waits_for_insn(u))
		return NULL;
	for (const struct tact_sim_uop *p = u; p-- > t->uops;) {
		if (found && (p->iteration != found->iteration || p->insn != found->insn))
			break;
		if (p->insn != u->wait_insn || p->dispatched < 0 || p->dispatched >= u->dispatched)
			continue;
		if (!found || p->executed > found->executed)
			found = p;
	}
	return found;
}

/* ---- reasons ---- */

static void add_reason(struct reason *reasons, unsigned *n, const struct tact_sim_uop *u,
		       unsigned wait, int64_t cycles)
{
	unsigned k = *n;

	if (wait == TACT_WAIT_NONE || cycles < 0)
		return;
	for (; k && reasons[k - 1].cycles < cycles; k--)
		reasons[k] = reasons[k - 1];
	reasons[k] = (struct reason){(enum tact_wait)wait, cycles, u};
	++*n;
}

unsigned timeline_reasons(const struct tact_sim_uop *u, struct reason reasons[MAX_REASONS])
{
	unsigned n = 0;

	if (u->dispatched >= 0) {
		/* A load goes to its port and meets the store there. */
		add_reason(reasons, &n, u, u->operand_wait,
			   u->operand_wait == TACT_WAIT_STORE ? u->executed - u->dispatched
							      : u->ready - u->issued);
		add_reason(reasons, &n, u, u->port_wait, u->dispatched - u->ready);
	}
	if (u->delivered >= 0 && u->issued > u->delivered)
		add_reason(reasons, &n, u, u->issue_wait, u->issued - u->delivered);
	add_reason(reasons, &n, u, u->front_wait, 0);
	return n;
}

void timeline_mnemonic(const struct tact_listing *listing, size_t insn, struct text *out)
{
	const char *line = insn < listing->n ? listing->line[insn] : "?";

	while (!strncmp(line, "lock ", 5) || !strncmp(line, "rep ", 4) ||
	       !strncmp(line, "repne ", 6))
		line += strcspn(line, " ") + 1;
	text_add_bytes(out, line, strcspn(line, " "));
}

static void add_instruction(const struct reason *r, const struct tact_listing *listing,
			    struct text *out)
{
	text_add(out, r->wait == TACT_WAIT_STORE ? "store " : "");
	if (!timeline_waits_for_insn(r->uop)) {
		text_add(out, r->wait == TACT_WAIT_STORE ? "data" : "an operand");
		return;
	}
	text_printf(out, "#%" PRIu32 " (", r->uop->wait_insn + 1);
	timeline_mnemonic(listing, r->uop->wait_insn, out);
	text_add(out, ")");
}

void timeline_reason_text(const struct reason *r, const struct tact_arch *arch,
			  const struct tact_listing *listing, struct text *out)
{
	const bool is_amd = arch->params.terms == PARAMS_TERMS_AMD;

	switch (r->wait) {
	case TACT_WAIT_OPERAND:
	case TACT_WAIT_STORE:
		add_instruction(r, listing, out);
		break;
	case TACT_WAIT_PORT:
		text_printf(out, "port %d busy", r->uop->port);
		break;
	case TACT_WAIT_DIVIDER:
		text_add(out, "divider busy");
		break;
	case TACT_WAIT_ROB:
		text_add(out, is_amd ? "retire queue full" : "ROB full");
		break;
	case TACT_WAIT_RS:
		text_add(out, is_amd ? "scheduler full" : "RS full");
		break;
	case TACT_WAIT_ISSUE:
		text_add(out, is_amd ? "in line to dispatch" : "in line to issue");
		break;
	case TACT_WAIT_ORDER:
		text_add(out, "older results come first");
		break;
	case TACT_WAIT_SERIALIZE:
		text_add(out, arch->params.in_order ? "older loads or stores come first"
						    : "everything before it must retire");
		break;
	default:
		text_printf(out, "front end: %s",
			    is_amd && r->wait == TACT_WAIT_DSB		? "op cache"
			    : is_amd && r->wait == TACT_WAIT_PREDECODER ? "fetch"
									: tact_wait_name(r->wait));
	}
	if (r->cycles)
		text_printf(out, " %" PRId64, r->cycles);
}

void timeline_all_reasons(const struct tact_sim_uop *u, const struct tact_arch *arch,
			  const struct tact_listing *listing, struct text *out)
{
	struct reason reasons[MAX_REASONS];
	unsigned n = timeline_reasons(u, reasons);

	for (unsigned i = 0; i < n; i++) {
		if (i)
			text_add(out, ", ");
		if (reasons[i].wait == TACT_WAIT_OPERAND || reasons[i].wait == TACT_WAIT_STORE)
			text_add(out, "waits for ");
		timeline_reason_text(&reasons[i], arch, listing, out);
	}
}

struct tact_sim_insn *timeline_insns(const struct tact_view *view)
{
	size_t n = tact_block_length(view->block);
	struct tact_sim_insn *insns = calloc(n ? n : 1, sizeof(*insns));

	for (size_t i = 0; insns && i < n; i++) {
		insns[i].size = sizeof(insns[i]);
		tact_simulated_insn(view->simulator, i, &insns[i]);
	}
	return insns;
}
