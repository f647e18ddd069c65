/* SPDX-License-Identifier: MIT
 *
 * What the kernel leaves behind in user mode: see the parameters kernel_*.
 */
#include "isa/isa.h"
#include "trace/front_parts.h"

/* The kernel runs, for a system call or because a page is touched for the first time.  What it leaves
 * behind was measured on Linux: it takes places in caches, TLBs, DSB and BTB, leaves an empty return
 * stack on some cores, and has cycles that count as the program's.
 */
void front_enter_kernel(const struct front *f, struct front_thread *t, enum front_entry entry)
{
	const struct arch_params *p = &f->arch->params;
	const struct {
		struct kernel_trail trail;
		int cycles, time;
	} of[] = {
		[FRONT_LIGHT] = {{false, p->kernel_light_data, p->kernel_light_code,
				  p->kernel_light_dsb, false},
				 p->kernel_call_cycles,
				 p->kernel_light_time},
		[FRONT_USUAL] = {{false, p->kernel_usual_data, p->kernel_usual_code,
				  p->kernel_usual_dsb, false},
				 p->kernel_call_cycles,
				 p->kernel_usual_time},
		[FRONT_HEAVY] = {{false, p->kernel_heavy_data, p->kernel_heavy_code,
				  p->kernel_heavy_dsb, false},
				 p->kernel_call_cycles,
				 p->kernel_heavy_time},
		[FRONT_WAIT] = {{false, p->kernel_heavy_data, p->kernel_heavy_code,
				 p->kernel_heavy_dsb, p->kernel_wait_tlb != 0},
				p->kernel_wait_cycles,
				p->kernel_wait_time},
		[FRONT_FAULT] = {{true, p->kernel_fault_data, p->kernel_fault_code,
				  p->kernel_fault_dsb, false},
				 p->kernel_fault_cycles,
				 p->kernel_fault_time},
	};
	const struct kernel_trail *trail = &of[entry].trail;

	code_caches_enter_kernel(t->code_caches, trail);
	if (t->caches) {
		caches_enter_kernel(t->caches, (unsigned)trail->data);
		if (entry == FRONT_WAIT)
			caches_wait(t->caches, (unsigned)p->kernel_wait_lines, trail->loses_pages);
		sharing_pass(&t->caches->sharing, (uint64_t)of[entry].time);
	}
	if (t->predictor)
		predictor_enter_kernel(t->predictor, (uint32_t)(trail->code * p->kernel_jumps),
				       p->returns_flushed);
	/* A core alone has no kernel. */
	t->outside_cycles += t->caches ? (uint32_t)of[entry].cycles : 0;
}

/* A system call, by its number.  What asks the time would not leave user mode without QEMU. */
void front_call_kernel(struct front *f, struct front_thread *t, uint64_t number)
{
	static const enum front_entry entries[] = {[ISA_CALL_USUAL] = FRONT_USUAL,
						   [ISA_CALL_LIGHT] = FRONT_LIGHT,
						   [ISA_CALL_HEAVY] = FRONT_HEAVY,
						   [ISA_CALL_WAIT] = FRONT_WAIT};
	const struct tact_isa *isa = f->arch->isa;
	const enum isa_call kind = isa->call_kind ? isa->call_kind(number) : ISA_CALL_USUAL;

	f->has_calls = true;
	if (kind == ISA_CALL_CLOCK && t->caches)
		t->outside_cycles += (uint32_t)f->arch->params.kernel_clock_cycles;
	else if (kind != ISA_CALL_CLOCK)
		front_enter_kernel(f, t, entries[kind]);
}
