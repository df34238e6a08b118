"""Branches of a run: others that begin with its present state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dockfmu.master.algorithms import Algorithm
from dockfmu.master.drivers.driver import Driver
from dockfmu.master.observers.observer import Observer
from dockfmu.master.run.resumption import Resumption
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.settable import check_values
from dockfmu.master.run.simulation import CoSimulation, Running


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
    return replace(
        given,
        system=running.system,
        schedule=schedule or given.schedule,
        algorithm=algorithm or given.algorithm,
        observers=observers,
        drivers=drivers,
        resume=Resumption(running.save(), values=values or {}),
        notes=(),
    )
