/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

#include <tact/input.h>

#include "base/base.h"
#include "input/dialect.h"
#include "input/listing.h"
#include "isa/assemble.h"

static struct listing_line parse(const char *text)
{
	struct listing_line line;

	listing_parse_line(&line, text, strlen(text));
	return line;
}

static void expect_code(const char *text, uint64_t address, const char *hex, const char *insn)
{
	const struct listing_line line = parse(text);
	char bytes[2 * LISTING_MAX_BYTES + 1] = "";
	unsigned i;

	for (i = 0; i < line.n_bytes; i++)
		sprintf(bytes + 2 * i, "%02x", line.bytes[i]);
	assert_int_equal(line.kind, *insn ? LISTING_CODE : LISTING_MORE);
	assert_true(line.address == address);
	assert_string_equal(bytes, hex);
	assert_int_equal(line.end - line.text, strlen(insn));
	assert_memory_equal(line.text, insn, strlen(insn));
}

TEST(lines_of_all_programs_are_read)
{
	expect_code("  10:\tf2 0f 10 04 c7       \tmovsd  (%rdi,%rax,8),%xmm0", 0x10, "f20f1004c7",
		    "movsd  (%rdi,%rax,8),%xmm0");
	expect_code("    1088:\t00 ", 0x1088, "00", "");
	expect_code("    11b5:\tjne    11a0 <dot+0x10>", 0x11b5, "", "jne    11a0 <dot+0x10>");
	expect_code("      25: 75 e9                        \tjne\t0x10 <dot+0x10>", 0x25, "75e9",
		    "jne\t0x10 <dot+0x10>");
	expect_code("       3:      \tjle\t0x30 <dot+0x30>", 3, "", "jle\t0x30 <dot+0x30>");
	expect_code("   0x00000000000011a0 <+16>:\tmovsd  (%rdi,%rax,8),%xmm0", 0x11a0, "",
		    "movsd  (%rdi,%rax,8),%xmm0");
	expect_code("=> 0x00000000000011b5 <+37>:\t75 e9              \tjne    0x11a0 <dot+16>",
		    0x11b5, "75e9", "jne    0x11a0 <dot+16>");
	expect_code("   0x1193 <std::vector<int>::f()+3>:\tret", 0x1193, "", "ret");
	expect_code("  100.00 :   107c:   83 e8 01                sub    $0x1,%eax", 0x107c,
		    "83e801", "sub    $0x1,%eax");
	expect_code(" 0.00  3.50 \xe2\x94\x82 107c:   \xe2\x86\x91 jne    1078", 0x107c, "",
		    "jne    1078");
	expect_code("  10:\tret\r", 0x10, "", "ret");
}

TEST(names_are_those_of_functions)
{
	struct listing_line line = parse("0000000000001190 <foo<int>(a, b<c>&)>:");

	assert_int_equal(line.kind, LISTING_HEADER);
	assert_int_equal(line.name_size, strlen("foo<int>(a, b<c>&)"));
	line = parse("         : 5      0000000000001139 <f>:");
	assert_int_equal(line.kind, LISTING_HEADER);
	assert_true(line.address == 0x1139);
	line = parse("Dump of assembler code for function a::b(int):");
	assert_int_equal(line.kind, LISTING_HEADER);
	assert_int_equal(line.name_size, strlen("a::b(int)"));
	line = parse("   0x1190 <dot>:\tret");
	assert_int_equal(line.name_size, 3);
	line = parse("   0x1190 <dot+0x10>:\tret");
	assert_int_equal(line.name_size, 0);
}

TEST(other_lines_are_not_code)
{
	static const char *const lines[] = {
		"",
		"\tdouble s = 0;",
		"k.o:     file format elf64",
		"Disassembly of section .text:",
		"         : 10   s += a[i] * b[i];",
		"\t\t\t51: R_X86_64_PLT32\tstrlen-0x4",
		"11111111111111111: ret", /* 17 digits */
		"10:",
		"\t...",
		"end of assembler dump.",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lines); i++)
		assert_int_equal(parse(lines[i]).kind, LISTING_OTHER);
}

static void expect_listing(const char *text, bool is_listing, bool has_bytes)
{
	struct listing listing;

	assert_int_equal(
		listing_read(&listing, tact_isa_default()->assembler, text, strlen(text), NULL), 0);
	assert_true(listing.is_listing == is_listing);
	assert_true(listing.has_bytes == has_bytes);
	listing_free(&listing);
}

TEST(labels_with_numbers_make_no_listing)
{
	expect_listing("1: add %rax, %rbx\n dec %rcx\n jnz 1b\n", false, false);
	expect_listing("1: dec %rcx\n jnz 1b\n2: dec %rcx\n jnz 2b\n", false, false);
	expect_listing("1: dec %rcx\n", false, false);
	expect_listing(" 0: dec %rcx\n 3: jne 0\n", true, false);
	expect_listing(" 0: 48 ff c9  dec %rcx\n", true, true);
	expect_listing("", false, false);
}

/* The first region of a text. */
static void expect_region(const char *text, uint64_t address, const char *hex, const char *name)
{
	struct tact_region region = TACT_REGION_INIT;
	struct tact_diag diag = {0};
	struct tact_input *in;
	char code[256] = "";
	size_t i;

	assert_int_equal(tact_input_open_memory(&in, text, strlen(text), NULL, &diag), 0);
	assert_int_equal(tact_input_next(in, &region, &diag), 1);
	for (i = 0; i < region.code_size && i < sizeof(code) / 2 - 1; i++)
		sprintf(code + 2 * i, "%02x", region.code[i]);
	assert_string_equal(code, hex);
	assert_string_equal(region.name, name);
	assert_true(region.address == address);
	tact_input_close(in);
}

TEST(bytes_are_taken_where_they_are)
{
	expect_region("0000000000401110 <f>:\n"
		      "  401110:\t31 c0                \txor    %eax,%eax\n"
		      "  401112:\t48 ff c9             \tthis is not read\n"
		      "  401115:\t75 fb                \tjne    401112 <f+0x2>\n"
		      "  401117:\tc3                   \tret\n",
		      0x401112, "48ffc975fb", "f+0x2");
}

TEST(an_instruction_on_two_lines_is_one)
{
	expect_region("    1081:\t66 0f 2f 0d 7f 0f 00 \tcomisd 0xf7f(%rip),%xmm1\n"
		      "    1088:\t00 \n",
		      0x1081, "660f2f0d7f0f0000", "");
}

TEST(jumps_of_a_listing_without_bytes_get_labels)
{
	if (system("as --version >/dev/null 2>&1"))
		skip();
	expect_region("Dump of assembler code for function f:\n"
		      "   0x0000000000401110 <+0>:\txor    %eax,%eax\n"
		      "   0x0000000000401112 <+2>:\tnopl   0x0(%rax,%rax,1)\n"
		      "   0x0000000000401117 <+7>:\tdec    %rcx\n"
		      "   0x000000000040111a <+10>:\tje     0x400000 <g>\n"
		      "   0x0000000000401120 <+16>:\tjne    0x401117 <f+7>\n"
		      "   0x0000000000401126 <+22>:\tret\n"
		      "End of assembler dump.\n",
		      0x401117, "48ffc90f84e0eeffff0f85f1ffffff", "f+0x7");
}

TEST(dumps_by_source_line_are_put_in_order)
{
	static const char text[] = "Dump of assembler code for function f:\n"
				   "1\tx\n"
				   "   0x10 <+2>:\tret\n"
				   "2\ty\n"
				   "   0xe <+0>:\txor %eax,%eax\n"
				   "End of assembler dump.\n";
	struct text out = {0};

	assert_int_equal(listing_put_in_order(&out, text, strlen(text)), 0);
	assert_string_equal(text_string(&out), "Dump of assembler code for function f:\n"
					       "   0xe <+0>:\txor %eax,%eax\n"
					       "   0x10 <+2>:\tret\n");
	text_free(&out);
}

static void expect_dialect(const char *text, enum dialect dialect, const char *converted)
{
	struct text out = {0};

	assert_int_equal(dialect_convert(&out, tact_isa_default()->assembler, text, strlen(text)),
			 dialect);
	assert_string_equal(text_string(&out), converted);
	text_free(&out);
}

TEST(names_of_the_source_are_put_in_quotes)
{
	expect_dialect("f(int, a<b>&):\n", DIALECT_NAMES,
		       ".type \"f(int, a<b>&)\",@function;\"f(int, a<b>&)\":\n");
	expect_dialect("main:\n", DIALECT_NONE, "main:\n");
	expect_dialect("f(int): # @f(int)\n", DIALECT_NAMES,
		       ".type \"f(int)\",@function;\"f(int)\":\n");
	expect_dialect(" call f(int, int)@PLT\n", DIALECT_NAMES, " call \"f(int, int)\"@PLT\n");
	expect_dialect(" call *8(%rax)\n", DIALECT_NONE, " call *8(%rax)\n");
	expect_dialect(" jmp [rax+8*rbx]\n", DIALECT_NONE, " jmp [rax+8*rbx]\n");
	expect_dialect(" jmp QWORD PTR [rax]\n", DIALECT_NONE, " jmp QWORD PTR [rax]\n");
	expect_dialect(" jz 1f; nop; 1: ret\n", DIALECT_NONE, " jz 1f; nop; 1: ret\n");
	expect_dialect(" jne .L3 # or (so)\n", DIALECT_NONE, " jne .L3 # or (so)\n");
	expect_dialect(" call a::{lambda(int)#1}::f() # b\n", DIALECT_NAMES,
		       " call \"a::{lambda(int)#1}::f()\" # b\n");
	expect_dialect(" jne 401123 <f(int)+0x3>\n", DIALECT_NAMES, " jne \"f(int)\"+0x3\n");
	expect_dialect(" mov eax, DWORD PTR f(int, int)::x[rip]\n", DIALECT_NAMES,
		       " mov eax, DWORD PTR \"f(int, int)::x\"[rip]\n");
	expect_dialect(" mov edi, OFFSET FLAT:vtable for A+16\n", DIALECT_NAMES,
		       " mov edi, OFFSET FLAT:\"vtable for A\"+16\n");
	expect_dialect(" mov rdi, qword ptr [rip + std::cout@GOTPCREL]\n", DIALECT_NAMES,
		       " mov rdi, qword ptr [rip + \"std::cout\"@GOTPCREL]\n");
	expect_dialect(" movl a::b(%rip), %eax\n", DIALECT_NAMES, " movl \"a::b\"(%rip), %eax\n");
	expect_dialect(" .string \"a::b for c\"\n", DIALECT_NONE, " .string \"a::b for c\"\n");
}

TEST(columns_of_perf_are_left_out)
{
	expect_dialect("Percent\n"
		       "            0000000000001050 <main>:\n"
		       "            for (;;)\n"
		       "        28:   addsd  %xmm0,%xmm1\n"
		       "100.00        sub    $0x1,%eax\n"
		       "            \xe2\x86\x91 jne    28     \n",
		       DIALECT_PERF,
		       "\n.type \"main\",@function;\"main\":\n\n"
		       ".Ltact_perf_28: addsd  %xmm0,%xmm1\n"
		       "sub    $0x1,%eax\n"
		       "jne    .Ltact_perf_28\n");
}

RUN_TESTS(NULL, NULL)
