/* SPDX-License-Identifier: MIT
 *
 * One living object of every kind that the public interface hands out, for the generated test of
 * misuse.  An object that cannot be made here is NULL; fixtures_missing says which.
 */
#ifndef TESTS_EMBED_FIXTURES_H
#define TESTS_EMBED_FIXTURES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tact/tact.h>

/* add rax, rbx; imul rax, rcx; mov [rdi], rax; dec rcx; jnz to the start */
static const uint8_t some_code[] = {0x48, 0x01, 0xd8, 0x48, 0x0f, 0xaf, 0xc1, 0x48,
				    0x89, 0x07, 0x48, 0xff, 0xc9, 0x75, 0xf1};

static struct fixtures {
	const struct tact_arch *arch;
	struct tact_arch *derived;
	const struct tact_isa *isa;
	struct tact_block *block;
	struct tact_advisor *advisor;
	struct tact_predictor *predictor;
	struct tact_simulator *simulator;
	struct tact_stream *stream;
	struct tact_mca_params *mca_params;
	struct tact_mca *mca;
	struct tact_mca_code *mca_code;
	const struct tact_model *model;
	struct tact_estimator *estimator;
	struct tact_input *input;
	struct tact_remarks *remarks;
	struct tact_store *store;
	struct tact_store_iter *store_iter;
	struct tact_store_blocks *store_blocks;
	struct tact_store_predictions *store_predictions;
	struct tact_trace *trace;
	struct tact_symbols *symbols;
	struct tact_cycles *cycles;
	struct tact_analysis *analysis;
	struct tact_result *result;
	struct tact_diff *diff;
	struct tact_bags *bags;
	struct tact_classifier *classifier;
	struct tact_collect *collect;
	struct tact_harness *harness;
	struct tact_rounds *rounds;
	struct tact_mix *mix;
	struct tact_mix_rule *mix_rule;
	struct tact_mix_taxonomy *mix_taxonomy;
	struct tact_mix_pivot *mix_pivot;
	struct tact_mix_cross *mix_cross;
	struct tact_mix_diff *mix_diff;
	struct tact_mix_costs *mix_costs;
	struct tact_mix_trainer *mix_trainer;
	struct tact_tuner *tuner;
	char directory[64], file[96], store_path[96];
} the;

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (f) {
		fputs(text, f);
		fclose(f);
	}
}

static void make_core(struct tact_diag *diag)
{
	struct tact_simulation simulation;
	uint32_t number;

	the.arch = tact_arch_find("SKL");
	the.isa = tact_arch_isa(the.arch);
	tact_block_create(&the.block, the.arch, NULL, diag);
	tact_block_load(the.block, some_code, sizeof(some_code), diag);
	tact_advisor_create(&the.advisor, diag);
	tact_advisor_run(the.advisor, the.block, NULL);
	tact_predictor_create(&the.predictor, the.arch, NULL, NULL, 1, diag);
	tact_arch_derive(&the.derived, the.arch, "/dev/null", diag);
	tact_simulator_create(&the.simulator, diag);
	memset(&simulation, 0, sizeof(simulation));
	simulation.size = sizeof(simulation);
	tact_simulate(the.simulator, the.block, NULL, &simulation);
	tact_stream_create(&the.stream, diag);
	tact_stream_add(the.stream, the.block, &number);
	tact_stream_feed(the.stream, number, 0x1000, NULL, 0);
	tact_mca_params_create(&the.mca_params, the.arch, diag);
	tact_mca_create(&the.mca, NULL, diag);
	tact_mca_code_create(&the.mca_code, the.block, (enum tact_mca_memory)0, diag);
	the.model = tact_model_next(NULL);
	tact_model_open(&the.estimator, "facile", NULL, diag);
	tact_input_open_memory(&the.input, "4801d8\n480fafc1\n", 16, NULL, diag);
	tact_remarks_create(&the.remarks);
	tact_remarks_add(the.remarks, "calls-excluded", "2 calls");
}

static void make_store(struct tact_diag *diag)
{
	struct tact_measurement m;
	int64_t id;

	if (tact_store_open(&the.store, the.store_path, TACT_STORE_CREATE, diag) < 0)
		return;
	tact_store_put_block(the.store, some_code, sizeof(some_code), &id, diag);
	tact_store_put_source(the.store, id, "app", 1, diag);
	memset(&m, 0, sizeof(m));
	m.size = sizeof(m);
	m.cycles_per_iteration = 4;
	m.rung = TACT_RUNG_TSC;
	m.mode = TACT_MODE_LOOP;
	tact_store_put_measurement(the.store, some_code, sizeof(some_code), &m, diag);
	tact_store_iter_create(&the.store_iter, the.store, NULL, diag);
	tact_store_blocks_create(&the.store_blocks, the.store, NULL, diag);
	tact_store_predictions_create(&the.store_predictions, the.store, NULL, diag);
}

static void make_run(struct tact_diag *diag)
{
	struct tact_analysis_options opt;
	struct tact_trace_event event;

	tact_symbols_create(&the.symbols);
	tact_trace_open_text(&the.trace, the.file, NULL, 20, diag);
	memset(&opt, 0, sizeof(opt));
	opt.size = sizeof(opt);
	opt.arch = the.arch;
	if (the.trace &&
	    tact_analysis_create(&the.analysis, the.trace, the.symbols, &opt, diag) >= 0) {
		struct tact_cycles_totals totals;

		memset(&totals, 0, sizeof(totals));
		totals.size = sizeof(totals);
		tact_analysis_run(the.analysis, diag);
		tact_analysis_finish(the.analysis, &totals, diag);
		tact_analysis_result(the.analysis, 0, &the.result, diag);
	}
	tact_cycles_create(&the.cycles, the.arch, NULL, diag);
	memset(&event, 0, sizeof(event));
	event.size = sizeof(event);
	event.kind = TACT_TRACE_BEGIN;
	tact_cycles_event(the.cycles, &event, diag);
	if (the.result)
		tact_diff_create(&the.diff, the.result, the.result, diag);
}

static void make_classes(struct tact_diag *diag)
{
	static const uint8_t other[] = {0x0f, 0x58, 0xc1, 0xc5, 0xf4, 0x58, 0xc2};
	uint32_t bag;

	tact_bags_create(&the.bags, the.arch, diag);
	for (int i = 0; i < 8 && the.bags; i++) {
		if (tact_block_load(the.block, i % 2 ? some_code : other,
				    i % 2 ? sizeof(some_code) : sizeof(other), diag) >= 0)
			tact_bags_add(the.bags, the.block, &bag, diag);
	}
	tact_classifier_train(&the.classifier, the.bags, NULL, diag);
	tact_block_load(the.block, some_code, sizeof(some_code), diag);
	tact_collect_create(&the.collect, NULL);
}

static void make_mix(const char *corpus, struct tact_diag *diag)
{
	static const enum tact_mix_key columns[] = {TACT_MIX_BY_CATEGORY};
	struct tact_mix_pivot_options pivot;
	struct tact_tune_options tune;
	char path[512];

	snprintf(path, sizeof(path), "%s/mixtext/counts", corpus);
	tact_mix_open(&the.mix, path, NULL, diag);
	snprintf(path, sizeof(path), "%s/mixtext/taxonomy", corpus);
	tact_mix_taxonomy_load(&the.mix_taxonomy, path, diag);
	tact_mix_rule_create(&the.mix_rule, diag);
	memset(&pivot, 0, sizeof(pivot));
	pivot.size = sizeof(pivot);
	pivot.n_keys = 1;
	pivot.keys[0] = TACT_MIX_BY_MNEMONIC;
	if (the.mix) {
		tact_mix_pivot_create(&the.mix_pivot, the.mix, &pivot, diag);
		tact_mix_cross_create(&the.mix_cross, &the.mix, 1, &pivot, columns, 1, diag);
		tact_mix_costs_create(&the.mix_costs, the.mix, the.arch, NULL, diag);
	}
	if (the.mix_pivot)
		tact_mix_diff_create(&the.mix_diff, the.mix_pivot, the.mix_pivot, 0, diag);
	tact_mix_trainer_create(&the.mix_trainer, diag);
	memset(&tune, 0, sizeof(tune));
	tune.size = sizeof(tune);
	tune.arch = the.arch;
	tact_tuner_create(&the.tuner, &tune, diag);
}

static void fixtures_make(const char *corpus)
{
	struct tact_diag diag;

	snprintf(the.directory, sizeof(the.directory), "/tmp/tact-misuse-XXXXXX");
	if (!mkdtemp(the.directory))
		exit(2);
	snprintf(the.file, sizeof(the.file), "%s/code.hex", the.directory);
	snprintf(the.store_path, sizeof(the.store_path), "%s/store", the.directory);
	write_file(the.file, "4801d8480fafc148890748ffc975f1\n");
	make_core(&diag);
	make_store(&diag);
	make_run(&diag);
	make_classes(&diag);
	tact_harness_create(&the.harness, NULL, &diag);
	tact_rounds_create(&the.rounds);
	make_mix(corpus, &diag);
}

#endif /* TESTS_EMBED_FIXTURES_H */
