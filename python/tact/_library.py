# SPDX-License-Identifier: MIT
"""Finds libtact and loads it, and turns its statuses into exceptions."""
from __future__ import annotations

import ctypes
import ctypes.util
import os

from . import _abi

VERSION = (0, 1)  # of the headers that _abi.py describes: major, minor


class TactError(Exception):
    """What the library refused, with its status (a negative number) and where it was.

    `line` is that of a text (0: none), `offset` a byte of the input or of the block's code.
    """

    def __init__(self, text: str, status: int = 0, line: int = 0, offset: int = 0):
        super().__init__(text)
        self.status, self.line, self.offset = status, line, offset


def _candidates() -> list[str]:
    named = os.environ.get('TACT_LIBRARY')
    if named:
        return [named]
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'native', 'libtact.so.0')
    found = ctypes.util.find_library('tact')
    return [p for p in (own if os.path.exists(own) else None, 'libtact.so.0', found) if p]


def _load() -> ctypes.CDLL:
    failures = []
    for path in _candidates():
        try:
            library = ctypes.CDLL(path)
            break
        except OSError as e:
            failures.append(str(e))
    else:
        raise ImportError('libtact cannot be loaded: %s. Install it, or let TACT_LIBRARY name '
                          'the file' % '; '.join(failures))
    for name, (result, arguments) in _abi.FUNCTIONS.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError('libtact is too old for this package: it has no %s' % name) from None
        function.restype, function.argtypes = result, arguments
    version = library.tact_version()
    if version >> 16 != VERSION[0] or (version >> 8 & 0xff) < VERSION[1]:
        raise ImportError('libtact has version %d.%d, and this package is for %d.%d'
                          % (version >> 16, version >> 8 & 0xff, *VERSION))
    return library


lib = _load()


def text(value: bytes | None) -> str:
    """A string of the library."""
    return value.decode(errors='replace') if value else ''


def fail(status: int, diag: _abi.Diag | None = None, about: str = '') -> TactError:
    """The exception for a status."""
    reason = text(diag.text) if diag is not None and diag.text else text(lib.tact_strerror(status))
    return TactError('%s: %s' % (about, reason) if about else reason, status,
                     diag.line if diag is not None else 0, diag.offset if diag is not None else 0)


def check(status: int, diag: _abi.Diag | None = None, about: str = '') -> int:
    """Raises what a status says if it is negative."""
    if status < 0:
        raise fail(status, diag, about)
    return status


class Handle:
    """Owns what a function of the library created."""

    def __init__(self, destroy: str):
        self.pointer = ctypes.c_void_p()
        self._destroy = getattr(lib, destroy)

    def __del__(self) -> None:
        if getattr(self, 'pointer', None):
            self._destroy(self.pointer)
            self.pointer = ctypes.c_void_p()


def number_of(names: list[str], value: str, what: str) -> int:
    """The place of a name, as the enums of the library number them."""
    try:
        return names.index(value)
    except ValueError:
        raise ValueError('%s is one of %s, not %r' % (what, ', '.join(names), value)) from None


def encoded(value: str | bytes | os.PathLike[str], what: str) -> bytes:
    """Text or a path for the library, which would take a NUL for its end."""
    data = os.fsencode(value)
    if b'\0' in data:
        raise ValueError('%s has a NUL: %r' % (what, value))
    return data


def in_range(value: int, most: int, what: str) -> int:
    """A number that the library can take: ctypes would cut off what is too large."""
    if not 0 <= value <= most:
        raise ValueError('%s is between 0 and %d, not %d' % (what, most, value))
    return value


MODES = ['auto', 'loop', 'unroll']
INITS = ['stack', 'same', 'diff']
MEMORIES = ['l1', 'l2', 'l3', 'ram']
ALIASES = ['addresses', 'never', 'always']


def bound_names() -> list[str]:
    """The bounds that the library knows, as columns spell them."""
    names: list[str] = []
    while (name := text(lib.tact_bound_column(len(names)))) != 'unknown':
        names.append(name)
    return names
