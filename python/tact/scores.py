# SPDX-License-Identifier: MIT
"""How well predictions agree with measurements."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .models import Predictions


@dataclass(frozen=True)
class Score:
    """The figures of the papers, over the blocks that have both numbers.

    mape    mean of |predicted - measured| / measured
    median  median of the same
    tau     Kendall's tau-b: how well the order of the blocks is met; NaN below two blocks
    n       blocks that count
    missing blocks without a prediction
    """
    mape: float
    median: float
    tau: float
    n: int
    missing: int

    def __str__(self) -> str:
        return '%d blocks (%d missing): MAPE %.2f%%, median %.2f%%, tau %.4f' % (
            self.n, self.missing, 100 * self.mape, 100 * self.median, self.tau)


def _inversions(values: np.ndarray) -> int:
    """Pairs i < j with values[i] > values[j]: a merge sort, all merges of one width at once."""
    ranks = np.unique(values, return_inverse=True)[1].astype(np.int64)
    n, width, found = len(ranks), 1, 0
    place = np.arange(n)
    while width < n:
        run = place // (2 * width)
        # merge by sorting: stable, so that equal values of the left run stay in front
        order = np.lexsort((ranks, run))
        is_right = (order // width) % 2 == 1
        before = np.cumsum(~is_right)
        lefts = np.minimum(n - run[order] * 2 * width, width)
        starts = np.concatenate(([0], before))[run[order] * 2 * width]
        found += int((lefts - (before - starts))[is_right].sum())
        ranks = ranks[order]
        width *= 2
    return found


def _tied(values: np.ndarray) -> int:
    counts = np.unique(values, return_counts=True)[1].astype(np.int64)
    return int((counts * (counts - 1) // 2).sum())


def kendall_tau(a: np.ndarray, b: np.ndarray) -> float:
    """Kendall's tau-b.

    >>> kendall_tau(np.array([1, 2, 3, 4]), np.array([1, 2, 4, 3])).__round__(4)
    0.6667
    """
    a, b = np.asarray(a, float), np.asarray(b, float)
    n = len(a)
    pairs = n * (n - 1) // 2
    order = np.lexsort((b, a))
    both = _tied(np.unique(np.column_stack((a, b)), axis=0, return_inverse=True)[1].ravel())
    tied_a, tied_b = _tied(a), _tied(b)
    below = ((pairs - tied_a) * (pairs - tied_b)) ** 0.5
    if not below:
        return float('nan')
    discordant = _inversions(b[order])
    return (pairs - tied_a - tied_b + both - 2 * discordant) / below


def evaluate(predicted: Predictions | np.ndarray, measured: np.ndarray) -> Score:
    """Compares predictions with measured cycles.  Rows without a measurement do not count.

    >>> evaluate(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0]))
    Score(mape=0.08333333333333333, median=0.0, tau=1.0, n=3, missing=0)
    """
    p = predicted.cycles if isinstance(predicted, Predictions) else np.asarray(predicted, float)
    m = np.asarray(measured, float)
    if p.shape != m.shape:
        raise ValueError('%d predictions and %d measurements' % (len(p), len(m)))
    known = np.isfinite(m) & (m > 0)
    good = known & np.isfinite(p)
    if not good.any():
        return Score(float('nan'), float('nan'), float('nan'), 0, int(known.sum()))
    p, m = p[good], m[good]
    error = np.abs(p - m) / m
    return Score(float(error.mean()), float(np.median(error)), kendall_tau(p, m), len(p),
                 int(known.sum()) - len(p))
