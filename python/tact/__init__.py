# SPDX-License-Identifier: MIT
"""How many cycles machine code takes on a CPU, and why.

>>> import tact
>>> tact.predict(['4801d8', '480fafc3'], 'SKL').cycles.tolist()
[1.0, 3.0]
>>> tact.Block('480fafc3', 'SKL').explain().chain[0].value
'rax'
"""
from __future__ import annotations

from ._library import TactError, lib as _lib
from .arch import Arch, archs
from .block import Advice, Block, Explanation, Instruction, Link, Simulated, Uop
from .blocks import Blocks, assemble, read
from .measuring import Measurements, measure
from .models import BOUNDS, Predictions, predict
from .scores import Score, evaluate, kendall_tau

TactError.__module__ = 'tact'  # the name that people see
__version__ = '%d.%d.%d' % (_lib.tact_version() >> 16, _lib.tact_version() >> 8 & 0xff,
                            _lib.tact_version() & 0xff)
__all__ = ['Advice', 'Arch', 'BOUNDS', 'Block', 'Blocks', 'Explanation', 'Instruction', 'Link',
           'Measurements', 'Predictions', 'Score', 'Simulated', 'TactError', 'Uop', 'archs',
           'assemble', 'evaluate', 'kendall_tau', 'measure', 'predict', 'read']
