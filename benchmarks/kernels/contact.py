"""Cost of the probe-cone unit: compile time, and microseconds per `evaluate` and per `evaluate` with `accept`.

python -m benchmarks contact
"""

from __future__ import annotations

import time

from benchmarks.timing import microseconds
from dockfmu.base.compiler import jit
from dockfmu.components.core.record import Memory, Record
from dockfmu.components.physics.contact import probe_cone

# name -> position of the head in PU, m, and of the limiter behind it, m
POSES = {
    "far away": ((-0.40, 0.0, 0.0), 0.80),
    "approaching the cone": ((-0.02, 0.10, 0.05), 0.80),
    "head on the cone": ((0.0945, 0.15, 0.0), 0.80),
    "head and latches entering the socket": ((0.300, 0.001, 0.0005), 0.80),
    "captured, in free play": ((0.320, 0.001, 0.0005), 0.80),
    "captured, on the stops": ((0.3069, 0.0, 0.0), 0.80),
    "captured, pads on the cone": ((0.310, 0.0, 0.0), 0.434),
}


@jit
def repeat_evaluate(unit, times):
    x = unit.input.base.position[0]
    for i in range(times):
        unit.input.base.position[0] = x + 1e-9 * (i % 7)
        probe_cone.evaluate(unit)


@jit
def repeat_accept(unit, times):
    x = unit.input.base.position[0]
    for i in range(times):
        unit.input.base.position[0] = x + 1e-9 * (i % 7)
        probe_cone.evaluate(unit)
        probe_cone.accept(unit)


def prepared(pose: tuple[tuple[float, float, float], float], captured: bool) -> Memory:
    """Return a unit with head and limiter at `pose`."""
    (x, y, z), behind = pose
    unit = Record(probe_cone.unit()).memory().probe_cone
    probe_cone.initialize(unit)
    base = unit.input.base.position
    base[:] = (-0.8, 0.0, 0.0)
    unit.input.link[0].position[:] = (0.8, 0.0, 0.0)
    for roller in unit.input.roller:
        roller.position[:] = (0.1, 0.15, 0.0)
    if captured:
        base[0] = 0.325 - 0.8
        probe_cone.evaluate(unit)
        probe_cone.accept(unit)
    base[:] = (x - 0.8, y, z)
    unit.input.link[1].position[:] = (0.8 - behind, 0.0, 0.0)
    return unit


def main() -> None:
    start = time.perf_counter()
    unit = prepared(POSES["far away"], True)
    print(f"compile or load from the cache: {time.perf_counter() - start:.1f} s\n")
    print(f"{'pose':40s}{'contacts':>9s}{'evaluate':>10s}{'+ accept':>10s}   us")
    for name, pose in POSES.items():
        unit = prepared(pose, name.startswith("captured"))
        alone = microseconds(repeat_evaluate, unit, count=100_000)
        both = microseconds(repeat_accept, unit, count=100_000)
        print(f"{name:40s}{unit.tally.count:9.0f}{alone:10.2f}{both:10.2f}")


if __name__ == "__main__":
    main()
