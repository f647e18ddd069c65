/* SPDX-License-Identifier: MIT
 *
 * Small blocks whose bounds can be worked out by hand.
 */
#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include "support.h"

#define NOPS_7	"90909090909090"
#define NOPS_28 NOPS_7 NOPS_7 NOPS_7 NOPS_7

enum { ANY = -1 }; /* a bound that a row does not talk about */

enum {
	PREDEC = TACT_BOUND_PREDECODE,
	DEC = TACT_BOUND_DECODE,
	DSB = TACT_BOUND_DSB,
	LSD = TACT_BOUND_LSD,
	ISSUE = TACT_BOUND_ISSUE,
	PORTS = TACT_BOUND_PORTS,
	PREC = TACT_BOUND_PRECEDENCE
};

struct setting {
	const char *arch;
	enum tact_mode mode;
	enum tact_init init;
	unsigned alignment;
	bool paper;
};

static struct tact_block *load(const struct setting *s, const char *hex)
{
	const struct tact_block_options opt = {
		.size = sizeof(opt),
		.mode = s->mode,
		.init = s->init,
		.alignment = s->alignment,
		.paper = s->paper,
	};
	uint8_t code[512];
	struct tact_diag diag;
	struct tact_block *block;

	assert_int_equal(tact_block_create(&block, tact_arch_find(s->arch), &opt, &diag), 0);
	if (tact_block_load(block, code, bytes_of(code, sizeof(code), hex), &diag) < 0)
		fail_msg("%s: %s", hex, diag.text);
	return block;
}

static struct tact_prediction predict(const struct setting *s, const char *hex)
{
	struct tact_block *block = load(s, hex);
	struct tact_prediction p = TACT_PREDICTION_INIT;

	assert_int_equal(tact_predict(block, NULL, &p), 0);
	tact_block_destroy(block);
	return p;
}

static void expect(const struct setting *s, const char *hex, const struct tact_prediction *p,
		   unsigned bound, double cycles)
{
	if (!(p->applies >> bound & 1))
		fail_msg("%s on %s: %s does not apply", hex, s->arch, tact_bound_name(bound));
	if (p->bound[bound] < cycles - 1e-6 || p->bound[bound] > cycles + 1e-6)
		fail_msg("%s on %s: %s is %.4f, not %.4f", hex, s->arch, tact_bound_name(bound),
			 p->bound[bound], cycles);
}

struct row {
	const char *arch, *hex;
	double predec, dec, issue, ports, prec; /* ANY: not compared */
};

static void check_rows(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct row *r = &rows[i];
		const struct setting s = {r->arch, TACT_MODE_UNROLL, TACT_INIT_STACK, 0, false};
		struct tact_prediction p = predict(&s, r->hex);
		const double bound[][2] = {{PREDEC, r->predec},
					   {DEC, r->dec},
					   {ISSUE, r->issue},
					   {PORTS, r->ports},
					   {PREC, r->prec}};

		for (size_t k = 0; k < ARRAY_SIZE(bound); k++)
			if (bound[k][1] >= 0)
				expect(&s, r->hex, &p, (unsigned)bound[k][0], bound[k][1]);
	}
}

TEST(unrolled_blocks)
{
	static const struct row rows[] = {
		/* add rax, rbx: 3 bytes.  16 copies fill three 16-byte blocks, in which end 5, 5
		 * and 6 instructions; in the second one a sixth has its opcode.  At 5 a cycle that
		 * is 1 + 2 + 2 cycles for 16 copies.  4 decoders; HSW keeps a macro-fusible
		 * instruction off the last one, which leaves 3.  One uop for p0156.  A chain of one
		 * cycle.
		 */
		{"SKL", "4801d8", 5 / 16., 1 / 4., 1 / 4., 1 / 4., 1},
		{"HSW", "4801d8", 5 / 16., 1 / 3., 1 / 4., 1 / 4., 1},
		{"ICL", "4801d8", 5 / 16., 1 / 4., 1 / 5., 1 / 4., 1},
		/* xor eax, eax: 8 of 2 bytes a block take 2 cycles; no port, no chain: a zero
		   idiom. */
		{"SKL", "31c0", 1 / 4., 1 / 4., 1 / 4., 0, 0},
		{"ICL", "31c0", 1 / 4., 1 / 4., 1 / 5., 0, 0},
		/* imul rax, rbx: 3 cycles on port 1. */
		{"SKL", "480fafc3", 1 / 4., 1 / 4., 1 / 4., 1, 3},
		{"HSW", "480fafc3", 1 / 4., 1 / 4., 1 / 4., 1, 3},
		/* add rax,[rsi]; add rbx,[rdi]; add rcx,[r8]: micro-fused, 3 of 4 a cycle; 3 loads
		 * on two ports; each register is its own chain of one cycle.
		 */
		{"SKL", "480306 48031f 490308", ANY, 3 / 4., 3 / 4., 3 / 2., 1},
		{"ICL", "480306 48031f 490308", ANY, 3 / 4., 3 / 5., 3 / 2., 1},
		/* 5 nops: ports are not used at all, everything else is 5 over its width; 16 copies
		 * are 80 bytes, of each 16-byte block ceil(16 / 5) = 4 cycles: 5 * 4 / 16.
		 */
		{"SKL", "9090909090", 5 / 4., 5 / 4., 5 / 4., 0, 0},
		{"ICL", "9090909090", 5 / 4., 5 / 4., 1, 0, 0},
		/* adc al, 5: two uops, so the complex decoder every time: a cycle each; al waits
		 * for al and the carry: 2 cycles by the table.
		 */
		{"SKL", "1405", 1 / 4., 1, 2 / 4., ANY, 2},
		/* mov [rax], rbx: store address and store data; the data port takes one a cycle. */
		{"SKL", "488918", ANY, 1 / 4., 1 / 4., 1, 0},
		{"SNB", "488918", ANY, 1 / 4., 1 / 4., 1, 0},
		/* pxor xmm0, xmm1; a vector chain of 1 on p015 */
		{"SKL", "660fefc1", ANY, 1 / 4., 1 / 4., 1 / 3., 1},
		/* addps: 4 cycles on SKL and ICL, 3 on HSW (port 1) */
		{"SKL", "0f58c1", ANY, 1 / 4., 1 / 4., 1 / 2., 4},
		{"HSW", "0f58c1", ANY, 1 / 4., 1 / 4., 1, 3},
		{"ICL", "0f58c1", ANY, 1 / 4., 1 / 5., 1 / 2., 4},
	};

	check_rows(rows, ARRAY_SIZE(rows));
}

/* A length-changing prefix costs three cycles: four of add ax, 0x1234 (4 bytes) in a block need
 * 1 cycle, and 3 * 4 more, less what the block before hides: 1 - 1 = 0.
 */
TEST(length_changing_prefix)
{
	static const struct row rows[] = {
		{"SKL", "66053412", 13 / 4., 1 / 4., 1 / 4., 1 / 4., 1},
		{"HSW", "66053412", 13 / 4., ANY, 1 / 4., 1 / 4., 1},
		/* an 8-bit immediate (add cx, 1) causes none */
		{"SKL", "6683c101", 1 / 4., 1 / 4., 1 / 4., 1 / 4., 1},
	};

	check_rows(rows, ARRAY_SIZE(rows));
}

/* dec rcx; jnz: one fused uop. */
TEST(smallest_loop)
{
	const struct setting skl = {"SKL", TACT_MODE_AUTO, 0, 0, true};
	const struct setting hsw = {"HSW", TACT_MODE_AUTO, 0, 0, true};
	const struct setting icl = {"ICL", TACT_MODE_AUTO, 0, 0, true};
	const char *hex = "48ffc9 75fb";
	struct tact_prediction p = predict(&skl, hex);

	assert_int_equal(p.mode, TACT_MODE_LOOP);
	/* Within one 32-byte window the DSB delivers an iteration a cycle: ceil(1 / 6). */
	expect(&skl, hex, &p, DSB, 1);
	expect(&skl, hex, &p, ISSUE, 1 / 4.);
	expect(&skl, hex, &p, PORTS, 1); /* the pair goes to port 6 */
	expect(&skl, hex, &p, PREC, 1);
	assert_int_equal(p.applies, 1u << DSB | 1u << ISSUE | 1u << PORTS | 1u << PREC);
	assert_int_equal(p.bottlenecks, 1u << DSB | 1u << PORTS | 1u << PREC);
	/* The LSD of HSW holds 8 copies: ceil(8 / 4) / 8; that of ICL 6: ceil(6 / 5) / 6. */
	p = predict(&hsw, hex);
	expect(&hsw, hex, &p, LSD, 1 / 4.);
	assert_false(p.applies >> DSB & 1);
	p = predict(&icl, hex);
	expect(&icl, hex, &p, LSD, 1 / 3.);
}

/* 28 nops, dec ecx, jnz: 32 bytes, so that the pair ends on a 32-byte boundary. */
/* As many instructions as a block may have, too many for the DSB: the predecoder counts them all. */
TEST(longest_loop)
{
	const struct tact_block_options opt = {.size = sizeof(opt), .mode = TACT_MODE_LOOP};
	struct tact_prediction p = TACT_PREDICTION_INIT;
	uint8_t *code = malloc(TACT_BLOCK_MAX_BYTES);
	struct tact_block *block;

	assert_non_null(code);
	memset(code, 0x90, TACT_BLOCK_MAX_BYTES);
	assert_int_equal(tact_block_create(&block, tact_arch_find("SKL"), &opt, NULL), 0);
	assert_int_equal(tact_block_load(block, code, TACT_BLOCK_MAX_BYTES, NULL), 0);
	assert_int_equal(tact_predict(block, NULL, &p), 0);
	/* 16 nops in 16 bytes: ceil(16 / 5) = 4 cycles */
	assert_true(p.bound[TACT_BOUND_PREDECODE] == TACT_BLOCK_MAX_BYTES / 16 * 4);
	tact_block_destroy(block);
	free(code);
}

TEST(jcc_erratum)
{
	const char *hex = NOPS_28 "ffc9 75e0";
	struct setting s = {"SKL", TACT_MODE_AUTO, 0, 0, true};
	struct tact_prediction p = predict(&s, hex);

	/* Not in the DSB: 16 and 12 + 2 instructions in two blocks are 4 + 3 cycles of predecoding,
	 * 29 instructions by fours 8 cycles of decoding.
	 */
	expect(&s, hex, &p, PREDEC, 7);
	expect(&s, hex, &p, DEC, 8);
	assert_false(p.applies >> DSB & 1);
	/* Elsewhere in its window it is: 29 uops, and not in one window, so 29 / 6 without
	 * rounding. */
	s.alignment = 8;
	p = predict(&s, hex);
	expect(&s, hex, &p, DSB, 29 / 6.);
	assert_false(p.applies >> PREDEC & 1);
	/* Across the boundary it is not. */
	for (s.alignment = 1; s.alignment < 4; s.alignment++) {
		p = predict(&s, hex);
		assert_true(p.applies >> PREDEC & 1);
	}
	s.alignment = 4; /* starts on it */
	p = predict(&s, hex);
	assert_true(p.applies >> DSB & 1);
	/* Other cores do not mind.  29 uops: no second copy in HSW's LSD, ceil(29 / 4); two in
	 * ICL's, ceil(58 / 5) / 2.
	 */
	s = (struct setting){"HSW", TACT_MODE_AUTO, 0, 0, true};
	p = predict(&s, hex);
	expect(&s, hex, &p, LSD, 8);
	s.arch = "ICL";
	p = predict(&s, hex);
	expect(&s, hex, &p, LSD, 6);
}

/* ---- notes ---- */

static unsigned notes_of(const struct setting *s, const char *hex, size_t i)
{
	struct tact_insn_cost cost = {.size = sizeof(cost)};
	struct tact_block *block = load(s, hex);

	assert_int_equal(tact_block_cost(block, i, &cost), 0);
	tact_block_destroy(block);
	return cost.notes;
}

/* Which pairs fuse: Intel optimization manual, table "macro-fusible instructions". */
TEST(macro_fusion)
{
	static const struct {
		const char *hex;
		bool fuses;
	} rows[] = {
		{"4839d8 7400", true},	/* cmp rax, rbx; jz */
		{"4839d8 7200", true},	/* jb */
		{"4839d8 7c00", true},	/* jl */
		{"4839d8 7000", false}, /* jo */
		{"4839d8 7800", false}, /* js */
		{"4839d8 7a00", false}, /* jp */
		{"4885c0 7000", true},	/* test fuses with all of them */
		{"4885c0 7800", true},	   {"4885c0 7a00", true},
		{"4821d8 7800", true}, /* and as well */
		{"4801d8 7400", true}, /* add, sub as cmp */
		{"4801d8 7800", false},	   {"4829d8 7200", true},
		{"48ffc0 7400", true}, /* inc, dec: zero and sign, not the carry */
		{"48ffc8 7c00", true},	   {"48ffc0 7200", false},
		{"48ffc8 7700", false},	   {"4831d8 7400", false}, /* xor, or, adc never */
		{"4809d8 7400", false},	   {"4811d8 7400", false},
		{"483b03 7400", true},	   /* cmp rax, [rbx] */
		{"48391b 7400", true},	   /* cmp [rbx], rbx */
		{"48833b01 7400", false},  /* cmp qword [rbx], 1: memory and immediate */
		{"48011b 7400", false},	   /* add [rbx], rbx: writes memory */
		{"4839d8 90 7400", false}, /* something between */
		{"4839d8 eb00", false},	   /* jmp */
		{"4839d8 e300", false},	   /* jrcxz, loop: not flags */
		{"4839d8 e200", false},	   {"48c1e002 7400", false}, /* shl */
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct setting s = {"SKL", TACT_MODE_UNROLL, 0, 0, false};

		if (!!(notes_of(&s, rows[i].hex, 0) & TACT_NOTE_FUSED_NEXT) != rows[i].fuses)
			fail_msg("%s: fuses %s", rows[i].hex,
				 rows[i].fuses ? "not" : "all the same");
		if (!!(notes_of(&s, rows[i].hex, 1) & TACT_NOTE_FUSED_PREV) != rows[i].fuses)
			fail_msg("%s: the second one says otherwise", rows[i].hex);
	}
}

/* The jump may not start a cache line. */
TEST(no_fusion_over_a_cache_line)
{
	struct setting s = {"SKL", TACT_MODE_UNROLL, 0, 0, false};

	for (s.alignment = 0; s.alignment < 64; s.alignment++) {
		bool fused = notes_of(&s, "4839d8 7400", 0) & TACT_NOTE_FUSED_NEXT;

		assert_int_equal(fused, s.alignment != 61);
	}
}

TEST(notes)
{
	static const struct {
		const char *arch, *hex;
		unsigned mask, notes;
	} rows[] = {
		/* zero idioms, and what only looks like one */
		{"SKL", "31c0", TACT_NOTE_IDIOM, TACT_NOTE_IDIOM},
		{"SNB", "31c0", TACT_NOTE_IDIOM, TACT_NOTE_IDIOM},
		{"SKL", "29c0", TACT_NOTE_IDIOM, TACT_NOTE_IDIOM},
		{"SKL", "660fefc0", TACT_NOTE_IDIOM, TACT_NOTE_IDIOM},
		{"HSW", "c5e857d2", TACT_NOTE_IDIOM, TACT_NOTE_IDIOM},
		{"SKL", "31d8", TACT_NOTE_IDIOM, 0},
		{"SKL", "21c0", TACT_NOTE_IDIOM, 0},
		{"SKL", "660fefc1", TACT_NOTE_IDIOM, 0},
		/* moves that the renamer executes; not on SNB, and general ones not on ICL */
		{"SKL", "4889d8", TACT_NOTE_ELIMINATED, TACT_NOTE_ELIMINATED},
		{"IVB", "4889d8", TACT_NOTE_ELIMINATED, TACT_NOTE_ELIMINATED},
		{"SNB", "4889d8", TACT_NOTE_ELIMINATED, 0},
		{"ICL", "4889d8", TACT_NOTE_ELIMINATED, 0},
		{"ICL", "0f28c1", TACT_NOTE_ELIMINATED, TACT_NOTE_ELIMINATED},
		{"SKL", "0f28c1", TACT_NOTE_ELIMINATED, TACT_NOTE_ELIMINATED},
		{"SKL", "6689d8", TACT_NOTE_ELIMINATED, 0}, /* 16 bits are merged */
		{"SKL", "488b03", TACT_NOTE_ELIMINATED, 0}, /* a load */
		/* length-changing prefix */
		{"SKL", "66053412", TACT_NOTE_LCP, TACT_NOTE_LCP},
		{"SKL", "6683c101", TACT_NOTE_LCP, 0},
		/* microcode and the complex decoder */
		{"SKL", "0fa2", TACT_NOTE_MICROCODED, TACT_NOTE_MICROCODED},
		{"SKL", "4893", TACT_NOTE_COMPLEX, TACT_NOTE_COMPLEX},
		{"SKL", "4801d8", TACT_NOTE_COMPLEX | TACT_NOTE_MICROCODED, 0},
		/* no data: x87 */
		{"SKL", "dbe0", TACT_NOTE_UNKNOWN, TACT_NOTE_UNKNOWN},
		{"SKL", "4801d8", TACT_NOTE_UNKNOWN, 0},
		/* AVX-512 where there is none */
		{"SKL", "62f1744858c2", TACT_NOTE_UNKNOWN, TACT_NOTE_UNKNOWN},
		{"SKX", "62f1744858c2", TACT_NOTE_UNKNOWN, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct setting s = {rows[i].arch, TACT_MODE_UNROLL, 0, 0, false};
		unsigned found = notes_of(&s, rows[i].hex, 0);

		if ((found & rows[i].mask) != rows[i].notes)
			fail_msg("%s on %s: notes %x", rows[i].hex, rows[i].arch, found);
	}
}

/* add rax, [rbx+rcx]: SNB and IVB unlaminate it, HSW and later keep it as one. */
TEST(unlamination)
{
	const char *hex = "48033c0b";
	struct setting s = {"SNB", TACT_MODE_UNROLL, 0, 0, false};
	struct tact_prediction p = predict(&s, hex);

	expect(&s, hex, &p, ISSUE, 2 / 4.);
	assert_true(notes_of(&s, hex, 0) & TACT_NOTE_UNLAMINATED);
	s.arch = "SKL";
	p = predict(&s, hex);
	expect(&s, hex, &p, ISSUE, 1 / 4.);
	assert_false(notes_of(&s, hex, 0) & TACT_NOTE_UNLAMINATED);
}

/* mov rax, rbx; mov rbx, rax is a ring of moves that cost nothing where they are eliminated. */
TEST(eliminated_moves_take_no_time)
{
	struct setting s = {"SKL", TACT_MODE_UNROLL, 0, 0, false};
	struct tact_prediction p = predict(&s, "4889d8 4889c3");

	expect(&s, "moves", &p, PREC, 0);
	expect(&s, "moves", &p, PORTS, 0);
	s.arch = "SNB";
	p = predict(&s, "4889d8 4889c3");
	expect(&s, "moves", &p, PREC, 2);
	expect(&s, "moves", &p, PORTS, 2 / 3.);
}

/* ---- memory dependence ---- */

/* Whether the load waits for the store: it makes the chain longer than nothing. */
TEST(memory_dependence)
{
	static const struct {
		const char *hex;
		bool stack, same, diff;
	} rows[] = {
		{"488908 488b08", true, true, true},		/* mov [rax], rcx; mov rcx, [rax] */
		{"488908 488b0b", true, true, false},		/* mov rcx, [rbx] */
		{"48890c24 488b0b", false, true, false},	/* mov [rsp], rcx; mov rcx, [rbx] */
		{"48894d00 488b0c24", false, true, false},	/* mov [rbp], rcx; mov rcx, [rsp] */
		{"488908 488b4808", false, false, false},	/* [rax], [rax+8] */
		{"488908 4883c008 488b48f8", true, true, true}, /* add rax, 8 between: [rax-8] */
		{"48890c98 488b0c98", true, true, true},	/* mov [rax+4*rbx], rcx; and back */
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const bool wanted[] = {rows[i].stack, rows[i].same, rows[i].diff};

		for (int init = TACT_INIT_STACK; init <= (int)TACT_INIT_DIFF; init++) {
			const struct setting s = {"SKL", TACT_MODE_UNROLL, (enum tact_init)init, 0,
						  true};
			struct tact_prediction p = predict(&s, rows[i].hex);
			/* The pointer that advances is a chain of one cycle of its own. */
			bool waits = p.bound[PREC] > 1.5;

			if (waits != wanted[init])
				fail_msg("%s, init %d: %.2f cycles", rows[i].hex, init,
					 p.bound[PREC]);
		}
	}
}

TEST(modes)
{
	static const struct {
		const char *hex;
		enum tact_mode mode;
	} rows[] = {
		{"48ffc9 75fb", TACT_MODE_LOOP},
		{"48ffc9 0f85f7ffffff", TACT_MODE_LOOP}, /* a long jump: 3 + 6 bytes back */
		{"48ffc9 ebfb", TACT_MODE_LOOP},	 /* without a condition */
		{"48ffc9 75fc", TACT_MODE_UNROLL},	 /* elsewhere */
		{"48ffc9 7500", TACT_MODE_UNROLL},
		{"48ffc9", TACT_MODE_UNROLL},
		{"48ffc9 e8f8ffffff", TACT_MODE_UNROLL}, /* a call to the start is not a loop */
		{"48ffc9 ffe0", TACT_MODE_UNROLL},	 /* cannot be known */
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct setting s = {"SKL", TACT_MODE_AUTO, 0, 0, false};

		assert_int_equal(predict(&s, rows[i].hex).mode, rows[i].mode);
		s.mode = TACT_MODE_LOOP;
		assert_int_equal(predict(&s, rows[i].hex).mode, TACT_MODE_LOOP);
		s.mode = TACT_MODE_UNROLL;
		assert_int_equal(predict(&s, rows[i].hex).mode, TACT_MODE_UNROLL);
	}
}

/* What the papers measured on Haswell, unrolled, and how near the issue wants us. */
TEST(known_answers)
{
	static const struct {
		const char *hex;
		double low, high;
	} rows[] = {
		{"31d2 f7f1 85d2", 21.62 * 0.9, 21.62 * 1.1},
		{"c5e857d2", 0.25, 0.25},
		{"53 4585c0", 1, 1.02},
		{"4531ed", 0.25, 0.3125},
		{"01442410", 5.97 * 0.9, 5.97 * 1.1},
		{"48339840420f00 4889d8 483301", 7.23 * 0.9, 7.23 * 1.1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct setting s = {"HSW", TACT_MODE_UNROLL, 0, 0, false};
		double cycles = predict(&s, rows[i].hex).cycles_per_iteration;

		if (cycles < rows[i].low || cycles > rows[i].high)
			fail_msg("%s: %.2f", rows[i].hex, cycles);
	}
}

/* The instruction counts as one uop without a port, and the result reports it. */
TEST(unknown_instructions_lower_the_coverage)
{
	const struct setting s = {"SKL", TACT_MODE_UNROLL, 0, 0, false};
	struct tact_prediction p = predict(&s, "4801d8 dbe0");

	assert_true(p.coverage > 0.49 && p.coverage < 0.51);
	expect(&s, "add, fadd", &p, ISSUE, 2 / 4.);
	assert_true(predict(&s, "4801d8").coverage == 1);
}

/* SimplePredec: length / 16; SimpleDec: max(n / decoders, complex ones). */
TEST(simple_variants)
{
	const struct setting s = {"SKL", TACT_MODE_UNROLL, 0, 0, true};
	struct tact_predict_options opt = {
		.size = sizeof(opt), .simple_predecoder = true, .simple_decoder = true};
	struct tact_block *block = load(&s, "4801d8 1405 1405 90"); /* add; adc; adc; nop */
	struct tact_prediction p = TACT_PREDICTION_INIT;

	assert_int_equal(tact_predict(block, &opt, &p), 0);
	expect(&s, "simple", &p, PREDEC, 8 / 16.);
	expect(&s, "simple", &p, DEC, 2);
	tact_block_destroy(block);
}

RUN_TESTS(NULL, NULL)
