// SPDX-License-Identifier: MIT
//
// Made by contrib/rust/generate.py from include/tact/*.h: do not edit.

structs! {
    tact_diag: line offset text;
    tact_operand: kind access number explicit_operand bits reg first_byte implicit_pointer role
        base index scale segment;
    tact_insn: form mnemonic attributes length opcode_offset immediate_bits condition flags_read
        flags_written value_effect n_operands flow pointer_reg pointer_change base_change
        setting displacement immediate operand;
    tact_form: size name mnemonic operands category code_size code;
    tact_cpu: size arch nearest line core vendor relation brand family model stepping is_level;
    tact_param: size name value help from source is_unmeasured models;
    tact_port_use: ports uops;
    tact_latency: from from_number to to_number cycles;
    tact_form_info: size situation uops issued mite ms divider cycles needs_complex_decoder
        is_eliminated breaks_dependence fuses_with n_port_uses n_latencies port_uses latencies
        source;
    tact_block_options: size mode init alignment paper memory alias moving setting;
    tact_insn_cost: size notes uops issued mite ms divider port exclusive;
    tact_advice_options: size least_gain predict arg is_slow address;
    tact_advice: size name text assumes before after insns n_insns code code_size alignment
        copies changes;
    tact_sim_uop: iteration insn uop slot source port eliminated delivered issued ready
        dispatched executed retired front_wait issue_wait operand_wait port_wait wait_insn;
    tact_predict_options: size bounds simple_predecoder simple_decoder exact_ports stop_above;
    tact_prediction: size cycles_per_iteration coverage mode applies bottlenecks is_stopped
        bound;
    tact_derivation: size rule counted amount per each copies cycles_per_iteration;
    tact_shares: size share set without;
    tact_port_contention: size ports uops insns n_insns;
    tact_chain_link: insn latency iterations from_kind to_kind from_reg to_reg input output;
    tact_chain: size cycles_per_iteration latency iterations links n_links;
    tact_criticality: size slack saved is_erasable;
    tact_blocked_load: load store iterations;
    tact_edge: from to latency iterations kind reg;
    tact_front_end_group: first_insn n_insns cycles lcp_cycles;
    tact_job: size code code_size status prediction;
    tact_sim_options: size max_cycles min_iterations on_uop arg only_repeats;
    tact_sim_insn: size by_source issued port divider wait_operand wait_port spent;
    tact_simulation: size cycles_per_iteration coverage mode repeats scheduling period cycles
        iterations source bottlenecks bounds stopped method uncertainty;
    tact_stream_access: address insn size extra is_store;
    tact_stream_fetch: line from to;
    tact_stream_trip: line level page n_fetched written fetched;
    tact_stream_execution: size number address accesses n_accesses is_mispredicted was_executed
        trips is_decoded is_redirected fetch_delay code_lines repeat_cycles;
    tact_stream_totals: size cycles instructions blocks blocks_retired;
    tact_stream_block: size executions uops stalls cycles;
    tact_trace_region: begin end file is_excluded;
    tact_trace_options: size mode plugin qemu cpu path regions n_regions from until no_exec
        native milliseconds seed sysroot arch;
    tact_trace_block: isa address code code_size n_insns last_offset number module is_open
        is_rep user;
    tact_trace_module: size begin end offset path;
    tact_trace_access: address insn is_store size;
    tact_trace_event: size kind thread pid parent vcpu block count accesses n_accesses text
        window span_ns user_ns system_ns hertz repeats is_descending;
    tact_trace_summary: size words n_blocks n_threads n_programs n_native lost_threads
        lost_blocks is_attached has_ended wait_status was_stopped first_native;
    tact_cycles_options: size exact caches branches cache_bytes insns model warm partial
        thorough;
    tact_cycles_totals: size cycles instructions executions simulated unknown n_threads uops
        stalls accesses branches mispredicted misses error windows user_seconds hertz
        is_measured system_calls tlb_misses page_walks page_faults followed prefetches
        unknown_prefetches;
    tact_cycles_block: size block executions cycles uops stalls bound bottlenecks limits
        unknown;
    tact_result_info: size arch command is_exact has_caches has_branches is_partial;
    tact_result_row: size module function source line address isa code code_size insns n_insns
        thread process executions instructions cycles uops stalls bound bottlenecks unknown;
    tact_result_call: size parent depth module function calls instructions cycles self_;
    tact_diff_row: size row function cycles executions instructions stalls;
    tact_diff_insn: mnemonic executed;
    tact_place: size module function address begin is_named;
    tact_analysis_options: size arch exact caches branches cache_bytes parts command on_progress
        arg partial thorough;
    tact_classify_options: size topics alpha beta seed starts jobs report context;
    tact_classifier_info: size arch topics words alpha beta seed starts blocks bags uops
        perplexity;
    tact_topic: size name share load store scalar vector;
    tact_label: size topic uops unknown log_likelihood weight;
    tact_measure_options: size mode init rung pin cpu pages max_pages passes samples timeout_ms
        max_spread memory vectors wait_ms cpus n_cpus no_namespaces state noisy;
    tact_measurement: size status cycles_per_iteration spread kept dropped rung mode init flags
        low high n_pages reason alignment memory vectors cpu disturbance rounds agree disturbed;
    tact_machine: size id vendor brand family model stepping microcode is_virtual arch;
    tact_store_import: size machine origin version flags loop_code loop_size clean has_spread
        host kernel;
    tact_store_prediction: size arch model version mode init status cycles_per_iteration
        coverage bottlenecks;
    tact_store_source: app weight;
    tact_store_category: classifier arch label;
    tact_store_filter: size machine arch mode has_init init app classifier model version
        is_by_code host;
    tact_store_row: size code code_size machine measurement version block origin flags loop_code
        loop_size clean has_spread sources n_sources category host kernel;
    tact_store_block: size id code code_size sources n_sources categories n_categories;
    tact_merge: size blocks sources categories measurements predictions stores;
    tact_merge_options: size mixes_cores without_hosts n_without_hosts on_store context;
    tact_count: size app classifier category machine model version arch mode init status n
        weight host kernel microcode rung;
    tact_collect_options: size no_branch;
    tact_collect_block: size code code_size address module function count;
    tact_collect_summary: size n_blocks n_insns executed_blocks executed_insns n_undecoded;
    tact_confidence: size has_interval is_borrowed level low high kind learned_on rows n_known
        n_insns reason;
    tact_host: size vendor brand family model stepping microcode is_virtual hypervisor n_online
        n_allowed n_cores threads_per_core has_invariant_tsc tsc_hz;
    tact_check: size state is_vital name title found effect fix;
    tact_excerpt: size column length line;
    tact_input_options: size kind syntax function addr_begin addr_end r#loop isa is_mangled
        all_functions skip_unknown excerpt compiler path is_whole is_marked;
    tact_given_latency: begin end cycles;
    tact_given_setting: at setting;
    tact_region: size isa code code_size address line name function source text text_size
        is_loop is_candidate remarks symbol inlined member alignment moving latencies
        n_latencies setting settings n_settings placement source_path;
    tact_source_line: size path function line;
    tact_mca_info: size name llvm_name help global count low high;
    tact_mca_event: iteration insn micro_ops dispatched ready issued executed retired;
    tact_mca_options: size params iterations steady memory on_insn arg;
    tact_mca_result: size cycles_per_iteration coverage;
    tact_mix_options: size method rule root files n_files is_mangled kallsyms kcore;
    tact_mix_summary: size rung method samples ebs_samples lbr_samples branches lost throttled
        unknown_records bad_records outside_samples streams outside_streams impossible_streams
        newest_impossible other_impossible newest_dropped blocks biased_blocks modules threads
        missing_modules blocks_by_lbr blocks_by_ebs instructions instructions_by_lbr is_relative
        flow_error flow_blocks flow_outliers bytes command ebs_event lbr_event ebs_period
        lbr_period recordings windows;
    tact_mix_missing: size path why samples;
    tact_mix_block: size module function address code code_size length executions error ebs lbr
        ebs_samples lbr_streams bias method is_biased is_loop next target;
    tact_mix_filter: key pattern is_negated;
    tact_mix_pivot_options: size keys n_keys filters n_filters taxonomy;
    tact_mix_row: size key executions share error low high entries flops code code_size address;
    tact_mix_figures: size instructions vectorisation flops_per_instruction branch_density
        load_density store_density instructions_per_block simd_density packed_flops;
    tact_mix_diff_row: size key executions;
    tact_mix_diff_totals: size executions error is_scaled;
    tact_mix_cost: size module function address code code_size length executions cycles total
        gain bottlenecks coverage is_loop n_blocks stalls;
    tact_mix_costs_totals: size cycles failed by_bound gain_by_bound by_stall gain_by_stall
        is_walked;
    tact_mix_train_options: size max_leaves min_weight;
    tact_mix_verdict: size is_used programs worse by_default by_learned leaves;
    tact_mix_record_options: size output argv pid all_cpus ebs_period lbr_period
        expected_seconds user_only best stop arg;
    tact_mix_recorded: size rung user_only exit_status bytes lost ebs_period lbr_period why;
    tact_mix_emulate_options: size output exact argv run arch seed ebs_period lbr_period depth
        skid shadow lost_newest biased stop arg;
    tact_mix_emulated: size instructions branches ebs_samples lbr_samples blocks simulated
        threads native exit_status;
    tact_mix_windows_options: size output command arch;
    tact_mix_windowed: size windows stepped instructions seconds blocks;
    tact_model: size name form help traits;
    tact_model_options: size arch bounds facile mca max_cycles timeout threads stores n_stores
        say say_arg;
    tact_estimate: size cycles_per_iteration coverage bottlenecks scheduling bounds;
    tact_model_row: size code code_size arch mode init store block alignment;
    tact_tune_progress: size phase step steps done loss validation seconds_left;
    tact_tune_network: size embedding hidden layers batch samples epochs table_epochs rounds
        no_bounds rate table_rate;
    tact_tune_options: size arch start model method what memory learn_memory random_start
        corrupt mode init seed threads budget min_gain network checkpoint report context rank
        n_ranks sum group by_opcode;
    tact_tune_export: size n_opcodes n_learned n_shared;
    tact_tune_summary: size n n_parameters n_changed n_forms evaluations defaults start learned
        surrogate unit;
    tact_tune_row: size code code_size group part measured defaults start learned;
    tact_tune_change: size name from to n_rows saved n_proofs proof;
    tact_tune_histogram: size kind defaults learned;
    tact_tune_point: name value is_learned error;
    tact_view: size block arch alignment prediction region file r#loop status error model
        facile_cycles idealization with_pass simulator simulation iterations from with_timeline
        options explains_all is_whole in_color width bold plain remarks advisor confidence;
}

constants! {
    TACT_OK TACT_E_INTERNAL TACT_E_INVAL TACT_E_NOMEM TACT_E_IO TACT_E_FORMAT TACT_E_VERSION
    TACT_E_DECODE TACT_E_NO_ARCH TACT_E_NO_DATA TACT_E_NOT_MODELLED TACT_E_NO_TOOL TACT_E_LIMIT
    TACT_MAX_OPERANDS TACT_MAX_INSN_BYTES TACT_REG_NONE TACT_OPERAND_REG TACT_OPERAND_MEM
    TACT_OPERAND_AGEN TACT_OPERAND_IMM TACT_ACCESS_READ TACT_ACCESS_WRITE TACT_ACCESS_COND_READ
    TACT_ACCESS_COND_WRITE TACT_ROLE_NONE TACT_ROLE_POINTER TACT_ROLE_FLAGS TACT_ROLE_UNMASKED
    TACT_INSN_BRANCH TACT_INSN_COND_BRANCH TACT_INSN_CALL TACT_INSN_RET TACT_INSN_LOCKED
    TACT_INSN_LCP TACT_INSN_INDEXED TACT_INSN_SAME_REG TACT_INSN_WIDEST TACT_INSN_VECTOR
    TACT_INSN_PC_RELATIVE TACT_INSN_REP TACT_INSN_SERIALIZING TACT_INSN_LOAD TACT_INSN_STORE
    TACT_INSN_PART_ALIAS TACT_INSN_POP_POINTER TACT_INSN_PAIR_SHORT TACT_INSN_MOVE
    TACT_INSN_SIGN_EXTEND TACT_INSN_NOP TACT_INSN_DISPLACED TACT_INSN_ZEROES_UPPER
    TACT_INSN_PASSES_UPPER TACT_INSN_KEEPS_UPPER TACT_INSN_FLOAT_ADD TACT_INSN_NON_TEMPORAL
    TACT_INSN_OLD_VECTOR TACT_INSN_CLEARS_UPPER TACT_INSN_LOGICAL TACT_INSN_SHIFT
    TACT_VALUE_UNKNOWN TACT_VALUE_COPY TACT_VALUE_ADD TACT_VALUE_SUB TACT_VALUE_INC
    TACT_VALUE_DEC TACT_VALUE_LEA TACT_VALUE_LOAD TACT_VALUE_CONSTANT TACT_FLOW_NEXT
    TACT_FLOW_BRANCH TACT_FLOW_JUMP TACT_FLOW_CALL TACT_FLOW_RETURN TACT_FLOW_KERNEL
    TACT_FLOW_STOP TACT_SYNTAX_AUTO TACT_SYNTAX_ATT TACT_SYNTAX_INTEL TACT_MAX_PORTS
    TACT_SITUATION_PLAIN TACT_SITUATION_INDEXED TACT_SITUATION_SAME TACT_LATENCY_REG
    TACT_LATENCY_MEMORY TACT_LATENCY_BASE TACT_LATENCY_INDEX TACT_LATENCY_FLAGS
    TACT_NUMBER_ADDRESS TACT_MAX_PORT_USES TACT_MAX_LATENCIES TACT_MODE_AUTO TACT_MODE_LOOP
    TACT_MODE_UNROLL TACT_INIT_STACK TACT_INIT_SAME TACT_INIT_DIFF TACT_MEMORY_L1 TACT_MEMORY_L2
    TACT_MEMORY_L3 TACT_MEMORY_RAM TACT_N_MEMORIES TACT_ALIAS_ADDRESSES TACT_ALIAS_NEVER
    TACT_ALIAS_ALWAYS TACT_BLOCK_MAX_BYTES TACT_MAX_LATENCY TACT_NOTE_UNKNOWN
    TACT_NOTE_FUSED_PREV TACT_NOTE_FUSED_NEXT TACT_NOTE_ELIMINATED TACT_NOTE_IDIOM
    TACT_NOTE_MICROCODED TACT_NOTE_JCC TACT_NOTE_LCP TACT_NOTE_COMPLEX TACT_NOTE_UNLAMINATED
    TACT_NOTE_STACK_SYNC TACT_NOTE_SWITCHES TACT_ADVICE_MAX_INSNS TACT_SOURCE_MITE
    TACT_SOURCE_DSB TACT_SOURCE_LSD TACT_SOURCE_MS TACT_SOURCE_SE TACT_N_SOURCES
    TACT_MAX_SOURCES TACT_WAIT_NONE TACT_WAIT_PREDECODER TACT_WAIT_DECODER TACT_WAIT_DSB
    TACT_WAIT_LSD TACT_WAIT_MICROCODE TACT_WAIT_ISSUE TACT_WAIT_ROB TACT_WAIT_RS
    TACT_WAIT_SERIALIZE TACT_WAIT_OPERAND TACT_WAIT_STORE TACT_WAIT_PORT TACT_WAIT_DIVIDER
    TACT_WAIT_RETIRE TACT_WAIT_ORDER TACT_N_WAITS TACT_BOUND_PREDECODE TACT_BOUND_DECODE
    TACT_BOUND_DSB TACT_BOUND_LSD TACT_BOUND_ISSUE TACT_BOUND_PORTS TACT_BOUND_PRECEDENCE
    TACT_BOUND_DIVIDER TACT_BOUND_STORES TACT_BOUND_STACK_SYNC TACT_BOUND_FORWARDING
    TACT_BOUND_BLOCKED TACT_BOUND_MICROCODE TACT_BOUND_BINDING TACT_BOUND_LOADS TACT_N_BOUNDS
    TACT_MAX_BOUNDS TACT_RULE_RATIO TACT_RULE_CEILING TACT_RULE_COPIES TACT_RULE_TABLE
    TACT_N_RULES TACT_COUNTED_CYCLES TACT_COUNTED_UOPS TACT_COUNTED_LINES TACT_COUNTED_WIDE_UOPS
    TACT_COUNTED_INSNS TACT_COUNTED_COMPLEX_INSNS TACT_COUNTED_BYTES TACT_COUNTED_LOADS
    TACT_N_COUNTED TACT_SIM_NONE TACT_SIM_REPEATS TACT_SIM_SETTLED TACT_SIM_MEAN
    TACT_N_SIM_METHODS TACT_STREAM_FETCHES TACT_STALL_FRONT_END TACT_STALL_OPERANDS
    TACT_STALL_LOADS TACT_STALL_PORTS TACT_STALL_BRANCH TACT_STALL_EXECUTION TACT_STALL_STORES
    TACT_STALL_LOCKED TACT_STALL_SERIALIZING TACT_STALL_STRINGS TACT_N_STALLS TACT_MAX_STALLS
    TACT_TRACE_FULL TACT_TRACE_COUNT TACT_TRACE_BEGIN TACT_TRACE_EXEC TACT_TRACE_COUNTED
    TACT_TRACE_NATIVE TACT_TRACE_ON TACT_TRACE_OFF TACT_TRACE_END TACT_TRACE_WINDOW
    TACT_TRACE_TIME TACT_TRACE_CALL TACT_TRACE_CALLEE TACT_TRACE_NO_WINDOW TACT_TRACE_WARMING
    TACT_TRACE_WINDOWED TACT_TRACE_COOLING TACT_TRACE_MAX_CALLEE TACT_RESULT_FUNCTION
    TACT_RESULT_BLOCK TACT_RESULT_LINE TACT_RESULT_THREAD TACT_N_RESULT_KINDS
    TACT_RESULT_WITH_LINES TACT_RESULT_WITH_INSNS TACT_RESULT_WITH_CALLS
    TACT_CLASSIFY_MAX_TOPICS TACT_CLASSIFY_MAX_WORDS TACT_CLASSIFY_MAX_BAGS
    TACT_CLASSIFY_NAME_SIZE TACT_CLASSIFY_PORTS_SIZE TACT_RUNG_AUTO TACT_RUNG_RDPMC
    TACT_RUNG_PERF TACT_RUNG_APERF TACT_RUNG_TSC TACT_MEASURE_OK TACT_MEASURE_DECODE
    TACT_MEASURE_TOO_LONG TACT_MEASURE_REFUSED TACT_MEASURE_UNMAPPABLE TACT_MEASURE_PAGES
    TACT_MEASURE_PROTECTION TACT_MEASURE_ILLEGAL TACT_MEASURE_ARITHMETIC TACT_MEASURE_TRAP
    TACT_MEASURE_OWN_CODE TACT_MEASURE_TIMEOUT TACT_MEASURE_CRASHED TACT_MEASURE_NO_COUNTER
    TACT_MEASURE_UNSTABLE TACT_MEASURE_DISTURBED TACT_MEASURE_UNCONFIRMED TACT_N_MEASURE_STATUS
    TACT_MFLAG_CROSSES_LINE TACT_MFLAG_ALIAS_PAGE TACT_MFLAG_FORWARDS TACT_MFLAG_PARTIAL
    TACT_MFLAG_RIP TACT_MFLAG_X87 TACT_MFLAG_VEX TACT_MFLAG_MANY_PAGES TACT_MFLAG_MODES
    TACT_MFLAG_SHORT TACT_MFLAG_COMPENSATED TACT_MFLAG_STACK_FAULT TACT_MFLAG_WALKS
    TACT_MEASURE_FLAGS_SIZE TACT_CONTENTS_POINTER TACT_CONTENTS_ZERO TACT_CONTENTS_INT
    TACT_CONTENTS_FLOAT TACT_VECTORS_ORDINARY TACT_VECTORS_ZERO TACT_MEASURE_LOOP_BYTES
    TACT_STORE_CREATE TACT_STORE_READONLY TACT_STORE_NAME_MAX TACT_CLEAN_UNKNOWN TACT_CLEAN_YES
    TACT_CLEAN_NO TACT_COUNT_BLOCKS TACT_COUNT_APPS TACT_COUNT_CATEGORIES
    TACT_COUNT_MEASUREMENTS TACT_COUNT_PREDICTIONS TACT_COUNT_HOSTS TACT_N_COUNT_KINDS
    TACT_EMULATOR_SIZE TACT_CHECK_HYPERVISOR TACT_CHECK_SMT TACT_CHECK_TSC TACT_CHECK_FREQUENCY
    TACT_CHECK_VECTOR TACT_CHECK_PARANOID TACT_CHECK_CYCLES TACT_CHECK_RDPMC TACT_CHECK_LBR
    TACT_CHECK_APERF TACT_CHECK_SECCOMP TACT_CHECK_PTRACE TACT_CHECK_MEMFD TACT_CHECK_FIXED_MAP
    TACT_CHECK_MMAP_MIN TACT_CHECK_HUGE_PAGES TACT_CHECK_QEMU TACT_CHECK_QEMU_PLUGIN
    TACT_CHECK_LLVM_MCA TACT_CHECK_AS TACT_CHECK_LLVM TACT_N_CHECKS TACT_CHECK_GOOD
    TACT_CHECK_DEGRADED TACT_CHECK_MISSING TACT_INPUT_AUTO TACT_INPUT_HEX TACT_INPUT_CSV
    TACT_INPUT_ASM TACT_INPUT_ELF TACT_INPUT_RAW TACT_INPUT_ALL_PATHS TACT_INPUT_MAX_PATHS
    TACT_MCA_PORTS TACT_MCA_READS TACT_MCA_MICRO_OPS TACT_MCA_LATENCY TACT_MCA_READ_ADVANCE
    TACT_MCA_PORT_CYCLES TACT_MCA_DISPATCH_WIDTH TACT_MCA_REORDER_BUFFER TACT_MCA_N_KINDS
    TACT_MCA_NO_ALIAS TACT_MCA_ALIAS TACT_MCA_ADDRESSES TACT_MIX_HYBRID TACT_MIX_EBS
    TACT_MIX_LBR TACT_MIX_EXACT TACT_MIX_WINDOWS TACT_N_MIX_METHODS TACT_MIX_RUNG_EXACT
    TACT_MIX_RUNG_LBR TACT_MIX_RUNG_STACKS TACT_MIX_RUNG_AMD TACT_MIX_RUNG_PRECISE
    TACT_MIX_RUNG_INSTRUCTIONS TACT_MIX_RUNG_CYCLES TACT_MIX_RUNG_CLOCK TACT_MIX_RUNG_NONE
    TACT_MIX_RUNG_WINDOWS TACT_N_MIX_RUNGS TACT_MAX_MIX_RUNGS TACT_MIX_BY_THREAD
    TACT_MIX_BY_MODULE TACT_MIX_BY_FUNCTION TACT_MIX_BY_BLOCK TACT_MIX_BY_LINE
    TACT_MIX_BY_MNEMONIC TACT_MIX_BY_FORM TACT_MIX_BY_EXTENSION TACT_MIX_BY_CATEGORY
    TACT_MIX_BY_PACKING TACT_MIX_BY_WIDTH TACT_MIX_BY_MEMORY TACT_MIX_BY_TAXONOMY
    TACT_MIX_BY_METHOD TACT_MIX_BY_OPERANDS TACT_MIX_BY_IMMEDIATE TACT_MIX_BY_MASKING
    TACT_MIX_BY_LOCK TACT_MIX_BY_LATENCY TACT_MIX_BY_FLOPS TACT_MIX_BY_BYTES TACT_MIX_BY_LENGTH
    TACT_MIX_BY_RING TACT_MIX_BY_PROCESS TACT_MIX_BY_INSTRUCTION TACT_N_MIX_KEYS
    TACT_MIX_MAX_KEYS TACT_MIX_MIN_PROGRAMS TACT_MODEL_STREAM TACT_MODEL_BATCH
    TACT_MODEL_PROGRAM TACT_MODEL_TABLES TACT_MODEL_PARAMS TACT_MODEL_BOUNDS TACT_TUNE_DIRECT
    TACT_TUNE_SURROGATE TACT_TUNE_SIMPLE TACT_TUNE_RANDOM TACT_TUNE_BANDIT TACT_TUNE_LATENCY
    TACT_TUNE_UOPS TACT_TUNE_PORTS TACT_TUNE_ADVANCE TACT_TUNE_GLOBALS TACT_TUNE_TRAIN
    TACT_TUNE_VALIDATION TACT_TUNE_TEST TACT_TUNE_N_PARTS TACT_TUNE_PROOFS TACT_TUNE_VALUES
    TACT_VIEW_SCHEDULING TACT_VIEW_PREDICTION TACT_VIEW_SIMULATION TACT_VIEW_PAGE
    TACT_VIEW_EXPLANATION TACT_VIEW_GRAPH_SVG TACT_VIEW_GRAPH_DOT TACT_VIEW_CHART
    TACT_VIEW_PERFETTO TACT_VIEW_KONATA TACT_N_VIEWS
}

functions! {
    tact_strerror tact_isa_find tact_isa_next tact_isa_default tact_isa_name tact_isa_title
    tact_isa_decode tact_isa_format tact_isa_format_as tact_isa_form_count tact_isa_form_name
    tact_isa_form_find tact_isa_form tact_isa_form_extension tact_isa_form_example
    tact_isa_stack_pointer tact_isa_reg_name tact_arch_find tact_arch_next tact_arch_host
    tact_arch_aliases tact_cpu_find tact_cpu_name tact_arch_llvm_check tact_arch_llvm_lists
    tact_arch_is_llvm tact_arch_llvm_cpu_at tact_arch_name tact_arch_full_name
    tact_arch_llvm_name tact_arch_llvm_cpu tact_arch_base tact_arch_isa tact_arch_form_count
    tact_arch_has_form tact_arch_ports tact_arch_port_names tact_arch_is_verified
    tact_arch_verified_on tact_arch_verified_by tact_arch_caveat tact_arch_param tact_arch_form
    tact_arch_insn tact_arch_copy tact_arch_set_latency tact_arch_set_param tact_arch_derive
    tact_arch_destroy tact_arch_save tact_arch_validate tact_mode_name tact_init_name
    tact_memory_name tact_block_create tact_block_destroy tact_block_load tact_block_rebind
    tact_block_replace tact_block_insert tact_block_erase tact_block_set_memory
    tact_block_set_latency tact_block_set_setting tact_block_unset tact_block_foreign
    tact_block_arch tact_block_mode tact_block_length tact_block_insn tact_block_offset
    tact_block_code tact_block_coverage tact_block_cost tact_advisor_create tact_advisor_destroy
    tact_advisor_run tact_advisor_get tact_uop_source_name tact_uop_source_name_on
    tact_wait_name tact_bound_name tact_bound_column tact_bound_name_on tact_predict
    tact_explain_bound tact_explain_shares tact_explain_ports tact_explain_ports_with
    tact_explain_chain tact_explain_pass tact_explain_chain_of tact_explain_value
    tact_explain_criticality tact_explain_blocked tact_block_edge tact_explain_predecoder
    tact_explain_decoder tact_explain_dsb tact_predictor_create tact_predictor_destroy
    tact_predictor_run tact_predict_batch tact_sim_method_name tact_simulator_create
    tact_simulator_destroy tact_simulate tact_simulated_insn tact_stall_name tact_stream_create
    tact_stream_create_beside tact_stream_destroy tact_stream_add tact_stream_feed
    tact_stream_execute tact_stream_drain tact_stream_forget tact_stream_on_retire
    tact_stream_watch tact_stream_get_totals tact_stream_get_insn tact_stream_get_block
    tact_trace_plugin tact_trace_launch tact_trace_attach tact_trace_open tact_trace_open_fd
    tact_trace_open_text tact_trace_set_callee tact_trace_close tact_trace_next
    tact_trace_record tact_trace_stop tact_trace_get_mode tact_trace_get_module
    tact_trace_get_block tact_trace_get_summary tact_cycles_create tact_cycles_destroy
    tact_cycles_event tact_cycles_finish tact_cycles_get_totals tact_cycles_get_thread
    tact_cycles_get_block tact_cycles_get_insns tact_result_load tact_result_load_all
    tact_result_load_memory tact_result_destroy tact_result_write tact_result_get_info
    tact_result_get_totals tact_result_unmodelled tact_result_unmeasured tact_result_count
    tact_result_get_row tact_result_count_calls tact_result_get_call tact_diff_create
    tact_diff_destroy tact_diff_side tact_diff_ratio tact_diff_count tact_diff_get_row
    tact_diff_get_insns tact_symbols_create tact_symbols_destroy tact_symbols_find
    tact_symbols_line tact_symbols_region tact_analysis_create tact_analysis_destroy
    tact_analysis_run tact_analysis_finish tact_analysis_result tact_bags_create
    tact_bags_destroy tact_bags_add tact_bags_count tact_classifier_train
    tact_classifier_destroy tact_classifier_load tact_classifier_save tact_classifier_is_model
    tact_classifier_get_info tact_classifier_get_topic tact_classifier_leading
    tact_classifier_apply tact_classifier_label tact_classifier_term tact_rung_name
    tact_measure_status_name tact_measure_flags_text tact_contents_name tact_vectors_name
    tact_harness_create tact_harness_destroy tact_harness_rung tact_harness_refusal tact_measure
    tact_measure_at tact_rounds_create tact_rounds_destroy tact_rounds_add tact_rounds_set_least
    tact_rounds_is_confirmed tact_rounds_result tact_measure_check tact_measure_loop
    tact_store_open tact_store_close tact_store_sync tact_store_is_store
    tact_store_put_measurement tact_store_has_measurement tact_store_get_measurement
    tact_store_begin tact_store_end tact_store_put_block tact_store_put_source
    tact_store_add_source tact_store_put_category tact_store_put_machine tact_store_put_import
    tact_store_put_prediction tact_store_iter_create tact_store_iter_next
    tact_store_iter_skipped tact_store_iter_destroy tact_store_blocks_create
    tact_store_blocks_next tact_store_blocks_skipped tact_store_blocks_destroy
    tact_store_get_block tact_store_predictions_create tact_store_predictions_next
    tact_store_predictions_skipped tact_store_predictions_destroy tact_store_merge
    tact_store_merge_all tact_store_count tact_collect_create tact_collect_destroy
    tact_collect_trace tact_collect_file tact_collect_finish tact_collect_store
    tact_collect_get_summary tact_confidence_find tact_host_probe tact_host_cores
    tact_host_emulator tact_check_state_name tact_check_run tact_remarks_create
    tact_remarks_destroy tact_remarks_clear tact_remarks_add tact_remarks_append
    tact_remarks_count tact_remarks_name tact_remarks_text tact_input_open
    tact_input_open_memory tact_input_next tact_input_line tact_input_source
    tact_input_description tact_input_get_kind tact_input_close tact_mca_get_info
    tact_mca_params_create tact_mca_params_copy tact_mca_params_destroy tact_mca_params_arch
    tact_mca_get tact_mca_set tact_mca_default tact_mca_params_memory tact_mca_params_set_memory
    tact_mca_params_load tact_mca_params_save tact_mca_create tact_mca_destroy tact_mca_estimate
    tact_mca_code_create tact_mca_code_destroy tact_mca_code_length tact_mca_code_form
    tact_mca_run tact_mix_method_name tact_mix_rung_name tact_mix_rung_error
    tact_mix_rule_create tact_mix_rule_load tact_mix_rule_load_memory tact_mix_rule_save
    tact_mix_rule_destroy tact_mix_rule_print tact_mix_open tact_mix_close tact_mix_get_summary
    tact_mix_get_summary_all tact_mix_get_missing tact_mix_get_assumed tact_mix_block_count
    tact_mix_get_block tact_mix_taxonomy_load tact_mix_taxonomy_load_memory
    tact_mix_taxonomy_destroy tact_mix_key_name tact_mix_pivot_create tact_mix_pivot_create_all
    tact_mix_pivot_destroy tact_mix_pivot_count tact_mix_pivot_get_row tact_mix_pivot_get_keys
    tact_mix_cross_create tact_mix_cross_destroy tact_mix_cross_rows tact_mix_cross_columns
    tact_mix_cross_get_cell tact_mix_pivot_get_figures tact_mix_compare tact_mix_diff_create
    tact_mix_diff_destroy tact_mix_diff_count tact_mix_diff_get_row tact_mix_diff_get_keys
    tact_mix_diff_get_totals tact_mix_costs_create tact_mix_costs_create_all
    tact_mix_costs_destroy tact_mix_costs_count tact_mix_costs_get_row tact_mix_costs_get_totals
    tact_mix_trainer_create tact_mix_trainer_destroy tact_mix_trainer_add tact_mix_trainer_fit
    tact_mix_trainer_choose tact_mix_record tact_mix_emulate tact_mix_count_windows
    tact_model_find tact_model_next tact_model_title tact_model_expand tact_model_open
    tact_model_close tact_model_estimate tact_model_stream_create tact_model_run
    tact_tuner_create tact_tuner_destroy tact_tuner_add tact_tuner_run tact_tuner_save
    tact_tuner_export_llvm tact_tuner_get_summary tact_tuner_get_row tact_tuner_get_change
    tact_tuner_get_histogram tact_tuner_sensitivity tact_tuner_default_sensitivity tact_version
    tact_view_bottleneck_name tact_view_bottleneck_name_on tact_view_idealized tact_view_make
}
