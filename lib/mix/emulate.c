/* SPDX-License-Identifier: MIT
 *
 * A program under QEMU: every execution counted, and sampled by the virtual PMU if asked for.
 */
#include <stdlib.h>

#include "base/file.h"
#include "mix/counts_file.h"
#include "mix/virtual.h"

enum {
	EBS_PERIOD = 10007, /* primes: a run of a second has about 100,000 samples of each */
	LBR_PERIOD = 1009,
	STOP_EVERY = 1 << 16 /* events */
};

struct emulation {
	struct tact_mix_emulate_options *o;
	struct tact_mix_emulated *out;
	struct tact_trace *trace;
	struct pmu_writer *writer;
	struct mix_vpmu *vpmu;
	struct mix_vblock **blocks; /* by number */
	size_t n_blocks, capacity;
	struct mix_tally pids;	/* of the recording: counted from 1, so that they do not depend on
				   the system */
	uint32_t real_pid, pid; /* the last one */
	uint32_t n_insns;	/* of the block that runs */
	struct mix_tally known; /* processes and their modules whose maps are written */
};

/* ---- blocks ---- */

static struct mix_vblock *add_block(struct emulation *e, struct tact_trace_block *block)
{
	struct mix_vblock *b = calloc(1, sizeof(*b));

	if (!b || tact_grow(&e->blocks, &e->capacity, e->n_blocks + 1, sizeof(*e->blocks))) {
		free(b);
		return NULL;
	}
	b->block = block;
	e->blocks[e->n_blocks++] = b;
	block->user = b;
	return b;
}

/* Maps of a process are written before its first sample in them. */
static void write_map(struct emulation *e, uint32_t pid, const struct tact_trace_module *m)
{
	uint8_t id[PMU_MAX_BUILD_ID];
	struct pmu_map map;
	unsigned size;

	size = obj_build_id_of(m->path, id, sizeof(id));
	map = (struct pmu_map){
		.address = m->begin,
		.size = m->end - m->begin,
		.offset = m->offset,
		.path = m->path,
		.build_id = id,
		.build_id_size = (uint8_t)size,
		.is_executable = true,
	};
	pmu_writer_map(e->writer, pid, &map, PMU_MODE_USER, e->out->instructions - e->n_insns + 1);
	if (size)
		pmu_writer_build_id(e->writer, pid, PMU_MODE_USER, m->path, id, size);
}

static int know(struct emulation *e, uint32_t pid, struct mix_vblock *b)
{
	struct mix_tally_key key = {.epoch = pid, .a = b->block->module};
	struct tact_trace_module m = {.size = sizeof(m)};
	struct mix_tally_entry *entry;

	b->pid = pid;
	if (!key.a)
		return 0;
	entry = mix_tally_at(&e->known, &key);
	if (!entry)
		return -TACT_E_NOMEM;
	if (entry->hits == 1 && tact_trace_get_module(e->trace, b->block->module, &m) >= 0)
		write_map(e, pid, &m);
	return 0;
}

/* Numbers processes as they come. */
static uint32_t number_pid(struct emulation *e, uint32_t real)
{
	struct mix_tally_key key = {.a = real};
	struct mix_tally_entry *entry;

	if (real == e->real_pid && e->pid)
		return e->pid;
	entry = mix_tally_at(&e->pids, &key);
	if (!entry)
		return 0;
	if (!entry->newest_hits) {
		entry->newest_hits = (uint32_t)e->pids.n;
		/* The name that a child gives itself is not known. */
		pmu_writer_comm(e->writer, entry->newest_hits, entry->newest_hits,
				file_base_name(e->o->argv[0]), false,
				e->out->instructions - e->n_insns + 1);
	}
	e->real_pid = real;
	e->pid = entry->newest_hits;
	return e->pid;
}

static int on_block(struct emulation *e, const struct tact_trace_event *event, uint64_t count)
{
	struct mix_vblock *b = event->block->user;
	uint32_t pid;

	if (!b) {
		b = add_block(e, event->block);
		if (!b)
			return -TACT_E_NOMEM;
	}
	b->count += count;
	e->n_insns = event->block->n_insns;
	e->out->instructions += count * e->n_insns;
	if (!e->vpmu)
		return 0;
	pid = number_pid(e, event->pid);
	if (!pid || (pid != b->pid && know(e, pid, b)))
		return -TACT_E_NOMEM;
	return mix_vpmu_exec(e->vpmu, event->thread, pid, b);
}

/* ---- the file of counts ---- */

static int write_counts(struct emulation *e, struct tact_diag *diag)
{
	struct mix_counts_file file = {.path = e->o->exact, .trace = e->trace, .argv = e->o->argv};
	int status;

	file.items = calloc(e->n_blocks + 1, sizeof(*file.items));
	if (!file.items)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	for (size_t i = 0; i < e->n_blocks; i++)
		file.items[file.n++] = (struct mix_counted){.block = e->blocks[i]->block,
							    .count = e->blocks[i]->count};
	status = mix_write_counts(&file, diag);
	free(file.items);
	return status;
}

/* ---- the run ---- */

static int start(struct emulation *e, struct tact_diag *diag)
{
	const uint64_t ids[2] = {1, 2};
	const struct tact_mix_emulate_options *o = e->o;
	struct pmu_attr attrs[2];
	struct tact_trace_options t;
	int status;

	if (tact_read_options(&t, sizeof(t), o->run))
		return tact_fail(diag, TACT_E_INVAL, "options of another version");
	t.size = sizeof(t);
	t.mode = o->output ? TACT_TRACE_FULL : TACT_TRACE_COUNT;
	status = tact_trace_launch(&e->trace, &t, o->argv, diag);

	if (status < 0 || !o->output)
		return status;
	mix_vpmu_attrs(o, attrs);
	status = pmu_writer_create(&e->writer, o->output, attrs, 2, ids, 1, diag);
	if (status >= 0) {
		pmu_writer_command(e->writer, o->argv);
		status = mix_vpmu_create(&e->vpmu, o, e->out, e->writer, diag);
	}
	return status;
}

static int follow(struct emulation *e, struct tact_diag *diag)
{
	struct tact_trace_event event = {.size = sizeof(event)};
	uint64_t n = 0;
	int status;

	while ((status = tact_trace_next(e->trace, &event, diag)) > 0) {
		if (event.kind == TACT_TRACE_EXEC)
			status = on_block(e, &event, 1);
		else if (event.kind == TACT_TRACE_COUNTED)
			status = on_block(e, &event, event.count);
		if (status < 0)
			return tact_fail(diag, TACT_E_NOMEM, "out of memory");
		if (!(++n % STOP_EVERY) && e->o->stop && e->o->stop(e->o->arg))
			tact_trace_stop(e->trace);
	}
	return status;
}

static int finish(struct emulation *e, int status, struct tact_diag *diag)
{
	struct tact_trace_summary s = {.size = sizeof(s)};

	if (e->trace) {
		tact_trace_get_summary(e->trace, &s);
		e->out->exit_status = s.wait_status;
		e->out->native = s.n_native;
		e->out->blocks = s.n_blocks;
		if (status >= 0 && !s.is_attached)
			status = tact_fail(diag, TACT_E_IO, "QEMU could not run the program");
	}
	if (status >= 0 && e->o->exact)
		status = write_counts(e, diag);
	if (e->writer && status >= 0)
		status = pmu_writer_finish(e->writer, diag);
	else
		pmu_writer_abandon(e->writer);
	for (size_t i = 0; i < e->n_blocks; i++) {
		free(e->blocks[i]->offsets);
		free(e->blocks[i]);
	}
	free(e->blocks);
	mix_tally_fini(&e->known);
	mix_tally_fini(&e->pids);
	mix_vpmu_destroy(e->vpmu);
	tact_trace_close(e->trace);
	return status;
}

static bool is_in_range(const struct tact_mix_emulate_options *o)
{
	return (!o->depth || (o->depth >= 4 && o->depth <= 64)) && o->skid >= -1 &&
	       o->skid <= 1000 && o->shadow >= -1 && o->shadow <= 100 && o->lost_newest >= -1 &&
	       o->lost_newest <= 100 && o->biased >= -1 && o->biased <= 1000;
}

int tact_mix_emulate(const struct tact_mix_emulate_options *opt, struct tact_mix_emulated *out,
		     struct tact_diag *diag)
{
	struct tact_mix_emulated emulated = TACT_MIX_EMULATED_INIT;
	struct tact_mix_emulate_options o;
	struct emulation e = {.o = &o, .out = &emulated};
	int status;

	if (!opt || !tact_can_fill(out) || tact_read_options(&o, sizeof(o), opt) || !o.argv ||
	    !o.argv[0] || (!o.output && !o.exact) || (o.output && !o.arch))
		return tact_fail(diag, TACT_E_INVAL, "a program, a file to write and a CPU");
	if (!is_in_range(&o))
		return tact_fail(diag, TACT_E_INVAL,
				 "a value of the simulated PMU is out of its range");
	o.ebs_period = o.ebs_period ? o.ebs_period : EBS_PERIOD;
	o.lbr_period = o.lbr_period ? o.lbr_period : LBR_PERIOD;
	status = start(&e, diag);
	if (status >= 0)
		status = follow(&e, diag);
	status = finish(&e, status, diag);
	tact_fill(out, &emulated, sizeof(emulated));
	return status;
}
