/* SPDX-License-Identifier: MIT
 *
 * Regions of an archive: those of its members, one object after the other.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "code/code.h"
#include "input/archive.h"
#include "input/reader.h"

struct input_archive {
	struct archive archive;
	struct tact_input_options options;
	char *function;	 /* owned: options.function */
	uint8_t *member; /* owned: a copy of the current one, aligned as its reader needs it */
	char *name;	 /* owned: of the current one */
	int loop;	 /* that is asked for, counted over all members; 0: none */
	int n_loops;	 /* seen so far */
	size_t n_objects;
	bool is_open; /* in->obj is a member with regions left */
};

static int no_memory(struct tact_diag *diag)
{
	return tact_fail(diag, TACT_E_NOMEM, "out of memory");
}

static void close_member(struct tact_input *in)
{
	struct input_archive *a = in->archive;

	obj_close(in->obj);
	in->obj = NULL;
	FREE_ALL(a->member, a->name);
	a->member = NULL;
	a->name = NULL;
	a->is_open = false;
	in->n_regions = in->next_region = in->n_pieces = 0;
}

static int open_member(struct tact_input *in, const struct archive_member *member,
		       struct tact_diag *diag)
{
	struct input_archive *a = in->archive;
	int status;

	close_member(in);
	a->member = malloc(member->size);
	a->name = strndup(member->name, member->name_size);
	if (!a->member || !a->name)
		return no_memory(diag);
	memcpy(a->member, member->data, member->size);
	status = obj_open(&in->obj, a->member, member->size, diag);
	if (status < 0)
		return status;
	a->n_objects++;
	in->isa = in->obj->isa;
	if (code_cut_functions(in->obj) || code_cut_labels(in->obj))
		return no_memory(diag);
	status = input_choose_regions(in, &a->options, diag);
	a->is_open = status >= 0;
	return status;
}

/* Opens the next member that has what is asked for.  Returns 1, 0 at the end, or an error. */
static int next_member(struct tact_input *in, struct tact_diag *diag)
{
	struct archive_member member;
	int status;

	while ((status = archive_next(&in->archive->archive, &member, diag)) > 0) {
		/* Others are left out: lists of names, bitcode. */
		if (member.size < 4 || memcmp(member.data, "\177ELF", 4))
			continue;
		status = open_member(in, &member, diag);
		if (status >= 0)
			return 1;
		/* No such function here, or an object without code. */
		if (status != -TACT_E_INVAL && status != -TACT_E_FORMAT)
			return status;
	}
	return status;
}

static int fail_empty(const struct input_archive *a, struct tact_diag *diag)
{
	if (!a->n_objects)
		return tact_fail(diag, TACT_E_FORMAT, "an archive without code");
	if (a->function)
		return tact_fail(diag, TACT_E_INVAL, "no member has a function '%s'", a->function);
	return tact_fail(diag, TACT_E_INVAL, "no member of the archive has what is asked for");
}

int input_open_members(struct tact_input *in, const struct tact_input_options *opt,
		       struct tact_diag *diag)
{
	struct input_archive *a = calloc(1, sizeof(*a));
	int status;

	if (!a)
		return no_memory(diag);
	in->archive = a;
	a->options = *opt;
	if (opt->function) {
		a->options.function = a->function = strdup(opt->function);
		if (!a->function)
			return no_memory(diag);
	} else {
		a->loop = opt->loop;
		a->options.loop = 0;
	}
	archive_open(&a->archive, in->image, in->image_size);
	status = next_member(in, diag);
	if (!status)
		return fail_empty(a, diag);
	return status < 0 ? status : 0;
}

int input_members_next(struct tact_input *in, struct tact_region *region, struct tact_diag *diag)
{
	const struct tact_region nothing = *region;
	struct input_archive *a = in->archive;
	int status = 1;

	while (status > 0) {
		if (!a->is_open)
			status = next_member(in, diag);
		if (status <= 0)
			break;
		*region = nothing;
		status = input_region_next(in, region, diag);
		region->member = a->name;
		if (status < 0)
			return status;
		if (status == 0) {
			a->is_open = false;
			status = 1;
		} else if (!a->loop) {
			return 1;
		} else if (region->is_candidate && ++a->n_loops == a->loop) {
			region->is_candidate = false;
			return 1;
		}
	}
	region->member = "";
	if (status == 0 && a->loop > a->n_loops) {
		status = tact_fail(diag, TACT_E_INVAL, "there is no loop %d: %d found", a->loop,
				   a->n_loops);
		a->loop = 0;
	}
	return status;
}

void input_members_close(struct tact_input *in)
{
	if (!in->archive)
		return;
	close_member(in);
	free(in->archive->function);
	free(in->archive);
	in->archive = NULL;
}
