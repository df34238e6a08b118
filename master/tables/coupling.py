"""From a system and its instances to the tables of the compiled loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from master.algorithms.algorithm import Scheme
from master.errors import FmuError
from master.fmi.instance import Instance
from master.loop import tables
from master.loop.packing import Packed, pack
from master.requests import Sampling, Watch
from master.step_control import StepControl, located_changes
from master.system import System
from master.tables.calls import places
from master.tables.control import control_tables
from master.tables.iteration import iteration_tables
from master.tables.layout import Layout, lay_out
from master.tables.prediction import prediction_tables
from master.tables.program import program_tables
from master.tables.rates import pace_tables
from master.tables.recording import Group, record_calls, row_tables
from master.tables.threads import crew_tables
from master.tables.triggers import watch_tables


@dataclass(frozen=True)
class Coupling:
    """The layout of coupled instances, and the tables with which the loop steps them.

    `groups` are the rows of the samplings, `packed` the tables as the loop takes them. `kept` holds the arrays whose
    addresses stand in the tables: they must live as long.
    """

    layout: Layout
    groups: tuple[Group, ...]
    tables: tables.Tables
    packed: Packed
    kept: tuple[np.ndarray, ...]

    def free_states(self) -> list[str]:
        """Give the states that the loop has saved back to the instances; return what failed in words."""
        saved, notes = self.tables.instances.state, []
        for level, i in zip(*np.nonzero(saved), strict=True):
            try:
                self.layout.instances[i].free_state(int(saved[level, i]))
            except FmuError as error:
                notes.append(str(error))
        saved[:] = 0
        return notes


def couple(
    system: System,
    instances: Mapping[str, Instance],
    scheme: Scheme,
    watches: Sequence[Watch] = (),
    samplings: Sequence[Sampling] = (),
    stop_when: str | None = None,
    longest: int = 1 << 16,
    control: StepControl | None = None,
) -> Coupling:
    """Couple `instances` as `scheme` says; `control` makes the steps vary.

    `watches` and `samplings` are what observers ask for; `longest` is the largest number of steps between two returns
    to Python. Raises StructureError for FMUs that cannot do what is asked.
    """
    located = located_changes(system, control) if control is not None else []
    watched = {watch.variable for watch in (*watches, *located)} | ({stop_when} if stop_when else set())
    layout = lay_out(system, instances, scheme, watched)
    groups = tuple(Group(system, sampling, longest) for sampling in samplings)
    records = record_calls(layout, groups)
    rollback = bool(layout.feedback) or (control is not None and layout.can_roll_back())
    signals, pace = _signals(layout), pace_tables(layout)
    prediction, slopes = prediction_tables(layout)
    iteration, derivatives = iteration_tables(layout)
    filled = tables.Tables(
        instances=_instance_tables(layout, rollback),
        signals=signals,
        pace=pace,
        prediction=prediction,
        backup=_backup(rollback, signals, pace, prediction),
        iteration=iteration,
        control=control_tables(layout, control),
        watches=watch_tables(layout.outputs, watches, located, stop_when),
        rows=row_tables(groups, records),
        crew=crew_tables(scheme.threads),
        report=np.zeros(6, np.int64),
    )
    kept = (*layout.inputs.calls.kept, *layout.outputs.calls.kept, *records.kept, *slopes, *derivatives)
    return Coupling(layout, groups, filled, pack(filled), kept)


def _signals(layout: Layout) -> tables.Signals:
    inputs, outputs = layout.inputs, layout.outputs
    return tables.Signals(
        y_real=outputs.y_real,
        y_bits=outputs.y_real.view(np.int64),
        y_range=places(outputs.real_range),
        u_real=inputs.u_real,
        real_range=places(inputs.real_range),
        factor=inputs.factor,
        offset=inputs.offset,
        y_whole=outputs.y_whole,
        u_whole=inputs.u_whole,
        tabled=places([k for k, _ in inputs.tabled]),
        table=np.array([row for _, table in inputs.tabled for row in table], np.int32).reshape(-1, 2),
        table_range=places(np.cumsum([0, *(len(table) for _, table in inputs.tabled)])),
    )


def _instance_tables(layout: Layout, rollback: bool) -> tables.Instances:
    def entries(function: str) -> np.ndarray:
        return np.array([i.entry(function) for i in layout.instances] if rollback else [], np.int64)

    return tables.Instances(
        stages=places(np.cumsum([0, *(len(stage) for stage in layout.scheme.stages)])),
        **program_tables(layout)._asdict(),
        component=np.array([instance.component for instance in layout.instances], np.int64),
        get_state=entries("fmi2GetFMUstate"),
        set_state=entries("fmi2SetFMUstate"),
        state=np.zeros((2, len(layout.instances)), np.int64),
        warnings=np.zeros(len(layout.instances), np.int64),
        final=int(not rollback),
    )


def _backup(rollback: bool, signals: tables.Signals, pace: tables.Pace, prediction: tables.Prediction) -> tables.Backup:
    def two(live: np.ndarray) -> np.ndarray:
        return np.zeros((2 if rollback else 0, len(live)), live.dtype)

    return tables.Backup(
        y_real=two(signals.y_real),
        y_whole=two(signals.y_whole),
        slope=two(prediction.slope),
        waited=two(pace.waited),
        begun=two(pace.begun),
        u_sum=two(pace.u_sum),
    )
