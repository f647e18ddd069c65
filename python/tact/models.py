# SPDX-License-Identifier: MIT
"""Predictions of many blocks at once."""
from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterable

import numpy as np

from . import _abi
from ._library import (ALIASES, INITS, MEMORIES, MODES, Handle, bound_names, check, encoded,
                       fail, in_range, lib, number_of, text)
from .arch import Arch, find
from .blocks import Blocks, Code, as_blocks

BOUNDS: list[str] = bound_names()
"""The bounds of the analytical model, in the order of Predictions.bounds."""

_CHUNK = 8192  # blocks that are handed to the library at a time: their jobs stay in the caches


class Predictions:
    """What a model says about an array of blocks.  All arrays have one row a block.

    cycles        cycles per iteration; NaN where status is not 0
    coverage      share of the instructions that there are tables for; below 1, cycles are a lower
                  bound
    status        0, or why there is no number: see reason()
    bottlenecks   bit b: BOUNDS[b] limits the block
    bounds        cycles per iteration if BOUNDS[b] were the only limit (column b); NaN where it does
                  not apply; None if the model has no bounds
    """

    def __init__(self, arch: Arch, model: str, n: int, has_bounds: bool):
        self.arch, self.model = arch, model
        self.cycles = np.full(n, np.nan)
        self.coverage = np.zeros(n)
        self.status = np.zeros(n, np.int32)
        self.bottlenecks = np.zeros(n, np.uint32)
        self.bounds: np.ndarray | None = np.full((n, len(BOUNDS)), np.nan) if has_bounds else None

    def __len__(self) -> int:
        return len(self.cycles)

    def __repr__(self) -> str:
        return 'Predictions(%s, %s: %d blocks, %d without a number)' % (
            self.arch.name, self.model, len(self), np.count_nonzero(self.status))

    def limited_by(self, bound: str) -> np.ndarray:
        """Which blocks a bound limits."""
        return (self.bottlenecks >> number_of(BOUNDS, bound, 'bound') & 1).astype(bool)

    def bottleneck(self) -> np.ndarray:
        """The names of the bounds that limit each block, joined by '+'."""
        masks, place = np.unique(self.bottlenecks, return_inverse=True)
        names = ['+'.join(n for b, n in enumerate(BOUNDS) if int(m) >> b & 1) for m in masks]
        return np.array(names, dtype=object)[place]

    def reason(self, i: int) -> str:
        """Why block i has no number; empty if it has one."""
        return text(lib.tact_strerror(int(self.status[i]))) if self.status[i] else ''


def block_options(mode: str, init: str, alignment: int, memory: str, alias: str) -> _abi.BlockOptions:
    """How blocks are taken, for the library."""
    return _abi.BlockOptions(mode=number_of(MODES, mode, 'mode'),
                             init=number_of(INITS, init, 'init'), alignment=in_range(alignment, 2**32 - 1, 'alignment'),
                             memory=number_of(MEMORIES, memory, 'memory'),
                             alias=number_of(ALIASES, alias, 'alias'))


def mask_of(bounds: Iterable[str] | None) -> int:
    """Names of bounds as a set; 0: all of them."""
    return 0 if bounds is None else sum({1 << number_of(BOUNDS, b, 'bound') for b in bounds})


def predict(blocks: Blocks | Code | Iterable[Code], arch: str | Arch = 'SKL', *,
            model: str = 'facile', mode: str = 'auto', init: str = 'stack', alignment: int = 0,
            memory: str = 'l1', alias: str = 'addresses', bounds: Iterable[str] | None = None,
            threads: int = 0) -> Predictions:
    """Predicts how many cycles an iteration of each block takes.

    `model` is `facile` (the analytical one), `sim` (the pipeline), `mca`, or any other that `tact
    evaluate --list-models` names.  `mode` says whether blocks are loops, unrolled, or loops if they
    end in a branch to their start (`auto`).  threads: 0 is one for each core.

    >>> p = predict(['4801d8', '480fafc3', '06'], 'SKL')
    >>> p.cycles.tolist()
    [1.0, 3.0, nan]
    >>> p.bottleneck()[0], p.reason(2)
    ('precedence', 'not an instruction')
    """
    found, cpu = as_blocks(blocks), find(arch)
    options = block_options(mode, init, alignment, memory, alias)
    threads = in_range(threads, 2**16, 'threads')
    if model != 'facile':
        if memory != 'l1' or alias != 'addresses':
            raise ValueError('memory and alias are for the model facile')
        return _run(found, cpu, model, options, bounds, threads)
    return _predict(found, cpu, options, bounds, threads)


def _addresses(blocks: Blocks) -> np.ndarray:
    blocks.check()
    return (blocks.data.ctypes.data + blocks.offsets[:-1]).astype(np.uintp)


def _predict(blocks: Blocks, arch: Arch, options: _abi.BlockOptions,
             bounds: Iterable[str] | None, threads: int) -> Predictions:
    out = Predictions(arch, 'facile', len(blocks), True)
    assert out.bounds is not None
    predictor, diag = Handle('tact_predictor_destroy'), _abi.Diag()
    how = _abi.PredictOptions(bounds=mask_of(bounds))
    check(lib.tact_predictor_create(ctypes.byref(predictor.pointer), arch.pointer,
                                    ctypes.byref(options), ctypes.byref(how), threads,
                                    ctypes.byref(diag)), diag)
    jobs = np.zeros(min(_CHUNK, len(blocks)), np.dtype(_abi.Job))
    jobs['size'] = ctypes.sizeof(_abi.Job)
    addresses, lengths = _addresses(blocks), blocks.lengths
    for begin in range(0, len(blocks), _CHUNK):
        rows = slice(begin, min(begin + _CHUNK, len(blocks)))
        part = jobs[:rows.stop - begin]
        part['code'], part['code_size'] = addresses[rows], lengths[rows]
        failed = check(lib.tact_predictor_run(predictor.pointer, part.ctypes.data, len(part)))
        _take(out, rows, part, failed)
    return out


def _take(out: Predictions, rows: slice, jobs: np.ndarray, failed: int) -> None:
    said = jobs['prediction']
    assert out.bounds is not None
    out.cycles[rows] = said['cycles_per_iteration']
    out.coverage[rows] = said['coverage']
    out.bottlenecks[rows] = said['bottlenecks']
    out.bounds[rows] = said['bound'][:, :len(BOUNDS)]
    applies = (said['applies'][:, None] >> np.arange(len(BOUNDS), dtype=np.uint32) & 1).astype(bool)
    out.bounds[rows][~applies] = np.nan
    if failed:
        out.status[rows] = jobs['status']
        bad = out.status[rows] < 0
        out.cycles[rows][bad] = np.nan
        out.coverage[rows][bad] = 0
        out.bottlenecks[rows][bad] = 0
        out.bounds[rows][bad] = np.nan


def _run(blocks: Blocks, arch: Arch, model: str, options: _abi.BlockOptions,
         bounds: Iterable[str] | None, threads: int) -> Predictions:
    """Models of the registry, which call back for each block."""
    out = Predictions(arch, model, len(blocks), False)
    rows = np.zeros(len(blocks), np.dtype(_abi.ModelRow))
    rows['size'] = ctypes.sizeof(_abi.ModelRow)
    rows['code'], rows['code_size'] = _addresses(blocks), blocks.lengths
    rows['arch'], rows['mode'] = arch.pointer, options.mode
    rows['init'], rows['alignment'] = options.init, options.alignment
    facile = _abi.PredictOptions(bounds=mask_of(bounds))
    opt, diag = _abi.ModelOptions(threads=threads), _abi.Diag()
    opt.facile = ctypes.addressof(facile)
    lock, errors = threading.Lock(), []

    def take(_arg, _model, row, status, estimate):
        try:
            if status < 0:
                out.status[row] = status
                return
            e = estimate.contents
            out.cycles[row], out.coverage[row] = e.cycles_per_iteration, e.coverage
            out.bottlenecks[row] = e.bottlenecks
        except BaseException as e:  # a callback cannot raise
            with lock:
                errors.append(e)

    names = (ctypes.c_char_p * 1)(encoded(model, 'model'))
    status = lib.tact_model_run(names, 1, rows.ctypes.data, len(rows), ctypes.byref(opt),
                                _abi.TAKE(take), None, ctypes.byref(diag))
    if errors:
        raise errors[0]
    if status < 0:
        raise fail(status, diag, model)
    return out
