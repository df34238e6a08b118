"""Locks of declared mechanisms that cannot learn how far their craft yields.

A lock learns by the twist of its base where the next step begins how far the craft has yielded to its impulse
(`components.multibody.yielding`). A craft that steps at once with its mechanism, as with `jacobi`, gets the impulse one
step later still. With inputs that are lines over a step, as with `midpoint` or `quasi_newton`, that twist is the one in
the middle of the step.
"""

from __future__ import annotations

from collections.abc import Iterator

from dockfmu.declare.base_motion import carried
from dockfmu.master.algorithms import Algorithm
from dockfmu.master.system import Structure

LOCK = "lock."


def lock_notes(system: Structure, algorithm: Algorithm) -> Iterator[str]:
    """Yield a sentence about each declared mechanism whose locks cannot learn how far their craft yields."""
    scheme = algorithm.scheme(system.execution_order())
    for one in carried(system):
        if not any(name.startswith(LOCK) for name in system.description(one.mechanism).variables):
            continue
        mechanism, craft = one.mechanism, one.craft
        if any({mechanism, craft} <= set(stage) for stage in scheme.stages):
            how = f"step at once with {algorithm.name}"
            found = "are those beside a craft that does not yield"
        elif {mechanism, craft} & scheme.predicted:
            how = f"get inputs within their steps with {algorithm.name}"
            found = "are wrong, as they count the yielding of the craft at other times"
        else:
            continue
        yield (
            f"{mechanism} and {craft} {how}: impulse and loss of locks of {mechanism} {found}, and its energy does "
            f"not balance where {craft} is light; take gauss_seidel"
        )
