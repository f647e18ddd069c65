/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include <tact/collect.h>
#include <tact/mix.h>

#include "base/base.h"
#include "base/hash.h"
#include "fuzz.h"
#include "trace/trace.h"

static void touch(const struct tact_trace_event *event)
{
	if (event->block)
		hash_bytes(event->block->code, event->block->code_size);
	if (event->n_accesses)
		hash_bytes(event->accesses, event->n_accesses * sizeof(*event->accesses));
	hash_bytes(event->text, strlen(event->text));
}

/* As a record. */
static void read_record(const uint8_t *data, size_t size)
{
	struct tact_trace_event event = TACT_TRACE_EVENT_INIT;
	struct tact_trace *trace;
	struct tact_diag diag;
	int n = 0;

	if (trace_open_memory(&trace, data, size, &diag) < 0)
		return;
	while (tact_trace_next(trace, &event, &diag) > 0 && ++n < 100000)
		touch(&event);
	tact_trace_close(trace);
}

static int touch_block(void *arg, const struct tact_collect_block *block)
{
	uint64_t *executions = arg;

	hash_bytes(block->code, block->code_size);
	hash_bytes(block->function, strlen(block->function));
	*executions += block->count;
	return 0;
}

/* The basic blocks of a record, with their executions. */
static void collect_record(const uint8_t *data, size_t size)
{
	const struct tact_collect_options opt = {.size = sizeof(opt), .no_branch = size & 1};
	struct tact_collect *collect;
	struct tact_trace *trace;
	struct tact_diag diag;
	uint64_t executions = 0;

	if (trace_open_memory(&trace, data, size, &diag) < 0)
		return;
	if (tact_collect_create(&collect, &opt) >= 0) {
		if (tact_collect_trace(collect, trace, &diag) >= 0)
			tact_collect_finish(collect, touch_block, &executions);
		tact_collect_destroy(collect);
	}
	tact_trace_close(trace);
}

/* How often blocks of a program that ran natively were executed, as its windows tell. */
static void count_record(const uint8_t *data, size_t size)
{
	struct tact_mix_windows_options opt = {.size = sizeof(opt), .arch = tact_arch_find("SKL")};
	struct tact_mix_windowed out = TACT_MIX_WINDOWED_INIT;
	struct tact_trace *trace;
	struct tact_diag diag;
	char path[80];

	if (trace_open_memory(&trace, data, size, &diag) < 0)
		return;
	snprintf(path, sizeof(path), "%s/tact-fuzz-%d.counts",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (int)getpid());
	opt.output = path;
	if (tact_mix_count_windows(trace, &opt, &out, &diag) >= 0)
		MUST(out.windows && isfinite(out.instructions) && out.seconds >= 0);
	tact_trace_close(trace);
	unlink(path);
}

/* As words of three streams, in parts: compression would hide the contents from mutations. */
static void read_words(const uint8_t *data, size_t size, enum wire_mode mode)
{
	static uint64_t words[8192];
	const size_t n_words = size / 8 < ARRAY_SIZE(words) ? size / 8 : ARRAY_SIZE(words);
	struct tact_trace_event event = TACT_TRACE_EVENT_INIT;
	struct trace_events *events;
	struct tact_diag diag;
	size_t at = 0, n;
	int status = 0;

	if (!size || trace_events_create(&events, mode))
		return;
	memcpy(words, data, n_words * 8);
	for (uint32_t i = 0; at < n_words && status >= 0; i++, at += n) {
		struct trace_piece piece = {data[0] & 1 ? i % 3 : 0, words + at, 0};

		n = 1 + (data[0] >> 1) * (size_t)(1 + i % 5);
		if (n > n_words - at)
			n = n_words - at;
		piece.n_words = n;
		status = trace_events_feed(events, &piece, &diag);
		while (status >= 0 && (status = trace_events_next(events, &event, &diag)) > 0)
			touch(&event);
	}
	for (uint32_t i = 0; i < 3 && status >= 0; i++) {
		struct trace_piece piece = {i, words, 0};

		status = trace_events_feed(events, &piece, &diag);
		while (status >= 0 && (status = trace_events_next(events, &event, &diag)) > 0)
			touch(&event);
	}
	trace_events_destroy(events);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_record(data, size);
	collect_record(data, size);
	if (size % 4 == 3)
		count_record(data, size);
	read_words(data, size, WIRE_TRACE);
	read_words(data, size, WIRE_COUNT);
	return 0;
}
