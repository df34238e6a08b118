"""Cost of the pair of rings: microseconds per `attempt`, and per `attempt` with `accept`, as a mechanism calls them.

python -m benchmarks contact_ring
"""

from __future__ import annotations

import time

from benchmarks.timing import microseconds
from dockfmu.base.compiler import jit
from dockfmu.components.core.record import Memory, Record
from dockfmu.components.physics.contact import ring_pair
from dockfmu.components.physics.mechanics.rotation import IDENTITY, from_angles, store_matrix

# name -> position of the active ring in PU, m; its yaw, pitch, roll, rad; latches fired
POSES = {
    "far away": ((-1.0, 0.0, 0.0), (0.0, 0.0, 0.0), False),
    "petals interlocked, free": ((-0.2, 0.0, 0.02), (0.02, 0.01, 0.02), False),
    "side edges": ((-0.1, 0.0, 0.0), (0.0, 0.0, 0.112), False),
    "rim on a petal, and the opposite one": ((-0.0045, 0.0, 0.0046), (0.0, 0.0, 0.0), False),
    "latches on the stops": ((-0.008, 0.0, 0.0), (0.0, 0.0, 0.0), False),
    "captured, in free play": ((-0.0025, 0.0, 0.0), (0.0, 0.0, 0.0), True),
    "captured, pulled": ((-0.0035, 0.0, 0.0), (0.0, 0.0, 0.0), True),
    "captured, seated": ((1e-4, 1e-4, 5e-5), (1e-4, -2e-4, 1e-3), True),
}


@jit
def repeat_attempt(unit, times):
    x = unit.input.base.position[0]
    for i in range(times):
        unit.input.base.position[0] = x + 1e-9 * (i % 7)
        ring_pair.attempt(unit)


@jit
def repeat_accept(unit, times):
    x = unit.input.base.position[0]
    for i in range(times):
        unit.input.base.position[0] = x + 1e-9 * (i % 7)
        ring_pair.attempt(unit)
        ring_pair.accept(unit, 1e-5)


def prepared(position: tuple[float, ...], angles: tuple[float, ...], fired: bool) -> Memory:
    """Return a pair of rings with the active one at a pose, and friction held over 10 us."""
    unit = Record(ring_pair.unit()).memory().ring_pair
    ring_pair.initialize(unit)
    unit.input.base.position[:] = position
    unit.input.base.velocity[:] = 1e-2, 2e-3, 3e-3
    unit.input.base.rotation[:] = from_angles(*angles)
    store_matrix(IDENTITY, unit.input.link.rotation)
    unit.input.step = 1e-5
    unit.input.mass[0] = 40.0
    ring_pair.attempt(unit)
    ring_pair.accept(unit, 0.0)
    for latch in unit.state.latch:
        latch.fired = float(fired)
    return unit


def main() -> None:
    start = time.perf_counter()
    ring_pair.evaluate(prepared(*POSES["far away"]))
    print(f"compile or load from the cache: {time.perf_counter() - start:.1f} s\n")
    print(f"{'pose':40s}{'contacts':>9s}{'attempt':>10s}{'+ accept':>10s}   us")
    for name, pose in POSES.items():
        unit = prepared(*pose)
        alone = microseconds(repeat_attempt, unit, count=20_000)
        both = microseconds(repeat_accept, unit, count=20_000)
        print(f"{name:40s}{unit.tally.count:9.0f}{alone:10.2f}{both:10.2f}")


if __name__ == "__main__":
    main()
