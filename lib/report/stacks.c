/* SPDX-License-Identifier: MIT
 *
 * Stacks for other tools: call paths of a run with their cycles and instructions, and rows of a mix,
 * whose keys are the frames.
 */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "profile/profile.h"
#include "report/report.h"

/* Writes the profile in one of the formats. */
static void write_profile(struct report *report, const struct profile *p, enum tact_format format,
			  const char *script)
{
	struct text *out = &report->text;

	switch (format) {
	case TACT_FORMAT_FOLDED:
		profile_folded(p, out);
		break;
	case TACT_FORMAT_FLAME:
		profile_flame(p, script, out);
		break;
	case TACT_FORMAT_SPEEDSCOPE:
		profile_speedscope(p, out);
		break;
	default:
		profile_pprof(p, out);
	}
}

/* ---- runs ---- */

/* Adds call path i below the frame of its caller, and subtracts its instructions from those of the
 * caller: frames have what they executed themselves.
 */
static int add_call(struct profile *p, const struct tact_run_report *r, size_t *frames, size_t i)
{
	const struct tact_result_call *c = &r->result->calls[i];
	const bool has_caller = c->parent < i;
	char *name = report_name(c->function, r->is_mangled, false);
	const char *kept = profile_keep(p, name ? name : c->function);
	struct profile_frame *f;

	free(name);
	if (!kept || profile_frame_at(p, has_caller ? frames[c->parent] : PROFILE_ROOT, kept,
				      *c->module ? file_base_name(c->module) : "", &frames[i]))
		return -TACT_E_NOMEM;
	f = &p->frames[frames[i]];
	f->value[0] += c->self;
	f->value[1] += (double)c->instructions;
	if (has_caller)
		p->frames[frames[c->parent]].value[1] -= (double)c->instructions;
	return 0;
}

int report_run_stacks(struct report *report, const struct tact_run_report *r)
{
	const struct tact_result *result = r->result;
	struct text title = {0};
	struct profile p = {
		.units = {{"cycles", "count"}, {"instructions", "count"}},
		.n_units = 2,
	};
	size_t *frames;
	int status = 0;

	if (!result->n_calls)
		return -TACT_E_NO_DATA;
	text_printf(&title, "%s%scycles on %s%s", *result->info.command ? result->info.command : "",
		    *result->info.command ? ": " : "", result->info.arch,
		    result->info.is_partial ? ", of an incomplete run" : "");
	frames = calloc(result->n_calls, sizeof(*frames));
	p.title = text_string(&title);
	if (!frames || !p.title)
		status = -TACT_E_NOMEM;
	for (size_t i = 0; i < result->n_calls && !status; i++)
		status = add_call(&p, r, frames, i);
	if (!status)
		write_profile(report, &p, r->format, r->script);
	profile_fini(&p);
	free(frames);
	text_free(&title);
	return status;
}

/* ---- mixes ---- */

static int add_row(struct profile *p, const struct tact_mix_pivot *pivot, size_t n_keys, size_t i)
{
	struct tact_mix_row row = TACT_MIX_ROW_INIT;
	size_t frame = PROFILE_ROOT;

	if (tact_mix_pivot_get_row(pivot, i, &row))
		return -TACT_E_NOMEM;
	for (size_t k = 0; k < n_keys; k++)
		if (profile_frame_at(p, frame, *row.key[k] ? row.key[k] : "[unknown]", "", &frame))
			return -TACT_E_NOMEM;
	if (frame != PROFILE_ROOT)
		p->frames[frame].value[0] += row.executions;
	return 0;
}

int report_mix_stacks(struct report *report, const struct tact_mix_report *r)
{
	enum tact_mix_key keys[TACT_MIX_MAX_KEYS];
	const size_t n_keys = tact_mix_pivot_get_keys(r->pivot, keys);
	const size_t n = tact_mix_pivot_count(r->pivot);
	struct text title = {0};
	struct profile p = {.units = {{"instructions", "count"}}, .n_units = 1};
	int status = 0;

	if (*r->summary->command)
		text_printf(&title, "%s: ", r->summary->command);
	text_printf(&title, "instructions%s by ", r->summary->is_relative ? " (relative)" : "");
	for (size_t k = 0; k < n_keys; k++)
		text_printf(&title, "%s%s", k ? ", " : "", tact_mix_key_name(keys[k]));
	p.title = text_string(&title);
	if (!p.title)
		status = -TACT_E_NOMEM;
	for (size_t i = 0; i < n && !status && (!r->top || i < r->top); i++)
		status = add_row(&p, r->pivot, n_keys, i);
	if (!status)
		write_profile(report, &p, r->format, r->script);
	profile_fini(&p);
	text_free(&title);
	return status;
}
