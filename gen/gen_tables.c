/* SPDX-License-Identifier: MIT
 *
 * Build-time generator: data/arch/<ARCH>.arch and data/insn/<ARCH>.tsv -> C tables.
 *
 * usage: gen_tables DATA_DIR OUT_DIR ARCH...      writes OUT_DIR/forms.inc and OUT_DIR/archs.inc
 *        gen_tables --check DATA_DIR ARCH...      validates the tables, writes nothing
 *
 * Every line is validated; an error names file and line and ends the run.
 */
#include <string.h>

#include "gen.h"

int main(int argc, char **argv)
{
	bool check = argc > 1 && !strcmp(argv[1], "--check");
	const char *data = argv[check ? 2 : 1];
	int first = 3, n = argc - first;
	struct gen_cpu *cpus;

	if (n < 1) {
		fprintf(stderr, "usage: gen_tables DATA_DIR OUT_DIR ARCH...\n"
				"       gen_tables --check DATA_DIR ARCH...\n");
		return 2;
	}
	cpus = gen_alloc((size_t)n * sizeof(*cpus));
	gen_insn_init();
	for (int a = 0; a < n; a++)
		gen_forms_collect(data, argv[first + a]);
	for (int a = 0; a < n; a++) {
		cpus[a].name = argv[first + a];
		gen_forms_records(data, cpus[a].name, cpus[a].record_of_form);
	}
	if (gen_ports.count > 0xffff)
		gen_die("too many port uses");
	printf("%d architectures, %u forms, %zu records, %zu variants, %zu port uses, %zu "
	       "latencies\n",
	       n, gen_n_forms, gen_records.count, gen_variants.count, gen_ports.count,
	       gen_latencies.count);
	if (check)
		return 0;
	gen_write_forms(argv[2]);
	gen_write_archs(argv[2], data, cpus, n);
	return 0;
}
