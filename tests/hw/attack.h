/* SPDX-License-Identifier: MIT
 *
 * Hostile blocks: how they are written, and how they are judged.  Include after hw.h.
 */
#ifndef TESTS_ATTACK_H
#define TESTS_ATTACK_H

#include "hw.h"

/* General registers by their numbers. */
enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 };

/* ---- attack_code.c: writing blocks ---- */

#define CODE(b, ...) put_bytes(b, (const uint8_t[]){__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__}))

void code_move(struct bytes *b, unsigned reg, uint64_t value); /* mov r64, value */
void code_hex(struct bytes *b, const char *hex);

/* A chain that takes ATTACK_CYCLES in every iteration, whatever else the block does, unless that
 * writes rbx: eight times imul rbx, rbx.  A block that ends in it and gets a lower number has forged
 * it.
 */
enum { ATTACK_CYCLES = 24 };
void code_chain(struct bytes *b);

/* Hides instructions, of 6 bytes at most, in the immediates of mov rax, imm64, one in each, which
 * jump from one to the next.  Entering at the first immediate, 2 bytes from the start, runs them.
 * Jumps within them are translated.
 */
void code_hidden(struct bytes *b, const void *begin, const void *end);

/* ---- attack_judge.c: running and judging them ---- */

/* What is true of a block, so that a wrong answer shows. */
enum {
	ATTACK_CHAIN = 1, /* has the chain, and does not break it */
	ATTACK_FIRST = 2  /* prepares the next block, which must run in the same harness */
};

struct attack {
	struct bytes code;
	unsigned facts;
	char what[120]; /* what it tries */
};

enum { JUDGE_HARNESSES = 16 /* both modes, both inits, four kinds of memory */ };

struct judge {
	struct tact_harness *harness[JUDGE_HARNESSES]; /* owned */
	unsigned timeout_ms, n_harnesses;
	struct secrets *secrets; /* owned */
	unsigned n_blocks, by_status[TACT_N_MEASURE_STATUS], n_wrong, n_noisy;
	double longest;
	char last[120]; /* what the last block has tried */
};

/* Creates harnesses and plants secrets.  Returns false, and prints the reason, if there is no
 * harness here.
 */
bool judge_begin(struct judge *j, unsigned n_harnesses, unsigned timeout_ms);

/* Creates one with the options of the judge's harness of that number; NULL, and prints the reason. */
struct tact_harness *judge_harness(unsigned which, unsigned timeout_ms);

/* Measures a hostile block and complains about an answer that cannot be right. */
void judge_attack(struct judge *j, unsigned which, const struct attack *a);

/* Innocent blocks of all harnesses, or of one, get what they deserve: numbers, faults, a time-out
 * (with `slow`).
 */
void judge_controls(struct judge *j, bool slow);
void judge_control(struct judge *j, unsigned which);

/* Whether a neighbour took the numbers of hostile blocks. */
bool judge_met_noise(const struct judge *j);

/* Prints the statistics, destroys everything, and fails the test if anything was wrong. */
void judge_end(struct judge *j);

void judge_complain(struct judge *j, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- attack_secrets.c: what must neither leave the parent nor change in it ---- */

enum { SECRET_BYTES = 8, N_SECRETS = 6 };

struct secrets {
	const uint8_t *at[N_SECRETS]; /* where they are in our memory */
	const char *kind[N_SECRETS];
	char text[SECRET_BYTES + 1]; /* what they are */
	void *owned[3];
	size_t sizes[3];
	int file, pipe[2]; /* descriptors; a block must not write there */
	unsigned n_descriptors;
};

struct secrets *secrets_plant(uint64_t seed);
/* Returns what has changed or has leaked into the answer; NULL if nothing. */
const char *secrets_check(const struct secrets *s);
const char *secrets_in_answer(const struct secrets *s, const struct tact_measurement *m);
void secrets_free(struct secrets *s);

/* ---- the corpus: attack_*.c ---- */

struct attack_sink {
	void (*put)(struct attack_sink *sink, struct attack *a);
	uint64_t seed;
	unsigned n;
};

/* Hands a block with its description to the sink, then empties it. */
void attack_put(struct attack_sink *sink, struct attack *a, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Addresses that an attacker would try, by number; NULL after the last one. */
struct attack_place {
	const char *name;
	enum { PLACE_FIXED, PLACE_CODE, PLACE_STACK, PLACE_FS, PLACE_GS } kind;
	uint64_t at; /* the address, or an offset */
};

const struct attack_place *attack_place(unsigned i);
void code_place(struct bytes *b, unsigned reg, const struct attack_place *p);

void attack_stores(struct attack_sink *sink);
void attack_stack(struct attack_sink *sink);
void attack_state(struct attack_sink *sink);
void attack_reads(struct attack_sink *sink);
void attack_encodings(struct attack_sink *sink);
void attack_slow(struct attack_sink *sink);
void attack_pairs(struct attack_sink *sink);
void attack_random(struct attack_sink *sink);

#endif /* TESTS_ATTACK_H */
