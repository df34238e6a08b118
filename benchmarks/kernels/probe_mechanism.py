"""Cost of the probe mechanism: compile time, microseconds per macro step of 1 ms and per micro-step, by phase.

python -m benchmarks probe_mechanism
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from dockfmu.base.compiler import jit
from dockfmu.components.core.component import Instance
from dockfmu.components.probe_mechanism import component
from dockfmu.components.probe_mechanism.kernel import step

STEP = 1e-3
ROOT = Path(__file__).resolve().parents[2]

# where the head's centre starts and where it is driven (m along x of PU), its offset to the side (m)
PHASES = {
    "free flight": (-0.10, -0.10, 0.0),
    "head on the cone": (0.1, 0.1, 0.1455),
    "captured, head on the bottom": (0.25, 0.345, 0.001),
    "captured, in free play": (0.25, 0.320, 0.001),
}
SPEED = 0.1


@jit
def run(m, steps, h):
    """Make `steps` steps with the ports at rest."""
    for k in range(steps):
        code = step(m, k * h, h)
        if code:
            return code
    return 0


@jit
def approach(m, steps, h):
    """Make `steps` steps; the base moves on at SPEED and stops."""
    m.base.velocity[0] = SPEED
    for k in range(steps):
        code = step(m, k * h, h)
        if code:
            return code
        m.base.position[0] += SPEED * h
    m.base.velocity[0] = 0.0
    return 0


def place(start: float, end: float, y: float) -> Instance:
    """Return the mechanism, its head driven from `start` to `end` in the passive unit, and the base then at rest."""
    mechanism = Instance(component(), **{"target.position": (0.0, 0.0, 0.0), "base.position": (start - 0.8, y, 0.0)})
    code = approach(mechanism.m, round((end - start) / SPEED / STEP), STEP)
    assert code == 0, mechanism.component.explain(code, mechanism.block)
    return mechanism


def compile_seconds() -> float:
    """Return the time from an empty cache to the end of the first step."""
    code = "from benchmarks.kernels.probe_mechanism import place; place(-0.1, -0.1, 0.0).step(0.0, 1e-3)"
    with tempfile.TemporaryDirectory() as cache:
        start = time.perf_counter()
        environment = os.environ | {"DOCKFMU_CACHE": cache}
        subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT, env=environment)
        return time.perf_counter() - start


def microseconds(mechanism: Instance, steps: int = 2000) -> float:
    """Return the best of five, per step."""
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        code = run(mechanism.m, steps, STEP)
        assert code == 0, mechanism.component.explain(code, mechanism.block)
        best = min(best, time.perf_counter() - start)
    return 1e6 * best / steps


def main() -> None:
    print(f"{'phase':32s}{'us per 1 ms':>12s}{'real time':>12s}")
    for name, (start, end, y) in PHASES.items():
        cost = microseconds(place(start, end, y))
        print(f"{name:32s}{cost:12.1f}{1e3 / cost:11.0f}x")
    print(f"from an empty cache to the first step: {compile_seconds():.0f} s")


if __name__ == "__main__":
    main()
