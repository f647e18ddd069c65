/* SPDX-License-Identifier: MIT
 *
 * Writes parameters of the machine as a scheduling model of LLVM.
 */
#include "mca/mca_export.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "block/block.h"
#include "llvm/llvm.h"

/* llvm/include/llvm/MC/MCSchedule.h: MCSchedClassDesc has 13 bits, and two values mean something. */
enum { LLVM_MAX_MICRO_OPS = 8189, MAX_PLACES = 32 };
#define NO_PAIR UINT32_MAX

/* An opcode that instructions of a form have. */
struct pair {
	uint16_t opcode, form;
	uint32_t count; /* 0: nobody noted it */
	uint32_t next;	/* of the same opcode */
	bool is_idiom;	/* with one register for its operands, it waits for nothing */
	uint8_t size, code[TACT_MAX_INSN_BYTES];
};

struct mca_export {
	const struct tact_mca_params *params; /* borrowed */
	const struct llvm_api *api;
	struct llvm_set *set;
	struct tact_block *block; /* owned; for one instruction */
	struct pair *pairs;	  /* owned */
	size_t n_pairs, capacity;
	unsigned n_opcodes;
	uint32_t *first; /* owned; by opcode */
	char name[64];	 /* of the CPU, as an identifier */
};

static const struct tact_isa *isa_of(const struct mca_export *e)
{
	return e->params->arch->isa;
}

void mca_export_destroy(struct mca_export *e)
{
	if (!e)
		return;
	tact_block_destroy(e->block);
	FREE_ALL(e->pairs, e->first, e);
}

int mca_export_create(struct mca_export **out, const struct tact_mca_params *params,
		      struct tact_diag *diag)
{
	struct mca_export *e = calloc(1, sizeof(*e));
	int status;

	*out = NULL;
	if (!e)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	e->params = params;
	e->api = isa_of(e)->llvm ? llvm_open(&e->set, isa_of(e)->llvm, diag) : NULL;
	if (!e->api) {
		free(e);
		return -TACT_E_NO_TOOL;
	}
	e->n_opcodes = e->api->form_count(e->set);
	e->first = malloc(e->n_opcodes * sizeof(*e->first));
	for (unsigned i = 0; e->first && i < e->n_opcodes; i++)
		e->first[i] = NO_PAIR;
	snprintf(e->name, sizeof(e->name), "%s", tact_arch_name(params->arch));
	for (char *c = e->name; *c; c++)
		if (!isalnum((unsigned char)*c))
			*c = '_';
	status = e->first ? tact_block_create(&e->block, params->arch, NULL, diag)
			  : tact_fail(diag, TACT_E_NOMEM, "out of memory");
	return HAND_OVER(out, e, status, mca_export_destroy);
}

static struct pair *find_pair(struct mca_export *e, unsigned opcode, unsigned form)
{
	for (uint32_t i = e->first[opcode]; i != NO_PAIR; i = e->pairs[i].next)
		if (e->pairs[i].form == form)
			return &e->pairs[i];
	return NULL;
}

/* Tells whether an instruction with one register for both of its sources waits for none. */
static bool is_idiom(struct mca_export *e, const uint8_t *code, size_t size)
{
	return tact_block_load(e->block, code, size, NULL) >= 0 && e->block->n_insns == 1 &&
	       e->block->insns[0].lowered->idiom &&
	       e->block->insns[0].insn->attributes & TACT_INSN_SAME_REG;
}

/* A result and two registers that are read: the operands that put_idioms compares. */
static bool has_sources(const struct llvm_insn *insn)
{
	unsigned found = 0;

	for (unsigned i = 0; i < insn->n_operands; i++) {
		const struct llvm_operand *o = &insn->operand[i];

		if (o->is_explicit)
			found |= (o->def == 0) | (unsigned)(o->use == 0) << 1 |
				 (unsigned)(o->use == 1) << 2;
	}
	return found == 7;
}

/* Adds an instruction, or counts it. */
static int add(struct mca_export *e, unsigned form, const uint8_t *code, size_t size,
	       uint32_t count)
{
	struct llvm_insn insn = {.size = sizeof(insn)};
	struct pair *pair;

	if (size > TACT_MAX_INSN_BYTES || e->api->decode(e->set, code, size, &insn) != (int)size)
		return 0;
	pair = find_pair(e, insn.usual, form);
	if (!pair) {
		if (tact_grow(&e->pairs, &e->capacity, e->n_pairs + 1, sizeof(*e->pairs)) < 0)
			return -TACT_E_NOMEM;
		pair = &e->pairs[e->n_pairs];
		*pair = (struct pair){.opcode = insn.usual,
				      .form = (uint16_t)form,
				      .next = e->first[insn.usual],
				      .is_idiom = has_sources(&insn) && is_idiom(e, code, size),
				      .size = (uint8_t)size};
		memcpy(pair->code, code, size);
		e->first[insn.usual] = (uint32_t)e->n_pairs++;
	} else if (pair->is_idiom != (has_sources(&insn) && is_idiom(e, code, size))) {
		/* The plain variant shows all operands. */
		if (pair->is_idiom) {
			pair->size = (uint8_t)size;
			memcpy(pair->code, code, size);
		}
		pair->is_idiom = true;
	}
	pair->count += count;
	return 0;
}

int mca_export_note(struct mca_export *e, unsigned form, const uint8_t *code, size_t size)
{
	return form < e->params->n_forms ? add(e, form, code, size, 1) : 0;
}

/* ---- forms that share an opcode ---- */

static bool are_tied(const uint16_t *next, unsigned a, unsigned b)
{
	for (unsigned i = next[a]; i != a; i = next[i])
		if (i == b)
			return true;
	return a == b;
}

static void tie(uint16_t *next, unsigned a, unsigned b)
{
	const uint16_t after = next[a];

	if (are_tied(next, a, b))
		return;
	next[a] = next[b];
	next[b] = after;
}

int mca_export_ties(const struct mca_export *e, uint16_t *canon, uint16_t *next)
{
	const unsigned n = e->params->n_forms;
	uint64_t *counts = calloc(n + 1u, sizeof(*counts));

	if (!counts)
		return -TACT_E_NOMEM;
	for (unsigned i = 0; i < n; i++)
		next[i] = (uint16_t)i;
	for (size_t i = 0; i < e->n_pairs; i++) {
		const struct pair *p = &e->pairs[i];

		counts[p->form] += p->count;
		if (p->next != NO_PAIR)
			tie(next, p->form, e->pairs[p->next].form);
	}
	for (unsigned i = 0; i < n; i++) {
		unsigned best = i;

		for (unsigned k = next[i]; k != i; k = next[k])
			if (counts[k] > counts[best] || (counts[k] == counts[best] && k < best))
				best = k;
		canon[i] = (uint16_t)best;
	}
	free(counts);
	return 0;
}

/* ---- what an opcode gets ---- */

/* Tells whether forms differ in what is exported. */
static bool differ(const struct mca_export *e, const struct pair *a, const struct pair *b)
{
	return !mca_form_equal(&e->params->forms[a->form], &e->params->forms[b->form]);
}

/* The pair that counts for an opcode: noted most often, then of the lowest form. */
static const struct pair *choose(const struct mca_export *e, unsigned opcode)
{
	const struct pair *best = NULL;

	for (uint32_t i = e->first[opcode]; i != NO_PAIR; i = e->pairs[i].next) {
		const struct pair *p = &e->pairs[i];

		if (!best || p->count > best->count ||
		    (p->count == best->count && p->form < best->form))
			best = p;
	}
	return best;
}

/* What LLVM's tables say of each operand of an opcode. */
struct places {
	bool is_free[MAX_PLACES];     /* by result: nobody waits for it on the machine */
	uint16_t advance[MAX_PLACES]; /* by operand that is read */
	unsigned n_results, n_reads;
};

/* Tells whether the machine sees a value written, and, if it is read, as which input. */
static bool finds(const struct block_lowered *l, unsigned key, bool is_result, unsigned *input)
{
	unsigned advance = 0;

	for (unsigned i = 0; is_result && i < l->n_out; i++)
		if (l->out[i].kind != VALUE_MEMORY && l->out[i].key == key)
			return true;
	for (unsigned i = 0; !is_result && i < l->n_in; i++) {
		if (l->in[i].kind == VALUE_MEMORY)
			continue;
		*input = advance;
		if (l->in[i].key == key)
			return true;
		advance += advance < MCA_NO_ADVANCE;
	}
	return false;
}

/* The stack pointer of push, for one, is no result here: that is the stack engine's. */
static void find_places(struct mca_export *e, const struct pair *p, struct places *out)
{
	const struct mca_form *f = &e->params->forms[p->form];
	struct llvm_insn insn = {.size = sizeof(insn)};
	const struct block_lowered *l;

	memset(out, 0, sizeof(*out));
	if (e->api->decode(e->set, p->code, p->size, &insn) < 0 ||
	    tact_block_load(e->block, p->code, p->size, NULL) < 0 || e->block->n_insns != 1)
		return;
	l = e->block->insns[0].lowered;
	for (unsigned i = 0; i < insn.n_operands; i++) {
		const struct llvm_operand *o = &insn.operand[i];
		unsigned input = MCA_NO_ADVANCE;

		if (o->def < MAX_PLACES) {
			const bool is_free = !finds(l, o->reg, true, &input);

			out->is_free[o->def] =
				o->def < out->n_results ? out->is_free[o->def] && is_free : is_free;
			if (o->def >= out->n_results)
				out->n_results = o->def + 1u;
		}
		if (o->use < MAX_PLACES && finds(l, o->reg, false, &input) &&
		    f->read_advance[input]) {
			out->advance[o->use] = f->read_advance[input];
			if (o->use >= out->n_reads)
				out->n_reads = o->use + 1u;
		}
	}
}

/* ---- TableGen ---- */

static const char usage[] =
	"\n"
	"For llvm-mca, and for LLVM's schedulers, in LLVM's sources: put this file beside the "
	"target's\n"
	"other models, include it at the end of the target's main .td file, build LLVM, and "
	"name\n"
	"the CPU, with the features that the code needs: llvm-mca -mcpu=%s -mattr=+...\n"
	"Written for the opcodes of LLVM %s.";

/* Lines of text after "// ". */
static void put_comment(struct text *out, const char *comment)
{
	while (comment && *comment) {
		const size_t n = strcspn(comment, "\n");

		text_printf(out, n ? "// %.*s\n" : "//\n", (int)n, comment);
		comment += n + (comment[n] == '\n');
	}
}

static void put_name(struct text *out, const struct mca_export *e)
{
	text_add(out, "tact-");
	for (const char *c = e->name; *c; c++)
		text_printf(out, "%c", *c == '_' ? '-' : tolower((unsigned char)*c));
}

/* What the target's classes of instructions name needs a meaning in each model: instructions that are
 * not listed have none.  !instances is of LLVM 21.
 */
static void put_rest(struct text *out)
{
	text_add(out, "\n// Instructions that are not listed below are not supported.\n"
		      "foreach w = !instances<SchedWrite>() in\n"
		      "  if !not(!or(!isa<SchedWriteRes>(w), !isa<SchedVariant>(w), "
		      "!isa<WriteSequence>(w))) then\n"
		      "    def : WriteRes<w, []> { let Unsupported = 1; }\n"
		      "foreach r = !instances<SchedRead>() in\n"
		      "  if !not(!or(!isa<SchedReadAdvance>(r), !isa<SchedVariant>(r))) then\n"
		      "    def : ReadAdvance<r, 0>;\n");
}

static void put_model(struct text *out, const struct mca_export *e)
{
	text_printf(out,
		    "def Tact_%s : SchedMachineModel {\n"
		    "  let IssueWidth = %u;\n"
		    "  let MicroOpBufferSize = %u;\n"
		    "  let CompleteModel = 0;\n"
		    "}\n\n"
		    "let SchedModel = Tact_%s in {\n\n",
		    e->name, e->params->dispatch_width, e->params->reorder_buffer, e->name);
	for (unsigned p = 0; p < TACT_MCA_PORTS; p++)
		text_printf(out, "def Tact_%s_P%u : ProcResource<1>;\n", e->name, p);
	put_rest(out);
	text_printf(
		out,
		"\n// A result that nobody waits for.\n"
		"def Tact_%s_None : SchedWriteRes<[]> { let Latency = 0; let NumMicroOps = 0; }\n",
		e->name);
}

/* What an instruction costs; each is defined where it is first needed. */
static void put_cost_name(struct text *out, const struct mca_export *e, const struct mca_form *f)
{
	text_printf(out, "Tact_%s_U%u_L%u", e->name, f->micro_ops, f->latency);
	for (unsigned p = 0; p < TACT_MCA_PORTS; p++)
		if (f->port[p])
			text_printf(out, "_P%ux%u", p, f->port[p]);
}

static void put_cost(struct text *out, const struct mca_export *e, const struct mca_form *f)
{
	bool has = false;

	text_add(out, "def ");
	put_cost_name(out, e, f);
	text_add(out, " : SchedWriteRes<[");
	for (unsigned p = 0; p < TACT_MCA_PORTS; p++)
		if (f->port[p]) {
			text_printf(out, "%sTact_%s_P%u", has ? ", " : "", e->name, p);
			has = true;
		}
	text_printf(out, "]> {\n  let Latency = %u;\n  let NumMicroOps = %u;\n", f->latency,
		    f->micro_ops);
	if (has) {
		text_add(out, "  let ReleaseAtCycles = [");
		for (unsigned p = 0, n = 0; p < TACT_MCA_PORTS; p++)
			if (f->port[p])
				text_printf(out, "%s%u", n++ ? ", " : "", f->port[p]);
		text_add(out, "];\n");
	}
	text_add(out, "}\n");
}

static void put_reads(struct text *out, const struct mca_export *e, const struct places *at)
{
	for (unsigned i = 0; i < at->n_reads; i++)
		if (at->advance[i])
			text_printf(out, ", Tact_%s_A%u", e->name, at->advance[i]);
		else
			text_add(out, ", ReadDefault");
}

/* The first write has the cost; results that nobody waits for come with one of their own. */
static void put_opcode(struct text *out, const struct mca_export *e, const struct pair *p,
		       const struct places *at)
{
	bool is_put = false;

	text_add(out, "def : InstRW<[");
	for (unsigned i = 0; i < at->n_results || !is_put; i++) {
		text_add(out, i ? ", " : "");
		if (i < at->n_results && at->is_free[i]) {
			text_printf(out, "Tact_%s_None", e->name);
		} else if (!is_put) {
			put_cost_name(out, e, &e->params->forms[p->form]);
			is_put = true;
		} else {
			/* The same latency, and nothing more. */
			text_printf(out, "Tact_%s_L%u", e->name, e->params->forms[p->form].latency);
		}
	}
	put_reads(out, e, at);
	text_printf(out, "], (instrs %s)>;\n", e->api->opcode_name(e->set, p->opcode));
}

/* What the lines of opcodes name. */
struct names {
	uint8_t *is_form_put;		  /* owned; by form */
	bool has_latency[UINT16_MAX + 1]; /* of results after the first */
	bool has_advance[UINT16_MAX + 1];
};

static void put_used(struct text *out, const struct mca_export *e, const struct pair *p,
		     const struct places *at, struct names *names)
{
	const struct mca_form *f = &e->params->forms[p->form];
	unsigned n_waited = 0;

	if (!names->is_form_put[p->form]) {
		bool is_new = true;

		names->is_form_put[p->form] = true;
		for (unsigned i = 0; i < e->params->n_forms && is_new; i++)
			is_new = i == p->form || names->is_form_put[i] != true ||
				 f->micro_ops != e->params->forms[i].micro_ops ||
				 f->latency != e->params->forms[i].latency ||
				 memcmp(f->port, e->params->forms[i].port, sizeof(f->port));
		if (is_new)
			put_cost(out, e, f);
	}
	for (unsigned i = 0; i < at->n_results; i++)
		n_waited += !at->is_free[i];
	if (n_waited > 1 && !names->has_latency[f->latency]) {
		names->has_latency[f->latency] = true;
		text_printf(out,
			    "def Tact_%s_L%u : SchedWriteRes<[]> { let Latency = %u; let "
			    "NumMicroOps = 0; }\n",
			    e->name, f->latency, f->latency);
	}
	for (unsigned i = 0; i < at->n_reads; i++)
		if (at->advance[i] && !names->has_advance[at->advance[i]]) {
			names->has_advance[at->advance[i]] = true;
			text_printf(out, "def Tact_%s_A%u : SchedReadAdvance<%u>;\n", e->name,
				    at->advance[i], at->advance[i]);
		}
}

/* Zero idioms and the like: LLVM waits for their operands unless it is told. */
static void put_idioms(struct text *out, const struct mca_export *e)
{
	size_t n = 0;

	for (unsigned i = 0; i < e->n_opcodes; i++) {
		const struct pair *p = choose(e, i);

		if (!p || !p->is_idiom)
			continue;
		text_add(out,
			 n++ ? ",\n  " : "def : IsDepBreakingFunction<[DepBreakingClass<[\n  ");
		text_add(out, e->api->opcode_name(e->set, i));
	}
	if (n)
		text_add(out, "\n], CheckSameRegOperand<1, 2>>]>;\n");
}

static void count(const struct mca_export *e, const struct pair *p, struct mca_export_summary *s)
{
	bool is_shared = false;

	for (uint32_t i = e->first[p->opcode]; i != NO_PAIR; i = e->pairs[i].next)
		is_shared |= e->pairs[i].count && differ(e, &e->pairs[i], p);
	s->n_opcodes++;
	s->n_noted += p->count != 0;
	s->n_shared += is_shared;
}

static void put_opcodes(struct text *out, struct mca_export *e, struct names *names,
			struct mca_export_summary *summary)
{
	for (unsigned i = 0; i < e->n_opcodes; i++) {
		const struct pair *p = choose(e, i);
		struct places at;

		if (!p)
			continue;
		if (e->params->forms[p->form].micro_ops > LLVM_MAX_MICRO_OPS) {
			text_printf(out, "// %s: LLVM has no room for its %u micro-ops.\n",
				    e->api->opcode_name(e->set, p->opcode),
				    e->params->forms[p->form].micro_ops);
			continue;
		}
		find_places(e, p, &at);
		put_used(out, e, p, &at, names);
		put_opcode(out, e, p, &at);
		count(e, p, summary);
	}
}

static bool has_data(const struct mca_export *e, unsigned form)
{
	struct tact_form_info info = TACT_FORM_INFO_INIT;

	return tact_arch_form(e->params->arch, form, TACT_SITUATION_PLAIN, &info) >= 0;
}

/* Forms that nobody has noted: those that the CPU has and the instruction set can encode. */
static int add_others(struct mca_export *e)
{
	uint8_t code[TACT_MAX_INSN_BYTES];
	int status = 0;

	for (unsigned i = 0; isa_of(e)->encode_form && i < e->params->n_forms && !status; i++) {
		const size_t size =
			has_data(e, i) ? isa_of(e)->encode_form(tact_isa_form_name(isa_of(e), i),
								false, code)
				       : 0;

		if (size)
			status = add(e, i, code, size, 0);
	}
	return status;
}

int mca_export_write(struct mca_export *e, const char *path, const char *comment,
		     struct mca_export_summary *summary, struct tact_diag *diag)
{
	struct text text = {0}, name = {0}, how = {0};
	struct names *names = calloc(1, sizeof(*names));
	int status = -TACT_E_NOMEM;

	memset(summary, 0, sizeof(*summary));
	if (names)
		names->is_form_put = calloc(e->params->n_forms + 1u, 1);
	if (!names || !names->is_form_put || add_others(e) < 0) {
		status = tact_fail(diag, TACT_E_NOMEM, "out of memory");
		goto out_free;
	}
	put_name(&name, e);
	if (text_string(&name))
		text_printf(&how, usage, name.data, e->api->llvm_version);
	put_comment(&text, comment);
	put_comment(&text, text_string(&how));
	text_add(&text, "\n");
	put_model(&text, e);
	put_opcodes(&text, e, names, summary);
	put_idioms(&text, e);
	text_printf(&text, "\n} // SchedModel\n\ndef : ProcessorModel<\"%s\", Tact_%s, []>;\n",
		    name.data ? name.data : "", e->name);
	text.failed |= name.failed | how.failed;
	status = file_write_text(path, &text, diag);
out_free:
	text_free(&text);
	text_free(&name);
	text_free(&how);
	if (names)
		free(names->is_form_put);
	free(names);
	return status;
}
