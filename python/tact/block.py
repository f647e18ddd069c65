# SPDX-License-Identifier: MIT
"""One block: what limits it, why, and what happens in the pipeline."""
from __future__ import annotations

import ctypes
from collections.abc import Iterable
from dataclasses import dataclass, field

from . import _abi
from ._library import Handle, check, in_range, lib, text
from .arch import Arch, find
from .blocks import Code, as_blocks
from .models import BOUNDS, block_options, mask_of


@dataclass(frozen=True)
class Instruction:
    """An instruction in its block."""
    text: str
    code: bytes
    uops: int
    issued: int  # fused uops
    ports: dict[int, float]  # uops by port, spread as evenly as possible
    has_data: bool  # False: there is nothing in the tables, and it counts as one uop without a port


@dataclass(frozen=True)
class Link:
    """A step of the chain of dependences that limits a block."""
    instruction: int
    latency: int
    value: str  # what it passes on: a register, "flags", "memory"
    iterations: int  # 1: to the next iteration


@dataclass(frozen=True)
class Advice:
    """A change that makes the block faster, as predicted."""
    name: str
    text: str
    assumes: str
    before: float
    after: float
    code: bytes
    changes: str


@dataclass(frozen=True)
class Explanation:
    """The analytical prediction of one block, and why."""
    cycles: float
    coverage: float
    bottlenecks: list[str]
    bounds: dict[str, float]
    shares: dict[str, float]  # how the cycles divide among the bounds
    chain: list[Link]
    contended_ports: list[int]
    contending: list[int]  # the instructions whose uops need these ports
    interval: tuple[float, float] | None  # nine of ten measurements of such blocks fall into it


@dataclass(frozen=True)
class Uop:
    """A uop on its way through the pipeline.  Cycles count from 0; -1: it did not pass there."""
    iteration: int
    instruction: int
    uop: int
    port: int
    delivered: int
    issued: int
    ready: int
    dispatched: int
    executed: int
    retired: int
    waits: tuple[str, str, str, str]  # longest wait before the queue, in it, for operands, for a port


@dataclass(frozen=True)
class Simulated:
    """What the pipeline did with one block."""
    cycles: float
    repeats: bool  # the state of the pipeline recurred: the figure is exact for the model
    uncertainty: float
    bottlenecks: list[str]
    port_uops: list[dict[int, float]]  # by instruction
    spent: list[float]  # cycles by instruction; their sum is `cycles`
    timeline: list[Uop] = field(repr=False)


def _bits(mask: int) -> list[int]:
    return [b for b in range(32) if mask >> b & 1]


class Block:
    """One block on one CPU.

    >>> b = Block('4801d8', 'SKL')
    >>> b.instructions[0].text
    'add rax, rbx'
    >>> b.explain().bottlenecks
    ['precedence']
    >>> b.simulate().cycles
    1.0
    """

    def __init__(self, code: Code, arch: str | Arch = 'SKL', *, mode: str = 'auto',
                 init: str = 'stack', alignment: int = 0, memory: str = 'l1',
                 alias: str = 'addresses'):
        self.code, self.arch = as_blocks([code])[0], find(arch)
        self._handle, diag = Handle('tact_block_destroy'), _abi.Diag()
        options = block_options(mode, init, alignment, memory, alias)
        check(lib.tact_block_create(ctypes.byref(self._handle.pointer), self.arch.pointer,
                                    ctypes.byref(options), ctypes.byref(diag)), diag)
        check(lib.tact_block_load(self._handle.pointer, self.code, len(self.code),
                                  ctypes.byref(diag)), diag)

    def __len__(self) -> int:
        return lib.tact_block_length(self._handle.pointer)

    def __repr__(self) -> str:
        return 'Block(%r, %r)' % (self.code.hex(), self.arch.name)

    @property
    def instructions(self) -> list[Instruction]:
        """Its instructions, with what each costs."""
        found, size = [], len(self.code)
        isa, line = lib.tact_arch_isa(self.arch.pointer), ctypes.create_string_buffer(256)
        for i in range(len(self)):
            begin = lib.tact_block_offset(self._handle.pointer, i)
            end = lib.tact_block_offset(self._handle.pointer, i + 1)
            cost = _abi.InsnCost()
            check(lib.tact_block_cost(self._handle.pointer, i, ctypes.byref(cost)))
            check(lib.tact_isa_format(isa, self.code[begin:size], end - begin, begin, line, 256))
            found.append(Instruction(text(line.value), self.code[begin:end], cost.uops, cost.issued,
                                     {p: u for p, u in enumerate(cost.port) if u},
                                     not cost.notes & 1))
        return found

    def explain(self, *, bounds: Iterable[str] | None = None) -> Explanation:
        """Predicts the block, and says what limits it."""
        p, opt = _abi.Prediction(), _abi.PredictOptions(bounds=mask_of(bounds))
        shares, ports = _abi.Shares(), _abi.PortContention()
        block = self._handle.pointer
        check(lib.tact_predict(block, ctypes.byref(opt), ctypes.byref(p)))
        check(lib.tact_explain_shares(ctypes.byref(p), ctypes.byref(shares)))
        check(lib.tact_explain_ports_with(block, ctypes.byref(opt), ctypes.byref(ports)))
        contended, contending = _bits(ports.ports), list(ports.insns[:ports.n_insns])
        applying = [b for b in _bits(p.applies) if b < len(BOUNDS)]
        return Explanation(p.cycles_per_iteration, p.coverage,
                           [BOUNDS[b] for b in _bits(p.bottlenecks)],
                           {BOUNDS[b]: p.bound[b] for b in applying},
                           {BOUNDS[b]: shares.share[b] for b in applying},
                           self._chain(), contended, contending,
                           self._interval(p) if bounds is None else None)

    def _chain(self) -> list[Link]:
        chain, block = _abi.Chain(), self._handle.pointer
        check(lib.tact_explain_chain(block, ctypes.byref(chain)))
        return [Link(link.insn, link.latency,
                     text(lib.tact_explain_value(block, link.to_kind, link.to_reg)),
                     link.iterations) for link in chain.links[:chain.n_links]]

    def _interval(self, p: _abi.Prediction) -> tuple[float, float] | None:
        c = _abi.Confidence()
        check(lib.tact_confidence_find(self._handle.pointer, b'facile', ctypes.byref(p),
                                       ctypes.byref(c)))
        return (c.low, c.high) if c.has_interval else None

    def simulate(self, *, timeline: int = 0, max_cycles: int = 0) -> Simulated:
        """Simulates the block until the pipeline's state repeats or settles.

        timeline: so many iterations are shown, uop by uop.
        """
        uops: list[Uop] = []

        def on_uop(_arg, pointer):
            u = pointer.contents
            if u.iteration < timeline:
                uops.append(Uop(u.iteration, u.insn, u.uop, u.port, u.delivered, u.issued, u.ready,
                                u.dispatched, u.executed, u.retired,
                                tuple(text(lib.tact_wait_name(w)) for w in
                                      (u.front_wait, u.issue_wait, u.operand_wait, u.port_wait))))
            return 0

        simulator, diag = Handle('tact_simulator_destroy'), _abi.Diag()
        opt, out = _abi.SimOptions(max_cycles=in_range(max_cycles, 2**63, 'max_cycles'),
                                   min_iterations=in_range(timeline, 10**6, 'timeline')), \
            _abi.Simulation()
        if timeline:
            opt.on_uop = _abi.ON_UOP(on_uop)
        check(lib.tact_simulator_create(ctypes.byref(simulator.pointer), ctypes.byref(diag)), diag)
        check(lib.tact_simulate(simulator.pointer, self._handle.pointer, ctypes.byref(opt),
                                ctypes.byref(out)))
        ports, spent = [], []
        for i in range(len(self)):
            insn = _abi.SimInsn()
            check(lib.tact_simulated_insn(simulator.pointer, i, ctypes.byref(insn)))
            ports.append({p: u for p, u in enumerate(insn.port) if u})
            spent.append(insn.spent)
        names = [BOUNDS[b] for b in _bits(out.bottlenecks)]
        if out.scheduling:
            names.append('scheduling')
        return Simulated(out.cycles_per_iteration, out.repeats, out.uncertainty, names, ports, spent,
                         uops)

    def advise(self) -> list[Advice]:
        """Changes that make the block faster, the largest gain first."""
        advisor, diag = Handle('tact_advisor_destroy'), _abi.Diag()
        check(lib.tact_advisor_create(ctypes.byref(advisor.pointer), ctypes.byref(diag)), diag)
        n = check(lib.tact_advisor_run(advisor.pointer, self._handle.pointer, None))
        found = []
        for i in range(n):
            a = _abi.Advice()
            check(lib.tact_advisor_get(advisor.pointer, i, ctypes.byref(a)))
            found.append(Advice(text(a.name), text(a.text), text(a.assumes), a.before, a.after,
                                ctypes.string_at(a.code, a.code_size), text(a.changes)))
        return found
