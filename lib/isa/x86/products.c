/* SPDX-License-Identifier: MIT
 *
 * Names of products, as on a box or in /proc/cpuinfo, and the line that each belongs to.
 *
 * How the vendors number their products: Intel's "processor numbers" page for Core, Core Ultra, Xeon
 * E and Xeon Scalable (the second digit of a Xeon Scalable is its generation); AMD's "processor
 * naming" pages for Ryzen (from the 7000 series on, the third digit of a mobile one is its core) and
 * EPYC (the last digit is the generation).  The exceptions are those of ark.intel.com and amd.com.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "isa/x86/x86.h"

enum { MAX_WORDS = 16, MAX_NAME = 96 };

/* The words of a name in lower case: letters, digits, - and +. */
struct words {
	char text[MAX_NAME];
	const char *word[MAX_WORDS + 2]; /* after the last one: "", twice */
	size_t n;
};

/* "(R)", "(TM)" and what follows "@" say nothing. */
static bool is_noise(const char *word)
{
	static const char *const noise[] = {"r",   "tm",	"intel", "amd",
					    "cpu", "processor", "pro",	 "processors"};

	for (size_t i = 0; i < ARRAY_SIZE(noise); i++)
		if (!strcmp(word, noise[i]))
			return true;
	return false;
}

static void split(struct words *w, const char *name)
{
	size_t n = 0;
	char *rest = w->text, *word;

	w->n = 0;
	for (; *name && *name != '@' && n + 1 < sizeof(w->text); name++)
		w->text[n++] = isalnum((unsigned char)*name) || strchr("-+", *name)
				       ? (char)tolower((unsigned char)*name)
				       : ' ';
	w->text[n] = '\0';
	while ((word = strsep(&rest, " ")) && w->n < MAX_WORDS)
		if (*word && !is_noise(word))
			w->word[w->n++] = word;
	for (size_t i = w->n; i < ARRAY_SIZE(w->word); i++)
		w->word[i] = "";
}

static bool has(const struct words *w, const char *word)
{
	for (size_t i = 0; i < w->n; i++)
		if (!strcmp(w->word[i], word))
			return true;
	return false;
}

/* A number and the letters after it: "8700k". */
struct number {
	unsigned value;
	size_t digits;
	const char *suffix;
};

static struct number number_of(const char *text)
{
	struct number x = {0, strspn(text, "0123456789"), text};

	if (!x.digits || x.digits > 5)
		return (struct number){0, 0, text};
	x.value = (unsigned)strtoul(text, NULL, 10);
	x.suffix = text + x.digits;
	return x;
}

static bool is_suffix(const struct number *x, const char *suffix)
{
	return !strcmp(x->suffix, suffix);
}

/* ---- Core ---- */

/* Processors for workstations have the core of the generation before, or of a server. */
static const char *workstation_of(const struct number *x)
{
	const bool is_k_or_x = is_suffix(x, "k") || is_suffix(x, "x") || is_suffix(x, "xe");

	if (x->value == 3820 && !*x->suffix)
		return "SNB";
	if (!is_k_or_x)
		return NULL;
	switch (x->value / 100) {
	case 39:
		return "SNB";
	case 48:
	case 49:
		return "IVB";
	case 58:
	case 59:
		return "HSW";
	case 68:
	case 69:
		return "BDW";
	case 78:
	case 79:
	case 98:
	case 99:
		return is_suffix(x, "k") ? NULL : "SKX"; /* the 9900K is no workstation's */
	case 109:
		return is_suffix(x, "k") ? NULL : "CLX";
	}
	return NULL;
}

/* Mobile ones of the eighth generation: refreshed Kaby Lake, but for one Cannon Lake. */
static const char *eighth(const struct number *x)
{
	if (x->value == 8121)
		return "CNL";
	return strchr("uyg", x->suffix[0]) && x->suffix[0] ? "KBL" : "CFL";
}

static const char *core_i(const char *text)
{
	static const char *const by_generation[] = {
		[2] = "SNB", [3] = "IVB",  [4] = "HSW",	 [5] = "BDW",  [6] = "SKL",  [7] = "KBL",
		[9] = "CFL", [10] = "CML", [11] = "RKL", [12] = "ADL", [13] = "RPL", [14] = "RPL"};
	struct number x = number_of(text);
	const char *special = workstation_of(&x);
	unsigned generation = x.value / 1000;

	if (text[0] == 'l') /* L13G4 */
		return number_of(text + 1).digits == 2 ? "LKF" : NULL;
	if (text[0] == 'n') /* N305 */
		return number_of(text + 1).digits == 3 ? "GRT" : NULL;
	if (x.digits == 3)
		return "NHM";
	if (x.digits < 4)
		return NULL;
	if (special)
		return special;
	if (generation == 1) { /* mobile: 1065G7, 1165G7, 1265U */
		generation = x.value / 100;
		if (generation == 10)
			return "ICL";
		if (generation == 11)
			return "TGL";
	}
	if (generation == 8)
		return eighth(&x);
	if (generation == 11 && (x.suffix[0] == 'h' || strchr(x.suffix, 'b')))
		return "TGL";
	return NAME_OF(by_generation, generation, NULL);
}

/* Core Ultra 7 155H, 285K, 258V; "Core 7 150U" is Raptor Lake. */
static const char *core_ultra(const char *text)
{
	struct number x = number_of(text);

	if (x.digits != 3)
		return NULL;
	if (x.value < 200)
		return "MTL";
	if (x.value < 300)
		return x.suffix[0] == 'v' ? "LNL" : x.suffix[0] == 'u' ? "MTL" : "ARL";
	return x.value < 400 ? "PTL" : NULL;
}

/* ---- Xeon ---- */

/* E3-1230 v5, E5-2680 v4, E7-8890 v3, E-2288G; D-1541; W-2145. */
static const char *xeon_letter(const struct words *w, const char *word)
{
	static const char *const by_version[] = {"", "SNB", "IVB", "HSW", "BDW", "SKL", "KBL"};
	struct number x = number_of(word + 2);
	unsigned version = 1;

	if (word[0] == 'e' && isdigit((unsigned char)word[1]) && word[2] == '-') {
		for (size_t i = 0; i < w->n; i++)
			if (w->word[i][0] == 'v' && number_of(w->word[i] + 1).digits == 1)
				version = number_of(w->word[i] + 1).value;
		if (word[1] == '7' && version == 1)
			return "NHM";
		return NAME_OF(by_version, version, NULL);
	}
	if (word[1] != '-' || x.digits < 4)
		return NULL;
	switch (word[0] << 8 | (int)(x.value / 100)) {
	case 'e' << 8 | 21:
	case 'e' << 8 | 22:
		return "CFL";
	case 'e' << 8 | 23:
	case 'w' << 8 | 13:
		return "RKL";
	case 'e' << 8 | 24:
		return "RPL";
	case 'd' << 8 | 15:
	case 'd' << 8 | 16:
		return "BDW";
	case 'd' << 8 | 21:
	case 'w' << 8 | 21:
	case 'w' << 8 | 31:
		return "SKX";
	case 'd' << 8 | 17:
	case 'd' << 8 | 18:
	case 'd' << 8 | 27:
	case 'd' << 8 | 28:
	case 'w' << 8 | 33:
		return "ICX";
	case 'w' << 8 | 22:
	case 'w' << 8 | 32:
		return "CLX";
	case 'w' << 8 | 12:
	case 'w' << 8 | 108:
		return "CML";
	case 'w' << 8 | 118:
	case 'w' << 8 | 119:
	case 'w' << 8 | 111:
		return "TGL";
	}
	return NULL;
}

/* Platinum 8480+, Gold 6248, Silver 4110, Bronze 3408U; Max 9480; Xeon 6 6980P, 6780E. */
static const char *xeon_scalable(const struct number *x)
{
	static const char *const by_digit[] = {"", "SKX", "CLX", "ICX", "SPR", "EMR"};

	if (x->digits != 4 || x->value < 3000)
		return NULL;
	if (x->suffix[0] == 'p')
		return "GNR";
	if (x->suffix[0] == 'e' && x->value >= 6000 && x->value % 1000 >= 500)
		return "SRF";
	if (x->value / 100 % 10 == 3 && x->suffix[0] == 'h')
		return "CPX";
	return NAME_OF(by_digit, x->value / 100 % 10, NULL);
}

static const char *xeon(const struct words *w)
{
	if (has(w, "phi"))
		return "KNL";
	for (size_t i = 0; i < w->n; i++) {
		const char *word = w->word[i], *code = xeon_letter(w, word);
		struct number x = number_of(word);

		if (!code && word[0] == 'w' && isdigit((unsigned char)word[1]) && word[2] == '-')
			code = number_of(word + 3).digits == 4 ? "SPR" : NULL; /* w9-3495X */
		if (!code)
			code = xeon_scalable(&x);
		if (code && *code)
			return code;
	}
	return NULL;
}

static bool is_xeon(const struct words *w)
{
	static const char *const marks[] = {"xeon", "platinum", "gold", "silver", "bronze"};

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (has(w, marks[i]))
			return true;
	for (size_t i = 0; i < w->n; i++)
		if (xeon_letter(w, w->word[i]) &&
		    number_of(w->word[i] + 2 + (w->word[i][1] != '-')).digits)
			return true;
	return false;
}

/* ---- AMD ---- */

static const char *epyc(const struct words *w)
{
	static const char *const by_digit[] = {
		[1] = "ZEN1", [2] = "ZEN2", [3] = "ZEN3", [4] = "ZEN4", [5] = "ZEN5", [6] = "ZEN6"};

	for (size_t i = 0; i < w->n; i++) {
		const char *word = w->word[i];

		/* 7742, 9654P, 7F52, 7H12, and the series 7003 */
		if (isdigit((unsigned char)word[0]) && isalnum((unsigned char)word[1]) &&
		    isdigit((unsigned char)word[2]) && isdigit((unsigned char)word[3]))
			return NAME_OF(by_digit, word[3] - '0', NULL);
	}
	return NULL;
}

static const char *threadripper(const struct number *x)
{
	static const char *const by_generation[] = {
		[1] = "ZEN1", [2] = "ZEN+", [3] = "ZEN2", [5] = "ZEN3", [7] = "ZEN4", [9] = "ZEN5"};

	return NAME_OF(by_generation, x->value / 1000, NULL);
}

/* Mobile ones from 7000 on: the third digit is the core; a 5 at the end makes it the larger chip. */
static const char *ryzen_mobile(const struct number *x)
{
	static const char *const by_digit[] = {
		[1] = "ZEN+", [2] = "ZEN2", [3] = "ZEN3", [4] = "ZEN4", [5] = "ZEN5"};

	return NAME_OF(by_digit, x->value / 10 % 10, NULL);
}

static const char *ryzen(const struct number *x)
{
	static const char *const by_generation[] = {
		[1] = "ZEN1", [2] = "ZEN+", [3] = "ZEN2", [4] = "ZEN2", [5] = "ZEN3",
		[6] = "ZEN3", [7] = "ZEN4", [8] = "ZEN4", [9] = "ZEN5"};
	const unsigned generation = x->value / 1000;
	const bool is_mobile = x->suffix[0] == 'u' || x->suffix[0] == 'h' || x->suffix[0] == 'e' ||
			       x->suffix[0] == 'c';
	const bool has_graphics = is_mobile || x->suffix[0] == 'g';

	if (generation == 2 && has_graphics)
		return "ZEN1";
	if (generation == 3 && has_graphics)
		return "ZEN+";
	if (generation == 5 && x->suffix[0] == 'u' && (x->value / 100) % 2 == 1)
		return "ZEN2"; /* 5300U, 5500U, 5700U */
	if (generation >= 7 && is_mobile)
		return ryzen_mobile(x);
	return NAME_OF(by_generation, generation, NULL);
}

static const char *ryzens(const struct words *w)
{
	if (has(w, "z1"))
		return "ZEN4";
	for (size_t i = 0; i < w->n; i++) {
		struct number x = number_of(w->word[i]);

		if (x.digits == 4)
			return has(w, "threadripper") ? threadripper(&x) : ryzen(&x);
		if (x.digits == 3 && has(w, "ai")) /* Ryzen AI 9 HX 370, AI Max+ 395 */
			return "ZEN5";
	}
	return NULL;
}

/* ---- all ---- */

static const char *core(const struct words *w)
{
	for (size_t i = 0; i < w->n; i++) {
		const char *word = w->word[i];

		if (word[0] == 'i' && strchr("3579", word[1]) && word[1]) {
			if (word[2] == '-')
				return core_i(word + 3);
			if (!word[2])
				return core_i(w->word[i + 1]);
		}
		if (!strcmp(word, "ultra"))
			return core_ultra(w->word[i + 2]);
		if (!strcmp(word, "core") && !strcmp(w->word[i + 1], "2"))
			return "CON";
		if (!strcmp(word, "core") && number_of(w->word[i + 1]).digits == 1 &&
		    number_of(w->word[i + 2]).digits == 3)
			return "RPL"; /* Core 7 150U */
		if (word[0] == 'n' && number_of(word + 1).digits >= 2 &&
		    number_of(word + 1).digits <= 3 && w->n == 1)
			return "GRT"; /* N100 */
	}
	return NULL;
}

const char *x86_product_code(const char *name)
{
	struct words w;

	split(&w, name);
	if (has(&w, "epyc"))
		return epyc(&w);
	if (has(&w, "ryzen") || has(&w, "threadripper"))
		return ryzens(&w);
	if (is_xeon(&w))
		return xeon(&w);
	return core(&w);
}
