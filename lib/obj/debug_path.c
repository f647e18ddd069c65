/* SPDX-License-Identifier: MIT
 *
 * Where debug files are: below /usr/lib/debug, and, for a file of a sysroot, below the sysroot's own
 * usr/lib/debug.  The sysroot need not be told: it is a directory above the file.
 *
 * A file says itself what its debug file is called, and whoever made it may have put anything there:
 * a FIFO, which libdwfl would wait for; a file with holes of terabytes, which it would read to compare
 * a checksum; or sections of zeros that a few bytes stand for, for which it would need all memory.
 */
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "obj/lines.h"

/* libdwfl's default: beside the file, in .debug beside it, below /usr/lib/debug. */
static const char standard[] = ":.debug:/usr/lib/debug";

/* libdwfl looks below such a directory for .build-id, and for debug links as if each of the
 * directories above the file were the root.
 */
static size_t add_root(char out[OBJ_DEBUG_PATH], size_t at, const char *root, size_t length)
{
	char text[PATH_MAX];
	const int n = snprintf(text, sizeof(text), ":%.*s/usr/lib/debug", (int)length, root);

	if (n < 0 || (size_t)n >= sizeof(text) || (size_t)n >= OBJ_DEBUG_PATH - at ||
	    strchr(text + 1, ':') || access(text + 1, X_OK))
		return at;
	memcpy(out + at, text, (size_t)n + 1);
	return at + (size_t)n;
}

void obj_debug_path(char out[OBJ_DEBUG_PATH], const char *path)
{
	size_t at = sizeof(standard) - 1;

	memcpy(out, standard, sizeof(standard));
	for (size_t length = strlen(path); length > 1;) {
		while (length && path[--length] != '/')
			;
		if (length)
			at = add_root(out, at, path, length);
	}
}

/* ---- what libdwfl may open ---- */

/* Compilers' tables shrink to a third or a quarter, files with holes are no debug files. */
static bool is_inflated(uint64_t size, uint64_t stored)
{
	enum { ALWAYS = 64 << 20, TIMES = 16 };

	return size > ALWAYS && (size - ALWAYS) / TIMES > stored;
}

/* What is not there does no harm. */
static bool is_harmless(const char *path)
{
	struct stat info;

	return stat(path, &info) ||
	       (S_ISREG(info.st_mode) &&
		!is_inflated((uint64_t)info.st_size, (uint64_t)info.st_blocks * 512));
}

static bool is_harmless_in(const char *dir, int dir_size, const char *below, int below_size,
			   const char *name)
{
	char path[PATH_MAX];
	const int n = snprintf(path, sizeof(path), "%.*s/%.*s/%s", dir_size, dir, below_size, below,
			       name);

	return n < 0 || (size_t)n >= sizeof(path) || is_harmless(path); /* nor can it be opened */
}

/* In one of the directories of a list: beside the file, if it is relative, or below it with all that is
 * left of the file's own when directories are taken away from its beginning.
 */
static bool is_harmless_below(const char *dir, int size, const char *path, const char *name)
{
	const char *const last = strrchr(path, '/'), *from = path;

	if (*dir != '/')
		return is_harmless_in(path, last ? (int)(last - path) : 0, dir, size, name);
	for (; last && from < last; from = strchr(from + 1, '/'))
		if (!is_harmless_in(dir, size, from, (int)(last - from), name))
			return false;
	return is_harmless_in(dir, size, "", 0, name);
}

bool obj_debug_is_harmless(const char *dirs, const char *path, const char *name)
{
	if (*name == '/' && !is_harmless(name))
		return false;
	for (;; dirs++) {
		const size_t n = strcspn(dirs, ":");

		if (!is_harmless_below(dirs, (int)n, path, name))
			return false;
		dirs += n;
		if (!*dirs)
			return true;
	}
}

/* Returns the bytes of a section as they are to be used; those of the older way of compression are
 * announced behind four letters.
 */
static uint64_t size_in_use(Elf_Scn *scn, const GElf_Shdr *header, const char *name)
{
	enum { OLD_HEADER = 12 };
	GElf_Chdr compressed;
	const Elf_Data *data;
	uint64_t size = 0;

	if (header->sh_flags & SHF_COMPRESSED)
		return gelf_getchdr(scn, &compressed) ? compressed.ch_size : 0;
	if (!name || strncmp(name, ".zdebug", 7))
		return header->sh_type == SHT_NOBITS ? 0 : header->sh_size;
	data = elf_rawdata(scn, NULL);
	if (!data || !data->d_buf || data->d_size < OLD_HEADER)
		return 0;
	for (unsigned i = 4; i < OLD_HEADER; i++)
		size = size << 8 | ((const uint8_t *)data->d_buf)[i];
	return size;
}

bool obj_debug_is_inflated(int fd)
{
	uint64_t size = 0;
	Elf_Scn *scn = NULL;
	struct stat info;
	size_t names;
	Elf *elf;

	elf_version(EV_CURRENT);
	if (fstat(fd, &info))
		return true;
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!elf || elf_getshdrstrndx(elf, &names)) {
		elf_end(elf);
		return false; /* libdwfl will find that it is none, too */
	}
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr header;
		uint64_t more;

		if (!gelf_getshdr(scn, &header))
			continue;
		more = size_in_use(scn, &header, elf_strptr(elf, names, header.sh_name));
		size = size + more < size ? UINT64_MAX : size + more;
	}
	elf_end(elf);
	return is_inflated(size, (uint64_t)info.st_size);
}
