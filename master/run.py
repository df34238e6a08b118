"""Running a system.

>>> result = run(system, step=1e-3, stop=10.0, observers=[Recorder(Path("results.h5"))])   # doctest: +SKIP
>>> result.status, result.t_end
('completed', 10.0)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress

from master.algorithms import Algorithm
from master.checkpoint import Checkpoint
from master.drivers.driver import Driver
from master.errors import MasterError, StructureError
from master.observers.observer import Observer
from master.result import Result
from master.simulation import Simulation
from master.step_control import StepControl
from master.system import System


def run(
    system: System,
    *,
    step: float,
    stop: float,
    start: float = 0.0,
    algorithm: Algorithm | None = None,
    control: StepControl | None = None,
    observers: Sequence[Observer] = (),
    drivers: Sequence[Driver] = (),
    stop_when: str | None = None,
    logging: bool = False,
    resume: Checkpoint | None = None,
) -> Result:
    """Initialise `system` at `start` and run it in macro steps of `step` to `stop`; arguments as for Simulation.

    Raises StructureError, DescriptionError or ArchiveError for a system that cannot be run, before any FMU is loaded.
    What fails later comes back in the result, with all that was recorded until then.
    """
    if not math.isfinite(stop):
        raise StructureError([f"the stop time {stop!r} s is not finite"])
    simulation = Simulation(
        system, step=step, start=start, stop=stop, algorithm=algorithm, control=control,
        observers=observers, drivers=drivers, stop_when=stop_when, logging=logging, resume=resume,
    )  # fmt: skip
    # the result tells of the failure
    with suppress(MasterError), simulation:
        simulation.advance(stop)
    return simulation.result
