/* SPDX-License-Identifier: MIT
 *
 * What the files of `tact insn` share.
 */
#ifndef TACT_INSNS_H
#define TACT_INSNS_H

#include <stdbool.h>

#include <tact/arch.h>
#include <tact/insn.h>

#include "common/archlist.h"
#include "common/options.h"

enum { INSN_TEXT = 160 };

/* A form that was asked for, and an instruction of it: the one that was given, or an example. */
struct insn_choice {
	unsigned form;
	enum tact_situation situation;
	bool has_code, is_example;
	struct tact_insn insn;
	uint8_t code[TACT_MAX_INSN_BYTES];
	char text[INSN_TEXT]; /* "" without code */
};

struct insns {
	struct option_words words; /* what is asked for */
	struct archlist archs;
	const char *hex;
	bool is_measured, is_all, is_quiet;
	int format;
	const char *output;

	/* made from the above */
	const struct tact_isa *isa;
	struct insn_choice *choices; /* owned */
	size_t n_choices;
	bool is_narrow; /* kinds of operands, or instructions, were given */
};

/* Finds what the words or the hex digits mean.  Returns an exit code; what is wrong is reported. */
int insn_ask(struct insns *q);

/* Makes an instruction of the choice's form, if there is none yet. */
void insn_make_example(const struct insns *q, struct insn_choice *choice);

/* Assembles a text.  Returns the size of the code; 0: it is not valid or does not fit; -1: there is
 * no assembler.
 */
long insn_assemble(const struct insns *q, const char *text, uint8_t *code, size_t room);

/* Tells whether a latency concerns this instruction: not if it has no index register. */
bool insn_has_pair(const struct insn_choice *choice, const struct tact_latency *latency);

/* A register, "flags", "memory", "index": the end of a latency, by the instruction's own operands. */
void insn_add_end(struct text *out, const struct insns *q, const struct insn_choice *choice,
		  unsigned end, unsigned number);

/* Fills in the figures of a choice; false if there are none. */
struct tact_form_info;
bool insn_figures(const struct tact_arch *arch, const struct insn_choice *choice,
		  struct tact_form_info *info);

/* The results. */
void insn_print_text(const struct insns *q, struct text *out);
void insn_print_rows(const struct insns *q, struct text *out);

/* What this machine says of a choice. */
struct insn_chain {
	char from[32]; /* the operand */
	double cycles, predicted;
};
struct insn_measured {
	double throughput, predicted; /* 0: none */
	char why[160];		      /* why there is none */
	unsigned copies;
	size_t n_chains;
	struct insn_chain chain[4];
};
struct tact_harness;
struct tact_diag;
void insn_measure(const struct insns *q, struct tact_harness *harness, const struct tact_arch *arch,
		  const struct insn_choice *choice, struct insn_measured *out);

/* Creates a harness with the usual options. */
int insn_start_harness(struct tact_harness **out, struct tact_diag *diag);

#endif /* TACT_INSNS_H */
