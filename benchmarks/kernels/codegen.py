"""Generated kernels: time per call and seconds to compile. `small_matrices` does the same work in plain numba.

python -m benchmarks codegen
"""

from __future__ import annotations

import time
from typing import Any

import numba
import numpy as np

from benchmarks.timing import microseconds
from dockfmu.base.compiler import Compiled, jit
from dockfmu.components.core.record import Memory, Record
from dockfmu.components.physics.linkage import hexapod
from dockfmu.components.physics.linkage.generated import ring, strut
from dockfmu.components.physics.mechanics.vector import ZERO, norm


@jit
def repeat_platform(m, times):
    zero = (0.0, 0.0, 0.0)
    for _ in range(times):
        hexapod.follow(m)
        hexapod.accelerate(m, zero, zero, zero)


@jit
def repeat_strut(m, times):
    zero = (0.0, 0.0, 0.0)
    for _ in range(times):
        strut.follow(m.strut[0], m.ring)
        strut.reduce(m.strut[0], m.ring, zero, zero, zero, m.inertia, m.force)


def platform() -> Memory:
    """Six struts in a regular arrangement."""
    m = Record(hexapod.hexapod()).memory().hexapod
    m.ring.mass, m.ring.principal, m.ring.position[0] = 20.0, np.diag([5.0, 2.6, 2.6]), 0.5
    for k in range(6):
        a, b = np.radians(120.0 * (k // 2) + (-10.0, 10.0)[k % 2]), np.radians(120.0 * (k // 2) + (-50.0, 50.0)[k % 2])
        c = m.strut[k]
        c.base_point, c.node_point = (0.0, 0.6 * np.cos(a), 0.6 * np.sin(a)), (0.0, 0.55 * np.cos(b), 0.55 * np.sin(b))
        x = m.ring.position + c.node_point - c.base_point
        c.length = np.linalg.norm(x)
        y = np.cross(x / c.length, (0.3, 0.5, 0.8))
        y /= np.linalg.norm(y)
        c.base_axes = (x / c.length, y, np.cross(x / c.length, y))
        c.node_axis = c.base_axes[2]
        c.mass, c.transverse, c.axial, c.nut_ratio, c.nut_inertia = 1.5, 0.01, 0.002, 300.0, 2e-4
    return m


def compile_seconds(kernel: Any, *arguments: Any) -> float:
    """CPU seconds to compile a kernel for the types of `arguments`, without the cache."""
    fresh = Compiled(kernel.py_func, targetoptions={"nopython": True, "error_model": "numpy"})
    start = time.process_time()
    fresh.compile(tuple(map(numba.typeof, arguments)))
    return time.process_time() - start


def main() -> None:
    m = platform()
    parts = {
        "platform of six struts: coordinates, rates, accelerations, base wrench": repeat_platform,
        "one strut: constraints, inertia, forces, reduction": repeat_strut,
    }
    for name, run in parts.items():
        print(f"{name:72s}{microseconds(run, m, count=20_000):8.2f} us")
    print("\nseconds (CPU) to compile")
    one, base, vector = m.strut[0], ((0.0, 0.0, 0.0),) * 3, m.base_force
    compile_seconds(norm, ZERO)  # numba itself starts
    for name, kernel, arguments in (
        ("strut.follow", strut.follow, (one, m.ring)),
        ("strut.reduce", strut.reduce, (one, m.ring, *base, m.inertia, m.force)),
        ("strut.lose", strut.lose, (one, m.ring.acceleration, vector, vector)),
        ("ring.start", ring.start, (m.ring, *base, m.inertia, m.force)),
        ("ring.accelerate", ring.accelerate, (m.ring, m.inertia, m.force)),
    ):
        print(f"{name:72s}{compile_seconds(kernel, *arguments):8.1f}")


if __name__ == "__main__":
    main()
