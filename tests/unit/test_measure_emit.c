/* SPDX-License-Identifier: MIT
 *
 * The code around a block: it decodes, and does what it should, for every kind of plan.
 */
#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include <Zydis/Zydis.h>

#include "measure/x86/measure_x86.h"
#include "support.h"

static const uint8_t add_rax_rbx[] = {0x48, 0x01, 0xd8};

struct emitted {
	uint8_t *area; /* owned */
	struct measure_layout layout;
	struct measure_plan plan;
};

static int emit_plan(struct emitted *e, const struct measure_plan *plan)
{
	e->area = malloc(MEASURE_CODE_BYTES);
	assert_non_null(e->area);
	memset(e->area, 0xcc, MEASURE_CODE_BYTES);
	memset(&e->layout, 0, sizeof(e->layout));
	e->plan = *plan;
	return measure_x86_emit(e->area, plan, &e->layout);
}

static size_t decode_at(const struct emitted *e, size_t at, ZydisDecodedInstruction *zi,
			ZydisDecodedOperand *ops)
{
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, e->area + at, MEASURE_CODE_BYTES - at,
						 zi, ops)))
		fail_msg("no instruction at offset 0x%zx", at);
	return zi->length;
}

/* What was seen between two places. */
struct seen {
	unsigned rdtsc, rdpmc, lfence, fninit;
	uint64_t loaded[16]; /* immediates of mov r64, imm64; the last one */
	uint16_t is_loaded, from_rax;
	bool reads_memory;
};

static void see(struct seen *s, const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *ops)
{
	ZydisRegister first = zi->operand_count ? ops[0].reg.value : ZYDIS_REGISTER_NONE;

	s->rdtsc += zi->mnemonic == ZYDIS_MNEMONIC_RDTSC;
	s->rdpmc += zi->mnemonic == ZYDIS_MNEMONIC_RDPMC;
	s->lfence += zi->mnemonic == ZYDIS_MNEMONIC_LFENCE;
	s->fninit += zi->mnemonic == ZYDIS_MNEMONIC_FNINIT;
	for (unsigned i = 0; i < zi->operand_count; i++)
		s->reads_memory |= ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY;
	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		if (ops[0].type != ZYDIS_OPERAND_TYPE_REGISTER ||
		    ZydisRegisterGetClass(first) != ZYDIS_REGCLASS_GPR64)
			break;
		if (ops[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
			s->loaded[ZydisRegisterGetId(first)] = ops[1].imm.value.u;
			s->is_loaded |= (uint16_t)(1u << ZydisRegisterGetId(first));
		} else if (ops[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
			   ops[1].reg.value == ZYDIS_REGISTER_RAX) {
			s->from_rax |= (uint16_t)(1u << ZydisRegisterGetId(first));
		}
		break;
	default:
		break;
	}
}

/* Decodes from `at` up to and with the instruction given.  Returns the offset after it. */
static size_t walk(const struct emitted *e, size_t at, ZydisMnemonic until, struct seen *s)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction zi;

	memset(s, 0, sizeof(*s));
	for (unsigned n = 0; n < 1000; n++) {
		at += decode_at(e, at, &zi, ops);
		see(s, &zi, ops);
		if (zi.mnemonic == until)
			return at;
	}
	fail_msg("no end of the code");
	return at;
}

/* What holds for every plan; *entry is what the way in does. */
static void check_layout(const struct emitted *e, struct seen *entry)
{
	const struct measure_layout *l = &e->layout;
	unsigned reads = e->plan.reads_counter ? 0 : 1;
	size_t at, clocks[] = {l->chain_short, l->chain_long, l->canary[0], l->canary[1],
			       l->canary[2]};
	struct seen s;

	for (size_t i = 0; i < ARRAY_SIZE(clocks); i++) {
		assert_int_equal(clocks[i] % 64, 0);
		walk(e, clocks[i], ZYDIS_MNEMONIC_RET, &s);
		assert_int_equal(s.rdtsc, 2);
		assert_int_equal(s.rdpmc, 0);
		assert_int_equal(s.lfence, 4);
	}
	assert_int_equal(l->entry % MEASURE_LINE, 0);
	assert_int_equal(l->body % 64, e->plan.alignment);
	assert_int_equal(l->copy_size, e->plan.size);
	at = walk(e, l->entry, ZYDIS_MNEMONIC_IRETQ, entry);
	assert_int_equal(entry->rdtsc, reads);
	assert_int_equal(entry->rdpmc, 1 - reads);
	assert_true(at <= l->body && l->body - at < 64 + e->plan.alignment);
	while (at < l->body)
		assert_int_equal(e->area[at++], 0x90);
	for (unsigned i = 0; i < e->plan.copies; i++, at += e->plan.size)
		assert_memory_equal(e->area + at, e->plan.code, e->plan.size);
	assert_true(l->end >= at && l->end - at <= 9);
	walk(e, l->end, ZYDIS_MNEMONIC_JMP, &s);
	assert_int_equal(s.rdtsc, reads);
	assert_int_equal(s.rdpmc, 1 - reads);
	assert_int_equal(s.is_loaded, 1 << 1); /* the way out is a constant */
	assert_int_equal(s.loaded[1], MEASURE_LEAVE);
	assert_false(s.reads_memory && !e->plan.reads_counter);
}

TEST(emits_unrolled)
{
	static const unsigned copies[] = {1, 2, 100, 200, 7680};

	for (size_t i = 0; i < ARRAY_SIZE(copies); i++) {
		for (int bits = 0; bits < 32; bits++) {
			const struct measure_plan plan = {
				.code = add_rax_rbx,
				.size = 3,
				.copies = copies[i],
				.alignment = (unsigned)(i * 21) % 64,
				.reads_counter = bits & 1,
				.features = (bits & 2 ? X86_HAS_AVX : 0u) |
					    (bits & 4 ? X86_HAS_AVX512 : 0u),
				.vectors = bits & 16 ? TACT_VECTORS_ZERO : TACT_VECTORS_ORDINARY,
				.init = bits & 8 ? TACT_INIT_STACK : TACT_INIT_SAME,
			};
			struct emitted e;
			struct seen entry;

			assert_int_equal(emit_plan(&e, &plan), 0);
			check_layout(&e, &entry);
			assert_int_equal(e.layout.end, e.layout.body + 3 * copies[i]);
			assert_int_equal(entry.fninit, 1);
			assert_int_equal(entry.is_loaded, 0xffff);
			for (unsigned r = 0; r < 16; r++) {
				uint64_t value = MEASURE_INIT_VALUE;

				if (r == 4)
					value = MEASURE_STAMP_BASE +
						offsetof(struct measure_stamp, frame);
				else if (r == 5 && plan.init == TACT_INIT_STACK)
					value = MEASURE_INIT_FRAME;
				assert_int_equal(entry.loaded[r], value);
			}
			free(e.area);
		}
	}
}

/* The decrement of the counter and the jump after the block. */
static void check_counter(const struct emitted *e)
{
	size_t at = e->layout.body + e->plan.size;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction zi;

	at += decode_at(e, at, &zi, ops);
	assert_int_equal(zi.mnemonic, ZYDIS_MNEMONIC_DEC);
	assert_int_equal(ops[0].reg.value, ZYDIS_REGISTER_RAX + e->plan.counter);
	at += decode_at(e, at, &zi, ops);
	assert_int_equal(zi.mnemonic, ZYDIS_MNEMONIC_JNZ);
	assert_int_equal((int64_t)at + ops[0].imm.value.s, e->layout.body);
	assert_int_equal(at, e->layout.end);
	/* Two bytes reach 128 bytes back from the end of the jump. */
	assert_int_equal(zi.length, e->plan.size + 5 <= 128 ? 2 : 6);
}

TEST(emits_loops)
{
	static const size_t sizes[] = {0, 1, 3, 122, 123, 124, 125, 200, 768};
	uint8_t code[768];

	memset(code, 0x90, sizeof(code));
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (unsigned r = 0; r < 16; r++) {
			const struct measure_plan plan = {
				.code = code,
				.size = sizes[i],
				.copies = 1,
				.loop = true,
				.counter = (uint8_t)r,
				.features = X86_HAS_AVX,
				.init = TACT_INIT_SAME,
			};
			struct emitted e;
			struct seen entry;

			if (r == 4)
				continue;
			assert_int_equal(emit_plan(&e, &plan), 0);
			check_layout(&e, &entry);
			check_counter(&e);
			/* All registers but the counter, which comes from memory; rax on the way.
			 */
			assert_true(entry.from_rax & 1u << r);
			assert_int_equal(entry.is_loaded | 1u << r, 0xffff);
			if (r)
				assert_false(entry.is_loaded & 1u << r);
			free(e.area);
		}
	}
}

/* Nothing is appended to a block that counts and branches itself. */
TEST(emits_own_branch)
{
	static const uint8_t code[] = {0x48, 0xff, 0xc9, 0x75, 0xfb};
	const struct measure_plan plan = {
		.code = code,
		.size = sizeof(code),
		.copies = 1,
		.loop = true,
		.counter = 1,
		.own_branch = true,
		.features = X86_HAS_AVX,
	};
	struct emitted e;
	struct seen entry;

	assert_int_equal(emit_plan(&e, &plan), 0);
	check_layout(&e, &entry);
	assert_int_equal(e.layout.end, e.layout.body + sizeof(code));
	free(e.area);
}

/* After every group, the pointers go back; the low run begins at the start of one. */
TEST(emits_groups)
{
	static const uint8_t back[] = {0x48, 0x8d, 0x7f, 0x80};
	struct measure_plan plan = {
		.code = add_rax_rbx,
		.size = 3,
		.copies = 100,
		.low = 20,
		.high = 100,
		.group = 16,
		.back_size = sizeof(back),
		.features = X86_HAS_AVX,
	};
	struct emitted e;
	size_t at;

	memcpy(plan.back, back, sizeof(back));
	assert_int_equal(emit_plan(&e, &plan), 0);
	at = e.layout.body;
	for (unsigned i = 0; i < plan.copies; i++, at += 3) {
		if (i && i % 16 == 0) {
			assert_memory_equal(e.area + at, back, sizeof(back));
			at += sizeof(back);
		}
		if (i == 80)
			assert_int_equal(e.layout.body_low, at);
		assert_memory_equal(e.area + at, add_rax_rbx, 3);
	}
	assert_int_equal(e.layout.end, at);
	free(e.area);
}

/* Follows the code from `at` as a run does.  Returns how often the block is executed; *backs counts
 * the ways back, each of which must go back by as many iterations as there were before it.
 */
static unsigned follow_loops(const struct emitted *e, size_t at, unsigned count, unsigned *backs)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction zi;
	unsigned counter = count, executed = 0, since = 0;

	*backs = 0;
	while (at != e->layout.end) {
		size_t start = at;

		assert_true(at < e->layout.end && executed < 100000);
		at += decode_at(e, at, &zi, ops);
		switch (zi.mnemonic) {
		case ZYDIS_MNEMONIC_ADD:
			/* at the right place in a line */
			assert_int_equal(start % 64, e->plan.alignment);
			executed++;
			since++;
			break;
		case ZYDIS_MNEMONIC_DEC:
			assert_true(counter > 0);
			counter--;
			break;
		case ZYDIS_MNEMONIC_JNZ:
		case ZYDIS_MNEMONIC_JMP:
			if (counter || zi.mnemonic == ZYDIS_MNEMONIC_JMP)
				at = (size_t)((int64_t)at + ops[0].imm.value.s);
			break;
		case ZYDIS_MNEMONIC_LEA:
			assert_int_equal(ops[1].mem.disp.value, -(int64_t)since);
			since = 0;
			(*backs)++;
			break;
		case ZYDIS_MNEMONIC_MOV:
			assert_int_equal(ops[1].imm.value.u, count);
			counter = count;
			break;
		default:
			assert_int_equal(zi.mnemonic, ZYDIS_MNEMONIC_NOP);
		}
	}
	return executed;
}

TEST(emits_several_loops)
{
	for (unsigned alignment = 0; alignment < 64; alignment += 21) {
		struct measure_plan plan = {
			.code = add_rax_rbx,
			.size = 3,
			.copies = 5,
			.loop = true,
			.counter = 15,
			.low = 20,
			.high = 30,
			.alignment = alignment,
			.features = X86_HAS_AVX,
		};
		struct emitted e;
		unsigned backs;

		plan.back_size = measure_x86_put_move(plan.back, 7, -30);
		assert_int_equal(measure_x86_put_move(plan.back_low, 7, -20), plan.back_size);
		assert_int_equal(emit_plan(&e, &plan), 0);
		assert_int_equal(follow_loops(&e, e.layout.body, 30, &backs), 150);
		assert_int_equal(backs, 4);
		assert_int_equal(follow_loops(&e, e.layout.body_low, 20, &backs), 100);
		assert_int_equal(backs, 4);
		free(e.area);
	}
}

TEST(emits_until_full)
{
	struct measure_plan plan = {
		.code = add_rax_rbx, .size = 3, .copies = MEASURE_CODE_BYTES / 3};
	struct emitted e;

	assert_int_equal(emit_plan(&e, &plan), -TACT_E_LIMIT);
	free(e.area);
	plan.copies = MEASURE_MAX_BODY / 3;
	assert_int_equal(emit_plan(&e, &plan), 0);
	free(e.area);
}

/* What a prediction is made of: the last register that is free counts, near and far. */
TEST(makes_loops)
{
	static const uint8_t near[] = {0x4d, 0x01, 0xff}; /* add r15, r15 */
	static const uint8_t looped[] = {0x4d, 0x01, 0xff, 0x49, 0xff, 0xce, 0x75, 0xf8};
	uint8_t far[200], to[sizeof(far) + TACT_MEASURE_LOOP_BYTES];
	int32_t back;

	assert_int_equal(tact_measure_loop(&isa_x86, to, near, sizeof(near)), sizeof(looped));
	assert_memory_equal(to, looped, sizeof(looped));
	memset(far, 0x90, sizeof(far));
	assert_int_equal(tact_measure_loop(&isa_x86, to, far, sizeof(far)), sizeof(to));
	memcpy(&back, to + sizeof(to) - 4, sizeof(back));
	assert_int_equal(back, -(int32_t)sizeof(to));
	assert_int_equal(measure_free_register(&isa_x86, 0), 15);
	assert_int_equal(measure_free_register(&isa_x86, 0xfff0), 3);
	assert_int_equal(measure_free_register(&isa_x86, 0xffff), -1);
	assert_int_equal(measure_free_register(&isa_x86, 0xffef), -1); /* only rsp */
}

RUN_TESTS(NULL, NULL)
