/* SPDX-License-Identifier: MIT
 *
 * The plugin, with this file in the place of QEMU: the arguments that tact writes for it, with any
 * names of files in them, and the ring that it writes while a made-up program runs any code at any
 * address, and calls the kernel with any pointers.
 *
 * What must hold: the plugin reads from its arguments what tact wrote into them; and from the ring
 * tact reads the executions and accesses that there were, in their order.
 */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include <tact/trace.h>

#include "base/base.h"
#include "base/hash.h"
#include "fuzz.h"
#include "isa/isa.h"
#include "trace/trace.h"

/* The plugin, and with it what is made of this file, is under the GPL, version 2 or later.  It is loaded
 * once for a program, and here for each input: nothing of it must stay.
 */
#undef UNLIKELY
#define pthread_atfork(before, parent, child) ((void)(before), (void)(parent), (void)(child))
#define read_text			      plugin_read_text
#include "../../plugin/qemu/plugin_exec.c"
#include "../../plugin/qemu/plugin_guard.c"
#include "../../plugin/qemu/plugin_modules.c"
#include "../../plugin/qemu/plugin_stream.c"
#include "../../plugin/qemu/tact_trace.c"
#include "../../plugin/qemu/x86/plugin_prefetch.c"

enum { HEAD = 8, TBS = 12, TB_INSNS = 16, STEPS = 200, ACCESSES = 64, NAME = 40 };

/* ---- QEMU ---- */

struct qemu_plugin_insn {
	uint64_t address;
	const uint8_t *bytes;
	size_t size;
	qemu_plugin_vcpu_mem_cb_t on_access;
	void *userdata;
};

struct qemu_plugin_tb {
	struct qemu_plugin_insn insns[TB_INSNS];
	size_t n, size;
	qemu_plugin_vcpu_udata_cb_t on_exec;
	void *userdata;
};

static struct {
	qemu_plugin_vcpu_simple_cb_t begins, ends;
	qemu_plugin_vcpu_tb_trans_cb_t translates;
	qemu_plugin_vcpu_syscall_cb_t calls;
} qemu;

void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_simple_cb_t cb)
{
	(void)id;
	qemu.begins = cb;
}

void qemu_plugin_register_vcpu_exit_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_simple_cb_t cb)
{
	(void)id;
	qemu.ends = cb;
}

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_tb_trans_cb_t cb)
{
	(void)id;
	qemu.translates = cb;
}

void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_syscall_cb_t cb)
{
	(void)id;
	qemu.calls = cb;
}

void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, qemu_plugin_vcpu_udata_cb_t cb,
					  enum qemu_plugin_cb_flags flags, void *userdata)
{
	(void)flags;
	tb->on_exec = cb;
	tb->userdata = userdata;
}

/* What takes registers takes them from where QEMU keeps them: there is no such place here. */
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    qemu_plugin_vcpu_udata_cb_t cb,
					    enum qemu_plugin_cb_flags flags, void *userdata)
{
	(void)insn, (void)cb, (void)userdata;
	MUST(flags == QEMU_PLUGIN_CB_R_REGS);
}

void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_plugin_vcpu_mem_cb_t cb,
				      enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw rw,
				      void *userdata)
{
	MUST(rw);
	if (flags != QEMU_PLUGIN_CB_NO_REGS)
		return;
	insn->on_access = cb;
	insn->userdata = userdata;
}

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb)
{
	return tb->n;
}

uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb)
{
	return tb->insns[0].address;
}

struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index)
{
	MUST(index < tb->n);
	return (struct qemu_plugin_insn *)&tb->insns[index];
}

const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn)
{
	return insn->bytes;
}

size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn)
{
	return insn->size;
}

uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn)
{
	return insn->address;
}

/* The program's memory is this process's: its addresses lead anywhere, as those of a program may. */
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn)
{
	return (void *)(uintptr_t)insn->address;
}

unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info)
{
	return info & 7;
}

bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info)
{
	return info >> 8 & 1;
}

void qemu_plugin_outs(const char *text)
{
	MUST(!strncmp(text, "tact_trace: ", 12));
}

static void unload(void)
{
	struct wire_header *h = plugin.header;

	for (uint32_t i = 0; i < n_blocks; i++) {
		free(plugin.blocks[i]->prefetches);
		free(plugin.blocks[i]);
	}
	for (unsigned i = 0; i < n_regions; i++)
		free((char *)(uintptr_t)regions[i].path);
	for (unsigned i = 0; i < n_excluded; i++)
		free((char *)(uintptr_t)excluded[i].path);
	free((char *)(uintptr_t)from.path);
	free((char *)(uintptr_t)until.path);
	free(table);
	for (unsigned i = 0; h && i < plugin.n_vcpus; i++)
		release(&plugin.vcpus[i]);
	if (plugin.vcpus)
		munmap(plugin.vcpus, MAX_VCPUS * sizeof(struct vcpu));
	if (plugin.blocks)
		munmap(plugin.blocks, MAX_BLOCKS * sizeof(struct block *));
	if (nowhere_counts)
		munmap(nowhere_counts, MAX_BLOCKS * sizeof(uint64_t));
	if (h)
		munmap(h, h->bytes);
	nowhere_counts = NULL;
	table = NULL;
	table_bits = n_blocks = n_regions = n_excluded = n_places = 0;
	has_from = has_until = false;
	memset(regions, 0, sizeof(regions));
	memset(excluded, 0, sizeof(excluded));
	from = until = (struct range){0};
	plugin = (struct state){.lock = PTHREAD_MUTEX_INITIALIZER, .is_on = true};
	memset(&qemu, 0, sizeof(qemu));
}

/* ---- arguments ---- */

enum { MAX_ARGUMENTS = 32 };

/* As QEMU splits them: at commas, of which a doubled one is a character. */
static int split(char *text, char **argv)
{
	char *to = text;
	int n = 0;

	argv[n++] = text;
	for (const char *at = text; *at; at++) {
		if (*at == ',' && at[1] != ',') {
			*to++ = '\0';
			MUST(n < MAX_ARGUMENTS);
			argv[n++] = to;
			continue;
		}
		at += *at == ',';
		*to++ = *at;
	}
	*to = '\0';
	return n;
}

static void compare_range(const struct range *r, const struct tact_trace_region *wanted,
			  bool is_single)
{
	MUST(r->begin == wanted->begin && r->end == (is_single ? r->begin + 1 : wanted->end));
	MUST(!r->path == !wanted->file && (!r->path || !strcmp(r->path, wanted->file)));
}

/* Returns whether the plugin is attached to the memory. */
static bool load(const struct tact_trace_options *opt, const char *shm)
{
	static const qemu_info_t info = {.target_name = "x86_64", .version = {1, 1}};
	char *text, *argv[MAX_ARGUMENTS];
	unsigned seen[2] = {0, 0};
	int argc;

	MUST(trace_plugin_argument(opt, tact_isa_default(), "/a,b.so", shm, 3, &text) == 0);
	argc = split(text, argv);
	MUST(!strcmp(argv[0], "/a,b.so"));
	MUST(qemu_plugin_install(1, &info, argc - 1, argv + 1) == 0);
	for (size_t i = 0; i < opt->n_regions; i++) {
		const struct tact_trace_region *r = &opt->regions[i];

		compare_range(r->is_excluded ? &excluded[seen[1]++] : &regions[seen[0]++], r,
			      false);
	}
	MUST(seen[0] == n_regions && seen[1] == n_excluded);
	MUST(has_from == !!opt->from && has_until == !!opt->until);
	if (opt->from)
		compare_range(&from, opt->from, true);
	if (opt->until)
		compare_range(&until, opt->until, true);
	free(text);
	return plugin.header;
}

/* Any bytes; the first one that is 0 ends them. */
static void broken_arguments(const uint8_t *data, size_t size)
{
	static const qemu_info_t info = {.target_name = "x86_64", .version = {1, 1}};
	char *argv[MAX_ARGUMENTS], *text = strndup((const char *)data, size), *next = text;
	int argc = 0;

	MUST(text);
	while (next && argc < MAX_ARGUMENTS)
		argv[argc++] = strsep(&next, "\n");
	qemu_plugin_install(1, &info, argc, argv);
	unload();
	free(text);
}

/* ---- a program ---- */

struct program {
	struct qemu_plugin_tb tbs[TBS];
	size_t n;
};

/* Cuts code into blocks as QEMU does: at branches, and after some instructions. */
static void make_program(struct program *p, const uint8_t *code, size_t size, uint64_t address,
			 unsigned most)
{
	size_t at = 0;

	p->n = 0;
	while (p->n < TBS && at < size) {
		struct qemu_plugin_tb *tb = &p->tbs[p->n];
		enum tact_flow flow = TACT_FLOW_NEXT;

		*tb = (struct qemu_plugin_tb){.n = 0};
		while (tb->n < 1 + most % TB_INSNS && at < size && flow == TACT_FLOW_NEXT) {
			struct tact_insn insn;
			const int length =
				tact_isa_decode(tact_isa_default(), &insn, code + at, size - at);

			if (length <= 0)
				break;
			tb->insns[tb->n++] = (struct qemu_plugin_insn){.address = address + at,
								       .bytes = code + at,
								       .size = (size_t)length};
			tb->size += (size_t)length;
			at += (size_t)length;
			flow = insn.flow;
		}
		if (!tb->n)
			break;
		p->n++;
	}
}

/* What was executed and accessed, to be found again. */
struct done {
	struct {
		const struct qemu_plugin_tb *tb;
		size_t first, n; /* of accesses */
	} steps[STEPS];
	struct {
		uint64_t address;
		unsigned insn, shift;
		bool is_store;
	} accesses[ACCESSES];
	size_t n_steps, n_accesses;
};

/* Of one instruction after `first`: several of one instruction would be joined.  Returns the next first
 * one.
 */
static size_t access_memory(struct done *d, struct qemu_plugin_tb *tb, size_t first,
			    uint64_t *random)
{
	const size_t i = first + fuzz_pick(random, tb->n - first);
	const struct qemu_plugin_insn *insn = &tb->insns[i];
	const unsigned info = (unsigned)fuzz_random(random);
	const uint64_t address = fuzz_random(random) >> fuzz_pick(random, 64);

	if (!insn->on_access || d->n_accesses == ACCESSES)
		return i + 1;
	insn->on_access(0, info, address, insn->userdata);
	if (insn->on_access != on_access || !d->n_steps)
		return i + 1;
	d->accesses[d->n_accesses].address = address & WIRE_ADDRESS;
	d->accesses[d->n_accesses].insn = (unsigned)i;
	d->accesses[d->n_accesses].shift = info & 7;
	d->accesses[d->n_accesses++].is_store = info >> 8 & 1;
	d->steps[d->n_steps - 1].n++;
	return i + 1;
}

/* Any call of the kernel, most of them with pointers that lead nowhere. */
static void call(uint64_t *random, const uint8_t *data)
{
	const uint64_t values[] = {fuzz_random(random), (uint64_t)(uintptr_t)data, 0,
				   (uint64_t)(uintptr_t) "/bin/sh", UINT64_MAX - 4};
	const int64_t numbers[] = {calls.execve, calls.execveat, calls.mmap,
				   (int64_t)fuzz_random(random), 1};
	uint64_t a[3];

	for (unsigned i = 0; i < 3; i++)
		a[i] = values[fuzz_pick(random, ARRAY_SIZE(values))];
	/* Names below this process's own memory count from where the program's begins. */
	for (unsigned i = 0; i < 3; i++)
		a[i] -= plugin.guest_base;
	qemu.calls(1, 0, numbers[fuzz_pick(random, ARRAY_SIZE(numbers))], a[0], a[1], a[2], 0, 0, 0,
		   0, 0);
}

static void run(struct program *p, struct done *d, const uint8_t *data, size_t size,
		uint64_t *random)
{
	qemu.begins(1, 0);
	for (size_t i = 0; i < size && i < STEPS; i++) {
		struct qemu_plugin_tb *tb = &p->tbs[data[i] % p->n];

		if (!tb->on_exec || data[i] >> 6 == 3) /* QEMU throws code away and makes it anew */
			qemu.translates(1, tb);
		if (!tb->on_exec)
			continue;
		if (plugin.header->mode == WIRE_TRACE && tb->on_exec == on_exec) {
			d->steps[d->n_steps].tb = tb;
			d->steps[d->n_steps].n = 0;
			d->steps[d->n_steps++].first = d->n_accesses;
		}
		tb->on_exec(0, tb->userdata);
		for (size_t k = data[i] >> 4 & 3 ? 0 : tb->n; k < tb->n;)
			k = access_memory(d, tb, k, random);
		if (data[i] >> 4 == 7)
			call(random, data);
	}
	qemu.ends(1, 0);
}

/* ---- what tact reads ---- */

static void compare_step(const struct done *d, size_t i, const struct tact_trace_event *event)
{
	const struct tact_trace_block *b = event->block;
	const struct qemu_plugin_tb *tb;

	MUST(i < d->n_steps);
	tb = d->steps[i].tb;
	MUST(b && b->address == tb->insns[0].address);
	/* An instruction that crosses the end of a page may be left to a block of its own. */
	MUST(b->code_size <= tb->size && !memcmp(b->code, tb->insns[0].bytes, b->code_size));
	MUST(b->n_insns == tb->n || b->n_insns + 1u == tb->n);
	if (b->n_insns < tb->n)
		return;
	MUST(event->n_accesses == d->steps[i].n);
	for (size_t k = 0; k < event->n_accesses; k++) {
		const struct tact_trace_access *a = &event->accesses[k];

		MUST((a->address & WIRE_ADDRESS) == d->accesses[d->steps[i].first + k].address);
		MUST(a->insn == d->accesses[d->steps[i].first + k].insn);
		MUST(a->size == 1u << d->accesses[d->steps[i].first + k].shift);
		MUST(a->is_store == d->accesses[d->steps[i].first + k].is_store);
	}
}

/* Executions of a repeated string instruction are one event. */
static bool has_repeats(const struct program *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (repeated_length(p->tbs[i].insns[0].bytes, p->tbs[i].insns[0].size))
			return true;
	return false;
}

static size_t read_events(struct trace_events *events, const struct done *d, size_t n, bool is_full)
{
	struct tact_trace_event event = TACT_TRACE_EVENT_INIT;
	struct tact_diag diag = {0};
	int status;

	while ((status = trace_events_next(events, &event, &diag)) > 0) {
		hash_bytes(event.text, strlen(event.text));
		if (event.kind == TACT_TRACE_EXEC && is_full)
			compare_step(d, n, &event);
		n += event.kind == TACT_TRACE_EXEC;
	}
	MUST(status == 0);
	return n;
}

static void read_back(struct trace_live *live, const struct done *d, enum wire_mode mode,
		      bool is_full)
{
	struct trace_events *events;
	struct trace_piece piece;
	size_t n = 0;

	MUST(trace_events_create(&events, mode) == 0);
	while (trace_live_next(live, true, &piece, NULL) > 0) {
		MUST(trace_events_feed(events, &piece, NULL) >= 0);
		n = read_events(events, d, n, is_full);
	}
	MUST(!is_full || n == d->n_steps);
	trace_events_destroy(events);
}

/* A name of a file: anything that is no end of a text. */
static size_t take_name(char name[NAME], const uint8_t *data, size_t size)
{
	const size_t n = strnlen((const char *)data, size < NAME - 1 ? size : NAME - 1);

	memcpy(name, data, n);
	name[n] = '\0';
	return n < size ? n + 1 : n;
}

static void run_traced(const uint8_t *data, size_t size, uint64_t random)
{
	static struct done done;
	const uint8_t *const head = data;
	const enum wire_mode mode = head[0] & 1 ? WIRE_COUNT : WIRE_TRACE;
	const uint64_t address = 0x400000 + (uint64_t)head[1] * 16;
	char name[NAME], shm[64];
	struct tact_trace_region ranges[] = {
		{address, address + head[2], name, head[0] & 2},
		{address + head[3], address + head[3] + 1 + head[4] * 8u, NULL, head[0] & 4}};
	struct tact_trace_options opt = {.size = sizeof(opt),
					 .regions = ranges,
					 .n_regions = head[0] >> 3 & 3,
					 .no_exec = true,
					 .from = head[0] & 32 ? &ranges[1] : NULL,
					 .until = head[0] & 64 ? &ranges[0] : NULL};
	struct program program;
	struct trace_live *live;
	size_t n;

	if (ranges[0].begin == ranges[0].end || opt.n_regions > ARRAY_SIZE(ranges))
		return;
	n = take_name(name, data + HEAD, size - HEAD);
	data += HEAD + n;
	size -= HEAD + n;
	make_program(&program, data, size, address, head[5]);
	if (!program.n)
		return;
	MUST(trace_live_create(&live, mode, NULL) == 0);
	trace_live_path(live, shm, sizeof(shm));
	if (load(&opt, shm)) {
		done.n_steps = done.n_accesses = 0;
		run(&program, &done, data, size, &random);
		read_back(live, &done, mode,
			  mode == WIRE_TRACE && !opt.from && !opt.until && !has_repeats(&program));
	}
	unload();
	trace_live_destroy(live);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size <= HEAD)
		return 0;
	if (data[0] & 128)
		broken_arguments(data + 1, size - 1);
	else
		run_traced(data, size, hash_bytes(data, size) | 1);
	return 0;
}
