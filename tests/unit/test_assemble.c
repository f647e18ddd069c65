/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

#include <tact/input.h>

#include "base/base.h"
#include "isa/assemble.h"

static struct tact_input *open_asm(const char *text, enum tact_syntax syntax)
{
	const struct tact_input_options opt = {.size = sizeof(opt), .syntax = syntax};
	struct tact_diag diag = {0};
	struct tact_input *in = NULL;

	if (tact_input_open_memory(&in, text, strlen(text), &opt, &diag) < 0)
		fail_msg("line %u: %s", (unsigned)diag.line, diag.text);
	assert_int_equal(tact_input_get_kind(in), TACT_INPUT_ASM);
	return in;
}

/* Next region: line, name, code in hex. */
static void expect(struct tact_input *in, uint64_t line, const char *name, const char *hex)
{
	struct tact_region region = TACT_REGION_INIT;
	char text[128] = "";
	size_t i;

	assert_int_equal(tact_input_next(in, &region, NULL), 1);
	for (i = 0; i < region.code_size && i < 60; i++)
		sprintf(text + 2 * i, "%02x", region.code[i]);
	assert_string_equal(text, hex);
	assert_string_equal(region.name, name);
	assert_int_equal(region.line, line);
	assert_int_equal(region.address, 0);
}

static void expect_end(struct tact_input *in)
{
	struct tact_region region = TACT_REGION_INIT;

	assert_int_equal(tact_input_next(in, &region, NULL), 0);
	tact_input_close(in);
}

/* There is one region. */
static void expect_region(const char *text, const char *description, uint64_t line, const char *hex)
{
	struct tact_input *in = open_asm(text, TACT_SYNTAX_AUTO);

	assert_string_equal(tact_input_description(in), description);
	expect(in, line, "", hex);
	expect_end(in);
}

static void expect_whole(const char *text, const char *description, const char *hex)
{
	expect_region(text, description, 1, hex);
}

static void expect_fails(const char *text, int status, uint64_t line, const char *message)
{
	struct tact_diag diag = {0};
	struct tact_input *in;

	assert_int_equal(tact_input_open_memory(&in, text, strlen(text), NULL, &diag), status);
	assert_string_equal(diag.text, message);
	assert_int_equal(diag.line, line);
}

static const char att[] = "assembly (AT&T syntax)", intel[] = "assembly (Intel syntax)";

TEST(test_syntax)
{
	expect_whole("add %rbx, %rax\nret\n", att, "4801d8c3");
	expect_whole("add rax, rbx; ret", intel, "4801d8c3");
	expect_whole("ADD RAX, RBX", intel, "4801d8");
	expect_whole("mov rax, qword ptr [rbx]\r\n", intel, "488b03");
	expect_whole("lock add dword ptr [r8+rcx*4], 1", intel, "f04183048801");
	expect_whole("vaddpd zmm1, zmm2, zmm31 # c", intel, "6291ed4858cf");
	expect_whole("nop", att, "90");
	expect_whole("movq $1, (%rax) // comment", att, "48c70001000000");
	expect_whole("add rax, rbx /* a %b $c */; nop", intel, "4801d890");
	expect_whole("movb $'#', %al # x", att, "b023");
	expect_whole("cqo; cdq", att, "489999");
}

TEST(test_syntax_directives)
{
	struct tact_input *in;

	expect_region(".intel_syntax noprefix\nmov eax, 1\n.att_syntax\nmov $1, %eax\n", intel, 2,
		      "b801000000b801000000");
	/* without noprefix, as LLVM understands it */
	expect_region(".intel_syntax # x\nmov eax, ebx\n", intel, 2, "89d8");
	/* in the middle, as inline assembly has it */
	expect_region(
		"mov %eax, %ebx\n.intel_syntax noprefix\nmov eax, [rbx]\n.att_syntax prefix\n", att,
		1, "89c38b03");
	in = open_asm("push 5", TACT_SYNTAX_INTEL);
	expect(in, 1, "", "6a05");
	expect_end(in);
}

TEST(test_errors)
{
	expect_fails("nop\n\nfoo %rax\nbar\n", -TACT_E_FORMAT, 3,
		     "no such instruction: `foo %rax'");
	/* Line markers of inline assembly do not count, nor does anything left out. */
	expect_fails("#APP\n# 77 \"x.c\" 1\n\tnop\n/* a\nb */ nop\n# LLVM-MCA-BEGIN\nfoo\n"
		     "# LLVM-MCA-END\n",
		     -TACT_E_FORMAT, 7, "no such instruction: `foo'");
	expect_fails(".data\n.long 3\n", -TACT_E_FORMAT, 0,
		     "no code: the ELF file has no executable section");
}

/* Texts with markers, and the regions that they name. */
static const struct marked {
	const char *text;
	struct {
		unsigned line;
		const char *name, *hex;
	} regions[2];
} marked[] = {
	{"nop\n# LLVM-MCA-BEGIN foo bar\nadd rax, rbx\n#LLVM-MCA-END foo bar\nnop\n"
	 "## LLVM-MCA-BEGIN\nret\n# LLVM-MCA-END\n# LLVM-MCA-LATENCY 3\n",
	 {{2, "foo bar", "4801d8"}, {6, "", "c3"}}},
	/* overlapping, in the order in which they begin; markers after instructions */
	{"nop # LLVM-MCA-BEGIN a\nret\n// LLVM-MCA-BEGIN b\ncqo # LLVM-MCA-END a\n"
	 "cdq ; LLVM-MCA-END b\nnop\n",
	 {{1, "a", "c34899"}, {3, "b", "489999"}}},
	/* nested, without names */
	{"# LLVM-MCA-BEGIN\nnop\n# LLVM-MCA-BEGIN\nret\n# LLVM-MCA-END\nnop\n"
	 "# LLVM-MCA-END\n",
	 {{1, "", "90c390"}, {3, "", "c3"}}},
	{"/* LLVM-MCA-BEGIN x */ nop; /* LLVM-MCA-END x */ ret\n", {{1, "x", "90"}}},
	{"; LLVM-MCA-BEGIN\r\nnop\r\n; LLVM-MCA-END\r\n", {{1, "", "90"}}},
	{"nop\n# OSACA-BEGIN\nret\n# LLVM-MCA-BEGIN\nnop\n# OSACA-END\n# LLVM-MCA-END\n",
	 {{2, "", "c390"}, {4, "", "90"}}},
	/* A compiler copied the end, or the start, of a region. */
	{"# LLVM-MCA-BEGIN a\nnop\n# LLVM-MCA-END a\nret\n# LLVM-MCA-END a\n", {{1, "a", "90"}}},
	{"# LLVM-MCA-BEGIN a\nnop\n# LLVM-MCA-BEGIN a\nret\n# LLVM-MCA-END a\n", {{3, "a", "c3"}}},
	{"# LLVM-MCA-BEGIN a\nnop\n# LLVM-MCA-END\n# LLVM-MCA-BEGIN a\nret\n# LLVM-MCA-END a\n",
	 {{1, "a", "90"}, {4, "a", "c3"}}},
	/* the bytes of IACA */
	{"nop\nmovl $111, %ebx\n.byte 100,103,144\n.L3: addq $1, %rax\njne .L3\n"
	 "movl $222, %ebx\n.byte 100,103,144\n",
	 {{4, "", "4883c00175fa"}}},
	{"mov ebx, 111\n.byte 0x64, 0x67, 0x90\nadd rax, rbx\nmov ebx, 222\n"
	 ".byte 0x64, 0x67, 0x90\n",
	 {{3, "", "4801d8"}}},
};

TEST(test_markers)
{
	for (size_t i = 0; i < ARRAY_SIZE(marked); i++) {
		struct tact_input *in = open_asm(marked[i].text, TACT_SYNTAX_AUTO);

		for (size_t k = 0; k < 2 && marked[i].regions[k].hex; k++)
			expect(in, marked[i].regions[k].line, marked[i].regions[k].name,
			       marked[i].regions[k].hex);
		expect_end(in);
	}
}

TEST(test_wrong_markers)
{
	/* Without an end, a region has all code that follows, as for llvm-mca. */
	expect_region("nop\n# LLVM-MCA-BEGIN\npause\n", att, 2, "f390");
	expect_fails("nop\n# OSACA-END\n", -TACT_E_FORMAT, 2, "OSACA-END has no BEGIN");
	expect_fails("# LLVM-MCA-BEGIN x\nnop\n# LLVM-MCA-END y\n", -TACT_E_FORMAT, 3,
		     "LLVM-MCA-END y has no BEGIN");
	expect_fails("nop\n# LLVM-MCA-BEGIN x\n# LLVM-MCA-END x\n", -TACT_E_FORMAT, 2,
		     "no code between the markers");
	/* Neither in strings nor as part of a word. */
	expect_whole("nop # LLVM-MCA-BEGINX\n.section .x\n.ascii \"# LLVM-MCA-END\"\n", att, "90");
}

TEST(test_loops)
{
	static const char text[] = "\t.globl f\n\t.type f, @function\nf:\txorl %eax, %eax\n"
				   ".L2:\taddl $1, %eax\n\tcmpl %eax, %edi\n\tjne .L2\n\tret\n";
	const struct tact_input_options opt = {.size = sizeof(opt), .loop = 1};
	struct tact_region region = TACT_REGION_INIT;
	struct tact_input *in;

	in = open_asm(text, TACT_SYNTAX_AUTO);
	assert_int_equal(tact_input_next(in, &region, NULL), 1);
	assert_true(region.is_candidate && region.is_loop);
	assert_string_equal(region.name, "f+0x2");
	assert_string_equal(region.function, "f");
	assert_int_equal(region.line, 4);
	expect_end(in);
	assert_int_equal(tact_input_open_memory(&in, text, strlen(text), &opt, NULL), 0);
	assert_int_equal(tact_input_next(in, &region, NULL), 1);
	assert_false(region.is_candidate);
	expect_end(in);
	/* One loop and nothing else. */
	in = open_asm("x: dec %ecx\njnz x\n", TACT_SYNTAX_AUTO);
	assert_int_equal(tact_input_next(in, &region, NULL), 1);
	assert_true(region.is_loop);
	expect_end(in);
	/* Branches, but no loop. */
	expect_whole("jz 1f; nop; 1: ret", att, "740190c3");
}

static void expect_source(struct tact_input *in, size_t offset, const char *path, uint64_t line)
{
	struct tact_source_line source = TACT_SOURCE_LINE_INIT;

	assert_int_equal(tact_input_source(in, offset, 0, &source), 1);
	assert_string_equal(*path ? strrchr(source.path, '/') : source.path, path);
	assert_string_equal(source.function, "");
	assert_int_equal(source.line, line);
}

TEST(test_compiler_output)
{
	struct tact_input *in = open_asm(
		"\t.file\t\"a.c\"\n\t.text\n\t.p2align 4,,15\n\t.globl\tf\n\t.type\tf, @function\n"
		"f:\n.LFB0:\n\t.cfi_startproc\n\t.file 1 \"a.c\"\n\t.loc 1 2 3\n\tret # "
		"\xc3\xa9\n\t.cfi_endproc\n"
		".LFE0:\n\t.size\tf, .-f\n\t.ident\t\"GCC: (Debian 12) #1\"\n"
		"\t.section\t.note.GNU-stack,\"\",@progbits\n\t.addrsig\n\t.addrsig_sym f\n",
		TACT_SYNTAX_ATT);

	struct tact_region region = TACT_REGION_INIT;

	assert_int_equal(tact_input_next(in, &region, NULL), 1);
	assert_int_equal(region.code_size, 1);
	assert_string_equal(region.source, "a.c:2");
	assert_int_equal(region.line, 0);
	expect_source(in, 0, "/a.c", 2);
	expect_end(in);
}

/* As Compiler Explorer hands it to its tools: without .file and .loc, whose labels (.LVU2) the debug
 * information still names.
 */
TEST(test_lines_taken_out)
{
	static const char text[] =
		"\t.text\nf:\n.Ltext0:\n\n\tnop\n"
		"\t.section\t.debug_info,\"\",@progbits\n\t.long\t.Ldebug_abbrev0\n"
		"\t.uleb128 .LVU2\n\t.text\n\tret\n"
		"\t.section \".debug_loc\"\n\t.uleb128 .LVU7-.LVU2\n"
		"\t.section\t.note.GNU-stack,\"\",@progbits\n";

	struct tact_input *in = open_asm(text, TACT_SYNTAX_AUTO);

	expect(in, 5, "f", "90c3");
	expect_end(in);
}

/* All of a text, whatever branches are in it, with the lines of its instructions. */
TEST(test_whole_text)
{
	static const char text[] = "# for nobody\n1:\tnop\n\tjz 1b\n\n\tret\n";
	const struct tact_input_options opt = {
		.size = sizeof(opt), .syntax = TACT_SYNTAX_ATT, .is_whole = true};
	struct tact_region region = TACT_REGION_INIT;
	struct tact_input *in;
	uint64_t line = 0;

	assert_int_equal(tact_input_open_memory(&in, text, sizeof(text) - 1, &opt, NULL), 0);
	assert_int_equal(tact_input_next(in, &region, NULL), 1);
	assert_int_equal(region.code_size, 4);
	assert_int_equal(tact_input_line(in, 0, &line), 1);
	assert_int_equal(line, 2);
	assert_int_equal(tact_input_line(in, 3, &line), 1);
	assert_int_equal(line, 5);
	assert_int_equal(tact_input_line(in, 4, &line), 0);
	assert_int_equal(tact_input_line(NULL, 0, &line), -TACT_E_INVAL);
	assert_int_equal(tact_input_line(in, 0, NULL), -TACT_E_INVAL);
	expect_end(in);
}

/* The way through a loop that is in several pieces: past lines 5 and 6. */
TEST(test_lines_of_pieces)
{
	static const char text[] = "f:\n1:\tadd $1, %eax\n\ttest $4, %al\n\tjz 2f\n\tnop\n\tnop\n"
				   "2:\tdec %ecx\n\tjnz 1b\n\tret\n";
	struct tact_input_options opt = {.size = sizeof(opt), .path = 2};
	struct tact_source_line source = TACT_SOURCE_LINE_INIT;
	struct tact_region region = TACT_REGION_INIT;
	struct tact_input *in;
	uint64_t line = 0;

	opt.loop = 1;
	assert_int_equal(tact_input_open_memory(&in, text, sizeof(text) - 1, &opt, NULL), 0);
	assert_int_equal(tact_input_source(in, 0, 0, &source), 0);
	assert_int_equal(tact_input_next(in, &region, NULL), 1);
	assert_int_equal(region.code_size, 11);
	expect_source(in, 5, "", 4);
	expect_source(in, 7, "", 7);
	assert_int_equal(tact_input_line(in, 9, &line), 1);
	assert_int_equal(line, 8);
	source.line = 99;
	assert_int_equal(tact_input_source(in, 0, 1, &source), 1);
	assert_int_equal(tact_input_source(in, 11, 0, &source), 0);
	assert_int_equal(tact_input_source(in, SIZE_MAX, 0, &source), 0);
	assert_int_equal(source.line, 99);
	assert_int_equal(tact_input_source(NULL, 0, 0, &source), -TACT_E_INVAL);
	assert_int_equal(tact_input_source(in, 0, 0, NULL), -TACT_E_INVAL);
	source.size = 0;
	assert_int_equal(tact_input_source(in, 0, 0, &source), -TACT_E_INVAL);
	expect_end(in);
}

TEST(test_source)
{
	static const char text[] = "nop # LLVM-MCA-BEGIN\n/* 1\n2 */\n.addrsig\n'\n";
	struct asm_source source;

	assert_int_equal(
		asm_source_create(&source, tact_isa_default(), "", 0, TACT_SYNTAX_AUTO, NULL), 0);
	assert_int_equal(source.n_markers, 0);
	asm_source_destroy(&source);
	assert_int_equal(asm_source_create(&source, tact_isa_default(), text, strlen(text),
					   TACT_SYNTAX_AUTO, NULL),
			 0);
	assert_int_equal(source.n_markers, 1);
	asm_source_destroy(&source);
	assert_int_equal(asm_source_create(&source, tact_isa_default(), text + 6, strlen(text) - 6,
					   TACT_SYNTAX_AUTO, NULL),
			 0);
	assert_int_equal(source.syntax, TACT_SYNTAX_ATT);
	asm_source_destroy(&source);
}

TEST(test_no_assembler)
{
	char *path = strdup(getenv("PATH"));
	struct tact_diag diag = {0};
	struct tact_input *in;

	setenv("PATH", "/nonexistent", 1);
	assert_int_equal(tact_input_open_memory(&in, "nop", 3, NULL, &diag), -TACT_E_NO_TOOL);
	assert_non_null(strstr(diag.text, "binutils"));
	setenv("PATH", path, 1);
	free(path);
}

RUN_TESTS(NULL, NULL)
