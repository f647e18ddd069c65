/* SPDX-License-Identifier: MIT
 *
 * The generator's parts: data/arch/<ARCH>.arch, data/insn/<ARCH>.tsv and
 * data/confidence/<ARCH>.tsv -> C tables.  It is a
 * program of the build, not of the library: it exits on errors and does not free.
 */
#ifndef TACT_GEN_H
#define TACT_GEN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "arch/params.h"
#include "arch/table.h"
#include "base/base.h"

enum { MAX_FORMS = 32768, MAX_LINE = 8192, MAX_PATH = 512 };

/* ---- errors and pools (gen_pool.c) ---- */

/* Which line is being read, for messages. */
struct gen_place {
	const char *file; /* NULL: none */
	unsigned line;
};
extern struct gen_place gen_place;

void gen_die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
void *gen_alloc(size_t size); /* zeroed; does not fail */

struct gen_pool {
	unsigned char *data;
	size_t count, capacity, element;
	unsigned *hash; /* number + 1 of a stored list */
	unsigned *length, *list_start;
	size_t buckets, lists;
};
void gen_pool_init(struct gen_pool *pool, size_t element);

/* Index of the first element of a list of n elements, stored if it is new. */
unsigned gen_pool_add(struct gen_pool *pool, const void *list, size_t n);

/* ---- lines of tables (gen_insn.c) ---- */

enum column {
	C_FORM,
	C_UOPS,
	C_FUSED,
	C_MITE,
	C_MS,
	C_DEC,
	C_PORTS,
	C_DIV,
	C_TP,
	C_LAT,
	C_RF,
	C_WF,
	C_FUSE,
	C_INDEXED,
	C_SAME,
	C_SRC,
	N_COLUMNS
};

extern struct gen_pool gen_variants, gen_ports, gen_latencies, gen_records;
void gen_insn_init(void);

/* Number of the line's record; changes the columns. */
unsigned gen_insn_record(char *const *columns);

/* Bit 0 the carry, bit 1 any of the others: flags are renamed in these two groups. */
unsigned char gen_insn_flags(const char *text);

/* ---- tables (gen_forms.c) ---- */

struct gen_form {
	char *name;
	unsigned char flags_read, flags_written;
};
extern struct gen_form gen_forms[MAX_FORMS]; /* sorted by name */
extern unsigned gen_n_forms;

struct gen_cpu;

/* Adds the forms of a CPU's table; all CPUs first, then the records of each. */
void gen_forms_collect(const char *data, const char *arch);
void gen_forms_records(const char *data, struct gen_cpu *cpu);

/* ---- CPUs (gen_cpus.c) ---- */

enum { MAX_CPUS = 256 };

struct gen_cpu {
	char name[16];
	enum { GEN_CPU_NEW, GEN_CPU_READING, GEN_CPU_READ } state;
	long order;
	char *text[PARAMS_N_KEYS]; /* owned */
	struct arch_params params;
	struct params_origin origin[PARAMS_COUNT];
	uint16_t record_of_form[MAX_FORMS];
	char sources[2048]; /* "#src" lines of its tables */
	char *verified_by;  /* source of the key `verified`; NULL: it has none */
};
extern struct gen_cpu *gen_cpus[MAX_CPUS]; /* from old to new */
extern int gen_n_cpus;

/* These CPUs, or all of them if n is 0. */
void gen_cpus_read(const char *data, char **names, int n);

/* One struct tact_arch, and what it points to. */
void gen_cpu_write_origins(FILE *f, const struct gen_cpu *cpu);
void gen_cpu_write(FILE *f, const struct gen_cpu *cpu);

/* ---- intervals (gen_confidence.c) ---- */

/* Validates the tables of all CPUs that have one, and writes them to f unless that is NULL. */
void gen_confidence(const char *data, FILE *f);

/* ---- output (gen_write.c) ---- */

void gen_write_forms(const char *dir);
void gen_write_archs(const char *dir);
void gen_write_confidence(const char *data, const char *dir);

#endif /* TACT_GEN_H */
