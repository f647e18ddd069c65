/* SPDX-License-Identifier: MIT
 *
 * The models of tact evaluate: what the values of --model name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tact/model.h>

#include "common/cli.h"
#include "evaluator.h"

static char *copy(const char *text, size_t length)
{
	char *result = strndup(text, length);

	if (!result)
		cli_out_of_memory();
	return result;
}

/* Once is enough. */
static int add(void *evaluator, const char *name)
{
	struct evaluator *p = evaluator;

	for (size_t i = 0; i < p->n_models; i++)
		if (!strcmp(name, p->models[i].model))
			return 0;
	p->models = cli_realloc(p->models, (p->n_models + 1) * sizeof(*p->models));
	p->models[p->n_models++] = (struct evaluate_model){
		.name = copy(name, tact_model_title(name)), .model = copy(name, strlen(name))};
	return 0;
}

const char *evaluate_add_models(void *evaluator, const char *value)
{
	struct evaluator *p = evaluator;
	struct tact_diag diag = {0};

	if (tact_model_expand(value, add, p, &diag) >= 0)
		return NULL;
	snprintf(p->why, sizeof(p->why), "%s", diag.text);
	return p->why;
}

void evaluate_model_fini(struct evaluate_model *model)
{
	free(model->name);
	free(model->model);
	free(model->predicted);
	free(model->outcomes);
}
