/* SPDX-License-Identifier: MIT
 *
 * What can be said about an instruction: the features that classes are made of.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tact/arch.h>

#include "arch/arch.h"
#include "arch/notation.h"
#include "hunt/hunt.h"

/* ---- texts ---- */

uint32_t hunt_name(struct hunt_names *names, const char *text)
{
	const uint64_t hash = hash_string(text);
	size_t at = 0, size = strlen(text) + 1;
	uint32_t i;
	char *copy;

	while ((i = hash_next(&names->index, hash, &at)) != HASH_NONE)
		if (!strcmp(names->name[i], text))
			return i;
	copy = tact_arena_take(&names->arena, size);
	if (!copy ||
	    tact_grow(&names->name, &names->capacity, names->n + 1, sizeof(*names->name)) < 0 ||
	    hash_add(&names->index, hash, (uint32_t)names->n) < 0)
		return UINT32_MAX;
	memcpy(copy, text, size);
	names->name[names->n] = copy;
	return (uint32_t)names->n++;
}

void hunt_names_free(struct hunt_names *names)
{
	FREE_ALL(names->name, names->decoded);
	hash_free(&names->index);
	hash_free(&names->decoded_index);
	tact_arena_reset(&names->arena);
}

/* ---- features ---- */

static void set_key(struct hunt_keys *keys, unsigned key)
{
	keys->bits[key >> 6] |= UINT64_C(1) << (key & 63);
}

/* Memory by the text of its address: a load that waits for a store has the same one. */
static void find_memory_key(const struct tact_isa *isa, const struct tact_insn *x,
			    const struct tact_operand *o, struct hunt_insn *out)
{
	const unsigned first = isa_n_keys(isa), n = ISA_MAX_KEYS - first;
	const uint64_t address = (uint64_t)x->displacement << 24 | (uint64_t)o->base << 16 |
				 (uint64_t)o->index << 8 | o->scale;
	unsigned key;

	if (o->kind != TACT_OPERAND_MEM || !o->explicit_operand || first >= ISA_MAX_KEYS)
		return;
	key = first + (unsigned)((hash_number(address) >> 32) % n);
	if (o->access & TACT_ACCESS_READ)
		set_key(&out->reads, key);
	if (o->access & TACT_ACCESS_WRITE)
		set_key(&out->writes, key);
}

static void find_keys(const struct tact_isa *isa, const struct tact_insn *x, struct hunt_insn *out)
{
	for (unsigned i = 0; i < x->n_operands; i++) {
		const struct tact_operand *o = &x->operand[i];

		if (o->kind == TACT_OPERAND_REG && o->role == TACT_ROLE_NONE &&
		    o->reg < ISA_MAX_REGISTERS) {
			if (o->access &
			    (TACT_ACCESS_READ | TACT_ACCESS_COND_READ | TACT_ACCESS_COND_WRITE))
				set_key(&out->reads, o->reg);
			if (o->access & (TACT_ACCESS_WRITE | TACT_ACCESS_COND_WRITE))
				set_key(&out->writes, o->reg);
		}
		find_memory_key(isa, x, o, out);
		if (o->kind != TACT_OPERAND_MEM && o->kind != TACT_OPERAND_AGEN)
			continue;
		if (o->base < ISA_MAX_REGISTERS)
			set_key(&out->reads, o->base);
		if (o->index < ISA_MAX_REGISTERS)
			set_key(&out->reads, o->index);
	}
	for (unsigned g = 0; g < ISA_MAX_FLAG_GROUPS; g++) {
		if (x->flags_read >> g & 1)
			set_key(&out->reads, isa->registers.n + g);
		if (x->flags_written >> g & 1)
			set_key(&out->writes, isa->registers.n + g);
	}
}

static uint32_t memory_of(const struct tact_insn *x, const struct isa_properties *q)
{
	if (q->loads || q->stores)
		return q->loads && q->stores ? HUNT_UPDATES : q->loads ? HUNT_LOADS : HUNT_STORES;
	for (unsigned i = 0; i < x->n_operands; i++)
		if (x->operand[i].kind == TACT_OPERAND_AGEN)
			return HUNT_COMPUTES;
	return HUNT_NO_MEMORY;
}

static uint32_t address_of(const struct tact_insn *x, uint32_t memory)
{
	if (memory == HUNT_NO_MEMORY)
		return HUNT_NO_ADDRESS;
	if (x->attributes & TACT_INSN_PC_RELATIVE)
		return HUNT_PC_RELATIVE;
	return x->attributes & TACT_INSN_INDEXED ? HUNT_INDEXED : HUNT_PLAIN;
}

/* "p06", "2p05", "p1 p5": without loads and stores, which are features of their own. */
static void write_ports(const struct tact_arch *arch, const struct tact_insn *x, uint32_t memory,
			char *text, size_t size)
{
	const struct arch_params *p = &arch->params;
	const params_ports store = p->store_address_ports | p->store_data_ports | p->load_ports;
	struct tact_form_info info = {.size = sizeof(info)};
	enum tact_situation situation =
		x->attributes & TACT_INSN_SAME_REG ? TACT_SITUATION_SAME : TACT_SITUATION_PLAIN;
	size_t used = 0;

	*text = '\0';
	if (tact_arch_form(arch, x->form, situation, &info) < 0) {
		snprintf(text, size, "no data");
		return;
	}
	if (info.ms) {
		snprintf(text, size, "microcode");
		return;
	}
	for (unsigned i = 0; i < info.n_port_uses && used + 48 < size; i++) {
		const struct tact_port_use *use = &info.port_uses[i];

		if ((memory == HUNT_LOADS || memory == HUNT_UPDATES) &&
		    !(use->ports & ~(uint32_t)p->load_ports))
			continue;
		if ((memory == HUNT_STORES || memory == HUNT_UPDATES) &&
		    !(use->ports & ~(uint32_t)store))
			continue;
		if (used)
			text[used++] = ' ';
		if (use->uops > 1)
			used += (size_t)snprintf(text + used, size - used, "%u", use->uops);
		text[used++] = 'p';
		for (unsigned port = 0; port < TACT_MAX_PORTS; port++)
			if (use->ports >> port & 1)
				text[used++] = notation_port(port);
		text[used] = '\0';
	}
	if (!used)
		snprintf(text, size, "no port");
}

static void upper(char *to, size_t size, const char *from)
{
	size_t i = 0;

	for (; from[i] && i + 1 < size; i++)
		to[i] = (char)(from[i] >= 'a' && from[i] <= 'z' ? from[i] - 'a' + 'A' : from[i]);
	to[i] = '\0';
}

static int decode_new(struct hunt_insn *out, const uint8_t *code, size_t size,
		      struct hunt_names *names)
{
	const struct tact_isa *isa = tact_arch_isa(names->arch);
	struct isa_properties q;
	struct tact_insn x;
	char text[160];
	int length = tact_isa_decode(isa, &x, code, size);

	if (length <= 0)
		return -TACT_E_DECODE;
	isa->describe(&q, code, size);
	*out = (struct hunt_insn){.length = (uint8_t)length, .is_branch = q.is_branch};
	find_keys(isa, &x, out);
	out->value[HUNT_FORM] = x.form;
	upper(text, sizeof(text), q.mnemonic_name);
	out->value[HUNT_MNEMONIC] = hunt_name(names, text);
	out->value[HUNT_GROUP] = hunt_name(names, q.category);
	out->value[HUNT_MEMORY] = memory_of(&x, &q);
	out->value[HUNT_ADDRESS] = address_of(&x, out->value[HUNT_MEMORY]);
	write_ports(names->arch, &x, out->value[HUNT_MEMORY], text, sizeof(text));
	out->value[HUNT_PORTS] = hunt_name(names, text);
	out->value[HUNT_WIDTH] = q.width;
	out->value[HUNT_MASK] = q.masking;
	out->value[HUNT_IMMEDIATE] = q.is_branch ? 0 : x.immediate_bits;
	out->value[HUNT_SAME] = !!(x.attributes & TACT_INSN_SAME_REG);
	for (unsigned i = 0; i < x.n_operands; i++)
		out->value[HUNT_HIGH] |=
			x.operand[i].kind == TACT_OPERAND_REG && x.operand[i].first_byte;
	return out->value[HUNT_MNEMONIC] == UINT32_MAX || out->value[HUNT_GROUP] == UINT32_MAX ||
			       out->value[HUNT_PORTS] == UINT32_MAX
		       ? -TACT_E_NOMEM
		       : length;
}

/* ---- instructions that were seen before ---- */

/* Data sets have many more instructions than different ones. */
enum { MOST_DECODED = 1 << 19 };

struct hunt_decoded {
	uint8_t code[TACT_MAX_INSN_BYTES];
	struct hunt_insn insn;
};

static const struct hunt_insn *find_decoded(const struct hunt_names *names, const uint8_t *code,
					    size_t length)
{
	size_t at = 0;
	uint32_t i;

	while ((i = hash_next(&names->decoded_index, hash_bytes(code, length), &at)) != HASH_NONE) {
		const struct hunt_decoded *d = &names->decoded[i];

		if (d->insn.length == length && !memcmp(d->code, code, length))
			return &d->insn;
	}
	return NULL;
}

/* Does without it if memory runs out. */
static void remember(struct hunt_names *names, const uint8_t *code, const struct hunt_insn *insn)
{
	struct hunt_decoded *d;

	if (names->n_decoded == MOST_DECODED ||
	    tact_grow(&names->decoded, &names->decoded_capacity, names->n_decoded + 1, sizeof(*d)) <
		    0 ||
	    hash_add(&names->decoded_index, hash_bytes(code, insn->length),
		     (uint32_t)names->n_decoded) < 0)
		return;
	d = &names->decoded[names->n_decoded++];
	memcpy(d->code, code, insn->length);
	d->insn = *insn;
}

int hunt_decode_one(struct hunt_insn *out, const uint8_t *code, size_t size,
		    struct hunt_names *names)
{
	const struct tact_isa *isa = tact_arch_isa(names->arch);
	const struct hunt_insn *known = NULL;
	struct isa_layout layout = {.length = 0};
	int length;

	if (!size)
		return -TACT_E_DECODE;
	isa->lay_out(&layout, 1, code, size);
	if (layout.length && layout.length <= size)
		known = find_decoded(names, code, layout.length);
	if (known) {
		*out = *known;
		return known->length;
	}
	length = decode_new(out, code, size, names);
	if (length > 0)
		remember(names, code, out);
	return length;
}

/* ---- blocks ---- */

static bool meets(const struct hunt_keys *a, const struct hunt_keys *b)
{
	return (a->bits[0] & b->bits[0]) | (a->bits[1] & b->bits[1]);
}

void hunt_connect(struct hunt_code *c)
{
	for (size_t i = 0; i < c->n; i++) {
		struct hunt_keys left = c->insn[i].reads;

		c->producers[i] = 0;
		/* Backwards, around the end of the iteration before, up to itself. */
		for (size_t k = 1; k <= c->n; k++) {
			const size_t p = (i + c->n - k) % c->n;
			const struct hunt_keys *w = &c->insn[p].writes;

			if (!meets(w, &left))
				continue;
			c->producers[i] |= UINT64_C(1) << p;
			left.bits[0] &= ~w->bits[0];
			left.bits[1] &= ~w->bits[1];
		}
	}
}

int hunt_decode(struct hunt_code *out, const uint8_t *code, size_t size, struct hunt_names *names)
{
	size_t at = 0;

	out->n = out->size = 0;
	while (at < size) {
		struct hunt_insn *x = &out->insn[out->n];
		int length;

		if (out->n == HUNT_MAX_INSNS)
			return -TACT_E_LIMIT;
		length = hunt_decode_one(x, code + at, size - at, names);
		if (length < 0)
			return length;
		x->offset = (uint16_t)at;
		if (x->is_branch && at + (size_t)length == size)
			break;
		memcpy(out->code + at, code + at, (size_t)length);
		at += (size_t)length;
		out->n++;
	}
	out->size = at;
	hunt_connect(out);
	return out->n ? 0 : -TACT_E_LIMIT;
}
