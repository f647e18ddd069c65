/* SPDX-License-Identifier: MIT
 *
 * The virtual PMU of mix: a made-up run over a few pieces of code, sampled as the first bytes say, on
 * the CPU that they pick.  Up to a byte of zeros there is code, after that each byte is an execution.
 *
 * What must hold: samples are as many as the periods allow, and the recording that was written reads
 * as what was sampled.
 */
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "fuzz.h"
#include "fuzz_program.h"
#include "mix/virtual.h"
#include "pmu/perfdata.h"

enum { HEAD = 8, THREADS = 3, EVENTS = 300, REPEATS = 4 };

struct sampled {
	uint64_t ebs, lbr;
};

static void count_samples(const char *path, struct sampled *out)
{
	struct pmu_reader *reader;
	struct pmu_record record;
	int status;

	MUST(pmu_reader_open(&reader, path, NULL) >= 0);
	while ((status = pmu_reader_next(reader, &record, NULL)) > 0) {
		if (record.type != PMU_RECORD_SAMPLE)
			continue;
		MUST(record.sample.n_branches <= 64);
		if (record.sample.attr == MIX_VPMU_EBS)
			out->ebs++;
		else
			out->lbr++;
	}
	MUST(status == 0);
	pmu_reader_close(reader);
}

/* Returns the instructions that were executed. */
static uint64_t run(struct mix_vpmu *v, struct fuzz_program *p, const uint8_t *data, size_t size)
{
	struct mix_vblock blocks[FUZZ_BLOCKS];
	uint64_t n = 0;

	memset(blocks, 0, sizeof(blocks));
	for (size_t i = 0; i < p->n; i++)
		blocks[i].block = &p->blocks[i];
	for (size_t i = 0; i < size && i < EVENTS; i++) {
		struct mix_vblock *b = &blocks[data[i] % p->n];
		const uint32_t thread = data[i] / 64 % THREADS;

		for (unsigned k = 0; k < REPEATS; k++) {
			MUST(mix_vpmu_exec(v, thread, 1 + thread / 2, b) == 0);
			n += b->block->n_insns;
		}
	}
	for (size_t i = 0; i < p->n; i++)
		free(blocks[i].offsets);
	return n;
}

static void set_options(struct tact_mix_emulate_options *o, const uint8_t *head)
{
	*o = (struct tact_mix_emulate_options){.size = sizeof(*o),
					       .seed = head[1],
					       .ebs_period = 23 + head[2] * 3u,
					       .lbr_period = 5 + head[3],
					       .depth = 4 + head[4] % 61,
					       .skid = head[5] % 101 - 1,
					       .shadow = head[6] % 102 - 1,
					       .lost_newest = head[7] % 102 - 1,
					       .biased = (head[1] & 15) * 66 - 1};
	for (unsigned i = 0; i <= head[0] % 21u || !o->arch; i++)
		o->arch = tact_arch_next(o->arch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tact_mix_emulated totals = TACT_MIX_EMULATED_INIT;
	struct tact_mix_emulate_options o;
	const uint64_t ids[2] = {1, 2};
	struct sampled sampled = {0, 0};
	struct pmu_attr attrs[2];
	struct pmu_writer *writer;
	struct fuzz_program p;
	struct mix_vpmu *v;
	char path[80];
	uint64_t n;
	size_t at;

	if (size <= HEAD + 2)
		return 0;
	set_options(&o, data);
	at = HEAD + fuzz_make_program(&p, data + HEAD, size - HEAD, data[0] / 21);
	if (!p.n)
		return 0;
	snprintf(path, sizeof(path), "%s/tact-fuzz-%d.vpmu",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (int)getpid());
	mix_vpmu_attrs(&o, attrs);
	MUST(pmu_writer_create(&writer, path, attrs, 2, ids, 1, NULL) >= 0);
	MUST(mix_vpmu_create(&v, &o, &totals, writer, NULL) >= 0);
	n = run(v, &p, data + at, size - at);
	MUST(totals.ebs_samples <= n / o.ebs_period + THREADS);
	MUST(totals.lbr_samples <= totals.branches / o.lbr_period + THREADS);
	MUST(totals.branches <= n);
	MUST(pmu_writer_finish(writer, NULL) >= 0);
	count_samples(path, &sampled);
	MUST(sampled.ebs == totals.ebs_samples && sampled.lbr == totals.lbr_samples);
	mix_vpmu_destroy(v);
	unlink(path);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	return fuzz_mutate_program(HEAD, data, size, max_size, seed);
}
