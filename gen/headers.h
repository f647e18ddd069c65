/* SPDX-License-Identifier: MIT
 *
 * Reads public headers as what they declare: for gen_interface.c.  Nothing is freed.
 */
#ifndef TACT_GEN_HEADERS_H
#define TACT_GEN_HEADERS_H

#include <stdbool.h>
#include <stddef.h>

enum item_kind {
	ITEM_SECTION, /* a comment with dashes: name is the title */
	ITEM_TEXT,    /* a comment of its own, with a blank line after it */
	ITEM_FUNCTION,
	ITEM_DATA,   /* extern */
	ITEM_TYPE,   /* a struct or an enum with its body; name may be "" */
	ITEM_OPAQUE, /* a struct without a body */
	ITEM_MACRO,
};

struct item {
	enum item_kind kind;
	const char *name;
	const char *text;     /* the declaration as it stands there, without the comment above it */
	const char *comment;  /* above it, without its delimiters; "" if there is none */
	const char *trailing; /* on the line of its end; "" if there is none */
	bool is_grouped; /* no blank line between it and the item before: the comment is shared */
	unsigned line;
};

struct header {
	const char *path;
	const char *name;    /* block.h */
	const char *comment; /* at its top, after the line of the licence */
	struct item *items;
	size_t n;
	const char **includes; /* other public headers: block.h */
	size_t n_includes;
};

void *gen_alloc(size_t size);
char *gen_copy(const char *text, size_t size);
void gen_fail(const char *path, unsigned line, const char *why) __attribute__((noreturn));

void header_read(struct header *header, const char *path);

/* The comment that tells the contract of an item: its own, or that of its group.  "" if none. */
const char *header_contract(const struct header *header, size_t item);

#endif /* TACT_GEN_HEADERS_H */
