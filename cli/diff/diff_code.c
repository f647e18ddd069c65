/* SPDX-License-Identifier: MIT
 *
 * Two versions of code, which are compared without running them.
 */
#include <stdlib.h>
#include <unistd.h>

#include "common/cli.h"
#include "common/terminal.h"
#include "differ.h"

#include <tact-program/codediff.h>

int diff_code_check(const struct differ *p)
{
	const struct trace_setup *s = &p->setup;

	if (trace_setup_has_regions(s) || s->is_exact || s->is_thorough || s->has_branches ||
	    s->has_caches || s->is_full || s->is_core || program_has_qemu_options(&s->program))
		return cli_wrong("%s and %s are code, which is not run: --region, --exclude, "
				 "--from, --until, --exact, --core, --cache, --branches, "
				 "--full, " PROGRAM_QEMU_OPTIONS " do not apply; to compare runs, "
				 "put commands after --",
				 p->sides[0].text, p->sides[1].text);
	if (p->html)
		return cli_wrong("--html is for two runs");
	return CLI_GOOD;
}

static int load(struct tact_code **out, const struct differ *p, unsigned side)
{
	const struct tact_code_options opt = {.size = sizeof(opt),
					      .function = p->function,
					      .is_mangled = p->setup.is_mangled,
					      .isa = tact_arch_isa(p->setup.archs.arch[0])};
	struct tact_diag diag = {0};
	const int status = tact_code_load(out, p->sides[side].text, &opt, &diag);

	if (status >= 0)
		return CLI_GOOD;
	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	return cli_complain(p->sides[side].text, &diag, status,
			    status == -TACT_E_NO_TOOL ? CLI_UNABLE : CLI_FAILED);
}

/* Whether the output is coloured: as for predict --color auto. */
static bool has_colors(const struct differ *p)
{
	const char *no_color = getenv("NO_COLOR");

	return !p->output && isatty(STDOUT_FILENO) && !(no_color && *no_color);
}

static int write_report(const struct differ *p, const struct tact_codediff *diff)
{
	const struct tact_code_report report = {
		.size = sizeof(report),
		.diff = diff,
		.names = {p->sides[0].text, p->sides[1].text},
		.format = (enum tact_format)p->format,
		.top = p->top,
		.threshold = p->threshold,
		.color = has_colors(p),
		.width = (int)terminal_width(p->output),
	};
	struct output out;

	if (output_open(&out, p->output))
		return CLI_FAILED;
	if (tact_report_code(&report, output_sink, &out) < 0)
		cli_out_of_memory();
	return output_close(&out) ? CLI_FAILED : CLI_GOOD;
}

static int judge(const struct differ *p, const struct tact_codediff *diff)
{
	struct tact_codediff_summary s = TACT_CODEDIFF_SUMMARY_INIT;

	if (!(p->threshold > 0) || tact_codediff_get_summary(diff, &s))
		return CLI_GOOD;
	if (!s.worst_cpu) {
		cli_message("--fail-above: nothing of A and B could be compared");
		return CLI_FAILED;
	}
	if (s.worst <= p->threshold)
		return CLI_GOOD;
	if (!p->setup.is_quiet)
		cli_message("%s takes %+.2f%% cycles on %s, more than --fail-above allows",
			    s.worst_name, 100 * (s.worst - 1), tact_arch_name(s.worst_cpu));
	return CLI_OVER;
}

static int compare(const struct differ *p, const struct tact_code *a, const struct tact_code *b)
{
	const struct tact_codediff_options opt = {
		.size = sizeof(opt),
		.archs = p->setup.archs.arch,
		.n_archs = p->setup.archs.n,
		.model = p->model,
	};
	struct tact_diag diag = {0};
	struct tact_codediff *diff;
	int code;
	const int status = tact_codediff_create(&diff, a, b, &opt, &diag);

	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	if (status < 0) {
		cli_message("%s", diag.text);
		return status == -TACT_E_INVAL ? CLI_USAGE : CLI_FAILED;
	}
	code = write_report(p, diff);
	if (!code)
		code = judge(p, diff);
	tact_codediff_destroy(diff);
	return code;
}

int diff_code(struct differ *p)
{
	struct tact_code *a = NULL, *b = NULL;
	int code = archlist_resolve(&p->setup.archs, NULL, p->setup.is_quiet);

	if (!code)
		code = load(&a, p, 0);
	if (!code)
		code = load(&b, p, 1);
	if (!code)
		code = compare(p, a, b);
	tact_code_destroy(a);
	tact_code_destroy(b);
	return code;
}
