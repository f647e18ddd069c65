/* SPDX-License-Identifier: MIT
 *
 * Sorted runs: how records are written and read.
 */
#include "evaluate/sorted_runs.h"

#include <string.h>

enum {
	IS_HUNDREDTHS = 1,
	IS_RAW = 2,
	Y_SHIFT = 2,
	HAS_W = 1 << 4,
	HAS_V = 1 << 5,
	HAS_WHOLE_V = 1 << 6,
	MAX_VARINT = 10
};

/* ---- writing ---- */

void run_writer_init(struct run_writer *w,
		     int (*put)(void *arg, const void *data, size_t size, struct tact_diag *diag),
		     void *arg)
{
	w->put = put;
	w->arg = arg;
	w->tags = NULL;
	w->last = (struct run_record){.w = 1};
	w->n = w->n_bytes = 0;
	w->used = 0;
}

static uint8_t *put_varint(uint8_t *p, uint64_t n)
{
	for (; n > 0x7f; n >>= 7)
		*p++ = (uint8_t)(n | 0x80);
	*p++ = (uint8_t)n;
	return p;
}

static uint8_t *put_raw(uint8_t *p, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	for (unsigned i = 0; i < 8; i++)
		*p++ = (uint8_t)(bits >> 8 * i);
	return p;
}

static bool is_same(double a, double b)
{
	return !memcmp(&a, &b, sizeof(a));
}

/* Writes a number, if it is not the last one; returns how in *form. */
static uint8_t *put_number(uint8_t *p, double value, double last, unsigned *form)
{
	const double most = 1e9;
	uint64_t hundredths;

	*form = 0;
	if (is_same(value, last))
		return p;
	if (value >= 0 && value < most) {
		hundredths = (uint64_t)(value * 100 + 0.5);
		if (is_same((double)hundredths / 100, value)) {
			*form = IS_HUNDREDTHS;
			return put_varint(p, hundredths);
		}
	}
	*form = IS_RAW;
	return put_raw(p, value);
}

int run_flush(struct run_writer *w, struct tact_diag *diag)
{
	int status = w->used ? w->put(w->arg, w->buffer, w->used, diag) : 0;

	w->n_bytes += w->used;
	w->used = 0;
	return status;
}

int run_write(struct run_writer *w, const struct run_record *r, struct tact_diag *diag)
{
	uint8_t *flags = w->buffer + w->used, *p = flags + 1;
	unsigned x, y, rest = 0;

	p = put_number(p, r->x, w->last.x, &x);
	p = put_number(p, r->y, w->last.y, &y);
	if (!is_same(r->w, w->last.w)) {
		rest |= HAS_W;
		p = put_raw(p, r->w);
	}
	if (!is_same(r->v, r->w)) {
		const bool is_whole = r->v >= 0 && r->v < 0x1p53 && r->v == floor(r->v);

		rest |= is_whole ? HAS_WHOLE_V : HAS_V;
		p = is_whole ? put_varint(p, (uint64_t)r->v) : put_raw(p, r->v);
	}
	p = put_varint(p, w->tags ? (uint64_t)w->tags[r->tag >> 2] << 2 | (r->tag & 3) : r->tag);
	*flags = (uint8_t)(x | y << Y_SHIFT | rest);
	w->last = *r;
	w->used = (size_t)(p - w->buffer);
	w->n++;
	return w->used >= RUN_BUFFER ? run_flush(w, diag) : 0;
}

/* ---- reading ---- */

void run_reader_init(struct run_reader *r,
		     int (*get)(void *arg, void *to, size_t size, uint64_t offset,
				struct tact_diag *diag),
		     void *arg, uint64_t begin, uint64_t end)
{
	r->get = get;
	r->arg = arg;
	r->at = begin;
	r->end = end;
	r->last = (struct run_record){.w = 1};
	r->used = r->have = 0;
}

static int fill(struct run_reader *r, struct tact_diag *diag)
{
	const size_t left = r->have - r->used, room = RUN_BUFFER - left;
	const uint64_t rest = r->end - r->at;
	const size_t size = rest < room ? (size_t)rest : room;
	int status;

	memmove(r->buffer, r->buffer + r->used, left);
	r->used = 0;
	r->have = left;
	status = size ? r->get(r->arg, r->buffer + left, size, r->at, diag) : 0;
	if (status < 0)
		return status;
	r->have += size;
	r->at += size;
	return 0;
}

static const uint8_t *get_varint(const uint8_t *p, const uint8_t *end, uint64_t *n)
{
	*n = 0;
	for (unsigned i = 0; i < MAX_VARINT && p && p < end; i++) {
		*n |= (uint64_t)(*p & 0x7f) << 7 * i;
		if (!(*p++ & 0x80))
			return p;
	}
	return NULL;
}

static const uint8_t *get_raw(const uint8_t *p, const uint8_t *end, double *value)
{
	uint64_t bits = 0;

	if (!p || end - p < 8)
		return NULL;
	for (unsigned i = 0; i < 8; i++)
		bits |= (uint64_t)*p++ << 8 * i;
	memcpy(value, &bits, sizeof(bits));
	return p;
}

static const uint8_t *get_number(const uint8_t *p, const uint8_t *end, unsigned form, double *value)
{
	uint64_t hundredths;

	switch (form) {
	case 0:
		return p;
	case IS_HUNDREDTHS:
		p = get_varint(p, end, &hundredths);
		*value = (double)hundredths / 100;
		return p;
	case IS_RAW:
		return get_raw(p, end, value);
	default:
		return NULL;
	}
}

int run_read(struct run_reader *r, struct run_record *record, struct tact_diag *diag)
{
	const uint8_t *p, *end;
	uint64_t whole;
	unsigned flags;

	if (r->have - r->used < RUN_MAX_RECORD && r->at < r->end) {
		int status = fill(r, diag);

		if (status < 0)
			return status;
	}
	if (r->used == r->have)
		return 0;
	p = r->buffer + r->used;
	end = r->buffer + r->have;
	flags = *p++;
	p = get_number(p, end, flags & 3, &r->last.x);
	p = get_number(p, end, flags >> Y_SHIFT & 3, &r->last.y);
	if (flags & HAS_W)
		p = get_raw(p, end, &r->last.w);
	r->last.v = r->last.w;
	if (flags & HAS_V) {
		p = get_raw(p, end, &r->last.v);
	} else if (flags & HAS_WHOLE_V) {
		p = get_varint(p, end, &whole);
		r->last.v = (double)whole;
	}
	p = get_varint(p, end, &r->last.tag);
	if (!p || flags & 0x80)
		return tact_fail(diag, TACT_E_FORMAT, "bytes that are no record of scores");
	r->used = (size_t)(p - r->buffer);
	*record = r->last;
	return 1;
}
