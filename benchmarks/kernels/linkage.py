"""Cost of the linkage of the probe mechanism: compile time, and microseconds per part of a micro-step.

python -m benchmarks linkage
"""

from __future__ import annotations

import time

from benchmarks.timing import microseconds
from dockfmu.base.compiler import jit
from dockfmu.components.core import ports
from dockfmu.components.core.field import Group
from dockfmu.components.core.record import Memory, Record
from dockfmu.components.probe_mechanism import tree
from dockfmu.components.probe_mechanism.lateral import lateral_damper

RECORD = Record(
    Group("parameters", tree.parameters(), lateral_damper.parameters()),
    ports.status(),
    tree.state(),
    lateral_damper.state(),
)
H = 1e-4


@jit
def repeat_place(m, times):
    for _ in range(times):
        tree.place(m.parameters.probe, m.tree, m.damper, 0.45, 0.0, m.status)


@jit
def repeat_evaluate(m, times):
    zero = (0.0, 0.0, 0.0)
    for _ in range(times):
        tree.set_forces(m.parameters.probe, m.tree, m.parameters.lateral, m.damper, 0.0, H)
        tree.evaluate(m.parameters.probe, m.tree, m.damper, zero, zero, zero, m.status)


@jit
def repeat_affine(m, times):
    for _ in range(times):
        tree.affine(m.parameters.probe, m.tree, m.damper, (0.0, 0.0, 0.0))


@jit
def repeat_step(m, times):
    zero = (0.0, 0.0, 0.0)
    for i in range(times):
        m.tree.load[0].force[1] = 50.0 * (i % 100 - 50)
        tree.drift(m.tree, 0.5 * H)
        tree.place(m.parameters.probe, m.tree, m.damper, 0.45, 0.0, m.status)
        tree.select(m.tree, m.damper, m.status)
        tree.set_forces(m.parameters.probe, m.tree, m.parameters.lateral, m.damper, 0.0, H)
        tree.evaluate(m.parameters.probe, m.tree, m.damper, zero, zero, zero, m.status)
        tree.kick(m.tree, m.damper, H)
        tree.drift(m.tree, 0.5 * H)


def prepared(heavy: bool) -> Memory:
    m = RECORD.memory()
    for device in (m.parameters.lateral.spring, m.parameters.lateral.brake):
        device.link_mass[:], device.link_inertia[:] = (1.0, 0.01) if heavy else (0.0, 0.0)
    tree.initialize(m.parameters.probe, m.tree, m.parameters.lateral, m.damper, m.status)
    m.tree.qd[:] = (0.2, -0.1, 0.3, 0.1, 0.5)
    return m


def main() -> None:
    parts = {
        "place: tree, links, four chains": repeat_place,
        "evaluate: forces, CRBA, ABA, base wrench": repeat_evaluate,
        "affine: M_A by unit accelerations": repeat_affine,
        "micro-step: all but contact": repeat_step,
    }
    start = time.perf_counter()
    for run in parts.values():
        run(prepared(True), 1)
    print(f"compile or load from the cache: {time.perf_counter() - start:.1f} s\n")
    print(f"{'part':44s}{'massless':>10s}{'heavy':>8s}   us, links of the chains")
    for name, run in parts.items():
        light, heavy = (microseconds(run, prepared(links), count=50_000) for links in (False, True))
        print(f"{name:44s}{light:10.2f}{heavy:8.2f}")


if __name__ == "__main__":
    main()
