/* SPDX-License-Identifier: MIT
 *
 * Recordings of traces (.tct): compressed chunks of words.  They are read and written in one pass,
 * so that a pipe or a socket will do.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zstd.h>

#include "base/file.h"
#include "trace/trace.h"

/* Level 1 keeps up with the plugin; higher ones gain a few percent on such words. */
enum { LEVEL = 1, BUFFER = 1 << 17, MAX_CHUNK = 1 << 20 };

struct trace_reader {
	int fd; /* -1: memory */
	ZSTD_DStream *zstd;
	ZSTD_inBuffer in;
	const uint8_t *memory; /* the caller's; NULL: a file */
	size_t memory_size, memory_at;
	bool is_last;
	size_t left;	 /* the last result of ZSTD_decompressStream; 0: a frame is complete */
	uint64_t *words; /* owned */
	size_t capacity;
	uint8_t buffer[BUFFER];
};

struct trace_writer {
	int fd;
	ZSTD_CStream *zstd;
	uint8_t buffer[BUFFER];
};

/* ---- reading ---- */

/* Reads more bytes of the file: returns their number, 0 at its end, or < 0. */
static ssize_t read_some(struct trace_reader *r, void *to, size_t size, struct tact_diag *diag)
{
	ssize_t n;

	if (r->memory) {
		n = (ssize_t)(r->memory_size - r->memory_at < size ? r->memory_size - r->memory_at
								   : size);
		memcpy(to, r->memory + r->memory_at, (size_t)n);
		r->memory_at += (size_t)n;
		return n;
	}
	do
		n = read(r->fd, to, size);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return tact_fail(diag, TACT_E_IO, "cannot read the trace: %s", strerror(errno));
	return n;
}

/* Reads the next bytes to decompress: returns 1, 0 at the end of the file, or < 0. */
static int refill(struct trace_reader *r, struct tact_diag *diag)
{
	const ssize_t n = read_some(r, r->buffer, sizeof(r->buffer), diag);

	if (n > 0)
		r->in = (ZSTD_inBuffer){r->buffer, (size_t)n, 0};
	return n > 0 ? 1 : (int)n;
}

static int decompress(struct trace_reader *r, ZSTD_outBuffer *out, struct tact_diag *diag)
{
	r->left = ZSTD_decompressStream(r->zstd, out, &r->in);
	if (ZSTD_isError(r->left))
		return tact_fail(diag, TACT_E_FORMAT, "damaged trace: %s",
				 ZSTD_getErrorName(r->left));
	return 0;
}

static int fail_short(struct tact_diag *diag)
{
	return tact_fail(diag, TACT_E_FORMAT, "the trace is cut short");
}

static int fail_long(struct tact_diag *diag)
{
	return tact_fail(diag, TACT_E_FORMAT, "damaged trace: there is more after its end");
}

/* Reads exactly `size` decompressed bytes: returns 1, 0 if the file ends before the first of them,
 * or < 0.
 */
static int read_exact(struct trace_reader *r, void *to, size_t size, struct tact_diag *diag)
{
	ZSTD_outBuffer out = {to, size, 0};

	while (out.pos < out.size) {
		const size_t before = out.pos, in_before = r->in.pos;
		int status = decompress(r, &out, diag);

		if (status < 0)
			return status;
		if (out.pos != before || r->in.pos != in_before || r->in.pos < r->in.size)
			continue;
		status = refill(r, diag);
		if (status <= 0)
			return status < 0 || !out.pos ? status : fail_short(diag);
	}
	return 1;
}

/* Reads what follows the last chunk: the checksum of everything. */
static int read_end(struct trace_reader *r, struct tact_diag *diag)
{
	ZSTD_outBuffer out = {NULL, 0, 0};

	while (r->left) {
		int status = decompress(r, &out, diag);

		if (status < 0)
			return status;
		if (!r->left)
			break;
		if (r->in.pos < r->in.size)
			return fail_long(diag);
		status = refill(r, diag);
		if (status <= 0)
			return status < 0 ? status : fail_short(diag);
	}
	return r->in.pos < r->in.size ? fail_long(diag) : 0;
}

static int read_header(struct trace_reader *r, enum wire_mode *mode, struct tact_diag *diag)
{
	struct wire_file header;
	size_t used = 0;

	while (used < sizeof(header)) {
		ssize_t n = read_some(r, (uint8_t *)&header + used, sizeof(header) - used, diag);

		if (n < 0)
			return (int)n;
		if (!n)
			return tact_fail(diag, TACT_E_FORMAT, "not a trace of tact: too short");
		used += (size_t)n;
	}
	if (header.magic != WIRE_FILE_MAGIC)
		return tact_fail(diag, TACT_E_FORMAT, "not a trace of tact");
	if (header.version != WIRE_VERSION)
		return tact_fail(diag, TACT_E_VERSION,
				 "a trace of version %u; this program reads version %d",
				 header.version, WIRE_VERSION);
	if (header.mode != WIRE_TRACE && header.mode != WIRE_COUNT)
		return tact_fail(diag, TACT_E_FORMAT, "damaged trace: unknown mode %u",
				 header.mode);
	*mode = (enum wire_mode)header.mode;
	return 0;
}

int trace_reader_create(struct trace_reader **out, int fd, const void *data, size_t size,
			enum wire_mode *mode, struct tact_diag *diag)
{
	struct trace_reader *r = calloc(1, sizeof(*r));
	int status;

	if (!r)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	r->fd = fd;
	r->memory = data;
	r->memory_size = size;
	r->zstd = ZSTD_createDStream();
	status = r->zstd ? read_header(r, mode, diag)
			 : tact_fail(diag, TACT_E_NOMEM, "out of memory");
	if (status) {
		r->fd = -1; /* still the caller's */
		trace_reader_destroy(r);
		return status;
	}
	*out = r;
	return 0;
}

int trace_reader_next(struct trace_reader *r, struct trace_piece *piece, struct tact_diag *diag)
{
	struct wire_chunk chunk;
	int status;

	if (r->is_last)
		return 0;
	status = read_exact(r, &chunk, sizeof(chunk), diag);
	if (!status)
		return fail_short(diag);
	if (status < 0)
		return status;
	if (chunk.stream == WIRE_LAST) {
		r->is_last = true;
		return read_end(r, diag);
	}
	if (chunk.n_words > MAX_CHUNK)
		return tact_fail(diag, TACT_E_FORMAT, "damaged trace: a chunk of %u words",
				 chunk.n_words);
	if (tact_grow(&r->words, &r->capacity, chunk.n_words + 1, sizeof(*r->words)))
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	status = chunk.n_words ? read_exact(r, r->words, chunk.n_words * 8, diag) : 1;
	if (!status)
		return fail_short(diag);
	if (status < 0)
		return status;
	*piece = (struct trace_piece){chunk.stream, r->words, chunk.n_words};
	return 1;
}

void trace_reader_destroy(struct trace_reader *r)
{
	if (!r)
		return;
	if (r->fd >= 0)
		close(r->fd);
	ZSTD_freeDStream(r->zstd);
	FREE_ALL(r->words, r);
}

/* ---- writing ---- */

static int write_all(int fd, const void *data, size_t size, struct tact_diag *diag)
{
	return file_write_all(fd, data, size) < 0
		       ? tact_fail(diag, TACT_E_IO, "cannot write the trace: %s", strerror(errno))
		       : 0;
}

static int compress(struct trace_writer *w, const void *data, size_t size, ZSTD_EndDirective end,
		    struct tact_diag *diag)
{
	ZSTD_inBuffer in = {data, size, 0};
	size_t left;

	do {
		ZSTD_outBuffer out = {w->buffer, sizeof(w->buffer), 0};
		int status;

		left = ZSTD_compressStream2(w->zstd, &out, &in, end);
		if (ZSTD_isError(left))
			return tact_fail(diag, TACT_E_NOMEM, "cannot compress the trace: %s",
					 ZSTD_getErrorName(left));
		status = write_all(w->fd, w->buffer, out.pos, diag);
		if (status)
			return status;
	} while (in.pos < in.size || (end != ZSTD_e_continue && left));
	return 0;
}

int trace_writer_create(struct trace_writer **out, int fd, enum wire_mode mode,
			struct tact_diag *diag)
{
	const struct wire_file header = {WIRE_FILE_MAGIC, WIRE_VERSION, mode};
	struct trace_writer *w = calloc(1, sizeof(*w));
	int status;

	if (!w)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	w->fd = fd;
	w->zstd = ZSTD_createCStream();
	if (!w->zstd ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, LEVEL)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_checksumFlag, 1)))
		status = tact_fail(diag, TACT_E_NOMEM, "out of memory");
	else
		status = write_all(fd, &header, sizeof(header), diag);
	if (status) {
		ZSTD_freeCStream(w->zstd);
		free(w);
		return status;
	}
	*out = w;
	return 0;
}

int trace_writer_add(struct trace_writer *w, const struct trace_piece *piece,
		     struct tact_diag *diag)
{
	const struct wire_chunk chunk = {piece->stream, (uint32_t)piece->n_words};
	int status = compress(w, &chunk, sizeof(chunk), ZSTD_e_continue, diag);

	if (!status && piece->n_words)
		status = compress(w, piece->words, piece->n_words * 8, ZSTD_e_continue, diag);
	return status;
}

int trace_writer_finish(struct trace_writer *w, bool is_cut, struct tact_diag *diag)
{
	const struct wire_chunk last = {WIRE_LAST, 0};
	int status = is_cut ? 0 : compress(w, &last, sizeof(last), ZSTD_e_end, diag);

	ZSTD_freeCStream(w->zstd);
	free(w);
	return status;
}
