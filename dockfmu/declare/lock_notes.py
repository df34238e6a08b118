"""Locks of declared mechanisms beside craft that step at once with them.

A lock learns by the twist of its base where the next step begins how far the craft has yielded to its impulse
(`components.multibody.yielding`). A craft that steps at once with its mechanism, as with `jacobi`, gets the impulse one
step later still.
"""

from __future__ import annotations

from collections.abc import Iterator

from dockfmu.declare.base_motion import carried
from dockfmu.master.algorithms import Algorithm
from dockfmu.master.system import Structure

LOCK = "lock."


def lock_notes(system: Structure, algorithm: Algorithm) -> Iterator[str]:
    """Yield a sentence about each declared mechanism whose locks cannot learn how far their craft yields."""
    stages = algorithm.scheme(system.execution_order()).stages
    for one in carried(system):
        if not any(name.startswith(LOCK) for name in system.description(one.mechanism).variables):
            continue
        if any({one.mechanism, one.craft} <= set(stage) for stage in stages):
            yield (
                f"{one.mechanism} and {one.craft} step at once with {algorithm.name}: impulse and loss of locks of "
                f"{one.mechanism} are those beside a craft that does not yield, and its energy does not balance where "
                f"{one.craft} is light; take gauss_seidel"
            )
