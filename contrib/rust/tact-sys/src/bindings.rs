// SPDX-License-Identifier: MIT
//
// Made by contrib/rust/generate.py from include/tact/*.h: do not edit.

use std::marker::{PhantomData, PhantomPinned};
use std::os::raw::*;

pub type tact_error = c_uint;
pub type tact_operand_kind = c_uint;
pub type tact_access = c_uint;
pub type tact_operand_role = c_uint;
pub type tact_insn_attribute = c_uint;
pub type tact_value_effect = c_uint;
pub type tact_flow = c_uint;
pub type tact_syntax = c_uint;
pub type tact_situation = c_uint;
pub type tact_latency_end = c_uint;
pub type tact_mode = c_uint;
pub type tact_init = c_uint;
pub type tact_memory = c_uint;
pub type tact_alias = c_uint;
pub type tact_note = c_uint;
pub type tact_uop_source = c_uint;
pub type tact_wait = c_uint;
pub type tact_bound = c_uint;
pub type tact_rule = c_uint;
pub type tact_counted = c_uint;
pub type tact_sim_method = c_uint;
pub type tact_stall = c_uint;
pub type tact_trace_mode = c_uint;
pub type tact_trace_event_kind = c_uint;
pub type tact_trace_part = c_uint;
pub type tact_result_kind = c_uint;
pub type tact_result_part = c_uint;
pub type tact_rung = c_uint;
pub type tact_measure_status = c_uint;
pub type tact_measure_flag = c_uint;
pub type tact_contents = c_uint;
pub type tact_vectors = c_uint;
pub type tact_store_flag = c_uint;
pub type tact_clean = c_uint;
pub type tact_count_kind = c_uint;
pub type tact_check_id = c_uint;
pub type tact_check_state = c_uint;
pub type tact_input_kind = c_uint;
pub type tact_mca_kind = c_uint;
pub type tact_mca_memory = c_uint;
pub type tact_mix_method = c_uint;
pub type tact_mix_rung = c_uint;
pub type tact_mix_key = c_uint;
pub type tact_model_trait = c_uint;
pub type tact_tune_method = c_uint;
pub type tact_tune_what = c_uint;
pub type tact_tune_part = c_uint;
pub type tact_view_kind = c_uint;
pub const TACT_OK: tact_error = 0;
pub const TACT_E_INTERNAL: tact_error = 1;
pub const TACT_E_INVAL: tact_error = 2;
pub const TACT_E_NOMEM: tact_error = 3;
pub const TACT_E_IO: tact_error = 4;
pub const TACT_E_FORMAT: tact_error = 5;
pub const TACT_E_VERSION: tact_error = 6;
pub const TACT_E_DECODE: tact_error = 7;
pub const TACT_E_NO_ARCH: tact_error = 8;
pub const TACT_E_NO_DATA: tact_error = 9;
pub const TACT_E_NOT_MODELLED: tact_error = 10;
pub const TACT_E_NO_TOOL: tact_error = 11;
pub const TACT_E_LIMIT: tact_error = 12;
pub const TACT_MAX_OPERANDS: c_int = 10;
pub const TACT_MAX_INSN_BYTES: c_int = 15;
pub const TACT_REG_NONE: c_int = 255;
pub const TACT_OPERAND_REG: tact_operand_kind = 1;
pub const TACT_OPERAND_MEM: tact_operand_kind = 2;
pub const TACT_OPERAND_AGEN: tact_operand_kind = 3;
pub const TACT_OPERAND_IMM: tact_operand_kind = 4;
pub const TACT_ACCESS_READ: tact_access = 1;
pub const TACT_ACCESS_WRITE: tact_access = 2;
pub const TACT_ACCESS_COND_READ: tact_access = 4;
pub const TACT_ACCESS_COND_WRITE: tact_access = 8;
pub const TACT_ROLE_NONE: tact_operand_role = 0;
pub const TACT_ROLE_POINTER: tact_operand_role = 1;
pub const TACT_ROLE_FLAGS: tact_operand_role = 2;
pub const TACT_ROLE_UNMASKED: tact_operand_role = 3;
pub const TACT_INSN_BRANCH: tact_insn_attribute = 1;
pub const TACT_INSN_COND_BRANCH: tact_insn_attribute = 2;
pub const TACT_INSN_CALL: tact_insn_attribute = 4;
pub const TACT_INSN_RET: tact_insn_attribute = 8;
pub const TACT_INSN_LOCKED: tact_insn_attribute = 16;
pub const TACT_INSN_LCP: tact_insn_attribute = 32;
pub const TACT_INSN_INDEXED: tact_insn_attribute = 64;
pub const TACT_INSN_SAME_REG: tact_insn_attribute = 128;
pub const TACT_INSN_WIDEST: tact_insn_attribute = 256;
pub const TACT_INSN_VECTOR: tact_insn_attribute = 512;
pub const TACT_INSN_PC_RELATIVE: tact_insn_attribute = 1024;
pub const TACT_INSN_REP: tact_insn_attribute = 2048;
pub const TACT_INSN_SERIALIZING: tact_insn_attribute = 4096;
pub const TACT_INSN_LOAD: tact_insn_attribute = 8192;
pub const TACT_INSN_STORE: tact_insn_attribute = 16384;
pub const TACT_INSN_PART_ALIAS: tact_insn_attribute = 32768;
pub const TACT_INSN_POP_POINTER: tact_insn_attribute = 65536;
pub const TACT_INSN_PAIR_SHORT: tact_insn_attribute = 131072;
pub const TACT_INSN_MOVE: tact_insn_attribute = 262144;
pub const TACT_INSN_SIGN_EXTEND: tact_insn_attribute = 524288;
pub const TACT_INSN_NOP: tact_insn_attribute = 1048576;
pub const TACT_INSN_DISPLACED: tact_insn_attribute = 2097152;
pub const TACT_INSN_ZEROES_UPPER: tact_insn_attribute = 4194304;
pub const TACT_INSN_PASSES_UPPER: tact_insn_attribute = 8388608;
pub const TACT_INSN_KEEPS_UPPER: tact_insn_attribute = 16777216;
pub const TACT_INSN_FLOAT_ADD: tact_insn_attribute = 33554432;
pub const TACT_INSN_NON_TEMPORAL: tact_insn_attribute = 67108864;
pub const TACT_INSN_OLD_VECTOR: tact_insn_attribute = 134217728;
pub const TACT_INSN_CLEARS_UPPER: tact_insn_attribute = 268435456;
pub const TACT_INSN_LOGICAL: tact_insn_attribute = 536870912;
pub const TACT_INSN_SHIFT: tact_insn_attribute = 1073741824;
pub const TACT_VALUE_UNKNOWN: tact_value_effect = 0;
pub const TACT_VALUE_COPY: tact_value_effect = 1;
pub const TACT_VALUE_ADD: tact_value_effect = 2;
pub const TACT_VALUE_SUB: tact_value_effect = 3;
pub const TACT_VALUE_INC: tact_value_effect = 4;
pub const TACT_VALUE_DEC: tact_value_effect = 5;
pub const TACT_VALUE_LEA: tact_value_effect = 6;
pub const TACT_VALUE_LOAD: tact_value_effect = 7;
pub const TACT_VALUE_CONSTANT: tact_value_effect = 8;
pub const TACT_FLOW_NEXT: tact_flow = 0;
pub const TACT_FLOW_BRANCH: tact_flow = 1;
pub const TACT_FLOW_JUMP: tact_flow = 2;
pub const TACT_FLOW_CALL: tact_flow = 3;
pub const TACT_FLOW_RETURN: tact_flow = 4;
pub const TACT_FLOW_KERNEL: tact_flow = 5;
pub const TACT_FLOW_STOP: tact_flow = 6;
pub const TACT_SYNTAX_AUTO: tact_syntax = 0;
pub const TACT_SYNTAX_ATT: tact_syntax = 1;
pub const TACT_SYNTAX_INTEL: tact_syntax = 2;
pub const TACT_MAX_PORTS: c_int = 32;
pub const TACT_SITUATION_PLAIN: tact_situation = 0;
pub const TACT_SITUATION_INDEXED: tact_situation = 1;
pub const TACT_SITUATION_SAME: tact_situation = 2;
pub const TACT_LATENCY_REG: tact_latency_end = 0;
pub const TACT_LATENCY_MEMORY: tact_latency_end = 1;
pub const TACT_LATENCY_BASE: tact_latency_end = 2;
pub const TACT_LATENCY_INDEX: tact_latency_end = 3;
pub const TACT_LATENCY_FLAGS: tact_latency_end = 4;
pub const TACT_NUMBER_ADDRESS: c_int = 15;
pub const TACT_MAX_PORT_USES: c_int = 32;
pub const TACT_MAX_LATENCIES: c_int = 128;
pub const TACT_MODE_AUTO: tact_mode = 0;
pub const TACT_MODE_LOOP: tact_mode = 1;
pub const TACT_MODE_UNROLL: tact_mode = 2;
pub const TACT_INIT_STACK: tact_init = 0;
pub const TACT_INIT_SAME: tact_init = 1;
pub const TACT_INIT_DIFF: tact_init = 2;
pub const TACT_MEMORY_L1: tact_memory = 0;
pub const TACT_MEMORY_L2: tact_memory = 1;
pub const TACT_MEMORY_L3: tact_memory = 2;
pub const TACT_MEMORY_RAM: tact_memory = 3;
pub const TACT_N_MEMORIES: tact_memory = 4;
pub const TACT_ALIAS_ADDRESSES: tact_alias = 0;
pub const TACT_ALIAS_NEVER: tact_alias = 1;
pub const TACT_ALIAS_ALWAYS: tact_alias = 2;
pub const TACT_BLOCK_MAX_BYTES: c_int = 65536;
pub const TACT_MAX_LATENCY: c_int = 1000;
pub const TACT_NOTE_UNKNOWN: tact_note = 1;
pub const TACT_NOTE_FUSED_PREV: tact_note = 2;
pub const TACT_NOTE_FUSED_NEXT: tact_note = 4;
pub const TACT_NOTE_ELIMINATED: tact_note = 8;
pub const TACT_NOTE_IDIOM: tact_note = 16;
pub const TACT_NOTE_MICROCODED: tact_note = 32;
pub const TACT_NOTE_JCC: tact_note = 64;
pub const TACT_NOTE_LCP: tact_note = 128;
pub const TACT_NOTE_COMPLEX: tact_note = 256;
pub const TACT_NOTE_UNLAMINATED: tact_note = 512;
pub const TACT_NOTE_STACK_SYNC: tact_note = 1024;
pub const TACT_NOTE_SWITCHES: tact_note = 2048;
pub const TACT_ADVICE_MAX_INSNS: c_int = 256;
pub const TACT_SOURCE_MITE: tact_uop_source = 0;
pub const TACT_SOURCE_DSB: tact_uop_source = 1;
pub const TACT_SOURCE_LSD: tact_uop_source = 2;
pub const TACT_SOURCE_MS: tact_uop_source = 3;
pub const TACT_SOURCE_SE: tact_uop_source = 4;
pub const TACT_N_SOURCES: tact_uop_source = 5;
pub const TACT_MAX_SOURCES: c_int = 16;
pub const TACT_WAIT_NONE: tact_wait = 0;
pub const TACT_WAIT_PREDECODER: tact_wait = 1;
pub const TACT_WAIT_DECODER: tact_wait = 2;
pub const TACT_WAIT_DSB: tact_wait = 3;
pub const TACT_WAIT_LSD: tact_wait = 4;
pub const TACT_WAIT_MICROCODE: tact_wait = 5;
pub const TACT_WAIT_ISSUE: tact_wait = 6;
pub const TACT_WAIT_ROB: tact_wait = 7;
pub const TACT_WAIT_RS: tact_wait = 8;
pub const TACT_WAIT_SERIALIZE: tact_wait = 9;
pub const TACT_WAIT_OPERAND: tact_wait = 10;
pub const TACT_WAIT_STORE: tact_wait = 11;
pub const TACT_WAIT_PORT: tact_wait = 12;
pub const TACT_WAIT_DIVIDER: tact_wait = 13;
pub const TACT_WAIT_RETIRE: tact_wait = 14;
pub const TACT_WAIT_ORDER: tact_wait = 15;
pub const TACT_N_WAITS: tact_wait = 16;
pub const TACT_BOUND_PREDECODE: tact_bound = 0;
pub const TACT_BOUND_DECODE: tact_bound = 1;
pub const TACT_BOUND_DSB: tact_bound = 2;
pub const TACT_BOUND_LSD: tact_bound = 3;
pub const TACT_BOUND_ISSUE: tact_bound = 4;
pub const TACT_BOUND_PORTS: tact_bound = 5;
pub const TACT_BOUND_PRECEDENCE: tact_bound = 6;
pub const TACT_BOUND_DIVIDER: tact_bound = 7;
pub const TACT_BOUND_STORES: tact_bound = 8;
pub const TACT_BOUND_STACK_SYNC: tact_bound = 9;
pub const TACT_BOUND_FORWARDING: tact_bound = 10;
pub const TACT_BOUND_BLOCKED: tact_bound = 11;
pub const TACT_BOUND_MICROCODE: tact_bound = 12;
pub const TACT_BOUND_BINDING: tact_bound = 13;
pub const TACT_BOUND_LOADS: tact_bound = 14;
pub const TACT_N_BOUNDS: tact_bound = 15;
pub const TACT_MAX_BOUNDS: c_int = 32;
pub const TACT_RULE_RATIO: tact_rule = 0;
pub const TACT_RULE_CEILING: tact_rule = 1;
pub const TACT_RULE_COPIES: tact_rule = 2;
pub const TACT_RULE_TABLE: tact_rule = 3;
pub const TACT_N_RULES: tact_rule = 4;
pub const TACT_COUNTED_CYCLES: tact_counted = 0;
pub const TACT_COUNTED_UOPS: tact_counted = 1;
pub const TACT_COUNTED_LINES: tact_counted = 2;
pub const TACT_COUNTED_WIDE_UOPS: tact_counted = 3;
pub const TACT_COUNTED_INSNS: tact_counted = 4;
pub const TACT_COUNTED_COMPLEX_INSNS: tact_counted = 5;
pub const TACT_COUNTED_BYTES: tact_counted = 6;
pub const TACT_COUNTED_LOADS: tact_counted = 7;
pub const TACT_N_COUNTED: tact_counted = 8;
pub const TACT_SIM_NONE: tact_sim_method = 0;
pub const TACT_SIM_REPEATS: tact_sim_method = 1;
pub const TACT_SIM_SETTLED: tact_sim_method = 2;
pub const TACT_SIM_MEAN: tact_sim_method = 3;
pub const TACT_N_SIM_METHODS: tact_sim_method = 4;
pub const TACT_STREAM_FETCHES: c_int = 4;
pub const TACT_STALL_FRONT_END: tact_stall = 0;
pub const TACT_STALL_OPERANDS: tact_stall = 1;
pub const TACT_STALL_LOADS: tact_stall = 2;
pub const TACT_STALL_PORTS: tact_stall = 3;
pub const TACT_STALL_BRANCH: tact_stall = 4;
pub const TACT_STALL_EXECUTION: tact_stall = 5;
pub const TACT_STALL_STORES: tact_stall = 6;
pub const TACT_STALL_LOCKED: tact_stall = 7;
pub const TACT_STALL_SERIALIZING: tact_stall = 8;
pub const TACT_STALL_STRINGS: tact_stall = 9;
pub const TACT_N_STALLS: tact_stall = 10;
pub const TACT_MAX_STALLS: c_int = 16;
pub const TACT_TRACE_FULL: tact_trace_mode = 1;
pub const TACT_TRACE_COUNT: tact_trace_mode = 2;
pub const TACT_TRACE_BEGIN: tact_trace_event_kind = 1;
pub const TACT_TRACE_EXEC: tact_trace_event_kind = 2;
pub const TACT_TRACE_COUNTED: tact_trace_event_kind = 3;
pub const TACT_TRACE_NATIVE: tact_trace_event_kind = 4;
pub const TACT_TRACE_ON: tact_trace_event_kind = 5;
pub const TACT_TRACE_OFF: tact_trace_event_kind = 6;
pub const TACT_TRACE_END: tact_trace_event_kind = 7;
pub const TACT_TRACE_WINDOW: tact_trace_event_kind = 8;
pub const TACT_TRACE_TIME: tact_trace_event_kind = 9;
pub const TACT_TRACE_CALL: tact_trace_event_kind = 10;
pub const TACT_TRACE_CALLEE: tact_trace_event_kind = 11;
pub const TACT_TRACE_NO_WINDOW: tact_trace_part = 0;
pub const TACT_TRACE_WARMING: tact_trace_part = 1;
pub const TACT_TRACE_WINDOWED: tact_trace_part = 2;
pub const TACT_TRACE_COOLING: tact_trace_part = 3;
pub const TACT_TRACE_MAX_CALLEE: c_int = 1000000;
pub const TACT_RESULT_FUNCTION: tact_result_kind = 0;
pub const TACT_RESULT_BLOCK: tact_result_kind = 1;
pub const TACT_RESULT_LINE: tact_result_kind = 2;
pub const TACT_RESULT_THREAD: tact_result_kind = 3;
pub const TACT_N_RESULT_KINDS: tact_result_kind = 4;
pub const TACT_RESULT_WITH_LINES: tact_result_part = 1;
pub const TACT_RESULT_WITH_INSNS: tact_result_part = 2;
pub const TACT_RESULT_WITH_CALLS: tact_result_part = 4;
pub const TACT_CLASSIFY_MAX_TOPICS: c_int = 32;
pub const TACT_CLASSIFY_MAX_WORDS: c_int = 256;
pub const TACT_CLASSIFY_MAX_BAGS: c_int = 16777216;
pub const TACT_CLASSIFY_NAME_SIZE: c_int = 64;
pub const TACT_CLASSIFY_PORTS_SIZE: c_int = 36;
pub const TACT_RUNG_AUTO: tact_rung = 0;
pub const TACT_RUNG_RDPMC: tact_rung = 1;
pub const TACT_RUNG_PERF: tact_rung = 2;
pub const TACT_RUNG_APERF: tact_rung = 3;
pub const TACT_RUNG_TSC: tact_rung = 4;
pub const TACT_MEASURE_OK: tact_measure_status = 0;
pub const TACT_MEASURE_DECODE: tact_measure_status = 1;
pub const TACT_MEASURE_TOO_LONG: tact_measure_status = 2;
pub const TACT_MEASURE_REFUSED: tact_measure_status = 3;
pub const TACT_MEASURE_UNMAPPABLE: tact_measure_status = 4;
pub const TACT_MEASURE_PAGES: tact_measure_status = 5;
pub const TACT_MEASURE_PROTECTION: tact_measure_status = 6;
pub const TACT_MEASURE_ILLEGAL: tact_measure_status = 7;
pub const TACT_MEASURE_ARITHMETIC: tact_measure_status = 8;
pub const TACT_MEASURE_TRAP: tact_measure_status = 9;
pub const TACT_MEASURE_OWN_CODE: tact_measure_status = 10;
pub const TACT_MEASURE_TIMEOUT: tact_measure_status = 11;
pub const TACT_MEASURE_CRASHED: tact_measure_status = 12;
pub const TACT_MEASURE_NO_COUNTER: tact_measure_status = 13;
pub const TACT_MEASURE_UNSTABLE: tact_measure_status = 14;
pub const TACT_MEASURE_DISTURBED: tact_measure_status = 15;
pub const TACT_MEASURE_UNCONFIRMED: tact_measure_status = 16;
pub const TACT_N_MEASURE_STATUS: tact_measure_status = 17;
pub const TACT_MFLAG_CROSSES_LINE: tact_measure_flag = 1;
pub const TACT_MFLAG_ALIAS_PAGE: tact_measure_flag = 2;
pub const TACT_MFLAG_FORWARDS: tact_measure_flag = 4;
pub const TACT_MFLAG_PARTIAL: tact_measure_flag = 8;
pub const TACT_MFLAG_RIP: tact_measure_flag = 16;
pub const TACT_MFLAG_X87: tact_measure_flag = 32;
pub const TACT_MFLAG_VEX: tact_measure_flag = 64;
pub const TACT_MFLAG_MANY_PAGES: tact_measure_flag = 128;
pub const TACT_MFLAG_MODES: tact_measure_flag = 256;
pub const TACT_MFLAG_SHORT: tact_measure_flag = 512;
pub const TACT_MFLAG_COMPENSATED: tact_measure_flag = 1024;
pub const TACT_MFLAG_STACK_FAULT: tact_measure_flag = 2048;
pub const TACT_MFLAG_WALKS: tact_measure_flag = 4096;
pub const TACT_MEASURE_FLAGS_SIZE: c_int = 33;
pub const TACT_CONTENTS_POINTER: tact_contents = 0;
pub const TACT_CONTENTS_ZERO: tact_contents = 1;
pub const TACT_CONTENTS_INT: tact_contents = 2;
pub const TACT_CONTENTS_FLOAT: tact_contents = 3;
pub const TACT_VECTORS_ORDINARY: tact_vectors = 0;
pub const TACT_VECTORS_ZERO: tact_vectors = 1;
pub const TACT_MEASURE_LOOP_BYTES: c_int = 9;
pub const TACT_STORE_CREATE: tact_store_flag = 1;
pub const TACT_STORE_READONLY: tact_store_flag = 2;
pub const TACT_STORE_NAME_MAX: c_int = 63;
pub const TACT_CLEAN_UNKNOWN: tact_clean = 0;
pub const TACT_CLEAN_YES: tact_clean = 1;
pub const TACT_CLEAN_NO: tact_clean = 2;
pub const TACT_COUNT_BLOCKS: tact_count_kind = 0;
pub const TACT_COUNT_APPS: tact_count_kind = 1;
pub const TACT_COUNT_CATEGORIES: tact_count_kind = 2;
pub const TACT_COUNT_MEASUREMENTS: tact_count_kind = 3;
pub const TACT_COUNT_PREDICTIONS: tact_count_kind = 4;
pub const TACT_COUNT_HOSTS: tact_count_kind = 5;
pub const TACT_N_COUNT_KINDS: tact_count_kind = 6;
pub const TACT_EMULATOR_SIZE: c_int = 256;
pub const TACT_CHECK_HYPERVISOR: tact_check_id = 0;
pub const TACT_CHECK_SMT: tact_check_id = 1;
pub const TACT_CHECK_TSC: tact_check_id = 2;
pub const TACT_CHECK_FREQUENCY: tact_check_id = 3;
pub const TACT_CHECK_VECTOR: tact_check_id = 4;
pub const TACT_CHECK_PARANOID: tact_check_id = 5;
pub const TACT_CHECK_CYCLES: tact_check_id = 6;
pub const TACT_CHECK_RDPMC: tact_check_id = 7;
pub const TACT_CHECK_LBR: tact_check_id = 8;
pub const TACT_CHECK_APERF: tact_check_id = 9;
pub const TACT_CHECK_SECCOMP: tact_check_id = 10;
pub const TACT_CHECK_PTRACE: tact_check_id = 11;
pub const TACT_CHECK_MEMFD: tact_check_id = 12;
pub const TACT_CHECK_FIXED_MAP: tact_check_id = 13;
pub const TACT_CHECK_MMAP_MIN: tact_check_id = 14;
pub const TACT_CHECK_HUGE_PAGES: tact_check_id = 15;
pub const TACT_CHECK_QEMU: tact_check_id = 16;
pub const TACT_CHECK_QEMU_PLUGIN: tact_check_id = 17;
pub const TACT_CHECK_LLVM_MCA: tact_check_id = 18;
pub const TACT_CHECK_AS: tact_check_id = 19;
pub const TACT_CHECK_LLVM: tact_check_id = 20;
pub const TACT_N_CHECKS: tact_check_id = 21;
pub const TACT_CHECK_GOOD: tact_check_state = 0;
pub const TACT_CHECK_DEGRADED: tact_check_state = 1;
pub const TACT_CHECK_MISSING: tact_check_state = 2;
pub const TACT_INPUT_AUTO: tact_input_kind = 0;
pub const TACT_INPUT_HEX: tact_input_kind = 1;
pub const TACT_INPUT_CSV: tact_input_kind = 2;
pub const TACT_INPUT_ASM: tact_input_kind = 3;
pub const TACT_INPUT_ELF: tact_input_kind = 4;
pub const TACT_INPUT_RAW: tact_input_kind = 5;
pub const TACT_INPUT_ALL_PATHS: c_int = -1;
pub const TACT_INPUT_MAX_PATHS: c_int = 64;
pub const TACT_MCA_PORTS: c_int = 10;
pub const TACT_MCA_READS: c_int = 3;
pub const TACT_MCA_MICRO_OPS: tact_mca_kind = 0;
pub const TACT_MCA_LATENCY: tact_mca_kind = 1;
pub const TACT_MCA_READ_ADVANCE: tact_mca_kind = 2;
pub const TACT_MCA_PORT_CYCLES: tact_mca_kind = 3;
pub const TACT_MCA_DISPATCH_WIDTH: tact_mca_kind = 4;
pub const TACT_MCA_REORDER_BUFFER: tact_mca_kind = 5;
pub const TACT_MCA_N_KINDS: tact_mca_kind = 6;
pub const TACT_MCA_NO_ALIAS: tact_mca_memory = 0;
pub const TACT_MCA_ALIAS: tact_mca_memory = 1;
pub const TACT_MCA_ADDRESSES: tact_mca_memory = 2;
pub const TACT_MIX_HYBRID: tact_mix_method = 0;
pub const TACT_MIX_EBS: tact_mix_method = 1;
pub const TACT_MIX_LBR: tact_mix_method = 2;
pub const TACT_MIX_EXACT: tact_mix_method = 3;
pub const TACT_MIX_WINDOWS: tact_mix_method = 4;
pub const TACT_N_MIX_METHODS: tact_mix_method = 5;
pub const TACT_MIX_RUNG_EXACT: tact_mix_rung = 0;
pub const TACT_MIX_RUNG_LBR: tact_mix_rung = 1;
pub const TACT_MIX_RUNG_STACKS: tact_mix_rung = 2;
pub const TACT_MIX_RUNG_AMD: tact_mix_rung = 3;
pub const TACT_MIX_RUNG_PRECISE: tact_mix_rung = 4;
pub const TACT_MIX_RUNG_INSTRUCTIONS: tact_mix_rung = 5;
pub const TACT_MIX_RUNG_CYCLES: tact_mix_rung = 6;
pub const TACT_MIX_RUNG_CLOCK: tact_mix_rung = 7;
pub const TACT_MIX_RUNG_NONE: tact_mix_rung = 8;
pub const TACT_MIX_RUNG_WINDOWS: tact_mix_rung = 9;
pub const TACT_N_MIX_RUNGS: tact_mix_rung = 10;
pub const TACT_MAX_MIX_RUNGS: c_int = 16;
pub const TACT_MIX_BY_THREAD: tact_mix_key = 0;
pub const TACT_MIX_BY_MODULE: tact_mix_key = 1;
pub const TACT_MIX_BY_FUNCTION: tact_mix_key = 2;
pub const TACT_MIX_BY_BLOCK: tact_mix_key = 3;
pub const TACT_MIX_BY_LINE: tact_mix_key = 4;
pub const TACT_MIX_BY_MNEMONIC: tact_mix_key = 5;
pub const TACT_MIX_BY_FORM: tact_mix_key = 6;
pub const TACT_MIX_BY_EXTENSION: tact_mix_key = 7;
pub const TACT_MIX_BY_CATEGORY: tact_mix_key = 8;
pub const TACT_MIX_BY_PACKING: tact_mix_key = 9;
pub const TACT_MIX_BY_WIDTH: tact_mix_key = 10;
pub const TACT_MIX_BY_MEMORY: tact_mix_key = 11;
pub const TACT_MIX_BY_TAXONOMY: tact_mix_key = 12;
pub const TACT_MIX_BY_METHOD: tact_mix_key = 13;
pub const TACT_MIX_BY_OPERANDS: tact_mix_key = 14;
pub const TACT_MIX_BY_IMMEDIATE: tact_mix_key = 15;
pub const TACT_MIX_BY_MASKING: tact_mix_key = 16;
pub const TACT_MIX_BY_LOCK: tact_mix_key = 17;
pub const TACT_MIX_BY_LATENCY: tact_mix_key = 18;
pub const TACT_MIX_BY_FLOPS: tact_mix_key = 19;
pub const TACT_MIX_BY_BYTES: tact_mix_key = 20;
pub const TACT_MIX_BY_LENGTH: tact_mix_key = 21;
pub const TACT_MIX_BY_RING: tact_mix_key = 22;
pub const TACT_MIX_BY_PROCESS: tact_mix_key = 23;
pub const TACT_MIX_BY_INSTRUCTION: tact_mix_key = 24;
pub const TACT_N_MIX_KEYS: tact_mix_key = 25;
pub const TACT_MIX_MAX_KEYS: c_int = 6;
pub const TACT_MIX_MIN_PROGRAMS: c_int = 3;
pub const TACT_MODEL_STREAM: tact_model_trait = 1;
pub const TACT_MODEL_BATCH: tact_model_trait = 2;
pub const TACT_MODEL_PROGRAM: tact_model_trait = 4;
pub const TACT_MODEL_TABLES: tact_model_trait = 8;
pub const TACT_MODEL_PARAMS: tact_model_trait = 16;
pub const TACT_MODEL_BOUNDS: tact_model_trait = 32;
pub const TACT_TUNE_DIRECT: tact_tune_method = 0;
pub const TACT_TUNE_SURROGATE: tact_tune_method = 1;
pub const TACT_TUNE_SIMPLE: tact_tune_method = 2;
pub const TACT_TUNE_RANDOM: tact_tune_method = 3;
pub const TACT_TUNE_BANDIT: tact_tune_method = 4;
pub const TACT_TUNE_LATENCY: tact_tune_what = 1;
pub const TACT_TUNE_UOPS: tact_tune_what = 2;
pub const TACT_TUNE_PORTS: tact_tune_what = 4;
pub const TACT_TUNE_ADVANCE: tact_tune_what = 8;
pub const TACT_TUNE_GLOBALS: tact_tune_what = 16;
pub const TACT_TUNE_TRAIN: tact_tune_part = 0;
pub const TACT_TUNE_VALIDATION: tact_tune_part = 1;
pub const TACT_TUNE_TEST: tact_tune_part = 2;
pub const TACT_TUNE_N_PARTS: tact_tune_part = 3;
pub const TACT_TUNE_PROOFS: c_int = 3;
pub const TACT_TUNE_VALUES: c_int = 12;
pub const TACT_VIEW_SCHEDULING: c_int = 31;
pub const TACT_VIEW_PREDICTION: tact_view_kind = 0;
pub const TACT_VIEW_SIMULATION: tact_view_kind = 1;
pub const TACT_VIEW_PAGE: tact_view_kind = 2;
pub const TACT_VIEW_EXPLANATION: tact_view_kind = 3;
pub const TACT_VIEW_GRAPH_SVG: tact_view_kind = 4;
pub const TACT_VIEW_GRAPH_DOT: tact_view_kind = 5;
pub const TACT_VIEW_CHART: tact_view_kind = 6;
pub const TACT_VIEW_PERFETTO: tact_view_kind = 7;
pub const TACT_VIEW_KONATA: tact_view_kind = 8;
pub const TACT_N_VIEWS: tact_view_kind = 9;

#[repr(C)]
pub struct tact_isa {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct tact_arch {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct tact_block {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct tact_advisor {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct tact_predictor {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct tact_simulator {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct tact_stream {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct tact_trace {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct tact_cycles {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct tact_result {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct tact_diff {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct tact_symbols {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct tact_analysis {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct tact_bags {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct tact_classifier {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct tact_harness {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct tact_rounds {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct tact_store {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct tact_store_iter {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct tact_store_blocks {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct tact_store_predictions {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct tact_collect {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct tact_remarks {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct tact_input {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct tact_mca_params {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct tact_mca {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct tact_mca_code {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct tact_mix_rule {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct tact_mix {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct tact_mix_taxonomy {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct tact_mix_pivot {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct tact_mix_cross {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct tact_mix_diff {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct tact_mix_costs {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct tact_mix_trainer {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct tact_estimator {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct tact_tuner {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_diag {
    pub line: u64,
    pub offset: u64,
    pub text: [c_char; 240],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_operand {
    pub kind: u8,
    pub access: u8,
    pub number: u8,
    pub explicit_operand: bool,
    pub bits: u16,
    pub reg: u8,
    pub first_byte: u8,
    pub implicit_pointer: bool,
    pub role: u8,
    pub base: u8,
    pub index: u8,
    pub scale: u8,
    pub segment: u8,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_insn {
    pub form: u16,
    pub mnemonic: u16,
    pub attributes: u32,
    pub length: u8,
    pub opcode_offset: u8,
    pub immediate_bits: u8,
    pub condition: u8,
    pub flags_read: u8,
    pub flags_written: u8,
    pub value_effect: u8,
    pub n_operands: u8,
    pub flow: u8,
    pub pointer_reg: u8,
    pub pointer_change: i16,
    pub base_change: i16,
    pub setting: u16,
    pub displacement: i64,
    pub immediate: i64,
    pub operand: [tact_operand; 10],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_form {
    pub size: usize,
    pub name: [c_char; 64],
    pub mnemonic: [c_char; 32],
    pub operands: [c_char; 256],
    pub category: [c_char; 16],
    pub code_size: u8,
    pub code: [u8; 15],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_cpu {
    pub size: usize,
    pub arch: *const tact_arch,
    pub nearest: *const tact_arch,
    pub line: [c_char; 40],
    pub core: [c_char; 40],
    pub vendor: [c_char; 16],
    pub relation: [c_char; 48],
    pub brand: [c_char; 64],
    pub family: c_uint,
    pub model: c_uint,
    pub stepping: c_uint,
    pub is_level: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_param {
    pub size: usize,
    pub name: [c_char; 40],
    pub value: [c_char; 120],
    pub help: [c_char; 160],
    pub from: [c_char; 16],
    pub source: [c_char; 160],
    pub is_unmeasured: bool,
    pub models: [c_char; 16],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_port_use {
    pub ports: u32,
    pub uops: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_latency {
    pub from: u8,
    pub from_number: u8,
    pub to: u8,
    pub to_number: u8,
    pub cycles: u16,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_form_info {
    pub size: usize,
    pub situation: tact_situation,
    pub uops: c_uint,
    pub issued: c_uint,
    pub mite: c_uint,
    pub ms: c_uint,
    pub divider: c_uint,
    pub cycles: c_uint,
    pub needs_complex_decoder: bool,
    pub is_eliminated: bool,
    pub breaks_dependence: bool,
    pub fuses_with: u16,
    pub n_port_uses: u32,
    pub n_latencies: u32,
    pub port_uses: [tact_port_use; 32],
    pub latencies: [tact_latency; 128],
    pub source: [c_char; 160],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_block_options {
    pub size: usize,
    pub mode: tact_mode,
    pub init: tact_init,
    pub alignment: c_uint,
    pub paper: bool,
    pub memory: tact_memory,
    pub alias: tact_alias,
    pub moving: u32,
    pub setting: u16,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_insn_cost {
    pub size: usize,
    pub notes: c_uint,
    pub uops: c_uint,
    pub issued: c_uint,
    pub mite: c_uint,
    pub ms: c_uint,
    pub divider: c_uint,
    pub port: [f64; 32],
    pub exclusive: c_uint,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_advice_options {
    pub size: usize,
    pub least_gain: f64,
    pub predict: Option<unsafe extern "C" fn(arg: *mut c_void, block: *mut tact_block, cycles: *mut f64) -> c_int>,
    pub arg: *mut c_void,
    pub is_slow: bool,
    pub address: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_advice {
    pub size: usize,
    pub name: *const c_char,
    pub text: *const c_char,
    pub assumes: *const c_char,
    pub before: f64,
    pub after: f64,
    pub insns: *const u32,
    pub n_insns: usize,
    pub code: *const u8,
    pub code_size: usize,
    pub alignment: c_uint,
    pub copies: c_uint,
    pub changes: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_sim_uop {
    pub iteration: u64,
    pub insn: u32,
    pub uop: u8,
    pub slot: u8,
    pub source: u8,
    pub port: i8,
    pub eliminated: bool,
    pub delivered: i64,
    pub issued: i64,
    pub ready: i64,
    pub dispatched: i64,
    pub executed: i64,
    pub retired: i64,
    pub front_wait: u8,
    pub issue_wait: u8,
    pub operand_wait: u8,
    pub port_wait: u8,
    pub wait_insn: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_predict_options {
    pub size: usize,
    pub bounds: u32,
    pub simple_predecoder: bool,
    pub simple_decoder: bool,
    pub exact_ports: bool,
    pub stop_above: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_prediction {
    pub size: usize,
    pub cycles_per_iteration: f64,
    pub coverage: f64,
    pub mode: tact_mode,
    pub applies: u32,
    pub bottlenecks: u32,
    pub is_stopped: bool,
    pub bound: [f64; 32],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_derivation {
    pub size: usize,
    pub rule: tact_rule,
    pub counted: tact_counted,
    pub amount: c_uint,
    pub per: c_uint,
    pub each: c_uint,
    pub copies: c_uint,
    pub cycles_per_iteration: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_shares {
    pub size: usize,
    pub share: [f64; 32],
    pub set: u32,
    pub without: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_port_contention {
    pub size: usize,
    pub ports: c_uint,
    pub uops: f64,
    pub insns: *const u32,
    pub n_insns: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_chain_link {
    pub insn: u32,
    pub latency: c_uint,
    pub iterations: c_uint,
    pub from_kind: u8,
    pub to_kind: u8,
    pub from_reg: u8,
    pub to_reg: u8,
    pub input: u8,
    pub output: u8,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_chain {
    pub size: usize,
    pub cycles_per_iteration: f64,
    pub latency: c_uint,
    pub iterations: c_uint,
    pub links: *const tact_chain_link,
    pub n_links: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_criticality {
    pub size: usize,
    pub slack: f64,
    pub saved: f64,
    pub is_erasable: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_blocked_load {
    pub load: u32,
    pub store: u32,
    pub iterations: c_uint,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_edge {
    pub from: u32,
    pub to: u32,
    pub latency: c_uint,
    pub iterations: c_uint,
    pub kind: u8,
    pub reg: u8,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_front_end_group {
    pub first_insn: u32,
    pub n_insns: u32,
    pub cycles: c_uint,
    pub lcp_cycles: c_uint,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_job {
    pub size: usize,
    pub code: *const u8,
    pub code_size: usize,
    pub status: c_int,
    pub prediction: tact_prediction,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_sim_options {
    pub size: usize,
    pub max_cycles: u64,
    pub min_iterations: u64,
    pub on_uop: Option<unsafe extern "C" fn(arg: *mut c_void, uop: *const tact_sim_uop) -> c_int>,
    pub arg: *mut c_void,
    pub only_repeats: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_sim_insn {
    pub size: usize,
    pub by_source: [f64; 16],
    pub issued: f64,
    pub port: [f64; 32],
    pub divider: f64,
    pub wait_operand: f64,
    pub wait_port: f64,
    pub spent: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_simulation {
    pub size: usize,
    pub cycles_per_iteration: f64,
    pub coverage: f64,
    pub mode: tact_mode,
    pub repeats: bool,
    pub scheduling: bool,
    pub period: u64,
    pub cycles: u64,
    pub iterations: u64,
    pub source: tact_uop_source,
    pub bottlenecks: u32,
    pub bounds: *const tact_prediction,
    pub stopped: bool,
    pub method: tact_sim_method,
    pub uncertainty: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_stream_access {
    pub address: u64,
    pub insn: u32,
    pub size: u16,
    pub extra: u16,
    pub is_store: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_stream_fetch {
    pub line: u64,
    pub from: u8,
    pub to: u8,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_stream_trip {
    pub line: u64,
    pub level: u8,
    pub page: u8,
    pub n_fetched: u8,
    pub written: u8,
    pub fetched: [tact_stream_fetch; 4],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_stream_execution {
    pub size: usize,
    pub number: u32,
    pub address: u64,
    pub accesses: *const tact_stream_access,
    pub n_accesses: usize,
    pub is_mispredicted: bool,
    pub was_executed: bool,
    pub trips: *const tact_stream_trip,
    pub is_decoded: bool,
    pub is_redirected: bool,
    pub fetch_delay: u16,
    pub code_lines: u64,
    pub repeat_cycles: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_stream_totals {
    pub size: usize,
    pub cycles: u64,
    pub instructions: u64,
    pub blocks: u64,
    pub blocks_retired: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_stream_block {
    pub size: usize,
    pub executions: u64,
    pub uops: [u64; 32],
    pub stalls: [u64; 16],
    pub cycles: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_trace_region {
    pub begin: u64,
    pub end: u64,
    pub file: *const c_char,
    pub is_excluded: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_trace_options {
    pub size: usize,
    pub mode: tact_trace_mode,
    pub plugin: *const c_char,
    pub qemu: *const c_char,
    pub cpu: *const c_char,
    pub path: *const c_char,
    pub regions: *const tact_trace_region,
    pub n_regions: usize,
    pub from: *const tact_trace_region,
    pub until: *const tact_trace_region,
    pub no_exec: bool,
    pub native: bool,
    pub milliseconds: u32,
    pub seed: u64,
    pub sysroot: *const c_char,
    pub arch: *const tact_arch,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_trace_block {
    pub isa: *const tact_isa,
    pub address: u64,
    pub code: *const u8,
    pub code_size: u32,
    pub n_insns: u32,
    pub last_offset: u32,
    pub number: u32,
    pub module: u32,
    pub is_open: bool,
    pub is_rep: bool,
    pub user: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_trace_module {
    pub size: usize,
    pub begin: u64,
    pub end: u64,
    pub offset: u64,
    pub path: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_trace_access {
    pub address: u64,
    pub insn: u16,
    pub is_store: bool,
    pub size: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_trace_event {
    pub size: usize,
    pub kind: tact_trace_event_kind,
    pub thread: u32,
    pub pid: u32,
    pub parent: u32,
    pub vcpu: u32,
    pub block: *mut tact_trace_block,
    pub count: u64,
    pub accesses: *const tact_trace_access,
    pub n_accesses: usize,
    pub text: *const c_char,
    pub window: tact_trace_part,
    pub span_ns: u64,
    pub user_ns: u64,
    pub system_ns: u64,
    pub hertz: u64,
    pub repeats: u64,
    pub is_descending: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_trace_summary {
    pub size: usize,
    pub words: u64,
    pub n_blocks: u32,
    pub n_threads: u32,
    pub n_programs: u32,
    pub n_native: u32,
    pub lost_threads: u32,
    pub lost_blocks: u64,
    pub is_attached: bool,
    pub has_ended: bool,
    pub wait_status: c_int,
    pub was_stopped: bool,
    pub first_native: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_cycles_options {
    pub size: usize,
    pub exact: bool,
    pub caches: bool,
    pub branches: bool,
    pub cache_bytes: [u64; 3],
    pub insns: bool,
    pub model: *const c_char,
    pub warm: bool,
    pub partial: bool,
    pub thorough: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_cycles_totals {
    pub size: usize,
    pub cycles: f64,
    pub instructions: u64,
    pub executions: u64,
    pub simulated: u64,
    pub unknown: u64,
    pub n_threads: u32,
    pub uops: [f64; 32],
    pub stalls: [f64; 16],
    pub accesses: u64,
    pub branches: u64,
    pub mispredicted: u64,
    pub misses: [u64; 3],
    pub error: f64,
    pub windows: u32,
    pub user_seconds: f64,
    pub hertz: f64,
    pub is_measured: bool,
    pub system_calls: u64,
    pub tlb_misses: u64,
    pub page_walks: u64,
    pub page_faults: u64,
    pub followed: u64,
    pub prefetches: u64,
    pub unknown_prefetches: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_cycles_block {
    pub size: usize,
    pub block: *const tact_trace_block,
    pub executions: u64,
    pub cycles: f64,
    pub uops: [f64; 32],
    pub stalls: [f64; 16],
    pub bound: f64,
    pub bottlenecks: u32,
    pub limits: u32,
    pub unknown: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_result_info {
    pub size: usize,
    pub arch: *const c_char,
    pub command: *const c_char,
    pub is_exact: bool,
    pub has_caches: bool,
    pub has_branches: bool,
    pub is_partial: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_result_row {
    pub size: usize,
    pub module: *const c_char,
    pub function: *const c_char,
    pub source: *const c_char,
    pub line: c_int,
    pub address: u64,
    pub isa: *const tact_isa,
    pub code: *const u8,
    pub code_size: u32,
    pub insns: *const f32,
    pub n_insns: u32,
    pub thread: u32,
    pub process: u32,
    pub executions: u64,
    pub instructions: u64,
    pub cycles: f64,
    pub uops: [f64; 32],
    pub stalls: [f64; 16],
    pub bound: f64,
    pub bottlenecks: u32,
    pub unknown: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_result_call {
    pub size: usize,
    pub parent: usize,
    pub depth: c_uint,
    pub module: *const c_char,
    pub function: *const c_char,
    pub calls: u64,
    pub instructions: u64,
    pub cycles: f64,
    pub self_: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_diff_row {
    pub size: usize,
    pub row: [usize; 2],
    pub function: usize,
    pub cycles: [f64; 2],
    pub executions: [u64; 2],
    pub instructions: [u64; 2],
    pub stalls: [[f64; 16]; 2],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_diff_insn {
    pub mnemonic: [c_char; 24],
    pub executed: [u64; 2],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_place {
    pub size: usize,
    pub module: *const c_char,
    pub function: *const c_char,
    pub address: u64,
    pub begin: u64,
    pub is_named: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_analysis_options {
    pub size: usize,
    pub arch: *const tact_arch,
    pub exact: bool,
    pub caches: bool,
    pub branches: bool,
    pub cache_bytes: [u64; 3],
    pub parts: c_uint,
    pub command: *const c_char,
    pub on_progress: Option<unsafe extern "C" fn(arg: *mut c_void, cycles: *const tact_cycles)>,
    pub arg: *mut c_void,
    pub partial: bool,
    pub thorough: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_classify_options {
    pub size: usize,
    pub topics: c_uint,
    pub alpha: f64,
    pub beta: f64,
    pub seed: u64,
    pub starts: c_uint,
    pub jobs: c_uint,
    pub report: Option<unsafe extern "C" fn(context: *mut c_void, done: f64)>,
    pub context: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_classifier_info {
    pub size: usize,
    pub arch: *const tact_arch,
    pub topics: c_uint,
    pub words: c_uint,
    pub alpha: f64,
    pub beta: f64,
    pub seed: u64,
    pub starts: c_uint,
    pub blocks: u64,
    pub bags: u64,
    pub uops: u64,
    pub perplexity: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_topic {
    pub size: usize,
    pub name: [c_char; 64],
    pub share: f64,
    pub load: f64,
    pub store: f64,
    pub scalar: f64,
    pub vector: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_label {
    pub size: usize,
    pub topic: c_int,
    pub uops: u64,
    pub unknown: u64,
    pub log_likelihood: f64,
    pub weight: [f64; 32],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_measure_options {
    pub size: usize,
    pub mode: tact_mode,
    pub init: tact_init,
    pub rung: tact_rung,
    pub pin: bool,
    pub cpu: c_int,
    pub pages: c_uint,
    pub max_pages: c_uint,
    pub passes: c_uint,
    pub samples: c_uint,
    pub timeout_ms: c_uint,
    pub max_spread: f64,
    pub memory: tact_contents,
    pub vectors: tact_vectors,
    pub wait_ms: c_uint,
    pub cpus: *const c_int,
    pub n_cpus: c_uint,
    pub no_namespaces: bool,
    pub state: *const c_char,
    pub noisy: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_measurement {
    pub size: usize,
    pub status: tact_measure_status,
    pub cycles_per_iteration: f64,
    pub spread: f64,
    pub kept: c_uint,
    pub dropped: c_uint,
    pub rung: tact_rung,
    pub mode: tact_mode,
    pub init: tact_init,
    pub flags: u32,
    pub low: c_uint,
    pub high: c_uint,
    pub n_pages: c_uint,
    pub reason: [c_char; 160],
    pub alignment: c_uint,
    pub memory: tact_contents,
    pub vectors: tact_vectors,
    pub cpu: c_int,
    pub disturbance: f64,
    pub rounds: c_uint,
    pub agree: c_uint,
    pub disturbed: c_uint,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_machine {
    pub size: usize,
    pub id: i64,
    pub vendor: [c_char; 16],
    pub brand: [c_char; 64],
    pub family: c_uint,
    pub model: c_uint,
    pub stepping: c_uint,
    pub microcode: [c_char; 24],
    pub is_virtual: bool,
    pub arch: [c_char; 16],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_store_import {
    pub size: usize,
    pub machine: i64,
    pub origin: *const c_char,
    pub version: *const c_char,
    pub flags: *const c_char,
    pub loop_code: *const u8,
    pub loop_size: usize,
    pub clean: tact_clean,
    pub has_spread: bool,
    pub host: *const c_char,
    pub kernel: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_store_prediction {
    pub size: usize,
    pub arch: *const c_char,
    pub model: *const c_char,
    pub version: *const c_char,
    pub mode: tact_mode,
    pub init: tact_init,
    pub status: *const c_char,
    pub cycles_per_iteration: f64,
    pub coverage: f64,
    pub bottlenecks: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_store_source {
    pub app: [c_char; 64],
    pub weight: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_store_category {
    pub classifier: [c_char; 64],
    pub arch: [c_char; 16],
    pub label: [c_char; 64],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_store_filter {
    pub size: usize,
    pub machine: *const c_char,
    pub arch: *const c_char,
    pub mode: tact_mode,
    pub has_init: bool,
    pub init: tact_init,
    pub app: *const c_char,
    pub classifier: *const c_char,
    pub model: *const c_char,
    pub version: *const c_char,
    pub is_by_code: bool,
    pub host: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_store_row {
    pub size: usize,
    pub code: *const u8,
    pub code_size: usize,
    pub machine: *const tact_machine,
    pub measurement: *const tact_measurement,
    pub version: *const c_char,
    pub block: i64,
    pub origin: *const c_char,
    pub flags: *const c_char,
    pub loop_code: *const u8,
    pub loop_size: usize,
    pub clean: tact_clean,
    pub has_spread: bool,
    pub sources: *const tact_store_source,
    pub n_sources: usize,
    pub category: *const c_char,
    pub host: *const c_char,
    pub kernel: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_store_block {
    pub size: usize,
    pub id: i64,
    pub code: *const u8,
    pub code_size: usize,
    pub sources: *const tact_store_source,
    pub n_sources: usize,
    pub categories: *const tact_store_category,
    pub n_categories: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_merge {
    pub size: usize,
    pub blocks: i64,
    pub sources: i64,
    pub categories: i64,
    pub measurements: i64,
    pub predictions: i64,
    pub stores: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_merge_options {
    pub size: usize,
    pub mixes_cores: bool,
    pub without_hosts: *const *const c_char,
    pub n_without_hosts: usize,
    pub on_store: Option<unsafe extern "C" fn(context: *mut c_void, i: usize, status: c_int, diag: *const tact_diag)>,
    pub context: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_count {
    pub size: usize,
    pub app: *const c_char,
    pub classifier: *const c_char,
    pub category: *const c_char,
    pub machine: *const c_char,
    pub model: *const c_char,
    pub version: *const c_char,
    pub arch: *const c_char,
    pub mode: *const c_char,
    pub init: *const c_char,
    pub status: *const c_char,
    pub n: i64,
    pub weight: f64,
    pub host: *const c_char,
    pub kernel: *const c_char,
    pub microcode: *const c_char,
    pub rung: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_collect_options {
    pub size: usize,
    pub no_branch: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_collect_block {
    pub size: usize,
    pub code: *const u8,
    pub code_size: usize,
    pub address: u64,
    pub module: *const c_char,
    pub function: *const c_char,
    pub count: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_collect_summary {
    pub size: usize,
    pub n_blocks: u64,
    pub n_insns: u64,
    pub executed_blocks: u64,
    pub executed_insns: u64,
    pub n_undecoded: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_confidence {
    pub size: usize,
    pub has_interval: bool,
    pub is_borrowed: bool,
    pub level: f64,
    pub low: f64,
    pub high: f64,
    pub kind: *const c_char,
    pub learned_on: *const c_char,
    pub rows: usize,
    pub n_known: usize,
    pub n_insns: usize,
    pub reason: [c_char; 320],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_host {
    pub size: usize,
    pub vendor: [c_char; 16],
    pub brand: [c_char; 64],
    pub family: c_uint,
    pub model: c_uint,
    pub stepping: c_uint,
    pub microcode: [c_char; 24],
    pub is_virtual: bool,
    pub hypervisor: [c_char; 16],
    pub n_online: c_uint,
    pub n_allowed: c_uint,
    pub n_cores: c_uint,
    pub threads_per_core: c_uint,
    pub has_invariant_tsc: bool,
    pub tsc_hz: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_check {
    pub size: usize,
    pub state: tact_check_state,
    pub is_vital: bool,
    pub name: *const c_char,
    pub title: *const c_char,
    pub found: [c_char; 160],
    pub effect: *const c_char,
    pub fix: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_excerpt {
    pub size: usize,
    pub column: u64,
    pub length: u64,
    pub line: [c_char; 160],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_input_options {
    pub size: usize,
    pub kind: tact_input_kind,
    pub syntax: tact_syntax,
    pub function: *const c_char,
    pub addr_begin: u64,
    pub addr_end: u64,
    pub r#loop: c_int,
    pub isa: *const tact_isa,
    pub is_mangled: bool,
    pub all_functions: bool,
    pub skip_unknown: bool,
    pub excerpt: *mut tact_excerpt,
    pub compiler: *const *const c_char,
    pub path: c_int,
    pub is_whole: bool,
    pub is_marked: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_given_latency {
    pub begin: usize,
    pub end: usize,
    pub cycles: c_uint,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_given_setting {
    pub at: usize,
    pub setting: u16,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_region {
    pub size: usize,
    pub isa: *const tact_isa,
    pub code: *const u8,
    pub code_size: usize,
    pub address: u64,
    pub line: u64,
    pub name: *const c_char,
    pub function: *const c_char,
    pub source: *const c_char,
    pub text: *const c_char,
    pub text_size: usize,
    pub is_loop: bool,
    pub is_candidate: bool,
    pub remarks: *const tact_remarks,
    pub symbol: *const c_char,
    pub inlined: *const c_char,
    pub member: *const c_char,
    pub alignment: c_uint,
    pub moving: u32,
    pub latencies: *const tact_given_latency,
    pub n_latencies: usize,
    pub setting: u16,
    pub settings: *const tact_given_setting,
    pub n_settings: usize,
    pub placement: c_uint,
    pub source_path: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_source_line {
    pub size: usize,
    pub path: *const c_char,
    pub function: *const c_char,
    pub line: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_mca_info {
    pub size: usize,
    pub name: *const c_char,
    pub llvm_name: *const c_char,
    pub help: *const c_char,
    pub global: bool,
    pub count: c_uint,
    pub low: c_int,
    pub high: c_int,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_mca_event {
    pub iteration: u64,
    pub insn: u32,
    pub micro_ops: u32,
    pub dispatched: i64,
    pub ready: i64,
    pub issued: i64,
    pub executed: i64,
    pub retired: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_mca_options {
    pub size: usize,
    pub params: *const tact_mca_params,
    pub iterations: c_uint,
    pub steady: bool,
    pub memory: tact_mca_memory,
    pub on_insn: Option<unsafe extern "C" fn(arg: *mut c_void, event: *const tact_mca_event)>,
    pub arg: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_mca_result {
    pub size: usize,
    pub cycles_per_iteration: f64,
    pub coverage: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_mix_options {
    pub size: usize,
    pub method: tact_mix_method,
    pub rule: *const tact_mix_rule,
    pub root: *const c_char,
    pub files: *const *const c_char,
    pub n_files: usize,
    pub is_mangled: bool,
    pub kallsyms: *const c_char,
    pub kcore: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_mix_summary {
    pub size: usize,
    pub rung: tact_mix_rung,
    pub method: tact_mix_method,
    pub samples: u64,
    pub ebs_samples: u64,
    pub lbr_samples: u64,
    pub branches: u64,
    pub lost: u64,
    pub throttled: u64,
    pub unknown_records: u64,
    pub bad_records: u64,
    pub outside_samples: u64,
    pub streams: u64,
    pub outside_streams: u64,
    pub impossible_streams: u64,
    pub newest_impossible: f64,
    pub other_impossible: f64,
    pub newest_dropped: bool,
    pub blocks: usize,
    pub biased_blocks: usize,
    pub modules: usize,
    pub threads: usize,
    pub missing_modules: usize,
    pub blocks_by_lbr: usize,
    pub blocks_by_ebs: usize,
    pub instructions: f64,
    pub instructions_by_lbr: f64,
    pub is_relative: bool,
    pub flow_error: f64,
    pub flow_blocks: u64,
    pub flow_outliers: u64,
    pub bytes: u64,
    pub command: *const c_char,
    pub ebs_event: *const c_char,
    pub lbr_event: *const c_char,
    pub ebs_period: u64,
    pub lbr_period: u64,
    pub recordings: usize,
    pub windows: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_mix_missing {
    pub size: usize,
    pub path: *const c_char,
    pub why: *const c_char,
    pub samples: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_mix_block {
    pub size: usize,
    pub module: *const c_char,
    pub function: *const c_char,
    pub address: u64,
    pub code: *const u8,
    pub code_size: usize,
    pub length: c_uint,
    pub executions: f64,
    pub error: f64,
    pub ebs: f64,
    pub lbr: f64,
    pub ebs_samples: u64,
    pub lbr_streams: u64,
    pub bias: f64,
    pub method: tact_mix_method,
    pub is_biased: bool,
    pub is_loop: bool,
    pub next: u64,
    pub target: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_mix_filter {
    pub key: tact_mix_key,
    pub pattern: *const c_char,
    pub is_negated: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_mix_pivot_options {
    pub size: usize,
    pub keys: [tact_mix_key; 6],
    pub n_keys: usize,
    pub filters: *const tact_mix_filter,
    pub n_filters: usize,
    pub taxonomy: *const tact_mix_taxonomy,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_mix_row {
    pub size: usize,
    pub key: [*const c_char; 6],
    pub executions: f64,
    pub share: f64,
    pub error: f64,
    pub low: f64,
    pub high: f64,
    pub entries: f64,
    pub flops: f64,
    pub code: *const u8,
    pub code_size: usize,
    pub address: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_mix_figures {
    pub size: usize,
    pub instructions: f64,
    pub vectorisation: f64,
    pub flops_per_instruction: f64,
    pub branch_density: f64,
    pub load_density: f64,
    pub store_density: f64,
    pub instructions_per_block: f64,
    pub simd_density: f64,
    pub packed_flops: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_mix_diff_row {
    pub size: usize,
    pub key: [*const c_char; 6],
    pub executions: [f64; 2],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_mix_diff_totals {
    pub size: usize,
    pub executions: [f64; 2],
    pub error: f64,
    pub is_scaled: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_mix_cost {
    pub size: usize,
    pub module: *const c_char,
    pub function: *const c_char,
    pub address: u64,
    pub code: *const u8,
    pub code_size: usize,
    pub length: c_uint,
    pub executions: f64,
    pub cycles: f64,
    pub total: f64,
    pub gain: f64,
    pub bottlenecks: u32,
    pub coverage: f64,
    pub is_loop: bool,
    pub n_blocks: c_uint,
    pub stalls: [f64; 16],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_mix_costs_totals {
    pub size: usize,
    pub cycles: f64,
    pub failed: usize,
    pub by_bound: [f64; 32],
    pub gain_by_bound: [f64; 32],
    pub by_stall: [f64; 16],
    pub gain_by_stall: [f64; 16],
    pub is_walked: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_mix_train_options {
    pub size: usize,
    pub max_leaves: c_uint,
    pub min_weight: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_mix_verdict {
    pub size: usize,
    pub is_used: bool,
    pub programs: usize,
    pub worse: usize,
    pub by_default: f64,
    pub by_learned: f64,
    pub leaves: c_uint,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_mix_record_options {
    pub size: usize,
    pub output: *const c_char,
    pub argv: *const *mut c_char,
    pub pid: c_int,
    pub all_cpus: bool,
    pub ebs_period: u64,
    pub lbr_period: u64,
    pub expected_seconds: f64,
    pub user_only: bool,
    pub best: tact_mix_rung,
    pub stop: Option<unsafe extern "C" fn(arg: *mut c_void) -> bool>,
    pub arg: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_mix_recorded {
    pub size: usize,
    pub rung: tact_mix_rung,
    pub user_only: bool,
    pub exit_status: c_int,
    pub bytes: u64,
    pub lost: u64,
    pub ebs_period: u64,
    pub lbr_period: u64,
    pub why: [[c_char; 120]; 16],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_mix_emulate_options {
    pub size: usize,
    pub output: *const c_char,
    pub exact: *const c_char,
    pub argv: *const *mut c_char,
    pub run: *const tact_trace_options,
    pub arch: *const tact_arch,
    pub seed: u64,
    pub ebs_period: u64,
    pub lbr_period: u64,
    pub depth: c_uint,
    pub skid: c_int,
    pub shadow: c_int,
    pub lost_newest: c_int,
    pub biased: c_int,
    pub stop: Option<unsafe extern "C" fn(arg: *mut c_void) -> bool>,
    pub arg: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_mix_emulated {
    pub size: usize,
    pub instructions: u64,
    pub branches: u64,
    pub ebs_samples: u64,
    pub lbr_samples: u64,
    pub blocks: u32,
    pub simulated: u32,
    pub threads: u32,
    pub native: u32,
    pub exit_status: c_int,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_mix_windows_options {
    pub size: usize,
    pub output: *const c_char,
    pub command: *const c_char,
    pub arch: *const tact_arch,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_mix_windowed {
    pub size: usize,
    pub windows: u64,
    pub stepped: u64,
    pub instructions: f64,
    pub seconds: f64,
    pub blocks: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_model {
    pub size: usize,
    pub name: *const c_char,
    pub form: *const c_char,
    pub help: *const c_char,
    pub traits: c_uint,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_model_options {
    pub size: usize,
    pub arch: *const tact_arch,
    pub bounds: bool,
    pub facile: *const tact_predict_options,
    pub mca: *const tact_mca_options,
    pub max_cycles: u64,
    pub timeout: c_uint,
    pub threads: c_uint,
    pub stores: *const *const c_char,
    pub n_stores: usize,
    pub say: Option<unsafe extern "C" fn(arg: *mut c_void, text: *const c_char)>,
    pub say_arg: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_estimate {
    pub size: usize,
    pub cycles_per_iteration: f64,
    pub coverage: f64,
    pub bottlenecks: u32,
    pub scheduling: bool,
    pub bounds: *const tact_prediction,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_model_row {
    pub size: usize,
    pub code: *const u8,
    pub code_size: usize,
    pub arch: *const tact_arch,
    pub mode: tact_mode,
    pub init: tact_init,
    pub store: u32,
    pub block: i64,
    pub alignment: c_uint,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_tune_progress {
    pub size: usize,
    pub phase: *const c_char,
    pub step: c_uint,
    pub steps: c_uint,
    pub done: f64,
    pub loss: f64,
    pub validation: f64,
    pub seconds_left: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_tune_network {
    pub size: usize,
    pub embedding: c_uint,
    pub hidden: c_uint,
    pub layers: c_uint,
    pub batch: c_uint,
    pub samples: c_uint,
    pub epochs: c_uint,
    pub table_epochs: c_uint,
    pub rounds: c_uint,
    pub no_bounds: bool,
    pub rate: f64,
    pub table_rate: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_tune_options {
    pub size: usize,
    pub arch: *const tact_arch,
    pub start: *const tact_mca_params,
    pub model: *const c_char,
    pub method: tact_tune_method,
    pub what: c_uint,
    pub memory: tact_mca_memory,
    pub learn_memory: bool,
    pub random_start: bool,
    pub corrupt: c_uint,
    pub mode: tact_mode,
    pub init: tact_init,
    pub seed: u64,
    pub threads: c_uint,
    pub budget: u64,
    pub min_gain: f64,
    pub network: *const tact_tune_network,
    pub checkpoint: *const c_char,
    pub report: Option<unsafe extern "C" fn(context: *mut c_void, progress: *const tact_tune_progress) -> c_int>,
    pub context: *mut c_void,
    pub rank: c_uint,
    pub n_ranks: c_uint,
    pub sum: Option<unsafe extern "C" fn(group: *mut c_void, values: *mut u64, n: usize) -> c_int>,
    pub group: *mut c_void,
    pub by_opcode: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_tune_export {
    pub size: usize,
    pub n_opcodes: usize,
    pub n_learned: usize,
    pub n_shared: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_tune_summary {
    pub size: usize,
    pub n: [usize; 3],
    pub n_parameters: usize,
    pub n_changed: usize,
    pub n_forms: usize,
    pub evaluations: u64,
    pub defaults: [f64; 3],
    pub start: [f64; 3],
    pub learned: [f64; 3],
    pub surrogate: f64,
    pub unit: c_uint,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_tune_row {
    pub size: usize,
    pub code: *const u8,
    pub code_size: usize,
    pub group: *const c_char,
    pub part: tact_tune_part,
    pub measured: f64,
    pub defaults: f64,
    pub start: f64,
    pub learned: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_tune_change {
    pub size: usize,
    pub name: [c_char; 160],
    pub from: [c_char; 64],
    pub to: [c_char; 64],
    pub n_rows: usize,
    pub saved: f64,
    pub n_proofs: usize,
    pub proof: [usize; 3],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_tune_histogram {
    pub size: usize,
    pub kind: *const c_char,
    pub defaults: [usize; 12],
    pub learned: [usize; 12],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_tune_point {
    pub name: [c_char; 40],
    pub value: c_int,
    pub is_learned: bool,
    pub error: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tact_view {
    pub size: usize,
    pub block: *mut tact_block,
    pub arch: *const tact_arch,
    pub alignment: c_uint,
    pub prediction: *const tact_prediction,
    pub region: *const tact_region,
    pub file: *const c_char,
    pub r#loop: usize,
    pub status: *const c_char,
    pub error: *const c_char,
    pub model: *const c_char,
    pub facile_cycles: f64,
    pub idealization: *const tact_predict_options,
    pub with_pass: bool,
    pub simulator: *mut tact_simulator,
    pub simulation: *const tact_simulation,
    pub iterations: c_uint,
    pub from: u64,
    pub with_timeline: bool,
    pub options: *const tact_predict_options,
    pub explains_all: bool,
    pub is_whole: bool,
    pub in_color: bool,
    pub width: usize,
    pub bold: *const c_char,
    pub plain: *const c_char,
    pub remarks: *const tact_remarks,
    pub advisor: *const tact_advisor,
    pub confidence: *const tact_confidence,
}

macro_rules! sized {
    ($($name:ident)*) => {$(
        impl Default for $name {
            /// Zeros, which are the defaults, with the size.
            fn default() -> Self {
                // SAFETY: all members may be zero: numbers, pointers, arrays of them.
                Self { size: std::mem::size_of::<Self>(), ..unsafe { std::mem::zeroed() } }
            }
        }
    )*};
}

macro_rules! zeroed {
    ($($name:ident)*) => {$(
        impl Default for $name {
            /// Zeros.
            fn default() -> Self {
                // SAFETY: all members may be zero: numbers, pointers, arrays of them.
                unsafe { std::mem::zeroed() }
            }
        }
    )*};
}

sized! {
    tact_form tact_cpu tact_param tact_form_info tact_block_options tact_insn_cost
    tact_advice_options tact_advice tact_predict_options tact_prediction tact_derivation
    tact_shares tact_port_contention tact_chain tact_criticality tact_job tact_sim_options
    tact_sim_insn tact_simulation tact_stream_execution tact_stream_totals tact_stream_block
    tact_trace_options tact_trace_module tact_trace_event tact_trace_summary tact_cycles_options
    tact_cycles_totals tact_cycles_block tact_result_info tact_result_row tact_result_call
    tact_diff_row tact_place tact_analysis_options tact_classify_options tact_classifier_info
    tact_topic tact_label tact_measure_options tact_measurement tact_machine tact_store_import
    tact_store_prediction tact_store_filter tact_store_row tact_store_block tact_merge
    tact_merge_options tact_count tact_collect_options tact_collect_block tact_collect_summary
    tact_confidence tact_host tact_check tact_excerpt tact_input_options tact_region
    tact_source_line tact_mca_info tact_mca_options tact_mca_result tact_mix_options
    tact_mix_summary tact_mix_missing tact_mix_block tact_mix_pivot_options tact_mix_row
    tact_mix_figures tact_mix_diff_row tact_mix_diff_totals tact_mix_cost tact_mix_costs_totals
    tact_mix_train_options tact_mix_verdict tact_mix_record_options tact_mix_recorded
    tact_mix_emulate_options tact_mix_emulated tact_mix_windows_options tact_mix_windowed
    tact_model tact_model_options tact_estimate tact_model_row tact_tune_progress
    tact_tune_network tact_tune_options tact_tune_export tact_tune_summary tact_tune_row
    tact_tune_change tact_tune_histogram tact_view
}

zeroed! {
    tact_diag tact_operand tact_insn tact_port_use tact_latency tact_sim_uop tact_chain_link
    tact_blocked_load tact_edge tact_front_end_group tact_stream_access tact_stream_fetch
    tact_stream_trip tact_trace_region tact_trace_block tact_trace_access tact_diff_insn
    tact_store_source tact_store_category tact_given_latency tact_given_setting tact_mca_event
    tact_mix_filter tact_tune_point
}

extern "C" {
    pub fn tact_strerror(status: c_int) -> *const c_char;
    pub fn tact_isa_find(name: *const c_char) -> *const tact_isa;
    pub fn tact_isa_next(previous: *const tact_isa) -> *const tact_isa;
    pub fn tact_isa_default() -> *const tact_isa;
    pub fn tact_isa_name(isa: *const tact_isa) -> *const c_char;
    pub fn tact_isa_title(isa: *const tact_isa) -> *const c_char;
    pub fn tact_isa_decode(isa: *const tact_isa, insn: *mut tact_insn, code: *const u8, size: usize) -> c_int;
    pub fn tact_isa_format(isa: *const tact_isa, code: *const u8, code_size: usize, address: u64, text: *mut c_char, size: usize) -> c_int;
    pub fn tact_isa_format_as(isa: *const tact_isa, syntax: tact_syntax, code: *const u8, code_size: usize, address: u64, text: *mut c_char, size: usize) -> c_int;
    pub fn tact_isa_form_count(isa: *const tact_isa) -> c_uint;
    pub fn tact_isa_form_name(isa: *const tact_isa, form: c_uint) -> *const c_char;
    pub fn tact_isa_form_find(isa: *const tact_isa, name: *const c_char) -> c_uint;
    pub fn tact_isa_form(isa: *const tact_isa, form: c_uint, out: *mut tact_form) -> c_int;
    pub fn tact_isa_form_extension(isa: *const tact_isa, form: c_uint) -> *const c_char;
    pub fn tact_isa_form_example(isa: *const tact_isa, form: c_uint, copy: c_uint, chain: c_int, text: *mut c_char, size: usize) -> c_int;
    pub fn tact_isa_stack_pointer(isa: *const tact_isa) -> c_uint;
    pub fn tact_isa_reg_name(isa: *const tact_isa, reg: c_uint) -> *const c_char;
    pub fn tact_arch_find(name: *const c_char) -> *const tact_arch;
    pub fn tact_arch_next(previous: *const tact_arch) -> *const tact_arch;
    pub fn tact_arch_host() -> *const tact_arch;
    pub fn tact_arch_aliases(arch: *const tact_arch, text: *mut c_char, size: usize) -> usize;
    pub fn tact_cpu_find(name: *const c_char, out: *mut tact_cpu) -> c_int;
    pub fn tact_cpu_name(index: usize, text: *mut c_char, size: usize) -> *const c_char;
    pub fn tact_arch_llvm_check(diag: *mut tact_diag) -> c_int;
    pub fn tact_arch_llvm_lists(name: *const c_char) -> bool;
    pub fn tact_arch_is_llvm(arch: *const tact_arch) -> bool;
    pub fn tact_arch_llvm_cpu_at(isa: *const tact_isa, index: usize, text: *mut c_char, size: usize) -> bool;
    pub fn tact_arch_name(arch: *const tact_arch) -> *const c_char;
    pub fn tact_arch_full_name(arch: *const tact_arch) -> *const c_char;
    pub fn tact_arch_llvm_name(arch: *const tact_arch) -> *const c_char;
    pub fn tact_arch_llvm_cpu(arch: *const tact_arch) -> *const c_char;
    pub fn tact_arch_base(arch: *const tact_arch) -> *const c_char;
    pub fn tact_arch_isa(arch: *const tact_arch) -> *const tact_isa;
    pub fn tact_arch_form_count(arch: *const tact_arch) -> c_uint;
    pub fn tact_arch_has_form(arch: *const tact_arch, form: c_uint) -> bool;
    pub fn tact_arch_ports(arch: *const tact_arch) -> c_uint;
    pub fn tact_arch_port_names(arch: *const tact_arch) -> *const c_char;
    pub fn tact_arch_is_verified(arch: *const tact_arch) -> bool;
    pub fn tact_arch_verified_on(arch: *const tact_arch) -> *const c_char;
    pub fn tact_arch_verified_by(arch: *const tact_arch) -> *const c_char;
    pub fn tact_arch_caveat(arch: *const tact_arch) -> *const c_char;
    pub fn tact_arch_param(arch: *const tact_arch, index: usize, out: *mut tact_param) -> bool;
    pub fn tact_arch_form(arch: *const tact_arch, form: c_uint, situation: tact_situation, out: *mut tact_form_info) -> c_int;
    pub fn tact_arch_insn(arch: *const tact_arch, code: *const u8, size: usize, out: *mut tact_form_info) -> c_int;
    pub fn tact_arch_copy(out: *mut *mut tact_arch, base: *const tact_arch) -> c_int;
    pub fn tact_arch_set_latency(arch: *mut tact_arch, form: c_uint, latency: *const tact_latency) -> c_int;
    pub fn tact_arch_set_param(arch: *mut tact_arch, name: *const c_char, value: *const c_char, diag: *mut tact_diag) -> c_int;
    pub fn tact_arch_derive(out: *mut *mut tact_arch, base: *const tact_arch, path: *const c_char, diag: *mut tact_diag) -> c_int;
    pub fn tact_arch_destroy(arch: *mut tact_arch);
    pub fn tact_arch_save(arch: *const tact_arch, path: *const c_char, comment: *const c_char, diag: *mut tact_diag) -> c_int;
    pub fn tact_arch_validate(arch: *const tact_arch, diag: *mut tact_diag) -> c_int;
    pub fn tact_mode_name(mode: tact_mode) -> *const c_char;
    pub fn tact_init_name(init: tact_init) -> *const c_char;
    pub fn tact_memory_name(memory: tact_memory) -> *const c_char;
    pub fn tact_block_create(out: *mut *mut tact_block, arch: *const tact_arch, opt: *const tact_block_options, diag: *mut tact_diag) -> c_int;
    pub fn tact_block_destroy(block: *mut tact_block);
    pub fn tact_block_load(block: *mut tact_block, code: *const u8, size: usize, diag: *mut tact_diag) -> c_int;
    pub fn tact_block_rebind(block: *mut tact_block, arch: *const tact_arch, opt: *const tact_block_options) -> c_int;
    pub fn tact_block_replace(block: *mut tact_block, i: usize, bytes: *const u8, n_bytes: usize, diag: *mut tact_diag) -> c_int;
    pub fn tact_block_insert(block: *mut tact_block, i: usize, bytes: *const u8, n_bytes: usize, diag: *mut tact_diag) -> c_int;
    pub fn tact_block_erase(block: *mut tact_block, i: usize, diag: *mut tact_diag) -> c_int;
    pub fn tact_block_set_memory(block: *mut tact_block, i: usize, memory: tact_memory) -> c_int;
    pub fn tact_block_set_latency(block: *mut tact_block, i: usize, cycles: c_uint) -> c_int;
    pub fn tact_block_set_setting(block: *mut tact_block, i: usize, setting: u16) -> c_int;
    pub fn tact_block_unset(block: *const tact_block) -> usize;
    pub fn tact_block_foreign(block: *const tact_block, first: *mut usize) -> usize;
    pub fn tact_block_arch(block: *const tact_block) -> *const tact_arch;
    pub fn tact_block_mode(block: *const tact_block) -> tact_mode;
    pub fn tact_block_length(block: *const tact_block) -> usize;
    pub fn tact_block_insn(block: *const tact_block, i: usize, insn: *mut tact_insn) -> c_int;
    pub fn tact_block_offset(block: *const tact_block, i: usize) -> usize;
    pub fn tact_block_code(block: *const tact_block, size: *mut usize) -> *const u8;
    pub fn tact_block_coverage(block: *const tact_block) -> f64;
    pub fn tact_block_cost(block: *mut tact_block, i: usize, cost: *mut tact_insn_cost) -> c_int;
    pub fn tact_advisor_create(out: *mut *mut tact_advisor, diag: *mut tact_diag) -> c_int;
    pub fn tact_advisor_destroy(advisor: *mut tact_advisor);
    pub fn tact_advisor_run(advisor: *mut tact_advisor, block: *mut tact_block, opt: *const tact_advice_options) -> c_int;
    pub fn tact_advisor_get(advisor: *const tact_advisor, i: usize, out: *mut tact_advice) -> c_int;
    pub fn tact_uop_source_name(source: tact_uop_source) -> *const c_char;
    pub fn tact_uop_source_name_on(arch: *const tact_arch, source: tact_uop_source) -> *const c_char;
    pub fn tact_wait_name(wait: tact_wait) -> *const c_char;
    pub fn tact_bound_name(bound: tact_bound) -> *const c_char;
    pub fn tact_bound_column(bound: tact_bound) -> *const c_char;
    pub fn tact_bound_name_on(arch: *const tact_arch, bound: tact_bound) -> *const c_char;
    pub fn tact_predict(block: *mut tact_block, opt: *const tact_predict_options, out: *mut tact_prediction) -> c_int;
    pub fn tact_explain_bound(block: *mut tact_block, opt: *const tact_predict_options, bound: tact_bound, out: *mut tact_derivation) -> c_int;
    pub fn tact_explain_shares(prediction: *const tact_prediction, out: *mut tact_shares) -> c_int;
    pub fn tact_explain_ports(block: *mut tact_block, out: *mut tact_port_contention) -> c_int;
    pub fn tact_explain_ports_with(block: *mut tact_block, opt: *const tact_predict_options, out: *mut tact_port_contention) -> c_int;
    pub fn tact_explain_chain(block: *mut tact_block, out: *mut tact_chain) -> c_int;
    pub fn tact_explain_pass(block: *mut tact_block, out: *mut tact_chain) -> c_int;
    pub fn tact_explain_chain_of(block: *mut tact_block, bound: tact_bound, out: *mut tact_chain) -> c_int;
    pub fn tact_explain_value(block: *const tact_block, kind: c_uint, reg: c_uint) -> *const c_char;
    pub fn tact_explain_criticality(block: *mut tact_block, opt: *const tact_predict_options, i: usize, out: *mut tact_criticality) -> c_int;
    pub fn tact_explain_blocked(block: *const tact_block, cursor: *mut usize, out: *mut tact_blocked_load) -> c_int;
    pub fn tact_block_edge(block: *const tact_block, cursor: *mut usize, out: *mut tact_edge) -> c_int;
    pub fn tact_explain_predecoder(block: *mut tact_block, groups: *mut tact_front_end_group, capacity: usize, iterations: *mut c_uint) -> c_int;
    pub fn tact_explain_decoder(block: *mut tact_block, groups: *mut tact_front_end_group, capacity: usize, iterations: *mut c_uint) -> c_int;
    pub fn tact_explain_dsb(block: *mut tact_block, groups: *mut tact_front_end_group, capacity: usize, iterations: *mut c_uint) -> c_int;
    pub fn tact_predictor_create(out: *mut *mut tact_predictor, arch: *const tact_arch, block_opt: *const tact_block_options, opt: *const tact_predict_options, threads: c_uint, diag: *mut tact_diag) -> c_int;
    pub fn tact_predictor_destroy(predictor: *mut tact_predictor);
    pub fn tact_predictor_run(predictor: *mut tact_predictor, jobs: *mut tact_job, n: usize) -> c_long;
    pub fn tact_predict_batch(arch: *const tact_arch, block_opt: *const tact_block_options, opt: *const tact_predict_options, jobs: *mut tact_job, n: usize, threads: c_uint) -> c_long;
    pub fn tact_sim_method_name(method: tact_sim_method) -> *const c_char;
    pub fn tact_simulator_create(out: *mut *mut tact_simulator, diag: *mut tact_diag) -> c_int;
    pub fn tact_simulator_destroy(simulator: *mut tact_simulator);
    pub fn tact_simulate(simulator: *mut tact_simulator, block: *mut tact_block, opt: *const tact_sim_options, out: *mut tact_simulation) -> c_int;
    pub fn tact_simulated_insn(simulator: *const tact_simulator, i: usize, out: *mut tact_sim_insn) -> c_int;
    pub fn tact_stall_name(stall: tact_stall) -> *const c_char;
    pub fn tact_stream_create(out: *mut *mut tact_stream, diag: *mut tact_diag) -> c_int;
    pub fn tact_stream_create_beside(out: *mut *mut tact_stream, owner: *mut tact_stream, diag: *mut tact_diag) -> c_int;
    pub fn tact_stream_destroy(stream: *mut tact_stream);
    pub fn tact_stream_add(stream: *mut tact_stream, block: *const tact_block, number: *mut u32) -> c_int;
    pub fn tact_stream_feed(stream: *mut tact_stream, number: u32, address: u64, accesses: *const tact_stream_access, n: usize) -> c_int;
    pub fn tact_stream_execute(stream: *mut tact_stream, execution: *const tact_stream_execution) -> c_int;
    pub fn tact_stream_drain(stream: *mut tact_stream) -> c_int;
    pub fn tact_stream_forget(stream: *mut tact_stream);
    pub fn tact_stream_on_retire(stream: *mut tact_stream, retired: Option<unsafe extern "C" fn(arg: *mut c_void, cycle: u64)>, arg: *mut c_void);
    pub fn tact_stream_watch(stream: *mut tact_stream, on_uop: Option<unsafe extern "C" fn(arg: *mut c_void, uop: *const tact_sim_uop) -> c_int>, arg: *mut c_void) -> c_int;
    pub fn tact_stream_get_totals(stream: *const tact_stream, out: *mut tact_stream_totals) -> c_int;
    pub fn tact_stream_get_insn(stream: *const tact_stream, number: u32, i: usize, out: *mut tact_sim_insn, executions: *mut u64) -> c_int;
    pub fn tact_stream_get_block(stream: *const tact_stream, number: u32, out: *mut tact_stream_block) -> c_int;
    pub fn tact_trace_plugin(path: *mut c_char, size: usize) -> c_int;
    pub fn tact_trace_launch(out: *mut *mut tact_trace, opt: *const tact_trace_options, argv: *const *mut c_char, diag: *mut tact_diag) -> c_int;
    pub fn tact_trace_attach(out: *mut *mut tact_trace, opt: *const tact_trace_options, pid: c_int, diag: *mut tact_diag) -> c_int;
    pub fn tact_trace_open(out: *mut *mut tact_trace, path: *const c_char, diag: *mut tact_diag) -> c_int;
    pub fn tact_trace_open_fd(out: *mut *mut tact_trace, fd: c_int, diag: *mut tact_diag) -> c_int;
    pub fn tact_trace_open_text(out: *mut *mut tact_trace, path: *const c_char, opt: *const tact_input_options, iterations: u64, diag: *mut tact_diag) -> c_int;
    pub fn tact_trace_set_callee(trace: *mut tact_trace, cycles: u32) -> c_int;
    pub fn tact_trace_close(trace: *mut tact_trace);
    pub fn tact_trace_next(trace: *mut tact_trace, event: *mut tact_trace_event, diag: *mut tact_diag) -> c_int;
    pub fn tact_trace_record(trace: *mut tact_trace, fd: c_int, progress: Option<unsafe extern "C" fn(arg: *mut c_void, words: u64) -> c_int>, arg: *mut c_void, diag: *mut tact_diag) -> c_int;
    pub fn tact_trace_stop(trace: *mut tact_trace);
    pub fn tact_trace_get_mode(trace: *const tact_trace) -> tact_trace_mode;
    pub fn tact_trace_get_module(trace: *const tact_trace, number: u32, out: *mut tact_trace_module) -> c_int;
    pub fn tact_trace_get_block(trace: *const tact_trace, number: u32) -> *mut tact_trace_block;
    pub fn tact_trace_get_summary(trace: *const tact_trace, out: *mut tact_trace_summary) -> c_int;
    pub fn tact_cycles_create(out: *mut *mut tact_cycles, arch: *const tact_arch, opt: *const tact_cycles_options, diag: *mut tact_diag) -> c_int;
    pub fn tact_cycles_destroy(cycles: *mut tact_cycles);
    pub fn tact_cycles_event(cycles: *mut tact_cycles, event: *const tact_trace_event, diag: *mut tact_diag) -> c_int;
    pub fn tact_cycles_finish(cycles: *mut tact_cycles, diag: *mut tact_diag) -> c_int;
    pub fn tact_cycles_get_totals(cycles: *const tact_cycles, out: *mut tact_cycles_totals) -> c_int;
    pub fn tact_cycles_get_thread(cycles: *const tact_cycles, thread: u32, cycles_out: *mut f64, instructions: *mut u64) -> c_int;
    pub fn tact_cycles_get_block(cycles: *const tact_cycles, number: u32, out: *mut tact_cycles_block) -> c_int;
    pub fn tact_cycles_get_insns(cycles: *const tact_cycles, number: u32, out: *mut f64) -> c_int;
    pub fn tact_result_load(out: *mut *mut tact_result, path: *const c_char, diag: *mut tact_diag) -> c_int;
    pub fn tact_result_load_all(out: *mut *mut tact_result, most: usize, path: *const c_char, diag: *mut tact_diag) -> c_long;
    pub fn tact_result_load_memory(out: *mut *mut tact_result, data: *const c_void, size: usize, diag: *mut tact_diag) -> c_int;
    pub fn tact_result_destroy(result: *mut tact_result);
    pub fn tact_result_write(result: *const tact_result, write: Option<unsafe extern "C" fn(arg: *mut c_void, data: *const c_char, size: usize) -> c_int>, arg: *mut c_void) -> c_int;
    pub fn tact_result_get_info(result: *const tact_result, out: *mut tact_result_info) -> c_int;
    pub fn tact_result_get_totals(result: *const tact_result, out: *mut tact_cycles_totals) -> c_int;
    pub fn tact_result_unmodelled(result: *const tact_result, i: usize) -> *const c_char;
    pub fn tact_result_unmeasured(result: *const tact_result, i: usize) -> *const c_char;
    pub fn tact_result_count(result: *const tact_result, kind: tact_result_kind) -> usize;
    pub fn tact_result_get_row(result: *const tact_result, kind: tact_result_kind, i: usize, out: *mut tact_result_row) -> c_int;
    pub fn tact_result_count_calls(result: *const tact_result) -> usize;
    pub fn tact_result_get_call(result: *const tact_result, i: usize, out: *mut tact_result_call) -> c_int;
    pub fn tact_diff_create(out: *mut *mut tact_diff, a: *const tact_result, b: *const tact_result, diag: *mut tact_diag) -> c_int;
    pub fn tact_diff_destroy(diff: *mut tact_diff);
    pub fn tact_diff_side(diff: *const tact_diff, side: c_uint) -> *const tact_result;
    pub fn tact_diff_ratio(diff: *const tact_diff) -> f64;
    pub fn tact_diff_count(diff: *const tact_diff, kind: tact_result_kind) -> usize;
    pub fn tact_diff_get_row(diff: *const tact_diff, kind: tact_result_kind, i: usize, out: *mut tact_diff_row) -> c_int;
    pub fn tact_diff_get_insns(diff: *const tact_diff, function: usize, out: *mut tact_diff_insn, capacity: usize) -> c_long;
    pub fn tact_symbols_create(out: *mut *mut tact_symbols) -> c_int;
    pub fn tact_symbols_destroy(symbols: *mut tact_symbols);
    pub fn tact_symbols_find(symbols: *mut tact_symbols, trace: *const tact_trace, block: *const tact_trace_block, offset: u32, out: *mut tact_place) -> c_int;
    pub fn tact_symbols_line(symbols: *mut tact_symbols, trace: *const tact_trace, block: *const tact_trace_block, offset: u32, file: *mut *const c_char, line: *mut c_int) -> bool;
    pub fn tact_symbols_region(symbols: *mut tact_symbols, text: *const c_char, program: *const c_char, path: *const c_char, out: *mut tact_trace_region, diag: *mut tact_diag) -> c_int;
    pub fn tact_analysis_create(out: *mut *mut tact_analysis, trace: *mut tact_trace, symbols: *mut tact_symbols, opt: *const tact_analysis_options, diag: *mut tact_diag) -> c_int;
    pub fn tact_analysis_destroy(analysis: *mut tact_analysis);
    pub fn tact_analysis_run(analysis: *mut tact_analysis, diag: *mut tact_diag) -> c_int;
    pub fn tact_analysis_finish(analysis: *mut tact_analysis, totals: *mut tact_cycles_totals, diag: *mut tact_diag) -> c_int;
    pub fn tact_analysis_result(analysis: *mut tact_analysis, is_partial: bool, out: *mut *mut tact_result, diag: *mut tact_diag) -> c_int;
    pub fn tact_bags_create(out: *mut *mut tact_bags, arch: *const tact_arch, diag: *mut tact_diag) -> c_int;
    pub fn tact_bags_destroy(bags: *mut tact_bags);
    pub fn tact_bags_add(bags: *mut tact_bags, block: *const tact_block, bag: *mut u32, diag: *mut tact_diag) -> c_int;
    pub fn tact_bags_count(bags: *const tact_bags) -> usize;
    pub fn tact_classifier_train(out: *mut *mut tact_classifier, bags: *const tact_bags, opt: *const tact_classify_options, diag: *mut tact_diag) -> c_int;
    pub fn tact_classifier_destroy(classifier: *mut tact_classifier);
    pub fn tact_classifier_load(out: *mut *mut tact_classifier, path: *const c_char, diag: *mut tact_diag) -> c_int;
    pub fn tact_classifier_save(classifier: *const tact_classifier, path: *const c_char, comment: *const c_char, diag: *mut tact_diag) -> c_int;
    pub fn tact_classifier_is_model(path: *const c_char) -> bool;
    pub fn tact_classifier_get_info(classifier: *const tact_classifier, out: *mut tact_classifier_info) -> c_int;
    pub fn tact_classifier_get_topic(classifier: *const tact_classifier, topic: c_uint, out: *mut tact_topic) -> c_int;
    pub fn tact_classifier_leading(classifier: *const tact_classifier, topic: c_uint, rank: c_uint, ports: *mut c_char, probability: *mut f64) -> c_int;
    pub fn tact_classifier_apply(classifier: *mut tact_classifier, block: *const tact_block, out: *mut tact_label, diag: *mut tact_diag) -> c_int;
    pub fn tact_classifier_label(classifier: *const tact_classifier, bags: *const tact_bags, bag: u32, out: *mut tact_label, diag: *mut tact_diag) -> c_int;
    pub fn tact_classifier_term(classifier: *const tact_classifier, bags: *const tact_bags, bag: u32, i: c_uint, ports: *mut c_char, count: *mut u64, topic: *mut c_int) -> c_int;
    pub fn tact_rung_name(rung: tact_rung) -> *const c_char;
    pub fn tact_measure_status_name(status: tact_measure_status) -> *const c_char;
    pub fn tact_measure_flags_text(flags: u32, buf: *mut c_char) -> *const c_char;
    pub fn tact_contents_name(contents: tact_contents) -> *const c_char;
    pub fn tact_vectors_name(vectors: tact_vectors) -> *const c_char;
    pub fn tact_harness_create(out: *mut *mut tact_harness, opt: *const tact_measure_options, diag: *mut tact_diag) -> c_int;
    pub fn tact_harness_destroy(harness: *mut tact_harness);
    pub fn tact_harness_rung(harness: *const tact_harness) -> tact_rung;
    pub fn tact_harness_refusal(harness: *const tact_harness, rung: tact_rung) -> *const c_char;
    pub fn tact_measure(harness: *mut tact_harness, code: *const u8, size: usize, out: *mut tact_measurement) -> c_int;
    pub fn tact_measure_at(harness: *mut tact_harness, code: *const u8, size: usize, alignment: c_uint, out: *mut tact_measurement) -> c_int;
    pub fn tact_rounds_create(out: *mut *mut tact_rounds) -> c_int;
    pub fn tact_rounds_destroy(rounds: *mut tact_rounds);
    pub fn tact_rounds_add(rounds: *mut tact_rounds, m: *const tact_measurement) -> c_int;
    pub fn tact_rounds_set_least(rounds: *mut tact_rounds, agree: c_uint) -> c_int;
    pub fn tact_rounds_is_confirmed(rounds: *const tact_rounds) -> bool;
    pub fn tact_rounds_result(rounds: *const tact_rounds, out: *mut tact_measurement) -> c_int;
    pub fn tact_measure_check(isa: *const tact_isa, code: *const u8, size: usize, mode: tact_mode, reason: *mut c_char, reason_size: usize) -> tact_measure_status;
    pub fn tact_measure_loop(isa: *const tact_isa, to: *mut u8, code: *const u8, size: usize) -> usize;
    pub fn tact_store_open(out: *mut *mut tact_store, path: *const c_char, flags: c_uint, diag: *mut tact_diag) -> c_int;
    pub fn tact_store_close(store: *mut tact_store);
    pub fn tact_store_sync(store: *mut tact_store, diag: *mut tact_diag) -> c_int;
    pub fn tact_store_is_store(path: *const c_char) -> bool;
    pub fn tact_store_put_measurement(store: *mut tact_store, code: *const u8, size: usize, m: *const tact_measurement, diag: *mut tact_diag) -> c_int;
    pub fn tact_store_has_measurement(store: *mut tact_store, code: *const u8, size: usize, mode: tact_mode, init: tact_init, diag: *mut tact_diag) -> c_int;
    pub fn tact_store_get_measurement(store: *mut tact_store, code: *const u8, size: usize, mode: tact_mode, init: tact_init, out: *mut tact_measurement, diag: *mut tact_diag) -> c_int;
    pub fn tact_store_begin(store: *mut tact_store, diag: *mut tact_diag) -> c_int;
    pub fn tact_store_end(store: *mut tact_store, diag: *mut tact_diag) -> c_int;
    pub fn tact_store_put_block(store: *mut tact_store, code: *const u8, size: usize, id: *mut i64, diag: *mut tact_diag) -> c_int;
    pub fn tact_store_put_source(store: *mut tact_store, block: i64, app: *const c_char, weight: f64, diag: *mut tact_diag) -> c_int;
    pub fn tact_store_add_source(store: *mut tact_store, block: i64, app: *const c_char, weight: f64, diag: *mut tact_diag) -> c_int;
    pub fn tact_store_put_category(store: *mut tact_store, block: i64, classifier: *const c_char, arch: *const c_char, label: *const c_char, diag: *mut tact_diag) -> c_int;
    pub fn tact_store_put_machine(store: *mut tact_store, machine: *const tact_machine, id: *mut i64, diag: *mut tact_diag) -> c_int;
    pub fn tact_store_put_import(store: *mut tact_store, block: i64, m: *const tact_measurement, import: *const tact_store_import, diag: *mut tact_diag) -> c_int;
    pub fn tact_store_put_prediction(store: *mut tact_store, block: i64, prediction: *const tact_store_prediction, diag: *mut tact_diag) -> c_int;
    pub fn tact_store_iter_create(out: *mut *mut tact_store_iter, store: *mut tact_store, filter: *const tact_store_filter, diag: *mut tact_diag) -> c_int;
    pub fn tact_store_iter_next(iter: *mut tact_store_iter, row: *mut tact_store_row, diag: *mut tact_diag) -> c_int;
    pub fn tact_store_iter_skipped(iter: *const tact_store_iter) -> u64;
    pub fn tact_store_iter_destroy(iter: *mut tact_store_iter);
    pub fn tact_store_blocks_create(out: *mut *mut tact_store_blocks, store: *mut tact_store, filter: *const tact_store_filter, diag: *mut tact_diag) -> c_int;
    pub fn tact_store_blocks_next(blocks: *mut tact_store_blocks, block: *mut tact_store_block, diag: *mut tact_diag) -> c_int;
    pub fn tact_store_blocks_skipped(blocks: *const tact_store_blocks) -> u64;
    pub fn tact_store_blocks_destroy(blocks: *mut tact_store_blocks);
    pub fn tact_store_get_block(store: *mut tact_store, id: i64, code: *mut u8, capacity: usize, size: *mut usize, diag: *mut tact_diag) -> c_int;
    pub fn tact_store_predictions_create(out: *mut *mut tact_store_predictions, store: *mut tact_store, filter: *const tact_store_filter, diag: *mut tact_diag) -> c_int;
    pub fn tact_store_predictions_next(predictions: *mut tact_store_predictions, block: *mut i64, code: *mut *const u8, code_size: *mut usize, prediction: *mut tact_store_prediction, diag: *mut tact_diag) -> c_int;
    pub fn tact_store_predictions_skipped(predictions: *const tact_store_predictions) -> u64;
    pub fn tact_store_predictions_destroy(predictions: *mut tact_store_predictions);
    pub fn tact_store_merge(store: *mut tact_store, path: *const c_char, out: *mut tact_merge, diag: *mut tact_diag) -> c_int;
    pub fn tact_store_merge_all(store: *mut tact_store, paths: *const *const c_char, n: usize, opt: *const tact_merge_options, out: *mut tact_merge, diag: *mut tact_diag) -> c_int;
    pub fn tact_store_count(store: *mut tact_store, kind: tact_count_kind, each: Option<unsafe extern "C" fn(context: *mut c_void, count: *const tact_count) -> c_int>, context: *mut c_void, diag: *mut tact_diag) -> c_int;
    pub fn tact_collect_create(out: *mut *mut tact_collect, opt: *const tact_collect_options) -> c_int;
    pub fn tact_collect_destroy(collect: *mut tact_collect);
    pub fn tact_collect_trace(collect: *mut tact_collect, trace: *mut tact_trace, diag: *mut tact_diag) -> c_int;
    pub fn tact_collect_file(collect: *mut tact_collect, path: *const c_char, diag: *mut tact_diag) -> c_int;
    pub fn tact_collect_finish(collect: *mut tact_collect, sink: Option<unsafe extern "C" fn(arg: *mut c_void, block: *const tact_collect_block) -> c_int>, arg: *mut c_void) -> c_int;
    pub fn tact_collect_store(collect: *mut tact_collect, store: *mut tact_store, app: *const c_char, has_counts: bool, diag: *mut tact_diag) -> c_int;
    pub fn tact_collect_get_summary(collect: *const tact_collect, out: *mut tact_collect_summary) -> c_int;
    pub fn tact_confidence_find(block: *const tact_block, model: *const c_char, prediction: *const tact_prediction, out: *mut tact_confidence) -> c_int;
    pub fn tact_host_probe(out: *mut tact_host) -> c_int;
    pub fn tact_host_cores(cpus: *mut c_int, capacity: c_uint) -> c_uint;
    pub fn tact_host_emulator(text: *mut c_char, size: usize) -> bool;
    pub fn tact_check_state_name(state: tact_check_state) -> *const c_char;
    pub fn tact_check_run(id: tact_check_id, out: *mut tact_check) -> c_int;
    pub fn tact_remarks_create(out: *mut *mut tact_remarks) -> c_int;
    pub fn tact_remarks_destroy(remarks: *mut tact_remarks);
    pub fn tact_remarks_clear(remarks: *mut tact_remarks);
    pub fn tact_remarks_add(remarks: *mut tact_remarks, name: *const c_char, format: *const c_char, ...) -> c_int;
    pub fn tact_remarks_append(remarks: *mut tact_remarks, from: *const tact_remarks) -> c_int;
    pub fn tact_remarks_count(remarks: *const tact_remarks) -> usize;
    pub fn tact_remarks_name(remarks: *const tact_remarks, i: usize) -> *const c_char;
    pub fn tact_remarks_text(remarks: *const tact_remarks, i: usize) -> *const c_char;
    pub fn tact_input_open(out: *mut *mut tact_input, path: *const c_char, opt: *const tact_input_options, diag: *mut tact_diag) -> c_int;
    pub fn tact_input_open_memory(out: *mut *mut tact_input, data: *const c_void, size: usize, opt: *const tact_input_options, diag: *mut tact_diag) -> c_int;
    pub fn tact_input_next(r#in: *mut tact_input, region: *mut tact_region, diag: *mut tact_diag) -> c_int;
    pub fn tact_input_line(r#in: *mut tact_input, offset: usize, line: *mut u64) -> c_int;
    pub fn tact_input_source(r#in: *mut tact_input, offset: usize, depth: usize, line: *mut tact_source_line) -> c_int;
    pub fn tact_input_description(r#in: *const tact_input) -> *const c_char;
    pub fn tact_input_get_kind(r#in: *const tact_input) -> tact_input_kind;
    pub fn tact_input_close(r#in: *mut tact_input);
    pub fn tact_mca_get_info(kind: c_uint) -> *const tact_mca_info;
    pub fn tact_mca_params_create(out: *mut *mut tact_mca_params, arch: *const tact_arch, diag: *mut tact_diag) -> c_int;
    pub fn tact_mca_params_copy(out: *mut *mut tact_mca_params, params: *const tact_mca_params, diag: *mut tact_diag) -> c_int;
    pub fn tact_mca_params_destroy(params: *mut tact_mca_params);
    pub fn tact_mca_params_arch(params: *const tact_mca_params) -> *const tact_arch;
    pub fn tact_mca_get(params: *const tact_mca_params, form: c_uint, kind: c_uint, index: c_uint, value: *mut c_int) -> c_int;
    pub fn tact_mca_set(params: *mut tact_mca_params, form: c_uint, kind: c_uint, index: c_uint, value: c_int) -> c_int;
    pub fn tact_mca_default(arch: *const tact_arch, form: c_uint, kind: c_uint, index: c_uint, value: *mut c_int) -> c_int;
    pub fn tact_mca_params_memory(params: *const tact_mca_params, memory: *mut tact_mca_memory) -> bool;
    pub fn tact_mca_params_set_memory(params: *mut tact_mca_params, memory: tact_mca_memory);
    pub fn tact_mca_params_load(params: *mut tact_mca_params, path: *const c_char, diag: *mut tact_diag) -> c_int;
    pub fn tact_mca_params_save(params: *const tact_mca_params, path: *const c_char, comment: *const c_char, diag: *mut tact_diag) -> c_int;
    pub fn tact_mca_create(out: *mut *mut tact_mca, opt: *const tact_mca_options, diag: *mut tact_diag) -> c_int;
    pub fn tact_mca_destroy(machine: *mut tact_mca);
    pub fn tact_mca_estimate(machine: *mut tact_mca, block: *mut tact_block, out: *mut tact_mca_result) -> c_int;
    pub fn tact_mca_code_create(out: *mut *mut tact_mca_code, block: *const tact_block, memory: tact_mca_memory, diag: *mut tact_diag) -> c_int;
    pub fn tact_mca_code_destroy(code: *mut tact_mca_code);
    pub fn tact_mca_code_length(code: *const tact_mca_code) -> usize;
    pub fn tact_mca_code_form(code: *const tact_mca_code, i: usize) -> c_uint;
    pub fn tact_mca_run(machine: *mut tact_mca, code: *const tact_mca_code, out: *mut tact_mca_result) -> c_int;
    pub fn tact_mix_method_name(method: tact_mix_method) -> *const c_char;
    pub fn tact_mix_rung_name(rung: tact_mix_rung) -> *const c_char;
    pub fn tact_mix_rung_error(rung: tact_mix_rung) -> *const c_char;
    pub fn tact_mix_rule_create(out: *mut *mut tact_mix_rule, diag: *mut tact_diag) -> c_int;
    pub fn tact_mix_rule_load(out: *mut *mut tact_mix_rule, path: *const c_char, diag: *mut tact_diag) -> c_int;
    pub fn tact_mix_rule_load_memory(out: *mut *mut tact_mix_rule, text: *const c_char, size: usize, diag: *mut tact_diag) -> c_int;
    pub fn tact_mix_rule_save(rule: *const tact_mix_rule, path: *const c_char, diag: *mut tact_diag) -> c_int;
    pub fn tact_mix_rule_destroy(rule: *mut tact_mix_rule);
    pub fn tact_mix_rule_print(rule: *const tact_mix_rule, text: *mut c_char, size: usize) -> usize;
    pub fn tact_mix_open(out: *mut *mut tact_mix, path: *const c_char, opt: *const tact_mix_options, diag: *mut tact_diag) -> c_int;
    pub fn tact_mix_close(mix: *mut tact_mix);
    pub fn tact_mix_get_summary(mix: *const tact_mix, out: *mut tact_mix_summary) -> c_int;
    pub fn tact_mix_get_summary_all(mixes: *const *const tact_mix, n: usize, out: *mut tact_mix_summary, diag: *mut tact_diag) -> c_int;
    pub fn tact_mix_get_missing(mix: *const tact_mix, i: usize, out: *mut tact_mix_missing) -> c_int;
    pub fn tact_mix_get_assumed(mix: *const tact_mix, i: usize, out: *mut tact_mix_missing) -> c_int;
    pub fn tact_mix_block_count(mix: *const tact_mix) -> usize;
    pub fn tact_mix_get_block(mix: *const tact_mix, i: usize, out: *mut tact_mix_block) -> c_int;
    pub fn tact_mix_taxonomy_load(out: *mut *mut tact_mix_taxonomy, path: *const c_char, diag: *mut tact_diag) -> c_int;
    pub fn tact_mix_taxonomy_load_memory(out: *mut *mut tact_mix_taxonomy, text: *const c_char, size: usize, diag: *mut tact_diag) -> c_int;
    pub fn tact_mix_taxonomy_destroy(taxonomy: *mut tact_mix_taxonomy);
    pub fn tact_mix_key_name(key: tact_mix_key) -> *const c_char;
    pub fn tact_mix_pivot_create(out: *mut *mut tact_mix_pivot, mix: *mut tact_mix, opt: *const tact_mix_pivot_options, diag: *mut tact_diag) -> c_int;
    pub fn tact_mix_pivot_create_all(out: *mut *mut tact_mix_pivot, mixes: *const *mut tact_mix, n: usize, opt: *const tact_mix_pivot_options, diag: *mut tact_diag) -> c_int;
    pub fn tact_mix_pivot_destroy(pivot: *mut tact_mix_pivot);
    pub fn tact_mix_pivot_count(pivot: *const tact_mix_pivot) -> usize;
    pub fn tact_mix_pivot_get_row(pivot: *const tact_mix_pivot, i: usize, out: *mut tact_mix_row) -> c_int;
    pub fn tact_mix_pivot_get_keys(pivot: *const tact_mix_pivot, keys: *mut tact_mix_key) -> usize;
    pub fn tact_mix_cross_create(out: *mut *mut tact_mix_cross, mixes: *const *mut tact_mix, n: usize, opt: *const tact_mix_pivot_options, columns: *const tact_mix_key, n_columns: usize, diag: *mut tact_diag) -> c_int;
    pub fn tact_mix_cross_destroy(cross: *mut tact_mix_cross);
    pub fn tact_mix_cross_rows(cross: *const tact_mix_cross) -> *const tact_mix_pivot;
    pub fn tact_mix_cross_columns(cross: *const tact_mix_cross) -> *const tact_mix_pivot;
    pub fn tact_mix_cross_get_cell(cross: *const tact_mix_cross, i: usize, j: usize, out: *mut tact_mix_row) -> c_int;
    pub fn tact_mix_pivot_get_figures(pivot: *const tact_mix_pivot, out: *mut tact_mix_figures) -> c_int;
    pub fn tact_mix_compare(reference: *const tact_mix_pivot, measured: *const tact_mix_pivot, is_scaled: bool, error: *mut f64) -> c_int;
    pub fn tact_mix_diff_create(out: *mut *mut tact_mix_diff, first: *const tact_mix_pivot, second: *const tact_mix_pivot, is_scaled: bool, diag: *mut tact_diag) -> c_int;
    pub fn tact_mix_diff_destroy(diff: *mut tact_mix_diff);
    pub fn tact_mix_diff_count(diff: *const tact_mix_diff) -> usize;
    pub fn tact_mix_diff_get_row(diff: *const tact_mix_diff, i: usize, out: *mut tact_mix_diff_row) -> c_int;
    pub fn tact_mix_diff_get_keys(diff: *const tact_mix_diff, keys: *mut tact_mix_key) -> usize;
    pub fn tact_mix_diff_get_totals(diff: *const tact_mix_diff, out: *mut tact_mix_diff_totals) -> c_int;
    pub fn tact_mix_costs_create(out: *mut *mut tact_mix_costs, mix: *const tact_mix, arch: *const tact_arch, model: *const c_char, diag: *mut tact_diag) -> c_int;
    pub fn tact_mix_costs_create_all(out: *mut *mut tact_mix_costs, mixes: *const *const tact_mix, n: usize, arch: *const tact_arch, model: *const c_char, diag: *mut tact_diag) -> c_int;
    pub fn tact_mix_costs_destroy(costs: *mut tact_mix_costs);
    pub fn tact_mix_costs_count(costs: *const tact_mix_costs) -> usize;
    pub fn tact_mix_costs_get_row(costs: *const tact_mix_costs, i: usize, out: *mut tact_mix_cost) -> c_int;
    pub fn tact_mix_costs_get_totals(costs: *const tact_mix_costs, out: *mut tact_mix_costs_totals) -> c_int;
    pub fn tact_mix_trainer_create(out: *mut *mut tact_mix_trainer, diag: *mut tact_diag) -> c_int;
    pub fn tact_mix_trainer_destroy(trainer: *mut tact_mix_trainer);
    pub fn tact_mix_trainer_add(trainer: *mut tact_mix_trainer, sampled: *const tact_mix, exact: *const tact_mix, diag: *mut tact_diag) -> c_long;
    pub fn tact_mix_trainer_fit(trainer: *const tact_mix_trainer, opt: *const tact_mix_train_options, out: *mut *mut tact_mix_rule, diag: *mut tact_diag) -> c_int;
    pub fn tact_mix_trainer_choose(trainer: *const tact_mix_trainer, opt: *const tact_mix_train_options, out: *mut *mut tact_mix_rule, verdict: *mut tact_mix_verdict, diag: *mut tact_diag) -> c_int;
    pub fn tact_mix_record(opt: *const tact_mix_record_options, out: *mut tact_mix_recorded, diag: *mut tact_diag) -> c_int;
    pub fn tact_mix_emulate(opt: *const tact_mix_emulate_options, out: *mut tact_mix_emulated, diag: *mut tact_diag) -> c_int;
    pub fn tact_mix_count_windows(trace: *mut tact_trace, opt: *const tact_mix_windows_options, out: *mut tact_mix_windowed, diag: *mut tact_diag) -> c_int;
    pub fn tact_model_find(name: *const c_char, diag: *mut tact_diag) -> *const tact_model;
    pub fn tact_model_next(model: *const tact_model) -> *const tact_model;
    pub fn tact_model_title(name: *const c_char) -> usize;
    pub fn tact_model_expand(list: *const c_char, add: Option<unsafe extern "C" fn(arg: *mut c_void, name: *const c_char) -> c_int>, arg: *mut c_void, diag: *mut tact_diag) -> c_int;
    pub fn tact_model_open(out: *mut *mut tact_estimator, name: *const c_char, opt: *const tact_model_options, diag: *mut tact_diag) -> c_int;
    pub fn tact_model_close(estimator: *mut tact_estimator);
    pub fn tact_model_estimate(estimator: *mut tact_estimator, block: *mut tact_block, out: *mut tact_estimate) -> c_int;
    pub fn tact_model_stream_create(out: *mut *mut tact_stream, name: *const c_char, diag: *mut tact_diag) -> c_int;
    pub fn tact_model_run(names: *const *const c_char, n_models: usize, rows: *const tact_model_row, n: usize, opt: *const tact_model_options, take: Option<unsafe extern "C" fn(arg: *mut c_void, model: usize, row: usize, status: c_int, estimate: *const tact_estimate)>, arg: *mut c_void, diag: *mut tact_diag) -> c_int;
    pub fn tact_tuner_create(out: *mut *mut tact_tuner, opt: *const tact_tune_options, diag: *mut tact_diag) -> c_int;
    pub fn tact_tuner_destroy(tuner: *mut tact_tuner);
    pub fn tact_tuner_add(tuner: *mut tact_tuner, code: *const u8, size: usize, cycles: f64, group: *const c_char, diag: *mut tact_diag) -> c_int;
    pub fn tact_tuner_run(tuner: *mut tact_tuner, diag: *mut tact_diag) -> c_int;
    pub fn tact_tuner_save(tuner: *const tact_tuner, path: *const c_char, comment: *const c_char, diag: *mut tact_diag) -> c_int;
    pub fn tact_tuner_export_llvm(tuner: *const tact_tuner, path: *const c_char, comment: *const c_char, out: *mut tact_tune_export, diag: *mut tact_diag) -> c_int;
    pub fn tact_tuner_get_summary(tuner: *const tact_tuner, out: *mut tact_tune_summary) -> c_int;
    pub fn tact_tuner_get_row(tuner: *const tact_tuner, i: usize, out: *mut tact_tune_row) -> c_int;
    pub fn tact_tuner_get_change(tuner: *const tact_tuner, i: usize, out: *mut tact_tune_change) -> c_int;
    pub fn tact_tuner_get_histogram(tuner: *const tact_tuner, i: usize, out: *mut tact_tune_histogram) -> c_int;
    pub fn tact_tuner_sensitivity(tuner: *mut tact_tuner, out: *mut tact_tune_point, capacity: usize) -> c_int;
    pub fn tact_tuner_default_sensitivity(tuner: *mut tact_tuner, out: *mut tact_tune_point, capacity: usize) -> c_int;
    pub fn tact_version() -> u32;
    pub fn tact_view_bottleneck_name(b: c_uint) -> *const c_char;
    pub fn tact_view_bottleneck_name_on(arch: *const tact_arch, b: c_uint) -> *const c_char;
    pub fn tact_view_idealized(block: *mut tact_block, opt: *const tact_predict_options, b: c_uint, cycles: *mut f64) -> bool;
    pub fn tact_view_make(view: *const tact_view, kind: tact_view_kind, text: *mut *mut c_char, size: *mut usize) -> c_int;
}
