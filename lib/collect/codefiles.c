/* SPDX-License-Identifier: MIT
 *
 * Files that code comes from, and the names in them.
 */
#include <stdlib.h>
#include <string.h>

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

int collect_file_open(struct collect_file *file, struct tact_diag *diag)
{
	int status;

	if (file->obj)
		return 0;
	file->is_tried = true;
	status = obj_image_map(&file->image, file->path, diag);
	if (status)
		return status;
	obj_image_close(&file->image); /* there may be many */
	status = obj_open_image(&file->obj, &file->image, diag);
	if (status)
		obj_image_unmap(&file->image);
	return status;
}

void collect_file_close(struct collect_file *file)
{
	obj_close(file->obj);
	obj_image_unmap(&file->image);
	free(file->path);
}
