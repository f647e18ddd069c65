/* SPDX-License-Identifier: MIT
 *
 * The words of other tools for instruction sets and CPUs: what their options take.  No other file
 * here knows any.
 */
#include <string.h>
#include <strings.h>

#include "common/cli.h"
#include "dropin.h"

const char dropin_asm_syntax[] = "x86-asm-syntax";
const char dropin_target_list[] = "x86_64, aarch64 and riscv64";
const char dropin_triple_help[] = "x86_64, aarch64 or riscv64, and what may follow in a triple";
const char dropin_march_help[] = "x86-64, aarch64 or riscv64";

static const struct dropin_target targets[] = {
	{"x86_64", "x86", NULL},
	{"x86-64", "x86", NULL},
	{"amd64", "x86", NULL},
	{"aarch64", "aarch64", "cortex-a510"},
	{"arm64", "aarch64", "cortex-a510"},
	{"riscv64", "riscv64", "sifive-p670"},
};

const struct dropin_target *dropin_target_find(const char *name)
{
	for (size_t i = 0; i < CLI_ARRAY_SIZE(targets); i++) {
		const size_t n = strlen(targets[i].name);

		if (!strncasecmp(name, targets[i].name, n) && (!name[n] || name[n] == '-'))
			return &targets[i];
	}
	return NULL;
}

const struct dropin_target *dropin_target_of(const struct tact_isa *isa)
{
	for (size_t i = 0; i < CLI_ARRAY_SIZE(targets); i++)
		if (tact_isa_find(targets[i].isa) == isa)
			return &targets[i];
	return NULL;
}

const char *dropin_osaca_cpu(const char *name)
{
	static const struct {
		const char *name, *ours;
	} cpus[] = {{"CSX", "CLX"},	     {"SPR", "GLC"},	    {"ZEN1", "llvm:znver1"},
		    {"TX2", "thunderx2t99"}, {"N1", "neoverse-n1"}, {"A64FX", "a64fx"},
		    {"TSV110", "tsv110"},    {"A72", "cortex-a72"}, {"M1", "apple-m1"},
		    {"V2", "neoverse-v2"}};

	for (size_t i = 0; i < CLI_ARRAY_SIZE(cpus); i++)
		if (!strcasecmp(name, cpus[i].name))
			return cpus[i].ours;
	return name;
}

static bool mentions(const char *text, const char *const *words)
{
	for (size_t i = 0; words[i]; i++)
		if (strstr(text, words[i]))
			return true;
	return false;
}

const char *dropin_osaca_default(const char *text)
{
	static const char *const first[] = {"%r",  "%e",  "%x",	 "%y",	"%z",  "rax", "rcx", "rdi",
					    "rsi", "xmm", "ymm", "zmm", "rbx", "eax", NULL};
	static const char *const second[] = {"[x",  "\tx", " x",  ", x", "v0.",
					     "z0.", " d0", "\td", NULL};

	return !mentions(text, first) && mentions(text, second) ? "V2" : "SPR";
}
