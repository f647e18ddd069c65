/* SPDX-License-Identifier: MIT
 *
 * Records a run: two events at once, both with branch stacks (HBBP paper, section V.A), or the best
 * that the machine offers instead.  The file has perf's format.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mix/live.h"
#include "pmu/pmu.h"
#include "trace/trace.h"

/* HBBP paper, table 4: instructions and taken branches per sample.  The last are for runs of
 * minutes and more.
 */
void mix_periods(double seconds, uint64_t *ebs, uint64_t *lbr)
{
	*ebs = seconds < 60 ? 1000037 : seconds <= 120 ? 10000019 : 100000007;
	*lbr = seconds < 60 ? 100003 : seconds <= 120 ? 1000037 : 10000019;
}

enum {
	CLOCK_PERIOD = 250007, /* ns, a prime: 4 kHz, which perf_event_max_sample_rate allows */
	CLOCK_PERIOD_LONG = 1000003,
	CLOCK_PERIOD_LONGEST = 10000019,
	RING_ORDER = 7, /* 512 KiB per CPU, as in perf */
	RETRY_MS = 100
};

#define STACK_TYPE (PERF_SAMPLE_BRANCH_ANY)
#define SAMPLE_TYPE                                                                                \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)

/* ---- the ladder ---- */

/* Events of a rung.  Codes: Intel SDM volume 3, chapter 20, and its event files:
 * BR_INST_RETIRED.NEAR_TAKEN is c4, umask 20; AMD PPR: retired taken branch instructions are c4,
 * umask 0.  The kernel turns instructions with precise_ip 3 into PREC_DIST.
 */
struct choice {
	enum tact_mix_rung rung;
	const char *vendor; /* NULL: any */
	unsigned n;
	struct {
		uint32_t type;
		uint64_t config;
		uint8_t precise; /* at most */
		bool has_stack;
		const char *name;
	} event[2];
};

static const struct choice ladder[] = {
	{TACT_MIX_RUNG_LBR,
	 "GenuineIntel",
	 2,
	 {{PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 3, true, "inst_retired.prec_dist"},
	  {PERF_TYPE_RAW, 0x20c4, 2, true, "br_inst_retired.near_taken"}}},
	{TACT_MIX_RUNG_AMD,
	 "AuthenticAMD",
	 2,
	 {{PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0, false, "ex_ret_instr"},
	  {PERF_TYPE_RAW, 0xc4, 0, true, "ex_ret_brn_tkn"}}},
	{TACT_MIX_RUNG_PRECISE,
	 NULL,
	 1,
	 {{PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 3, false, "inst_retired.prec_dist"}}},
	{TACT_MIX_RUNG_INSTRUCTIONS,
	 NULL,
	 1,
	 {{PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0, false, "instructions"}}},
	{TACT_MIX_RUNG_CYCLES,
	 NULL,
	 1,
	 {{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0, false, "cycles"}}},
	{TACT_MIX_RUNG_CLOCK,
	 NULL,
	 1,
	 {{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 0, false, "cpu-clock"}}},
};

static uint64_t period_of(const struct live *l, const struct choice *c, unsigned event)
{
	if (c->rung == TACT_MIX_RUNG_CLOCK)
		return l->opt->expected_seconds < 60	 ? CLOCK_PERIOD
		       : l->opt->expected_seconds <= 120 ? CLOCK_PERIOD_LONG
							 : CLOCK_PERIOD_LONGEST;
	return event ? l->out->lbr_period : l->out->ebs_period;
}

static void fill_attr(const struct live *l, const struct choice *c, unsigned event, uint8_t precise,
		      struct perf_event_attr *a)
{
	*a = (struct perf_event_attr){
		.type = c->event[event].type,
		.size = sizeof(*a),
		.config = c->event[event].config,
		.sample_period = period_of(l, c, event),
		.sample_type = SAMPLE_TYPE |
			       (c->event[event].has_stack ? (uint64_t)PERF_SAMPLE_BRANCH_STACK : 0),
		.branch_sample_type = c->event[event].has_stack ? STACK_TYPE : 0,
		.precise_ip = precise & 3,
		.disabled = 1,
		.inherit = 1,
		.exclude_kernel = l->out->user_only,
		.exclude_hv = 1,
		.sample_id_all = 1,
		.mmap = !event,
		.mmap2 = !event,
		.comm = !event,
		.comm_exec = !event,
		.task = !event,
		.enable_on_exec = l->opt->argv && !l->opt->all_cpus,
	};
	if (c->event[event].has_stack && l->out->user_only)
		a->branch_sample_type |= PERF_SAMPLE_BRANCH_USER;
}

static void close_events(struct live *l)
{
	for (size_t i = 0; i < l->n_rings; i++)
		pmu_ring_unmap(&l->rings[i]);
	for (size_t i = 0; i < l->n_fds; i++)
		close(l->fds[i]);
	l->n_rings = l->n_fds = l->n_attrs = 0;
}

/* Opens one event for every CPU and target; the second event writes into the rings of the first. */
static int open_event(struct live *l, struct perf_event_attr *a, unsigned event)
{
	for (unsigned t = 0; t < l->n_targets; t++) {
		for (unsigned cpu = 0; cpu < l->n_cpus; cpu++) {
			int fd = pmu_event_open(a, l->targets[t], l->cpus[cpu]), error = 0;
			size_t ring = (size_t)t * l->n_cpus + cpu;

			if (fd == -ENODEV && l->cpus[cpu]) /* switched off */
				fd = pmu_event_open(a, l->targets[t], l->cpus[0]);
			if (fd < 0)
				return -fd;
			l->fds[l->n_fds++] = fd;
			if (event && ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, l->fds[ring]))
				return errno;
			if (!event) {
				error = pmu_ring_map(&l->rings[l->n_rings], fd, RING_ORDER);
				if (error)
					return error;
				l->n_rings++;
			}
		}
	}
	return 0;
}

static void keep_attr(struct live *l, const struct choice *c, unsigned event,
		      const struct perf_event_attr *a)
{
	struct pmu_attr *k = &l->attrs[l->n_attrs++];

	*k = (struct pmu_attr){
		.type = a->type,
		.config = a->config,
		.period = a->sample_period,
		.sample_type = a->sample_type,
		.branch_sample_type = a->branch_sample_type,
		.sample_id_all = true,
		.inherit = true,
		.exclude_kernel = a->exclude_kernel,
		.precise = a->precise_ip,
	};
	snprintf(k->name, sizeof(k->name), "%s", c->event[event].name);
}

/* Opens all events of a rung, as precise as possible.  Returns 0 or an errno. */
static int open_rung(struct live *l, const struct choice *c)
{
	int error = 0;

	for (unsigned event = 0; event < c->n && !error; event++) {
		const uint8_t least = c->rung == TACT_MIX_RUNG_PRECISE;
		int precise = c->event[event].precise;
		struct perf_event_attr a;

		do {
			size_t fds = l->n_fds, rings = l->n_rings;

			fill_attr(l, c, event, (uint8_t)precise, &a);
			error = open_event(l, &a, event);
			if (error) {
				while (l->n_rings > rings)
					pmu_ring_unmap(&l->rings[--l->n_rings]);
				while (l->n_fds > fds)
					close(l->fds[--l->n_fds]);
			}
		} while (error && error != EACCES && error != EPERM && --precise >= least);
		if (!error)
			keep_attr(l, c, event, &a);
	}
	if (error)
		close_events(l);
	return error;
}

static void say_why(const struct choice *c, int error, char *why, size_t size)
{
	switch (error) {
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
	case EINVAL:
		snprintf(why, size, "%s: the machine or its hypervisor does not offer it (%s)",
			 c->event[c->n - 1].name, strerror(error));
		return;
	case EACCES:
	case EPERM:
		snprintf(why, size,
			 "not allowed (%s): kernel.perf_event_paranoid must be lower, or "
			 "CAP_PERFMON",
			 strerror(error));
		return;
	case ENOSYS:
		snprintf(why, size, "the kernel has no perf_event");
		return;
	case EMFILE:
		snprintf(why, size, "too many open files: raise ulimit -n");
		return;
	default:
		snprintf(why, size, "%s", strerror(error));
	}
}

static int climb(struct live *l, struct tact_diag *diag)
{
	struct tact_host host;
	const char *last = "";

	pmu_host_identify(&host);
	for (size_t i = 0; i < ARRAY_SIZE(ladder); i++) {
		const struct choice *c = &ladder[i];
		int error;

		if (c->rung < l->opt->best)
			continue;
		if (c->vendor && strcmp(c->vendor, host.vendor)) {
			snprintf(l->out->why[c->rung], sizeof(l->out->why[0]), "not a CPU of %s",
				 !strcmp(c->vendor, "GenuineIntel") ? "Intel" : "AMD");
			continue;
		}
		if (c->rung == TACT_MIX_RUNG_CLOCK && (l->opt->ebs_period || l->opt->lbr_period)) {
			last = "the clock counts time; periods of instructions and branches do not "
			       "apply to it";
			snprintf(l->out->why[c->rung], sizeof(l->out->why[0]), "%s", last);
			continue;
		}
		error = open_rung(l, c);
		if ((error == EACCES || error == EPERM) && !l->out->user_only) {
			l->out->user_only = true;
			error = open_rung(l, c);
			if (error)
				l->out->user_only = l->opt->user_only;
		}
		if (!error) {
			l->out->rung = c->rung;
			l->out->ebs_period = period_of(l, c, 0);
			l->out->lbr_period = c->n > 1 ? l->out->lbr_period : 0;
			return 0;
		}
		say_why(c, error, l->out->why[c->rung], sizeof(l->out->why[0]));
		last = l->out->why[c->rung];
	}
	l->out->rung = TACT_MIX_RUNG_NONE;
	return tact_fail(diag, TACT_E_NOT_MODELLED, "nothing can be sampled here: %.150s", last);
}

/* ---- the program ---- */

/* Starts the program, held: the counters come first. */
static int start_program(struct live *l, struct tact_diag *diag)
{
	const struct process_spec spec = {.argv = (const char *const *)l->opt->argv,
					  .is_held = true};
	const struct tact_isa *foreign = trace_foreign_set(l->opt->argv[0]);
	int error;

	if (foreign)
		return tact_fail(
			diag, TACT_E_FORMAT,
			"%s: a program for %s, which this machine does not execute; 'tact mix "
			"exact' counts what it executes under QEMU",
			l->opt->argv[0], foreign->title);
	error = process_start(&l->process, &spec);
	if (error) {
		errno = error;
		return tact_fail_errno(diag, "cannot run anything");
	}
	l->child = l->process.pid;
	return 0;
}

static int let_go(struct live *l, struct tact_diag *diag)
{
	int error = process_release(&l->process);

	l->is_released = true;
	if (!error)
		return 0;
	return tact_fail(diag, TACT_E_IO, "%s cannot be run: %s", l->opt->argv[0], strerror(error));
}

static bool has_ended(struct live *l)
{
	if (l->child > 0)
		return process_has_ended(&l->process);
	return l->opt->pid > 0 && kill(l->opt->pid, 0) && errno == ESRCH;
}

/* ---- recording ---- */

static void keep(void *arg, const void *bytes, size_t size)
{
	struct live *l = arg;

	pmu_writer_add(l->writer, bytes, size);
}

static void watch(void *arg, const struct perf_event_header *h)
{
	enum { PATH_AT = 72, LOST_AT = 16 };
	struct live *l = arg;
	uint64_t lost;

	if (h->type == PERF_RECORD_LOST && h->size >= LOST_AT + sizeof(lost)) {
		memcpy(&lost, (const uint8_t *)h + LOST_AT, sizeof(lost));
		l->out->lost += lost;
	}
	if (h->type == PERF_RECORD_MMAP2 && h->size > PATH_AT)
		live_note_path(l, (const char *)h + PATH_AT, h->size - PATH_AT);
}

static void drain(struct live *l)
{
	for (size_t i = 0; i < l->n_rings; i++)
		pmu_ring_drain(&l->rings[i], keep, watch, l);
}

static void loop(struct live *l)
{
	struct pollfd *polls = calloc(l->n_rings + 1, sizeof(*polls));
	bool is_over = false;

	for (size_t i = 0; polls && i < l->n_rings; i++)
		polls[i] = (struct pollfd){.fd = l->fds[i], .events = POLLIN};
	while (!is_over) {
		is_over = has_ended(l) || (l->opt->stop && l->opt->stop(l->opt->arg));
		if (!is_over && polls)
			poll(polls, l->n_rings, RETRY_MS);
		drain(l);
	}
	for (size_t i = 0; i < l->n_fds; i++)
		ioctl(l->fds[i], PERF_EVENT_IOC_DISABLE, 0);
	drain(l);
	free(polls);
}

static int open_writer(struct live *l, struct tact_diag *diag)
{
	size_t n_ids = l->n_fds / l->n_attrs;
	uint64_t *ids = calloc(l->n_fds, sizeof(*ids));
	int status;

	if (!ids)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	for (size_t i = 0; i < l->n_fds; i++)
		if (ioctl(l->fds[i], PERF_EVENT_IOC_ID, &ids[i]))
			ids[i] = i + 1;
	status = pmu_writer_create(&l->writer, l->opt->output, l->attrs, l->n_attrs, ids, n_ids,
				   diag);
	free(ids);
	return status;
}

static int record(struct live *l, struct tact_diag *diag)
{
	int status = climb(l, diag);

	if (status >= 0)
		status = open_writer(l, diag);
	if (status < 0)
		return status;
	live_write_known(l);
	if (!(l->opt->argv && !l->opt->all_cpus))
		for (size_t i = 0; i < l->n_fds; i++)
			ioctl(l->fds[i], PERF_EVENT_IOC_ENABLE, 0);
	if (l->child > 0)
		status = let_go(l, diag);
	if (status < 0) {
		pmu_writer_abandon(l->writer);
		l->writer = NULL;
		return status;
	}
	loop(l);
	live_write_build_ids(l);
	l->out->bytes = pmu_writer_size(l->writer);
	status = pmu_writer_finish(l->writer, diag);
	l->writer = NULL;
	return status;
}

static bool is_good(const struct tact_mix_record_options *o)
{
	return o->output && (o->argv || o->pid > 0 || o->all_cpus) && !(o->argv && o->pid > 0) &&
	       (!o->argv || o->argv[0]) && o->pid >= 0 && o->expected_seconds >= 0 &&
	       (unsigned)o->best <= TACT_MIX_RUNG_NONE;
}

int tact_mix_record(const struct tact_mix_record_options *opt, struct tact_mix_recorded *out,
		    struct tact_diag *diag)
{
	struct tact_mix_recorded recorded = TACT_MIX_RECORDED_INIT;
	struct tact_mix_record_options o;
	struct live l = {.opt = &o, .out = &recorded};
	uint64_t ebs, lbr;
	int status;

	if (!opt || !tact_can_fill(out) || tact_read_options(&o, sizeof(o), opt) || !is_good(&o)) {
		tact_fill(out, &recorded, sizeof(recorded));
		return tact_fail(diag, TACT_E_INVAL,
				 "a file, and a program, a process or all CPUs");
	}
	recorded.user_only = o.user_only;
	mix_periods(o.expected_seconds, &ebs, &lbr);
	recorded.ebs_period = o.ebs_period ? o.ebs_period : ebs;
	recorded.lbr_period = o.lbr_period ? o.lbr_period : lbr;
	status = o.argv ? start_program(&l, diag) : 0;
	if (status >= 0)
		status = live_targets(&l, diag);
	if (status >= 0)
		status = record(&l, diag);
	if (l.is_released) {
		if (status >= 0 && !process_has_ended(&l.process))
			kill(l.child, SIGTERM); /* the user stopped */
		process_await(&l.process);
		recorded.exit_status = l.process.status;
	}
	process_end(&l.process);
	close_events(&l);
	live_fini(&l);
	tact_fill(out, &recorded, sizeof(recorded));
	return status;
}
