# SPDX-License-Identifier: MIT
"""Microarchitectures."""
from __future__ import annotations

from ._library import TactError, encoded, lib, text


class Arch:
    """A CPU that there is a model of.

    >>> Arch('skylake')
    Arch('SKL')
    >>> Arch('skylake').full_name
    'Skylake'
    """

    def __init__(self, name: str):
        self.pointer = (lib.tact_arch_host() if name == 'native'
                        else lib.tact_arch_find(encoded(name, 'name')))
        if not self.pointer:
            raise TactError('there is no model of %s; tact.archs() lists the models'
                            % ('this CPU' if name == 'native' else repr(name)))

    @property
    def name(self) -> str:
        """Its short name, such as SKL."""
        return text(lib.tact_arch_name(self.pointer))

    @property
    def full_name(self) -> str:
        """Its name for people."""
        return text(lib.tact_arch_full_name(self.pointer))

    @property
    def isa(self) -> str:
        """Its instruction set."""
        return text(lib.tact_isa_name(lib.tact_arch_isa(self.pointer)))

    @property
    def is_verified(self) -> bool:
        """Whether its predictions were compared with measured blocks of the same core."""
        return bool(lib.tact_arch_is_verified(self.pointer))

    @property
    def caveat(self) -> str:
        """What a report has to say about its model; empty if it is verified."""
        return text(lib.tact_arch_caveat(self.pointer))

    def __repr__(self) -> str:
        return 'Arch(%r)' % self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Arch) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)


def archs() -> list[Arch]:
    """All built-in models, the oldest first.  LLVM's are found by name as well: Arch('cortex-a57').

    >>> Arch('ZEN4') in archs()
    True
    """
    found, pointer = [], lib.tact_arch_next(None)
    while pointer:
        found.append(Arch(text(lib.tact_arch_name(pointer))))
        pointer = lib.tact_arch_next(pointer)
    return found


def find(arch: str | Arch) -> Arch:
    """An architecture by its name, or itself."""
    return arch if isinstance(arch, Arch) else Arch(arch)
