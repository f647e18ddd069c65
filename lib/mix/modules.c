/* SPDX-License-Identifier: MIT
 *
 * Files whose code ran: found by path, below a root, or among files that the user names; a recorded
 * build-id must match.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "code/code.h"
#include "mix/generated_code.h"

long mix_modules_find(struct mix_modules *m, const char *path, bool is_kernel)
{
	struct mix_module *module;

	/* The last one is asked for most: the maps of one file follow each other. */
	for (size_t i = m->n; i-- > 0;)
		if (m->items[i].is_kernel == is_kernel && !strcmp(m->items[i].path, path))
			return (long)i;
	if (m->n >= MIX_NONE || tact_grow(&m->items, &m->capacity, m->n + 1, sizeof(*m->items)))
		return -TACT_E_NOMEM;
	module = &m->items[m->n];
	*module = (struct mix_module){
		.is_kernel = is_kernel, .is_mangled = m->is_mangled, .path = strdup(path)};
	if (!module->path)
		return -TACT_E_NOMEM;
	return (long)m->n++;
}

void mix_modules_fini(struct mix_modules *m)
{
	for (size_t i = 0; i < m->n; i++) {
		struct mix_module *module = &m->items[i];

		for (size_t c = 0; c < module->n_codes; c++) {
			free(module->codes[c].profiles);
			free(module->codes[c].blocks.items);
		}
		free(module->codes);
		free(module->leaders);
		free(module->touched);
		obj_close(module->obj);
		mix_kernel_destroy(module->kernel);
		mix_generated_destroy(module->generated);
		obj_image_unmap(&module->image);
		free(module->path);
	}
	free(m->items);
	*m = (struct mix_modules){0};
}

/* ---- files ---- */

static bool map_file(struct mix_module *module, const char *path)
{
	struct tact_diag diag = {0};

	if (!obj_image_map(&module->image, path, &diag))
		return true;
	snprintf(module->why, sizeof(module->why), "%.118s", diag.text);
	return false;
}

static bool is_right(struct mix_module *module)
{
	uint8_t id[PMU_MAX_BUILD_ID] = {0};
	unsigned size = obj_build_id(module->image.data, module->image.size, id, sizeof(id));

	if (!module->build_id_size || !size)
		return true;
	/* perf pads short ones with zeros. */
	if (!memcmp(id, module->build_id, size))
		return true;
	snprintf(module->why, sizeof(module->why),
		 "another build of it is there now (its build-id differs)");
	return false;
}

static bool try_path(struct mix_module *module, const char *path)
{
	if (!map_file(module, path))
		return false;
	if (is_right(module))
		return true;
	obj_image_unmap(&module->image);
	return false;
}

/* Returns whether a file that the user names, as PATH or as RECORDED=PATH, is meant for a module by
 * its name.
 */
static bool is_named(const char *file, const struct mix_module *module, const char **path)
{
	const char *equals = strchr(file, '=');
	size_t n = equals ? (size_t)(equals - file) : 0;
	const char *base = file_base_name(module->path);

	*path = file;
	if (!equals || access(file, F_OK) == 0)
		return !strcmp(file_base_name(file), base);
	*path = equals + 1;
	return (strlen(base) == n && !memcmp(base, file, n)) ||
	       (strlen(module->path) == n && !memcmp(module->path, file, n));
}

/* Files that the user names replace those of the same name or build-id. */
static bool try_named(const struct mix_modules *m, struct mix_module *module)
{
	for (size_t i = 0; i < m->n_files; i++) {
		uint8_t id[PMU_MAX_BUILD_ID] = {0};
		const char *path;
		bool is_same_name = is_named(m->files[i], module, &path);
		unsigned size;

		if (!is_same_name && !module->build_id_size)
			continue;
		if (!try_path(module, path))
			continue;
		size = obj_build_id(module->image.data, module->image.size, id, sizeof(id));
		if (is_same_name || (size && !memcmp(id, module->build_id, size)))
			return true;
		obj_image_unmap(&module->image);
	}
	return false;
}

static bool find_file(const struct mix_modules *m, struct mix_module *module)
{
	uint8_t id[PMU_MAX_BUILD_ID];
	char path[4096];

	if (try_named(m, module))
		return true;
	if (m->root) {
		snprintf(path, sizeof(path), "%s/%s", m->root, module->path);
		if (try_path(module, path))
			return true;
		snprintf(path, sizeof(path), "%s/%s", m->root, file_base_name(module->path));
		if (try_path(module, path))
			return true;
	}
	if (!try_path(module, module->path))
		return false;
	/* A file without a build-id cannot have had one recorded. */
	module->is_assumed = !module->build_id_size &&
			     obj_build_id(module->image.data, module->image.size, id, sizeof(id));
	return true;
}

static int take_sections(struct mix_module *module)
{
	const struct obj_file *obj = module->obj;

	module->codes = calloc(obj->n_sections, sizeof(*module->codes));
	if (!module->codes)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < obj->n_sections; i++) {
		const struct obj_section *s = &obj->sections[i];

		if (s->owned || s->size >= MIX_NONE)
			continue;
		module->codes[module->n_codes++] = (struct mix_code){
			.isa = obj->isa,
			.data = s->data,
			.size = s->size,
			.file_offset = (uint64_t)(s->data - (const uint8_t *)module->image.data),
			.address = s->address,
			.section = i,
		};
	}
	return 0;
}

static int load_kernel(const struct mix_modules *m, struct mix_module *module)
{
	module->kernel = m->kallsyms ? mix_kernel_read(m->kallsyms, m->kcore) : mix_kernel_create();
	if (!module->kernel && m->kallsyms) {
		snprintf(module->why, sizeof(module->why),
			 "the copies of kallsyms and kcore do not have the kernel's text from "
			 "_stext to "
			 "_etext");
		return 0;
	}
	if (!module->kernel) {
		snprintf(module->why, sizeof(module->why),
			 "the kernel's live text needs /proc/kcore and /proc/kallsyms, and root");
		return 0;
	}
	module->codes = calloc(1, sizeof(*module->codes));
	if (!module->codes)
		return -TACT_E_NOMEM;
	module->n_codes = 1;
	module->codes[0].isa = tact_isa_default();
	module->codes[0].data =
		mix_kernel_text(module->kernel, &module->codes[0].address, &module->codes[0].size);
	module->codes[0].file_offset = module->codes[0].address;
	return 0;
}

int mix_module_load(struct mix_modules *m, struct mix_module *module)
{
	struct tact_diag diag = {0};
	int status;

	if (module->is_loaded)
		return 0;
	module->is_loaded = true;
	if (module->is_kernel && module->path[0] == '[')
		return load_kernel(m, module);
	if (module->path[0] != '/' && !m->root && !m->n_files && module->path[0] != '.') {
		snprintf(module->why, sizeof(module->why), "no file");
		return 0;
	}
	if (!find_file(m, module))
		return 0;
	module->why[0] = '\0';
	status = obj_open_image(&module->obj, &module->image, &diag);
	if (status >= 0)
		status = obj_find_symbols(module->obj);
	if (status >= 0)
		status = code_cut_functions(module->obj);
	if (status >= 0 && !module->is_mangled)
		status = obj_keep_names(module->obj);
	if (status == -TACT_E_NOMEM)
		return status;
	if (status < 0) {
		snprintf(module->why, sizeof(module->why), "%.118s", diag.text);
		return 0;
	}
	return take_sections(module);
}

struct mix_code *mix_module_code(struct mix_module *module, uint64_t offset)
{
	for (size_t i = 0; i < module->n_codes; i++)
		if (offset - module->codes[i].file_offset < module->codes[i].size)
			return &module->codes[i];
	return NULL;
}

int mix_module_touch(struct mix_module *module, uint64_t begin, uint64_t end)
{
	if (tact_grow(&module->touched, &module->touched_capacity, module->n_touched + 1,
		      sizeof(*module->touched)))
		return -TACT_E_NOMEM;
	module->touched[module->n_touched++] = (struct mix_touched){begin, end};
	return 0;
}

int mix_module_add_leader(struct mix_module *module, uint64_t offset)
{
	if (module->n_leaders && module->leaders[module->n_leaders - 1] == offset)
		return 0;
	if (tact_grow(&module->leaders, &module->leaders_capacity, module->n_leaders + 1,
		      sizeof(*module->leaders)))
		return -TACT_E_NOMEM;
	module->leaders[module->n_leaders++] = offset;
	return 0;
}

const char *mix_module_function(const struct mix_module *module, const struct mix_code *code,
				uint32_t offset)
{
	const struct obj_function *function;
	uint64_t begin;

	if (module->kernel)
		return mix_kernel_symbol(module->kernel, code->address + offset, &begin);
	if (module->generated)
		return mix_generated_name(module->generated, code->file_offset + offset);
	if (!module->obj)
		return "";
	function = obj_function_at(module->obj, code->section, offset);
	return obj_function_name(module->obj, function);
}

bool mix_module_line(struct mix_module *module, const struct mix_code *code, uint32_t offset,
		     const char **file, int *line)
{
	return module->obj && obj_line_at(module->obj, code->section, offset, file, line) > 0;
}
