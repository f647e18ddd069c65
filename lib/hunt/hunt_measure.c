/* SPDX-License-Identifier: MIT
 *
 * Measurements as a side of a hunt.
 */
#include <stdlib.h>

#include <tact-program/campaign.h>

#include "hunt/hunt.h"

enum { DEFAULT_ROUNDS = 6, INTERVAL_MS = 100, POLL_MS = 100 };

struct tact_hunt_measure {
	struct tact_hunt_measure_options opt;
	int *cpus; /* owned */
};

int tact_hunt_measure_create(struct tact_hunt_measure **out,
			     const struct tact_hunt_measure_options *opt, struct tact_diag *diag)
{
	struct tact_hunt_measure *m;
	struct tact_harness *harness = NULL;
	int status;

	if (out)
		*out = NULL;
	status = tact_new(&m, sizeof(*m), out && opt, "an argument is missing", diag);
	if (status < 0)
		return status;
	status = tact_read_options(&m->opt, sizeof(m->opt), opt);
	if (status >= 0 && (!m->opt.cpus || !m->opt.n_cpus || !m->opt.n_workers))
		status = tact_fail(diag, TACT_E_INVAL, "no CPUs");
	if (status >= 0) {
		m->cpus = malloc(m->opt.n_cpus * sizeof(*m->cpus));
		status = m->cpus ? 0 : tact_fail(diag, TACT_E_NOMEM, "out of memory");
	}
	for (unsigned i = 0; i < m->opt.n_cpus && status >= 0; i++)
		m->cpus[i] = opt->cpus[i];
	m->opt.cpus = m->cpus;
	m->opt.rounds = m->opt.rounds ? m->opt.rounds : DEFAULT_ROUNDS;
	/* Better now than after some minutes. */
	if (status >= 0 && !m->opt.visit)
		status = tact_harness_create(&harness, &m->opt.measure, diag);
	tact_harness_destroy(harness);
	return HAND_OVER(out, m, status, tact_hunt_measure_destroy);
}

void tact_hunt_measure_destroy(struct tact_hunt_measure *m)
{
	if (!m)
		return;
	FREE_ALL(m->cpus, m);
}

/* Only numbers that two rounds confirm count; what was not measured because a signal came is still to
 * be measured.
 */
static void take(const struct tact_hunt_measure *m, const struct tact_campaign *c, size_t i,
		 struct tact_hunt_value *out)
{
	const struct tact_measurement *r = tact_campaign_result(c, i);

	*out = (struct tact_hunt_value){.answer = r ? TACT_HUNT_NO_NUMBER : TACT_HUNT_LATER};
	if (!r || r->status != TACT_MEASURE_OK ||
	    (m->opt.rounds > 1 && !m->opt.is_unconfirmed && r->agree < 2))
		return;
	*out = (struct tact_hunt_value){.cycles = r->cycles_per_iteration,
					.answer = TACT_HUNT_NUMBER};
}

int tact_hunt_measure_ask(void *measure, const struct tact_hunt_block *blocks, size_t n,
			  struct tact_hunt_value *out, struct tact_diag *diag)
{
	struct tact_hunt_measure *m = measure;
	struct tact_campaign_options opt = {.size = sizeof(opt)};
	struct tact_campaign_progress now = {.size = sizeof(now)};
	struct tact_campaign_block *list;
	struct tact_campaign *c;
	int status;

	if (!m || !out || (n && !blocks))
		return tact_fail(diag, TACT_E_INVAL, "an argument is missing");
	if (!n)
		return 0;
	list = malloc(n * sizeof(*list));
	if (!list)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	for (size_t i = 0; i < n; i++)
		list[i] = (struct tact_campaign_block){.code = blocks[i].code,
						       .code_size = blocks[i].code_size,
						       .alignment = blocks[i].alignment};
	opt.measure = m->opt.measure;
	opt.cpus = m->cpus;
	opt.n_cpus = m->opt.n_cpus;
	opt.n_workers = m->opt.n_workers;
	opt.rounds = m->opt.rounds;
	opt.is_until_confirmed = true;
	opt.interval_ms = INTERVAL_MS;
	opt.interrupt = m->opt.interrupt;
	opt.visit = m->opt.visit;
	opt.context = m->opt.context;
	status = tact_campaign_create(&c, list, n, &opt);
	if (status >= 0) {
		tact_campaign_start(c);
		do {
			tact_campaign_wait(c, POLL_MS, &now);
			if (m->opt.is_over && m->opt.is_over(m->opt.context))
				tact_campaign_stop(c);
		} while (now.is_running);
		for (size_t i = 0; i < n; i++)
			take(m, c, i, &out[i]);
		tact_campaign_destroy(c);
		if (now.end != TACT_CAMPAIGN_NOT_STOPPED)
			status = tact_fail(diag, TACT_E_IO, "%s", now.why);
	} else {
		status = tact_fail(diag, (enum tact_error) - status, "measuring cannot begin");
	}
	free(list);
	return status;
}
