/* SPDX-License-Identifier: MIT
 *
 * pprof's profile.proto (github.com/google/pprof, proto/profile.proto; numbers of fields are from
 * there), in the wire format of protocol buffers, in gzip's form (RFC 1952) without compression.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"

/* ---- protocol buffers ---- */

enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

static void put_varint(struct text *out, uint64_t value)
{
	uint8_t bytes[10];
	size_t n = 0;

	do {
		bytes[n] = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
		value >>= 7;
		n++;
	} while (value);
	text_add_bytes(out, bytes, n);
}

static void put_number(struct text *out, unsigned field, uint64_t value)
{
	if (!value)
		return; /* the default */
	put_varint(out, field << 3 | WIRE_VARINT);
	put_varint(out, value);
}

static void put_bytes(struct text *out, unsigned field, const void *data, size_t size)
{
	put_varint(out, field << 3 | WIRE_BYTES);
	put_varint(out, size);
	text_add_bytes(out, data, size);
}

/* Puts a message and empties it. */
static void put_message(struct text *out, unsigned field, struct text *message)
{
	put_bytes(out, field, message->size ? message->data : "", message->size);
	out->failed |= message->failed;
	text_reset(message);
}

/* ---- strings, mappings, functions ---- */

/* Strings that were given a number: that of a mapping is its file, of a function its name and file. */
struct pprof {
	const struct profile *p;
	const char **strings; /* owned; string 0 is "" */
	size_t n_strings, capacity;
	struct hash index; /* of strings */
	struct pprof_function {
		uint64_t name, file; /* strings */
	} * functions;		     /* owned */
	uint64_t *location;	     /* owned: by frame, from 1 */
	uint64_t *mapping;	     /* owned: strings of files, by mapping */
	size_t n_functions, n_mappings;
	struct hash by_function, by_file;
	struct text message, inner; /* owned */
	bool failed;
};

static uint64_t string_of(struct pprof *x, const char *string)
{
	const uint64_t hash = hash_string(string);
	size_t at = 0;
	uint32_t i;

	while ((i = hash_next(&x->index, hash, &at)) != HASH_NONE)
		if (!strcmp(x->strings[i], string))
			return i;
	if (tact_grow(&x->strings, &x->capacity, x->n_strings + 1, sizeof(*x->strings)) ||
	    hash_add(&x->index, hash, (uint32_t)x->n_strings)) {
		x->failed = true;
		return 0;
	}
	x->strings[x->n_strings] = string;
	return x->n_strings++;
}

static uint64_t mapping_of(struct pprof *x, uint64_t file)
{
	const uint64_t hash = hash_number(file);
	size_t at = 0;
	uint32_t i;

	if (!file)
		return 0;
	while ((i = hash_next(&x->by_file, hash, &at)) != HASH_NONE)
		if (x->mapping[i] == file)
			return i + 1;
	if (hash_add(&x->by_file, hash, (uint32_t)x->n_mappings)) {
		x->failed = true;
		return 0;
	}
	x->mapping[x->n_mappings++] = file;
	return x->n_mappings;
}

/* Locations are functions: addresses are not known. */
static uint64_t location_of(struct pprof *x, const struct profile_frame *f)
{
	const struct pprof_function wanted = {string_of(x, f->name), string_of(x, f->file)};
	const uint64_t hash = hash_number(wanted.name << 32 ^ wanted.file);
	size_t at = 0;
	uint32_t i;

	while ((i = hash_next(&x->by_function, hash, &at)) != HASH_NONE)
		if (x->functions[i].name == wanted.name && x->functions[i].file == wanted.file)
			return i + 1;
	if (hash_add(&x->by_function, hash, (uint32_t)x->n_functions)) {
		x->failed = true;
		return 1;
	}
	mapping_of(x, wanted.file);
	x->functions[x->n_functions++] = wanted;
	return x->n_functions;
}

/* ---- the profile ---- */

static void put_units(struct pprof *x, struct text *out)
{
	for (size_t i = 0; i < x->p->n_units; i++) {
		put_number(&x->message, 1, string_of(x, x->p->units[i].type));
		put_number(&x->message, 2, string_of(x, x->p->units[i].unit));
		put_message(out, 1, &x->message);
	}
}

static void put_sample(struct pprof *x, size_t frame, struct text *out)
{
	const struct profile_frame *f = &x->p->frames[frame];
	bool is_empty = true;

	for (size_t i = 0; i < x->p->n_units; i++)
		is_empty &= !(f->value[i] >= 0.5);
	if (is_empty)
		return;
	for (size_t at = frame; at != PROFILE_ROOT; at = x->p->frames[at].parent)
		put_varint(&x->inner, x->location[at]);
	put_message(&x->message, 1, &x->inner);
	for (size_t i = 0; i < x->p->n_units; i++)
		put_varint(&x->inner, f->value[i] > 0 ? (uint64_t)llround(f->value[i]) : 0);
	put_message(&x->message, 2, &x->inner);
	put_message(out, 2, &x->message);
}

static void put_mappings(struct pprof *x, struct text *out)
{
	for (size_t i = 0; i < x->n_mappings; i++) {
		put_number(&x->message, 1, i + 1);
		put_number(&x->message, 5, x->mapping[i]);
		put_number(&x->message, 7, 1); /* has functions */
		put_message(out, 3, &x->message);
	}
}

static void put_locations(struct pprof *x, struct text *out)
{
	for (size_t i = 0; i < x->n_functions; i++) {
		put_number(&x->message, 1, i + 1);
		put_number(&x->message, 2, mapping_of(x, x->functions[i].file));
		put_number(&x->inner, 1, i + 1); /* a line: its function */
		put_message(&x->message, 4, &x->inner);
		put_message(out, 4, &x->message);
	}
	for (size_t i = 0; i < x->n_functions; i++) {
		put_number(&x->message, 1, i + 1);
		put_number(&x->message, 2, x->functions[i].name);
		put_number(&x->message, 3, x->functions[i].name);
		put_message(out, 5, &x->message);
	}
}

static void put_profile(struct pprof *x, struct text *out)
{
	const uint64_t first = string_of(x, ""), comment = string_of(x, x->p->title);

	(void)first; /* string 0 has to be "" */
	put_units(x, out);
	for (size_t i = 0; i < x->p->n; i++)
		x->location[i] = location_of(x, &x->p->frames[i]);
	for (size_t i = 0; i < x->p->n; i++)
		put_sample(x, i, out);
	put_mappings(x, out);
	put_locations(x, out);
	for (size_t i = 0; i < x->n_strings; i++)
		put_bytes(out, 6, x->strings[i], strlen(x->strings[i]));
	if (comment) {
		put_varint(&x->message, comment); /* packed */
		put_message(out, 13, &x->message);
	}
	if (x->p->n_units)
		put_number(out, 14, string_of(x, x->p->units[0].type));
}

/* ---- gzip ---- */

static uint32_t crc32_of(const uint8_t *data, size_t size)
{
	uint32_t table[256], crc = UINT32_MAX;

	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (unsigned bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
	}
	for (size_t i = 0; i < size; i++)
		crc = crc >> 8 ^ table[(crc ^ data[i]) & 0xff];
	return ~crc;
}

static void put_little(struct text *out, uint32_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++) {
		const uint8_t byte = (uint8_t)(value >> 8 * i);

		text_add_bytes(out, &byte, 1);
	}
}

/* Stored blocks of RFC 1951 have a size of 16 bits. */
static void put_gzip(struct text *out, const struct text *content)
{
	static const uint8_t head[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};
	const uint8_t *data = (const uint8_t *)(content->size ? content->data : "");
	size_t left = content->size;

	text_add_bytes(out, head, sizeof(head));
	do {
		const size_t n = left < 0xffff ? left : 0xffff;

		put_little(out, n == left, 1);
		put_little(out, (uint32_t)n, 2);
		put_little(out, (uint32_t)~n, 2);
		text_add_bytes(out, data + (content->size - left), n);
		left -= n;
	} while (left);
	put_little(out, crc32_of(data, content->size), 4);
	put_little(out, (uint32_t)content->size, 4);
	out->failed |= content->failed;
}

void profile_pprof(const struct profile *p, struct text *out)
{
	struct pprof x = {.p = p};
	struct text content = {0};

	x.functions = calloc(p->n + 1, sizeof(*x.functions));
	x.location = calloc(p->n + 1, sizeof(*x.location));
	x.mapping = calloc(p->n + 1, sizeof(*x.mapping));
	if (x.functions && x.location && x.mapping) {
		put_profile(&x, &content);
		put_gzip(out, &content);
	} else {
		x.failed = true;
	}
	out->failed |= x.failed | x.message.failed | x.inner.failed;
	text_free(&content);
	text_free(&x.message);
	text_free(&x.inner);
	hash_free(&x.index);
	hash_free(&x.by_function);
	hash_free(&x.by_file);
	FREE_ALL(x.strings, x.functions, x.location, x.mapping);
}
