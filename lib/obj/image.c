/* SPDX-License-Identifier: MIT
 *
 * Files of code in memory, and what is asked about them before they are read: their build-id.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "obj/obj.h"

static int fail_errno(struct tact_diag *diag)
{
	return tact_fail(diag, TACT_E_IO, "%s", strerror(errno));
}

int obj_image_map_fd(struct obj_image *out, int fd, struct tact_diag *diag)
{
	struct stat st;
	size_t size;
	void *data;
	int copy;

	if (fstat(fd, &st))
		return fail_errno(diag);
	if (!S_ISREG(st.st_mode))
		return tact_fail(diag, TACT_E_IO, "not a regular file");
	copy = file_copy_sealed(fd, &size);
	if (copy < 0 && errno == ENOSPC)
		return tact_fail(diag, TACT_E_IO,
				 "no room for a copy of its %.1f GB in /var/tmp or /tmp",
				 (double)st.st_size / 1e9);
	if (copy < 0 && errno == EFBIG)
		return tact_fail(diag, TACT_E_IO,
				 "the limit on the size of files (ulimit -f) allows no copy of its "
				 "%jd bytes",
				 (intmax_t)st.st_size);
	if (copy < 0)
		return fail_errno(diag);
	if (!size) {
		close(copy);
		return tact_fail(diag, TACT_E_FORMAT, "the file is empty");
	}
	data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, copy, 0);
	if (data == MAP_FAILED) {
		const int status = fail_errno(diag);

		close(copy);
		return status;
	}
	*out = (struct obj_image){data, size, fd, copy};
	return 0;
}

int obj_image_map(struct obj_image *out, const char *path, struct tact_diag *diag)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe would wait */
	int status;

	if (fd < 0)
		return fail_errno(diag);
	status = obj_image_map_fd(out, fd, diag);
	if (status)
		close(fd);
	return status;
}

void obj_image_close(struct obj_image *image)
{
	if (image->copy >= 0)
		close(image->copy);
	if (image->fd >= 0)
		close(image->fd);
	image->fd = image->copy = -1;
}

void obj_image_unmap(struct obj_image *image)
{
	if (!image->data)
		return;
	munmap(image->data, image->size);
	obj_image_close(image);
	*image = (struct obj_image){NULL, 0, -1, -1};
}

/* Looks for a note of type 3 by GNU in any PT_NOTE. */
static unsigned find_note(const uint8_t *p, size_t size, uint8_t *id, size_t most)
{
	while (size >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr n;
		size_t name, desc;

		memcpy(&n, p, sizeof(n));
		name = ((size_t)n.n_namesz + 3) & ~(size_t)3;
		desc = ((size_t)n.n_descsz + 3) & ~(size_t)3;
		if (name > size - sizeof(n) || desc > size - sizeof(n) - name)
			return 0;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 &&
		    !memcmp(p + sizeof(n), "GNU", 4) && n.n_descsz && n.n_descsz <= most) {
			memcpy(id, p + sizeof(n) + name, n.n_descsz);
			return n.n_descsz;
		}
		p += sizeof(n) + name + desc;
		size -= sizeof(n) + name + desc;
	}
	return 0;
}

unsigned obj_build_id(const uint8_t *image, size_t size, uint8_t *id, size_t most)
{
	Elf64_Ehdr header;

	if (size < sizeof(header))
		return 0;
	memcpy(&header, image, sizeof(header));
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64)
		return 0;
	for (unsigned i = 0; i < header.e_phnum; i++) {
		uint64_t at = header.e_phoff + (uint64_t)i * sizeof(Elf64_Phdr);
		Elf64_Phdr p;
		unsigned found;

		if (at > size || size - at < sizeof(p))
			return 0;
		memcpy(&p, image + at, sizeof(p));
		if (p.p_type != PT_NOTE || p.p_offset > size || p.p_filesz > size - p.p_offset)
			continue;
		found = find_note(image + p.p_offset, (size_t)p.p_filesz, id, most);
		if (found)
			return found;
	}
	return 0;
}

unsigned obj_build_id_of(const char *path, uint8_t *id, size_t most)
{
	struct obj_image image;
	unsigned size;

	if (obj_image_map(&image, path, NULL))
		return 0;
	size = obj_build_id(image.data, image.size, id, most);
	obj_image_unmap(&image);
	return size;
}

bool obj_locate(const struct obj_file *obj, uint64_t file_offset, size_t *section, size_t *offset)
{
	for (size_t i = 0; i < obj->n_sections; i++) {
		const struct obj_section *s = &obj->sections[i];
		uint64_t begin;

		if (s->owned) /* relocatable: an object, which is not executed */
			continue;
		begin = (uint64_t)(s->data - obj->image);
		if (file_offset < begin || file_offset - begin >= s->size)
			continue;
		*section = i;
		*offset = (size_t)(file_offset - begin);
		return true;
	}
	return false;
}
