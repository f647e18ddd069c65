/* SPDX-License-Identifier: MIT
 *
 * Instructions of a form as bytes, through Zydis' encoder: what a form's name says of its operands
 * (data/insn: "ADD (R64, M64)", "VADDPD_Z (ZMM, K, ZMM, M64_1to8)"), with registers chosen.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "isa/x86/rewrite_x86.h"

/* Data are in the first registers, but rax, which has encodings of its own, comes last; addresses
 * are in the last ones, or, where ah to bh forbid those, in rsi.
 */
enum { LOW_BASE = 6, BASE = 14, INDEX = 15, VECTOR_INDEX = 7, MASK = 7 };
static const uint8_t data[] = {2, 3, 1, 8, 9, 10, 11, 0};

struct draft {
	ZydisEncoderRequest request;
	unsigned n_general, n_vector, n_mask, n_mmx; /* registers so far */
	unsigned bits;				     /* of the widest vector */
	bool has_mask, is_indexed, has_index;
	uint8_t address;  /* register of addresses */
	const char *base; /* of the form's name, up to the operands */
	size_t base_size;
};

static bool has_suffix(const struct draft *d, const char *suffix)
{
	const size_t n = strlen(suffix);

	for (size_t i = 0; i + n <= d->base_size; i++)
		if (!memcmp(d->base + i, suffix, n) &&
		    (i + n == d->base_size || d->base[i + n] == '_'))
			return true;
	return false;
}

static bool find_mnemonic(struct draft *d)
{
	int low = ZYDIS_MNEMONIC_INVALID + 1, high = ZYDIS_MNEMONIC_MAX_VALUE;
	char name[40];
	size_t n = 0;

	for (; n < d->base_size && d->base[n] != '_' && n + 1 < sizeof(name); n++)
		name[n] = (char)tolower((unsigned char)d->base[n]);
	name[n] = '\0';
	/* Zydis has them in the order of the alphabet. */
	while (low <= high) {
		const int middle = (low + high) / 2;
		const int order = strcmp(ZydisMnemonicGetString((ZydisMnemonic)middle), name);

		if (!order) {
			d->request.mnemonic = (ZydisMnemonic)middle;
			return true;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle - 1;
	}
	return false;
}

static ZydisEncoderOperand *next(struct draft *d)
{
	return &d->request.operands[d->request.operand_count++];
}

static void put_register(struct draft *d, ZydisRegister reg)
{
	x86_request_register(next(d), reg);
}

static void put_general(struct draft *d, unsigned bits)
{
	put_register(d, x86_general(data[d->n_general++ % ARRAY_SIZE(data)], (ZyanU16)bits));
}

static void put_vector(struct draft *d, ZydisRegisterClass class, unsigned bits)
{
	d->bits = bits > d->bits ? bits : d->bits;
	put_register(d, ZydisRegisterEncode(class, (ZyanU8)d->n_vector++));
}

static void put_memory(struct draft *d, const char *operand)
{
	ZydisEncoderOperand *o = next(d);
	const unsigned bits = (unsigned)strtoul(operand + 1, NULL, 10);

	*o = (ZydisEncoderOperand){
		.type = ZYDIS_OPERAND_TYPE_MEMORY,
		.mem = {.base = x86_general(d->address, 64), .size = (ZyanU16)(bits / 8)}};
	if (d->is_indexed && d->address == BASE) {
		o->mem.index = x86_general(INDEX, 64);
		o->mem.scale = 1;
		d->has_index = true;
	}
}

static void put_vector_address(struct draft *d, char width)
{
	const ZydisRegisterClass class = width == 'X'	? ZYDIS_REGCLASS_XMM
					 : width == 'Y' ? ZYDIS_REGCLASS_YMM
							: ZYDIS_REGCLASS_ZMM;

	*next(d) = (ZydisEncoderOperand){.type = ZYDIS_OPERAND_TYPE_MEMORY,
					 .mem = {.base = x86_general(BASE, 64),
						 .index = ZydisRegisterEncode(class, VECTOR_INDEX),
						 .scale = 1}};
}

static void put_constant(struct draft *d, int64_t value)
{
	*next(d) = (ZydisEncoderOperand){.type = ZYDIS_OPERAND_TYPE_IMMEDIATE, .imm.s = value};
}

static bool put_named(struct draft *d, const char *operand)
{
	static const struct {
		const char *name;
		ZydisRegister reg;
	} fixed[] = {{"AL", ZYDIS_REGISTER_AL},	   {"AX", ZYDIS_REGISTER_AX},
		     {"EAX", ZYDIS_REGISTER_EAX},  {"RAX", ZYDIS_REGISTER_RAX},
		     {"CL", ZYDIS_REGISTER_CL},	   {"DX", ZYDIS_REGISTER_DX},
		     {"XMM0", ZYDIS_REGISTER_XMM0}};
	static const struct {
		const char *name;
		int64_t value;
	} constants[] = {{"I8", 5}, {"I16", 1000}, {"I32", 100000}, {"I64", 0x123456789ab},
			 {"0", 0},  {"1", 1}};

	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		if (!strcmp(operand, fixed[i].name)) {
			put_register(d, fixed[i].reg);
			return true;
		}
	for (size_t i = 0; i < ARRAY_SIZE(constants); i++)
		if (!strcmp(operand, constants[i].name)) {
			put_constant(d, constants[i].value);
			return true;
		}
	return false;
}

/* The element that is read and spread over a vector. */
static bool put_spread(struct draft *d, const char *operand)
{
	static const struct {
		const char *name;
		ZydisBroadcastMode mode;
	} modes[] = {{"_1to2", ZYDIS_BROADCAST_MODE_1_TO_2},
		     {"_1to4", ZYDIS_BROADCAST_MODE_1_TO_4},
		     {"_1to8", ZYDIS_BROADCAST_MODE_1_TO_8},
		     {"_1to16", ZYDIS_BROADCAST_MODE_1_TO_16},
		     {"_1to32", ZYDIS_BROADCAST_MODE_1_TO_32}};
	const char *spread = strstr(operand, "_1to");

	put_memory(d, operand);
	if (!spread)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++)
		if (!strcmp(spread, modes[i].name)) {
			d->request.evex.broadcast = modes[i].mode;
			return true;
		}
	return false;
}

static bool put_operand(struct draft *d, const char *operand)
{
	if (put_named(d, operand))
		return true;
	if (!strncmp(operand, "VSIB_", 5)) {
		put_vector_address(d, operand[5]);
		return true;
	}
	if (operand[0] == 'M' && isdigit((unsigned char)operand[1]))
		return put_spread(d, operand);
	if (!strcmp(operand, "R8l"))
		put_general(d, 8);
	else if (!strcmp(operand, "R8h"))
		put_register(d, (ZydisRegister)(ZYDIS_REGISTER_AH + d->n_general++ % 4));
	else if (!strcmp(operand, "R16"))
		put_general(d, 16);
	else if (!strcmp(operand, "R32"))
		put_general(d, 32);
	else if (!strcmp(operand, "R64"))
		put_general(d, 64);
	else if (!strcmp(operand, "XMM"))
		put_vector(d, ZYDIS_REGCLASS_XMM, 128);
	else if (!strcmp(operand, "YMM"))
		put_vector(d, ZYDIS_REGCLASS_YMM, 256);
	else if (!strcmp(operand, "ZMM"))
		put_vector(d, ZYDIS_REGCLASS_ZMM, 512);
	else if (!strcmp(operand, "MM"))
		put_register(d, (ZydisRegister)(ZYDIS_REGISTER_MM0 + d->n_mmx++ % 8));
	else if (!strcmp(operand, "K"))
		put_register(d, (ZydisRegister)(ZYDIS_REGISTER_K1 + d->n_mask++ % 6));
	else
		return false;
	return true;
}

static bool put_operands(struct draft *d, const char *rest)
{
	char operand[24];

	for (unsigned i = 0;; i++) {
		size_t n;

		rest += strspn(rest, " ,");
		n = strcspn(rest, ",)");
		if (!n)
			return true;
		snprintf(operand, sizeof(operand), "%.*s", (int)n, rest);
		rest += n;
		/* Zydis has the mask among the operands, as the names have it. */
		if (i == 1 && !strcmp(operand, "K") && d->base[0] == 'V') {
			put_register(d, (ZydisRegister)(ZYDIS_REGISTER_K0 + MASK));
			d->request.evex.zeroing_mask = has_suffix(d, "_Z");
			d->has_mask = true;
			continue;
		}
		if (d->request.operand_count == ZYDIS_ENCODER_MAX_OPERANDS ||
		    !put_operand(d, operand))
			return false;
	}
}

/* LEA_B_IS_D8: the name says which parts the address has. */
static void put_address(struct draft *d)
{
	const bool is_scaled = has_suffix(d, "_IS"), is_indexed = has_suffix(d, "_I") || is_scaled;
	ZydisEncoderOperand *o = next(d);

	*o = (ZydisEncoderOperand){.type = ZYDIS_OPERAND_TYPE_MEMORY, .mem = {.size = 8}};
	if (has_suffix(d, "_B"))
		o->mem.base = x86_general(BASE, 64);
	if (has_suffix(d, "_R"))
		o->mem.base = ZYDIS_REGISTER_RIP;
	if (is_indexed) {
		o->mem.index = x86_general(INDEX, 64);
		o->mem.scale = is_scaled ? 4 : 1;
	}
	if (has_suffix(d, "_D8"))
		o->mem.displacement = 8;
	else if (has_suffix(d, "_D32"))
		o->mem.displacement = 100000;
}

/* Zydis wants a mask after the first operand; k0 masks nothing. */
static void put_no_mask(struct draft *d)
{
	ZydisEncoderRequest *r = &d->request;

	if (d->has_mask || !r->operand_count || r->operand_count == ZYDIS_ENCODER_MAX_OPERANDS)
		return;
	memmove(&r->operands[2], &r->operands[1], (r->operand_count - 1u) * sizeof(r->operands[0]));
	x86_request_register(&r->operands[1], ZYDIS_REGISTER_K0);
	r->operand_count++;
}

/* Whether the bytes are an instruction of this form. */
static bool is_form(const char *form, const uint8_t *code, size_t size)
{
	struct tact_insn insn;

	return x86_decode(&insn, code, size) == (int)size && insn.form != TACT_FORM_NONE &&
	       !strcmp(isa_forms.name(insn.form), form);
}

size_t x86_encode_form(const char *form, bool is_indexed, uint8_t *code)
{
	const char *operands = strstr(form, " (");
	struct draft d = {.base = form,
			  .is_indexed = is_indexed,
			  .address = strstr(form, "R8h") ? LOW_BASE : BASE};
	static const ZydisEncodableEncoding encodings[] = {ZYDIS_ENCODABLE_ENCODING_LEGACY,
							   ZYDIS_ENCODABLE_ENCODING_VEX,
							   ZYDIS_ENCODABLE_ENCODING_EVEX};

	d.base_size = operands ? (size_t)(operands - form) : strlen(form);
	d.request = x86_request(ZYDIS_MNEMONIC_INVALID, 0);
	if (!find_mnemonic(&d) || !put_operands(&d, operands ? operands + 2 : ""))
		return 0;
	if (is_indexed && !d.has_index)
		return 0;
	if (!strncmp(form, "LEA_", 4))
		put_address(&d);
	if (has_suffix(&d, "_LOCK"))
		d.request.prefixes |= ZYDIS_ATTRIB_HAS_LOCK;
	if (has_suffix(&d, "_ER"))
		d.request.evex.rounding = ZYDIS_ROUNDING_MODE_RN;
	if (has_suffix(&d, "_ER") || has_suffix(&d, "_SAE"))
		d.request.evex.sae = ZYAN_TRUE;
	for (size_t i = 0; i < ARRAY_SIZE(encodings); i++) {
		size_t size;

		d.request.allowed_encodings = encodings[i];
		if (encodings[i] == ZYDIS_ENCODABLE_ENCODING_EVEX)
			put_no_mask(&d);
		size = x86_rewrite_encode(&d.request, code);
		if (size && is_form(form, code, size))
			return size;
	}
	return 0;
}
