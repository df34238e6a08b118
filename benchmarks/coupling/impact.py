"""An impact of 20 kg on 7 t through a spring of 1e7 N/m in a separate FMU: how much energy the coupling creates.

The bodies are exact for a held force, so that the error is that of the coupling alone.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from dockfmu.components.core.component import Component
from dockfmu.components.core.field import Group, input, output, parameter
from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.record import Record
from dockfmu.master.algorithms import Algorithm
from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.observers.recording.results import read_results
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure

RECORD = Record(
    input("position", "m", "of the two bodies", shape=2, evaluated="mean"),
    output("force", "N", "on the two bodies", shape=2),
    Group("parameters", parameter("stiffness", "N/m", "of the contact", 1e7, minimum=0.0)),
)

LIGHT, HEAVY, STIFFNESS, SPEED = 20.0, 7000.0, 1e7, 0.1
REDUCED = LIGHT * HEAVY / (LIGHT + HEAVY)
DURATION = np.pi * np.sqrt(REDUCED / STIFFNESS)


@kernel
def step(m, t, h):
    overlap = m.position[0] - m.position[1]
    force = m.parameters.stiffness * overlap if overlap > 0.0 else 0.0
    m.force[0] = -force
    m.force[1] = force
    return 0


@kernel
def initialize(m):
    return step(m, 0.0, 0.0)


def component() -> Component:
    return Component(
        name="UnilateralSpring",
        description="a spring that only pushes",
        record=RECORD,
        initialize=initialize,
        step=step,
        messages={},
        module=Path(__file__),
    )


def system(oscillator: Path, spring: Path, gap: float) -> Structure:
    found = Structure("impact")
    found.add("contact", spring, {"parameters.stiffness": STIFFNESS})
    bodies = (("light", LIGHT, -gap, SPEED), ("heavy", HEAVY, 0.0, 0.0))
    for number, (name, mass, position, velocity) in enumerate(bodies, start=1):
        start = {"mass": mass, "stiffness": 0.0, "initial_position": position, "initial_velocity": velocity}
        found.add(name, oscillator, {f"parameters.{key}": value for key, value in start.items()})
        found.connect(name, "position", "contact", f"position[{number}]")
        found.connect("contact", f"force[{number}]", name, "force", mean=True)
    found.order = ("contact", "light", "heavy")
    return found


RATES = {f"{body}.position": f"{body}.velocity" for body in ("light", "heavy")}


def energy_error(oscillator: Path, spring: Path, algorithm: Algorithm, h: float, phases: int = 8) -> float:
    """Return the energy created in an impact over that of the relative motion before it, at the worst phase in a step.

    An impact that the steps cut off at one phase may end early at another: the largest of all phases counts.
    """
    errors = []
    with tempfile.TemporaryDirectory() as folder:
        for phase in range(phases):
            # at least three steps apart, so that linear extrapolation has its slopes
            gap = (3.0 + phase / phases) * h * SPEED
            file = Path(folder) / "r.h5"
            names = [f"{body}.velocity" for body in ("light", "heavy")]
            stop = 8.0 * h + 2.0 * DURATION
            result = CoSimulation(
                system(oscillator, spring, gap),
                Schedule(step=h, stop=np.ceil(stop / h) * h),
                algorithm=algorithm,
                observers=[Recorder(file, names)],
            ).run()
            assert result.status == "completed", result.message
            with read_results(file) as results:
                light, heavy = (results[name][-1] for name in names)
            errors.append(((light - heavy) / SPEED) ** 2 - 1.0)
    return max(errors, key=abs)
