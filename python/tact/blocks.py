# SPDX-License-Identifier: MIT
"""Many blocks of machine code in flat memory, and where they come from."""
from __future__ import annotations

import csv
import ctypes
import io
import os
from collections.abc import Iterable, Iterator
from typing import Union, overload

import numpy as np

from . import _abi
from ._library import TactError, Handle, check, encoded, fail, in_range, lib, text
from .arch import Arch, find

Code = Union[str, bytes, bytearray, memoryview]


class Blocks:
    """Blocks of code, one after the other in `data`; block i is data[offsets[i]:offsets[i + 1]].

    >>> b = Blocks(['4801d8', b'\\x90'])
    >>> len(b), b[0].hex(), b.lengths.tolist()
    (2, '4801d8', [3, 1])
    >>> b[1:].hex()
    ['90']

    `columns` holds what a CSV file says about each block, by the names of its columns, and `names`
    the functions, loops or markers that blocks were found by.
    """

    def __init__(self, blocks: Iterable[Code] | Blocks = ()):
        self.columns: dict[str, np.ndarray] = {}
        self.names: list[str] = []
        self.data: np.ndarray
        self.offsets: np.ndarray
        if isinstance(blocks, Blocks):
            self.data, self.offsets = blocks.data, blocks.offsets
            return
        if isinstance(blocks, (str, bytes, bytearray, memoryview)):
            blocks = [blocks]
        codes = [_code_of(b, i) for i, b in enumerate(blocks)]
        lengths = np.fromiter((len(c) for c in codes), np.int64, len(codes))
        self.data = np.frombuffer(b''.join(codes), np.uint8)
        self.offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))

    @classmethod
    def from_arrays(cls, data: np.ndarray, offsets: np.ndarray) -> Blocks:
        """Blocks in memory that is there already; it is neither copied nor changed."""
        self = cls()
        self.data = np.ascontiguousarray(data, np.uint8)
        self.offsets = np.ascontiguousarray(offsets, np.int64)
        self.check()
        return self

    def check(self) -> None:
        """Raises ValueError if offsets lead out of the data: others may have changed both since."""
        at = self.offsets
        # Compared, not subtracted: a difference of large numbers may be a small one.
        if (self.data.ndim != 1 or at.ndim != 1 or not len(at) or at[0] < 0
                or (at[1:] < at[:-1]).any() or at[-1] > len(self.data)):
            raise ValueError('offsets have to ascend from 0 to at most the size of data')

    @property
    def lengths(self) -> np.ndarray:
        """The size of each block in bytes."""
        return np.diff(self.offsets)

    def hex(self) -> list[str]:
        """All blocks as hex digits."""
        return [b.hex() for b in self]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[bytes]:
        data = self.data.tobytes()
        for begin, end in zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist()):
            yield data[begin:end]

    @overload
    def __getitem__(self, which: int) -> bytes: ...
    @overload
    def __getitem__(self, which: slice | np.ndarray) -> Blocks: ...

    def __getitem__(self, which):
        if isinstance(which, (int, np.integer)):
            i = range(len(self))[which]
            return self.data[self.offsets[i]:self.offsets[i + 1]].tobytes()
        rows = np.arange(len(self))[which]
        lengths = self.lengths[rows]
        chosen = Blocks()
        chosen.offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
        # the place of each byte: where its block begins, and how far it is from there
        places = (np.repeat(self.offsets[:-1][rows] - chosen.offsets[:-1], lengths)
                  + np.arange(chosen.offsets[-1]))
        chosen.data = self.data[places]
        chosen.columns = {name: values[rows] for name, values in self.columns.items()}
        if self.names:
            chosen.names = [self.names[i] for i in rows]
        return chosen

    def __repr__(self) -> str:
        return 'Blocks(%d blocks, %d bytes)' % (len(self), self.offsets[-1])


def _code_of(block: Code, i: int) -> bytes:
    if not isinstance(block, str):
        return bytes(block)
    try:
        return bytes.fromhex(block)
    except ValueError:
        raise TactError('block %d is not a string of hex digits: %r' % (i, block[:60])) from None


def as_blocks(blocks: Blocks | Code | Iterable[Code]) -> Blocks:
    """Blocks, whatever they are given as."""
    return blocks if isinstance(blocks, Blocks) else Blocks(blocks)  # type: ignore[arg-type]


# ---- text: hex strings, CSV ----

def _column(values: list[str]) -> np.ndarray:
    """Numbers if all are, and an empty cell is no number; otherwise text."""
    try:
        return np.array([float(v) if v else np.nan for v in values])
    except ValueError:
        return np.array(values)


def _read_hex(data: bytes) -> Blocks | None:
    """A list of nothing but hex digits, one block a line, and blank lines; None: something else."""
    lines = np.frombuffer(data if data.endswith(b'\n') else data + b'\n', np.uint8)
    ends = np.flatnonzero(lines == ord('\n'))
    digits = np.diff(ends, prepend=-1) - 1
    digits = digits[digits > 0]
    if (digits % 2).any():
        return None
    try:
        code = bytes.fromhex(data.decode('ascii'))
    except ValueError:
        return None
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(digits // 2)))
    return Blocks.from_arrays(np.frombuffer(code, np.uint8), offsets) \
        if offsets[-1] == len(code) else None


def _read_csv(data: bytes) -> Blocks | None:
    """A CSV file with a header that has a column `hex`; None: it is something else."""
    first, _, _ = data.partition(b'\n')
    header: list[str] = next(csv.reader([first.decode(errors='replace').strip()]), [])
    if 'hex' not in header:
        return None
    rows = [r for r in csv.reader(io.StringIO(data.decode(errors='replace'))) if r][1:]
    for number, row in enumerate(rows, 2):
        if len(row) != len(header):
            raise TactError('line %d has %d cells, the header %d'
                            % (number, len(row), len(header)), line=number)
    place = header.index('hex')
    blocks = Blocks([row[place] for row in rows])
    blocks.columns = {name: _column([row[i] for row in rows])
                      for i, name in enumerate(header) if i != place}
    return blocks


# ---- everything that the library reads ----

def _take_all(handle: Handle) -> Blocks:
    codes, names = [], []
    region, diag = _abi.Region(), _abi.Diag()
    while (status := lib.tact_input_next(handle.pointer, ctypes.byref(region),
                                         ctypes.byref(diag))) != 0:
        if status < 0:
            raise fail(status, diag, 'line %d' % diag.line if diag.line else '')
        codes.append(ctypes.string_at(region.code, region.code_size))
        names.append(text(region.name) or text(region.function))
    blocks = Blocks(codes)
    if any(names):
        blocks.names = names
    return blocks


def _options(arch: str | Arch | None, function: str | None, loop: int) -> _abi.InputOptions:
    options = _abi.InputOptions(loop=in_range(loop, 2**31, 'loop'))
    if function is not None:
        options.function = encoded(function, 'function')
    if arch is not None:
        options.isa = lib.tact_arch_isa(find(arch).pointer)
    return options


def read(path: str | os.PathLike[str], *, arch: str | Arch | None = None,
         function: str | None = None, loop: int = 0) -> Blocks:
    """Reads blocks: a list of hex strings, a CSV file with a column `hex`, assembly text, or an
    object file or program, whose loops (or markers) are the blocks.

    `arch` says what bytes and text are for, if they do not tell themselves.
    """
    name = encoded(path, 'path')
    if function is None and not loop:
        with open(path, 'rb') as f:
            head = f.read(4)
            if head != b'\x7fELF' and head != b'!<ar':
                data = head + f.read()
                found = _read_hex(data) or _read_csv(data)
                if found is not None:
                    return found
    handle, diag = Handle('tact_input_close'), _abi.Diag()
    options = _options(arch, function, loop)
    check(lib.tact_input_open(ctypes.byref(handle.pointer), name, ctypes.byref(options),
                              ctypes.byref(diag)), diag, os.fsdecode(name))
    return _take_all(handle)


def assemble(source: str, *, arch: str | Arch | None = None) -> Blocks:
    """Assembles text, AT&T or Intel, with the system's assembler.

    >>> assemble('add rax, rbx').hex()
    ['4801d8']
    """
    handle, diag = Handle('tact_input_close'), _abi.Diag()
    options = _options(arch, None, 0)
    options.kind = 3  # TACT_INPUT_ASM
    data = source.encode()
    check(lib.tact_input_open_memory(ctypes.byref(handle.pointer), data, len(data),
                                     ctypes.byref(options), ctypes.byref(diag)), diag)
    return _take_all(handle)
