/* SPDX-License-Identifier: MIT
 *
 * One block from bytes to a number:
 *
 *   screen    refuse what must not run; find a register that can count
 *   prepare   emit code for a first guess of the sizes; run it until all pages are mapped
 *   size      choose the two unroll factors, or numbers of iterations, from the time that it took
 *   sample    take passes of samples until enough of them agree
 *   trace     run once step by step, for the flags
 */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/emulator.h"
#include "measure/counter.h"
#include "measure/measure_job.h"
#include "measure/native.h"
#include "pmu/pmu.h"

#include "measures.inc" /* MEASURE_LIST: the Makefile makes it from the folders here */

enum {
	DEFAULT_PASSES = 5,
	DEFAULT_SAMPLES = 32,
	DEFAULT_MAX_PAGES = MEASURE_MAX_PAGES,
	DEFAULT_TIMEOUT_MS = 2000,
	DEFAULT_WAIT_MS = 500,
	MANY_PAGES = 8,
	MAX_CPUS = 1024 /* of a cpu_set_t */
};

/* ---- names ---- */

const char *tact_rung_name(enum tact_rung rung)
{
	static const char *const names[] = {[TACT_RUNG_AUTO] = "auto",
					    [TACT_RUNG_RDPMC] = "rdpmc",
					    [TACT_RUNG_PERF] = "perf",
					    [TACT_RUNG_APERF] = "aperf",
					    [TACT_RUNG_TSC] = "tsc"};

	return NAME_OF(names, rung, "unknown");
}

const char *tact_measure_status_name(enum tact_measure_status status)
{
	static const char *const names[TACT_N_MEASURE_STATUS] = {
		[TACT_MEASURE_OK] = "ok",
		[TACT_MEASURE_DECODE] = "decode_error",
		[TACT_MEASURE_TOO_LONG] = "too_long",
		[TACT_MEASURE_REFUSED] = "refused",
		[TACT_MEASURE_UNMAPPABLE] = "unmappable",
		[TACT_MEASURE_PAGES] = "too_many_pages",
		[TACT_MEASURE_PROTECTION] = "protection",
		[TACT_MEASURE_ILLEGAL] = "illegal",
		[TACT_MEASURE_ARITHMETIC] = "arithmetic",
		[TACT_MEASURE_TRAP] = "trap",
		[TACT_MEASURE_OWN_CODE] = "own_code",
		[TACT_MEASURE_TIMEOUT] = "timeout",
		[TACT_MEASURE_CRASHED] = "crashed",
		[TACT_MEASURE_NO_COUNTER] = "no_counter",
		[TACT_MEASURE_UNSTABLE] = "unstable",
		[TACT_MEASURE_DISTURBED] = "disturbed",
		[TACT_MEASURE_UNCONFIRMED] = "unconfirmed",
	};

	return (unsigned)status < TACT_N_MEASURE_STATUS ? names[status] : "unknown";
}

const char *tact_contents_name(enum tact_contents contents)
{
	static const char *const names[] = {[TACT_CONTENTS_POINTER] = "pointer",
					    [TACT_CONTENTS_ZERO] = "zero",
					    [TACT_CONTENTS_INT] = "int",
					    [TACT_CONTENTS_FLOAT] = "float"};

	return NAME_OF(names, contents, "unknown");
}

const char *tact_vectors_name(enum tact_vectors vectors)
{
	static const char *const names[] = {
		[TACT_VECTORS_ORDINARY] = "ordinary", [TACT_VECTORS_ZERO] = "zero"};

	return NAME_OF(names, vectors, "unknown");
}

const char *tact_measure_flags_text(uint32_t flags, char buf[TACT_MEASURE_FLAGS_SIZE])
{
	static const char letters[] = "LXDSRFVWBTCOP"; /* in the order of enum tact_measure_flag */
	size_t n = 0;

	if (!buf)
		return "";
	for (size_t i = 0; letters[i]; i++)
		if (flags >> i & 1)
			buf[n++] = letters[i];
	if (!n)
		buf[n++] = '-';
	buf[n] = 0;
	return buf;
}

/* ---- sets ---- */

static const struct measure_set *const sets[] = {MEASURE_LIST};

const struct measure_set *measure_set_of(const struct tact_isa *isa)
{
	for (size_t i = 0; i < ARRAY_SIZE(sets); i++)
		if (sets[i]->isa == isa)
			return sets[i];
	return NULL;
}

const struct tact_known *tact_known(void)
{
	return measure_native->known;
}

size_t sweep_emit(enum sweep_kernel kernel, uint64_t size, uint64_t step, uint32_t features,
		  uint8_t *to, size_t room)
{
	return measure_native->sweep ? measure_native->sweep(kernel, size, step, features, to, room)
				     : 0;
}

enum tact_measure_status tact_measure_check(const struct tact_isa *isa, const uint8_t *code,
					    size_t size, enum tact_mode mode, char *reason,
					    size_t reason_size)
{
	const struct measure_set *set = measure_set_of(isa);
	struct measure_screen s = {.status = TACT_MEASURE_REFUSED};
	char text[160] = "code of this instruction set cannot be measured";

	if ((unsigned)mode > TACT_MODE_UNROLL)
		snprintf(text, sizeof(text), "no such mode");
	else if (set)
		set->screen(&s, code, code ? size : 0, mode != TACT_MODE_UNROLL, text,
			    sizeof(text));
	if (s.status == TACT_MEASURE_OK && size > MEASURE_MAX_BLOCK) {
		s.status = TACT_MEASURE_TOO_LONG;
		snprintf(text, sizeof(text), "%zu bytes; at most %d can be measured", size,
			 MEASURE_MAX_BLOCK);
	}
	if (reason && reason_size)
		snprintf(reason, reason_size, "%s", text);
	return s.status;
}

/* ---- the harness ---- */

/* Returns the step of the time stamp counter, given how often readings differed by d.  It is 1 or 2
 * on most CPUs.  Where the counter advances with a slower clock, nearly all differences are
 * multiples of a step that is longer than a reading, and perhaps no whole number.
 */
unsigned measure_quantum(const unsigned *count, unsigned n)
{
	unsigned common = 0, least = 0, multiples = 0, all = 0;
	double step;

	for (unsigned d = 1; d < n; d++) {
		all += count[d];
		if (count[d] > count[common] || !common)
			common = d;
	}
	for (unsigned d = n - 1; d > 4; d--)
		if (count[d] > all / 100)
			least = d;
	if (!least || !all)
		return 2;
	step = common / fmax(1, round((double)common / least));
	for (unsigned d = 1; d < n; d++)
		if (fabs(d - step * round(d / step)) <= (step < 12 ? 0.5 : 1))
			multiples += count[d];
	return step > 4 && multiples * 20.0 > all * 19.0 ? (unsigned)ceil(step) : 2;
}

static unsigned probe_quantum(void)
{
	enum { N = 20000, MAX = 256 };
	unsigned count[MAX] = {0};
	uint64_t previous = native_clock();

	for (int i = 0; i < N; i++) {
		uint64_t now = native_clock(), d = now - previous;

		if (d && d < MAX)
			count[d]++;
		previous = now;
	}
	return measure_quantum(count, MAX);
}

/* perf's msr device offers APERF as an event.  CPUs with several kinds of cores have a device for
 * each; that of the first kind is the usual one.
 */
static void probe_devices(struct tact_harness *h)
{
	static const char *const others[MEASURE_CORE_TYPES] = {"cpu_atom", "cpu_lowpower"};
	struct pmu_event event;
	unsigned n = 0;

	if (pmu_find_event(&event, PMU_DEVICES, "msr", "aperf")) {
		h->aperf_type = event.type;
		h->aperf_config = (unsigned)event.config;
	}
	for (int i = 0; i < MEASURE_CORE_TYPES; i++)
		if (pmu_find_device(&h->core_type[n], PMU_DEVICES, others[i]))
			n++;
}

/* Says which part of the sandbox is missing. */
static int fail_sandbox(const struct tact_harness *h, struct tact_diag *diag)
{
	const char *call, *purpose, *reason = h->failed_error ? strerror(h->failed_error) : "";

	if (h->is_refused_cpu)
		return tact_fail(diag, TACT_E_IO, "the blocks' process may not run on CPU %d",
				 h->cpu);
	harness_describe_part(h->failed_part, &call, &purpose);
	if (h->failed_error == ENOMEM)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory: %s", call);
	return tact_fail(diag, TACT_E_IO, "the sandbox of blocks is not complete: %s%s%s (%s)",
			 call, *reason ? ": " : "", reason, purpose);
}

/* Returns 1 if the rung works, 0 if it does not, -1 if there is no sandbox. */
static int try_rung(struct tact_harness *h, enum tact_rung rung)
{
	const size_t size = sizeof(h->refusal[rung]);

	h->refusal[rung][0] = 0;
	if (rung == TACT_RUNG_APERF && !h->aperf_type) {
		counter_explain(COUNTER_NO_DEVICE, rung, h->refusal[rung], size);
		return 0;
	}
	h->rung = rung;
	if (harness_begin_block(h) < 0)
		return -1;
	harness_end_block(h);
	if (h->counter_error)
		counter_explain(h->counter_error, rung, h->refusal[rung], size);
	return !h->counter_error;
}

static int choose_rung(struct tact_harness *h, struct tact_diag *diag)
{
	bool is_given = h->opt.rung != TACT_RUNG_AUTO;
	enum tact_rung first = is_given ? h->opt.rung : TACT_RUNG_RDPMC;
	enum tact_rung last = is_given ? h->opt.rung : TACT_RUNG_TSC;

	for (enum tact_rung rung = first; rung <= last; rung++) {
		int works = try_rung(h, rung);

		if (works > 0)
			return 0;
		if (works < 0)
			return fail_sandbox(h, diag);
	}
	return tact_fail(diag, TACT_E_IO, "this machine does not offer '%s': %s",
			 tact_rung_name(last), h->refusal[last]);
}

static bool are_cpus(const int *cpus, unsigned n)
{
	if (n > MAX_CPUS || (n && !cpus))
		return false;
	for (unsigned i = 0; i < n; i++)
		if (cpus[i] < 0 || cpus[i] >= MAX_CPUS)
			return false;
	return true;
}

static int fill_options(struct tact_measure_options *opt, const struct tact_measure_options *from)
{
	if (tact_read_options(opt, sizeof(*opt), from) < 0)
		return -1;
	opt->max_pages = opt->max_pages ? opt->max_pages : DEFAULT_MAX_PAGES;
	opt->passes = opt->passes ? opt->passes : DEFAULT_PASSES;
	opt->samples = opt->samples ? opt->samples : DEFAULT_SAMPLES;
	opt->timeout_ms = opt->timeout_ms ? opt->timeout_ms : DEFAULT_TIMEOUT_MS;
	if (!(opt->max_spread >= 0))
		return -1;
	opt->max_spread = opt->max_spread > 0 ? opt->max_spread : 0.10;
	opt->wait_ms = opt->wait_ms ? opt->wait_ms : DEFAULT_WAIT_MS;
	if (opt->pages > MEASURE_MAX_PHYSICAL || opt->max_pages > MEASURE_MAX_PAGES ||
	    opt->samples > MEASURE_MAX_SAMPLES || opt->passes > MEASURE_MAX_PASSES ||
	    (unsigned)opt->mode > TACT_MODE_UNROLL ||
	    (opt->init != TACT_INIT_STACK && opt->init != TACT_INIT_SAME) ||
	    (unsigned)opt->memory > TACT_CONTENTS_FLOAT ||
	    (unsigned)opt->vectors > TACT_VECTORS_ZERO || (unsigned)opt->rung > TACT_RUNG_TSC ||
	    opt->cpu < 0 || opt->cpu >= MAX_CPUS || (opt->cpu && !opt->pin) ||
	    !are_cpus(opt->cpus, opt->n_cpus))
		return -1;
	return 0;
}

int tact_harness_create(struct tact_harness **out, const struct tact_measure_options *opt,
			struct tact_diag *diag)
{
	struct tact_harness *h;
	int error;

	if (out)
		*out = NULL;
	error = tact_new(&h, sizeof(*h), out, "no place for the result", diag);
	if (error < 0)
		return error;
	h->socket_fd = h->image_fd = h->code_fd = h->data_fd = -1;
	if (fill_options(&h->opt, opt) < 0) {
		error = tact_fail(diag, TACT_E_INVAL, "an option is out of range");
		goto out_destroy;
	}
	if (sysconf(_SC_PAGESIZE) != MEASURE_PAGE) {
		error = tact_fail(diag, TACT_E_IO,
				  "blocks need pages of %d bytes; this kernel's have %ld",
				  MEASURE_PAGE, sysconf(_SC_PAGESIZE));
		goto out_destroy;
	}
	if (emulator_find(h->emulator, sizeof(h->emulator)))
		h->opt.max_spread = INFINITY; /* its times are no cycles, and differ as they like */
	h->features = native_features();
	probe_devices(h);
	h->quantum = probe_quantum();
	if (harness_create_areas(h) < 0) {
		error = tact_fail(diag, errno == ENOMEM ? TACT_E_NOMEM : TACT_E_IO,
				  "memfd_create, ftruncate or mmap of shared memory: %s",
				  strerror(errno));
		goto out_destroy;
	}
	if (harness_know_core(h) < 0) {
		error = tact_fail(diag, TACT_E_NOMEM, "out of memory");
		goto out_destroy;
	}
	error = choose_rung(h, diag);
	if (error < 0)
		goto out_destroy;
	*out = h;
	return 0;

out_destroy:
	tact_harness_destroy(h);
	return error;
}

void tact_harness_destroy(struct tact_harness *harness)
{
	if (!harness)
		return;
	if (harness->state && harness->child)
		measure_floor_save(&harness->floor, harness->state, harness->cpu_model);
	harness_kill(harness);
	harness_destroy_areas(harness);
	free(harness->state);
	free(harness);
}

enum tact_rung tact_harness_rung(const struct tact_harness *harness)
{
	return harness ? harness->rung : TACT_RUNG_AUTO;
}

const char *tact_harness_refusal(const struct tact_harness *harness, enum tact_rung rung)
{
	return harness && (unsigned)rung <= TACT_RUNG_TSC ? harness->refusal[rung] : "";
}

/* ---- one block ---- */

int job_fail(struct job *job, enum tact_measure_status status, const char *format, ...)
{
	va_list args;

	job->out->status = status;
	va_start(args, format);
	vsnprintf(job->out->reason, sizeof(job->out->reason), format, args);
	va_end(args);
	return -1;
}

/* Translates the end of a run to a status of the block. */
int job_fail_outcome(struct job *job)
{
	const struct measure_host *host = job->h->host;
	unsigned long long address = host->fault_address;
	char counter[160];

	switch ((enum measure_outcome)host->outcome) {
	case OUTCOME_UNMAPPABLE:
		return job_fail(job, TACT_MEASURE_UNMAPPABLE,
				"touches address 0x%llx, which cannot be mapped", address);
	case OUTCOME_PAGES:
		return job_fail(job, TACT_MEASURE_PAGES, "touches more than %u pages",
				job->h->opt.max_pages);
	case OUTCOME_PROTECTION:
		return job_fail(job, TACT_MEASURE_PROTECTION, "%s", measure_native->unaligned);
	case OUTCOME_ILLEGAL:
		return job_fail(job, TACT_MEASURE_ILLEGAL,
				"an instruction that this CPU does not have");
	case OUTCOME_ARITHMETIC:
		return job_fail(job, TACT_MEASURE_ARITHMETIC,
				"a division error or a floating-point exception");
	case OUTCOME_TRAP:
		return job_fail(job, TACT_MEASURE_TRAP, "a trap");
	case OUTCOME_OWN_CODE:
		return job_fail(job, TACT_MEASURE_OWN_CODE,
				"writes to 0x%llx, its own code or the harness", address);
	case OUTCOME_COUNTER:
		counter_explain(host->counter_void ? host->counter_void : COUNTER_FAULTS,
				job->h->rung, counter, sizeof(counter));
		return job_fail(job, TACT_MEASURE_UNSTABLE, "%s", counter);
	case OUTCOME_FORGED:
		return job_fail(job, TACT_MEASURE_OWN_CODE, "overwrites the time of its start");
	case OUTCOME_DONE:
	case OUTCOME_MAPPED:
		break;
	}
	return 0;
}

int job_order(struct job *job, enum measure_order what)
{
	return job_fail_order(job, harness_order(job->h, what, job->deadline));
}

int job_fail_order(struct job *job, int status)
{
	switch (status) {
	case 0:
		return 0;
	case -2:
		harness_kill(job->h);
		return job_fail(job, TACT_MEASURE_TIMEOUT, "did not come to its end in %u ms",
				job->h->opt.timeout_ms);
	case -3:
		harness_kill(job->h);
		return job_fail(job, TACT_MEASURE_OWN_CODE, "answers for the harness");
	default:
		return job_fail(job, TACT_MEASURE_CRASHED, "its process died with it");
	}
}

void job_place_steps(struct job *job)
{
	struct measure_host *host = job->h->host;

	for (uint32_t i = 0; measure_native->step_pc && i < host->n_steps; i++)
		host->step[i].pc = measure_native->step_pc(&job->layout, host->step[i].pc);
}

/* Finds the flags that depend on the addresses of a few iterations. */
static void trace(struct job *job)
{
	struct measure_host *host = job->h->host;
	size_t steps = 4 * job->screen.n_insns;

	host->max_steps = (uint32_t)(steps < MEASURE_MAX_STEPS ? steps : MEASURE_MAX_STEPS);
	switch (harness_order(job->h, ORDER_STEP, job->deadline)) {
	case 0:
		break;
	case -1:
		return;
	default:
		harness_kill(job->h);
		return;
	}
	job_place_steps(job);
	job->out->flags |=
		measure_trace_flags(measure_native, host, job->plan.code, job->plan.size,
				    MEASURE_CODE_BASE + job->layout.body, job->plan.loop);
}

/* Starts a process for the block.  Each has a counter of its own, which may be refused, or fail its
 * trial because of a disturbance.  Returns 0 if the block can run, 1 if it has a status instead, or
 * an error.
 */
static int begin_block(struct job *job)
{
	enum { TRIES = 3 };
	struct tact_harness *h = job->h;
	char reason[160];

	for (int i = 0; i < TRIES; i++) {
		if (harness_begin_block(h) < 0)
			return h->failed_error == ENOMEM ? -TACT_E_NOMEM : -TACT_E_IO;
		if (!h->counter_error)
			return 0;
		harness_end_block(h);
	}
	counter_explain(h->counter_error, h->rung, reason, sizeof(reason));
	job_fail(job, TACT_MEASURE_UNSTABLE, "%s", reason);
	return 1;
}

static int try_block(struct job *job, const uint8_t *code, size_t size)
{
	struct tact_harness *h = job->h;
	struct measure_host *host = h->host;
	const int begun = begin_block(job);

	if (begun)
		return begun < 0 ? begun : 0;
	if (job_fail_order(job, harness_learn(h)) < 0)
		goto out_end;
	job->deadline = harness_deadline(h);
	host->init_value = job_contents(h->opt.memory);
	host->init_stack = h->opt.init == TACT_INIT_STACK ? MEASURE_INIT_STACK : MEASURE_INIT_VALUE;
	host->max_pages = h->opt.max_pages;
	if (job_plan(job, code, size) < 0 || job_prepare(job) < 0 || job_time_entry(job) < 0 ||
	    job_sample(job) < 0 || job_check_start(job) < 0)
		goto out_end;
	job->out->n_pages = host->n_pages;
	if (job->out->n_pages > MANY_PAGES)
		job->out->flags |= TACT_MFLAG_MANY_PAGES;
	trace(job);
out_end:
	harness_end_block(h);
	return 0;
}

/* Runs the block of a job that has passed the screen.  A block cannot raise SIGKILL: it comes from
 * outside, for example from the kernel when memory is short.  Then the block gets a second try.
 */
static int run_block(struct job *job, const uint8_t *code, size_t size)
{
	const struct tact_measurement before = *job->out;
	int status = try_block(job, code, size);

	if (status >= 0 && job->out->status == TACT_MEASURE_CRASHED && job->h->was_killed) {
		*job->out = before;
		status = try_block(job, code, size);
	}
	return status;
}

int tact_measure(struct tact_harness *harness, const uint8_t *code, size_t size,
		 struct tact_measurement *out)
{
	return tact_measure_at(harness, code, size, 0, out);
}

int tact_measure_at(struct tact_harness *harness, const uint8_t *code, size_t size,
		    unsigned alignment, struct tact_measurement *out)
{
	struct tact_measurement m = {.size = sizeof(m), .alignment = alignment};
	struct job job = {.h = harness, .out = &m};
	int status = 0;

	if (!harness || !tact_can_fill(out) || (!code && size) || alignment >= MEASURE_LINE)
		return -TACT_E_INVAL;
	m.rung = harness->rung;
	m.init = harness->opt.init;
	m.memory = harness->opt.memory;
	m.vectors = harness->opt.vectors;
	m.cpu = harness->cpu;
	m.rounds = 1;
	m.mode = harness->opt.mode == TACT_MODE_LOOP ? TACT_MODE_LOOP : TACT_MODE_UNROLL;
	m.status = tact_measure_check(measure_native->isa, code, size, harness->opt.mode, m.reason,
				      sizeof(m.reason));
	if (m.status == TACT_MEASURE_OK) {
		measure_native->screen(&job.screen, code, size,
				       harness->opt.mode != TACT_MODE_UNROLL, m.reason,
				       sizeof(m.reason));
		m.flags = job.screen.flags;
		status = run_block(&job, code, size);
	}
	m.agree = m.status == TACT_MEASURE_OK;
	m.disturbed = m.status == TACT_MEASURE_DISTURBED;
	return status < 0 ? status : tact_fill(out, &m, sizeof(m));
}
