/* SPDX-License-Identifier: MIT
 *
 * What the files of this module share: the open input and the bytes that it reads.
 */
#ifndef TACT_READER_H
#define TACT_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/input.h>

#include "code/code.h"
#include "isa/assemble.h"
#include "obj/obj.h"

/* How many bytes are looked at to tell what a file is. */
#define INPUT_SAMPLE_SIZE 65536

/* A window over the bytes of a file or pipe: data[begin] .. data[end - 1] are read but not used
 * yet.  It grows only to the length of the longest line.
 */
struct input_reader {
	int fd; /* -1: everything is in data */
	bool owns_fd;
	bool is_eof;
	char *data; /* owned */
	size_t capacity;
	size_t begin, end;
	uint64_t line; /* of the next line, from 1 */
};

/* How a region is named; the text is made on demand. */
enum input_naming {
	INPUT_NAME_NONE,
	INPUT_NAME_MARKER,   /* the marker's own name */
	INPUT_NAME_FUNCTION, /* the function's */
	INPUT_NAME_PLACE,    /* function + offset */
	INPUT_NAME_RANGE     /* begin-end, addresses */
};

struct input_region {
	struct obj_range range;
	enum input_naming naming;
	const char *name; /* INPUT_NAME_MARKER: owned by tact_input.source */
	uint64_t line;	  /* of the marker; 0: see the line table */
	bool is_candidate;
	bool is_loop;	  /* found as one */
	size_t head;	  /* of the loop, an offset in the section */
	bool lacks_end;	  /* its marker does: it goes to the end of the section */
	bool is_chosen;	  /* its bytes are: by markers or addresses */
	uint32_t path;	  /* the way through it, from 1; 0: as is best */
	uint32_t n_paths; /* if path was asked for */
};

/* The latency of instructions that begin in this range. */
struct input_latency {
	struct obj_range range;
	unsigned cycles;
};

/* What a comment sets from a place of the code on. */
struct input_setting {
	size_t section, offset;
	uint16_t setting;
};

struct input_buffer {
	char *text; /* owned, NUL-terminated */
	size_t capacity;
};

/* Code of the current region that is in one piece in the file. */
struct input_piece {
	size_t at; /* in the region */
	struct obj_range range;
};

struct input_archive;

struct tact_input {
	enum tact_input_kind kind;
	const struct tact_isa *isa; /* of the code */
	const char *description;
	char elf_description[64];
	struct input_reader reader;

	/* HEX, CSV, RAW */
	uint8_t *code; /* owned: the bytes of the current region */
	size_t code_capacity;
	struct code_ranges marked; /* owned; RAW: what is between markers, if that was asked for */
	size_t next_marked;
	bool is_marked;
	bool is_header_possible; /* CSV: no line with data was seen yet */
	bool saw_code;		 /* a line that is code, or should be */
	bool is_done;

	/* ASM, ELF */
	struct asm_source source;
	struct obj_file *obj;
	uint8_t *image; /* owned; bytes of the object file */
	size_t image_size;
	struct obj_image mapped; /* the image, if it is not from malloc */
	struct input_region *regions;
	size_t n_regions, regions_capacity, next_region;
	/* What comments of the text say of latencies, and those of the current region. */
	struct input_latency *latencies; /* owned */
	size_t n_latencies, latencies_capacity;
	struct tact_given_latency *taken; /* owned */
	size_t n_taken, taken_capacity;
	/* The same of what costs depend on; by place. */
	struct input_setting *settings; /* owned */
	size_t n_settings, settings_capacity;
	struct tact_given_setting *set; /* owned */
	size_t n_set, set_capacity;
	struct input_buffer name, source_place, inlined;
	struct input_piece *pieces; /* owned: where the code of the current region is */
	size_t n_pieces, pieces_capacity;
	char *function; /* owned: the current region's, demangled; NULL: as its symbol */
	bool is_mangled;
	/* About the whole input, NULL: none; and the same with those of the current region. */
	struct tact_remarks *general, *merged; /* owned */
	struct input_archive *archive;	       /* owned; NULL: this is none */
	struct tact_remarks *remarks; /* owned; of the current region; NULL: none was needed yet */
};

/* Reads more after data[end]; keeps data[begin] and what follows.  Returns 1, 0 at the end of the
 * file, -TACT_E_NOMEM or -TACT_E_IO.
 */
int input_read_more(struct input_reader *reader, struct tact_diag *diag);

/* Reads the next line without its end; the pointer is valid until the next call.  Returns 1, 0 at
 * the end, or an error of input_read_more.
 */
int input_read_line(struct input_reader *reader, const char **line, size_t *size,
		    struct tact_diag *diag);

/* Tells what the bytes are.  `is_all`: they are the whole input, not only its beginning.  Returns
 * 0, or -TACT_E_FORMAT for what is neither text nor ELF, and for nothing.
 */
int input_detect(const char *data, size_t size, bool is_all, enum tact_input_kind *kind,
		 struct tact_diag *diag);

/* Returns whether there is a line that is neither blank nor a comment. */
bool input_has_text(const char *data, size_t size);

int input_text_next(struct tact_input *in, struct tact_region *region, struct tact_diag *diag);

extern const char input_no_markers[]; /* what is wrong if only code between them counts */

/* Fills regions from obj, as the options say. */
int input_choose_regions(struct tact_input *in, const struct tact_input_options *opt,
			 struct tact_diag *diag);
/* Opens in->image as an archive: its members come one after the other, as if they were files.
 * input_members_next is input_region_next for these.
 */
int input_open_members(struct tact_input *in, const struct tact_input_options *opt,
		       struct tact_diag *diag);
int input_members_next(struct tact_input *in, struct tact_region *region, struct tact_diag *diag);
void input_members_close(struct tact_input *in); /* one that is no archive is allowed */

/* Adds regions for all ways through a region, or the one that was asked for. */
int input_choose_path(struct tact_input *in, const struct input_region *region, int path,
		      struct tact_diag *diag);
int input_add_region(struct tact_input *in, struct input_region region, struct tact_diag *diag);

/* Finds where the latencies that comments give are in the assembled code.  Returns 0 or
 * -TACT_E_NOMEM.
 */
int input_find_latencies(struct tact_input *in);

/* Adds those of a piece of code, which is at `place` in the code that is taken, to in->taken.
 * Returns 0 or -TACT_E_NOMEM.
 */
int input_take_latencies(struct tact_input *in, struct obj_range piece, size_t place);

/* The same for settings; and finds what holds at an offset of a section, before comments there.
 * Return 0 or -TACT_E_NOMEM.
 */
int input_find_settings(struct tact_input *in);
int input_take_settings(struct tact_input *in, struct obj_range piece, size_t place);
int input_setting_at(const struct tact_input *in, size_t section, size_t offset,
		     const struct tact_region *region, uint16_t *out);

/* Sets code, mode and remarks of a region that is handed out.  Returns 0 or -TACT_E_NOMEM. */
int input_take_code(struct tact_input *in, const struct input_region *r,
		    struct tact_region *region);

/* Remarks on the calls of a region of mere bytes.  Returns 0 or -TACT_E_NOMEM. */
int input_remark_calls(struct tact_input *in, struct tact_region *region);

int input_region_next(struct tact_input *in, struct tact_region *region, struct tact_diag *diag);

#endif /* TACT_READER_H */
