/* SPDX-License-Identifier: MIT
 *
 * Faults of a block: pages that it needs, and ends that it comes to.
 */
#include <asm/unistd.h>
#include <sys/mman.h>

#include "runner.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum { MIN_ADDRESS = 65536 /* vm.mmap_min_addr */, EEXIST_ERROR = 17 };

static bool is_own(uint64_t address)
{
	return (address >= MEASURE_CODE_BASE && address < MEASURE_CODE_BASE + MEASURE_CODE_BYTES) ||
	       (address >= MEASURE_TEXT_BASE && address < MEASURE_TEXT_BASE + MEASURE_TEXT_BYTES) ||
	       (address >= MEASURE_OWN_BASE && address < MEASURE_OWN_END);
}

/* Maps the page that holds an address which the block has touched. */
static enum measure_outcome map_page(struct measure_host *host, uint64_t address)
{
	uint64_t page = address & ~(uint64_t)(MEASURE_PAGE - 1);
	long result;

	host->fault_address = address;
	if (is_own(address))
		return OUTCOME_OWN_CODE;
	if (page < MIN_ADDRESS || page >= gate_address_end)
		return OUTCOME_UNMAPPABLE;
	if (host->n_pages >= host->max_pages)
		return OUTCOME_PAGES;
	result = gate_syscall(__NR_mmap, (long)page, MEASURE_PAGE, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_FIXED_NOREPLACE, MEASURE_DATA_FD,
			      (long)(host->n_pages % host->n_physical) * MEASURE_PAGE);
	if (result == -EEXIST_ERROR) /* mapped, so the access itself is forbidden */
		return OUTCOME_OWN_CODE;
	if (result != (long)page)
		return OUTCOME_UNMAPPABLE;
	host->page[host->n_pages++] = page;
	return OUTCOME_MAPPED;
}

static enum measure_outcome outcome_of(struct measure_host *host, int signal, const siginfo_t *info)
{
	if (gate_is_counter_fault(signal, info, host->fault_pc))
		return OUTCOME_COUNTER;
	switch (signal) {
	case SIGSEGV:
		if (gate_is_protection_fault(info))
			return OUTCOME_PROTECTION;
		return map_page(host, (uint64_t)info->si_addr);
	case SIGBUS:
		return OUTCOME_PROTECTION;
	case SIGILL:
		return OUTCOME_ILLEGAL;
	case SIGFPE:
		return OUTCOME_ARITHMETIC;
	default:
		return OUTCOME_TRAP;
	}
}

void faults_on_signal(int signal, siginfo_t *info, void *context)
{
	const uint64_t pc = gate_pc(context);
	/* The handler's stack is the first part of the runner's memory. */
	struct runner *r = ((const ucontext_t *)context)->uc_stack.ss_sp;
	struct measure_host *host = &r->host;

	/* The trial of a counter that the kernel offers, but does not let us read. */
	if (!r->running && gate_is_counter_fault(signal, info, pc)) {
		host->counter_void = COUNTER_FAULTS;
		gate_skip_counter(context);
		return;
	}
	/* Outside of a block: an error of ours, or the end of what could be survived. */
	if (!r->running || pc < MEASURE_CODE_BASE || pc >= MEASURE_CODE_BASE + MEASURE_CODE_BYTES)
		runner_exit(100 + signal);
	if (signal == SIGTRAP && r->stepping) {
		if (host->n_steps < host->max_steps)
			gate_record_step(&host->step[host->n_steps++], context);
		else
			gate_stop_stepping(context, r->saved_stack);
		return;
	}
	host->fault_pc = pc;
	host->outcome = outcome_of(host, signal, info);
	gate_leave_block(context, r->saved_stack);
}
