/* SPDX-License-Identifier: MIT
 *
 * Members of an archive.  A member is a header of text fields and its bytes, at even offsets (ar(5)
 * of 4.4BSD; "System V Application Binary Interface", chapter 7, for names after a slash).
 */
#include "input/archive.h"

#include <ctype.h>
#include <string.h>

#include "base/base.h"

static const char magic[] = "!<arch>\n";

/* Field widths are those of the format; all are padded with blanks. */
struct header {
	char name[16];
	char unused[32];
	char size[10];
	char end[2];
};

bool archive_is_one(const void *data, size_t size)
{
	return size >= strlen(magic) && !memcmp(data, magic, strlen(magic));
}

void archive_open(struct archive *archive, const void *data, size_t size)
{
	*archive = (struct archive){.data = data, .size = size, .at = strlen(magic)};
}

static bool read_number(const char *field, size_t width, size_t *value)
{
	size_t i;

	*value = 0;
	for (i = 0; i < width && isdigit((unsigned char)field[i]); i++)
		*value = *value * 10 + (size_t)(field[i] - '0');
	while (i < width && field[i] == ' ')
		i++;
	return i == width && field[0] != ' ';
}

/* Sets the name; false for tables, which are no members. */
static bool read_name(struct archive *archive, const struct header *header,
		      struct archive_member *member)
{
	const char *name = header->name, *stop;
	size_t number;

	if (!memcmp(name, "// ", 3)) {
		archive->names = member->data;
		archive->names_size = member->size;
		return false;
	}
	if (!memcmp(name, "/ ", 2) || !memcmp(name, "/SYM64/", 7) || !memcmp(name, "__.SYMDEF", 9))
		return false;
	member->name = name;
	if (name[0] == '/' && read_number(name + 1, sizeof(header->name) - 1, &number) &&
	    number < archive->names_size) {
		member->name = archive->names + number;
		stop = memchr(member->name, '\n', archive->names_size - number);
		member->name_size =
			stop ? (size_t)(stop - member->name) : archive->names_size - number;
	} else if (!memcmp(name, "#1/", 3) &&
		   read_number(name + 3, sizeof(header->name) - 3, &number) &&
		   number <= member->size) {
		/* BSD: the name comes before the bytes. */
		member->name = member->data;
		member->name_size = strnlen(member->data, number);
		member->data += number;
		member->size -= number;
		return strncmp(member->name, "__.SYMDEF", 9) != 0;
	} else {
		for (member->name_size = sizeof(header->name);
		     member->name_size && name[member->name_size - 1] == ' ';)
			member->name_size--;
	}
	if (member->name_size && member->name[member->name_size - 1] == '/')
		member->name_size--;
	return true;
}

int archive_next(struct archive *archive, struct archive_member *member, struct tact_diag *diag)
{
	const struct header *header;
	size_t left, size;

	while (archive->at < archive->size) {
		left = archive->size - archive->at;
		header = (const struct header *)(archive->data + archive->at);
		if (left < sizeof(*header))
			break;
		left -= sizeof(*header);
		if (memcmp(header->end, "`\n", 2) ||
		    !read_number(header->size, sizeof(header->size), &size) || size > left)
			return tact_fail_at(diag, TACT_E_FORMAT, 0, archive->at,
					    "the archive is damaged at byte %zu", archive->at);
		*member = (struct archive_member){.data = (const char *)(header + 1), .size = size};
		archive->at += sizeof(*header) + size + size % 2;
		if (read_name(archive, header, member))
			return 1;
	}
	return 0;
}
