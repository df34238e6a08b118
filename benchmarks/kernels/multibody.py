"""Forward dynamics of declared trees over the number of bodies, against Pinocchio's compiled `aba`; memory; build time.

python -m benchmarks multibody            accelerations and a micro-step, trees and closed chains
python -m benchmarks multibody --build    the first build of an FMU of each size, its kernels not from the cache

Both engines run in compiled loops on one thread: ours in a kernel, Pinocchio's `aba` by `abaInParallel` over a batch of
equal states, so large that the call from Python has no share in the time of one. They are timed in turn. Neither
forms the load on a fixed base. Closed chains are those of Pinocchio's `constraintDynamics`, which Python calls.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin

from dockfmu.components.core.component import Instance
from dockfmu.components.core.kernel import kernel
from dockfmu.components.multibody import component_of
from dockfmu.components.multibody.declaration import Declared
from dockfmu.components.multibody.model import BASE, RATES, Model, Mounting, MultibodyJoint, RigidBody
from dockfmu.components.physics.mechanics.rotation import from_quaternion
from dockfmu.components.physics.tree import links
from dockfmu.fmus import build
from tests.components.multibody.pinocchio_model import in_pinocchio, placement
from tests.components.multibody.random_models import attitude, interpreted, matrix, random_model

SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500)
KINDS = {
    "revolute": ("revolute",),
    "all kinds": ("revolute", "prismatic", "screw", "universal", "cylindrical", "planar", "spherical"),
}
ROUNDS = 9
CLOSED = (5, 10, 20, 50, 100)
LARGEST = 600
"""Degrees of freedom: the data of Pinocchio hold tensors of their third power, 25 GB for 920."""
STEP = 1e-6
"""s: the shortest micro-step, in which the state hardly changes."""


@kernel
def _accelerations(link, count):
    for _ in range(count):
        links.place_rigid(link)
        links.accelerate_rigid(link, False)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", action="store_true", help="time the build of FMUs instead")
    arguments = parser.parse_args()
    if arguments.build:
        print("| bodies | variables | build, s | FMU, kB | memory, kB |\n|---|---|---|---|---|")
        for size in SIZES:
            _build(size)
        return
    for name, kinds in KINDS.items():
        _trees(name, kinds)
    for name, loops in (("one loop", lambda size: 1), ("a loop in five bodies", lambda size: size // 5)):
        _closed(name, loops)


def _trees(name: str, kinds: Sequence[str]) -> None:
    print(f"\n| bodies, {name} | links | us | ns a body | Pinocchio, us | ratio | micro-step, us | kB |")
    print("|---|---|---|---|---|---|---|---|")
    times = []
    for size in SIZES:
        model = random_model(size, size, kinds)
        instance = _instance(model)
        freedoms = sum(len(RATES[joint.kind]) for joint in model.joints)
        other = _pinocchio(model, size) if freedoms <= LARGEST else lambda: float("nan")
        ours, theirs = _alternating(_ours(instance, size), other)
        times.append(ours)
        print(
            f"| {size} | {len(instance.m.link) - 1} | {ours:.3f} | {1e3 * ours / size:.0f} | {theirs:.3f} | "
            f"{ours / theirs:.2f} | {_micro_step(instance, size):.3f} | {instance.block.nbytes / 1024:.1f} |",
            flush=True,
        )
    print(f"\ntime grows with the number of bodies to the power {_exponent(SIZES, times):.2f} (from 20 bodies)")


def _closed(name: str, loops: Callable[[int], int]) -> None:
    print(f"\n| bodies, {name} | rows | micro-step, us | Pinocchio, us | ratio |\n|---|---|---|---|---|")
    times = []
    for size in CLOSED:
        model = _chains(size, loops(size))
        ours, theirs = _micro_step(_instance(model), size), _constrained(model)
        times.append(ours)
        print(f"| {size} | {3 * loops(size)} | {ours:.2f} | {theirs:.2f} | {ours / theirs:.2f} |", flush=True)
    print(f"\ntime grows with the number of bodies to the power {_exponent(CLOSED, times):.2f} (from 20 bodies)")


def _exponent(sizes: Sequence[int], times: Sequence[float]) -> float:
    large = [k for k, size in enumerate(sizes) if size >= 20]
    return float(np.polyfit(np.log([sizes[k] for k in large]), np.log([times[k] for k in large]), 1)[0])


def _instance(model: Model) -> Instance:
    component = interpreted(component_of(Declared(model, "benchmark")))
    fixed = {"parameters.stepping.micro_tolerance": 0.0, "parameters.stepping.micro_step": STEP}
    return Instance(component, **fixed, **{"parameters.stepping.longest_micro_step": STEP})


def _ours(instance: Instance, size: int) -> Callable[[], float]:
    count = max(20, 20000 // size)
    _accelerations(instance.m.link, 1)

    def run() -> float:
        start = time.process_time()
        _accelerations(instance.m.link, count)
        return (time.process_time() - start) / count

    return run


def _pinocchio(model: Model, size: int) -> Callable[[], float]:
    engine, _, q, v = in_pinocchio(model)
    count = max(20, 20000 // size)
    qs = np.asfortranarray(np.tile(q[:, None], (1, count)))
    vs = np.asfortranarray(np.tile(v[:, None], (1, count)))
    torques = np.zeros((engine.nv, count), order="F")
    accelerations = np.zeros((engine.nv, count), order="F")
    pool = pin.ModelPool(engine, 1)

    def run() -> float:
        start = time.process_time()
        pin.abaInParallel(1, pool, qs, vs, torques, accelerations)
        return (time.process_time() - start) / count

    return run


def _alternating(ours: Callable[[], float], theirs: Callable[[], float]) -> tuple[float, float]:
    """Return the shortest times of both, us, measured in turn, so that a busy machine slows both."""
    rounds = [(ours(), theirs()) for _ in range(ROUNDS)]
    return 1e6 * min(one for one, _ in rounds), 1e6 * min(other for _, other in rounds)


def _micro_step(instance: Instance, size: int) -> float:
    """Return the time of a micro-step, us, from steps of many, among which the work of a whole step is shared out."""
    count = max(200, 20000 // size)
    instance.step(0.0, STEP)
    best = 1e9
    for _ in range(ROUNDS):
        start = time.process_time()
        instance.step(0.0, count * STEP)
        best = min(best, time.process_time() - start)
    return 1e6 * best / count


def _chains(size: int, loops: int) -> Model:
    """Return `loops` chains of revolute joints from the base, the ends of which ball joints hold on the base."""
    random = np.random.default_rng(size)
    bodies, joints, cuts = [], [], []
    length = size // loops
    for loop in range(loops):
        before, place = BASE, np.zeros(3)
        for k in range(length):
            name = f"b{loop}_{k}"
            bodies.append(RigidBody(name, 1.0, inertia=matrix(0.05 * np.eye(3))))
            point = random.normal(size=3) * 0.4
            frame = matrix(from_quaternion(tuple(attitude(random))))
            inner, outer = Mounting(tuple(map(float, point)), frame), Mounting(rotation=frame)
            joints.append(MultibodyJoint(f"j{loop}_{k}", "revolute", before, name, inner, outer))
            # all coordinates are zero: the axes of all bodies are those of the base
            before, place = name, place + point
        end = Mounting(tuple(map(float, place)))
        cuts.append(MultibodyJoint(f"c{loop}", "spherical", before, BASE, on_successor=end, cut=True))
    return Model("chains", tuple(bodies), (*joints, *cuts), gravity=(0.4, -9.81, 2.0))


def _constrained(model: Model) -> float:
    """Return the time of Pinocchio's proximal constraint dynamics for one call from Python, us."""
    engine, joints, q, v = in_pinocchio(model)
    made = [
        pin.RigidConstraintModel(
            pin.ContactType.CONTACT_3D,
            engine,
            joints[cut.predecessor],
            placement(cut.on_predecessor),
            0,
            placement(cut.on_successor),
            pin.ReferenceFrame.LOCAL,
        )
        for cut in model.cuts
    ]
    data, torque, datas = engine.createData(), np.zeros(engine.nv), pin.StdVec_RigidConstraintData()
    for one in made:
        datas.append(one.createData())
    pin.initConstraintDynamics(engine, data, made, list(datas))
    settings = pin.ProximalSettings(1e-12, 1e-12, 1e-8, 10)
    count = max(20, 4000 // len(model.bodies))
    best = 1e9
    for _ in range(ROUNDS):
        start = time.process_time()
        for _ in range(count):
            pin.constraintDynamics(engine, data, q, v, torque, made, datas, settings)
        best = min(best, time.process_time() - start)
    return 1e6 * best / count


def _build(size: int) -> None:
    """Print processor time of a build, sizes of the FMU and of the memory of an instance.

    The name is new: the cache has the kernels that all models share, if an FMU of a declared system was built before.
    """
    model = replace(random_model(size, size, ("revolute",)), name=f"chain{size}_{os.getpid()}")
    start = _spent()
    component = component_of(Declared(model, "benchmark"))
    with tempfile.TemporaryDirectory() as folder:
        file = build(component, Path(folder))
        elapsed, record = _spent() - start, component.record
        print(
            f"| {size} | {len(record.variables)} | {elapsed:.1f} | {file.stat().st_size / 1024:.0f} | "
            f"{record.dtype.itemsize / 1024:.0f} |",
            flush=True,
        )


def _spent() -> float:
    """Return the processor time of this process and of those that it has waited for, s."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


if __name__ == "__main__":
    main()
