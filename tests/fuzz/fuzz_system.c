/* SPDX-License-Identifier: MIT
 *
 * What the system and other machines say.  The first byte picks one of them:
 *
 * - /proc/kallsyms and /proc/kcore: symbols in their order, found by their addresses;
 * - a ring of the kernel's records, filled to any place: whole records, and no byte twice;
 * - an address to listen at or to connect to;
 * - answers of an external model: `cat` plays it, and prints the rest of the input;
 * - the memory that a traced program shares with us, and may write anything to.
 */
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include <tact/model.h>

#include "base/base.h"
#include "base/hash.h"
#include "fuzz.h"
#include "fuzz_file.h"
#include "mix/mix.h"
#include "pmu/ring.h"
#include "trace/trace.h"

/* ---- the kernel's symbols ---- */

static void check_symbols(const struct mix_kernel *k)
{
	const size_t n = mix_kernel_symbols(k);
	uint64_t last = 0, begin, address;
	size_t size;
	const uint8_t *text = mix_kernel_text(k, &address, &size);

	hash_bytes(text, size);
	for (size_t i = 0; i < n && i < 1000; i++) {
		const uint64_t at = mix_kernel_symbol_at(k, i);

		MUST(at >= last);
		last = at;
		MUST(mix_kernel_symbol(k, at, &begin) && begin == at);
		/* One that lies between is in the same function, or in none. */
		if (mix_kernel_symbol(k, at + 1, &begin))
			MUST(begin == at || begin == at + 1);
	}
}

/* The first line is the size of the symbols; memory follows them. */
static void try_kernel(const uint8_t *data, size_t size)
{
	const uint8_t *cut = memmem(data, size,
				    "\n\x7f"
				    "ELF",
				    5);
	const size_t n = cut ? (size_t)(cut - data) + 1 : size;
	char symbols[40], memory[40];
	const int a = fuzz_file_open(symbols, data, n),
		  b = fuzz_file_open(memory, data + n, size - n);
	struct mix_kernel *k = a < 0 || b < 0 ? NULL : mix_kernel_read(symbols, memory);

	if (k)
		check_symbols(k);
	mix_kernel_destroy(k);
	close(a);
	close(b);
}

/* ---- rings ---- */

struct taken {
	uint64_t bytes, records, watched;
	bool is_watched;
};

static void sink(void *arg, const void *bytes, size_t size)
{
	struct taken *t = arg;

	hash_bytes(bytes, size);
	t->bytes += size;
}

static void watch(void *arg, const struct perf_event_header *record)
{
	struct taken *t = arg;

	MUST(record->size >= sizeof(*record));
	hash_bytes(record, record->size);
	t->watched += record->size;
	t->records++;
}

static void try_ring(const uint8_t *data, size_t size)
{
	enum { BYTES = 4096 };
	uint8_t *ring = malloc(BYTES);
	struct taken t = {0};
	uint64_t tail, head, end;

	MUST(ring);
	if (size < 6) {
		free(ring);
		return;
	}
	tail = (uint64_t)(data[0] | data[1] << 8 | data[2] << 16) & ~7ull;
	head = tail + ((uint64_t)(data[3] | data[4] << 8) % (BYTES + 1) & ~7ull);
	t.is_watched = data[5] & 1;
	data += 6;
	size -= 6;
	memset(ring, 0, BYTES);
	for (size_t i = 0; i < size && i < BYTES; i++)
		ring[(tail + i) % BYTES] = data[i];
	end = pmu_ring_take(ring, BYTES, tail, head, sink, t.is_watched ? watch : NULL, &t);
	MUST(end >= tail && end <= head && t.bytes == end - tail);
	MUST(!t.is_watched || t.watched == t.bytes);
	free(ring);
}

/* ---- addresses ---- */

static void try_address(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size), host[TRACE_MAX_HOST];
	struct tact_diag diag = {0};
	const char *port = NULL;

	MUST(text);
	if (trace_split_address(text, host, &port, &diag) < 0) {
		MUST(*diag.text);
	} else {
		MUST(*port && !strchr(port, ':') && port > text && port[-1] == ':');
		MUST(strlen(host) + strlen(port) + 1 <= strlen(text));
		MUST(strstr(text, host));
	}
	free(text);
}

/* ---- answers ---- */

enum { ROWS = 3 };

struct answers {
	const char *text; /* what the program prints */
	size_t size;
	unsigned n;
};

/* A number is one that the program printed. */
static void take(void *arg, size_t model, size_t row, int status,
		 const struct tact_estimate *estimate)
{
	struct answers *a = arg;

	MUST(model == 0 && row < ROWS);
	a->n++;
	if (status < 0) {
		MUST(!estimate);
		return;
	}
	MUST(isfinite(estimate->cycles_per_iteration) && estimate->cycles_per_iteration > 0);
	MUST(memchr(a->text, '\n', a->size)); /* a line without its end does not count */
}

static void try_answers(const uint8_t *data, size_t size)
{
	static const uint8_t code[] = {0x48, 0x01, 0xd8, 0x48, 0x0f, 0xaf, 0xc3};
	struct tact_model_options opt = {.size = sizeof(opt), .timeout = 5, .threads = 1};
	struct answers answers = {(const char *)data, size, 0};
	struct tact_model_row rows[ROWS];
	char name[80];
	const char *const names[] = {name};
	const int fd = memfd_create("answers", 0); /* inherited */
	int status;

	MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(name, sizeof(name), "x=cat /proc/%d/fd/%d", (int)getpid(), fd);
	for (size_t i = 0; i < ROWS; i++)
		rows[i] = (struct tact_model_row){.size = sizeof(rows[i]),
						  .code = code,
						  .code_size = i ? 3 : sizeof(code),
						  .arch = tact_arch_find("SKL"),
						  .mode = TACT_MODE_UNROLL};
	status = tact_model_run(names, 1, rows, ROWS, &opt, take, &answers, NULL);
	MUST(status == 0 || status == -TACT_E_FORMAT || status == -TACT_E_NO_TOOL);
	MUST(answers.n == ROWS);
	close(fd);
}

/* ---- shared memory ---- */

/* Writes words of the input to rings, and what is left of them to the descriptors of streams. */
static void spoil(uint8_t *memory, const uint8_t *data, size_t size)
{
	struct wire_header *h = (struct wire_header *)memory;
	struct wire_stream *streams = (struct wire_stream *)(h + 1);
	const uint64_t areas = h->areas, bytes = h->area_bytes;

	for (size_t at = 0; at + 12 <= size; at += 12) {
		const unsigned i = data[at] % 4;
		uint64_t word;

		memcpy(&word, data + at + 4, sizeof(word));
		if (data[at] & 128) {
			uint64_t *to = (uint64_t *)&streams[i] + data[at + 1] % 24;

			memcpy(to, &word, sizeof(word));
		} else {
			memcpy(memory + areas + i * bytes + (data[at + 1] | data[at + 2] << 8) * 8u,
			       &word, sizeof(word));
			streams[i].head++;
			streams[i].state = data[at + 3] % 4;
		}
	}
}

static void try_memory(const uint8_t *data, size_t size)
{
	struct trace_piece piece = {0, NULL, 0};
	struct tact_trace_summary summary = {.size = sizeof(summary)};
	struct trace_live *live;
	char path[64];
	uint8_t *memory;
	struct stat info;
	int fd;

	MUST(trace_live_create(&live, data[0] & 1 ? WIRE_COUNT : WIRE_TRACE, NULL) == 0);
	trace_live_path(live, path, sizeof(path));
	fd = open(path, O_RDWR | O_CLOEXEC);
	MUST(fd >= 0 && !fstat(fd, &info));
	memory = mmap(NULL, (size_t)info.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	MUST(memory != MAP_FAILED);
	spoil(memory, data + 1, size - 1);
	for (int i = 0; i < 300 && trace_live_next(live, true, &piece, NULL) > 0; i++) {
		MUST(piece.n_words <= 2 * WIRE_CHUNK_WORDS);
		if (piece.n_words)
			hash_bytes(piece.words, piece.n_words * 8);
	}
	trace_live_summary(live, &summary);
	munmap(memory, (size_t)info.st_size);
	close(fd);
	trace_live_destroy(live);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	switch (*data % 5) {
	case 0:
		try_kernel(data + 1, size - 1);
		break;
	case 1:
		try_ring(data + 1, size - 1);
		break;
	case 2:
		try_address(data + 1, size - 1);
		break;
	case 3:
		try_answers(data + 1, size - 1);
		break;
	default:
		try_memory(data + 1, size - 1);
	}
	return 0;
}
