/* SPDX-License-Identifier: MIT
 *
 * Files that code comes from, and the names in them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/collect.h"

int64_t collect_file_number(struct tact_collect *c, const char *path)
{
	for (size_t i = c->n_files; i > 0; i--)
		if (!strcmp(c->files[i - 1].path, path))
			return (int64_t)i - 1;
	if (tact_grow(&c->files, &c->files_capacity, c->n_files + 1, sizeof(*c->files)))
		return -TACT_E_NOMEM;
	c->files[c->n_files] = (struct collect_file){.path = strdup(path)};
	if (!c->files[c->n_files].path)
		return -TACT_E_NOMEM;
	return (int64_t)c->n_files++;
}

static int map_image(struct collect_file *file, struct tact_diag *diag)
{
	int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	void *image = MAP_FAILED;

	if (fd < 0 || fstat(fd, &st)) {
		tact_fail(diag, TACT_E_IO, "%s", strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		tact_fail(diag, TACT_E_IO, "not a regular file");
	} else if (!st.st_size) {
		close(fd);
		return tact_fail(diag, TACT_E_FORMAT, "the file is empty");
	} else {
		/* A copy that does not follow changes of the file; a file that shrinks is still a
		 * danger, as with all programs that map.
		 */
		image = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (image == MAP_FAILED)
			tact_fail(diag, TACT_E_IO, "%s", strerror(errno));
	}
	if (fd >= 0)
		close(fd);
	if (image == MAP_FAILED)
		return -TACT_E_IO;
	file->image = image;
	file->image_size = (size_t)st.st_size;
	return 0;
}

int collect_file_open(struct collect_file *file, struct tact_diag *diag)
{
	int status;

	if (file->obj)
		return 0;
	file->is_tried = true;
	status = map_image(file, diag);
	if (status)
		return status;
	status = obj_open(&file->obj, file->image, file->image_size, -1, diag);
	if (status) {
		munmap(file->image, file->image_size);
		file->image = NULL;
	}
	return status;
}

void collect_file_close(struct collect_file *file)
{
	obj_close(file->obj);
	if (file->image)
		munmap(file->image, file->image_size);
	free(file->path);
}

bool collect_file_locate(const struct collect_file *file, uint64_t file_offset, uint32_t *section,
			 uint64_t *offset)
{
	const struct obj_file *obj = file->obj;

	for (size_t i = 0; obj && i < obj->n_sections; i++) {
		const struct obj_section *s = &obj->sections[i];
		uint64_t begin;

		if (s->owned) /* relocated: of an object, which is not executed */
			continue;
		begin = (uint64_t)(s->data - obj->image);
		if (file_offset < begin || file_offset - begin >= s->size)
			continue;
		*section = (uint32_t)i;
		*offset = file_offset - begin;
		return true;
	}
	return false;
}
