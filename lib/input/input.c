/* SPDX-License-Identifier: MIT
 *
 * Opens inputs of all kinds and hands out their regions.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "code/code.h"
#include "code/transfers.h"
#include "input/archive.h"
#include "input/compile.h"
#include "input/convert.h"
#include "input/reader.h"

static int copy_options(struct tact_input_options *out, const struct tact_input_options *opt,
			struct tact_diag *diag)
{
	if (tact_read_options(out, sizeof(*out), opt) < 0)
		return tact_fail(diag, TACT_E_INVAL, "options that this library does not know");
	if (out->loop < 0)
		return tact_fail(diag, TACT_E_INVAL, "loops are counted from 1");
	if (out->path < TACT_INPUT_ALL_PATHS)
		return tact_fail(diag, TACT_E_INVAL, "paths are counted from 1");
	if ((out->addr_begin || out->addr_end) && out->addr_begin >= out->addr_end)
		return tact_fail(diag, TACT_E_INVAL, "the address range is empty");
	if ((unsigned)out->kind > TACT_INPUT_RAW || (unsigned)out->syntax > TACT_SYNTAX_INTEL)
		return tact_fail(diag, TACT_E_INVAL, "unknown kind of input or syntax");
	return 0;
}

/* Text and bytes, and ELF files that come through a pipe: nobody assembles more, and there are pipes
 * without an end.
 */
static const size_t most_text = (size_t)256 << 20, most_image = (size_t)4 << 30;

static int read_to_end(struct input_reader *reader, size_t most, struct tact_diag *diag)
{
	int status;

	do {
		if (reader->end - reader->begin > most)
			return tact_fail(diag, TACT_E_LIMIT, "more than %zu MB", most >> 20);
		status = input_read_more(reader, diag);
	} while (status > 0);
	return status;
}

static int read_sample(struct input_reader *reader, struct tact_diag *diag)
{
	int status = 1;

	while (status > 0 && reader->end - reader->begin < INPUT_SAMPLE_SIZE)
		status = input_read_more(reader, diag);
	return status < 0 ? status : 0;
}

/* An ELF file is mapped, from a copy that nobody can cut short. */
static int load_image(struct tact_input *in, struct tact_diag *diag)
{
	struct input_reader *reader = &in->reader;
	struct stat info;
	int status;

	if (reader->owns_fd && !fstat(reader->fd, &info) && S_ISREG(info.st_mode) && info.st_size) {
		const int fd = fcntl(reader->fd, F_DUPFD_CLOEXEC, 0);

		status = fd < 0 ? tact_fail_errno(diag, NULL)
				: obj_image_map_fd(&in->mapped, fd, diag);
		if (status < 0) {
			if (fd >= 0)
				close(fd);
			return status;
		}
		in->image = in->mapped.data;
		in->image_size = in->mapped.size;
		return 0;
	}
	status = read_to_end(reader, most_image, diag);
	if (status < 0)
		return status;
	in->image = (uint8_t *)reader->data;
	in->image_size = reader->end;
	reader->data = NULL;
	return 0;
}

static int open_obj(struct tact_input *in, struct tact_diag *diag)
{
	const int status = in->mapped.data ? obj_open_image(&in->obj, &in->mapped, diag)
					   : obj_open(&in->obj, in->image, in->image_size, diag);

	if (status < 0)
		return status;
	in->isa = in->obj->isa;
	if (obj_find_symbols(in->obj))
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	if (code_cut_functions(in->obj) || code_cut_labels(in->obj))
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	return 0;
}

static int open_elf(struct tact_input *in, const struct tact_input_options *opt,
		    struct tact_diag *diag)
{
	static const char *const descriptions[] = {
		[OBJ_RELOCATABLE] = "object",
		[OBJ_EXECUTABLE] = "executable",
		[OBJ_SHARED] = "shared object",
	};
	int status;

	status = load_image(in, diag);
	if (status >= 0 && archive_is_one(in->image, in->image_size)) {
		in->description = "archive";
		return input_open_members(in, opt, diag);
	}
	if (status >= 0)
		status = open_obj(in, diag);
	if (status < 0)
		return status;
	snprintf(in->elf_description, sizeof(in->elf_description), "ELF %s %s", in->obj->isa->title,
		 descriptions[in->obj->type]);
	in->description = in->elf_description;
	return input_choose_regions(in, opt, diag);
}

static int open_asm(struct tact_input *in, const struct tact_input_options *opt,
		    struct tact_diag *diag)
{
	struct input_reader *reader = &in->reader;
	int status;

	status = read_to_end(reader, most_text, diag);
	if (status < 0)
		return status;
	if (!input_has_text(reader->data + reader->begin, reader->end - reader->begin))
		return tact_fail(diag, TACT_E_FORMAT, "no code: the input is empty or a comment");
	status = input_make_image(in, opt, diag);
	if (status >= 0)
		status = open_obj(in, diag);
	if (status >= 0 && (input_find_latencies(in) < 0 || input_find_settings(in) < 0))
		status = tact_fail(diag, TACT_E_NOMEM, "out of memory");
	if (status < 0)
		return status;
	return input_choose_regions(in, opt, diag);
}

static int open_raw(struct tact_input *in, const struct tact_input_options *opt,
		    struct tact_diag *diag)
{
	struct input_reader *reader = &in->reader;
	int status = read_to_end(reader, most_text, diag);
	struct code_lost lost;

	if (status >= 0 && reader->begin == reader->end)
		status = tact_fail(diag, TACT_E_FORMAT, "no code: the input is empty");
	in->description = "raw bytes";
	in->is_marked = opt->is_marked;
	if (status >= 0 && in->is_marked)
		status =
			code_find_markers_in(in->isa, reader->data + reader->begin,
					     reader->end - reader->begin, &in->marked, &lost, diag);
	if (status >= 0 && in->is_marked && !in->marked.count)
		status = tact_fail(diag, TACT_E_FORMAT, "%s", input_no_markers);
	return status;
}

static int open_text(struct tact_input *in, struct tact_diag *diag)
{
	const struct input_reader *reader = &in->reader;

	in->description = in->kind == TACT_INPUT_CSV ? "CSV" : "hex list";
	in->is_header_possible = in->kind == TACT_INPUT_CSV;
	if (reader->is_eof &&
	    !input_has_text(reader->data + reader->begin, reader->end - reader->begin))
		return tact_fail(diag, TACT_E_FORMAT, "no code: the input is empty");
	return 0;
}

static void skip_byte_order_mark(struct input_reader *reader)
{
	if (reader->end - reader->begin >= 3 &&
	    !memcmp(reader->data + reader->begin, "\xef\xbb\xbf", 3))
		reader->begin += 3;
}

/* Looks at the content and does everything that follows from it; in->reader is open. */
static int open_reader(struct tact_input *in, const struct tact_input_options *opt,
		       struct tact_diag *diag)
{
	struct input_reader *reader = &in->reader;
	int status;

	/* Lines of a list may come one by one through a pipe: if the kind is known, the first line
	 * is not kept waiting for others.
	 */
	status = opt->kind == TACT_INPUT_AUTO || reader->owns_fd ? read_sample(reader, diag)
								 : input_read_more(reader, diag);
	if (status < 0)
		return status;
	in->kind = opt->kind;
	in->is_mangled = opt->is_mangled;
	in->isa = opt->isa ? opt->isa : tact_isa_default();
	if (in->kind != TACT_INPUT_RAW && in->kind != TACT_INPUT_ELF)
		skip_byte_order_mark(reader);
	if (in->kind == TACT_INPUT_AUTO) {
		status = input_detect(reader->data + reader->begin, reader->end - reader->begin,
				      reader->is_eof, &in->kind, diag);
		if (status < 0)
			return status;
	}
	switch (in->kind) {
	case TACT_INPUT_ELF:
		return open_elf(in, opt, diag);
	case TACT_INPUT_ASM:
		return open_asm(in, opt, diag);
	case TACT_INPUT_RAW:
		return open_raw(in, opt, diag);
	case TACT_INPUT_AUTO:
	case TACT_INPUT_HEX:
	case TACT_INPUT_CSV:
		break;
	}
	return open_text(in, diag);
}

static int create(struct tact_input **out, const struct tact_input_options *opt,
		  struct tact_input_options *copy, struct tact_diag *diag)
{
	int status = copy_options(copy, opt, diag);

	if (status < 0)
		return status;
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	(*out)->reader = (struct input_reader){.fd = -1, .line = 1};
	(*out)->description = "";
	return 0;
}

static int open_path(struct input_reader *reader, const char *path, struct tact_diag *diag)
{
	struct stat info;

	if (!strcmp(path, "-")) {
		reader->fd = STDIN_FILENO;
	} else {
		reader->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
		if (reader->fd < 0)
			return tact_fail_errno(diag, NULL);
		reader->owns_fd = true;
	}
	if (fstat(reader->fd, &info))
		return tact_fail_errno(diag, NULL);
	if (S_ISDIR(info.st_mode))
		return tact_fail(diag, TACT_E_IO, "%s", strerror(EISDIR));
	return 0;
}

int tact_input_open(struct tact_input **out, const char *path, const struct tact_input_options *opt,
		    struct tact_diag *diag)
{
	struct tact_input_options options;
	struct tact_input *in;
	int status;

	if (out)
		*out = NULL;
	if (!out || !path)
		return tact_fail(diag, TACT_E_INVAL, "no path");
	status = create(&in, opt, &options, diag);
	if (status < 0)
		return status;
	if (options.compiler) {
		status = input_compile(in, options.compiler, diag);
		options.kind = TACT_INPUT_ASM;
	} else {
		status = open_path(&in->reader, path, diag);
	}
	if (status >= 0)
		status = open_reader(in, &options, diag);
	if (status >= 0 && options.compiler)
		in->description = "source, compiled";
	return HAND_OVER(out, in, status, tact_input_close);
}

int tact_input_open_memory(struct tact_input **out, const void *data, size_t size,
			   const struct tact_input_options *opt, struct tact_diag *diag)
{
	struct tact_input_options options;
	struct tact_input *in;
	int status;

	if (out)
		*out = NULL;
	if (!out || (!data && size))
		return tact_fail(diag, TACT_E_INVAL, "no data");
	status = create(&in, opt, &options, diag);
	if (status < 0)
		return status;
	in->reader.data = malloc(size + 1);
	if (!in->reader.data) {
		tact_input_close(in);
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	}
	if (size)
		memcpy(in->reader.data, data, size);
	in->reader.capacity = in->reader.end = size;
	in->reader.is_eof = true;
	status = open_reader(in, &options, diag);
	return HAND_OVER(out, in, status, tact_input_close);
}

static int raw_next(struct tact_input *in, struct tact_region *region, struct tact_diag *diag)
{
	struct input_reader *reader = &in->reader;
	struct obj_range range = {.end = reader->end - reader->begin};

	if (in->is_marked && in->next_marked < in->marked.count)
		range = in->marked.items[in->next_marked++];
	else if (in->is_marked || !range.end)
		return 0;
	region->code = (const uint8_t *)reader->data + reader->begin + range.begin;
	region->code_size = range.end - range.begin;
	region->is_loop = code_is_loop(in->isa, region->code, region->code_size);
	if (!in->is_marked)
		reader->begin = reader->end;
	if (input_remark_calls(in, region))
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	return 1;
}

static int next_region(struct tact_input *in, struct tact_region *region, struct tact_diag *diag)
{
	*region = (struct tact_region){.size = sizeof(*region),
				       .isa = in->isa,
				       .name = "",
				       .function = "",
				       .symbol = "",
				       .inlined = "",
				       .source_path = "",
				       .source = "",
				       .text = "",
				       .member = ""};
	if (in->is_done)
		return 0;
	switch (in->kind) {
	case TACT_INPUT_HEX:
	case TACT_INPUT_CSV:
		return input_text_next(in, region, diag);
	case TACT_INPUT_RAW:
		return raw_next(in, region, diag);
	case TACT_INPUT_AUTO:
	case TACT_INPUT_ASM:
	case TACT_INPUT_ELF:
		break;
	}
	return in->archive ? input_members_next(in, region, diag)
			   : input_region_next(in, region, diag);
}

/* Adds the remarks about the whole input. */
static int add_remarks(struct tact_input *in, struct tact_region *region, struct tact_diag *diag)
{
	int status = in->merged ? 0 : tact_remarks_create(&in->merged);

	if (status >= 0) {
		tact_remarks_clear(in->merged);
		status = tact_remarks_append(in->merged, region->remarks);
	}
	if (status >= 0)
		status = tact_remarks_append(in->merged, in->general);
	if (status < 0)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	region->remarks = in->merged;
	return 1;
}

int tact_input_next(struct tact_input *in, struct tact_region *region, struct tact_diag *diag)
{
	struct tact_region all;
	int status;

	if (!in || !tact_can_fill(region))
		return tact_fail(diag, TACT_E_INVAL, "no input, or a region without its size");
	if (region->size == sizeof(all)) {
		status = next_region(in, region, diag);
		return status > 0 && in->general ? add_remarks(in, region, diag) : status;
	}
	status = next_region(in, &all, diag);
	if (status > 0 && in->general)
		status = add_remarks(in, &all, diag);
	tact_fill(region, &all, sizeof(all));
	return status;
}

const char *tact_input_description(const struct tact_input *in)
{
	return in ? in->description : "";
}

enum tact_input_kind tact_input_get_kind(const struct tact_input *in)
{
	return in ? in->kind : TACT_INPUT_AUTO;
}

void tact_input_close(struct tact_input *in)
{
	if (!in)
		return;
	input_members_close(in);
	obj_close(in->obj);
	tact_remarks_destroy(in->general);
	tact_remarks_destroy(in->merged);
	asm_source_destroy(&in->source);
	if (in->mapped.data)
		obj_image_unmap(&in->mapped);
	else
		free(in->image);
	if (in->reader.owns_fd)
		close(in->reader.fd);
	free(in->reader.data);
	free(in->code);
	free(in->regions);
	free(in->marked.items);
	free(in->latencies);
	free(in->pieces);
	free(in->taken);
	free(in->settings);
	free(in->set);
	free(in->function);
	tact_remarks_destroy(in->remarks);
	free(in->name.text);
	free(in->inlined.text);
	free(in->source_place.text);
	free(in);
}
