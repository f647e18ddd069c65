/* SPDX-License-Identifier: MIT
 *
 * tact mca: the options of llvm-mca, and its views of a run.
 */
#ifndef TACT_MCA_FRONT_H
#define TACT_MCA_FRONT_H

#include "common/output.h"
#include "dropin.h"

enum { MCA_VIEWS = 10 };

struct mca_front {
	const char *input, *output, *triple, *march, *cpu, *skip, *tables, *asm_syntax, *attributes;
	unsigned iterations, dispatch, timeline_iterations, timeline_cycles, variant;
	struct dropin_switch noalias, json, timeline, pressure, info, summary, bottleneck,
		dispatch_stats, scheduler_stats, retire_stats, register_stats, all_stats, all_views,
		show_encoding;
	const struct tact_arch *arch;
	struct tact_arch *changed; /* owned: with another dispatch width */
	enum tact_alias alias;
	bool has_tables; /* -instruction-tables */
};

/* A region with its run. */
struct mca_view {
	const struct mca_front *f;
	const struct dropin_run *run;
	const struct dropin_region *region;
	unsigned width; /* uops dispatched a cycle */
};

/* Execution resources: the divider, then the ports that there are. */
enum { MCA_MOST_RESOURCES = TACT_MAX_PORTS + 1 };
struct mca_resources {
	unsigned n;
	int port[MCA_MOST_RESOURCES]; /* -1: the divider */
	unsigned kind[MCA_MOST_RESOURCES], unit[MCA_MOST_RESOURCES], units[MCA_MOST_RESOURCES];
	char name[MCA_MOST_RESOURCES][64];
};
void mca_resources_init(struct mca_resources *r, const struct tact_arch *arch);
double mca_pressure(const struct mca_view *v, const struct mca_resources *r, unsigned k, size_t i);

/* Pads to a column of the line that began at `start`, by one blank at least. */
void mca_pad(struct text *out, size_t column, size_t start);
void mca_insn_text(struct text *out, const struct mca_view *v, size_t i);

void mca_summary(const struct mca_view *v, struct text *out);
void mca_info(const struct mca_view *v, struct text *out);
void mca_resource_pressure(const struct mca_view *v, struct text *out);
void mca_timeline(const struct mca_view *v, struct text *out);
void mca_bottleneck(const struct mca_view *v, struct text *out);
void mca_dispatch_stats(const struct mca_view *v, struct text *out);
void mca_scheduler_stats(const struct mca_view *v, struct text *out);
void mca_retire_stats(const struct mca_view *v, struct text *out);
void mca_register_stats(const struct mca_view *v, struct text *out);

/* Cycles with waiting uops, for the view of bottlenecks. */
struct mca_pressures {
	uint64_t either, port, operand;
	bool is_memory; /* operands come through memory */
	unsigned ports; /* that are contended; bits */
};
struct mca_pressures mca_pressures(const struct mca_view *v);

struct json;
void mca_json_region(const struct mca_view *v, struct json *json);
void mca_json_target(const struct mca_front *f, struct json *json);

#endif /* TACT_MCA_FRONT_H */
