/* SPDX-License-Identifier: MIT
 *
 * Many blocks on all cores: each thread has a block of its own, which remembers instructions from
 * one run to the next.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/team.h"
#include "facile/facile.h"

enum {
	MAX_SLICE = 256, /* jobs that a thread takes at a time */
	MIN_SLICE = 16,
	SLICES = 4, /* for each thread, so that slow ones do not hold up the rest */
	/* Waking a thread takes as long as some ten predictions: the caller does fewer jobs
	 * itself.
	 */
	MIN_JOBS = 128
};

struct tact_predictor {
	struct tact_predict_options opt;
	const struct tact_arch *arch;
	struct tact_block_options block_opt;
	struct team *team;	    /* owned */
	struct tact_block **blocks; /* owned; one per thread, NULL until there is work for it */

	/* The present run. */
	char *jobs;
	size_t n, stride, slice; /* stride: bytes from one job to the next */
	atomic_long failed;
};

void tact_predictor_destroy(struct tact_predictor *p)
{
	if (!p)
		return;
	for (unsigned t = 0; p->blocks && t < team_size(p->team); t++)
		tact_block_destroy(p->blocks[t]);
	team_destroy(p->team);
	FREE_ALL(p->blocks, p);
}

/* Reads the options, and makes what the first run needs. */
static int set_up(struct tact_predictor *p, const struct tact_block_options *block_opt,
		  const struct tact_predict_options *opt, unsigned threads, struct tact_diag *diag)
{
	int status;

	if (tact_read_options(&p->opt, sizeof(p->opt), opt) < 0 || !facile_are_valid(&p->opt))
		return tact_fail(diag, TACT_E_INVAL, "options that this library does not know");
	p->opt.size = sizeof(p->opt);
	status = team_create(&p->team, threads);
	if (status >= 0) {
		p->blocks = calloc(team_size(p->team), sizeof(*p->blocks));
		status = p->blocks ? 0 : -TACT_E_NOMEM;
	}
	if (status < 0)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	status = tact_block_create(&p->blocks[0], p->arch, block_opt, diag);
	if (status >= 0) {
		p->block_opt = p->blocks[0]->opt;
		p->block_opt.size = sizeof(p->block_opt);
	}
	return status;
}

int tact_predictor_create(struct tact_predictor **out, const struct tact_arch *arch,
			  const struct tact_block_options *block_opt,
			  const struct tact_predict_options *opt, unsigned threads,
			  struct tact_diag *diag)
{
	struct tact_predictor *p;
	int status;

	if (out)
		*out = NULL;
	status = tact_new(&p, sizeof(*p), out && arch, "no microarchitecture", diag);
	if (status < 0)
		return status;
	p->arch = arch;
	status = set_up(p, block_opt, opt, threads, diag);
	return HAND_OVER(out, p, status, tact_predictor_destroy);
}

static int predict_job(struct tact_block *block, const struct tact_predict_options *opt,
		       struct tact_job *job, size_t room)
{
	int status = tact_block_load(block, job->code, job->code_size, NULL);

	if (status < 0 || room < sizeof(size_t))
		return status;
	job->prediction.size = room;
	return tact_predict(block, opt, &job->prediction);
}

static void work(void *context, unsigned thread, size_t slice)
{
	struct tact_predictor *p = context;
	const size_t first = slice * p->slice,
		     end = p->n - first < p->slice ? p->n : first + p->slice;
	const size_t room = p->stride - offsetof(struct tact_job, prediction);
	long failed = 0;

	for (size_t i = first; i < end; i++) {
		struct tact_job *job = (struct tact_job *)(void *)(p->jobs + i * p->stride);

		job->status = predict_job(p->blocks[thread], &p->opt, job, room);
		failed += job->status < 0;
	}
	if (failed)
		atomic_fetch_add(&p->failed, failed);
}

/* Makes a block for each thread that may get work. */
static int make_blocks(struct tact_predictor *p, unsigned threads)
{
	for (unsigned t = 0; t < threads; t++) {
		int status = p->blocks[t] ? 0
					  : tact_block_create(&p->blocks[t], p->arch, &p->block_opt,
							      NULL);

		if (status < 0)
			return status;
	}
	return 0;
}

static size_t slice_of(size_t n, unsigned threads)
{
	size_t slice = n / ((size_t)threads * SLICES);

	return slice < MIN_SLICE ? MIN_SLICE : slice < MAX_SLICE ? slice : MAX_SLICE;
}

long tact_predictor_run(struct tact_predictor *p, struct tact_job *jobs, size_t n)
{
	if (!p || (!jobs && n))
		return -TACT_E_INVAL;
	if (!n)
		return 0;
	p->stride = jobs[0].size;
	if (p->stride < offsetof(struct tact_job, prediction) ||
	    p->stride % _Alignof(struct tact_job) || !tact_can_fill(jobs))
		return -TACT_E_INVAL;
	p->jobs = (char *)jobs;
	p->n = p->slice = n;
	atomic_store(&p->failed, 0);
	if (n >= MIN_JOBS && team_size(p->team) > 1) {
		p->slice = slice_of(n, team_size(p->team));
		if (make_blocks(p, team_size(p->team)) < 0)
			return -TACT_E_NOMEM;
	}
	team_run(p->team, n / p->slice + (n % p->slice != 0), work, p);
	return atomic_load(&p->failed);
}

long tact_predict_batch(const struct tact_arch *arch, const struct tact_block_options *block_opt,
			const struct tact_predict_options *opt, struct tact_job *jobs, size_t n,
			unsigned threads)
{
	struct tact_predictor *p;
	long result;

	if (!jobs && n)
		return -TACT_E_INVAL;
	result = tact_predictor_create(&p, arch, block_opt, opt, n < MIN_JOBS ? 1 : threads, NULL);
	if (result >= 0)
		result = tact_predictor_run(p, jobs, n);
	tact_predictor_destroy(p);
	return result;
}
