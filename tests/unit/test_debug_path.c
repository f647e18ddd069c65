/* SPDX-License-Identifier: MIT
 *
 * Which debug files are opened: those that hostile files name are FIFOs, holes and bombs.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testing.h"

#include "obj/lines.h"

static char place[64];

static const char *in_place(const char *name)
{
	static char path[400];

	snprintf(path, sizeof(path), "%s/%s", place, name);
	return path;
}

static int make_place(void **state)
{
	(void)state;
	strcpy(place, "/tmp/tact-debug-XXXXXX");
	return mkdtemp(place) ? 0 : -1;
}

static int remove_place(void **state)
{
	(void)state;
	return rmdir(place);
}

static void make_file(const char *name, off_t size)
{
	const int fd = open(in_place(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0 && !ftruncate(fd, size));
	close(fd);
}

static bool is_harmless(const char *dirs, const char *name)
{
	char path[400];

	snprintf(path, sizeof(path), "%s", in_place("program"));
	return obj_debug_is_harmless(dirs, path, name);
}

TEST(only_plain_files_are_opened)
{
	char fifo[400];

	assert_true(is_harmless(":.debug:/usr/lib/debug", "nothing"));
	make_file("plain", 1000);
	assert_true(is_harmless(":.debug", "plain"));
	assert_int_equal(mkfifo(in_place("fifo"), 0600), 0);
	assert_false(is_harmless(":.debug", "fifo"));
	assert_false(is_harmless("", "fifo"));
	assert_true(is_harmless(".debug", "fifo")); /* it is not there */
	snprintf(fifo, sizeof(fifo), "%s", in_place("fifo"));
	assert_false(is_harmless(":.debug", fifo));
	assert_int_equal(symlink("/dev/zero", in_place("zeros")), 0);
	assert_false(is_harmless("", "zeros"));
	assert_int_equal(symlink("loop", in_place("loop")), 0);
	assert_true(is_harmless("", "loop")); /* nobody can open it */
	unlink(in_place("plain"));
	unlink(in_place("zeros"));
	unlink(in_place("loop"));
	unlink(in_place("fifo"));
}

/* Below a directory of debug files, with all or a part of the file's own directories. */
TEST(directories_are_searched_as_libdwfl_does)
{
	static const char *const fifos[] = {"root/fifo", "root/.build-id/fifo"};
	char dirs[500], below[120], made[100];

	snprintf(dirs, sizeof(dirs), ":.debug:%s", in_place("root"));
	assert_int_equal(mkdir(in_place("root"), 0700), 0);
	assert_int_equal(mkdir(in_place("root/.build-id"), 0700), 0);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(mkfifo(in_place(fifos[i]), 0600), 0);
		assert_false(is_harmless(dirs, fifos[i] + strlen("root/")));
		unlink(in_place(fifos[i]));
	}
	snprintf(made, sizeof(made), "root%s", strrchr(place, '/'));
	assert_int_equal(mkdir(in_place(made), 0700), 0);
	snprintf(below, sizeof(below), "%s/fifo", made);
	assert_int_equal(mkfifo(in_place(below), 0600), 0);
	assert_false(is_harmless(dirs, "fifo"));
	unlink(in_place(below));
	rmdir(in_place(made));
	rmdir(in_place("root/.build-id"));
	rmdir(in_place("root"));
}

TEST(holes_are_no_debug_file)
{
	make_file("holes", 1 << 20);
	assert_true(is_harmless("", "holes")); /* small */
	make_file("holes", (off_t)1 << 34);
	assert_false(is_harmless("", "holes"));
	unlink(in_place("holes"));
}

/* An ELF file with a section that says to be `size` bytes. */
static bool is_inflated(uint64_t size, bool is_compressed)
{
	static const char names[] = "\0.debug_info\0.names";
	struct {
		Elf64_Ehdr head;
		Elf64_Shdr sections[3];
		Elf64_Chdr packed;
		char names[sizeof(names)];
	} file = {
		.head = {.e_type = ET_EXEC,
			 .e_machine = EM_X86_64,
			 .e_version = EV_CURRENT,
			 .e_shoff = sizeof(file.head),
			 .e_ehsize = sizeof(file.head),
			 .e_shentsize = sizeof(Elf64_Shdr),
			 .e_shnum = 3,
			 .e_shstrndx = 2},
		.sections = {{0},
			     {.sh_name = 1,
			      .sh_type = SHT_PROGBITS,
			      .sh_flags = is_compressed ? SHF_COMPRESSED : 0,
			      .sh_offset = sizeof(file.head) + sizeof(file.sections),
			      .sh_size = sizeof(file.packed)},
			     {.sh_name = 13,
			      .sh_type = SHT_STRTAB,
			      .sh_offset = sizeof(file.head) + sizeof(file.sections) +
					   sizeof(file.packed),
			      .sh_size = sizeof(names)}},
		.packed = {.ch_type = ELFCOMPRESS_ZLIB, .ch_size = size, .ch_addralign = 1},
	};
	const int fd = memfd_create("elf", MFD_CLOEXEC);
	bool answer;

	memcpy(file.head.e_ident, ELFMAG, SELFMAG);
	file.head.e_ident[EI_CLASS] = ELFCLASS64;
	file.head.e_ident[EI_DATA] = ELFDATA2LSB;
	file.head.e_ident[EI_VERSION] = EV_CURRENT;
	memcpy(file.names, names, sizeof(names));
	assert_int_equal(write(fd, &file, sizeof(file)), sizeof(file));
	answer = obj_debug_is_inflated(fd);
	close(fd);
	return answer;
}

TEST(sections_are_not_unpacked_without_end)
{
	assert_false(is_inflated(1000, true));
	assert_false(is_inflated(1 << 20, true));
	assert_true(is_inflated(1ull << 32, true));
	assert_true(is_inflated(UINT64_MAX, true));
	assert_false(is_inflated(1ull << 32, false)); /* then these are its bytes */
	assert_true(obj_debug_is_inflated(-1));
}

RUN_TESTS(make_place, remove_place)
