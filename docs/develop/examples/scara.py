"""A SCARA arm with sprung joints and a payload, declared in 40 lines: a mechanism that is not part of dockfmu.

`python docs/develop/examples/scara.py FOLDER` declares the arm, writes its kernels to FOLDER/scara_kernels.py, runs
them for ten seconds and prints how well they conserve energy. docs/develop/codegen.md explains it.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np

from dockfmu.components.codegen.chain import momentum
from dockfmu.components.codegen.emit import Program, Stage, module
from dockfmu.components.codegen.graph import Graph
from dockfmu.components.codegen.mechanism import Body, Joint, Motion, Z
from dockfmu.components.codegen.tree import accelerate
from dockfmu.components.core.field import private
from dockfmu.components.core.record import Record

GRAVITY = 9.81


def declare() -> Program:
    """Declare the arm and return its program; the mass of the payload is the only variable parameter of a body.

    Two links rotate about z, a quill slides along z, and a tool rotates at its end.
    """
    graph = Graph()
    payload = graph.input("a.payload")
    bodies = [
        Body(Z, mass=6.0, moment=np.array([1.2, 0.0, 0.0]), inertia=np.diag([0.02, 0.4, 0.4])),
        Body(Z, offset=np.array([0.4, 0.0, 0.0]), mass=4.0, moment=np.array([0.6, 0.0, 0.0]),
             inertia=np.diag([0.01, 0.15, 0.15]), parent=0),
        Body(Z, slides=True, offset=np.array([0.3, 0.0, 0.0]), mass=1.0, parent=1),
        Body(Z, mass=payload, moment=np.array([0.05, 0.0, 0.0]) * payload,
             inertia=np.diag([0.001, 0.004, 0.004]), parent=2),
    ]  # fmt: skip
    q, qd, stiffness = (graph.array(f"a.{name}", 4) for name in ("q", "qd", "stiffness"))
    joints = [
        Joint(body, stroke=q[j], rate=qd[j]) if body.slides else Joint(body, q[j].cos(), q[j].sin(), rate=qd[j])
        for j, body in enumerate(bodies)
    ]
    # a base that accelerates upwards has the effect of gravity
    base = Motion(acceleration=np.array([0.0, 0.0, GRAVITY]))
    stage = Stage("evaluate", ("a",), "Joint accelerations and energy of a sprung SCARA arm.")
    stage.set("a.qdd", accelerate(joints, base, -stiffness * q).qdd)
    kinetic, _, _ = momentum(joints, np.zeros(3), np.zeros(3))
    height = GRAVITY * q[2] * (1.0 + payload)
    stage.set("a.energy", kinetic + 0.5 * (q * q) @ stiffness + height)
    return Program(graph, [stage])


ARM = Record(
    private("payload", "kg", "mass at the tool", 2.0),
    private("stiffness", "1", "stiffness of the joints, N.m/rad and N/m", (40.0, 25.0, 900.0, 3.0), shape=4),
    private("q", "1", "joint coordinates, rad and m", (0.5, -0.8, 0.0, 0.3), shape=4),
    private("qd", "1", "joint rates", shape=4),
    private("qdd", "1", "joint accelerations", shape=4),
    private("energy", "J", "kinetic energy and potential energy of springs and weight"),
)


def write(folder: Path) -> ModuleType:
    """Write the kernels as a module in `folder`, and return it imported."""
    file = folder / "scara_kernels.py"
    file.write_text(module(declare(), "SCARA arm.", "dynamics section 9."), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("scara_kernels", file)
    assert spec is not None
    assert spec.loader is not None
    kernels = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(kernels)
    return kernels


def run(kernels: ModuleType, seconds: float, h: float) -> tuple[float, float]:
    """Run the arm by the classical Runge-Kutta method; return its initial energy and the largest change of it, J."""
    a = ARM.memory()
    kernels.evaluate(a)
    start = a.energy.item()
    worst = 0.0
    y = np.concatenate([a.q, a.qd])

    def slope(y: np.ndarray) -> np.ndarray:
        a.q[:], a.qd[:] = y[:4], y[4:]
        kernels.evaluate(a)
        return np.concatenate([a.qd, a.qdd])

    for _ in range(round(seconds / h)):
        k1 = slope(y)
        worst = max(worst, abs(a.energy.item() - start))
        k2 = slope(y + 0.5 * h * k1)
        k3 = slope(y + 0.5 * h * k2)
        k4 = slope(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return start, worst


if __name__ == "__main__":
    start, change = run(write(Path(sys.argv[1])), seconds=10.0, h=1e-3)
    print(f"energy {start:.6f} J, changed by at most {change:.1e} J in 10 s")
