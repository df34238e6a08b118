"""Modes that turn by more than half a turn within the step of a linear model, which the model shows too slow.

The multiplier of a step of length T is exp(s T): s and s + 2 pi i k / T are the same to it. Over a short step t the
mode turns less. Moving the system along its eigenvector v and projecting on the left one w gives its multiplier over t,

    m = w . dx(t) / (w . v),      k = round(T (arg(m) / t - Im s) / 2 pi),

up to frequencies of 1 / 2t.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import scipy.linalg

from dockfmu.statespace.coordinates import Coordinate, differences
from dockfmu.statespace.differences import scale
from dockfmu.statespace.model import FORGOTTEN
from dockfmu.statespace.operating_point import OperatingPoint

SHORT = 16
"""The short step is this part of a macro step: modes of up to this many times the highest frequency are known."""
MOVE = 1e-5
"""Size of the moves, relative to the scale of a coordinate."""
ALIKE = 0.1
"""Relative difference of multipliers that are those of one mode over two steps."""


def aliases(
    point: OperatingPoint, states: Sequence[Coordinate], a: np.ndarray, count: int
) -> Iterator[tuple[complex, complex]]:
    """Yield (apparent, true) eigenvalues, 1/s, of modes that the model `a` over `count` steps shows too slow.

    One of each pair of conjugates. A mode whose multiplier over the short step is that of no such eigenvalue is left
    out: it belongs to the coupling, or to something that is not smooth.
    """
    short, length = 1.0 / SHORT, point.step * count
    values, left, right = scipy.linalg.eig(a, left=True, right=True)
    for k, value in enumerate(values):
        if abs(value) < FORGOTTEN or value.imag < 0.0 or (value.imag == 0.0 and value.real > 0.0):
            continue
        turned = _after(point, states, right[:, k], short)
        overlap = np.vdot(left[:, k], right[:, k])
        if turned is None or overlap == 0.0:
            continue
        found = np.vdot(left[:, k], turned) / overlap
        if found == 0.0:
            continue
        apparent = np.log(complex(value)) / length
        turns = round(length * (np.angle(found) / (short * point.step) - apparent.imag) / (2.0 * np.pi))
        true = apparent + 2j * np.pi * turns / length
        if turns and abs(found / np.exp(true * short * point.step) - 1.0) < ALIKE:
            yield apparent, true


def _after(point: OperatingPoint, states: Sequence[Coordinate], along: np.ndarray, count: float) -> np.ndarray | None:
    """Return the derivative of the states after `count` steps along a complex direction; None if an FMU refuses."""
    difference = differences(states)
    found = np.zeros(len(states), complex)
    for part, factor in ((along.real, 1.0), (along.imag, 1j)):
        scales = np.array([scale(point.memory[state.indices[0]]) for state in states])
        largest = np.abs(part / scales).max()
        if largest == 0.0:
            continue
        sides = []
        for sign in (1.0, -1.0):
            moved = point.memory.copy()
            for state, amount in zip(states, part, strict=True):
                state.move(moved, sign * MOVE / largest * amount)
            result = point.after(moved, count)
            if result is None:
                return None
            sides.append(result)
        found += factor * difference(sides[0], sides[1]) * largest / (2.0 * MOVE)
    return found


def alias_note(pairs: Sequence[tuple[complex, complex]], step: float, count: int) -> str:
    """Return what to do about modes that the model over `count` macro steps shows too slow: one at least."""
    longest = np.pi / max(abs(true.imag) for _, true in pairs)
    if longest > step:
        asked = f"--count {int(longest / step)}"
    else:
        digit = 10.0 ** np.floor(np.log10(longest))
        asked = f"--step {digit * np.floor(longest / digit):.0e}".replace("e-0", "e-")
        asked += " and --count 1" if count > 1 else ""
    named = ", ".join(
        f"{abs(apparent) / (2.0 * np.pi):.4g} Hz is {abs(true) / (2.0 * np.pi):.4g} Hz" for apparent, true in pairs[:3]
    )
    more = f", and {len(pairs) - 3} more" if len(pairs) > 3 else ""
    return (
        f"{len(pairs)} of the modes turn by more than half a turn within {count * step:.4g} s, so that frequencies and "
        f"damping ratios are those of their aliases: {named}{more}; take {asked}"
    )
