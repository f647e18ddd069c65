/* SPDX-License-Identifier: MIT
 *
 * Build-time generator: data/arch/<ARCH>.arch, data/insn/<ARCH>.tsv and
 * data/confidence/<ARCH>.tsv -> C tables.
 *
 * usage: gen_tables DATA_DIR OUT_DIR             writes forms.inc, archs.inc and confidence.inc
 *        gen_tables --check DATA_DIR [ARCH...]    validates all CPUs, or these; writes nothing
 *
 * Every line is validated; an error names file and line and ends the run.
 */
#include <string.h>

#include "gen.h"

int main(int argc, char **argv)
{
	bool check = argc > 1 && !strcmp(argv[1], "--check");
	const char *data = argv[check ? 2 : 1];

	if (argc < 3 || argc - 3 > (check ? MAX_CPUS : 0)) {
		fprintf(stderr, "usage: gen_tables DATA_DIR OUT_DIR\n"
				"       gen_tables --check DATA_DIR [ARCH...]\n");
		return 2;
	}
	gen_cpus_read(data, argv + 3, argc - 3);
	gen_insn_init();
	for (int i = 0; i < gen_n_cpus; i++)
		gen_forms_collect(data, gen_cpus[i]->name);
	for (int i = 0; i < gen_n_cpus; i++)
		gen_forms_records(data, gen_cpus[i]);
	if (gen_ports.count > 0xffff)
		gen_die("too many port uses");
	printf("%d architectures, %u forms, %zu records, %zu variants, %zu port uses, %zu "
	       "latencies\n",
	       gen_n_cpus, gen_n_forms, gen_records.count, gen_variants.count, gen_ports.count,
	       gen_latencies.count);
	if (check) {
		gen_confidence(data, NULL);
		return 0;
	}
	gen_write_forms(argv[2]);
	gen_write_archs(argv[2]);
	gen_write_confidence(data, argv[2]);
	return 0;
}
