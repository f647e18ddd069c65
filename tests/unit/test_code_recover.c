/* SPDX-License-Identifier: MIT
 *
 * Blocks and functions of files with few symbols.
 */
#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include "code/code.h"
#include "support.h"

/* A file with code and nothing else but symbols; its functions are one gap. */
struct file {
	Elf64_Ehdr header;
	uint8_t code[128];
	struct obj_section section;
	struct obj_symbol symbols[2];
	struct obj_file obj;
};

static void make(struct file *f, const char *hex)
{
	memset(f, 0, sizeof(*f));
	f->section = (struct obj_section){.name = ".text", .data = f->code, .address = 0x1000};
	f->section.size = bytes_of(f->code, sizeof(f->code), hex);
	f->obj = (struct obj_file){.isa = tact_isa_default(),
				   .type = OBJ_EXECUTABLE,
				   .image = (const uint8_t *)&f->header,
				   .image_size = sizeof(f->header),
				   .sections = &f->section,
				   .n_sections = 1,
				   .symbols = f->symbols};
}

static void add_symbol(struct file *f, size_t offset)
{
	f->symbols[f->obj.n_symbols++] = (struct obj_symbol){.name = "f", .offset = offset};
}

static int show_block(void *self, size_t section, const struct code_block *b)
{
	char *text = self;

	assert_int_equal(section, 0);
	snprintf(text + strlen(text), 256 - strlen(text), "%s%u-%u:%u", *text ? " " : "", b->begin,
		 b->end, b->n_insns);
	return 0;
}

static void expect_blocks(const struct file *f, const char *expected, uint64_t n_bad)
{
	char text[256] = "";
	uint64_t bad;

	assert_int_equal(code_recover_blocks(&f->obj, show_block, text, &bad), 0);
	assert_string_equal(text, expected);
	assert_int_equal(bad, n_bad);
}

TEST(test_descent)
{
	static const struct {
		const char *hex;
		bool has_symbol; /* at its beginning */
		const char *blocks;
		unsigned bad;
	} cases[] = {
		{"", false, "", 0},
		/* Nothing marks its start: the gaps are tried, padding is skipped. */
		{"cc 00 00 0f 1f 00 66 90 90 31 c0 c3 cc cc", false, "9-12:2", 0},
		/* Data after a jump is skipped if it is known where code continues. */
		{"eb 01 06 90 c3", true, "0-2:1 3-5:2", 1},
		/* A jump into the middle of an instruction: both readings are blocks. */
		{"75 01 b8 31 c0 c3 90 c3", true, "0-2:1 2-8:2 3-6:2", 0},
		/* Calls end a block, and lead to another. */
		{"e8 01 00 00 00 c3 90 c3", true, "0-5:1 5-6:1 6-8:2", 0},
		/* Code that runs into bytes that are not an instruction is not a block. */
		{"90 90 06 c3", true, "3-4:1", 1},
		/* Cut short. */
		{"90 e9 00 00", true, "", 1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct file f;

		make(&f, cases[i].hex);
		if (cases[i].has_symbol)
			add_symbol(&f, 0);
		expect_blocks(&f, cases[i].blocks, cases[i].bad);
	}
}

/* The entry is an address; an object file has none, and its targets wait for the linker. */
TEST(test_entry)
{
	struct file f;

	make(&f, "06 31 c0 c3");
	f.header.e_entry = 0x1001;
	expect_blocks(&f, "1-4:2", 1);
	make(&f, "e9 00 00 00 00 06");
	add_symbol(&f, 0);
	expect_blocks(&f, "0-5:1", 1);
	f.obj.type = OBJ_RELOCATABLE;
	expect_blocks(&f, "0-5:1", 1);
	/* A symbol past the end, and a target outside of all sections. */
	make(&f, "eb 70");
	add_symbol(&f, 0);
	add_symbol(&f, 2);
	expect_blocks(&f, "0-2:1", 0);
}

static int stop(void *self, size_t section, const struct code_block *block)
{
	(void)section;
	(void)block;
	return --*(int *)self ? 0 : -TACT_E_IO;
}

TEST(test_stop)
{
	struct file f;
	uint64_t bad;
	int left = 2;

	make(&f, "c3 c3 c3");
	assert_int_equal(code_recover_blocks(&f.obj, stop, &left, &bad), -TACT_E_IO);
	assert_int_equal(left, 0);
}

static void expect_functions(struct file *f, const char *name, enum obj_type type,
			     const char *expected)
{
	char text[256] = "";

	f->obj.type = type;
	f->obj.functions = calloc(1, sizeof(*f->obj.functions));
	f->obj.functions[0] = (struct obj_function){name, {0, 0, f->section.size}};
	f->obj.n_functions = f->obj.functions_capacity = 1;
	assert_int_equal(code_cut_functions(&f->obj), 0);
	for (size_t i = 0; i < f->obj.n_functions; i++) {
		const struct obj_range *r = &f->obj.functions[i].range;

		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%zu-%zu",
			 i ? " " : "", r->begin, r->end);
	}
	assert_string_equal(text, expected);
	free(f->obj.functions);
}

/* Without unwind information: cut where it calls itself, and nowhere else. */
TEST(test_functions)
{
	struct file f;

	make(&f, "e8 03 00 00 00 c3 90 90 c3 e8 f1 ff ff ff eb f6 e8 70 00 00 00");
	expect_functions(&f, "", OBJ_EXECUTABLE, "0-8 8-21");
	expect_functions(&f, "", OBJ_RELOCATABLE, "0-21");
	expect_functions(&f, "main", OBJ_EXECUTABLE, "0-21");
	make(&f, "06 06");
	expect_functions(&f, "", OBJ_SHARED, "0-2");
}

static void expect_labelled(struct file *f, enum obj_type type, const char *name,
			    const char *expected)
{
	char text[256] = "";

	f->obj.type = type;
	f->obj.functions = calloc(1, sizeof(*f->obj.functions));
	f->obj.functions[0] = (struct obj_function){name, {0, 0, f->section.size}};
	f->obj.n_functions = f->obj.functions_capacity = 1;
	assert_int_equal(code_cut_labels(&f->obj), 0);
	for (size_t i = 0; i < f->obj.n_functions; i++) {
		const struct obj_function *fn = &f->obj.functions[i];

		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s%s%zu-%zu",
			 i ? " " : "", fn->name, *fn->name ? ":" : "", fn->range.begin,
			 fn->range.end);
	}
	assert_string_equal(text, expected);
	free(f->obj.functions);
}

/* Functions that only labels name: cut behind what does not go on, unless a jump leads across. */
TEST(test_labels)
{
	struct obj_symbol labels[] = {{.name = "f"}, {.name = "g", .offset = 6}};
	struct file f;

	/* inc; ret; 2 nops; inc; ret; ret */
	make(&f, "ff c0 c3 90 66 90 ff c0 c3 c3");
	f.obj.symbols = labels;
	f.obj.n_symbols = 2;
	expect_labelled(&f, OBJ_RELOCATABLE, "", "f:0-3 3-6 g:6-9 9-10");
	expect_labelled(&f, OBJ_EXECUTABLE, "", "f:0-3 3-6 g:6-10");
	expect_labelled(&f, OBJ_RELOCATABLE, "f", "f:0-3 3-6 g:6-10");
	labels[0].size = 10;
	expect_labelled(&f, OBJ_RELOCATABLE, "f", "f:0-10");
	labels[0].size = 0;
	/* je g; inc; nop; ret; ret: the branch keeps it together */
	make(&f, "74 04 ff c0 90 c3 c3");
	f.obj.symbols = labels;
	f.obj.n_symbols = 2;
	expect_labelled(&f, OBJ_RELOCATABLE, "", "f:0-7");
	/* jmp g; nops; ret; jmp f: tail calls do not */
	make(&f, "eb 04 90 90 90 90 c3 eb f7");
	f.obj.symbols = labels;
	f.obj.n_symbols = 2;
	expect_labelled(&f, OBJ_RELOCATABLE, "", "f:0-2 2-6 g:6-7 7-9");
	/* je f from behind: together */
	make(&f, "ff c0 90 90 90 c3 ff c0 74 f6 c3");
	f.obj.symbols = labels;
	f.obj.n_symbols = 2;
	expect_labelled(&f, OBJ_RELOCATABLE, "", "f:0-11");
	make(&f, "");
	expect_labelled(&f, OBJ_RELOCATABLE, "", "");
}

RUN_TESTS(NULL, NULL)
