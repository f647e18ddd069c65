/* SPDX-License-Identifier: MIT
 *
 * The pipelines as models: sim and mca.
 */
#include <string.h>

#include "model/model.h"

/* ---- sim ---- */

int model_sim_open(struct tact_estimator *e, const char *parts, struct tact_diag *diag)
{
	(void)parts;
	return tact_simulator_create(&e->simulator, diag);
}

void model_sim_close(struct tact_estimator *e)
{
	tact_simulator_destroy(e->simulator);
}

int model_sim_estimate(struct tact_estimator *e, struct tact_block *block,
		       struct tact_estimate *out)
{
	const struct tact_sim_options options = {.size = sizeof(options),
						 .max_cycles = e->opt.max_cycles};
	struct tact_simulation s = TACT_SIMULATION_INIT;
	int status = tact_simulate(e->simulator, block, &options, &s);

	if (status < 0)
		return status;
	out->cycles_per_iteration = s.cycles_per_iteration;
	out->coverage = s.coverage;
	out->bottlenecks = s.bottlenecks;
	out->scheduling = s.scheduling;
	out->bounds = s.bounds;
	return 0;
}

/* ---- mca ---- */

static const char PARAMS[] = "params=";

int model_mca_check(const char *parts, struct tact_diag *diag)
{
	if (parts && (strncmp(parts, PARAMS, strlen(PARAMS)) != 0 || !parts[strlen(PARAMS)]))
		return tact_fail(diag, TACT_E_INVAL, "mca:%.30s: what follows mca: is params=FILE",
				 parts);
	return 0;
}

static int load_params(struct tact_estimator *e, const char *path, struct tact_diag *diag)
{
	struct tact_diag why = {0};
	int status;

	if (!e->opt.arch)
		return tact_fail(diag, TACT_E_INVAL, "%s: parameters are for one CPU", path);
	status = tact_mca_params_create(&e->params, e->opt.arch, &why);
	if (status >= 0)
		status = tact_mca_params_load(e->params, path, &why);
	if (status >= 0)
		return 0;
	if (why.line)
		return tact_fail_at(diag, (enum tact_error) - status, why.line, 0, "%s:%llu: %s",
				    path, (unsigned long long)why.line, why.text);
	return tact_fail(diag, (enum tact_error) - status, "%s: %s", path,
			 why.text[0] ? why.text : tact_strerror(status));
}

int model_mca_open(struct tact_estimator *e, const char *parts, struct tact_diag *diag)
{
	struct tact_mca_options options;
	int status = 0;

	if (tact_read_options(&options, sizeof(options), e->opt.mca) < 0)
		return tact_fail(diag, TACT_E_INVAL, "options that this library does not know");
	options.size = sizeof(options);
	if (parts)
		status = load_params(e, parts + strlen(PARAMS), diag);
	if (status < 0)
		return status;
	if (e->params)
		options.params = e->params;
	return tact_mca_create(&e->machine, &options, diag);
}

void model_mca_close(struct tact_estimator *e)
{
	tact_mca_destroy(e->machine);
	tact_mca_params_destroy(e->params);
}

int model_mca_estimate(struct tact_estimator *e, struct tact_block *block,
		       struct tact_estimate *out)
{
	struct tact_mca_result result = {.size = sizeof(result)};
	int status;

	if (e->params && tact_mca_params_arch(e->params) != tact_block_arch(block))
		return -TACT_E_INVAL;
	status = tact_mca_estimate(e->machine, block, &result);
	out->cycles_per_iteration = result.cycles_per_iteration;
	out->coverage = result.coverage;
	return status;
}
