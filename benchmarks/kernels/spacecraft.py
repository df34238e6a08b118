"""Cost of a step of the spacecraft and of an update of the hysteresis library: `python -m benchmarks spacecraft`.

Many steps run inside one compiled loop, so what is measured is the kernel and not the call from Python.
"""

import numpy as np

from benchmarks.timing import microseconds
from dockfmu.components import spacecraft
from dockfmu.components.core.component import Instance
from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.record import Record
from dockfmu.components.physics import hysteresis
from dockfmu.components.spacecraft import kernel as craft
from dockfmu.components.spacecraft.modes import Modes


@kernel
def march_rigid(m, h, count):
    for k in range(count):
        craft.step_rigid(m, k * h, h)


@kernel
def march_elastic(m, h, count):
    for k in range(count):
        craft.step_elastic(m, k * h, h)


@kernel
def march_two_way(m, h, count):
    for k in range(count):
        craft.step_two_way(m, k * h, h)


@kernel
def swing(m, count):
    for k in range(count):
        x = (k % 400) * 1e-4 - 0.02
        hysteresis.update(m.law, m.memory, x, x - m.memory.deformation, 1.0)


def elastic_craft(modes):
    rng = np.random.default_rng(1)
    data = Modes(
        frequency=np.sort(rng.uniform(1.0, 600.0, modes)),
        decrement=np.full(modes, 0.05),
        port=1e-3 * rng.normal(size=(2, 6, modes)),
        thruster=1e-3 * rng.normal(size=(1, 3, modes)),
    )
    return Instance(spacecraft.component(data), **{"parameters.mass": 4e5})


def main():
    rows = []
    body = Instance(spacecraft.component())
    body.m.port[0].force[:] = [-10.0, 1.0, 2.0]
    rows.append(("spacecraft, rigid", microseconds(march_rigid, body.m, 1e-3, count=100_000)))
    for modes in (30, 300, 3000):
        body = elastic_craft(modes)
        body.m.port[0].force[:] = [-10.0, 1.0, 2.0]
        rows.append(
            (f"spacecraft, {modes} modes", microseconds(march_elastic, body.m, 1e-3, count=3_000_000 // (10 * modes)))
        )
    record = Record(hysteresis.law("law", "m", "N"), hysteresis.memory("memory", "m", "N"))
    element = record.memory()
    hysteresis.elastic_loop(element.law, 1e4, 0.015, 1e-4, 0.05, 0.3, 3.0)
    hysteresis.reset(element.law, element.memory)
    rows.append(("hysteresis, one element", microseconds(swing, element, count=400_000)))
    print(f"{'kernel':28s} {'us/step':>8s} {'ratio':>7s}")
    for name, cost in rows:
        print(f"{name:28s} {cost:8.3f} {cost / rows[0][1]:7.2f}")


if __name__ == "__main__":
    main()
