"""Prepare a run: the master's co-simulation of a system, from its plan and the options of the run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dockfmu.declare.base_motion import check_base_motion
from dockfmu.declare.berth import check_berths
from dockfmu.declare.heavy_mechanisms import heavy_notes
from dockfmu.declare.lock_notes import lock_notes
from dockfmu.declare.plan import Plan
from dockfmu.errors import OptionError
from dockfmu.master import algorithms
from dockfmu.master.checkpoint import read_checkpoint
from dockfmu.master.drivers.driver import Driver
from dockfmu.master.errors import StructureError
from dockfmu.master.observers.observer import Observer
from dockfmu.master.run.resumption import Resumption
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure
from dockfmu.options import RunOptions
from dockfmu.watch.observers import watching


def apply_options(plan: Plan, options: RunOptions) -> Plan:
    """Return the plan with the step, stop time, algorithm and recording interval of the options that are given."""
    changes: dict[str, Any] = {"step": options.step, "record_every": options.every}
    if options.algorithm is not None:
        changes["algorithm"] = options.algorithm if isinstance(options.algorithm, str) else options.algorithm.name
    # a plan begins at 0 s: an end before that is of this run alone
    if options.stop is not None and 0.0 < options.stop < math.inf:
        changes["stop"] = options.stop
    return replace(plan, **{name: value for name, value in changes.items() if value is not None})


def prepare(
    structure: Structure,
    plan: Plan,
    options: RunOptions,
    stop: float,
    observers: Sequence[Observer],
    drivers: Sequence[Driver] = (),
    notes: Sequence[str] = (),
) -> CoSimulation:
    """Return the co-simulation of a run, the same for every kind of run.

    Parameters
    ----------
    structure : Structure
        The system.
    plan : Plan
        The plan of the run: that of the system with the options applied; see `apply_options`.
    options : RunOptions
        Options of the run.
    stop : float
        End of the run if the options give none, s.
    observers : sequence of Observer
        Observers of this run, called after those of the plan and before those of a live run.
    drivers : sequence of Driver
        Drivers of this run, called after those of a live run.
    notes : sequence of str
        Sentences that become warnings of the result.

    Raises
    ------
    OptionError
        for options that do not fit the plan or the checkpoint
    StructureError, CheckpointError
        for a system or a checkpoint that cannot be run
    """
    if not structure.elements:
        declared = f"System.load({structure.name!r}) for a declared one"
        raise StructureError([f"system {structure.name} has no elements: add some, or take {declared}"])
    control = options.control
    if options.adaptive is not None:
        if plan.adaptive is None:
            raise OptionError(["adaptive: the system declares no table `adaptive` that says how its steps may vary"])
        # the substeps apply to this run alone
        structure = structure.copy()
        plan.adaptive.prepare(structure)
        control = plan.adaptive.control(options.adaptive or None)
    structure.check()
    check_base_motion(structure)
    check_berths(structure)
    if options.algorithm is None or isinstance(options.algorithm, str):
        algorithm = algorithms.by_name(plan.algorithm)
    else:
        algorithm = options.algorithm
    end = stop if options.stop is None else options.stop
    checkpoint = None if options.resume is None else read_checkpoint(Path(options.resume))
    if checkpoint is not None and not end > checkpoint.time:
        raise OptionError([f"resume: {options.resume}: is at {checkpoint.time:g} s already; the run ends at {end:g} s"])
    live_drivers, live_observers = options.live.watchers(structure)
    driven = [*live_drivers, *drivers]
    if any(driver.inputs for driver in driven):
        # who flies a craft gives it another energy than that of its approach at the start
        plan = replace(plan, approach_energy=0.0)
    return CoSimulation(
        structure,
        Schedule(step=plan.step, start=options.start, stop=end, stop_when=plan.stop_when, control=control),
        algorithm,
        observers=[*watching(structure, plan), *observers, *live_observers],
        drivers=driven,
        resume=None if checkpoint is None else Resumption(checkpoint, options.force),
        threads=options.threads,
        notes=[*notes, *lock_notes(structure, algorithm), *heavy_notes(structure, plan.step)],
    )
