"""Co-simulations: what opens and runs a specification, and branches, which begin with the present state of a run.

>>> simulation = CoSimulation(system, Schedule(step=1e-3))         # doctest: +SKIP
>>> with simulation.open() as running:
...     running.advance(1.0)
...     running.set({"mass.force": 2.0})
...     running.advance(2.0)
...     running.get(["mass.position"])
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from dockfmu.master.algorithms import Algorithm
from dockfmu.master.drivers.driver import Driver
from dockfmu.master.errors import StructureError
from dockfmu.master.observers.observer import Observer
from dockfmu.master.result import Result
from dockfmu.master.run.resumption import Resumption
from dockfmu.master.run.running import Running
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.settable import check_values
from dockfmu.master.run.specification import Specification


class CoSimulation(Specification):
    """A specification of a run that can be opened and run; its arguments are the attributes of `Specification`."""

    def open(self) -> Running:
        """Let observers and drivers acquire what may be unavailable, such as ports, and return the running object.

        Entering it loads and initialises the FMUs; leaving it ends them and the observers, and completes its result,
        whatever happened. Raises MasterError, after ending all observers and drivers.
        """
        return Running(self)

    def run(self) -> Result:
        """Run from start to end: load and initialise the FMUs, step to the stop time or the stop signal, and end all.

        Raises StructureError if there is no stop time, and the errors of `open`. Later failures are reported in the
        returned result, with everything recorded until then.
        """
        if math.isinf(self.schedule.stop):
            raise StructureError(["a run needs a stop time"])
        return self.open().run()


def branch(
    running: Running,
    values: Mapping[str, Any] | None = None,
    *,
    schedule: Schedule | None = None,
    algorithm: Algorithm | None = None,
    observers: Sequence[Observer] = (),
    drivers: Sequence[Driver] = (),
) -> CoSimulation:
    """Return a simulation that begins with the present state of a run and with other `values` (see `Running.set`).

    Schedule and algorithm that are not given are those of the run. The steps so far are not repeated, and the run is
    not affected. Raises the errors of `Running.save` and `Running.set`.
    """
    given = running.specification
    # before the state is saved, which takes longer
    check_values(running.system, values or {})
    return CoSimulation(
        running.system,
        schedule or given.schedule,
        algorithm or given.algorithm,
        observers,
        drivers,
        resume=Resumption(running.save(), values=values or {}),
        threads=given.threads,
    )
