/* SPDX-License-Identifier: MIT
 *
 * Names of CPUs: those of .arch files, and those of the lines of products that an instruction set
 * knows, with a model or without.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <tact/insn.h>

#include "arch/arch.h"
#include "arch/arch_llvm.h"

/* ---- words ---- */

static bool is_skipped(char c)
{
	return c == '-' || c == '_' || c == ' ';
}

/* Compares two names of given lengths. */
static bool is_same(const char *a, size_t n, const char *b, size_t m)
{
	const char *a_end = a + n, *b_end = b + m;

	for (;; a++, b++) {
		while (a < a_end && is_skipped(*a))
			a++;
		while (b < b_end && is_skipped(*b))
			b++;
		if (a == a_end || b == b_end)
			return a == a_end && b == b_end;
		if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
			return false;
	}
}

/* Returns the next word of a list and its length; NULL after the last one. */
static const char *next_word(const char **list, size_t *length)
{
	const char *word = *list + strspn(*list, " ");

	*length = strcspn(word, " ");
	*list = word + *length;
	return *length ? word : NULL;
}

bool names_have(const char *words, const char *name, size_t length)
{
	const char *word;
	size_t n;

	while ((word = next_word(&words, &n)))
		if (is_same(word, n, name, length))
			return true;
	return false;
}

/* ---- lines of products ---- */

/* A walk over the lines of all sets. */
struct walk {
	const struct tact_isa *isa;
	size_t next;
};

static const struct isa_cpu_line *next_line(struct walk *w)
{
	if (!w->isa)
		w->isa = tact_isa_next(NULL);
	while (w->isa && (!w->isa->n_cpu_lines || w->next == *w->isa->n_cpu_lines)) {
		w->isa = tact_isa_next(w->isa);
		w->next = 0;
	}
	return w->isa ? &w->isa->cpu_lines[w->next++] : NULL;
}

static bool is_named(const struct isa_cpu_line *line, const char *name)
{
	const size_t n = strlen(name);

	return is_same(line->code, strlen(line->code), name, n) ||
	       (*line->title && is_same(line->title, strlen(line->title), name, n)) ||
	       (*line->core && is_same(line->core, strlen(line->core), name, n)) ||
	       names_have(line->names, name, n);
}

/* Reads "25-1" or "6-85-7". */
static bool read_numbers(const char *name, struct tact_cpu *cpu)
{
	int n = 0, more = 0;

	if (sscanf(name, "%3u-%3u%n%*1[-]%2u%n", &cpu->family, &cpu->model, &n, &cpu->stepping,
		   &more) < 2 ||
	    name[more ? more : n]) {
		cpu->family = cpu->model = cpu->stepping = 0;
		return false;
	}
	return true;
}

static const struct isa_cpu_line *line_of(const char *name, struct tact_cpu *cpu)
{
	const bool is_number = read_numbers(name, cpu);
	const struct isa_cpu_line *line;
	struct walk w = {NULL, 0};
	const char *code;

	while ((line = next_line(&w)))
		if (is_number ? w.isa->is_in(line->cpus, cpu->family, cpu->model, cpu->stepping)
			      : is_named(line, name))
			return line;
	for (w = (struct walk){NULL, 0}; (line = next_line(&w));) {
		code = w.isa->product_code(name);
		if (code && !strcmp(code, line->code))
			return line;
	}
	return NULL;
}

/* This machine's. */
static const struct isa_cpu_line *native_line(struct tact_cpu *cpu, const char **llvm_name)
{
	const struct tact_isa *isa = isa_native();
	struct isa_cpu native = {.family = 0};

	if (!isa)
		return NULL;
	isa->native->identify(&native);
	snprintf(cpu->vendor, sizeof(cpu->vendor), "%s", native.vendor);
	snprintf(cpu->brand, sizeof(cpu->brand), "%s", native.brand);
	cpu->family = native.family;
	cpu->model = native.model;
	cpu->stepping = native.stepping;
	*llvm_name = native.llvm_name;
	for (size_t i = 0; isa->n_cpu_lines && i < *isa->n_cpu_lines; i++)
		if (isa->native->is_one_of(isa->cpu_lines[i].cpus))
			return &isa->cpu_lines[i];
	return NULL;
}

/* ---- the answer ---- */

/* Returns the first model of a list that exists. */
static const struct tact_arch *first_of(const char *models)
{
	const struct tact_arch *arch;
	const char *word;
	char name[16];
	size_t n;

	while ((word = next_word(&models, &n))) {
		snprintf(name, sizeof(name), "%.*s", (int)n, word);
		arch = arch_find_own(name);
		if (arch)
			return arch;
	}
	return NULL;
}

static void take_line(struct tact_cpu *cpu, const struct isa_cpu_line *line)
{
	snprintf(cpu->line, sizeof(cpu->line), "%s", line->title);
	snprintf(cpu->core, sizeof(cpu->core), "%s", *line->core ? line->core : line->title);
	snprintf(cpu->vendor, sizeof(cpu->vendor), "%s", line->vendor);
	cpu->is_level = !*line->title;
	cpu->arch = cpu->nearest = first_of(line->model);
	if (cpu->arch)
		return;
	cpu->nearest = first_of(line->nearest);
	if (cpu->nearest)
		snprintf(cpu->relation, sizeof(cpu->relation), "%s", line->why);
}

/* Returns the line of a model, or NULL: of several, the one that has the name. */
static const struct isa_cpu_line *line_of_model(const struct tact_arch *arch, const char *name)
{
	const struct isa_cpu_line *line, *first = NULL;
	struct walk w = {NULL, 0};

	while ((line = next_line(&w))) {
		if (strcmp(line->model, arch->name))
			continue;
		if (is_named(line, name))
			return line;
		if (!first)
			first = line;
	}
	return first;
}

int tact_cpu_find(const char *name, struct tact_cpu *out)
{
	struct tact_cpu cpu = TACT_CPU_INIT;
	const struct isa_cpu_line *line;
	const struct tact_arch *arch;
	const char *llvm_name = name;
	bool is_native;

	if (!name || !tact_can_fill(out))
		return -TACT_E_INVAL;
	is_native = !strcasecmp(name, "native");
	if (is_native)
		llvm_name = NULL;
	arch = is_native ? arch_host_own() : arch_find_own(name);
	line = is_native ? native_line(&cpu, &llvm_name)
	       : arch	 ? line_of_model(arch, name)
			 : line_of(name, &cpu);
	if (line)
		take_line(&cpu, line);
	if (arch) { /* the files are right */
		cpu.arch = cpu.nearest = arch;
		cpu.relation[0] = '\0';
		if (!line)
			snprintf(cpu.line, sizeof(cpu.line), "%s", arch->full_name);
	}
	if (!arch && !line && llvm_name && (arch = arch_llvm_find(llvm_name))) {
		cpu.arch = cpu.nearest = arch;
		snprintf(cpu.line, sizeof(cpu.line), "%s", arch->llvm_name);
	}
	tact_fill(out, &cpu, sizeof(cpu));
	return arch || line ? 0 : -TACT_E_NO_ARCH;
}

const struct tact_arch *tact_arch_find(const char *name)
{
	struct tact_cpu cpu = TACT_CPU_INIT;
	const struct tact_arch *arch = name ? arch_find_own(name) : NULL;

	if (arch || !name || !strcasecmp(name, "native") || tact_cpu_find(name, &cpu) < 0)
		return arch;
	return cpu.is_level ? NULL : cpu.arch;
}

const struct tact_arch *tact_arch_host(void)
{
	struct tact_cpu cpu = TACT_CPU_INIT;

	return tact_cpu_find("native", &cpu) < 0 ? NULL : cpu.arch;
}

/* ---- lists ---- */

/* Adds a name unless it is one of those that every microarchitecture has anyway. */
static size_t add_alias(const struct tact_arch *arch, const char *word, size_t n, char *text,
			size_t size, size_t at)
{
	if (is_same(arch->name, strlen(arch->name), word, n) ||
	    is_same(arch->llvm_name, strlen(arch->llvm_name), word, n) ||
	    is_same(arch->full_name, strlen(arch->full_name), word, n))
		return at;
	return at + (size_t)snprintf(at < size ? text + at : NULL, at < size ? size - at : 0,
				     "%s%.*s", at ? " " : "", (int)n, word);
}

size_t tact_arch_aliases(const struct tact_arch *arch, char *text, size_t size)
{
	const struct isa_cpu_line *line;
	struct walk w = {NULL, 0};
	const char *list, *word;
	size_t n, at = 0;

	if (size && text)
		text[0] = '\0';
	if (!arch || (!text && size))
		return 0;
	for (list = arch->names; (word = next_word(&list, &n));)
		at = add_alias(arch, word, n, text, size, at);
	while ((line = next_line(&w))) {
		if (strcmp(line->model, arch->name) || !*line->title)
			continue;
		at = add_alias(arch, line->code, strlen(line->code), text, size, at);
		for (list = line->names; (word = next_word(&list, &n));)
			if (!names_have(arch->names, word, n))
				at = add_alias(arch, word, n, text, size, at);
	}
	return at;
}

const char *tact_cpu_name(size_t index, char *text, size_t size)
{
	const struct isa_cpu_line *line;
	struct walk w = {NULL, 0};
	const char *list, *word;
	size_t n;

	if (!text || !size)
		return NULL;
	for (const struct tact_arch *a = NULL; (a = tact_arch_next(a)); index -= 2)
		if (index < 2)
			return index ? tact_arch_llvm_name(a) : tact_arch_name(a);
	while ((line = next_line(&w))) {
		if (!index--)
			return line->code;
		for (list = line->names; (word = next_word(&list, &n));) {
			if (index--)
				continue;
			snprintf(text, size, "%.*s", (int)n, word);
			return text;
		}
	}
	return NULL;
}
