/* SPDX-License-Identifier: MIT
 *
 * Takes samples of a prepared block until enough passes agree.
 */
#include <math.h>

#include "measure/measure_job.h"
#include "measure/native.h"

enum { MAX_USELESS = 60 /* quiet passes that may be discarded for other reasons */ };

/* ---- plausibility ---- */

/* What no core does, whatever a block says: more than twice its width of instructions in a cycle
 * (pairs fuse), or two iterations.  Of a core that nobody knows, there is little to say.
 */
static double least_cycles(const struct job *job)
{
	const unsigned width = job->h->core.width;
	const double least = (double)job->screen.n_insns / (2 * (width ? width : 16));

	if (job->h->floor.is_emulated)
		return 0;
	return job->plan.loop ? fmax(least, width ? 1 : 0.5) : least;
}

/* Whether the runs of a pass, by their own account, took longer than there was time. */
static bool is_too_long(const struct measure_host *host, unsigned n, uint64_t elapsed)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < n; i++) {
		const struct measure_sample *s = &host->sample[i];

		if (s->low > elapsed || s->high > elapsed)
			return true;
		sum += s->low + s->high;
	}
	return sum > elapsed;
}

/* ---- passes ---- */

static int fail_disturbed(struct job *job)
{
	return job_fail(job, TACT_MEASURE_DISTURBED,
			"another program or another tenant's hyperthread kept CPU %d busy: code "
			"that needs the whole core took %.0f%% longer than it should",
			job->out->cpu, fmax(1, 100 * job->out->disturbance));
}

/* Waits for a quiet moment, which does not count against the time of the block.  Returns 0, or -1
 * with a status.
 */
static int wait_for_quiet(struct job *job, long until)
{
	const long begin = harness_now_ms();
	int status = begin < until ? harness_wait_quiet(job->h, until) : 1;

	job->deadline += harness_now_ms() - begin;
	return status > 0 ? fail_disturbed(job) : job_fail_order(job, status);
}

/* Takes a pass.  Returns 0, or -1 with a status. */
static int take_pass(struct job *job, struct measure_pass *pass)
{
	struct tact_harness *h = job->h;
	struct tact_measurement *out = job->out;
	const bool ticks = h->rung == TACT_RUNG_TSC;
	uint64_t begin = native_clock();

	if (job_order(job, ORDER_SAMPLE) < 0 || job_fail_outcome(job) < 0)
		return -1;
	if (ticks && is_too_long(h->host, h->opt.samples, native_clock() - begin))
		return job_fail(job, TACT_MEASURE_OWN_CODE,
				"its times are longer than it ran: it writes to the harness");
	measure_evaluate_pass(pass, &h->host->first, h->host->sample, h->opt.samples, ticks,
			      &h->floor);
	out->kept += pass->kept;
	out->dropped += pass->dropped;
	if (h->host->first.cpu < CPU_SETSIZE)
		out->cpu = (int)h->host->first.cpu;
	if (pass->disturbance >= 0 &&
	    (out->disturbance < 0 || pass->disturbance < out->disturbance))
		out->disturbance = pass->disturbance;
	return 0;
}

int job_sample(struct job *job)
{
	struct tact_harness *h = job->h;
	struct tact_measurement *out = job->out;
	const long until = harness_now_ms() + (long)h->opt.wait_ms;
	double value[MEASURE_MAX_PASSES];
	unsigned n = 0, useless = 0;
	int status = 0;

	h->host->n_samples = h->opt.samples;
	out->disturbance = -1;
	while (n < h->opt.passes && useless < MAX_USELESS) {
		struct measure_pass pass;

		status = take_pass(job, &pass);
		if (status < 0)
			break;
		if (pass.valid) {
			value[n++] = (pass.high - pass.low) / (out->high - out->low);
			continue;
		}
		useless += !pass.busy;
		status = pass.busy ? wait_for_quiet(job, until) : 0;
		if (status < 0)
			break;
	}
	out->disturbance = fmax(0, out->disturbance);
	if (status < 0 && (n < 2 || out->status != TACT_MEASURE_DISTURBED))
		return status;
	measure_conclude(out, value, n, h->opt.max_spread, least_cycles(job));
	return out->status == TACT_MEASURE_OK ? 0 : -1;
}
