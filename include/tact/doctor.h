/* SPDX-License-Identifier: MIT
 *
 * What this machine is, and what it lets a program do.
 *
 * Any thread may call these functions at any time.
 */
#ifndef TACT_DOCTOR_H
#define TACT_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the CPU ---- */

/* The CPU that this program runs on, as the CPU and the kernel describe it. */
struct tact_host {
	size_t size;	 /* sizeof(struct tact_host) */
	char vendor[16]; /* "GenuineIntel" */
	char brand[64];	 /* "" if it has none */
	unsigned family, model, stepping;
	char microcode[24];	      /* "0xd0003a5"; "" if it cannot be read */
	bool is_virtual;	      /* a hypervisor says that it is there */
	char hypervisor[16];	      /* "KVMKVMKVM"; "" if there is none or it has no name */
	unsigned n_online, n_allowed; /* CPUs of the system, CPUs that this process may use */
	unsigned n_cores;	      /* cores that the allowed CPUs belong to */
	unsigned threads_per_core;    /* 2: with SMT; 0: unknown */
	bool has_invariant_tsc;
	double tsc_hz; /* measured, to some 0.1%; 0: there is no time stamp counter */
};
#define TACT_HOST_INIT TACT_SIZED(struct tact_host)

/* Describes the CPU that this program runs on.  Takes some 10 ms to measure the frequency.
 * -TACT_E_INVAL: out is NULL, or out->size is 0.
 */
int tact_host_probe(struct tact_host *out);

/* Lists the CPUs that this process may use, one per core, in ascending order.  Fills up to
 * `capacity` of them and returns how many there are, at least 1.  cpus may be NULL.
 */
unsigned tact_host_cores(int *cpus, unsigned capacity);

/* Room for the name of a program, with the final NUL. */
enum { TACT_EMULATOR_SIZE = 256 };

/* Writes the path of the program that executes this one in the place of a CPU, such as qemu-aarch64
 * on another machine; then nothing that is measured means anything.  Returns false, and writes "",
 * if the kernel runs this program itself, or if text is NULL or size is 0.  An emulator of the same
 * machine is not noticed.
 */
bool tact_host_emulator(char *text, size_t size);

/* ---- checks ---- */

/* What is looked at.  Values are stable: new ones go to the end. */
enum tact_check_id {
	TACT_CHECK_HYPERVISOR,
	TACT_CHECK_SMT,
	TACT_CHECK_TSC,
	TACT_CHECK_FREQUENCY,
	TACT_CHECK_VECTOR,
	TACT_CHECK_PARANOID,
	TACT_CHECK_CYCLES,
	TACT_CHECK_RDPMC,
	TACT_CHECK_LBR,
	TACT_CHECK_APERF,
	TACT_CHECK_SECCOMP,
	TACT_CHECK_PTRACE,
	TACT_CHECK_MEMFD,
	TACT_CHECK_FIXED_MAP,
	TACT_CHECK_MMAP_MIN,
	TACT_CHECK_HUGE_PAGES,
	TACT_CHECK_QEMU,
	TACT_CHECK_QEMU_PLUGIN,
	TACT_CHECK_LLVM_MCA,
	TACT_CHECK_AS,
	TACT_CHECK_LLVM,
	TACT_N_CHECKS
};

enum tact_check_state {
	TACT_CHECK_GOOD,
	TACT_CHECK_DEGRADED, /* it works, but not as well as it could */
	TACT_CHECK_MISSING
};

/* Returns the name of a state: "good", "degraded" or "missing"; "unknown" for any other value.  The
 * string is static.
 */
const char *tact_check_state_name(enum tact_check_state state);

/* The result of a check.  The strings that are pointed to are static. */
struct tact_check {
	size_t size; /* sizeof(struct tact_check) */
	enum tact_check_state state;
	bool is_vital;	    /* nothing can be measured if it is missing */
	const char *name;   /* "cycles": stable, for files */
	const char *title;  /* "hardware cycles": for people */
	char found[160];    /* what there is */
	const char *effect; /* what is worse because of it; "" if state is GOOD */
	const char *fix;    /* what may help; "" if nothing does, or if state is GOOD */
};
#define TACT_CHECK_INIT TACT_SIZED(struct tact_check)

/* Looks at one thing: opens counters, forks a child that tries a filter, runs a tool to ask for its
 * version.  None of that outlives the call.
 * -TACT_E_INVAL: out is NULL, out->size is 0, or there is no such check.
 */
int tact_check_run(enum tact_check_id id, struct tact_check *out);

#ifdef __cplusplus
}
#endif

#endif /* TACT_DOCTOR_H */
