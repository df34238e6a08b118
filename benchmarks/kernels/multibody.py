"""Forward dynamics of declared trees over the number of bodies, against Pinocchio's compiled `aba`; memory; build time.

python -m benchmarks multibody            accelerations and a micro-step
python -m benchmarks multibody --build    and the first build of an FMU of each size, not from the cache

Both engines run in compiled loops on one thread: ours in a kernel, Pinocchio's `aba` by `abaInParallel` over a batch of
equal states.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pinocchio as pin

from dockfmu.components.core.component import Instance
from dockfmu.components.core.kernel import kernel
from dockfmu.components.multibody import component_of, links, stepping
from dockfmu.components.multibody.declaration import Declared
from dockfmu.components.multibody.model import Model
from dockfmu.fmus import build
from tests.components.multibody.pinocchio_model import in_pinocchio
from tests.components.multibody.random_models import interpreted, random_model

SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500)
KINDS = {
    "revolute": ("revolute",),
    "all kinds": ("revolute", "prismatic", "screw", "universal", "cylindrical", "planar", "spherical"),
}
ROUNDS = 9


@kernel
def _accelerations(link, count):
    for _ in range(count):
        links.place(link)
        links.accelerate(link, False)


@kernel
def _micro_steps(base, gravity, link, coordinate, law, spring, strength, port, cut, row, matrix, run, h, count):
    for k in range(count):
        stepping.micro_step(
            base, gravity, link, coordinate, law, spring, strength, port, cut, row, matrix, run, 0.0, k * h, h
        )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", action="store_true", help="also time the build of FMUs")
    arguments = parser.parse_args()
    for name, kinds in KINDS.items():
        print(f"\n| bodies, {name} | links | us | ns a body | Pinocchio, us | ratio | micro-step, us | kB |")
        print("|---|---|---|---|---|---|---|---|")
        times = []
        for size in SIZES:
            model = random_model(size, size, kinds)
            instance = Instance(interpreted(component_of(Declared(model, "benchmark"))))
            ours, theirs = _alternating(_ours(instance, size), _pinocchio(model, size))
            each = _micro_step(instance, size)
            times.append(ours)
            m = instance.m
            print(
                f"| {size} | {len(m.link) - 1} | {ours:.3f} | {1e3 * ours / size:.0f} | {theirs:.3f} | "
                f"{ours / theirs:.2f} | {each:.3f} | {instance.block.nbytes / 1024:.1f} |",
                flush=True,
            )
        large = [k for k, size in enumerate(SIZES) if size >= 20]
        exponent = np.polyfit(np.log([SIZES[k] for k in large]), np.log([times[k] for k in large]), 1)[0]
        print(f"\ntime grows with the number of bodies to the power {exponent:.2f} (20 to 500 bodies)")
    if arguments.build:
        print("\n| bodies | build, s | FMU, kB |")
        print("|---|---|---|")
        for size in SIZES[1::3]:
            _build(size)


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
    count = max(8, 4000 // size)
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
    m, p = instance.m, instance.m.parameters
    count = max(20, 10000 // size)
    arrays = (
        m.base, p.gravity, m.link, m.coordinate, p.coordinate, m.spring, p.spring, m.port, m.cut, m.closure.row,
        m.closure.matrix, m.run,
    )  # fmt: skip
    best = 1e9
    for _ in range(ROUNDS):
        # so short that the state hardly changes
        start = time.process_time()
        _micro_steps(*arrays, 1e-12, count)
        best = min(best, time.process_time() - start)
    return 1e6 * best / count


def _build(size: int) -> None:
    component = component_of(Declared(random_model(size, size, ("revolute",)), "benchmark"))
    with tempfile.TemporaryDirectory() as folder:
        start = time.time()
        file = build(component, Path(folder))
        print(f"| {size} | {time.time() - start:.1f} | {file.stat().st_size / 1024:.0f} |", flush=True)


if __name__ == "__main__":
    main()
