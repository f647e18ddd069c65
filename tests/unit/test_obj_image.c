/* SPDX-License-Identifier: MIT
 *
 * Files in memory, their build-ids, and places in them.
 */
#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testing.h"

#include "base/file.h"
#include "obj/lines.h"
#include "obj/obj.h"
#include "support.h"

/* A file with one note, which is a build-id of four bytes. */
struct noted {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Nhdr note;
	char name[4];
	uint8_t id[4];
};

static void make(struct noted *file)
{
	*file = (struct noted){
		.header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			   .e_phoff = offsetof(struct noted, segment),
			   .e_phnum = 1},
		.segment = {.p_type = PT_NOTE,
			    .p_offset = offsetof(struct noted, note),
			    .p_filesz = sizeof(*file) - offsetof(struct noted, note)},
		.note = {.n_namesz = 4, .n_descsz = 4, .n_type = NT_GNU_BUILD_ID},
		.name = "GNU",
		.id = {1, 2, 3, 4},
	};
}

static unsigned id_of(const struct noted *file, size_t size, uint8_t *id, size_t most)
{
	return obj_build_id((const uint8_t *)file, size, id, most);
}

TEST(test_build_id)
{
	struct noted file;
	uint8_t id[20] = {0};

	make(&file);
	assert_int_equal(id_of(&file, sizeof(file), id, sizeof(id)), 4);
	assert_memory_equal(id, file.id, 4);
	/* Longer than the caller takes; of no length. */
	assert_int_equal(id_of(&file, sizeof(file), id, 3), 0);
	file.note.n_descsz = 0;
	assert_int_equal(id_of(&file, sizeof(file), id, sizeof(id)), 0);
	/* Another kind of note, and one that claims to be longer than its segment. */
	make(&file);
	file.note.n_type = NT_GNU_ABI_TAG;
	assert_int_equal(id_of(&file, sizeof(file), id, sizeof(id)), 0);
	make(&file);
	file.note.n_descsz = UINT32_MAX;
	assert_int_equal(id_of(&file, sizeof(file), id, sizeof(id)), 0);
	/* Cut short anywhere, and no ELF file at all. */
	make(&file);
	for (size_t size = 0; size < sizeof(file); size++)
		assert_int_equal(id_of(&file, size, id, sizeof(id)), 0);
	file.header.e_ident[0] = 0;
	assert_int_equal(id_of(&file, sizeof(file), id, sizeof(id)), 0);
}

TEST(test_map)
{
	char path[] = "/tmp/tact-image-XXXXXX";
	const int fd = mkstemp(path);
	struct obj_image image = {NULL, 0, 0, 0};
	struct tact_diag diag = {0};
	struct noted file;
	uint8_t id[20];

	assert_true(fd >= 0);
	obj_image_unmap(&image); /* nothing, and standard input stays open */
	assert_int_equal(obj_image_map(&image, path, &diag), -TACT_E_FORMAT);
	assert_string_equal(diag.text, "the file is empty");
	assert_int_equal(obj_build_id_of(path, id, sizeof(id)), 0);
	make(&file);
	assert_int_equal(write(fd, &file, sizeof(file)), sizeof(file));
	close(fd);
	assert_int_equal(obj_image_map(&image, path, &diag), 0);
	assert_int_equal(image.size, sizeof(file));
	assert_memory_equal(image.data, &file, sizeof(file));
	assert_true(image.fd >= 0);
	obj_image_unmap(&image);
	assert_null(image.data);
	obj_image_unmap(&image);
	assert_int_equal(obj_build_id_of(path, id, sizeof(id)), 4);
	unlink(path);
	assert_int_equal(obj_image_map(&image, path, NULL), -TACT_E_IO);
	assert_int_equal(obj_image_map(&image, "/", &diag), -TACT_E_IO);
	assert_string_equal(diag.text, "not a regular file");
}

/* What was opened stays, whoever cuts the file short: reading past the end of a mapped file ends the
 * process.
 */
TEST(a_file_that_is_cut_short_stays_whole)
{
	char path[] = "/tmp/tact-image-XXXXXX";
	const int fd = mkstemp(path);
	struct obj_image image = {0};
	const size_t size = 100000;
	char *bytes = malloc(size);
	struct obj_file *obj = NULL;

	assert_non_null(bytes);
	memset(bytes, 0x90, size);
	assert_int_equal(write(fd, bytes, size), size);
	assert_int_equal(obj_image_map(&image, path, NULL), 0);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(image.size, size);
	assert_memory_equal(image.data, bytes, size);
	/* Nor do those who get the descriptor of the copy. */
	assert_true(image.copy >= 0);
	assert_int_equal(ftruncate(image.copy, 0), -1);
	assert_int_equal(write(image.copy, bytes, 1), -1);
	assert_int_equal(obj_open_image(&obj, &image, NULL), -TACT_E_FORMAT);
	assert_null(obj);
	obj_image_unmap(&image);
	assert_int_equal(obj_image_map(&image, path, NULL), -TACT_E_FORMAT);
	free(bytes);
	close(fd);
	unlink(path);
}

/* One that is larger than memory should be is on disk, and no less safe.  Holes take no room. */
TEST(a_large_file_that_is_cut_short_stays_whole)
{
	char path[] = "/tmp/tact-image-XXXXXX";
	const int fd = mkstemp(path);
	const off_t size = FILE_MEMORY_COPY + 123456;
	struct obj_image image = {0};
	struct tact_diag diag = {0};
	struct stat info;

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, "begin", 5, 0), 5);
	assert_int_equal(pwrite(fd, "middle", 6, size / 2), 6);
	assert_int_equal(ftruncate(fd, size), 0);
	assert_int_equal(obj_image_map(&image, path, &diag), 0);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(image.size, size);
	assert_memory_equal(image.data, "begin\0", 6);
	assert_memory_equal((char *)image.data + size / 2, "middle\0", 7);
	assert_int_equal(((char *)image.data)[size - 1], 0);
	/* It has no name, and no more blocks than the file had. */
	assert_int_equal(fstat(image.copy, &info), 0);
	assert_int_equal(info.st_nlink, 0);
	assert_true(info.st_blocks * 512 < 1 << 20);
	obj_image_unmap(&image);
	/* What it claims to have and what there is room for: data of so many bytes is nowhere. */
	assert_int_equal(ftruncate(fd, (off_t)1 << 42), 0);
	assert_int_equal(pwrite(fd, "end", 3, ((off_t)1 << 42) - 3), 3);
	if (!obj_image_map(&image, path, &diag)) {
		assert_memory_equal((char *)image.data + ((off_t)1 << 42) - 3, "end", 3);
		obj_image_unmap(&image);
	} else {
		assert_true(strlen(diag.text) > 0);
	}
	close(fd);
	unlink(path);
}

TEST(test_locate)
{
	static const uint8_t bytes[64];
	uint8_t copy[8] = {0};
	struct obj_section sections[] = {
		{.data = bytes + 16, .size = 8},
		{.data = copy, .owned = copy, .size = 8}, /* relocated: nowhere in the file */
		{.data = bytes + 32, .size = 16},
	};
	const struct obj_file obj = {.image = bytes, .sections = sections, .n_sections = 3};
	size_t section, offset;

	assert_true(obj_locate(&obj, 16, &section, &offset));
	assert_int_equal(section, 0);
	assert_int_equal(offset, 0);
	assert_true(obj_locate(&obj, 47, &section, &offset));
	assert_int_equal(section, 2);
	assert_int_equal(offset, 15);
	assert_false(obj_locate(&obj, 15, &section, &offset));
	assert_false(obj_locate(&obj, 24, &section, &offset));
	assert_false(obj_locate(&obj, 48, &section, &offset));
	assert_false(obj_locate(&obj, UINT64_MAX, &section, &offset));
}

/* The standard places, then usr/lib/debug of all directories above, but of none with a colon. */
TEST(test_debug_path)
{
	const char *standard = ":.debug:/usr/lib/debug";
	char path[OBJ_DEBUG_PATH], directory[] = "/tmp/tact-test-XXXXXX", text[128];
	static const char *const made[] = {"/r", "/r/usr", "/r/usr/lib", "/r/usr/lib/debug"};

	obj_debug_path(path, "");
	assert_string_equal(path, standard);
	obj_debug_path(path, "/bin/no-root");
	assert_string_equal(path, standard);
	assert_non_null(mkdtemp(directory));
	for (unsigned i = 0; i < 4; i++) {
		snprintf(text, sizeof(text), "%s%s", directory, made[i]);
		assert_int_equal(mkdir(text, 0700), 0);
	}
	snprintf(text, sizeof(text), "%s/r/lib/x.so", directory);
	obj_debug_path(path, text);
	snprintf(text, sizeof(text), "%s:%s/r/usr/lib/debug", standard, directory);
	assert_string_equal(path, text);
	snprintf(text, sizeof(text), "%s/r:x/lib/x.so", directory);
	obj_debug_path(path, text);
	assert_string_equal(path, standard);
	for (unsigned i = 4; i-- > 0;) {
		snprintf(text, sizeof(text), "%s%s", directory, made[i]);
		rmdir(text);
	}
	rmdir(directory);
}

RUN_TESTS(NULL, NULL)
