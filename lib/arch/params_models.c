/* SPDX-License-Identifier: MIT
 *
 * Which models obey a parameter.  doc/formats.md has the same as a table; the documents' test
 * compares them.
 */
#include <string.h>

#include "arch/params.h"
#include "base/base.h"

/* All others change facile, sim, and with sim the runs of trace; the latencies of caches and memory
 * do so where loads are said to find their data there.
 */
static const char *const only_sim[] = {
	"fence_overlap",    "rob_size",	      "rs_size",	 "port_rs_size",
	"port_rs_hold",	    "port_rs_shared", "vec_rs_size",	 "vec_rs_queue",
	"retire_width",	    "move_elim_gpr",  "move_elim_vec",	 "move_elim_vec_width",
	"high8_renamed",    "branch_first",   "woken_move",	 "results_collide",
	"vec_result_ports", "widest_twice",   "slow_256_memory", "alias_latency",
	"alias_cycles",	    "vec_ports",
};
static const char *const only_facile[] = {"binding_losses"};
static const char *const only_trace[] = {
	"store_renamed_sure",
	"prefetch_hint_memory",
	"kernel_call_cycles",
	"kernel_wait_cycles",
	"kernel_fault_cycles",
	"kernel_clock_cycles",
	"kernel_light_data",
	"kernel_light_code",
	"kernel_light_dsb",
	"kernel_light_time",
	"kernel_usual_data",
	"kernel_usual_code",
	"kernel_usual_dsb",
	"kernel_usual_time",
	"kernel_heavy_data",
	"kernel_heavy_code",
	"kernel_heavy_dsb",
	"kernel_heavy_time",
	"kernel_fault_data",
	"kernel_fault_code",
	"kernel_fault_dsb",
	"kernel_fault_time",
	"kernel_wait_time",
	"kernel_wait_lines",
	"kernel_wait_tlb",
	"kernel_jumps",
	"branch_penalty",
	"predictor_base",
	"predictor_tables",
	"predictor_entries",
	"predictor_targets",
	"predictor_keeps",
	"predictor_delay",
	"predictor_delay_1",
	"predictor_delay_2",
	"predictor_jump_targets",
	"predictor_target_path",
	"predictor_target_tables",
	"predictor_far_ways",
	"predictor_target_history",
	"predictor_history_2",
	"predictor_history_3",
	"predictor_history_4",
	"predictor_footprint",
	"predictor_half_bit",
	"indirect_delay",
	"indirect_same_delay",
	"predictor_history_min",
	"predictor_history",
	"return_stack",
	"return_delay",
	"returns_flushed",
	"btb1_entries",
	"btb1_delay",
	"btb2_entries",
	"btb2_delay",
	"btb2_regions",
	"btb2_far_delay",
	"btb3_entries",
	"btb3_delay",
	"btb_random",
	"btb_miss_delay",
	"l1_kib",
	"l1_ways",
	"l2_kib",
	"l2_ways",
	"l2_ages",
	"l2_random",
	"l2_index_bytes",
	"l3_kib",
	"l3_ways",
	"l3_shared",
	"l1_fills",
	"l1_fill_hold",
	"l1_set_fill",
	"l3_set_fill",
	"l1_set_write",
	"l1_set_ahead",
	"l2_fills",
	"l2_line",
	"l2_half_line",
	"l2_quarter_line",
	"l1_wait",
	"l3_line",
	"memory_line",
	"l2_write_line",
	"l3_write_line",
	"memory_write_line",
	"prefetch_lines",
	"prefetch_near",
	"prefetch_pages",
	"tlb_pages",
	"tlb2_pages",
	"tlb2_latency",
	"tlb2_page",
	"walk_latency",
	"page_walkers",
	"store_buffer",
	"l2_halves",
	"l3_halves",
	"nontemporal_line",
	"page_kib",
	"l1i_kib",
	"l1i_ways",
	"code_l2",
	"code_l3",
	"code_memory",
	"code_l2_line",
	"code_l2_next",
	"code_l3_line",
	"code_l3_next",
	"code_memory_line",
	"code_ahead",
	"itlb_pages",
	"itlb2_pages",
	"itlb2_cycles",
	"itlb_walk",
};
static const char *const no_numbers[] = {"ports", "terms"};

static bool is_in(const char *const *list, size_t n, const char *name)
{
	while (n && (*list[n - 1] != *name || strcmp(list[n - 1], name) != 0))
		n--;
	return n > 0;
}

const char *params_models(const char *name)
{
	if (is_in(only_sim, ARRAY_SIZE(only_sim), name))
		return "sim";
	if (is_in(only_facile, ARRAY_SIZE(only_facile), name))
		return "facile";
	if (is_in(only_trace, ARRAY_SIZE(only_trace), name) || !strncmp(name, "rep_", 4))
		return "trace";
	return is_in(no_numbers, ARRAY_SIZE(no_numbers), name) ? "" : "facile+sim";
}
