# SPDX-License-Identifier: MIT
"""Measures blocks on this machine."""
from __future__ import annotations

import ctypes
from collections.abc import Iterable

import numpy as np

from . import _abi
from ._library import INITS, MODES, Handle, check, in_range, lib, number_of, text
from .blocks import Blocks, Code, as_blocks


class Measurements:
    """What blocks took on this machine.  All arrays have one row a block.

    cycles   cycles per iteration; NaN where status is not 'ok'
    status   'ok', or why there is no number: 'refused', 'pages', 'unstable', ...
    spread   coefficient of variation of the passes
    agree    rounds that saw the number
    reasons  for people; empty where there is a number
    rung     what counted the cycles: 'rdpmc', 'perf', 'aperf' or 'tsc'
    """

    def __init__(self, n: int):
        self.cycles = np.full(n, np.nan)
        self.status = np.full(n, '', dtype=object)
        self.spread = np.zeros(n)
        self.agree = np.zeros(n, np.int32)
        self.reasons: list[str] = [''] * n
        self.rung = ''

    def __len__(self) -> int:
        return len(self.cycles)

    def __repr__(self) -> str:
        return 'Measurements(%s: %d blocks, %d without a number)' % (
            self.rung, len(self), np.count_nonzero(np.isnan(self.cycles)))


def _measure_one(harness: Handle, code: bytes, rounds: int) -> _abi.Measurement:
    seen, m = Handle('tact_rounds_destroy'), _abi.Measurement()
    check(lib.tact_rounds_create(ctypes.byref(seen.pointer)))
    for _ in range(rounds):
        check(lib.tact_measure(harness.pointer, code, len(code), ctypes.byref(m)))
        check(lib.tact_rounds_add(seen.pointer, ctypes.byref(m)))
        if lib.tact_rounds_is_confirmed(seen.pointer):
            break
    check(lib.tact_rounds_result(seen.pointer, ctypes.byref(m)))
    return m


def measure(blocks: Blocks | Code | Iterable[Code], *, mode: str = 'auto', init: str = 'stack',
            rounds: int = 8, cpu: int | None = None, namespaces: bool = True) -> Measurements:
    """Runs each block on this CPU and counts its cycles.

    A block is measured in several rounds, until two of them agree, at most `rounds` times; with
    rounds=1 a number is taken as it comes.  Blocks run in a sandboxed process: whatever they do, the
    caller survives.  Containers without user namespaces need namespaces=False.
    """
    if rounds < 1:
        raise ValueError('rounds begin at 1')
    found = as_blocks(blocks)
    options, diag = _abi.MeasureOptions(), _abi.Diag()
    options.mode, options.init = number_of(MODES, mode, 'mode'), number_of(INITS, init, 'init')
    options.no_namespaces = not namespaces
    if cpu is not None:
        options.pin, options.cpu = True, in_range(cpu, 2**20, 'cpu')
    harness = Handle('tact_harness_destroy')
    check(lib.tact_harness_create(ctypes.byref(harness.pointer), ctypes.byref(options),
                                  ctypes.byref(diag)), diag)
    out = Measurements(len(found))
    out.rung = text(lib.tact_rung_name(lib.tact_harness_rung(harness.pointer)))
    for i, code in enumerate(found):
        m = _measure_one(harness, code, rounds)
        out.status[i] = text(lib.tact_measure_status_name(m.status))
        if out.status[i] == 'ok':
            out.cycles[i], out.spread[i] = m.cycles_per_iteration, m.spread
        out.agree[i], out.reasons[i] = m.agree, text(m.reason)
    return out
