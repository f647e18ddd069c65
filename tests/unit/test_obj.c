/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testing.h"

#include <tact/input.h>

#include "code/code.h"
#include "isa/assemble.h"
#include "obj/obj.h"

struct fixture {
	char directory[32];
	char c_object[64], c_source[64];
};

/* Assembles a text and gives back the object's bytes. */
static uint8_t *assemble(const char *text, size_t *size)
{
	struct asm_source source;
	struct tact_diag diag = {0};
	uint8_t *image = NULL;

	assert_int_equal(asm_source_create(&source, tact_isa_default(), text, strlen(text),
					   TACT_SYNTAX_ATT, &diag),
			 0);
	source.has_lines = true;
	if (asm_assemble(&source, &image, size, &diag) < 0)
		fail_msg("%u: %s", (unsigned)diag.line, diag.text);
	asm_source_destroy(&source);
	return image;
}

static struct tact_input *open_image(const uint8_t *image, size_t size,
				     const struct tact_input_options *opt)
{
	struct tact_diag diag = {0};
	struct tact_input *in = NULL;

	if (tact_input_open_memory(&in, image, size, opt, &diag) < 0)
		fail_msg("%s", diag.text);
	assert_int_equal(tact_input_get_kind(in), TACT_INPUT_ELF);
	return in;
}

/* Regions of a text's object, one after the other: "name:size" with * for candidates. */
static void expect_regions(const char *text, const struct tact_input_options *opt,
			   const char *expected)
{
	struct tact_region region = TACT_REGION_INIT;
	struct tact_input *in;
	char found[512] = "";
	uint8_t *image;
	size_t size;

	image = assemble(text, &size);
	in = open_image(image, size, opt);
	while (tact_input_next(in, &region, NULL) == 1)
		snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s%s:%zu%s",
			 *found ? " " : "", region.name, region.code_size,
			 region.is_candidate ? "*" : "");
	assert_string_equal(found, expected);
	tact_input_close(in);
	free(image);
}

static void expect_fails(const char *text, const struct tact_input_options *opt, int status,
			 const char *message)
{
	struct tact_diag diag = {0};
	struct tact_input *in;
	uint8_t *image;
	size_t size;

	image = assemble(text, &size);
	assert_int_equal(tact_input_open_memory(&in, image, size, opt, &diag), status);
	assert_string_equal(diag.text, message);
	free(image);
}

#define FUNCTION(name) ".globl " name "\n.type " name ", @function\n" name ":\n"
#define END(name)      ".size " name ", .-" name "\n"

/* Two nested loops, the inner one entered in the middle as compilers do it. */
static const char nested[] = FUNCTION("f") "xorl %ecx, %ecx\n"		  /* 2 bytes */
					   "1: xorl %eax, %eax\njmp 3f\n" /* 4 */
					   "2: addl $1, %eax\n"		  /* 3 */
					   "3: cmpl %eax, %edi\njne 2b\n" /* 4 */
					   "addl $1, %ecx\ncmpl %ecx, %esi\njne 1b\nret\n" END("f")
						   FUNCTION("g") "nop\nret\n" END("g");

TEST(test_loops)
{
	expect_regions(nested, NULL, "f+0x6:7*");
	/* an if inside, two ways back: the first one */
	expect_regions(FUNCTION("f") "1: testl %eax, %eax\nje 2f\ndecl %ecx\njne 1b\nret\n"
				     "2: subl $1, %edi\njne 1b\nret\n" END("f"),
		       NULL, "f:8*");
	/* a branch into an instruction, and one out of the function: no loops */
	expect_regions(FUNCTION("f") "movl $3, %eax\njne f+1\nret\n" END("f"), NULL, "f:8*");
	expect_regions(FUNCTION("f") "nop\nret\n" END("f") FUNCTION("g") "jmp f\n" END("g"), NULL,
		       "f:2* g:2*");
	/* code that nothing reaches, as after a jump table */
	expect_regions(FUNCTION("f") "jmp *%rax\n1: decl %ecx\njne 1b\nret\n" END("f"), NULL,
		       "f+0x2:4*");
	/* not contiguous: the back edge is elsewhere */
	expect_regions(FUNCTION("f") "jmp 2f\n1: nop\njmp 3f\n2: testl %eax, %eax\njne 1b\nret\n"
				     "3: nop\njmp 2b\n" END("f"),
		       NULL, "f+0x2:10*");
}

TEST(test_relocated_branch)
{
	/* as keeps the relocation if it is told that a global symbol may be another one. */
	const struct tact_input_options opt = {.size = sizeof(opt), .function = "f"};

	expect_regions(".weak w\n" FUNCTION("f") "nop\nw: decl %ecx\njne w\nret\n" END("f"), &opt,
		       "f+0x1:8");
	/* A jump to another file is not a jump to the next instruction. */
	expect_regions(FUNCTION("f") "1: nop\njmp elsewhere\njne 1b\n" END("f"), &opt, "f:8");
}

TEST(test_labels)
{
	/* Hand-written: no types, no sizes. */
	expect_regions(".globl k\nk: nop\nloop: decl %ecx\njne loop\nret\n", NULL, "k+0x1:4*");
	expect_regions("nop\nloop: decl %ecx\njne loop\nret\n", NULL, "loop:4*");
	expect_regions("nop\n1: decl %ecx\njne 1b\nret\n", NULL, ".text+0x1:4*");
}

TEST(test_single_block)
{
	expect_regions(FUNCTION("f") "nop\nret\n" END("f"), NULL, "f:2");
	expect_regions("nop\nnop\n", NULL, ":2");
	expect_regions(FUNCTION("f") "nop\nret\n" END("f") FUNCTION("g") "ret\n" END("g"), NULL,
		       "f:2* g:1*");
}

TEST(test_choice)
{
	struct tact_input_options opt = {.size = sizeof(opt)};

	opt.function = "f";
	expect_regions(nested, &opt, "f+0x6:7");
	opt.function = "g";
	expect_regions(nested, &opt, "g:2");
	opt.function = "h";
	expect_fails(nested, &opt, -TACT_E_INVAL, "there is no function 'h'");
	opt.function = NULL;
	opt.loop = 1;
	expect_regions(nested, &opt, "f+0x6:7");
	opt.loop = 2;
	expect_fails(nested, &opt, -TACT_E_INVAL, "there is no loop 2: 1 found");
	opt.function = "g";
	opt.loop = 1;
	expect_fails(nested, &opt, -TACT_E_INVAL, "there is no loop 1 in g: 0 found");
	opt = (struct tact_input_options){.size = sizeof(opt), .addr_begin = 2, .addr_end = 6};
	expect_regions(nested, &opt, "0x2-0x6:4");
	opt.addr_end = 0x1000;
	expect_fails(nested, &opt, -TACT_E_INVAL,
		     "there is no code from 0x2 to 0x1000 in one "
		     "section");
}

TEST(test_sections)
{
	static const char text[] =
		".section .text.a,\"ax\"\n" FUNCTION("a") "1: nop\njne 1b\nret\n" END(
			"a") ".section .text.b,\"ax\"\n" FUNCTION("b") "nop\n1: nop\njne "
								       "1b\nret\n" END("b");
	struct tact_input_options opt = {.size = sizeof(opt), .addr_begin = 1, .addr_end = 2};

	expect_regions(text, NULL, "a:3* b+0x1:3*");
	opt.function = "b";
	expect_regions(text, &opt, "0x1-0x2:1");
	opt = (struct tact_input_options){.size = sizeof(opt), .loop = 2};
	expect_regions(text, &opt, "b+0x1:3");
}

#define START  "movl $111, %ebx\n.byte 100, 103, 144\n"
#define FINISH "movl $222, %ebx\n.byte 100, 103, 144\n"

TEST(test_markers)
{
	static const char wrong[] =
		"byte markers do not match: no start (111) with an end (222) and "
		"code between them; the first marker is at 0x1";
	const struct tact_input_options opt = {.size = sizeof(opt), .function = "f"};

	expect_regions("nop\n" START "nop\nret\n" FINISH "ret\n" START "ret\n" FINISH, NULL,
		       ":2 :1");
	expect_regions(START "nop\n" START "ret\n" FINISH FINISH, NULL, ":1");
	expect_regions(FUNCTION("f") START "nop\n" FINISH END("f"), &opt, "f:17");
	expect_fails("nop\n" START "nop\n", NULL, -TACT_E_FORMAT, wrong);
	expect_fails("nop\n" FINISH "nop\n", NULL, -TACT_E_FORMAT, wrong);
	expect_fails("nop\n" START FINISH "nop\n", NULL, -TACT_E_FORMAT, wrong);
	expect_regions("nop\n.byte 100, 103, 144\nmovl $112, %ebx\n.byte 100, 103, 144\n", NULL,
		       ":12");
	/* the long form of mov */
	expect_regions(".byte 0xc7, 0xc3, 111, 0, 0, 0, 100, 103, 144\nnop\n" FINISH, NULL, ":1");
}

TEST(test_c_object)
{
	const struct fixture *fixture = *state;
	struct tact_input_options opt = {.size = sizeof(opt), .function = "sum"};
	struct tact_region region = TACT_REGION_INIT;
	struct tact_input *in;

	assert_int_equal(tact_input_open(&in, fixture->c_object, NULL, NULL), 0);
	assert_string_equal(tact_input_description(in), "ELF x86-64 object");
	assert_int_equal(tact_input_next(in, &region, NULL), 1);
	assert_string_equal(region.function, "sum");
	assert_int_equal(strncmp(region.name, "sum+0x", 6), 0);
	assert_int_equal(strncmp(region.source, "fixture.c:", 10), 0);
	assert_true(region.is_loop && region.is_candidate);
	assert_int_equal(tact_input_next(in, &region, NULL), 1);
	assert_string_equal(region.function, "fill");
	assert_int_equal(strncmp(region.source, "fixture.c:", 10), 0);
	assert_int_equal(tact_input_next(in, &region, NULL), 0);
	tact_input_close(in);
	assert_int_equal(tact_input_open(&in, fixture->c_object, &opt, NULL), 0);
	assert_int_equal(tact_input_next(in, &region, NULL), 1);
	assert_false(region.is_candidate);
	tact_input_close(in);
	opt.function = "plain";
	assert_int_equal(tact_input_open(&in, fixture->c_object, &opt, NULL), 0);
	assert_int_equal(tact_input_next(in, &region, NULL), 1);
	assert_string_equal(region.name, "plain");
	tact_input_close(in);
}

/* Opens it as it is and reads everything; any status will do, but no crash. */
static int read_all(const uint8_t *image, size_t size)
{
	const struct tact_input_options opt = {.size = sizeof(opt), .kind = TACT_INPUT_ELF};
	struct tact_diag diag = {0};
	struct tact_region region = TACT_REGION_INIT;
	struct tact_input *in;
	int status = tact_input_open_memory(&in, image, size, &opt, &diag);

	if (status < 0) {
		assert_true(*diag.text);
		return status;
	}
	while ((status = tact_input_next(in, &region, NULL)) > 0)
		assert_true(region.code_size > 0);
	tact_input_close(in);
	return status;
}

static uint8_t *read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = malloc(1 << 20);

	assert_non_null(file);
	assert_non_null(data);
	*size = fread(data, 1, 1 << 20, file);
	fclose(file);
	return data;
}

TEST(test_cut)
{
	const struct fixture *fixture = *state;
	size_t size, cut;
	uint8_t *image = read_file(fixture->c_object, &size);

	for (cut = 0; cut < size; cut += 64) {
		uint8_t *copy = malloc(cut + 1);

		/* On the heap by itself, so that the sanitizer sees its end.  The section
		 * table comes last: each of these is cut short.
		 */
		assert_non_null(copy);
		memcpy(copy, image, cut);
		assert_int_equal(read_all(copy, cut), -TACT_E_FORMAT);
		free(copy);
	}
	assert_int_equal(read_all(image, size), 0);
	free(image);
}

TEST(test_damaged)
{
	const struct fixture *fixture = *state;
	size_t size, i;
	uint8_t *image = read_file(fixture->c_object, &size);

	for (i = 0; i < size; i += 3) {
		const uint8_t old = image[i];

		image[i] = 0xff;
		read_all(image, size);
		image[i] = old;
	}
	free(image);
}

static void expect_header(Elf64_Ehdr header, const char *message)
{
	const struct tact_input_options opt = {.size = sizeof(opt), .kind = TACT_INPUT_ELF};
	struct tact_diag diag = {0};
	struct tact_input *in;

	assert_int_equal(tact_input_open_memory(&in, &header, sizeof(header), &opt, &diag),
			 -TACT_E_FORMAT);
	if (!strstr(diag.text, message))
		fail_msg("'%s' does not have '%s'", diag.text, message);
}

TEST(test_headers)
{
	Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			     .e_type = ET_REL,
			     .e_machine = EM_PPC64,
			     .e_version = EV_CURRENT,
			     .e_ehsize = sizeof(header)};

	expect_header(header, "PowerPC 64");
	header.e_machine = EM_ARM;
	expect_header(header, "ELF file for ARM;");
	header.e_machine = 0x1234;
	expect_header(header, "machine number 4660");
	header.e_machine = EM_X86_64;
	expect_header(header, "no code");
	header.e_type = ET_CORE;
	expect_header(header, "core dump");
	header.e_type = ET_EXEC;
	header.e_shoff = UINT64_MAX - 8;
	header.e_shentsize = sizeof(Elf64_Shdr);
	header.e_shnum = 3;
	expect_header(header, "cut short");
	header.e_shentsize = 1;
	expect_header(header, "section headers of 1 bytes");
	header.e_ident[EI_CLASS] = ELFCLASS32;
	expect_header(header, "x32");
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_ident[EI_DATA] = ELFDATA2MSB;
	header.e_machine = EM_AARCH64 << 8;
	expect_header(header, "big-endian ELF file for AArch64");
	header.e_ident[EI_CLASS] = ELFCLASS32;
	header.e_ident[EI_DATA] = ELFDATA2MSB;
	header.e_machine = EM_PPC64 << 8;
	expect_header(header, "PowerPC 64");
}

/* Of a program with segments directly after it, and no sections. */
static Elf64_Ehdr program_header(uint16_t n_segments)
{
	return (Elf64_Ehdr){.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			    .e_type = ET_EXEC,
			    .e_machine = EM_X86_64,
			    .e_version = EV_CURRENT,
			    .e_phoff = sizeof(Elf64_Ehdr),
			    .e_ehsize = sizeof(Elf64_Ehdr),
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = n_segments};
}

/* A segment is enough for a program that lost its section table. */
TEST(test_segments)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segment;
		uint8_t code[5];
	} file = {
		.header = program_header(1),
		.segment = {.p_type = PT_LOAD,
			    .p_flags = PF_X | PF_R,
			    .p_offset = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr),
			    .p_vaddr = 0x401000,
			    .p_filesz = 5,
			    .p_memsz = 5},
		.code = {0xff, 0xc9, 0x75, 0xfc, 0xc3},
	};
	struct tact_region region = TACT_REGION_INIT;
	struct tact_input *in;

	in = open_image((const uint8_t *)&file, sizeof(file), NULL);
	assert_string_equal(tact_input_description(in), "ELF x86-64 executable");
	assert_int_equal(tact_input_next(in, &region, NULL), 1);
	assert_int_equal(region.address, 0x401000);
	assert_int_equal(region.code_size, 4);
	assert_string_equal(region.name, "0x401000");
	tact_input_close(in);
	file.segment.p_filesz = 100;
	assert_int_equal(read_all((const uint8_t *)&file, sizeof(file)), -TACT_E_FORMAT);
}

/* Functions of a stripped file come from its unwind table: three of 16 bytes at 0x10, 0x20 and 0x40
 * of the code, whose bytes call nothing.
 */
struct unwound {
	Elf64_Ehdr header;
	Elf64_Phdr segment[2];
	uint8_t code[96];
	struct {
		uint8_t version, pointer, count, table;
		int32_t frame;
		uint32_t n;
		int32_t row[3][2];
	} hdr;
	struct {
		uint32_t length, common;
		int32_t begin;
		uint32_t size;
	} frame[3];
};

static void make_unwound(struct unwound *file)
{
	const uint64_t code = offsetof(struct unwound, code), hdr = offsetof(struct unwound, hdr);
	static const int32_t begins[] = {0x10, 0x20, 0x40};

	*file = (struct unwound){
		.header = program_header(2),
		.segment = {{.p_type = PT_LOAD,
			     .p_flags = PF_X | PF_R,
			     .p_offset = code,
			     .p_vaddr = 0x401000,
			     .p_filesz = sizeof(file->code),
			     .p_memsz = sizeof(file->code)},
			    {.p_type = PT_GNU_EH_FRAME,
			     .p_offset = hdr,
			     .p_vaddr = 0x401000 + hdr - code,
			     .p_filesz = sizeof(file->hdr)}},
		.hdr = {1, 0x1b, 0x03, 0x3b, 0, 3, {{0}}},
	};
	memset(file->code, 0x90, sizeof(file->code));
	for (unsigned i = 0; i < 3; i++) {
		const int32_t entry = (int32_t)(offsetof(struct unwound, frame[i]) - hdr);

		file->hdr.row[i][0] = begins[i] - (int32_t)(hdr - code);
		file->hdr.row[i][1] = entry;
		file->frame[i].length = 12;
		file->frame[i].begin = file->hdr.row[i][0] - entry - 8;
		file->frame[i].size = 0x10;
	}
}

static void check_starts(const struct unwound *file, const size_t *expected, long n)
{
	struct obj_file *obj;
	size_t *starts;

	assert_int_equal(obj_open(&obj, file, sizeof(*file), NULL), 0);
	assert_int_equal(obj->n_functions, 1);
	assert_int_equal(code_cut_gap(obj, &obj->functions[0], &starts), n);
	for (long i = 0; i < n; i++)
		assert_int_equal(starts[i], expected[i]);
	free(starts);
	obj_close(obj);
}

TEST(test_unwind)
{
	const size_t all[] = {0, 0x10, 0x20, 0x30, 0x40, 0x50}, no_ends[] = {0, 0x10, 0x20, 0x40},
		     none[] = {0}, two[] = {0, 0x10, 0x20, 0x30};
	struct unwound file;

	make_unwound(&file);
	check_starts(&file, all, 6);
	for (unsigned i = 0; i < 3; i++)
		file.frame[i].begin++; /* in another encoding, so to speak */
	check_starts(&file, no_ends, 4);
	make_unwound(&file);
	file.hdr.n = UINT32_MAX; /* what there is */
	check_starts(&file, all, 6);
	file.hdr.row[2][0] = INT32_MAX;
	check_starts(&file, two, 4);
	for (unsigned i = 0; i < 3; i++)
		file.hdr.row[i][1] = INT32_MIN;
	check_starts(&file, no_ends, 3);
	make_unwound(&file);
	file.hdr.table = 0xff; /* there is no such file */
	check_starts(&file, none, 1);
	make_unwound(&file);
	file.segment[1].p_offset = UINT64_MAX - 4;
	check_starts(&file, none, 1);
}

/* Compilation takes a second: do it once for all tests. */
static int compile(void **state)
{
	static struct fixture fixture = {.directory = "/tmp/tact-obj-XXXXXX"};
	char command[256];
	FILE *file;

	if (!mkdtemp(fixture.directory))
		return -1;
	snprintf(fixture.c_source, sizeof(fixture.c_source), "%s/fixture.c", fixture.directory);
	snprintf(fixture.c_object, sizeof(fixture.c_object), "%s/fixture.o", fixture.directory);
	file = fopen(fixture.c_source, "w");
	if (!file)
		return -1;
	fputs("int sum(const int *a, int n)\n{\n\tint s = 0;\n\n\tfor (int i = 0; i < n; i++)\n"
	      "\t\ts += a[i] ^ i;\n\treturn s;\n}\n\nvoid fill(char *p, int n)\n{\n"
	      "\tfor (int i = 0; i < n; i++)\n\t\tp[i] = (char)(p[i] * 3 + i);\n}\n\n"
	      "int plain(int a)\n{\n\treturn a * 3;\n}\n",
	      file);
	fclose(file);
	snprintf(command, sizeof(command), "cc -O1 -g -fno-tree-vectorize -c %s -o %s",
		 fixture.c_source, fixture.c_object);
	*state = &fixture;
	return system(command) ? -1 : 0;
}

static int clean(void **state)
{
	const struct fixture *fixture = *state;

	unlink(fixture->c_source);
	unlink(fixture->c_object);
	return rmdir(fixture->directory);
}

RUN_TESTS(compile, clean)
