# SPDX-License-Identifier: MIT
"""What include/tact/*.h declares, for ctypes.  A test compares every member with the headers.

Structs that begin with `size` may be shorter here than in the library: it writes no more than that.
"""
from __future__ import annotations

import ctypes
from ctypes import (POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_int, c_int8, c_int16,
                    c_int64, c_long, c_size_t, c_uint, c_uint8, c_uint16, c_uint32, c_uint64,
                    c_void_p)

MAX_BOUNDS = 32
MAX_PORTS = 32
MAX_SOURCES = 16
MAX_OPERANDS = 10


class Diag(Structure):
    """struct tact_diag"""
    _fields_ = [('line', c_uint64), ('offset', c_uint64), ('text', c_char * 240)]


class Sized(Structure):
    """A struct whose first member is its size."""

    def __init__(self, **members: object) -> None:
        super().__init__(size=ctypes.sizeof(type(self)), **members)


class BlockOptions(Sized):
    """struct tact_block_options"""
    _fields_ = [('size', c_size_t), ('mode', c_int), ('init', c_int), ('alignment', c_uint),
                ('paper', c_bool), ('memory', c_int), ('alias', c_int), ('moving', c_uint32),
                ('setting', c_uint16)]


class PredictOptions(Sized):
    """struct tact_predict_options"""
    _fields_ = [('size', c_size_t), ('bounds', c_uint32), ('simple_predecoder', c_bool),
                ('simple_decoder', c_bool), ('exact_ports', c_bool), ('stop_above', c_double)]


class Prediction(Sized):
    """struct tact_prediction"""
    _fields_ = [('size', c_size_t), ('cycles_per_iteration', c_double), ('coverage', c_double),
                ('mode', c_int), ('applies', c_uint32), ('bottlenecks', c_uint32),
                ('is_stopped', c_bool), ('bound', c_double * MAX_BOUNDS)]


class Job(Sized):
    """struct tact_job"""
    _fields_ = [('size', c_size_t), ('code', c_void_p), ('code_size', c_size_t), ('status', c_int),
                ('prediction', Prediction)]  # type: ignore[list-item]  # typeshed: plain types


class Shares(Sized):
    """struct tact_shares"""
    _fields_ = [('size', c_size_t), ('share', c_double * MAX_BOUNDS), ('set', c_uint32),
                ('without', c_double)]


class PortContention(Sized):
    """struct tact_port_contention"""
    _fields_ = [('size', c_size_t), ('ports', c_uint), ('uops', c_double),
                ('insns', POINTER(c_uint32)), ('n_insns', c_size_t)]


class ChainLink(Structure):
    """struct tact_chain_link"""
    _fields_ = [('insn', c_uint32), ('latency', c_uint), ('iterations', c_uint),
                ('from_kind', c_uint8), ('to_kind', c_uint8), ('from_reg', c_uint8),
                ('to_reg', c_uint8), ('input', c_uint8), ('output', c_uint8)]


class Chain(Sized):
    """struct tact_chain"""
    _fields_ = [('size', c_size_t), ('cycles_per_iteration', c_double), ('latency', c_uint),
                ('iterations', c_uint), ('links', POINTER(ChainLink)), ('n_links', c_size_t)]


class InsnCost(Sized):
    """struct tact_insn_cost"""
    _fields_ = [('size', c_size_t), ('notes', c_uint), ('uops', c_uint), ('issued', c_uint),
                ('mite', c_uint), ('ms', c_uint), ('divider', c_uint),
                ('port', c_double * MAX_PORTS), ('exclusive', c_uint)]


class Confidence(Sized):
    """struct tact_confidence"""
    _fields_ = [('size', c_size_t), ('has_interval', c_bool), ('is_borrowed', c_bool),
                ('level', c_double), ('low', c_double), ('high', c_double), ('kind', c_char_p),
                ('learned_on', c_char_p), ('rows', c_size_t), ('n_known', c_size_t),
                ('n_insns', c_size_t), ('reason', c_char * 320)]


class Advice(Sized):
    """struct tact_advice"""
    _fields_ = [('size', c_size_t), ('name', c_char_p), ('text', c_char_p), ('assumes', c_char_p),
                ('before', c_double), ('after', c_double), ('insns', POINTER(c_uint32)),
                ('n_insns', c_size_t), ('code', POINTER(c_uint8)), ('code_size', c_size_t),
                ('alignment', c_uint), ('copies', c_uint), ('changes', c_char_p)]


class SimUop(Structure):
    """struct tact_sim_uop"""
    _fields_ = [('iteration', c_uint64), ('insn', c_uint32), ('uop', c_uint8), ('slot', c_uint8),
                ('source', c_uint8), ('port', c_int8), ('eliminated', c_bool),
                ('delivered', c_int64), ('issued', c_int64), ('ready', c_int64),
                ('dispatched', c_int64), ('executed', c_int64), ('retired', c_int64),
                ('front_wait', c_uint8), ('issue_wait', c_uint8), ('operand_wait', c_uint8),
                ('port_wait', c_uint8), ('wait_insn', c_uint32)]


ON_UOP = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(SimUop))


class SimOptions(Sized):
    """struct tact_sim_options"""
    _fields_ = [('size', c_size_t), ('max_cycles', c_uint64), ('min_iterations', c_uint64),
                ('on_uop', ON_UOP), ('arg', c_void_p), ('only_repeats', c_bool)]


class SimInsn(Sized):
    """struct tact_sim_insn"""
    _fields_ = [('size', c_size_t), ('by_source', c_double * MAX_SOURCES), ('issued', c_double),
                ('port', c_double * MAX_PORTS), ('divider', c_double), ('wait_operand', c_double),
                ('wait_port', c_double), ('spent', c_double)]


class Simulation(Sized):
    """struct tact_simulation"""
    _fields_ = [('size', c_size_t), ('cycles_per_iteration', c_double), ('coverage', c_double),
                ('mode', c_int), ('repeats', c_bool), ('scheduling', c_bool), ('period', c_uint64),
                ('cycles', c_uint64), ('iterations', c_uint64), ('source', c_int),
                ('bottlenecks', c_uint32), ('bounds', c_void_p), ('stopped', c_bool),
                ('method', c_int), ('uncertainty', c_double)]


class ModelOptions(Sized):
    """struct tact_model_options"""
    _fields_ = [('size', c_size_t), ('arch', c_void_p), ('bounds', c_bool), ('facile', c_void_p),
                ('mca', c_void_p), ('max_cycles', c_uint64), ('timeout', c_uint),
                ('threads', c_uint), ('stores', c_void_p), ('n_stores', c_size_t),
                ('say', c_void_p), ('say_arg', c_void_p)]


class ModelRow(Sized):
    """struct tact_model_row"""
    _fields_ = [('size', c_size_t), ('code', c_void_p), ('code_size', c_size_t),
                ('arch', c_void_p), ('mode', c_int), ('init', c_int), ('store', c_uint32),
                ('block', c_int64), ('alignment', c_uint)]


class Estimate(Sized):
    """struct tact_estimate"""
    _fields_ = [('size', c_size_t), ('cycles_per_iteration', c_double), ('coverage', c_double),
                ('bottlenecks', c_uint32), ('scheduling', c_bool), ('bounds', c_void_p)]


TAKE = ctypes.CFUNCTYPE(None, c_void_p, c_size_t, c_size_t, c_int, POINTER(Estimate))


class InputOptions(Sized):
    """struct tact_input_options"""
    _fields_ = [('size', c_size_t), ('kind', c_int), ('syntax', c_int), ('function', c_char_p),
                ('addr_begin', c_uint64), ('addr_end', c_uint64), ('loop', c_int),
                ('isa', c_void_p), ('is_mangled', c_bool), ('all_functions', c_bool),
                ('skip_unknown', c_bool), ('excerpt', c_void_p), ('compiler', c_void_p),
                ('path', c_int), ('is_whole', c_bool)]


class Region(Sized):
    """struct tact_region"""
    _fields_ = [('size', c_size_t), ('isa', c_void_p), ('code', c_void_p), ('code_size', c_size_t),
                ('address', c_uint64), ('line', c_uint64), ('name', c_char_p),
                ('function', c_char_p), ('source', c_char_p), ('text', c_void_p),
                ('text_size', c_size_t), ('is_loop', c_bool)]


class MeasureOptions(Sized):
    """struct tact_measure_options"""
    _fields_ = [('size', c_size_t), ('mode', c_int), ('init', c_int), ('rung', c_int),
                ('pin', c_bool), ('cpu', c_int), ('pages', c_uint), ('max_pages', c_uint),
                ('passes', c_uint), ('samples', c_uint), ('timeout_ms', c_uint),
                ('max_spread', c_double), ('memory', c_int), ('vectors', c_int),
                ('wait_ms', c_uint), ('cpus', c_void_p), ('n_cpus', c_uint),
                ('no_namespaces', c_bool), ('state', c_char_p), ('noisy', c_bool)]


class Measurement(Sized):
    """struct tact_measurement"""
    _fields_ = [('size', c_size_t), ('status', c_int), ('cycles_per_iteration', c_double),
                ('spread', c_double), ('kept', c_uint), ('dropped', c_uint), ('rung', c_int),
                ('mode', c_int), ('init', c_int), ('flags', c_uint32), ('low', c_uint),
                ('high', c_uint), ('n_pages', c_uint), ('reason', c_char * 160),
                ('alignment', c_uint), ('memory', c_int), ('vectors', c_int), ('cpu', c_int),
                ('disturbance', c_double), ('rounds', c_uint), ('agree', c_uint),
                ('disturbed', c_uint)]


class Operand(Structure):
    """struct tact_operand"""
    _fields_ = [('kind', c_uint8), ('access', c_uint8), ('number', c_uint8),
                ('explicit_operand', c_bool), ('bits', c_uint16), ('reg', c_uint8),
                ('first_byte', c_uint8), ('implicit_pointer', c_bool), ('role', c_uint8),
                ('base', c_uint8), ('index', c_uint8), ('scale', c_uint8), ('segment', c_uint8)]


class Insn(Structure):
    """struct tact_insn"""
    _fields_ = [('form', c_uint16), ('mnemonic', c_uint16), ('attributes', c_uint32),
                ('length', c_uint8), ('opcode_offset', c_uint8), ('immediate_bits', c_uint8),
                ('condition', c_uint8), ('flags_read', c_uint8), ('flags_written', c_uint8),
                ('value_effect', c_uint8), ('n_operands', c_uint8), ('flow', c_uint8),
                ('pointer_reg', c_uint8), ('pointer_change', c_int16), ('base_change', c_int16),
                ('setting', c_uint16), ('displacement', c_int64), ('immediate', c_int64),
                ('operand', Operand * MAX_OPERANDS)]


# Results and arguments of the functions that are called.
_HANDLE = c_void_p
_OUT = POINTER(c_void_p)
_DIAG = POINTER(Diag)
FUNCTIONS: dict[str, tuple[object, list[object]]] = {
    'tact_version': (c_uint32, []),
    'tact_strerror': (c_char_p, [c_int]),
    'tact_bound_name': (c_char_p, [c_int]),
    'tact_bound_column': (c_char_p, [c_int]),
    'tact_bound_name_on': (c_char_p, [_HANDLE, c_int]),
    'tact_wait_name': (c_char_p, [c_int]),
    'tact_uop_source_name_on': (c_char_p, [_HANDLE, c_int]),
    'tact_rung_name': (c_char_p, [c_int]),
    'tact_measure_status_name': (c_char_p, [c_int]),
    'tact_arch_find': (_HANDLE, [c_char_p]),
    'tact_arch_next': (_HANDLE, [_HANDLE]),
    'tact_arch_host': (_HANDLE, []),
    'tact_arch_name': (c_char_p, [_HANDLE]),
    'tact_arch_full_name': (c_char_p, [_HANDLE]),
    'tact_arch_caveat': (c_char_p, [_HANDLE]),
    'tact_arch_is_verified': (c_bool, [_HANDLE]),
    'tact_arch_isa': (_HANDLE, [_HANDLE]),
    'tact_arch_llvm_check': (c_int, [_DIAG]),
    'tact_isa_name': (c_char_p, [_HANDLE]),
    'tact_isa_default': (_HANDLE, []),
    'tact_isa_form_name': (c_char_p, [_HANDLE, c_uint]),
    'tact_isa_format': (c_int, [_HANDLE, c_void_p, c_size_t, c_uint64, c_char_p, c_size_t]),
    'tact_block_create': (c_int, [_OUT, _HANDLE, POINTER(BlockOptions), _DIAG]),
    'tact_block_load': (c_int, [_HANDLE, c_char_p, c_size_t, _DIAG]),
    'tact_block_destroy': (None, [_HANDLE]),
    'tact_block_mode': (c_int, [_HANDLE]),
    'tact_block_length': (c_size_t, [_HANDLE]),
    'tact_block_offset': (c_size_t, [_HANDLE, c_size_t]),
    'tact_block_coverage': (c_double, [_HANDLE]),
    'tact_block_insn': (c_int, [_HANDLE, c_size_t, POINTER(Insn)]),
    'tact_block_cost': (c_int, [_HANDLE, c_size_t, POINTER(InsnCost)]),
    'tact_predict': (c_int, [_HANDLE, POINTER(PredictOptions), POINTER(Prediction)]),
    'tact_explain_shares': (c_int, [POINTER(Prediction), POINTER(Shares)]),
    'tact_explain_ports_with': (c_int, [_HANDLE, POINTER(PredictOptions),
                                        POINTER(PortContention)]),
    'tact_explain_chain': (c_int, [_HANDLE, POINTER(Chain)]),
    'tact_explain_value': (c_char_p, [_HANDLE, c_uint, c_uint]),
    'tact_confidence_find': (c_int, [_HANDLE, c_char_p, POINTER(Prediction),
                                     POINTER(Confidence)]),
    'tact_advisor_create': (c_int, [_OUT, _DIAG]),
    'tact_advisor_destroy': (None, [_HANDLE]),
    'tact_advisor_run': (c_int, [_HANDLE, _HANDLE, c_void_p]),
    'tact_advisor_get': (c_int, [_HANDLE, c_size_t, POINTER(Advice)]),
    'tact_predictor_create': (c_int, [_OUT, _HANDLE, POINTER(BlockOptions),
                                      POINTER(PredictOptions), c_uint, _DIAG]),
    'tact_predictor_destroy': (None, [_HANDLE]),
    'tact_predictor_run': (c_long, [_HANDLE, c_void_p, c_size_t]),
    'tact_simulator_create': (c_int, [_OUT, _DIAG]),
    'tact_simulator_destroy': (None, [_HANDLE]),
    'tact_simulate': (c_int, [_HANDLE, _HANDLE, POINTER(SimOptions), POINTER(Simulation)]),
    'tact_simulated_insn': (c_int, [_HANDLE, c_size_t, POINTER(SimInsn)]),
    'tact_model_run': (c_int, [POINTER(c_char_p), c_size_t, c_void_p, c_size_t,
                               POINTER(ModelOptions), TAKE, c_void_p, _DIAG]),
    'tact_input_open': (c_int, [_OUT, c_char_p, POINTER(InputOptions), _DIAG]),
    'tact_input_open_memory': (c_int, [_OUT, c_char_p, c_size_t, POINTER(InputOptions), _DIAG]),
    'tact_input_next': (c_int, [_HANDLE, POINTER(Region), _DIAG]),
    'tact_input_close': (None, [_HANDLE]),
    'tact_harness_create': (c_int, [_OUT, POINTER(MeasureOptions), _DIAG]),
    'tact_harness_destroy': (None, [_HANDLE]),
    'tact_harness_rung': (c_int, [_HANDLE]),
    'tact_measure': (c_int, [_HANDLE, c_void_p, c_size_t, POINTER(Measurement)]),
    'tact_rounds_create': (c_int, [_OUT]),
    'tact_rounds_destroy': (None, [_HANDLE]),
    'tact_rounds_add': (c_int, [_HANDLE, POINTER(Measurement)]),
    'tact_rounds_is_confirmed': (c_bool, [_HANDLE]),
    'tact_rounds_result': (c_int, [_HANDLE, POINTER(Measurement)]),
}
